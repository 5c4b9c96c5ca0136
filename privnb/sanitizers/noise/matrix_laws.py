"""Laws of columns whose cells are drawn from a matrix: how likely each value is published for each true one.

Rows are true values and add up to 1, as in PRAM. FRAPP writes the same matrix with columns for rows.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 2 and 3;
Aggarwal and Yu 2008, sections 3.3.6 and 10.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from privnb.measures.noise.matrices import MOST, amplification_of, markov
from privnb.microdata.treatment import Jointly, Law, Unreadable
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Positive, Share, Validated, at_least
from privnb.sanitizers.noise.mechanisms import kept

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
            raise ValueError(f"true must be at least 1 / size, {1 / self.size:g}, got {self.true:g}.")

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
