"""A secret matrix undone by people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.unmixing import Map, likeliest, regressed, turned_back
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmapping, Unmixing
from privnb.microdata.treatment import Unreadable
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
