"""Releases as points, privacy loss beside utility loss, and which of them another release dominates.

Privacy and utility cannot be compared with each other, but two releases can: one is more efficient than another if it
is as good in both and better in one. Source: Li and Li, KDD 2009, section 4 (after Modern Portfolio Theory).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.evaluation.combinations import Floor
from privnb.evaluation.results import NUMBERS, SETTING, Results, measured, places_alike, setting_names
from privnb.measures.base import facts
from privnb.measures.intervals import t_interval
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.validation import Validated, instead, optional, validated
from privnb.sanitizers.catalogue import reference_sanitizers

AXES = ("privacy", "utility")
SEEDS = 10  # fewer repeats say too little about what a random release loses
ENDS = ("", "_low", "_high", "_seeds", "_baseline", "_of", "_measure")
NUMBERED = [f"{axis}{end}" for axis in AXES for end in ENDS]
COLUMNS = [*SETTING, "parameter", "bound", "setting", "kind", *NUMBERED, "status", "why", "refused"]
ORIGINAL, BARE = (type(each).__name__ for each in reference_sanitizers())
IS_ORIGINAL = "it publishes the data as they are"
UNSURE = "how many people share its rarest combination is not known"


def check_points(name: str, value: object, columns: Sequence[str] = COLUMNS) -> None:
    """Raise TypeError unless `value` is a table, and ValueError unless it has these of the columns of points."""
    expect.table(name, value, columns, "`decision.points` gives one.")


Releases = Annotated[pd.DataFrame, check_points]
Settings = Annotated[pd.DataFrame, lambda name, value: check_points(name, value, SETTING)]
MeasureName = Annotated[str, lambda name, value: expect.text(name, value, "a measure")]
TheOnly = Annotated[str | None, optional(instead(str, "None: the only one that there is."))]
Names = Annotated[
    Mapping[tuple[str, str], str], instead(Mapping, "Give what a person calls each (sanitizer, parameters).")
]


@dataclass(frozen=True)
class Loss(Validated):
    """What an axis shows: one measure of the results, as a loss: lower is better.

    Parameters
    ----------
    measure : str
    miner, target, scenario : str, optional
        Whose rows; None: the only one there is, of several miners the `worst` of the main set.
    best : float, optional
        What a measure of which higher is better counts down from; None: the best of the releases at hand.
    variant : str
        How it is measured.
    """

    measure: MeasureName
    miner: TheOnly = None
    target: TheOnly = None
    best: Annotated[float | None, optional(expect.number)] = None
    scenario: TheOnly = None
    variant: str = ""

    def __str__(self) -> str:
        of = ", ".join(filter(None, (self.scenario, self.variant, self.miner, self.target)))
        return facts(self.measure).phrase + (f" ({of})" if of else "")


def check_loss(axis: str, loss: object) -> None:
    """Raise TypeError unless `loss` is a `Loss` or text; whether the measure is there is for the results to say."""
    expect.kind(axis, loss, Loss, str, instead="Give a Loss, or name a measure.")


AnyLoss = Annotated[Loss | str, check_loss]


@validated
def points(
    results: Results,
    *,
    privacy: AnyLoss,
    utility: AnyLoss,
    names: Names | None = None,
    floor: Floor | None = None,
) -> pd.DataFrame:
    """The releases of `results` as points: two losses, and whether another release dominates them.

    Intervals that overlap may still differ; of two alike releases about one pair in a hundred is wrongly distinguished.
    With a `floor`, what may not be published whatever both losses say is compared with nothing.

    Parameters
    ----------
    results : DataFrame
        Tidy results of one dataset.
    privacy, utility : Loss or str
        What the axes show; a text names the measure.
    names : dict of (sanitizer, parameters) to str
        What a person calls each release, instead of sanitizer and main parameter.
    floor : int, optional
        A release may be chosen if so many people share every combination of quasi-identifiers as it is published, by
        its `smallest_combination` of the results; the original never. None: nobody chooses, releases are compared.

    Returns
    -------
    DataFrame
        One row per release, with the columns `COLUMNS`.

        - `privacy`, `utility`: the loss, a mean over seeds. With `_low` and `_high`: a 95% interval of the mean; with
          `_seeds` and `_baseline`; with `_of`: what it measures, in words; with `_measure`: its name in results.
        - `kind`: "deterministic" if nothing is drawn and all seeds give the same numbers, which are then exact for this
          table; else "randomised": the release is drawn, or what is measured varies with folds or queries.
        - `status`, with its reason in `why`: "efficient": nothing here is known to dominate it. "dominated": another
          release is as good in both losses and better in one, exactly so where both are deterministic, else with 95%
          intervals that do not overlap. "undecided": neither can be said, because intervals overlap, random numbers
          have fewer than 10 seeds, a number is missing or withheld (its bounds are compared), or a loss is known from
          below only (`high` is infinite). Such a release may be dominated and dominates none. Nor does another
          undecided one unless its intervals say so. Equal releases do not dominate each other. "refused": below the
          floor.
        - `refused`: why it may not be chosen; empty where it may, missing without a floor.

    Raises
    ------
    ValueError
        For results of several datasets, and for a measure, miner or target that is not there.
    """
    if results.dataset.nunique() != 1:
        raise UsageError(
            f"a frontier is of one dataset, got {', '.join(sorted(results.dataset.unique())) or 'no rows'}. Select "
            "one: releases of different tables cannot replace each other."
        )
    asked = {"privacy": privacy, "utility": utility}
    wanted = {axis: Loss(loss) if isinstance(loss, str) else loss for axis, loss in asked.items()}
    rows = {axis: _selected(results, loss) for axis, loss in wanted.items()}
    made = pd.concat(rows.values()).drop_duplicates(SETTING).reset_index(drop=True)
    table = made[[*SETTING, "parameter", "bound"]]
    for axis, selected in rows.items():
        table = table.merge(_losses(selected, wanted[axis].best, axis), on=SETTING, how="left")
        table[f"{axis}_seeds"] = table[f"{axis}_seeds"].fillna(0).astype(int)
        table[f"{axis}_of"] = str(wanted[axis]) + (", below the best" if "higher" in set(selected.better) else "")
        table[f"{axis}_measure"] = wanted[axis].measure
    known_as = [names[tuple(setting)] for setting in table[SETTING].to_numpy()] if names else setting_names(made)
    table.insert(4, "setting", known_as)
    random = made.randomized.astype(bool)
    for axis in AXES:
        low, high = table[f"{axis}_low"], table[f"{axis}_high"]
        drawn = facts(wanted[axis].measure).varies
        varies = ~nearly_equal(low, high) if drawn else (low < high) & ~_from_below(table, axis)
        random = random | (varies & table[axis].notna())
    table.insert(5, "kind", np.where(random, "randomised", "deterministic"))
    table["refused"] = None if floor is None else refused(results, table, floor)
    return table.assign(**_judged(table))[COLUMNS]


@validated
def refused(results: Results, releases: Settings, floor: Floor) -> list[str]:
    """Why each release may not be chosen, whatever its losses; empty where it may: a list.

    Parameters
    ----------
    results : DataFrame
        With `smallest_combination`.
    releases : DataFrame
        A row per release, with `sanitizer` and `parameters`.
    floor : int
    """
    sizes = results[results.measure == "smallest_combination"]
    least = dict(list(sizes.assign(low=sizes.value.fillna(sizes.low)).groupby(SETTING)))
    found = []
    for setting in releases[SETTING].itertuples(index=False, name=None):
        rows = least.get(setting)
        if setting[0] == ORIGINAL:
            found.append(IS_ORIGINAL)
        elif rows is None or rows.low.isna().any():
            found.append(UNSURE)
        elif rows.low.min() >= floor:
            found.append("")
        else:
            sure = rows.value.fillna(rows.high).min() < floor
            belongs = f"belongs to fewer than {floor} people" if sure else f"may belong to fewer than {floor} people"
            found.append(f"its rarest combination of quasi-identifiers {belongs}")
    return found


@validated
def from_best(results: Results, **axes: str) -> dict[str, Loss]:
    """The measures of `axes` (`privacy`, `utility`) as losses that count down from the best release of `results`.

    `{axis: Loss}`, so that other results can be compared with these. Of a measure of which lower is better nothing
    changes.
    """
    found = {}
    for axis, measure in axes.items():
        expect.text(axis, measure, "a measure")
        rows = _selected(results, Loss(measure))
        best = rows.groupby(SETTING).value.mean().max() if rows.better.iloc[0] == "higher" else None
        found[axis] = Loss(measure, best=best)
    return found


def _selected(results: pd.DataFrame, loss: Loss) -> pd.DataFrame:
    """The rows of one measure, miner and target: one per release and seed."""
    asked = (results.measure == loss.measure) & (results.control == "") & (results.variant == loss.variant)
    rows = measured(results[asked])
    if rows.empty:
        named = ", ".join(sorted(results.measure.unique())) or "no rows"
        raise UsageError(f"there is no measure '{loss.measure}' in these results, which have {named}.")
    usual = {"miner": "worst", "miner_set": ""}
    for column in ("scenario", "miner", "miner_set", "target"):
        there, wanted = list(dict.fromkeys(rows[column].fillna(""))), getattr(loss, column, None)
        if wanted is None and (len(there) == 1 or usual.get(column) in there):
            wanted = there[0] if len(there) == 1 else usual[column]
        if wanted not in there:
            named = ", ".join(map(repr, there))
            raise UsageError(f"'{loss.measure}' is there for each {column} of {named}: say which, Loss({column}=...).")
        rows = rows if len(there) == 1 else rows[rows[column].fillna("") == wanted]
    if not set(rows.better) <= {"lower"} and not set(rows.better) <= {"higher"}:
        raise UsageError(f"'{loss.measure}' says of no direction that it is better: it can be no loss.")
    rows = rows.drop_duplicates([*SETTING, "seed", "value", "low", "high"])
    twice = rows[rows.duplicated([*SETTING, "seed"])]
    if len(twice):
        setting = " ".join(twice.iloc[0][SETTING]).strip()
        raise UsageError(f"'{loss.measure}' has two numbers for {setting}, seed {twice.iloc[0].seed}: join runs once.")
    return rows


def _losses(rows: pd.DataFrame, best: float | None, axis: str) -> pd.DataFrame:
    """One row a release: its loss with interval, seeds and baseline; the columns are named by `axis`."""
    turned = rows.better.iloc[0] == "higher"
    if turned:
        best = rows.groupby(SETTING).value.mean().max() if best is None else best
        columns = {"value": rows.value, "low": rows.high, "high": rows.low, "baseline": rows.baseline}
        rows = rows.assign(**{name: best - column for name, column in columns.items()})
    measure, found = facts(rows.measure.iloc[0]), []
    columns = {name: rows[name].to_numpy() for name in (*SETTING, "randomized", *NUMBERS)}
    # Student's t does not know how low a number can be; what counts down from the best may be below 0.
    least = -np.inf if turned else measure.bounds[0]
    for places in places_alike(rows, SETTING):
        part = {name: column[places] for name, column in columns.items()}
        values, drawn = part["value"], part["randomized"].any()
        value, low, high = values.mean(), np.nan, np.nan
        if np.isnan(values).any():
            if not drawn:  # the bounds of a withheld number hold for this release, not for other noise
                shown = ~np.isnan(values)
                low = np.fmin.reduce(np.where(shown, values, part["low"]))
                high = np.fmax.reduce(np.where(shown, values, part["high"]))
        elif not drawn and nearly_equal(values, values[0]).all() and (len(values) > 1 or not measure.varies):
            value = low = high = values[0]
        else:
            low, high = t_interval(values.tolist())
            low = max(low, least)
        if np.isfinite(values).all() and np.isposinf(part["high"]).any():  # bounds from below bound no mean from above
            high = np.inf
        base = part["baseline"][~np.isnan(part["baseline"])]
        setting = (columns[name][places[0]] for name in SETTING)
        found.append((*setting, value, low, high, len(values), base.mean() if len(base) else np.nan))
    ends = ("", "_low", "_high", "_seeds", "_baseline")
    return pd.DataFrame(found, columns=[*SETTING, *(f"{axis}{end}" for end in ends)])


def _judged(table: pd.DataFrame) -> dict[str, Any]:
    """`status` and `why` of each release."""
    refused = table.refused.fillna("") != ""
    sure = comparable(table) & ~refused.to_numpy()
    beats = _beats(table, sure)
    means = {f"{axis}_low": table[axis] for axis in AXES}
    means |= {f"{axis}_high": table[axis].mask(_from_below(table, axis), np.inf) for axis in AXES}
    likely = _beats(table.assign(**means), sure)
    twins = np.logical_and.reduce([nearly_equal(table[a].to_numpy()[:, None], table[a].to_numpy()) for a in AXES])
    unsure = ~sure | table[list(AXES)].isna().any(axis=1) | likely.any(axis=0) | ~bounded(table)
    status = np.select([refused, beats.any(axis=0), unsure], ["refused", "dominated", "undecided"], "efficient")
    why = []
    for i, row in enumerate(table.to_dict("records")):
        if status[i] == "refused":
            why.append(row["refused"])
        elif status[i] == "dominated":
            by = np.flatnonzero(beats[:, i])
            # The one to publish instead, not one that is dominated itself.
            first = min(by, key=lambda j: (("efficient", "undecided", "dominated").index(status[j]), table.utility[j]))
            less = [axis for axis in AXES if not nearly_equal(table[axis][first], table[axis][i])]
            kept, lost = ("utility", "privacy") if less == ["privacy"] else ("privacy", "utility")
            how = "less of both" if len(less) == 2 else f"as much {kept} and less {lost}"
            more = f", and {len(by) - 1} more" if len(by) > 1 else ""
            why.append(f"{table.setting[first]} loses {how}{more}")
        elif status[i] == "undecided":
            by = np.flatnonzero(likely[:, i])
            why.append(_unsure(row) or f"on average {table.setting[by[0]]} loses less, but the intervals overlap")
        else:
            others = [table.setting[j] for j in np.flatnonzero(twins[i] & ~refused) if j != i]
            alike = f"; the same losses as {', '.join(others)}" if others else ""
            why.append(f"no release here is as good in both and better in one{alike}")
    return {"status": status, "why": why}


def comparable(releases: pd.DataFrame) -> BoolArray:
    """Which releases can be compared: exact numbers, bounds, or at least 10 repeats, of both losses. Array (n,).

    One that is known from below only can be dominated and nothing else; see `bounded`.
    """
    check_points("releases", releases, ["kind", *(f"{axis}{end}" for axis in AXES for end in ENDS[1:4])])
    known = pd.Series(True, releases.index)
    for axis in AXES:
        low, high = releases[f"{axis}_low"], releases[f"{axis}_high"]
        enough = (releases.kind == "deterministic") | nearly_equal(low, high) | (releases[f"{axis}_seeds"] >= SEEDS)
        known &= low.notna() & high.notna() & enough
    return known.to_numpy()


def bounded(releases: pd.DataFrame) -> BoolArray:
    """Which releases have no loss that is known from below only; an exact infinite loss is known. Array (n,)."""
    return ~np.any([_from_below(releases, axis) for axis in AXES], axis=0)


def _from_below(releases: pd.DataFrame, axis: str) -> pd.Series:
    """Where a loss has a lower bound alone: boolean Series."""
    return np.isposinf(releases[f"{axis}_high"]) & ~np.isposinf(releases[f"{axis}_low"])


def _beats(table: pd.DataFrame, sure: BoolArray) -> BoolArray:
    """Which release dominates which, by the intervals: boolean array (releases, releases)."""
    low, high = (table[[f"{axis}_{end}" for axis in AXES]].to_numpy() for end in ("low", "high"))
    as_good, better = beats(low, high)
    return as_good & better & sure[:, None] & sure


def beats(low: FloatArray, high: FloatArray) -> tuple[Any, Any]:
    """Which release is as good as which on every axis, and which is better on one, by intervals.

    Parameters
    ----------
    low, high : float array (n, axes)
        Of losses, of which lower is better; equal ends are exact.

    Returns
    -------
    tuple of two boolean arrays (n, n)
    """
    exact = nearly_equal(low, high)
    equal = exact[:, None] & exact & nearly_equal(low[:, None], low)
    less = (high[:, None] < low) & ~nearly_equal(high[:, None], low)
    return (less | equal).all(axis=2), less.any(axis=2)


def _unsure(row: Mapping[str, Any]) -> str:
    """Why a release cannot be compared, or nothing."""
    for axis in AXES:
        value, low, high, seeds, of = (row[f"{axis}{end}"] for end in ("", "_low", "_high", "_seeds", "_of"))
        if not seeds:
            return f"it has no {of}"
        if pd.isna(value):
            return f"its {of} is withheld"
        if row["kind"] == "randomised" and low != high and seeds < SEEDS:
            return f"its {of} is random and has {seeds} seed{'s' * (seeds > 1)} of at least {SEEDS}"
        if np.isposinf(high) and not np.isposinf(low):
            return f"what it loses is known from below only: its {of} is at least {value:.3g}"
        if pd.isna(low):
            return f"its {of} has no mean: it is infinite"
    return ""
