"""What adversaries gain, and how much of it needs no attack."""

import pandas as pd

from privnb.evaluation.results import SETTING, check_results, measured, of_one_miner, over_seeds
from privnb.measures import facts
from privnb.measures.base import t_interval
from privnb.microdata import expect
from privnb.reporting.findings.base import Finding, beside, extremes, report
from privnb.reporting.findings.rows import (
    CRITERIA,
    by_sanitizer,
    by_strictness,
    of,
    same_release,
    sanitized,
    setting_name,
)

GUESS = "the guess without the release"
CONTROLS = {"ZeroR": "one answer for everybody (ZeroR)", "permuted": "its guesses permuted at random"}
OTHERS = ("fusion: vote", "fusion: stacked", "worst by person")
CLOSE = 1e-9  # two ways to the same number differ by less


def adversary_gains(mined, links):
    """Nearer predictions beside what needs no attack, whom they hit, and correct links; for each kind of sanitizer."""
    check_results("mined", mined)
    check_results("links", links)
    rows = over_seeds(mined)
    nearer, exact = (feared(rows, scenario) for scenario in "AB")
    worst = main_set(nearer, "worst")
    tops = [_top(part) for part in by_sanitizer(worst)]
    found = [
        *(each for top in tops for each in _beside_controls(top, nearer, mined)),
        [each for top in tops for each in _other_miners(top, nearer)],
        *(each for part in by_sanitizer(worst) for each in _under_noise(part)),
        *(each for part in by_sanitizer(main_set(exact, "worst")) for each in _exact(part, exact)),
        subgroups(of(rows, "nearer_share", miner_set="")),
        *_linked(over_seeds(links)),
    ]
    return report(*found, "" if any(found) else "No release was attacked.")


def feared(rows, scenario):
    """The anti-utility of people in a scenario."""
    return of(rows, "anti_utility", scenario=scenario, variant="")


def main_set(rows, miner="", control=""):
    """The rows of one miner, or control, of the main set."""
    return rows[(rows.miner_set == "") & (rows.miner == miner) & (rows.control == control)]


def beyond_controls(nearer):
    """By how much the worst miner gets beyond what needs no attack: a row per setting, `strongest` and `beyond`.

    `nearer`: rows of one scenario over seeds. A setting is left out where the worst miner's number is withheld, and a
    control that is withheld anywhere.
    """
    worst = main_set(nearer, "worst").set_index(SETTING)
    controls = {GUESS: worst.baseline}
    controls |= {said: main_set(nearer, control=name).set_index(SETTING).value for name, said in CONTROLS.items()}
    wide = pd.DataFrame({name: each for name, each in controls.items() if len(each)}).dropna(axis=1)
    known = worst[worst.value.notna()]
    if wide.empty or known.empty:
        return known.assign(strongest="", beyond=0.0).iloc[:0]
    wide = wide.reindex(known.index)
    return known.assign(strongest=wide.idxmax(axis=1), beyond=known.value - wide.max(axis=1))


def _top(worst):
    """The setting of a sanitizer where the worst miner gains most beyond the guess without the release."""
    # Where the guess reaches most people, the miner may still gain least: what counts is the difference.
    return worst.loc[(worst.value.fillna(worst.high) - worst.baseline.fillna(0)).idxmax()]


def _beside_controls(top, nearer, mined):
    """One setting: the worst miner beside what needs no attack, what is left beyond that, and what own rows teach."""
    here, runs = same_release(nearer, top), same_release(feared(mined, "A"), top)
    controls = {GUESS: top.baseline}
    for name, said in CONTROLS.items():
        controls |= beside(said, main_set(here, control=name))
    yield Finding.of(
        top,
        f"The worst miner{_who(here, top)} comes nearer to the truth",
        beside=controls,
    )
    beyond = beyond_controls(here)
    if beyond.empty:
        return
    worst, strongest = main_set(runs, "worst").set_index("seed"), beyond.strongest.iloc[0]
    runs_of = {said: main_set(runs, control=name).set_index("seed").value for name, said in CONTROLS.items()}
    against = (runs_of | {GUESS: worst.baseline})[strongest]
    yield _difference(top, f"Beyond {strongest}", worst.value - against, "That is no more than needs no attack at all.")
    unseen = main_set(runs, control="held-out").set_index("seed").value
    if len(unseen) and unseen.notna().all():
        yield _difference(
            top,
            f"Beyond its predictions of people whom it did not learn from ({unseen.mean():,.0f})",
            worst.value - unseen,
            "There is no evidence that a person's own row helps.",
        )


def _difference(top, subject, differences, otherwise):
    """By how many people two numbers differ, one difference per seed; `otherwise`: what is said unless it is more.

    One seed has no interval: its two numbers are of the same people, and how they go together is not in the results.
    Nor have several that are too much alike, see `t_interval`.
    """
    (low, high), n = t_interval(differences.tolist()), len(differences)
    more, note = low > 0, ""
    if pd.isna(low):
        note = f"{'One seed does' if n == 1 else f'{n} seeds so alike do'} not tell how sure that is."
        more = differences.min() > 0
    note = note if more else f"{note} {otherwise}".strip()
    return Finding(subject, differences.mean(), low, high, "{:+,.0f} people", setting_name(top), note=note)


def _who(here, top):
    """Which single miners of the main set attain the worst case."""
    single = here[(here.miner_set == "") & of_one_miner(here)]
    best = single.miner[(single.value == single.value.max()) & single.value.notna()]
    return f" ({' or '.join(best)})" if len(best) and pd.notna(top.value) else ""


def _other_miners(top, nearer):
    """What other sets, and fusions, reach in the setting where the main set's worst miner gains most."""
    here = same_release(nearer, top)
    for miner in OTHERS:
        for _, row in main_set(here, miner).iterrows():
            known = " (nobody can know beforehand which that is)" if miner == "worst by person" else ""
            yield Finding.of(row, f"{CRITERIA[miner]}{known}")
    for _, row in here[(here.miner == "worst") & (here.miner_set != "")].iterrows():
        yield Finding.of(row, f"the worst of {row.miner_set}")


def _under_noise(worst):
    """That scenario A grows with the noise, as the guess does, where it is so."""
    part = by_strictness(worst[worst.parameter == "epsilon"])
    known = part.value.notna().all() and part.baseline.notna().all()
    rises = part.value.is_monotonic_increasing and part.baseline.is_monotonic_increasing
    if len(part) > 1 and known and rises and (part[["value", "baseline"]].diff().sum() > 0).all():
        first, last = part.iloc[0], part.iloc[-1]
        yield Finding.of(
            last,
            "Nearer predictions under the most noise",
            beside={
                GUESS: last.baseline,
                setting_name(first): f"{first.value:,.0f} (the guess: {first.baseline:,.0f})",
                "less the guess": f"{last.value - last.baseline:,.0f} instead of {first.value - first.baseline:,.0f}",
            },
            note="A record that noise throws further is easier to come nearer to: the number measures the noise, not "
            "a leak.",
        )


def _exact(worst, rows):
    """Scenario B: how often a prediction is exact."""
    top = worst.loc[worst.value.fillna(-1).idxmax()]
    permuted = beside(CONTROLS["permuted"], main_set(same_release(rows, top), control="permuted"))
    return extremes(worst, "The worst miner names the exact value (scenario B)", beside=permuted)


def subgroups(rows):
    """The two groups that the worst miner hits most differently, of those whose 95 % intervals lie apart: a `Finding`,
    or a text where there are none.

    `rows`: of measure `nearer_share`, one per group and release. A withheld group stands at its upper bound.
    """
    check_results("rows", rows)
    if rows.value.isna().all():
        return ""
    rows = rows.assign(at=rows.value.fillna(rows.high))
    pairs = rows.dropna(subset="value").merge(rows.dropna(subset="at"), on=SETTING, suffixes=("", "_less"))
    pairs = pairs[pairs.low > pairs.high_less]
    if pairs.empty:
        return "No group is hit clearly more than another: all 95 % intervals overlap."
    pair = pairs.loc[(pairs.value - pairs.at_less).idxmax()]
    few = "" if pd.notna(pair.value_less) else "at most "
    return Finding.of(
        pair,
        f"An average hides who is hit: of {pair.group}",
        beside={f"of {pair.group_less}": few + f"{pair.at_less:.1%}"},
        format="{:.1%}",
    )


def _linked(links):
    """How often a neighbour finds the right record."""
    worst = sanitized(links).dropna(subset="value").nlargest(1, "value")
    intact = beside("original", links[links.sanitizer == "Identity"])
    for _, row in worst.iterrows():
        yield Finding.of(
            row,
            "A neighbour who knows every quasi-identifier finds the right record",
            beside={facts(row.measure).baseline: f"{row.baseline:.3%}"} | intact,
            note="An attack that fails does not make a release safe.",
        )
    noise = links[links.parameter == "epsilon"]
    if len(noise) and (noise.low > noise.baseline).all():
        yield Finding.of(
            noise.loc[noise.value.idxmin()],
            "The least of the noisy releases still discloses",
            note="The columns that noise leaves as they are link people by themselves.",
        )


READINGS = {"with predictions": "in the first record of each distinct row", "with all predictions": "for all people"}


def mined_predictions(results):
    """Whether the worst miner's predictions add more to the adversary's gains than as many random labels do."""
    expect.these(results=results)
    cases = [
        (gain, where, miner_set, _wide(results, gain, variant, miner_set))
        for gain in ("accuracy_gain", "knowledge_gain")
        for variant, where in READINGS.items()
        for miner_set in dict.fromkeys(results.miner_set[(results.measure == gain) & (results.variant == variant)])
    ]
    cases = [case for case in cases if len(case[-1])]
    if not cases:
        return report("No predictions were put into a release beside a control: there is no increase to speak of.")
    return report(
        *(
            _verdict(where, pd.concat([wide for _, reading, _, wide in cases if reading == where]))
            for where in dict.fromkeys(where for _, where, _, _ in cases)
        ),
        [_added(*case) for case in cases],
        "A new label takes a record out of its class. To split a class can only raise either gain, whatever the label "
        "says; where the record joins another class, that may lower them. An increase that random labels show as well "
        "is no evidence that the miner learned anything.",
    )


def _verdict(where, wide):
    """Whether the predictions of one reading do more than random labels: in most comparisons, not in a few.

    Comparisons share releases and miners, so how many of them chance may put above all draws is not known, only that
    one in forty is on average.
    """
    above, below = (wide.mined > wide.high + CLOSE).sum(), (wide.mined < wide.low - CLOSE).sum()
    note = "No more than by chance: the increase is no evidence of an attack."
    if above > len(wide) / 40:
        note = "The comparisons are not independent: too few to conclude that predictions beat random labels."
    if above > len(wide) / 2:
        note = "The predictions do more than random labels."
    return Finding(
        f"{where[0].upper()}{where[1:]} predictions raise a gain beyond all draws of random labels",
        above,
        format=f"{{:.0f}} of {len(wide)} comparisons",
        beside={"below all draws": f"{below}", "by chance above": f"{len(wide) / 40:.2g}"},
        note=note,
    )


def _wide(results, gain, variant, miner_set):
    """A line for each release: its gain before, the change by predictions, and the control's with its bounds."""
    keys = [*SETTING, "seed"]
    gains = measured(of(results, gain))
    before = gains[gains.variant == ""].set_index(keys).value.rename("before")
    these = gains[(gains.miner_set == miner_set) & (gains.variant == variant)]
    predicted = these[these.control == ""].set_index(keys).value.rename("mined")
    control = these[these.control != ""].set_index(keys)[["value", "low", "high"]]
    wide = pd.concat([before, predicted, control], axis=1, join="inner")
    return wide.sub(wide.before, axis=0).assign(before=wide.before)


def _added(gain, where, miner_set, wide):
    by_setting = wide.groupby(level=SETTING, sort=False)[["mined", "value"]].mean().round(6) + 0.0  # no -0
    least, most = by_setting.min(), by_setting.max()
    raised = by_setting[by_setting.mined >= 0.00005]  # what four digits show
    parts = raised.value / raised.mined
    shares = dict.fromkeys(f"{share:.0%}" for share in [parts.min(), parts.max()] if len(raised))
    return Finding(
        f"{facts(gain).title}, predictions of the worst of {miner_set or 'the miners'} {where}",
        most.mined,
        format="{:+.4f}",
        beside={
            "least": least.mined,
            "random labels": f"{least.value:+.4f} to {most.value:+.4f}",
            "their part of the increase": " to ".join(shares) or "none, for there is no increase",
        },
        better=facts(gain).better,
    )
