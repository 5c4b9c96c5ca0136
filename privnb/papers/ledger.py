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

Long, since the tolerances stand beside the code that keeps them.

The shares are those found by re-running the papers with other tools before this package was written.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import isclose, isfinite, nan
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.evaluation.results import QUESTION, REASONS, SETTING, of_one_miner
from privnb.miners import SETS, weka
from privnb.runtime.tolerances import ROUNDING

SOURCES = ("sramka-2010", "brickell-shmatikov-2008", "li-li-2009", "askari-2012", "aggarwal-yu-2008")
STATUSES = ("exact", "within", "differs", "not reproducible", "withheld", "not run", "out of scope")
PLACE = ("source", "item", "block", "row", "column", "reading")
MEASURED = ("measured", "lowest", "highest", "difference", "tolerance", "status", "note")
COLUMNS = (*PLACE, "published", "unit", *MEASURED)
SELECTOR = ("dataset", *SETTING, *QUESTION)
WHO = ("miner_set", "miner")
CASE = tuple(column for column in SELECTOR if column not in WHO)
PUBLISHED_COLUMNS = (*PLACE, "published", "tolerance", "unit", *SELECTOR, "obstacle", "note")
Who = tuple[str, ...]  # set and miner
Case = tuple[str, ...]  # as `CASE`
Cases = dict[Any, dict[Any, pd.DataFrame]]
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

    Raises ValueError if a column is missing, if `published` is not well-formed (an unknown source, an item twice,
    no number, ...), or if the results hold two values for one seed or two versions of Weka.
    """
    published = read_published() if published is None else published
    _check(published)
    cases = _by_case(results, published)
    return pd.DataFrame([_row(entry, cases) for entry in published.to_dict("records")], columns=COLUMNS)


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


def _row(entry: dict[str, str], cases: Cases) -> dict[str, Any]:
    """One row of the ledger from one printed number, both as dicts."""
    case, who = (tuple(entry[column] for column in columns) for columns in (CASE, WHO))
    found = cases.get(case, {}).get(who) if any(case) else None
    found = None if found is None or _has_reason(found) else found
    values = pd.Series(dtype=float) if found is None else found["value"] * (100 if entry["unit"] == "%" else 1)
    value = values.mean(skipna=False)
    measured = difference = lowest = highest = nan
    status = "out of scope" if not any(case) else "not run" if found is None else "withheld"
    if not pd.isna(value):
        settled = _settled(value)
        measured, difference = float(settled), float(settled - Decimal(entry["published"]))
        if len(values) > 1:
            lowest, highest = float(_settled(values.min())), float(_settled(values.max()))
        if same_digits(entry["published"], value):
            status = "exact"
        else:
            status = "within" if abs(difference) <= float(entry["tolerance"]) else "differs"

    return {
        **{column: entry[column] for column in (*PLACE, "published", "unit")},
        "measured": measured,
        "lowest": lowest,
        "highest": highest,
        "difference": difference,
        "tolerance": float(entry["tolerance"]),
        "status": "not reproducible" if entry["obstacle"] else status,
        "note": "; ".join(filter(None, [entry["obstacle"], entry["note"], *_circumstances(found, case, who, cases)])),
    }


def _settled(value: float | Decimal) -> Decimal:
    """A float as a decimal of 10 significant digits, at most 12 after the point: the rest is machine noise."""
    return Decimal(f"{round(float(value), 12) + 0.0:.10g}")


def _by_case(results: pd.DataFrame, published: pd.DataFrame) -> Cases:
    """The results as `{case: {(set, miner): frame of (version, seed, value, status)}}`.

    Cases are tuples in the order of `CASE`: those that are `published`, and those that say why there is no number.
    Single miners are of no set.

    A version of Weka stands in the frame instead of the miner's name, "Weka trees.J48".
    """
    needed = [*SELECTOR, "seed", "value", "status"]
    if missing := [column for column in needed if column not in results]:
        raise ValueError(
            f"the ledger needs results with the columns {', '.join(needed)}, but {', '.join(missing)} is missing. "
            "Pass the tidy results whole."
        )
    rows = results[[*SELECTOR, "status"]].astype(object).fillna("").astype(str)
    rows["miner_set"] = rows["miner_set"].mask(of_one_miner(rows), "")
    rows["version"] = ""
    for column in WHO:
        pairs = [weka.unversioned(name) for name in rows[column]]
        versions = pd.Series([version for version, _ in pairs], rows.index, dtype=object)
        rows["version"] = rows["version"].mask(rows["version"] == "", versions)
        rows[column] = [name for _, name in pairs]
    rows["seed"] = pd.to_numeric(results["seed"]).astype(str)  # 1 and 1.0 are one seed
    rows["value"] = results["value"].astype(float)
    rows = rows.drop_duplicates()
    if (repeated := rows.duplicated([*SELECTOR, "version", "seed"])).any():
        *setting, seed = rows.loc[repeated, [*SELECTOR, "seed"]].iloc[0]
        raise ValueError(
            f"the results hold two values for {', '.join(filter(None, setting))}, seed {seed}. "
            "Give each run a seed of its own, or drop one of them."
        )
    asked = pd.MultiIndex.from_frame(rows[list(CASE)]).isin(pd.MultiIndex.from_frame(published[list(CASE)]))
    cases: Cases = {}
    for case, group in rows[asked | rows["status"].isin(REASONS)].groupby(list(CASE), sort=False):
        if len(versions := sorted(set(group["version"]) - {""})) > 1:
            raise ValueError(
                f"the results hold Weka {' and '.join(versions)} for {', '.join(filter(None, case))}. "
                "Keep the results of one version."
            )
        by_miner = group.groupby(list(WHO), sort=False)[["version", "seed", "value", "status"]]
        cases[case] = {who: found for who, found in by_miner}
    return cases


def _circumstances(found: pd.DataFrame | None, case: Case, who: Who, cases: Cases) -> list[str]:
    """How a number was measured, or why it was not, as notes: what the results tell beside its value `found`."""
    miner_set, miner = who
    real = miner_set == _WEKA or weka.is_weka(miner)
    failed = _failed(case, cases) if real else {}
    if found is None:
        if miner in failed:
            return [f"no result: {failed[miner]}"]
        return ["needs the real Weka: privnb report -p PROFILE full"] if real else []

    notes = [f"measured with Weka {found['version'].iloc[0]}"] if real else []
    if found["value"].isna().any():
        return [*notes, "withheld: it would tell a count of few people"]
    if len(found) > 1:
        notes.append(f"mean over {len(found)} seeds")
    own = {name: group for (each, name), group in cases[case].items() if not each and not _has_reason(group)}
    members = {name: group for name, group in own.items() if (weka.is_weka(name) if real else name in _MAIN)}
    failed = {name: reason for name, reason in failed.items() if name not in members}
    if miner == "average":
        notes.append(_averaged(found, members, failed))
    elif miner == "worst":
        notes.append(_worst_miner(found, members))
    else:
        return notes
    if failed:
        notes.append("without " + ", ".join(f"{weka.bare(name)} ({reason})" for name, reason in sorted(failed.items())))
    return notes


def _averaged(average: pd.DataFrame, members: Mapping[str, pd.DataFrame], failed: Mapping[str, str]) -> str:
    """The miners whose results have this average, as a note; empty if theirs is another: it is not over them."""
    means = [group["value"].mean(skipna=False) for group in members.values()]
    if not means or not isclose(sum(means) / len(means), average["value"].mean(), rel_tol=ROUNDING):
        return ""
    counted = f"{len(means)} of {len(means) + len(failed)}" if failed else len(means)
    names = f": {', '.join(sorted(map(weka.bare, members)))}" if len(means) <= _NAMED else ""
    return f"average over {counted} miners{names}"


def _worst_miner(worst: pd.DataFrame, members: Mapping[str, pd.DataFrame]) -> str:
    """The miners whose own results attain a worst case, as a note; empty if none is known."""
    attained = set(worst[["seed", "value"]].itertuples(index=False, name=None))
    names = sorted(
        weka.bare(name)
        for name, group in members.items()
        if attained & set(group[["seed", "value"]].itertuples(index=False, name=None))
    )
    if not names:
        return ""
    return f"measured worst miner: {', '.join(names) if len(names) <= _NAMED else f'{len(names)} alike'}"


def _failed(case: Case, cases: Cases) -> dict[str, str]:
    """The Weka miners that have no result in a case, and why: `{name: "unfinished", "unavailable" or "refused"}`."""
    about = dict(zip(CASE, case, strict=True))
    settings = {tuple(about[column] for column in SETTING)}
    if about["measure"] == "utility_decline":
        settings.add(("Identity", ""))  # no decline without the original's utility
    return {
        miner: found["status"].iloc[0]
        for each, group in cases.items()
        for (_, miner), found in group.items()
        if (here := dict(zip(CASE, each, strict=True)))["dataset"] == about["dataset"]
        and here["target"] == about["target"]
        and tuple(here[column] for column in SETTING) in settings
        and _has_reason(found)
    }


def _has_reason(rows: pd.DataFrame) -> bool:
    """Whether these rows say why there is no number."""
    return rows["status"].isin(REASONS).all()


def _check(published: pd.DataFrame) -> None:
    """Refuse printed numbers that are not well-formed, naming the row."""
    if tuple(published.columns) != PUBLISHED_COLUMNS:
        raise ValueError(
            f"the printed numbers need the columns {', '.join(PUBLISHED_COLUMNS)}, "
            f"but have {', '.join(published.columns)}. Correct the header of published.csv."
        )
    often = Counter(zip(published["source"], published["item"], strict=True))
    for row in published.to_dict("records"):
        source, item, fault = row["source"], row["item"], ""
        if source not in SOURCES:
            fault = f"the source is unknown. Use one of {', '.join(SOURCES)}."
        elif often[source, item] > 1:
            fault = f"there are {often[source, item]} rows of this item. Keep one."
        elif not _is_number(row["published"]):
            fault = f"published is {row['published']!r}. Print the digits without thousands separators or unit."
        elif not (_is_number(row["tolerance"]) and float(row["tolerance"]) >= 0):
            fault = f"the tolerance is {row['tolerance']!r}. Use a number, 0 or more."
        elif row["unit"] not in ("", "%"):
            fault = f"the unit is {row['unit']!r}. Leave it empty or use %."
        elif any(row[name] for name in SELECTOR) and not all(row[name] for name in ("dataset", "sanitizer", "measure")):
            fault = "the selector is incomplete. Name dataset, sanitizer and measure, or leave all of it empty."
        if fault:
            raise ValueError(f"printed number {source} {item}: {fault}")


def _is_number(text: str) -> bool:
    """Whether a string is a finite decimal number."""
    try:
        return isfinite(float(text))
    except ValueError:
        return False
