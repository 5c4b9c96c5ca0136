"""The notebooks in docs/examples: each shows how somebody adds a method of their own, and runs as it stands."""

import json
import re
import sys
import types
from pathlib import Path

import pytest

from privnb.decision import policy_search
from privnb.measures import base

FOLDER = Path(__file__).parent.parent / "docs" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in EXAMPLES]


def cells(path, kind):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


@pytest.fixture
def namespace():
    """A module in which the cells of a notebook run, and which is forgotten afterwards with all that they stated."""
    module = types.ModuleType("cells_of_an_example")
    sys.modules[module.__name__] = module
    before = {**base._registered}, {**base._marked}
    yield vars(module)
    del sys.modules[module.__name__]
    for now, then in zip((base._registered, base._marked), before, strict=True):
        now.clear()
        now.update(then)


def test_there_is_one_of_each_kind():
    assert NAMES == [f"own_{kind}" for kind in ("attack", "measure", "miner", "policy", "sanitizer", "table")]


@pytest.fixture
def few_settings(monkeypatch):
    """A search tries one setting of each sanitizer: what is tried is the notebook."""
    settings = policy_search.build_family

    def one_each(*given, **more):
        return list({type(each): each for each in settings(*given, **more)}.values())

    monkeypatch.setattr(policy_search, "build_family", one_each)
    monkeypatch.setattr(policy_search, "build_diverse", lambda *given, **more: [])


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_every_cell_runs(path, namespace, tmp_path, monkeypatch, few_settings):
    monkeypatch.chdir(tmp_path)
    for number, cell in enumerate(cells(path, "code")):
        exec(compile(cell, f"{path.name}, code cell {number}", "exec"), namespace)
    for name in ("results", "kept"):
        if name in namespace:
            assert namespace[name].value.notna().all(), namespace[name][["sanitizer", "status", "reason"]]


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_form(path):
    """A question as the title, short cells, and nothing of a run."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert re.match(r"# .*\?\n", cells(path, "markdown")[0])
    assert all(
        not cell["outputs"] and cell["execution_count"] is None for cell in notebook["cells"] if "outputs" in cell
    )
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in cells(path, "code"):
        assert len(cell.splitlines()) <= 33
        assert max(map(len, cell.splitlines())) <= 120
    groups = [group for text in cells(path, "markdown") for group in re.findall(r'entry-points\."(.*?)"', text)]
    assert groups == ([] if path.stem == "own_table" else [_group(path)])


def _group(path):
    kind = path.stem.removeprefix("own_")
    return f"privnb.{'policies' if kind == 'policy' else f'{kind}s'}"
