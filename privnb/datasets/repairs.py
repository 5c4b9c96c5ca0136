"""Repairs that a table may need: several spellings of one value, and codes that have lost their leading zeros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from privnb.datasets.column_types import POST
from privnb.datasets.column_values import Values
from privnb.microdata.withholding import LIMIT, Margin, is_few, suppress
from privnb.runtime.lazy import pd
from privnb.tables.corrections import Correction

WORDS = (  # the texts with one meaning; the first texts are abbreviations
    (("f", "w"), ("female", "weiblich")),
    (("m",), ("male", "männlich", "maennlich")),
    (("d",), ("diverse", "divers")),
), (
    (("y", "j"), ("yes", "ja")),
    (("n",), ("no", "nein")),
)  # fmt: skip
UNKNOWN = "x", "u", "unknown", "unbekannt", "other", "sonstige"  # may occur among words, and have no other spelling
SHOWN = 6  # the maximum number of replaced spellings that a page lists
LENGTHS = range(3, 9)  # the numbers of digits of codes that are repaired
COUNTED = 200  # the maximum number of texts whose counts a page shows
LOST = 2  # the maximum number of lost zeros; codes that differ more in length are different codes


class SpellingGroup(NamedTuple):
    """The spellings of one value: the numbers of records by text, and the text that replaces all others."""

    counts: Mapping[str, int]
    kept: str

    @property
    def replaced(self) -> dict[str, str]:
        """The replacement of each other text."""
        return {text: self.kept for text in self.counts if text != self.kept}

    @property
    def has_few(self) -> bool:
        """Whether a spelling belongs to few records, so that a page does not show it."""
        return any(map(is_few, self.counts.values()))


class Repair(NamedTuple):
    """The proposed correction of a column; `changes` states in words which texts would change, and in how many records.

    `changes` holds no value and no count of fewer than ten records.
    """

    correction: Correction
    changes: list[str]


def find_spellings(values: Values) -> list[SpellingGroup]:
    """Return the groups of texts that differ only in capitals and spaces, or are a word and its common abbreviation.

    The most common spelling of a group is kept, without spaces around it.
    """
    plain = values.texts.str.split().str.join(" ").str.casefold()
    plain = plain.replace(_find_abbreviations({*plain}))
    alike = plain.duplicated(keep=False)
    counts = pd.Series(values.counts, values.texts)[alike.to_numpy()]
    groups = [each for _, each in counts.groupby(plain[alike].to_numpy(), sort=False)]
    return [SpellingGroup(each.to_dict(), " ".join(str(each.idxmax()).split())) for each in groups]


def _find_abbreviations(texts: set[str]) -> dict[str, str]:
    """Return the common word for each abbreviation and translation among `texts`, which are in small letters.

    The result is empty if other texts occur or no word is written in full, because a letter alone may mean anything.

    >>> sorted(_find_abbreviations({"w", "weiblich", "m"}))
    ['d', 'divers', 'f', 'm', 'maennlich', 'männlich', 'w', 'weiblich']
    >>> _find_abbreviations({"s", "m", "l"})
    {}
    """
    for meanings in WORDS:
        known = {each: words[0] for short, words in meanings for each in (*short, *words)}
        if texts <= {*known, *UNKNOWN} and any(texts.intersection(words) for _, words in meanings):
            return {each: word for each, word in known.items() if each != word}
    return {}


def find_digits(name: str, values: Values) -> int:
    """Return the number of digits of codes, some of which seem to have lost leading zeros; 0 if none seem so.

    Programs that read codes as numbers drop the zeros. Codes are recognized by the name of a column of post codes, or
    because some of the longest codes begin with 0.
    """
    if values.different < 3 or not values.match(r"\d+"):
        return 0
    lengths, zero = values.texts.str.len(), values.texts.str.startswith("0")
    digits = int(lengths.max())
    short = lengths < digits
    is_code = POST.search(name) is not None or zero[~short].any()
    if digits not in LENGTHS or not short.any() or zero[short].any() or digits - lengths.min() > LOST or not is_code:
        return 0
    return digits


def count_short(values: Values, digits: int) -> int:
    """Return the number of records with a code of fewer digits."""
    return int(values.counts[(values.texts.str.len() < digits).to_numpy()].sum())


def find_repair(name: str, values: Values) -> Repair | None:
    """Return the proposed correction of a column of texts; None if the column needs none."""
    groups, digits = find_spellings(values), find_digits(name, values)
    if not groups and not digits:
        return None
    replaced = {old: new for each in groups for old, new in each.replaced.items()}
    return Repair(Correction(replaced, digits), [*_describe_changes(groups, values, digits)])


def _describe_changes(groups: list[SpellingGroup], values: Values, digits: int) -> Iterator[str]:
    withheld = _find_withheld(values)
    shown = [
        f"{old!r} becomes {new!r}" + f" in {each.counts[old]:,} records" * (old not in withheld)
        for each in groups
        for old, new in each.replaced.items()
        if not is_few(each.counts[old])
    ]
    yield from shown[:SHOWN]
    if len(shown) > SHOWN:
        yield f"{len(shown) - SHOWN:,} more spellings"
    if few := sum(is_few(each.counts[old]) for each in groups for old in each.replaced):
        which, changes = ("spellings", "change") if few > 1 else ("spelling", "changes")
        yield f"{few:,} {which}, which fewer than {LIMIT} records have, {changes} as well"
    if digits:
        codes = values.texts[values.texts.str.len() < digits]
        records = "" if withheld.intersection(codes) else f" in {count_short(values, digits):,} records"
        yield f"codes with fewer than {digits} digits get leading zeros{records}"


def _find_withheld(values: Values) -> set[str]:
    """Return the texts whose counts concern few records, or would disclose such a count next to those of other texts.

    The editor of hierarchies withholds the same counts. It shows no counts of a column with many texts.
    """
    counts = dict(zip(values.texts, values.counts.tolist(), strict=True))
    if len(counts) > COUNTED:
        return {text for text, count in counts.items() if is_few(count)}
    whole = Margin(values.records + values.missing, (*counts, ""), rest=False)
    return {*suppress(dict(sorted(counts.items(), key=lambda pair: -pair[1])) | {"": values.missing}, [whole])}
