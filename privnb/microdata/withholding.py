"""Which numbers are not shown, because they would tell of few people.

A count of 1 to limit - 1 people is withheld (the threshold rule), and so is one that misses so few of a known number.
Then so many others that none of these counts follows from what is shown: a table declares how its counts belong
together, and `suppress` says which are withheld. A gain is a difference of two counts, of people guessed right with and
without something, of whom neither contains the others: it counts nobody, and is withheld where one of the two is.

What is protected is one shown table and the public number of people. What two tables tell together that were made with
other settings, such as two releases in the explorer, is not looked at.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

CONCERNS_FEW = "is withheld, because it concerns few people"
Cell = Hashable  # the name of a count
Shown = tuple[float, float, float]  # a number, or NaN, with its interval or bounds
LIMIT = 10  # a count of fewer people is not shown, unless a reader asks for another limit


def check(limit: Any, name: str = "fewest") -> int:
    """`limit` as an int: the least count of people that is shown. `name`: the parameter that the error names.

    Raises ValueError unless it is a whole number from 2: under another one nothing, or not all, would be withheld.

    >>> check(10)
    10
    """
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 2:
        raise UsageError(
            f"{name} must be a whole number from 2, got {expect.found(limit)}: a count of one is a person. "
            f"Usual is {LIMIT}, which leaves out every count of 1 to {LIMIT - 1} people."
        )
    return int(limit)


MinCount = Annotated[int, lambda name, value: check(value, name)]


def few(people: Any, limit: float = LIMIT) -> Any:
    """Whether a count of people, or each of an array, is above 0 and below the limit.

    >>> few(0), few(9), few(10)
    (False, True, False)
    """
    return (people > ROUNDING) & (people < limit - ROUNDING)  # a count that a share was multiplied back to is not exact


def tells(people: Any, of: float, limit: float = LIMIT) -> Any:
    """Whether a count tells of few people: of those counted, or of those of `of` people who are not."""
    return few(people, limit) | few(of - people, limit)


def share(people: float, of: float, limit: int = LIMIT) -> Shown:
    """A share of `of` people, (value, low, high): withheld with only its bounds where `tells` says so.

    >>> share(20, 40), share(3, 40)
    ((0.5, nan, nan), (nan, 0.025, 0.225))
    """
    if few(people, limit):
        return np.nan, 1 / of, min(limit - 1, of) / of
    return found(people, of, limit)


def found(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """As `share`, of people one of each group: a few groups are no few people, a few people missed are."""
    if few(of - groups, limit):
        return np.nan, max(of - limit + 1, 1) / of, (of - 1) / of
    return groups / of, np.nan, np.nan


def counted(people: float, of: float, limit: int = LIMIT) -> Shown:
    """As `share`, in people: (count, low, high).

    >>> counted(20, 400), counted(396, 400)
    ((20, nan, nan), (nan, 391, 399))
    """
    if few(people, limit):
        return np.nan, 1, min(limit - 1, of)
    return (np.nan, max(of - limit + 1, 1), of - 1) if few(of - people, limit) else (people, np.nan, np.nan)


def known(groups: float, of: float, limit: int = LIMIT) -> Shown:
    """A number of groups of `of` people, (number, NaN, NaN): NaN where almost everybody is a group alone, for it tells
    how few are not.
    """
    return np.nan if few(of - groups, limit) else groups, np.nan, np.nan


class Counted(NamedTuple):
    """A number of results that counts people, or groups of them: `people` of `of`, said by one of the rules `share`,
    `found` and `counted`. `interval`: that of the number, where it is shown.
    """

    people: float
    of: float
    interval: Sequence[float] = (np.nan, np.nan)
    rule: Callable[[float, float, int], Shown] = share

    def shown(self, limit: int) -> Shown:
        """The number with its interval, or withheld with its bounds alone: (value, low, high)."""
        value, *bounds = self.rule(self.people, self.of, limit)
        low, high = bounds if np.isnan(value) else self.interval
        return value, low, high


class Revealing(NamedTuple):
    """A number of results from which other counts follow: `people`, one or more of them, of `of`."""

    value: float
    people: Any
    of: float
    interval: Sequence[float] = (np.nan, np.nan)

    def shown(self, limit: int) -> Shown:
        """The number with its interval, or nothing where a count that follows tells of few people."""
        hidden = np.any(tells(np.asarray(self.people), self.of, limit))
        low, high = self.interval
        return (np.nan, np.nan, np.nan) if hidden else (self.value, low, high)


Number = float | Counted | Revealing  # of results


def shown(number: Number, limit: int, interval: Sequence[float] = (np.nan, np.nan)) -> Shown:
    """A number of results as it is shown, (value, low, high): one that says what it counts or reveals by its rule.

    >>> shown(0.5, 10, (0.4, 0.6)), shown(Counted(3, 40), 10)
    ((0.5, 0.4, 0.6), (nan, 0.025, 0.225))
    """
    low, high = interval
    return number.shown(limit) if isinstance(number, Counted | Revealing) else (number, low, high)


class Margin(NamedTuple):
    """How counts belong together: the `parts`, which share nobody, lie within the `whole`.

    `whole`: the name of a cell, or a public number of people. `parts`: names of cells. `rest`: whether people of the
    whole may be in none of the parts. `Margin(400, ["alone"])` declares a complement, `Margin("large", ["small"])` two
    nested groups, `Margin("all", ["men", "women"], rest=False)` a total.
    """

    whole: Any
    parts: tuple[Cell, ...]
    rest: bool = True

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (*self.parts,) if isinstance(self.whole, Real) else (self.whole, *self.parts)

    def beside(self, shown: Container[Cell]) -> Self:
        """The margin of the people of the whole who are in none of the parts that are shown."""
        return self._replace(parts=tuple(part for part in self.parts if part in shown), rest=True)

    def left(self, people: Mapping[Cell, float]) -> float:
        """The people of the whole who are in none of the parts, by `{name: people}`."""
        return people.get(self.whole, self.whole) - sum(people[part] for part in self.parts)


def suppress(cells: Mapping[Any, float], margins: Iterable[Any], limit: int = LIMIT) -> set[Any]:
    """Which counts are withheld: a set of names, such that no count of few people follows from those shown.

    `cells`: `{name: people}`, the most important first: of two that cannot both be shown the later one is withheld.
    `margins`: the `Margin`s among them, of nested groups all pairs. What must not follow is the count of a cell, and of
    those of a whole who are in none of its parts, or in none that is shown. Who reads the table knows these margins,
    whether a withheld count is itself of few people, and that other withheld ones are not.

    >>> sorted(suppress({"all": 400, "age, sex": 350, "age": 345}, [Margin("age, sex", ["age"])]))
    ['age']
    >>> sorted(suppress({"all": 60, "a": 40, "b": 17, "c": 3}, [Margin("all", ["a", "b", "c"], rest=False)]))
    ['b', 'c']
    """
    check(limit)
    margins = [Margin(whole, tuple(parts), rest) for whole, parts, rest in margins]
    near: dict[Cell, list[Margin]] = {name: [] for name in cells}
    for margin in margins:
        for name in margin.cells:
            near[name].append(margin)
    linked, shown = _linked(near), dict[Cell, float]()
    for name, people in cells.items():
        known = {**shown, name: people}
        sums = [margin.beside(known) for margin in near[name] if margin.whole in known or margin.whole not in cells]
        if few(people, limit) or any(few(margin.left(cells), limit) for margin in sums):
            continue
        if not _follows(known, cells, linked[name], limit):
            shown = known
    return cells.keys() - shown.keys()


def suppress_sets(people: Mapping[tuple[str, ...], float], of: int, limit: int = LIMIT) -> set[tuple[str, ...]]:
    """`suppress` of what sets of attributes tell, `{attributes: people}` of `of`: more attributes tell of them too.

    Most important are no attributes, what is known without any, then all of them, then the smaller sets.

    >>> suppress_sets({("age",): 345, ("sex",): 0, ("age", "sex"): 350}, 400)
    {('age',)}
    """
    most = max(map(len, people), default=0)
    order = sorted(people, key=lambda names: (len(names) not in (0, most), len(names)))
    sets = {names: frozenset(names) for names in people}
    # All pairs of thousands of sets are millions: each set is compared with those alone that have all its attributes.
    every, having = set(people), dict[str, set[tuple[str, ...]]]()
    for names in people:
        for name in names:
            having.setdefault(name, set()).add(names)
    above = {names: every.intersection(*(having[name] for name in names)) for names in people}
    nested = [Margin(larger, (names,)) for names in people for larger in above[names] if sets[names] < sets[larger]]
    margins = [*nested, *(Margin(of, (names,)) for names in people)]
    return suppress({names: people[names] for names in order}, margins, limit)


def _linked(near: Mapping[Cell, Sequence[Margin]]) -> dict[Cell, list[Margin]]:
    """Of each cell the margins that it is linked with, over any number of others: `{name: margins}`.

    None where these are of nested groups alone, for nothing follows: one between two others may vary unless these are
    equal, and so not few. It is asked here, once for all cells, as there may be thousands of them, and more margins.
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
    """Whether one of the counts of few people that are not `known` can have one value only.

    Other values that it may have, a whole one away from its own, are found by linear programming over all withheld
    counts; those found for one count are tried for the next.
    """
    hidden = list(dict.fromkeys(cell for margin in margins for cell in margin.cells if cell not in known))
    secret = [Margin(cell, ()) for cell in hidden if few(cells[cell], limit)]
    secret += [margin for margin in margins if margin.rest]
    secret += [margin.beside(known) for margin in margins]
    secret = [margin for margin in dict.fromkeys(secret) if few(margin.left(cells), limit)]
    if not secret:
        return False

    def row(margin: Margin) -> tuple[list[int], float]:
        """What is left of the margin, as coefficients of the hidden counts, and a number."""
        ones = {margin.whole: 1} | dict.fromkeys(margin.parts, -1)
        return [ones.get(cell, 0) for cell in hidden], margin.left({cell: known.get(cell, 0) for cell in cells})

    def bounds(people: float) -> tuple[float, float]:
        return (1, limit - 1) if few(people, limit) and limit > 2 else (limit if people >= limit else 0, np.inf)

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
    # A withheld count of nobody may be known to be none: any other one that is not of few people is too large.
    asked["bounds"] = [bounds(cells[cell]) if cells[cell] else (0, 0) for cell in hidden]
    true, tried = np.array([cells[cell] for cell in hidden], dtype=float), list[FloatArray]()
    return any(not _varies(np.array(row(margin)[0], dtype=float), true, asked, tried) for margin in secret)


def _varies(ones: FloatArray, true: FloatArray, asked: Mapping[str, Any], tried: list[FloatArray]) -> bool:
    """Whether a sum of hidden counts can be another whole number than that of the `true` ones.

    `tried`: what else the counts can be, arrays (hidden,); what is found is added to it.
    """
    from scipy.optimize import linprog  # seldom needed, and slow to import

    def differs(counts: FloatArray) -> bool:
        return bool(abs(ones @ (counts - true)) > 1 - 1e-6)

    if any(map(differs, tried)):
        return True
    for sign in (1, -1):  # the least value, and the greatest
        found = linprog(sign * ones, **asked)
        if found.status != 0:  # it has no end
            return True
        tried.append(found.x)
        if differs(found.x):
            return True
    return False
