"""One-to-one linkage of a whole file of people, which links different people to different rows."""

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

MAX_MATCHED = 5000  # maximum number of people and of rows at once: their scores are a matrix of 200 MB


@dataclass(frozen=True)
class OneToOne(RecordLinkage[ScoredLinkage]):
    """Link each of many people to a different row, so that the total score is as large as possible.

    The scores are those of another attack, and the attack solves the assignment problem for these scores. If several
    assignments have the largest sum, the order of the rows decides; this order is random.

    Parameters
    ----------
    by : ScoredLinkage
        The attack that scores a row for a person and states the known columns.

    Raises
    ------
    Unreadable
        If there are more than 5,000 rows or people. Attack a sample instead.

    Source: Aggarwal and Yu 2008, section 8.2.1 (linear sum assignment of distances); Jaro, "Advances in record-linkage
    methodology", JASA 84, 1989 (linear sum assignment of weights).
    """

    by: ScoredLinkage = DistanceLinkage()  # noqa: RUF009 - it is immutable
    supported_treatments = ScoredLinkage.supported_treatments

    def __post_init__(self) -> None:
        Validated.__post_init__(self)  # `by` has checked the known columns

    @property
    def called(self) -> str:
        """Return the name of the attack in results."""
        return f"{self.by.called}, one to one"

    @property
    def known(self) -> Columns:  # type: ignore[override] # not a parameter
        """Return the columns that the adversary of the attack `by` knows."""
        return self.by.known

    def _learn(self, published: Published) -> ScoredLinkage:
        self._check_size("rows", len(published.table))
        return self.by.fit(published)

    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return 1 for each person whom `predict` links to the row in `rows`, otherwise 0, as a float array (m,)."""
        return (self.predict(known) == rows).astype(float)

    @validated
    def predict(self, known: pd.DataFrame) -> IntArray:
        """Return a different published row for each known person, or -1 if no row is left, as an integer array (m,).

        `known`: DataFrame of m people with the columns that the adversary knows.
        """
        fitted = self.learned
        self._check_size("people", len(known))
        chosen = np.full(len(known), -1)
        people, rows = linear_sum_assignment(fitted.scores(known), maximize=True)
        chosen[people] = rows
        return chosen

    def _check_size(self, what: str, number: int) -> None:
        if number > MAX_MATCHED:
            raise Unreadable(
                f"{self!r} can match at most {MAX_MATCHED:,} {what}; got {number:,}. Attack the release of a random "
                "sample."
            )
