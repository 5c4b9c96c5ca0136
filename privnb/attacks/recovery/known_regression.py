"""A secret matrix found by regression over people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.unmixing import Map, regressed
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class KnownRegression(Unmapping):
    """Somebody who knows some people's records and rows finds matrix and shift by least squares, and inverts them.

    At least as many independent people as there are numbers are needed. Then any matrix is found, a rotation or not,
    noise or not; noise makes the estimate worse, more people better. Of fewer released columns than numbers only that
    comes back which they hold.

    Parameters
    ----------
    people : int
        How many are known, from 1.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    sections 7.5.3 and 15.4.1.
    """

    people: Annotated[int, at_least(1)] = 20
    title = "regression on known pairs"
    knows = Pairs

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        try:
            return regressed(people.known, people.theirs)
        except ValueError as error:
            raise Unreadable(f"{self!r}: {error} Raise people.") from None
