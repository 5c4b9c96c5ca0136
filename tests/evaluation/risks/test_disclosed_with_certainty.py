"""Certainty: what an outsider concludes of a sensitive value from a release, counted again by plain loops."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks.certainty import Certainty
from privnb.measures.disclosure.certainty import NEAR
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.sanitizers import (
    MASK,
    Anatomy,
    LaplaceNoise,
    LatinHypercube,
    LocalSuppression,
    Microaggregation,
    Mondrian,
    RankSwapping,
    Sampling,
    Suppress,
    TopBottomCoding,
)

TOWNS, ILLNESSES = ("a", "b", "c"), ("flu", "cold", "asthma")


def people(illnesses: list[str], towns: list[str], role: Role = Role.QUASI_IDENTIFIER, **stated) -> Dataset:
    """People with a town, an age and an illness."""
    attributes = (
        Attribute("town", role, Categories(TOWNS)),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("illness", Role.SENSITIVE, Categories(ILLNESSES), **stated),
    )
    ages = np.random.default_rng(7).integers(0, 100, len(towns))
    table = pd.DataFrame({"town": towns, "age": ages, "illness": illnesses})
    schema = Schema("people", attributes)
    return Dataset("people", table, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})


def town_with_one_illness(role: Role = Role.QUASI_IDENTIFIER, **stated) -> Dataset:
    """All 60 people of town a have asthma, as 120 of the 360 people have; the others have any illness."""
    rng = np.random.default_rng(1)
    others = [*rng.choice(ILLNESSES, 240), *["flu"] * 60]
    return people(["asthma"] * 60 + others, [*["a"] * 60, *["b"] * 150, *["c"] * 150], role, **stated)


def by_loops(dataset: Dataset, release, name: str) -> tuple[int, int]:
    """How many people's value is certain, and nearly so, in rows that are alike in all that an adversary may know."""
    known = [each for each in dataset.schema.knowable if each in release.cells]
    groups = defaultdict(Counter)
    for *what, value in release.table[[*known, name]].astype(str).itertuples(index=False):
        groups[tuple(what)][value] += 1
    whole = Counter(dataset.table[name].astype(str))
    certain = near = 0
    for group in groups.values():
        value, most = group.most_common(1)[0]
        public = whole[value] / len(dataset)
        if public < NEAR:
            certain += most if len(group) == 1 else 0
            near += sum(group.values()) if most / sum(group.values()) >= NEAR else 0
    return certain, near


@pytest.mark.parametrize("study", ["sramka", "li-li"])
@pytest.mark.parametrize("k", [3, 11])
def test_certain_people_are_those_of_classes_with_one_value(study, k):
    adult = load("adult", study, records=1500)
    name = adult.schema.sensitive[0]
    for sanitizer in (Mondrian(KAnonymity(k)), LocalSuppression(k=k), Sampling(0.5), Suppress()):
        case = Case(adult, sanitizer, 1)
        found = Certainty(name).conclusions(case)
        assert (found.certain.sum(), found.near.sum()) == by_loops(adult, case.release, name), sanitizer


def test_the_figures_of_adult():
    """Counted before by an independent check: 16,447 people under k = 11, 17,817 with distinct l = 2."""
    adult = load("adult")
    found = Certainty("salary").conclusions(Case(adult, Mondrian(KAnonymity(11)), 1))
    assert found.near.sum() == 16_447
    two = Mondrian(KAnonymity(11), DistinctDiversity(2, "salary"))
    found = Certainty("salary").conclusions(Case(adult, two, 1))
    assert (found.certain.sum(), found.near.sum()) == (0, 17_817)


def test_a_pattern_that_every_other_record_shows_is_disclosed_all_the_same():
    """The attribute risk counts nothing here: whoever reads all other records knows that the town has one illness."""
    data = people([*ILLNESSES] * 100, [*TOWNS] * 100)
    case = Case(data, Mondrian(KAnonymity(10)), 1)
    assert Certainty("illness").conclusions(case).certain.all()
    assert not Certainty("illness").conclusions(Case(data, Suppress(), 1)).certain.any()


@pytest.mark.parametrize("sanitizer", [Suppress(), LaplaceNoise(1.0), Microaggregation(5)], ids=repr)
def test_a_neutral_column_discloses_beside_whatever_is_done_to_the_others(sanitizer):
    data = town_with_one_illness(Role.NEUTRAL)
    certain = Certainty("illness").conclusions(Case(data, sanitizer, 1)).certain
    assert certain[:60].all()
    stated = tuple(
        replace(each, cannot_be_known="Towns are not recorded.") if each.role is Role.NEUTRAL else each
        for each in data.schema.attributes
    )
    unknown = replace(data, table=data.cells, schema=replace(data.schema, attributes=stated))
    if isinstance(sanitizer, Suppress):
        assert not Certainty("illness").conclusions(Case(unknown, sanitizer, 1)).certain.any()


def test_buckets_of_one_value_disclose_and_diverse_ones_do_not():
    data = town_with_one_illness()
    assert Certainty("illness").conclusions(Case(data, Anatomy(2, "illness"), 1)).certain.sum() == 0


def test_rows_of_nobody_disclose_what_all_of_them_agree_on():
    pattern = people(["flu", "cold", "asthma"] * 100, [*"abc"] * 100)
    assert Certainty("illness").conclusions(Case(pattern, LatinHypercube(), 1)).certain.sum() > 200
    assert not Certainty("illness").conclusions(Case(nothing_to_learn(), LatinHypercube(), 1)).certain.any()


def nothing_to_learn() -> Dataset:
    rng = np.random.default_rng(2)
    return people(rng.choice(ILLNESSES, 300).tolist(), rng.choice(TOWNS, 300).tolist())


def test_a_larger_group_that_is_nearly_of_one_value_hides_no_certain_one():
    """60 people of 45 to 54 have asthma; 96 in 100 of the much larger rest have flu."""
    ages = [45 + i % 10 for i in range(60)] + [55 + i % 40 for i in range(1000)]
    ill = ["asthma"] * 60 + ["cold" if i % 25 == 0 else "flu" for i in range(1000)]
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("ill", Role.SENSITIVE, Categories(ILLNESSES)),
    )
    schema = Schema("ages", attributes)
    data = Dataset("ages", pd.DataFrame({"age": ages, "ill": ill}), schema, {"age": flat(schema["age"])})
    found = Certainty("ill").conclusions(Case(data, TopBottomCoding(0.05), 1))
    assert found.certain[:60].all()


@pytest.mark.parametrize("seed", range(1, 6))
def test_few_rows_that_happen_to_agree_make_nobody_certain(seed):
    assert not Certainty("illness").conclusions(Case(nothing_to_learn(), RankSwapping(50), seed)).certain.any()


def test_harmless_values_are_left_out_and_a_public_distribution_counts():
    reason = {"asthma": "In this table, asthma means that a form was not filled in."}
    data = town_with_one_illness(harmless=reason)
    split = Mondrian(KAnonymity(10))
    assert not Certainty("illness").conclusions(Case(data, split, 1)).certain[:60].any()
    known = town_with_one_illness(public_distribution={"asthma": 0.96, "flu": 0.02, "cold": 0.02})
    assert not Certainty("illness").conclusions(Case(known, split, 1)).certain[:60].any()


def test_a_value_that_nearly_everybody_has_is_not_disclosed():
    data = people(["flu"] * 290 + ["asthma"] * 10, [*"ab"] * 145 + ["c"] * 10)
    found = Certainty("illness").conclusions(Case(data, Mondrian(KAnonymity(10)), 1))
    assert found.certain[:290].sum() == 0
    assert found.certain[290:].sum() in (0, 10), "ten people are one class, or none is certain"


def test_numbers_are_nearly_certain_in_a_narrow_interval():
    attributes = (
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
        Attribute("income", Role.SENSITIVE, Numbers(0, 99, cuts=2)),
    )
    schema = Schema("incomes", attributes)
    rng = np.random.default_rng(4)
    incomes = np.concatenate([rng.integers(50, 54, 40), rng.integers(0, 100, 160)])
    table = pd.DataFrame({"town": ["a"] * 40 + ["b"] * 160, "income": incomes})
    data = Dataset("incomes", table, schema, {"town": flat(schema["town"])}).in_bands("income")
    found = Certainty("income").conclusions(Case(data, Mondrian(KAnonymity(10)), 1))
    assert not found.certain.any(), "two bands occur in town a"
    assert found.near.tolist() == [True] * 40 + [False] * 160


def test_what_cannot_be_read_is_refused_and_not_zero():
    adult = load("adult", "li-li", records=200)
    [row] = [row for row in _rows(adult, MASK(1.0)) if row["measure"] == "made_certain"]
    assert row["status"] == "refused"


def _rows(dataset, sanitizer):
    from privnb.evaluation.evaluation_loop import build_answer_rows

    return build_answer_rows(Certainty("occupation"), Case(dataset, sanitizer, 1))
