"""The efficient frontier: which releases no other release dominates, and which one to publish under the owner's caps.

From tidy results alone. Source: Li and Li, KDD 2009, section 4.
"""

from privnb.decision.by_caps import choices, knee, left_out, sentences
from privnb.decision.by_policy import decide
from privnb.decision.points import AXES, SEEDS, Loss, comparable, from_best, points
from privnb.decision.policy import Policy
from privnb.decision.reasons import reason
from privnb.decision.summary import Line, Summary, summary
from privnb.decision.tuning import Tuned, grid, search, tune

__all__ = [
    "AXES", "SEEDS", "Line", "Loss", "Policy", "Summary", "Tuned", "choices", "comparable", "decide", "from_best",
    "grid", "knee", "left_out", "points", "reason", "search", "sentences", "summary", "tune",
]  # fmt: skip
