"""Laws of columns whose cells are drawn from a matrix: how likely each value is published for each true one.

Rows are true values and add up to 1, as in PRAM. FRAPP writes the same matrix with columns for rows.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 2 and 3;
Aggarwal and Yu 2008, sections 3.3.6 and 10.2.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privnb.measures.noise.matrices import MOST, amplification_of, markov
from privnb.microdata.treatment import Jointly, Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.tolerances import ROUNDING

ROOM = 2**40  # a draw is a whole number below


def symmetric_vulnerability(prior, size, true, other):
    """The posterior vulnerability where every value is kept with `true` and becomes each other one with `other`.

    A cell is worth believing where it is likelier than the commonest value changed into it.

    Parameters
    ----------
    prior : array (m,)
        Probabilities of the values that occur.
    size : int
        Of the domain, from m.
    true, other : float
        `other` at most `true`.

    Returns
    -------
    float
        The largest entry of `prior` to its sum; lower protects more.
    """
    prior = np.asarray(prior, dtype=float)
    return float(np.maximum(prior * true, prior.max() * other).sum() + (size - len(prior)) * prior.max() * other)


def drawn(positions, matrix, rng):
    """The published position of each record, drawn from its row of a Markov matrix.

    Parameters
    ----------
    positions : integer array (n,)
        Of the true values.
    matrix : float array (size, size)
        As of `markov`.
    rng : int, Generator or None

    Returns
    -------
    integer array (n,)
    """
    # In whole numbers: sums of floats may differ in their last digit from one machine to another.
    ends = np.rint(np.cumsum(matrix, axis=1) * ROOM).astype(np.int64)
    ends[:, -1] = ROOM
    starts = np.arange(len(matrix)) * ROOM
    number = np.random.default_rng(rng).integers(0, ROOM, len(positions)) + starts[positions]
    return np.searchsorted((ends + starts[:, np.newaxis]).ravel(), number, side="right") - positions * len(matrix)


class Symmetric(Law):
    """A law under which each of `size` values is kept with probability `true` and becomes each other one alike.

    The gamma-diagonal matrix, which randomized response and uniform retention replacement are cases of.
    """

    @property
    def other(self):
        """The probability of each single other value."""
        return (1 - self.true) / max(self.size - 1, 1)

    def vulnerability(self, prior, positions):
        return symmetric_vulnerability(prior, self.size, self.true, self.other)

    def capacity(self, size):
        return float(self.size * self.true)

    def surprise(self, true, seen):
        with np.errstate(divide="ignore"):
            return np.where(np.rint(seen) == true, 0.0, np.log(self.true) - np.log(self.other))

    def transition(self, size):
        if self.size > MOST:
            raise Unreadable(f"{self}: a matrix of {self.size:,} values is not written out, at most {MOST:,}.")
        return np.full((self.size, self.size), self.other) + (self.true - self.other) * np.eye(self.size)

    def amplification(self, size):
        return float(self.true / self.other) if self.other > 0 else np.inf

    def found(self, groups):
        people = sum(map(len, groups))
        others = len(groups) * self.size - people
        return people * self.true + others * self.other


@dataclass(frozen=True)
class Diagonal(Symmetric):
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

    true: float
    size: int
    name: str = "gamma-diagonal matrix"
    together: Jointly | None = None

    def __post_init__(self):
        expect.whole("size", self.size, 2)
        expect.share("true", self.true)
        if self.true < (1 - ROUNDING) / self.size:
            raise ValueError(f"true must be at least 1 / size, {1 / self.size:g}, got {self.true:g}.")

    def __str__(self):
        with_others = f", drawn together with {', '.join(self.together.names)}" if self.together else ""
        return f"{self.name}, {self.size} values, each true one published with {self.true:.4g}{with_others}"

    @classmethod
    def of_gamma(cls, gamma, size, **more):
        """Of an amplification of `gamma`, above 1: the diagonal is gamma / (gamma + size - 1).

        >>> round(Diagonal.of_gamma(19, 12).true * 30, 9)
        19.0
        """
        return cls(gamma / (gamma + size - 1), size, **more)

    def marginal(self, size, **more):
        """What it is of one attribute, or some, of `size` of its joint values: their other parts are summed over.

        The diagonal is (gamma + n / size - 1) x and each other entry n / size x, with x = 1 / (gamma + n - 1).

        Source: Agrawal and Haritsa, ICDE 2005, section 5 (frequent itemsets).
        """
        return Diagonal(self.true + (self.size / size - 1) * self.other, size, **more)


@dataclass(frozen=True)
class Transition(Law):
    """Any Markov matrix.

    Parameters
    ----------
    matrix : tuple of tuple of float, (size, size)
        Row u says how likely each value is published for the true value u.
    name : str
        What the mechanism is called.
    """

    matrix: tuple[tuple[float, ...], ...]
    name: str = "Markov matrix"

    def __post_init__(self):
        markov("matrix", self.matrix)

    def __str__(self):
        kept = np.diag(self._array)
        shares = " to ".join(dict.fromkeys([f"{kept.min():.4g}", f"{kept.max():.4g}"]))
        return f"{self.name}, {len(kept)} values, each true one published with {shares}"

    @cached_property
    def _array(self):
        return np.array(self.matrix, dtype=float)

    def vulnerability(self, prior, positions):
        return float((np.asarray(prior, dtype=float)[:, np.newaxis] * self._array[positions]).max(axis=0).sum())

    def capacity(self, size):
        return float(self._array.max(axis=0).sum())

    def surprise(self, true, seen):
        with np.errstate(divide="ignore"):
            return -np.log(self._array)[true, np.rint(seen).astype(np.int64)]

    def transition(self, size):
        return self._array.copy()

    def amplification(self, size):
        return amplification_of(self._array)


@dataclass(frozen=True)
class Part(Law):
    """One column of several that a matrix over their joint domain draws together.

    What its own cells tell depends on how the other columns are spread, so that it has no closed form by itself.
    """

    together: Jointly

    def __str__(self):
        return f"{self.together.law}, drawn together for {', '.join(self.together.names)}"
