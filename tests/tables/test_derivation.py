"""Columns that are computed from others: what a rule means, how it is written, and that every engine agrees."""

from datetime import date, timedelta

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.schema import SchemaError
from privnb.runtime.errors import UsageError
from privnb.tables import reading
from privnb.tables.derivation import Derivation, DerivedColumns, parse_derivation
from privnb.tables.frames import LongFrame

FORM = "%d.%m.%Y"
DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def of_texts(rule, forms=FORM, marks=(), **columns):
    """The derived texts of records, with None for a missing value."""
    cells = pd.DataFrame({name: pd.Categorical(texts) for name, texts in columns.items()})
    known = DerivedColumns({"new": rule}, dict.fromkeys(rule.sources, forms), dict.fromkeys(rule.sources, marks))
    found = known.add(cells)["new"].astype(object)
    return found.where(found.notna(), None).tolist()


@pytest.mark.parametrize(
    ("birth", "day", "years"),
    [
        ("29.02.2000", "28.02.2001", 0),
        ("29.02.2000", "01.03.2001", 1),
        ("29.02.2000", "29.02.2004", 4),
        ("31.12.1999", "01.01.2000", 0),
        ("01.06.1980", "31.05.2020", 39),
        ("01.06.1980", "01.06.2020", 40),
        ("02.01.2020", "01.01.2020", -1),
        ("01.01.2021", "01.01.2020", -1),
        ("02.01.2021", "01.01.2020", -2),
    ],
)
def test_an_age_is_in_whole_years(birth, day, years):
    assert of_texts(Derivation("years", "a", "b"), a=[birth], b=[day]) == [str(years)]
    fixed = date(*map(int, reversed(day.split("."))))
    assert of_texts(Derivation("years", "a", fixed), a=[birth]) == [str(years)]


@given(DAYS, DAYS)
def test_an_age_is_that_of_the_calendar(birth, day):
    years = day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
    texts = {name: [each.strftime(FORM)] for name, each in (("a", birth), ("b", day))}
    assert of_texts(Derivation("years", "a", "b"), **texts) == [str(years)]
    assert of_texts(Derivation("days", "a", "b"), **texts) == [str((day - birth).days)]


def test_periods_and_beginnings_are_texts():
    days = ["01.01.2024", "31.03.2024", "01.04.2024", "31.12.2024"]
    assert of_texts(Derivation("quarter", "a"), a=days) == ["2024-Q1", "2024-Q1", "2024-Q2", "2024-Q4"]
    assert of_texts(Derivation("month", "a"), a=days) == ["2024-01", "2024-03", "2024-04", "2024-12"]
    assert of_texts(Derivation("year", "a"), a=days) == ["2024"] * 4
    codes = ["01067", "1", None]
    assert of_texts(Derivation("prefix", "a", characters=2), a=codes) == ["01", "1", None]


def test_what_is_missing_in_a_source_is_missing():
    days, ends = ["?", "01.01.2024", None, "05.01.2024"], ["02.01.2024", "-", "02.01.2024", "03.01.2024"]
    assert of_texts(Derivation("days", "a", "b"), marks=("?", "-"), a=days, b=ends) == [None, None, None, "-2"]
    assert of_texts(Derivation("prefix", "a", characters=1), marks=("?",), a=["?", "x1"]) == [None, "x"]


def test_a_date_without_a_day_has_a_year_and_no_age():
    days = ["05.03.1990", "03.1990", "1990"]
    assert of_texts(Derivation("years", "a", date(2024, 1, 1)), a=days) == ["33", None, None]
    assert of_texts(Derivation("month", "a"), a=days) == ["1990-03", "1990-03", None]
    assert of_texts(Derivation("year", "a"), a=days) == ["1990"] * 3


def test_a_time_after_the_day_is_ignored():
    assert of_texts(Derivation("days", "a", "b"), "%Y-%m-%d", a=["2024-01-01 23:59:00"], b=["2024-01-02"]) == ["1"]


def test_a_text_that_is_no_date_is_refused_without_its_value():
    with pytest.raises(
        SchemaError, match=r"column 'a' has texts that are not dates like 29.02.2024 \(1 different\)"
    ) as error:
        of_texts(Derivation("year", "a"), a=["01.01.2024", "secret"])
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "rule",
    [
        Derivation("years", "birth", "day of stay"),
        Derivation("years", "birth", date(2024, 12, 31)),
        Derivation("days", "from here to there", "birth"),
        Derivation("year", "birth"),
        Derivation("quarter", "day of stay"),
        Derivation("month", "birth"),
        Derivation("prefix", "birth", characters=1),
        Derivation("prefix", "birth", characters=12),
    ],
    ids=lambda rule: rule.words,
)
def test_the_words_and_the_keys_of_a_rule_state_it(rule):
    assert parse_derivation(rule.words, ["birth", "day of stay", "from here to there"]) == rule
    assert Derivation.of(rule.stated) == rule


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("years from birth", "must name a second date"),
        ("years from birth to nowhere", "there is no column 'nowhere'"),
        ("years from birht to 2024-01-01", "Did you mean 'birth'"),
        ("years from birth to 2024-02-30", "there is no column '2024-02-30'"),
        ("first 0 characters of birth", "states no rule"),
        ("age", "states no rule"),
        ("", "states no rule"),
    ],
)
def test_words_without_a_rule_are_refused(words, said):
    with pytest.raises(UsageError, match=said):
        parse_derivation(words, ["birth"])


@pytest.mark.parametrize(
    "stated",
    [
        {}, {"years_from": "a"}, {"to": "a"}, {"year_of": 3}, {"prefix_of": "a", "characters": 0},
        {"prefix_of": "a", "characters": True}, {"year_of": "a", "to": "b"}, {"days_from": "a", "to": 3},
    ],
)  # fmt: skip
def test_keys_without_a_rule_are_refused(stated):
    with pytest.raises(SchemaError, match="must state one rule"):
        Derivation.of(stated)


RULES = {
    "age": Derivation("years", "born", "seen"), "then": Derivation("years", "born", date(2020, 6, 30)),
    "days": Derivation("days", "seen", "born"), "year": Derivation("year", "seen"),
    "quarter": Derivation("quarter", "born"), "month": Derivation("month", "born"),
    "region": Derivation("prefix", "zip", characters=2),
}  # fmt: skip


def records(number=500):
    """Records with gaps, leap days and dates in both orders."""
    rng = np.random.default_rng(1)
    first = date(1904, 2, 29)
    born = [(first + timedelta(int(days))) for days in rng.integers(0, 45_000, number)]
    born[: number // 10] = [date(int(year) // 4 * 4, 2, 29) for year in rng.integers(1904, 2020, number // 10)]
    seen = [date(int(year), int(month), int(day)) for year, month, day in zip(
        rng.integers(1990, 2025, number), rng.integers(2, 4, number), rng.integers(1, 29, number), strict=True
    )]  # fmt: skip
    zips = rng.choice(["01067", "10115", "SW1A 1AA"], number)
    lacks = rng.random((3, number)) < 0.1
    columns = {"born": born, "seen": seen, "zip": zips.tolist()}
    return {
        name: [None if lack else each for each, lack in zip(column, gone, strict=True)]
        for (name, column), gone in zip(columns.items(), lacks, strict=True)
    }


def as_texts(column):
    return [each.strftime(FORM) if isinstance(each, date) else each for each in column]


def rows_of(frame, own):
    found = reading.from_arrow(frame.select(own).collect(backend="pyarrow").to_native().rename_columns([*RULES]))
    found = found.astype(object)
    return sorted(map(tuple, found.where(found.notna(), "missing").to_numpy()))


@pytest.mark.parametrize("typed", [False, True], ids=["texts", "dates"])
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engines_compute_what_python_computes(engine, typed):
    own = records()
    forms = dict.fromkeys(("born", "seen"), FORM)
    texts = {name: as_texts(column) for name, column in own.items()}
    cells = DerivedColumns(RULES, forms).add(pd.DataFrame({name: pd.Categorical(each) for name, each in texts.items()}))
    plain = cells[[*RULES]].astype(object)
    expected = sorted(map(tuple, plain.where(plain.notna(), "missing").to_numpy()))
    frame = pl.DataFrame(own if typed else texts)
    native = frame.lazy() if engine == "polars" else duckdb.from_arrow(frame.to_arrow())
    table = LongFrame.of(native, {})

    def count(source):
        with table.opened([source]) as held:
            return held.counted([source], 10**6)

    known = DerivedColumns(RULES, forms).looked_up(count)
    with table.opened([*RULES], derived=known) as held:
        assert rows_of(held.frame, held.called(RULES)) == expected
    assert {each for row in expected for each in row if each.startswith("-")}, "no length of time is negative"
