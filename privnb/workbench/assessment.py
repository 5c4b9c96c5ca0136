"""A file that another tool made from a table, with its risks, its utility, and its card."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pandas as pd

from privnb.decision import policies
from privnb.decision.assessment import Assessment, assess_release
from privnb.decision.card import Card
from privnb.privacy_models.star import Star
from privnb.runtime import validation
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded
from privnb.sanitizers.made_elsewhere import Correspondence, MadeElsewhere
from privnb.workbench.comparison import DEFAULT_POLICY, list_releases
from privnb.workbench.measurements import Measurements
from privnb.workbench.origin import Origin
from privnb.workbench.views import Noun, view


class AssessedFile(Noun):
    """The assessment of a file that another tool made, next to the original and the release without quasi-identifiers.

    `Table.assess` makes such an assessment. A notebook shows the answer, the risks, and how each column was read.

    Attributes
    ----------
    table : Table
        The table from which the file was made.
    found : Assessment
        The release, the decision and the results.

    Examples
    --------
    >>> import tempfile
    >>> from privnb import read
    >>> table = read("twelve")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.sanitize("k=3").frame.to_csv(f"{folder}/theirs.csv", index=False)
    ...     assessed = table.assess(f"{folder}/theirs.csv", policy="groups-of-3", seeds=1)
    ...     assessed
    AssessedFile('theirs.csv', 12 rows, policy 'groups-of-3')
    """

    def __init__(self, table: Origin, found: Assessment) -> None:
        self.table, self.found = table, found

    def __repr__(self) -> str:
        file = self.found.file
        return f"AssessedFile('{file.path.name}', {file.rows} rows, policy {self.found.decision.policy.name!r})"

    @property
    def keeps(self) -> bool:
        """Whether the release complies with the policy."""
        return self.found.keeps

    @property
    def card(self) -> Card:
        """The card of the release; `.text` is its JSON, which `privnb assess --card` writes."""
        return self.found.card

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each release: the loss of users, the capped risks, whether the policy is met and, if not, why.

        The releases are the file and the two reference releases, as in `Comparison.frame`.
        """
        return list_releases(self.found.compared)

    @cached_property
    def columns(self) -> pd.DataFrame:
        """One row for each column of the file: how it was read, and the number of cells of each form."""
        rows = [
            {
                "column": name, "read as": "values" if column.treated == "plain" else column.treated,
                "cells": ", ".join(f"{form} {cells:,}" for form, cells in column.forms.items()),
            }
            for name, column in self.found.file.columns.items()
        ]  # fmt: skip
        return pd.DataFrame(rows)

    @cached_property
    def measurements(self) -> Measurements:
        """All numbers, as a narrow table in `.frame` and with all columns in `.results`."""
        return Measurements(self.found.results)

    @property
    def sentences(self) -> list[str]:
        """The assessment in sentences for people, with the verdict first and the warnings second."""
        return [*self.found.answer, *self.found.sentences]

    @property
    def _worded(self) -> Worded:
        return Worded("decision/card", self.card.content)

    def _repr_html_(self) -> str:
        shown = [*self._worded.parts[:2], self.found.sentences[0], *self.found.notices]
        return view(shown, self.frame, {"How each column was read": self.columns})

    def plot(self) -> Any:
        """Return a chart of the risks compared with their caps."""
        from privnb.reporting import charts

        return charts.card_risks(self.card)


@validated
def assess(
    table: Origin,
    file: validation.Path,
    *,
    policy: validation.Path = DEFAULT_POLICY,
    rows: Correspondence = "measured",
    holdout: validation.Path = "",
    treatments: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, str] | None = None,
    star: Star = "own",
    seeds: int = 3,
    store: str = "",
) -> AssessedFile:
    """Assess a file that another tool made from a table, by a policy.

    Parameters
    ----------
    table : Table
        The original.
    file : str or path-like
        The release: a file, or a folder of its parts.
    policy : str or path-like
        The name or file of the policy.
    rows, holdout, treatments, hierarchies, star
        As in `MadeElsewhere`, which reads the file.
    seeds : int
        The number of repetitions of each random step.
    store : str
        A folder for finished work, so that a stopped assessment can continue. If it is empty, no work is stored.

    Returns
    -------
    AssessedFile

    Raises
    ------
    SchemaError, SanitizationError
        For a file that cannot be read as a release of the table. Nothing is written.
    """
    sanitizer = MadeElsewhere(
        str(file), rows, dict(treatments or {}), dict(hierarchies or {}), str(holdout) if holdout else "", star
    )
    return AssessedFile(
        table, assess_release(sanitizer, table.dataset, policies.read(policy), seeds=seeds, store=store)
    )
