"""All sanitizers of the package over their parameters, measured for the efficient frontier (Li and Li 2009, section 4).

Each release is measured on privacy and on utility, so that any pair of measures can be the axes of one chart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation import trade_off
from privnb.evaluation.attributes import first_number, first_secret
from privnb.evaluation.cases import Linked, OfMeasure, Question, answer
from privnb.evaluation.combinations import FLOOR, Combinations, Floor
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.parameters import number, numbers
from privnb.evaluation.predictions import Miners, miners_of
from privnb.evaluation.profiles import Profile, ProfileName, evaluated, profile_of, together
from privnb.evaluation.releases import Costs
from privnb.evaluation.results import SETTING, Results, join, setting, setting_name, summary
from privnb.evaluation.store import Folder, Store
from privnb.evaluation.utility import queries, sizes, workload
from privnb.measures.base import KINDS, facts, marked
from privnb.microdata.treatment import TRUE
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import AlphaKAnonymity, DistinctDiversity, KAnonymity
from privnb.privacy_models.requirement import Requirement
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import OneOrMore, Seeds, as_list, validated
from privnb.sanitizers import SanitizationError, catalogue
from privnb.sanitizers.base import USUAL, Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = ["along", "appraised", "axes", "family", "few_conditions", "left_out", "settings_along"]

SURE = 0.95  # the share of a class from which a sensitive value is nearly certain
REPEATS = 10  # of all that is random: of fewer, nothing can be said of a mean
QUESTIONS: dict[str, type[Question]] = {
    "trade_off": trade_off.Losses,
    "disclosure": disclosures.Disclosure,
    "linked": Linked,
    "costs": Costs,
    "sizes": sizes.Sizes,
    "count_queries": queries.Queries,
    "utility": workload.Utility,
}
# Which evaluation gives which measures, by the names that an axis of either kind may have.
MEASURES = {
    kind: {
        name: measures
        for name, question in QUESTIONS.items()
        if (measures := tuple(each for each in question.axes if facts(each).kind == kind))
    }
    for kind in KINDS
}
KNOWN = {each: name for measures in MEASURES.values() for name, given in measures.items() for each in given}
AVERAGED = ("utility_loss", "worse_than_trivial")  # utilities of large groups
WITHOUT = {"privacy": "reidentification_rate", "utility": "certainty_penalty"}  # what a table without a secret has


@validated
def family(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letters
    t: str | float = "",
    delta: str | float = "",
    epsilon: str | float = "",
    profile: ProfileName = "quick",
) -> list[Sanitizer]:
    """Every sanitizer of the package at each value of its parameter, between the two ends; one without such a parameter
    at the settings that its class states.

    The parameters are about the first sensitive attribute: no value belongs to more than one in l of a class
    (`FrequencyDiversity`), t is by equal distances, delta as in `DeltaDisclosure`; epsilon is spent on each attribute
    that noise can change. The quick profile does without `slow` ones, such as `KMember`, under l, t and delta.

    Parameters
    ----------
    dataset : Dataset
    k, l, t, delta, epsilon : str, int or float
        One number, or several separated by commas; empty for the profile's.
    profile : str
        How much is run, by name: one of `PROFILES`.

    Returns
    -------
    list of Sanitizer
    """
    first_number(dataset)  # there is nothing to sanitize without a quasi-identifier
    size, given = profile_of(profile).family, {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    values = {
        letter: numbers(
            letter.upper(), size[letter] if given[letter] == "" else given[letter], int if letter == "k" else number
        )
        for letter in given
    }
    least = min(values["k"])
    varied = [
        sanitizer
        for letter in values
        for value in values[letter]
        for sanitizer in catalogue.varied(dataset, letter, value, sensitive=first_secret(dataset), least=least)
        if letter == "k" or size["all"] or not sanitizer.slow
    ]
    return reference_sanitizers() + varied + catalogue.settled(dataset)


@validated
def diverse(dataset: Dataset, *, k: str | float) -> list[Sanitizer]:
    """Return the sanitizers that generalize until every class of `k` people also mixes the values of each sensitive
    attribute: at least two different values, and in a second form none with more than 95% of a class (`SURE`).

    A model that the whole table breaks is left out, since no release keeps it.

    Parameters
    ----------
    dataset : Dataset
    k : str, int or float
        One number, or several separated by commas.

    Returns
    -------
    list of Sanitizer
    """
    first_number(dataset)  # there is nothing to generalize without a quasi-identifier
    found: list[Sanitizer] = []
    for size in numbers("K", k, int):
        forms = (
            [DistinctDiversity(2, name) for name in dataset.schema.sensitive],
            [AlphaKAnonymity(SURE, size, name) for name in dataset.schema.sensitive],
        )
        for models in ([each for each in form if not Requirement([each], dataset).refusal()] for form in forms):
            found += catalogue.generalizing(dataset, KAnonymity(size), *models) if models else []
    return found


@validated
def axes(dataset: Dataset, privacy: str = "privacy_loss", utility: str = "utility_loss") -> dict[str, str]:
    """The two measures of a chart: those asked for, by default Li and Li's.

    Parameters
    ----------
    dataset : Dataset
    privacy, utility : str
        Of `MEASURES`, or a function marked with `@measure` of which each release is asked. Where a table has no large
        populations, no utility loss is defined, and the certainty penalty stands for it; so it does without a sensitive
        attribute, of which nothing can be lost either: there the privacy loss is the share of people who are found.

    Returns
    -------
    dict of str to str
        `{"privacy": measure, "utility": measure}`.

    Raises
    ------
    ValueError
        For another one.
    """
    for kind, measure in (("privacy", privacy), ("utility", utility)):
        known = [each for measures in MEASURES[kind].values() for each in measures]
        if not (isinstance(measure, str) and (measure in known or is_marked(measure, kind))):
            raise UsageError(
                f"{kind.upper()} is a measure of {kind}, one of {', '.join(known)}, or a function marked as one that "
                f"takes the release, the dataset and the sensitive attribute alone; got {expect.found(measure)}."
            )
    found, secret = {"privacy": privacy, "utility": utility}, first_secret(dataset)
    if not secret:
        return {kind: WITHOUT[kind] if found[kind] in KNOWN else found[kind] for kind in found}
    without = utility in AVERAGED and trade_off.large_populations(dataset, secret) is None
    return found | ({"utility": WITHOUT["utility"]} if without else {})


@validated
def few_conditions(dataset: Dataset) -> Sentences | None:
    """A sentence where a table has so many large populations that utility losses are of those of few conditions alone.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Sentences or None
        None where they are of all.
    """
    secret = first_secret(dataset)
    found = trade_off.large_populations(dataset, secret) if secret else None
    if found is None or found.conditions is None:
        return None
    return say(
        f"Utility losses are of the {len(found):,} large groups that at most {found.conditions} values of "
        "quasi-identifiers describe. There are too many larger conjunctions to ask for all."
    )


@validated
def appraised(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *measures: str,
    profile: ProfileName = "quick",
    miners: Miners = "",
    seeds: Seeds = 0,
    floor: Floor = FLOOR,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """The releases of `sanitizers`, measured.

    `accuracy_gain` is exact for classes and buckets. Noise has no classes: there it is what each of the miners reaches.
    The rows of miner `worst` hold either, so that every release has one; for noise a lower bound, so at least 0, for
    anybody can guess the commonest value, and with `high` infinite. No miner is run on classes, for none can guess more
    than the commonest value of each.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    *measures : str
        Of `MEASURES`; the full profile measures everything.
    profile : str
        How much is run, by name: one of `PROFILES`.
    miners : str, estimator, or list of those
        Who reads noise; empty: the profile's.
    seeds : int
        Of randomised sanitizers, 0: 10; deterministic ones are run once. `workload_utility` and the errors of queries
        vary with the folds and queries drawn, so those have as many seeds of every sanitizer.
    floor : int
        As of `evaluation.combinations`.
    fewest : int
        Counts and shares of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `trade_off.trade_off`, of `evaluation.combinations`, and of whatever else gives the measures. Where a
        sanitizer cannot do what is asked, its row `classes` is "not possible", and it has no others: see `left_out`.
    """
    plan = _Plan(dataset, profile_of(profile), measures, miners, seeds, floor, fewest)
    return plan.appraised(as_list(sanitizers), store)


def is_marked(measure: Any, kind: Any = None) -> bool:
    """Whether a measure that is none of `MEASURES` can be asked of each release: of one kind, or of either. It is a
    function marked with `@measure` that takes the release, the dataset and the sensitive attribute alone.
    """
    function = marked(measure)
    if function is None or kind not in (None, function.facts.kind):
        return False
    try:
        return bool(OfMeasure(function))
    except ValueError:  # it takes something else
        return False


@validated
def left_out(dataset: Dataset, sanitizers: Sequence[Sanitizer], results: Results) -> Sentences:
    """Which sanitizers cannot do what is asked of this table, and why.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    results : DataFrame
        Of `appraised`.

    Returns
    -------
    Sentences
    """
    found: dict[str, list[str]] = {}
    for sanitizer in sanitizers:
        for row in results[_refused(sanitizer, results)].head(1).itertuples():
            found.setdefault(row.reason.split(" cannot be reached: ")[-1], []).append(setting_name(row))
    if not found:
        return say(f"All {len(sanitizers)} settings are possible on this table.")
    reasons = [f"{'; '.join(settings)}: {reason}" for reason, settings in found.items()]
    many = sum(len(settings) for settings in found.values())
    return say(f"{many} of {len(sanitizers)} settings are not possible on this table:", reasons)


@validated
def settings_along(dataset: Dataset, tuned: str, values: Sequence[float]) -> dict[float, Sanitizer]:
    """One sanitizer at each value of one of its parameters, for `along`.

    Parameters
    ----------
    dataset : Dataset
    tuned : str
        A kind of sanitizer and its letter, such as "Mondrian t" or "LaplaceNoise epsilon".
    values : list of float
        Of the letter.

    Returns
    -------
    dict of float to Sanitizer

    Raises
    ------
    ValueError
        For a kind without that letter, and for a value that it cannot have.
    """
    expect.strings(tuned=tuned)
    expect.numbers("values", values)
    kind, _, letter = tuned.partition(" ")
    letters = tuple(USUAL)
    made = {
        value: sanitizer
        for value in (values if letter in letters else ())
        for sanitizer in catalogue.varied(dataset, letter, value, sensitive=first_secret(dataset), least=2)
        if type(sanitizer).__name__ == kind
    }
    if len(made) < len(values):
        raise UsageError(
            f"TUNED is a sanitizer and its parameter, one of {', '.join(letters)}, such as 'Mondrian t'; got {tuned!r}."
        )
    return made


def _check_made(name: str, value: Any) -> None:
    """Raise TypeError unless `value` gives sanitizers by the values of a parameter."""
    expect.kind(name, value, Mapping, instead="`settings_along` gives it.")
    expect.all_of(name, list(value.values()), Sanitizer, instead=Sanitizer.HINT)


@validated
def along(
    dataset: Dataset,
    made: Annotated[Mapping[Any, Sanitizer], _check_made],
    *measures: str,
    profile: ProfileName = "quick",
    miners: Miners = "",
    seeds: Seeds = 0,
    floor: Floor = FLOOR,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> tuple[Callable[[float], pd.DataFrame], pd.DataFrame | None]:
    """What `frontier.tune` searches along one parameter.

    Parameters
    ----------
    made : dict of float to Sanitizer
        Of `settings_along`.
    dataset, measures, profile, miners, seeds, floor, fewest, store
        As of `appraised`.

    Returns
    -------
    evaluate : function
        `evaluate(value)` gives the results of its release.
    whole : DataFrame or None
        The whole grid's results, in the full profile alone.
    """
    plan, whole = _Plan(dataset, profile_of(profile), measures, miners, seeds, floor, fewest), None
    if plan.profile.family["all"]:
        whole = plan.appraised(list(made.values()), store)

    def evaluate(value: Any) -> pd.DataFrame:
        sanitizer = made[value]
        results = plan.here(sanitizer, store) if whole is None else whole[_about(sanitizer, whole)]
        if _refused(sanitizer, results).any():
            raise SanitizationError(f"{sanitizer!r} cannot be reached.")
        return results

    return evaluate, whole


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which evaluations are made of each sanitizer, with which seeds; as `appraised` is asked."""

    dataset: Dataset
    profile: Profile
    measures: tuple[str, ...]
    miners: Miners
    seeds: int
    floor: int
    fewest: int

    def __post_init__(self) -> None:
        for measure in self.measures:
            if not (isinstance(measure, str) and is_marked(measure)):
                expect.one_of("measures", measure, KNOWN)
        object.__setattr__(self, "seeds", self.seeds or REPEATS)
        object.__setattr__(self, "miners", self.miners or self.profile.family["miners"])
        miners_of(self.miners)  # refuses an unknown name before anything runs

    @property
    def wanted(self) -> list[str]:
        """The evaluations by name, `trade_off` first, then what says who is singled out."""
        asked = [name for each, name in KNOWN.items() if self.profile.family["all"] or each in self.measures]
        others = [each for each in self.measures if each not in KNOWN]
        return list(dict.fromkeys(["trade_off", "combinations", *asked, *others]))

    @cached_property
    def questions(self) -> dict[bool, dict[str, Question]]:
        """What is asked of releases without noise and with it: `{noisy: {evaluation: question}}`."""
        target = first_secret(self.dataset)
        # One for all, since it keeps what they have in common.
        losses: dict[str, Question] = {"trade_off": trade_off.Losses(target)} if target else {}
        losses |= {"combinations": Combinations(self.floor)}
        losses |= {"linked": Linked(), "costs": Costs(), "sizes": sizes.Sizes()}
        if target:
            losses["count_queries"] = queries.Queries(target, min(4, len(self.dataset.schema.quasi_identifiers)))
        if target and not self.dataset.schema[target].numeric:  # a number is seldom predicted exactly
            folds = next(iter(self.profile.workloads.values()))[1]
            losses["utility"] = workload.Utility(target, "naive Bayes", folds=folds)
        losses |= {name: OfMeasure(marked(name)) for name in self.wanted if is_marked(name)}
        found = {}
        for noisy in (False, True):
            miners = self.miners if noisy else ""
            # Of the very releases that the losses are of.
            given: dict[str, Any] = {"miners": miners, "reorders": False}
            every = losses | ({"disclosure": disclosures.Disclosure(target, **given)} if target else {})
            found[noisy] = {name: every[name] for name in self.wanted if name in every}
        return found

    def tasks(self, sanitizer: Sanitizer) -> list[partial[pd.DataFrame]]:
        """The tasks of a sanitizer: one for each seed and evaluation, the losses first."""
        tasks = []
        for seed in range(1, self.seeds + 1):
            for name, question in self.questions[sanitizer.treatment not in (*TRUE, "bucketized")].items():
                if seed == 1 or question.varies or (sanitizer.randomized and name != "costs"):
                    tasks.append(partial(answer, self.dataset, sanitizer, seed, question, self.fewest))
        return tasks

    def appraised(self, sanitizers: Sequence[Sanitizer], store: Folder) -> pd.DataFrame:
        """The results of all sanitizers, made in several processes."""
        tasks = [task for sanitizer in sanitizers for task in self.tasks(sanitizer)]
        return self.joined(evaluated({"": tasks}, store, "measure releases").values())

    def here(self, sanitizer: Sanitizer, store: Folder) -> pd.DataFrame:
        """The results of one sanitizer, made in this process: to start others would take longer."""
        call = Store(store).call if store else lambda function, *given: function(*given)
        return self.joined([call(task.func, *task.args) for task in self.tasks(sanitizer)])

    def joined(self, parts: Any) -> pd.DataFrame:
        """All rows as one table, with those of the worst adversary."""
        found = together(parts)
        absent = (found.status == "not possible").groupby([found[name] for name in SETTING]).transform("any")
        found = found[~absent | (found.measure == Question.main)]  # said once, and a stand-in is no release of it
        gains = found[found.measure == "accuracy_gain"]
        return join(found, summary(_bounded(gains), averages=False)) if len(gains) else found


def _bounded(gains: pd.DataFrame) -> pd.DataFrame:
    """Accuracy gains; those that a miner reached as lower bounds. Who reaches less guesses the commonest value."""
    mined = gains.miner != ""
    least = {column: gains[column].mask(mined, gains[column].clip(lower=0)) for column in ("value", "baseline")}
    return gains.assign(**least, high=gains.high.mask(mined, np.inf))


def _refused(sanitizer: Sanitizer, results: pd.DataFrame) -> pd.Series:
    """Which rows say that a sanitizer could not do what it was asked: boolean Series."""
    return _about(sanitizer, results) & (results.status == "not possible")


def _about(sanitizer: Sanitizer, results: pd.DataFrame) -> pd.Series:
    """Which rows are about a sanitizer: boolean Series."""
    named = setting(sanitizer)
    return (results.sanitizer == named["sanitizer"]) & (results.parameters == named["parameters"])
