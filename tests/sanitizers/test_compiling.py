"""Whoever waits for a compiler is told so."""

from numba import njit

from privnb.runtime import progress
from privnb.sanitizers.algorithms import announce_compiling


def test_people_are_announced_compiling_once_and_of_nothing_else(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_said", set())
    monkeypatch.delenv(progress.FILE, raising=False)
    one, two = (njit(each) for each in (lambda x: x, lambda x: x + 1))
    with announce_compiling():
        assert one(1) == 1
    assert capsys.readouterr().err.startswith("Compiling: ")
    with announce_compiling():
        assert (one(1), two(1)) == (1, 2)
    assert capsys.readouterr().err == ""


def test_outside_nobody_is_told(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_said", set())
    assert njit(lambda x: x + 2)(1) == 3
    assert capsys.readouterr().err == ""
