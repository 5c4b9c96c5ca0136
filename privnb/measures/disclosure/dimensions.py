"""What many attributes do to privacy: classes of two people become rare, and noise has to grow.

Both are of attributes that are independent of each other, as the arguments of their sources are; of attributes that
vary together the number that counts is smaller.
"""

from math import expm1, log1p, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.special import fdtrc, ndtr

from privnb.runtime import expect


def shared_cell_chance(records, attributes, share=0.5):
    """How likely a record shares its cell with another one where each attribute is cut into ranges of so many people.

    1 - (1 - f^d)^(N - 1), 0 to 1: where it is small, even 2-anonymity suppresses nearly everybody.

    Parameters
    ----------
    records : int
        N, from 2.
    attributes : int
        d, from 1.
    share : float
        f, of all records in the record's own range of an attribute: above 0, at most 1. Half is the coarsest that tells
        anything.

    Returns
    -------
    float
        Higher is better for whoever wants classes.

    Source: Aggarwal, "On k-anonymity and the curse of dimensionality", VLDB 2005; Aggarwal and Yu 2008, section 2.6.

    >>> round(shared_cell_chance(1_000_000, 20), 6), round(shared_cell_chance(1_000_000, 30), 6)
    (0.614677, 0.000931)
    """
    _check(records, attributes)
    if not (expect.is_number(share) and 0 < share <= 1):
        raise ValueError(f"share must be a number above 0 and at most 1, got {expect.found(share)}.")
    alike = share**attributes
    return 1.0 if alike == 1 else -expm1((records - 1) * log1p(-alike))


def gaussian_impostors(records, attributes, deviation):
    """How many others fit a noisy record better than its own, on average, for whoever has public records of everybody.

    Records and noise are Gaussian, and another record is nearer with the probability that a Gaussian number exceeds
    half of the distance: (N - 1) P(F > d / (2 sigma^2)) / 2, F with 1 and d degrees of freedom. With many attributes it
    stays alike where the deviation grows with the root of their number.

    Parameters
    ----------
    records : int
        N, from 2.
    attributes : int
        d, from 1.
    deviation : float
        sigma, of the noise in each attribute, in standard deviations of the attribute; above 0.

    Returns
    -------
    float
        From 0; higher protects more: below 1 the record itself is usually the best fit.

    Source: the law is of Aggarwal, "On randomization, public information and the curse of dimensionality", ICDE 2007,
    and Aggarwal and Yu 2008, section 6.5; this closed form is this package's.
    """
    _check(records, attributes)
    expect.positive("deviation", deviation)
    return (records - 1) * fdtrc(1, attributes, attributes / (2 * deviation**2)) / 2


def uniform_impostors(records, attributes, half):
    """How many others fit a noisy record as well as its own, on average, where the noise is uniform on -a to a.

    Another record fits if each of its numbers is within reach: (N - 1) p(a)^d. It stays alike where the reach grows at
    least in proportion to the number of attributes: uniform noise protects better where these are few, Gaussian noise
    where they are many.

    Parameters
    ----------
    records, attributes
        As of `gaussian_impostors`.
    half : float
        a, in standard deviations of the attribute; above 0.

    Returns
    -------
    float
        From 0; higher protects more.

    Source: as of `gaussian_impostors`.
    """
    _check(records, attributes)
    expect.positive("half", half)

    def within(noise):
        return ndtr((half - noise) / sqrt(2)) - ndtr((-half - noise) / sqrt(2))

    reach = quad(within, -half, half, limit=200)[0] / (2 * half)
    return (records - 1) * float(np.exp(attributes * np.log(reach)))


def _check(records, attributes):
    expect.whole("records", records, 2)
    expect.whole("attributes", attributes, 1)
