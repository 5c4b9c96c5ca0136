"""Releases of tables of any length; a table is a file, a folder of files, or a lazy frame of an engine.

The engine of a frame counts the combinations, and the release is made from the counts, as it is for files. If all
published columns are counted, the frame of the release does not read the records again.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.datasets.dataset import DatasetDescription, find_description
from privnb.microdata.schema import SchemaError
from privnb.publishing.from_counts import release_from_counts
from privnb.publishing.gate import check_allow, gate
from privnb.publishing.lineage import Run, format_call
from privnb.publishing.model_spec import explain_l
from privnb.publishing.release_job import (
    Job,
    Model,
    Opened,
    Outside,
    PublishedTable,
    Study,
    apply_outside,
    columns_to_arrow,
    look_up_sources,
    note_copies,
)
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.validation import validated
from privnb.tables import writing
from privnb.tables.long_tables import LongTable, Memory

if TYPE_CHECKING:
    import pyarrow as pa


@validated
def sanitize(
    table: Any,
    model: Model,
    out: str | os.PathLike[str] | None = None,
    *,
    algorithm: str = "Mondrian",
    dataset: str | os.PathLike[str] | None = None,
    study: Study = None,
    memory: str = "2GB",
    outside: Outside = "refuse",
    bounds: bool = False,
    force: bool = False,
    allow: str | None = None,
) -> PublishedTable:
    """Make a release of a table of any length.

    Parameters
    ----------
    table : str, path-like or lazy frame
        A CSV or Parquet file, a folder with such files as parts of the table, or the name of a described dataset; or a
        DuckDB relation, a Polars LazyFrame or a Spark DataFrame.
    model : str or Sanitizer
        The privacy models that every class must satisfy, such as `"k=10, t=0.2:salary"`, or a sanitizer. The attribute
        after the colon may be left out if only one attribute is sensitive.
    out : str or path-like
        For files, the path of the release: a file that ends in .parquet or .csv, or a folder. For a frame, `out` must
        be None.
    algorithm : str
        The sanitizer that enforces `model`, by the name of its class or by its title, such as "local recoding".
    dataset : str or path-like, optional
        The dataset whose description applies to the columns. For a frame, it must be given.
    study : str, optional
        See `load`.
    memory : str
        The memory that this process may use, such as "800MB" or "2GB"; "auto" means the free memory of the machine.
    outside, bounds, force
        See `from_files.sanitize`; `bounds` and `force` apply only to files.
    allow : str, optional
        The owner's reason for a release that the gate refuses; the provenance and the output repeat the reason.

    Returns
    -------
    PublishedTable
        The published table, with the `path` of the file or, for a frame, with the release as a lazy `frame` of the same
        engine. The order of the rows of the frame depends only on the rows. If columns with many values are published
        record by record, the frame reads the records again, so the records must not change in the meantime.

    Raises
    ------
    SanitizationError, SchemaError, OSError
        For the reasons that `from_files.sanitize` states, and for a frame without a `dataset`.
    TypeError
        For files without `out`, for a frame with `out`, `bounds` or `force`, and for an object that is neither a path
        nor a frame.
    """
    asked: dict[str, Any] = {"algorithm": algorithm, "dataset": dataset, "study": study, "memory": memory}
    asked |= {"outside": outside, "allow": allow}
    if isinstance(table, str | os.PathLike):
        from privnb.publishing import from_files

        if out is None:
            raise UsageTypeError("`out` must be the path of the release for a table in files; got None. Give a path.")
        return from_files.sanitize(table, model, out, bounds=bounds, force=force, **asked)
    if out is not None or bounds or force:
        raise UsageTypeError(
            "`out`, `bounds` and `force` apply only to tables in files. Leave out these arguments, and write the frame "
            "of the release yourself."
        )
    from privnb.tables.frames import LongFrame  # loads an engine of frames, which files do not need

    said = asked | {"table": type(table).__name__, "model": model, "dataset": dataset and Path(dataset)}
    run = Run(f"privnb.{format_call(sanitize, said)}")
    given, allow = Memory.of(memory), check_allow(allow) or None
    if dataset is None:
        raise SchemaError(
            "`dataset` must name the description of the frame; got None. Try `privnb.read(frame).sanitize(model)`, "
            "which guesses the roles of columns, or save a part of the frame as a file and run `privnb describe` on it."
        )
    chosen, whole = DatasetDescription.of(find_description(dataset), study), LongFrame.of(table, {})
    there = [chosen.renamed.get(name, name) for name in whole.own]
    records = LongFrame.of(table, chosen.renamed)
    chosen.derived.check_names(there, "the frame")
    derived = look_up_sources(chosen, lambda names: partial(records.opened, names), given)
    plain = lambda names: partial(records.opened, names, derived=derived)  # noqa: E731
    chosen, beyond = apply_outside(chosen, outside, [*there, *derived.rules], plain, given)

    def opened(names: list[str]) -> Opened:
        return partial(records.opened, names, complete=chosen.marks_where("drop"), derived=derived)

    job = Job.of(chosen, model, algorithm, given, opened)
    job.check_gaps()
    with job.counting() as counted:
        doubled = note_copies(chosen, counted)
    made = release_from_counts(job)
    verdict = gate(made.seen.release, findings=made.seen.findings, allow=allow).check()
    columns, times, place = made.release.counted_rows()
    rows = writing.to_arrow_table(columns)
    with made.job.counting() as opened_again:
        again = opened_again.replaced(made.pairs)
        assert isinstance(again, LongFrame)
        if job.single:
            kept = made.row >= 0
            values = {name: _values(job, again, name) for name in job.single}
            result = again.released(made.found.filter(kept), place[made.row[kept]], rows, values)
        else:
            result = again.repeated(rows, times)
    remarks = (*doubled, *explain_l(model, job.sanitizer))
    return PublishedTable.of(job, made.release, verdict, remarks, outside=beyond, made=run.facts(), frame=result)


def _values(job: Job, table: LongTable, name: str) -> tuple[pa.Table, pa.Array]:
    """Return the values of a column that is published record by record, and the published form of each value."""
    cure = "Round or group the values in the frame first, give the column another role, or allow more memory."
    found = job.memory.counted(table, [name], cure)
    clean = job.cleaned(found, [name])
    return found.take(clean.index.to_numpy()), columns_to_arrow(clean, job.chosen.schema)[0]
