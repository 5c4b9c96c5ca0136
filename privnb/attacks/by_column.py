"""What the attacks have in common that read each noisy column by itself, by the distribution that it had before."""

from abc import abstractmethod

import numpy as np

from privnb.attacks.algorithms.deconvolution import edges_of, likelihoods, reconstructed
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.treatment import of_column

READ = 20_000  # rows that a distribution is reconstructed from, at most: they stand in random order
CHUNK = 2**22  # cells of a table of likelihoods at a time


class ByColumn(NoiseRemoval):
    """A `NoiseRemoval` that reconstructs how each column was distributed, and looks at each noisy number by itself."""

    def _without(self, rows, laws, published):
        edges = {name: edges_of(published.schema[name].domain) for name in laws}
        shares = {}
        for (name, law), column in zip(laws.items(), rows.T, strict=True):
            with of_column(name):
                shares[name] = reconstructed(likelihoods(law.cumulative, column[:READ], edges[name]))
        return {"_laws": laws, "_edges": edges, "_shares": shares}

    def _recovered(self, rows, rng):
        return np.column_stack([self._guessed(*each)[0] for each in self._known(rows)])

    def _known(self, rows):
        """Yield of each column the law, the noisy numbers, the edges of the bins and their shares."""
        for (name, law), column in zip(self._laws.items(), rows.T, strict=True):
            yield law, column, self._edges[name], self._shares[name]

    def _guessed(self, law, column, edges, shares):
        """What `_of_column` gives of all numbers of a column, so many at a time: arrays (n,)."""
        step = max(1, CHUNK // len(shares))
        parts = [
            self._of_column(likelihoods(law.cumulative, column[begin : begin + step], edges), edges, shares)
            for begin in range(0, len(column), step)
        ]
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    @abstractmethod
    def _of_column(self, likelihood, edges, shares):
        """The guesses, and whatever else is said of each number: a tuple of float arrays (n,)."""
