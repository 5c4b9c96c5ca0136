"""The experiments of Li and Li 2009, sections 3 and 5, on any dataset."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.points import MeasureName
from privnb.evaluation import trade_off as losses
from privnb.evaluation.attributes import choose_sensitive, choose_unknown_sensitive
from privnb.evaluation.evaluation_loop import answer_for_each
from privnb.evaluation.parameters import parse_number, parse_numbers
from privnb.evaluation.predictions import MinerNames
from privnb.evaluation.profiles import (
    ProfileName,
    check_miner_names,
    drop_repeated_rows,
    find_profile,
    list_seeds,
    run_evaluations,
)
from privnb.evaluation.results import Results, average_seeds, build_row, find_main_parameter, join_results, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import queries
from privnb.measures.base import register_measure
from privnb.measures.disclosure import tradeoff
from privnb.measures.utility.populations import SUPPORT
from privnb.measures.utility.queries import READINGS
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import DeltaDisclosure, FrequencyDiversity, JensenShannonCloseness, KAnonymity
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Seed, Share, one_of, validated
from privnb.sanitizers import Bucketize, Mondrian
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

SELECTIVITIES = (0.03, 0.05, 0.07, 0.1)  # Figure 3(b)
DIMENSIONS = (2, 3, 4, 5, 6)  # Figure 3(c)
SELECTIVITY, DIMENSION = 0.05, 4  # other figures
BELOW_ONE = (0.5, 0.6, 0.7, 0.8, 0.9)  # bounds of semantic privacy that the paper left out
MODELS = {"k": "k-anonymity", "l": "l-diversity", "t": "t-closeness", "delta": "semantic privacy"}
FORMS = {"Mondrian": "generalized", "Bucketize": "in buckets"}
MAX_QUERIES = 100_000  # the limit of `CountQueries.of`
ERRORS = ("average_relative_error", "median_relative_error")
SMALL = 0.04  # the paper finds all utility losses below this one


register_measure("largest_privacy_loss", kind="privacy", bounds=(0, np.inf), unit="nats", format="{:g}")
register_measure("share_of_small_utility_loss", kind="utility", better="higher", format="{:%}")
register_measure(
    "above_scale", kind="privacy", bounds=(0, np.inf), format="{:,}",
    sentence="This is the number of releases whose privacy loss exceeds that of disclosing the most common value with "
    "certainty.",
)  # fmt: skip


def check_number(_: str, value: Any) -> None:
    """Raise ValueError unless `value` is an allowed number of queries."""
    if not (expect.is_whole(value) and 1 <= value <= MAX_QUERIES):
        raise UsageError(
            f"QUERIES must be a whole number from 1 to {MAX_QUERIES:,}; got {expect.describe_value(value)}."
        )


def check_partitions(name: str, value: object) -> None:
    """Raise TypeError unless `value` is a dictionary whose values are lists of sanitizers."""
    for each in expect.kind(name, value, dict, instead="papers.list_partitions returns one.").values():
        expect.all_of(name, each, Sanitizer, instead=Sanitizer.HINT)


Queries = Annotated[int, check_number]
Distance = Annotated[str, one_of(tradeoff.DISTANCES)]
Partitions = Annotated[dict[str, list[Mondrian]], check_partitions]  # by the letter of their privacy model


@validated
def list_partitions(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letter
    t: str | float = "",
    delta: str | float = "",
    median: str = "left",
) -> Partitions:
    """Return Mondrian with each privacy model of section 5, one sanitizer for each value of the model's parameter.

    The definition of l-diversity is that of section 2: in each class, at most one in l people has the same value. The
    distance of t-closeness is the Jensen-Shannon divergence. The definition of semantic privacy (delta) is that of
    Brickell and Shmatikov.

    Parameters
    ----------
    dataset : Dataset
    k, l, t, delta : str, int or float
        One number, or several numbers separated by commas. If a parameter is empty, its model is left out.
    median : str
        The `split_point` of Mondrian. The paper on Mondrian describes "left". With "left", an attribute of two values
        is cut only if the first value is the more common one.

    Returns
    -------
    dict of str to list of Mondrian
        The sanitizers of each privacy model, by the letter of its parameter.
    """
    sensitive = choose_sensitive(dataset, None)
    models: dict[str, list[Any]] = {
        "k": [KAnonymity(value) for value in parse_numbers("K", k, int)],
        "l": [FrequencyDiversity(value, sensitive) for value in parse_numbers("L", l, parse_number)],
        "t": [JensenShannonCloseness(value, sensitive) for value in parse_numbers("T", t, parse_number)],
        "delta": [DeltaDisclosure(value, sensitive) for value in parse_numbers("DELTA", delta, parse_number)],
    }
    found = {letter: [Mondrian(model, split_point=median) for model in each] for letter, each in models.items() if each}
    if not found:
        raise UsageError("K, L, T and DELTA must not all be empty. Give at least one value.")
    return found


@validated
def check_queries(
    dataset: Dataset,
    *,
    number: Queries = 1000,
    miners: MinerNames = "decision tree",
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    distance: Distance = "Jensen-Shannon",
    support: Share = SUPPORT,
) -> None:
    """Raise ValueError for invalid arguments of `measure_trade_off`, `measure_queries` and `compare_directly`.

    Call this function before the experiments run.

    Parameters
    ----------
    dataset : Dataset
    number : int
        The number of queries, 1 to 100,000.
    miners, profile, seeds
        See `compare_directly` and `measure_queries`.
    distance, support
        See `measure_trade_off`.

    Raises
    ------
    ValueError
        If the number of queries, the profile, the number of seeds, the distance or the support is invalid, or if a
        miner is unknown.
    """
    list_seeds(seeds, find_profile(profile).queries)
    sensitive = dataset.table[choose_sensitive(dataset, None)]
    check_miner_names("MINERS", miners, *([] if dataset.schema[sensitive.name].numeric else [sensitive]))


@validated
def measure_trade_off(
    dataset: Dataset,
    partitions: Partitions,
    *,
    distance: Distance = "Jensen-Shannon",
    support: Share = SUPPORT,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure Figure 2, the privacy loss and the utility loss of each partition.

    Mondrian cuts the values in the order of `trade_off.order_values`; the large populations come from the hierarchies
    of the dataset.

    Parameters
    ----------
    dataset : Dataset
    partitions : dict
        The result of `list_partitions`.
    distance, support, min_count
        See `trade_off.Losses`.
    store : str
        The folder for finished results. If `store` is empty, no results are kept.

    Returns
    -------
    DataFrame
        The rows of `trade_off.measure_scales` for the original, and the rows of `trade_off.Losses` for the reference
        releases and for each partition, which is published both as generalized classes and as buckets. If delta is
        below 1, only the number of classes is measured. There are also rows about all releases together. In these rows,
        `parameters` is a list, such as "k=10 50, t=0.2", and the measures are `largest_privacy_loss`;
        `share_of_small_utility_loss`, the share of releases with a loss below 0.04; and, for each model with the letter
        in `group`, `above_scale`, the number of releases with a privacy loss above the lower end of the scale.
    """
    lines = losses.order_values(dataset)
    secret, hierarchies = choose_unknown_sensitive(dataset, None), dict(dataset.hierarchies)
    question = losses.Losses(secret, distance=distance, support=support, hierarchies=hierarchies)
    lose = partial(answer_for_each, lines, question=question, min_count=min_count)
    below = [
        Mondrian(replace(*example.models, delta=delta), split_point=example.split_point)
        for example in partitions.get("delta", [])[:1]
        for delta in BELOW_ONE
    ]
    tasks = {
        "": [
            partial(losses.measure_scales, dataset, distance=distance, support=support, min_count=min_count),
            partial(lose, reference_sanitizers()),
            *(partial(lose, _add_buckets(each)) for each in partitions.values()),
        ],
        "below": [partial(lose, below)] if below else [],
    }
    parts = run_evaluations(tasks, store, "lose privacy and utility")
    if "below" in parts:
        parts["below"] = parts["below"][parts["below"].measure == "classes"]
    found = drop_repeated_rows(parts.values())
    return join_results(found, _summarize(dataset, found, partitions))


@validated
def measure_queries(
    dataset: Dataset,
    partitions: Partitions,
    *,
    number: Queries = 1000,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure Figure 3 with `queries.measure_query_errors`.

    Panel (a) covers each partition in both forms, as generalized classes and as buckets. Panels (b) and (c) cover the
    buckets of t-closeness: panel (b) varies the selectivity, and panel (c) varies the dimension. For the first and the
    last bound t, the results also contain the literal reading of selectivity.

    Parameters
    ----------
    dataset : Dataset
    partitions, store
        See `measure_trade_off`.
    number : int
        The number of queries, 1 to 100,000.
    profile : str
        The amount of work, one of `PROFILES`.
    seeds : int
        The number of sets of queries. If `seeds` is 0, the number of the profile is used.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    repeats = list_seeds(seeds, find_profile(profile).queries)
    ask = partial(queries.measure_query_errors, losses.order_values(dataset), number=number)
    there = len(dataset.schema.quasi_identifiers)
    dimension = min(DIMENSION, there)
    varied = [(dimension, s) for s in SELECTIVITIES] + [(d, SELECTIVITY) for d in DIMENSIONS if d <= there]
    buckets = [Bucketize(each) for each in partitions.get("t", [])]
    tasks = [
        partial(ask, _add_buckets(each), dimension=dimension, selectivity=SELECTIVITY, seed=seed)
        for seed in repeats
        for each in partitions.values()
    ]
    tasks += [
        partial(ask, some, dimension=d, selectivity=s, reading=reading, seed=seed)
        for seed in repeats
        for d, s in dict.fromkeys(varied)
        for reading, some in zip(READINGS, (buckets, [*dict.fromkeys(buckets[:1] + buckets[-1:])]), strict=True)
        if some and (d, s, reading) != (dimension, SELECTIVITY, READINGS[0])
    ]
    return drop_repeated_rows(run_evaluations({"": tasks}, store, "count").values())


@validated
def compare_directly(
    dataset: Dataset,
    partitions: Partitions,
    *,
    miners: MinerNames = "decision tree",
    profile: ProfileName = "quick",
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure `trade_off.compare_gains` for every fourth partition of each privacy model.

    The function makes the comparison of Brickell and Shmatikov on the releases of Li and Li.

    Parameters
    ----------
    dataset : Dataset
    partitions, min_count, store
        See `measure_trade_off`.
    miners : str
        The miners of the researcher: the name of a set, or names separated by commas.
    profile : str
        The profile that sets the number of folds.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    check_miner_names("MINERS", miners)
    folds = next(iter(find_profile(profile).workloads.values()))[1]
    some = [each for found in partitions.values() for each in found[::4]]
    task = partial(
        losses.compare_gains, losses.order_values(dataset), some, miners=miners, folds=folds, min_count=min_count
    )
    return drop_repeated_rows(run_evaluations({"": [task]}, store, "compare directly").values())


@validated
def pair_losses(results: Results, measure: MeasureName = "utility_loss") -> pd.DataFrame:
    """Return one row per release, with the privacy loss and another measure of the release.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
        The other measure.

    Returns
    -------
    DataFrame
        One row per release: the mean `value` of the other measure over seeds, with `low`, `high` and `baseline`; the
        privacy loss in `privacy`; the `letter` and the `bound` of the privacy model; and the `model` and the `form` in
        words.
    """
    rows = average_seeds(results[results.measure == measure]).dropna(subset="value")
    private = average_seeds(results[results.measure == "privacy_loss"])
    private = private[["sanitizer", "parameters", "value"]].rename(columns={"value": "privacy"})
    rows = rows[rows.sanitizer.isin(FORMS) & rows.parameter.isin(MODELS)].merge(private, on=["sanitizer", "parameters"])
    return rows.assign(letter=rows.parameter, model=rows.parameter.map(MODELS), form=rows.sanitizer.map(FORMS))


@validated
def select_queries(results: Results, by: str = "", form: Annotated[str, one_of(FORMS)] = "Bucketize") -> pd.DataFrame:
    """Return the results of one panel of Figure 3, without the COUNT queries of the other panels.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    by : str
        The panel. If `by` is empty, the panel is (a): one kind of query for all privacy models. "selectivity" is panel
        (b) and "dimension" is panel (c), both for t-closeness.
    form : str
        "Mondrian" (generalized) or "Bucketize" (in buckets).

    Returns
    -------
    DataFrame
        Tidy results.
    """
    if not isinstance(by, str) or by:
        expect.one_of("by", by, ("selectivity", "dimension"))
    errors = results.measure.isin(ERRORS)
    plain = errors & (results.sanitizer == form) & (results.variant == "")
    if not plain.any():
        return results[~errors]
    kinds = identify_queries(results)
    common = kinds[plain].iloc[0]  # the first kind of query is common to all
    same, close = kinds == common, results.parameter == "t"
    chosen = {"": same.all(axis=1), "selectivity": same.dimension & close, "dimension": same.selectivity & close}[by]
    return results[~errors | (plain & chosen)]


def identify_queries(results: pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame with the `dimension` and `selectivity` of each row's COUNT queries, NaN if there are none."""
    kinds = {queries.name_queries(d, s): (d, s) for d in range(1, DIMENSIONS[-1] + 1) for s in SELECTIVITIES}
    found = [kinds.get(target, (np.nan, np.nan)) for target in results.target]
    return pd.DataFrame(found, columns=["dimension", "selectivity"], index=results.index)


def _add_buckets(partitions: Iterable[Mondrian]) -> list[Mondrian | Bucketize]:
    return [form for each in partitions for form in (each, Bucketize(each))]


def _summarize(dataset: Dataset, found: pd.DataFrame, partitions: Partitions) -> pd.DataFrame:
    """Return the rows that summarize all releases of each form."""
    bounds = {letter: " ".join(str(find_main_parameter(one)[1]) for one in each) for letter, each in partitions.items()}
    every = ", ".join(f"{letter}={values}" for letter, values in bounds.items())
    rows, scale = [], found[found.measure == "revealed_loss"].value.min()
    for form in FORMS:
        part = found[found.sanitizer == form]
        privacy, utility = (part[part.measure == measure] for measure in ("privacy_loss", "utility_loss"))
        of_all = partial(build_row, dataset=dataset.name, sanitizer=form, parameters=every)
        for (target, variant), largest in privacy.groupby(["target", "variant"], sort=False).value.max().items():
            rows.append(of_all("largest_privacy_loss", largest, target=target, variant=variant))
        small, above = (utility.value < SMALL).mean(), privacy.parameter[privacy.value > scale].value_counts()
        rows += [of_all("share_of_small_utility_loss", small, target=target) for target in utility.target.unique()]
        if len(privacy):
            rows += [of_all("above_scale", above.get(letter, 0), group=letter) for letter in partitions]
    return tidy(rows)
