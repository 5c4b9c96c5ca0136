"""Proposals of derived columns: ages, lengths of time, periods of dates and regions, by what the columns look like."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from typing import NamedTuple

import numpy as np

from privnb.datasets.column_types import ICD_CODES, look_like_codes, name_pattern
from privnb.datasets.column_values import Values
from privnb.runtime.arrays import FloatArray
from privnb.tables.derivation import Derivation

BIRTH = name_pattern("birth|births|born|birthday|birth_?date|dob|geburt|geburtstag|geburtsdatum|geb|naissance")
ARRIVAL = name_pattern("admission|admitted|admit|arrival|entry|entered|aufnahme|in")
DEPARTURE = name_pattern("discharge|discharged|departure|exit|left|release|entlassung|out")
IN_ORDER = 0.99  # the minimum share of records in which the second of two dates is not before the first
CHARACTERS = {True: (1, 3), False: (2, 3)}  # the numbers of first characters; True for codes of diseases


class ProposedColumn(NamedTuple):
    """A derived column that fits a table: a name that the table does not have yet, and the rule."""

    name: str
    rule: Derivation


def propose_derivations(
    values: Mapping[str, Values],
    forms: Mapping[str, str],
    days: Callable[[str], FloatArray],
    known: Mapping[str, Derivation],
    names: Collection[str],
    today: date,
) -> dict[str, list[ProposedColumn]]:
    """Return the derived columns that fit each column, `{column: proposals}`.

    Parameters
    ----------
    values : dict of str to Values
        The values of the columns of the file.
    forms : dict of str to str
        The format of the dates of each column of dates.
    days : function
        A function that returns, for a column of dates, the day number of each record, with NaN for a missing date.
    known : dict of str to Derivation
        The derived columns that the description has already; their rules are not proposed again.
    names : collection of str
        All names of columns.
    today : date
        The day of the proposed ages, if the table has no other date.
    """
    rules = [*_of_dates(forms, days, today), *_of_codes(values)]
    found: dict[str, list[ProposedColumn]] = {}
    taken = {name.casefold() for name in names}
    for wish, rule in rules:
        if rule in known.values():
            continue
        numbered = (f"{wish}_{number}" for number in itertools.count(2))
        name = next(each for each in itertools.chain([wish], numbered) if each.casefold() not in taken)
        found.setdefault(rule.source, []).append(ProposedColumn(name, rule))
    return found


def _of_dates(
    forms: Mapping[str, str], days: Callable[[str], FloatArray], today: date
) -> Iterator[tuple[str, Derivation]]:
    """Yield a name and a rule for each age, length of time and period that fits columns of dates."""
    exact = [name for name, form in forms.items() if Derivation("days", name).fits(form)]
    births, others = ([name for name in exact if bool(BIRTH.search(name)) is born] for born in (True, False))
    for birth in births:
        age = "age" if len(births) == 1 else f"age_{birth}"
        for other in others:
            yield age if len(others) == 1 else f"{age}_at_{other}", Derivation("years", birth, other)
        if not others:
            yield age, Derivation("years", birth, today)
    for one, other in itertools.permutations(others, 2):
        apart = days(other) - days(one)
        apart = apart[~np.isnan(apart)]
        if len(apart) and (apart >= 0).mean() >= IN_ORDER and (apart > 0).mean() > 1 - IN_ORDER:
            stay = ARRIVAL.search(one) and DEPARTURE.search(other)
            yield "length_of_stay" if stay else f"days_{one}_to_{other}", Derivation("days", one, other)
    for name, form in forms.items():
        yield f"{name}_year", Derivation("year", name)
        for rule in (Derivation("quarter", name), Derivation("month", name)):
            if name not in births and rule.fits(form):
                yield f"{name}_{rule.kind}", rule


def _of_codes(values: Mapping[str, Values]) -> Iterator[tuple[str, Derivation]]:
    """Yield a name and a rule for the first characters of each column of codes."""
    for name, each in values.items():
        kinds = look_like_codes(name, each)
        for characters in CHARACTERS[ICD_CODES in kinds] if kinds else ():
            if characters < each.texts.str.len().max():
                yield f"{name}_{characters}", Derivation("prefix", name, characters=characters)
