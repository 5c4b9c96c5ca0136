"""A random projection undone by people whose records and rows are known: the likeliest records."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import likeliest
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownProjection(Unmixing[Places]):
    """Somebody who knows some people's records and rows takes for each row the likeliest record, of a Gaussian matrix.

    A row that is a sum of known rows was made from the same sum of their records, which is exact. Of any other one the
    rest tells only how long what is missing is, not where it points: one direction is drawn. More released columns tell
    its length better.

    Parameters
    ----------
    people : int
        How many are known, from 1.

    Source: Liu, "Multiplicative Data Perturbation for Privacy Preserving Data Mining", thesis, UMBC 2007; Aggarwal and
    Yu 2008, section 15.4.1, Eq. 15.8.
    """

    people: Annotated[int, at_least(1)] = 2
    title = "projection from known pairs"
    knows = Pairs

    def _solved(self, seen: FloatArray, people: Places) -> Places:
        return people

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return likeliest(*self.learned.solution, seen, rng)
