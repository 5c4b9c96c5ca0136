"""From frame to frame: the release that files have, in the engine that has the table. Of Spark see test_spark.py."""

from collections import Counter
from functools import partial

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support import framed, person_key
from support.clinic import CLINIC, IDENTIFIER

import privnb
from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity
from privnb.publishing import sanitize_table
from privnb.publishing.model_spec import parse_sanitizer
from privnb.sanitizers import KMember, Mondrian, SanitizationError, Suppress
from privnb.tables import frames

# What is written is asked here, and not whether it may leave: see test_gate.py.
sanitize = partial(sanitize_table.sanitize, allow="a test")


def facts(made):
    """What a provenance says of a release, whatever made it and when."""
    return {name: fact for name, fact in made.provenance.items() if name != "made"}


@pytest.fixture
def lent():
    """By engine, what makes a lazy frame of an Arrow table."""
    with duckdb.connect() as connection:
        yield {"duckdb": connection.from_arrow, "polars": lambda table: pl.from_arrow(table).lazy()}


ENGINES = pytest.mark.parametrize("engine", ["duckdb", "polars"])


def clinic():
    return pa.Table.from_pandas(load(CLINIC).table.assign(patient=IDENTIFIER).astype(str), preserve_index=False)


# ---- the same release


@ENGINES
@pytest.mark.parametrize(
    ("model", "algorithm"),
    [("k=5", "Mondrian"), ("k=3, t=0.4", "local recoding"), ("k=4", "FullDomain"), ("l=2", "Bucketize")],
)
def test_a_frame_is_released_as_in_memory(lent, engine, model, algorithm):
    dataset, frame = load(CLINIC), lent[engine](clinic())
    made = sanitize(frame, model, dataset=CLINIC, algorithm=algorithm)
    whole = parse_sanitizer(model, algorithm, dataset.schema).sanitize(dataset, rng=None)
    assert type(made.frame) is type(frame)
    assert (made.records, made.combinations) == (300, 300)
    assert made.provenance["columns"].keys() == whole.provenance.public()["columns"].keys()
    head, rows = framed.rows(framed.read(made.frame))
    if algorithm == "Bucketize":
        table = framed.read(made.frame).to_pandas()
        assert (made.buckets.groupby("bucket")["count"].sum() == table["bucket"].value_counts().sort_index()).all()
        return
    cells = whole.table.astype(object).where(whole.table.notna(), None)
    assert head == [*cells]
    assert rows == sorted(str(tuple(row)) for row in cells.to_numpy().tolist())
    assert made.smallest == whole.people_per_class.min()
    assert made.sentences[0].startswith(f"300 records in {made.classes} classes")


@pytest.mark.slow
@ENGINES
def test_columns_of_many_values_stay_with_their_records(lent, engine, tmp_path):
    table, path = framed.wide(), framed.described(tmp_path)
    made = sanitize(lent[engine](table), "k=5, frequency-l=1.2", dataset=path)
    written, rows = framed.from_file(tmp_path, table, "k=5, frequency-l=1.2", path)
    assert framed.rows(framed.read(made.frame)) == rows
    assert facts(made) | {"records_read": len(table)} == facts(written), "a frame is read when it is asked"
    assert {made.provenance["columns"][name] for name in ("score", "a `word`", "nothing")} == {"exact"}
    assert {*made.verdict.reasons[0].responsible} == {"score", "a `word`"}


@pytest.mark.slow
@ENGINES
def test_records_that_lack_a_value_are_left_out_before_they_are_counted(lent, engine, tmp_path):
    table, path = framed.wide().drop_columns(["nothing"]), framed.described(tmp_path, 'records_with_missing = "drop"')
    path.write_text(path.read_text().partition("[columns.nothing]")[0])
    made = sanitize(lent[engine](table), "k=5", dataset=path)
    written, rows = framed.from_file(tmp_path, table, "k=5", path)
    assert framed.rows(framed.read(made.frame)) == rows
    assert len(rows[1]) == made.records == written.records < 300
    assert made.smallest >= 5


@pytest.mark.slow
@ENGINES
def test_what_a_person_has_several_records_of_counts_people(lent, engine, tmp_path):
    path = person_key.drafted(tmp_path / "visits", 120)
    dataset = load(path)
    frame = lent[engine](pa.Table.from_pandas(dataset.table.astype(str), preserve_index=False))
    made = sanitize(frame, "k=5, frequency-l=1.5:ill", dataset=path)
    assert made.smallest >= 5
    assert made.records == len(dataset)
    assert dataset.schema.person not in framed.read(made.frame).column_names


# ---- their order


def test_the_release_of_counts_reads_no_record_again():
    with duckdb.connect() as connection:
        connection.from_arrow(clinic()).create("people")
        made = sanitize(connection.table("people"), "k=5", dataset=CLINIC)
        connection.sql("drop table people")
        assert len(made.frame.fetchall()) == 300


@pytest.mark.slow
@ENGINES
def test_the_order_is_one_of_what_the_rows_hold(lent, engine, tmp_path):
    table, path = framed.wide(), framed.described(tmp_path)
    found = []
    for order in (np.arange(300), np.random.default_rng(1).permutation(300)):
        made = sanitize(lent[engine](table.take(order)), "k=5", dataset=path)
        found.append(framed.in_order(made.frame))
    assert found[0] == found[1]
    places = {row: place for place, row in enumerate(dict.fromkeys(row[:3] for row in found[0]))}
    assert [places[row[:3]] for row in found[0]] == sorted(places[row[:3]] for row in found[0])


@pytest.mark.parametrize("most", [0, 1, 3, 16])
def test_rows_are_repeated_in_the_engine(lent, monkeypatch, most):
    monkeypatch.setattr(frames, "MOST", most)
    table = frames.LongFrame.of(lent["duckdb"](pa.table({"x": [1]})), {})
    times = np.array([1, 8, 3, 1000, 64])
    frame = table.repeated(pa.table({"a.b": ["p", "q", "r", None, "t"], "n": [5, 4, 3, 2, 1]}), times)
    found = Counter(framed.in_order(frame))
    assert found == {("p", 5): 1, ("q", 4): 8, ("r", 3): 3, (None, 2): 1000, ("t", 1): 64}


# ---- privnb.sanitize


@pytest.mark.slow
def test_one_function_takes_files_and_frames(lent, tmp_path):
    out = tmp_path / "out.parquet"
    written = privnb.sanitize(CLINIC, "k=5", out, allow="a test")
    made = privnb.sanitize(lent["polars"](clinic()), "k=5", dataset=CLINIC, allow="a test")
    assert framed.rows(framed.read(made.frame)) == framed.rows(framed.read(pl.scan_parquet(out)))
    assert written.path == out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": "people.csv"}, "`out` must be the path of the release for a table in files"),
        ({"out": "out.csv"}, "`out`, `bounds` and `force` "),
    ],
)
def test_out_is_for_files_alone(lent, given, message):
    with pytest.raises(TypeError, match=message):
        privnb.sanitize(**{"table": lent["duckdb"](clinic()), "model": "k=5", "dataset": CLINIC} | given)


# ---- what is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dataset": None}, "`dataset` must name the description of the frame; got None"),
        ({"dataset": "nobody"}, "there is no dataset 'nobody'"),
        ({"model": "k=301"}, "cannot be reached"),
        ({"model": KMember(5)}, "works record by record, and this table is counted. Try Mondrian"),
        ({"model": Suppress("sensitive")}, "One person is unique in age, weight, postcode, region as"),
        ({"study": "nobody's"}, "has no study"),
        ({"memory": "10MB"}, "at least 500MB"),
        ({"table": pd.DataFrame({"age": [1]})}, "lazy frame of DuckDB, Polars or Spark; got a DataFrame.*Dataset"),
        ({"table": pl.DataFrame({"age": [1]})}, "lazy frame of DuckDB, Polars or Spark; got a DataFrame"),
        ({"table": [1, 2]}, "lazy frame of DuckDB, Polars or Spark; got a list"),
    ],
)
def test_wrong_arguments_are_sentences(lent, given, message):
    given = {"table": lent["duckdb"](clinic()), "model": "k=5", "dataset": CLINIC} | given
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        sanitize_table.sanitize(**given)


@ENGINES
def test_a_frame_that_the_description_does_not_fit_is_refused(lent, engine):
    table = clinic()
    with pytest.raises(SchemaError, match=r"no column 'ward'; it has .*Did you mean 'wards'"):
        sanitize(lent[engine](table.rename_columns({"ward": "wards"})), "k=5", dataset=CLINIC)
    old = pa.array(["old", *table["age"].to_pylist()[1:]])
    place = table.column_names.index("age")
    with pytest.raises(SchemaError, match=r"'age'.*'old'"):
        sanitize(lent[engine](table.set_column(place, "age", old)), "k=5", dataset=CLINIC)
    with pytest.raises(SchemaError, match="at least 2 records"):
        sanitize(lent[engine](table[:0]), "k=5", dataset=CLINIC)


def test_two_columns_of_a_name_are_refused(lent, tmp_path):
    table = framed.wide().append_column("marital.status", pa.nulls(300, pa.string()))
    with pytest.raises(SchemaError, match="more than one column"):
        sanitize(lent["duckdb"](table), "k=5", dataset=framed.described(tmp_path))


def test_an_engine_that_is_not_known_is_refused(lent, monkeypatch):
    monkeypatch.delitem(frames.ENGINES, nw.Implementation.POLARS)
    with pytest.raises(TypeError, match=r"got one of polars\. Write the frame to Parquet files"):
        sanitize(lent["polars"](clinic()), "k=5", dataset=CLINIC)


@pytest.mark.parametrize("setting", ["frame", "column"])
def test_what_does_not_fit_into_memory_is_refused(lent, monkeypatch, tmp_path, setting):
    monkeypatch.setattr("privnb.tables.long_tables.COMBINATION", 150 / {"frame": 50, "column": 220}[setting])
    message = {"frame": "different combinations of 4 columns", "column": r"score.*in the frame first"}[setting]
    with pytest.raises(SchemaError, match=message):
        sanitize(lent["duckdb"](framed.wide()), "k=5", dataset=framed.described(tmp_path), memory="500MB")


def test_a_frame_is_sanitized_by_a_sanitizer_too(lent):
    made = sanitize(lent["duckdb"](clinic()), Mondrian(KAnonymity(5)), dataset=CLINIC)
    assert "frame" not in repr(made)
    assert made.sanitizer == Mondrian(KAnonymity(5))
    with pytest.raises(SanitizationError):
        sanitize(lent["duckdb"](clinic()), KMember(5), dataset=CLINIC)
