"""Refinement of the coarse rows of local recoding by repeated runs, checked against the people behind these rows."""

from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.inference.combinatorial_refinement import RefinedRows, refine_runs
from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import Row, build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import mean_interval, wilson
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.privacy_models import KAnonymity, check_k
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Seeds, Share, validated
from privnb.sanitizers import FullDomain, SanitizationError

register_measure(
    "combination_guess",
    kind="privacy",
    title="Combinations guessed behind coarse rows",
    sentence="This is the mean probability, over people with coarse rows, that a random combination of finer values is "
    "the person's own, if it is drawn among those that an adversary who knows the algorithm cannot exclude.",
    source="Chhillar et al., arXiv 2509.03350, 2025; the constraints are ours",
    unit="share of people with coarse rows",
    format="{:%}",
    baseline="a combination that the labels cover",
)
register_measure(
    "population_excluded",
    kind="privacy",
    title="Other people excluded from coarse rows",
    sentence="Among the people outside the release who fit the labels of a coarse row, this is the share whom an "
    "adversary who knows the algorithm excludes; the mean over coarse rows.",
    source="Chhillar et al., arXiv 2509.03350, 2025; the constraints are ours",
    unit="share of other people",
    format="{:%}",
    baseline="nobody who fits the labels can be excluded without the algorithm",
)
register_measure(
    "combinations_certain",
    kind="privacy",
    title="Combinations that somebody certainly has",
    sentence="This is the share of the people with coarse rows whose combinations of finer values an integer program "
    "places with certainty; it does not tell which of the coarse rows they have.",
    source="Chhillar et al., arXiv 2509.03350, 2025; the constraints are ours",
    unit="share of people with coarse rows",
    format="{:%}",
    baseline="people whose labels cover a single combination",
)


@validated
def attack_recoding_runs(
    dataset: Dataset,
    k: Annotated[int, lambda _, value: check_k(value)] = 10,
    *,
    suppress: Share = 0.2,
    runs: Count = 3,
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Recode half of the people in repeated runs, and narrow the combinations of the rows of later runs.

    Each run is a `FullDomain` recoding of the people whom the runs before it suppressed, as in the local recoding of
    ARX. See `attacks.inference.combinatorial_refinement`.

    Parameters
    ----------
    dataset : Dataset
        A table with one record per person, whose quasi-identifiers have taxonomies or intervals.
    k : int
        The minimum number of people in a class.
    suppress : float
        The share of the people of a run whom the run may pass on, above 0 and at most 1.
    runs : int
        The largest number of runs. One run is `FullDomain` with suppression.
    seeds : int
        The number of random halves.
    min_count : int
        Numbers about fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `combination_guess`, `population_excluded` and `combinations_certain` for each seed. The interval of
        the first two is that of a mean over people with coarse rows. If a release cannot be made or attacked, or if
        fewer than `min_count` people have coarse rows, there is one row without a number.

    Raises
    ------
    ValueError
        If the table has several records per person.
    AssertionError
        If a bound is false for the people in the release.
    """
    if dataset.people is not None:
        raise UsageError(
            "`dataset` must have one record per person; it has a column that names people. Try a table with one row "
            "of each person."
        )
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        inside, outside = dataset.split(0.5, rng=seed)
        row = partial(
            build_row, dataset=dataset.name, sanitizer="local recoding in runs", seed=seed, min_count=min_count,
            parameters=f"k={k}, suppress={suppress:g}, runs={runs}", parameter="k", bound=k,
        )  # fmt: skip
        try:
            found = _attack(inside, outside, k, suppress, runs)
        except (SanitizationError, Unreadable) as error:
            rows.append(row("combination_guess", np.nan, status="refused", reason=str(error)))
            continue
        n = len(found.informed)
        if n < max(min_count, 2):
            rows.append(row("combination_guess", np.nan, status="withheld"))
            continue
        rows.append(row("combination_guess", found.informed.mean(), interval=mean_interval(found.informed),
                        baseline=found.by_label.mean(), of=n))  # fmt: skip
        rows.append(row("population_excluded", found.excluded.mean(), interval=mean_interval(found.excluded),
                        baseline=0, of=n))  # fmt: skip
        located, without = (ReportedCount(each, n, wilson(each, n)) for each in (found.located, found.located_by_label))
        rows.append(row("combinations_certain", located, baseline=without, of=n))
    return tidy(rows)


class _Findings(NamedTuple):
    """The findings of the attack about the people with coarse rows.

    Three float arrays (people,) are about each person: `informed` and `by_label` are the probabilities of a guess with
    and without the algorithm, and `excluded` is the share of other people with fitting labels who are excluded.
    `located` and `located_by_label` are the numbers of people whose combinations are certain, with and without the
    algorithm.
    """

    informed: FloatArray
    by_label: FloatArray
    excluded: FloatArray
    located: int
    located_by_label: int


def _attack(inside: Dataset, outside: Dataset, k: int, suppress: float, runs: int) -> _Findings:
    tables, members = recode_in_runs(inside, k, suppress, runs)
    refined = refine_runs(tables, {name: inside.hierarchies[name] for name in inside.schema.quasi_identifiers}, k)
    cells, others = (refined.locate(dataset.codes) for dataset in (inside, outside))
    later = np.concatenate(members[1:])
    check_bounds(refined, cells[later], np.repeat(np.arange(1, len(members)), [len(each) for each in members[1:]]))
    people = cells[later]
    classes = refined.owner[people]
    of_others = np.bincount(others, minlength=len(refined.owner))
    fitting = refined.labelled @ of_others
    excluded = 1 - (refined.possible @ of_others) / np.maximum(fitting, 1)
    return _Findings(
        1 / refined.possible.sum(axis=1)[classes],
        1 / refined.labelled.sum(axis=1)[classes],
        np.where(fitting > 0, excluded, 0.0)[classes],
        int(refined.least.sum()),
        int(refined.sizes[refined.labelled.sum(axis=1) == 1].sum()),
    )


def check_bounds(refined: RefinedRows, cells: IntArray, runs: IntArray) -> None:
    """Raise AssertionError unless the attack is right about the people with coarse rows.

    `cells` has the true cell of each of these people, and `runs` the run that published the person's row.
    """
    counts, classes = np.bincount(cells, minlength=len(refined.owner)), refined.owner[cells]
    wrong: BoolArray = (counts < refined.least) | (counts > refined.most)
    if wrong.any() or (classes < 0).any() or (refined.run[classes] != runs).any():
        raise AssertionError(f"the attack gives false bounds of {int(wrong.sum())} cells, or excludes a true cell")


def recode_in_runs(dataset: Dataset, k: int, suppress: float, runs: int) -> tuple[list[pd.DataFrame], list[IntArray]]:
    """Return the labels of the people of each run, and the positions of these people in the dataset.

    The last item is that of the people who are suppressed. The arguments are those of `attack_recoding_runs`.
    """
    names, left = dataset.schema.quasi_identifiers, np.arange(len(dataset))
    tables: list[pd.DataFrame] = []
    members: list[IntArray] = []
    for _ in range(runs):
        if len(left) < k:
            break
        sanitizer = FullDomain(KAnonymity(k), suppress=int(suppress * len(left)))
        labels = sanitizer.sanitize(dataset.select_records(left), rng=0).table[names].astype(str)
        is_hidden = (labels == SUPPRESSED).all(axis=1).to_numpy()
        if is_hidden.all():
            break
        tables.append(labels[~is_hidden])
        members.append(left[~is_hidden])
        left = left[is_hidden]
    if not tables:
        raise SanitizationError(f"no run publishes a class of {k} people. Lower `k`, or raise `suppress`.")
    hidden: Any = np.full((len(left), len(names)), SUPPRESSED, dtype=object)
    return [*tables, pd.DataFrame(hidden, columns=list(names))], [*members, left]
