"""Where the public intervals of a domain of numbers begin: as its owner says, or else at round numbers."""

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

MOST = 10_000  # intervals of a domain
EVEN = 10  # intervals that hold about the same number of people


class Domain(Protocol):
    """A domain of numbers, see `schema.Numbers`."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def step(self) -> float: ...
    @property
    def steps(self) -> int: ...
    def value(self, code: int, /) -> Any: ...
    def codes(self, values: Any, /) -> IntArray: ...


def round_number(least: Decimal) -> Decimal:
    """The smallest of 1, 2, 5, 10, 20, 50, ... and their tenths that is at least `least`: a Decimal, as `least` is."""
    power = Decimal(10) ** least.adjusted()
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


def plain(number: Decimal) -> float:
    """A Decimal as an int where it is whole, else as a float."""
    return int(number) if number == number.to_integral_value() else float(number)


def grain(domain: Domain) -> float:
    """The round number that parts a domain into ten to twenty intervals, fewer where each would be of a single value:
    those would hide nobody.
    """
    low, high, step = (Decimal(str(number)) for number in (domain.low, domain.high, domain.step))
    return plain(round_number(max((high - low) / 20, 2 * step)))


def points(domain: Domain, cuts: float | Sequence[float] | None) -> tuple[float, ...]:
    """The numbers of a domain at which public intervals begin, rising; that one begins at its low is understood.

    `cuts`: rising numbers of the domain, or the width of all intervals, counted from 0; None for a width of `grain`.
    Where a width would leave the lowest or the highest value in an interval of its own, it joins its neighbour: an end
    there would be the value of whoever has it. Raises ValueError for anything else.
    """
    if isinstance(cuts, tuple | list):
        return _listed(domain, cuts)
    width = grain(domain) if cuts is None else cuts
    if not expect.is_number(width) or width <= 0:
        raise UsageError(f"cuts are one number above 0 or a list of rising numbers, got {width!r}.")
    first, last = math.floor(domain.low / width) + 1, math.floor(domain.high / width + ROUNDING)
    if last - first >= MOST:
        raise UsageError(
            f"cuts = {width:g} part {domain} into more than {MOST:,} intervals. Give a greater width: in a narrow "
            "interval few people hide."
        )
    found = [number * width for number in range(first, last + 1)]
    if cuts is not None:
        _refuse_off_step(domain, found or [first * width])
    # Where no whole number of steps leads to a round number, an interval begins with the first value above it.
    codes = [math.ceil((point - domain.low) / domain.step - STEP) for point in found]
    return tuple(domain.value(code) for code in dict.fromkeys(codes) if 1 < code < domain.codes(domain.high))


def every_other(cuts: tuple[float, ...]) -> tuple[float, ...]:
    """Every other one of rising cuts; of those of one width the rounder ones.

    >>> every_other((20, 25, 30, 35, 40)), every_other((15, 20, 25)), every_other((65,))
    ((20, 30, 40), (20,), ())
    """
    return cuts[round(cuts[0] / (cuts[1] - cuts[0])) % 2 :: 2] if len(cuts) > 1 else ()


def even(domain: Domain, numbers: FloatArray, people: IntArray, fewest: int) -> tuple[float, ...] | None:
    """Return cuts that divide people about evenly, for a domain that a few large or small numbers stretch.

    Each cut is the roundest number near a quantile, or the begin or the end of a value that many people share. So no
    cut is the number of a single person, and each interval holds at least `fewest` people.

    Parameters
    ----------
    domain : Numbers
    numbers : float array (m,)
        Of the domain, each once.
    people : integer array (m,)
        How many people have each number.
    fewest : int

    Returns
    -------
    tuple of numbers, or None
        At most ten intervals and one more for each value that many people share; None for too few people.

    >>> from privnb.microdata.schema import Numbers
    >>> numbers = np.array([0, *range(7, 2107, 7), 90_000])
    >>> even(Numbers(0, 100_000), numbers, np.array([200] + [1] * 301), 10)
    (1, 100, 500, 800, 1000, 1500, 1800)
    """
    withholding.check(fewest)
    order = np.argsort(numbers)
    numbers, people = numbers[order], people[order]
    total = int(people.sum())
    parts = min(EVEN, total // fewest)
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
        if sizes.min() >= fewest:
            return tuple(map(domain.value, codes.tolist()))
        place = int(sizes.argmin())  # joins the smaller of its neighbours
        last, first = place == len(codes), place == 0
        codes = np.delete(codes, place - (last or (not first and sizes[place - 1] <= sizes[place + 1])))
    return None


def _roundest(low: float, middle: float, high: float, step: float) -> float:
    """The number above `low` and up to `high` that has the fewest digits; of several the nearest to `middle`."""
    least, centre, most, apart = (Decimal(repr(each)) for each in (low, middle, high, float(step)))
    grain = round_number(most - least)
    while True:
        near = (centre / grain).to_integral_value() * grain
        between = [each for each in (near, near - grain, near + grain) if least < each <= most]
        if between or grain <= apart:
            return float(between[0] if between else most)
        grain = round_number(grain / Decimal("2.5"))  # the next smaller one of 1, 2, 5, 10, ...


def _listed(domain: Domain, cuts: Sequence[float]) -> tuple[float, ...]:
    if not all(map(expect.is_number, cuts)):
        raise UsageError(f"cuts are one number above 0 or a list of rising numbers, got {list(cuts)}.")
    if outside := [cut for cut in cuts if not domain.low <= cut <= domain.high]:
        raise UsageError(f"cuts are numbers of their domain, {domain}; {outside[:3]} lie outside. Leave them out.")
    if any(after <= before for before, after in pairwise(cuts)):
        raise UsageError(f"cuts rise, as each begins a public interval; got {list(cuts)}. Sort them, each once.")
    _refuse_off_step(domain, cuts)
    return tuple(domain.value(code) for code in domain.codes(cuts).tolist() if code)


def _refuse_off_step(domain: Domain, found: Sequence[float]) -> None:
    steps = [(point - domain.low) / domain.step for point in found]
    if off := [point for point, step in zip(found, steps, strict=True) if abs(step - round(step)) > STEP]:
        raise UsageError(
            f"cuts are numbers of their domain, {domain}; {off[:3]} lie between two steps. Move them to a step."
        )
