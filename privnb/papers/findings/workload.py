"""What Brickell and Shmatikov ask: whether even modest privacy is paid for with almost all utility."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from privnb.evaluation.results import SETTING, Results, over_seeds, setting_name
from privnb.measures import facts
from privnb.reporting.findings.base import Finding, of_results, reported
from privnb.reporting.findings.rows import ENDS, of
from privnb.runtime.sentences import B, C, listed

NOTHING = (
    f"{B}Adversary and researcher cannot be compared here{B}: both are counted in people guessed right, which takes a "
    "sensitive attribute of categories, and no study of this table has one. Give a column of categories that role in "
    f"the description file. {C}06_li_li{C} has losses for numbers too."
)
NOT_MINED = "The original was not mined, so there is nothing to compare with what the adversary gains."
BEST = "which looks better than it is; the interval takes the original's gain as exact."


def gains(results: pd.DataFrame) -> pd.DataFrame:
    """The gains of each adversary and researcher over all seeds, but those of a partly suppressed table."""
    rows = over_seeds(results[results.measure.isin(["accuracy_gain", "workload_gain"])])
    return rows[(rows.sanitizer != "Suppress") | (rows.parameters == "")]


def both_sides(results: pd.DataFrame) -> pd.DataFrame:
    """The gains of adversary and researcher, one row per data set, workload and release, over all seeds.

    Columns `adversary`, `chance` (the same classes with values permuted at random), `gain`, `low`, `high`, `miner`: of
    the researcher's best miner there; NaN for what is not there. The adversary is that of `best_adversary`.
    """
    rows, keys = gains(results), ["dataset", *SETTING, "parameter", "bound"]
    adversary = best_adversary(rows).rename(columns={"value": "adversary", "baseline": "chance"})
    researcher = of(rows, "workload_gain").sort_values("value", ascending=False, kind="stable")
    researcher = researcher.drop_duplicates([*keys, "target"]).rename(columns={"value": "gain"})
    asked = of(rows, "workload_gain")[["dataset", "target"]].drop_duplicates()
    wide = rows[keys].drop_duplicates().merge(asked, on="dataset")
    wide = wide.merge(adversary[[*keys, "adversary", "chance"]], on=keys, how="left")
    wide = wide.merge(researcher[[*keys, "target", "gain", "low", "high", "miner"]], on=[*keys, "target"], how="left")
    return wide.assign(setting=[setting_name(row) for row in wide.itertuples()])


def best_adversary(rows: pd.DataFrame) -> pd.DataFrame:
    """The `accuracy_gain` of each release: the exact one, or else, as under noise, that of the best miner."""
    best = of(rows, "accuracy_gain").sort_values("value", ascending=False, kind="stable")
    best = best.sort_values("miner", key=lambda miner: miner != "", kind="stable")
    return best.drop_duplicates(["dataset", *SETTING]).sort_index()


def sanitized(sides: pd.DataFrame) -> pd.DataFrame:
    """The rows of `both_sides` that are no end of the scale and known on both sides, with columns `more` and `less`.

    `more`: the adversary gains more than the researcher, beyond the interval, than 0, and than by chance.
    `less`: the researcher gains more than the adversary, and than 0, beyond the interval.
    """
    rows = sides[~sides.sanitizer.isin(ENDS)].dropna(subset=["gain", "adversary"])
    more = (rows.adversary > rows.chance.fillna(0).clip(lower=0)) & (rows.adversary > rows.high)
    return rows.assign(more=more, less=rows.low > rows.adversary.clip(lower=0))


def ahead(sides: pd.DataFrame) -> Finding:
    """In how many comparisons of `both_sides`, a release and a workload each, either side gains more than the other: a
    `Finding`.
    """
    known, subject = sanitized(sides), "The adversary gains more than the researcher, beyond the 95% interval"
    return Finding.count(subject, known.more, "comparisons", beside={"less": f"{known.less.sum()}"})


@of_results(otherwise=NOTHING)
def adversary_and_researcher(compared: Results) -> Iterator[Any]:
    """How much of the researcher's gain each release keeps beside what the adversary gains, for each workload.

    `compared`: of `papers.figures`; of nothing compared it says what that takes.
    """
    if compared.empty:
        return
    sides = both_sides(compared)
    if sanitized(sides).empty:
        yield "There is nothing to compare: no release has both gains."
        return
    originals, kept, answer = [], [], NOT_MINED
    for _, part in sides.groupby(["dataset", "target"], sort=False):
        for whole in part[part.sanitizer == "Identity"].dropna(subset=["gain", "adversary"]).itertuples():
            rows = sanitized(part)
            held = rows[rows.adversary <= whole.adversary / 2]
            originals.append(_original(whole, held))
            kept += [(whole.target, found) for found in _kept(whole, held)]
    if originals:
        most = max(originals, key=lambda found: found.value)
        answer = (
            "No release halves the adversary's gain and keeps utility: from the original a researcher guesses right "
            f"{replace(most, beside={}).text}."
        )
    if kept:
        kept.sort(key=lambda found: -found[1].value)
        (target, best), *others = kept
        first = f"{replace(best, beside={}).text} of the researcher's gain on {target}"
        more = [f"{each.number} on {name}" for name, each in others]
        who = "the best releases keep" if others else f"{best.setting} keeps"
        answer = f"With the adversary's gain at least halved, {who} {listed([first, *more])}."
    yield f"{answer} The adversary gains more in {B}{ahead(sides).number}{B}."
    yield originals
    yield [found for _, found in kept]


def _original(whole: Any, held: pd.DataFrame) -> Finding:
    """What the original gives the researcher of one workload, beside what it gives the adversary.

    `held`: the releases that hold the adversary to half of what that gives.
    """
    subject = f"{whole.dataset}, predicting {whole.target}: the original gives the researcher ({whole.miner})"
    beside = {"the adversary": whole.adversary, "by chance": whole.chance}
    note = "No release holds the adversary to half of that." if held.empty else ""
    note = note if whole.low > 0 else "There is no utility here that privacy could cost."
    format = facts("workload_gain").format
    return Finding(subject, whole.gain, whole.low, whole.high, format, beside=beside, note=note)


def _kept(whole: Any, held: pd.DataFrame) -> Iterator[Finding]:
    """How much of that a release keeps at most that holds the adversary to half; none where it may be nothing."""
    if whole.low > 0 and len(held):
        best, format = held.loc[held.gain.idxmax()], facts("workload_gain").format
        subject = f"{whole.dataset}, predicting {whole.target}: held to half, a release keeps of the researcher's gain"
        share, low, high = (best[name] / whole.gain for name in ("gain", "low", "high"))
        beside = {f"the {who}": reported(format, best[of]) for who, of in (("researcher", "gain"), ("adversary",) * 2)}
        sure = "" if best.low > 0 else "That is not distinguishable from nothing. "
        note = f"{sure}The best of {len(held)}, chosen by the same numbers, {BEST}"
        yield Finding(subject, share, low, high, "{:.0%}", best.setting, beside, note=note)
