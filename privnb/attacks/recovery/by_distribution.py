"""Noise removal for single numbers, by the distribution of each column before noise was added.

The public domain of a column is divided into bins with the `edges`, float array (bins + 1,). An array `likelihood`,
float array (n, bins), holds the probability that noise moves a number from each bin to each of n noisy numbers.

Source: Agrawal and Aggarwal, "On the Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS 2001
(reconstruction by expectation maximization); Aggarwal and Yu 2008, sections 6.2.2, 15.3.5 and 15.3.6.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.likeliest import maximize_expectation
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.release import Published
from privnb.microdata.schema import Numbers
from privnb.microdata.treatment import Law, name_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.tolerances import EXACT

BINS = 200  # maximum number of bins; in a domain with more steps, a bin holds several of them
ROUNDS, SETTLED = 500, 1e-3  # maximum number of rounds, and the total change of shares in one round that ends them
READ = 20_000  # maximum number of rows for the reconstruction of a distribution; rows are in random order
CHUNK = 2**22  # cells of a table of likelihoods that are computed at a time


class NoisyColumn(NamedTuple):
    """The law of a column's noise, the edges of the column's bins, and the share of originals in each bin."""

    law: Law
    edges: FloatArray
    shares: FloatArray


class ByColumn(NoiseRemoval[list[NoisyColumn]]):
    """A `NoiseRemoval` that reconstructs the distribution of each column and treats each noisy number separately."""

    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> list[NoisyColumn]:
        found = []
        for (name, law), column in zip(laws.items(), rows.T, strict=True):
            edges = edges_of(published.schema[name].numbers)
            with name_column(name):
                shares = reconstruct_shares(likelihoods(law.cumulative, column[:READ], edges))
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

        `likelihood`: float array (n, bins); `shares`, `middles`: the share of originals in each bin and the middle of
        each bin, float arrays (bins,).
        """


def edges_of(domain: Numbers) -> FloatArray:
    """Return the edges of the bins of a public domain; a bin is one step of the domain, or several of many steps."""
    return np.linspace(domain.low - domain.step / 2, domain.high + domain.step / 2, min(domain.steps + 1, BINS) + 1)


def likelihoods(cumulative: Callable[[FloatArray], FloatArray], noisy: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the likelihood that noise moves a number from each bin to each noisy number: float array (n, bins).

    The function assumes that the numbers in a bin are evenly spread. The likelihood is not divided by the width of the
    bins, which is a constant factor.

    Parameters
    ----------
    cumulative : function
        A function that returns, for an array of numbers, the probability that the noise is at most each number.
    noisy : float array (n,)
    edges : float array (bins + 1,)
    """
    at_most = cumulative(noisy[:, None] - edges)
    return np.maximum(at_most[:, :-1] - at_most[:, 1:], 0)


def reconstruct_shares(likelihood: FloatArray) -> FloatArray:
    """Return the most likely share of originals in each bin, given the noisy numbers, as a float array (bins,).

    The shares add up to 1. A noisy number is ignored if noise cannot move a number from any bin to it.
    """
    explained = likelihood[likelihood.sum(axis=1) > 0]
    if not len(explained):
        return np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    found = maximize_expectation(np.ones(len(explained)), explained.T, steps=ROUNDS, ended=_settled)
    return found / found.sum()


def _settled(after: FloatArray, before: FloatArray) -> bool:
    return bool(np.abs(after - before).sum() < SETTLED)


def posterior(likelihood: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the probability that the original of each noisy number is in each bin: float array (n, bins).

    If noise cannot move a number from any bin to a noisy number, the probabilities for this noisy number are the
    shares.
    """
    joint = likelihood * shares
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), shares)


def bound_originals(
    likelihood: FloatArray, shares: FloatArray, edges: FloatArray, least: float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the original of each noisy number, if bins with a share below `least` count as empty.

    Parameters
    ----------
    likelihood : float array (n, bins)
    shares : float array (bins,)
    edges : float array (bins + 1,)
    least : float

    Returns
    -------
    low, high : float array (n,)
        The lower end of the first possible bin and the upper end of the last possible bin; the ends of the whole domain
        if no bin is possible.

    Source: Aggarwal and Yu 2008, section 15.3.6.

    >>> edges, halves = np.array([0.0, 1, 2, 3, 4, 5, 6]), np.array([0.5, 0, 0, 0, 0, 0.5])
    >>> uniform = likelihoods(lambda noise: np.clip(noise / 2 + 0.5, 0, 1), np.array([1.0]), edges)
    >>> [float(end[0]) for end in bound_originals(uniform, np.full(6, 1 / 6), edges, 0.01)]
    [0.0, 2.0]
    >>> [float(end[0]) for end in bound_originals(uniform, halves, edges, 0.01)]
    [0.0, 1.0]
    """
    can = (likelihood > EXACT) & (shares >= least)
    can |= ~can.any(axis=1, keepdims=True)
    first, last = can.argmax(axis=1), can.shape[1] - 1 - can[:, ::-1].argmax(axis=1)
    return edges[first], edges[last + 1]
