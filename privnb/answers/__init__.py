"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns Markdown. What the results at hand do not show is left out.
"""

from privnb.answers.adversary import what_predictions_add, what_the_adversary_gains, whom_it_hits
from privnb.answers.owner import what_the_owner_chooses, what_users_keep
from privnb.answers.release import what_detail_remains, what_it_costs, who_stands_out

__all__ = [
    "what_detail_remains", "what_it_costs", "what_predictions_add", "what_the_adversary_gains",
    "what_the_owner_chooses", "what_users_keep", "who_stands_out", "whom_it_hits",
]  # fmt: skip
