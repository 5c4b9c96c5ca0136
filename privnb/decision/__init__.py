"""The decision: which release an owner's policy leads to, which ones no other release dominates, and the card of one.

From tidy results alone. Source of the frontier: Li and Li, KDD 2009, section 4.
"""

from privnb.decision.by_policy import decide
from privnb.decision.points import AXES, SEEDS, Loss, comparable, from_best, points
from privnb.decision.policies import Policy
from privnb.decision.summary import Line, Summary, summary
from privnb.decision.tuning import Tuned, grid, search, tune
from privnb.decision.two_losses import caps, check_limits, choices, knee, left_out

__all__ = [
    "AXES", "SEEDS", "Line", "Loss", "Policy", "Summary", "Tuned", "caps", "check_limits", "choices", "comparable",
    "decide", "from_best", "grid", "knee", "left_out", "points", "search", "summary", "tune",
]  # fmt: skip
