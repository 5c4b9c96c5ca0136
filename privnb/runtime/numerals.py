"""Numbers as people read them: here alone is decided with how many digits.

What a number is of is its format, a text such as "{:%} of people": `%` is a share, `,` a count, `g` any other number;
a `+` shows the sign. Digits in it are not read.
"""

import math
import re

from privnb.runtime.tolerances import EXACT, nearly_equal

FORMAT = re.compile(r"(.*?)\{:(\+?)[^}]*?([%,g]?)[^%,g}]*\}(.*)", re.DOTALL)
MINUS = "\N{MINUS SIGN}"  # as charts have it
LEAST, SMALL = 0.01, 1e-4  # the smallest per cent and other number that are written as such


def written(format: str, value: float, *ends: float) -> str:
    """A number with its unit; beside the `ends` of its interval in their digits.

    A share has two significant digits; it is 0% or 100% only if it is exactly that. A count stands in full.

    >>> [written("{:%} of people", share) for share in (0.52514, 0.0886, 1, 0.9996, 1 / 45222)]
    ['53% of people', '8.9% of people', '100% of people', '99.96% of people', '1 in 45,000 people']
    >>> written("{:,} people", 45222.0), written("{:,} records", 9.5), written("{:g} nats", 0.002177)
    ('45,222 people', '9.5 records', '0.00218 nats')
    >>> written("{:,} people", 1), written("{:g} standard deviations of the column", 1), written("{:.2f} times", 1.004)
    ('1 person', '1 standard deviation of the column', '1 time')
    >>> written("{:+%}", 0.123), written("{:g}", 24770.4), written("{:g}", 3e-7), written("{:g}", math.inf)
    ('+12%', '24,770', 'below 0.0001', 'unbounded')
    """
    if "{" not in format:  # it says the number in words
        return format
    before, _, _, after = parts(format)
    number = interval(format, value, *ends)[0] if ends else bare(format, value)
    if math.isinf(value):
        return number
    if number.startswith("1 in ") and not after.startswith(" of the "):
        after = after.replace(" of ", " ", 1)
    return f"{before}{number}{_one(after) if number == '1' else after}"


def _one(unit: str) -> str:
    """A unit of 1."""
    what, of, rest = unit.partition(" of ")
    what = f"{what.removesuffix('people')}person" if what.endswith("people") else re.sub("(?<!s)s$", "", what)
    return what + of + rest


def bare(format: str, value: float, decimals: int | None = None) -> str:
    """A number without its unit; `decimals`: as many as another number that it stands beside.

    >>> bare("{:,} people", 1234), bare("{:%} of people", 0.0885, 2)
    ('1,234', '8.85%')
    """
    if math.isinf(value):
        return "unbounded"
    _, sign, kind, _ = parts(format)
    number = _rounded(100 * value if kind == "%" else value)
    own, percent = _decimals(kind, number), "%" if kind == "%" else ""
    if number == 0 or (kind == "%" and abs(number) == 100):
        return f"{number:{sign if number else ''}.0f}{percent}".replace("-", MINUS)
    if tiny := _tiny(kind, number, sign, decimals):
        return tiny
    if kind == "%" and decimals is not None and round(number, decimals) in (0, 100, -100):
        decimals = own
    text = f"{number:{sign},.{own if decimals is None else decimals}f}"
    if kind == "g" and decimals is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text}{percent}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share as people read it, without a unit.

    >>> percent(0.52514)
    '53%'
    """
    return bare("{:%}", share)


def share(value: float, low: float, high: float) -> str:
    """A share with its 95% interval, equal ends where it is exact; a withheld one, NaN, by its upper bound.

    >>> share(0.0886, 0.0841, 0.0932), share(0.5, 0.5, 0.5), share(math.nan, math.nan, 0.2)
    ('8.9% (95%: 8.4% to 9.3%)', '50%', 'at most 20%')
    """
    if math.isnan(value):
        return f"at most {percent(high)}"
    if nearly_equal(low, high):
        return percent(value)
    number, *ends = interval("{:%}", value, low, high)
    return f"{number} (95%: {' to '.join(ends)})"


def interval(format: str, value: float, low: float, high: float) -> tuple[str, str, str]:
    """A number and the ends of its interval, bare and in the same digits, of which there are enough to tell the ends
    apart; a high end of several times the number has no more of them than it needs: three texts.

    >>> interval("{:%} of people", 0.0886, 0.0841, 0.0932), interval("{:%}", 0.54765, 0.54706, 0.54822)
    (('8.9%', '8.4%', '9.3%'), ('54.8%', '54.7%', '54.8%'))
    >>> interval("{:%}", 0, -0.0062, 0.0062), interval("{:%}", 3e-5, 5e-6, 0.0021)
    (('0%', '−0.62%', '0.62%'), ('below 0.01%', 'below 0.01%', '0.21%'))
    >>> interval("{:%}", 0.00063, 0.00013, 0.00308)
    ('0.063%', '0.013%', '0.31%')
    """
    _, sign, kind, _ = parts(format)
    if not all(map(math.isfinite, (value, low, high))):
        return bare(format, value), bare(format, low), bare(format, high)
    times = 100 if kind == "%" else 1
    # Of 0, and of what is written as nearly that, no digits are shown.
    first = max(abs(low), abs(high)) if not value or _tiny(kind, times * value, sign, 0) else value
    decimals = _decimals(kind, _rounded(times * first))
    for more in range(decimals, decimals + 4):
        high_too = min(more, _decimals(kind, _rounded(times * high))) if high > 3 * abs(value) > 0 else more
        texts = bare(format, value, more), bare(format, low, more), bare(format, high, high_too)
        if texts[1] != texts[2] or low == high:
            break
    return texts


def ranged(format: str, value: float, low: float, high: float) -> str:
    """A number without its unit, and behind it its interval where it has one.

    >>> ranged("{:%} of people", 0.0886, 0.0841, 0.0932), ranged("{:,} people", 1234, math.nan, math.nan)
    ('8.9% (8.4% to 9.3%)', '1,234')
    """
    if not low < high:
        return bare(format, value)
    number, *ends = interval(format, value, low, high)
    return f"{number} ({' to '.join(ends)})"


def bounds(format: str, low: float, high: float) -> tuple[str, str]:
    """Two numbers that another one lies between, the first rounded down and the second up: texts.

    >>> bounds("{:%} of people", 0.9787, 0.9987)
    ('97%', '99.9% of people')
    """
    if not all(map(math.isfinite, (low, high))):
        return bare(format, low), written(format, high)
    _, _, kind, _ = parts(format)
    scale = 100 if kind == "%" else 1
    steps = [10 ** _decimals(kind, _rounded(scale * each)) for each in (low, high)]
    low = math.floor(_rounded(scale * low * steps[0])) / steps[0] / scale
    high = math.ceil(_rounded(scale * high * steps[1])) / steps[1] / scale
    return bare(format, low), written(format, high)


def parts(format: str) -> tuple[str, str, str, str]:
    """What stands before the number, its sign, its kind ("%", "," or "g") and what stands behind it, its unit."""
    match = FORMAT.fullmatch(format)
    assert match, format
    before, sign, kind, after = match.groups()
    return before, sign, kind or "g", after


def _tiny(kind: str, number: float, sign: str, decimals: int | None) -> str:
    """What is said instead of digits of a number that is nearly 0, or nearly 100 per cent; "" of all others."""
    if kind == "%" and 0 < number < LEAST and not sign:
        return f"below {LEAST}%" if decimals is not None else f"1 in {_two_digits(100 / number):,}"
    if kind == "%" and 100 - LEAST < number < 100:
        return f"above {100 - LEAST}%"
    if kind == "g" and abs(number) < SMALL:
        return f"below {SMALL}" if number > 0 else f"above {MINUS}{SMALL}"
    return ""


def _decimals(kind: str, number: float) -> int:
    if kind == ",":
        return 0 if number == round(number) or abs(number) >= 10 else max(1, _digits(number, 1))
    decimals = _digits(number, 2 if kind == "%" else 3)
    while kind == "%" and decimals and abs(round(number, decimals - 1) - number) < EXACT:
        decimals -= 1  # 5% is exactly that, 5.0% nearly
    while kind == "%" and decimals < 12 and abs(round(number, decimals)) == 100 != abs(number):
        decimals += 1
    return decimals


def _digits(number: float, significant: int) -> int:
    """How many decimals show so many significant digits."""
    if number == 0:
        return 0
    return max(0, significant - 1 - int(f"{number:.{significant - 1}e}".partition("e")[2]))


def _rounded(number: float) -> float:
    """A number less what is only the rounding of sums: with as many digits as results are written with."""
    return float(f"{number:.12g}")


def _two_digits(number: float) -> int:
    number = round(number)
    return round(number, 1 - math.floor(math.log10(number)))
