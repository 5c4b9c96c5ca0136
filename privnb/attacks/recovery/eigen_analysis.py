"""A rotation found from a sample of the population: principal axes turn with the records."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.unmixing import Map, eigen_matched
from privnb.attacks.recovery.recovery_knowledge import Sample
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class EigenAnalysis(Unmapping):
    """Somebody who has a sample of the population turns the release until its principal axes are the sample's.

    A rotation turns the axes along which records vary, and leaves how much they vary along each. Which end of an axis
    is which shows where records lie unevenly along it. Axes along which they vary alike cannot be distinguished, and
    after a matrix that is no rotation there are none to be found.

    Parameters
    ----------
    people : int
        How many are in the sample, from 2.

    Source: Liu, Giannella, Kargupta, "An Attacker's View of Distance Preserving Maps for Privacy Preserving Data
    Mining", PKDD 2006; Aggarwal and Yu 2008, section 15.4.2.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "principal axes of a sample"
    knows = Sample
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        return eigen_matched(people.known, seen)
