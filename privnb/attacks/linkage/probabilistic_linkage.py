"""Probabilistic record linkage, by the frequencies with which columns agree in true pairs and in other pairs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privnb.attacks.base import Columns
from privnb.attacks.linkage.distance_linkage import column_deviations
from privnb.attacks.linkage.record_linkage import CELLS, Distinct, Scored, ScoredLinkage
from privnb.attacks.linkage.released_cells import ReleasedColumn
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.validation import Positive

ROUNDS, SETTLED, EDGE = 500, 1e-9, 1e-6  # maximum steps of EM; smallest change; smallest distance from 0 and 1


@dataclass(frozen=True)
class ProbabilisticLinkage(ScoredLinkage):
    """Link each of many people to the row with the largest total weight of its agreements with the person.

    A person and a row agree in some columns. The probability m that a column agrees in a true pair and the probability
    u that the column agrees in another pair are unknown. EM estimates both probabilities from the frequency of each
    pattern of agreements, on the assumption that each person has one row. A column that agrees has the weight ln(m /
    u); any other column has the weight ln((1 - m) / (1 - u)). A label agrees with a value that it covers.

    The model is that of Fellegi and Sunter.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.
    within : float
        The maximum difference between two numbers that agree, in standard deviations of the released column; above 0.

    Source: Fellegi and Sunter, "A theory for record linkage", JASA 64, 1969; Jaro, JASA 84, 1989 (EM); Aggarwal and Yu
    2008, section 3.6.1.
    """

    known: Columns = None
    within: Positive = 0.25
    title = "probabilistic linkage"
    supported_treatments: ClassVar[tuple[str, ...]] = ("exact", "generalized", "suppressed", "noisy", "perturbed")

    def _learn(self, published: Published) -> Scored:
        names = [name for name in self._known_names(published) if name not in published.treated("suppressed")]
        labels = {
            name: ReleasedColumn.of(published, name) for name in names if name in published.treated("generalized")
        }
        columns = {
            name: labels[name].codes.astype(float)
            if name in labels
            else self._points(published, name, published.table[name])
            for name in names
        }
        columns = {name: column for name, column in columns.items() if np.ptp(column)}
        numeric = np.array([published.schema[name].numeric for name in columns], dtype=bool)
        return Scored(tuple(columns), Distinct(columns, len(published.table)), numeric, labels)

    def _against(self, people: Distinct) -> FloatArray:
        """Return the weight of each pattern of agreements: float array (patterns,)."""
        names, rows = self.learned.names, self.learned.rows
        times, size = np.zeros(2 ** len(names)), max(1, CELLS // len(rows.values))
        for start in range(0, len(people.values), size):
            patterns = self._patterns(people.values[start : start + size])
            pairs = people.times[start : start + size, None] * rows.times
            times += np.bincount(patterns.ravel(), pairs.ravel(), len(times))
        agree = np.arange(len(times))[:, None] >> np.arange(len(names)) & 1
        true, other = em(agree, times, 1 / rows.times.sum())
        return (agree * np.log(true / other) + (1 - agree) * np.log((1 - true) / (1 - other))).sum(axis=1)

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        return drawn[self._patterns(people)]

    def _patterns(self, people: FloatArray) -> IntArray:
        names, rows, numbers, labels = self.learned
        found = np.zeros((len(people), len(rows.values)), dtype=np.int64)
        near = self.within * column_deviations(rows)
        for place, (name, numeric) in enumerate(zip(names, numbers, strict=True)):
            if name in labels:
                known = people[:, place]
                known = np.where(known > self.published.schema[name].numbers.high, np.nan, known) if numeric else known
                covered = labels[name].shares_covered(known) > 0
                found |= covered[:, rows.values[:, place].astype(np.int64)].astype(np.int64) << place
                continue
            apart = np.abs(people[:, place, None] - rows.values[:, place])
            found |= (apart <= near[place] * numeric) << place
        return found


def em(agree: IntArray, times: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities that each column agrees in true pairs and in other pairs, as estimated by EM.

    Parameters
    ----------
    agree : integer array (patterns, columns)
        1 if a column agrees.
    times : float array (patterns,)
        The number of pairs with each pattern.
    share : float
        The share of true pairs.

    Returns
    -------
    true, other : float array (columns,)

    Examples
    --------
    >>> agree = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> right, wrong = np.array([0.81, 0.09, 0.09, 0.01])[::-1], np.array([0.64, 0.16, 0.16, 0.04])
    >>> true, other = em(agree, 1000 * (0.1 * right + 0.9 * wrong), 0.1)
    >>> true.round(3), other.round(3)
    (array([0.9, 0.9]), array([0.2, 0.2]))
    """
    total = times.sum()
    true, other = np.full(agree.shape[1], 0.9), np.clip(times @ agree / total, EDGE, 1 - EDGE)
    for _ in range(ROUNDS):
        of_true, of_other = (np.where(agree, p, 1 - p).prod(axis=1) for p in (true, other))
        weight = share * of_true / (share * of_true + (1 - share) * of_other)
        before = true, other
        true, other = (np.clip(w * times @ agree / (w * times).sum(), EDGE, 1 - EDGE) for w in (weight, 1 - weight))
        if max(np.abs(true - before[0]).max(initial=0), np.abs(other - before[1]).max(initial=0)) < SETTLED:
            break
    return true, other
