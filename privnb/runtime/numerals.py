"""Numbers and dates as texts for people; only this module decides how many digits a number has.

The format of a number states the unit, as in "{:%} of people". In the format, `%` means a share, `,` means a count, and
`g` means any other number; with `+`, the sign is always shown. Digits in a format are ignored. The functions write
English; `localize` turns a text that they have written into a text of another language.
"""

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from privnb.runtime.tolerances import EXACT, nearly_equal

FORMAT = re.compile(r"(.*?)\{:(\+?)[^}]*?([%,g]?)[^%,g}]*\}(.*)", re.DOTALL)
MIN_COUNT = 10  # the threshold rule: a count of fewer people is not shown, unless a reader asks for another limit
MINUS = "\N{MINUS SIGN}"  # the sign that charts use
LEAST, SMALL = 0.01, 1e-4  # smaller percentages, and smaller other numbers, are written as "below ..."


def write_number(format: str, value: float, *ends: float) -> str:
    """Return a number with its unit; if the `ends` of an interval are given, the interval determines the digits.

    A share has two significant digits; it is written as 0% or 100% only if it is exactly 0 or 1. A count is written in
    full.

    >>> [write_number("{:%} of people", share) for share in (0.52514, 0.0886, 1, 0.9996, 1 / 45222)]
    ['53% of people', '8.9% of people', '100% of people', '99.96% of people', '1 in 45,000 people']
    >>> write_number("{:,} people", 45222.0), write_number("{:,} records", 9.5), write_number("{:g} nats", 0.002177)
    ('45,222 people', '9.5 records', '0.00218 nats')
    >>> write_number("{:,} people", 1), write_number("{:.2f} times", 1.004)
    ('1 person', '1 time')
    >>> write_number("{:g} standard deviations of the column", 1)
    '1 standard deviation of the column'
    >>> write_number("{:+%}", 0.123), [write_number("{:g}", value) for value in (24770.4, 3e-7, math.inf)]
    ('+12%', ['24,770', 'below 0.0001', 'unbounded'])
    """
    if "{" not in format:  # the format states the number in words
        return format
    before, _, _, after = split_format(format)
    number = write_interval(format, value, *ends)[0] if ends else write_without_unit(format, value)
    if math.isinf(value):
        return number
    if number.startswith("1 in ") and not after.startswith(" of the "):
        after = after.replace(" of ", " ", 1)
    return f"{before}{number}{_one(after) if number == '1' else after}"


def _one(unit: str) -> str:
    """Return the singular of a unit."""
    what, of, rest = unit.partition(" of ")
    what = f"{what.removesuffix('people')}person" if what.endswith("people") else re.sub("(?<!s)s$", "", what)
    return what + of + rest


def write_without_unit(format: str, value: float, decimals: int | None = None) -> str:
    """Return a number without its unit, with `decimals` decimal places if this argument is given.

    The argument serves numbers that are shown next to each other with the same number of decimal places.

    >>> write_without_unit("{:,} people", 1234), write_without_unit("{:%} of people", 0.0885, 2)
    ('1,234', '8.85%')
    """
    if math.isinf(value):
        return "unbounded"
    _, sign, kind, _ = split_format(format)
    number = _rounded(100 * value if kind == "%" else value)
    own, percent = _decimals(kind, number), "%" if kind == "%" else ""
    if number == 0 or (kind == "%" and abs(number) == 100):
        return f"{number or 0.0:{sign if number else ''}.0f}{percent}".replace("-", MINUS)
    if tiny := _tiny(kind, number, sign, decimals):
        return tiny
    if kind == "%" and decimals is not None and round(number, decimals) in (0, 100, -100):
        decimals = own
    text = f"{number:{sign},.{own if decimals is None else decimals}f}"
    if kind == "g" and decimals is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text}{percent}".replace("-", MINUS)


def write_percent(share: float) -> str:
    """Return a share as a percentage, without a unit.

    >>> write_percent(0.52514), write_percent(-0.0)
    ('53%', '0%')
    """
    return write_without_unit("{:%}", share)


def write_share(value: float, low: float, high: float) -> str:
    """Return a share and, if there is one, its 95% interval; for a withheld share (NaN), return the upper bound.

    >>> write_share(0.0886, 0.0841, 0.0932), write_share(0.5, 0.5, 0.5), write_share(math.nan, math.nan, 0.2)
    ('8.9% (95% CI 8.4–9.3%)', '50%', 'at most 20%')
    """
    if math.isnan(value):
        return f"at most {write_percent(high)}"
    if nearly_equal(low, high):
        return write_percent(value)
    return f"{write_interval('{:%}', value, low, high)[0]} ({write_confidence('{:%}', value, low, high)})"


def write_confidence(format: str, value: float, low: float, high: float) -> str:
    """Return the 95% confidence interval of a number as a text without the unit.

    >>> write_confidence("{:%} of people", 0.0886, 0.0841, 0.0932), write_confidence("{:%}", -0.026, -0.032, -0.021)
    ('95% CI 8.4–9.3%', '95% CI −3.2% to −2.1%')
    """
    return f"95% CI {write_range(*write_interval(format, value, low, high)[1:])}"


def write_range(low: str, high: str) -> str:
    """Return the texts of two numbers as a range.

    >>> write_range("8.4%", "9.3%"), write_range("1,200", "1,260"), write_range("below 0.01%", "0.21%")
    ('8.4–9.3%', '1,200–1,260', 'below 0.01% to 0.21%')
    """
    if not (low[:1].isdigit() and high[:1].isdigit() and low.endswith("%") == high.endswith("%")):
        return f"{low} to {high}"
    return f"{low.removesuffix('%')}–{high}"


def write_interval(format: str, value: float, low: float, high: float) -> tuple[str, str, str]:
    """Return a number and the ends of its interval as texts without units, with the same number of decimal places.

    The number of decimal places is large enough to distinguish the ends. An upper end that is several times the number
    has no more decimal places than necessary.

    >>> write_interval("{:%} of people", 0.0886, 0.0841, 0.0932), write_interval("{:%}", 0.54765, 0.54706, 0.54822)
    (('8.9%', '8.4%', '9.3%'), ('54.8%', '54.7%', '54.8%'))
    >>> write_interval("{:%}", 0, -0.0062, 0.0062), write_interval("{:%}", 3e-5, 5e-6, 0.0021)
    (('0%', '−0.62%', '0.62%'), ('below 0.01%', 'below 0.01%', '0.21%'))
    >>> write_interval("{:%}", 0.00063, 0.00013, 0.00308)
    ('0.063%', '0.013%', '0.31%')
    """
    _, sign, kind, _ = split_format(format)
    if not all(map(math.isfinite, (value, low, high))):
        return write_without_unit(format, value), write_without_unit(format, low), write_without_unit(format, high)
    times = 100 if kind == "%" else 1
    # A number that is 0 or nearly 0 has no digits to show, so that the ends determine their number.
    first = max(abs(low), abs(high)) if not value or _tiny(kind, times * value, sign, 0) else value
    decimals = _decimals(kind, _rounded(times * first))
    for more in range(decimals, decimals + 4):
        high_too = min(more, _decimals(kind, _rounded(times * high))) if high > 3 * abs(value) > 0 else more
        texts = (
            write_without_unit(format, value, more),
            write_without_unit(format, low, more),
            write_without_unit(format, high, high_too),
        )
        if texts[1] != texts[2] or low == high:
            break
    return texts


def write_estimate(format: str, value: float, low: float, high: float) -> str:
    """Return a number without its unit, followed by its interval if there is one.

    >>> write_estimate("{:%} of people", 0.0886, 0.0841, 0.0932)
    '8.9% (8.4–9.3%)'
    >>> write_estimate("{:,} people", 1234, math.nan, math.nan)
    '1,234'
    """
    if not low < high:
        return write_without_unit(format, value)
    number, *ends = write_interval(format, value, low, high)
    return f"{number} ({write_range(*ends)})"


def write_bounds(format: str, low: float, high: float) -> tuple[str, str]:
    """Return the lower bound of a number, rounded down, and the upper bound, rounded up, as texts.

    >>> write_bounds("{:%} of people", 0.9787, 0.9987)
    ('97%', '99.9% of people')
    """
    if not all(map(math.isfinite, (low, high))):
        return write_without_unit(format, low), write_number(format, high)
    _, _, kind, _ = split_format(format)
    scale = 100 if kind == "%" else 1
    steps = [10 ** _decimals(kind, _rounded(scale * each)) for each in (low, high)]
    low = math.floor(_rounded(scale * low * steps[0])) / steps[0] / scale
    high = math.ceil(_rounded(scale * high * steps[1])) / steps[1] / scale
    return write_without_unit(format, low), write_number(format, high)


def split_format(format: str) -> tuple[str, str, str, str]:
    """Return the text before the number, the sign, the kind ("%", "," or "g"), and the unit after the number."""
    match = FORMAT.fullmatch(format)
    assert match, format
    before, sign, kind, after = match.groups()
    return before, sign, kind or "g", after


def _tiny(kind: str, number: float, sign: str, decimals: int | None) -> str:
    """Return the text of a number that is nearly 0 or nearly 100%; "" for any other number."""
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
        decimals -= 1  # 5% is exact, and 5.0% is rounded
    while kind == "%" and decimals < 12 and abs(round(number, decimals)) == 100 != abs(number):
        decimals += 1
    return decimals


def _digits(number: float, significant: int) -> int:
    """Return the number of decimal places with which `number` has `significant` significant digits."""
    if number == 0:
        return 0
    return max(0, significant - 1 - int(f"{number:.{significant - 1}e}".partition("e")[2]))


def _rounded(number: float) -> float:
    """Return a number rounded to 12 significant digits, as in results; this removes the rounding errors of sums."""
    return float(f"{number:.12g}")


def _two_digits(number: float) -> int:
    number = round(number)
    return round(number, 1 - math.floor(math.log10(number)))


@dataclass(frozen=True)
class Locale:
    """The manner in which a language writes numbers and dates.

    Parameters
    ----------
    decimal, thousands, percent : str
        The decimal separator, the separator of thousands, and the percent sign with the space before it.
    date : str
        The format of a date; see `datetime.date.strftime`.
    words : dict of str to str
        The words next to numbers, by the English words.
    """

    decimal: str = "."
    thousands: str = ","
    percent: str = "%"
    date: str = "%Y-%m-%d"
    words: Mapping[str, str] = field(default_factory=dict)


NO_BREAK, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
LOCALES = {
    "en": Locale(),
    "de": Locale(
        decimal=",",
        thousands=".",
        percent=f"{NO_BREAK}%",
        date="%d.%m.%Y",
        words={
            "95% CI": "95-%-Konfidenzintervall", "at most": "höchstens", "below": "unter", "above": "über",
            "all but fewer than": "alle bis auf weniger als", "fewer than": "weniger als", "more than": "mehr als",
            "between": "zwischen", "and": "und", "and {} more": "und {} weitere",
            "to": "bis", "in": "von", "withheld": "zurückgehalten",
            "unbounded": "unbegrenzt", "nobody": "niemand", "people": "Personen", "person": "Person",
            "of people": "der Personen", "more people": "mehr Personen", "records": "Datensätze", "record": "Datensatz",
            "of records": "der Datensätze", "of groups": "der Gruppen", "groups": "Gruppen",
            "of the domain": "des Wertebereichs", "nats": "Nat", "nat": "Nat", "times": "Mal", "time": "Mal",
        },
    ),
    "fr": Locale(
        decimal=",",
        thousands=NARROW,
        percent=f"{NO_BREAK}%",
        date="%d/%m/%Y",
        words={
            "95% CI": "IC à 95%", "at most": "au plus", "below": "moins de", "above": "plus de",
            "all but fewer than": "toutes sauf moins de", "fewer than": "moins de", "more than": "plus de",
            "between": "entre", "and": "et", "and {} more": "et {} de plus",
            "to": "à", "in": "sur", "withheld": "masqué", "unbounded": "illimité",
            "nobody": "personne", "people": "personnes", "person": "personne", "of people": "des personnes",
            "more people": "personnes de plus", "records": "enregistrements", "record": "enregistrement",
            "of records": "des enregistrements", "of groups": "des groupes", "groups": "groupes",
            "of the domain": "du domaine", "nats": "nats", "nat": "nat", "times": "fois", "time": "fois",
        },
    ),
}  # fmt: skip


def localize(text: str, language: str) -> str:
    """Return a text that this module has written as the text of another language; it must not contain names.

    Parameters
    ----------
    text : str
    language : str
        A key of `LOCALES`.

    Examples
    --------
    >>> localize("8.9% of people (95% CI 8.4–9.3%)", "de").replace(NO_BREAK, "_")
    '8,9_% der Personen (95-%-Konfidenzintervall 8,4–9,3_%)'
    >>> localize("1 in 45,000 people", "de"), localize("fewer than 10 people", "fr")
    ('1 von 45.000 Personen', 'moins de 10 personnes')
    """
    locale = LOCALES[language]
    if not locale.words:
        return text
    words = "|".join(map(re.escape, sorted(locale.words, key=len, reverse=True)))
    text = re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda match: locale.words[match.group()], text)
    separators = {".": locale.decimal, ",": locale.thousands}
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d)\.(?=\d)", lambda match: separators[match.group()], text)
    return re.sub(r"(?<=\d)%", locale.percent, text)


def localize_date(day: str, language: str) -> str:
    """Return a day in the ISO format as a date of a language; return any other text unchanged.

    >>> [localize_date("2026-11-30", language) for language in LOCALES], localize_date("later", "de")
    (['2026-11-30', '30.11.2026', '30/11/2026'], 'later')
    """
    try:
        return datetime.date.fromisoformat(day).strftime(LOCALES[language].date)
    except ValueError:
        return day
