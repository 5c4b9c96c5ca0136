"""The decision: the release that an owner's policy leads to, the frontier of releases, and the release card.

The package computes everything from tidy results. Source of the frontier: Li and Li, KDD 2009, section 4.
"""

from privnb.decision.by_policy import decide
from privnb.decision.explanation import USES
from privnb.decision.points import AXES, SEEDS, Loss, are_comparable, compute_points, from_best
from privnb.decision.policies import Policy
from privnb.decision.tuning import Tuned, grid, search_positions, tune
from privnb.decision.two_losses import check_caps, choose_by_losses, compute_caps, find_knee, list_excluded

__all__ = [
    "AXES",
    "SEEDS",
    "USES",
    "Loss",
    "Policy",
    "Tuned",
    "are_comparable",
    "check_caps",
    "choose_by_losses",
    "compute_caps",
    "compute_points",
    "decide",
    "find_knee",
    "from_best",
    "grid",
    "list_excluded",
    "search_positions",
    "tune",
]  # fmt: skip
