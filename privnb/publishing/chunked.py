"""Releases of tables of any length in parts, made by sanitizers that work record by record.

The records are divided at random into parts, and the sanitizer makes a release of each part. The claims are then
checked again in the labels of all parts together. A sanitizer that needs all records at once receives all records in
one part; if the table has more than `MAX_RECORDS` records, an error is raised.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import encode_values, factorize
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Treatment
from privnb.publishing.from_counts import CURE, Seen
from privnb.publishing.gate import Finding, NotCounted, count_certain_in_altered, measure_found_in_altered
from privnb.publishing.model_spec import list_counting_sanitizers
from privnb.publishing.release_job import Job, arrow_type
from privnb.runtime import progress
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import OWN
from privnb.sanitizers import base
from privnb.sanitizers.algorithms import announce_compiling
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.claims import explain_broken_model
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import engine, long_tables, reading, writing
from privnb.tables.long_tables import LongTable, TooManyCombinationsError

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_SIZE = 100_000  # the maximum number of records of a part
MAX_SECONDS = 24 * 3600  # the maximum time for all parts, in seconds
KEY = f"{OWN}person"  # the person column in the file of parts


@dataclass(frozen=True)
class Chunks:
    """The parts of a release.

    Parameters
    ----------
    job : Job
    path : Path
        A Parquet file with the rows of all parts in any order, and the column `KEY`, which states the person of each
        row.
    release : Release
        The release of one part, with the provenance and the buckets of all parts.
    records : int
    found : list of Finding
        The findings about altered columns, which are measured on the people of the first part.
    """

    job: Job
    path: Path
    release: Release
    records: int
    found: list[Finding]


def release_in_chunks(job: Job, path: Path, sample: int = 0) -> Chunks:
    """Make a release in parts from all records, or from `sample` random records, and write its rows to a file.

    Raises
    ------
    SanitizationError
        For the reasons that `Sanitizer.sanitize` states, for work that would take more than a day, and for more than
        `MAX_RECORDS` records at once.
    SchemaError
        For values outside their domains, and for a table without records.
    """
    with job.opened(**job.memory.engine(job.scratch), held=True) as table:
        return _written(job, table, path, sample)


def _written(job: Job, table: LongTable, path: Path, sample: int) -> Chunks:
    from pyarrow.parquet import ParquetWriter

    sanitizer = job.sanitizer
    job.chosen.schema.check_records(total := table.record_count())
    total = min(total, sample or total)
    if not sanitizer.fits(total):
        raise SanitizationError(
            f"{sanitizer!r} works on all records at once and takes at most {base.MAX_RECORDS:,}; got {total:,}. "
            f"{_cure()}"
        )
    number = -(-total // CHUNK_SIZE) if sanitizer.in_parts else 1
    parts = progress.track(_datasets(job, table, -(-total // number), total), "parts of the table", number)
    columns: dict[str, Treatment] = {}
    buckets: list[pd.DataFrame] = []
    found: list[Finding] = []
    records, last, begun = 0, 0, time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(announce_compiling())
        for data in parts:
            release = sanitizer.sanitize(data, rng=None)
            cells = release.cells
            if release.buckets is not None:
                cells = cells.assign(bucket=cells["bucket"] + last)
                buckets.append(release.buckets.assign(bucket=release.buckets["bucket"] + last))
                last = int(cells["bucket"].max()) + 1
            rows = _arrow(release, cells)
            if data.schema.person is not None:
                rows = rows.append_column(KEY, _keys(data, release))
            if not columns:
                found = [*measure_found_in_altered(release, data), *count_certain_in_altered(release, data)]
                _check_time(sanitizer, time.monotonic() - begun, number, total)
                file = stack.enter_context(ParquetWriter(path, rows.schema, store_schema=False))
            file.write_table(rows)
            for name, kind in release.columns.items():
                same = columns.setdefault(name, kind) == kind
                columns[name] = kind if same else Treatment("generalized")
            records += len(data)
    size = records // number
    note = f"The release was made in {number:,} parts of {size:,} records or one more, drawn at random." * (number > 1)
    facts = release.provenance
    facts = replace(facts, columns=columns, note=" ".join(filter(None, [facts.note, note])))
    release = replace(release, provenance=facts, buckets=pd.concat(buckets) if buckets else None)
    return Chunks(job, path, release, records, found)


def _keys(data: Dataset, release: Release) -> pa.Array:
    """Return the key of the person of each row of a part, as an Arrow array of texts."""
    import pyarrow as pa

    if release.provenance.rows is Rows.SYNTHETIC:
        return pa.nulls(len(release.cells), pa.string())
    keys = data.cells[data.schema.person].astype(str).to_numpy()
    return pa.array(keys if release.records is None else keys[release.records], pa.string())


def _datasets(job: Job, table: LongTable, size: int, total: int) -> Iterator[Dataset]:
    """Yield `total` random records of a table as datasets of `size` records; the last dataset may be smaller."""
    import pyarrow as pa

    names = [*job.counted, *job.single]

    def dataset(records: pa.Table) -> Dataset:
        return job.chosen.made(Dataset, job.cleaned(records, names), names)

    held = None
    relation = table.frame.select(table.called(names)).to_native()
    for batch in relation.order("random()").limit(total).to_arrow_reader(size):
        piece = pa.table(batch).rename_columns(names)
        held = piece if held is None else pa.concat_tables([held, piece])
        while len(held) >= size:
            yield dataset(held[:size])
            held = held[size:]
    table.check()
    if held is not None and len(held):
        yield dataset(held)


def _arrow(release: Release, cells: pd.DataFrame) -> pa.Table:
    """Return the rows of a release as an Arrow table."""
    import pyarrow as pa

    exact, untrue, columns = release.treated("exact"), release.treated(*UNTRUE), {}
    for name in cells:
        codes, values = encode_values(cells[name])
        columns[name] = writing.values_to_arrow(values).take(pa.array(codes))
        if name in exact:
            columns[name] = columns[name].cast(arrow_type(release.schema[name]))
        elif name in untrue and release.schema[name].numeric and release.schema[name].public_domain.missing is not None:
            columns[name] = columns[name].cast(pa.float64())  # a part without missing numbers may hold whole numbers
    return pa.table(columns)


def _cure() -> str:
    return f"Try {' or '.join(list_counting_sanitizers())}, which work on combinations, or sanitize fewer records."


def _check_time(sanitizer: Sanitizer, seconds: float, number: int, records: int) -> None:
    """Report the estimated time for all parts; raise SanitizationError if the time is longer than a day."""
    rate, whole = records / number / seconds, seconds * number
    text = f"{sanitizer!r} works record by record, here about {rate:,.0f} a second"
    if whole > MAX_SECONDS:
        raise SanitizationError(f"{text}: {records:,} would take {whole / 3600:,.0f} hours. {_cure()}")
    if number > 1:
        progress.warn_once(f"{text}: {records:,} take about {progress.format_duration(whole)}.")


def sort_rows(parts: Chunks) -> tuple[Iterator[tuple[IntArray, list[pa.Array]]], dict[str, pa.DataType]]:
    """Return the rows of all parts, sorted by their content, and the Arrow type of each published column.

    The rows are yielded in batches; each batch is a pair of an array of zeros and the published columns of some rows.
    """
    from pyarrow.parquet import read_schema

    own = read_schema(parts.path)
    types = {field.name: field.type for field in own if field.name != KEY}

    def rows() -> Iterator[tuple[IntArray, list[pa.Array]]]:
        # Columns are called by position, because the engine ignores the case of names.
        named = ", ".join(f"column{place}" for place in range(len(own)))
        wanted = ", ".join(f"column{own.names.index(name)}" for name in types)
        with engine.connect(**parts.job.memory.engine(parts.job.scratch)) as connection:
            query = f"select {wanted} from {engine.parquet_source(parts.path)} as rows({named}) order by all"
            for batch in connection.sql(query).to_arrow_reader(writing.PIECE):
                yield np.zeros(len(batch), dtype=np.int64), batch.columns

    return rows(), types


def find_labels(parts: Chunks) -> dict[str, list[str]]:
    """Return the distinct texts in all parts of each published column of texts."""
    from pyarrow.parquet import read_schema

    own, found = read_schema(parts.path), {}
    with engine.connect(**parts.job.memory.engine(parts.job.scratch)) as connection:
        named = ", ".join(f"column{place}" for place in range(len(own)))
        for place, field in enumerate(own):
            if field.name != KEY and field.type in ("string", "large_string"):
                query = f"select distinct column{place} from {engine.parquet_source(parts.path)} as rows({named})"
                found[field.name] = [cell for (cell,) in connection.sql(query).fetchall()]
    return found


def check_label_claims(parts: Chunks) -> Release:
    """Check the claims in the labels of all parts, and return the release of all parts with the counts of the labels.

    Raises
    ------
    SanitizationError
        If the parts together break a claim.
    SchemaError
        For more combinations of labels than fit into the memory.
    """
    release = parts.release
    names = [*release.schema.quasi_identifiers, *release.schema.sensitive]
    if release.buckets is not None or release.treated("noisy") or not names:
        return release
    whole = _counted(parts, names)
    schema = replace(whole.schema, attributes=tuple(whole.schema[name] for name in names))
    whole = replace(whole, schema=schema)
    if reason := next(
        (reason for model in release.provenance.claims for reason in explain_broken_model(model, whole)), ""
    ):
        raise SanitizationError(f"{release.provenance.sanitizer}, for all parts together: {reason}.")
    return whole


def _counted(parts: Chunks, names: list[str], *key: str, estimates: bool = True) -> Release:
    """Return the release of all parts as distinct combinations of values in some columns and of the person."""
    wanted = [*names, *key]
    files, memory = [long_tables.File(parts.path, None)], parts.job.memory
    with long_tables.open_table(files, wanted, {}, **memory.engine(parts.job.scratch)) as table:
        found = memory.counted(table, wanted, CURE, estimates=estimates)
    return replace(
        parts.release,
        table=reading.from_arrow(found.select(names)),
        times=found.column(long_tables.TIMES).to_numpy(),
        people=factorize(found.column(*key).to_pandas())[0] if key else None,
        records=None,
        weights=None,
        apart=None,
    )


def count_for_gate(parts: Chunks) -> Seen:
    """Return the input of the gate: the release of all parts as counts of known and sensitive values."""
    release, found = parts.release, tuple(parts.found)
    schema, true = release.schema, {*release.treated(*TRUE), *release.provenance.recoded}
    averaged = schema.quasi_identifiers if release.groups is not None else []
    wanted = {*(name for name in (*schema.knowable, *schema.sensitive) if name in true), *averaged}
    names = [name for name in schema.published if name in release.cells and name in wanted]
    if release.provenance.rows is Rows.SYNTHETIC or not names:
        return Seen(release, found)
    key = [] if parts.job.chosen.schema.person is None else [KEY]
    try:
        return Seen(_counted(parts, names, *key, estimates=False), found)
    except TooManyCombinationsError:
        return Seen(release, (*found, NotCounted(tuple(names), parts.job.memory.combinations)))
