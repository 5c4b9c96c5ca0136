"""The facts of each measure, which are stated next to its function: title, sentence, unit, direction and bounds."""

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
from privnb.microdata.rows import CombinationTable
from privnb.microdata.treatment import Unreadable
from privnb.runtime import entry_points, expect, numerals
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.registry import find_cited_source, first_paragraph
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import an_instance, argument_checks

KINDS = ("privacy", "utility")
DIRECTIONS = ("lower", "higher")
# The format of a number by its unit.
UNITS = dict.fromkeys(("people", "records", "pairs", "cells", "places"), "{:,}")
UNITS |= dict.fromkeys(("bits", "nats", "points"), "{:g}")
Function = TypeVar("Function", bound=Callable[..., Any])
Counts = Annotated[IntArray, lambda name, value: expect.array(name, value, 2)]  # (classes, values)
# The arguments that `evaluate` gives to measures, which need not annotate them.
EVALUATED = {"dataset": an_instance(Dataset), "release": an_instance(Release)}


@dataclass(frozen=True)
class Measure:
    """The facts of one measure, for use in tables, charts, menus and findings.

    Parameters
    ----------
    name : str
        The name of the measure in the column `measure` of results.
    kind : str
        "privacy", "utility", or "" for a number that measures neither privacy nor utility.
    title : str
        The name that readers see; by default, a name derived from `name`.
    sentence : str
        One or two sentences that state what the measure counts, about which people, and which direction is better.
    source : str
        The publication that defines the measure.
    unit : str
        The unit in the form of an axis title, such as "share of people" or "nats".
    format : str
        The format of a number with its unit; see `numerals`.
    better : str
        The better direction from the data owner's point of view: "lower", "higher", or "" if neither is better.
    bounds : tuple of two numbers
        The smallest and the largest possible value; a bound that does not exist is infinite.
    baseline : str
        The baseline with which the number is compared; by default, the number without the release.
    counts_people : bool
        Whether the measure counts people, so that the threshold rule withholds small counts.
    varies : bool
        Whether the number depends on random folds or queries, even for one release. If so, the number of a single seed
        is never exact.
    readings : dict of str to str
        Text that is added to the sentence for each variant or scenario, by the name of the variant or scenario.
    axis : bool
        Whether charts of releases offer the measure as an axis. False if a release has several numbers of this measure.
    live : bool
        Whether the explorer and notebook 10 compute the measure for each release. True only for measures that take
        milliseconds. Notebook 10 shows those of these measures for which lower is better.
    by_combinations : bool
        Whether the measure needs only the number of records with each combination of values. If so, the measure also
        accepts a `CombinationTable` and a release made from a `CombinationTable`. Every other measure refuses such
        arguments.
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
                f"the measure '{self.name}' must have a `kind` of {KINDS}, a `better` of {DIRECTIONS} and `bounds` low "
                f"< high; got kind={self.kind!r}, better={self.better!r}, bounds={self.bounds!r}."
            )

    @property
    def phrase(self) -> str:
        """Return the title in a form that can be part of a sentence."""
        return self.title[0].lower() + self.title[1:]

    @property
    def label(self) -> str:
        """Return the title as part of a sentence, followed by the unit, for an axis or a heading."""
        return f"{self.phrase} ({self.unit})" if self.unit else self.phrase

    def written(self, number: float) -> str:
        """Return a number as text with its unit.

        >>> Measure("share", format="{:%} of people").written(0.525), Measure("delta").written(math.inf)
        ('52% of people', 'unbounded')
        """
        return numerals.write_number(self.format, number)

    def bare(self, number: float) -> str:
        """Return a number as text without its unit."""
        return numerals.write_without_unit(self.format, number)


_registered: dict[str, Measure] = {}  # by name


def register_measure(name: str, **facts: Any) -> Measure:
    """Register the facts of a measure without a function, and return these facts as a `Measure`.

    Facts that are not given follow from the other facts; see `_implied`. Charts of releases do not offer the measure as
    an axis unless `axis=True` is given.

    Raises
    ------
    ValueError
        If different facts are already registered under this name.
    """
    return _keep(Measure(name, **_implied({"axis": False} | facts)))


def _implied(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the given facts, and add facts that follow from them.

    For a privacy or utility measure, lower is better. If the unit begins with "share of", numbers are written as
    percentages, and the bounds are 0 and 1. Other units have the formats in `UNITS`.
    """
    unit = facts.get("unit", "")
    number = "{:%} of" if (part := unit.removeprefix("share of ")) != unit else UNITS.get(unit)
    facts = (
        {"better": "lower" if facts.get("kind") else ""} | ({"format": f"{number} {part}"} if number else {}) | facts
    )
    return {"bounds": (0, 1)} | facts if "%" in facts.get("format", "") else facts


def _keep(new: Measure) -> Measure:
    if _registered.setdefault(new.name, new) != new:
        raise UsageError(
            f"other facts are already stated for '{new.name}': {_registered[new.name]}. Give the measure another name."
        )
    return new


def measure(
    *, kind: str, better: str, bounds: tuple[float, float], name: str = "", **facts: Any
) -> Callable[[Function], Function]:
    """Mark a function as a measure, by registering facts under its name and storing the facts in its attribute `facts`.

    Any callable from a module, a notebook cell or another package can be a measure. When the measure is called, its
    arguments are checked against their annotations (see `validation`), and its result must be within the bounds. The
    documentation describes the arguments by `ARGUMENTS`.

    Parameters
    ----------
    kind, better, bounds
        See `Measure`.
    name : str
        The name in results. By default, the name of the function; for a `functools.partial`, the name of the wrapped
        function; for another callable object, the name derived from its class.
    **facts
        Other parameters of `Measure`. By default, `sentence` is the first paragraph of the function's docstring, and
        `source` is the text after "Source:" in the docstring.

    Examples
    --------
    >>> @measure(kind="privacy", better="lower", bounds=(0, 1), name="example_share")
    ... def example_share(release):
    ...     '''Half of all people are counted here. Lower protects more.'''
    ...     return 0.5
    >>> example_share.facts.sentence
    'Half of all people are counted here. Lower protects more.'
    """

    def mark(function: Function) -> Function:
        origin = _origin(function)
        called, home, takes = name or _called(origin), origin.__module__, [*inspect.signature(function).parameters]
        if not called.isidentifier():
            raise UsageError(
                f"`name` must be given for a function whose name is not an identifier; got {called!r}. Try "
                "@measure(name=...)."
            )
        facts.setdefault("sentence", first_paragraph(origin))
        facts.setdefault("source", find_cited_source(origin).rstrip("."))
        if getattr(_marked.get(called), "__module__", "") == home:  # a cell that runs again may state other facts
            _registered.pop(called, None)

        own = _keep(Measure(called, **_implied({"kind": kind, "better": better, "bounds": bounds} | facts)))

        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            arguments = dict(zip(takes, given, strict=False)) | named  # the function refuses wrong arguments
            counted = isinstance(arguments.get("dataset"), CombinationTable)
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
    """Return the function that defines a callable, or the class of a callable object."""
    if not callable(function):
        raise UsageTypeError(f"@measure must mark a function; got {expect.describe_value(function)}.")
    while isinstance(function, partial):
        function = function.func
    return function if hasattr(function, "__name__") else type(function)


def _called(origin: Any) -> str:
    """Return the name of a measure, given its function or class, such as `lonely_share` for the class `LonelyShare`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", origin.__name__).lower() if isinstance(origin, type) else origin.__name__


def _check_counts(facts: Measure) -> None:
    """Raise Unreadable if a measure needs records and not only counts of combinations."""
    if not facts.by_combinations:
        raise Unreadable(
            f"{facts.phrase} is measured on records, and this data holds only counts of combinations. Load and "
            "sanitize the table or a sample."
        )


def _check_found(of: Measure, found: Any) -> Any:
    """Return the result of a measure if the result is valid.

    A valid result is a number within the bounds, or a tuple (number, low, high) with low <= number <= high, or arrays
    of such numbers. `low` and `high` may be NaN if there is no interval. The number may be NaN if it is withheld and
    both bounds are given. A NaN without bounds is the result of a failed calculation, which readers would mistake for
    protection. Raises ValueError for any other result.
    """
    if isinstance(found, Real) and of.bounds[0] <= float(found) <= of.bounds[1]:  # nearly always
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
    shown = (
        f"({', '.join(map(expect.describe_value, found[:4]))})"
        if isinstance(found, tuple)
        else expect.describe_value(found)
    )
    raise UsageError(
        f"the measure '{of.name}' must return a number from {of.bounds[0]:.10g} to {of.bounds[1]:.10g}, or (number, "
        f"low, high) with the number between; got {shown}. Correct the measure or its bounds. If the measure cannot "
        "read a release, raise Unreadable with the reason."
    )


def _beyond(less: ArrayLike, more: ArrayLike) -> BoolArray:
    """Return whether the first number exceeds the second by more than a rounding error; False if one of them is NaN."""
    with np.errstate(invalid="ignore"):  # the difference of two infinite numbers
        return np.subtract(less, more) > ROUNDING * np.maximum(1, np.minimum(np.abs(less), np.abs(more)))


# Descriptions of the arguments that many measures take.
ARGUMENTS = {
    "dataset": "Dataset",
    "release": "Release",
    "queries": "CountQueries",
    "populations": "LargePopulations",
    "counts": "integer array (classes, values)\n    The number of times that each value occurs in each class.",
    "baseline": "float array (classes, values), optional\n    Shares known about each class before; if None, A_base.",
}


def _described(function: Callable[..., Any], takes: list[str], of: Measure) -> str:
    """Return the docstring of a measure with the sentence of the measure.

    If all arguments are in `ARGUMENTS`, numpydoc's sections are added.
    """
    text = inspect.getdoc(function) or ""
    if of.sentence and of.sentence != first_paragraph(function):
        summary, _, rest = text.partition("\n\n")
        text = f"{summary}\n\n{of.sentence}\n\n{rest}".rstrip()
    if len(takes) < 2 or not {*takes} <= {*ARGUMENTS} or "Parameters\n---" in text:
        return text
    taken = "\n".join(f"{name} : {ARGUMENTS[name]}" for name in takes)
    low, high = of.bounds
    gives = f"From {low:.3g} to {high:.3g} ({of.unit or 'no unit'}); {of.better or 'neither'} is better."
    sections = f"Parameters\n----------\n{taken}\n\nReturns\n-------\nfloat\n    {gives}\n\n"
    said, mark, source = text.partition("Source: ")
    return f"{said}{sections}{mark}{source}" if mark else f"{said}\n\n{sections}".rstrip()


_marked: dict[str, Any] = {}  # functions by name


def find_measure(name: str) -> Any:
    """Return the function that is marked as the measure with this name, or None if the measure has no function."""
    measure_facts(name)  # imports the modules of measures if the name is not known yet
    return _marked.get(name)


def live_measures() -> list[Any]:
    """Return the functions that are marked as measures and whose fact `live` is true."""
    _import_room("privnb.measures")
    return [function for function in _marked.values() if function.facts.live]


def measure_facts(name: str) -> Measure:
    """Return the facts of the measure with this name in results; if the name is unknown, the `Measure` has only a name.

    >>> measure_facts("prior_accuracy").unit
    'share of people'
    """
    if name not in _registered:
        _import_rooms()
    return _registered.get(name) or Measure(name)


def list_measures(kind: str | None = None) -> list[Measure]:
    """Return all registered measures or, if `kind` is given, those of one kind ("privacy" or "utility")."""
    _import_rooms()
    return [each for each in _registered.values() if kind is None or each.kind == kind]


_rooms = ["privnb.measures"]


def register_package(package: str) -> None:
    """Register a package whose modules state facts; `measure_facts` imports these modules when it needs facts."""
    _rooms.append(package)


def _import_rooms() -> None:
    for each in _rooms:
        _import_room(each)


@cache
def _import_room(room: str) -> None:
    for module in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
        if "._" not in module.name:  # private modules state no facts and load libraries, which takes seconds
            import_module(module.name)
    entry_points.load_methods(room, _check_measure)


def _check_measure(point: object, found: Any) -> None:
    if not (isinstance(found, ModuleType) or isinstance(getattr(found, "facts", None), Measure)):
        raise UsageError(
            f"an entry point must name a function marked with @measure, or a module; got {expect.describe_value(found)}"
        )
