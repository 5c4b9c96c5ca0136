"""The experiments of Brickell and Shmatikov 2008, section 6, on any dataset, also with sanitizers not in the paper."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import profiles
from privnb.evaluation.attributes import check_published, choose_target
from privnb.evaluation.digests import digest
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.evaluation_loop import answer_for_each, answer_question, select_possible
from privnb.evaluation.predictions import MinerNames, resolve_miners
from privnb.evaluation.profiles import ProfileName
from privnb.evaluation.results import Results, describe_setting, join_results, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import workload
from privnb.microdata.schema import Role
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners import weka
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names, parse_names
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, validated
from privnb.sanitizers import Identity, Suppress, catalogue
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

# The data sets of the paper, section 6.2: the study of each, and the workload in addition to its sensitive attribute.
PAPER = {"marital": "salary", "occupation": "marital-status"}
GROUP = 7  # sanitizers per task: each task mines U_base again, and an interruption loses one task


@dataclass(frozen=True)
class DataSet:
    """A dataset to compare, the sensitive attribute, and the neutral attribute that the researcher predicts.

    `workload`, the neutral attribute, is empty if no neutral attribute has categories. In this case, the researcher
    predicts only the sensitive attribute.
    """

    HINT = "data_sets(studies) gives them."
    dataset: Dataset
    sensitive: str
    workload: str

    @property
    def targets(self) -> list[str]:
        """The workloads of the researcher: first the one of Figures 1 and 2, then the one of Figures 3 and 4."""
        return [self.sensitive, self.workload] if self.workload else [self.sensitive]


@validated
def list_data_sets(studies: Sequence[Dataset], *, study: str = "", workload: str = "") -> list[DataSet]:
    """Return the data sets to compare, chosen from the studies of one description.

    If both data sets of the paper exist, the result contains only these two; otherwise, the result contains all data
    sets.

    The adversary predicts the first categorical sensitive attribute.

    Parameters
    ----------
    studies : list of Dataset
        The result of `load_studies`.
    study : str
        The only study to compare. If `study` is empty, the studies are chosen as described above.
    workload : str
        The attribute that the researcher predicts in the studies where the attribute is neutral. By default, the
        attribute is the one of the paper or, for other tables, the first categorical neutral attribute.

    Returns
    -------
    list of DataSet
        The list is empty if no sensitive attribute has categories.

    Raises
    ------
    ValueError
        If no study has the attribute `workload`.
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
            f"`workload` must be a categorical neutral attribute in a study of {', '.join(names)} with a categorical "
            f"sensitive attribute; got '{workload}', and the neutral attributes are {there or 'none'}. Give columns "
            "these roles in the description file."
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
    """Raise ValueError for invalid arguments before the first miner runs, instead of minutes later.

    Parameters
    ----------
    dataset : Dataset
    sets : list of DataSet
    profile : str
        The amount of work, one of `PROFILES`.
    researcher : str
        The miners of `compare_others`. If `researcher` is empty, the miners of the profile are used.
    neutral, knows
        See `compare_others`.
    miners, target
        The arguments of `users_and_adversaries.evaluate_gains` for this dataset.
    seeds : int
        The number of seeds, 0 or more.

    Raises
    ------
    ValueError
        If a name is unknown, or if none of the miners can predict the attribute.
    """
    size, mined = profiles.find_profile(profile), check_published(dataset, target or choose_target(dataset))
    profiles.list_seeds(seeds, 1)
    _check_neutral(sets, neutral, knows)
    secrets = [each.dataset.table[each.sensitive] for each in sets]
    profiles.check_miner_names("RESEARCHER", researcher or next(iter(size.workloads)), *secrets)
    published = Suppress().sanitize(dataset, rng=1).table[mined]  # labels, where the attribute is generalized
    profiles.check_miner_names("MINERS", miners or next(iter(size.gains)), published)


@validated
def compare_with_and_without(
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure Table 2, `workload.WorkloadUtility` with all quasi-identifiers and without any quasi-identifier.

    Parameters
    ----------
    sets, profile, miners, seeds, min_count, store
        See `compare_sanitizers`.

    Returns
    -------
    DataFrame
        Tidy results for each categorical sensitive and neutral attribute.
    """
    if not sets:
        return tidy([])
    tasks = {
        miners_set.name: [
            partial(
                answer_question,
                data,
                end,
                seed,
                workload.WorkloadUtility(target, name, folds=miners_set.folds),
                min_count,
            )
            for seed in miners_set.seeds
            for data in (each.dataset for each in sets)
            for target in _categories(data, Role.SENSITIVE, Role.NEUTRAL)
            for name in profiles.list_able(miners_set.every, data.table[target])
            for end in reference_sanitizers()
        ]
        for miners_set in _list_miner_sets(profile, miners, seeds)
    }
    return profiles.drop_repeated_rows(
        profiles.run_evaluations(tasks, store, "with and without quasi-identifiers").values()
    )


@validated
def compare_sanitizers(
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    seeds: Seed = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure Table 3 and Figures 1 to 4, the gains of adversary and researcher from fifteen releases per data set.

    The sanitizers are the same for both workloads of a data set, and equal releases are mined once. U_base is the
    utility that the best miner of each set of miners attains from a trivial release; each set has its own U_base,
    because the result of one miner is not a standard for another miner. Only one of the three Weka miners, J48, reads
    all releases; the other two are used only for U_base and for the neutral workload, as in the paper.

    Parameters
    ----------
    sets : list of DataSet
    profile : str
        The miners, seeds and folds, one of `PROFILES`.
    miners, seeds : str, int
        The miners and the number of seeds of the main set. If `miners` is empty or `seeds` is 0, the profile decides.
    min_count : int
        Numbers about fewer people than this are withheld.
    store : str
        The folder for finished results. If `store` is empty, no results are kept.

    Returns
    -------
    DataFrame
        The rows of `disclosures.Disclosure` and, for each target, the rows of `workload.WorkloadGain`.
    """
    cases = []
    for each in sets:
        every = _group_equal(
            each.dataset, disclosures.build_paper_sanitizers(each.sensitive, each.workload or each.sensitive)
        )
        cases += [_Case(each, target, every) for target in each.targets]
    return _compare(cases, list(_list_miner_sets(profile, miners, seeds)), min_count, store)


@validated
def compare_others(
    sets: Sequence[DataSet],
    *,
    profile: ProfileName = "quick",
    miners: MinerNames = "",
    neutral: str = "all",
    knows: str = "",
    seeds: Seed = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Compare one sanitizer of each kind in the way of `compare_sanitizers`, with a neutral workload if there is one.

    The paper does not contain this comparison. The profile sets the number of data sets; the quick profile has one data
    set. A release with noise has no classes, so the adversary guesses with the miners of the researcher. Weka is not
    used.

    Parameters
    ----------
    sets, profile, miners, seeds, min_count, store
        See `compare_sanitizers`.
    neutral : str
        The attributes that the researcher uses in addition to quasi-identifiers and sensitive attributes: "all", or
        names of neutral attributes separated by commas. A name has an effect only in the data sets in which the
        attribute is neutral.
    knows : str
        The attributes that the adversary knows in addition to quasi-identifiers, in the same form as `neutral`. If
        `knows` is empty, the adversary knows only the quasi-identifiers.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    _check_neutral(sets, neutral, knows)
    cases = []
    for each in sets[: profiles.find_profile(profile).others]:
        made = select_possible(each.dataset, catalogue.build_one_per_class(each.dataset, of=catalogue.PAPER_TREATMENTS))
        target, every = each.targets[-1], {sanitizer: sanitizer for sanitizer in [*reference_sanitizers(), *made]}
        used, known = (
            _select_neutral(each.dataset, neutral, target),
            _select_neutral(each.dataset, knows, each.sensitive),
        )
        cases.append(_Case(each, target, every, used, known))
    own = [s for s in _list_miner_sets(profile, miners, seeds) if not weka.is_weka(s.name)]
    return _compare(cases, own, min_count, store)


def measure_coins() -> pd.DataFrame:
    """Measure `disclosures.InformationShares` of the coin tosses of section 7.

    The releases are the original, the release without a2, and the trivially sanitized releases.
    """
    sanitizers = [Identity(), Suppress("a2"), *disclosures.list_trivial_sanitizers()]
    return answer_for_each(load("coins"), sanitizers, disclosures.InformationShares())


# The statements of section 7 about releases of the coins: the release, the words, the attribute, the attributes that
# are known (empty: all others that are published), and the share of its information that they reveal.
STATEMENTS: tuple[tuple[Sanitizer, str, str, str, float], ...] = (
    (Identity(), "Q reveals half of S", "a3", "a1, a2", 0.5),
    (Suppress("a2"), "without a2, Q reveals nothing about S", "a3", "a1", 0),
    (Suppress("a2"), "a4 is learned exactly from a1 and a3", "a4", "a1, a3", 1),
    (Suppress("a2"), "a5 is learned exactly from a1 and a3", "a5", "a1, a3", 1),
    (Suppress("a2"), "a3 is learned exactly from a1, a4 and a5", "a3", "a1, a4, a5", 1),
    (Suppress(), "without Q, half of a3", "a3", "", 0.5),
    (Suppress(), "without Q, nothing about a4", "a4", "", 0),
    (Suppress(), "without Q, nothing about a5", "a5", "", 0),
    (Suppress("sensitive"), "without S, nothing about a4", "a4", "", 0),
    (Suppress("sensitive"), "without S, half of a5", "a5", "", 0.5),
)


@validated
def check_statements(shares: Results) -> pd.DataFrame:
    """Compare the statements of section 7 with the measured shares of information.

    Statements about releases that are not in the results are left out.

    Parameters
    ----------
    shares : DataFrame
        The result of `measure_coins`.

    Returns
    -------
    DataFrame
        One row per statement: the claimed share, the known attributes, the measured share, the measured shares for all
        sets of known attributes, and whether the statement is true.
    """
    rows = []
    for release, words, target, others, claimed in STATEMENTS:
        found = _select_release(shares, release)
        share = found[found.target == target].set_index("knows").value
        if len(share):
            meant = others or max(share.index, key=len)
            any_set = ", ".join(f"{one:g}" for one in sorted({*(share.round(9) + 0.0)}))
            holds = "yes" if abs(share[meant] - claimed) < ROUNDING else "no"
            rows.append((words, f"{claimed:g}", meant, f"{share[meant]:g}", any_set, holds))
    columns = ["statement", "claimed", "known from", "share", "shares by any set", "holds"]
    return pd.DataFrame(rows, columns=columns).set_index("statement").rename_axis(None)


class _Case(NamedTuple):
    """One comparison; `sanitizers` maps each sanitizer to the first sanitizer with an equal release."""

    data: DataSet
    target: str
    sanitizers: Mapping[Sanitizer, Sanitizer]
    neutral: str = "all"  # neutral attributes that the researcher uses
    knows: str = ""  # neutral attributes that the adversary knows

    @property
    def column(self) -> pd.Series:
        return self.data.dataset.table[self.target]


class _Miners(NamedTuple):
    """A set of miners of the profile; the miners `base` determine U_base, and the miners `every` read all releases."""

    name: str
    base: Sequence[Any]
    every: Sequence[Any]
    seeds: range
    folds: int


def _list_miner_sets(profile: ProfileName, miners: MinerNames, seeds: Seed) -> Iterator[_Miners]:
    """Yield the sets of miners of the profile that can run on this machine, the main set first."""
    sets = profiles.find_profile(profile).workloads
    main, *_ = sets
    many = {names: repeats for names, (repeats, _) in sets.items()}
    for miner_set, names, repeats in profiles.list_miner_sets(many, miners, seeds):
        base = [miner for miner in resolve_miners("Weka basic" if names == "Weka" else names) if ": " not in miner.name]
        every = [miner for miner in base if miner.name.endswith("trees.J48")] if names == "Weka" else base
        yield _Miners(miner_set, base, every, repeats, sets.get(names, sets[main])[1])


def _compare(cases: Sequence[_Case], sets: Sequence[_Miners], min_count: MinCount, store: Folder) -> pd.DataFrame:
    """Return the rows of adversary and researcher for each case.

    The function computes U_base of each set of miners first, and then mines all releases in groups.
    """
    if not cases:
        return tidy([])
    runs = {
        f"{miners.name} {place} {seed}": (case, miners, seed)
        for miners in sets
        for place, case in enumerate(cases)
        if profiles.list_able(miners.base, case.column)
        for seed in miners.seeds
    }
    tasks = {
        key: [
            partial(answer_question, case.data.dataset, end, seed, utility, min_count)
            for end in disclosures.list_trivial_sanitizers()
            for name in profiles.list_able(
                miners.every if case.target == case.data.sensitive else miners.base, case.column
            )
            for utility in [workload.WorkloadUtility(case.target, name, case.neutral, miners.folds)]
        ]
        for key, (case, miners, seed) in runs.items()
    }
    trivial = profiles.run_evaluations(tasks, store, "mine the trivial sanitizations")
    tasks = {"adversary": [task for case in cases for task in _adversary(case, sets[0], min_count)]}
    for key, (case, miners, seed) in runs.items():
        if over := _find_best(trivial[key]):
            every = list(dict.fromkeys(case.sanitizers.values()))
            readers = ", ".join(profiles.list_able(miners.every, case.column))
            question = workload.WorkloadGain(case.target, readers, case.neutral, miners.folds, over=over)
            tasks[key] = [
                partial(
                    answer_for_each,
                    case.data.dataset,
                    every[place : place + GROUP],
                    question,
                    seed=seed,
                    min_count=min_count,
                )
                for place in range(0, len(every), GROUP)
            ]
    found = profiles.run_evaluations(tasks, store, "compare adversary and researcher")
    gains = [_repeat_shared(rows, runs[key][0].sanitizers) if key in runs else rows for key, rows in found.items()]
    return profiles.drop_repeated_rows([*gains, *trivial.values()])


def _adversary(case: _Case, main: _Miners, min_count: MinCount) -> Iterator[Any]:
    """Yield the tasks of the adversary.

    The gains are exact for releases with classes. From releases with noise, the adversary guesses with the main miners.
    """
    data, sensitive = case.data.dataset, case.data.sensitive
    asked = partial(disclosures.Disclosure.of, data, sensitive=sensitive, knows=case.knows)
    noisy = [s for s in case.sanitizers if s.randomized and s.sanitize(data, rng=1).treated("noisy")]
    exact = [sanitizer for sanitizer in case.sanitizers if sanitizer not in noisy]
    yield partial(answer_for_each, data, exact, asked(), min_count=min_count)
    if miners := ", ".join(profiles.list_able(main.every, data.table[sensitive])):
        question = asked(miners=miners)
        yield from (
            partial(answer_question, data, each, seed, question, min_count) for each in noisy for seed in main.seeds
        )


def _find_best(trivial: pd.DataFrame) -> tuple[Sanitizer, str] | None:
    """Return the trivial sanitizer and the miner of U_base, or None if no number was measured or all are withheld."""
    rows = trivial[trivial.measure == "workload_utility"].dropna(subset="value")
    if rows.empty:
        return None
    best = rows.loc[rows.value.idxmax()]
    return next(
        each for each in disclosures.list_trivial_sanitizers() if each.changed_params() == best.parameters
    ), best.miner


def _group_equal(dataset: Dataset, sanitizers: Iterable[Sanitizer]) -> dict[Sanitizer, Sanitizer]:
    """Return, for each sanitizer without random draws, the first sanitizer whose release has an equal table."""
    first: dict[bytes, Sanitizer] = {}
    tables = {each: digest(disclosures.sanitize_or_replace(dataset, each).table) for each in sanitizers}
    return {each: first.setdefault(table, each) for each, table in tables.items()}


def _repeat_shared(rows: pd.DataFrame, sanitizers: Mapping[Sanitizer, Sanitizer]) -> pd.DataFrame:
    """Return the rows, and repeat the rows of each release for every other sanitizer with an equal release."""
    again = (
        _select_release(rows, first).assign(**describe_setting(each))
        for each, first in sanitizers.items()
        if each != first
    )
    return join_results(rows, *again)


def _select_release(rows: pd.DataFrame, sanitizer: Sanitizer) -> pd.DataFrame:
    """Return the rows that describe releases of a sanitizer."""
    own = describe_setting(sanitizer)
    return rows[(rows.sanitizer == own["sanitizer"]) & (rows.parameters == own["parameters"])]


def _categories(dataset: Dataset, *roles: Role) -> list[str]:
    return [name for name in dataset.schema.names(*roles) if not dataset.schema[name].numeric]


def _select_neutral(dataset: Dataset, names: str, target: str) -> str:
    """Return the names of neutral attributes of this dataset, without the target; return "all" if `names` is "all"."""
    if names == "all":
        return names
    given = parse_names(names)
    return join_names([name for name in dataset.schema.names(Role.NEUTRAL) if name in given and name != target])


def _check_neutral(sets: Sequence[DataSet], *texts: str) -> None:
    """Raise ValueError if a name is not a neutral attribute of any data set."""
    there = {name for each in sets for name in each.dataset.schema.names(Role.NEUTRAL)}
    asked = [name for text in texts if text != "all" for name in parse_names(text)]
    if unknown := [name for name in asked if name not in there]:
        raise UsageError(
            f"neutral attributes must be among {sorted(there) or 'none'}; got {unknown}. Choose some of these "
            "attributes, or all."
        )
