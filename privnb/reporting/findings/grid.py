"""What many settings give, counted one beside another."""

import pandas as pd

from privnb.decision import AXES
from privnb.evaluation.results import SETTING, whose
from privnb.measures import facts
from privnb.microdata import expect
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, report
from privnb.reporting.findings.rows import listed
from privnb.sanitizers.catalogue import group, title

BUCKETS = (
    "Releases in buckets publish quasi-identifiers as they are: they disclose who is in the table, and these two "
    "measures do not count it."
)


def every_setting(steps, results, releases):
    """What the first series trades, how many of the settings the table can give, and which of them no other beats.

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
    counted, missing = f"This table allows {B}{there.sum()} of {len(steps)} settings{B}", list(steps.setting[~there])
    return report(
        _along(steps[there], releases, whose(results)),
        f"{counted}, but not {listed(missing)}." if missing else f"{counted}.",
        efficient(releases),
        "No miner was run here: these are counts of what a release tells whoever reads it as it stands. A setting that "
        "no other one beats by two measures is not thereby safe.",
    )


def efficient(releases):
    """How many releases no other one beats, and of which sanitizers: a `Finding`."""
    of = listed([releases[f"{axis}_of"].iloc[0] for axis in AXES])
    status = releases.status.value_counts()
    sanitizers = releases[releases.status == "efficient"].sanitizer.value_counts()
    beside = {
        "beaten": f"{status.get('dominated', 0)}",
        "undecided, as a number is missing or random": f"{status.get('undecided', 0)}",
        "by sanitizer": listed([f"{title(name)} ({count})" for name, count in sanitizers.items()] or ["none"]),
    }
    note = BUCKETS if "buckets" in set(sanitizers.index.map(group)) else ""
    subject = f"Settings that no other one beats in {of}"
    return Finding(subject, status.get("efficient", 0), format=f"{{:.0f}} of {len(releases)}", beside=beside, note=note)


def _along(steps, releases, of_whom):
    """What the ends of the first series lose; nothing where that has fewer than two settings with both losses.

    `of_whom`: whose numbers they are.
    """
    rows = steps.merge(releases.drop(columns="setting"), on=SETTING, how="left").dropna(subset=list(AXES))
    for _, part in rows.groupby("series", sort=False):
        if len(part) > 1:
            ends, said = part.iloc[[0, -1]], []
            for axis in AXES:
                format, baselines = facts(ends[f"{axis}_measure"].iloc[0]).format, ends[f"{axis}_baseline"]
                known = baselines.mask(baselines.duplicated(keep="last"))  # one that both have is said once
                first, last = (
                    Finding("", value, format=format, beside={} if pd.isna(baseline) else {"baseline": baseline}).text
                    for value, baseline in zip(ends[axis], known, strict=True)
                )
                said.append(f"{ends[f'{axis}_of'].iloc[0]} goes from {first} to {last}")
            return f"From {ends.setting.iloc[0]} to {ends.setting.iloc[1]}, {'; '.join(said)} ({of_whom})."
    return ""
