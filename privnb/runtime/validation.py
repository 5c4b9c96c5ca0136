"""Checks of arguments that follow from annotations: `@validated` for functions, `Validated` for dataclasses.

An annotation states what an argument must be, and this module derives the check of the argument from the annotation. If
the annotation is a class, the argument must be an instance of the class. A `Literal` lists the allowed texts, and
`Annotated[float, positive]` calls `positive(name, value)`. Each error states the argument, the requirement, the given
value and a remedy.

A class may state in `HINT` how to obtain an instance, as in `HINT = "Load one: load(name)."`. Errors about an argument
of this class end with the hint.
"""

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, Union, get_args, get_origin

import numpy as np

from privnb.runtime import expect
from privnb.runtime.errors import UsageTypeError

Check = Callable[[str, Any], object]
Function = TypeVar("Function", bound=Callable[..., Any])
One = TypeVar("One")
OneOrMore: TypeAlias = One | Sequence[One]  # `as_list` makes a list of both

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
NUMBERS: dict[Any, Check] = {int: expect.integer, float: expect.number, bool: expect.boolean}
WORDS = {int: "a whole number", float: "a finite number", bool: "True or False", str: "text"}


def validated(function: Function) -> Function:
    """Return a function that first checks the arguments against the annotations and then calls `function`.

    >>> @validated
    ... def halve(number: float, times: Annotated[int, at_least(1)] = 1) -> float:
    ...     return number / 2**times
    >>> halve(3)
    1.5
    >>> halve(3, times=0)
    Traceback (most recent call last):
    privnb.UsageError: times must be a whole number of at least 1; got 0.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind in POSITIONAL]
    several = [each.name for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL]

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        checks = argument_checks(function)
        given = names + several * (len(arguments) - len(names))  # `*several` takes all further arguments
        for name, value in [*zip(given, arguments, strict=False), *named.items()]:
            if check := checks.get(name):
                check(name, value)
        return function(*arguments, **named)

    return typing.cast(Function, checked)


class Validated:
    """A base class of frozen dataclasses, which checks the fields against their annotations on creation.

    A subclass with its own `__post_init__` must call `super().__post_init__()` first.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Raise UsageTypeError for a class that is not a frozen dataclass."""
        own, fields = vars(cls), "__dataclass_fields__"
        if not hasattr(cls, fields) or ("__init__" in own and fields not in own) or cls.__hash__ is None:
            raise UsageTypeError(
                f"{cls.__name__} must be a frozen dataclass. Write `@dataclass(frozen=True)` above the class, and each "
                "parameter as a field, such as `step: int = 10`."
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, check in argument_checks(type(self)).items():  # type: ignore[arg-type]
            check(name, getattr(self, name))


@functools.cache
def argument_checks(of: Callable[..., Any]) -> dict[str, Check]:
    """Return, by name, the checks of the annotated parameters of a function or of the fields of a dataclass."""
    annotations = typing.get_type_hints(of, include_extras=True)
    if isinstance(of, type):
        fields = getattr(of, "__dataclass_fields__", {})
        annotations = {name: annotation for name, annotation in annotations.items() if name in fields}
    checks = {name: check_of(annotation) for name, annotation in annotations.items() if name != "return"}
    return {name: check for name, check in checks.items() if check}


def check_of(annotation: Any) -> Check | None:
    """Return the check that an annotation implies, or None if the annotation allows every value."""
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, *marks = get_args(annotation)
        return next(filter(callable, marks), None) or check_of(kind)
    if origin in (Union, types.UnionType):
        return _check_of_union(get_args(annotation))
    if origin is Literal:
        return one_of(get_args(annotation))
    if annotation in NUMBERS:
        return NUMBERS[annotation]
    kind = origin or annotation
    if not isinstance(kind, type) or annotation is Any or kind is object or getattr(kind, "_is_protocol", False):
        return None
    if kind is np.ndarray:
        return an_instance(np.ndarray)
    if issubclass(kind, type):
        return an_instance(type)
    if issubclass(kind, Callable):  # type: ignore[arg-type]
        return expect.function
    items = get_args(annotation)
    if items and issubclass(kind, Sequence) and not issubclass(kind, tuple):
        members = _classes(items[0])
        return several(*members) if members else several(object)
    return an_instance(kind)


def _classes(annotation: Any) -> tuple[type, ...]:
    """Return the classes that an annotation allows; empty if the annotation includes something other than classes."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else [annotation]
    classes = tuple(get_origin(part) or part for part in parts)
    plain = all(isinstance(each, type) and each not in (object, Any, Annotated, *NUMBERS) for each in classes)
    return classes if plain else ()


def _check_of_union(parts: Sequence[Any]) -> Check | None:
    """Return a check that accepts a value if at least one of several annotations allows the value."""
    may_be_none, others = type(None) in parts, [part for part in parts if part is not type(None)]
    if len(parts) == 2 and get_args(parts[1]) == (parts[0],):  # `OneOrMore`
        return one_or_more(parts[0])
    if classes := _classes(Union[tuple(others)]):  # noqa: UP007
        return an_instance(*classes, *([type(None)] if may_be_none else []))
    if len(others) == 1:
        alone = check_of(others[0])
        return alone and (optional(alone) if may_be_none else alone)
    checks = [check_of(part) for part in others]
    if not all(checks):
        return None

    wanted = " or ".join(WORDS.get(part) or f"a {getattr(part, '__name__', part)}" for part in others)

    def check(name: str, value: Any) -> None:
        if not (value is None and may_be_none) and not any(_passes(each, value) for each in checks if each):
            raise UsageTypeError(f"{name} must be {wanted}; got {expect.describe_value(value)}.")

    return check


def _passes(check: Check, value: Any) -> bool:
    try:
        check("", value)
    except (TypeError, ValueError):
        return False
    return True


def an_instance(*kinds: type) -> Check:
    """Return a check for an instance of one of these classes."""
    named = [kind for kind in kinds if kind is not type(None)]
    hint = next((kind.__dict__["HINT"] for kind in named if "HINT" in kind.__dict__), "")

    def check(name: str, value: Any) -> None:
        expect.kind(name, value, *kinds, instead=hint)

    return check


def several(*kinds: type) -> Check:
    """Return a check for a list, or another ordered collection, of instances of these classes."""
    hint = next((kind.__dict__["HINT"] for kind in kinds if "HINT" in kind.__dict__), "")
    return lambda name, value: expect.all_of(name, value, *kinds, instead=hint)


def one_or_more(*kinds: type) -> Check:
    """Return a check for an instance of one of these classes, or a list of instances."""
    check = several(*kinds)
    return lambda name, value: None if isinstance(value, kinds) else check(name, value)


def as_list(value: OneOrMore[One]) -> list[One]:
    """Return a list from one value or a sequence of values.

    >>> as_list(3), as_list((3, 4))
    ([3], [3, 4])
    """
    return [*value] if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def at_least(least: int, why: str = "") -> Check:
    """Return a check for a whole number of at least `least`; `why` states the reason for this bound."""
    return lambda name, value: expect.whole(name, value, least, why)


def between(low: float, high: float, why: str) -> Check:
    """Return a check for a number above `low` and below `high`; `why` states the reason for the bounds."""
    return lambda name, value: expect.between(name, value, low, high, why)


def above(least: float, why: str) -> Check:
    """Return a check for a number above `least`; `why` states the reason for this bound."""
    return lambda name, value: expect.above(name, value, least, why)


def one_of(known: Collection[Any]) -> Check:
    """Return a check for one of the texts `known`."""
    return lambda name, value: expect.one_of(name, value, known)


def optional(check: Check) -> Check:
    """Return a check that accepts None and all values that `check` accepts."""
    return lambda name, value: None if value is None else check(name, value)


def instead(kind: type, hint: str) -> Check:
    """Return a check for an instance of the class `kind`, whose error ends with `hint`."""
    return lambda name, value: expect.kind(name, value, kind, instead=hint)


Number = Annotated[float, expect.number]
Positive = Annotated[float, expect.positive]
Share = Annotated[float, expect.share]  # above 0 and at most 1
Percentage = Annotated[float, expect.percentage]  # above 0 and at most 100
Probability = Annotated[float, expect.share_or_none]  # from 0 to 1
Count = Annotated[int, at_least(1)]
Seed = Annotated[int, at_least(0)]
Seeds = Annotated[int, expect.repeats]
Folds = Annotated[int, at_least(2)]
Randomness = Annotated[int | Sequence[int] | np.random.Generator | None, expect.randomness]
AttributeName = Annotated[str, instead(str, "Name an attribute.")]
Path = Annotated[str | os.PathLike[str], expect.path]
Hierarchies = Annotated[Mapping[str, Any] | None, optional(instead(Mapping, "Give them by attribute."))]
Matrix = Annotated[np.ndarray[Any, np.dtype[Any]], lambda name, value: expect.array(name, value, 2)]
