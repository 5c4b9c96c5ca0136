"""The slow steps of the app, which run in a background process; each calls the function that a command calls."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privnb.datasets.dataset import list_data_files
from privnb.datasets.description import checksum, read_description
from privnb.decision.by_policy import decide as decide_by_policy
from privnb.decision.card import Card
from privnb.decision.policies import Policy
from privnb.decision.policy_search import PolicySearch
from privnb.decision.signature import Signature
from privnb.evaluation.label_widths import LabelWidth, measure_label_widths
from privnb.evaluation.samples import sample_large_table
from privnb.microdata.schema import Role
from privnb.publishing import chosen_release
from privnb.runtime import progress
from privnb.runtime.errors import UsageError
from privnb.workbench.decision import TableDecision, decide
from privnb.workbench.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """The choice of a release under a policy, without the records.

    Parameters
    ----------
    found : PolicySearch
    explanation : dict
        The decision as plain values; see `explanation.explain_decision`.
    table : str
        The digest of the table; see `digest_table`.
    policy : str
        The name or the path of the policy.
    widths : list of LabelWidth
        The widths of the labels of the chosen release, or of the nearest release if none complies.
    """

    found: PolicySearch
    explanation: dict[str, Any]
    table: str
    policy: str
    widths: list[LabelWidth]

    @property
    def policy_digest(self) -> str:
        """The SHA-256 of the policy under which the releases were measured."""
        return self.found.decision.policy.sha256


def digest_table(path: Path) -> str:
    """Return a digest that changes if the description, a hierarchy or a data file of a table changes.

    The digest is of the texts of the description and of the hierarchies, and of the sizes and times of the data files,
    which may be too large to read each time.

    Raises
    ------
    SchemaError, InputFileError
        If the description or a data file cannot be read.
    """
    parts = [checksum(each) for each in (path, *sorted((path.parent / "hierarchies").rglob("*.csv")))]
    for file in list_data_files(path.parent, read_description(path)):
        facts = file.stat()
        parts.append(f"{file.name} {facts.st_size} {facts.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def choose(path: Path, study: str | None, policy: str, store: str, profile: str = "quick") -> Choice:
    """Search for the best release that complies with a policy, as `privnb decide` does."""
    with progress.step("preparing the releases"):
        table = digest_table(path)
        made = decide(Table(path, study), policy, profile=profile, store=store)
    decision = made.found.decision
    nearest = decision.nearest_first
    shown = decision.chosen if decision.chosen is not None else None if nearest.empty else nearest.iloc[0]
    widths = list[LabelWidth]()
    with progress.step("measuring how wide the labels are"):
        if shown is not None:
            widths = measure_label_widths(made.found.sanitizer_of(shown).sanitize(made.dataset, rng=0))
    with progress.step("explaining the choice"):
        return Choice(made.found, made.explanation, table, policy, widths)


def judge_again(choice: Choice, policy: Policy) -> PolicySearch:
    """Return the decision that a policy leads to over the releases that were measured under another policy.

    Raises
    ------
    UsageError
        If the policy needs a number that was not measured.
    """
    found = choice.found
    needs = {need.measure for need in policy.needs}
    if missing := needs - {*found.results.measure}:
        raise UsageError(
            f"the releases must have been measured by {', '.join(sorted(missing))}; they were not. Choose again under "
            "this policy."
        )
    decision = decide_by_policy(found.results, policy, found.decision.people, found.decision.promises)
    return replace(found, decision=decision)


def preview(path: Path, study: str | None, choice: Choice, signature: Signature) -> Card:
    """Return the card of the chosen release, without keeping a file."""
    from privnb.reporting import release_card

    made = _of_choice(path, study, choice)
    return chosen_release.preview_card(
        path, made.found, made.dataset, render=release_card.render_card, study=study, signature=signature
    )


@dataclass(frozen=True)
class Written:
    """A release that was written: the sentences for its owner, and its files; there are none if it was refused."""

    sentences: list[str]
    files: list[Path]
    answer: str = ""


def write(
    path: Path, study: str | None, choice: Choice, signature: Signature, out: Path, safe: bool, allow: str | None
) -> Written:
    """Write the chosen release with its provenance, its codebook and its signed card, as `privnb decide --out` does."""
    made = _of_choice(path, study, choice)
    ended = made.publish(
        out, spreadsheet_safe=safe, allow=allow, signature=signature, call="written in the app of privnb"
    )
    files = sorted(out.parent.glob(f"{out.name}*")) if ended.card is not None else []
    answer = "" if ended.card is None else str(ended.card.content["answer"]["status"])
    return Written([str(each) for each in ended.sentences], files, answer)


def leave_out(path: Path, study: str | None, policy: str, store: str, column: str) -> dict[str, Any]:
    """Search again without one column, and return the decision as plain values."""
    table = Table(path, study)
    table.set_roles({column: Role.UNUSED})
    return decide(table, policy, store=store).explanation


def _of_choice(path: Path, study: str | None, choice: Choice) -> TableDecision:
    """Return the decision of a choice together with the records.

    Raises
    ------
    UsageError
        If the description has changed since the choice was made.
    """
    if digest_table(path) != choice.table:
        raise UsageError("the table or its description has changed since this choice was made. Choose again.")
    table = Table(path, study)
    return TableDecision(table, sample_large_table(table.in_roles(choice.found.roles)), choice.found)
