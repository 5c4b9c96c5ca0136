"""The ledger: every printed number that the papers report, beside what this package measures.

`published.csv` is written before any run, one line a printed number: `source, item, published, tolerance, unit`,
the selector of its measurement (`dataset, sanitizer, parameters, measure, miner, target`: the row of the tidy
results with exactly these values; all empty where nothing measures it yet), `obstacle` and `note`. `published` is
the printed string without thousands separators; where `unit` is `%`, a measured fraction is compared in percent.
A filled `obstacle` says why no reading is known that could give the number: its row is `not reproducible` in every
run, also where a measurement comes near it by chance. A second reading of a cell has an item of its own: `/taxonomy`
(education by taxonomy, "C", beside the default numeric range, "N5") and `/distinct` (each distinct released record
counted once, beside persons).

Tolerances are absolute, in the unit of the printed number, rounded down, and never loosened to pass:

- 0 for what data or arithmetic determine: record counts, domain sizes, baselines, gains on the intact and on the
  suppressed table, worked examples. The printed digits alone decide.
- Sramka's Table 1, of the printed count: 0.05 % for naive Bayes on the original data (its model leaves nothing open
  but order and folds); 0.5 % for the tree learners there (scikit-learn's are not Weka's) and for all cells under
  noise; 1 % under k-anonymity, where the taxonomies are unpublished, and 2.5 % in the second reading. A decline may
  be off by the sum of the shares of the two cells that give it, in percentage points.
- Sramka's Table 2: under noise 1.5 % for scenario A and half of the printed count (inside a factor of two) for B;
  no spread is known for the other cells: 0. Table 3: 25 % for accuracy gains, 9 % for knowledge gains.
- Brickell and Shmatikov: 0.15 percentage points for cross-validated accuracies, the noise of the folds; 0.006 and
  0.013 for the accuracy and knowledge gains of sanitized tables, since variants of Mondrian scatter that far.
- Li and Li: one unit of the last digit for Q, since printed shares may be adjusted to sum to 1; half of one for the
  `U_loss` of the trivial release; one for the end of an axis.

The shares are those found by re-running the papers with other tools before this package was written.
"""

from decimal import ROUND_HALF_UP, Decimal
from math import isfinite, nan
from pathlib import Path

import pandas as pd

SOURCES = ("sramka-2010", "brickell-shmatikov-2008", "li-li-2009", "askari-2012", "aggarwal-yu-2008")
STATUSES = ("exact", "within", "differs", "not reproducible", "not run")
COLUMNS = ("source", "item", "published", "measured", "difference", "tolerance", "status", "note")
SELECTOR = ("dataset", "sanitizer", "parameters", "measure", "miner", "target")
PUBLISHED_COLUMNS = ("source", "item", "published", "tolerance", "unit", *SELECTOR, "obstacle", "note")


def read_published():
    """The printed numbers, as strings: a frame with the columns `PUBLISHED_COLUMNS`, one row each."""
    return pd.read_csv(Path(__file__).with_name("published.csv"), dtype=str, keep_default_na=False)


def compare(results, published=None):
    """The ledger: one row for each printed number, in the order of `published` (default: `read_published()`).

    `results` are tidy results with at least the columns of `SELECTOR`, `seed` and `value`. Several seeds are
    averaged. A missing value was withheld because it counts fewer than 10 people; it leaves its row `not run`.
    Where the miners have rows of their own, the note names the one that attains a worst case.

    Returns the columns `COLUMNS`. `published` is a string as printed; `measured`, `difference` (measured minus
    published, best at 0) and `tolerance` are floats in the unit of the printed number, NaN where nothing was
    measured, of 10 significant digits, so that they are written alike on every machine.

    Raises ValueError if a column is missing, if `published` is not well-formed (an unknown source, an item twice,
    no number, ...), or if the results hold two values for one seed.
    """
    published = read_published() if published is None else published
    _check(published)
    groups = _by_selector(results)
    return pd.DataFrame([_row(entry, groups) for entry in published.to_dict("records")], columns=COLUMNS)


def count_by_status(ledger):
    """How many rows of a ledger have each status: an integer Series over `STATUSES`, zeros included."""
    return ledger["status"].value_counts().reindex(STATUSES, fill_value=0)


def same_digits(printed, measured):
    """Whether `measured`, rounded half up to the digits of the string `printed`, equals every one of them.

    A printed zero is met by zero alone: without a digit, rounding says nothing.

    >>> same_digits("0.1034", 0.1034452), same_digits("0.1034", 0.10345), same_digits("0", 0.0004)
    (True, False, False)
    """
    printed, measured = Decimal(printed), _settled(measured)
    if printed and measured.is_finite():
        measured = measured.quantize(printed, ROUND_HALF_UP)
    return measured == printed


def _row(entry, groups):
    """One row of the ledger from one printed number, both as dicts."""
    key = tuple(entry[column] for column in SELECTOR)
    found = groups.get(key) if any(key) else None
    value = nan if found is None else found["value"].mean(skipna=False)
    value *= 100 if entry["unit"] == "%" else 1
    measured = difference = nan
    status = "not run"
    if not pd.isna(value):
        settled = _settled(value)
        measured, difference = float(settled), float(settled - Decimal(entry["published"]))
        if same_digits(entry["published"], value):
            status = "exact"
        else:
            status = "within" if abs(difference) <= float(entry["tolerance"]) else "differs"

    notes = [entry["obstacle"], entry["note"]]
    if found is not None and pd.isna(value):
        notes.append("withheld: fewer than 10 people")
    elif found is not None:
        notes.append(f"mean over {len(found)} seeds" if len(found) > 1 else "")
        notes.append(_worst_miner(key, groups))
    return {
        **{column: entry[column] for column in ("source", "item", "published")},
        "measured": measured,
        "difference": difference,
        "tolerance": float(entry["tolerance"]),
        "status": "not reproducible" if entry["obstacle"] else status,
        "note": "; ".join(filter(None, notes)),
    }


def _settled(value):
    """A float as a decimal of 10 significant digits, at most 12 after the point: the rest is machine noise."""
    return Decimal(f"{round(float(value), 12) + 0.0:.10g}")


def _by_selector(results):
    """A dict from selectors, tuples in the order of `SELECTOR`, to their results, frames of (seed, value)."""
    needed = [*SELECTOR, "seed", "value"]
    if missing := [column for column in needed if column not in results]:
        raise ValueError(
            f"the ledger needs results with the columns {', '.join(needed)}, but {', '.join(missing)} is missing. "
            "Pass the tidy results whole."
        )
    rows = results[list(SELECTOR)].astype(object).fillna("").astype(str)
    rows["seed"] = pd.to_numeric(results["seed"]).astype(str)  # 1 and 1.0 are one seed
    rows["value"] = results["value"].astype(float)
    rows = rows.drop_duplicates()
    if (repeated := rows.duplicated(needed[:-1])).any():
        *setting, seed = rows.loc[repeated, needed[:-1]].iloc[0]
        raise ValueError(
            f"the results hold two values for {', '.join(filter(None, setting))}, seed {seed}. "
            "Give each run a seed of its own, or drop one of them."
        )
    return {key: group[["seed", "value"]] for key, group in rows.groupby(list(SELECTOR), sort=False)}


def _worst_miner(key, groups):
    """The miners whose own results attain the worst case that `key` selects, as a note; empty if none is known."""
    *case, worst, target = key
    if worst != "worst":
        return ""
    reached = set(groups[key].itertuples(index=False, name=None))
    miners = []
    for (*other_case, miner, other_target), group in groups.items():
        if (other_case, other_target) == (case, target) and miner not in ("worst", "average", ""):
            if reached & set(group.itertuples(index=False, name=None)):
                miners.append(miner)
    return f"measured worst miner: {', '.join(sorted(miners))}" if miners else ""


def _check(published):
    """Refuse printed numbers that are not well-formed, naming the row."""
    if tuple(published.columns) != PUBLISHED_COLUMNS:
        raise ValueError(
            f"the printed numbers need the columns {', '.join(PUBLISHED_COLUMNS)}, "
            f"but have {', '.join(published.columns)}. Correct the header of published.csv."
        )
    for (source, item), rows in published.groupby(["source", "item"], sort=False):
        row, fault = rows.iloc[0], ""
        if source not in SOURCES:
            fault = f"the source is unknown. Use one of {', '.join(SOURCES)}."
        elif len(rows) > 1:
            fault = f"there are {len(rows)} rows of this item. Keep one."
        elif not _is_number(row["published"]):
            fault = f"published is {row['published']!r}. Print the digits without thousands separators or unit."
        elif not (_is_number(row["tolerance"]) and float(row["tolerance"]) >= 0):
            fault = f"the tolerance is {row['tolerance']!r}. Use a number, 0 or more."
        elif row["unit"] not in ("", "%"):
            fault = f"the unit is {row['unit']!r}. Leave it empty or use %."
        elif any(row[list(SELECTOR)]) and not all(row[["dataset", "sanitizer", "measure"]]):
            fault = "the selector is incomplete. Name dataset, sanitizer and measure, or leave all of it empty."
        if fault:
            raise ValueError(f"printed number {source} {item}: {fault}")


def _is_number(text):
    """Whether a string is a finite decimal number."""
    try:
        return isfinite(float(text))
    except ValueError:
        return False
