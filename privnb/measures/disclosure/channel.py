"""Measures of a channel, for an adversary who knows the algorithm of the sanitizer and guesses its input.

The measures follow Askari, Safavi-Naini and Barker, "An information theoretic privacy and utility measure for data
sanitization mechanisms", CODASPY 2012, section 4.1. If the channel consists of fractions, the results are exact
fractions, except logarithms; otherwise, the results are floats. Logarithms have base 2 and are floats.

This module corrects errors of the paper and states a reason for each correction; `enumeration.errata` computes the
effects of the corrections.
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


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="An adversary's best guess of the sanitizer's input is right with this probability before anything is "
    "published. Lower protects more.",
    unit="probability",
)
def prior_vulnerability(channel: Channel) -> Any:
    """Return the prior vulnerability, which is the largest prior probability of an input.

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return exact.max_by_index(np.zeros(len(channel.prior), dtype=np.int64), channel.prior, 1)[0]


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="An adversary who sees the release guesses the sanitizer's input correctly with this probability. Lower "
    "protects more.",
    unit="probability",
)
def posterior_vulnerability(channel: Channel) -> Any:
    """Return the sum over outputs T' of the maximum over inputs T of P(T'|T) P(T).

    The result is at least `prior_vulnerability`.

    Erratum: eq. 3 contains the posterior P(T|T') instead of the likelihood P(T'|T). The inequality after eq. 3 contains
    the likelihood.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 5.
    """
    return exact.total(channel.max_by_output(channel.joint))


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    sentence="An adversary who sees the release and makes the best guess of its input is wrong with this probability. "
    "Higher protects more.",
    unit="probability",
)
def bayes_risk(channel: Channel) -> Any:
    """Return the Bayes risk Error_f, which is the probability that the best guess is wrong.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 5.

    >>> from privnb.measures.disclosure.channel_matrix import Channel
    >>> bayes_risk(Channel.of([["1/2", "1/2"], [0, 1]]))
    Fraction(1, 4)
    """
    return 1 - posterior_vulnerability(channel)


@validated
def error_bounds(channel: Channel) -> tuple[Any, Any]:
    """Return the lowest and the highest Bayes risk of all matrices with this prior and this number of outputs.

    The lowest risk is 1 - m max P(T), where m is the number of outputs that occur. Deterministic publishing has this
    risk if the prior is uniform. The highest risk is 1 - max P(T), which is the risk of a release that reveals nothing.
    With n equally likely inputs, these risks are 1 - m/n and 1 - 1/n (section 4.1). Erratum: sections 5.3 and 5.4
    exchange the letters m and n.
    """
    likeliest, occurring = prior_vulnerability(channel), int(np.count_nonzero(channel.output_probability))
    return max(0 * likeliest, 1 - occurring * likeliest), 1 - likeliest


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    title="Santhi and Vardy's bound",
    sentence="An adversary who sees the release makes a wrong best guess with at most this probability, given their "
    "remaining uncertainty. Higher protects more.",
    unit="probability",
)
def santhi_vardy_bound(channel: Channel) -> float:
    """Return Santhi and Vardy's upper bound on the Bayes risk, 1 - 2^-H(T|T'), as a float.

    Erratum: the bound needs H in bits, and eq. 7 lacks the minus sign.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 6.
    """
    return 1 - 2 ** -conditional_entropy(channel)


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, math.inf),
    sentence="This is an adversary's uncertainty about the sanitizer's input before anything is published. Higher "
    "protects more.",
    unit="bits",
)
def prior_entropy(channel: Channel) -> float:
    """Return the entropy H(T) of the input, which is at most log2 n for n inputs.

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return _entropy(channel.prior)


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, math.inf),
    sentence="This is an adversary's remaining uncertainty about the sanitizer's input after they see the release. "
    "Higher protects more.",
    unit="bits",
)
def conditional_entropy(channel: Channel) -> float:
    """Return H(T|T'), the entropy of the input given the output, which is at most H(T).

    Erratum: the printed sum lacks a minus sign.

    Source: Askari et al., CODASPY 2012, section 4.1, eq. 7.
    """
    # # Rounding must not move the result out of its bounds.
    return min(max(_entropy(channel.joint) - _entropy(channel.output_probability), 0.0), prior_entropy(channel))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="The release reduces an adversary's uncertainty about the sanitizer's input by this amount. Lower "
    "protects more.",
    unit="bits",
)
def mutual_information(channel: Channel) -> float:
    """Return the Shannon leakage I(T; T') = H(T) - H(T|T'), which is at most H(T).

    Source: Askari et al., CODASPY 2012, section 4.1.
    """
    return prior_entropy(channel) - conditional_entropy(channel)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    title="Min-entropy leakage",
    sentence="The release makes an adversary's best guess more likely to be right; each bit doubles the probability. "
    "Lower protects more.",
    unit="bits",
)
def min_entropy_leakage(channel: Channel) -> float:
    """Return log2 of the ratio of the posterior vulnerability to the prior vulnerability.

    Source: Smith, "On the foundations of quantitative information flow", FoSSaCS 2009.
    """
    return max(0.0, math.log2(posterior_vulnerability(channel) / prior_vulnerability(channel)))


@measure(
    kind="privacy",
    better="lower",
    bounds=(1, math.inf),
    sentence="The release multiplies what an adversary can expect to gain by at most this factor, whatever they knew "
    "before and whatever they want to learn. Lower protects more.",
    unit="times",
)
def multiplicative_capacity(channel: Channel) -> Any:
    """Return the sum over outputs T' of the largest P(T'|T), which is the capacity for gains of at least 0.

    For every prior and every such gain, the release multiplies the expected gain by at most this factor.

    For an adversary who guesses the input under a uniform prior, the gain is multiplied by exactly this factor. The
    log2 of the sum is the min-capacity.

    Source: Alvim et al., "Measuring information leakage using generalized gain functions", CSF 2012, theorem 5.1.
    """
    return exact.total(channel.max_by_output(channel.probability))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="The release adds at most this much to what an adversary with the given prior can expect to gain, on a "
    "scale from 0 to 1. Lower protects more.",
    unit="distance, 0 to 1",
)
def additive_capacity(channel: Channel) -> Any:
    """Return the mean total variation between the posterior and the prior of the input.

    The mean is an upper bound on the increase of the expected gain, for every gain function whose values for one action
    differ by at most 1. The maximum over all priors is hard to compute, even for the vulnerability alone.

    Source: Alvim et al., "Additive and multiplicative notions of leakage, and their capacities", CSF 2014;
    Chatzikokolakis, "On the additive capacity problem for quantitative information flow", QEST 2018.
    """
    # Both sides add up to 1, so half the absolute difference is the surplus of the joint probability.
    apart = channel.prior[channel.row], channel.output_probability[channel.column]
    return exact.total(exact.apply_distinct(lambda joint, p, q: np.maximum(joint - p * q, 0), channel.joint, *apart))


@validated
def prior_gain(channel: Channel, gain: ArrayLike) -> Any:
    """Return the expected gain of an adversary's best action before anything is published; see `posterior_gain`.

    Parameters
    ----------
    channel : Channel
    gain : array (actions, n)
        The gain of each action for each true input.

    Returns
    -------
    Fraction or float
        The gain in the unit of `gain`; lower protects better.
    """
    return max(exact.total(action * channel.prior) for action in _actions(channel, gain))


@validated
def posterior_gain(channel: Channel, gain: ArrayLike) -> Any:
    """Return the g-vulnerability, the expected gain of an adversary who takes the best action for the published output.

    If `gain` is the identity matrix, the result is `posterior_vulnerability`. If `gain` consists of whole numbers and
    fractions, the result for an exact channel is exact.

    Parameters
    ----------
    channel : Channel
    gain : array (actions, n)
        The gain of each action for each true input, in any unit.

    Returns
    -------
    Fraction or float
        The gain in the unit of `gain`, which is at least `prior_gain`; lower protects better.

    Source: Alvim et al., CSF 2012.
    """
    gains = (channel.sum_by_output(action[channel.row] * channel.joint) for action in _actions(channel, gain))
    return exact.total(reduce(np.maximum, gains))


@validated
def expected_degradation(channel: Channel, before: ArrayLike, after: ArrayLike) -> float:
    """Return Utility_G, the mean loss of utility when an input is published as an output.

    Each input is published as some output, so the double sum of eq. 16 is the difference between two means. Erratum:
    the paper calls this loss a utility.

    Parameters
    ----------
    channel : Channel
    before : array (n,)
        The utility of each input, in any unit.
    after : array (m,)
        The utility of each output, in the same unit.

    Returns
    -------
    float
        The loss in the unit of the utilities; lower is better. If the loss is below 0, the outputs have a higher mean
        utility than the inputs.
    """
    expect.vector("before", before, len(channel.inputs))
    expect.vector("after", after, len(channel.outputs))
    return float(_floats(channel.prior) @ np.asarray(before) - _floats(channel.output_probability) @ np.asarray(after))


def _actions(channel: Channel, gain: ArrayLike) -> Array:
    expect.kind("gain", gain, np.ndarray, list, tuple)
    gain = np.asarray(gain)
    if gain.ndim != 2 or not len(gain) or gain.shape[1] != len(channel.inputs):
        raise UsageError(f"`gain` must have the shape (actions, {len(channel.inputs)}); got the shape {gain.shape}.")
    return gain.astype(object) if channel.exact and gain.dtype.kind in "biu" else gain


def _entropy(probabilities: Array) -> float:
    from scipy.special import entr

    return float(entr(_floats(probabilities)).sum() / math.log(2))


def _floats(probabilities: Array) -> FloatArray:
    return exact.apply_distinct(lambda values: values.astype(np.float64), probabilities)
