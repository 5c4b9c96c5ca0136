"""The table of results, kept row by row, and the charts beside it."""

import csv
import os
import re
from pathlib import Path

COLUMNS = ["work", "size", "parameters", "system", "seconds", "wall", "peak_mb", "loss", "ratio_to_privnb"]
OTHER_WORK = "anjana", "anonymity-api"  # they stand with their loss: what they do is not what privnb does
QUOTED, START = " (quoted)", ", with its start"
COMBINATIONS = {
    "few": "few combinations",
    "many": "many combinations",
    "joined": "many combinations, a column of many values",
}
SHAPES = "circle", "square", "cross", "diamond", "triangle-down", "triangle-left", "triangle-right"


def read(file):
    """All rows of a table of results, a list of dictionaries of text; none if there is no table yet."""
    if not Path(file).exists():
        return []
    with open(file, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def keep(file, row):
    """Put one row into the table, in place of an older one of its work and system, and write all ratios anew."""
    rows = [old for old in read(file) if not _replaced(old, row)]
    measured = {(old["work"], old["system"]) for old in rows}
    if (row["work"], row["system"].removesuffix(QUOTED)) not in measured:  # a quoted figure makes way
        rows.append({name: text(row.get(name)) for name in COLUMNS})
    own = {(old["work"], START in old["system"], step(old)): old for old in rows if tool(old) == "privnb"}
    for each in rows:
        # With its start beside with its start: a process that begins is compared with one that begins.
        beside = own.get((each["work"], START in each["system"], step(each)))
        same = beside is not None and tool(each) not in OTHER_WORK
        each["ratio_to_privnb"] = text(float(each["seconds"]) / float(beside["seconds"])) if same else ""
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with open(f"{file}.new", "w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    os.replace(f"{file}.new", file)  # whole or not at all: a kill loses only the running work


def tool(row):
    """The name of a row's system without its version."""
    return row["system"].split()[0]


def step(row):
    """The step of a work that a row is about, such as one criterion; empty if the work has one step."""
    return row["system"].partition(", ")[2] if row["work"].startswith("criteria-") else ""


def _replaced(old, row):
    return old["work"] == row["work"] and old["system"] in (row["system"], row["system"] + QUOTED)


def text(value):
    """A value as it stands in the table: numbers with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def draw(file, order):
    """Write the charts of a table of results beside it, the works in `order`. Returns their paths."""
    rows = [row for work in order for row in read(file) if row["work"] == work]
    paths = []
    for chart, suffix in (_works(rows), ""), (_growth(rows), "-growth"), (_files(rows), "-files"):
        if chart is not None:
            paths.append(Path(file).with_name(f"{Path(file).stem}{suffix}.svg"))
            chart.save(paths[-1])
    return paths


def _works(rows):
    """CPU seconds by work and system, on a logarithmic scale."""
    rows = [row for row in rows if not _is_growth(row) and not _is_file(row)]
    if not rows:
        return None
    # What is quoted ran on another machine, so the title does not boast of it.
    peers = [row for row in rows if row["ratio_to_privnb"] and tool(row) != "privnb" and QUOTED not in row["system"]]
    title = "CPU seconds by work and system"
    if peers:
        least, *_, most = sorted([*peers, *peers], key=lambda row: float(row["ratio_to_privnb"]))
        title = "The same work takes " + " to ".join(
            f"{float(row['ratio_to_privnb']):.3g} times ({row['system']}, {row['work']})" for row in (least, most)
        )
        title += " the CPU seconds of privnb"
    import altair as alt
    import pandas as pd

    from privnb.reporting.charts import COLOURS

    table = pd.DataFrame(rows).astype({"seconds": float})
    table["tool"] = [tool(row) + (START if START in row["system"] else "") for row in rows]
    table["figure"] = ["quoted" if QUOTED in row["system"] else "measured" for row in rows]
    # A colour and a shape a tool; with its start it keeps the colour.
    tools = sorted({tool(row) for row in rows}, key=lambda name: (name != "privnb", name))
    marks = dict(zip(tools, zip(["#000000", *COLOURS], SHAPES, strict=False), strict=False))
    marks |= {f"{name}{START}": (marks[name][0], "triangle-up") for name in tools}
    shown = [name for name in marks if name in set(table["tool"])]
    colour = alt.Scale(domain=shown, range=[marks[name][0] for name in shown])
    shape = alt.Scale(domain=shown, range=[marks[name][1] for name in shown])
    dashes = alt.Scale(domain=["measured", "quoted"], range=[[1, 0], [2, 2]])
    chart = (
        alt.Chart(table[["work", "seconds", "tool", "figure"]])
        .mark_point(size=80, strokeWidth=2)
        .encode(
            x=alt.X("seconds:Q", scale=alt.Scale(type="log"), title="CPU seconds (user + system), logarithmic"),
            y=alt.Y("work:N", sort=None, title=None),
            color=alt.Color("tool:N", scale=colour, title=None),
            shape=alt.Shape("tool:N", scale=shape, title=None),
            strokeDash=alt.StrokeDash("figure:N", scale=dashes, title=None),
        )
        .properties(height=alt.Step(26))
    )
    return _titled(
        chart, title, "One mark a system and work; pycanon's left mark is t alone. Dashed: quoted from an earlier run."
    )


def _growth(rows):
    """CPU seconds of Mondrian by the number of distinct combinations, both on logarithmic scales."""
    rows = [row for row in rows if _is_growth(row) and tool(row) == "privnb"]
    if not rows:
        return None
    import altair as alt
    import pandas as pd

    from privnb.reporting.charts import COLOURS

    draws = {"drawn": "whole records drawn", "independent": "each column drawn by itself"}
    table = pd.DataFrame(
        {
            "draw": draws[row["work"].split("-")[0]],
            "size": int(row["size"]),
            "records": f"{int(row['size']):,}",
            "combinations": int(re.search(r"combinations=(\d+)", row["parameters"])[1]),
            "seconds": float(row["seconds"]),
        }
        for row in rows
    ).sort_values(["draw", "size"])
    columns = table[table["draw"] == draws["independent"]]
    title = "Mondrian, k = 10: CPU seconds by distinct combinations"
    if len(columns) > 1:
        first, last = columns.iloc[0], columns.iloc[-1]
        more = {name: f"{last[name] / first[name]:.3g} times the" for name in ("combinations", "size", "seconds")}
        title = (
            f"Mondrian, k = 10, columns drawn by themselves: {more['combinations']} distinct combinations in "
            f"{more['size']} records take {more['seconds']} CPU seconds"
        )
    names = [*draws.values()]  # stated for colour and shape alike, they make one legend
    shape = alt.Shape("draw:N", scale=alt.Scale(domain=names), title=None)
    base = alt.Chart(table).encode(
        x=alt.X("combinations:Q", scale=alt.Scale(type="log"), title="distinct combinations, logarithmic"),
        y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="CPU seconds, logarithmic"),
        color=alt.Color("draw:N", scale=alt.Scale(domain=names, range=COLOURS), title=None),
    )
    chart = (
        base.mark_line()
        + base.mark_point(filled=True, size=70, opacity=1).encode(shape=shape)
        + base.mark_text(align="left", dx=8, dy=6).encode(text="records:N")
    )
    return _titled(chart, title, "Labels: number of records. Seven quasi-identifiers of Adult.")


def _files(rows):
    """Seconds and memory from file to file by the number of records, all on logarithmic scales."""
    rows = [row for row in rows if _is_file(row) and row["wall"]]
    if not any(tool(row) == "privnb" for row in rows):
        return None
    import altair as alt
    import pandas as pd

    from privnb.reporting.charts import COLOURS

    points = [
        {
            "records": int(row["size"]),
            "work": _named(row["work"]) if tool(row) == "privnb" else row["system"].split(",")[0] + QUOTED,
            "seconds": float(row["wall"]),
            "memory": float(row["peak_mb"]),
            "limit": float(limit[1])
            if (limit := re.search(r"bytes read once=([\d.e-]+)", row["parameters"]))
            else None,
        }
        for row in rows
    ]
    table = pd.DataFrame(points).sort_values(["work", "records"])
    names = [*dict.fromkeys(each["work"] for each in points)]
    most = max(
        (each for each in points if each["work"] == _named("file-many-parquet-")), key=lambda each: each["records"]
    )
    title = (
        f"{most['records']:,} records of nine columns go from file to file in {most['seconds']:.3g} seconds and "
        f"{most['memory'] / 1000:.2g} GB"
    )
    colours, shapes = [*COLOURS, "#000000", "#666666", "#8B4513"], [*SHAPES, "triangle-up", "M-1,-1L1,1M-1,1L1,-1"]
    base = alt.Chart(table).encode(
        x=alt.X("records:Q", scale=alt.Scale(type="log"), title="records, logarithmic"),
        color=alt.Color("work:N", scale=alt.Scale(domain=names, range=colours[: len(names)]), title=None),
    )
    shape = alt.Shape("work:N", scale=alt.Scale(domain=names, range=shapes[: len(names)]), title=None)
    panels = []
    for name, unit in ("seconds", "seconds (wall), logarithmic"), ("memory", "largest memory in MB, logarithmic"):
        y = alt.Y(f"{name}:Q", scale=alt.Scale(type="log"), title=unit)
        panels.append((base.mark_line() + base.mark_point(size=70).encode(shape=shape)).encode(y=y))
    limit = alt.Chart(table[table["work"] == most["work"]]).encode(x="records:Q", y="limit:Q")
    panels[0] += limit.mark_line(strokeDash=[4, 3], color="#000000")
    explained = (
        "k = 10; whole processes, compiled kernels, files in memory. Dashed: the Parquet file's bytes read once."
    )
    return _titled(alt.hconcat(*(panel.properties(width=330) for panel in panels)), title, explained, width=None)


def _named(work):
    """What a work from file to file is called: file-many-parquet-1000000."""
    what, kind, ending, _ = work.split("-")
    return f"{'graded' if what == 'grade' else 'released'}: {COMBINATIONS[kind]}, {ending}"


def _is_file(row):
    return row["work"].startswith(("file-", "grade-"))


def _is_growth(row):
    return row["work"].startswith(("drawn-", "independent-"))


def _titled(chart, title, explained, width=560):
    import textwrap

    import altair as alt

    return (
        chart.properties(
            **({"width": width} if width else {}),
            title=alt.Title(textwrap.wrap(title, 86), subtitle=textwrap.wrap(explained, 110), anchor="start"),
        )
        .configure_view(stroke=None)
        .configure_legend(orient="bottom", columns=4, labelLimit=300)
    )
