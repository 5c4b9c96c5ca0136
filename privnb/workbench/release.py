"""A sanitized table in memory, which can be shown, measured, and written to a file for publication."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from privnb.decision import policies
from privnb.evaluation.evaluation_loop import MeasureQuestion, Question, ask, build_measure_questions
from privnb.evaluation.risks import build_informed_questions, build_questions
from privnb.measures.disclosure.certainty import NEAR
from privnb.microdata.release import Release
from privnb.microdata.schema import Schema
from privnb.microdata.withholding import limit_on_screen
from privnb.publishing import from_files
from privnb.publishing.chosen_release import MEMORY
from privnb.publishing.release_job import PublishedTable
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness
from privnb.runtime.wording import line
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer
from privnb.workbench.measurements import Measurements
from privnb.workbench.origin import Origin
from privnb.workbench.views import Noun, view

MAX_ROWS = 12  # rows of an invented table in a notebook
MAX_EXAMPLES = 3  # the maximum number of labels in the row of a column
UTILITY = ("certainty_penalty", "average_class_size")


class SanitizedTable(Noun):
    """A release of a table in memory, for the owner of the table.

    `Table.sanitize` makes such a release. A notebook shows the treatment of each column, the size of the smallest class
    and the claims, but no rows, unless the description declares the records invented.

    Attributes
    ----------
    table : Table
        The table that was sanitized.
    sanitizer : Sanitizer
    release : Release
        The release as a `Release` object, which the other functions of privnb accept.

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
        """A DataFrame with the rows of the release in random order, as an outsider would receive them."""
        return self.release.publish()[0].table

    @cached_property
    def columns(self) -> pd.DataFrame:
        """One row for each published column: the role, the treatment, and some labels of the release.

        Each row also has the numbers of different values in the original and in the release.
        """
        data, release = self.table.dataset, self.release
        rows = []
        for name in release.schema.published:
            if name not in release.cells:
                continue
            labels = release.cells[name].value_counts()
            labels = labels[labels >= limit_on_screen(release.schema.invented)].index[:MAX_EXAMPLES]
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
        """Sentences that describe the release, beginning with the answer."""
        release = self.release
        sizes = release.people_per_class if not release.without_classes and release.buckets is None else None
        claims = [repr(claim) for claim in release.provenance.claims]
        said = [f"{release.record_count:,} records by {self.sanitizer!r}."]
        if sizes is not None and len(sizes):
            said.append(
                f"They form {len(sizes):,} equivalence classes; the smallest one has {int(sizes.min()):,} people."
            )
        said.append(f"These claims were checked in the labels: {', '.join(claims) or 'none'}.")
        if release.provenance.simulation:
            said.append(
                "It was drawn with a seed, so it is an experiment and must not be published. `write` draws again "
                "without a seed."
            )
        if release.schema.invented:
            said.append(line("microdata/declared", "on_screen"))
        return [*said, *filter(None, [release.provenance.note])]

    def _repr_html_(self) -> str:
        rows = {f"{len(self.frame):,} rows": self.frame.head(MAX_ROWS)} if self.release.schema.invented else {}
        return view(self.sentences, self.columns, rows)

    def plot(self) -> Any:
        """Return a chart of the number of people who share each published combination."""
        from privnb.explorer.readings import count_class_sizes
        from privnb.reporting import charts
        from privnb.reporting.charts.base import none

        sizes = count_class_sizes(self.release)
        return none("equivalence class in this release") if sizes is None else charts.class_sizes(sizes)

    def risks(self, policy: str | os.PathLike[str] | None = None) -> Measurements:
        """Measure the gains of adversaries, and compare each number with the same number without the release.

        The numbers are the identity, attribute, linkability and membership risks, the certainty, and the anti-utility
        of miners.

        Parameters
        ----------
        policy : str or path-like, optional
            The name or the file of a policy, with whose caps the risks are compared.

        Returns
        -------
        Measurements
        """
        read = None if policy is None else policies.read(policy)
        near = NEAR if read is None else read.near_certainty
        questions = build_questions(self.table.dataset, near=near)
        if read is not None and read.is_informed:
            questions += build_informed_questions(self.table.dataset, near=near)
        return Measurements(self._answers(questions), read)

    def utility(
        self,
        models: Any = "basic",
        *,
        target: str | None = None,
        measures: Any = (),
    ) -> Measurements:
        """Measure the utility for an honest user: the accuracy of models, and the loss of detail.

        The models learn from the release.

        Parameters
        ----------
        models : str, estimator or list
            Names of miners, such as "basic" or "naive Bayes, decision tree"; an estimator or a pipeline of
            scikit-learn; or a list of these.
        target : str, optional
            The column that the models predict. By default, it is the first sensitive column or, without a sensitive
            column, the first quasi-identifier.
        measures : function, or list of functions
            Further measures, which are functions with the decorator `@measure`.

        Returns
        -------
        Measurements
        """
        from privnb.evaluation.utility.good_utility import UserUtility
        from privnb.measures.utility.information_loss import average_class_size, certainty_penalty

        schema = self.table.dataset.schema
        target = choose_prediction_target(schema, target)
        losses = [certainty_penalty, average_class_size] if self.release.generalized else []
        kept = UserUtility(target, models)
        asked = [kept, *map(MeasureQuestion, losses), *build_measure_questions(measures)]
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
    ) -> PublishedTable:
        """Write a release of the table to a file for publication, together with its provenance and its codebook.

        The release is made again with fresh random numbers and is checked, and the gate decides whether it may be
        published. The file is written whole or not at all.

        Parameters
        ----------
        out : str or path-like
            The path of a new file that ends in .parquet or .csv, or of a new folder.
        spreadsheet_safe, bounds, force, allow, memory
            See `publishing.from_files.sanitize`.

        Returns
        -------
        PublishedTable

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


def choose_prediction_target(schema: Schema, target: str | None) -> str:
    """Return the column that models predict: by default, the first sensitive column or else quasi-identifier.

    Raises UsageError for a column of numbers, which classifiers cannot predict.
    """
    names = [*schema.sensitive, *schema.quasi_identifiers]
    target = target or next((name for name in names if not schema[name].numeric), names[0])
    if schema[target].numeric:
        raise UsageError(
            f"`target` must be a column of categories; got '{target}', which holds numbers. Try a column of "
            "categories, or give the numbers the role 'sensitive', which puts them into bands."
        )
    return target


def sanitize(table: Origin, sanitizer: Sanitizer, rng: Randomness = None) -> SanitizedTable:
    """Return the release that a sanitizer makes of a table."""
    return SanitizedTable(table, sanitizer, sanitizer.sanitize(table.dataset, rng=rng))
