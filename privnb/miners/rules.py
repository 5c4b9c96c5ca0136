"""Itemsets and association rules: what occurs together in many records.

A record is a set of items. Of a table an item is a value of an attribute, such as `sex=Male`. A rule X => Y has a
support, the share of records with all items of both sides, and a confidence, its share of the records with those of X.

Mined level by level (Apriori) on bit sets of numpy. mlxtend 0.25 finds the same itemsets of Adult in ten times as long
and would bring matplotlib with it.

Source: Agrawal and Srikant, "Fast Algorithms for Mining Association Rules", VLDB 1994; Aggarwal and Yu 2008, section
10.2.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privnb.microdata import expect
from privnb.microdata.names import meant
from privnb.microdata.schema import NotForThisTable

ITEMS = 4  # in an itemset, at most, unless asked otherwise
ITEMSETS = 200_000  # at most: more are nobody's to read, and mostly noise


class Rule(NamedTuple):
    """Who has the items of `left` mostly has those of `right`: two frozensets of str, which share none.

    >>> str(Rule(frozenset({"b", "a"}), frozenset({"c"})))
    'a, b => c'
    """

    left: frozenset
    right: frozenset

    @property
    def items(self):
        """Those of both sides."""
        return self.left | self.right

    def __str__(self):
        return f"{named(self.left)} => {named(self.right)}"

    @classmethod
    def read(cls, text):
        """The rule that is written so: items with commas between, and `=>` between the sides.

        Raises ValueError for another text.

        >>> Rule.read("b, a => c") == Rule(frozenset({"a", "b"}), frozenset({"c"}))
        True
        """
        expect.kind("text", text, str, instead='Write a rule as "a, b => c".')
        sides = [[item.strip() for item in side.split(",") if item.strip()] for side in text.split("=>")]
        if len(sides) != 2 or not all(sides) or {*sides[0]} & {*sides[1]}:
            raise ValueError(f'a rule is "a, b => c", with items on both sides and none on both, got {text!r}.')
        return cls(*map(frozenset, sides))


class Strength(NamedTuple):
    """How many records a rule is of, and its confidence, 0 to 1."""

    count: float
    confidence: float


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
        The cells that are blocked: whether the record has that item is not told. `has` is False there.
    """

    items: tuple[str, ...]
    has: np.ndarray
    kinds: tuple | None = None
    unknown: np.ndarray | None = None

    def __post_init__(self):
        expect.texts("items", self.items, "items")
        for name in ("has", "unknown"):
            cells = getattr(self, name)
            fits = isinstance(cells, np.ndarray) and cells.dtype == bool and cells.ndim == 2
            if (name == "has" or cells is not None) and not (fits and cells.shape[1] == len(self.items) and len(cells)):
                raise ValueError(
                    f"{name} must be a bool array (n, {len(self.items)}), one column per item, got "
                    f"{expect.found(cells)}."
                )
        if self.unknown is not None and (self.unknown.shape != self.has.shape or (self.unknown & self.has).any()):
            raise ValueError("unknown must have a cell for each of has, none of which a record is known to have.")

    @classmethod
    def of(cls, records):
        """Those of a list of sets of str; the items are all that occur, in order."""
        items = tuple(sorted({item for record in records for item in record}))
        return cls(items, np.array([[item in record for item in items] for record in records], dtype=bool))

    @classmethod
    def of_table(cls, dataset):
        """One item per value of the public domain of each published attribute of categories.

        Parameters
        ----------
        dataset : Dataset

        Raises
        ------
        NotForThisTable
            For a table without categories: numbers are in no rule.
        """
        expect.these(dataset=dataset)
        schema = dataset.schema
        names = categories(schema)
        own = [
            np.eye(len(schema[n].domain.values), dtype=bool)[schema[n].domain.codes(dataset.cells[n])] for n in names
        ]
        items = tuple(item(n, value) for n in names for value in schema[n].domain.values)
        kinds = tuple(n for n in names for _ in schema[n].domain.values)
        return cls(items, np.hstack(own), kinds)

    def __len__(self):
        return len(self.has)

    def __repr__(self):  # never the records
        return f"Baskets({len(self)} records, {len(self.items)} items)"

    def places(self, items):
        """The columns of some items, a list of int. Raises ValueError for one that is unknown."""
        if absent := [item for item in items if item not in self._place]:
            raise ValueError(
                f"there is no item {', '.join(map(repr, absent))}.{meant(absent, self.items)} "
                f"There are {', '.join(self.items[:8])}{', ...' if len(self.items) > 8 else ''}."
            )
        return [self._place[item] for item in items]

    def count(self, items):
        """How many records have all of these items: int."""
        return int(self.has[:, self.places(items)].all(axis=1).sum())

    def counts(self, prefix, last):
        """How many records have the items at the places `prefix` and, each alone, those of `last`: (len(last),)."""
        found = self._bits[last]
        for place in prefix:
            found = found & self._bits[place]
        return np.bitwise_count(found).sum(axis=1, dtype=np.int64)

    @cached_property
    def _place(self):
        return {item: place for place, item in enumerate(self.items)}

    @cached_property
    def _bits(self):
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
    kinds: tuple
    weights: np.ndarray

    def __len__(self):
        return self.weights.shape[1]

    def __repr__(self):
        return f"Weighted({len(self)} records, {len(self.items)} items)"

    def counts(self, prefix, last):
        """As of `Baskets`."""
        product = np.ones(len(self)) if not prefix else self.weights[prefix[0]]
        for place in prefix[1:]:
            product = product * self.weights[place]
        return self.weights[last] @ product


def categories(schema):
    """The published attributes that have items, a list of names. Raises NotForThisTable where there is none."""
    names = [n for n in schema.published if schema[n].domain is not None and not schema[n].numeric]
    if not names:
        raise NotForThisTable(
            f"rules are of categories, and '{schema.dataset}' has no published attribute of categories. Describe a "
            "column as one."
        )
    return names


def item(attribute, value):
    """What an item of a table is called.

    >>> item("sex", "Male")
    'sex=Male'
    """
    return f"{attribute}={value}"


def items_of(schema):
    """The items of a table and the attribute of each, two tuples of str."""
    names = categories(schema)
    pairs = [(name, value) for name in names for value in schema[name].domain.values]
    return tuple(item(*pair) for pair in pairs), tuple(name for name, _ in pairs)


def named(items):
    """Items in one text, in order.

    >>> named(frozenset({"b", "a"})), named(frozenset())
    ('a, b', 'everybody')
    """
    return ", ".join(sorted(items)) or "everybody"


def itemsets(baskets, support, *, most=ITEMS):
    """The itemsets of at least a share of the records, and how many records have each.

    Of `Weighted` records, whose counts may rise when an item is added, an itemset is asked for once all its subsets
    are found, as in FRAPP.

    Parameters
    ----------
    baskets : Baskets or Weighted
        Or what has their `items`, `kinds`, `counts` and length.
    support : float
        Above 0, at most 1.
    most : int
        Items of an itemset, from 1.

    Returns
    -------
    dict of frozenset of str to float
        The smallest first. The empty itemset, which everybody has, is among them.

    Raises
    ------
    ValueError
        For more than 200,000 itemsets.
    """
    if not (hasattr(baskets, "counts") and hasattr(baskets, "kinds")):
        raise TypeError(
            f"baskets must be Baskets, got {expect.found(baskets)}. `Baskets.of_table(dataset)` gives those of a table."
        )
    expect.these(support=support)
    expect.whole("most", most, 1)
    least = support * len(baskets) - 1e-9
    number = int if isinstance(baskets, Baskets) else float
    found, level = {(): len(baskets)}, {(): np.arange(len(baskets.items))}
    for size in range(1, most + 1):
        new = {}
        for prefix, last in level.items():
            counts = baskets.counts(prefix, last)
            kept = counts >= least
            new |= {(*prefix, int(p)): number(c) for p, c in zip(last[kept], counts[kept], strict=True)}
        found |= new
        if len(found) > ITEMSETS:
            raise ValueError(
                f"support {support:g} gives more than {ITEMSETS:,} itemsets of {size} items. Raise support, or lower "
                "most."
            )
        level = _joined(list(new), found, baskets.kinds)
    names = baskets.items
    return {frozenset(names[place] for place in places): count for places, count in found.items()}


def _joined(sets, found, kinds):
    """By prefix the last items of the itemsets of one item more whose subsets are all found."""
    together, level = {}, {}
    for places in sets:
        together.setdefault(places[:-1], []).append(places[-1])
    for prefix, last in together.items():
        for number, first in enumerate(last):
            longer = (*prefix, first)
            fits = [
                other
                for other in last[number + 1 :]
                if (kinds is None or kinds[first] != kinds[other])
                and all((*prefix[:i], *prefix[i + 1 :], first, other) in found for i in range(len(prefix)))
            ]
            if fits:
                level[longer] = np.array(fits)
    return level


def rules(found, confidence, *, left=None):
    """The rules of itemsets that are at least so confident.

    Parameters
    ----------
    found : dict of frozenset of str to float
        As of `itemsets`, with all subsets.
    confidence : float
        Above 0, at most 1.
    left : dict of frozenset of str to float, optional
        The counts of left sides, where those are others.

    Returns
    -------
    dict of Rule to Strength
    """
    expect.kind("found", found, Mapping, instead="`itemsets` gives them.")
    expect.share("confidence", confidence)
    kept, of = {}, found if left is None else left
    for items, count in found.items():
        for size in range(1, len(items)):
            for side in map(frozenset, combinations(sorted(items), size)):
                if of[side] > 0 and count >= confidence * of[side] - 1e-9:
                    kept[Rule(side, items - side)] = Strength(count, count / of[side])
    return kept
