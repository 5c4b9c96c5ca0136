"""Between which ends each of some numbers lies, where sums are known: what suppression and rounding leave open.

Source: Fischetti and Salazar, "Solving the Cell Suppression Problem on Tabular Data with Linear Constraints",
Management Science 47(7), 2001: the attacker's problem; Aggarwal and Yu 2008, section 12.5.2.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.microdata.count_tables import sums_of
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

_CLOSE = 1e-6
LARGEST = 2**31  # number that counts are rounded to or shall be uncertain by


def suppressed_bounds(published: Any) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest count of each entry of a table of which some are suppressed: whole counts, sharp.

    Parameters
    ----------
    published : masked integer array
        Counts with their totals last on each axis; what is suppressed is masked. The total of all is published.

    Returns
    -------
    low, high : integer array each
        Of the shape of `published`; wider is better.

    Raises
    ------
    ValueError
        Where no counts have these totals, and where the total of all is suppressed.
    """
    expect.kind("published", published, np.ma.MaskedArray, instead="`suppress` gives one.")
    hidden = np.ma.getmaskarray(published).ravel()
    if hidden[-1]:
        raise UsageError("published must hold the total of all: without it counts have no bound.")
    low = published.filled(0).astype(np.int64)
    high = low.copy()
    if hidden.any():
        sums, known = sums_of([length - 1 for length in published.shape]), low.ravel()[~hidden]
        low.ravel()[hidden], high.ravel()[hidden] = solved(
            sums[~hidden], known, known, asked=sums[hidden], whole=published.ndim > 2
        )
    return low, high


def rounded_bounds(published: Any, base: int) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest count of each entry of a table that is rounded to multiples of a base.

    Each is less than the base from what is published, and the true counts add up, too.

    Parameters
    ----------
    published : integer array
        With totals last on each axis.
    base : int
        From 2.

    Returns
    -------
    low, high : integer array each
        Of the shape of `published`; wider is better.
    """
    expect.kind("published", published, np.ndarray)
    check_base(base)
    sums, known = sums_of([length - 1 for length in published.shape]), published.ravel()
    found = solved(sums, known - base + 1, known + base - 1, asked=sums, whole=published.ndim > 2)
    low, high = (each.reshape(published.shape) for each in found)
    return low, high


def check_base(base: int) -> None:
    """Raise ValueError unless counts can be rounded to multiples of `base`: a whole number from 2."""
    if expect.whole("base", base, 2) > LARGEST:
        raise UsageError(f"base must be at most {LARGEST:,}, got {expect.found(base)}.")


def solved(
    sums: Any, least: ArrayLike, most: ArrayLike, *, asked: Any = None, whole: bool = False
) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest value of each of some numbers from 0, where sums of them are known.

    Parameters
    ----------
    sums : array or sparse array (m, n)
        How often each number is in each sum, from 0.
    least, most : array (m,)
        Between which numbers each sum lies.
    asked : array or sparse array (k, n), optional
        Sums that are asked for; None: each number.
    whole : bool
        Whether the numbers are whole and the bounds are to be sharp. Else the bounds are those of any numbers, rounded
        inwards: in tables of two attributes with their totals these are sharp, too.

    Returns
    -------
    low, high : integer array (k,) each

    Raises
    ------
    ValueError
        Where no numbers have these sums, or one has no bound.
    """
    sums = sparse.csr_array(sums, copy=True)
    sums.eliminate_zeros()
    number = sums.shape[1]
    asked = sparse.csr_array(sparse.eye_array(number) if asked is None else asked)
    constraints, places = LinearConstraint(sums, least, most), sparse.coo_array(sums)
    ceiling = np.full(number, np.inf)  # no number exceeds a sum that it is part of
    np.minimum.at(ceiling, places.col, np.asarray(most, dtype=float)[places.row])
    if not np.isfinite(ceiling).all():
        raise UsageError(f"the number {np.isinf(ceiling).argmax()} has no bound. Give a sum that it is part of.")
    if (ceiling < 0).any():
        raise UsageError("no numbers from 0 have a sum below 0.")
    low, high = np.zeros(asked.shape[0]), asked @ ceiling
    seen_low, seen_high = np.full(len(low), np.inf), np.full(len(low), -np.inf)

    def extreme(place: int, sign: int) -> float:
        objective = sign * asked[[place]].toarray()[0]
        found = milp(objective, constraints=constraints, bounds=Bounds(0, ceiling), integrality=int(whole))
        if found.x is None:
            raise UsageError("no numbers from 0 have all these sums: they contradict each other.")
        reached = asked @ found.x
        np.minimum(seen_low, reached, out=seen_low)
        np.maximum(seen_high, reached, out=seen_high)
        return reached[place]

    for place in range(len(low)):
        # What one solution reaches for others, too, need not be looked for again.
        if seen_low[place] > low[place] + _CLOSE:
            low[place] = extreme(place, 1)
        if seen_high[place] < high[place] - _CLOSE:
            high[place] = extreme(place, -1)
    return np.ceil(low - _CLOSE).astype(np.int64), np.floor(high + _CLOSE).astype(np.int64)
