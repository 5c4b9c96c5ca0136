"""What several tests share: a browser without network, a JupyterLab, notebooks made up; the slowest file first; what
was skipped, in a line at the end."""

import os
import signal
from collections import Counter
from pathlib import Path

import browsing
import kernels
import pytest
from hypothesis import HealthCheck, settings

from privnb.microdata import dataset

# In CI the same examples each time: a submission is not refused for a fault that it did not make.
# No deadlines: how long an example takes says how busy the machine is.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, **PATIENT)
settings.register_profile("here", **PATIENT)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")

# A runner in the background ignores interrupts, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _once(read):
    """`read` that reads each shipped table once a process: Adult takes most of a second, and is loaded sixty times."""
    known = {}

    def reading(folder, text):
        if folder.parent != dataset.PROJECT / "data":
            return read(folder, text)
        if folder not in known:
            known[folder] = read(folder, text)
        return known[folder].copy()

    return reading


dataset._read_files = _once(dataset._read_files)
collect_ignore = ["benchmarks"]  # doctests would import the scripts, and so run them

SMALL = {"RECORDS": 800, "K": "10, 50", "T": "0.1, 0.3", "EPSILON": "0.5", "MINERS": "majority, decision stump"}


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once. Without it the test is skipped; in CI, where a skip would hide the fault, it fails."""
    with browsing.chromium() as chromium:
        if chromium is None:
            reason = "there is no Chromium: apt-get install chromium"
            pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
        yield chromium


@pytest.fixture
def offline(browser):
    """A page of a browser without network, see `browsing.without_network`."""
    with browsing.without_network(browser) as opened:
        yield opened


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A JupyterLab on small copies of the notebooks, see `browsing.lab`."""
    root = tmp_path_factory.mktemp("lab")
    for path in browsing.NOTEBOOKS.glob("*.ipynb"):
        assert "RECORDS = 800" in browsing.copy(path.stem, root / "notebooks", **SMALL).read_text()
    with browsing.lab(root) as about:
        yield about


@pytest.fixture(scope="session")
def write_notebook():
    """`write(folder, name, *cells)`: a cell is Markdown if it starts with "#", else code; `(tag, text)` tags it."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    def write(folder, name, *cells):
        notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        for place, cell in enumerate(cells):
            tag, text = cell if isinstance(cell, tuple) else ("", cell)
            new = new_markdown_cell if text.startswith("#") else new_code_cell
            tags = {"tags": [tag]} if tag else {}
            notebook.cells.append(new(text, id=f"cell-{place}", metadata=tags))
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")

    return write


@pytest.fixture(scope="session")
def arx():
    """The folder of ARX's adult_hierarchy_<attribute>.csv, as the environment names it; else the test is skipped."""
    if not os.environ.get("HIERARCHIES"):
        pytest.skip("ARX's hierarchies are not here: HIERARCHIES=FOLDER names where they are")
    return Path(os.environ["HIERARCHIES"])


def pytest_sessionstart(session):
    """Before workers start on more than one file, and nothing is compiled yet: compile once what each would."""
    if session.config.pluginmanager.hasplugin("dsession") and many(session.config.args) and kernels.cold():
        kernels.compile_all()


def many(arguments):
    """Whether what pytest was asked for is more than one file, a folder say."""
    files = {argument.partition("::")[0] for argument in arguments}
    return len(files) > 1 or not all(file.endswith(".py") for file in files)


def pytest_terminal_summary(terminalreporter):
    reasons = [report.longrepr[-1].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])]
    if reasons:
        terminalreporter.write_line(skipped(reasons))


def skipped(reasons):
    """How many tests were skipped and why, in a line."""
    told = "; ".join(f"{number}: {reason.rstrip('.')}" for reason, number in Counter(reasons).most_common())
    return f"{len(reasons)} skipped. {told}."


def pytest_collection_modifyitems(items):
    """The slowest files first, so that no core waits for them at the end; those with a browser last, because its loop
    runs in the worker from then on, and no test of ours could start one of its own.
    """
    browsing = {item.path for item in items if "browser" in item.fixturenames}
    items.sort(key=lambda item: (item.path in browsing, not item.path.name.startswith("test_notebooks")))
