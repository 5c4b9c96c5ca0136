"""What channels tell: how likely the table is guessed, which attributes give a person away, what each release leaks."""

import numpy as np

from privnb.evaluation.results import over_seeds
from privnb.microdata import expect
from privnb.microdata.names import names_in
from privnb.microdata.sentences import B, E, say
from privnb.reporting.findings.base import from_to, listed, name, of
from privnb.sanitizers.catalogue import group, groups
from privnb.studies.askari_2012.enumeration.errata import KINDS as ERRATA
from privnb.studies.askari_2012.small_channels import EITHER, HIGHEST, LOWEST, NOTHING, RANDOM, TABLE

SAME = 1e-9  # sums of shares in another order


def how_likely_the_table_is_guessed(results):
    """How likely an adversary who knows the algorithm guesses a whole small table, and what else they may want."""
    expect.these(results=results)
    return say(*_guessed(results), *_aims(results))


def what_choosing_at_random_gains(results):
    """Whether a level drawn at random protects small tables more than a fixed one, and what it costs in utility."""
    expect.these(results=results)
    spaces = results[results.measure.isin(["bayes_risk", "degradation"])]
    spaces = spaces[spaces.sanitizer.isin([RANDOM, LOWEST, HIGHEST])]
    wide = spaces.pivot_table(index="dataset", columns=["measure", "sanitizer"], values="value", sort=False)
    if wide.empty or not {RANDOM, LOWEST, HIGHEST} <= set(wide["bayes_risk"]):
        return say("These results list no small tables.")
    risk, lost = wide["bayes_risk"], wide["degradation"]
    easier = {level: int((risk[level] < risk[RANDOM]).sum()) for level in (LOWEST, HIGHEST)}
    claim = "Whether deterministic publishing reduces privacy differs by space."
    if easier == {LOWEST: len(risk), HIGHEST: 0}:
        claim = "Deterministic publishing as such does not reduce privacy: what counts is the level."
    last, costs = risk.iloc[-1], lost.iloc[-1]
    order = list(last.sort_values().index)
    said = (
        f"{B}{claim}{B} Always to publish the lowest level makes the table easier to guess than to draw a level "
        f"at random in {easier[LOWEST]} of {len(risk)} spaces; always to suppress all quasi-identifiers, which is as "
        f"deterministic, in {easier[HIGHEST]}. In {_space(risk.index[-1])} the guess is wrong with probability "
        f"{listed([f'{last[level]:.5f} ({level})' for level in order])}; higher protects more."
    )
    lost_by = listed([f"{costs[level]:.2f} ({level})" for level in order])
    cost = f"Utility is lost for it, in bits of an attribute: {lost_by}."
    if (np.argsort(risk.to_numpy()) == np.argsort(lost.to_numpy())).all():
        cost += f" In all {len(risk)} spaces what is harder to guess loses more."
    return say(said, cost)


def what_users_lose(results):
    """What users lose by a release of small tables, by what they knew before, and a population of them (eq. 19, 20)."""
    expect.these(results=results)
    rows = of(results, "user_degradation")
    rows = rows[rows.target == EITHER].set_index("knows").value
    if rows.empty:
        return say("These results tell of no users.")
    lost = listed([f"{bits:.3f} ({knew})" for knew, bits in rows.items()])
    return say(f"{B}Of an attribute's utility users lose on average, in bits: {lost}{B}; lower is better.")


def which_attributes_give_away(results):
    """Which attributes tell most of who a person is and of their sensitive value, one, two and all of them."""
    expect.these(results=results)
    return say(*(_given_away(results) or ["No set of attributes tells of as many people as may be shown."]))


def how_gains_are_leakage(results):
    """That Brickell and Shmatikov's two gains are what the same channel leaks: checked on every release."""
    expect.these(results=results)
    keys = ["sanitizer", "parameters", "target"]
    pairs, worst = [], 0
    for what in ("sensitive", "bucket"):
        told = of(results, f"{what}_vulnerability").query("knows == '' and variant == ''").set_index(keys)
        moved = of(results, f"{what}_additive_capacity").set_index(keys).value
        accuracy, knowledge = (of(results, f"{name}_gain").set_index(keys).value for name in ("accuracy", "knowledge"))
        for key in told.index.intersection(accuracy.index).intersection(moved.index):
            row = told.loc[key]
            if row.notna()[["value", "baseline"]].all() and (what == "bucket" or "Bucketize" not in key[0]):
                pairs.append(key)
                differs = row.value - row.baseline - accuracy[key], moved[key] - knowledge[key]
                worst = max(worst, *map(abs, differs))
    if not pairs:
        return say("None of these releases has classes or buckets in which gains could be compared with leakage.")
    if worst > SAME:
        return say(
            f"{B}Gains and leakage differ by up to {worst:.2g} in {len(pairs)} releases{B}: classes whose members know "
            "themselves apart by their labels are not those that the gains are counted in."
        )
    largest = of(results, "accuracy_gain").dropna(subset="value")
    largest = largest.loc[largest.value.idxmax()]
    return say(
        f"{B}Brickell and Shmatikov's gains are leakage of this channel: in all {len(pairs)} releases with classes "
        f"or buckets{B} posterior minus prior vulnerability of the sensitive value equals their accuracy gain, and the "
        "mean total variation, the channel's additive capacity, their knowledge gain. The one is what a guess "
        "adds, the other the most that the release adds for anybody with that prior "
        "whose gains differ by 1 at most. The largest accuracy gain here is "
        f"{largest.value:.4f} ({largest.sanitizer}); lower is better."
    )


def what_leaks(results):
    """The notebook's answer: the small table, the attributes that give away, and all sanitizers on one axis."""
    expect.these(results=results)
    return say(*_guessed(results)[:2], *_given_away(results)[:2], *_family(results))


def erratum_by_erratum(errata):
    """Each erratum of the paper with its counter-example: the number as printed and the number that it should be."""
    expect.table(
        "errata", errata, ["place", "kind", "erratum", "example", "as printed", "here"], "`errata.errata` gives one."
    )
    meanings = " ".join(f"{E}{each}{E}: {means}." for each, means in ERRATA.items())
    lines = [
        "After each example stand two numbers: as printed, or the first that the example names; as it should be, or "
        f"the second. {meanings.replace('under `here`', 'the second')}"
    ]
    lines += [
        f"{place + 1}. {B}{row.place[0].upper()}{row.place[1:]}{B} ({E}{row.kind}{E}): {row.erratum}. "
        f"{row.example[0].upper()}{row.example[1:]}: {B}{row.printed:.6g}, {row.here:.6g}{B}."
        for place, row in enumerate(errata.rename(columns={"as printed": "printed"}).itertuples(index=False))
    ]
    return say(*lines)


def _guessed(results):
    """Whole tables: the appendix, what is known before, and the spaces."""
    rows = of(results, "posterior_vulnerability")
    example = rows[rows.dataset.str.endswith("appendix") & (rows.sanitizer == "its mechanism")]
    sentences = []
    for row in example[example.knows == NOTHING].itertuples():
        here = results[(results.dataset == row.dataset) & (results.sanitizer == row.sanitizer)]
        here = here[here.knows == row.knows].set_index("measure").value
        sentences.append(
            f"{B}In the paper's appendix an adversary who knows the algorithm guesses which of four tables went in "
            f"with probability {row.value:.4f}{B}, without the release {row.baseline:.2f}; lower is better. They are "
            f"wrong with probability {here['bayes_risk']:.4f}; the uncertainty that is left allows at most "
            f"{here['santhi_vardy_bound']:.4f}."
        )
        certain = example[example.knows != NOTHING]
        if len(certain) and (certain.value == 1).all() and (certain.baseline == 1).all():
            sentences[-1] += " Who knew the table before is never wrong, and the release adds nothing."
    listed_spaces = rows[~rows.dataset.str.endswith("appendix") & (rows.sanitizer == RANDOM)]
    tables = of(results, "tables").set_index("dataset").value
    if len(listed_spaces):
        row = listed_spaces.iloc[-1]
        sentences.append(
            f"{B}Of {tables[row.dataset]:,.0f} possible tables ({_space(row.dataset)}) the right one is guessed with "
            f"probability {row.value:.4f}{B} if k-anonymity publishes any level that is allowed, "
            f"{row.value / row.baseline:,.0f} times as likely as without the release."
        )
    return sentences


def _aims(results):
    rows = of(results, "expected_gain")
    blind, known = rows[rows.knows == NOTHING].set_index("target"), rows[rows.knows != NOTHING].set_index("target")
    if blind.empty or TABLE not in blind.index or TABLE not in known.index:
        return []
    told = [f"{row.value:.3f} instead of {row.baseline:.3f} for {target}" for target, row in blind.iterrows()]
    aided = known.loc[TABLE]
    return [
        f"Other aims are easier than the exact table. In {_space(rows.dataset.iloc[0])} the best guess gains "
        f"{listed(told)}; the second and third are our reading of a {E}close{E} table, which the paper announces and "
        f"does not define. Who knows one person in it guesses the table with probability {aided.value:.3f} instead of "
        f"{aided.baseline:.3f}."
    ]


def _given_away(results):
    """Of the original: the worst single attribute and pair, then all; identity first, then the sensitive value."""
    sentences = []
    for measure, secret in (("identity_vulnerability", "which row is a person's"), ("sensitive_vulnerability", "")):
        rows = _at_least(of(results, measure))
        rows = rows[rows.knows != ""].rename(columns={"knows": "names"})
        rows = rows.assign(size=rows.names.map(names_in).map(len))
        original = rows[rows.sanitizer == "Identity"]
        if original.empty:
            continue
        best = original.loc[original.groupby("size").value.idxmax()].set_index("size")
        top = best.loc[2] if 2 in best.index else best.iloc[0]
        secret = secret or f"a person's {top.target}"
        every = "all pairs of attributes" if 2 in best.index else "all attributes"
        known = names_in(top.names)
        verb = "tell most" if len(known) > 1 else "tells most"
        if ((original["size"] == top.name) & (original.value == top.value)).sum() > 1:
            verb = "are among those that tell most" if len(known) > 1 else "is one that tells most"
        said = (
            f"{B}Of {every} {listed(known)} {verb} of {secret}.{B} Who knows that in the original "
            f"guesses rightly with probability {top.said}, without a release {_share(top.baseline)}; lower is better."
        )
        if len(best) > 2:
            said += f" With all {best.index.max()} it is {best.said.iloc[-1]}."
        same = rows[(rows.sanitizer != "Identity") & (rows.names == top.names)]
        if len(same):
            # Labels that overlap do not say which cell is a person's, so that a release may tell less.
            most = same.value.where(same.known, same.high).map(_share)
            parts = [f"{share} under {name(row)}" for share, (_, row) in zip(most, same.iterrows(), strict=True)]
            said += f" With the same in the release it is at most {listed(parts)}."
        sentences.append(said)
    return sentences


def _family(results):
    """All kinds of sanitizers, from who leaks least to who leaks most."""
    sentences = []
    rows = of(results, "identity_vulnerability").query("knows == ''")
    inner = _at_least(over_seeds(rows[~rows.sanitizer.isin(["Identity", "Suppress"])]))
    if len(inner):
        ends = []
        for kind in groups(inner.sanitizer):
            part = inner[inner.sanitizer.map(group) == kind]
            values = dict.fromkeys(part.said[[part.value.idxmin(), part.value.idxmax()]])
            ends.append(f"{' to '.join(values)} under {kind}")
        sentences.append(
            f"{B}On one axis: who looks at a row and has a register of everybody's quasi-identifiers finds its person "
            f"with probability {listed(ends)}{B}; without a release with {_share(inner.baseline.iloc[0])}, lower is "
            f"better. {_bits(inner)}"
        )
    rows = of(results, "sensitive_vulnerability").query("knows == ''")
    told = _at_least(rows[rows.variant == ""])
    told = told[~told.sanitizer.isin(["Identity", "Suppress"])]
    if len(told):
        ends = dict.fromkeys(
            f"{row.said} ({name(row)})" for _, row in told.loc[[told.value.idxmin(), told.value.idxmax()]].iterrows()
        )
        sentences.append(
            f"A person's {told.target.iloc[0]} is guessed rightly with probability {' to '.join(ends)}; without a "
            f"release with {_share(told.baseline.iloc[0])}."
        )
    at_most = rows[rows.variant == "at most"]
    at_most = at_most.value.fillna(at_most.high)[at_most.sanitizer.map(group) == "noise"].max()
    if not np.isnan(at_most):
        sentences.append(f"Of noise only a bound is known: at most {_share(at_most)}, what the original tells.")
    absent = of(results, "classes").query("status == 'not possible'")
    if len(absent):
        names = listed([f"{row.sanitizer}({row.parameters})" for row in absent.itertuples()])
        sentences.append(f"{names} cannot be had on this table, and no leakage is told of it.")
    return sentences


def _bits(rows):
    bits = rows.assign(value=np.log2(np.maximum(rows.value / rows.baseline, 1)))
    return f"In bits, each of which doubles the chance: {from_to(bits, '.1f')}."


def _space(dataset):
    """A space of tables in words."""
    name = dataset.removeprefix("askari: ")
    return "the example of section 5.3" if name.startswith("section") else f"tables of {name}"


def _at_least(rows):
    """Rows with their share as `said`. A withheld one stands at its lower bound; without bounds it is left out."""
    rows = rows.assign(value=rows.value.fillna(rows.low), known=rows.value.notna()).dropna(subset=["value", "baseline"])
    said = [
        _share(row.value) if row.known else f"at least {_share(np.floor(row.value * 1000) / 1000)}"
        for row in rows.itertuples()
    ]
    return rows.assign(said=said)


def _share(value):
    return f"{value:.1%}" if value >= 0.1 else f"{100 * value:.2g}%"
