"""Tables of counts: the number of records with each combination of values of some attributes, and margins.

A margin is the table of counts for some of the attributes. Several published margins disclose more together than any of
the margins alone. A set of margins is decomposable if the margins can be put in an order with the following property:
if a margin shares attributes with later margins, all of the shared attributes belong to a single later margin.

Source: Lauritzen, "Graphical Models", 1996, section 4.4; Aggarwal and Yu 2008, chapter 12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd

LARGEST = 2**22  # the maximum number of cells of a table
Element = TypeVar("Element", bound=Hashable)


@dataclass(frozen=True, eq=False, repr=False)
class TableOfCounts:
    """Counts in an array with one axis per attribute.

    Parameters
    ----------
    values : dict of str to tuple of str
        The values of each attribute, in the order of the axes of `counts`.
    counts : array
        Numbers of at least 0; each axis has one entry per value of its attribute.

    Raises
    ------
    ValueError
        For counts of another shape, or for negative counts.

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
            raise UsageError(
                f"`counts` must be numbers in the shape of `values`, {shape}; got the shape {self.counts.shape}."
            )
        if not (self.counts >= 0).all():
            raise UsageError(f"`counts` must be at least 0; got {self.counts.min():g}.")

    def __repr__(self) -> str:
        return f"TableOfCounts({' x '.join(self.values)}: {self.counts.sum():,})"

    @classmethod
    def of(cls, table: pd.DataFrame, names: Sequence[str]) -> TableOfCounts:
        """Count the records of a table by the values of some columns.

        Parameters
        ----------
        table : DataFrame
        names : list of str
            The columns to count. Only values that occur are listed: the values of a Categorical in the order of its
            categories, and the values of other columns in sorted order.

        Returns
        -------
        TableOfCounts

        Raises
        ------
        ValueError
            For an empty list of columns, an unknown column, a missing value, or more than four million cells.
        """
        expect.table("table", table, expect.texts("names", names, "columns"))
        if not len(names):
            raise UsageError("`names` must hold at least one column; got none.")
        columns = [table[name].astype("category").cat.remove_unused_categories() for name in names]
        shape = tuple(len(column.cat.categories) for column in columns)
        if any(column.isna().any() for column in columns):
            raise UsageError(
                f"the columns {', '.join(names)} must not have missing values. Give missing values their own mark."
            )
        if np.prod(shape, dtype=float) > LARGEST:
            raise UsageError(
                f"a table of {', '.join(names)} would have more than {LARGEST:,} cells. Name fewer columns, or merge "
                "values."
            )
        cells = np.ravel_multi_index([column.cat.codes.to_numpy(dtype=np.int64) for column in columns], shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        return cls({name: tuple(c.cat.categories) for name, c in zip(names, columns, strict=True)}, counts)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, as a tuple of str."""
        return tuple(self.values)

    def margin(self, names: Sequence[str]) -> TableOfCounts:
        """Return the counts of some of the attributes, in the order of this table.

        Raises ValueError for an empty list and for unknown names. Names of one letter may be written as one text, as in
        "ACD".
        """
        wanted = (names,) if names in self.values else tuple(names)
        if unknown := [name for name in wanted if name not in self.values] or (not wanted and ["nothing"]):
            raise UsageError(f"`names` must be some of {', '.join(self.values)}; got {', '.join(map(str, unknown))}.")
        others = tuple(axis for axis, name in enumerate(self.values) if name not in wanted)
        kept = {name: values for name, values in self.values.items() if name in wanted}
        return TableOfCounts(kept, self.counts.sum(axis=others))


def add_totals(counts: Array) -> Array:
    """Return counts together with the sums of the counts over each set of axes.

    The totals are the last entry of each axis, so each axis becomes one entry longer.

    >>> add_totals(np.array([[1, 2], [3, 4]])).tolist()
    [[1, 2, 3], [3, 4, 7], [4, 6, 10]]
    """
    for axis in range(counts.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    return counts


def totals_matrix(shape: Sequence[int]) -> Any:
    """Return the sparse matrix of 0 and 1 that computes the result of `add_totals` from the counts.

    The matrix has a row per entry of the result and a column per count.

    >>> totals_matrix((2,)).toarray().astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    whole = sparse.eye_array(1)
    for length in shape:
        own = sparse.vstack([sparse.eye_array(length), np.ones((1, length))])
        whole = sparse.kron(whole, own)
    return sparse.csr_array(whole)


def check_margins(margins: Sequence[TableOfCounts]) -> dict[str, tuple[str, ...]]:
    """Return the values of all attributes of some margins, `{name: values}`.

    The attributes are in the order in which they first appear in the margins. Raises a ValueError if two margins have
    different values for the same attribute, or different counts for the attributes that they share.
    """
    expect.all_of("margins", margins, TableOfCounts, instead="Try TableOfCounts.of(table, names).margin(some).")
    if not margins:
        raise UsageError("`margins` must hold at least one table of counts; got none.")
    values: dict[str, tuple[str, ...]] = {}
    for margin in margins:
        for name, own in margin.values.items():
            if values.setdefault(name, own) != own:
                raise UsageError(f"`margins` must have the same values of '{name}'; got {values[name]} and {own}.")
    for one, other in combinations(margins, 2):
        shared = [name for name in one.names if name in other.names]
        a, b = (_shared(margin, shared) for margin in (one, other))
        if not np.allclose(a, b):
            what = f"counts of {', '.join(shared)}" if shared else "totals"
            raise UsageError(
                f"the margins {' x '.join(one.names)} and {' x '.join(other.names)} contradict each other: their "
                f"{what} differ by up to {np.abs(a - b).max():g}. Take both margins from one table."
            )
    return values


def _shared(margin: TableOfCounts, names: Sequence[str]) -> Array:
    """Return the counts of `names`, with one axis for each name, in this order."""
    if not names:
        return margin.counts.sum()
    table = margin.margin(tuple(names))
    return table.counts.transpose([table.names.index(name) for name in names])


def expand_margin(margin: TableOfCounts, values: Mapping[str, Sequence[str]]) -> Array:
    """Return the counts of a margin with one axis per attribute of `values`.

    The axis of an attribute that the margin does not have has length 1.
    """
    places = [name for name in values if name in margin.values]
    shape = [len(values[name]) if name in margin.values else 1 for name in values]
    return _shared(margin, places).reshape(shape)


def margins_matrix(margins: Sequence[TableOfCounts], values: Mapping[str, Sequence[str]]) -> tuple[Any, Array]:
    """Return the matrix that computes the counts of all margins from the cells of the table of all `values`.

    Returns
    -------
    matrix : sparse array (counts, cells)
        The rows are the counts of the first margin, and then those of the next margins. The attributes of a margin are
        in the order of `values`.
    counts : array (counts,)
        The published counts.
    """
    shape = [len(each) for each in values.values()]
    parts, counts = [], []
    for margin in margins:
        target = expand_margin(margin, values)
        kept = [np.eye(n) if length == n else np.ones((1, n)) for n, length in zip(shape, target.shape, strict=True)]
        parts.append(reduce(sparse.kron, kept, sparse.eye_array(1)))
        counts.append(target.ravel())
    return sparse.csr_array(sparse.vstack(parts)), np.concatenate(counts)


def name_count(margins: Sequence[TableOfCounts], values: Mapping[str, Sequence[str]], place: int) -> str:
    """Return the name of the count at a row of `margins_matrix`, such as "(sex=F, ill=no)"."""
    for margin in margins:
        if place < margin.counts.size:
            break
        place -= margin.counts.size
    names = [name for name in values if name in margin.values]
    codes = map(int, np.unravel_index(place, [len(values[name]) for name in names]))
    return f"({', '.join(f'{name}={values[name][code]}' for name, code in zip(names, codes, strict=True))})"


def find_separators(sets: Sequence[Iterable[Element]]) -> list[tuple[int, list[Element]]] | None:
    """Return an order of sets in which a single later set contains all elements that a set shares with later sets.

    Each item of the result is a pair: the position of a set, and the list of the elements that the set shares with
    later sets, in the order in which the set lists them. Graham's reduction finds the order. Returns None if there is
    no such order; margins over these sets are then not decomposable.

    >>> find_separators(["ABC", "BCD"]), find_separators(["ABC", "BD", "CD"])
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
