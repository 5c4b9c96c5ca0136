"""Base class of the sanitizers that publish invented records, which belong to nobody."""

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
from privnb.sanitizers.masking.base import read_numbers


class Synthetic(Sanitizer):
    """A sanitizer whose rows belong to nobody: they are drawn from a model of numbers and categories of all columns.

    First, missing numbers are replaced by numbers drawn from their columns, and the provenance counts the drawn
    numbers. No row of a release derives from a single record. A subclass defines `_check` and `_invented`.
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
        values = read_numbers(self, dataset.schema, table, names)
        columns, facts = self._invented(dataset.schema, names, values, rng)
        return pd.DataFrame(columns), {"rows": Rows.SYNTHETIC} | facts

    @abstractmethod
    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        """Raise SanitizationError if the method cannot learn from the table."""

    @abstractmethod
    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: Generator
    ) -> tuple[dict[str, Array], Facts]:
        """Return the published columns by name, as arrays (m,), and further facts; `values` are from `read_numbers`."""
