"""Whose records these are: the column that a draft proposes as the key of people who have several records each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from privnb.datasets.column_types import GROUP, MOST_ROWS, OWNER, TIME, Column
from privnb.datasets.column_values import Values
from privnb.microdata.schema import Categories, Role
from privnb.runtime.arrays import IntArray

BY_CHANCE, FIRST = 10, 10_000  # pairs of records; records that are compared before all
WHEN = ("dates", "years", "times")  # how a draft says that a column is a time


def of_people(
    columns: Sequence[Column], values: Mapping[str, Values], table: Sequence[IntArray] | None = None
) -> list[Column]:
    """The same columns, of which the first that looks like a key of people who have several records each is one: by its
    name, or as none of its values has two records of one time.

    `table`: the codes of each column, by record; without it names alone are looked at.
    """
    for place, column in enumerate(columns):
        each = values[column.name]
        if each.missing or not 1 < each.different < each.records:
            continue
        keyed = OWNER.search(column.name) and not GROUP.fullmatch(column.name)
        if keyed and each.records < each.different * MOST_ROWS:
            why = "k counts people; if it is no key, give another role"
        elif time := table and _panel(column, table[place], columns, table):
            why = f"none has two of one '{time}', so k counts them; if it is no key, give another role"
        else:
            continue
        reason = f"{each.different:,} people in {each.records:,} records: {why}"
        return [*columns[:place], Column(column.name, Role.PERSON, reason), *columns[place + 1 :]]
    return [*columns]


def _panel(column: Column, codes: IntArray, columns: Sequence[Column], table: Sequence[IntArray]) -> str | None:
    """The name of the column of times, each of which a value of `column` has at most once, though by chance at least
    ten pairs of records would share both; None without one. So has a rank within each year: a number also tells
    something that stays.
    """
    numbers = column.domain is not None and not isinstance(column.domain, Categories)
    if TIME.search(column.name) or column.reason.startswith(WHEN):
        return None
    alike = _alike(codes)
    if numbers and not any(_determined(codes, alike, other) for other in table if other is not codes):
        return None
    for other, times in zip(columns, table, strict=True):
        timed = other is not column and (TIME.search(other.name) or other.reason.startswith(WHEN))
        if timed and alike * _alike(times) >= BY_CHANCE * len(codes) ** 2 / 2:
            pairs = codes.astype(np.int64) * (int(times.max()) + 2) + times
            if all(len(np.unique(some)) == len(some) for some in (pairs[:FIRST], pairs)):
                return other.name
    return None


def _determined(codes: IntArray, alike: float, others: IntArray) -> bool:
    """Whether records of one code are alike in another column, though by chance at least ten pairs would differ there.

    `alike`: how many pairs have the same code.
    """
    pairs = len(codes) * (len(codes) - 1) / 2
    if alike * (1 - _alike(others) / pairs) < BY_CHANCE:
        return False
    own = np.empty(int(codes.max()) + 1, dtype=np.int64)
    for some, other in ((codes[:FIRST], others[:FIRST]), (codes, others)):
        own[some] = other
        if not np.array_equal(own[some], other):
            return False
    return True


def _alike(codes: IntArray) -> float:
    """How many pairs of records have the same code."""
    counts = np.bincount(codes + 1).astype(float)
    return counts @ (counts - 1) / 2
