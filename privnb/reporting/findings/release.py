"""What a table and its releases are like: who stands out, what sanitizing costs, keeps and gives away."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.decision import AXES
from privnb.decision.points import Releases
from privnb.evaluation.releases import shown_penalty
from privnb.evaluation.results import SETTING, Results, setting_name, whose
from privnb.measures import facts
from privnb.measures.utility.information_loss import penalty_by_attribute
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.reporting.findings.base import Finding, Part, extremes, of_results
from privnb.reporting.findings.rows import Steps, capitalized, of
from privnb.runtime.names import names_in
from privnb.runtime.sentences import B, listed
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import group, title

NOBODY = (
    "Who stands out is not known: the description names no quasi-identifier. Give that role to each column that others "
    "may know. As long as there is none, no risk is measured."
)
BRANCHES, LARGE = 4, 0.25  # more branches of a node are many; a certainty penalty from here on is large
# What is said of one release, by measure.
COUNTED = {
    "certainty_penalty": "a published cell spans {}",
    "mean_absolute_error": "noise moves a number by {}",
    "change_rate": "noise changes {}",
    "accuracy_gain": "a guess of the {target} gains {}",
    "identity_vulnerability": "a row leads to its person for {}",
}
BUCKETS = (
    "Releases in buckets publish quasi-identifiers as they are: they disclose who is in the table, and these two "
    "measures do not count it."
)


@of_results("unique", "records", otherwise=NOBODY)
def uniqueness(results: Results) -> Iterator[Part]:
    """How many people are unique, and which two facts identify most."""
    unique, records = of(results, "unique"), of(results, "records").value.iloc[0]
    known = unique.knows.map(names_in).map(len)
    whole, pairs = unique.loc[known.idxmax()], unique[known == min(2, known.max())]
    people = of(results, "people").value.tolist()  # where they may have several records
    format = f"{{:.1%}} of {(people or [records])[0]:,.0f} people"
    alone = Finding("", whole.value, whole.low, whole.high, format)
    answer = (
        f"{alone.text} stand alone ({whose(results)}): nobody else shares all {known.max()} quasi-identifiers. "
        f"A blind guess finds 1 record in {records:,.0f}."
    )
    for pair in pairs.loc[pairs.value.fillna(pairs.high).nlargest(1).index].itertuples():
        names = capitalized(listed(names_in(pair.knows)))
        answer += f" {B}{names}{B} alone single{'' if known.max() > 1 else 's'} out {Finding.of(pair).number}."
    yield answer
    if people:
        yield [f"The table has {records:,.0f} records of {people[0]:,.0f} people. Who has several counts once, by any."]


@of_results("certainty_penalty", otherwise="These results have no sanitizer at several bounds.")
def release_costs(results: Results) -> Iterator[Part]:
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    answer, details = "", []
    for letter, part in results.dropna(subset="bound").groupby("parameter", sort=False):
        # A larger k or l asks for more, a smaller t does.
        strictest = part[part.bound == (part.bound.min() if letter == "t" else part.bound.max())]
        details += extremes(strictest, f"At {letter} = {strictest.bound.iloc[0]:g} a cell spans on average at most")
        known = strictest.dropna(subset="value").sort_values("value", kind="stable")
        if not answer and len(known):
            ends = [f"{Finding.of(row).text} under {setting_name(row)}" for _, row in known.iloc[[0, -1]].iterrows()]
            answer = (
                f"A published cell spans on average {', and '.join(ends)}. The original spans 0%; a table without "
                "quasi-identifiers spans 100%."
            )
    yield answer
    yield details


@validated
def steep_hierarchy(release: Release) -> Finding | None:
    """Whether a hierarchy is why a release loses much, and which.

    Where a cell of one attribute spans a quarter of the values or more, and more than all others together and than
    twice their average; and where a node of its hierarchy has more than four children: one rare value keeps them
    together.

    Parameters
    ----------
    release : Release

    Returns
    -------
    Finding or None
        None where no hierarchy is, and where what everybody loses would tell how many are suppressed.
    """
    if not release.generalized or pd.isna(shown_penalty(release)[0]):
        return None
    penalties = penalty_by_attribute(release)
    name = max(penalties, key=lambda each: penalties[each])
    own, others = penalties.pop(name), [*penalties.values()]
    rest, hierarchy = sum(others), release.hierarchies[name]
    if own < LARGE or not others or own <= max(rest, 2 * rest / len(others)) or not isinstance(hierarchy, Taxonomy):
        return None
    if (children := hierarchy.widest()) <= BRANCHES:
        return None
    shape = "one step from a value to *" if hierarchy.height == 1 else f"{children:,} branches at one node"
    return Finding(
        f"Most of the loss comes from the hierarchy of '{name}'",
        own,
        format="{:%} of the values per cell",
        beside={"other attributes on average": rest / len(others)},
        better="lower",
        note=f"It has {shape}: where one branch has too few people, no other is kept apart. Levels in between help.",
    )


@of_results(otherwise="These results have no release.")
def one_setting(results: Results, refused: str = "") -> Iterator[Part]:
    """What is counted of one release.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    refused : str
        Why there is no release, or empty.
    """
    if refused:
        yield f"{B}There is no such release.{B} {refused}"
    elif len(results):
        own = results[results.sanitizer == results.sanitizer.iloc[0]]  # a miner is shown the ends as well
        counted = own[own.miner == ""].drop_duplicates("measure").set_index("measure", drop=False)
        said = [
            words.format(Finding.of(counted.loc[measure], guess="chance").text, target=counted.target[measure])
            for measure, words in COUNTED.items()
            if measure in counted.index
        ]
        yield f"Under {B}{setting_name(own.iloc[0])}{B} ({whose(own)}), {'; '.join(said)}."
        yield "Another adversary may reach more: no number here says that this release is safe."


@of_results()
def every_setting(steps: Steps, results: Results, releases: Releases) -> Iterator[Part]:
    """What the first series trades, how many of the settings the table can give, and which of them no other beats.

    Parameters
    ----------
    steps : DataFrame
        One row per setting, with `series`, `setting`, `sanitizer` and `parameters`, each series from loose to strict.
    results, releases : DataFrame
        Their numbers, and `frontier.points` of those.
    """
    there = pd.MultiIndex.from_frame(steps[SETTING]).isin(pd.MultiIndex.from_frame(results[SETTING]))
    yield _along(steps[there], releases, whose(results))
    missing = "" if there.all() else f", but not {listed(steps.setting[~there])}"
    yield f"This table allows {B}{there.sum()} of {len(steps)} settings{B}{missing}."
    status = releases.status.value_counts()
    sanitizers = releases[releases.status == "efficient"].sanitizer.value_counts()
    beside = {
        "beaten": f"{status.get('dominated', 0)}",
        "undecided, as a number is missing or random": f"{status.get('undecided', 0)}",
        "by sanitizer": listed([f"{title(name)} ({count})" for name, count in sanitizers.items()] or ["none"]),
    }
    note = BUCKETS if "buckets" in set(sanitizers.index.map(group)) else ""
    subject = f"Settings that no other one beats in {listed([releases[f'{axis}_of'].iloc[0] for axis in AXES])}"
    yield Finding.count(subject, releases.status == "efficient", beside=beside, note=note)
    yield (
        "No miner was run here: these are counts of what a release tells whoever reads it as it stands. A setting that "
        "no other one beats by two measures is not thereby safe."
    )


def _along(steps: pd.DataFrame, releases: pd.DataFrame, of_whom: str) -> Any:
    """What the ends of the first series lose; nothing where that has fewer than two settings with both losses."""
    rows = steps.merge(releases.drop(columns="setting"), on=SETTING, how="left").dropna(subset=list(AXES))
    rows = rows[rows.groupby("series").series.transform("size") > 1]
    if rows.empty:
        return ""
    ends, said = rows[rows.series == rows.series.iloc[0]].iloc[[0, -1]], []
    for axis in AXES:
        format, baselines = facts(ends[f"{axis}_measure"].iloc[0]).format, ends[f"{axis}_baseline"]
        known = baselines.mask(baselines.duplicated(keep="last"))  # one that both have is said once
        first, last = (
            Finding("", value, format=format, beside={} if pd.isna(baseline) else {"baseline": baseline}).text
            for value, baseline in zip(ends[axis], known, strict=True)
        )
        said.append(f"{ends[f'{axis}_of'].iloc[0]} goes from {first} to {last}")
    return f"From {ends.setting.iloc[0]} to {ends.setting.iloc[1]}, {'; '.join(said)} ({of_whom})."
