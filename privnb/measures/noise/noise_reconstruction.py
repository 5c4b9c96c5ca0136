"""Reconstruction of a column's distribution from the noisy cells and the public distribution of the noise.

By this method, an honest user of a randomized table recovers the distribution of a column, but does not recover any
record. The domain is divided into intervals with equal numbers of steps. Missing numbers, which remain missing if noise
is added, are not counted.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 3; Agrawal and Aggarwal, "On the
Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS 2001, section 3; Aggarwal and Yu 2008,
section 6.2.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.likeliest import maximize_expectation
from privnb.microdata.schema import Attribute, Numbers
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

BINS = 100
INSIDE = 16  # maximum number of true values over which the likelihood of an interval is averaged
FINE = 4  # cells of published numbers per interval
CELLS = 2000  # approximate maximum number of cells of published numbers
CHANCE = 0.5  # mean rise of the log-likelihood from one more free parameter that explains nothing

Way = Literal["em", "bayes"]


class Distribution(NamedTuple):
    """A distribution, as the probability of each interval of a domain.

    Attributes
    ----------
    shares : float array (bins,)
        The probabilities, which add up to 1.
    starts : integer array (bins + 1,)
        Interval i contains the positions `starts[i]` to `starts[i + 1]` - 1. A position is the number of a step of the
        domain, or of a category, from 0.
    """

    shares: np.ndarray
    starts: np.ndarray


def list_intervals(attribute: Any, bins: int = BINS) -> IntArray:
    """Return the `Distribution.starts` of an attribute.

    Each category is an interval; a numeric domain has at most `bins` intervals.
    """
    expect.whole("bins", bins, 2)
    if not attribute.numeric:
        return np.arange(len(attribute.domain.values) + 1)
    size = attribute.domain.steps + 1
    return np.append(np.arange(0, size, -(-size // bins)), size)


def true_distribution(cells: Any, attribute: Any, *, bins: int = BINS) -> Distribution:
    """Return the distribution of a column without noise; a number outside the domain counts as the nearest end.

    Parameters
    ----------
    cells : array (n,)
    attribute : Attribute
    bins : int
        The maximum number of intervals of a numeric domain.
    """
    starts, codes = list_intervals(attribute, bins), attribute.domain.codes(_present(cells))
    counts = np.add.reduceat(np.bincount(np.clip(codes, 0, starts[-1] - 1), minlength=starts[-1]), starts[:-1])
    return Distribution(counts / counts.sum(), starts)


@validated
def reconstruct_distribution(
    cells: Any, law: Law, attribute: Attribute, *, way: Way = "em", bins: int = BINS
) -> Distribution:
    """Return the estimated distribution of the true values from which noisy cells were made.

    Parameters
    ----------
    cells : array (n,)
        The published cells.
    law : Law
        The distribution of the column's noise; see `Release.columns`.
    attribute : Attribute
    way : str
        "em": expectation maximization, with true values spread evenly in each interval (Agrawal and Aggarwal). The
        method stops when the log-likelihood of all cells together increases by less than one half in a step, which is
        the mean increase due to an additional free parameter without effect. After many more steps, the shares would
        overfit the noise, and a few intervals would have nearly all of the probability. "bayes": the same method with
        all true values in the middle of their intervals, and with fewer steps (Agrawal and Srikant); see
        `bayes_stopping_rule`.
    bins : int
        The maximum number of intervals of a numeric domain.

    Raises
    ------
    Unreadable
        If the law determines neither the probability of added noise nor the probability that a value is changed.
    ValueError
        If, under this noise, a cell has the probability 0 for all values of the domain.
    """
    if not len(cells := _present(cells)):
        raise UsageError("`cells` must hold at least one value; got none.")
    starts = list_intervals(attribute, bins)
    likelihood, seen = _explained(cells, law, attribute, starts, way)
    ended = bayes_stopping_rule(seen.sum(), len(seen)) if way == "bayes" else None
    counts = maximize_expectation(seen, likelihood, rise=CHANCE / len(cells), ended=ended)
    return Distribution(counts / seen.sum(), starts)


def bayes_stopping_rule(records: int, bins: int) -> Callable[[FloatArray, FloatArray], bool]:
    """Return the stopping rule of Agrawal and Srikant, a function of the shares after and before the last step.

    The function returns True if the chi-square statistic of the shares before and after the step is below a hundredth
    of the 95% threshold.

    Source: Agrawal and Srikant, SIGMOD 2000, section 3.2.
    """
    from scipy.special import chdtri

    threshold = 0.01 * chdtri(bins - 1, 0.05)

    def ended(after: FloatArray, before: FloatArray) -> bool:
        some = before > 0
        return records * float(((after - before)[some] ** 2 / before[some]).sum()) < threshold

    return ended


def _explained(cells: Any, law: Law, attribute: Any, starts: IntArray, way: str) -> tuple[FloatArray, IntArray]:
    """Return the likelihood of each published cell given each interval, (bins, cells), and the count of each cell."""
    if attribute.numeric:
        try:
            return _of_noise(cells.astype(float), law, attribute.domain, starts, way)
        except Unreadable:
            pass  # the law is a matrix
    size = int(starts[-1])
    seen = np.bincount(np.clip(attribute.domain.codes(cells), 0, size - 1), minlength=size)
    return np.add.reduceat(law.transition(size), starts[:-1], axis=0) / np.diff(starts)[:, np.newaxis], seen


def _of_noise(cells: Any, law: Law, domain: Numbers, starts: IntArray, way: str) -> tuple[FloatArray, IntArray]:
    """Return the results of `_explained` for numbers with added noise, which are first divided into cells."""
    law.cumulative(0.0)  # raises an error for noise that is not added
    step, own = domain.step, int(starts[1] - starts[0])
    # Cells fill intervals, and no edge is on a step, so that noise in whole steps falls into one cell.
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
    # # Published numbers are rounded, and "bayes" moves the numbers of an interval to its middle. A cell may then be
    # out of # reach of the noise, by at most the width of an interval.
    possible = np.flatnonzero(likelihood.sum(axis=0) > 0)
    for place in np.flatnonzero((likelihood.sum(axis=0) <= 0) & (seen > 0)):
        near = possible[np.abs(possible - place).argmin()] if len(possible) else place
        if abs(near - place) * width <= own * step and len(possible):
            seen[near] += seen[place]
            seen[place] = 0
    return likelihood, seen


def _present(cells: Any) -> Array:
    """Return the cells that are not missing."""
    cells = np.asarray(cells)
    return cells[~pd.isna(cells)]
