"""The efficient frontier: which releases no other release dominates, and which one to publish under the owner's caps.

From tidy results alone. Source: Li and Li, KDD 2009, section 4.
"""

from privnb.decision.caps import caps, choices, knee, sentences
from privnb.decision.points import AXES, SEEDS, Loss, comparable, from_best, points
from privnb.decision.tuning import Tuned, grid, search, tune

__all__ = [
    "AXES", "SEEDS", "Loss", "Tuned", "caps", "choices", "comparable", "from_best", "grid", "knee", "points", "search",
    "sentences", "tune",
]  # fmt: skip
