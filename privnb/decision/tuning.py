"""Search one parameter of a sanitizer for the least utility loss under a cap on the privacy loss.

An evaluation sanitizes and measures a release, with many seeds if noise is drawn. The search therefore evaluates at
most a quarter of the values of the grid. Losses are only roughly monotonic along a grid: ties, noise, and classes that
are suddenly cut make the losses fluctuate, so that they cross the cap more than once. The search therefore bisects the
grid down to a place where the losses cross the cap. The search spends the other evaluations around the best value so
far, with two steps to the looser side for each step to the stricter side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, AnyLoss, Loss, are_comparable, compute_points
from privnb.evaluation.combination_sizes import MinClassSize
from privnb.evaluation.results import join_results
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT, ROUNDING
from privnb.runtime.validation import Number, at_least, validated
from privnb.sanitizers import SanitizationError

Pair = tuple[float, float]  # privacy loss and utility loss
SHARE = 4  # values of the grid for each evaluation
MOST = 1_000_000  # values of a grid
MIN_COUNT = 32  # values of a grid; a quarter of fewer values is not enough for a search


@dataclass(frozen=True, eq=False)
class Tuned:
    """The result of a search, with all values that the search tried.

    Parameters
    ----------
    value : float or None
        The value of the parameter; None if no tried value meets the cap.
    releases : DataFrame
        The releases that the search tried, as `compute_points` returns them, in the order of the grid, with the column
        `value`.
    unreachable : tuple of float
        The tried values at which the table cannot be sanitized.
    size : int
        The number of values in the grid.
    """

    value: float | None
    releases: pd.DataFrame
    unreachable: tuple[float, ...]
    size: int

    @property
    def evaluations(self) -> int:
        """The number of values that the search tried."""
        return len(self.releases) + len(self.unreachable)


@validated
def grid(low: Number, high: Number, size: Annotated[int, at_least(2)]) -> list[float]:
    """Return values of a parameter from `low` to `high`, with a constant ratio between neighbors.

    Parameters
    ----------
    low, high : float
        The ends of the grid. If both ends are whole numbers, all values are whole numbers; otherwise, values have four
        significant digits.
    size : int
        The number of values, from 2 to 1,000,000. The grid has fewer values if some of the values would be equal.

    Returns
    -------
    list of float or int
        The values in ascending order.

    Raises
    ------
    ValueError
        If the ends do not form a grid, or are so close that the grid has fewer than 32 values, which need no search.

    >>> grid(2, 64, 6)
    [2, 4, 8, 16, 32, 64]
    """
    if size > MOST:
        raise UsageError(f"`size` must be at most {MOST:,}; got {size!r}. Give a coarser grid.")
    if not 0 < low < high:
        raise UsageError(f"`low` and `high` must satisfy 0 < low < high; got low={low!r} and high={high!r}.")
    spread = np.geomspace(float(low), float(high), size).tolist()
    whole = isinstance(low, int) and isinstance(high, int)
    values = sorted({round(value) if whole else float(f"{value:.4g}") for value in spread})
    if len(values) < min(size, MIN_COUNT):
        raise UsageError(
            f"a grid of {size} values must have at least {min(size, MIN_COUNT)} different values for a search; got "
            f"{len(values)} from low={low!r} to high={high!r}. Move `low` and `high` apart, or evaluate all values."
        )
    return values


@validated
def tune(
    evaluate: Callable[[float], pd.DataFrame],
    values: Any,
    cap: Number,
    *,
    privacy: AnyLoss,
    utility: AnyLoss,
    min_class_size: MinClassSize | None,
) -> Tuned:
    """Return the value with the least utility loss among the tried values that meet the cap.

    The search tries at most a quarter of the values. A returned value always meets the cap. Its utility loss is not
    guaranteed to be at most 5% above the least utility loss of the whole grid under the cap.
    `tests/decision/test_tuning.py` measures how often the utility loss is larger. In random grids whose losses
    fluctuate by 2% (standard deviation, independent or not), this happens in at most 1 of 100 grids; at 5%, in 4 of
    100; at 10%, in 17 of 100. In each of the real grids of Mondrian, it happens for at most 1 of 9 caps. No search can
    promise more: if only one value of the grid meets the cap, a search of a quarter of the grid misses this value three
    times in four.

    Parameters
    ----------
    evaluate : function
        `evaluate(value)` returns tidy results of one release, with at least 10 seeds if the release is random, or
        raises SanitizationError if the table cannot be sanitized with this value.
    values : list of float
        At least 32 values in ascending or descending order, from strict to loose or from loose to strict; see `grid`.
    cap : float
        The largest privacy loss accepted. For a random release, the upper bound of the interval counts.
    privacy, utility : Loss or str
        See `compute_points`; a `Loss` of a measure for which higher is better needs its `best`.
    min_class_size : int or None
        The minimum class size, as for `compute_points`: a release below this size meets no cap.

    Returns
    -------
    Tuned
        The value, and all releases that the search tried.

    Raises
    ------
    ValueError
        If there are too few values, if they are not in order, or if the results of `evaluate` cannot be compared.
    SanitizationError
        If the table cannot be sanitized with any tried value.
    """
    values, wanted = expect.numbers("values", values), {"privacy": privacy, "utility": utility}
    if len(values) < MIN_COUNT or not (np.all(np.diff(values) > 0) or np.all(np.diff(values) < 0)):
        raise UsageError(
            f"a search needs at least {MIN_COUNT} values in increasing or decreasing order; got {len(values)}. For "
            "fewer values, evaluate every value, and use `choose_by_losses`."
        )
    found, unreachable = dict[int, pd.DataFrame](), list[float]()

    def losses(position: int) -> Pair:
        try:
            results = evaluate(values[position])
        except SanitizationError:
            unreachable.append(values[position])
            return np.inf, np.inf
        row = _release(results, wanted, min_class_size)
        found[position] = results
        lost = row.utility if pd.notna(row.utility) else row.utility_high
        # The loss of few people is withheld: it is not known whether it keeps a cap.
        told = np.inf if row.refused or pd.isna(row.privacy_high) else row.privacy_high
        return told, np.inf if pd.isna(lost) else lost

    cap += ROUNDING * abs(cap) + EXACT  # a loss that is equal but for rounding keeps the cap, as in `choose_by_losses`
    tried = search_positions(losses, len(values), cap)
    if not found:
        raise SanitizationError(
            f"the table cannot be sanitized with any of the values {unreachable}. Give a grid with values that demand "
            "less."
        )
    order = sorted(found)
    kept = [position for position in order if tried[position][0] <= cap]
    best = min(kept, key=lambda position: tried[position][::-1], default=None)
    releases = compute_points(
        join_results(*(found[position] for position in order)),
        privacy=privacy,
        utility=utility,
        min_class_size=min_class_size,
    )
    if len(releases) != len(order):
        raise UsageError(
            f"`evaluate` must return results whose setting names the value; got {releases.setting[0]} for several "
            "values."
        )
    releases = releases.assign(value=[values[position] for position in order])
    return Tuned(None if best is None else values[best], releases, tuple(unreachable), len(values))


@validated
def search_positions(losses: Callable[[int], Pair], size: Annotated[int, at_least(2)], cap: Number) -> dict[int, Pair]:
    """Return the positions that the search tries, in the order of the search.

    Parameters
    ----------
    losses : function
        `losses(position)` returns (privacy loss, utility loss). The end of the grid with less utility loss counts as
        the looser end.
    size : int
        The number of positions, which are 0 to `size` - 1.
    cap : float
        The largest privacy loss accepted.

    Returns
    -------
    dict of int to (float, float)
        The two losses of each position that the search tries.
    """
    tried = {0: losses(0), size - 1: losses(size - 1)}
    looser = 1 if tried[0][1] > tried[size - 1][1] else -1
    while len(tried) < size // SHARE:
        kept = {position: utility for position, (privacy, utility) in tried.items() if privacy <= cap}
        gaps = [(a, b) for a, b in pairwise(sorted(tried)) if b - a > 1]
        crossings = [(a, b) for a, b in gaps if (a in kept) != (b in kept)]
        if crossings:
            position = sum(crossings[0]) // 2
        elif not kept:  # both ends exceed the cap: the search tries a position in between
            widest = max(gaps, key=lambda gap: gap[1] - gap[0])
            position = sum(widest) // 2
        else:
            best = min(kept, key=lambda position: (kept[position], -looser * position))
            step = -looser if len(tried) % 3 == 0 else looser
            ways = [range(best, size if way > 0 else -1, way) for way in (step, -step)]
            position = next(place for way in ways for place in way if place not in tried)
        tried[position] = losses(position)
    return tried


def _release(results: pd.DataFrame, wanted: Mapping[str, AnyLoss], min_class_size: int | None) -> pd.Series:
    """Return the only release of an evaluation as a point."""
    for axis, loss in wanted.items():
        loss = Loss(loss) if isinstance(loss, str) else loss
        if loss.best is None and "higher" in set(results.better[results.measure == loss.measure]):
            raise UsageError(
                f"higher is better for the {axis} measure '{loss.measure}'. State the best value with `Loss(..., "
                "best=...)`."
            )
    releases = compute_points(
        results, privacy=wanted["privacy"], utility=wanted["utility"], min_class_size=min_class_size
    )
    if len(releases) != 1:
        raise UsageError(
            f"`evaluate` must return results of one release; got {len(releases)} releases: "
            f"{', '.join(releases.setting)}."
        )
    known = releases[[f"{axis}_{end}" for axis in AXES for end in ("low", "high")]].notna().all(axis=None)
    if known and not are_comparable(releases).all():
        raise UsageError(f"{releases.setting[0]} cannot be compared: {releases.why[0]}.")
    return releases.iloc[0]
