"""Findings about the decision by a policy, and the answer of a release card."""

from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.assessment import GivenAssessment
from privnb.decision.by_policy import ENDS, LOSS, name_risk, plain_number
from privnb.decision.card import Card
from privnb.decision.explanation import explain_decision
from privnb.decision.policy_search import PolicySearch
from privnb.evaluation.results import SETTING_COLUMNS, check_results
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import FullTable, Sentences, strip_markup
from privnb.runtime.validation import instead, optional, validated
from privnb.runtime.wording import Worded, line, sentence_case, write, write_with_interval

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
def assessed_release(theirs: GivenAssessment) -> Sentences | None:
    """Return sentences on whether a release of another tool complies with the policy, and on how its file was read.

    Parameters
    ----------
    theirs : Assessment or None
        The result of `decision.assessment.assess_given`.

    Returns
    -------
    Sentences or None
        The sentences; None if there is no such release.
    """
    if theirs is None:
        return None
    headline = write("decision/card", "headline", theirs.card.content)
    return Sentences(*headline, *write("decision/assessment", "section", theirs.facts), *theirs.notices)


@validated
def compare_with_choice(found: Found, theirs: GivenAssessment) -> FullTable | None:
    """Return a table with the loss and the capped risks of a release of another tool next to those of the choice.

    If no release is chosen, the table shows the release nearest to the policy.

    Parameters
    ----------
    found : PolicySearch
    theirs : Assessment or None
        The result of `decision.assessment.assess_given`, by the policy of the search.

    Returns
    -------
    FullTable or None
        The table; None if there is no release of another tool.
    """
    if theirs is None:
        return None
    ours = found.decision.nearest_first.iloc[0] if found.decision.chosen is None else found.decision.chosen
    own, other = (
        decision.vectors[(decision.vectors[SETTING_COLUMNS] == [*release[SETTING_COLUMNS]]).all(axis=1)]
        for decision, release in ((theirs.decision, theirs.judged), (found.decision, ours))
    )
    name = f"{ours.setting} ({'nearest to the policy' if found.decision.chosen is None else 'chosen'})"
    columns = ["", "cap", theirs.file.path.name, name, "without the release"]
    other = other.set_index("axis")
    rows: list[tuple[str, ...]] = [
        (
            "utility loss" if row.axis == LOSS else name_risk(row),
            "" if np.isnan(row.cap) else write_percent(row.cap),
            _written(row), _written(other.loc[row.axis]),
            "" if row.axis == LOSS or np.isnan(row.baseline) else write_percent(row.baseline),
        )
        for row in own.itertuples()
    ]  # fmt: skip
    kept = ["yes" if each else "no" for each in (theirs.keeps, ours.kept)]
    sizes = [f"{size:,}" for size in (len(theirs.dataset), found.steps[-1][0].records)]
    rows += [("complies with the policy", "", *kept, ""), ("records measured", "", *sizes, "")]
    return FullTable(pd.DataFrame(rows, columns=columns), "comparison")


def _written(row: Any) -> str:
    """Return a number of `by_policy.compute_vectors` with its interval, or "unknown"."""
    number = {end: plain_number(getattr(row, end)) for end in ENDS}
    return "unknown" if number["value"] is None and number["high"] is None else write_with_interval(number)


@validated
def release_card(card: Card) -> Worded:
    """Return the answer of a card: whether the release complies with the policy, and the reservations."""
    return Worded("decision/card", card.content)
