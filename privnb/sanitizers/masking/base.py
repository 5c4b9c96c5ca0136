"""What the sanitizers have in common that mask values: which columns they change, and the numbers in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema, decimals
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import numeric
from privnb.sanitizers.errors import SanitizationError

Masked = tuple[Sequence[Array], Facts]  # the column of each attribute as it is published, and further facts


class Masking(Sanitizer):
    """A sanitizer that puts other values in the place of quasi-identifiers, of which none is true of its record.

    A missing number stays missing. Numbers are published as the method makes them, between two steps of the domain too,
    unless it says otherwise: rounding would add an error of its own to what it keeps.
    """

    treatment = "perturbed"
    coded = True


class NumberMasking(Masking):
    """One that changes numbers alone, and publishes categories as they are: a subclass gives `_masked`."""

    changes = "numbers"
    missing_numbers = "restored"

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = numeric(self, dataset.schema)
        found = np.column_stack([steps(attribute, table[attribute.name]) for attribute in attributes])
        columns, facts = self._masked(dataset, attributes, found, rng)
        for attribute, column in zip(attributes, columns, strict=True):
            table[attribute.name] = column
        return table, {"perturbed": [attribute.name for attribute in attributes]} | facts

    @abstractmethod
    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        """Return the column of each attribute as it is published, arrays (n,), and further facts.

        `attributes`: the numeric quasi-identifiers, in column order; `found`: the steps of their values above the
        lowest of the public domain, integer array (n, attributes).
        """


def steps(attribute: Attribute, column: pd.Series) -> IntArray:
    """How many steps above the lowest value of its domain each number of a column is: integer array (n,).

    A missing one stands one step above the highest, see `gap`.
    """
    return attribute.numbers.codes(plain(column))


def gap(attribute: Attribute, codes: IntArray) -> BoolArray:
    """Say which of the `steps` are those of missing numbers: boolean array of their shape."""
    return codes > attribute.numbers.steps


def numbers(attribute: Attribute, found: Array) -> FloatArray:
    """The numbers that lie so many steps above the lowest value of the domain, whole or not: float array (n,)."""
    domain = attribute.numbers
    return domain.low + np.asarray(found, dtype=float) * domain.step


def drawn(attributes: Sequence[Attribute], found: Array) -> list[FloatArray]:
    """As `numbers`, of what was drawn for each attribute, array (n, attributes): to a thousandth of a step, for further
    digits depend on the processor.
    """
    pairs = zip(attributes, found.T, strict=True)
    return [decimals(numbers(attribute, np.round(column, 3)), 12) for attribute, column in pairs]


def numbered(sanitizer: Sanitizer, schema: Schema, table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """The columns of a table as numbers: float array (n, d). A category is its place in its public domain, from 0.

    Raises SanitizationError, said of `sanitizer`, for a column that holds one value.
    """
    columns = []
    for name in names:
        attribute, column = schema[name], table[name]
        if attribute.numeric:
            values = plain(attribute.numbers.read(column)).to_numpy(float)
        else:
            values = attribute.categories.codes(plain(column)).astype(float)
        if not np.ptp(values):
            raise SanitizationError(
                f"{sanitizer!r}: all records have one value of '{name}'; without variance it goes with nothing. Leave "
                "the attribute out."
            )
        columns.append(values)
    return np.column_stack(columns)
