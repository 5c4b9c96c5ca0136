"""What Brickell and Shmatikov ask: whether even modest privacy is paid for with almost all utility."""

from dataclasses import replace

from privnb.evaluation.results import SETTING, check_results, over_seeds
from privnb.measures import facts
from privnb.microdata.sentences import B, C
from privnb.reporting.findings.base import Finding, report, reported
from privnb.reporting.findings.rows import ENDS, setting_name

NOTHING = (
    f"{B}Adversary and researcher cannot be compared here{B}: both are counted in people guessed right, which takes a "
    "sensitive attribute of categories, and no study of this table has one. Give a column of categories that role in "
    f"the description file. {C}06_li_li{C} has losses for numbers too."
)


def both_sides(results):
    """The gains of adversary and researcher, one row per data set, workload and release, over all seeds.

    Columns `adversary`, `chance` (the same classes with values permuted at random), `gain`, `low`, `high`, `miner`: of
    the researcher's best miner there; NaN for what is not there. The adversary is that of `best_adversary`.
    """
    rows = over_seeds(results[results.measure.isin(["accuracy_gain", "workload_gain"])])
    rows = rows[~((rows.sanitizer == "Suppress") & (rows.parameters != ""))]
    keys = ["dataset", *SETTING, "parameter", "bound"]
    adversary = best_adversary(rows).rename(columns={"value": "adversary", "baseline": "chance"})
    researcher = rows[rows.measure == "workload_gain"]
    best = researcher.sort_values("value", ascending=False, kind="stable").drop_duplicates([*keys, "target"])
    best = best.rename(columns={"value": "gain"})[[*keys, "target", "gain", "low", "high", "miner"]]
    wide = rows[keys].drop_duplicates().merge(researcher[["dataset", "target"]].drop_duplicates(), on="dataset")
    wide = wide.merge(adversary[[*keys, "adversary", "chance"]], on=keys, how="left")
    wide = wide.merge(best, on=[*keys, "target"], how="left")
    return wide.assign(setting=[setting_name(row) for row in wide.itertuples()])


def best_adversary(rows):
    """The `accuracy_gain` of each release: the exact one, or else, as under noise, that of the best miner."""
    best = rows[rows.measure == "accuracy_gain"].sort_values("value", ascending=False, kind="stable")
    best = best.sort_values("miner", key=lambda miner: miner != "", kind="stable")
    return best.drop_duplicates(["dataset", *SETTING]).sort_index()


def sanitized(sides):
    """The rows of `both_sides` that are no end of the scale and known on both sides, with columns `more` and `less`.

    `more`: the adversary gains more than the researcher, beyond the interval, than 0, and than by chance.
    `less`: the researcher gains more than the adversary, and than 0, beyond the interval.
    """
    rows = sides[~sides.sanitizer.isin(ENDS)].dropna(subset=["gain", "adversary"])
    gains = rows.adversary > rows.chance.fillna(0).clip(lower=0)
    less = rows.low > rows.adversary.clip(lower=0)
    return rows.assign(more=gains & (rows.adversary > rows.high), less=less)


def ahead(sides):
    """In how many releases of `both_sides` either side gains more than the other: a `Finding`."""
    known = sanitized(sides)
    return Finding(
        "The adversary gains more than the researcher, beyond the 95 % interval",
        known.more.sum(),
        format=f"{{:.0f}} of {len(known)} releases",
        beside={"less": f"{known.less.sum()}"},
    )


def adversary_and_researcher(compared):
    """How much of the researcher's gain each release keeps beside what the adversary gains, for each workload.

    `compared`: of `studies.figures`; of nothing compared it says what that takes.
    """
    check_results("compared", compared)
    if compared.empty:
        return report(NOTHING)
    sides = both_sides(compared)
    if sanitized(sides).empty:
        return report("There is nothing to compare: no release has both gains.")
    parts = [part for _, part in sides.groupby(["dataset", "target"], sort=False)]
    originals = [found for part in parts for found in _original(part)]
    kept = [found for part in parts for found in _kept(part)]
    more = f"The adversary gains more in {B}{ahead(sides).number}{B}."
    answer = "The original was not mined, so there is nothing to compare with what the adversary gains."
    if originals:
        most = max(originals, key=lambda found: found.value)
        answer = (
            "No release halves the adversary's gain and keeps utility: from the original a researcher guesses right "
            f"{replace(most, beside={}).text}."
        )
    if kept:
        best = max(kept, key=lambda found: found.value)
        answer = (
            f"Held to half of what the original gives the adversary, the best release, {best.setting}, keeps "
            f"{replace(best, beside={}).text} of the researcher's gain."
        )
    return report(f"{answer} {more}", originals, kept)


def _held(part):
    """Of one workload: the original's row, and the releases that hold the adversary to half of what that gives."""
    known, rows = part.dropna(subset=["gain", "adversary"]), sanitized(part)
    for _, whole in known[known.sanitizer == "Identity"].iterrows():
        yield whole, rows[rows.adversary <= whole.adversary / 2]


def _original(part):
    """What the original gives the researcher of one workload, beside what it gives the adversary."""
    for whole, held in _held(part):
        note = "No release holds the adversary to half of that." if held.empty else ""
        yield Finding(
            f"{whole.dataset}, predicting {whole.target}: the original gives the researcher ({whole.miner})",
            *whole[["gain", "low", "high"]],
            facts("workload_gain").format,
            beside={"the adversary": whole.adversary, "by chance": whole.chance},
            note=note if whole.low > 0 else "There is no utility here that privacy could cost.",
        )


def _kept(part):
    """How much of that a release keeps at most that holds the adversary to half; none where it may be nothing."""
    for whole, held in _held(part):
        if whole.low > 0 and len(held):
            best = held.loc[held.gain.idxmax()]
            sure = "" if best.low > 0 else "That is not distinguishable from nothing. "
            yield Finding(
                f"{whole.dataset}, predicting {whole.target}: held to half, a release keeps of the researcher's gain",
                *best[["gain", "low", "high"]] / whole.gain,
                "{:.0%}",
                best.setting,
                {
                    "the researcher": reported(facts("workload_gain").format, best.gain),
                    "the adversary": reported(facts("workload_gain").format, best.adversary),
                },
                note=f"{sure}The best of {len(held)}, chosen by the same numbers, which looks better than it is; the "
                "interval takes the original's gain as exact.",
            )
