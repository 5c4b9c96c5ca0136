"""Records as sets of items, which rules are mined of.

Of a table an item is a value of an attribute, such as `sex=Male`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.schema import NotForThisTable, Schema
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import meant
from privnb.runtime.validation import validated


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """n records as sets of items.

    Parameters
    ----------
    items : tuple of str
        All different.
    has : bool array (n, items)
        Which record has which item.
    kinds : tuple, optional
        Of each item what no record has two of, such as the attribute that it is a value of; None: nothing of the kind.
    unknown : bool array (n, items), optional
        The cells that are blocked: nobody sees whether the record has that item. `has` is False there.
    """

    items: tuple[str, ...]
    has: BoolArray
    kinds: tuple[str, ...] | None = None
    unknown: BoolArray | None = None

    def __post_init__(self) -> None:
        expect.texts("items", self.items, "items")
        for name in ("has", "unknown"):
            cells = getattr(self, name)
            fits = isinstance(cells, np.ndarray) and cells.dtype == bool and cells.ndim == 2
            if (name == "has" or cells is not None) and not (fits and cells.shape[1] == len(self.items) and len(cells)):
                raise UsageError(
                    f"{name} must be a bool array (n, {len(self.items)}), one column per item of items, got "
                    f"{expect.found(cells)}."
                )
        if self.kinds is not None and not (isinstance(self.kinds, tuple | list) and len(self.kinds) == len(self.items)):
            raise UsageError(
                f"kinds must be the attribute of each of {len(self.items)} items, got {expect.found(self.kinds)}."
            )
        if self.unknown is not None and (self.unknown.shape != self.has.shape or (self.unknown & self.has).any()):
            raise UsageError("unknown must have a cell for each of has, none of which a record is known to have.")

    @classmethod
    def of(cls, records: Sequence[Collection[str]]) -> Self:
        """Those of a list of sets of str; the items are all that occur, in order."""
        items = tuple(sorted({item for record in records for item in record}))
        return cls(items, np.array([[item in record for item in items] for record in records], dtype=bool))

    @classmethod
    @validated
    def of_table(cls, dataset: Dataset) -> Self:
        """One item per value of the public domain of each published attribute of categories.

        Parameters
        ----------
        dataset : Dataset

        Raises
        ------
        NotForThisTable
            For a table without categories: numbers are in no rule.
        """
        items, kinds = items_of(dataset.schema)
        domains = {name: dataset.schema[name].categories for name in dict.fromkeys(kinds)}
        own = [np.eye(len(each.values), dtype=bool)[each.codes(dataset.cells[n])] for n, each in domains.items()]
        return cls(items, np.hstack(own), kinds)

    def __len__(self) -> int:
        return len(self.has)

    def __repr__(self) -> str:  # never the records
        return f"Baskets({len(self)} records, {len(self.items)} items)"

    def places(self, items: Iterable[str]) -> list[int]:
        """The columns of some items, a list of int. Raises ValueError for one that is unknown."""
        if absent := [item for item in items if item not in self._place]:
            raise UsageError(
                f"there is no item {', '.join(map(repr, absent))}.{meant(absent, self.items)} "
                f"There are {', '.join(self.items[:8])}{', ...' if len(self.items) > 8 else ''}."
            )
        return [self._place[item] for item in items]

    def count(self, items: Iterable[str]) -> int:
        """How many records have all of these items: int."""
        return int(self.has[:, self.places(items)].all(axis=1).sum())

    def counts(self, prefix: Sequence[int], last: IntArray) -> IntArray:
        """How many records have the items at the places `prefix` and, each alone, those of `last`: (len(last),)."""
        found = self._bits[last]
        for place in prefix:
            found = found & self._bits[place]
        return np.bitwise_count(found).sum(axis=1, dtype=np.int64)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {item: place for place, item in enumerate(self.items)}

    @cached_property
    def _bits(self) -> IntArray:
        packed = np.packbits(self.has.T, axis=1)
        return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(np.uint64)


@dataclass(frozen=True, eq=False, repr=False)
class Weighted:
    """n records of which each has each item with a weight, which need not be 0 or 1: what a release tells of it.

    An itemset counts the sum over the records of the product of its items' weights.

    Parameters
    ----------
    items : tuple of str
    kinds : tuple
        As of `Baskets`.
    weights : float array (items, n)
    """

    items: tuple[str, ...]
    kinds: tuple[str, ...] | None
    weights: FloatArray

    def __len__(self) -> int:
        return self.weights.shape[1]

    def __repr__(self) -> str:
        return f"Weighted({len(self)} records, {len(self.items)} items)"

    def counts(self, prefix: Sequence[int], last: IntArray) -> FloatArray:
        """As of `Baskets`."""
        product = np.ones(len(self)) if not prefix else self.weights[prefix[0]]
        for place in prefix[1:]:
            product = product * self.weights[place]
        return self.weights[last] @ product


def categories(schema: Schema) -> list[str]:
    """The published attributes that have items, a list of names. Raises NotForThisTable where there is none."""
    names = [n for n in schema.published if schema[n].domain is not None and not schema[n].numeric]
    if not names:
        raise NotForThisTable(
            f"rules are of categories, and '{schema.dataset}' has no published attribute of categories. Describe a "
            "column as one."
        )
    return names


def item(attribute: str, value: object) -> str:
    """What an item of a table is called.

    >>> item("sex", "Male")
    'sex=Male'
    """
    return f"{attribute}={value}"


def items_of(schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The items of a table and the attribute of each, two tuples of str."""
    names = categories(schema)
    pairs = [(name, value) for name in names for value in schema[name].categories.values]
    return tuple(item(*pair) for pair in pairs), tuple(name for name, _ in pairs)
