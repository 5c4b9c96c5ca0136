"""Charts of adversaries who know more than the quasi-identifiers of a person."""

import altair as alt
import pandas as pd

from privnb.evaluation.experiments.informed_adversaries import compare_with_control
from privnb.evaluation.results import REASONS, Results, name_settings
from privnb.measures import measure_facts
from privnb.reporting.charts.base import choose_title, none, of_columns
from privnb.reporting.charts.drawing import Drawn, drawing, some
from privnb.reporting.findings.rows import select_sanitized
from privnb.runtime import numerals
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import FullTable, Sentences
from privnb.runtime.validation import validated
from privnb.runtime.wording import sentence_case

GUESS, CERTAIN = "value_guess", "value_certain"


@drawing
def informed_gains(results: Results) -> Drawn:
    """Draw how much better each adversary guesses about people in a release than about other people.

    Parameters
    ----------
    results : DataFrame
        The results of `attack_one_release`.
    """
    rows = compare_with_control(results[results.measure == GUESS])
    rows = some(rows[rows.others.notna()], "release whose classes or buckets can be attacked")
    rows = rows.assign(
        setting=name_settings(rows),
        adversary=rows.miner.map(sentence_case),
        gain=rows.value - rows.others,
        text=rows.value.map(write_percent),
    )
    order = list(dict.fromkeys(rows.setting))
    base = of_columns(rows, ["setting", "adversary", "value", "others", "baseline", "gain", "text"])
    base = base.encode(
        x=alt.X("setting:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=220)),
        y=alt.Y("adversary:N", sort=list(dict.fromkeys(rows.adversary)), title=None, axis=alt.Axis(labelLimit=280)),
    )
    highest = max(rows.gain.max(), 0.1)
    tips = [
        alt.Tooltip("setting:N", title="release"),
        alt.Tooltip("adversary:N"),
        alt.Tooltip("value:Q", title="people in the release", format=".1%"),
        alt.Tooltip("others:Q", title="other people", format=".1%"),
        alt.Tooltip("baseline:Q", title="without the release", format=".1%"),
    ]
    scale = alt.Scale(scheme="oranges", domain=[0, highest], clamp=True)
    legend = alt.Legend(format=".0%", title="beyond the control")
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(
        color=alt.Color("gain:Q", scale=scale, legend=legend), tooltip=tips
    )
    dark = alt.condition(alt.datum.gain > 0.6 * highest, alt.value("white"), alt.value("black"))
    texts = base.mark_text(fontSize=11).encode(text="text:N", color=dark)
    made = select_sanitized(rows)
    top = (made if len(made) else rows).loc[lambda table: table.gain.idxmax()]
    return (
        (cells + texts).properties(width=alt.Step(62), height=alt.Step(34)),
        choose_title(
            f"{top.adversary} gains {write_percent(top.gain)} beyond the control on {top.setting}",
            f"The largest gain beyond the control is {write_percent(top.gain)}",
        ),
        "Each cell shows the share of people in the release whose sensitive value is guessed correctly. The color "
        "shows how much larger this share is than that of the same guesses about other people. A gain of zero does not "
        "mean that nobody can do better, and an adversary also uses what a release states about the population.",
    )


@validated
def strongest_attacks(results: Results) -> FullTable | Sentences:
    """Return a table of the strongest attack on each release, and of the attacks that were not possible.

    The strongest attack is the attack whose success exceeds the control and the guess without the release most.

    Parameters
    ----------
    results : DataFrame
        The results of `attack_one_release` and of `attack_two_releases`, joined.
    """
    rows = compare_with_control(results)
    rows = rows.assign(setting=name_settings(rows))
    failed = results[results.status.isin(REASONS)]
    failed = failed.assign(setting=name_settings(failed))
    found = []
    for setting in dict.fromkeys([*rows.setting, *failed.setting]):
        left = "; ".join(dict.fromkeys(failed.miner[failed.setting == setting].map(sentence_case)))
        own = rows[rows.setting == setting]
        guesses = own[(own.measure == GUESS) & own.excess.notna()]
        if guesses.empty:
            found.append([setting, *[""] * 5, left])
            continue
        top = guesses.loc[guesses.excess.idxmax()]
        value = numerals.write_estimate(measure_facts(GUESS).format, top.value, top.low, top.high)
        shares = [top.others, top.baseline, own.value[own.measure == CERTAIN].max()]
        written = ["not measured" if pd.isna(share) else write_percent(share) for share in shares]
        found.append([setting, sentence_case(top.miner), value, *written, left])
    if not found:
        return none("release that was attacked")
    columns = [
        "release", "strongest attack", "people in the release or releases", "other people", "without the release",
        "certain values", "not possible here",
    ]  # fmt: skip
    return FullTable(pd.DataFrame(found, columns=columns).set_index("release").rename_axis(None), "table")
