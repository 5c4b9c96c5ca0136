"""Grading of a table by the sizes of its equivalence classes, and by the level that it reaches for each model.

Each model defines its gradings (`Graded`); the level of a table does not depend on the bound of a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Annotated, Any

import numpy as np

from privnb.microdata.columns import map_values
from privnb.microdata.counts import count_combinations, count_people_among, count_people_by_group, encode_values
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import check_times
from privnb.microdata.schema import SchemaError
from privnb.privacy_models.base import Graded, PrivacyModel, Tally, worst_levels
from privnb.privacy_models.star import Labels, Star
from privnb.runtime import expect, progress
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import suggest
from privnb.runtime.validation import optional, validated
from privnb.tables.notation import NUMBER

SMALL_SIZES = (2, 5, 10)  # class sizes below which people are counted
ANY = "any attribute"  # a model needs the name of one, but its level uses only the counts
MAX_VALUES = 100  # different sensitive values; with more, nearly every class lacks nearly all of them

MEANINGS: dict[Star, str] = {
    "own": "People of a class are indistinguishable by these columns.",
    "any": "A class has all people whose cells match; * matches every value, so that classes overlap.",
    "conservative": "A class has one person and the matching people without *; people with * protect nobody else.",
}

Row = tuple[str, Any, str, str]  # measure, value, unit, meaning

Column = Annotated[str | None, optional(lambda name, value: expect.text(name, value, "a column"))]
Columns = Annotated[Sequence[str] | None, optional(lambda name, value: expect.texts(name, value, "columns"))]

# # The data that a level reads: sizes; values of a class; values of a class and of the table; ordered values of both.
READS = ("people", "values", "shares", "order")


def list_graded_models() -> list[tuple[Graded, PrivacyModel]]:
    """Return the gradings of all imported model classes, each with a model, in the order of `READS`.

    A class does not inherit the gradings of its base class.
    """
    found = [(each, kind) for kind in _kinds(PrivacyModel) for each in vars(kind).get("graded", ())]
    found.sort(key=lambda each: READS.index(each[0].reads))
    return [(each, kind(**{**each.bounds, **_about(kind)})) for each, kind in found]


def _kinds(base: Any) -> Iterator[type[PrivacyModel]]:
    for kind in base.__subclasses__():
        yield from (kind, *_kinds(kind))


def _about(kind: type[PrivacyModel]) -> dict[str, str]:
    """Return the parameter `sensitive` if a model needs it; the name has no effect, because levels use only counts."""
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
    star: Star = "own",
) -> pd.DataFrame:
    """Grade a table by the sizes of its equivalence classes and by the level of the worst class for each model.

    Parameters
    ----------
    table : DataFrame
        A table of n records. Cells are compared as written, and missing cells are equal to each other.
    quasi_identifiers : list of str, optional
        The columns that an adversary may know. If None, these are all columns except `sensitive`, which is the most
        cautious choice.
    sensitive : str, optional
        The column whose values nobody should learn. Numbers with more than 100 different values are graded in 100
        groups of neighbors of about equal size. If a column of text has more than 100 different values, each class is
        graded only by its own values, without a comparison with the whole table.
    person : str, optional
        The column that names the person of each record. All counts are then counts of people; see `PrivacyModel`. If
        None, each record belongs to a different person.
    times : integer array (n,), optional
        The number of records that each row represents, at least 1. If None, each row is one record.
    star : str
        The meaning of `*` and of missing quasi-identifiers, see `privacy_models.star`: "own" (a category of its own),
        "any" (matches every value) or "conservative" (matches every value, but protects nobody else).

    Returns
    -------
    DataFrame
        The columns `measure`, `value`, `unit` ("share": 0 to 1) and `meaning`. Some values are small counts of people,
        so the result is for the owner of the table and not for a report.

    Raises
    ------
    SchemaError
        If a column is absent or has two roles, if the column `person` has missing values, if the table is empty, or if
        `person` is given and `star` is not "own".
    """
    names = select_quasi_identifiers([*table], quasi_identifiers, sensitive, person)
    if times is not None:
        times = check_times(times, len(table))
    if table.empty:
        raise SchemaError("the table must have at least one record; got 0 records.")

    if star != "own" and person is not None:
        raise SchemaError(
            f"`star` must be 'own' if a column names the people; got '{star}', which counts records. Leave out the "
            f"person column '{person}', or choose 'own'."
        )
    distinct, people = count_combinations(table[names]), None if person is None else _people(table[person], times)
    labels = Labels(star, [encode_values(distinct.values[name]) for name in names])
    index, hidden = distinct.index, np.logical_and.reduce([_suppressed(distinct.values[name]) for name in names])
    records = len(table) if times is None else int(times.sum())
    sizes, all_people = count_people_by_group(index, people, times=times), _all(len(table), people, times)
    classes = labels.confuse(sizes[:, None])
    sizes, size_of_row = classes.counts[:, 0], classes.counts[classes.class_of[index, 0], 0]
    suppressed = count_people_among(hidden[index], people, times)
    rows: list[Row] = [
        ("records", records, "records", f"'{person}' names the person of each record."),
        ("people", all_people, "people", "A person with several records counts in every class that has one of them."),
    ]
    rows = [("records", records, "people", "Each record counts as one person.")] if person is None else rows
    rows += [
        ("quasi-identifiers", len(names), "columns", f"An adversary may know: {', '.join(map(str, names))}."),
        ("classes", len(sizes), "classes", MEANINGS[star]),
        ("smallest class", sizes.min(), "people", "This number of people shares the rarest combination."),
        ("median class", np.median(sizes), "people", "Half of the classes have at most this size."),
        ("largest class", sizes.max(), "people", "This number of people shares the most common combination."),
        (
            "suppressed",
            suppressed,
            "people",
            "All quasi-identifiers of this number of people are suppressed (*)"
            + ("; these people form one class." if star == "own" else "."),
        ),
    ]
    for few in SMALL_SIZES:
        meaning = (
            "This share of people is alone in its class."
            if few == 2
            else f"This share of people is in classes of fewer than {few}."
        )
        among = count_people_among(size_of_row < few, people, times)
        rows.append((f"in classes below {few}", among / all_people, "share", meaning))
    # # Sizes do not depend on the sensitive values, so every record gets the same code.
    rows += _levels(("people",), index, np.zeros(len(table), dtype=np.int64), people, times, labels)
    if sensitive is not None:
        rows += _of_sensitive(index, table[sensitive], people, times, labels)
    return pd.DataFrame(rows, columns=["measure", "value", "unit", "meaning"]).astype({"value": float})


@validated
def select_quasi_identifiers(
    columns: list[Any], quasi_identifiers: Columns = None, sensitive: Column = None, person: Column = None
) -> list[Any]:
    """Return the quasi-identifiers of a table with the given columns.

    Parameters
    ----------
    columns : list
        The names of all columns.
    quasi_identifiers, sensitive, person
        As in `grade`.

    Returns
    -------
    list of str

    Raises
    ------
    SchemaError
        If a column is absent or has two roles, or if no column is a quasi-identifier.
    """
    remaining = [name for name in columns if name not in (sensitive, person)]
    names = remaining if quasi_identifiers is None else list(quasi_identifiers)
    if absent := [name for name in [*names, sensitive, person] if name is not None and name not in columns]:
        raise SchemaError(
            f"the table has no column {absent}; it has {', '.join(map(str, columns))}.{suggest(absent, columns)}"
        )
    if sensitive in names:
        raise SchemaError(
            f"'{sensitive}' cannot be both sensitive and a quasi-identifier. Give the column one of the two roles."
        )
    if person in [*names, sensitive] and person is not None:
        raise SchemaError(
            f"'{person}' names the people and cannot have another role. Name the column only in `person`."
        )
    if not names:
        raise SchemaError(
            "`quasi_identifiers` must name at least one column; got 0. Name at least one column, or give None for all."
        )
    return names


def _all(rows: int, people: IntArray | None, times: IntArray | None) -> int:
    """Return the number of people in the rows."""
    return count_people_among(np.ones(rows, dtype=bool), people, times)


def _people(column: pd.Series, times: IntArray | None) -> IntArray:
    """Return the person of each row, as an integer array (n,)."""
    if missing := count_people_among(column.isna().to_numpy(), times=times):
        raise SchemaError(
            f"'{column.name}' must name the person of each record, but the column has {missing} missing values. Fill "
            "in these values."
        )
    return encode_values(column)[0]


def _suppressed(column: Any) -> BoolArray:
    """Return, as a boolean array (n,), whether each cell of a column is suppressed."""
    codes, values = encode_values(column)
    return np.array([str(value) == SUPPRESSED for value in values])[codes]


def _of_sensitive(
    index: IntArray, column: pd.Series, people: IntArray | None, times: IntArray | None, labels: Labels
) -> list[Row]:
    """Return the rows of the result about a sensitive column; `index` is the class of each row of the table."""
    codes, values = encode_values(column)
    some = np.empty(index.max() + 1, dtype=np.int64)
    some[index] = codes  # a value of each class
    uniform = (np.bincount(index, codes != some[index]) == 0)[index]
    if labels.star != "own":
        weights = np.ones(len(codes), dtype=np.int64) if times is None else times
        counts = np.zeros((len(some), len(values)), dtype=np.int64)
        np.add.at(counts, (index, codes), weights)
        classes = labels.confuse(counts)
        uniform = (np.count_nonzero(classes.counts, axis=1) == 1)[classes.class_of[index, codes]]
    certain = count_people_among(uniform, people, times) / _all(len(codes), people, times)
    reads: tuple[str, ...] = ("values", "shares")
    how = ""
    if all(NUMBER.fullmatch(str(value)) for value in values):
        codes, values = encode_values(map_values(pd.to_numeric, column))
        reads = ("values", "shares", "order")
        if len(values) > MAX_VALUES:
            sizes = count_people_by_group(codes, times=times)
            group = (np.cumsum(sizes) - sizes) * MAX_VALUES // sizes.sum()  # by the records with a smaller value
            codes = np.unique(group, return_inverse=True)[1][codes]
            how = f", graded in {codes.max() + 1} groups of neighbors of about equal size"
    elif len(values) > MAX_VALUES:
        reads, how = ("values",), "; too many to compare a class with the table"
    return [
        ("sensitive values", len(values), "values", f"'{column.name}' has this number of different values{how}."),
        *_levels(reads, index, codes, people, times, labels),
        (
            "one value a class",
            certain,
            "share",
            f"For this share of people, the class discloses their '{column.name}' with certainty.",
        ),
    ]


def _levels(
    reads: Sequence[str],
    classes: IntArray,
    codes: IntArray,
    people: IntArray | None,
    times: IntArray | None,
    labels: Labels,
) -> Iterator[Row]:
    """Yield a row with the worst level of each model that reads one of `reads`; `classes` and `codes` are (n,)."""
    graded = [(each, model) for each, model in list_graded_models() if each.reads in reads]
    levels: dict[PrivacyModel, Any] = {}
    # Models have the same counts, except for people with several values.
    for of_members in (True, False) if people is not None else (None,):
        if some := [model for _, model in graded if of_members in (None, model.of_members)]:
            counted = Tally(some[0], codes, int(codes.max()) + 1, times, people)
            parts, whole = counted.by_class(classes)
            if labels.star != "own":
                parts = [labels.confuse(np.concatenate([*parts])).counts]
            levels |= dict(zip(some, worst_levels(some, parts, whole), strict=True))
    for each, model in graded:
        yield each.name, levels[model], each.unit, each.meaning
