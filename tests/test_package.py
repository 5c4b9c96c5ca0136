"""What `import privnb` costs and gives."""

import importlib.metadata
import subprocess
import sys

import pytest

import privnb


def test_importing_it_loads_nothing_that_is_slow():
    heavy = "altair IPython numba numpy pandas scipy sklearn"
    code = f"import sys, privnb; print(*[name for name in {heavy.split()} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_what_the_rooms_of_the_loop_export_is_here_by_name():
    for room in privnb.ROOMS:
        module = getattr(privnb, room)
        assert module.__name__ == f"privnb.{room}"
        for name in module.__all__:
            assert getattr(privnb, name) is getattr(module, name)


def test_an_editor_completes_what_most_people_need():
    assert 60 <= len(privnb.__all__) <= 80
    assert {*dir(privnb)} == {*privnb.__all__}
    for name in privnb.__all__:
        assert getattr(privnb, name).__name__ == name


def test_a_sanitizer_is_imported_without_what_is_slow():
    heavy = "pandas numba scipy sklearn duckdb"
    code = f"import sys; from privnb import Mondrian; print(*[name for name in {heavy.split()} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_one_import_line_does():
    from privnb import KAnonymity, Mondrian, load
    from privnb.datasets import dataset

    assert load is dataset.load
    assert repr(Mondrian(KAnonymity(10))) == "Mondrian(KAnonymity(k=10))"


def test_it_says_its_version():
    assert privnb.__version__ == importlib.metadata.version("privnb")


def test_another_name_is_refused_and_the_error_says_where_names_come_from():
    with pytest.raises(
        AttributeError,
        match=r"privnb has no 'Mondrain'\. Did you mean 'Mondrian'\? `dir\(privnb\)` lists .* datasets, .* export",
    ):
        _ = privnb.Mondrain


def test_a_star_gives_what_most_people_need():
    given = {}
    exec("from privnb import *", given)
    assert given.keys() - {"__builtins__"} == {*privnb.__all__}
