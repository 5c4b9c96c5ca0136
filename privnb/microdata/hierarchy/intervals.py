"""Generalization of numbers to ranges, from the smallest to the largest number, or to intervals of given widths."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from privnb.microdata import cuts
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Extent, OfItsValues, OnALine
from privnb.microdata.schema import Numbers, SchemaError, describe_commonest, to_text
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import STEP

NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)"  # small numbers are written as 9e-05
INTERVAL = re.compile(f"{NUMBER}(?:-{NUMBER})?")


@dataclass(frozen=True)
class _OnNumbers(OnALine):
    """The base class of generalizations of numbers.

    A published cell is a number, a range `low-high`, the mark of a missing number, or `*`, which covers all numbers and
    missing numbers. The last position is that of a missing number. A class with both numbers and missing numbers has
    the label `*`.
    """

    domain: Numbers

    def __post_init__(self) -> None:
        expect.kind("domain", self.domain, Numbers)

    @property
    def size(self) -> int:
        """The number of values in the domain, including the missing number."""
        return self.domain.size

    @property
    def steps(self) -> int:
        return self.domain.steps

    def _place(self, distinct: Any) -> IntArray:
        distinct = np.asarray(distinct)
        codes, fits = np.full(len(distinct), -1), self.domain.has(distinct)
        codes[fits] = self.domain.codes(distinct[fits])
        return codes

    def _names(self, low: IntArray, high: IntArray) -> Array:
        alone, labels = high <= self.steps, np.full(len(low), SUPPRESSED, dtype=object)
        labels[alone] = self._numbers(low[alone], high[alone])
        labels[low > self.steps] = self.domain.missing
        return labels

    def _numbers(self, low: IntArray, high: IntArray) -> Array:
        """Return the label of each run of positions of numbers; for the arguments, see `_names`."""
        raise NotImplementedError

    def _refusal(self, lost: Sequence[object]) -> str:
        return f"{len(lost)} numbers lie outside {self.domain}: {describe_commonest(lost)}."

    def bounds(self, label: str) -> tuple[float, float]:
        return _bounds(self.domain, label)

    def covers_missing(self, label: str) -> bool:
        return self.ends(label)[1] > self.steps

    def width(self, label: str) -> float:
        first, last = self.ends(label)  # only a missing number and `*` extend beyond `steps`
        return (last - first) / self.steps if last <= self.steps else float(first < last)

    def ends(self, label: str) -> tuple[int, int]:
        return _ends(self.domain, label)


def _bounds(domain: Numbers, label: str) -> tuple[float, float]:
    if label == SUPPRESSED:
        return float(domain.low), float(domain.high)
    if label == domain.missing:
        return math.nan, math.nan
    match = INTERVAL.fullmatch(str(label))
    if not match:
        raise SchemaError(f"'{label}' is not an interval of numbers. Write the label as low-high, one number, or *.")
    return float(match[1]), float(match[2] or match[1])


@lru_cache(maxsize=2**16)  # every check and measure of a release reads its labels
def _ends(domain: Numbers, label: str) -> tuple[int, int]:
    if label in (SUPPRESSED, domain.missing):
        return 0 if label == SUPPRESSED else domain.size - 1, domain.size - 1
    # An aligned interval may extend past the domain, as 15-19 does if ages begin at 17.
    low, high = ((bound - domain.low) / domain.step for bound in _bounds(domain, label))
    # Decimals such as 0.01 are not exact.
    first, last = max(0, math.ceil(low - STEP)), min(domain.steps, math.floor(high + STEP))
    if first > last:
        raise SchemaError(
            f"the label '{label}' does not cover any value of {domain}. Check whether the label belongs to another "
            "domain."
        )
    return first, last


@dataclass(frozen=True)
class Ranges(OfItsValues, _OnNumbers):
    """Numbers that are published as the range from the smallest to the largest number of the class.

    Missing numbers are published as their mark. Unless `exact` is true, a release moves an end that few people share
    outwards: a lower end to the beginning, and an upper end to the end, of the public interval that contains it.

    Parameters
    ----------
    domain : Numbers
    exact : bool
        Whether labels of a release may end at any value of their class, even at a value that only one person has.

    >>> ages = Ranges(Numbers(17, 99, cuts=10))
    >>> ages.label(41 - 17, 47 - 17), ages.widened(np.array(["41-47", "38"]), shared=[41 - 17]).tolist()
    ('41-47', ['41-49', '30-39'])
    """

    exact: bool = False

    def _outwards(self, low: IntArray, high: IntArray, shared: IntArray) -> tuple[IntArray, IntArray]:
        return self.domain.interval(low)[0], self.domain.interval(high)[1]

    def _numbers(self, low: IntArray, high: IntArray) -> Array:
        # The text of each end is made once, because there are far fewer ends than pairs.
        index, ends = pd.factorize(np.concatenate([low, high]))
        texts = np.array([to_text(self.domain.value(end)) for end in ends], dtype=object)[index]
        first, last = texts.reshape(2, -1)
        return np.where(low == high, first, first + "-" + last)

    def extent(self) -> Extent:
        """Return an extent that measures the width of a generalization by the distance between numbers."""
        return Extent(self.steps, None)


@dataclass(frozen=True)
class LeveledRanges(Ranges):
    """Ranges with additional levels, for the recoding of a whole table.

    The levels are the public intervals of the domain, then pairs of intervals, then groups of four, and so on. An
    algorithm that can cut at any number, such as Mondrian, ignores the levels and uses the ranges.

    Parameters
    ----------
    domain : Numbers
    exact : bool
        See `Ranges`.

    >>> [row[0] for row in LeveledRanges(Numbers(17, 99, cuts=10)).levels(np.array([41 - 17]))]
    ['41', '40-49', '40-59', '40-79', '17-79']
    """

    def levels(self, positions: IntArray) -> list[Array]:
        """Return the labels of `positions` at each level below `*`, as a list of object arrays (m,).

        `positions` is an integer array (m,). The first item of the list is the lowest level, at which each number is
        its own label.
        """
        rows, domain = [self._names(positions, positions)], self.domain
        while domain.cuts:
            rows.append(self._names(*domain.interval(positions)))
            domain = replace(domain, cuts=cuts.halve_cuts(cast("tuple[float, ...]", domain.cuts)))
        return rows


@dataclass(frozen=True)
class Intervals(_OnNumbers):
    """Whole numbers that are published as the smallest aligned interval that holds the whole class.

    A width need not be a multiple of the width before it, so intervals need not nest: 40-59, an interval of width 20,
    does not lie in an interval of width 50. Sramka et al. 2010, section 4.2, use the widths 5, 10, 20, 50 and 100. An
    interval of a width begins at a multiple of this width, as in the paper. The narrowest intervals are the leaves, so
    their extent is 0.

    Parameters
    ----------
    domain : Numbers
        The domain, with a step of 1.
    widths : tuple of int
        The increasing widths of the intervals; one interval of the last width must contain the whole domain.

    Raises
    ------
    SchemaError
        For widths that do not satisfy these conditions, or for a domain with a step other than 1.

    >>> ages = Intervals(Numbers(17, 99), (5, 10, 20, 50, 100))
    >>> ages.label(40 - 17, 41 - 17), ages.label(42 - 17, 58 - 17), ages.label(35 - 17, 41 - 17)
    ('40-44', '40-59', '0-49')
    """

    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        expect.numbers("widths", self.widths)
        rising = list(self.widths) == sorted(set(self.widths)) and len(self.widths) > 0
        if not rising or not all(w > 0 and w == int(w) for w in self.widths):
            raise SchemaError(f"interval widths must be increasing whole numbers; got {self.widths}.")
        if self.domain.step != 1 or self.domain.low != int(self.domain.low):
            raise SchemaError(f"intervals need whole numbers, and the domain is {self.domain}. Use 'range'.")
        if max(abs(self.domain.low), abs(self.domain.high)) // self.widths[0] >= 2**31 - 1:
            raise SchemaError(
                f"intervals of {self.widths[0]} would need numbers above 2^31 for {self.domain}. Use another unit."
            )
        if self.domain.low // self.widths[-1] != self.domain.high // self.widths[-1]:
            raise SchemaError(
                f"no interval of widths {self.widths} holds the whole domain {self.domain}. Add a wider interval."
            )

    @cached_property
    def groups(self) -> IntArray:
        """The number of the interval that contains each position at each width: integer array (levels, positions).

        If numbers may be missing, there is one more level, at which all positions are in one group; at the levels of
        the widths, the missing number forms a group alone.
        """
        values = self.domain.low + self.domain.step * np.arange(self.steps + 1)
        groups = np.array([values // width for width in self.widths], dtype=np.int32)
        if self.domain.missing is None:
            return groups
        alone = groups.max(axis=1, keepdims=True) + 1
        return np.pad(np.hstack([groups, alone]), ((0, 1), (0, 0)))

    def _numbers(self, low: IntArray, high: IntArray) -> Array:
        level = np.argmax(self.groups[:, low] == self.groups[:, high], axis=0)
        return self.at(level, low)

    def at(self, level: int | IntArray, positions: IntArray) -> Array:
        """Return the labels of `positions`, an integer array (m,), as an object array (m,).

        `level` is the position of a width in `widths`, or an integer array (m,) of such positions, one for each of
        `positions`.
        """
        widths = np.array(self.widths)[level]
        starts = self.groups[level, positions] * widths
        ends = starts + widths - 1
        labels: Array = np.array(
            [f"{low}-{high}" for low, high in zip(starts.tolist(), ends.tolist(), strict=True)], object
        )
        missing: Array = np.array(self.domain.missing, dtype=object)
        return np.where(positions > self.steps, missing, labels)

    def extent(self) -> Extent:
        """Return an extent that measures the width of a generalization by the levels of `groups`."""
        return Extent(len(self.groups) - 1, self.groups)


class RangedIntervals(Intervals):
    """Numbers that are published as `Intervals` and have the distances of `Ranges`.

    The class implements the interpretation of Sramka et al. 2010 that is called reading "C".

    Parameters
    ----------
    domain : Numbers
    widths : tuple of int
        See `Intervals`.
    """

    def extent(self) -> Extent:
        """Return the same extent as `Ranges`."""
        return Ranges(self.domain).extent()
