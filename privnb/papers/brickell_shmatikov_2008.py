"""The experiments of Brickell and Shmatikov 2008, section 6, on any dataset; and the same for other sanitizers.

Long, since its tables and figures share data sets, sets of miners and U_base.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.attributes import first_number, published_name
from privnb.evaluation.cases import answer, answers, possible
from privnb.evaluation.content import content
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.predictions import MinerNames, miners_of
from privnb.evaluation.profiles import (
    ProfileName,
    able,
    check_miners,
    evaluated,
    profile_of,
    repeated,
    sets_of,
    together,
)
from privnb.evaluation.results import join, setting, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import workload
from privnb.microdata import withholding
from privnb.microdata.schema import Role
from privnb.microdata.withholding import MinCount
from privnb.miners import weka
from privnb.runtime import expect
from privnb.runtime.names import name_list, names_in
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, validated
from privnb.sanitizers import Identity, Suppress, catalogue
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

# The paper's data sets: the study of each, and the workload beside its sensitive attribute. Section 6.2.
PAPER = {"marital": "salary", "occupation": "marital-status"}
GROUP = 7  # sanitizers a task: each task mines U_base anew, and a kill loses one


MADE = "data_sets(studies) gives them."


class DataSet(NamedTuple):
    """What is compared on one study: the sensitive attribute, and the neutral one that the researcher predicts.

    `workload` is empty where no neutral attribute has categories: then the researcher wants the sensitive one alone.
    """

    dataset: Dataset
    sensitive: str
    workload: str

    @property
    def targets(self) -> list[str]:
        """The researcher's workloads: Figures 1 and 2, then Figures 3 and 4."""
        return [self.sensitive, self.workload] if self.workload else [self.sensitive]


Sets = Annotated[Sequence[DataSet], lambda name, value: expect.all_of(name, value, DataSet, instead=MADE)]


@validated
def data_sets(studies: Sequence[Dataset], *, study: str = "", workload: str = "") -> list[DataSet]:
    """The data sets to compare, of studies of one description: those of the paper where both are there, else all.

    The first sensitive attribute of categories is the adversary's.

    Parameters
    ----------
    studies : list of Dataset
        Of `load_studies`.
    study : str
        That one alone; empty: as above.
    workload : str
        The researcher's in the studies where it is neutral, instead of the paper's or, in other tables, of the first
        one of categories.

    Returns
    -------
    list of DataSet
        Empty where no sensitive attribute has categories.

    Raises
    ------
    ValueError
        For a `workload` that no study has.
    """
    named = {data.name.split(" (")[0].rpartition("/")[2]: data for data in studies}
    names = [study] if study in named else list(PAPER) if set(PAPER) <= set(named) else list(named)
    found = []
    for name in names:
        sensitive, neutral = (_categories(named[name], role) for role in (Role.SENSITIVE, Role.NEUTRAL))
        wanted = [each for each in (workload, PAPER.get(name, ""), *neutral) if each in neutral]
        if sensitive:
            found.append(DataSet(named[name], sensitive[0], next(iter(wanted), "")))
    if workload and workload not in [each.workload for each in found]:
        there = sorted({each for name in names for each in _categories(named[name], Role.NEUTRAL)})
        raise ValueError(
            f"there is no study of {', '.join(names)} with a sensitive attribute of categories and '{workload}' as a "
            f"neutral one, of {there or 'none'}. Give columns these roles in the description file."
        )
    return found


@validated
def check_comparison(
    dataset: Dataset,
    sets: Sets,
    *,
    profile: ProfileName = "quick",
    researcher: str = "",
    neutral: str = "all",
    knows: str = "",
    miners: MinerNames = "",
    target: str = "",
    seeds: Seed = 0,
) -> None:
    """Refuse, before anything is mined, what would else be refused minutes later.

    Parameters
    ----------
    dataset : Dataset
    sets : list of DataSet
    profile : str
        How much is run, by name: one of `PROFILES`.
    researcher : str
        Miners, for `others` of the data sets; empty: the profile's.
    neutral, knows
        For `others` of the data sets.
    miners, target
        For `sramka_2010.gains` of the dataset.
    seeds : int
        0 or more.

    Raises
    ------
    ValueError
        For a name that is not there, and for miners of whom none can guess what they are asked for.
    """
    size, mined = profile_of(profile), published_name(dataset, target or first_number(dataset))
    repeated(seeds, 1)
    _check_neutral(sets, neutral, knows)
    check_miners("RESEARCHER", researcher or next(iter(size.workloads)), *(data.table[s] for data, s, _ in sets))
    published = Suppress().sanitize(dataset, rng=1).table[mined]  # labels, where the attribute is generalized
    check_miners("MINERS", miners or next(iter(size.gains)), published)


@validated
def with_and_without(
    sets: Sets,
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Table 2: `workload.Utility` of what a researcher could predict, with all quasi-identifiers and without.

    Parameters
    ----------
    sets, profile, miners, seeds, fewest, store
        As of `figures`.

    Returns
    -------
    DataFrame
        Tidy results for each sensitive and neutral attribute of categories.
    """
    if not sets:
        return tidy([])
    tasks = {
        miners_set.name: [
            partial(answer, data, end, seed, workload.Utility(target, name, folds=miners_set.folds), fewest)
            for seed in miners_set.seeds
            for data, *_ in sets
            for target in _categories(data, Role.SENSITIVE, Role.NEUTRAL)
            for name in able(miners_set.every, data.table[target])
            for end in reference_sanitizers()
        ]
        for miners_set in _sets(profile, miners, seeds)
    }
    return together(evaluated(tasks, store, "with and without quasi-identifiers").values())


@validated
def figures(
    sets: Sets,
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Table 3 and Figures 1 to 4: what adversary and researcher gain by each data set's fifteen sanitizations.

    The sanitizations are the same for both workloads of a data set; equal releases are mined once. U_base is of the
    best of a set's miners, for a miner is not measured by what another one can do. Of Weka's miners J48 reads all
    releases; the other two take part in U_base alone, and where the workload is neutral, as in the paper.

    Parameters
    ----------
    sets : list of DataSet
    profile : str
        The miners, seeds and folds, by name: one of `PROFILES`.
    miners, seeds : str, int
        Instead of the profile's for the main set, unless empty or 0.
    fewest : int
        Numbers of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `disclosures.Disclosure` and, for each target, of `workload.Gained`.
    """
    cases = []
    for each in sets:
        every = _alike(each.dataset, disclosures.sanitizations(each.sensitive, each.workload or each.sensitive))
        cases += [_Case(each, target, every) for target in each.targets]
    return _compared(cases, list(_sets(profile, miners, seeds)), fewest, store)


@validated
def others(
    sets: Sets,
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    neutral: str = "all",
    knows: str = "",
    seeds: Seed = 0,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """The same comparison for one sanitizer of each kind, `catalogue.family`, and a neutral workload if there is one.

    Beyond the paper, and for as many data sets as the profile says: in the quick one for the first. Noise leaves no
    classes: there the adversary guesses with the researcher's miners. Weka's take no part.

    Parameters
    ----------
    sets, profile, miners, seeds, fewest, store
        As of `figures`.
    neutral : str
        What the researcher uses beside quasi-identifiers and sensitive attributes: names of neutral attributes
        separated by commas, each for the data sets where it is one, or "all".
    knows : str
        What the adversary knows beside quasi-identifiers, written alike; empty: nothing.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    _check_neutral(sets, neutral, knows)
    cases = []
    for each in sets[: profile_of(profile).others]:
        made = possible(each.dataset, catalogue.family(each.dataset, of=catalogue.OF_PAPERS))
        cases.append(
            _Case(each, each.targets[-1], {sanitizer: sanitizer for sanitizer in [*reference_sanitizers(), *made]})
        )
    own = [s for s in _sets(profile, miners, seeds) if not weka.is_weka(s.name)]
    return _compared(cases, own, fewest, store, neutral, knows)


def coins() -> pd.DataFrame:
    """Section 7: `disclosures.Shares` of three coin flips: intact, without a2, and trivially sanitized."""
    sanitizers = [Identity(), Suppress("a2"), *disclosures.trivial()]
    return answers(load("coins"), sanitizers, disclosures.Shares())


class Statement(NamedTuple):
    """What section 7 says of a release of the coins: which share of an attribute's information others tell."""

    parameters: str | None  # of Suppress; None: nothing is suppressed
    words: str
    target: str
    given: str  # "": all else that is published
    share: float


STATEMENTS = (
    Statement(None, "Q tells half of S", "a3", "a1, a2", 0.5),
    Statement("attributes=a2", "without a2, Q tells nothing of S", "a3", "a1", 0),
    Statement("attributes=a2", "a4 is learned exactly from a1 and a3", "a4", "a1, a3", 1),
    Statement("attributes=a2", "a5 is learned exactly from a1 and a3", "a5", "a1, a3", 1),
    Statement("attributes=a2", "a3 is learned exactly from a1, a4 and a5", "a3", "a1, a4, a5", 1),
    Statement("", "without Q, half of a3", "a3", "", 0.5),
    Statement("", "without Q, nothing of a4", "a4", "", 0),
    Statement("", "without Q, nothing of a5", "a5", "", 0),
    Statement("attributes=sensitive", "without S, nothing of a4", "a4", "", 0),
    Statement("attributes=sensitive", "without S, half of a5", "a5", "", 0.5),
)


def judged(shares: pd.DataFrame) -> list[tuple[Statement, str, float, list[float], bool]]:
    """Each statement of section 7 beside what `disclosures.Shares` of the coins gives.

    A list of (statement, the set that is meant, its share, the shares that any set gives, whether the statement holds).
    Statements on releases that the results lack are left out.
    """
    found = []
    for statement in STATEMENTS:
        sanitizer, parameters = ("Identity", "") if statement.parameters is None else ("Suppress", statement.parameters)
        here = shares[(shares.sanitizer == sanitizer) & (shares.parameters == parameters)]
        share = here[here.target == statement.target].set_index("knows").value
        if len(share):
            meant = statement.given or max(share.index, key=len)
            holds = abs(share[meant] - statement.share) < ROUNDING
            found.append((statement, meant, share[meant], sorted(set(share.round(9) + 0.0)), holds))
    return found


class _Case(NamedTuple):
    """What is compared: `sanitizers` are `{sanitizer: the one whose release it has too}`."""

    data: DataSet
    target: str
    sanitizers: Mapping[Sanitizer, Sanitizer]


class _Miners(NamedTuple):
    """A set of the profile: `base` for U_base, `every` for all releases."""

    name: str
    base: Sequence[Any]
    every: Sequence[Any]
    seeds: range
    folds: int


def _sets(profile: ProfileName, miners: MinerNames, seeds: Seed) -> Iterator[_Miners]:
    """The sets of miners of the profile that can run here, the main one first."""
    sets = profile_of(profile).workloads
    main, *_ = sets
    for miner_set, names, repeats in sets_of({names: many for names, (many, _) in sets.items()}, miners, seeds):
        base = [miner for miner in miners_of("Weka three" if names == "Weka" else names) if ": " not in miner.name]
        every = [miner for miner in base if miner.name.endswith("trees.J48")] if names == "Weka" else base
        yield _Miners(miner_set, base, every, repeats, sets.get(names, sets[main])[1])


def _compared(
    cases: Sequence[_Case],
    sets: Sequence[_Miners],
    fewest: MinCount,
    store: Folder,
    neutral: str = "all",
    knows: str = "",
) -> pd.DataFrame:
    """The rows of both sides for each case: first U_base of each set of miners, then all releases in small groups."""
    if not cases:
        return tidy([])
    runs: dict[str, tuple[_Case, _Miners, int, dict[str, Any]]] = {}
    for miners in sets:
        for place, case in enumerate(cases):
            data, target = case.data.dataset, case.target
            used = neutral if neutral == "all" else _there(data, neutral, target)
            for seed in miners.seeds if able(miners.base, data.table[target]) else ():
                asked: dict[str, Any] = {"target": target, "neutral": used, "folds": miners.folds}
                runs[f"{miners.name} {place} {seed}"] = case, miners, seed, asked
    trivial = {}
    for key, (case, miners, seed, asked) in runs.items():
        names = able(miners.every if case.target == case.data.sensitive else miners.base, _column(case))
        trivial[key] = [
            partial(answer, case.data.dataset, end, seed, workload.Utility(miners=name, **asked), fewest)
            for end in disclosures.trivial()
            for name in names
        ]
    trivial = evaluated(trivial, store, "mine the trivial sanitizations")
    tasks = {"adversary": [task for case in cases for task in _adversary(case, sets[0], knows, fewest)]}
    for key, (case, miners, seed, asked) in runs.items():
        if over := _best(trivial[key]):
            every = list(dict.fromkeys(case.sanitizers.values()))
            readers = ", ".join(able(miners.every, _column(case)))
            question = workload.Gained(miners=readers, over=over, **asked)
            tasks[key] = [
                partial(answers, case.data.dataset, group, question, seed=seed, fewest=fewest)
                for group in (every[place : place + GROUP] for place in range(0, len(every), GROUP))
            ]
    found = evaluated(tasks, store, "compare adversary and researcher")
    gains = [_shared(rows, runs[key][0].sanitizers) if key in runs else rows for key, rows in found.items()]
    return together([*gains, *trivial.values()])


def _column(case: _Case) -> pd.Series:
    return case.data.dataset.table[case.target]


def _adversary(case: _Case, main: _Miners, knows: str, fewest: MinCount) -> Iterator[Any]:
    """The tasks of the adversary: exact where a release has classes, with the main set's miners where it has not."""
    data, sensitive, _ = case.data
    known = knows if knows == "all" else _there(data, knows, sensitive)
    asked = partial(disclosures.Disclosure.of, data, sensitive=sensitive, knows=known)
    noisy = [s for s in case.sanitizers if s.randomized and s.sanitize(data, rng=1).treated("noisy")]
    exact = [sanitizer for sanitizer in case.sanitizers if sanitizer not in noisy]
    yield partial(answers, data, exact, asked(), fewest=fewest)
    miners = ", ".join(able(main.every, data.table[sensitive]))
    for sanitizer in noisy if miners else ():
        question = asked(miners=miners)
        yield from (partial(answer, data, sanitizer, seed, question, fewest) for seed in main.seeds)


def _best(trivial: pd.DataFrame) -> tuple[Sanitizer, str] | None:
    """The trivial sanitization and the miner that give U_base, from rows of `utility`; None where none finished, and
    where all are withheld.
    """
    rows = trivial[trivial.measure == "workload_utility"].dropna(subset="value")
    if rows.empty:
        return None
    best = rows.loc[rows.value.idxmax()]
    return next(each for each in disclosures.trivial() if each.changed_params() == best.parameters), best.miner


def _alike(dataset: Dataset, sanitizers: Iterable[Sanitizer]) -> dict[Sanitizer, Sanitizer]:
    """`{sanitizer: the first one whose release has an equal table}`, of sanitizers that are not randomized."""
    first: dict[bytes, Sanitizer] = {}
    tables = {each: content(disclosures.released(dataset, each).table) for each in sanitizers}
    return {each: first.setdefault(table, each) for each, table in tables.items()}


def _shared(rows: pd.DataFrame, sanitizers: Mapping[Sanitizer, Sanitizer]) -> pd.DataFrame:
    """The rows, and those of one release again in the name of each other sanitizer that gives it."""
    parts = [rows]
    for each, first in sanitizers.items():
        if each != first:
            of = setting(first)
            same = (rows.sanitizer == of["sanitizer"]) & (rows.parameters == of["parameters"])
            parts.append(rows[same].assign(**setting(each)))
    return join(*parts)


def _categories(dataset: Dataset, *roles: Role) -> list[str]:
    return [name for name in dataset.schema.names(*roles) if not dataset.schema[name].numeric]


def _there(dataset: Dataset, names: str, target: str) -> str:
    """Those of the names that are neutral attributes of this dataset and help to guess the target."""
    given = names_in(names)
    return name_list([name for name in dataset.schema.names(Role.NEUTRAL) if name in given and name != target])


def _check_neutral(sets: Sets, *texts: str) -> None:
    """Refuse a name that is a neutral attribute of none of the data sets."""
    there = {name for data, *_ in sets for name in data.schema.names(Role.NEUTRAL)}
    asked = [name for text in texts if text != "all" for name in names_in(text)]
    if unknown := [name for name in asked if name not in there]:
        raise ValueError(f"{unknown} are no neutral attributes. Name some of {sorted(there) or 'none'}, or all.")
