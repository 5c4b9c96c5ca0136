"""The decision by a policy on a table: what is chosen keeps it, recounted from the labels alone."""

import json
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.datasets.dataset import Dataset, load
from privnb.decision import decide, explanation, policy_search
from privnb.decision.by_policy import LOSS
from privnb.decision.policies import Cap, Need, read
from privnb.evaluation import profiles, risks, sanitizer_family
from privnb.evaluation.profiles import Profile
from privnb.evaluation.results import SETTING_COLUMNS
from privnb.evaluation.store import Store
from privnb.evaluation.versions import find_version
from privnb.microdata.schema import Role, Schema
from privnb.privacy_models import AlphaKAnonymity, DistinctDiversity, KAnonymity
from privnb.runtime.wording import Worded
from privnb.sanitizers import Identity, LocalRecoding, Mondrian, catalogue

FAMILY = {"k": "5, 20", "l": "2", "t": "0.4", "delta": "2", "epsilon": "1", "miners": "naive Bayes", "all": False}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("releases_once")]


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    """Tasks run in this process, each once, of few settings; each risk but identity is asked elsewhere."""
    kept = Store(tmp_path_factory.mktemp("kept"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            profiles, "run_tasks", lambda tasks, *_, **__: [kept.call(each.func, *each.args) for each in tasks]
        )
        patch.setitem(
            profiles.PROFILES,
            "small",
            Profile({}, {"majority": 1}, {}, workloads={"naive Bayes": (1, 3)}, family=FAMILY),
        )
        patch.setattr(policy_search, "build_questions", lambda dataset, near: [risks.ReidentificationRisk()])
        yield


@pytest.fixture(scope="module")
def people():
    return load("adult", "li-li", records=300)


@pytest.fixture(scope="module")
def found(people):
    return policy_search.search_policy(people, read("ema-0070"), profile="small", seeds=1)


@pytest.fixture
def two_kinds(monkeypatch):
    """A search tries the settings of two sanitizers, for tests of its steps and roles, not of what it tries."""

    def only(settings):
        return lambda *given, **more: [
            each for each in settings(*given, **more) if each.reference or isinstance(each, LocalRecoding | Mondrian)
        ]

    monkeypatch.setattr(policy_search, "build_family", only(policy_search.build_family))
    monkeypatch.setattr(policy_search, "build_diverse", only(policy_search.build_diverse))


def test_the_chosen_release_alone_is_attacked_by_an_adversary_who_knows_the_algorithm(found):
    own = found.results[found.results.measure == "informed_attribute_risk"]
    (asked,) = own[SETTING_COLUMNS].drop_duplicates().itertuples(index=False, name=None)
    assert asked == (found.decision.sanitizer, found.decision.parameters)


def test_what_is_chosen_keeps_the_policy_in_its_published_labels(people, found):
    released = found.chosen.sanitize(people, rng=1)
    known = people.schema.quasi_identifiers
    sizes = Counter(map(tuple, released.table[known].astype(str).to_numpy()))
    assert min(sizes.values()) >= 11
    identity = found.decision.risks.iloc[0]
    assert 0 < identity.value <= 1 / min(sizes.values()) + 1e-12, "rows of other classes may fit a person too"
    chosen = found.decision.chosen
    assert found.decision.setting not in ("the original", "")
    releases = found.decision.releases
    assert not chosen.lenient
    outright = releases[releases.kept & ~releases.lenient]
    assert (outright.loss >= chosen.loss - read("ema-0070").tolerance).all()
    explained = explanation.explain_decision(found, people)
    assert (explained["policy"]["name"], explained["chosen"]["setting"]) == ("ema-0070", chosen.setting)
    assert [each["records"] for each in explained["counts"] if each["kind"] == "tried"][-1] == len(people)
    assert json.loads(json.dumps(explained, allow_nan=False)) == explained, "it is plain values"
    said = Worded("decision/decision", explained).data
    assert said.startswith(f"Publish {chosen.setting}. ")


def test_each_compared_number_has_its_rows(found):
    rows = pd.concat([found.of_risks, found.of_other_releases])
    columns = [*SETTING_COLUMNS, "measure"]
    vectors = found.decision.vectors[found.decision.vectors.axis != LOSS]
    measured = vectors[vectors.seeds > 0]
    assert {*map(tuple, measured[columns].to_numpy())} <= {*map(tuple, rows[columns].to_numpy())}
    assert not rows.index.duplicated().any()
    assert len(found.of_other_releases) < len(found.results) / 2  # not the other groups and assumptions


def test_nothing_is_tried_below_the_min_class_size(found):
    tried = [each for _, settings in found.steps for each in settings]
    assert not [each for each in tried if getattr(each, "k", 11) < 11]
    assert {each.k for each in tried if hasattr(each, "k")} >= {11, 22}


def test_every_size_is_also_tried_with_models_that_leave_no_value_certain(people, found):
    """At each k from the minimum class size on: two values in every class, and none nearly everybody's."""
    _, settings = found.steps[0]
    tried = {tuple(map(repr, each.models)) for each in settings if isinstance(each, LocalRecoding)}
    forms = (DistinctDiversity(2, "occupation"), [AlphaKAnonymity(0.95, k, "occupation") for k in (11, 20, 22)])
    for place, k in enumerate((11, 20, 22)):
        for model in (forms[0], forms[1][place]):
            assert (repr(KAnonymity(k)), repr(model)) in tried
    released = LocalRecoding(KAnonymity(11), forms[0]).sanitize(people, rng=1).table.astype(str)
    assert released.groupby(people.schema.quasi_identifiers).occupation.nunique().min() >= 2


@pytest.mark.parametrize("study", ["sramka", "occupation"])
def test_adult_has_a_useful_release_that_leaves_nobodys_value_certain(study, monkeypatch):
    """Two values in every class of 22 keep each cap of a public release, and lose at most 5%; it is among the tried."""
    monkeypatch.setattr(policy_search, "build_questions", risks.build_questions)
    adult, policy = load("adult", study), read("ontario-2025")
    secret = adult.schema.sensitive[0]
    mixed = LocalRecoding(KAnonymity(22), DistinctDiversity(2, secret))
    assert mixed in sanitizer_family.build_diverse(adult, k="11, 22")
    results = policy_search.measure_releases(
        adult, [*catalogue.reference_sanitizers(), mixed], policy, "quick", 1, 10, ""
    )
    found = decide(results, policy)
    assert found.chosen is not None
    assert found.setting == "Local recoding, k = 22"
    assert found.chosen.loss <= 0.05
    classes = mixed.sanitize(adult, rng=1).table.astype(str).groupby(adult.schema.quasi_identifiers)[secret]
    assert classes.nunique().min() >= 2
    assert classes.size().min() >= 22


def test_models_are_of_every_sensitive_attribute_that_varies(people):
    """A value that everybody has cannot be hidden by any class, and no class mixes it."""
    roles = {"workclass": Role.SENSITIVE, "sex": Role.SENSITIVE}
    schema = Schema(
        "two secrets",
        tuple(replace(each, role=roles.get(each.name, each.role)) for each in people.schema.attributes),
    )
    table = people.table[schema.published].assign(sex="Male")
    known = {name: people.hierarchies[name] for name in schema.quasi_identifiers}
    models = {
        each.models for each in sanitizer_family.build_diverse(Dataset("two secrets", table, schema, known), k=11)
    }
    found = {frozenset(model.sensitive for model in asked if type(model) is not KAnonymity) for asked in models}
    assert found == {frozenset({"occupation", "workclass"})}


def test_a_search_in_steps_ends_with_all_records(people, monkeypatch, two_kinds):
    monkeypatch.setattr(policy_search.halving, "LEAST", 40)
    monkeypatch.setattr(policy_search.halving, "RUNGS", ((1 / 4, 1.0), (1.0, 1 / 4)))
    found = policy_search.search_policy(people, read("ema-0070"), profile="small", seeds=1)
    (first, all_of_them), (last, left) = found.steps
    assert (first.records, last.records, found.decision.people) == (75, 300, 300)
    assert len(left) == len(all_of_them) // 4 == last.settings
    assert found.decision.chosen is not None
    assert set(map(policy_search.find_release_key, left)) <= set(map(policy_search.find_release_key, all_of_them))


def test_a_policy_that_nothing_keeps_chooses_nothing(people):
    strict = replace(read("ema-0070"), caps=(Cap("identity", 0.001, "largest"),))
    found = policy_search.search_policy(people, strict, profile="small", seeds=1)
    assert (found.chosen, found.decision.sanitizer) == (None, "none")
    explained = explanation.explain_decision(found, people)
    assert (explained["chosen"], explained["why"]["rule"], len(explained["nearest"])) == (None, "none", 1)
    assert Worded("decision/decision", explained).data.startswith("Publish none of these releases.")


def test_a_risk_above_one_in_k_is_explained_where_people_have_several_rows(people):
    strict = replace(read("ema-0070"), caps=(Cap("identity", 0.001, "largest"),))
    table = person_key.table(100)
    for dataset, has_several_rows in ((person_key.dataset(table), True), (people, False)):
        found = policy_search.search_policy(dataset, strict, profile="small", seeds=1)
        explained = explanation.explain_decision(found, dataset)
        assert explained["has_rows_at_risk"] is has_several_rows
        assert ("have several rows" in Worded("decision/decision", explained).data) is has_several_rows


def test_a_need_that_nothing_measures_is_refused(people):
    policy = replace(read("ema-0070"), needs=(Need("beauty"),))
    with pytest.raises(ValueError, match=r"measure of a need must be one of .*utility_loss"):
        policy_search.search_policy(people, policy, profile="small")


def test_a_table_without_large_groups_loses_detail_instead(people, monkeypatch):
    monkeypatch.setattr(policy_search.trade_off, "find_large_populations", lambda *_: None)
    assert policy_search.with_possible_needs(people, read("k-5")).needs == (Need("certainty_penalty"),)


def test_a_table_without_a_sensitive_attribute_is_decided_by_who_can_be_found(people, monkeypatch):
    """A policy on identity alone needs no secret; one that caps what is learned of it is kept by nothing."""
    monkeypatch.setattr(policy_search, "build_questions", risks.build_questions)
    bare = people.schema.with_roles({name: Role.QUASI_IDENTIFIER for name in ("age", "race", "sex")})
    data = Dataset("bare", people.table[bare.names()], bare, {name: people.hierarchies[name] for name in bare.names()})
    found = policy_search.search_policy(data, read("k-5"), profile="small", seeds=1)
    smallest = data.table.groupby(bare.names()).size().min()
    released = found.chosen.sanitize(data, rng=1).table.astype(str)
    assert smallest < 5 <= released.groupby(bare.names()).size().min()
    assert not [each for each in found.sanitizers if set("lt") & {*vars(each)} or len(getattr(each, "models", ())) > 1]
    capped = policy_search.search_policy(data, read("ontario-2025"), profile="small", seeds=1)
    assert capped.chosen is None
    (attribute,) = {reason.data["why"] for _, whys in capped.decision.ruled_out for reason in whys
                    if reason.data.get("risk") == "attribute" and "why" in reason.data}  # fmt: skip
    assert "'bare' has no sensitive attribute" in attribute


def test_where_nothing_or_hardly_anything_is_kept_only_measured_help_is_advised(people, found):
    def helps(chosen, dataset=people, in_vain=()):
        decision = SimpleNamespace(chosen=chosen, policy=read("ontario-2025"))
        return explanation.help_for(replace(found, decision=decision, in_vain=in_vain), dataset)

    advice = [helps(chosen) for chosen in (None, SimpleNamespace(loss=0.996), SimpleNamespace(loss=0.2))]
    assert advice == [{}, {"kind": "much_lost", "loss": 0.996}, {}]
    roles = {each.name: each.role for each in people.schema.attributes} | {"age": Role.NEUTRAL}
    neutral = replace(people, schema=people.schema.with_roles(roles))
    assert helps(None, neutral) == {"kind": "knowable", "names": ["age"]}
    assert helps(None, neutral, ("age",)) == {}
    bare = {"age": Role.NEUTRAL, "sex": Role.QUASI_IDENTIFIER}
    none = Dataset("bare", people.table[[*bare]], people.schema.with_roles(bare), people.hierarchies)
    assert helps(None, none) == {"kind": "no_sensitive"}


def test_where_a_neutral_column_singles_people_out_other_roles_of_it_are_tried(people, two_kinds):
    roles = {each.name: each.role for each in people.schema.attributes} | {"education": Role.NEUTRAL}
    policy = read("ema-0070")

    def load_in(changed):
        schema = people.schema.with_roles(roles | changed)
        return Dataset(people.name, people.cells[schema.names()], schema, people.hierarchies)

    data, found = policy_search.search_policy_in_roles(load_in, load_in({}), policy, profile="small", seeds=1)
    assert (found.roles, data.schema["education"].role) == ({"education": "quasi-identifier"}, "quasi-identifier")
    assert explanation.explain_decision(found, data)["columns"]["generalized"] == ["education"]
    assert policy_search.search_policy(load_in({}), policy, profile="small", seeds=1).chosen is None
    none = replace(policy, needs=(Need("utility_loss", most_lost=1e-9),))
    data, found = policy_search.search_policy_in_roles(load_in, load_in({}), none, profile="small", seeds=1)
    assert (found.chosen, found.roles, found.in_vain) == (None, {}, ("education",))
    assert explanation.explain_decision(found, data)["columns"]["tried_in_vain"] == ["education"]


def test_with_an_earlier_release_the_risks_are_those_of_both(people, found):
    """The larger risk counts: of each release alone, and of the pair, whose joint classes are counted again here."""
    held = find_version(people, Mondrian(k=20).sanitize(people, rng=1), "last-year.csv")
    both = policy_search.search_policy(people, read("ema-0070"), profile="small", seeds=1, previous=held)
    assert (found.decision.previous, both.decision.previous) == ("", "last-year.csv")
    released = both.chosen.sanitize(people, rng=1)
    sizes = Counter(zip(held.classes.tolist(), released.equivalence_classes.tolist(), strict=True))
    assert min(sizes.values()) >= 11
    alone, together = (
        each.decision.vectors[each.decision.vectors.axis != LOSS].set_index("setting").high.fillna(np.inf)
        for each in (found, both)
    )
    assert (together >= alone.reindex(together.index) - 1e-12).all()
    assert (together > alone.reindex(together.index) + 1e-12).any()
    said = Worded("decision/decision", explanation.explain_decision(both, people)).data
    assert "who holds the release together with last-year.csv." in said


def test_beside_the_original_no_release_keeps_a_cap(people):
    """Everybody is known by an earlier release of the records as they are, whatever is released now."""
    held = find_version(people, Identity().sanitize(people, rng=1), "records.csv")
    found = policy_search.search_policy(people, read("ema-0070"), profile="small", seeds=1, previous=held)
    assert found.chosen is None
    said = Worded("decision/decision", explanation.explain_decision(found, people)).data
    assert "records.csv alone exceeds the cap" in said
