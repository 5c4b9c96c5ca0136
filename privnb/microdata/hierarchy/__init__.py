"""How a value generalizes, how far apart two values are, and which values a published label covers.

`generalization`: what every way has in common. `categories`: a `Taxonomy` (a tree), `Ordered`, `Sets`. `intervals`:
numbers. `taxonomies`: trees built in a line. `merging`: trees of few branches.
"""

from privnb.microdata.hierarchy.categories import Ordered, Sets, Taxonomy, flat, with_exact_ends
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Extent
from privnb.microdata.hierarchy.intervals import Intervals, LeveledRanges, RangedIntervals, Ranges

__all__ = [
    "SUPPRESSED", "Extent", "Intervals", "LeveledRanges", "Ordered", "RangedIntervals", "Ranges", "Sets", "Taxonomy",
    "flat", "with_exact_ends",
]  # fmt: skip
