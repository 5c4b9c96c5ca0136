"""The ledger: every printed number that the papers report, beside what this package measures.

`published.csv` is written before any run, one line a printed number: `source, item`, where the paper prints it
(`block, row, column`: a table, a figure or a section; `reading` tells apart the measurements of one cell),
`published, tolerance, unit`, the selector of its measurement (`dataset, sanitizer, parameters` and the columns of
`results.QUESTION`: the row of the tidy results with exactly these values; all empty where nothing measures it, and
`note` says why), `obstacle` and `note`. `published` is the printed string without thousands separators; where `unit`
is `%`, a measured fraction is compared in percent. A filled `obstacle` says why no reading is known that could give
the number: its row is `not reproducible` in every run, also where a measurement comes near it by chance. A second
reading of a cell has an item of its own: `/taxonomy` (education by taxonomy, "C", beside the default numeric range,
"N5"), `/distinct` (each distinct released record counted once, beside persons) and `/weka` (the real Weka's miners,
beside scikit-learn's stand-ins). The selector of a Weka row names no version, miner "Weka trees.J48" or set "Weka": it
finds the results of any, and the note says of which. A single miner is found in whichever set it stands.

Tolerances are absolute, in the unit of the printed number, rounded down, and never loosened to pass:

- 0 for what data or arithmetic determine: record counts, domain sizes, baselines, gains on the intact and on the
  suppressed table, worked examples. The printed digits alone decide.
- Sramka's Table 1, of the printed count: 0.05 % for naive Bayes on the original data (its model leaves nothing open
  but order and folds); 0.5 % for the tree learners there (scikit-learn's are not Weka's) and for all cells under
  noise; 1 % under k-anonymity, where the taxonomies are unpublished, and 2.5 % in the second reading. A decline may
  be off by the sum of the shares of the two cells that give it, in percentage points.
- Sramka's Table 2: under noise 1.5 % for scenario A and half of the printed count (inside a factor of two) for B;
  no spread is known for the other cells: 0. Table 3: 25 % for accuracy gains, 9 % for knowledge gains.
- The real Weka: 0.05 % for naive Bayes and J48 on the original data, and else as the stand-ins. Under noise and for
  the forest it was 1 % until a number measured twice was `within` in one row and `differs` in the other.
- Brickell and Shmatikov: 0.15 percentage points for cross-validated accuracies, the noise of the folds; 0.006 and
  0.013 for the accuracy and knowledge gains of sanitized tables, since variants of Mondrian scatter that far.
- Li and Li: one unit of the last digit for Q, since printed shares may be adjusted to sum to 1; half of one for the
  `U_loss` of the trivial release; one for the end of an axis.

The shares are those found by re-running the papers with other tools before this package was written.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import isclose
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.evaluation.results import QUESTION, REASONS, SETTING, of_one_miner
from privnb.miners import SETS, weka
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

STATUSES = ("exact", "within", "differs", "not reproducible", "withheld", "not run", "out of scope")
PLACE = ("source", "item", "block", "row", "column", "reading")
MEASURED = ("measured", "lowest", "highest", "difference", "tolerance", "status", "note")
COLUMNS = (*PLACE, "published", "unit", *MEASURED)
SELECTOR = ["dataset", *SETTING, *QUESTION]
WHO = ["miner_set", "miner"]
CASE = [column for column in SELECTOR if column not in WHO]
PUBLISHED_COLUMNS = (*PLACE, "published", "tolerance", "unit", *SELECTOR, "obstacle", "note")
Cases = dict[Any, pd.DataFrame]
_MAIN = SETS["five"]  # Table 1's set is part of it; miners beside these have summaries of their own
_NAMED = 12  # more miners than these are counted in a note, not named
_WEKA = "Weka"  # the set of its miners, of whichever version


def read_published() -> pd.DataFrame:
    """The printed numbers, as strings: a frame with the columns `PUBLISHED_COLUMNS`, one row each."""
    return pd.read_csv(Path(__file__).with_name("published.csv"), dtype=str, keep_default_na=False)


def compare(results: pd.DataFrame, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """The ledger: one row for each printed number, in the order of `published` (default: `read_published()`).

    `results` are tidy results with at least the columns of `SELECTOR`, `seed` and `value`. Several seeds are
    averaged. A missing value was withheld because it would tell a count of few people, and so is its row.
    Where the miners have rows of their own, the note names those that an average is over, the one that attains a worst
    case, and those of Weka's that gave no result. A Weka row that was not measured says what to run.

    Returns the columns `COLUMNS`. `published` is a string as printed; `measured`, `difference` (measured minus
    published, best at 0) and `tolerance` are floats in the unit of the printed number, NaN where nothing was
    measured, of 10 significant digits, so that they are written alike on every machine. `lowest` and `highest` are the
    least and the greatest of several seeds, NaN for one. A row without a selector is `out of scope`.

    Raises ValueError if a column is missing, or if the results hold two values for one seed or two versions of Weka.
    """
    published = read_published() if published is None else published
    rows = _rows(results)
    failed = rows["status"].isin(REASONS)
    asked = pd.MultiIndex.from_frame(rows[CASE]).isin(pd.MultiIndex.from_frame(published[CASE]))
    _check_versions(rows[asked | failed])
    cases = {case: group for case, group in rows[asked & ~failed].groupby(CASE, sort=False)}
    entries = published.to_dict("records")
    return pd.DataFrame([_row(entry, cases, rows[failed]) for entry in entries], columns=COLUMNS)


def same_digits(printed: str | Decimal, measured: float | Decimal) -> bool:
    """Whether `measured`, rounded half up to the digits of the string `printed`, equals every one of them.

    A printed zero is met by zero alone: without a digit, rounding says nothing.

    >>> same_digits("0.1034", 0.1034452), same_digits("0.1034", 0.10345), same_digits("0", 0.0004)
    (True, False, False)
    """
    printed, measured = Decimal(printed), _settled(measured)
    if printed and measured.is_finite():
        measured = measured.quantize(printed, ROUND_HALF_UP)
    return measured == printed


def _row(entry: dict[str, str], cases: Cases, failures: pd.DataFrame) -> dict[str, Any]:
    """One row of the ledger from one printed number, both as dicts."""
    case = cases.get(tuple(entry[column] for column in CASE), failures.head(0))
    # Most are of no case, and comparing nothing takes most of the time.
    found = case if case.empty else case[(case[WHO] == [entry[column] for column in WHO]).all(axis=1)]
    values = found["value"] * (100 if entry["unit"] == "%" else 1)
    value, tolerance, numbers = values.mean(skipna=False), float(entry["tolerance"]), {}
    status = "out of scope" if not entry["dataset"] else "not run" if found.empty else "withheld"
    if not pd.isna(value):
        difference = _settled(value) - Decimal(entry["published"])
        numbers = {"measured": _settled(value), "difference": difference}
        if len(values) > 1:
            numbers |= {"lowest": _settled(values.min()), "highest": _settled(values.max())}
        near = "within" if abs(float(difference)) <= tolerance else "differs"
        status = "exact" if same_digits(entry["published"], value) else near
    notes = entry["obstacle"], entry["note"], *_circumstances(entry, found, case, failures)
    return {
        **{column: entry[column] for column in (*PLACE, "published", "unit")},
        **{name: float(number) for name, number in numbers.items()},
        "tolerance": tolerance,
        "status": "not reproducible" if entry["obstacle"] else status,
        "note": "; ".join(filter(None, notes)),
    }


def _settled(value: float | Decimal) -> Decimal:
    """A float as a decimal of 10 significant digits, at most 12 after the point: the rest is machine noise."""
    return Decimal(f"{round(float(value), 12) + 0.0:.10g}")


def _rows(results: pd.DataFrame) -> pd.DataFrame:
    """The results as texts, with `seed`, `value` and `status`; single miners are of no set.

    The `version` of Weka stands in a column of its own, and not in its miners' names: "Weka trees.J48".
    """
    expect.table("results", results, [*SELECTOR, "seed", "value", "status"], "Pass the tidy results whole.")
    rows = results[[*SELECTOR, "status"]].astype(object).fillna("").astype(str)
    rows["miner_set"] = rows["miner_set"].mask(of_one_miner(rows), "")
    unversioned = [rows[column].map(weka.unversioned) for column in WHO]
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
            "Give each run a seed of its own, or drop one of them."
        )
    return rows


def _check_versions(rows: pd.DataFrame) -> None:
    """Refuse results of two versions of Weka in one case."""
    for case, versions in rows[rows["version"] != ""].groupby(CASE, sort=False)["version"].unique().items():
        if len(versions) > 1:
            raise UsageError(
                f"the results hold Weka {' and '.join(sorted(versions))} for {', '.join(filter(None, case))}. "
                "Keep the results of one version."
            )


def _circumstances(entry: dict[str, str], found: pd.DataFrame, case: pd.DataFrame, failures: pd.DataFrame) -> list[str]:
    """How a number was measured, or why it was not, as notes: what the results tell beside its value `found`."""
    miner = entry["miner"]
    real = entry["miner_set"] == _WEKA or weka.is_weka(miner)
    failed = _failed(entry, failures) if real else {}
    if found.empty:
        if miner in failed:
            return [f"no result: {failed[miner]}"]
        return ["needs the real Weka: privnb report -p PROFILE=full"] if real else []

    notes = [f"measured with Weka {found['version'].iloc[0]}"] if real else []
    if found["value"].isna().any():
        return [*notes, "withheld: it would tell a count of few people"]
    if len(found) > 1:
        notes.append(f"mean over {len(found)} seeds")
    if miner not in ("average", "worst"):
        return notes
    own = case[(case["miner_set"] == "") & case["miner"].map(weka.is_weka if real else _MAIN.__contains__)]
    failed = {name: reason for name, reason in failed.items() if name not in set(own["miner"])}
    notes.append(_averaged(found, own, len(failed)) if miner == "average" else _worst_miner(found, own))
    if failed:
        notes.append("without " + ", ".join(f"{weka.bare(name)} ({reason})" for name, reason in sorted(failed.items())))
    return notes


def _averaged(average: pd.DataFrame, own: pd.DataFrame, failed: int) -> str:
    """The miners whose results have this average, as a note; empty if theirs is another: it is not over them."""
    means = own.groupby("miner")["value"].agg(lambda values: values.mean(skipna=False))
    if means.empty or not isclose(means.mean(skipna=False), average["value"].mean(), rel_tol=ROUNDING):
        return ""
    counted = f"{len(means)} of {len(means) + failed}" if failed else len(means)
    names = f": {', '.join(sorted(map(weka.bare, means.index)))}" if len(means) <= _NAMED else ""
    return f"average over {counted} miners{names}"


def _worst_miner(worst: pd.DataFrame, own: pd.DataFrame) -> str:
    """The miners whose own results attain a worst case, as a note; empty if none is known."""
    attained = own.merge(worst[["seed", "value"]], on=["seed", "value"])["miner"]
    if attained.empty:
        return ""
    names = sorted({*attained.map(weka.bare)})
    return f"measured worst miner: {', '.join(names) if len(names) <= _NAMED else f'{len(names)} alike'}"


def _failed(entry: Mapping[str, str], failures: pd.DataFrame) -> dict[str, str]:
    """The Weka miners that have no result in a case, and why: `{name: "unfinished", "unavailable" or "refused"}`."""
    settings = [[entry[column] for column in SETTING]]
    if entry["measure"] == "utility_decline":
        settings.append(["Identity", ""])  # no decline without the original's utility
    of_setting = pd.MultiIndex.from_frame(failures[SETTING]).isin(settings)
    here = failures[(failures["dataset"] == entry["dataset"]) & (failures["target"] == entry["target"]) & of_setting]
    return dict(zip(here["miner"], here["status"], strict=True))
