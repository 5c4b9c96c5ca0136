"""Filters that take noise off again: each is one matrix, made of covariances alone.

A released record y, float array (m,), becomes mean + (y - mean) @ filter. So a table of any length costs its covariance
and one product. Filters that keep directions look at columns in units of their noise's standard deviation, in which
noise that is drawn apart is alike in all directions.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, chapter 15.3; the papers stand at each.
"""

from collections.abc import Callable

import numpy as np

from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError

TINY = 1e-12  # of the largest eigenvalue: what is smaller is rounding


def moments(released: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean, float array (m,), and the sample covariance, (m, m), of n records, float array (n, m).

    Raises ValueError for fewer than two records: one does not vary.
    """
    if len(released) < 2:
        raise UsageError(f"a covariance needs two records or more, got {len(released)}.")
    mean = released.mean(axis=0)
    apart = released - mean
    return mean, apart.T @ apart / (len(released) - 1)


def noise_bounds(variance: float, ratio: float) -> tuple[float, float]:
    """Between which eigenvalues the covariance of a sample of pure noise lies, in the limit: (low, high).

    Parameters
    ----------
    variance : float
        Of the noise in each of m columns.
    ratio : float
        Records per column, n / m, at least 1.

    Returns
    -------
    low, high : float

    Source: Kargupta, Datta, Wang, Sivakumar, ICDM 2003 (the Marchenko-Pastur law). Erratum: section 15.3.2 of the book
    lost the root of the ratio.

    >>> noise_bounds(1, 4)
    (0.25, 2.25)
    """
    low, high = (float(variance * (1 + sign / np.sqrt(ratio)) ** 2) for sign in (-1, 1))
    return low, high


def most_noise(covariance: FloatArray, records: int) -> float:
    """The most variance that noise may have which is drawn apart in each column, alike in all.

    In no direction can noisy records vary less than their noise does: the least eigenvalue of their covariance is at
    least that of the noise (lemma 15.1), which has `noise_bounds`.

    Parameters
    ----------
    covariance : float array (m, m)
        Of the released records.
    records : int
        How many there are, more than m.

    Returns
    -------
    float
        Nearly the variance itself, where records hardly vary in some direction.

    Raises
    ------
    Unreadable
        Where some direction does not vary at all, as no noise in each column leaves it.

    Source: this package, of Aggarwal and Yu 2008, lemma 15.1 and section 15.3.2.

    >>> most_noise(np.diag([9.0, 4, 2, 1]), 16)
    4.0
    """
    least = np.linalg.eigvalsh(covariance)
    if least[0] <= TINY * least[-1]:
        raise Unreadable("the columns have a sum that does not vary: no noise was drawn apart in each of them.")
    return float(least[0] / noise_bounds(1, records / len(covariance))[0])


def spectral_filter(covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
    """Keep the directions that vary more than a sample of pure noise can.

    Parameters
    ----------
    covariance : float array (m, m)
        Of the released records.
    noise : float array (m, m)
        Covariance of the noise, of which only the variances are read: it is taken for drawn apart.
    records : int
        How many records were released; from m.

    Returns
    -------
    float array (m, m)

    Source: Kargupta, Datta, Wang, Sivakumar, "On the Privacy Preserving Properties of Random Data Perturbation
    Techniques", ICDM 2003.
    """
    _, most = noise_bounds(1, max(records / len(covariance), 1))
    return _projection(_scaled(covariance, noise), noise, lambda varies: varies > most)


def svd_filter(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Keep the directions that vary at least twice as much as the noise: half of that or more is the originals'.

    Parameters
    ----------
    covariance, noise : float array (m, m)
        As of `spectral_filter`.

    Returns
    -------
    float array (m, m)

    Source: Guo and Wu, "On the Use of Spectral Filtering for Privacy Preserving Data Mining", SAC 2006.
    """
    return _projection(_scaled(covariance, noise), noise, lambda varies: varies >= 2)


def pca_filter(covariance: FloatArray, noise: FloatArray, captured: float) -> FloatArray:
    """Keep the fewest directions of the estimated original covariance that hold the share `captured` of its variance.

    Parameters
    ----------
    covariance, noise : float array (m, m)
        Of the released records, and of the noise: their difference estimates that of the originals.
    captured : float
        Above 0, at most 1.

    Returns
    -------
    float array (m, m)

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005, section 5.
    """

    def fewest(varies: FloatArray) -> BoolArray:
        held = np.maximum(varies, 0)
        before = held.cumsum() - held  # of the directions that vary more: they are sorted
        return (held > TINY * held[:1]) & (before < captured * held.sum() - TINY)

    return _projection(_scaled(covariance - noise, noise), noise, fewest)


def gaussian_filter(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """The likeliest original of each record, if records and noise are Gaussian; the mean, if they are not, of all
    straight-line guesses the one of least squared error.

    Parameters
    ----------
    covariance, noise : float array (m, m)
        As of `pca_filter`. What would be a negative variance of the originals is taken for 0.

    Returns
    -------
    float array (m, m)

    Source: Huang, Du, Chen, SIGMOD 2005, section 6 (Bayes estimate).
    """
    scale = _scale(noise)
    varies, directions = np.linalg.eigh(_scaled(covariance - noise, noise))
    prior = (directions * np.maximum(varies, 0)) @ directions.T
    return gaussian_posterior(prior * np.outer(scale, scale), noise)[0]


def gaussian_posterior(prior: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What a Gaussian record with Gaussian noise tells of the record.

    Parameters
    ----------
    prior, noise : float array (m, m)
        Covariances of the originals and of the noise; either may be singular.

    Returns
    -------
    filter : float array (m, m)
    covariance : float array (m, m)
        Of the original around the guess.

    >>> filter, left = gaussian_posterior(np.array([[2.0, 1], [1, 2]]), np.eye(2))
    >>> (np.array([3, 0]) @ filter).round(9).tolist(), left.round(9).tolist()
    ([1.875, 0.375], [[0.625, 0.125], [0.125, 0.625]])
    """
    scale = _scale(prior + noise)
    both = np.linalg.pinv((prior + noise) / np.outer(scale, scale), rcond=TINY, hermitian=True)
    weights = (both / np.outer(scale, scale)) @ prior
    return weights, prior - prior @ weights


def _scale(covariance: FloatArray) -> FloatArray:
    """The standard deviation of each column, 1 where it does not vary: float array (m,)."""
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    return np.where(deviations > 0, deviations, 1.0)


def _scaled(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """A covariance in units of the noise's standard deviation."""
    if (np.diag(noise) <= 0).any():
        raise UsageError(
            "the noise of a column has no variance, so there is nothing to take off. Leave the column out."
        )
    scale = _scale(noise)
    return covariance / np.outer(scale, scale)


def _projection(covariance: FloatArray, noise: FloatArray, kept: Callable[[FloatArray], BoolArray]) -> FloatArray:
    """Onto the eigenvectors that `kept(falling eigenvalues)` names, boolean array (m,); back in the columns' units."""
    varies, directions = np.linalg.eigh(covariance)
    some, scale = directions[:, ::-1][:, kept(varies[::-1])], _scale(noise)
    return (some @ some.T) / scale[:, None] * scale
