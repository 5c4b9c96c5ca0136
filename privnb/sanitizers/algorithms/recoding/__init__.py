"""Local recoding: classes of at least k records whose smallest labels cost the least certainty.

Three steps, each of which sees only what a class's label costs: a descent cuts the table into classes far smaller than
k, the cheapest classes too small join the class where they cost least, and members whose label gets cheaper elsewhere
move. The sum that they lower is the certainty penalty of Xu et al., "Utility-Based Anonymization Using Local
Recoding", KDD 2006, section 3; the search is our own (theirs joins pairs, or splits at two far records).

`label_costs`: what labels cost. `nearest_class`: the class that a box joins at the least cost. `descent`, `joins` and
`moves`: the three steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.algorithms import drop_stale_kernels
from privnb.sanitizers.algorithms.recoding.descent import descend
from privnb.sanitizers.algorithms.recoding.joins import join, join_until
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, UNIT, PricedRows, priced
from privnb.sanitizers.algorithms.recoding.moves import move

_FINER = 8  # the descent goes on to classes of k / 8 records: joining those beats cutting down to k at once
_ROUNDS = 2  # a third changes the fourth digit of the mean penalty


def local_recoding(
    codes: Array,
    multiplicities: Array,
    lines: Sequence[Array | int],
    k: int,
    holds: Callable[[Array], Array] | None = None,
) -> Array:
    """The class of each distinct combination, 0 to classes - 1; every class has k records or more.

    codes: integer array (m, attributes), distinct rows of positions on the attributes' lines. multiplicities: integer
    array (m,), records of each. lines: one an attribute; an integer array (levels, positions) with the node that holds
    each position at each level, as `Taxonomy.groups`, whose label is the lowest common one; or the number of positions,
    for labels that run from the lowest to the highest, but for that of a missing number, which stands last. holds:
    which classes are allowed, called with an integer array (m,) of classes 0 to c - 1, returns a bool array (c,).
    Whatever it asks must still hold in a union of classes that hold; classes that fail join their cheapest neighbour
    until none fails.

    Minimizes, without a promise of the optimum, the sum over records and attributes of (positions under the label - 1)
    / (positions - 1). A combination is never split over classes; the result depends on the order of rows in nothing
    but its own order. Raises ValueError when even one class of all records has fewer than k, or is not allowed.
    """
    codes, weights = np.asarray(codes, dtype=np.int64), np.asarray(multiplicities, dtype=np.int64)
    if not 1 <= k <= weights.sum():
        raise UsageError(f"classes of k={k} records cannot be made of {weights.sum()}. Give k from 1 to that.")
    if len(weights) and weights.min() < 1:
        raise UsageError("multiplicities must be whole numbers from 1.")
    if 2 * int(weights.sum()) * len(lines) * UNIT >= NEVER:
        raise UsageError(
            f"{weights.sum()} records weigh too much for exact costs. Give fewer, or a smaller population."
        )
    # Short lines first: a step on them costs most, so that a search sees soonest that it is too much.
    sides = sorted(range(len(lines)), key=lambda a: lines[a] if np.isscalar(lines[a]) else np.shape(lines[a])[1])
    codes = codes[:, sides]
    order = np.lexsort(codes.T[::-1])
    back = np.argsort(order)
    combinations = priced(codes[order], weights[order], [lines[a] for a in sides])
    if not (np.diff(combinations.points, axis=0) != 0).any(axis=1).all():
        raise UsageError("the rows of codes must be distinct. Group them and give their multiplicities.")
    levels = combinations.groups.shape[1]
    # Every step numbers classes along the descent, so that neighbours in number are neighbours in the table.
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


def joined(
    codes: Array,
    lines: Sequence[Array | int],
    classes: Array,
    k: int,
    holds: Callable[[Array], Array],
) -> Array:
    """Classes of n records after those that are too small or not allowed have joined the others, as `local_recoding`
    does it: the cheapest to the one where it costs least, until none is left.

    codes: integer array (n, attributes); classes: integer array (n,) from 0. Returns one of the same kind.
    """
    records = priced(codes, np.ones(len(codes)), lines)
    return join_until(records, join(records, classes, _short(records, classes, k), k), k, holds)


def _short(table: PricedRows, classes: IntArray, k: int) -> BoolArray:
    """Which classes have fewer than k records, bool array (classes,)."""
    return np.bincount(classes, table.weights) < k


drop_stale_kernels(move)
