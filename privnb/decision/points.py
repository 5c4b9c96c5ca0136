"""Releases as points of privacy loss and utility loss, and the releases that another release dominates.

Privacy and utility cannot be compared with each other, but two releases can: a release dominates another release if it
is as good in both losses and better in one. Source: Li and Li, KDD 2009, section 4 (after Modern Portfolio Theory).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.reasons import BELOW, IS_ORIGINAL, PERHAPS_BELOW, UNSURE, LossComparison, Reason
from privnb.evaluation.combination_sizes import MinClassSize
from privnb.evaluation.results import (
    NUMBER_COLUMNS,
    SETTING_COLUMNS,
    Results,
    group_positions,
    name_settings,
    select_measured,
)
from privnb.measures.base import measure_facts
from privnb.measures.intervals import t_interval
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.validation import Validated, instead, optional, validated
from privnb.sanitizers.catalogue import reference_sanitizers

AXES = ("privacy", "utility")
SEEDS = 10  # fewer repeats do not show well enough what a random release loses
ENDS = ("", "_low", "_high", "_seeds", "_baseline", "_of", "_measure")
NUMBERED = [f"{axis}{end}" for axis in AXES for end in ENDS]
COLUMNS = [*SETTING_COLUMNS, "parameter", "bound", "setting", "kind", *NUMBERED, "status", "why", "refused"]
ORIGINAL, BARE = (type(each).__name__ for each in reference_sanitizers())


def check_points(name: str, value: object, columns: Sequence[str] = COLUMNS) -> None:
    """Raise TypeError unless `value` is a table, and ValueError unless the table has the required columns of points."""
    expect.table(name, value, columns, "`decision.points` gives one.")


Releases = Annotated[pd.DataFrame, check_points]
Settings = Annotated[pd.DataFrame, lambda name, value: check_points(name, value, SETTING_COLUMNS)]
MeasureName = Annotated[str, lambda name, value: expect.text(name, value, "a measure")]
TheOnly = Annotated[str | None, optional(instead(str, "None: the only one that there is."))]
Names = Annotated[
    Mapping[tuple[str, str], str], instead(Mapping, "Give what a person calls each (sanitizer, parameters).")
]


@dataclass(frozen=True)
class Loss(Validated):
    """The content of an axis: one measure of the results, as a loss, for which lower is better.

    Parameters
    ----------
    measure : str
    miner, target, scenario : str, optional
        The miner, the target and the scenario of the rows. If None, the only value in the results or, if there are
        several miners, the `worst` miner of the main set.
    best : float, optional
        For a measure of which higher values are better, the value from which the measure is subtracted to give a loss;
        if None, the best value of the given releases.
    variant : str
        The variant of the measure.
    """

    measure: MeasureName
    miner: TheOnly = None
    target: TheOnly = None
    best: Annotated[float | None, optional(expect.number)] = None
    scenario: TheOnly = None
    variant: str = ""

    def __str__(self) -> str:
        of = ", ".join(filter(None, (self.scenario, self.variant, self.miner, self.target)))
        return measure_facts(self.measure).phrase + (f" ({of})" if of else "")


def check_loss(axis: str, loss: object) -> None:
    """Raise TypeError unless `loss` is a `Loss` or a text; this check does not read the results."""
    expect.kind(axis, loss, Loss, str, instead="Give a Loss, or name a measure.")


AnyLoss = Annotated[Loss | str, check_loss]


@validated
def compute_points(
    results: Results,
    *,
    privacy: AnyLoss,
    utility: AnyLoss,
    names: Names | None = None,
    min_class_size: MinClassSize | None = None,
) -> pd.DataFrame:
    """Return the releases of `results` as points: two losses, and whether another release dominates the release.

    Releases whose intervals overlap may still differ. About one pair of equal releases in a hundred is wrongly
    distinguished. With a `min_class_size`, a release that may not be published is not compared with any other release,
    whatever its losses.

    Parameters
    ----------
    results : DataFrame
        Tidy results of one dataset.
    privacy, utility : Loss or str
        The content of the axes; a text names the measure.
    names : dict of (sanitizer, parameters) to str
        The name of each release for readers, instead of its sanitizer and main parameter.
    min_class_size : int, optional
        The minimum class size. A release may be chosen if, by its `smallest_combination` in the results, at least
        `min_class_size` people share every published combination of quasi-identifiers; the original may never be
        chosen. If None, releases are compared, but no release is chosen.

    Returns
    -------
    DataFrame
        One row per release, with the columns `COLUMNS`.

        - `privacy`, `utility`: the loss, a mean over seeds. The columns that end in `_low` and `_high` hold a 95%
          interval of the mean; the columns that end in `_of` hold the measure in words; the columns that end in
          `_measure` hold the name of the measure in results. Other columns end in `_seeds` and `_baseline`.
        - `kind`: "deterministic" if nothing is drawn and all seeds give the same numbers, which are then exact for this
          table; otherwise "randomised", because the release is drawn, or because the measure varies with folds or
          queries.
        - `status`, with its `Reason` in `why`. "efficient": no other release is known to dominate this release.
          "dominated": another release is as good in both losses and better in one; the numbers are compared exactly if
          both releases are deterministic, and otherwise by 95% intervals, which must not overlap. "undecided": the
          status is unknown, because intervals overlap, random numbers have fewer than 10 seeds, a number is missing or
          withheld (its bounds are compared), or a loss has only a lower bound (`high` is infinite). A release whose
          loss has only a lower bound may be dominated, but does not dominate any other release. All other undecided
          releases dominate another release only if the intervals show this. Equal releases do not dominate each other.
          "refused": the release may not be chosen.
        - `refused`: why the release may not be chosen; empty if the release may be chosen, and None if `min_class_size`
          is None.

    Raises
    ------
    ValueError
        If the results are of several datasets, or if they do not have the measure, miner or target.
    """
    if results.dataset.nunique() != 1:
        raise UsageError(
            f"a frontier must come from one dataset; got {', '.join(sorted(results.dataset.unique())) or 'no rows'}. "
            "Select one dataset, because releases of different tables cannot replace each other."
        )
    asked = {"privacy": privacy, "utility": utility}
    wanted = {axis: Loss(loss) if isinstance(loss, str) else loss for axis, loss in asked.items()}
    rows = {axis: _selected(results, loss) for axis, loss in wanted.items()}
    made = pd.concat(rows.values()).drop_duplicates(SETTING_COLUMNS).reset_index(drop=True)
    table = made[[*SETTING_COLUMNS, "parameter", "bound"]]
    for axis, selected in rows.items():
        table = table.merge(_losses(selected, wanted[axis].best, axis), on=SETTING_COLUMNS, how="left")
        table[f"{axis}_seeds"] = table[f"{axis}_seeds"].fillna(0).astype(int)
        table[f"{axis}_of"] = str(wanted[axis]) + (", below the best" if "higher" in set(selected.better) else "")
        table[f"{axis}_measure"] = wanted[axis].measure
    known_as = (
        [names[tuple(setting)] for setting in table[SETTING_COLUMNS].to_numpy()] if names else name_settings(made)
    )
    table.insert(4, "setting", known_as)
    random = made.randomized.astype(bool)
    for axis in AXES:
        low, high = table[f"{axis}_low"], table[f"{axis}_high"]
        drawn = measure_facts(wanted[axis].measure).varies
        varies = ~nearly_equal(low, high) if drawn else (low < high) & ~_from_below(table, axis)
        random = random | (varies & table[axis].notna())
    table.insert(5, "kind", np.where(random, "randomised", "deterministic"))
    table["refused"] = None if min_class_size is None else find_refusals(results, table, min_class_size)
    return table.assign(**_judged(table))[COLUMNS]


@validated
def find_refusals(results: Results, releases: Settings, min_class_size: MinClassSize) -> list[str]:
    """Return the kind of `Reason` why each release may not be chosen, whatever its losses; "" if it may be chosen.

    Parameters
    ----------
    results : DataFrame
        Tidy results with the measure `smallest_combination`.
    releases : DataFrame
        One row per release, with `sanitizer` and `parameters`.
    min_class_size : int
        The minimum class size.

    Returns
    -------
    list of str
        One text per row of `releases`.
    """
    sizes = results[results.measure == "smallest_combination"]
    least = dict(list(sizes.assign(low=sizes.value.fillna(sizes.low)).groupby(SETTING_COLUMNS)))
    found = []
    for setting in releases[SETTING_COLUMNS].itertuples(index=False, name=None):
        rows = least.get(setting)
        if setting[0] == ORIGINAL:
            found.append(IS_ORIGINAL)
        elif rows is None or rows.low.isna().any():
            found.append(UNSURE)
        elif rows.low.min() >= min_class_size:
            found.append("")
        else:
            found.append(BELOW if rows.value.fillna(rows.high).min() < min_class_size else PERHAPS_BELOW)
    return found


@validated
def from_best(results: Results, **axes: str) -> dict[str, Loss]:
    """Return each measure as a loss: how far a release falls below the best release of `results`.

    The losses of other results can then be compared with the losses of `results`. A measure for which lower is better
    does not change.

    Parameters
    ----------
    results : DataFrame
        Tidy results of the releases, among which is the best release.
    **axes : str
        A measure for each axis, `privacy` and `utility`.

    Returns
    -------
    dict of str to Loss
        The loss of each axis.
    """
    found = {}
    for axis, measure in axes.items():
        expect.text(axis, measure, "a measure")
        rows = _selected(results, Loss(measure))
        best = rows.groupby(SETTING_COLUMNS).value.mean().max() if rows.better.iloc[0] == "higher" else None
        found[axis] = Loss(measure, best=best)
    return found


def _selected(results: pd.DataFrame, loss: Loss) -> pd.DataFrame:
    """Return the rows of one measure, miner and target: one row per release and seed."""
    asked = (results.measure == loss.measure) & (results.control == "") & (results.variant == loss.variant)
    rows = select_measured(results[asked])
    if rows.empty:
        named = ", ".join(sorted(results.measure.unique())) or "no rows"
        raise UsageError(
            f"there is no measure '{loss.measure}' in these results, which have {named}. Name one of the measures that "
            "the results have."
        )
    usual = {"miner": "worst", "miner_set": ""}
    for column in ("scenario", "miner", "miner_set", "target"):
        there, wanted = list(dict.fromkeys(rows[column].fillna(""))), getattr(loss, column, None)
        if wanted is None and (len(there) == 1 or usual.get(column) in there):
            wanted = there[0] if len(there) == 1 else usual[column]
        if wanted not in there:
            named = ", ".join(map(repr, there))
            raise UsageError(
                f"'{loss.measure}' has rows for each {column} of {named}. Name one {column} with `Loss(..., "
                f"{column}=...)`."
            )
        rows = rows if len(there) == 1 else rows[rows[column].fillna("") == wanted]
    if not set(rows.better) <= {"lower"} and not set(rows.better) <= {"higher"}:
        raise UsageError(
            f"'{loss.measure}' has no better direction, so the measure cannot be a loss. Name another measure."
        )
    rows = rows.drop_duplicates([*SETTING_COLUMNS, "seed", "value", "low", "high"])
    twice = rows[rows.duplicated([*SETTING_COLUMNS, "seed"])]
    if len(twice):
        setting = " ".join(twice.iloc[0][SETTING_COLUMNS]).strip()
        raise UsageError(
            f"'{loss.measure}' has two numbers for {setting}, seed {twice.iloc[0].seed}. Join the results of each run "
            "only once."
        )
    return rows


def _losses(rows: pd.DataFrame, best: float | None, axis: str) -> pd.DataFrame:
    """Return one row per release: its loss with interval, seeds and baseline, in columns named after `axis`."""
    turned = rows.better.iloc[0] == "higher"
    if turned:
        best = rows.groupby(SETTING_COLUMNS).value.mean().max() if best is None else best
        columns = {"value": rows.value, "low": rows.high, "high": rows.low, "baseline": rows.baseline}
        rows = rows.assign(**{name: best - column for name, column in columns.items()})
    measure, found = measure_facts(rows.measure.iloc[0]), []
    columns = {name: rows[name].to_numpy() for name in (*SETTING_COLUMNS, "randomized", *NUMBER_COLUMNS)}
    # Student's t does not know the least possible number; a loss that counts down from the best may be below 0.
    least = -np.inf if turned else measure.bounds[0]
    for places in group_positions(rows, SETTING_COLUMNS):
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
        setting = (columns[name][places[0]] for name in SETTING_COLUMNS)
        found.append((*setting, value, low, high, len(values), base.mean() if len(base) else np.nan))
    ends = ("", "_low", "_high", "_seeds", "_baseline")
    return pd.DataFrame(found, columns=[*SETTING_COLUMNS, *(f"{axis}{end}" for end in ends)])


def _judged(table: pd.DataFrame) -> dict[str, Any]:
    """Return the `status` and the `why` of each release."""
    refused = table.refused.fillna("") != ""
    sure = are_comparable(table) & ~refused.to_numpy()
    beats = _beats(table, sure)
    means = {f"{axis}_low": table[axis] for axis in AXES}
    means |= {f"{axis}_high": table[axis].mask(_from_below(table, axis), np.inf) for axis in AXES}
    likely = _beats(table.assign(**means), sure)
    twins = np.logical_and.reduce([nearly_equal(table[a].to_numpy()[:, None], table[a].to_numpy()) for a in AXES])
    unsure = ~sure | table[list(AXES)].isna().any(axis=1) | likely.any(axis=0) | ~are_bounded(table)
    status = np.select([refused, beats.any(axis=0), unsure], ["refused", "dominated", "undecided"], "efficient")
    why: list[Reason] = []
    for i, row in enumerate(table.to_dict("records")):
        if status[i] == "refused":
            why.append(Reason(row["refused"]))
        elif status[i] == "dominated":
            by = np.flatnonzero(beats[:, i])
            # The release to publish instead is named, not a release that is dominated itself.
            first = min(by, key=lambda j: (("efficient", "undecided", "dominated").index(status[j]), table.utility[j]))
            less = [axis for axis in AXES if not nearly_equal(table[axis][first], table[axis][i])]
            why.append(LossComparison.of("dominated", by=table.setting[first], less=tuple(less), others=len(by) - 1))
        elif status[i] == "undecided":
            by = np.flatnonzero(likely[:, i])
            why.append(_unsure(row) or LossComparison.of("overlapping", by=table.setting[by[0]]))
        else:
            others = [table.setting[j] for j in np.flatnonzero(twins[i] & ~refused) if j != i]
            why.append(LossComparison.of("efficient", equal=tuple(others)))
    return {"status": status, "why": why}


def are_comparable(releases: pd.DataFrame) -> BoolArray:
    """Return, as a boolean array (n,), whether each release can be compared with other releases.

    Each of the two losses must have an exact number, bounds, or at least 10 repeats. A release whose loss has only a
    lower bound can be dominated but cannot dominate; see `are_bounded`.

    Parameters
    ----------
    releases : DataFrame
        One row per release, as `compute_points` returns them.

    Returns
    -------
    boolean array (n,)
    """
    check_points("releases", releases, ["kind", *(f"{axis}{end}" for axis in AXES for end in ENDS[1:4])])
    known = pd.Series(True, releases.index)
    for axis in AXES:
        low, high = releases[f"{axis}_low"], releases[f"{axis}_high"]
        enough = (releases.kind == "deterministic") | nearly_equal(low, high) | (releases[f"{axis}_seeds"] >= SEEDS)
        known &= low.notna() & high.notna() & enough
    return known.to_numpy()


def are_bounded(releases: pd.DataFrame) -> BoolArray:
    """Return, as a boolean array (n,), whether neither loss of a release has only a lower bound.

    An exact infinite loss counts as known.

    Parameters
    ----------
    releases : DataFrame
        One row per release, as `compute_points` returns them.

    Returns
    -------
    boolean array (n,)
    """
    return ~np.any([_from_below(releases, axis) for axis in AXES], axis=0)


def _from_below(releases: pd.DataFrame, axis: str) -> pd.Series:
    """Return, as a boolean Series, whether the loss of each release has only a lower bound."""
    return np.isposinf(releases[f"{axis}_high"]) & ~np.isposinf(releases[f"{axis}_low"])


def _beats(table: pd.DataFrame, sure: BoolArray) -> BoolArray:
    """Return, as a boolean array (releases, releases), whether each row's release dominates each column's release."""
    low, high = (table[[f"{axis}_{end}" for axis in AXES]].to_numpy() for end in ("low", "high"))
    as_good, better = beats(low, high)
    return as_good & better & sure[:, None] & sure


def beats(low: FloatArray, high: FloatArray) -> tuple[Any, Any]:
    """Compare each release with every other release by the intervals of their losses.

    Parameters
    ----------
    low, high : float array (n, axes)
        The ends of the intervals of losses, for which lower is better; a loss with equal ends is exact.

    Returns
    -------
    tuple of two boolean arrays (n, n)
        Whether the release of the row is as good as the release of the column on every axis, and whether the release of
        the row is better on at least one axis.
    """
    exact = nearly_equal(low, high)
    equal = exact[:, None] & exact & nearly_equal(low[:, None], low)
    less = (high[:, None] < low) & ~nearly_equal(high[:, None], low)
    return (less | equal).all(axis=2), less.any(axis=2)


def _unsure(row: Mapping[str, Any]) -> LossComparison | None:
    """Return why a release cannot be compared; None if it can be compared."""
    for axis in AXES:
        value, low, high, seeds, of = (row[f"{axis}{end}"] for end in ("", "_low", "_high", "_seeds", "_of"))
        if not seeds:
            return LossComparison.of("missing", loss=of)
        if pd.isna(value):
            return LossComparison.of("withheld", loss=of)
        if row["kind"] == "randomised" and low != high and seeds < SEEDS:
            return LossComparison.of("few_seeds", loss=of, seeds=int(seeds), needed=SEEDS)
        if np.isposinf(high) and not np.isposinf(low):
            return LossComparison.of("lower_bound", loss=of, least=float(value))
        if pd.isna(low):
            return LossComparison.of("infinite", loss=of)
    return None
