"""A table of payloads goes through the report, JupyterLab and the app in a real browser, past the refusal of such
names: no element, no script, no link and no request comes of it, and it is to be read as it is written.
"""

import os
import shutil
from types import SimpleNamespace

import pytest
from support import browsing, one_process, payloads

pytestmark = pytest.mark.usefixtures("kernel")
# As an owner's own code might switch it off, in every process that is started.
PAST_THE_REFUSAL = """\
try:
    from privnb.runtime import names
    names.find_forbidden = lambda name: ""
except ImportError:
    pass
"""
# Names and values in sentences, tables and charts, of which those of the last one are live. That all sentences of
# all notebooks are made by one function is tested in `test_sentences`.
REPORTED = ["01_load", "04_attack", "09_explore", "10_every_setting"]
ASKED = {
    "K": "10", "L": "2", "T": "0.3", "DELTA": "2", "EPSILON": "0.5", "MINERS": "majority, decision stump",
    "MINER": "majority", "SANITIZER": "LaplaceNoise", "SEEDS": "1",
}  # fmt: skip
# What came of a name or value that is more than text: in the page, in open shadow trees, and in what was drawn.
FOREIGN = """port => {
    const found = [];
    const look = root => {
        for (const each of root.querySelectorAll("*")) {
            if (each.shadowRoot) look(each.shadowRoot);
            const leads = ["href", "src", "xlink:href", "action"].map(name => each.getAttribute(name) || "");
            const math = each.matches("mjx-container, .MathJax, .mathjax-error");
            const shown = each.matches("td, th") && getComputedStyle(each).visibility !== "visible";
            if (each.classList.contains("foreign") || math || shown
                || leads.some(lead => lead.includes(`:${port}/`) || lead.startsWith("javascript:")))
                found.push(each.outerHTML.slice(0, 200));
            if (each.matches("em, strong, code, del") && ["it", "bold", "b", "code", "none", "of", "these"].includes(
                each.textContent)) found.push(each.outerHTML);
        }
    };
    look(document);
    return found.concat(window.hit ? ["a script ran"] : []);
}"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """`path` of the description, `port` of a socket that nothing may ask, what it was `asked`, and the environment."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "past").mkdir()
    (folder / "past" / "sitecustomize.py").write_text(PAST_THE_REFUSAL)
    with payloads.listening() as (port, asked), pytest.MonkeyPatch.context() as patch:
        before = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder / "past"), *before]))
        yield SimpleNamespace(folder=folder, path=payloads.write(folder, port), port=port, asked=asked)


@pytest.fixture(scope="module")
def report(hostile, kernel):
    """The folder of a report on the table of payloads."""
    asked = ASKED | {"DATASET": str(hostile.path)}
    return one_process.build(hostile.folder / "report", "few", notebooks=REPORTED, parameters=asked)


def watched(opened):
    """The dialogs that a page opens, but for the question whether to leave it."""
    dialogs = []

    def note(dialog):
        if dialog.type != "beforeunload":
            dialogs.append(dialog.message)
        dialog.accept()

    opened.page.on("dialog", note)
    return dialogs


def nothing_came_of_it(opened, hostile, dialogs):
    assert opened.page.evaluate(FOREIGN, hostile.port) == []
    assert dialogs == []
    assert hostile.asked == []
    assert opened.outside == []


def written(text, port):
    return " ".join(text.replace("{port}", str(port)).split())


def reads(page, hostile, *names):
    """Whether the page shows these names as they are written."""
    shown = " ".join(page.evaluate("document.body.innerText").split())
    return [name for name in names if written(name, hostile.port) not in shown]


def test_the_report_shows_names_and_values_as_text(report, hostile, offline):
    dialogs = watched(offline)
    pages = sorted(report.glob("*.html"))
    assert len(pages) == 2 * len(REPORTED) + 3, "their rows, index, about and glossary"
    for path in pages:
        offline.page.goto(path.as_uri())
        for chart in offline.page.locator("figure.chart:has(> script)").all():
            chart.scroll_into_view_if_needed()
            chart.locator(".drawn svg").wait_for()
        offline.page.wait_for_timeout(300)
        assert offline.page.url == path.as_uri(), "led away"
        nothing_came_of_it(offline, hostile, dialogs)
    offline.page.goto((report / "01_load.html").as_uri())
    assert reads(offline.page, hostile, *payloads.COLUMNS) == []
    offline.page.goto((report / "09_explore.html").as_uri())
    assert reads(offline.page, hostile, payloads.AGE) == [], "how likely a noisy one is guessed is told of each"
    assert offline.errors == []


def test_lab_shows_names_and_values_as_text(report, hostile, browser):
    """Run there, so that what it shows is trusted; and what the report ran, signed as the owner's own."""
    from nbformat import read
    from nbformat.sign import NotebookNotary

    root = hostile.folder / "lab"
    settings = root / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    browsing.copy("01_load", root / "notebooks", DATASET=str(hostile.path))
    (root / "JUPYTER_DATA_DIR").mkdir()
    notary = NotebookNotary(data_dir=str(root / "JUPYTER_DATA_DIR"))
    others = ["04_attack"]
    for name in others:
        shutil.copy(report / "notebooks" / f"{name}.ipynb", root / "notebooks")
        notary.sign(read(root / "notebooks" / f"{name}.ipynb", 4))
    with browsing.lab(root) as lab, browsing.without_network(browser) as opened:
        dialogs = watched(opened)
        for name in ("01_load", *others):
            opened.page.goto(f"{lab['url']}lab/tree/{name}.ipynb?token={lab['token']}&reset")
            if name not in others:
                cells = browsing.run(opened.page)
                assert [o for c in cells for o in c.get("outputs", []) if o["output_type"] == "error"] == []
            opened.page.locator(".jp-RenderedHTMLCommon .text, .jp-RenderedMarkdown").first.wait_for(state="attached")
            opened.page.wait_for_timeout(2000)  # formulas are drawn after the rest
            nothing_came_of_it(opened, hostile, dialogs)
            if name not in others:
                assert reads(opened.page, hostile, *payloads.COLUMNS) == []


def test_the_app_shows_names_and_values_as_text(hostile, browser):
    root = hostile.folder / "app"
    root.mkdir()
    browsing.copy("09_explore", root / "notebooks")
    asked = ["-p", "K=10", "-p", "MINER=majority"]
    with browsing.app(root, str(hostile.path), *asked) as app, browsing.without_network(browser) as opened:
        dialogs = watched(opened)
        opened.page.goto(app["url"])
        opened.page.wait_for_function("document.querySelector('.privnb-state')?.dataset.working === 'false'")
        opened.page.wait_for_timeout(2000)
        nothing_came_of_it(opened, hostile, dialogs)
        assert reads(opened.page, hostile, payloads.ILLNESS, payloads.JOB, payloads.TOWN) == []
        assert opened.errors == []
