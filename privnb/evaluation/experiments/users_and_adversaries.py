"""The experiments of Sramka et al. 2010, section 4, on any dataset."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number, published_name, sensitive_name
from privnb.evaluation.cases import Question, answer, reached
from privnb.evaluation.disclosure.nearer_predictions import Nearer, scenarios
from privnb.evaluation.disclosure.predicted_gains import PutIn
from privnb.evaluation.predictions import Miners, miners_of
from privnb.evaluation.profiles import ProfileName, able, evaluated, profile_of, sets_of, together
from privnb.evaluation.results import measured, of_one_miner, summary
from privnb.evaluation.store import Folder
from privnb.evaluation.utility.good_utility import good_utility
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.names import name_list
from privnb.runtime.sentences import B, C, Sentences, say
from privnb.runtime.validation import AttributeName, Seeds, Share, validated
from privnb.sanitizers import Suppress
from privnb.sanitizers.base import Sanitizer


@validated
def users(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    profile: ProfileName = "quick",
    miners: Miners = "",
    target: AttributeName = "",
    seeds: Seeds = 0,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Table 1: `evaluation.good_utility` of each miner and seed, and `worst`, the largest decline of each set.

    Beside the sanitizers stands `absent`, for comparison. Fusions are an adversary's, and left out.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    profile : str
        How much is run, by name: one of `PROFILES`.
    miners : str, estimator, or list of those
        Instead of the profile's main set, unless empty.
    target : str
        What is predicted; empty: the first sensitive attribute.
    seeds : int
        Repeats, instead of the profile's number, unless 0.
    fewest : int
        Counts below are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Tidy results.

    Raises
    ------
    ValueError
        For an unknown profile.
    """
    tasks, sanitizers = {}, [*sanitizers, *absent(dataset, sanitizers)]
    column = dataset.table[sensitive_name(dataset, target)]

    for miner_set, names, repeats in sets_of(profile_of(profile).users, miners, seeds):
        every = {miner.name: miner for miner in miners_of("Weka three" if names == "Weka" else names)}
        each = able(every.values(), column)
        asked = {name: name if isinstance(names, str) else every[name] for name in each}
        if not asked and not miner_set:
            asked = {"": names}  # which says why the main set cannot
        # Weka's random forest takes twenty minutes: in two parts, so that no core waits for it.
        halves = [sanitizers[::2], sanitizers[1::2]] if names == "Weka" else [sanitizers]
        tasks[miner_set] = [
            partial(good_utility, dataset, part, miners=miner, target=target or None, seed=seed, fewest=fewest)
            for seed in repeats
            for name, miner in asked.items()
            for part in halves
            if part and not name.startswith("fusion: ")
        ]
    parts = []
    for miner_set, found in evaluated(tasks, store, "mine for good utility").items():
        worst = summary(found[found.measure == "utility_decline"], miner_set, averages=False)
        parts += [found.assign(miner_set=miner_set), worst]
    return together(parts)


@validated
def adversaries(
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
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Table 2: `nearer_predictions.Nearer` of each set, sanitizer and seed, with `average` and `worst` of each
    set.

    Parameters
    ----------
    dataset, sanitizers, profile, miners, seeds, store
        As of `users`.
    target : str
        What is guessed; empty: the first numeric quasi-identifier, or else the first one.
    c, share, weights, fewest
        As of `nearer_predictions.Nearer`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    check_adversaries(dataset, target=target, c=c, share=share, weights=weights)  # an hour later is too late
    target = published_name(dataset, target or first_number(dataset))
    attack = partial(Nearer, target, c=c, share=share, weights=weights)
    tasks = {}
    for miner_set, names, repeats in sets_of(profile_of(profile).adversaries, miners, seeds):
        tasks[miner_set] = [
            partial(_possible, dataset, sanitizer, seed, attack(each), fewest)
            for seed in repeats
            for sanitizer in sanitizers
            for each in (_weka(dataset, sanitizer, target) if names == "Weka" else [names])
        ]
    parts = []
    for miner_set, found in evaluated(tasks, store, "mine what is private").items():
        own = found[of_one_miner(found) & (found.measure == "anti_utility")]
        parts += [found.assign(miner_set=miner_set), summary(own, miner_set)]
    return together(parts)


@validated
def check_adversaries(
    dataset: Dataset, *, target: AttributeName = "", c: float = 0, share: Share = 0.05, weights: str = ""
) -> None:
    """Refuse what `adversaries` refuses of the dataset.

    Parameters
    ----------
    dataset, target, c, share, weights
        As of `adversaries`.

    Raises
    ------
    ValueError
        For a target that is not published, and for what `nearer_predictions.scenarios` refuses.
    """
    target = published_name(dataset, target or first_number(dataset))
    for scenario in scenarios(target, len(dataset), c=c, share=share, weights=weights).values():
        scenario.check(dataset)


@validated
def guessed(dataset: Dataset, target: AttributeName = "") -> Sentences:
    """A sentence on what the adversary of `adversaries` guesses, and where the sensitive attribute stands.

    Parameters
    ----------
    dataset, target
        As of `adversaries`.

    Returns
    -------
    Sentences
    """
    name = published_name(dataset, target or first_number(dataset))
    by_default = "" if target else f", the first quasi-identifier{' of numbers' * dataset.schema[name].numeric}"
    said = f"The adversary guesses {B}{name}{B}{by_default}. {C}TARGET{C} chooses another attribute."
    secret = next((each for each in dataset.schema.sensitive if each != name), "")
    if secret and name in dataset.schema.quasi_identifiers:
        said += (
            " It is a quasi-identifier, which releases blur, so that a guess can be nearer than what is published. How "
            f"often the sensitive attribute, {secret}, is guessed stands in {C}08_frontier{C}."
        )
    return say(said)


@validated
def gains(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    profile: ProfileName = "quick",
    miners: Miners = "",
    target: AttributeName = "",
    seeds: Seeds = 0,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Table 3: `predicted_gains.PutIn` of each sanitizer and seed.

    Of Weka's miners those are put in that come nearest for most people and for most distinct records, in rows of the
    set "Weka" with its version; they are found as `adversaries` finds them, and kept in the same store.

    Parameters
    ----------
    dataset, sanitizers, profile, miners, target, seeds, fewest, store
        As of `adversaries`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    target = published_name(dataset, target or first_number(dataset))
    sensitive = sensitive_name(dataset, None)
    tasks = {}
    for miner_set, names, repeats in sets_of(profile_of(profile).gains, miners, seeds):
        worst = dict.fromkeys(sanitizers, names)
        if names == "Weka":
            attacks = {}
            for s in sanitizers:
                asked = [Nearer(target, each) for each in _weka(dataset, s, target)]
                attacks[s] = [partial(_possible, dataset, s, 1, question, LIMIT) for question in asked]
            worst = {s: _worst(found) for s, found in evaluated(attacks, store, "look for the worst miner").items()}
        tasks[miner_set] = [
            partial(_possible, dataset, sanitizer, seed, PutIn(target, sensitive, worst[sanitizer], miner_set), fewest)
            for seed in repeats
            for sanitizer in sanitizers
            if worst[sanitizer]
        ]
    return together(evaluated(tasks, store, "put predictions in").values())


def _possible(dataset: Dataset, sanitizer: Sanitizer, seed: int, question: Question, fewest: int) -> pd.DataFrame:
    """`answer`, of a release that must be possible."""
    return reached(answer(dataset, sanitizer, seed, question, fewest))


@validated
def absent(dataset: Dataset, sanitizers: Sequence[Sanitizer]) -> list[Sanitizer]:
    """What noise can destroy at most: the sanitizers that publish `*` for all that noise among `sanitizers` blurs.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer

    Returns
    -------
    list of Sanitizer
    """
    noisy = dict.fromkeys(s.sanitize(dataset, rng=1).treated("noisy") for s in sanitizers if s.randomized)
    return [Suppress(name_list(names)) for names in noisy if names]


def _weka(dataset: Dataset, sanitizer: Sanitizer, target: str) -> list[str]:
    """The names of the paper's miners for what a sanitizer publishes of the target, labels or numbers."""
    release = sanitizer.sanitize(dataset, rng=1)
    numeric = is_numeric_dtype(release.table[published_name(dataset, target or first_number(dataset))])
    return [miner.name for miner in miners_of("Weka numerical" if numeric else "Weka categorical")]


def _worst(found: Any) -> str:
    """The miners that come nearest for most people and for most distinct records, by name; "" where none finished."""
    rows = measured(found[(found.measure == "anti_utility") & (found.scenario == "A")])
    rows = rows.assign(value=rows.value.fillna(rows.low))
    worst = [rows[rows.variant == variant] for variant in ("", "distinct")]
    return ", ".join(dict.fromkeys(part.loc[part.value.idxmax()].miner for part in worst if len(part)))
