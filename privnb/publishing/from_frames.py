"""From frame to frame: a release of a table of any length as a lazy frame of the engine that has the table.

The engine counts combinations, and the release is made of the counts, as from file to file. Where every published
column is counted, the frame is made of the release alone: it reads no record again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from privnb.datasets.dataset import Chosen, find
from privnb.microdata.schema import SchemaError
from privnb.publishing import own_cells
from privnb.publishing.gate import check_allow, gate
from privnb.publishing.in_words import readings
from privnb.publishing.job import Job, Model, Opened, Study, copies, renamings
from privnb.publishing.made import Made
from privnb.publishing.of_counts import release_of_counts
from privnb.runtime.validation import validated
from privnb.tables import writing
from privnb.tables.frames import LongFrame
from privnb.tables.long_tables import Memory

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Returned(Made):
    """What was made, and the `frame` of it, lazy and native."""

    frame: object = field(repr=False)  # DuckDB's would be read


@validated
def sanitize(
    frame: Any,
    model: Model,
    *,
    dataset: str | os.PathLike[str] | None = None,
    algorithm: str = "Mondrian",
    study: Study = None,
    memory: str = "2GB",
    allow: str | None = None,
) -> Returned:
    """Make a release of a lazy frame, in its engine.

    Parameters
    ----------
    frame : duckdb.DuckDBPyRelation, polars.LazyFrame or pyspark.sql.DataFrame
        One row per record.
    model : str or Sanitizer
        What its classes keep: names of models with their bounds, `"k=10, t=0.2:salary"`, as `in_words.asked` reads
        them; or a sanitizer.
    dataset : str or path-like
        The dataset whose description says what the columns are.
    algorithm : str
        The class of the sanitizer that keeps `model`, or its title.
    study : str, optional
        As in `load`.
    memory : str
        What this process may take at most, such as "2GB"; an engine elsewhere has its own.
    allow : str, optional
        The owner's reason for a release that the gate refuses; it is recorded.

    Returns
    -------
    Returned
        Its `frame` is a multiset: its order is made of what it holds. Where columns of many values are published record
        by record, the records are read once more when it is read, and must be the same by then.

    Raises
    ------
    SanitizationError
        As in `Sanitizer.sanitize`, and `gate.Refused` for a release that may not leave.
    SchemaError
        For a frame that the description does not fit, or of more combinations than the memory holds; without a
        `dataset`.
    TypeError
        For what is no lazy frame of a known engine.
    """
    given, allow = Memory.of(memory), check_allow(allow) or None
    if dataset is None:
        raise SchemaError(
            "nobody has said what the columns of the frame are. Describe a part of it, saved as a file, with `privnb "
            "app --new`, and name that dataset: dataset=..."
        )
    chosen = Chosen.of(find(dataset), study)

    def opened(names: list[str]) -> Opened:
        return partial(LongFrame.of(frame, renamings(chosen)).having(names).opened, complete=chosen.dropped)

    job = Job.of(chosen, model, algorithm, given, opened)
    job.check_gaps()
    with job.counting() as records:
        doubled = copies(chosen, records)
    made = release_of_counts(job)
    verdict = gate(made.seen.release, beside=made.seen.beside, allow=allow).check()
    columns, times, place = made.release.counted_rows()
    rows = writing.arrow_table(columns)
    with made.job.counting() as opened_again:
        table = opened_again.replaced(made.pairs)
        assert isinstance(table, LongFrame)
        if job.single:
            kept = made.row >= 0
            values = {name: _values(job, table, name) for name in job.single}
            result = table.released(made.found.filter(kept), place[made.row[kept]], rows, values)
        else:
            result = table.repeated(rows, times)
    remarks = (*filter(None, [doubled]), *readings(model, job.sanitizer))
    return Returned.of(job, made.release, verdict, remarks, frame=result)


def _values(job: Job, table: LongFrame, name: str) -> tuple[pa.Table, pa.Array]:
    """Return the values of a column that is published record by record, and how each is published."""
    cure = "Round or group them in the frame first, give the column another role, or allow more memory."
    found = job.memory.counted(table, [name], cure)
    clean = job.cleaned(found, [name])
    return found.take(clean.index.to_numpy()), own_cells.arrow(clean, job.chosen.schema)[0]
