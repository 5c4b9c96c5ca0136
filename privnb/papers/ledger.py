"""The ledger: every number that the papers print, compared with the number that this package measures.

`published.csv` is written before any run and has one line per printed number. The columns of the file are `source,
item`; the place in the paper (`block` is a table, a figure or a section; `row` and `column` are the cell in the block;
`reading` distinguishes several measurements of one cell); `published, tolerance, unit`; the selector of the measurement
(`dataset, sanitizer, parameters` and the columns of `results.QUESTION_COLUMNS`); `obstacle` and `note`. The selector
finds the row of the tidy results with exactly these values. If no experiment measures the number, the selector is
empty, and `note` gives the reason. `published` is the printed string without thousands separators; if `unit` is `%`, a
measured fraction is compared in percent. `obstacle` explains why no reading of the paper that we know could give the
number. A row with an obstacle is `not reproducible` in every run, even if a measurement is close to the number by
chance. A second reading of a cell is a separate item with one of three endings: `/taxonomy` (education by taxonomy,
"C", instead of the default numeric range, "N5"), `/distinct` (each distinct released record counts once, instead of
each person) and `/weka` (the miners of the real Weka, instead of models of scikit-learn). The selector of a Weka row
has a miner such as "Weka trees.J48", or the set "Weka", without a version. The selector finds the results of any
version, and the note names the version. A selector with a single miner finds this miner in every set that contains the
miner.

Tolerances are absolute, in the unit of the printed number, and rounded down. A tolerance is never increased so that a
number passes. The tolerances are:

- 0 for numbers that data or arithmetic determine: record counts, domain sizes, baselines, gains on the intact and on
  the suppressed table, worked examples. Only the printed digits count.
- Sramka's Table 1, as a share of the printed count: 0.05% for naive Bayes on the original data (only the order and the
  folds can differ); 0.5% for the tree learners on the original data (those of scikit-learn differ from those of Weka)
  and for all cells under noise; 1% under k-anonymity, because the taxonomies are not published, and 2.5% in the second
  reading. A decline is computed from two cells; its tolerance is the sum of the tolerances of these cells, in
  percentage points.
- Sramka's Table 2: under noise, 1.5% of the printed count for scenario A, and half of the printed count (a factor of
  two) for scenario B; 0 for the other cells, whose spread is unknown. Table 3: 25% for accuracy gains, 9% for knowledge
  gains.
- The real Weka: 0.05% for naive Bayes and J48 on the original data, otherwise the tolerance of the scikit-learn
models.
  Under noise and for the forest, the tolerance was 1% in the past; it was changed because a number that was measured
  twice was `within` in one row and `differs` in the other.
- Brickell and Shmatikov: 0.15 percentage points for cross-validated accuracies, because this is the noise of the folds;
  0.006 and 0.013 for the accuracy and knowledge gains of sanitized tables, because variants of Mondrian differ by these
  amounts.
- Li and Li: one unit of the last digit for Q, because printed shares may be adjusted to sum to 1; half a unit for the
  `U_loss` of the trivial release; one unit for the end of an axis.

The shares were determined by re-running the papers with other tools before this package was written.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import isclose
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.evaluation.results import QUESTION_COLUMNS, REASONS, SETTING_COLUMNS, is_single_miner
from privnb.miners import SETS, weka
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

STATUSES = ("exact", "within", "differs", "not reproducible", "withheld", "not run", "out of scope")
PLACE = ("source", "item", "block", "row", "column", "reading")
MEASURED = ("measured", "lowest", "highest", "difference", "tolerance", "status", "note")
COLUMNS = (*PLACE, "published", "unit", *MEASURED)
SELECTOR = ["dataset", *SETTING_COLUMNS, *QUESTION_COLUMNS]
WHO = ["miner_set", "miner"]
CASE = [column for column in SELECTOR if column not in WHO]
PUBLISHED_COLUMNS = (*PLACE, "published", "tolerance", "unit", *SELECTOR, "obstacle", "note")
Cases = dict[Any, pd.DataFrame]
_MAIN = SETS["standard"]  # contains the set of Table 1; other miners have summaries of their own
_MAX_NAMES = 12  # a note counts more miners than these, instead of naming them
_WEKA = "Weka"  # the set of its miners, of any version
NEEDS_WEKA = "a number of this miner needs Weka 3.6: install Weka, and run privnb report -p PROFILE=full"


def read_published() -> pd.DataFrame:
    """Return the printed numbers as a frame of strings with the columns `PUBLISHED_COLUMNS`, one row per number."""
    return pd.read_csv(Path(__file__).with_name("published.csv"), dtype=str, keep_default_na=False)


def compare_with_published(results: pd.DataFrame, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the ledger: one row per printed number, in the order of `published` (default: `read_published()`).

    `results` are tidy results with at least the columns of `SELECTOR`, `seed` and `value`. Several seeds are averaged.
    A value is missing if it was withheld because it would reveal a count of few people; the row of a missing value is
    `withheld`. If the results have rows of single miners, the note of an average names its miners, the note of a worst
    result names the worst miner, and both notes name the Weka miners without a result. The note of a Weka row that was
    not measured names the command that measures the number.

    The frame has the columns `COLUMNS`. `published` is a string as printed. `measured`, `difference` (measured minus
    published; 0 is best) and `tolerance` are floats in the unit of the printed number. `measured` and `difference` are
    NaN if nothing was measured. These floats have 10 significant digits, so that every machine writes them in the same
    way. `lowest` and `highest` are the smallest and the largest value of several seeds, and NaN if there is one seed. A
    row without a selector is `out of scope`.

    Raises ValueError if a column is missing, if the results hold two values for one seed, or if they hold two versions
    of Weka.
    """
    published = read_published() if published is None else published
    rows = _rows(results)
    failed = rows["status"].isin(REASONS)
    asked = pd.MultiIndex.from_frame(rows[CASE]).isin(pd.MultiIndex.from_frame(published[CASE]))
    _check_versions(rows[asked | failed])
    cases = {case: group for case, group in rows[asked & ~failed].groupby(CASE, sort=False)}
    entries = published.to_dict("records")
    return pd.DataFrame([_row(entry, cases, rows[failed]) for entry in entries], columns=COLUMNS)


def have_same_digits(printed: str | Decimal, measured: float | Decimal) -> bool:
    """Return whether `measured`, rounded half up to the digits of the string `printed`, is equal to `printed`.

    A printed zero equals only a measured zero, because a zero has no significant digit to which a number can be
    rounded.

    >>> have_same_digits("0.1034", 0.1034452), have_same_digits("0.1034", 0.10345), have_same_digits("0", 0.0004)
    (True, False, False)
    """
    printed, measured = Decimal(printed), _round(measured)
    if printed and measured.is_finite():
        measured = measured.quantize(printed, ROUND_HALF_UP)
    return measured == printed


def _row(entry: dict[str, str], cases: Cases, failures: pd.DataFrame) -> dict[str, Any]:
    """Return the row of the ledger for one printed number, as a dict."""
    case = cases.get(tuple(entry[column] for column in CASE), failures.head(0))
    # Most numbers have no case, and comparing empty frames would take most of the time.
    found = case if case.empty else case[(case[WHO] == [entry[column] for column in WHO]).all(axis=1)]
    values = found["value"] * (100 if entry["unit"] == "%" else 1)
    value, tolerance, numbers = values.mean(skipna=False), float(entry["tolerance"]), {}
    status = "out of scope" if not entry["dataset"] else "not run" if found.empty else "withheld"
    if not pd.isna(value):
        difference = _round(value) - Decimal(entry["published"])
        numbers = {"measured": _round(value), "difference": difference}
        if len(values) > 1:
            numbers |= {"lowest": _round(values.min()), "highest": _round(values.max())}
        near = "within" if abs(float(difference)) <= tolerance else "differs"
        status = "exact" if have_same_digits(entry["published"], value) else near
    notes = entry["obstacle"], entry["note"], *_circumstances(entry, found, case, failures)
    return {
        **{column: entry[column] for column in (*PLACE, "published", "unit")},
        **{name: float(number) for name, number in numbers.items()},
        "tolerance": tolerance,
        "status": "not reproducible" if entry["obstacle"] else status,
        "note": "; ".join(filter(None, notes)),
    }


def _round(value: float | Decimal) -> Decimal:
    """Return a float as a decimal with 10 significant digits and at most 12 digits after the point.

    Further digits may differ between machines.
    """
    return Decimal(f"{round(float(value), 12) + 0.0:.10g}")


def _rows(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results as texts, with `seed`, `value` and `status`; rows of single miners have an empty `miner_set`.

    The version of Weka is in the column `version`, and the names of miners do not contain the version: "Weka
    trees.J48".
    """
    expect.table("results", results, [*SELECTOR, "seed", "value", "status"], "Pass the tidy results whole.")
    rows = results[[*SELECTOR, "status"]].astype(object).fillna("").astype(str)
    rows["miner_set"] = rows["miner_set"].mask(is_single_miner(rows), "")
    unversioned = [rows[column].map(weka.split_version) for column in WHO]
    rows["version"] = [of_set[0] or of_miner[0] for of_set, of_miner in zip(*unversioned, strict=True)]
    for column, pairs in zip(WHO, unversioned, strict=True):
        rows[column] = pairs.str[1]
    rows["seed"] = pd.to_numeric(results["seed"]).astype(str)  # 1 and 1.0 are one seed
    rows["value"] = results["value"].astype(float)
    rows = rows[rows["dataset"] != ""].drop_duplicates()
    if (repeated := rows.duplicated([*SELECTOR, "version", "seed"])).any():
        *setting, seed = rows.loc[repeated, [*SELECTOR, "seed"]].iloc[0]
        raise UsageError(
            f"the results hold two values for {', '.join(filter(None, setting))}, seed {seed}. "
            "Give each run a different seed, or drop one of the values."
        )
    return rows


def _check_versions(rows: pd.DataFrame) -> None:
    """Raise ValueError if the results of one case are from two versions of Weka."""
    for case, versions in rows[rows["version"] != ""].groupby(CASE, sort=False)["version"].unique().items():
        if len(versions) > 1:
            raise UsageError(
                f"the results come from Weka {' and '.join(sorted(versions))} for {', '.join(filter(None, case))}. "
                "Keep the results of one version."
            )


def _circumstances(entry: dict[str, str], found: pd.DataFrame, case: pd.DataFrame, failures: pd.DataFrame) -> list[str]:
    """Return notes on how a number was measured or why it was not measured; `found`: the rows of its results."""
    miner = entry["miner"]
    real = entry["miner_set"] == _WEKA or weka.is_weka(miner)
    failed = _failed(entry, failures) if real else {}
    if found.empty:
        if miner in failed:
            return [f"there is no result: {failed[miner]}"]
        return [NEEDS_WEKA] if real else []

    notes = [f"measured with Weka {found['version'].iloc[0]}"] if real else []
    if found["value"].isna().any():
        return [*notes, "withheld, because it would reveal a count of few people"]
    if len(found) > 1:
        notes.append(f"the mean of {len(found)} seeds")
    if miner not in ("average", "worst"):
        return notes
    own = case[(case["miner_set"] == "") & case["miner"].map(weka.is_weka if real else _MAIN.__contains__)]
    failed = {name: reason for name, reason in failed.items() if name not in set(own["miner"])}
    notes.append(_name_averaged(found, own, len(failed)) if miner == "average" else _name_worst(found, own))
    if failed:
        notes.append(
            "without " + ", ".join(f"{weka.strip_weka(name)} ({reason})" for name, reason in sorted(failed.items()))
        )
    return notes


def _name_averaged(average: pd.DataFrame, own: pd.DataFrame, failed: int) -> str:
    """Return a note on the miners of an average, or an empty text if the mean of `own` differs from this average."""
    means = own.groupby("miner")["value"].agg(lambda values: values.mean(skipna=False))
    if means.empty or not isclose(means.mean(skipna=False), average["value"].mean(), rel_tol=ROUNDING):
        return ""
    counted = f"{len(means)} of {len(means) + failed}" if failed else len(means)
    names = f": {', '.join(sorted(map(weka.strip_weka, means.index)))}" if len(means) <= _MAX_NAMES else ""
    return f"the average of {counted} miners{names}"


def _name_worst(worst: pd.DataFrame, own: pd.DataFrame) -> str:
    """Return a note on the miners with the worst result, or an empty text if no miner of `own` has this result."""
    attained = own.merge(worst[["seed", "value"]], on=["seed", "value"])["miner"]
    if attained.empty:
        return ""
    names = sorted({*attained.map(weka.strip_weka)})
    listed = ", ".join(names) if len(names) <= _MAX_NAMES else f"{len(names)} with equal results"
    return f"worst measured miner{'s' * (len(names) > 1)}: {listed}"


def _failed(entry: Mapping[str, str], failures: pd.DataFrame) -> dict[str, str]:
    """Return the status of each Weka miner without a result in a case: "unfinished", "unavailable" or "refused"."""
    settings = [[entry[column] for column in SETTING_COLUMNS]]
    if entry["measure"] == "utility_decline":
        settings.append(["Identity", ""])  # no decline without the original's utility
    of_setting = pd.MultiIndex.from_frame(failures[SETTING_COLUMNS]).isin(settings)
    here = failures[(failures["dataset"] == entry["dataset"]) & (failures["target"] == entry["target"]) & of_setting]
    return dict(zip(here["miner"], here["status"], strict=True))
