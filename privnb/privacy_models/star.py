"""The meaning of suppressed and missing cells in equivalence classes.

| meaning | a cell `*` | a row counts in |
|---|---|---|
| `own` | is a category of its own | its class, the rows with equal cells |
| `any` | matches every value | every class to which it could belong |
| `conservative` | matches every value for an adversary | no class but its own, if the row has a `*` |

With `any` and `conservative`, classes overlap: each row has a class, which consists of the rows that it could be
confused with. With `any`, these are all rows whose cells match. With `conservative`, these are the row itself and the
matching rows without a `*`, so that a row with a `*` protects nobody else.

`any` counts as sdcMicro does by default (freqCalc, alpha = 1: each wildcard match is counted). The closest setting of
sdcMicro to `conservative` is alpha = 0, with which keys with missing values are basically ignored. `own` is the default
of this package.

Source: the documentation of freqCalc in sdcMicro 5; Templ, Kowarik, Meindl, "Statistical Disclosure Control for
Micro-Data Using the R Package sdcMicro", Journal of Statistical Software 67(4), 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.schema import Schema
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd

Star = Literal["own", "any", "conservative"]
STARS: tuple[Star, ...] = get_args(Star)


class Confusable(NamedTuple):
    """The classes of rows whose cells may match several values.

    Attributes
    ----------
    counts : integer array (classes, values)
    class_of : integer array (combinations, values)
        The class of the rows with each combination of cells and each value; -1 if there is no such row.
    """

    counts: IntArray
    class_of: IntArray


@dataclass(frozen=True, eq=False)
class Labels:
    """The distinct combinations of published cells.

    Parameters
    ----------
    star : str
        The meaning of `*`.
    columns : sequence of pairs
        For each quasi-identifier, the code of each combination, integer array (combinations,), and the cells, array
        (codes,).
    """

    star: Star
    columns: Sequence[tuple[IntArray, Array]]

    @classmethod
    def of_release(cls, star: Star, release: Release) -> Labels:
        """Return the labels of the equivalence classes of a release; marks of missing values are `*`."""
        if star == "own":
            return cls(star, [*release.labels_alike.values()])
        columns = []
        for name, (codes, cells) in release.labels_alike.items():
            domain = release.schema[name].domain
            mark = None if domain is None else domain.missing
            columns.append((codes, np.array([SUPPRESSED if cell == mark else cell for cell in cells], dtype=object)))
        return cls(star, columns)

    def confuse(self, counts: IntArray) -> Confusable:
        """Return the classes, given the counts of values in each combination, integer array (combinations, values).

        Examples
        --------
        Three people are of age 30 in town a, one in town b, and one is of age 30 in an unknown town.

        >>> town = np.array([0, 1, 2]), np.array(["*", "a", "b"], dtype=object)
        >>> for star in STARS:
        ...     print(star, Labels(star, [town]).confuse(np.array([[1], [3], [1]])).counts[:, 0].tolist())
        own [1, 3, 1]
        any [5, 4, 2]
        conservative [3, 1, 5]
        """
        whole = np.where(counts > 0, np.arange(len(counts))[:, None], -1)
        if self.star == "own":
            return Confusable(counts, whole)
        hidden = self._hidden(len(counts))
        patterns = np.unique(hidden, axis=0, return_inverse=True)[1].ravel()
        groups = [np.flatnonzero(patterns == number) for number in range(patterns.max() + 1)]
        if self.star == "any":
            matching = np.zeros_like(counts)
            for rows in groups:
                for others in groups:
                    matching[rows] += self._matching(rows, others, hidden, counts)
            return Confusable(matching, whole)
        full = np.flatnonzero(~hidden.any(axis=1))
        found, class_of = [counts[full]], np.full(counts.shape, -1)
        class_of[full] = np.where(counts[full] > 0, np.arange(len(full))[:, None], -1)
        number = len(full)
        for rows in groups:
            if hidden[rows[0]].any():
                row, value = np.nonzero(counts[rows])
                own = self._matching(rows, full, hidden, counts)[row]
                own[np.arange(len(row)), value] += 1  # the row itself
                found.append(own)
                class_of[rows[row], value] = number + np.arange(len(row))
                number += len(row)
        return Confusable(np.concatenate(found), class_of)

    def _hidden(self, number: int) -> BoolArray:
        """Return which cells of each combination are suppressed or missing: boolean array (combinations, columns)."""
        hidden = np.zeros((number, len(self.columns)), dtype=bool)
        for place, (codes, cells) in enumerate(self.columns):
            flags = np.array([cell is None or cell != cell or str(cell) == SUPPRESSED for cell in cells])
            hidden[:, place] = flags[codes]
        return hidden

    def _matching(self, rows: IntArray, others: IntArray, hidden: BoolArray, counts: IntArray) -> IntArray:
        """Return the counts of the `others` that match each of the `rows`; each of the two hides the same columns."""
        if not len(others):
            return np.zeros((len(rows), counts.shape[1]), dtype=counts.dtype)
        shown = np.flatnonzero(~(hidden[rows[0]] | hidden[others[0]]))
        both = np.concatenate([rows, others])
        columns = [self.columns[int(place)] for place in shown]
        codes = [own[both] for own, _ in columns] or [np.zeros(len(both), dtype=np.int64)]
        sizes = [len(cells) for _, cells in columns] or [1]
        key = group_codes(codes, sizes)[1]
        sums = np.zeros((key.max() + 1, counts.shape[1]), dtype=counts.dtype)
        np.add.at(sums, key[len(rows) :], counts[others])
        return sums[key[: len(rows)]]


def star_missing(cells: pd.DataFrame, names: Sequence[str], schema: Schema | None = None) -> pd.DataFrame:
    """Return cells with `*` in place of each missing value of the columns `names`, also of the marks of a schema."""
    cells = cells.copy(deep=False)
    for name in names:
        column = cells[name].astype(object)
        domain = schema[name].domain if schema is not None and name in schema.names() else None
        mark = None if domain is None else domain.missing
        cells[name] = column.where(column.notna() & (column != mark), SUPPRESSED)
    return cells
