"""The R-U map: every release by its risk and its loss, one line each, those of a kind together."""

import altair as alt

from privnb.decision.points import Releases
from privnb.measures import facts
from privnb.reporting.charts.base import Drawing, axis, distinguished, finish, none, of_columns
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue

ACROSS = 250  # pixels of a panel
ABLE, REFUSED = 1, 0  # how opaque the inside of a mark is: who may be chosen, and who may not


@validated
def risk_utility(releases: Releases) -> Drawing | Sentences:
    """Two panels beside one another, the risk and the loss, with a line for each release: kind by kind, in each the
    least risk first.

    Parameters
    ----------
    releases : DataFrame
        Of `decision.points`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    drawn = releases.dropna(subset=["privacy", "utility"])
    if drawn.empty:
        return none("release with both numbers")
    kinds = catalogue.groups(drawn.sanitizer)
    drawn = drawn.assign(kind=drawn.sanitizer.map(catalogue.group), seen=ABLE)
    drawn.loc[drawn.status == "refused", "seen"] = REFUSED
    drawn = drawn.sort_values("privacy").sort_values("kind", key=lambda kind: kind.map(kinds.index), kind="stable")
    risk, loss = (facts(releases[f"{each}_measure"].iloc[0]) for each in ("privacy", "utility"))
    low = float(drawn.privacy[drawn.privacy > 0].min()) / 2
    logarithmic = alt.Scale(type="log", domain=[low, 1.5], clamp=True, nice=False)
    marks = distinguished("kind", kinds)
    marks["fill"] = alt.Fill("kind:N", scale=marks["color"]["scale"], legend=None)
    base = of_columns(drawn, ["privacy", "utility", "setting", "kind", "seen"])
    panels = []
    for side, of, title, scale in (
        ("privacy", risk, f"{risk.label}, logarithmic", logarithmic),
        ("utility", loss, loss.label, alt.Scale(nice=False)),
    ):
        lines = alt.Axis(grid=True, labels=side == "privacy", ticks=side == "privacy", labelLimit=300)
        ticks = axis(of.format)
        ticks.tickCount, ticks.grid = 5, False
        panels.append(
            base.mark_point(size=45, strokeWidth=1.6)
            .encode(
                x=alt.X(f"{side}:Q", title=title, scale=scale, axis=ticks),
                y=alt.Y("setting:N", sort=drawn.setting.tolist(), title=None, axis=lines),
                fillOpacity=alt.FillOpacity("seen:Q", scale=None, legend=None),
                tooltip=["setting"],
                **marks,
            )
            .properties(width=ACROSS, height=alt.Step(17))
        )
    nearest = drawn[drawn.status != "refused"]
    said = "No release may be chosen"
    if len(nearest):
        best = nearest.loc[nearest.privacy.idxmin()]
        said = f"{len(drawn)} releases; of those that may be chosen, {best.setting} has the least risk"
    without = len(releases) - len(drawn)
    unseen = f" {without} of {len(releases)} are not drawn, for a number of theirs is not known." if without else ""
    return finish(
        alt.hconcat(*panels),
        said,
        f"Points: {risk.phrase} and {loss.phrase} of each release, lower is better. Hollow: it may not be chosen."
        + unseen,
    )
