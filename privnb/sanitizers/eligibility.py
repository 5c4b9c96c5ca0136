"""Checks that a table has the columns and records that a method needs; the errors state the fault and the cure."""

from __future__ import annotations

from collections.abc import Sequence

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.runtime.names import join_names
from privnb.sanitizers.errors import SanitizationError

MAX_REGRESSION_COLUMNS = 1_000  # the time of a regression grows with the square of this number


def require_quasi_identifiers(sanitizer: object, schema: Schema, verb: str) -> list[str]:
    """Return the names of the quasi-identifiers. Raises SanitizationError, with `verb`, if there are none."""
    if not schema.quasi_identifiers:
        raise SanitizationError(
            f"{sanitizer!r}: '{schema.dataset}' has no quasi-identifier to {verb}. Give at least one column the role "
            "'quasi-identifier'."
        )
    return schema.quasi_identifiers


def require_numeric(sanitizer: object, schema: Schema) -> list[Attribute]:
    """Return the numeric quasi-identifiers, in column order. Raises SanitizationError if there are none."""
    found = [schema[name] for name in schema.quasi_identifiers if schema[name].numeric]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: '{schema.dataset}' has no numeric quasi-identifier; it has "
            f"{join_names(schema.quasi_identifiers) or 'no quasi-identifier'}. Choose a study with a "
            "numeric quasi-identifier, or another sanitizer."
        )
    return found


def check_numeric(sanitizer: object, names: Sequence[str], attributes: Sequence[Attribute]) -> None:
    """Raise SanitizationError if one of `names` is not the name of one of the numeric `attributes`."""
    known = [attribute.name for attribute in attributes]
    if unknown := sorted({*names} - {*known}):
        raise SanitizationError(
            f"{sanitizer!r}: parameters must name numeric quasi-identifiers, which are {known}; got {unknown}."
        )


def require_categorical(sanitizer: object, schema: Schema, names: Sequence[str] = ()) -> list[Attribute]:
    """Return the quasi-identifiers with two or more categories, in column order; with `names`, return only these.

    Raises SanitizationError if there are no such attributes, or if one of `names` is another attribute.
    """
    attributes = [schema[name] for name in schema.quasi_identifiers if not schema[name].numeric]
    found = [each for each in attributes if len(each.categories.values) > 1]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: '{schema.dataset}' has no quasi-identifier with two or more categories; it has "
            f"{', '.join(schema.quasi_identifiers)}. Choose a study with categories, or noise for numbers."
        )
    able = [each.name for each in found]
    if unknown := [name for name in names if name not in able]:
        raise SanitizationError(
            f"{sanitizer!r}: parameters must name quasi-identifiers of '{schema.dataset}' with two or more categories, "
            f"which are {', '.join(able)}; got {', '.join(map(repr, unknown))}."
        )
    return [each for each in found if not names or each.name in names]


def check_records_for_k(sanitizer: object, k: int, records: int) -> None:
    """Raise SanitizationError if the table has fewer than `k` records."""
    if k > records:
        raise SanitizationError(
            f"{sanitizer!r} cannot be reached: the table has {records} records. Lower k to {records} or less."
        )


def check_records(sanitizer: object, dataset: Microdata, least: int, why: str) -> None:
    """Raise SanitizationError if the table has fewer than `least` records; `why` explains this minimum."""
    if len(dataset) < least:
        raise SanitizationError(
            f"{sanitizer!r} needs at least {least} records, {why}; '{dataset.name}' has {len(dataset)}. Try a longer "
            "table or fewer attributes."
        )


def check_regression_columns(sanitizer: object, schema: Schema, names: Sequence[str]) -> None:
    """Raise SanitizationError if a regression on these attributes has more than `MAX_REGRESSION_COLUMNS` columns.

    A numeric attribute takes one column; a categorical attribute takes one column for each value except the first.
    """
    widths = {name: 1 if schema[name].numeric else len(schema[name].categories.values) - 1 for name in names}
    if sum(widths.values()) > MAX_REGRESSION_COLUMNS:
        widest = max(widths, key=lambda name: widths[name])
        raise SanitizationError(
            f"{sanitizer!r} would regress on {sum(widths.values()):,} columns; at most {MAX_REGRESSION_COLUMNS:,} are "
            f"allowed, and the {widths[widest] + 1:,} values of '{widest}' take one column each. Give the domain of "
            "that "
            "column coarser values, or leave the column out."
        )
