"""How far off releases answer random COUNT queries (Li and Li, KDD 2009, section 5.3); drawn once per seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.cases import SEEDS_AT_A_TIME, Case, Question, ask
from privnb.evaluation.results import Row, join, row_builder, tidy
from privnb.measures.base import state
from privnb.measures.intervals import mean_interval
from privnb.measures.utility.queries import READINGS, CountQueries, Reading, relative_errors
from privnb.measures.utility.reconstruction import VALUES
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count, OneOrMore, Seed, Share, as_list, validated
from privnb.sanitizers import Bucketize, Identity, Suppress
from privnb.sanitizers.base import Sanitizer

FEWEST = 10  # queries that a mean is over


state("queries", format="{:,}")
state("empty_queries", better="lower", sentence="COUNT queries that count nobody.", format="{:,}")


@validated
def count_queries(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    dimension: Count = 4,
    selectivity: Share = 0.05,
    number: Count = 1000,
    reading: Reading = "product",
    seed: Seed = 1,
) -> pd.DataFrame:
    """How far off releases answer random COUNT queries: the points of Figure 3.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
        One whose privacy models cannot be kept has no row.
    dimension, selectivity, number, reading
        See `CountQueries.of`.
    seed : int
        Which queries, the same for all sanitizers.

    Returns
    -------
    DataFrame
        Rows, `target` "qd=4, sel=0.05": `average_relative_error`, with a 95% interval over queries, and
        `median_relative_error`; baseline: the trivial release of the same form, without quasi-identifiers or with all
        people in one bucket. Of the original, `queries`: how many were drawn, 0 where the table has fewer
        quasi-identifiers or too many values to ask for; `empty_queries`: how many count nobody, which have no relative
        error. Of fewer than ten others nothing is shown.
    """
    expect.whole("dimension", dimension, 1)
    expect.share("selectivity", selectivity)
    expect.whole("number", number, 1)
    question = Queries(secret_name(dataset, None), dimension, selectivity, number, reading)
    runs = [(sanitizer, seed, [question]) for sanitizer in as_list(sanitizers)]
    drawn = tidy(question.drawn(dataset, seed)[1])
    found = ask(dataset, runs, description="count")
    return join(drawn, found[found.measure.isin(ERRORS) & (found.status == "")])


ERRORS = ("average_relative_error", "median_relative_error")


@dataclass(frozen=True)
class Queries(Question):
    """How far off a release answers COUNT queries; fields and rows as of `count_queries`."""

    sensitive: str
    dimension: int = 4
    selectivity: float = 0.05
    number: int = 1000
    reading: Reading = "product"

    main = "average_relative_error"
    axes = ERRORS
    varies = True

    def drawn(self, dataset: Dataset, seed: int) -> tuple[Any, ...]:
        """The queries, or None where there are too few, and the rows that say how many were drawn."""
        return _drawn(dataset, self, seed)

    @property
    def columns(self) -> dict[str, str]:
        variant = "" if self.reading == READINGS[0] else self.reading
        return {"target": queries_name(self.dimension, self.selectivity), "variant": variant}

    def rows(self, case: Case) -> list[Row]:
        (queries, rows), row = self.drawn(case.dataset, case.seed), partial(case.row, **self.columns)
        if queries is None:
            return rows
        errors = relative_errors(queries, case.release)
        base = _trivial_errors(case.dataset, self, case.seed, isinstance(case.sanitizer, Bucketize))
        low, high = mean_interval(errors)
        return [
            *rows,
            row("average_relative_error", errors.mean(), interval=(max(low, 0), high), baseline=base.mean()),
            row("median_relative_error", np.median(errors), baseline=np.median(base)),
        ]


@lru_cache(maxsize=SEEDS_AT_A_TIME)
def _drawn(dataset: Dataset, asked: Queries, seed: int) -> tuple[Any, ...]:
    row, names = partial(row_builder(dataset, Identity(), seed), **asked.columns), dataset.schema.quasi_identifiers
    if asked.dimension > len(names) or dataset.cells[[*names, asked.sensitive]].nunique(dropna=False).max() > VALUES:
        return None, [row("queries", 0)]
    queries = CountQueries.of(
        dataset,
        asked.sensitive,
        asked.dimension,
        asked.selectivity,
        rng=[seed, asked.dimension],
        number=asked.number,
        reading=asked.reading,
    )
    rows = [row("queries", asked.number), row("empty_queries", queries.empty)]
    return (None if len(queries) - queries.empty < FEWEST else queries), rows


@lru_cache(maxsize=SEEDS_AT_A_TIME)
def _trivial_errors(dataset: Dataset, asked: Queries, seed: int, buckets: bool) -> FloatArray:
    """The errors of the trivial release of the same form."""
    trivial = Bucketize(Suppress()) if buckets else Suppress()
    return relative_errors(asked.drawn(dataset, seed)[0], trivial.sanitize(dataset, rng=0))


def queries_name(dimension: int, selectivity: float) -> str:
    """How results name COUNT queries of this dimension and selectivity, in `target`.

    >>> queries_name(4, 0.05)
    'qd=4, sel=0.05'
    """
    return f"qd={dimension}, sel={selectivity:g}"
