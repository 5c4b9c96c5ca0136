"""Columns as numbers, for sanitizers that change or model them."""

import numpy as np

from privnb.microdata.columns import plain
from privnb.runtime.names import name_list
from privnb.sanitizers.errors import SanitizationError

MOST = 1_000  # columns of a regression, whose time grows with their square


def numeric(sanitizer, schema):
    """The numeric quasi-identifiers, in column order. Raises SanitizationError where there is none."""
    found = [schema[name] for name in schema.quasi_identifiers if schema[name].numeric]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: no quasi-identifier of '{schema.dataset}' is numeric; they are "
            f"{name_list(schema.quasi_identifiers) or 'none'}. Choose a study with numbers, or another sanitizer."
        )
    return found


def numbered(sanitizer, schema, table, names):
    """The columns of a table as numbers: float array (n, d). A category is its place in its public domain, from 0.

    Raises SanitizationError, said of `sanitizer`, for a column that holds one value.
    """
    columns = []
    for name in names:
        domain, column = schema[name].domain, table[name]
        numeric = schema[name].numeric
        values = plain(domain.read(column)).to_numpy(float) if numeric else domain.codes(plain(column)).astype(float)
        if not np.ptp(values):
            raise SanitizationError(
                f"{sanitizer!r}: all records have one value of '{name}'; without variance it goes with nothing. Leave "
                "the attribute out."
            )
        columns.append(values)
    return np.column_stack(columns)


def check_columns(sanitizer, schema, names):
    """Raise SanitizationError where a regression on these attributes has more than `MOST` columns: one for a number,
    one for each value of a category but the first.
    """
    widths = {name: 1 if schema[name].numeric else len(schema[name].domain.values) - 1 for name in names}
    if sum(widths.values()) > MOST:
        widest = max(widths, key=widths.get)
        raise SanitizationError(
            f"{sanitizer!r} would regress on {sum(widths.values()):,} columns, at most {MOST:,}: one for each value of "
            f"a category, and '{widest}' has {widths[widest] + 1:,}. Give its public domain coarser values, or leave "
            "it out."
        )


def check_records(sanitizer, dataset, least, why):
    """Raise SanitizationError for a table of fewer records than `least`; `why` it takes so many."""
    if len(dataset) < least:
        raise SanitizationError(
            f"{sanitizer!r} needs {least} records or more, {why}; '{dataset.name}' has {len(dataset)}. Give it a "
            "longer table or fewer attributes."
        )
