"""What a column of an owner's table looks like: a table of types, each of which knows its own columns.

A type is a generator of the column's name and its `Values`. Its first item is the `Column` that a draft proposes, with
role, reason, domain and tree; a column of another type has none. A new type is one function and its line in `TYPES`.
The types are read in their order, the surest first.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from privnb.datasets.column_values import FIRST, RARELY, Values
from privnb.microdata import cuts
from privnb.microdata.bands import FEW as FEW_VALUES
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy, flat, taxonomies
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.hierarchy.merging import merged
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError
from privnb.microdata.withholding import LIMIT
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.lazy import pd
from privnb.tables.notation import Notation

Tree = Callable[..., Generalization]  # of an attribute


def named(words: str) -> re.Pattern[str]:
    """What finds one of the `words` in a column's name, whatever stands around it: `patientName`, `patient_name`."""
    return re.compile(rf"(?:^|[\W_\d]|(?<=[a-z])(?=[A-Z]))(?:(?i:{words}))(?:$|[\W_\d]|(?=[A-Z]))")


PERSON = (
    r"(case|record|person|patient|subj(ect)?|participant|respondent|student|pupil|employee|worker|user|member|client|"
    "customer)"
)
NUMBERED = rf"({PERSON}[\W_]?(id|key|nr|no|num|number)|childid|idno)$"  # caseno, USUBJID
KEY = re.compile(
    r"(^|[\W_])(id|key|index|code|case|record|person|patient|subject|participant|respondent|ssn)([\W_]|$)"
    rf"|(^|[\W_])(nr|no|num|number)$|(?-i:[a-z]I[Dd]$)|{NUMBERED}|^(row[\W_]?names?|unnamed: 0)$",
    re.IGNORECASE,
)
# Whose a record is, by the column's name: not what counts or numbers something, as number_of_visits does.
OWNER = re.compile(
    rf"(^|[\W_])(id|key|ssn)([\W_]|$)|(?-i:[a-z]I[Dd]$)|{NUMBERED}"
    "|^(person|patient|subject|participant|resp(ondent)?|student|pupil|employee|worker)$",
    re.IGNORECASE,
)
GROUP = re.compile(
    r"(commune|municipality|parish|borough|precinct|tract|district|county|state|province|country|region|school|class|"
    r"firm|plot|site|store|cent(er|re)|ward|group)[\W_]?(id|code|nr|no|num|number)?",
    re.IGNORECASE,
)
KIND = named("sex|gender|geschl(echt)?|sexe|race|ethnic(ity)?|marital|religion|nationality|citizenship|employment")
PART = named("area|zone|sector|block|cluster|stratum|strata|psu")  # of a country or a sample; an area may be a size
POST = re.compile(r"zip|plz|post.?(al)?.?code|^postal", re.IGNORECASE)
SICK = re.compile(r"icd|diagn|(^|[\W_])dx", re.IGNORECASE)
ICD = r"[A-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?"  # the classification of diseases, ICD-10
COORDINATE = named("lat|latitude|lon|lng|long|longitude")
YEAR = named("year|years?_?of|yr|jahr|annee|année|born|birth|built")
TIME = named("year|quarter|month|week|day|date|time|period|wave|visit|round|session")
MEASURED = named(
    "salary|salaries|income|wages?|pay|earnings?|prices?|costs?|charges?|fees?|fare|rent|amount|revenue|sales|balance|"
    "debts?|assets?|money|value|time|days|weeks|months|hours|minutes|seconds|duration|weight|height|length|size|score"
)
PHONE = named("phones?|telephone|tel|mobile|cell|fax|telefon|handy")
NAME = re.compile(
    r"(^|[\W_])(sur|first|last|full|given|family|middle|maiden|nick|fore)[\W_]?names?([\W_]|$)"
    r"|^(names?|first|last|surname|(vor|nach)?name|nom|prénom|prenom|apellidos?|nombre)$"
    r"|(patient|person|customer|client|employee|contact|user|student|child|mother|father)[\W_]?names?([\W_]|$)",
    re.IGNORECASE,
)
WHOLE = r"-?\d{1,9}"
# What stands for each part of a date, and for letters of either case.
LOOKS = {
    "%Y": r"\d{4}", "%y": r"\d\d", "%m": r"\d\d?", "%d": r"\d\d?", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]{3,9}",
    "%q": "[1-4]", "Q": "[Qq]", "M": "[Mm]", ".": r"\.",
}  # fmt: skip


def _looks(form: str) -> str:
    """What a text of a form looks like, a pattern.

    >>> _looks("%m.%Y")
    '\\\\d\\\\d?\\\\.\\\\d{4}'
    """
    return re.sub(r"%.|[QM.]", lambda part: LOOKS[part[0]], form)


# How days, months and quarters are written: a form, and what a text of it looks like.
DAYS = {
    form: _looks(form)
    for form in (
        "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
        "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%d %b %Y",
        "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%m/%Y", "%Y-%m", "%Y/%m", "%YM%m", "%Y%m", "%b %Y", "%B %Y",
        "%b-%Y", "%b-%y", "%YQ%q", "%Y-Q%q", "%Y Q%q", "Q%q %Y", "Q%q-%Y", "Q%q/%Y",
    )
} | {
    "%Y%m%d": r"(1[89]|20)\d\d[01]\d[0-3]\d", "%Y%m": r"(1[89]|20)\d\d(0[1-9]|1[0-2])",
    "%Y-%m": r"\d{4}-\d\d", "%Y/%m": r"\d{4}/\d\d",
}  # fmt: skip
# What a text looks like where some lack the day, or the day and the month.
PARTLY = {
    form: "|".join([look, *(_looks(each) for each in taxonomies.coarser(form))])
    for form, look in DAYS.items()
    if taxonomies.coarser(form)
}
LETTERS = {"%d": "dd", "%m": "mm", "%b": "mmm", "%B": "month", "%Y": "yyyy", "%y": "yy", "%q": "q"}
SPAN = r"(?P<begin>\d{4})(?: ?[-–/&] ?(?P<end>\d{4}|\d\d))?"  # of years
TRUTHS = ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("0", "1"), ("ja", "nein"), ("oui", "non")
# Words that have an order, each list from low to high.
ORDERS = [
    text.split(", ")
    for text in (
        "xxs, xs, s, m, l, xl, xxl, xxxl",
        "tiny, small, medium, large, huge",
        "very low, low, medium, moderate, high, very high",
        "none, minimal, mild, moderate, severe, very severe, extreme",
        "never, rarely, seldom, sometimes, often, usually, always",
        "strongly disagree, disagree, neutral, neither agree nor disagree, agree, strongly agree",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
        "very poor, poor, fair, average, good, very good, excellent",
        "bad, fair, ok, good, great",
        "i, ii, iii, iv, v, vi, vii, viii, ix, x",
        "a+, a, a-, b+, b, b-, c+, c, c-, d+, d, d-, e, f",
        "first, second, third, fourth, fifth, sixth",
        "january, february, march, april, may, june, july, august, september, october, november, december",
        "jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec",
        "monday, tuesday, wednesday, thursday, friday, saturday, sunday",
        "mon, tue, wed, thu, fri, sat, sun",
        "primary, secondary, tertiary",
        "child, teenager, adult, senior",
        "young, middle-aged, old",
    )
]
CODES = "if these are codes, list them as text in the domain in the description file"
KNOWN = Role.QUASI_IDENTIFIER
MOST_ROWS = 100  # records per person, on average: what repeats more often is hardly a key
FEW = 20  # different names: fewer are not of people
LONG = 40  # characters of a text that is written freely
WORDS = 3  # different texts that many cells of another type may have
MOSTLY = 0.5  # of the first texts: those of a type, where all others are looked at
LEAVES = 100_000  # a tree of more is of no use to anybody


class Column(NamedTuple):
    """What a draft says of a column: its role and why, the domain seen and the tree, None where it has none; and the
    few texts that are not of its type, which count as missing.
    """

    name: str
    role: Role
    reason: str
    domain: Numbers | Categories | None = None
    tree: Taxonomy | None = None
    odd: tuple[str, ...] = ()


def recognized(name: str, values: Values, notation: Notation = Notation()) -> Column:  # noqa: B008 - a tuple
    """The `Column` that the first of `TYPES` that knows it proposes. `notation`: how the file writes numbers."""
    return next(_proposed(name, values, notation))


def published(name: str, values: Values, notation: Notation = Notation()) -> Column:  # noqa: B008
    """The `Column` that the first of `TYPES` proposes which has a domain, as a release needs.

    Raises SchemaError for one without a value.
    """
    if not values.records:
        raise SchemaError(f"column '{name}' has no value, so there is nothing to publish. Give it the role unused.")
    return next(column for column in _proposed(name, values, notation) if column.domain is not None)


def _proposed(name: str, values: Values, notation: Notation) -> Iterator[Column]:
    """What each of `TYPES` that knows the column proposes. Categories stay as the file writes them."""
    typed, odd = _typed(values, notation)
    if odd:
        plain = typed.written(notation)
        for kind in TYPES:
            column = next(kind(name, plain), None)
            if column and (kind is days or not isinstance(column.domain, Categories)):
                yield column._replace(odd=odd)
    plain = values.written(notation)
    for kind in TYPES:
        column = next(kind(name, plain), None)
        if column and plain is not values and isinstance(column.domain, Categories):
            column = next(kind(name, values), None)
        if column:
            yield column


def _typed(values: Values, notation: Notation) -> tuple[Values, tuple[str, ...]]:
    """The values of a column without the few that are not of its type, a number or a date, and the texts of these.

    Few are at most 5% of the records; of values that are nearly unique, up to half that say one of three words. Whole
    numbers may be codes, of which some have letters: there only words without a digit, `<5` and `#REF!` are odd.
    """
    if values.different < FIRST or not values.mark or SUPPRESSED in {*values.texts}:
        return values, ()
    found = [*_of_dates(values)]
    if notation.are_numbers(values.texts[: 5 * FIRST]).mean() > MOSTLY:
        found.insert(0, notation.are_numbers(values.texts).to_numpy(dtype=bool))
    if not found:
        return values, ()
    best = max(found, key=lambda of: values.counts[of].sum())
    odd = values.texts[~best]
    records = int(values.counts[~best].sum())
    repeated = values.nearly_unique and len(odd) <= WORDS and 2 * records < values.records
    if best.sum() < FIRST or not len(odd) or (records > RARELY * values.records and not repeated):
        return values, ()
    if notation.are_numbers(values.texts[best]).all() and _are_codes(values, odd, notation):
        return values, ()
    left = replace(values, texts=values.texts[best], counts=values.counts[best], missing=values.missing + records)
    return left, tuple(odd)


def _are_codes(values: Values, odd: pd.Series, notation: Notation) -> bool:
    """Whether the odd texts among numbers show that these are codes (012, 12b among whole numbers) or have an order
    (18, 19, 90+).
    """
    if odd.str.fullmatch(r"0\d+").any():
        return True
    lettered = odd.str.contains(r"\d") & ~odd.str.match("[<>≤≥#]")
    if lettered.any() and not notation.fractions(values.texts).any():
        return True
    return not values.nearly_unique and _order(values) is not None


def _of_dates(values: Values) -> Iterator[BoolArray]:
    """Which texts are dates, in each form that most of the first ones have: boolean arrays (texts,)."""
    if values.different > LEAVES:
        return
    alone = _without_clock(values).texts
    some = alone[: 5 * FIRST]
    for looks in (DAYS, PARTLY):
        for form, look in looks.items():
            if some.str.fullmatch(look).mean() > MOSTLY:
                like = alone.str.fullmatch(look).to_numpy(dtype=bool)
                dated = (_read if looks is DAYS else _dated)(alone, form).notna().to_numpy()
                if not (like & ~dated).any() or not _other_order(alone[like & ~dated], form):
                    yield like & dated


def _other_order(texts: pd.Series, form: str) -> bool:
    """Whether some texts are days if what is read as the month is the day: these are not odd, but a second form."""
    turned = form.translate(str.maketrans("dm", "md"))
    return turned in DAYS and turned != form and bool(_read(texts, turned).notna().any())


def nothing(name: str, values: Values) -> Iterator[Column]:
    """Every cell is empty."""
    if not values.records:
        yield Column(name, Role.UNUSED, "every value is missing")


def people(name: str, values: Values) -> Iterator[Column]:
    """Mail addresses; telephone numbers, by the column's name or as each begins with +; names, by the column's name."""
    if values.match(r"[^@\s]+@[^@\s]+\.\w+"):
        yield Column(name, Role.IDENTIFIER, "looks like mail addresses")
    if values.match(r"[+(]?\d[\d ()/.-]{5,}") and (PHONE.search(name) or values.texts.str.startswith("+").all()):
        yield Column(name, Role.IDENTIFIER, "looks like phone numbers")
    if NAME.search(name) and values.match(r"\D+") and (values.different > FEW or values.nearly_unique):
        yield Column(name, Role.IDENTIFIER, "names of people, by the column's name")


def spans(name: str, values: Values) -> Iterator[Column]:
    """Years and spans of them, such as seasons: 1995-98, 2010/11, 1978."""
    if values.different > LEAVES or values.numbers or not values.texts[:FIRST].str.fullmatch(SPAN).any():
        return
    parts = values.texts.str.extract(rf"^{SPAN}$")
    like, said = parts["begin"].notna(), parts["end"].dropna()
    if not len(said) or like.mean() < 0.9:
        return
    if not like.all():
        yield _categories(name, values, "values, of which most are spans of years", flat)
    begin, end = parts["begin"].astype(int), parts["end"].fillna(parts["begin"])
    end = end.astype(int) + (end.str.len() == 2) * (begin // 100 * 100 + 100 * (end.str[-2:].astype(int) < begin % 100))
    months = (said.str.len() == 2).all() and said.astype(int).between(1, 12).all()  # but for seasons
    if months and (end != begin + 1)[said.index].any():
        return
    if begin.min() >= 1000 and (begin <= end).all() and end.max() <= 2200:
        order = dict(zip(values.texts, zip(begin, end, strict=True), strict=True))
        yield _categories(name, values, "spans of years", flat, said="in order: ", order=order.get, in_order=True)


def days(name: str, values: Values) -> Iterator[Column]:
    """Days in one of the forms of `DAYS`, with or without the time of the day."""
    if forms := day_forms(values):
        yield _days(name, values, forms)
    elif _like_days(values):
        _check_order(name, _without_clock(values))


def day_forms(values: Values) -> list[str]:
    """The forms of `DAYS` in which every text is a day, the time behind it left out: several where it cannot be seen
    which of two numbers is the month; empty for what are no days. Some days may be a month or a year alone.
    """
    alone = _without_clock(values)
    for looks in (DAYS, PARTLY) if _like_days(values) else ():
        read = {form: _read(alone.texts, form) for form, look in looks.items() if alone.match(look)}
        read = {form: days for form, days in read.items() if days.notna().any()}
        if looks is PARTLY:
            read = {form: _dated(alone.texts, form) for form in read}
        forms = [form for form, found in read.items() if found.notna().all()]
        if forms:
            return [each for n, each in enumerate(forms) if not any(read[each].equals(read[o]) for o in forms[:n])]
    return []


def partly_dated(values: Values) -> int:
    """How many records have a month or a year in a column of days, or a year in one of months; 0 for another column."""
    forms = day_forms(values)
    found = _read(_without_clock(values).texts, forms[0]).isna() if forms else np.zeros(len(values.texts), dtype=bool)
    return int(values.counts[np.asarray(found)].sum())


def days_in(name: str, values: Values, form: str) -> Column:
    """The `Column` of days of which the owner says how they are written.

    Parameters
    ----------
    name : str
    values : Values
    form : str
        One of `day_forms`.

    Raises
    ------
    SchemaError
        For another form.
    """
    forms = day_forms(values)
    if form not in forms:
        found = " or ".join(map(spelled, forms))
        raise SchemaError(
            f"column '{name}' does not hold days written as {spelled(form)}: "
            + (f"all of its values can be read as {found}." if found else "not all of its values are days.")
        )
    return _days(name, values, [form])


def spelled(form: str) -> str:
    """A form as people write it.

    >>> spelled("%d/%m/%Y"), spelled("%d-%b-%Y")
    ('dd/mm/yyyy', 'dd-mmm-yyyy')
    """
    return re.sub("%.", lambda part: LETTERS[part[0]], form)


def times(name: str, values: Values) -> Iterator[Column]:
    """Times of the day."""
    if values.match(taxonomies.TIME) and values.different <= LEAVES:
        day = max(map(taxonomies.Time.of, values.texts)) < (24, 0, 0)
        what = "times of the day" if day else "hours and minutes"
        yield _categories(name, values, what, taxonomies.times, order=taxonomies.Time.of, in_order=True)


def truths(name: str, values: Values) -> Iterator[Column]:
    """True or false, in two different words."""
    said = {*values.texts.str.lower()} if values.different == 2 else ()
    if pair := next((pair for pair in TRUTHS if said == {*pair}), None):
        yield _categories(name, values, "values", flat, said=f"{pair[0]} or {pair[1]}; ")


def coordinates(name: str, values: Values) -> Iterator[Column]:
    """Degrees of latitude and longitude, by the column's name."""
    seen = values.numbers if COORDINATE.search(name) else None
    if seen and -180 <= seen.low and seen.high <= 180:
        if (domain := values.in_steps(Decimal("0.1"))) and seen.step < 1:
            yield _numbers(name, values, domain, "a coordinate", "0.1 is about 10 km, finer ones lead to a house")


def years(name: str, values: Values) -> Iterator[Column]:
    """Years, by the column's name."""
    seen = values.numbers if YEAR.search(name) and values.whole else None
    if seen and 1500 <= seen.low and seen.high <= 2200:
        yield _numbers(name, values, seen, f"years, {values.different} different")


def codes(name: str, values: Values) -> Iterator[Column]:
    """Codes, such as post codes: by name, by British looks, or as digits of one length of which one begins with 0; and
    those of diseases, by their looks, of which the point is a part unless the name says what they are.
    """
    lengths = values.texts.str.len()
    one_length = lengths.min() == lengths.max() in range(3, 9)
    if values.different < 3 or values.different > LEAVES:
        return
    if values.match(taxonomies.BRITISH):
        yield _categories(name, values, "post codes", taxonomies.british, most=4, in_order=True)
    digits = one_length and values.match(r"\d+") and values.texts.str.startswith("0").any()
    if digits or (one_length and POST.search(name)):
        yield _categories(name, values, "codes", taxonomies.prefixes, most=4, in_order=True)
    if values.match(ICD) and (SICK.search(name) or values.texts.str.contains(".", regex=False).mean() > 0.5):
        yield _categories(name, values, "ICD codes", taxonomies.beginnings, most=4, in_order=True)
    if POST.search(name) and lengths.max() <= 10:
        yield _categories(name, values, "codes of several lengths", taxonomies.beginnings, most=4, in_order=True)


def free_text(name: str, values: Values) -> Iterator[Column]:
    """Sentences, of which most are one person's."""
    own = values.nearly_unique or (values.different > FEW and (values.counts == 1).mean() > 0.5)
    if own and not values.numbers and values.texts.str.len().mean() > LONG:
        words = values.texts.str.split().str.len().mean()
        yield Column(name, Role.UNUSED, f"free text, {words:.0f} words on average: who can say what it gives away?")


def groups(name: str, values: Values) -> Iterator[Column]:
    """Whole numbers that name a place, a group or a kind of people, by the column's name; where that could be a size,
    counted from 1.
    """
    if not values.whole or values.different < 3 or values.nearly_unique:
        return
    numbers = values.texts.astype(float)
    counted = numbers.min() in (0, 1) and numbers.max() < 1.1 * values.different < values.records / 5
    if GROUP.fullmatch(name) or (PART.search(name) and counted) or (KIND.search(name) and values.different <= FEW):
        what = "numbers of groups or kinds"
        yield _categories(name, values, what, flat, said="by its name: ", order=float, in_order=True)


def keys(name: str, values: Values) -> Iterator[Column]:
    """What nearly names a person: texts, or whole numbers that look like it, of which hardly two are alike."""
    if values.nearly_unique and (values.numbers is None or (values.whole and _names_people(name, values))):
        reason = f"{values.different} values in {values.records} records: nearly the name of a person"
        yield Column(name, Role.IDENTIFIER, reason)
    if values.whole and OWNER.search(name) and values.records < values.different * MOST_ROWS:
        yield Column(name, Role.IDENTIFIER, f"numbers people, by its name: {values.different} different{values.gaps}")


def numbers(name: str, values: Values) -> Iterator[Column]:
    """Numbers, but for two whole ones."""
    if values.numbers and not (values.whole and values.different == 2):
        yield _numbers(name, values, values.numbers, f"a number, {values.different} different", CODES * values.whole)


def in_order(name: str, values: Values) -> Iterator[Column]:
    """Whole numbers, numbers in words, ranges of them, and words that have an order."""
    if order := _order(values):
        yield _categories(name, values, "values", flat, said="in order: ", order=order, in_order=True)


def too_many(name: str, values: Values) -> Iterator[Column]:
    """More different texts than a hierarchy can list."""
    if values.different > LEAVES:
        reason = f"{values.different:,} different texts: shorten or group them in the file first"
        yield Column(name, Role.UNUSED, reason)


def categories(name: str, values: Values) -> Iterator[Column]:
    """Any other values."""
    yield _categories(name, values, "values", flat)


TYPES = (
    nothing, people, spans, days, times, truths, coordinates, years, codes, free_text, groups, keys,
    numbers, in_order, too_many, categories,
)  # fmt: skip


def _numbers(name: str, values: Values, domain: Numbers, reason: str, more: str = "") -> Column:
    """A column of numbers: why they are some, and what else is to be known."""
    domain = replace(domain, cuts=None, missing=values.mark if values.missing else None)
    parted = _cuts(domain, values)
    domain, even = replace(domain, cuts=parted), "its cuts divide people about evenly" * (parted is not None)
    rounded = "" if domain.has(values.texts).all() else f"loading rounds to the domain's step of {domain.step:g}"
    return Column(name, KNOWN, "; ".join(filter(None, [reason + values.gaps, more, even, rounded])), domain)


def _cuts(domain: Numbers, values: Values) -> tuple[float, ...] | None:
    """Cuts that divide people about evenly, where one of the usual intervals would hold more than a third of them: a
    class of people in one interval shows everybody's value. None for another domain.
    """
    if domain.steps < FEW_VALUES:
        return None  # each value is a band of its own
    numbers = pd.to_numeric(domain.rounded(values.texts)).to_numpy(dtype=float)
    numbers, place = np.unique(numbers, return_inverse=True)
    people = np.bincount(place, values.counts).astype(np.int64)
    fullest = _fullest(cast(tuple[float, ...], domain.cuts), numbers, people)
    if fullest <= people.sum() / 3:
        return None
    found = cuts.even(domain, numbers, people, LIMIT)
    return found if found and _fullest(found, numbers, people) < fullest else None


def _fullest(parted: Sequence[float], numbers: FloatArray, people: IntArray) -> int:
    """How many people the interval holds that holds most of them."""
    return np.bincount(np.searchsorted(parted, numbers, side="right"), people).max()


def _categories(
    name: str, values: Values, what: str, tree: Tree, said: str = "", order: Callable[[str], Any] = str, **how: Any
) -> Column:
    """A column of categories. `said` first; `what` they are; the tree of an attribute whose values `apart` are not so;
    by what they are sorted; and how its branches are `merged`.
    """
    if SUPPRESSED in set(values.texts):
        raise SchemaError(
            f"'{name}' has cells that are '{SUPPRESSED}', which in a release stands for any value. Write another word "
            "for what they say, or leave them empty if they say nothing."
        )
    domain = Categories((*sorted(set(values.texts), key=order), *values.marks))
    attribute = Attribute(name, KNOWN, domain)
    made = flat(attribute) if tree is flat else tree(attribute, apart=values.marks)
    whole = cast(Taxonomy, made)  # as those of all categories are
    with contextlib.suppress(SchemaError):  # two values with | between them may be a third one
        # Texts of any kind may be a person's own; what is in an order, and codes, is not.
        whole = merged(whole, values.records_of(), named=LIMIT * (tree is flat and "in_order" not in how), **how)
    many = f"{values.different} {what}" if values.different != 1 else "one value"
    return Column(name, attribute.role, f"{said}{many}{values.gaps}", domain, whole)


def _like_days(values: Values) -> bool:
    """Whether the first texts look like days: of most columns no more is read."""
    first = _without_clock(replace(values, texts=values.texts[:FIRST]))
    return values.different <= LEAVES and any(map(first.match, [*DAYS.values(), *PARTLY.values()]))


def _without_clock(values: Values) -> Values:
    return replace(values, texts=values.texts.str.replace(taxonomies.CLOCK, "", regex=True))


def _days(name: str, values: Values, forms: Sequence[str]) -> Column:
    """The `Column` of days that are written in one of `forms`."""
    form, *others = forms
    alone = _without_clock(values)
    examples = " or ".join(date(2024, 2, 29).strftime(each).replace("%q", "1") for each in forms)
    what = "days" if "%d" in form else "quarters" if "%q" in form else "months"
    if timed := (alone.texts != values.texts).any():
        what = "points in time"
    said = f"dates, written as {examples}{' 13:45' * bool(timed)} is; "
    said += "labels above the value itself have no time of the day; " * bool(timed)
    if partly_dated(values):
        said, what = f"{said}some name a month or a year alone; ", "dates"
    said += "69 to 99 are taken for 1969 to 1999; " * form.endswith("y")
    tree = partial(taxonomies.dates, form=form)
    if others:  # the same day in both readings or another one; the year is the same
        answer = f"{name}: {spelled(form)}"
        said += f"which of them cannot be seen, so the tree has years alone: say --days {answer!r} for months; "
        tree = partial(_years, form=form)
    order = dict(zip(values.texts, _dated(alone.texts, form), strict=True)).get
    return _categories(name, values, what, tree, said=said, order=order, in_order=True, lowest=-1)


def _check_order(name: str, values: Values) -> None:
    """Raise SchemaError for days of which some begin with the day, and others with the month."""
    for form, looks in DAYS.items():
        turned = form.translate(str.maketrans("dm", "md"))
        # Without a first part over 12 and a second one over 12 there is one order.
        if form.startswith("%d") and turned in DAYS and values.match(looks):
            first, other = (_read(values.texts, each).isna() for each in (form, turned))
            if not (first & other).any():
                day, month = values.texts[other].iloc[0], values.texts[first].iloc[0]
                raise SchemaError(
                    f"column '{name}' has days in two orders: {day!r} begins with the day, {month!r} with the month. "
                    "Write all of them in one order, as 2024-02-29 is."
                )


def _read(texts: pd.Series, form: str) -> pd.Series:
    if "%q" in form:
        texts, form = texts.str.upper().replace(taxonomies.QUARTERS, regex=True), form.replace("Q%q", "%m")
    return pd.to_datetime(texts, format=form, errors="coerce")


def _dated(texts: pd.Series, form: str) -> pd.Series:
    """The same of texts of which some lack the day, or the day and the month: the first day of these."""
    found = _read(texts, form)
    for each in taxonomies.coarser(form):
        found = found.fillna(_read(texts, each))
    return found


def _years(attribute: Attribute, apart: Sequence[str], form: str) -> Taxonomy:
    """The tree of days without months and quarters."""
    rows = taxonomies.dates(attribute, apart, form).rows
    return Taxonomy(attribute.name, tuple((row[0], *row[-3:]) for row in rows))


def _order(values: Values) -> Callable[[str], Any] | None:
    """By what the values of a column are sorted that have an order, a function; None for others."""
    if values.order and {*values.texts} <= {*values.order}:
        return values.order.index
    if values.match(WHOLE):
        return int
    if values.match(r"[<>≤≥]? ?\d+(\.\d+)?\D.*|[<>≤≥] ?\d+(\.\d+)?|\d+(\.\d+)?"):  # <18, 18-24, 25 to 34, 65+, 9th
        number = values.texts.str.extract(r"(\d+(?:\.\d+)?)")[0].astype(float)
        places = [*zip(number, ~values.texts.str.match("[<≤]"), values.texts.str.match("[>≥]"), strict=True)]
        return dict(zip(values.texts, places, strict=True)).get if len({*places}) == len(places) else None
    words = values.texts.str.lower().str.strip()
    known = next((order for order in ORDERS if {*words} <= {*order}), None)
    return dict(zip(values.texts, map(known.index, words), strict=True)).get if known and values.different > 2 else None


def _names_people(name: str, values: Values) -> bool:
    """Whether whole numbers, nearly all different, look like those of people: by the column's name, as a count of the
    records without large gaps, or as codes of one length that nothing says to be measured.
    """
    numbers, lengths = values.texts.astype(float), values.texts.str.len()
    dense = values.different > 0.9 * values.records and numbers.max() - numbers.min() < 1.2 * values.different
    codes = lengths.min() == lengths.max() >= 6 and values.match(r"\d+") and (numbers % 10 == 0).mean() < 0.5
    return bool(KEY.search(name) or ((dense or codes) and not MEASURED.search(name)))
