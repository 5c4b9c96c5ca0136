"""The protection by noise, as the width of an interval around a noisy number and the information in a noisy cell.

Both measures use the public distribution of the noise. The information also depends on the distribution of the values;
the width of the interval does not.
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
from privnb.microdata.treatment import Law, Unreadable, name_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import join_names
from privnb.runtime.validation import between, validated

CELLS = 2**16  # number of cells into which the range of a noisy number is divided
TAIL = 1e-12  # probability of noise beyond the ends of the range
CONFIDENCE = 0.95


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, math.inf),
    sentence="An interval around a noisy number must be this wide to contain the true number with 95% confidence. "
    "Higher protects more.",
    unit="widths of the domain",
    format="{:g} widths",
)
def interval_privacy(release: Release, dataset: Dataset) -> float:
    """Return the smallest width of a 95% interval over the noisy columns, in units of the width of the public domain.

    If an interval is wider than the domain, a noisy number reveals no more than the domain. The measure ignores the
    distribution of values. If few values occur, even a wide interval may contain only one value that occurs; see
    `information_share_of_noise`.

    Source: Agrawal and Srikant, "Privacy-preserving data mining", SIGMOD 2000, section 2; Aggarwal and Yu 2008, section
    2.2.1.
    """
    found, numbers = [], [name for name in release.treated("noisy") if release.schema[name].numeric]
    for name, law in _laws(release, numbers, "number").items():
        with name_column(name):
            found.append(interval_width(law, CONFIDENCE) / dataset.schema[name].numbers.width)
    return min(found)


@validated
def interval_width(law: Law, confidence: Annotated[float, between(0, 1, "it is a probability")]) -> float:
    """Return the width of the interval around a noisy number that contains the true number with a given confidence.

    Parameters
    ----------
    law : Law
        The distribution of symmetric noise, with the method `cumulative`.
    confidence : float
        The confidence level, above 0 and below 1.

    Returns
    -------
    float
        The width in the attribute's unit; higher protects better.

    Source: Agrawal and Srikant, SIGMOD 2000, section 2.
    """
    wanted = (1 + confidence) / 2
    return 2 * brentq(lambda half: float(law.cumulative(half)) - wanted, 0, _reach(law), xtol=1e-12, rtol=1e-12)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="A noisy cell removes this share of an adversary's uncertainty about its true value, from 0 to 1. Lower "
    "protects more.",
    unit="share",
    format="{:%}",
)
def information_share_of_noise(release: Release, dataset: Dataset) -> float:
    """Return the largest privacy loss 1 - 2^(-I) of the noisy attributes.

    I is the mutual information, in bits, between the true value and the noisy cell. The true values are assumed to have
    the distribution of the table, and a number is assumed to be uniform within its step. A cell shows whether its
    number is missing.

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
            with name_column(name):
                bits = mutual_information(people / people.sum(), edges, law)
            share = there.mean()  # noise does not hide which numbers are missing
            found.append(share * bits + entropy(np.array([share, 1 - share])))
        else:
            codes = attribute.categories.codes(original.table[name])
            shares = np.bincount(codes, minlength=len(attribute.categories.values)) / len(codes)
            with name_column(name):
                joint = shares[:, None] * law.transition(len(shares))
            found.append(entropy(joint.sum(axis=0)) + entropy(shares) - entropy(joint.ravel()))
    return privacy_loss_share(max(found))


def privacy_loss_share(bits: float) -> float:
    """Return 1 - 2^(-I), the share of uncertainty, from 0 to 1, that mutual information of I = `bits` removes.

    >>> privacy_loss_share(0), privacy_loss_share(1)
    (0.0, 0.5)
    """
    return 1 - 2.0 ** -max(0.0, bits)


def entropy(shares: FloatArray) -> Any:
    """Return the entropy, in bits, of the probabilities `shares`, array (k,).

    >>> float(entropy(np.array([0.5, 0.25, 0.25, 0])))
    1.5
    """
    some = shares[shares > 0]
    return -(some @ np.log2(some))


def differential_entropy(shares: FloatArray, edges: FloatArray) -> Any:
    """Return the entropy, in bits, of a density that is constant within pieces.

    If a uniform density has the same uncertainty, the entropy is log2 of the width of this uniform density: 0 for a
    width of 1, and negative for a smaller width.

    Parameters
    ----------
    shares : float array (k,)
        The probability of each piece.
    edges : float array (2, k)
        The start and the end of each piece.

    Source: Aggarwal and Yu 2008, equation 2.1.

    >>> float(differential_entropy(np.array([0.5, 0.5]), np.array([[0, 4], [1, 5]])))
    1.0
    """
    some = shares > 0
    return 0.0 - shares[some] @ np.log2(shares[some] / (edges[1] - edges[0])[some])


def mutual_information(shares: FloatArray, edges: FloatArray, law: Law) -> float:
    """Return the mutual information, in bits, between a noisy and a true number, accurate to about four digits.

    The mutual information is h(Z) - h(Y), the entropy of the noisy number minus the entropy of the noise; both are
    computed on 65,536 cells. The density of the true number is constant within each piece.

    Parameters
    ----------
    shares : float array (k,)
        The probability of each piece.
    edges : float array (2, k)
        The start and the end of each piece.
    law : Law
        The distribution of the noise, with the method `cumulative`.

    Source: Aggarwal and Yu 2008, section 2.2.1. Erratum: the densities printed in example 2.1 give 1.360674, not the
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
    """Return a number that noise exceeds only with a very small probability."""
    reach = 1.0
    while float(law.cumulative(reach)) < 1 - TAIL:
        reach *= 2
    return reach


def _laws(release: Release, names: Collection[str], what: str = "column") -> dict[str, Law]:
    """Return the distributions of the noise of the noisy attributes among `names`.

    Raises Unreadable if there are no such attributes, or if their noise is drawn jointly.
    """
    laws = {name: release.columns[name].noise_law for name in noisy_columns(release, names, what)}
    if drawn := [name for name, law in laws.items() if law.together is not None]:
        raise Unreadable(
            f"the noise of {join_names(drawn)} is drawn jointly, so privnb has no separate distribution for each "
            "column. Try `amplification`."
        )
    return laws
