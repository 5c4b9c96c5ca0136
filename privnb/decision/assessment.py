"""The assessment of a release that another tool made: its risks, its utility, and whether it complies with a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.datasets.foreign_file import ForeignFile
from privnb.decision import by_policy
from privnb.decision.by_policy import Decision
from privnb.decision.card import Card, make_card
from privnb.decision.policies import Policy
from privnb.decision.policy_search import find_release_key, measure_releases, with_possible_needs
from privnb.decision.recommended import build_use_questions
from privnb.evaluation.evaluation_loop import answer_question
from privnb.evaluation.profiles import ProfileName, run_evaluations
from privnb.evaluation.results import SETTING_COLUMNS, join_results
from privnb.evaluation.risks.criteria import build_criteria
from privnb.evaluation.risks.memorization import Memorization
from privnb.evaluation.store import Folder
from privnb.microdata.release import Release
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.validation import Count, validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.sanitizers.made_elsewhere import MadeElsewhere


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
    results : DataFrame
        Tidy results of the release and of the two reference releases.
    """

    sanitizer: MadeElsewhere
    file: ForeignFile
    release: Release
    decision: Decision
    results: pd.DataFrame

    @property
    def judged(self) -> pd.Series:
        """The row of `decision.releases` of this release."""
        return self.decision.releases.iloc[0]

    @property
    def keeps(self) -> bool:
        """Whether the release complies with the policy."""
        return self.decision.chosen is not None

    def make_card(self, dataset: Dataset) -> Card:
        """Return the card of the release."""
        return make_card(
            self.file.path, self.decision, self.results, dataset, self.judged, done=self.release.provenance.public()
        )


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
    policy = with_possible_needs(dataset, policy)
    compared = [*reference_sanitizers(), sanitizer]
    results = measure_releases(dataset, compared, policy, profile, seeds, min_count, store)
    results = join_results(results, _measure_use(dataset, compared, profile, store))
    if sanitizer.holdout and release.provenance.rows is Rows.SYNTHETIC:
        results = join_results(results, answer_question(dataset, sanitizer, 1, Memorization(), min_count))
    if sanitizer.holdout:
        tasks = [partial(answer_question, dataset, sanitizer, 1, each, min_count) for each in build_criteria(dataset)]
        results = join_results(results, run_evaluations({"": tasks}, store, "measure the three criteria")[""])
    decision = by_policy.decide(results, policy, people=dataset.headcount)
    own = (decision.releases[SETTING_COLUMNS] == [*find_release_key(sanitizer)]).all(axis=1)
    return Assessment(sanitizer, file, release, replace(decision, releases=decision.releases[own]), results)


def _measure_use(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], profile: ProfileName, store: Folder
) -> pd.DataFrame:
    """Return the information loss of releases, and the accuracy of a miner that learns from them."""
    questions = build_use_questions(dataset, profile)
    tasks = [partial(answer_question, dataset, each, 1, question) for each in sanitizers for question in questions]
    return run_evaluations({"": tasks}, store, "measure what users keep")[""]
