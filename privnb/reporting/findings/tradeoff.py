"""What Li and Li's trade-off shows: what releases lose, which dominate, where the critics disagree."""

import numpy as np
import pandas as pd

from privnb import decision
from privnb.evaluation.results import SETTING, over_seeds
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import listed, of, setting_name
from privnb.studies.li_li_2009.study import FORMS, pairs

GAINS, LOSSES = ("accuracy_gain", "workload_gain"), ("privacy_loss", "utility_loss")  # of the two critiques


@of_results(otherwise="None of these privacy models can be kept on this table: there is no trade-off to see.")
def privacy_models(results):
    """What the strictest and the loosest release lose, which privacy models are efficient, and whether buckets help."""
    for part in (_ends, _dominance, _buckets, _unreached):
        yield from part(results)


def both_critiques(results):
    """What both critiques say of the generalized releases that have both: one row by `parameters`, means over seeds.

    Columns: the four measures; `low` of the researcher's 95 % interval; `ahead`: whether that is above what the
    adversary gains. Gains are of the miner that gains most in each release. Without such releases no rows.
    """
    rows = results[(results.sanitizer == "Mondrian") & results.measure.isin([*GAINS, *LOSSES])]
    rows = over_seeds(rows).dropna(subset="value")
    gains = rows.measure.isin(GAINS)
    best = rows[gains].sort_values("value", ascending=False, kind="stable").drop_duplicates(["parameters", "measure"])
    rows = pd.concat([rows[~gains], best]).sort_index()
    wide = rows.pivot_table(index="parameters", columns="measure", values="value", sort=False)
    wide = wide.reindex(columns=[*GAINS, *LOSSES]).dropna()
    names = rows.drop_duplicates("parameters").set_index("parameters")
    researcher = of(best, "workload_gain").set_index("parameters").low.reindex(wide.index)
    wide = wide.assign(low=researcher, ahead=researcher > wide.accuracy_gain)
    short = pd.Series([f"{row.parameter}={row.bound:g}" for row in names.loc[wide.index].itertuples()], wide.index)
    return wide.assign(setting=short.mask(short.duplicated(keep=False), wide.index.to_series()))


def critiques(results):
    """In how many releases the researcher clearly gains more than the adversary, and how much utility these avoid
    losing: two findings, or none.
    """
    wide = both_critiques(results)
    if wide.empty:
        return []
    direct = "Direct comparison: the researcher clearly gains more than the adversary"
    avoided = "Two losses: these avoid of the utility loss about groups at most"
    kept = 1 - wide.utility_loss / of(results, "utility_loss").baseline.iloc[0]
    return [
        Finding(direct, wide.ahead.sum(), format=f"{{:.0f}} of {len(wide)} releases"),
        Finding(avoided, kept.max(), format="{:.0%}"),
    ]


def _ends(results):
    """The answer: both losses of the generalized release that loses least privacy, and of the one that loses most."""
    rows = results[results.sanitizer == "Mondrian"]
    utility = of(rows, "utility_loss").set_index("parameters", drop=False)
    known = of(rows, "privacy_loss").dropna(subset="value").sort_values("value", kind="stable")
    if known.empty:
        return
    said = []
    for row in known.loc[[*dict.fromkeys(known.index[[0, -1]])]].itertuples():
        privacy, lost = Finding.of(row, guess="by chance"), "" if said else " of privacy"
        if row.parameters in utility.index:
            users = Finding.of(utility.loc[row.parameters], guess="without quasi-identifiers")
            lost += f" and {users.text}" if said else f" and users {B}{users.number}{B} of utility"
        said.append(f"{privacy.text if said else f'{B}{privacy.number}{B}'}{lost} under {privacy.setting}")
    yield f"The worst-off person loses {'; '.join(said)}."
    if utility.empty and len(of(results, "large_populations")):
        yield (
            f"No group of people is large enough, or the sensitive attribute has too many values to ask for: {B}there "
            f"is no utility loss here{B}. Lower MIN_SUPPORT, or give the quasi-identifiers hierarchies."
        )


def _dominance(results):
    """How many releases are efficient, by privacy model."""
    both = results[results.measure.isin(LOSSES)]
    for sanitizer, form in FORMS.items():
        part = both[both.sanitizer == sanitizer]
        if set(part.measure) == {*LOSSES}:
            points = decision.points(part, privacy="privacy_loss", utility="utility_loss")
            rows = pairs(part).drop(columns="status").merge(points[[*SETTING, "status"]], on=SETTING)
            efficient = (rows.status == "efficient").groupby(rows.model, sort=False).agg(["sum", "size"])
            beside = {f"under {model}": f"{each['sum']} of {each['size']}" for model, each in efficient.iterrows()}
            subject = f"Releases {form} that no other one beats in both losses"
            yield Finding(subject, efficient["sum"].sum(), format=f"{{:.0f}} of {len(rows)}", beside=beside)


def _buckets(results):
    """Whether buckets lose less utility than generalized cells of the same classes."""
    rows, keys = of(results, "utility_loss"), ["parameter", "bound"]
    generalized, buckets = (rows[rows.sanitizer == each].set_index(keys).value for each in FORMS)
    ratio = (generalized / buckets).replace([np.inf, -np.inf], np.nan).dropna()
    if len(ratio):
        note = "The privacy loss is the same; but buckets publish everybody's quasi-identifiers as they are."
        subject = "Utility loss of generalized cells beside the same classes in buckets, at most"
        yield Finding(subject, ratio.max(), format="{:.2f} times", beside={"at least": ratio.min()}, note=note)


def _unreached(results):
    """Privacy models that no release of this table keeps."""
    none = of(results, "classes", status="not possible", sanitizer="Mondrian")
    if len(none):
        names = listed([setting_name(row) for row in none.itertuples()])
        yield f"Not kept even by all records together, so without a release: {names}."
