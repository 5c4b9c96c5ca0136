"""Small notebooks through the real build: papermill, kernels, pages and the swap into place."""

import errno
import json
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from privnb.datasets import dataset
from privnb.evaluation.results import COLUMNS, compute_row_ids
from privnb.papers import full_profile, ledger
from privnb.papers.ledger_page import Ledger
from privnb.reporting import kernels, pages, places, report, running
from privnb.reporting.notebooks import Notebook, Parameter, choose_notebooks
from privnb.reporting.report import ReportError, build, save
from privnb.runtime import progress
from privnb.runtime.errors import OutputError, ResourceError

PARAMETERS = """\
DATASET = "small"  # a folder under data/
K = 10  # 2 to the number of records
SHARE = 0.5  # 0 to 1
FULL = False  # True or False
OUT = ""  # folder for the numbers
"""
SAVE = """\
import os, sys
import pandas as pd
from ipykernel.connect import get_connection_info
from privnb.reporting import report
from privnb.evaluation.results import COLUMNS
facts = {"k": K / 3, "hash": hash("privnb") % 1000, "threads": int(os.environ["OMP_NUM_THREADS"]),
         "here": os.path.basename(os.getcwd()) == "notebooks", "executable": len(sys.executable),
         "ports": get_connection_info(unpack=True)["transport"] == "tcp"}
rows = [dict(dataset=DATASET, sanitizer="Identity()", measure=m, miner=NAME, value=v) for m, v in facts.items()]
report.save(pd.DataFrame(rows, columns=COLUMNS), OUT, NAME)
"""
CHART = """\
import altair as alt, pandas as pd
from privnb.reporting import charts
charts.setup()
bars = pd.DataFrame({"class": ["a", "b"], "people": [12, K]})
alt.Chart(bars, title="b holds K people", description="People in the classes a and b").mark_bar(clip=True).encode(
    x="class", y="people", color="people")
"""
WIDE = """\
import pandas as pd
from privnb.runtime.sentences import FullTable
columns = {f"<b>{i}": ["1,407 (1,387 to 1,424)"] * 2 for i in range(9)}
FullTable(pd.DataFrame(columns, index=["Mondrian, k = 100", "Suppress"]), "numbers")
"""
NOISE = """\
import sys, time, warnings
from pathlib import Path
from privnb.runtime.progress import track
for _ in track(range(5), "a long step"):
    time.sleep(0.1)
warnings.warn("careful")
print("in", Path.cwd(), "by", sys.executable)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, write_notebook):
    """Two notebooks: 01_load has a chart, a widget and noise; 02_use is plain and has a parameter of its own."""
    folder = tmp_path_factory.mktemp("project") / "notebooks"
    write_notebook(
        folder,
        "01_load",
        "# Who is in it?\n\nText with **weight**.",
        ("parameters", PARAMETERS),
        NOISE,
        ("key", CHART),
        "# Try it",
        ("interactive", "import ipywidgets\nipywidgets.IntSlider(description='secret slider')"),
        ("answer", "from IPython.display import Markdown\nMarkdown(f'There are **{K}** people.')"),
        "NAME = '01_load'\n" + SAVE,
    )
    write_notebook(
        folder,
        "02_use",
        "# What is it for?",
        ("parameters", PARAMETERS + "SEEDS = 1  # 1 to 100\n"),
        WIDE,
        ("answer", "# Much.\n\nFor *much*."),
        "NAME = '02_use'\n" + SAVE,
    )
    (folder / "scratch.ipynb").write_text("no numbered notebook")
    return folder


@pytest.fixture(scope="module")
def built(folder, kernel):
    """The report of both notebooks, run at the same time; the progress that stderr showed lies beside it."""
    out = folder.parent / "reports" / "small"
    with open(folder.parent / "progress.txt", "w+") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", file)
        patch.setenv("OMP_NUM_THREADS", "7")  # kernels have one thread whatever is asked for here
        index = build(out, parameters={"K": "25", "SEEDS": 3}, jobs=2, folder=folder, compare=Ledger.of)
    assert index == out / "index.html"
    return out


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- a report that is made ---


def test_what_a_report_holds(built):
    assert list(files(built)) == [
        "01_load.html",
        "01_load.rows.html",
        "02_use.html",
        "02_use.rows.html",
        "about.html",
        "charts.js",
        "glossary.html",
        "index.html",
        "ledger.csv",
        "notebooks/01_load.ipynb",
        "notebooks/02_use.ipynb",
        "results.csv",
    ]
    assert [path.name for path in built.parent.iterdir()] == ["small"]


@pytest.mark.parametrize(
    ("mode", "page", "inside"), [(0o600, 0o600, 0o700), (0o640, 0o640, 0o750), (0o644, 0o644, 0o755)]
)
def test_a_report_is_open_to_nobody_to_whom_its_data_is_not(tmp_path, mode, page, inside):
    described = tmp_path / "data" / "mine" / "mine.toml"
    described.parent.mkdir(parents=True)
    for name in ("mine.toml", "mine.csv"):
        (described.parent / name).write_text("")
    (described.parent / "mine.csv").chmod(mode)
    (tmp_path / "report" / "notebooks").mkdir(parents=True)
    (tmp_path / "report" / "notebooks" / "01_a.ipynb").write_text("")
    for path in (tmp_path / "report", *(tmp_path / "report").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    notebook = SimpleNamespace(described=described)
    report._close_as_the_data([notebook], tmp_path / "report")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "report").rglob("*"))]
    assert modes == [inside, page]
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) & 0o077 == inside & 0o077
    described.parent.chmod(0o700)  # nobody else comes to the files, whatever their own mode is
    report._close_as_the_data([notebook], tmp_path / "report")
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "report").rglob("*")} == {0}


def test_a_report_of_data_whose_mode_cannot_be_read_is_open_to_nobody(tmp_path, monkeypatch):
    """Beside a folder that may be listed and not entered."""
    described = tmp_path / "data" / "mine" / "mine.toml"
    (described.parent / "old").mkdir(parents=True)
    for name in ("mine.toml", "old/locked.csv"):
        (described.parent / name).write_text("")
    (described.parent / "gone").symlink_to("nowhere")  # says nothing of who may read what is there
    (tmp_path / "report").mkdir(mode=0o755)
    notebook = SimpleNamespace(described=described)
    report._close_as_the_data([notebook], tmp_path / "report")
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == 0o755
    known = Path.stat

    def refused(path, **options):
        if path.name == "locked.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return known(path, **options)

    monkeypatch.setattr(Path, "stat", refused)
    report._close_as_the_data([notebook], tmp_path / "report")
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("statuses", "silent", "said"),
    [
        (["", ""], [], []),
        (["withheld", "", "withheld"], [], ["2 of 3 numbers are withheld because they concern few people."]),
        (["not possible", "not possible"], [], ["2 numbers were not possible; results.csv states why."]),
        ([""], ["04_a", "08_b"], ["These pages have nothing to report about this table and state why: 04_a, 08_b."]),
    ],
)
def test_what_a_report_leaves_out_is_counted(tmp_path, statuses, silent, said, write_notebook):
    write_notebook(tmp_path / "notebooks", "01_said", "# Why?", "print(1)", "")
    for name in silent:
        write_notebook(tmp_path / "notebooks", name, "# Why?", ("answer", ""))
    blank = dict.fromkeys(COLUMNS, "")
    pd.DataFrame([blank | {"status": status} for status in statuses]).to_csv(tmp_path / "results.csv", index=False)
    assert report.list_left_out(tmp_path / "index.html") == said


def test_results_are_in_the_order_of_the_notebooks(built):
    results = report.read_results(built / "results.csv")
    assert list(results.columns) == COLUMNS
    assert [*pd.read_csv(built / "results.csv", dtype={"id": str}).id] == compute_row_ids(results)
    assert list(results["miner"]) == ["01_load"] * 6 + ["02_use"] * 6
    assert results["value"][0] == pytest.approx(25 / 3)
    assert "8.33333333333," in (built / "results.csv").read_text()


def test_kernels_are_this_python_in_the_notebooks_folder_with_one_thread_and_no_port(built):
    """A port that is free when it is chosen may be taken when a kernel comes to it, by another that starts then."""
    values = report.read_results(built / "results.csv").query("miner == '01_load'").set_index("measure")["value"]
    assert values[["threads", "here", "ports", "executable"]].tolist() == [1, 1, 0, len(sys.executable)]


def test_ledger_holds_every_printed_number(built):
    written = pd.read_csv(built / "ledger.csv", keep_default_na=False)
    assert list(written.columns) == [*ledger.COLUMNS, "notebook", *full_profile.WHEN]
    assert len(written) == len(ledger.read_published())
    own = written[written.date == ""]
    assert ((own.notebook != "") == (own.measured != "")).all(), "each number says which notebook measured it"
    shipped = written[written.date != ""]
    assert len(shipped), "or that a longer run did, and when"
    assert (shipped.notebook == "").all()


def test_one_job_and_two_give_the_same_bytes(built, folder):
    again = folder.parent / "again"
    build(again, parameters={"SEEDS": "3", "K": 25}, jobs=1, folder=folder, compare=Ledger.of)
    assert files(again) == files(built)
    shutil.rmtree(again)


def test_the_index_lists_the_questions_and_another_page_what_was_run(built):
    html = (built / "index.html").read_text()
    text = pages.rendering.strip_tags(html)
    for said in ("Who is in it?", "What is it for?", "Make this report again"):
        assert said in text, said
    html = (built / "about.html").read_text()
    text = pages.rendering.strip_tags(html)
    for said in ("2 to the number of records", "25 (by default 10)", "scikit-learn", "privnb report small -p K=25"):
        assert said in text, said
    assert "ledger.html" not in html  # these notebooks measure nothing that a paper prints


def test_a_page_says_its_answer_and_its_chart_first_and_both_once(built):
    html = (built / "01_load.html").read_text()
    text = pages.rendering.strip_tags(html[html.index("<main") :])
    order = ["Who is in it?", "There are 25 people.", "How this was found", "Text with weight."]
    places = [text.index(said) for said in order]
    assert places == sorted(places)
    assert [text.count(said) for said in order[1:]] == [1] * 3, "its title names the code that is folded away, too"
    assert html.count("<figure") == html.count("<figcaption><strong>b holds K people</strong></figcaption>") == 1


def test_page_folds_the_code_and_leaves_widgets_out(built):
    html = (built / "01_load.html").read_text()
    folds = [re.sub(r"<[^>]*>", "", fold) for fold in re.findall(r"<details.*?</details>", html, re.DOTALL)]
    # One a result: the parameters, those of this run and the first step stand together.
    begin = ["DATASET =", "import altair"]  # what the answer is of shows nothing more there
    assert len(folds) == len(begin)
    shown = [re.sub(r"^Show the code of: Who is in it\?( \(2\))?", "", fold).strip() for fold in folds]
    assert all(fold.startswith(each) for fold, each in zip(shown, begin, strict=True))
    assert folds[0].index("# Parameters") < folds[0].index("a long step")
    assert "Try it" not in html
    assert "secret slider" not in html
    assert "In [" not in html
    assert 'href="02_use.html"' in html


SCRIPTS = {'<script type="application/json">', '<script defer src="charts.js">'}


def test_pages_load_nothing_and_link_only_to_the_report(built):
    for path in built.glob("*.html"):
        html = path.read_text()
        assert set(re.findall(r"<script [^>]*>", html)) <= SCRIPTS
        assert set(re.findall(r"https?://[\w.]+", html)) <= {"http://www.w3.org"}, "only the names of SVG"
        assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
        links = re.findall(r"""(?:src|href|action|srcset)\s*=\s*["']([^"']*)""", html)
        assert links
        for link in links:
            page, _, place = link.partition("#")
            assert (built / (page or path.name)).exists(), link
            assert not place or f'id="{place}"' in (built / (page or path.name)).read_text(), link


def test_charts_of_one_page_do_not_share_names(folder, built):
    chosen = choose_notebooks(folder, ["01_load"])
    executed = {"01_load": (built / "notebooks" / "01_load.ipynb").read_text()}
    html = pages.make(
        chosen, executed, Ledger(ledger.compare_with_published(report.read_results(built / "results.csv")))
    )["01_load.html"]
    names = re.findall(r'<(?:clipPath|linearGradient)[^>]* id="([^"]*)"', html)
    used = re.findall(r"url\(#([^)]*)\)", html)
    assert len(names) >= 2
    assert len(set(names)) == len(names)
    assert set(used) == set(names)


def test_nothing_of_this_machine_or_moment_is_left(built, folder):
    for name, content in files(built).items():
        text = content.decode()
        for trace in (str(folder.parent), sys.prefix, "ipykernel_", "start_time", "widget-state", '"widgets"'):
            assert trace not in text, (name, trace)
    executed = (built / "notebooks" / "01_load.ipynb").read_text()
    assert "in ./notebooks by python/bin" in executed
    assert "cell:6: UserWarning: careful" in executed
    (injected,) = [
        cell for cell in json.loads(executed)["cells"] if cell["metadata"]["tags"] == ["injected-parameters"]
    ]
    assert "".join(injected["source"]) == '# Parameters\nK = 25\nOUT = ""\n'


def test_progress_is_told_on_stderr_and_in_no_notebook(built, folder):
    said = (folder.parent / "progress.txt").read_text()
    assert "01_load: a long step" in said
    assert re.search(r"02_use: done in \d+ s", said)
    assert not any("long step" in str(output) for output in outputs(built / "notebooks" / "01_load.ipynb"))


def outputs(path):
    return [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", [])]


def test_report_opens_from_disk_without_network(built, offline):
    requested = []
    offline.page.on("request", lambda request: requested.append(request.url))
    for name, width, scheme in [("index", 1280, "light"), ("01_load", 390, "dark"), ("02_use", 390, "light")]:
        offline.page.set_viewport_size({"width": width, "height": 900})
        offline.page.emulate_media(color_scheme=scheme)
        offline.page.goto((built / f"{name}.html").as_uri())
        assert offline.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        if name == "01_load":
            figure = offline.page.get_by_role("img", name="People in the classes a and b")
            box = figure.locator("svg:visible").bounding_box()
            assert box["width"] > 50
            assert box["height"] > 50
    offline.page.goto((built / "index.html").as_uri())
    offline.page.get_by_role("link", name="What is it for?").click()
    assert offline.page.locator("h1").first.inner_text() == "What is it for?"
    assert [url for url in requested if not url.startswith("file:")] == []
    assert offline.outside == []
    assert offline.errors == []


HINT = "frame => getComputedStyle(frame, '::after').visibility"
WIDEST = "body => Math.max(...[...body.querySelectorAll('table, svg')].map(e => e.getBoundingClientRect().right))"


def test_wide_tables_scroll_on_screen_and_wrap_on_paper(built, offline):
    page = offline.page
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto((built / "02_use.html").as_uri())
    frame = page.locator(".output.scroll")
    assert not frame.is_visible(), "a wall of numbers is folded"
    page.get_by_text("Table of 2 rows and 9 columns: <b>0, <b>1,").click()
    row = frame.get_by_role("rowheader", name="Mondrian, k = 100")
    assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth + 200")
    assert row.evaluate("cell => getComputedStyle(cell).position") == "sticky"
    assert frame.evaluate(HINT) == "visible"
    left = row.bounding_box()["x"]
    frame.evaluate("frame => frame.scrollLeft = 200")
    assert row.bounding_box()["x"] == left, "the names of rows stay in sight"
    line = row.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight)")
    assert row.bounding_box()["height"] < 2 * line, "a name is not broken"

    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto((built / "01_load.html").as_uri())
    assert page.locator(".drawing").evaluate(HINT) == "hidden", "nothing to scroll"

    page.set_viewport_size({"width": 703, "height": 900})  # A4 less its margins
    page.emulate_media(media="print")
    for name in ("index", "01_load", "02_use"):
        page.goto((built / f"{name}.html").as_uri())
        widest = page.locator("body").evaluate(WIDEST)
        assert widest <= 703, name


# --- a request that is refused: before anything runs, and nothing is written ---


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"parameters": {"k": 25}},
            r"no parameter 'k' in 01_load, 02_use. Did you mean 'K'\? There are: DATASET, FULL, K, SEEDS, SHARE",
        ),
        (
            {"parameters": {"SEEDS": 2}, "notebooks": ["01_load"]},
            "there is no parameter 'SEEDS' in 01_load. There are: ",
        ),
        ({"parameters": {"OUT": "here"}}, "OUT is set by the report itself. Choose the folder"),
        ({"parameters": {"STORE": "here"}}, "STORE is set by the report itself. Choose the folder"),
        ({"parameters": {"K": "2.5"}}, r"K of 01_load.ipynb must be a whole number \(default 10\); got '2.5'"),
        ({"parameters": {"SHARE": "half"}}, "SHARE of 01_load.ipynb must be a number"),
        ({"parameters": {"FULL": "maybe"}}, "FULL of 01_load.ipynb must be True or False"),
        ({"notebooks": ["03_no"]}, "there is no notebook '03_no' in .* There are: 01_load, 02_use"),
        ({"jobs": 0}, "`jobs` must be the number of notebooks that run at a time; got 0"),
    ],
)
def test_wrong_requests_are_refused_before_anything_runs(asked, said, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "run_notebooks", None)
    with pytest.raises(ReportError, match=said):
        build(tmp_path / "out", folder=folder, **asked)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["K = 1"], "has 0 cells tagged 'parameters'"),
        ([("parameters", "K = 1"), ("parameters", "")], "has 2 cells tagged 'parameters'"),
        ([("parameters", "K = 1")], 'has no parameter OUT. Add `OUT = ""`'),
        ([("parameters", "OUT = ''\nK = max(1, 2)  # no")], r"has the line `K = max\(1, 2\)  # no`"),
        ([("parameters", "OUT = ''\nK = None")], "has the line `K = None`"),
        ([("parameters", "OUT = ''\nimport os")], "has the line `import os`"),
    ],
)
def test_a_notebook_without_plain_parameters_is_refused(cells, said, tmp_path, write_notebook):
    write_notebook(tmp_path / "notebooks", "01_a", *cells)
    with pytest.raises(ReportError, match=said):
        choose_notebooks(tmp_path / "notebooks")


def test_parameters_take_their_default_s_type_and_go_where_they_are_known(folder):
    asked = {"K": "7", "SHARE": "1", "FULL": "true", "DATASET": 5, "SEEDS": "2"}
    first, second = choose_notebooks(folder, ["02_use.ipynb", "01_load"], asked)
    assert (first.name, second.name) == ("01_load", "02_use")
    expected = {"K": 7, "SHARE": 1.0, "FULL": True, "DATASET": "5"}
    assert first.asked == expected
    assert [type(value) for value in first.asked.values()] == [str, int, float, bool]
    assert second.asked == expected | {"SEEDS": 2}
    assert first.parameters["K"].meaning == "2 to the number of records"


@pytest.mark.parametrize(
    ("name", "said"),
    [("store", "is for finished evaluations, not for a report"), ("old/new", "lies in another report")],
)
def test_a_report_goes_neither_to_the_store_nor_into_another(name, said, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "run_notebooks", None)
    (tmp_path / "old").mkdir()
    for held in ("index.html", "results.csv"):
        (tmp_path / "old" / held).touch()
    with pytest.raises(ReportError, match=said):
        build(tmp_path / name, folder=folder)
    assert list(files(tmp_path)) == ["old/index.html", "old/results.csv"]


def test_an_out_that_is_no_report_is_left_alone(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "run_notebooks", None)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "index.html").write_text("years of work")
    (tmp_path / "file").write_text("a file")
    before = files(tmp_path)
    for name in ("thesis", "file"):
        with pytest.raises(ReportError, match="exists and is not a report"):
            build(tmp_path / name, folder=folder)
    assert files(tmp_path) == before


# --- a notebook that fails ---


WRITE = """\
from pathlib import Path
Path(OUT, "01_a.results.csv").write_text({text!r})
"""
ROW = {"dataset": "small", "sanitizer": "Identity()", "measure": "k", "value": "2"}
NUMBERS = ",".join(COLUMNS) + "\n" + ",".join(ROW.get(name, "") for name in COLUMNS) + "\n"


def test_a_failing_notebook_is_named_and_marked_and_the_report_is_of_the_others(tmp_path, write_notebook, kernel):
    folder, out = tmp_path / "notebooks", tmp_path / "out"
    secret = "raise ZeroDivisionError(f'Jane Doe earns {2 * 20}')"
    write_notebook(folder, "01_a", "# Who?", ("parameters", "OUT = ''"), WRITE.format(text=NUMBERS))
    write_notebook(folder, "02_bad", "# What?\n\nMuch.", ("parameters", "OUT = ''"), secret, "print('never')")
    with pytest.raises(report.Incomplete) as caught:
        build(out, jobs=2, folder=folder)
    message = str(caught.value)
    assert message.startswith("02_bad.ipynb failed in cell In [3], which begins with `raise Zero")
    assert "ZeroDivisionError: Jane Doe earns 40" in message
    assert str(tmp_path / "failed-notebooks") in message
    assert str(out / "index.html") in message
    assert report.read_results(out / "results.csv").value.tolist() == [2]
    page = (out / "02_bad.html").read_text()
    assert "<h1>What?</h1>" in re.sub(r" id=[^>]*", "", page)
    assert "This page could not be made" in page
    assert "cell In [3]" in page
    assert not any("earns 40" in text.decode() for text in files(out).values()), "an error may hold a record"

    assert [path.name for path in (tmp_path / "failed-notebooks").iterdir()] == ["02_bad.ipynb"]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "failed-notebooks").rglob("*"))]
    assert [stat.S_IMODE((tmp_path / "failed-notebooks").stat().st_mode), *modes] == [0o700, 0o600], (
        "it may show records"
    )
    cells = json.loads((tmp_path / "failed-notebooks" / "02_bad.ipynb").read_text())["cells"]
    marks = [
        place for place, cell in enumerate(cells) if "papermill-error-cell-tag" in cell["metadata"].get("tags", [])
    ]
    assert marks[0] == 0
    assert secret in "".join(cells[marks[1] + 1]["source"])
    assert cells[-1]["outputs"] == []
    assert str(tmp_path) not in json.dumps(cells)


def test_where_all_fail_no_report_is_written(tmp_path, write_notebook, kernel):
    folder, out = tmp_path / "notebooks", tmp_path / "out"
    out.mkdir()
    for name in ("index.html", "results.csv"):
        (out / name).write_text("older")
    before = files(out)
    write_notebook(folder, "01_a", ("parameters", "OUT = ''"), "while True: pass")
    with pytest.raises(
        report.Incomplete,
        match=r"(?s)failed in cell In \[.*\], which begins with `while True.*TimeoutError: .* progress for 2 s.*"
        "No report was written",
    ) as caught:
        build(out, folder=folder, seconds=2)
    assert caught.value.status == 1
    assert files(out) == before


NOTHING = """\
from privnb.microdata.schema import NotForThisTable
raise NotForThisTable("'<b>' has no town. Name one.")
"""


@pytest.mark.parametrize("tag", ["setup", ""], ids=["known beforehand", "found on the way"])
def test_a_page_that_has_nothing_to_say_says_so_in_a_line(tag, tmp_path, write_notebook, capsys, kernel):
    folder, out = tmp_path / "notebooks", tmp_path / "out"
    end = f"{WRITE.format(text=NUMBERS)}print(K)"
    write_notebook(folder, "01_a", "# Who?", ("parameters", "OUT = ''\nK = 1"), ("setup", "assert K == 5"), end)
    write_notebook(folder, "02_b", "# Where?", ("parameters", "OUT = ''\nK = 1"), (tag, NOTHING), "1 / 0")
    build(out, folder=folder, jobs=1, parameters={"K": 5})
    assert ("02_b: nothing to report" in capsys.readouterr().err) is (tag == "")
    said = "This page has nothing to report about this table. '&lt;b&gt;' has no town. Name one."
    assert said in re.sub("</?strong>", "", (out / "02_b.html").read_text()).replace("&#x27;", "'").replace(
        "&#39;", "'"
    )
    assert "Traceback" not in (out / "notebooks" / "02_b.ipynb").read_text()
    assert not out.with_name("failed-notebooks").exists()


def test_what_the_first_cells_refuse_is_refused_before_anything_runs(folder, tmp_path, monkeypatch, write_notebook):
    monkeypatch.setattr(report, "run_notebooks", None)
    check = "from privnb.decision import check_caps\ncheck_caps(5, privacy=K)"
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''\nK = 1.0"), ("setup", check))
    with pytest.raises(ReportError, match=r"01_a: .*-2"):
        build(tmp_path / "out", folder=tmp_path / "notebooks", parameters={"K": -2})
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''\nK = 1"), ("setup", NOTHING))
    with pytest.raises(ReportError, match="anything to report about this table"):
        build(tmp_path / "out", folder=tmp_path / "notebooks", parameters={"K": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["notebooks"]


def test_a_notebook_of_the_papers_is_for_their_table_alone(tmp_path, write_notebook):
    """Unless it is asked for by name; and so are the cells of the others that speak of papers."""
    cells = [("parameters", "DATASET = 'adult'\nOUT = ''"), ("paper", "'as printed'"), "1"]
    write_notebook(tmp_path, "01_a", *cells)
    write_notebook(tmp_path, "02_b", *cells, metadata={"privnb": {"reruns_papers": True}})
    for asked in ({}, {"DATASET": "adult"}):
        assert [notebook.name for notebook in choose_notebooks(tmp_path, None, asked)] == ["01_a", "02_b"]
    (own,) = choose_notebooks(tmp_path, None, {"DATASET": "mine"})
    (named,) = choose_notebooks(tmp_path, ["02_b"], {"DATASET": "mine"})
    assert (own.name, named.name) == ("01_a", "02_b")
    assert ["as printed" in cell.source for cell in own.read().cells] == [False, False]
    assert ["as printed" in cell.source for cell in choose_notebooks(tmp_path)[0].read().cells] == [False, True, False]


class Begun:
    """In the place of a notebook that runs: it ends when it is asked a third time."""

    error, state, heard = "", {"step": "", "left": None, "total": None, "cell": 0}, math.inf

    def __init__(self, notebook, told):
        self.notebook, self.told, self.asked = notebook, told, 0
        told.append(f"{notebook.name} begins")

    def listen(self):
        pass

    def goes_on(self):
        self.asked += 1
        if self.asked < 3:
            return True
        self.told.append(f"{self.notebook.name} ends")
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "order"),
    [
        (None, ["01_a begins", "03_c begins", "01_a ends", "03_c ends", "02_b begins", "02_b ends"]),
        (["02_b", "03_c"], ["02_b begins", "03_c begins", "02_b ends", "03_c ends"]),
    ],
)
def test_a_notebook_begins_when_the_one_whose_evaluations_it_needs_has_ended(
    tmp_path, write_notebook, monkeypatch, names, order
):
    """If that one runs; those that need none do not wait. One that names itself or a later one waits for none."""
    for name, after in (("01_a", "03_c"), ("02_b", "01_a"), ("03_c", "03_c")):
        cell = ("parameters", "OUT = ''")
        write_notebook(tmp_path / "notebooks", name, cell, metadata={"privnb": {"after": after}})
    told = []
    monkeypatch.setattr(running, "_start", lambda notebook, *_: Begun(notebook, told))
    monkeypatch.setattr(running, "_stop", lambda runs: None)
    monkeypatch.setattr(running, "_cleaned", lambda *_: "")
    (tmp_path / "work").mkdir()
    chosen = choose_notebooks(tmp_path / "notebooks", names, {})
    ended = running.run_notebooks(chosen, tmp_path / "work", tmp_path / "out", jobs=2)
    assert [*ended] == [notebook.name for notebook in chosen]
    assert told == order


def test_the_page_of_the_card_begins_after_that_of_the_decision():
    after = {notebook.name: notebook.after for notebook in choose_notebooks(dataset.PROJECT / "notebooks")}
    assert {name: of for name, of in after.items() if of} == {"15_release_card": "08_decision"}


STEADY = """\
import time
from privnb.runtime.progress import track
for _ in track(range(24), "steady"):
    time.sleep(0.25)
"""


def test_a_cell_may_take_longer_than_the_limit_as_long_as_it_goes_on(tmp_path, write_notebook, kernel):
    """Six seconds in a cell, with a limit of five: nothing slow is imported, so that the limit is no busy machine's."""
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''"), STEADY, WRITE.format(text=NUMBERS))
    assert build(tmp_path / "out", folder=tmp_path / "notebooks", seconds=5).exists()


def test_a_kernel_that_dies_fails_the_notebook(tmp_path, write_notebook, kernel):
    die = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''"), die)
    with pytest.raises(
        report.Incomplete, match=r"(?s)01_a.ipynb failed in cell .*\nDeadKernelError.*memory was exhausted"
    ):
        build(tmp_path / "out", folder=tmp_path / "notebooks")


def test_a_kernel_that_has_ended_gets_no_signal():
    """Its number is nobody's then, or another process's."""
    gone = SimpleNamespace(pid=2**30, exitcode=1, terminate=None, kill=None)
    kernels.Copy(gone).send_signal(signal.SIGINT)
    gone.exitcode = None
    with pytest.raises(ProcessLookupError):  # so that is why
        kernels.Copy(gone).send_signal(signal.SIGINT)


@pytest.mark.parametrize(("folder", "place"), [("/somewhere", "/somewhere"), (f"/{'ü' * 60}", "/tmp")])
def test_sockets_are_where_their_names_are_short_enough(folder, place):
    begins = kernels.sockets(folder)
    assert Path(begins).parent == Path(place)
    assert len(os.fsencode(f"{begins}-10")) <= 103
    assert kernels.sockets(folder) != begins


# --- a run that is stopped: the next one goes on where it was ---

COUNTED = """\
import os, time

def third(number):
    with open("log", "a") as log:
        log.write(f"{number} {os.getpid()}\\n")
    time.sleep(0.4)
    return number / 3
"""
RESUMED = """\
import os
from functools import partial
import pandas as pd
import counted
from privnb.evaluation import store
from privnb.reporting import report
from privnb.evaluation.results import COLUMNS
with open("log", "a") as log:
    log.write(f"kernel {os.getpid()}\\n")
store.LIBRARIES = ("privnb.evaluation.store",)  # the tasks need no more, which takes seconds
found = store.run_tasks([partial(counted.third, number) for number in range(8)], store.Store(STORE), jobs=2)
rows = [dict(dataset="small", sanitizer="Identity()", measure=f"m{i}", value=x) for i, x in enumerate(found)]
report.save(pd.DataFrame(rows, columns=COLUMNS), OUT, "01_a")
print("kept in", store.Store(STORE).folder)
"""


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


@pytest.mark.parametrize("stop", ["kill -9 of the report alone", "Ctrl-C"])
def test_a_stopped_report_goes_on_where_it_was(stop, tmp_path, write_notebook, kernel):
    folder, out = tmp_path / "notebooks", tmp_path / "reports" / "small"
    write_notebook(folder, "01_a", ("parameters", "OUT = ''\nSTORE = '../reports/store'  # kept"), RESUMED)
    (folder / "counted.py").write_text(COUNTED)
    kept = out.parent / "store"

    def evaluated():
        lines = [line.split() for line in (folder / "log").read_text().splitlines()]
        return [int(name) for name, _ in lines if name != "kernel"], {int(pid) for _, pid in lines}

    code = f"from privnb.reporting import report; report.build({str(out)!r}, folder={str(folder)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, start_new_session=True)
    limit = time.monotonic() + 120
    while len(list(kept.glob("*.result"))) < 3 and time.monotonic() < limit:
        time.sleep(0.02)
    if stop == "Ctrl-C":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.kill()
    process.wait(timeout=40)
    _, pids = evaluated()
    assert len(pids) == 3, "a kernel and its two workers"
    while not all(map(gone, pids)) and time.monotonic() < limit + 30:
        time.sleep(0.05)
    assert all(map(gone, pids)), "nothing goes on computing"
    begun, _ = evaluated()
    finished = len(list(kept.glob("*.result")))
    assert 3 <= finished < 8
    assert not out.exists()
    assert stop != "Ctrl-C" or [path.name for path in out.parent.iterdir()] == ["store"]

    build(out, folder=folder)
    again = evaluated()[0][len(begun) :]
    assert len(again) == 8 - finished
    assert sorted({*begun, *again}) == list(range(8))
    assert report.read_results(out / "results.csv")["value"].tolist() == [
        float(f"{number / 3:.12g}") for number in range(8)
    ]
    if stop == "Ctrl-C":
        build(out.with_name("other"), folder=folder)
        assert files(out.with_name("other")) == files(out)
        assert len(evaluated()[0]) == len(begun) + len(again), "another report beside it shares the store"

    # The store is in no page, and its place is on none.
    assert not [name for name in files(out) if name.endswith((".result", "CACHEDIR.TAG"))]
    assert not any(str(tmp_path) in text.decode() for text in files(out).values())
    assert "STORE" not in (out / "index.html").read_text()
    executed = json.loads((out / "notebooks" / "01_a.ipynb").read_text())
    assert executed["cells"][1]["source"] == ["# Parameters\n", 'OUT = ""\n', 'STORE = ""\n']
    assert "kept in store" in json.dumps(executed)


READING = """\
import time
from pathlib import Path
from privnb.datasets.dataset import load
load(str(Path(DATASET).resolve()))
"""
WAIT = "while not Path('changed').exists(): time.sleep(0.1)\nload(str(Path(DATASET).resolve()))\ntime.sleep(300)"


def test_pages_of_one_report_never_show_two_tables(older, tmp_path, write_notebook, monkeypatch):
    """The file is changed between two reads, in a description without a checksum."""
    monkeypatch.setattr(report, "run_notebooks", running.run_notebooks)
    folder, before = tmp_path / "notebooks", files(older)
    write_notebook(folder, "01_a", ("parameters", "DATASET = '../ages.toml'\nOUT = ''"), READING, WAIT)
    (tmp_path / "ages.csv").write_text("age\n20\n30\n")
    (tmp_path / "ages.toml").write_text(
        '[dataset]\n[[files]]\npath = "ages.csv"\n[columns.age]\nrole = "neutral"\ndomain = { low = 0, high = 99 }\n'
    )
    shown = progress.Bars.show

    def change(self, name, state):
        if state.get("seen") and not (folder / "changed").exists():
            (tmp_path / "ages.csv").write_text("age\n20\n31\n")
            (folder / "changed").touch()
        shown(self, name, state)

    monkeypatch.setattr(progress.Bars, "show", change)
    with pytest.raises(ReportError, match=r"ages\.csv changed while the report was made, .* two different tables"):
        build(older, folder=folder)
    assert files(older) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ages.csv", "ages.toml", "notebooks", "out"]


def test_troubles_of_the_store_are_said_once_and_on_no_page(tmp_path, write_notebook, capsys, kernel):
    said = "from privnb.runtime import progress\nprogress.warn_once('the store is full')"
    end = f"DATASET, K, NAME = 'small', 2, '{{}}'\n{SAVE}"
    for name in ("01_a", "02_b"):
        write_notebook(tmp_path / "notebooks", name, ("parameters", "OUT = ''"), said, end.replace("{}", name))
    build(tmp_path / "out", folder=tmp_path / "notebooks", jobs=1)
    assert capsys.readouterr().err.count("the store is full\n") == 1
    assert not any("store is full" in str(outputs(path)) for path in (tmp_path / "out" / "notebooks").iterdir())


@pytest.mark.parametrize(("text", "cut"), [('{"cells": [', True), (None, False)])
def test_a_full_disk_is_named(folder, tmp_path, monkeypatch, text, cut):
    """The executed copy is then cut short itself, or not there."""
    (notebook,) = choose_notebooks(folder, ["01_load"])
    (tmp_path / "executed").mkdir()
    if cut:
        (tmp_path / "executed" / "01_load.ipynb").write_text(text)
    ended = running._Run(notebook, progress.Notes(tmp_path / "notes"), error="OSError: why")
    ended_so = running._failure(ended, tmp_path, tmp_path / "out")
    assert "OSError: why" in ended_so.failed
    monkeypatch.setattr(running.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**6, 10**6, 0))
    ended_so = running._failure(ended, tmp_path, tmp_path / "out")
    assert f"the disk of {tmp_path} is full" in ended_so.failed


@pytest.mark.parametrize(("cell", "place"), [(0, 0), (99, -1)])
def test_a_kernel_that_is_killed_before_its_first_cell_or_after_its_last_is_said(folder, tmp_path, cell, place):
    (notebook,) = choose_notebooks(folder, ["01_load"])
    (tmp_path / "executed").mkdir()
    shutil.copy(notebook.path, tmp_path / "executed" / "01_load.ipynb")
    ended = running._Run(notebook, progress.Notes(tmp_path / "notes"), cell=cell, error="DeadKernelError: died")
    ended_so = running._failure(ended, tmp_path, tmp_path / "out")
    assert "01_load.ipynb failed in cell In [ ], which begins with" in ended_so.failed
    assert "DeadKernelError: died" in ended_so.failed
    marked = json.loads((tmp_path / "failed-notebooks" / "01_load.ipynb").read_text())["cells"]
    code = [cell for cell in marked if cell["cell_type"] == "code"]
    assert [cell["outputs"] != [] for cell in code] == [cell is code[place] for cell in code]


@pytest.mark.parametrize("link", [False, True])
def test_a_store_of_other_things_is_refused_before_anything_runs(folder, tmp_path, monkeypatch, write_notebook, link):
    monkeypatch.setattr(report, "run_notebooks", None)
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''\nSTORE = ''"))
    other = tmp_path / ("thesis" if link else "store")
    other.mkdir()
    (other / "years of work").touch()
    if link:
        (tmp_path / "store").symlink_to(other)
    with pytest.raises(ValueError, match="holds files other than results"):
        build(tmp_path / "out", folder=tmp_path / "notebooks")
    assert list(files(other)) == ["years of work"]


def test_copies_of_failed_notebooks_do_not_pile_up(tmp_path):
    """Those of the last failure stay, until a report has none; what others put there is not touched."""
    failed = tmp_path / "failed-notebooks"
    failed.mkdir()
    for name in ("01_load.ipynb", "04_attack.ipynb", "other.txt"):
        (failed / name).touch()
    running.forget_failures(tmp_path / "out", but={"04_attack": "why"})
    assert sorted(path.name for path in failed.iterdir()) == ["04_attack.ipynb", "other.txt"]
    running.forget_failures(tmp_path / "another")
    assert [path.name for path in failed.iterdir()] == ["other.txt"]
    (failed / "other.txt").unlink()
    running.forget_failures(tmp_path / "out")
    assert not failed.exists()


# --- a disk that is full, a folder that is not ours ---


def tidy(name="01_load", **columns):
    row = dict.fromkeys(COLUMNS) | {
        "dataset": "small",
        "sanitizer": "Identity()",
        "measure": "k",
        "miner": name,
        "value": 1,
    }
    return pd.DataFrame([row | columns])


@pytest.fixture
def older(built, tmp_path, monkeypatch):
    """An older report at `out`, and a build that takes the notebooks as already run."""

    def run(chosen, work, out, **_):
        for notebook in chosen:
            save(tidy(notebook.name), work / "numbers", notebook.name)
        return {n.name: running.NotebookRun((built / "notebooks" / n.path.name).read_text()) for n in chosen}

    monkeypatch.setattr(report, "run_notebooks", run)
    shutil.copytree(built, tmp_path / "out")
    return tmp_path / "out"


def test_an_older_report_is_replaced(older, folder):
    before = files(older)
    build(older, ["01_load"], folder=folder, compare=Ledger.of)
    assert set(before) - set(files(older)) == {"02_use.html", "02_use.rows.html", "notebooks/02_use.ipynb"}
    assert [path.name for path in older.parent.iterdir()] == ["out"]


def failing(monkeypatch, owner, name, number, when):
    """Let calls of `owner.name` fail with errno `number` if `when(*args)`."""
    real = getattr(owner, name)

    def fake(*args, **kwargs):
        if when(*map(str, args)):
            raise OSError(number, os.strerror(number), str(args[0]) if args else None)
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, fake)


FAULTS = {
    "the work folder": (Path, "mkdir", lambda path: "/.out-" in path),
    "results.csv": (os, "replace", lambda _, path: path.endswith("report/results.csv")),
    "a page": (Path, "write_text", lambda path, *_: path.endswith("02_use.html")),
    "exchanging the two": (places, "_exchanged", lambda *_: True),
    "moving the older report away": (Path, "rename", lambda path, to: to.endswith("previous")),
    "moving the new report in": (Path, "rename", lambda path, to: path.endswith("report")),
}


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC], ids=["EACCES", "ENOSPC"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_disk_leaves_the_older_report_as_it_was(older, folder, monkeypatch, fault, number):
    before = files(older)
    if "moving" in fault:
        monkeypatch.setattr(places, "_exchanged", lambda *_: False)
    failing(monkeypatch, *FAULTS[fault][:2], number, FAULTS[fault][2])
    said = f"could not be written to {older}: {os.strerror(number)}. The folder is unchanged."
    with pytest.raises(OutputError if number == errno.EACCES else ResourceError, match=re.escape(said)):
        build(older, folder=folder)
    monkeypatch.undo()
    assert files(older) == before
    assert [path.name for path in older.parent.iterdir()] == ["out"]


def test_the_only_copy_of_an_older_report_is_never_removed(older, folder, monkeypatch):
    before = files(older)
    monkeypatch.setattr(places, "_exchanged", lambda *_: False)
    failing(monkeypatch, Path, "rename", errno.EIO, lambda path, to: to == str(older))
    with pytest.raises(ResourceError):
        build(older, folder=folder)
    (work,) = older.parent.iterdir()
    assert files(work / "previous") == before
    monkeypatch.undo()
    places.sweep(older.parent)
    assert files(older) == before, "the next build puts it back"
    assert [path.name for path in older.parent.iterdir()] == ["out"]


# --- the numbers of one notebook ---


def test_save_writes_the_same_text_for_the_same_numbers(tmp_path):
    save(tidy(value=0.1 + 0.2, seed="3", baseline=None, better="higher"), tmp_path, "01_a")
    row = {"dataset": "small", "sanitizer": "Identity()", "seed": "3", "measure": "k", "miner": "01_load"}
    row |= {"value": "0.3", "better": "higher"}
    text = ",".join(COLUMNS) + "\n" + ",".join(row.get(name, "") for name in COLUMNS) + "\n"
    assert (tmp_path / "01_a.results.csv").read_bytes() == text.encode()
    back = report.read_results(tmp_path / "01_a.results.csv")
    assert back["parameters"][0] == ""
    assert back["value"][0] == 0.3


def test_saved_numbers_are_the_owners_alone(tmp_path):
    before = os.umask(0o022)
    try:
        save(tidy(), tmp_path, "01_a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "01_a.results.csv").stat().st_mode) == 0o600


def test_save_without_a_folder_checks_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tidy(), "", "01_a")
    with pytest.raises(ReportError, match="no rows"):
        save(tidy().iloc[:0], "", "01_a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (tidy().drop(columns="seed"), "missing columns: seed; unknown columns: none"),
        (tidy().assign(note=""), "missing columns: none; unknown columns: note"),
        (tidy(value="many"), "column 'value' must have numbers only"),
        (tidy(measure=None), "column 'measure' is empty in row 0"),
        (tidy(better="more"), "column 'better' has 'more'"),
        (pd.concat([tidy(), tidy(value=2)]), "two rows have the key .*'measure': 'k'"),
    ],
)
def test_save_refuses_tables_that_are_not_tidy(table, said, tmp_path):
    with pytest.raises(ReportError, match=said):
        save(table, tmp_path, "01_a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_save_on_a_full_disk_leaves_the_older_numbers(name, tmp_path, monkeypatch):
    save(tidy(), tmp_path, "01_a")
    before = files(tmp_path)
    failing(monkeypatch, os, name, errno.ENOSPC, lambda *_: True)
    with pytest.raises(OSError, match="No space left"):
        save(tidy(value=2), tmp_path, "01_a")
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("asked", "compared"),
    [
        ({}, True),
        ({"K": "25"}, True),
        ({"RECORDS": 500}, True),
        ({"PROFILE": "full"}, True),
        ({"WEIGHTS": "sex == Female: 10"}, True),
        ({"MINERS": "two"}, False),
        ({"TARGET": "education"}, False),
        ({"C_PERCENT": 90}, False),
        ({"C_PERCENT": 0}, True),
    ],
)
def test_only_runs_in_the_papers_setting_are_compared_with_it(asked, compared):
    """A result does not tell how much nearer was asked for: such a run must not stand beside a printed number."""
    defaults = {"K": "2", "RECORDS": 0, "C_PERCENT": 0, "PROFILE": "quick"}
    defaults |= {"MINERS": "", "TARGET": "", "WEIGHTS": "", "STORE": "../reports/store"}
    offered = {name: Parameter(default, "") for name, default in defaults.items()}
    assert report._as_published(Notebook(Path("04_attack.ipynb"), offered, asked)) is compared
