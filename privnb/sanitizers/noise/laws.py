"""Laws of noise: how likely each value is published for each true one.

Numbers have independent noise added. Uniform and Gaussian noise have no epsilon: no number can be farther away than
some distance, or every number can be anywhere. Laplace and geometric noise have one. Categories are drawn from a
matrix, whose rows are true values and add up to 1, as in PRAM; FRAPP writes the same matrix with columns for rows. A
closed form says what the mechanism leaks for given shares of the true values, not what one draw of it happened to show.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 2 (uniform and Gaussian); Alvim,
Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, "The Science of Quantitative Information Flow", Springer 2020,
chapters 5 and 7 (vulnerability, capacity); Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving
Mining", ICDE 2005, sections 2 and 3; Aggarwal and Yu 2008, sections 3.3.6 and 10.2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from privnb.measures.noise.matrices import MOST, amplification_of, markov
from privnb.microdata.treatment import Jointly, Law, Unreadable
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Positive, Share, Validated, at_least
from privnb.sanitizers.noise.mechanisms import kept

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
            while (meet := (heights[hull[-1]] - heights[each]) / (centres[each] - centres[hull[-1]])) <= starts[-1]:
                hull.pop()
                starts.pop()
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


Size = Annotated[int, at_least(2)]  # of a domain


class Symmetric(Law):
    """A law under which each of `size` values is kept with probability `true` and becomes each other one alike.

    The gamma-diagonal matrix, which randomized response and uniform retention replacement are cases of.
    """

    size: Any  # parameters, or a property
    true: Any

    @property
    def other(self) -> float:
        """The probability of each single other value."""
        return (1 - self.true) / max(self.size - 1, 1)

    def vulnerability(self, prior: Array, positions: Array) -> float:
        # A cell is worth believing where it is likelier than the commonest value changed into it.
        prior = np.asarray(prior, dtype=float)
        believed = np.maximum(prior * self.true, prior.max() * self.other).sum()
        return float(believed + (self.size - len(prior)) * prior.max() * self.other)

    def capacity(self, size: int) -> float:
        return float(self.size * self.true)

    def surprise(self, true: Array, seen: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.where(np.rint(seen) == true, 0.0, np.log(self.true) - np.log(self.other))

    def transition(self, size: int) -> FloatArray:
        if self.size > MOST:
            raise Unreadable(f"{self}: a matrix of {self.size:,} values is not written out, at most {MOST:,}.")
        return np.full((self.size, self.size), self.other) + (self.true - self.other) * np.eye(self.size)

    def amplification(self, size: int) -> float:
        return float(self.true / self.other) if self.other > 0 else np.inf

    def found(self, groups: Sequence[IntArray]) -> float:
        people = sum(map(len, groups))
        others = len(groups) * self.size - people
        return people * self.true + others * self.other


@dataclass(frozen=True)
class Diagonal(Validated, Symmetric):
    """The gamma-diagonal matrix over `size` values: each is published with `true` where it is true, others alike.

    Parameters
    ----------
    true : float
        From 1 / size to 1.
    size : int
        From 2.
    name : str
        What the mechanism is called.
    together : Jointly, optional
        As of `Law`.
    """

    true: Share
    size: Size
    name: str = "gamma-diagonal matrix"
    together: Jointly | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.true < (1 - ROUNDING) / self.size:
            raise UsageError(f"true must be at least 1 / size, {1 / self.size:g}, got {self.true:g}.")

    def __str__(self) -> str:
        with_others = f", drawn together with {', '.join(self.together.names)}" if self.together else ""
        return f"{self.name}, {self.size} values, each true one published with {self.true:.4g}{with_others}"

    @classmethod
    def of_gamma(cls, gamma: float, size: int, **more: Any) -> Diagonal:
        """Of an amplification of `gamma`, above 1: the diagonal is gamma / (gamma + size - 1).

        >>> round(Diagonal.of_gamma(19, 12).true * 30, 9)
        19.0
        """
        return cls(gamma / (gamma + size - 1), size, **more)

    def marginal(self, size: int, **more: Any) -> Diagonal:
        """What it is of one attribute, or some, of `size` of its joint values: their other parts are summed over.

        The diagonal is (gamma + n / size - 1) x and each other entry n / size x, with x = 1 / (gamma + n - 1).

        Source: Agrawal and Haritsa, ICDE 2005, section 5 (frequent itemsets).
        """
        return Diagonal(self.true + (self.size / size - 1) * self.other, size, **more)


@dataclass(frozen=True)
class Response(Validated, Symmetric):
    """Randomized response over `size` categories.

    Parameters
    ----------
    epsilon : float
        Above 0.
    size : int
        From 2.
    """

    epsilon: Positive
    size: Size

    def __str__(self) -> str:
        return f"randomized response, {self.size} values, each true one kept with {self.true:.4g}"

    @property
    def true(self) -> float:
        return kept(self.size, self.epsilon)


@dataclass(frozen=True)
class Transition(Validated, Law):
    """Any Markov matrix.

    Parameters
    ----------
    matrix : tuple of tuple of float, (size, size)
        Row u says how likely each value is published for the true value u.
    name : str
        What the mechanism is called.
    """

    matrix: Annotated[tuple[tuple[float, ...], ...], markov]
    name: str = "Markov matrix"

    def __str__(self) -> str:
        kept = np.diag(self._array)
        shares = " to ".join(dict.fromkeys([f"{kept.min():.4g}", f"{kept.max():.4g}"]))
        return f"{self.name}, {len(kept)} values, each true one published with {shares}"

    @cached_property
    def _array(self) -> FloatArray:
        return np.array(self.matrix, dtype=float)

    def vulnerability(self, prior: Array, positions: Array) -> float:
        return float((np.asarray(prior, dtype=float)[:, np.newaxis] * self._array[positions]).max(axis=0).sum())

    def capacity(self, size: int) -> float:
        return float(self._array.max(axis=0).sum())

    def surprise(self, true: Array, seen: Array) -> Array:
        with np.errstate(divide="ignore"):
            return -np.log(self._array)[true, np.rint(seen).astype(np.int64)]

    def transition(self, size: int) -> FloatArray:
        return self._array.copy()

    def amplification(self, size: int) -> float:
        return amplification_of(self._array)


@dataclass(frozen=True)
class Part(Validated, Law):
    """One column of several that a matrix over their joint domain draws together.

    What its own cells tell depends on how the other columns are spread, so that it has no closed form by itself.
    """

    together: Jointly

    def __str__(self) -> str:
        return f"{self.together.law}, drawn together for {', '.join(self.together.names)}"
