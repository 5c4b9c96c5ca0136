"""The page of the ledger: each table as its paper prints it, measured beside printed, its groups and its filter."""

import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest

from privnb import papers
from privnb.evaluation.results import COLUMNS
from privnb.papers import full_profile, ledger, ledger_page
from privnb.papers.ledger_page import Ledger
from privnb.reporting import pages, rendering

ROOT = Path(__file__).parent.parent.parent
CELL = {  # one per status of a run: a cell of a made-up table
    "exact": ("0.10", 0.1, ""),
    "within": ("0.10", 0.11, ""),
    "differs": ("0", 0.0004, "because"),
    "not reproducible": ("0.10", float("nan"), "no <reading>; printed twice"),
    "withheld": ("0.10", float("nan"), ""),
    "not run": ("0.10", float("nan"), "needs hours"),
    "out of scope": ("1234", float("nan"), "no reading; nothing to measure"),
}


def cells(**others):
    """A ledger with one row a status: the columns k = 1 to 7 of one table's one line."""
    rows = [
        {
            "source": "sramka-2010", "item": f"table9/{place}", "block": "Table 9: made up", "row": "NaiveBayes",
            "column": f"k = {place}", "reading": "", "published": published, "unit": "", "measured": value,
            "difference": value - float(published), "tolerance": 0.02, "status": status, "note": note,
        } | others
        for place, (status, (published, value, note)) in enumerate(CELL.items(), 1)
    ]  # fmt: skip
    return pd.DataFrame(rows).reindex(columns=ledger.COLUMNS)


def shipped(**row):
    known = {"source": "sramka-2010", "item": "table9/6", "measured": 0.1, "difference": 0.0, "status": "exact"}
    known |= {"note": "the mean of 20 seeds", "date": "2026-01-02", "commit": "0123456789ab"}
    return pd.DataFrame([known | row]).reindex(columns=[*full_profile.NAME, *full_profile.FOUND, *full_profile.WHEN])


def page(compared, full=None):
    return Ledger(compared).page(rendering.templates(), shipped().head(0) if full is None else full)


def words(html):
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split())


@pytest.mark.slow
def test_a_table_is_laid_out_as_its_paper_prints_it():
    compared = ledger.compare_with_published(pd.DataFrame(columns=COLUMNS))
    html = page(compared)
    table = html[html.index("Table 1: good utility") : html.index("Table 2: anti-utility")]
    heads = [words(cell) for cell in re.findall(r"<th class=\"number\" scope=\"col\">(.*?)</th>", table)]
    assert heads == ["original"] + [f"k = {k}" for k in (2, 10, 50, 100)] + [
        f"epsilon = {epsilon}" for epsilon in (0.5, 0.1, 0.05, 0.01)
    ]
    lines = re.findall(r'<tr class="printed"><th scope="row">(.*?)</th>(.*?)</tr>', table)
    assert [name for name, _ in lines] == ["NaiveBayes", "J48 (C4.5)", "RandomForest", "Utility decline"]
    printed = re.findall(r">([^<]*)</td>", lines[0][1])
    assert printed == "36,972 36,642 36,285 35,900 35,242 36,279 36,356 36,350 36,320".split()
    readings = re.findall(r'<tr class="measured"><th scope="row">(.*?)</th>', table)
    assert readings == ["measured", "education by taxonomy", "Weka"] * 4
    assert len(re.findall(r"<td class=\"[^\"]*\bcell\b", html)) == len(compared)


def test_a_cell_shows_the_measured_number_to_the_printed_digits_and_more_where_they_would_hide_a_difference():
    found = re.findall(r'<td class="number cell ([\w-]+) [\w-]+">([^<]*) <span', page(cells()))
    assert [(status, number.strip()) for status, number in found] == [
        ("exact", "0.10"),
        ("within", "0.11"),
        ("differs", "0.0004"),
        *((status.replace(" ", "-"), "") for status in list(CELL)[3:]),
    ]


def test_groups_and_statuses_are_counted_and_can_be_chosen():
    html = page(cells())
    said = words(html)
    assert (
        "This report measures 4 of 7 published numbers, in 4 readings: 1 exact, 1 within, 1 differs, 1 withheld."
        in said
    )
    assert "This run left out 1 reading. A report of all notebooks measures these 1, unless a note states" in said
    assert "2 readings are out of reach, for the reasons in the notes." in said
    choices = set(re.findall(r'id="show-([\w-]+)"', html)) - {"all"}
    assert choices == {re.sub(" ", "-", name) for name in [*CELL, *ledger_page.GROUPS]} - {"measured-by-a-longer-run"}
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    for name in [*CELL, *ledger_page.GROUPS]:  # each choice has its rule, or it would show everything
        assert f"main:has(#show-{name.replace(' ', '-')}:checked) td.cell:not(.{name.replace(' ', '-')})" in style
    meanings = re.findall(r"<dt><span class=\"status [^>]*>([^<]*)</span></dt><dd>[^<]+</dd>", html)
    assert set(meanings) == set(ledger.STATUSES)
    judged = dict(re.findall(r'status ([a-z-]+)">[^<]*</span> <span class="aside">(±[^<]*)</span>', html))
    assert judged == {"within": "±0.02", "differs": "±0.02"}


def test_readings_that_need_weka_name_what_to_install():
    said = words(page(pd.concat([cells(), cells(reading="Weka", note=ledger.NEEDS_WEKA)])))
    assert "This run left out 2 readings. 1 of them needs the original Weka: with Weka 3.6 installed, privnb" in said
    assert "measures it in some hours. The page Reproduce a paper of the documentation" in said
    assert "measures the other 1, unless" in said


def test_each_published_number_is_counted_once_by_its_best_reading():
    weka = cells(reading="Weka").assign(status=["withheld", "exact", "within", "not run", "differs", "exact", "within"])
    html = page(pd.concat([cells(), weka]))
    best = words(re.search(r'<table class="list best">.*?</table>', html, re.DOTALL)[0])
    assert "counts once, by its best reading" in best
    assert best.endswith("exact 3 within 2 differs 1 not reproducible 1 all 7")


@pytest.mark.parametrize(
    ("published", "value", "tolerance", "status", "shown"),
    [
        ("1.24", 0.6197564, 0.62, "differs", "0.6198"),  # 0.620 would lie within the tolerance
        ("1.24", 1.8550, 0.62, "within", "1.85"),
        ("0.10", 0.1204, 0.02, "differs", "0.1204"),
        ("0.10", 0.0796, 0.02, "not reproducible", "0.08"),
    ],
)
def test_the_shown_digits_agree_with_the_status(published, value, tolerance, status, shown):
    row = {"published": published, "measured": value, "tolerance": tolerance, "status": status, "unit": ""}
    assert ledger_page._measured(row) == shown


def test_a_number_of_several_readings_is_printed_once_and_what_no_reading_gives_may_be_measured():
    again = cells(row="J48").assign(measured=0.3, status="not reproducible")
    compared = pd.concat([cells(), cells(reading="Weka").iloc[:2], again.iloc[:1]])
    said = words(page(compared))
    assert "This report measures 5 of 8 published numbers, in 7 readings: 2 exact, 2 within, 1 differs, 1 not" in said
    assert "2 readings are out of reach, for the reasons in the notes." in said


def test_what_the_full_profile_measured_stands_where_this_run_measured_nothing():
    html = page(cells(), shipped())
    dated = "A longer run measured 1 other reading (2026-01-02, commit 0123456789ab ). 2 readings are out of reach"
    assert dated in words(html)
    assert "This run left out" not in words(html)
    assert "k = 6: the mean of 20 seeds" in words(html)
    assert "longer run</span>" in page(cells(), shipped(item="table9/4"))  # beside a number that is out of reach
    kept = page(cells(), shipped(item="table9/2", measured=0.5))
    assert "longer run</span>" not in kept
    assert "0.5" not in words(kept[kept.index("<main") :]).replace("0.50", "")


def test_a_note_stands_once_and_says_whose_it_is():
    html = page(cells())
    notes = [words(note) for note in re.findall(r"<li>(.*?)</li>", html, re.DOTALL)]
    assert notes == [
        "k = 3: because",
        "k = 4: no &lt;reading&gt;; printed twice",
        "k = 6: needs hours",
        "k = 7: no reading; nothing to measure",
    ]
    every = page(cells(note="of all"))
    assert [words(note) for note in re.findall(r"<li>(.*?)</li>", every, re.DOTALL)] == ["of all"]


def test_notes_of_cells_that_are_no_whole_lines_name_each_cell():
    rows = pd.DataFrame(
        [{"row": row, "column": column, "reading": ""} for row in "ab" for column in ("k = 1", "k = 2")]
    )
    assert ledger_page._where(rows.to_dict("records")[:2], rows) == "a"
    assert ledger_page._where(rows.to_dict("records")[:3], rows) == "a at k = 1, 2; b at k = 1"
    assert ledger_page._where(rows.to_dict("records")[::2], rows) == "k = 1"


def test_no_text_of_the_ledger_is_markup():
    html = page(cells(block="<b>Table</b>", row="<i>x</i>", note="<script>1</script>"))
    assert not re.search(r"<(b|i|script)[ >]", html)


@pytest.mark.slow
def test_a_table_of_which_nothing_can_be_measured_stands_last_in_its_paper():
    compared = ledger.compare_with_published(pd.DataFrame(columns=COLUMNS))
    titles = [words(title) for title in re.findall(r"<h3 id=[^>]*>(.*?)</h3>", page(compared))]
    assert titles.index("Example 9.8: the score of disclosing a value") > titles.index(
        "Figure 5.11: the specialized tables"
    )


def test_the_notebook_that_measured_a_table_stands_below_it():
    compared = cells()
    assert "Measured in" not in words(page(compared))
    html = page(compared.assign(notebook=["", *["04_attack"] * (len(compared) - 1)]))
    assert "Measured in 04_attack . To measure these numbers again: privnb report --notebook 04_attack" in words(html)
    assert 'href="04_attack.html"' in html


def test_a_page_says_what_it_measured_of_which_table_and_where_each_number_stands():
    compared = cells(block="Table 9: <made> up").assign(notebook=["04_attack", "", *["04_attack"] * 2, "", "", ""])
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Who?")]))
    facts = {"values": {}, "parameters": {}, "path": None, "says": lambda key, default: default}
    chosen = [SimpleNamespace(name=name, **facts) for name in ("03_utility", "04_attack")]
    files = pages.make(chosen, {each.name: text for each in chosen}, Ledger(compared))
    assert "Table 9" not in words(files["03_utility.html"])
    said = words(files["04_attack.html"])
    assert "<h1>Published and measured numbers</h1>" in files["ledger.html"]
    assert "Table 9: &lt;made&gt; up (Sramka et al. 2010), measured here: 1 exact, 1 off by more" in said
    assert "than the tolerance, 1 not reproducible." in said
    (place,) = re.findall('href="ledger.html#([^"]*)"', files["04_attack.html"])
    assert f'<h3 id="{place}">' in files["ledger.html"]


@pytest.mark.slow
@pytest.mark.parametrize("measured", [True, False])
def test_a_report_has_the_page_if_it_measured_a_printed_number(measured):
    results = papers.measure_hypertension() if measured else pd.DataFrame(columns=COLUMNS)
    files = pages.make([], {}, Ledger(ledger.compare_with_published(results)))
    assert ("ledger.html" in files) is measured
    assert ('href="ledger.html"' in files["index.html"]) is measured
    if measured:
        assert "This report measures 37 of 347 published numbers, in 37 readings: 37 exact." in words(
            files["ledger.html"]
        )
        assert "<script" not in files["ledger.html"]


def test_the_guide_lists_each_table_with_measurable_numbers():
    guide = (ROOT / "docs" / "how-to" / "reproduce-a-paper.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .* \d{4} \|.*$", guide, re.MULTILINE)]
    listed = {(source[-4:] + source[:2], title) for source, _, titles in lines for title in titles.split("; ")}
    printed = ledger.read_published()
    printed = printed[(printed.dataset != "") & (printed.obstacle == "")]
    measurable = {
        (source[-4:] + ledger_page.PAPERS[source][:2], title)
        for source, title in zip(printed.source, printed.block, strict=True)
    }
    assert listed == measurable
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {name.strip("`") for _, name, _ in lines} <= notebooks


def test_the_link_to_the_content_of_each_page_has_a_target():
    """Each template that extends the frame of pages has an element for `Skip to the content`."""
    found = [path for path in (ROOT / "privnb").rglob("*.html.j2") if '"base.html.j2"' in path.read_text()]
    assert found
    assert [path.name for path in found if 'id="content"' not in path.read_text()] == []
