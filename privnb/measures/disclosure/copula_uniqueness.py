"""Uniqueness in a population by a Gaussian copula, the method of Rocher, Hendrickx and de Montjoye for samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from privnb.measures.disclosure.dependence import information_of_shares, mutual_informations
from privnb.microdata.counts import group_codes
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError

NODES = 24  # of the quadrature of a bivariate normal distribution
LARGEST = 0.99  # correlation: beyond, the quadrature is no longer exact
FAR = 40.0  # standard deviations: beyond, the density is 0
MOST_PEOPLE = 5_000_000  # that are drawn at once


@dataclass(frozen=True)
class GaussianCopula:
    """A distribution of discrete attributes, made of correlated normal variables that are cut into the values.

    Attributes
    ----------
    order : m integer arrays (values,)
        The codes of the values of each attribute, from the most to the least common value; the normal variable is cut
        in this order.
    edges : m float arrays (values + 1,)
        The cuts of each normal variable, from minus to plus infinity.
    correlation : float array (m, m)
    """

    order: Sequence[IntArray]
    edges: Sequence[FloatArray]
    correlation: FloatArray

    def draw(self, people: int, rng: np.random.Generator) -> list[IntArray]:
        """Draw people from the distribution, and return the codes of their values: m integer arrays (people,)."""
        normal = rng.standard_normal((people, len(self.edges))) @ np.linalg.cholesky(self.correlation).T
        cut = (np.searchsorted(edges[1:-1], normal[:, c]) for c, edges in enumerate(self.edges))
        return [order[place] for order, place in zip(self.order, cut, strict=True)]

    def cell_probabilities(self, columns: Sequence[IntArray], rng: np.random.Generator, draws: int = 64) -> FloatArray:
        """Return the probability of each row's combination of values, as a float array (n,).

        Each normal variable is drawn between the two cuts of the row's value, given the variables before it (the method
        of Geweke, Hajivassiliou and Keane). The result is the mean, over the draws, of the product of the probabilities
        of all variables.
        """
        from scipy.special import ndtr, ndtri

        lower = np.linalg.cholesky(self.correlation)
        n, m = len(columns[0]), len(columns)
        drawn, chance = np.zeros((m, draws, n)), np.ones((draws, n))
        for c, (order, edges) in enumerate(zip(self.order, self.edges, strict=True)):
            place = np.argsort(order)[columns[c]]
            before = np.tensordot(lower[c, :c], drawn[:c], axes=1)
            low, high = (ndtr((edges[place + side] - before) / lower[c, c]) for side in (0, 1))
            chance *= high - low
            inside = low + rng.random((draws, n)) * (high - low)
            drawn[c] = ndtri(np.clip(inside, 1e-300, 1 - 1e-16))
        return chance.mean(axis=0)


def fit_copula(columns: Sequence[IntArray], times: IntArray | None = None) -> GaussianCopula:
    """Fit a Gaussian copula to a table, by the shares of the values and the mutual information of the columns.

    The correlation of each pair of variables is at least 0. With this correlation, the two cut variables have the
    mutual information of the two columns, corrected for the size of the sample. Afterwards, negative eigenvalues of the
    correlation matrix are replaced by a value close to 0.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.

    Source: Rocher, Hendrickx and de Montjoye, "Estimating the success of re-identifications in incomplete datasets
    using generative models", Nature Communications 10:3069, 2019, Methods.

    Examples
    --------
    >>> codes = np.arange(4000) % 4
    >>> fit_copula([codes // 2, codes % 2]).correlation.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.special import ndtri

    counts = [np.bincount(codes, times) for codes in columns]
    order = [np.argsort(-each, kind="stable") for each in counts]
    shares = [each[own] / each.sum() for each, own in zip(counts, order, strict=True)]
    edges = [ndtri(np.concatenate([[0.0], np.minimum(np.cumsum(each[:-1]), 1.0), [1.0]])) for each in shares]
    information, correlation = mutual_informations(columns, times), np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        correlation[i, j] = correlation[j, i] = _fit_correlation(edges[i], edges[j], information[i, j])
    values, vectors = np.linalg.eigh(correlation)
    valid = vectors @ np.diag(np.maximum(values, 1e-6)) @ vectors.T
    scale = np.sqrt(np.diag(valid))
    return GaussianCopula(order, edges, valid / np.outer(scale, scale))


def copula_uniqueness(
    columns: Sequence[IntArray], fraction: float, times: IntArray | None = None, *, rng: int | np.random.Generator = 1
) -> float:
    """Return the share of unique people in a population, estimated by a Gaussian copula fitted to a sample.

    The function draws a population of N = n / f people from the copula, and counts the people who are unique in this
    population.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    fraction : float
        The share f of the population that is in the sample, above 0 and at most 1.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.
    rng : int or Generator

    Returns
    -------
    float
        The estimated share, from 0 to 1; lower protects more.

    Raises
    ------
    ValueError
        If the population has more than `MOST_PEOPLE` people. In this case, use `likelihood_of_uniqueness` for the
        people of interest.

    Source: Rocher, Hendrickx and de Montjoye, Nature Communications 10:3069, 2019, equation 2.

    Examples
    --------
    >>> everybody = [np.arange(1000) % 100, np.arange(1000) // 100]
    >>> 0.3 < copula_uniqueness(everybody, 1.0) < 0.4  # 1,000 people in 1,000 equally likely cells: 1 / e
    True
    """
    n = len(columns[0]) if times is None else int(times.sum())
    people = round(n / fraction)
    if people > MOST_PEOPLE:
        raise UsageError(
            f"`fraction` must leave a population of at most {MOST_PEOPLE:,} people; got {people:,}. Use "
            "`likelihood_of_uniqueness` for the people of interest."
        )
    drawn = fit_copula(columns, times).draw(people, np.random.default_rng(rng))
    _, group = group_codes(drawn, [int(codes.max(initial=0)) + 1 for codes in drawn])
    return float((np.bincount(group) == 1).sum() / people)


def likelihood_of_uniqueness(
    copula: GaussianCopula, columns: Sequence[IntArray], population: int, *, rng: int | np.random.Generator = 1
) -> FloatArray:
    """Return the likelihood that each person is unique in a population, as a float array (n,); lower protects more.

    If p is the probability of the person's combination of values, the likelihood that nobody else has this combination
    is (1 - p)^(N - 1). The result is from 0 to 1.

    Parameters
    ----------
    copula : GaussianCopula
        See `fit_copula`.
    columns : m integer arrays (n,)
        The codes of each quasi-identifier, with the same meaning as in `fit_copula`.
    population : int
        The number N of people in the population, at least 1.
    rng : int or Generator

    Source: Rocher, Hendrickx and de Montjoye, Nature Communications 10:3069, 2019, equation 1. The authors average p
    over random orders of the values; this function uses only the order of `fit_copula`.

    Examples
    --------
    >>> codes = np.arange(4000) % 4
    >>> both = [codes // 2, codes % 2]
    >>> likelihood_of_uniqueness(fit_copula(both), [each[:1] for each in both], 2).round(3).tolist()
    [0.75]
    """
    expect.whole("population", population, 1)
    chance = copula.cell_probabilities(columns, np.random.default_rng(rng))
    return np.exp((population - 1) * np.log1p(-np.minimum(chance, 1 - 1e-12)))


def _fit_correlation(first: FloatArray, second: FloatArray, information: float) -> float:
    """Return the correlation, at least 0, with which two cut normal variables have this mutual information."""
    from scipy.optimize import brentq

    def excess(correlation: float) -> float:
        return information_of_shares(cut_shares(first, second, correlation)) - information

    if information <= 1e-5:  # the authors' tolerance
        return 0.0
    return LARGEST if excess(LARGEST) <= 0 else float(brentq(excess, 0.0, LARGEST, xtol=1e-4))


def cut_shares(first: FloatArray, second: FloatArray, correlation: float) -> FloatArray:
    """Return the probability of each cell if two correlated normal variables are cut at `first` and at `second`.

    `first`, `second`: float arrays (r + 1,), (c + 1,). The distribution function is the product of both margins plus an
    integral over the angle of the correlation (Plackett 1954), which is computed by Gauss-Legendre quadrature. The
    result is a float array (r, c).

    >>> cut_shares(np.array([-np.inf, 0, np.inf]), np.array([-np.inf, 0, np.inf]), 0.5).round(4).tolist()
    [[0.3333, 0.1667], [0.1667, 0.3333]]
    """
    from scipy.special import ndtr

    below = np.outer(ndtr(first), ndtr(second))
    x, y = (np.clip(edges[1:-1], -FAR, FAR) for edges in (first, second))
    x, y = x[:, None, None], y[None, :, None]
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angle = np.arcsin(correlation) / 2
    sine = np.sin(angle * (nodes + 1))
    density = np.exp(-(x**2 + y**2 - 2 * x * y * sine) / (2 * (1 - sine**2)))
    below[1:-1, 1:-1] += angle / (2 * np.pi) * density @ weights
    return np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0)
