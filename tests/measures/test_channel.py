"""Channels: the paper's appendix, closed forms, plain definitions, and the same numbers by another package."""

import math
from fractions import Fraction

import numpy as np
import pytest
import qif
from hypothesis import given, settings, strategies as st

from privnb.measures.disclosure import channel as measures
from privnb.measures.disclosure.channel import (
    additive_capacity,
    bayes_risk,
    conditional_entropy,
    error_bounds,
    expected_degradation,
    min_entropy_leakage,
    multiplicative_capacity,
    mutual_information,
    posterior_gain,
    posterior_vulnerability,
    prior_entropy,
    prior_gain,
    prior_vulnerability,
    santhi_vardy_bound,
)
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.papers.askari_2012.enumeration.errata import appendix_channel, uniform_channel

OF_CHANNELS = {name: value for name, value in vars(measures).items() if hasattr(value, "facts")}

FIRST_IS_KNOWN = [1, 0, 0, 0]


@st.composite
def channels(draw):
    """Small exact channels with zeros, unused outputs and impossible inputs."""
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    weights = st.integers(0, 6)
    rows = [draw(st.lists(weights, min_size=m, max_size=m).filter(any)) for _ in range(n)]
    prior = draw(st.lists(weights, min_size=n, max_size=n).filter(any))
    matrix = [[Fraction(weight, sum(row)) for weight in row] for row in rows]
    return Channel.of(matrix, [Fraction(weight, sum(prior)) for weight in prior])


def floats(channel):
    return Channel.of(channel.matrix.astype(float), channel.prior.astype(float))


def bits(shares):
    return -sum(share * math.log2(share) for share in map(float, shares) if share)


# The paper's appendix.


def test_the_appendix():
    channel = appendix_channel()
    assert channel.exact
    assert posterior_vulnerability(channel) == Fraction(125, 272)
    assert bayes_risk(channel) == Fraction(147, 272)
    assert multiplicative_capacity(channel) == Fraction(125, 68)
    assert conditional_entropy(channel) == pytest.approx(1.680905, abs=5e-7)
    assert santhi_vardy_bound(channel) == pytest.approx(0.688113, abs=5e-7)


def test_the_appendix_uniform_channel_tells_nothing():
    channel = uniform_channel()
    assert bayes_risk(channel) == Fraction(3, 4) == 1 - prior_vulnerability(channel)
    assert multiplicative_capacity(channel) == 1
    assert additive_capacity(channel) == 0
    bits_told = [min_entropy_leakage(channel), mutual_information(channel)]
    assert bits_told == pytest.approx([0, 0], abs=1e-12)
    assert santhi_vardy_bound(channel) == pytest.approx(0.75)


@pytest.mark.parametrize("channel", [appendix_channel(FIRST_IS_KNOWN), uniform_channel(FIRST_IS_KNOWN)])
def test_who_knows_the_table_never_errs(channel):
    assert bayes_risk(channel) == 0
    assert prior_entropy(channel) == conditional_entropy(channel) == 0


def test_a_weak_adversary_is_a_restricted_prior():
    channel = appendix_channel().restricted_to([True, True, False, False])
    assert channel.prior.tolist() == [Fraction(1, 2), Fraction(1, 2), 0, 0]
    right = max(Fraction(5, 17), 0) + max(Fraction(2, 17), Fraction(20, 35)) + Fraction(5, 35) + Fraction(10, 17)
    assert bayes_risk(channel) == 1 - right / 2
    assert bayes_risk(channel) < bayes_risk(appendix_channel())


def test_randomized_response():
    n, odds = 14, math.e
    matrix = np.full((n, n), 1 / (odds + n - 1))
    np.fill_diagonal(matrix, odds / (odds + n - 1))
    channel = Channel.of(matrix)
    assert not channel.exact
    assert posterior_vulnerability(channel) == pytest.approx(0.172937593, abs=5e-10)
    assert multiplicative_capacity(channel) == pytest.approx(2.4211263, abs=5e-8)
    assert mutual_information(channel) == pytest.approx(math.log2(n) - bits(matrix[0]))


def test_truncated_geometric_noise():
    ages, alpha = np.arange(83), math.exp(-0.1)
    matrix = alpha ** np.abs(ages[:, None] - ages) / (1 + alpha)
    matrix[:, 1:-1] *= 1 - alpha
    assert multiplicative_capacity(Channel.of(matrix)) == pytest.approx(5.0965867, abs=5e-8)


# Plain definitions, and what must hold of any channel.


@settings(deadline=None)
@given(channels())
def test_by_plain_definitions(channel):
    matrix, prior = channel.matrix.tolist(), channel.prior.tolist()
    n, m = len(prior), len(matrix[0])
    joint = [[prior[x] * matrix[x][y] for y in range(m)] for x in range(n)]
    shares = [sum(joint[x][y] for x in range(n)) for y in range(m)]
    assert channel.output_probability.tolist() == shares
    assert posterior_vulnerability(channel) == sum(max(joint[x][y] for x in range(n)) for y in range(m))
    assert additive_capacity(channel) == sum(
        abs(joint[x][y] - prior[x] * shares[y]) for x in range(n) for y in range(m)
    ) / 2  # fmt: skip
    uncertainty = sum(float(q) * bits([joint[x][y] / q for x in range(n)]) for y, q in enumerate(shares) if q)
    assert conditional_entropy(channel) == pytest.approx(uncertainty, abs=1e-12)


@settings(deadline=None)
@given(channels())
def test_bounds_and_orders(channel):
    low, high = error_bounds(channel)
    assert low <= bayes_risk(channel) <= high
    assert bayes_risk(channel) <= santhi_vardy_bound(channel) + 1e-12
    assert 0 <= posterior_vulnerability(channel) - prior_vulnerability(channel) <= additive_capacity(channel) <= 1
    assert posterior_vulnerability(channel) <= multiplicative_capacity(channel) * prior_vulnerability(channel)
    assert mutual_information(channel) <= math.log2(multiplicative_capacity(channel)) + 1e-9
    for name, value in OF_CHANNELS.items():
        low, high = value.facts.bounds
        assert low - 1e-12 <= value(channel) <= high + 1e-12, name


@settings(deadline=None)
@given(channels())
def test_floats_are_the_fractions(channel):
    other = floats(channel)
    assert not other.exact
    for name, value in OF_CHANNELS.items():
        assert value(other) == pytest.approx(float(value(channel)), abs=1e-9), name


@settings(deadline=None)
@given(channels(), st.randoms(use_true_random=False))
def test_gains(channel, random):
    n = len(channel.inputs)
    assert posterior_gain(channel, np.eye(n, dtype=int)) == posterior_vulnerability(channel)
    assert prior_gain(channel, np.eye(n, dtype=int)) == prior_vulnerability(channel)
    gain = np.array([[random.randint(-3, 3) for _ in range(n)] for _ in range(3)])
    joint = channel.prior[:, None] * channel.matrix
    assert posterior_gain(channel, gain) == (gain.astype(object) @ joint).max(axis=0).sum()
    assert prior_gain(channel, gain) <= posterior_gain(channel, gain)
    # No gain function gets more out of the channel than the additive capacity, if no action's gains differ by over 1.
    within_one = gain / 6 + np.arange(3)[:, None]
    assert (
        posterior_gain(channel, within_one) - prior_gain(channel, within_one)
        <= float(additive_capacity(channel)) + 1e-12
    )


def test_the_additive_capacity_is_reached():
    """By actions, one an output, that bet on the inputs which it makes likelier at what such a bet was worth before."""
    channel = appendix_channel()
    bets = (channel.matrix > channel.output_probability).T.astype(object)
    fair = bets - (bets @ channel.prior)[:, None]
    assert prior_gain(channel, fair) == 0
    assert posterior_gain(channel, fair) == additive_capacity(channel) == Fraction(4713, 19040)


def test_the_expected_degradation_is_the_double_sum():
    channel, before, after = (
        appendix_channel(["1/2", "1/4", "1/8", "1/8"]),
        np.array([3, 1, 4, 1.5]),
        np.array([2.0, 7, 1, 8]),
    )
    double = sum(
        float(channel.prior[x] * channel.matrix[x, y]) * (before[x] - after[y]) for x in range(4) for y in range(4)
    )
    assert expected_degradation(channel, before, after) == pytest.approx(double)


# The same numbers by another package.


@settings(deadline=None)
@given(channels())
def test_as_qif_says(channel):
    prior, matrix = channel.prior.astype(float), channel.matrix.astype(float)
    guessing, shannon, gains = qif.measure.bayes_vuln, qif.measure.shannon, qif.measure.g_vuln
    same = pytest.approx
    assert float(prior_vulnerability(channel)) == same(guessing.prior(prior))
    assert float(posterior_vulnerability(channel)) == same(guessing.posterior(prior, matrix))
    assert float(bayes_risk(channel)) == same(qif.measure.bayes_risk.posterior(prior, matrix), abs=1e-12)
    gained = posterior_vulnerability(channel) - prior_vulnerability(channel)
    assert float(gained) == same(guessing.add_leakage(prior, matrix), abs=1e-12)
    assert float(multiplicative_capacity(channel)) == same(guessing.mult_capacity(matrix))
    assert min_entropy_leakage(channel) == same(guessing.min_entropy_leakage(prior, matrix), abs=1e-12)
    assert prior_entropy(channel) == same(shannon.prior(prior), abs=1e-9)
    assert conditional_entropy(channel) == same(shannon.posterior(prior, matrix), abs=1e-9)
    assert mutual_information(channel) == same(shannon.add_leakage(prior, matrix), abs=1e-9)
    gain = np.arange(3 * len(prior)).reshape(3, -1) % 5 / 4
    assert posterior_gain(channel, gain) == same(gains.posterior(gain, prior, matrix))
    assert prior_gain(channel, gain) == same(gains.prior(gain, prior))


@pytest.mark.parametrize("channel", [appendix_channel(), uniform_channel()])
def test_capacities_as_qif_says(channel):
    prior, matrix = channel.prior.astype(float), channel.matrix.astype(float)
    assert float(additive_capacity(channel)) == pytest.approx(qif.measure.g_vuln.add_capacity(prior, matrix, True))


# What is kept, and what is refused.


def test_what_a_channel_keeps():
    channel = Channel.of([["1/3", "2/3"], [1, 0]], inputs=("a", "b"), outputs=("x", "y"))
    assert repr(channel) == "Channel(2 inputs, 2 outputs, fractions)"
    assert channel.inputs[1] == "b"
    assert channel.to_frame().loc["a", "y"] == Fraction(2, 3)
    assert channel.matrix.tolist() == [[Fraction(1, 3), Fraction(2, 3)], [1, 0]]
    assert not channel.with_prior([0.3, 0.7]).exact
    assert Channel.of([[0.5, 0.5], [Fraction(1), 0]]).matrix.tolist() == [[0.5, 0.5], [1, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Channel.of([["1/2", "1/3"]]), "row 0 of the channel must add up to 1; got 5/6"),
        (lambda: Channel.of([[0.5, 0.5], [0.5, 0.4]]), "row 1 of the channel must add up to 1; got 0.9"),
        (lambda: Channel.of([[0, 0], [1, 0]]), "row 0 of the channel must add up to 1; got 0"),
        (lambda: Channel.of([[2, -1]]), "got a number below 0"),
        (lambda: Channel.of([[np.nan, 1]]), "must add up to 1; got nan"),
        (lambda: Channel.of([[1], [1]], ["1/2", "1/3"]), "the prior must add up to 1; got 5/6"),
        (lambda: Channel.of([[1], [1]], [1]), r"a probability for each of 2 inputs; got an array of shape \(1,\)"),
        (lambda: Channel.of([1]), r"a row for each input and a column for each output; got an array of shape \(1,\)"),
        (lambda: Channel.of([[1], [1]], inputs="a"), "the matrix is larger than 1 inputs by 1 outputs"),
        (lambda: appendix_channel(FIRST_IS_KNOWN).restricted_to([False, True, True, True]), "must allow an input"),
        (
            lambda: posterior_gain(appendix_channel(), [[1, 0]]),
            r"`gain` must have the shape \(actions, 4\); got the shape \(1, 2\)",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
