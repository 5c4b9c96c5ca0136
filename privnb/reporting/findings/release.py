"""Findings about a table and its releases: unique people, the detail that is lost, and what releases disclose."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.decision import AXES
from privnb.decision.points import Releases
from privnb.evaluation.release_measures import withhold_penalty
from privnb.evaluation.results import SETTING_COLUMNS, Results, describe_source, name_setting
from privnb.measures import measure_facts
from privnb.measures.utility.information_loss import penalty_by_attribute
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.reporting.findings.numbers import make_number, number_of_row, to_json_number
from privnb.reporting.findings.rows import Steps, select_rows
from privnb.runtime.names import parse_names
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded
from privnb.sanitizers.catalogue import group, title

BRANCHES, LARGE = 4, 0.25  # more branches of a node are many; a certainty penalty from here on is large
COUNTED = ("certainty_penalty", "mean_absolute_error", "change_rate", "accuracy_gain", "identity_vulnerability")


@validated
def uniqueness(results: Results) -> Worded:
    """Return the finding about the number of unique people, and the two attributes that single out the most people."""
    unique = select_rows(results, "unique")
    data: dict[str, Any] = {"records": None, "people": None, "source": "", "all": None, "pairs": []}
    records, people = (select_rows(results, measure).value.tolist() for measure in ("records", "people"))
    if len(unique) and records:
        known = unique.knows.map(parse_names).map(len)
        pairs = unique[known == min(2, known.max())]
        most = pairs.loc[pairs.value.fillna(pairs.high).nlargest(1).index]
        data |= {
            "records": to_json_number(records[0]),
            "people": to_json_number(people[0]) if people else None,  # who may have several records
            "source": describe_source(results),
            "all": number_of_row(unique.loc[known.idxmax()], attributes=int(known.max())),
            "pairs": [number_of_row(row, attributes=[*parse_names(row.knows)]) for _, row in most.iterrows()],
        }
    return Worded("reporting/findings_uniqueness", data)


@validated
def release_costs(results: Results) -> Worded:
    """Return the finding about the sanitizers that keep the most and the least detail.

    The sanitizers are compared at the strictest bound of each kind.
    """
    bounds = []
    for letter, part in (
        select_rows(results, "certainty_penalty").dropna(subset="bound").groupby("parameter", sort=False)
    ):
        # A larger k or l asks for more, a smaller t does.
        strictest = part[part.bound == (part.bound.min() if letter == "t" else part.bound.max())]
        known = strictest.dropna(subset="value").sort_values("value", kind="stable")
        few = strictest[strictest.value.isna()]
        ends = [number_of_row(row) for _, row in known.iloc[[0, -1]].iterrows()] if len(known) else [None, None]
        bounds.append(
            {
                "letter": letter,
                "bound": float(strictest.bound.iloc[0]),
                "least": ends[0],
                "most": ends[1],
                "withheld": [number_of_row(row) for _, row in few.iterrows()],
            }
        )
    return Worded("reporting/findings_release_costs", {"bounds": bounds})


@validated
def steep_hierarchy(release: Release) -> Worded | None:
    """Return the finding about a hierarchy that makes a release lose much detail; None without such a hierarchy.

    Two conditions must hold. First, the cells of one attribute span, on average, at least a quarter of its values, more
    than the cells of all other attributes together, and more than twice the average of the other attributes. Second, a
    node of the hierarchy of this attribute has more than four children, because one rare value then prevents the
    division of this node.

    Parameters
    ----------
    release : Release

    Returns
    -------
    Worded or None
        The finding; None if the loss has another reason, or if the loss would reveal how many records are suppressed.
    """
    if not release.generalized or pd.isna(withhold_penalty(release)[0]):
        return None
    penalties = penalty_by_attribute(release)
    name = max(penalties, key=lambda each: penalties[each])
    own, others = penalties.pop(name), [*penalties.values()]
    rest, hierarchy = sum(others), release.hierarchies[name]
    if own < LARGE or not others or own <= max(rest, 2 * rest / len(others)) or not isinstance(hierarchy, Taxonomy):
        return None
    if (children := hierarchy.widest()) <= BRANCHES:
        return None
    shape = {"attribute": name, "others": rest / len(others), "branches": children, "is_flat": hierarchy.height == 1}
    return Worded("reporting/findings_steep_hierarchy", make_number(own, format="{:%} of the values", **shape))


@validated
def one_setting(results: Results, refused: str = "") -> Worded:
    """Return the finding about the numbers of one release.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    refused : str
        The reason why the release cannot be made; empty if the release can be made.
    """
    data: dict[str, Any] = {"refused": refused, "setting": "", "source": "", "numbers": {}}
    if len(results) and not refused:
        own = results[results.sanitizer == results.sanitizer.iloc[0]]  # a miner is shown the reference releases as well
        counted = own[own.miner == ""].drop_duplicates("measure").set_index("measure", drop=False)
        numbers = {name: number_of_row(counted.loc[name]) for name in COUNTED if name in counted.index}
        data |= {"setting": name_setting(own.iloc[0]), "source": describe_source(own), "numbers": numbers}
    return Worded("reporting/findings_one_setting", data)


@validated
def every_setting(steps: Steps, results: Results, releases: Releases) -> Worded:
    """Return the finding about many settings: the losses along the first series, and the efficient settings.

    The finding also has the number of possible settings.

    Parameters
    ----------
    steps : DataFrame
        One row per setting, with the columns `series`, `setting`, `sanitizer` and `parameters`; each series is in order
        from loose to strict.
    results, releases : DataFrame
        The numbers of the settings, and the table of `decision.points` for these numbers.
    """
    there = pd.MultiIndex.from_frame(steps[SETTING_COLUMNS]).isin(pd.MultiIndex.from_frame(results[SETTING_COLUMNS]))
    status = releases.status.value_counts()
    sanitizers = releases[releases.status == "efficient"].sanitizer.value_counts()
    data = {
        "along": [*_along(steps[there], releases)],
        "source": describe_source(results),
        "allowed": int(there.sum()),
        "settings": len(steps),
        "missing": [*steps.setting[~there]],
        "releases": len(releases),
        "axes": [releases[f"{axis}_of"].iloc[0] for axis in AXES],
        "status": {name: int(status.get(name, 0)) for name in ("efficient", "dominated", "undecided")},
        "by_sanitizer": [{"sanitizer": title(name), "settings": int(count)} for name, count in sanitizers.items()],
        "has_buckets": "buckets" in set(sanitizers.index.map(group)),
    }
    return Worded("reporting/findings_every_setting", data)


def _along(steps: pd.DataFrame, releases: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, for each of the two losses, the loss at the first and the last setting of a series.

    The series is the first one that has at least two settings for which both losses are known.
    """
    rows = steps.merge(releases.drop(columns="setting"), on=SETTING_COLUMNS, how="left").dropna(subset=list(AXES))
    rows = rows[rows.groupby("series").series.transform("size") > 1]
    if rows.empty:
        return
    ends = rows[rows.series == rows.series.iloc[0]].iloc[[0, -1]]
    for axis in AXES:
        facts = measure_facts(ends[f"{axis}_measure"].iloc[0])
        stated = {"format": facts.format, "baseline_is": facts.baseline}
        each = [
            make_number(value, setting=setting, baseline=to_json_number(baseline), **stated)
            for value, setting, baseline in zip(ends[axis], ends.setting, ends[f"{axis}_baseline"], strict=True)
        ]
        yield {"of": ends[f"{axis}_of"].iloc[0], "first": each[0], "last": each[1]}
