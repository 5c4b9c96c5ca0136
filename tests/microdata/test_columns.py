"""Coded columns: what is written out is what was given, and what counts writes nothing out."""

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.digests import digest
from privnb.microdata.columns import decode_column, decode_table, encode_column, make_categorical, map_values
from privnb.microdata.counts import are_equal, count_combinations, encode_values, is_coded
from privnb.privacy_models import KAnonymity, TCloseness, grade_release
from privnb.sanitizers import Mondrian

COLUMNS = {
    "text": ["b", "a", "b"],
    "text with a gap": pd.Series(["b", None, "b"], dtype="str"),
    "objects": pd.Series(["b", "a", "b"], dtype=object),
    "nothing": pd.Series([np.nan] * 3, dtype=object),
    "whole": [3, 1, 3],
    "narrow": np.array([3, 1, 3], dtype=np.int8),
    "numbers": [0.5, np.nan, 0.5],
    "truths": [True, False, True],
    "whole with a gap": pd.array([3, None, 3], dtype="Int64"),
    "days": pd.to_datetime(["2024-02-29", None, "2024-03-01"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_written_out_is_what_was_given(name):
    table = pd.DataFrame({name: COLUMNS[name]}, index=[7, 7, 9])
    column = encode_column(table[name])
    assert is_coded(column.dtype)
    assert encode_column(column) is column
    pd.testing.assert_frame_equal(decode_table(column.to_frame()), table)
    for own, given in zip(encode_values(column), encode_values(table[name]), strict=True):
        pd.testing.assert_series_equal(pd.Series(own), pd.Series(given))
        assert own.dtype == given.dtype
    assert are_equal(column, column.copy())
    assert are_equal(column, decode_column(column))


def test_cells_of_several_kinds_are_no_codes():
    for cells in ([1, 1.0, True], ["1", 1, "1"], [["a"], "a", "b"]):
        column = pd.Series(cells, dtype=object)
        assert encode_column(column) is column


def test_values_that_become_equal_are_one():
    column = encode_column(pd.Series(["9", "9.0", None, "8"], dtype="str"))
    found = map_values(lambda values: pd.to_numeric(values).astype(int), column)
    pd.testing.assert_series_equal(decode_column(found), pd.Series([9.0, 9.0, np.nan, 8.0]))
    assert len(found.cat.categories) == 2
    assert make_categorical([1, 0, -1], ["a", np.nan]).codes.tolist() == [-1, 0, -1]


def test_columns_of_other_values_are_not_the_same():
    many = pd.Series(["a"] * 300 + ["b"], dtype="str")  # the first hundred are equal
    for other in (many.replace("b", "c"), many.replace("a", "c"), many.where(many != "b")):
        assert not are_equal(encode_column(many), encode_column(other))
    assert are_equal(encode_column(many), pd.Series(pd.Categorical(many, ["b", "z", "a"])))


def test_coded_columns_are_the_same_where_their_cells_are():
    """Whatever the order of their categories, and whichever of these occur."""
    rng, found = np.random.default_rng(4), set()
    for kinds in (["a", "b", "c"], [0.5, 1.0, np.inf]):
        for _ in range(30):
            values = pd.Index(kinds)[rng.permutation(3)]
            first = pd.Series(make_categorical(rng.integers(-1, 2, 3), values[:2]))
            shuffled = pd.Categorical(first, values[::-1])
            changed = pd.Series(make_categorical(np.r_[rng.integers(-1, 3), shuffled.codes[1:]], values[::-1]))
            for second in (pd.Series(shuffled), changed):
                equal = decode_column(first).equals(decode_column(second))
                assert are_equal(first, second) == are_equal(second, first) == equal
                found.add(equal)
    assert found == {True, False}


@pytest.mark.slow
def test_what_loads_sanitizes_and_counts_writes_no_column_out(monkeypatch):
    lengths, made = [0], []
    for name in ("__array__", "astype"):
        own = getattr(pd.Categorical, name)
        monkeypatch.setattr(
            pd.Categorical, name, lambda self, *a, own=own, **k: lengths.append(len(self)) or own(self, *a, **k)
        )
    adult = load("adult")
    for sanitizer in (Mondrian(KAnonymity(10)), Mondrian(KAnonymity(5), TCloseness(0.3, "salary"))):
        made.append(sanitizer.sanitize(adult, rng=1))
        assert grade_release(KAnonymity(2), made[-1]) >= 5
    for each in (adult, *made):
        assert all(map(is_coded, each.cells.dtypes))
        assert count_combinations(each.cells).multiplicities.sum() == len(adult)
        assert "table" not in vars(each)
    assert max(lengths) < 1000 < len(adult)
    assert [digest(each.table).hex()[:16] for each in (adult, *made)] == PINNED  # and now they are written out
    assert max(lengths) == len(adult)


# Of the tables that held text, before columns were coded.
PINNED = ["ef3cf8482047741e", "97b82338715650f6", "8cba29978db9fbdb"]


def test_a_dataset_of_codes_is_that_of_its_table():
    adult = load("adult").sample(200, rng=1)
    again = Dataset(adult.name, adult.table, adult.schema, adult.hierarchies)
    pd.testing.assert_frame_equal(again.table, adult.table)
    assert digest(again) == digest(adult)
    assert again.table is again.table


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_texts_are_the_same_however_pandas_keeps_them(storage):
    given = pd.Series(["b", "a", None, "b"], dtype=pd.StringDtype(storage, na_value=np.nan))
    other = pd.Series(["b", "a", None, "b"], dtype=pd.StringDtype("python", na_value=np.nan))
    assert are_equal(given, other)
    assert are_equal(encode_column(given), encode_column(other))
    assert not are_equal(encode_column(given), encode_column(other.replace("b", "c")))
