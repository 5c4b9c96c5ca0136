"""Points of which each column is spread evenly, arranged so that ranks go together as they should."""

import numpy as np
from scipy.special import ndtri

from privnb.runtime.arrays import Array, FloatArray
from privnb.sanitizers.algorithms.linear import root


def strata(size: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Points in the unit cube of which each column has one in each of `size` equal strata: float array (size, columns).

    Source: McKay, Beckman, Conover, Technometrics 21(2), 1979.
    """
    return (_shuffled(np.arange(size), columns, rng) + rng.random((size, columns))) / size


def arranged(points: FloatArray, correlation: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The points with each column in another order, in which the rank correlations come near `correlation` (d, d).

    The columns are ordered as normal scores are that have exactly these correlations. Of n points it takes more than
    there are columns.

    Source: Iman and Conover, Communications in Statistics B 11(3), 1982.
    """
    size, columns = points.shape
    scores = _shuffled(ndtri(np.arange(1, size + 1) / (size + 1)), columns, rng)
    # Shuffled columns go together by chance; that is taken off before what is wanted is put in.
    mixed = scores @ root(np.corrcoef(scores.T).reshape(columns, columns))[1] @ root(correlation)[0]
    ranks = mixed.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.take_along_axis(np.sort(points, axis=0), ranks, axis=0)


def _shuffled(values: Array, columns: int, rng: np.random.Generator) -> Array:
    return rng.permuted(np.tile(values[:, None], columns), axis=0)
