"""A policy that names an adversary who knows the algorithm: it may rule a release out, and the card states why."""

import json
from dataclasses import replace

import jsonschema
import pytest

from privnb import decision
from privnb.datasets.dataset import load
from privnb.decision import card as cards, policies
from privnb.decision.policies import Cap, Need, Policy, PolicyError
from privnb.decision.policy_changes import compare_policies
from privnb.evaluation.combination_sizes import Combinations
from privnb.evaluation.evaluation_loop import evaluate
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.informed import InformedAdversary
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.publishing import from_files
from privnb.reporting import release_card
from privnb.runtime.language import in_language
from privnb.runtime.wording import line, write
from privnb.sanitizers import LocalRecoding, Mondrian
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.workbench.measurements import Measurements

JOB = "occupation"
TWO = DistinctDiversity(2, JOB)
NAIVE = Policy(
    "ours", "Our own", "the board", "a partner", "a person's quasi-identifiers", min_class_size=2,
    caps=(Cap("attribute", 0.9), Cap("certainty", 0.0)), needs=(Need("certainty_penalty"),), sha256="0" * 64,
)  # fmt: skip
INFORMED = replace(NAIVE, adversary="knows the algorithm")
TRIED = [
    *reference_sanitizers(),
    Mondrian(TWO),
    Mondrian(KAnonymity(30), DistinctDiversity(6, JOB)),
    LocalRecoding(KAnonymity(500), TWO),
]


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=3000)


@pytest.fixture(scope="module")
def results(adult):
    asked = AttributeRisk(JOB), Certainty(JOB), InformedAdversary(JOB), Combinations(2), certainty_penalty
    return evaluate(adult, TRIED, measures=[*asked])


def reasons(decided, setting):
    return {str(reason) for name, whys in decided.ruled_out if name == setting for reason in whys}


def test_the_decision_changes_if_the_policy_names_the_adversary(results):
    naive, informed = (decision.decide(results, policy) for policy in (NAIVE, INFORMED))
    assert naive.setting == "Mondrian, distinct l = 2"
    assert informed.setting == "Mondrian, k = 30"
    (why,) = reasons(informed, naive.setting)
    assert "for an adversary who knows the algorithm is" in why
    assert "exceeds the cap of 0%" in why
    without = results[~results.measure.str.startswith("informed_")]
    assert decision.decide(without, NAIVE).releases.equals(naive.releases), "the numbers are not read without the key"


def test_a_risk_that_nobody_could_attack_is_unknown_and_one_without_a_known_attack_is_the_naive_one(results):
    informed = decision.decide(results, INFORMED)
    (local,) = informed.releases.setting[informed.releases.sanitizer == "LocalRecoding"]
    assert any("is unknown: it is not known which finer partitions" in why for why in reasons(informed, local))
    assert "Suppress" in informed.kept.sanitizer.tolist()
    unmeasured = decision.decide(results[~results.measure.str.startswith("informed_")], INFORMED)
    assert unmeasured.chosen is None
    assert all("was not measured" in why for why in reasons(unmeasured, "Mondrian, distinct l = 2"))


def test_measurements_compare_the_stronger_adversary_with_the_caps_too(results):
    own = results[(results.sanitizer == "Mondrian") & (results.parameters == "distinct l=2 occupation")]
    verdicts = {policy.adversary: Measurements(own, policy).caps.verdict.tolist() for policy in (NAIVE, INFORMED)}
    assert [*verdicts.values()] == [["kept", "kept"], ["kept", "exceeded"]]


def test_an_adversary_who_is_no_longer_named_is_a_wider_cap():
    (row,) = compare_policies(INFORMED, NAIVE)["caps"]
    assert (row["subject"], row["is_wider"]) == ("adversary", True)
    for language, written in (("en", "algorithm was removed"), ("de", "kennt, wurde entfernt")):
        with in_language(language):
            assert written in line("decision/policy_changes", "difference", row, "was")


def test_a_policy_file_names_one_of_the_two_adversaries(tmp_path):
    path = policies.write_policy(INFORMED, tmp_path / "ours.toml")
    assert policies.read(path).is_informed
    assert not policies.read("all-five").is_informed
    path.write_text(path.read_text().replace("knows the algorithm", "knows everything"))
    with pytest.raises(PolicyError, match=r"adversary.*knows the quasi-identifiers.*knows the algorithm.*everything"):
        policies.read(path)


def test_the_card_states_the_informed_attack_next_to_the_naive_risk(adult, results, tmp_path):
    decided, path = decision.decide(results, INFORMED), tmp_path / "released.csv"
    of = decided.releases[decided.releases.setting == "Mondrian, distinct l = 2"].iloc[0]
    from_files.sanitize("adult", Mondrian(TWO), path, study="li-li", sample=3000)
    made = cards.make_card(path, decided, results, adult, of)
    jsonschema.validate(made.content, json.loads(cards.SCHEMA.read_text()))
    (attack,) = made.content["informed"]
    assert (attack["is"], attack["attack"]) == ("attacked", "minimality")
    assert attack["naive_certain"]["value"] == 0 < attack["certain"]["value"]
    assert not made.content["answer"]["keeps"]
    assert cards.make_card(path, decision.decide(results, NAIVE), results, adult).content["answer"]["keeps"]
    assert "algorithm" not in {each["kind"] for each in made.content["not_tried"]}
    page = release_card.page(made)
    assert "The value is certain to the informed adversary for 0.5%" in page
    assert "not kept for an adversary who knows the algorithm" in page
    with in_language("de"):
        assert "Minimalitätsangriff" in str(write("decision/card", "informed", made.content))
