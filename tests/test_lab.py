"""The notebooks in a real JupyterLab, started by `privnb lab`: they run and their charts draw without a network."""

import json
import shutil
import subprocess
import urllib.error
import urllib.request

import papermill
import pytest
from support import browsing

from privnb.reporting.charts import V5
from privnb.reporting.notebooks import find_copies

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


def test_runs_and_draws_without_a_network(lab, offline):
    """One notebook: papermill runs all of them, and the pages of a report draw their charts."""
    name, charts, page = "01_load", 4, offline.page
    page.goto(f"{lab['url']}lab/tree/{name}.ipynb?token={lab['token']}&reset")
    cells = browsing.run(page)
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


def test_nothing_is_answered_without_the_token(lab):
    for path in ("api/contents", "api/kernels", "api/contents/01_load.ipynb"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(lab["url"] + path, timeout=10)


def test_running_all_cells_of_a_copy_changes_no_tracked_file(tmp_path, monkeypatch, kernel):
    """Its outputs go into the copy, which git ignores wherever it is."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(browsing.NOTEBOOKS / "00_twelve_people.ipynb", folder)
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=us", "-c", "user.email=us@a.b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    copies, _ = find_copies()
    copy = copies / "00_twelve_people.ipynb"
    papermill.execute_notebook(copy, copy, cwd=copies, kernel_name="python3", progress_bar=False)
    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    assert any(cell.get("outputs") for cell in cells)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert status.stdout == ""
