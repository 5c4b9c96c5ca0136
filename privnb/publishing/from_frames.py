"""From frame to frame: a release of a table of any length as a lazy frame of the engine that has the table.

The engine counts combinations, and the release is made of the counts, as from file to file. Where every published
column is counted, the frame is made of the release alone: it reads no record again.
"""

from dataclasses import dataclass, field

from privnb.datasets.dataset import Chosen, find
from privnb.microdata.schema import SchemaError
from privnb.publishing import of_counts, own_cells
from privnb.publishing.gate import check_allow, gate
from privnb.publishing.in_words import readings
from privnb.publishing.made import Made
from privnb.runtime import expect
from privnb.sanitizers.base import Sanitizer
from privnb.tables import file_forms, long_tables
from privnb.tables.frames import LongFrame
from privnb.tables.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Returned(Made):
    """What was made, and the `frame` of it, lazy and native."""

    frame: object = field(repr=False)  # DuckDB's would be read


def sanitize(frame, model, *, dataset=None, algorithm="Mondrian", study=None, memory="2GB", allow=None):
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
        As of `load`.
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
        As of `Sanitizer.sanitize`, and `gate.Refused` for a release that may not leave.
    SchemaError
        For a frame that the description does not fit, or of more combinations than the memory holds; without a
        `dataset`.
    TypeError
        For what is no lazy frame of a known engine.
    """
    expect.kind("model", model, str, Sanitizer, instead='Give one such as "k=10".')
    expect.kind("study", study, str, type(None), instead="Name a study of the description.")
    memory, allow = Memory.of(memory), check_allow(allow) or None
    if dataset is None:
        raise SchemaError(
            "nobody has said what the columns of the frame are. Describe a part of it, saved as a file, with `privnb "
            "app --new`, and name that dataset: dataset=..."
        )
    chosen = Chosen.of(find(dataset), study)
    renamed = chosen.text.get("renamed", {})
    sanitizer = of_counts.sanitizer_of(model, algorithm, chosen.schema, renamed)
    names, others = of_counts.columns(chosen.schema)
    table = LongFrame.of(frame, renamed).having([*names, *others])
    if chosen.refused is not None:
        complete = table.complete(chosen.refused)
        of_counts.check_gaps(table.held().record_count(), complete.record_count())
    if chosen.dropped is not None:
        table = table.complete(chosen.dropped)
    doubled = of_counts.copies(chosen, table)
    table = table.replaced(of_counts.merged(chosen, table, names, memory))
    found = of_counts.counted(table, names, sanitizer, memory)
    if long_tables.has_blank(found, names):
        table = table.held()
        found = of_counts.counted(table, names, sanitizer, memory)
    counts, release = of_counts.released(chosen, found, names, sanitizer)
    seen, beside = of_counts.seen(chosen, table, counts, release, others, memory)
    verdict = gate(seen, beside=beside, allow=allow).check()
    columns, times, place = release.counted_rows()
    rows = _arrow_table(columns)
    if others:
        kept = counts.row >= 0
        values = {name: _values(chosen, table, name, memory) for name in others}
        made = table.released(counts.found.filter(kept), place[counts.row[kept]], rows, values)
    else:
        made = table.repeated(rows, times)
    said = (*filter(None, [doubled]), *readings(model, sanitizer))
    return Returned.of(release, sanitizer, others, verdict, said, renamed=renamed, frame=made)


def _arrow_table(columns):
    """Rows as `Release.counted_rows` gives them, as Arrow's."""
    import pyarrow as pa

    return pa.table({name: file_forms.arrow(values).take(pa.array(codes)) for name, (codes, values) in columns.items()})


def _values(chosen, table, name, memory):
    """The values of a column that is published record by record, and how each is published."""
    found = table.counted([name], memory.combinations)
    memory.check(found, "Round or group them in the frame first, give the column another role, or allow more memory.")
    clean = of_counts.cleaned(chosen, found, [name])
    return found.take(clean.index.to_numpy()), own_cells.arrow(clean, chosen.schema)[0]
