"""A sanitizer."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from privnb import Sanitizer


@dataclass(frozen=True)
class Decades(Sanitizer):
    """Publish each numeric quasi-identifier in ranges of ten.

    Source: the clinic.
    """

    title = "Decades"
    changes = "numbers"
    global_recoding = order_invariant = True

    def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> pd.DataFrame:
        for name in dataset.schema.quasi_identifiers:
            if dataset.schema[name].numeric:
                low = table[name].to_numpy() // 10 * 10
                table[name] = [f"{number}-{number + 9}" for number in low]
        return table  # what was done to each column is inferred from it
