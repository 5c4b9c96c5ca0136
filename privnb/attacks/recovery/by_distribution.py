"""Noise removal number by number, by the distribution that each column had before the noise."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.deconvolution import edges_of, likelihoods, posterior, reconstructed
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.release import Published
from privnb.microdata.treatment import Law, of_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share

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


@dataclass(frozen=True)
class EmpiricalMap(ByColumn):
    """Somebody who knows the law of the noise takes the likeliest value of each number, weighed by how common it is.

    How common values are in a column is reconstructed from all its noisy numbers; the guess is the middle of the bin
    that is likeliest. It supposes no bell, so that a few common values are found where noise is not far wider than
    they lie apart, and reads no other column.

    Source: Aggarwal and Yu 2008, section 15.3.5 (maximum a posteriori), with the prior of section 6.2.2 (Agrawal and
    Aggarwal, PODS 2001).
    """

    title = "MAP by each column's distribution"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        # Bins of equal chances must not be chosen by rounding.
        return middles[posterior(likelihood, shares).round(12).argmax(axis=1)]


@dataclass(frozen=True)
class DistributionAnalysis(ByColumn):
    """Somebody who knows how far noise can move a number crosses out what it cannot be.

    An original lies within the noise's reach of the noisy number, and where the reconstructed distribution has anybody.
    The guess is the mean of what is left. Noise without an end excludes nothing, so that it is for uniform noise and
    its like. People by themselves in a gap of the distribution are found.

    Parameters
    ----------
    empty : float
        A bin that holds less than this share of what it would if all were alike counts as empty: above 0, at most 1.
    noise : NoiseKnowledge
        As of `NoiseRemoval`.

    Source: Aggarwal and Yu 2008, section 15.3.6.
    """

    empty: Share = 0.1
    title = "distribution analysis"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        some = np.where(shares >= self.empty / len(shares), shares, 0)
        return posterior(likelihood, some / some.sum()) @ middles
