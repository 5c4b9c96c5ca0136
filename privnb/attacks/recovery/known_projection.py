"""Recovery of the most likely records from a random projection, given the records and rows of some people."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import undo_projection
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownProjection(Unmixing[Places]):
    """Guess the most likely record of each row under a Gaussian matrix, given the records and rows of some people.

    If a row is a linear combination of known rows, the record of the row is exactly the same combination of the known
    records. Any other row has a remainder that is not such a combination. The remainder shows the length of the missing
    part of the record but not the direction of this part, so the attack draws the direction at random. With more
    released columns, the length is known more precisely.

    Parameters
    ----------
    people : int
        The number of known people, at least 1.

    Source: Liu, "Multiplicative Data Perturbation for Privacy Preserving Data Mining", thesis, UMBC 2007; Aggarwal and
    Yu 2008, section 15.4.1, Eq. 15.8.
    """

    people: Annotated[int, at_least(1)] = 2
    title = "projection from known pairs"
    knows = Pairs

    def _solved(self, seen: FloatArray, people: Places) -> Places:
        return people

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return undo_projection(*self.learned.solution, seen, rng)
