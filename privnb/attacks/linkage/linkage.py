"""The attack that k-anonymity was made against: find the released row of a person whose quasi-identifiers are known."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privnb.attacks.algorithms.nearest import add, nearest, summed
from privnb.attacks.linkage.record_linkage import Distinct, RecordLinkage, points
from privnb.microdata.counts import combinations, distinct_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import text
from privnb.microdata.treatment import KINDS, UNTRUE
from privnb.runtime import expect

CHUNK = 256  # known combinations at a time: small enough for the processor's cache


@dataclass(frozen=True)
class Linkage(RecordLinkage):
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

    known: tuple[str, ...] | None = None
    called = ""  # results' own number of a release
    supported_treatments = ("exact", "generalized", "suppressed", "bucketized", "noisy", "perturbed")
    moved = ("noisy", "perturbed")  # treatments of which the nearest cell is taken

    def _learn(self, published):
        names = self._known_names(published)
        noisy = published.treated(*self.moved)
        moved = {name: points(published, name, published.table[name]) for name in names if name in noisy}
        rows = Distinct(moved, len(published.table))
        return {
            "_names": names,
            "_cells": {name: cells_of(published, name, published.table[name]) for name in names if name not in noisy},
            "_moved": tuple(moved),
            "_rows": rows,
        }

    def candidates(self, known):
        """How many released rows each known person could be: integer array (m,), from 0; more protects better."""
        expect.these(known=known)
        numbers = np.zeros(len(known), dtype=np.int64)
        for people, group, fit in self._fitting(known):
            numbers[people] = _count(fit).sum(axis=1)[group]
        return numbers

    def chance(self, known, rows):
        """Probability that `predict` gives `rows` (integer array (m,)), 0 to 1: exact, nothing is drawn."""
        expect.these(known=known)
        chances, (first, index) = np.zeros(len(known)), self._alike
        numbers = np.bincount(index).astype(float)
        for people, group, fit in self._fitting(known, first):
            own, bits = index[rows[people]], fit.view(np.uint8)
            fits = bits[group, own // 8] >> (7 - own % 8) & 1
            chances[people] = fits / np.maximum(summed(bits, numbers)[group], 1)
        return chances

    def counted(self, known, values, size):
        """How often each value stands in the rows that each known person could be.

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
        expect.these(known=known)
        for people, group, fit in self._fitting(known):
            counts = np.zeros((len(fit), size), dtype=np.int64)
            add(fit.view(np.uint8), values, counts)
            yield people, group, counts

    def fits(self, known):
        """Which rows each known person could be.

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
        expect.these(known=known)
        index, parts, before = np.zeros(len(known), dtype=np.int64), [], 0
        for people, group, fit in self._fitting(known):
            index[people] = group + before
            parts.append(fit.view(np.uint8))
            before += len(fit)
        return index, np.vstack(parts)

    def predict(self, known, *, rng=0):
        """The published row chosen for each known person, at random among the candidates.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the neighbour knows.
        rng : int, Generator or None

        Returns
        -------
        integer array (m,)
            Positions of rows; -1 where there is no candidate.
        """
        expect.these(known=known, rng=rng)
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

    @cached_property
    def _alike(self):
        """Rows that fit alike: the first of each kind, integer array (m,), and the kind of each row (rows,). Each is
        a kind of its own where the nearest row is taken.
        """
        every = np.arange(len(self.published.table))
        if self._moved or not self._cells:
            return every, every
        columns = [(codes, len(released)) for codes, released in self._cells.values()]
        return distinct_codes(*zip(*columns, strict=True))

    def _fitting(self, known, rows=slice(None)):
        """Yield `people` (positions in `known`), the `group` of each, and which of the `rows` are candidates of each
        group.

        People of whom the same is known are one group. `fit`: bit matrix (groups, words of 64 rows).
        """
        n = len(self.published.table.index[rows])
        self._check_known(self._names, known)
        self._check_complete(self._names, known)
        alike = combinations(known[list(self._names)])
        order = np.argsort(alike.index, kind="stable")
        ends = np.cumsum(alike.multiplicities)
        masks = [self._mask(name, alike.values[name], rows) for name in self._cells]
        everyone = np.packbits(np.arange(_words(n) * 64) < n).view(np.uint64)
        for start in range(0, len(ends), CHUNK):
            chosen = slice(start, start + CHUNK)
            fit = np.tile(everyone, (len(ends[chosen]), 1))
            for codes, bits in masks:
                fit &= bits[codes[chosen]]
            if self._moved:
                self._narrow(fit, alike.values[chosen])
            people = order[ends[start] - alike.multiplicities[start] : ends[chosen][-1]]
            yield people, alike.index[people] - start, fit

    def _mask(self, name, column, rows):
        """Which rows fit each distinct known cell: the cells' numbers, and a bit matrix (distinct cells, words)."""
        cells, released = self._cells[name][0][rows], self._cells[name][1]
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

    def _narrow(self, fit, values):
        """Leave each group only the nearest of its candidates in the noisy columns."""
        noisy = self._moved
        domains = [self.published.schema[name].domain for name in noisy]
        # Randomized response makes every other category alike, so each is 1 away.
        widths = [getattr(domain, "width", 1) for domain in domains]
        most = [np.inf if hasattr(domain, "width") else 1.0 for domain in domains]
        known = np.column_stack([points(self.published, name, values[name]) for name in noisy])
        released, row = self._rows.values / widths, self._rows.index
        nearest(fit.view(np.uint8), known / widths, released, row, np.array(most), not self._cells)


class _AnyRow(Linkage):
    """The rows that fit, also where they are nobody's: then the nearest ones."""

    supported_treatments = tuple(KINDS)
    moved = UNTRUE


def linkage_to_any_row(known: tuple[str, ...] | None = None) -> Linkage:
    """Return the linkage that also reads rows that are nobody's: it takes the nearest ones."""
    return _AnyRow(known)


def _words(rows):
    return -(-rows // 64)


def _count(words):
    """Number of bits that are set in each word."""
    return np.bitwise_count(words).astype(np.int64)


def cells_of(published, name, column):
    """The distinct cell of each row, integer array (n,), and for each distinct cell the runs of neighbouring positions
    on the attribute's line that it covers: a list of integer arrays (runs, 2), first and last of each.
    """
    attribute = published.schema[name]
    generalization = published.hierarchies.get(name) or flat(attribute)
    codes, cells = attribute.coded(column)
    labels = [c if isinstance(c, str) else text(attribute.domain.value(attribute.domain.codes(c))) for c in cells]
    return codes, [generalization.runs(label) for label in labels]
