"""What a release publishes and costs, how often a person is linked to their row, and what its classes tell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.cases import Case, Question, evaluate, reached
from privnb.evaluation.people import describe
from privnb.evaluation.results import Row, join
from privnb.measures.base import state
from privnb.measures.disclosure.disclosed import disclosed
from privnb.measures.utility.information_loss import certainty_penalty, noise_losses
from privnb.microdata import withholding
from privnb.microdata.counts import people_in
from privnb.microdata.release import Release
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import KAnonymity, achieved
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import AttributeName, OneOrMore, validated
from privnb.sanitizers import Suppress
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

state(
    "classes",
    sentence="Groups of people whom the released quasi-identifiers cannot tell apart.",
    source="Samarati and Sweeney, 1998",
    format="{:,}",
)
state(
    "buckets",
    sentence="Groups of people whose sensitive values are published together, in a table of their own.",
    source="Xiao and Tao, VLDB 2006",
    format="{:,}",
)
state(
    "median_class_size",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Median class",
    sentence="Half of the classes have so many people or fewer. That is not half of the people.",
    source="Samarati and Sweeney, 1998",
    unit="people",
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
)
state(
    "k_achieved",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="k achieved",
    sentence="Nobody can be linked to fewer people than this. Buckets publish exact quasi-identifiers, so "
    "k is about those.",
    source="Samarati and Sweeney, 1998",
    format="{:,} people",
    baseline="asked",
)


@validated
def shown_penalty(release: Release, fewest: MinCount = LIMIT) -> tuple[float, float, float]:
    """The certainty penalty of a release, without value where the number of its suppressed people is withheld: where it
    is public what everybody else loses, the penalty would give that number back.

    Its bounds are those of that number, and what everybody else loses to a step so wide that any number of people can
    lose as much.

    Parameters
    ----------
    release : Release
    fewest : int
        Counts below are withheld.

    Returns
    -------
    value, low, high : float
    """
    n, suppressed, penalty = len(release), release.suppressed, certainty_penalty(release)
    if release.people is not None:  # of records nobody knows how many people they are
        few = withholding.tells(release.suppressed_people, release.headcount, fewest)
        return np.nan if few else penalty, np.nan, np.nan
    _, least, most = withholding.counted(suppressed, n, fewest)
    if np.isnan(most):
        return penalty, np.nan, np.nan
    others, step = (penalty * n - suppressed) / max(n - suppressed, 1), fewest / max(n - most, 1)
    low = np.floor(others / step + ROUNDING) * step
    return np.nan, (least + (n - least) * low) / n, (most + (n - most) * min(low + step, 1)) / n


@dataclass(frozen=True)
class Costs(Question):
    """What a release publishes and costs, see `costs`."""

    main = "certainty_penalty"
    axes = ("certainty_penalty",)

    def rows(self, case: Case) -> list[Row]:
        release, row, n = case.release, case.row, case.release.headcount
        if release.classes is None:
            return [row(*loss) for loss in noise_losses(case.dataset, release).items()]
        sizes = people_in(release.classes, release.people)
        names = ("buckets", "median_bucket_size") if release.buckets is not None else ("classes", "median_class_size")
        penalty, *within = shown_penalty(release, case.fewest)
        return [
            row(names[0], withholding.Counted(len(sizes), n, rule=withholding.known)),
            row(names[1], float(np.median(sizes))),
            row("k_achieved", int(achieved(KAnonymity(2), release))),
            row("suppressed_records", withholding.Counted(release.suppressed_people, n, rule=withholding.counted)),
            row("certainty_penalty", penalty, interval=within),
        ]


@validated
def costs(dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """What each sanitizer publishes and costs.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    fewest : int
        Counts below are withheld.

    Returns
    -------
    DataFrame
        Tidy results: classes or buckets and their median size, k, suppressed records and certainty penalty; of noise
        how far it moves a number and how often it changes a category. The k of a bucketized release is that of its
        exact quasi-identifiers, and its certainty penalty is 0: what it costs is the link to the sensitive values,
        which no penalty of cells counts. Where few people are suppressed it has only bounds, see `shown_penalty`.
    """
    return reached(evaluate(dataset, sanitizers, measures=[Costs()], fewest=fewest))


def linked(dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, seeds: int = 1, fewest: int = LIMIT) -> pd.DataFrame:
    """How often an adversary who knows all quasi-identifiers links a person to the right released row.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    seeds : int
        Repeats of what is random.
    fewest : int
        Counts below are withheld.

    Returns
    -------
    DataFrame
        Rows `reidentification_rate` (0 to 1); baseline: a row at random.
    """
    return reached(evaluate(dataset, sanitizers, attacks=[Linkage()], seeds=seeds, fewest=fewest))


@dataclass(frozen=True)
class Gains(Question):
    """Brickell and Shmatikov's accuracy and knowledge gain of a release, see `gain_rows`."""

    sensitive: str
    main = "accuracy_gain"

    def rows(self, case: Case) -> list[Row]:
        return gain_rows(case.row, case.release, self.sensitive, rng=case.stream("deal"))


@validated
def adversary_gains(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    sensitive: AttributeName | None = None,
    fewest: MinCount = LIMIT,
) -> pd.DataFrame:
    """Brickell and Shmatikov's accuracy and knowledge gain of each release.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    sensitive : str, optional
        The first sensitive attribute if None.
    fewest : int
        Counts below are withheld.

    Returns
    -------
    DataFrame
        Rows `accuracy_gain` and `knowledge_gain`; baseline: the same classes, values dealt at random.
    """
    question = Gains(sensitive_name(dataset, sensitive))
    return reached(evaluate(dataset, sanitizers, measures=[question], fewest=fewest))


@validated
def gains_at_the_ends(datasets: Sequence[Dataset], *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """The gains of each dataset published intact and with either trivial sanitization, after its `describe` rows.

    Parameters
    ----------
    datasets : list of Dataset
        One or more.
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows of `describe` and of `adversary_gains`, by dataset.
    """
    if not datasets:
        raise UsageError("datasets must be one or more, got none.")
    trivial = [*reference_sanitizers(), Suppress("sensitive")]
    found = ((describe(data, fewest=fewest), adversary_gains(data, trivial, fewest=fewest)) for data in datasets)
    return join(*(part for parts in found for part in parts))


def gain_rows(row: Callable[..., Row], release: Release, sensitive: str, *, rng: Sequence[int]) -> list[Row]:
    """Rows of both gains of a release, which reveal how many people are guessed right with it and without it."""
    found, n = disclosed(release, sensitive, rng=rng), release.headcount
    gain = partial(withholding.Revealing, people=np.array([found.right, found.before]) * n, of=n)
    return [
        row(name, gain(value), target=sensitive, baseline=gain(chance))
        for name, value, chance in zip(("accuracy_gain", "knowledge_gain"), found.gains, found.by_chance, strict=True)
    ]
