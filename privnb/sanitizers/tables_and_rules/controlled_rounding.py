"""Controlled rounding: every count and every total becomes a multiple of a base beside it, and they still add up.

Source: Cox, "A Constructive Procedure for Unbiased Controlled Rounding", JASA 82(398), 1987; Cox and Ernst, "Controlled
Rounding", INFOR 20(4), 1982.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.measures.count_tables.known_sums import check_base, rounded_bounds
from privnb.microdata.count_tables import TableOfCounts, sums_of, with_totals
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated
from privnb.sanitizers.errors import SanitizationError

Base = Annotated[int, lambda name, value: check_base(value)]


class Rounded(NamedTuple):
    """A table with its totals, which stand last on each axis: integer array `published`; `low` and `high`: between
    which counts each entry lies for whoever sees it."""

    published: IntArray
    low: Array
    high: Array


@validated
def rounded(table: TableOfCounts, base: Base, *, rng: Randomness) -> Rounded:
    """Round each count of a table, and each total, to one of the two multiples of `base` beside it; multiples stay.

    Whether each goes up is drawn. With one or two attributes the rounding is unbiased: the mean over draws of every
    count and total is the true one. With three or more no such procedure is known, and not every table has a rounding:
    one is drawn for each entry by itself, and the rounding that adds up and differs from fewest of these is published.
    Its mean is near the true one, and biased: by up to two fifths of the base in tables of 2 x 2 x 2. No more follows
    for certain than that each entry is less than `base` away and all add up. From that the bounds of every entry are
    computed: those of counts below `base` differ by `base` - 1 at least.

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
    if table.counts.dtype.kind not in "iu":
        raise UsageError("table must hold whole counts to round, got expected ones.")
    generator, entries = np.random.default_rng(rng), with_totals(table.counts)
    draw = _unbiased if table.counts.ndim <= 2 else _nearest_to_draws
    published = draw(table.counts, base, generator)
    low, high = rounded_bounds(published, base)
    if (high - low)[(entries > 0) & (entries < base)].min(initial=base) < base - 1:
        raise SanitizationError(f"a small count has bounds that differ by less than {base - 1}. Raise base.")
    return Rounded(published, low, high)


def _unbiased(counts: IntArray, base: int, rng: np.random.Generator) -> IntArray:
    """Round a table of one or two attributes with its totals: integer array of the shape of `with_totals`.

    Source: Cox 1987: with totals negated, every line of the table adds up to 0, so that no line has just one entry
    between multiples, and entries between multiples form a cycle. What is added to one entry of the cycle and taken
    from the next one, until an entry is a multiple, is drawn with a mean of 0.
    """
    entries = with_totals(np.atleast_2d(counts)).astype(np.int64)
    signs = np.ones_like(entries)
    signs[-1] *= -1
    signs[:, -1] *= -1
    floor, rest = np.divmod(signs * entries, base)
    lines: list[dict[int, set[int]]] = [{}, {}]  # of each row, and of each column, its entries between multiples
    for row, column in zip(*(each.tolist() for each in np.nonzero(rest)), strict=True):
        lines[0].setdefault(row, set()).add(column)
        lines[1].setdefault(column, set()).add(row)
    while lines[0]:
        cycle = _cycle(lines)
        to_add, to_take = cycle[::2], cycle[1::2]
        most = min(min(base - rest[e] for e in to_add), min(rest[e] for e in to_take))
        least = min(min(rest[e] for e in to_add), min(base - rest[e] for e in to_take))
        step = most if rng.integers(most + least) < least else -least
        for entry in to_add:
            rest[entry] += step
        for entry in to_take:
            rest[entry] -= step
        for row, column in cycle:
            if rest[row, column] % base == 0:
                for line, place, other in ((lines[0], row, column), (lines[1], column, row)):
                    line[place].discard(other)
                    if not line[place]:
                        del line[place]
    published = signs * (base * floor + rest)
    return published if counts.ndim == 2 else published[0]


def _cycle(lines: Sequence[Mapping[int, set[int]]]) -> list[tuple[int, int]]:
    """Entries (row, column) of which each shares its row with one neighbour and its column with the other: a list."""
    place, side, came = next(iter(lines[0])), 0, None
    path: list[tuple[int, int]] = []
    seen: dict[tuple[int, int], int] = {}
    while (side, place) not in seen:
        seen[side, place] = len(path)
        on = next(each for each in lines[side][place] if each != came)
        path.append((place, on) if side == 0 else (on, place))
        place, side, came = on, 1 - side, place
    return path[seen[side, place] :]


def _nearest_to_draws(counts: IntArray, base: int, rng: np.random.Generator) -> IntArray:
    """Round a table of any number of attributes with its totals, by the rounding that adds up and differs from fewest
    draws of each entry: integer array of the shape of `with_totals`.
    """
    entries = with_totals(counts)
    floor, rest = np.divmod(entries.ravel(), base)
    sums, number = sums_of(counts.shape), entries.size
    inner = np.zeros([length + 1 for length in counts.shape], dtype=bool)
    inner[tuple(slice(length) for length in counts.shape)] = True
    spread = sparse.csr_array(
        (np.ones(inner.sum()), (np.arange(inner.sum()), np.flatnonzero(inner))), (inner.sum(), number)
    )
    adds = sums @ spread - sparse.eye_array(number)  # what the cells make less the entry: 0
    off = -(adds @ floor)
    up = rng.random(number) < rest / base
    found = milp(
        np.where(up, -1.0, 1.0),
        constraints=LinearConstraint(sparse.csr_array(adds), off, off),
        bounds=Bounds(0, (rest > 0).astype(float)),
        integrality=np.ones(number),
    )
    if found.x is None:
        raise SanitizationError(f"no rounding to multiples of {base} adds up. Count fewer attributes at a time.")
    return (base * (floor + np.rint(found.x).astype(np.int64))).reshape(entries.shape)
