"""What channels tell: how likely the table is guessed, which attributes give a person away, what each release leaks."""

import numpy as np
import pandas as pd

from privnb.evaluation.results import over_seeds
from privnb.microdata import expect
from privnb.microdata.names import names_in
from privnb.microdata.sentences import B, E
from privnb.reporting.findings.base import Finding, beside, extremes, of_results, report
from privnb.reporting.findings.rows import capitalized, listed, of, sanitized, setting_name
from privnb.sanitizers.catalogue import group
from privnb.studies.askari_2012.enumeration.errata import KINDS as ERRATA
from privnb.studies.askari_2012.small_channels import EITHER, HIGHEST, LOWEST, NOTHING, RANDOM, TABLE

SAME = 1e-9  # sums of shares in another order
BEFORE = "without the release"
RISKS = {"wrong": "bayes_risk", "the remaining uncertainty allows": "santhi_vardy_bound"}


@of_results(otherwise="These results list no small tables.")
def table_guesses(results):
    """How likely an adversary who knows the algorithm guesses a whole small table, and what else they may want."""
    yield from _guessed(results)
    yield from _aims(results)


@of_results("bayes_risk", "degradation", otherwise="These results list no small tables.")
def random_levels(results):
    """Whether a level drawn at random protects small tables more than a fixed one, and what it costs in utility."""
    named = pd.MultiIndex.from_product([["bayes_risk", "degradation"], [RANDOM, LOWEST, HIGHEST]])
    wide = results.pivot_table(index="dataset", columns=["measure", "sanitizer"], values="value", sort=False)
    wide = wide.reindex(columns=named).dropna()
    if wide.empty:
        return
    risk, lost, last = wide["bayes_risk"], wide["degradation"], wide.index[-1]
    easier = {level: int((risk[level] < risk[RANDOM]).sum()) for level in (LOWEST, HIGHEST)}
    claim = "Whether deterministic publishing reduces privacy differs by space."
    if easier == {LOWEST: len(risk), HIGHEST: 0}:
        claim = "Deterministic publishing as such does not reduce privacy: what counts is the level."
    yield f"{B}{claim}{B}"
    subject, of_spaces = "A table is easier to guess if always published at {} than at a random level", len(risk)
    yield [
        Finding(subject.format(level), count, format=f"{{:.0f}} of {of_spaces} spaces")
        for level, count in easier.items()
    ]
    yield _levels(f"The guess is wrong in {_space(last)}", risk.loc[last], "probability {:.5f}", "higher")
    yield _levels("Utility lost per attribute", lost.loc[last], "{:.2f} bits", "lower")
    if (np.argsort(risk.to_numpy()) == np.argsort(lost.to_numpy())).all():
        yield f"In all {of_spaces} spaces what is harder to guess loses more utility."


def _levels(subject, values, format, better):
    """One number by level of generalization: that of a random level, beside the others."""
    others = values.drop(RANDOM).to_dict()
    return Finding(subject, values[RANDOM], format=format, setting=RANDOM, beside=others, better=better)


@of_results(otherwise="These results do not say what users lose.")
def user_losses(results):
    """What users lose by a release of small tables, by what they knew before, and a population of them (eq. 19, 20)."""
    rows = of(results, "user_degradation", target=EITHER).set_index("knows").value
    if len(rows):
        subject = f"Users lose of an attribute's utility on average ({rows.index[0]})"
        yield Finding(subject, rows.iloc[0], format="{:.3f} bits", beside=rows.iloc[1:].to_dict(), better="lower")


@of_results(otherwise="No set of attributes tells of as many people as may be shown.")
def revealing_attributes(results):
    """Which attributes tell most of who a person is and of their sensitive value, one, two and all of them."""
    yield from _given_away(results)


@of_results(otherwise="None of these releases has classes or buckets in which gains could be compared with leakage.")
def gains_as_leakage(results):
    """That Brickell and Shmatikov's two gains are what the same channel leaks: checked on every release."""
    keys, differences = ["sanitizer", "parameters", "target"], []
    for what in ("sensitive", "bucket"):
        wide = {
            "after": of(results, f"{what}_vulnerability", knows="", variant="").set_index(keys)[["value", "baseline"]],
            "moved": of(results, f"{what}_additive_capacity").set_index(keys).value,
            "accuracy": of(results, "accuracy_gain").set_index(keys).value,
            "knowledge": of(results, "knowledge_gain").set_index(keys).value,
        }
        both = pd.concat(wide, axis=1, join="inner").dropna()
        both = both if what == "bucket" else both[both.index.get_level_values("sanitizer") != "Bucketize"]
        both.columns = ["after", "before", "moved", "accuracy", "knowledge"]
        differences += [*(both.after - both.before - both.accuracy).abs(), *(both.moved - both.knowledge).abs()]
    releases = len(differences) // 2
    if releases and max(differences) > SAME:
        yield Finding(
            f"Gains and leakage differ in {releases} releases by up to",
            max(differences),
            format="{:.2g}",
            note="Classes whose members know themselves apart by their labels are not those that gains count in.",
        )
    elif releases:
        yield Finding(
            "Brickell and Shmatikov's gains are leakage of this channel",
            releases,
            format=f"{{:.0f}} of {releases} releases with classes or buckets",
            note="Posterior minus prior vulnerability of the sensitive value equals their accuracy gain: what a guess "
            "adds. The channel's additive capacity equals their knowledge gain: the most that the release adds for any "
            "adversary with that prior whose gains differ by at most 1.",
        )
        yield from extremes(of(results, "accuracy_gain"), "Largest accuracy gain", format="{:.4f}")


@of_results(otherwise="These results do not say what any release leaks.")
def leakage(results):
    """The notebook's answer: the small table, the attributes that give away, and all sanitizers on one axis."""
    yield from _guessed(results)
    yield from _given_away(results)
    yield from _family(results)


def errata(errata):
    """Each erratum of the paper with its counter-example: the number as printed and the number that it should be."""
    columns = ["place", "kind", "erratum", "example", "as printed", "here"]
    expect.table("errata", errata, columns, "`errata.errata` gives one.")
    meanings = " ".join(f"{E}{each}{E}: {means}." for each, means in ERRATA.items())
    return report(
        "After each example stand two numbers: as printed, or the first that the example names; as it should be, or "
        f"the second. {meanings.replace('under `here`', 'the second')}",
        *(
            f"{number}. {B}{capitalized(place)}{B} ({E}{kind}{E}): {erratum}. {capitalized(example)}: "
            f"{B}{printed:.6g}, {here:.6g}{B}."
            for number, (place, kind, erratum, example, printed, here) in enumerate(errata[columns].to_numpy(), start=1)
        ),
    )


def _guessed(results):
    """Whole tables: the appendix, what is known before, and the spaces."""
    rows = of(results, "posterior_vulnerability")
    example = rows[(rows.dataset == "askari: appendix") & (rows.sanitizer == "its mechanism")]
    known = example[example.knows != NOTHING]
    certain = len(known) and (known[["value", "baseline"]] == 1).all(axis=None)
    for _, row in example[example.knows == NOTHING].iterrows():
        here = results[(results.dataset == row.dataset) & (results.sanitizer == row.sanitizer)]
        here = here[here.knows == row.knows].set_index("measure").value
        yield _probability(
            row,
            "In the paper's appendix an adversary who knows the algorithm guesses which of four tables went in",
            {said: here.get(name, np.nan) for said, name in RISKS.items()},
            "An adversary who knew the table before is never wrong, and the release adds nothing." if certain else "",
        )
    spaces = rows[(rows.dataset != "askari: appendix") & (rows.sanitizer == RANDOM)]
    tables = of(results, "tables").set_index("dataset").value
    for _, row in spaces[spaces.dataset.isin(tables.index)][-1:].iterrows():
        yield _probability(
            row,
            f"Of {tables[row.dataset]:,.0f} possible tables ({_space(row.dataset)}) the right one is guessed",
            {"times as likely as without the release": f"{row.value / row.baseline:,.0f}"},
            "k-anonymity publishes any level that is allowed.",
        )


def _probability(row, subject, others, note):
    others = {BEFORE: row.baseline} | others
    return Finding(subject, row.value, format="probability {:.4g}", beside=others, better=row.better, note=note)


def _aims(results):
    rows = of(results, "expected_gain")
    blind, known = rows[rows.knows == NOTHING], rows[(rows.knows != NOTHING) & (rows.target == TABLE)]
    if known.empty or TABLE not in set(blind.target):
        return
    subjects = {f"In {_space(row.dataset)} the best guess gains for {row.target}": row for _, row in blind.iterrows()}
    subjects["An adversary who knows one person in it guesses the table"] = known.iloc[0]
    yield (
        f"Other aims are easier than the exact table; the second and third are our reading of a {E}close{E} table, "
        "which the paper announces and does not define."
    )
    yield [
        Finding(subject, row.value, format="{:.3f}", beside={BEFORE: row.baseline}) for subject, row in subjects.items()
    ]


def _given_away(results):
    """What tells most of a person's identity, then of their sensitive value."""
    yield most_revealing(of(results, "identity_vulnerability"))
    yield most_revealing(of(results, "sensitive_vulnerability"))


def most_revealing(rows):
    """Which two attributes of the original tell most, beside all of them and beside each release; None without it.

    `rows`: of one measure, one row per release and set of known attributes.
    """
    rows = _known(rows[rows.knows != ""])
    rows = rows.assign(size=rows.knows.map(names_in).map(len))
    original = rows[rows.sanitizer == "Identity"]
    if original.empty:
        return None
    best = original.loc[original.groupby("size")["at"].idxmax()].set_index("size")
    top = best.loc[2] if 2 in best.index else best.iloc[0]
    ties = ((original["size"] == top.name) & (original["at"] == top["at"])).sum() > 1
    secret = "row" if top.measure == "identity_vulnerability" else top.target
    others = beside(f"all {best.index.max()} attributes", best.iloc[2:].iloc[-1:])
    # Labels that overlap do not say which cell is a person's, so that a release may tell less.
    for row in sanitized(rows[rows.knows == top.knows]).itertuples():
        others |= {f"at most, {setting_name(row)}": row.value if pd.notna(row.value) else row.high}
    tell = "tells" if top.name == 1 else "tell"
    subject = f"{capitalized(listed(names_in(top.knows)))} {tell} most of a person's {secret}"
    note = "Other attributes tell as much." if ties else ""
    return Finding.of(top, subject, setting="Identity", beside=others, note=note)


def _family(results):
    """All kinds of sanitizers, from who leaks least to who leaks most."""
    inner = _known(over_seeds(sanitized(of(results, "identity_vulnerability", knows=""))))
    if len(inner):
        kinds = inner.groupby(inner.sanitizer.map(group), sort=False)
        others = {f"under {kind}": _ends(part) for kind, part in kinds}
        bits = np.log2(np.maximum(inner["at"] / inner.baseline, 1))
        others["in bits, each of which doubles the chance"] = f"{bits.min():.1f} to {bits.max():.1f}"
        top = inner.loc[inner["at"].idxmax()]
        subject = "An adversary with a register of all quasi-identifiers traces a row at most"
        yield Finding.of(top, subject, beside=others)
    rows = sanitized(of(results, "sensitive_vulnerability", knows=""))
    exact, noise = _known(rows[rows.variant == ""]), rows[rows.sanitizer.map(group) == "noise"]
    for _, top in exact.nlargest(1, "at").iterrows():
        others = {"all releases": _ends(exact)}
        yield Finding.of(top, f"A person's {top.target} is guessed right at most", beside=others)
    noise = noise[noise.variant == "at most"].assign(at=noise.value.fillna(noise.high))
    for _, top in noise.nlargest(1, "at").iterrows():
        yield Finding.of(top, f"For noise only a bound is known, what the original tells of {top.target}")
    absent = of(results, "classes", status="not possible")
    if len(absent):
        names = listed([setting_name(row) for row in absent.itertuples()])
        yield f"{names} cannot be had on this table, so there is no leakage to state."


def _known(rows):
    """Rows with the number that they are compared by, `at`: of a withheld one its lower bound; others are left out."""
    return rows.assign(at=rows.value.fillna(rows.low)).dropna(subset=["at", "baseline"])


def _ends(rows):
    """The smallest and the largest number, with their releases."""
    ends = dict.fromkeys([rows["at"].idxmin(), rows["at"].idxmax()])
    said = [f"{Finding.of(rows.loc[at], '').number} ({setting_name(rows.loc[at])})" for at in ends]
    return " to ".join(said)


def _space(dataset):
    """A space of tables in words."""
    name = dataset.removeprefix("askari: ")
    return "the example of section 5.3" if name == "section 5.3" else f"tables of {name}"
