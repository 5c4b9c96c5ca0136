"""The boxes of a release over two quasi-identifiers, counted again from the published table."""

import re
from html import unescape

import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.explorer import panels
from privnb.explorer.boxes import (
    STEPS,
    Boxes,
    choose_attributes,
    describe_step,
    find_boxes,
    list_common,
    list_rectangles,
)
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import Setting, apply_roles, check_setting, make_sanitizer


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=4000)


def release_of(dataset, setting):
    setting = check_setting(setting, dataset)
    return make_sanitizer(setting, dataset).sanitize(apply_roles(dataset, setting), rng=setting.seed)


@pytest.mark.parametrize("k", [2, 10, 100])
def test_boxes_are_the_pairs_of_labels_that_enough_people_share(adult, k):
    release = release_of(adult, Setting(k=k)).widened(["age", "education"])
    boxes = find_boxes(release_of(adult, Setting(k=k)))
    people = release.table.groupby(["age", "education"], observed=True).size()
    drawn, pairs = people[people >= 10], boxes.pairs["age", "education"]
    labels = boxes.axes["age"].labels, boxes.axes["education"].labels
    assert {(labels[0][one], labels[1][two]) for one, two in zip(pairs.first, pairs.second, strict=True)} == {
        *drawn.index
    }
    for one, two, step in zip(pairs.first, pairs.second, pairs.step, strict=True):
        high = STEPS[step + 1] * 10 if step + 1 < len(STEPS) else float("inf")
        assert STEPS[step] * 10 <= people[labels[0][one], labels[1][two]] < high
    assert pairs.share == round(100 * drawn.sum() / people.sum())
    assert set(boxes.pairs) == {
        (a, b) for a in boxes.axes for b in boxes.axes if [*boxes.axes].index(a) < [*boxes.axes].index(b)
    }


def test_boxes_of_two_attributes_that_mondrian_cuts_do_not_overlap(adult):
    boxes = find_boxes(release_of(adult, Setting(k=50, quasi_identifiers="age, education")))
    rectangles = list_rectangles(boxes, "age", "education")
    assert all(0 <= left and 0 <= top and left + width <= 100.001 and top + height <= 100.001
               for left, top, width, height, _ in rectangles)  # fmt: skip
    assert sum(width * height for _, _, width, height, _ in rectangles) <= 100 * 100 + 1
    turned = list_rectangles(boxes, "education", "age")
    assert sorted(round(width * height, 6) for _, _, width, height, _ in turned) == sorted(
        round(width * height, 6) for _, _, width, height, _ in rectangles
    )


def test_no_exact_number_of_people_is_shown(adult):
    reading = count_setting(adult, Setting(k=2))
    html = str(panels.render_boxes(reading, ("age", "education")))
    rows = re.findall(r"<td>([^<]*people)</td>", html)
    words = {describe_step(step, 10) for step in range(len(STEPS))}
    assert rows
    assert {unescape(row) for row in rows} <= words
    assert len(rows) == len(list_common(reading.boxes, "age", "education"))


def test_a_limit_above_ten_has_wider_steps():
    assert describe_step(0, 25) == "25 to 49 people"
    assert describe_step(1, 25) == "50 to 124 people"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting("LaplaceNoise"), "instead of labels"),
        (Setting("Bucketize", 5), "instead of labels"),
        (Setting(k=5, quasi_identifiers="age"), "one more attribute"),
        (Setting(k=500), "There is no release to draw"),
    ],
)
def test_without_boxes_the_panel_says_why(clinic, setting, said):
    html = str(panels.render_boxes(count_setting(clinic, setting), ("age", "region")))
    assert said in html
    assert "<svg" not in html


def test_attributes_that_are_not_known_are_replaced():
    boxes = Boxes(dict.fromkeys(("age", "sex", "zip")), {}, 10)
    assert choose_attributes(boxes, ("zip", "age")) == ("zip", "age")
    assert choose_attributes(boxes, ("gone", "age")) == ("sex", "age")
    assert choose_attributes(boxes, ("age", "gone")) == ("age", "sex")
    assert choose_attributes(boxes, ("age", "age")) == ("age", "sex")
