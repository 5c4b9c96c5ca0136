"""Confidence-ranked reconstruction: the records that occur most often in tables that agree with published margins.

The adversary draws several tables at random that have all published margins, and ranks the records by the share of
these tables in which the records occur. A record in all of the tables is nearly certain to exist. Many records would
be ranked equally high without any margin of several attributes, because their values are common. The prior ranking
shows this: it multiplies the shares of the values, and uses nothing else.

Source: Dick, Dwork, Kearns, Liu, Roth, Vietri, Wu, "Confidence-ranked reconstruction of census microdata from published
statistics", PNAS 120(8), 2023; Sanchez, Jebreel, Muralidhar, Domingo-Ferrer, "An examination of the alleged privacy
threats of confidence-ranked reconstruction of census microdata", 2023 (the objection). The paper fits tables by
optimization; the draws of consistent tables are ours.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.microdata.contradictions import find_contradiction, list_sums
from privnb.microdata.count_tables import TableOfCounts, check_margins, find_separators, margins_matrix, name_count
from privnb.microdata.counts import group_codes
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Randomness, validated

MAX_CELLS = 5_000  # maximum size of a table for which integer programs are solved


class RankedRecords(NamedTuple):
    """Records that may be in a table, the most confident first.

    Attributes
    ----------
    values : dict of str to tuple of str
        The values of each attribute.
    codes : integer array (records, attributes)
        The position of each record's value in the values of each attribute.
    confidence : float array (records,)
        From 0 to 1, in descending order: the share of the drawn tables with this record, or the prior probability.
    """

    values: dict[str, tuple[str, ...]]
    codes: IntArray
    confidence: FloatArray


@validated
def rank_records(margins: Sequence[TableOfCounts], samples: Count = 20, *, rng: Randomness = None) -> RankedRecords:
    """Return the records of tables that agree with all margins, ranked by how often they occur.

    If the margins are decomposable, the function joins the records of the margins at random, so a table is drawn with
    its probability under random assignment. Otherwise, an integer program with a random objective draws a table.

    Parameters
    ----------
    margins : list of TableOfCounts
        The published margins of one table, in whole counts.
    samples : int
        The number of tables that are drawn.
    rng : Generator, int or None

    Returns
    -------
    RankedRecords
        Each record that occurs in a drawn table. If records have the same confidence, those that occur more often in
        the drawn tables come first.

    Raises
    ------
    ValueError
        If the margins contradict each other (the error names the margins or the counts), or if they are not
        decomposable and the table has more than 5,000 cells.

    Examples
    --------
    Two people are ill, and both are women; one of the two women smokes, so an ill woman who smokes is certain:

    >>> sick = TableOfCounts({"sex": ("F", "M"), "ill": ("no", "yes")}, np.array([[0, 2], [1, 0]]))
    >>> smokers = TableOfCounts({"sex": ("F", "M"), "smokes": ("no", "yes")}, np.array([[1, 1], [1, 0]]))
    >>> found = rank_records([sick, smokers], 5, rng=1)
    >>> found.codes.tolist(), found.confidence.tolist()
    ([[0, 1, 0], [0, 1, 1], [1, 0, 0]], [1.0, 1.0, 1.0])
    """
    values, generator = check_margins(margins), np.random.default_rng(rng)
    for margin in margins:
        if not (np.rint(margin.counts) == margin.counts).all():
            raise UsageError(
                f"`margins` must hold whole counts; those of {', '.join(margin.names)} have fractions. Round them."
            )
    order = find_separators([margin.names for margin in margins])
    seen: dict[tuple[int, ...], tuple[int, int]] = {}  # for each record: the tables with it, and its copies in all
    for _ in range(samples):
        if order is not None:
            drawn = _join_records(margins, values, order, generator)
        else:
            drawn = _solve_table(margins, values, generator)
        first, where = group_codes(list(drawn.T), [len(each) for each in values.values()])
        for row, copies in zip(drawn[first].tolist(), np.bincount(where).tolist(), strict=True):
            held, total = seen.get(tuple(row), (0, 0))
            seen[tuple(row)] = held + 1, total + copies
    codes = np.array([*seen], dtype=np.int64).reshape(-1, len(values))
    tables, copies = np.array([*seen.values()], dtype=np.int64).reshape(-1, 2).T
    ranks = np.lexsort((*codes.T[::-1], -copies, -tables))
    return RankedRecords(values, codes[ranks], tables[ranks] / samples)


@validated
def rank_by_prior(margins: Sequence[TableOfCounts], most: Count) -> RankedRecords:
    """Return the records with the largest products of the shares of their values, at most `most` records.

    The product uses the margin of each single attribute, and nothing about several attributes.

    Examples
    --------
    >>> table = TableOfCounts({"sex": ("F", "M"), "ill": ("no", "yes")}, np.array([[0, 2], [1, 0]]))
    >>> rank_by_prior([table], 2).codes.tolist()
    [[0, 1], [0, 0]]
    """
    values = check_margins(margins)
    codes, chance = np.zeros((1, 0), dtype=np.int64), np.ones(1)
    for name in values:
        counts = next(margin.margin((name,)).counts for margin in margins if name in margin.values)
        shares = counts / counts.sum()
        products = (chance[:, None] * shares).ravel()
        # A record among the first has a part among the first parts, because a share never exceeds a larger share.
        best = np.argsort(-products, kind="stable")[:most]
        best = best[products[best] > 0]
        codes = np.column_stack([codes[best // len(shares)], best % len(shares)])
        chance = products[best]
    return RankedRecords(values, codes, chance)


def _join_records(
    margins: Sequence[TableOfCounts], values: dict[str, tuple[str, ...]], order: Any, rng: Generator
) -> IntArray:
    """Return the records of a random table with decomposable margins, as codes (records, attributes)."""
    names = list(values)
    found = np.zeros((int(margins[0].counts.sum()), len(names)), dtype=np.int64)
    for place, shared in reversed(order):
        margin = margins[place]
        own = np.repeat(np.argwhere(np.ones(margin.counts.shape)), margin.counts.ravel().astype(np.int64), axis=0)
        own = own[rng.permutation(len(own))]
        joint, mine = [names.index(name) for name in shared], [margin.names.index(name) for name in shared]
        if shared:
            sizes = [len(values[name]) for name in shared]
            found = found[np.argsort(np.ravel_multi_index(tuple(found[:, joint].T), sizes), kind="stable")]
            own = own[np.argsort(np.ravel_multi_index(tuple(own[:, mine].T), sizes), kind="stable")]
        found[:, [names.index(name) for name in margin.names]] = own
    return found


def _solve_table(margins: Sequence[TableOfCounts], values: dict[str, tuple[str, ...]], rng: Generator) -> IntArray:
    """Return the records of a table that has all margins and minimizes a random objective, as codes."""
    shape = [len(each) for each in values.values()]
    if (size := prod(shape)) > MAX_CELLS:
        raise UsageError(
            f"`margins` must have at most {MAX_CELLS:,} cells, or be decomposable; got {size:,}. Merge values or leave "
            "out a margin."
        )
    sums, known = margins_matrix(margins, values)
    limits = LinearConstraint(sums, known, known)
    found = milp(rng.normal(size=size), constraints=limits, bounds=Bounds(0, np.inf), integrality=1)
    if found.x is None:
        places = find_contradiction(sums, known, known, whole=True)
        raise UsageError(
            f"the counts {list_sums([name_count(margins, values, int(place)) for place in places])} contradict each "
            "other: no table has all of these counts. Take all margins from one table."
        )
    cells = np.repeat(np.arange(size), np.rint(found.x).astype(np.int64))
    return np.column_stack(np.unravel_index(cells, shape))
