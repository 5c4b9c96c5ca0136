"""What Li and Li's trade-off shows: how its scales are read, which releases dominate, where the critics disagree."""

import re

import numpy as np
import pandas as pd

from privnb import decision
from privnb.evaluation.results import check_results, over_seeds
from privnb.microdata import expect
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import listed, of
from privnb.studies.li_li_2009.study import FORMS, MODELS, SMALL, pairs, queries_of

GAINS, LOSSES = ("accuracy_gain", "workload_gain"), ("privacy_loss", "utility_loss")  # of the two critiques


def how_losses_read(results):
    """What a privacy loss and a utility loss of these results mean."""
    expect.these(results=results)
    revealed, sentences = of(results, "revealed_loss"), []
    told = revealed.dropna(subset="value").sort_values("value")
    if len(told):
        first, last = told.iloc[0], told.iloc[-1]
        sentences.append(
            f"{B}Whose value is told for certain loses {first.value:.3f} ({first.target} {first.group}, the smallest) "
            f"to {last.value:.3f} ({last.target} {last.group}, the largest of those shown).{B} Below the lower end "
            "nobody's value is certain. Above it somebody's may be, or a class only makes a rare value likely: the "
            "loss does not say which. 0 is what is lost without quasi-identifiers; lower is better."
        )
    trivial, count = of(results, "utility_loss"), of(results, "large_populations").value
    if len(trivial) and len(count):
        base = trivial.baseline.iloc[0]
        sentences.append(
            f"{B}A release without quasi-identifiers has a utility loss of {base:.4f}{B}, the mean over "
            f"{count.iloc[0]:,.0f} large populations: only what lies below tells something about groups. 0 is what the "
            "original loses."
        )
    elif len(count):
        sentences.append(
            f"No group of people is large enough, or the sensitive attribute has too many values to ask for: {B}there "
            f"is no utility loss here{B}. Lower MIN_SUPPORT, or give the quasi-identifiers hierarchies."
        )
    return say(*sentences)


def what_the_trade_off_is(results):
    """Which privacy model loses least utility for its privacy loss, whether buckets help, and what of the paper's
    claims holds here.
    """
    expect.these(results=results)
    sentences = [
        *_dominance(results),
        *_buckets(results),
        *_claims(results),
        *_by_chance(results),
        *_errors(results),
        *_unreached(results),
    ]
    return say(
        *(sentences or ["None of these privacy models can be kept on this table: there is no trade-off to see."])
    )


def both_critiques(results):
    """What both critiques say of the generalized releases that have both: one row by `parameters`, means over seeds.

    Columns: the four measures; `low` of the researcher's 95 % interval; `ahead`: whether that is above what the
    adversary gains. Gains are of the miner that gains most in each release. Without such releases no rows.
    """
    rows = results[(results.sanitizer == "Mondrian") & results.measure.isin([*GAINS, *LOSSES])]
    rows = over_seeds(rows).dropna(subset="value")
    gains = rows.measure.isin(GAINS)
    best = rows[gains].sort_values("value", ascending=False, kind="stable").drop_duplicates(["parameters", "measure"])
    rows = pd.concat([rows[~gains], best]).sort_index()
    wide = rows.pivot_table(index="parameters", columns="measure", values="value", sort=False)
    wide = wide.reindex(columns=[*GAINS, *LOSSES]).dropna()
    low = best[best.measure == "workload_gain"].set_index("parameters").low.reindex(wide.index)
    return wide.assign(low=low, ahead=low > wide.accuracy_gain)


def where_critics_disagree(results):
    """What the direct comparison says of some releases beside what Li and Li's two losses say of the same."""
    expect.these(results=results)
    wide = both_critiques(results)
    if wide.empty:
        return say("The direct comparison needs a sensitive attribute of categories and large populations: not here.")
    base = of(results, "utility_loss").baseline.iloc[0]
    kept, least = 1 - wide.utility_loss / base, wide.privacy_loss.idxmin()
    points = {name: f"{100 * wide[name].min():.1f} to {100 * wide[name].max():.1f}" for name in GAINS}
    miners = of(results, "workload_gain").query("sanitizer == 'Mondrian'").miner.nunique()
    best = f"; in each the best of {miners} miners" if miners > 1 else ""
    return say(
        f"{B}By the direct comparison a researcher who predicts the sensitive attribute does not clearly gain more "
        f"than the adversary in {(~wide.ahead).sum()} of {len(wide)} releases{B} (95 % intervals{best}): "
        f"{points['workload_gain']} percentage points of people against {points['accuracy_gain']}. Neither has neutral "
        "attributes, so both learn the same thing from the same table, and the comparison is decided before it is run "
        "(Li and Li, section 3.1). Its privacy is a mean over people.",
        f"{B}By the two losses the same releases avoid {kept.min():.0%} to {kept.max():.0%}{B} of what is lost about "
        f"large populations without quasi-identifiers; the worst-off person loses {wide.privacy_loss.min():.3f} to "
        f"{wide.privacy_loss.max():.3f}. At {_short(least)}, which loses least privacy, it is {kept[least]:.0%}. "
        "Whether that is worth it is the owner's to say: the two cannot be subtracted.",
        "They disagree because they ask for different things: what a class tells of its members, to friend and foe "
        "alike; and what is said rightly of groups, beside what the one worst-off pays for it.",
    )


def what_examples_show(examples):
    """Each characteristic of section 3.2 in a sentence, from the made-up tables."""
    check_results("examples", examples)
    sentences = []
    for case, part in examples.groupby("target", sort=False):
        wide = part.pivot_table(index="sanitizer", columns="measure", values="value", sort=False)
        nothing, one, other = (wide.iloc[i] for i in range(3))
        said = {name: _both(one[name], other[name]) for name in wide}
        sentences.append(
            f"{B}{_upper(case)}.{B} {_upper(wide.index[1])}, or {wide.index[2]}: the worst-off person loses "
            f"{said['privacy_loss']}. The utility loss, {nothing.utility_loss:.4f} where nothing is told, is "
            f"{said['utility_loss']}. The mean over people by which a direct comparison goes is "
            f"{said['knowledge_gain']}."
        )
    return say(*sentences)


def _dominance(results):
    """What is efficient, what the t releases dominate, and what lies below the line through them."""
    both = results[results.measure.isin(["privacy_loss", "utility_loss"])]
    for sanitizer, form in FORMS.items():
        part = both[both.sanitizer == sanitizer]
        if set(part.measure) != {"privacy_loss", "utility_loss"}:
            continue
        rows = pairs(part)
        points = decision.points(part, privacy="privacy_loss", utility="utility_loss")
        points = points[["sanitizer", "parameters", "status"]]
        rows = rows.drop(columns="status").merge(points, on=["sanitizer", "parameters"])
        efficient = [
            f"{(each.status == 'efficient').sum()} of {len(each)} under {model}"
            for model, each in rows.groupby("model", sort=False)
        ]
        said = (
            f"{B}{_upper(form)}, efficient are {listed(efficient)}{B}: no other release here is as good in both losses"
        )
        said += " and better in one."
        rows = rows.dropna(subset="privacy").sort_values("privacy")  # a withheld loss lies nowhere
        close, others = rows[rows.letter == "t"], rows[rows.letter != "t"]
        within = others[others.privacy.between(close.privacy.min(), close.privacy.max())]
        if len(close) > 1 and len(within):
            below = int((within.value < np.interp(within.privacy, close.privacy, close.value) - 1e-12).sum())
            beaten = sum(_dominated(row, close) for row in others.itertuples() if row.status == "dominated")
            said += (
                f" Some t release dominates {beaten or 'none'} of the {len(others)} other releases. Of the "
                f"{len(within)} within the range of t-closeness {below or 'none'} {'lies' if below < 2 else 'lie'} "
                f"below the line through the {len(close)} t releases; {len(others) - len(within)} outside that range "
                "cannot be compared so."
            )
        yield said


def _dominated(row, by):
    """Whether one of the releases is as good as `row` in both losses and better in one."""
    as_good = (by.privacy <= row.privacy) & (by.value <= row.value)
    return (as_good & ((by.privacy < row.privacy) | (by.value < row.value))).any()


def _buckets(results):
    """Whether buckets lose less utility than generalized cells of the same classes."""
    rows = of(results, "utility_loss")
    generalized, buckets = (rows[rows.sanitizer == each] for each in FORMS)
    buckets = buckets.assign(parameters=buckets.parameters.str.removeprefix("partition=Mondrian "))
    both = generalized.merge(buckets, on="parameters", suffixes=("", "_buckets"))
    if both.empty:
        return
    less, more = (both.value_buckets < both.value - 1e-12), (both.value_buckets > both.value + 1e-12)
    ratio = (both.value / both.value_buckets)[less & (both.value_buckets > 0)]
    other = (both.value_buckets / both.value)[more & (both.value > 0)]
    said = (
        f"Buckets lose less utility than generalized cells in {less.sum()} of {len(both)} pairs, more in {more.sum()}"
    )
    if len(ratio):
        said += f"; generalization loses {_span(ratio, '.2f')} times as much where they lose less"
    if len(other):
        said += f"; buckets lose {_span(other, '.2f')} times as much where they lose more"
    yield f"{said}. The privacy loss is the same; but buckets publish everybody's quasi-identifiers as they are."


def _claims(results):
    """What the paper says of all releases together."""
    share = of(results, "share_of_small_utility_loss")
    if len(share):
        told = listed([f"{row.value:.0%} {FORMS[row.sanitizer]}" for row in share.itertuples()])
        yield f"The paper finds every utility loss below {SMALL}; here that holds of {told}."
    above, scale = (
        of(results, "above_scale").query("sanitizer == 'Bucketize'"),
        of(results, "revealed_loss").value.min(),
    )
    if len(above) and scale == scale:
        above = above[above.value > 0]
        told = listed([f"{row.value:.0f} under {MODELS[row.group]}" for row in above.itertuples()] or ["none"])
        yield f"Above the lower end of the privacy scale ({scale:.3f}) lie {told}; in the paper two under l-diversity."
    classes = of(results, "classes")
    below = classes[(classes.sanitizer == "Mondrian") & (classes.parameter == "delta") & (classes.bound < 1)]
    below = below.dropna(subset="value")
    if len(below):
        told = listed([f"{row.value:.0f} at {row.bound:g}" for row in below.itertuples()])
        yield f"The paper says that delta below 1 leaves a single class. Here are as many classes: {told}."


def _by_chance(results):
    """Where the privacy loss is no more than what small classes show by chance."""
    rows = of(results, "privacy_loss").query("sanitizer == 'Mondrian'").dropna(subset="baseline")
    if len(rows):
        chance = rows[rows.value <= rows.baseline]
        yield (
            f"In {len(chance)} of {len(rows)} generalized releases the worst-off person loses no more than if the "
            "sensitive values were dealt out among the same classes at random, which tells nothing true of anybody. It "
            "counts as a loss all the same: others believe it."
        )


def _errors(results):
    """How well COUNT queries are answered, and whether larger ones are answered better."""
    rows = pairs(results, "average_relative_error") if len(of(results, "average_relative_error")) else []
    if not len(rows):
        if len(of(results, "queries")):
            yield "No COUNT query counts anybody, or there are too many values to ask for: there is no relative error."
        return
    plain = rows[(rows.variant == "") & (rows.letter == "t") & (rows.form == "in buckets")]
    asked = queries_of(plain)
    for word, by, larger in (
        ("sel", "selectivity", "larger selectivity"),
        ("qd", "dimension", "higher dimension"),
    ):
        rest = "dimension" if by == "selectivity" else "selectivity"
        step = plain.assign(by=asked[by], rest=asked[rest])
        step = step[step.rest == step.groupby("rest").by.nunique().idxmax()] if len(step) else step
        if step.empty or step.by.nunique() < 2:
            continue
        lines = [part.sort_values("by").value.is_monotonic_decreasing for _, part in step.groupby("parameters")]
        mean = step.groupby("by").value.mean()
        yield (
            f"The average relative error under t-closeness in buckets falls with a {larger} at each step in "
            f"{sum(lines)} of {len(lines)} releases: mean {mean.iloc[0]:.1%} at {word}={mean.index[0]:g}, "
            f"{mean.iloc[-1]:.1%} at {word}={mean.index[-1]:g}; lower is better."
        )
    literal = over_seeds(of(results, "empty_queries"))
    drawn = over_seeds(of(results, "queries")).value.max()
    literal = literal[literal.variant == "literal"]
    if len(literal):
        share = _span(literal.value / drawn, ".0%")
        yield f"Read to the letter, selectivity leaves {share} of the queries nobody to count."


def _unreached(results):
    """Privacy models that no release of this table keeps."""
    none = of(results, "classes").query("status == 'not possible' and sanitizer == 'Mondrian'")
    if len(none):
        told = listed([f"{row.parameter}={row.bound:g}" for row in none.itertuples()])
        yield f"Not kept even by all records together, so without a release: {told}."


def _both(one, other):
    return f"{one:.4f} either way" if abs(one - other) < 1e-9 else f"{one:.4f} and {other:.4f}"


def _span(values, format):
    ends = list(dict.fromkeys(f"{value:{format}}" for value in (values.min(), values.max())))
    return " to ".join(ends)


def _short(parameters):
    return re.search(r"(k|l|t|delta)=[\d.e+-]+", parameters)[0]


def _upper(text):
    return text[0].upper() + text[1:]
