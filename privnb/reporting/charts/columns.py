"""The distribution of people over the values of each column, with a panel per column, for one table or for two."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.column_distributions import COLUMN_CHANGES
from privnb.evaluation.results import Results, describe_bounds
from privnb.measures import measure_facts
from privnb.microdata.bands import Bands
from privnb.microdata.schema import Categories, Numbers, Schema
from privnb.microdata.treatment import TRUE
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.base import Aggregate, Drawing, none
from privnb.reporting.charts.drawing import Drawn, Nothing, drawing
from privnb.reporting.charts.looks import COLOURS, GREY, PALE
from privnb.runtime import numerals
from privnb.runtime.names import escape_invisible
from privnb.runtime.sentences import FullTable, Sentences, join_names
from privnb.runtime.validation import validated

PANELS, ACROSS = 24, 3  # columns that are drawn, and panels in a row
WIDTH, LABELS = 190, 132  # of a panel and of its labels, in pixels
BAR, PAIR = 17, 11  # the height of a bar, and of a bar of two, in pixels
ORIGINAL, RELEASE = "original", "release"
NUMBER = "people_with_value"


@drawing
def columns(results: Results, *, min_count: MinCount = LIMIT) -> Drawn:
    """Draw the distribution of people over the values of each column, one panel per column.

    Parameters
    ----------
    results : DataFrame
        Results of `measure_columns`.
    min_count : int
        The minimum number of people with which these results were counted.
    """
    counted = _counted(results[results.sanitizer == "Identity"])
    chart, cap = _panels(counted, counted.iloc[:0], min_count)
    return (
        chart,
        _commonest(results),
        (
            "Bars show the share of people with a value. Numbers are in bands; values and bands of fewer than "
            f"{min_count} people are merged with others.{cap}"
        ),
    )


@drawing
def column_changes(results: Results, *, min_count: MinCount = LIMIT) -> Drawn:
    """Draw the distributions of each column in a release and in the original next to each other, in a panel per column.

    Parameters
    ----------
    results : DataFrame
        Results of `measure_distributions` and of `ColumnChanges`.
    min_count : int
        The minimum number of people with which these results were counted.
    """
    changes = results[results.measure.isin(COLUMN_CHANGES)]
    if changes.empty:
        raise Nothing(why="No release is recommended, so there are no columns to compare with the original.")
    chart, cap = _panels(_counted(results), changes, min_count)
    return (
        chart,
        _most_changed(results),
        (
            f"Grey bars show the {ORIGINAL}, blue bars the {RELEASE}; a generalized cell counts in equal parts for all "
            "values under it. "
            f"A bar without a number is withheld, because it concerns fewer than {min_count} people.{cap}"
            f"{_vanished(results)}"
        ),
    )


def _vanished(results: pd.DataFrame) -> str:
    """Return a sentence about the columns in which values of the original do not occur any more, or an empty text."""
    rows = results[(results.measure == NUMBER) & (results.variant == "")]
    before, after = rows[rows.sanitizer == "Identity"], rows[(rows.sanitizer != "Identity") & (rows.value == 0)]
    gone = before[before.value > 0].merge(after, on=["target", "group"]).target.value_counts(sort=False)
    if gone.empty:
        return ""
    shown = join_names([f"{many} of {name}" for name, many in gone.items()])
    return f" Some values, or bands of numbers, no longer occur in the {RELEASE}: {shown}."


def _counted(results: pd.DataFrame) -> pd.DataFrame:
    counted = results[(results.measure == NUMBER) & results.value.notna()]
    if counted.empty:
        raise Nothing(why="The table has too few people to show the values of a column.")
    return counted


def _panels(counted: pd.DataFrame, changes: pd.DataFrame, min_count: int) -> tuple[Drawing, str]:
    """Return the panels of the first columns, and a sentence about how many columns are shown; empty if all are."""
    names = [*dict.fromkeys(counted.target)]
    panels = [
        _panel(
            counted[counted.target == name],
            name,
            _treatment(changes[changes.target == name].set_index("measure")),
            min_count,
            paired=len(changes) > 0,
        )
        for name in names[:PANELS]
    ]
    cap = f" The chart shows the first {PANELS} of {len(names)} columns." * (len(names) > PANELS)
    return alt.concat(*panels, columns=ACROSS, spacing=24), cap


def _panel(rows: pd.DataFrame, name: str, treatment: Sequence[str], min_count: int, *, paired: bool) -> Drawing:
    """Return the bars of one column: one bar for each group of values or, if `paired` is true, two."""
    rows = rows.assign(
        table=np.where(rows.sanitizer == "Identity", ORIGINAL, RELEASE),
        share=rows.value / rows.of,
        people=rows.value.round(),
        said=[numerals.write_percent(share) for share in rows.value / rows.of],
        look=np.where(rows.variant == "", "", np.where(rows.variant == "missing", "missing", "other")),
    )
    order = [*rows.sort_values("table", kind="stable").group.drop_duplicates()]
    # The groups that have no value of their own come last.
    last = set(rows.group[rows.variant != ""])
    order = [escape_invisible(each) for each in sorted(order, key=lambda each: each in last)]
    shown = Aggregate(rows, dict.fromkeys(["group", "table", "people", "share", "said", "look"], ""), min_count)
    axis = alt.Axis(
        labelLimit=LABELS, minExtent=LABELS, ticks=False, domain=False
    )  # so that all panels are equally wide
    base = alt.Chart(shown.rows).encode(
        y=alt.Y("group:N", sort=order, title=None, axis=axis),
        x=alt.X("share:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.3 * float(rows.share.max() or 1)])),
        tooltip=[
            alt.Tooltip("group:N", title=name),
            *([alt.Tooltip("table:N", title="table")] if paired else []),
            alt.Tooltip("people:Q", title="people", format=",.0f"),
            alt.Tooltip("said:N", title="share of people"),
        ],
    )
    if paired:
        base = base.encode(yOffset=alt.YOffset("table:N", sort=[ORIGINAL, RELEASE]))
        colour = alt.condition(f"datum.table === '{ORIGINAL}'", alt.value(PALE), alt.value(COLOURS[0]))
        height: Any = alt.Step(PAIR, **{"for": "offset"})
    else:
        colour = alt.condition("datum.look === ''", alt.value(COLOURS[0]), alt.value(PALE))
        height = alt.Step(BAR)
    bars = base.mark_bar().encode(color=colour)
    texts = base.mark_text(align="left", dx=4, fontSize=10 if paired else 11, color=GREY).encode(text="said:N")
    title = alt.Title(
        escape_invisible(name), subtitle=[*treatment], fontSize=13, subtitleFontSize=11, offset=6, frame="group"
    )
    return alt.layer(bars, texts).properties(width=WIDTH, height=height, title=title)


def _treatment(changes: pd.DataFrame) -> list[str]:
    """Return the lines of a subtitle: how a column was changed, and by how many people the distributions differ.

    `changes` holds the rows of the measures `COLUMN_CHANGES` for the column, by measure.
    """
    if changes.empty:
        return []
    cells = changes.loc["changed_cells"]
    if not cells.variant:
        return ["not published"]
    done = {"exact": "published unchanged", "bucketized": "values listed by bucket"}.get(cells.variant, cells.variant)
    if cells.status != "refused" and cells.value != 0:
        share = numerals.write_percent(cells.value) if pd.notna(cells.value) else "withheld share"
        done += f": {share} of cells" + " changed" * (cells.variant not in TRUE)
    if "distribution_change" not in changes.index or not changes.loc["distribution_change"].value > 0:
        return [done]
    return [done, f"{numerals.write_percent(changes.loc['distribution_change'].value)} of people are in another bar"]


def _commonest(results: pd.DataFrame) -> str:
    """Return the title of a chart of the distributions in the original."""
    rows = results[(results.measure == "commonest_value") & results.value.notna()]
    if rows.empty:
        return "People by the values of each column"
    most = rows.loc[rows.value.idxmax()]
    return f"{numerals.write_percent(most.value)} of people share one value of {most.target}"


def _most_changed(results: pd.DataFrame) -> str:
    """Return the title of a chart that compares a release with the original."""
    rows = results[(results.measure == "distribution_change") & results.value.notna()]
    if rows.empty or rows.value.max() == 0:
        return "No shown distribution of a column differs in the release"
    most = rows.loc[rows.value.idxmax()]
    return f"The column {most.target} changes most, for {numerals.write_percent(most.value)} of people"


@validated
def column_table(results: Results, schema: Schema) -> FullTable | Sentences:
    """Return a table with a row per column.

    Each row contains the role, the type, the values, the missing and rare values, the most common value, and the
    uniqueness of the column.

    Parameters
    ----------
    results : DataFrame
        Results of `describe` and `measure_columns`.
    schema : Schema
        The schema of the dataset.

    Returns
    -------
    FullTable or Sentences
        If there are no columns, the result is a sentence.
    """
    rows = results[results.sanitizer == "Identity"].drop_duplicates(["measure", "target"])
    found = {(row.measure, row.target): row for row in rows.itertuples()}
    if not schema.published:
        return none("published column")
    table = {}
    for name in schema.published:
        domain = schema[name].public_domain
        size = domain.size if isinstance(domain, Numbers) else len(domain.values)
        rows_of = {measure: found.get((measure, name)) for measure in CELLS}
        occurring, missing = rows_of["domain_size"], rows_of["missing_people"]
        if occurring is not None and missing is not None and domain.mark is not None:  # which is not a value
            rows_of["domain_size"] = occurring._replace(value=occurring.value - (missing.value != 0))
        said = {measure: _said(row) for measure, row in rows_of.items()}
        table[escape_invisible(name)] = {
            "role": str(schema[name].role),
            "type": _type(domain),
            "values": f"{said['domain_size']} of {size - (domain.mark is not None):,}",
            "missing": said["missing_people"],
            "rare values": said["rare_values"],
            "most common value": said["commonest_value"],
            "added uniqueness": said["added_uniqueness"] if name in schema.quasi_identifiers else "",
        }
    return FullTable(pd.DataFrame(table).T, "columns")


CELLS = ("domain_size", "missing_people", "rare_values", "commonest_value", "added_uniqueness")


def _type(domain: Numbers | Categories) -> str:
    return "number" if isinstance(domain, Numbers) else "bands" if isinstance(domain, Bands) else "category"


def _said(row: Any) -> str:
    """Return the number in a row of results as a text; for a withheld count, return its bounds."""
    if row is None:
        return ""
    facts = measure_facts(row.measure)
    if pd.isna(row.value):
        return describe_bounds(row.low, row.high) if facts.unit == "people" and pd.notna(row.high) else "withheld"
    if row.value == 0 and row.measure in ("missing_people", "rare_values"):
        return "none"
    return f"{row.group} ({facts.bare(row.value)})" if row.group else facts.bare(row.value)
