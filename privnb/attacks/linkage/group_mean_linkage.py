"""Linkage of a person to the means of the groups that can contain the person's values, for microaggregation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.linkage.candidate_linkage import CandidateLinkage
from privnb.microdata.counts import count_combinations
from privnb.microdata.release import Published
from privnb.privacy_models.anonymity import People
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import optional

SLACK = 1e-3  # original values are whole steps, so smaller errors of a published mean do not matter


class _Intervals(NamedTuple):
    """The interval of the values of the group of each row, and whether a missing number may have a mean."""

    low: FloatArray
    high: FloatArray
    takes_missing: BoolArray


def _check_blocks(name: str, value: Any) -> None:
    expect.all_of(name, value, list, tuple, instead='Give blocks of names: (("age", "hours"), ("weight",)).')
    for place, block in enumerate(value):
        if not expect.texts(f"{name}[{place}]", block, "columns"):
            raise UsageError(f"`{name}` must each name at least one column; got an empty block.")


@dataclass(frozen=True)
class GroupMeanLinkage(CandidateLinkage):
    """Link each person to the nearest mean among those of groups that can contain the person's values.

    Values of the domain are whole numbers of steps, from L to U. A group of c values with the mean m has the sum c m,
    and its other values are at least L, so its largest value is at most c m - (c - 1) L. Likewise, its smallest value
    is at least c m - (c - 1) U.

    If each number was sorted and divided into runs of k to 2k - 1 values, as `UnivariateMicroaggregation` does, L and U
    are closer: they are the next lower and the next higher published mean. Proof: a lower run ends at or below the
    first value of this run, and its last value is at least its mean. If at least 2k rows have the same mean, they are
    of at least two runs. All values of the lower run are then at most those of the higher run, so that equal means
    imply equal values, and the group contains its mean only.

    The candidates of a person are the rows whose intervals contain the person's value in every column. The k of the
    method bounds c if several groups have equal means. Categories that were replaced by the center of a group exclude
    no row. A missing number is a candidate of missing numbers or, if it may have been filled, of all rows.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.
    k : int
        The minimum size of a group.
    blocks : tuple of tuples of str, optional
        The blocks of columns that were grouped together, as in `Microaggregation`. If None, each number was sorted and
        grouped alone, as in `UnivariateMicroaggregation`.

    Source: Winkler, "Re-identification methods for masked microdata", Privacy in Statistical Databases 2004; Nin,
    Herranz, Torra, "On the disclosure risk of multivariate microaggregation", Data & Knowledge Engineering 2008, for
    the intersection over columns. We have read neither; the bounds and their proof are ours.
    """

    k: People = 3
    blocks: Annotated[tuple[tuple[str, ...], ...] | None, optional(_check_blocks)] = None
    title = "nearest mean of a possible group"

    def _prepare(self, published: Published, steps: Mapping[str, FloatArray], times: IntArray) -> dict[str, Any]:
        if self.blocks is None:
            blocks: Any = [(name,) for name in steps]
        else:
            blocks = [[name for name in block if name in steps] for block in self.blocks]
        found: dict[str, Any] = {}
        for block in filter(len, blocks):
            index = count_combinations(pd.DataFrame({name: steps[name] for name in block})).index
            size = np.bincount(index, times).astype(float)[index]
            for name in block:
                if published.schema[name].numeric:
                    last = published.schema[name].numbers.steps
                    found[name] = self._bound(steps[name], size, last)
        anything = _Intervals(np.array(-np.inf), np.array(np.inf), np.array(True))
        return {name: found.get(name, anything) for name in steps}

    def _bound(self, mean: FloatArray, size: FloatArray, last: int) -> _Intervals:
        """Return the interval of the group of each row, by the means and numbers of rows with equal means."""
        gap = np.isnan(mean)
        low, high = np.zeros(len(mean)), np.full(len(mean), float(last))
        single = np.zeros(len(mean), dtype=bool)
        if self.blocks is None and not gap.all():
            means = np.unique(mean[~gap])
            place = np.searchsorted(means, np.where(gap, means[0], mean))
            low, high = np.concatenate([[0.0], means[:-1]])[place], np.concatenate([means[1:], [float(last)]])[place]
            low, high = np.ceil(low - SLACK), np.floor(high + SLACK)
            single = size >= 2 * self.k
        c = np.where(single, 1, np.minimum(size, 2 * self.k - 1))
        lowest = np.maximum(low, np.ceil(c * mean - (c - 1) * high - SLACK))
        highest = np.minimum(high, np.floor(c * mean - (c - 1) * low + SLACK))
        takes_missing = gap | (self.blocks is not None) | ~gap.any()
        return _Intervals(np.where(gap, np.inf, lowest), np.where(gap, -np.inf, highest), takes_missing)

    def _fits(self, own: FloatArray, prepared: Any) -> BoolArray:
        within = (own >= prepared.low - SLACK) & (own <= prepared.high + SLACK)
        return np.where(np.isnan(own), prepared.takes_missing, within)
