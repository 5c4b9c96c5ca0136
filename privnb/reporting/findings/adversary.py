"""Findings about the people whom an attack reaches, those whom a control reaches, and the effect of predictions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING_COLUMNS, Results, average_seeds, name_setting, select_measured
from privnb.measures.intervals import student_interval
from privnb.reporting.findings.numbers import make_number, number_of_row, to_json_number
from privnb.reporting.findings.rows import select_release, select_rows, select_sanitized
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded

GUESS = "guess"
CONTROLS = ("ZeroR", "permuted")  # one answer for everybody; the miners' guesses, permuted at random
CHANCE = 1 / 40  # of comparisons lie by chance above all draws
READINGS = ("with predictions", "with all predictions")


@validated
def adversary_gains(results: Results) -> Worded:
    """Return the finding about the largest number of people whom a miner reaches, and its excess over the controls.

    The finding also has the number of people whom an attack by nearest neighbors reaches.

    Parameters
    ----------
    results : DataFrame
        The results of `users_and_adversaries.evaluate_adversaries` and of `evaluation.measure_linkage`.
    """
    runs = select_rows(results, "anti_utility", scenario="A", variant="")
    rows = average_seeds(runs)
    worst = main_set(rows, "worst").groupby("sanitizer", sort=False)
    # The gain is counted beyond the guess: if the guess reaches most people, a miner may still gain least.
    beyond = [(part.value.fillna(part.high) - part.baseline.fillna(0)).fillna(-np.inf) for _, part in worst]
    tops = [rows.loc[each.idxmax()] for each in beyond]
    links = select_sanitized(average_seeds(select_rows(results, "reidentification_rate"))).dropna(subset="value")
    linked = [number_of_row(row) for _, row in links.nlargest(len(links), "value").iterrows()]
    compared = [_compared(top, select_release(rows, top), select_release(runs, top)) for top in tops]
    miner = _largest_gain([(top, *_strongest(top, select_release(rows, top))) for top in tops])
    most = linked[0] if linked else None
    neighbour = next((each for each in linked if miner and each["setting"] == miner["setting"]), most)
    data = {
        "miner": miner,
        "neighbour": neighbour,  # in the miner's release, if it is known there
        "most_linked": None if most is neighbour else most,
        "compared": [each for each in compared if each is not None],
    }
    return Worded("reporting/findings_adversary_gains", data)


def main_set(rows: pd.DataFrame, miner: str = "", control: str = "") -> pd.DataFrame:
    """Return the rows of one miner, or of one control, of the main set of miners."""
    return rows[(rows.miner_set == "") & (rows.miner == miner) & (rows.control == control)]


def beyond_controls(nearer: pd.DataFrame) -> pd.DataFrame:
    """Return, for the worst miner, the strongest control (`strongest`) and the excess over this control (`beyond`).

    The result has one row per setting. A setting is left out if the number of the worst miner is withheld. A control is
    left out if one of its numbers is withheld.

    Parameters
    ----------
    nearer : DataFrame
        The rows of one scenario, averaged over seeds.
    """
    worst, controls = _controls(nearer, SETTING_COLUMNS)
    known, wide = worst[worst.value.notna()], pd.DataFrame(controls).dropna(axis=1)
    if wide.empty or known.empty:
        return known.assign(strongest="", beyond=0.0).iloc[:0]
    wide = wide.reindex(known.index)
    return known.assign(strongest=wide.idxmax(axis=1), beyond=known.value - wide.max(axis=1))


def _controls(rows: pd.DataFrame, keys: str | list[str]) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Return the rows of the worst miner by `keys`, and the numbers of the controls by `keys`, `{control: Series}`."""
    worst = main_set(rows, "worst").set_index(keys)
    drawn = {name: main_set(rows, control=name).set_index(keys).value for name in CONTROLS}
    return worst, {GUESS: worst.baseline} | {name: each for name, each in drawn.items() if len(each)}


def _strongest(top: Any, here: pd.DataFrame) -> tuple[str, float]:
    """Return the control that reaches the most people in a setting, and their number; without a control, the guess."""
    beyond = beyond_controls(here)
    if beyond.empty:
        return GUESS, top.baseline
    return beyond.strongest.iloc[0], top.value - beyond.beyond.iloc[0]


def _largest_gain(tops: list[tuple[Any, str, float]]) -> dict[str, Any] | None:
    """Return the setting in which the worst miner exceeds its strongest control the most; ignore withheld numbers.

    Parameters
    ----------
    tops : list of (Series, str, float)
        For each setting, the row of the worst miner, the name of the strongest control, and the number of people whom
        this control reaches.
    """
    if not tops:
        return None
    row, name, most = max(tops, key=lambda top: (pd.notna(top[0].value), top[0].value - np.nan_to_num(top[2])))
    return number_of_row(row, baseline=to_json_number(most), control=name, excess=to_json_number(row.value - most))


def _compared(top: Any, here: pd.DataFrame, runs: pd.DataFrame) -> dict[str, Any] | None:
    """Return by how many people the worst miner exceeds its strongest control.

    The entry `unseen` is the excess over the same miner if the people's own rows are held out.
    """
    beyond = beyond_controls(here)
    if beyond.empty:
        return None
    strongest, (worst, controls) = beyond.strongest.iloc[0], _controls(runs, "seed")
    held_out = main_set(runs, control="held-out").set_index("seed").value
    unseen = None
    if len(held_out) and held_out.notna().all():
        unseen = _difference(top, worst.value - held_out) | {"reached": float(held_out.mean())}
    excess = _difference(top, worst.value - controls[strongest])
    return {"setting": name_setting(top), "control": strongest, "excess": excess, "unseen": unseen}


def _difference(top: Any, differences: pd.Series) -> dict[str, Any]:
    """Return the mean of the differences between two numbers of people, and whether the mean is shown to be positive.

    There is one difference per seed. The interval by Student's t is limited to the number of people, which a difference
    cannot exceed. For a single seed, there is no interval, because the two numbers concern the same people, and the
    results do not contain their joint distribution. If several seeds have the same difference, there is also no
    interval, because its width would be 0.
    """
    most, values = np.nan_to_num(top.of, nan=np.inf), differences.to_numpy()
    are_equal = bool(nearly_equal(values, values[0]).all())
    low, high = (np.nan, np.nan) if are_equal else np.clip(student_interval(values.tolist()), -most, most)
    is_positive = bool(differences.min() > 0 if pd.isna(low) else low > 0)
    told = {"seeds": len(differences), "are_equal": are_equal, "is_positive": is_positive}
    return make_number(differences.mean(), low, high, "{:+,.0f} people", **told)


def subgroups(rows: pd.DataFrame) -> dict[str, Any] | None:
    """Return the two groups whose shares of people hit by the worst miner differ most.

    Only groups whose 95% intervals do not overlap are compared.

    If the share of a group is withheld, the upper bound of the share is compared.

    Parameters
    ----------
    rows : DataFrame
        The rows of the measure `nearer_share`, one per group and release.

    Returns
    -------
    dict or None
        The number of the group with the larger share, including the number of the `other` group; None if all intervals
        overlap.
    """
    rows = rows.assign(at=rows.value.fillna(rows.high))
    pairs = rows.dropna(subset="value").merge(rows.dropna(subset="at"), on=SETTING_COLUMNS, suffixes=("", "_less"))
    pairs = pairs[pairs.low > pairs.high_less]
    if pairs.empty:
        return None
    pair = pairs.loc[(pairs.value - pairs.at_less).idxmax()]
    other = {"group": pair.group_less, "value": to_json_number(pair.value_less), "high": to_json_number(pair.at_less)}
    return number_of_row(pair, format="{:%}", group=pair.group, other=other)


@validated
def mined_predictions(results: Results) -> Worded:
    """Return the finding whether the worst miner's predictions add more to adversaries' gains than random labels."""
    gains = select_measured(results[results.measure.isin(["accuracy_gain", "knowledge_gain"])])
    return Worded("reporting/findings_mined_predictions", {"readings": [*_readings(gains)]})


def _readings(gains: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for variant in READINGS:
        rows = gains[gains.variant == variant]
        mined, drawn = rows[rows.control == ""], rows[rows.control != ""]
        both = mined.merge(
            drawn, on=[*SETTING_COLUMNS, "seed", "measure", "miner_set", "target"], suffixes=("", "_drawn")
        )
        both = both.dropna(subset=["value", "low_drawn", "high_drawn"])
        if len(both):
            above, below = both.value > both.high_drawn + ROUNDING, both.value < both.low_drawn - ROUNDING
            numbers = {"comparisons": len(both), "above": int(above.sum()), "below": int(below.sum())}
            by_chance = {"by_chance": len(both) * CHANCE, "verdict": _verdict(above.mean())}
            yield {"predictions": variant, **numbers, **by_chance}


def _verdict(above: Any) -> str:
    """Return in how many comparisons predictions do more than random labels: "more" for most of them, "few" or "none".

    By chance, one in forty comparisons would be above all draws on average. Because several comparisons have the same
    releases and miners, the distribution of this number is not known.
    """
    return "more" if above > 1 / 2 else "few" if above > CHANCE else "none"
