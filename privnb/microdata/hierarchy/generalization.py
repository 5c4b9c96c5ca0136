"""The common interface of all hierarchies.

The values of an attribute have positions 0, 1, ... on a line: numbers are ordered by size, the leaves of a tree
depth-first, and other categories as in their public domain. All kinds of hierarchies share these methods:

- `codes(values)`: positions of original values on the line, integer array (n,);
- `labels(codes, classes)`: the published label of each class, object array (classes,);
- `covered(label)`: the positions that a published label covers, ascending integer array; `runs(label)` and
  `covers(label, positions)` return the same information without a list of all positions;
- `width(label)`: the share of the line that a label spans, from 0 (one value) to 1 (all); a lower width discloses more;
- `bounds(label)`: the two numbers between which a published label of a numeric attribute lies, as printed; NaN for the
  label of a missing number;
- `covers_missing(label)`: whether a label of a numeric attribute covers a missing number;
- `widened(labels, shared)`: labels that do not end at one person's own value;
- `size`: the number of positions; `steps`: the largest distance between two positions;
- `extent()`: the width of generalizations for clustering; see `Extent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from privnb.microdata.columns import make_categorical
from privnb.microdata.counts import factorize, factorize_categories
from privnb.microdata.schema import SchemaError, describe_commonest, to_text
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd

SUPPRESSED = "*"  # the root of every hierarchy


class Extent(NamedTuple):
    """The width of the smallest generalization of two leaves, as a fraction of the largest possible width.

    With `groups` (an integer array of levels by leaves), the width is the first level at which both leaves are in one
    group. Without `groups`, the width is the difference between the `places` of the leaves, but at most `denominator`.
    The width divided by `denominator` is between 0 and 1.
    """

    denominator: int
    groups: IntArray | None


def places(positions: IntArray, steps: int) -> IntArray:
    """Return, for measuring distances, the places of positions, as an integer array of the same shape.

    The position beyond `steps` belongs to a missing number, whose distance to every number is the largest distance
    between two numbers.
    """
    return np.where(positions > steps, 2 * steps, positions)


class Generalization:
    """One way to generalize an attribute. Subclasses define `_place`, `_refusal` and the methods listed above."""

    exact: bool = False  # whether labels of a release may end at one person's own value, see `OfItsValues`

    def __post_init__(self) -> None:
        """Check the fields of a subclass, which is a dataclass."""

    @property
    def size(self) -> int:
        """The number of positions on the line."""
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """Return the published label of each class, object array (classes,)."""
        raise NotImplementedError

    def covered(self, label: str) -> IntArray:
        """Return the positions that a published label covers, as an ascending integer array."""
        raise NotImplementedError

    def width(self, label: str) -> float:
        """Return the share of the line that a label spans, from 0 (one value) to 1 (all)."""
        raise NotImplementedError

    def bounds(self, label: str) -> tuple[float, float]:
        """Return the two numbers between which a label lies; NaN for the label of a missing number."""
        raise NotImplementedError

    def covers_missing(self, label: str) -> bool:
        """Return whether a label covers a missing number."""
        raise NotImplementedError

    def extent(self) -> Extent:
        """Return the width of generalizations for clustering."""
        raise NotImplementedError

    def _place(self, distinct: Any) -> IntArray:
        """Return the position of each distinct value, or -1 if it has no position, as an integer array (m,)."""
        raise NotImplementedError

    def _refusal(self, lost: Sequence[object]) -> str:
        """Return the error that reports values without a position."""
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """Return `labels`, (n,), with each end that few people share moved outwards; see `OfItsValues`.

        Labels of other kinds do not depend on the records, so they stay unchanged.
        """
        return labels

    @property
    def steps(self) -> int:
        """The largest distance between two positions."""
        return self.size - 1

    def codes(self, values: Any) -> IntArray:
        """Return the positions of original values on the line, as an integer array (n,).

        `values` is an array, Series or Categorical of numbers or text. "9", 9 and 9.0 are the same value, and a missing
        number is written as its mark. Raises a SchemaError that lists the most common values without a position.
        """
        values = pd.Series(values)
        index, distinct = factorize_categories(values)
        codes = np.append(self._place(distinct), -1)[index]  # a missing value has the index -1
        if codes.min(initial=0) < 0:
            lost = values[codes < 0].astype(object)
            raise SchemaError(self._refusal(lost.where(lost.notna(), "missing").tolist()))
        return codes

    def runs(self, label: str) -> IntArray:
        """Return the first and the last of each run of positions that a label covers, as an integer array (runs, 2)."""
        positions = self.covered(label)
        ends = np.flatnonzero(np.diff(positions) > 1)
        return np.column_stack([positions[np.append(0, ends + 1)], positions[np.append(ends, -1)]])

    def covers(self, label: str, positions: IntArray) -> BoolArray:
        """Return which of the `positions`, integer array (m,), a label covers, as a boolean array (m,)."""
        first, last = self.runs(label).T
        run = np.searchsorted(first, positions, side="right") - 1
        return (run >= 0) & (positions <= last[run])


class OnALine(Generalization):
    """Generalizations in which each label covers one run of neighboring positions, which its two ends state.

    Subclasses define `_names` and `ends`, which convert ends to labels and back.
    """

    def ends(self, label: str) -> tuple[int, int]:
        """Return the first and the last position that a label covers."""
        raise NotImplementedError

    def _names(self, low: IntArray, high: IntArray) -> Array:
        """Return the label of each run from `low` to `high`, integer arrays (m,), as an object array (m,)."""
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """Return the smallest label that covers each class, as an object array (classes,).

        `codes` are positions, integer array (n,). `classes` is an integer array (n,) of numbers from 0 to m - 1. Raises
        ValueError for a class without a record.
        """
        codes, classes, number = check_classes(codes, classes)
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, -1)
        np.minimum.at(low, classes, codes)
        np.maximum.at(high, classes, codes)
        # Many classes have the same ends, so each pair is labeled once.
        base = int(high.max(initial=0)) + 1
        index, pairs = pd.factorize(low * base + high)
        return self._names(*divmod(pairs, base))[index]

    def label(self, low: int, high: int) -> str:
        """Return the smallest label that covers the positions `low` to `high`."""
        return self._names(np.array([low]), np.array([high]))[0]

    def runs(self, label: str) -> IntArray:
        """Return the run of a label by its two ends, because a line may have billions of positions."""
        return np.array([self.ends(label)])

    def covered(self, label: str) -> IntArray:
        """Return the positions between the ends of a label."""
        first, last = self.ends(label)
        return np.arange(first, last + 1)

    def width(self, label: str) -> float:
        """Return the distance between the ends of a label, as a share of the line."""
        first, last = self.ends(label)
        return (last - first) / max(self.ends(SUPPRESSED)[1], 1)


class OfItsValues(OnALine):
    """Generalizations whose labels end at values of the class itself, so that an end may be one person's own value.

    `exact` states whether a release keeps such ends, as published studies do; otherwise, the release moves the ends
    outwards. Subclasses define `_outwards(low, high, shared)`, which returns the new ends as two integer arrays.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        expect.kind("exact", self.exact, bool)

    def _outwards(self, low: IntArray, high: IntArray, shared: IntArray) -> tuple[IntArray, IntArray]:
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """Return `labels`, in coded form (n,), with each end that is not in `shared` moved outwards.

        `labels` is an array (n,), which is returned unchanged if no end moves. `shared`, an integer array, holds the
        positions that many people share. A new label covers everything that the old label covered; labels may overlap.
        Raises SchemaError for an unknown label.
        """
        index, distinct = factorize(labels)
        names = np.array([to_text(label) for label in distinct], dtype=object)  # numbers among labels are texts
        ends = np.array([self.ends(name) for name in names], dtype=np.int64).reshape(-1, 2)
        low, high = ends.T
        outer = np.where(np.isin(ends, shared), ends, np.column_stack(self._outwards(low, high, shared)))
        moved = (outer != ends).any(axis=1)
        if not moved.any():
            return labels
        names[moved] = self._names(*outer[moved].T)
        return make_categorical(index, names)


class OfLeaves(Generalization):
    """Generalizations of values that are listed one by one, with a `name` and `leaves` in the order of the line."""

    name: str

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values in the order of the line."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.leaves)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {leaf: position for position, leaf in enumerate(self.leaves)}

    def _place(self, distinct: Any) -> IntArray:
        return np.array([self._index.get(to_text(value), -1) for value in distinct], dtype=np.int64)

    def _refusal(self, lost: Sequence[object]) -> str:
        return f"hierarchy '{self.name}' lacks {len(set(lost))} values: {describe_commonest(lost)}. Add them to it."

    def _unknown(self, label: str) -> SchemaError:
        return SchemaError(
            f"hierarchy '{self.name}' has no label '{label}'. Check whether the release was made with another "
            "hierarchy."
        )

    @cached_property
    def numbers(self) -> FloatArray:
        """The leaves of a numeric attribute as numbers, with NaN for a missing number, as a float array (leaves,)."""
        leaves: Array = np.array(self.leaves, dtype=object)
        return np.asarray(pd.to_numeric(leaves, errors="coerce"), dtype=float)

    def covers_missing(self, label: str) -> bool:
        """Return whether a label covers the mark of a missing number."""
        return bool(np.isnan(self.numbers[self.covered(label)]).any())

    def bounds(self, label: str) -> tuple[float, float]:
        """Return the smallest and largest number that a label covers."""
        numbers = self.numbers[self.covered(label)]
        return float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))


def check_classes(codes: IntArray, classes: IntArray) -> tuple[IntArray, IntArray, int]:
    """Return codes and classes as integer arrays (n,), and the number of classes.

    Raise UsageError for an empty class.
    """
    codes, classes = (np.ascontiguousarray(each, dtype=np.int64) for each in (codes, classes))
    sizes = np.bincount(classes)
    if not sizes.all():
        raise UsageError(
            f"class {sizes.argmin()} of {len(sizes)} has no record. Number the classes 0, 1, ... without gaps."
        )
    return codes, classes, len(sizes)
