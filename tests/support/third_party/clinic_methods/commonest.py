"""An attack."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb import Attack


@dataclass(frozen=True)
class Commonest(Attack[dict[str, str]]):
    """An adversary who knows one column of a person guesses the most common value in rows that show the same."""

    target: str
    knows: str
    title = "the most common value"
    supported_treatments = ("exact", "generalized", "suppressed")

    @classmethod
    def examples(cls, schema: Any) -> list[Self]:
        return [cls(schema.sensitive[0], schema.quasi_identifiers[0])]

    def _learn(self, published: Any) -> dict[str, str]:
        rows = published.table.astype(str)
        return rows.groupby(self.knows)[self.target].agg(lambda values: values.mode()[0]).to_dict()

    def predict(self, known: pd.DataFrame) -> np.ndarray:
        guesses = known[self.knows].astype(str).map(self.learned)
        return guesses.fillna(self.baseline(known)[0]).to_numpy(dtype=object)

    def baseline(self, known: pd.DataFrame) -> np.ndarray:
        return np.full(len(known), self.published.table[self.target].mode()[0], dtype=object)

    def truth(self, dataset: Any) -> np.ndarray:
        return dataset.table[self.target].to_numpy()
