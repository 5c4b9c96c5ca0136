"""Findings on the trade-off of Li and Li: losses, efficient releases, and a comparison with Brickell and Shmatikov."""

from typing import Any

import numpy as np
import pandas as pd

from privnb import decision
from privnb.evaluation.results import SETTING_COLUMNS, Results, average_seeds, name_setting
from privnb.papers.li_li_2009.study import FORMS, pair_losses
from privnb.reporting.findings.numbers import number_of_row
from privnb.reporting.findings.rows import select_rows
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded

GAINS, LOSSES = ("accuracy_gain", "workload_gain"), ("privacy_loss", "utility_loss")  # of the two critiques
Part = dict[str, Any]  # plain values


@validated
def privacy_models(results: Results) -> Worded:
    """Return the losses of the strictest and the loosest release, the efficient models, and the effect of buckets.

    Parameters
    ----------
    results : DataFrame
        The results of `papers.measure_trade_off`.
    """
    both = results[results.measure.isin(LOSSES)]
    generalized, buckets = (
        select_rows(both, "utility_loss", sanitizer=form).set_index(["parameter", "bound"]).value for form in FORMS
    )
    ratio = (generalized / buckets).replace([np.inf, -np.inf], np.nan).dropna()
    absent = select_rows(results, "classes", status="not possible", sanitizer="Mondrian")
    utility = select_rows(results, "utility_loss", sanitizer="Mondrian")
    data = {
        "losses": _ends(results),
        "has_no_utility_loss": utility.empty and bool(len(select_rows(results, "large_populations"))),
        "efficient": [counted for form in FORMS if (counted := _efficient(both[both.sanitizer == form], form))],
        "buckets": {"least": float(ratio.min()), "most": float(ratio.max())} if len(ratio) else None,
        "impossible": [name_setting(row) for row in absent.itertuples()],
    }
    return Worded("papers/findings_privacy_models", data)


def _efficient(rows: pd.DataFrame, sanitizer: str) -> Part | None:
    """Return the number of efficient releases of one form, by privacy model, or None if a loss was not measured."""
    if set(rows.measure) != {*LOSSES}:
        return None
    points = decision.compute_points(rows, privacy="privacy_loss", utility="utility_loss")
    pairs = pair_losses(rows).drop(columns="status").merge(points[[*SETTING_COLUMNS, "status"]], on=SETTING_COLUMNS)
    efficient = pairs.status == "efficient"
    models = [
        {"model": model, "efficient": int(part.sum()), "releases": len(part)}
        for model, part in efficient.groupby(pairs.model, sort=False)
    ]
    return {"form": FORMS[sanitizer], "efficient": int(efficient.sum()), "releases": len(efficient), "models": models}


def _ends(results: pd.DataFrame) -> list[Part]:
    """Return both losses of the generalized releases with the smallest and with the largest privacy loss."""
    rows = results[results.sanitizer == "Mondrian"]
    utility = select_rows(rows, "utility_loss").set_index("parameters", drop=False)
    known = select_rows(rows, "privacy_loss").dropna(subset="value").sort_values("value", kind="stable")
    ends = known.loc[[*dict.fromkeys(known.index[[0, -1]])] if len(known) else []]
    return [
        {
            "setting": name_setting(row),
            "privacy": number_of_row(row),
            "utility": number_of_row(utility.loc[row.parameters]) if row.parameters in utility.index else None,
        }
        for row in ends.itertuples()
    ]


def join_critiques(results: pd.DataFrame) -> pd.DataFrame:
    """Return the measures of both papers for the generalized releases.

    There is one row per value of `parameters`, and the numbers are means over seeds. Releases that lack a measure are
    left out. The columns are the four measures; `low`, the lower end of the 95% interval of the researcher's gain; and
    `ahead`, whether `low` is above the adversary's gain. The gains in a release are those of the miner that gains most.
    """
    rows = results[(results.sanitizer == "Mondrian") & results.measure.isin([*GAINS, *LOSSES])]
    rows = average_seeds(rows).dropna(subset="value").sort_values("value", ascending=False, kind="stable")
    best = rows.drop_duplicates(["parameters", "measure"]).sort_index()
    wide = best.pivot_table(index="parameters", columns="measure", values="value", sort=False)
    wide = wide.reindex(columns=[*GAINS, *LOSSES]).dropna()
    names = best.drop_duplicates("parameters").set_index("parameters").loc[wide.index]
    researcher = select_rows(best, "workload_gain").set_index("parameters").low.reindex(wide.index)
    wide = wide.assign(low=researcher, ahead=researcher > wide.accuracy_gain)
    short = pd.Series([f"{row.parameter}={row.bound:g}" for row in names.itertuples()], wide.index)
    return wide.assign(setting=short.mask(short.duplicated(keep=False), wide.index.to_series()))


def critiques(results: pd.DataFrame) -> Part | None:
    """Return the number of releases from which the researcher gains more than the adversary, and the avoided loss.

    Returns
    -------
    dict or None
        `ahead`: the number of releases in which the 95% interval of the researcher's gain is above the adversary's
        gain. `releases`: the number of all releases. `avoided`: the largest share of the trivial release's
        `utility_loss` that a release avoids. The result is None if no release has all measures of both papers.
    """
    wide = join_critiques(results)
    if wide.empty:
        return None
    kept = 1 - wide.utility_loss / select_rows(results, "utility_loss").baseline.iloc[0]
    return {"ahead": int(wide.ahead.sum()), "releases": len(wide), "avoided": float(kept.max())}
