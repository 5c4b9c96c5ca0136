"""What many settings give, counted one beside another."""

import pandas as pd

from privnb.decision import AXES
from privnb.evaluation.results import SETTING
from privnb.microdata import expect
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, report
from privnb.reporting.findings.rows import listed
from privnb.sanitizers.catalogue import group

BUCKETS = (
    "Releases in buckets publish quasi-identifiers as they are: they disclose who is in the table, and these two "
    "measures do not count it."
)


def every_setting(steps, results, releases):
    """How many of the settings the table can give, which of them no other beats, and what the first series trades.

    Parameters
    ----------
    steps : DataFrame
        One row per setting, with `series`, `setting`, `sanitizer` and `parameters`, each series from loose to strict.
    results : DataFrame
        Their numbers.
    releases : DataFrame
        `frontier.points` of those.

    Returns
    -------
    Sentences
    """
    expect.table("steps", steps, ["series", "setting", *SETTING], "`sweeps.steps` gives one.")
    expect.these(results=results, releases=releases)
    there = pd.MultiIndex.from_frame(steps[SETTING]).isin(pd.MultiIndex.from_frame(results[SETTING]))
    missing = list(steps.setting[~there])
    return report(
        Finding(
            f"This table can give of {len(steps)} settings of {steps.sanitizer.nunique()} sanitizers",
            there.sum(),
            format="{:.0f}",
            beside={"it cannot give": listed(missing)} if missing else {},
        ),
        efficient(releases),
        *_along(steps[there], releases),
        f"No miner was run here: these are counts of what a release tells whoever reads it as it stands. {B}Efficient "
        f"is said of these settings, by these two measures. It does not mean safe.{B}",
    )


def efficient(releases):
    """How many releases no other one beats, and of which sanitizers: a `Finding`."""
    of = listed([releases[f"{axis}_of"].iloc[0] for axis in AXES])
    status = releases.status.value_counts()
    sanitizers = releases[releases.status == "efficient"].sanitizer.value_counts()
    undecided = releases[releases.status == "undecided"].sanitizer
    drawn = listed([*undecided.unique()] or ["none"])
    beside = {
        "dominated, as another loses as little of both and less of one": f"{status.get('dominated', 0)}",
        "undecided, as a number is missing or random": f"{len(undecided)} of {drawn}",
        "efficient are of": listed([f"{name} ({count})" for name, count in sanitizers.items()] or ["none"]),
    }
    note = BUCKETS if "buckets" in set(sanitizers.index.map(group)) else ""
    subject = f"No other release is better by {of}"
    return Finding(subject, status.get("efficient", 0), format=f"{{:.0f}} of {len(releases)}", beside=beside, note=note)


def _along(steps, releases):
    """What each end of the first series loses; nothing where that has fewer than two settings with both losses."""
    rows = steps.merge(releases.drop(columns="setting"), on=SETTING, how="left").dropna(subset=list(AXES))
    several = [part for _, part in rows.groupby("series", sort=False) if len(part) > 1]
    for axis in AXES if several else ():
        first, last = several[0].iloc[0], several[0].iloc[-1]
        baselines = {f"baseline, {row.setting}": row[f"{axis}_baseline"] for row in (first, last)}
        beside = {first.setting: first[axis]} | {name: each for name, each in baselines.items() if pd.notna(each)}
        of = last[f"{axis}_of"]
        yield Finding(f"{of[0].upper()}{of[1:]}", last[axis], setting=last.setting, beside=beside, better="lower")
