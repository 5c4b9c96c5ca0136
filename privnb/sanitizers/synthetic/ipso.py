"""Numbers drawn anew from their regression on what is kept, so that whoever repeats the regression finds the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.validation import optional
from privnb.sanitizers.algorithms.linear import root
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import check_columns, check_records, numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, numbered

Method = Literal["A", "B", "C"]


def _given(name: str, value: Any) -> None:
    if not expect.texts(name, value, "attributes"):
        raise UsageError(f"{name} must name one attribute or more that numbers are regressed on, got none.")


@dataclass(frozen=True)
class Ipso(Masking):
    """Replace each record's numeric quasi-identifiers by numbers drawn from their regression on its sensitive values.

    Given what is kept of a record, x, its numbers y are taken for Gaussian with mean x B and covariance S. Method "A"
    draws them so. Method "B" adjusts what was drawn so that the regression of the release gives the estimate of B
    exactly, and "C" so that it gives those of B and of S. "A" is on the steps of the public domains; "B" and "C" are
    not rounded, which would move the estimates, and may lie beyond the domains.

    A row still is a record's, with its own sensitive values and categories; only the numbers are nobody's. Nothing is
    promised.

    Parameters
    ----------
    method : str
        "A", "B" or "C".
    given : tuple of str, optional
        The attributes that numbers are regressed on, a category as one column for each value but one; None: the
        sensitive ones.

    Source: Burridge, "Information preserving statistical obfuscation", Statistics and Computing 13, 2003; Aggarwal and
    Yu 2008, section 3.5.4.
    """

    method: Method = "C"
    given: Annotated[tuple[str, ...] | None, optional(_given)] = None
    title = "IPSO"
    changes = "numbers"
    needs_sensitive = "any"
    randomized = True
    missing_numbers = "restored"

    @classmethod
    def settings(cls, sensitive: str | None = None) -> list[Self]:
        return [cls("C"), cls("A")]

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls("A"), cls("B"), cls("C")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.given is not None:
            object.__setattr__(self, "given", tuple(self.given))

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = self._replaced(dataset.schema)
        numbers = numbered(self, dataset.schema, table, names)
        check_columns(self, dataset.schema, self._given(dataset.schema))
        known = self._design(dataset.schema, table)
        rank = int(np.linalg.matrix_rank(known))
        why = f"{len(names)} numbers more than the {rank} columns of their regression"
        check_records(self, dataset, rank + len(names), why)
        made = regressed(known, numbers, self.method, rng)
        for place, name in enumerate(names):
            domain = dataset.schema[name].numbers
            column = pd.Series(made[:, place], index=table.index)
            table[name] = domain.rounded(column.clip(domain.low, domain.high)) if self.method == "A" else column
        return table, {"perturbed": tuple(names)}

    def _numbers_read(self, schema: Schema) -> list[str]:
        read = {*schema.quasi_identifiers, *self._given(schema)}
        return [name for name in schema.published if name in read and schema[name].numeric]

    def _replaced(self, schema: Schema) -> list[str]:
        names = [each.name for each in numeric(self, schema)]
        given = self._given(schema)
        others = [name for name in schema.published if name not in names]
        if wrong := [name for name in given if name not in others]:
            raise SanitizationError(
                f"{self!r} cannot regress on {name_list(wrong)}: what is given is published, and none of the numbers "
                f"that are replaced. Name some of {name_list(others)}."
            )
        if not given:
            raise SanitizationError(
                f"{self!r}: '{schema.dataset}' has no sensitive attribute to regress on. Name some in `given`."
            )
        return names

    def _given(self, schema: Schema) -> list[str]:
        return schema.sensitive if self.given is None else list(self.given)

    def _design(self, schema: Schema, table: pd.DataFrame) -> FloatArray:
        """What numbers are regressed on, float array (n, p): 1, numbers, and a column for each value but the first."""
        columns: list[FloatArray] = [np.ones(len(table))]
        for name in self._given(schema):
            if schema[name].numeric:
                columns.append(numbered(self, schema, table, [name])[:, 0])
            else:
                cells = plain(table[name]).astype(object).to_numpy()
                columns += [(cells == value).astype(float) for value in schema[name].categories.values[1:]]
        return np.column_stack(columns)


def regressed(known: FloatArray, numbers: FloatArray, method: Method, rng: Generator) -> FloatArray:
    """Numbers (n, q) drawn from their regression on `known` (n, p), by a method of `Ipso`: float array (n, q).

    The estimates are B = (x'x)^-1 x'y and S = (y - x B)'(y - x B) / n. Where columns of `known` depend on each other, B
    is that of least length; its x B is the same.
    """
    basis, lengths, _ = np.linalg.svd(known, full_matrices=False)
    basis = basis[:, lengths > 1e-10 * lengths[0]]  # of the space of columns

    def fitted(of: FloatArray) -> FloatArray:
        return basis @ (basis.T @ of)

    mean = fitted(numbers)
    residuals = numbers - mean
    covariance = residuals.T @ residuals / len(numbers)
    noise = rng.standard_normal(numbers.shape)
    if method != "A":
        noise -= fitted(noise)
    if method == "C":
        noise = noise @ root(noise.T @ noise / len(numbers))[1]
    return mean + noise @ root(covariance)[0]
