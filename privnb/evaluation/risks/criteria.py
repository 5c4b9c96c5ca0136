"""The three criteria of anonymization, singling out, linkability and inference, each against people of a hold-out.

| measure | an attack succeeds if | random guess |
|---|---|---|
| `excess_singling_out` | a predicate learned from the release matches exactly one person | a random predicate |
| `excess_linkability` | the nearest rows of two parts of a person's record have a row in common | random rows |
| `excess_inference` | the sensitive value of the nearest row is the person's own | the value of a random row |

Each attack is made on people of the table and on people of the hold-out, who are not in the release. The excess is
(attack - control) / (1 - control); see `measures.disclosure.residual_risk`. The rows `singling_out_success`,
`linkability_success` and `inference_success` report the two rates, the second with the control "held-out".

The `linkability_risk` differs from the criterion: it takes rows that fit a part instead of the nearest rows, compares
with parts of two different people, and has no control. It reports the whole risk, and the criterion reports the part of
the risk that depends on being in the table.

Source: Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP 216), section 2.2.2; Giomi, Boenisch,
Wehmeyer, Tasnadi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, sections 4 and 5.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.nearest_rows import chance_of_common_row, guess_by_nearest, link_parts
from privnb.attacks.linkage.record_linkage import Distinct
from privnb.attacks.linkage.released_cells import ReleasedColumn, join_distances
from privnb.attacks.linkage.singling_out import SinglingOut
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import Row
from privnb.evaluation.risks.identity import require_known
from privnb.evaluation.risks.linkability import split_attributes
from privnb.evaluation.risks.membership import MembershipGame, find_records
from privnb.measures.base import register_measure
from privnb.measures.disclosure.residual_risk import residual_risk, successes_at_size
from privnb.measures.intervals import wilson
from privnb.microdata.counts import max_per_person
from privnb.microdata.release import Published
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import is_few
from privnb.runtime.arrays import FloatArray, IntArray

MAX_PEOPLE = 2000  # target people of the table and of the hold-out; predicates. All rows and people are searched.
CELLS = 2**22  # distances that are held at a time
HELD_OUT = "held-out"

for _name, _title, _what in (
    ("singling_out", "singling out", "predicates learned from the release that match exactly one person"),
    (
        "linkability",
        "linkability",
        "people of whom both parts of the record have the same nearest row",
    ),
    ("inference", "inference", "people whose sensitive value is that of the released row nearest to them"),
):
    _unit = "share of predicates" if _name == "singling_out" else "share of people"
    register_measure(
        f"excess_{_name}",
        kind="privacy",
        bounds=(-1, 1),
        title=f"Excess {_title}",
        sentence=f"This is the share of {_what}, in excess of the same share for a hold-out of people who are not in "
        "the release, divided by the largest possible excess. 0 means that the attack succeeds as often for people who "
        "are not in the release.",
        source="Giomi et al., PoPETs 2023, section 5",
        unit=_unit,
        baseline="people who are not in the release",
    )
    register_measure(
        f"{_name}_success",
        kind="privacy",
        title=f"Success of {_title}",
        sentence=f"This is the share of {_what}.",
        source="Giomi et al., PoPETs 2023, section 5",
        unit=_unit,
        baseline="a random guess",
        readings={HELD_OUT: "for people who are not in the release"},
    )


class Attempts(NamedTuple):
    """The results of an attack.

    Attributes
    ----------
    successes, n : float
        The number of successes on people of the table, and the number of attempts.
    control, m : float
        The number of successes on people of the hold-out, and the number of attempts.
    guessed : float
        The success rate of a random guess.
    """

    successes: float
    n: int
    control: float
    m: int
    guessed: float


@dataclass(frozen=True)
class _Criterion(Question):
    """One of the three criteria."""

    stochastic = True

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        require_known(case.dataset, case.release)
        game = MembershipGame.of(case)
        table = game.release._published(case.stream("publish"))[0]
        return [row for variant, found in self.attack(case, game, table) for row in self._report(case, variant, found)]

    @abstractmethod
    def attack(self, case: Case, game: MembershipGame, published: Published) -> list[tuple[str, Attempts]]:
        """Return the results of each variant of the attack, by the name of the variant."""

    def _report(self, case: Case, variant: str, found: Attempts) -> list[Row]:
        where = {"variant": variant, "target": getattr(self, "sensitive", "")}
        success = self.primary_measure.replace("excess_", "") + "_success"
        if not found.n:  # no predicate singles out a row, so that nothing can be tried
            return [case.row(self.primary_measure, 0.0, baseline=0, **where)]
        if self._is_withheld(case, found):
            return [case.row(self.primary_measure, np.nan, baseline=0, of=found.n, **where)]
        excess = residual_risk(found.successes, found.n, found.control, found.m)
        rates = [(found.successes, found.n, ""), (found.control, found.m, HELD_OUT)]
        rows = [case.row(self.primary_measure, excess.value, interval=excess[1:], baseline=0, of=found.n, **where)]
        for right, n, control in rates:
            more = {"interval": wilson(right, n), "baseline": found.guessed, "of": n, "control": control}
            rows.append(case.row(success, right / n, **more, **where))
        return rows

    def _is_withheld(self, case: Case, found: Attempts) -> bool:
        """Return whether the numbers would disclose a small number of people for whom the attack fails."""
        return min(found.n, found.m) < case.min_count or bool(is_few(found.n - found.successes, case.min_count))


@dataclass(frozen=True)
class ExcessSinglingOut(_Criterion):
    """The share of predicates learned from the release that single out one person, in excess of the hold-out.

    The numbers of people in the table and in the hold-out usually differ. The successes on the hold-out are therefore
    converted to the successes on a hold-out of the same size as the table; see `residual_risk.successes_at_size`.

    The interval treats predicates as independent, as in the paper. Many multivariate predicates depend on the same
    people, so that the interval is somewhat too narrow: it contained 0 for 87% of 60 releases of 300 people that were
    drawn from the population.

    Parameters
    ----------
    terms : int
        The number of columns of a multivariate predicate.
    """

    terms: int = 3
    primary_measure = "excess_singling_out"

    def attack(self, case: Case, game: MembershipGame, published: Published) -> list[tuple[str, Attempts]]:
        """Return the results of univariate and of multivariate predicates."""
        names = _list_names(game.dataset, published)
        attack, found = SinglingOut(published, tuple(names)), list[tuple[str, Attempts]]()
        sides = [find_records(game.dataset, people) for people in (game.members, game.others)]
        tables = [game.dataset.table[names].iloc[records] for records, _ in sides]
        for variant, terms in (("univariate", 1), ("multivariate", self.terms)):
            rng = np.random.default_rng(derive_seed(case.seed, case.sanitizer, f"predicates {variant}"))
            if terms == 1:
                learned = attack.learn_univariate(MAX_PEOPLE, rng)
            else:
                learned = attack.learn_multivariate(MAX_PEOPLE, terms, rng)
            number, guesses = len(learned.columns), attack.guess(MAX_PEOPLE, terms, rng)
            own, other = (attack.count(learned, table, whose) for table, (_, whose) in zip(tables, sides, strict=True))
            control = successes_at_size(other, len(game.others), len(game.members))
            guessed = float((attack.count(guesses, tables[0], sides[0][1]) == 1).mean())
            found.append((variant, Attempts(float((own == 1).sum()), number, control, number, guessed)))
        return found

    def _is_withheld(self, case: Case, found: Attempts) -> bool:
        return False  # predicates are counted, not people


@dataclass(frozen=True)
class ExcessLinkability(_Criterion):
    """The share of people for whom the rows nearest to two parts of their record have a row in common.

    Parameters
    ----------
    parts : pair of tuples of str, optional
        The attributes of the two parts; if None, the parts of `LinkabilityRisk`.
    neighbors : int
        The number of rows that are nearest to each part.
    """

    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    neighbors: int = 1
    primary_measure = "excess_linkability"

    def attack(self, case: Case, game: MembershipGame, published: Published) -> list[tuple[str, Attempts]]:
        """Return the results of the attack."""
        parts = self.parts or split_attributes(game.dataset, game.release)
        n, k = len(published.table), min(self.neighbors, len(published.table))
        columns = [[ReleasedColumn.of(published, name) for name in part] for part in parts]
        rows = [_Rows.of(part) for part in columns]
        pairs, often = np.unique(np.column_stack([each.distinct for each in rows]), axis=0, return_counts=True)

        def succeed(table: pd.DataFrame) -> FloatArray:
            values = [[each.values(table[each.name]) for each in part] for part in columns]
            found, size = np.zeros(len(table)), max(1, CELLS // sum(each.width for each in rows))
            for start in range(0, len(table), size):
                chunk = slice(start, start + size)
                far = [join_distances(part, [own[chunk] for own in v]) for part, v in zip(columns, values, strict=True)]
                found[chunk] = link_parts(
                    (far[0], far[1]), (rows[0].cells, rows[1].cells), (rows[0].times, rows[1].times), pairs, often, k
                )
            return found.round(9)  # so that equal probabilities are equal on every machine

        guessed = chance_of_common_row((0, 0), (n, n), k, 0, 0, 0, n)
        return [("", _try_people(case, game, succeed, guessed))]


@dataclass(frozen=True)
class ExcessInference(_Criterion):
    """The share of people whose sensitive value equals that of the nearest released row, in excess of the hold-out.

    The adversary knows all other attributes of a person, or only the attributes in `known`.

    Parameters
    ----------
    sensitive : str
        The attribute that is guessed.
    known : tuple of str, optional
        The attributes that the adversary knows.
    tolerance : float
        A guessed number is right if it differs from the true number by at most this share of the guess. If 0, only an
        equal number is right.
    """

    sensitive: str
    known: tuple[str, ...] | None = None
    tolerance: float = 0.05
    primary_measure = "excess_inference"

    def attack(self, case: Case, game: MembershipGame, published: Published) -> list[tuple[str, Attempts]]:
        """Return the results of the attack."""
        name = self.sensitive
        if not name or name not in published.table:
            raise Unreadable(f"the rows of this release have no sensitive attribute '{name}' that could be guessed.")
        known = self.known or tuple(each for each in _list_names(game.dataset, published) if each != name)
        columns, guessed = [ReleasedColumn.of(published, each) for each in known], ReleasedColumn.of(published, name)
        rows = _Rows.of(columns)
        order, ends = np.argsort(rows.distinct, kind="stable"), np.cumsum(rows.times)
        shares = np.bincount(guessed.codes, minlength=len(guessed.low)) / len(published.table)
        of_random = list[FloatArray]()

        def succeed(table: pd.DataFrame) -> FloatArray:
            values, own = [each.values(table[each.name]) for each in columns], guessed.values(table[name])
            found, size = np.zeros(len(table)), max(1, CELLS // (rows.width + len(shares)))
            at_random = np.zeros(len(table))
            for start in range(0, len(table), size):
                chunk = slice(start, start + size)
                right = guessed.shares_near(own[chunk], self.tolerance)
                at_random[chunk] = right @ shares
                far = join_distances(columns, [each[chunk] for each in values])
                found[chunk] = guess_by_nearest(far, rows.cells, order, ends, guessed.codes, right)
            of_random.append(at_random)
            return found

        found = _try_people(case, game, succeed, 0.0)
        return [("", found._replace(guessed=float(of_random[0].mean())))]  # of people of the table

    def _is_withheld(self, case: Case, found: Attempts) -> bool:
        return super()._is_withheld(case, found) or bool(is_few(found.successes, case.min_count))


class _Rows(NamedTuple):
    """The distinct rows of some released columns.

    Attributes
    ----------
    cells : integer array (columns, distinct)
        The place of each cell among the distinct cells of all columns.
    distinct : integer array (rows,)
        The distinct row of each released row.
    times : integer array (distinct,)
    width : int
        The number of distinct cells of all columns.
    """

    cells: IntArray
    distinct: IntArray
    times: IntArray
    width: int

    @classmethod
    def of(cls, columns: Sequence[ReleasedColumn]) -> "_Rows":
        widths = [len(column.low) for column in columns]
        starts = np.append(0, np.cumsum(widths)[:-1])
        codes = {column.name: column.codes.astype(float) for column in columns}
        distinct = Distinct(codes, len(columns[0].codes))
        cells = distinct.values.T.astype(np.int64) + starts[:, None]
        return cls(np.ascontiguousarray(cells), distinct.index, distinct.times, sum(widths))


def _try_people(
    case: Case, game: MembershipGame, succeed: Callable[[pd.DataFrame], FloatArray], guessed: float
) -> Attempts:
    """Return the results of an attack on people of the table and of the hold-out, at most `MAX_PEOPLE` of each."""
    rng = np.random.default_rng(derive_seed(case.seed, None, "people of the criteria"))
    rates = []
    for people in (game.members, game.others):
        asked = np.sort(rng.permutation(people)[:MAX_PEOPLE])
        records, whose = find_records(game.dataset, asked)
        right = succeed(game.dataset.table.iloc[records])
        person = None if game.dataset.people is None else whose
        rates.append(max_per_person(right, person))
    own, other = rates
    return Attempts(float(own.sum()), len(own), float(other.sum()), len(other), guessed)


def _list_names(dataset: Dataset, published: Published) -> list[str]:
    """Return the attributes of people that the released rows have."""
    stated = dataset.schema.unknowable
    there = {*published.table} - {*published.treated("bucketized")}
    return [name for name in dataset.schema.published if name in there and name not in stated]


def build_criteria(dataset: Dataset) -> list[Question]:
    """Return the three criteria as questions about a release; inference has a question for each sensitive attribute."""
    return [ExcessSinglingOut(), ExcessLinkability(), *map(ExcessInference, dataset.schema.sensitive)]
