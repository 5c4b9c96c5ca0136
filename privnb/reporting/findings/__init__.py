"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns `sentences.Sentences`. What the results at hand do not show is left out.
"""

from privnb.reporting.findings.adversary import adversary_gains, mined_predictions
from privnb.reporting.findings.by_policy import by_policy, release_card
from privnb.reporting.findings.frontier import floors, publication, search
from privnb.reporting.findings.given_away import given_away
from privnb.reporting.findings.own_wishes import own_wishes
from privnb.reporting.findings.owner import owner_choice, utility_declines
from privnb.reporting.findings.perturbation import perturbation, recovered
from privnb.reporting.findings.release import every_setting, one_setting, release_costs, steep_hierarchy, uniqueness

__all__ = [
    "adversary_gains", "by_policy", "every_setting", "floors", "given_away", "mined_predictions", "one_setting",
    "own_wishes", "owner_choice", "perturbation", "publication", "recovered", "release_card", "release_costs",
    "search", "steep_hierarchy", "uniqueness", "utility_declines",
]  # fmt: skip
