"""What counts tell of one release, in one pass over the records.

The rows are those of `evaluation.costs` and `adversary_gains`, `losses.trade_off` and `leakage.leakage` of the same
sanitizer and seed, and of what each privacy model reaches. No progress is shown, for the board has no place for a bar.
"""

import re
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.evaluation import trade_off
from privnb.evaluation.predictions import stream
from privnb.evaluation.releases import gain_rows
from privnb.evaluation.results import row_builder, tidy, withheld
from privnb.explorer.setting import MODELS, STEPS
from privnb.measures.base import state
from privnb.measures.information_loss import certainty_penalty, noise_losses, suppressed_cells
from privnb.measures.tradeoff import dealt_losses, revealed_losses, utility_losses
from privnb.measures.vulnerability import register_vulnerability
from privnb.microdata import withholding
from privnb.microdata.counts import class_value_counts, combinations
from privnb.privacy_models import JensenShannonCloseness
from privnb.reporting.charts.base import Aggregate, merge_small
from privnb.sanitizers import Suppress, noise_channel

state(
    "l_achieved",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="l achieved",
    sentence="No sensitive value belongs to more than one in l of a class; 1: somebody's is disclosed.",
    source="l-diversity by frequency: Machanavajjhala et al., ICDE 2006; Xiao and Tao, VLDB 2006",
    baseline="asked",
    axis=False,
)
state(
    "t_achieved",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="t achieved",
    sentence="The share of the worst class that would need another sensitive value to be like the whole table.",
    source="Li, Li, Venkatasubramanian, ICDE 2007, equal distances",
    baseline="asked",
    axis=False,
)
state(
    "delta_achieved",
    kind="privacy",
    better="lower",
    bounds=(0, np.inf),
    title="delta achieved",
    sentence="In the worst class a value is e to the delta times as common, or as rare, as in the table; infinite: it "
    "is absent.",
    source="Brickell and Shmatikov, KDD 2008, definition 1",
    baseline="asked",
    axis=False,
)


def rows(dataset, setting, made, release):
    """Everything counted of the `release` that the sanitizer `made` made of `dataset`: tidy results.

    `k_achieved`, `l_achieved`, `t_achieved`, `delta_achieved`: what the worst class reaches of each model; baseline:
    what the setting asks for. Numbers of fewer than ten people are withheld as elsewhere. Noise leaves no classes, and
    has rows of what it does to cells instead.
    """
    original, row = _original(dataset, setting.sensitive), row_builder(dataset, made, setting.seed)
    if release.classes is None:
        found = _without_classes(row, dataset, release, made, original, setting)
    else:
        found = _of_classes(row, release, made, original, setting)
    results = tidy(found + _of_populations(row, release, original, setting.sensitive))
    return withheld(results, withholding.LIMIT, len(release))


class _Original(NamedTuple):
    """What is the same for all releases of the same roles."""

    populations: object  # large ones, or None
    trivial: np.ndarray | None  # how wrong the trivial release is about each
    scale: float  # what somebody loses whose value, the commonest, is told for certain
    true: np.ndarray  # who is alike in quasi-identifiers
    told: int  # people whose sensitive value is guessed from these
    commonest: int  # people who have the commonest sensitive value
    rarest: int


@lru_cache(maxsize=8)
def _original(dataset, sensitive):
    populations = trade_off.large_populations(dataset, sensitive)
    trivial = populations and utility_losses(populations, Suppress().sanitize(dataset, rng=0)).to_numpy()
    true = combinations(dataset.table[dataset.schema.quasi_identifiers]).index
    told = class_value_counts(true, dataset.table[sensitive]).max(axis=1).sum()
    people = dataset.table[sensitive].value_counts()
    scale = revealed_losses(dataset, sensitive).min()
    return _Original(populations, trivial, scale, true, told, people.max(), people.min())


@lru_cache(maxsize=64)
def _commonest(dataset, name):
    """How many people have the commonest value of an attribute."""
    return dataset.table[name].value_counts().max()


def _of_populations(row, release, original, sensitive):
    if original.populations is None:
        return []
    lost, trivial = utility_losses(original.populations, release).to_numpy(), original.trivial
    row = partial(row, target=sensitive, better="lower")
    return [
        row("utility_loss", lost.mean(), baseline=trivial.mean()),
        row("worse_than_trivial", (lost > trivial + 1e-12).mean()),
    ]


def _of_classes(row, release, made, original, setting):
    sensitive, n = setting.sensitive, len(release)
    # All models of sensitive values count alike, so they are counted once.
    counts, sizes = MODELS["t"](0.5, sensitive).counted(release), np.bincount(release.classes)
    few = original.rarest < withholding.LIMIT and sizes.min() < withholding.LIMIT  # as `evaluation.tells_few`
    names = ("buckets", "median_bucket_size") if release.buckets is not None else ("classes", "median_class_size")
    suppressed, cells = release.suppressed, suppressed_cells(release)
    others = cells - suppressed * len(release.schema.quasi_identifiers)  # of people who keep some of theirs
    hidden = withholding.tells(suppressed, n) or withholding.few(cells) or withholding.few(others)
    found = withholding.found(register_vulnerability(release.equivalence_classes, original.true) * n, n)
    return [
        # Of exact cells the number of classes would give back how many people are not found, see `_found`.
        row(names[0], withholding.known(len(sizes), n)),
        row(names[1], float(np.median(sizes)), better="higher"),
        *_levels(row, release, counts, setting, few),
        row("suppressed_records", suppressed, better="lower"),
        row("suppressed_cells", np.nan if hidden else cells, better="lower"),
        row("certainty_penalty", certainty_penalty(release), better="lower"),
        *_losses(row, release, made, counts, original, few, setting),
        *gain_rows(row, release, sensitive, rng=stream(setting.seed, made, "deal")),
        _identity(row, found, n),
        *_guessed(row, release, counts, original, sensitive),
    ]


def _levels(row, release, counts, setting, few):
    """Rows of the levels that the worst class reaches; baseline: what is asked for."""
    rows, asked = [], setting.asked
    for letter, kind in MODELS.items():
        model = kind(STEPS[letter][-1], *[setting.sensitive] * (letter != "k"))  # a level depends on no bound
        table = model.counted(release) if letter == "k" else counts
        levels = model.level(table, table.sum(axis=0))
        level, nothing = (levels.min(), 1) if model.better == "higher" else (levels.max(), 0)
        hidden = few and letter != "k" and level > nothing
        told = partial(row, f"{letter}_achieved", np.nan if hidden else level, better=model.better)
        rows.append(told(baseline=asked.get(letter, np.nan)))
    return rows


def _losses(row, release, made, counts, original, few, setting):
    """Rows of privacy loss, as `losses.trade_off` has them."""
    sensitive, n = setting.sensitive, len(release)
    lost = JensenShannonCloseness(0.5, sensitive).level(counts, counts.sum(axis=0))[release.classes]
    lots = np.random.default_rng(stream(setting.seed, made, "deal"))
    dealt = [(each.max(), each.mean()) for each in islice(dealt_losses(release, sensitive, rng=lots), trade_off.DEALS)]
    chance = np.mean(dealt, axis=0)
    reached = int((lost >= original.scale - 1e-12).sum())
    share, *bounds = withholding.share(reached, n)
    worst = (np.nan, np.nan) if few and lost.max() > 0 else (lost.max(), chance[0])
    row = partial(row, target=sensitive, better="lower")
    return [
        row("privacy_loss", worst[0], baseline=worst[1]),
        row("mean_privacy_loss", lost.mean(), baseline=chance[1]),
        row("certain_disclosure_share", share, interval=bounds, baseline=0),
    ]


def _guessed(row, release, counts, original, sensitive):
    """Rows of how many people's sensitive value is guessed right; of buckets also what the original would tell."""
    told, n = counts.max(axis=1).sum(), len(release)
    if release.buckets is None:
        return [_share(row, "sensitive_vulnerability", told, original.commonest, sensitive, n)]
    return [
        _share(row, "bucket_vulnerability", told, original.commonest, sensitive, n),
        _share(row, "sensitive_vulnerability", original.told, original.commonest, sensitive, n, variant="at most"),
    ]


def _without_classes(row, dataset, release, made, original, setting):
    """Of noise by its laws; of other values that were moved only how far; of rows of nobody nothing."""
    rng, n = np.random.default_rng(stream(setting.seed, made, "identify")), len(release)
    if release.treated("synthetic"):
        return []
    rows = [row(*loss, better="lower") for loss in noise_losses(dataset, release).items()]
    if release.treated("perturbed"):
        return rows
    told = noise_channel.identification(dataset, release, rng=rng)
    rows += [
        _identity(row, told, n),
        _share(
            row, "sensitive_vulnerability", original.told, original.commonest, setting.sensitive, n, variant="at most"
        ),
    ]
    for name in release.treated("noisy"):
        law = release.columns[name].law
        people = noise_channel.cell_vulnerability(law, dataset.schema[name], dataset.table[name]) * n
        rows.append(_share(row, "attribute_vulnerability", people, _commonest(dataset, name), name, n))
    return rows


def _identity(row, found, n):
    return row("identity_vulnerability", found[0], target="identity", interval=found[1:], baseline=1 / n)


def _share(row, measure, people, commonest, target, n, variant=""):
    """A row of a share of people beside the commonest value's."""
    told, before = withholding.share(people, n), withholding.share(commonest, n)[0]
    return row(measure, told[0], variant=variant, target=target, interval=told[1:], baseline=before)


def class_sizes(release):
    """People by the size of their class or bucket, in steps of 1, 2 and 5: an `Aggregate` with the columns `people in a
    class`, or `people in a bucket`, and `people`, small ones merged; None of noise, and of fewer than ten people.
    """
    if release.classes is None or len(release) < withholding.LIMIT:
        return None
    sizes = np.bincount(release.classes)
    edges = [digit * 10**power for power in range(len(str(sizes.max()))) for digit in (1, 2, 5)]
    steps = np.searchsorted(edges, sizes, side="right") - 1
    people = np.bincount(steps, sizes).astype(int)
    ends = [*edges[1:], 10 * edges[-1]]
    labels = [f"{low:,}" if low == end - 1 else f"{low:,}-{end - 1:,}" for low, end in zip(edges, ends, strict=True)]
    first = int(np.flatnonzero(people)[0])
    merged = merge_small(pd.Series(people[first:], index=labels[first : len(people)]))
    merged.index = [re.sub(r"^([\d,]+)(-[\d,]+)? to ([\d,]+-)?", r"\1-", label) for label in merged.index]
    of = "bucket" if release.buckets is not None else "class"
    table = merged.rename_axis(f"people in a {of}").rename("people").reset_index()
    return Aggregate(table, {name: name for name in table})
