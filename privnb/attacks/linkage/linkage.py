"""The attack that k-anonymity was made against: find the released row of a person whose quasi-identifiers are known."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.nearest import add, nearest, summed
from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import Distinct, RecordLinkage, points
from privnb.microdata.counts import combinations, distinct_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Published
from privnb.microdata.schema import text
from privnb.microdata.treatment import KINDS, UNTRUE
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Randomness, validated

CHUNK = 256  # known combinations at a time: small enough for the processor's cache


Cells = tuple[IntArray, list[IntArray]]  # see `cells_of`


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedRows:
    """What a `Linkage` reads of the released rows.

    Parameters
    ----------
    names : tuple of str
        The columns that the neighbour knows.
    cells : dict of str to Cells
        Those of them whose cells are right.
    moved : tuple of str
        The others, of which the nearest cells are taken.
    numbers : Distinct
        Their cells as numbers.
    """

    names: tuple[str, ...]
    cells: dict[str, Cells]
    moved: tuple[str, ...]
    numbers: Distinct

    @cached_property
    def alike(self) -> tuple[IntArray, IntArray]:
        """Rows that fit alike: the first of each kind, integer array (m,), and the kind of each row (rows,). Each is a
        kind of its own where the nearest row is taken.
        """
        every = np.arange(len(self.numbers.index))
        if self.moved or not self.cells:
            return every, every
        columns = [(codes, len(released)) for codes, released in self.cells.values()]
        return distinct_codes(*zip(*columns, strict=True))


@dataclass(frozen=True)
class Linkage(RecordLinkage[ReleasedRows]):
    """A neighbour who knows some quasi-identifiers of a person, and that the person is in the release, wants their row.

    The candidates are the released rows of which every known cell covers the known value; the neighbour takes
    one of them at random. In a noisy or perturbed column no cell is right: of the rows that fit in the other columns
    the neighbour takes the nearest, by the sum over these columns of |difference| / width of the public domain.

    Known cells may be exact values or labels of the hierarchy ("30-39", "*"); a label fits a released cell if they have
    a value in common. A missing number is known as such: NaN, or its mark; with noisy cells the middle of the domain is
    compared for it, from which its noise was drawn.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the neighbour knows; None: all quasi-identifiers.

    Raises
    ------
    SchemaError
        For a column or value that the release's schema lacks.

    Source: Sweeney, "k-Anonymity: A Model for Protecting Privacy", IJUFKS 10(5), 2002; the nearest noisy row is the
    distance-based record linkage of Domingo-Ferrer and Torra, "Disclosure Risk Assessment in Statistical Data
    Protection", JCAM 164, 2004.
    """

    known: Columns = None
    called = ""  # results' own number of a release
    supported_treatments = tuple(kind for kind in KINDS if kind != "synthetic")
    moved: ClassVar[tuple[str, ...]] = ("noisy", "perturbed")  # treatments of which the nearest cell is taken

    def _learn(self, published: Published) -> ReleasedRows:
        names = self._known_names(published)
        noisy = published.treated(*self.moved)
        moved = {name: points(published, name, published.table[name]) for name in names if name in noisy}
        cells = {name: cells_of(published, name, published.table[name]) for name in names if name not in noisy}
        return ReleasedRows(names, cells, tuple(moved), Distinct(moved, len(published.table)))

    @validated
    def candidates(self, known: pd.DataFrame) -> IntArray:
        """Return how many released rows each known person could be: integer array (m,), from 0; more is better."""
        numbers = np.zeros(len(known), dtype=np.int64)
        for people, group, fit in self._fitting(known):
            numbers[people] = _count(fit).sum(axis=1)[group]
        return numbers

    @validated
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Probability that `predict` gives `rows` (integer array (m,)), 0 to 1: exact, nothing is drawn."""
        chances, (first, index) = np.zeros(len(known)), self.learned.alike
        numbers = np.bincount(index).astype(float)
        for people, group, fit in self._fitting(known, first):
            own, bits = index[rows[people]], fit.view(np.uint8)
            fits = bits[group, own // 8] >> (7 - own % 8) & 1
            chances[people] = fits / np.maximum(summed(bits, numbers)[group], 1)
        return chances

    @validated
    def counted(
        self, known: pd.DataFrame, values: IntArray, size: int
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield how often each value stands in the rows that each known person could be.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the neighbour knows.
        values : integer array (rows,)
            Of each released row, from 0 to `size` - 1.
        size : int

        Yields
        ------
        people : integer array
            Positions in `known`.
        group : integer array
            Of each of them, the number of their row in `counts`.
        counts : integer array (groups, size)
        """
        for people, group, fit in self._fitting(known):
            counts = np.zeros((len(fit), size), dtype=np.int64)
            add(fit.view(np.uint8), values, counts)
            yield people, group, counts

    @validated
    def fits(self, known: pd.DataFrame) -> tuple[IntArray, IntArray]:
        """Return which rows each known person could be.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the neighbour knows.

        Returns
        -------
        index : integer array (m,)
            Of whom the same is known: a number of group from 0.
        fit : bit matrix (groups, bytes of 8 rows)
            The candidates of each group.
        """
        index, parts, before = np.zeros(len(known), dtype=np.int64), [], 0
        for people, group, fit in self._fitting(known):
            index[people] = group + before
            parts.append(fit.view(np.uint8))
            before += len(fit)
        return index, np.vstack(parts)

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return the published row chosen for each known person, at random among the candidates.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the neighbour knows.
        rng : int, Generator or None
            Draws among the candidates.

        Returns
        -------
        integer array (m,)
            -1 where there is no candidate.
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
        """Yield `people` (positions in `known`), the `group` of each, and which of the `rows` are candidates of each
        group.

        People of whom the same is known are one group. `fit`: bit matrix (groups, words of 64 rows).
        """
        names, cells = self.learned.names, self.learned.cells
        n = len(self.published.table.index[rows])
        self._check_known(names, known)
        self._check_complete(names, known)
        alike = combinations(known[list(names)])
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
        """Return the number of each known cell, and which rows fit each distinct one: bit matrix (distinct, words)."""
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
        """Leave each group only the nearest of its candidates in the noisy columns."""
        noisy = self.learned.moved
        domains = [self.published.schema[name].domain for name in noisy]
        # Randomized response makes every other category alike, so each is 1 away.
        widths = [getattr(domain, "width", 1) for domain in domains]
        most = [np.inf if hasattr(domain, "width") else 1.0 for domain in domains]
        known = np.column_stack([points(self.published, name, values[name]) for name in noisy])
        released, row = self.learned.numbers.values / widths, self.learned.numbers.index
        nearest(fit.view(np.uint8), known / widths, released, row, np.array(most), not self.learned.cells)


class _AnyRow(Linkage):
    """The rows that fit, also where they are nobody's: then the nearest ones."""

    supported_treatments = tuple(KINDS)
    moved = UNTRUE


def linkage_to_any_row(known: tuple[str, ...] | None = None) -> Linkage:
    """Return the linkage that also reads rows that are nobody's: it takes the nearest ones."""
    return _AnyRow(known)


def _words(rows: int) -> int:
    return -(-rows // 64)


def _count(words: IntArray) -> IntArray:
    """Return the number of bits that are set in each word."""
    return np.bitwise_count(words).astype(np.int64)


def cells_of(published: Published, name: str, column: pd.Series) -> Cells:
    """Return the distinct cell of each row, integer array (n,), and for each distinct cell the runs of neighbouring
    positions on the attribute's line that it covers: a list of integer arrays (runs, 2), first and last of each.
    """
    attribute = published.schema[name]
    generalization = published.hierarchies.get(name) or flat(attribute)
    codes, cells = attribute.coded(column)
    labels = [
        c if isinstance(c, str) else text(attribute.numbers.value(int(attribute.numbers.codes(c)))) for c in cells
    ]
    return codes, [generalization.runs(label) for label in labels]
