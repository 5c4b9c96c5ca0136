"""Which columns a draft proposes as sensitive, by their names and values, and for what legal reason."""

import re
from pathlib import Path

import pandas as pd
import pytest

from privnb.datasets import description
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import load_schema
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.draft import draft, infer_description
from privnb.datasets.sensitive_categories import CATEGORIES, find_sensitive
from privnb.microdata.schema import Role
from privnb.tables import reading

HEALTH, ORIGIN, RELIGION, CRIME, SEXUALITY, UNION, POLITICS, BODY, MONEY = (each.kind for each in CATEGORIES)
NAMES = {
    "main_diagnosis": HEALTH, "ICD10": HEALTH, "Diagnose": HEALTH, "maladie": HEALTH,
    "medicationName": HEALTH, "Vorerkrankungen": HEALTH, "bmi": HEALTH, "blood_pressure": HEALTH, "smoker": HEALTH,
    "état de santé": HEALTH, "financial_aid": None, "stroke": None, "cost": None, "healthcare": None,
    "nationality": ORIGIN, "Staatsangehörigkeit": ORIGIN, "pays_de_naissance": ORIGIN, "native-country": ORIGIN,
    "race": ORIGIN, "race_time": None, "origin_airport": None, "religion": RELIGION, "Konfession": RELIGION,
    "priors_count": CRIME, "crime_rate": None, "Straftaten": CRIME, "casier_judiciaire": CRIME,
    "sex": None, "sexual_orientation": SEXUALITY, "unionMember": UNION, "credit_union": None,
    "Gewerkschaft": UNION, "party_size": None, "party_affiliation": POLITICS, "vote_average": None,
    "genotype": BODY, "gender": None, "fingerprint": BODY, "household_income": MONEY, "Monatseinkommen": MONEY,
    "salaire_net": MONEY, "median_income": None, "Alkoholgehalt": None, "weight": None, "hours": None, "ward": None,
    "department": None,
}  # fmt: skip


def values(*texts):
    return Values.of(pd.Series(pd.Categorical(texts)), "NA")


def proposed(**columns):
    found = find_sensitive(
        {name: values(*texts) for name, texts in columns.items()}, dict.fromkeys(columns, Role.QUASI_IDENTIFIER)
    )
    return {name: category.kind for name, category in found.items()}


def test_names_of_columns_in_three_languages():
    assert len(NAMES) >= 40
    found = {name: proposed(**{name: ["1", "2"]}).get(name) for name in NAMES}
    assert found == NAMES


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["F32.1", "E11.9", "I10.0"], HEALTH),
        (["N02BE01", "A10BA02", "C07AB02"], HEALTH),
        (["Catholic", "Muslim", "none"], RELIGION),
        (["katholisch", "evangelisch", "keine"], RELIGION),
        (["Asian", "Hispanic", "White"], ORIGIN),
        (["gay", "heterosexual"], SEXUALITY),
        (["black", "white"], None),
        (["green", "liberal", "red", "blue", "pink"], None),
        (["A1", "B2", "C3"], None),
    ],
)
def test_values_are_recognized_under_any_name(texts, kind):
    assert proposed(x=texts).get("x") == kind


def test_a_cost_is_a_cost_of_care_beside_a_diagnosis_alone():
    assert proposed(cost=["1", "2"], size=["1", "2"]) == {}
    assert proposed(cost=["1", "2"], diagnosis=["a", "b"]) == {"cost": HEALTH, "diagnosis": HEALTH}


def test_only_columns_that_are_published_and_not_sensitive_are_asked_about():
    own = {name: values("a", "b") for name in ("diagnosis", "religion", "salary", "race")}
    roles = dict(zip(own, (Role.SENSITIVE, Role.UNUSED, Role.NEUTRAL, Role.IDENTIFIER), strict=True))
    assert [*find_sensitive(own, roles)] == ["salary"]


SHIPPED = {
    "census": {}, "coins": {}, "hypertension": {"hypertension": HEALTH}, "twelve": {"illness": HEALTH},
    "adult": {
        "race": ORIGIN, "capital-gain": MONEY, "capital-loss": MONEY, "native-country": ORIGIN, "salary": MONEY,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_tables_have_no_false_proposal(name):
    editor = DescriptionEditor.open(name, may_have_studies=True)
    found = find_sensitive(editor._values, dict.fromkeys(editor._values, Role.QUASI_IDENTIFIER))
    assert {column: category.kind for column, category in found.items()} == SHIPPED[name]


def test_tables_of_the_tests_have_no_false_proposal():
    for file, own in (("seeds.csv", {}), ("clinic/clinic.csv", {"diagnosis": HEALTH})):
        table, layout, _ = reading.read_undescribed(Path(__file__).parents[1] / "data" / file, None)
        found = infer_description(table, layout)
        kinds = find_sensitive(found.values, {each.name: each.role for each in found.columns})
        assert {name: category.kind for name, category in kinds.items()} == own


def test_a_draft_asks_with_the_legal_reason_and_decides_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 30},{'FE'[i % 2]}{10 + i % 3}.{i % 2},{1000 + i % 7}\n" for i in range(60)]
    Path("people.csv").write_text("age,dx,charges\n" + "".join(rows))
    editor = DescriptionEditor.open(str(draft("people.csv")))
    why = description.read_reasons(editor.text)
    question = "Sensitive? It looks like health data, a special category of personal data (GDPR Art. 9)"
    assert [why[name].endswith(question) for name in ("age", "dx", "charges")] == [False, True, True]
    assert {*editor.roles.chosen.values()} == {Role.QUASI_IDENTIFIER}
    assert editor.is_draft
    assert [*editor.proposed_sensitive(editor.roles)] == ["dx", "charges"]
    assert [*editor.proposed_sensitive(editor.roles.sensitive("dx"))] == ["charges"]
    saved, lacks = editor.save(editor.roles.person(""))
    assert saved.is_draft
    assert re.match("No column is sensitive yet", lacks[0])


def test_a_confirmed_description_is_asked_about_neutral_columns_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 30},{'ab'[i % 2]},{i % 3},{i % 5}\n" for i in range(60)]
    Path("people.csv").write_text("age,illness,religion,salary\n" + "".join(rows))
    editor = DescriptionEditor.open(str(draft("people.csv")))
    roles = editor.roles.sensitive("illness").person("").having({"salary": Role.NEUTRAL})
    editor, lacks = editor.save(roles)
    assert lacks == []
    assert load_schema("people").sensitive == ["illness"]
    assert [*editor.proposed_sensitive(editor.roles)] == ["salary"]
