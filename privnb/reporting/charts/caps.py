"""Risks beside the caps of a policy: of each release of a decision, of all by their tightest cap, of a release card."""

from typing import Annotated, Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision.by_policy import LOSS, Decision
from privnb.decision.card import Card
from privnb.decision.points import ORIGINAL
from privnb.reporting.charts.base import distinguished, of_columns
from privnb.reporting.charts.drawing import Drawn, drawing, some
from privnb.reporting.charts.looks import COLOURS, INK, PALE
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import instead

KEPT, BROKEN, UNKNOWN = "keeps the cap", "breaks it", "unknown: keeps no cap"
PANEL = 190  # pixels
MOST = 12  # releases that are drawn
CHOSEN, POSSIBLE, RULED_OUT = "chosen", "keeps the policy", "ruled out"
EDGE = 2.0  # of a cap: what uses more of it is drawn here
PLANE = 320, 190  # pixels of what stands on the index beside a table
LETTER = 7
KINDS = {"mean": "on average", "worst_person": "worst-off person"}
Decided = Annotated[Decision, instead(Decision, "`decision.decide` gives one.")]


@drawing
def within_caps(decision: Decided) -> Drawn:
    """What users lose by each release, and how much of its tightest cap it uses: those below the line keep every cap.

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
    x = alt.X("loss:Q", title=f"lost {decision.about}, % of what there is", axis=alt.Axis(format="~%", tickCount=6))
    ends = alt.Scale(domain=[0, EDGE])
    y = alt.Y("place:Q", title="used of the tightest cap", scale=ends, axis=alt.Axis(format="~%", tickCount=4))
    looks = distinguished("state", order, [PALE, COLOURS[0], COLOURS[1]], ["cross", "circle", "diamond"])
    points = of_columns(rows, ["setting", "state", "place", "loss"]).mark_point(filled=True, size=60, opacity=1)
    tips = ["setting:N", "state:N", alt.Tooltip("loss:Q", format=".2%"), alt.Tooltip("place:Q", format=".0%")]
    layers = [
        alt.Chart(alt.Data(values=[{"cap": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="cap:Q"),
        points.encode(x=x, y=y, tooltip=tips, **looks),
    ]
    named = rows[(rows.state == CHOSEN) | (rows.sanitizer == ORIGINAL)]
    # What loses less than the chosen one lies above the line: below it, to the left, is room for a name.
    span = rows.loss.max() - rows.loss.min()
    far = (named.loss - rows.loss.min()) * PLANE[0] > named.setting.str.len() * LETTER * span
    for away, here in ((9, named[~far]), (-9, named[far])):
        if len(here):
            look: dict[str, Any] = {"align": "left" if away > 0 else "right", "dx": away, "dy": 12, "fontSize": 12}
            names = of_columns(here, ["setting", "place", "loss"]).mark_text(color=INK, **look)
            layers.append(names.encode(x=x, y=y, text="setting:N"))
    kept = int(releases.kept.sum())
    title = (
        f"{decision.setting} is chosen from the {kept} releases that keep the policy" if kept > 1
        else f"{decision.setting} alone keeps the policy" if kept else "No release keeps the policy"
    )  # fmt: skip
    said = f"Up to the dashed line every cap is kept; at the top: {EDGE:.0%} and more."
    missing = releases.drop(rows.index)
    refused = int((missing.status == "refused").sum())
    rest = {"as the floor rules them out": refused, "as something is unknown": len(missing) - refused}
    said += "".join(f" Not drawn, {why}: {number}." for why, number in rest.items() if number)
    return alt.layer(*layers, width=PLANE[0], height=PLANE[1]), title, said


@drawing
def caps(decision: Decided) -> Drawn:
    """A panel per cap: the risk of each release with its interval beside the cap, the chosen release first.

    Parameters
    ----------
    decision : Decision
    """
    rows = some(decision.vectors[decision.vectors.axis != LOSS], "cap")
    kept = (rows.high <= rows.cap + ROUNDING).map({True: KEPT, False: BROKEN}).mask(rows.high.isna(), UNKNOWN)
    named = rows.axis + rows.group.map(lambda group: f" ({group})" if group else "")
    rows = rows.assign(state=kept, said=named, place=rows.value.fillna(rows.high).fillna(rows.cap))
    rows = rows.assign(**{end: rows[end].fillna(rows.place) for end in ("low", "high")})
    near = _nearest(decision)
    order = list(dict.fromkeys([*near, *decision.releases.setting[decision.releases.sanitizer == ORIGINAL]]))
    rows = rows[rows.setting.isin(order)]
    looks = {KEPT: (COLOURS[0], "circle"), BROKEN: (COLOURS[1], "triangle-up"), UNKNOWN: (INK, "cross")}
    looks = {state: look for state, look in looks.items() if (rows.state == state).any()}
    looks = distinguished("state", [*looks], *map(list, zip(*looks.values(), strict=True)))
    base = of_columns(rows, ["setting", "axis", "state", "said", "place", "low", "high", "cap"])
    y = alt.Y("setting:N", sort=order, title=None)
    tips = ["setting:N", "said:N", "state:N", alt.Tooltip("place:Q", format=".2%")]
    span = alt.X("low:Q", title="share", axis=alt.Axis(format="~%", tickCount=4))
    panel = alt.layer(
        base.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="max(cap):Q"),
        base.mark_rule().encode(x=span, x2="high:Q", y=y, color=looks["color"]),
        base.mark_point(filled=True, size=55, opacity=1).encode(x="place:Q", y=y, tooltip=tips, **looks),
    ).properties(width=PANEL)
    chart = panel.facet(alt.Facet("axis:N", title=None, sort=list(dict.fromkeys(rows.axis))), columns=3)
    chart = chart.resolve_scale(x="independent")
    many = int(decision.releases.kept.sum())
    title = f"{many} of {len(decision.releases)} releases keep{'s' * (many == 1)} every cap of {decision.policy.title}"
    first = f", {decision.setting} first" if decision.setting else ""
    below = int((decision.releases.status == "refused").sum())
    floor = f" {below} releases may not be chosen whatever their risks." if below else ""
    if len(order) < len(decision.releases):
        floor += f" The {len(near)} nearest to the policy are drawn, and the original."
    said = f"Points: risk by release{first}, lower is better; lines: 95% intervals; dashed: the cap.{floor}"
    return chart, title, said


def _nearest(decision: Decision) -> list[str]:
    """The settings that are drawn, but for the original: of those that keep the floor the nearest to the policy. Below
    it no risk is measured, and there is nothing to draw.
    """
    able = decision.nearest_first
    return able.setting[able.status != "refused"].tolist()[:MOST]


@drawing
def card_risks(card: Card) -> Drawn:
    """Each known risk of a card with its interval, of the worst-off person too, and the caps as dashed lines.

    Parameters
    ----------
    card : Card
    """
    content = card.content
    rows = [
        {"risk": risk["risk"], "kind": said, **{name: risk[kind][name] for name in ("value", "low", "high")}}
        for risk in content["risks"]
        for kind, said in KINDS.items()
        if risk[kind] and risk[kind]["value"] is not None
    ]
    table = some(pd.DataFrame(rows), "risk")
    table = table.assign(**{name: table[name].astype(float).fillna(table.value) for name in ("low", "high")})
    caps = [{"risk": risk["risk"], "cap": cap["cap"]} for risk in content["risks"] for cap in risk["caps"]]
    looks = distinguished("kind", [*KINDS.values()], COLOURS[:2], ["circle", "triangle-up"])
    y = alt.Y("risk:N", sort=[risk["risk"] for risk in content["risks"]], title=None)
    x = alt.X("value:Q", title="risk", axis=alt.Axis(format="~%"))
    base = of_columns(table, ["risk", "kind", "value", "low", "high"])
    layers = [
        base.mark_rule().encode(x=alt.X("low:Q", title="risk"), x2="high:Q", y=y, color=looks["color"]),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, **looks),
    ]
    if caps:
        lines = of_columns(pd.DataFrame(caps), ["risk", "cap"])
        layers.append(lines.mark_tick(color=INK, thickness=3, size=26).encode(x=alt.X("cap:Q", title="risk"), y=y))
    kept = sum(cap["kept"] for risk in content["risks"] for cap in risk["caps"])
    title = f"{content['decision']['release']} keeps {kept} of {len(caps)} caps of {content['policy']['title']}"
    unknown = [risk["risk"] for risk in content["risks"] if risk["unknown"]]
    more = f" Unknown: {', '.join(unknown)}." if unknown else ""
    said = f"Points: risk, lower is better; lines: 95% intervals; ticks: the caps.{more}"
    return alt.layer(*layers, height=200), title, said
