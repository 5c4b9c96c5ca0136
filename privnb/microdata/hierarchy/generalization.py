"""What every way to generalize an attribute can do.

An attribute's values stand on a line, in positions 0, 1, ...: numbers by size, the leaves of a tree in depth-first
order, other categories in the order of their public domain. The kinds are in `hierarchy`; they share the methods

- `codes(values)`: positions of original values on the line, integer array (n,);
- `labels(codes, classes)`: the published label of each class, object array (classes,);
- `covered(label)`: the positions that a published label covers, ascending integer array; `runs(label)` and
  `covers(label, positions)` say the same without listing them;
- `width(label)`: the share of the line that it spans, 0 (one value) to 1 (all); lower tells more;
- `bounds(label)`: the two numbers between which a published label of a numeric attribute lies, as printed; NaN for that
  of a missing number;
- `covers_missing(label)`: whether a label of a numeric attribute covers a missing number;
- `widened(labels, shared)`: labels that end at nobody's own value;
- `size`: the number of positions; `steps`: how far apart two of them are at most;
- `extent()`: how wide a generalization is, for clustering: see `Extent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from privnb.microdata.columns import of_codes
from privnb.microdata.counts import factorized, looked_up
from privnb.microdata.schema import SchemaError, commonest, text
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd

SUPPRESSED = "*"  # the root of every hierarchy


class Extent(NamedTuple):
    """The width of the smallest generalization of two leaves, a fraction of the widest.

    With `groups` (integer array levels x leaves): the first level at which both leaves are in one group.
    Without: the difference of their `places`, at most `denominator`. Divided by `denominator` it lies in 0..1.
    """

    denominator: int
    groups: IntArray | None


def places(positions: IntArray, steps: int) -> IntArray:
    """Where positions stand for who measures how far apart they are, integer array of their shape.

    The one beyond `steps` is that of a missing number, as far from every number as these are from each other at most.
    """
    return np.where(positions > steps, 2 * steps, positions)


class Generalization:
    """One attribute's way to generalize. Subclasses give `_place`, `_refusal` and the methods named above."""

    exact: bool = False  # whether a release keeps labels that end at one person's own value: see `OfItsValues`

    def __post_init__(self) -> None:
        """Check the fields of a subclass, which is a dataclass."""

    @property
    def size(self) -> int:
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        raise NotImplementedError

    def covered(self, label: str) -> IntArray:
        raise NotImplementedError

    def width(self, label: str) -> float:
        raise NotImplementedError

    def bounds(self, label: str) -> tuple[float, float]:
        raise NotImplementedError

    def covers_missing(self, label: str) -> bool:
        raise NotImplementedError

    def extent(self) -> Extent:
        raise NotImplementedError

    def _place(self, distinct: Any) -> IntArray:
        """Return the position of each of some different values, -1 for one that has none: integer array (m,)."""
        raise NotImplementedError

    def _refusal(self, lost: Sequence[object]) -> str:
        """Return the error on values that have no position."""
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """`labels` (n,) with each end moved outwards that few people share: see `OfItsValues`.

        Those of other kinds are public whatever the records are, and stay as they are.
        """
        return labels

    @property
    def steps(self) -> int:
        return self.size - 1

    def codes(self, values: Any) -> IntArray:
        """Positions of original values on the line, integer array (n,).

        `values`: array, Series or Categorical of numbers or text; "9", 9 and 9.0 are one value, and a missing number is
        its mark. Raises SchemaError with the commonest values that have no position, missing ones among them.
        """
        values = pd.Series(values)
        index, distinct = looked_up(values)
        codes = np.append(self._place(distinct), -1)[index]  # the index of a missing value is -1
        if codes.min(initial=0) < 0:
            lost = values[codes < 0].astype(object)
            raise SchemaError(self._refusal(lost.where(lost.notna(), "missing").tolist()))
        return codes

    def runs(self, label: str) -> IntArray:
        """The runs of neighbouring positions that a label covers: integer array (runs, 2), first and last of each."""
        positions = self.covered(label)
        ends = np.flatnonzero(np.diff(positions) > 1)
        return np.column_stack([positions[np.append(0, ends + 1)], positions[np.append(ends, -1)]])

    def covers(self, label: str, positions: IntArray) -> BoolArray:
        """Which of the `positions` (integer array (m,)) a label covers: boolean array (m,)."""
        first, last = self.runs(label).T
        run = np.searchsorted(first, positions, side="right") - 1
        return (run >= 0) & (positions <= last[run])


class OnALine(Generalization):
    """Every label covers a run of neighbouring positions, so that two ends say all. Subclasses give `_names` and
    `ends`, which lead from ends to labels and back.
    """

    def ends(self, label: str) -> tuple[int, int]:
        """Return the first and the last position that a label covers."""
        raise NotImplementedError

    def _names(self, low: IntArray, high: IntArray) -> Array:
        """Return the label of each run from `low` to `high`, integer arrays (m,): object array (m,)."""
        raise NotImplementedError

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """The smallest label that covers each class, object array (classes,).

        `codes`: positions, integer array (n,); `classes`: integer array (n,) of numbers 0..m-1. Raises ValueError for
        a class without a record.
        """
        codes, classes, number = by_class(codes, classes)
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, -1)
        np.minimum.at(low, classes, codes)
        np.maximum.at(high, classes, codes)
        # Many classes have the same ends: each pair is named once.
        base = int(high.max(initial=0)) + 1
        index, pairs = pd.factorize(low * base + high)
        return self._names(*divmod(pairs, base))[index]

    def label(self, low: int, high: int) -> str:
        """The smallest label that covers the positions `low` to `high`."""
        return self._names(np.array([low]), np.array([high]))[0]

    def runs(self, label: str) -> IntArray:
        return np.array([self.ends(label)])  # a line may have billions of positions

    def covered(self, label: str) -> IntArray:
        first, last = self.ends(label)
        return np.arange(first, last + 1)

    def width(self, label: str) -> float:
        first, last = self.ends(label)
        return (last - first) / max(self.ends(SUPPRESSED)[1], 1)


class OfItsValues(OnALine):
    """Labels that end at values of the class itself, so that an end may be one person's own.

    `exact`: whether a release keeps such ends, as published studies do; without it, it moves them outwards. Subclasses
    give `_outwards(low, high, shared)`: where the ends at these positions come to stand, two integer arrays.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        expect.kind("exact", self.exact, bool)

    def _outwards(self, low: IntArray, high: IntArray, shared: IntArray) -> tuple[IntArray, IntArray]:
        raise NotImplementedError

    def widened(self, labels: Any, shared: IntArray) -> Any:
        """`labels` with each end moved outwards that is none of `shared`: coded (n,), the same ones if none is moved.

        `labels`: array (n,). `shared`: the positions that many people share, integer array. Whatever a label covered,
        it covers still; labels may overlap. Raises SchemaError for an unknown label.
        """
        index, distinct = factorized(labels)
        names = np.array([text(label) for label in distinct], dtype=object)  # beside labels, numbers are text, too
        ends = np.array([self.ends(name) for name in names], dtype=np.int64).reshape(-1, 2)
        low, high = ends.T
        outer = np.where(np.isin(ends, shared), ends, np.column_stack(self._outwards(low, high, shared)))
        moved = (outer != ends).any(axis=1)
        if not moved.any():
            return labels
        names[moved] = self._names(*outer[moved].T)
        return of_codes(index, names)


class OfLeaves(Generalization):
    """Values that are listed one by one: `name`, and `leaves` in the order of the line."""

    name: str

    @property
    def leaves(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self.leaves)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {leaf: position for position, leaf in enumerate(self.leaves)}

    def _place(self, distinct: Any) -> IntArray:
        return np.array([self._index.get(text(value), -1) for value in distinct], dtype=np.int64)

    def _refusal(self, lost: Sequence[object]) -> str:
        return f"hierarchy '{self.name}' lacks {len(set(lost))} values: {commonest(lost)}. Add them to it."

    def _unknown(self, label: str) -> SchemaError:
        return SchemaError(f"hierarchy '{self.name}' has no label '{label}'. Was the release made with another one?")

    @cached_property
    def numbers(self) -> FloatArray:
        """The leaves of a numeric attribute as numbers, NaN for the mark of a missing one: float array (leaves,)."""
        leaves: Array = np.array(self.leaves, dtype=object)
        return np.asarray(pd.to_numeric(leaves, errors="coerce"), dtype=float)

    def covers_missing(self, label: str) -> bool:
        return bool(np.isnan(self.numbers[self.covered(label)]).any())

    def bounds(self, label: str) -> tuple[float, float]:
        numbers = self.numbers[self.covered(label)]
        return float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))


def by_class(codes: IntArray, classes: IntArray) -> tuple[IntArray, IntArray, int]:
    """Both as integer arrays (n,), and the number of classes. Raises ValueError if one has no record."""
    codes, classes = (np.ascontiguousarray(each, dtype=np.int64) for each in (codes, classes))
    sizes = np.bincount(classes)
    if not sizes.all():
        raise UsageError(f"class {sizes.argmin()} of {len(sizes)} has no record. Number the classes 0, 1, ... each.")
    return codes, classes, len(sizes)
