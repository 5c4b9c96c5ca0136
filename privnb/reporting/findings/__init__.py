"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns `sentences.Sentences`. What the results at hand do not show is left out.
"""

from privnb.reporting.findings.adversary import subgroups, mined_predictions, adversary_gains
from privnb.reporting.findings.channel import (
    errata,
    gains_as_leakage,
    table_guesses,
    random_levels,
    leakage,
    user_losses,
    revealing_attributes,
)
from privnb.reporting.findings.explorer import one_setting
from privnb.reporting.findings.frontier import search, publication
from privnb.reporting.findings.grid import every_setting
from privnb.reporting.findings.owner import owner_choice, utility_declines
from privnb.reporting.findings.release import remaining_detail, release_costs, uniqueness
from privnb.reporting.findings.tradeoff import (
    loss_scales,
    characteristics,
    privacy_models,
    direct_comparison,
)
from privnb.reporting.findings.workload import adversary_and_researcher

__all__ = [
    "errata",
    "gains_as_leakage",
    "table_guesses",
    "loss_scales",
    "subgroups",
    "random_levels",
    "remaining_detail",
    "every_setting",
    "characteristics",
    "release_costs",
    "leakage",
    "one_setting",
    "mined_predictions",
    "adversary_and_researcher",
    "adversary_gains",
    "owner_choice",
    "search",
    "privacy_models",
    "utility_declines",
    "user_losses",
    "direct_comparison",
    "revealing_attributes",
    "publication",
    "uniqueness",
]  # fmt: skip
