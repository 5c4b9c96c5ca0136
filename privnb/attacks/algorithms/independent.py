"""Independent components of released rows, and the assignment of components to the numbers of a record.

Rows are records. The decomposition is scikit-learn's FastICA.

Source: Hyvarinen and Oja, "Independent Component Analysis: Algorithms and Applications", Neural Networks 13, 2000;
Aggarwal and Yu 2008, sections 7.5.2 and 15.4.3.
"""

import warnings
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.unmixing import Map, quantile_distance, span_basis
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError

READ = 20_000  # maximum number of rows that are decomposed; rows are in random order


class Components(NamedTuple):
    """The mean of the rows, the matrix that turns centered rows into components, and the standardized components."""

    mean: FloatArray
    unmixing: FloatArray
    sources: FloatArray


def find_components(rows: FloatArray) -> Components:
    """Return the independent components of `rows`, float array (n, d), in arbitrary order and with arbitrary signs.

    Raises ValueError if the rows do not vary in all d directions.
    """
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    rows = rows[:READ]
    mean, size = rows.mean(axis=0), rows.shape[1]
    if (varies := span_basis(rows - mean).shape[1]) < size:
        raise UsageError(f"the rows must vary in {size} directions; got rows that vary in {varies} directions.")
    search = FastICA(whiten="unit-variance", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a search that nearly converges is good enough
        search.fit(rows)
    sources = (rows - mean) @ search.components_.T
    deviations = sources.std(axis=0)
    return Components(mean, search.components_.T / deviations, sources / deviations)


def align(sources: FloatArray, standards: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the assignment of one source and one sign to each standard that minimizes the total distance.

    The distance between a source and a standard is the distance between their quantiles, with the better of both signs.

    Parameters
    ----------
    sources, standards : float array (n, d), (p, d)
        Columns with mean 0 and unit variance.

    Returns
    -------
    places, signs : arrays (d,)
        The source and the sign of each standard, so that `sources[:, places] * signs` has the order of the standards.
    """
    from scipy.optimize import linear_sum_assignment

    apart = np.array(
        [[[quantile_distance(own, sign * one) for sign in (1, -1)] for one in sources.T] for own in standards.T]
    )
    places = linear_sum_assignment(apart.min(axis=2))[1]
    turned = apart[np.arange(len(places)), places]
    return places, np.where(turned[:, 0] <= turned[:, 1], 1.0, -1.0)


def match_by_columns(rows: FloatArray) -> Map:
    """Return the map from rows to guesses in which the guess of each column is the most correlated component.

    The assignment of components to columns maximizes the total absolute correlation. Each component is scaled to the
    mean and the standard deviation of its column.

    `rows`: float array (n, d).
    """
    from scipy.optimize import linear_sum_assignment

    found = find_components(rows)
    together = np.corrcoef(rows[:READ].T, found.sources.T)[: rows.shape[1], rows.shape[1] :]
    places = linear_sum_assignment(-np.abs(together))[1]
    signs = np.sign(together[np.arange(len(places)), places])
    return Map(found.mean, found.mean, found.unmixing[:, places] * signs * rows[:READ].std(axis=0))


def match_by_distributions(rows: FloatArray, values: FloatArray) -> Map:
    """Return the map from rows to guesses that assigns to each attribute the component with the nearest distribution.

    `rows`: float array (n, d); `values`: float array (p, d), whose columns are samples of the distributions of the
    attributes.
    """
    found, mean, deviation = find_components(rows), values.mean(axis=0), values.std(axis=0)
    if not deviation.all():
        raise UsageError("a component must vary; got a component whose values are all equal.")
    places, signs = align(found.sources, (values - mean) / deviation)
    return Map(found.mean, mean, found.unmixing[:, places] * signs * deviation)


def match_by_sample(rows: FloatArray, sample: FloatArray) -> Map:
    """Return the map from rows to guesses that combines the components of the rows as in a sample.

    Each component of the rows is matched with the component of the sample that has the most similar distribution.

    `rows`, `sample`: float arrays (n, d), (p, d).
    """
    found, own = find_components(rows), find_components(sample)
    places, signs = align(found.sources, own.sources)
    return Map(found.mean, own.mean, found.unmixing[:, places] * signs @ np.linalg.inv(own.unmixing))
