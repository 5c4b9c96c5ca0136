"""The gauges: each risk of a release compared with the caps of a policy."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from privnb.decision import policies
from privnb.decision.by_policy import keeps_cap, read_at_cap, read_at_policy_cap
from privnb.decision.policies import RISKS, Cap, Policy
from privnb.explorer.html import render_template
from privnb.measures.base import measure_facts
from privnb.runtime import numerals
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import strip_markup
from privnb.runtime.wording import line

POLICY, NONE = "ontario-2025", "none"
MEASURING = "measuring …"
VERDICTS = {
    "kept": "✓ kept", "broken": "✗ exceeded", "unknown": "? unknown", "uncapped": "no cap", "working": MEASURING,
}  # fmt: skip
HELP = (
    "The bar shows the risk, its light end the upper end of the 95% interval, and the tall tick the cap. The length of "
    "a bar is the square root of the risk, so that small risks are visible. A cap is kept if the upper end stays below "
    "it; an unknown risk does not keep its cap. `privnb decide` measures the same risks. It also checks the utility "
    "and the minimum class size."
)
Mark = tuple[str, float, float]  # a part of a bar: its kind, its left end and its width in percent


class Gauge(NamedTuple):
    """The gauge of one risk.

    `number` is the value for machines, and `marks` are the parts of the bar. `numbers` has the value, the interval and
    the axis of the risk, or is None if the risk is not measured.
    """

    risk: str
    verdict: str
    number: str
    asks: str
    value: str
    context: str
    marks: list[Mark]
    verdict_text: str
    numbers: SimpleNamespace | None


@cache
def list_policies(own: str = POLICY) -> dict[str, Policy | None]:
    """Return the policies to choose from, those of the package and the owner's, as `{name: policy or None}`.

    `own` is the path of the owner's file, which is also the name of this policy, or the name of a policy of the
    package.
    """
    return {name: policies.read(name) for name in dict.fromkeys([*policies.list_policy_names(), own])} | {NONE: None}


def render_gauges(
    name: str, found: Mapping[str, pd.DataFrame] | None, failed: str = "", of: str = "", own: str = POLICY
) -> Markup:
    """Render the risks of a release compared with a policy.

    Parameters
    ----------
    name
        One of `list_policies(own)`.
    found
        The tidy results by risk, as far as they are known; None if there is no release. If None, the panel has no
        gauges but keeps its height.
    failed
        The reason why the risks without results are not measured; empty while these risks are being measured.
    of
        A sentence about the sample if the risks are not those of the whole table, or about why there is no release.
    own
        The path of the owner's file, or the name of a policy of the package.
    """
    titles = {each: policy.title if policy else NONE for each, policy in list_policies(own).items()}
    text, policy = HELP, list_policies(own)[name]
    if policy:
        checked = "" if policy.verified else " They are not checked against the source itself."
        text += f" The caps come from {policy.source}.{checked} {policy.convention}".rstrip()
    drawn = [] if found is None else make_gauges(policy, found, failed)
    return render_template("gauges", name=name, titles=titles, above=of, gauges=drawn, help=text)


def make_gauges(policy: Policy | None, found: Mapping[str, pd.DataFrame], failed: str = "") -> list[Gauge]:
    """Return the gauge of each risk; `found` and `failed` are those of `render_gauges`."""
    return [_make_gauge(risk, _tightest_cap(policy, risk, found.get(risk)), failed) for risk in RISKS]


def _tightest_cap(policy: Policy | None, risk: str, rows: pd.DataFrame | None) -> SimpleNamespace | None:
    """Return a risk with its tightest cap, as a row of `by_policy.compute_vectors`.

    If the policy has no cap on the risk, return the mean risk. If the risk is not measured, return None.
    """
    if rows is None:
        return None
    uncapped = Cap(risk, 1.0)
    names = (risk, *policies.DISCLOSURES) if risk in policies.DISCLOSURES else (risk,)
    caps = [cap for cap in policy.caps if cap.risk in names] if policy else []
    if policy is None or not caps:
        return SimpleNamespace(**read_at_cap(rows[rows.measure == uncapped.measure], uncapped) | {"cap": np.nan})
    # The board measures no informed adversary: a cap against this adversary is unknown, and not kept.
    capped = [
        SimpleNamespace(**read_at_policy_cap(lambda name: rows[rows.measure == name], cap, policy)) for cap in caps
    ]
    return max(capped, key=lambda row: (np.isnan(row.high), not keeps_cap(row), row.high))


def _make_gauge(risk: str, row: SimpleNamespace | None, failed: str) -> Gauge:
    number, marks = "", [] if row is None or np.isnan(row.cap) else [("cap", _position(row.cap), 0.0)]
    if row is None:
        verdict, value, context = ("unknown", "unknown", failed) if failed else ("working", MEASURING, "")
    elif np.isnan(row.high):
        verdict, value, context = "unknown", "unknown", f"{row.reason[:1].upper()}{row.reason[1:]}"
    else:
        verdict = "uncapped" if np.isnan(row.cap) else "kept" if keeps_cap(row) else "broken"
        value, opening, interval = numerals.write_share(row.value, row.low, row.high).partition(" (")
        low, high = _position(row.high if np.isnan(row.value) else row.value), _position(row.high)
        context = _describe(risk, row, opening + interval)
        marks = [("of", 0.0, low), ("to", low, high - low), *marks]
    if row is not None and not np.isnan(row.value):
        number = repr(float(row.value))
    is_broken = verdict == "unknown" and row is not None and bool(np.isfinite(row.cap))
    text = VERDICTS[verdict] + ", so the cap is not kept" * is_broken
    asks = strip_markup(line("decision/risks", "question", risk))
    return Gauge(risk, verdict, number, asks, value, context, marks, text, row)


def _describe(risk: str, row: SimpleNamespace, interval: str) -> str:
    """Return sentences about a number: its meaning, its interval, its cap and its baseline."""
    is_mean = row.axis.startswith(f"{risk} in") or row.axis == risk
    counts = strip_markup(line("decision/risks", "counts", risk)) if is_mean else "for the worst-off person"
    if counts.startswith("more") and row.value < 0:
        counts = "not more than without the file"
    sentences = [f"{', '.join(filter(None, [counts, row.group]))}{interval}."]
    if np.isfinite(row.cap):
        sentences.append(f"Cap: at most {write_percent(row.cap)}.")
    if np.isfinite(row.baseline):
        baseline = measure_facts(row.measure).baseline
        sentences.append(f"{baseline[:1].upper()}{baseline[1:]}: {write_percent(row.baseline)}.")
    return " ".join(sentences)


def _position(share: float) -> float:
    return 100 * float(np.sqrt(np.clip(share, 0, 1)))
