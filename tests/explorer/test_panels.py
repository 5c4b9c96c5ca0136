"""What the panels say, read back from their HTML, beside the numbers that they are made of."""

import json
import re
from dataclasses import asdict, replace
from html import escape, unescape

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.evaluation import results as tidied
from privnb.evaluation.results import COLUMNS, NUMBERS
from privnb.explorer import controls, panels
from privnb.explorer.figures import listed, number, value
from privnb.explorer.html import render
from privnb.explorer.numbers import counted, mined
from privnb.explorer.setting import LETTERS, Setting, checked, choices, idle
from privnb.explorer.sweeps import meanings
from privnb.measures import facts

SETTINGS = [
    Setting(k=5), Setting(k=5, t=0.5, l=1.2), Setting("LocalRecoding", 5), Setting("Anatomy", l=2),
    Setting("Bucketize", 5), Setting("LaplaceNoise"), Setting("RandomizedResponse"), Setting("Suppress"),
]  # fmt: skip


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda setting: f"{setting.sanitizer}, {setting.asked}")
def reading(request, clinic):
    return counted(clinic, request.param)


def text(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(html))).split())


def drawn(reading):
    return panels.published(reading) + panels.kept(reading, None, "", "") + panels.gained(reading, None, "", "")


def row(**columns):
    given = dict.fromkeys(COLUMNS, "") | dict.fromkeys(NUMBERS, np.nan)
    return next(pd.DataFrame([given | columns]).itertuples())


def test_every_number_stands_with_unit_baseline_direction_and_meaning(reading):
    html = drawn(reading)
    items = re.findall(r"<li data-key=.*?</li>", html)
    assert len(items) == len(reading.results), "each number once"
    told = [text(item) for item in items]
    for each in reading.results.itertuples():
        of = facts(each.measure)
        key = f'"{each.measure} {each.scenario} {each.control} {each.miner} {each.target}"'
        (said,) = [said for said, item in zip(told, items, strict=True) if key in item]
        assert of.title in said
        assert of.sentence in said
        assert value(each) in said
        assert (f"{each.better} is better" in said) == bool(each.better)
        assert pd.isna(each.baseline) or of.written(each.baseline) in said
    assert "nan" not in text(html).split()


def test_a_level_that_is_asked_for_is_said_to_be_kept_or_not(clinic):
    asked = counted(clinic, Setting(k=5, t=0.5))
    assert "asked: 5 people, kept ✓" in text(panels.published(asked))
    levels = asked.results.assign(value=asked.results.value.where(asked.results.measure != "t_achieved", 0.9))
    assert "asked: 0.5, not kept ✗" in text(panels.published(replace(asked, results=levels)))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"measure": "suppressed_records", "low": 1, "high": 9}, "fewer than 10 people"),
        ({"measure": "privacy_loss"}, "withheld"),
        ({"measure": "delta_achieved", "value": np.inf}, "unbounded"),
        ({"measure": "good_utility", "value": 1234.0, "low": 1200.0, "high": 1300.0}, "95%: 1,200 to 1,300 people"),
        ({"measure": "accuracy_gain", "value": 0.02, "low": 0.01, "high": np.inf}, "95%: +1% to more"),
    ],
)
def test_withheld_unbounded_and_random_numbers(columns, said):
    figure = number(row(**columns))
    assert said in " ".join([figure.value, *figure.beside])


def test_what_cannot_be_reached_says_why_and_shows_no_number(clinic):
    reading = counted(clinic, Setting(k=500))
    assert reading.refused
    html = drawn(reading)
    assert reading.refused in unescape(str(html))
    assert "<li" not in html


def test_what_a_table_holds_is_text_and_no_html(clinic):
    reading = replace(counted(clinic, Setting(k=5)), note="<script>alert(1)</script>")
    assert "<script" not in drawn(reading)
    assert "&lt;script" in drawn(reading)


@pytest.mark.slow
def test_miners_stand_between_the_ends_and_beside_their_controls(clinic):
    setting = Setting(k=20, miner="decision tree")
    reading, found = counted(clinic, setting), mined(clinic, setting)
    kept, gained = (text(panel(reading, found, "", "")) for panel in (panels.kept, panels.gained))
    right = found[found.measure == "good_utility"].set_index("sanitizer").value
    for release, sanitizer in (
        ("the original", "Identity"),
        ("this release", "Mondrian"),
        ("the trivial release", "Suppress"),
    ):
        assert re.search(rf"Guessed right from {release}.{{0,300}}? {right[sanitizer]:,.0f} people", kept)
    assert f"{abs(right.Mondrian - right.Identity):,.0f} people " in kept
    assert "what guesses at random reach" in gained
    assert "at work" not in kept + gained


@pytest.mark.slow
def test_who_is_hit_most_comes_first_and_few_are_not_told(clinic):
    setting = Setting(k=20, miner="decision tree")
    reading, found = counted(clinic, setting), mined(clinic, setting)
    share = {"measure": "nearer_share", "miner": "worst", "sanitizer": "Mondrian", "low": 0.1, "high": 0.9}
    groups = [
        {"group": "sex F", "value": 0.2},
        {"group": "sex M", "value": 0.4, "baseline": 0.3},
        {"group": "age 20"},
    ]
    rows = pd.DataFrame([share | {"value": np.nan, "baseline": np.nan} | group for group in groups])
    rest = found[found.measure != "nearer_share"]
    gained = text(panels.gained(reading, pd.concat([rest, rows]), "", ""))
    assert "sex M 40.0% 10.0% to 90.0% 30.0% sex F 20.0% 10.0% to 90.0% withheld" in gained
    assert "age 20" not in gained


@pytest.mark.slow
def test_what_is_withheld_is_no_number(clinic):
    reading = counted(clinic, Setting(k=5))
    few = reading.results.assign(value=reading.results.value.mask(reading.results.measure == "accuracy_gain"))
    said = text(panels.gained(replace(reading, results=few), None, "", ""))
    assert "nan%" not in said
    assert "The gains are withheld: they would tell of few people." in said, "guessed or not"
    learned = mined(clinic, Setting(k=5)).assign(value=np.nan)
    assert "nan" not in text(panels.kept(reading, learned, "", ""))


def test_without_a_miner_it_says_how_that_is(clinic):
    reading = counted(clinic, Setting(k=5))
    assert "at work" in panels.kept(reading, None, "", "")
    assert "Miners do not read buckets" in panels.kept(reading, None, "Miners do not read buckets.", "")
    assert 'role="alert"' in panels.gained(reading, None, "", "It ran out of memory.")


def test_machines_read_the_setting_and_its_numbers(reading):
    marks = panels.marks(reading.setting, reading, None)
    html = render("state", status="", marks=marks, busy=False, doing="", fraction=None, fault="", again=False)
    status = re.search(r'<span class="privnb-status".*?>', html)[0]
    found = {name: unescape(told) for name, told in re.findall(r'data-(\w+)="([^"]*)"', status)}
    assert json.loads(found.pop("setting")) == asdict(reading.setting)
    names = {r.measure: r.value for r in reversed([*reading.results.itertuples()])}  # of several targets the first
    assert {name: float(told) for name, told in found.items()} == pytest.approx(names, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.sanitizer}, {setting.asked}")
def test_panels_and_controls_show_no_record(setting, clinic, tmp_path):
    reading = counted(clinic, setting)
    page = drawn(reading) + controls.form(reading.setting, choices(clinic), idle(setting, clinic))
    (tmp_path / "page.html").write_text(str(page), encoding="utf-8")
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    shown = [] if isinstance(reading.rows, str) else [reading.rows]
    assert scan(tmp_path, original=clinic.table, released=shown, canaries=canaries) == []


# --- the controls ---


def test_every_control_has_a_name_and_its_value_in_words(clinic):
    setting = checked(Setting(k=7, t=0.2), clinic)
    html = str(controls.form(setting, choices(clinic), {}))
    for letter in LETTERS:
        assert f'<label for="privnb-{letter}">{letter}</label>' in html
        assert f'id="privnb-{letter}" name="{letter}"' in html
    assert 'aria-valuetext="7 people"' in html, "a step that only the notebook asks for"
    assert 'aria-valuetext="0.2"' in html
    assert html.count("not asked for</output>") == 2
    assert html.count("<select") == len(re.findall(r"<span>[^<]+</span><select", html))


@pytest.mark.parametrize(("sanitizer", "per"), [("LaplaceNoise", "attribute"), ("GammaDiagonal", "record")])
def test_epsilon_says_what_it_is_spent_on(sanitizer, per, clinic):
    html = str(controls.form(checked(Setting(sanitizer, epsilon=0.5), clinic), choices(clinic), {}))
    assert f'aria-valuetext="0.5 per {per}"' in html


def test_a_control_that_is_off_says_why(clinic):
    setting = checked(Setting("LaplaceNoise"), clinic)
    off = idle(setting, clinic)
    html = unescape(str(controls.form(setting, choices(clinic), off)))
    assert {"k", "l", "t", "delta"} <= set(off)
    for name, reason in off.items():
        assert f'title="{reason}"' in html
        assert f"<b>{name}</b>: {reason}" in html, "a tooltip is not for everybody"
    assert html.count(" disabled") == len(off) + 1, "and the box of what nobody should learn"


def test_buttons_that_do_nothing_now_stay_in_reach():
    html = render("actions", letters=["k"], letter="k", pinned=False, undo="")
    undo = re.search(r'<button type="button" name="undo".*?>', html)[0]
    assert 'title="Nothing was changed yet."' in undo
    assert 'aria-disabled="true"' in undo
    assert " disabled" not in html.replace("aria-disabled", "")


# --- the report's table ---


def test_a_name_in_the_reports_table_is_neither_markup_nor_a_formula():
    name = "R&amp;D <b>$x$</b> and $y$"
    told = tidied.row("attribute_vulnerability", 0.5, dataset="any", sanitizer="LaplaceNoise", target=name)
    page = listed(tidied.tidy([told]))._repr_html_()
    assert escape(name) in page
    assert "<b>" not in page
    assert "mathjax_ignore" in page
    assert "mathjax_ignore" in meanings()._repr_html_()


def test_the_report_lists_the_same_numbers(clinic):
    setting = Setting(k=5)
    results = counted(clinic, setting).results
    table = listed(results).table
    assert table.value.tolist() == [value(each) for each in results.itertuples()]
    assert set(table.release) == {"Mondrian, k = 5"}
    assert (table["what it means"] != "").all()


def test_each_control_of_a_miner_has_its_name():
    given = dict.fromkeys(COLUMNS, "") | dict.fromkeys(NUMBERS, np.nan)
    given |= {"sanitizer": "Mondrian", "measure": "anti_utility", "scenario": "A", "value": 28.0, "better": "lower"}
    said = [given | {"miner": "naive Bayes"}, *(given | {"control": each} for each in ("ZeroR", "permuted"))]
    names = [f"Anti-utility, scenario A, {each}" for each in ("naive Bayes", "ZeroR", "permuted")]
    assert listed(pd.DataFrame(said, columns=COLUMNS)).table["number"].tolist() == names
