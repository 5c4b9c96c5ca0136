"""One way from (dataset, sanitizers, attacks, measures, seeds) to tidy results.

A question turns a case, one release and what it was made of, into rows of results. Each release is made once, and all
that is asked is asked of it; with a store, what was answered before is read instead.
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
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.disclosure.guesses import array_of, check_guesses
from privnb.evaluation.predictions import stream
from privnb.evaluation.results import Row, collect, guessed, row_builder, tidy, withheld
from privnb.evaluation.store import Folder, Store, run
from privnb.measures.base import facts, state
from privnb.measures.disclosure import linkage
from privnb.microdata import withholding
from privnb.microdata.counts import people_among
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.errors import PrivnbError, UsageError
from privnb.runtime.own_methods import is_own
from privnb.runtime.progress import track
from privnb.runtime.validation import Count, OneOrMore, Seed, as_list, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.base import Sanitizer

SEEDS_AT_A_TIME = 16  # for so many, what is made of a dataset is kept: each sanitizer goes through all seeds


class Case:
    """One release: the dataset, the sanitizer and the seed that it is made of, and the release, made when it is read
    unless it is given.

    Attributes
    ----------
    fewest : int
        Numbers that count fewer people are withheld.
    row : callable
        Makes a row of its results, see `results.row_builder`.
    release : Release
        Raises SanitizationError where the table cannot give what the sanitizer was asked for.
    """

    def __init__(
        self, dataset: Dataset, sanitizer: Sanitizer, seed: int, release: Release | None = None, fewest: int = LIMIT
    ) -> None:
        self.dataset, self.sanitizer, self.seed, self.fewest = dataset, sanitizer, seed, withholding.check(fewest)
        if release is not None:
            self._made = release, None
        self.row = row_builder(dataset, sanitizer, seed, fewest)

    def stream(self, purpose: str) -> list[int]:
        """The seed of one purpose, see `predictions.stream`."""
        return stream(self.seed, self.sanitizer, purpose)

    @cached_property
    def _made(self) -> tuple[Any, ...]:
        try:
            return self.sanitizer.sanitize(self.dataset, rng=self.stream("sanitize")), None
        except SanitizationError as error:  # kept, since a search that fails takes as long as one that does not
            return None, error
        except PrivnbError as error:
            if not is_own(self.sanitizer):
                raise
            return None, SanitizationError(str(error))

    @property
    def release(self) -> Release:
        release, error = self._made
        if error is not None:
            raise error
        return release

    @cached_property
    def known(self) -> Case:
        """The same case to an adversary who knows, beside the quasi-identifiers, every neutral column that may be known
        and whose true values are published.
        """
        names = tuple(name for name in self.release.known_neutral if name in self.dataset.schema.knowable)
        if not names:
            return self
        release = self.release.with_known(names)
        return Case(_with_known(self.dataset, names), self.sanitizer, self.seed, release, self.fewest)

    @cached_property
    def published(self) -> tuple[Any, ...]:
        """What attacks learn from, and the map to its rows that only the evaluator has."""
        return self.release._published(self.stream("publish"))


@lru_cache(maxsize=8)
def _with_known(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Kept, so that whoever asks about the same adversary twice finds what was counted before."""
    return dataset.with_known(names)


def possible(dataset: Dataset, sanitizers: Sequence[Sanitizer], seed: int = 1) -> list[Any]:
    """Those of the sanitizers whose releases the table can give."""
    return [each for each in sanitizers if Case(dataset, each, seed)._made[1] is None]


class Question(ABC):
    """What is asked of a case: a frozen dataclass of what it depends on, so that a store knows its answer."""

    main: ClassVar[str] = "classes"  # the measure whose row says why, where there is no answer
    axes: ClassVar[tuple[str, ...]] = ()  # measures of its that a chart of all releases, and a policy, may ask for
    reorders = False  # whether it is asked of the records in another order for each seed

    @property
    def varies(self) -> bool:
        """Whether its answer varies with the seed, of whatever release."""
        return False

    @abstractmethod
    def rows(self, case: Case) -> list[Row]:
        """The answer: rows made by `case.row`, or a table of results.

        Raises SanitizationError where there is no such release, and Unreadable where it cannot be asked that: either is
        a row of its `main` measure.
        """

    def check(self, dataset: Dataset) -> None:  # noqa: B027 - most questions can be asked of every dataset
        """Raise ValueError or NotForThisTable where this cannot be asked of a dataset, before anything is computed."""

    def row(self, case: Case) -> Callable[..., Row]:
        """Makes rows of the main measure."""
        return partial(case.row, self.main, target=getattr(self, "sensitive", getattr(self, "target", "")))


@validated
def evaluate(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    attacks: Any = (),
    measures: Any = (),
    seeds: Count = 1,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Sanitize a dataset by each sanitizer, run all attacks and measures on each release, and give tidy results.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    attacks : Attack or Question, or list of those
        Of each the share of people whom it guesses right, `guessed_right`, with Wilson's 95% interval; baseline: its
        guess without the release. Of a `RecordLinkage` the `reidentification_rate`, and of one that scores rows the
        `true_row_place`; of a `Recovery` how near its numbers come, see `Recovered`.
    measures : function or Question, or list of those
        Functions marked with `@measure` that take `release`, `dataset` or `sensitive` (the first sensitive attribute)
        and nothing else: one number of a release, or (number, low, high).
    seeds : int
        Repeats of what is random.
    fewest : int
        Numbers that count fewer people are withheld.
    store : str
        The folder that keeps what is finished, which is then made in several processes; empty: none.

    Returns
    -------
    DataFrame
        Tidy results, see `results`. Where a release is not possible, or an attack or measure cannot read it, its row
        has no value, and says so in `status` and `reason`.
    """
    attacks = as_list(attacks)
    expect.all_of("attacks", attacks, Attack, Question, instead="Give a list of some such as Linkage().")
    questions = [each if isinstance(each, Question) else question_of(each) for each in attacks]
    questions += questions_of_measures(measures)
    if not questions:
        raise UsageError("nothing is asked. Give attacks, measures, or both.")
    runs = [
        (sanitizer, seed, [each for each in questions if seed == 1 or sanitizer.randomized or each.varies])
        for sanitizer in as_list(sanitizers)
        for seed in range(1, seeds + 1)
    ]
    return ask(dataset, [each for each in runs if each[-1]], fewest=fewest, store=store)


def ask(
    dataset: Dataset,
    runs: Sequence[Any],
    *,
    fewest: int = LIMIT,
    store: Folder = "",
    description: str = "sanitize and measure",
) -> pd.DataFrame:
    """The answers to `runs`, (sanitizer, seed, questions) each, as tidy results in their order."""
    for question in dict.fromkeys(question for *_, asked in runs for question in asked):
        question.check(dataset)
    if store:
        tasks = [
            partial(answer, dataset, sanitizer, seed, question, fewest)
            for sanitizer, seed, asked in runs
            for question in asked
        ]
        return collect(run(tasks, Store(store), description=description))
    found = []
    for sanitizer, seed, asked in track(runs, description):
        case = lru_cache(partial(_case, dataset, sanitizer, seed, fewest))
        found += [answer_rows(question, case(question.reorders and seed != 1)) for question in asked]
    return collect(found)


def answers(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], question: Question, *, seed: int = 1, fewest: int = LIMIT
) -> pd.DataFrame:
    """The answers to one question about the release of each sanitizer with one seed: tidy results in their order.

    A sanitizer that the table cannot have leaves a row that says so; `reached` refuses such results.
    """
    return ask(dataset, [(each, seed, [question]) for each in sanitizers], fewest=fewest)


def reached(results: pd.DataFrame) -> pd.DataFrame:
    """The results; raises SanitizationError where one of their releases is not possible."""
    for reason in results.reason[results.status == "not possible"]:
        raise SanitizationError(reason)
    return results


def answer(dataset: Dataset, sanitizer: Sanitizer, seed: int, question: Question, fewest: int = LIMIT) -> pd.DataFrame:
    """The answer to one question: tidy results. Asked in a row of the same release, it is made once."""
    return answered(question, _kept(sanitizer.key, dataset, sanitizer, seed, fewest, question.reorders and seed != 1))


# `store.run` gives tasks that have so many inputs in common to one worker, one after the other.
answer.shared = 3  # type: ignore[attr-defined]


def answered(question: Question, case: Case) -> pd.DataFrame:
    """The answer to a question of a case, as tidy results; without one, the row that says why."""
    return collect([answer_rows(question, case)])


def answer_rows(question: Question, case: Case) -> list[Row] | pd.DataFrame:
    """As `answered`, rows or a table."""
    try:
        return question.rows(case)
    except (SanitizationError, Unreadable) as error:
        status = "refused" if isinstance(error, Unreadable) else "not possible"
        return [question.row(case)(np.nan, status=status, reason=str(error))]
    except Exception as error:
        error.add_note(f"This was {question}, asked of the release of {case.sanitizer!r} with seed {case.seed}.")
        raise


def _case(dataset: Dataset, sanitizer: Sanitizer, seed: int, fewest: int, again: bool) -> Case:
    return Case(_reordered(dataset, seed) if again else dataset, sanitizer, seed, fewest=fewest)


@lru_cache(maxsize=2)
def _kept(key: str, *made: Any) -> Case:
    """The case; `key`: its sanitizer's, since 1 and 1.0 are equal and draw different noise."""
    return _case(*made)


@validated
def reordered(dataset: Dataset, seed: Seed) -> Dataset:
    """The dataset in another order for another repeat: ties, the first record of a clustering and folds depend on it.

    Seed 1 is the order of the file.
    """
    if seed == 1:
        return dataset
    order = np.random.default_rng([seed, 0]).permutation(len(dataset))
    return replace(dataset, table=dataset.cells.iloc[order])


# One for all releases of a seed, which is how questions know it again.
_reordered = lru_cache(maxsize=SEEDS_AT_A_TIME)(reordered)


state(
    "guessed_right",
    kind="privacy",
    sentence="Share of people for whom the attack guesses right; the baseline is its guess without the release.",
    source="this package",
    unit="share of people",
)


@dataclass(frozen=True)
class OfMeasure(Question):
    """A plain measure function asked of each release."""

    measure: Callable[..., Any]

    def __str__(self) -> str:
        return f"the measure {self.measure.__name__}"

    def __post_init__(self) -> None:
        known = {"dataset", "release", "sensitive"}
        wanted = [p for p in inspect.signature(self.measure).parameters.values() if p.default is p.empty]
        if unknown := [each.name for each in wanted if each.name not in known]:
            raise UsageError(
                f"{self.measure.__name__} takes {', '.join(unknown)}; evaluate gives release, dataset and sensitive. "
                "Give it as a Question whose `rows` know the rest."
            )
        if not hasattr(self.measure, "facts"):
            raise UsageError(
                f"{self.measure.__name__} states no kind, better and bounds, by which its numbers are read. "
                "Mark it with @measure(...) of privnb.measures."
            )

    def _given(self, dataset: Dataset) -> dict[str, Any]:
        """What the measure may take of the dataset."""
        wanted = "sensitive" in inspect.signature(self.measure).parameters
        return {"dataset": dataset} | ({"sensitive": sensitive_name(dataset, None)} if wanted else {})

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, self.measure.__name__, target=self._given(case.dataset).get("sensitive", ""))

    def rows(self, case: Case) -> list[Row] | pd.DataFrame:
        wanted = inspect.signature(self.measure).parameters
        given = self._given(case.dataset) | {"release": case.release}
        found = self.measure(**{each: given[each] for each in wanted if each in given})
        value, *interval = found if isinstance(found, tuple) else (found, np.nan, np.nan)
        of, n = facts(self.measure.__name__), case.release.headcount
        if of.kind == "utility" and not of.counts_people:
            # A loss counts suppressed people, and may give their number back.
            value = withholding.Revealing(value, case.release.suppressed_people, n, tuple(interval))
        made = self.row(case)(value, interval=interval)
        return withheld(tidy([made]), case.fewest, n) if of.counts_people else [made]


def questions_of_measures(measures: Any) -> list[Question]:
    """Return the question that each of one or several measures asks."""
    measures = as_list(measures)
    instead = (
        "Give a list of functions, not of names, such as certainty_penalty of privnb.measures.utility.information_loss."
    )
    expect.all_of("measures", measures, FunctionType, Question, instead=instead)
    return [each if isinstance(each, Question) else OfMeasure(each) for each in measures]


@dataclass(frozen=True)
class OfAttack(Question):
    """How many people an attack guesses right: of one with several records, any of them."""

    attack: Attack[Any]

    def __str__(self) -> str:
        return f"the attack {self.attack!r}"

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, "guessed_right", miner=self.attack.called, target=getattr(self.attack, "target", ""))

    def rows(self, case: Case) -> list[Row]:
        dataset, n, published = case.dataset, case.dataset.headcount, case.published[0]
        fitted, target = self.attack.fit(published), getattr(self.attack, "target", "")
        truth = array_of(len(dataset), f"{self.attack!r}: truth", self.attack.truth(dataset))
        # Nobody's secret stands among what is known of them.
        hidden = {*dataset.schema.sensitive, target}
        known = dataset.table[[name for name in dataset.schema.published if name not in hidden]]
        guesses = {"predict": fitted.predict(known), "baseline": fitted.baseline(known)}
        guessed_of = dataset.schema[target] if target in dataset.schema.names() else None
        cells = published.table[target].unique() if target in published.table else ()
        for method, guess in guesses.items():
            guesses[method] = array_of(len(known), f"{self.attack!r}: {method}", guess)
            check_guesses(f"{self.attack!r}: {method}", guesses[method], truth, guessed_of, cells)
        right, without = (people_among(guess == truth, dataset.people) for guess in guesses.values())
        return [self.row(case)(guessed(right, n), baseline=withholding.Counted(without, n))]


@dataclass(frozen=True)
class Linked(Question):
    """How often an adversary who knows quasi-identifiers links a person to the right released row."""

    attack: RecordLinkage[Any] = Linkage()  # noqa: RUF009 - it is as fixed as a number
    main = "reidentification_rate"
    axes = ("reidentification_rate",)

    __str__ = OfAttack.__str__

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, self.main, miner=self.attack.called)

    def rows(self, case: Case) -> list[Row]:
        published, key = case.published
        asked = self.attack.fit(published), case.dataset, key
        (share, *interval), n = linkage.reidentification_rate(*asked), case.release.headcount
        linked = withholding.Counted(share * n, n, interval, withholding.found)
        rows = [self.row(case)(linked, baseline=linkage.found_at_random(*asked))]
        if isinstance(self.attack, ScoredLinkage) and case.dataset.people is None:
            place, *bounds = linkage.true_row_place(*asked)  # type: ignore[arg-type]
            among = (case.release.record_count + 1) / 2
            rows.append(case.row("true_row_place", place, miner=self.attack.called, interval=bounds, baseline=among))
        return rows


@singledispatch
def question_of(attack: Any) -> Question:
    """What is asked of an attack, by its type: a kind of attack whose guesses are scored otherwise registers here."""
    return OfAttack(attack)


question_of.register(RecordLinkage, Linked)
