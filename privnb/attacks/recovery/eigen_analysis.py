"""Recovery from a rotation by the principal axes of a sample of the population."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.unmixing import Map, match_axes
from privnb.attacks.recovery.recovery_knowledge import Sample
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class EigenAnalysis(Unmapping):
    """Rotate the release so that its principal axes match those of a sample of the population.

    A rotation turns the principal axes of the records and does not change the variances along these axes. If the
    distribution along an axis is asymmetric, it shows the sign of the axis. Axes with equal variances cannot be
    distinguished. The attack fails if the matrix is not a rotation.

    Parameters
    ----------
    people : int
        The number of people in the sample, at least 2.

    Source: Liu, Giannella, Kargupta, "An Attacker's View of Distance Preserving Maps for Privacy Preserving Data
    Mining", PKDD 2006; Aggarwal and Yu 2008, section 15.4.2.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "principal axes of a sample"
    knows = Sample
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        return match_axes(people.known, seen)
