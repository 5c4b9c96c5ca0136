"""What Li and Li's trade-off shows: how its scales are read, which releases dominate, where the critics disagree."""

import numpy as np
import pandas as pd

from privnb import decision
from privnb.evaluation.results import SETTING, over_seeds
from privnb.measures import facts
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, largest, of_results
from privnb.reporting.findings.rows import capitalized, listed, of, setting_name
from privnb.studies.li_li_2009.study import FORMS, MODELS, SMALL, pairs, queries_of

GAINS, LOSSES = ("accuracy_gain", "workload_gain"), ("privacy_loss", "utility_loss")  # of the two critiques


@of_results(otherwise="These results have no losses.")
def loss_scales(results):
    """What a privacy loss and a utility loss of these results mean."""
    known = of(results, "revealed_loss").dropna(subset="value")
    for least in known.nsmallest(1, "value").itertuples():
        most = known.loc[known.value.idxmax()]
        yield from largest(
            known,
            f"Privacy loss of a person whose value is disclosed for certain ({most.target} {most.group})",
            format="{:.3f} nats",
            setting="",
            beside={f"least ({least.target} {least.group})": least.value},
            note="Below the lower end nobody's value is certain. Above it somebody's may be, or a class only makes a "
            "rare value likely: the loss does not say which.",
        )
    trivial, count = of(results, "utility_loss"), of(results, "large_populations").value
    if len(trivial) and len(count):
        yield Finding(
            f"Utility loss without quasi-identifiers, mean over {count.iloc[0]:,.0f} large populations",
            trivial.baseline.iloc[0],
            format="{:.4f} nats",
            better="lower",
            note="Only what lies below tells something about groups.",
        )
    elif len(count):
        yield (
            f"No group of people is large enough, or the sensitive attribute has too many values to ask for: {B}there "
            f"is no utility loss here{B}. Lower MIN_SUPPORT, or give the quasi-identifiers hierarchies."
        )


@of_results(otherwise="None of these privacy models can be kept on this table: there is no trade-off to see.")
def privacy_models(results):
    """Which privacy model loses least utility for its privacy loss, whether buckets help, and what of the paper's
    claims holds here.
    """
    for part in (_dominance, _buckets, _claims, _errors, _unreached):
        yield from part(results)


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
    names = rows.drop_duplicates("parameters").set_index("parameters")
    researcher = of(best, "workload_gain").set_index("parameters").low.reindex(wide.index)
    wide = wide.assign(low=researcher, ahead=researcher > wide.accuracy_gain)
    short = pd.Series([f"{row.parameter}={row.bound:g}" for row in names.loc[wide.index].itertuples()], wide.index)
    return wide.assign(setting=short.mask(short.duplicated(keep=False), wide.index.to_series()))


def critiques(results):
    """In how many releases the researcher clearly gains more than the adversary, and how much utility these avoid
    losing: two findings, or none.
    """
    wide = both_critiques(results)
    if wide.empty:
        return []
    base = of(results, "utility_loss").baseline.iloc[0]
    kept, least = 1 - wide.utility_loss / base, wide.loc[wide.privacy_loss.idxmin()]
    gains = {facts(name).phrase: f"{wide[name].min():+.1%} to {wide[name].max():+.1%}" for name in GAINS}
    miners = of(results, "workload_gain", sanitizer="Mondrian").miner.nunique()
    return [
        Finding(
            "Direct comparison: the researcher clearly gains more than the adversary",
            wide.ahead.sum(),
            format=f"{{:.0f}} of {len(wide)} releases",
            beside=gains | {"miners, of which the best": f"{miners}"},
        ),
        Finding(
            "Two losses: these avoid of the utility loss about groups at most",
            kept.max(),
            format="{:.0%}",
            beside={
                "at least": kept.min(),
                "privacy loss of the worst off": f"{wide.privacy_loss.min():.3f} to {wide.privacy_loss.max():.3f} nats",
                f"at {least.setting}, which loses least privacy": 1 - least.utility_loss / base,
            },
        ),
    ]


@of_results(
    otherwise="The direct comparison needs a sensitive attribute of categories and large populations: not here."
)
def direct_comparison(results):
    """What the direct comparison says of some releases beside what Li and Li's two losses say of the same."""
    found = critiques(results)
    if found:
        yield from found
        yield (
            "Neither side has neutral attributes, so both learn the same thing from the same table, and the direct "
            "comparison is decided before it is run (Li and Li, section 3.1). Its privacy is a mean over people; the "
            "two losses are about groups and about the worst-off person. Whether the one is worth the other is the "
            "owner's to decide: the two cannot be subtracted."
        )


@of_results("privacy_loss", "utility_loss", "knowledge_gain", otherwise="These results have no examples.")
def characteristics(examples):
    """Each characteristic of section 3.2, from the made-up tables."""
    for case, part in examples.groupby("target", sort=False):
        yield f"{B}{capitalized(case)}.{B}"
        nothing, one, other = dict.fromkeys(part.sanitizer)
        wide = part.pivot(index="measure", columns="sanitizer", values="value")
        yield [
            Finding(
                facts(name).title,
                wide[one][name],
                format="{:.4f}",
                setting=one,
                beside={other: wide[other][name], nothing: wide[nothing][name]},
                better=facts(name).better,
            )
            for name in ("privacy_loss", "utility_loss", "knowledge_gain")
        ]


def _dominance(results):
    """How many releases are efficient, by privacy model."""
    both = results[results.measure.isin(LOSSES)]
    for sanitizer, form in FORMS.items():
        part = both[both.sanitizer == sanitizer]
        if set(part.measure) == {*LOSSES}:
            points = decision.points(part, privacy="privacy_loss", utility="utility_loss")
            rows = pairs(part).drop(columns="status").merge(points[[*SETTING, "status"]], on=SETTING)
            efficient = (rows.status == "efficient").groupby(rows.model, sort=False).agg(["sum", "size"])
            beside = {f"under {model}": f"{each['sum']} of {each['size']}" for model, each in efficient.iterrows()}
            subject = f"Efficient {form}, with no other release as good in both losses and better in one"
            number = efficient["sum"].sum()
            yield Finding(subject, number, format=f"{{:.0f}} of {len(rows)} releases", beside=beside)


def _buckets(results):
    """Whether buckets lose less utility than generalized cells of the same classes."""
    rows, keys = of(results, "utility_loss"), ["parameter", "bound"]
    generalized, buckets = (rows[rows.sanitizer == each].set_index(keys).value for each in FORMS)
    ratio = (generalized / buckets).replace([np.inf, -np.inf], np.nan).dropna()
    if len(ratio):
        note = "The privacy loss is the same; but buckets publish everybody's quasi-identifiers as they are."
        subject = "Generalized cells lose at most, in utility losses of the same classes in buckets"
        yield Finding(subject, ratio.max(), format="{:.2f} times", beside={"at least": ratio.min()}, note=note)


def _claims(results):
    """What the paper says of all releases together."""
    for _, row in of(results, "share_of_small_utility_loss").iterrows():
        subject = f"Utility losses below {SMALL}, {FORMS[row.sanitizer]}"
        yield Finding.of(row, subject, format="{:.0%}", setting="", note="In the paper: all.")
    above, scale = of(results, "above_scale", sanitizer="Bucketize"), of(results, "revealed_loss").value.min()
    if len(above) and not np.isnan(scale):
        subject = f"Releases above the lower end of the privacy scale ({scale:.3f} nats)"
        beside = {f"under {MODELS[row.group]}": f"{row.value:.0f}" for row in above[above.value > 0].itertuples()}
        note = "In the paper: two under l-diversity."
        yield Finding(subject, above.value.sum(), format="{:.0f}", beside=beside, note=note)
    below = of(results, "classes", sanitizer="Mondrian", parameter="delta").dropna(subset="value")
    below = below[below.bound < 1]
    if len(below):
        beside = {f"delta={row.bound:g}": f"{row.value:.0f}" for row in below.itertuples()}
        note = "The paper says that delta below 1 leaves a single class."
        most = below.value.max()
        yield Finding("Most classes under a delta below 1", most, format="{:.0f}", beside=beside, note=note)


def _errors(results):
    """How well COUNT queries are answered, and whether larger ones are answered better."""
    drawn = over_seeds(of(results, "queries")).value.max()
    if of(results, "average_relative_error").empty:
        if drawn > 0:
            yield "No COUNT query counts anybody, or there are too many values to ask for: there is no relative error."
        return
    rows = pairs(results, "average_relative_error")
    plain = rows[(rows.variant == "") & (rows.letter == "t") & (rows.form == "in buckets")]
    asked = queries_of(plain).assign(value=plain.value)
    for word, by, rest in (("sel", "selectivity", "dimension"), ("qd", "dimension", "selectivity")):
        several = asked.groupby(rest)[by].transform("nunique")
        mean = asked[asked[rest] == asked[rest][several == several.max()].min()].groupby(by).value.mean()
        if len(mean) > 1:
            subject = f"Mean relative error under t-closeness in buckets at {word}={mean.index[-1]:g}"
            beside = {f"{word}={mean.index[0]:g}": mean.iloc[0]}
            yield Finding(subject, mean.iloc[-1], format="{:.1%}", beside=beside, better="lower")
    literal = over_seeds(of(results, "empty_queries", variant="literal")).value / drawn
    if len(literal):
        share = " to ".join(dict.fromkeys(f"{each:.0%}" for each in (literal.min(), literal.max())))
        yield f"Taken literally, selectivity leaves {share} of the queries without a matching record."


def _unreached(results):
    """Privacy models that no release of this table keeps."""
    none = of(results, "classes", status="not possible", sanitizer="Mondrian")
    if len(none):
        names = listed([setting_name(row) for row in none.itertuples()])
        yield f"Not kept even by all records together, so without a release: {names}."
