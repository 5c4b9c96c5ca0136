"""The gauges: the risks that `decide` measures, beside the caps that it holds them to; what is unknown is never 0."""

import json
import re
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from support import questions
from support.clinic import CLINIC

from privnb import decision, measures
from privnb.datasets.dataset import load
from privnb.decision.by_policy import LOSS, keeps
from privnb.decision.card import ASKS
from privnb.decision.policies import RISKS, ready
from privnb.evaluation.every_sanitizer import appraised
from privnb.evaluation.results import join
from privnb.evaluation.risks import attribute
from privnb.explorer.board import Board, explore
from privnb.explorer.gauges import NONE, POLICY, gauges, menu
from privnb.explorer.risks import ORDER, at_once, beside
from privnb.explorer.setting import Setting, checked, of_roles, sanitizer
from privnb.runtime import numerals
from privnb.sanitizers.catalogue import reference_sanitizers

CLASSES, NOISE = Setting(k=5), Setting("LaplaceNoise", epsilon=2)
EVERY = "all-five"


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def found(clinic):
    """What the board measures of each setting."""
    return {setting: beside(clinic, setting, ORDER)[0] for setting in (CLASSES, NOISE)}


@pytest.fixture(scope="module")
def decided(clinic):
    """What `decide` makes of the same releases under the policy that caps all five."""
    policy = decision.policies.read(EVERY)
    made = [*reference_sanitizers(), *(sanitizer(setting, clinic) for setting in (CLASSES, NOISE))]
    users = appraised(clinic, made, *(need.measure for need in policy.needs), seeds=1)
    return decision.decide(join(questions.risks(clinic, made), users), policy)


def read(html):
    """By risk the verdict, the number for machines (None: none) and the words of a gauge."""
    found = {}
    for item in re.findall("<li .*?</li>", str(html)):
        mark = dict(re.findall(r' data-(risk|verdict|value)="([^"]*)"', item))
        words = " ".join(unescape(re.sub("<[^>]+>", " ", item)).split())
        found[mark["risk"]] = mark["verdict"], float(mark["value"]) if "value" in mark else None, words
    return found


@pytest.mark.slow
@pytest.mark.parametrize("setting", [CLASSES, NOISE], ids=lambda setting: setting.sanitizer)
def test_a_gauge_says_what_decide_says(setting, clinic, found, decided):
    made = sanitizer(setting, clinic)
    theirs = decided.vectors
    theirs = theirs[(theirs.sanitizer == type(made).__name__) & (theirs.axis != LOSS)]
    assert [row.axis.split()[0] for row in theirs.itertuples()] == list(RISKS)
    ours = read(gauges(EVERY, found[setting]))
    for risk, row in zip(RISKS, theirs.itertuples(), strict=True):
        verdict, value, words = ours[risk]
        assert value == pytest.approx(row.value, abs=0, rel=0, nan_ok=True)
        assert verdict == ("kept" if keeps(row) else "broken")
        assert numerals.share(row.value, row.low, row.high).partition(" (")[0] in words
        assert numerals.share(row.cap, row.cap, row.cap) in words
        baseline = measures.facts(row.measure).baseline
        assert f"{baseline[0].upper()}{baseline[1:]}: " in words
        assert ASKS[risk][0] in words
    assert {verdict for verdict, *_ in ours.values()} == {"kept", "broken"}, "one of them says nothing here"


def test_what_classes_let_one_count_is_there_at_once_and_the_same(clinic, found):
    counted = at_once(clinic, CLASSES)
    assert list(counted) == ["identity", "certainty"]
    for risk in counted:
        assert read(gauges(EVERY, counted))[risk] == read(gauges(EVERY, found[CLASSES]))[risk]
    assert at_once(clinic, NOISE) == {}, "to find the nearest rows takes seconds"


def test_what_is_not_measured_yet_is_working_and_no_number(clinic):
    shown = read(gauges(EVERY, at_once(clinic, CLASSES)))
    others = [risk for risk in RISKS if risk not in ("identity", "certainty")]
    assert [shown[risk][:2] for risk in others] == [("working", None)] * 4
    assert all("working …" in shown[risk][2] for risk in others)


def test_what_cannot_be_measured_is_unknown_with_its_reason_and_keeps_no_cap(clinic, found):
    rotated = beside(clinic, Setting("Rotation"), ["identity"])[0]
    for policy, said in ((EVERY, "? unknown, so not kept"), (NONE, "? unknown")):
        verdict, value, words = read(gauges(policy, rotated))["identity"]
        assert (verdict, value) == ("unknown", None)
        assert "An adversary knows the attributes of people, and rotated 1" in words
        assert words.endswith(said)
        assert not re.search(r"\b0%", words)
    rows = found[CLASSES]["identity"]
    failed = read(gauges(EVERY, {"identity": rows}, "It was cancelled."))
    assert failed["attribute"][0] == "unknown"
    assert "It was cancelled." in failed["attribute"][2]
    assert failed["identity"][0] == "broken", "what is measured stays"


def test_of_several_caps_the_hardest_is_shown(found, monkeypatch):
    policy = decision.policies.read(EVERY)
    cap = decision.policies.Cap
    for caps in ((cap("identity", 1.0), cap("identity", 0.01, "largest")), (cap("identity", 0.9), policy.caps[0])):
        menu(POLICY)  # before it is changed
        monkeypatch.setitem(menu(POLICY), EVERY, type(policy)(**{**vars(policy), "caps": caps}))
        verdict, value, _ = read(gauges(EVERY, found[CLASSES]))["identity"]
        assert (verdict, value) == ("broken", 0.2)


def test_the_menu_has_the_ready_policies_and_none_and_begins_as_08_does(found):
    assert list(menu()) == [*ready(), NONE]
    notebook = json.loads((Path(__file__).parents[2] / "notebooks" / "08_frontier.ipynb").read_text(encoding="utf-8"))
    assert f'POLICY = "{POLICY}"' in json.dumps(notebook).replace('\\"', '"')
    html = gauges(POLICY, found[CLASSES])
    assert f'value="{POLICY}" selected' in html
    assert {verdict for verdict, *_ in read(html).values()} >= {"broken", "uncapped"}
    assert {verdict for verdict, *_ in read(gauges(NONE, found[CLASSES])).values()} == {"uncapped"}
    assert "not checked against the source itself" in gauges(POLICY, {})
    assert "not checked" not in gauges(EVERY, {})


@pytest.mark.slow
def test_an_owners_own_file_stands_in_the_menu_and_its_caps_beside_the_gauges(found, clinic, tmp_path):
    own = tmp_path / "ours.toml"
    given = files("privnb.decision.policies").joinpath(f"{EVERY}.toml").read_text(encoding="utf-8")
    own.write_text(
        re.sub("at_most = .*", "at_most = 1.0", given).replace('title = "', 'title = "Ours: '), encoding="utf-8"
    )
    html = gauges(str(own), found[CLASSES], own=str(own))
    assert {verdict for verdict, *_ in read(html).values()} <= {"kept", "unknown"}
    assert ">Ours: " in html
    assert read(gauges(EVERY, found[CLASSES], own=str(own))) == read(gauges(EVERY, found[CLASSES]))
    assert Board(clinic, CLASSES, pins=tmp_path / "pins", store="", source="", policy=str(own)).policy == str(own)
    with pytest.raises(decision.policies.PolicyError, match="is no policy of the package"):
        explore(clinic, policy="ontario", pins=tmp_path / "pins")


def test_without_a_release_no_gauge_stands_and_the_height_stays():
    html = gauges(POLICY, None, of="There is no release.")
    assert "data-empty" in html
    assert read(html) == {}
    assert 'name="policy"' in html


def test_a_stored_risk_is_the_same(clinic, found, tmp_path):
    setting = checked(CLASSES, clinic)
    assert of_roles(clinic, setting) is clinic
    stored = beside(clinic, CLASSES, ["attribute"], store=str(tmp_path))[0]["attribute"]
    assert stored.value.tolist() == pytest.approx(found[CLASSES]["attribute"].value.tolist(), nan_ok=True)
    assert any(tmp_path.rglob("*.*"))


def test_what_is_guessed_without_a_release_is_asked_once_for_all_settings(monkeypatch):
    asked = []
    monkeypatch.setattr(
        attribute, "_without", lambda *given, real=attribute._without: asked.append(given) or real(*given)
    )
    first, before = beside(load(CLINIC), CLASSES, ["attribute"])
    again, kept = beside(load(CLINIC), CLASSES, ["attribute"], before=before)  # as another process loads it
    assert len(asked) == 1
    assert kept == before != {}
    assert again["attribute"].equals(first["attribute"])
