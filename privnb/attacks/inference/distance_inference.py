"""The rows of known records found by their distances, and a rotation turned back by them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.distances import images
from privnb.attacks.algorithms.unmixing import turned_back
from privnb.attacks.recovery.recovery_knowledge import Records
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Positive, at_least


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
