"""Tables of counts: how many records have each combination of the values of some attributes, and their margins.

A margin is the table of some of the attributes. Several margins that are published together say more than each alone.
Tables over these sets of attributes are decomposable where they can be put in an order in which each shares with the
later ones only what one of them has.

Source: Lauritzen, "Graphical Models", 1996, section 4.4; Aggarwal and Yu 2008, chapter 12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd

LARGEST = 2**22  # cells
Element = TypeVar("Element", bound=Hashable)


@dataclass(frozen=True, eq=False, repr=False)
class TableOfCounts:
    """Counts, one axis an attribute.

    Parameters
    ----------
    values : dict of str to tuple of str
        The values of each attribute, in the order of the axes.
    counts : array
        Numbers from 0, of the shape of the values.

    Raises
    ------
    ValueError
        For counts of another shape, and for one below 0.

    >>> table = TableOfCounts({"sex": ("F", "M"), "ill": ("no", "yes")}, np.array([[5, 1], [7, 2]]))
    >>> table, table.margin("ill").counts
    (TableOfCounts(sex x ill: 15), array([12,  3]))
    """

    values: Mapping[str, tuple[str, ...]]
    counts: Array

    def __post_init__(self) -> None:
        expect.kind("values", self.values, Mapping, instead="Give the values of each attribute.")
        expect.kind("counts", self.counts, np.ndarray)
        shape = tuple(len(each) for each in self.values.values())
        if self.counts.shape != shape or not shape or self.counts.dtype.kind not in "iuf":
            raise UsageError(f"counts must be numbers of the shape of values, {shape}, got {self.counts.shape}.")
        if not (self.counts >= 0).all():
            raise UsageError(f"counts must be 0 or more, got {self.counts.min():g}.")

    def __repr__(self) -> str:
        return f"TableOfCounts({' x '.join(self.values)}: {self.counts.sum():,})"

    @classmethod
    def of(cls, table: pd.DataFrame, names: Sequence[str]) -> TableOfCounts:
        """The counts of the records of a table.

        Parameters
        ----------
        table : DataFrame
        names : list of str
            Columns; their values that occur, in the order of a Categorical, else sorted.

        Returns
        -------
        TableOfCounts

        Raises
        ------
        ValueError
            For no or unknown columns, a missing value, and more than four million cells.
        """
        expect.table("table", table, expect.texts("names", names, "columns"))
        if not len(names):
            raise UsageError("names must be one column or more, got none.")
        columns = [table[name].astype("category").cat.remove_unused_categories() for name in names]
        shape = tuple(len(column.cat.categories) for column in columns)
        if any(column.isna().any() for column in columns):
            raise UsageError(f"a missing value is in no cell of names {', '.join(names)}. Give it a mark of its own.")
        if np.prod(shape, dtype=float) > LARGEST:
            raise UsageError(f"names {', '.join(names)} have more than {LARGEST:,} cells. Name fewer, or merge values.")
        cells = np.ravel_multi_index([column.cat.codes.to_numpy(dtype=np.int64) for column in columns], shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        return cls({name: tuple(c.cat.categories) for name, c in zip(names, columns, strict=True)}, counts)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the attributes, a tuple."""
        return tuple(self.values)

    def margin(self, names: Sequence[str]) -> TableOfCounts:
        """The counts of some of the attributes, in the order of this table: a TableOfCounts.

        Raises ValueError for none and for unknown ones. One letter each may be written together: "ACD".
        """
        wanted = (names,) if names in self.values else tuple(names)
        if unknown := [name for name in wanted if name not in self.values] or (not wanted and ["nothing"]):
            raise UsageError(f"names must be some of {', '.join(self.values)}, got {', '.join(map(str, unknown))}.")
        others = tuple(axis for axis, name in enumerate(self.values) if name not in wanted)
        kept = {name: values for name, values in self.values.items() if name in wanted}
        return TableOfCounts(kept, self.counts.sum(axis=others))


def with_totals(counts: Array) -> Array:
    """Counts with their sums over each set of axes, which stand last on each axis: an array of one more each way.

    >>> with_totals(np.array([[1, 2], [3, 4]])).tolist()
    [[1, 2, 3], [3, 4, 7], [4, 6, 10]]
    """
    for axis in range(counts.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    return counts


def sums_of(shape: Sequence[int]) -> Any:
    """What `with_totals` adds up: a sparse 0/1 matrix, a row an entry with totals, a column a cell without.

    >>> sums_of((2,)).toarray().astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    whole = sparse.eye_array(1)
    for length in shape:
        own = sparse.vstack([sparse.eye_array(length), np.ones((1, length))])
        whole = sparse.kron(whole, own)
    return sparse.csr_array(whole)


def check_margins(margins: Sequence[TableOfCounts]) -> dict[str, tuple[str, ...]]:
    """The values of all attributes of some margins, `{name: values}`, in the order in which they first stand.

    Raises ValueError unless they share values, and what they share has the same counts in all; names two that differ.
    """
    expect.all_of("margins", margins, TableOfCounts, instead="TableOfCounts.of(table, names).margin(some) is one.")
    if not margins:
        raise UsageError("margins must be one table of counts or more, got none.")
    values: dict[str, tuple[str, ...]] = {}
    for margin in margins:
        for name, own in margin.values.items():
            if values.setdefault(name, own) != own:
                raise UsageError(f"margins have different values of '{name}': {values[name]} and {own}.")
    for one, other in combinations(margins, 2):
        shared = [name for name in one.names if name in other.names]
        a, b = (_shared(margin, shared) for margin in (one, other))
        if not np.allclose(a, b):
            what = f"counts of {', '.join(shared)}" if shared else "totals"
            raise UsageError(
                f"the margins {' x '.join(one.names)} and {' x '.join(other.names)} contradict each other: their "
                f"{what} differ by up to {np.abs(a - b).max():g}. Take both from one table."
            )
    return values


def _shared(margin: TableOfCounts, names: Sequence[str]) -> Array:
    """The counts of `names`, one axis each in that order."""
    if not names:
        return margin.counts.sum()
    table = margin.margin(tuple(names))
    return table.counts.transpose([table.names.index(name) for name in names])


def spread(margin: TableOfCounts, values: Mapping[str, Sequence[str]]) -> Array:
    """The counts of a margin as an array that has an axis for each of `values`, of length 1 where it has none."""
    places = [name for name in values if name in margin.values]
    shape = [len(values[name]) if name in margin.values else 1 for name in values]
    return _shared(margin, places).reshape(shape)


def separators(sets: Sequence[Iterable[Element]]) -> list[tuple[int, list[Element]]] | None:
    """An order in which each set shares with the later ones only what one of them has: (its place, what it shares, a
    list in its own order).

    None without such an order (Graham's reduction): tables over these sets are not decomposable then.

    >>> separators(["ABC", "BCD"]), separators(["ABC", "BD", "CD"])
    ([(0, ['B', 'C']), (1, [])], None)
    """
    left, order = {i: frozenset(each) for i, each in enumerate(sets)}, []
    while left:
        for i, own in left.items():
            others = [each for j, each in left.items() if j != i]
            shared = own & frozenset().union(*others)
            if not others or any(shared <= each for each in others):
                break
        else:
            return None
        order.append((i, [each for each in sets[i] if each in shared]))
        del left[i]
    return order
