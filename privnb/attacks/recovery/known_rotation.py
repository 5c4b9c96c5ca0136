"""A rotation turned back by people whose records and rows are known."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.unmixing import breach_probability, shifted, spanned, turned_back
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Positive, at_least, validated


@dataclass(frozen=True)
class KnownRotation(Unmixing[Places]):
    """Somebody who knows some people's records and rows turns all rows by a rotation that takes these where they were.

    As many independent people as there are numbers, one more where rows were shifted too, leave one rotation: every
    record is recovered. Fewer leave many, of which one is drawn. It still recovers who lies near what the known people
    span, or far out compared with that: `chance` says how likely, for each row.

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

    @validated
    def chance(self, known: pd.DataFrame, within: Positive) -> FloatArray:
        """Return how likely the guess for each released row is near: its distance from the record at most `within`
        times the record's from the middle of all domains, or from the mean of the known people where rows were shifted.

        It follows from the rows and the known people, whatever the records are: the adversary knows it, too. Distances
        are in widths of the domains.

        Parameters
        ----------
        known : DataFrame
            m released rows.
        within : float
            Above 0: .1 is a tenth.

        Returns
        -------
        float array (m,)
            0 to 1; lower protects more. Where two directions are free it is Eq. 15.6 of Aggarwal and Yu 2008, which is
            printed without that condition; see `algorithms.unmixing.breach_probability`.
        """
        seen = self._seen(self._rows(known))
        before, after = self.learned.solution
        centre = after.mean(axis=0) * shifted(before, after)
        basis = spanned(after - centre)
        apart = seen - centre
        distance = np.linalg.norm(apart - apart @ basis @ basis.T, axis=1)
        free = seen.shape[1] - basis.shape[1]
        return breach_probability(np.linalg.norm(apart, axis=1), distance, free, within)
