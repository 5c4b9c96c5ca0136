"""The rows of known records found by their distances, and a rotation turned back by them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import turned_back
from privnb.attacks.recovery.recovery_knowledge import Records
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Positive, at_least

NODES = 20_000  # rows that are tried, at most; each is compared with all others


@dataclass(frozen=True)
class DistanceInference(Unmixing[Places]):
    """Somebody who knows some people's records, but not their rows, finds these by how far they lie apart.

    A rotation and a shift leave all distances, so that few sets of rows lie apart as the known records do. With the
    rows they go on as `KnownRotation` does. Noise hides the distances: where no rows fit, they guess the mean of those
    whom they know. Small tables of few numbers are attacked so, as each row may have to be compared with all others.

    Parameters
    ----------
    people : int
        How many are known, from 2.
    within : float
        By how much two distances may differ that are taken for one, in widths of the domains; above 0.

    Source: Chen and Liu in Aggarwal and Yu 2008, section 7.5.3; Chen, Sun, Liu, "Towards Attack-Resilient Geometric
    Data Perturbation", SDM 2007.
    """

    people: Annotated[int, at_least(2)] = 4
    within: Positive = 1e-6
    title = "distance inference"
    knows = Records
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> Places:
        rows = images(people.known, seen, self.within)
        return people if rows is None else Places(people.known, seen[rows])  # `people` have no rows yet

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        known, theirs = self.learned.solution
        return turned_back(known, theirs, rng)(seen) if len(theirs) else np.tile(known.mean(axis=0), (len(seen), 1))


def images(known: FloatArray, seen: FloatArray, within: float) -> IntArray | None:
    """The positions of rows that lie apart as the known records do, integer array (p,); None where there are none, or
    none is found by the `NODES` rows that are tried.

    First rows that also lie as far from the origin: a rotation leaves it where it was, a shift does not. Of several
    sets of rows that fit, such as a record's that is turned into another's, the first is taken.

    Parameters
    ----------
    known : float array (p, d)
    seen : float array (n, d)
    within : float
        The most by which two distances may differ that are taken for one.

    Returns
    -------
    integer array (p,), or None
    """
    rows, first = np.unique(seen.round(9), axis=0, return_index=True)  # equal rows have equal images
    order = _far_apart(known)
    records = known[order]
    apart = np.linalg.norm(records[:, None] - records, axis=2)
    for anchored in (True, False):
        lengths = np.linalg.norm(rows, axis=1)
        fits: list[IntArray] = [
            np.flatnonzero(np.abs(lengths - np.linalg.norm(one)) <= within) if anchored else np.arange(len(rows))
            for one in records
        ]
        if (found := _search(rows, apart, fits, within)) is not None:
            return first[found][np.argsort(order)]
    return None


def _far_apart(known: FloatArray) -> IntArray:
    """An order in which each record lies as far as can be from those before it: integer array (p,)."""
    apart = np.linalg.norm(known[:, None] - known, axis=2)
    order = [int(apart.max(axis=1).argmax())]
    while len(order) < len(known):
        nearest = apart[order].min(axis=0)
        nearest[order] = -1
        order.append(int(nearest.argmax()))
    return np.array(order)


def _search(rows: FloatArray, apart: FloatArray, fits: list[IntArray], within: float) -> IntArray | None:
    """Rows of `fits`, one for each known record, that lie `apart`; depth first: integer array (p,), or None."""
    tried = 0

    def extended(chosen: list[int], left: list[IntArray]) -> list[int] | None:
        """The whole of what was begun by the rows `chosen`; `left`: which rows fit each record that is left."""
        nonlocal tried
        if not left:
            return chosen
        for row in left[0]:
            if (tried := tried + 1) > NODES:
                return None
            narrowed = [
                each[np.abs(np.linalg.norm(rows[each] - rows[row], axis=1) - distance) <= within]
                for each, distance in zip(left[1:], apart[len(chosen), len(chosen) + 1 :], strict=True)
            ]
            if all(map(len, narrowed)) and (found := extended([*chosen, row], narrowed)):
                return found
        return None

    found = extended([], fits)
    return None if found is None else np.array(found)
