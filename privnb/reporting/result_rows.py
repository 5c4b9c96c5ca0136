"""The rows of `results.csv` from which the numbers of a page were computed, with anchors for links.

A number on a page is often a mean over seeds, so the number links to the rows of all seeds. A point in a chart that
shows numbers of several measures links to all rows of the release.
"""

from typing import Any

import pandas as pd

from privnb.evaluation.results import (
    compute_mean_ids,
    compute_release_ids,
    compute_row_ids,
    name_full_setting,
)
from privnb.measures.base import measure_facts

DIGITS = "%.12g"  # fewer digits than a float has, so that the order in which a processor adds does not show
SHOWN = ("seed", "value", "low", "high", "baseline")


def list_releases(results: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows in the form for a page: by release and, within a release, by measure and question.

    Returns
    -------
    list of dict
        Each release has an `id`, a `name` and its `numbers`. Each number has an `id`, a `question` and its `rows`, with
        a row per seed; the first number of a measure also has an `anchor`.
    """
    columns = {
        "id": compute_row_ids(results),
        "number": compute_mean_ids(results),
        "release": compute_release_ids(results),
        **{name: ["" if value != value else DIGITS % value for value in results[name]] for name in SHOWN},
    }
    several = results.dataset.nunique() > 1
    releases: dict[str, dict[str, Any]] = {}
    measures: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row, *cells in zip(results.itertuples(index=False), *columns.values(), strict=True):
        own = dict(zip(columns, cells, strict=True)) | {"status": row.status}
        release, number = own["release"], own["number"]
        if release not in releases:
            releases[release] = {"id": f"release-{release}", "name": name_full_setting(row), "numbers": []}
        numbers = measures.setdefault((release, row.measure), {})
        if number not in numbers:
            question = describe_question(row) + f", {row.dataset}" * several
            anchor = "" if numbers else f"release-{release}-{row.measure}"
            numbers[number] = {"id": f"rows-{number}", "anchor": anchor, "question": question, "rows": []}
        numbers[number]["rows"].append(own)
    for (release, _), numbers in measures.items():
        releases[release]["numbers"] += numbers.values()
    return [*releases.values()]


def anchors(releases: list[dict[str, Any]]) -> set[str]:
    """Return all anchors on the page that shows a result of `list_releases`."""
    numbers = [number for release in releases for number in release["numbers"]]
    rows = {f"row-{row['id']}" for number in numbers for row in number["rows"]}
    return rows | {release["id"] for release in releases} | {n[key] for n in numbers for key in ("id", "anchor")} - {""}


def describe_question(row: Any) -> str:
    """Return the question that a row of results answers: the measure, the people, the miner and the assumptions."""
    of = measure_facts(row.measure)
    variant = of.readings.get(row.variant, row.variant)
    parts = [
        f"of {row.target}" if row.target else "",
        f"for {row.group}" if row.group else "",
        f"by {row.miner}" if row.miner else "",
        f"scenario {row.scenario}" if len(row.scenario) == 1 else row.scenario,
        f"knowing {row.knows}" if row.knows else "",
        f"control: {row.control}" if row.control else "",
        "worst-off person" if row.variant == "largest" else variant,
    ]
    return ", ".join(filter(None, [of.title, *parts]))
