"""Closed forms of noise: against their matrices, integrals, what the mechanisms draw, and qif."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import qif
from hypothesis import given, settings, strategies as st

from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure import channel
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.sanitizers import GeometricNoise, LaplaceNoise, RandomizedResponse
from privnb.sanitizers.noise import mechanisms, noise_channel
from privnb.sanitizers.noise.laws import Geometric, Laplace, Response

PRIORS = st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(any).map(lambda n: np.array(n) / sum(n))
SCALES = st.floats(0.05, 50)


# The oracles: matrices of the mechanisms


def response_channel(size, epsilon, prior=None):
    """k-ary randomized response over `size` categories."""
    true = mechanisms.keep_probability(size, epsilon)
    return Channel.of(np.where(np.eye(size), true, (1 - true) / (size - 1)), prior)


def geometric_channel(size, scale, prior=None):
    """Two-sided geometric noise on 0..size-1, with what lies outside moved to the nearest end.

    Nothing is lost by that: beyond an end each further step makes all true values less likely by the same factor.
    Source: Ghosh, Roughgarden, Sundararajan, STOC 2009, the truncated geometric mechanism.
    """
    steps, decay = np.arange(size), np.exp(-1 / scale)
    matrix = decay ** np.abs(steps[:, None] - steps) * np.tanh(1 / (2 * scale))
    matrix[:, [0, -1]] = decay ** np.stack([steps, steps[::-1]], axis=1) / (1 + decay)
    return Channel.of(matrix, prior)


def guessed(law, prior, steps=None):
    """How likely a true value is guessed from a noisy cell, where it is one of these steps of the domain."""
    return law.vulnerability(prior, np.arange(len(prior)) if steps is None else steps)


def response(prior, epsilon):
    return guessed(Response(epsilon, len(prior)), prior)


def test_randomized_response_over_14_values():
    uniform = np.full(14, 1 / 14)
    assert response(uniform, 1) == pytest.approx(0.172937593, abs=5e-10)
    found = response_channel(14, 1)
    assert channel.posterior_vulnerability(found) == pytest.approx(0.172937593, abs=5e-10)
    assert channel.multiplicative_capacity(found) == pytest.approx(2.4211263, abs=5e-8), "a factor, 1.2757 bits"


def test_truncated_geometric_noise_on_83_ages():
    found = geometric_channel(83, 1 / 0.1)
    assert channel.multiplicative_capacity(found) == pytest.approx(5.0965867, abs=5e-8), "a factor, 2.3495 bits"
    uniform = guessed(Geometric(1 / 0.1, 1), np.full(83, 1 / 83))
    assert 83 * uniform == pytest.approx(5.0965867, abs=5e-8)


@pytest.mark.parametrize(
    ("sanitizer", "name", "factor"),
    [(RandomizedResponse(1.0), "occupation", 2.4211263), (GeometricNoise(0.1, {"age": 1}), "age", 5.0965867)],
)
def test_the_oracles_are_adults(sanitizer, name, factor):
    """14 occupations; ages of 17 to 99."""
    attribute = load("adult", records=10).schema[name]
    assert noise_channel.cell_capacity(sanitizer._law(attribute), attribute) == pytest.approx(factor, abs=5e-8)


@settings(max_examples=60, deadline=None)
@given(PRIORS, st.floats(0.1, 5))
def test_response_agrees_with_its_matrix_and_qif(prior, epsilon):
    found = response_channel(len(prior), epsilon, prior)
    theirs = qif.mechanism.d_privacy.randomized_response(len(prior), epsilon)
    assert found.matrix == pytest.approx(np.array(theirs), rel=1e-12)
    closed = response(prior, epsilon)
    assert closed == pytest.approx(channel.posterior_vulnerability(found), rel=1e-12)
    assert closed == pytest.approx(qif.measure.bayes_vuln.posterior(prior, theirs), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(PRIORS, SCALES)
def test_geometric_agrees_with_its_matrix_and_qif(prior, scale):
    found = geometric_channel(len(prior), scale, prior)
    theirs = qif.mechanism.d_privacy.geometric(len(prior), 1 / scale)
    assert found.matrix == pytest.approx(np.array(theirs), rel=1e-9, abs=1e-300)
    closed = guessed(Geometric(scale, 1), prior)
    assert closed == pytest.approx(channel.posterior_vulnerability(found), rel=1e-12)
    assert closed == pytest.approx(qif.measure.bayes_vuln.posterior(prior, theirs), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(PRIORS, st.floats(0.05, 20))
def test_truncating_geometric_noise_loses_nothing(prior, scale):
    """By the mechanism's own probabilities, far beyond both ends."""
    decay, values = math.exp(-1 / scale), np.arange(len(prior))[:, None]
    outputs = np.arange(-1000, 1000 + len(prior))
    untruncated = (1 - decay) / (1 + decay) * decay ** np.abs(outputs - values)
    likeliest = (prior[:, None] * untruncated).max(axis=0).sum()
    assert guessed(Geometric(scale, 1), prior) == pytest.approx(likeliest, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(PRIORS, st.floats(0.3, 20))
def test_laplace_agrees_with_its_integral_and_tells_no_more_than_geometric(prior, scale):
    ends = 25 * scale
    outputs, width = np.linspace(-ends, len(prior) + ends, 200_001, retstep=True)
    density = np.exp(-np.abs(outputs - np.arange(len(prior))[:, None]) / scale) / (2 * scale)
    likeliest = (prior[:, None] * density).max(axis=0)
    closed = guessed(Laplace(scale, 1), prior)
    assert closed == pytest.approx(likeliest.sum() * width, abs=2e-4)
    assert prior.max() - 1e-12 <= closed <= guessed(Geometric(scale, 1), prior) + 1e-12


@settings(max_examples=60, deadline=None)
@given(PRIORS, SCALES, st.integers(1, 6), st.integers(0, 5))
def test_only_numbers_that_occur_are_needed(prior, scale, apart, start):
    """With steps between them, and others before: as a long prior with zeros."""
    steps = start + apart * np.arange(len(prior))
    long = np.zeros(steps[-1] + 4)
    long[steps] = prior
    for law in (Geometric(scale, 1), Laplace(scale, 1)):
        assert guessed(law, prior, steps) == pytest.approx(guessed(law, long), rel=1e-12)
        assert guessed(law, prior, steps) >= guessed(law, prior) - 1e-12, "numbers further apart are told apart"


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), SCALES, st.floats(0.05, 6))
def test_capacity_is_reached_by_a_uniform_prior(size, scale, epsilon):
    numbers = Attribute("a", Role.QUASI_IDENTIFIER, Numbers(0, (size - 1) * 0.5, 0.5))
    several = Attribute("a", Role.QUASI_IDENTIFIER, Categories(tuple(map(str, range(size)))))
    uniform, sensitivity = np.full(size, 1 / size), {"a": scale * 0.5}
    for sanitizer, attribute, reached in (
        (GeometricNoise(1.0, sensitivity), numbers, guessed(Geometric(scale, 1), uniform)),
        (LaplaceNoise(1.0, sensitivity), numbers, guessed(Laplace(scale, 1), uniform)),
        (RandomizedResponse(epsilon), several, response(uniform, epsilon)),
    ):
        assert noise_channel.cell_capacity(sanitizer._law(attribute), attribute) == pytest.approx(size * reached)


# What the sanitizers draw


def made(columns, n, *, seed):
    """A table of `columns`, {name: domain}, with `n` people drawn unevenly."""
    rng = np.random.default_rng(seed)
    attributes, table = [], {}
    for name, domain in columns.items():
        attributes.append(Attribute(name, Role.QUASI_IDENTIFIER, domain))
        values = domain.values if isinstance(domain, Categories) else [domain.value(c) for c in range(9)]
        table[name] = rng.choice(np.array(values), n, p=rng.dirichlet(np.ones(len(values))))
    schema = Schema("made", tuple(attributes))
    return Dataset("made", pd.DataFrame(table), schema, {a.name: flat(a) for a in attributes})


SMALL = {"town": Categories(("a", "b", "c")), "job": Categories(("d", "e", "f", "g"))}


@pytest.mark.parametrize(
    ("sanitizer", "columns"),
    [
        (RandomizedResponse(3.0), {"town": SMALL["town"]}),
        (GeometricNoise(0.7, {"age": 1}), {"age": Numbers(10, 18)}),
        (LaplaceNoise(0.7, {"dose": 0.25}), {"dose": Numbers(0.5, 2.5, 0.25)}),
    ],
    ids=repr,
)
def test_cells_are_guessed_as_often_as_said(sanitizer, columns):
    """The best guess from each drawn cell, by Bayes' rule, is right in so many of 200,000 cells."""
    data, name = made(columns, 200_000, seed=1), next(iter(columns))
    attribute, values = data.schema[name], data.table[name].to_numpy()
    cells = sanitizer.sanitize(data, rng=2).table[name].to_numpy()
    distinct, of, people = np.unique(values, return_inverse=True, return_counts=True)
    if attribute.numeric:
        unit = (sanitizer.sensitivity[name]) / sanitizer.epsilon
        likelihood = np.exp(-np.abs(cells.astype(float)[:, None] - distinct) / unit)
    else:
        likelihood = np.where(cells[:, None] == distinct, math.exp(sanitizer.epsilon), 1)
    right = ((likelihood * people).argmax(axis=1) == of).mean()
    said = noise_channel.cell_vulnerability(sanitizer._law(attribute), attribute, data.table[name])
    assert right == pytest.approx(said, abs=4 * math.sqrt(said * (1 - said) / len(data)))
    assert people.max() / len(data) + 0.02 < said < 0.98, "or this shows nothing"


def test_a_matrix_is_what_the_mechanism_draws():
    shares = np.bincount(mechanisms.randomize_response(np.full(100_000, 1), 3, 0.8, rng=1)) / 100_000
    assert shares == pytest.approx(response_channel(3, 0.8).matrix[1], abs=0.006)
    drawn = np.clip(mechanisms.add_geometric_noise(np.full(100_000, 3), 2.0, rng=1), 0, 6)
    assert np.bincount(drawn) / 100_000 == pytest.approx(geometric_channel(7, 2.0).matrix[3], abs=0.006)


# Whose row is it?


def by_hand(data, epsilon):
    """How likely the person of a row is guessed, with randomized response: the sum over all rows that there can be."""
    attributes = [data.schema[name] for name in data.schema.quasi_identifiers]
    people, found = list(zip(*(data.table[a.name] for a in attributes), strict=True)), 0
    cells = [sorted(set(data.table[a.name])) if a.numeric else a.domain.values for a in attributes]
    for row in itertools.product(*cells):
        likelihoods = [
            math.prod(
                float(true == cell) if a.numeric else likelihood(true == cell, len(a.domain.values), epsilon)
                for true, cell, a in zip(person, row, attributes, strict=True)
            )
            for person in people
        ]
        found += max(likelihoods) / len(people)
    return found


def likelihood(same, size, epsilon):
    return (math.exp(epsilon) if same else 1) / (math.exp(epsilon) + size - 1)


def test_who_is_behind_a_row_with_one_noisy_attribute_is_exact():
    """Ages are published as they are: a row can only be of people of that age."""
    data, sanitizer = made({"town": SMALL["town"], "age": Numbers(20, 28)}, 40, seed=3), RandomizedResponse(1.2)
    found = noise_channel.identification(data, sanitizer.sanitize(data, rng=1), rng=1)
    assert found[0] == pytest.approx(by_hand(data, 1.2))
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("pairs", [1, 50])
def test_it_does_not_matter_how_many_are_compared_at_a_time(pairs, monkeypatch):
    data, sanitizer = made({**SMALL, "age": Numbers(20, 60)}, 200, seed=5), RandomizedResponse(1.2)
    release = sanitizer.sanitize(data, rng=1)
    together = noise_channel.identification(data, release, rng=1)
    monkeypatch.setattr(noise_channel, "count_combinations", lambda table: pytest.fail("the register is read again"))
    monkeypatch.setattr(noise_channel, "MAX_PAIRS", pairs)
    assert noise_channel.identification(data, release, rng=1) == pytest.approx(together, rel=1e-12)


@pytest.mark.slow
def test_who_is_behind_a_row_with_several_is_estimated_without_bias():
    """Over 100 releases of 60 people: the mean is right, and 95 % intervals hold about so often."""
    data, sanitizer = made({**SMALL, "age": Numbers(20, 60)}, 60, seed=4), RandomizedResponse(1.2)
    truth = by_hand(data, 1.2)
    found = np.array(
        [noise_channel.identification(data, sanitizer.sanitize(data, rng=seed), rng=seed) for seed in range(100)]
    )
    assert found[:, 0].mean() == pytest.approx(truth, abs=4 * found[:, 0].std() / 10)
    assert found[:, 0].std() > 0
    held = ((found[:, 1] <= truth) & (truth <= found[:, 2])).mean()
    assert held > 0.85
    assert (found[:, 1] >= 1 / 60).all()


@pytest.mark.parametrize("kind", [GeometricNoise, LaplaceNoise])
def test_a_noisy_number_among_people_alike_in_the_rest(kind):
    """One noisy number, exactly; against the estimate that several would get, on the same release."""
    columns = {"age": Numbers(20, 60), "dose": Numbers(0, 4, 0.5), "town": SMALL["town"]}
    data = made(columns, 3000, seed=5)
    one = Dataset("one", data.table.drop(columns="dose"), Schema("one", tuple(
        a for a in data.schema.attributes if a.name != "dose"
    )), data.hierarchies)  # fmt: skip
    exact, *_ = noise_channel.identification(one, kind(1.0, {"age": 2}).sanitize(one, rng=1), rng=1)
    # A dose with noise so large that it tells nothing: then the two are the same adversary.
    nothing = kind(1.0, {"age": 2, "dose": 1e9})
    alike = Dataset("alike", data.table.assign(dose=2.0), data.schema, data.hierarchies)
    estimate, low, high = noise_channel.identification(alike, nothing.sanitize(alike, rng=1), rng=1)
    assert low < exact < high or exact == pytest.approx(estimate, rel=0.1)
    assert 1.5 / 3000 < exact < 27 / 3000


@pytest.mark.parametrize("kind", [GeometricNoise, LaplaceNoise])
@pytest.mark.parametrize("epsilon", [0.001, 1, 500])
def test_a_noisy_number_is_found_in_each_group_by_itself(kind, epsilon):
    """The sum over the groups of what the closed form says of each; also where noise is far wider than the domain."""
    data, sanitizer = made({"town": SMALL["town"], "age": Numbers(20, 60)}, 300, seed=8), kind(epsilon)
    by_town = [np.unique(ages) - 20 for _, ages in data.table.groupby("town")["age"]]
    law = type(sanitizer._law(data.schema["age"]))(40 / epsilon, 1)
    expected = sum(guessed(law, np.ones(len(steps)), steps) for steps in by_town) / 300
    found = noise_channel.identification(data, sanitizer.sanitize(data, rng=1), rng=1)
    assert found[0] == pytest.approx(expected, rel=1e-12)


def test_without_noise_worth_the_name_rows_are_found_as_in_the_original():
    data = made(SMALL, 200, seed=6)
    sanitizer = RandomizedResponse(40.0)
    found, *_ = noise_channel.identification(data, sanitizer.sanitize(data, rng=1), rng=1)
    assert found == pytest.approx(len(data.table.drop_duplicates()) / 200)
    blind = RandomizedResponse(1e-9)
    found, *_ = noise_channel.identification(data, blind.sanitize(data, rng=1), rng=1)
    assert found == pytest.approx(1 / 200)
