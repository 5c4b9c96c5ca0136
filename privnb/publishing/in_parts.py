"""The release of a table of any length by a sanitizer that works record by record: part by part.

Each part is of records drawn at random, and a release by itself. What is claimed of its classes is graded once more in
the labels of all parts together. A sanitizer that needs all records at once is given them, where they are not too many.
"""

import itertools
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import coded, factorized
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Treatment
from privnb.publishing import of_counts, own_cells
from privnb.publishing.gate import NotCounted, certain_in_altered, found_in_altered
from privnb.publishing.of_counts import Seen
from privnb.runtime import progress
from privnb.sanitizers import base
from privnb.sanitizers.algorithms import announced_compiling
from privnb.sanitizers.claims import broken
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import engine, file_forms, long_tables, reading, writing

SIZE = 100_000  # records of a part at most
LONGEST = 24 * 3600  # seconds of all parts


def released(chosen, table, names, sanitizer, path, sample=0):
    """Write the rows of a release to a Parquet file, in any order, and the key of people beside them: see `key_of`.

    Parameters
    ----------
    chosen : Chosen
        What the columns are.
    table : LongTable
        Of DuckDB.
    names : list of str
        The columns that are read.
    sanitizer : Sanitizer
        One that works record by record; if not `in_parts`, on all of `MOST_AT_ONCE` records at most.
    path : Path
        Of the file.
    sample : int
        Of how many records, drawn at random, the release is; 0: of all.

    Returns
    -------
    release : Release
        That of a part, with the facts and the buckets of all.
    records : int
    found : list of Finding
        How often people of the first part are found by what was altered, and for whom it makes a value certain.

    Raises
    ------
    SanitizationError
        As of `Sanitizer.sanitize`, for a work of more than a day, and for more than `MOST_AT_ONCE` records at once.
    SchemaError
        For values outside their domains, and for no record.
    """
    from pyarrow.parquet import ParquetWriter

    chosen.schema.check_records(total := table.record_count())
    total = min(total, sample or total)
    if not sanitizer.fits(total):
        raise SanitizationError(
            f"{sanitizer!r} works on all records at once, and these are {total:,}: more than {base.MOST_AT_ONCE:,}. "
            f"Choose one of {', '.join(of_counts.able())}, which work on combinations, or sanitize fewer records."
        )
    number = -(-total // SIZE) if sanitizer.in_parts else 1
    parts = progress.track(_parts(chosen, table, names, -(-total // number), total), "parts of the table", number)
    columns, buckets, found, records, last, begun = {}, [], [], 0, 0, time.monotonic()
    key = key_of(chosen.schema)
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
            if key:
                rows = rows.append_column(key, _keys(data, release))
            if not columns:
                found = [*found_in_altered(release, data), *certain_in_altered(release, data)]
                _check_time(sanitizer, time.monotonic() - begun, number, total)
                file = stack.enter_context(ParquetWriter(path, rows.schema, store_schema=False))
            file.write_table(rows)
            columns = {name: _both(columns.get(name, kind), kind) for name, kind in release.columns.items()}
            records += len(data)
    note = f"Made in {number:,} parts of {records // number:,} records or one more, drawn at random." * (number > 1)
    facts = release.provenance
    facts = replace(facts, columns=columns, note=" ".join(filter(None, [facts.note, note])))
    return replace(release, provenance=facts, buckets=pd.concat(buckets) if buckets else None), records, found


def key_of(schema: Schema) -> str:
    """Return the name of the column that says whose a row is, in the file of `released`; empty without such a key."""
    if schema.person is None:
        return ""
    return next(name for name in (f"person {number}" for number in itertools.count()) if name not in schema.published)


def _keys(data, release):
    """Return whose each row of a release of a part is, as Arrow's texts."""
    import pyarrow as pa

    if release.provenance.rows is Rows.NOBODY:
        return pa.nulls(len(release.cells), pa.string())
    keys = data.cells[data.schema.person].astype(str).to_numpy()
    return pa.array(keys if release.records is None else keys[release.records], pa.string())


def _parts(chosen, table, names, size, total):
    """`total` records of a table in random order, `size` at a time: Datasets."""
    import pyarrow as pa

    held = None
    relation = table.frame.select(table.called(names)).to_native()
    for batch in relation.order("random()").limit(total).to_arrow_reader(size):
        piece = pa.table(batch).rename_columns(names)
        held = piece if held is None else pa.concat_tables([held, piece])
        while len(held) >= size:
            yield _dataset(chosen, held[:size], names)
            held = held[size:]
    table.check()
    if len(held):
        yield _dataset(chosen, held, names)


def _dataset(chosen, found, names):
    return chosen.made(Dataset, of_counts.cleaned(chosen, found, names), names)


def _arrow(release, cells):
    """The rows of a release as Arrow's."""
    import pyarrow as pa

    exact, untrue, columns = release.treated("exact"), release.treated(*UNTRUE), {}
    for name in cells:
        codes, values = coded(cells[name])
        columns[name] = file_forms.arrow(values).take(pa.array(codes))
        if name in exact:
            columns[name] = columns[name].cast(own_cells.arrow_type(release.schema[name]))
        elif name in untrue and release.schema[name].numeric and release.schema[name].domain.missing is not None:
            columns[name] = columns[name].cast(pa.float64())  # a part may have no missing number, and then whole ones
    return pa.table(columns)


def _both(one, other):
    """How a column is treated of which some parts are treated as `one` says, and some as the `other`."""
    return one if one == other else Treatment("generalized")


def _check_time(sanitizer, seconds, number, records):
    """Say how long all parts take, by the first one; raise SanitizationError where it is too long."""
    rate, whole = records / number / seconds, seconds * number
    text = f"{sanitizer!r} works record by record, here about {rate:,.0f} a second"
    if whole > LONGEST:
        raise SanitizationError(
            f"{text}: {records:,} would take {whole / 3600:,.0f} hours. Choose one of {', '.join(of_counts.able())}, "
            "which work on combinations, or sanitize fewer records."
        )
    if number > 1:
        progress.say(f"{text}: {records:,} take about {progress.taken(whole)}.")


def types(path, names):
    """What the columns `names` of `released` hold, in the order of `in_order`: a type of Arrow's by name."""
    from pyarrow.parquet import read_schema

    schema = read_schema(path)
    return {name: schema.field(name).type for name in names}


def in_order(path, names, **settings):
    """The columns `names` of the rows of `released`, sorted by what they hold: pairs of an array of zeros and the
    columns of some rows.
    """
    from pyarrow.parquet import read_schema

    own = read_schema(path).names
    # By their places: to the engine, names that differ in capitals alone are one column.
    places = [f"column{own.index(name)}" for name in names]
    table = f"read_parquet({engine.quoted(str(path))}) as rows({', '.join(f'column{i}' for i in range(len(own)))})"
    with engine.opened(**settings) as connection:
        query = f"select {', '.join(places)} from {table} order by all"
        for batch in connection.sql(query).to_arrow_reader(writing.PIECE):
            yield np.zeros(len(batch), dtype=np.int64), batch.columns


def graded(release, path, memory, **settings):
    """The release of all parts: as counts of its labels, where there are such.

    Raises
    ------
    SanitizationError
        For one that is not what its parts claim.
    SchemaError
        For more labels than the memory holds.
    """
    if release.buckets is not None or release.treated("noisy"):
        return release
    schema = release.schema
    names = [*schema.quasi_identifiers, *schema.sensitive]
    if not names:
        return release
    found = _counted(path, names, memory, settings)
    memory.check(found, "Give such a column a coarser step, another role, or allow more memory.")
    schema = replace(schema, attributes=tuple(schema[name] for name in names))
    whole = replace(
        release,
        table=reading.of_arrow(found.select(names)),
        schema=schema,
        times=found.column(long_tables.TIMES).to_numpy(),
        people=None,
    )
    if reason := next((reason for model in release.provenance.claims for reason in broken(model, whole)), ""):
        raise SanitizationError(f"{release.provenance.sanitizer}, of all parts together: {reason}.")
    return whole


def _counted(path, names, memory, settings):
    """The combinations of some columns in a file of `released`, one more than fit into the memory at most."""
    with long_tables.opened([long_tables.File(path, None)], names, {}, **settings) as table:
        return table.counted(names, memory.combinations)


def seen(release, path, found, key, memory, **settings) -> Seen:
    """Return what the gate looks at: the release of all parts as counts of what may be known, and of what is sensitive.

    Parameters
    ----------
    release : Release
        As of `released`.
    path : Path
    found : list of Finding
    key : str
        Of `key_of`: the column that says whose a row is; empty where each row is a person's.
    memory : Memory
    """
    schema, true = release.schema, {*release.treated(*TRUE), *release.provenance.recoded}
    if release.provenance.rows is Rows.NOBODY:
        return Seen(release, tuple(found))
    averaged = schema.quasi_identifiers if release.groups is not None else []
    wanted = [name for name in (*schema.knowable, *schema.sensitive) if name in true]
    names = [name for name in schema.published if name in release.cells and name in {*wanted, *averaged}]
    if not names:
        return Seen(release, tuple(found))
    cells = _counted(path, [*names, *filter(None, [key])], memory, settings)
    if len(cells) > memory.combinations:
        return Seen(release, (*found, NotCounted(tuple(names), memory.combinations)))
    whole = replace(
        release,
        table=reading.of_arrow(cells.select(names)),
        times=cells.column(long_tables.TIMES).to_numpy(),
        people=factorized(cells.column(key).to_pandas())[0] if key else None,
        records=None,
        weights=None,
        apart=None,
    )
    return Seen(whole, tuple(found))
