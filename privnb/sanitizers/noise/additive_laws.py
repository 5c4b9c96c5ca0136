"""Laws of numbers to which independent noise was added: how likely a noisy number is for each true one.

Uniform and Gaussian noise have no epsilon: no number can be farther away than some distance, or every number can be
anywhere. Laplace and geometric noise have one. A closed form says what the mechanism leaks for given shares of the true
values, not what one draw of it happened to show.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 2 (uniform and Gaussian); Alvim,
Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, "The Science of Quantitative Information Flow", Springer 2020,
chapters 5 and 7 (vulnerability, capacity).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np

from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Positive, Validated

SQRT3 = 3**0.5


@dataclass(frozen=True)
class _Added(Validated, Law):
    name: ClassVar[str]
    deviation: Positive
    step: Positive

    def __str__(self) -> str:
        return f"{self.name}, standard deviation {self.deviation:g}"

    @property
    def in_steps(self) -> float:
        return self.deviation / self.step

    @property
    def variance(self) -> float:
        return self.deviation**2

    def amplification(self, size: int) -> float:
        return np.inf


@dataclass(frozen=True)
class Gaussian(_Added):
    """Gaussian noise.

    Parameters
    ----------
    deviation : float
        The standard deviation, in the attribute's unit; above 0.
    step : float
        Of the public domain, in the same unit; above 0.
    """

    name = "Gaussian noise"

    def cumulative(self, noise: Any) -> Array:
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)

    def surprise(self, true: Array, seen: Array) -> Array:
        return ((true - seen) / self.in_steps) ** 2 / 2

    def capacity(self, size: int) -> float:
        # Each cell is best read as the nearest value: half of the noise on the far side of the two ends, and for each
        # two neighbours what stays within half a step.
        return float(1 + (size - 1) * (2 * self.cumulative(self.step / 2) - 1))

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """The area under the highest of the bells, each as high as its value is likely."""
        prior = np.asarray(prior, dtype=float)
        centres = np.asarray(positions)[prior > 0] / self.in_steps
        prior = prior[prior > 0]
        # Without the square of the cell, which all share, the logarithm of a bell is a line.
        hull, starts = [0], [-np.inf]
        heights = np.log(prior) - centres**2 / 2
        for each in range(1, len(centres)):
            while True:
                last = hull[-1]
                meet = (heights[last] - heights[each]) / (centres[each] - centres[last])
                if meet > starts[-1]:
                    break
                hull.pop()
                starts.pop()
                if not hull:
                    meet = -np.inf
                    break
            hull.append(each)
            starts.append(meet)
        edges = np.append(starts, np.inf)
        inside = self.cumulative((edges[1:] - centres[hull]) * self.deviation)
        inside -= self.cumulative((edges[:-1] - centres[hull]) * self.deviation)
        return float(prior[hull] @ inside)


@dataclass(frozen=True)
class Uniform(_Added):
    """Uniform noise from -a to a, where a is the standard deviation times the root of 3.

    Parameters
    ----------
    deviation, step : float
        As of `Gaussian`.
    """

    name = "uniform noise"

    @property
    def half(self) -> float:
        """The most that the noise moves a number, in the attribute's unit."""
        return self.deviation * SQRT3

    def cumulative(self, noise: Any) -> Array:
        return np.clip(np.asarray(noise) / (2 * self.half) + 0.5, 0, 1)

    def surprise(self, true: Array, seen: Array) -> Array:
        # A thousandth of a step more: published numbers are rounded.
        return np.where(np.abs(true - seen) <= self.half / self.step + 1e-3, 0.0, np.inf)

    def capacity(self, size: int) -> float:
        return float(1 + (size - 1) * min(self.step / (2 * self.half), 1))

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """The area under the highest of the boxes, each as high as its value is likely."""
        prior, half = np.asarray(prior, dtype=float), self.half / self.step
        positions = np.asarray(positions, dtype=float)
        ends = np.unique(np.concatenate([positions - half, positions + half]))
        middles = (ends[:-1] + ends[1:]) / 2
        first = np.searchsorted(positions, middles - half)
        after = np.searchsorted(positions, middles + half)
        near = first < after
        bounds = np.column_stack([first[near], after[near]]).ravel()
        highest = np.maximum.reduceat(np.append(prior, 0), bounds)[::2]
        return float(highest @ np.diff(ends)[near] / (2 * half))


@dataclass(frozen=True)
class _TwoSided(Validated, Law):
    """Noise whose likelihood falls by e for each `scale` that it moves a number to either side."""

    name: ClassVar[str]
    scale: Positive
    step: Positive

    def __str__(self) -> str:
        return f"{self.name}, scale {self.scale:g}"

    @property
    def in_steps(self) -> float:
        return self.scale / self.step

    def vulnerability(self, prior: Array, positions: Array) -> float:
        return self._guessed(_Envelopes.of(prior, self.in_steps, positions))

    @abstractmethod
    def _guessed(self, envelopes: _Envelopes) -> float:
        """Return the posterior vulnerability in closed form: from the largest entry of the prior to its sum."""

    def _within(self, steps: Array) -> FloatArray:
        return -np.expm1(-steps / self.in_steps)

    def surprise(self, true: Array, seen: Array) -> Array:
        return 1 / self.in_steps * np.abs(true - seen)

    def amplification(self, size: int) -> float:
        # The farthest two values differ by a factor e for each `scale` between them.
        return float(np.exp((size - 1) / self.in_steps))

    def found(self, groups: Sequence[IntArray]) -> float:
        # On one line the groups stand so far apart that noise leads from none to another. Whole numbers of any size.
        apart = max(int(group[-1]) for group in groups) + int(80 * self.in_steps) + 1
        steps = np.concatenate([number * apart + group.astype(object) for number, group in enumerate(groups)])
        return self.vulnerability(np.ones(len(steps)), steps)


@dataclass(frozen=True)
class Laplace(_TwoSided):
    """Laplace noise.

    Parameters
    ----------
    scale : float
        Sensitivity / epsilon, in the attribute's unit; above 0.
    step : float
        Of the public domain, in the same unit; above 0.
    """

    name = "Laplace noise"

    def _guessed(self, envelopes: _Envelopes) -> float:
        # Never above that of geometric noise of the same scale, whose steps tell all that Laplace noise does.
        left, right, gaps, turn = envelopes
        before = np.clip(turn, 0, gaps)
        inside = left[:-1] * self._within(before) + right[1:] * self._within(gaps - before)
        return float((inside.sum() + right[0] + left[-1]) / 2)

    def cumulative(self, noise: Any) -> Array:
        tail = np.exp(-np.abs(noise) / self.scale) / 2
        return np.where(np.asarray(noise) < 0, tail, 1 - tail)

    @property
    def variance(self) -> float:
        return 2 * self.scale**2

    def capacity(self, size: int) -> float:
        return float(1 + (size - 1) * -np.expm1(-1 / (2 * self.in_steps)))


@dataclass(frozen=True)
class Geometric(_TwoSided):
    """Two-sided geometric noise.

    Parameters
    ----------
    scale, step : float
        As of `Laplace`.
    """

    name = "geometric noise in whole steps"

    def _guessed(self, envelopes: _Envelopes) -> float:
        # Truncation changes nothing.
        decay, (left, right, gaps, turn) = np.exp(-1 / self.in_steps), envelopes
        before = np.clip(np.floor(turn), 0, gaps - 1)
        inside = left[:-1] * self._within(before) + right[1:] * self._within(gaps - 1 - before)
        on = np.maximum(left, right).sum() * np.tanh(1 / (2 * self.in_steps))
        return float(on + inside.sum() * decay / (1 + decay) + (right[0] + left[-1]) * decay / (1 + decay))

    def cumulative(self, noise: Any) -> Array:
        steps, decay = np.floor(np.asarray(noise) / self.step + ROUNDING), np.exp(-1 / self.in_steps)
        return np.where(steps < 0, decay ** np.abs(steps), 1 + decay - decay ** (steps + 1)) / (1 + decay)

    @property
    def variance(self) -> float:
        decay = np.exp(-1 / self.in_steps)
        return float(2 * decay / (1 - decay) ** 2) * self.step**2

    def capacity(self, size: int) -> float:
        return float(1 + (size - 1) * np.tanh(1 / (2 * self.in_steps)))


class _Envelopes(NamedTuple):
    """The likeliest explanation of a noisy number from each side.

    At each value with a positive probability the largest one left of it or right of it after its decay over the
    distance, two arrays (m,); the gaps between neighbours (m - 1,), and how far into a gap the left one is the larger.
    """

    left: FloatArray
    right: FloatArray
    gaps: FloatArray
    turn: FloatArray

    @classmethod
    def of(cls, prior: Array, scale: float, steps: Array) -> _Envelopes:
        """`prior`: probabilities (m,) of the rising whole numbers `steps` (m,)."""
        prior, steps = np.asarray(prior, dtype=float), np.asarray(steps)
        prior, steps = prior[prior > 0], steps[prior > 0]
        gaps = np.diff(steps).astype(float)
        decays = np.exp(-gaps / scale)
        left, right = _from_left(prior, decays), _from_left(prior[::-1], decays[::-1])[::-1]
        return cls(left, right, gaps, (gaps + scale * np.log(left[:-1] / right[1:])) / 2)


def _from_left(values: FloatArray, decays: FloatArray) -> FloatArray:
    pairs = zip(values[1:].tolist(), decays.tolist(), strict=True)
    return np.array(list(accumulate(pairs, lambda far, near: max(near[0], far * near[1]), initial=values[0])))
