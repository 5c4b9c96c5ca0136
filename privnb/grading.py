"""Grade a table by its equivalence classes: how alike its records are, and which level of each model it reaches."""

import numpy as np
import pandas as pd

from privnb.counts import class_value_counts, combinations
from privnb.hierarchy import SUPPRESSED
from privnb.privacy_models import KAnonymity
from privnb.schema import SchemaError

FEW = (2, 5, 10)  # class sizes below which people are counted
# The models that are graded: name, unit, what the level of the worst class means, and how to make the model for a
# sensitive column (None where it needs one and there is none). Any bound will do: a level does not depend on it.
MODELS = (
    ("k achieved", "people", "Nobody can be linked to fewer records than this.", lambda sensitive: KAnonymity(2)),
)


def grade(table, quasi_identifiers=None, sensitive=None):
    """Classes of equal quasi-identifiers in `table`, and the level of the worst: one row a number, with its meaning.

    `table`: DataFrame of n records; cells are compared as they are written, a missing one equals another.
    `quasi_identifiers`: what an adversary may know; None: every column but `sensitive`, the most cautious reading.
    `sensitive`: the column that nobody should learn.

    Returns a DataFrame with `measure`, `value`, `unit` ("share": 0 to 1) and `meaning`. Some values are counts of few
    people: for the owner's eyes, not for a report. Raises SchemaError for a column that is not there or stands in both
    roles, and for an empty table.
    """
    names = [name for name in table if name != sensitive] if quasi_identifiers is None else list(quasi_identifiers)
    absent = [name for name in [*names, sensitive] if name is not None and name not in table]
    if absent:
        raise SchemaError(f"the table has no column {absent}; it has {', '.join(map(str, table))}.")
    if sensitive in names:
        raise SchemaError(f"'{sensitive}' cannot be both sensitive and a quasi-identifier. Name it in one place.")
    if not names or table.empty:
        raise SchemaError(f"there is nothing to grade: {len(table)} records, {len(names)} quasi-identifiers.")

    classes = combinations(table[names])
    sizes = classes.multiplicities
    suppressed = int((table[names].astype(str) == SUPPRESSED).all(axis=1).sum())
    rows = [
        ("records", len(table), "people", "One row a person."),
        ("quasi-identifiers", len(names), "columns", f"What an adversary may know: {', '.join(map(str, names))}."),
        ("classes", len(sizes), "classes", "Groups of people whom these columns cannot tell apart."),
        ("smallest class", sizes.min(), "people", "So many share the rarest combination; 1 is a person on display."),
        ("median class", np.median(sizes), "people", "Half of the classes are this large or smaller."),
        ("largest class", sizes.max(), "people", "So many share the commonest combination."),
        ("suppressed", suppressed, "people", "Every quasi-identifier of theirs is *; together they are one class."),
    ]
    for few in FEW:
        meaning = "People who stand alone." if few == 2 else f"People who hide among fewer than {few}."
        rows.append((f"in classes below {few}", sizes[sizes < few].sum() / len(table), "share", meaning))
    # Without a sensitive column the sizes of classes are all that counts: every record has the same value.
    values = np.zeros(len(table)) if sensitive is None else table[sensitive]
    counts = class_value_counts(classes.index, values)
    for name, unit, meaning, make in MODELS:
        if (model := make(sensitive)) is not None:
            levels = model.level(counts, counts.sum(axis=0))
            rows.append((name, levels.min() if model.better == "higher" else levels.max(), unit, meaning))
    if sensitive is not None:
        alike = sizes[(counts > 0).sum(axis=1) == 1].sum() / len(table)
        rows.append(("one value a class", alike, "share", f"People whose class gives their '{sensitive}' away."))
    return pd.DataFrame(rows, columns=["measure", "value", "unit", "meaning"]).astype({"value": float})
