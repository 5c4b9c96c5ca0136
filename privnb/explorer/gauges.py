"""The gauges: each risk of a release compared with the caps of a policy."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from privnb.decision import policies
from privnb.decision.by_policy import at_cap, keeps
from privnb.decision.card import ASKS
from privnb.decision.policies import RISKS, Cap, Policy
from privnb.explorer.html import render
from privnb.measures.base import facts
from privnb.runtime import numerals
from privnb.runtime.numerals import percent

POLICY, NONE = "ontario-2025", "none"
WORKING = "working …"
VERDICTS = {"kept": "✓ kept", "broken": "✗ not kept", "unknown": "? unknown", "uncapped": "no cap", "working": WORKING}
READ = (
    "The bar is the risk, its light end the upper end of the 95% interval, the tall tick the cap. Bars grow with the "
    "square root, so that small risks are seen. A cap counts the upper end; an unknown risk keeps none. "
    "`privnb decide` measures the same. It also asks what users keep, and how many people share a combination."
)
Mark = tuple[str, float, float]  # a piece of a line: its kind, its left end and its width in percent


class Gauge(NamedTuple):
    """One risk as a gauge shows it; `number`: its value for machines, `marks`: the pieces of its bar."""

    risk: str
    verdict: str
    number: str
    asks: str
    value: str
    beside: str
    marks: list[Mark]
    said: str


@cache
def menu(own: str = POLICY) -> dict[str, Policy | None]:
    """Return the policies to choose from, the package's and the owner's: `{name: policy or None}`.

    `own`: the path of the owner's file, which is its name here too, or the name of a ready policy.
    """
    return {name: policies.read(name) for name in dict.fromkeys([*policies.ready(), own])} | {NONE: None}


def gauges(
    name: str, found: Mapping[str, pd.DataFrame] | None, failed: str = "", of: str = "", own: str = POLICY
) -> Markup:
    """Return the risks of a release compared with a policy.

    Parameters
    ----------
    name
        Of `menu(own)`.
    found
        By risk its tidy results, as far as they are known; None where there is no release: the panel has no gauges,
        and keeps the height that it had.
    failed
        Why the others are not measured; empty: they are on their way.
    of
        Of whom they are measured, where it is not the table, or why there is no release: a sentence.
    own
        The path of the owner's file, or the name of a ready policy.
    """
    titles = {each: policy.title if policy else NONE for each, policy in menu(own).items()}
    read, policy = READ, menu(own)[name]
    if policy:
        checked = "" if policy.verified else " They are not checked against the source itself."
        read += f" The caps are of {policy.source}.{checked} {policy.convention}".rstrip()
    risks = () if found is None else RISKS
    drawn = [_gauge(risk, _hardest(policy, risk, (found or {}).get(risk)), failed) for risk in risks]
    return render("gauges", name=name, titles=titles, above=of, gauges=drawn, help=read)


def _hardest(policy: Policy | None, risk: str, rows: pd.DataFrame | None) -> SimpleNamespace | None:
    """A risk beside the cap of it that is the hardest to keep, as a row of `by_policy.vectors`; of a risk that is not
    capped the mean; None where it is not measured.
    """
    if rows is None:
        return None
    uncapped = Cap(risk, 1.0)
    of_it = (risk, *policies.DISCLOSURES) if risk in policies.DISCLOSURES else (risk,)
    caps = [cap for cap in policy.caps if cap.risk in of_it] if policy else []
    if not caps:
        return SimpleNamespace(**at_cap(rows[rows.measure == uncapped.measure], uncapped) | {"cap": np.nan})
    beside = [SimpleNamespace(**at_cap(rows[rows.measure == cap.measure], cap)) for cap in caps]
    return max(beside, key=lambda row: (np.isnan(row.high), not keeps(row), row.high))


def _gauge(risk: str, row: SimpleNamespace | None, failed: str) -> Gauge:
    number, marks = "", [] if row is None or np.isnan(row.cap) else [("cap", _place(row.cap), 0.0)]
    if row is None:
        verdict, value, beside = ("unknown", "unknown", failed) if failed else ("working", WORKING, "")
    elif np.isnan(row.high):
        verdict, value, beside = "unknown", "unknown", f"{row.reason[:1].upper()}{row.reason[1:]}"
    else:
        verdict = "uncapped" if np.isnan(row.cap) else "kept" if keeps(row) else "broken"
        value, opening, interval = numerals.share(row.value, row.low, row.high).partition(" (")
        low, high = _place(row.high if np.isnan(row.value) else row.value), _place(row.high)  # and what is added
        beside = _beside(risk, row, opening + interval)
        marks = [("of", 0.0, low), ("to", low, high - low), *marks]
    if row is not None and not np.isnan(row.value):
        number = repr(float(row.value))
    is_broken = verdict == "unknown" and row is not None and bool(np.isfinite(row.cap))
    said = VERDICTS[verdict] + ", so not kept" * is_broken
    return Gauge(risk, verdict, number, ASKS[risk][0], value, beside, marks, said)


def _beside(risk: str, row: SimpleNamespace, interval: str) -> str:
    """What the number counts, its interval, what is reached without the release, and the cap: sentences."""
    counts = ASKS[risk][2] if row.axis.startswith(f"{risk} in") or row.axis == risk else "for the worst-off person"
    if counts.startswith("more") and row.value < 0:
        counts = "no more than without the file"
    said = [f"{', '.join(filter(None, [counts, row.group]))}{interval}."]
    if np.isfinite(row.cap):
        said.append(f"Cap: at most {percent(row.cap)}.")
    if np.isfinite(row.baseline):
        baseline = facts(row.measure).baseline
        said.append(f"{baseline[:1].upper()}{baseline[1:]}: {percent(row.baseline)}.")
    return " ".join(said)


def _place(share: float) -> float:
    return 100 * float(np.sqrt(np.clip(share, 0, 1)))
