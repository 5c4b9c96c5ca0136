"""Releases made from the combinations of a table and their counts, which an engine computes.

The modules `from_files` and `sanitize_table` write these releases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from privnb.microdata.bands import Bands
from privnb.microdata.columns import map_values
from privnb.microdata.counts import encode_values
from privnb.microdata.release import Release
from privnb.microdata.rows import CombinationTable
from privnb.microdata.schema import Role, SchemaError
from privnb.microdata.treatment import Treatment
from privnb.publishing.gate import Finding, NotCounted
from privnb.publishing.model_spec import list_counting_sanitizers
from privnb.publishing.release_job import Job
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import OWN
from privnb.sanitizers.algorithms import announce_compiling
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import long_tables
from privnb.tables.long_tables import LongTable, TooManyCombinationsError

if TYPE_CHECKING:
    import pyarrow as pa

ROW = f"{OWN}row of the release"
CURE = "Give such a column a coarser step, another role, or allow more memory."


class Seen(NamedTuple):
    """The input of the gate: a release with all published columns that an adversary may know, and earlier findings."""

    release: Release
    findings: tuple[Finding, ...] = ()


class CountsRelease(NamedTuple):
    """A release that was made from the combinations of a table and their counts.

    Attributes
    ----------
    job : Job
        The job, whose records were counted.
    pairs : dict of str to pyarrow.Table
        The values that were counted as the same value; see `LongTable.replaced`.
    found : pyarrow.Table
        The combinations in the types of the engine, and the number of records with each combination.
    row : integer array
        The position of the release's row for each combination; -1 if the combination is not published.
    release : Release
    seen : Seen
    """

    job: Job
    pairs: dict[str, pa.Table]
    found: pa.Table
    row: IntArray
    release: Release
    seen: Seen


def release_from_counts(job: Job) -> CountsRelease:
    """Count the combinations of a table, and make a release from them.

    Raises
    ------
    SanitizationError
        For the reasons that `Sanitizer.sanitize` states, and for a sanitizer that works record by record.
    SchemaError
        For values outside their domains, and for more combinations than fit into the memory.
    """
    if not job.sanitizer.by_combinations:
        raise SanitizationError(
            f"{job.sanitizer!r} works record by record, and this table is counted. Try "
            f"{' or '.join(list_counting_sanitizers())}."
        )
    with job.counting() as table:
        pairs = _merged(job, table)
        found = job.memory.counted(table.replaced(pairs), job.counted, CURE)
    if long_tables.has_blank(found, job.counted):
        job = job.without_blank_rows()
        with job.counting() as table:
            found = job.memory.counted(table.replaced(pairs), job.counted, CURE)
    cells = job.cleaned(found, job.counted)
    times = found.column(long_tables.TIMES).to_numpy()[cells.index]
    data, place = CombinationTable.of(job.chosen.made(CombinationTable, cells, job.counted, times=times))
    row = np.full(len(found), -1)
    row[cells.index] = place
    with announce_compiling():
        release = job.sanitizer.sanitize(data, rng=None)
    with job.counting() as table:
        seen = _seen(job, table.replaced(pairs), found, row, release)
    return CountsRelease(job, pairs, found, row, release, seen)


def _merged(job: Job, table: LongTable) -> dict[str, pa.Table]:
    """Return the values of counted columns that are published as the same value, for `LongTable.replaced`.

    Such values are numbers that are rounded to the same step of their domain, and sensitive numbers in the same band.
    If these values were not replaced by one value, each of them would form a separate combination.
    """
    import pyarrow as pa

    pairs = {}
    for attribute in (job.chosen.schema[name] for name in job.counted):
        banded = attribute.role is Role.SENSITIVE
        if not attribute.numeric or not (banded or attribute.numbers.step != 1):
            continue
        found = job.memory.counted(table, [attribute.name], "Round or group the values in the file.", job.counted)
        try:
            cells = job.cleaned(found, [attribute.name])[attribute.name]
        except SchemaError:  # a later check of all records reports it
            continue
        if banded:
            cells = map_values(Bands.of(attribute.numbers).labels, attribute.public_domain.marked(cells))
        codes, values = encode_values(cells)
        if len(values) < len(cells):
            own = found.column(attribute.name).take(cells.index.to_numpy())
            first = np.zeros(len(values), dtype=np.int64)
            first[codes[::-1]] = np.arange(len(codes))[::-1]
            pairs[attribute.name] = pa.table([own, own.take(first[codes])], ["old", "new"])
    return pairs


def _seen(job: Job, table: LongTable, found: pa.Table, row: IntArray, release: Release) -> Seen:
    """Return the input of the gate: the release with those columns that are published record by record."""
    import pyarrow as pa

    schema = replace(
        release.schema, attributes=(*release.schema.attributes, *(job.chosen.schema[name] for name in job.single))
    )
    facts = replace(
        release.provenance, columns={**release.provenance.columns, **dict.fromkeys(job.single, Treatment("exact"))}
    )
    stated = replace(release, schema=schema, provenance=facts)
    names = [name for name in job.single if schema[name].knowable]
    if not names:
        return Seen(stated)
    joined = table.joined(found, pa.table({ROW: pa.array(row, pa.int32())}), names)
    try:
        counts = job.memory.counted(replace(table, frame=joined), [ROW, *names], CURE, estimates=False)
    except TooManyCombinationsError:
        return Seen(stated, (NotCounted((*release.schema.knowable, *names), job.memory.combinations),))
    counts = counts.filter(pa.compute.greater_equal(counts.column(ROW), 0))
    cells = job.cleaned(counts, names)
    kept = cells.index.to_numpy()
    rows = counts.column(ROW).to_numpy()[kept]
    whole = release.cells.iloc[rows].reset_index(drop=True)
    whole[names] = cells[names].reset_index(drop=True)
    return Seen(
        replace(
            stated,
            table=whole,
            times=counts.column(long_tables.TIMES).to_numpy()[kept],
            people=None if release.people is None else release.people[rows],
            apart=None if release.apart is None else release.apart.iloc[rows].reset_index(drop=True),
        )
    )
