"""Laws (distributions) of noise: the probability that each value is published for each true value.

Independent noise is added to numbers. Uniform noise has no epsilon, because it moves numbers only by a limited
distance, and Gaussian noise has no epsilon either. Laplace and geometric noise have an epsilon. Categories are drawn
from a matrix. The matrix has a row for each true value, and each row adds up to 1, as in PRAM; FRAPP writes the
transposed matrix. A closed form states the leakage of the mechanism for given shares of the true values, not the
leakage of a single draw.

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

from privnb.measures.noise.matrices import MAX_MATRIX_VALUES, amplification_of, markov
from privnb.microdata.treatment import Jointly, Law, Unreadable
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Positive, Share, Validated, at_least
from privnb.sanitizers.noise.mechanisms import keep_probability

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
        """The width of the noise in steps of the domain."""
        return self.deviation / self.step

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.deviation**2

    def amplification(self, size: int) -> float:
        """Return the largest ratio of the likelihoods of a published value for two true values."""
        return np.inf


@dataclass(frozen=True)
class Gaussian(_Added):
    """Gaussian noise.

    Parameters
    ----------
    deviation : float
        The standard deviation, in the unit of the attribute; above 0.
    step : float
        The step of the public domain, in the same unit; above 0.
    """

    name = "Gaussian noise"

    def cumulative(self, noise: Any) -> Array:
        """Return the probability that the noise is at most this number."""
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        return ((true - seen) / self.in_steps) ** 2 / 2

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        # # The best guess from a cell is the nearest value. It is right for half of the noise at each end of the
        # domain, and # for noise of less than half a step between two neighbors.
        return float(1 + (size - 1) * (2 * self.cumulative(self.step / 2) - 1))

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """Return the posterior vulnerability.

        This is the area under the highest of the bell curves, each scaled by the share of its value.
        """
        prior = np.asarray(prior, dtype=float)
        centres = np.asarray(positions)[prior > 0] / self.in_steps
        prior = prior[prior > 0]
        # Without the square of the cell, which all bells share, the logarithm of a bell is a line.
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
    """Uniform noise from -a to a, where a is the standard deviation times the square root of 3.

    Parameters
    ----------
    deviation : float
        The standard deviation, in the unit of the attribute; above 0.
    step : float
        The step of the public domain, in the same unit; above 0.
    """

    name = "uniform noise"

    @property
    def half(self) -> float:
        """The largest distance by which the noise moves a number, in the unit of the attribute."""
        return self.deviation * SQRT3

    def cumulative(self, noise: Any) -> Array:
        """Return the probability that the noise is at most this number."""
        return np.clip(np.asarray(noise) / (2 * self.half) + 0.5, 0, 1)

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        # # The range is wider by a thousandth of a step, because published numbers are rounded.
        return np.where(np.abs(true - seen) <= self.half / self.step + 1e-3, 0.0, np.inf)

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        return float(1 + (size - 1) * min(self.step / (2 * self.half), 1))

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """Return the posterior vulnerability.

        This is the area under the highest of the boxes, each scaled by the share of its value.
        """
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
    """Noise whose likelihood falls by the factor e for each `scale` of distance from the true number."""

    name: ClassVar[str]
    scale: Positive
    step: Positive

    def __str__(self) -> str:
        return f"{self.name}, scale {self.scale:g}"

    @property
    def in_steps(self) -> float:
        """The width of the noise in steps of the domain."""
        return self.scale / self.step

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """Return the posterior vulnerability of a cell for these prior shares."""
        return self._guessed(_Envelopes.of(prior, self.in_steps, positions))

    @abstractmethod
    def _guessed(self, envelopes: _Envelopes) -> float:
        """Return the posterior vulnerability in closed form; it is from the largest entry to the sum of the prior."""

    def _within(self, steps: Array) -> FloatArray:
        return -np.expm1(-steps / self.in_steps)

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        return 1 / self.in_steps * np.abs(true - seen)

    def amplification(self, size: int) -> float:
        """Return the largest ratio of the likelihoods of a published value for two true values."""
        # The likelihoods of the farthest two values differ by the factor e for each `scale` between them.
        return float(np.exp((size - 1) / self.in_steps))

    def found(self, groups: Sequence[IntArray]) -> float:
        """Return the expected number of people who are traced, given the groups of entries of a register."""
        # # All groups are put on one line, so far apart that noise never leads from one to another; integers have any
        # size.
        apart = max(int(group[-1]) for group in groups) + int(80 * self.in_steps) + 1
        steps = np.concatenate([number * apart + group.astype(object) for number, group in enumerate(groups)])
        return self.vulnerability(np.ones(len(steps)), steps)


@dataclass(frozen=True)
class Laplace(_TwoSided):
    """Laplace noise.

    Parameters
    ----------
    scale : float
        Sensitivity / epsilon, in the unit of the attribute; above 0.
    step : float
        The step of the public domain, in the same unit; above 0.
    """

    name = "Laplace noise"

    def _guessed(self, envelopes: _Envelopes) -> float:
        # # The result is never above that of geometric noise of the same scale, which is at least as informative.
        left, right, gaps, turn = envelopes
        before = np.clip(turn, 0, gaps)
        inside = left[:-1] * self._within(before) + right[1:] * self._within(gaps - before)
        return float((inside.sum() + right[0] + left[-1]) / 2)

    def cumulative(self, noise: Any) -> Array:
        """Return the probability that the noise is at most this number."""
        tail = np.exp(-np.abs(noise) / self.scale) / 2
        return np.where(np.asarray(noise) < 0, tail, 1 - tail)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return 2 * self.scale**2

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        return float(1 + (size - 1) * -np.expm1(-1 / (2 * self.in_steps)))


@dataclass(frozen=True)
class Geometric(_TwoSided):
    """Two-sided geometric noise.

    Parameters
    ----------
    scale : float
        Sensitivity / epsilon, in the unit of the attribute; above 0.
    step : float
        The step of the public domain, in the same unit; above 0.
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
        """Return the probability that the noise is at most this number."""
        steps, decay = np.floor(np.asarray(noise) / self.step + ROUNDING), np.exp(-1 / self.in_steps)
        return np.where(steps < 0, decay ** np.abs(steps), 1 + decay - decay ** (steps + 1)) / (1 + decay)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        decay = np.exp(-1 / self.in_steps)
        return float(2 * decay / (1 - decay) ** 2) * self.step**2

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        return float(1 + (size - 1) * np.tanh(1 / (2 * self.in_steps)))


class _Envelopes(NamedTuple):
    """The most likely explanations of a noisy number by a value on its left and by a value on its right.

    `left` and `right`, two arrays (m,): for each value with a positive probability, the largest probability on its left
    or on its right, after a decay over the distance to the value. `gaps` (m - 1,): the distances between neighbors.
    `turn` (m - 1,): the distance into each gap up to which the left probability is larger.
    """

    left: FloatArray
    right: FloatArray
    gaps: FloatArray
    turn: FloatArray

    @classmethod
    def of(cls, prior: Array, scale: float, steps: Array) -> _Envelopes:
        """Return the envelopes of probabilities `prior` (m,) of the increasing whole numbers `steps` (m,)."""
        prior, steps = np.asarray(prior, dtype=float), np.asarray(steps)
        prior, steps = prior[prior > 0], steps[prior > 0]
        gaps = np.diff(steps).astype(float)
        decays = np.exp(-gaps / scale)
        left, right = _from_left(prior, decays), _from_left(prior[::-1], decays[::-1])[::-1]
        return cls(left, right, gaps, (gaps + scale * np.log(left[:-1] / right[1:])) / 2)


def _from_left(values: FloatArray, decays: FloatArray) -> FloatArray:
    pairs = zip(values[1:].tolist(), decays.tolist(), strict=True)
    return np.array(list(accumulate(pairs, lambda far, near: max(near[0], far * near[1]), initial=values[0])))


Size = Annotated[int, at_least(2)]  # the number of values of a domain


class Symmetric(Law):
    """A law that keeps each of `size` values with probability `true`, or replaces it with any other value.

    All other values are equally likely.

    The matrix is the gamma-diagonal matrix, which includes randomized response and uniform retention replacement.
    """

    size: Any  # parameters or properties of each subclass
    true: Any

    @property
    def other(self) -> float:
        """The probability of each single other value."""
        return (1 - self.true) / max(self.size - 1, 1)

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """Return the posterior vulnerability of a cell for these prior shares."""
        # # An adversary believes a cell if its value is more likely than a change of the most common value into it.
        prior = np.asarray(prior, dtype=float)
        believed = np.maximum(prior * self.true, prior.max() * self.other).sum()
        return float(believed + (self.size - len(prior)) * prior.max() * self.other)

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        return float(self.size * self.true)

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        with np.errstate(divide="ignore"):
            return np.where(np.rint(seen) == true, 0.0, np.log(self.true) - np.log(self.other))

    def transition(self, size: int) -> FloatArray:
        """Return the Markov matrix: one row per true value."""
        if self.size > MAX_MATRIX_VALUES:
            raise Unreadable(
                f"{self}: its matrix has {self.size:,} values; at most {MAX_MATRIX_VALUES:,} are written out."
            )
        return np.full((self.size, self.size), self.other) + (self.true - self.other) * np.eye(self.size)

    def amplification(self, size: int) -> float:
        """Return the largest ratio of the likelihoods of a published value for two true values."""
        return float(self.true / self.other) if self.other > 0 else np.inf

    def found(self, groups: Sequence[IntArray]) -> float:
        """Return the expected number of people who are traced, given the groups of entries of a register."""
        people = sum(map(len, groups))
        others = len(groups) * self.size - people
        return people * self.true + others * self.other


@dataclass(frozen=True)
class Diagonal(Validated, Symmetric):
    """The gamma-diagonal matrix over `size` values: each value is kept with probability `true`.

    All other values are equally likely.

    Parameters
    ----------
    true : float
        The probability of keeping a value, from 1 / size to 1.
    size : int
        The number of values, at least 2.
    name : str
        The name of the mechanism.
    together : Jointly, optional
        The columns that are drawn together, if there are several.
    """

    true: Share
    size: Size
    name: str = "gamma-diagonal matrix"
    together: Jointly | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.true < (1 - ROUNDING) / self.size:
            raise UsageError(f"`true` must be at least 1 / size, {1 / self.size:g}; got {self.true:g}.")

    def __str__(self) -> str:
        with_others = f", drawn together with {', '.join(self.together.names)}" if self.together else ""
        return f"{self.name}, {self.size} values, each true one published with {self.true:.4g}{with_others}"

    @classmethod
    def of_gamma(cls, gamma: float, size: int, **more: Any) -> Diagonal:
        """Return the matrix with an amplification of `gamma`, above 1: the diagonal is gamma / (gamma + size - 1).

        >>> round(Diagonal.of_gamma(19, 12).true * 30, 9)
        19.0
        """
        return cls(gamma / (gamma + size - 1), size, **more)

    def marginal(self, size: int, **more: Any) -> Diagonal:
        """Return the law of one or several of the attributes, which together have `size` possible values.

        The remaining attributes are summed over. With x = 1 / (gamma + n - 1) for n joint values of all attributes, the
        diagonal is (gamma + n / size - 1) x, and each other entry is (n / size) x.

        Source: Agrawal and Haritsa, ICDE 2005, section 5 (frequent itemsets).
        """
        return Diagonal(self.true + (self.size / size - 1) * self.other, size, **more)


@dataclass(frozen=True)
class Response(Validated, Symmetric):
    """Randomized response over `size` categories.

    Parameters
    ----------
    epsilon : float
        The epsilon of the mechanism, above 0.
    size : int
        The number of values, at least 2.
    """

    epsilon: Positive
    size: Size

    def __str__(self) -> str:
        return f"randomized response, {self.size} values, each true one kept with {self.true:.4g}"

    @property
    def true(self) -> float:
        """The probability of keeping a value."""
        return keep_probability(self.size, self.epsilon)


@dataclass(frozen=True)
class Transition(Validated, Law):
    """A law that is given by any Markov matrix.

    Parameters
    ----------
    matrix : tuple of tuple of float, (size, size)
        Row u lists the probability that each value is published for the true value u.
    name : str
        The name of the mechanism.
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
        """Return the posterior vulnerability of a cell for these prior shares."""
        return float((np.asarray(prior, dtype=float)[:, np.newaxis] * self._array[positions]).max(axis=0).sum())

    def capacity(self, size: int) -> float:
        """Return the multiplicative capacity of a cell."""
        return float(self._array.max(axis=0).sum())

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        with np.errstate(divide="ignore"):
            return -np.log(self._array)[true, np.rint(seen).astype(np.int64)]

    def transition(self, size: int) -> FloatArray:
        """Return the Markov matrix: one row per true value."""
        return self._array.copy()

    def amplification(self, size: int) -> float:
        """Return the largest ratio of the likelihoods of a published value for two true values."""
        return amplification_of(self._array)


@dataclass(frozen=True)
class Part(Validated, Law):
    """The law of one of several columns that are drawn together by a matrix over their joint domain.

    The information in the cells of a part depends on the distribution of the other columns, and therefore has no closed
    form.
    """

    together: Jointly

    def __str__(self) -> str:
        return f"{self.together.law}, drawn together for {', '.join(self.together.names)}"
