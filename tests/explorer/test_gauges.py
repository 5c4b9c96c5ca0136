"""The gauges: the risks that `decide` measures, beside the caps that it holds them to; what is unknown is never 0."""

import json
import re
from dataclasses import replace
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from support import questions
from support.clinic import CLINIC

from privnb import decision, measures
from privnb.datasets.dataset import load
from privnb.decision.by_policy import LOSS, keeps_cap
from privnb.decision.policies import RISKS, list_policy_names
from privnb.evaluation.results import join_results
from privnb.evaluation.risks import attribute
from privnb.evaluation.sanitizer_family import evaluate_family
from privnb.explorer.board import Board, explore
from privnb.explorer.gauges import NONE, POLICY, list_policies, render_gauges
from privnb.explorer.risks import ORDER, measure_fast_risks, measure_slow_risks
from privnb.explorer.setting import Setting, apply_roles, check_setting, make_sanitizer
from privnb.runtime import numerals
from privnb.runtime.sentences import strip_markup
from privnb.runtime.wording import line
from privnb.sanitizers.catalogue import reference_sanitizers

CLASSES, NOISE = Setting(k=5), Setting("LaplaceNoise", epsilon=2)
EVERY = "all-five"


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def found(clinic):
    """What the board measures of each setting."""
    return {setting: measure_slow_risks(clinic, setting, ORDER)[0] for setting in (CLASSES, NOISE)}


@pytest.fixture(scope="module")
def decided(clinic):
    """What `decide` makes of the same releases under the policy that caps all five."""
    policy = decision.policies.read(EVERY)
    made = [*reference_sanitizers(), *(make_sanitizer(setting, clinic) for setting in (CLASSES, NOISE))]
    users = evaluate_family(clinic, made, *(need.measure for need in policy.needs), seeds=1)
    return decision.decide(join_results(questions.risks(clinic, made), users), policy)


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
    made = make_sanitizer(setting, clinic)
    theirs = decided.vectors
    theirs = theirs[(theirs.sanitizer == type(made).__name__) & (theirs.axis != LOSS)]
    assert [row.axis.split()[0] for row in theirs.itertuples()] == list(RISKS)
    ours = read(render_gauges(EVERY, found[setting]))
    for risk, row in zip(RISKS, theirs.itertuples(), strict=True):
        verdict, value, words = ours[risk]
        assert value == pytest.approx(row.value, abs=0, rel=0, nan_ok=True)
        assert verdict == ("kept" if keeps_cap(row) else "broken")
        assert numerals.write_share(row.value, row.low, row.high).partition(" (")[0] in words
        assert numerals.write_share(row.cap, row.cap, row.cap) in words
        baseline = measures.measure_facts(row.measure).baseline
        assert f"{baseline[0].upper()}{baseline[1:]}: " in words
        assert strip_markup(line("decision/risks", "question", risk)) in words
    assert {verdict for verdict, *_ in ours.values()} == {"kept", "broken"}, "one of them says nothing here"


def test_what_classes_let_one_count_is_there_at_once_and_the_same(clinic, found):
    counted = measure_fast_risks(clinic, CLASSES)
    assert list(counted) == ["identity", "certainty"]
    for risk in counted:
        assert read(render_gauges(EVERY, counted))[risk] == read(render_gauges(EVERY, found[CLASSES]))[risk]
    assert measure_fast_risks(clinic, NOISE) == {}, "to find the nearest rows takes seconds"


def test_what_is_not_measured_yet_is_working_and_no_number(clinic):
    shown = read(render_gauges(EVERY, measure_fast_risks(clinic, CLASSES)))
    others = [risk for risk in RISKS if risk not in ("identity", "certainty")]
    assert [shown[risk][:2] for risk in others] == [("working", None)] * 4
    assert all("measuring …" in shown[risk][2] for risk in others)


def test_what_cannot_be_measured_is_unknown_with_its_reason_and_keeps_no_cap(clinic, found):
    rotated = measure_slow_risks(clinic, Setting("Rotation"), ["identity"])[0]
    for policy, said in ((EVERY, "? unknown, so the cap is not kept"), (NONE, "? unknown")):
        verdict, value, words = read(render_gauges(policy, rotated))["identity"]
        assert (verdict, value) == ("unknown", None)
        assert "An adversary knows the attributes of people, but rotated 1" in words
        assert words.endswith(said)
        assert not re.search(r"\b0%", words)
    rows = found[CLASSES]["identity"]
    failed = read(render_gauges(EVERY, {"identity": rows}, "This task was cancelled."))
    assert failed["attribute"][0] == "unknown"
    assert "This task was cancelled." in failed["attribute"][2]
    assert failed["identity"][0] == "broken", "what is measured stays"


def test_of_several_caps_the_hardest_is_shown(found, monkeypatch):
    policy = decision.policies.read(EVERY)
    cap = decision.policies.Cap
    for caps in ((cap("identity", 1.0), cap("identity", 0.01, "largest")), (cap("identity", 0.9), policy.caps[0])):
        list_policies(POLICY)  # before it is changed
        monkeypatch.setitem(list_policies(POLICY), EVERY, type(policy)(**{**vars(policy), "caps": caps}))
        verdict, value, _ = read(render_gauges(EVERY, found[CLASSES]))["identity"]
        assert (verdict, value) == ("broken", 0.2)


def test_the_menu_has_the_ready_policies_and_none_and_begins_as_08_does(found):
    assert list(list_policies()) == [*list_policy_names(), NONE]
    notebook = json.loads((Path(__file__).parents[2] / "notebooks" / "08_decision.ipynb").read_text(encoding="utf-8"))
    assert f'POLICY = "{POLICY}"' in json.dumps(notebook).replace('\\"', '"')
    html = render_gauges(POLICY, found[CLASSES])
    assert f'value="{POLICY}" selected' in html
    assert {verdict for verdict, *_ in read(html).values()} >= {"broken", "uncapped"}
    assert {verdict for verdict, *_ in read(render_gauges(NONE, found[CLASSES])).values()} == {"uncapped"}
    assert "not checked against the source itself" in render_gauges(POLICY, {})
    assert "not checked" not in render_gauges(EVERY, {})


@pytest.mark.slow
def test_an_owners_own_file_stands_in_the_menu_and_its_caps_beside_the_gauges(found, clinic, tmp_path):
    own = tmp_path / "ours.toml"
    given = files("privnb.decision.policies").joinpath(f"{EVERY}.toml").read_text(encoding="utf-8")
    own.write_text(
        re.sub("at_most = .*", "at_most = 1.0", given).replace('title = "', 'title = "Ours: '), encoding="utf-8"
    )
    html = render_gauges(str(own), found[CLASSES], own=str(own))
    assert {verdict for verdict, *_ in read(html).values()} <= {"kept", "unknown"}
    assert ">Ours: " in html
    assert read(render_gauges(EVERY, found[CLASSES], own=str(own))) == read(render_gauges(EVERY, found[CLASSES]))
    assert Board(clinic, CLASSES, pins=tmp_path / "pins", store="", source="", policy=str(own)).policy == str(own)
    with pytest.raises(decision.policies.PolicyError, match="is not a ready policy"):
        explore(clinic, policy="ontario", pins=tmp_path / "pins")


def test_a_cap_against_an_adversary_who_knows_the_algorithm_is_unknown_on_the_board(found, tmp_path):
    naive = decision.policies.read(EVERY)
    path = str(decision.policies.write_policy(replace(naive, adversary="knows the algorithm"), tmp_path / "ours.toml"))
    gauges, before = read(render_gauges(path, found[CLASSES], own=path)), read(render_gauges(EVERY, found[CLASSES]))
    for risk, (verdict, _, words) in gauges.items():
        if risk in ("attribute", "certainty"):
            assert verdict == "unknown"
            assert "informed adversary was not measured" in words
        else:
            assert verdict == before[risk][0]


def test_without_a_release_no_gauge_stands_and_the_height_stays():
    html = render_gauges(POLICY, None, of="There is no release.")
    assert "data-empty" in html
    assert read(html) == {}
    assert 'name="policy"' in html


def test_a_stored_risk_is_the_same(clinic, found, tmp_path):
    setting = check_setting(CLASSES, clinic)
    assert apply_roles(clinic, setting) is clinic
    stored = measure_slow_risks(clinic, CLASSES, ["attribute"], store=str(tmp_path))[0]["attribute"]
    assert stored.value.tolist() == pytest.approx(found[CLASSES]["attribute"].value.tolist(), nan_ok=True)
    assert any(tmp_path.rglob("*.*"))


def test_what_is_guessed_without_a_release_is_asked_once_for_all_settings(monkeypatch):
    asked = []
    monkeypatch.setattr(
        attribute, "_guess_without", lambda *given, real=attribute._guess_without: asked.append(given) or real(*given)
    )
    first, before = measure_slow_risks(load(CLINIC), CLASSES, ["attribute"])
    again, kept = measure_slow_risks(load(CLINIC), CLASSES, ["attribute"], before=before)  # as another process loads it
    assert len(asked) == 1
    assert kept == before != {}
    assert again["attribute"].equals(first["attribute"])
