"""How much is run: profiles by name, and what all experiments share."""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.evaluation.predictions import Miners, miners_of, settle_miners
from privnb.evaluation.results import KEY, check_results, join, of_one_miner
from privnb.evaluation.store import Folder, Store, run
from privnb.miners import weka
from privnb.miners.miner import Miner
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import B, C, Sentences, say
from privnb.runtime.validation import Seeds, instead, validated

__all__ = ["PROFILES", "Profile", "check_runs", "together", "weka_here"]


ProfileName = Annotated[str, instead(str, "Name one, such as quick.")]


@dataclass(frozen=True)
class Profile:
    """How much is run: for honest users, adversaries and gains `{set of miners: seeds}`, the main set first.

    "Weka" is the real one, where it is present, with the paper's own sets. `workloads`: for Brickell and Shmatikov's
    researcher, seeds and folds of the cross-validation. `queries`: how often Li and Li's COUNT queries are drawn.
    `others`: for how many of Brickell and Shmatikov's data sets other sanitizers are compared; None: all. `family`: for
    the frontier, the values of each parameter, the miners that read noise, and whether `all` is measured.
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
        {"three": 1}, {"five": 3}, {"five": 3}, workloads={"decision tree": (1, 3)}, others=1,
        family={
            "k": "10, 100, 1000", "l": "2, 4", "t": "0.2, 0.4", "delta": "2", "epsilon": "1",
            "miners": "naive Bayes, random tree", "all": False,
        },
    ),
    "full": Profile(
        {"three": 3, "gradient boosting": 1, "Weka": 1},
        {"five": 20, "script_kiddie": 1, "modern": 1, "Weka": 1},
        {"five": 3, "Weka": 1},
        # A tree a label and step: ten folds of the releases with seven labels would take hours.
        workloads={"decision tree": (3, 10), "gradient boosting": (1, 3), "Weka": (1, 10)},
        queries=10,
        family={
            "k": "2, 5, 10, 25, 50, 100, 250, 500, 1000", "l": "2, 3, 4, 5, 6", "t": "0.1, 0.2, 0.3, 0.4, 0.5, 0.6",
            "delta": "1, 1.5, 2, 3", "epsilon": "0.1, 0.3, 1, 3, 10",
            "miners": "naive Bayes, decision tree, random tree", "all": True,
        },
    ),
}  # fmt: skip


def weka_here(results: pd.DataFrame) -> Sentences:
    """Whether the real Weka made a part of `results`, and what to do if not, in sentences."""
    check_results("results", results, ["miner"])
    lacks, ran = weka.missing(), {weka.unversioned(name)[0] for name in results.miner} - {""}
    if ran:
        return say(f"Weka {min(ran)} ran beside scikit-learn's miners: the rows whose miner begins with its name.")
    if lacks:
        return say(f"{B}Weka is not here{B}: {lacks} scikit-learn's miners stand in.")
    return say(f"Weka {weka.version()} is here; this run did without. {C}privnb report -p PROFILE=full{C} runs it.")


def profile_of(name: str) -> Profile:
    """The profile of that name. Raises ValueError for an unknown one."""
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}. PROFILE is one of {', '.join(PROFILES)}.")
    return PROFILES[name]


@validated
def check_runs(profile: ProfileName, miners: Miners = "", seeds: Seeds = 0) -> None:
    """Raise ValueError for an unknown profile or miner, and for a number of repeats below 0.

    Parameters
    ----------
    profile : str
        How much is run, by name: one of `PROFILES`.
    miners : str
        Instead of the profile's, unless empty.
    seeds : int
        Repeats, or 0 for the profile's number.

    Raises
    ------
    ValueError
        As an experiment would, after minutes of other work.
    """
    profile_of(profile)
    repeated(seeds, 1)
    if miners:
        miners_of(miners)


def sets_of(sets: Any, miners: Miners, seeds: int) -> Iterator[tuple[str, Any, range]]:
    """(name of the set in results, miners, mostly by name, seeds) of each set that can run here; the main one is ""."""
    for place, (names, repeats) in enumerate(sets.items()):
        if place == 0:
            chosen = settle_miners(miners or names)
            miners_of(chosen)  # refuses an unknown name before anything runs
            yield "", chosen, repeated(seeds, repeats)
        elif names == "Weka":
            if not weka.missing():
                yield f"Weka {weka.version()}", names, range(1, repeats + 1)
        else:
            yield names, names, range(1, repeats + 1)


def able(miners: Iterable[Miner], column: Any) -> list[str]:
    """The names of those that can guess a column; Weka's are not asked: that would start Java in this process."""
    return [miner.name for miner in miners if weka.is_weka(miner.name) or miner.predicts(column)]


def check_miners(parameter: Any, names: str, *columns: Any) -> None:
    """Raise ValueError for an unknown miner in `names`, and where none of them can guess one of the columns, Series."""
    miners = miners_of(names)
    for column in columns:
        if not able(miners, column):
            raise UsageError(
                f"{parameter} is {names!r}, and none of these miners can predict '{column.name}', a column of "
                f"{'numbers' if is_numeric_dtype(column) else 'categories'}. Name one that can beside them."
            )


def repeated(seeds: int, profile: int) -> range:
    """The seeds to run: 1 to `seeds`, or to the profile's number where that is 0. Raises ValueError for any other."""
    expect.repeats("SEEDS", seeds)
    return range(1, (seeds or profile) + 1)


def evaluated(tasks: Any, store: Folder, description: str) -> dict[Any, pd.DataFrame]:
    """`{name: the joined results}` of `{name: tasks}`, all of them run together."""
    with contextlib.ExitStack() as stack:
        folder = store or stack.enter_context(tempfile.TemporaryDirectory())
        # The real Weka's first: some of its miners take two minutes, and should not be the last to start.
        order = sorted(tasks, key=lambda name: not weka.is_weka(str(name)))
        results = iter(run([task for name in order for task in tasks[name]], Store(folder), description=description))
        found = {name: join(*(next(results) for _ in tasks[name])) for name in order if tasks[name]}
    return {name: found[name] for name in tasks if name in found}


def together(parts: Any) -> pd.DataFrame:
    """All rows as one table; a miner of two sets is there once."""
    if not parts:
        raise UsageError("there is no sanitizer to run: give one or more.")
    rows = check_results("parts", join(*parts))
    once = rows.assign(miner_set=rows.miner_set.mask(of_one_miner(rows), ""))
    return rows[~once.duplicated(KEY)].reset_index(drop=True)
