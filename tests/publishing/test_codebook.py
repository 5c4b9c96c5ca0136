"""The codebook: every label of a file with what it stands for, of public facts alone, in a form that programs read."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC, IDENTIFIER

from privnb.datasets.dataset import load
from privnb.explorer.saving import save_release
from privnb.explorer.setting import Setting
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.privacy_models import KAnonymity
from privnb.publishing import from_files
from privnb.sanitizers import (
    GeometricNoise,
    KMember,
    LaplaceNoise,
    LocalSuppression,
    Microaggregation,
    Mondrian,
    RandomizedResponse,
    SanitizationError,
    Suppress,
)
from privnb.tables import spreadsheets

TYPES = {"string", "integer", "number"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(out):
    """The rows of a codebook, each a dict of texts."""
    with open(f"{out}.codebook.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def resource(out):
    return json.loads(Path(f"{out}.codebook.json").read_text(encoding="utf-8"))


def read(out):
    return pd.read_csv(out, dtype=str, keep_default_na=False) if str(out).endswith(".csv") else pd.read_parquet(out)


def members(row):
    """The members of a label, as `codebook` says that they are separated."""
    return [re.sub(r"\\(.)", r"\1", each) for each in re.findall(r"(?:[^|\\]|\\.)+", row["members"])]


def accepted(found, columns):
    """Whether a resource is as Frictionless and its Table Schema ask for it, and is of these columns."""
    assert re.fullmatch(r"[a-z0-9._-]+", found["name"])
    assert found["profile"] == "tabular-data-resource"
    assert not Path(found["path"]).is_absolute()
    assert "" in found["schema"]["missingValues"]
    fields = found["schema"]["fields"]
    assert [each["name"] for each in fields] == [*columns]
    for each in fields:
        assert each["type"] in TYPES
        assert {*each.get("constraints", {})} <= {"enum", "minimum", "maximum"}
        if "enum" in each.get("constraints", {}):
            assert each["type"] == "string"
            assert len({*each["constraints"]["enum"]}) == len(each["constraints"]["enum"]) > 0
    return True


def fits(found, cells):
    """Whether the cells of a file are as its resource says."""
    missing = {*found["schema"]["missingValues"]}
    for each in found["schema"]["fields"]:
        values = {str(value) for value in cells[each["name"]].dropna()} - missing
        limits = each.get("constraints", {})
        if "enum" in limits:
            assert values <= {*limits["enum"]}, each["name"]
        elif each["type"] != "string":
            numbers = [float(value) for value in values]
            assert limits.get("minimum", -np.inf) <= min(numbers) <= max(numbers) <= limits.get("maximum", np.inf)
            assert each["type"] == "number" or all(number.is_integer() for number in numbers)
    return True


MADE = [
    Mondrian(KAnonymity(5)),
    KMember(5),
    Suppress(),
    LocalSuppression(3),
    Microaggregation(5),
    LaplaceNoise(1.0),
    GeometricNoise(1.0),
    RandomizedResponse(2.0),
]


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("sanitizer", MADE, ids=lambda each: type(each).__name__)
def test_every_label_of_a_file_is_in_its_codebook_and_no_other(here, sanitizer, out):
    made = from_files.sanitize(CLINIC, sanitizer, out, allow="a test")
    cells, rows, found = read(out), table(out), resource(out)
    assert accepted(found, cells)
    assert fits(found, cells)
    schema = load(CLINIC).schema
    for name in cells:
        own = [row for row in rows if row["column"] == name]
        assert own[0]["label"] == "", "first a row that describes the column"
        assert own[0]["meaning"].startswith(f"{schema[name].role}; {made.provenance['columns'][name]}")
        assert own[0]["unit"] == schema[name].unit
        labels = [row["label"] for row in own[1:]]
        field = next(each for each in found["schema"]["fields"] if each["name"] == name)
        assert [each["label"] for each in field.get("labels", [])] == labels
        if field["type"] == "string":
            assert sorted(labels) == sorted({str(each) for each in cells[name].dropna()})
        else:
            assert labels == []


def test_a_label_names_its_members_or_its_ends(here):
    from_files.sanitize(CLINIC, "k=5", "out.csv", allow="a test")
    dataset, rows = load(CLINIC), table("out.csv")
    for row in (row for row in rows if row["label"]):
        hierarchy, domain = dataset.hierarchies.get(row["column"]), dataset.schema[row["column"]].domain
        if hierarchy is None:
            assert members(row) == [row["label"]]
        elif dataset.schema[row["column"]].numeric:
            assert (float(row["low"]), float(row["high"])) == hierarchy.bounds(row["label"])
        else:
            covered = [hierarchy.leaves[place] for place in hierarchy.covered(row["label"])]
            assert sorted(members(row)) == sorted(covered)
            assert {*members(row)} <= {*domain.values}
    [missing] = [row for row in rows if row["column"] == "region" and row["label"] == "?"]
    assert (missing["meaning"], missing["missing"]) == ("the value is missing", "yes")
    assert next(row for row in rows if row["column"] == "region")["missing"] == "?"


def test_it_is_of_no_record(here):
    """It is the same of a table in which other people have the same labels, and holds no count."""
    whole = pd.read_csv(CLINIC.with_suffix(".csv"), dtype=str, keep_default_na=False)
    shutil.copytree(CLINIC.parent, "data/clinic")
    text = re.sub("sha256 = .*\n", "", CLINIC.read_text(encoding="utf-8"))
    Path("data/clinic/clinic.toml").write_text(text, encoding="utf-8")
    texts = []
    for number, cells in enumerate((whole, pd.concat([whole, whole]))):
        cells.to_csv("data/clinic/clinic.csv", index=False)
        from_files.sanitize("clinic", Suppress(), f"{number}.csv", allow="a test")
        texts.append([Path(f"{number}.csv.codebook.{each}").read_text(encoding="utf-8") for each in ("csv", "json")])
        assert IDENTIFIER not in str(texts)
    assert [text.replace("1.csv", "0.csv") for text in texts[1]] == texts[0]


def test_buckets_are_described_too(here):
    made = from_files.sanitize(CLINIC, "l=2", "out.csv", algorithm="Bucketize", allow="a test")
    found, held = resource("out.csv"), pd.read_csv("out.csv.buckets.csv")
    assert accepted(found, read("out.csv"))
    assert accepted(found["buckets"], held)
    assert found["buckets"]["path"] == "out.csv.buckets.csv"
    [attribute] = found["buckets"]["schema"]["fields"][0]["attributes"]
    assert [each["label"] for each in attribute["labels"]] == sorted({*held["value"]})
    assert attribute["treatment"] == made.provenance["columns"]["diagnosis"] == "bucketized"
    labels = [row["label"] for row in table("out.csv") if row["column"] == "diagnosis" and row["label"]]
    assert labels == sorted({*held["value"]})


def regions(folder, described, rare=3):
    """A table with 40 regions, of which every fourth one is of few people; a file of a hierarchy merges them."""
    names = [f"R{number:02}" for number in range(40)]
    people = [rare if number % 4 == 1 else 20 for number in range(40)]
    cells = pd.DataFrame({"region": np.repeat(names, people)})
    cells["sex"], cells["ill"] = np.resize(["F", "M"], len(cells)), np.resize(["flu", "cold", "no"], len(cells))
    (folder / "data/of/hierarchies/default").mkdir(parents=True)
    cells.to_csv(folder / "data/of/of.csv", index=False)
    lines = [f"{name};{names[place // 10 * 10]} and 9 others;*" for place, name in enumerate(names)]
    (folder / "data/of/hierarchies/default/region.csv").write_text("\n".join(lines) + "\n")
    proposal = "" if described else " # PROPOSAL, read from the records: replace it"
    (folder / "data/of/of.toml").write_text(
        f"""
[dataset]
name = "of"
[[files]]
path = "of.csv"
[columns.region]
role = "quasi-identifier"
domain = {json.dumps(names)}{proposal}
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M"]
[columns.ill]
role = "sensitive"
domain = ["flu", "cold", "no"]
"""
    )
    return names, people


def test_a_label_of_many_values_lists_all_of_a_described_domain(here):
    names, _ = regions(here, described=True)
    made = from_files.sanitize("of", "k=25", "out.csv", allow="a test")
    rows = {row["label"]: row for row in table("out.csv") if row["column"] == "region" and row["label"]}
    assert "R00 and 9 others" in rows
    assert members(rows["R00 and 9 others"]) == names[:10]
    assert "members-not-named" not in [each.code for each in made.notes]


def test_a_rare_value_that_was_read_from_the_records_is_not_named(here):
    names, people = regions(here, described=False)
    made = from_files.sanitize("of", "k=25", "out.csv", allow="a test")
    [row] = [row for row in table("out.csv") if row["label"] == "R00 and 9 others"]
    common = [name for name, number in zip(names[:10], people[:10], strict=True) if number >= 10]
    assert members(row) == common
    assert row["meaning"].startswith("one of 10 values; 3 are not named")
    assert "members-not-named" in [each.code for each in made.notes]
    assert [each.code for each in made.notes if "members-not-named" in each.code] == ["members-not-named"]
    text = Path("out.csv.codebook.json").read_text(encoding="utf-8")
    assert not [name for name, number in zip(names, people, strict=True) if number < 10 and f'"{name}"' in text]
    [label] = [
        each for each in resource("out.csv")["schema"]["fields"][0]["labels"] if each["label"] == "R00 and 9 others"
    ]
    assert (label["members"], label["members_not_named"]) == (common, 3)


def test_suppression_names_no_list_that_was_read_from_the_records(here):
    regions(here, described=False)
    from_files.sanitize("of", Suppress(), "out.csv", allow="a test")
    [row] = [row for row in table("out.csv") if row["column"] == "region" and row["label"] == SUPPRESSED]
    assert row["members"] == ""
    assert "R01" not in Path("out.csv.codebook.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("values", [["a|b", "c\\d", 'e "f", g'], ["=1+1", "-8", "@x"]])
def test_members_are_separated_whatever_they_hold(here, values):
    cells = pd.DataFrame({"word": np.resize(values, 60), "ill": np.resize(["x", "y"], 60)})
    cells.to_csv("of.csv", index=False)
    columns = [("word", "quasi-identifier", values), ("ill", "sensitive", ["x", "y"])]
    said = "".join(f'[columns.{name}]\nrole = "{role}"\ndomain = {json.dumps(all_)}\n' for name, role, all_ in columns)
    Path("of.toml").write_text(f'[dataset]\nname = "of"\n[[files]]\npath = "of.csv"\n{said}', encoding="utf-8")
    from_files.sanitize("of.toml", Suppress(), "hidden.csv", allow="a test")
    [row] = [row for row in table("hidden.csv") if row["column"] == "word" and row["label"] == "*"]
    assert members(row) == values
    from_files.sanitize("of.toml", "k=5", "safe.csv", allow="a test", spreadsheet_safe=True)
    labels = [row["label"] for row in table("safe.csv") if row["column"] == "word" and row["label"]]
    assert sorted(labels) == sorted({*read("safe.csv")["word"]}), "as the file has them"
    assert not spreadsheets.holds_formula(cell for row in table("safe.csv") for cell in row.values())


def test_a_codebook_that_names_somebody_is_no_release(here):
    """A value that stands in the public domain names nobody, and one that was read from the records may."""
    for described in (True, False):
        shutil.rmtree("data", ignore_errors=True)
        regions(here, described)
        cells = pd.read_csv("data/of/of.csv")
        cells["name"] = [f"Somebody{number}" for number in range(len(cells))]
        cells = cells.replace({"R00": "Anna Hypothetica"})
        cells.loc[7, "name"] = "Anna Hypothetica"
        cells.to_csv("data/of/of.csv", index=False)
        text = Path("data/of/of.toml").read_text() + '[columns.name]\nrole = "identifier"\n'
        Path("data/of/of.toml").write_text(text.replace('"R00"', '"Anna Hypothetica"'))
        tree = Path("data/of/hierarchies/default/region.csv")
        tree.write_text(tree.read_text().replace("R00;", "Anna Hypothetica;"))
        if described:
            from_files.sanitize("of", "k=25", "out.csv", allow="a test")
            for each in here.glob("out.csv*"):
                each.unlink()
        else:
            with pytest.raises(SanitizationError, match="would name a person of the column 'name'"):
                from_files.sanitize("of", "k=25", "out.csv", allow="a test")
            assert not [*here.glob("*out*")]


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out"])
def test_columns_that_are_written_record_by_record_are_described(here, out):
    """Texts by those that the file holds, numbers by the ends of their domain."""
    words = [f"word {number}, or so" for number in range(150)]
    cells = pd.DataFrame({"age": np.resize([30, 40, 50], 450), "word": np.resize(words[:140], 450)})
    cells["score"], cells["ill"] = np.arange(450) * 7 % 4001, np.resize(["flu", "cold"], 450)
    cells.loc[3, "score"] = None
    cells.to_csv("of.csv", index=False)
    known = '\ncannot_be_known = "Only this test knows it."'
    columns = {
        "age": ("quasi-identifier", "{ low = 0, high = 99 }"),
        "word": ("neutral", json.dumps(words) + known),
        "score": ("neutral", '{ low = 0, high = 4000, missing = "?" }' + known),
        "ill": ("sensitive", '["flu", "cold"]'),
    }
    said = "".join(f'[columns.{name}]\nrole = "{role}"\ndomain = {own}\n' for name, (role, own) in columns.items())
    head = '[dataset]\nname = "of"\n[[files]]\npath = "of.csv"\n[format]\nmissing = "?"\n'
    Path("of.toml").write_text(head + said, encoding="utf-8")
    from_files.sanitize("of.toml", "k=5", out)
    held, found, rows = read(out if "." in out else f"{out}/"), resource(out), table(out)
    assert accepted(found, held)
    assert fits(found, held.replace("", None))
    assert found["path"] == (out if "." in out else "out/part-00001.parquet")
    labels = [row["label"] for row in rows if row["column"] == "word" and row["label"]]
    assert sorted(labels) == sorted(words[:140]), "no value that nobody has"
    [score] = [row for row in rows if row["column"] == "score"]
    assert (score["label"], score["low"], score["high"]) == ("", "0", "4000")
    field = next(each for each in found["schema"]["fields"] if each["name"] == "score")
    assert (field["type"], field["constraints"], field["missing"]) == ("integer", {"minimum": 0, "maximum": 4000}, "")


@pytest.mark.parametrize("format", ["CSV", "Parquet"])
def test_the_explorer_writes_it_too(here, format):
    dataset = load(CLINIC)
    for setting in (Setting(k=5), Setting("Bucketize", l=2.0), Setting("LaplaceNoise", epsilon=2.0)):
        out = save_release(dataset, setting, here, format, allow="a test")[0]
        cells, found = read(out), resource(out)
        assert accepted(found, cells)
        assert fits(found, cells)
        assert ("buckets" in found) is (setting.sanitizer == "Bucketize")
        assert {*(row["column"] for row in table(out))} >= {*cells}
