"""Errors of releases in random COUNT queries, which are drawn once per seed (Li and Li, KDD 2009, section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.evaluation_loop import MAX_CACHED_SEEDS, Case, Question, ask
from privnb.evaluation.results import Row, join_results, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import mean_interval
from privnb.measures.utility.queries import READINGS, CountQueries, Reading, relative_errors
from privnb.measures.utility.reconstruction import MAX_VALUES
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count, OneOrMore, Seed, Share, as_list, validated
from privnb.sanitizers import Bucketize, Identity, Suppress
from privnb.sanitizers.base import Sanitizer

MIN_QUERIES = 10  # queries that a mean is over


register_measure("queries", format="{:,}")
register_measure(
    "empty_queries", better="lower", sentence="This is the number of COUNT queries that count nobody.", format="{:,}"
)


@validated
def measure_query_errors(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    dimension: Count = 4,
    selectivity: Share = 0.05,
    number: Count = 1000,
    reading: Reading = "product",
    seed: Seed = 1,
) -> pd.DataFrame:
    """Measure the relative errors of releases' answers to random COUNT queries: the points of Figure 3.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
        A sanitizer whose privacy models cannot be satisfied has no row.
    dimension, selectivity, number, reading
        See `CountQueries.of`.
    seed : int
        The seed of the queries, which are the same for all sanitizers.

    Returns
    -------
    DataFrame
        Rows whose `target` describes the queries, such as "qd=4, sel=0.05": `average_relative_error`, with a 95%
        interval over queries, and `median_relative_error`. The baseline is the error of the trivial release of the same
        form, which has no quasi-identifiers or has all people in one bucket. Two rows are about the queries: `queries`
        is the number of queries that were drawn (0 if the table has too few quasi-identifiers or too many values to
        query), and `empty_queries` is the number of queries that count nobody and therefore have no relative error. If
        fewer than ten queries count somebody, no errors are shown.
    """
    expect.whole("dimension", dimension, 1)
    expect.share("selectivity", selectivity)
    expect.whole("number", number, 1)
    question = QueryErrors(choose_unknown_sensitive(dataset, None), dimension, selectivity, number, reading)
    runs = [(sanitizer, seed, [question]) for sanitizer in as_list(sanitizers)]
    drawn = tidy(question.drawn(dataset, seed)[1])
    found = ask(dataset, runs, description="count")
    return join_results(drawn, found[found.measure.isin(ERROR_MEASURES) & (found.status == "")])


ERROR_MEASURES = ("average_relative_error", "median_relative_error")


@dataclass(frozen=True)
class QueryErrors(Question):
    """Question about the errors of answers to COUNT queries; see `measure_query_errors` for the fields and rows."""

    sensitive: str
    dimension: int = 4
    selectivity: float = 0.05
    number: int = 1000
    reading: Reading = "product"

    primary_measure = "average_relative_error"
    axes = ERROR_MEASURES
    stochastic = True

    def drawn(self, dataset: Dataset, seed: int) -> tuple[Any, ...]:
        """Return the queries, or None if there are too few, and the rows that report how many queries were drawn."""
        return _draw(dataset, self, seed)

    @property
    def columns(self) -> dict[str, str]:
        """Return the columns that describe the queries in results: `target` and `variant`."""
        variant = "" if self.reading == READINGS[0] else self.reading
        return {"target": name_queries(self.dimension, self.selectivity), "variant": variant}

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
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


@lru_cache(maxsize=MAX_CACHED_SEEDS)
def _draw(dataset: Dataset, asked: QueryErrors, seed: int) -> tuple[Any, ...]:
    row, names = partial(make_row_builder(dataset, Identity(), seed), **asked.columns), dataset.schema.quasi_identifiers
    occurring = dataset.cells[[*names, asked.sensitive]].nunique(dropna=False)
    if asked.dimension > len(names) or occurring.max() > MAX_VALUES:
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
    return (None if len(queries) - queries.empty < MIN_QUERIES else queries), rows


@lru_cache(maxsize=MAX_CACHED_SEEDS)
def _trivial_errors(dataset: Dataset, asked: QueryErrors, seed: int, buckets: bool) -> FloatArray:
    """Return the errors of the trivial release of the same form, with or without buckets."""
    trivial = Bucketize(Suppress()) if buckets else Suppress()
    return relative_errors(asked.drawn(dataset, seed)[0], trivial.sanitize(dataset, rng=0))


def name_queries(dimension: int, selectivity: float) -> str:
    """Return the name of COUNT queries of a dimension and selectivity, for `target` in results.

    Examples
    --------
    >>> name_queries(4, 0.05)
    'qd=4, sel=0.05'
    """
    return f"qd={dimension}, sel={selectivity:g}"
