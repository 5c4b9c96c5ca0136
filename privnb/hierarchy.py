"""How a value generalizes, how far apart two values are, and whether a published cell covers a value.

Every attribute's leaves stand on a line: numbers by size, taxonomy leaves in the tree's depth-first order.
The smallest generalization of a set of values then depends on the set's two ends alone. All ways to
generalize (`Taxonomy`, `Intervals`, `Ranges`) share the methods

- `codes(values)`: positions of original values on the line, integer array;
- `label(low, high)`: the published label of the smallest generalization of the positions low..high;
- `cover(label)`: the first and the last position that a published label covers;
- `bounds(label)`: the two numbers between which a published label of a numeric attribute lies, as printed;
- `extent()`: how wide a generalization is, for clustering: see `Extent`.
"""

import csv
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.schema import Categories, Numbers, SchemaError, commonest

SUPPRESSED = "*"  # the root of every hierarchy
INTERVAL = re.compile(r"(-?\d+(?:\.\d+)?)(?:-(-?\d+(?:\.\d+)?))?")


class Extent(NamedTuple):
    """The width of the smallest generalization of two leaves, a fraction of the widest.

    With `groups` (integer array levels x leaves): the first level at which both leaves are in one group.
    Without: the difference of their positions on the line. Divided by `denominator` it lies in 0..1.
    """

    denominator: int
    groups: np.ndarray | None


@dataclass(frozen=True)
class Taxonomy:
    """A generalization hierarchy: every leaf's labels from itself up to the root `*`.

    `rows` holds one tuple a leaf, (leaf, level 1, ..., "*"), as in ARX's CSV files. Each level must coarsen the
    one below. Raises SchemaError with the labels named if it does not, if a leaf stands twice, or if rows
    differ in length.

    >>> tree = Taxonomy("sex", (("Male", "*"), ("Female", "*")))
    >>> tree.height, tree.label(0, 1), tree.cover("*")
    (1, '*', (0, 1))
    """

    name: str
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self):
        if not self.rows:
            raise SchemaError(f"hierarchy '{self.name}' is empty. Give one line a leaf: leaf;level 1;...;*")
        lengths = {len(row) for row in self.rows}
        if len(lengths) > 1 or min(lengths) < 2:
            short = min(self.rows, key=len)
            raise SchemaError(
                f"hierarchy '{self.name}' is ragged: leaf '{short[0]}' has {len(short)} levels, others have "
                f"{max(lengths)}. Repeat a label to fill a level; a line holds at least leaf;*"
            )
        leaves = [row[0] for row in self.rows]
        twice = sorted({leaf for leaf in leaves if leaves.count(leaf) > 1})
        if twice:
            raise SchemaError(f"hierarchy '{self.name}' holds the leaf {twice} more than once. Keep one line of it.")
        for row in self.rows:
            if row[-1] != SUPPRESSED:
                raise SchemaError(f"hierarchy '{self.name}': leaf '{row[0]}' ends in '{row[-1]}', not in '*'.")
        for level in range(1, self.height + 1):
            parents = {}
            for row in self.rows:
                parent = parents.setdefault(row[level - 1], row[level])
                if parent != row[level]:
                    raise SchemaError(
                        f"hierarchy '{self.name}': level {level} does not coarsen level {level - 1}: "
                        f"'{row[level - 1]}' lies under both '{parent}' and '{row[level]}'. Give it one parent."
                    )
        # Depth-first order makes every inner node a run of neighbouring leaves.
        seen = [{label: i for i, label in reversed(list(enumerate(column)))} for column in zip(*self.rows, strict=True)]
        key = {row: tuple(seen[level][row[level]] for level in range(self.height, -1, -1)) for row in self.rows}
        object.__setattr__(self, "rows", tuple(sorted(self.rows, key=key.get)))
        self._check_labels()

    @classmethod
    def read(cls, path, domain):
        """Read ARX's layout (`leaf;level 1;...;*`, no header) and check it against the attribute's domain."""
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = tuple(tuple(row) for row in csv.reader(file, delimiter=";") if row)
        tree = cls(Path(path).stem, rows)
        leaves = _leaves(domain)
        absent = [leaf for leaf in leaves if leaf not in tree._index]
        if absent:
            raise SchemaError(
                f"hierarchy {path}: the leaf {absent[:3]} is missing ({len(absent)} in all). Add its line."
            )
        # ARX's files may hold leaves that the domain does not; they can never occur.
        return cls(tree.name, tuple(row for row in tree.rows if row[0] in set(leaves)))

    def write(self, path):
        """Write ARX's layout."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(self.rows)

    @property
    def height(self):
        """Number of levels above the leaves."""
        return len(self.rows[0]) - 1

    @cached_property
    def leaves(self):
        """The leaves' labels in depth-first order."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def _index(self):
        return {leaf: position for position, leaf in enumerate(self.leaves)}

    @cached_property
    def groups(self):
        """Integer array (height + 1, leaves): the node that holds each leaf at each level."""
        columns = zip(*self.rows, strict=True)
        return np.array([np.unique(column, return_inverse=True)[1] for column in columns], dtype=np.int32)

    @cached_property
    def _spans(self):
        """The first and last position of each label."""
        spans = {}
        for level in range(self.height + 1):
            for position, row in enumerate(self.rows):
                first, _ = spans.get((level, row[level]), (position, None))
                spans[level, row[level]] = first, position
        return {label: span for (_, label), span in spans.items()}

    def _check_labels(self):
        for row in self.rows:
            for level, label in enumerate(row):
                first, last = self._spans[label]
                if not (
                    first <= self._index[row[0]] <= last and self.rows[first][level] == self.rows[last][level] == label
                ):
                    raise SchemaError(
                        f"hierarchy '{self.name}': the label '{label}' stands for two different sets of leaves. "
                        "Rename one: a reader of the release could not tell them apart."
                    )

    def codes(self, values):
        values = pd.Series(np.asarray(values), dtype=object)
        index, distinct = pd.factorize(values)
        codes = np.array([self._index.get(_text(value), -1) for value in distinct], dtype=np.int64)[index]
        if (codes < 0).any():
            lost = values[codes < 0]
            raise SchemaError(
                f"hierarchy '{self.name}' lacks {lost.nunique()} values: {commonest(lost)}. Add a line for each."
            )
        return codes

    def generalize(self, values, level):
        """The labels of `values` at `level`, 0 (the leaf) to `height` (`*`): full-domain recoding."""
        return [self.rows[code][level] for code in self.codes(values)]

    def level(self, low, high):
        """Height of the lowest common ancestor of the leaves at two positions."""
        return int(np.argmax(self.groups[:, low] == self.groups[:, high]))

    def label(self, low, high):
        return self.rows[low][self.level(low, high)]

    def cover(self, label):
        label = _text(label)
        if label not in self._spans:
            raise SchemaError(f"hierarchy '{self.name}' has no label '{label}'. Was the release made with another one?")
        return self._spans[label]

    def bounds(self, label):
        first, last = self.cover(label)
        return float(self.leaves[first]), float(self.leaves[last])

    def extent(self):
        return Extent(self.height, self.groups)


@dataclass(frozen=True)
class _OnNumbers:
    """What generalizations of numbers share: a published cell is a number, `low-high` or `*`."""

    domain: Numbers

    def codes(self, values):
        outside = self.domain.outside(pd.Series(np.asarray(values)))
        if len(outside):
            raise SchemaError(f"{len(outside)} numbers lie outside {self.domain}: {commonest(outside.tolist())}.")
        return self.domain.codes(values)

    def bounds(self, label):
        if label == SUPPRESSED:
            return float(self.domain.low), float(self.domain.high)
        match = INTERVAL.fullmatch(str(label))
        if not match:
            raise SchemaError(f"'{label}' is no interval of numbers. Write it as low-high, one number, or *.")
        return float(match[1]), float(match[2] or match[1])

    def cover(self, label):
        # An aligned interval may reach past the domain, as 15-19 does past ages from 17.
        low, high = (np.array(self.bounds(label)) - self.domain.low) / self.domain.step
        last = int(self.domain.codes(self.domain.high))
        # Decimals such as 0.01 are not exact.
        first, last = max(0, math.ceil(low - 1e-6)), min(last, math.floor(high + 1e-6))
        if first > last:
            raise SchemaError(f"the label '{label}' covers no value of {self.domain}. Was it made for another domain?")
        return first, last


@dataclass(frozen=True)
class Ranges(_OnNumbers):
    """Numbers published as the range from the smallest to the largest of the class.

    >>> Ranges(Numbers(1, 16)).label(8, 12)
    '9-13'
    """

    def label(self, low, high):
        ends = self.domain.value(low), self.domain.value(high)
        return str(ends[0]) if low == high else f"{ends[0]}-{ends[1]}"

    def extent(self):
        return Extent(int(self.domain.codes(self.domain.high)), None)


@dataclass(frozen=True)
class Intervals(_OnNumbers):
    """Whole numbers published as the smallest aligned interval that holds all of the class.

    The widths need not nest: 40-59 lies in no interval of width 50 (Sramka et al. 2010, section 4.2: 5, 10, 20,
    50, 100). Aligned at 0, as the paper prints them. The narrowest width is the leaf: it has extent 0.

    >>> ages = Intervals(Numbers(17, 99), (5, 10, 20, 50, 100))
    >>> ages.label(40 - 17, 41 - 17), ages.label(42 - 17, 58 - 17), ages.label(35 - 17, 41 - 17)
    ('40-44', '40-59', '0-49')
    """

    widths: tuple[int, ...]

    def __post_init__(self):
        rising = list(self.widths) == sorted(set(self.widths)) and len(self.widths) > 0
        if not rising or not all(w > 0 and w == int(w) for w in self.widths):
            raise SchemaError(f"interval widths must be rising whole numbers, got {self.widths}.")
        if self.domain.step != 1 or self.domain.low != int(self.domain.low):
            raise SchemaError(f"intervals are for whole numbers, the domain is {self.domain}. Use 'range'.")
        if self.domain.low // self.widths[-1] != self.domain.high // self.widths[-1]:
            raise SchemaError(
                f"no interval of width {self.widths[-1]} holds the whole domain {self.domain}. Add a wider one."
            )

    @cached_property
    def groups(self):
        """Integer array (widths, positions): the interval that holds each position at each width."""
        values = self.domain.low + self.domain.step * np.arange(self.domain.codes(self.domain.high) + 1)
        return np.array([values // width for width in self.widths], dtype=np.int32)

    def label(self, low, high):
        level = int(np.argmax(self.groups[:, low] == self.groups[:, high]))
        start = int(self.groups[level, low]) * self.widths[level]
        return f"{start}-{start + self.widths[level] - 1}"

    def extent(self):
        return Extent(len(self.widths) - 1, self.groups)


class RangedIntervals(Intervals):
    """Published as `Intervals`, but as far apart as the numbers themselves (reading "C" of Sramka et al. 2010)."""

    def extent(self):
        return Ranges(self.domain).extent()


def _text(value):
    """A value as hierarchies write it: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float | np.floating) and value.is_integer() else str(value)


def _leaves(domain):
    """All values of a domain as text."""
    if isinstance(domain, Categories):
        return domain.values
    return tuple(str(domain.value(code)) for code in range(int(domain.codes(domain.high)) + 1))


def flat(attribute):
    """The hierarchy of an attribute without one: ranges for numbers, one level below `*` for categories."""
    if attribute.numeric:
        return Ranges(attribute.domain)
    return Taxonomy(attribute.name, tuple((value, SUPPRESSED) for value in attribute.domain.values))
