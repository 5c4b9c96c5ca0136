"""Run sanitizers, attacks and measures over a dataset; return tidy results, one row a number.

Every function takes a dataset and sanitizers and returns a DataFrame as `results` describes. Each random choice has a
seed of its own, derived from the run's seed and the sanitizer, so that two settings never share their noise.
"""

import itertools
import zlib
from dataclasses import replace

import numpy as np

from privnb.attacks import Linkage, MinerInference
from privnb.counts import combinations
from privnb.encoding import encode
from privnb.hierarchy import flat
from privnb.information_loss import certainty_penalty, displacement
from privnb.measures import gains, linkage, mining
from privnb.measures.base import wilson
from privnb.miners import able, cross_val_predictions, reference_set
from privnb.privacy_models import KAnonymity, achieved
from privnb.progress import track
from privnb.results import join, people_interval, rows_of, tidy, withheld
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


def ends():
    """The sanitizers that all others lie between: publish everything, publish no quasi-identifier."""
    return [Identity(), Suppress()]


def first_number(dataset):
    """The first numeric quasi-identifier, or else the first: what is mined unless a notebook names another one."""
    names = dataset.schema.quasi_identifiers
    if not names:
        raise ValueError(f"'{dataset.name}' has no quasi-identifier. Give one or more columns that role.")
    return next((name for name in names if dataset.schema[name].numeric), names[0])


def _sensitive(dataset, name):
    """`name`, or without one the first sensitive attribute; refused unless it is published."""
    if not name and not dataset.schema.sensitive:
        raise ValueError(f"'{dataset.name}' has no sensitive attribute. Give a column that role in its description.")
    return published_name(dataset, name or dataset.schema.sensitive[0])


def published_name(dataset, name):
    """`name`, if a release of the dataset holds that attribute; raises ValueError otherwise."""
    if dataset.schema[name].name not in dataset.schema.published:
        raise ValueError(f"'{name}' is not published. Choose one of {', '.join(dataset.schema.published)}.")
    return name


def releases(dataset, sanitizers, *, seeds=1):
    """Yield (release, sanitizer, seed), for each of `seeds` seeds where a sanitizer is randomized; shows progress."""
    if seeds < 1:
        raise ValueError(f"seeds is a number of repeats from 1, got {seeds!r}.")
    runs = [(s, seed) for s in sanitizers for seed in (range(1, seeds + 1) if s.randomized else [1])]
    for sanitizer, seed in track(runs, "sanitize and measure"):
        yield sanitizer.sanitize(dataset, rng=stream(seed, sanitizer, "sanitize")), sanitizer, seed


def describe(dataset):
    """Records, distinct values of each attribute, and the best guess of each sensitive attribute without a release."""
    row = rows_of(dataset, Identity(), "")
    rows = [row("records", len(dataset))]
    rows += [row("domain_size", dataset.table[name].nunique(), target=name) for name in dataset.schema.published]
    for name in dataset.schema.sensitive:
        commonest = int(dataset.table[name].value_counts().max())
        low, high = wilson(commonest, len(dataset))
        rows.append(row("prior_accuracy", commonest / len(dataset), target=name, low=low, high=high, better="lower"))
    return tidy(rows)


def people_by(dataset, name):
    """How many people have each value of `name`, numbers in some twenty equal steps: Series of people by label."""
    attribute, column = dataset.schema[name], dataset.table[name]
    if not attribute.numeric:
        return column.value_counts().rename("people")
    least = max(attribute.domain.width / 20, attribute.domain.step)
    power = 10 ** np.floor(np.log10(least))
    width = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * 0.999)
    steps = column // width * width
    return steps.value_counts().sort_index().rename(lambda low: f"{low:g}-{low + width - attribute.domain.step:g}")


def uniqueness(dataset, *, fewest=10):
    """Share of people whom a set of quasi-identifiers singles out, for every set; `target` names the set.

    A share of fewer than `fewest` people has no value, only bounds.
    """
    row = rows_of(dataset, Identity(), "")
    names = dataset.schema.quasi_identifiers
    sizes = range(1, len(names) + 1) if len(names) <= 10 else [1, 2, 3, len(names)]  # the sets double with each name
    subsets = [s for size in sizes for s in itertools.combinations(names, size)]
    rows = []
    for subset in track(subsets, "who is unique"):
        alone = int((combinations(dataset.table[list(subset)]).multiplicities == 1).sum())
        interval = wilson(alone, len(dataset))
        if 0 < alone < fewest:
            alone, interval = np.nan, (1 / len(dataset), (fewest - 1) / len(dataset))
        rows.append(row("unique", alone / len(dataset), "", ", ".join(subset), *interval, 0, "lower"))
    return tidy(rows)


def example(dataset, sanitizers):
    """A dozen rows of the first release whose rows may be shown; a sentence where there is none."""
    for sanitizer in sanitizers:
        if not sanitizer.randomized:
            release = sanitizer.sanitize(dataset, rng=1)
            if not release.bare:
                return release.show()
    return "None of these releases is shown: their rows are people's own records, blurred or not."


def costs(dataset, sanitizers, *, fewest=10):
    """What each sanitizer publishes and costs: classes or buckets, k, suppressed records, certainty penalty or
    displacement.

    The k of a bucketized release is that of its exact quasi-identifiers, and its certainty penalty is 0: what it costs
    is the link to the sensitive values, which no penalty of cells counts.
    """
    rows = []
    for release, sanitizer, seed in releases(dataset, sanitizers):
        row = rows_of(dataset, sanitizer, seed)
        if release.provenance.noisy:
            rows.append(row("displacement", displacement(dataset, release), better="lower"))
            continue
        sizes = np.bincount(release.classes)
        names = ("buckets", "median_bucket_size") if release.form == "bucketized" else ("classes", "median_class_size")
        rows += [
            row(names[0], len(sizes)),
            row(names[1], float(np.median(sizes)), better="higher"),
            row("k_achieved", int(achieved(KAnonymity(2), release)), better="higher"),
            row("suppressed_records", release.suppressed, better="lower"),
            row("certainty_penalty", certainty_penalty(release), better="lower"),
        ]
    return withheld(tidy(rows), fewest)


def linked(dataset, sanitizers, *, seeds=1):
    """How often an adversary who knows all quasi-identifiers links a person to the right released row."""
    rows = []
    for release, sanitizer, seed in releases(dataset, sanitizers, seeds=seeds):
        published, key = release.publish(stream(seed, sanitizer, "publish"))
        attack = Linkage().fit(published)
        share, low, high = linkage.correct_links(attack, dataset, key)
        row = rows_of(dataset, sanitizer, seed)
        rows.append(row("correct_links", share, low=low, high=high, baseline=1 / len(dataset), better="lower"))
    return tidy(rows)


def good_utility(dataset, sanitizers, *, miners="three", target=None, seeds=1, folds=10):
    """What an honest user keeps: correct predictions of `target` by miners, 10-fold cross-validation (Sramka, Table
    1).

    `target` defaults to the sensitive attribute. Rows: `good_utility` (people, of all records; baseline: the commonest
    value) and `utility_decline` against the original, per miner and for the miner that loses most (`worst`).
    """
    target = _sensitive(dataset, target)
    if dataset.schema[target].numeric:
        raise ValueError(f"'{target}' is a number, seldom predicted exactly. Choose a TARGET of categories.")
    truth = dataset.table[target].to_numpy()
    commonest = int(dataset.table[target].value_counts().max())
    others = [name for name in dataset.schema.published if name != target]
    rows, original = [], {}
    for release, sanitizer, seed in releases(dataset, [Identity(), *sanitizers], seeds=seeds):
        MinerInference.check(release)
        row = rows_of(dataset, sanitizer, seed)
        encoded = encode(release.table, others, release.schema, release.hierarchies)
        people = {}
        for miner in reference_set(miners):
            predicted = cross_val_predictions(miner, encoded, release.table[target].to_numpy(), folds=folds, seed=1)
            people[miner.name] = mining.good_utility(predicted, truth)
        original = original or people  # the first release is the original
        for name, value in people.items():
            rows.append(
                row("good_utility", value, name, target, *people_interval(value, len(truth)), commonest, "higher")
            )
            decline = mining.utility_decline(original[name], value)
            rows.append(row("utility_decline", decline, name, target, better="lower"))
        worst, _ = mining.utility_preserving(original, people)
        rows.append(row("utility_decline", worst, "worst", target, better="lower"))
    return tidy(rows)


def anti_utility(dataset, sanitizers, *, miners="five", target=None, c=0, share=0.05, seeds=1, fewest=10):
    """What an adversary's miners gain: people for whom a prediction of `target` is nearer to the truth than the
    release.

    Sramka et al. 2010, Table 2. Scenario A: everybody, c%-nearer with the given `c` (0-100). B: everybody, exact. C:
    as A, for a random `share` of the people. Each miner learns from the release and predicts the released records
    themselves. Rows per miner, `average` and `worst`; baseline: the middle of the attribute's public domain, guessed
    for everybody without the release. `A_distinct` counts each distinct released row once, as the paper's numbers
    suggest that it did.
    """
    target, rows = published_name(dataset, target or first_number(dataset)), []
    for release, sanitizer, seed in releases(dataset, sanitizers, seeds=seeds):
        row = rows_of(dataset, sanitizer, seed)
        predictions, guess = mine(release, target, miners, rng=stream(seed, sanitizer, "publish"))
        truth, released = dataset.table[target].to_numpy(), release.table[target].to_numpy()
        generalization = _generalization(release, target)
        everybody = np.ones(len(dataset))
        chosen = mining.selected(len(dataset), share, rng=stream(seed, sanitizer, "scenario C"))
        if not chosen.any():
            raise ValueError(f"a share of {share!r} of {len(dataset)} people selects nobody for scenario C. Raise it.")
        scenarios = {
            "A": (c, everybody),
            "A_distinct": (c, mining.first_occurrences(release.table).astype(float)),
            "B": (100, everybody),
            "C": (c, chosen),
        }
        for scenario, (nearness, weights) in scenarios.items():
            people = {
                name: mining.anti_utility(mining.nearer(prediction, released, truth, nearness, generalization), weights)
                for name, prediction in {"guess": guess, **predictions}.items()
            }
            chance, measure = people.pop("guess"), f"anti_utility_{scenario}"
            average, worst, _ = mining.average_and_worst(people)
            if any(0 < value < fewest for value in people.values()):
                average = np.nan  # with the others it would tell the withheld ones
            for name, value in {**people, "worst": worst}.items():
                interval = people_interval(value, int(weights.sum()))
                rows.append(row(measure, value, name, target, *interval, chance, "lower"))
            rows.append(row(measure, average, "average", target, baseline=chance, better="lower"))
    return withheld(tidy(rows), fewest)


def mine(release, target, miners, *, rng):
    """Each miner's predictions of `target` for the released records, `{miner: array (n,)}`, and the guess without a
    release.

    In the dataset's order; the attack itself sees the shuffled published table alone.
    """
    MinerInference.check(release)
    published, key = release.publish(rng)
    known = published.table.drop(columns=target)

    def in_order(predicted):
        ordered = np.empty(len(key), dtype=np.asarray(predicted).dtype)
        ordered[key] = predicted
        return ordered

    predictions = {}
    fit, unfit = able(reference_set(miners), published.table[target])
    if not fit:
        raise ValueError(
            f"{unfit} cannot predict '{target}' as this release publishes it. Add another miner to MINERS."
        )
    for miner in track(fit, f"mine {target}"):
        attack = MinerInference(miner, target).fit(published)
        predictions[miner.name] = in_order(attack.predict(known))
    return predictions, in_order(attack.baseline(known))


def adversary_gains(dataset, sanitizers, *, sensitive=None, seeds=1):
    """Brickell and Shmatikov's accuracy and knowledge gain of each release; baseline: the same classes, values dealt
    at random.
    """
    sensitive, rows = _sensitive(dataset, sensitive), []
    for release, sanitizer, seed in releases(dataset, sanitizers, seeds=seeds):
        rows += _gains(rows_of(dataset, sanitizer, seed), release, sensitive, "", stream(seed, sanitizer, "deal"))
    return tidy(rows)


def gains_at_the_ends(datasets):
    """The gains of each dataset published intact and with either trivial sanitization, after its `describe` rows."""
    trivial = [*ends(), Suppress("sensitive")]
    return join(*(part for data in datasets for part in (describe(data), adversary_gains(data, trivial))))


def gains_with_predictions(dataset, sanitizers, *, miners="five", target=None, sensitive=None):
    """Sramka et al. 2010, Table 3: the gains before and after the worst miner's nearer predictions of `target` are put
    in.

    Rows `accuracy_gain`, `knowledge_gain` (the release), `..._with_predictions` (the paper's comparison), and the
    control `..._with_random_labels`: as many records, drawn from those that a shorter label could still change, given
    a random label of the narrowest kind instead, right or wrong. An increase that the control shows as well is no
    evidence of an attack.
    """
    target = published_name(dataset, target or first_number(dataset))
    sensitive = _sensitive(dataset, sensitive)
    truth = dataset.table[target].to_numpy()
    rows = []
    for release, sanitizer, seed in releases(dataset, sanitizers):
        row, deal = rows_of(dataset, sanitizer, seed), stream(seed, sanitizer, "deal")
        predictions, _ = mine(release, target, miners, rng=stream(seed, sanitizer, "publish"))
        released = release.table[target].to_numpy()
        first = mining.first_occurrences(release.table)
        near = {
            name: mining.nearer(prediction, released, truth, 0, _generalization(release, target)) & first
            for name, prediction in predictions.items()
        }
        _, count, worst = mining.average_and_worst({name: hits.sum() for name, hits in near.items()})
        rows += _gains(row, release, sensitive, "", deal)
        attacked = _relabelled(release, target, near[worst], predictions[worst])
        rows += _gains(row, attacked, sensitive, "_with_predictions", deal)
        lots = stream(seed, sanitizer, "random labels")
        control = _relabelled(release, target, *_random_labels(release, target, first, int(count), lots))
        rows += _gains(row, control, sensitive, "_with_random_labels", deal)
    return tidy(rows)


def _generalization(release, name):
    return release.hierarchies.get(name) or flat(release.schema[name])


def _relabelled(release, target, where, labels):
    """The release with the cells of `target` replaced where the boolean array `where` says so."""
    return replace(release, table=release.table.assign(**{target: np.where(where, labels, release.table[target])}))


def _random_labels(release, target, among, count, rng):
    """(where, labels): `count` random records of those in `among` whose label is not of the narrowest kind, and for
    each record a random narrowest label, right or wrong.
    """
    generator, generalization = np.random.default_rng(rng), _generalization(release, target)
    positions = generalization.covered("*")
    narrowest = generalization.labels(positions, positions)
    open_to_change = np.flatnonzero(among & ~release.table[target].isin(narrowest).to_numpy())
    where = np.zeros(len(release), dtype=bool)
    where[generator.choice(open_to_change, min(count, len(open_to_change)), replace=False)] = True
    return where, generator.choice(narrowest, len(release))


def _gains(row, release, sensitive, suffix, rng):
    counts = gains.class_counts(release, sensitive)
    accuracy, knowledge = gains.gains_by_chance(release, sensitive, rng=rng)
    found = {"accuracy_gain": (gains.accuracy_gain, accuracy), "knowledge_gain": (gains.knowledge_gain, knowledge)}
    return [
        row(f"{name}{suffix}", measure(counts), target=sensitive, baseline=chance, better=measure.better)
        for name, (measure, chance) in found.items()
    ]


def stream(seed, sanitizer, purpose):
    """The seed of one purpose: noise, shuffling and drawing lots must not go together, nor two settings' noise."""
    return [seed, zlib.crc32(f"{sanitizer!r} {purpose}".encode())]


def numbers(name, text, kind):
    """The numbers in `text`, separated by commas, without repeats; `name` is the parameter that errors name."""
    parts = [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        return list(dict.fromkeys(kind(part) for part in parts))
    except ValueError:
        number = "a whole number" if kind is int else "a number"
        raise ValueError(
            f"{name} must be one number or several separated by commas, each {number}; got {text!r}."
        ) from None
