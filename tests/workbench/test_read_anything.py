"""Tables from anywhere: files, frames of each library, databases; and what is refused."""

import contextlib
import errno
import sqlite3
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privnb as pn
from privnb.microdata.schema import Role
from privnb.workbench import sources

PEOPLE = pd.DataFrame(
    {"age": [31, 32, 44, 45, 60] * 8, "zip": [80, 80, 81, 81, 82] * 8, "sex": [*"mf"] * 20, "ill": [*"abcab"] * 8}
)


def database():
    connection = sqlite3.connect(":memory:")
    PEOPLE.to_sql("people", connection, index=False)
    return connection


@pytest.fixture
def table():
    return pn.read(PEOPLE, sensitive="ill", name="people")


@pytest.mark.parametrize(
    "source",
    [PEOPLE, pl.from_pandas(PEOPLE), pl.from_pandas(PEOPLE).lazy(), pa.table(PEOPLE), duckdb.from_df(PEOPLE)],
    ids=["pandas", "polars", "lazy", "arrow", "duckdb"],
)
def test_every_library_s_frame_is_the_same_table(source, table):
    found = pn.read(source, sensitive="ill", name="people")
    assert found.roles == table.roles
    pd.testing.assert_frame_equal(found.dataset.table, table.dataset.table)


@pytest.mark.parametrize("connect", [database, duckdb.connect], ids=["dbapi", "duckdb"])
def test_the_answer_of_a_database_is_a_table(connect, table):
    connection = connect()
    if connect is not database:
        connection.register("people", PEOPLE)
    found = pn.read("select * from people", connection=connection, sensitive="ill")
    assert found.roles == table.roles
    assert len(found.dataset) == len(PEOPLE)


def test_a_file_is_read_as_its_frame_is(tmp_path, table):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    found = pn.read(tmp_path / "people.csv", sensitive=["ill"])
    assert found.name == "people"
    assert found.roles == table.roles
    assert sorted(tmp_path.iterdir()) == [tmp_path / "people.csv"]


def test_a_described_dataset_is_read_by_its_name_and_keeps_its_file():
    adult = pn.read("twelve")
    before = adult.path.read_bytes()
    assert adult.set_roles(illness="neutral").roles["illness"] is Role.NEUTRAL
    assert adult.path.read_bytes() == before
    with pytest.raises(pn.UsageError, match="Change the roles in that file"):
        adult.described_path()


def test_roles_are_changed_by_one_call_and_saved_as_a_description(tmp_path, table):
    assert table.set_roles(sex="neutral").dataset.schema.quasi_identifiers == ["age", "zip"]
    path = table.save(folder=tmp_path / "data")
    assert pn.load(path).schema == table.dataset.schema
    assert "draft = true\n" not in path.read_text(encoding="utf-8")
    assert "the line below" not in path.read_text(encoding="utf-8")
    with pytest.raises(pn.OutputExistsError):
        table.save(folder=tmp_path / "data")


def test_what_does_not_fit_changes_no_role(table):
    before = table.roles
    with pytest.raises(pn.InputError, match="No column is a quasi-identifier"):
        table.set_roles(dict.fromkeys(["age", "zip", "sex"], "neutral"))
    with pytest.raises(pn.UsageError, match=r"Did you mean 'age'"):
        table.set_roles(agee="neutral")
    with pytest.raises(pn.UsageError, match=r"the role of .* must be one of"):
        table.set_roles(age="secret")
    assert table.roles == before


def test_what_is_assumed_is_said(table):
    assert table.notes == (
        "Each row counts as one person. If people have several rows, name their column by `person=`.",
    )
    assert len(pn.read(PEOPLE).notes) == 2


def test_the_folder_of_a_table_goes_with_it():
    table = pn.read(PEOPLE)
    folder = table.path.parent
    assert folder.stat().st_mode & 0o077 == 0
    del table
    assert not folder.exists()


def test_no_cell_of_a_record_is_shown():
    names = [f"person number {number}" for number in range(40)]
    table = pn.read(PEOPLE.assign(name=names))
    shown = table._repr_html_() + repr(table) + table.frame.to_string()
    assert not [name for name in names if name in shown]
    assert table.roles["name"] is Role.IDENTIFIER


def one_row(**columns):
    return pd.DataFrame({name: [cell, cell] for name, cell in columns.items()})


REFUSED = {
    "a MultiIndex": (PEOPLE.set_index(["age", "zip"]), "MultiIndex of 2"),
    "two columns of one name": (pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1), "'age' twice"),
    "a name that is no text": (PEOPLE.rename(columns={"age": 7}), "got 7"),
    "lists in cells": (one_row(a=[1, 2], b=1), "one value"),
    "cells of several types": (pd.DataFrame({"a": [1, "x"], "b": 2}), "one simple type"),
    "objects in cells": (pd.DataFrame({"a": [object(), object()]}), "one simple type"),
    "time zones": (one_row(t=pd.Timestamp("2020-01-01", tz="Europe/Berlin"), b=1), "no time zone"),
    "nested types": (pa.table({"a": [{"b": 1}, {"b": 2}]}), "one value"),
    "bytes": (pa.table({"a": [b"1", b"2"]}), "one value"),
    "no rows": (PEOPLE.head(0), "at least one column and 2 rows"),
    "no columns": (pd.DataFrame(index=[1, 2]), "at least one column and 2 rows"),
}


@pytest.mark.parametrize(("source", "said"), REFUSED.values(), ids=REFUSED)
def test_a_frame_that_is_no_table_is_refused(source, said):
    with pytest.raises(pn.InputError, match=said) as caught:
        pn.read(source)
    assert caught.value.status == 4


@pytest.mark.parametrize("source", [7, None, [1, 2], np.zeros((2, 2)), object(), PEOPLE.age])
def test_what_is_no_table_at_all_is_refused(source):
    with pytest.raises(pn.UsageTypeError, match="`source` must be a file"):
        pn.read(source)


@pytest.mark.parametrize("query", ["select * from people where age > 100", "selec * from people", "create table t (a)"])
def test_a_query_without_an_answer_is_refused(query):
    with pytest.raises(pn.InputError):
        pn.read(query, connection=database())


def test_what_is_no_connection_is_refused():
    with pytest.raises(pn.UsageTypeError, match="DBAPI"):
        pn.read("select 1", connection=7)


def test_categories_that_nobody_has_are_no_values():
    frame = PEOPLE.assign(ill=pd.Categorical(PEOPLE.ill, ["a", "b", "c", "nobody"]))
    assert "nobody" not in str(pn.read(frame, sensitive="ill").dataset.schema["ill"].domain)


def test_a_text_column_of_nothing_is_missing():
    assert sources.frame_to_arrow(pa.table({"a": pa.nulls(2), "b": [1, 2]})).schema.field("a").type == pa.string()


def test_missing_files_are_named():
    with pytest.raises(pn.MissingFileError, match=r"nobody\.csv"):
        pn.read(Path("nobody.csv"))
    with pytest.raises(pn.MissingFileError, match="The known datasets are"):
        pn.read("nobody")


GRADES = ["low", "middle", "top", "never seen"]


def graded(kind):
    grades = pd.Series(["top", "low", "middle", "low", None] * 8)
    frame = PEOPLE.assign(grade=pd.Categorical(grades, GRADES, ordered=True))
    if kind == "polars":
        return pl.from_pandas(PEOPLE.assign(grade=grades)).with_columns(pl.col("grade").cast(pl.Enum(GRADES)))
    return {"pandas": frame, "arrow": pa.Table.from_pandas(frame)}[kind]


@pytest.mark.parametrize("kind", ["pandas", "arrow", "polars"])
def test_ordered_categories_keep_their_order(kind, tmp_path):
    table = pn.read(graded(kind), sensitive="ill")
    assert table.dataset.schema["grade"].domain.values == ("low", "middle", "top", "?")
    assert table.frame.set_index("column").loc["grade", "why"].startswith("in order: 3 values")
    saved = pn.read(table.save(folder=tmp_path)).dataset.schema["grade"]
    assert saved.domain.values == ("low", "middle", "top", "?")


def test_categories_of_polars_without_an_order_are_texts():
    frame = pl.from_pandas(PEOPLE).with_columns(pl.col("sex").cast(pl.Categorical))
    assert sources.find_category_orders(sources.frame_to_arrow(frame)) == {}
    assert pn.read(frame).dataset.schema["sex"].domain.values == ("f", "m")


def test_a_named_index_is_a_column_and_any_other_is_not():
    assert [*pn.read(PEOPLE.set_index("ill")).roles] == ["ill", "age", "zip", "sex"]
    assert [*pn.read(PEOPLE.set_index("ill", drop=False)).roles] == [*PEOPLE]
    assert [*pn.read(PEOPLE.set_index(np.arange(40) * 2)).roles] == [*PEOPLE]
    with pytest.raises(pn.InputError, match="names of columns must be text; got 3"):
        pn.read(PEOPLE.rename_axis(3))


QUERIES = {
    "lists": ("select [1] as a, 1 as b from range(2)", "must be one value; got list"),
    "structs": ("select {'x': 1} as a, 1 as b from range(2)", "must be one value; got struct"),
    "intervals": ("select interval 1 day as a, 1 as b from range(2)", "must be one value; got month_day_nano"),
    "time zones": ("select timestamptz '2020-01-01 00:00:00+00' as a, 1 as b from range(2)", "cast to timestamp"),
    "two columns of one name": ("select 1 as a, 2 as a from range(2)", "'a' twice"),
    "one row": ("select 1 as a, 2 as b", "at least one column and 2 rows"),
}


@pytest.mark.parametrize(("query", "said"), QUERIES.values(), ids=QUERIES)
def test_an_answer_that_is_no_table_is_refused(query, said):
    with pytest.raises(pn.InputError, match=said):
        pn.read(query, connection=duckdb.connect())


def test_an_error_about_a_value_does_not_quote_it():
    query = "select cast(name as int) as a from (values ('Anna Smith')) people(name)"
    with pytest.raises(pn.InputError, match="ConversionException") as caught:
        pn.read(query, connection=duckdb.connect())
    assert "Anna" not in str(caught.value)


@pytest.fixture(params=["adbc", "engine", "connection"])
def client(request, tmp_path):
    """A connection of ADBC or SQLAlchemy to a file of SQLite."""
    file = tmp_path / "people.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        PEOPLE.to_sql("people", connection, index=False)
    if request.param == "adbc":
        with pytest.importorskip("adbc_driver_sqlite.dbapi").connect(str(file)) as connection:
            yield connection
        return
    engine = pytest.importorskip("sqlalchemy").create_engine(f"sqlite:///{file}")
    if request.param == "engine":
        yield engine
    else:
        with engine.connect() as connection:
            yield connection
    engine.dispose()


def test_adbc_and_sqlalchemy_give_the_same_table(client, table):
    found = pn.read("select * from people", connection=client, sensitive="ill", name="people")
    assert found.roles == table.roles
    pd.testing.assert_frame_equal(found.dataset.table, table.dataset.table)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selec", "database refuses the query: .*syntax error"),
        ("select * from people where age > 100", "returns no rows"),
        ("select age, age from people", "^the columns must have different names; got 'age' twice"),
    ],
)
def test_adbc_and_sqlalchemy_refuse_what_is_no_table(client, query, said):
    with pytest.raises(pn.InputError, match=said):
        pn.read(query, connection=client)


@pytest.fixture
def full_disk(monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", refuse)
    monkeypatch.setattr("shutil.copytree", refuse)


def test_a_full_disk_is_said_and_leaves_nothing(full_disk, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(pn.ResourceError, match="cannot be written: No space left"):
        pn.read(PEOPLE)
    assert not [*tmp_path.iterdir()]


def test_a_table_is_saved_whole_or_not_at_all(table, full_disk, tmp_path):
    with pytest.raises(pn.ResourceError, match="cannot be written: No space left"):
        table.save(folder=tmp_path / "data")
    assert not [*(tmp_path / "data").iterdir()]
