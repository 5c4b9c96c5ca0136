"""What published tables of counts give away, and what it costs to keep that back.

Source: Aggarwal and Yu (eds.) 2008, chapter 12.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.results import Row, row, tidy
from privnb.measures.base import state
from privnb.measures.count_tables.cell_bounds import cell_bounds
from privnb.measures.count_tables.known_sums import solved
from privnb.measures.count_tables.log_linear import small_count_share
from privnb.microdata.count_tables import TableOfCounts, sums_of
from privnb.miners.baskets import categories
from privnb.privacy_models import check_k
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.validation import validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.tables_and_rules.cell_suppression import Suppressed, suppress

MOST = 150  # cells whose bounds are looked for: seconds
FULL, SUPPRESSED = "published in full", "small counts suppressed"

state(
    "cells_disclosed",
    kind="privacy",
    title="Small counts disclosed",
    sentence="Share of the counts of 1 to k - 1 people whose bounds, by the tables of two attributes, differ by less "
    "than k.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="share of small counts",
)
state(
    "bounds_within",
    kind="privacy",
    title="Small counts known to within so many people",
    sentence="Share of the counts of 1 to k - 1 people whose bounds, by the tables of two attributes, differ by at "
    "most so many.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="share of small counts",
)
state(
    "entries_suppressed",
    kind="utility",
    title="Entries suppressed",
    sentence="Share of the counts and totals of a table that are not published, so that no small count is known.",
    source="Fischetti and Salazar, Management Science 47(7), 2001",
    unit="share of entries",
)


@validated
def tables_published(dataset: Dataset, *, k: int) -> pd.DataFrame:
    """What tables of two attributes each, published together, tell of the table of all of them; and what suppression
    takes from each table of an attribute and the secret.

    The attributes are the secret and as many others as give 150 cells, those with the fewest values first.

    Parameters
    ----------
    dataset : Dataset
        With categories and a secret.
    k : int
        A count of fewer people, but some, is small.

    Returns
    -------
    DataFrame
        `small_count_share`, `cells_disclosed` of all; `bounds_within` so many people, the `bound`, of all by `variant`:
        the tables of two `FULL` and `SUPPRESSED`; `entries_suppressed` by `target`, an attribute. Of cells, not of
        people.
    """
    check_k(k)
    names = _few_values(dataset)
    made = partial(row, dataset=dataset.name, parameters=f"k={k}", parameter="k", bound=k)
    add = partial(made, sanitizer="tables of two attributes")
    if len(names) < 2:
        return tidy([])
    table = TableOfCounts.of(dataset.cells, names)
    found = [add("small_count_share", small_count_share(table, k - 1), target=f"{len(names)} attributes")]
    suppressed = {pair: _suppressed(table.margin(pair), k) for pair in combinations(names, 2)}
    if len(names) > 2:
        values, low, high = cell_bounds([table.margin(pair) for pair in suppressed])
        small = (table.counts > 0) & (table.counts < k)
        order = [list(values).index(name) for name in names]
        width = (high - low).transpose(order)[small]
        share = (width < k).mean() if small.any() else np.nan
        found.append(add("cells_disclosed", share, target=f"{len(names)} attributes"))
        if small.any():
            found += _within(add, FULL, width, k)
            try:
                found += _within(add, SUPPRESSED, np.subtract(*_bounds(table, suppressed, small)), k)
            except SanitizationError as error:
                found.append(add("bounds_within", np.nan, variant=SUPPRESSED, status="refused", reason=str(error)))
    for other in names[1:]:
        table_of_two, add = suppressed[names[0], other], partial(made, sanitizer="suppression", target=other)
        if isinstance(table_of_two, SanitizationError):
            found.append(add("entries_suppressed", np.nan, status="refused", reason=str(table_of_two)))
        else:
            found.append(add("entries_suppressed", np.ma.getmaskarray(table_of_two.published).mean()))
    return tidy(found)


def _suppressed(margin: TableOfCounts, k: int) -> Suppressed:
    """What is published of a table of two attributes, or the SanitizationError that says why nothing is."""
    try:
        return suppress(margin, k)
    except SanitizationError as error:
        return error


def _within(add: Callable[..., Row], variant: str, width: IntArray, k: int) -> Iterator[Row]:
    """Rows of the share of small counts that are known to within 0, ... people, up to four times k."""
    for most in sorted({0, *(int(times * k) - 1 for times in (0.5, 1, 2, 4))}):
        # A row is named by its parameters: a bound only repeats one of them as a number.
        of = {"variant": variant, "parameters": f"k={k}, width={most}", "parameter": "width", "bound": most}
        yield add("bounds_within", (width <= most).mean(), **of)


def _bounds(
    table: TableOfCounts, suppressed: Mapping[tuple[str, str], Suppressed], asked: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """The greatest and the least count of the cells asked for, by what is published of all tables of two: integer
    arrays.
    """
    sums, known = [], []
    for pair, made in suppressed.items():
        if isinstance(made, SanitizationError):
            raise made
        shape = [len(table.values[name]) for name in pair]
        axes = [table.names.index(name) for name in pair]
        places = np.ravel_multi_index(np.indices(table.counts.shape)[axes], shape).ravel()
        shown = ~np.ma.getmaskarray(made.published).ravel()
        sums.append(sums_of(shape)[shown][:, places])
        known.append(made.published.filled(0).ravel()[shown])
    shown_sums = np.concatenate(known)
    cells = sparse.eye_array(table.counts.size, format="csr")[asked.ravel()]
    low, high = solved(sparse.vstack(sums), shown_sums, shown_sums, asked=cells)
    return high, low


def _few_values(dataset: Dataset) -> list[str]:
    """The secret and the categories with fewest values, so that all have at most `MOST` cells together."""
    secret = secret_name(dataset, None)
    sizes = {name: dataset.cells[name].nunique() for name in categories(dataset.schema) if name != secret}
    chosen = [secret]
    cells = dataset.cells[secret].nunique()
    for name in sorted(sizes, key=sizes.__getitem__):
        if cells * sizes[name] <= MOST:
            chosen, cells = [*chosen, name], cells * sizes[name]
    return chosen
