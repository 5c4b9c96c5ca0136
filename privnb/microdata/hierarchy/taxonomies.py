"""Hierarchies built in a line: of numbers by widths or cut points, of dates, codes and lists.

Each function takes an attribute of a schema and returns a `Taxonomy` over the values of its public domain. Look at it
with `levels()`; `write("data/<name>/hierarchies/default/<attribute>.csv")` keeps it in ARX's layout. All raise
SchemaError for an attribute of another kind and for values that have no place, with what to do.

One module: each function is short, and a third of it is an example to run.
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

from privnb.microdata.hierarchy.categories import Taxonomy, values_of
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, text
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import STEP

CLOCK = re.compile(r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z| ?[+-]\d{2}:?\d{2})?$")  # behind a day
TIME = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?: ?([AaPp])\.?[Mm]\.?)?$")  # or how long it took
QUARTERS = {"Q1": "01", "Q2": "04", "Q3": "07", "Q4": "10"}  # the first month of each: strptime knows no quarter
BRITISH = re.compile(r"(([A-Za-z]{1,2})\d[A-Za-z\d]?) ?\d[A-Za-z]{2}")


class Time(NamedTuple):
    """A time of the day, or how long something took.

    >>> Time.of("1:45 PM"), Time.of("33:07:05.5")
    (Time(hours=13, minutes=45, seconds=0.0), Time(hours=33, minutes=7, seconds=5.5))
    """

    hours: int
    minutes: int
    seconds: float

    @classmethod
    def of(cls, value: str) -> Time:
        """Of a text that `TIME` matches."""
        match = TIME.match(value)
        if match is None:
            raise UsageError(f"value must be a time such as 13:45, got {value!r}.")
        hour, minutes, seconds, half = match.groups()
        hours = int(hour) if half is None else int(hour) % 12 + 12 * (half in "pP")
        return cls(hours, int(minutes), float(seconds or 0))


def widths(attribute: Attribute, widths: Sequence[float], origin: float = 0) -> Taxonomy:
    """Numbers in aligned intervals of each of the `widths`, each a multiple of the one before.

    Intervals begin at `origin` and every width from there; they may reach past the domain, as 15-19 does past ages from
    17.

    Parameters
    ----------
    attribute : Attribute
    widths : list of numbers
        In the attribute's unit, rising.
    origin : float
        A whole number of steps from the domain's low end.

    Returns
    -------
    Taxonomy

    Raises
    ------
    SchemaError
        For widths that do not nest: they make no tree, but see `Intervals`.

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
            f"'{attribute.name}': widths must be whole steps of {domain}, more than one, each a multiple of the one "
            f"before; got {widths}. Leave out those that do not nest, or give all of them as the study's recoding."
        )
    begin = _steps(origin - domain.low, domain)
    if begin is None or abs(begin) >= 2**53:
        raise SchemaError(f"'{attribute.name}': the origin {origin} is no whole number of steps away from {domain}.")
    codes = np.arange(domain.steps + 1)
    starts = [(codes - begin) // step * step + begin for step in steps]
    return _numbered(attribute, [(start, start + step - 1) for start, step in zip(starts, steps, strict=True)])


def cuts(attribute: Attribute, *levels: Sequence[Sequence[float]]) -> Taxonomy:
    """Numbers cut at public points.

    Parameters
    ----------
    attribute : Attribute
    levels : list of numbers, any number of them
        The points at which a new interval begins, rising; those of a level must be points of the level before, too.
        They should be public knowledge, such as the ages of a law: points that were read from the records tell
        something about them.

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
                f"'{attribute.name}': the levels' points {tuple(points)} do not cut {domain}. Give rising numbers of "
                "the domain, each the first of its interval."
            )
        starts = np.array([0, *codes])
        part = np.searchsorted(starts, np.arange(domain.steps + 1), side="right") - 1
        ends.append((starts[part], np.append(starts[1:], domain.steps + 1)[part] - 1))
    return _numbered(attribute, ends)


def dates(attribute: Attribute, apart: Collection[str] = (), form: str = "%Y-%m-%d") -> Taxonomy:
    """Days by month, quarter, year and decade; the leaves are the texts of the domain.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        Values of the domain that are no dates, such as the mark of a missing one; they keep their own label up to `*`.
    form : str
        How a day is written, as `datetime.strptime` reads it; by default as ISO does, 2024-02-29. A time of the day may
        stand behind it. Where one stands behind all, the lowest level is the day. Months alone (without %d) begin with
        quarters, and quarters, written as %YQ%q says, with years. Some values may lack the day, or the day and the
        month, see `coarser`: then the labels of months and years begin with "in", since 1999 is a value as well.

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
        return next((each for each in (form, *coarser(form)) if _day(value, each)), "")

    values = _without(attribute, apart, f"days like {date(2024, 2, 29):{form}}", form_of)
    with_times = all(CLOCK.search(value) for value in values)  # a day alone is no label of others, too
    within = "in " * any(form_of(value) != form for value in values)
    levels: list[tuple[str, Callable[[Any], str]]] = [
        *[("%d", date.isoformat)] * with_times,
        *[("%[mbB]", lambda day: f"{within}{day:%Y-%m}")] * ("%d" in form),
        *[("%[mbB]", lambda day: f"{day.year}-Q{(day.month + 2) // 3}")] * ("%q" not in form),
        ("%", lambda day: f"{within}{day.year}"),
        ("%", lambda day: f"{day.year // 10}0-{day.year // 10}9"),
    ]

    def label(value: str, part: str, of: Callable[[Any], str]) -> str:
        return of(_day(value, form_of(value))) if re.search(part, form_of(value)) else value  # a year is in no month

    return _shortened(attribute, values, [partial(label, part=part, of=of) for part, of in levels])


def coarser(form: str) -> tuple[str, ...]:
    """The forms of months and of years that may stand among days, or months, of a form; none for one without a
    separator, of which 200112 would be a month and a day.

    >>> coarser("%Y-%m-%d"), coarser("%d.%m.%Y"), coarser("%b %d, %Y"), coarser("%m/%Y"), coarser("%Y%m%d")
    (('%Y-%m', '%Y'), ('%m.%Y', '%Y'), ('%b %Y', '%Y'), ('%Y',), ())
    """
    if "%Y" not in form or "%q" in form or not re.search("[ ./-]", form):
        return ()
    month = re.sub(r"[ ./-]%d$|%d,?[ ./-]?", "", form)
    return tuple(each for each in (month, "%Y") if each != form)


def times(attribute: Attribute, apart: Collection[str] = ()) -> Taxonomy:
    """Times of the day, 13:45, 13:45:00 or 1:45 PM, by the hour and the part of the day: night, morning, afternoon,
    evening. So are those that something took, up to 999 hours.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        As of `dates`.

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
    """Codes of one length, such as post codes, by their first characters: 53711, 5371*, 537**, ...

    Parameters
    ----------
    attribute : Attribute
    keep : list of int, optional
        How many characters stay at each level, falling; None: one less each level, down to 1.
    apart : str or list of str
        Values of the domain that are no such codes; they keep their own label up to `*`.

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
            f"'{attribute.name}': codes must be of one length, found {[*lengths.values()][:3]}. Fill them up to one "
            "length, name those that are no codes in `apart`, or group them with `lists`."
        )
    length = len(values[0])
    keep = tuple(range(length - 1, 0, -1) if keep is None else keep)
    if not all(map(expect.is_whole, keep)) or any(fewer >= more for more, fewer in pairwise([length, *keep, 0])):
        raise SchemaError(
            f"'{attribute.name}': keep must fall, by whole numbers, from below {length} to 1 or more, got {keep}."
        )

    def begin(value: str, characters: int) -> str:
        return value[:characters] + SUPPRESSED * (length - characters)

    return _shortened(attribute, values, [partial(begin, characters=number) for number in keep])


def beginnings(attribute: Attribute, apart: Collection[str] = ()) -> Taxonomy:
    """Codes of several lengths by what they begin with: 53711-1234, 53711*, 5371*, ...

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        As of `prefixes`.

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
    """British post codes, such as SW1A 1AA, by district and area: SW1A ***, SW*.

    Parameters
    ----------
    attribute : Attribute
    apart : str or list of str
        As of `prefixes`.

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
    """Values in named groups.

    Parameters
    ----------
    attribute : Attribute
    groups : dict
        `{group: [value, ...]}`, where a group may hold groups: `{group: {group: [...]}}`. They need not be equally
        deep. Numbers may stand as a `range`.

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
        raise SchemaError(f"'{attribute.name}': {expect.found(groups)} is no group. Write {{group: [value, ...]}}.")
    paths = list(_paths(attribute, groups, ()))
    listed, values = {value for value, _ in paths}, values_of(domain)
    absent = [value for value in values if value not in listed]
    if wrong := absent or sorted(listed - set(values)):
        what = "stand in no group. List each of the domain once in groups"
        what = what if absent else "are listed and not in the domain. Correct them there or here"
        raise SchemaError(f"'{attribute.name}': {len(wrong)} values such as {wrong[:3]} {what}.")
    height = max(len(path) for _, path in paths)
    # The nearest group fills the levels of a shallower one: repeated further up, its label would stand for two sets.
    rows = ((v, *(path[:1] * (height - len(path))), *path, SUPPRESSED) for v, path in paths)
    return Taxonomy(attribute.name, tuple(rows))


def _domain(attribute: Attribute, kind: Any) -> Any:
    expect.kind("attribute", attribute, Attribute, instead=Attribute.HINT)
    if not isinstance(attribute.domain, kind):
        raise SchemaError(
            f"the public domain of '{attribute.name}' is {attribute.domain}. Numbers generalize by widths or cuts, "
            "text by dates or prefixes, both by lists."
        )
    return attribute.domain


def _steps(distance: float, domain: Numbers) -> int | None:
    """A distance in whole steps of the domain; None if it is no whole number of them."""
    steps = distance / domain.step
    return round(steps) if abs(steps - round(steps)) < STEP else None


def _numbered(attribute: Attribute, ends: Any) -> Taxonomy:
    """The tree of a domain of numbers. `ends`: for each level the first and last position of each value's interval."""

    domain = attribute.numbers
    numbers = replace(domain, missing=None)  # an interval may reach past the domain, to no missing one

    def label(first: int, last: int) -> str:
        low, high = numbers.value(first), numbers.value(last)
        return str(low) if first == last else f"{low}-{high}"

    marks = [] if domain.missing is None else [domain.missing]
    levels = [[label(*pair) for pair in np.column_stack(level).tolist()] + marks for level in ends]
    rows = zip(values_of(domain), *levels, [SUPPRESSED] * domain.size, strict=True)
    return Taxonomy(attribute.name, tuple(rows))


def _without(
    attribute: Attribute, apart: Collection[str], what: str = "", fits: Callable[[str], object] = bool
) -> list[str]:
    """The values of a domain of text but for those that stay apart; all others must be `what` each that `fits` is."""
    values, apart = _domain(attribute, Categories).values, [apart] if isinstance(apart, str) else apart
    expect.texts("apart", apart, "values")
    if unknown := [value for value in apart if value not in values]:
        raise SchemaError(f"'{attribute.name}': {unknown} should stay apart and are not in its domain. Correct them.")
    values = [value for value in values if value not in apart]
    if what and (wrong := [value for value in values if not fits(value)]):
        raise SchemaError(
            f"'{attribute.name}': {wrong[:3]} are no {what} ({len(wrong)} in all). Correct them, or name them in "
            "`apart`."
        )
    return values


def _day(value: str, form: str) -> date | None:
    """The day that a text says; None if it says none."""
    value = CLOCK.sub("", value)
    if "%q" in form:
        value, form = re.sub("[Qq][1-4]", lambda found: QUARTERS[found[0].upper()], value), form.replace("Q%q", "%m")
    try:
        return datetime.strptime(value, form).date()
    except ValueError:
        return None


def _shortened(attribute: Attribute, values: Sequence[str], levels: Sequence[Callable[[str], str]]) -> Taxonomy:
    """The tree in which `levels`, one function each, shorten `values`; the others of the domain stay as they are."""
    short = set(values)
    rows = ((v, *(cut(v) if v in short else v for cut in levels), SUPPRESSED) for v in attribute.categories.values)
    return Taxonomy(attribute.name, tuple(rows))


def _paths(attribute: Attribute, groups: Any, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each value with its groups, the nearest first."""
    if isinstance(groups, Mapping):
        for label, members in groups.items():
            yield from _paths(attribute, members, (str(label), *path))
    elif isinstance(groups, str) or not path:
        raise SchemaError(f"'{attribute.name}': {groups!r} is no group. Write {{group: [value, ...]}}.")
    else:
        yield from ((text(value), path) for value in groups)
