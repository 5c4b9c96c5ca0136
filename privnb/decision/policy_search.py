"""The search for the release that a policy leads to: the settings to try, and the records for each step."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import by_policy, halving, policies
from privnb.decision.points import BARE, ORIGINAL, find_refusals
from privnb.decision.policies import Policy
from privnb.decision.promises import Release, list_promises
from privnb.evaluation import trade_off
from privnb.evaluation.attributes import find_sensitive
from privnb.evaluation.evaluation_loop import answer_question
from privnb.evaluation.profiles import ProfileName, find_profile, run_evaluations
from privnb.evaluation.results import SETTING_COLUMNS, describe_setting, join_results, tidy
from privnb.evaluation.risks import build_informed_questions, build_questions
from privnb.evaluation.risks.together import with_previous
from privnb.evaluation.sanitizer_family import (
    GROUP_UTILITIES,
    MEASURES,
    build_diverse,
    build_family,
    evaluate_family,
    is_marked,
)
from privnb.evaluation.store import Folder
from privnb.evaluation.versions import Version
from privnb.microdata import withholding
from privnb.microdata.schema import LISTED, NotForThisTable, Role, Schema
from privnb.microdata.withholding import MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, at_least, validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = ["search_policy", "search_policy_in_roles"]

RISK_MEASURES = [policies.measure_of(risk) for risk in policies.RISKS]
SEEDS = {"quick": 3, "full": 10}  # repeats of random releases in the last step
WITHOUT_GROUPS = "certainty_penalty"  # replaces the utility loss if no group is large or no attribute is sensitive


@dataclass(frozen=True, eq=False)
class PolicySearch:
    """A decision and the search that led to it.

    Parameters
    ----------
    decision : Decision
        The decision over the settings that were measured on the whole table.
    results : DataFrame
        The tidy results of these settings.
    steps : list of (Rung, list of Sanitizer)
        The steps of `halving.search_settings`; the last step is on the whole table.
    sanitizers : list of Sanitizer
        The sanitizers that were measured on the whole table.
    too_many : int
        The number of settings that were not tried, because they cannot process all records that are to be released.
    records : int
        The number of records to release if the decision was made on a sample of them; else 0.
    roles : dict of str to Role
        The roles of neutral columns in which the releases were made, if these roles differ from the description; see
        `other_roles`.
    in_vain : tuple of str
        Neutral columns whose other roles were tried, but led to no release that complies with the policy.
    without : tuple of dict
        The caps that no release meets even without these columns, as in `Decision.unattainable`.
    """

    HINT: ClassVar[str] = "`decision.policy_search.search_policy` returns it."

    decision: by_policy.Decision
    results: pd.DataFrame
    steps: list[tuple[halving.Rung, list[Sanitizer]]]
    sanitizers: list[Sanitizer]
    too_many: int = 0
    records: int = 0
    roles: Mapping[str, Role] = field(default_factory=dict)
    in_vain: tuple[str, ...] = ()
    without: tuple[dict[str, Any], ...] = ()

    @property
    def chosen(self) -> Sanitizer | None:
        """The chosen sanitizer, or None."""
        return None if self.decision.chosen is None else self.sanitizer_of(self.decision.chosen)

    def sanitizer_of(self, release: pd.Series) -> Sanitizer:
        """Return the sanitizer of a row of `decision.releases`."""
        return next(each for each in self.sanitizers if find_release_key(each) == tuple(release[SETTING_COLUMNS]))

    @property
    def of_risks(self) -> pd.DataFrame:
        """The rows of `results` that hold the risks of the original and of the chosen release."""
        return self._of_both(RISK_MEASURES)

    @property
    def of_uses(self) -> pd.DataFrame:
        """The rows of `results` that hold the utility of the original and of the chosen release."""
        return self._of_both([*(need.measure for need in self.decision.policy.needs), by_policy.SIZES])

    @property
    def of_other_releases(self) -> pd.DataFrame:
        """The rows of `results` that the caps limit, for all releases except the original and the chosen release.

        The rows are about everybody, or about the group with the largest risk.
        """
        vectors, variants = self.decision.vectors, {(cap.measure, cap.variant) for cap in self.decision.policy.caps}
        columns = [*SETTING_COLUMNS, "measure", "group"]
        read = {*vectors[columns].itertuples(index=False, name=None)}
        rows = self.results[~self._is_compared]
        keys = zip(rows[columns].itertuples(index=False, name=None), rows.variant, strict=True)
        return rows[[key in read and (key[-2], variant) in variants for key, variant in keys]]

    def _of_both(self, measures: Sequence[str]) -> pd.DataFrame:
        return self.results[self.results.measure.isin(measures) & self._is_compared]

    @property
    def _is_compared(self) -> BoolArray:
        """Whether each row of `results` is about the original or the chosen release."""
        compared = {(ORIGINAL, ""), (self.decision.sanitizer, self.decision.parameters)}
        return np.array([key in compared for key in map(tuple, self.results[SETTING_COLUMNS].to_numpy())], dtype=bool)


def other_roles(schema: Schema) -> list[dict[str, Role]]:
    """Return other roles for neutral columns that an adversary may know; with these, a release may meet a policy.

    In the first choice of roles, columns with numbers or few values are generalized, and the other columns are left
    out; in the second choice, all these columns are left out. The list is empty if there are no such columns.
    """
    names = [name for name in schema.knowable if schema[name].role is Role.NEUTRAL]
    able = [name for name in names if schema[name].numeric or len(schema[name].categories.values) <= LISTED]
    left_out = dict.fromkeys(names, Role.UNUSED)
    tried = [left_out | dict.fromkeys(able, Role.QUASI_IDENTIFIER)] * bool(able) + [left_out] * bool(names)
    return tried if schema.quasi_identifiers else tried[:-1]


@validated
def search_policy_in_roles(
    load: Callable[[Mapping[str, Role]], Dataset],
    dataset: Dataset,
    policy: policies.Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    min_count: MinCount = withholding.LIMIT,
    store: Folder = "",
    records: Annotated[int, at_least(0)] = 0,
    previous: Version | None = None,
) -> tuple[Dataset, PolicySearch]:
    """Search for the release that a policy leads to, if necessary in other roles of the neutral columns.

    The function tries the other roles if no release complies with the policy, or if only the release without
    quasi-identifiers complies.

    Parameters
    ----------
    load : function
        A function that loads the same records with other roles for some columns.
    dataset : Dataset
    policy : Policy
    profile, seeds, min_count, store, records, previous
        The arguments of `search_policy`.

    Returns
    -------
    tuple of Dataset and PolicySearch
        The dataset in the roles that led to the choice, or in its original roles if no release complies with the
        policy.
    """
    asked: dict[str, Any] = {
        "profile": profile,
        "seeds": seeds,
        "min_count": min_count,
        "store": store,
        "records": records,
        "previous": previous,
    }
    first = search_policy(dataset, policy, **asked)
    of_little_use = by_policy.NONE, BARE
    if first.decision.sanitizer not in of_little_use:
        return dataset, first
    tried, without = other_roles(dataset.schema), list[dict[str, Any]]()
    for roles in tried:
        other = load(roles)
        found = search_policy(other, policy, **asked)
        if found.decision.sanitizer not in of_little_use:
            return other, replace(found, roles=roles)
        without = found.decision.unattainable
    if first.chosen is not None:
        return dataset, first
    return dataset, replace(first, in_vain=tuple(tried[-1]) if tried else (), without=tuple(without))


@validated
def search_policy(
    dataset: Dataset,
    policy: Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    min_count: MinCount = withholding.LIMIT,
    store: Folder = "",
    records: Annotated[int, at_least(0)] = 0,
    previous: Version | None = None,
) -> PolicySearch:
    """Search for the release that a policy leads to, by successive halving over the package's sanitizers.

    All settings of `sanitizer_family.build_family` and of `sanitizer_family.build_diverse` are measured on a sample of
    the records, and the best settings are measured on the whole table. The best settings are those that add most to the
    hypervolume over the risks that the policy caps and the loss of the users. The settings that comply with the policy
    and lose the least always go on to the next step.

    Parameters
    ----------
    dataset : Dataset
    policy : Policy
    profile : str
        The name of the profile, one of `PROFILES`, which sets the extent of the evaluation.
    seeds : int
        The number of repeats of random releases in the last step; if 0, there are 3 repeats, or 10 in the full profile.
    min_count : int
        Counts of fewer people are withheld.
    store : str
        The folder that keeps finished evaluations; if empty, evaluations are not kept.
    records : int
        The number of records to release, if the dataset is a sample of these records; settings that cannot process all
        of these records are not tried. If 0, the records of the dataset are released.
    previous : Version, optional
        An earlier release of the same people, which an adversary also holds. On the whole table, the identity risk, the
        attribute risk and certainty are those of each release together with this one, if they are larger than those of
        the release alone; see `risks.together`.

    Returns
    -------
    PolicySearch

    Raises
    ------
    ValueError
        If no evaluation computes a measure that the policy requires.
    NotForThisTable
        If the table has fewer than `min_count` people.
    """
    if withholding.is_few(people := dataset.headcount, min_count):
        raise NotForThisTable(
            f"'{dataset.name}' has {people} people, and every count of fewer than {min_count} people is withheld, so "
            "no decision is possible. Raise RECORDS, or use a larger table."
        )
    policy = with_possible_needs(dataset, policy)
    sizes = _sizes(profile, policy)
    tried = [*build_family(dataset, k=sizes, profile=profile), *build_diverse(dataset, k=sizes)]
    known = [each for each in tried if not each.reference]
    settings = [each for each in known if each.fits(max(records, len(dataset)))]
    results, decisions, last = {}, {}, halving.plan_rungs(len(dataset), len(settings))[-1]
    repeats = seeds or SEEDS.get(profile, SEEDS["full"])

    def measured(tried: Sequence[Sanitizer], records: int) -> tuple[FloatArray, list[int]]:
        sample = dataset if records == len(dataset) else dataset.sample(records, rng=0)
        both, seeds = [*reference_sanitizers(), *tried], repeats if records == last.records else 1
        held = previous if records == last.records else None  # a sample has too few people of each joint class
        results[records] = measure_releases(sample, both, policy, profile, seeds, min_count, store, held)
        found = by_policy.decide(results[records], policy, sample.headcount, list_promises(both))
        decisions[records] = found = replace(found, previous="" if held is None else held.name)
        vectors, unknown = by_policy.scale_vectors(found.vectors), np.full(len(policy.caps) + 1, np.nan)
        open_to, keys = found.releases[found.releases.status != "refused"], [find_release_key(each) for each in tried]
        able, kept = ([*map(tuple, rows[SETTING_COLUMNS].to_numpy())] for rows in (open_to, open_to[open_to.kept]))
        first = [keys.index(key) for key in kept if key in keys]
        return np.array([vectors[key] if key in able else unknown for key in keys]), first

    steps = halving.search_settings(settings, len(dataset), measured)
    tried = [*reference_sanitizers(), *steps[-1][1]]
    sampled_of = records if records > len(dataset) else 0
    decision, found = decisions[last.records], results[last.records]
    if decision.chosen is not None and not policy.is_informed:  # the card states it, and the choice does not need it
        chosen = next(each for each in tried if find_release_key(each) == tuple(decision.chosen[SETTING_COLUMNS]))
        found = join_results(found, _measure_informed(dataset, chosen, policy, repeats, min_count, store))
    return PolicySearch(decision, found, steps, tried, len(known) - len(settings), sampled_of)


@validated
def measure_releases(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    policy: Policy,
    profile: ProfileName,
    seeds: int,
    min_count: MinCount,
    store: Folder,
    previous: Version | None = None,
    *,
    refused_too: bool = False,
) -> pd.DataFrame:
    """Measure the combination sizes of releases, the measures of the policy's needs, and the risks.

    The risks of releases below the policy's minimum class size are not measured unless `refused_too` is true, because
    these releases are never chosen. `previous` is an earlier release, as in `search_policy`.
    """
    needs = [*(need.measure for need in policy.needs), by_policy.SIZES]
    users = evaluate_family(
        dataset,
        sanitizers,
        *needs,
        profile=profile,
        seeds=seeds,
        min_class_size=policy.min_class_size,
        min_count=min_count,
        store=store,
    )
    users = users[users.status != "not possible"]
    made = users.drop_duplicates(SETTING_COLUMNS)
    below = find_refusals(users, made, policy.min_class_size)
    ends_too = {find_release_key(each) for each in reference_sanitizers()}
    able = ends_too | {
        key
        for key, why in zip(map(tuple, made[SETTING_COLUMNS].to_numpy()), below, strict=True)
        if refused_too or not why
    }
    questions = build_questions(dataset, near=policy.near_certainty)
    if policy.is_informed:
        questions += build_informed_questions(dataset, near=policy.near_certainty)
    tasks = [
        partial(answer_question, dataset, sanitizer, seed, question, min_count)
        for sanitizer in sanitizers
        if find_release_key(sanitizer) in able
        for seed in range(1, seeds + 1)
        for question in with_previous(questions, previous)
        if seed == 1 or sanitizer.randomized or question.stochastic
    ]
    found = run_evaluations({"": tasks}, store, f"measure risks of {len(able)} releases")[""]
    return join_results(found, users).reset_index(drop=True)


def _measure_informed(
    dataset: Dataset, sanitizer: Sanitizer, policy: Policy, seeds: int, min_count: int, store: Folder
) -> pd.DataFrame:
    """Measure what an adversary who knows the algorithm learns from the releases of one sanitizer."""
    questions = build_informed_questions(dataset, near=policy.near_certainty)
    seeds = seeds if sanitizer.randomized else 1
    tasks = [
        partial(answer_question, dataset, sanitizer, seed, question, min_count)
        for seed in range(1, seeds + 1)
        for question in questions
    ]
    return run_evaluations({"": tasks}, store, "attack the chosen release")[""] if tasks else tidy([])


def with_possible_needs(dataset: Dataset, policy: Policy) -> Policy:
    """Return the policy with the needs that can be measured on this table; raise ValueError for an unknown measure."""
    known = [each for measures in MEASURES["utility"].values() for each in measures]
    for need in policy.needs:
        if not is_marked(need.measure, "utility"):
            expect.one_of("measure of a need", need.measure, known)
    sensitive = find_sensitive(dataset)
    if sensitive and trade_off.find_large_populations(dataset, sensitive) is not None:
        return policy
    lacking = GROUP_UTILITIES if sensitive else [each for each in known if each != WITHOUT_GROUPS]
    needs = [replace(need, measure=WITHOUT_GROUPS) if need.measure in lacking else need for need in policy.needs]
    return replace(policy, needs=tuple(needs))


def _sizes(profile: str, policy: Policy) -> str:
    """Return, as a text, the values of k to try.

    The values are the policy's minimum class size, twice that size, the larger values of the profile, and, for a cap
    with a lenient reading on the identity risk of the worst-off person, the smallest k that meets the cap as it is
    written.
    """
    usual = (int(k) for k in find_profile(profile).family["k"].split(","))
    capped = (cap for cap in policy.caps if (cap.risk, cap.statistic) == ("identity", "largest"))
    outright = {math.ceil(1 / cap.at_most - ROUNDING) for cap in capped}
    sizes = {
        policy.min_class_size,
        2 * policy.min_class_size,
        *(k for k in (*usual, *outright) if k > policy.min_class_size),
    }
    return ", ".join(map(str, sorted(sizes)))


def find_release_key(sanitizer: Sanitizer) -> Release:
    """Return the sanitizer and the parameters that identify a release in results."""
    return tuple(describe_setting(sanitizer)[name] for name in SETTING_COLUMNS)
