"""Search one parameter of a sanitizer for the least utility loss under a cap on the privacy loss.

An evaluation sanitizes and measures, with many seeds where noise is drawn, so few are made: a quarter of the grid's.
Along a grid losses rise and fall only roughly: ties, noise, and classes that are suddenly cut make them wiggle, and the
cap is crossed more than once. So a search halves the grid down to where the cap is crossed, and spends what is left
around the best value so far, two steps to the looser side for one to the stricter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, AnyLoss, Loss, comparable, points
from privnb.evaluation.combinations import Floor
from privnb.evaluation.results import join
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT, ROUNDING
from privnb.runtime.validation import Number, at_least, validated
from privnb.sanitizers import SanitizationError

Pair = tuple[float, float]  # privacy loss and utility loss
SHARE = 4  # one evaluation for so many values of the grid
MOST = 1_000_000  # values of a grid
FEWEST = 32  # values of a grid; of fewer, a quarter is too little to search with


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a search found: the `value` of the parameter, None if no value tried keeps the cap, and all that it tried.

    `releases`: what was tried as `frontier.points`, in the order of the grid, with the column `value`. `unreachable`:
    the values tried at which the table cannot be sanitized. `size`: of the grid.
    """

    value: float | None
    releases: pd.DataFrame
    unreachable: tuple[float, ...]
    size: int

    @property
    def evaluations(self) -> int:
        """How many values were tried."""
        return len(self.releases) + len(self.unreachable)


@validated
def grid(low: Number, high: Number, size: Annotated[int, at_least(2)]) -> list[float]:
    """Return values of a parameter from `low` to `high`, spread evenly by ratio.

    Parameters
    ----------
    low, high : float
        Values are whole numbers where both ends are, else numbers of four digits.
    size : int
        How many values, 2 to 1,000,000; fewer if some would be the same.

    Returns
    -------
    list of float or int
        Rising.

    Raises
    ------
    ValueError
        For ends that make no grid, and where they are so near that `tune` could not search: of fewer than 32 values all
        can be evaluated.

    >>> grid(2, 64, 6)
    [2, 4, 8, 16, 32, 64]
    """
    if size > MOST:
        raise UsageError(f"size must be at most {MOST:,}, got {size!r}: nobody searches so fine a grid.")
    if not 0 < low < high:
        raise UsageError(f"a grid has 0 < low < high; got low={low!r} and high={high!r}.")
    spread = np.geomspace(float(low), float(high), size).tolist()
    whole = isinstance(low, int) and isinstance(high, int)
    values = sorted({round(value) if whole else float(f"{value:.4g}") for value in spread})
    if len(values) < min(size, FEWEST):
        raise UsageError(
            f"a grid of {size} values was asked for, and from low={low!r} to high={high!r} there are {len(values)}, of "
            f"at least {min(size, FEWEST)} for a search. Move the ends apart, or evaluate all of them."
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
    floor: Floor | None,
) -> Tuned:
    """The value whose release has least utility loss among those tried that keep the cap.

    At most a quarter of the values is tried. A value found always keeps the cap. That its utility loss is at most 5 %
    above the best of the whole grid under the cap is no guarantee; `tests/decision/test_tuning.py` measures how often
    it fails: in at most 1 of 100 random grids whose losses wiggle by 2 % (standard deviation, independent or not), 4 of
    100 at 5 %, 17 of 100 at 10 %; and at no more than 1 of 9 caps on each of its real grids of Mondrian. No search can
    promise more: a single value that keeps the cap among others that break it is missed three times in four by whoever
    sees a quarter of the grid.

    Parameters
    ----------
    evaluate : function
        `evaluate(value)`: tidy results of one release, of at least 10 seeds if it is randomised, or a SanitizationError
        where the table cannot be sanitized so.
    values : list of float
        In the order of strictness, either way round, at least 32; see `grid`.
    cap : float
        The most privacy loss accepted; of a randomised release the interval's upper bound counts.
    privacy, utility : Loss or str
        As of `points`; a `Loss` of a measure of which higher is better needs its `best`.
    floor : int or None
        As of `points`: what is below it keeps no cap.

    Returns
    -------
    Tuned
    """
    values, wanted = expect.numbers("values", values), {"privacy": privacy, "utility": utility}
    if len(values) < FEWEST or not (np.all(np.diff(values) > 0) or np.all(np.diff(values) < 0)):
        raise UsageError(
            f"a search needs at least {FEWEST} values in rising or falling order, got {len(values)}. Of fewer, "
            "evaluate all and see `choices`."
        )
    found, unreachable = dict[int, pd.DataFrame](), list[float]()

    def losses(position: int) -> Pair:
        try:
            results = evaluate(values[position])
        except SanitizationError:
            unreachable.append(values[position])
            return np.inf, np.inf
        row = _release(results, wanted, floor)
        found[position] = results
        lost = row.utility if pd.notna(row.utility) else row.utility_high
        # Of few people a loss is withheld: whether it keeps a cap is not known.
        told = np.inf if row.refused or pd.isna(row.privacy_high) else row.privacy_high
        return told, np.inf if pd.isna(lost) else lost

    cap += ROUNDING * abs(cap) + EXACT  # what is equal but for rounding keeps it, as in `choices`
    tried = search(losses, len(values), cap)
    if not found:
        raise SanitizationError(f"the table cannot be sanitized at any of {unreachable}. Relax the grid.")
    order = sorted(found)
    kept = [position for position in order if tried[position][0] <= cap]
    best = min(kept, key=lambda position: tried[position][::-1], default=None)
    releases = points(join(*(found[position] for position in order)), privacy=privacy, utility=utility, floor=floor)
    if len(releases) != len(order):
        raise UsageError(f"evaluate gave {releases.setting[0]} for several values: its results must name the value.")
    releases = releases.assign(value=[values[position] for position in order])
    return Tuned(None if best is None else values[best], releases, tuple(unreachable), len(values))


@validated
def search(losses: Callable[[int], Pair], size: Annotated[int, at_least(2)], cap: Number) -> dict[int, Pair]:
    """The positions that the search tries, in its order.

    Parameters
    ----------
    losses : function
        `losses(position)` gives (privacy loss, utility loss). Of the two ends, the one of less utility loss is taken
        for the looser.
    size : int
        Positions are 0 to `size` - 1.
    cap : float
        The most privacy loss accepted.

    Returns
    -------
    dict of int to (float, float)
        Both losses by position.
    """
    tried = {0: losses(0), size - 1: losses(size - 1)}
    looser = 1 if tried[0][1] > tried[size - 1][1] else -1
    while len(tried) < size // SHARE:
        kept = {position: utility for position, (privacy, utility) in tried.items() if privacy <= cap}
        gaps = [(a, b) for a, b in pairwise(sorted(tried)) if b - a > 1]
        crossings = [(a, b) for a, b in gaps if (a in kept) != (b in kept)]
        if crossings:
            position = sum(crossings[0]) // 2
        elif not kept:  # both ends break it: somewhere between, then
            widest = max(gaps, key=lambda gap: gap[1] - gap[0])
            position = sum(widest) // 2
        else:
            best = min(kept, key=lambda position: (kept[position], -looser * position))
            step = -looser if len(tried) % 3 == 0 else looser
            ways = [range(best, size if way > 0 else -1, way) for way in (step, -step)]
            position = next(place for way in ways for place in way if place not in tried)
        tried[position] = losses(position)
    return tried


def _release(results: pd.DataFrame, wanted: Mapping[str, AnyLoss], floor: int | None) -> pd.Series:
    """The one release of an evaluation as a point."""
    for axis, loss in wanted.items():
        loss = Loss(loss) if isinstance(loss, str) else loss
        if loss.best is None and "higher" in set(results.better[results.measure == loss.measure]):
            raise UsageError(f"of the {axis} measure '{loss.measure}' higher is better: give Loss(..., best=).")
    releases = points(results, privacy=wanted["privacy"], utility=wanted["utility"], floor=floor)
    if len(releases) != 1:
        raise UsageError(f"evaluate gives results of one release, got {len(releases)}: {', '.join(releases.setting)}.")
    known = releases[[f"{axis}_{end}" for axis in AXES for end in ("low", "high")]].notna().all(axis=None)
    if known and not comparable(releases).all():
        raise UsageError(f"{releases.setting[0]} cannot be compared: {releases.why[0]}.")
    return releases.iloc[0]
