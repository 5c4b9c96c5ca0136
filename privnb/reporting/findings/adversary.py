"""What adversaries gain, and how much of it needs no attack."""

import pandas as pd

from privnb.evaluation.results import check_results, measured, of_one_miner, over_seeds
from privnb.measures.base import t_interval
from privnb.microdata import expect
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import by_strictness, from_to, interval, listed, name, people

CONTROLS = {"ZeroR": "one answer for everybody (ZeroR)", "permuted": "its guesses dealt at random"}
FUSIONS = {
    "fusion: vote": "all miners' vote",
    "fusion: stacked": "all miners stacked",
    "worst by person": "each person's own worst miner, which nobody can know beforehand",
}
SETTING = ["sanitizer", "parameters"]
CLOSE = 1e-9  # two ways to the same number differ by less


def what_the_adversary_gains(mined, links):
    """Nearer predictions beside what needs no attack, whom they hit, and correct links; for each kind of sanitizer."""
    check_results("mined", mined)
    check_results("links", links)
    rows = over_seeds(mined)
    nearer = _feared(rows, "A")
    worst = _of(nearer, "worst")
    tops = [_top(part) for _, part in worst.groupby("sanitizer", sort=False)]
    sentences = [_beside_controls(top, nearer, mined) for top in tops]
    sentences += [
        *_other_miners(tops, nearer),
        *_under_noise(worst),
        *_exact(_feared(rows, "B")),
    ]
    groups = rows[(rows.measure == "nearer_share") & (rows.miner_set == "")]
    if groups.value.notna().any():
        sentences.append(f"An average hides who pays. {whom_it_hits(_named(groups))}. Lower protects more.")
    sentences += _linked(links)
    return say(*sentences) if sentences else say("No release was attacked: there is nothing to tell.")


def _feared(rows, scenario):
    """The anti-utility of people in a scenario."""
    return rows[(rows.measure == "anti_utility") & (rows.scenario == scenario) & (rows.variant == "")]


def _of(rows, miner="", control=""):
    """The rows of one miner, or control, of the main set."""
    return rows[(rows.miner_set == "") & (rows.miner == miner) & (rows.control == control)]


def _top(worst):
    """The setting of a sanitizer where the worst miner gains most beyond the guess without the release."""
    # Where the guess reaches most people, the miner may still gain least: what counts is the difference.
    return worst.loc[(worst.value.fillna(worst.high) - worst.baseline.fillna(0)).idxmax()]


def _here(rows, row):
    return rows[(rows.sanitizer == row.sanitizer) & (rows.parameters == row.parameters)]


def _beside_controls(top, nearer, mined):
    """One setting: the worst miner, what needs no attack, what is left beyond that, and what others' rows teach."""
    here = _here(nearer, top)
    said = (
        f"{B}{name(top)}: the worst miner{_who(here, top)} comes nearer to the truth for {people(top, top.value)}{B}"
        f"{interval(top, ',.0f') if pd.notna(top.value) else ''}. The guess without the release does so for "
        f"{people(top, top.baseline)}"
    )
    for control, told in CONTROLS.items():
        for _, row in _of(here, control=control).iterrows():
            said += f", {told} for {people(row, row.value)}"
    runs = _here(_feared(mined, "A"), top)
    worst = _of(runs, "worst").set_index("seed")
    wide = {control: _of(runs, control=control).set_index("seed").value for control in (*CONTROLS, "held-out")}
    against = {"the guess": worst.baseline} | {told: wide[key] for key, told in CONTROLS.items() if len(wide[key])}
    against = pd.DataFrame(against).dropna(axis=1)
    if against.empty or worst.value.isna().any():
        return f"{said}. Too few people are hit, or too few by a guess, to set the numbers apart."
    strongest = against.mean().idxmax()
    left, more = _apart(worst.value - against[strongest])
    said += f". Beyond {strongest} that is {left}" + ("." if more else f": {B}no more than needs no attack at all.{B}")
    unseen = wide["held-out"]
    if len(unseen) and unseen.notna().all():
        own, more = _apart(worst.value - unseen)
        said += f" Of people whom it did not learn from it comes nearer for {unseen.mean():,.0f}: "
        said += f"a person's own row gives {own}." if more else "a person's own row is not seen to give more."
    return said


def _apart(differences):
    """(text, whether it is more): by how many people the worst miner and a control differ, one number a seed.

    One seed has no interval: its two numbers are of the same people, and how they go together is not in the results.
    Nor have several that are too much alike, see `t_interval`.
    """
    mean, (low, high) = differences.mean(), t_interval(differences.tolist())
    if pd.isna(low):
        seeds = "one seed, which does" if len(differences) == 1 else f"{len(differences)} seeds so alike that they do"
        return f"{mean:+,.0f} people ({seeds} not tell how sure that is)", differences.min() > 0
    return f"{mean:+,.0f} people (95 % interval {low:+,.0f} to {high:+,.0f})", low > 0


def _who(here, top):
    """Which single miners of the main set attain the worst case."""
    single = here[(here.miner_set == "") & of_one_miner(here)]
    best = single.miner[(single.value == single.value.max()) & single.value.notna()]
    return f", {' or '.join(best)}," if len(best) and pd.notna(top.value) else ""


def _other_miners(tops, nearer):
    """What other sets, and fusions, reach in the settings where the main set's worst miner gains most."""
    said = {}
    for top in tops:
        here = _here(nearer, top)
        sets = {
            f"the worst of {row.miner_set}": row
            for _, row in here[(here.miner == "worst") & (here.miner_set != "")].iterrows()
        }
        fused = {told: row for miner, told in FUSIONS.items() for _, row in _of(here, miner).iterrows()}
        for who, row in (fused | sets).items():
            said.setdefault(who, []).append(f"{people(row, row.value)} under {name(top)}")
    if said:
        yield (
            "Other adversaries come nearer for: "
            + "; ".join(f"{listed(counts)} ({who})" for who, counts in said.items())
            + "."
        )


def _under_noise(worst):
    """That scenario A grows with the noise, as the guess does, where it is so."""
    noise = worst[worst.parameter == "epsilon"]
    for _, part in noise.groupby("sanitizer", sort=False):
        part = by_strictness(part)
        known = part.value.notna().all() and part.baseline.notna().all()
        if len(part) < 2 or not known or not part.value.is_monotonic_increasing:
            continue
        first, last = part.iloc[0], part.iloc[-1]
        if part.baseline.is_monotonic_increasing and last.baseline > first.baseline and last.value > first.value:
            yield (
                f"From {name(first)} to {name(last)}, with ever more noise, the number of nearer predictions rises "
                f"from {first.value:,.0f} to {last.value:,.0f}, and so does the guess, from {first.baseline:,.0f} to "
                f"{last.baseline:,.0f}: a record thrown further is easier to come nearer to. {B}The number measures "
                f"the noise, not a leak{B}; less the guess it is {first.value - first.baseline:,.0f} and "
                f"{last.value - last.baseline:,.0f} people."
            )


def _exact(rows):
    """Scenario B: how often a prediction is exact."""
    for sanitizer, part in _of(rows, "worst").groupby("sanitizer", sort=False):
        if (part.value == 0).all():
            yield f"Under {sanitizer} no miner of the set names anybody's exact value (scenario B)."
            continue
        told = part.dropna(subset="value")
        if told.empty:
            yield f"Under {sanitizer} hardly anybody's exact value is named (scenario B): the counts are withheld."
            continue
        top = told.loc[told.value.idxmax()]
        chance = ""
        for _, row in _of(_here(rows, top), control="permuted").iterrows():
            chance = f"; its own guesses dealt at random are exact for {people(row, row.value)}"
        few = [name(row) for row in part[part.value.isna()].itertuples()]
        few = f", and of few people, withheld, under {listed(few)}" if few else ""
        yield (
            f"Under {sanitizer} the worst miner names the exact value (scenario B) of {from_to(told, ',.0f')} people"
            f"{few}; at {name(top)} the guess without the release is exact for {people(top, top.baseline)}{chance}."
        )


def _named(rows):
    return rows.assign(setting=[name(row) for row in rows.itertuples()])


def whom_it_hits(rows):
    """The two groups that the worst miner hits most differently, of those whose 95 % intervals lie apart; one sentence
    without a full stop.

    `rows`: of measure `nearer_share`, one a group and `setting`. A withheld group stands at its upper bound.
    """
    check_results("rows", rows)
    rows = rows.assign(at=rows.value.fillna(rows.high))
    pairs = rows.dropna(subset="value").merge(rows.dropna(subset="at"), on="setting", suffixes=("", "_less"))
    pairs = pairs[pairs.low > pairs.high_less]
    if pairs.empty:
        return "No group is hit clearly more than another: all 95 % intervals overlap"
    pair = pairs.loc[(pairs.value - pairs.at_less).idxmax()]
    extremes = rows[rows.setting == pair.setting]["at"].agg(["max", "min"]).tolist()
    more, than = ("most", "and") if [pair.value, pair.at_less] == extremes else ("more", "than")
    least = " least" if more == "most" else ""
    few = f"{pair.at_less:.1%}" if pd.notna(pair.value_less) else f"at most {pair.at_less:.1%}"
    guess = "" if pd.isna(pair.baseline) else f"; the guess comes nearer for {pair.baseline:.1%} of {pair.group}"
    return f"{pair.setting} hits {pair.group} {more} ({pair.value:.1%}) {than} {pair.group_less}{least} ({few}){guess}"


def _linked(links):
    """How often a neighbour finds the right record."""
    links = over_seeds(links)
    worst = links[~links.sanitizer.isin(["Identity", "Suppress"])].dropna(subset="value")
    if worst.empty:
        return
    worst = worst.loc[worst.value.idxmax()]
    intact = links[links.sanitizer == "Identity"].value
    intact = f", of {intact.iloc[0]:.1%} in the original" if len(intact) else ""
    yield (
        f"A neighbour who knows every quasi-identifier finds the right record of {worst.value:.1%} of all people under "
        f"{name(worst)}{interval(worst, '.1%')}{intact}; a row drawn at random is right for {worst.baseline:.3%}. "
        "Lower is better. An attack that fails does not make a release safe."
    )
    noise = links[links.parameter == "epsilon"]
    if len(noise) and (noise.low > noise.baseline).all():
        yield (
            f"Of the noisy releases the safest one still gives {noise.value.min():.1%} away: the columns that noise "
            "leaves as they are link people by themselves."
        )


READINGS = {"with predictions": "in the first record of each distinct row", "with all predictions": "for all people"}


def what_predictions_add(results):
    """Whether the worst miner's predictions add more to the adversary's gains than as many random labels do."""
    expect.these(results=results)
    found = [
        (gain, where, miner_set, _wide(results, gain, variant, miner_set))
        for gain in ("accuracy_gain", "knowledge_gain")
        for variant, where in READINGS.items()
        for miner_set in dict.fromkeys(results.miner_set[(results.measure == gain) & (results.variant == variant)])
    ]
    found = [case for case in found if len(case[-1])]
    if not found:
        return say("No predictions were put into a release beside a control: there is no increase to speak of.")
    return say(
        *(
            _verdict(where, pd.concat([wide for _, reading, _, wide in found if reading == where]))
            for where in dict.fromkeys(where for _, where, _, _ in found)
        ),
        [_added(wide, gain, where, miner_set) for gain, where, miner_set, wide in found],
        "A new label takes a record out of its class. To split a class can only raise either gain, whatever the label "
        "says; where the record joins another class, that may lower them. An increase that random labels show as well "
        "is no evidence that the miner learned anything. Lower gains protect more.",
    )


def _verdict(where, wide):
    """Whether the predictions of one reading do more than random labels: in most comparisons, not in a few.

    Comparisons share releases and miners, so how many of them chance may put above all draws is not known, only that
    one in forty is on average.
    """
    above, below = (wide.mined > wide.high + CLOSE).sum(), (wide.mined < wide.low - CLOSE).sum()
    said = (
        f"{B}{where[0].upper()}{where[1:]} the predictions raise a gain beyond all draws of as many random labels in "
        f"{above} of {len(wide)} comparisons{B} (gain, miners, setting and seed), and stay below all of them in "
        f"{below}; by chance {len(wide) / 40:.2g} would lie above. "
    )
    if above > len(wide) / 2:
        return said + "There the predictions do more than random labels."
    if above > len(wide) / 40:
        return said + "That is too few, of comparisons that hang together, to say that they do more than random labels."
    return said + f"No more than by chance: {B}the increase is no evidence of an attack.{B}"


def _wide(results, gain, variant, miner_set):
    """A line for each release: its gain before, the change by predictions, and the control's with its bounds."""
    keys = [*SETTING, "seed"]
    gains = measured(results[results.measure == gain])
    before = gains[gains.variant == ""].set_index(keys).value.rename("before")
    of = gains[(gains.miner_set == miner_set) & (gains.variant == variant)]
    predicted = of[of.control == ""].set_index(keys).value.rename("mined")
    control = of[of.control != ""].set_index(keys)[["value", "low", "high"]]
    wide = pd.concat([before, predicted, control], axis=1, join="inner")
    return wide.sub(wide.before, axis=0).assign(before=wide.before)


def _added(wide, gain, where, miner_set):
    by_setting = wide.groupby(level=SETTING, sort=False)[["mined", "value"]].mean().round(6) + 0.0  # no -0
    least, most = by_setting.min(), by_setting.max()
    who = f"the worst of {miner_set}" if miner_set else "the worst miner"
    said = (
        f"{gain.replace('_', ' ').capitalize()}, predictions of {who} "
        f"{where}: {least.mined:+.4f} to {most.mined:+.4f}; random labels {least.value:+.4f} to {most.value:+.4f}"
    )
    raised = by_setting[by_setting.mined >= 0.00005]  # what four digits show
    if raised.empty:
        return f"{said}. The predictions raise it in no setting."
    parts = raised.value / raised.mined
    span = f"{parts.min():.0%}" if len(parts) == 1 else f"{parts.min():.0%} to {parts.max():.0%}"
    return f"{said}, {span} of the increase."
