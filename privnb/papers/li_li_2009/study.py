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
from privnb.evaluation.attributes import secret_name, sensitive_name
from privnb.evaluation.cases import answers
from privnb.evaluation.parameters import number, numbers
from privnb.evaluation.predictions import MinerNames
from privnb.evaluation.profiles import ProfileName, check_miners, evaluated, profile_of, repeated, together
from privnb.evaluation.results import Results, join, main_parameter, over_seeds, row, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import queries
from privnb.measures.base import state
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

SELECTIVITIES = (0.03, 0.05, 0.07, 0.1)  # of Figure 3(b)
DIMENSIONS = (2, 3, 4, 5, 6)  # of Figure 3(c)
SELECTIVITY, DIMENSION = 0.05, 4  # elsewhere
BELOW_ONE = (0.5, 0.6, 0.7, 0.8, 0.9)  # bounds of semantic privacy that the paper left out
MODELS = {"k": "k-anonymity", "l": "l-diversity", "t": "t-closeness", "delta": "semantic privacy"}
FORMS = {"Mondrian": "generalized", "Bucketize": "in buckets"}
MOST = 100_000  # queries at once, as `CountQueries.of` takes them
ERRORS = ("average_relative_error", "median_relative_error")
SMALL = 0.04  # the utility loss that the paper finds everything below


state("largest_privacy_loss", kind="privacy", bounds=(0, np.inf), unit="nats", format="{:g}")
state("share_of_small_utility_loss", kind="utility", better="higher", format="{:%}")
state(
    "above_scale", kind="privacy", bounds=(0, np.inf), format="{:,}",
    sentence="Releases whose privacy loss lies above that of the commonest value, disclosed for certain.",
)  # fmt: skip


def check_number(_: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number of queries."""
    if not (expect.is_whole(value) and 1 <= value <= MOST):
        raise UsageError(f"QUERIES is a whole number of COUNT queries from 1 to {MOST:,}, got {expect.found(value)}.")


def check_partitions(name: str, value: object) -> None:
    """Raise TypeError unless `value` is a dictionary of lists of sanitizers."""
    for each in expect.kind(name, value, dict, instead="Give what papers.partitions gives.").values():
        expect.all_of(name, each, Sanitizer, instead=Sanitizer.HINT)


Queries = Annotated[int, check_number]
Distance = Annotated[str, one_of(tradeoff.DISTANCES)]
Partitions = Annotated[dict[str, list[Mondrian]], check_partitions]  # by the letter of their privacy model


@validated
def partitions(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letter
    t: str | float = "",
    delta: str | float = "",
    median: str = "left",
) -> Partitions:
    """Mondrian under each privacy model of section 5, for the values of its letter.

    l-diversity is section 2's (no value belongs to more than one in l), t-closeness is by Jensen-Shannon divergence,
    semantic privacy (delta) that of Brickell and Shmatikov.

    Parameters
    ----------
    dataset : Dataset
    k, l, t, delta : str, int or float
        One number, or several separated by commas; empty: none.
    median : str
        Mondrian's `split_point`; "left" is what its authors print, by which an attribute of two values is cut only
        where the first is the commoner.

    Returns
    -------
    dict of str to list of Mondrian
        By letter.
    """
    sensitive = sensitive_name(dataset, None)
    models: dict[str, list[Any]] = {
        "k": [KAnonymity(value) for value in numbers("K", k, int)],
        "l": [FrequencyDiversity(value, sensitive) for value in numbers("L", l, number)],
        "t": [JensenShannonCloseness(value, sensitive) for value in numbers("T", t, number)],
        "delta": [DeltaDisclosure(value, sensitive) for value in numbers("DELTA", delta, number)],
    }
    found = {letter: [Mondrian(model, split_point=median) for model in each] for letter, each in models.items() if each}
    if not found:
        raise UsageError("there is no privacy model to run: give one value or more of K, L, T or DELTA.")
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
    """Refuse what `trade_off`, `count_queries` and `direct` would refuse after minutes of other work.

    Parameters
    ----------
    dataset : Dataset
    number : int
        Of queries, 1 to 100,000.
    miners, profile, seeds
        As of `direct` and `count_queries`.
    distance, support
        As of `trade_off`.

    Raises
    ------
    ValueError
        For a number of queries, miners, a profile, a number of repeats, a distance or a support that cannot be.
    """
    repeated(seeds, profile_of(profile).queries)
    sensitive = dataset.table[sensitive_name(dataset, None)]
    check_miners("MINERS", miners, *([] if dataset.schema[sensitive.name].numeric else [sensitive]))


@validated
def trade_off(
    dataset: Dataset,
    partitions: Partitions,
    *,
    distance: Distance = "Jensen-Shannon",
    support: Share = SUPPORT,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Figure 2 and how it is read.

    Mondrian cuts `trade_off.on_lines`; the large populations are of the dataset's own hierarchies.

    Parameters
    ----------
    dataset : Dataset
    partitions : dict
        Of `partitions`.
    distance, support, fewest
        As of `trade_off.Losses`.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        `trade_off.scales` of the original, then `trade_off.Losses` of each partition, published as generalized
        classes and as buckets, and of the ends. Of delta below 1 stands here how many classes there are. What the paper
        says of all releases together stands in rows whose parameters are lists, "k=10 50, t=0.2":
        `largest_privacy_loss`, `share_of_small_utility_loss` (below 0.04) and, of each model's letter in `group`,
        `above_scale`: how many releases have a privacy loss above the lower end of the scale.
    """
    lines = losses.on_lines(dataset)
    secret, hierarchies = secret_name(dataset, None), dict(dataset.hierarchies)
    question = losses.Losses(secret, distance=distance, support=support, hierarchies=hierarchies)
    lose = partial(answers, lines, question=question, fewest=fewest)
    below = [
        Mondrian(replace(*example.models, delta=delta), split_point=example.split_point)
        for example in partitions.get("delta", [])[:1]
        for delta in BELOW_ONE
    ]
    tasks = {
        "": [
            partial(losses.scales, dataset, distance=distance, support=support, fewest=fewest),
            partial(lose, reference_sanitizers()),
            *(partial(lose, _both(each)) for each in partitions.values()),
        ],
        "below": [partial(lose, below)] if below else [],
    }
    parts = evaluated(tasks, store, "lose privacy and utility")
    if "below" in parts:
        parts["below"] = parts["below"][parts["below"].measure == "classes"]
    found = together(parts.values())
    return join(found, _overall(dataset, found, partitions))


@validated
def count_queries(
    dataset: Dataset,
    partitions: Partitions,
    *,
    number: Queries = 1000,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    store: Folder = "",
) -> pd.DataFrame:
    """Figure 3: `queries.count_queries` of each partition as (a) asks, both forms; of the buckets of t-closeness by
    selectivity (b) and by dimension (c); of its first and last bound also in the literal reading of selectivity.

    Parameters
    ----------
    dataset : Dataset
    partitions, store
        As of `trade_off`.
    number : int
        Of queries, 1 to 100,000.
    profile : str
        How much is run, by name: one of `PROFILES`.
    seeds : int
        Other queries each; 0 for the profile's number.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    repeats = repeated(seeds, profile_of(profile).queries)
    ask = partial(queries.count_queries, losses.on_lines(dataset), number=number)
    there = len(dataset.schema.quasi_identifiers)
    dimension = min(DIMENSION, there)
    varied = [(dimension, s) for s in SELECTIVITIES] + [(d, SELECTIVITY) for d in DIMENSIONS if d <= there]
    buckets = [Bucketize(each) for each in partitions.get("t", [])]
    tasks = [
        partial(ask, _both(each), dimension=dimension, selectivity=SELECTIVITY, seed=seed)
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
    return together(evaluated({"": tasks}, store, "count").values())


@validated
def direct(
    dataset: Dataset,
    partitions: Partitions,
    *,
    miners: MinerNames = "decision tree",
    profile: ProfileName = "quick",
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """`trade_off.direct` of every fourth partition of each privacy model: the critics' comparison on the same releases.

    Parameters
    ----------
    dataset : Dataset
    partitions, fewest, store
        As of `trade_off`.
    miners : str
        The researcher's: a set by name, or some miners, separated by commas.
    profile : str
        Whose folds are taken: those of the critics' own main miners.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    check_miners("MINERS", miners)
    folds = next(iter(profile_of(profile).workloads.values()))[1]
    some = [each for found in partitions.values() for each in found[::4]]
    task = partial(losses.direct, losses.on_lines(dataset), some, miners=miners, folds=folds, fewest=fewest)
    return together(evaluated({"": [task]}, store, "compare directly").values())


@validated
def pairs(results: Results, measure: MeasureName = "utility_loss") -> pd.DataFrame:
    """The losses of each release side by side.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
        Beside the privacy loss.

    Returns
    -------
    DataFrame
        One row for the mean `value` over seeds, with `low`, `high` and `baseline`, beside the `privacy` loss. Columns
        too: `letter` and `bound` of its privacy model, `model` and `form` in words.
    """
    rows = over_seeds(results[results.measure == measure]).dropna(subset="value")
    private = over_seeds(results[results.measure == "privacy_loss"])
    private = private[["sanitizer", "parameters", "value"]].rename(columns={"value": "privacy"})
    rows = rows[rows.sanitizer.isin(FORMS) & rows.parameter.isin(MODELS)].merge(private, on=["sanitizer", "parameters"])
    return rows.assign(letter=rows.parameter, model=rows.parameter.map(MODELS), form=rows.sanitizer.map(FORMS))


@validated
def asked(results: Results, by: str = "", form: Annotated[str, one_of(FORMS)] = "Bucketize") -> pd.DataFrame:
    """Results with the COUNT queries of one panel of Figure 3 alone.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    by : str
        Empty: of all privacy models one kind of query (a); of t-closeness by "selectivity" (b) or by "dimension" (c).
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
    kinds = queries_of(results)
    common = kinds[plain].iloc[0]  # what all are asked, and so first
    same, close = kinds == common, results.parameter == "t"
    chosen = {"": same.all(axis=1), "selectivity": same.dimension & close, "dimension": same.selectivity & close}[by]
    return results[~errors | (plain & chosen)]


def queries_of(results: pd.DataFrame) -> pd.DataFrame:
    """The `dimension` and `selectivity` of the COUNT queries that rows of results are of; NaN for others: DataFrame."""
    kinds = {queries.queries_name(d, s): (d, s) for d in range(1, DIMENSIONS[-1] + 1) for s in SELECTIVITIES}
    found = [kinds.get(target, (np.nan, np.nan)) for target in results.target]
    return pd.DataFrame(found, columns=["dimension", "selectivity"], index=results.index)


def _both(partitions: Iterable[Mondrian]) -> list[Mondrian | Bucketize]:
    return [form for each in partitions for form in (each, Bucketize(each))]


def _overall(dataset: Dataset, found: pd.DataFrame, partitions: Partitions) -> pd.DataFrame:
    """What holds of all releases of a form together."""
    bounds = {letter: " ".join(str(main_parameter(one)[1]) for one in each) for letter, each in partitions.items()}
    every = ", ".join(f"{letter}={values}" for letter, values in bounds.items())
    rows, scale = [], found[found.measure == "revealed_loss"].value.min()
    for form in FORMS:
        part = found[found.sanitizer == form]
        privacy, utility = (part[part.measure == measure] for measure in ("privacy_loss", "utility_loss"))
        of_all = partial(row, dataset=dataset.name, sanitizer=form, parameters=every)
        for (target, variant), largest in privacy.groupby(["target", "variant"], sort=False).value.max().items():
            rows.append(of_all("largest_privacy_loss", largest, target=target, variant=variant))
        small, above = (utility.value < SMALL).mean(), privacy.parameter[privacy.value > scale].value_counts()
        rows += [of_all("share_of_small_utility_loss", small, target=target) for target in utility.target.unique()]
        if len(privacy):
            rows += [of_all("above_scale", above.get(letter, 0), group=letter) for letter in partitions]
    return tidy(rows)
