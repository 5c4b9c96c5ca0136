"""A release card: every number is of the results, nothing is of a person, and it fits its own file alone."""

import json
import re
import shutil
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import jsonschema
import pandas as pd
import pytest
from markupsafe import escape
from support.clinic import CLINIC
from support.naming import naming
from support.results_frame import made as row

from privnb import cli, decision
from privnb.datasets.dataset import load
from privnb.decision import answer, card as cards
from privnb.decision.by_policy import LOSS, averaged
from privnb.decision.card import Card, CardError
from privnb.decision.policies import Cap, Need, Policy
from privnb.evaluation.cases import evaluate
from privnb.evaluation.combinations import Combinations
from privnb.evaluation.results import identified, tidy
from privnb.evaluation.risks import questions
from privnb.evaluation.risks.groups import OTHERS, groups_of
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.publishing import from_files, leaks
from privnb.reporting import findings, release_card
from privnb.sanitizers import LocalRecoding, Mondrian
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.tables import writing

POLICY = Policy(
    "ours", "Our own", "the hospital's board", "another hospital", "a person's quasi-identifiers",
    caps=(Cap("identity", 0.09, "largest", people=11), Cap("attribute", 0.4)), needs=(Need("certainty_penalty"),),
    floor=11, sha256="0" * 64,
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of the clinic, the decision that chose it, its results and its card."""
    dataset = load(CLINIC)
    two = DistinctDiversity(2, "diagnosis")  # so that nobody's diagnosis is certain
    tried = [*reference_sanitizers(), Mondrian(KAnonymity(11), two), LocalRecoding(KAnonymity(30), two)]
    asked = [*questions(dataset), Combinations(POLICY.floor), certainty_penalty]
    results = evaluate(dataset, tried, measures=asked)
    found = decision.decide(results, POLICY)
    path = tmp_path_factory.mktemp("card") / "released.csv"
    sanitizer = next(each for each in tried if type(each).__name__ == found.sanitizer)
    from_files.sanitize(CLINIC, sanitizer, path)
    return path, found, results, cards.card(path, found, results, dataset)


@pytest.fixture
def own(made, tmp_path):
    """A copy of the release with its provenance and card: its path."""
    path, _, _, card = made
    for each in path.parent.glob("released.csv*"):
        shutil.copy(each, tmp_path)
    for ending, text in release_card.texts(card).items():
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
    for key in content:
        with naming(key), pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({name: value for name, value in content.items() if name != key}, schema)


@pytest.mark.slow
def test_every_number_is_the_mean_of_the_rows_that_it_names(made):
    _, _, results, card = made
    texts = results.assign(**{name: results[name].astype(str) for name in cards.ROW})
    found = list(numbers(card.content))
    assert len(found) > 20
    for number in found:
        rows = results[(texts[[*number["row"]]] == [*number["row"].values()]).all(axis=1) & (results.control == "")]
        absent = [name for name in cards.ROW if name not in number["row"]]
        rows = rows[(texts.loc[rows.index, absent] == "").all(axis=1)]
        again = averaged(rows, bool(rows.randomized.any()))
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
    for risk in unmeasured:
        assert any(risk in sentence for sentence in content["not_tried"])
    assert len(content["not_tried"]) >= len(cards.NOT_TRIED)
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


def test_what_is_not_generalized_has_no_labels_in_the_dictionary():
    clinic = load(CLINIC)
    assert cards._entry(clinic.schema, clinic.hierarchies, "region", "generalized")["labels"]
    for how in ("perturbed", "exact", "noisy: ..."):
        entry = cards._entry(clinic.schema, clinic.hierarchies, "region", how)
        assert (entry["labels"], entry["taxonomy"]) == ("", [])


def test_of_several_sensitive_attributes_the_worst_stands_on_a_card_and_the_same_beside_it():
    surest = {("Mondrian", "k=11"): {"job": 0.9, "income": 1.0}, ("KMember", "k=11"): {"job": 0.95, "income": 0.5}}
    results = tidy(
        row("town", *setting, 1, "attribute_risk", "", name, value, value, value, 0.2, "lower", variant="largest")
        for setting, values in surest.items()
        for name, value in values.items()
    )
    lost = {"loss": 0.1, "loss_low": 0.1, "loss_high": 0.1}
    first, other = (pd.Series(dict(zip(cards.SETTING, setting, strict=True)) | lost) for setting in surest)
    this = cards._in_short(results, first)
    beside = cards._in_short(results, other, this["risks"])
    worst = [each["risks"][1]["worst_person"] for each in (this, beside, cards._in_short(results, other))]
    named = [(each["row"]["target"], each["value"]) for each in worst]
    assert named == [("income", 1.0), ("income", 0.5), ("job", 0.95)]


def test_sensitive_attributes_that_nobody_measured_are_named(made):
    """Of several the risks are of the first; without this sentence a second one would look as if it were safe."""
    content, own = made[3].content, made[2]
    assert not any("which is sensitive" in sentence for sentence in content["not_tried"])
    two = SimpleNamespace(sensitive=["illness", "income"])
    rows = own.assign(target=own.target.where(own.measure != "attribute_risk", "illness"))
    said = [each for each in cards._unmeasured(rows, two) if "sensitive" in each]
    assert said == ["Nobody measured what the file gives away of income, which is sensitive."]


@pytest.mark.slow
def test_a_file_below_the_floor_breaks_the_policy_though_all_caps_are_kept(made):
    path, found, results, _ = made
    strict = replace(found, policy=replace(POLICY, floor=100))
    answer = cards.card(path, strict, results, load(CLINIC)).content["answer"]
    assert not answer["keeps"]
    assert "fewer than 100 rows" in " ".join(answer["sentences"])


@pytest.mark.slow
def test_it_says_why_it_is_chosen_and_what_rules_others_out(made):
    _, found, _, card = made
    content = card.content
    assert content["decision"]["why"] == found.why
    assert content["decision"]["ruled_out_by"] == found.ruled_out_by != []
    page = release_card.page(card)
    assert all(sentence in page for sentence in found.ruled_out_by)
    targets = {risk["risk"]: risk["adversary"].rpartition(": ")[2] for risk in content["risks"]}
    assert targets["attribute"] in load(CLINIC).schema.sensitive


def test_what_rules_releases_out_is_one_reason_a_line_and_a_name_a_line(made):
    _, found, _, card = made
    out, decided = found.releases[~found.releases.kept], card.content["decision"]
    assert len(decided["ruled_out_each"]) == min(len(out), cards.NAMED) > 0
    assert [each["release"] for each in decided["ruled_out_each"]] == out.setting[: cards.NAMED].tolist()
    assert all(each["why"] in whys for each, whys in zip(decided["ruled_out_each"], out.reasons, strict=False))
    assert "it is the original: 1." in decided["ruled_out_by"]
    assert not [line for line in decided["ruled_out_by"] if "floor" in line and "original" in line]
    page = release_card.page(card)
    assert all(f"<q>{each['release']}: " in page for each in decided["ruled_out_each"])
    assert f"and {len(out) - 1} more" not in page
    many = deepcopy(card.content)
    many["decision"]["ruled_out"] = len(decided["ruled_out_each"]) + 7
    assert "<li>and 7 more</li>" in release_card.page(Card(many))


def test_the_runner_up_stands_beside_the_decided(made):
    _, found, results, card = made
    beside, kept = card.content["decision"]["beside"], found.releases[found.releases.kept]
    assert (beside["release"], beside["is"]) == (found.runner_up, "runner-up")
    for place, name in enumerate(("this", "other")):
        row = kept.iloc[place]
        assert beside[name]["lost"]["value"] == pytest.approx(row.loss)
        own = results[(results.sanitizer == row.sanitizer) & (results.parameters == row.parameters)]
        identity = own[(own.measure == "identity_risk") & (own.group == "")].set_index("variant").value
        first = beside[name]["risks"][0]
        assert first["mean"]["value"] == pytest.approx(identity[""])
        assert first["worst_person"]["value"] == pytest.approx(identity["largest"])
    assert f"<th>{found.runner_up} (runner-up)</th>" in release_card.page(card)


@pytest.mark.slow
def test_a_release_under_which_nobodys_value_is_certain_goes_before_the_runner_up(made):
    path, found, results, card = made
    assert card.content["decision"]["beside"]["is"] == "runner-up", "else this checks nothing"
    kept = found.releases.kept[found.releases.kept].index
    releases = found.releases.assign(certain=["yes" if place < kept[-1] else "no" for place in found.releases.index])
    safer = cards.card(path, replace(found, releases=releases), results, load(CLINIC))
    last = found.releases.setting[kept[-1]]
    assert last != found.runner_up, "else this checks nothing"
    beside = safer.content["decision"]["beside"]
    assert (beside["release"], beside["is"]) == (last, "nobody's value certain")
    assert re.findall("<h2>(Beside.*)</h2>", release_card.page(safer)) == [f"Beside {last}: nobody&#39;s value certain"]


def plain(content):
    """A content with nothing to hold against it."""
    bare = deepcopy(content)
    bare["policy"] |= {"verified": True, "changed": False}
    for risk in bare["risks"]:
        risk |= {"unknown": "", "mean": None, "worst_person": None, "worst_group": None, "no_person": "not measured"}
        for cap in risk["caps"]:
            cap |= {"kept": True, "exceeded_in": [], "written": cap["cap"], "high": cap["cap"], "value": cap["cap"]}
    return bare


def one(value, baseline=0.0, **row):
    return {"value": value, "low": value, "high": value, "baseline": baseline, "people": 30, "row": row}


RESERVATIONS = {
    "a person whose secret is certain": (
        lambda risks, _: risks[1].update(worst_person=one(1.0, 0.58, target="vote")),
        "Somebody's vote can be guessed with certainty: 100% (58% without the file); "
        "the policy caps the average alone.",
    ),
    "a secret that the file discloses": (
        lambda risks, _: risks[2].update(certain=[one(0.1, target="vote")]),
        "The file discloses the vote of 30 people (10%) with certainty; without the file it is certain for nobody.",
    ),
    "a disclosure that is withheld": (
        lambda risks, _: risks[2].update(withheld=["vote"]),
        "Whether the file discloses somebody's vote with certainty is withheld, because it concerns few people.",
    ),
    "a risk without a cap": (
        lambda risks, _: risks[4].update(mean=one(0.72)),
        "On average 72% more people of the table than others are taken for members; the policy sets no cap.",
    ),
    "a group without a cap": (
        lambda risks, _: risks[5].update(worst_group=one(0.6, group="sex: F")),
        "Anti-utility is worst in sex: F, 30 people: 60%; the policy sets no cap.",
    ),
    "a group above a cap on the average": (
        lambda risks, _: risks[1]["caps"][0].update(exceeded_in=[one(0.64, group="sex: F")]),
        "The cap on attribute is kept on average, and the whole interval is above it in 1 group: sex: F 64%.",
    ),
    "a lenient reading": (
        lambda risks, _: risks[0]["caps"][0].update(written=0.09, cap=1 / 11, high=1 / 11),
        "The cap on identity is kept by the lenient reading alone: 9.1% is above 9%, read as one of 11.",
    ),
    "an unknown risk": (
        lambda risks, _: risks[3].update(unknown="It was not measured."),
        "Unknown: linkability. Unknown does not mean low.",
    ),
    "a policy that nobody checked": (
        lambda _, policy: policy.update(verified=False),
        "The policy does not say that anybody checked it against its source.",
    ),
    "a digest of a source": (
        lambda _, policy: policy.update(verified=False, name="ontario-2025"),
        "Of the policy's source only a digest was read, not the source itself: its caps are our reading.",
    ),
    "a policy that was changed": (
        lambda _, policy: policy.update(changed=True), "The policy was changed after the decision. Decide anew.",
    ),
}  # fmt: skip


def test_without_anything_against_it_a_release_keeps_the_policy(made):
    found = answer.answer(plain(made[3].content))
    assert (found["status"], found["reservations"]) == (answer.KEEPS, [])
    assert "The policy lets it go to another hospital." in found["sentences"]


@pytest.mark.parametrize(("change", "said"), RESERVATIONS.values(), ids=RESERVATIONS)
def test_what_stands_against_it_is_a_reservation_that_is_read_first(change, said, made):
    content = plain(made[3].content)
    change(content["risks"], content["policy"])
    found = answer.answer(content)
    assert found["reservations"] == [said]
    assert (found["keeps"], found["status"]) == (True, answer.RESERVED)
    page = release_card.page(Card(content | {"answer": found}))
    assert '<div class="lead reserved">' in page
    assert page.index(str(escape(said))) < page.index("The worst of each risk")
    content["risks"][0]["caps"][0]["kept"] = False
    assert answer.answer(content)["status"] == answer.BREAKS


def test_groups_whose_intervals_reach_above_a_cap_are_counted_and_no_reservation(made):
    content = plain(made[3].content)
    (cap,) = content["risks"][1]["caps"]
    cap |= {"cap": 0.05, "statistic": "mean", "group": ""}
    group = {"measure": "attribute_risk", "group": "sex: F"}
    content["worst_groups"]["shown"] = [
        one(value) | {"low": low, "high": high, "row": group}
        for value, low, high in ((0.2, 0.1, 0.3), (0.06, 0.04, 0.08), (0.01, 0.0, 0.05))
    ]
    said = "Whether attribute keeps its cap in {} is not known: the intervals reach above it."
    found = answer.answer(content)
    assert said.format("1 group") in found["sentences"]
    assert found["reservations"] == []
    assert "kept on average; not shown to be below it in 1 group" in release_card.measured(Card(content))._repr_html_()
    cap["exceeded_in"] = [one(0.2, group="sex: F")]
    assert said.format("1 other group") in answer.answer(content)["sentences"]
    cap["kept"] = False
    assert "is not known" not in " ".join(answer.answer(content)["sentences"])


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
    content = cards.card(path, strict, results, load(CLINIC), of=found.chosen).content
    (cap,) = content["risks"][1]["caps"]
    assert [each["row"]["group"] for each in cap["exceeded_in"]] == [results.group[first]]
    assert answer.unsure(content, content["risks"][1]) == 1


def test_groups_are_as_large_as_the_table_says(made):
    dataset, shown = load(CLINIC), made[3].content["worst_groups"]["shown"]
    counted = [each for each in shown if each["people"] is not None]
    assert counted
    whole = groups_of(dataset)
    for each in counted:
        attribute, _, label = each["row"]["group"].partition(": ")
        if attribute in whole.by_attribute and label != OTHERS:
            number, labels = whole.by_attribute[attribute]
            assert each["people"] == (number == labels.index(label)).sum() >= 10


def test_no_small_group_follows_from_the_sizes_of_others(made):
    dataset = load(CLINIC)
    (attribute, (number, labels)), *_ = groups_of(dataset).by_attribute.items()
    names = [f"{attribute}: {label}" for label in labels]
    found = cards.group_sizes(dataset, [*names, f"{attribute}: {OTHERS}"])
    assert len(found) > 1
    assert {name: (number == place).sum() for place, name in enumerate(names) if name in found}.items() <= found.items()
    # Where a risk has groups of its own, how many the others are would tell how many one of them is.
    fewer = cards.group_sizes(dataset, [*names[1:], f"{attribute}: one more", f"{attribute}: {OTHERS}"])
    assert fewer == {name: found[name] for name in names[1:] if name in found}
    assert not {f"{attribute}: one more", f"{attribute}: {OTHERS}"} & {*fewer}


def test_no_line_is_dropped_and_no_group_without_a_risk_is_the_worst(made):
    content = deepcopy(made[3].content)
    for risk in content["risks"]:
        assert (risk["worst_person"] is None or risk["worst_person"]["high"] is None) == bool(risk["no_person"])
    for each in content["worst_groups"]["shown"]:
        each["value"] = min(each["value"], 0)
    for risk in content["risks"]:
        risk["worst_group"] = None
    content["release"]["k"] = None
    page = release_card.page(Card(content))
    assert "<dt>Alike</dt><dd>How many share each combination is not counted in the file: its cells" in page
    assert page.count("For the worst-off person: ") == len(content["risks"])
    assert "Worst for these groups" not in page
    assert "is above 0" in page


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
    made = cards.card(path, few, results, load(CLINIC), of=chosen)
    assert "It loses 0.17% of what there is to lose for its users." in made.content["answer"]["sentences"]
    assert "0% is the original, and 100% a file without quasi-identifiers." in made.content["answer"]["sentences"]
    assert "and 0.17% of what there is to lose for its users is lost" in findings.release_card(made).data


def test_sentences_are_short_and_the_page_needs_nothing_else(own):
    page = own.with_name(f"{own.name}{release_card.PAGE}")
    assert page.stat().st_size <= 200_000
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=|url\(|@import", text)
    body = re.sub(r"<(q|code|table|dd|h1|h3|style|svg|title)\b.*?</\1>", " ", text, flags=re.DOTALL)
    paragraphs = re.findall(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", body, re.DOTALL)
    sentences = [part for each in paragraphs for part in re.split(r"(?<=[.?!])\s", re.sub(r"<[^>]*>", "", each))]
    assert len(sentences) > 20
    for sentence in sentences:
        with naming(sentence):
            assert len(sentence.split()) <= 20
    assert text.index("the policy 'Our own'".replace("'", "&#39;")) < text.index("How large each risk is")


def test_of_a_withheld_number_the_page_says_the_bound(made):
    content = json.loads(made[3].text)
    withheld = {"value": None, "low": None, "high": 0.2, "baseline": None}
    content["risks"][0] |= {"worst_person": withheld, "ceiling": withheld | {"high": None}}
    text = release_card.page(Card(content))
    assert "For the worst-off person: at most 20%." in text
    assert "No attack can exceed what the records themselves would tell: withheld." in text


def test_each_risk_of_the_page_names_its_rows_of_results(made):
    text = release_card.page(made[3])
    named = {id for ids in re.findall(r"in results\.csv, by id: ([^<]+)\.<", text) for id in ids.split(", ")}
    assert named
    assert named <= {*identified(made[2])}


@pytest.mark.slow
def test_nothing_in_it_is_of_a_person(own):
    leaks.check(own.with_name(f"{own.name}{writing.CARD}"), [CLINIC])
    leaks.check(own.with_name(f"{own.name}{release_card.PAGE}"), [CLINIC])


def test_it_fits_its_own_file(own, capsys):
    assert cli.main(["check", str(own), "--card", str(own) + writing.CARD]) == 0
    assert "the same digest" in capsys.readouterr().out


def edited(own, change):
    card = Card.read(str(own) + writing.CARD)
    change(card.content)
    (own.parent / (own.name + writing.CARD)).write_text(card.text, encoding="utf-8")


def shorter(own):
    lines = own.read_text(encoding="utf-8").splitlines(keepends=True)
    own.write_text("".join(lines[:-1]), encoding="utf-8")


WRONG = {
    "a shorter file": (shorter, 1, ["another file", "the card says 300"]),
    "an edited card": (
        lambda own: edited(own, lambda content: content["risks"][0].update(unknown="none")), 1, ["edited"],
    ),
    "another k": (
        lambda own: edited(own, lambda content: content["release"].update(k=40)), 1, ["edited", "k is", "says 40"],
    ),
    "another provenance": (
        lambda own: own.with_name(own.name + ".provenance.json").write_text(
            own.with_name(own.name + ".provenance.json").read_text().replace("clinic", "elsewhere")
        ),
        1, ["provenance beside the file is another"],
    ),
    "no provenance": (lambda own: own.with_name(own.name + ".provenance.json").unlink(), 4, ["has no provenance"]),
    "no card": (lambda own: (own.parent / (own.name + writing.CARD)).write_text("{}"), 4, ["is no card"]),
    "no JSON": (lambda own: (own.parent / (own.name + writing.CARD)).write_text("k = 3"), 4, ["it is no JSON"]),
    "another form": (lambda own: edited(own, lambda content: content.update(card=9)), 4, ["form 9"]),
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
    with pytest.raises(CardError, match="no release keeps the policy"):
        cards.card(path, decision.decide(results, replace(POLICY, caps=(Cap("membership", 0.001),))), results, dataset)
    other = tmp_path / "other.csv"
    from_files.sanitize(CLINIC, Mondrian(KAnonymity(25)), other)
    with pytest.raises(CardError, match="the decision chose"):
        cards.card(other, found, results, dataset)
    with pytest.raises(FileNotFoundError, match="no release"):
        cards.card(tmp_path / "absent.csv", found, results, dataset)
