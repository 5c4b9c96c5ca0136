"""A release made record by record, part by part, of a table of any length.

Each part is of records drawn at random, and a release by itself. The claims of its classes are graded once more in the
labels of all parts together. A sanitizer that needs all records at once is given them, where there are not too many.
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
from privnb.microdata.counts import coded, factorized
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Treatment
from privnb.publishing.gate import Finding, NotCounted, certain_in_altered, found_in_altered
from privnb.publishing.in_words import able
from privnb.publishing.job import Job, arrow_type
from privnb.publishing.of_counts import CURE, Seen
from privnb.runtime import progress
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import OWN
from privnb.sanitizers import base
from privnb.sanitizers.algorithms import announced_compiling
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.claims import broken
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import engine, long_tables, reading, writing
from privnb.tables.long_tables import LongTable, TooManyCombinationsError

if TYPE_CHECKING:
    import pyarrow as pa

SIZE = 100_000  # records of a part at most
LONGEST = 24 * 3600  # seconds of all parts
KEY = f"{OWN}person"  # the column that says whose a row is, in the file of parts


@dataclass(frozen=True)
class Parts:
    """The parts of a release.

    Parameters
    ----------
    job : Job
    path : Path
        A Parquet file with the rows of all parts, in any order, and the key of people beside them: named `KEY`.
    release : Release
        That of a part, with the facts and the buckets of all.
    records : int
    found : list of Finding
        How often people of the first part are found by altered columns, and for whom these make a value certain.
    """

    job: Job
    path: Path
    release: Release
    records: int
    found: list[Finding]


def release_in_parts(job: Job, path: Path, sample: int = 0) -> Parts:
    """Make a release part by part, of `sample` records drawn at random, or of all, and write its rows to a file.

    Raises
    ------
    SanitizationError
        As in `Sanitizer.sanitize`, for a work of more than a day, and for more than `MOST_AT_ONCE` records at once.
    SchemaError
        For values outside their domains, and for a table without a record.
    """
    with job.opened(**job.memory.engine(job.scratch), held=True) as table:
        return _written(job, table, path, sample)


def _written(job: Job, table: LongTable, path: Path, sample: int) -> Parts:
    from pyarrow.parquet import ParquetWriter

    sanitizer = job.sanitizer
    job.chosen.schema.check_records(total := table.record_count())
    total = min(total, sample or total)
    if not sanitizer.fits(total):
        raise SanitizationError(
            f"{sanitizer!r} works on all records at once, and these are {total:,}: more than {base.MOST_AT_ONCE:,}. "
            f"Choose one of {', '.join(able())}, which work on combinations, or sanitize fewer records."
        )
    number = -(-total // SIZE) if sanitizer.in_parts else 1
    parts = progress.track(_datasets(job, table, -(-total // number), total), "parts of the table", number)
    columns: dict[str, Treatment] = {}
    buckets: list[pd.DataFrame] = []
    found: list[Finding] = []
    records, last, begun = 0, 0, time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(announced_compiling())
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
                found = [*found_in_altered(release, data), *certain_in_altered(release, data)]
                _check_time(sanitizer, time.monotonic() - begun, number, total)
                file = stack.enter_context(ParquetWriter(path, rows.schema, store_schema=False))
            file.write_table(rows)
            for name, kind in release.columns.items():
                same = columns.setdefault(name, kind) == kind
                columns[name] = kind if same else Treatment("generalized")
            records += len(data)
    note = f"Made in {number:,} parts of {records // number:,} records or one more, drawn at random." * (number > 1)
    facts = release.provenance
    facts = replace(facts, columns=columns, note=" ".join(filter(None, [facts.note, note])))
    release = replace(release, provenance=facts, buckets=pd.concat(buckets) if buckets else None)
    return Parts(job, path, release, records, found)


def _keys(data: Dataset, release: Release) -> pa.Array:
    """Return whose each row of a release of a part is, as Arrow's texts."""
    import pyarrow as pa

    if release.provenance.rows is Rows.NOBODY:
        return pa.nulls(len(release.cells), pa.string())
    keys = data.cells[data.schema.person].astype(str).to_numpy()
    return pa.array(keys if release.records is None else keys[release.records], pa.string())


def _datasets(job: Job, table: LongTable, size: int, total: int) -> Iterator[Dataset]:
    """Yield `total` records of a table in random order, `size` at a time."""
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
    """Return the rows of a release as Arrow's."""
    import pyarrow as pa

    exact, untrue, columns = release.treated("exact"), release.treated(*UNTRUE), {}
    for name in cells:
        codes, values = coded(cells[name])
        columns[name] = writing.arrow(values).take(pa.array(codes))
        if name in exact:
            columns[name] = columns[name].cast(arrow_type(release.schema[name]))
        elif name in untrue and release.schema[name].numeric and release.schema[name].public_domain.missing is not None:
            columns[name] = columns[name].cast(pa.float64())  # a part may have no missing number, and then whole ones
    return pa.table(columns)


def _check_time(sanitizer: Sanitizer, seconds: float, number: int, records: int) -> None:
    """Say how long all parts take, by the first one; raise SanitizationError where it is too long."""
    rate, whole = records / number / seconds, seconds * number
    text = f"{sanitizer!r} works record by record, here about {rate:,.0f} a second"
    if whole > LONGEST:
        raise SanitizationError(
            f"{text}: {records:,} would take {whole / 3600:,.0f} hours. Choose one of {', '.join(able())}, "
            "which work on combinations, or sanitize fewer records."
        )
    if number > 1:
        progress.say(f"{text}: {records:,} take about {progress.taken(whole)}.")


def in_order(parts: Parts) -> tuple[Iterator[tuple[IntArray, list[pa.Array]]], dict[str, pa.DataType]]:
    """Return the rows of all parts, sorted by what they hold: pairs of an array of zeros and the published columns of
    some rows; and what these columns hold, a type of Arrow's by name.
    """
    from pyarrow.parquet import read_schema

    own = read_schema(parts.path)
    types = {field.name: field.type for field in own if field.name != KEY}

    def rows() -> Iterator[tuple[IntArray, list[pa.Array]]]:
        # By their places: to the engine, names that differ in capitals alone are one column.
        named = ", ".join(f"column{place}" for place in range(len(own)))
        wanted = ", ".join(f"column{own.names.index(name)}" for name in types)
        with engine.opened(**parts.job.memory.engine(parts.job.scratch)) as connection:
            query = f"select {wanted} from {engine.parquet(parts.path)} as rows({named}) order by all"
            for batch in connection.sql(query).to_arrow_reader(writing.PIECE):
                yield np.zeros(len(batch), dtype=np.int64), batch.columns

    return rows(), types


def texts_in(parts: Parts) -> dict[str, list[str]]:
    """Return the different texts of each published column of texts, of all parts."""
    from pyarrow.parquet import read_schema

    own, found = read_schema(parts.path), {}
    with engine.opened(**parts.job.memory.engine(parts.job.scratch)) as connection:
        named = ", ".join(f"column{place}" for place in range(len(own)))
        for place, field in enumerate(own):
            if field.name != KEY and field.type in ("string", "large_string"):
                query = f"select distinct column{place} from {engine.parquet(parts.path)} as rows({named})"
                found[field.name] = [cell for (cell,) in connection.sql(query).fetchall()]
    return found


def graded(parts: Parts) -> Release:
    """Return the release of all parts: as counts of its labels, where there are such.

    Raises
    ------
    SanitizationError
        For one that is not what its parts claim.
    SchemaError
        For more labels than the memory holds.
    """
    release = parts.release
    names = [*release.schema.quasi_identifiers, *release.schema.sensitive]
    if release.buckets is not None or release.treated("noisy") or not names:
        return release
    whole = _counted(parts, names)
    schema = replace(whole.schema, attributes=tuple(whole.schema[name] for name in names))
    whole = replace(whole, schema=schema)
    if reason := next((reason for model in release.provenance.claims for reason in broken(model, whole)), ""):
        raise SanitizationError(f"{release.provenance.sanitizer}, of all parts together: {reason}.")
    return whole


def _counted(parts: Parts, names: list[str], *key: str, estimates: bool = True) -> Release:
    """Return the release of all parts as the combinations of some columns, and of the key of people."""
    wanted = [*names, *key]
    files, memory = [long_tables.File(parts.path, None)], parts.job.memory
    with long_tables.opened(files, wanted, {}, **memory.engine(parts.job.scratch)) as table:
        found = memory.counted(table, wanted, CURE, estimates=estimates)
    return replace(
        parts.release,
        table=reading.of_arrow(found.select(names)),
        times=found.column(long_tables.TIMES).to_numpy(),
        people=factorized(found.column(*key).to_pandas())[0] if key else None,
        records=None,
        weights=None,
        apart=None,
    )


def seen(parts: Parts) -> Seen:
    """Return what the gate looks at: all parts as counts of what may be known, and of what is sensitive."""
    release, found = parts.release, tuple(parts.found)
    schema, true = release.schema, {*release.treated(*TRUE), *release.provenance.recoded}
    averaged = schema.quasi_identifiers if release.groups is not None else []
    wanted = {*(name for name in (*schema.knowable, *schema.sensitive) if name in true), *averaged}
    names = [name for name in schema.published if name in release.cells and name in wanted]
    if release.provenance.rows is Rows.NOBODY or not names:
        return Seen(release, found)
    key = [] if parts.job.chosen.schema.person is None else [KEY]
    try:
        return Seen(_counted(parts, names, *key, estimates=False), found)
    except TooManyCombinationsError:
        return Seen(release, (*found, NotCounted(tuple(names), parts.job.memory.combinations)))
