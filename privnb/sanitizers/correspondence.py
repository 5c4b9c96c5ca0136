"""A matching between the rows of a foreign file and records: each matched row covers a different record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from privnb.attacks.linkage.linkage import Linkage
from privnb.attacks.linkage.record_linkage import to_coordinates
from privnb.microdata.counts import DistinctRows, count_combinations
from privnb.microdata.release import Published
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Treatment
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import ResourceError
from privnb.runtime.lazy import pd

MAX_PAIRS = 50_000_000  # of a distinct row and a distinct record that it covers
MAX_DISTANCES = 25_000_000  # of a row and a record that are compared at once, such as 5,000 rows and 5,000 records
TIES = 1e-6  # the weight of squared distances, which decide between assignments with equal sums of distances
STATE = (
    "If row 1 is the first record, and so on, state --rows in-order (in Python rows='in order'); if no row belongs to "
    "a person, state --rows synthetic (in Python rows='synthetic')."
)


def match_rows(
    dataset: Microdata, table: pd.DataFrame, hierarchies: Mapping[str, Any], perturbed: Sequence[str] = ()
) -> IntArray:
    """Return the matching of rows with different records that has the most rows; each matched row covers its record.

    Perturbed columns need not cover the record. If all rows are matched, the result has the smallest sum of distances
    in the perturbed columns among all such matchings. The distance is that of `Linkage`: the sum of |difference| /
    width of the domain of numbers, and 1 for another category. Rows with equal cells are exchangeable, and so are equal
    records. If several such matchings exist, the result is any one of them.

    Parameters
    ----------
    dataset : Dataset
        The original, with n records.
    table : DataFrame
        The m rows, with columns of the dataset; each cell is a value, a label of `hierarchies`, or `*`.
    hierarchies : dict of str to Generalization
    perturbed : sequence of str
        The columns of `table` that another tool perturbed, which are some of the columns but not all.

    Returns
    -------
    integer array (m,)
        The position of a record for each row; -1 for a row that is not matched.

    Raises
    ------
    ResourceError
        If the rows cover too many records to compare.
    """
    schema = Schema(dataset.schema.dataset, tuple(dataset.schema[name] for name in table))
    covering = _compare(dataset, table[[name for name in table if name not in perturbed]], schema, hierarchies)
    found = _spread(_flow(covering), covering.records, covering.rows)
    if not perturbed or (found < 0).any():
        return found
    return _match_nearest(covering, *_coordinates(dataset, table, schema, hierarchies, perturbed))


class _Covering(NamedTuple):
    """The distinct records and rows, and which of them fit: row `targets[i]` covers record `sources[i]`."""

    records: DistinctRows
    rows: DistinctRows
    sources: IntArray
    targets: IntArray


def _compare(dataset: Microdata, table: pd.DataFrame, schema: Schema, hierarchies: Mapping[str, Any]) -> _Covering:
    """Return which distinct rows of `table` cover which distinct records in all columns of `table`."""
    names = [*table]
    rows, records = count_combinations(table), count_combinations(dataset.cells[names])
    first = np.unique(rows.index, return_index=True)[1]
    own = np.unique(records.index, return_index=True)[1]
    schema = Schema(schema.dataset, tuple(schema[name] for name in names))
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
            raise ResourceError(f"the rows of the file cover more than {MAX_PAIRS:,} pairs of records. {STATE}")
        sources.append(np.full(len(covered), record))
        targets.append(covered)
    return _Covering(records, rows, np.concatenate(sources), np.concatenate(targets))


def _coordinates(
    dataset: Microdata, table: pd.DataFrame, schema: Schema, hierarchies: Mapping[str, Any], names: Sequence[str]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the perturbed columns of records (n, columns) and rows (m, columns), and the largest distance in each."""
    published = Published(table[[*names]], schema, hierarchies, dict.fromkeys(names, Treatment("perturbed")))
    widths = [getattr(schema[name].domain, "width", 1) for name in names]
    most = np.array([np.inf if hasattr(schema[name].domain, "width") else 1.0 for name in names])
    records, rows = (
        # A missing number that the domain does not allow is refused when the release is checked.
        np.nan_to_num(np.column_stack([to_coordinates(published, name, cells[name]) for name in names])) / widths
        for cells in (dataset.table, table)
    )
    return records, rows, most


def _match_nearest(covering: _Covering, records: FloatArray, rows: FloatArray, most: FloatArray) -> IntArray:
    """Return the matching of all rows with the smallest sum of distances, separately for each set of connected rows."""
    n, m = len(covering.records.multiplicities), len(covering.rows.multiplicities)
    fits = csr_array((np.ones(len(covering.sources), dtype=bool), (covering.targets, covering.sources)), shape=(m, n))
    sets, labels = connected_components(block_array([[None, fits], [fits.T, None]]), directed=False)
    of_rows, of_records = labels[:m][covering.rows.index], labels[m:][covering.records.index]
    # The order by coordinates makes the result independent of the order of rows and records.
    by_row, by_record = (
        np.lexsort([*points.T[::-1], labelled]) for points, labelled in ((rows, of_rows), (records, of_records))
    )
    starts, record_starts = (
        np.searchsorted(each, np.arange(sets + 1)) for each in (of_rows[by_row], of_records[by_record])
    )
    found = np.full(len(rows), -1)
    for number in np.unique(of_rows):
        ours = by_row[starts[number] : starts[number + 1]]
        theirs = by_record[record_starts[number] : record_starts[number + 1]]
        kinds, originals = covering.rows.index[ours], covering.records.index[theirs]
        is_complete = fits[np.unique(kinds)].sum() == len(np.unique(kinds)) * len(np.unique(originals))
        if is_complete and len(most) == 1 and np.isinf(most[0]) and len(ours) == len(theirs):
            found[ours] = theirs  # on a line, the sorted order is the assignment with the smallest sum
            continue
        if len(ours) * len(theirs) > MAX_DISTANCES:
            raise ResourceError(
                f"{len(ours):,} rows of the file fit the same {len(theirs):,} records, which are too many to find the "
                f"nearest in the perturbed columns. {STATE}"
            )
        distances = np.zeros((len(ours), len(theirs)))
        for column, largest in enumerate(most):
            distances += np.minimum(np.abs(rows[ours, column, None] - records[theirs, column]), largest)
        distances += TIES * distances**2
        if not is_complete:
            distances[~fits[kinds][:, originals].toarray()] = np.inf
        found[ours] = theirs[linear_sum_assignment(distances)[1]]
    return found


def _flow(covering: _Covering) -> csr_array:
    """Return, as a sparse array, the number of copies of each distinct record that match each distinct row."""
    sources, targets = covering.sources, covering.targets
    records, rows = covering.records.multiplicities, covering.rows.multiplicities
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
