"""Altair charts from aggregates and tidy results; they see nothing else.

An Altair chart writes all of its data into the notebook and the page, columns that it does not draw included. So a
chart is made of an `Aggregate`: a small table with declared columns in which no row stands for fewer than `fewest`
people.
"""

import re
import textwrap
from dataclasses import dataclass

import pandas as pd

V5 = "application/vnd.vegalite.v5+json"  # the newest Vega-Lite type that JupyterLab 4.6 and nbformat accept
FEWEST = 10
WIDTH = 520
BOUNDS = {"k": "k-anonymity, by k", "l": "l-diversity (entropy), by l", "t": "t-closeness (equal distance), by t"}
# Okabe and Ito's colours, told apart by colour-blind readers; every series differs in shape as well.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


@dataclass(frozen=True, eq=False)
class Aggregate:
    """A table that may be shown: declared columns only, at most 500 rows, each of at least `fewest` people.

    `titles`: `{column: title with unit}`; columns without a title are left out. A column `people` holds the number of
    people behind each row. Raises ValueError for a row of 1 to `fewest` - 1 people: merge it with its neighbour first.
    """

    rows: pd.DataFrame
    titles: dict[str, str]
    fewest: int = FEWEST

    def __post_init__(self):
        missing = [name for name in self.titles if name not in self.rows]
        if missing:
            raise ValueError(f"the aggregate declares {missing}, which its rows lack ({', '.join(self.rows)}).")
        if len(self.rows) > 500:
            raise ValueError(f"an aggregate has at most 500 rows, got {len(self.rows)}. Group more coarsely.")
        if "people" in self.titles and self.rows["people"].between(1, self.fewest - 1).any():
            raise ValueError(f"a row stands for fewer than {self.fewest} people. Merge it: see merge_small.")
        object.__setattr__(self, "rows", self.rows[list(self.titles)].reset_index(drop=True))

    def _repr_html_(self):
        return self.rows.rename(columns=self.titles).to_html(index=False, border=0)


def merge_small(counts, fewest=FEWEST):
    """Merge neighbouring groups until each holds at least `fewest` people (or nobody).

    `counts`: Series of people by ordered label. Returns one of the same kind; a merged label reads "first to last".

    >>> merge_small(pd.Series({"80-84": 60, "85-89": 8, "90-94": 5})).to_dict()
    {'80-84': 60, '85-89 to 90-94': 13}
    """
    merged = []
    for label, people in counts.items():
        if merged and 0 < merged[-1][2] < fewest:
            merged[-1] = merged[-1][0], label, merged[-1][2] + people
        else:
            merged.append((label, label, people))
    while len(merged) > 1 and 0 < merged[-1][2] < fewest:
        (first, _, a), (_, last, b) = merged[-2:]
        merged[-2:] = [(first, last, a + b)]
    return pd.Series({f"{a}" if a == b else f"{a} to {b}": people for a, b, people in merged})


def setup():
    """Make charts draw without a network in JupyterLab, in papermill runs and in pages. Call once a notebook."""
    import altair as alt

    alt.renderers.register("privnb", _render)
    alt.renderers.enable("privnb")
    alt.data_transformers.enable("default", max_rows=500)


def _render(spec, **_):
    import vl_convert

    # Written by Vega-Lite 6's API, drawn by JupyterLab's Vega-Lite 5; the SVG serves all others.
    live = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    return {V5: live, "image/svg+xml": vl_convert.vegalite_to_svg(spec), "text/plain": str(spec.get("description"))}, {}


def people(counts, fewest=FEWEST):
    """Bars of people by group. `counts`: Series named after its attribute; small groups are merged with their
    neighbours.
    """
    import altair as alt

    unit = str(counts.index.name)
    merged = merge_small(counts, fewest)
    shown = Aggregate(
        merged.rename_axis("group").rename("people").reset_index(), {"group": unit, "people": "people"}, fewest
    )
    return _finish(
        alt.Chart(shown.rows)
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("group:N", sort=None, title=unit, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("people:Q", title="people"),
            tooltip=["group", "people"],
        ),
        f"{merged.max() / merged.sum():.0%} of all people have {unit} {merged.idxmax()}, the commonest group",
        f"Bars: number of people by {unit}.",
    )


def uniqueness(results):
    """Share of people singled out, by how many quasi-identifiers are known: the mean over all sets, and their range."""
    import altair as alt

    rows = results[results.measure == "unique"].assign(known=lambda r: r.target.str.count(", ") + 1)
    rows["value"] = rows.value.fillna(rows.high)  # withheld: drawn at its upper bound
    spread = rows.groupby("known").value.agg(["min", "mean", "max"]).reset_index()
    base = alt.Chart(Aggregate(spread, dict.fromkeys(spread, "")).rows).encode(
        x=alt.X("known:O", title="number of quasi-identifiers that the adversary knows", axis=alt.Axis(labelAngle=0))
    )
    share = alt.Axis(format="%")
    return _finish(
        base.mark_bar(color=COLOURS[5], size=14).encode(
            y=alt.Y("min:Q", title="share of people who are unique", axis=share), y2="max:Q"
        )
        + base.mark_point(color=COLOURS[1], filled=True, size=80, shape="diamond", opacity=1).encode(y="mean:Q"),
        f"One known attribute singles out {_percent(spread['mean'].iloc[0])} of all people, "
        f"all {len(spread)} together single out {_percent(spread['mean'].iloc[-1])}",
        "Bars: range over all sets of as many quasi-identifiers; diamonds: their mean.",
    )


def bars(results, measure, title, unit, format=".2f"):
    """Bars of one measure, one bar a setting, with the number beside it; its interval as a line, its baseline as a
    tick.
    """
    import altair as alt

    rows = _settings(results[results.measure == measure])[["setting", "value", "low", "high", "baseline"]]
    if rows.value.isna().all():
        return _none(measure)
    base = alt.Chart(Aggregate(rows, dict.fromkeys(rows, "")).rows).encode(y=alt.Y("setting:N", sort=None, title=None))
    chart = base.mark_bar(color=COLOURS[5]).encode(x=alt.X("value:Q", title=unit, axis=_axis(format)))
    chart += base.mark_text(align="left", dx=6).encode(
        x=alt.X("high:Q" if rows.high.notna().all() else "value:Q"), text=alt.Text("value:Q", format=format)
    )
    explained = [f"Bars: {unit} by setting"]
    if rows.low.notna().all():
        explained.append("lines: 95 % intervals")
        chart += base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(x="low:Q", x2="high:Q")
    if rows.baseline.notna().all():
        explained.append("black ticks: the baseline, a guess without the release")
        chart += base.mark_tick(color="black", thickness=2, size=16).encode(x="baseline:Q")
    return _finish(chart, _from_to(title, rows, format), "; ".join(explained) + ".")


def lines(results, measure, title, unit, format=".0%"):
    """One line a sanitizer of a measure by the bound that varies, one panel for each letter in `target`: k, l, t."""
    import altair as alt

    rows = results[results.measure == measure].dropna(subset="value")
    if rows.empty:
        return _none(measure)
    bound = [
        float(re.search(rf"(?:^|[ ,]){letter}=([0-9.]+)", parameters)[1])
        for letter, parameters in zip(rows.target, rows.parameters, strict=True)
    ]
    setting = [f"{s} {t}={b:g}" for s, t, b in zip(rows.sanitizer, rows.target, bound, strict=True)]
    rows = rows.assign(bound=bound, setting=setting)
    order = list(dict.fromkeys(rows.sanitizer))
    panels = []
    for letter, part in rows.groupby("target", sort=False):
        columns = ["sanitizer", "bound", "value"]
        scale = alt.Scale(type="log", nice=False) if letter == "k" else alt.Scale(zero=False)
        base = alt.Chart(Aggregate(part, dict.fromkeys(columns, "")).rows).encode(
            x=alt.X("bound:Q", title=letter, scale=scale, axis=alt.Axis(values=sorted(set(part.bound)), format="g")),
            y=alt.Y("value:Q", title=unit, axis=_axis(format)),
            color=alt.Color("sanitizer:N", scale=alt.Scale(domain=order, range=COLOURS), title=None),
            shape=alt.Shape("sanitizer:N", scale=alt.Scale(domain=order), title=None),
        )
        panel = base.mark_line() + base.mark_point(filled=True, size=60, opacity=1)
        panels.append(panel.properties(title=alt.Title(BOUNDS[letter], fontSize=12), width=WIDTH, height=200))
    return _finish(
        alt.vconcat(*panels),
        _from_to(title, rows, format),
        f"Lines: {unit} by sanitizer; lower keeps more. A sanitizer that cannot reach a bound has no point there.",
    )


def dots(results, measure, title, unit, *, of):
    """One dot a setting and miner, its 95 % interval as a line; black ticks mark the baseline. Values are divided by
    `of`.
    """
    rows = _settings(results[results.measure == measure])
    rows[["value", "low", "high", "baseline"]] /= of
    return _finish(
        _ranges(rows, "miner", unit, zero=False, format="%"),
        _from_to(title, rows, ".1%"),
        f"Dots: {unit} by setting and miner, with 95 % intervals; black ticks: the baseline.",
    )


def gains(results, measure, title, unit):
    """A gain by setting before and after an attack, with its control and, as black ticks, what chance alone shows."""
    kinds = {
        measure: "the release",
        f"{measure}_with_predictions": "with the worst miner's nearer predictions",
        f"{measure}_with_random_labels": "control: as many random labels",
    }
    rows = _settings(results[results.measure.isin(kinds)]).assign(kind=lambda r: r.measure.map(kinds))
    change = rows.pivot_table(index="setting", columns="kind", values="value")
    change = change.sub(change["the release"], axis=0).agg(["min", "max"])
    mined, random = (f"{change[kind].iloc[0]:+.4f} to {change[kind].iloc[1]:+.4f}" for kind in list(kinds.values())[1:])
    return _finish(
        _ranges(rows, "kind", unit),
        f"{title}: mined labels change it by {mined}, random ones by {random}",
        f"Dots: {unit} by setting; black ticks: the same classes with values dealt out at random.",
    )


def spans(results, measure, title, unit, *, of):
    """From the average to the worst miner by setting, the baseline as a black tick. Values are divided by `of`."""
    import altair as alt

    rows = _settings(results[(results.measure == measure) & results.miner.isin(["average", "worst"])])
    rows["value"] = rows.value.fillna(rows.high)  # withheld: drawn at its upper bound
    means = rows.groupby(["sanitizer", "setting", "miner"], sort=False)[["value", "baseline"]].mean() / of
    wide = means.value.unstack("miner")
    wide["baseline"] = means.baseline.groupby(level=[0, 1]).first()
    wide = wide.loc[means.index.droplevel("miner").unique()].reset_index()
    panels = []
    for name, part in wide.groupby("sanitizer", sort=False):
        base = alt.Chart(Aggregate(part, dict.fromkeys(part, "")).rows).encode(
            y=alt.Y("setting:N", sort=None, title=None)
        )
        average = alt.X("average:Q", title=unit, axis=_axis("%"))
        point = {"filled": True, "size": 70, "opacity": 1}
        panel = (
            base.mark_bar(size=8, color=COLOURS[5]).encode(x=average, x2="worst:Q")
            + base.mark_point(color=COLOURS[0], **point).encode(x="average:Q")
            + base.mark_point(color=COLOURS[1], shape="triangle-right", **point).encode(x="worst:Q")
            + base.mark_tick(color="black", thickness=2, size=18).encode(x="baseline:Q")
        )
        panels.append(panel.properties(title=alt.Title(name, fontSize=12), width=WIDTH))
    return _finish(
        alt.vconcat(*panels),
        _from_to(title, wide.rename(columns={"worst": "value"}), ".1%"),
        f"By setting: {unit}, from the average miner (circle) to the worst (triangle); black ticks: the guess without "
        "the release.",
    )


def _ranges(rows, series, unit, *, zero=True, format="f"):
    """A point for each setting and member of `series`, told apart by colour and shape, with interval and baseline."""
    import altair as alt

    columns = ["setting", series, "value", "low", "high", "baseline"]
    order = list(dict.fromkeys(rows[series]))
    base = alt.Chart(Aggregate(rows, dict.fromkeys(columns, "")).rows).encode(
        y=alt.Y("setting:N", sort=None, title=None), yOffset=alt.YOffset(f"{series}:N", sort=order)
    )
    x = alt.X("value:Q", title=unit, axis=_axis(format), scale=alt.Scale(zero=zero))
    chart = base.mark_tick(color="black", thickness=2, size=10).encode(x=alt.X("baseline:Q", title=unit))
    if rows.low.notna().any():
        chart += base.mark_rule(color="#888888").encode(x="low:Q", x2="high:Q")
    return chart + base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x,
        # The same domain stated twice makes one legend of colour and shape.
        color=alt.Color(f"{series}:N", scale=alt.Scale(domain=order, range=COLOURS), title=None),
        shape=alt.Shape(f"{series}:N", scale=alt.Scale(domain=order), title=None),
    )


def table(results, *, rows="setting", columns="miner", format="{:,.0f}"):
    """A small table of results to look at: values with their 95 % interval, and the guess that they have to beat.

    `rows`, `columns`: names of columns of the results, or lists of them. A withheld count reads "fewer than 10", an
    average that would tell it "withheld".
    """
    shown = _settings(results)
    bounded = shown.low.notna()
    few = ("fewer than " + (shown.high + 1).map("{:.0f}".format)).where(shown.high.notna(), "withheld")
    cell = shown.value.map(format.format).where(shown.value.notna(), few)
    interval = " (" + shown.low.map(format.format) + " to " + shown.high.map(format.format) + ")"
    shown["cell"] = cell + interval.where(bounded & shown.value.notna(), "")
    rows, columns = ([names] if isinstance(names, str) else list(names) for names in (rows, columns))
    per_row = (shown.groupby(rows, sort=False).baseline.nunique() <= 1).all()
    if not per_row:
        shown["cell"] += ("; baseline " + shown.baseline.map(format.format)).where(shown.baseline.notna(), "")
    wide = shown.pivot_table(index=rows, columns=columns, values="cell", aggfunc=_one, sort=False).fillna("")
    guess = shown.groupby(rows, sort=False).baseline.first()
    if per_row and guess.notna().any():
        name = "baseline"
        wide[(name, *[""] * (len(columns) - 1)) if len(columns) > 1 else name] = guess.map(
            format.format, "ignore"
        ).fillna("")
    wide.index.names, wide.columns.names = [None] * len(rows), [None] * len(columns)
    return wide


def _one(cells):
    """The cell of a table; of several all, one after the other."""
    return "; ".join(cells)


def _from_to(title, rows, format):
    """The title with the smallest and the largest value that the chart shows, and the settings that they belong to."""
    least, most = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
    return f"{title}: {least.value:{format}} ({least.setting}) to {most.value:{format}} ({most.setting})"


def _percent(share):
    return f"{share:.0%}" if share >= 0.005 or share == 0 else "less than 1%"


def _axis(format):
    """An axis with room between its labels and as many digits as tell them apart."""
    import altair as alt

    return alt.Axis(format=re.sub(r"\.\d", "", format), tickCount=8)


def _none(what):
    """Said instead of an empty chart."""
    from IPython.display import Markdown

    return Markdown(f"None of these settings has a {what.replace('_', ' ')}.")


def _settings(results):
    """Adds `setting`: how a person names a sanitizer and its main parameter. Several seeds become their mean."""
    main = results.parameters.str.split(", ").str[0]
    named = results.assign(setting=(results.sanitizer + " " + main).str.strip())
    one = [name for name in named if name not in ("seed", "value", "low", "high", "baseline")]
    if not named.duplicated(one).any():
        return named
    numbers = named.groupby(one, sort=False, dropna=False)[["value", "low", "high", "baseline"]]
    return numbers.agg(lambda repeats: repeats.mean(skipna=False)).reset_index()


def _finish(chart, title, description):
    """The looks that all charts share: a title that says something, below it what the marks mean, and both as the
    description for those who cannot see it.
    """
    import altair as alt

    if not isinstance(chart, alt.VConcatChart):
        chart = chart.properties(width=WIDTH)
    return (
        chart.properties(
            title=alt.Title(textwrap.wrap(title, 86), subtitle=textwrap.wrap(description, 110)),
            description=f"{title}. {description}",
        )
        .configure_view(stroke=None)
        .configure_title(anchor="start", fontSize=15, subtitleFontSize=12, subtitleColor="#444444", offset=12)
        # A label that is moved inwards at the end of an axis would touch its neighbour.
        .configure_axis(labelFontSize=12, titleFontSize=12, labelLimit=220, labelFlush=False)
        .configure_legend(orient="bottom", labelFontSize=12, labelLimit=300)
    )
