"""What follows from published totals."""

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from privnb import cli
from privnb.measures.count_tables.totals import Total, read_totals, solve_totals

VALUES = {"1": 4, "2": 3, "3": 7, "4": 1}


def totals(*sets, kind="sum"):
    do = {"sum": sum, "max": max, "min": min}[kind]
    return [Total(names, frozenset(names), do(VALUES[name] for name in names), kind) for names in sets]


def proven(found, published):
    """Whether each proof, added up, has the value's record once and no other."""
    by_name = {total.name: total for total in published}
    for each in found:
        times = {}
        for name, often in each.proof.items():
            for record in by_name[name].of:
                times[record] = times.get(record, 0) + often
        assert {record: often for record, often in times.items() if often} == {each.name: 1}
        assert sum(often * by_name[name].value for name, often in each.proof.items()) == each.value


@pytest.mark.parametrize(
    ("sets", "follow"),
    [(("123", "12", "34"), "34"), (("123",), ""), (("12", "23", "13"), "123"), (("1234", "34"), "")],
)
def test_which_records_follow_from_sums(sets, follow):
    """Catalogue 17-03, by the definition: a record's unit vector lies in the row space of the queries."""
    published = totals(*sets)
    found = solve_totals(published)
    assert {each.name: each.value for each in found} == {name: VALUES[name] for name in follow}
    proven(found, published)


def test_sums_agree_with_the_rank_of_their_matrix():
    """A record follows if its unit vector does not raise the rank; by random sets of records."""
    draw = random.Random(1)
    some = 0
    for _ in range(60):
        names = "abcdefg"
        values = {name: Fraction(draw.randrange(100), 10) for name in names}
        sets = {frozenset(draw.sample(names, draw.randrange(1, 5))) for _ in range(draw.randrange(2, 7))}
        published = [Total(f"T{i}", of, sum(values[n] for n in of)) for i, of in enumerate(sets)]
        matrix = np.array([[name in of for name in names] for of in sets], dtype=float)
        rank = np.linalg.matrix_rank(matrix)
        follow = {n for n, e in zip(names, np.eye(7), strict=True) if np.linalg.matrix_rank([*matrix, e]) == rank}
        found = solve_totals(published)
        assert {each.name: each.value for each in found} == {name: values[name] for name in follow}
        proven(found, published)
        some += len(found)
    assert some > 50


def test_which_records_follow_from_maxima_and_minima():
    """Catalogue 17-04: the only one that may reach an extreme. By all small tables: what follows is what all of them
    have that give the same answers."""
    assert [(each.name, each.value) for each in solve_totals(totals("1234", "12", kind="max"))] == []
    assert [(each.name, each.value) for each in solve_totals(totals("123", "12", kind="max"))] == [("3", 7)]
    for first, second in combinations(("123", "12", "23", "34"), 2):
        for kind, do in (("max", max), ("min", min)):
            published = totals(first, second, kind=kind)
            tables = [
                t for t in np.ndindex(9, 9, 9, 9) if all(do(t[int(n) - 1] for n in p.of) == p.value for p in published)
            ]
            same = {str(i + 1): v.pop() for i in range(4) if len(v := {t[i] for t in tables}) == 1}
            assert {each.name: each.value for each in solve_totals(published)} == same


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([Total("x", frozenset("ab"), 3), Total("y", frozenset("ab"), 4)], "x, y contradict each other: .* by 1"),
        ([*totals("12", "34"), Total("all", frozenset("1234"), 16)], "12, 34, all contradict"),
        ([Total("x", frozenset("ab"), 3, "max"), Total("y", frozenset("a"), 4, "max")], "x, y contradict"),
        (
            [Total("x", frozenset("ab"), 3, "max"), Total("y", frozenset("bc"), 4, "min")],
            "x, y contradict .* at most 3",
        ),
        ([Total("x", frozenset("a"), 3), Total("y", frozenset("a"), 4, "max")], "x, y contradict .* both 4 and 3"),
        ([Total("x", frozenset("a"), 3), Total("y", frozenset("ab"), 2, "max")], "x, y contradict .* 3 and at most 2"),
        ([Total("x", frozenset("a"), 1), Total("y", frozenset("ab"), 2, "min")], "x, y contradict .* 1 and at least 2"),
        ([Total("x", frozenset("ab"), 9), Total("y", frozenset("abc"), 4, "max")], "x, y contradict .* at most 8"),
        ([Total("x", frozenset("ab"), 7), Total("y", frozenset("abc"), 4, "min")], "x, y contradict .* at least 8"),
        ([Total("x", frozenset("a"), float("inf"))], "finite number; got inf"),
        ([Total("x", frozenset("a"), float("-inf"), "max")], "finite number; got -inf"),
        ([*totals("12"), *totals("12")], "different names"),
        ([Total("x", frozenset(), 3)], "frozenset of names"),
        ([Total("x", frozenset("a"), "3")], "finite number"),
        ([("x", "a", 3)], "must be a Total"),
    ],
)
def test_totals_that_cannot_be(wrong, says):
    with pytest.raises((ValueError, TypeError), match=says):
        solve_totals(wrong)


def test_totals_of_several_kinds_that_fit_are_no_contradiction():
    """The values are a = 1, b = 3 and c = 4."""
    fit = [
        Total("all", frozenset("abc"), 8), Total("ab", frozenset("ab"), 4), Total("most", frozenset("ab"), 3, "max"),
        Total("least", frozenset("bc"), 3, "min"), Total("largest", frozenset("abc"), 4, "max"),
    ]  # fmt: skip
    assert {each.name: each.value for each in solve_totals(fit)} == {"c": 4}


HEAD = "total,covers,value\n"


def test_the_command(tmp_path, capsys):
    file = tmp_path / "totals.csv"
    file.write_text(HEAD + "all,north; south; east,61.5\nnorth and south,north;south,40\neast and west,east;west,30\n")
    assert cli.main(["audit", str(file)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "2 of 4 values follow exactly from the 3 published totals:"
    assert said[1:3] == ["east = 21.5: all - north and south", "west = 8.5: east and west + north and south - all"]
    file.write_text("total,covers,value,kind\nall,a;b;c,9,max\n")
    assert cli.main(["audit", str(file)]) == 0
    assert "No value of 3 follows from this 1 published total" in capsys.readouterr().out
    assert read_totals(file)[0].kind == "max"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,value\nx,3\n", "covers"),
        (HEAD + "x,a;;b,3\n", "row 1"),
        (HEAD + "x,a;a,3\n", "once"),
        (HEAD + "x,a;b,many\n", "many"),
        (HEAD + "x,a;b,nan\n", "nan"),
        (HEAD + "x,a;b,inf\n", "value must be a finite number"),
        (HEAD + "x,a;b,-Infinity\n", "value must be a finite number"),
        (HEAD + "x,a;b,1e999999999\n", "value must be a finite number"),
        (HEAD + "x,a;b,3\nx,a;c,4\n", "'x' more than once"),
        (HEAD + "x,a;b,3\ny,a;b,4\n", "contradict"),
        ("total,covers,value,kind\nx,a;b,3,mean\n", "mean"),
        (b"\x00\x01\xff\xfe" * 99, "totals.csv"),
        ("", "totals.csv"),
        (None, "totals.csv"),
    ],
)
def test_a_file_that_holds_no_totals(tmp_path, capsys, text, says):
    file = tmp_path / "totals.csv"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert cli.main(["audit", str(file)]) == 4
    said = capsys.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1
