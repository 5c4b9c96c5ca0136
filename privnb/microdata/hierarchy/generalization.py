"""The common interface of all hierarchies.

The values of an attribute have positions 0, 1, ... on a line: numbers are in order of size, the leaves of a tree in
depth-first order, and other categories in the order of their public domain. All kinds of hierarchies share these
methods:

- `codes(values)`: the positions of original values on the line, an integer array (n,);
- `labels(codes, classes)`: the published label of each class, an object array (classes,);
- `covered(label)`: the positions that a published label covers, an ascending integer array; `runs(label)` and
  `covers(label, positions)` return the same information without a list of all positions;
- `width(label)`: the share of the line that a label spans, from 0 (one value) to 1 (all values); a narrower label
  discloses more;
- `bounds(label)`: the lowest and the highest number that a label of a numeric attribute covers, as the label states
  them; NaN for the label of a missing number;
- `covers_missing(label)`: whether a label of a numeric attribute covers missing numbers;
- `widened(labels, shared)`: the labels, widened so that no label ends at a value that few people share;
- `size`: the number of positions; `steps`: the largest distance between two positions;
- `extent()`: the measure of the width of generalizations that clustering uses; see `Extent`.
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

    With `groups`, an integer array (levels, leaves), the width is the first level at which both leaves are in the same
    group. Without `groups`, the width is the difference between the `places` of the leaves, but at most `denominator`.
    The fraction is the width divided by `denominator`, and lies between 0 and 1.
    """

    denominator: int
    groups: IntArray | None


def places(positions: IntArray, steps: int) -> IntArray:
    """Return numbers whose differences are the distances between positions, as an integer array of the same shape.

    The position above `steps` belongs to a missing number. The result for this position is `2 * steps`, so a missing
    number is at least `steps`, the largest distance between two numbers, away from every number.
    """
    return np.where(positions > steps, 2 * steps, positions)


class Generalization:
    """One way to generalize an attribute.

    Subclasses define `_place`, `_refusal` and the methods that the docstring of this module lists.
    """

    exact: bool = False  # whether labels of a release may end at one person's own value, see `OfItsValues`

    def __post_init__(self) -> None:
        """Check the fields of a subclass, which is a dataclass."""

    @property
    def size(self) -> int:
        """The number of positions on the line."""
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """Return the published label of each class, as an object array (classes,)."""
        raise NotImplementedError

    def covered(self, label: str) -> IntArray:
        """Return the positions that a published label covers, as an ascending integer array."""
        raise NotImplementedError

    def width(self, label: str) -> float:
        """Return the share of the line that a label spans, from 0 (one value) to 1 (all values)."""
        raise NotImplementedError

    def bounds(self, label: str) -> tuple[float, float]:
        """Return the lowest and the highest number that a label covers; NaN for the label of a missing number."""
        raise NotImplementedError

    def covers_missing(self, label: str) -> bool:
        """Return whether a label covers missing numbers."""
        raise NotImplementedError

    def extent(self) -> Extent:
        """Return the measure of the width of generalizations that clustering uses."""
        raise NotImplementedError

    def _place(self, distinct: Any) -> IntArray:
        """Return the position of each distinct value, as an integer array (m,); -1 for a value without a position."""
        raise NotImplementedError

    def _refusal(self, lost: Sequence[object]) -> str:
        """Return the message of the error for values without a position."""
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """Return `labels`, an array (n,), widened so that no label ends at a value that few people share.

        Only labels of `OfItsValues` are widened. Labels of other hierarchies do not depend on the records, so they stay
        unchanged.
        """
        return labels

    @property
    def steps(self) -> int:
        """The largest distance between two positions."""
        return self.size - 1

    def codes(self, values: Any) -> IntArray:
        """Return the positions of original values on the line, as an integer array (n,).

        `values` is an array, Series or Categorical of numbers or text. "9", 9 and 9.0 are the same value, and a missing
        number is given as its mark. If values have no position, raises a SchemaError that lists the most common of
        these values.
        """
        values = pd.Series(values)
        index, distinct = factorize_categories(values)
        codes = np.append(self._place(distinct), -1)[index]  # a missing value has the index -1
        if codes.min(initial=0) < 0:
            lost = values[codes < 0].astype(object)
            raise SchemaError(self._refusal(lost.where(lost.notna(), "missing").tolist()))
        return codes

    def runs(self, label: str) -> IntArray:
        """Return the first and the last position of each run that a label covers, as an integer array (runs, 2)."""
        positions = self.covered(label)
        ends = np.flatnonzero(np.diff(positions) > 1)
        return np.column_stack([positions[np.append(0, ends + 1)], positions[np.append(ends, -1)]])

    def covers(self, label: str, positions: IntArray) -> BoolArray:
        """Return, as a boolean array (m,), whether a label covers each of `positions`, an integer array (m,)."""
        first, last = self.runs(label).T
        run = np.searchsorted(first, positions, side="right") - 1
        return (run >= 0) & (positions <= last[run])


class OnALine(Generalization):
    """Generalizations in which each label covers one run of consecutive positions and states both ends of the run.

    Subclasses define `_names`, which converts ends to labels, and `ends`, which converts labels to ends.
    """

    def ends(self, label: str) -> tuple[int, int]:
        """Return the first and the last position that a label covers."""
        raise NotImplementedError

    def _names(self, low: IntArray, high: IntArray) -> Array:
        """Return the label of each run of positions, as an object array (m,).

        `low` and `high`, integer arrays (m,), hold the first and the last position of each run.
        """
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """Return the smallest label that covers each class, as an object array (classes,).

        `codes`, an integer array (n,), holds the position of each record. `classes`, an integer array (n,), holds the
        class of each record, from 0 to the number of classes minus 1. Raises ValueError for a class without a record.
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
        """Return the smallest label that covers all positions from `low` to `high`."""
        return self._names(np.array([low]), np.array([high]))[0]

    def runs(self, label: str) -> IntArray:
        """Return the two ends of the run of a label, as an integer array (1, 2).

        The positions are not listed, because a line may have billions of positions.
        """
        return np.array([self.ends(label)])

    def covered(self, label: str) -> IntArray:
        """Return the positions from the first to the last end of a label."""
        first, last = self.ends(label)
        return np.arange(first, last + 1)

    def width(self, label: str) -> float:
        """Return the distance between the two ends of a label, as a share of the length of the line."""
        first, last = self.ends(label)
        return (last - first) / max(self.ends(SUPPRESSED)[1], 1)


class OfItsValues(OnALine):
    """Generalizations whose labels end at values of the class, so that an end may be a value that only one person has.

    `exact` states whether a release keeps such ends, as the releases of published studies do. If it is False, the
    release moves each end that few people share outwards. Subclasses define `_outwards(low, high, shared)`, which
    returns the new ends as two integer arrays.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        expect.kind("exact", self.exact, bool)

    def _outwards(self, low: IntArray, high: IntArray, shared: IntArray) -> tuple[IntArray, IntArray]:
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """Return `labels` in coded form, with each end that is not in `shared` moved outwards.

        `labels` is an array (n,), which is returned unchanged if no end moves. `shared`, an integer array, holds the
        positions of the values that many people share. Each new label covers all values that the old label covers; the
        new labels may overlap. Raises SchemaError for an unknown label.
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
    """Generalizations of listed values, with the `name` of the attribute and the `leaves` in the order of the line."""

    name: str

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values of the attribute, in the order of the line."""
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
        """The leaves of a numeric attribute, as a float array (leaves,) with NaN for a missing number."""
        leaves: Array = np.array(self.leaves, dtype=object)
        return np.asarray(pd.to_numeric(leaves, errors="coerce"), dtype=float)

    def covers_missing(self, label: str) -> bool:
        """Return whether a label covers the mark of a missing number."""
        return bool(np.isnan(self.numbers[self.covered(label)]).any())

    def bounds(self, label: str) -> tuple[float, float]:
        """Return the smallest and the largest number that a label covers."""
        numbers = self.numbers[self.covered(label)]
        return float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))


def check_classes(codes: IntArray, classes: IntArray) -> tuple[IntArray, IntArray, int]:
    """Return `codes` and `classes` as integer arrays (n,), and the number of classes.

    Raises UsageError for a class without a record.
    """
    codes, classes = (np.ascontiguousarray(each, dtype=np.int64) for each in (codes, classes))
    sizes = np.bincount(classes)
    if not sizes.all():
        raise UsageError(
            f"class {sizes.argmin()} of {len(sizes)} has no record. Number the classes 0, 1, ... without gaps."
        )
    return codes, classes, len(sizes)
