"""The rows of known records found by their distances, and a rotation turned back by them."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.algorithms.distances import images
from privnb.attacks.algorithms.unmixing import turned_back
from privnb.attacks.recovery.recovery_knowledge import Records
from privnb.attacks.recovery.unmixing import Unmixing
from privnb.runtime import expect


@dataclass(frozen=True)
class DistanceInference(Unmixing):
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

    people: int = 4
    within: float = 1e-6
    title = "distance inference"
    knows = Records
    square = True

    def __post_init__(self):
        expect.whole("people", self.people, 2)
        expect.positive("within", self.within)

    def _solved(self, seen, known, theirs):
        rows = images(known, seen, self.within)
        return {"_known": known, "_images": None if rows is None else seen[rows]}

    def _places(self, seen, rng):
        if self._images is None:
            return np.tile(self._known.mean(axis=0), (len(seen), 1))
        return turned_back(self._known, self._images, rng)(seen)
