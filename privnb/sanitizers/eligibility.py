"""What a table must have so that a method can change it: errors that say what is lacking and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.runtime.names import name_list
from privnb.sanitizers.errors import SanitizationError

MOST = 1_000  # columns of a regression, whose time grows with their square


def quasi_identifiers(sanitizer: object, schema: Schema, verb: str) -> list[str]:
    """Return the names of the quasi-identifiers. Raises SanitizationError where there is none to `verb`."""
    if not schema.quasi_identifiers:
        raise SanitizationError(
            f"{sanitizer!r}: '{schema.dataset}' has no quasi-identifier to {verb}. Give one or more columns that role."
        )
    return schema.quasi_identifiers


def numeric(sanitizer: object, schema: Schema) -> list[Attribute]:
    """Return the numeric quasi-identifiers, in column order. Raises SanitizationError where there is none."""
    found = [schema[name] for name in schema.quasi_identifiers if schema[name].numeric]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: no quasi-identifier of '{schema.dataset}' is numeric; they are "
            f"{name_list(schema.quasi_identifiers) or 'none'}. Choose a study with numbers, or another sanitizer."
        )
    return found


def check_numeric(sanitizer: object, names: Sequence[str], attributes: Sequence[Attribute]) -> None:
    """Raise SanitizationError for a name that is none of these numeric `attributes`."""
    known = [attribute.name for attribute in attributes]
    if unknown := sorted({*names} - {*known}):
        raise SanitizationError(f"{sanitizer!r}: {unknown} is no numeric quasi-identifier; those are {known}.")


def categorical(sanitizer: object, schema: Schema, names: Sequence[str] = ()) -> list[Attribute]:
    """Return the quasi-identifiers of two or more categories, or those of these names, in column order.

    Raises SanitizationError where there is none, and for a name that is no such attribute.
    """
    attributes = [schema[name] for name in schema.quasi_identifiers if not schema[name].numeric]
    found = [each for each in attributes if len(each.categories.values) > 1]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: no quasi-identifier of '{schema.dataset}' has two or more categories; they are "
            f"{', '.join(schema.quasi_identifiers)}. Choose a study with categories, or noise for numbers."
        )
    able = [each.name for each in found]
    if unknown := [name for name in names if name not in able]:
        raise SanitizationError(
            f"{sanitizer!r}: {', '.join(map(repr, unknown))} is no quasi-identifier of '{schema.dataset}' with two or "
            f"more categories; those are {', '.join(able)}."
        )
    return [each for each in found if not names or each.name in names]


def check_k(sanitizer: object, k: int, records: int) -> None:
    """Raise SanitizationError for a table of fewer than `k` records."""
    if k > records:
        raise SanitizationError(
            f"{sanitizer!r} cannot be reached: the table has {records} records. Lower k to {records} or less."
        )


def check_records(sanitizer: object, dataset: Microdata, least: int, why: str) -> None:
    """Raise SanitizationError for a table of fewer records than `least`; `why` it takes so many."""
    if len(dataset) < least:
        raise SanitizationError(
            f"{sanitizer!r} needs {least} records or more, {why}; '{dataset.name}' has {len(dataset)}. Give it a "
            "longer table or fewer attributes."
        )


def check_columns(sanitizer: object, schema: Schema, names: Sequence[str]) -> None:
    """Raise SanitizationError where a regression on these attributes has more than `MOST` columns: one for a number,
    one for each value of a category but the first.
    """
    widths = {name: 1 if schema[name].numeric else len(schema[name].categories.values) - 1 for name in names}
    if sum(widths.values()) > MOST:
        widest = max(widths, key=lambda name: widths[name])
        raise SanitizationError(
            f"{sanitizer!r} would regress on {sum(widths.values()):,} columns, at most {MOST:,}: one for each value of "
            f"a category, and '{widest}' has {widths[widest] + 1:,}. Give its public domain coarser values, or leave "
            "it out."
        )
