"""Privacy models bound to a table: which groups of its records may be published as one class each.

Algorithms work on the distinct rows of a table, not on its records; a requirement says what each model counts there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from privnb.microdata.counts import coded, distinct_codes, people_in, stable_order, tabulate
from privnb.microdata.withholding import few, tells
from privnb.privacy_models import KAnonymity, PrivacyModel, tally
from privnb.privacy_models.base import Tally
from privnb.runtime.arrays import Array, BoolArray, IntArray

Rows = slice | IntArray | BoolArray
_CELLS = 2**24  # of a table of counts at a time


class Requirement:
    """That every class keeps all of `models`, for the records of a dataset.

    `codes`: integer array (m, attributes), the positions of the m distinct rows on their quasi-identifiers' lines;
    rows are equal in every attribute that a model counts. `people`: integer array (m,), the records of each row; 0
    where only a model's population has it. `persons`: integer array (m,), whose the records of each row are, where the
    dataset has a key of people; None without. `index`: integer array (n,), the row of each record. `extra`: attributes
    whose values rows must not mix either; `values[name]` holds their codes by row. `alone`: every record is a row of
    its own, for algorithms that tell equal records apart.
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
            """A column of the records with one of each population below it, zeros where a population has none."""
            parts = more or tuple(np.zeros(length, dtype=np.int64) for length in lengths[1:])
            return np.concatenate([column, *parts]) if added else column

        columns = [extended(dataset.codes[name], *(part[:, a] for part in added)) for a, name in enumerate(names)]
        counted = {
            i: tally(model, table[model.sensitive], schema[model.sensitive])
            for i, model in enumerate(self.models)
            if model.sensitive is not None
        }
        # One column for each sensitive attribute, whichever of the models read it.
        marks = {self.models[i].sensitive: extended(column) for i, (column, _) in counted.items()}
        marks |= {name: extended(coded(table[name])[0]) for name in extra}
        source = np.repeat(np.arange(len(lengths)), lengths) if added else np.zeros(0, dtype=np.int64)
        keyed = dataset.people is not None
        every = [*columns, *marks.values(), *([source] if added else []), *([dataset.people] if keyed else [])]
        first: IntArray = np.arange(len(every[0]))
        index = first
        if not (alone or added or marks or keyed):
            first, index = dataset.alike
        elif not alone:
            first, index = distinct_codes(every, [int(column.max()) + 1 for column in every])
        self.codes = np.column_stack([column[first] for column in columns]).astype(np.int32)
        self.index = index[: len(table)]
        ones = (np.ones(length, dtype=np.int64) for length in lengths[1:])
        times = None if dataset.times is None else extended(dataset.times, *ones)
        amounts = people_in(index, times=times)
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
        """The fewest people, and so the fewest records, that a class may have, as far as the models' k says."""
        return max((m.k for m in self.models if hasattr(m, "k") and not hasattr(m, "population")), default=1)

    @property
    def beyond_people(self) -> list[Tally]:
        """The tallies of models that ask for more than the number of people that `least` gives."""
        return [each for each in self.tallies if type(each.model) is not KAnonymity]

    @property
    def beyond_size(self) -> list[Tally]:
        """The tallies of models that ask for more than so many records: of people with several, also for people."""
        return self.beyond_people if self.persons is None else self.tallies

    def holds(
        self, classes: IntArray, number: int, rows: Rows = slice(None), tallies: Sequence[Tally] | None = None
    ) -> BoolArray:
        """Whether each class keeps every model: boolean array (number,).

        `classes`: integer array, the class of each of `rows` (indices; all, without), from 0 to below `number`. A
        class without a record is never published, so it holds.
        """
        fine = np.bincount(classes, self.people[rows], number) == 0
        for part, counted in self._in_parts(classes, number, rows, self.tallies if tallies is None else tallies):
            fine[part] |= np.all([model.holds(*counts) for model, counts in counted] or [np.array(True)], axis=0)
        return fine

    def growing(self) -> Callable[..., bool]:
        """What says whether a class that grows keeps every model: `grown(members, known)`, bool.

        `members`: integer array, its rows, of which the first `known` are those of the question before. Where a person
        has several records the counts do not add up.
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
        """The least share of each class that stands in parts which break one of the models, however the class is
        divided: float array (number,), 0 to 1. Arguments as of `holds`.
        """
        share = np.zeros(number)
        for part, counted in self._in_parts(classes, number, rows, tallies):
            share[part] = np.max([model.breaking(*counts) for model, counts in counted], axis=0)
        return share

    def _in_parts(
        self, classes: IntArray, number: int, rows: Rows, tallies: Sequence[Tally]
    ) -> Iterator[tuple[slice, list[tuple[PrivacyModel, tuple[IntArray, IntArray]]]]]:
        """Yield as many of the classes at a time as their counts fit into memory: which, a slice, and each tally's
        model with the counts in them and in the whole.
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
        # A class without records would divide by zero; what it gives is not read.
        empty = counts.sum(axis=1) == 0
        if empty.any():
            counts[empty, 0] = 1
        return counts, tally.whole

    def refusal(self) -> str:
        """Return why not even one class of all records may be published, in words, for a report too: the level that
        they reach and the value that is why. Each is left out where it tells of few people. Empty where it may.
        """
        for each in self.tallies:
            counts, whole = self._counted(each, slice(None), np.zeros(len(self.people), dtype=np.int64), 1)
            if each.model.holds(counts, whole).all():
                continue
            reasons, people, place = [], counts.sum(), each.model.exposed(counts)
            # The share of members who have one value says nothing of the others, whose counts are not looked at.
            read = counts if place is None or not each.model.of_members else counts[:, place]
            if not tells(read, people).any():
                reasons.append(f"they reach {each.model.level(counts, whole)[0]:.4g}")
            if place is not None and counts[0, place[0]] and not few(having := counts[0, place[0]]):
                value = repr(self._value(each, place[0]))
                share = "" if tells(having, people) else f"{having / people:.1%} of people have {value}"
                reasons.append(share or f"the commonest value is {value}")
            said = ", since ".join(reasons)
            return f"all records as one class break {str(each.model).replace('=', ' = ')}{said and f': {said}'}"
        return ""

    def _value(self, tally: Tally, column: int) -> str:
        """The value that a column of counts stands for, of one that occurs."""
        row = np.flatnonzero((tally.columns == column) & (self.people > 0))[0]
        return str(self._cells[tally.model.sensitive].iloc[np.flatnonzero(self.index == row)[0]])
