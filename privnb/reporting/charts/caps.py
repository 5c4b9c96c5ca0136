"""Which cap of a policy rules which release out: a panel for each cap, a point for each release."""

from privnb.decision.by_policy import LOSS, ORIGINAL, Decision
from privnb.microdata import expect
from privnb.reporting.charts.base import COLOURS, INK, alt, finish, none, of_columns

KEPT, BROKEN, UNKNOWN = "keeps the cap", "breaks it", "unknown: keeps no cap"
PANEL = 190  # pixels
MOST = 12  # releases that are drawn


def caps(decision):
    """A panel per cap: the risk of each release with its interval beside the cap, the chosen release first.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    expect.kind("decision", decision, Decision, instead="`decision.decide` gives one.")
    rows = decision.vectors[decision.vectors.axis != LOSS]
    if rows.empty:
        return none("cap")
    kept = (rows.high <= rows.cap + 1e-9).map({True: KEPT, False: BROKEN}).mask(rows.high.isna(), UNKNOWN)
    named = rows.axis + rows.group.map(lambda group: f" ({group})" if group else "")
    rows = rows.assign(state=kept, said=named, place=rows.value.fillna(rows.high).fillna(rows.cap))
    rows = rows.assign(**{end: rows[end].fillna(rows.place) for end in ("low", "high")})
    near = _nearest(decision)
    order = list(dict.fromkeys([*near, *decision.releases.setting[decision.releases.sanitizer == ORIGINAL]]))
    rows = rows[rows.setting.isin(order)]
    colours = alt.Scale(domain=[KEPT, BROKEN, UNKNOWN], range=[COLOURS[0], COLOURS[1], INK])
    base = of_columns(rows, ["setting", "axis", "state", "said", "place", "low", "high", "cap"])
    y = alt.Y("setting:N", sort=order, title=None)
    state = alt.Color("state:N", scale=colours, title=None)
    shape = alt.Shape(
        "state:N", scale=alt.Scale(domain=colours.domain, range=["circle", "triangle-up", "cross"]), title=None
    )
    span = alt.X("low:Q", title="share", axis=alt.Axis(format="~%", tickCount=4))
    panel = alt.layer(
        base.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="max(cap):Q"),
        base.mark_rule().encode(x=span, x2="high:Q", y=y, color=state),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x="place:Q",
            y=y,
            color=state,
            shape=shape,
            tooltip=["setting:N", "said:N", "state:N", alt.Tooltip("place:Q", format=".2%")],
        ),
    ).properties(width=PANEL)
    chart = panel.facet(alt.Facet("axis:N", title=None, sort=list(dict.fromkeys(rows.axis))), columns=3)
    chart = chart.resolve_scale(x="independent")
    many, all_of_them = int(decision.releases.kept.sum()), len(decision.releases)
    title = f"{many} of {all_of_them} releases keep{'s' * (many == 1)} every cap of {decision.policy.title}"
    first = f", {decision.setting} first" if decision.setting else ""
    below = int((decision.releases.status == "refused").sum())
    floor = f" {below} releases may not be chosen whatever their risks." if below else ""
    floor += f" The {len(near)} nearest to the policy are drawn, and the original." if len(order) < all_of_them else ""
    return finish(
        chart, title, f"Points: risk by release{first}, lower is better; lines: 95% intervals; dashed: the cap.{floor}"
    )


def _nearest(decision):
    """The settings that are drawn, but for the original: of those that keep the floor the nearest to the policy. Below
    it no risk is measured, and there is nothing to draw.
    """
    able = decision.nearest_first
    return able.setting[able.status != "refused"].tolist()[:MOST]
