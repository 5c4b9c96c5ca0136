"""Independent components of released rows, and which of them is which number of a record.

Rows are records. The decomposition is scikit-learn's FastICA.

Source: Hyvarinen and Oja, "Independent Component Analysis: Algorithms and Applications", Neural Networks 13, 2000;
Aggarwal and Yu 2008, sections 7.5.2 and 15.4.3.
"""

import warnings
from typing import NamedTuple

import numpy as np

from privnb.attacks.algorithms.unmixing import Map, quantile_distance, spanned
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError

READ = 20_000  # rows that components are found in, at most: they stand in random order


class Components(NamedTuple):
    """The mean of the rows, the matrix that makes components of what is left, and these, of unit variance each."""

    mean: FloatArray
    unmixing: FloatArray
    sources: FloatArray


def components(rows: FloatArray) -> Components:
    """The independent components of rows, float array (n, d), in no order and of either sign.

    Raises ValueError for rows that do not vary in all d directions.
    """
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    rows = rows[:READ]
    mean, size = rows.mean(axis=0), rows.shape[1]
    if (varies := spanned(rows - mean).shape[1]) < size:
        raise UsageError(f"the rows vary in {varies} of {size} directions.")
    search = FastICA(whiten="unit-variance", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near the end of the search it is as good
        search.fit(rows)
    sources = (rows - mean) @ search.components_.T
    deviations = sources.std(axis=0)
    return Components(mean, search.components_.T / deviations, sources / deviations)


def aligned(sources: FloatArray, standards: FloatArray) -> tuple[IntArray, FloatArray]:
    """Which source is which standard, and with which sign: integer array (d,), float array (d,).

    Each pair is as far apart as the quantiles of their distributions are, under the better sign; the sum is least.

    Parameters
    ----------
    sources, standards : float array (n, d), (p, d)
        Of mean 0 and unit variance each.

    Returns
    -------
    places, signs : arrays (d,)
        `sources[:, places] * signs` stand in the order of the standards.
    """
    from scipy.optimize import linear_sum_assignment

    apart = np.array(
        [[[quantile_distance(own, sign * one) for sign in (1, -1)] for one in sources.T] for own in standards.T]
    )
    places = linear_sum_assignment(apart.min(axis=2))[1]
    turned = apart[np.arange(len(places)), places]
    return places, np.where(turned[:, 0] <= turned[:, 1], 1.0, -1.0)


def by_columns(rows: FloatArray) -> Map:
    """The map that takes each component for the column that it goes with most, of its mean and deviation.

    Parameters
    ----------
    rows : float array (n, d)

    Returns
    -------
    Map
    """
    from scipy.optimize import linear_sum_assignment

    found = components(rows)
    together = np.corrcoef(rows[:READ].T, found.sources.T)[: rows.shape[1], rows.shape[1] :]
    places = linear_sum_assignment(-np.abs(together))[1]
    signs = np.sign(together[np.arange(len(places)), places])
    return Map(found.mean, found.mean, found.unmixing[:, places] * signs * rows[:READ].std(axis=0))


def by_distributions(rows: FloatArray, values: FloatArray) -> Map:
    """The map that takes each component for the number whose distribution it has.

    Parameters
    ----------
    rows : float array (n, d)
    values : float array (p, d)
        Each column by itself: how the number is distributed.

    Returns
    -------
    Map
    """
    found, mean, deviation = components(rows), values.mean(axis=0), values.std(axis=0)
    if not deviation.all():
        raise UsageError("a number whose values are all alike is no component.")
    places, signs = aligned(found.sources, (values - mean) / deviation)
    return Map(found.mean, mean, found.unmixing[:, places] * signs * deviation)


def by_sample(rows: FloatArray, sample: FloatArray) -> Map:
    """The map that takes each component of the rows for the one of a sample that is distributed as it is, and mixes
    them as those of the sample are mixed.

    Parameters
    ----------
    rows, sample : float array (n, d), (p, d)

    Returns
    -------
    Map
    """
    found, own = components(rows), components(sample)
    places, signs = aligned(found.sources, own.sources)
    return Map(found.mean, own.mean, found.unmixing[:, places] * signs @ np.linalg.inv(own.unmixing))
