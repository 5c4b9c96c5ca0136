"""Brickell and Shmatikov's gains: a worked example, their printed numbers, and what must always hold."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure import gains
from privnb.microdata.counts import class_value_counts, count_combinations
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.privacy_models import DeltaDisclosure, TCloseness
from privnb.sanitizers import Bucketize, Identity, LaplaceNoise, Suppress

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 20)).filter(
    lambda counts: (counts.sum(axis=1) > 0).all()
)


@pytest.fixture(scope="module")
def occupation():
    return load("adult", "occupation")


def test_worked_example():
    """Two classes of four: (3, 1) and (1, 3). Prior 1/2; guesses right 6/8; each class lies 1/4 from the whole."""
    counts = np.array([[3, 1], [1, 3]])
    assert gains.prior_accuracy(counts) == 0.5
    assert gains.accuracy_gain(counts) == 0.25
    assert gains.knowledge_gain(counts) == 0.25


def test_intact_row_of_table_3(occupation):
    counts = gains.class_counts(Identity().sanitize(occupation, rng=0), "occupation")
    assert counts.shape == (561, 14)
    assert f"{gains.accuracy_gain(counts):.4f}" == "0.1034"
    assert f"{gains.knowledge_gain(counts):.4f}" == "0.2492"


@pytest.mark.parametrize("what", ["quasi-identifiers", "sensitive"])
def test_suppressed_row_of_table_3(occupation, what):
    counts = gains.class_counts(Suppress(what).sanitize(occupation, rng=0), "occupation")
    assert gains.accuracy_gain(counts) == 0
    assert gains.knowledge_gain(counts) == 0


def test_baselines_of_figures_2_and_1(occupation):
    counts = gains.class_counts(Suppress().sanitize(occupation, rng=0), "occupation")
    assert f"{100 * gains.prior_accuracy(counts):.2f}" == "13.31"
    marital = load("adult", "marital")
    counts = gains.class_counts(Suppress().sanitize(marital, rng=0), "marital-status")
    assert f"{100 * gains.prior_accuracy(counts):.2f}" == "46.56"


@given(COUNTS)
def test_bounds(counts):
    accuracy, knowledge = gains.accuracy_gain(counts), gains.knowledge_gain(counts)
    assert -1e-12 <= accuracy <= 1
    assert 0 <= knowledge <= 1


@given(COUNTS)
def test_merging_classes_never_helps_the_adversary(counts):
    merged = np.vstack([counts[:-2], counts[-2:].sum(axis=0)])
    assert gains.accuracy_gain(merged) <= gains.accuracy_gain(counts) + 1e-12
    assert gains.knowledge_gain(merged) <= gains.knowledge_gain(counts) + 1e-12


def test_chance_alone_gives_small_classes_a_gain(occupation):
    sample = occupation.sample(2000, rng=1)
    release = Identity().sanitize(sample, rng=0)
    accuracy, knowledge = gains.permute_gains(release, "occupation", rng=1)
    counts = gains.class_counts(release, "occupation")
    assert 0 < accuracy < gains.accuracy_gain(counts)
    assert 0 < knowledge < gains.knowledge_gain(counts)


@pytest.mark.parametrize(("values", "times"), [(2, 20), (2_000, 4)])
def test_of_thousands_of_values_in_many_classes_fewer_are_dealt(values, times):
    """1,000 classes of 2,000 values are 2 million cells, as many as 125,000 people take, who are dealt four times."""
    people = np.arange(2_000)
    domains = {"q": Categories(tuple(map(str, range(1_000)))), "s": Categories(tuple(map(str, range(values))))}
    roles = {"q": Role.QUASI_IDENTIFIER, "s": Role.SENSITIVE}
    schema = Schema("codes", tuple(Attribute(name, role, domains[name]) for name, role in roles.items()))
    table = pd.DataFrame({"q": (people // 2).astype(str), "s": (people % values).astype(str)})
    release = Identity().sanitize(Dataset("codes", table, schema, {"q": flat(schema["q"])}), rng=0)
    shapes = []
    gains.permute_gains(release, "s", rng=1, of=(lambda counts, before: shapes.append(counts.shape) or 0.0,))
    assert shapes == [(1_000, values)] * times


def test_noise_has_no_classes():
    sample = load("adult", "sramka", records=100)
    with pytest.raises(ValueError, match=r"noise in age, .* leaves no equivalence classes"):
        gains.class_counts(LaplaceNoise(1.0).sanitize(sample, rng=0), "salary")


# Before and after, class by class


def test_knowledge_before_and_after():
    """A_base is the whole's, A_san the class's. Women lie .2490 from the whole, men .1199 (an independent study)."""
    counts = np.array([[3, 1], [1, 3], [0, 2]])
    assert gains.baseline_knowledge(counts).tolist() == [0.4, 0.6]
    assert gains.posterior_knowledge(counts).tolist() == [[0.75, 0.25], [0.25, 0.75], [0, 1]]
    assert gains.additive_disclosure(counts).tolist() == pytest.approx([0.35, 0.15, 0.4])
    assert gains.multiplicative_disclosure(counts).tolist() == pytest.approx([np.log(2.4), np.log(1.6), np.inf])
    assert gains.posterior_accuracy(counts) == 0.8


def test_the_sexes_of_adult(occupation):
    counts = class_value_counts(count_combinations(occupation.table[["sex"]]).index, occupation.table.occupation)
    women, men = gains.additive_disclosure(counts)
    assert (f"{women:.4f}", f"{men:.4f}") == ("0.2490", "0.1199")
    # All 14 of the armed forces are men, so no class of women is delta-disclosure-private for any delta.
    assert gains.multiplicative_disclosure(counts)[0] == np.inf > gains.multiplicative_disclosure(counts)[1]


@given(COUNTS)
def test_disclosure_of_a_class_is_the_level_of_the_privacy_models(counts):
    whole = counts.sum(axis=0)
    assert gains.additive_disclosure(counts) == pytest.approx(TCloseness(0.5, "s").level(counts, whole))
    assert gains.multiplicative_disclosure(counts) == pytest.approx(DeltaDisclosure(1, "s").level(counts, whole))
    assert gains.largest_disclosure(counts) == gains.additive_disclosure(counts).max()
    assert gains.largest_quotient(counts) == gains.multiplicative_disclosure(counts).max()


def entropy(shares):
    return -sum(share * math.log(share) for share in shares if share > 0)


@given(COUNTS)
def test_information_gain_is_a_difference_of_entropies(counts):
    n = counts.sum()
    before = entropy(counts.sum(axis=0) / n)
    after = sum(row.sum() / n * entropy(row / row.sum()) for row in counts)
    assert gains.information_gain(counts) == pytest.approx(before - after, abs=1e-12)


@given(COUNTS)
def test_lemma_1(counts):
    """What classes tell is below every delta that they keep, so at most their own largest quotient (in nats)."""
    assert gains.information_gain(counts) <= gains.largest_quotient(counts) + 1e-12


# Who knows more than quasi-identifiers


@pytest.fixture(scope="module")
def ward():
    """Eight people: age is published, ward is neutral, the illness goes with both."""
    schema = Schema(
        "ward",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Categories(("old", "young"))),
            Attribute("ward", Role.NEUTRAL, Categories(("day", "night"))),
            Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout"))),
        ),
    )
    rows = [
        ("old", "day", "gout"), ("old", "day", "gout"), ("old", "night", "flu"), ("old", "night", "gout"),
        ("young", "day", "flu"), ("young", "day", "gout"), ("young", "night", "flu"), ("young", "night", "flu"),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=schema.names())
    return Dataset("ward", table, schema, {"age": flat(schema["age"])})


def test_someone_who_knows_a_neutral_attribute_gains_less_and_knows_more(ward):
    """By hand. Of the day 3 of 4 have gout, of the night 3 of 4 flu: 6 of 8 before. Then 2 + 1 + 1 + 2: no gain.

    The four classes lie 1/4 from their ward each. Without the ward, 3 + 3 of 8 against 4 of 8.
    """
    release = Identity().sanitize(ward, rng=0)
    counts = gains.class_counts(release, "illness", ["ward"])
    before = gains.knowledge_before(release, "illness", ["ward"])
    classes = gains.find_known_classes(release, ["ward"])
    assert classes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert counts.tolist() == [[0, 2], [1, 1], [1, 1], [2, 0]]
    assert before.tolist() == [[0.25, 0.75], [0.75, 0.25], [0.25, 0.75], [0.75, 0.25]]
    assert gains.accuracy_gain(counts, before) == 0
    assert gains.knowledge_gain(counts, before) == 0.25
    assert gains.additive_disclosure(counts, before)[classes].tolist() == [0.25] * 8
    expected = [np.inf, math.log(2), math.log(2), np.inf]
    assert gains.multiplicative_disclosure(counts, before) == pytest.approx(expected)
    assert gains.information_gain(counts, before) == pytest.approx((math.log(4 / 3) + math.log(4 / 3) / 2) / 2)
    with pytest.raises(ValueError, match="knows must be a list of attributes, each as text; got 'ward'"):
        gains.find_known_classes(release, "ward")
    alone = gains.class_counts(release, "illness")
    assert gains.accuracy_gain(alone) == 0.25
    assert gains.knowledge_before(release, "illness").tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_without_quasi_identifiers_nobody_gains_whatever_they_know(ward):
    release = Suppress().sanitize(ward, rng=0)
    counts = gains.class_counts(release, "illness", ["ward"])
    before = gains.knowledge_before(release, "illness", ["ward"])
    for gain in (gains.accuracy_gain, gains.knowledge_gain, gains.information_gain, gains.largest_quotient):
        assert gain(counts, before) == 0
    assert gains.posterior_accuracy(counts) == 0.75


def test_buckets_hide_what_a_neutral_attribute_would_tell(ward):
    release = Bucketize(Suppress()).sanitize(ward, rng=0)
    counts = gains.class_counts(release, "illness", ["ward"])
    assert counts.tolist() == [[4, 4]]
    assert gains.knowledge_before(release, "illness", ["ward"]).tolist() == [[0.5, 0.5]]
    assert gains.find_known_classes(release, ["ward"]).tolist() == [0] * 8


def test_values_are_dealt_inside_the_groups_alone():
    groups = np.array([2, 0, 1, 0, 2, 2, 1, 0, 0, 2] * 30)
    dealt = gains.permute(groups, np.random.default_rng(1))
    assert sorted(dealt) == list(range(300))
    assert (groups[dealt] == groups).all()
    assert (dealt != np.arange(300)).mean() > 0.9
    everybody = gains.permute(np.zeros(300, dtype=int), np.random.default_rng(1))
    assert everybody.tolist() == np.random.default_rng(1).permutation(300).tolist()


def test_chance_of_someone_who_knows_more_keeps_what_they_knew(ward):
    """Dealt inside the wards, what the wards tell stays as it was; and other gains can be asked for."""
    release = Identity().sanitize(ward, rng=0)
    accuracy, information = gains.permute_gains(
        release, "illness", rng=1, knows=["ward"], of=(gains.accuracy_gain, gains.information_gain)
    )
    assert 0 <= accuracy < 0.01
    # In each ward 3 of 4 are alike: two pairs come out (2, 0) and (1, 1) always.
    assert information == pytest.approx((math.log(4 / 3) + math.log(4 / 3) / 2) / 2)


def test_a_baseline_is_shares_of_the_values():
    counts = np.array([[5, 5]])
    for before in ([7.0, -3.0], [0.5, 0.4]):
        with pytest.raises(ValueError, match="`baseline` must be shares of the sensitive values"):
            gains.knowledge_gain(counts, np.array(before))
    assert gains.multiplicative_disclosure(counts, np.array([1.0, 0.0])).tolist() == [np.inf]
    with pytest.raises(ValueError, match="knows must be a list of different attributes; got ward more than once"):
        gains.find_known_classes(Identity().sanitize(load("adult", records=50), rng=0), ["ward", "ward"])
