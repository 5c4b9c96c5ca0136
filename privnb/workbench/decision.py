"""The release that a search by a policy chooses, the reasons for the choice, and the release card."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import policies, policy_search
from privnb.decision.card import Card
from privnb.decision.comparison import read_release
from privnb.decision.explanation import explain_decision
from privnb.decision.policy_search import PolicySearch
from privnb.decision.reasons import join_reasons
from privnb.decision.search_record import record_search
from privnb.decision.signature import Signature
from privnb.evaluation.samples import sample_large_table
from privnb.microdata.schema import Role
from privnb.publishing import chosen_release
from privnb.runtime import validation
from privnb.runtime.errors import PrivacyError, UsageError
from privnb.runtime.language import ENGLISH
from privnb.runtime.sentences import list_lines
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded
from privnb.sanitizers.base import Sanitizer
from privnb.workbench.origin import Origin
from privnb.workbench.release import SanitizedTable, sanitize
from privnb.workbench.views import Noun, view

MAX_SHOWN = 8  # the maximum number of releases that are visible at once
PLAIN = {"setting": "release", "loss": "lost", "kept": "keeps the policy"}


class ReleaseCard(Noun):
    """The card of a written release, which states facts about the release and is meant to be read and signed.

    Attributes
    ----------
    card : Card
        The card as data, in the form that `decision/card.schema.json` describes.
    path : Path
        The path of the release. The card, the provenance and the codebook are next to the release.

    Examples
    --------
    >>> import tempfile
    >>> from privnb import compare, read
    >>> decision = compare(read("twelve"), "k=3", policy="groups-of-3", seeds=1).choose()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     card = decision.write(f"{folder}/release.csv")
    >>> card
    ReleaseCard('release.csv', 'keeps the policy, with reservations')
    >>> card.frame.loc[0, ["risk", "of"]].tolist()
    ['identity', 'mean']
    """

    def __init__(self, card: Card, path: Path) -> None:
        self.card, self.path = card, path

    def __repr__(self) -> str:
        return f"ReleaseCard('{self.path.name}', {self.card.content['answer']['status']!r})"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Two rows for each risk of the card: the average over all people, and the risk of the worst-off person.

        Each row contains the value, the interval of the value, and the value without the release.
        """
        rows = []
        for risk in self.card.content["risks"]:
            for whose in ("mean", "worst_person"):
                if number := risk[whose]:
                    about = {"risk": risk["risk"], "of": whose.replace("_", " ")}
                    rows.append(about | {name: number[name] for name in ("value", "low", "high", "baseline")})
        return pd.DataFrame(rows).rename(columns={"baseline": "without release"})

    def _repr_html_(self) -> str:
        return Worded("decision/card", self.card.content)._repr_html_()

    def plot(self) -> Any:
        """Return a chart that compares the risks with the caps of the policy."""
        from privnb.reporting import charts

        return charts.card_risks(self.card)


@dataclass(frozen=True, eq=False, repr=False)
class TableDecision(Noun):
    """The decision for a table: the release that a search by a policy chooses, and the reasons.

    Parameters
    ----------
    table : Table
    dataset : Dataset
        The records that the search used: all records of the table, or a sample.
    found : PolicySearch

    Examples
    --------
    >>> from privnb import compare, read
    >>> decision = compare(read("twelve"), "k=3", policy="groups-of-3", seeds=1).choose()
    >>> decision
    TableDecision('twelve', policy 'groups-of-3', Suppression)
    >>> decision.sanitizer
    Suppress(attributes='quasi-identifiers')
    >>> decision.frame["keeps the policy"].tolist()
    [True, True, False]
    """

    table: Origin
    dataset: Dataset
    found: PolicySearch

    def __repr__(self) -> str:
        chosen = self.found.decision.setting or "no release"
        return f"TableDecision('{self.table.name}', policy {self.found.decision.policy.name!r}, {chosen})"

    @property
    def sanitizer(self) -> Sanitizer | None:
        """The chosen sanitizer; None if no release complies with the policy."""
        return self.found.chosen

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each release: the loss of users, and whether the release complies with the policy.

        If a release does not comply, the row contains the reason.
        """
        table = self.found.decision.releases[[*PLAIN, "reasons"]]
        return table.assign(reasons=table.reasons.map(join_reasons)).rename(columns=PLAIN | {"reasons": "why not"})

    @cached_property
    def explanation(self) -> dict[str, Any]:
        """The decision as plain values: the chosen release, the reasons, the risks and the alternatives."""
        return explain_decision(self.found, self.dataset)

    @property
    def sentences(self) -> list[str]:
        """The decision as sentences for people, beginning with the answer."""
        return list_lines(self._worded.parts)

    @property
    def _worded(self) -> Worded:
        return Worded("decision/decision", self.explanation)

    def _repr_html_(self) -> str:
        others = {f"{len(self.frame) - MAX_SHOWN} more releases": self.frame[MAX_SHOWN:]}
        return view(self._worded.parts, self.frame[:MAX_SHOWN], others)

    def plot(self) -> Any:
        """Return a chart of each release: the loss of users, and the risk as a share of the tightest cap."""
        from privnb.reporting import charts

        return charts.within_caps(self.found.decision)

    def release(self) -> SanitizedTable:
        """Return the chosen release in memory.

        Raises
        ------
        PrivacyError
            If no release complies with the policy.
        """
        if self.sanitizer is None:
            raise PrivacyError(
                f"no release complies with the policy {self.found.decision.policy.title}. Try more settings, fewer "
                "published columns, or another policy."
            )
        return sanitize(self.table, self.sanitizer)

    def publish(
        self, out: str | os.PathLike[str] | None, *, spreadsheet_safe: bool = False, allow: str | None = None,
        **options: Any,
    ) -> chosen_release.PublicationResult:  # fmt: skip
        """Publish the chosen release, and return sentences about the decision and, if `out` is given, the release card.

        The arguments and the errors are those of `publishing.chosen_release.publish_chosen`.
        """
        from privnb.reporting import release_card

        return chosen_release.publish_chosen(
            self.table.path, self.found, self.dataset, out, render=release_card.render_card, study=self.table.study,
            roles=self.table.roles_changed, outside=self.table.outside, spreadsheet_safe=spreadsheet_safe, allow=allow,
            **options,
        )  # fmt: skip

    def write(
        self,
        out: str | os.PathLike[str],
        *,
        spreadsheet_safe: bool = False,
        bounds: bool = False,
        force: bool = False,
        allow: str | None = None,
        memory: str = chosen_release.MEMORY,
        signature: Signature | None = None,
        language: str = ENGLISH,
    ) -> ReleaseCard:
        """Write the chosen release together with its provenance, its codebook and its card.

        If the file of the release breaks the policy, the file is not written. The release that the decision ranks next
        is written instead, and the card states this.

        Parameters
        ----------
        out : str or path-like
            The path of a new file that ends in .parquet or .csv, or of a new folder.
        spreadsheet_safe, bounds, force, allow, memory, signature, language
            See `publishing.chosen_release.publish_chosen`.

        Returns
        -------
        ReleaseCard

        Raises
        ------
        PrivacyError
            If no release may be written.
        """
        chosen_release.check_place(out, spreadsheet_safe=spreadsheet_safe, force=force)
        ended = self.publish(
            out, spreadsheet_safe=spreadsheet_safe, bounds=bounds, force=force, allow=allow, memory=memory,
            signature=signature, language=language,
        )  # fmt: skip
        if ended.card is None:
            raise PrivacyError(ended.text)
        return ReleaseCard(ended.card, Path(out))


@validated
def decide(
    table: Origin,
    policy: validation.Path,
    *,
    profile: str = "quick",
    records: int = 0,
    seeds: int = 0,
    store: str = "",
    previous: str | os.PathLike[str] | None = None,
) -> TableDecision:
    """Search, among the releases of all sanitizers, for the best release that complies with a policy.

    Parameters
    ----------
    table : Table
    policy : str or path-like
        The name of a policy, such as "ontario-2025", or the path of its TOML file.
    profile : str
        The extent of the search: "quick" (minutes) or "full".
    records : int
        The number of random records that the search uses; 0 means all records.
    seeds : int
        How often each random step is repeated, with different seeds; 0 means the number that the profile states.
    store : str
        A folder for completed evaluations, so that a stopped search can continue. If it is empty, nothing is stored.
    previous : str or path-like, optional
        The file of an earlier release about the same people. The risks of each release are then those of an adversary
        who holds both files.

    Returns
    -------
    TableDecision

    Raises
    ------
    UsageError
        If there is a previous release, but the search would be on a sample of the records.
    """
    asked, whole = policies.read(policy), table.dataset
    held = None if previous is None else read_release(previous, whole)[0]

    def sample(data: Dataset) -> Dataset:
        return sample_large_table(data.sample(records, rng=0) if records else data, records)

    def in_roles(roles: Mapping[str, Role]) -> Dataset:
        return sample(table.in_roles(roles))

    searched = sample(whole)
    if held is not None and len(searched) < len(whole):
        raise UsageError(
            f"with a previous release, `records` must be all {len(whole):,} records, because the joint classes of a "
            f"sample are too small; got {len(searched):,}. Set `records` to {len(whole)}."
        )
    dataset, found = policy_search.search_policy_in_roles(
        in_roles, searched, asked, profile=profile, seeds=seeds, store=store, records=len(whole), previous=held
    )
    return TableDecision(table, dataset, replace(found, decision=record_search(table.path, found.decision)))
