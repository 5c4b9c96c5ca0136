"""The release of a table of any length, made of its combinations and how many records have each.

An engine counts them. Where the release goes stands elsewhere: see `from_files`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from privnb.datasets.doubled import compared, doubled
from privnb.microdata.bands import Bands
from privnb.microdata.columns import by_value
from privnb.microdata.counts import coded
from privnb.microdata.release import Release
from privnb.microdata.rows import Counted
from privnb.microdata.schema import PUBLISHED, Role, Schema, SchemaError
from privnb.microdata.treatment import Treatment
from privnb.publishing.gate import Finding, NotCounted
from privnb.publishing.in_words import able, asked
from privnb.runtime.names import OWN
from privnb.sanitizers.algorithms import announced_compiling
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import long_tables, reading

ROW = f"{OWN}row of the release"
FEW = 100  # different values of a neutral column that is counted; one of more is published record by record


def sanitizer_of(model: str | Sanitizer, algorithm: str, schema: Schema, renamed: Mapping[str, str]) -> Sanitizer:
    """Return the sanitizer that is asked for, in words or by itself. `renamed`: as of `in_words.asked`."""
    return model if isinstance(model, Sanitizer) else asked(model, algorithm, schema, renamed)


def copies(chosen, table) -> str:
    """Return a sentence if each record of a LongTable occurs more than once, see `doubled`; else an empty text."""
    roles = {each.name: each.role for each in chosen.columns.attributes}
    names = compared(roles | {chosen.schema.person: Role.PERSON} if chosen.schema.person else roles)
    names = [name for name in names if name in table.own]
    return doubled(*table.repetition(names)) if names else ""


def columns(schema):
    """The columns that are counted, and those that are published record by record: two lists of names. Raises
    SchemaError without any.
    """
    published = [each for each in schema.attributes if each.role in (*PUBLISHED, Role.PERSON)]
    if not published:
        raise SchemaError(
            f"'{schema.dataset}' has no column to publish: each is an identifier, or unused. Draft a description of it "
            "with `privnb new`, and say there what its columns are."
        )
    return tuple([each.name for each in published if _is_long(each) is long] for long in (False, True))


def _is_long(attribute):
    """Whether a column is published record by record: a neutral one of many values."""
    domain = attribute.domain
    size = 0 if domain is None else len(domain.values) if hasattr(domain, "values") else domain.size
    return attribute.role is Role.NEUTRAL and not 0 < size <= FEW


class Counts(NamedTuple):
    """The combinations of a table as its engine has them; which row of the release each is, -1 for none."""

    found: object
    row: np.ndarray


def merged(chosen, table, names, memory):
    """Which values of counted columns are published as one, however they are written: numbers on a step of their
    domain, and sensitive ones of a band. Without that, each of them is a combination by itself.

    Parameters
    ----------
    chosen : Chosen
    table : LongTable
    names : list of str
    memory : Memory

    Returns
    -------
    dict
        What `LongTable.replaced` takes.
    """
    import pyarrow as pa

    pairs = {}
    for attribute in (chosen.schema[name] for name in names):
        banded = attribute.role is Role.SENSITIVE
        if not attribute.numeric or not (banded or attribute.domain.step != 1):
            continue
        found = table.counted([attribute.name], memory.combinations)
        memory.check(found, "Round or group them in the file.")
        try:
            cells = cleaned(chosen, found, [attribute.name])[attribute.name]
        except SchemaError:  # it is said of all records, later
            continue
        if banded:
            cells = by_value(Bands.of(attribute.domain).labels, attribute.domain.marked(cells))
        codes, values = coded(cells)
        if len(values) < len(cells):
            own = found.column(attribute.name).take(cells.index.to_numpy())
            first = np.zeros(len(values), dtype=np.int64)
            first[codes[::-1]] = np.arange(len(codes))[::-1]
            pairs[attribute.name] = pa.table([own, own.take(first[codes])], ["old", "new"])
    return pairs


def check_gaps(records, complete):
    """Raise SchemaError unless all records are complete ones. Both are how many there are."""
    if lacking := records - complete:
        raise SchemaError(
            f'{lacking:,} of {records:,} records have missing values, and records_with_missing = "refuse". Fill them '
            'in, or choose "keep" or "drop".'
        )


def counted(table, names, sanitizer, memory):
    """The combinations of a long table, as `LongTable.counted` gives them.

    Parameters
    ----------
    table : LongTable
    names : list of str
        The columns that are counted.
    sanitizer : Sanitizer
    memory : Memory

    Raises
    ------
    SanitizationError
        For a sanitizer that works record by record.
    SchemaError
        For more combinations than the memory holds.
    """
    if not sanitizer.by_combinations:
        raise SanitizationError(
            f"{sanitizer!r} works record by record, and this table is counted. Choose one of {', '.join(able())}."
        )
    found = table.counted(names, memory.combinations)
    memory.check(found, "Give such a column a coarser step, another role, or allow more memory.")
    return found


def released(chosen, found, names, sanitizer):
    """The release of combinations.

    Parameters
    ----------
    chosen : Chosen
        What the columns are.
    found : pyarrow.Table
        As of `counted`.
    names : list of str
    sanitizer : Sanitizer

    Returns
    -------
    Counts
    Release

    Raises
    ------
    SanitizationError
        As of `Sanitizer.sanitize`.
    SchemaError
        For values outside their domains.
    """
    cells = cleaned(chosen, found, names)
    times = found.column(long_tables.TIMES).to_numpy()[cells.index]
    data, place = Counted.of(chosen.made(Counted, cells, names, times=times))
    row = np.full(len(found), -1)
    row[cells.index] = place
    with announced_compiling():
        release = sanitizer.sanitize(data, rng=None)
    return Counts(found, row), release


def cleaned(chosen, found, names):
    """Return the columns `names` of an engine's answer as the description says.

    `found`: records, or combinations with how many records have each.
    """
    times = found.column(long_tables.TIMES).to_pandas() if long_tables.TIMES in found.column_names else None
    return chosen.cleaned(reading.of_arrow(found.select(names)), names, times)


class Seen(NamedTuple):
    """What the gate looks at: a release with every published column that may be known, and what was found before."""

    release: Release
    beside: tuple[Finding, ...] = ()


def seen(chosen, table, counts, release, others, memory) -> Seen:
    """Return the release of counts with the columns `others`, which are published record by record.

    Parameters
    ----------
    chosen : Chosen
    table : LongTable
        That was counted.
    counts : Counts
    release : Release
        Of these.
    others : list of str
    memory : Memory
    """
    import narwhals as nw
    import pyarrow as pa

    schema = replace(release.schema, attributes=(*release.schema.attributes, *(chosen.schema[name] for name in others)))
    facts = replace(
        release.provenance, columns={**release.provenance.columns, **dict.fromkeys(others, Treatment("exact"))}
    )
    names = [name for name in others if schema[name].knowable]
    if not names:
        return Seen(replace(release, schema=schema, provenance=facts))
    joined = table.joined(counts.found, pa.table({ROW: pa.array(counts.row, pa.int32())}), names)
    own = table.called(names)
    counted = joined.group_by([ROW, *own]).agg(nw.len().alias(long_tables.TIMES))
    found = counted.head(memory.combinations + 1).collect(backend="pyarrow").to_native()
    if len(found) > memory.combinations:
        stated = replace(release, schema=schema, provenance=facts)
        return Seen(stated, (NotCounted((*release.schema.knowable, *names), memory.combinations),))
    found = found.filter(pa.compute.greater_equal(found.column(ROW), 0))
    cells = cleaned(chosen, found.rename_columns([ROW, *names, long_tables.TIMES]), names)
    kept = cells.index.to_numpy()
    rows = found.column(ROW).to_numpy()[kept]
    whole = release.cells.iloc[rows].reset_index(drop=True)
    whole[names] = cells[names].reset_index(drop=True)
    return Seen(
        replace(
            release,
            table=whole,
            schema=schema,
            provenance=facts,
            times=found.column(long_tables.TIMES).to_numpy()[kept],
            people=None if release.people is None else release.people[rows],
            apart=None if release.apart is None else release.apart.iloc[rows].reset_index(drop=True),
        )
    )
