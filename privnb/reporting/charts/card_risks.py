"""The risks of a release card beside the caps of its policy: a line for each number."""

import altair as alt
import pandas as pd

from privnb.decision.card import Card
from privnb.reporting.charts.base import Drawing, distinguished, finish, none, of_columns
from privnb.reporting.charts.looks import COLOURS, INK
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated

KINDS = {"mean": "on average", "worst_person": "worst-off person"}


@validated
def card_risks(card: Card) -> Drawing | Sentences:
    """Each known risk of a card with its interval, of the worst-off person too, and the caps as dashed lines.

    Parameters
    ----------
    card : Card

    Returns
    -------
    Altair chart or Sentences
        A sentence where no risk is known.
    """
    content = card.content
    rows = [
        {
            "risk": risk["risk"],
            "kind": said,
            **{name: risk[kind][name] for name in ("value", "low", "high", "baseline")},
        }
        for risk in content["risks"]
        for kind, said in KINDS.items()
        if risk[kind] and risk[kind]["value"] is not None
    ]
    if not rows:
        return none("risk")
    table = pd.DataFrame(rows)
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
    chart = alt.layer(*layers).properties(width=480, height=200)
    return finish(chart, title, f"Points: risk, lower is better; lines: 95% intervals; ticks: the caps.{more}")
