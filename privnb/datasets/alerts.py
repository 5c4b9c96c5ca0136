"""What an owner should know of a table before roles are chosen: alerts about its columns, as tools that profile tables
give them, examples of their values, and whether each record occurs more than once.

An alert is what stands behind the column's name. Alerts are for the owner: their counts are not withheld. Examples are
no person's: values that ten people share, or patterns of letters and digits.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from privnb.datasets import column_types
from privnb.datasets.column_values import Values
from privnb.datasets.description import GUESS
from privnb.microdata.counts import combinations, people_in
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT
from privnb.runtime import numerals
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import first_of, has_none, shown as visible
from privnb.runtime.sentences import listed
from privnb.runtime.tolerances import STEP
from privnb.tables.notation import DASHES, MISSING

SHOWN, LONGEST = 3, 24  # examples of a column, and letters of each
FEW_KINDS = 50  # of records: among so few kinds, each record equals another one by chance
MANY = 50  # categories: more need a tree, or hardly two people are alike
UNIQUE = 0.9  # different values per record that has one
GAPS = 0.2  # of the records
FOLLOWS = 0.99  # of the records
LEFT = 0.1  # of the faults of a guess without the other column
MOST = 60  # columns, each of which is compared with each
ORDER = 0.99  # rank correlation
KNOWN = Role.QUASI_IDENTIFIER
WEIGHT = re.compile(
    r"w(eigh|gh?)ts?(?![a-z])|(^|[\W_])wts?([\W_\d]|$)|hochrechnung|gewicht|(^|[\W_])(b?p?hrf|gew|poids|pond)([\W_\d]|$)",
    re.IGNORECASE,
)
SURELY = re.compile(r"(fnl|final|sampl\w*|survey|design|post|expansion|anal\w*|psp)[\W_]?w(eigh|gh?)t", re.IGNORECASE)
CODES = (r"-\d+", r"9+[6-9]")  # how surveys write that nobody answered
NUMERAL = r"-?\d+([.,]\d+)?"
FEW_CODES = 4
MANY_PEOPLE, FEW_RECORDS = 100, 20  # numbers that may be of people or households; records of each at most
MANY_NUMBERS = 10  # different ones: of fewer, `determined` says what is to be said


def alerts(
    values: Mapping[str, Values],
    roles: Mapping[str, Role],
    numeric: Mapping[str, float],
    pairs: Iterable[tuple[str, str, float, float]] = (),
    copies: Iterable[tuple[str, str, float]] = (),
    guessed: Iterable[str] = (),
) -> dict[str, list[str]]:
    """`{column: sentences}` of the columns whose role lets a release hold them.

    Parameters
    ----------
    values : dict of str to Values
    roles : dict of str to Role
    numeric : dict of str to number
        The columns that are described as numbers, and the step of each domain.
    pairs : iterable of tuple
        What `determined` gives.
    copies : iterable of tuple
        What `ordered_alike` gives.
    guessed : container of str
        The columns of which a draft guessed that some texts count as missing, since they are not of its type.

    Returns
    -------
    dict of str to list of str
    """
    shown = {name for name, role in roles.items() if role in PUBLISHED}
    found = {
        name: [*_alone(name, values[name], roles[name], name in numeric)] if name in shown else [] for name in roles
    }
    for name in shown & {*numeric}:
        found[name].extend(_rounded(values[name], numeric[name]))
    for name in guessed:
        found[name].extend(_odd(values[name], "numbers" if name in numeric else "dates"))
    for name, said in found.items():
        if (first := first_of(name)) in values:
            said.insert(0, f"a further column '{first}' of the file. If its first line is a record, put names above it")
    for name in has_none([*values]):
        found[name].insert(
            0, "has no name in the file: this is its place. Name it there if it is more than a row number"
        )
    shares = {(one, other): (share, guess) for one, other, share, guess in pairs if {one, other} <= shown}
    for (one, other), (share, guess) in shares.items():
        percent = numerals.written("{:%} of records", share)
        if (other, one) not in shares:
            almost = "almost " * (share < 1)
            found[one].append(f"{almost}determines '{other}': {percent}, {numerals.written('{:%}', guess)} by guessing")
        elif list(roles).index(one) > list(roles).index(other):
            found[one].append(f"says the same as '{other}': {percent}. Leave one of them unused")
    for one, other, correlation in copies:
        for known, secret in ((one, other), (other, one)):
            if {known, secret} <= shown and roles[secret] is Role.SENSITIVE is not roles[known]:
                found[known].append(
                    f"has {'the opposite' if correlation < 0 else 'the'} order of '{secret}', which is sensitive (rank "
                    f"correlation {correlation:.3f}): whoever knows the one knows nearly the other. Make it sensitive, "
                    "too, or leave it unused"
                )
    return found


def _odd(values: Values, what: str) -> Iterator[str]:
    """The question about the cells of a column that are not of its type: one sentence, or none."""
    named = values.named[
        [text not in (*MISSING, *DASHES) and not re.fullmatch(NUMERAL, text) for text in values.named.index]
    ]
    if not len(named):
        return
    shared = sorted(named.index[named >= LIMIT])[:FEW_CODES]
    such = f", such as {listed(shared)}" if shared else ""
    yield (
        f"Cells that do not hold {what} count as missing: {named.sum():,} of {values.records + values.missing:,}{such}"
        f". Do they say that no value is there? Choose it on the page of roles, or delete the words '{GUESS}' in the "
        "line `missing` of this column in the description file. If they say more, correct the file and describe it "
        "again with --again"
    )


def _rounded(values: Values, step: float) -> Iterator[str]:
    """The warning that numbers are rounded because a few outliers stretch their domain: one sentence, or none."""
    if not values.numbers or not values.outliers.any():
        return
    steps = pd.to_numeric(values.texts).to_numpy(dtype=float) / step
    changed = values.counts[abs(steps - np.rint(steps)) > STEP].sum()
    if changed:
        outliers = values.counts[values.outliers].sum()
        yield (
            f"Numbers are rounded to multiples of {step:,g}, which changes {changed:,} of {values.records:,} records: "
            f"{outliers:,} {'records have outliers' if outliers > 1 else 'record has an outlier'}, far from all other "
            "numbers, and the domain holds these too. If outliers are errors or say that nobody answered, correct the "
            "file and describe it again with --again, or name them with --missing. Otherwise, check the `step` of this "
            "column in the description file"
        )


def _numbers_people(values: Values) -> bool:
    """Return whether whole numbers may say whose a record is: many, few records of each, without gaps or of one length.

    Amounts have other lengths and gaps.
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
    """Whether numbers are weights by their name, and are above 0 and on average what people do not weigh in kilograms
    or pounds: about 1, or hundreds, as those of a survey often are; or have a name that only sampling weights have.
    """
    if not WEIGHT.search(name) or not values.numbers or values.numbers.low < 0:
        return False
    numbers = pd.to_numeric(values.texts).to_numpy()
    mean = np.average(numbers, weights=values.counts)
    return bool(SURELY.search(name) or 0.3 < mean < 3 or mean > 300)


def _spellings(values: Values) -> list[str]:
    """Values that are alike but for capitals and spaces: list of texts, a few; of those that few records have how many
    there are.
    """
    plain = values.texts.str.split().str.join(" ").str.casefold()
    alike = [each for _, each in values.texts[plain.duplicated(keep=False)].groupby(plain, sort=False)]
    people = pd.Series(values.counts, values.texts.index)
    shown = [each for each in alike if (people[each.index] >= LIMIT).all()]
    said = [" and ".join(map(repr, each)) for each in shown[:FEW_CODES]]
    few = len(alike) - len(shown)
    return [*said, *([f"{few} value{'s' * (few > 1)} that few records have"] if few else [])]


def _unanswered(values: Values) -> list[str]:
    """The texts of numbers that seem to be codes: 97, 98 or 9999 far above all others, or below 0 where no other is."""
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


def _alone(name: str, values: Values, role: Role, numeric: bool) -> Iterator[str]:
    """The alerts of one column."""
    people = values.records + values.missing
    if values.different == 1 and not values.missing:
        yield "constant: one value, which tells nobody apart"
    if values.missing > GAPS * people:
        yield f"many missing: {numerals.written('{:%} of records', values.missing / people)}"
    if not numeric and len(words := values.words):
        shared = sorted(words.index[words >= LIMIT])[:FEW_CODES]
        how = f"with --missing {f'{name}: ' + '|'.join(shared)!r}" if shared else "with empty cells"
        yield (
            f"mixed: {words.sum():,} of {values.records:,} values are no numbers. If they say that one is missing, "
            f"draft it anew {how}: numbers are published in ranges, and texts are not"
        )
    if not numeric and (partly := column_types.partly_dated(values)):
        yield (
            f"dates of mixed precision: {partly:,} of {values.records:,} dates name only a month or a year. Each keeps "
            "what it names, and no day or month is invented"
        )
    if not numeric and (ways := _spellings(values)):
        yield (
            f"written in several ways, each of which counts as a value of its own: {'; '.join(ways)}. If they mean the "
            "same, correct the file and take it anew with --again"
        )
    if numeric and (codes := _unanswered(values)):
        yield (
            f"{listed(codes)} {'stand' if codes[1:] else 'stands'} apart from all others. If that means that nobody "
            f"answered, draft it anew with --missing {f'{name}: ' + '|'.join(codes)!r}"
        )
    if numeric and _numbers_people(values):
        yield (
            f"{values.different:,} different whole numbers in {values.records:,} records. Does the number say which "
            "person or household a record is of? If so, give the column the role person: k counts people then"
        )
    if numeric and role in (KNOWN, Role.NEUTRAL) and _weighs(name, values):
        yield (
            "looks like sampling weights, for how many people of a population a record stands: if so, give it the role "
            "weight"
        )
    if numeric and role is not Role.NEUTRAL:
        return  # which is published in ranges or bands
    if values.different > max(UNIQUE * values.records, 1):
        yield f"nearly unique: {values.different:,} values in {values.records:,} records"
    elif values.different > MANY:
        yield f"high cardinality: {values.different:,} values"


def determined(cells: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """Which column almost determines another one: the value of the one tells that of the other, for at least 99% of
    the records, by the other records with that value. So a value that one record has tells nothing.

    Parameters
    ----------
    cells : DataFrame
        A Categorical per column; a missing one is a value of its own. Of many columns the first 60 in which values
        recur are compared.

    Returns
    -------
    list of tuple
        The one, the other, the share of records in which it follows, and the share that a guess of the other's
        commonest value reaches.
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


def ordered_alike(numbers: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Which numbers rise and fall together, as ounces and grams do, or a year of birth and an age: by Spearman's rank
    correlation, of at least .99 in size. A copy in other units, rounded or not, is one; `determined` sees it only where
    values recur.

    Parameters
    ----------
    numbers : DataFrame
        Of floats; a missing one is left out of its pairs. The first 60 columns of more than ten values are compared.

    Returns
    -------
    list of tuple
        The one, the other, and the correlation of their ranks.

    Source: Spearman, "The proof and measurement of association between two things", 1904.
    """
    ranks = numbers[[name for name in numbers if numbers[name].nunique() > MANY_NUMBERS][:MOST]].rank()
    found = ranks.corr(min_periods=MANY_NUMBERS)
    pairs = itertools.combinations(found, 2)
    return [(one, other, found.loc[one, other]) for one, other in pairs if abs(found.loc[one, other]) >= ORDER]


def _told(known: IntArray, counts: IntArray) -> int:
    """How many records the other records with the same value tell right: where the commonest of what stands beside it
    stays the commonest without this one.
    """
    order = np.lexsort((-counts, known))
    known, counts = known[order], counts[order]
    first = np.flatnonzero(np.diff(known, prepend=-1))
    second = np.append(counts, 0)[first + 1] * (np.append(known, -1)[first + 1] == known[first])
    most = counts[first]
    return int(most[most > second + 1].sum())


def examples(column: pd.Series, values: Values, *, hidden: bool, people: IntArray | None = None) -> str:
    """The commonest values of a column, or, where ten people share none, their commonest patterns.

    Parameters
    ----------
    column : Series
        A Categorical of texts.
    values : Values
        Of the same column.
    hidden : bool
        Whether only patterns are shown, since these values name people.
    people : integer array (n,), optional
        Whose each record is, from 0; None: each is another person's.

    Returns
    -------
    str
        At most three; empty where ten people share not even a pattern.
    """
    texts = values.texts[np.isin(values.texts.index, column.cat.codes)]  # of a sample, those that occur
    for form in (masked, shortly) if hidden else (str, masked, shortly):
        number, distinct = pd.factorize(texts.map(form))
        place = np.full(len(column.cat.categories) + 1, -1)  # the last is that of a missing value
        place[texts.index] = number
        groups = place[column.cat.codes]
        own = None if people is None else people[groups >= 0]
        found = pd.Series(people_in(groups[groups >= 0], own, len(distinct)), distinct)
        if (shared := found[found >= LIMIT].nlargest(SHOWN)).size:
            return visible(", ".join(text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in shared.index))
    return ""


def masked(text: str) -> str:
    """A pattern of a text.

    >>> masked("Main St. 12b"), shortly("Main St. 12b")
    ('Aaaa Aa. 99a', 'Aa Aa. 9a')
    """
    text = re.sub(r"[^\W\d_]", lambda letter: "A" if letter[0].isupper() else "a", text)
    return re.sub(r"[^\w\s.,:;@/+-]", "?", re.sub(r"\d", "9", text))


def shortly(text: str) -> str:
    """The same, of equal letters in a row one."""
    return re.sub(r"([aA9])\1+", r"\1", masked(text))


def doubled(
    roles: Mapping[str, Role], there: Collection[str], repetition: Callable[[list[str]], tuple[int, int, int]]
) -> str:
    """Return a sentence if each record occurs more than once, as after a file was appended to itself; else an empty
    text, as where a column says whose a record is: `k` counts people then, and not records.

    Parameters
    ----------
    roles
        The role of each column. Those that name people are not compared, as copies may be numbered.
    there
        The columns that the table has.
    repetition
        Returns how many records there are, how many different ones by some columns, and how often the rarest occurs.
    """
    names = [name for name, role in roles.items() if role is not Role.IDENTIFIER and name in there]
    if not names or Role.PERSON in roles.values():
        return ""
    records, different, rarest = repetition(names)
    if rarest < 2 or different < max(FEW_KINDS, records / 10):
        return ""
    return (
        f"Each record occurs more than once: {records:,} records, {different:,} different ones. If the copies belong "
        "to one person, k counts that person several times. Keep one of them, or name the column that says whose a "
        "record is."
    )


def repetition(cells: pd.DataFrame) -> tuple[int, int, int]:
    """Return how many rows there are, how many different ones, and how often the rarest occurs."""
    times = combinations(cells).multiplicities
    return len(cells), len(times), int(times.min())
