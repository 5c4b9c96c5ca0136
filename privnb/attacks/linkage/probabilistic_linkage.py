"""Record linkage by agreements: which columns agree in true pairs, and which by chance, learned from the pairs."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.base import Columns
from privnb.attacks.linkage.distance_linkage import spreads
from privnb.attacks.linkage.record_linkage import CELLS, Distinct, ScoredLinkage
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.validation import Positive

ROUNDS, SETTLED, EDGE = 500, 1e-9, 1e-6  # of EM; how small a change ends it; no probability is nearer to 0 or 1


@dataclass(frozen=True)
class ProbabilisticLinkage(ScoredLinkage):
    """Somebody knows some columns of many people, and takes the row whose agreements with a person weigh most.

    Each pair of a person and a row agrees in some columns. How likely a column agrees in a true pair (m) and in another
    one (u) is not known: EM finds both from how often each pattern of agreements occurs, where one row in all is
    each person's. A column that agrees weighs ln(m / u), one that does not ln((1 - m) / (1 - u)).

    The model is that of Fellegi and Sunter. Libraries for it are made for names and addresses; the two probabilities of
    a few columns are a dozen lines.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows; None: all quasi-identifiers.
    within : float
        Numbers agree that are at most so many standard deviations of the released column apart; above 0.

    Source: Fellegi and Sunter, "A theory for record linkage", JASA 64, 1969; Jaro, JASA 84, 1989 (EM); Aggarwal and Yu
    2008, section 3.6.1.
    """

    known: Columns = None
    within: Positive = 0.25
    title = "probabilistic linkage"

    def _against(self, people: Distinct) -> FloatArray:
        """Return the weight of each pattern of agreements: float array (patterns,)."""
        names, rows, _ = self.learned
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
        _, rows, numbers = self.learned
        found = np.zeros((len(people), len(rows.values)), dtype=np.int64)
        near = self.within * spreads(rows)
        for place, numeric in enumerate(numbers):
            apart = np.abs(people[:, place, None] - rows.values[:, place])
            found |= (apart <= near[place] * numeric) << place
        return found


def em(agree: IntArray, times: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Return how likely each column agrees in true pairs, and in others: two float arrays (columns,).

    Parameters
    ----------
    agree : integer array (patterns, columns)
        1 where a column agrees.
    times : float array (patterns,)
        How many pairs have each pattern.
    share : float
        How many pairs are true, a share of all.

    Returns
    -------
    true, other : float array (columns,)
        Probabilities, which the likelihood of the patterns does not get smaller by from round to round.

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
