"""Checks that follow from annotations: what passes, and what each error says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import pytest

from privnb.runtime import validation
from privnb.runtime.validation import Validated, at_least, validated


class Sheep:
    HINT = "Buy one."


@validated
def count(
    table: pd.DataFrame,
    sheep: Sequence[Sheep] = (),
    *,
    array: np.ndarray | None = None,
    way: Literal["up", "down"] = "up",
    function: Callable[[int], int] | None = None,
    pairs: Mapping[str, int] | None = None,
    rng: validation.Randomness = None,
    limit: int | str = 1,
    names: tuple[str, ...] = (),
    flag: bool = False,
    share: validation.Share = 1,
    anything: Any = None,
    dog: Sheep | None = None,
) -> int:
    return len(table)


LEGAL = [
    {},
    {"sheep": [Sheep()], "array": np.zeros(2), "way": "down", "function": abs, "pairs": {"a": 1}, "rng": 3},
    {"limit": "all", "names": ("a",), "flag": np.bool_(True), "share": 0.5, "anything": object(), "dog": Sheep()},
    {"array": None, "function": None, "pairs": None, "dog": None, "rng": np.random.default_rng(1)},
]
WRONG = {
    "sheep": (3, TypeError, "sheep must be a list of Sheep; got 3. Buy one."),
    "array": ([1], TypeError, "array must be a ndarray or None; got a list."),
    "way": ("left", ValueError, "way must be one of up, down; got 'left'."),
    "function": (3, TypeError, "function must be a Callable or None; got 3."),
    "pairs": ([], TypeError, "pairs must be a Mapping or None; got a list."),
    "rng": ("x", ValueError, "rng must be a seed (a whole number of at least 0) or a numpy Generator; got 'x'."),
    "limit": (2.5, TypeError, "limit must be a whole number or text; got 2.5."),
    "names": (["a"], TypeError, "names must be a tuple; got a list."),
    "flag": (1, TypeError, "flag must be True or False; got 1."),
    "share": (0, ValueError, "share must be a share above 0 and at most 1; got 0."),
    "dog": ("dog", TypeError, "dog must be a Sheep or None; got 'dog'. Buy one."),
}


@pytest.mark.parametrize("arguments", LEGAL)
def test_legal_arguments_pass(arguments):
    assert count(pd.DataFrame({"a": [1, 2]}), **arguments) == 2


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name):
    value, kind, message = WRONG[name]
    with pytest.raises(kind) as error:
        count(pd.DataFrame(), **{name: value})
    assert str(error.value) == message


def test_arguments_by_position_are_checked():
    with pytest.raises(TypeError, match="table must be a DataFrame; got 3"):
        count(3)
    with pytest.raises(TypeError, match=r"sheep\[1\] must be a Sheep"):
        count(pd.DataFrame(), [Sheep(), 4])


def test_fields_of_a_dataclass_are_checked():
    @dataclass(frozen=True)
    class Size(Validated):
        k: Annotated[int, at_least(2, "a class of one is a person")]
        name: str = ""

    assert Size(2).k == 2
    with pytest.raises(ValueError, match=r"k must be a whole number of at least 2 \(a class of one is a person\)"):
        Size(1)
    with pytest.raises(TypeError, match="name must be a str; got 4"):
        Size(2, 4)
