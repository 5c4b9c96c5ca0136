"""The family side by side: invented people are nobody's, and every kind is there."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import own_tables
from support.clinic import CLINIC

from privnb.cli import main
from privnb.datasets.dataset import Dataset, find_description, load
from privnb.microdata.schema import Attribute, Numbers, Role
from privnb.privacy_models import KAnonymity
from privnb.publishing import leaks
from privnb.reporting import charts, gallery
from privnb.reporting.findings import release_costs
from privnb.runtime.numerals import write_without_unit
from privnb.sanitizers import (
    Anatomy,
    Identity,
    KMember,
    LocalRecoding,
    Mondrian,
    RandomizedResponse,
    Rotation,
    catalogue,
)  # fmt: skip


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=800)


@pytest.mark.slow
def test_made_up_people_are_nobody(adult):
    for data in (adult, load(CLINIC)):
        names = data.schema.quasi_identifiers
        persons = gallery.invent_people(data, 5)
        real = set(data.table[names].astype(str).itertuples(index=False, name=None))
        assert not real & set(persons[names].astype(str).itertuples(index=False, name=None))
        assert len(persons[names].drop_duplicates()) == 5
        data.schema.check(persons)


def test_a_key_may_be_a_number(tmp_path):
    """As its owner may say of a column that was taken for one: nobody made up is in its domain."""
    path = own_tables.write(tmp_path / "data", "numeric-sensitive")
    data = load(path)
    key = Attribute("nr", Role.PERSON, Numbers(0, 10_000))
    schema = replace(data.schema, attributes=(key, *data.schema.attributes))
    table = data.table.assign(nr=np.arange(len(data)) // 2)
    page = gallery.show_side_by_side(Dataset("numbered", table, schema, data.hierarchies), [Mondrian(KAnonymity(2))])
    assert list(page.table.index) == ["invented", "Mondrian"]


@pytest.mark.slow
def test_where_everybody_is_taken_nobody_can_be_made_up(adult):
    only = adult.schema.with_roles({"sex": "quasi-identifier", "salary": "sensitive"})
    both = Dataset("both", adult.table[["sex", "salary"]], only, {"sex": adult.hierarchies["sex"]})
    with pytest.raises(ValueError, match="belongs to somebody"):
        gallery.invent_people(both)


@pytest.mark.slow
def test_every_kind_publishes_the_same_people(adult):
    family = catalogue.build_one_per_class(adult, k=5)
    page = gallery.show_side_by_side(adult, family, people=3)
    kinds = ["invented", *(catalogue.title(type(s).__name__) for s in family)]
    people = [f"person {number}" for number in (1, 2, 3)]
    assert list(page.table.index) == [(person, kind) for person in people for kind in kinds]
    assert page.table.shape[1] == 9
    assert len(set(kinds)) == len(family) + 1 > 10
    assert repr(page) == f"3 invented people under {len(family)} sanitizers"
    mondrian, buckets = (page.table.xs(name, level=1) for name in ("Mondrian", "Buckets"))
    assert (mondrian != gallery.SAME).any(axis=None)
    assert (buckets == gallery.SAME).to_numpy().sum() == 3 * 8
    assert buckets.loc["person 1", "salary"].startswith("bucket ")


@pytest.mark.slow
def test_no_row_of_the_gallery_is_a_real_persons(adult):
    """A sample does not hold everybody, and its rows are other people's; a row may be what few have, by chance."""
    few, (real, _) = load("adult", records=2000), leaks.read_protected(find_description("adult"))
    kinds = ("Sampling", "MultipleImputation", "LatinHypercube", "PRAM", "RankSwapping", "RandomizedResponse")
    family = [each for each in catalogue.build_one_per_class(few, k=5) if type(each).__name__ in kinds]
    seen, said = [], ["not in the sample", "not shown: few have this"]
    for seed in range(2):
        table = gallery.show_side_by_side(few, [Identity(), *family], of="adult", people=5, rng=seed).table
        seen.append(table)
        assert not leaks.find_personal_rows(table, real).any()
        drawn = table.xs("Sampling", level=1)
        assert {*drawn[~drawn["age"].isin(said)].to_numpy().ravel()} <= {gallery.SAME}, "the person's own row, or none"
        assert set(table.xs("Latin hypercube", level=1)["age"]) == {"rows do not belong to people"}
    assert {*said} <= {*pd.concat(seen)["age"]}
    own = gallery.invent_people(few, 100, rng=0)
    assert leaks.find_personal_rows(own, real).any(), "nobody's in the sample, and somebody's in the table"
    assert not leaks.find_personal_rows(gallery.invent_people(few, 5, originals=real, rng=0), real).any()


@pytest.mark.slow
def test_a_missing_number_is_shown_by_its_mark(tmp_path):
    gaps = load(own_tables.drafted(tmp_path))
    table = gallery.show_side_by_side(gaps, [Identity(), KMember(5)], people=30).table
    weights = table.xs("invented", level=1)["weight"]
    assert 0 < (weights == "NA").sum() < 15
    missing = table.xs("k-member clustering", level=1)["weight"][weights == "NA"]
    assert set(missing) <= {gallery.SAME, "*", "not shown: few have this", ""}, "NA is in no range"
    why = gallery.show_side_by_side(gaps, [Rotation()]).table.loc["Rotation", "score"]
    assert not why.startswith("not possible"), "missing numbers are drawn from the column, and counted"


def test_what_is_not_possible_says_why(adult):
    page = gallery.show_side_by_side(adult, [Anatomy(2, "salary"), Mondrian(gallery.KAnonymity(5))])
    why, *others = page.table.loc["Anatomy"]
    assert "more than one in 2 records have" in why
    assert set(others) == {""}


def test_each_sanitizer_is_described_in_a_sentence(adult):
    table = gallery.describe_sanitizers(catalogue.build_one_per_class(adult)).table
    assert table["what it does"].str.endswith(".").all()
    assert (table["what it does"].str.len() < 200).all()
    assert table["what it does"].is_unique


@pytest.fixture(scope="module")
def losses(adult):
    return gallery.measure_penalties(adult, k="2, 20", l="1.2", t="0.2")


def test_what_stands_beside_a_release_is_said_in_words(adult):
    page = gallery.describe_provenance(KMember(2).sanitize(adult, rng=1))
    html = page._repr_html_()
    for said in ("KAnonymity(k=2)", "race", "suppressed: the record&#x27;s own value or *", "exact"):
        assert said.replace("&#x27;", "'") in html.replace("&#x27;", "'").replace("&#39;", "'"), said


@pytest.mark.slow
def test_losses_by_every_bound(losses):
    assert losses.groupby("target").sanitizer.nunique().to_dict() == {"k": 5, "l": 5, "t": 5}
    shown, withheld = losses[losses.status == ""], losses[losses.status == "withheld"]
    assert len(shown) + len(withheld) == len(losses)
    assert shown.value.between(0, 1).all()
    assert withheld.sanitizer.tolist() == ["FullDomain"], "which suppresses a few people"
    assert (withheld.low < withheld.high).all()
    by_k = losses[losses.target == "k"].set_index(["sanitizer", "parameters"]).value
    assert by_k["KMember", "k=2"] < by_k["KMember", "k=20"]


def test_what_cannot_be_reached_has_no_row(adult):
    assert (
        gallery.measure_penalties(adult, k="2", l="2").target.tolist() == ["k"] * 5
    )  # salary has fewer than 2 equal values


def test_the_chart_and_the_answer_say_the_numbers(losses):
    text = release_costs(losses).data
    strictest = losses[(losses.target == "k") & losses.parameters.str.contains("k=20")]
    assert write_without_unit("{:%}", strictest.value.min()) in text
    assert catalogue.title(strictest.sanitizer[strictest.value.idxmin()]) in text
    chart = charts.lines(losses, "certainty_penalty").to_dict()
    assert len(chart["vconcat"]) == 3
    widest = losses.loc[losses.value.idxmax()]
    assert catalogue.title(widest.sanitizer) in " ".join(chart["title"]["text"])
    assert isinstance(catalogue.build_one_per_class(load(CLINIC))[2], KMember)
    assert isinstance(losses, pd.DataFrame)


@pytest.mark.slow
def test_no_value_of_few_people_is_shown_of_a_domain_that_was_read_from_the_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    towns = ["Ulm", "Bonn", "Trier"] * 40 + [f"Hamlet {n}" for n in range(30)]
    rows = [f"{town},{20 + n * 7 % 67},{'xyz'[n % 3]}" for n, town in enumerate(towns)]
    (tmp_path / "people.csv").write_text("\n".join(["town,age,ill", *rows]))
    assert main(["describe", "people.csv", "--sensitive", "ill", "--confirm"]) == 0
    dataset = load("people")
    assert dataset.schema["town"].domain.of_records
    asked = [RandomizedResponse(0.1), RandomizedResponse(0.2), LocalRecoding(KAnonymity(2)), Mondrian(KAnonymity(5))]
    shown = gallery.show_side_by_side(dataset, asked, people=5).table.to_string()
    assert "rare" in shown
    assert "Hamlet" not in shown


def test_nobody_is_shown_whose_other_values_are_somebodys_once_a_rare_one_is_hidden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(2)
    rows = [
        f"Hamlet {n % 40},{draw.integers(20, 90)},{'fm'[n % 2]},{draw.integers(3)},{'abc'[draw.integers(3)]},x{n % 4}"
        for n in range(300)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["town,age,sex,rooms,job,ill", *rows]))
    assert main(["describe", "people.csv", "--sensitive", "ill", "--confirm"]) == 0
    dataset, (originals, *_) = load("people", records=100), leaks.read_protected(find_description("people"))
    for seed in range(8):
        shown = gallery.show_side_by_side(dataset, [Mondrian(KAnonymity(5))], of="people", rng=seed).table
        assert "rare" in shown.to_string()
        assert not leaks.find_personal_rows(shown, originals).any()
