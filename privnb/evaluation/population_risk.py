"""Uniqueness in a population, estimated from samples of a table and compared with the truth, the whole table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.dataset_summary import measure_uniqueness
from privnb.evaluation.results import Row, check_results, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.disclosure.copula_uniqueness import copula_uniqueness
from privnb.measures.disclosure.poisson_uniqueness import poisson_uniqueness
from privnb.measures.disclosure.population_uniques import (
    negative_binomial_uniqueness,
    pitman_uniqueness,
    zayatz_uniqueness,
)
from privnb.microdata.counts import group_codes
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.runtime import numerals
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import parse_names
from privnb.runtime.validation import Seed, optional, validated
from privnb.sanitizers.masking.sampling import Sampling

SHARES = (0.01, 0.05, 0.2)  # of the table in a sample
MIN_SAMPLE = 100  # people: with fewer, the estimators have too few classes of several people

register_measure(
    "population_unique_error",
    title="Error of the estimate",
    sentence="This is the estimated minus the true share of unique people of the population. The estimator that is the "
    "closest to 0 is the best.",
    unit="share of people",
    format="{:+%} of people",
    bounds=(-1, 1),
)

Estimator = Callable[[Sequence[IntArray], IntArray, float], float]
# From the codes of the sample, the sizes of its classes and the share of the population in the sample.
ESTIMATORS: Mapping[str, Estimator] = {
    "sample": lambda columns, sizes, share: float((sizes == 1).sum() / sizes.sum()),
    "Zayatz": lambda columns, sizes, share: zayatz_uniqueness(sizes, share),
    "negative binomial": lambda columns, sizes, share: negative_binomial_uniqueness(sizes, share),
    "Pitman": lambda columns, sizes, share: pitman_uniqueness(sizes, share),
    "Poisson": lambda columns, sizes, share: poisson_uniqueness(columns, share),
    "copula": lambda columns, sizes, share: copula_uniqueness(columns, share),
}


@validated
def measure_population_uniqueness(
    dataset: Dataset,
    unique: Annotated[pd.DataFrame | None, optional(check_results)] = None,
    *,
    shares: Sequence[float] = SHARES,
    seed: Seed = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Estimate the share of unique people from samples of a table, and compare the estimates with the whole table.

    The table takes the place of the population, so the truth is known. The estimators get only the sample, and the
    share of the table that the sample contains. If a table is itself a sample of a population, use the functions of
    `measures.disclosure.population_uniques`, `poisson_uniqueness` and `copula_uniqueness`.

    Parameters
    ----------
    dataset : Dataset
    unique : DataFrame, optional
        The results of `measure_uniqueness`; if None, the function computes these results.
    shares : list of float
        One share per sample: the share of the people that the sample contains. A sample of fewer than `MIN_SAMPLE`
        people is not drawn.
    seed : int
        The seed of the samples.
    min_count : int
        A share of fewer people is withheld.

    Returns
    -------
    DataFrame
        For each sample (`scenario`) and each estimator (`variant`, see `ESTIMATORS`): rows `population_unique_share`,
        with the truth as the baseline, and `population_unique_error`. There are no rows if people may have several
        records, because the estimators expect one record for each person.

    Examples
    --------
    >>> from privnb import load
    >>> from privnb.evaluation import measure_population_uniqueness
    >>> rows = measure_population_uniqueness(load("adult", records=2000), shares=[0.2])
    >>> rows.variant.unique().tolist()
    ['sample', 'Zayatz', 'negative binomial', 'Pitman', 'Poisson', 'copula']
    """
    names, n, rows = dataset.schema.quasi_identifiers, dataset.headcount, list[Row]()
    if not names or dataset.people is not None:
        return tidy(rows)
    if unique is None:
        unique = measure_uniqueness(dataset, min_count=min_count)
    whole = unique.knows.map(lambda known: len(parse_names(known)) == len(names)) & (unique.measure == "unique")
    truth, columns = float(unique.value[whole].iloc[0]), [*dataset.codes.values()]
    widths = [int(codes.max()) + 1 for codes in columns]
    for share in shares:
        if round(share * n) < MIN_SAMPLE:
            continue
        row = make_row_builder(dataset, Sampling(share), seed, min_count)
        chosen = np.sort(np.random.default_rng(seed).choice(n, round(share * n), replace=False))
        sample = [codes[chosen] for codes in columns]
        sizes = np.bincount(group_codes(sample, widths)[1])
        for name, estimator in ESTIMATORS.items():
            estimate = estimator(sample, sizes, share)
            # A withheld truth must not be learned from the estimates of large samples.
            shown = np.nan if np.isnan(truth) else ReportedCount(estimate * n, n)
            asked = {"variant": name, "scenario": f"sample of {numerals.write_percent(share)}"}
            rows.append(row("population_unique_share", shown, baseline=truth, **asked))
            error = rows[-1]["value"] - truth
            rows.append(row("population_unique_error", error, **asked))
    return tidy(rows)
