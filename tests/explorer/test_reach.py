"""The steps of sliders that are said to be out of reach: there is no release for any of them."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from support import person_key
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.explorer import controls
from privnb.explorer.reach import count_reachable
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import STEPS, Setting, check_setting, list_choices
from privnb.sanitizers import catalogue


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


def test_l_ends_at_the_level_of_the_whole_table_and_k_at_its_people(clinic):
    reach = count_reachable(clinic, Setting())
    most = 300 / clinic.table.diagnosis.value_counts().max()
    assert STEPS["l"][reach["l"] - 1] <= most < STEPS["l"][reach["l"]]
    assert STEPS["k"][reach["k"] - 1] <= 300 < STEPS["k"][reach["k"]]
    assert reach["t"] == len(STEPS["t"])
    assert reach["delta"] == len(STEPS["delta"])


KINDS = [name for name, kind in catalogue.kinds().items() if {"k", "l"} & {*kind.letters}]


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_no_release_at_a_step_that_is_out_of_reach(clinic, kind):
    letters = catalogue.kinds()[kind].letters
    for letter in {"k", "l"} & {*letters}:
        steps = STEPS[letter]
        for step in steps[count_reachable(clinic, Setting(kind))[letter] :]:
            own = replace(Setting(kind, k=2, l=2 * ("l" in letters)), **{letter: step})
            assert count_setting(clinic, own).refused, f"{kind} reaches {letter} = {step}"


def test_the_last_step_within_reach_has_a_release(clinic):
    reach = count_reachable(clinic, Setting())
    for letter in ("k", "l"):
        step = STEPS[letter][reach[letter] - 1]
        assert not count_setting(clinic, replace(Setting(k=2), **{letter: step})).refused


def test_for_people_with_several_records_only_k_is_out_of_reach():
    reach = count_reachable(person_key.dataset(person_key.table()), Setting())
    assert STEPS["k"][reach["k"] - 1] <= 400 < STEPS["k"][reach["k"]]
    assert reach["l"] == len(STEPS["l"])


def test_a_slider_says_it_in_words(clinic):
    setting = check_setting(Setting(k=5, l=10), clinic)
    reach = count_reachable(clinic, setting)
    html = str(controls.render_controls(setting, list_choices(clinic), {}, reach))
    labels = json.loads(unescape(re.search(r'name="l".*?data-labels="([^"]*)"', html)[1]))
    assert [label.endswith(": not reachable") for label in labels] == [at >= reach["l"] for at in range(len(labels))]
    assert 'aria-valuetext="10: not reachable"' in html
    assert "<output>10: not reachable</output>" in html
    assert f"Not reachable from {STEPS['l'][reach['l']]} on" in html
    assert html.count("privnb-out") == 2, "k and l"


def test_a_slider_without_effect_says_nothing_of_it(clinic):
    assert controls.make_slider(Setting(), "l", "it is not used", 3).first_out == ""
