"""`privnb assess`: a file of another tool is judged by a policy, and what it cannot be read as is refused."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.cli import answer
from privnb.cli.assess import describe_criterion, list_criteria
from privnb.datasets.dataset import load
from privnb.datasets.foreign_file import parse_treatments
from privnb.decision import card
from privnb.evaluation.evaluation_loop import ask
from privnb.evaluation.risks.criteria import ExcessInference, ExcessSinglingOut
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import list_lines
from privnb.runtime.wording import write
from privnb.sanitizers import Identity, Mondrian

SCHEMA = json.loads(Path(answer.__file__).with_name("answer.schema.json").read_text(encoding="utf-8"))
CARD = json.loads(Path(card.__file__).with_name("card.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a generalized file of a half of the clinic, the other half, and a copy of the first half."""
    folder = tmp_path_factory.mktemp("assess")
    people = load(CLINIC)
    table = Mondrian(k=20).sanitize(people, rng=1).publish()[0].table
    table.to_csv(folder / "theirs.csv", index=False)
    people.table[people.schema.published].to_csv(folder / "copy.csv", index=False)
    return folder


def assessed(capsys, *words):
    """The document of the command, checked by its schema."""
    status = cli.main(["assess", *map(str, words), "--dataset", str(CLINIC), "--seeds", "1", "--json", "-q"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["status"] == status
    return found


@pytest.mark.slow
def test_a_generalized_file_is_assessed_and_has_a_card(files, capsys, tmp_path):
    out, page = tmp_path / "card.json", tmp_path / "card.html"
    words = ("--policy", "k-5", "--card", out, "--card", page)
    found = assessed(capsys, files / "theirs.csv", *words)["values"]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "privnb check theirs.csv --card card.json" in page.read_text(encoding="utf-8")
    assert cli.main(["check", str(files / "theirs.csv"), "--card", str(out)]) == (0 if found["keeps"] else 1)
    assert "the digest is the same" in capsys.readouterr().out
    assert found["rows"] == "the records"
    assert {"generalized"} <= {each["treated"] for each in found["columns"].values()}
    jsonschema.validate(json.loads(out.read_text()), CARD)
    assert found["card"]["release"]["k"] >= 20
    assert (found["holdout"], found["copies"]) == (None, None)
    assert str(files) not in out.read_text()


@pytest.mark.slow
def test_a_copy_of_the_records_breaks_the_policy(files, capsys):
    found = assessed(capsys, files / "copy.csv", "--policy", "k-5")
    assert (found["status"], found["values"]["keeps"], found["values"]["card"]["answer"]["keeps"]) == (1, False, False)


def read_as(**columns):
    """The sentences on how each column was read, for columns given as (treatment, forms)."""
    content = {name: {"treated": treated, "forms": forms} for name, (treated, forms) in columns.items()}
    file = {
        "file": "f.csv",
        "rows": 12,
        "origin": "the records",
        "columns": content,
        "lacking": [],
        "holdout": None,
        "note": "",
    }
    return list_lines(write("decision/assessment", "answer", file))[1:]


def test_a_column_of_values_and_stars_is_not_suppressed():
    assert read_as(
        sex=("suppressed", {"value": 9, "suppressed": 3}), race=("suppressed", {"suppressed": 12}),
        age=("generalized", {"interval": 12}), town=("plain", {"value": 12}),
    ) == [
        "sex: values, suppressed in 3 of 12 rows.", "race: suppressed in all rows.",
        "age: generalized; interval (12 cells).", "town: values of the domain only.",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("holdout", [False, True])
@pytest.mark.parametrize("lacking", [["age"], ["weight"], ["postcode"], ["region"], ["age", "region"]], ids=",".join)
def test_a_file_may_lack_quasi_identifiers(files, capsys, tmp_path, lacking, holdout):
    people = load(CLINIC).table[load(CLINIC).schema.published]
    people.drop(columns=lacking).to_csv(tmp_path / "x.csv", index=False)
    drawn = {name: people[name].sample(frac=1, random_state=i).array for i, name in enumerate(people)}
    pd.DataFrame(drawn).to_csv(tmp_path / "others.csv", index=False)
    found = assessed(capsys, tmp_path / "x.csv", *(["--holdout", tmp_path / "others.csv"] if holdout else []))
    assert found["values"]["lacking"] == lacking
    assert not {*lacking} & {*found["values"]["card"]["release"]["quasi_identifiers"]}


def test_what_is_not_there_is_refused_before_anything_is_measured(files, capsys, tmp_path):
    assert assessed(capsys, tmp_path / "absent.csv")["status"] == 4
    (tmp_path / "card.json").write_text("{}")
    assert assessed(capsys, files / "theirs.csv", "--card", tmp_path / "card.json")["status"] == 2
    assert (tmp_path / "card.json").read_text() == "{}"
    assert assessed(capsys, files / "theirs.csv", "--card", tmp_path / "card.pdf")["status"] == 2
    assert assessed(capsys, files / "theirs.csv", "--treatment", "age")["status"] == 2


def test_the_criteria_are_values_and_sentences():
    rows = ask(load(CLINIC), [(Identity(), 1, [ExcessInference("diagnosis"), ExcessSinglingOut()])])
    found = list_criteria(rows)
    jsonschema.validate(found, SCHEMA["$defs"]["assess"]["properties"]["criteria"])
    assert [each["criterion"] for each in found] == ["inference", "singling_out", "singling_out"]
    assert found[0]["value"] == pytest.approx((found[0]["attack"] - found[0]["control"]) / (1 - found[0]["control"]))
    said = describe_criterion(found[0])
    assert said.startswith("Excess inference (diagnosis): ")
    assert "of 150 people of the table, for" in said
    none = found[1] | {"value": 0.0, "attempts": None}
    assert describe_criterion(none).endswith("0%, because no predicate singles out a released row.")
    (few,) = list_criteria(rows[rows.measure.eq("excess_inference")].assign(of=1.0))
    assert {few[name] for name in ("value", "low", "high", "attack", "control")} == {None}
    assert describe_criterion(few).endswith("the attack tries 1 person, too few for a rate; at least 10 are needed.")
    withheld = found[1] | {"value": None, "unknown": "withheld"}
    assert describe_criterion(withheld).endswith("is not reported: withheld.")


@pytest.mark.parametrize(
    ("more", "status"), [(["theirs.csv"], 2), (["--holdout", "copy.csv"], 3), (["--holdout", "empty.csv"], 4)]
)
def test_nothing_is_written_if_a_file_is_refused(files, capsys, tmp_path, more, status):
    (files / "empty.csv").write_text("")
    words = [str(files / word) if word.endswith(".csv") else word for word in more]
    found = assessed(capsys, files / "theirs.csv", *words, "--card", tmp_path / "card.json")
    assert (found["status"], found["values"]) == (status, None)
    assert not (tmp_path / "card.json").exists()


def test_rows_that_must_be_stated_are_a_wrong_argument(files, capsys, tmp_path):
    people = load(CLINIC).table[load(CLINIC).schema.published]
    mixed = people.assign(age=people.age.sample(frac=1, random_state=1).to_numpy())
    mixed.to_csv(tmp_path / "x.csv", index=False)
    found = assessed(capsys, tmp_path / "x.csv")
    assert found["status"] == 2
    assert "--rows in-order" in found["error"]["message"]
    found = assessed(capsys, tmp_path / "x.csv", "--rows", "in-order")
    assert found["status"] == 3
    assert "--treatment 'age: perturbed'" in found["error"]["message"]


def test_treatments_are_pairs():
    assert parse_treatments("age: generalized,zip:suppressed") == {"age": "generalized", "zip": "suppressed"}
    with pytest.raises(UsageError, match="such as 'age: generalized'"):
        parse_treatments("age generalized")
