"""Functions that build hierarchies of numbers (by widths or cut points), dates, times, codes and listed values.

Each function takes an attribute of a schema and returns a `Taxonomy` over the values of its public domain. `levels()`
shows the tree, and `write("data/<name>/hierarchies/default/<attribute>.csv")` saves it in ARX's layout. If a function
cannot group the values of the attribute, or if some values have no place in the tree, the function raises a SchemaError
that states what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from privnb.microdata.hierarchy.categories import Taxonomy, list_values
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, to_text
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import STEP

CLOCK = re.compile(r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z| ?[+-]\d{2}:?\d{2})?$")  # the time after a day
TIME = re.compile(
    r"(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?: ?([AaPp])\.?[Mm]\.?)?$"
)  # a time of the day or a duration
QUARTERS = {
    "Q1": "01",
    "Q2": "04",
    "Q3": "07",
    "Q4": "10",
}  # the first month of each quarter, because strptime cannot read quarters
BRITISH = re.compile(r"(([A-Za-z]{1,2})\d[A-Za-z\d]?) ?\d[A-Za-z]{2}")


class Time(NamedTuple):
    """A time of the day or a duration.

    >>> Time.of("1:45 PM"), Time.of("33:07:05.5")
    (Time(hours=13, minutes=45, seconds=0.0), Time(hours=33, minutes=7, seconds=5.5))
    """

    hours: int
    minutes: int
    seconds: float

    @classmethod
    def of(cls, value: str) -> Time:
        """Return the time that a text contains; the regular expression `TIME` must match the text."""
        match = TIME.match(value)
        if match is None:
            raise UsageError(f"`value` must be a time such as 13:45; got {value!r}.")
        hour, minutes, seconds, half = match.groups()
        hours = int(hour) if half is None else int(hour) % 12 + 12 * (half in "pP")
        return cls(hours, int(minutes), float(seconds or 0))


def widths(attribute: Attribute, widths: Sequence[float], origin: float = 0) -> Taxonomy:
    """Group numbers into intervals of several `widths`, each of which is a multiple of the width before it.

    The intervals of a width begin at `origin` plus each multiple of the width. Intervals may extend past the domain: if
    ages begin at 17, the first interval is 15-19.

    Parameters
    ----------
    attribute : Attribute
    widths : list of numbers
        The increasing widths of the intervals, in the unit of the attribute.
    origin : float
        A number at which an interval of every width begins; it must be a whole number of steps away from the low end of
        the domain.

    Returns
    -------
    Taxonomy

    Raises
    ------
    SchemaError
        If a width is not a multiple of the width before it, so that the intervals cannot form a tree; see `Intervals`
        for such widths.

    >>> from privnb.microdata.schema import Attribute, Role
    >>> widths(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99)), (5, 10, 20)).levels()
       level  groups  largest                    examples
    0      0      83        1             17, 18, 19, ...
    1      1      17        5    15-19, 20-24, 25-29, ...
    2      2       9       10    10-19, 20-29, 30-39, ...
    3      3       5       20      0-19, 20-39, 40-59, ...
    4      4       1       83                           *
    """
    domain, widths = _domain(attribute, Numbers), tuple(expect.numbers("widths", widths))
    expect.number("origin", origin)
    steps = [step for width in widths if (step := _steps(width, domain)) is not None]
    if len(steps) < len(widths) or not steps or steps[0] < 2 or any(b % a or b == a for a, b in pairwise(steps)):
        raise SchemaError(
            f"'{attribute.name}': widths must be multiples of the step of {domain}, of at least 2 steps, each a "
            f"multiple of the one before; got {widths}. Remove the widths that do not nest, or state all widths in the "
            "study's recoding."
        )
    begin = _steps(origin - domain.low, domain)
    if begin is None or abs(begin) >= 2**53:
        raise SchemaError(
            f"'{attribute.name}': the origin {origin} must be a whole number of steps away from {domain}."
        )
    codes = np.arange(domain.steps + 1)
    starts = [(codes - begin) // step * step + begin for step in steps]
    return _numbered(attribute, [(start, start + step - 1) for start, step in zip(starts, steps, strict=True)])


def cuts(attribute: Attribute, *levels: Sequence[Sequence[float]]) -> Taxonomy:
    """Group numbers into the intervals between public cut points.

    Parameters
    ----------
    attribute : Attribute
    levels : list of numbers, any number of them
        For each level, the increasing points at which intervals begin; the points of a level must also be points of the
        level before it. The points should be public knowledge, such as the age limits of a law, because points that
        depend on the records disclose something about the records.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> cuts(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)), (6, 18, 40, 65), (18, 65)).levels()
       level  groups  largest                  examples
    0      0     100        1              0, 1, 2, ...
    1      1       5       35    0-5, 6-17, 18-39, ...
    2      2       3       47        0-17, 18-64, 65-99
    3      3       1      100                         *
    """
    domain, ends = _domain(attribute, Numbers), []
    for points in levels:
        expect.numbers("levels", points)
        codes = [_steps(point - domain.low, domain) for point in points]
        if None in codes or any(b <= a for a, b in pairwise([0, *codes, domain.steps + 1])):
            raise SchemaError(
                f"'{attribute.name}': the points {tuple(points)} of a level do not divide {domain}. Give increasing "
                "numbers of the domain, each the first of its interval."
            )
        starts = np.array([0, *codes])
        part = np.searchsorted(starts, np.arange(domain.steps + 1), side="right") - 1
        ends.append((starts[part], np.append(starts[1:], domain.steps + 1)[part] - 1))
    return _numbered(attribute, ends)


def dates(attribute: Attribute, apart: Collection[str] = (), form: str = "%Y-%m-%d") -> Taxonomy:
    """Group days by month, quarter, year and decade.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        Values of the domain that are not dates, such as the mark of a missing date. The label of such a value is the
        value itself at all levels below `*`.
    form : str
        The format of a day for `datetime.strptime`; by default, the ISO format, 2024-02-29. A time of the day may
        follow the day; if a time follows the day in every value, the lowest level above the leaves is the day. If the
        values are months (a format without %d), the lowest level above the leaves is the quarter. If the values are
        quarters, with the format %YQ%q, the lowest level above the leaves is the year. Some values may lack the day, or
        the day and the month; see `coarser_forms`. In that case, the labels of months and years begin with "in",
        because a text such as 1999 is also a value.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> days = Categories(("1999-12-31", "2000-01-01", "2000-01-02"))
    >>> dates(Attribute("born", Role.QUASI_IDENTIFIER, days)).levels()
       level  groups  largest                            examples
    0      0       3        1  1999-12-31, 2000-01-01, 2000-01-02
    1      1       2        2                    1999-12, 2000-01
    2      2       2        2                    1999-Q4, 2000-Q1
    3      3       2        2                          1999, 2000
    4      4       2        2                1990-1999, 2000-2009
    5      5       1        3                                   *
    """
    expect.text("form", form, "how days are written")

    @cache
    def form_of(value: str) -> str:
        return next((each for each in (form, *coarser_forms(form)) if read_day(value, each)), "")

    values = _without(attribute, apart, f"days like {date(2024, 2, 29):{form}}", form_of)
    with_times = all(CLOCK.search(value) for value in values)  # without times, a day must not also be a group
    within = "in " * any(form_of(value) != form for value in values)
    levels: list[tuple[str, Callable[[Any], str]]] = [
        *[("%d", date.isoformat)] * with_times,
        *[("%[mbB]", lambda day: f"{within}{day:%Y-%m}")] * ("%d" in form),
        *[("%[mbB]", lambda day: f"{day.year}-Q{(day.month + 2) // 3}")] * ("%q" not in form),
        ("%", lambda day: f"{within}{day.year}"),
        ("%", lambda day: f"{day.year // 10}0-{day.year // 10}9"),
    ]

    def label(value: str, part: str, of: Callable[[Any], str]) -> str:
        return (
            of(read_day(value, form_of(value))) if re.search(part, form_of(value)) else value
        )  # a year does not belong to one month

    return _shortened(attribute, values, [partial(label, part=part, of=of) for part, of in levels])


def coarser_forms(form: str) -> tuple[str, ...]:
    """Return the formats of months and years that may occur among values of `form`, a format of days or months.

    The result is empty for a format without a separator, because 200112 could be a month or a day.

    >>> coarser_forms("%Y-%m-%d"), coarser_forms("%b %d, %Y"), coarser_forms("%m/%Y"), coarser_forms("%Y%m%d")
    (('%Y-%m', '%Y'), ('%b %Y', '%Y'), ('%Y',), ())
    """
    if "%Y" not in form or "%q" in form or not re.search("[ ./-]", form):
        return ()
    month = re.sub(r"[ ./-]%d$|%d,?[ ./-]?", "", form)
    return tuple(each for each in (month, "%Y") if each != form)


def times(attribute: Attribute, apart: Collection[str] = ()) -> Taxonomy:
    """Group times, such as 13:45, 13:45:00 or 1:45 PM, by hour and by part of the day.

    The parts of the day are night, morning, afternoon and evening. Durations of up to 999 hours are grouped in the same
    way.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        See `dates`.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> times(Attribute("at", Role.QUASI_IDENTIFIER, Categories(("08:15", "13:45", "13:59")))).levels()
       level  groups  largest                  examples
    0      0       3        1       08:15, 13:45, 13:59
    1      1       2        2  08:00-08:59, 13:00-13:59
    2      2       2        2  06:00-11:59, 12:00-17:59
    3      3       1        3                         *
    """
    values = _without(attribute, apart, "times like 13:45", TIME.match)

    def between(value: str, hours: int) -> str:
        begin = Time.of(value).hours // hours * hours
        return f"{begin:02}:00-{begin + hours - 1:02}:59"

    return _shortened(attribute, values, [partial(between, hours=hours) for hours in (1, 6)])


def prefixes(attribute: Attribute, keep: Sequence[int] | None = None, apart: Collection[str] = ()) -> Taxonomy:
    """Group codes of one length, such as post codes, by their first characters: 53711, 5371*, 537**, ...

    Parameters
    ----------
    attribute : Attribute
    keep : list of int, optional
        The number of characters that stay visible at each level; the numbers must decrease. By default, each level
        shows one character less than the level below it, down to 1 character.
    apart : str or list of str
        Values of the domain that are not such codes. The label of such a value is the value itself at all levels below
        `*`.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> codes = Categories(("53711", "53712", "02139"))
    >>> prefixes(Attribute("zip", Role.QUASI_IDENTIFIER, codes), keep=(4, 2)).levels()
       level  groups  largest             examples
    0      0       3        1  53711, 53712, 02139
    1      1       2        2         5371*, 0213*
    2      2       2        2         53***, 02***
    3      3       1        3                    *
    """
    values = _without(attribute, apart)
    keep = keep if keep is None else expect.numbers("keep", keep)
    lengths = {len(value): value for value in values}
    if len(lengths) != 1:
        raise SchemaError(
            f"'{attribute.name}': codes must all have the same length; got {[*lengths.values()][:3]}. Fill the codes "
            "up to one length, list values that are not codes in `apart`, or group all values with `lists`."
        )
    length = len(values[0])
    keep = tuple(range(length - 1, 0, -1) if keep is None else keep)
    if not all(map(expect.is_whole, keep)) or any(fewer >= more for more, fewer in pairwise([length, *keep, 0])):
        raise SchemaError(
            f"'{attribute.name}': `keep` must be decreasing whole numbers, below {length} and at least 1; got {keep}."
        )

    def begin(value: str, characters: int) -> str:
        return value[:characters] + SUPPRESSED * (length - characters)

    return _shortened(attribute, values, [partial(begin, characters=number) for number in keep])


def beginnings(attribute: Attribute, apart: Collection[str] = ()) -> Taxonomy:
    """Group codes of several lengths by their first characters: 53711-1234, 53711*, 5371*, ...

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        See `prefixes`.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> beginnings(Attribute("zip", Role.QUASI_IDENTIFIER, Categories(("101", "1010", "2011")))).rows[:2]
    (('101', '101', '10*', '1*', '*'), ('1010', '101*', '10*', '1*', '*'))
    """
    values = _without(attribute, apart)
    shortest = min(map(len, values), default=0)
    levels = range(shortest, 0, -1)

    def begin(value: str, characters: int) -> str:
        return value if len(value) <= characters else value[:characters] + SUPPRESSED

    return _shortened(attribute, values, [partial(begin, characters=number) for number in levels])


def british(attribute: Attribute, apart: Collection[str] = ()) -> Taxonomy:
    """Group British post codes, such as SW1A 1AA, by district and area: SW1A ***, SW*.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        See `prefixes`.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> british(Attribute("post", Role.QUASI_IDENTIFIER, Categories(("SW1A 1AA", "M11AE")))).rows
    (('SW1A 1AA', 'SW1A ***', 'SW*', '*'), ('M11AE', 'M1 ***', 'M*', '*'))
    """
    values = _without(attribute, apart, "British post codes", BRITISH.fullmatch)
    return _shortened(attribute, values, [partial(BRITISH.sub, r"\1 ***"), partial(BRITISH.sub, r"\2*")])


def lists(attribute: Attribute, groups: Mapping[str, Any]) -> Taxonomy:
    """Group values according to a dictionary, which lists the values of each group.

    Parameters
    ----------
    attribute : Attribute
    groups : dict
        The values of each group, `{group: [value, ...]}`. A group may also contain groups, `{group: {group: [...]}}`,
        and groups may have different depths. Numbers may be given as a `range`.

    Returns
    -------
    Taxonomy

    >>> from privnb.microdata.schema import Attribute, Role
    >>> school = Attribute("school", Role.QUASI_IDENTIFIER, Categories(("9th", "10th", "Bachelors", "Masters")))
    >>> lists(school, {"low": ["9th", "10th"], "high": {"first": ["Bachelors"], "second": ["Masters"]}}).rows
    (('9th', 'low', 'low', '*'), ('10th', 'low', 'low', '*'),
     ('Bachelors', 'first', 'high', '*'), ('Masters', 'second', 'high', '*'))
    """
    domain = _domain(attribute, Numbers | Categories)
    if not isinstance(groups, Mapping):
        raise SchemaError(
            f"'{attribute.name}': {expect.describe_value(groups)} is not a group. Write {{group: [value, ...]}}."
        )
    paths = list(_paths(attribute, groups, ()))
    listed, values = {value for value, _ in paths}, list_values(domain)
    absent = [value for value in values if value not in listed]
    if wrong := absent or sorted(listed - set(values)):
        what = "the groups lack values of the domain" if absent else "the groups list values that the domain lacks"
        cure = "List each value of the domain once" if absent else "Correct the groups or the domain"
        raise SchemaError(f"'{attribute.name}': {what}: {len(wrong)}, such as {wrong[:3]}. {cure}.")
    height = max(len(path) for _, path in paths)
    # The nearest group fills the levels of a shallow path; if a label were repeated higher up, two sets would share it.
    rows = ((v, *(path[:1] * (height - len(path))), *path, SUPPRESSED) for v, path in paths)
    return Taxonomy(attribute.name, tuple(rows))


def _domain(attribute: Attribute, kind: Any) -> Any:
    expect.kind("attribute", attribute, Attribute, instead=Attribute.HINT)
    if not isinstance(attribute.domain, kind):
        raise SchemaError(
            f"the public domain of '{attribute.name}' is {attribute.domain}. Generalize numbers by widths or cuts, "
            "texts by dates or prefixes, and either of them by lists."
        )
    return attribute.domain


def _steps(distance: float, domain: Numbers) -> int | None:
    """Return a distance in steps of the domain; None if the distance is not a whole number of steps."""
    steps = distance / domain.step
    return round(steps) if abs(steps - round(steps)) < STEP else None


def _numbered(attribute: Attribute, ends: Any) -> Taxonomy:
    """Return the tree of a domain of numbers.

    `ends` holds, for each level, the first and the last code of the interval of each number.
    """
    domain = attribute.numbers
    numbers = replace(domain, missing=None)  # intervals may extend past the domain, but not to the missing number

    def label(first: int, last: int) -> str:
        low, high = numbers.value(first), numbers.value(last)
        return str(low) if first == last else f"{low}-{high}"

    marks = [] if domain.missing is None else [domain.missing]
    levels = [[label(*pair) for pair in np.column_stack(level).tolist()] + marks for level in ends]
    rows = zip(list_values(domain), *levels, [SUPPRESSED] * domain.size, strict=True)
    return Taxonomy(attribute.name, tuple(rows))


def _without(
    attribute: Attribute, apart: Collection[str], what: str = "", fits: Callable[[str], object] = bool
) -> list[str]:
    """Return the values of a domain of texts, without the values in `apart`.

    Raises SchemaError if `fits` is false for one of these values; `what` describes, in the error, which values fit.
    """
    values, apart = _domain(attribute, Categories).values, [apart] if isinstance(apart, str) else apart
    expect.texts("apart", apart, "values")
    if unknown := [value for value in apart if value not in values]:
        raise SchemaError(
            f"'{attribute.name}': {unknown} are listed in `apart` but are not in the domain. Correct these values."
        )
    values = [value for value in values if value not in apart]
    if what and (wrong := [value for value in values if not fits(value)]):
        raise SchemaError(
            f"'{attribute.name}': {wrong[:3]} are not {what} ({len(wrong)} in all). Correct these values, or list them "
            "in `apart`."
        )
    return values


def read_day(value: str, form: str) -> date | None:
    """Return the day that a text contains in the format `form`; None if the text does not have this format."""
    value = CLOCK.sub("", value)
    if "%q" in form:
        value, form = re.sub("[Qq][1-4]", lambda found: QUARTERS[found[0].upper()], value), form.replace("Q%q", "%m")
    try:
        return datetime.strptime(value, form).date()
    except ValueError:
        return None


def _shortened(attribute: Attribute, values: Sequence[str], levels: Sequence[Callable[[str], str]]) -> Taxonomy:
    """Return the tree in which the functions `levels`, one per level, shorten `values` to labels.

    Other values of the domain keep their own label at all levels below `*`.
    """
    short = set(values)
    rows = ((v, *(cut(v) if v in short else v for cut in levels), SUPPRESSED) for v in attribute.categories.values)
    return Taxonomy(attribute.name, tuple(rows))


def _paths(attribute: Attribute, groups: Any, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each value and the groups that contain the value, from the smallest to the largest group."""
    if isinstance(groups, Mapping):
        for label, members in groups.items():
            yield from _paths(attribute, members, (str(label), *path))
    elif isinstance(groups, str) or not path:
        raise SchemaError(f"'{attribute.name}': {groups!r} is not a group. Write {{group: [value, ...]}}.")
    else:
        yield from ((to_text(value), path) for value in groups)
