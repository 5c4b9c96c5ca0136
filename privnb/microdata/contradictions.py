"""Published sums that contradict each other, reduced to a set of which every part is free of contradiction.

Source: Chinneck and Dravnieks, "Locating minimal infeasible constraint sets in linear programs", ORSA Journal on
Computing 3(2), 1991 (the deletion filter and the elastic program).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from privnb.runtime.arrays import FloatArray, IntArray

_CLOSE = 1e-7
MANY = 6  # the largest number of sums that an error lists


def find_contradiction(
    sums: Any, least: ArrayLike, most: ArrayLike, *, ceiling: float = np.inf, whole: bool = False
) -> IntArray:
    """Return the positions of sums that contradict each other, none of which can be left out; empty if all sums agree.

    The sums agree if there are numbers from 0 to `ceiling` with all of these sums. An elastic program allows each sum
    to be missed and minimizes the total miss. The sums with a shadow price contradict each other together. The deletion
    filter then removes one sum after the other, and keeps a sum only if the other sums agree without it.

    Parameters
    ----------
    sums : array or sparse array (m, n)
        The factor of each of the n numbers in each of the m sums.
    least, most : array (m,)
        The bounds of each sum.
    ceiling : float
        The largest possible value of each number.
    whole : bool
        Whether the numbers are whole.

    Returns
    -------
    integer array
        The positions in ascending order. Another set of the same sums may be smaller.

    Examples
    --------
    Two people cannot have two positive bits if the second of them has none:

    >>> find_contradiction(np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0]]), [2, 0, 0], [2, 0, 0], ceiling=1).tolist()
    [0, 2]
    """
    matrix, low, high = sparse.csr_array(sums, dtype=float), _floats(least), _floats(most)
    kept = _find_priced(matrix, low, high, ceiling)
    if not len(kept):
        if not whole or _agree(matrix, low, high, ceiling, whole):
            return kept
        kept = np.arange(len(low))
    for place in kept.copy():
        others = kept[kept != place]
        if not _agree(matrix[others], low[others], high[others], ceiling, whole):
            kept = others
    return kept


def list_sums(names: list[str]) -> str:
    """Return names of sums as a text; of more than six names, only the first six, with the number of the others.

    >>> list_sums(["a", "b", "c"])
    'a, b and c'
    """
    shown = names[:MANY]
    if left := len(names) - len(shown):
        return f"{', '.join(shown)} and {left} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _floats(ends: ArrayLike) -> FloatArray:
    return np.asarray(ends, dtype=float)


def _find_priced(matrix: Any, low: FloatArray, high: FloatArray, ceiling: float) -> IntArray:
    """Return the positions of the sums with a shadow price in the elastic program; empty if no sum must be missed."""
    count, number = matrix.shape
    misses = sparse.eye_array(count)
    rows = sparse.vstack([sparse.hstack([matrix, -misses]), sparse.hstack([-matrix, -misses])]).tocsr()
    price = np.concatenate([np.zeros(number), np.ones(count)])
    bounds = [(0, None if np.isinf(ceiling) else ceiling)] * number + [(0, None)] * count
    found = linprog(price, A_ub=rows, b_ub=np.concatenate([high, -low]), bounds=bounds, method="highs")
    if found.fun <= _CLOSE * max(1, np.abs(high).max(initial=1)):
        return np.zeros(0, dtype=np.int64)
    above, below = np.abs(found.ineqlin.marginals).reshape(2, count)
    return np.flatnonzero(np.maximum(above, below) > _CLOSE)


def _agree(matrix: Any, low: FloatArray, high: FloatArray, ceiling: float, whole: bool) -> bool:
    if not len(low):
        return True
    constraints = LinearConstraint(matrix, low, high)
    found = milp(np.zeros(matrix.shape[1]), constraints=constraints, bounds=Bounds(0, ceiling), integrality=int(whole))
    return found.x is not None
