"""Withholding of numbers that concern few people.

A count of 1 to limit - 1 people is withheld (the threshold rule), and so is a count that differs from a known total by
1 to limit - 1 people. Further counts are withheld until no small count follows from the numbers that are shown. To this
end, a table declares how its counts are related, and `suppress` returns the counts to withhold, so that differences of
shown counts disclose no small count. A gain is the difference between two counts: the people who are guessed correctly
with and without some information. Neither group of people contains the other. The gain is not itself a count of people;
it is withheld if one of the two counts is withheld.

The protection covers one shown table and the public number of people. It does not cover the joint disclosure by two
tables with different settings, such as two releases in the explorer.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.numerals import MIN_COUNT
from privnb.runtime.tolerances import ROUNDING

CONCERNS_FEW = "is withheld, because it concerns few people"
Cell = Hashable  # the name of a count
Shown = tuple[float, float, float]  # a number or NaN, and its interval or bounds
LIMIT = MIN_COUNT


def check_min_count(limit: Any, name: str = "min_count") -> int:
    """Return `limit`, the smallest count of people that is shown, as an int; `name` is the parameter that errors name.

    Raises ValueError unless `limit` is a whole number of at least 2, because a smaller limit would not withhold counts
    of a single person.

    >>> check_min_count(10)
    10
    """
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 2:
        raise UsageError(
            f"{name} must be a whole number of at least 2; got {expect.describe_value(limit)}: a count of 1 is a "
            f"single person. The default {LIMIT} withholds every count of 1 to {LIMIT - 1} people."
        )
    return int(limit)


MinCount = Annotated[int, lambda name, value: check_min_count(value, name)]


def is_few(people: Any, limit: float = LIMIT) -> Any:
    """Return whether a count of people, or each count of an array, is above 0 and below the limit.

    >>> is_few(0), is_few(9), is_few(10)
    (False, True, False)
    """
    return (people > ROUNDING) & (people < limit - ROUNDING)  # a count that is computed from a share is not exact


def reveals_few(people: Any, of: float, limit: float = LIMIT) -> Any:
    """Return whether a count concerns few people: it counts few people, or all but a few of the `of` people."""
    return is_few(people, limit) | is_few(of - people, limit)


def withhold_share(people: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a share of `of` people, (value, low, high), or only its bounds if `reveals_few` requires this.

    >>> withhold_share(20, 40), withhold_share(3, 40)
    ((0.5, nan, nan), (nan, 0.025, 0.225))
    """
    if is_few(people, limit):
        return np.nan, 1 / of, min(limit - 1, of) / of
    return withhold_group_share(people, of, limit)


def withhold_group_share(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a share of `of` people in groups with one person each, like `withhold_share`.

    The function may show a small number of groups, but not a number that leaves out only a few people.
    """
    if is_few(of - groups, limit):
        return np.nan, max(of - limit + 1, 1) / of, (of - 1) / of
    return groups / of, np.nan, np.nan


def withhold_count(people: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a count of `of` people, (count, low, high), like `withhold_share`.

    >>> withhold_count(20, 400), withhold_count(396, 400)
    ((20, nan, nan), (nan, 391, 399))
    """
    if is_few(people, limit):
        return np.nan, 1, min(limit - 1, of)
    return (np.nan, max(of - limit + 1, 1), of - 1) if is_few(of - people, limit) else (people, np.nan, np.nan)


def withhold_group_count(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a number of groups of `of` people, (number, NaN, NaN).

    The number is NaN if nearly every person forms a group alone, because the number would disclose how few people share
    a group.
    """
    return np.nan if is_few(of - groups, limit) else groups, np.nan, np.nan


class ReportedCount(NamedTuple):
    """A number in results that counts people or groups, `people` of `of`, and that is shown according to a rule.

    The rules are `withhold_share`, `withhold_group_share` and `withhold_count`. `interval` is the interval that is
    stated if the number is shown.
    """

    people: float
    of: float
    interval: Sequence[float] = (np.nan, np.nan)
    rule: Callable[[float, float, int], Shown] = withhold_share

    def shown(self, limit: int) -> Shown:
        """Return, as (value, low, high), the number with its interval, or only its bounds if the number is withheld."""
        value, *bounds = self.rule(self.people, self.of, limit)
        low, high = bounds if np.isnan(value) else self.interval
        return value, low, high


class Revealing(NamedTuple):
    """A number in results from which other counts follow; `people` holds these counts, of `of` people."""

    value: float
    people: Any
    of: float
    interval: Sequence[float] = (np.nan, np.nan)

    def shown(self, limit: int) -> Shown:
        """Return the number with its interval, or NaN if a count that follows from the number concerns few people."""
        hidden = np.any(reveals_few(np.asarray(self.people), self.of, limit))
        low, high = self.interval
        return (np.nan, np.nan, np.nan) if hidden else (self.value, low, high)


Number = float | ReportedCount | Revealing  # of results


def withhold_number(number: Number, limit: int, interval: Sequence[float] = (np.nan, np.nan)) -> Shown:
    """Return a number in results as it is shown, (value, low, high), according to its rule if it has one.

    >>> withhold_number(0.5, 10, (0.4, 0.6)), withhold_number(ReportedCount(3, 40), 10)
    ((0.5, 0.4, 0.6), (nan, 0.025, 0.225))
    """
    low, high = interval
    return number.shown(limit) if isinstance(number, ReportedCount | Revealing) else (number, low, high)


class Margin(NamedTuple):
    """A relation between counts: the disjoint `parts` are contained in the `whole`.

    `whole` is the name of a cell, or a public number of people. `parts` are names of cells. `rest` states whether some
    people of the whole may be in none of the parts. `Margin(400, ["alone"])` declares a complement, `Margin("large",
    ["small"])` declares two nested groups, and `Margin("all", ["men", "women"], rest=False)` declares a total.
    """

    whole: Any
    parts: tuple[Cell, ...]
    rest: bool = True

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The names of the cells that this margin relates."""
        return (*self.parts,) if isinstance(self.whole, Real) else (self.whole, *self.parts)

    def beside(self, shown: Container[Cell]) -> Self:
        """Return the margin of the people of the whole who are in none of the shown parts."""
        return self._replace(parts=tuple(part for part in self.parts if part in shown), rest=True)

    def left(self, people: Mapping[Cell, float]) -> float:
        """Return the number of people of the whole who are in none of the parts, given `{name: people}`."""
        return people.get(self.whole, self.whole) - sum(people[part] for part in self.parts)


def suppress(cells: Mapping[Any, float], margins: Iterable[Any], limit: int = LIMIT) -> set[Any]:
    """Return the names of the counts to withhold, so that no count of few people follows from the shown counts.

    `cells` is `{name: people}`, with the most important count first; if two counts cannot both be shown, the later one
    is withheld. `margins` are the `Margin`s among the cells, including all pairs of nested groups. The count of each
    cell is protected, and so is the number of people of a whole who are in none of its parts, or in none of its shown
    parts. The protection assumes that the reader of the table knows the margins, and knows which of the withheld counts
    concern few people.

    >>> sorted(suppress({"all": 400, "age, sex": 350, "age": 345}, [Margin("age, sex", ["age"])]))
    ['age']
    >>> sorted(suppress({"all": 60, "a": 40, "b": 17, "c": 3}, [Margin("all", ["a", "b", "c"], rest=False)]))
    ['b', 'c']
    """
    check_min_count(limit)
    margins = [Margin(whole, tuple(parts), rest) for whole, parts, rest in margins]
    near: dict[Cell, list[Margin]] = {name: [] for name in cells}
    for margin in margins:
        for name in margin.cells:
            near[name].append(margin)
    linked, shown = _linked(near), dict[Cell, float]()
    for name, people in cells.items():
        known = {**shown, name: people}
        sums = [margin.beside(known) for margin in near[name] if margin.whole in known or margin.whole not in cells]
        if is_few(people, limit) or any(is_few(margin.left(cells), limit) for margin in sums):
            continue
        if not _follows(known, cells, linked[name], limit):
            shown = known
    return cells.keys() - shown.keys()


def suppress_sets(people: Mapping[tuple[str, ...], float], of: int, limit: int = LIMIT) -> set[tuple[str, ...]]:
    """Return the result of `suppress` for counts by sets of attributes, `{attributes: people}`, of `of` people.

    A larger set of attributes discloses more. The empty set (the knowledge without any attribute) is the most
    important, then the full set, then the smaller sets.

    >>> suppress_sets({("age",): 345, ("sex",): 0, ("age", "sex"): 350}, 400)
    {('age',)}
    """
    most = max(map(len, people), default=0)
    order = sorted(people, key=lambda names: (len(names) not in (0, most), len(names)))
    sets = {names: frozenset(names) for names in people}
    # Thousands of sets have millions of pairs, so each set is compared only with sets that have all its attributes.
    every, having = set(people), dict[str, set[tuple[str, ...]]]()
    for names in people:
        for name in names:
            having.setdefault(name, set()).add(names)
    above = {names: every.intersection(*(having[name] for name in names)) for names in people}
    nested = [Margin(larger, (names,)) for names in people for larger in above[names] if sets[names] < sets[larger]]
    margins = [*nested, *(Margin(of, (names,)) for names in people)]
    return suppress({names: people[names] for names in order}, margins, limit)


def _linked(near: Mapping[Cell, Sequence[Margin]]) -> dict[Cell, list[Margin]]:
    """Return the margins with which each cell is linked, directly or through other cells, as `{name: margins}`.

    The lists are empty if the margins are only pairs of nested groups, because no count then follows from other counts:
    a count between two other counts may vary unless the two are equal, and in that case it does not concern few people.
    The margins are computed once for all cells, because there may be thousands of cells and even more margins.
    """
    linked: dict[Cell, list[Margin]] = {}
    for first in near:
        if first not in linked:
            cells = dict.fromkeys([first])
            waiting = [first]
            while waiting:
                margins = near[waiting.pop()]
                others = dict.fromkeys(cell for margin in margins for cell in margin.cells if cell not in cells)
                cells |= others
                waiting += others
            margins = list(dict.fromkeys(margin for cell in cells for margin in near[cell]))
            if all(margin.rest and len(margin.parts) == 1 for margin in margins):
                margins = []
            linked |= dict.fromkeys(cells, margins)
    return linked


def _follows(known: Mapping[Cell, float], cells: Mapping[Cell, float], margins: Sequence[Margin], limit: int) -> bool:
    """Return whether a count of few people that is not in `known` can have only one value.

    Linear programming over all withheld counts searches for other values that differ by a whole number. Values that are
    found for one count are also tried for the next count.
    """
    hidden = list(dict.fromkeys(cell for margin in margins for cell in margin.cells if cell not in known))
    protected = [Margin(cell, ()) for cell in hidden if is_few(cells[cell], limit)]
    protected += [margin for margin in margins if margin.rest]
    protected += [margin.beside(known) for margin in margins]
    protected = [margin for margin in dict.fromkeys(protected) if is_few(margin.left(cells), limit)]
    if not protected:
        return False

    def row(margin: Margin) -> tuple[list[int], float]:
        """Return the rest of the margin as coefficients of the hidden counts and a constant."""
        ones = {margin.whole: 1} | dict.fromkeys(margin.parts, -1)
        return [ones.get(cell, 0) for cell in hidden], margin.left({cell: known.get(cell, 0) for cell in cells})

    def bounds(people: float) -> tuple[float, float]:
        return (1, limit - 1) if is_few(people, limit) and limit > 2 else (limit if people >= limit else 0, np.inf)

    above, at_most, equal, to = list[Any](), list[float](), list[list[int]](), list[float]()
    for margin in margins:
        ones, number = row(margin)
        if not margin.rest:
            equal.append(ones)
            to.append(-number)
            continue
        low, high = bounds(margin.left(cells)) if isinstance(margin.whole, Real) else (0, np.inf)
        above += [np.negative(ones), ones][: 1 + np.isfinite(high)]
        at_most += [number - low, high - number][: 1 + np.isfinite(high)]
    asked: dict[str, Any] = {"A_ub": above or None, "b_ub": at_most or None, "A_eq": equal or None, "b_eq": to or None}
    # The reader may know that a withheld count is 0, because all other counts that may be withheld are too large.
    asked["bounds"] = [bounds(cells[cell]) if cells[cell] else (0, 0) for cell in hidden]
    true, tried = np.array([cells[cell] for cell in hidden], dtype=float), list[FloatArray]()
    return any(not _varies(np.array(row(margin)[0], dtype=float), true, asked, tried) for margin in protected)


def _varies(ones: FloatArray, true: FloatArray, asked: Mapping[str, Any], tried: list[FloatArray]) -> bool:
    """Return whether a sum of hidden counts can be a whole number other than the sum of the `true` counts.

    `tried` lists other possible counts as arrays (hidden,); new counts are added to the list.
    """
    from scipy.optimize import linprog  # this module is rarely needed and slow to import

    def differs(counts: FloatArray) -> bool:
        return bool(abs(ones @ (counts - true)) > 1 - 1e-6)

    if any(map(differs, tried)):
        return True
    for sign in (1, -1):  # the smallest value, and the largest
        found = linprog(sign * ones, **asked)
        if found.status != 0:  # the sum is unbounded
            return True
        tried.append(found.x)
        if differs(found.x):
            return True
    return False
