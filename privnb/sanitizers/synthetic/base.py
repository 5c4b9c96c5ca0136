"""What the sanitizers have in common that publish invented records, of which none is anybody's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import pandas as pd
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Rows
from privnb.runtime.arrays import Array, FloatArray
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.masking.base import numbered


class Synthetic(Sanitizer):
    """A sanitizer whose rows are nobody's, drawn from what it learned of the numbers and categories of all columns.

    Missing numbers are drawn from their columns before, and the provenance counts them. A release takes no row from a
    record, so that nobody has one. A subclass gives `_check` and `_invented`.
    """

    treatment = "synthetic"
    randomized = True
    coded = True
    missing_numbers = "filled"

    def _numbers_read(self, schema: Schema) -> list[str]:
        return [name for name in schema.published if schema[name].numeric]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = list(table)
        self._check(dataset, names)
        values = numbered(self, dataset.schema, table, names)
        columns, facts = self._invented(dataset.schema, names, values, rng)
        return pd.DataFrame(columns), {"rows": Rows.NOBODY} | facts

    @abstractmethod
    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        """Raise SanitizationError for a table that the method cannot learn from."""

    @abstractmethod
    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: Generator
    ) -> tuple[dict[str, Array], Facts]:
        """Return the published columns by name, arrays (m,), and further facts; `values`: as `numbered` gives them."""
