"""The job of making a release, and the published table that results from the job.

A job consists of a table, a sanitizer and an amount of memory. A published table consists of numbers, sentences and a
provenance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import pandas as pd

from privnb.datasets.alerts import describe_repetition
from privnb.datasets.dataset import DatasetDescription, Study as Study
from privnb.datasets.outside import FACTS as OUTSIDE, Outside as Outside, OutsideValues, collect_facts as facts_of
from privnb.measures.base import measure_facts
from privnb.measures.utility.information_loss import average_class_size, certainty_penalty, discernibility
from privnb.microdata.columns import decode_column
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release, sort_by_content
from privnb.microdata.schema import PUBLISHED, Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import grade_release
from privnb.publishing.gate import CertainValue, Verdict
from privnb.publishing.lineage import MADE
from privnb.publishing.model_spec import parse_sanitizer
from privnb.runtime import expect
from privnb.runtime.arrays import IntArray
from privnb.runtime.notices import Notice
from privnb.runtime.sentences import say
from privnb.sanitizers.base import Sanitizer
from privnb.tables import long_tables, reading, spreadsheets
from privnb.tables.derivation import DerivedColumns
from privnb.tables.long_tables import LongTable, Memory
from privnb.tables.spreadsheets import Formulas

if TYPE_CHECKING:
    import pyarrow as pa

Opened = Callable[
    ..., AbstractContextManager[LongTable]
]  # a function that opens the records; see `long_tables.open_table`
Model = Annotated[
    str | Sanitizer, lambda name, value: expect.kind(name, value, str, Sanitizer, instead='Give one such as "k=10".')
]
COSTS = {
    "certainty_penalty": certainty_penalty, "average_class_size": average_class_size, "discernibility": discernibility,
}  # fmt: skip
MAX_COUNTED_VALUES = 100  # a neutral column with more values is published record by record


@dataclass(frozen=True)
class Job:
    """The job of making a release.

    Parameters
    ----------
    chosen : DatasetDescription
        The description of the columns.
    sanitizer : Sanitizer
    memory : Memory
    opened : function
        A function that opens the records of the table.
    counted : list of str
        The columns whose combinations are counted.
    single : list of str
        The columns that are published record by record.
    scratch : Path
        A temporary folder for data that do not fit into the memory.
    """

    chosen: DatasetDescription
    sanitizer: Sanitizer
    memory: Memory
    opened: Opened
    counted: list[str]
    single: list[str]
    scratch: Path = Path()

    @classmethod
    def of(
        cls,
        chosen: DatasetDescription,
        model: str | Sanitizer,
        algorithm: str,
        memory: Memory,
        opened: Callable[[list[str]], Opened],
        scratch: Path = Path(),
    ) -> Job:
        """Return the job of a sanitizer, or of models that are written as text.

        Raises SchemaError for a table without columns.

        `opened` is a function that receives columns and returns a function that opens the records with these columns.
        """
        sanitizer = (
            model if isinstance(model, Sanitizer) else parse_sanitizer(model, algorithm, chosen.schema, chosen.renamed)
        )
        published = [each for each in chosen.schema.attributes if each.role in (*PUBLISHED, Role.PERSON)]
        if not published:
            raise SchemaError(
                f"'{chosen.schema.dataset}' must have a column to publish; got only identifiers and unused columns. "
                "Change the roles with `privnb describe`."
            )
        counted, single = ([each.name for each in published if _is_long(each) is long] for long in (False, True))
        return cls(chosen, sanitizer, memory, opened([*counted, *single]), counted, single, scratch)

    def counting(self, **how: Any) -> AbstractContextManager[LongTable]:
        """Return a context manager that opens the records for counting; for `how`, see `long_tables.open_table`."""
        return self.opened(**self.memory.counting(self.scratch), **how)

    def without_blank_rows(self) -> Job:
        """Return the same job without blank rows, because blank rows are not records."""
        return replace(self, opened=partial(self.opened, held=True))

    def check_gaps(self, records: int | None = None) -> None:
        """Raise SchemaError if records have missing values and the description refuses such records.

        `records` is the number of records, if it is known.
        """
        refused = self.chosen.marks_where("refuse")
        if refused is None:
            return
        if records is None:
            with self.counting(complete=None, held=True) as table:
                records = table.record_count()
        with self.counting(complete=refused) as table:
            check_gaps(records, table.record_count())

    def cleaned(self, found: pa.Table, names: list[str]) -> pd.DataFrame:
        """Return columns of the result of an engine in the form that the description states.

        `found` holds records, or combinations and the counts of the combinations.
        """
        counts = long_tables.TIMES in found.column_names
        times = found.column(long_tables.TIMES).to_pandas() if counts else None
        return self.chosen.cleaned(reading.from_arrow(found.select(names)), names, times)


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A published table: the facts, the provenance and the sentences about the release.

    Attributes
    ----------
    sanitizer : Sanitizer
    records, combinations : int
        The number of published records, and the number of counted combinations, which is 0 if combinations were not
        counted.
    classes, smallest : int
        The number of classes, and the number of people in the smallest class. In a bucketized release, the number of
        buckets, and the number of records in the smallest bucket. A release with noise has no classes, so both numbers
        are 0.
    suppressed : int
        The number of records whose quasi-identifiers are all suppressed.
    provenance : dict
        The provenance, which is meant for the people who use the release.
    buckets : DataFrame or None
        The second table of a bucketized release.
    notes : tuple of Notice
        Sentences, with codes, for the person who publishes the release.
    verdict : Verdict
        The verdict of the gate.
    path : Path or None
        The path of the release.
    frame : object
        The release as a lazy frame, if the table is a lazy frame of an engine.
    """

    sanitizer: Sanitizer
    records: int
    combinations: int
    classes: int
    smallest: int
    suppressed: int
    provenance: dict[str, Any]
    buckets: pd.DataFrame | None
    notes: tuple[Notice, ...]
    verdict: Verdict
    path: Path | None = None
    frame: object = field(default=None, repr=False)  # showing a frame of DuckDB would read it

    @classmethod
    def of(
        cls,
        job: Job,
        release: Release,
        verdict: Verdict,
        remarks: Sequence[Notice] = (),
        formulas: Formulas = spreadsheets.NONE,
        *,
        outside: Sequence[OutsideValues] = (),
        made: Mapping[str, Any],
        **more: Any,
    ) -> Self:
        """Return the published table that results from a job.

        Parameters
        ----------
        job : Job
        release : Release
            A release of counts, or the release of one part.
        verdict : Verdict
        remarks : sequence of Notice
            Notices about the inferred description of the table, and about the meaning of models that are written as
            text.
        formulas : Formulas
            The formulas in the file.
        outside : sequence of OutsideValues
            The values outside their domains, and the treatment of these values.
        made : dict
            The lineage; see `lineage.Run.facts`.
        **more
            The other attributes of the published table.
        """
        own = [Notice(release.provenance.note, "sanitizer-note")] if release.provenance.note else []
        wider = (*(each.notice for each in outside), *_suppressed(outside, release))
        claim = release.provenance.state_declaration(made["at"][:10])
        declared = [Notice(claim, "declared-invented")] if claim else []
        notes = (*declared, *remarks, *wider, *own, *formulas.sentences)
        stated = release.provenance.public() | {"measured": _measured(release)} | formulas.facts
        stated["gate"] = verdict.data()
        if outside:
            stated[OUTSIDE] = facts_of(outside)
        stated["columns"] = stated["columns"] | dict.fromkeys(job.single, "exact")
        stated["roles"] = {  # includes the person column, which k counts
            each.name: str(each.role)
            for each in job.chosen.schema.attributes
            if each.name in stated["columns"] or each.role is Role.PERSON
        }
        if derived := {name: rule for name, rule in job.chosen.columns.derived.items() if name in stated["roles"]}:
            stated["derived"] = derived
        if renamed := {own: name for own, name in job.chosen.renamed.items() if name in stated["columns"]}:
            stated["renamed"] = renamed
        counted = {} if release.times is None else {"records": int(release.times.sum()), "combinations": len(release)}
        sizes, certain = _sizes(release), [each.notice for each in verdict.notices if isinstance(each, CertainValue)]
        return cls(
            sanitizer=job.sanitizer,
            classes=len(sizes),
            smallest=int(min(sizes, default=0)),
            suppressed=release.suppressed,
            provenance=stated | {"note": " ".join(notes), MADE: dict(made)},
            buckets=None if release.buckets is None else sort_by_content(release.buckets),
            notes=(*certain, *notes, *(each for each in verdict.sentences if each not in certain)),
            verdict=verdict,
            **{"combinations": 0} | counted | more,
        )

    def with_notes(self, notes: Sequence[Notice]) -> Self:
        """Return the published table with further sentences, which are also added to the provenance."""
        said = " ".join(filter(None, [self.provenance["note"], *notes]))
        return replace(self, notes=(*self.notes, *notes), provenance=self.provenance | {"note": said})

    def values(self) -> dict[str, Any]:
        """Return all facts about the release as plain JSON values: numbers, notices with codes, and the provenance."""
        return {
            "path": None if self.path is None else str(self.path),
            "sanitizer": repr(self.sanitizer),
            "records": self.records,
            "combinations": self.combinations,
            "classes": self.classes,
            "smallest": self.smallest,
            "suppressed": self.suppressed,
            "notices": [each.data() for each in self.notes],
            "provenance": self.provenance,
        }

    def __repr__(self) -> str:
        where = "" if self.path is None else f"{self.path.name!r}, "
        return f"PublishedTable({where}{self.records} records, {self.classes} classes, {self.sanitizer!r})"

    def _repr_html_(self) -> str:
        answer, *others = self.sentences
        return say(answer, others)._repr_html_()

    @property
    def sentences(self) -> list[str]:
        """The facts about the release as sentences."""
        records = "record" if self.records == 1 else "records"
        sets = "classes" if self.buckets is None else "buckets"
        sizes = f" in {self.classes:,} {sets}, the smallest of {self.smallest:,}," * bool(self.classes)
        checked = " Its claims were checked again in the labels." * bool(self.provenance["claims"])
        lines = [f"{self.records:,} {records}{sizes} by {self.sanitizer!r}.{checked}"]
        if self.suppressed:
            lines.append(f"{self.suppressed:,} of the records have '{SUPPRESSED}' for each quasi-identifier.")
        if (cost := self.provenance["measured"].get("certainty_penalty")) is not None:
            lines.append(
                f"On average a quasi-identifier's cell stands for {measure_facts('certainty_penalty').written(cost)}."
            )
        if self.path is None:
            return [*lines, *self.notes]
        next_to_it = (
            "Its provenance and codebook are next to it. `privnb report` measures what attacks gain from the release."
        )
        return [f"{self.path}: {lines[0]}", *lines[1:], *self.notes, next_to_it]


def _suppressed(outside: Sequence[OutsideValues], release: Release) -> list[Notice]:
    """Return notices about the number of suppressed cells in each column with new values that only `*` covers."""
    if release.times is None:
        return []
    counts = {
        each.column: int(release.times[(release.table[each.column] == SUPPRESSED).to_numpy(bool)].sum())
        for each in outside
        if each.is_suppressed and each.column in release.table
    }
    return [
        Notice(f"{count:,} cells of '{name}' in the release are '{SUPPRESSED}'.", "cells-suppressed")
        for name, count in counts.items()
    ]


def _sizes(release: Release) -> IntArray:
    """Return the number of people in each class or, in a bucketized release, of records in each bucket.

    The result is empty for a release without classes.
    """
    if release.buckets is not None:
        held = release.buckets
        held = held[held["attribute"] == held["attribute"].iloc[0]]
        return np.bincount(held["bucket"], held["count"]).astype(int)
    return np.empty(0, dtype=int) if release.without_classes else release.people_per_class


def grade_claims(release: Release) -> dict[str, float | str]:
    """Return the level of each claimed model in the labels; infinity is a text, because JSON has no infinity."""
    found = {repr(model): float(grade_release(model, release)) for model in release.provenance.claims}
    return {model: level if math.isfinite(level) else str(level) for model, level in found.items()}


def _measured(release: Release) -> dict[str, Any]:
    """Return the measures of the labels, by name, and the level of each claim, for a release that holds counts."""
    if release.times is None or release.buckets is not None:
        return {}
    costs = {name: each(release) for name, each in COSTS.items()} if release.generalized else {}
    return {"records": release.record_count, "claims": grade_claims(release)} | costs


def apply_outside(
    chosen: DatasetDescription, outside: Outside, columns: Sequence[str], opened: Callable[[list[str]], Opened],
    memory: Memory,
    scratch: Path = Path(),
) -> tuple[DatasetDescription, list[OutsideValues]]:  # fmt: skip
    """Return a description that treats values outside its domains as `outside` states; see `DatasetDescription.taking`.

    `columns` lists the columns of the table.
    """

    def values(name: str) -> tuple[pd.Series, IntArray]:
        with opened([name])(**memory.counting(scratch)) as table:
            counted = memory.counted(table, [name], "Round or group them in the file.")
        return reading.from_arrow(counted.select([name]))[name], counted.column(long_tables.TIMES).to_numpy()

    published = [each.name for each in chosen.schema.attributes if each.role in PUBLISHED]
    return chosen.taking(outside, [name for name in published if name in columns], values)


def look_up_sources(
    chosen: DatasetDescription, opened: Callable[[list[str]], Opened], memory: Memory, scratch: Path = Path()
) -> DerivedColumns:
    """Return the derived columns of a description with the codes of the values in a table.

    `opened` opens columns of the table; see `Job.of`. Raises SchemaError for a source with texts that are not dates.
    """

    def count(source: str) -> pa.Table:
        with opened([source])(**memory.counting(scratch)) as table:
            return memory.counted(table, [source], "Round or group them in the file.")

    return chosen.derived.looked_up(count)


def check_gaps(records: int, complete: int) -> None:
    """Raise SchemaError if the number of complete records is smaller than the number of all records."""
    if lacking := records - complete:
        raise SchemaError(
            f'{lacking:,} of {records:,} records have missing values, and records_with_missing = "refuse". Fill in the '
            'values, or choose "keep" or "drop".'
        )


def note_copies(chosen: DatasetDescription, table: LongTable) -> list[Notice]:
    """Return a notice if each record of a table occurs more than once; otherwise, an empty list."""
    roles = {each.name: each.role for each in chosen.columns.attributes}
    person = {chosen.schema.person: Role.PERSON} if chosen.schema.person else {}
    said = describe_repetition(roles | person, table.own, table.repetition)
    return [Notice(said, "records-repeated")] if said else []


def _is_long(attribute: Attribute) -> bool:
    """Return whether a column is published record by record: a neutral column with many values."""
    domain = attribute.domain
    size = 0 if domain is None else len(domain.values) if hasattr(domain, "values") else domain.size
    return attribute.role is Role.NEUTRAL and not 0 < size <= MAX_COUNTED_VALUES


def publish_cells(chosen: DatasetDescription, batch: pa.RecordBatch) -> tuple[IntArray | slice, list[pa.Array]]:
    """Return columns that are published record by record, in the form that the description states.

    Parameters
    ----------
    chosen : DatasetDescription
    batch : pyarrow.RecordBatch
        Some rows of the result of an engine.

    Returns
    -------
    kept : integer array or slice
        The positions of the published rows.
    cells : list of pyarrow.Array
        The cells of these rows.

    Raises
    ------
    SchemaError
        For values outside their domains.
    """
    import pyarrow as pa

    names = batch.schema.names
    corrected = chosen.derived.corrections
    cells = [None if name in corrected else _as_written(chosen.schema[name], batch.column(name)) for name in names]
    if all(each is not None for each in cells):
        return slice(None), cells
    clean = chosen.cleaned(reading.from_arrow(pa.table(batch)), names)
    return clean.index, columns_to_arrow(clean[names], chosen.schema)


def columns_to_arrow(cells: pd.DataFrame, schema: Schema) -> list[pa.Array]:
    """Return cleaned columns as Arrow arrays."""
    import pyarrow as pa

    return [pa.array(decode_column(cells[name]), arrow_type(schema[name]), from_pandas=True) for name in cells]


def _as_written(attribute: Attribute, column: pa.Array) -> pa.Array | None:
    """Return a column if each of its cells is a value of the domain, so that it needs no cleaning; otherwise, None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    domain = attribute.domain
    if domain is None or column.null_count or not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        return None
    if isinstance(domain, Categories):
        texts = pa.types.is_string(column.type)
        return column if texts and pc.all(pc.is_in(column, pa.array(domain.values))).as_py() else None
    if domain.step != 1 or not float(domain.low).is_integer():
        return None
    if pa.types.is_string(column.type) and not pc.all(pc.match_substring_regex(column, r"^-?\d{1,15}$")).as_py():
        return None
    column = column.cast(pa.int64())
    ends = pc.min_max(column).as_py()
    return column if domain.low <= ends["min"] and ends["max"] <= domain.high else None


def arrow_type(attribute: Attribute) -> pa.DataType:
    """Return the Arrow type of a column that is published record by record."""
    import pyarrow as pa

    domain = attribute.domain
    if not isinstance(domain, Numbers):
        return pa.string()
    whole = all(float(number).is_integer() for number in (domain.low, domain.step))
    return pa.int64() if whole else pa.float64()
