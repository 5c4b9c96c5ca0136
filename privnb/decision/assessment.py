"""The assessment of a release that another tool made: its risks, its utility, and whether it complies with a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.datasets.foreign_file import ForeignFile
from privnb.decision import by_policy
from privnb.decision.answer import Part
from privnb.decision.by_policy import Decision, plain_number
from privnb.decision.card import Card, make_card
from privnb.decision.policies import Policy
from privnb.decision.policy_search import SEEDS, find_release_key, measure_releases, with_possible_needs
from privnb.decision.recommended import build_use_questions
from privnb.evaluation.evaluation_loop import answer_question
from privnb.evaluation.profiles import ProfileName, run_evaluations
from privnb.evaluation.results import SETTING_COLUMNS, Results, join_results
from privnb.evaluation.risks.criteria import build_criteria
from privnb.evaluation.risks.memorization import Memorization, count_equal_rows
from privnb.evaluation.store import Folder
from privnb.microdata.release import Release
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import LIMIT, MinCount, check_min_count, withhold_count, withhold_share
from privnb.runtime.notices import Notice
from privnb.runtime.sentences import list_lines
from privnb.runtime.validation import Count, Seed, instead, optional, validated
from privnb.runtime.wording import write
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.sanitizers.made_elsewhere import GivenRelease, MadeElsewhere, compare_holdout


def _shown(shown: tuple[float, float, float]) -> dict[str, float | None]:
    """Return a number with its bounds as plain values; None for NaN."""
    return dict(zip(("value", "low", "high"), map(plain_number, shown), strict=True))


@dataclass(frozen=True, eq=False)
class Assessment:
    """The assessment of one release that another tool made.

    Parameters
    ----------
    sanitizer : MadeElsewhere
        The file, and the facts that were stated about the file.
    file : ForeignFile
        How each column was read.
    release : Release
    decision : Decision
        The decision on this release alone, which is chosen if it complies with the policy.
    compared : Decision
        The decision on this release and the two reference releases.
    results : DataFrame
        Tidy results of the release and of the two reference releases.
    dataset : Dataset
        The original.
    min_count : int
        Counts of fewer people are withheld.
    """

    sanitizer: MadeElsewhere
    file: ForeignFile
    release: Release
    decision: Decision
    compared: Decision
    results: pd.DataFrame
    dataset: Dataset
    min_count: MinCount = LIMIT

    def __post_init__(self) -> None:
        check_min_count(self.min_count)

    @property
    def judged(self) -> pd.Series:
        """The row of `decision.releases` of this release."""
        return self.decision.releases.iloc[0]

    @property
    def keeps(self) -> bool:
        """Whether the release complies with the policy, as its card states."""
        return bool(self.card.content["answer"]["keeps"])

    @cached_property
    def card(self) -> Card:
        """The card of the release."""
        done = self.release.provenance.public()
        given = self.file.path, self.decision, self.results, self.dataset, self.judged
        return make_card(*given, done=done, copies=self.facts["copies"])

    @property
    def own_results(self) -> pd.DataFrame:
        """The rows of `results` about this release, without the two reference releases."""
        return self.results[self.results.sanitizer == type(self.sanitizer).__name__].reset_index(drop=True)

    @cached_property
    def facts(self) -> Part:
        """How the file was read, and what was found in its rows and in the hold-out, as plain values."""
        return {
            "file": self.file.path.name,
            "rows": self.file.rows,
            "origin": str(self.release.provenance.rows),
            "note": self.release.provenance.note,
            "columns": {
                name: {"treated": column.treated, "forms": {str(form): cells for form, cells in column.forms.items()}}
                for name, column in self.file.columns.items()
            },
            "lacking": [*self.file.lacking],
            "holdout": self._describe_holdout(),
            "copies": self._describe_copies(),
        }

    @property
    def answer(self) -> list[str]:
        """The verdict, warnings, the risks, the loss of the users and the reservations, in sentences."""
        content = self.card.content
        verdict, rest = (list_lines(write("decision/assessment", macro, content)) for macro in ("verdict", "numbers"))
        return [*verdict, *self.notices, *rest]

    @property
    def sentences(self) -> list[str]:
        """How the file was read, in sentences."""
        return list_lines(write("decision/assessment", "answer", self.facts))

    @property
    def notices(self) -> list[Notice]:
        """Warnings about the hold-out and about synthetic rows."""
        found, holdout, copies = list[Notice](), self.facts["holdout"], self.facts["copies"]
        if holdout is None:
            found.append(_notice("no-holdout", "no_holdout"))
        elif holdout["inside"]["low"] > 0:
            found.append(_notice("holdout-overlap", "overlap", holdout))
        if copies is not None and (copies["copied"]["low"] > 0 if copies["copied"] else copies["equal"]["value"] != 0):
            found.append(_notice("rows-equal-records", "copies", copies))
        return found

    def _describe_holdout(self) -> Part | None:
        others = self.sanitizer.read_holdout(self.dataset)
        if others is None:
            return None
        found, n = compare_holdout(self.dataset, others.table), len(self.dataset)
        expected, _, _ = withhold_share(found.expected * n, n, self.min_count)
        return {
            "people": found.people,
            "equal": _shown(withhold_count(found.equal, found.people, self.min_count)),
            "expected": plain_number(expected),
            "inside": {"value": found.inside, "low": found.low, "high": found.high},
        }

    def _describe_copies(self) -> Part | None:
        """Return how many synthetic rows equal a record; None for other rows."""
        if self.release.provenance.rows is not Rows.SYNTHETIC or not self.release.treated("synthetic"):
            return None
        equal, rows = count_equal_rows(self.dataset, self.release), len(self.release)
        found = self.own_results.drop_duplicates("measure").set_index("measure")
        known = "copied_share" in found.index and not np.isnan(found.low["copied_share"])
        return {
            "rows": rows,
            "equal": _shown(withhold_count(equal, rows, self.min_count)),
            "share": plain_number(withhold_share(equal, rows, self.min_count)[0]),
            "by_chance": plain_number(found.baseline["equal_share"]) if known else None,
            "copied": _shown(tuple(found.loc["copied_share", ["value", "low", "high"]])) if known else None,
        }


GivenAssessment = Annotated[Assessment | None, optional(instead(Assessment, "`assess_given` gives it."))]


def _notice(code: str, macro: str, *arguments: object) -> Notice:
    return Notice(" ".join(list_lines(write("decision/assessment", macro, *arguments))), code)


@validated
def assess_release(
    sanitizer: MadeElsewhere,
    dataset: Dataset,
    policy: Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Count = 1,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> Assessment:
    """Measure the risks and the utility of a release that another tool made, and judge it by a policy.

    Parameters
    ----------
    sanitizer : MadeElsewhere
    dataset : Dataset
        The original from which the release was made.
    policy : Policy
    profile : str
        The name of the profile, one of `PROFILES`, which sets the extent of the evaluation.
    seeds : int
        The number of repeats of random steps of the measurement.
    min_count : int
        Counts of fewer people are withheld.
    store : str
        The folder that stores finished evaluations; if empty, no evaluations are stored.

    Returns
    -------
    Assessment

    Raises
    ------
    SchemaError, SanitizationError
        For a file that cannot be read as a release of the dataset.
    """
    release, file = sanitizer.sanitize(dataset), sanitizer.read(dataset)
    sanitizer.check_holdout(dataset)
    policy = with_possible_needs(dataset, policy)
    compared = [*reference_sanitizers(), sanitizer]
    results = measure_releases(dataset, compared, policy, profile, seeds, min_count, store, refused_too=True)
    results = join_results(results, _measure_use(dataset, compared, profile, store))
    if sanitizer.holdout and release.provenance.rows is Rows.SYNTHETIC:
        results = join_results(results, answer_question(dataset, sanitizer, 1, Memorization(), min_count))
    if sanitizer.holdout:
        tasks = [partial(answer_question, dataset, sanitizer, 1, each, min_count) for each in build_criteria(dataset)]
        results = join_results(results, run_evaluations({"": tasks}, store, "measure the three criteria")[""])
    decision = by_policy.decide(results, policy, people=dataset.headcount)
    own = (decision.releases[SETTING_COLUMNS] == [*find_release_key(sanitizer)]).all(axis=1)
    alone = replace(decision, releases=decision.releases[own])
    return Assessment(sanitizer, file, release, alone, decision, results, dataset, min_count)


@validated
def assess_given(
    release: GivenRelease,
    dataset: Dataset,
    policy: Policy,
    *,
    profile: ProfileName = "quick",
    seeds: Seed = 0,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> Assessment | None:
    """Assess the release that the parameters of a notebook name; None if they name no release.

    Parameters
    ----------
    release : MadeElsewhere or None
        The result of `made_elsewhere.check_release`.
    dataset, policy, profile, min_count, store
        See `assess_release`.
    seeds : int
        See `policy_search.search_policy`, which repeats random steps as often.

    Returns
    -------
    Assessment or None
    """
    if release is None:
        return None
    repeats = seeds or SEEDS.get(profile, SEEDS["full"])
    return assess_release(release, dataset, policy, profile=profile, seeds=repeats, min_count=min_count, store=store)


@validated
def add_results(results: Results, theirs: GivenAssessment) -> pd.DataFrame:
    """Return results, followed by those of the release that another tool made, if there is such a release."""
    return results if theirs is None else join_results(results, theirs.own_results)


def _measure_use(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], profile: ProfileName, store: Folder
) -> pd.DataFrame:
    """Return the information loss of releases, and the accuracy of a miner that learns from them."""
    questions = build_use_questions(dataset, profile)
    tasks = [partial(answer_question, dataset, each, 1, question) for each in sanitizers for question in questions]
    return run_evaluations({"": tasks}, store, "measure what users keep")[""]
