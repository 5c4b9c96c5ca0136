"""JupyterLab and Voila as `privnb lab` and `privnb explore` start them, and a browser that reaches nothing outside."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LEFT = "Failed to initialize model"  # a widget that really fails to start is missing from the page
NEAR = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:", "about:")
FOLDERS = [
    "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR",
]  # fmt: skip
READY = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.status === "idle";
}"""
RUN = """async () => {
    const late = new Promise((_, stop) => setTimeout(stop, 240000, new Error("no end after 240 s: run all cells")));
    await Promise.race([window.jupyterapp.commands.execute("notebook:run-all-cells"), late]);
    return window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON();
}"""


@contextlib.contextmanager
def chromium():
    """Debian's Chromium, or None where there is none."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def is_fault(message):
    """Whether a message of the console is an error of the page. A page that is left while a widget starts says LEFT."""
    return message.type == "error" and LEFT not in message.text


@contextlib.contextmanager
def without_network(browser, **options):
    """`page` of a browser without network; `outside`: what it asked for elsewhere; `errors`: what its console says."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion="reduce", **options)
    outside, errors = [], []

    def gate(route):
        if route.request.url.startswith(NEAR):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", gate)
    context.set_default_timeout(120_000)  # a notebook starts in 10 s, and in 100 s beside all other tests
    page = context.new_page()
    page.on("console", lambda message: errors.append(message.text) if is_fault(message) else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        yield SimpleNamespace(page=page, outside=outside, errors=errors)
    finally:
        context.close()


def copy(name, folder, **values):
    """A copy of a notebook in `folder`, its parameters set to `values` where it has them; its path."""
    import nbformat

    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)
    (parameters,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    for key, value in values.items():
        parameters.source = re.sub(rf"^{key} = .*", f"{key} = {value!r}", parameters.source, flags=re.MULTILINE)
    Path(folder).mkdir(exist_ok=True)
    nbformat.write(notebook, Path(folder) / f"{name}.ipynb")
    return Path(folder) / f"{name}.ipynb"


@contextlib.contextmanager
def lab(root, cwd=None):
    """A JupyterLab on `root/notebooks`, with settings of its own, started in `cwd`, else in `root`: what it says of
    itself, its `url`, `token` and `pid` among it.
    """

    def answering():
        for path in (root / "JUPYTER_RUNTIME_DIR").glob("jpserver-*.json"):
            with contextlib.suppress(OSError, json.JSONDecodeError):  # the file is there before the server listens
                about = json.loads(path.read_text())
                urllib.request.urlopen(f"{about['url']}api", timeout=10).close()
                return about

    options = ["--no-browser", "--port=0", "--LabApp.expose_app_in_browser=True"]
    with _served(root, ["lab", "--", *options], answering, cwd=cwd or root) as about:
        yield about


def app(root, *options):
    """`url`, with its token, and `pid` of the explorer's page on `root/notebooks/09_explore.ipynb`."""
    return _page(root, "explore", *options)


def form(root, file):
    """`url`, with its token, and `pid` of the page on which the roles of a file's columns are chosen."""
    return _page(root, "describe", file, "--form")


@contextlib.contextmanager
def _page(root, *words):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def answering():
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w/]*\?token=\w+", (root / "log.txt").read_text())
        return found and {"url": found[0]}

    with _served(root, [*words, "--", "--no-browser", f"--port={port}"], answering, cwd=root) as about:
        yield about


@contextlib.contextmanager
def _served(root, command, answering, *, cwd, seconds=120):
    with open(root / "log.txt", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "privnb.cli", *command],
            cwd=cwd,
            env=os.environ | {name: str(root / name) for name in FOLDERS},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        until, answer = time.monotonic() + seconds, None
        while answer is None and time.monotonic() < until and server.poll() is None:
            time.sleep(0.1)
            answer = answering()
        assert answer, f"`privnb {' '.join(command)}` did not start:\n{(root / 'log.txt').read_text()}"
        yield answer | {"pid": server.pid}
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)  # of a busy machine; its kernels end first
        except subprocess.TimeoutExpired:  # that it ends is asked of `privnb lab` elsewhere
            server.kill()
            server.wait()


def processes(ancestor, words):
    """The processes below `ancestor` whose command says `words`."""
    rows = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    table = [row.split(None, 2) for row in rows.splitlines()]
    below = {ancestor}
    while more := {int(pid) for pid, parent, _ in table if int(parent) in below} - below:
        below |= more
    return [int(pid) for pid, _, command in table if int(pid) in below and words in command]


def kernels(server):
    """Those of a running `privnb explore`: copies of one process below it."""
    copied = processes(server, "multiprocessing.forkserver")
    return [each for one in copied for each in processes(one, "multiprocessing.forkserver") if each != one]


def run(page):
    """Run all cells of the notebook that JupyterLab shows; the cells with their outputs."""
    page.wait_for_function(READY)
    return page.evaluate(RUN)["cells"]
