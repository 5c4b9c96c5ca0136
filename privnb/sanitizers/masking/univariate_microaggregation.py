"""Averages of each number by itself, with the least loss that there is."""

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
from privnb.sanitizers.masking.microaggregation import averaged


@dataclass(frozen=True)
class UnivariateMicroaggregation(Masking):
    """Publish each number as the mean of a group of at least k neighbouring ones, each column by itself.

    Groups are the optimum: no others of k or more have a smaller sum of squared errors (see `optimal_groups`). Every
    published number is of k people or more, and yet their combination may be of one: k is promised only where the
    number is the only quasi-identifier. Means of columns stay as they were, so numbers are not rounded to a step. A
    missing number stays missing; where fewer than k of a column are missing, numbers drawn from it take their places.

    Parameters
    ----------
    k : int
        From 2 to the number of records; larger loses more.

    Source: Hansen and Mukherjee, TKDE 2003; Aggarwal and Yu 2008, section 3.3.2.
    """

    k: People = 3
    title = "Univariate microaggregation"
    letters = requires = ("k",)
    changes = "numbers"
    promises_k = False

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        eligibility.check_k(self, self.k, len(dataset))
        blocks = [(attribute.name,) for attribute in eligibility.numeric(self, dataset.schema)]
        table, facts = averaged(dataset, table, blocks, int(self.k), rng, optimal=True)
        alone = len(dataset.schema.quasi_identifiers) == 1
        return table, facts | ({"claims": (KAnonymity(self.k),)} if alone else {})
