"""The experiments of Brickell and Shmatikov 2008, section 6, on any dataset; and the same for other sanitizers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import profiles
from privnb.evaluation.attributes import first_number, published_name
from privnb.evaluation.cases import answer, answers, possible
from privnb.evaluation.content import content
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.predictions import MinerNames, miners_of
from privnb.evaluation.profiles import ProfileName
from privnb.evaluation.results import Results, join, setting, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import workload
from privnb.microdata.schema import Role
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners import weka
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list, names_in
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, validated
from privnb.sanitizers import Identity, Suppress, catalogue
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

# The paper's data sets: the study of each, and the workload beside its sensitive attribute. Section 6.2.
PAPER = {"marital": "salary", "occupation": "marital-status"}
GROUP = 7  # sanitizers a task: each task mines U_base anew, and a kill loses one


@dataclass(frozen=True)
class DataSet:
    """What is compared on one study: the sensitive attribute, and the neutral one that the researcher predicts.

    `workload` is empty where no neutral attribute has categories: then the researcher wants the sensitive one alone.
    """

    HINT = "data_sets(studies) gives them."
    dataset: Dataset
    sensitive: str
    workload: str

    @property
    def targets(self) -> list[str]:
        """The researcher's workloads: Figures 1 and 2, then Figures 3 and 4."""
        return [self.sensitive, self.workload] if self.workload else [self.sensitive]


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
        raise UsageError(
            f"there is no study of {', '.join(names)} with a sensitive attribute of categories and '{workload}' as a "
            f"neutral one, of {there or 'none'}. Give columns these roles in the description file."
        )
    return found


@validated
def check_comparison(
    dataset: Dataset,
    sets: Sequence[DataSet],
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
    size, mined = profiles.profile_of(profile), published_name(dataset, target or first_number(dataset))
    profiles.repeated(seeds, 1)
    _check_neutral(sets, neutral, knows)
    secrets = [each.dataset.table[each.sensitive] for each in sets]
    profiles.check_miners("RESEARCHER", researcher or next(iter(size.workloads)), *secrets)
    published = Suppress().sanitize(dataset, rng=1).table[mined]  # labels, where the attribute is generalized
    profiles.check_miners("MINERS", miners or next(iter(size.gains)), published)


@validated
def with_and_without(
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    fewest: MinCount = LIMIT,
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
            for data in (each.dataset for each in sets)
            for target in _categories(data, Role.SENSITIVE, Role.NEUTRAL)
            for name in profiles.able(miners_set.every, data.table[target])
            for end in reference_sanitizers()
        ]
        for miners_set in _sets(profile, miners, seeds)
    }
    return profiles.together(profiles.evaluated(tasks, store, "with and without quasi-identifiers").values())


@validated
def figures(
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    fewest: MinCount = LIMIT,
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
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    neutral: str = "all",
    knows: str = "",
    seeds: Seed = 0,
    fewest: MinCount = LIMIT,
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
    for each in sets[: profiles.profile_of(profile).others]:
        made = possible(each.dataset, catalogue.family(each.dataset, of=catalogue.OF_PAPERS))
        target, every = each.targets[-1], {sanitizer: sanitizer for sanitizer in [*reference_sanitizers(), *made]}
        used, known = _there(each.dataset, neutral, target), _there(each.dataset, knows, each.sensitive)
        cases.append(_Case(each, target, every, used, known))
    own = [s for s in _sets(profile, miners, seeds) if not weka.is_weka(s.name)]
    return _compared(cases, own, fewest, store)


def coins() -> pd.DataFrame:
    """Section 7: `disclosures.Shares` of three coin flips: intact, without a2, and trivially sanitized."""
    sanitizers = [Identity(), Suppress("a2"), *disclosures.trivial()]
    return answers(load("coins"), sanitizers, disclosures.Shares())


# What section 7 says of releases of the coins, in words, and which share of an attribute's information others tell;
# without others all else that is published.
STATEMENTS: tuple[tuple[Sanitizer, str, str, str, float], ...] = (
    (Identity(), "Q tells half of S", "a3", "a1, a2", 0.5),
    (Suppress("a2"), "without a2, Q tells nothing of S", "a3", "a1", 0),
    (Suppress("a2"), "a4 is learned exactly from a1 and a3", "a4", "a1, a3", 1),
    (Suppress("a2"), "a5 is learned exactly from a1 and a3", "a5", "a1, a3", 1),
    (Suppress("a2"), "a3 is learned exactly from a1, a4 and a5", "a3", "a1, a4, a5", 1),
    (Suppress(), "without Q, half of a3", "a3", "", 0.5),
    (Suppress(), "without Q, nothing of a4", "a4", "", 0),
    (Suppress(), "without Q, nothing of a5", "a5", "", 0),
    (Suppress("sensitive"), "without S, nothing of a4", "a4", "", 0),
    (Suppress("sensitive"), "without S, half of a5", "a5", "", 0.5),
)


@validated
def statements(shares: Results) -> pd.DataFrame:
    """The statements of section 7 beside the share of the information that is measured, and whether they hold.

    Statements on releases that the results lack are left out.

    Parameters
    ----------
    shares : DataFrame
        Of `coins`.

    Returns
    -------
    DataFrame
        One row a statement: what it claims, the set of attributes that is meant, its share, the shares that any set
        gives, and whether the statement holds.
    """
    rows = []
    for release, words, target, others, claimed in STATEMENTS:
        found = _of(shares, release)
        share = found[found.target == target].set_index("knows").value
        if len(share):
            meant = others or max(share.index, key=len)
            any_set = ", ".join(f"{one:g}" for one in sorted({*(share.round(9) + 0.0)}))
            holds = "yes" if abs(share[meant] - claimed) < ROUNDING else "no"
            rows.append((words, f"{claimed:g}", meant, f"{share[meant]:g}", any_set, holds))
    columns = ["statement", "claimed", "known from", "share", "shares by any set", "holds"]
    return pd.DataFrame(rows, columns=columns).set_index("statement").rename_axis(None)


class _Case(NamedTuple):
    """What is compared: `sanitizers` are `{sanitizer: the one whose release it has too}`."""

    data: DataSet
    target: str
    sanitizers: Mapping[Sanitizer, Sanitizer]
    neutral: str = "all"  # what the researcher uses, and
    knows: str = ""  # what the adversary knows beside quasi-identifiers

    @property
    def column(self) -> pd.Series:
        return self.data.dataset.table[self.target]


class _Miners(NamedTuple):
    """A set of the profile: `base` for U_base, `every` for all releases."""

    name: str
    base: Sequence[Any]
    every: Sequence[Any]
    seeds: range
    folds: int


def _sets(profile: ProfileName, miners: MinerNames, seeds: Seed) -> Iterator[_Miners]:
    """The sets of miners of the profile that can run here, the main one first."""
    sets = profiles.profile_of(profile).workloads
    main, *_ = sets
    many = {names: repeats for names, (repeats, _) in sets.items()}
    for miner_set, names, repeats in profiles.sets_of(many, miners, seeds):
        base = [miner for miner in miners_of("Weka three" if names == "Weka" else names) if ": " not in miner.name]
        every = [miner for miner in base if miner.name.endswith("trees.J48")] if names == "Weka" else base
        yield _Miners(miner_set, base, every, repeats, sets.get(names, sets[main])[1])


def _compared(cases: Sequence[_Case], sets: Sequence[_Miners], fewest: MinCount, store: Folder) -> pd.DataFrame:
    """The rows of both sides for each case: first U_base of each set of miners, then all releases in small groups."""
    if not cases:
        return tidy([])
    runs = {
        f"{miners.name} {place} {seed}": (case, miners, seed)
        for miners in sets
        for place, case in enumerate(cases)
        if profiles.able(miners.base, case.column)
        for seed in miners.seeds
    }
    tasks = {
        key: [
            partial(answer, case.data.dataset, end, seed, utility, fewest)
            for end in disclosures.trivial()
            for name in profiles.able(miners.every if case.target == case.data.sensitive else miners.base, case.column)
            for utility in [workload.Utility(case.target, name, case.neutral, miners.folds)]
        ]
        for key, (case, miners, seed) in runs.items()
    }
    trivial = profiles.evaluated(tasks, store, "mine the trivial sanitizations")
    tasks = {"adversary": [task for case in cases for task in _adversary(case, sets[0], fewest)]}
    for key, (case, miners, seed) in runs.items():
        if over := _best(trivial[key]):
            every = list(dict.fromkeys(case.sanitizers.values()))
            readers = ", ".join(profiles.able(miners.every, case.column))
            question = workload.Gained(case.target, readers, case.neutral, miners.folds, over=over)
            tasks[key] = [
                partial(answers, case.data.dataset, every[place : place + GROUP], question, seed=seed, fewest=fewest)
                for place in range(0, len(every), GROUP)
            ]
    found = profiles.evaluated(tasks, store, "compare adversary and researcher")
    gains = [_shared(rows, runs[key][0].sanitizers) if key in runs else rows for key, rows in found.items()]
    return profiles.together([*gains, *trivial.values()])


def _adversary(case: _Case, main: _Miners, fewest: MinCount) -> Iterator[Any]:
    """The tasks of the adversary: exact where a release has classes, with the main set's miners where it has not."""
    data, sensitive = case.data.dataset, case.data.sensitive
    asked = partial(disclosures.Disclosure.of, data, sensitive=sensitive, knows=case.knows)
    noisy = [s for s in case.sanitizers if s.randomized and s.sanitize(data, rng=1).treated("noisy")]
    exact = [sanitizer for sanitizer in case.sanitizers if sanitizer not in noisy]
    yield partial(answers, data, exact, asked(), fewest=fewest)
    if miners := ", ".join(profiles.able(main.every, data.table[sensitive])):
        question = asked(miners=miners)
        yield from (partial(answer, data, each, seed, question, fewest) for each in noisy for seed in main.seeds)


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
    again = (_of(rows, first).assign(**setting(each)) for each, first in sanitizers.items() if each != first)
    return join(rows, *again)


def _of(rows: pd.DataFrame, sanitizer: Sanitizer) -> pd.DataFrame:
    """The rows of a sanitizer's releases."""
    own = setting(sanitizer)
    return rows[(rows.sanitizer == own["sanitizer"]) & (rows.parameters == own["parameters"])]


def _categories(dataset: Dataset, *roles: Role) -> list[str]:
    return [name for name in dataset.schema.names(*roles) if not dataset.schema[name].numeric]


def _there(dataset: Dataset, names: str, target: str) -> str:
    """Those of the names that are neutral attributes of this dataset and help to guess the target; or "all"."""
    if names == "all":
        return names
    given = names_in(names)
    return name_list([name for name in dataset.schema.names(Role.NEUTRAL) if name in given and name != target])


def _check_neutral(sets: Sequence[DataSet], *texts: str) -> None:
    """Refuse a name that is a neutral attribute of none of the data sets."""
    there = {name for each in sets for name in each.dataset.schema.names(Role.NEUTRAL)}
    asked = [name for text in texts if text != "all" for name in names_in(text)]
    if unknown := [name for name in asked if name not in there]:
        raise UsageError(f"{unknown} are no neutral attributes. Name some of {sorted(there) or 'none'}, or all.")
