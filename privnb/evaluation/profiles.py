"""Profiles, which set the extent of a run, and helpers that all experiments share."""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.evaluation.predictions import Miners, normalize_miners, resolve_miners
from privnb.evaluation.results import KEY_COLUMNS, check_results, is_single_miner, join_results
from privnb.evaluation.store import Folder, Store, run_tasks
from privnb.miners import weka
from privnb.miners.miner import Miner
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import Seeds, instead, validated
from privnb.runtime.wording import write

__all__ = ["PROFILES", "Profile", "check_runs", "describe_weka", "drop_repeated_rows"]


ProfileName = Annotated[str, instead(str, "Name one, such as quick.")]


@dataclass(frozen=True)
class Profile:
    """The extent of a run: for users, adversaries and gains, `{set of miners: number of seeds}`, the main set first.

    "Weka" means the real Weka with the paper's own sets of miners, if it is installed. `workloads` are the numbers of
    seeds and folds of the cross-validation for Brickell and Shmatikov's researcher. `queries` is the number of draws of
    Li and Li's COUNT queries. `others` is the number of Brickell and Shmatikov's data sets for which other sanitizers
    are compared, or None for all data sets. `family` holds the values of each parameter for the frontier, the miners
    that read noise, and whether `all` measures are computed.
    """

    users: Mapping[str, int]
    adversaries: Mapping[str, int]
    gains: Mapping[str, int]
    workloads: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    queries: int = 1
    others: int | None = None
    family: Mapping[str, Any] = field(default_factory=dict)


PROFILES = {
    "quick": Profile(
        {"basic": 1}, {"standard": 3}, {"standard": 3}, workloads={"decision tree": (1, 3)}, others=1,
        family={
            "k": "10, 100, 1000", "l": "2, 4", "t": "0.2, 0.4", "delta": "2", "epsilon": "1",
            "miners": "naive Bayes, random tree", "all": False,
        },
    ),
    "full": Profile(
        {"basic": 3, "gradient boosting": 1, "Weka": 1},
        {"standard": 20, "script_kiddie": 1, "modern": 1, "Weka": 1},
        {"standard": 3, "Weka": 1},
        # Gradient boosting grows one tree per label and step; ten folds would take hours for seven labels.
        workloads={"decision tree": (3, 10), "gradient boosting": (1, 3), "Weka": (1, 10)},
        queries=10,
        family={
            "k": "2, 5, 10, 25, 50, 100, 250, 500, 1000", "l": "2, 3, 4, 5, 6", "t": "0.1, 0.2, 0.3, 0.4, 0.5, 0.6",
            "delta": "1, 1.5, 2, 3", "epsilon": "0.1, 0.3, 1, 3, 10",
            "miners": "naive Bayes, decision tree, random tree", "all": True,
        },
    ),
}  # fmt: skip


def describe_weka(results: pd.DataFrame) -> Sentences:
    """Return sentences on whether the real Weka computed a part of `results`, and if not, how to run Weka."""
    check_results("results", results, ["miner"])
    lacks, ran = weka.list_missing_requirements(), {weka.split_version(name)[0] for name in results.miner} - {""}
    if ran:
        return say(*write("evaluation/notes", "weka_ran", min(ran)))
    if lacks:
        return say(*write("evaluation/notes", "weka_lacks", lacks))
    return say(*write("evaluation/notes", "weka_unused", weka.version()))


def find_profile(name: str) -> Profile:
    """Return the profile with the given name."""
    if name not in PROFILES:
        raise UsageError(f"PROFILE must be one of {', '.join(PROFILES)}; got {name!r}.")
    return PROFILES[name]


@validated
def check_runs(profile: ProfileName, miners: Miners = "", seeds: Seeds = 0) -> None:
    """Raise an error for an unknown profile, an unknown miner or a negative number of repeats, before anything runs.

    Parameters
    ----------
    profile : str
        The name of the profile, one of `PROFILES`.
    miners : str
        The miners; if empty, the miners of the profile.
    seeds : int
        The number of repeats; if 0, the number that the profile sets.
    """
    find_profile(profile)
    list_seeds(seeds, 1)
    if miners:
        resolve_miners(miners)


def list_miner_sets(sets: Any, miners: Miners, seeds: int) -> Iterator[tuple[str, Any, range]]:
    """Yield (name, miners, seeds) of each set of miners that can run on this machine.

    The name is that of the set in results; the name of the main set is empty.
    """
    for place, (names, repeats) in enumerate(sets.items()):
        if place == 0:
            chosen = normalize_miners(miners or names)
            resolve_miners(chosen)  # refuses an unknown name before anything runs
            yield "", chosen, list_seeds(seeds, repeats)
        elif names == "Weka":
            if not weka.list_missing_requirements():
                yield f"Weka {weka.version()}", names, range(1, repeats + 1)
        else:
            yield names, names, range(1, repeats + 1)


def list_able(miners: Iterable[Miner], column: Any) -> list[str]:
    """Return the names of the miners that can guess a column.

    Weka's miners are listed without a check, because a check would start Java in this process.
    """
    return [miner.name for miner in miners if weka.is_weka(miner.name) or miner.predicts(column)]


def check_miner_names(parameter: Any, names: str, *columns: Any) -> None:
    """Raise an error for an unknown miner in `names`, or for a column that none of the miners can guess."""
    miners = resolve_miners(names)
    for column in columns:
        if not list_able(miners, column):
            raise UsageError(
                f"{parameter} must name a miner that can predict '{column.name}', a column of "
                f"{'numbers' if is_numeric_dtype(column) else 'categories'}; got {names!r}. Add such a miner."
            )


def list_seeds(seeds: int, profile: int) -> range:
    """Return the seeds to run: 1 to `seeds`, or 1 to the profile's number if `seeds` is 0."""
    expect.repeats("SEEDS", seeds)
    return range(1, (seeds or profile) + 1)


def run_evaluations(tasks: Any, store: Folder, description: str) -> dict[Any, pd.DataFrame]:
    """Run the tasks of all names of `{name: tasks}` together, and return `{name: joined results}`."""
    with contextlib.ExitStack() as stack:
        folder = store or stack.enter_context(tempfile.TemporaryDirectory())
        # Weka's tasks come first. Some of its miners take two minutes and should not be the last to start.
        order = sorted(tasks, key=lambda name: not weka.is_weka(str(name)))
        results = iter(
            run_tasks([task for name in order for task in tasks[name]], Store(folder), description=description)
        )
        found = {name: join_results(*(next(results) for _ in tasks[name])) for name in order if tasks[name]}
    return {name: found[name] for name in tasks if name in found}


def drop_repeated_rows(parts: Any) -> pd.DataFrame:
    """Join tables of results, and keep only one of the equal rows of a miner that belongs to two sets."""
    if not parts:
        raise UsageError("there is no sanitizer to run. Give at least one sanitizer.")
    rows = check_results("parts", join_results(*parts))
    once = rows.assign(miner_set=rows.miner_set.mask(is_single_miner(rows), ""))
    return rows[~once.duplicated(KEY_COLUMNS)].reset_index(drop=True)
