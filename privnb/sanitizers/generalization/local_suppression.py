"""Single cells blanked until every record shares what is left of it with k - 1 others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations as subsets
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.counts import distinct_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.privacy_models import KAnonymity
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_k, quasi_identifiers
from privnb.sanitizers.errors import SanitizationError

MOST = 16  # quasi-identifiers; each set of them is tried


@dataclass(frozen=True)
class LocalSuppression(Sanitizer):
    """Publish `*` for single quasi-identifier cells, few of them, so that every record is like k - 1 others.

    A `*` is like a `*` and like nothing else, as in all classes of a release. Records that share all their values with
    k - 1 others stay as they are. For the others one cell is blanked, then two, and so on: of as many cells the set
    first under which most of them become classes of k. It is a heuristic: the fewest cells is a hard problem.

    Parameters
    ----------
    k : int
        From 2.

    Raises
    ------
    SanitizationError
        For fewer records than k, and for more than 16 quasi-identifiers.

    Source: Aggarwal and Yu 2008, section 3.4.4; Meyerson and Williams, "On the Complexity of Optimal K-Anonymity", PODS
    2004 (that the optimum is hard); Templ, Kowarik, Meindl, Journal of Statistical Software 67(4), 2015 (k by sets of
    attributes; there `*` is like any value).
    """

    k: Annotated[int, at_least(2)]
    order_invariant = True
    title = "Local suppression"
    treatment = "suppressed"
    letters = requires = ("k",)
    coded = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = quasi_identifiers(self, dataset.schema, "suppress")
        check_k(self, self.k, len(dataset))
        if len(names) > MOST:
            raise SanitizationError(
                f"{self!r} tries all sets of at most {MOST} quasi-identifiers, and there are {len(names)}. Give some "
                "another role."
            )
        blank = blanked(np.column_stack([dataset.codes[name] for name in names]), self.k)
        for name, hidden in zip(names, blank.T, strict=True):
            if hidden.any():
                codes, values = dataset.schema[name].coded(table[name])
                table[name] = of_codes(
                    np.where(hidden, len(values), codes), np.append(values.astype(object), SUPPRESSED)
                )
        return table, {"claims": (KAnonymity(self.k),)}


def blanked(codes: IntArray, k: int) -> BoolArray:
    """Which cells to blank, so that every row is like k - 1 others: boolean array (n, attributes).

    Parameters
    ----------
    codes : integer array (n, attributes)
        From 0; n at least k.
    k : int

    Returns
    -------
    boolean array (n, attributes)
        The same for equal rows, in any order of the rows.
    """
    codes = codes.astype(np.int64)  # one more than the last code of a large domain has no room in 32 bits
    first, row = distinct_codes(list(codes.T), codes.max(axis=0) + 1)
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
    """Which of the rows `left` are of classes of k without the columns `hidden`, boolean, and how many records."""
    shown = [column for column in range(distinct.shape[1]) if column not in hidden]
    if not len(left):
        return np.zeros(0, dtype=bool), 0
    columns = [distinct[left, column] for column in shown] or [np.zeros(len(left), dtype=np.int64)]
    _, index = distinct_codes(columns, [int(column.max()) + 1 for column in columns])
    records = np.bincount(index, times[left])
    settled = records[index] >= k
    return settled, int(times[left][settled].sum())


def _with_a_class(distinct: IntArray, times: IntArray, blank: BoolArray, left: IntArray) -> None:
    """Join the rows `left`, of fewer than k records, to the class that costs the fewest cells; changes `blank`."""
    done = np.setdiff1d(np.arange(len(distinct)), left)
    shown = np.where(blank[done], -1, distinct[done])
    first, index = distinct_codes(list((shown + 1).T), shown.max(axis=0) + 2)
    classes, records = shown[first], np.bincount(index, times[done]).astype(np.int64)
    same = (distinct[left] == distinct[left[0]]).all(axis=0)
    keeps = same & (classes == distinct[left[0]])  # what all of them show alike
    cost = records * ((classes >= 0) & ~keeps).sum(axis=1) + times[left].sum() * (~keeps).sum(axis=1)
    best = int(cost.argmin())
    blank[np.ix_(np.append(done[index == best], left), np.flatnonzero(~keeps[best]))] = True
