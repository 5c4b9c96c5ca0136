"""What many settings give, counted one beside another."""

import pandas as pd

from privnb.decision import AXES
from privnb.microdata import expect
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import listed
from privnb.sanitizers.catalogue import group

SETTING = ["sanitizer", "parameters"]


def what_every_setting_gives(steps, results, releases):
    """How many of the settings the table can give, which of them no other beats, and what the first series trades.

    `steps`: one row a setting, with `series`, `setting`, `sanitizer` and `parameters`, each series from loose to
    strict; `results`: their numbers; `releases`: `frontier.points` of those.
    """
    expect.table("steps", steps, ["series", "setting", *SETTING], "`sweeps.steps` gives one.")
    expect.these(results=results, releases=releases)
    there = pd.MultiIndex.from_frame(steps[SETTING]).isin(pd.MultiIndex.from_frame(results[SETTING]))
    return say(
        _reached(steps, there),
        _efficient(releases),
        *_along(steps[there], releases),
        f"No miner was run here: these are counts of what a release tells whoever reads it as it stands. {B}Efficient "
        f"is said of these settings, by these two measures. It does not mean safe.{B}",
    )


def _reached(steps, there):
    said = f"Of {len(steps)} settings of {steps.sanitizer.nunique()} sanitizers this table can give {there.sum()}."
    missing = steps[~there]
    return said + (f" It cannot give {listed(list(missing.setting))}." if len(missing) else "")


def _efficient(releases):
    of = [releases[f"{axis}_of"].iloc[0] for axis in AXES]
    status = releases.status.value_counts().reindex(["efficient", "dominated", "undecided"], fill_value=0)
    said = (
        f"By {of[0]} and {of[1]} no other setting beats {B}{status.efficient} of {len(releases)}{B}; "
        f"{status.dominated} are dominated: another one loses as little of both and less of one."
    )
    counts = releases[releases.status == "efficient"].sanitizer.value_counts()
    if len(counts):
        said += f" Those that none beats are of {listed([f'{name} ({count})' for name, count in counts.items()])}."
    buckets = [name for name in counts.index if group(name) == "buckets"]
    if buckets:
        said += (
            f" {listed(buckets)} {'publishes' if len(buckets) == 1 else 'publish'} quasi-identifiers as they are: who "
            "is in the table is told, and these two measures do not count it."
        )
    if status.undecided:
        undecided = releases[releases.status == "undecided"]
        drawn = list(dict.fromkeys(undecided.sanitizer))
        said += (
            f" {status.undecided} of {listed(drawn)} stay undecided: for one of the two nothing is counted, or it is "
            "random and was drawn once."
        )
    return said


def _along(steps, releases):
    """What each end of the first series loses; nothing where that has fewer than two settings with both losses."""
    rows = steps.merge(releases[[*SETTING, *AXES, *(f"{axis}_baseline" for axis in AXES)]], on=SETTING, how="left")
    rows = rows.dropna(subset=list(AXES))
    of = {axis: releases[f"{axis}_of"].iloc[0] for axis in AXES}
    for _, part in rows.groupby("series", sort=False):
        if len(part) > 1:
            first, last = part.iloc[0], part.iloc[-1]
            moves = listed([_moved(of[axis], axis, first, last) for axis in AXES])
            yield f"From {first.setting} to {last.setting}, {moves}. Less is better of both."
            return


def _moved(of, axis, first, last):
    a, b = first[axis], last[axis]
    verb = "stays" if f"{a:.3g}" == f"{b:.3g}" else "falls" if b < a else "rises"
    ends = f"at {a:.3g}" if verb == "stays" else f"from {a:.3g}{_beside(first, axis)} to {b:.3g}{_beside(last, axis)}"
    return f"the {of} {verb} {ends}"


def _beside(row, axis):
    baseline = row[f"{axis}_baseline"]
    return "" if pd.isna(baseline) else f" (baseline {baseline:.3g})"
