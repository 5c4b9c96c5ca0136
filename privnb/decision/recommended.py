"""The results of a decision: the risks and utility of the chosen release and of the original, and a card's rows."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.card import Card
from privnb.decision.explanation import explain_refusal
from privnb.decision.policy_search import PolicySearch
from privnb.evaluation.attributes import find_sensitive
from privnb.evaluation.column_distributions import ColumnChanges, measure_distributions
from privnb.evaluation.evaluation_loop import Question, answer_question
from privnb.evaluation.profiles import ProfileName, drop_repeated_rows, find_profile, run_evaluations
from privnb.evaluation.release_measures import InformationLoss
from privnb.evaluation.results import RELEASE_COLUMNS, SETTING_COLUMNS, build_row, describe_setting, join_results, tidy
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import workload
from privnb.measures.base import register_measure
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import reference_sanitizers

register_measure(
    "recommended",
    sentence="This is 1 for the release to which the owner's policy leads, and 0 for any other release.",
    format="{:,}",
    bounds=(0, 1),
)
register_measure(
    "reservations",
    sentence="The card of a release that keeps its policy states this number of reservations.",
    format="{:,}",
    bounds=(0, np.inf),
)


@validated
def build_use_questions(dataset: Dataset, profile: ProfileName) -> list[Question]:
    """Return the questions about the utility of a release: its information loss, and the accuracy of a miner."""
    target = find_sensitive(dataset)
    if not target or dataset.schema[target].numeric:  # a number is seldom predicted exactly
        return [InformationLoss()]
    miner, (_, folds) = next(iter(find_profile(profile).workloads.items()))
    return [InformationLoss(), workload.WorkloadUtility(target, miner, folds=folds)]


@validated
def measure_choice(
    dataset: Dataset, found: PolicySearch, *, profile: ProfileName = "quick", store: Folder = ""
) -> pd.DataFrame:
    """Return the results of the chosen release and of the original: their risks and their utility.

    Parameters
    ----------
    dataset : Dataset
    found : PolicySearch
    profile : str
        The name of the profile, one of `PROFILES`, which sets the extent of the evaluation.
    store : str
        The folder that stores finished evaluations; if empty, no evaluations are stored.

    Returns
    -------
    DataFrame
        Tidy results, with a row `recommended`, whose status is "not possible" if no release is chosen.
    """
    questions = build_use_questions(dataset, profile)
    original, bare = reference_sanitizers()
    both = [original, *filter(None, [found.chosen])]
    tasks = [partial(answer_question, dataset, each, 1, question) for each in both for question in questions]
    tasks.append(partial(answer_question, dataset, bare, 1, InformationLoss()))
    measured = run_evaluations({"": tasks}, store, "measure what users keep")[""]
    made: dict[str, Any] = {"dataset": dataset.name, "seed": np.nan}
    chosen: dict[str, Any] = {"sanitizer": "none"} if found.chosen is None else describe_setting(found.chosen)
    is_there, status = (np.nan, "not possible") if found.chosen is None else (1, "")
    reason = "" if found.chosen else explain_refusal(found, dataset)
    recommended = build_row("recommended", is_there, status=status, reason=reason, **chosen, **made)
    return drop_repeated_rows([join_results(tidy([recommended]), found.of_risks, found.of_uses, measured)])


@validated
def compare_columns(
    dataset: Dataset, found: PolicySearch, *, min_count: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Return the distribution of each column in the original and in the chosen release.

    Parameters
    ----------
    dataset : Dataset
    found : PolicySearch
    min_count : int
        Counts of fewer people are withheld or merged with other counts.
    store : str
        The folder that stores finished evaluations; if empty, no evaluations are stored.

    Returns
    -------
    DataFrame
        Tidy results of `measure_distributions` and of `ColumnChanges`; if no release is chosen, only the results of
        `measure_distributions`.
    """
    original = measure_distributions(dataset, min_count=min_count)
    if found.chosen is None:
        return original
    task = partial(answer_question, dataset, found.chosen, 1, ColumnChanges(), min_count)
    return join_results(original, run_evaluations({"": [task]}, store, "compare the columns")[""])


@validated
def card_results(card: Card, found: PolicySearch) -> pd.DataFrame:
    """Return the result rows of a card, and a row with the number of its reservations.

    Parameters
    ----------
    card : Card
    found : PolicySearch
        The search from which the card was made.

    Returns
    -------
    DataFrame
    """
    wanted = [card.content["decision"][name] for name in SETTING_COLUMNS]
    own = found.results[(found.results[SETTING_COLUMNS] == wanted).all(axis=1)].reset_index(drop=True)
    reserved = len(card.content["answer"]["reservations"])
    made: dict[str, Any] = {**own.iloc[0][RELEASE_COLUMNS], "seed": np.nan}
    return join_results(own, tidy([build_row("reservations", reserved, **made)]))
