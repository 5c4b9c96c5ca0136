"""Recovery from a rotation by people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import undo_rotation
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownRotation(Unmixing[Places]):
    """Rotate all rows by a rotation that maps the known rows of some people to the known records of these people.

    If the known people have as many linearly independent records as a record has numbers, and if one more person is
    known in the case of a shift, the rotation is unique, and the attack recovers every record. With fewer people, many
    rotations are possible, and the attack draws one of them at random. Even in this case, the attack recovers the
    records of outliers and of people near the span of the known people.

    Parameters
    ----------
    people : int
        The number of known people, at least 1.

    Source: Liu, Giannella, Kargupta, "An Attacker's View of Distance Preserving Maps for Privacy Preserving Data
    Mining", PKDD 2006; Aggarwal and Yu 2008, sections 7.5.3 and 15.4.1.
    """

    people: Annotated[int, at_least(1)] = 4
    title = "rotation by known pairs"
    knows = Pairs
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> Places:
        return people

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return undo_rotation(*self.learned.solution, rng)(seen)
