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
from privnb.evaluation.results import COLUMNS, NUMBER_COLUMNS
from privnb.explorer import controls, panels
from privnb.explorer.figures import format_value, list_numbers, make_figure
from privnb.explorer.html import render_template
from privnb.explorer.readings import count_setting, mine_setting
from privnb.explorer.setting import LETTERS, Setting, check_setting, inactive_controls, list_choices
from privnb.explorer.sweeps import explain_measures
from privnb.measures import measure_facts

SETTINGS = [
    Setting(k=5), Setting(k=5, t=0.5, l=1.2), Setting("LocalRecoding", 5), Setting("Anatomy", l=2),
    Setting("Bucketize", 5), Setting("LaplaceNoise"), Setting("RandomizedResponse"), Setting("Suppress"),
]  # fmt: skip


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda setting: f"{setting.sanitizer}, {setting.bounds}")
def reading(request, clinic):
    return count_setting(clinic, request.param)


def text(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(html))).split())


def drawn(reading):
    return (
        panels.render_published(reading)
        + panels.render_kept(reading, None, "", "")
        + panels.render_gained(reading, None, "", "")
    )


def row(**columns):
    given = dict.fromkeys(COLUMNS, "") | dict.fromkeys(NUMBER_COLUMNS, np.nan)
    return next(pd.DataFrame([given | columns]).itertuples())


def test_every_number_stands_with_unit_baseline_direction_and_meaning(reading):
    html = drawn(reading)
    items = re.findall(r"<li data-key=.*?</li>", html)
    assert len(items) == len(reading.results), "each number once"
    told = [text(item) for item in items]
    for each in reading.results.itertuples():
        of = measure_facts(each.measure)
        key = f'"{each.measure} {each.scenario} {each.control} {each.miner} {each.target}"'
        (said,) = [said for said, item in zip(told, items, strict=True) if key in item]
        assert of.title in said
        assert of.sentence in said
        assert format_value(each) in said
        assert (f"{each.better} is better" in said) == bool(each.better)
        assert pd.isna(each.baseline) or of.written(each.baseline) in said
    assert "nan" not in text(html).split()


def test_a_level_that_is_asked_for_is_said_to_be_kept_or_not(clinic):
    asked = count_setting(clinic, Setting(k=5, t=0.5))
    assert "requested: 5 people, kept ✓" in text(panels.render_published(asked))
    assert panels.SEVERAL_ROWS not in text(panels.render_published(asked))
    assert panels.SEVERAL_ROWS in text(panels.render_published(replace(asked, has_several_rows=True)))
    levels = asked.results.assign(value=asked.results.value.where(asked.results.measure != "t_achieved", 0.9))
    assert "requested: 0.5, not kept ✗" in text(panels.render_published(replace(asked, results=levels)))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"measure": "suppressed_records", "low": 1, "high": 9}, "fewer than 10 people"),
        ({"measure": "privacy_loss"}, "withheld"),
        ({"measure": "delta_achieved", "value": np.inf}, "unbounded"),
        ({"measure": "good_utility", "value": 1234.0, "low": 1200.0, "high": 1300.0}, "95% CI: 1,200 to 1,300 people"),
        ({"measure": "accuracy_gain", "value": 0.02, "low": 0.01, "high": np.inf}, "95% CI: +1% to more"),
    ],
)
def test_withheld_unbounded_and_random_numbers(columns, said):
    figure = make_figure(row(**columns))
    assert said in " ".join([figure.value, *figure.context])


def test_what_cannot_be_reached_says_why_and_shows_no_number(clinic):
    reading = count_setting(clinic, Setting(k=500))
    assert reading.refused
    html = drawn(reading)
    assert reading.refused in unescape(str(html))
    assert "<li" not in html


def test_what_a_table_holds_is_text_and_no_html(clinic):
    reading = replace(count_setting(clinic, Setting(k=5)), note="<script>alert(1)</script>")
    assert "<script" not in drawn(reading)
    assert "&lt;script" in drawn(reading)


@pytest.mark.slow
def test_miners_stand_between_the_ends_and_beside_their_controls(clinic):
    setting = Setting(k=20, miner="decision tree")
    reading, found = count_setting(clinic, setting), mine_setting(clinic, setting)
    kept, gained = (text(panel(reading, found, "", "")) for panel in (panels.render_kept, panels.render_gained))
    right = found[found.measure == "good_utility"].set_index("sanitizer").value
    for release, sanitizer in (
        ("the original", "Identity"),
        ("this release", "Mondrian"),
        ("the trivial release", "Suppress"),
    ):
        assert re.search(rf"Correct predictions from {release}.{{0,300}}? {right[sanitizer]:,.0f} people", kept)
    assert f"{right.Identity - right.Mondrian:,.0f} fewer people than from the original" in kept
    assert "with randomly permuted values" in gained
    assert "at work" not in kept + gained


@pytest.mark.slow
def test_who_is_hit_most_comes_first_and_few_are_not_told(clinic):
    setting = Setting(k=20, miner="decision tree")
    reading, found = count_setting(clinic, setting), mine_setting(clinic, setting)
    share = {"measure": "nearer_share", "miner": "worst", "sanitizer": "Mondrian", "low": 0.1, "high": 0.9}
    groups = [
        {"group": "sex F", "value": 0.2},
        {"group": "sex M", "value": 0.4, "baseline": 0.3},
        {"group": "age 20"},
    ]
    rows = pd.DataFrame([share | {"value": np.nan, "baseline": np.nan} | group for group in groups])
    rest = found[found.measure != "nearer_share"]
    gained = text(panels.render_gained(reading, pd.concat([rest, rows]), "", ""))
    assert "sex M 40.0% 10.0% to 90.0% 30.0% sex F 20.0% 10.0% to 90.0% withheld" in gained
    assert "age 20" not in gained


@pytest.mark.slow
def test_what_is_withheld_is_no_number(clinic):
    reading = count_setting(clinic, Setting(k=5))
    few = reading.results.assign(value=reading.results.value.mask(reading.results.measure == "accuracy_gain"))
    said = text(panels.render_gained(replace(reading, results=few), None, "", ""))
    assert "nan%" not in said
    assert "The gains are withheld" in said, "guessed or not"
    learned = mine_setting(clinic, Setting(k=5)).assign(value=np.nan)
    assert "nan" not in text(panels.render_kept(reading, learned, "", ""))


def test_without_a_miner_it_says_how_that_is(clinic):
    reading = count_setting(clinic, Setting(k=5))
    assert "at work" in panels.render_kept(reading, None, "", "")
    assert "Miners do not read buckets" in panels.render_kept(reading, None, "Miners do not read buckets.", "")
    assert 'role="alert"' in panels.render_gained(reading, None, "", "It ran out of memory.")


def test_machines_read_the_setting_and_its_numbers(reading):
    marks = panels.machine_values(reading.setting, reading, None)
    html = render_template("state", status="", marks=marks, busy=False, doing="", fraction=None, fault="", again=False)
    status = re.search(r'<span class="privnb-status".*?>', html)[0]
    found = {name: unescape(told) for name, told in re.findall(r'data-(\w+)="([^"]*)"', status)}
    assert json.loads(found.pop("setting")) == asdict(reading.setting)
    names = {r.measure: r.value for r in reversed([*reading.results.itertuples()])}  # of several targets the first
    assert {name: float(told) for name, told in found.items()} == pytest.approx(names, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.sanitizer}, {setting.bounds}")
def test_panels_and_controls_show_no_record(setting, clinic, tmp_path):
    reading = count_setting(clinic, setting)
    page = drawn(reading) + controls.render_controls(
        reading.setting, list_choices(clinic), inactive_controls(setting, clinic)
    )
    (tmp_path / "page.html").write_text(str(page), encoding="utf-8")
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    shown = [] if isinstance(reading.rows, str) else [reading.rows]
    assert scan(tmp_path, original=clinic.table, released=shown, canaries=canaries) == []


# --- the controls ---


def test_every_control_has_a_name_and_its_value_in_words(clinic):
    setting = check_setting(Setting(k=7, t=0.2), clinic)
    html = str(controls.render_controls(setting, list_choices(clinic), {}))
    for letter in LETTERS:
        assert f'<label for="privnb-{letter}">{letter}</label>' in html
        assert f'id="privnb-{letter}" name="{letter}"' in html
    assert 'aria-valuetext="7 people"' in html, "a step that only the notebook asks for"
    assert 'aria-valuetext="0.2"' in html
    assert html.count("off</output>") == 2
    assert html.count("<select") == len(re.findall(r"<span>[^<]+</span><select", html))


@pytest.mark.parametrize(("sanitizer", "per"), [("LaplaceNoise", "attribute"), ("GammaDiagonal", "record")])
def test_epsilon_says_what_it_is_spent_on(sanitizer, per, clinic):
    html = str(
        controls.render_controls(check_setting(Setting(sanitizer, epsilon=0.5), clinic), list_choices(clinic), {})
    )
    assert f'aria-valuetext="0.5 per {per}"' in html


def test_a_control_that_is_off_says_why(clinic):
    setting = check_setting(Setting("LaplaceNoise"), clinic)
    off = inactive_controls(setting, clinic)
    html = unescape(str(controls.render_controls(setting, list_choices(clinic), off)))
    assert {"k", "l", "t", "delta"} <= set(off)
    for name, reason in off.items():
        assert f'title="{reason}"' in html
        assert f"<b>{name}</b>: {reason}" in html, "a tooltip is not for everybody"
    assert html.count(" disabled") == len(off) + 1, "and the box of what nobody should learn"


def test_buttons_that_do_nothing_now_stay_in_reach():
    html = render_template("actions", letters=["k"], letter="k", pinned=False, undo="")
    undo = re.search(r'<button type="button" name="undo".*?>', html)[0]
    assert 'title="There is no change to undo yet."' in undo
    assert 'aria-disabled="true"' in undo
    assert " disabled" not in html.replace("aria-disabled", "")


# --- the report's table ---


def test_a_name_in_the_reports_table_is_neither_markup_nor_a_formula():
    name = "R&amp;D <b>$x$</b> and $y$"
    told = tidied.build_row("attribute_vulnerability", 0.5, dataset="any", sanitizer="LaplaceNoise", target=name)
    page = list_numbers(tidied.tidy([told]))._repr_html_()
    assert escape(name) in page
    assert "<b>" not in page
    assert "mathjax_ignore" in page
    assert "mathjax_ignore" in explain_measures()._repr_html_()


def test_the_report_lists_the_same_numbers(clinic):
    setting = Setting(k=5)
    results = count_setting(clinic, setting).results
    table = list_numbers(results).table
    assert table.value.tolist() == [format_value(each) for each in results.itertuples()]
    assert set(table.release) == {"Mondrian, k = 5"}
    assert (table["meaning"] != "").all()


def test_each_control_of_a_miner_has_its_name():
    given = dict.fromkeys(COLUMNS, "") | dict.fromkeys(NUMBER_COLUMNS, np.nan)
    given |= {"sanitizer": "Mondrian", "measure": "anti_utility", "scenario": "A", "value": 28.0, "better": "lower"}
    said = [given | {"miner": "naive Bayes"}, *(given | {"control": each} for each in ("ZeroR", "permuted"))]
    names = [f"Anti-utility, scenario A, {each}" for each in ("naive Bayes", "ZeroR", "permuted")]
    assert list_numbers(pd.DataFrame(said, columns=COLUMNS)).table["number"].tolist() == names
