"""Where the public intervals of a domain of numbers begin: as its owner says, or else at round numbers."""

import math
from decimal import Decimal
from itertools import pairwise
from numbers import Real

MOST = 10_000  # intervals of a domain


def round_number(least):
    """The smallest of 1, 2, 5, 10, 20, 50, ... and their tenths that is at least `least`: a Decimal, as `least` is."""
    power = Decimal(10) ** least.adjusted()
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


def plain(number):
    """A Decimal as an int where it is whole, else as a float."""
    return int(number) if number == number.to_integral_value() else float(number)


def grain(domain):
    """The round number that parts a domain into ten to twenty intervals, fewer where each would be of a single value:
    those would hide nobody.
    """
    low, high, step = (Decimal(str(number)) for number in (domain.low, domain.high, domain.step))
    return plain(round_number(max((high - low) / 20, 2 * step)))


def points(domain, cuts):
    """The numbers of a domain at which public intervals begin, rising; that one begins at its low is understood.

    `cuts`: rising numbers of the domain, or the width of all intervals, counted from 0; None for a width of `grain`.
    Where a width would leave the lowest or the highest value in an interval of its own, it joins its neighbour: an end
    there would be the value of whoever has it. Raises ValueError for anything else.
    """
    if isinstance(cuts, tuple | list):
        return _listed(domain, cuts)
    width = grain(domain) if cuts is None else cuts
    if not _is_number(width) or width <= 0:
        raise ValueError(f"cuts are one number above 0 or a list of rising numbers, got {width!r}.")
    first, last = math.floor(domain.low / width) + 1, math.floor(domain.high / width + 1e-9)
    if last - first >= MOST:
        raise ValueError(
            f"cuts = {width:g} part {domain} into more than {MOST:,} intervals. Give a greater width: in a narrow "
            "interval few people hide."
        )
    found = [number * width for number in range(first, last + 1)]
    if cuts is not None:
        _refuse_off_step(domain, found or [first * width])
    # Where no whole number of steps leads to a round number, an interval begins with the first value above it.
    codes = [math.ceil((point - domain.low) / domain.step - 1e-6) for point in found]
    return tuple(domain.value(code) for code in dict.fromkeys(codes) if 1 < code < domain.codes(domain.high))


def every_other(cuts):
    """Every other one of rising cuts; of those of one width the rounder ones.

    >>> every_other((20, 25, 30, 35, 40)), every_other((15, 20, 25)), every_other((65,))
    ((20, 30, 40), (20,), ())
    """
    return cuts[round(cuts[0] / (cuts[1] - cuts[0])) % 2 :: 2] if len(cuts) > 1 else ()


def _listed(domain, cuts):
    if not all(map(_is_number, cuts)):
        raise ValueError(f"cuts are one number above 0 or a list of rising numbers, got {list(cuts)}.")
    outside = [cut for cut in cuts if not domain.low <= cut <= domain.high]
    if outside:
        raise ValueError(f"cuts are numbers of their domain, {domain}; {outside[:3]} lie outside. Leave them out.")
    if any(after <= before for before, after in pairwise(cuts)):
        raise ValueError(f"cuts rise, as each begins a public interval; got {list(cuts)}. Sort them, each once.")
    _refuse_off_step(domain, cuts)
    return tuple(domain.value(code) for code in domain.codes(cuts).tolist() if code)


def _refuse_off_step(domain, found):
    steps = [(point - domain.low) / domain.step for point in found]
    off = [point for point, step in zip(found, steps, strict=True) if abs(step - round(step)) > 1e-6]
    if off:
        raise ValueError(
            f"cuts are numbers of their domain, {domain}; {off[:3]} lie between two steps. Move them to a step."
        )


def _is_number(cut):
    return isinstance(cut, Real) and not isinstance(cut, bool) and math.isfinite(cut)
