"""COUNT queries by hand, against plain counting, and what Li and Li's figure 3 says of them."""

import math
import re
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.plain_reconstruction import HIERARCHIES, SCHEMA, TREES, count, leaves, toy
from support.worked_example import on_a_line, releases

from privnb.datasets.dataset import Dataset, load
from privnb.measures.base import measure_facts
from privnb.measures.utility import queries, reconstruction
from privnb.measures.utility.queries import CountQueries, average_relative_error, median_relative_error, relative_errors
from privnb.privacy_models import JensenShannonCloseness, KAnonymity
from privnb.sanitizers import Bucketize, Identity, LaplaceNoise, Mondrian, RandomizedResponse, Suppress

SANITIZERS = (
    Identity(),
    Suppress(),
    Suppress("sensitive"),
    Mondrian(KAnonymity(3)),
    Bucketize(Mondrian(KAnonymity(3))),
    LaplaceNoise(2.0),
    RandomizedResponse(1.0),
)


@pytest.fixture(scope="module")
def line():
    return on_a_line(load("adult", "li-li"))


def asked(found, query):
    """A query in plain terms: `({attribute: values as text}, sensitive values)`."""
    group = {}
    for name, (hierarchy, part) in found.lines.items():
        positions = np.flatnonzero(found.sets[name][query][part])
        group[name] = {leaves(hierarchy)[position] for position in positions}
    return group, set(found.values[found.chosen[query][:-1]])


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(6, 25), seed=st.integers(0, 10**6), dimension=st.integers(1, 3),
    sanitizer=st.sampled_from(SANITIZERS), reading=st.sampled_from(queries.READINGS),
)  # fmt: skip
def test_the_answers_are_those_of_plain_counting(rows, seed, dimension, sanitizer, reading):
    data = toy(rows, seed, TREES if seed % 2 else HIERARCHIES)
    found = CountQueries.of(data, "disease", dimension, 0.3, rng=seed, number=5, reading=reading)
    release = sanitizer.sanitize(data, rng=seed)
    answers, table = found.answers(release), data.table.astype(str)
    for query in range(5):
        group, diseases = asked(found, query)
        fits = [table[name].isin(values) for name, values in group.items()]
        assert found.actual[query] == np.all([*fits, table.disease.isin(diseases)], axis=0).sum()
        assert answers[query] == pytest.approx(count(release, group, diseases), abs=1e-9)


def test_by_hand():
    """Six people of town a, two of them ill with flu; two of town b, both; one query asks for each pair."""
    table = toy(8, 0).table.assign(
        age=0, grade="low", town=["a"] * 6 + ["b"] * 2, disease=["cold"] * 4 + ["flu"] * 2 + ["flu"] * 2
    )
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    names = data.schema.quasi_identifiers
    found = CountQueries.of(data, "disease", len(names), 0.0625, rng=3, number=40)  # 2 * 0.0625 ** (1 / 4) is 1
    pairs = [(group["town"].pop(), diseases.pop()) for group, diseases in (asked(found, q) for q in range(40))]
    truth = {("a", "cold"): 4, ("a", "flu"): 2, ("b", "cold"): 0, ("b", "flu"): 2}
    assert set(pairs) == set(truth)
    assert found.actual.tolist() == [truth[pair] for pair in pairs]
    assert found.empty == pairs.count(("b", "cold"))
    # Four have either disease: a third of them is thought to be of any town and grade, an eighth of any age.
    assert found.answers(Suppress().sanitize(data, rng=0)) == pytest.approx([4 / 3 / 3 / 8] * 40)
    bucketized = Bucketize(Suppress()).sanitize(data, rng=0)
    half = {"a": 3, "b": 1}  # quasi-identifiers are exact, and half of the bucket has either disease
    assert found.answers(bucketized) == pytest.approx([half[town] for town, _ in pairs])
    errors = [abs(half[pair[0]] - truth[pair]) / truth[pair] for pair in pairs if truth[pair]]
    assert relative_errors(found, bucketized) == pytest.approx(errors)
    assert average_relative_error(found, bucketized) == pytest.approx(sum(errors) / len(errors))
    assert median_relative_error(found, bucketized) == pytest.approx(median(errors))
    assert repr(found) == f"CountQueries(40 about age, town, grade and disease, {found.empty} of nobody)"


@pytest.mark.parametrize(("reading", "share"), [("product", 0.05 ** (1 / 5)), ("literal", 0.05)])
def test_each_query_names_that_share_of_the_values(line, reading, share):
    found = CountQueries.of(line, "occupation", 4, 0.05, rng=1, number=200, reading=reading)
    involved = np.zeros(200, dtype=int)
    for name in line.schema.quasi_identifiers:
        occurring = line.table[name].nunique()
        named = found.sets[name].sum(axis=1)
        assert found.sets[name].shape == (200, occurring)
        assert set(named) == {math.ceil(occurring * share), occurring}
        involved += named < occurring
    # An attribute may be asked for and yet told by nothing: where both of two sexes are named.
    assert set(involved) == ({3, 4} if reading == "product" else {4})
    assert (found.chosen.sum(axis=1) == math.ceil(14 * share)).all()
    assert not found.chosen[:, -1].any()


def test_a_share_of_the_values_is_not_rounded_up_by_rounding():
    assert 0.07 * 100 > 7
    assert queries._draw(np.random.default_rng(0), 3, 100, 0.07).sum(axis=1).tolist() == [7, 7, 7]


def test_values_that_nobody_has_are_never_asked_for():
    """Of the eight ages of the domain two occur; a query names one, and their box is spread over eight."""
    table = toy(20, 2).table.assign(age=[1, 6] * 10, town="a", grade="low", disease="flu")
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    found = CountQueries.of(data, "disease", 3, 0.01, rng=0, number=30)
    assert {frozenset(asked(found, query)[0]["age"]) for query in range(30)} == {frozenset({"1"}), frozenset({"6"})}
    assert found.actual.tolist() == [10] * 30
    assert found.answers(Suppress("age").sanitize(data, rng=0)) == pytest.approx([20 / 8] * 30)


def test_the_seed_decides():
    data = toy(50, 3)
    one, again, other = (CountQueries.of(data, "disease", 2, 0.2, rng=rng) for rng in (1, 1, 2))
    assert np.array_equal(one.actual, again.actual)
    assert not np.array_equal(one.actual, other.actual)
    assert len(one) == 1000


@pytest.fixture(scope="module")
def answered(line):
    """Average relative error of a bucketized release, t = 0.15, by (qd, sel), as figure 3 varies them."""
    _, bucketized = releases(line, JensenShannonCloseness(0.15, "occupation"))
    cases = [(4, 0.03), (4, 0.05), (4, 0.07), (4, 0.1), (2, 0.05), (6, 0.05)]
    return {
        (qd, sel): average_relative_error(CountQueries.of(line, "occupation", qd, sel, rng=1, number=400), bucketized)
        for qd, sel in cases
    }


@pytest.mark.slow
def test_errors_fall_with_selectivity_and_with_dimension(answered):
    """Figures 3(b) and 3(c)."""
    by_selectivity = [answered[4, sel] for sel in (0.03, 0.05, 0.07, 0.1)]
    assert by_selectivity == sorted(by_selectivity, reverse=True)
    assert answered[2, 0.05] > answered[4, 0.05] > answered[6, 0.05]


@pytest.mark.parametrize(
    ("case", "percent"),
    [((4, 0.03), 4.8), ((4, 0.05), 3.4), ((4, 0.07), 1.9), ((4, 0.1), 1.4), ((2, 0.05), 4.9), ((6, 0.05), 1.7)],
)
def test_errors_are_as_large_as_another_study_found(answered, case, percent):
    """Its queries are other draws: of the same size, not the same."""
    assert percent / 2 < 100 * answered[case] < percent * 2


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "share"), [(2, 0.27), (4, 0.85)])
def test_the_literal_reading_leaves_most_queries_nobody(line, dimension, share):
    """The study: 27 % of the queries about two quasi-identifiers count nobody, 85 % of those about four."""
    found = CountQueries.of(line, "occupation", dimension, 0.05, rng=1, reading="literal")
    assert found.empty / len(found) == pytest.approx(share, abs=0.04)
    exact = Identity().sanitize(line, rng=0)
    assert len(relative_errors(found, exact)) == len(found) - found.empty
    assert average_relative_error(found, exact) == pytest.approx(0, abs=1e-12)


def test_what_cannot_be_asked_is_refused(monkeypatch):
    data = toy(30, 4)
    with pytest.raises(ValueError, match="`dimension` must be a whole number from 1 to 3; got 4"):
        CountQueries.of(data, "disease", 4, 0.1, rng=0)
    with pytest.raises(ValueError, match="`number` must be a whole number from 1 to 100000; got 0"):
        CountQueries.of(data, "disease", 2, 0.1, rng=0, number=0)
    with pytest.raises(ValueError, match="selectivity must be a share above 0"):
        CountQueries.of(data, "disease", 2, 0, rng=0)
    with pytest.raises(ValueError, match="reading must be one of product, literal; got 'anatomy'"):
        CountQueries.of(data, "disease", 2, 0.1, rng=0, reading="anatomy")
    with pytest.raises(ValueError, match="'town' is a quasi-identifier"):
        CountQueries.of(data, "town", 2, 0.1, rng=0)
    monkeypatch.setattr(reconstruction, "MAX_VALUES", 3)
    many = Dataset("toy", data.table.assign(age=np.arange(30) % 8), SCHEMA, HIERARCHIES)
    with pytest.raises(ValueError, match=r"'age' has 8 values that occur; at most 3"):
        CountQueries.of(many, "disease", 2, 0.1, rng=0)


def test_queries_of_nobody_have_no_error():
    """Nobody of town a has flu and nobody of town b a cold; one query asks for just that."""
    table = toy(4, 0).table.assign(age=0, grade="low", town=list("aabb"), disease=["cold"] * 2 + ["flu"] * 2)
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    drawn = (CountQueries.of(data, "disease", 3, 0.0625, rng=rng, number=1) for rng in range(100))
    nobody = next(found for found in drawn if found.actual[0] == 0)
    assert nobody.empty == 1
    with pytest.raises(ValueError, match=r"all 1 queries count nobody .* Try a higher"):
        average_relative_error(nobody, Identity().sanitize(data, rng=0))


@pytest.mark.parametrize("function", [average_relative_error, median_relative_error])
def test_the_measures_say_what_they_are(function):
    stated = measure_facts(function.__name__)
    assert (stated.kind, stated.better, stated.bounds) == ("utility", "lower", (0, math.inf))
    assert re.search("section 5.2", function.__doc__)
