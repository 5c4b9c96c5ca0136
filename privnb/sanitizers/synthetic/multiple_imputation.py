"""Multiple imputation: synthetic records, drawn column after column from models with random parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.microdata.counts import factorize, group_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.miners.estimators import fit_weighted
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.validation import Count
from privnb.sanitizers.algorithms.linear import take_root
from privnb.sanitizers.base import Facts
from privnb.sanitizers.eligibility import check_records, check_regression_columns
from privnb.sanitizers.synthetic.base import Synthetic

MIN_LEAF_RECORDS = 20  # records in a leaf of the trees from which categories are drawn
IMPUTATION = "imputation"


@dataclass(frozen=True)
class MultipleImputation(Synthetic):
    """Publish synthetic records, in equal parts from several draws of a model of the whole table.

    The release has as many records as the table. In each part, the first column is drawn with the shares of a Bayesian
    bootstrap, and each further column is drawn given the columns before it. A number is drawn from its Bayesian linear
    regression, limited to its domain and rounded to the nearest step. A category is drawn from a decision tree that is
    fitted to a bootstrap sample, with the shares in a leaf of at least 20 records. The parameters of the models
    therefore vary between the parts according to the uncertainty of the parameters, and an analyst who compares the
    parts sees how certain a result is. The column "imputation" contains the number of each row's part. First, missing
    numbers are replaced by numbers drawn from their columns, and the provenance counts the drawn numbers. The release
    promises nothing. No row derives from a single record.

    Parameters
    ----------
    imputations : int
        The number of parts, at least 1; Rubin recommends 3 to 10.

    Source: Rubin, "Statistical disclosure limitation", Journal of Official Statistics 9(2), 1993; Raghunathan, Reiter,
    Rubin, ibid. 19(1), 2003; trees: Reiter, ibid. 21(3), 2005; Aggarwal and Yu 2008, section 3.5.1.
    """

    imputations: Count = 5
    title = "Multiple imputation"

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(), cls(1)]

    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        schema = dataset.schema
        check_regression_columns(self, schema, names)
        width = 1 + sum(1 if schema[name].numeric else len(schema[name].categories.values) - 1 for name in names)
        check_records(self, dataset, max(width + 2, self.imputations), f"more than the {width} columns of its models")

    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator
    ) -> tuple[dict[str, Array], Facts]:
        blocks = [_block(schema[name], values[:, at]) for at, name in enumerate(names)]
        parts = np.array_split(np.arange(len(values)), self.imputations)
        drawn = np.concatenate([_imputed(schema, names, values, blocks, len(part), rng) for part in parts])
        columns = {name: _written(schema[name], drawn[:, at]) for at, name in enumerate(names)}
        if self.imputations == 1:
            return columns, {}
        columns[IMPUTATION] = np.repeat(np.arange(1, self.imputations + 1), [len(part) for part in parts])
        return columns, {"new": (Attribute(IMPUTATION, Role.NEUTRAL, Numbers(1, self.imputations)),)}


def _block(attribute: Any, values: FloatArray) -> FloatArray:
    """Return the numbers that a model reads, (n, columns). A category takes a column for each value except one."""
    if attribute.numeric:
        return values[:, None]
    return (values[:, None] == np.arange(1, len(attribute.domain.values))).astype(float)


def _written(attribute: Any, values: FloatArray) -> Array:
    """Return, as an array (n,), a column of numbers in its published form."""
    if attribute.numeric:
        return values
    return np.asarray(attribute.domain.values, dtype=object)[values.astype(int)]


def _imputed(
    schema: Schema,
    names: Sequence[str],
    values: FloatArray,
    blocks: Sequence[FloatArray],
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return `size` records, (size, d), that are drawn column after column with one draw of all parameters."""
    made = np.empty((size, len(names)))
    known: list[FloatArray] = []
    for at, name in enumerate(names):
        attribute, own = schema[name], values[:, at]
        if at == 0:
            made[:, 0] = rng.choice(own, size, p=rng.dirichlet(np.ones(len(own))))
        elif attribute.numeric:
            made[:, at] = _regressed(np.hstack(blocks[:at]), own, np.hstack(known), rng)
        else:  # a tree splits positions of categories, which take fewer columns
            made[:, at] = _from_a_tree(values[:, :at], own, made[:, :at], rng)
        if attribute.numeric:
            domain = attribute.numbers
            made[:, at] = domain.rounded(pd.Series(made[:, at].clip(domain.low, domain.high)))
        known.append(_block(attribute, made[:, at]))
    return made


def _regressed(given: FloatArray, own: FloatArray, of: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return numbers for the rows `of`, drawn from the posterior of the regression of `own` (n,) on `given` (n, p)."""
    means, spread = given.mean(axis=0), given.std(axis=0)
    spread[spread == 0] = 1
    design, at = (np.column_stack([np.ones(len(each)), (each - means) / spread]) for each in (given, of))
    inverse = take_root(design.T @ design)[1]  # its square times the variance is the covariance of the coefficients
    coefficients = inverse @ (inverse @ (design.T @ own))
    freedom = len(own) - design.shape[1]
    deviation = np.sqrt(np.sum((own - design @ coefficients) ** 2) / rng.chisquare(freedom))
    coefficients = coefficients + deviation * (inverse @ rng.standard_normal(len(coefficients)))
    return at @ coefficients + deviation * rng.standard_normal(len(at))


def _from_a_tree(given: FloatArray, own: FloatArray, of: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return positions of categories for the rows `of`, drawn from the leaves of a tree for a bootstrap sample."""
    from sklearn.tree import DecisionTreeClassifier  # takes a second to import

    chosen = np.bincount(rng.integers(len(own), size=len(own)), minlength=len(own))
    columns = [factorize(column) for column in (*given.T, own)]
    first, index = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    times = np.bincount(index, chosen).astype(np.int64)
    first, times = first[times > 0], times[times > 0]
    tree = DecisionTreeClassifier(min_samples_leaf=MIN_LEAF_RECORDS, random_state=int(rng.integers(2**31)))
    tree = fit_weighted(tree, given[first].astype(np.float32), own[first].astype(int), times)
    shares = tree.predict_proba(of.astype(np.float32)).cumsum(axis=1)
    places = (rng.random(len(of))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
    return tree.classes_[np.minimum(places, shares.shape[1] - 1)].astype(float)
