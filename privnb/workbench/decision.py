"""The release that a policy leads to, why, and how it is written with its card."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import policies, policy_search, recommended
from privnb.decision.card import Card
from privnb.decision.policy_search import Searched
from privnb.evaluation.samples import record_by_record
from privnb.microdata.schema import Role
from privnb.publishing import decided
from privnb.runtime import validation
from privnb.runtime.errors import PrivacyError
from privnb.runtime.sentences import say, unmarked
from privnb.runtime.validation import validated
from privnb.sanitizers.base import Sanitizer
from privnb.workbench.origin import Origin
from privnb.workbench.release import SanitizedTable, sanitized
from privnb.workbench.views import Noun, view

FIRST = 8  # releases that are shown at once
PLAIN = {"setting": "release", "loss": "lost", "kept": "keeps the policy"}


class ReleaseCard(Noun):
    """The card of a release that was written: what is known of it, to read and to sign.

    Attributes
    ----------
    card : Card
        As data, in the form of `decision/card.schema.json`.
    path : Path
        The release, which its card, provenance and codebook stand beside.

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
        """One row for each risk that the card states: on average over people and for the worst-off person, each with
        its interval and the same without the release.
        """
        rows = []
        for risk in self.card.content["risks"]:
            for whose in ("mean", "worst_person"):
                if number := risk[whose]:
                    about = {"risk": risk["risk"], "asks": risk["asks"], "of": whose.replace("_", " ")}
                    rows.append(about | {name: number[name] for name in ("value", "low", "high", "baseline")})
        return pd.DataFrame(rows).rename(columns={"baseline": "without release"})

    def _repr_html_(self) -> str:
        return say(*self.card.content["answer"]["sentences"])._repr_html_()

    def plot(self) -> Any:
        """Return a chart of the risks beside their caps."""
        from privnb.reporting import charts

        return charts.card_risks(self.card)


@dataclass(frozen=True, eq=False, repr=False)
class TableDecision(Noun):
    """What a policy leads to on a table.

    Parameters
    ----------
    table : Table
    dataset : Dataset
        What was searched: the table, or a sample of it.
    found : Searched

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
    found: Searched

    def __repr__(self) -> str:
        chosen = self.found.decision.setting or "no release"
        return f"TableDecision('{self.table.name}', policy {self.found.decision.policy.name!r}, {chosen})"

    @property
    def sanitizer(self) -> Sanitizer | None:
        """The sanitizer that is chosen; None if no release keeps the policy."""
        return self.found.chosen

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each release: what users lose, whether it keeps the policy, and why not."""
        table = self.found.decision.releases[[*PLAIN, "reasons"]]
        return table.assign(reasons=table.reasons.map("; ".join)).rename(columns=PLAIN | {"reasons": "why not"})

    @property
    def sentences(self) -> list[str]:
        """The decision for people, the answer first."""
        return unmarked(self.parts)

    @property
    def parts(self) -> list[str | list[str]]:
        """The same as `sentences.say` shows it: paragraphs, lists, and marks of what is bold."""
        unchanged, help = recommended.as_they_are(self.dataset), recommended.what_would_help(self.found, self.dataset)
        said = [[*part] if not isinstance(part, str) else part for part in (unchanged.parts if unchanged else ())]
        return [*self.found.sentences, *filter(None, [help]), *said]

    def _repr_html_(self) -> str:
        others = {f"{len(self.frame) - FIRST} more releases": self.frame[FIRST:]}
        return view(self.parts, self.frame[:FIRST], others)

    def plot(self) -> Any:
        """Return a chart: what users lose by each release, and how much of its tightest cap it uses."""
        from privnb.reporting import charts

        return charts.within_caps(self.found.decision)

    def release(self) -> SanitizedTable:
        """Return the chosen release in memory.

        Raises
        ------
        PrivacyError
            If no release keeps the policy.
        """
        if self.sanitizer is None:
            raise PrivacyError(
                f"no release keeps the policy {self.found.decision.policy.title}. Try more settings, fewer published "
                "columns, or another policy."
            )
        return sanitized(self.table, self.sanitizer)

    def end(
        self, out: str | os.PathLike[str] | None, *, spreadsheet_safe: bool = False, allow: str | None = None,
        **options: Any,
    ) -> decided.Ended:  # fmt: skip
        """Return how the decision ends: what is said, and the card of the release that was written to `out`, if any.

        Arguments and errors are those of `publishing.decided.end`.
        """
        from privnb.reporting import release_card

        return decided.end(
            self.table.path, self.found, self.dataset, out, render=release_card.texts, study=self.table.study,
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
        memory: str = decided.MEMORY,
    ) -> ReleaseCard:
        """Write the chosen release with its provenance, codebook and card.

        A release whose file breaks the policy is not written; the runner-up is made instead, and the card says so.

        Parameters
        ----------
        out : str or path-like
            A new file that ends in .parquet or .csv, or a new folder.
        spreadsheet_safe, bounds, force, allow, memory
            As in `publishing.decided.end`.

        Returns
        -------
        ReleaseCard

        Raises
        ------
        PrivacyError
            If no release may be written.
        """
        decided.refuse_place(out, spreadsheet_safe=spreadsheet_safe, force=force)
        ended = self.end(out, spreadsheet_safe=spreadsheet_safe, bounds=bounds, force=force, allow=allow, memory=memory)
        if ended.card is None:
            raise PrivacyError(ended.said)
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
) -> TableDecision:
    """Search for the release that a policy leads to, among all sanitizers.

    Parameters
    ----------
    table : Table
    policy : str or path-like
        A policy by its name, such as "ontario-2025", or its TOML file.
    profile : str
        How much is tried: "quick" (minutes) or "full".
    records : int
        Search on a random sample of this many records; 0: all.
    seeds : int
        Repeats of what is drawn; 0: the profile's.
    store : str
        A folder that keeps what is finished, so that a search that was stopped goes on; empty: none.

    Returns
    -------
    TableDecision
    """
    asked, whole = policies.read(policy), table.dataset

    def sample(data: Dataset) -> Dataset:
        return record_by_record(data.sample(records, rng=0) if records else data, records)

    def in_roles(roles: Mapping[str, Role]) -> Dataset:
        return sample(table.in_roles(roles))

    dataset, found = policy_search.searched_in_roles(
        in_roles, sample(whole), asked, profile=profile, seeds=seeds, store=store, records=len(whole)
    )
    return TableDecision(table, dataset, found)
