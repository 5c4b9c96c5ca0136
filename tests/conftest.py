"""A browser for the tests marked `browser`: Debian's Chromium, driven by Playwright, that reaches nothing outside."""

import os
import shutil
import signal
from types import SimpleNamespace

import pytest
from hypothesis import settings

# In CI the same examples each time: a submission is not refused for a fault that it did not make.
settings.register_profile("ci", derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "default")

# A runner in the background ignores interrupts, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["benchmarks"]  # doctests would import the scripts, and so run them

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
NEAR = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:", "about:")


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once. Without it the test is skipped; in CI, where a skip would hide the fault, it fails."""
    chromium = shutil.which("chromium")
    if chromium is None:
        reason = "there is no Chromium: apt-get install chromium"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def offline(browser):
    """`page` of a browser without network; `outside`: what it asked for elsewhere; `errors`: what its console says."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion="reduce")
    outside, errors = [], []

    def gate(route):
        if route.request.url.startswith(NEAR):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", gate)
    page = context.new_page()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield SimpleNamespace(page=page, outside=outside, errors=errors)
    context.close()


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


def pytest_collection_modifyitems(items):
    """The slowest file first, so that no core waits for it at the end."""
    items.sort(key=lambda item: item.path.name != "test_notebooks.py")
