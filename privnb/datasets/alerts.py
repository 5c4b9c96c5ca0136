"""Alerts about the columns of a table, examples of values, and repeated records, for the choice of roles.

The text of an alert continues a sentence that begins with the name of the column. Alerts are for the owner of the
table, so the counts in alerts are not withheld. An example is a value, or a pattern of letters and digits, that at
least ten people share, so no example belongs to a single person.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from privnb.datasets import column_types, repairs
from privnb.datasets.column_values import Values
from privnb.datasets.description import GUESS
from privnb.microdata.counts import count_combinations, count_people_by_group
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT
from privnb.runtime import numerals
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import escape_invisible as visible, find_unnamed, original_name
from privnb.runtime.sentences import join_names
from privnb.runtime.tolerances import STEP
from privnb.tables.derivation import Derivation
from privnb.tables.notation import DASHES, MISSING

SHOWN, LONGEST = 3, 24  # the maximum number of examples of a column, and their maximum length
FEW_KINDS = 50  # the number of distinct records below which records may repeat by chance
MANY = 50  # the maximum number of categories without a tree; with more, few people share a value
UNIQUE = 0.9  # the minimum number of distinct values per record that has a value
GAPS = 0.2  # the minimum share of records with a missing value
FOLLOWS = 0.99  # the minimum share of records whose value follows from another column
LEFT = 0.1  # the maximum share of errors that remain of a guess without the other column
MOST = 60  # the maximum number of columns that are compared in pairs
ORDER = 0.99  # rank correlation
KNOWN = Role.QUASI_IDENTIFIER
WEIGHT = re.compile(
    r"w(eigh|gh?)ts?(?![a-z])|(^|[\W_])wts?([\W_\d]|$)|hochrechnung|gewicht|(^|[\W_])(b?p?hrf|gew|poids|pond)([\W_\d]|$)",
    re.IGNORECASE,
)
SURELY = re.compile(r"(fnl|final|sampl\w*|survey|design|post|expansion|anal\w*|psp)[\W_]?w(eigh|gh?)t", re.IGNORECASE)
CODES = (r"-\d+", r"9+[6-9]")  # codes of surveys for a missing answer
NUMERAL = r"-?\d+([.,]\d+)?"
FEW_CODES = 4
MANY_PEOPLE, FEW_RECORDS = 100, 20  # the minimum number of distinct keys, the maximum number of records of each
MANY_NUMBERS = 10  # the minimum number of distinct numbers; `find_determined` covers other columns


def find_alerts(
    values: Mapping[str, Values],
    roles: Mapping[str, Role],
    numeric: Mapping[str, float],
    pairs: Iterable[tuple[str, str, float, float]] = (),
    copies: Iterable[tuple[str, str, float]] = (),
    guessed: Iterable[str] = (),
    derived: Mapping[str, Derivation] = MappingProxyType({}),
    *,
    on_page: bool = False,
) -> dict[str, list[str]]:
    """Return the alerts about each column, `{column: sentences}`.

    A column has alerts only if its role allows a release to contain the column.

    Parameters
    ----------
    values : dict of str to Values
    roles : dict of str to Role
    numeric : dict of str to number
        The step of the domain of each column that is described as numbers.
    pairs : iterable of tuple
        The result of `find_determined`.
    copies : iterable of tuple
        The result of `find_same_order`.
    guessed : container of str
        The columns for which a draft guessed that texts of another type are missing values.
    derived : dict of str to Derivation
        The rules of the derived columns.
    on_page : bool
        Whether the alerts are for the page, whose controls they name, and not for the command line.

    Returns
    -------
    dict of str to list of str
    """
    shown = {name for name, role in roles.items() if role in PUBLISHED}
    found = {
        name: [*_alone(name, values[name], roles[name], name in numeric, name in derived, on_page)]
        if name in shown
        else []
        for name in roles
    }
    for name in shown & {*numeric}:
        found[name].extend(_rounded(values[name], numeric[name], on_page))
    for name in shown & {*derived}:
        found[name].extend(_negative(values[name], derived[name], on_page))
    for name in guessed:
        found[name].extend(_odd(values[name], "numbers" if name in numeric else "dates", on_page))
    for name, said in found.items():
        if (first := original_name(name)) in values:
            said.insert(
                0, f"another column '{first}' of the file. If its first line is a record, add a line of names above it"
            )
    for name in find_unnamed([*values]):
        found[name].insert(
            0, "has no name in the file, so this is its position. Name it in the file unless it is a row number"
        )
    shares = {(one, other): (share, guess) for one, other, share, guess in pairs if {one, other} <= shown}
    for (one, other), (share, guess) in shares.items():
        percent = numerals.write_number("{:%} of records", share)
        if (other, one) not in shares:
            almost = "almost " * (share < 1)
            found[one].append(
                f"{almost}determines '{other}': {percent}, {numerals.write_number('{:%}', guess)} by guessing"
            )
        elif list(roles).index(one) > list(roles).index(other):
            found[one].append(f"has the same content as '{other}': {percent}. Give one of them the role unused")
    for one, other, correlation in copies:
        for known, sensitive in ((one, other), (other, one)):
            if {known, sensitive} <= shown and roles[sensitive] is Role.SENSITIVE is not roles[known]:
                found[known].append(
                    f"has {'the opposite' if correlation < 0 else 'the'} order of '{sensitive}', which is sensitive "
                    "(rank "
                    f"correlation {correlation:.3f}), so a value of one nearly discloses the other. Give it the role "
                    "sensitive or unused"
                )
    return found


def _describe_again(on_page: bool) -> str:
    """Return how a corrected file is described again, as the end of a sentence."""
    return (
        "describe it again (in a terminal: privnb describe FILE --again)"
        if on_page
        else "describe it again with --again"
    )


def _draft_again(on_page: bool, name: str, texts: Iterable[str]) -> str:
    """Return how the table is drafted again if `texts` mark a missing value, as the end of a sentence."""
    option = f"--missing {f'{name}: ' + '|'.join(texts)!r}"
    if on_page:
        return f"describe the file again (in a terminal: privnb describe FILE --again {option})"
    return f"draft the table again with {option}"


def _odd(values: Values, what: str, on_page: bool) -> Iterator[str]:
    """Yield a question about cells that count as missing because they are not of the type of the column.

    The function yields nothing if there are no such cells. `what` describes the type.
    """
    named = values.named[
        [text not in (*MISSING, *DASHES) and not re.fullmatch(NUMERAL, text) for text in values.named.index]
    ]
    if not len(named):
        return
    shared = sorted(named.index[named >= LIMIT])[:FEW_CODES]
    such = f", such as {join_names(shared)}" if shared else ""
    how = (
        "Confirm it with the menu of this column"
        if on_page
        else f"Confirm it in the tab Columns, or delete the words '{GUESS}' in the line `missing` of this column in "
        "the description file"
    )
    yield (
        f"Cells that do not hold {what} count as missing: {named.sum():,} of {values.records + values.missing:,}{such}"
        f". Do they mean a missing value? {how}. If they have another meaning, correct the file and "
        f"{_describe_again(on_page)}"
    )


def _negative(values: Values, rule: Derivation, on_page: bool) -> Iterator[str]:
    """Yield a warning if lengths of time are negative; nothing changes them."""
    if not rule.is_interval:
        return
    if records := int(values.counts[pd.to_numeric(values.texts).to_numpy() < 0].sum()):
        yield (
            f"{records:,} {'records have' if records > 1 else 'record has'} a negative value, because '{rule.to}' is "
            f"before '{rule.source}'. The values stay as they are. If the dates are wrong, correct the file and "
            f"{_describe_again(on_page)}"
        )


def _rounded(values: Values, step: float, on_page: bool) -> Iterator[str]:
    """Yield a warning if numbers are rounded because a few outliers make the domain wide."""
    if not values.numbers or not values.outliers.any():
        return
    steps = pd.to_numeric(values.texts).to_numpy(dtype=float) / step
    changed = values.counts[abs(steps - np.rint(steps)) > STEP].sum()
    if changed:
        outliers = values.counts[values.outliers].sum()
        yield (
            f"Numbers are rounded to multiples of {step:,g}, which changes {changed:,} of {values.records:,} records: "
            f"{outliers:,} {'records have outliers' if outliers > 1 else 'record has an outlier'}, far from all other "
            "numbers, and the domain includes these. If outliers are errors or mean a missing answer, correct the file "
            f"and {_describe_again(on_page)}"
            + (
                f". Otherwise, check whether multiples of {step:,g} are exact enough"
                if on_page
                else ", or name them with --missing. Otherwise, check the `step` of this column in the description file"
            )
        )


def _numbers_people(values: Values) -> bool:
    """Return whether whole numbers may identify the person of a record.

    Numbers that identify a person have many distinct values, each of which occurs in few records. In addition, the
    values have almost no gaps, or all have the same number of digits. Amounts, in contrast, have gaps and different
    numbers of digits.
    """
    each = values.different
    if not (
        values.numbers and values.whole and each >= MANY_PEOPLE and 1.1 * each < values.records < FEW_RECORDS * each
    ):
        return False
    numbers = pd.to_numeric(values.texts)  # the domain of a draft may be wider
    low, high = numbers.min(), numbers.max()
    return low >= 0 and (each > 0.8 * (high - low + 1) or len(str(int(low))) == len(str(int(high))) > 3)


def _weighs(name: str, values: Values) -> bool:
    """Return whether numbers seem to be sampling weights, judged by the name of the column and the size of the numbers.

    Sampling weights are at least 0. In many surveys, the mean of the sampling weights is about 1 or several hundred,
    unlike the mean of body weights in kilograms or pounds. If only sampling weights could have the name of the column,
    the mean is not checked.
    """
    if not WEIGHT.search(name) or not values.numbers or values.numbers.low < 0:
        return False
    numbers = pd.to_numeric(values.texts).to_numpy()
    mean = np.average(numbers, weights=values.counts)
    return bool(SURELY.search(name) or 0.3 < mean < 3 or mean > 300)


def _spellings(values: Values) -> list[str]:
    """Return descriptions of the groups of values that differ only in spelling; see `repairs.find_spellings`.

    A group with a value that few records have is not shown; the last description states the number of such groups.
    """
    groups = repairs.find_spellings(values)
    shown = [each for each in groups if not each.has_few]
    said = [" and ".join(map(repr, each.counts)) for each in shown[:FEW_CODES]]
    few = len(groups) - len(shown)
    return [*said, *([f"{few} value{'s' * (few > 1)} that few records have"] if few else [])]


def _unanswered(values: Values) -> list[str]:
    """Return the texts of numbers that seem to be codes for a missing answer.

    Examples are -1 among positive numbers, and 9999 if all other numbers are far lower.
    """
    if not values.numbers:
        return []
    numbers, found = pd.to_numeric(values.texts).to_numpy(), np.zeros(len(values.texts), dtype=bool)
    for looks in CODES:
        coded = values.texts.str.fullmatch(looks).to_numpy(dtype=bool)
        others = numbers[~(coded | found)]
        apart = coded & ((numbers < 0) | (numbers > 2 * others.max(initial=0)))
        others = numbers[~(apart | found)]  # 98 among numbers up to 60 is one of them
        if len(others) and others.min() >= 0 and (numbers[apart] < 0).all() | (numbers[apart] > 2 * others.max()).all():
            found |= apart
    return sorted(values.texts[found], key=float) if found.sum() <= FEW_CODES else []


def _alone(name: str, values: Values, role: Role, numeric: bool, is_derived: bool, on_page: bool) -> Iterator[str]:
    """Yield the alerts of one column."""
    people = values.records + values.missing
    repair = "repair the values of this column" if on_page else f"repair them with --repair {name!r}"
    if values.different == 1 and not values.missing:
        yield "constant: all records have the same value"
    if values.missing > GAPS * people:
        yield f"many missing: {numerals.write_number('{:%} of records', values.missing / people)}"
    if not numeric and len(words := values.words):
        shared = sorted(words.index[words >= LIMIT])[:FEW_CODES]
        how = _draft_again(on_page, name, shared) if shared else "draft the table again with empty cells"
        yield (
            f"mixed: {words.sum():,} of {values.records:,} values are not numbers. If they mean a missing value, "
            f"{how}: numbers are published in ranges, and texts are not"
        )
    if not numeric and (partly := column_types.count_partial_dates(values)):
        yield (
            f"dates of mixed precision: {partly:,} of {values.records:,} dates have only a month or a year. They stay "
            "as they are, and no day or month is invented"
        )
    if not numeric and values.different > 1 and column_types.count_words(values) >= column_types.WORDY:
        yield (
            f"texts of several words, {column_types.count_words(values):.0f} on average: remarks may name people and "
            "disclose anything. Unless these are the names of categories, give the column the role unused"
        )
    if not numeric and (ways := _spellings(values)):
        yield (
            f"written in several ways, each of which counts as a value of its own: {'; '.join(ways)}. If they mean the "
            f"same, {repair}"
        )
    if not numeric and (digits := repairs.find_digits(name, values)):
        short = repairs.count_short(values, digits)
        yield (
            f"codes of different lengths: {short:,} of {values.records:,} codes have fewer than {digits} digits. "
            f"Programs that read codes as numbers drop leading zeros. If that happened here, {repair}"
        )
    if numeric and not is_derived and (codes := _unanswered(values)):
        yield (
            f"{join_names(codes)} {'are' if codes[1:] else 'is'} far from all other values. If that means a missing "
            f"answer, {_draft_again(on_page, name, codes)}"
        )
    if numeric and _numbers_people(values):
        yield (
            f"{values.different:,} different whole numbers in {values.records:,} records. Does the number identify "
            "a person or household? If so, give the column the role person, so that k counts people"
        )
    if numeric and role in (KNOWN, Role.NEUTRAL) and _weighs(name, values):
        yield (
            "looks like sampling weights, the number of people of the population that a record represents: if so, "
            "give it "
            "the role weight"
        )
    if numeric and role is not Role.NEUTRAL:
        return  # the column is published in ranges or bands
    if values.different > max(UNIQUE * values.records, 1):
        yield f"nearly unique: {values.different:,} values in {values.records:,} records"
    elif values.different > MANY:
        yield f"high cardinality: {values.different:,} values"


def find_determined(cells: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """Return the pairs of columns in which the value of one column almost determines the value of the other column.

    The first column almost determines the second column if the value in the second column can be predicted for at least
    99% of the records. The prediction for a record uses the other records with the same value in the first column;
    without such records, there is no prediction.

    Parameters
    ----------
    cells : DataFrame
        Categorical columns, in which a missing value counts as one more value. Only the first 60 columns with recurring
        values are compared.

    Returns
    -------
    list of tuple
        The determining column, the determined column, the share of records for which the prediction is correct, and the
        share of records that have the most common value of the determined column.
    """
    codes = {name: np.unique(cells[name].cat.codes, return_inverse=True)[1] for name in cells}
    recur = [name for name, own in codes.items() if 0 < own.max(initial=0) < len(cells) / 2][:MOST]
    commonest = {name: np.bincount(codes[name]).max() / len(cells) for name in recur}
    found = []
    for one, other in itertools.combinations(recur, 2):
        width = int(codes[other].max()) + 1
        both, counts = np.unique(codes[one].astype(np.int64) * width + codes[other], return_counts=True)
        places = {one: both // width, other: both % width}
        for known, implied in ((one, other), (other, one)):
            share = _told(places[known], counts) / len(cells)
            if share >= FOLLOWS and 1 - share <= LEFT * (1 - commonest[implied]):
                found.append((known, implied, share, commonest[implied]))
    return found


def find_same_order(numbers: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Return the pairs of numeric columns that put the records into nearly the same or the opposite order.

    The absolute value of Spearman's rank correlation of such a pair is at least 0.99. Examples are a birth year and an
    age, and a weight in ounces and the same weight in grams, rounded or not. `find_determined` finds such pairs only if
    values recur.

    Parameters
    ----------
    numbers : DataFrame
        Columns of floats. For each pair of columns, records with a missing number in at least one of the two columns
        are left out. Only the first 60 columns with more than ten distinct values are compared.

    Returns
    -------
    list of tuple
        The two columns and the correlation of their ranks.

    Source: Spearman, "The proof and measurement of association between two things", 1904.
    """
    ranks = numbers[[name for name in numbers if numbers[name].nunique() > MANY_NUMBERS][:MOST]].rank()
    found = ranks.corr(min_periods=MANY_NUMBERS)
    pairs = itertools.combinations(found, 2)
    return [(one, other, found.loc[one, other]) for one, other in pairs if abs(found.loc[one, other]) >= ORDER]


def _told(known: IntArray, counts: IntArray) -> int:
    """Return the number of records whose second value is predicted by other records with the same first value.

    The prediction is the most common second value among these other records.
    """
    order = np.lexsort((-counts, known))
    known, counts = known[order], counts[order]
    first = np.flatnonzero(np.diff(known, prepend=-1))
    second = np.append(counts, 0)[first + 1] * (np.append(known, -1)[first + 1] == known[first])
    most = counts[first]
    return int(most[most > second + 1].sum())


def describe_examples(column: pd.Series, values: Values, *, hidden: bool, people: IntArray | None = None) -> str:
    """Return the most common values of a column; return patterns of values if no value is shared by ten people.

    Parameters
    ----------
    column : Series
        A Categorical of texts.
    values : Values
        The values of the same column.
    hidden : bool
        Whether only patterns are shown, because the values identify people.
    people : integer array (n,), optional
        The number of the person of each record, from 0. If None, each record belongs to a different person.

    Returns
    -------
    str
        At most three examples; empty if no value and no pattern is shared by ten people.
    """
    texts = values.texts[np.isin(values.texts.index, column.cat.codes)]  # only texts that occur in a sample
    for form in (mask_letters, mask_runs) if hidden else (str, mask_letters, mask_runs):
        number, distinct = pd.factorize(texts.map(form))
        place = np.full(len(column.cat.categories) + 1, -1)  # the last place is that of a missing value
        place[texts.index] = number
        groups = place[column.cat.codes]
        own = None if people is None else people[groups >= 0]
        found = pd.Series(count_people_by_group(groups[groups >= 0], own, len(distinct)), distinct)
        if (shared := found[found >= LIMIT].nlargest(SHOWN)).size:
            return visible(", ".join(text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in shared.index))
    return ""


def mask_letters(text: str) -> str:
    """Return the pattern of a text.

    >>> mask_letters("Main St. 12b"), mask_runs("Main St. 12b")
    ('Aaaa Aa. 99a', 'Aa Aa. 9a')
    """
    text = re.sub(r"[^\W\d_]", lambda letter: "A" if letter[0].isupper() else "a", text)
    return re.sub(r"[^\w\s.,:;@/+-]", "?", re.sub(r"\d", "9", text))


def mask_runs(text: str) -> str:
    """Return the pattern of a text with a single letter for each run of equal letters."""
    return re.sub(r"([aA9])\1+", r"\1", mask_letters(text))


def describe_repetition(
    roles: Mapping[str, Role], columns: Collection[str], repetition: Callable[[list[str]], tuple[int, int, int]]
) -> str:
    """Return a sentence if each record occurs more than once, as in a file that was appended to itself; otherwise, "".

    The result is also empty if a column is the key of people, because `k` then is a number of people and not of
    records.

    Parameters
    ----------
    roles
        The role of each column. Identifiers are not compared, because the copies of a record may have new identifiers.
    columns
        The columns of the table.
    repetition
        A function that returns the number of records, the number of distinct records in some columns, and the smallest
        number of copies of a record.
    """
    names = [name for name, role in roles.items() if role is not Role.IDENTIFIER and name in columns]
    if not names or Role.PERSON in roles.values():
        return ""
    records, different, rarest = repetition(names)
    if rarest < 2 or different < max(FEW_KINDS, records / 10):
        return ""
    return (
        f"Each record occurs more than once: {records:,} records, {different:,} of them distinct. If the copies belong "
        "to one person, k counts that person several times. Keep one copy, or name the column that identifies the "
        "person of a record."
    )


def count_repetition(cells: pd.DataFrame) -> tuple[int, int, int]:
    """Return the number of rows, the number of distinct rows, and the smallest number of copies of a row."""
    times = count_combinations(cells).multiplicities
    return len(cells), len(times), int(times.min())
