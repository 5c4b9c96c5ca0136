"""The minimality attack, by an adversary who knows that the sanitizer stopped because no finer partition is allowed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, log
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from privnb.attacks.inference.value_attack import Target, ValueAttack, ValueGroups, normalize
from privnb.attacks.linkage.linkage import cells_of
from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.hierarchy.generalization import OfItsValues, OnALine
from privnb.microdata.release import Published
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import is_few
from privnb.privacy_models import PrivacyModel, tally
from privnb.privacy_models.refinement import Cells, Refinement, split_by
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Randomness, validated

TABLES = 1_000  # contingency tables of a class that are enumerated; of larger classes, tables are drawn at random
FEWEST = 20  # drawn tables that fit the release; with fewer, the attack learns nothing about the class


class Algorithm(Protocol):
    """A sanitizer, as far as the attack reads it."""

    models: tuple[PrivacyModel, ...]
    global_recoding: bool

    def list_refinements(self, cells: Cells) -> list[Refinement]:
        """Return finer partitions that the sanitizer rejected."""


class Register(NamedTuple):
    """The quasi-identifiers of all people in the release, and the algorithm that made the release."""

    algorithm: Algorithm
    people: pd.DataFrame
    rng: Randomness


class Posteriors(NamedTuple):
    """The result of the attack: the groups of the release, and the distribution of each combination of the register.

    `combinations` holds the distinct quasi-identifiers, and `shares` the probability of each value for a person with
    them: a float array (cells, values). `exact` is the same array, with the shares of the homogeneity attack in place
    of the probabilities that are estimated from draws. Without a register, all three are None.
    """

    groups: ValueGroups
    combinations: pd.DataFrame | None
    shares: FloatArray | None
    exact: FloatArray | None = None


@dataclass(frozen=True)
class Minimality(ValueAttack[Posteriors]):
    """Exclude the assignments of sensitive values under which the sanitizer would have published finer classes.

    A sanitizer that generalizes no more than its privacy models require discloses, by each class that it did not split,
    that the parts of the class violate a model. The adversary knows the quasi-identifiers of all people in the release
    and the algorithm, lists the partitions that the algorithm rejected, and keeps only those assignments of the
    published values to the people of a class for which each of these partitions violates a model. All remaining
    assignments are equally likely.

    The attack enumerates the assignments of a class if there are few of them; only then is a value certain or excluded.
    Otherwise, it draws assignments at random and estimates the probabilities. Privacy models that do not count
    sensitive values, such as k-anonymity, reveal nothing in this way.

    Call `given` with the algorithm and the register; without them, the attack is that of `Homogeneity`.

    Parameters
    ----------
    target : str
        The sensitive attribute.
    draws : int
        The number of assignments that are drawn for a class whose assignments cannot be enumerated.

    Source: Wong, Fu, Wang, Pei, "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007. The enumeration
    and the draws are ours.
    """

    target: Target
    draws: Count = 300
    title = "minimality"

    @validated
    def given(self, algorithm: Algorithm, register: pd.DataFrame, *, rng: Randomness = 0) -> Self:
        """Return a copy of this attack whose adversary knows the algorithm and the people in the release.

        Parameters
        ----------
        algorithm : Sanitizer
            The sanitizer that made the release, with its parameters.
        register : DataFrame
            The quasi-identifiers of all people in the release, one row for each person, in any order.
        rng : int, Generator or None
            The source of the random assignments.
        """
        if not hasattr(algorithm, "list_refinements"):
            raise UsageError(
                f"{type(algorithm).__name__} does not stop at the bound of a privacy model, so the attack does not "
                "apply. Choose a release of Mondrian, FullDomain or TopDownSpecialization."
            )
        return self._knowing(Register(algorithm, register, rng))

    def _learn(self, published: Published) -> Posteriors:
        groups = ValueGroups.read(published, self.target)
        if self._knowledge is None:
            return Posteriors(groups, None, None)
        if published.buckets is not None:
            raise Unreadable(f"{self!r} needs equivalence classes; this release has buckets. Choose DeFinetti.")
        known: Register = self._knowledge
        names = [name for name in published.schema.quasi_identifiers if name in published.table]
        distinct = count_combinations(known.people[names])
        shares = groups.share(distinct.values)
        exact = shares.copy()
        models = [model for model in known.algorithm.models if model.sensitive == self.target]
        sizes = [model for model in known.algorithm.models if model.sensitive is None]
        test = _Test.of(models, groups, published)
        recodes_locally = not known.algorithm.global_recoding
        of, cells = _place(published, groups, distinct.values, distinct.multiplicities, recodes_locally)
        if 0 < len(of) < len(shares) and not recodes_locally:
            raise UsageError(
                f"{self!r} must know all classes before widening to attack an algorithm with global recoding. Give the "
                "register of this release, and attack a release whose labels are public intervals or nodes."
            )
        refinements = known.algorithm.list_refinements(cells) if models and len(of) else []
        rng = np.random.default_rng(known.rng)
        for own, rejected in _split_blocks(cells, [each for each in refinements if _are_large(each, cells, sizes)]):
            found, is_exact = _infer(own, rejected, cells, groups.counts, test, self.draws, rng)
            if found is not None:
                shares[of[own]] = found
                exact[of[own]] = found if is_exact else exact[of[own]]
        return Posteriors(groups, distinct.values, shares, exact)

    @property
    def groups(self) -> ValueGroups:
        """The groups of the release that the attack was fitted to."""
        return self.learned.groups

    def posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the share of the remaining assignments with each value for each person, as an array (m, values).

        A person who is not in the register has the shares of the homogeneity attack.
        """
        return self._look_up(known, self.learned.shares)

    def exact_posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the posterior without estimates: a person in a class that was drawn has the shares of the class."""
        return self._look_up(known, self.learned.exact)

    def _look_up(self, known: pd.DataFrame, shares: FloatArray | None) -> FloatArray:
        combinations = self.learned.combinations
        if combinations is None or shares is None:
            return self.groups.share(known)
        names = list(combinations)
        place = pd.MultiIndex.from_frame(combinations.astype(str)).get_indexer(
            pd.MultiIndex.from_frame(known[names].astype(str))
        )
        is_registered = place[:, None] >= 0
        return (
            shares[place] if is_registered.all() else np.where(is_registered, shares[place], self.groups.share(known))
        )


class _Test(NamedTuple):
    """The models that count the sensitive attribute, with the columns of its values, and the counts of the table."""

    models: Sequence[tuple[PrivacyModel, IntArray]]
    whole: IntArray

    @classmethod
    def of(cls, models: list[PrivacyModel], groups: ValueGroups, published: Published) -> Self:
        """Return the test of the values of a release."""
        columns = []
        for model in models:
            column, width = tally(model, pd.Series(groups.values), published.schema[str(model.sensitive)])
            columns.append((model, np.eye(width, dtype=np.int64)[column]))
        return cls(columns, groups.counts.sum(axis=0))

    def violates(self, counts: IntArray) -> BoolArray:
        """Return whether some part of each table violates a model; counts: integers (tables, parts, values)."""
        tables, parts, values = counts.shape
        flat = counts.reshape(-1, values)
        broken = np.zeros(len(flat), dtype=bool)
        for model, columns in self.models:
            broken |= ~model.holds(flat @ columns, self.whole @ columns)
        return (broken & (flat.sum(axis=1) > 0)).reshape(tables, parts).any(axis=1)


def _place(
    published: Published, groups: ValueGroups, values: pd.DataFrame, people: IntArray, recodes_locally: bool
) -> tuple[IntArray, Cells]:
    """Return the positions of the combinations whose class is known with all of its people, and their cells.

    Raises UsageError if there is no such class.
    """
    weights = groups.weigh(values)
    sole = np.flatnonzero(np.diff(weights.indptr) == 1)  # labels may overlap: other people fit several classes
    classes = weights.indices[weights.indptr[sole]].astype(np.int64)
    is_known = np.bincount(classes, people[sole], len(groups.counts)) == groups.counts.sum(axis=1)
    if not is_known.any():
        raise UsageError(
            "`register` must contain the people in the release; no class of the release has as many rows as the "
            "register has people who fit only this class. Give the register of this release."
        )
    hierarchies = [published.hierarchies[name] for name in values]
    positions = np.column_stack([_find_positions(published, name, values[name]) for name in values])
    labels = groups.linkage.published.table[list(values)]  # of each class
    rare = [_find_rare(column, people) for column in positions.T]
    for members in split_by(classes):
        at, own = positions[sole[members]], classes[members[0]]
        for a, each in enumerate(hierarchies):
            if labels.iat[own, a] != SUPPRESSED or recodes_locally:
                is_known[own] &= not _may_hide_cuts(each, at[:, a], rare[a], recodes_locally)
    of, classes = sole[is_known[classes]], classes[is_known[classes]]
    return of, Cells(positions[of], people[of], classes, hierarchies)


def _find_positions(published: Published, name: str, column: pd.Series) -> IntArray:
    """Return the position of each known value on the line of its attribute, as integers (cells,)."""
    codes, covered = cells_of(published, name, column)
    return np.array([int(runs[0][0]) for runs in covered])[codes]


def _find_rare(positions: IntArray, people: IntArray) -> IntArray:
    """Return the positions that few people have."""
    occurring, index = np.unique(positions, return_inverse=True)
    return occurring[is_few(np.bincount(index, people))]


def _may_hide_cuts(hierarchy: Any, positions: IntArray, rare: IntArray, recodes_locally: bool) -> bool:
    """Return whether a published class may consist of several classes of the algorithm that received equal labels.

    If so, the algorithm need not have rejected a cut of the class. Equal labels are possible under local recoding if
    both sides of a threshold have the same label, and under any recoding if a label ended at a rare value and was
    widened.
    """
    if isinstance(hierarchy, OfItsValues):
        return not hierarchy.exact and bool(np.isin(positions, rare).any())
    if not isinstance(hierarchy, OnALine) or not recodes_locally:
        return False
    found = np.unique(positions).tolist()
    first, last = found[0], found[-1]
    return any(hierarchy.label(first, low) == hierarchy.label(high, last) for low, high in pairwise(found))


def _are_large(refinement: Refinement, cells: Cells, models: list[PrivacyModel]) -> bool:
    """Return whether all parts satisfy the models of sizes, so that only sensitive values can violate a model."""
    sizes = np.bincount(refinement.parts, cells.people[refinement.cells]).astype(np.int64)[:, None]
    return all(model.holds(sizes, sizes.sum(axis=0)).all() for model in models)


def _split_blocks(cells: Cells, refinements: list[Refinement]) -> Iterator[tuple[IntArray, list[Refinement]]]:
    """Yield sets of whole classes that no refinement connects, each with its cells and its refinements."""
    if not refinements:
        return
    count = int(cells.classes.max()) + 1
    ends = [np.unique(cells.classes[each.cells]) for each in refinements]
    links = [(np.repeat(each[0], len(each)), each) for each in ends]
    one, other = (np.concatenate(side) for side in zip(*links, strict=True))
    block = connected_components(coo_array((np.ones(len(one)), (one, other)), shape=(count, count)), directed=False)[1]
    own = split_by(block[cells.classes])
    by_block: dict[int, list[Refinement]] = {}
    for each, classes in zip(refinements, ends, strict=True):
        by_block.setdefault(int(block[classes[0]]), []).append(each)
    for members in own:
        if found := by_block.get(int(block[cells.classes[members[0]]])):
            yield members, found


def _infer(
    own: IntArray, refinements: list[Refinement], cells: Cells, counts: IntArray, test: _Test, draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray | None, bool]:  # fmt: skip
    """Return the probability of each value for a person of each cell of a block, as a float array (cells, values).

    The array is None if nothing is learned. The second item is whether the assignments were enumerated and not drawn.
    """
    people, classes = cells.people[own], cells.classes[own]
    exact = len(np.unique(classes)) == 1
    tables = _enumerate(people, counts[classes[0]]) if exact else None
    if tables is None:
        exact = False
        tables = _draw(people, classes, counts, draws, rng)
    weights = _weigh(people, tables) if exact else np.ones(draws)
    place = np.full(len(cells.people), -1)
    place[own] = np.arange(len(own))
    for refinement in refinements:
        size = int(refinement.parts.max()) + 1, len(own)
        members = np.ones(len(refinement.parts), dtype=np.int64), (refinement.parts, place[refinement.cells])
        parts = csr_array(members, shape=size) @ tables.transpose(1, 0, 2).reshape(len(own), -1)
        stays = test.violates(parts.reshape(size[0], len(tables), -1).transpose(1, 0, 2))
        tables, weights = tables[stays], weights[stays]
        if not len(tables):
            return None, exact
    if not exact and len(tables) < FEWEST:
        return None, exact
    found: FloatArray = np.tensordot(weights, tables, 1) / weights.sum() / people[:, None]
    # A value that no drawn assignment gives to a cell is rare there, but not excluded.
    if not exact:
        found = normalize(np.where((counts[classes] > 0) & (found == 0), 1 / (draws + 1), found))
    return found, exact


def _enumerate(people: IntArray, values: IntArray) -> IntArray | None:
    """Return all tables (cells, values) with these margins, as integers (tables, cells, values); None if too many."""
    occurring = int((values > 0).sum())
    assignments = gammaln(values.sum() + 1) - gammaln(values + 1).sum()
    margins = sum(log(comb(int(size) + occurring - 1, occurring - 1)) for size in people[:-1])
    if min(assignments, margins) > np.log(TABLES):  # two upper bounds of the number of tables
        return None
    found: list[list[IntArray]] = [[]]
    left: list[IntArray] = [values]
    for size in people[:-1]:
        grown: list[list[IntArray]] = []
        rest: list[IntArray] = []
        for rows, remaining in zip(found, left, strict=True):
            for row in _compositions(int(size), remaining):
                grown.append([*rows, row])
                rest.append(remaining - row)
        found, left = grown, rest
    return np.array([[*rows, remaining] for rows, remaining in zip(found, left, strict=True)])


def _compositions(size: int, most: IntArray) -> Iterator[IntArray]:
    """Yield all arrays of whole numbers from 0 to `most` with the sum `size`."""
    if len(most) == 1:
        if size <= most[0]:
            yield np.array([size])
        return
    for first in range(max(0, size - int(most[1:].sum())), min(size, int(most[0])) + 1):
        for rest in _compositions(size - first, most[1:]):
            yield np.concatenate([[first], rest])


def _weigh(people: IntArray, tables: IntArray) -> FloatArray:
    """Return the relative number of assignments of values that lead to each table, as a float array (tables,)."""
    logs = gammaln(people + 1).sum() - gammaln(tables + 1).sum(axis=(1, 2))
    return np.exp(logs - logs.max())


def _draw(people: IntArray, classes: IntArray, counts: IntArray, draws: int, rng: np.random.Generator) -> IntArray:
    """Return random tables of a block whose classes list their values: integers (draws, cells, values)."""
    cell = np.repeat(np.arange(len(people)), people)
    order = np.argsort(classes[cell], kind="stable")
    occurring = np.unique(classes)
    value = np.concatenate([np.repeat(np.arange(counts.shape[1]), counts[each]) for each in occurring])
    group = np.sort(classes[cell])
    tables = np.zeros((draws, len(people), counts.shape[1]), dtype=np.int64)
    for table in tables:
        shuffled = value[np.lexsort((rng.random(len(value)), group))]
        np.add.at(table, (cell[order], shuffled), 1)
    return tables
