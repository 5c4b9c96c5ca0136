"""The notebooks: the real job on a sample of Adult, and a scan of all that it leaves; its pages in a browser."""

import json
from pathlib import Path

import leaks
import pytest

from privnb.evaluation import releases
from privnb.microdata.dataset import load
from privnb.reporting import report


@pytest.fixture(scope="module")
def adult(tmp_path_factory, kernel):
    """The report of a sample of Adult."""
    out = tmp_path_factory.mktemp("adult") / "report"
    report.build(out, parameters={"RECORDS": "1200", "K": "10, 50", "EPSILON": "0.5"})
    return out


EVALUATED = """\
from privnb import studies
from privnb.reporting import report
from privnb.microdata.dataset import load
from privnb.sanitizers import LaplaceNoise
asked = {{"miners": "majority, naive Bayes", "seeds": 2, "store": STORE}}
results = studies.{kind}(load("adult", records=300), [LaplaceNoise(0.5)], **asked)
report.save(results, OUT, "{name}")
"""


@pytest.fixture(scope="module")
def by_jobs(tmp_path_factory, write_notebook, kernel):
    """Two experiments as notebooks, one at a time and both at once, each with a store of its own."""
    folder = tmp_path_factory.mktemp("jobs")
    for name, kind in (("03_utility", "users"), ("04_attack", "adversaries")):
        cell = EVALUATED.format(kind=kind, name=name)
        write_notebook(folder / "notebooks", name, ("parameters", 'OUT = ""\nSTORE = ""'), cell)
    for jobs in (1, 2):
        report.build(folder / str(jobs) / "report", folder=folder / "notebooks", jobs=jobs)
    return folder


@pytest.mark.parametrize("name", ["results.csv", "ledger.csv"])
def test_neither_jobs_nor_repetition_change_a_number(by_jobs, name):
    one, both = ((by_jobs / jobs / "report" / name).read_bytes() for jobs in ("1", "2"))
    assert one == both
    assert one.count(b"\n") > 50


def test_nothing_of_adults_people_is_shown(adult):
    dataset = load("adult", records=1200)
    released = [s.sanitize(dataset, rng=1).table for s in releases.settings(k="10, 50")]
    assert leaks.scan_report(adult, original=dataset.table, released=released) == []


def test_executed_notebooks_carry_no_widgets_and_no_paths(adult):
    for path in (adult / "notebooks").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "widgets" not in json.loads(text)["metadata"]
        assert str(Path(__file__).parent.parent) not in text


def test_every_risk_has_its_baseline(adult):
    """Baseline and interval stand beside each number that says what an adversary reaches; gains are exact."""
    results = report.read(adult / "results.csv")
    risks = results[(results.better == "lower") & results.measure.str.match("anti|correct|accuracy|knowledge|unique")]
    risks = risks[(risks.miner != "average") & risks.value.notna()]
    sampled = risks[~risks.measure.str.contains("_gain")]
    assert sampled.low.notna().all()
    assert sampled.high.notna().all()
    withheld = risks.measure.str.startswith("anti")
    assert risks[~withheld].baseline.notna().all()


def test_pages_draw_without_a_network(adult, offline):
    for path in adult.glob("*.html"):
        offline.page.goto(path.as_uri())
        figures = offline.page.locator("figure.chart svg")
        assert figures.count() >= 1
        assert all(figures.nth(i).bounding_box()["height"] > 50 for i in range(figures.count()))
    assert offline.outside == []
    assert offline.errors == []
