"""A release card: every number is of the results, nothing is of a person, and it fits its own file alone."""

import json
import re
import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pandas as pd
import pytest
from markupsafe import escape
from support.clinic import CLINIC
from support.naming import naming
from support.results_frame import made as row

from privnb import cli, decision
from privnb.datasets.dataset import Dataset, load
from privnb.decision import answer, card as cards, explanation, release_risks
from privnb.decision.by_policy import LOSS, average_over_seeds
from privnb.decision.card import Card, CardError
from privnb.decision.policies import Cap, Need, Policy
from privnb.evaluation.combination_sizes import Combinations
from privnb.evaluation.evaluation_loop import evaluate
from privnb.evaluation.results import compute_row_ids, tidy
from privnb.evaluation.risks import build_questions
from privnb.evaluation.risks.groups import OTHER_GROUPS, find_groups
from privnb.measures.disclosure.certainty import NARROW
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.publishing import from_files, leaks
from privnb.reporting import findings, release_card
from privnb.runtime.numerals import write_percent
from privnb.runtime.wording import line, write
from privnb.sanitizers import LocalRecoding, Mondrian
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.tables import writing

POLICY = Policy(
    "ours", "Our own", "the hospital's board", "another hospital", "a person's quasi-identifiers",
    caps=(Cap("identity", 0.09, "largest", people=11), Cap("attribute", 0.4)), needs=(Need("certainty_penalty"),),
    min_class_size=11, sha256="0" * 64,
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of the clinic, the decision that chose it, its results and its card."""
    dataset = load(CLINIC)
    two = DistinctDiversity(2, "diagnosis")  # so that nobody's diagnosis is certain
    tried = [*reference_sanitizers(), Mondrian(KAnonymity(11), two), LocalRecoding(KAnonymity(30), two)]
    asked = [*build_questions(dataset), Combinations(POLICY.min_class_size), certainty_penalty]
    results = evaluate(dataset, tried, measures=asked)
    found = decision.decide(results, POLICY)
    path = tmp_path_factory.mktemp("card") / "released.csv"
    sanitizer = next(each for each in tried if type(each).__name__ == found.sanitizer)
    from_files.sanitize(CLINIC, sanitizer, path)
    return path, found, results, cards.make_card(path, found, results, dataset)


@pytest.fixture
def own(made, tmp_path):
    """A copy of the release with its provenance and card: its path."""
    path, _, _, card = made
    for each in path.parent.glob("released.csv*"):
        shutil.copy(each, tmp_path)
    for ending, text in release_card.render_card(card).items():
        (tmp_path / f"{path.name}{ending}").write_text(text, encoding="utf-8")
    return tmp_path / path.name


def numbers(node):
    """Every number of a card that has the key of its rows."""
    if isinstance(node, dict):
        if "row" in node:
            yield node
        for each in node.values():
            yield from numbers(each)
    elif isinstance(node, list):
        for each in node:
            yield from numbers(each)


@pytest.mark.slow
def test_a_card_is_as_its_schema_says(made):
    schema = json.loads(cards.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    content = json.loads(made[3].text)
    jsonschema.validate(content, schema)
    for key in {*content} - {"criteria", "copies", "evidence", "empty_columns"}:  # absent in older cards
        with naming(key), pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({name: value for name, value in content.items() if name != key}, schema)


@pytest.mark.slow
def test_every_number_is_the_mean_of_the_rows_that_it_names(made):
    _, _, results, card = made
    texts = results.assign(**{name: results[name].astype(str) for name in release_risks.ROW})
    found = list(numbers(card.content))
    assert len(found) > 20
    for number in found:
        rows = results[(texts[[*number["row"]]] == [*number["row"].values()]).all(axis=1) & (results.control == "")]
        absent = [name for name in release_risks.ROW if name not in number["row"]]
        rows = rows[(texts.loc[rows.index, absent] == "").all(axis=1)]
        again = average_over_seeds(rows, bool(rows.randomized.any()))
        with naming(str(number["row"])):
            assert number["seeds"] == len(rows)
            for name in ("value", "low", "high", "baseline"):
                assert number[name] == pytest.approx(again[name]) or (
                    number[name] is None and again[name] != again[name]
                )


def test_the_six_risks_stand_in_it_and_what_is_unknown_is_said(made):
    content = made[3].content
    assert [risk["risk"] for risk in content["risks"]] == list(decision.policies.RISKS)
    (identity, *_) = content["risks"]
    assert identity["worst_person"]["value"] <= 1 / 11
    assert identity["caps"][0]["kept"]
    unmeasured = [risk["risk"] for risk in content["risks"] if risk["unknown"]]
    assert {*unmeasured} <= {each["subject"] for each in content["not_tried"]}
    assert {*cards.NEVER_TRIED} <= {each["kind"] for each in content["not_tried"]}
    assert content["release"]["k"] >= 11
    assert content["answer"]["keeps"]


@pytest.mark.parametrize(
    ("how", "claims", "k"),
    [("generalized", [], 3), ("perturbed", ["KAnonymity(k=3)"], 3), ("perturbed", [], None), ("noisy: ...", [], None)],
)
def test_k_is_counted_in_a_file_whose_cells_are_true_or_where_it_is_promised(tmp_path, how, claims, k):
    (tmp_path / "a.csv").write_text("age,ill\n" + "30,flu\n" * 4 + "41.5,no\n" * 3, encoding="utf-8")
    done = {"columns": {"age": how, "ill": "exact"}, "claims": claims}
    assert cards.facts_of_file(tmp_path / "a.csv", ["age"], done)["k"] == k


def test_k_of_a_file_does_not_need_the_columns_that_the_file_lacks(tmp_path):
    (tmp_path / "a.csv").write_text("sex\nF\nF\nM\nM\nM\n")
    done = {"columns": {"age": "suppressed", "sex": "exact"}, "claims": []}
    found = cards.facts_of_file(tmp_path / "a.csv", ["age", "sex"], done)
    assert (found["k"], found["rows"], found["quasi_identifiers"]) == (2, 5, ["sex"])
    assert cards.facts_of_file(tmp_path / "a.csv", ["age"], done)["k"] is None


def test_what_is_not_generalized_has_no_labels_in_the_dictionary():
    clinic = load(CLINIC)
    assert cards._entry(clinic.schema, clinic.hierarchies, "region", "generalized")["labels"]
    for how in ("perturbed", "exact", "noisy: ..."):
        entry = cards._entry(clinic.schema, clinic.hierarchies, "region", how)
        assert (entry["labels"], entry["taxonomy"]) == ("", [])


def test_the_width_of_an_interval_that_nearly_discloses_a_number_is_that_of_the_measure():
    folder = Path(cards.__file__).parent / "templates"
    assert f"at most {NARROW:.0%} of the domain" in (folder / "risks.j2").read_text(encoding="utf-8")
    assert f"höchstens {100 * NARROW:g} % des Wertebereichs" in (folder / "de" / "risks.j2").read_text(encoding="utf-8")


def test_a_number_in_bands_is_not_called_exact():
    clinic = load(CLINIC, roles={"weight": Role.SENSITIVE}).in_bands("weight")
    entry = cards._entry(clinic.schema, clinic.hierarchies, "weight", "exact")
    assert (entry["treated"], entry["means"]) == ("in bands", "the band of numbers that contains the record's value")


def test_of_several_sensitive_attributes_the_worst_stands_on_a_card_and_the_same_beside_it():
    surest = {("Mondrian", "k=11"): {"job": 0.9, "income": 1.0}, ("KMember", "k=11"): {"job": 0.95, "income": 0.5}}
    results = tidy(
        row("town", *setting, 1, "attribute_risk", "", name, value, value, value, 0.2, "lower", variant="largest")
        for setting, values in surest.items()
        for name, value in values.items()
    )
    lost = {"loss": 0.1, "loss_low": 0.1, "loss_high": 0.1}
    first, other = (pd.Series(dict(zip(cards.SETTING_COLUMNS, setting, strict=True)) | lost) for setting in surest)
    this = cards._in_short(results, first)
    beside = cards._in_short(results, other, this["risks"])
    worst = [each["risks"][1]["worst_person"] for each in (this, beside, cards._in_short(results, other))]
    named = [(each["row"]["target"], each["value"]) for each in worst]
    assert named == [("income", 1.0), ("income", 0.5), ("job", 0.95)]


def test_sensitive_attributes_that_nobody_measured_are_named(made):
    """Of several the risks are of the first; without this sentence a second one would look as if it were safe."""
    content, own = made[3].content, made[2]
    assert content["unmeasured"] == []
    two = SimpleNamespace(sensitive=["illness", "income"])
    rows = own.assign(target=own.target.where(own.measure != "attribute_risk", "illness"))
    assert cards.list_unmeasured(rows, two) == ["income"]
    lacking = [each for each in cards._not_tried(rows, two, {"columns": {}}) if each["subject"] == "income"]
    assert lacking == [{"kind": "attribute_not_measured", "subject": "income"}]


def test_a_card_names_the_earlier_release_that_was_counted(made):
    content, own = made[3].content, made[2]
    two = SimpleNamespace(sensitive=["diagnosis"])
    kinds = [[each["kind"] for each in cards._not_tried(own, two, {"columns": {}}, name)] for name in ("", "old.csv")]
    assert ("second_release" in kinds[0], "third_release" in kinds[0]) == (True, False)
    assert ("second_release" in kinds[1], "third_release" in kinds[1]) == (False, True)
    third = {"kind": "third_release", "subject": "old.csv"}
    (said,) = write("decision/card", "not_tried", {**content, "not_tried": [third]})
    assert "an adversary who also holds old.csv" in said[0]


@pytest.mark.slow
def test_a_file_below_the_min_class_size_breaks_the_policy_though_all_caps_are_kept(made):
    path, found, results, _ = made
    strict = replace(found, policy=replace(POLICY, min_class_size=100))
    answer = cards.make_card(path, strict, results, load(CLINIC)).content["answer"]
    assert (answer["keeps"], answer["is_small"], answer["kept"]) == (False, True, answer["caps"])


def test_it_states_why_it_is_chosen_and_what_rules_others_out(made):
    _, found, _, card = made
    decided, out = card.content["decision"], found.releases[~found.releases.kept]
    assert decided["why"] == explanation.explain_rule(found)
    assert decided["counts"] == explanation.count_ruled_out(found)
    assert [each["release"] for each in decided["ruled_out_each"]] == out.setting[: cards.NAMED].tolist() != []
    pairs = zip(decided["ruled_out_each"], out.reasons, strict=False)
    assert all(each["why"] == reasons[0].data for each, reasons in pairs)
    page = release_card.page(card)
    assert all(f"<li>{each['release']}: " in page for each in decided["ruled_out_each"])
    many = deepcopy(card.content)
    many["decision"]["ruled_out"] = len(decided["ruled_out_each"]) + 7
    assert "<li>and others</li>" in release_card.page(Card(many))


def test_the_runner_up_stands_beside_the_decided(made):
    _, found, results, card = made
    beside, kept = card.content["decision"]["next"], found.releases[found.releases.kept]
    assert (beside["release"], beside["is"]) == (found.runner_up, "runner-up")
    for place, name in enumerate(("this", "other")):
        row = kept.iloc[place]
        assert beside[name]["lost"]["value"] == pytest.approx(row.loss)
        own = results[(results.sanitizer == row.sanitizer) & (results.parameters == row.parameters)]
        identity = own[(own.measure == "identity_risk") & (own.group == "")].set_index("variant").value
        first = beside[name]["risks"][0]
        assert first["mean"]["value"] == pytest.approx(identity[""])
        assert first["worst_person"]["value"] == pytest.approx(identity["largest"])
    assert f'<th scope="col">{found.runner_up}</th>' in release_card.page(card)


@pytest.mark.slow
def test_a_release_under_which_nobodys_value_is_certain_goes_before_the_runner_up(made):
    path, found, results, card = made
    assert card.content["decision"]["next"]["is"] == "runner-up", "else this checks nothing"
    kept = found.releases.kept[found.releases.kept].index
    releases = found.releases.assign(certain=["yes" if place < kept[-1] else "no" for place in found.releases.index])
    safer = cards.make_card(path, replace(found, releases=releases), results, load(CLINIC))
    last = found.releases.setting[kept[-1]]
    assert last != found.runner_up, "else this checks nothing"
    beside = safer.content["decision"]["next"]
    assert (beside["release"], beside["is"]) == (last, "nobody's value certain")
    assert f"<h2>Compared with {last}, which discloses nobody" in release_card.page(safer)


def plain(content):
    """Return a content with nothing to hold against it."""
    bare = deepcopy(content)
    bare["policy"] |= {"verified": True, "changed": False}
    bare["uses"]["lost"]["value"] = 0.1
    for risk in bare["risks"]:
        risk |= {"unknown": "", "mean": None, "worst_person": None, "worst_group": None, "no_person": "of nobody alone"}
        for cap in risk["caps"]:
            numbers = {"written": cap["cap"], "high": cap["cap"], "value": cap["cap"]}
            cap |= {"kept": True, "lenient": False, "exceeded_in": [], **numbers}
    return bare


def one(value, baseline=0.0, **row):
    return {"value": value, "low": value, "high": value, "baseline": baseline, "people": 30, "row": row}


CERTAIN, LIKELY, GROUP = one(1.0, 0.58, target="vote"), one(0.72), one(0.6, group="sex: F")
RESERVATIONS = {
    "worst_person": (lambda risks, _: risks[1].update(worst_person=CERTAIN, no_person=""), {"number": CERTAIN}),
    "certain": (lambda risks, _: risks[2].update(certain=[CERTAIN]), {"attribute": "vote", "number": CERTAIN}),
    "certain_withheld": (lambda risks, _: risks[2].update(withheld=["vote"]), {"attributes": ["vote"]}),
    "average": (lambda risks, _: risks[4].update(mean=LIKELY), {"risk": "membership", "number": LIKELY}),
    "worst_group": (lambda risks, _: risks[5].update(worst_group=GROUP), {"risk": "anti-utility", "number": GROUP}),
    "groups_over": (lambda risks, _: risks[1]["caps"][0].update(exceeded_in=[GROUP]), {"groups": [GROUP]}),
    "lenient": (
        lambda risks, _: risks[0]["caps"][0].update(written=0.09, cap=1 / 11, high=1 / 11, lenient=True),
        {"risk": "identity"},
    ),
    "unknown": (lambda risks, _: risks[3].update(unknown="not measured"), {"risks": ["linkability"]}),
    "unprotected": (lambda _, policy: policy.update(caps=policy["caps"][:1]), {"attributes": ["diagnosis"]}),
    "unverified_policy": (lambda _, policy: policy.update(verified=False), {"is_ours": False}),
    "policy_changed": (lambda _, policy: policy.update(changed=True), {}),
}  # fmt: skip


def test_a_large_loss_misled_users_and_vanished_values_are_the_first_reservations(made):
    content = plain(made[3].content)
    content["policy"]["verified"] = False
    content["uses"]["lost"]["value"] = 0.94
    content["uses"]["measures"] = [one(0.32, measure="worse_than_trivial"), one(0.1, measure="worse_than_trivial")]
    content["vanished"] = [{"column": "ward", "values": 2, "treated": "perturbed"}]
    content["vanished"] += [{"column": "age", "values": 1, "treated": "exact"}]
    content["answer"] = answer.answer(content)
    kinds = [each["kind"] for each in content["answer"]["reservations"]]
    assert kinds == ["much_lost", "misled", "vanished", "unverified_policy"]
    items = str(write("decision/card", "reservations", content))
    assert "The users lose more than half of the utility: 94% of the loss" in items
    assert "For 32% of large groups, the file is further from the truth than a file without quasi-identifiers." in items
    assert "no longer occur in the file: 2 values of ward and 1 value of age. People with such a value" in items


def test_common_values_that_no_longer_occur_in_a_file_are_counted(tmp_path):
    table = pd.DataFrame({"town": ["a"] * 39 + ["b"] * 12 + ["c"] * 9, "age": [30] * 40 + [31] * 20})
    known = (
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
    )
    dataset = Dataset("towns", table, Schema("towns", known), {each.name: flat(each) for each in known})
    path = tmp_path / "released.csv"
    pd.DataFrame({"town": ["a"] * 60, "age": [30] * 60}).to_csv(path, index=False)
    done = {"columns": {"town": "perturbed", "age": "exact"}}
    assert cards.list_vanished(path, dataset, done) == [
        {"column": "town", "values": 1, "treated": "perturbed"}, {"column": "age", "values": 1, "treated": "exact"},
    ]  # fmt: skip
    done = {"columns": {"town": "generalized", "age": "noisy: x", "other": "exact"}}
    assert cards.list_vanished(path, dataset, done) == []


def test_columns_whose_cells_all_cover_all_values_are_a_reservation(made, tmp_path):
    known = (
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m"))),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c"))),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
    )
    table = pd.DataFrame({"sex": list("fm"), "town": list("ab"), "age": [30, 40]})
    dataset = Dataset("towns", table, Schema("towns", known), {each.name: flat(each) for each in known})
    path = tmp_path / "released.csv"
    pd.DataFrame({"sex": ["*", "*"], "town": ["a", "*"], "age": ["0-99", "*"]}).to_csv(path, index=False)
    columns = dict.fromkeys(("sex", "town", "age"), "generalized")
    assert cards.list_empty_columns(path, dataset, {"columns": columns}) == ["sex", "age"]
    content = plain(made[3].content) | {"empty_columns": ["sex", "age"]}
    content["answer"] = answer.answer(content)
    (reservation,) = content["answer"]["reservations"]
    said = line("decision/card", "reservation", reservation, content)
    of = len(content["release"]["quasi_identifiers"])
    assert str(said).startswith(f"2 of {of} quasi-identifiers contain no information")
    assert str(said) in release_card.page(Card(content))


def test_without_anything_against_it_a_release_keeps_the_policy(made):
    found = answer.answer(plain(made[3].content))
    assert (found["status"], found["reservations"]) == (answer.KEEPS, [])


def test_a_ready_policy_whose_source_was_not_read_is_our_reading(made):
    content = plain(made[3].content)
    content["policy"] |= {"verified": False, "name": "ontario-2025"}
    assert answer.answer(content)["reservations"] == [{"kind": "unverified_policy", "is_ours": True}]


def exceeded(risk, value, **more):
    """Return a change of a content whose first cap on a risk is not kept."""
    numbers = {"kept": False, "value": value, "low": value, "high": value, "cap": 0.05, **more}
    return lambda content: content["risks"][risk]["caps"][0].update(numbers)


WORSE = {"kind": "worse", "measure": "x", "is_surely_worse": True}
OVER, MAYBE = exceeded(1, 0.2), exceeded(1, 0.02, high=0.07)
BROKEN = {
    "exceeded": (OVER, "it exceeds 1 cap (attribute risk)"),
    "perhaps exceeded": (MAYBE, "it may exceed 1 cap (attribute risk)"),
    "unknown": (
        exceeded(0, None), "it is not known to meet 1 cap (identity risk of the worst-off person)",
    ),
    "withheld above the cap": (exceeded(1, None, low=0.06, high=0.07), "it exceeds 1 cap (attribute risk)"),
    "small": (
        lambda content: content["policy"].update(min_class_size=9999),
        "fewer than 9999 rows share its rarest combination of quasi-identifiers",
    ),
    "another reason": (
        lambda content: content["decision"].update(reasons=[WORSE]),
        "it is less useful (x) than a release without any quasi-identifier",
    ),
    "the gate": (
        lambda content: content["done"].update(gate={"allowed": False, "reasons": [], "override": ""}),
        "the gate refuses its file",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), BROKEN.values(), ids=BROKEN)
def test_the_first_sentence_states_the_verdict_and_its_reason(change, reason, made):
    content = plain(made[3].content)
    assert " complies with the policy." in line(
        "decision/card", "headline", content | {"answer": answer.answer(content)}
    )
    change(content)
    content["answer"] = answer.answer(content)
    assert (content["answer"]["keeps"], content["answer"]["status"]) == (False, answer.BREAKS)
    said = line("decision/card", "headline", content)
    assert said.partition("</strong>")[0].endswith(f" breaks the policy “Our own” (as we read it): {reason}.") or (
        said.partition("</strong>")[0].endswith(f" breaks the policy “Our own”: {reason}.")
    )
    assert "meets every cap" not in said
    assert "complies" not in said


def test_a_cap_that_is_exceeded_on_average_is_not_kept_on_average():
    risk = {"verdict": {"is": "not kept", "groups_over": 2}}
    assert line("decision/risks", "verdict", risk) == "not kept"
    risk["verdict"]["is"] = "kept"
    assert line("decision/risks", "verdict", risk) == "kept on average; exceeded in 2 groups"


@pytest.mark.parametrize(("low", "kinds"), [(0.006, ["copied"]), (0.0, [])])
def test_copies_beyond_chance_are_a_reservation(low, kinds, made):
    content = plain(made[3].content)
    copied = {"value": 0.013, "low": low, "high": 0.02}
    content["copies"] = {"rows": 3000, "equal": copied, "share": 0.025, "by_chance": 0.015, "copied": copied}
    found = answer.answer(content)
    assert [each["kind"] for each in found["reservations"]] == kinds
    jsonschema.validate(
        json.loads(json.dumps(content["copies"])),
        json.loads(cards.SCHEMA.read_text())["properties"]["copies"]
        | {"$defs": json.loads(cards.SCHEMA.read_text())["$defs"]},
    )
    if kinds:
        said = line("decision/card", "reservation", found["reservations"][0], content)
        assert said.startswith("An estimated 1.3% (95% CI 0.6–2.0%) of the rows are copies of records")


def test_a_criterion_of_few_attempts_has_no_number():
    numbers = {"value": 1.0, "low": 0.6, "high": 1.0}
    key = ("town", "MadeElsewhere", "file=f.csv", 1, "excess_singling_out", "", "")
    rows = [row(*key, **numbers, baseline=0.0, of=of, variant=name) for of, name in ((1, "few"), (16, "enough"))]
    few, enough = cards.list_criteria(pd.DataFrame(rows))
    assert (few["value"], few["low"], few["attempts"]) == (None, None, 1)
    assert few["unknown"] == cards.TOO_FEW
    assert (enough["value"], enough["low"], enough["attempts"]) == (1.0, 0.6, 16)


@pytest.mark.parametrize("kind", RESERVATIONS)
def test_what_an_owner_must_weigh_is_a_reservation_that_the_page_shows_first(kind, made):
    change, values = RESERVATIONS[kind]
    content = plain(made[3].content)
    change(content["risks"], content["policy"])
    found = answer.answer(content)
    (reservation,) = found["reservations"]
    assert reservation["kind"] == kind
    assert values.items() <= reservation.items()
    assert (found["keeps"], found["status"]) == (True, answer.RESERVED)
    page = release_card.page(Card(content | {"answer": found}))
    assert '<div class="lead reserved">' in page
    said = line("decision/card", "reservation", reservation, content)
    assert said
    assert page.index(str(said)) < page.index("<h2>The risks</h2>")
    content["risks"][0]["caps"][0]["kept"] = False
    assert answer.answer(content)["status"] == answer.BREAKS


def of_group(value, low, high):
    """Return the mean risk of a group, with its interval."""
    return one(value) | {"low": low, "high": high}


def test_a_group_whose_interval_contains_the_mean_of_everybody_is_no_finding():
    """Such as 46 people with a risk of 5% whose interval is from -5% to 15%."""
    few, many, below = of_group(0.053, -0.053, 0.154), of_group(0.2, 0.1, 0.3), of_group(0.01, 0.0, 0.02)
    assert release_risks.above_average([many, few, below], one(0.021)) == [many]
    assert release_risks.above_average([many, few, below], None) == [many]
    assert release_risks.above_average([of_group(None, None, 0.1)], one(0.0)) == []


def test_a_verdict_counts_the_groups_that_exceed_a_cap():
    groups = [of_group(0.2, 0.1, 0.3)]
    cap = {
        "cap": 0.05,
        "statistic": "mean",
        "group": "",
        "kept": True,
        "lenient": False,
        "exceeded_in": [],
        "high": 0.0,
    }
    assert release_risks.judge_risk([cap], "") == {"is": "kept", "groups_over": 0}
    assert release_risks.judge_risk([cap | {"exceeded_in": groups}], "") == {"is": "kept", "groups_over": 1}
    assert release_risks.judge_risk([cap | {"kept": False}], "")["is"] == "not kept"
    assert release_risks.judge_risk([cap | {"kept": False, "high": None}], "")["is"] == "unknown"
    assert [release_risks.judge_risk([], why)["is"] for why in ("", "withheld")] == ["no cap", "unknown"]


@pytest.mark.slow
def test_a_cap_on_a_mean_names_the_groups_that_exceed_it(made):
    path, found, results, _ = made
    own = results[(results.sanitizer == found.sanitizer) & (results.control == "")]
    groups = own[(own.measure == "attribute_risk") & (own.variant == "") & (own.group != "") & own.value.notna()]
    first, second = groups[groups.parameters.eq(found.parameters)].index[:2]
    results = results.copy()
    ends = ["value", "low", "high"]
    results.loc[first, ends] = 0.6, 0.5, 0.7  # the whole interval is above the cap of 0.4
    results.loc[second, ends] = 0.6, 0.3, 0.7
    strict = decision.decide(results, POLICY)
    content = cards.make_card(path, strict, results, load(CLINIC), of=found.chosen).content
    (cap,) = content["risks"][1]["caps"]
    assert [each["row"]["group"] for each in cap["exceeded_in"]] == [results.group[first]]
    assert content["risks"][1]["verdict"] == {"is": "kept", "groups_over": 1}


def test_groups_are_as_large_as_the_table_says(made):
    dataset, shown = load(CLINIC), made[3].content["worst_groups"]["shown"]
    counted = [each for each in shown if each["people"] is not None]
    assert counted
    whole = find_groups(dataset)
    for each in counted:
        attribute, _, label = each["row"]["group"].partition(": ")
        if attribute in whole.by_attribute and label != OTHER_GROUPS:
            number, labels = whole.by_attribute[attribute]
            assert each["people"] == (number == labels.index(label)).sum() >= 10


def test_no_small_group_follows_from_the_sizes_of_others(made):
    dataset = load(CLINIC)
    (attribute, (number, labels)), *_ = find_groups(dataset).by_attribute.items()
    names = [f"{attribute}: {label}" for label in labels]
    found = release_risks.group_sizes(dataset, [*names, f"{attribute}: {OTHER_GROUPS}"])
    assert len(found) > 1
    assert {name: (number == place).sum() for place, name in enumerate(names) if name in found}.items() <= found.items()
    # Where a risk has groups of its own, how many the others are would tell how many one of them is.
    fewer = release_risks.group_sizes(dataset, [*names[1:], f"{attribute}: one more", f"{attribute}: {OTHER_GROUPS}"])
    assert fewer == {name: found[name] for name in names[1:] if name in found}
    assert not {f"{attribute}: one more", f"{attribute}: {OTHER_GROUPS}"} & {*fewer}


def test_no_line_is_dropped_and_no_group_without_a_risk_is_the_worst(made):
    content = deepcopy(made[3].content)
    for risk in content["risks"]:
        assert (risk["worst_person"] is None or risk["worst_person"]["high"] is None) == bool(risk["no_person"])
    for each in content["worst_groups"]["shown"]:
        each["low"] = min(each["low"], 0)
    for risk in content["risks"]:
        risk["worst_group"] = None
    content["release"]["k"] = None
    page = release_card.page(Card(content))
    assert "The size of the smallest class cannot be counted in the file" in page
    assert "Groups with the largest mean risk" not in page
    assert "no group has a risk that exceeds that of everybody by more than chance" in page
    assert "No group of people has a risk that exceeds that of everybody by more than chance." in page


def test_prose_has_no_code_and_says_nothing_twice(made):
    page = re.sub(r"<(code|style)\b.*?</\1>", " ", release_card.page(made[3]), flags=re.DOTALL)
    assert not re.search(r"\b[A-Z]\w+\(\w+=", page)
    for says in {entry["labels"] for entry in made[3].content["dictionary"]} - {""}:
        assert page.count(str(escape(says))) == 1


@pytest.mark.slow
def test_a_small_loss_is_no_loss_of_zero(made):
    path, found, results, _ = made
    chosen = found.chosen.copy()
    few = replace(
        found, vectors=found.vectors.assign(value=found.vectors.value.mask(found.vectors.axis == LOSS, 0.0017))
    )
    made = cards.make_card(path, few, results, load(CLINIC), of=chosen)
    assert "0.17%" in findings.release_card(made).data


def test_the_page_needs_nothing_else(own):
    page = own.with_name(f"{own.name}{release_card.PAGE}")
    assert page.stat().st_size <= 200_000
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import", text)
    assert text.index("“Our own”") < text.index("The risks</h2>")
    assert all(f"<dt>{field}</dt><dd></dd>" in text for field in ("Purpose", "Legal basis", "Retention until"))


def test_of_a_withheld_number_the_page_says_the_bound(made):
    content = json.loads(made[3].text)
    withheld = {"value": None, "low": None, "high": 0.2, "baseline": None, "row": {}}
    content["risks"][0] |= {"worst_person": withheld, "no_person": "", "ceiling": withheld | {"high": None}}
    text = release_card.page(Card(content))
    assert "the probability that the adversary re-identifies the person is at most 20%" in text.replace("\n", " ")


def test_each_risk_of_the_page_names_its_rows_of_results(made):
    text = release_card.page(made[3], "15_release_card")
    named = {id for ids in re.findall(r"results\.csv</a>, by id: ([^<]+)\.<", text) for id in ids.split(", ")}
    assert named
    assert named <= {*compute_row_ids(made[2])}


@pytest.mark.slow
def test_nothing_in_it_is_of_a_person(own):
    leaks.check_outputs(own.with_name(f"{own.name}{writing.CARD}"), [CLINIC])
    leaks.check_outputs(own.with_name(f"{own.name}{release_card.PAGE}"), [CLINIC])


def test_it_fits_its_own_file(own, capsys):
    assert cli.main(["check", str(own), "--card", str(own) + writing.CARD]) == 0
    assert "the digest is the same" in capsys.readouterr().out


def test_a_card_of_a_release_made_elsewhere_needs_no_provenance_file(own, capsys):
    edited(own, lambda content: content["decision"].update(sanitizer="MadeElsewhere"))
    edited(own, lambda content: content.update(sha256=cards.digest_card(content)))
    own.with_name(own.name + ".provenance.json").unlink()
    assert cli.main(["check", str(own), "--card", str(own) + writing.CARD]) == 0
    assert "the digest is the same, 300 rows, and k is" in capsys.readouterr().out


def edited(own, change):
    card = Card.read(str(own) + writing.CARD)
    change(card.content)
    (own.parent / (own.name + writing.CARD)).write_text(card.text, encoding="utf-8")


def shorter(own):
    lines = own.read_text(encoding="utf-8").splitlines(keepends=True)
    own.write_text("".join(lines[:-1]), encoding="utf-8")


WRONG = {
    "a shorter file": (shorter, 1, ["another file", "the card states 300"]),
    "an edited card": (
        lambda own: edited(own, lambda content: content["risks"][0].update(unknown="none")), 1, ["edited"],
    ),
    "another k": (
        lambda own: edited(own, lambda content: content["release"].update(k=40)), 1, ["edited", "k is", "states 40"],
    ),
    "another provenance": (
        lambda own: own.with_name(own.name + ".provenance.json").write_text(
            own.with_name(own.name + ".provenance.json").read_text().replace("clinic", "elsewhere")
        ),
        1, ["provenance next to the file differs"],
    ),
    "no provenance": (lambda own: own.with_name(own.name + ".provenance.json").unlink(), 4, ["has no provenance"]),
    "no card": (lambda own: (own.parent / (own.name + writing.CARD)).write_text("{}"), 4, ["is not a release card"]),
    "no JSON": (lambda own: (own.parent / (own.name + writing.CARD)).write_text("k = 3"), 4, ["it is not JSON"]),
    "another form": (lambda own: edited(own, lambda content: content.update(card=9)), 4, ["format 9"]),
}  # fmt: skip


@pytest.mark.parametrize(("change", "status", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_said(change, status, said, own, capsys):
    change(own)
    assert cli.main(["check", str(own), "--card", str(own) + writing.CARD]) == status
    error = capsys.readouterr().err
    for part in said:
        assert part in error


def test_a_policy_that_was_changed_since_is_said(own, tmp_path, capsys):
    policy = tmp_path / "ours.toml"
    policy.write_text(
        'title = "t"\nsource = "s"\nrecipient = "r"\nknows = "q"\n[[caps]]\nrisk = "identity"\nat_most = 0.5\n'
        '[[needs]]\nmeasure = "certainty_penalty"\n',
        encoding="utf-8",
    )
    assert cli.main(["check", str(own), "--card", str(own) + writing.CARD, "--policy", str(policy)]) == 1
    assert "was changed after the decision" in capsys.readouterr().err


def test_no_card_is_made_of_what_is_not_the_chosen_release(made, tmp_path):
    path, found, results, _ = made
    dataset = load(CLINIC)
    with pytest.raises(CardError, match="no release complies with the policy"):
        cards.make_card(
            path, decision.decide(results, replace(POLICY, caps=(Cap("membership", 0.001),))), results, dataset
        )
    other = tmp_path / "other.csv"
    from_files.sanitize(CLINIC, Mondrian(KAnonymity(25)), other)
    with pytest.raises(CardError, match="the decision chose"):
        cards.make_card(other, found, results, dataset)
    with pytest.raises(FileNotFoundError, match="no release"):
        cards.make_card(tmp_path / "absent.csv", found, results, dataset)


@pytest.mark.parametrize(
    ("stated", "part"),
    [
        ({"drawn": True, "random": True}, "The sanitizer is random"),
        ({"drawn": True, "random": False}, "not random, but its release may depend on the order of the records"),
        ({"drawn": True}, "is random or may depend on the order"),
        ({"drawn": False, "random": False}, ""),
    ],
)
def test_a_card_states_why_its_file_may_differ(made, stated, part):
    content = made[3].content
    decided = {name: value for name, value in content["decision"].items() if name not in ("drawn", "random")}
    changed = {**content, "decision": {**decided, **stated}}
    assert part in line("decision/card", "drawn", changed)
    assert ("Note, not a reservation" in line("decision/card", "details", changed)) == bool(part)


def test_the_numbers_without_the_file_are_of_the_mean_and_of_the_worst_off_person(made):
    linkability = next(risk for risk in made[3].content["risks"] if risk["risk"] == "linkability")
    mean, person = (write_percent(linkability[whose]["baseline"]) for whose in ("mean", "worst_person"))
    said = line("decision/risks", "without", linkability)
    assert said == (mean if mean == person else f"{mean} on average; {person} for the worst-off person")
    apart = {**linkability, "worst_person": {**linkability["worst_person"], "baseline": 0.5}}
    assert line("decision/risks", "without", apart) == f"{mean} on average; 50% for the worst-off person"


def test_each_of_several_sensitive_attributes_has_its_numbers(tmp_path):
    from privnb import compare, read
    from privnb.decision.card import SCHEMA
    from privnb.reporting import release_card
    from privnb.workbench.table import Table

    rows = "".join(f"{20 + i % 30},{'FM'[i % 2]},{'abc'[i % 3]},{'xy'[i // 7 % 2]}\n" for i in range(240))
    (tmp_path / "people.csv").write_text("age,sex,illness,drug\n" + rows)
    table = Table(read(tmp_path / "people.csv", sensitive=["illness", "drug"]).save("people", folder=tmp_path / "data"))
    decided = compare(table, ["k=20"], policy="groups-of-3", seeds=1).choose()
    assert [each["attribute"] for each in decided.explanation["attributes"]] == ["illness", "drug"]
    card = decided.write(tmp_path / "release.csv").card
    jsonschema.validate(card.content, json.loads(SCHEMA.read_text()))
    columns, texts = release_card.write_attributes(card.content["attributes"], card.content["uses"]["lost"])
    assert [row[0] for row in texts] == ["illness", "drug"]
    assert all("%" in row[columns.index("Attribute risk on average")] for row in texts)
    page = release_card.page(card)
    assert page.count("<h2>The sensitive attributes</h2>") == 1
    assert all(str(escape(text)) in page for each in texts for text in each)
