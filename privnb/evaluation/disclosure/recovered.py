"""How near an attack that recovers numbers comes to them, beside the release as it stands and the column's mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from privnb.attacks.recovery.base import Recovery
from privnb.evaluation.cases import Case, Question, question_of
from privnb.evaluation.disclosure.guesses import numbers_of
from privnb.evaluation.results import Row, guessed
from privnb.measures.base import state
from privnb.measures.intervals import t_interval
from privnb.measures.utility.mining import check_c
from privnb.microdata import withholding
from privnb.microdata.counts import people_among
from privnb.microdata.release import Published
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.names import name_list
from privnb.runtime.tolerances import EXACT, ROUNDING

OUTLIERS = 0.1  # the share of records that lie furthest from the mean

state(
    "recovery_error",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Recovery error",
    sentence="How far the numbers that an attack recovers lie from the true ones, as the root of the mean square, in "
    "standard deviations of each column. Whoever guesses the mean of each column for everybody has 1.",
    source="Huang, Du, Chen, SIGMOD 2005, section 7 (root mean square error)",
    unit="standard deviations of the column",
    format="{:g} standard deviations",
    baseline="the mean of each column",
)
state(
    "recovered_within",
    kind="privacy",
    title="Recovered within c %",
    sentence="Share of people one of whose numbers an attack recovers up to c per cent of its value.",
    source="Liu, Giannella, Kargupta, PKDD 2006 (relative error of a recovered record), of one number",
    unit="share of people",
    baseline="the mean of the column",
)


@dataclass(frozen=True)
class Recovered(Question):
    """How near a `Recovery` comes to the numbers of each released row.

    Rows `recovery_error`: of all columns together, and of each, by `target`; and rows `recovered_within` of each. The
    baseline is the true mean of each column, guessed for everybody: what is known of no row. Variant "taken literally":
    the released numbers instead of the guesses, where there are any. Control "permuted": the guess of one row compared
    with the record of another, which hits by chance alone. Group "outliers": the tenth of the records that lie furthest
    from the mean, by the sum of squares in standard deviations; group "others": the rest.

    The evaluator draws whom the adversary knows, as many as the attack says. They count nowhere, nor does a missing
    number. The interval is over records, or people, were they a random sample of many. A column in which all records
    are alike has no unit, and is left out.

    Parameters
    ----------
    attack : Recovery
    c : float
        Within how many per cent of its own value a number counts as found, 0 to 100.
    """

    attack: Recovery[Any]
    c: float = 10
    main = "recovery_error"

    def __post_init__(self) -> None:
        expect.kind("attack", self.attack, Recovery, instead="Give one such as PcaRemoval().")
        check_c(self.c)

    @property
    def varies(self) -> bool:
        return self.attack.people > 0  # whom the adversary knows is drawn

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, self.main, miner=self.attack.called, knows=self.attack.known_beside)

    def rows(self, case: Case) -> list[Row]:
        (published, key), dataset = case.published, case.dataset
        if key is None:
            raise Unreadable(
                f"the rows of {case.release.provenance.sanitizer} are nobody's: none has numbers to recover. Choose "
                "another sanitizer."
            )
        attack, counted = self._knowing(case, published, key)
        fitted = attack.fit(published)
        true = fitted.truth(dataset)
        mean, unit = np.nanmean(true, axis=0), np.nanstd(true, axis=0)
        varied = np.flatnonzero(unit > EXACT * np.maximum(np.abs(mean), 1))
        if not len(varied):
            raise Unreadable(f"all records are alike in {', '.join(fitted.targets)}, published as {fitted.undoes}.")
        rows, true = published.table.iloc[counted], true[key[counted]][:, varied]
        shown = _Shown(self, case, fitted, varied, key[counted])
        order = np.random.default_rng(case.stream("permute"))
        guess = fitted.predict(rows, rng=case.stream("recover"))
        guess = numbers_of((len(rows), len(fitted.targets)), f"{self.attack!r}: predict", guess)[:, varied]
        shown.unit, shown.true, shown.mean = unit[varied], true, mean[varied]
        far = np.nansum(((true - mean[varied]) / unit[varied]) ** 2, axis=1)
        outliers = far > np.quantile(far, 1 - OUTLIERS)
        found = shown.rows(guess)
        if (literal := fitted.literal(rows)) is not None:
            found += shown.rows(literal[:, varied], variant="taken literally")
        found += shown.rows(guess[order.permutation(len(guess))], control="permuted")
        return found + shown.groups(guess, {"outliers": outliers, "others": ~outliers})

    def _knowing(self, case: Case, published: Published, key: IntArray) -> tuple[Any, ...]:
        """The attack with what its adversary knows, and the positions of the rows that count, integer array."""
        attack, dataset, n = self.attack, case.dataset, len(key)
        columns = attack.columns(published)
        if attack.knows is None:
            return attack, np.arange(n)
        if attack.people >= n:
            raise Unreadable(
                f"{attack!r} knows {attack.people} people, and the release has {n} rows of {name_list(columns)}, "
                f"{attack.undoes}: nobody is left to recover. Lower people to {n - 1} or less."
            )
        some = np.random.default_rng(case.stream("know")).permutation(n)[: attack.people]
        knowledge = attack.knows.of(dataset.table.iloc[key[some]], published.table.iloc[some], case.stream("tell"))
        known = np.zeros(n, dtype=bool)
        known[some] = True
        if dataset.people is not None:  # whose other records are theirs, too
            known = np.isin(dataset.people[key], dataset.people[key[some]])
        if known.all():
            raise Unreadable(
                f"{attack!r} knows everybody of the release, with {name_list(columns)}, {attack.undoes}: nobody is "
                "left to recover. Lower people."
            )
        return attack.given(knowledge), np.flatnonzero(~known)


class _Shown:
    """The rows of one case: what a guess, float array (rows, columns), comes to, of all rows or of groups of them."""

    unit: FloatArray
    true: FloatArray
    mean: FloatArray

    def __init__(self, question: Recovered, case: Case, fitted: Any, varied: IntArray, records: IntArray) -> None:
        self.c, self.fewest, self.row = question.c, case.fewest, question.row(case)
        self.within = partial(
            case.row, "recovered_within", miner=question.attack.called, knows=question.attack.known_beside
        )
        self.names = [fitted.targets[place] for place in varied]
        self.people = np.arange(len(records)) if case.dataset.people is None else case.dataset.people[records]

    def rows(self, guess: FloatArray, **columns: Any) -> list[Row]:
        return self._of(guess, np.ones(len(guess), dtype=bool), **columns)

    def groups(self, guess: FloatArray, groups: Mapping[str, BoolArray]) -> list[Row]:
        """Rows of groups that are all people together: withheld as a whole where one of their counts tells of few."""
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
        many = n >= self.fewest
        found = [self._error(miss, plain, many, target="", **columns)]
        for place, name in enumerate(self.names):
            one = slice(place, place + 1)
            found.append(self._error(miss[:, one], plain[:, one], many, target=name, **columns))
            near = np.abs(self.true[member, place]) * self.c / 100 / self.unit[place] + ROUNDING  # of rounding
            hits, without = (people_among(np.abs(each[:, place]) <= near, people) for each in (miss, plain))
            share, baseline = (guessed(hits, n), withholding.Counted(without, n)) if many else (np.nan, np.nan)
            found.append(self.within(share, baseline=baseline, target=name, **columns))
        return found

    def _error(self, miss: FloatArray, plain: FloatArray, many: bool, **columns: Any) -> Row:
        if not many:
            return self.row(np.nan, **columns)
        squares, without = _squares(miss), _squares(plain)
        low, high = t_interval(squares.tolist())
        value, baseline = (float(np.sqrt(each.mean())) for each in (squares, without))
        return self.row(value, interval=np.sqrt((max(low, 0), high)), baseline=baseline, **columns)


def _squares(miss: FloatArray) -> FloatArray:
    """The mean square of what each record misses, of those that have a number: float array."""
    known = ~np.isnan(miss)
    number = known.sum(axis=1)
    has = number > 0
    return np.where(known, miss**2, 0).sum(axis=1)[has] / number[has]


question_of.register(Recovery, Recovered)
