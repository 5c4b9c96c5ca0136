"""Controlled rounding: every count and every total becomes a multiple of a base beside it, and they still add up.

Source: Cox, "A Constructive Procedure for Unbiased Controlled Rounding", JASA 82(398), 1987; Cox and Ernst, "Controlled
Rounding", INFOR 20(4), 1982.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.measures.known_sums import check_base, rounded_bounds
from privnb.microdata import expect
from privnb.microdata.count_tables import TableOfCounts, sums_of, with_totals
from privnb.sanitizers.base import SanitizationError


class Rounded(NamedTuple):
    """A table with its totals, which stand last on each axis: integer array `published`; `low` and `high`: between
    which counts each entry lies for whoever sees it."""

    published: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rounded(table, base, *, rng):
    """Round each count of a table, and each total, to one of the two multiples of `base` beside it; multiples stay.

    Whether each goes up is drawn, with the probability that keeps its mean, and the rounding that adds up and differs
    from fewest draws is published. So no more follows for certain than that each is less than `base` away and all add
    up. From that the bounds of every entry are computed: those of counts below `base` differ by `base` - 1 at least.

    Parameters
    ----------
    table : TableOfCounts
        Of records that are one person each.
    base : int
        From 2.
    rng : int, Generator or None
        None: fresh entropy. A seed, which would tell the draws, is for simulations.

    Returns
    -------
    Rounded

    Raises
    ------
    SanitizationError
        Where no rounding adds up, which three attributes or more may cause, and where a small count has narrower
        bounds.
    """
    expect.kind("table", table, TableOfCounts)
    check_base(base)
    expect.these(rng=rng)
    if table.counts.dtype.kind not in "iu":
        raise ValueError("table must hold whole counts to round, got expected ones.")
    entries = with_totals(table.counts)
    floor, rest = np.divmod(entries.ravel(), base)
    sums, number = sums_of(table.counts.shape), entries.size
    inner = np.zeros([length + 1 for length in table.counts.shape], dtype=bool)
    inner[tuple(slice(length) for length in table.counts.shape)] = True
    spread = sparse.csr_array(
        (np.ones(inner.sum()), (np.arange(inner.sum()), np.flatnonzero(inner))), (inner.sum(), number)
    )
    adds = sums @ spread - sparse.eye_array(number)  # what the cells make less the entry: 0
    off = -(adds @ floor)
    up = np.random.default_rng(rng).random(number) < rest / base
    found = milp(
        np.where(up, -1.0, 1.0),
        constraints=LinearConstraint(sparse.csr_array(adds), off, off),
        bounds=Bounds(0, (rest > 0).astype(float)),
        integrality=np.ones(number),
    )
    if found.x is None:
        raise SanitizationError(f"no rounding to multiples of {base} adds up. Count fewer attributes at a time.")
    published = (base * (floor + np.rint(found.x).astype(np.int64))).reshape(entries.shape)
    low, high = rounded_bounds(published, base)
    if (high - low)[(entries > 0) & (entries < base)].min(initial=base) < base - 1:
        raise SanitizationError(f"a small count has bounds that differ by less than {base - 1}. Raise base.")
    return Rounded(published, low, high)
