"""Adversaries who know more: what they add, the control of other people, and the ends of the scale."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.attacks import Homogeneity
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.experiments.bucket_attack import IN_RELEASE, OTHERS
from privnb.evaluation.experiments.informed_adversaries import (
    BACKGROUND,
    attack_one_release,
    attack_two_releases,
    exclude_values,
    measure_success,
)  # fmt: skip
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Role, Schema
from privnb.privacy_models import DistinctDiversity
from privnb.sanitizers import Anatomy, Identity, LaplaceNoise, Mondrian, Suppress

JOB = "occupation"


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=1500)


@pytest.fixture(scope="module")
def one(adult):
    sanitizers = [Identity(), Mondrian(DistinctDiversity(2, JOB)), Anatomy(3, JOB), Suppress(), LaplaceNoise(1.0)]
    found = attack_one_release(adult, sanitizers, JOB)
    return found.set_index(["sanitizer", "measure", "miner", "variant"]).sort_index()


def value(results, *key):
    return float(results.loc[key, "value"].item())


def test_each_adversary_who_knows_more_learns_more(one):
    simple, corruption = (
        value(one, "Mondrian", "value_guess", name, IN_RELEASE) for name in ("homogeneity", "corruption")
    )
    assert simple < corruption
    background = value(one, "Mondrian", "value_guess", BACKGROUND, IN_RELEASE)
    assert background > simple
    certain = one.loc[("Mondrian", "value_certain", "homogeneity", IN_RELEASE)]
    assert certain["value"].item() == 0, "two different values in each class"


def test_full_suppression_leaves_each_attack_at_its_baseline(one):
    hidden = one.loc["Suppress"].reset_index()
    for _, row in hidden[hidden.status == ""].iterrows():
        assert row.value == pytest.approx(row.baseline), (row.measure, row.miner)


def test_the_control_is_what_other_people_reveal(one):
    own, others = (value(one, "Identity", "value_guess", "homogeneity", each) for each in (IN_RELEASE, OTHERS))
    assert own > others + 0.2
    ((low, found, high, people),) = one.loc[
        [("Mondrian", "value_guess", "homogeneity", OTHERS)], ["low", "value", "high", "of"]
    ].to_numpy()
    assert low < found < high
    assert people == 750


def test_a_release_that_cannot_be_attacked_states_the_reason(one):
    noisy = one.loc["LaplaceNoise"].reset_index()
    assert (noisy.status == "refused").all()
    assert noisy.reason.str.contains("reads columns that are exact, generalized").all()
    (reason,) = one.loc[("Anatomy", "value_guess", "minimality")].reason
    assert "Anatomy does not stop at the bound of a privacy model" in reason


def test_excluded_values_by_hand():
    posterior = np.array([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3], [0.4, 0.6, 0.0], [1.0, 0.0, 0.0]])
    true = np.array([0, 1, 0, -1])
    guess, certain = exclude_values(posterior, true, 1)
    assert guess.tolist() == [False, True, True, False]
    assert certain.tolist() == [False, False, True, False]
    guess, certain = exclude_values(posterior, true, 2)
    assert guess.tolist() == [True, True, True, False]
    assert certain.tolist() == [True, True, True, False]


def test_two_releases_disclose_more_than_one(adult):
    found = attack_two_releases(adult, [Mondrian(2), Suppress()], JOB, shared=0.3).set_index(
        ["sanitizer", "measure", "miner"]
    )
    for measure in ("value_guess", "value_certain"):
        one, both = (found.loc[("Mondrian", measure, name)] for name in ("homogeneity", "composition"))
        assert both.value > one.high
        hidden = found.loc[("Suppress", measure, "composition")]
        assert hidden.low <= hidden.baseline <= hidden.high


@pytest.mark.slow
def test_no_attack_gains_on_other_people_more_often_than_its_level():
    """Values that depend on nothing: the interval of each attack covers the baseline of people who are not in it."""
    dataset = load("adult", "li-li", records=800)
    shuffled = dataset.table.assign(**{JOB: dataset.table[JOB].sample(frac=1, random_state=1).to_numpy()})
    found = attack_one_release(replace(dataset, table=shuffled), [Mondrian(5)], JOB, seeds=12)
    others = found[(found.variant == OTHERS) & (found.measure == "value_guess") & (found.miner != BACKGROUND)]
    # At a level of 5% with correlated attacks: more than a fifth of the intervals above the baseline would be too many.
    assert (others.low > others.baseline).mean() <= 0.2


@pytest.mark.slow
def test_composition_on_all_of_adult():
    """Figures of an independent implementation: .078 and .296 for k = 2, .012 and .057 for k = 5, and 0 for k = 50.

    Its quasi-identifiers and hierarchies are not known in detail, so the tolerance is a fifth.
    """
    roles = {JOB: Role.SENSITIVE, "salary": Role.QUASI_IDENTIFIER, "native-country": Role.NEUTRAL}
    dataset = load("adult", "sramka", roles=roles)
    dataset = replace(dataset, hierarchies={name: flat(dataset.schema[name]) for name in dataset.hierarchies})
    found = attack_two_releases(dataset, [Mondrian(k) for k in (2, 5, 10, 50)], JOB)
    found = found[found.measure == "value_certain"].set_index(["bound", "miner"]).value
    assert found[2, "homogeneity"] == pytest.approx(0.078, rel=0.2)
    assert found[2, "composition"] == pytest.approx(0.296, rel=0.2)
    assert found[5, "homogeneity"] == pytest.approx(0.012, rel=0.2)
    assert found[5, "composition"] == pytest.approx(0.057, rel=0.2)
    assert found[10, "composition"] < 0.02
    assert found[50, "composition"] == 0


# Li, Li, Venkatasubramanian, ICDE 2007, Table 4: a 3-diverse release; the first class has stomach diseases alone.
STOMACH = ["gastric ulcer", "gastritis", "stomach cancer"]
OTHER = ["gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "stomach cancer"]


def test_the_worked_example_of_similar_values():
    """Everybody in the first class has a disease of the stomach, although each single disease stays uncertain."""
    ill = STOMACH + OTHER
    places = ["476"] * 3 + ["4790"] * 3 + ["476 old"] * 3
    schema = Schema(
        "patients",
        (
            Attribute("place", Role.QUASI_IDENTIFIER, Categories(tuple(dict.fromkeys(places)))),
            Attribute("ill", Role.SENSITIVE, Categories(tuple(dict.fromkeys(ill)))),
        ),
    )
    table = pd.DataFrame({"place": places, "ill": ill})
    dataset = Dataset("patients", table, schema, {"place": flat(schema["place"])})
    attack = Homogeneity("ill").fit(Identity().sanitize(dataset, rng=1).publish()[0])
    found = measure_success(attack, table, dict.fromkeys(STOMACH, "stomach"))
    assert found.group.tolist() == [True] * 3 + [False] * 6
    assert not found.certain.any()
    # By hand: two of nine have gastritis, so a third is 1.5 times as much; one of nine has an ulcer, so it is 3 times.
    assert found.likelier.tolist() == [True, False, False, False, True, False, False, True, False]


def test_groups_of_similar_values_must_be_texts(adult):
    with pytest.raises(ValueError, match="`similar` must be a dict of a group for each sensitive value"):
        attack_one_release(adult, [Suppress()], JOB, similar={"Sales": 1})


def test_a_table_whose_people_may_have_several_records_is_refused(tmp_path):
    dataset = load(str(person_key.drafted(tmp_path, 40)))
    target = dataset.schema.sensitive[0]
    for attack in (attack_one_release, attack_two_releases):
        with pytest.raises(
            NotForThisTable, match="guess about single records, and people of 'visits' may have several"
        ):
            attack(dataset, [Suppress()], target)
