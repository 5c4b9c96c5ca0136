"""Hierarchies, which generalize values, measure distances between values, and find the values that a label covers.

The modules are: `generalization`, the common interface of all hierarchies; `categories`, with `Taxonomy` (a tree),
`Ordered` and `Sets`; `intervals`, for numbers; `taxonomies`, with functions that build trees; `group_trees`, for
trees that are edited; `merging`, for trees with few branches; and `foreign_labels`, for the labels of other tools.
"""

from privnb.microdata.hierarchy.categories import Ordered, Sets, Taxonomy, flat, keep_exact_ends
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Extent
from privnb.microdata.hierarchy.intervals import Intervals, LeveledRanges, RangedIntervals, Ranges

__all__ = [
    "SUPPRESSED", "Extent", "Intervals", "LeveledRanges", "Ordered", "RangedIntervals", "Ranges", "Sets", "Taxonomy",
    "flat", "keep_exact_ends",
]  # fmt: skip
