"""Numbers between a record's own and those of the made-up record that is nearest to it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.runtime import expect
from privnb.runtime.names import name_list
from privnb.sanitizers.algorithms.latin_hypercube import arranged, strata
from privnb.sanitizers.algorithms.linear import standardized
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.numbered import check_records, numbered, numeric
from privnb.sanitizers.synthetic.latin_hypercube import drawn, rank_correlation

WAYS = ("sum", "product")


@dataclass(frozen=True)
class HybridMasking(Sanitizer):
    """Move the numeric quasi-identifiers of each record towards the nearest record that a Latin hypercube made up.

    A record x and the made-up one s that is nearest to it in standard scores become a x + (1 - a) s or, of numbers
    above 0, x^a s^(1 - a); both on the nearest step of the public domain. Other columns stay. A row still is a
    record's, and the more like it the larger the share is. Nothing is promised.

    Parameters
    ----------
    share : float
        a, that of the record's own number: from 0, and below 1, which is the original.
    how : str
        "sum" or "product".

    Source: Dandekar, Domingo-Ferrer, Sebe, Inference Control in Statistical Databases, LNCS 2316, 2002; Aggarwal and Yu
    2008, section 3.5.5.
    """

    share: float = 0.5
    how: str = "sum"
    title = "Hybrid masking"
    treatment = "perturbed"
    changes = "numbers"
    randomized = True
    coded = True
    missing_numbers = "restored"

    @classmethod
    def at(cls, bounds, sensitive=None):
        return cls()

    @classmethod
    def examples(cls, schema):
        return [cls(), cls(0.2)]

    def __post_init__(self):
        if not (expect.is_number(self.share) and 0 <= self.share < 1):
            raise ValueError(
                f"share must be a number from 0 and below 1, which masks nothing; got {expect.found(self.share)}."
            )
        expect.one_of("how", self.how, WAYS)

    def _sanitize(self, dataset, table, rng):
        from scipy.spatial import KDTree

        schema, source = dataset.schema, np.random.default_rng(rng)
        names = [each.name for each in numeric(self, schema)]
        check_records(self, dataset, len(names) + 2, f"more than the {len(names)} columns that go together")
        own = numbered(self, schema, table, names)
        low = [name for name, values in zip(names, own.T, strict=True) if values.min() <= 0]
        if low and self.how == "product":
            raise SanitizationError(
                f"{self!r}: {name_list(low)} has numbers of 0 or less, which have no root. Ask for how='sum'."
            )
        made = made_up(schema, names, own, source)
        scores, means, deviations = standardized(own)
        nearest = made[KDTree((made - means) / deviations).query(scores)[1]]
        if self.how == "sum":
            mixed = self.share * own + (1 - self.share) * nearest
        else:
            mixed = own**self.share * nearest ** (1 - self.share)
        for name, values in zip(names, mixed.T, strict=True):
            table[name] = schema[name].domain.rounded(pd.Series(values, index=table.index))
        return table, {"perturbed": tuple(names)}


def made_up(schema, names, own, rng):
    """As many made-up records as there are, `own` (n, d) being theirs: float array (n, d), see `LatinHypercube`."""
    shares = arranged(strata(*own.shape, rng), rank_correlation(own), rng)
    made = [drawn(schema[name], own[:, at], shares[:, at]) for at, name in enumerate(names)]
    return np.column_stack(made).astype(float)
