"""A secret matrix found by regression over people whose records and rows are known."""

from dataclasses import dataclass

from privnb.attacks.algorithms.unmixing import regressed
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect


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

    people: int = 20
    title = "regression on known pairs"
    knows = Pairs

    def __post_init__(self):
        expect.whole("people", self.people, 1)

    def _solved(self, seen, known, theirs):
        try:
            return {"_map": regressed(known, theirs)}
        except ValueError as error:
            raise Unreadable(f"{self!r}: {error} Raise people.") from None
