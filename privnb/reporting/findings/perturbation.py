"""Findings about perturbed releases compared with generalized releases, and about the removal of noise."""

from typing import Any

import pandas as pd

from privnb.decision.points import Releases
from privnb.evaluation.results import SETTING_COLUMNS, Results, average_seeds
from privnb.reporting.charts.lines import LITERAL, RECONSTRUCTED
from privnb.reporting.findings.numbers import number_of_row, to_json_number
from privnb.reporting.findings.rows import ENDS, select_known_rows, select_rows
from privnb.runtime.validation import Count, validated
from privnb.runtime.wording import Worded
from privnb.sanitizers import MadeElsewhere, catalogue

HALF = 0.5  # of the way from the original to no quasi-identifiers: more loss than that is not called useful


@validated
def perturbation(results: Results, releases: Releases, recovered: Results, people: Count) -> Worded:
    """Return the finding about the useful perturbed release with the lowest risk, and about reconstruction.

    Parameters
    ----------
    results : DataFrame
        The results of `experiments.mapped`.
    releases : DataFrame
        The table of `decision.points` for these results.
    recovered : DataFrame
        The results of `reconstruction.reconstruct_distributions`.
    people : int
        The number of people whom the attack tried to link; it may be smaller than the table, because a sample may be
        used.
    """
    linked = "reidentification_rate" in set(results.measure) and len(releases) > 0
    data = _useful(results, releases) if linked else {"perturbed": {}, "useful": 0, "generalized": {}, "whole": False}
    below = int((releases.status == "refused").sum())
    data |= {
        "is_linked": linked,
        "people": int(people),
        "reconstructed": _reconstructed(select_rows(recovered, "distribution_loss")) if linked else {},
        "refused": below,
        "releases": len(releases),
    }
    return Worded("reporting/findings_perturbation", data)


def _useful(results: pd.DataFrame, releases: pd.DataFrame) -> dict[str, Any]:
    """Return the useful perturbed release and the useful generalized release with the lowest risks.

    A release is useful if its loss is at most a certain share of the loss of suppression or, if suppression was not
    measured, of the largest loss. The entry `whole` is true if suppression was measured.
    """
    results = average_seeds(results)
    links = select_known_rows(results, "reidentification_rate", miner="")
    losses = select_rows(results, releases.utility_measure.iloc[0]).groupby(SETTING_COLUMNS).value.first()
    whole = "Suppress" in losses
    most = losses["Suppress"].max() if whole else losses.max()
    links = links[~links.sanitizer.isin([*ENDS, MadeElsewhere.__name__])]  # a file of another tool is never named
    links = links.assign(loss=[losses.get((row.sanitizer, row.parameters)) for row in links.itertuples()])
    useful = links[links.loss <= HALF * most]
    groups = useful.sanitizer.map(catalogue.group)
    changed = useful[~groups.isin(["generalization", "buckets"])]

    def best(rows: pd.DataFrame) -> dict[str, Any]:
        least = rows.nsmallest(1, "value").iterrows()
        return next((number_of_row(row, loss=to_json_number(row.loss / most)) for _, row in least), {})

    return {
        "perturbed": best(changed),
        "useful": len(changed),
        "generalized": best(useful[groups == "generalization"]),
        "whole": whole,
    }


def _reconstructed(losses: pd.DataFrame) -> dict[str, Any]:
    """Return the release and the column for which reconstruction recovers the distribution best."""
    release = [*SETTING_COLUMNS, "target"]
    wide = losses.pivot_table(index=release, columns="variant", values="value")
    if not {LITERAL, RECONSTRUCTED} <= {*wide}:
        return {}
    gained = (wide[LITERAL] - wide[RECONSTRUCTED]).dropna()
    if gained.empty:
        return {}
    rows = losses[(losses[release] == gained.idxmax()).all(axis=1)]
    row, literal = (rows[rows.variant == each].iloc[0] for each in (RECONSTRUCTED, LITERAL))
    return number_of_row(row, literal=to_json_number(literal.value))


@validated
def noise_removal(results: Results) -> Worded:
    """Return the finding about the attack that removes the most noise, and about its error for outliers.

    The error of the attack is compared with the error of the released numbers.

    Parameters
    ----------
    results : DataFrame
        The results of `experiments.noise_removal`.
    """
    everybody: dict[str, object] = {"target": "", "group": "", "control": ""}
    rows, release = select_known_rows(results, "recovery_error", **everybody), ["dataset", *SETTING_COLUMNS]
    literal = rows[rows.variant == LITERAL].drop_duplicates(release)[[*release, "value"]]
    best = rows[rows.variant == ""].merge(literal, on=release, suffixes=("", "_literal"), how="left")
    data: dict[str, Any] = {"removed": {}, "nearest": {}, "outliers": {}}
    if len(best):
        best["gain"] = 1 - best.value / best.value_literal
        for _, top in best.dropna(subset="gain").nlargest(1, "gain").iterrows():
            more = {"miner": top.miner, "gain": to_json_number(top.gain), "literal": to_json_number(top.value_literal)}
            data["removed"] = number_of_row(top, **more)
        nearest = best.loc[best.value.idxmin()]
        data["nearest"] = number_of_row(nearest, miner=nearest.miner, knows=nearest.knows)
        data["outliers"] = _outliers(select_rows(results, "recovery_error", target="", variant="", control=""), nearest)
    return Worded("reporting/findings_noise_removal", data)


def _outliers(rows: pd.DataFrame, nearest: pd.Series) -> dict[str, Any]:
    """Return the error of the same attack for the tenth of the people whose numbers are farthest from the mean."""
    attack = ["dataset", *SETTING_COLUMNS, "miner", "knows"]
    groups = rows[(rows[attack] == nearest[attack]).all(axis=1)].set_index("group")
    if not {"outliers", "others"} <= {*groups.index} or groups.value[["outliers", "others"]].isna().any():
        return {}
    return number_of_row(groups.loc["outliers"], others=to_json_number(groups.value["others"]))
