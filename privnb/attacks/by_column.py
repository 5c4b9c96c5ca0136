"""What the attacks have in common that read each noisy column by itself, by the distribution that it had before."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.deconvolution import edges_of, likelihoods, reconstructed
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.release import Published
from privnb.microdata.treatment import Law, of_column
from privnb.runtime.arrays import FloatArray

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
        return np.column_stack([guesses for guesses, *_ in self._guessed(rows)])

    def _guessed(self, rows: FloatArray) -> list[list[FloatArray]]:
        """Return what `_of_column` gives of all numbers of each column: arrays (n,)."""
        return [self._in_parts(numbers, *of) for numbers, of in zip(rows.T, self.learned.solution, strict=True)]

    def _in_parts(self, column: FloatArray, law: Law, edges: FloatArray, shares: FloatArray) -> list[FloatArray]:
        step = max(1, CHUNK // len(shares))
        parts = [
            self._of_column(likelihoods(law.cumulative, column[begin : begin + step], edges), edges, shares)
            for begin in range(0, len(column), step)
        ]
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    @abstractmethod
    def _of_column(self, likelihood: FloatArray, edges: FloatArray, shares: FloatArray) -> tuple[FloatArray, ...]:
        """Return the guesses, and whatever else is said of each number: a tuple of float arrays (n,)."""
