"""All sanitizers of the package over their parameters, measured for the efficient frontier (Li and Li 2009, section 4).

Both the privacy and the utility of each release are measured, so that any pair of measures can be the axes of a chart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation import trade_off
from privnb.evaluation.attributes import choose_target, find_sensitive
from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, Combinations, MinClassSize
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.evaluation_loop import (
    Case,
    LinkageQuestion,
    MeasureQuestion,
    Question,
    answer_case,
    answer_question,
)
from privnb.evaluation.parameters import parse_number, parse_numbers
from privnb.evaluation.predictions import Miners, resolve_miners
from privnb.evaluation.profiles import Profile, ProfileName, drop_repeated_rows, find_profile, run_evaluations
from privnb.evaluation.release_measures import InformationLoss
from privnb.evaluation.results import (
    SETTING_COLUMNS,
    Results,
    describe_setting,
    join_results,
    name_setting,
    summarize_miners,
)
from privnb.evaluation.store import Folder, Store
from privnb.evaluation.utility import group_sizes, queries, workload
from privnb.measures.base import KINDS, find_measure, measure_facts
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import AlphaKAnonymity, DistinctDiversity, KAnonymity
from privnb.privacy_models.requirement import Requirement
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import OneOrMore, Seeds, as_list, validated
from privnb.runtime.wording import write
from privnb.sanitizers import SanitizationError, catalogue
from privnb.sanitizers.base import DEFAULT_BOUNDS, Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = [
    "build_family",
    "choose_axes",
    "describe_refusals",
    "evaluate_family",
    "evaluate_release",
    "sweep_parameter",
    "vary_parameter",
]

NEARLY_CERTAIN = 0.95  # the share of a class from which a sensitive value is nearly certain
REPEATS = 10  # seeds of whatever is random; a mean of fewer results would be too uncertain
QUESTIONS: dict[str, type[Question]] = {
    "trade_off": trade_off.Losses,
    "disclosure": disclosures.Disclosure,
    "linked": LinkageQuestion,
    "costs": InformationLoss,
    "sizes": group_sizes.GroupSizes,
    "count_queries": queries.QueryErrors,
    "utility": workload.WorkloadUtility,
}
# The measures of each evaluation, by kind of axis.
MEASURES = {
    kind: {
        name: measures
        for name, question in QUESTIONS.items()
        if (measures := tuple(each for each in question.axes if measure_facts(each).kind == kind))
    }
    for kind in KINDS
}
QUESTION_BY_MEASURE = {
    each: name for measures in MEASURES.values() for name, given in measures.items() for each in given
}
GROUP_UTILITIES = ("utility_loss", "worse_than_trivial")  # utilities of large groups
AXES_WITHOUT_SENSITIVE = {
    "privacy": "reidentification_rate",
    "utility": "certainty_penalty",
}  # axes for a table without a sensitive attribute


@validated
def build_family(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letters
    t: str | float = "",
    delta: str | float = "",
    epsilon: str | float = "",
    profile: ProfileName = "quick",
) -> list[Sanitizer]:
    """Return the reference sanitizers, followed by every sanitizer of the package at each value of its parameter.

    A sanitizer without one of these parameters is built with the settings that its class lists. The parameters l, t and
    delta apply to the first sensitive attribute: l limits the share of each value in a class to 1/l
    (`FrequencyDiversity`), t is for equal distances between values, and delta is the parameter of `DeltaDisclosure`.
    The budget epsilon applies to each attribute that noise can change. The quick profile leaves out `slow` sanitizers,
    such as `KMember`, for l, t and delta.

    Parameters
    ----------
    dataset : Dataset
    k, l, t, delta, epsilon : str, int or float
        One number, or several numbers separated by commas; if empty, the numbers of the profile.
    profile : str
        The name of the profile, one of `PROFILES`.

    Returns
    -------
    list of Sanitizer
    """
    choose_target(dataset)  # there is nothing to sanitize without a quasi-identifier
    size, given = find_profile(profile).family, {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    values = {
        letter: parse_numbers(
            letter.upper(),
            size[letter] if given[letter] == "" else given[letter],
            int if letter == "k" else parse_number,
        )
        for letter in given
    }
    least = min(values["k"])
    varied = [
        sanitizer
        for letter in values
        for value in values[letter]
        for sanitizer in catalogue.build_at_bound(
            dataset, letter, value, sensitive=find_sensitive(dataset), least=least
        )
        if letter == "k" or size["all"] or not sanitizer.slow
    ]
    return reference_sanitizers() + varied + catalogue.build_without_bounds(dataset)


@validated
def build_diverse(dataset: Dataset, *, k: str | float) -> list[Sanitizer]:
    """Return the sanitizers that generalize until classes of at least `k` people are diverse in their sensitive values.

    Each sanitizer is returned in two forms, which define a diverse class in two ways. In the first form, every class
    has at least two distinct sensitive values. In the second form, no sensitive value occurs in more than 95% of a
    class (`NEARLY_CERTAIN`). A privacy model that the whole table violates is left out, because no release satisfies
    it.

    Parameters
    ----------
    dataset : Dataset
    k : str, int or float
        One number, or several numbers separated by commas.

    Returns
    -------
    list of Sanitizer
    """
    choose_target(dataset)  # there is nothing to generalize without a quasi-identifier
    found: list[Sanitizer] = []
    for size in parse_numbers("K", k, int):
        forms = (
            [DistinctDiversity(2, name) for name in dataset.schema.sensitive],
            [AlphaKAnonymity(NEARLY_CERTAIN, size, name) for name in dataset.schema.sensitive],
        )
        for models in ([each for each in form if not Requirement([each], dataset).refusal()] for form in forms):
            found += catalogue.build_generalizing(dataset, KAnonymity(size), *models) if models else []
    return found


@validated
def choose_axes(dataset: Dataset, privacy: str = "privacy_loss", utility: str = "utility_loss") -> dict[str, str]:
    """Return the two measures that are the axes of a chart: the given measures or, by default, those of Li and Li.

    If the table has no large populations, the utility loss is not defined, and the certainty penalty replaces it. If
    the table has no sensitive attribute, the certainty penalty replaces the given utility measure, and the share of
    people who are re-identified replaces the given privacy measure; only functions marked with `@measure` stay.

    Parameters
    ----------
    dataset : Dataset
    privacy, utility : str
        A name from `MEASURES`, or a function marked with `@measure` that is computed for each release.

    Returns
    -------
    dict of str to str
        `{"privacy": measure, "utility": measure}`.

    Raises
    ------
    ValueError
        If a measure is neither such a name nor such a function.
    """
    for kind, measure in (("privacy", privacy), ("utility", utility)):
        known = [each for measures in MEASURES[kind].values() for each in measures]
        if not (isinstance(measure, str) and (measure in known or is_marked(measure, kind))):
            raise UsageError(
                f"{kind.upper()} must be a measure of {kind}: one of {', '.join(known)}, or a marked function that "
                f"takes only the release, the dataset and the sensitive attribute; got "
                f"{expect.describe_value(measure)}."
            )
    found, secret = {"privacy": privacy, "utility": utility}, find_sensitive(dataset)
    if not secret:
        return {
            kind: AXES_WITHOUT_SENSITIVE[kind] if found[kind] in QUESTION_BY_MEASURE else found[kind] for kind in found
        }
    without = utility in GROUP_UTILITIES and trade_off.find_large_populations(dataset, secret) is None
    return found | ({"utility": AXES_WITHOUT_SENSITIVE["utility"]} if without else {})


@validated
def evaluate_family(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *measures: str,
    profile: ProfileName = "quick",
    miners: Miners = "",
    seeds: Seeds = 0,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure the privacy and the utility of the releases of `sanitizers`.

    `accuracy_gain` is exact for classes and buckets. A release with noise has no classes, so a gain is measured for
    each miner. In both cases, a row of the miner `worst` holds the largest gain, so that every release has such a row.
    For noise, this gain is a lower bound: it is at least 0, because anybody can guess the most common value, and the
    upper bound `high` is infinite. No miner is run on classes, because a miner cannot do better than the most common
    value of each class.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    *measures : str
        Names of measures from `MEASURES`; the full profile computes all measures.
    profile : str
        The name of the profile, one of `PROFILES`.
    miners : str, estimator, or list of those
        The miners that learn from noise; if empty, the miners of the profile.
    seeds : int
        The number of seeds of randomized sanitizers; if 0, there are 10 seeds. Other sanitizers are run once. The
        measure `workload_utility` depends on random folds, and the errors of queries depend on random queries; these
        measures are computed with all seeds for every sanitizer.
    min_class_size : int
        The minimum class size; see `evaluation.measure_combinations`.
    min_count : int
        Counts and shares of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        The rows of `trade_off.trade_off`, of `evaluation.measure_combinations`, and of the evaluations that compute
        `measures`. If a sanitizer cannot reach its bound, its only row is `classes`, with the status "not possible";
        see `describe_refusals`.
    """
    plan = _Plan(dataset, find_profile(profile), measures, miners, seeds, min_class_size, min_count)
    return plan.evaluate(as_list(sanitizers), store)


@validated
def evaluate_release(
    dataset: Dataset,
    sanitizer: Sanitizer,
    release: Release,
    *measures: str,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Measure one release that exists already, in the same way as `evaluate_family` measures releases that it makes.

    Parameters
    ----------
    dataset : Dataset
        The records of the release.
    sanitizer : Sanitizer
        The sanitizer that results name.
    release : Release
    *measures, min_class_size, min_count
        See `evaluate_family`.

    Returns
    -------
    DataFrame
    """
    plan = _Plan(dataset, find_profile("quick"), measures, "", 1, min_class_size, min_count)
    case = Case(dataset, sanitizer, 1, release, min_count)
    return plan.join([answer_case(question, case) for question in plan.questions[False].values()])


def is_marked(measure: Any, kind: Any = None) -> bool:
    """Return whether a measure outside `MEASURES` can be computed for each release.

    Such a measure is a function marked with `@measure` that takes only the release, the dataset and the sensitive
    attribute.

    Parameters
    ----------
    measure : function or other
    kind : str, optional
        The kind that the measure must have, "privacy" or "utility"; if None, any kind.

    Returns
    -------
    bool
    """
    function = find_measure(measure)
    if function is None or kind not in (None, function.facts.kind):
        return False
    try:
        return bool(MeasureQuestion(function))
    except ValueError:  # the function takes other arguments
        return False


@validated
def describe_refusals(dataset: Dataset, sanitizers: Sequence[Sanitizer], results: Results) -> Sentences:
    """Describe which sanitizers cannot reach their bounds on this table, and why.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    results : DataFrame
        The result of `evaluate_family`.

    Returns
    -------
    Sentences
    """
    found: dict[str, list[str]] = {}
    for sanitizer in sanitizers:
        for row in results[_is_refused(sanitizer, results)].head(1).itertuples():
            found.setdefault(row.reason.split(" cannot be reached: ")[-1], []).append(name_setting(row))
    refused = [{"why": reason, "settings": settings} for reason, settings in found.items()]
    return say(*write("evaluation/notes", "refusals", len(sanitizers), refused))


@validated
def vary_parameter(dataset: Dataset, tuned: str, values: Sequence[float]) -> dict[float, Sanitizer]:
    """Return, for `sweep_parameter`, one kind of sanitizer at each value of one of its parameters.

    Parameters
    ----------
    dataset : Dataset
    tuned : str
        A kind of sanitizer and the letter of a parameter, such as "Mondrian t" or "LaplaceNoise epsilon".
    values : list of float
        The values of the parameter.

    Returns
    -------
    dict of float to Sanitizer

    Raises
    ------
    ValueError
        If the kind of sanitizer lacks the parameter, or if the parameter cannot have one of the values.
    """
    expect.strings(tuned=tuned)
    expect.numbers("values", values)
    kind, _, letter = tuned.partition(" ")
    letters = tuple(DEFAULT_BOUNDS)
    made = {
        value: sanitizer
        for value in (values if letter in letters else ())
        for sanitizer in catalogue.build_at_bound(dataset, letter, value, sensitive=find_sensitive(dataset), least=2)
        if type(sanitizer).__name__ == kind
    }
    if len(made) < len(values):
        raise UsageError(
            f"TUNED must be a sanitizer and its parameter, one of {', '.join(letters)}, such as 'Mondrian t'; got "
            f"{tuned!r}."
        )
    return made


def _check_settings(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a mapping from values of a parameter to sanitizers."""
    expect.kind(name, value, Mapping, instead="`vary_parameter` gives it.")
    expect.all_of(name, list(value.values()), Sanitizer, instead=Sanitizer.HINT)


@validated
def sweep_parameter(
    dataset: Dataset,
    made: Annotated[Mapping[Any, Sanitizer], _check_settings],
    *measures: str,
    profile: ProfileName = "quick",
    miners: Miners = "",
    seeds: Seeds = 0,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> tuple[Callable[[float], pd.DataFrame], pd.DataFrame | None]:
    """Return the function of one parameter that `frontier.tune` searches.

    Parameters
    ----------
    made : dict of float to Sanitizer
        The result of `vary_parameter`.
    dataset, measures, profile, miners, seeds, min_class_size, min_count, store
        See `evaluate_family`.

    Returns
    -------
    evaluate : function
        `evaluate(value)` returns the results of the release at a value of the parameter.
    whole : DataFrame or None
        The results at all values of the parameter in the full profile; None in other profiles.
    """
    plan, whole = _Plan(dataset, find_profile(profile), measures, miners, seeds, min_class_size, min_count), None
    if plan.profile.family["all"]:
        whole = plan.evaluate(list(made.values()), store)

    def evaluate(value: Any) -> pd.DataFrame:
        sanitizer = made[value]
        results = plan.evaluate_here(sanitizer, store) if whole is None else whole[_is_about(sanitizer, whole)]
        if _is_refused(sanitizer, results).any():
            raise SanitizationError(f"{sanitizer!r} cannot be reached.")
        return results

    return evaluate, whole


@dataclass(frozen=True, eq=False)
class _Plan:
    """The evaluations and seeds of each sanitizer, from the arguments of `evaluate_family`."""

    dataset: Dataset
    profile: Profile
    measures: tuple[str, ...]
    miners: Miners
    seeds: int
    min_class_size: int
    min_count: int

    def __post_init__(self) -> None:
        for measure in self.measures:
            if not (isinstance(measure, str) and is_marked(measure)):
                expect.one_of("measures", measure, QUESTION_BY_MEASURE)
        object.__setattr__(self, "seeds", self.seeds or REPEATS)
        object.__setattr__(self, "miners", self.miners or self.profile.family["miners"])
        resolve_miners(self.miners)  # refuses an unknown name before anything runs

    @property
    def wanted(self) -> list[str]:
        """Return the names of the evaluations: `trade_off` first, then `combinations`."""
        asked = [
            name for each, name in QUESTION_BY_MEASURE.items() if self.profile.family["all"] or each in self.measures
        ]
        others = [each for each in self.measures if each not in QUESTION_BY_MEASURE]
        return list(dict.fromkeys(["trade_off", "combinations", *asked, *others]))

    @cached_property
    def questions(self) -> dict[bool, dict[str, Question]]:
        """Return the questions about releases without noise and with noise, as `{noisy: {evaluation: question}}`."""
        target = find_sensitive(self.dataset)
        # All releases share one question, since it caches their common results.
        losses: dict[str, Question] = {"trade_off": trade_off.Losses(target)} if target else {}
        losses |= {"combinations": Combinations(self.min_class_size)}
        losses |= {"linked": LinkageQuestion(), "costs": InformationLoss(), "sizes": group_sizes.GroupSizes()}
        if target:
            losses["count_queries"] = queries.QueryErrors(target, min(4, len(self.dataset.schema.quasi_identifiers)))
        if target and not self.dataset.schema[target].numeric:  # a number is seldom predicted exactly
            folds = next(iter(self.profile.workloads.values()))[1]
            losses["utility"] = workload.WorkloadUtility(target, "naive Bayes", folds=folds)
        losses |= {name: MeasureQuestion(find_measure(name)) for name in self.wanted if is_marked(name)}
        found = {}
        for noisy in (False, True):
            miners = self.miners if noisy else ""
            # The releases are those of the losses, so the records keep their order.
            given: dict[str, Any] = {"miners": miners, "permutes_records": False}
            every = losses | ({"disclosure": disclosures.Disclosure(target, **given)} if target else {})
            found[noisy] = {name: every[name] for name in self.wanted if name in every}
        return found

    def tasks(self, sanitizer: Sanitizer) -> list[partial[pd.DataFrame]]:
        """Return the tasks of a sanitizer: one task for each seed and evaluation, beginning with the losses."""
        tasks = []
        for seed in range(1, self.seeds + 1):
            for name, question in self.questions[sanitizer.treatment not in (*TRUE, "bucketized")].items():
                if seed == 1 or question.stochastic or (sanitizer.randomized and name != "costs"):
                    tasks.append(partial(answer_question, self.dataset, sanitizer, seed, question, self.min_count))
        return tasks

    def evaluate(self, sanitizers: Sequence[Sanitizer], store: Folder) -> pd.DataFrame:
        """Return the results of all sanitizers, computed in several processes."""
        tasks = [task for sanitizer in sanitizers for task in self.tasks(sanitizer)]
        return self.join(run_evaluations({"": tasks}, store, "measure releases").values())

    def evaluate_here(self, sanitizer: Sanitizer, store: Folder) -> pd.DataFrame:
        """Return the results of one sanitizer, computed in this process, because starting others takes longer."""
        call = Store(store).call if store else lambda function, *given: function(*given)
        return self.join([call(task.func, *task.args) for task in self.tasks(sanitizer)])

    def join(self, parts: Any) -> pd.DataFrame:
        """Return the rows of all parts as one table, with additional rows of the worst adversary."""
        found = drop_repeated_rows(parts)
        absent = (found.status == "not possible").groupby([found[name] for name in SETTING_COLUMNS]).transform("any")
        # One row reports that there is no release. The numbers of its stand-in are not the sanitizer's.
        found = found[~absent | (found.measure == Question.primary_measure)]
        gains = found[found.measure == "accuracy_gain"]
        return join_results(found, summarize_miners(_as_lower_bounds(gains), averages=False)) if len(gains) else found


def _as_lower_bounds(gains: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy gains; those of miners become lower bounds of at least 0, the gain of the most common value."""
    mined = gains.miner != ""
    least = {column: gains[column].mask(mined, gains[column].clip(lower=0)) for column in ("value", "baseline")}
    return gains.assign(**least, high=gains.high.mask(mined, np.inf))


def _is_refused(sanitizer: Sanitizer, results: pd.DataFrame) -> pd.Series:
    """Return, as a boolean Series, whether each row reports that a sanitizer cannot reach its bound."""
    return _is_about(sanitizer, results) & (results.status == "not possible")


def _is_about(sanitizer: Sanitizer, results: pd.DataFrame) -> pd.Series:
    """Return, as a boolean Series, whether each row is about a sanitizer."""
    named = describe_setting(sanitizer)
    return (results.sanitizer == named["sanitizer"]) & (results.parameters == named["parameters"])
