"""How a column is distributed, reconstructed from its noisy cells and the public law of their noise: the honest user's
half of randomization. Only the distribution comes back, no record.

The domain is cut into intervals of equally many steps. Missing numbers, which noise leaves missing, count nowhere.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 3; Agrawal and Aggarwal, "On the
Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS 2001, section 3; Aggarwal and Yu 2008,
section 6.2.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.likeliest import expectation_maximized
from privnb.microdata.schema import Attribute, Numbers
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

BINS = 100
INSIDE = 16  # true values of an interval that its likelihood is the mean of, at most
FINE = 4  # cells of published numbers per interval
CELLS = 2000  # of published numbers, about at most
CHANCE = 0.5  # of the log-likelihood: on average what one free number more explains where there is nothing to explain

Way = Literal["em", "bayes"]


class Distribution(NamedTuple):
    """How likely each interval of a domain is.

    Attributes
    ----------
    shares : float array (bins,)
        They add up to 1.
    starts : integer array (bins + 1,)
        Interval i holds the positions `starts[i]` to `starts[i + 1]` - 1, steps of the domain or categories, from 0.
    """

    shares: np.ndarray
    starts: np.ndarray


def intervals(attribute: Any, bins: int = BINS) -> IntArray:
    """Where the intervals of an attribute start, see `Distribution.starts`: each category, or `bins` or fewer."""
    expect.whole("bins", bins, 2)
    if not attribute.numeric:
        return np.arange(len(attribute.domain.values) + 1)
    size = attribute.domain.steps + 1
    return np.append(np.arange(0, size, -(-size // bins)), size)


def true_distribution(cells: Any, attribute: Any, *, bins: int = BINS) -> Distribution:
    """The distribution of a column as it is: `Distribution`, where numbers outside of the domain count at its ends.

    Parameters
    ----------
    cells : array (n,)
    attribute : Attribute
    bins : int
        Of numbers.

    Returns
    -------
    Distribution
    """
    starts, codes = intervals(attribute, bins), attribute.domain.codes(_there(cells))
    counts = np.add.reduceat(np.bincount(np.clip(codes, 0, starts[-1] - 1), minlength=starts[-1]), starts[:-1])
    return Distribution(counts / counts.sum(), starts)


@validated
def reconstructed(cells: Any, law: Law, attribute: Attribute, *, way: Way = "em", bins: int = BINS) -> Distribution:
    """The distribution of the true values behind noisy cells.

    Parameters
    ----------
    cells : array (n,)
        As published.
    law : Law
        Of the column's noise, see `Release.columns`.
    attribute : Attribute
    way : str
        "em": likelier shares of the intervals from step to step, with true values spread evenly in each (Agrawal and
        Aggarwal). It ends once the log-likelihood of all cells together rises by less than one half in a step, which is
        what one more free number explains by chance. The likeliest shares themselves, many steps later, follow the
        noise: few intervals stand for many.
        "bayes": the same with all true values in the middle of their interval, and fewer steps, see `bayes_ended`
        (Agrawal and Srikant).
    bins : int
        Of numbers, at most.
    Returns
    -------
    Distribution

    Raises
    ------
    Unreadable
        For a law that says neither how likely noise is nor how likely values change.
    ValueError
        For cells that cannot come from the domain by this law.
    """
    if not len(cells := _there(cells)):
        raise UsageError("cells must be a value at least, and there is none.")
    starts = intervals(attribute, bins)
    likelihood, seen = _explained(cells, law, attribute, starts, way)
    ended = bayes_ended(seen.sum(), len(seen)) if way == "bayes" else None
    counts = expectation_maximized(seen, likelihood, rise=CHANCE / len(cells), ended=ended)
    return Distribution(counts / seen.sum(), starts)


def bayes_ended(records: int, bins: int) -> Callable[[FloatArray, FloatArray], bool]:
    """When Agrawal and Srikant stop: the chi-square statistic between two steps is a hundredth of its 95 % threshold.

    Parameters
    ----------
    records, bins : int

    Returns
    -------
    function of two float arrays (bins,)
        Of the last shares and those before.

    Source: Agrawal and Srikant, SIGMOD 2000, section 3.2.
    """
    from scipy.special import chdtri

    threshold = 0.01 * chdtri(bins - 1, 0.05)

    def ended(after: FloatArray, before: FloatArray) -> bool:
        some = before > 0
        return records * float(((after - before)[some] ** 2 / before[some]).sum()) < threshold

    return ended


def _explained(cells: Any, law: Law, attribute: Any, starts: IntArray, way: str) -> tuple[FloatArray, IntArray]:
    """How likely each published cell is for each interval, (bins, cells), and how often it is seen, (cells,)."""
    if attribute.numeric:
        try:
            return _of_noise(cells.astype(float), law, attribute.domain, starts, way)
        except Unreadable:
            pass  # numbers that a matrix replaces
    size = int(starts[-1])
    seen = np.bincount(np.clip(attribute.domain.codes(cells), 0, size - 1), minlength=size)
    return np.add.reduceat(law.transition(size), starts[:-1], axis=0) / np.diff(starts)[:, np.newaxis], seen


def _of_noise(cells: Any, law: Law, domain: Numbers, starts: IntArray, way: str) -> tuple[FloatArray, IntArray]:
    """As `_explained`, of numbers with added noise. The published numbers are counted in cells of their own."""
    law.cumulative(0.0)  # refuses a law that does not add
    step, own = domain.step, int(starts[1] - starts[0])
    # Cells fill intervals, and no edge lies on a step, so that noise in whole steps is in one cell.
    few = int(np.ceil((cells.max() - cells.min()) / step / CELLS))
    fits = [each for each in range(1, own + 1) if own % each == 0]
    wide = max([each for each in fits if each <= max(own // FINE, 1)])
    wide = wide if wide >= few else next((each for each in fits if each >= few), own * -(-few // own))
    width = step / 3 if own == 1 and few <= 1 else step * wide
    low = domain.low - step / 2
    first, last = np.floor((np.array([cells.min(), cells.max()]) - low) / width)
    edges = low + width * np.arange(first, last + 2)
    cell = np.clip(((cells - edges[0]) / width).astype(np.int64), 0, len(edges) - 2)
    seen = np.bincount(cell, minlength=len(edges) - 1)
    likelihood = np.empty((len(starts) - 1, len(edges) - 1))
    for row, (begin, end) in enumerate(pairwise(starts)):
        middle = [(begin + end - 1) / 2]
        inside = middle if way == "bayes" else np.unique(np.linspace(begin, end - 1, INSIDE).astype(np.int64))
        values = domain.low + step * np.asarray(inside, dtype=float)
        likelihood[row] = np.diff(law.cumulative(edges[:, np.newaxis] - values).mean(axis=1))
    # Numbers are published rounded, and "bayes" takes those of an interval for its middle: then a cell may lie beyond
    # what noise reaches, by the width of an interval at most.
    possible = np.flatnonzero(likelihood.sum(axis=0) > 0)
    for place in np.flatnonzero((likelihood.sum(axis=0) <= 0) & (seen > 0)):
        near = possible[np.abs(possible - place).argmin()] if len(possible) else place
        if abs(near - place) * width <= own * step and len(possible):
            seen[near] += seen[place]
            seen[place] = 0
    return likelihood, seen


def _there(cells: Any) -> Array:
    """The cells that are not missing."""
    cells = np.asarray(cells)
    return cells[~pd.isna(cells)]
