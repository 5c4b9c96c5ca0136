"""Conditions on the columns of a table, as an owner writes them: `sex == 'Female' and age > 55`.

A condition may come from an untrusted command line. This module therefore parses the condition with `ast` and computes
the result. The condition can contain names of columns and constants, but, unlike a text in `eval` of pandas, it cannot
use functions, attributes of objects, or files.
"""

import ast
import operator
import re
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.errors import UsageError

ARITHMETIC: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
COMPARED: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda values, among: values.isin(among),
    ast.NotIn: lambda values, among: ~values.isin(among),
}  # fmt: skip
SIGNS: dict[type[ast.AST], Callable[..., Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
WORDS = {"&": " and ", "|": " or "}
TOKENS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`([^`]*)`|[&|]""")
ALLOWED = "It may contain names of columns, numbers, texts, == != < <= > >=, in [...], and, or, not, + - * / // % **"


class _Wrong(Exception):
    """An error in a condition."""


def parse_condition(text: str) -> Callable[[pd.DataFrame], BoolArray]:
    """Parse a condition into a function that takes a table of n records and returns a boolean array (n,).

    `text` contains names of columns (in backticks if they are not words: `marital-status`), numbers, texts in quotes,
    comparisons (also chained), `in [...]`, `and`, `or`, `not` (or `&`, `|`, `~`, with the same precedence), and
    arithmetic. Raises ValueError if `text` contains anything else. The returned function raises ValueError if a name is
    not a column of the table, if a text is compared with a number, or if the result is not true or false for each
    record.

    >>> table = pd.DataFrame({"age": [30, 30, 70], "sex": ["F", "M", "M"]})
    >>> parse_condition("20 < age <= 60 and not sex == 'F'")(table)
    array([False,  True, False])
    """
    expect.kind("condition", text, str, instead="Write one such as age > 55.")
    try:
        # `a b` becomes {'a b'}, which Python can parse and which has no other meaning here.
        plain = TOKENS.sub(lambda token: f"{{{token[1]!r}}}" if token[1] else WORDS.get(token[0], token[0]), text)
        tree = ast.parse(plain.strip(), mode="eval").body
        for node in ast.walk(tree):
            _allowed(node)
    except (_Wrong, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refused(text, getattr(error, "msg", None) or str(error) or "the condition is too long") from None

    def holds(table: pd.DataFrame) -> BoolArray:
        try:
            found = np.asarray(_value(tree, table))
        except (_Wrong, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise _refused(text, error, table) from None
        if found.dtype != bool or found.shape != (len(table),):
            raise UsageError(
                f"{text!r} is not a condition, because the result is not true or false for each record. Write a "
                "comparison such as age > 55."
            )
        return found

    return holds


def _refused(text: str, reason: object, table: pd.DataFrame | None = None) -> ValueError:
    named = "names of columns" if table is None else f"names of {', '.join(map(str, table))}"
    return ValueError(
        f"{text!r} cannot be read as a condition: {reason}. Write the condition as in sex == 'Female' and age > 55, "
        f"with {named}; put a name with a hyphen in backticks."
    )


def _allowed(node: ast.AST) -> None:
    """Raise _Wrong if a node of the condition is not of an allowed type; called before anything is computed."""
    match node:
        case ast.BoolOp() | ast.Compare() | ast.Name() | ast.boolop() | ast.unaryop() | ast.expr_context():
            return
        case ast.UnaryOp() | ast.BinOp(op=ast.operator()) | ast.Set(elts=[ast.Constant(value=str())]):
            return
        case ast.Constant(value=str() | int() | float()):  # bool is an int
            return
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if all(_constant(part) for part in parts):
            return
        case ast.operator() | ast.cmpop() if type(node) in ARITHMETIC or type(node) in COMPARED:
            return
    raise _Wrong(f"`{ast.unparse(node) or type(node).__name__}` is not allowed. {ALLOWED}")


def _constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _value(node: ast.AST, table: pd.DataFrame) -> Any:
    """Return the value of a part of a condition, which is a column of n values or a single value."""
    match node:
        case ast.Constant(value=value):
            # Numbers become floats, because a power of whole numbers could fill the memory.
            return float(value) if type(value) is int else value
        case ast.Name(id=name) | ast.Set(elts=[ast.Constant(value=name)]):
            if name not in table:
                raise _Wrong(f"there is no column {name!r}")
            return table[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, table) for part in parts]
        case ast.BoolOp(op=op, values=parts):
            join = operator.and_ if isinstance(op, ast.And) else operator.or_
            return reduce(join, [_truth(part, table) for part in parts])
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=part):
            return np.logical_not(_truth(part, table))
        case ast.UnaryOp(op=op, operand=part):
            return SIGNS[type(op)](_value(part, table))
        case ast.BinOp(left=left, op=op, right=right):
            sides = _value(left, table), _value(right, table)
            if not all(map(_numeric, sides)):  # arithmetic could format or repeat a text to any length
                raise _Wrong(f"`{ast.unparse(node)}` calculates with something that is not a number")
            return ARITHMETIC[type(op)](*sides)
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = pairwise([_value(side, table) for side in (left, *others)])
            held = [_compared(type(op), *pair) for op, pair in zip(ops, pairs, strict=True)]
            return np.logical_and.reduce(held)


def _truth(node: ast.AST, table: pd.DataFrame) -> BoolArray:
    value = np.asarray(_value(node, table))
    if value.dtype != bool:
        raise _Wrong(f"`{ast.unparse(node)}` is not true or false for each record")
    return value


def _compared(op: type[ast.cmpop], left: Any, right: Any) -> Any:
    among = op in (ast.In, ast.NotIn)
    if among != isinstance(right, list) or isinstance(left, list) or (among and not isinstance(left, pd.Series)):
        raise _Wrong("`in` must follow a column and precede a list of values such as ['a', 'b']")
    kinds = {_numeric(side) for side in (left, *(right if among else [right]))}
    if len(kinds) > 1:
        raise _Wrong("the condition compares numbers with texts (a text is in quotes)")
    return COMPARED[op](left, right)


def _numeric(side: Any) -> bool:
    return is_numeric_dtype(side) if isinstance(side, pd.Series) else not isinstance(side, str | list)
