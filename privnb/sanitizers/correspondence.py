"""A matching between the rows of a foreign file and records: each matched row covers a different record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from privnb.attacks.linkage.linkage import Linkage
from privnb.microdata.counts import count_combinations
from privnb.microdata.release import Published
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Treatment
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import ResourceError
from privnb.runtime.lazy import pd

MAX_PAIRS = 50_000_000  # of a distinct row and a distinct record that it covers


def match_rows(dataset: Microdata, table: pd.DataFrame, hierarchies: Mapping[str, Any]) -> IntArray:
    """Return the matching of rows with different records that has the most rows; each matched row covers its record.

    Rows with equal cells are exchangeable, and so are equal records. If several such matchings exist, the result is any
    one of them; all these matchings have the same rows and the same number of matched rows.

    Parameters
    ----------
    dataset : Dataset
        The original, with n records.
    table : DataFrame
        The m rows, with columns of the dataset; each cell is a value, a label of `hierarchies`, or `*`.
    hierarchies : dict of str to Generalization

    Returns
    -------
    integer array (m,)
        The position of a record for each row; -1 for a row that is not matched.

    Raises
    ------
    ResourceError
        If the rows cover too many records to compare.
    """
    names = [*table]
    rows, records = count_combinations(table[names]), count_combinations(dataset.cells[names])
    first = np.unique(rows.index, return_index=True)[1]
    own = np.unique(records.index, return_index=True)[1]
    schema = Schema(dataset.schema.dataset, tuple(dataset.schema[name] for name in names))
    published = Published(
        table.iloc[first].reset_index(drop=True), schema, hierarchies, dict.fromkeys(names, Treatment("generalized"))
    )
    attack = Linkage(tuple(names)).fit(published)
    index, fit = attack.fits(dataset.table[names].iloc[own])
    sources, targets = [], []
    pairs = 0
    for record, group in enumerate(index):
        covered = np.flatnonzero(np.unpackbits(fit[group], bitorder="big", count=len(first)))
        pairs += len(covered)
        if pairs > MAX_PAIRS:
            raise ResourceError(
                f"the rows of the file cover more than {MAX_PAIRS:,} pairs of records. State with `rows` that the rows "
                "are the records in their order, or that they are synthetic."
            )
        sources.append(np.full(len(covered), record))
        targets.append(covered)
    flow = _flow(np.concatenate(sources), np.concatenate(targets), records.multiplicities, rows.multiplicities)
    return _spread(flow, records, rows)


def _flow(sources: IntArray, targets: IntArray, records: IntArray, rows: IntArray) -> csr_array:
    """Return, as a sparse array, the number of copies of each distinct record that match each distinct row."""
    n, m = len(records), len(rows)
    start, end = n + m, n + m + 1
    heads = np.concatenate([np.full(n, start), sources, n + np.arange(m)])
    tails = np.concatenate([np.arange(n), n + targets, np.full(m, end)])
    capacity = np.concatenate([records, np.minimum(records[sources], rows[targets]), rows]).astype(np.int32)
    graph = csr_array((capacity, (heads, tails)), shape=(n + m + 2, n + m + 2))
    found = maximum_flow(graph, start, end).flow
    return csr_array(found[:n, n : n + m].maximum(0))


def _spread(flow: csr_array, records: Any, rows: Any) -> IntArray:
    """Return the record of each row, from the number of copies of each distinct record for each distinct row."""
    of_records = np.split(np.argsort(records.index, kind="stable"), np.cumsum(records.multiplicities)[:-1])
    of_rows = np.split(np.argsort(rows.index, kind="stable"), np.cumsum(rows.multiplicities)[:-1])
    found = np.full(len(rows.index), -1)
    used, filled = np.zeros(len(of_records), dtype=int), np.zeros(len(of_rows), dtype=int)
    pairs = flow.tocoo()
    for record, row, many in zip(pairs.row, pairs.col, pairs.data, strict=True):
        places = of_rows[row][filled[row] : filled[row] + many]
        found[places] = of_records[record][used[record] : used[record] + many]
        used[record] += many
        filled[row] += many
    return found
