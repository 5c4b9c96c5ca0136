"""How much of a value its noise hides: the width of an interval that holds it, and what a noisy cell tells in bits.

Both read the law of the noise, which is public. The interval is blind to how the values are distributed; the
information is not.
"""

import math
from collections.abc import Collection
from typing import Annotated, Any

import numpy as np
from scipy.optimize import brentq

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.noise.breaches import noisy_columns
from privnb.microdata.release import Release
from privnb.microdata.treatment import Law, Unreadable, of_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import name_list
from privnb.runtime.validation import between, validated

CELLS = 2**16  # of the line that a noisy number lies on
TAIL = 1e-12  # so much of the noise lies beyond the ends of the line
CONFIDENCE = 0.95


@measure(kind="privacy", better="higher", bounds=(0, math.inf), unit="widths of the domain", format="{:g} widths")
def interval_privacy(release: Release, dataset: Dataset) -> float:
    """How wide an interval around a noisy number must be to hold the true one with 95% confidence.

    In widths of the public domain, of the noisy number that has the narrowest: above 1 the interval tells nothing that
    the domain does not. It does not know how values are distributed: where they lie in a few places, a wide interval
    may hold one value alone, see `information_share_of_noise`.

    Source: Agrawal and Srikant, "Privacy-preserving data mining", SIGMOD 2000, section 2; Aggarwal and Yu 2008, section
    2.2.1.
    """
    found, numbers = [], [name for name in release.treated("noisy") if release.schema[name].numeric]
    for name, law in _laws(release, numbers, "number").items():
        with of_column(name):
            found.append(interval_width(law, CONFIDENCE) / dataset.schema[name].numbers.width)
    return min(found)


@validated
def interval_width(law: Law, confidence: Annotated[float, between(0, 1, "it is a probability")]) -> float:
    """The width of the interval around a noisy number that holds the true one with this confidence.

    Parameters
    ----------
    law : Law
        Of noise that is as likely above as below, with `cumulative`.
    confidence : float
        Above 0, below 1.

    Returns
    -------
    float
        In the attribute's unit; higher protects more.

    Source: Agrawal and Srikant, SIGMOD 2000, section 2.
    """
    wanted = (1 + confidence) / 2
    return 2 * brentq(lambda half: float(law.cumulative(half)) - wanted, 0, _reach(law), xtol=1e-12, rtol=1e-12)


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share", format="{:%}")
def information_share_of_noise(release: Release, dataset: Dataset) -> float:
    """Which share of the uncertainty of a value its noisy cell takes away: 0 nothing, 1 all of it.

    The privacy loss 1 - 2^(-I) of the true value and the noisy cell, I their mutual information in bits; of the noisy
    attribute of which it is largest. Values are as the table has them, a number anywhere within its step; whether it
    is missing is told.

    Source: Agrawal and Aggarwal, "On the design and quantification of privacy preserving data mining algorithms", PODS
    2001, section 2; Aggarwal and Yu 2008, section 2.2.1, equation 2.2.
    """
    original, found = release.originals(dataset), []
    for name, law in _laws(release, release.columns).items():
        attribute = dataset.schema[name]
        if attribute.numeric:
            domain = attribute.numbers
            codes = domain.codes(original.table[name])
            there = codes <= domain.steps
            places, people = np.unique(codes[there], return_counts=True)
            edges = domain.low + domain.step * (places + np.array([[-0.5], [0.5]]))
            with of_column(name):
                bits = information(people / people.sum(), edges, law)
            share = there.mean()  # noise does not hide which numbers are missing
            found.append(share * bits + entropy(np.array([share, 1 - share])))
        else:
            codes = attribute.categories.codes(original.table[name])
            shares = np.bincount(codes, minlength=len(attribute.categories.values)) / len(codes)
            with of_column(name):
                joint = shares[:, None] * law.transition(len(shares))
            found.append(entropy(joint.sum(axis=0)) + entropy(shares) - entropy(joint.ravel()))
    return privacy_loss_share(max(found))


def privacy_loss_share(bits: float) -> float:
    """1 - 2^(-I): which share of the uncertainty about a value `bits` of mutual information take away, 0 to 1.

    >>> privacy_loss_share(0), privacy_loss_share(1)
    (0.0, 0.5)
    """
    return 1 - 2.0 ** -max(0.0, bits)


def entropy(shares: FloatArray) -> Any:
    """Of probabilities, array (k,), in bits.

    >>> float(entropy(np.array([0.5, 0.25, 0.25, 0])))
    1.5
    """
    some = shares[shares > 0]
    return -(some @ np.log2(some))


def differential_entropy(shares: FloatArray, edges: FloatArray) -> Any:
    """Of a density that is constant within pieces, in bits: log2 of the width of a uniform one that is as uncertain.

    Parameters
    ----------
    shares : float array (k,)
        The probability of each piece.
    edges : float array (2, k)
        Where each begins and ends.

    Returns
    -------
    float
        Any number; 0 for a uniform density of width 1.

    Source: Aggarwal and Yu 2008, equation 2.1.

    >>> float(differential_entropy(np.array([0.5, 0.5]), np.array([[0, 4], [1, 5]])))
    1.0
    """
    some = shares > 0
    return 0.0 - shares[some] @ np.log2(shares[some] / (edges[1] - edges[0])[some])


def information(shares: FloatArray, edges: FloatArray, law: Law) -> float:
    """How much a noisy number tells of the true one, whose density is constant within pieces: bits, from 0.

    I = h(Z) - h(Y), the entropy of noisy numbers less that of the noise, both on 65,536 cells of the line.

    Parameters
    ----------
    shares, edges
        As of `differential_entropy`.
    law : Law
        Of the noise, with `cumulative`.

    Returns
    -------
    float
        To about four digits.

    Source: Aggarwal and Yu 2008, section 2.2.1; of example 2.1 the densities that it prints give 1.360674, and not the
    printed 5/4.
    """
    reach = _reach(law)
    ends = np.linspace(edges[0].min() - reach, edges[1].max() + reach, CELLS + 1)
    middle, size = (ends[1:] + ends[:-1]) / 2, ends[1] - ends[0]
    density = np.zeros(CELLS)
    for share, low, high in zip(shares, *edges, strict=True):
        density += share / (high - low) * (law.cumulative(middle - low) - law.cumulative(middle - high))
    noise = np.diff(law.cumulative(np.linspace(-reach, reach, CELLS + 1))) / (2 * reach / CELLS)
    return max(0.0, _bits(density, size) - _bits(noise, 2 * reach / CELLS))


def _bits(density: FloatArray, size: float) -> Any:
    some = density[density > 0]
    return -size * (some @ np.log2(some))


def _reach(law: Law) -> float:
    """So far from 0 that nearly no noise lies beyond."""
    reach = 1.0
    while float(law.cumulative(reach)) < 1 - TAIL:
        reach *= 2
    return reach


def _laws(release: Release, names: Collection[str], what: str = "column") -> dict[str, Law]:
    """The laws of the noisy attributes among `names`: `{name: Law}`; Unreadable where there is none."""
    laws = {name: release.columns[name].noise_law for name in noisy_columns(release, names, what)}
    if drawn := [name for name, law in laws.items() if law.together is not None]:
        raise Unreadable(
            f"noise in {name_list(drawn)} is drawn together, and no column has a law of its own. Ask for amplification."
        )
    return laws
