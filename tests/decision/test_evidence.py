"""The questions of reviewers: each names a line of a card, and nothing unknown is met."""

import datetime
import json
import re
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest
from support.naming import naming

from privnb.decision import card as cards, evidence, frameworks, policies
from privnb.decision.card import Card
from privnb.decision.evidence import BY_PERSON, MET, NOT_APPLICABLE, NOT_MET, UNJUDGED, UNMEASURED
from privnb.decision.frameworks import FrameworkError, Question
from privnb.reporting import release_card
from privnb.runtime.wording import line

FINDINGS = Path(__file__).parent.parent / "reporting" / "snapshots" / "findings.json"
GOOD = """
title = "Ours"
source = "the board"
year = 2026
read = true
reading = "We wrote it."

[[questions]]
text = "Is the risk low?"
section = "1"
lines = ["identity"]
"""


@pytest.fixture
def content():
    """The content of a card of the clinic, which meets all caps of its policy."""
    (found,) = json.loads(FINDINGS.read_text(encoding="utf-8"))["15_release_card"].values()
    return deepcopy(found["data"])


def ask(content, *lines, **more):
    """The answer of a card to a question that some of its lines answer."""
    return evidence.answer_question(Question("Is the risk low?", "1", lines, **more), content)


def risk(content, name):
    return next(each for each in content["risks"] if each["risk"] == name)


def field(content, place):
    """The part of a card at a place such as "risks.identity"."""
    first, _, rest = place.partition(".")
    return risk(content, rest) if first == "risks" else content[first][rest] if rest else content[first]


@pytest.mark.parametrize("name", frameworks.list_framework_names())
def test_a_framework_states_its_source_what_was_read_of_it_and_lines_that_a_card_has(name, content):
    found = frameworks.read(name)
    assert (found.name, len(found.sha256)) == (name, 64)
    assert all([found.title, found.source, found.reading, found.questions])
    assert isinstance(found.read, bool)
    assert found.read or "We have read only" in found.reading
    texts = [question.text for question in found.questions]
    assert len({*texts}) == len(texts)
    for question in found.questions:
        with naming(question.text):
            assert question.section
            assert question.text.endswith("?")
            assert {*question.lines} <= {*frameworks.LINES}
            answer = evidence.answer_question(question, content)
            assert all(field(content, place) is not None or place == "done.promise" for place in answer["places"])
            assert answer["places"] or {*question.lines} <= {"person"}
            for part in ("answer", "why"):
                assert answer["why"] is None or line(
                    "decision/evidence", part, answer if part == "answer" else answer[part]
                )
            assert all(line("decision/evidence", "stated", each, content) for each in question.lines)


def test_the_frameworks_are_those_that_reviewers_name():
    assert frameworks.list_framework_names() == [
        "ema-0070", "hipaa-expert", "hipaa-safe-harbor", "ico-2025", "iso-27559", "nist-800-188", "nist-800-226",
        "ontario-2025", "wp29-2014",
    ]  # fmt: skip
    safe_harbor = [question.section for question in frameworks.read("hipaa-safe-harbor").questions]
    assert safe_harbor[:18] == [f"164.514(b)(2)(i)({letter})" for letter in "ABCDEFGHIJKLMNOPQR"]


def test_a_number_within_the_cap_of_the_policy_is_met_with_its_address(content):
    risk(content, "identity")["mean"]["ids"] = ["0000000a"]
    risk(content, "identity")["worst_person"]["ids"] = ["0000000b", "0000000a"]
    found = ask(content, "identity")
    assert (found["answer"], found["why"], found["reservation"]) == (MET, None, "")
    assert (found["places"], found["ids"]) == (["risks.identity"], ["0000000a", "0000000b"])


def test_a_broken_cap_is_not_met_and_names_the_rows_of_its_number(content):
    broken = risk(content, "identity")
    broken["worst_person"]["ids"] = ["0000000b"]
    broken["verdict"]["is"] = "not kept"
    broken["caps"][0]["kept"] = False
    found = ask(content, "identity")
    assert (found["answer"], found["ids"][-1:]) == (NOT_MET, ["0000000b"])
    assert ask(content, "linkability", "identity")["answer"] == NOT_MET, "a broken cap outweighs a missing one"
    for each in evidence.gather_evidence(content, "2027-01-01")["frameworks"]:
        for question in each["questions"]:
            if "identity" in question["lines"]:
                assert question["answer"] == NOT_MET
                assert "0000000b" in question["ids"]


@pytest.mark.parametrize("reason", ["not measured", "withheld", "the attack cannot read the release"])
def test_an_unknown_risk_never_meets_a_cap(content, reason):
    for name in policies.RISKS:
        unknown = deepcopy(content)
        risk(unknown, name)["unknown"] = reason  # although its caps are recorded as kept
        found = evidence.gather_evidence(unknown, "2027-01-01")
        answers = [each for part in found["frameworks"] for each in part["questions"] if name in each["lines"]]
        with naming(name):
            assert {each["answer"] for each in answers} <= {UNMEASURED}
            assert ask(unknown, name)["answer"] == UNMEASURED


def test_sensitive_attributes_that_nobody_measured_leave_inference_unknown(content):
    assert ask(content, "attribute", "certainty")["answer"] == MET
    content["unmeasured"] = ["income"]
    found = ask(content, "attribute", "certainty")
    assert (found["answer"], found["why"]) == (UNMEASURED, {"kind": "unmeasured", "attributes": ["income"]})
    assert "income" in line("decision/evidence", "answer", found)


def test_a_number_without_a_cap_and_one_under_a_cap_laxer_than_the_source_are_not_met(content):
    assert ask(content, "linkability")["answer"] == UNJUDGED
    assert ask(content, "linkability")["why"] == {"kind": "no_cap"}
    assert ask(content, "identity", at_most=0.09)["answer"] == MET
    assert ask(content, "identity", at_most=0.05)["answer"] == UNJUDGED  # the cap is 0.09, although the risk is 0.033
    assert ask(content, "attribute", statistic="largest")["why"] == {"kind": "mean_alone"}  # the cap is on the mean
    assert ask(content, "identity", statistic="largest")["answer"] == MET


def test_the_customary_threshold_is_the_laxest_that_a_framework_states():
    stated = [each.at_most for name in frameworks.list_framework_names() for each in frameworks.read(name).questions]
    assert max(filter(None, stated)) == frameworks.CUSTOMARY


def test_a_large_cap_is_no_low_risk_even_if_the_source_states_no_number(content):
    assert ask(content, "identity", is_low=True)["answer"] == MET
    for cap in next(risk for risk in content["risks"] if risk["risk"] == "identity")["caps"]:
        cap["written"] = 0.33
    found = ask(content, "identity", is_low=True)
    assert found["answer"] == UNJUDGED
    assert "laxer than 9%, the laxest customary threshold; the source states no number" in line(
        "decision/evidence", "answer", found
    )
    assert ask(content, "identity")["answer"] == MET


def test_a_reservation_about_a_cap_is_kept(content):
    risk(content, "identity")["caps"][0]["lenient"] = True
    found = ask(content, "identity")
    assert (found["answer"], found["reservation"]) == (MET, "lenient reading")
    risk(content, "attribute")["verdict"]["groups_over"] = 2
    found = ask(content, "attribute")
    assert (found["answer"], found["reservation"]) == (MET, "exceeded in groups")
    summary = {"title": "T", "read": True, "unit": "criteria", "questions": [found, ask(content, "linkability")]}
    said = line("decision/evidence", "summary", summary)
    assert said == "T: 1 of 2 criteria met (1 with a reservation), 1 measured but not judged."


def test_a_criterion_is_evidence_and_qualifies_an_answer_beyond_the_holdout(content):
    number = {"value": 0.1, "low": -0.02, "high": 0.2, "baseline": 0, "seeds": 1, "unknown": "", "ids": ["0badcafe"]}
    number["row"] = {"measure": "excess_inference", "dataset": "clinic", "sanitizer": "Mondrian", "target": "illness"}
    lines = ("attribute", "certainty", "excess inference")
    assert ask(content, *lines) | {"lines": None} == ask(content, *lines[:2]) | {"lines": None}
    content["criteria"] = [number]
    found = ask(content, *lines)
    assert (found["answer"], found["reservation"]) == (MET, "")
    assert (found["places"][-1], found["ids"][-1]) == ("criteria", "0badcafe")
    assert "10% (95% CI" in line("decision/evidence", "stated", "excess inference", content)
    number["low"] = 0.02
    found = ask(content, *lines)
    assert (found["answer"], found["reservation"]) == (MET, "exceeds the hold-out")
    assert "more often for people in the table" in line("decision/evidence", "answer", found)
    risk(content, "attribute")["unknown"] = "not measured"
    assert ask(content, *lines)["answer"] == UNMEASURED
    assert ask(content, "excess inference")["answer"] == UNMEASURED, "no policy caps a criterion"


@pytest.mark.parametrize(
    ("k", "people", "answer"),
    [
        (30, 30, MET), (11, 11, MET), (10, 30, NOT_MET), (30, 10, NOT_MET), (None, 30, UNMEASURED),
        (30, None, UNMEASURED), (30, (1, 9), NOT_MET), (30, (9, 30), UNMEASURED),
    ],
)  # fmt: skip
def test_the_class_size_counts_the_rows_of_the_file_and_the_people_of_the_measured_release(content, k, people, answer):
    content["release"]["k"] = k
    low, high = people if isinstance(people, tuple) else (people, people)
    value = None if isinstance(people, tuple) else people
    content["smallest_class"] = None if people is None else {"value": value, "low": low, "high": high}
    assert ask(content, "class size")["answer"] == answer
    if answer == MET:
        assert ask(content, "class size", at_least=11)["answer"] == MET
        assert ask(content, "class size", at_least=12)["why"] == {"kind": "smaller", "least": 12}


def test_a_person_answers_what_no_number_shows(content):
    answers = {name: ask(content, name)["answer"] for name in frameworks.LINES if name not in policies.RISKS}
    counted = {"class size": MET, "promise": NOT_APPLICABLE, "utility": UNJUDGED, "not tried": UNMEASURED}
    counted |= dict.fromkeys(frameworks.CRITERIA, UNMEASURED)
    assert answers == dict.fromkeys(answers, BY_PERSON) | counted
    assert ask(content)["answer"] == UNMEASURED
    assert ask(content, "identity", "person")["answer"] == BY_PERSON
    content["done"]["promise"] = {"epsilon": 1.0, "statement": "epsilon is 1."}
    assert ask(content, "promise")["answer"] == BY_PERSON
    content["dictionary"][0] |= {"name": "ssn", "role": "identifier"}
    assert ask(content, "identifiers")["why"] == {"kind": "published", "columns": ["ssn"]}


def test_no_column_name_meets_the_list_of_safe_harbor(content):
    for name in ("name", "zip", "date_of_birth", "a"):
        content["dictionary"] = [{**content["dictionary"][0], "name": name}]
        found = evidence.gather_evidence(content, "2027-01-01")["frameworks"]
        (listed,) = [each for each in found if each["name"] == "hipaa-safe-harbor"]
        assert {each["answer"] for each in listed["questions"]} == {BY_PERSON}


def test_a_recipient_that_the_policy_does_not_state_is_said(content):
    content["policy"] |= {"recipient": "", "knows": ""}
    content["evidence"] = evidence.gather_evidence(content, "2027-01-01")
    assert (content["evidence"]["recipient"], content["evidence"]["means"]) == ("not stated", "not stated")
    said = line("decision/evidence", "explanation", content)
    assert "The policy states neither the recipient nor what the recipient may know." in said


def test_the_words_of_a_verdict_claim_nothing_more_than_a_cap(content):
    explained = line("decision/evidence", "explanation", content)
    assert "stays within the cap of the policy “Our own”" in explained
    texts = [explained, *(path.read_text("utf-8") for path in Path(frameworks.__file__).parent.glob("*.toml"))]
    for framework in content["evidence"]["frameworks"]:
        texts += [line("decision/evidence", "summary", framework), line("decision/evidence", "reading", framework)]
        texts += [line("decision/evidence", "answer", each) for each in framework["questions"]]
    for word in ("compliant", "anonymous", "safe", "secure"):
        assert not [text for text in texts if re.search(rf"\b{word}\b", text)]


def test_the_page_folds_a_table_for_each_framework_and_links_its_rows(content):
    risk(content, "identity")["mean"]["ids"] = ["0000000a"]
    content["evidence"] = evidence.gather_evidence(content, "2027-03-04")
    page = release_card.page(Card(content), "15_release_card", ["row-0000000a"])
    assert page.count('<details class="framework">') == len(frameworks.list_framework_names())
    assert 'rows <a href="15_release_card.rows.html#row-0000000a">0000000a</a>' in page
    assert "to be measured again by 2027-03-04" in page
    assert "<code>risks.identity</code>" in page


def test_a_card_without_evidence_is_still_read_and_shown(content, tmp_path):
    schema = json.loads(cards.SCHEMA.read_text(encoding="utf-8"))
    old = {key: value for key, value in content.items() if key != "evidence"} | {"card": 7}
    old["sha256"] = cards.digest_card(old)
    path = tmp_path / "old.csv.card.json"
    path.write_text(Card(old).text, encoding="utf-8")
    found = Card.read(path)
    assert found.sha256 == found.content["sha256"]
    jsonschema.validate(found.content, schema)
    assert "Questions of reviewers" not in release_card.page(found)
    with pytest.raises(jsonschema.ValidationError, match="evidence"):
        jsonschema.validate(old | {"card": 8}, schema)


def test_a_policy_states_when_risks_are_measured_again():
    policy = policies.read("ontario-2025")
    assert policy.measure_again_after == 12
    text = Path(policies.__file__).with_name("ontario-2025.toml").read_bytes()
    assert policies.parse_policy(b"measure_again_after = 3\n" + text, "ours").measure_again_after == 3
    with pytest.raises(policies.PolicyError, match="measure_again_after"):
        policies.parse_policy(b"measure_again_after = 0\n" + text, "ours")
    assert evidence.add_months(datetime.date(2026, 12, 31), 2) == datetime.date(2027, 2, 28)
    assert evidence.add_months(datetime.date(2026, 1, 15), 12) == datetime.date(2027, 1, 15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"identity"', '"identty"', "ours, questions 1': lines must be one of"),
        ('lines = ["identity"]', 'lines = "identity"', "ours, questions 1': lines must"),
        ("section", "sections", r"unknown key, 'sections'; .* Did you mean"),
        ('section = "1"', 'section = ""', "ours, questions 1"),
        ('lines = ["identity"]', "at_most = 2", "ours, questions 1': at_most must"),
        ("[[questions]]", "questions = [3]\n[x]", "has an unknown key, 'x'"),
        ("read = true", "", "lacks read"),
        ("read = true", 'read = "yes"', "read must"),
        ("year = 2026", "year = ", "not a valid TOML file"),
    ],
)
def test_what_is_no_framework_is_refused_with_its_place(old, new, message):
    assert frameworks.parse_framework(GOOD.encode(), "ours").questions[0].lines == ("identity",)
    with pytest.raises(FrameworkError, match=message):
        frameworks.parse_framework(GOOD.replace(old, new, 1).encode(), "ours")


def test_an_unknown_name_lists_the_frameworks():
    with pytest.raises(FrameworkError, match=r"'wp29' is not a framework; the frameworks are ema-0070, .*wp29-2014"):
        frameworks.read("wp29")
