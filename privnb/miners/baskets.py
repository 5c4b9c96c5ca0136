"""Records as sets of items, from which rules are mined.

In a table, an item is a value of an attribute, such as `sex=Male`.
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
from privnb.runtime.names import suggest
from privnb.runtime.validation import validated


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """n records as sets of items.

    Parameters
    ----------
    items : tuple of str
        The names of the items, all different.
    has : bool array (n, items)
        Whether each record has each item.
    kinds : tuple, optional
        The kind of each item, such as its attribute. A record has at most one item of each kind. If None, items have no
        kinds.
    unknown : bool array (n, items), optional
        Whether each cell is blocked. A blocked cell does not show whether the record has the item. `has` is False for
        blocked cells.
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
                    f"`{name}` must be a bool array (n, {len(self.items)}), with a column for each of `items`; got "
                    f"{expect.describe_value(cells)}."
                )
        if self.kinds is not None and not (isinstance(self.kinds, tuple | list) and len(self.kinds) == len(self.items)):
            raise UsageError(
                f"`kinds` must be the attribute of each of {len(self.items)} items; got "
                f"{expect.describe_value(self.kinds)}."
            )
        if self.unknown is not None and (self.unknown.shape != self.has.shape or (self.unknown & self.has).any()):
            raise UsageError("`unknown` must have the shape of `has`, and must be False where `has` is True.")

    @classmethod
    def of(cls, records: Sequence[Collection[str]]) -> Self:
        """Return the baskets of a list of sets of str; `items` contains all items that occur, in alphabetical order."""
        items = tuple(sorted({item for record in records for item in record}))
        return cls(items, np.array([[item in record for item in items] for record in records], dtype=bool))

    @classmethod
    @validated
    def of_table(cls, dataset: Dataset) -> Self:
        """Return the baskets of a table, with an item for each value of each published categorical attribute.

        Raises NotForThisTable if the table has no such attribute, because rules do not contain numbers.
        """
        items, kinds = list_items(dataset.schema)
        domains = {name: dataset.schema[name].categories for name in dict.fromkeys(kinds)}
        own = [np.eye(len(each.values), dtype=bool)[each.codes(dataset.cells[n])] for n, each in domains.items()]
        return cls(items, np.hstack(own), kinds)

    def __len__(self) -> int:
        return len(self.has)

    def __repr__(self) -> str:  # it must not show the records
        return f"Baskets({len(self)} records, {len(self.items)} items)"

    def places(self, items: Iterable[str]) -> list[int]:
        """Return the column numbers of the given items. Raises ValueError if an item is unknown."""
        if absent := [item for item in items if item not in self._place]:
            raise UsageError(
                f"there is no item {', '.join(map(repr, absent))}.{suggest(absent, self.items)} "
                f"The items are {', '.join(self.items[:8])}{', ...' if len(self.items) > 8 else ''}."
            )
        return [self._place[item] for item in items]

    def count(self, items: Iterable[str]) -> int:
        """Return the number of records that have all the given items."""
        return int(self.has[:, self.places(items)].all(axis=1).sum())

    def counts(self, prefix: Sequence[int], last: IntArray) -> IntArray:
        """Return the number of records with an item and all items of `prefix`, for each item in the columns `last`."""
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
    """n records of a release, in which each record has a weight for each item; a weight need not be 0 or 1.

    The count of an itemset is a sum over the records: each record adds the product of its weights for the itemset's
    items.

    Parameters
    ----------
    items : tuple of str
    kinds : tuple
        The kind of each item, as in `Baskets`.
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
        """Return, for each item in `last`, the count of the itemset of this item and all items of `prefix`."""
        product = np.ones(len(self)) if not prefix else self.weights[prefix[0]]
        for place in prefix[1:]:
            product = product * self.weights[place]
        return self.weights[last] @ product


def list_categorical(schema: Schema) -> list[str]:
    """Return the published categorical attributes. Raises NotForThisTable if there are no such attributes."""
    names = [n for n in schema.published if schema[n].domain is not None and not schema[n].numeric]
    if not names:
        raise NotForThisTable(
            f"rules need categories, and '{schema.dataset}' has no published categorical attribute. Describe a column "
            "as categories."
        )
    return names


def name_item(attribute: str, value: object) -> str:
    """Return the name of an item of a table.

    >>> name_item("sex", "Male")
    'sex=Male'
    """
    return f"{attribute}={value}"


def list_items(schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the items of a table and the attribute of each item, as two tuples of str."""
    names = list_categorical(schema)
    pairs = [(name, value) for name in names for value in schema[name].categories.values]
    return tuple(name_item(*pair) for pair in pairs), tuple(name for name, _ in pairs)
