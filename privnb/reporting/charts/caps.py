"""Charts that compare risks with the caps of a policy: the risks of the releases in a decision, and of a card."""

import math
from typing import Annotated, Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision import price
from privnb.decision.by_policy import LOSS, Decision
from privnb.decision.card import Card
from privnb.decision.points import ORIGINAL
from privnb.decision.policies import DISCLOSURES
from privnb.reporting.charts.base import ID, choose_title, distinguish_series, of_columns
from privnb.reporting.charts.drawing import Drawn, drawing, some
from privnb.reporting.charts.looks import COLOURS, INK, PALE
from privnb.runtime import numerals
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import instead
from privnb.runtime.wording import write_count

KEPT, BROKEN, UNKNOWN = "keeps the cap", "breaks the cap", "unknown, does not meet the cap"
PANEL = 190  # pixels
MOST = 12  # the number of releases that are drawn
CHOSEN, POSSIBLE, RULED_OUT = "chosen", "keeps the policy", "ruled out"
EDGE = 2.0  # a release that uses more of its tightest cap is drawn here
PLANE = 320, 230  # width and height of the chart in pixels
LETTER = 7
LONG = 400  # pixels of the longest name of a release
LOW = 0.5  # the name of a release that uses less of its tightest cap is drawn above its point, below the line
AWAY = 14, 28  # pixels between the point of a release and its name, to the side and down
KINDS = {"mean": "on average", "worst_person": "worst-off person"}
Decided = Annotated[Decision, instead(Decision, "`decision.decide` returns one.")]


@drawing
def within_caps(decision: Decided) -> Drawn:
    """Draw, for each release, the loss of users and the risk as a share of the tightest cap.

    Parameters
    ----------
    decision : Decision
    """
    releases = decision.releases
    state = np.where(releases.kept.astype(bool), POSSIBLE, RULED_OUT)
    state = np.where(releases.setting == decision.setting, CHOSEN, state)
    rows = releases.assign(place=releases.used.clip(upper=EDGE), state=state)
    rows = some(rows[np.isfinite(rows.loss) & rows.used.notna()], "cap")
    order = [RULED_OUT, POSSIBLE, CHOSEN]  # the last is drawn on top
    rows = rows.sort_values("state", key=lambda state: state.map(order.index), kind="stable")
    most = f"{numerals.write_percent(EDGE)} or more"
    rows = rows.assign(use=rows.used.map(lambda used: numerals.write_percent(used) if used < EDGE else most))
    x = alt.X(
        "loss:Q",
        title="utility loss, % of what removing all quasi-identifiers would lose",
        axis=alt.Axis(format="~%", tickCount=6),
    )
    ends = alt.Scale(domain=[0, EDGE])
    y = alt.Y("place:Q", title="used of the tightest cap", scale=ends, axis=alt.Axis(format="~%", tickCount=4))
    looks = distinguish_series("state", order, [PALE, COLOURS[0], COLOURS[1]], ["cross", "circle", "diamond"])
    points = of_columns(rows, ["setting", "state", "place", "loss", "use"]).mark_point(filled=True, size=60, opacity=1)
    tips = [
        alt.Tooltip("setting:N", title="release"),
        "state:N",
        alt.Tooltip("loss:Q", title="utility loss", format=".2%"),
        alt.Tooltip("use:N", title="used of the tightest cap"),
    ]
    layers = [
        alt.Chart(alt.Data(values=[{"cap": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="cap:Q"),
        points.encode(x=x, y=y, tooltip=tips, **looks),
    ]
    named = rows[(rows.state == CHOSEN) | (rows.sanitizer == ORIGINAL)]
    # A leader joins a point and its name, which lies away from other releases and from the line.
    span = rows.loss.max() - rows.loss.min()
    far = (named.loss - rows.loss.min()) * PLANE[0] > named.setting.str.len() * LETTER * span
    low = named.place < LOW
    for side, down, here in (
        (side, down, named[(far == (side < 0)) & (low == (down < 0))]) for side in (1, -1) for down in (1, -1)
    ):
        if len(here):
            of = of_columns(here, ["setting", "place", "loss"])
            end: dict[str, Any] = {"x2Offset": side * (AWAY[0] - 2), "y2Offset": down * (AWAY[1] - 7)}
            look: dict[str, Any] = {
                "align": "left" if side > 0 else "right",
                "dx": side * AWAY[0],
                "dy": down * AWAY[1],
            }
            layers.append(of.mark_rule(color=INK, strokeWidth=0.7, **end).encode(x=x, x2="loss:Q", y=y, y2="place:Q"))
            layers.append(of.mark_text(color=INK, fontSize=12, **look).encode(x=x, y=y, text="setting:N"))
    kept = int(releases.kept.sum())
    title = (
        choose_title(f"The policy chooses {decision.setting}", "The policy chooses one of several releases") if kept > 1
        else choose_title(f"{decision.setting} alone complies with the policy", "One release complies with the policy")
        if kept
        else "No release complies with the policy"
    )  # fmt: skip
    said = (
        f"Releases up to the dashed line meet every cap; those at the top use {EDGE:.0%} or more of the tightest cap."
    )
    missing = releases.drop(rows.index)
    refused = int((missing.status == "refused").sum())
    rest = {"whose classes are too small": refused, "without a known loss or risk": len(missing) - refused}
    if left_out := [which for which, many in rest.items() if many]:
        said += f" Releases {' or '.join(left_out)} are not drawn."
    return alt.layer(*layers, width=PLANE[0], height=PLANE[1]), title, said


@drawing
def caps(decision: Decided) -> Drawn:
    """Draw a panel per cap with the risk of each release, the interval of the risk, and the cap.

    The chosen release comes first.

    Parameters
    ----------
    decision : Decision
    """
    rows = some(decision.vectors[decision.vectors.axis != LOSS], "cap")
    kept = (rows.high <= rows.cap + ROUNDING).map({True: KEPT, False: BROKEN}).mask(rows.high.isna(), UNKNOWN)
    named = rows.axis + rows.group.map(lambda group: f" ({group})" if group else "")
    numbers = [_write_risk(*each) for each in rows[["value", "low", "high"]].astype(float).itertuples(index=False)]
    place = rows.value.fillna(rows.high).fillna(rows.cap)
    rows = rows.assign(
        state=kept, said=named, place=place, number=numbers, at_most=rows.cap.map(numerals.write_percent)
    )
    rows = rows.assign(**{end: rows[end].fillna(rows.place) for end in ("low", "high")})
    near = _nearest(decision)
    order = list(dict.fromkeys([*near, *decision.releases.setting[decision.releases.sanitizer == ORIGINAL]]))
    rows = rows[rows.setting.isin(order)]
    looks = {KEPT: (COLOURS[0], "circle"), BROKEN: (COLOURS[1], "triangle-up"), UNKNOWN: (INK, "cross")}
    looks = {state: look for state, look in looks.items() if (rows.state == state).any()}
    looks = distinguish_series("state", [*looks], *map(list, zip(*looks.values(), strict=True)))
    base = of_columns(rows, ["setting", "axis", "state", "said", "place", "low", "high", "cap", "number", "at_most"])
    y = alt.Y("setting:N", sort=order, title=None, axis=alt.Axis(labelLimit=LONG))
    titles = {"setting": "release", "said": "risk", "number": "value", "at_most": "cap", "state": "state"}
    tips = [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]
    span = alt.X("low:Q", title="share", axis=alt.Axis(format="~%", tickCount=4))
    panel = alt.layer(
        base.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="max(cap):Q"),
        base.mark_rule().encode(x=span, x2="high:Q", y=y, color=looks["color"]),
        base.mark_point(filled=True, size=55, opacity=1).encode(x="place:Q", y=y, tooltip=tips, **looks),
    ).properties(width=PANEL)
    chart = panel.facet(alt.Facet("axis:N", title=None, sort=list(dict.fromkeys(rows.axis))), columns=3)
    chart = chart.resolve_scale(x="independent")
    title = choose_title(
        f"{decision.setting or 'No release'} meets every cap of the policy", "The chosen release meets every cap"
    )
    first = f", {decision.setting} first" if decision.setting else ""
    note = ""
    if len(order) < len(decision.releases):
        note = " The chart shows the releases that are nearest to the policy, and the original."
    said = (
        f"Points show the risk by release{first}; lower is better. Lines are 95% intervals, and dashed lines are "
        f"the caps of {decision.policy.title}.{note}"
    )
    return chart, title, said


def _write_risk(value: float, low: float, high: float) -> str:
    """Return a risk with its interval; if only an upper bound is known, the bound."""
    if math.isnan(high):
        return "unknown" if math.isnan(value) else numerals.write_percent(value)
    return numerals.write_share(value, value if math.isnan(low) else low, high)


def _nearest(decision: Decision) -> list[str]:
    """Return the settings to draw in addition to the original: the chosen setting, and the nearest to the policy.

    Releases below the minimum class size are left out, because their risks are not measured.
    """
    able = decision.nearest_first
    nearest = able.setting[able.status != "refused"].tolist()
    return [*dict.fromkeys([*filter(None, [decision.setting]), *nearest])][:MOST]


@drawing
def loss_by_cap(decision: Decided) -> Drawn:
    """Draw a panel per cap with the smallest loss of the users for each value of the cap.

    Parameters
    ----------
    decision : Decision
    """
    rows = some(price.loss_by_cap(decision), "release that meets the other caps")
    rows = rows.assign(said=rows.axis)
    x = alt.X("at_most:Q", title="cap", axis=alt.Axis(format="~%", tickCount=4))
    y = alt.Y("loss:Q", title="smallest utility loss", axis=alt.Axis(format="~%", tickCount=4))
    base = of_columns(rows, ["axis", "cap", "at_most", "loss", "setting"])
    tips = [
        alt.Tooltip("at_most:Q", title="cap", format=".1%"),
        alt.Tooltip("loss:Q", title="utility loss", format=".1%"),
        "setting:N",
    ]
    panel = alt.layer(
        base.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="max(cap):Q"),
        base.mark_line(interpolate="step-after", color=COLOURS[0]).encode(x=x, y=y),
        base.mark_point(filled=True, size=55, opacity=1, color=COLOURS[0]).encode(x=x, y=y, tooltip=tips),
    ).properties(width=PANEL)
    chart = panel.facet(alt.Facet("axis:N", title=None, sort=list(dict.fromkeys(rows.axis))), columns=3)
    chart = chart.resolve_scale(x="independent")
    said = (
        "Each point is the measured release of least utility loss that meets this cap and all other caps of "
        f"{decision.policy.title}. Dashed lines are the caps of the policy; left is stricter."
    )
    return chart, "The utility loss that each cap costs", said


@drawing
def loss_by_people(decision: Decided) -> Drawn:
    """Draw the projected loss of the users, under the caps of the policy, by the number of people in the table.

    Parameters
    ----------
    decision : Decision
    """
    rows = price.loss_by_people(decision).dropna()
    rows = some(rows if rows.loss.nunique() > 1 else rows.iloc[:0], "number of people that changes the loss")
    x = alt.X("people:Q", title="people in the table", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s"))
    y = alt.Y("loss:Q", title="smallest utility loss", axis=alt.Axis(format="~%", tickCount=4))
    base = of_columns(rows, ["people", "loss", "setting"])
    tips = [alt.Tooltip("people:Q", format=","), alt.Tooltip("loss:Q", title="utility loss", format=".1%"), "setting:N"]
    chart = alt.layer(
        alt.Chart(alt.Data(values=[{"people": decision.people}]))
        .mark_rule(color=INK, strokeDash=[4, 3])
        .encode(x="people:Q"),
        base.mark_line(interpolate="step-after", color=COLOURS[0]).encode(x=x, y=y),
        base.mark_point(filled=True, size=55, opacity=1, color=COLOURS[0]).encode(x=x, y=y, tooltip=tips),
        width=PLANE[0],
        height=PANEL,
    )
    said = (
        "A projection: each risk stays as measured, and its interval shrinks with the square root of the number of "
        "people. The dashed line is this table."
    )
    return chart, "The utility loss that a larger table would cost", said


@drawing
def card_risks(card: Card) -> Drawn:
    """Draw each known risk of a card, on average and for the worst-off person, with the interval and the caps.

    Parameters
    ----------
    card : Card
    """
    content = card.content
    rows = [
        {
            "risk": risk["risk"],
            "kind": said,
            **{name: risk[kind]["value" if risk["risk"] in DISCLOSURES else name] for name in ("value", "low", "high")},
            "number": numerals.write_percent(risk[kind]["value"]),
            ID: f"row-{next(iter(risk[kind].get('ids', [])), '')}",
        }
        for risk in content["risks"]
        for kind, said in KINDS.items()
        if risk[kind] and risk[kind]["value"] is not None
    ]
    table = some(pd.DataFrame(rows), "risk")
    table = table.assign(**{name: table[name].astype(float).fillna(table.value) for name in ("low", "high")})
    caps = [{"risk": risk["risk"], "cap": cap["cap"]} for risk in content["risks"] for cap in risk["caps"]]
    looks = distinguish_series("kind", [*KINDS.values()], COLOURS[:2], ["circle", "triangle-up"])
    y = alt.Y("risk:N", sort=[risk["risk"] for risk in content["risks"]], title=None)
    x = alt.X("value:Q", title="risk", axis=alt.Axis(format="~%"))
    base = of_columns(table, ["risk", "kind", "value", "low", "high", "number"])
    tips = ["risk:N", alt.Tooltip("kind:N", title="whose"), alt.Tooltip("number:N", title="value")]
    layers = [
        base.mark_rule().encode(x=alt.X("low:Q", title="risk"), x2="high:Q", y=y, color=looks["color"]),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, tooltip=tips, **looks),
    ]
    if caps:
        lines = of_columns(pd.DataFrame(caps), ["risk", "cap"])
        layers.append(lines.mark_tick(color=INK, thickness=3, size=26).encode(x=alt.X("cap:Q", title="risk"), y=y))
    over = sum(not cap["kept"] for risk in content["risks"] for cap in risk["caps"])
    state = f"may exceed {write_count(over, 'cap')}" if over else "stays below every cap" if caps else "has no cap"
    title = choose_title(f"{content['decision']['release']} {state}", f"The release {state}")
    unknown = [risk["risk"] for risk in content["risks"] if risk["unknown"]]
    more = f" Some risks are unknown: {', '.join(unknown)}." if unknown else ""
    said = (
        f"Points show the risk (lower is better), lines the 95% interval of the risk, and ticks the caps of "
        f"{content['policy']['title']}. A counted risk, such as certainty, has no interval.{more}"
    )
    return alt.layer(*layers, height=200), title, said
