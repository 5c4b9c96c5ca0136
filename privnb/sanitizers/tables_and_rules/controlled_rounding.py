"""Controlled rounding: every count and every total becomes a neighboring multiple of a base, and counts still add up.

Source: Cox, "A Constructive Procedure for Unbiased Controlled Rounding", JASA 82(398), 1987; Cox and Ernst, "Controlled
Rounding", INFOR 20(4), 1982.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.measures.count_tables.margin_bounds import bound_rounded, check_base
from privnb.microdata.count_tables import TableOfCounts, add_totals, totals_matrix
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated
from privnb.sanitizers.errors import SanitizationError

Base = Annotated[int, lambda name, value: check_base(value)]


class RoundedTable(NamedTuple):
    """A table with its totals, which are last on each axis.

    Attributes
    ----------
    published : integer array
    low, high : arrays
        The bounds of each entry for an adversary who sees the table.
    """

    published: IntArray
    low: Array
    high: Array


@validated
def round_counts(table: TableOfCounts, base: Base, *, rng: Randomness) -> RoundedTable:
    """Round each count of a table, and each total, to a neighboring multiple of `base`; multiples stay unchanged.

    The direction of each rounding is drawn at random. With one or two attributes, the rounding is unbiased: the mean of
    every published count and total over all draws is the true number. With three or more attributes, no such procedure
    is known, and for some tables no rounding adds up. The function then draws a direction for each entry, and publishes
    the rounding that adds up and agrees with the largest number of these draws. The mean of this rounding over all
    draws is near the true number but biased, by up to two fifths of the base in tables of 2 x 2 x 2. A reader can
    conclude only that each true entry differs from the published entry by less than `base`, and that the true entries
    add up. From these facts, the function computes the bounds of every entry: for counts below `base`, the two bounds
    differ by at least `base` - 1.

    Parameters
    ----------
    table : TableOfCounts
        The table, in which each record is one person.
    base : int
        The number whose multiples are published, at least 2.
    rng : int, Generator or None
        With None, fresh entropy is used. A seed would disclose the draws and is only for simulations.

    Returns
    -------
    RoundedTable

    Raises
    ------
    SanitizationError
        If no rounding adds up, which is possible with three or more attributes, or if the two bounds of a count below
        `base` differ by less than `base` - 1.
    """
    if table.counts.dtype.kind not in "iu":
        raise UsageError("`table` must have whole counts; got expected counts.")
    generator, entries = np.random.default_rng(rng), add_totals(table.counts)
    draw = _unbiased if table.counts.ndim <= 2 else _nearest_to_draws
    published = draw(table.counts, base, generator)
    low, high = bound_rounded(published, base)
    if (high - low)[(entries > 0) & (entries < base)].min(initial=base) < base - 1:
        raise SanitizationError(f"a small count has bounds that differ by less than {base - 1}. Raise `base`.")
    return RoundedTable(published, low, high)


def _unbiased(counts: IntArray, base: int, rng: np.random.Generator) -> IntArray:
    """Return a rounded table of one or two attributes with its totals, as an array of the shape of `add_totals`.

    Source: Cox 1987. With negated totals, every line of the table adds up to 0. No line therefore has exactly one entry
    that is not a multiple of the base, so that some of the entries that are not multiples form a cycle. A random amount
    with mean 0 is alternately added to and subtracted from the entries of the cycle, so that at least one entry becomes
    a multiple of the base. The step is repeated until every entry is a multiple of the base.
    """
    entries = add_totals(np.atleast_2d(counts)).astype(np.int64)
    signs = np.ones_like(entries)
    signs[-1] *= -1
    signs[:, -1] *= -1
    lower, rest = np.divmod(signs * entries, base)
    lines: list[dict[int, set[int]]] = [{}, {}]  # the entries between multiples of each row, and of each column
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
    published = signs * (base * lower + rest)
    return published if counts.ndim == 2 else published[0]


def _cycle(lines: Sequence[Mapping[int, set[int]]]) -> list[tuple[int, int]]:
    """Return a cycle, as a list of entries (row, column).

    Each entry is in the same row as one of its neighbors in the list, and in the same column as the other neighbor.
    """
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
    """Return a rounded table of any number of attributes with its totals, as an array of the shape of `add_totals`.

    The result is the rounding that adds up and agrees with the largest number of the directions drawn for the entries.
    """
    entries = add_totals(counts)
    lower, rest = np.divmod(entries.ravel(), base)
    sums, number = totals_matrix(counts.shape), entries.size
    inner = np.zeros([length + 1 for length in counts.shape], dtype=bool)
    inner[tuple(slice(length) for length in counts.shape)] = True
    spread = sparse.csr_array(
        (np.ones(inner.sum()), (np.arange(inner.sum()), np.flatnonzero(inner))), (inner.sum(), number)
    )
    adds = sums @ spread - sparse.eye_array(number)  # the sum of the cells minus the entry: 0
    off = -(adds @ lower)
    up = rng.random(number) < rest / base
    found = milp(
        np.where(up, -1.0, 1.0),
        constraints=LinearConstraint(sparse.csr_array(adds), off, off),
        bounds=Bounds(0, (rest > 0).astype(float)),
        integrality=np.ones(number),
    )
    if found.x is None:
        raise SanitizationError(f"no rounding to multiples of {base} adds up. Count fewer attributes at a time.")
    return (base * (lower + np.rint(found.x).astype(np.int64))).reshape(entries.shape)
