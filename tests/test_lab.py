"""The notebooks in a real JupyterLab, started by `privnb lab`: they run and their charts draw without a network."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest

from privnb.charts import V5

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
SMALL = {"RECORDS": 800, "K": "10, 50", "T": "0.1, 0.3", "EPSILON": "0.5", "MINERS": "majority, decision stump"}
FOLDERS = [
    "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR",
]  # fmt: skip
READY = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.status === "idle";
}"""
RUN = """async () => {
    await window.jupyterapp.commands.execute("notebook:run-all-cells");
    return window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON();
}"""
# Marks are coloured; text, axes and the page are grey.
DRAWN = """canvas => {
    const rgba = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let coloured = 0;
    for (let i = 0; i < rgba.length; i += 4) {
        const [red, green, blue] = [rgba[i], rgba[i + 1], rgba[i + 2]];
        coloured += Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
    }
    return coloured > 200;
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """`url` and `token` of a JupyterLab on small copies of the notebooks, with settings of its own."""
    root = tmp_path_factory.mktemp("lab")
    (root / "notebooks").mkdir()
    for path in NOTEBOOKS.glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        (parameters,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
        for name, value in SMALL.items():
            parameters.source = re.sub(rf"^{name} = .*", f"{name} = {value!r}", parameters.source, flags=re.MULTILINE)
        assert "RECORDS = 800" in parameters.source
        nbformat.write(notebook, root / "notebooks" / path.name)
    options = ["--no-browser", "--port=0", "--LabApp.expose_app_in_browser=True"]
    with open(root / "log.txt", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "privnb.cli", "lab", "--", *options],
            cwd=root,
            env=os.environ | {name: str(root / name) for name in FOLDERS},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield _answering(server, root)
    finally:
        server.terminate()
        server.wait(timeout=20)


def _answering(server, root, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        for path in (root / "JUPYTER_RUNTIME_DIR").glob("jpserver-*.json"):
            with contextlib.suppress(OSError, json.JSONDecodeError):  # the file is there before the server listens
                about = json.loads(path.read_text())
                urllib.request.urlopen(f"{about['url']}api", timeout=10).close()
                return about
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{(root / 'log.txt').read_text()}")


@pytest.mark.browser
@pytest.mark.parametrize(("name", "charts"), [("01_load_adult", 2), ("04_attack", 5), ("06_li_li", 7)])
def test_runs_and_draws_without_a_network(name, charts, lab, offline):
    page = offline.page
    page.goto(f"{lab['url']}lab/tree/{name}.ipynb?token={lab['token']}&reset")
    page.wait_for_function(READY, timeout=120_000)
    cells = page.evaluate(RUN)["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output["output_type"] in ("error", "stream")] == [], "a fault, or noise"
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code")
    specs = [output["data"][V5] for output in outputs if V5 in output["data"]]
    assert len(specs) == charts
    for spec in specs:
        canvas = page.get_by_label(spec["description"], exact=True).locator("canvas")
        canvas.scroll_into_view_if_needed()
        page.wait_for_function(DRAWN, arg=canvas.element_handle())
        box = canvas.bounding_box()
        assert box["width"] > 400
        assert box["height"] > 100
    assert page.locator(".jp-Dialog").count() == 0, "a question before the work"
    assert offline.outside == []
    assert offline.errors == []


@pytest.mark.browser
def test_nothing_is_answered_without_the_token(lab):
    for path in ("api/contents", "api/kernels", "api/contents/01_load_adult.ipynb"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(lab["url"] + path, timeout=10)
