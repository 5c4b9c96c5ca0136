"""Recovery from a rotation by the distances between known records; the distances identify the rows of these records."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import undo_rotation
from privnb.attacks.recovery.recovery_knowledge import Records
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Positive, at_least

NODES = 20_000  # maximum number of rows that are tried; each row is compared with all others


@dataclass(frozen=True)
class DistanceInference(Unmixing[Places]):
    """Find the released rows of known records by the distances between the records, and undo the rotation.

    A rotation and a shift do not change distances, so only a small number of sets of rows have the same distances as
    the known records. The attack finds such a set of rows, and then undoes the rotation in the same way as
    `KnownRotation`. Noise hides the distances. If no set of rows has the same distances, the guess is the mean of the
    known records. The attack is for small tables, because it may compare each row with every other row.

    Parameters
    ----------
    people : int
        The number of known people, at least 2.
    within : float
        The maximum difference between two distances that count as equal, above 0; the unit is the width of a domain.

    Source: Chen and Liu in Aggarwal and Yu 2008, section 7.5.3; Chen, Sun, Liu, "Towards Attack-Resilient Geometric
    Data Perturbation", SDM 2007.
    """

    people: Annotated[int, at_least(2)] = 4
    within: Positive = 1e-6
    title = "distance inference"
    knows = Records
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> Places:
        rows = find_images(people.known, seen, self.within)
        return people if rows is None else Places(people.known, seen[rows])  # without images, `people` has no rows

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        known, theirs = self.learned.solution
        return undo_rotation(known, theirs, rng)(seen) if len(theirs) else np.tile(known.mean(axis=0), (len(seen), 1))


def find_images(known: FloatArray, seen: FloatArray, within: float) -> IntArray | None:
    """Return the positions of rows whose distances from each other are those of the known records: integer array (p,).

    The result is None if there are no such rows, or if the search ends after `NODES` attempts without finding them.
    Rows at the same distance from the origin are tried first, because a rotation keeps this distance, although a shift
    does not. If several sets of rows fit, the function returns the first one.

    Parameters
    ----------
    known : float array (p, d)
    seen : float array (n, d)
    within : float
        The maximum difference between two distances that count as equal.
    """
    rows, first = np.unique(seen.round(9), axis=0, return_index=True)  # equal rows have equal images
    order = _spread_order(known)
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


def _spread_order(known: FloatArray) -> IntArray:
    """Return an order of records, integer array (p,), in which each record is far from the preceding records.

    Each record has the largest possible distance to the nearest of the preceding records.
    """
    apart = np.linalg.norm(known[:, None] - known, axis=2)
    order = [int(apart.max(axis=1).argmax())]
    while len(order) < len(known):
        nearest = apart[order].min(axis=0)
        nearest[order] = -1
        order.append(int(nearest.argmax()))
    return np.array(order)


def _search(rows: FloatArray, apart: FloatArray, fits: list[IntArray], within: float) -> IntArray | None:
    """Return one row from `fits` for each known record, such that the rows have the distances `apart`, or None.

    The search is depth-first.
    """
    tried = 0

    def extend(chosen: list[int], left: list[IntArray]) -> list[int] | None:
        """Return a choice of rows that starts with `chosen`; `left` holds the rows for each further record."""
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
            if all(map(len, narrowed)) and (found := extend([*chosen, row], narrowed)):
                return found
        return None

    found = extend([], fits)
    return None if found is None else np.array(found)
