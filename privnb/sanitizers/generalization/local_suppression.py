"""Suppression of single cells until every record is indistinguishable from at least k - 1 other records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations as subsets
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.privacy_models import KAnonymity
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_records_for_k, require_quasi_identifiers
from privnb.sanitizers.errors import SanitizationError

MAX_QUASI_IDENTIFIERS = 16  # maximum number, because every set of quasi-identifiers is tried


@dataclass(frozen=True)
class LocalSuppression(Sanitizer):
    """Suppress single quasi-identifier cells until each record is indistinguishable from k - 1 other records.

    A `*` equals only another `*`, as in all classes of a release. Records that share all their quasi-identifiers with
    at least k - 1 other records stay unchanged. For the remaining records, the search suppresses cells in one column,
    then in two columns, and so on. Among sets with the same number of columns, the search first takes the set that puts
    the most of the remaining records into classes of at least k records. The search is a heuristic, because it is a
    hard problem to find the smallest number of cells.

    Parameters
    ----------
    k : int
        The minimum number of indistinguishable records, at least 2.

    Raises
    ------
    SanitizationError
        If there are fewer than k records, or more than 16 quasi-identifiers.

    Source: Aggarwal and Yu 2008, section 3.4.4; Meyerson and Williams, "On the Complexity of Optimal K-Anonymity", PODS
    2004 (the optimum is hard); Templ, Kowarik, Meindl, Journal of Statistical Software 67(4), 2015 (k by sets of
    attributes; in that article, `*` equals any value).
    """

    k: Annotated[int, at_least(2)]
    order_invariant = True
    title = "Local suppression"
    treatment = "suppressed"
    letters = requires = ("k",)
    coded = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = require_quasi_identifiers(self, dataset.schema, "suppress")
        check_records_for_k(self, self.k, len(dataset))
        if len(names) > MAX_QUASI_IDENTIFIERS:
            raise SanitizationError(
                f"{self!r} allows at most {MAX_QUASI_IDENTIFIERS} quasi-identifiers, because it tries all sets of "
                f"them; got {len(names)}. Give some columns another role."
            )
        blank = choose_blank_cells(np.column_stack([dataset.codes[name] for name in names]), self.k)
        for name, hidden in zip(names, blank.T, strict=True):
            if hidden.any():
                codes, values = dataset.schema[name].coded(table[name])
                table[name] = make_categorical(
                    np.where(hidden, len(values), codes), np.append(values.astype(object), SUPPRESSED)
                )
        return table, {"claims": (KAnonymity(self.k),)}


def choose_blank_cells(codes: IntArray, k: int) -> BoolArray:
    """Return, as a boolean array (n, attributes), which cells to suppress so that every row equals k - 1 other rows.

    Parameters
    ----------
    codes : integer array (n, attributes)
        Codes from 0; n is at least k.
    k : int

    Returns
    -------
    boolean array (n, attributes)
        The cells to suppress. These cells are the same for equal rows, and do not depend on the order of the rows.
    """
    codes = codes.astype(np.int64)  # the number of values of a large domain may exceed 32 bits
    first, row = group_codes(list(codes.T), codes.max(axis=0) + 1)
    distinct, times = codes[first], np.bincount(row)  # rows that are equal stay equal
    blank = np.zeros(distinct.shape, dtype=bool)
    left = np.flatnonzero(times < k)
    for number in range(1, codes.shape[1] + 1):
        sets = list(subsets(range(codes.shape[1]), number))
        order = sorted(sets, key=lambda hidden: -_settled(distinct, times, left, hidden, k)[1])
        for hidden in order:
            settled, _ = _settled(distinct, times, left, hidden, k)
            blank[np.ix_(left[settled], np.array(hidden))] = True
            left = left[~settled]
    if len(left):
        _with_a_class(distinct, times, blank, left)
    return blank[row]


def _settled(
    distinct: IntArray, times: IntArray, left: IntArray, hidden: Sequence[int], k: int
) -> tuple[BoolArray, int]:
    """Return which rows of `left` are in classes of k without the columns `hidden`, and the number of their records."""
    shown = [column for column in range(distinct.shape[1]) if column not in hidden]
    if not len(left):
        return np.zeros(0, dtype=bool), 0
    columns = [distinct[left, column] for column in shown] or [np.zeros(len(left), dtype=np.int64)]
    _, index = group_codes(columns, [int(column.max()) + 1 for column in columns])
    records = np.bincount(index, times[left])
    settled = records[index] >= k
    return settled, int(times[left][settled].sum())


def _with_a_class(distinct: IntArray, times: IntArray, blank: BoolArray, left: IntArray) -> None:
    """Add `left`, rows of fewer than k records, to the class for which the smallest number of cells is blanked."""
    done = np.setdiff1d(np.arange(len(distinct)), left)
    shown = np.where(blank[done], -1, distinct[done])
    first, index = group_codes(list((shown + 1).T), shown.max(axis=0) + 2)
    classes, records = shown[first], np.bincount(index, times[done]).astype(np.int64)
    same = (distinct[left] == distinct[left[0]]).all(axis=0)
    keeps = same & (classes == distinct[left[0]])  # values that all of them share
    cost = records * ((classes >= 0) & ~keeps).sum(axis=1) + times[left].sum() * (~keeps).sum(axis=1)
    best = int(cost.argmin())
    blank[np.ix_(np.append(done[index == best], left), np.flatnonzero(~keeps[best]))] = True
