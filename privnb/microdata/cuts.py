"""Cut points at which the public intervals of a domain of numbers begin; the owner's, or round numbers by default."""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from privnb.microdata import withholding
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING, STEP

MOST = 10_000  # the maximum number of intervals of a domain
EVEN = 10  # the maximum number of intervals with about the same number of people


class Domain(Protocol):
    """The interface of a domain of numbers; see `schema.Numbers`."""

    @property
    def low(self) -> float:
        """The lowest number of the domain."""

    @property
    def high(self) -> float:
        """The highest number of the domain."""

    @property
    def step(self) -> float:
        """The distance between two neighboring numbers of the domain."""

    @property
    def steps(self) -> int:
        """The number of steps from `low` to `high`."""

    def value(self, code: int, /) -> Any:
        """Return the number at a code."""

    def codes(self, values: Any, /) -> IntArray:
        """Return the number of steps from `low` to each value, as an integer array."""


def round_number(least: Decimal) -> Decimal:
    """Return the smallest of ..., 0.5, 1, 2, 5, 10, 20, 50, ... that is at least `least`."""
    power = Decimal(10) ** least.adjusted()
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


def to_number(number: Decimal) -> float:
    """Return a Decimal as an int if it is whole, otherwise as a float."""
    return int(number) if number == number.to_integral_value() else float(number)


def grain(domain: Domain) -> float:
    """Return the round number that divides a domain into ten to twenty intervals.

    A narrow domain has fewer intervals, because an interval with a single value would protect nobody.
    """
    low, high, step = (Decimal(str(number)) for number in (domain.low, domain.high, domain.step))
    return to_number(round_number(max((high - low) / 20, 2 * step)))


def cut_points(domain: Domain, cuts: float | Sequence[float] | None) -> tuple[float, ...]:
    """Return the numbers of a domain at which public intervals begin, except the low end, in ascending order.

    `cuts` is a list of increasing numbers of the domain, or a number, which is the width of all intervals. Intervals of
    one width begin at the multiples of this width; if `cuts` is None, the width is `grain(domain)`. If such an interval
    contained only the lowest or only the highest value of the domain, the interval is merged with the neighboring
    interval, because a label with a single value would disclose the value. Raises ValueError for any other `cuts`.
    """
    if isinstance(cuts, tuple | list):
        return _listed(domain, cuts)
    width = grain(domain) if cuts is None else cuts
    if not expect.is_number(width) or width <= 0:
        raise UsageError(f"`cuts` must be a number above 0 or a list of increasing numbers; got {width!r}.")
    first, last = math.floor(domain.low / width) + 1, math.floor(domain.high / width + ROUNDING)
    if last - first >= MOST:
        raise UsageError(
            f"`cuts` = {width:g} would divide {domain} into more than {MOST:,} intervals. Give a larger width, because "
            "a narrow interval protects few people."
        )
    found = [number * width for number in range(first, last + 1)]
    if cuts is not None:
        _refuse_off_step(domain, found or [first * width])
    # If a round number lies between two steps, the interval begins with the first value above it.
    codes = [math.ceil((point - domain.low) / domain.step - STEP) for point in found]
    return tuple(domain.value(code) for code in dict.fromkeys(codes) if 1 < code < domain.codes(domain.high))


def halve_cuts(cuts: tuple[float, ...]) -> tuple[float, ...]:
    """Return every second of some increasing cuts; if the first cuts are equally spaced, keep the rounder ones.

    >>> halve_cuts((20, 25, 30, 35, 40)), halve_cuts((15, 20, 25)), halve_cuts((65,))
    ((20, 30, 40), (20,), ())
    """
    return cuts[round(cuts[0] / (cuts[1] - cuts[0])) % 2 :: 2] if len(cuts) > 1 else ()


def even_cuts(domain: Domain, numbers: FloatArray, people: IntArray, min_count: int) -> tuple[float, ...] | None:
    """Return cuts that divide people roughly evenly, even if a few very large or small numbers make the domain wide.

    Each cut is the roundest number near a quantile, a value that many people share, or the first number above such a
    value. The cuts therefore do not disclose the number of a single person, and each interval holds at least
    `min_count` people.

    Parameters
    ----------
    domain : Numbers
    numbers : float array (m,)
        Distinct numbers of the domain.
    people : integer array (m,)
        The number of people who have each number.
    min_count : int

    Returns
    -------
    tuple of numbers, or None
        The cuts of at most ten intervals, plus one interval for each value that many people share; None if there are
        too few people for two intervals.

    >>> from privnb.microdata.schema import Numbers
    >>> numbers = np.array([0, *range(7, 2107, 7), 90_000])
    >>> even_cuts(Numbers(0, 100_000), numbers, np.array([200] + [1] * 301), 10)
    (1, 100, 500, 800, 1000, 1500, 1800)
    """
    withholding.check_min_count(min_count)
    order = np.argsort(numbers)
    numbers, people = numbers[order], people[order]
    total = int(people.sum())
    parts = min(EVEN, total // min_count)
    if parts < 2:
        return None
    sums, places = np.cumsum(people), np.arange(1, parts)
    ends = [numbers[np.searchsorted(sums, (places + shift) * total / parts)] for shift in (-0.5, 0, 0.5)]
    found = {
        _roundest(float(low), float(middle), float(high), domain.step)
        for low, middle, high in zip(*ends, strict=True)
        if low < high
    }
    for often in numbers[people >= total / parts].tolist():
        found |= {often, often + domain.step}
    codes = domain.codes(np.array(sorted(found)))
    codes = np.unique(codes[(codes > 0) & (codes <= domain.steps)])
    of_numbers = domain.codes(numbers)
    while len(codes):
        sizes = np.bincount(np.searchsorted(codes, of_numbers, side="right"), people, len(codes) + 1)
        if sizes.min() >= min_count:
            return tuple(map(domain.value, codes.tolist()))
        place = int(sizes.argmin())  # the interval joins the smaller of its neighbors
        last, first = place == len(codes), place == 0
        codes = np.delete(codes, place - (last or (not first and sizes[place - 1] <= sizes[place + 1])))
    return None


def _roundest(low: float, middle: float, high: float, step: float) -> float:
    """Return the number with the fewest digits above `low` and up to `high`; of several, the nearest to `middle`."""
    least, center, most, apart = (Decimal(repr(each)) for each in (low, middle, high, float(step)))
    grain = round_number(most - least)
    while True:
        near = (center / grain).to_integral_value() * grain
        between = [each for each in (near, near - grain, near + grain) if least < each <= most]
        if between or grain <= apart:
            return float(between[0] if between else most)
        grain = round_number(grain / Decimal("2.5"))  # the next smaller of 1, 2, 5, 10, ...


def _listed(domain: Domain, cuts: Sequence[float]) -> tuple[float, ...]:
    if not all(map(expect.is_number, cuts)):
        raise UsageError(f"`cuts` must be a number above 0 or a list of increasing numbers; got {list(cuts)}.")
    if outside := [cut for cut in cuts if not domain.low <= cut <= domain.high]:
        raise UsageError(
            f"`cuts` must be numbers of their domain, {domain}; {outside[:3]} lie outside. Remove these cuts."
        )
    if any(after <= before for before, after in pairwise(cuts)):
        raise UsageError(
            f"`cuts` must increase, because each begins a public interval; got {list(cuts)}. Sort the cuts and remove "
            "repeats."
        )
    _refuse_off_step(domain, cuts)
    return tuple(domain.value(code) for code in domain.codes(cuts).tolist() if code)


def _refuse_off_step(domain: Domain, found: Sequence[float]) -> None:
    steps = [(point - domain.low) / domain.step for point in found]
    if off := [point for point, step in zip(found, steps, strict=True) if abs(step - round(step)) > STEP]:
        raise UsageError(
            f"`cuts` must be numbers of their domain, {domain}; {off[:3]} lie between two steps. Move the cuts to a "
            "step."
        )
