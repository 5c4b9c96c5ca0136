"""The decision by an owner's policy: which settings are tried, on how many records, and what is measured of each."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd

from privnb import decision
from privnb.datasets.dataset import Dataset
from privnb.decision import by_policy, halving, policies
from privnb.decision.by_policy import Release
from privnb.decision.card import Card
from privnb.decision.points import BARE, ORIGINAL, refused
from privnb.decision.policies import Policy
from privnb.decision.summary import reservations
from privnb.evaluation import trade_off
from privnb.evaluation.attributes import first_secret
from privnb.evaluation.cases import answer
from privnb.evaluation.every_sanitizer import AVERAGED, MEASURES, appraised, diverse, family, is_marked
from privnb.evaluation.profiles import ProfileName, evaluated, profile_of
from privnb.evaluation.results import SETTING, join, setting
from privnb.evaluation.risks import questions
from privnb.evaluation.store import Folder
from privnb.microdata import withholding
from privnb.microdata.schema import LISTED, NotForThisTable, Role, Schema
from privnb.microdata.withholding import MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.sentences import listed
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, at_least, validated
from privnb.sanitizers import base
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = ["of_the_card", "searched", "searched_in_roles"]

RISK_MEASURES = [policies.measure_of(risk) for risk in policies.RISKS]
SEEDS = {"quick": 3, "full": 10}  # of what is drawn, in the last step
WITHOUT_GROUPS = "certainty_penalty"  # stands for a utility loss where a table has no large groups, or no secret


@dataclass(frozen=True, eq=False)
class Searched:
    """A decision, and how it was reached.

    Parameters
    ----------
    decision : Decision
        Of the settings that were measured on the whole table.
    results : DataFrame
        Tidy results of these.
    steps : list of (Rung, list of Sanitizer)
        As of `halving.search`; the last one is of the whole table.
    sanitizers : list of Sanitizer
        All that were measured on the whole table.
    too_many : int
        Settings that were not tried, since they cannot be given all records that are to be released.
    records : int
        That are to be released, where the decision is of a sample of them; else 0.
    roles : dict of str to Role
        Roles of neutral columns other than the description's, in which the releases were made, see `other_roles`.
    in_vain : tuple of str
        Neutral columns whose other roles were tried, and led to no release that keeps the policy.
    without : tuple of str
        What would be attainable without these columns, sentences.
    """

    HINT: ClassVar[str] = "`decision.policy_search.searched` gives it."

    decision: by_policy.Decision
    results: pd.DataFrame
    steps: list[tuple[halving.Rung, list[Sanitizer]]]
    sanitizers: list[Sanitizer]
    too_many: int = 0
    records: int = 0
    roles: Mapping[str, Role] = field(default_factory=dict)
    in_vain: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def chosen(self) -> Sanitizer | None:
        """The sanitizer that is chosen, or None."""
        return None if self.decision.chosen is None else self.sanitizer_of(self.decision.chosen)

    def sanitizer_of(self, release: pd.Series) -> Sanitizer:
        """The sanitizer of a row of `decision.releases`."""
        return next(each for each in self.sanitizers if _key(each) == tuple(release[SETTING]))

    @property
    def of_risks(self) -> pd.DataFrame:
        """The rows of `results` that are risks of the original and of what is chosen."""
        wanted = {(ORIGINAL, ""), (self.decision.sanitizer, self.decision.parameters)}
        chosen = np.array([key in wanted for key in map(tuple, self.results[SETTING].to_numpy())])
        return self.results[self.results.measure.isin(RISK_MEASURES) & chosen]

    @property
    def sentences(self) -> list[str | list[str]]:
        """The decision for people, the answer first; then what was tried."""
        tried = [f"{rung.settings} settings on {rung.records:,} records" for rung, _ in self.steps]
        answer, *others = self.decision.sentences
        first = [each for each in others[:1] if each == self.decision.certainty]  # what is certain is said first
        said = [answer, *first, *self._roles_said(), *others[len(first) :]]
        said.append(f"Tried: {', '.join(tried)}, beside the original and its suppression.")
        made = {*map(tuple, self.decision.releases[SETTING].to_numpy())}
        if failed := sum(_key(each) not in made for each in self.sanitizers):
            said.append(f"{failed} of them cannot be made of these records, as where k is more than there are.")
        if self.records:
            said.append(
                f"This was decided on a random sample of {self.steps[-1][0].records:,} of {self.records:,} records. In "
                "a file of all, fewer or more people may share a combination; they are counted before one is written."
            )
        if self.too_many:
            why = f"work on all records at once, and these are more than {base.MOST_AT_ONCE:,}"
            said.append(f"Not tried are settings that {why}: {self.too_many}.")
        return said

    def _roles_said(self) -> Iterator[str]:
        """What was done to neutral columns that an adversary may know: sentences."""
        if self.in_vain:
            yield (
                f"An adversary may know {listed(self.in_vain)}, published as in the table. Generalizing these columns "
                "and leaving them out was tried as well, and no release keeps the policy then either."
            )
            yield from self.without
        done = {Role.QUASI_IDENTIFIER: "generalizes {} like quasi-identifiers", Role.UNUSED: "leaves {} out"}
        of = {role: [name for name, own in self.roles.items() if own is role] for role in done}
        if parts := [words.format(listed(of[role])) for role, words in done.items() if of[role]]:
            yield (
                f"This release {listed(parts)}: an adversary may know these columns, and no release that publishes "
                "them as they are keeps the policy."
            )


def other_roles(schema: Schema) -> list[dict[str, Role]]:
    """Return other roles for the neutral columns that an adversary may know, by which a release may keep a policy: each
    column is generalized where it has numbers or few values, and left out otherwise; then all are left out. Empty
    without such columns.
    """
    names = [name for name in schema.knowable if schema[name].role is Role.NEUTRAL]
    able = [name for name in names if schema[name].numeric or len(schema[name].categories.values) <= LISTED]
    left_out = dict.fromkeys(names, Role.UNUSED)
    tried = [left_out | dict.fromkeys(able, Role.QUASI_IDENTIFIER)] * bool(able) + [left_out] * bool(names)
    return tried if schema.quasi_identifiers else tried[:-1]


@validated
def searched_in_roles(
    load: Callable[[Mapping[str, Role]], Dataset],
    dataset: Dataset,
    policy: policies.Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
    records: Annotated[int, at_least(0)] = 0,
) -> tuple[Dataset, Searched]:
    """Search for the release that a policy leads to; where none keeps it, or only the one without quasi-identifiers,
    also in other roles of the neutral columns.

    Parameters
    ----------
    load : function
        Loads the same records in other roles of some columns.
    dataset : Dataset
    policy : Policy
    profile, seeds, fewest, store, records
        As of `searched`.

    Returns
    -------
    tuple of Dataset and Searched
        The dataset in the roles that led to the choice, or as it is where no release keeps the policy.
    """
    asked: dict[str, Any] = {"profile": profile, "seeds": seeds, "fewest": fewest, "store": store, "records": records}
    first = searched(dataset, policy, **asked)
    of_little_use = by_policy.NONE, BARE
    if first.decision.sanitizer not in of_little_use:
        return dataset, first
    tried, without = other_roles(dataset.schema), list[str]()
    for roles in tried:
        other = load(roles)
        found = searched(other, policy, **asked)
        if found.decision.sanitizer not in of_little_use:
            return other, replace(found, roles=roles)
        without = found.decision.unattainable
    if first.chosen is not None:
        return dataset, first
    return dataset, replace(first, in_vain=tuple(tried[-1]) if tried else (), without=tuple(without))


@validated
def searched(
    dataset: Dataset,
    policy: Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
    records: Annotated[int, at_least(0)] = 0,
) -> Searched:
    """The release that a policy leads to, found by successive halving over the package's sanitizers.

    All settings of `every_sanitizer.family`, and those of `every_sanitizer.diverse`, which mix the sensitive values of
    a class, are measured on a sample of the records, the best on the whole table: those that add most to the
    hypervolume of the policy's caps and of what users lose. Those that keep the policy and lose least go on in any
    case.

    Parameters
    ----------
    dataset : Dataset
    policy : Policy
    profile : str
        How much is run, by name: one of `PROFILES`.
    seeds : int
        Repeats of what is drawn, in the last step; 0: 3, of the full profile 10.
    fewest : int
        What would tell of fewer people is withheld.
    store : str
        The folder that keeps what is finished; empty: none.
    records : int
        Of the table that is to be released, where the dataset is a sample of it: what cannot be given so many is not
        tried. 0: those of the dataset.

    Returns
    -------
    Searched

    Raises
    ------
    ValueError
        For a measure of the policy that nothing here measures.
    NotForThisTable
        For fewer than `fewest` people.
    """
    if withholding.few(people := dataset.headcount, fewest):
        raise NotForThisTable(
            f"'{dataset.name}' has {people} people, and what is of fewer than {fewest} is withheld: nothing can be "
            "decided. Take more RECORDS, or a larger table."
        )
    policy = with_possible_needs(dataset, policy)
    sizes = _sizes(profile, policy)
    tried = [*family(dataset, k=sizes, profile=profile), *diverse(dataset, k=sizes)]
    known = [each for each in tried if not each.reference]
    settings = [each for each in known if each.fits(max(records, len(dataset)))]
    results, decisions, last = {}, {}, halving.rungs(len(dataset), len(settings))[-1]
    repeats = seeds or SEEDS.get(profile, SEEDS["full"])

    def measured(tried: Sequence[Sanitizer], records: int) -> tuple[FloatArray, list[int]]:
        sample = dataset if records == len(dataset) else dataset.sample(records, rng=0)
        both, seeds = [*reference_sanitizers(), *tried], repeats if records == last.records else 1
        results[records] = measure_releases(sample, both, policy, profile, seeds, fewest, store)
        found = decisions[records] = decision.decide(results[records], policy, people=sample.headcount)
        vectors, unknown = by_policy.scaled(found.vectors), np.full(len(policy.caps) + 1, np.nan)
        open_to, keys = found.releases[found.releases.status != "refused"], [_key(each) for each in tried]
        able, kept = ([*map(tuple, rows[SETTING].to_numpy())] for rows in (open_to, open_to[open_to.kept]))
        first = [keys.index(key) for key in kept if key in keys]
        return np.array([vectors[key] if key in able else unknown for key in keys]), first

    steps = halving.search(settings, len(dataset), measured)
    tried = [*reference_sanitizers(), *steps[-1][1]]
    sampled_of = records if records > len(dataset) else 0
    made = decisions[last.records], results[last.records]
    return Searched(*made, steps, tried, len(known) - len(settings), sampled_of)


@validated
def of_the_card(card: Card, found: Searched) -> pd.DataFrame:
    """The rows of results that a card is of.

    Parameters
    ----------
    card : Card
    found : Searched

    Returns
    -------
    DataFrame
    """
    wanted = [card.content["decision"][name] for name in SETTING]
    own = found.results[(found.results[SETTING] == wanted).all(axis=1)].reset_index(drop=True)
    return join(own, reservations(card.content, own))


@validated
def measure_releases(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    policy: Policy,
    profile: ProfileName,
    seeds: int,
    fewest: MinCount,
    store: Folder,
) -> pd.DataFrame:
    """Tidy results of the releases: who shares a combination, what the policy needs, and the risks of those that may be
    chosen by the first; whatever is below the floor is refused, and its risks are not measured.
    """
    needs = [*(need.measure for need in policy.needs), by_policy.SIZES]
    users = appraised(
        dataset, sanitizers, *needs, profile=profile, seeds=seeds, floor=policy.floor, fewest=fewest, store=store
    )
    users = users[users.status != "not possible"]
    made = users.drop_duplicates(SETTING)
    below = refused(users, made, policy.floor)
    ends_too = {_key(each) for each in reference_sanitizers()}
    able = ends_too | {key for key, why in zip(map(tuple, made[SETTING].to_numpy()), below, strict=True) if not why}
    tasks = [
        partial(answer, dataset, sanitizer, seed, question, fewest)
        for sanitizer in sanitizers
        if _key(sanitizer) in able
        for seed in range(1, seeds + 1)
        for question in questions(dataset, near=policy.near_certainty)
        if seed == 1 or sanitizer.randomized or question.varies
    ]
    found = evaluated({"": tasks}, store, f"measure risks of {len(able)} releases")[""]
    return join(found, users).reset_index(drop=True)


def with_possible_needs(dataset: Dataset, policy: Policy) -> Policy:
    """The policy with needs that this table can have. Raises ValueError for a measure that nothing here measures."""
    known = [each for measures in MEASURES["utility"].values() for each in measures]
    for need in policy.needs:
        if not is_marked(need.measure, "utility"):
            expect.one_of("measure of a need", need.measure, known)
    secret = first_secret(dataset)
    if secret and trade_off.large_populations(dataset, secret) is not None:
        return policy
    lacking = AVERAGED if secret else [each for each in known if each != WITHOUT_GROUPS]
    needs = [replace(need, measure=WITHOUT_GROUPS) if need.measure in lacking else need for need in policy.needs]
    return replace(policy, needs=tuple(needs))


def _sizes(profile: str, policy: Policy) -> str:
    """The k that are tried: the policy's floor, twice that, the profile's above it, and the smallest that keeps a cap
    on the identity of the worst-off person to the letter, where custom reads the cap as a smaller group.
    """
    usual = (int(k) for k in profile_of(profile).family["k"].split(","))
    capped = (cap for cap in policy.caps if (cap.risk, cap.statistic) == ("identity", "largest"))
    outright = {math.ceil(1 / cap.at_most - ROUNDING) for cap in capped}
    sizes = {policy.floor, 2 * policy.floor, *(k for k in (*usual, *outright) if k > policy.floor)}
    return ", ".join(map(str, sorted(sizes)))


def _key(sanitizer: Sanitizer) -> Release:
    return tuple(setting(sanitizer)[name] for name in SETTING)
