"""A decision as charts: what each release loses and how near it comes to the caps, and a panel for each cap."""

from typing import Annotated, Literal

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision.by_policy import LOSS, ORIGINAL, Decision
from privnb.reporting.charts.base import Drawing, distinguished, finish, none, of_columns
from privnb.reporting.charts.looks import COLOURS, INK, PALE
from privnb.runtime.sentences import Sentences
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import instead, validated

KEPT, BROKEN, UNKNOWN = "keeps the cap", "breaks it", "unknown: keeps no cap"
PANEL = 190  # pixels
MOST = 12  # releases that are drawn
CHOSEN, POSSIBLE, RULED_OUT = "chosen", "keeps the policy", "ruled out"
EDGE = 2.0  # of a cap: what uses more of it is drawn here
PLANE = 320, 190  # pixels of what stands on the index beside a table
LETTER = 7
Decided = Annotated[Decision, instead(Decision, "`decision.decide` gives one.")]


@validated
def within_caps(decision: Decided) -> Drawing | Sentences:
    """What users lose by each release, and how much of its tightest cap it uses: those below the line keep every cap.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    releases = decision.releases
    state = np.where(releases.kept.astype(bool), POSSIBLE, RULED_OUT)
    state = np.where(releases.setting == decision.setting, CHOSEN, state)
    rows = releases.assign(place=releases.used.clip(upper=EDGE), state=state)
    rows = rows[np.isfinite(rows.loss) & rows.used.notna()]
    if rows.empty:
        return none("cap")
    order = [RULED_OUT, POSSIBLE, CHOSEN]  # the last is drawn on top
    rows = rows.sort_values("state", key=lambda state: state.map(order.index), kind="stable")
    x = alt.X("loss:Q", title=f"lost {decision.about}, % of what there is", axis=alt.Axis(format="~%", tickCount=6))
    ends = alt.Scale(domain=[0, EDGE])
    y = alt.Y("place:Q", title="used of the tightest cap", scale=ends, axis=alt.Axis(format="~%", tickCount=4))
    looks = distinguished("state", order, [PALE, COLOURS[0], COLOURS[1]], ["cross", "circle", "diamond"])
    points = of_columns(rows, ["setting", "state", "place", "loss"]).mark_point(filled=True, size=60, opacity=1)
    layers = [
        alt.Chart(alt.Data(values=[{"cap": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="cap:Q"),
        points.encode(
            x=x,
            y=y,
            **looks,
            tooltip=["setting:N", "state:N", alt.Tooltip("loss:Q", format=".2%"), alt.Tooltip("place:Q", format=".0%")],
        ),
    ]
    named = rows[(rows.state == CHOSEN) | (rows.sanitizer == ORIGINAL)]
    # What loses less than the chosen one lies above the line: below it, to the left, is room for a name.
    far = (named.loss - rows.loss.min()) * PLANE[0] > named.setting.str.len() * LETTER * (
        rows.loss.max() - rows.loss.min()
    )
    sides: list[tuple[Literal["left", "right"], int, pd.DataFrame]] = [
        ("left", 9, named[~far]),
        ("right", -9, named[far]),
    ]
    for align, away, some in sides:
        if len(some):
            names = of_columns(some, ["setting", "place", "loss"])
            text = names.mark_text(align=align, dx=away, dy=12, color=INK, fontSize=12)
            layers.append(text.encode(x=x, y=y, text="setting:N"))
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
    return finish(alt.layer(*layers), title, said).properties(width=PLANE[0], height=PLANE[1])


@validated
def caps(decision: Decided) -> Drawing | Sentences:
    """A panel per cap: the risk of each release with its interval beside the cap, the chosen release first.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    rows = decision.vectors[decision.vectors.axis != LOSS]
    if rows.empty:
        return none("cap")
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
    span = alt.X("low:Q", title="share", axis=alt.Axis(format="~%", tickCount=4))
    panel = alt.layer(
        base.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="max(cap):Q"),
        base.mark_rule().encode(x=span, x2="high:Q", y=y, color=looks["color"]),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x="place:Q",
            y=y,
            **looks,
            tooltip=["setting:N", "said:N", "state:N", alt.Tooltip("place:Q", format=".2%")],
        ),
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
    return finish(
        chart, title, f"Points: risk by release{first}, lower is better; lines: 95% intervals; dashed: the cap.{floor}"
    )


def _nearest(decision: Decision) -> list[str]:
    """The settings that are drawn, but for the original: of those that keep the floor the nearest to the policy. Below
    it no risk is measured, and there is nothing to draw.
    """
    able = decision.nearest_first
    return able.setting[able.status != "refused"].tolist()[:MOST]
