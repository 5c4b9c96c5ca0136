"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns `sentences.Sentences`. What the results at hand do not show is left out.
"""

from privnb.reporting.findings.adversary import subgroups, what_predictions_add, what_the_adversary_gains
from privnb.reporting.findings.channel import (
    erratum_by_erratum,
    how_gains_are_leakage,
    how_likely_the_table_is_guessed,
    what_choosing_at_random_gains,
    what_leaks,
    what_users_lose,
    which_attributes_give_away,
)
from privnb.reporting.findings.explorer import what_one_setting_gives
from privnb.reporting.findings.frontier import what_the_search_found, which_to_publish
from privnb.reporting.findings.grid import what_every_setting_gives
from privnb.reporting.findings.owner import what_the_owner_chooses, what_users_keep
from privnb.reporting.findings.release import what_detail_remains, what_it_costs, who_stands_out
from privnb.reporting.findings.tradeoff import (
    how_losses_read,
    what_examples_show,
    what_the_trade_off_is,
    where_critics_disagree,
)
from privnb.reporting.findings.workload import what_privacy_costs

__all__ = [
    "erratum_by_erratum",
    "how_gains_are_leakage",
    "how_likely_the_table_is_guessed",
    "how_losses_read",
    "subgroups",
    "what_choosing_at_random_gains",
    "what_detail_remains",
    "what_every_setting_gives",
    "what_examples_show",
    "what_it_costs",
    "what_leaks",
    "what_one_setting_gives",
    "what_predictions_add",
    "what_privacy_costs",
    "what_the_adversary_gains",
    "what_the_owner_chooses",
    "what_the_search_found",
    "what_the_trade_off_is",
    "what_users_keep",
    "what_users_lose",
    "where_critics_disagree",
    "which_attributes_give_away",
    "which_to_publish",
    "who_stands_out",
]  # fmt: skip
