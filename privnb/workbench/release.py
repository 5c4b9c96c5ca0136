"""A sanitized table in memory: shown beside the original's description, measured, and written for others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from privnb.decision import policies
from privnb.evaluation.cases import OfMeasure, Question, ask, questions_of_measures
from privnb.evaluation.risks import questions
from privnb.measures.disclosure.certainty import NEAR
from privnb.microdata.release import Release
from privnb.microdata.schema import Schema
from privnb.publishing import from_files
from privnb.publishing.decided import MEMORY
from privnb.publishing.job import Made
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer
from privnb.workbench.measurements import Measurements
from privnb.workbench.origin import Origin
from privnb.workbench.views import Noun, view

EXAMPLES = 3  # labels of a column that its row shows
UTILITY = ("certainty_penalty", "average_class_size")


class SanitizedTable(Noun):
    """A release of a table, in memory, for its owner.

    `Table.sanitize` makes one. It shows what was done to each column, the size of the smallest class and the claims,
    and no row.

    Attributes
    ----------
    table : Table
        The table that was sanitized.
    sanitizer : Sanitizer
    release : Release
        The release as the classes of the package take it.

    Examples
    --------
    >>> from privnb.workbench.table import read
    >>> release = read("twelve").sanitize("k=3")
    >>> len(release.frame)
    12
    """

    def __init__(self, table: Origin, sanitizer: Sanitizer, release: Release) -> None:
        self.table, self.sanitizer, self.release = table, sanitizer, release

    def __repr__(self) -> str:  # never the rows
        return f"SanitizedTable('{self.table.name}', {self.sanitizer!r})"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows of the release in random order, as an outsider would get them: a DataFrame."""
        return self.release.publish()[0].table

    @cached_property
    def columns(self) -> pd.DataFrame:
        """One row for each published column: its role, what was done to it, how many different values the original and
        the release have, and some labels of the release.
        """
        data, release = self.table.dataset, self.release
        rows = []
        for name in release.schema.published:
            if name not in release.cells:
                continue
            labels = release.cells[name].value_counts()
            labels = labels[labels >= 10].index[:EXAMPLES]
            before = data.cells[name].nunique() if name in data.cells else 0
            rows.append(
                {
                    "column": name, "role": str(release.schema[name].role), "done": str(release.columns[name]),
                    "different before": before, "different now": release.cells[name].nunique(),
                    "labels, such as": ", ".join(map(str, labels)),
                }
            )  # fmt: skip
        return pd.DataFrame(rows)

    @property
    def sentences(self) -> list[str]:
        """What the release is, the answer first."""
        release = self.release
        sizes = release.people_alike if not release.without_classes and release.buckets is None else None
        claims = [repr(claim) for claim in release.provenance.claims]
        said = [f"{release.record_count:,} records by {self.sanitizer!r}."]
        if sizes is not None and len(sizes):
            said.append(
                f"They form {len(sizes):,} equivalence classes; the smallest one has {int(sizes.min()):,} people."
            )
        said.append(f"Claims that were checked in the labels: {', '.join(claims) or 'none'}.")
        if release.provenance.simulation:
            said.append("It was drawn with a seed: an experiment, and not for publication. `write` draws afresh.")
        return [*said, *filter(None, [release.provenance.note])]

    def _repr_html_(self) -> str:
        return view(self.sentences, self.columns)

    def plot(self) -> Any:
        """Return a chart of how many people share each published combination."""
        from privnb.explorer.counting import class_sizes
        from privnb.reporting import charts
        from privnb.reporting.charts.base import none

        sizes = class_sizes(self.release)
        return none("equivalence class in this release") if sizes is None else charts.class_sizes(sizes)

    def risks(self, policy: str | os.PathLike[str] | None = None) -> Measurements:
        """Measure what an adversary gains: identity, attribute, linkability and membership risk, certainty, and the
        anti-utility of miners, each beside the same without the release.

        Parameters
        ----------
        policy : str or path-like, optional
            A policy by its name or file, whose caps the risks are compared with.

        Returns
        -------
        Measurements
        """
        read = None if policy is None else policies.read(policy)
        near = NEAR if read is None else read.near_certainty
        return Measurements(self._answers(questions(self.table.dataset, near=near)), read)

    def utility(
        self,
        models: Any = "three",
        *,
        target: str | None = None,
        measures: Any = (),
    ) -> Measurements:
        """Measure what an honest user keeps: how well models that learn from the release predict, and the loss of
        detail.

        Parameters
        ----------
        models : str, estimator or list
            Miners by name, such as "three" or "naive Bayes, decision tree", estimators or pipelines of scikit-learn, or
            a list of both.
        target : str, optional
            The column that the models predict; None: the first sensitive one, or else the first quasi-identifier.
        measures : function, or list of functions
            Functions that are marked with `@measure`.

        Returns
        -------
        Measurements
        """
        from privnb.evaluation.utility.good_utility import Kept
        from privnb.measures.utility.information_loss import average_class_size, certainty_penalty

        schema = self.table.dataset.schema
        target = predicted(schema, target)
        losses = [certainty_penalty, average_class_size] if self.release.generalized else []
        kept = Kept(target, models)
        asked = [kept, *map(OfMeasure, losses), *questions_of_measures(measures)]
        runs = [(Identity(), 1, [kept]), (self.sanitizer, 1, asked)]
        return Measurements(ask(self.table.dataset, runs, description="measure the release"))

    def write(
        self,
        out: str | os.PathLike[str],
        *,
        spreadsheet_safe: bool = False,
        bounds: bool = False,
        force: bool = False,
        allow: str | None = None,
        memory: str = MEMORY,
    ) -> Made:
        """Write a release of the table for others, with its provenance and its codebook.

        The file is made anew with fresh randomness, checked, and passed by the gate; it is written whole or not at all.

        Parameters
        ----------
        out : str or path-like
            A new file that ends in .parquet or .csv, or a new folder.
        spreadsheet_safe, bounds, force, allow, memory
            As in `publishing.from_files.sanitize`.

        Returns
        -------
        Made

        Raises
        ------
        PrivacyError
            For a release that the gate refuses.
        """
        table = self.table
        return from_files.sanitize(
            table.path,
            self.sanitizer,
            out,
            study=table.study,
            roles=table.roles_changed,
            outside=table.outside,
            spreadsheet_safe=spreadsheet_safe,
            bounds=bounds,
            force=force,
            allow=allow,
            memory=memory,
        )

    def _answers(self, asked: Sequence[Question]) -> pd.DataFrame:
        return ask(self.table.dataset, [(self.sanitizer, 1, asked)], description="measure the release")


def predicted(schema: Schema, target: str | None) -> str:
    """Return the column that models predict: by default the first sensitive one, or else the first quasi-identifier.

    Raises UsageError for a column of numbers, which models of labels cannot predict.
    """
    names = [*schema.sensitive, *schema.quasi_identifiers]
    target = target or next((name for name in names if not schema[name].numeric), names[0])
    if schema[target].numeric:
        raise UsageError(
            f"target must be a column of categories; got '{target}', which holds numbers. Try a column of categories, "
            "or make the numbers sensitive: they are in bands then."
        )
    return target


def sanitized(table: Origin, sanitizer: Sanitizer, rng: Randomness = None) -> SanitizedTable:
    """Return the release of a table by a sanitizer."""
    return SanitizedTable(table, sanitizer, sanitizer.sanitize(table.dataset, rng=rng))
