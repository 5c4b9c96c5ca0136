"""Recognition of the type of each column in an owner's table.

Each type is a generator function that receives the name and the `Values` of a column. If the column is of this type,
the first item that the generator yields is the `ColumnProposal` of a draft, with role, reason, domain and tree.
Otherwise, the generator yields nothing. A new type needs one function and one line in `TYPES`. The types are tried in
the order of `TYPES`, which begins with the types that are recognized with the most certainty.
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
from privnb.microdata.hierarchy.merging import merge_siblings
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError
from privnb.microdata.withholding import LIMIT
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.lazy import pd
from privnb.tables.notation import Notation

Tree = Callable[..., Generalization]  # a function of an attribute


def name_pattern(words: str) -> re.Pattern[str]:
    """Return a pattern that finds one of the `words` in a column's name, such as `patientName` or `patient_name`."""
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
# Names of keys of people; names of counts, such as number_of_visits, do not match.
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
KIND = name_pattern(
    "sex|gender|geschl(echt)?|sexe|race|ethnic(ity)?|marital|religion|nationality|citizenship|employment"
)
PART = name_pattern(
    "area|zone|sector|block|cluster|stratum|strata|psu"
)  # parts of a country or of a sample; an area may also be a size
POST = re.compile(r"zip|plz|post.?(al)?.?code|^postal", re.IGNORECASE)
SICK = re.compile(r"icd|diagn|(^|[\W_])dx", re.IGNORECASE)
ICD_CODES = "ICD codes"
ICD = r"[A-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?"  # the classification of diseases, ICD-10
COORDINATE = name_pattern("lat|latitude|lon|lng|long|longitude")
YEAR = name_pattern("year|years?_?of|yr|jahr|annee|année|born|birth|built")
TIME = name_pattern("year|quarter|month|week|day|date|time|period|wave|visit|round|session")
MEASURED = name_pattern(
    "salary|salaries|income|wages?|pay|earnings?|prices?|costs?|charges?|fees?|fare|rent|amount|revenue|sales|balance|"
    "debts?|assets?|money|value|time|days|weeks|months|hours|minutes|seconds|duration|weight|height|length|size|score"
)
PHONE = name_pattern("phones?|telephone|tel|mobile|cell|fax|telefon|handy")
NAME = re.compile(
    r"(^|[\W_])(sur|first|last|full|given|family|middle|maiden|nick|fore)[\W_]?names?([\W_]|$)"
    r"|^(names?|first|last|surname|(vor|nach)?name|nom|prénom|prenom|apellidos?|nombre)$"
    r"|(patient|person|customer|client|employee|contact|user|student|child|mother|father)[\W_]?names?([\W_]|$)",
    re.IGNORECASE,
)
WHOLE = r"-?\d{1,9}"
# The pattern of each part of a date, and of letters in either case.
LOOKS = {
    "%Y": r"\d{4}", "%y": r"\d\d", "%m": r"\d\d?", "%d": r"\d\d?", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]{3,9}",
    "%q": "[1-4]", "Q": "[Qq]", "M": "[Mm]", ".": r"\.",
}  # fmt: skip


def _looks(form: str) -> str:
    r"""Return a regular expression that matches texts in a format of dates.

    >>> _looks("%m.%Y")
    '\\d\\d?\\.\\d{4}'
    """
    return re.sub(r"%.|[QM.]", lambda part: LOOKS[part[0]], form)


# The forms of days, months and quarters, each with the pattern of its texts.
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
# The patterns of forms in which some texts lack the day, or the day and the month.
PARTLY = {
    form: "|".join([look, *(_looks(each) for each in taxonomies.coarser_forms(form))])
    for form, look in DAYS.items()
    if taxonomies.coarser_forms(form)
}
LETTERS = {"%d": "dd", "%m": "mm", "%b": "mmm", "%B": "month", "%Y": "yyyy", "%y": "yy", "%q": "q"}
SPAN = r"(?P<begin>\d{4})(?: ?[-–/&] ?(?P<end>\d{4}|\d\d))?"  # of years
TRUTHS = ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("0", "1"), ("ja", "nein"), ("oui", "non")
# Words with an order, from low to high.
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
MOST_ROWS = 100  # the maximum number of records per person on average; a column with more is hardly a key
FEW = 20  # the minimum number of distinct names; a column with fewer does not name people
LONG = 40  # the minimum number of characters of free text on average
WORD, SENTENCE = r"[^\W\d_]{2,}", r".*[.!?]\W*"
WORDY = 4  # the minimum number of words of texts on average, from which they may be remarks
WORDS = 3  # the maximum number of distinct texts of another type that may occur often
MOSTLY = 0.5  # the share of the first texts that are of a type above which all texts are checked
LEAVES = 100_000  # a tree with more leaves is not useful


class ColumnProposal(NamedTuple):
    """The proposal of a draft for a column: role, reason, domain and tree (None if there is no tree).

    `odd` holds the few texts that are not of the type of the column and therefore count as missing.
    """

    name: str
    role: Role
    reason: str
    domain: Numbers | Categories | None = None
    tree: Taxonomy | None = None
    odd: tuple[str, ...] = ()


def recognize(name: str, values: Values, notation: Notation = Notation()) -> ColumnProposal:  # noqa: B008 - a tuple
    """Return the `ColumnProposal` of the first type that recognizes the column.

    `notation` is the notation of the file.
    """
    return next(_proposed(name, values, notation))


def recognize_published(name: str, values: Values, notation: Notation = Notation()) -> ColumnProposal:  # noqa: B008
    """Return the `ColumnProposal` of the first type that recognizes the column and proposes a domain.

    A column needs a domain to be published.

    Raises SchemaError for a column without values.
    """
    if not values.records:
        raise SchemaError(f"column '{name}' has no values to publish. Give the column the role unused.")
    return next(column for column in _proposed(name, values, notation) if column.domain is not None)


def _proposed(name: str, values: Values, notation: Notation) -> Iterator[ColumnProposal]:
    """Yield the proposals of all types that recognize a column.

    Categories keep the texts of the file, even if the texts are numbers in another notation.
    """
    typed, odd = _typed(values, notation)
    if odd:
        plain = typed.written(notation)
        for kind in TYPES:
            column = next(kind(name, plain), None)
            if column and (kind is recognize_dates or not isinstance(column.domain, Categories)):
                yield column._replace(odd=odd)
    plain = values.written(notation)
    for kind in TYPES:
        column = next(kind(name, plain), None)
        if column and plain is not values and isinstance(column.domain, Categories):
            column = next(kind(name, values), None)
        if column:
            yield column


def _typed(values: Values, notation: Notation) -> tuple[Values, tuple[str, ...]]:
    """Return the values of a column that are of its type and, separately, the few texts that are not.

    Only columns of numbers or dates have such texts. At most 5% of the records may have such texts; if the values are
    nearly unique, up to half of the records may have one of at most three such texts. Whole numbers may be codes, some
    of which contain letters. Among whole numbers, only texts without a digit and texts such as `<5` and `#REF!`
    therefore count as texts of another type.
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
    """Return whether the `odd` texts among numbers show that the numbers are codes, or parts of an ordered list.

    For example, 012 and 12b among whole numbers show that the numbers are codes; 18, 19 and 90+ are an ordered list.
    """
    if odd.str.fullmatch(r"0\d+").any():
        return True
    lettered = odd.str.contains(r"\d") & ~odd.str.match("[<>≤≥#]")
    if lettered.any() and not notation.fractions(values.texts).any():
        return True
    return not values.nearly_unique and _order(values) is not None


def _of_dates(values: Values) -> Iterator[BoolArray]:
    """Yield, for each format that most of the first texts have, whether each text is a date: boolean array (texts,)."""
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
    """Return whether some texts are days in the format in which the day and the month are exchanged."""
    turned = form.translate(str.maketrans("dm", "md"))
    return turned in DAYS and turned != form and bool(_read(texts, turned).notna().any())


def recognize_empty(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize a column of empty cells."""
    if not values.records:
        yield ColumnProposal(name, Role.UNUSED, "every value is missing")


def recognize_people(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize e-mail addresses, telephone numbers and names of people.

    Telephone numbers are recognized by the name of the column or by a leading +, and names of people by the name of the
    column.
    """
    if values.match(r"[^@\s]+@[^@\s]+\.\w+"):
        yield ColumnProposal(name, Role.IDENTIFIER, "looks like mail addresses")
    if values.match(r"[+(]?\d[\d ()/.-]{5,}") and (PHONE.search(name) or values.texts.str.startswith("+").all()):
        yield ColumnProposal(name, Role.IDENTIFIER, "looks like phone numbers")
    if NAME.search(name) and values.match(r"\D+") and (values.different > FEW or values.nearly_unique):
        yield ColumnProposal(name, Role.IDENTIFIER, "names of people, by the column's name")


def recognize_year_spans(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize years and spans of years, such as seasons: 1995-98, 2010/11, 1978."""
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
    months = (said.str.len() == 2).all() and said.astype(int).between(1, 12).all()  # months unless they are seasons
    if months and (end != begin + 1)[said.index].any():
        return
    if begin.min() >= 1000 and (begin <= end).all() and end.max() <= 2200:
        order = dict(zip(values.texts, zip(begin, end, strict=True), strict=True))
        yield _categories(name, values, "spans of years", flat, said="in order: ", order=order.get, in_order=True)


def recognize_dates(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize days in one of the formats of `DAYS`, with or without a time of the day."""
    if forms := day_forms(values):
        yield _days(name, values, forms)
    elif _like_days(values):
        _check_order(name, _without_clock(values))


def day_forms(values: Values) -> list[str]:
    """Return the formats of `DAYS` that every text has; a time after the day is ignored.

    There are several formats if it is unclear which of two numbers is the month. The list is empty if the texts are not
    days. Some of the texts may be only a month or a year.
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


def count_partial_dates(values: Values) -> int:
    """Return the number of records that have only a month or a year in a column of days, or a year in one of months."""
    forms = day_forms(values)
    found = _read(_without_clock(values).texts, forms[0]).isna() if forms else np.zeros(len(values.texts), dtype=bool)
    return int(values.counts[np.asarray(found)].sum())


def recognize_days(name: str, values: Values, form: str) -> ColumnProposal:
    """Return the `ColumnProposal` of days in the format that the owner states.

    Parameters
    ----------
    name : str
    values : Values
    form : str
        One of the formats that `day_forms` returns.

    Raises
    ------
    SchemaError
        If the days do not have this format.
    """
    forms = day_forms(values)
    if form not in forms:
        found = " or ".join(map(spell_form, forms))
        raise SchemaError(
            f"column '{name}' does not hold days written as {spell_form(form)}: "
            + (f"all of its values can be read as {found}." if found else "not all of its values are days.")
        )
    return _days(name, values, [form])


def spell_form(form: str) -> str:
    """Return a format of dates in the notation that people use.

    >>> spell_form("%d/%m/%Y"), spell_form("%d-%b-%Y")
    ('dd/mm/yyyy', 'dd-mmm-yyyy')
    """
    return re.sub("%.", lambda part: LETTERS[part[0]], form)


def recognize_times(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize times of the day."""
    if values.match(taxonomies.TIME) and values.different <= LEAVES:
        day = max(map(taxonomies.Time.of, values.texts)) < (24, 0, 0)
        what = "times of the day" if day else "hours and minutes"
        yield _categories(name, values, what, taxonomies.times, order=taxonomies.Time.of, in_order=True)


def recognize_booleans(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize columns of true and false, written as any pair of words in `TRUTHS`."""
    said = {*values.texts.str.lower()} if values.different == 2 else ()
    if pair := next((pair for pair in TRUTHS if said == {*pair}), None):
        yield _categories(name, values, "values", flat, said=f"{pair[0]} or {pair[1]}; ")


def recognize_coordinates(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize degrees of latitude or longitude by the name of the column."""
    seen = values.numbers if COORDINATE.search(name) else None
    if seen and -180 <= seen.low and seen.high <= 180:
        if (domain := values.in_steps(Decimal("0.1"))) and seen.step < 1:
            yield _numbers(name, values, domain, "a coordinate", "0.1 is about 10 km, finer ones lead to a house")


def recognize_years(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize years by the name of the column."""
    seen = values.numbers if YEAR.search(name) and values.whole else None
    if seen and 1500 <= seen.low and seen.high <= 2200:
        yield _numbers(name, values, seen, f"years, {values.different} different")


def recognize_codes(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize codes, such as post codes and codes of diseases.

    Post codes are recognized by the name of the column, by the British format, or as digits of one length, some with a
    leading 0. Codes of diseases are recognized by their format; most of the codes must contain a point, unless the name
    of the column identifies them.
    """
    for what, tree in _code_shapes(name, values):
        yield _categories(name, values, what, tree, most=4, in_order=True)


def look_like_codes(name: str, values: Values) -> list[str]:
    """Return what kinds of codes the texts of a column look like, such as "ICD codes"; empty if they look like none."""
    return [what for what, _ in _code_shapes(name, values)]


def _code_shapes(name: str, values: Values) -> Iterator[tuple[str, Tree]]:
    """Yield each kind of codes that the texts look like, and the function that builds the tree of such codes."""
    lengths = values.texts.str.len()
    one_length = lengths.min() == lengths.max() in range(3, 9)
    if values.different < 3 or values.different > LEAVES:
        return
    if values.match(taxonomies.BRITISH):
        yield "post codes", taxonomies.british
    digits = one_length and values.match(r"\d+") and values.texts.str.startswith("0").any()
    if digits or (one_length and POST.search(name)):
        yield "codes", taxonomies.prefixes
    if values.match(ICD) and (SICK.search(name) or values.texts.str.contains(".", regex=False).mean() > 0.5):
        yield ICD_CODES, taxonomies.beginnings
    if POST.search(name) and lengths.max() <= 10:
        yield "codes of several lengths", taxonomies.beginnings


def recognize_free_text(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize free text: most of the distinct texts occur in only one record, or most of them are sentences."""
    if values.different > 1 and not values.numbers and (words := count_words(values)) >= WORDY:
        if values.texts.str.fullmatch(SENTENCE, flags=re.DOTALL).mean() > 0.5:
            reason = f"sentences, {words:.0f} words on average, which may name people and disclose anything"
            yield ColumnProposal(name, Role.UNUSED, reason)
    own = values.nearly_unique or (values.different > FEW and (values.counts == 1).mean() > 0.5)
    if own and not values.numbers and values.texts.str.len().mean() > LONG:
        words = values.texts.str.split().str.len().mean()
        yield ColumnProposal(name, Role.UNUSED, f"free text, {words:.0f} words on average, which may disclose anything")


def count_words(values: Values) -> float:
    """Return the average number of words of the distinct texts."""
    return float(values.texts.str.count(WORD).mean())


def recognize_group_numbers(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize, by the name of the column, whole numbers that are codes for a place, a group or a kind of people.

    If the name could also be the name of a size, the numbers must begin with 0 or 1 and have almost no gaps.
    """
    if not values.whole or values.different < 3 or values.nearly_unique:
        return
    numbers = values.texts.astype(float)
    counted = numbers.min() in (0, 1) and numbers.max() < 1.1 * values.different < values.records / 5
    if GROUP.fullmatch(name) or (PART.search(name) and counted) or (KIND.search(name) and values.different <= FEW):
        what = "numbers of groups or kinds"
        yield _categories(name, values, what, flat, said="by its name: ", order=float, in_order=True)


def recognize_keys(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize texts or whole numbers that are nearly all different, so that they nearly identify a person.

    Whole numbers are also recognized as a key of people by the name of the column.
    """
    if values.nearly_unique and (values.numbers is None or (values.whole and _names_people(name, values))):
        reason = f"{values.different} values in {values.records} records, so it nearly identifies a person"
        yield ColumnProposal(name, Role.IDENTIFIER, reason)
    if values.whole and OWNER.search(name) and values.records < values.different * MOST_ROWS:
        yield ColumnProposal(
            name, Role.IDENTIFIER, f"a key of people by its name: {values.different} different{values.gaps}"
        )


def recognize_numbers(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize numbers, unless the column has only two different whole numbers."""
    if values.numbers and not (values.whole and values.different == 2):
        yield _numbers(name, values, values.numbers, f"a number, {values.different} different", CODES * values.whole)


def recognize_ordered(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize values that have an order: whole numbers, ranges, and words such as "low" and "high"."""
    if order := _order(values):
        yield _categories(name, values, "values", flat, said="in order: ", order=order, in_order=True)


def recognize_many_texts(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize columns with more distinct texts than a hierarchy can list."""
    if values.different > LEAVES:
        reason = f"{values.different:,} different texts; shorten or group them in the file first"
        yield ColumnProposal(name, Role.UNUSED, reason)


def recognize_categories(name: str, values: Values) -> Iterator[ColumnProposal]:
    """Recognize all other columns as categories."""
    yield _categories(name, values, "values", flat)


TYPES = (
    recognize_empty, recognize_people, recognize_year_spans, recognize_dates, recognize_times, recognize_booleans,
    recognize_coordinates, recognize_years, recognize_codes, recognize_free_text, recognize_group_numbers,
    recognize_keys, recognize_numbers, recognize_ordered, recognize_many_texts, recognize_categories,
)  # fmt: skip


def _numbers(name: str, values: Values, domain: Numbers, reason: str, more: str = "") -> ColumnProposal:
    """Return the proposal for a column of numbers; `more` is a note that is added to the `reason`."""
    domain = replace(domain, cuts=None, missing=values.mark if values.missing else None)
    parted = _cuts(domain, values)
    domain, even = replace(domain, cuts=parted), "its cuts divide people about evenly" * (parted is not None)
    rounded = (
        "" if domain.has(values.texts).all() else f"loading rounds numbers to the step of the domain, {domain.step:g}"
    )
    return ColumnProposal(name, KNOWN, "; ".join(filter(None, [reason + values.gaps, more, even, rounded])), domain)


def _cuts(domain: Numbers, values: Values) -> tuple[float, ...] | None:
    """Return cuts that divide people roughly evenly, if a default interval would hold over a third of the people.

    If many people are in one interval, a class may lie completely in this interval and so disclose the interval of each
    member. The result is None if no default interval holds more than a third of the people, or if there are no better
    cuts.
    """
    if domain.steps < FEW_VALUES:
        return None  # each value is a band of its own
    numbers = pd.to_numeric(domain.rounded(values.texts)).to_numpy(dtype=float)
    numbers, place = np.unique(numbers, return_inverse=True)
    people = np.bincount(place, values.counts).astype(np.int64)
    fullest = _fullest(cast(tuple[float, ...], domain.cuts), numbers, people)
    if fullest <= people.sum() / 3:
        return None
    found = cuts.even_cuts(domain, numbers, people, LIMIT)
    return found if found and _fullest(found, numbers, people) < fullest else None


def _fullest(parted: Sequence[float], numbers: FloatArray, people: IntArray) -> int:
    """Return the number of people in the interval that holds the most people; `parted` holds the cuts."""
    return np.bincount(np.searchsorted(parted, numbers, side="right"), people).max()


def _categories(
    name: str, values: Values, what: str, tree: Tree, said: str = "", order: Callable[[str], Any] = str, **how: Any
) -> ColumnProposal:
    """Return the proposal for a column of categories.

    `said` is the beginning of the reason, and `what` describes the values. `tree` is the function that builds the tree,
    `order` is the sort key of the values, and `how` holds options of `merge_siblings`.
    """
    if SUPPRESSED in set(values.texts):
        raise SchemaError(
            f"'{name}' has cells with '{SUPPRESSED}', which means a suppressed value in a release. Replace this text "
            "with another word, or leave the cells empty if their value is missing."
        )
    domain = Categories((*sorted(set(values.texts), key=order), *values.marks))
    attribute = Attribute(name, KNOWN, domain)
    made = flat(attribute) if tree is flat else tree(attribute, apart=values.marks)
    whole = cast(Taxonomy, made)  # categories always have a tree
    with contextlib.suppress(SchemaError):  # two values joined by | may be a third value
        # Texts without an order may be the words of one person; ordered values and codes are not.
        whole = merge_siblings(
            whole, values.records_of(), named=LIMIT * (tree is flat and "in_order" not in how), **how
        )
    many = f"{values.different} {what}" if values.different != 1 else "one value"
    return ColumnProposal(name, attribute.role, f"{said}{many}{values.gaps}", domain, whole)


def _like_days(values: Values) -> bool:
    """Return whether the first texts look like days.

    Only columns whose first texts look like days are read completely as days.
    """
    first = _without_clock(replace(values, texts=values.texts[:FIRST]))
    return values.different <= LEAVES and any(map(first.match, [*DAYS.values(), *PARTLY.values()]))


def _without_clock(values: Values) -> Values:
    return replace(values, texts=values.texts.str.replace(taxonomies.CLOCK, "", regex=True))


def _days(name: str, values: Values, forms: Sequence[str]) -> ColumnProposal:
    """Return the `ColumnProposal` of days in one of the formats `forms`."""
    form, *others = forms
    alone = _without_clock(values)
    examples = " or ".join(date(2024, 2, 29).strftime(each).replace("%q", "1") for each in forms)
    what = "days" if "%d" in form else "quarters" if "%q" in form else "months"
    if timed := (alone.texts != values.texts).any():
        what = "points in time"
    said = f"dates, written like {examples}{' 13:45' * bool(timed)}; "
    said += "labels above the leaves have no time of the day; " * bool(timed)
    if count_partial_dates(values):
        said, what = f"{said}some have only a month or a year; ", "dates"
    said += "69 to 99 mean 1969 to 1999; " * form.endswith("y")
    tree = partial(taxonomies.dates, form=form)
    if others:  # both forms have the same year
        answer = f"{name}: {spell_form(form)}"
        said += f"the form is ambiguous, so the tree has only years: state --days {answer!r} for months; "
        tree = partial(_years, form=form)
    order = dict(zip(values.texts, _dated(alone.texts, form), strict=True)).get
    return _categories(name, values, what, tree, said=said, order=order, in_order=True, lowest=-1)


def _check_order(name: str, values: Values) -> None:
    """Raise SchemaError if some dates begin with the day and other dates begin with the month."""
    for form, looks in DAYS.items():
        turned = form.translate(str.maketrans("dm", "md"))
        # The orders differ only if both the first and the second part exceed 12 somewhere.
        if form.startswith("%d") and turned in DAYS and values.match(looks):
            first, other = (_read(values.texts, each).isna() for each in (form, turned))
            if not (first & other).any():
                day, month = values.texts[other].iloc[0], values.texts[first].iloc[0]
                raise SchemaError(
                    f"column '{name}' has days in two orders: {day!r} begins with the day, {month!r} with the month. "
                    "Write all days in one order, such as 2024-02-29."
                )


def _read(texts: pd.Series, form: str) -> pd.Series:
    if "%q" in form:
        texts, form = texts.str.upper().replace(taxonomies.QUARTERS, regex=True), form.replace("Q%q", "%m")
    return pd.to_datetime(texts, format=form, errors="coerce")


def _dated(texts: pd.Series, form: str) -> pd.Series:
    """Return the date of each text; a text that is only a month or a year becomes the first day of the period."""
    found = _read(texts, form)
    for each in taxonomies.coarser_forms(form):
        found = found.fillna(_read(texts, each))
    return found


def _years(attribute: Attribute, apart: Sequence[str], form: str) -> Taxonomy:
    """Return the tree of days without the levels of months and quarters."""
    rows = taxonomies.dates(attribute, apart, form).rows
    return Taxonomy(attribute.name, tuple((row[0], *row[-3:]) for row in rows))


def _order(values: Values) -> Callable[[str], Any] | None:
    """Return the sort key of the values of a column; None if the values have no order."""
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
    """Return whether whole numbers that are nearly all different look like keys of people.

    Numbers look like keys if the column has the name of a key. Unless the column has the name of a measured quantity,
    numbers also look like keys if they number the records without large gaps, or if they all have the same length of at
    least six digits and few of them end in 0.
    """
    numbers, lengths = values.texts.astype(float), values.texts.str.len()
    dense = values.different > 0.9 * values.records and numbers.max() - numbers.min() < 1.2 * values.different
    codes = lengths.min() == lengths.max() >= 6 and values.match(r"\d+") and (numbers % 10 == 0).mean() < 0.5
    return bool(KEY.search(name) or ((dense or codes) and not MEASURED.search(name)))
