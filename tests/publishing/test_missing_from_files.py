"""From file to file: what is blank or missing, and which of it is no record."""

import json
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import privnb
from privnb import cli
from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity
from privnb.publishing import chunked, from_files, release_job
from privnb.sanitizers import LocalRecoding, Mondrian, SanitizationError, Suppress
from privnb.tables import engine, frames, long_tables

# What is written is asked here, and not whether it may leave: see test_gate.py.
sanitize = partial(from_files.sanitize, allow="a test")

TEXT = """
[dataset]
name = "visits"
[[files]]
path = "FILE"
[format]
missing = "NA"
records_with_missing = "WHAT"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
domain = { low = 0, high = 99, missing = "NA" }
[columns.Age]
role = "neutral"
domain = { low = 0, high = 9, missing = "NA" }
"""
LONG = """
[columns.score]
role = "neutral"
domain = { low = 0, high = 1000000, missing = "NA" }
"""
ENDINGS = pytest.mark.parametrize("ending", [".csv", ".parquet"])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def visits(rows=60):
    """Names, ages and two other numbers, some of them missing, as texts."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"name": [f"Person {number}" for number in range(rows)]})
    table["age"] = rng.choice([20, 30, 40], rows).astype(str)
    table["Age"] = rng.choice(["1", "2", ""], rows)
    table["score"] = (rng.permutation(rows) + 1000).astype(str)
    return table


def described(table, ending=".csv", what="keep"):
    """The path of the description of a table, which is written beside it."""
    if ending == ".csv":
        table.to_csv("visits.csv", index=False)
    else:
        columns = {name: pd.to_numeric(table[name]) if name != "name" else table[name] for name in table}
        parquet.write_table(pa.table(columns), "visits.parquet")
    text = TEXT.replace("FILE", f"visits{ending}").replace("WHAT", what) + LONG * ("score" in table)
    Path("visits.toml").write_text(text, encoding="utf-8")
    return Path("visits.toml")


def rows(path):
    table = (
        pd.read_csv(path, dtype=str, keep_default_na=False)
        if path.endswith(".csv")
        else pd.read_parquet(path).astype(object)
    )
    return sorted(tuple("" if cell != cell or cell is None else str(cell) for cell in row) for row in table.to_numpy())


def rows_in_memory(path, sanitizer):
    table = sanitizer.sanitize(load(path), rng=None).table.astype(object)
    return sorted(
        tuple("" if c != c else str(int(c) if isinstance(c, float) else c) for c in row) for row in table.to_numpy()
    )


@pytest.mark.parametrize("what", ["keep", "drop", "refuse"])
def test_a_column_has_marks_of_its_own(what):
    table = visits().drop(columns="score").assign(Age="1")
    table.loc[::7, "age"] = "99"
    described(table, what=what)
    own = 'role = "quasi-identifier"\nmissing = ["99", "98"]'
    text = Path("visits.toml").read_text(encoding="utf-8").replace('role = "quasi-identifier"', own)
    Path("visits.toml").write_text(text, encoding="utf-8")
    lacking = (table.age == "99").sum()
    if what == "refuse":
        with pytest.raises(SchemaError, match=f"{lacking} of 60 records"):
            sanitize("visits.toml", Mondrian(KAnonymity(4)), "out.csv")
        with pytest.raises(SchemaError, match=f"{lacking} of 60 records"):
            load("visits.toml")
        return
    sanitize("visits.toml", Mondrian(KAnonymity(4)), "out.csv")
    assert len(rows("out.csv")) == 60 - lacking * (what == "drop")
    assert rows("out.csv") == rows_in_memory("visits.toml", Mondrian(KAnonymity(4)))
    assert not any("99" in row[0] for row in rows("out.csv"))


@pytest.mark.slow
@ENDINGS
@pytest.mark.parametrize("long", [False, True])
def test_who_has_a_cell_in_any_column_is_a_record(ending, long):
    table = visits().assign(Age="1") if long else visits().drop(columns="score")
    table.loc[:19, ["age", "Age"]] = ""  # whom the file names
    table.loc[20:24] = ""
    path = described(table, ending)
    made = sanitize(path, "k=5", "out.csv")
    assert made.records == len(load(path)) == 55
    assert len(rows("out.csv")) == 55
    if not long:
        assert rows("out.csv") == rows_in_memory(path, Mondrian(KAnonymity(5)))
    in_pieces = sanitize(path, "k=5", "pieces.csv", algorithm="KMember")
    assert in_pieces.records == len(rows("pieces.csv")) == 55


@pytest.mark.parametrize("lent", ["duckdb", "polars"])
def test_who_has_a_cell_in_any_column_of_a_frame_is_a_record(lent):
    table = visits().drop(columns="score")
    table.loc[:19, ["age", "Age"]] = ""
    table.loc[20:24] = " "
    path = described(table)
    with duckdb.connect() as connection:
        cells = pa.table({f"{name}": [*table[name]] for name in table}).rename_columns({"Age": "other"})
        path.write_text(path.read_text().replace("columns.Age", "columns.other"))
        frame = connection.from_arrow(cells) if lent == "duckdb" else pl.from_arrow(cells).lazy()
        made = privnb.sanitize(frame, "k=5", dataset=path, allow="a test")
        found = made.frame.fetchall() if lent == "duckdb" else made.frame.collect().rows()
    assert made.records == len(found) == 55


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["\t", "\N{NO-BREAK SPACE}", " NA", "  "])
def test_records_that_lack_a_value_are_left_out_however_that_is_written(blank):
    table = visits().assign(Age="1")
    table.loc[::4, "score"] = blank
    path = described(table, what="drop")
    made = sanitize(path, "k=5", "out.csv")
    table = pd.read_csv("out.csv", dtype=str)
    assert made.records == len(table) == len(load(path)) == 45
    assert table.groupby("age").size().min() == made.smallest >= 5


def test_a_mark_with_a_space_after_it_is_none():
    table = visits().assign(Age="1")
    table.loc[3, "name"] = "NA "
    path = described(table, what="drop")
    assert sanitize(path, "k=5", "out.csv").records == len(load(path)) == 60


@pytest.mark.slow
@pytest.mark.parametrize("column", ["name", "Age", "score"])
def test_a_table_with_gaps_in_any_column_is_refused_where_its_description_refuses_them(column):
    table = visits().assign(Age="1")
    path = described(table, what="refuse")
    assert sanitize(path, "k=5", "out.csv").records == 60
    table.loc[:2, column] = ["", "NA", " "]
    described(table, what="refuse")
    with pytest.raises(SchemaError, match=r'3 of 60 records have missing values.*"refuse"'):
        sanitize(path, "k=5", "more.csv")
    cells = pa.table({name.replace("Age", "other"): [*table[name]] for name in table})
    path.write_text(path.read_text().replace("columns.Age", "columns.other"))
    with duckdb.connect() as connection:
        frame = connection.from_arrow(cells)
        with pytest.raises(SchemaError, match="3 of 60 records have missing values"):
            privnb.sanitize(frame, "k=5", dataset=path, allow="a test")


@ENDINGS
def test_a_missing_number_is_written(ending):
    path = described(visits().drop(columns="score"), ".parquet")
    sanitize(path, "k=5", f"out{ending}", algorithm="local recoding")
    found = rows(f"out{ending}")
    assert found == rows_in_memory(path, LocalRecoding(KAnonymity(5)))
    assert sum(row[1] == "" for row in found) > 5


def test_records_without_a_whole_one_are_too_few():
    path = described(visits().assign(Age=""), what="drop")
    for algorithm in ("Mondrian", "KMember"):
        with pytest.raises(SchemaError, match="at least 2 records; got 0"):
            sanitize(path, "k=5", "out.csv", algorithm=algorithm)


def test_a_record_alone_is_no_table():
    path = described(visits(1), what="keep")
    with pytest.raises(SchemaError, match="at least 2 records; got 1"):
        sanitize(path, Suppress(), "out.csv")


@pytest.mark.parametrize(("rows", "given"), [(range(1, 60), 59), ([0, *range(60)], 61)], ids=["lost", "doubled"])
def test_what_is_lost_or_doubled_on_the_way_is_no_release(rows, given, monkeypatch, here):
    published = from_files.publish_cells

    def changing(*asked):
        _, cells = published(*asked)
        return np.array(rows), [each.take(pa.array(rows)) for each in cells]

    monkeypatch.setattr(from_files, "publish_cells", changing)
    with pytest.raises(
        SanitizationError, match=f"{given} records were read for the columns score, and 60 were counted"
    ):
        sanitize(described(visits()), "k=5", "out.csv")
    assert not list(here.glob("*out*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parts.parquet", "engine", "description", "release"])
@pytest.mark.parametrize("algorithm", ["Mondrian", "KMember"])
def test_a_release_may_be_called_as_a_file_of_the_work(name, algorithm, monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_SIZE", 20)
    path = described(visits())
    assert sanitize(path, "k=5", name, algorithm=algorithm).records == len(rows(name)) == 60


def cells():
    """Cells of all letters that may be blank, and beside each of them something, a space, the mark of gaps."""
    letters = [chr(number) for number in range(1, 0x3010)]
    return [None, "", "?", "~", *letters, *(letter + end for letter in letters for end in (" ", "a", "?"))]


def is_blank(cell):
    return not (cell or "").strip()


def test_blank_cells_are_those_that_python_knows():
    with engine.connect() as connection:
        connection.register("found", pa.table({"c": cells()}))
        blank = connection.sql(f"select {engine.blank_condition('c')} from found").fetchnumpy()
    assert [*next(iter(blank.values()))] == [*map(is_blank, cells())]


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["?", "", "\x7f?", "\u2003a", "!a"])
def test_cells_that_lack_a_value_are_those_that_python_knows(mark):
    held = [cell for cell in cells() if not is_blank(cell)]
    complete = [cell for cell in held if cell.lstrip(" ") not in (mark, "§a")]
    assert len(held) - len(complete) == 1 + (mark != "") + 2 * (mark == "?")  # "?" stands twice, and " ?"
    table = pa.table({"c": cells()})
    with engine.connect() as connection:
        connection.register("found", table)
        query = f"select c from found where not {engine.missing_condition('c', [mark, '§a'])}"
        assert connection.sql(query).to_arrow_table()["c"].to_pylist() == complete
        for frame in connection.table("found"), pl.from_arrow(table).lazy():
            own = frames.LongFrame.of(frame, {})
            for found, kept in (own.held(), held), (own.complete({"c": [mark, "§a"], "d": ["x"]}), complete):
                assert found.frame.collect("pyarrow").to_native().column(0).to_pylist() == kept


@pytest.mark.parametrize(
    ("first", "second", "has"),
    [
        (["a", None], [None, 1], False), (["a", None], [1, None], True), (["a", " \t"], [1, None], True),
        ([None, None], [1, 2], False), (["", "a"], [1, None], False),
    ],
)  # fmt: skip
def test_combinations_of_nothing_are_found(first, second, has):
    table = pa.table({"first": pa.array(first, pa.string()), "second": pa.array(second, pa.int64())})
    assert long_tables.has_blank(table, ["first", "second"]) is has
    coded = table.set_column(0, "first", table["first"].dictionary_encode())
    assert long_tables.has_blank(coded, ["first", "second"]) is has


def test_names_that_differ_in_their_case_alone_are_two_columns():
    path = described(visits().drop(columns="score"), ".parquet")
    sanitize(path, "k=5", "out.csv", algorithm="KMember")
    assert json.loads(Path("out.csv.provenance.json").read_text())["columns"].keys() == {"age", "Age"}


@pytest.mark.parametrize("gaps", [100, 2])
def test_microaggregation_publishes_no_age_of_the_middle(capsys, gaps):
    """Once 100 missing ages became 24, the middle of their domain, and nothing said so."""
    ages = ["" for _ in range(gaps)] + [str(18 + 3 * (number % 5)) for number in range(200)]
    rows = [f"{age},{'fm'[place % 2]},{'ab'[place % 3 == 0]}" for place, age in enumerate(ages)]
    Path("people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n", encoding="utf-8")
    assert cli.main(["describe", "people.csv", "--sensitive", "ill", "--roles", "sex: neutral", "--confirm"]) in (
        0,
        None,
    )
    asked = ["--algorithm", "microaggregation", "--model", "k=3", "--description", "people", "--out", "out.csv"]
    capsys.readouterr()
    assert cli.main(["sanitize", "people.csv", *asked]) in (0, None)
    published = pd.read_csv("out.csv")["age"]
    note = json.loads(Path("out.csv.provenance.json").read_text(encoding="utf-8"))["note"]
    said = "Missing numbers were replaced by numbers drawn from their columns: 2 of 'age'."
    if gaps == 100:
        assert published.isna().sum() == 100
        assert "Missing numbers" not in note
    else:
        assert published.notna().all(), "two are fewer than k"
        assert said in note
        assert said in capsys.readouterr().out
    assert (published == 24).sum() < 60, "the middle"


def test_one_record_with_a_gap_is_enough_to_refuse():
    release_job.check_gaps(60, 60)
    with pytest.raises(SchemaError, match="1 of 60 records have missing values"):
        release_job.check_gaps(60, 59)
