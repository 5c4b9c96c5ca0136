"""Microaggregation of each numeric attribute separately, with the least possible loss."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.anonymity import People
from privnb.runtime.lazy import pd
from privnb.sanitizers import eligibility
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.masking.base import Masking
from privnb.sanitizers.masking.microaggregation import average_groups


@dataclass(frozen=True)
class UnivariateMicroaggregation(Masking):
    """Replace each number with the mean of a group of at least k neighboring values of its column.

    Groups are optimal: no other groups of at least k values have a smaller sum of squared errors (see
    `find_optimal_groups`). At least k people share every published number, but a combination of numbers may be unique.
    The release therefore claims k-anonymity only if there is a single quasi-identifier. Means of columns stay
    unchanged, so numbers are not rounded to a step. A missing number stays missing; if fewer than k numbers of a column
    are missing, these missing numbers are replaced by numbers drawn from the column.

    Parameters
    ----------
    k : int
        The minimum size of a group, from 2 to the number of records; a larger k loses more information.

    Source: Hansen and Mukherjee, TKDE 2003; Aggarwal and Yu 2008, section 3.3.2.
    """

    k: People = 3
    title = "Univariate microaggregation"
    letters = requires = ("k",)
    changes = "numbers"
    promises_k = False

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        eligibility.check_records_for_k(self, self.k, len(dataset))
        blocks = [(attribute.name,) for attribute in eligibility.require_numeric(self, dataset.schema)]
        table, facts = average_groups(dataset, table, blocks, int(self.k), rng, optimal=True)
        alone = len(dataset.schema.quasi_identifiers) == 1
        return table, facts | ({"claims": (KAnonymity(self.k),)} if alone else {})
