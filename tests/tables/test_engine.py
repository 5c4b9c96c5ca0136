"""Names of columns and texts reach the engine as they are, whatever quotation marks they hold."""

import pyarrow as pa
import pytest

from privnb.tables import engine

MARKS = ["", "a", '"', "'", 'the "zip"', "o'clock", '"; select 1 as "a', "'; select 1 as 'a", "a''b\"\"c"]


@pytest.mark.parametrize("text", MARKS)
def test_names_and_texts_are_quoted(text):
    column = text or "no name"
    with engine.connect() as connection:
        found = connection.sql(f"select {engine.quote_text(text)} as {engine.quote_name(column)}").to_arrow_table()
    assert found.to_pydict() == {column: [text]}


def test_combinations_are_joined_by_columns_with_quotation_marks_in_their_names():
    with engine.connect() as connection:
        records = connection.from_arrow(pa.table({'the "zip"': ["x"], "'n'": [1]}))
        combinations = connection.from_arrow(pa.table({'the "zip"': ["x"], 'a"b': [2]}))
        found = engine.join_combinations(records, combinations, ['the "zip"'], ["'n'"], {'a"b': 'own "label"'})
        assert (found.columns, found.fetchall()) == (['own "label"', "'n'"], [(2, 1)])
