"""Privacy models bound to a table: a test of whether a group of the table's records may be published as one class.

Algorithms work on the distinct rows of a table, not on its records. A requirement contains each model's counts of these
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from privnb.microdata.counts import count_people_by_group, encode_values, group_codes, stable_order, tabulate
from privnb.microdata.withholding import is_few, reveals_few
from privnb.privacy_models import KAnonymity, PrivacyModel, tally
from privnb.privacy_models.base import Tally
from privnb.runtime.arrays import Array, BoolArray, IntArray

Rows = slice | IntArray | BoolArray
_CELLS = 2**24  # size of a table of counts that is computed at a time


class Requirement:
    """The requirement that every class of a dataset's records satisfies all of `models`.

    Parameters
    ----------
    models : sequence of PrivacyModel
    dataset : Dataset
    extra : sequence of str
        Further attributes; all records of a row have the same values of these attributes.
    alone : bool
        Whether every record is a separate row, for algorithms that distinguish equal records.

    Attributes
    ----------
    codes : integer array (m, attributes)
        The position of each of the m distinct rows on the line of each quasi-identifier. All records of a row have the
        same value of every attribute that a model counts.
    people : integer array (m,)
        The number of records of each row; 0 if the row occurs only in a model's population.
    persons : integer array (m,) or None
        The person of each row if the dataset has a key of people.
    index : integer array (n,)
        The row of each record.
    values : dict of str to integer array (m,)
        The codes of the `extra` attributes by row.
    """

    def __init__(
        self, models: Sequence[PrivacyModel], dataset: Any, extra: Sequence[str] = (), *, alone: bool = False
    ) -> None:
        self.models = tuple(models)
        schema, table = dataset.schema, dataset.cells
        self._cells = table
        names = schema.quasi_identifiers
        populations: list[Any] = [model for model in self.models if hasattr(model, "population")]
        added = [model.codes(schema, dataset.hierarchies) for model in populations]
        lengths = [len(table), *map(len, added)]

        def extended(column: IntArray, *more: IntArray) -> IntArray:
            """Return a column of the records, extended by the column of each population or by zeros."""
            parts = more or tuple(np.zeros(length, dtype=np.int64) for length in lengths[1:])
            return np.concatenate([column, *parts]) if added else column

        columns = [extended(dataset.codes[name], *(part[:, a] for part in added)) for a, name in enumerate(names)]
        counted = {
            i: tally(model, table[model.sensitive], schema[model.sensitive])
            for i, model in enumerate(self.models)
            if model.sensitive is not None
        }
        # There is one column for each sensitive attribute, however many models use it.
        marks = {self.models[i].sensitive: extended(column) for i, (column, _) in counted.items()}
        marks |= {name: extended(encode_values(table[name])[0]) for name in extra}
        source = np.repeat(np.arange(len(lengths)), lengths) if added else np.zeros(0, dtype=np.int64)
        keyed = dataset.people is not None
        every = [*columns, *marks.values(), *([source] if added else []), *([dataset.people] if keyed else [])]
        first: IntArray = np.arange(len(every[0]))
        index = first
        if not (alone or added or marks or keyed):
            first, index = dataset.alike
        elif not alone:
            first, index = group_codes(every, [int(column.max()) + 1 for column in every])
        self.codes = np.column_stack([column[first] for column in columns]).astype(np.int32)
        self.index = index[: len(table)]
        ones = (np.ones(length, dtype=np.int64) for length in lengths[1:])
        times = None if dataset.times is None else extended(dataset.times, *ones)
        amounts = count_people_by_group(index, times=times)
        origin = source[first] if added else np.zeros(len(first), dtype=np.int64)
        self.people = np.where(origin == 0, amounts, 0)
        self.persons = dataset.people[first] if keyed else None
        self.values = {name: marks[name][first] for name in extra}
        self.tallies: list[Tally] = []
        for i, model in enumerate(self.models):
            if model in populations:
                its = origin == 1 + populations.index(model)
                column, weights, width = np.where(its, 0, 1), np.where(its, amounts, self.people), 2
            elif model.sensitive is None:
                column, weights, width = np.zeros(len(first), dtype=np.int64), self.people, 1
            else:
                column, weights, width = extended(counted[i][0])[first], self.people, counted[i][1]
            self.tallies.append(Tally(model, column, width, weights, self.persons))

    @property
    def least(self) -> int:
        """Return the largest k of the models: the minimum size of a class, in people and therefore also in records."""
        return max((m.k for m in self.models if hasattr(m, "k") and not hasattr(m, "population")), default=1)

    @property
    def beyond_people(self) -> list[Tally]:
        """Return the tallies of all models except k-anonymity, which requires only a class size of `least`."""
        return [each for each in self.tallies if type(each.model) is not KAnonymity]

    @property
    def beyond_size(self) -> list[Tally]:
        """Return the tallies of models that require more than `least` records in a class.

        If people may have several records, these are all tallies.
        """
        return self.beyond_people if self.persons is None else self.tallies

    def holds(
        self, classes: IntArray, number: int, rows: Rows = slice(None), tallies: Sequence[Tally] | None = None
    ) -> BoolArray:
        """Return, as a boolean array (number,), whether each class satisfies every model.

        `classes` contains the class of each row in `rows`, from 0 to `number` - 1. `rows` contains indices of rows; by
        default, these are all rows. A class without records is never published, so such a class satisfies every model.
        """
        fine = np.bincount(classes, self.people[rows], number) == 0
        for part, counted in self._in_parts(classes, number, rows, self.tallies if tallies is None else tallies):
            fine[part] |= np.all([model.holds(*counts) for model, counts in counted] or [np.array(True)], axis=0)
        return fine

    def growing(self) -> Callable[..., bool]:
        """Return a function `grown(members, known)` that tests whether a growing class satisfies every model.

        `members` contains the rows of the class, as an integer array; the first `known` of these rows were already in
        the previous call. The function is not valid if people have several records, because counts of people then do
        not add up.
        """
        sums = [np.zeros(tally.width, dtype=np.int64) for tally in self.tallies]

        def grown(members: IntArray, known: int = 0) -> bool:
            added, kept = members[known:], True
            for each, counts in zip(self.tallies, sums, strict=True):
                counts *= known > 0
                np.add.at(counts, each.columns[added], each.weights[added])
                kept = kept and each.model.holds(counts[None], each.whole)[0]
            return kept

        return grown

    def breaking(self, classes: IntArray, number: int, rows: Rows, tallies: Sequence[Tally]) -> Array:
        """Return the minimum share of each class that is in parts violating a model, however the class is divided.

        The result is a float array (number,) with values from 0 to 1. For the arguments, see `holds`.
        """
        share = np.zeros(number)
        for part, counted in self._in_parts(classes, number, rows, tallies):
            share[part] = np.max([model.breaking(*counts) for model, counts in counted], axis=0)
        return share

    def _in_parts(
        self, classes: IntArray, number: int, rows: Rows, tallies: Sequence[Tally]
    ) -> Iterator[tuple[slice, list[tuple[PrivacyModel, tuple[IntArray, IntArray]]]]]:
        """Yield slices of the classes whose counts fit into memory, each slice with every model and its counts.

        The counts are a pair: those of the classes in the slice, and those of the whole table.
        """
        step = max(1, _CELLS // max((len(tally.whole) for tally in tallies), default=1))
        if number <= step:
            yield slice(None), [(t.model, self._counted(t, rows, classes, number)) for t in tallies]
            return
        order = stable_order(classes)
        sorted_rows = np.arange(len(self.people))[rows][order]
        classes = classes[order]
        for begin in range(0, number, step):
            part = slice(*np.searchsorted(classes, [begin, begin + step]))
            width = min(step, number - begin)
            counted = [(t.model, self._counted(t, sorted_rows[part], classes[part] - begin, width)) for t in tallies]
            yield slice(begin, begin + width), counted

    def _counted(self, tally: Tally, rows: Rows, classes: IntArray, number: int) -> tuple[IntArray, IntArray]:
        found = tally.counted(rows, classes)
        counts = tabulate(classes[found.places], found.columns, (number, found.width), found.weights)
        # A class without records would divide by zero; its result is not used.
        empty = counts.sum(axis=1) == 0
        if empty.any():
            counts[empty, 0] = 1
        return counts, tally.whole

    def refusal(self) -> str:
        """Return, in words, why a single class of all records may not be published; empty if it may be published.

        The text contains the level that all records together reach, the value that causes this level, and what the
        owner can do. A level or a value that reveals a small count is left out.
        """
        for each in self.tallies:
            counts, whole = self._counted(each, slice(None), np.zeros(len(self.people), dtype=np.int64), 1)
            if each.model.holds(counts, whole).all():
                continue
            reasons, people, place = [], counts.sum(), each.model.exposed(counts)
            if type(each.model) is KAnonymity:
                there = "fewer" if reveals_few(counts, people).any() else f"{people:,}"
                return f"k = {each.model.k:,} needs at least {each.model.k:,} people; the table has {there}. Lower k."
            # The share of members with one value reveals nothing about other values, whose counts do not matter.
            read = counts if place is None or not each.model.of_members else counts[:, place]
            if not reveals_few(read, people).any():
                reasons.append(f"they reach {each.model.level(counts, whole)[0]:.4g}")
            if place is not None and counts[0, place[0]] and not is_few(having := counts[0, place[0]]):
                value = repr(self._value(each, place[0]))
                share = "" if reveals_few(having, people) else f"{having / people:.1%} of people have {value}"
                reasons.append(share or f"the most common value is {value}")
            because = ", because ".join(reasons)
            broken = f"{str(each.model).replace('=', ' = ')}{because and f': {because}'}"
            return f"all records as one class break {broken}. Relax that model, or leave it out."
        return ""

    def _value(self, tally: Tally, column: int) -> str:
        """Return the sensitive value that a column of counts counts; the value must occur in the table."""
        row = np.flatnonzero((tally.columns == column) & (self.people > 0))[0]
        return str(self._cells[tally.model.sensitive].iloc[np.flatnonzero(self.index == row)[0]])
