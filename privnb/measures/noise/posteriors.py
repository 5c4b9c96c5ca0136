"""What an adversary who knows the law of the noise comes to believe, and (rho1, rho2) privacy breaches.

By Bayes' rule a published cell makes a property of its record likelier or less likely. It is an upward breach where a
property at most rho1 likely becomes at least rho2 likely, and a downward one where it falls from rho2 to rho1. Whatever
is believed before, noise that is at most gamma-amplifying multiplies no odds by more than gamma = e^epsilon, with the
epsilon of local differential privacy: two names of one bound.

Source: Evfimievski, Gehrke, Srikant, "Limiting Privacy Breaches in Privacy Preserving Data Mining", PODS 2003; Agrawal
and Haritsa, ICDE 2005; Aggarwal and Yu 2008, section 10.2.4.
"""

from typing import NamedTuple

import numpy as np

from privnb.measures.noise.matrices import markov
from privnb.runtime import expect
from privnb.runtime.tolerances import EXACT, ROUNDING

RHO1, RHO2 = 0.05, 0.5  # of the book's figures: a gamma of 19


class Breaches(NamedTuple):
    """Of each property how likely it is before, and at most and at least after, float arrays (properties,); and whether
    it is breached upward or downward, boolean arrays (properties,).
    """

    before: np.ndarray
    highest: np.ndarray
    lowest: np.ndarray
    upward: np.ndarray
    downward: np.ndarray


def posterior(prior, matrix):
    """How likely each true value is once each published one is seen.

    Parameters
    ----------
    prior : array (size,)
        How likely each true value is before; they add up to 1.
    matrix : array (size, size)
        As of `matrices.markov`.

    Returns
    -------
    float array (size, size)
        Row: the true value; column: the published one. A column adds up to 1; that of a value that is never published
        is NaN.

    >>> posterior([0.1, 0.9], [[0.8, 0.2], [0.2, 0.8]])[0].round(6).tolist()
    [0.307692, 0.027027]
    """
    prior = _prior(prior)
    joint = prior[:, np.newaxis] * markov("matrix", matrix, len(prior))
    seen = joint.sum(axis=0)
    return np.divide(joint, seen, out=np.full_like(joint, np.nan), where=seen > 0)


def breaches(prior, matrix, properties, *, rho1=RHO1, rho2=RHO2):
    """Which properties of a record are breached by a cell that may be published.

    Parameters
    ----------
    prior : array (size,)
    matrix : array (size, size)
        As of `posterior`.
    properties : boolean array (properties, size)
        Which true values have each property.
    rho1, rho2 : float
        Above 0 and below 1, the first the smaller.

    Returns
    -------
    Breaches

    Source: Evfimievski et al., PODS 2003, definition 2.
    """
    check_rhos(rho1, rho2)
    after, prior = posterior(prior, matrix), _prior(prior)
    properties = np.asarray(properties)
    if properties.dtype != bool or properties.ndim != 2 or properties.shape[1] != len(prior) or not len(properties):
        raise ValueError(
            f"properties must be a boolean array (properties, {len(prior)}), got {expect.found(properties)} of "
            f"{properties.dtype} and shape {properties.shape}."
        )
    before, found = properties @ prior, properties.astype(float) @ after[:, ~np.isnan(after[0])]
    highest, lowest = found.max(axis=1), found.min(axis=1)
    near = EXACT  # sums of floats
    upward = (before <= rho1 + near) & (highest >= rho2 - near)
    return Breaches(before, highest, lowest, upward, (before >= rho2 - near) & (lowest <= rho1 + near))


def breach_gamma(rho1, rho2):
    """The amplification up to which no property of any record is breached, whatever is believed before.

    Below it neither an upward nor a downward (rho1, rho2) breach can be. Its logarithm is such an epsilon.

    Parameters
    ----------
    rho1, rho2 : float
        Above 0 and below 1, the first the smaller.

    Returns
    -------
    float
        Above 1.

    Source: Evfimievski et al., PODS 2003, theorem 1.

    >>> round(breach_gamma(0.05, 0.5), 9), round(float(np.log(breach_gamma(0.05, 0.5))), 5)
    (19.0, 2.94444)
    """
    check_rhos(rho1, rho2)
    return rho2 * (1 - rho1) / (rho1 * (1 - rho2))


def posterior_bounds(gamma, before):
    """Between which probabilities any property lies after a cell of noise with this amplification: (lowest, highest).

    Parameters
    ----------
    gamma : float
        From 1; e^epsilon.
    before : float
        How likely it is before, 0 to 1.

    Returns
    -------
    lowest, highest : float

    Source: Evfimievski et al., PODS 2003, theorem 1, solved for the posterior.

    >>> [round(each, 5) for each in posterior_bounds(19, 0.05)]
    [0.00276, 0.5]
    """
    expect.number("gamma", gamma)
    if gamma < 1:
        raise ValueError(f"gamma must be at least 1, got {gamma:g}.")
    if not (expect.is_number(before) and 0 <= before <= 1):
        raise ValueError(f"before must be a probability, got {expect.found(before)}.")
    return before / (before + gamma * (1 - before)), gamma * before / (1 - before + gamma * before)


def randomized_bounds(gamma, size, spread, before):
    """As `posterior_bounds`, of a value's own cell under the randomized gamma-diagonal matrix RAN-GD, of which nobody
    knows what each record's matrix is: (lowest, highest).

    Parameters
    ----------
    gamma : float
        Above 1.
    size : int
        Of the joint domain, from 2.
    spread : float
        0 to 1, as of `GammaDiagonal`: the diagonal gamma x varies by this share of itself to either side.
    before : float
        How likely the value is before, 0 to 1.

    Returns
    -------
    lowest, highest : float
        Equal without spread.

    Source: Agrawal and Haritsa, ICDE 2005, section 4.

    >>> [round(each, 5) for each in randomized_bounds(19, 2000, 0.5, 0.05)]
    [0.33228, 0.60114]
    """
    expect.above("gamma", gamma, 1, "the true value is the likeliest")
    expect.whole("size", size, 2)
    if not (expect.is_number(spread) and 0 <= spread <= 1):
        raise ValueError(f"spread must be a share of the diagonal, 0 to 1, got {expect.found(spread)}.")
    found = []
    for moved in (-spread * gamma, spread * gamma):  # in units of x
        diagonal, other = gamma + moved, 1 - moved / (size - 1)
        if other < 0:
            raise ValueError(f"spread must leave probabilities, got {spread:g} for {size} values: lower it.")
        found.append(before * diagonal / (before * diagonal + (1 - before) * other))
    return tuple(found)


def _prior(prior):
    found = np.asarray(expect.vector("prior", prior), dtype=float)
    if (found < 0).any() or abs(found.sum() - 1) > ROUNDING:
        raise ValueError(f"prior must be probabilities that add up to 1, got {found.sum():g} in all.")
    return found


def check_rhos(rho1, rho2):
    """Raise ValueError unless both are probabilities, the first the smaller."""
    expect.between("rho1", rho1, 0, 1, "it is a probability that may rise or fall")
    expect.between("rho2", rho2, 0, 1, "it is a probability that may rise or fall")
    if not rho1 < rho2:
        raise ValueError(f"rho1 must be below rho2, got rho1={rho1:g} and rho2={rho2:g}.")
