"""How likely an adversary who knows the algorithm guesses what went into a channel, and what that leaves to users.

As in Askari, Safavi-Naini, Barker, "An information theoretic privacy and utility measure for data sanitization
mechanisms", CODASPY 2012, section 4.1. A channel in fractions is computed exactly, one in floats in floats; logarithms
are always floats and of base 2.

The paper's slips are corrected here, each with a reason; `enumeration.errata` computes what they would have cost.

One module: each measure is a line or two over the same channel.
"""

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privnb.measures import exact
from privnb.measures.base import measure
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="probability")
def prior_vulnerability(channel: Channel) -> Any:
    """How likely the best guess is right before anything is published.

    The largest prior probability.

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return exact.largest(np.zeros(len(channel.prior), dtype=np.int64), channel.prior, 1)[0]


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="probability")
def posterior_vulnerability(channel: Channel) -> Any:
    """How likely the best guess is right once the release is seen.

    The sum over outputs of max P(T'|T) P(T), never below `prior_vulnerability`. Erratum: eq. 3 prints the posterior
    P(T|T') where the likelihood P(T'|T) belongs, as in the inequality after it.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 5.
    """
    return exact.total(channel.largest(channel.joint))


@measure(kind="privacy", better="higher", bounds=(0, 1), unit="probability")
def bayes_risk(channel: Channel) -> Any:
    """How likely even the best guess is wrong.

    Error_f of the best guess.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 5.

    >>> from privnb.measures.disclosure.channel_matrix import Channel
    >>> bayes_risk(Channel.of([["1/2", "1/2"], [0, 1]]))
    Fraction(1, 4)
    """
    return 1 - posterior_vulnerability(channel)


@validated
def error_bounds(channel: Channel) -> tuple[Any, Any]:
    """Between which numbers the Bayes risk lies, whatever the matrix is: (lowest, highest).

    1 - m max P(T), reached by deterministic publishing under a uniform prior, and 1 - max P(T), reached when the
    release tells nothing; m counts the outputs that occur. With n inputs alike: 1 - m/n and 1 - 1/n, section 4.1.
    Erratum: in sections 5.3 and 5.4 the letters m and n change places.
    """
    likeliest, occurring = prior_vulnerability(channel), int(np.count_nonzero(channel.output_probability))
    return max(0 * likeliest, 1 - occurring * likeliest), 1 - likeliest


@measure(kind="privacy", better="higher", bounds=(0, 1), title="Santhi and Vardy's bound", unit="probability")
def santhi_vardy_bound(channel: Channel) -> float:
    """The highest Bayes risk that the remaining uncertainty leaves.

    1 - 2^-H(T|T'), a float. Erratum: it needs H in bits, and eq. 7 lacks the minus sign.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 6.
    """
    return 1 - 2 ** -conditional_entropy(channel)


@measure(kind="privacy", better="higher", bounds=(0, math.inf), unit="bits")
def prior_entropy(channel: Channel) -> float:
    """How uncertain the input is before anything is published.

    H(T), up to log2 n.

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return _entropy(channel.prior)


@measure(kind="privacy", better="higher", bounds=(0, math.inf), unit="bits")
def conditional_entropy(channel: Channel) -> float:
    """How uncertain the input still is once the release is seen.

    H(T|T'), up to H(T). Erratum: the printed sum lacks its minus sign.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 7.
    """
    # Rounding must not leave the bounds.
    return min(max(_entropy(channel.joint) - _entropy(channel.output_probability), 0.0), prior_entropy(channel))


@measure(kind="privacy", better="lower", bounds=(0, math.inf), unit="bits")
def mutual_information(channel: Channel) -> float:
    """How much uncertainty about the input the release takes away.

    Shannon leakage I(T; T') = H(T) - H(T|T'), up to H(T).

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return prior_entropy(channel) - conditional_entropy(channel)


@measure(kind="privacy", better="lower", bounds=(0, math.inf), title="Min-entropy leakage", unit="bits")
def min_entropy_leakage(channel: Channel) -> float:
    """How many times likelier the best guess becomes right; 1 bit doubles it.

    log2 of posterior by prior vulnerability.

    Source: Smith, "On the foundations of quantitative information flow", FoSSaCS 2009.
    """
    return max(0.0, math.log2(posterior_vulnerability(channel) / prior_vulnerability(channel)))


@measure(kind="privacy", better="lower", bounds=(1, math.inf), unit="times")
def multiplicative_capacity(channel: Channel) -> Any:
    """How many times more any adversary can gain from the release, whatever they knew and wanted.

    The sum over outputs of the largest P(T'|T), for gains not below 0; the prior plays no part. Reached by guessing the
    input under a uniform prior. log2 of it is the min-capacity.

    Source: Alvim et al., "Measuring information leakage using generalized gain functions", CSF 2012, theorem 5.1.
    """
    return exact.total(channel.largest(channel.probability))


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="distance, 0 to 1")
def additive_capacity(channel: Channel) -> Any:
    """The most that the release adds to what any adversary with this prior gains.

    Whatever they want, if no action's gains differ by more than 1. It is the mean total variation between what is known
    of the input after and before. Over all priors it is hard to find even for the vulnerability alone.

    Source: Alvim et al., "Additive and multiplicative notions of leakage, and their capacities", CSF 2014;
    Chatzikokolakis, "On the additive capacity problem for quantitative information flow", QEST 2018.
    """
    # Both sides add up to 1, so half the absolute difference is what the joint probability has too much.
    apart = channel.prior[channel.row], channel.output_probability[channel.column]
    return exact.total(exact.each(lambda joint, p, q: np.maximum(joint - p * q, 0), channel.joint, *apart))


@validated
def prior_gain(channel: Channel, gain: ArrayLike) -> Any:
    """What an adversary gains by their best action before anything is published; see `posterior_gain`.

    Parameters
    ----------
    channel : Channel
    gain : array (actions, n)
        As of `posterior_gain`.

    Returns
    -------
    Fraction or float
        In the unit of `gain`; lower protects more.
    """
    return max(exact.total(action * channel.prior) for action in _actions(channel, gain))


@validated
def posterior_gain(channel: Channel, gain: ArrayLike) -> Any:
    """g-vulnerability: what an adversary gains who acts best on what is published.

    The identity matrix gives `posterior_vulnerability`. Whole numbers and fractions keep an exact channel exact.

    Parameters
    ----------
    channel : Channel
    gain : array (actions, n)
        What each action gains for each true input, in any unit.

    Returns
    -------
    Fraction or float
        In that unit, never below `prior_gain`; lower protects more.

    Source: Alvim et al., CSF 2012.
    """
    gains = (channel.summed(action[channel.row] * channel.joint) for action in _actions(channel, gain))
    return exact.total(reduce(np.maximum, gains))


@validated
def expected_degradation(channel: Channel, before: ArrayLike, after: ArrayLike) -> float:
    """Utility_G: how much utility an input loses on average by being published.

    Since each input is published as something, the double sum of eq. 16 is the difference of two means. Erratum: the
    paper calls this loss a utility.

    Parameters
    ----------
    channel : Channel
    before : array (n,)
        Utilities of the inputs, in any unit.
    after : array (m,)
        Of the outputs.

    Returns
    -------
    float
        In that unit; lower is better. Below 0 the releases look more useful than the originals.
    """
    expect.vector("before", before, len(channel.inputs))
    expect.vector("after", after, len(channel.outputs))
    return float(_floats(channel.prior) @ np.asarray(before) - _floats(channel.output_probability) @ np.asarray(after))


def _actions(channel: Channel, gain: ArrayLike) -> Array:
    expect.kind("gain", gain, np.ndarray, list, tuple)
    gain = np.asarray(gain)
    if gain.ndim != 2 or not len(gain) or gain.shape[1] != len(channel.inputs):
        raise UsageError(f"gains need shape (actions, {len(channel.inputs)}), got {gain.shape}.")
    return gain.astype(object) if channel.exact and gain.dtype.kind in "biu" else gain


def _entropy(probabilities: Array) -> float:
    from scipy.special import entr

    return float(entr(_floats(probabilities)).sum() / math.log(2))


def _floats(probabilities: Array) -> FloatArray:
    return exact.each(lambda values: values.astype(np.float64), probabilities)
