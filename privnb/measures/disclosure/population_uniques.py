"""Estimates of the share of unique people in a population, from the class sizes of a sample.

The arguments of each estimator are the number of people in each class of a simple random sample of n people, and the
share f of the population that is in the sample. The population has N = n / f people. Each estimator returns the
estimated share of people in the population who are unique by the attributes that define the classes, from 0 to 1; lower
protects more.

The best estimator depends on the table. ARX follows a rule of Dankar et al. 2012: Pitman's model is used if f is at
most 10%; otherwise, the smaller of the estimates by Zayatz and by the slide negative binomial model is used.

Source: Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data sets", BMC Medical
Informatics and Decision Making 12:66, 2012, for the comparison of the estimators.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privnb.measures.base import register_measure
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError

register_measure(
    "population_unique_share",
    kind="privacy",
    title="Unique people of the population",
    sentence="This is the estimated share of the people of a population who are unique by the quasi-identifiers, from "
    "a random sample of them.",
    source="Dankar, El Emam, Neisa and Roffey, BMC Medical Informatics and Decision Making 12:66, 2012",
    unit="share of people",
    baseline="the true share",
    readings={
        "sample": "This is the share of the people of the sample who are unique in the sample.",
        "zayatz": "The estimator is that of Zayatz 1991.",
        "pitman": "The estimator is Pitman's sampling formula, Hoshino 2001.",
        "negative binomial": "The estimator is the slide negative binomial model, Chen and Keller-McNulty 1998.",
        "poisson": "The estimator is a Poisson log-linear model, Elamir and Skinner 2006.",
        "copula": "The estimator is the Gaussian copula, Rocher, Hendrickx and de Montjoye 2019.",
    },
)


def zayatz_uniqueness(sizes: ArrayLike, fraction: float) -> float:
    """Return the share of unique people in a population, estimated from the classes of a sample by Zayatz's method.

    The sizes of the population's classes are assumed to have the same distribution as the sizes of the sample's
    classes. Exactly one person of a class of size j is in the sample with the hypergeometric probability h(j). A unique
    person in the sample is therefore unique in the population with the probability S1 h(1) / sum(Sj h(j)), where Sj is
    the number of classes of size j.

    Parameters
    ----------
    sizes : integer array (classes,)
        The number of people in each class of the sample, at least 1.
    fraction : float
        The share f of the population that is in the sample, above 0 and at most 1.

    Returns
    -------
    float
        The estimated share, S1^2 / sum(Sj h(j)) / N, from 0 to 1. Lower protects more.

    Raises
    ------
    ValueError
        If `sizes` or `fraction` is outside its range.

    Source: Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample",
    Statistical Research Division report 91/08, U.S. Bureau of the Census, 1991.

    Examples
    --------
    >>> round(zayatz_uniqueness([1, 1, 2], 0.5), 4)
    0.3182
    """
    from scipy.special import gammaln  # imported only if needed, because the import is slow

    classes, n, whole = _check_sample(sizes, fraction)
    size, number = np.unique(classes[classes <= whole - n + 1], return_counts=True)  # others show two people or more
    if 1 not in size:
        return 0.0
    # log of binomial(N - j, n - 1) / binomial(N, n)
    others = gammaln(whole - size + 1) - gammaln(whole - size - n + 2) - gammaln(n)
    one = size * np.exp(others - (gammaln(whole + 1) - gammaln(whole - n + 1) - gammaln(n + 1)))
    return float(number[0] ** 2 / (number * one).sum() / whole)


def pitman_uniqueness(sizes: ArrayLike, fraction: float) -> float:
    """Return the share of unique people in a population, estimated by Pitman's sampling formula fitted to a sample.

    In this model, people arrive one after another. If i people in u classes have arrived, the next person starts a new
    class with the probability (theta + u alpha) / (theta + i), and joins a class of j people with the probability (j -
    alpha) / (theta + i). The parameters theta and alpha are the maximum likelihood estimates from the sample.

    Parameters
    ----------
    sizes, fraction
        See `zayatz_uniqueness`.

    Returns
    -------
    float
        The expected share of unique people among N people, from 0 to 1. The share is Gamma(theta + 1) Gamma(theta +
        alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)), which is about Gamma(theta + 1) / Gamma(theta + alpha)
        N^(alpha - 1). Lower protects more.

    Raises
    ------
    ValueError
        If `sizes` or `fraction` is outside its range.

    Source: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal of Official
    Statistics 17(4), 2001.

    Examples
    --------
    >>> round(pitman_uniqueness([1] * 40 + [2] * 10 + [5] * 8, 0.1), 3)
    0.109
    """
    from scipy.special import gammaln

    classes, _, whole = _check_sample(sizes, fraction)
    if not (classes == 1).any():
        return 0.0
    if (classes == 1).all():  # the likelihood grows up to alpha = 1
        return 1.0
    theta, alpha = fit_pitman(classes)
    log = gammaln(theta + 1) + gammaln(theta + alpha + whole - 1) - gammaln(theta + alpha) - gammaln(theta + whole)
    return float(np.clip(np.exp(log), 0, 1))


def fit_pitman(sizes: IntArray) -> tuple[float, float]:
    """Return the most likely parameters (theta, alpha) of Pitman's sampling formula; 0 < alpha < 1, theta > -alpha."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    size, number = np.unique(sizes, return_counts=True)
    n, classes = int(sizes.sum()), np.arange(1, len(sizes))

    def surprise(parameters: FloatArray) -> float:
        """Return the negative log-likelihood, without the constant term."""
        alpha = expit(parameters[1])
        theta = np.exp(parameters[0]) - alpha
        new = np.log(theta + classes * alpha).sum() - gammaln(theta + n) + gammaln(theta + 1)
        return -(new + (number * (gammaln(size - alpha) - gammaln(1 - alpha))).sum())

    found = minimize(surprise, [np.log(len(sizes)), 0.0], method="Nelder-Mead", options={"maxiter": 2000}).x
    alpha = float(expit(found[1]))
    return float(np.exp(found[0])) - alpha, alpha


def negative_binomial_uniqueness(sizes: ArrayLike, fraction: float) -> float:
    """Return the share of unique people in a population, by the slide negative binomial model of a sample.

    A class of the population has 1 + G people, where G has a negative binomial distribution with the parameters alpha
    and beta. The number K of classes is estimated by the third estimator of Haas and Stokes for Shlosser's method.
    Alpha and beta are chosen so that the expected numbers of classes of one person and of two people in the sample
    equal the observed numbers.

    Parameters
    ----------
    sizes, fraction
        See `zayatz_uniqueness`.

    Returns
    -------
    float
        The estimated share, K beta^alpha / N, from 0 to 1. Lower protects more.

    Raises
    ------
    ValueError
        If `sizes` or `fraction` is outside its range.

    Source: Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata", Journal of Official
    Statistics 14(1), 1998; Haas and Stokes, "Estimating the number of classes in a finite population", JASA 93, 1998.

    Examples
    --------
    >>> round(negative_binomial_uniqueness([1] * 40 + [2] * 10 + [5] * 8, 0.5), 3)
    0.28
    """
    from scipy.optimize import least_squares
    from scipy.special import expit

    classes, _, whole = _check_sample(sizes, fraction)
    ones, twos = (classes == 1).sum(), (classes == 2).sum()
    if not ones:
        return 0.0
    if fraction == 1:
        return float(ones / whole)
    k = estimate_class_number(classes, fraction)

    def difference(parameters: FloatArray) -> FloatArray:
        """Return the scaled differences between expected and observed numbers of classes of one and of two people."""
        alpha, beta = np.exp(parameters[0]), expit(parameters[1])
        return (k * expect_small_classes(alpha, beta, fraction) - [ones, twos]) / np.sqrt([ones, max(twos, 1)])

    starts = ([np.log(alpha), beta] for alpha in (0.1, 1.0, 10.0) for beta in (-4.0, 0.0))
    tried = [least_squares(difference, start, bounds=([-20, -20], [20, 20])) for start in starts]
    log_alpha, logit = min(tried, key=lambda each: each.cost).x
    return float(np.clip(k * expit(logit) ** np.exp(log_alpha) / whole, 0, 1))


def expect_small_classes(alpha: float, beta: float, fraction: float) -> FloatArray:
    """Return the probabilities that one person, and that two people, of a class are in the sample, as an array (2,).

    The class has 1 + G people, where G has a negative binomial distribution with the mean alpha (1 - beta) / beta. Let
    d = (1 - f) (1 - beta) and a = f (beta / (1 - d))^alpha. The probability of one person is a (1 + alpha d / (1 - d)),
    and the probability of two people is a alpha f (1 - beta) (2 - (1 - alpha) d) / (2 (1 - d)^2).
    """
    d = (1 - fraction) * (1 - beta)
    none = fraction * (beta / (1 - d)) ** alpha
    two = alpha * fraction * (1 - beta) * (2 - (1 - alpha) * d) / (2 * (1 - d) ** 2)
    return np.array([none * (1 + alpha * d / (1 - d)), none * two])


def estimate_class_number(sizes: ArrayLike, fraction: float) -> float:
    """Return the number of classes in a population, estimated from the classes of a sample.

    The estimate is at least the number of classes in the sample.

    Source: Haas and Stokes, "Estimating the number of classes in a finite population", JASA 93, 1998, estimator Sh3.

    >>> estimate_class_number([1, 1, 3], 1.0)
    3.0
    """
    classes, _, _ = _check_sample(sizes, fraction)
    size, number = np.unique(classes, return_counts=True)
    f, ones = fraction, int((classes == 1).sum())
    if f == 1 or not ones:
        return float(len(classes))
    absent = (1 - f) ** size  # the probability that a class of this size is not in a sample
    mixed = (size * f**2 * (1 - f**2) ** (size - 1) * number).sum() / (absent * ((1 + f) ** size - 1) * number).sum()
    ratio = (absent * number).sum() / (size * f * (1 - f) ** (size - 1) * number).sum()
    return float(len(classes) + ones * mixed * ratio**2)


def _check_sample(sizes: Any, fraction: float) -> tuple[IntArray, int, int]:
    """Return the sizes as an array, the number of people in the sample, and the number of people in the population."""
    classes = np.asarray(sizes)
    if classes.ndim != 1 or not len(classes) or classes.dtype.kind not in "iu" or (classes < 1).any():
        raise UsageError(
            f"`sizes` must be an array (classes,) of whole numbers of at least 1; got {expect.describe_value(sizes)}."
        )
    if not (expect.is_number(fraction) and 0 < fraction <= 1):
        raise UsageError(f"`fraction` must be a share above 0 and at most 1; got {expect.describe_value(fraction)}.")
    n = int(classes.sum())
    return classes, n, round(n / fraction)
