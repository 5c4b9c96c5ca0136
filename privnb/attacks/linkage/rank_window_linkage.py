"""Linkage of a person to the rows whose ranks are within the window of rank swapping."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from privnb.attacks.linkage.candidate_linkage import CandidateLinkage
from privnb.microdata.release import Published
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Percentage


class _Ranks(NamedTuple):
    """The sorted values of a column, which are those of the original column, and the value of each distinct row."""

    ranked: FloatArray
    value: FloatArray


@dataclass(frozen=True)
class RankWindowLinkage(CandidateLinkage):
    """Link each person to the nearest row whose ranks are possible, for releases by rank swapping.

    Swapping keeps the values of a column, so the published column shows the rank of a known value among the n original
    values. The published value of the person is at most p n / 100 ranks away. Equal values have several ranks, and the
    adversary does not know the order of equal values. If the known value has the ranks from i to j and w is the window,
    the candidates are therefore the rows with values from that of rank i - w to that of rank j + w. The candidates of a
    person are the rows that are candidates in every column. A missing number is not swapped.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.
    p : float
        The size of the window as a percentage of the number of records, see `RankSwapping`.

    Source: Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk", Data & Knowledge Engineering
    64(1), 2008, for the intersection of the windows. We have not read the paper; the treatment of ties is ours.
    """

    p: Percentage = 15
    title = "nearest row of possible ranks"

    def _prepare(self, published: Published, steps: Mapping[str, FloatArray], times: IntArray) -> dict[str, Any]:
        found = {}
        for name, value in steps.items():
            value, there = np.rint(value), ~np.isnan(value)
            found[name] = _Ranks(np.sort(np.repeat(value[there], times[there])), value)
        return found

    def _fits(self, own: FloatArray, prepared: Any) -> BoolArray:
        own, ranked, gap = np.rint(own), prepared.ranked, np.isnan(prepared.value)
        if not len(ranked):
            return np.isnan(own) & gap
        window = int(self.p * len(ranked) / 100 + ROUNDING)
        first = np.maximum(np.searchsorted(ranked, own, side="left") - window, 0)
        last = np.minimum(np.searchsorted(ranked, own, side="right") - 1 + window, len(ranked) - 1)
        first = np.minimum(first, len(ranked) - 1)
        within = (prepared.value >= ranked[first]) & (prepared.value <= ranked[np.maximum(last, 0)])
        return np.where(np.isnan(own), gap, within)
