"""Releases with derived columns: the same from files, frames and memory, and named with their rules."""

import json
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.stays import AGE, DATES, DERIVE, STAY, write_stays

from privnb.cli import main
from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError
from privnb.publishing import from_files, sanitize_table
from privnb.sanitizers import Mondrian

RULES = {"age": AGE.words, "stay": STAY.words}


@pytest.fixture
def stay(tmp_path, monkeypatch, capsys):
    """A described table with derived columns, some of whose dates are missing."""
    monkeypatch.chdir(tmp_path)
    write_stays(number=200, wrong={5}, lacking={3, 30, 31})
    roles = ["--sensitive", "ill", "--roles", "zip: unused"]
    assert main(["describe", "stay.csv", *roles, "--derive", DERIVE, "--confirm"]) == 0
    return tmp_path


def rows(frame):
    """The sorted rows of a release, as texts."""
    return sorted(map(tuple, frame.astype(str).to_numpy()))


def typed():
    frame = pd.read_csv("stay.csv", dtype=str, keep_default_na=False)
    for name in DATES:
        frame[name] = pd.to_datetime(frame[name], format="%d.%m.%Y").dt.date
    return frame


def test_files_and_frames_are_released_as_in_memory(stay):
    data = load("stay")
    assert data.table["age"].isna().sum() == 3
    whole = rows(Mondrian(k=5).sanitize(data, rng=None).publish()[0].table)
    written = from_files.sanitize("stay", "k=5", "out.csv", allow="a test")
    assert rows(pd.read_csv("out.csv", dtype=str, keep_default_na=False)) == whole
    assert written.provenance["derived"] == RULES | {"region": "first 2 characters of zip"}
    texts = pl.scan_csv("stay.csv", infer_schema=False)
    for frame in (texts, pl.from_pandas(typed()).lazy()):
        made = sanitize_table.sanitize(frame, "k=5", dataset="stay", allow="a test")
        assert rows(made.frame.collect().to_pandas()) == whole
    with duckdb.connect() as connection:
        made = sanitize_table.sanitize(connection.sql("from 'stay.csv'"), "k=5", dataset="stay", allow="a test")
        assert rows(made.frame.df()) == whole


@pytest.mark.spark
def test_spark_releases_the_same(stay, spark):
    whole = rows(Mondrian(k=5).sanitize(load("stay"), rng=None).publish()[0].table)
    table = pa.Table.from_pandas(pd.read_csv("stay.csv", dtype=str, keep_default_na=False))
    made = sanitize_table.sanitize(spark.createDataFrame(table), "k=5", dataset="stay", allow="a test")
    assert rows(made.frame.toArrow().to_pandas()) == whole


def test_a_method_that_works_record_by_record_computes_them_too(stay):
    from_files.sanitize("stay", "k=5", "out.csv", algorithm="k-member", allow="a test")
    found = pd.read_csv("out.csv")
    assert {*found} == {"ill", "age", "stay", "region"}
    assert len(found) == 200


def test_a_file_of_dates_is_released_with_the_same_description(stay):
    typed().to_parquet("typed.parquet")
    from_files.sanitize("typed.parquet", "k=5", "typed.csv", dataset="stay", allow="a test")
    from_files.sanitize("stay", "k=5", "out.csv", allow="a test")
    assert rows(pd.read_csv("typed.csv", dtype=str)) == rows(pd.read_csv("out.csv", dtype=str))


def test_a_neutral_column_with_many_values_is_written_record_by_record(stay, capsys):
    main(["describe", "stay", "--derive", "then: month of birth", "--roles", "then: neutral, stay: unused"])
    path = Path("data/stay/stay.toml")
    lines = path.read_text().splitlines()
    start = lines.index("[columns.then]")
    place = next(i for i in range(start, len(lines)) if lines[i].startswith("domain"))
    lines[place] = "domain = " + json.dumps([f"{y}-{m:02}" for y in range(1930, 2031) for m in range(1, 13)] + ["?"])
    path.write_text("\n".join(lines))
    from_files.sanitize("stay", "k=5", "out.csv", allow="a test")
    found = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert sorted(found["then"]) == sorted(load("stay").table["then"])


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_codebook_names_the_rule(stay, kind):
    from_files.sanitize("stay", "k=5", "out.csv", allow="a test")
    book = Path(f"out.csv.codebook.{kind}").read_text()
    assert all(rule in book for rule in RULES.values())


def test_a_file_without_a_source_is_refused(stay):
    pd.read_csv("stay.csv", dtype=str).drop(columns="birth").to_csv("less.csv", index=False)
    with pytest.raises(SchemaError, match=r"less.csv has no column 'birth', from which 'age' is computed"):
        from_files.sanitize("less.csv", "k=5", "out.csv", dataset="stay")
    with pytest.raises(SchemaError, match=r"the frame has no column 'birth', from which 'age' is computed"):
        sanitize_table.sanitize(pl.scan_csv("less.csv"), "k=5", dataset="stay")


def test_a_file_that_has_the_column_is_refused(stay):
    pd.read_csv("stay.csv", dtype=str).assign(age="40").to_csv("more.csv", index=False)
    with pytest.raises(SchemaError, match=r"more.csv has a column 'age', and the description computes a column"):
        from_files.sanitize("more.csv", "k=5", "out.csv", dataset="stay")


def test_a_text_that_is_no_date_is_refused_by_each_engine(stay):
    frame = pd.read_csv("stay.csv", dtype=str)
    frame.loc[7, "birth"] = "unknown to us"
    frame.to_csv("odd.csv", index=False)
    for act in (
        lambda: from_files.sanitize("odd.csv", "k=5", "out.csv", dataset="stay"),
        lambda: sanitize_table.sanitize(pl.scan_csv("odd.csv", infer_schema=False), "k=5", dataset="stay"),
    ):
        with pytest.raises(SchemaError, match=r"column 'birth' has texts that are not dates") as error:
            act()
        assert "unknown to us" not in str(error.value)
    assert not Path("out.csv").exists()


def test_check_uses_them_or_refuses(stay, capsys):
    from_files.sanitize("stay", "k=5", "out.csv", allow="a test")
    for table in (["stay"], ["stay.csv"], ["out.csv"]):
        assert main(["check", *table]) == 0
        assert "An adversary may know: age, stay, region." in capsys.readouterr().out
    assert main(["check", "stay.csv", "--description", "stay"]) == 2
    assert "stay.csv must have the column 'age'" in capsys.readouterr().err


def test_a_release_of_another_tool_is_assessed_on_them(stay, capsys):
    theirs = load("stay").table.drop(columns="patient").assign(age="*")
    theirs.to_csv("theirs.csv", index=False)
    assert main(["assess", "theirs.csv", "--dataset", "stay", "--rows", "in-order"]) in (0, 1)
    assert "age" in capsys.readouterr().out
