"""The gate asked again of a file: by the rows that are read back from it, and by what its provenance says of them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.unknown_files import Unknown
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import PUBLISHED, Role, Schema
from privnb.microdata.treatment import KINDS, TRUE, Law, Rows, Treatment
from privnb.privacy_models import KAnonymity
from privnb.publishing.gate import (
    CertainValue,
    Finding,
    FoundInAltered,
    NotCounted,
    Recorded,
    Reproduced,
    Rule,
    Verdict,
    gate,
)
from privnb.runtime.arrays import IntArray
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory, TooManyCombinationsError

K = re.compile(r"^(?!KMap)\w+\(.*\bk=(\d+)")  # of a claim in a provenance: how many people share a combination
UNSTATED = "this file"  # where nobody stated which sanitizer made it


def judged(
    table: Unknown,
    schema: Schema,
    done: Mapping[str, Any],
    memory: Memory,
    *,
    buckets: pd.DataFrame | None = None,
    rule: Rule | None = None,
    beside: Sequence[Finding] = (),
    allow: str | None = None,
) -> Verdict:
    """Return what the gate says of a file.

    Parameters
    ----------
    table : Unknown
        The file.
    schema : Schema
        What its columns are in the table that it was made of.
    done : mapping
        The file's provenance as plain values; empty: nobody stated how it was made, and every cell counts as true.
    memory : Memory
    buckets : DataFrame, optional
        The second table of a bucketized release.
    rule, beside, allow
        As in `gate`.
    """
    there = [a.name for a in schema.attributes if a.role in PUBLISHED and _in_file(done, a.name) in table.names]
    provenance = _provenance(schema, done)
    columns = {name: provenance.columns.get(name, Treatment("generalized")) for name in there}
    true = [name for name in there if columns[name].kind in TRUE or name in provenance.recoded]
    # Averages that keep a k are groups, too: what they tell, they tell of everybody in them.
    averaged = schema.quasi_identifiers if provenance.claims and not _has(columns, "noisy", "synthetic") else []
    names = [name for name in there if name in averaged or (name in true and _counts(schema, name))]
    seen = Schema(schema.dataset, tuple(schema[name] for name in there))
    beside = (*beside, *_recorded(done))
    cells, times = _counted(table, names, done, memory, provenance.rows)
    if cells is None:
        beside, cells = (*beside, NotCounted(tuple(names), memory.combinations)), pd.DataFrame()
    release = Release(
        table=cells,
        schema=seen,
        hierarchies={},
        provenance=provenance,
        buckets=buckets,
        times=times,
    )
    return gate(release, rule=rule, beside=beside, allow=allow)


def _counted(
    table: Unknown, names: list[str], done: Mapping[str, Any], memory: Memory, rows: Rows
) -> tuple[pd.DataFrame | None, IntArray | None]:
    """Return the combinations of some columns of a file, and how often each is there; None where they are too many."""
    if not names or rows is Rows.NOBODY:
        return pd.DataFrame(index=[0]), np.ones(1, dtype=np.int64)
    try:
        cells, times = spreadsheets.read(done, names, lambda written: table.counted(written, memory))
    except TooManyCombinationsError:
        return None, None
    return cells.reset_index(drop=True), times


def _recorded(done: Mapping[str, Any]) -> list[Recorded]:
    """Return what was measured of altered or synthetic rows when they were made, by a provenance."""
    found = [*done.get("gate", {}).get("reasons", ()), *done.get("gate", {}).get("notices", ())]
    kinds = FoundInAltered.kind, Reproduced.kind
    return [
        Recorded(str(each["says"]))
        for each in found
        if each["finding"] in kinds or (each["finding"] == CertainValue.kind and each.get("nearest"))
    ]


def _counts(schema: Schema, name: str) -> bool:
    return schema[name].knowable or schema[name].role is Role.SENSITIVE


def _in_file(done: Mapping[str, Any], name: str) -> str:
    return spreadsheets.name_in_file(done, name)


def _has(columns: Mapping[str, Treatment], *kinds: str) -> bool:
    return any(treatment.kind in kinds for treatment in columns.values())


def _provenance(schema: Schema, done: Mapping[str, Any]) -> Provenance:
    """Return what a provenance says that the gate needs, of plain values."""
    promised = [int(found[1]) for claim in done.get("claims", ()) if (found := K.match(claim))]
    columns = {}
    for name, said in done.get("columns", {}).items():
        kind = next((kind for kind in KINDS if str(said).startswith(kind)), "generalized")
        columns[name] = Treatment(kind, Law() if kind == "noisy" else None)
    return Provenance(
        schema.dataset,
        str(done.get("sanitizer", UNSTATED)),
        {},
        claims=(KAnonymity(max(promised)),) if promised else (),
        columns=columns,
        global_recoding=bool(done.get("recoded")),
        rows=Rows(done.get("rows", str(Rows.RECORDS))),
    )
