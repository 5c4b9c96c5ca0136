"""HTML of the gauges: each risk of a release compared with the caps of a policy."""

from functools import cache
from types import SimpleNamespace

import numpy as np
from markupsafe import Markup

from privnb.decision import policies
from privnb.decision.by_policy import at_cap, keeps
from privnb.decision.card import ASKS
from privnb.decision.policies import RISKS, Cap
from privnb.explorer.controls import attribute, select, together
from privnb.explorer.figures import note
from privnb.measures.base import facts
from privnb.runtime import numerals
from privnb.runtime.numerals import percent

POLICY, NONE = "ontario-2025", "none"
WORKING = "working …"
PANEL = Markup(
    '<section class="privnb-panel privnb-risks" aria-labelledby="privnb-risks"{empty}><div class="privnb-headed">'
    '<h3 id="privnb-risks">Risks</h3>{menu}</div>{content}</section>'
)
GAUGE = Markup(
    '<li data-key="{risk}" data-risk="{risk}" data-verdict="{verdict}"{number}><h4>{title}</h4>'
    '<p class="privnb-asks">{asks}</p><b>{value}</b><span class="privnb-meter" aria-hidden="true">{marks}</span>'
    '<div class="privnb-beside" tabindex="0" role="group" aria-label="{title}: what it counts">{beside}</div>'
    '<p class="privnb-verdict">{said}</p></li>'
)
PIECE = Markup('<i class="privnb-{kind}" style="left:{left:.2f}%;width:{width:.2f}%"></i>')
VERDICTS = {
    "kept": "✓ kept",
    "broken": "✗ not kept",
    "unknown": "? unknown",
    "uncapped": "no cap",
    "working": WORKING,
}
HELP = Markup(
    '<details class="privnb-why" data-key="gauges"><summary>How to read a gauge</summary><p class="privnb-note">{}</p>'
    "</details>"
)
READ = (
    "The bar is the risk, its light end the upper end of the 95% interval, the tall tick the cap. Bars grow with the "
    "square root, so that small risks are seen. A cap counts the upper end; an unknown risk keeps none. "
    "`privnb decide` measures the same. It also asks what users keep, and how many people share a combination."
)


@cache
def menu(own=POLICY):
    """The policies to choose from, the package's and the owner's: `{name: policy or None}`.

    Parameters
    ----------
    own : str
        The path of the owner's file, which is its name here too, or the name of a ready policy.
    """
    return {name: policies.read(name) for name in dict.fromkeys([*policies.ready(), own])} | {NONE: None}


def gauges(name, found, failed="", of="", own=POLICY):
    """The risks of a release compared with a policy.

    Parameters
    ----------
    name : str
        Of `menu(own)`.
    found : dict of str to DataFrame
        By risk its tidy results, as far as they are known.
    failed : str
        Why the others are not measured; empty: they are on their way.
    of : str
        Of whom they are measured, where it is not the table: a sentence.
    own : str
        As of `menu`.

    Returns
    -------
    Markup
    """
    drawn = together(_gauge(risk, _hardest(menu(own)[name], risk, found.get(risk)), failed) for risk in RISKS)
    return _panel(name, own, note(of) + Markup('<ul class="privnb-gauges">{}</ul>').format(drawn))


def no_gauges(name, why, own=POLICY):
    """The panel where there is no release; it keeps the height that it had."""
    return _panel(name, own, note(why), Markup(" data-empty"))


def _panel(name, own, content, empty=""):
    titles = {each: policy.title if policy else NONE for each, policy in menu(own).items()}
    read, policy = READ, menu(own)[name]
    if policy:
        checked = "" if policy.verified else " They are not checked against the source itself."
        read += f" The caps are of {policy.source}.{checked} {policy.convention}".rstrip()
    content = together([content, HELP.format(read)])
    return PANEL.format(menu=select("policy", "Policy", titles, name), content=content, empty=empty)


def _hardest(policy, risk, rows):
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


def _gauge(risk, row, failed):
    if row is None:
        verdict, value, beside, marks = ("unknown", "unknown", failed, "") if failed else ("working", WORKING, "", "")
    elif np.isnan(row.high):
        verdict, value, beside, marks = (
            "unknown",
            "unknown",
            f"{row.reason[:1].upper()}{row.reason[1:]}",
            _tick(row.cap),
        )
    else:
        verdict = "uncapped" if np.isnan(row.cap) else "kept" if keeps(row) else "broken"
        value, opening, interval = numerals.share(row.value, row.low, row.high).partition(" (")
        beside, marks = _beside(risk, row, opening + interval), _bar(row)
    capped = row is not None and np.isfinite(row.cap)
    return GAUGE.format(
        risk=risk,
        verdict=verdict,
        number=attribute("data-value", "" if row is None or np.isnan(row.value) else repr(float(row.value))),
        title=risk.capitalize(),
        asks=ASKS[risk][0],
        value=value,
        marks=marks,
        beside=beside,
        said=VERDICTS[verdict] + (", so not kept" if verdict == "unknown" and capped else ""),
    )


def _beside(risk, row, interval):
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


def _bar(row):
    """The value, what its interval adds, and the cap, as pieces of a line from 0 to 1."""
    value = row.high if np.isnan(row.value) else row.value
    low, high = _place(value), _place(row.high)
    return (
        PIECE.format(kind="of", left=0, width=low)
        + PIECE.format(kind="to", left=low, width=high - low)
        + _tick(row.cap)
    )


def _tick(cap):
    return Markup("") if np.isnan(cap) else PIECE.format(kind="cap", left=_place(cap), width=0)


def _place(share):
    return 100 * float(np.sqrt(np.clip(share, 0, 1)))
