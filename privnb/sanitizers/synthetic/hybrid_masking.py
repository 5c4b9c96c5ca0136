"""Hybrid masking: numbers between those of a record and those of the nearest synthetic record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.sanitizers.algorithms.linear import standardize
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import check_records, require_numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, read_numbers
from privnb.sanitizers.synthetic.latin_hypercube import invent_records


def _share(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 <= value < 1):
        raise UsageError(
            f"{name} must be a number from 0 to below 1, because 1 would mask nothing; got "
            f"{expect.describe_value(value)}."
        )


@dataclass(frozen=True)
class HybridMasking(Masking):
    """Move each record's numeric quasi-identifiers towards those of the nearest synthetic record.

    The synthetic records come from a Latin hypercube. A record x is replaced by a x + (1 - a) s, where s is the
    synthetic record that is nearest to x in standard scores. If all numbers are above 0, the formula x^a s^(1 - a) is
    also possible. Either result is rounded to the nearest step of the public domain. Other columns stay unchanged. Each
    row still belongs to its record; the larger the share, the more the row resembles the record. The release promises
    nothing.

    Parameters
    ----------
    share : float
        The weight a of the record's own number, from 0 to below 1; with 1, the release would be the original.
    how : str
        "sum" for the first formula, or "product" for the second.

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
        names = [each.name for each in require_numeric(self, schema)]
        check_records(self, dataset, len(names) + 2, f"more than its {len(names)} correlated columns")
        own = read_numbers(self, schema, table, names)
        low = [name for name, values in zip(names, own.T, strict=True) if values.min() <= 0]
        if low and self.how == "product":
            raise SanitizationError(
                f"{self!r}: the product needs numbers above 0, and {join_names(low)} has other numbers. Try how='sum'."
            )
        synthetic = np.column_stack([*invent_records(schema, names, own, rng).values()]).astype(float)
        scores, means, deviations = standardize(own)
        nearest = synthetic[KDTree((synthetic - means) / deviations).query(scores)[1]]
        if self.how == "sum":
            mixed = self.share * own + (1 - self.share) * nearest
        else:
            mixed = own**self.share * nearest ** (1 - self.share)
        for name, values in zip(names, mixed.T, strict=True):
            table[name] = schema[name].numbers.rounded(pd.Series(values, index=table.index))
        return table, {"perturbed": tuple(names)}
