"""Li and Li's privacy loss and utility loss: by hand, their printed numbers, and figure 2 as traced by a study."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support.plain_reconstruction import DISEASES, SCHEMA, TREES, toy
from support.worked_example import FIGURE_2, SHARED, on_a_line, releases

from privnb.datasets.dataset import Dataset, load
from privnb.measures.base import measure_facts
from privnb.measures.disclosure import tradeoff
from privnb.measures.disclosure.tradeoff import (
    DISTANCES,
    compute_revealed_losses,
    permute_losses,
    privacy_loss,
    privacy_losses,
    utility_loss,
    utility_losses,
)
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.hierarchy import Taxonomy
from privnb.privacy_models import JensenShannonCloseness, KAnonymity, TCloseness, grade_release
from privnb.sanitizers import Bucketize, Identity, LaplaceNoise, Mondrian, Suppress

DISEASE_TREE = Taxonomy(
    "disease", (("cold", "lung", "*"), ("flu", "lung", "*"), ("gout", "other", "*"), ("scurvy", "other", "*"))
)


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li")


@pytest.fixture(scope="module")
def populations(adult):
    return LargePopulations.of(adult, "occupation")


@pytest.fixture(scope="module")
def line(adult):
    return on_a_line(adult)


def two_classes():
    """Men: cold, cold, cold, flu; women: cold, flu, flu, flu. The table: half and half."""
    table = toy(8, 0).table.assign(
        age=0, grade="low", town=["a"] * 4 + ["b"] * 4, disease=["cold"] * 3 + ["flu"] + ["cold"] + ["flu"] * 3
    )
    return Dataset("toy", table, SCHEMA, TREES)


def by_hand(p, q):
    """Jensen-Shannon divergence of two lists of shares, written out."""
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sum(a * math.log(a / m) for s in (p, q) for a, m in zip(s, middle, strict=True) if a > 0) / 2


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("Jensen-Shannon", by_hand([3 / 4, 1 / 4], [1 / 2, 1 / 2])),
        ("Kullback-Leibler", 3 / 4 * math.log(3 / 2) + 1 / 4 * math.log(1 / 2)),
        ("total variation", 1 / 4),
        ("earth mover", 1 / 4),  # of two values that occur, one step of one
        (DISEASE_TREE, 1 / 8),  # cold and flu meet halfway up
    ],
    ids=str,
)
def test_privacy_loss_by_hand(distance, expected):
    """Each class lies as far from the table as the other, so all eight people lose the same."""
    for sanitizer in (Identity(), Bucketize(Identity())):
        release = sanitizer.sanitize(two_classes(), rng=0)
        assert privacy_losses(release, "disease", distance) == pytest.approx([expected] * 8)
        assert privacy_loss(release, "disease", distance) == pytest.approx(expected)


def test_the_order_of_the_values_counts_for_the_earth_mover():
    """A class of colds only, of three colds, one flu and four gouts: 1/8 is moved a step and 4/8 two, of two steps."""
    table = two_classes().table.assign(disease=["cold"] * 3 + ["flu"] + ["gout"] * 4, town=list("aaabbbbb"))
    release = Identity().sanitize(Dataset("toy", table, SCHEMA, TREES), rng=0)
    assert privacy_losses(release, "disease", "earth mover")[:3] == pytest.approx([(1 / 8 * 1 + 4 / 8 * 2) / 2] * 3)
    assert privacy_losses(release, "disease", "total variation")[:3] == pytest.approx([5 / 8] * 3)


def test_each_person_loses_what_their_class_tells():
    """In the order of the records, the worst of them last."""
    table = two_classes().table.assign(disease=["cold", "flu"] * 3 + ["gout", "gout"], town=list("aabbbccc"))
    release = Mondrian(KAnonymity(2)).sanitize(Dataset("toy", table, SCHEMA, TREES), rng=0)
    whole = [3 / 8, 3 / 8, 2 / 8]
    town_a, coast = by_hand([1 / 2, 1 / 2, 0], whole), by_hand([2 / 3, 1 / 3, 0], whole)
    last = by_hand([0, 1 / 3, 2 / 3], whole)
    assert privacy_losses(release, "disease") == pytest.approx([town_a] * 2 + [coast] * 3 + [last] * 3)
    assert privacy_loss(release, "disease") == pytest.approx(last)
    assert last > coast > town_a


@pytest.mark.slow
def test_the_loss_is_what_the_privacy_model_bounds(line):
    sample = line.sample(3000, rng=1)
    for model, distance in (
        (JensenShannonCloseness(0.2, "occupation"), "Jensen-Shannon"),
        (TCloseness(0.4, "occupation"), "total variation"),
    ):
        release = Mondrian(model).sanitize(sample, rng=0)
        assert privacy_loss(release, "occupation", distance) == pytest.approx(grade_release(model, release))
        assert grade_release(model, release) <= model.t + 1e-12


def test_values_are_dealt_again_and_again():
    release, generator = Mondrian(KAnonymity(5)).sanitize(toy(60, 3), rng=0), np.random.default_rng(7)
    deals = permute_losses(release, "disease", rng=7)
    several = [next(deals) for _ in range(3)]
    assert not (several[0] == several[1]).all()
    for found in several:
        assert found == pytest.approx(next(permute_losses(release, "disease", rng=generator)))


def test_by_chance_the_same_classes_hold_dealt_values():
    """As many people of each class and of each value, and of no class anything true."""
    data = toy(60, 3)
    for sanitizer in (Mondrian(KAnonymity(5)), Bucketize(Mondrian(KAnonymity(5)))):
        release = sanitizer.sanitize(data, rng=0)
        groups, values = release.by_class("disease")
        dealt = pd.Series(values)[np.random.default_rng(7).permutation(60)].to_numpy()
        shares = pd.crosstab(groups, dealt, normalize="index")
        whole = pd.Series(values).value_counts(normalize=True)[shares.columns]
        expected = [by_hand(shares.loc[group], whole) for group in release.classes]
        assert next(permute_losses(release, "disease", rng=7)) == pytest.approx(expected)
    assert next(permute_losses(Suppress().sanitize(data, rng=0), "disease", rng=7)) == pytest.approx([0] * 60)
    with pytest.raises(ValueError, match="not defined for LaplaceNoise"):
        next(permute_losses(LaplaceNoise(1.0).sanitize(data, rng=0), "disease", rng=7))


def test_what_a_revealed_value_loses_on_adult(adult):
    """Published: 0.488 for the most common occupation and 0.692 for the rarest, and every other between."""
    losses = compute_revealed_losses(adult, "occupation")
    assert (losses.index[0], losses.index[-1]) == ("Craft-repair", "Armed-Forces")
    assert losses.iloc[[0, -1]].round(6).tolist() == [0.488122, 0.691742]
    assert len(losses) == 14
    assert losses.iloc[-1] < math.log(2)


def test_nobody_loses_more_than_the_rarest_value_revealed(line):
    sample = line.sample(500, rng=2)
    release = Identity().sanitize(sample, rng=0)
    for distance in DISTANCES:
        revealed = compute_revealed_losses(sample, "occupation", distance)
        losses = privacy_losses(release, "occupation", distance)
        assert losses.max() <= revealed.max() + 1e-12
        alone = np.bincount(release.classes)[release.classes] == 1
        told = sample.table.occupation[alone].map(revealed)
        assert losses[alone] == pytest.approx(told.to_numpy())


def test_utility_loss_by_hand():
    """Without quasi-identifiers both towns are half colds; the truth is 3/4 and 1/4. Nothing is lost of the age and the
    grade that everybody has."""
    data = two_classes()
    populations = LargePopulations.of(data, "disease", 0.5, {"town": TREES["town"]})
    losses = utility_losses(populations, Suppress().sanitize(data, rng=0))
    lost = by_hand([3 / 4, 1 / 4], [1 / 2, 1 / 2])
    town = losses.index.str.contains("town")
    assert losses[town].tolist() == pytest.approx([lost] * town.sum())
    assert losses[~town].tolist() == pytest.approx([0] * (~town).sum())
    assert utility_loss(populations, Suppress().sanitize(data, rng=0)) == pytest.approx(lost * town.mean())
    assert utility_loss(populations, Identity().sanitize(data, rng=0)) == 0


def test_a_suppressed_sensitive_attribute_may_be_any_of_its_domain():
    """Four diseases are possible, so a town of 3/4 colds is thought to have 1/4."""
    data = two_classes()
    populations = LargePopulations.of(data, "disease", 0.5)
    losses = utility_losses(populations, Suppress("sensitive").sanitize(data, rng=0))
    assert len(DISEASES) == 4
    assert losses["town a"] == pytest.approx(by_hand([3 / 4, 1 / 4, 0, 0], [1 / 4] * 4))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(4, 40), st.integers(0, 10**6))
def test_bounds(rows, seed):
    data = toy(rows, seed)
    populations = LargePopulations.of(data, "disease", 0.25)
    for sanitizer in (Identity(), Suppress(), Suppress("sensitive"), Bucketize(Suppress()), LaplaceNoise(0.5)):
        release = sanitizer.sanitize(data, rng=seed)
        losses = utility_losses(populations, release)
        assert losses.between(-1e-12, math.log(2) + 1e-12).all()
        if not release.treated("noisy"):
            assert -1e-12 <= privacy_loss(release, "disease") <= math.log(2) + 1e-12
    assert utility_loss(populations, Identity().sanitize(data, rng=0)) == 0
    assert privacy_loss(Suppress().sanitize(data, rng=0), "disease") == pytest.approx(0)


def test_the_two_ends_of_the_trade_off(adult, populations):
    trivial, intact = (sanitizer.sanitize(adult, rng=0) for sanitizer in (Suppress(), Identity()))
    assert privacy_loss(trivial, "occupation") == 0
    assert round(utility_loss(populations, trivial), 5) == 0.04623
    assert utility_loss(populations, intact) == 0
    assert round(privacy_loss(intact, "occupation"), 6) == 0.691742  # a soldier alone in their class


@pytest.mark.parametrize("model", FIGURE_2, ids=str)
def test_figure_2_as_another_study_traced_it(line, populations, model):
    generalized, bucketized = releases(line, model)
    found = (
        privacy_loss(generalized, "occupation"), utility_loss(populations, generalized),
        utility_loss(populations, bucketized),
    )  # fmt: skip
    assert [round(each, 4) for each in found] == list(FIGURE_2[model])
    assert privacy_loss(bucketized, "occupation") == pytest.approx(privacy_loss(generalized, "occupation"))


@pytest.mark.parametrize("model", SHARED, ids=str)
def test_figure_2_by_our_mondrian(line, populations, model):
    partition = Mondrian(model, split_point="left")
    generalized, bucketized = partition.sanitize(line, rng=0), Bucketize(partition).sanitize(line, rng=0)
    found = (
        privacy_loss(bucketized, "occupation"), utility_loss(populations, generalized),
        utility_loss(populations, bucketized),
    )  # fmt: skip
    assert [round(each, 4) for each in found] == list(SHARED[model])


def test_what_is_not_defined_is_refused():
    data = toy(40, 1)
    noisy = LaplaceNoise(1.0).sanitize(data, rng=0)
    with pytest.raises(ValueError, match=r"not defined for LaplaceNoise.*noise in .* leaves no equivalence classes"):
        privacy_loss(noisy, "disease")
    release = Identity().sanitize(data, rng=0)
    for distance in ("euclid", None):
        with pytest.raises(
            ValueError, match="`distance` must be a Taxonomy or one of Jensen-Shannon, Kullback-Leibler"
        ):
            privacy_loss(release, "disease", distance)


@pytest.mark.parametrize("name", ["privacy_loss", "utility_loss"])
def test_the_measures_say_what_they_are(name):
    assert getattr(tradeoff, name).facts == measure_facts(name)
    assert measure_facts(name).better == "lower"
    assert measure_facts(name).kind == name.removesuffix("_loss")
    assert re.search(r"section \d", measure_facts(name).source)


def test_a_population_is_told_in_words(adult, populations):
    losses = utility_losses(populations, Suppress().sanitize(adult, rng=0))
    assert isinstance(losses, pd.Series)
    assert losses.index.is_unique
    people = dict(zip(populations.predicates, populations.counts.sum(axis=1), strict=True))
    women = adult.table.sex == "Female"
    assert people["workclass Private, sex Female"] == (women & (adult.table.workclass == "Private")).sum()
    assert people["age 20-39, sex Female"] == (women & adult.table.age.between(20, 39)).sum()
