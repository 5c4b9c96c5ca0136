"""Measures of single releases: information loss, linkage, and the gains of an adversary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive
from privnb.evaluation.dataset_summary import describe
from privnb.evaluation.evaluation_loop import Case, Question, evaluate, require_possible
from privnb.evaluation.results import Row, join_results
from privnb.measures.base import register_measure
from privnb.measures.disclosure.summary import summarize_disclosure
from privnb.measures.utility.information_loss import certainty_penalty, noise_losses
from privnb.microdata import withholding
from privnb.microdata.counts import count_people_by_group
from privnb.microdata.release import Release
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import KAnonymity, grade_release
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import AttributeName, OneOrMore, validated
from privnb.sanitizers import Suppress
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

register_measure(
    "classes",
    sentence="This is the number of groups of people who are indistinguishable by the released quasi-identifiers.",
    source="Samarati and Sweeney, 1998",
    format="{:,}",
)
register_measure(
    "buckets",
    sentence="This is the number of groups of people whose sensitive values are published together, in a separate "
    "table.",
    source="Xiao and Tao, VLDB 2006",
    format="{:,}",
)
register_measure(
    "median_class_size",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Median class",
    sentence="This is the median number of people in a class: half of the classes, not half of the people, are at most "
    "this large.",
    source="Samarati and Sweeney, 1998",
    unit="people",
)
register_measure(
    "median_bucket_size",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Median bucket",
    sentence="This is the median number of people in a bucket.",
    source="Xiao and Tao, VLDB 2006",
    unit="people",
)
register_measure(
    "k_achieved",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="k achieved",
    sentence="This is the smallest number of people to whom the released quasi-identifiers can be linked. For buckets, "
    "these are the exact quasi-identifiers.",
    source="Samarati and Sweeney, 1998",
    format="{:,} people",
    baseline="asked",
)


@validated
def withhold_penalty(release: Release, min_count: MinCount = LIMIT) -> tuple[float, float, float]:
    """Return the certainty penalty of a release, withheld if the number of its suppressed people is withheld.

    The loss of all other people is public, so the penalty would reveal the number of suppressed people. The bounds of
    the penalty combine the bounds of this number with the loss of the other people, rounded to a step that is wide
    enough to hide the number.

    Parameters
    ----------
    release : Release
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    value, low, high : float
    """
    n, suppressed, penalty = len(release), release.suppressed, certainty_penalty(release)
    if release.people is not None:  # the number of records does not bound the number of people
        few = withholding.reveals_few(release.suppressed_people, release.headcount, min_count)
        return np.nan if few else penalty, np.nan, np.nan
    _, least, most = withholding.withhold_count(suppressed, n, min_count)
    if np.isnan(most):
        return penalty, np.nan, np.nan
    others, step = (penalty * n - suppressed) / max(n - suppressed, 1), min_count / max(n - most, 1)
    low = np.floor(others / step + ROUNDING) * step
    return np.nan, (least + (n - least) * low) / n, (most + (n - most) * min(low + step, 1)) / n


@dataclass(frozen=True)
class InformationLoss(Question):
    """Question about the size of a release and its information loss; see `measure_information_loss`."""

    primary_measure = "certainty_penalty"
    axes = ("certainty_penalty",)

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        release, row, n = case.release, case.row, case.release.headcount
        if release.classes is None:
            return [row(*loss) for loss in noise_losses(case.dataset, release).items()]
        sizes = count_people_by_group(release.classes, release.people)
        names = ("buckets", "median_bucket_size") if release.buckets is not None else ("classes", "median_class_size")
        penalty, *within = withhold_penalty(release, case.min_count)
        return [
            row(names[0], withholding.ReportedCount(len(sizes), n, rule=withholding.withhold_group_count)),
            row(names[1], float(np.median(sizes))),
            row("k_achieved", int(grade_release(KAnonymity(2), release))),
            row(
                "suppressed_records",
                withholding.ReportedCount(release.suppressed_people, n, rule=withholding.withhold_count),
            ),
            row("certainty_penalty", penalty, interval=within),
        ]


@validated
def measure_information_loss(
    dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Measure the size and the information loss of each release.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        For generalized releases: the number of classes or buckets and their median size, k, suppressed records and the
        certainty penalty. For noise: the mean distance by which numbers move, and the share of changed categories. The
        k of a bucketized release is the k of its exact quasi-identifiers. The certainty penalty of such a release is 0,
        because buckets lose only the link to the sensitive values. If few people are suppressed, the penalty has only
        bounds; see `withhold_penalty`.
    """
    return require_possible(evaluate(dataset, sanitizers, measures=[InformationLoss()], min_count=min_count))


def measure_linkage(
    dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, seeds: int = 1, min_count: int = LIMIT
) -> pd.DataFrame:
    """Measure how often an adversary who knows all quasi-identifiers links a person to the right released row.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    seeds : int
        The number of repeats of randomized steps.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows `reidentification_rate` (0 to 1); the baseline is a row chosen at random.

    Examples
    --------
    >>> from privnb import Mondrian, KAnonymity, load
    >>> from privnb.evaluation import measure_linkage
    >>> measure_linkage(load("twelve"), [Mondrian(KAnonymity(3))], min_count=2).measure.tolist()
    ['reidentification_rate']
    """
    return require_possible(evaluate(dataset, sanitizers, attacks=[Linkage()], seeds=seeds, min_count=min_count))


@dataclass(frozen=True)
class AdversaryGains(Question):
    """Question about Brickell and Shmatikov's accuracy gain and knowledge gain of a release; see `build_gain_rows`."""

    sensitive: str
    primary_measure = "accuracy_gain"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        return build_gain_rows(case.row, case.release, self.sensitive, rng=case.stream("deal"))


@validated
def measure_adversary_gains(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    sensitive: AttributeName | None = None,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Measure Brickell and Shmatikov's accuracy gain and knowledge gain of each release.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    sensitive : str, optional
        The sensitive attribute; if None, the first sensitive attribute of the dataset.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows `accuracy_gain` and `knowledge_gain`; the baseline is the same gain for the same classes with randomly
        permuted sensitive values.
    """
    question = AdversaryGains(choose_sensitive(dataset, sensitive))
    return require_possible(evaluate(dataset, sanitizers, measures=[question], min_count=min_count))


@validated
def measure_reference_gains(datasets: Sequence[Dataset], *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Measure the gains of each dataset without sanitization and with both trivial sanitizations.

    Parameters
    ----------
    datasets : list of Dataset
        The datasets to measure, at least one.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows of `describe` and of `measure_adversary_gains` for each dataset.
    """
    if not datasets:
        raise UsageError("`datasets` must hold at least one dataset; got an empty list.")
    trivial = [*reference_sanitizers(), Suppress("sensitive")]
    found = (
        (describe(data, min_count=min_count), measure_adversary_gains(data, trivial, min_count=min_count))
        for data in datasets
    )
    return join_results(*(part for parts in found for part in parts))


def build_gain_rows(row: Callable[..., Row], release: Release, sensitive: str, *, rng: Sequence[int]) -> list[Row]:
    """Return the rows of the accuracy gain and the knowledge gain of a release.

    Both gains reveal how many people are guessed correctly, with and without the release, so the threshold rule applies
    to these numbers of people.
    """
    found, n = summarize_disclosure(release, sensitive, rng=rng), release.headcount
    gain = partial(withholding.Revealing, people=np.array([found.right, found.before]) * n, of=n)
    return [
        row(name, gain(value), target=sensitive, baseline=gain(chance))
        for name, value, chance in zip(("accuracy_gain", "knowledge_gain"), found.gains, found.by_chance, strict=True)
    ]
