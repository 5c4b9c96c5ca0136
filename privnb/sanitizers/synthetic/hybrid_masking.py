"""Numbers between a record's own and those of the made-up record that is nearest to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.sanitizers.algorithms.linear import standardized
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import check_records, numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, numbered
from privnb.sanitizers.synthetic.latin_hypercube import invented


def _share(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 <= value < 1):
        raise UsageError(f"{name} must be a number from 0 and below 1, which masks nothing; got {expect.found(value)}.")


@dataclass(frozen=True)
class HybridMasking(Masking):
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

    share: Annotated[float, _share] = 0.5
    how: Literal["sum", "product"] = "sum"
    title = "Hybrid masking"
    changes = "numbers"
    randomized = True
    missing_numbers = "restored"

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from scipy.spatial import KDTree

        schema = dataset.schema
        names = [each.name for each in numeric(self, schema)]
        check_records(self, dataset, len(names) + 2, f"more than the {len(names)} columns that go together")
        own = numbered(self, schema, table, names)
        low = [name for name, values in zip(names, own.T, strict=True) if values.min() <= 0]
        if low and self.how == "product":
            raise SanitizationError(
                f"{self!r}: {name_list(low)} has numbers of 0 or less, which have no root. Ask for how='sum'."
            )
        made = np.column_stack([*invented(schema, names, own, rng).values()]).astype(float)
        scores, means, deviations = standardized(own)
        nearest = made[KDTree((made - means) / deviations).query(scores)[1]]
        if self.how == "sum":
            mixed = self.share * own + (1 - self.share) * nearest
        else:
            mixed = own**self.share * nearest ** (1 - self.share)
        for name, values in zip(names, mixed.T, strict=True):
            table[name] = schema[name].numbers.rounded(pd.Series(values, index=table.index))
        return table, {"perturbed": tuple(names)}
