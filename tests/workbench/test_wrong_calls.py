"""Calls that a beginner gets wrong: each is refused by the right class, before anything runs, with what to do."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import privnb as pn

PEOPLE = pd.DataFrame(
    {"age": [*range(20, 60)] * 5, "zip": [80, 80, 81, 81, 82] * 40, "sex": [*"mf"] * 100, "ill": [*"abcabdeafb"] * 20}
)
Wrong = tuple[Callable[[Any], Any], type[Exception], str]


@pytest.fixture(scope="module")
def table() -> pn.Table:
    return pn.read(PEOPLE, sensitive="ill", name="people")


@pytest.fixture(scope="module")
def release(table: pn.Table) -> pn.SanitizedTable:
    return table.sanitize("k=5")


OF_TABLES: dict[str, Wrong] = {
    "a class": (lambda table: table.sanitize(pn.Mondrian), pn.UsageTypeError, r"got the class Mondrian\. Try Mondrian"),
    "a number": (lambda table: table.sanitize(10), pn.UsageTypeError, r"got 10\. Try Mondrian\(k=10\)"),
    "a model": (lambda table: table.sanitize(pn.KAnonymity(5)), pn.UsageTypeError, r"Mondrian\(KAnonymity\(k=5\)\)"),
    "short role": (
        lambda table: table.set_roles(age="quasi"),
        pn.UsageError,
        r"the role of 'age' must be .*; got 'quasi'. Did you mean 'quasi-identifier'",
    ),
    "no policy": (lambda table: table.decide("ours.toml"), pn.MissingFileError, "no file 'ours.toml'"),
    "no policy to compare": (lambda table: table.compare("k=5", policy="a.toml"), pn.MissingFileError, "file 'a.toml'"),
    "None as a policy": (lambda table: table.decide(None), pn.UsageError, "policy must be a path"),
    "a table for results": (lambda table: pn.decide(table, "k-5"), pn.UsageTypeError, r"try `table\.decide\(policy\)`"),
    "a table for a dataset": (lambda table: pn.evaluate(table, "k=5"), pn.UsageTypeError, r"`\.dataset` of a table"),
    "a table for a sanitizer": (lambda table: pn.KMember(3).sanitize(table), pn.UsageTypeError, r"`\.dataset` of a t"),
    "a frame": (lambda _: pn.sanitize(PEOPLE, "k=3"), pn.InputError, r"Try `privnb\.read\(frame\)\.sanitize"),
    "one measure": (lambda table: table.compare("k=5", measures=len), pn.UsageTypeError, r"measures\[0\] must be"),
    "roles as text": (lambda table: table.set_roles("age"), pn.UsageTypeError, "roles must be a Mapping; got 'age'"),
    "a folder as a name": (lambda table: table.save("a/b"), pn.UsageError, "got 'a/b'"),
    "a place": (lambda table: pn.report(table, 3), pn.UsageError, "out must be a path"),
    "a notebook": (lambda table: pn.report(table, "r", notebooks="99"), pn.UsageError, "no notebook '99'"),
    "risks of a table": (lambda table: table.risks(), AttributeError, r"A release has .* `table\.sanitize"),
    "a report": (lambda table: table.report("r"), AttributeError, r"Try `privnb\.report\(table, FOLDER\)`"),
    "a misspelt name": (lambda table: table.comparee(), AttributeError, "no attribute 'comparee'"),
}


@pytest.mark.parametrize(("call", "error", "said"), OF_TABLES.values(), ids=OF_TABLES)
def test_a_wrong_call_on_a_table(
    table: pn.Table, call: Callable[[Any], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(table)


OF_RELEASES: dict[str, Wrong] = {
    "no policy": (lambda release: release.risks("ours.toml"), pn.MissingFileError, "no file 'ours.toml'"),
    "a measure by name": (lambda release: release.utility(measures="loss"), pn.UsageTypeError, "got 'loss'"),
    "for a release": (
        lambda release: pn.grade_release(pn.KAnonymity(3), release),
        pn.UsageTypeError,
        r"`\.release` of",
    ),
    "a table's method": (lambda release: release.compare("k=5"), AttributeError, "A table has"),
    "a frame's method": (lambda release: release.to_csv("x.csv"), AttributeError, r"Try `\.frame`"),
}


@pytest.mark.parametrize(("call", "error", "said"), OF_RELEASES.values(), ids=OF_RELEASES)
def test_a_wrong_call_on_a_release(
    release: pn.SanitizedTable, call: Callable[[Any], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(release)


READ: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "several persons": ({"person": ["age"]}, pn.UsageTypeError, "person must be a str"),
    "roles as text": ({"roles": "age"}, pn.UsageTypeError, "roles must be a Mapping"),
    "a name with a slash": ({"name": "a/b"}, pn.UsageError, "got 'a/b'"),
    "an unknown way": ({"outside": "x"}, pn.UsageError, "outside must be one of"),
    "a way that needs a domain": ({"outside": "widen"}, pn.UsageError, "not described yet"),
}


@pytest.mark.parametrize(("given", "error", "said"), READ.values(), ids=READ)
def test_a_wrong_argument_of_read(given: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        pn.read(PEOPLE, **given)


def test_an_empty_name_is_no_table() -> None:
    with pytest.raises(pn.UsageError, match="source must be a path"):
        pn.read("")
