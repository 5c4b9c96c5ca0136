"""Generalization of values, distances between values, and the values that a published label covers.

`generalization`: the common interface of all hierarchies. `categories`: `Taxonomy` (a tree), `Ordered` and `Sets`.
`intervals`: numbers. `taxonomies`: trees that one call builds. `merging`: trees with few branches.
"""

from privnb.microdata.hierarchy.categories import Ordered, Sets, Taxonomy, flat, keep_exact_ends
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Extent
from privnb.microdata.hierarchy.intervals import Intervals, LeveledRanges, RangedIntervals, Ranges

__all__ = [
    "SUPPRESSED", "Extent", "Intervals", "LeveledRanges", "Ordered", "RangedIntervals", "Ranges", "Sets", "Taxonomy",
    "flat", "keep_exact_ends",
]  # fmt: skip
