"""Findings about the decision by a policy, and the answer of a release card."""

from typing import Annotated

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.card import Card
from privnb.decision.explanation import explain_decision
from privnb.decision.policy_search import PolicySearch
from privnb.evaluation.results import check_results
from privnb.runtime.sentences import FullTable, Sentences, strip_markup
from privnb.runtime.validation import instead, optional, validated
from privnb.runtime.wording import Worded, line, sentence_case, write

Found = Annotated[PolicySearch, instead(PolicySearch, "`policy_search.search_policy` returns it.")]


@validated
def policy_decision(
    found: Found,
    dataset: Dataset,
    more: Annotated[pd.DataFrame | None, optional(check_results)] = None,
) -> Worded:
    """Return the finding about the release to publish, and the reasons.

    Parameters
    ----------
    found : PolicySearch
    dataset : Dataset
        The table for which the search was run.
    more : DataFrame, optional
        Further results about the chosen release and the original, from `recommended.measure_choice`.
    """
    return Worded("decision/decision", explain_decision(found, dataset, more))


@validated
def compared_releases(found: Found, dataset: Dataset) -> FullTable:
    """Return a table with the numbers of settings and releases that were compared, and that each reason rules out.

    Parameters
    ----------
    found : PolicySearch
        The result of `policy_search.search_policy`.
    dataset : Dataset
        The table for which the search was run.
    """
    min_class_size = found.decision.policy.min_class_size
    rows = [
        (sentence_case(strip_markup(line("decision/decision", "counted", row, min_class_size))), f"{row['number']:,}")
        for row in explain_decision(found, dataset)["counts"]
    ]
    return FullTable(pd.DataFrame(rows, columns=["counted (a release may count in several rows)", "number"]), "counts")


@validated
def published_columns(found: Found, dataset: Dataset) -> Sentences | None:
    """Return sentences about the columns that are published unchanged, and the sensitive attribute that was measured.

    Parameters
    ----------
    found : PolicySearch
        The result of `policy_search.search_policy`.
    dataset : Dataset
        The table for which the search was run.

    Returns
    -------
    Sentences or None
        The sentences; None if there is nothing to state.
    """
    parts = write("decision/decision", "columns", explain_decision(found, dataset))
    return Sentences(*parts) if parts else None


@validated
def release_card(card: Card) -> Worded:
    """Return the answer of a card: whether the release complies with the policy, and the reservations."""
    return Worded("decision/card", card.content)
