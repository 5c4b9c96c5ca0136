"""The experiments of Sramka et al. 2010, section 4, on any dataset: which evaluations, run over a store, joined.

An evaluation is one task of `store.run`: it is kept under the content of its inputs, so that a run that was killed
goes on where it stopped, and two notebooks that ask for the same number compute it once.
"""

import contextlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pandas.api.types import is_numeric_dtype

from privnb import weka
from privnb.adversary import anti_utility, gains_with_predictions, scenarios
from privnb.evaluation import first_number, good_utility, sensitive_name
from privnb.mined import miners_of, published_name
from privnb.results import join, summary
from privnb.sanitizers import Suppress
from privnb.store import Store, run

BESIDE = ("fusion: ", "control: ", "worst by person")  # rows that no average is over


@dataclass(frozen=True)
class Profile:
    """How much is run: for honest users, adversaries and gains `{set of miners: seeds}`, the main set first.

    "Weka" is the real one, where it is present, with the paper's own sets.
    """

    users: Mapping[str, int]
    adversaries: Mapping[str, int]
    gains: Mapping[str, int]


PROFILES = {
    "quick": Profile({"three": 1}, {"five": 3}, {"five": 3}),
    "full": Profile(
        {"three": 3, "gradient boosting": 1, "Weka": 1},
        {"five": 20, "script_kiddie": 1, "modern": 1, "Weka": 1},
        {"five": 3, "Weka": 1},
    ),
}


def users(dataset, sanitizers, *, profile="quick", miners="", target="", seeds=0, store=""):
    """Table 1: `evaluation.good_utility` of each miner and seed, and `worst`, the largest decline of each set.

    Beside the sanitizers stands `absent`, for comparison. Fusions are an adversary's, and left out. `miners`, `seeds`:
    instead of the profile's main set and its number of repeats, unless empty or 0. `store`: the folder that keeps what
    is finished; empty: none. Raises ValueError for an unknown profile.
    """
    tasks, sanitizers = {}, [*sanitizers, *absent(dataset, sanitizers)]
    column = dataset.table[sensitive_name(dataset, target)]

    def can(miner):
        # Weka itself is not asked: that would start Java in this process too.
        return miner.name.startswith("Weka ") or miner.predicts(column)

    for prefix, names, repeats in _sets(_profile(profile).users, miners, seeds):
        each = [miner for miner in miners_of("Weka three" if names == "Weka" else names) if can(miner)]
        each = [miner.name for miner in each] or ([] if prefix else [names])  # which says why the main set cannot
        tasks[prefix] = [
            partial(good_utility, dataset, sanitizers, miners=name, target=target or None, seed=seed)
            for seed in repeats
            for name in each
            if not name.startswith("fusion: ")
        ]
    parts = []
    for prefix, found in _run(tasks, store, "mine for good utility").items():
        parts += [found, summary(found[found.measure == "utility_decline"], prefix, averages=False)]
    return _together(parts)


def adversaries(
    dataset,
    sanitizers,
    *,
    profile="quick",
    miners="",
    target="",
    c=0,
    share=0.05,
    weights="",
    seeds=0,
    fewest=10,
    store="",
):
    """Table 2: `adversary.anti_utility` of each set, sanitizer and seed, with `average` and `worst` of each set.

    Rows of sets beside the main one have the set's name before `average`, `worst`, fusions and controls. Parameters as
    of `users` and of `adversary.anti_utility`.
    """
    for scenario in scenarios(
        target or first_number(dataset), len(dataset), c=c, share=share, weights=weights
    ).values():
        scenario.check(dataset)  # an hour later is too late
    attack = partial(anti_utility, target=target or None, c=c, share=share, weights=weights, fewest=fewest)
    tasks = {}
    for prefix, names, repeats in _sets(_profile(profile).adversaries, miners, seeds):
        tasks[prefix] = [
            partial(attack, dataset, sanitizer, miners=each, seed=seed)
            for seed in repeats
            for sanitizer in sanitizers
            for each in (_weka(dataset, sanitizer, target) if names == "Weka" else [names])
        ]
    parts = []
    for prefix, found in _run(tasks, store, "mine what is private").items():
        beside = found.miner.str.startswith(BESIDE) | ~found.measure.str.contains("anti_utility")
        parts += [_prefixed(found, prefix), summary(found[~beside], prefix)]
    return _together(parts)


def gains(dataset, sanitizers, *, profile="quick", miners="", target="", sensitive="", seeds=0, store=""):
    """Table 3: `adversary.gains_with_predictions` of each sanitizer and seed.

    Of Weka's miners those are put in that come nearest for most people and for most distinct records, in rows of miner
    "Weka" with its version; they are found as `adversaries` finds them, and kept in the same store.
    """
    gain = partial(gains_with_predictions, target=target or None, sensitive=sensitive or None)
    attack = partial(anti_utility, target=target or None)
    tasks = {}
    for prefix, names, repeats in _sets(_profile(profile).gains, miners, seeds):
        worst = dict.fromkeys(sanitizers, names)
        if names == "Weka":
            attacks = {
                s: [partial(attack, dataset, s, miners=each) for each in _weka(dataset, s, target)] for s in sanitizers
            }
            worst = {s: _worst(found) for s, found in _run(attacks, store, "look for the worst miner").items()}
        tasks[prefix] = [
            partial(gain, dataset, sanitizer, miners=worst[sanitizer], seed=seed, miner=prefix.strip())
            for seed in repeats
            for sanitizer in sanitizers
            if worst[sanitizer]
        ]
    return _together(_run(tasks, store, "put predictions in").values())


def absent(dataset, sanitizers):
    """The sanitizers that publish `*` for all that noise among `sanitizers` blurs: what noise can destroy at most."""
    noisy = dict.fromkeys(s.sanitize(dataset, rng=1).provenance.noisy for s in sanitizers if s.randomized)
    return [Suppress(", ".join(names)) for names in noisy if names]


def weka_here(results):
    """Whether the real Weka made a part of `results`, and what to do if not, in Markdown."""
    from IPython.display import Markdown

    lacks, ran = weka.missing(), results.miner.str.extract(r"^(Weka [\d.]+) ")[0].dropna()
    if len(ran):
        return Markdown(f"{ran.iloc[0]} ran beside scikit-learn's miners: the rows whose miner begins with its name.")
    if lacks:
        return Markdown(f"**Weka is not here**: {lacks} scikit-learn's miners stand in.")
    return Markdown(f"Weka {weka.version()} is here; this run did without. `make report PROFILE=full` runs it.")


def _profile(name):
    if name not in PROFILES:
        raise ValueError(f"there is no profile {name!r}. PROFILE is one of {', '.join(PROFILES)}.")
    return PROFILES[name]


def _sets(sets, miners, seeds):
    """(prefix of rows, names of miners, seeds) of each set that can run here; the main set has no prefix."""
    if seeds < 0:
        raise ValueError(f"SEEDS is a number of repeats, or 0 for the profile's; got {seeds!r}.")
    for place, (names, repeats) in enumerate(sets.items()):
        if place == 0:
            miners_of(miners or names)  # refuses an unknown name before anything runs
            yield "", miners or names, range(1, (seeds or repeats) + 1)
        elif names == "Weka":
            if not weka.missing():
                yield f"Weka {weka.version()} ", names, range(1, repeats + 1)
        else:
            yield f"{names} ", names, range(1, repeats + 1)


def _weka(dataset, sanitizer, target):
    """The names of the paper's miners for what a sanitizer publishes of the target, labels or numbers."""
    release = sanitizer.sanitize(dataset, rng=1)
    numeric = is_numeric_dtype(release.table[published_name(dataset, target or first_number(dataset))])
    return [miner.name for miner in miners_of("Weka numerical" if numeric else "Weka categorical")]


def _worst(found):
    """The miners that come nearest for most people and for most distinct records, by name; "" where none finished."""
    rows = found.assign(value=found.value.fillna(found.low))
    worst = [rows[rows.measure == f"anti_utility_{scenario}"] for scenario in ("A", "A_distinct")]
    return ", ".join(dict.fromkeys(part.loc[part.value.idxmax()].miner for part in worst if len(part)))


def _run(tasks, store, description):
    """`{prefix: the joined results}` of `{prefix: tasks}`, all of them run together."""
    with contextlib.ExitStack() as stack:
        folder = store or stack.enter_context(tempfile.TemporaryDirectory())
        # The real Weka's first: some of its miners take two minutes, and should not be the last to start.
        order = sorted(tasks, key=lambda prefix: not str(prefix).startswith("Weka"))
        results = iter(
            run([task for prefix in order for task in tasks[prefix]], Store(folder), description=description)
        )
        found = {prefix: join(*(next(results) for _ in tasks[prefix])) for prefix in order if tasks[prefix]}
    return {prefix: found[prefix] for prefix in tasks if prefix in found}


def _prefixed(found, prefix):
    """Rows that are no single miner's get the name of their set; so do those of a measure that has one row."""
    names = found.miner.where(~found.miner.str.startswith((*BESIDE, "worst")), prefix + found.miner)
    return found.assign(miner=names)


def _together(parts):
    """All rows as one table; a miner of two sets is there once."""
    if not parts:
        raise ValueError("there is no sanitizer to run: give one or more.")
    return (
        join(*parts)
        .drop_duplicates(["dataset", "sanitizer", "parameters", "seed", "measure", "miner", "target"])
        .reset_index(drop=True)
    )
