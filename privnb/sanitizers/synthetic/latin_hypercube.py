"""Made-up records whose columns are as the table's, and go together as its ranks do."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.microdata.treatment import Rows
from privnb.sanitizers.algorithms.latin_hypercube import arranged, strata
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.masking.numbered import check_records, numbered


@dataclass(frozen=True)
class LatinHypercube(Sanitizer):
    """Publish as many made-up records as there are, with each column's distribution and the columns' rank correlations.

    Of each column one value is drawn in each of n equal shares of its distribution. Numbers between recorded ones are
    drawn, too, on the steps of their domain, none beyond the smallest and the largest. A category stands at its place
    in its public domain: how often it occurs is kept to one record, and of what it goes with, what rises or falls along
    that order. Missing numbers are drawn from their columns before, and the provenance counts them. Nothing else of
    several columns is kept, and nothing is promised: an extreme value may be somebody's
    own. A release takes no row from a record, so that nobody has one.

    Source: Dandekar, Cohen, Kirkendall, Inference Control in Statistical Databases, LNCS 2316, 2002; Aggarwal and Yu
    2008, section 3.5.3; Iman and Conover 1982 for the order.
    """

    title = "Latin hypercube"
    treatment = "synthetic"
    randomized = True
    coded = True
    missing_numbers = "filled"

    @classmethod
    def at(cls, bounds, sensitive=None):
        return cls()

    @classmethod
    def examples(cls, schema):
        return [cls()]

    def _numbers_read(self, schema):
        return [name for name in schema.published if schema[name].numeric]

    def _sanitize(self, dataset, table, rng):
        names, schema = list(table), dataset.schema
        check_records(self, dataset, len(names) + 2, f"more than the {len(names)} columns that go together")
        values, source = numbered(self, schema, table, names), np.random.default_rng(rng)
        correlation = rank_correlation(values)
        shares = arranged(strata(len(values), len(names), source), correlation, source)
        made = {name: drawn(schema[name], values[:, place], shares[:, place]) for place, name in enumerate(names)}
        return pd.DataFrame(made), {"rows": Rows.NOBODY}


def rank_correlation(values):
    """Spearman's correlations of the columns of values, float array (n, d): float array (d, d)."""
    return np.atleast_2d(np.corrcoef(pd.DataFrame(values).rank().to_numpy().T))


def drawn(attribute, values, shares):
    """The values of an attribute at these shares of its distribution, array (m,): of numbers on the nearest step each.
    `values`: the records', as `numbered` gives them.
    """
    ordered, last = np.sort(values), len(values) - 1  # of many shares np.quantile takes seconds
    if not attribute.numeric:
        places = ordered[np.minimum(shares * len(values), last).astype(int)].astype(int)
        return np.asarray(attribute.domain.values, dtype=object)[places]
    numbers = np.interp(shares * last, np.arange(len(values)), ordered)
    return attribute.domain.rounded(pd.Series(numbers)).to_numpy()
