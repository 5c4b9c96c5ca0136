"""Values outside of a described domain: refused, missing, or inside of a wider domain, and always said."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import privnb
from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity
from privnb.publishing import from_files, leaks
from privnb.sanitizers import GeometricNoise, LaplaceNoise, Mondrian, SanitizationError

TOML = """
[dataset]
name = "of"
[[files]]
path = "of.csv"
[format]
missing = "?"
[columns.age]
role = "quasi-identifier"
domain = {{ low = 18, high = 99{missing} }}
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M"{mark}]
[columns.zip]
role = "quasi-identifier"
domain = ["A1", "A2", "B1"]
[columns.ill]
role = "sensitive"
domain = ["flu", "cold"]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(ages=15, words=3, zips=0):
    rng = np.random.default_rng(0)
    cells = pd.DataFrame(
        {
            "age": rng.integers(18, 91, 400).astype(str),
            "sex": rng.choice(["F", "M"], 400),
            "zip": rng.choice(["A1", "A2", "B1"], 400),
            "ill": rng.choice(["flu", "cold"], 400),
        }
    )
    cells.loc[: ages - 1, "age"] = "117"
    cells.loc[20 : 20 + words - 1, "sex"] = "Xylophone"
    cells.loc[40 : 40 + zips - 1, "zip"] = "C9"
    return cells


def described(cells, missing=True):
    cells.to_csv("of.csv", index=False)
    text = TOML.format(missing=', missing = "?"' * missing, mark=', "?"' * missing)
    Path("of.toml").write_text(text, encoding="utf-8")
    Path("hierarchies/default").mkdir(parents=True, exist_ok=True)
    Path("hierarchies/default/zip.csv").write_text("A1;A;*\nA2;A;*\nB1;B;*\n", encoding="utf-8")
    return "of.toml"


def rows(release):
    cells = release.table.astype(object).where(release.table.notna(), "")
    return sorted(tuple(map(str, row)) for row in cells.itertuples(index=False))


def written(out):
    return sorted(map(tuple, pd.read_csv(out, dtype=str, keep_default_na=False).to_numpy()))


def test_they_are_refused_unless_somebody_says_otherwise(here):
    source = described(table())
    for call in (lambda: load(source), lambda: from_files.sanitize(source, "k=5", "out.csv", outside="refuse")):
        with pytest.raises(SchemaError, match="'age' has 15 values outside its public domain"):
            call()
    with pytest.raises(ValueError, match="outside must be one of"):
        load(source, outside="ignore")
    assert not [*here.glob("out*")]


@pytest.mark.parametrize("outside", ["missing", "widen"])
def test_a_file_and_a_dataset_are_the_same_release(here, outside):
    source = described(table(zips=12 if outside == "widen" else 0))
    made = from_files.sanitize(source, "k=5", "out.csv", outside=outside, allow="a test")
    release = Mondrian(KAnonymity(5)).sanitize(load(source, outside=outside), rng=None)
    assert written("out.csv") == rows(release)
    stated = json.loads(Path("out.csv.provenance.json").read_text(encoding="utf-8"))["outside"]
    said = [str(each) for each in made.notes if each.code in ("outside-taken-as-missing", "domain-widened")]
    assert all(each in release.provenance.note for each in said)
    assert said[0].startswith("15 records have a value of 'age' outside its")
    assert said[1].startswith("Fewer than 10 records have a value of 'sex' outside its")
    assert stated["age"]["records"] == 15
    assert (stated["sex"]["records"], stated["sex"]["fewer_than"]) == (None, 10)
    assert "Xylophone" not in Path("out.csv.provenance.json").read_text(encoding="utf-8") + str(said)


def test_what_is_missing_has_the_mark(here):
    source = described(table())
    dataset = load(source, outside="missing")
    assert dataset.table["age"].isna().sum() == 15
    assert (dataset.table["sex"] == "?").sum() == 3
    assert dataset.sample(50, rng=1).notes == dataset.notes
    assert load(source, outside="missing", records=50).notes == dataset.notes
    known = table().replace({"117": "?", "Xylophone": "?"})
    described(known)
    assert rows(Mondrian(KAnonymity(5)).sanitize(dataset, rng=None)) == rows(
        Mondrian(KAnonymity(5)).sanitize(load(source), rng=None)
    )


def test_a_column_without_a_mark_cannot_take_them_as_missing(here):
    source = described(table(), missing=False)
    for call in (
        lambda: load(source, outside="missing"),
        lambda: from_files.sanitize(source, "k=5", "out.csv", outside="missing"),
    ):
        with pytest.raises(SchemaError, match="'age' has 15 values outside its public domain"):
            call()


def test_a_wider_domain_holds_them_and_hardly_tells_whose_they_are(here):
    source = described(table(zips=12), missing=False)
    dataset = load(source, outside="widen")
    age, words, places = (dataset.schema[name].domain for name in ("age", "sex", "zip"))
    assert (age.low, age.widened) == (18, True)
    assert age.high > 117
    assert words.values == ("F", "M", "Xylophone")
    assert words.widened
    assert words.of_records, "it is named nowhere"
    assert places.values[-1] == "C9"
    assert dataset.hierarchies["zip"].rows[-1] == ("C9", "C9", "*")
    assert not load(described(table(0, 0)), outside="widen").schema["age"].domain.widened


@pytest.mark.parametrize("sanitizer", [LaplaceNoise(1.0), GeometricNoise(1.0)], ids=lambda own: own.title)
def test_no_promise_is_made_of_a_widened_domain(here, sanitizer):
    source = described(table(), missing=False)
    with pytest.raises(SanitizationError, match="because the domain of age, sex was widened"):
        sanitizer.sanitize(load(source, outside="widen"), rng=None)
    with pytest.raises(SanitizationError, match="cannot promise an epsilon"):
        from_files.sanitize(source, sanitizer, "out.csv", outside="widen", allow="a test")
    assert not [*here.glob("out*")]
    described(table(0, 0), missing=False)
    sanitizer.sanitize(load(source, outside="widen"), rng=None)


def test_all_columns_are_refused_at_once_and_the_cure_is_named(here):
    with pytest.raises(
        SchemaError, match=r"'age' has 15 .*'sex' has 3 .*'zip' has 12 .*--outside missing, --outside w"
    ):
        from_files.sanitize(described(table(zips=12)), "k=5", "out.csv")


def test_new_values_that_a_tree_does_not_list_are_said_to_be_suppressed(here):
    made = from_files.sanitize(described(table(zips=3)), "k=5", "out.csv", outside="widen", allow="a test")
    stars = (pd.read_csv("out.csv")["zip"] == "*").sum()
    assert stars
    said = {each.code: str(each) for each in made.notes}
    assert said["cells-suppressed"] == f"{stars} cells of 'zip' in the release are '*'."
    wider = [each for each in made.notes if each.code == "domain-widened" and "become '*'" in each]
    assert [each.split("'")[1] for each in wider] == ["zip"], "numbers have ranges, and 'sex' no tree"


def test_what_is_no_number_stays_an_error(here):
    cells = table()
    cells.loc[5, "age"] = "old"
    source = described(cells, missing=False)
    with pytest.raises(SchemaError, match="'age' has 1 values outside its public domain"):
        load(source, outside="widen")
    described(cells)
    assert load(source, outside="missing").table["age"].isna().sum() == 15


def test_a_release_that_drops_gaps_drops_these_too(here):
    source = described(table())
    text = Path(source).read_text().replace("[format]", '[format]\nrecords_with_missing = "drop"')
    Path(source).write_text(text)
    made = from_files.sanitize(source, "k=5", "out.csv", outside="missing", allow="a test")
    assert made.records == 400 - 18 == len(load(source, outside="missing"))


def test_a_record_with_such_a_value_leaks_as_any_other(here):
    cells = table()
    cells["name"] = [f"Somebody{number}" for number in range(400)]
    source = described(cells)
    Path(source).write_text(Path(source).read_text() + '[columns.name]\nrole = "identifier"\n')
    Path("page.txt").write_text("Nobody is here.", encoding="utf-8")
    leaks.check_outputs("page.txt", [source])
    for leak in ("age: 117\nsex: Xylophone\nzip: {zip}\nill: {ill}", "Somebody7"):
        Path("page.txt").write_text(leak.format(**cells.loc[20]), encoding="utf-8")
        if "117" in leak:
            cells.loc[20, "age"] = "117"
            cells.to_csv("of.csv", index=False)
        with pytest.raises(leaks.LeakError):
            leaks.check_outputs("page.txt", [source])


def test_frames_take_them_alike(here):
    source = described(table())
    from_files.sanitize(source, "k=5", "out.csv", outside="missing", allow="a test")
    with duckdb.connect() as connection:
        frame = connection.read_csv("of.csv", all_varchar=True)
        made = privnb.sanitize(frame, "k=5", dataset=source, outside="missing", allow="a test")
        assert sorted(made.frame.fetchall()) == written("out.csv")
    assert "outside-taken-as-missing" in [each.code for each in made.notes]
