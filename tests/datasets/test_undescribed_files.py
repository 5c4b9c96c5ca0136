"""What the engine counts of files that nobody described are the records that are read of them."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.datasets.undescribed_files import UndescribedTable
from privnb.microdata.schema import SchemaError
from privnb.tables import long_tables
from privnb.tables.long_tables import Memory
from privnb.tables.reading import read_undescribed

MEMORY = Memory.of("1GB")
CELLS = st.sampled_from(["a", " a", "a ", "b", "", " ", "\t", "\u2003", "*", "0", "0.0", None])


def records(table, times=None):
    """How often each row stands, missing cells as None."""
    rows = table.astype(object).where(table.notna(), None).itertuples(index=False, name=None)
    found = Counter()
    for row, number in zip(rows, [1] * len(table) if times is None else times.tolist(), strict=True):
        found[row] += number
    return found


def counted(path, names=None):
    table = UndescribedTable.of(path)
    return records(*table.counted(names or table.names, MEMORY))


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=20),
    st.lists(st.sampled_from("Aax"), min_size=1, max_size=3, unique=True),
    st.sampled_from([".csv", ".parquet"]),
    st.integers(0, 20),
)
def test_any_table_is_counted_as_it_is_read(rows, names, ending, first):
    table = pd.DataFrame([*rows, ("a", "b", "a")], columns=["A", "a", "x"], dtype=object)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "parts"
        folder.mkdir()
        for number, part in enumerate((table[:first], table[first:])):
            if any(cell and cell.strip() for cell in part.to_numpy().ravel()):
                path = folder / f"{number}{ending}"
                part.to_csv(path, index=False) if ending == ".csv" else part.to_parquet(path)
        assert counted(folder, names) == records(read_undescribed(folder)[0][names])


@pytest.mark.slow
def test_values_are_told_apart_by_their_texts(tmp_path):
    table = {
        "float": [0.0, -0.0, np.nan, 1.5], "whole": [1, 1, 2, 2], "yes": [True, True, False, True],
        "day": pd.to_datetime(["2020-02-29"] * 4), "list": [[0.0], [-0.0], [0.0], [1.0]],
    }  # fmt: skip
    pd.DataFrame(table).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame(table | {"whole": [1.0, 1.0, 2.0, 2.5]}).to_parquet(tmp_path / "b.parquet")
    for name in table:
        assert counted(tmp_path, [name]) == records(read_undescribed(tmp_path)[0][[name]])
    assert counted(tmp_path, ["float"])["-0.0",] == 2


def test_a_record_whose_counted_cells_are_blank_is_one(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n,y\n ,z\n,\n, \n1,\n")
    assert counted(tmp_path / "a.csv", ["a"]) == {("1",): 2, (None,): 2}
    assert counted(tmp_path / "a.csv", ["b"]) == {("x",): 1, ("y",): 1, ("z",): 1, (None,): 1}


@pytest.mark.parametrize("name", ["x[1].csv", "x[1].parquet", "x?.parquet", "x*.csv"])
def test_a_path_means_nothing_else(tmp_path, name):
    """To the engine, that of a name is a pattern, and that of a folder says a column."""
    tmp_path = tmp_path / "b=2"
    tmp_path.mkdir()
    for cell, path in (("theirs", tmp_path / f"x1{Path(name).suffix}"), ("ours", tmp_path / name)):
        table = pd.DataFrame({"a": [cell]})
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    assert counted(tmp_path / name) == records(read_undescribed(tmp_path / name)[0]) == {("ours",): 1}


@pytest.mark.slow
def test_a_broken_row_is_found_in_its_part_whatever_is_counted(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,2,3\n" * 50)
    (tmp_path / "b.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    for names in (["a"], ["c"], ["a", "b", "c"]):
        with pytest.raises(SchemaError, match=r"b\.csv: line 3 has fewer than 3 cells"):
            counted(tmp_path, names)
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,2,3\n" * 50 + "1,2,3,4\n")
    with pytest.raises(SchemaError, match=r"a\.csv: line 52 has more than 3 cells"):
        counted(tmp_path, ["a"])


def test_a_part_without_a_record_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    for empty in ("a,b\n", "a,b\n,\n   \n , \n"):
        (tmp_path / "b.csv").write_text(empty)
        with pytest.raises(SchemaError, match=r"b\.csv has column names but no record"):
            counted(tmp_path)


def test_a_workbook_is_read(tmp_path):
    pd.DataFrame({"a": ["x", "x", None], "b": [1, 1, 2]}).to_excel(tmp_path / "x.xlsx", index=False)
    assert counted(tmp_path / "x.xlsx") == {("x", "1"): 2, (None, "2"): 1}


def test_a_column_of_unique_numbers_is_refused_after_the_count(tmp_path, monkeypatch):
    monkeypatch.setattr(long_tables, "COMBINATION", 13)  # 50 of them
    pd.DataFrame({"number": range(1000), "sex": ["F", "M"] * 500}).to_csv(tmp_path / "a.csv", index=False)
    assert counted(tmp_path / "a.csv", ["sex"]) == {("F",): 500, ("M",): 500}
    with pytest.raises(SchemaError, match=r"more than 50 .* 1GB\..* number \(51\), sex \(2\)\. Name quasi-id"):
        counted(tmp_path / "a.csv")


def test_nothing_is_left_of_the_engine(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "a.csv").write_bytes("a,b\né,2\n".encode("cp1252"))
    assert counted(tmp_path / "a.csv") == {("é", "2"): 1}
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]
