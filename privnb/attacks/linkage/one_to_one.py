"""Everybody has one row, and no row is two people's: a whole file of people is linked at once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from privnb.attacks.base import Columns
from privnb.attacks.linkage.distance_linkage import DistanceLinkage
from privnb.attacks.linkage.record_linkage import RecordLinkage, ScoredLinkage
from privnb.microdata.release import Published
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Validated, validated

MOST = 5000  # people, or rows, that are matched at once: each with each is a matrix of 200 MB


@dataclass(frozen=True)
class OneToOne(RecordLinkage[ScoredLinkage]):
    """Somebody knows some columns of many people, and gives each a row of their own so that all together fit best.

    The sum of the scores of another attack is as large as can be (the assignment problem). Where several assignments
    are best, the order of the rows decides, which is random.

    Parameters
    ----------
    by : ScoredLinkage
        What scores a row for a person, and what is known.

    Raises
    ------
    Unreadable
        For a table of more than 5,000 rows or people: attack a sample.

    Source: Aggarwal and Yu 2008, section 8.2.1 (linear sum assignment of distances); Jaro, "Advances in record-linkage
    methodology", JASA 84, 1989 (of weights).
    """

    by: ScoredLinkage = DistanceLinkage()  # noqa: RUF009 - it is as fixed as a number
    supported_treatments = ScoredLinkage.supported_treatments

    def __post_init__(self) -> None:
        Validated.__post_init__(self)  # what is known is of `by`, which checked it

    @property
    def called(self) -> str:
        return f"{self.by.called}, one to one"

    @property
    def known(self) -> Columns:  # type: ignore[override] # no parameter of its own
        """The columns that the adversary knows, of `by`."""
        return self.by.known

    def _learn(self, published: Published) -> ScoredLinkage:
        self._check_size("rows", len(published.table))
        return self.by.fit(published)

    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        return (self.predict(known) == rows).astype(float)

    @validated
    def predict(self, known: pd.DataFrame) -> IntArray:
        """Return the published row of each known person, no row twice: integer array (m,); -1 for whom there is none
        left.

        `known`: DataFrame of m people with the columns that the adversary knows.
        """
        fitted = self.learned
        self._check_size("people", len(known))
        chosen = np.full(len(known), -1)
        people, rows = linear_sum_assignment(fitted.scores(known), maximize=True)
        chosen[people] = rows
        return chosen

    def _check_size(self, what: str, number: int) -> None:
        if number > MOST:
            raise Unreadable(
                f"{self!r} matches all with all, at most {MOST:,} {what}; there are {number:,}. Attack the release "
                "of a random sample."
            )
