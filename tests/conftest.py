"""What several tests share: a browser without network, a JupyterLab, notebooks, Java, Spark; which tests need them;
the slowest file first; what was skipped, in a line at the end."""

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import browsing, compiled
from support.in_process import in_this_process

from privnb.datasets import dataset
from privnb.evaluation import evaluation_loop
from privnb.miners import weka
from privnb.runtime import processes

# As in each process that computes: the libraries' threads wait for each other for a quarter of the time of small fits.
# Read when a library is loaded, so by the workers of xdist, and by what tests start.
os.environ.update(processes.ENVIRONMENT)

# First on the path, here and in what tests start: what libraries load in vain.
WITHOUT = str(Path(__file__).parent / "support" / "without")
sys.path.insert(0, WITHOUT)
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([WITHOUT, *filter(None, [os.environ.get("PYTHONPATH")])]))

# In CI the same examples each time: a submission is not refused for a fault that it did not make.
# No deadlines: how long an example takes says how busy the machine is.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
EXAMPLES = 50  # tables of a property that states no other number
IN_CI = 30  # the same tables in each run, so more of them find nothing new
settings.register_profile("ci", derandomize=True, max_examples=IN_CI, **PATIENT)
settings.register_profile("here", max_examples=EXAMPLES, **PATIENT)
# `make check` tries a property on at most so many made-up tables, and on half of those that it states; `make test`, and
# with it CI, on all of them.
# No fewer: the first two are the simplest, which break nothing.
settings.register_profile("few", max_examples=8, **PATIENT)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")

# The libraries' objects alone are a million, and a collection looks at all of them: a tenth of the time of small tests.
gc.set_threshold(20_000, 20, 20)

# A runner in the background ignores interrupts, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Doctests would import the scripts, and so run them, and the methods of another package, which lists would then have.
collect_ignore = ["benchmarks", "support/third_party", "support/without"]

SMALL = {"RECORDS": 800, "K": "10, 50", "T": "0.1, 0.3", "EPSILON": "0.5", "MINERS": "majority, decision stump"}

STATED = "_hypothesis_internal_use_settings"  # where `@settings` puts what a test states, and refuses to put it twice


# `make check` leaves out the tests that ask for one of these fixtures, if only through another fixture. They are marked
# with its name. It leaves out those marked `slow` as well.
MARKS = "kernel", "browser", "java", "spark"
_now = {}  # the loop of a browser


@pytest.fixture(scope="session")
def kernel():
    """For what runs whole notebooks: in kernels of their own, be it in a report or in JupyterLab, or one after
    the other in one process, which does the same work (see `one_process`).
    """


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once. Without it the test is skipped; in CI, where a skip would hide the fault, it fails."""
    with browsing.chromium() as chromium:
        if chromium is None:
            reason = "there is no Chromium: apt-get install chromium"
            pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
        _now["loop"] = asyncio._get_running_loop()
        yield chromium
    del _now["loop"]


@pytest.fixture(scope="session")
def java():
    """The real Weka, in a Java of this process. Without it the test is skipped; in CI with Java, it fails."""
    lacks = weka.list_missing_requirements()
    if lacks:
        hidden = os.environ.get("CI") == "true" and shutil.which("java")
        pytest.fail(lacks) if hidden else pytest.skip(lacks)
    return weka.java.start_machine(weka.version())


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session of Spark in local mode, in a Java of its own that nothing from elsewhere can reach. Without Java the
    test is skipped; in CI it fails."""
    if not shutil.which("java"):
        reason = "there is no Java: apt-get install default-jre-headless"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "1g",
        "spark.local.dir": folder / "local", "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.shuffle.partitions": 3, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, str(value))
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def offline(browser):
    """A page of a browser without network, see `browsing.without_network`."""
    with browsing.without_network(browser) as opened:
        yield opened


@pytest.fixture(scope="session")
def lab(tmp_path_factory, kernel):
    """A JupyterLab on small copies of the notebooks, see `browsing.lab`."""
    root = tmp_path_factory.mktemp("lab")
    for path in browsing.NOTEBOOKS.glob("*.ipynb"):
        copied = browsing.copy(path.stem, root / "notebooks", **SMALL).read_text()
        assert "RECORDS = 800" in copied or "RECORDS = " not in copied  # 00 has a table of its own
    with browsing.lab(root) as about:
        yield about


@pytest.fixture
def tries(request):
    """How many of so many cases made up by seeds are tried: a fifth in `make check`, as of properties."""
    few = request.config.getoption("--hypothesis-profile") == "few"
    return lambda number: -(-number // 5) if few else number


@pytest.fixture
def ran(monkeypatch):
    """Tasks run in this process, one by one; the list of them."""
    return in_this_process(monkeypatch)


@pytest.fixture(scope="module")
def releases_once():
    """Evaluations of one file make each release once: those of a study in parts make most of them for each part."""
    known, make = {}, vars(evaluation_loop.Case)["_made"].func

    def made(case):
        key = id(case.dataset), case.sanitizer, case.seed
        if key not in known:
            known[key] = case.dataset, make(case)  # with the dataset, whose place in memory no other one takes
        return known[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vars(evaluation_loop.Case)["_made"], "func", made)
        yield


@pytest.fixture(scope="session")
def write_notebook():
    """`write(folder, name, *cells)`: a cell is Markdown if it starts with "#", else code; `(tag, text)` tags it."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    def write(folder, name, *cells, metadata=()):
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        notebook = new_notebook(metadata=kernel | dict(metadata))
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


def pytest_xdist_auto_num_workers(config):
    """As many as cores; one more where kernels and browsers are waited for, which pays for importing all once more."""
    return processes.usable_cores() + ("not kernel" not in config.option.markexpr)


def pytest_configure(config):
    """Make each table of the repository once per process: the clinic takes longer than all else in most tests."""
    shipped = contextlib.ExitStack()
    shipped.enter_context(dataset.load_once(dataset.PROJECT / "data", dataset.PROJECT / "tests" / "data"))
    config.add_cleanup(shipped.close)


def pytest_sessionstart(session):
    """Before workers start on more than one file, and nothing is compiled yet: compile once what each would."""
    if session.config.pluginmanager.hasplugin("dsession") and many(session.config.args) and compiled.cold():
        compiled.compile_all()


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


@pytest.hookimpl(tryfirst=True)  # ahead of pytest's own, which leaves out by marks
def pytest_collection_modifyitems(config, items):
    """Mark what needs a kernel, a browser, Java or Spark. Files with such tests come first, and then those with most
    slow tests, so that no core waits at the end."""
    few = config.getoption("--hypothesis-profile") == "few"
    stated = {}
    for item in items:
        for name in set(MARKS) & set(item.fixturenames):
            item.add_marker(name)
        if few and (asked := getattr(getattr(item, "obj", None), STATED, None)):
            stated[item.obj] = asked
    for test, asked in stated.items():  # once for all the items of a test
        setattr(test, STATED, settings(asked, max_examples=min(-(-asked.max_examples // 2), settings().max_examples)))
    marked = [(item.path, mark.name) for item in items for mark in item.iter_markers()]
    waiting = {path for path, name in marked if name in MARKS}
    slow = Counter(path for path, name in marked if name == "slow")
    items.sort(key=lambda item: (item.path not in waiting, -slow[item.path]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The loop of the browser runs for as long as there is one, and is in the way of tests with loops of their own."""
    asyncio._set_running_loop(_now.get("loop") if item.get_closest_marker("browser") else None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown():
    """A page that several tests share is closed after the last of them, be it one that needs no browser."""
    asyncio._set_running_loop(_now.get("loop"))
