"""Noise removal number by number, by the distribution that each column had before the noise.

The domain is cut into bins, given by their `edges`, float array (bins + 1,). A likelihood, float array (n, bins), says
how likely the noise moves a number from each bin to each of n noisy ones.

Source: Agrawal and Aggarwal, "On the Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS 2001
(reconstruction by expectation maximization); Aggarwal and Yu 2008, sections 6.2.2, 15.3.5 and 15.3.6.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.likeliest import expectation_maximized
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.release import Published
from privnb.microdata.schema import Numbers
from privnb.microdata.treatment import Law, of_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.tolerances import EXACT

BINS = 200  # at most: of wider domains each holds several steps
ROUNDS, SETTLED = 500, 1e-3  # the most rounds, and the change of all shares in one round that ends them
READ = 20_000  # rows that a distribution is reconstructed from, at most: they stand in random order
CHUNK = 2**22  # cells of a table of likelihoods at a time


class NoisyColumn(NamedTuple):
    """The law of the noise in a column, the edges of its bins, float array (bins + 1,), and the share of the originals
    in each, float array (bins,).
    """

    law: Law
    edges: FloatArray
    shares: FloatArray


class ByColumn(NoiseRemoval[list[NoisyColumn]]):
    """A `NoiseRemoval` that reconstructs how each column was distributed, and looks at each noisy number by itself."""

    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> list[NoisyColumn]:
        found = []
        for (name, law), column in zip(laws.items(), rows.T, strict=True):
            edges = edges_of(published.schema[name].numbers)
            with of_column(name):
                shares = reconstructed(likelihoods(law.cumulative, column[:READ], edges))
            found.append(NoisyColumn(law, edges, shares))
        return found

    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        columns = zip(rows.T, self.learned.solution, strict=True)
        return np.column_stack([self._in_parts(numbers, *of) for numbers, of in columns])

    def _in_parts(self, column: FloatArray, law: Law, edges: FloatArray, shares: FloatArray) -> FloatArray:
        step, middles = max(1, CHUNK // len(shares)), (edges[1:] + edges[:-1]) / 2
        parts = np.split(column, range(step, len(column), step))
        return np.concatenate(
            [self._guess(likelihoods(law.cumulative, each, edges), shares, middles) for each in parts]
        )

    @abstractmethod
    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        """Return the guess of each number, float array (n,).

        By how likely each bin makes it, float array (n, bins), and the share and the middle of each bin, (bins,).
        """


def edges_of(domain: Numbers) -> FloatArray:
    """Bins of a public domain of numbers, each of one step or as many as make no more than `BINS`: their edges."""
    return np.linspace(domain.low - domain.step / 2, domain.high + domain.step / 2, min(domain.steps + 1, BINS) + 1)


def likelihoods(cumulative: Callable[[FloatArray], FloatArray], noisy: FloatArray, edges: FloatArray) -> FloatArray:
    """How likely the noise moves a number from each bin to each noisy one: float array (n, bins).

    Parameters
    ----------
    cumulative : function
        How likely the noise is at most a number, of an array.
    noisy : float array (n,)
    edges : float array (bins + 1,)

    Returns
    -------
    float array (n, bins)
        As if the numbers of a bin were spread evenly in it, up to the bin's width.
    """
    at_most = cumulative(noisy[:, None] - edges)
    return np.maximum(at_most[:, :-1] - at_most[:, 1:], 0)


def reconstructed(likelihood: FloatArray) -> FloatArray:
    """The share of the originals in each bin that makes the noisy numbers likeliest: float array (bins,), sum 1.

    Of a noisy number that no bin explains nothing is learned.
    """
    explained = likelihood[likelihood.sum(axis=1) > 0]
    if not len(explained):
        return np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    found = expectation_maximized(np.ones(len(explained)), explained.T, steps=ROUNDS, ended=_settled)
    return found / found.sum()


def _settled(after: FloatArray, before: FloatArray) -> bool:
    return bool(np.abs(after - before).sum() < SETTLED)


def posterior(likelihood: FloatArray, shares: FloatArray) -> FloatArray:
    """How likely the original of each noisy number is in each bin: float array (n, bins), rows add up to 1.

    Where no bin explains the number, what is known without it.
    """
    joint = likelihood * shares
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), shares)


def left(likelihood: FloatArray, shares: FloatArray, edges: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """Between which numbers the original of each noisy one lies, where bins of a share below `least` are empty.

    Parameters
    ----------
    likelihood : float array (n, bins)
    shares : float array (bins,)
    edges : float array (bins + 1,)
    least : float

    Returns
    -------
    low, high : float array (n,)
        The ends of all bins that can be; the whole domain's, where none can.

    Source: Aggarwal and Yu 2008, section 15.3.6.

    >>> edges, halves = np.array([0.0, 1, 2, 3, 4, 5, 6]), np.array([0.5, 0, 0, 0, 0, 0.5])
    >>> uniform = likelihoods(lambda noise: np.clip(noise / 2 + 0.5, 0, 1), np.array([1.0]), edges)
    >>> [float(end[0]) for end in left(uniform, np.full(6, 1 / 6), edges, 0.01)]
    [0.0, 2.0]
    >>> [float(end[0]) for end in left(uniform, halves, edges, 0.01)]
    [0.0, 1.0]
    """
    can = (likelihood > EXACT) & (shares >= least)
    can |= ~can.any(axis=1, keepdims=True)
    first, last = can.argmax(axis=1), can.shape[1] - 1 - can[:, ::-1].argmax(axis=1)
    return edges[first], edges[last + 1]
