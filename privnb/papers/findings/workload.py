"""Findings on the claim of Brickell and Shmatikov that even modest privacy destroys almost all utility."""

from typing import Any

import pandas as pd

from privnb.evaluation.results import SETTING_COLUMNS, Results, average_seeds, name_setting
from privnb.measures import measure_facts
from privnb.reporting.findings.numbers import make_number
from privnb.reporting.findings.rows import ENDS, select_rows
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded

Part = dict[str, Any]  # plain values


def average_gains(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gains over seeds of each adversary and researcher, except gains from partly suppressed tables."""
    rows = average_seeds(results[results.measure.isin(["accuracy_gain", "workload_gain"])])
    return rows[(rows.sanitizer != "Suppress") | (rows.parameters == "")]


def join_sides(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gains of adversary and researcher over all seeds, one row per data set, workload and release.

    The column `adversary` is the gain from `best_adversary`, and `chance` is the gain of the same adversary if the
    sensitive values are permuted at random in the same classes. The columns `gain`, `low`, `high` and `miner` describe
    the researcher's best miner. A number that is missing in the results is NaN.
    """
    rows, keys = average_gains(results), ["dataset", *SETTING_COLUMNS, "parameter", "bound"]
    adversary = best_adversary(rows).rename(columns={"value": "adversary", "baseline": "chance"})
    researcher = select_rows(rows, "workload_gain").sort_values("value", ascending=False, kind="stable")
    researcher = researcher.drop_duplicates([*keys, "target"]).rename(columns={"value": "gain"})
    asked = select_rows(rows, "workload_gain")[["dataset", "target"]].drop_duplicates()
    wide = rows[keys].drop_duplicates().merge(asked, on="dataset")
    wide = wide.merge(adversary[[*keys, "adversary", "chance"]], on=keys, how="left")
    wide = wide.merge(researcher[[*keys, "target", "gain", "low", "high", "miner"]], on=[*keys, "target"], how="left")
    return wide.assign(setting=[name_setting(row) for row in wide.itertuples()])


def best_adversary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row of `accuracy_gain` per release: the exact gain or, under noise, the gain of the best miner."""
    best = select_rows(rows, "accuracy_gain").sort_values("value", ascending=False, kind="stable")
    best = best.sort_values("miner", key=lambda miner: miner != "", kind="stable")
    return best.drop_duplicates(["dataset", *SETTING_COLUMNS]).sort_index()


def select_sanitized_sides(sides: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `join_sides` that have both gains and are not reference releases, and add `more` and `less`.

    `more`: whether the adversary's gain is above the whole interval of the researcher's gain, above 0, and above the
    gain by chance. `less`: whether the whole interval of the researcher's gain is above the adversary's gain and above
    0.
    """
    rows = sides[~sides.sanitizer.isin(ENDS)].dropna(subset=["gain", "adversary"])
    more = (rows.adversary > rows.chance.fillna(0).clip(lower=0)) & (rows.adversary > rows.high)
    return rows.assign(more=more, less=rows.low > rows.adversary.clip(lower=0))


def ahead(sides: pd.DataFrame) -> Part:
    """Return the number of comparisons, and the numbers of those in which the adversary gains more and gains less.

    A comparison is of one release and one workload. The keys are `comparisons`, `more` and `less`.

    Parameters
    ----------
    sides : DataFrame
        The table of `join_sides`.
    """
    known = select_sanitized_sides(sides)
    return {"more": int(known.more.sum()), "less": int(known.less.sum()), "comparisons": len(known)}


@validated
def adversary_and_researcher(compared: Results) -> Worded:
    """Return, by workload, the share of the researcher's gain that remains if a release halves the adversary's gain.

    Parameters
    ----------
    compared : DataFrame
        The results of `papers.compare_sanitizers`. If there are no rows, the text states what the comparison needs.
    """
    sides = join_sides(compared)
    originals: list[Part] = []
    for _, part in sides.groupby(["dataset", "target"], sort=False):
        for whole in part[part.sanitizer == "Identity"].dropna(subset=["gain", "adversary"]).itertuples():
            rows = select_sanitized_sides(part)
            originals.append(_original(whole, rows[rows.adversary <= whole.adversary / 2]))
    data = {
        "is_compared": not compared.empty,
        "comparisons": ahead(sides),
        "originals": sorted(originals, key=lambda each: -each["kept"]["value"] if each["kept"] else 1),
        "most": max(originals, key=lambda each: each["value"], default=None),
    }
    return Worded("papers/findings_adversary_and_researcher", data)


def _original(whole: Any, held: pd.DataFrame) -> Part:
    """Return the researcher's gain from the original for one workload, and the largest share of this gain in releases.

    `held`: the releases from which the adversary gains at most half as much as from the original.
    """
    return make_number(
        whole.gain,
        whole.low,
        whole.high,
        _format(),
        dataset=whole.dataset,
        target=whole.target,
        miner=whole.miner,
        adversary=make_number(whole.adversary, format=_format()),
        chance=make_number(whole.chance, format=_format()),
        is_useful=bool(whole.low > 0),
        releases=len(held),
        kept=_kept(whole, held) if whole.low > 0 and len(held) else None,
    )


def _kept(whole: Any, held: pd.DataFrame) -> Part:
    """Return the largest share of the researcher's gain that a release in `held` preserves."""
    best = held.loc[held.gain.idxmax()]
    return make_number(
        best.gain / whole.gain,
        best.low / whole.gain,
        best.high / whole.gain,
        "{:.0%}",
        setting=best.setting,
        researcher=make_number(best.gain, format=_format()),
        adversary=make_number(best.adversary, format=_format()),
        is_certain=bool(best.low > 0),
    )


def _format() -> str:
    return measure_facts("workload_gain").format
