"""A rotation turned back by people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import turned_back
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownRotation(Unmixing[Places]):
    """Somebody who knows some people's records and rows turns all rows by a rotation that takes these where they were.

    As many independent people as there are numbers, one more where rows were shifted too, leave one rotation: every
    record is recovered. Fewer leave many, of which one is drawn. It still recovers who lies near what the known people
    span, or far out compared with that.

    Parameters
    ----------
    people : int
        How many are known, from 1.

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
        return turned_back(*self.learned.solution, rng)(seen)
