"""The notebooks on a sample of Adult, in one process: a scan of all that they leave, and their pages in a browser."""

import answers
import one_process
import pytest

from privnb import studies
from privnb.microdata import leaks
from privnb.microdata.dataset import load
from privnb.reporting import report


@pytest.fixture(scope="module")
def adult(tmp_path_factory, kernel):
    """The report of a sample of Adult."""
    few = {"K": "10, 50", "EPSILON": "0.5", "T": "0.4", "DELTA": "3", "SEEDS": 2}  # what is tried is a page
    asked = few | {"RECORDS": 800, "QUERIES": 100, "MADE_UP": 2000, "MINERS": "majority, decision stump"}
    return one_process.build(tmp_path_factory.mktemp("adult") / "report", parameters=asked)


def test_nothing_of_adults_people_is_shown(adult):
    dataset = load("adult", records=800)
    released = [s.sanitize(dataset, rng=1).table for s in studies.sramka_sanitizers(k="10, 50")]
    assert leaks.scan_report(adult, original=dataset.table, released=released) == []


def test_every_risk_has_its_baseline(adult):
    """Baseline and interval stand beside each number that says what an adversary reaches; gains are exact."""
    results = report.read(adult / "results.csv")
    risks = results[
        (results.better == "lower") & results.measure.str.match("anti|reidentification|accuracy|knowledge|unique")
    ]
    risks = risks[(risks.miner != "average") & risks.value.notna()]
    sampled = risks[~risks.measure.str.contains("_gain")]
    assert sampled.low.notna().all()
    assert sampled.high.notna().all()
    withheld = risks.measure.str.startswith("anti")
    assert risks[~withheld].baseline.notna().all()


def test_each_page_answers_first_with_a_number_in_forty_words(adult):
    answers.check(adult)


def test_the_index_is_two_screens(adult, offline):
    offline.page.set_viewport_size({"width": 1280, "height": 900})
    offline.page.goto((adult / "index.html").as_uri())
    more = max(0, len([*(adult / "notebooks").iterdir()]) - 13)  # pages since the limits were set: a sentence each
    assert offline.page.evaluate("document.documentElement.scrollHeight") <= 1800 + 60 * more
    assert len(offline.page.locator("body").inner_text().split()) <= 900 + 30 * more
    sentences = offline.page.locator(".contents p").all_inner_texts()
    assert len(sentences) == len([*(adult / "notebooks").iterdir()])
    assert max(map(answers.words, sentences)) <= 25
    assert not any("..." in sentence for sentence in sentences)
    offline.page.emulate_media(media="print")
    offline.page.set_viewport_size({"width": 703, "height": 900})
    assert offline.page.locator(".decision").bounding_box()["height"] <= 1032, "A4 less its margins"


def test_pages_draw_without_a_network_and_say_their_answer_on_the_first_screen(adult, offline):
    offline.page.set_viewport_size({"width": 1280, "height": 900})
    for name in ["index", *(path.stem for path in (adult / "notebooks").iterdir())]:
        offline.page.goto((adult / f"{name}.html").as_uri())
        figures = offline.page.locator("figure.chart svg:visible")
        assert figures.count() >= 1
        assert all(figures.nth(i).bounding_box()["height"] > 50 for i in range(figures.count()))
        first = offline.page.locator(".verdict" if name == "index" else ".lead").bounding_box()
        assert first["y"] + first["height"] < 900, name
    assert offline.outside == []
    assert offline.errors == []
