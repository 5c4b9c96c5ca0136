"""What a number of results is, stated once where it is made.

One module, since a measure's arguments and numbers are checked by the facts that are stated of it.
"""

import inspect
import math
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from importlib import import_module
from numbers import Real
from types import FunctionType, ModuleType
from typing import Annotated, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from privnb.datasets.dataset import Dataset
from privnb.microdata.release import Release
from privnb.microdata.rows import Counted
from privnb.microdata.treatment import Unreadable
from privnb.runtime import entry_points, expect, numerals
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.family import opening, source
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import an_instance, argument_checks

KINDS = ("privacy", "utility")
DIRECTIONS = ("lower", "higher")
# How a number of some units is written before them.
UNITS = dict.fromkeys(("people", "records", "pairs", "cells", "places"), "{:,}")
UNITS |= dict.fromkeys(("bits", "nats", "points"), "{:g}")
Function = TypeVar("Function", bound=Callable[..., Any])
Counts = Annotated[IntArray, lambda name, value: expect.array(name, value, 2)]  # (classes, values)
# What `evaluate` gives to measures, which need not annotate it.
EVALUATED = {"dataset": an_instance(Dataset), "release": an_instance(Release)}


@dataclass(frozen=True)
class Measure:
    """The facts of a number of results: tables, charts, menus and findings read them here.

    Parameters
    ----------
    name : str
        As column `measure` of results has it.
    kind : str
        "privacy", "utility", or "" for a number that only describes.
    title, sentence, source : str
        What a person calls it (by default the name), what it means for people, and who defined it.
    unit : str
        What it is counted in, as the title of an axis says it: "share of people", "nats".
    format : str
        What a number is of, with its unit: a share, a count or another number, see `numerals`.
    better : str
        "lower", "higher" (from the data owner's side), or "" where neither is better.
    bounds : tuple of two numbers
        The smallest and the largest value that it can take; infinite if open.
    baseline : str
        What its baseline is, where that is not what is reached without the release.
    counts_people : bool
        Whether it counts people, so that the threshold rule withholds small counts.
    varies : bool
        Whether it varies with the folds or queries drawn, of whatever release: then one seed is never exact.
    readings : dict of str to str
        What else a sentence says of a variant or scenario, by its name.
    axis : bool
        Whether charts of releases offer it as an axis: not where a release has several such numbers.
    live : bool
        Whether the explorer and 10 ask each release for it: only what is counted in milliseconds. 10 shows those of
        which lower is better.
    by_combinations : bool
        Whether it asks only how many records have each combination: then `Counted` ones and a release of them will do,
        which every other measure refuses.
    """

    name: str
    kind: str = ""
    title: str = ""
    sentence: str = ""
    source: str = ""
    unit: str = ""
    format: str = "{:g}"
    better: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    baseline: str = "without it"
    counts_people: bool = False
    varies: bool = False
    readings: dict[str, str] = field(default_factory=dict, hash=False)
    axis: bool = True
    live: bool = False
    by_combinations: bool = False

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " ").capitalize())
        wrong = self.kind not in ("", *KINDS) or self.better not in ("", *DIRECTIONS)
        if wrong or not self.bounds[0] < self.bounds[1]:
            raise UsageError(
                f"a measure has a kind of {KINDS}, a better of {DIRECTIONS} and bounds low < high; '{self.name}' got "
                f"kind={self.kind!r}, better={self.better!r}, bounds={self.bounds!r}."
            )

    @property
    def phrase(self) -> str:
        """The title inside a sentence."""
        return self.title[0].lower() + self.title[1:]

    @property
    def label(self) -> str:
        """The phrase with its unit, for an axis or a heading."""
        return f"{self.phrase} ({self.unit})" if self.unit else self.phrase

    def written(self, number: float) -> str:
        """A number with its unit.

        >>> Measure("share", format="{:%} of people").written(0.525), Measure("delta").written(math.inf)
        ('52% of people', 'unbounded')
        """
        return numerals.written(self.format, number)

    def bare(self, number: float) -> str:
        """A number without its unit."""
        return numerals.bare(self.format, number)


_stated: dict[str, Measure] = {}  # by name


def state(name: str, **facts: Any) -> Measure:
    """State the facts of a number that results have under this name: a `Measure`.

    What is not given follows from the rest, see `_implied`; no chart of releases offers the number as an axis.

    Raises ValueError where other facts of that name are stated: numbers of one name are one measure.
    """
    return _keep(Measure(name, **_implied({"axis": False} | facts)))


def _implied(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts with those that follow from the others where they are not given: a privacy or utility measure is
    better where it is lower; a "share of" some things is written in per cent of them, and other units as `UNITS` says;
    what is written in per cent lies between 0 and 1.
    """
    unit = facts.get("unit", "")
    number = "{:%} of" if (part := unit.removeprefix("share of ")) != unit else UNITS.get(unit)
    facts = (
        {"better": "lower" if facts.get("kind") else ""} | ({"format": f"{number} {part}"} if number else {}) | facts
    )
    return {"bounds": (0, 1)} | facts if "%" in facts.get("format", "") else facts


def _keep(new: Measure) -> Measure:
    if _stated.setdefault(new.name, new) != new:
        raise UsageError(
            f"the facts of '{new.name}' are stated already: {_stated[new.name]}. Give the measure another name."
        )
    return new


def measure(
    *, kind: str, better: str, bounds: tuple[float, float], name: str = "", **facts: Any
) -> Callable[[Function], Function]:
    """Mark a function as a measure: state its facts under its name, and set them on it as `facts`.

    Any callable will do, of a module, a notebook's cell or another package. `name`: what results call it, by default
    the name of the function, of a `functools.partial` that of its function, and of an object that of its class. Other
    parameters as of `Measure`. The sentence is the first paragraph of the function's docstring, and the source what
    stands there after "Source:", unless they are given. Arguments are checked by their annotations, see `validation`,
    and described by what `ARGUMENTS` says of them. What it gives must keep its bounds, see `_check_found`.
    """

    def mark(function: Function) -> Function:
        origin = _origin(function)
        called, home, takes = name or _called(origin), origin.__module__, [*inspect.signature(function).parameters]
        if not called.isidentifier():
            raise UsageError(f"`name` must be given for a function without a name of its own; got {called!r}.")
        facts.setdefault("sentence", opening(origin))
        facts.setdefault("source", source(origin).rstrip("."))
        if getattr(_marked.get(called), "__module__", "") == home:  # a cell that runs again may state other facts
            _stated.pop(called, None)

        own = _keep(Measure(called, **_implied({"kind": kind, "better": better, "bounds": bounds} | facts)))

        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            arguments = dict(zip(takes, given, strict=False)) | named  # wrong ones the function refuses
            counted = isinstance(arguments.get("dataset"), Counted)
            if counted or getattr(arguments.get("release"), "times", None) is not None:
                _check_counts(own)
            checks = EVALUATED | (argument_checks(function) if isinstance(function, FunctionType) else {})
            for each, value in arguments.items():
                if each in checks and not (counted and each == "dataset"):
                    checks[each](each, value)
            return _check_found(own, function(*given, **named))

        checked.__name__, checked.__module__ = called, home
        checked.__qualname__ = getattr(function, "__qualname__", called)
        checked.facts = own  # type: ignore[attr-defined] # a function has attributes
        checked.__doc__ = _described(origin, takes, own)
        _marked[called] = checked
        return cast(Function, checked)

    return mark


def _origin(function: Any) -> Any:
    """The function, or the class of an object, that a callable is made of."""
    if not callable(function):
        raise UsageTypeError(f"@measure must mark a function; got {expect.found(function)}.")
    while isinstance(function, partial):
        function = function.func
    return function if hasattr(function, "__name__") else type(function)


def _called(origin: Any) -> str:
    """The name of a measure that is made of a function or of a class: `lonely_share` of `LonelyShare`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", origin.__name__).lower() if isinstance(origin, type) else origin.__name__


def _check_counts(facts: Measure) -> None:
    """Raise Unreadable for a measure that reads records."""
    if not facts.by_combinations:
        raise Unreadable(
            f"{facts.phrase} is measured of records, and here are combinations and how many records have each. Load "
            "the table, or a sample of it, and sanitize that."
        )


def _check_found(of: Measure, found: Any) -> Any:
    """What a measure gives: a number within its bounds, or (number, low, high) with it between; arrays alike.

    Raises ValueError for anything else. The ends may be NaN, where there is no interval, and the number between two
    ends, where it is withheld. NaN by itself is a failed calculation, and would pass for protection.
    """
    if isinstance(found, Real) and of.bounds[0] <= float(found) <= of.bounds[1]:  # as nearly all are
        return found
    given = found if isinstance(found, tuple) else (found,)
    plain = all(isinstance(each, Real) or getattr(each, "dtype", np.dtype(object)).kind in "biuf" for each in given)
    if plain and len(given) in (1, 3):
        ends: list[Any] = [*(np.asarray(each, dtype=float) for each in given), math.nan, math.nan]
        value, low, high = ends[:3]
        wrong = np.isnan(value) & (np.isnan(low) | np.isnan(high))
        for less, more in ((of.bounds[0], value), (value, of.bounds[1]), (low, value), (value, high), (low, high)):
            wrong = wrong | _beyond(less, more)
        if not np.any(wrong):
            return found
    shown = f"({', '.join(map(expect.found, found[:4]))})" if isinstance(found, tuple) else expect.found(found)
    raise UsageError(
        f"the measure '{of.name}' must give a number from {of.bounds[0]:.10g} to {of.bounds[1]:.10g}, or (number, low, "
        f"high) with the number between, got {shown}. Correct it or its bounds. Where it can say nothing of a release, "
        "raise Unreadable with the reason."
    )


def _beyond(less: ArrayLike, more: ArrayLike) -> BoolArray:
    """Whether the first is above the second by more than rounding; not where one of them is NaN."""
    with np.errstate(invalid="ignore"):  # of two infinite ones
        return np.subtract(less, more) > ROUNDING * np.maximum(1, np.minimum(np.abs(less), np.abs(more)))


# What the arguments are that many measures take.
ARGUMENTS = {
    "dataset": "Dataset",
    "release": "Release",
    "queries": "CountQueries",
    "populations": "LargePopulations",
    "counts": "integer array (classes, values)\n    How often each sensitive value stands in each class.",
    "baseline": "float array (classes, values), optional\n    Shares known of each class before; None: A_base.",
}


def _described(function: Callable[..., Any], takes: list[str], of: Measure) -> str:
    """The docstring of a measure; with numpydoc's sections where all that it takes is one of `ARGUMENTS`."""
    text = inspect.getdoc(function) or ""
    if len(takes) < 2 or not {*takes} <= {*ARGUMENTS} or "Parameters\n---" in text:
        return text
    taken = "\n".join(f"{name} : {ARGUMENTS[name]}" for name in takes)
    low, high = of.bounds
    gives = f"From {low:.3g} to {high:.3g} ({of.unit or 'no unit'}); {of.better or 'neither'} is better."
    sections = f"Parameters\n----------\n{taken}\n\nReturns\n-------\nfloat\n    {gives}\n\n"
    said, mark, source = text.partition("Source: ")
    return f"{said}{sections}{mark}{source}" if mark else f"{said}\n\n{sections}".rstrip()


_marked: dict[str, Any] = {}  # functions by name


def marked(name: str) -> Any:
    """The function that is marked as the measure of this name; None where there is none: other rows have that name."""
    facts(name)  # imports the rooms, if it is not known yet
    return _marked.get(name)


def live() -> list[Any]:
    """The functions that are marked as measures with the fact `live`: a list."""
    _import_rooms(("privnb.measures",))
    return [function for function in _marked.values() if function.facts.live]


def facts(name: str) -> Measure:
    """The facts of a measure by its name in results; of a name that nobody stated, a `Measure` that has only that."""
    if name not in _stated:
        _import_rooms(tuple(_rooms))
    return _stated.get(name) or Measure(name)


def stated(kind: str | None = None) -> list[Measure]:
    """All measures whose facts are stated, or those of one kind: a list."""
    _import_rooms(tuple(_rooms))
    return [each for each in _stated.values() if kind is None or each.kind == kind]


_rooms = ["privnb.measures"]


def room(package: str) -> None:
    """Make the modules of a package known as some that state facts: who asks for a name need not import them."""
    _rooms.append(package)


@cache
def _import_rooms(rooms: tuple[str, ...]) -> None:
    for each in rooms:
        for module in pkgutil.walk_packages(import_module(each).__path__, f"{each}."):
            if "._" not in module.name:  # what only loads libraries, for seconds
                import_module(module.name)
        entry_points.load_methods(each, _check_measure)


def _check_measure(point: object, found: Any) -> None:
    if not (isinstance(found, ModuleType) or isinstance(getattr(found, "facts", None), Measure)):
        raise UsageError(f"it must name a function marked with @measure, or a module; got {expect.found(found)}")
