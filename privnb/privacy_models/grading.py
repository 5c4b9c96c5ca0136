"""Grade a table by its equivalence classes: how alike its records are, and which level of each model it reaches.

A model states how it is graded (`Graded`), by a level that depends on no bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Annotated, Any

import numpy as np

from privnb.microdata.columns import by_value
from privnb.microdata.counts import coded, combinations, people_among, people_in
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import checked_times
from privnb.microdata.schema import SchemaError
from privnb.privacy_models.base import Graded, PrivacyModel, Tally, worst_levels
from privnb.runtime import expect, progress
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import meant
from privnb.runtime.validation import optional, validated
from privnb.tables.notation import NUMBER

FEW = (2, 5, 10)  # class sizes below which people are counted
ANY = "any attribute"  # a model names one; its level reads the counts alone
MANY = 100  # different sensitive values; with more, nearly every class lacks nearly all of them


Row = tuple[str, Any, str, str]  # measure, value, unit, meaning

Column = Annotated[str | None, optional(lambda name, value: expect.text(name, value, "a column"))]
Columns = Annotated[Sequence[str] | None, optional(lambda name, value: expect.texts(name, value, "columns"))]

# What a level is read from: sizes; values of a class; values of a class beside the table's; the same on a line.
READS = ("people", "values", "shares", "order")


def models() -> list[tuple[Graded, PrivacyModel]]:
    """The models that are graded, of every class that is imported, by what they read: a list of (Graded, model). A
    class states its own; one that is made of another is not graded twice.
    """
    found = [(each, kind) for kind in _kinds(PrivacyModel) for each in vars(kind).get("graded", ())]
    found.sort(key=lambda each: READS.index(each[0].reads))
    return [(each, kind(**{**each.bounds, **_about(kind)})) for each, kind in found]


def _kinds(of: Any) -> Iterator[type[PrivacyModel]]:
    for kind in of.__subclasses__():
        yield from (kind, *_kinds(kind))


def _about(kind: type[PrivacyModel]) -> dict[str, str]:
    """The attribute of a model of sensitive values: any, since a level reads the counts alone."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return {"sensitive": ANY} if "sensitive" in names else {}


@validated
@progress.step("grading the classes")
def grade(
    table: pd.DataFrame,
    quasi_identifiers: Columns = None,
    sensitive: Column = None,
    person: Column = None,
    times: Any = None,
) -> pd.DataFrame:
    """Classes of equal quasi-identifiers in `table`, and the level of the worst: one row a number, with its meaning.

    Parameters
    ----------
    table : DataFrame
        n rows, each a record; cells are compared as they are written, a missing one equals another.
    quasi_identifiers : list of str, optional
        What an adversary may know; None: every column but `sensitive`, the most cautious reading.
    sensitive : str, optional
        The column that nobody should learn. Numbers of more than 100 different values are graded in 100 groups of
        neighbours of about equal size; of so many words only what each class holds is graded, not how it compares with
        the table.
    person : str, optional
        The column that says whose each record is: all counts are then of people, see `PrivacyModel`. None: each record
        is another person's.
    times : integer array (n,), optional
        How many records have the cells of each row, from 1; None: one.

    Returns
    -------
    DataFrame
        `measure`, `value`, `unit` ("share": 0 to 1) and `meaning`. Some values are counts of few people: for the
        owner's eyes, not for a report.

    Raises
    ------
    SchemaError
        As of `known`, for people that are missing, and for an empty table.
    """
    names = known([*table], quasi_identifiers, sensitive, person)
    if times is not None:
        times = checked_times(times, len(table))
    if table.empty:
        raise SchemaError("there is nothing to grade: 0 records. Give a table of some.")

    distinct, people = combinations(table[names]), None if person is None else _people(table[person], times)
    index, hidden = distinct.index, np.logical_and.reduce([_suppressed(distinct.values[name]) for name in names])
    records = len(table) if times is None else int(times.sum())
    sizes, all_people = people_in(index, people, times=times), _all(len(table), people, times)
    suppressed = people_among(hidden[index], people, times)
    rows: list[Row] = [
        ("records", records, "records", f"'{person}' names the person of each record."),
        ("people", all_people, "people", "A person with several records counts in every class that has one of them."),
    ]
    rows = [("records", records, "people", "Each record counts as one person.")] if person is None else rows
    rows += [
        ("quasi-identifiers", len(names), "columns", f"An adversary may know: {', '.join(map(str, names))}."),
        ("classes", len(sizes), "classes", "People of a class are indistinguishable by these columns."),
        ("smallest class", sizes.min(), "people", "The number of people who share the rarest combination."),
        ("median class", np.median(sizes), "people", "Half of the classes have at most this size."),
        ("largest class", sizes.max(), "people", "The number of people who share the commonest combination."),
        ("suppressed", suppressed, "people", "People whose quasi-identifiers are all *; they are one class."),
    ]
    for few in FEW:
        meaning = "People who are alone in their class." if few == 2 else f"People in classes of fewer than {few}."
        among = people_among(sizes[index] < few, people, times)
        rows.append((f"in classes below {few}", among / all_people, "share", meaning))
    # Sizes need no values: every record has the same.
    rows += _levels(("people",), index, np.zeros(len(table), dtype=np.int64), people, times)
    if sensitive is not None:
        rows += _of_sensitive(index, table[sensitive], people, times)
    return pd.DataFrame(rows, columns=["measure", "value", "unit", "meaning"]).astype({"value": float})


@validated
def known(
    columns: list[Any], quasi_identifiers: Columns = None, sensitive: Column = None, person: Column = None
) -> list[Any]:
    """The quasi-identifiers of a table with some columns.

    Parameters
    ----------
    columns : list
        The names of all of them.
    quasi_identifiers, sensitive, person
        As of `grade`.

    Returns
    -------
    list of str

    Raises
    ------
    SchemaError
        For a column that is not there or stands in two roles, and where no column is a quasi-identifier.
    """
    others = [name for name in columns if name not in (sensitive, person)]
    names = others if quasi_identifiers is None else list(quasi_identifiers)
    if absent := [name for name in [*names, sensitive, person] if name is not None and name not in columns]:
        raise SchemaError(
            f"the table has no column {absent}; it has {', '.join(map(str, columns))}.{meant(absent, columns)}"
        )
    if sensitive in names:
        raise SchemaError(f"'{sensitive}' cannot be both sensitive and a quasi-identifier. Name it in one place.")
    if person in [*names, sensitive] and person is not None:
        raise SchemaError(f"'{person}' says whose the records are, and is no more than that. Name it in one place.")
    if not names:
        raise SchemaError("there is nothing to grade: 0 quasi_identifiers. Name some columns, or None for all.")
    return names


def _all(rows: int, people: IntArray | None, times: IntArray | None) -> int:
    """How many people the rows are of."""
    return people_among(np.ones(rows, dtype=bool), people, times)


def _people(column: pd.Series, times: IntArray | None) -> IntArray:
    """Whose each row is: integer array (n,)."""
    if missing := people_among(column.isna().to_numpy(), times=times):
        raise SchemaError(f"'{column.name}' has {missing} missing values: nobody can say whose these records are.")
    return coded(column)[0]


def _suppressed(column: Any) -> BoolArray:
    """Where a column holds no more than that it is suppressed: boolean array (n,)."""
    codes, values = coded(column)
    return np.array([str(value) == SUPPRESSED for value in values])[codes]


def _of_sensitive(index: IntArray, column: pd.Series, people: IntArray | None, times: IntArray | None) -> list[Row]:
    """The rows that a sensitive column adds. `index`: the class of each row of the table."""
    codes, values = coded(column)
    some = np.empty(index.max() + 1, dtype=np.int64)
    some[index] = codes  # a value of each class
    alike = np.bincount(index, codes != some[index]) == 0
    given_away = people_among(alike[index], people, times) / _all(len(codes), people, times)
    reads: tuple[str, ...] = ("values", "shares")
    how = ""
    if all(NUMBER.fullmatch(str(value)) for value in values):
        codes, values = coded(by_value(pd.to_numeric, column))
        reads = ("values", "shares", "order")
        if len(values) > MANY:
            sizes = people_in(codes, times=times)
            group = (np.cumsum(sizes) - sizes) * MANY // sizes.sum()  # by the records with a smaller value
            codes = np.unique(group, return_inverse=True)[1][codes]
            how = f", graded in {codes.max() + 1} groups of neighbours of about equal size"
    elif len(values) > MANY:
        reads, how = ("values",), "; too many to compare a class with the table"
    return [
        ("sensitive values", len(values), "values", f"The number of different values of '{column.name}'{how}."),
        *_levels(reads, index, codes, people, times),
        (
            "one value a class",
            given_away,
            "share",
            f"People whose class discloses their '{column.name}' with certainty.",
        ),
    ]


def _levels(
    reads: Sequence[str], classes: IntArray, codes: IntArray, people: IntArray | None, times: IntArray | None
) -> Iterator[Row]:
    """One row a model that reads one of `reads`: the level of its worst class. `classes`, `codes`: int arrays (n,)."""
    graded = [(each, model) for each, model in models() if each.reads in reads]
    levels: dict[PrivacyModel, Any] = {}
    # Models count alike, but for people with several values.
    for of_members in (True, False) if people is not None else (None,):
        if some := [model for _, model in graded if of_members in (None, model.of_members)]:
            counted = Tally(some[0], codes, int(codes.max()) + 1, times, people)
            levels |= dict(zip(some, worst_levels(some, *counted.by_class(classes)), strict=True))
    for each, model in graded:
        yield each.name, levels[model], each.unit, each.meaning
