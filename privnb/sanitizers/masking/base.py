"""What the sanitizers have in common that mask values: which columns they change, and the numbers in them."""

import numpy as np

from privnb.microdata.columns import plain
from privnb.microdata.schema import Attribute, decimals
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.numbered import numeric


class Masking(Sanitizer):
    """A sanitizer that puts other values in the place of quasi-identifiers, of which none is true of its record.

    A missing number stays missing. Numbers are published as the method makes them, between two steps of the domain too,
    unless it says otherwise: rounding would add an error of its own to what it keeps.
    """

    treatment = "perturbed"
    coded = True


class NumberMasking(Masking):
    """One that changes numbers alone, and publishes categories as they are."""

    changes = "numbers"
    missing_numbers = "restored"

    def _numbers(self, dataset, table):
        """The numeric quasi-identifiers in column order, a list of `Attribute`, and the steps of their values above the
        lowest of the public domain: integer array (n, attributes).
        """
        schema = dataset.schema
        attributes = numeric(self, schema)
        return attributes, np.column_stack([steps(attribute, table[attribute.name]) for attribute in attributes])


def steps(attribute, column):
    """How many steps above the lowest value of its domain each number of a column is: integer array (n,).

    A missing one stands one step above the highest, see `gap`.
    """
    return attribute.domain.codes(plain(column))


def gap(attribute: Attribute, codes: np.ndarray) -> np.ndarray:
    """Say which of the `steps` are those of missing numbers: boolean array of their shape."""
    return codes > attribute.domain.steps


def numbers(attribute, found):
    """The numbers that lie so many steps above the lowest value of the domain, whole or not: float array (n,)."""
    domain = attribute.domain
    return domain.low + np.asarray(found, dtype=float) * domain.step


def drawn(attribute, found):
    """As `numbers`, of what was drawn: to a thousandth of a step, for further digits depend on the processor."""
    return decimals(numbers(attribute, np.round(found, 3)), 12)


def check_records(sanitizer, k, n):
    """Raise SanitizationError for a table of fewer than `k` records."""
    if k > n:
        raise SanitizationError(f"{sanitizer!r} cannot be reached: the table has {n} records. Lower k to {n} or less.")


def check_varied(sanitizer, attributes, columns, why):
    """Raise SanitizationError for a column of one value alone; `why` that will not do."""
    for attribute, column in zip(attributes, columns.T, strict=True):
        if (column == column[0]).all():
            raise SanitizationError(
                f"{sanitizer!r}: all {len(column)} records have one value of '{attribute.name}', and {why}. Give it "
                "the role 'neutral', or leave it out."
            )
