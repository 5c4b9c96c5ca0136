"""Local recoding: classes of at least k records, chosen so that their smallest labels have a low certainty penalty.

The search has three steps, which use only the costs of class labels. A descent cuts the table into classes far smaller
than k. Then each class that is too small joins the class where it adds the least cost; the cheapest class joins first.
Finally, members whose label is cheaper in another class move there. The steps lower the certainty penalty of Xu et al.,
"Utility-Based Anonymization Using Local Recoding", KDD 2006, section 3. The search differs from the search in this
paper, which joins pairs or splits at two distant records.

`label_costs`: the costs of labels. `nearest_class`: the class that a box joins at the least cost. `descent`, `joins`
and `moves`: the three steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.algorithms import drop_stale_kernels
from privnb.sanitizers.algorithms.recoding.descent import descend
from privnb.sanitizers.algorithms.recoding.joins import join, join_until
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, UNIT, PricedRows, price_rows
from privnb.sanitizers.algorithms.recoding.moves import move

_FINER = 8  # the descent continues to classes of k / 8 records: joining these is better than cutting to k directly
_ROUNDS = 2  # a third round changes the fourth digit of the mean penalty


def local_recoding(
    codes: Array,
    multiplicities: Array,
    lines: Sequence[Array | int],
    k: int,
    holds: Callable[[Array], Array] | None = None,
) -> Array:
    """Return the class of each distinct combination, 0 to classes - 1; every class has at least k records.

    - `codes`: distinct rows of positions on the lines of the attributes, as an integer array (m, attributes).
    - `multiplicities`: the number of records of each row, as an integer array (m,).
    - `lines`: one per attribute. A line may be an integer array (levels, positions) with the node of each position at
      each level, such as `Taxonomy.groups`; a label is then the lowest common node. A line may also be the number of
      positions; a label then runs from the lowest to the highest position, except for the label of a missing number,
      whose position is last.
    - `holds`: a function of an integer array (m,) of classes 0 to c - 1, which returns, as a boolean array (c,),
      whether each class is allowed.

    A union of allowed classes must be allowed, too. Classes that are not allowed join the class where they add the
    least cost, until all classes are allowed.

    The search minimizes, without a guarantee of the optimum, the sum over records and attributes of (positions under
    the label - 1) / (positions - 1). A combination is never divided between classes; the order of rows affects only the
    order of the result. Raises ValueError if a class of all records has fewer than k records or is not allowed.
    """
    codes, weights = np.asarray(codes, dtype=np.int64), np.asarray(multiplicities, dtype=np.int64)
    if not 1 <= k <= weights.sum():
        raise UsageError(f"`k` must be from 1 to the number of records, {weights.sum()}; got {k}.")
    if len(weights) and weights.min() < 1:
        raise UsageError("`multiplicities` must be whole numbers of at least 1.")
    if 2 * int(weights.sum()) * len(lines) * UNIT >= NEVER:
        raise UsageError(
            f"{weights.sum()} records are too many for exact costs. Give fewer records, or a smaller population."
        )
    # # Short lines come first: a step on them adds the most cost, so a search soon exceeds its limit.
    sides = sorted(range(len(lines)), key=lambda a: lines[a] if np.isscalar(lines[a]) else np.shape(lines[a])[1])
    codes = codes[:, sides]
    order = np.lexsort(codes.T[::-1])
    back = np.argsort(order)
    combinations = price_rows(codes[order], weights[order], [lines[a] for a in sides])
    if not (np.diff(combinations.points, axis=0) != 0).any(axis=1).all():
        raise UsageError("the rows of `codes` must be distinct. Group equal rows and give their multiplicities.")
    levels = combinations.groups.shape[1]
    # # Every step numbers classes along the descent, so classes with neighboring numbers are neighbors in the table.
    classes = descend(combinations, np.zeros(len(codes), np.int64), 1 + k // _FINER, 1)
    classes = join(combinations, classes, _short(combinations, classes, k), k)
    changed = np.ones(len(codes), dtype=bool)
    for _ in range(_ROUNDS):
        classes = descend(combinations, classes, k, levels)
        move(combinations, classes, k, changed)
    classes = descend(combinations, classes, k, levels)
    if holds is not None:
        classes = join_until(combinations, classes, k, lambda classes: holds(classes[back]))
    return classes[back]


def join_classes(
    codes: Array,
    lines: Sequence[Array | int],
    classes: Array,
    k: int,
    holds: Callable[[Array], Array],
) -> Array:
    """Return the classes of n records after each class that is too small or not allowed has joined another class.

    The joins are those of `local_recoding`: repeatedly, the cheapest of these classes joins the class where it adds the
    least cost, until all classes are allowed. `codes` is an integer array (n, attributes). `classes` and the result are
    integer arrays (n,) from 0.
    """
    records = price_rows(codes, np.ones(len(codes)), lines)
    return join_until(records, join(records, classes, _short(records, classes, k), k), k, holds)


def _short(table: PricedRows, classes: IntArray, k: int) -> BoolArray:
    """Return, as a boolean array (classes,), whether each class has fewer than k records."""
    return np.bincount(classes, table.weights) < k


drop_stale_kernels(move)
