"""Whose records these are: the key of people, its errors, and what a draft says of it."""

import re

import numpy as np
import pandas as pd
import pytest
from support import person_key
from support.questions import utility, utility_gain

from privnb.datasets.dataset import Dataset, load
from privnb.datasets.draft import ASSUMED, draft
from privnb.evaluation.combination_sizes import measure_combinations
from privnb.microdata.counts import count_people_by_group, select_person_rows
from privnb.microdata.schema import Attribute, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Identity, KMember, Mondrian, SanitizationError, Suppress


def test_people_are_counted_once_in_each_group():
    rng = np.random.default_rng(3)
    groups, people = rng.integers(0, 20, 500), rng.integers(0, 60, 500)
    plain = pd.Series(people).groupby(groups).nunique().tolist()
    assert count_people_by_group(groups, people).tolist() == plain != count_people_by_group(groups).tolist()
    assert count_people_by_group(groups, people, 30).tolist() == [*plain, *[0] * 10]
    once = select_person_rows(people, groups)
    assert len(once) == len({*zip(groups, people, strict=True)}) < 500


def test_a_key_says_whose_records_these_are_and_is_never_published():
    table = person_key.table()
    own = person_key.dataset(table)
    assert own.schema.person == "patient"
    assert "patient" not in own.schema.published
    codes = pd.DataFrame({"patient": table["patient"], "number": own.people}).drop_duplicates()
    assert len(codes) == codes["patient"].nunique() == codes["number"].nunique() == 400
    assert person_key.visits(patient=Role.IDENTIFIER).people is None
    for roles in ({"age": "quasi-identifier"}, {"age": "neutral", "ill": "sensitive"}):
        assert own.schema.with_roles(roles).person == "patient", "a choice of columns leaves the key"
    assert own.schema.with_roles({"age": "neutral", "patient": "unused"}).person is None, "but where it says so"


def test_labels_end_where_ten_people_are_and_not_ten_records_of_one():
    table = pd.DataFrame([("p0", 30)] * 12 + [(f"p{i}", 40) for i in range(10)], columns=["patient", "age"])
    table = table.assign(sex="F", town="a", ill="flu", ward="day")
    assert person_key.dataset(table).shared["age"].tolist() == [40]
    assert person_key.dataset(table, patient=Role.IDENTIFIER).shared["age"].tolist() == [30, 40]


def test_a_key_with_gaps_and_two_keys_are_refused():
    table = person_key.table(5)
    table.loc[[2, 3], "patient"] = None
    with pytest.raises(
        SchemaError, match="'patient', the key of people, has no value in 2 of 25 records, the first in record 3"
    ):
        person_key.dataset(table)
    with pytest.raises(SchemaError, match=re.escape("['household', 'patient'] are both keys of people")):
        Schema("twice", (Attribute("household", Role.PERSON), Attribute("patient", Role.PERSON)))


def test_a_sample_and_a_part_hold_all_records_of_their_people():
    own = person_key.dataset(person_key.table())
    sizes = own.table["patient"].value_counts()
    sample = own.sample(300, rng=1)
    assert 290 < len(sample) <= 300
    first, second = own.split(0.5, rng=1)
    assert first.headcount == second.headcount == 200
    for part in (sample, first, second, own.sample(2, rng=3)):
        found = part.table["patient"].value_counts()
        assert (found == sizes[found.index]).all()
    assert not {*first.table["patient"]} & {*second.table["patient"]}
    rows = own.schema.with_roles({name: "neutral" for name in ("age", "ill")} | {"patient": "unused"})
    assert len(Dataset("rows", own.table[["age", "ill"]], rows, {}).sample(300, rng=1)) == 300


def test_who_counts_records_refuses_a_table_of_people():
    with pytest.raises(SanitizationError, match="counts records, but 'patient' is the key of people"):
        KMember(3).sanitize(person_key.visits(), rng=1)
    KMember(3).sanitize(person_key.visits(30, patient=Role.IDENTIFIER), rng=1)


def written(folder, table, name="visits", **options):
    table.to_csv(folder / f"{name}.csv", index=False, **options)
    path = draft(folder / f"{name}.csv", folder=folder / "data")
    return path, path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_draft_asks_whose_records_these_are_and_says_what_it_assumed(tmp_path):
    table = person_key.table().rename(columns={"patient": "patient_id"})
    path, text = written(tmp_path, table)
    assert f'role = "person" # 400 people in {len(table):,} records: k counts people' in text
    assert f"One row per person? {ASSUMED[True]}" in text
    path.write_text(text.replace("\ndraft = true\n", "\n"), encoding="utf-8")
    assert load(path).people.max() == 399
    for name, other in {"once": table.drop_duplicates("patient_id"), "counts": table.assign(patient_id=1)}.items():
        text = written(tmp_path, other, name)[1]
        assert "One row per person? Assumed." in text
        assert 'role = "person" #' not in text


@pytest.mark.slow
def test_a_missing_key_in_a_file_is_an_error_whatever_says_that_it_is_missing(tmp_path):
    table = person_key.table().rename(columns={"patient": "patient_id"})
    path, text = written(tmp_path, table)
    for gap, said in (("", ""), ("?", '[format]\nmissing = "?"\n')):
        table.loc[4, "patient_id"] = gap
        table.to_csv(path.parent / "visits.csv", index=False)
        lines = [line for line in text.splitlines() if line != "draft = true" and not line.startswith("sha256")]
        path.write_text("\n".join(lines).replace("[format]\n", said or "[format]\n"), encoding="utf-8")
        with pytest.raises(SchemaError, match="'patient_id', the key of people, has no value in 1 of 1447 records"):
            load(path)


def weighed(weights, **more):
    """The visits with sampling weights, a column of texts or numbers."""
    own = person_key.schema(**more)
    schema = Schema("visits", (*own.attributes, Attribute("stands for", Role.WEIGHT)))
    table = person_key.table(60)
    lines = person_key.visits(60).hierarchies
    return Dataset("visits", table.assign(**{"stands for": weights(len(table))}), schema, lines)


def test_weights_are_numbers_above_zero_and_never_published():
    own = weighed(lambda n: np.arange(1, n + 1).astype(str).astype(object))
    assert own.weights.tolist() == list(range(1, len(own) + 1))
    assert "stands for" not in own.schema.published
    release = Mondrian(KAnonymity(4)).sanitize(own, rng=1)
    assert "stands for" not in [*release.table, *release.schema.names(), *release.publish()[0].table]
    assert own.schema.with_roles({"age": "neutral"}).weight == "stands for"
    wrongs = {"missing": None, "zero or negative": "0", "zero or negative ": "-1", "not numbers": "many"}
    for said, wrong in wrongs.items():
        with pytest.raises(SchemaError, match=f"has 1 weights that are {said.strip()}, the first in record 3"):
            weighed(lambda n, wrong=wrong: np.array(["2", "2", wrong] + ["2"] * (n - 3), dtype=object))
    with pytest.raises(SchemaError, match="are both weights"):
        Schema("twice", (Attribute("a", Role.WEIGHT), Attribute("b", Role.WEIGHT)))


def test_the_population_of_a_class_is_the_sum_of_its_members_weights():
    for role in (Role.PERSON, Role.IDENTIFIER):
        own = weighed(lambda n: 1 + np.arange(n) % 7 / 2, patient=role)
        release = Mondrian(KAnonymity(12)).sanitize(own, rng=1)
        rows = pd.DataFrame({"class": release.equivalence_classes, "who": own.table["patient"], "weight": own.weights})
        if role is Role.PERSON:
            rows = rows.groupby(["class", "who"], as_index=False)["weight"].max()
        expected = rows.groupby("class")["weight"].sum()
        assert release.population_per_class.tolist() == pytest.approx(expected.tolist())
        found = (
            measure_combinations(own, [Mondrian(KAnonymity(12)), Identity()]).set_index(["sanitizer", "measure"]).value
        )
        assert found["Mondrian", "smallest_population"] == round(expected.min())
        assert np.isnan(found["Identity", "smallest_population"]), "the weight of one person is theirs"
    assert "smallest_population" not in set(measure_combinations(person_key.visits(60), [Identity()]).measure)


@pytest.mark.slow
def test_weights_of_a_file_may_have_decimal_commas(tmp_path):
    table = person_key.table().rename(columns={"patient": "patient_id"})
    table["stands for"] = [f"{1 + i % 9},5" for i in range(len(table))]
    path, text = written(tmp_path, table, sep=";")
    lines = text[text.index('[columns."stands for"]') :].splitlines()
    text = text.replace(lines[1], 'role = "weight"').replace("\ndraft = true\n", "\n")
    path.write_text(text, encoding="utf-8")
    assert load(path).weights.tolist() == [1.5 + i % 9 for i in range(len(table))]


@pytest.mark.slow
def test_an_honest_user_is_right_about_the_population():
    """Whoever knows the most common illness alone is right for the weights of those who have it."""
    for role in (Role.PERSON, Role.IDENTIFIER):
        own = weighed(lambda n: 1 + np.arange(n) % 7.0, patient=role)
        people = own.table.assign(weight=own.weights, right=own.table["ill"] == own.table["ill"].mode()[0])
        if role is Role.PERSON:
            people = people.groupby("patient")[["weight", "right"]].max()
        found = utility(own, [Suppress("sensitive")], target="ill", miners="majority").iloc[0]
        share = people["weight"][people["right"]].sum() / people["weight"].sum()
        assert found.value == pytest.approx(share)
        assert found.value != pytest.approx(people["right"].mean())
        assert found.baseline == pytest.approx(share)
        assert found.low < share < found.high
    alike = weighed(lambda n: np.full(n, 2.5), patient=Role.IDENTIFIER)
    plain = person_key.visits(60, patient=Role.IDENTIFIER)
    asked = {"sanitizers": [Identity()], "target": "ill", "miners": "decision stump", "folds": 3}
    weighted, unweighted = (utility_gain(each, **asked)[["value", "low", "high"]] for each in (alike, plain))
    np.testing.assert_allclose(weighted.to_numpy(), unweighted.to_numpy(), atol=1e-9)
