"""Numbers drawn from their regression on other attributes, so that users of the release find the same regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.microdata.columns import decode_column
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.runtime.validation import optional
from privnb.sanitizers.algorithms.linear import take_root
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import check_records, check_regression_columns, require_numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, read_numbers

Method = Literal["A", "B", "C"]


def _given(name: str, value: Any) -> None:
    if not expect.texts(name, value, "attributes"):
        raise UsageError(f"{name} must name at least one attribute for the regression; got none.")


@dataclass(frozen=True)
class IPSO(Masking):
    """Replace each record's numeric quasi-identifiers with draws from their regression on sensitive attributes.

    Given the values x that a record keeps, the numbers y of the record are modeled as Gaussian with mean x B and
    covariance S. Method "A" draws from that model. Method "B" adjusts the draws so that the regression in the release
    gives exactly the estimate of B. Method "C" adjusts the draws so that the regression gives exactly the estimates of
    B and of S. The numbers of "A" are rounded to the steps of the public domains. The numbers of "B" and "C" are not
    rounded, because rounding would change the estimates; these numbers may exceed the domains.

    Each row still belongs to its record, with its own sensitive values and categories; only the numbers are synthetic.
    The release promises nothing.

    Parameters
    ----------
    method : str
        "A", "B" or "C".
    given : tuple of str, optional
        The attributes on which the numbers are regressed. A categorical attribute takes one column for each value
        except one. With None, the sensitive attributes are used.

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

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return repr(self).replace("IPSO(", "Ipso(", 1)

    @classmethod
    def default_settings(cls, sensitive: str | None = None) -> list[Self]:
        """Return the sanitizers that lists of releases show."""
        return [cls("C"), cls("A")]

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls("A"), cls("B"), cls("C")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.given is not None:
            object.__setattr__(self, "given", tuple(self.given))

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = self._replaced(dataset.schema)
        numbers = read_numbers(self, dataset.schema, table, names)
        check_regression_columns(self, dataset.schema, self._given(dataset.schema))
        known = self._design(dataset.schema, table)
        rank = int(np.linalg.matrix_rank(known))
        why = f"{len(names)} more than the {rank} columns of the regression"
        check_records(self, dataset, rank + len(names), why)
        drawn = draw_from_regression(known, numbers, self.method, rng)
        for place, name in enumerate(names):
            domain = dataset.schema[name].numbers
            column = pd.Series(drawn[:, place], index=table.index)
            table[name] = domain.rounded(column.clip(domain.low, domain.high)) if self.method == "A" else column
        return table, {"perturbed": tuple(names)}

    def _numbers_read(self, schema: Schema) -> list[str]:
        read = {*schema.quasi_identifiers, *self._given(schema)}
        return [name for name in schema.published if name in read and schema[name].numeric]

    def _replaced(self, schema: Schema) -> list[str]:
        names = [each.name for each in require_numeric(self, schema)]
        given = self._given(schema)
        others = [name for name in schema.published if name not in names]
        if wrong := [name for name in given if name not in others]:
            raise SanitizationError(
                f"{self!r}: `given` must name published attributes that are not replaced; got "
                f"{join_names(wrong)}. Try {join_names(others)}."
            )
        if not given:
            raise SanitizationError(
                f"{self!r}: '{schema.dataset}' has no sensitive attribute for the regression. Name attributes "
                "in `given`."
            )
        return names

    def _given(self, schema: Schema) -> list[str]:
        return schema.sensitive if self.given is None else list(self.given)

    def _design(self, schema: Schema, table: pd.DataFrame) -> FloatArray:
        """Return the regressors (n, p): ones, numbers, and columns for all values except one of each category."""
        columns: list[FloatArray] = [np.ones(len(table))]
        for name in self._given(schema):
            if schema[name].numeric:
                columns.append(read_numbers(self, schema, table, [name])[:, 0])
            else:
                cells = decode_column(table[name]).astype(object).to_numpy()
                columns += [(cells == value).astype(float) for value in schema[name].categories.values[1:]]
        return np.column_stack(columns)


def draw_from_regression(known: FloatArray, numbers: FloatArray, method: Method, rng: Generator) -> FloatArray:
    """Return, as a float array (n, q), draws of `numbers` from their regression on `known`, (n, p), as in `IPSO`.

    The estimates are B = (x'x)^-1 x'y and S = (y - x B)'(y - x B) / n. If columns of `known` are linearly dependent, B
    is the shortest solution; x B is the same for every solution.
    """
    basis, lengths, _ = np.linalg.svd(known, full_matrices=False)
    basis = basis[:, lengths > 1e-10 * lengths[0]]  # a basis of the column space

    def fitted(of: FloatArray) -> FloatArray:
        return basis @ (basis.T @ of)

    mean = fitted(numbers)
    residuals = numbers - mean
    covariance = residuals.T @ residuals / len(numbers)
    noise = rng.standard_normal(numbers.shape)
    if method != "A":
        noise -= fitted(noise)
    if method == "C":
        noise = noise @ take_root(noise.T @ noise / len(numbers))[1]
    return mean + noise @ take_root(covariance)[0]
