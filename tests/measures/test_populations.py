"""Large populations against plain counting, and the numbers that an independent study found on Adult."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.falsifying import alike
from support.plain_reconstruction import DISEASES, HIERARCHIES, SCHEMA, TREES, count, leaves, toy

from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure.tradeoff import utility_loss, utility_losses
from privnb.measures.utility import populations as module, reconstruction
from privnb.measures.utility.populations import LargePopulations, size_error
from privnb.microdata.hierarchy import Intervals, Ranges, Sets, flat
from privnb.microdata.hierarchy.taxonomies import widths
from privnb.microdata.schema import Attribute, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    Anatomy,
    Bucketize,
    Identity,
    LaplaceNoise,
    Mondrian,
    RandomizedResponse,
    SanitizationError,
    Suppress,
)

SANITIZERS = (
    Identity(),
    Suppress(),
    Suppress("sensitive"),
    Suppress("age"),
    Mondrian(KAnonymity(3)),
    Bucketize(Mondrian(KAnonymity(3))),
    Anatomy(2, "disease"),
    LaplaceNoise(2.0),
    RandomizedResponse(1.0),
)


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li")


def read(predicate, hierarchies):
    """A predicate as a group: `{attribute: values as text}`."""
    group = {}
    for condition in predicate.split(", "):
        name, label = condition.split(" ", 1)
        group[name] = frozenset(leaves(hierarchies[name])[position] for position in hierarchies[name].covered(label))
    return group


def plain(data, hierarchies, least):
    """Every large population and how many people it has: `{group: people}`."""
    table = data.table.astype(str)
    options = []
    for name in data.schema.quasi_identifiers:
        rows = getattr(hierarchies[name], "rows", [(leaf,) for leaf in leaves(hierarchies[name])])
        nodes = {
            frozenset(row[0] for row in rows if row[level] == label) for one in rows for level, label in enumerate(one)
        }
        options.append([None, *(node for node in nodes if len(node) < len(rows))])
    found = {}
    for choice in product(*options):
        group = {name: node for name, node in zip(data.schema.quasi_identifiers, choice, strict=True) if node}
        people = np.all([table[name].isin(node) for name, node in group.items()], axis=0).sum() if group else 0
        if people >= least:
            found[frozenset(group.items())] = people
    return found


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(rows=st.integers(4, 40), seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.2, 0.5]), trees=st.booleans())
def test_the_populations_are_those_of_plain_counting(rows, seed, share, trees):
    data, asked = toy(rows, seed), TREES if trees else HIERARCHIES
    expected = plain(data, asked, share * rows)
    if not expected:
        with pytest.raises(ValueError, match="no quasi-identifier of 'toy' has a value"):
            LargePopulations.of(data, "disease", share, asked)
        return
    found = LargePopulations.of(data, "disease", share, asked)
    groups = [frozenset(read(predicate, asked).items()) for predicate in found.predicates]
    assert len(groups) == len(found) == len(expected)
    assert dict(zip(groups, found.counts.sum(axis=1), strict=True)) == expected


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(6, 25), seed=st.integers(0, 10**6), sanitizer=st.sampled_from(SANITIZERS), trees=st.booleans())
def test_what_a_release_says_is_what_plain_counting_says(rows, seed, sanitizer, trees):
    """Whatever hierarchies the release has, and whatever others are asked about."""
    data = toy(rows, seed, TREES if seed % 2 else HIERARCHIES)
    try:
        release = sanitizer.sanitize(data, rng=seed)
    except SanitizationError:  # too many have one disease for Anatomy
        return
    asked = TREES if trees else HIERARCHIES
    populations = LargePopulations.of(data, "disease", 0.25, asked)
    held = list(populations.values)
    assert held == sorted(set(data.table.disease))
    never = [disease for disease in DISEASES if disease not in held]
    found = populations.estimated(release)
    for predicate, row in zip(populations.predicates, found, strict=True):
        group = read(predicate, asked)
        expected = [*(count(release, group, {disease}) for disease in held), count(release, group, set(never))]
        if sum(expected) == 0:  # noise moved everybody away
            group = {}
            expected = [*(count(release, group, {disease}) for disease in held), count(release, group, set(never))]
        assert row == pytest.approx(expected, abs=1e-9)


def test_by_hand():
    """Of four people two are of age 0 and two of age 1, two of town a and two of town b; half is enough."""
    table = toy(4, 0).table.assign(
        age=[0, 0, 1, 1], town=["a", "b", "a", "b"], grade="low", disease=["cold", "flu", "flu", "flu"]
    )
    populations = LargePopulations.of(Dataset("toy", table, SCHEMA, HIERARCHIES), "disease", 0.5)
    counts = dict(zip(populations.predicates, populations.counts.tolist(), strict=True))
    assert counts == {
        "age 0": [1, 1, 0], "age 1": [0, 2, 0], "town a": [1, 1, 0], "town b": [0, 2, 0], "grade low": [1, 3, 0],
        "age 0, grade low": [1, 1, 0], "age 1, grade low": [0, 2, 0],
        "town a, grade low": [1, 1, 0], "town b, grade low": [0, 2, 0],
    }  # fmt: skip
    assert repr(populations) == "LargePopulations(9 of at least 50.0% of all people, by age, town, grade)"


def test_of_too_many_populations_those_of_fewest_conditions_are_asked_for(monkeypatch):
    data = toy(80, 3)
    every = LargePopulations.of(data, "disease", 0.1)
    assert every.conditions is None
    monkeypatch.setattr(module, "MAX_POPULATIONS", len(every) - 1)
    fewer = LargePopulations.of(data, "disease", 0.1)
    deepest = max(words.count(", ") for words in every.predicates)
    assert fewer.predicates == [words for words in every.predicates if words.count(", ") < deepest]
    assert fewer.conditions == deepest
    assert repr(fewer).endswith(f"of at most {deepest} conditions)")
    assert fewer.counts == pytest.approx(every.counts[: len(fewer)])
    monkeypatch.setattr(module, "MAX_POPULATIONS", 1)
    assert LargePopulations.of(data, "disease", 0.1).conditions == 1, "those of one condition are always there"


def test_a_population_exactly_at_the_bound_is_large():
    """0.07 of 100 people are 7, though 0.07 * 100 is a little more in binary."""
    data = toy(100, 1)
    data = Dataset("toy", data.table.assign(age=[0] * 7 + [1] * 93), SCHEMA, HIERARCHIES)
    assert 0.07 * 100 > 7
    assert "age 0" in LargePopulations.of(data, "disease", 0.07).predicates


def test_intervals_are_asked_about_from_the_narrowest_on():
    """Ages 0-7 in intervals of 2 and 3, which do not nest: 0-1, 2-3, ... and 0-2, 3-5, 6-8."""
    table = toy(200, 2).table
    data = Dataset("toy", table.assign(age=np.arange(200) % 8), SCHEMA, HIERARCHIES)
    ages = {"age": Intervals(SCHEMA["age"].domain, (2, 3, 10))}
    found = LargePopulations.of(data, "disease", 0.01, ages)
    alone = {predicate for predicate in found.predicates if predicate.startswith("age") and "," not in predicate}
    assert alone == {"age 0-1", "age 2-3", "age 4-5", "age 6-7", "age 0-2", "age 3-5"}  # 6-8 is 6-7 again
    at = {predicate: people for predicate, people in zip(found.predicates, found.counts.sum(axis=1), strict=True)}
    assert at["age 3-5"] == data.table.age.between(3, 5).sum()


def test_the_order_of_the_records_does_not_matter():
    data = toy(60, 3)
    other = Dataset("toy", data.table.iloc[::-1], SCHEMA, HIERARCHIES)
    one, two = (LargePopulations.of(each, "disease") for each in (data, other))
    assert one.predicates == two.predicates
    assert np.array_equal(one.counts, two.counts)
    release, reversed_release = (Mondrian(KAnonymity(3)).sanitize(each, rng=0) for each in (data, other))
    assert one.estimated(release) == pytest.approx(two.estimated(reversed_release), abs=1e-12)


@pytest.mark.slow
def test_a_wide_domain_costs_no_more_than_it_tells():
    """Incomes of a million steps: most of them nobody has, and no question tells them apart."""
    incomes = Attribute("income", Role.QUASI_IDENTIFIER, Numbers(0, 999_999))
    schema = Schema("incomes", (incomes, SCHEMA["disease"]))
    table = toy(200, 4).table[["disease"]].assign(income=[0] * 100 + list(range(1000, 901_000, 9000)))
    data = Dataset("incomes", table[["income", "disease"]], schema, {"income": Ranges(incomes.domain, exact=True)})
    populations = LargePopulations.of(data, "disease")
    assert populations.lines["income"].part.max() < len(populations)
    trivial = utility_loss(populations, Suppress().sanitize(data, rng=0))
    assert trivial > 0
    alone = Mondrian(KAnonymity(100)).sanitize(data, rng=0)  # 0 is a class of its own
    losses = utility_losses(populations, alone)
    assert losses["income 0"] == pytest.approx(0, abs=1e-12)
    assert 0 < utility_loss(populations, alone) < trivial
    assert utility_loss(populations, Mondrian(KAnonymity(101)).sanitize(data, rng=0)) == pytest.approx(trivial)


def test_numbers_without_levels_are_asked_about_in_halves():
    """Of eight people of eight ages two are enough: the halves, their halves, and no single age."""
    table = toy(8, 0).table.assign(age=range(8), town="a", grade="low")
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    of_age = {each for each in LargePopulations.of(data, "disease", 0.25).predicates if each.startswith("age")}
    assert {each for each in of_age if "," not in each} == {
        "age 0-3",
        "age 4-7",
        "age 0-1",
        "age 2-3",
        "age 4-5",
        "age 6-7",
    }
    asked = LargePopulations.of(data, "disease", 0.25, {"age": TREES["age"]})
    assert {each for each in asked.predicates if "," not in each} >= {"age 0-1", "age 0 half"}, "as a tree has them"
    named = LargePopulations.of(data, "disease", 0.25, {"age": HIERARCHIES["age"]})
    assert not [each for each in named.predicates if each.startswith("age")], "of a hierarchy that is named, its nodes"


def test_values_that_many_people_share_are_no_reason_to_ask_about_nothing_else():
    table = toy(100, 1).table.assign(age=[0] * 60 + [1, 2, 3, 4, 5, 6, 7, 7] * 5)
    populations = LargePopulations.of(Dataset("toy", table, SCHEMA, HIERARCHIES), "disease", 0.2)
    of_age = {each for each in populations.predicates if each.startswith("age") and "," not in each}
    assert of_age == {"age 0", "age 1-7", "age 1-4", "age 5-7"}


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(6, 25), seed=st.integers(0, 10**6), sanitizer=st.sampled_from(SANITIZERS))
def test_shares_of_people_are_those_of_plain_counting(rows, seed, sanitizer):
    data = toy(rows, seed, TREES)
    try:
        release = sanitizer.sanitize(data, rng=seed)
    except SanitizationError:
        return
    populations = LargePopulations.of(data, None, 0.25)
    groups = [read(predicate, TREES) for predicate in populations.predicates]
    expected = [count(release, group, set(DISEASES)) / rows for group in groups]
    assert populations.shares(release) == pytest.approx(expected, abs=1e-9)
    assert populations.shares(Identity().sanitize(data, rng=0)) == pytest.approx(populations.counts[:, 0] / rows)
    actual = [(populations.counts[i, 0] / rows, each) for i, each in enumerate(expected)]
    assert size_error(populations, release) == pytest.approx(np.mean([abs(a - b) for a, b in actual]))


def test_a_release_that_says_false_things_is_more_wrong_than_one_that_says_nothing():
    """Ages 0 to 7 are equally common. Halves and quarters have 1/2 and 1/4 of people, and a release without ages says
    so; where everybody is 0 years old, four of the six are wrong: by 1/2, 1/2, 3/4 and thrice 1/4.
    """
    data = toy(80, 2)
    table = data.table.assign(age=[*range(8)] * 10, town="a", grade="low", disease="flu")
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    populations = LargePopulations.of(data, None, 0.2)
    of_age = [i for i, each in enumerate(populations.predicates) if each.startswith("age") and "," not in each]
    assert len(of_age) == 6
    nothing, zero = Suppress("age").sanitize(data, rng=0), alike(0).sanitize(data, rng=0)
    assert size_error(populations, nothing) == pytest.approx(0)
    wrong = np.abs(populations.shares(zero) - populations.counts[:, 0] / 80)
    assert sorted(wrong[of_age]) == pytest.approx([0.25, 0.25, 0.25, 0.5, 0.5, 0.75])
    assert size_error(populations, zero) == pytest.approx(wrong.mean())


# The study's numbers of large populations, and utility loss of the release without quasi-identifiers.
@pytest.mark.parametrize(
    ("support", "number", "loss"), [(0.05, 1026, 0.0462), (0.02, 3197, 0.0618), (0.1, 361, 0.0356), (0.2, 99, 0.0268)]
)
def test_adult_by_support(adult, support, number, loss):
    populations = LargePopulations.of(adult, "occupation", support)
    assert len(populations) == number
    assert (populations.counts.sum(axis=1) >= support * len(adult)).all()
    assert round(utility_loss(populations, Suppress().sanitize(adult, rng=0)), 4) == loss


@pytest.mark.parametrize(
    ("steps", "number", "loss"), [((), 117, 0.0536), ((10,), 218, 0.0438), ((5, 10, 20), 407, 0.0378)]
)
def test_adult_by_hierarchies(adult, steps, number, loss):
    """Intervals of age and nothing above the other attributes' values."""
    asked = {name: flat(adult.schema[name]) for name in adult.schema.quasi_identifiers}
    if steps:
        asked["age"] = widths(adult.schema["age"], steps)
    populations = LargePopulations.of(adult, "occupation", hierarchies=asked)
    assert len(populations) == number
    assert round(utility_loss(populations, Suppress().sanitize(adult, rng=0)), 4) == loss


def test_the_fifth_digit_of_all_quasi_identifiers_removed(adult):
    """Published as 0.05, which several hierarchies give."""
    found = utility_loss(LargePopulations.of(adult, "occupation"), Suppress().sanitize(adult, rng=0))
    assert 0.045 <= found < 0.055
    assert round(found, 5) == 0.04623


def test_what_cannot_be_asked_is_refused(monkeypatch):
    data = toy(40, 5)
    for support in (0, 1.5, True):
        with pytest.raises(ValueError, match="support must be a share above 0"):
            LargePopulations.of(data, "disease", support)
    with pytest.raises(SchemaError, match="has no attribute 'wage'"):
        LargePopulations.of(data, "wage")
    with pytest.raises(
        ValueError, match="'town' is a quasi-identifier of 'toy', and quasi-identifiers name the groups"
    ):
        LargePopulations.of(data, "town")
    with pytest.raises(ValueError, match=r"with at least 40 people \(100\.0% of all\)\. Lower `support`"):
        LargePopulations.of(data, "disease", 1)
    populations = LargePopulations.of(data, "disease", 0.2)
    fewer = {name: HIERARCHIES[name] for name in ("age", "town")}
    narrow = data.schema.with_roles(
        {"age": Role.QUASI_IDENTIFIER, "town": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}
    )
    other = Dataset("narrow", data.table.drop(columns="grade"), narrow, fewer)
    with pytest.raises(
        ValueError, match=r"has no quasi-identifier \['grade'\]\. Try queries about the dataset of this release"
    ):
        populations.estimated(Identity().sanitize(other, rng=0))
    monkeypatch.setattr(reconstruction, "MAX_VALUES", 2)
    with pytest.raises(ValueError, match=r"'disease' has 3 values that occur; at most 2"):
        LargePopulations.of(data, "disease")
    monkeypatch.setattr(reconstruction, "MAX_POSITIONS", 7)
    with pytest.raises(ValueError, match="8 possible values, but a column that defines groups can have at most 7"):
        LargePopulations.of(Dataset("toy", data.table.assign(disease="flu"), SCHEMA, HIERARCHIES), "disease")


def test_sets_are_no_runs_of_the_line():
    """a|c skips b: of its two values one is a."""
    data = toy(20, 6)
    assert isinstance(data.hierarchies["town"], Sets)
    table = data.table.assign(town=["a", "c"] * 10, age=0, grade="low", disease="flu")
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    populations = LargePopulations.of(data, "disease", 0.5)
    release = Suppress("age").sanitize(data, rng=0)
    release.table["town"] = "a|c"
    estimated = dict(zip(populations.predicates, populations.estimated(release)[:, 0], strict=True))
    assert estimated["town a"] == estimated["town c"] == 10
