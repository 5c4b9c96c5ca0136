"""Bounds on numbers whose sums are known, which show the uncertainty that suppression and rounding leave.

Source: Fischetti and Salazar, "Solving the Cell Suppression Problem on Tabular Data with Linear Constraints",
Management Science 47(7), 2001 (the attacker's problem); Aggarwal and Yu 2008, section 12.5.2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.microdata.contradictions import find_contradiction, list_sums
from privnb.microdata.count_tables import totals_matrix
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

_CLOSE = 1e-6
MAX_BASE = 2**31  # maximum base of rounding, and maximum uncertainty about a count


def bound_suppressed(published: Any) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest possible count of each entry of a table with suppressed entries.

    Parameters
    ----------
    published : masked integer array
        The counts, with the totals at the end of each axis. Suppressed entries are masked. The grand total must be
        published.

    Returns
    -------
    low, high : integer array each
        The sharp bounds on whole counts, with the shape of `published`; wider bounds protect better.

    Raises
    ------
    ValueError
        If there are no counts with these totals, or if the grand total is suppressed.
    """
    expect.kind("published", published, np.ma.MaskedArray, instead="`suppress` gives one.")
    hidden = np.ma.getmaskarray(published).ravel()
    if hidden[-1]:
        raise UsageError(
            "`published` must show the grand total, without which counts are unbounded; got a suppressed grand total. "
            "Show the grand total."
        )
    low = published.filled(0).astype(np.int64)
    high = low.copy()
    if hidden.any():
        sums, known = totals_matrix([length - 1 for length in published.shape]), low.ravel()[~hidden]
        places = np.flatnonzero(~hidden)
        low.ravel()[hidden], high.ravel()[hidden] = bound_sums(
            sums[~hidden], known, known, wanted=sums[hidden], whole=published.ndim > 2,
            name=lambda place: _name_entry(int(places[place]), published.shape),
        )  # fmt: skip
    return low, high


def bound_rounded(published: Any, base: int) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest possible count of each entry of a table rounded to multiples of a base.

    Each true count differs from the published count by less than the base, and the true counts add up to the true
    totals.

    Parameters
    ----------
    published : integer array
        The rounded counts, with the totals at the end of each axis.
    base : int
        The base of the rounding, at least 2.

    Returns
    -------
    low, high : integer array each
        The bounds, with the shape of `published`; wider bounds protect better.
    """
    expect.kind("published", published, np.ndarray)
    check_base(base)
    sums, known = totals_matrix([length - 1 for length in published.shape]), published.ravel()
    found = bound_sums(
        sums, known - base + 1, known + base - 1, wanted=sums, whole=published.ndim > 2,
        name=lambda place: _name_entry(place, published.shape),
    )  # fmt: skip
    low, high = (each.reshape(published.shape) for each in found)
    return low, high


def _name_entry(place: int, shape: tuple[int, ...]) -> str:
    """Return the name of an entry of a table with totals for an error, as in "(0, total)"."""
    found = (int(each) for each in np.unravel_index(place, shape))
    words = ["total" if each == length - 1 else str(each) for each, length in zip(found, shape, strict=True)]
    return f"({', '.join(words)})"


def check_base(base: int) -> None:
    """Raise ValueError unless `base`, the base of a rounding, is a whole number from 2 to `MAX_BASE`."""
    if expect.whole("base", base, 2) > MAX_BASE:
        raise UsageError(f"`base` must be at most {MAX_BASE:,}; got {expect.describe_value(base)}.")


def bound_sums(
    sums: Any, least: ArrayLike, most: ArrayLike, *, wanted: Any = None, whole: bool = False,
    name: Callable[[int], str] = str,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the lowest and the highest possible value of unknown numbers, or of their sums, if other sums are known.

    The numbers are at least 0.

    Parameters
    ----------
    sums : array or sparse array (m, n)
        The number of times that each number occurs in each known sum, at least 0.
    least, most : array (m,)
        The bounds of each known sum.
    wanted : array or sparse array (k, n), optional
        The number of times that each number occurs in each sum for which the function returns bounds. If None, the
        function returns bounds for each number.
    whole : bool
        Whether the numbers are whole and the bounds must be sharp. If False, the numbers may have fractions, and the
        bounds are rounded inwards; for a table of two attributes with its totals, these bounds are also sharp.
    name : function
        The name of the known sum at a position, for an error; by default, the position.

    Returns
    -------
    low, high : integer array (k,) each

    Raises
    ------
    ValueError
        If there are no numbers with these sums, or if a number has no bound. The error lists sums that contradict each
        other, none of which can be left out.
    """
    sums = sparse.csr_array(sums, copy=True)
    sums.eliminate_zeros()
    number = sums.shape[1]
    wanted = sparse.csr_array(sparse.eye_array(number) if wanted is None else wanted)
    constraints, places = LinearConstraint(sums, least, most), sparse.coo_array(sums)
    ceiling = np.full(number, np.inf)  # no number exceeds a sum that includes it
    np.minimum.at(ceiling, places.col, np.asarray(most, dtype=float)[places.row])
    if not np.isfinite(ceiling).all():
        raise UsageError(
            f"the number at position {np.isinf(ceiling).argmax()} has no bound. Add a sum that includes this number."
        )
    if (ceiling < 0).any():
        raise UsageError("the known sums must be at least 0; got a sum below 0. Correct this sum.")
    low, high = np.zeros(wanted.shape[0]), wanted @ ceiling
    seen_low, seen_high = np.full(len(low), np.inf), np.full(len(low), -np.inf)

    def extreme(place: int, sign: int) -> float:
        objective = sign * wanted[[place]].toarray()[0]
        found = milp(objective, constraints=constraints, bounds=Bounds(0, ceiling), integrality=int(whole))
        if found.x is None:
            places = find_contradiction(sums, least, most, whole=whole)
            raise UsageError(
                f"the known sums {list_sums([name(int(each)) for each in places])} contradict each other: no numbers "
                "of at least 0 have all of these sums. Correct one of these sums."
            )
        reached = wanted @ found.x
        np.minimum(seen_low, reached, out=seen_low)
        np.maximum(seen_high, reached, out=seen_high)
        return reached[place]

    for place in range(len(low)):
        # A bound that an earlier solution reaches need not be computed again.
        if seen_low[place] > low[place] + _CLOSE:
            low[place] = extreme(place, 1)
        if seen_high[place] < high[place] - _CLOSE:
            high[place] = extreme(place, -1)
    return np.ceil(low - _CLOSE).astype(np.int64), np.floor(high + _CLOSE).astype(np.int64)
