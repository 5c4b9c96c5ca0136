"""Experiments of Sramka et al. 2010, section 4, on any dataset."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import check_published, choose_sensitive, choose_target
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions, build_scenarios
from privnb.evaluation.disclosure.predicted_gains import PredictedGains
from privnb.evaluation.evaluation_loop import Question, answer_question, require_possible
from privnb.evaluation.predictions import Miners, resolve_miners
from privnb.evaluation.profiles import (
    ProfileName,
    drop_repeated_rows,
    find_profile,
    list_able,
    list_miner_sets,
    run_evaluations,
)
from privnb.evaluation.results import is_single_miner, select_measured, summarize_miners
from privnb.evaluation.store import Folder
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.names import join_names
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import AttributeName, Seeds, Share, validated
from privnb.runtime.wording import write
from privnb.sanitizers import Suppress
from privnb.sanitizers.base import Sanitizer


@validated
def evaluate_users(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    profile: ProfileName = "quick",
    miners: Miners = "",
    target: AttributeName = "",
    seeds: Seeds = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure the utility of releases for legitimate users, as in Table 1.

    The results are those of `evaluation.measure_good_utility` for each miner and seed, together with rows of the miner
    `worst`, which hold the largest decline within each set of miners. The sanitizers of `build_suppressing_sanitizers`
    are added for comparison. Fusions of miners are left out, because only an adversary uses them.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    profile : str
        The name of the profile, one of `PROFILES`, which sets the extent of the run.
    miners : str, estimator, or list of those
        The miners that replace the main set of the profile; if empty, the main set is used.
    target : str
        The predicted attribute; if empty, the first sensitive attribute.
    seeds : int
        The number of repeats; if 0, the number that the profile sets.
    min_count : int
        Counts of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        Tidy results.

    Raises
    ------
    ValueError
        For an unknown profile.
    """
    tasks, sanitizers = {}, [*sanitizers, *build_suppressing_sanitizers(dataset, sanitizers)]
    column = dataset.table[choose_sensitive(dataset, target)]

    for miner_set, names, repeats in list_miner_sets(find_profile(profile).users, miners, seeds):
        every = {miner.name: miner for miner in resolve_miners("Weka basic" if names == "Weka" else names)}
        each = list_able(every.values(), column)
        asked = {name: name if isinstance(names, str) else every[name] for name in each}
        if not asked and not miner_set:
            asked = {"": names}  # its rows report why the main set cannot predict the column
        # Weka's random forest takes twenty minutes; it runs in two parts, so that no core waits for it.
        halves = [sanitizers[::2], sanitizers[1::2]] if names == "Weka" else [sanitizers]
        tasks[miner_set] = [
            partial(
                measure_good_utility, dataset, part, miners=miner, target=target or None, seed=seed, min_count=min_count
            )
            for seed in repeats
            for name, miner in asked.items()
            for part in halves
            if part and not name.startswith("fusion: ")
        ]
    parts = []
    for miner_set, found in run_evaluations(tasks, store, "mine for good utility").items():
        worst = summarize_miners(found[found.measure == "utility_decline"], miner_set, averages=False)
        parts += [found.assign(miner_set=miner_set), worst]
    return drop_repeated_rows(parts)


@validated
def evaluate_adversaries(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    profile: ProfileName = "quick",
    miners: Miners = "",
    target: AttributeName = "",
    c: float = 0,
    share: Share = 0.05,
    weights: str = "",
    seeds: Seeds = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure the utility of releases for adversaries with miners, as in Table 2.

    The results are those of `nearer_predictions.NearerPredictions` for each set of miners, sanitizer and seed, together
    with rows of the miners `average` and `worst` for each set.

    Parameters
    ----------
    dataset, sanitizers, profile, miners, seeds, min_count, store
        See `evaluate_users`.
    target : str
        The guessed attribute; if empty, the first numeric quasi-identifier, or the first quasi-identifier if none is
        numeric.
    c, share, weights
        See `nearer_predictions.NearerPredictions`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    check_adversaries(
        dataset, target=target, c=c, share=share, weights=weights
    )  # before the run, which may take an hour
    target = check_published(dataset, target or choose_target(dataset))
    attack = partial(NearerPredictions, target, c=c, share=share, weights=weights)
    tasks = {}
    for miner_set, names, repeats in list_miner_sets(find_profile(profile).adversaries, miners, seeds):
        tasks[miner_set] = [
            partial(_answer_possible, dataset, sanitizer, seed, attack(each), min_count)
            for seed in repeats
            for sanitizer in sanitizers
            for each in (_list_weka_miners(dataset, sanitizer, target) if names == "Weka" else [names])
        ]
    parts = []
    for miner_set, found in run_evaluations(tasks, store, "mine what is private").items():
        own = found[is_single_miner(found) & (found.measure == "anti_utility")]
        parts += [found.assign(miner_set=miner_set), summarize_miners(own, miner_set)]
    return drop_repeated_rows(parts)


@validated
def check_adversaries(
    dataset: Dataset, *, target: AttributeName = "", c: float = 0, share: Share = 0.05, weights: str = ""
) -> None:
    """Raise the error, if any, that `evaluate_adversaries` raises for these arguments.

    Parameters
    ----------
    dataset, target, c, share, weights
        See `evaluate_adversaries`.

    Raises
    ------
    ValueError
        If the target is not published, or if `nearer_predictions.build_scenarios` refuses an argument.
    """
    target = check_published(dataset, target or choose_target(dataset))
    for scenario in build_scenarios(target, len(dataset), c=c, share=share, weights=weights).values():
        scenario.check(dataset)


@validated
def describe_target(dataset: Dataset, target: AttributeName = "") -> Sentences:
    """Return a sentence about the attribute that the adversary of `evaluate_adversaries` guesses.

    Parameters
    ----------
    dataset, target
        See `evaluate_adversaries`.

    Returns
    -------
    Sentences
    """
    name = check_published(dataset, target or choose_target(dataset))
    sensitive = next((each for each in dataset.schema.sensitive if each != name), "")
    blurred = sensitive if name in dataset.schema.quasi_identifiers else ""
    is_number = dataset.schema[name].numeric
    return say(*write("evaluation/notes", "target", name, not target, is_number, blurred))


@validated
def evaluate_gains(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    profile: ProfileName = "quick",
    miners: Miners = "",
    target: AttributeName = "",
    seeds: Seeds = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure what nearer predictions add to the disclosure of releases, as in Table 3.

    The results are those of `predicted_gains.PredictedGains` for each sanitizer and seed. At most two of Weka's miners
    are used: the miner whose predictions are nearer for the largest number of people, and the miner whose predictions
    are nearer for the largest number of distinct records. In rows of these miners, the set of miners is "Weka" with its
    version. `evaluate_adversaries` computes the same predictions of these miners and can share the store.

    Parameters
    ----------
    dataset, sanitizers, profile, miners, target, seeds, min_count, store
        See `evaluate_adversaries`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    target = check_published(dataset, target or choose_target(dataset))
    sensitive = choose_sensitive(dataset, None)
    tasks = {}
    for miner_set, names, repeats in list_miner_sets(find_profile(profile).gains, miners, seeds):
        worst = dict.fromkeys(sanitizers, names)
        if names == "Weka":
            attacks = {}
            for s in sanitizers:
                asked = [NearerPredictions(target, each) for each in _list_weka_miners(dataset, s, target)]
                attacks[s] = [partial(_answer_possible, dataset, s, 1, question, LIMIT) for question in asked]
            worst = {
                s: _find_worst_miners(found)
                for s, found in run_evaluations(attacks, store, "look for the worst miner").items()
            }
        tasks[miner_set] = [
            partial(
                _answer_possible,
                dataset,
                sanitizer,
                seed,
                PredictedGains(target, sensitive, worst[sanitizer], miner_set),
                min_count,
            )
            for seed in repeats
            for sanitizer in sanitizers
            if worst[sanitizer]
        ]
    return drop_repeated_rows(run_evaluations(tasks, store, "put predictions in").values())


def _answer_possible(
    dataset: Dataset, sanitizer: Sanitizer, seed: int, question: Question, min_count: int
) -> pd.DataFrame:
    """Return the answer to a question about a release that must be possible."""
    return require_possible(answer_question(dataset, sanitizer, seed, question, min_count))


@validated
def build_suppressing_sanitizers(dataset: Dataset, sanitizers: Sequence[Sanitizer]) -> list[Sanitizer]:
    """Return sanitizers that publish `*` for all columns with noise; noise cannot destroy more than these sanitizers.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    """
    noisy = dict.fromkeys(s.sanitize(dataset, rng=1).treated("noisy") for s in sanitizers if s.randomized)
    return [Suppress(join_names(names)) for names in noisy if names]


def _list_weka_miners(dataset: Dataset, sanitizer: Sanitizer, target: str) -> list[str]:
    """Return the names of the paper's miners for numbers or for labels, depending on the target in the release."""
    release = sanitizer.sanitize(dataset, rng=1)
    numeric = is_numeric_dtype(release.table[check_published(dataset, target or choose_target(dataset))])
    return [miner.name for miner in resolve_miners("Weka numerical" if numeric else "Weka categorical")]


def _find_worst_miners(found: Any) -> str:
    """Return the names of the worst miners; "" if no miner finished.

    The worst miners are the miner that comes nearer to the truth for the most people, and the miner that does so for
    the most distinct records.
    """
    rows = select_measured(found[(found.measure == "anti_utility") & (found.scenario == "A")])
    rows = rows.assign(value=rows.value.fillna(rows.low))
    worst = [rows[rows.variant == variant] for variant in ("", "distinct")]
    return ", ".join(dict.fromkeys(part.loc[part.value.idxmax()].miner for part in worst if len(part)))
