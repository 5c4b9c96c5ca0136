"""A release of a table of any length, wherever it is: in files, or a lazy frame of an engine.

The engine that has a frame counts combinations, and the release is made of the counts, as from file to file. Where
every published column is counted, the frame is made of the release alone: it reads no record again.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.datasets.dataset import Chosen, find
from privnb.microdata.schema import SchemaError
from privnb.publishing.gate import check_allow, gate
from privnb.publishing.in_words import readings
from privnb.publishing.job import Job, Made, Model, Opened, Outside, Study, arrow, copies, taking
from privnb.publishing.lineage import Run, python_call
from privnb.publishing.of_counts import release_of_counts
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
) -> Made:
    """Make a release of a table of any length.

    Parameters
    ----------
    table : str, path-like or lazy frame
        A CSV or Parquet file, a folder of such parts, or the name of a described dataset; or a DuckDB relation, a
        Polars LazyFrame or a Spark DataFrame.
    model : str or Sanitizer
        What its classes keep: letters with their bounds, `"k=10, t=0.2:salary"`, where the attribute after the colon
        may be left out if one is sensitive; or a sanitizer.
    out : str or path-like
        Of files, where the release goes: a file that ends in .parquet or .csv, or a folder. A frame has none.
    algorithm : str
        The class of the sanitizer that keeps `model`, or its title: "local recoding".
    dataset : str or path-like, optional
        The dataset whose description says what the columns are. A frame needs one.
    study : str, optional
        As in `load`.
    memory : str
        What this process may take at most, such as "800MB" or "2GB"; "auto": what the machine has left.
    outside, bounds, force
        As in `from_files.sanitize`; bounds and force are for files.
    allow : str, optional
        The owner's reason for a release that the gate refuses; provenance and output repeat it.

    Returns
    -------
    Made
        With the `path` of files, or the release of a frame as its `frame`, of the same engine. That is a multiset: its
        order is made of what it holds. Where columns of many values are published record by record, the records are
        read once more when it is read, and must be the same by then.

    Raises
    ------
    SanitizationError, SchemaError, OSError
        As in `from_files.sanitize`; and for a frame without a `dataset`.
    TypeError
        For files without `out`, a frame with `out`, `bounds` or `force`, and for what is neither.
    """
    asked: dict[str, Any] = {"algorithm": algorithm, "dataset": dataset, "study": study, "memory": memory}
    asked |= {"outside": outside, "allow": allow}
    if isinstance(table, str | os.PathLike):
        from privnb.publishing import from_files

        if out is None:
            raise UsageTypeError("out must be given for a table in files: where the release is written to.")
        return from_files.sanitize(table, model, out, bounds=bounds, force=force, **asked)
    if out is not None or bounds or force:
        raise UsageTypeError(
            "out, bounds and force are for tables in files. The release of a frame is a frame, which you write."
        )
    from privnb.tables.frames import LongFrame  # with an engine of frames, which files do without

    said = asked | {"table": type(table).__name__, "model": model, "dataset": dataset and Path(dataset)}
    run = Run(f"privnb.{python_call(sanitize, said)}")
    given, allow = Memory.of(memory), check_allow(allow) or None
    if dataset is None:
        raise SchemaError(
            "nobody has said what the columns of the frame are. Try `privnb.read(frame).sanitize(model)`, which "
            "guesses it; or describe a part of it, saved as a file, with `privnb describe`, and name it: dataset=..."
        )
    chosen, whole = Chosen.of(find(dataset), study), LongFrame.of(table, {})
    there = [chosen.renamed.get(name, name) for name in whole.own]
    plain = lambda names: LongFrame.of(table, chosen.renamed).having(names).opened  # noqa: E731
    chosen, beyond = taking(chosen, outside, there, plain, given)

    def opened(names: list[str]) -> Opened:
        return partial(LongFrame.of(table, chosen.renamed).having(names).opened, complete=chosen.marks_where("drop"))

    job = Job.of(chosen, model, algorithm, given, opened)
    job.check_gaps()
    with job.counting() as records:
        doubled = copies(chosen, records)
    made = release_of_counts(job)
    verdict = gate(made.seen.release, beside=made.seen.beside, allow=allow).check()
    columns, times, place = made.release.counted_rows()
    rows = writing.arrow_table(columns)
    with made.job.counting() as opened_again:
        again = opened_again.replaced(made.pairs)
        assert isinstance(again, LongFrame)
        if job.single:
            kept = made.row >= 0
            values = {name: _values(job, again, name) for name in job.single}
            result = again.released(made.found.filter(kept), place[made.row[kept]], rows, values)
        else:
            result = again.repeated(rows, times)
    remarks = (*doubled, *readings(model, job.sanitizer))
    return Made.of(job, made.release, verdict, remarks, outside=beyond, made=run.facts(), frame=result)


def _values(job: Job, table: LongTable, name: str) -> tuple[pa.Table, pa.Array]:
    """Return the values of a column that is published record by record, and how each is published."""
    cure = "Round or group them in the frame first, give the column another role, or allow more memory."
    found = job.memory.counted(table, [name], cure)
    clean = job.cleaned(found, [name])
    return found.take(clean.index.to_numpy()), arrow(clean, job.chosen.schema)[0]
