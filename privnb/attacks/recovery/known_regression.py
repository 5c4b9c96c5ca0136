"""Recovery from a hidden matrix by regression over people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.unmixing import Map, fit_map
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownRegression(Unmapping):
    """Estimate the matrix and the shift by least squares over people with known records and rows, and invert both.

    The attack needs at least as many known people with linearly independent records as a record has numbers. The attack
    can then estimate any matrix, even a matrix that is not a rotation, and even under noise. Noise makes the estimate
    less accurate, and more people make the estimate more accurate. If there are fewer released columns than numbers in
    a record, the attack recovers only the part of a record that these columns contain.

    Parameters
    ----------
    people : int
        The number of known people, at least 1.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    sections 7.5.3 and 15.4.1.
    """

    people: Annotated[int, at_least(1)] = 20
    title = "regression on known pairs"
    knows = Pairs

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        try:
            return fit_map(people.known, people.theirs)
        except ValueError as error:
            raise Unreadable(f"{self!r}: {error} Raise `people`.") from None
