"""Run sanitizers, attacks and measures over a dataset; return tidy results, one row a number.

Every function takes a dataset and sanitizers and returns a DataFrame as `results` describes. Each random choice has a
seed of its own, derived from the run's seed and the sanitizer, so that two settings never share their noise.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.evaluation.cases import Question, evaluate, reordered, sensitive_name
from privnb.evaluation.predictions import stream
from privnb.evaluation.results import join, row_builder, tidy
from privnb.evaluation.utilities import GoodUtility, failed_rows, good_rows
from privnb.measures import gains
from privnb.measures.base import state, wilson
from privnb.measures.information_loss import certainty_penalty, noise_losses
from privnb.microdata import expect, withholding
from privnb.microdata.counts import combinations
from privnb.microdata.names import name_list
from privnb.microdata.progress import track
from privnb.microdata.sentences import say
from privnb.privacy_models import KAnonymity, achieved
from privnb.sanitizers import Identity, KMember, LaplaceNoise, Suppress


def settings(k="", epsilon="", sensitivity=None):
    """Sanitizers for the values of `k` and `epsilon`: one number each, or several separated by commas.

    >>> settings(k="2, 10", epsilon=0.5)
    [KMember(k=2, start=0), KMember(k=10, start=0), LaplaceNoise(epsilon=0.5, sensitivity=None)]
    """
    chosen = [KMember(value) for value in numbers("K", k, int)]
    chosen += [LaplaceNoise(value, sensitivity) for value in numbers("EPSILON", epsilon, float)]
    if not chosen:
        raise ValueError("there is no sanitizer to run: give one value or more of k or epsilon.")
    return chosen


K = (2, 10, 50, 100)  # Sramka et al. 2010, section 4


def default_k(k, dataset):
    """`k` as it is asked for; where that is empty, those of `K` for which the dataset has records enough, as text."""
    _check_k(k, dataset)
    return k if str(k).strip() else ", ".join(str(value) for value in K if value <= len(dataset))


def _check_k(k, dataset):
    expect.these(dataset=dataset)
    if not (isinstance(k, str) or expect.is_number(k)):
        raise ValueError(f"k must be a number, or several as text with commas between, got {expect.found(k)}.")


def left_out(k, dataset):
    """A sentence on the defaults that `default_k` leaves out; None where that is none."""
    _check_k(k, dataset)
    more = [str(value) for value in K if value > len(dataset)]
    if str(k).strip() or not more:
        return None
    return say(
        f"K is empty, so that its defaults are taken but {', '.join(more)}: the table has {len(dataset)} records."
    )


def ends():
    """The sanitizers that all others lie between: publish everything, publish no quasi-identifier."""
    return [Identity(), Suppress()]


def first_number(dataset):
    """The first numeric quasi-identifier, or else the first: what is mined unless a notebook names another one."""
    expect.these(dataset=dataset)
    names = dataset.schema.quasi_identifiers
    if not names:
        raise ValueError(f"'{dataset.name}' has no quasi-identifier. Give one or more columns that role.")
    return next((name for name in names if dataset.schema[name].numeric), names[0])


state("records", unit="records", format="{:,.0f}", axis=False)
state("domain_size", sentence="Distinct values of an attribute.", format="{:,.0f}", axis=False)
state(
    "unique",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Unique people",
    sentence="Share of people whom a set of quasi-identifiers singles out in the original.",
    source="Sweeney, IJUFKS 10(5), 2002",
    unit="share of people",
    format="{:.1%} of people",
    axis=False,
)


def describe(dataset):
    """Records, distinct values of each attribute, and the best guess of each sensitive attribute without a release."""
    expect.these(dataset=dataset)
    row, n = row_builder(dataset, Identity(), ""), len(dataset)
    sizes = {name: withholding.known(dataset.table[name].nunique(), n) for name in dataset.schema.published}
    rows = [row("records", n), *(row("domain_size", size, target=name) for name, size in sizes.items())]
    for name in dataset.schema.sensitive:
        commonest = int(dataset.table[name].value_counts().max())
        share, *interval = withholding.share(commonest, n)
        interval = interval if np.isnan(share) else wilson(commonest, n)
        rows.append(row("prior_accuracy", share, target=name, interval=interval, better="lower"))
    return tidy(rows)


def people_by(dataset, name):
    """How many people have each value of `name`, numbers in some twenty equal steps: Series of people by label."""
    expect.these(dataset=dataset)
    if not dataset.schema[name].numeric:
        counts = dataset.table[name].value_counts().sort_index()  # of equals not the one that a record names first
        return counts.sort_values(ascending=False, kind="stable").rename("people")
    return groups(dataset, name, 20).value_counts(sort=False).sort_index().rename(str).rename("people")


def groups(dataset, name, about=10):
    """The group of each person by an attribute: its category, or for numbers one of `about` equal steps, such as
    "20-29". Series (n,), ordered where it is of numbers.
    """
    expect.these(dataset=dataset)
    expect.whole("about", about, 1)
    attribute, column = dataset.schema[name], dataset.table[name]
    if not attribute.numeric:
        return column
    domain = attribute.domain
    # In steps of the domain, which are whole numbers: 0.3 // 0.1 is 2.
    least = max(domain.width / domain.step / about, 1)
    power = 10 ** np.floor(np.log10(least))
    wide = int(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * 0.999))
    before = np.floor(domain.low / domain.step + 1e-9)
    first = (np.rint((column - domain.low) / domain.step) + before) // wide * wide
    rest = domain.low - before * domain.step
    labels = {
        low: "-".join(f"{step * domain.step + rest:.10g}" for step in sorted({low, low + wide - 1}))
        for low in np.unique(first)
    }
    return pd.Series(pd.Categorical(first.map(labels), categories=list(labels.values()), ordered=True), name=name)


def tells_few(release, sensitive, fewest=withholding.LIMIT):
    """Whether a number of the worst-off class could tell how many people have a sensitive value that fewer than
    `fewest` have: the table has such a value, and the release a class of so few.
    """
    expect.these(release=release, sensitive=sensitive, fewest=fewest)
    classes, values = release.by_class(sensitive)
    return bool(np.bincount(classes).min() < fewest and pd.Series(values).value_counts().min() < fewest)


def uniqueness(dataset, *, fewest=withholding.LIMIT):
    """Share of people whom a set of quasi-identifiers singles out, for every set, which stands in `knows`.

    A share of fewer than `fewest` people, or of all but so few, has no value, only bounds. Who stands out by some
    attributes does so by more: a share has neither where another set's would tell so few by it.
    """
    expect.these(dataset=dataset, fewest=fewest)
    row = row_builder(dataset, Identity(), "")
    names = dataset.schema.quasi_identifiers
    sizes = range(1, len(names) + 1) if len(names) <= 10 else [1, 2, 3, len(names)]  # the sets double with each name
    subsets = [s for size in sizes for s in itertools.combinations(names, size)]
    rows, n = [], len(dataset)
    alone = {
        subset: int((combinations(dataset.table[list(subset)]).multiplicities == 1).sum())
        for subset in track(subsets, "who is unique")
    }
    hidden = withholding.suppress_sets(alone, n, fewest)
    for subset, people in alone.items():
        share, *interval = withholding.share(people, n, fewest)
        if not np.isnan(share):
            share, *interval = (np.nan,) * 3 if subset in hidden else (share, *wilson(people, n))
        rows.append(row("unique", share, knows=name_list(subset), interval=interval, baseline=0, better="lower"))
    return tidy(rows)


def example(dataset, sanitizers, *, fewest=withholding.LIMIT):
    """A dozen rows of the first release whose rows stand for `fewest` people or more each; a sentence without one."""
    expect.these(dataset=dataset, sanitizers=sanitizers, fewest=fewest)
    for sanitizer in sanitizers:
        if not sanitizer.randomized:
            release = sanitizer.sanitize(dataset, rng=1)
            if not release.has_unprotected_rows and achieved(KAnonymity(2), release) >= fewest:
                return release.show()
    return f"None of these releases is shown: their rows stand for fewer than {fewest} people each."


state(
    "classes",
    sentence="Groups of people whom the released quasi-identifiers cannot tell apart.",
    source="Samarati and Sweeney, 1998",
    format="{:,.0f}",
)
state(
    "buckets",
    sentence="Groups of people whose sensitive values are published together, in a table of their own.",
    source="Xiao and Tao, VLDB 2006",
    format="{:,.0f}",
)
state(
    "median_class_size",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Median class",
    sentence="Half of the classes have so many people or fewer.",
    source="Samarati and Sweeney, 1998",
    unit="people",
    format="{:,.0f} people",
    axis=False,
)
state(
    "median_bucket_size",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Median bucket",
    sentence="Half of the buckets have so many people or fewer.",
    source="Xiao and Tao, VLDB 2006",
    unit="people",
    format="{:,.0f} people",
    axis=False,
)
state(
    "k_achieved",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="k achieved",
    sentence="Nobody can be linked to fewer released records than this. Buckets publish exact quasi-identifiers, so "
    "k is about those.",
    source="Samarati and Sweeney, 1998",
    unit="people",
    format="{:,.0f} people",
    baseline="asked",
    axis=False,
)


@dataclass(frozen=True)
class Costs(Question):
    """What a release publishes and costs, see `costs`."""

    fewest: int = withholding.LIMIT

    def rows(self, case):
        release, row, n = case.release, case.row, len(case.dataset)
        if release.classes is None:
            return [row(*loss) for loss in noise_losses(case.dataset, release).items()]
        sizes = np.bincount(release.classes)
        names = ("buckets", "median_bucket_size") if release.buckets is not None else ("classes", "median_class_size")
        suppressed, *bounds = release.suppressed, np.nan, np.nan
        if withholding.tells(suppressed, n, self.fewest):
            suppressed, *bounds = withholding.counted(suppressed, n, self.fewest)
        return [
            row(names[0], withholding.known(len(sizes), n, self.fewest)),
            row(names[1], float(np.median(sizes))),
            row("k_achieved", int(achieved(KAnonymity(2), release))),
            row("suppressed_records", suppressed, interval=bounds),
            row("certainty_penalty", certainty_penalty(release)),
        ]


def costs(dataset, sanitizers, *, fewest=withholding.LIMIT):
    """What each sanitizer publishes and costs: classes or buckets, k, suppressed records, certainty penalty or
    how far noise moves a number and how often it changes a category.

    The k of a bucketized release is that of its exact quasi-identifiers, and its certainty penalty is 0: what it costs
    is the link to the sensitive values, which no penalty of cells counts.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers, fewest=fewest)
    return evaluate(dataset, sanitizers, measures=[Costs(fewest)])


def linked(dataset, sanitizers, *, seeds=1):
    """How often an adversary who knows all quasi-identifiers links a person to the right released row."""
    return evaluate(dataset, sanitizers, attacks=[Linkage()], seeds=seeds)


def good_utility(dataset, sanitizers, *, miners="three", target=None, seed=1, folds=10):
    """What an honest user keeps: correct predictions of `target` by miners, in cross-validation (Sramka et al. 2010,
    Table 1).

    `target` defaults to the sensitive attribute. `seed` says the noise, the order of the records and the folds. Rows of
    each miner for the original and for each sanitizer: `good_utility` (people; baseline: the commonest value) and
    `utility_decline` against the original; or, in `status`, why it has no guess, see
    `predictions.Mined`. Where no miner has one on the original, the releases are not mined.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers, miners=miners, target=target, seed=seed, folds=folds)
    target = sensitive_name(dataset, target)
    if dataset.schema[target].numeric:
        raise ValueError(f"'{target}' is a number, seldom predicted exactly. Choose a TARGET of categories.")
    idea, dataset, rows, original = GoodUtility(target, miners=miners, folds=folds), reordered(dataset, seed), [], None
    others = [sanitizer for sanitizer in sanitizers if sanitizer != Identity()]
    for sanitizer in track([Identity(), *others], "sanitize and measure"):
        release = sanitizer.sanitize(dataset, rng=stream(seed, sanitizer, "sanitize"))
        found, row = idea.mined(dataset, release, seed, sanitizer), row_builder(dataset, sanitizer, seed)
        rows += failed_rows(row, "good_utility", found[target], target=target)
        if found[target].guesses:
            scores = idea.score(found, dataset, release)
            original = original or scores  # the first release is the original
            rows += good_rows(row, target, scores, original)
        if original is None:
            break
    return tidy(rows)


@dataclass(frozen=True)
class Gains(Question):
    """Brickell and Shmatikov's accuracy and knowledge gain of a release, see `gain_rows`."""

    sensitive: str

    def rows(self, case):
        return gain_rows(case.row, case.release, self.sensitive, rng=case.stream("deal"))


def adversary_gains(dataset, sanitizers, *, sensitive=None, seeds=1):
    """Brickell and Shmatikov's accuracy and knowledge gain of each release; baseline: the same classes, values dealt
    at random.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers, sensitive=sensitive, seeds=seeds)
    return evaluate(dataset, sanitizers, measures=[Gains(sensitive_name(dataset, sensitive))], seeds=seeds)


def gains_at_the_ends(datasets):
    """The gains of each dataset published intact and with either trivial sanitization, after its `describe` rows."""
    expect.these(datasets=datasets)
    if not datasets:
        raise ValueError("datasets must be one or more, got none.")
    trivial = [*ends(), Suppress("sensitive")]
    return join(*(part for data in datasets for part in (describe(data), adversary_gains(data, trivial))))


def gain_rows(row, release, sensitive, *, rng):
    """Rows of both gains of a release.

    Without values where the people guessed right, with or without the release, would tell of few; see `withholding`.
    """
    counts = gains.class_counts(release, sensitive)
    accuracy, knowledge = gains.gains_by_chance(release, sensitive, rng=rng)
    found = {"accuracy_gain": (gains.accuracy_gain, accuracy), "knowledge_gain": (gains.knowledge_gain, knowledge)}
    right = np.array([counts.max(axis=1).sum(), counts.sum(axis=0).max()])  # with the release and without it
    hidden, rows = withholding.tells(right, counts.sum()).any(), []
    for name, (measure, chance) in found.items():
        value, chance = (np.nan, np.nan) if hidden else (measure(counts), chance)
        rows.append(row(name, value, target=sensitive, baseline=chance, better=measure.facts.better))
    return rows


def numbers(name, text, kind):
    """The numbers in `text`, separated by commas, without repeats; `name` is the parameter that errors name."""
    parts = [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        found = list(dict.fromkeys(kind(part) for part in parts))
        if not np.isfinite(found).all():
            raise ValueError
        return found
    except (ValueError, TypeError):  # numpy's, of a whole number beyond its own
        number = "a whole number" if kind is int else "a number"
        raise ValueError(
            f"{name} must be one number or several separated by commas, each {number}; got {text!r}."
        ) from None
