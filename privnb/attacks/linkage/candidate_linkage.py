"""The base class of linkage by adversaries who know how values were masked, and therefore exclude rows."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.attacks.linkage.distance_linkage import DistanceLinkage
from privnb.attacks.linkage.record_linkage import CELLS, Scored
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.validation import validated


class CandidateLinkage(DistanceLinkage):
    """An adversary who knows the masking method and its parameters, and links a person to the nearest candidate.

    A row is a candidate for a person if the method may have made the row from the person's values. The person's own row
    is always a candidate, so a person with a single candidate is re-identified with certainty. If a person has no
    candidate, the person is not in the release; the adversary then takes the nearest row. An exact column must agree.

    A subclass defines `_prepare` and `_fits`.
    """

    supported_treatments: ClassVar[tuple[str, ...]] = ("exact", "suppressed", "perturbed")

    def _learn(self, published: Published) -> Scored:
        learned = super()._learn(published)
        masked = [name for name in learned.names if name in published.treated("perturbed")]
        steps = {name: self._to_steps(published, name, learned.rows.values[:, place])
                 for place, name in enumerate(learned.names) if name in masked}  # fmt: skip
        return learned._replace(labels=self._prepare(published, steps, learned.rows.times))

    @abstractmethod
    def _prepare(self, published: Published, steps: Mapping[str, FloatArray], times: IntArray) -> dict[str, Any]:
        """Return what `_fits` reads for each masked column.

        `steps` has, for each masked column, the values of the distinct released rows as a float array (rows,): steps
        above the lowest value of the domain or positions of categories, and NaN for a missing number. `times` counts
        the rows with each of the distinct rows.
        """

    @abstractmethod
    def _fits(self, own: FloatArray, prepared: Any) -> BoolArray:
        """Return whether the method may change each known value into the value of each row: array (people, rows).

        `own` has the steps of the known values as a float array (people, 1), and NaN for a missing number.
        """

    @validated
    def count_candidates(self, known: pd.DataFrame) -> IntArray:
        """Return the number of candidate rows of each person, as an integer array (m,)."""
        found = np.zeros(len(known), dtype=np.int64)
        for people, group, candidates in self._every_candidate(known):
            found[people] = (candidates @ self.learned.rows.times)[group]
        return found

    @validated
    def has_candidate(self, known: pd.DataFrame, rows: IntArray) -> BoolArray:
        """Return, for the evaluator, whether the row in `rows` is a candidate of each person: boolean array (m,)."""
        found = np.zeros(len(known), dtype=bool)
        for people, group, candidates in self._every_candidate(known):
            found[people] = candidates[group, self.learned.rows.index[rows[people]]]
        return found

    def _every_candidate(self, known: pd.DataFrame) -> Iterator[tuple[IntArray, IntArray, BoolArray]]:
        """Yield people (positions in `known`), the group of each person, and the candidates of each group.

        The candidates are a boolean array (groups, distinct rows).
        """
        everyone, size = self._people(known), max(1, CELLS // len(self.learned.rows.values))
        for start in range(0, len(everyone.values), size):
            people = np.flatnonzero((everyone.index >= start) & (everyone.index < start + size))
            yield people, everyone.index[people] - start, self._candidates(everyone.values[start : start + size])

    def _candidates(self, people: FloatArray) -> BoolArray:
        rows = self.learned.rows.values
        found = np.ones((len(people), len(rows)), dtype=bool)
        for place, name in enumerate(self.learned.names):
            own = people[:, place, None]
            if name in self.learned.labels:
                found &= self._fits(self._to_steps(self.published, name, own), self.learned.labels[name])
            else:
                found &= own == rows[:, place]
        return found

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        near = super()._scores(people, drawn)
        return near - ~self._candidates(people) * (1 + np.ptp(near, axis=1, keepdims=True))

    def _to_steps(self, published: Published, name: str, points: FloatArray) -> FloatArray:
        """Return the steps above the lowest value, with NaN for missing numbers; positions of categories stay."""
        if not published.schema[name].numeric:
            return points
        domain = published.schema[name].numbers
        return np.where(points > domain.high + domain.width / 2, np.nan, (points - domain.low) / domain.step)
