"""Linkage of a person with known quasi-identifiers to a released row, the attack that k-anonymity protects against."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.nearest import add_counts, keep_nearest, sum_weights
from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import Distinct, RecordLinkage, to_coordinates
from privnb.microdata.counts import count_combinations, group_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Published
from privnb.microdata.schema import to_text
from privnb.microdata.treatment import KINDS, UNTRUE
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Randomness, validated

CHUNK = 256  # known combinations that are compared at a time; they fit into the processor's cache


Cells = tuple[IntArray, list[IntArray]]  # the result of `cells_of`


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedRows:
    """The released rows, as a `Linkage` reads them.

    Parameters
    ----------
    names : tuple of str
        The columns that the adversary knows.
    cells : dict of str to Cells
        The known columns whose released cells are true.
    moved : tuple of str
        The other known columns, in which the attack chooses the nearest cells.
    numbers : Distinct
        The cells of `moved` as numbers.
    """

    names: tuple[str, ...]
    cells: dict[str, Cells]
    moved: tuple[str, ...]
    numbers: Distinct

    @cached_property
    def alike(self) -> tuple[IntArray, IntArray]:
        """Return the first row of each set of rows that fit the same people, and the number of each row's set.

        If the attack chooses the nearest row, each set contains only one row.
        """
        every = np.arange(len(self.numbers.index))
        if self.moved or not self.cells:
            return every, every
        columns = [(codes, len(released)) for codes, released in self.cells.values()]
        return group_codes(*zip(*columns, strict=True))


@dataclass(frozen=True)
class Linkage(RecordLinkage[ReleasedRows]):
    """Link a person with known quasi-identifiers, who is in the release, to one of the rows that fit.

    The candidates are the released rows whose cells cover all known values; the attack chooses one of the candidates at
    random. Cells of noisy or perturbed columns are not true. If there are such columns, the attack therefore chooses,
    among the rows that fit in the true columns, the row that is nearest in the noisy or perturbed columns. The distance
    is the sum of |difference| / width of the public domain.

    Known cells may be exact values or labels of the hierarchy ("30-39", "*"); a label fits a released cell if the label
    and the cell have a value in common. The adversary knows which numbers of a person are missing; these are NaN or the
    mark of the column. A missing number that is compared with noisy cells counts as the middle of the domain, because
    the sanitizer added the noise of a missing number to this middle.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.

    Raises
    ------
    SchemaError
        If a column or a value is not in the release's schema.

    Source: Sweeney, "k-Anonymity: A Model for Protecting Privacy", IJUFKS 10(5), 2002; the nearest noisy row is the
    distance-based record linkage of Domingo-Ferrer and Torra, "Disclosure Risk Assessment in Statistical Data
    Protection", JCAM 164, 2004.
    """

    known: Columns = None
    called = ""  # results show its number as a property of the release, without the name of an attack
    supported_treatments = tuple(kind for kind in KINDS if kind != "synthetic")
    moved: ClassVar[tuple[str, ...]] = ("noisy", "perturbed")  # treatments for which the nearest cell is taken

    def _learn(self, published: Published) -> ReleasedRows:
        names = self._known_names(published)
        noisy = published.treated(*self.moved)
        moved = {name: to_coordinates(published, name, published.table[name]) for name in names if name in noisy}
        cells = {name: cells_of(published, name, published.table[name]) for name in names if name not in noisy}
        return ReleasedRows(names, cells, tuple(moved), Distinct(moved, len(published.table)))

    @validated
    def candidates(self, known: pd.DataFrame) -> IntArray:
        """Return the number of released rows that fit each known person, as an integer array (m,); higher is better."""
        numbers = np.zeros(len(known), dtype=np.int64)
        for people, group, fit in self._fitting(known):
            numbers[people] = _count(fit).sum(axis=1)[group]
        return numbers

    @validated
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return the exact probability that `predict` returns the row in `rows` for each person, as an array (m,)."""
        chances, (first, index) = np.zeros(len(known)), self.learned.alike
        numbers = np.bincount(index).astype(float)
        for people, group, fit in self._fitting(known, first):
            own, bits = index[rows[people]], fit.view(np.uint8)
            fits = bits[group, own // 8] >> (7 - own % 8) & 1
            chances[people] = fits / np.maximum(sum_weights(bits, numbers)[group], 1)
        return chances

    @validated
    def counted(
        self, known: pd.DataFrame, values: IntArray, size: int
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield, in parts, the number of times each value occurs in the rows that fit each known person.

        Parameters
        ----------
        known : DataFrame
            A table of m people with the columns that the adversary knows.
        values : integer array (rows,)
            The code of the value in each released row, from 0 to `size` - 1.
        size : int

        Yields
        ------
        people : integer array
            The positions of these people in `known`.
        group : integer array
            The row of `counts` that belongs to each of these people.
        counts : integer array (groups, size)
        """
        for people, group, fit in self._fitting(known):
            counts = np.zeros((len(fit), size), dtype=np.int64)
            add_counts(fit.view(np.uint8), values, counts)
            yield people, group, counts

    @validated
    def fits(self, known: pd.DataFrame) -> tuple[IntArray, IntArray]:
        """Return the rows that fit each known person.

        Parameters
        ----------
        known : DataFrame
            A table of m people with the columns that the adversary knows.

        Returns
        -------
        index : integer array (m,)
            The group of each person, from 0; people with equal known cells are one group.
        fit : bit matrix (groups, bytes of 8 rows)
            The candidate rows of each group.
        """
        index, parts, before = np.zeros(len(known), dtype=np.int64), [], 0
        for people, group, fit in self._fitting(known):
            index[people] = group + before
            parts.append(fit.view(np.uint8))
            before += len(fit)
        return index, np.vstack(parts)

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return the row to which each known person is linked, drawn at random from the candidates.

        Parameters
        ----------
        known : DataFrame
            A table of m people with the columns that the adversary knows.
        rng : int, Generator or None
            The source of the random choice among the candidates.

        Returns
        -------
        integer array (m,)
            The positions of the linked rows; -1 for a person without a candidate.
        """
        generator = np.random.default_rng(rng)
        chosen = np.full(len(known), -1)
        for people, group, fit in self._fitting(known):
            upto = _count(fit).cumsum(axis=1)
            nth = generator.integers(np.maximum(upto[group, -1], 1))
            word = (upto[group] <= nth[:, None]).sum(axis=1)
            some = np.flatnonzero(upto[group, -1])
            group, nth, word = group[some], nth[some], word[some]
            before = upto[group, word] - _count(fit[group, word])
            bits = np.unpackbits(fit[group, word].view(np.uint8)).reshape(-1, 64)
            bit = (bits.cumsum(axis=1, dtype=np.int64) == (nth - before + 1)[:, None]).argmax(axis=1)
            chosen[people[some]] = word * 64 + bit
        return chosen

    def _fitting(
        self, known: pd.DataFrame, rows: IntArray | slice = slice(None)
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield people (positions in `known`), the group of each person, and the candidates of each group.

        People with equal known cells are one group. The candidates are among `rows`, and are a bit matrix (groups,
        words of 64 rows).
        """
        names, cells = self.learned.names, self.learned.cells
        n = len(self.published.table.index[rows])
        self._check_known(names, known)
        self._check_complete(names, known)
        alike = count_combinations(known[list(names)])
        order = np.argsort(alike.index, kind="stable")
        ends = np.cumsum(alike.multiplicities)
        masks = [self._mask(name, alike.values[name], rows) for name in cells]
        everyone = np.packbits(np.arange(_words(n) * 64) < n).view(np.uint64)
        for start in range(0, len(ends), CHUNK):
            chosen = slice(start, start + CHUNK)
            fit = np.tile(everyone, (len(ends[chosen]), 1))
            for codes, bits in masks:
                fit &= bits[codes[chosen]]
            if self.learned.moved:
                self._narrow(fit, alike.values[chosen])
            people = order[ends[start] - alike.multiplicities[start] : ends[chosen][-1]]
            yield people, alike.index[people] - start, fit

    def _mask(self, name: str, column: pd.Series, rows: IntArray | slice) -> tuple[IntArray, IntArray]:
        """Return the code of each known cell, and, as a bit matrix, which rows fit each distinct known cell."""
        cells, released = self.learned.cells[name][0][rows], self.learned.cells[name][1]
        first, last = np.concatenate(released).T
        number = np.repeat(np.arange(len(released)), [len(runs) for runs in released])
        codes, known = cells_of(self.published, name, column)
        fit = np.zeros((len(known), _words(len(cells)) * 8), dtype=np.uint8)
        for row, runs in zip(fit, known, strict=True):
            meets = np.zeros(len(released), dtype=bool)
            for low, high in runs:
                meets[number[(first <= high) & (last >= low)]] = True
            bits = np.packbits(meets[cells])
            row[: len(bits)] = bits
        return codes, fit.view(np.uint64)

    def _narrow(self, fit: IntArray, values: pd.DataFrame) -> None:
        """Keep only the candidates of each group that are nearest in the noisy columns."""
        noisy = self.learned.moved
        domains = [self.published.schema[name].domain for name in noisy]
        # Under randomized response, all other categories are equally likely, so each is 1 away.
        widths = [getattr(domain, "width", 1) for domain in domains]
        most = [np.inf if hasattr(domain, "width") else 1.0 for domain in domains]
        known = np.column_stack([to_coordinates(self.published, name, values[name]) for name in noisy])
        released, row = self.learned.numbers.values / widths, self.learned.numbers.index
        keep_nearest(fit.view(np.uint8), known / widths, released, row, np.array(most), not self.learned.cells)


class _AnyRow(Linkage):
    """A `Linkage` that also reads synthetic rows, and links people to the nearest of these rows."""

    supported_treatments = tuple(KINDS)
    moved = UNTRUE


def linkage_to_any_row(known: tuple[str, ...] | None = None) -> Linkage:
    """Return a `Linkage` that also reads synthetic rows, and links people to the nearest of these rows."""
    return _AnyRow(known)


def _words(rows: int) -> int:
    return -(-rows // 64)


def _count(words: IntArray) -> IntArray:
    """Return the number of set bits in each word."""
    return np.bitwise_count(words).astype(np.int64)


def cells_of(published: Published, name: str, column: pd.Series) -> Cells:
    """Return the number of each row's distinct cell, integer array (n,), and the positions that each such cell covers.

    The positions are a list of integer arrays (runs, 2), one array per distinct cell, with the first and the last
    position of each run of consecutive values of the attribute.
    """
    attribute = published.schema[name]
    generalization = published.hierarchies.get(name) or flat(attribute)
    codes, cells = attribute.coded(column)
    labels = [
        c if isinstance(c, str) else to_text(attribute.numbers.value(int(attribute.numbers.codes(c)))) for c in cells
    ]
    return codes, [generalization.runs(label) for label in labels]
