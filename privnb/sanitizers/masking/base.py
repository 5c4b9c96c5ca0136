"""Base classes of the sanitizers that mask values, and functions for the numbers that these sanitizers change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import decode_column
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema, round_binary
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import require_numeric
from privnb.sanitizers.errors import SanitizationError

Masked = tuple[Sequence[Array], Facts]  # the published column of each attribute, and further facts


class Masking(Sanitizer):
    """A sanitizer that replaces quasi-identifiers with values that need not be true of the record.

    A missing number stays missing. Numbers are published as the method computes them, even between two steps of the
    domain, unless the class documents otherwise: rounding would add an error to the statistics that the method
    preserves.
    """

    treatment = "perturbed"
    coded = True


class NumberMasking(Masking):
    """A masking method that changes numbers and leaves categories unchanged; a subclass defines `_masked`."""

    changes = "numbers"
    missing_numbers = "restored"

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = require_numeric(self, dataset.schema)
        found = np.column_stack([to_steps(attribute, table[attribute.name]) for attribute in attributes])
        columns, facts = self._masked(dataset, attributes, found, rng)
        for attribute, column in zip(attributes, columns, strict=True):
            table[attribute.name] = column
        return table, {"perturbed": [attribute.name for attribute in attributes]} | facts

    @abstractmethod
    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        """Return the published columns of the attributes as arrays (n,), and further facts.

        `attributes`: the numeric quasi-identifiers, in column order; `found`: the steps of their values above the
        lowest value of the public domain, as an integer array (n, attributes).
        """


def to_steps(attribute: Attribute, column: pd.Series) -> IntArray:
    """Return, as an integer array (n,), the number of steps by which each number exceeds the domain's lowest value.

    A missing number is one step above the highest value, see `find_gaps`.
    """
    return attribute.numbers.codes(decode_column(column))


def find_gaps(attribute: Attribute, codes: IntArray) -> BoolArray:
    """Return, as a boolean array of the shape of `codes`, whether each code represents a missing number."""
    return codes > attribute.numbers.steps


def steps_to_numbers(attribute: Attribute, found: Array) -> FloatArray:
    """Return, as a float array (n,), the numbers at these steps, whole or not, above the domain's lowest value."""
    domain = attribute.numbers
    return domain.low + np.asarray(found, dtype=float) * domain.step


def round_drawn_numbers(attributes: Sequence[Attribute], found: Array) -> list[FloatArray]:
    """Return the drawn numbers in the units of their attributes, as a list with an array (n,) for each attribute.

    The numbers are rounded to a thousandth of a step, because further digits depend on the processor.
    """
    pairs = zip(attributes, found.T, strict=True)
    return [round_binary(steps_to_numbers(attribute, np.round(column, 3)), 12) for attribute, column in pairs]


def read_numbers(sanitizer: Sanitizer, schema: Schema, table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """Return columns of a table as numbers, in a float array (n, d).

    A category becomes its position in the public domain, from 0. Raises SanitizationError, with the name of
    `sanitizer`, if a column contains only a single value.
    """
    columns = []
    for name in names:
        attribute, column = schema[name], table[name]
        if attribute.numeric:
            values = decode_column(attribute.numbers.read(column)).to_numpy(float)
        else:
            values = attribute.categories.codes(decode_column(column)).astype(float)
        if not np.ptp(values):
            raise SanitizationError(
                f"{sanitizer!r}: all records have the same value of '{name}', which does not correlate with any other "
                "column. "
                "Leave the attribute out."
            )
        columns.append(values)
    return np.column_stack(columns)
