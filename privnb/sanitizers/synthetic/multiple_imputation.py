"""Made-up records, drawn column after column from models whose parameters are drawn as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.microdata.counts import distinct_codes, factorized
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.miners.estimators import grown
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.validation import Count
from privnb.sanitizers.algorithms.linear import root
from privnb.sanitizers.base import Facts
from privnb.sanitizers.eligibility import check_columns, check_records
from privnb.sanitizers.synthetic.base import Synthetic

FEWEST = 20  # records in a leaf of the trees that categories are drawn from
IMPUTATION = "imputation"


@dataclass(frozen=True)
class MultipleImputation(Synthetic):
    """Publish as many made-up records as there are, in equal parts from several draws of a model of the whole table.

    In each part the first column is drawn with the shares of a Bayesian bootstrap, and each further one given those
    before it: a number from its Bayesian linear regression, on the nearest step and within its domain; a category from
    a decision tree of a bootstrap sample, with the shares in its leaves of 20 records or more. So parameters vary
    between parts as the table leaves them open, and whoever analyses each part and compares them sees how sure a result
    is. The column "imputation" says of which part a row is. Missing numbers are drawn from their columns before, and
    the provenance counts them. Nothing is promised. A release takes no row from a record,
    so that nobody has one.

    Parameters
    ----------
    imputations : int
        Parts, from 1; Rubin asks for 3 to 10.

    Source: Rubin, "Statistical disclosure limitation", Journal of Official Statistics 9(2), 1993; Raghunathan, Reiter,
    Rubin, ibid. 19(1), 2003; trees: Reiter, ibid. 21(3), 2005; Aggarwal and Yu 2008, section 3.5.1.
    """

    imputations: Count = 5
    title = "Multiple imputation"

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(), cls(1)]

    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        schema = dataset.schema
        check_columns(self, schema, names)
        width = 1 + sum(1 if schema[name].numeric else len(schema[name].categories.values) - 1 for name in names)
        check_records(self, dataset, max(width + 2, self.imputations), f"more than the {width} columns of its models")

    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator
    ) -> tuple[dict[str, Array], Facts]:
        blocks = [_block(schema[name], values[:, at]) for at, name in enumerate(names)]
        parts = np.array_split(np.arange(len(values)), self.imputations)
        drawn = np.concatenate([_imputed(schema, names, values, blocks, len(part), rng) for part in parts])
        made = {name: _written(schema[name], drawn[:, at]) for at, name in enumerate(names)}
        if self.imputations == 1:
            return made, {}
        made[IMPUTATION] = np.repeat(np.arange(1, self.imputations + 1), [len(part) for part in parts])
        return made, {"new": (Attribute(IMPUTATION, Role.NEUTRAL, Numbers(1, self.imputations)),)}


def _block(attribute: Any, values: FloatArray) -> FloatArray:
    """What a model reads of a column, float array (n, columns): a number as it is, a category one-hot but for one."""
    if attribute.numeric:
        return values[:, None]
    return (values[:, None] == np.arange(1, len(attribute.domain.values))).astype(float)


def _written(attribute: Any, values: FloatArray) -> Array:
    """A column of numbers as it is published: array (n,)."""
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
    """`size` records drawn column after column, by one draw of all parameters: float array (size, d)."""
    made = np.empty((size, len(names)))
    known: list[FloatArray] = []
    for at, name in enumerate(names):
        attribute, own = schema[name], values[:, at]
        if at == 0:
            made[:, 0] = rng.choice(own, size, p=rng.dirichlet(np.ones(len(own))))
        elif attribute.numeric:
            made[:, at] = _regressed(np.hstack(blocks[:at]), own, np.hstack(known), rng)
        else:  # a tree cuts the places of categories, which are fewer columns
            made[:, at] = _from_a_tree(values[:, :at], own, made[:, :at], rng)
        if attribute.numeric:
            domain = attribute.numbers
            made[:, at] = domain.rounded(pd.Series(made[:, at].clip(domain.low, domain.high)))
        known.append(_block(attribute, made[:, at]))
    return made


def _regressed(given: FloatArray, own: FloatArray, of: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Numbers drawn for the rows `of` from the posterior of the linear regression of `own` (n,) on `given` (n, p)."""
    means, spread = given.mean(axis=0), given.std(axis=0)
    spread[spread == 0] = 1
    design, at = (np.column_stack([np.ones(len(each)), (each - means) / spread]) for each in (given, of))
    inverse = root(design.T @ design)[1]  # the covariance of the coefficients is its square times the variance
    coefficients = inverse @ (inverse @ (design.T @ own))
    freedom = len(own) - design.shape[1]
    deviation = np.sqrt(np.sum((own - design @ coefficients) ** 2) / rng.chisquare(freedom))
    coefficients = coefficients + deviation * (inverse @ rng.standard_normal(len(coefficients)))
    return at @ coefficients + deviation * rng.standard_normal(len(at))


def _from_a_tree(given: FloatArray, own: FloatArray, of: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Places of categories drawn for the rows `of` by the shares in the leaves of a tree of a bootstrap sample."""
    from sklearn.tree import DecisionTreeClassifier  # takes a second to import

    chosen = np.bincount(rng.integers(len(own), size=len(own)), minlength=len(own))
    columns = [factorized(column) for column in (*given.T, own)]
    first, index = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    times = np.bincount(index, chosen).astype(np.int64)
    first, times = first[times > 0], times[times > 0]
    tree = DecisionTreeClassifier(min_samples_leaf=FEWEST, random_state=int(rng.integers(2**31)))
    tree = grown(tree, given[first].astype(np.float32), own[first].astype(int), times)
    shares = tree.predict_proba(of.astype(np.float32)).cumsum(axis=1)
    places = (rng.random(len(of))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
    return tree.classes_[np.minimum(places, shares.shape[1] - 1)].astype(float)
