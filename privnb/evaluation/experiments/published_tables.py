"""Disclosure by published tables of counts, and the share of entries that cell suppression removes.

Source: Aggarwal and Yu (eds.) 2008, chapter 12.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.results import Row, build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.count_tables.cell_bounds import cell_bounds
from privnb.measures.count_tables.log_linear import small_count_share
from privnb.measures.count_tables.margin_bounds import bound_sums
from privnb.microdata.count_tables import TableOfCounts, totals_matrix
from privnb.miners.baskets import list_categorical
from privnb.privacy_models import check_k
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.validation import validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.tables_and_rules.cell_suppression import SuppressedTable, suppress_small_counts

MAX_CELLS = 150  # the largest number of cells whose bounds are computed, which takes seconds
FULL, SUPPRESSED = "published in full", "small counts suppressed"

register_measure(
    "cells_disclosed",
    kind="privacy",
    title="Small counts disclosed",
    sentence="This is the share of the counts of 1 to k - 1 people whose bounds, by the tables of two attributes, "
    "differ by less than k.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="share of small counts",
)
register_measure(
    "bounds_within",
    kind="privacy",
    title="Small counts known to within a few people",
    sentence="This is the share of the counts of 1 to k - 1 people whose bounds, by the tables of two attributes, "
    "differ by at most the given number of people.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="share of small counts",
)
register_measure(
    "entries_suppressed",
    kind="utility",
    title="Entries suppressed",
    sentence="This is the share of the counts and totals of a table that are not published, so that no small count is "
    "known.",
    source="Fischetti and Salazar, Management Science 47(7), 2001",
    unit="share of entries",
)


@validated
def attack_published_tables(dataset: Dataset, *, k: int) -> pd.DataFrame:
    """Measure what tables of two attributes disclose about the table of all attributes, and what suppression removes.

    The attributes are the sensitive attribute and other categorical attributes. These are added in ascending order of
    their numbers of values, as long as the table of all added attributes has at most 150 cells.

    Parameters
    ----------
    dataset : Dataset
        A table with categories and a sensitive attribute.
    k : int
        A count from 1 to k - 1 people is small.

    Returns
    -------
    DataFrame
        The rows `small_count_share` and `cells_disclosed` describe the table of all attributes. The rows
        `bounds_within` report the share of this table's small counts whose bounds differ by at most the number of
        people in the column `bound`; variant `FULL` uses all tables of two attributes in full and variant `SUPPRESSED`
        uses them after suppression. The rows `entries_suppressed` describe the table of the sensitive attribute and the
        attribute in `target`. All shares are shares of cells, not of people.
    """
    check_k(k)
    names = _choose_attributes(dataset)
    made = partial(build_row, dataset=dataset.name, parameters=f"k={k}", parameter="k", bound=k)
    add = partial(made, sanitizer="tables of two attributes")
    if len(names) < 2:
        return tidy([])
    table = TableOfCounts.of(dataset.cells, names)
    found = [add("small_count_share", small_count_share(table, k - 1), target=f"{len(names)} attributes")]
    suppressed = {pair: _suppress(table.margin(pair), k) for pair in combinations(names, 2)}
    if len(names) > 2:
        values, low, high = cell_bounds([table.margin(pair) for pair in suppressed])
        small = (table.counts > 0) & (table.counts < k)
        order = [list(values).index(name) for name in names]
        width = (high - low).transpose(order)[small]
        share = (width < k).mean() if small.any() else np.nan
        found.append(add("cells_disclosed", share, target=f"{len(names)} attributes"))
        if small.any():
            found += _build_width_rows(add, FULL, width, k)
            try:
                found += _build_width_rows(add, SUPPRESSED, np.subtract(*_find_bounds(table, suppressed, small)), k)
            except SanitizationError as error:
                found.append(add("bounds_within", np.nan, variant=SUPPRESSED, status="refused", reason=str(error)))
    for other in names[1:]:
        table_of_two, add = suppressed[names[0], other], partial(made, sanitizer="suppression", target=other)
        if isinstance(table_of_two, SanitizationError):
            found.append(add("entries_suppressed", np.nan, status="refused", reason=str(table_of_two)))
        else:
            found.append(add("entries_suppressed", np.ma.getmaskarray(table_of_two.published).mean()))
    return tidy(found)


def _suppress(margin: TableOfCounts, k: int) -> SuppressedTable:
    """Return the suppressed table of two attributes, or a SanitizationError that states why there is no such table."""
    try:
        return suppress_small_counts(margin, k)
    except SanitizationError as error:
        return error


def _build_width_rows(add: Callable[..., Row], variant: str, width: IntArray, k: int) -> Iterator[Row]:
    """Yield rows of the share of small counts with bounds at most N people apart, for N from 0 to about 4 k."""
    for most in sorted({0, *(int(times * k) - 1 for times in (0.5, 1, 2, 4))}):
        # The parameters identify a row; the bound only repeats one of them as a number.
        of = {"variant": variant, "parameters": f"k={k}, width={most}", "parameter": "width", "bound": most}
        yield add("bounds_within", (width <= most).mean(), **of)


def _find_bounds(
    table: TableOfCounts, suppressed: Mapping[tuple[str, str], SuppressedTable], asked: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the largest and the smallest possible counts of the selected cells, given all published two-way tables."""
    sums, known = [], []
    for pair, made in suppressed.items():
        if isinstance(made, SanitizationError):
            raise made
        shape = [len(table.values[name]) for name in pair]
        axes = [table.names.index(name) for name in pair]
        places = np.ravel_multi_index(np.indices(table.counts.shape)[axes], shape).ravel()
        shown = ~np.ma.getmaskarray(made.published).ravel()
        sums.append(totals_matrix(shape)[shown][:, places])
        known.append(made.published.filled(0).ravel()[shown])
    shown_sums = np.concatenate(known)
    cells = sparse.eye_array(table.counts.size, format="csr")[asked.ravel()]
    low, high = bound_sums(sparse.vstack(sums), shown_sums, shown_sums, wanted=cells)
    return high, low


def _choose_attributes(dataset: Dataset) -> list[str]:
    """Return the sensitive and other categorical attributes, whose joint table has at most `MAX_CELLS` cells."""
    secret = choose_unknown_sensitive(dataset, None)
    sizes = {name: dataset.cells[name].nunique() for name in list_categorical(dataset.schema) if name != secret}
    chosen = [secret]
    cells = dataset.cells[secret].nunique()
    for name in sorted(sizes, key=sizes.__getitem__):
        if cells * sizes[name] <= MAX_CELLS:
            chosen, cells = [*chosen, name], cells * sizes[name]
    return chosen
