"""The withholding of numbers that concern few people.

A count of 1 to limit - 1 people is withheld (the threshold rule). A count is also withheld if it differs from a public
total by 1 to limit - 1 people. Further counts are withheld if a small count would otherwise follow from the numbers
that are shown: a table declares how its counts are related, and `suppress` returns the counts to withhold. A gain is
the difference between two counts: the number of people who are guessed correctly with some information, and the number
of people who are guessed correctly without this information. Neither of these two groups of people contains the other
group. The gain is not a count of people; it is withheld if one of the two counts is withheld.

The protection covers a single table and the public number of people. The protection does not cover what two tables with
different settings, such as the tables of two releases in the explorer, disclose together.
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


class ScreenLimit(int):
    """The limit 1, with which a screen withholds nothing; `limit_on_screen` alone makes it."""


def limit_on_screen(is_invented: bool, limit: int = LIMIT) -> int:
    """Return the smallest count of people that a screen shows: 1 for records that are declared invented, else `limit`.

    Use the result only for what the owner sees on a screen. Files for others keep the limit, because privnb cannot
    check the declaration.

    >>> limit_on_screen(False), limit_on_screen(True)
    (10, 1)
    """
    return ScreenLimit(1) if is_invented else check_min_count(limit)


def check_min_count(limit: Any, name: str = "min_count") -> int:
    """Return `limit`, the smallest count of people that is shown, as an int; errors contain the parameter `name`.

    Raises ValueError unless `limit` is a whole number of at least 2, or a result of `limit_on_screen`. With a smaller
    limit, counts of a single person would be shown.

    >>> check_min_count(10)
    10
    """
    if isinstance(limit, ScreenLimit):
        return limit
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 2:
        raise UsageError(
            f"{name} must be a whole number of at least 2; got {expect.describe_value(limit)}: a count of 1 is a "
            f"single person. The default {LIMIT} withholds every count of 1 to {LIMIT - 1} people."
        )
    return int(limit)


MinCount = Annotated[int, lambda name, value: check_min_count(value, name)]


def is_few(people: Any, limit: float = LIMIT) -> Any:
    """Return whether a count of people is above 0 and below the limit; for an array, return this for each count.

    >>> is_few(0), is_few(9), is_few(10)
    (False, True, False)
    """
    return (people > ROUNDING) & (people < limit - ROUNDING)  # a count that is computed from a share is not exact


def reveals_few(people: Any, of: float, limit: float = LIMIT) -> Any:
    """Return whether a count concerns few people.

    A count concerns few people if it is a count of few people, or of all but a few of the `of` people.
    """
    return is_few(people, limit) | is_few(of - people, limit)


def withhold_share(people: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a share of `of` people as (value, low, high).

    If `reveals_few` is true for the number of people, the value is NaN, and low and high are bounds of the share.
    Otherwise, low and high are NaN.

    >>> withhold_share(20, 40), withhold_share(3, 40)
    ((0.5, nan, nan), (nan, 0.025, 0.225))
    """
    if is_few(people, limit):
        return np.nan, 1 / of, min(limit - 1, of) / of
    return withhold_group_share(people, of, limit)


def withhold_group_share(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a number of groups as a share of `of` people, in the form that `withhold_share` returns.

    A small number of groups is shown. The share is withheld only if the number of groups is less than `of` by a few.
    """
    if is_few(of - groups, limit):
        return np.nan, max(of - limit + 1, 1) / of, (of - 1) / of
    return groups / of, np.nan, np.nan


def withhold_count(people: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a count of people, of `of` people, as (count, low, high).

    If `reveals_few` is true for the count, the count is NaN, and low and high are bounds. Otherwise, low and high are
    NaN.

    >>> withhold_count(20, 400), withhold_count(396, 400)
    ((20, nan, nan), (nan, 391, 399))
    """
    if is_few(people, limit):
        return np.nan, 1, min(limit - 1, of)
    return (np.nan, max(of - limit + 1, 1), of - 1) if is_few(of - people, limit) else (people, np.nan, np.nan)


def withhold_group_count(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """Return a number of groups, into which `of` people are divided, as (number, NaN, NaN).

    The number is NaN if nearly every person forms a group alone, because the number would then disclose how few people
    share a group.
    """
    return np.nan if is_few(of - groups, limit) else groups, np.nan, np.nan


class ReportedCount(NamedTuple):
    """A number in results that is a count of people or groups, or a share, and that is shown according to a rule.

    `people` is the count, and `of` is the number of all people. `rule` is `withhold_share`, `withhold_group_share`,
    `withhold_count` or `withhold_group_count`. `interval` is the interval that is stated if the number is shown.
    """

    people: float
    of: float
    interval: Sequence[float] = (np.nan, np.nan)
    rule: Callable[[float, float, int], Shown] = withhold_share

    def shown(self, limit: int) -> Shown:
        """Return the number and its interval as (value, low, high); if it is withheld, return NaN and its bounds."""
        value, *bounds = self.rule(self.people, self.of, limit)
        low, high = bounds if np.isnan(value) else self.interval
        return value, low, high


class Revealing(NamedTuple):
    """A number in results from which counts of people follow.

    `people` holds these counts, and `of` is the number of all people.
    """

    value: float
    people: Any
    of: float
    interval: Sequence[float] = (np.nan, np.nan)

    def shown(self, limit: int) -> Shown:
        """Return the number and its interval as (value, low, high).

        All three are NaN if a count that follows from the number concerns few people.
        """
        hidden = np.any(reveals_few(np.asarray(self.people), self.of, limit))
        low, high = self.interval
        return (np.nan, np.nan, np.nan) if hidden else (self.value, low, high)


Number = float | ReportedCount | Revealing  # of results


def withhold_number(number: Number, limit: int, interval: Sequence[float] = (np.nan, np.nan)) -> Shown:
    """Return a number in results in the form in which it is shown, (value, low, high).

    A `ReportedCount` or a `Revealing` number is shown according to its rule. Any other number is shown with `interval`.

    >>> withhold_number(0.5, 10, (0.4, 0.6)), withhold_number(ReportedCount(3, 40), 10)
    ((0.5, 0.4, 0.6), (nan, 0.025, 0.225))
    """
    low, high = interval
    return number.shown(limit) if isinstance(number, ReportedCount | Revealing) else (number, low, high)


class Margin(NamedTuple):
    """A relation between counts: the whole contains all parts, and the parts are disjoint.

    `whole` is the name of the cell of the whole, or a public number of people. `parts` are the names of the cells of
    the parts. `rest` states whether some people of the whole may be in none of the parts. `Margin(400, ["alone"])`
    declares a complement, `Margin("large", ["small"])` declares two nested groups, and `Margin("all", ["men", "women"],
    rest=False)` declares a total.
    """

    whole: Any
    parts: tuple[Cell, ...]
    rest: bool = True

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The names of the cells that this margin relates."""
        return (*self.parts,) if isinstance(self.whole, Real) else (self.whole, *self.parts)

    def without_hidden(self, shown: Container[Cell]) -> Self:
        """Return the margin of the people of the whole who are in none of the shown parts."""
        return self._replace(parts=tuple(part for part in self.parts if part in shown), rest=True)

    def left(self, people: Mapping[Cell, float]) -> float:
        """Return the number of people of the whole who are in none of the parts; `people` is `{name: people}`."""
        return people.get(self.whole, self.whole) - sum(people[part] for part in self.parts)


def suppress(cells: Mapping[Any, float], margins: Iterable[Any], limit: int = LIMIT) -> set[Any]:
    """Return the names of the counts to withhold, so that no count of few people follows from the shown counts.

    `cells` is `{name: people}`, with the most important count first; if two counts cannot both be shown, the later
    count is withheld. `margins` lists each `Margin` that relates the cells, including all pairs of nested groups. The
    function protects the count of each cell. It also protects, for each whole, the number of people who are in none of
    the parts, and the number of people who are in none of the parts that are shown. The protection holds even if the
    reader of the table knows the margins, and knows which of the withheld counts concern few people.

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
        sums = [
            margin.without_hidden(known) for margin in near[name] if margin.whole in known or margin.whole not in cells
        ]
        if is_few(people, limit) or any(is_few(margin.left(cells), limit) for margin in sums):
            continue
        if not _follows(known, cells, linked[name], limit):
            shown = known
    return cells.keys() - shown.keys()


def suppress_sets(people: Mapping[tuple[str, ...], float], of: int, limit: int = LIMIT) -> set[tuple[str, ...]]:
    """Return the result of `suppress` for counts of people by sets of attributes, `{attributes: people}`.

    `of` is the number of all people. The people who are counted for a set of attributes are also counted for each
    larger set, because a larger set discloses more. The empty set (an adversary without knowledge) and the largest sets
    are the most important; the other sets follow, from the smallest to the largest set.

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
    """Return the margins to which each cell is linked, directly or through other cells, as `{name: margins}`.

    The list of a cell is empty if the margins are only pairs of nested groups, because a count of few people then never
    follows from other counts. The count of a group that lies between two other groups follows from their counts only if
    these two counts are equal; if they are shown, the count does not concern few people. The margins are computed once
    for all cells, because there may be thousands of cells and even more margins.
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
    """Return whether `known` determines a count of few people that is not in `known`.

    For each such count, linear programming over all withheld counts searches for another possible value that differs
    from the true value by at least 1. Solutions that are found for one count are also tried for the next count.
    """
    hidden = list(dict.fromkeys(cell for margin in margins for cell in margin.cells if cell not in known))
    protected = [Margin(cell, ()) for cell in hidden if is_few(cells[cell], limit)]
    protected += [margin for margin in margins if margin.rest]
    protected += [margin.without_hidden(known) for margin in margins]
    protected = [margin for margin in dict.fromkeys(protected) if is_few(margin.left(cells), limit)]
    if not protected:
        return False

    def row(margin: Margin) -> tuple[list[int], float]:
        """Return the number of people in none of the parts, as coefficients of the hidden counts and a constant."""
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
    """Return whether a sum of hidden counts can differ by at least 1 from the sum of the `true` counts.

    `ones` holds the coefficients of the sum, and `asked` the constraints of the linear program. `tried` lists solutions
    of earlier searches, as arrays (hidden,); new solutions are added to the list.
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
