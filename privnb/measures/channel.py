"""How likely an adversary who knows the algorithm guesses what went into a channel, and what that leaves to users.

As in Askari, Safavi-Naini, Barker, "An information theoretic privacy and utility measure for data sanitization
mechanisms", CODASPY 2012, section 4.1. A channel in fractions is computed exactly, one in floats in floats; logarithms
are always floats and of base 2.

The paper's slips are corrected here, each with a reason; `enumeration.errata` computes what they would have cost.
"""

import math
from functools import reduce

import numpy as np

from privnb.measures.base import measure
from privnb.microdata import expect

STEPS = 100_000


def guess(channel):
    """The best guess for each output, MAP: positions of inputs, integer array (m,); -1 for outputs that never occur.

    Of equally likely inputs the first. Source: section 4.1.
    """
    expect.these(channel=channel)
    best = channel.largest(channel.joint)
    hits = np.flatnonzero((channel.joint == best[channel.column]) & (channel.joint > 0))
    columns, first = np.unique(channel.column[hits], return_index=True)  # entries are in the order of inputs
    found = np.full(len(channel.outputs), -1)
    found[columns] = channel.row[hits[first]]
    return found


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    title="Error of a guess",
    sentence="How likely a given guess of what was published is wrong.",
    source="Askari et al., CODASPY 2012, section 4.1",
    unit="probability",
)
def error(channel, guesses):
    """Error_f: how likely any guess f is wrong. 0 to 1, higher protects more.

    `guesses`: integer array (m,), the position of the input guessed for each output. An adversary with wrong
    background knowledge guesses by `guess(channel.believing(...))` and errs by what is true. Source: eq. 2 and 4.
    """
    expect.these(channel=channel)
    expect.vector("guesses", guesses, len(channel.outputs))
    return 1 - channel.joint[np.asarray(guesses)[channel.column] == channel.row].sum()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="How likely the best guess is right before anything is published.",
    source="Askari et al., CODASPY 2012, section 4.1",
    unit="probability",
)
def prior_vulnerability(channel):
    """How likely the adversary guesses the input before anything is published: the largest prior probability."""
    expect.these(channel=channel)
    return channel.prior.max()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="How likely the best guess is right once the release is seen.",
    source="Askari et al., CODASPY 2012, section 4.1, eq. 5",
    unit="probability",
)
def posterior_vulnerability(channel):
    """How likely the adversary guesses the input from what is published: the sum over outputs of max P(T'|T) P(T).

    0 to 1, lower protects more; never below `prior_vulnerability`. Source: eq. 5. Erratum: eq. 3 prints the posterior
    P(T|T') where the likelihood P(T'|T) belongs, as in the inequality after it.
    """
    expect.these(channel=channel)
    return channel.largest(channel.joint).sum()


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    sentence="How likely even the best guess is wrong.",
    source="Askari et al., CODASPY 2012, section 4.1, eq. 5",
    unit="probability",
)
def bayes_risk(channel):
    """Error_f of the best guess: how likely even the adversary who guesses best is wrong. 0 to 1, higher protects more.

    Source: eq. 5.

    >>> from privnb.measures.channel_matrix import Channel
    >>> bayes_risk(Channel.of([["1/2", "1/2"], [0, 1]]))
    Fraction(1, 4)
    """
    expect.these(channel=channel)
    return 1 - posterior_vulnerability(channel)


def error_bounds(channel):
    """Between which numbers the Bayes risk lies, whatever the matrix is: (lowest, highest).

    1 - m max P(T), reached by deterministic publishing under a uniform prior, and 1 - max P(T), reached when the
    release tells nothing; m counts the outputs that occur. With n inputs alike: 1 - m/n and 1 - 1/n, section 4.1.
    Erratum: in sections 5.3 and 5.4 the letters m and n change places.
    """
    expect.these(channel=channel)
    likeliest, occurring = prior_vulnerability(channel), int((channel.output_probability > 0).sum())
    return max(0 * likeliest, 1 - occurring * likeliest), 1 - likeliest


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    title="Santhi and Vardy's bound",
    sentence="The highest Bayes risk that the remaining uncertainty leaves.",
    source="Askari et al., CODASPY 2012, section 4.1, eq. 6",
    unit="probability",
)
def santhi_vardy_bound(channel):
    """The highest Bayes risk that the uncertainty H(T|T') leaves: 1 - 2^-H, a float from 0 to 1.

    Source: eq. 6. Erratum: it needs H in bits, and eq. 7 lacks the minus sign.
    """
    expect.these(channel=channel)
    return 1 - 2 ** -conditional_entropy(channel)


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, math.inf),
    sentence="How uncertain the input is before anything is published.",
    source="Askari et al., CODASPY 2012, section 4.1",
    unit="bits",
    format="{:.3g} bits",
)
def prior_entropy(channel):
    """H(T): how uncertain the input is before anything is published, in bits: 0 (known) to log2 n."""
    expect.these(channel=channel)
    return _entropy(channel.prior)


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, math.inf),
    sentence="How uncertain the input still is once the release is seen.",
    source="Askari et al., CODASPY 2012, section 4.1, eq. 7",
    unit="bits",
    format="{:.3g} bits",
)
def conditional_entropy(channel):
    """H(T|T'): how uncertain the input still is once the output is seen, in bits: 0 (known) to H(T). Source: eq. 7.

    Erratum: the printed sum lacks its minus sign.
    """
    expect.these(channel=channel)
    # Rounding must not leave the bounds.
    return min(max(_entropy(channel.joint) - _entropy(channel.output_probability), 0.0), prior_entropy(channel))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="How much uncertainty about the input the release takes away.",
    source="Askari et al., CODASPY 2012, section 4.1",
    unit="bits",
    format="{:.3g} bits",
)
def mutual_information(channel):
    """Shannon leakage I(T; T') = H(T) - H(T|T'): how much uncertainty the output takes away.

    In bits, 0 (the release tells nothing) to H(T); lower protects more.
    """
    expect.these(channel=channel)
    return prior_entropy(channel) - conditional_entropy(channel)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    title="Min-entropy leakage",
    sentence="How many times likelier the best guess becomes right; 1 bit doubles it.",
    source="Smith, FoSSaCS 2009",
    unit="bits",
    format="{:.3g} bits",
)
def min_entropy_leakage(channel):
    """log2 of how many times likelier the best guess becomes right: 0 (the release tells nothing) and more, in bits.

    Source: Smith, "On the foundations of quantitative information flow", FoSSaCS 2009.
    """
    expect.these(channel=channel)
    return max(0.0, math.log2(posterior_vulnerability(channel) / prior_vulnerability(channel)))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="How much likelier the best guess becomes right, as a difference.",
    source="Alvim et al., The Science of Quantitative Information Flow, 2020",
    unit="probability",
)
def additive_leakage(channel):
    """How much likelier the best guess becomes right: posterior minus prior vulnerability. 0 to 1, lower is better."""
    expect.these(channel=channel)
    return posterior_vulnerability(channel) - prior_vulnerability(channel)


@measure(
    kind="privacy",
    better="lower",
    bounds=(1, math.inf),
    sentence="How many times more any adversary can gain from the release, whatever they knew and wanted.",
    source="Alvim et al., The Science of Quantitative Information Flow, 2020",
    unit="times",
)
def multiplicative_capacity(channel):
    """How many times more any adversary can gain from the output, whatever they knew and wanted: 1 and more.

    The sum over outputs of the largest P(T'|T), for gains not below 0; the prior plays no part. Reached by guessing the
    input under a uniform prior. log2 of it is the min-capacity. Source: Alvim et al., "Measuring information leakage
    using generalized gain functions", CSF 2012, theorem 5.1.
    """
    expect.these(channel=channel)
    return channel.largest(channel.probability).sum()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="The most that the release adds to what any adversary with this prior gains.",
    source="Alvim et al., The Science of Quantitative Information Flow, 2020",
    unit="distance, 0 to 1",
)
def additive_capacity(channel):
    """How much the output can add to what any adversary with this prior gains: 0 to 1, lower protects more.

    Whatever they want, if no action's gains differ by more than 1. It is the mean total variation between what is known
    of the input after and before. Over all priors it is hard to find even for `additive_leakage` alone. Source:
    Alvim et al., "Additive and multiplicative notions of leakage, and their capacities", CSF 2014; Chatzikokolakis,
    "On the additive capacity problem for quantitative information flow", QEST 2018.
    """
    expect.these(channel=channel)
    independent = channel.prior[channel.row] * channel.output_probability[channel.column]
    # Both sides add up to 1, so half the absolute difference is what the joint probability has too much.
    difference = channel.joint - independent
    return difference[difference > 0].sum()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="The most uncertainty that the release can take away, whatever was known before.",
    source="Blahut, IEEE Trans. Inf. Theory 18, 1972",
    unit="bits",
    format="{:.3g} bits",
)
def shannon_capacity(channel, tolerance=1e-9):
    """The largest `mutual_information` under any prior, in bits, too low by at most `tolerance`; lower protects more.

    Blahut and Arimoto's iteration. Raises RuntimeError if `STEPS` steps do not get there: ask for less.
    """
    expect.these(channel=channel)
    expect.positive("tolerance", tolerance)
    probability, shape = channel.probability.astype(np.float64), (len(channel.inputs), len(channel.outputs))
    prior = np.full(shape[0], 1 / shape[0])
    logs, gap = np.log2(probability), math.inf
    for _ in range(STEPS):
        outputs = np.bincount(channel.column, prior[channel.row] * probability, shape[1])
        told = np.bincount(channel.row, probability * (logs - np.log2(outputs[channel.column])), shape[0])
        weights = prior * 2**told
        low = math.log2(weights.sum())
        gap = told.max() - low
        if gap <= tolerance:
            return max(0.0, low)
        prior = np.maximum(weights / weights.sum(), 1e-300)  # an input that falls to 0 would never come back
    raise RuntimeError(f"the capacity is known to {gap:.1g} bits, asked for {tolerance:g}. Raise the tolerance.")


def prior_gain(channel, gain):
    """What an adversary gains by their best action before anything is published; see `posterior_gain`."""
    expect.these(channel=channel)
    return max((action * channel.prior).sum() for action in _actions(channel, gain))


def posterior_gain(channel, gain):
    """g-vulnerability: what an adversary gains who acts best on what is published.

    `gain`: array (actions, n), what each action gains for each true input, in any unit; lower protects more, and it is
    never below `prior_gain`. The identity matrix gives `posterior_vulnerability`. Whole numbers and fractions keep an
    exact channel exact. Source: Alvim et al., CSF 2012.
    """
    expect.these(channel=channel)
    gains = (channel.summed(action[channel.row] * channel.joint) for action in _actions(channel, gain))
    return reduce(np.maximum, gains).sum()


def expected_degradation(channel, before, after):
    """Utility_G: how much utility an input loses on average by being published, in the unit of the utilities.

    `before`: utilities of the inputs, array (n,); `after`: of the outputs, array (m,). Lower is better; below 0 the
    releases look more useful than the originals. Since each input is published as something, the double sum of eq. 16
    is the difference of two means. Erratum: the paper calls this loss a utility.
    """
    expect.these(channel=channel)
    expect.vector("before", before, len(channel.inputs))
    expect.vector("after", after, len(channel.outputs))
    return channel.prior.astype(np.float64) @ before - channel.output_probability.astype(np.float64) @ after


def _actions(channel, gain):
    expect.kind("gain", gain, np.ndarray, list, tuple)
    gain = np.asarray(gain)
    if gain.ndim != 2 or not len(gain) or gain.shape[1] != len(channel.inputs):
        raise ValueError(f"gains need shape (actions, {len(channel.inputs)}), got {gain.shape}.")
    return gain.astype(object) if channel.exact and gain.dtype.kind in "biu" else gain


def _entropy(probabilities):
    from scipy.special import entr

    return float(entr(probabilities.astype(np.float64)).sum() / math.log(2))
