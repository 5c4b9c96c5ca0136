"""Filters that remove noise, each of which is a matrix that depends only on covariances.

A released record y, float array (m,), becomes mean + (y - mean) @ filter, so the guesses for a table of any length need
only the covariance of the table and one matrix product. Filters that select directions first divide each column by the
standard deviation of its noise, so that independent noise has the same variance in all directions.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, chapter 15.3; the docstring of each
function cites the paper of the filter.
"""

from collections.abc import Callable

import numpy as np

from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError

TINY = 1e-12  # share of the largest eigenvalue; smaller eigenvalues are rounding errors


def moments(released: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean, float array (m,), and the sample covariance, float array (m, m), of n records.

    Raises ValueError for fewer than two records.
    """
    if len(released) < 2:
        raise UsageError(f"`released` must have at least 2 records; got {len(released)}.")
    mean = released.mean(axis=0)
    apart = released - mean
    return mean, apart.T @ apart / (len(released) - 1)


def noise_bounds(variance: float, ratio: float) -> tuple[float, float]:
    """Return the asymptotic smallest and largest eigenvalue of the sample covariance of pure noise.

    Parameters
    ----------
    variance : float
        The variance of the noise in each of m columns.
    ratio : float
        The number of records per column, n / m, at least 1.

    Source: Kargupta, Datta, Wang, Sivakumar, ICDM 2003 (the Marchenko-Pastur law). Erratum: section 15.3.2 of the book
    omits the square root of the ratio.

    >>> noise_bounds(1, 4)
    (0.25, 2.25)
    """
    low, high = (float(variance * (1 + sign / np.sqrt(ratio)) ** 2) for sign in (-1, 1))
    return low, high


def largest_noise(covariance: FloatArray, records: int) -> float:
    """Return the largest possible variance of independent noise that has the same variance in all columns.

    Noisy records vary at least as much as their noise in every direction. The smallest eigenvalue of the covariance of
    the records is therefore at least the smallest eigenvalue of the covariance of the noise (lemma 15.1), which
    `noise_bounds` returns. If the originals hardly vary in some direction, the result is close to the variance of the
    noise.

    Parameters
    ----------
    covariance : float array (m, m)
        The covariance of the released records.
    records : int
        The number of records, more than m.

    Raises
    ------
    Unreadable
        If the records do not vary at all in some direction, which is impossible if each column has independent noise.

    Source: this package, based on Aggarwal and Yu 2008, lemma 15.1 and section 15.3.2.

    >>> largest_noise(np.diag([9.0, 4, 2, 1]), 16)
    4.0
    """
    least = np.linalg.eigvalsh(covariance)
    if least[0] <= TINY * least[-1]:
        raise Unreadable("the columns must have independent noise; got columns of which one combination is constant.")
    return float(least[0] / noise_bounds(1, records / len(covariance))[0])


def spectral_filter(covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
    """Return the filter (m, m) that keeps the directions in which the records vary more than pure noise can.

    Parameters
    ----------
    covariance : float array (m, m)
        The covariance of the released records.
    noise : float array (m, m)
        The covariance of the noise. The filter uses only the variances in this matrix, because it treats the noise in
        different columns as independent.
    records : int
        The number of released records, at least m.

    Source: Kargupta, Datta, Wang, Sivakumar, "On the Privacy Preserving Properties of Random Data Perturbation
    Techniques", ICDM 2003.
    """
    _, most = noise_bounds(1, max(records / len(covariance), 1))
    return _projection(_scaled(covariance, noise), noise, lambda varies: varies > most)


def svd_filter(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the filter (m, m) that keeps the directions in which the records vary at least twice as much as the noise.

    In these directions, the originals account for at least half of the variance of the records. `covariance`, `noise`:
    float arrays (m, m), the covariances of the released records and of the noise.

    Source: Guo and Wu, "On the Use of Spectral Filtering for Privacy Preserving Data Mining", SAC 2006.
    """
    return _projection(_scaled(covariance, noise), noise, lambda varies: varies >= 2)


def pca_filter(covariance: FloatArray, noise: FloatArray, captured: float) -> FloatArray:
    """Return the filter (m, m) that keeps the directions in which the originals vary most.

    The filter keeps the smallest number of directions that together contain the share `captured` of the originals'
    variance.

    Parameters
    ----------
    covariance, noise : float array (m, m)
        The covariances of the released records and of the noise. The difference between the two covariances estimates
        the covariance of the originals.
    captured : float
        The share of the variance that the kept directions contain, above 0 and at most 1.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005, section 5.
    """

    def main_directions(varies: FloatArray) -> BoolArray:
        held = np.maximum(varies, 0)
        before = held.cumsum() - held  # the variance held by the directions that vary more, which come first
        return (held > TINY * held[:1]) & (before < captured * held.sum() - TINY)

    return _projection(_scaled(covariance - noise, noise), noise, main_directions)


def gaussian_filter(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the filter (m, m) whose guesses have the smallest squared error of all linear guesses.

    For Gaussian records and noise, the filter gives the most likely original of each record.

    Parameters
    ----------
    covariance, noise : float array (m, m)
        The covariances of the released records and of the noise. The covariance of the originals is estimated by the
        difference between the two covariances; in a direction in which this estimate has a negative variance, the
        filter uses the variance 0.

    Source: Huang, Du, Chen, SIGMOD 2005, section 6 (Bayes estimate).
    """
    scale = _scale(noise)
    varies, directions = np.linalg.eigh(_scaled(covariance - noise, noise))
    prior = (directions * np.maximum(varies, 0)) @ directions.T
    return gaussian_posterior(prior * np.outer(scale, scale), noise)[0]


def gaussian_posterior(prior: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the filter for a Gaussian record with Gaussian noise, and the posterior covariance of the record.

    Parameters
    ----------
    prior, noise : float array (m, m)
        The covariances of the originals and of the noise; each of the two may be singular.

    Returns
    -------
    filter : float array (m, m)
    covariance : float array (m, m)
        The covariance of the original around the guess.

    >>> filter, left = gaussian_posterior(np.array([[2.0, 1], [1, 2]]), np.eye(2))
    >>> (np.array([3, 0]) @ filter).round(9).tolist(), left.round(9).tolist()
    ([1.875, 0.375], [[0.625, 0.125], [0.125, 0.625]])
    """
    scale = _scale(prior + noise)
    both = np.linalg.pinv((prior + noise) / np.outer(scale, scale), rcond=TINY, hermitian=True)
    weights = (both / np.outer(scale, scale)) @ prior
    return weights, prior - prior @ weights


def _scale(covariance: FloatArray) -> FloatArray:
    """Return the standard deviation of each column, or 1 for a column that does not vary: float array (m,)."""
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    return np.where(deviations > 0, deviations, 1.0)


def _scaled(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Return a covariance in units of the standard deviation of the noise in each column."""
    if (np.diag(noise) <= 0).any():
        raise UsageError("the noise of each column must have a variance above 0. Leave out a column without noise.")
    scale = _scale(noise)
    return covariance / np.outer(scale, scale)


def _projection(covariance: FloatArray, noise: FloatArray, kept: Callable[[FloatArray], BoolArray]) -> FloatArray:
    """Return the projection onto the eigenvectors that the function `kept` selects from the descending eigenvalues."""
    varies, directions = np.linalg.eigh(covariance)
    some, scale = directions[:, ::-1][:, kept(varies[::-1])], _scale(noise)
    return (some @ some.T) / scale[:, None] * scale
