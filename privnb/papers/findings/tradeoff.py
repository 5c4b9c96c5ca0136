"""What Li and Li's trade-off shows: what releases lose, which dominate, where the critics disagree."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from privnb import decision
from privnb.evaluation.results import SETTING, Results, over_seeds
from privnb.papers.li_li_2009.study import FORMS, pairs
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import of, settings
from privnb.runtime.sentences import B

GAINS, LOSSES = ("accuracy_gain", "workload_gain"), ("privacy_loss", "utility_loss")  # of the two critiques
NO_UTILITY_LOSS = (
    "No group of people is large enough, or the sensitive attribute has too many values to ask for: "
    f"{B}there is no utility loss here{B}. Lower MIN_SUPPORT, or give the quasi-identifiers hierarchies."
)


@of_results(otherwise="None of these privacy models can be kept on this table: there is no trade-off to see.")
def privacy_models(results: Results) -> Iterator[Any]:
    """What the strictest and the loosest release lose, which privacy models are efficient, and whether buckets help."""
    yield from _ends(results)
    both = results[results.measure.isin(LOSSES)]
    for sanitizer, form in FORMS.items():
        part = both[both.sanitizer == sanitizer]
        if set(part.measure) == {*LOSSES}:
            points = decision.points(part, privacy="privacy_loss", utility="utility_loss")
            rows = pairs(part).drop(columns="status").merge(points[[*SETTING, "status"]], on=SETTING)
            efficient = rows.status == "efficient"
            by_model = efficient.groupby(rows.model, sort=False).agg(lambda each: f"{each.sum()} of {len(each)}")
            subject = f"Releases {form} that no other one beats in both losses"
            yield Finding.count(subject, efficient, beside=by_model.add_prefix("under ").to_dict())
    generalized, buckets = (
        of(both, "utility_loss", sanitizer=form).set_index(["parameter", "bound"]).value for form in FORMS
    )
    ratio = (generalized / buckets).replace([np.inf, -np.inf], np.nan).dropna()
    if len(ratio):
        note = "The privacy loss is the same; but buckets publish everybody's quasi-identifiers as they are."
        subject = "Utility loss of generalized cells beside the same classes in buckets, at most"
        yield Finding(subject, ratio.max(), format="{:.2f} times", beside={"at least": ratio.min()}, note=note)
    none = of(results, "classes", status="not possible", sanitizer="Mondrian")
    if len(none):
        yield f"Not kept even by all records together, so without a release: {settings(none)}."


def _ends(results: pd.DataFrame) -> Any:
    """The answer: both losses of the generalized release that loses least privacy, and of the one that loses most."""
    rows = results[results.sanitizer == "Mondrian"]
    utility = of(rows, "utility_loss").set_index("parameters", drop=False)
    known = of(rows, "privacy_loss").dropna(subset="value").sort_values("value", kind="stable")
    said: list[Any] = []
    for row in known.loc[[*dict.fromkeys(known.index[[0, -1]])] if len(known) else []].itertuples():
        privacy, users = Finding.of(row, guess="by chance"), ""
        lost = privacy.text if said else f"{B}{privacy.number}{B} of privacy"
        if row.parameters in utility.index:
            found = Finding.of(utility.loc[row.parameters], guess="without quasi-identifiers")
            users = f" and {found.text}" if said else f" and users {B}{found.number}{B} of utility"
        said.append(f"{lost}{users} under {privacy.setting}")
    if said:
        yield f"The worst-off person loses {'; '.join(said)}."
        if utility.empty and len(of(results, "large_populations")):
            yield NO_UTILITY_LOSS


def both_critiques(results: pd.DataFrame) -> pd.DataFrame:
    """What both critiques say of the generalized releases that have both: one row by `parameters`, means over seeds.

    Columns: the four measures; `low` of the researcher's 95% interval; `ahead`: whether that is above what the
    adversary gains. Gains are of the miner that gains most in each release. Without such releases no rows.
    """
    rows = results[(results.sanitizer == "Mondrian") & results.measure.isin([*GAINS, *LOSSES])]
    rows = over_seeds(rows).dropna(subset="value").sort_values("value", ascending=False, kind="stable")
    best = rows.drop_duplicates(["parameters", "measure"]).sort_index()
    wide = best.pivot_table(index="parameters", columns="measure", values="value", sort=False)
    wide = wide.reindex(columns=[*GAINS, *LOSSES]).dropna()
    names = best.drop_duplicates("parameters").set_index("parameters").loc[wide.index]
    researcher = of(best, "workload_gain").set_index("parameters").low.reindex(wide.index)
    wide = wide.assign(low=researcher, ahead=researcher > wide.accuracy_gain)
    short = pd.Series([f"{row.parameter}={row.bound:g}" for row in names.itertuples()], wide.index)
    return wide.assign(setting=short.mask(short.duplicated(keep=False), wide.index.to_series()))


def critiques(results: pd.DataFrame) -> list[Finding]:
    """In how many releases the researcher clearly gains more than the adversary, and how much utility these avoid
    losing: two findings, or none.
    """
    wide = both_critiques(results)
    if wide.empty:
        return []
    kept = 1 - wide.utility_loss / of(results, "utility_loss").baseline.iloc[0]
    direct = "Direct comparison: the researcher clearly gains more than the adversary"
    avoided = "Two losses: share of the loss about large groups that is avoided, at best"
    return [Finding.count(direct, wide.ahead, "releases"), Finding(avoided, kept.max(), format="{:.0%}")]
