"""Findings about the losses of honest users, and about the release that the rule of Sramka et al. chooses."""

from typing import Any

import pandas as pd

from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, MinClassSize
from privnb.evaluation.results import Results, average_seeds, is_single_miner, name_setting
from privnb.measures.intervals import t_interval
from privnb.reporting.findings.numbers import number_of_row, to_json_number
from privnb.reporting.findings.rows import (
    WORST,
    name_choices,
    select_most_frequent,
    select_release,
    select_rows,
    select_sanitized,
)
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded


@validated
def utility_declines(results: Results) -> Worded:
    """Return the finding about the largest utility decline, and the declines of a guess and of noise.

    Noise is compared with a release without the attributes to which noise is added.

    Parameters
    ----------
    results : DataFrame
        Tidy results with the measures `utility_decline` and `good_utility`.
    """
    rows = average_seeds(results)
    mined = select_rows(select_sanitized(rows), "utility_decline")
    declines = mined.dropna(subset="value")
    single = declines[(declines.miner_set == "") & is_single_miner(declines)]
    worst = select_rows(declines, "utility_decline", miner="worst", miner_set="")
    tops = [part.loc[part.value.idxmax()] for _, part in worst.groupby("sanitizer", sort=False)]
    each = [number_of_row(row, miner=_loser(single, row)) for row in tops]
    largest = max(each, key=lambda top: top["value"], default=None)
    data = {
        "is_withheld": bool(len(mined)) and not each,
        "largest": largest,
        "by_sanitizer": each,
        "guess": _guess(rows, largest["miner"]) if largest else None,
        "noise": _compared_with_absence(select_rows(results, "utility_decline"), single) if largest else None,
    }
    return Worded("reporting/findings_utility_declines", data)


def _loser(single: pd.DataFrame, row: Any) -> str | None:
    """Return the miner that loses most in the setting of a row; None if the results do not show this miner."""
    same = select_release(single, row)
    return str(same.miner[same.value.idxmax()]) if len(same) else None


def _guess(rows: pd.DataFrame, miner: str | None) -> dict[str, Any]:
    """Return the decline from the accuracy of a miner on the original to a guess of the most common value.

    `better` states which miners are better than the guess: "this" miner, only "other" miners, "none", or "unknown".
    """
    original = select_rows(rows, "good_utility", sanitizer="Identity", miner_set="").dropna(
        subset=["value", "baseline"]
    )
    better = original[original.value > original.baseline]
    if original.empty or better.empty:
        return {"better": "unknown" if original.empty else "none", "lost": None}
    for able in better[better.miner == miner].itertuples():
        return {"better": "this", "lost": to_json_number(1 - able.baseline / able.value)}
    return {"better": "other", "lost": None}


def _compared_with_absence(rows: pd.DataFrame, single: pd.DataFrame) -> dict[str, Any] | None:
    """Return whether noise loses more than a release without the noisy attributes, and both losses."""
    rows = rows[rows.miner.isin(single.miner)]
    absent, noise = rows[rows.sanitizer == "Suppress"], rows[rows.parameter == "epsilon"]
    pairs = noise.merge(absent, on=["miner", "seed"], suffixes=("", "_absent"))
    apart = {_apart(pair) for _, pair in pairs.groupby(["sanitizer", "parameters", "miner"], sort=False)}
    if not apart:
        return None
    gone, every = average_seeds(absent), average_seeds(noise)
    noisy = every.dropna(subset="value")
    return {
        "most": number_of_row(noisy.loc[noisy.value.idxmax()]) if len(noisy) else None,
        "absent": {
            "setting": name_setting(gone.iloc[0]),
            "low": to_json_number(gone.value.min()),
            "high": to_json_number(gone.value.max()),
        },
        "some_withheld": len(noisy) < len(every),
        "differs": sorted(apart - {"same"}),
    }


def _apart(pair: pd.DataFrame) -> str:
    """Return whether noise loses "more", "less" or the "same".

    Several seeds are compared in pairs; for one seed, the intervals are compared.
    """
    row = pair.iloc[0]
    low, high = row.low - row.high_absent, row.high - row.low_absent
    if len(pair) > 1:
        low, high = t_interval((pair.value - pair.value_absent).tolist())
    return "more" if low > 0 else "less" if high < 0 else "same"


@validated
def owner_choice(chosen: Results, links: Results, min_class_size: MinClassSize = MIN_CLASS_SIZE) -> Worded:
    """Return the finding about the sanitizer that the paper's rule chooses in each scenario.

    The finding also has the criteria and seeds that agree with the choice, the distance of the other sanitizers, and
    the number of people who are re-identified in the chosen release.

    Parameters
    ----------
    chosen : DataFrame
        The results of `owner_choice.chosen`.
    links : DataFrame
        The rows `reidentification_rate` of `evaluation.measure_linkage`, and the rows of
        `evaluation.measure_combinations`.
    min_class_size : int
        The minimum number of people who must share each published combination of quasi-identifiers.
    """
    chosen, links = name_choices(chosen), average_seeds(links)
    picks: dict[str, Any] = {}
    scenarios: list[dict[str, Any]] = []
    for feared, part in select_most_frequent(select_rows(chosen, "chosen")).groupby("scenario", sort=False):
        first = part.set_index("criterion", drop=False)
        if WORST in first.index:
            picks[feared] = first.loc[WORST]
            scenarios.append(_chosen(feared, first, select_rows(chosen, "excess_over_choice", scenario=feared)))
        else:
            scenarios.append({"scenario": feared, "setting": None})
    rows = {name_setting(row): row for row in picks.values()}
    rates = select_rows(links, "reidentification_rate")
    data = {
        "scenarios": scenarios,
        "choices": [*rows],
        "linkable": [
            each for row in rows.values() for each in _linkable(select_release(links, row), rates, min_class_size)
        ],
        "min_class_size": int(min_class_size),
    }
    return Worded("reporting/findings_owner_choice", data)


def _linkable(here: pd.DataFrame, rates: pd.DataFrame, min_class_size: int) -> list[dict[str, Any]]:
    """Return how many people an attack by nearest neighbors re-identifies in the chosen release.

    The paper's rule does not consider this risk, because it considers only predictions.
    """
    smallest, original = select_rows(here, "smallest_combination"), rates[rates.sanitizer == "Identity"]
    compared = {
        "original": number_of_row(original.iloc[0]) if len(original) else None,
        "rarest": number_of_row(smallest.iloc[0]) if len(smallest) else None,
        "is_too_rare": not (smallest.value.fillna(smallest.low) >= min_class_size).all(),
    }
    return [number_of_row(each, **compared) for _, each in select_rows(here, "reidentification_rate").iterrows()]


def _chosen(feared: str, first: pd.DataFrame, others: pd.DataFrame) -> dict[str, Any]:
    """Return the choice by the worst miner in one scenario, the criteria that agree, and the next-best settings.

    Parameters
    ----------
    feared : str
        The scenario.
    first : DataFrame
        For each criterion, the setting that the criterion chooses most often.
    others : DataFrame
        The settings that were not chosen.
    """
    row = first.loc[WORST]
    away: dict[str, list[str]] = {}
    for each in first.drop(WORST).itertuples():
        away.setdefault(name_setting(each), []).append(each.criterion)
    pick = name_setting(row)
    agree = len(away.pop(pick, []))
    known, few = others.dropna(subset="value"), others[others.value.isna()]
    tied = known.low.fillna(known.value) <= ROUNDING  # one seed has no interval
    # It counts people, but in scenario W, where the owner may have weighted them.
    format = "{:,.1f}" if feared == "W" else "{:,.0f} people"
    return {
        "scenario": feared,
        "setting": pick,
        "seeds": to_json_number(row.value),
        "is_one_seed": bool(len(known) > 0 and known.low.isna().all()),  # a withheld margin has no interval either
        "agree": agree,
        "criteria": len(first) - 1,
        "instead": [{"setting": setting, "criteria": criteria} for setting, criteria in away.items()],
        "tied": [name_setting(each) for each in known[tied].itertuples()],
        "withheld": [name_setting(each) for each in few.itertuples()],
        "others": len(others),
        "next": [number_of_row(best, format=format) for _, best in known[~tied].nsmallest(1, "value").iterrows()],
    }
