"""The evaluation loop: from dataset, sanitizers, attacks, measures and seeds to tidy results.

A question turns a case, which is one release with its dataset, sanitizer and seed, into rows of results. Each release
is made once, and all questions are asked about this release. With a store, the loop reads earlier answers instead of
computing the answers again.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial, singledispatch
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.attacks.base import Attack
from privnb.attacks.linkage.record_linkage import RecordLinkage, ScoredLinkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive
from privnb.evaluation.disclosure.guess_checks import check_array, check_guesses
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import Row, collect_rows, estimate_share, make_row_builder, tidy, withhold_counts
from privnb.evaluation.store import Folder, Store, run_tasks
from privnb.measures.base import measure_facts, register_measure
from privnb.measures.disclosure import linkage
from privnb.microdata import withholding
from privnb.microdata.counts import count_people_among
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.errors import PrivnbError, UsageError
from privnb.runtime.own_methods import is_own
from privnb.runtime.progress import track
from privnb.runtime.validation import Count, OneOrMore, Seed, as_list, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.base import Sanitizer

MAX_CACHED_SEEDS = 16  # seeds whose intermediate results are cached, because each sanitizer goes through all seeds


# The names of a question's attributes in version 0.1.
OLD_ATTRIBUTES = {"main": "primary_measure", "reorders": "permutes_records", "varies": "stochastic"}


class Case:
    """One release, with the dataset, the sanitizer and the seed from which it is made.

    The release is made when it is first read, unless it is given.

    Attributes
    ----------
    min_count : int
        Numbers that count fewer people are withheld.
    row : callable
        A function that builds a row of the release's results; see `results.make_row_builder`.
    release : Release
        The release. Access raises SanitizationError if the sanitizer cannot reach its bounds on this table.
    """

    def __init__(
        self, dataset: Dataset, sanitizer: Sanitizer, seed: int, release: Release | None = None, min_count: int = LIMIT
    ) -> None:
        self.dataset, self.sanitizer, self.seed, self.min_count = (
            dataset,
            sanitizer,
            seed,
            withholding.check_min_count(min_count),
        )
        if release is not None:
            self._made = release, None
        self.row = make_row_builder(dataset, sanitizer, seed, min_count)

    def stream(self, purpose: str) -> list[int]:
        """Return the seed for one purpose; see `predictions.derive_seed`."""
        return derive_seed(self.seed, self.sanitizer, purpose)

    @cached_property
    def _made(self) -> tuple[Any, ...]:
        try:
            return self.sanitizer.sanitize(self.dataset, rng=self.stream("sanitize")), None
        except SanitizationError as error:  # cached, because a failing search takes as long as another one
            return None, error
        except PrivnbError as error:
            if not is_own(self.sanitizer):
                raise
            return None, SanitizationError(str(error))

    @property
    def release(self) -> Release:
        """Return the release; raise SanitizationError if there is none."""
        release, error = self._made
        if error is not None:
            raise error
        return release

    @cached_property
    def known(self) -> Case:
        """Return the case of an adversary who also knows neutral columns.

        These are the neutral columns that, according to the description, an adversary may know, and whose published
        cells are true.
        """
        names = tuple(name for name in self.release.known_neutral if name in self.dataset.schema.knowable)
        if not names:
            return self
        release = self.release.with_known(names)
        return Case(_add_known(self.dataset, names), self.sanitizer, self.seed, release, self.min_count)

    @cached_property
    def published(self) -> tuple[Any, ...]:
        """Return the table from which attacks learn, and the map to its rows, which only the evaluator has."""
        return self.release._published(self.stream("publish"))


@lru_cache(maxsize=8)
def _add_known(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Return the dataset of an adversary who knows some neutral columns, cached so that its counts are reused."""
    return dataset.with_known(names)


def select_possible(dataset: Dataset, sanitizers: Sequence[Sanitizer], seed: int = 1) -> list[Any]:
    """Return the sanitizers that can reach their bounds on this table."""
    return [each for each in sanitizers if Case(dataset, each, seed)._made[1] is None]


class Question(ABC):
    """A question about a release, as a frozen dataclass.

    For a given release, the answer depends only on the fields of the question, so that a store finds an earlier answer.
    """

    primary_measure: ClassVar[str] = "classes"  # the measure of the row that reports why there is no answer
    axes: ClassVar[tuple[str, ...]] = ()  # measures that can be an axis of a chart of releases, or a cap of a policy
    permutes_records = False  # whether the records are in another order for each seed

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for old, new in OLD_ATTRIBUTES.items():
            if old in vars(cls) and new not in vars(cls):
                warn_renamed(f"{cls.__name__}.{old}", new)
                setattr(cls, new, vars(cls)[old])

    @property
    def stochastic(self) -> bool:
        """Return whether the answer depends on the seed even if the release does not."""
        return False

    @abstractmethod
    def rows(self, case: Case) -> list[Row]:
        """Return the rows of the answer, built by `case.row`, or a table of results.

        Raises
        ------
        SanitizationError
            If the sanitizer cannot make the release.
        Unreadable
            If the question cannot be asked about the release. In both cases, a row of `primary_measure` reports the
            error.
        """

    def check(self, dataset: Dataset) -> None:  # noqa: B027 - most questions apply to every dataset
        """Raise UsageError or NotForThisTable for a dataset to which the question does not apply.

        The method is called before anything is computed.
        """

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds rows of the primary measure."""
        return partial(case.row, self.primary_measure, target=getattr(self, "sensitive", getattr(self, "target", "")))


@validated
def evaluate(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    attacks: Any = (),
    measures: Any = (),
    seeds: Count = 1,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Sanitize a dataset by each sanitizer, run all attacks and measures on each release, and return tidy results.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    attacks : Attack or Question, or list of those
        An attack gives `guessed_right`, the share of people whose value the attack guesses correctly, with a 95% Wilson
        interval; the baseline is the attack's guess without the release. A `RecordLinkage` gives the
        `reidentification_rate`, and also the `true_row_place` if it scores rows. A `Recovery` gives the error of the
        recovered numbers, see `Recovered`.
    measures : function or Question, or list of those
        Functions marked with `@measure` that take only `release`, `dataset` or `sensitive` (the first sensitive
        attribute) and return one number, or (number, low, high).
    seeds : int
        The number of repeats of randomized steps.
    min_count : int
        Numbers that count fewer people are withheld.
    store : str
        The folder that keeps finished evaluations; with a folder, several processes evaluate. If empty, evaluations are
        not kept.

    Returns
    -------
    DataFrame
        Tidy results, see `results`. If a release is not possible, or if an attack or measure cannot read it, the row
        has no value, and `status` and `reason` report why.

    Examples
    --------
    >>> from privnb import KAnonymity, Linkage, Mondrian, evaluate, load
    >>> rows = evaluate(load("twelve"), [Mondrian(KAnonymity(3))], attacks=[Linkage()], min_count=2)
    >>> rows.measure.tolist()
    ['reidentification_rate']
    """
    attacks = as_list(attacks)
    expect.all_of("attacks", attacks, Attack, Question, instead="Give a list of some such as Linkage().")
    questions = [each if isinstance(each, Question) else build_attack_question(each) for each in attacks]
    questions += build_measure_questions(measures)
    if not questions:
        raise UsageError("there is nothing to evaluate. Give attacks, measures, or both.")
    runs = [
        (sanitizer, seed, [each for each in questions if seed == 1 or sanitizer.randomized or each.stochastic])
        for sanitizer in as_list(sanitizers)
        for seed in range(1, seeds + 1)
    ]
    return ask(dataset, [each for each in runs if each[-1]], min_count=min_count, store=store)


def ask(
    dataset: Dataset,
    runs: Sequence[Any],
    *,
    min_count: int = LIMIT,
    store: Folder = "",
    description: str = "sanitize and measure",
) -> pd.DataFrame:
    """Answer the questions of each run (sanitizer, seed, questions), and return tidy results in the order of `runs`."""
    for question in dict.fromkeys(question for *_, asked in runs for question in asked):
        question.check(dataset)
    if store:
        tasks = [
            partial(answer_question, dataset, sanitizer, seed, question, min_count)
            for sanitizer, seed, asked in runs
            for question in asked
        ]
        return collect_rows(run_tasks(tasks, Store(store), description=description))
    found = []
    for sanitizer, seed, asked in track(runs, description):
        case = lru_cache(partial(_case, dataset, sanitizer, seed, min_count))
        found += [build_answer_rows(question, case(question.permutes_records and seed != 1)) for question in asked]
    return collect_rows(found)


def answer_for_each(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], question: Question, *, seed: int = 1, min_count: int = LIMIT
) -> pd.DataFrame:
    """Answer one question about the release of each sanitizer with one seed, in the order of the sanitizers.

    If a sanitizer cannot reach its bounds, a row reports this; `require_possible` raises an error for such a row.
    """
    return ask(dataset, [(each, seed, [question]) for each in sanitizers], min_count=min_count)


def require_possible(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results; raise SanitizationError if one of their releases is not possible."""
    for reason in results.reason[results.status == "not possible"]:
        raise SanitizationError(reason)
    return results


def answer_question(
    dataset: Dataset, sanitizer: Sanitizer, seed: int, question: Question, min_count: int = LIMIT
) -> pd.DataFrame:
    """Return the answer to one question; successive questions about the same release share this release."""
    return answer_case(
        question,
        _cached_case(sanitizer.key, dataset, sanitizer, seed, min_count, question.permutes_records and seed != 1),
    )


# `store.run_tasks` gives tasks that share their first three inputs to one worker, one after the other.
answer_question.shared = 3  # type: ignore[attr-defined]


def answer_case(question: Question, case: Case) -> pd.DataFrame:
    """Return the answer to a question about a case as a table of results."""
    return collect_rows([build_answer_rows(question, case)])


def build_answer_rows(question: Question, case: Case) -> list[Row] | pd.DataFrame:
    """Return the answer to a question about a case, as rows or a table; if there is none, the row that reports why."""
    try:
        return question.rows(case)
    except (SanitizationError, Unreadable) as error:
        status = "refused" if isinstance(error, Unreadable) else "not possible"
        return [question.row(case)(np.nan, status=status, reason=str(error))]
    except Exception as error:
        error.add_note(f"This was {question}, about the release of {case.sanitizer!r} with seed {case.seed}.")
        raise


def _case(dataset: Dataset, sanitizer: Sanitizer, seed: int, min_count: int, again: bool) -> Case:
    return Case(_reorder_cached(dataset, seed) if again else dataset, sanitizer, seed, min_count=min_count)


@lru_cache(maxsize=2)
def _cached_case(key: str, *made: Any) -> Case:
    """Return the case; `key` is the sanitizer's key, because 1 and 1.0 are equal but draw different noise."""
    return _case(*made)


@validated
def reorder_records(dataset: Dataset, seed: Seed) -> Dataset:
    """Return the dataset in a random order, which affects ties, folds and the first record of a clustering.

    Seed 1 keeps the order of the file.
    """
    if seed == 1:
        return dataset
    order = np.random.default_rng([seed, 0]).permutation(len(dataset))
    return replace(dataset, table=dataset.cells.iloc[order])


# One dataset for all releases of a seed, so that questions recognize it.
_reorder_cached = lru_cache(maxsize=MAX_CACHED_SEEDS)(reorder_records)


register_measure(
    "guessed_right",
    kind="privacy",
    sentence="This is the share of people whose value the attack guesses correctly. The baseline is the guess of the "
    "attack without the release.",
    source="this package",
    unit="share of people",
)


@dataclass(frozen=True)
class MeasureQuestion(Question):
    """A plain measure function, computed for each release."""

    measure: Callable[..., Any]

    def __str__(self) -> str:
        return f"the measure {self.measure.__name__}"

    def __post_init__(self) -> None:
        known = {"dataset", "release", "sensitive"}
        wanted = [p for p in inspect.signature(self.measure).parameters.values() if p.default is p.empty]
        if unknown := [each.name for each in wanted if each.name not in known]:
            raise UsageError(
                f"{self.measure.__name__} must take no arguments but `release`, `dataset` and `sensitive`; got also "
                f"{', '.join(unknown)}. Write a Question whose `rows` supply the other arguments."
            )
        if not hasattr(self.measure, "facts"):
            raise UsageError(
                f"{self.measure.__name__} does not state `kind`, `better` or `bounds`. Mark the function with "
                "`@measure(...)` of `privnb.measures`."
            )

    def _given(self, dataset: Dataset) -> dict[str, Any]:
        """Return the arguments that the measure may take."""
        wanted = "sensitive" in inspect.signature(self.measure).parameters
        return {"dataset": dataset} | ({"sensitive": choose_sensitive(dataset, None)} if wanted else {})

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of this question."""
        return partial(case.row, self.measure.__name__, target=self._given(case.dataset).get("sensitive", ""))

    def rows(self, case: Case) -> list[Row] | pd.DataFrame:
        """Return the result rows for the release of one case."""
        wanted = inspect.signature(self.measure).parameters
        given = self._given(case.dataset) | {"release": case.release}
        found = self.measure(**{each: given[each] for each in wanted if each in given})
        value, *interval = found if isinstance(found, tuple) else (found, np.nan, np.nan)
        of, n = measure_facts(self.measure.__name__), case.release.headcount
        if of.kind == "utility" and not of.counts_people:
            # A loss counts suppressed people, and may reveal their number.
            value = withholding.Revealing(value, case.release.suppressed_people, n, tuple(interval))
        made = self.row(case)(value, interval=interval)
        return withhold_counts(tidy([made]), case.min_count, n) if of.counts_people else [made]


def build_measure_questions(measures: Any) -> list[Question]:
    """Return a question for each of one or more measures."""
    measures = as_list(measures)
    instead = "Give functions, not their names, such as certainty_penalty of privnb.measures.utility.information_loss."
    expect.all_of("measures", measures, FunctionType, Question, instead=instead)
    return [each if isinstance(each, Question) else MeasureQuestion(each) for each in measures]


@dataclass(frozen=True)
class AttackQuestion(Question):
    """The share of people whose value an attack guesses correctly in at least one of the person's records."""

    attack: Attack[Any]

    def __str__(self) -> str:
        return f"the attack {self.attack!r}"

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of this question."""
        return partial(case.row, "guessed_right", miner=self.attack.called, target=getattr(self.attack, "target", ""))

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        dataset, n, published = case.dataset, case.dataset.headcount, case.published[0]
        fitted, target = self.attack.fit(published), getattr(self.attack, "target", "")
        truth = check_array(len(dataset), f"{self.attack!r}: truth", self.attack.truth(dataset))
        # The sensitive values are not among the columns that the adversary knows.
        hidden = {*dataset.schema.sensitive, target}
        known = dataset.table[[name for name in dataset.schema.published if name not in hidden]]
        guesses = {"predict": fitted.predict(known), "baseline": fitted.baseline(known)}
        guessed_of = dataset.schema[target] if target in dataset.schema.names() else None
        cells = published.table[target].unique() if target in published.table else ()
        for method, guess in guesses.items():
            guesses[method] = check_array(len(known), f"{self.attack!r}: {method}", guess)
            check_guesses(f"{self.attack!r}: {method}", guesses[method], truth, guessed_of, cells)
        right, without = (count_people_among(guess == truth, dataset.people) for guess in guesses.values())
        return [self.row(case)(estimate_share(right, n), baseline=withholding.ReportedCount(without, n))]


@dataclass(frozen=True)
class LinkageQuestion(Question):
    """The share of people whom an adversary who knows the quasi-identifiers links to the right released row."""

    attack: RecordLinkage[Any] = Linkage()  # noqa: RUF009 - it is as fixed as a number
    primary_measure = "reidentification_rate"
    axes = ("reidentification_rate",)

    __str__ = AttackQuestion.__str__

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of this question."""
        return partial(case.row, self.primary_measure, miner=self.attack.called)

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        published, key = case.published
        asked = self.attack.fit(published), case.dataset, key
        (share, *interval), n = linkage.reidentification_rate(*asked), case.release.headcount
        linked = withholding.ReportedCount(share * n, n, interval, withholding.withhold_group_share)
        rows = [self.row(case)(linked, baseline=linkage.random_linkage_rate(*asked))]
        if isinstance(self.attack, ScoredLinkage) and case.dataset.people is None:
            place, *bounds = linkage.true_row_place(*asked)  # type: ignore[arg-type]
            among = (case.release.record_count + 1) / 2
            rows.append(case.row("true_row_place", place, miner=self.attack.called, interval=bounds, baseline=among))
        return rows


@singledispatch
def build_attack_question(attack: Any) -> Question:
    """Return the question of an attack; types of attacks that are scored in another way are registered here."""
    return AttackQuestion(attack)


build_attack_question.register(RecordLinkage, LinkageQuestion)
