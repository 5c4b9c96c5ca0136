"""Translated templates: each has the macros of the original, the same numbers, and no word of English."""

import re
from collections import Counter
from copy import deepcopy
from html import unescape
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

import privnb
from privnb.decision import answer
from privnb.decision.card import Card
from privnb.decision.explanation import explain_decision
from privnb.reporting import release_card
from privnb.reporting.templating import environment
from privnb.runtime.language import LANGUAGES, in_language
from privnb.runtime.numerals import NO_BREAK
from privnb.runtime.sentences import list_lines
from privnb.runtime.wording import Worded, line, write

PACKAGE = Path(privnb.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]
TRANSLATIONS = sorted(path for language in OTHERS for path in PACKAGE.rglob(f"templates/**/{language}/*.j2"))
SHIPPED = (
    "decision/templates/{}/card.j2", "decision/templates/{}/decision.j2", "decision/templates/{}/evidence.j2",
    "decision/templates/{}/reasons.j2", "decision/templates/{}/risks.j2", "microdata/templates/{}/declared.j2",
    "reporting/templates/{}/card.j2", "reporting/templates/privnb_report/{}/card.html.j2",
)  # fmt: skip
# Words that only English has.
ENGLISH = re.compile(
    r"\b(?:the|of|and|is|are|by|not|no|with|without|for|from|which|that|this|these|people|person|release|policy|cap|"
    r"risk|file|row|rows|more|less|than|at|least|most|below|exceeds|meets|unknown|withheld|measured|nobody|value)\b"
)
OWN = re.compile(r"<(span|q|td|dd|blockquote)\b[^>]*\blang=\"en\"[^>]*>.*?</\1>|<(code|style)\b.*?</\2>", re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def parsed(path):
    return jinja2.Environment(extensions=["jinja2.ext.do"]).parse(path.read_text(encoding="utf-8"))


def macros(path):
    """Return {macro: (parameters, defaults)} of a template."""
    return {
        each.name: (
            [each.name for each in each.args],
            [getattr(default, "value", default) for default in each.defaults],
        )
        for each in parsed(path).find_all(nodes.Macro)
    }


def kinds(path):
    """Return, for each macro, the values that it distinguishes: keys of dictionaries, and texts in comparisons."""
    found = {}
    for macro in parsed(path).find_all(nodes.Macro):
        keys = {
            pair.key.value for each in macro.find_all(nodes.Dict) for pair in each.items if hasattr(pair.key, "value")
        }
        texts = {
            text.value
            for each in macro.find_all(nodes.Compare)
            for text in each.find_all(nodes.Const)
            if isinstance(text.value, str)
        }
        found[macro.name] = keys | texts
    return found


def original(path):
    return path.parent.parent / path.name


def words(text):
    """Return a text without elements in English, code and tags."""
    return unescape(re.sub(r"<[^>]+>", " ", OWN.sub(" ", str(text))))


def check_words(text):
    found = [match.group() for match in ENGLISH.finditer(words(text))]
    assert not found, (found, [each for each in words(text).splitlines() if ENGLISH.search(each)])


def numbers(text):
    """Return how often each number occurs, without separators."""
    plain = unescape(re.sub(r"<[^>]+>", "", str(text)))
    return Counter(re.sub(r"\D", "", each) for each in NUMBER.findall(plain.replace("95-%-", "95%")))


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_translation_has_the_macros_of_the_original_and_distinguishes_the_same_kinds(path):
    assert macros(path) == macros(original(path))
    own = kinds(path)
    for name, texts in kinds(original(path)).items():
        assert not texts - own[name], name


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_every_template_of_the_card_and_the_decision(language):
    found = {str(path.relative_to(PACKAGE)) for path in TRANSLATIONS}
    assert {each.format(language) for each in SHIPPED} <= found


@pytest.fixture(scope="module")
def decision():
    return privnb.compare(privnb.read("twelve"), "k=3", policy="groups-of-3", seeds=1).choose()


@pytest.fixture(scope="module")
def card(decision, tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    return (
        decision.write(folder / "english.csv").card,
        decision.write(folder / "german.csv", language="de").card,
        folder,
    )


def test_the_page_is_german_and_the_data_are_the_same(card):
    english, german, folder = card
    page = (folder / "german.csv.card.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert '<html lang="en">' in (folder / "english.csv.card.html").read_text(encoding="utf-8")
    assert {*english.content} == {*german.content}
    for name in ("answer", "decision", "policy", "evidence", "dictionary"):
        assert english.content[name] == german.content[name]
    for ending in ("provenance.json", "codebook.json", "codebook.csv", "card.json"):
        assert "Quasi-Identifikator" not in (folder / f"german.csv.{ending}").read_text(encoding="utf-8")
        assert "Richtlinie" not in (folder / f"german.csv.{ending}").read_text(encoding="utf-8")


def both_pages(card):
    with in_language("de"):
        german = release_card.page(card)
    return release_card.page(card), german


def skeleton(page):
    """Return the elements of a page with their classes, without those that only state a language."""
    body = re.sub(r"<head>.*?</head>", "", page, flags=re.DOTALL)
    tags = re.findall(r"<(?!/)(\w+)((?: [^>]*)?)>", body)
    found = [(name, *re.findall(r'\b(?:class|scope|id)="[^"]*"', given)) for name, given in tags]
    return [each for each in found if each != ("span",)]


def test_the_pages_have_the_same_elements_and_numbers(card):
    english, german = both_pages(card[0])
    assert skeleton(english) == skeleton(german)
    for framework in card[0].content["evidence"]["frameworks"]:  # names of documents
        german = german.replace(framework["title"], "")
    check_words(german)


@pytest.mark.parametrize("status", ["kept", "broken"])
def test_sentences_of_a_card_are_german(card, status):
    content = deepcopy(card[0].content)
    if status == "broken":
        content["policy"]["min_class_size"] = 9999
        content["decision"]["reasons"] = [{"kind": "worse", "measure": "x", "is_surely_worse": True}]
        content["risks"][0]["caps"][0] |= {"kept": False, "value": 0.9, "low": 0.9, "high": 0.9}
        content["answer"] = answer.answer(content)
    for macro in ("answer", "details", "short", "not_tried", "drawn", "smallest_class"):
        compare("decision/card", macro, content)
    compare("decision/card", "provenance", content, "k-anonymity, k = 3")
    compare("decision/evidence", "overview", content)
    for framework in content["evidence"]["frameworks"]:
        for question in framework["questions"]:
            compare("decision/evidence", "answer", question)
            for name in question["lines"]:
                compare("decision/evidence", "stated", name, content)


def test_sentences_of_a_decision_are_german(decision):
    explained = deepcopy(decision.explanation)
    for macro in ("answer", "details", "short", "counts", "columns"):
        compare("decision/decision", macro, explained)
    explained |= {"chosen": None, "why": {"rule": "none"}, "next": [], "equal": [], "stricter": []}
    for macro in ("answer", "details", "short"):
        compare("decision/decision", macro, explained)
    with in_language("de"):
        assert list_lines(Worded("decision/decision", decision.explanation).parts)[0].startswith(
            "Veröffentlichen Sie die Freigabe „"
        )


def compare(template, macro, *given):
    """Check that a macro writes no English in German, and the same numbers and as many paragraphs as in English."""
    english = write(template, macro, *given)
    with in_language("de"):
        german = write(template, macro, *given)
    texts = [[part if isinstance(part, str) else "\n".join(part) for part in parts] for parts in (english, german)]
    assert len(texts[0]) == len(texts[1])
    check_words("\n".join(texts[1]))
    before, after = (numbers("\n".join(each)) for each in texts)
    dates = r"\b\d{4}-\d\d-\d\d\b"
    if not re.search(dates, "\n".join(texts[0])):
        assert {*before} == {*after}, (texts, before - after, after - before)


NUMBER_OF = {"value": 0.0886, "low": 0.0841, "high": 0.0932, "baseline": 0.25, "row": {}, "people": 1234}
CAP = {"high": 0.345, "written": 0.33, "cap": 1 / 3, "subject": "identity", "statistic": "mean"}
CAPS_CHANGED = {"day": "2026-11-30", "title": "x", "rows": [
    {"subject": "attribute", "old": 0.05, "new": 0.09, "is_wider": True},
    {"subject": "identity", "old": 0.09, "new": 0.05, "is_wider": False},
    {"subject": "membership", "old": None, "new": 0.05, "is_wider": False},
    {"subject": "linkability", "old": 0.05, "new": None, "is_wider": True},
    {"subject": "", "old": 11, "new": 5, "is_wider": True},
]}  # fmt: skip
CONTENT = {
    "policy": {"about_large_groups": False, "title": "x", "verified": True}, "decision": {"caps_changed": CAPS_CHANGED},
}  # fmt: skip
RESERVATIONS = [
    {"kind": "certain", "number": NUMBER_OF},
    {"kind": "certain", "number": {**NUMBER_OF, "row": {"target": "xyz"}}},
    {"kind": "unprotected", "attributes": ["a"]},
    {"kind": "much_lost", "number": NUMBER_OF},
    {"kind": "misled", "number": NUMBER_OF},
    {"kind": "empty_columns", "columns": ["a"], "of": 3},
    {"kind": "empty_columns", "columns": ["a", "b"], "of": 3},
    {"kind": "copied", "number": NUMBER_OF},
    {"kind": "vanished", "columns": [{"column": "a", "values": 1, "treated": "perturbed"}] * 3},
    {"kind": "certain_withheld", "attributes": []},
    {"kind": "certain_withheld", "attributes": ["a", "b"]},
    {"kind": "worst_person", "risk": "identity", "number": NUMBER_OF},
    {"kind": "worst_person", "risk": "attribute", "number": {**NUMBER_OF, "row": {"target": "xyz"}}},
    {"kind": "worst_person", "risk": "linkability", "number": NUMBER_OF},
    {"kind": "average", "risk": "membership", "number": NUMBER_OF},
    {"kind": "worst_group", "risk": "identity", "number": {**NUMBER_OF, "row": {"group": "a: other groups"}}},
    {"kind": "groups_over", "risk": "attribute", "cap": 0.05, "groups": [{**NUMBER_OF, "row": {"group": "a"}}] * 5},
    {"kind": "lenient", "risk": "identity", "cap": CAP},
    {"kind": "unknown", "risks": ["identity", "attribute"]},
    {"kind": "unverified_policy", "is_ours": True},
    {"kind": "unverified_policy", "is_ours": False},
    {"kind": "unmeasured", "attributes": list("abcde")},
    {"kind": "not_chosen", "chosen": "x"},
    {"kind": "not_chosen", "chosen": ""},
    {"kind": "other_records", "dataset": "x"},
    {"kind": "seeded"},
    {"kind": "policy_changed"},
    {"kind": "caps_changed"},
]


@pytest.mark.parametrize("each", RESERVATIONS, ids=lambda each: each["kind"])
def test_a_reservation_is_german(each):
    compare("decision/card", "reservation", each, CONTENT)


@pytest.mark.parametrize("number", [NUMBER_OF, None, NUMBER_OF | {"value": None, "low": 0.1, "high": 0.2}])
def test_the_table_of_attributes_is_german(number):
    each = {"attribute": "x", **dict.fromkeys(("mean", "worst_person", "certain", "lost"), number)}
    for name in each:
        compare("decision/risks", "attribute_column", name)
        compare("decision/risks", "attribute_cell", name, each, NUMBER_OF)
    compare("decision/risks", "attribute_cell", "lost", each, {"value": None})
    compare("decision/risks", "attribute_cell", "certain", each | {"certain": {"value": 0}}, NUMBER_OF)


@pytest.mark.parametrize("named", [[], ["title"], ["title", "knows"]])
def test_the_differences_of_two_policies_are_german(named):
    compare("decision/policy_changes", "differences", {"caps": CAPS_CHANGED["rows"], "fields": named})


def test_every_kind_of_reservation_has_an_example():
    path = PACKAGE / "decision/templates/card.j2"
    stated = {each for each in kinds(path)["reservation"] if re.fullmatch(r"[a-z_]+", each)}
    assert stated - {each["kind"] for each in RESERVATIONS} <= {"perturbed", "treated", "equalto"}


RISKS = ("identity", "attribute", "certainty", "linkability", "membership", "anti-utility")


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("value", [0.0886, -0.0886, 0.0, None])
def test_the_numbers_of_a_risk_are_german(risk, value):
    ends = {"low": None if value is None else value - 0.01, "high": (value or 0) + 0.01}
    part = {
        "risk": risk, "people": 45222, "unknown": "", "no_person": "", "others": NUMBER_OF, "guessed": 0.34,
        "mean": {**NUMBER_OF, "value": value, **ends},
        "worst_person": NUMBER_OF, "certain": [NUMBER_OF], "nearly_certain": [NUMBER_OF], "ceiling": NUMBER_OF,
        "targets": ["xyz"], "groups": 0, "groups_withheld": 3, "baseline_is": "x",
        "verdict": {"is": "kept", "groups_over": 2}, "caps": [CAP | {"group": "", "value": 0.1}],
    }  # fmt: skip
    if risk in ("identity", "attribute", "linkability"):
        compare("decision/risks", "person", part)
    named = {"worst_person": None, "no_person": "of nobody alone"}
    for change in ({}, named, {"no_person": "withheld"}, {"no_person": "risk unknown"}):
        if risk in ("identity", "attribute", "linkability") or change:
            compare("decision/risks", "numbers", part | change, 0.95)
    for macro in ("question", "counts", "named"):
        compare("decision/risks", macro, risk)
    for macro in ("adversary", "verdict", "caps", "cell", "without"):
        compare("decision/risks", macro, part)
    compare("decision/card", "no_group", part)
    for unknown in ("not measured", "withheld"):
        compare("decision/risks", "numbers", part | {"unknown": unknown, "mean": None}, 0.95)
        compare("decision/risks", "cell", part | {"unknown": unknown})


REASONS = [
    {"kind": "original"}, {"kind": "size_unknown"}, {"kind": "below", "minimum": 3}, {"kind": "below"},
    {"kind": "perhaps_below"}, {"kind": "cap", "risk": "identity", "cap": 0.05, "is_surely_above": False, "why": "x"},
    {"kind": "cap", "risk": "near certainty", "cap": 0.05, "is_surely_above": True, "value": 0.2, "high": 0.3},
    {"kind": "unknown_loss", "why": "x"}, {"kind": "lost", "measure": "x", "most": 0.5, "accepted": 0.25},
    {"kind": "worse", "measure": "x", "is_surely_worse": False}, {"kind": "misleading", "missed": 0.2, "bare": 0.1},
    {"kind": "file_refused", "why": "x"},
]  # fmt: skip


@pytest.mark.parametrize("each", REASONS, ids=lambda each: each["kind"])
def test_a_reason_is_german(each):
    compare("decision/decision", "reason", each)


def test_every_kind_of_reason_has_an_example():
    assert {each["kind"] for each in REASONS} == {*macros(PACKAGE / "decision/templates/reasons.j2")}


RELEASE = {
    "setting": "x", "used": 0.7, "tightest": "identity", "is_chance": True, "is_beyond": True, "lenient": True,
    "loss": {"value": 0.6, "low": 0.5, "high": 0.7}, "reasons": [REASONS[1], REASONS[2]], "drawn": True, "draws": 3,
}  # fmt: skip
LEAST = RELEASE | {"loss": {"value": 0.5, "low": 0.5, "high": 0.5}, "used": 0.9}
UNATTAINABLE = {
    "cap": 0.05, "subject": "attribute", "bare": NUMBER_OF, "least": NUMBER_OF | {"setting": "x"},
    "people": 300, "people_needed": 12345.6,
}  # fmt: skip
STEPS = [
    {"caps": [0.05, 0.03, 0.02], "is_kept": True, "other": None}, {"caps": [0.05], "is_kept": False, "other": None},
    {"caps": [0.05, 0.03], "is_kept": False, "other": RELEASE},
]  # fmt: skip
COLUMNS = {key: ["a", "b"] for key in ("tried_in_vain", "generalized", "left_out", "published_unchanged")}
LOWER = {"rule": "lower risk", "least": LEAST, "bare_used": 0.5, "near_least": 3}
CHANGES = {
    "a large loss": {"help": {"kind": "much_lost", "loss": 0.6}, "misled": 0.3},
    "certain values": {
        "certain": {"is": "yes", "of": [{"attribute": "xyz", "share": 0.5}], "people": 3000, "alternative": RELEASE}
    },
    "certain values, no alternative": {"certain": {"is": "yes", "of": [], "people": 3000, "alternative": None}},
    "withheld": {"certain": {"is": "withheld", "of": [], "people": 3000, "alternative": None}},
    "a lower risk": {"chosen": RELEASE, "why": LOWER},
    "others": {
        "next": [RELEASE, LEAST | {"is_beyond": False}, LEAST], "equal": list("abcde"), "chosen": RELEASE,
        "stricter": [
            {"subject": name, "cap": cap, "value": 0.4, "steps": STEPS}
            for name, cap in (("identity", 0.33), ("membership", None))
        ],
        "why": {"rule": "least loss", "least": LEAST, "near_least": 3},
    },
    "refused": {"refused": [{"setting": "x", "why": "x."}], "previous": "x.csv", "columns": COLUMNS | {
        "without_them": [UNATTAINABLE | {"is_surely_above": True}], "stated_unknowable": [{"names": ["a"], "why": "x"}],
    }},
    "nothing": {
        "chosen": None, "nearest": [RELEASE], "why": {"rule": "none"}, "previous": "x.csv", "next": [], "equal": [],
        "unprotected": ["a"], "has_rows_at_risk": True,
        "stricter": [],
        "unattainable": [UNATTAINABLE | {"is_surely_above": each} for each in (True, False)],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_part_of_a_decision_is_german(decision, name):
    explained = decision.explanation | CHANGES[name]
    explained["table"] = explained["table"] | {"sensitive": ["a", "b"], "sample": 20_000, "records": 1_234_567}
    for macro in ("answer", "details", "short", "columns"):
        compare("decision/decision", macro, explained)


@pytest.mark.parametrize("help", [{"kind": "no_sensitive"}, {"kind": "knowable", "names": list("abcde")}, {}])
def test_advice_is_german(help):
    compare("decision/decision", "help", help)


def test_the_texts_of_tables_are_german():
    for kind in ("measured", "kept", "tried", "impossible", "too_many", "minimum", "size_unknown", "original", "loss",
                 "unknown_loss", "file", "cap"):  # fmt: skip
        compare("decision/decision", "counted", {"kind": kind, "records": 20_000, "subject": "identity"}, 11)
    for kind in ("lower loss", "lower risk", "nobody certain", "ruled out"):
        compare("decision/decision", "alternative", kind, True)
        compare("decision/decision", "alternative", kind)
    for subject in ("risk_not_measured", "risk_not_measurable", "attribute_not_measured", "buckets_together",
                    "second_release", "third_release", "more_knowledge", "by_hand", "new_attack"):  # fmt: skip
        compare("decision/card", "not_tried", {"not_tried": [{"kind": subject, "subject": "identity"}]})
    for measure in ("certainty_penalty", "change_rate", "mean_absolute_error", "utility_loss", "worse_than_trivial",
                    "workload_utility", "good_utility"):  # fmt: skip
        for macro in ("title", "meaning", "compared"):
            with in_language("de"):
                check_words(line("reporting/card", macro, measure, "the measure"))


def test_a_number_keeps_its_no_break_space_in_plain_text(card):
    with in_language("de"):
        rows = [release_card._risk(risk, card[0].content) for risk in card[0].content["risks"]]
    assert any(f"{NO_BREAK}%" in row["release"] for row in rows)


def test_other_pages_stay_english():
    assert environment().get_template("base.html.j2").render(claim="").count('<html lang="en">') == 1


def test_explain_decision_is_data_in_every_language(decision):
    with in_language("de"):
        assert explain_decision(decision.found, decision.dataset) == decision.explanation


def test_a_card_of_another_version_can_be_shown_in_german(card):
    content = {name: value for name, value in card[0].content.items() if name not in ("evidence", "criteria")}
    english, german = both_pages(Card(content))
    assert skeleton(english) == skeleton(german)
