"""Accuracy of attacks that recover numbers, compared with the released numbers and with the mean of the column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from privnb.attacks.recovery.base import Recovery
from privnb.evaluation.disclosure.guess_checks import check_number_array
from privnb.evaluation.evaluation_loop import Case, Question, build_attack_question
from privnb.evaluation.results import Row, estimate_share
from privnb.measures.base import register_measure
from privnb.measures.intervals import t_interval
from privnb.measures.utility.mining import check_c
from privnb.microdata import withholding
from privnb.microdata.counts import count_people_among
from privnb.microdata.release import Published
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.names import join_names
from privnb.runtime.tolerances import EXACT, ROUNDING

OUTLIERS = 0.1  # the share of records that lie furthest from the mean

register_measure(
    "recovery_error",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Recovery error",
    sentence="This is the root mean square error of the numbers that an attack recovers, in standard deviations of "
    "each column. An adversary who guesses the mean of each column for everybody reaches 1.",
    source="Huang, Du, Chen, SIGMOD 2005, section 7 (root mean square error)",
    unit="standard deviations of the column",
    format="{:g} standard deviations",
    baseline="the mean of each column",
)
register_measure(
    "recovered_within",
    kind="privacy",
    title="Recovered within c %",
    sentence="This is the share of people whose number an attack recovers to within c percent of its value.",
    source="Liu, Giannella, Kargupta, PKDD 2006 (relative error of a recovered record), of one number",
    unit="share of people",
    baseline="the mean of the column",
)


@dataclass(frozen=True)
class Recovered(Question):
    """Question about the accuracy of a `Recovery` of the numbers of each released row.

    The rows `recovery_error` report the error for all columns together, and for each column, whose name is in `target`.
    The rows `recovered_within` report a share of people for each column. The baseline guesses the true mean of each
    column for all people; this guess needs no knowledge of a row. Variant "taken literally" uses the released numbers,
    if there are any, instead of the guesses. Control "permuted" compares the guess for one row with the record of
    another row; such a guess is right only by chance. Group "outliers" is the tenth of the records that lie furthest
    from the mean; the distance is the sum of squared deviations, each in standard deviations of the column. Group
    "others" contains the other records.

    The evaluator draws the people whom the adversary knows; the attack states how many people to draw. The results
    count neither these people nor missing numbers. The interval of `recovery_error` treats the records, and that of
    `recovered_within` the people, as a random sample of a large population. A column whose records all have the same
    value has a standard deviation of 0 and is left out.

    Parameters
    ----------
    attack : Recovery
    c : float
        The largest relative error of a recovered number, in percent from 0 to 100.
    """

    attack: Recovery[Any]
    c: float = 10
    primary_measure = "recovery_error"

    def __post_init__(self) -> None:
        expect.kind("attack", self.attack, Recovery, instead="Give one such as PCARemoval().")
        check_c(self.c)

    @property
    def stochastic(self) -> bool:
        """Return whether the answer depends on random numbers."""
        return self.attack.people > 0  # the people whom the adversary knows are drawn

    def row(self, case: Case) -> Callable[..., Row]:
        """Return the function that builds a row of a case."""
        return partial(case.row, self.primary_measure, miner=self.attack.called, knows=self.attack.knowledge_title)

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        (published, key), dataset = case.published, case.dataset
        if key is None:
            raise Unreadable(
                f"the rows of {case.release.provenance.sanitizer} are synthetic, so there are no numbers to "
                "recover. Choose another sanitizer."
            )
        attack, counted = self._knowing(case, published, key)
        fitted = attack.fit(published)
        true = fitted.truth(dataset)
        mean, unit = np.nanmean(true, axis=0), np.nanstd(true, axis=0)
        varied = np.flatnonzero(unit > EXACT * np.maximum(np.abs(mean), 1))
        if not len(varied):
            raise Unreadable(
                f"all records have the same values of {', '.join(fitted.targets)}, published as {fitted.undoes}, so "
                "there is nothing to recover."
            )
        rows, true = published.table.iloc[counted], true[key[counted]][:, varied]
        shown = _RowBuilder(self, case, fitted, varied, key[counted])
        order = np.random.default_rng(case.stream("permute"))
        guess = fitted.predict(rows, rng=case.stream("recover"))
        guess = check_number_array((len(rows), len(fitted.targets)), f"{self.attack!r}: predict", guess)[:, varied]
        shown.unit, shown.true, shown.mean = unit[varied], true, mean[varied]
        far = np.nansum(((true - mean[varied]) / unit[varied]) ** 2, axis=1)
        outliers = far > np.quantile(far, 1 - OUTLIERS)
        found = shown.rows(guess)
        if (literal := fitted.literal(rows)) is not None:
            found += shown.rows(literal[:, varied], variant="taken literally")
        found += shown.rows(guess[order.permutation(len(guess))], control="permuted")
        return found + shown.groups(guess, {"outliers": outliers, "others": ~outliers})

    def _knowing(self, case: Case, published: Published, key: IntArray) -> tuple[Any, ...]:
        """Return the attack with the adversary's knowledge, and the positions of the rows that are counted."""
        attack, dataset, n = self.attack, case.dataset, len(key)
        columns = attack.columns(published)
        if attack.knows is None:
            return attack, np.arange(n)
        if attack.people >= n:
            raise Unreadable(
                f"{attack!r} knows {attack.people} people, and the release has {n} rows of {join_names(columns)}, "
                f"{attack.undoes}, so nobody is left whose numbers could be recovered. Lower `people` to {n - 1} or "
                "less."
            )
        some = np.random.default_rng(case.stream("know")).permutation(n)[: attack.people]
        knowledge = attack.knows.of(dataset.table.iloc[key[some]], published.table.iloc[some], case.stream("tell"))
        known = np.zeros(n, dtype=bool)
        known[some] = True
        if dataset.people is not None:  # the adversary also knows the other records of these people
            known = np.isin(dataset.people[key], dataset.people[key[some]])
        if known.all():
            raise Unreadable(
                f"{attack!r} knows everybody of the release, with {join_names(columns)}, {attack.undoes}, so nobody is "
                "left whose numbers could be recovered. Lower `people`."
            )
        return attack.given(knowledge), np.flatnonzero(~known)


class _RowBuilder:
    """Builder of the result rows of one case, from guesses (rows, columns) about all rows or groups of rows."""

    unit: FloatArray
    true: FloatArray
    mean: FloatArray

    def __init__(self, question: Recovered, case: Case, fitted: Any, varied: IntArray, records: IntArray) -> None:
        self.c, self.min_count, self.row = question.c, case.min_count, question.row(case)
        self.within = partial(
            case.row, "recovered_within", miner=question.attack.called, knows=question.attack.knowledge_title
        )
        self.names = [fitted.targets[place] for place in varied]
        self.people = np.arange(len(records)) if case.dataset.people is None else case.dataset.people[records]

    def rows(self, guess: FloatArray, **columns: Any) -> list[Row]:
        return self._of(guess, np.ones(len(guess), dtype=bool), **columns)

    def groups(self, guess: FloatArray, groups: Mapping[str, BoolArray]) -> list[Row]:
        """Return the rows of groups that partition the people; a number is withheld for all groups or for none."""
        made = [self._of(guess, member, group=name) for name, member in groups.items()]
        for alike in zip(*made, strict=True):
            for numbers in (("value", "low", "high"), ("baseline",)):
                if any(np.isnan(row[numbers[0]]) for row in alike):
                    for row in alike:
                        row.update(dict.fromkeys(numbers, np.nan))
        return [row for part in made for row in part]

    def _of(self, guess: FloatArray, member: BoolArray, **columns: Any) -> list[Row]:
        people = self.people[member]
        n = len(np.unique(people))
        miss = (guess - self.true)[member] / self.unit
        plain = (self.mean - self.true)[member] / self.unit
        many = n >= self.min_count
        found = [self._error(miss, plain, many, target="", **columns)]
        for place, name in enumerate(self.names):
            one = slice(place, place + 1)
            found.append(self._error(miss[:, one], plain[:, one], many, target=name, **columns))
            near = np.abs(self.true[member, place]) * self.c / 100 / self.unit[place] + ROUNDING
            hits, without = (count_people_among(np.abs(each[:, place]) <= near, people) for each in (miss, plain))
            share, baseline = (
                (estimate_share(hits, n), withholding.ReportedCount(without, n)) if many else (np.nan, np.nan)
            )
            found.append(self.within(share, baseline=baseline, target=name, **columns))
        return found

    def _error(self, miss: FloatArray, plain: FloatArray, many: bool, **columns: Any) -> Row:
        if not many:
            return self.row(np.nan, **columns)
        squares, without = _mean_squares(miss), _mean_squares(plain)
        low, high = t_interval(squares.tolist())
        value, baseline = (float(np.sqrt(each.mean())) for each in (squares, without))
        return self.row(value, interval=np.sqrt((max(low, 0), high)), baseline=baseline, **columns)


def _mean_squares(miss: FloatArray) -> FloatArray:
    """Return the mean squared error of each record that has at least one number, as a float array."""
    known = ~np.isnan(miss)
    number = known.sum(axis=1)
    has = number > 0
    return np.where(known, miss**2, 0).sum(axis=1)[has] / number[has]


build_attack_question.register(Recovery, Recovered)
