"""One gate: each of its rules on a small made-up table, and every door asks it and gets the same verdict."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.person_key import dataset as keyed_dataset, table as keyed_table

import privnb
from privnb import cli
from privnb.datasets.dataset import Dataset, load
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.decision import policies
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks.certainty import Certainty
from privnb.explorer.saving import export_terms, save_release
from privnb.explorer.setting import Setting, apply_roles, make_sanitizer
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import DistinctDiversity, KAnonymity, KMap
from privnb.publishing import chosen_release, from_files, gate as gates, sanitize_table
from privnb.publishing.chosen_release import gate_rule
from privnb.publishing.gate import (
    CertainValue,
    FoundInAltered,
    NotCounted,
    PublicationRule,
    Refused,
    Reproduced,
    SmallGroups,
    StatedHarmless,
    StatedPublic,
    StatedUnknowable,
    find_promised_k,
    gate,
    judge_file,
)
from privnb.sanitizers import (
    Anatomy,
    Identity,
    LaplaceNoise,
    Microaggregation,
    Mondrian,
    MultipleImputation,
    RankSwapping,
    Rounding,
    Sampling,
    Suppress,
    TopBottomCoding,
    UnivariateMicroaggregation,
)
from privnb.tables.long_tables import Memory

N = 400
WHY = "The board of the hospital decided so on 3 May."
NOBODY = "Which room somebody had is written nowhere else."


def of(rooms, reason="", ill=None, harmless=()):
    """400 people: a quasi-identifier of two values, a neutral room, and an illness."""
    attributes = (
        Attribute("group", Role.QUASI_IDENTIFIER, Categories(("old", "young"))),
        Attribute("room", Role.NEUTRAL, Numbers(0, 999), cannot_be_known=reason),
        Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu", "none")), harmless=dict.fromkeys(harmless, "so")),
    )
    every = np.arange(N)
    table = pd.DataFrame(
        {
            "group": np.where(every < N / 2, "old", "young"),
            "room": rooms,
            "ill": np.array(["cold", "flu", "none"])[every % 3] if ill is None else ill,
        }
    )
    schema = Schema("rooms", attributes)
    return Dataset("rooms", table, schema, {"group": flat(schema["group"])})


def people_alone(found):
    """Return how many people share a combination with too few others."""
    return sum(each.people for each in found.reasons if isinstance(each, SmallGroups))


def verdict(data, by, **more):
    return gate(by.sanitize(data, rng=1), original=data, **more)


TEN, ROOMS = Mondrian(KAnonymity(10)), np.arange(N) % 40  # five people of each group have each room


# ---- the rules without a policy


def test_nobody_is_singled_out_by_classes_and_coarse_columns():
    found = verdict(of(np.arange(N) % 4), TEN)
    assert found.allowed
    assert found.may_leave
    assert (found.refusal, found.notices, people_alone(found)) == ("", (), 0)


def test_the_models_promise_how_many_people_share_a_combination_of_all_that_may_be_known():
    [reason] = verdict(of(ROOMS), TEN).reasons
    assert (reason.columns, reason.responsible) == (("group", "room"), ("room",))
    assert (reason.people, reason.of, reason.least, reason.policy) == (N, N, 10, "")
    assert verdict(of(ROOMS), Mondrian(KAnonymity(5))).allowed, "five are promised, and five share each"
    assert verdict(of(ROOMS), Suppress()).allowed, "where nothing is promised nobody may stand alone, and nobody does"


def test_one_person_alone_is_refused_where_nothing_is_promised():
    [reason] = verdict(of(np.where(np.arange(N) == 7, 999, 0)), Suppress()).reasons
    assert (reason.people, reason.least, reason.responsible) == (1, 2, ("room",))
    assert "fewer than 10 people" in str(reason)
    assert reason.data()["people"] is None, "no count of few people leaves"
    assert reason.data()["fewer_than"] == 10


def test_a_refusal_names_the_columns_and_the_ways_out():
    said = verdict(of(ROOMS), TEN).refusal
    for way in ("role 'quasi-identifier'", "role 'unused'", "`cannot_be_known`", '--allow "reason"'):
        assert way in said
    assert "room singles them out. Let a model generalize it" in said


def test_only_the_columns_that_would_cure_it_are_named():
    data = of(np.arange(N) % 4)
    own = Attribute("bill", Role.NEUTRAL, Numbers(0, 9999))
    schema = Schema("rooms", (*data.schema.attributes, own))
    table = data.table.assign(bill=np.arange(N))
    [reason] = verdict(Dataset("rooms", table, schema, data.hierarchies), TEN).reasons
    assert reason.responsible == ("bill",)


def test_a_column_that_cannot_be_known_does_not_count_and_its_reason_is_repeated():
    found = verdict(of(ROOMS, reason=NOBODY), TEN)
    assert found.allowed
    assert found.notices == (StatedUnknowable((("room", NOBODY),)),)
    assert NOBODY.rstrip(".") in str(found.notices[0])


def test_the_reason_why_a_value_harms_nobody_is_repeated():
    found = verdict(of(0, reason=NOBODY, harmless=("none",)), TEN)
    assert found.notices[-1] == StatedHarmless((("ill", "none", "so"),))
    assert "none (ill: so)" in found.sentences[-1]
    assert found.data()["notices"][-1]["values"] == [["ill", "none", "so"]]


def test_exact_quasi_identifiers_count_beside_buckets_and_as_they_are():
    data = of(np.zeros(N, dtype=int))
    table = data.table.assign(group=np.where(np.arange(N) == 3, "young", "old"))
    alone = replace(data, table=table)
    for by in (Anatomy(2, "ill"), Identity()):
        [reason] = verdict(alone, by).reasons
        assert reason.exact_known == reason.responsible == ("group",)
        assert "Choose a sanitizer that generalizes it" in str(reason)
        assert verdict(data, by).allowed


def test_people_are_counted_and_not_their_records():
    """Each class has ten rows and more, and fewer people."""
    data = keyed_dataset(keyed_table(40))
    release = Mondrian(KAnonymity(2)).sanitize(data, rng=1)
    rows = replace(release, people=None)
    neutral = release.known_neutral
    claimed = replace(release.provenance, claims=(KAnonymity(4),))
    groups = release.table[[*release.schema.quasi_identifiers, *neutral]].astype(str).agg("|".join, axis=1)
    min_count = pd.Series(release.people).groupby(groups.to_numpy()).nunique().min()
    assert gate(release).allowed == (min_count >= 2)
    smallest = lambda each: people_alone(gate(replace(each, provenance=claimed)))  # noqa: E731
    assert smallest(release) <= release.headcount
    assert smallest(rows) != smallest(release)


# ---- notices


def test_certainty_is_a_notice_with_the_people_and_the_model_that_avoids_it():
    ill = np.where(np.arange(N) < N / 2, "flu", np.where(np.arange(N) % 2, "cold", "flu"))
    found = verdict(of(0, ill=ill), TEN)
    assert found.allowed
    assert found.notices == (CertainValue("ill", ("group", "room"), N // 2, N),)
    assert "distinct-l=2:ill" in str(found.notices[0])
    assert verdict(of(0, ill=ill), Mondrian(KAnonymity(10), DistinctDiversity(2, "ill"))).notices == ()
    [stated] = verdict(of(0, ill=ill, harmless=["flu"]), TEN).notices
    assert isinstance(stated, StatedHarmless)
    assert verdict(of(0, ill="flu"), TEN).notices == (), "everybody has it: the release does not disclose it"


def test_certainty_is_seen_through_the_columns_that_may_be_known():
    ill = np.where(np.arange(N) % 4 == 0, "flu", np.where(np.arange(N) % 8 < 4, "cold", "none"))
    [notice] = verdict(of(np.arange(N) % 4, ill=ill), TEN).notices
    assert notice.people == N // 4
    assert verdict(of(np.arange(N) % 4, reason=NOBODY, ill=ill), TEN).notices[:-1] == ()


def test_certainty_of_few_people_is_not_counted_aloud():
    ill = np.where(np.arange(N) < 5, "flu", np.where(np.arange(N) % 2, "cold", "none"))
    [notice] = verdict(of(np.where(np.arange(N) < 5, 1, 0), ill=ill), Mondrian(KAnonymity(5))).notices
    assert notice.people == 5
    assert "fewer than 10 people" in str(notice)
    assert notice.data()["people"] is None


def test_a_value_in_buckets_is_certain_where_a_bucket_has_no_other():
    data = of(0)
    release = Anatomy(2, "ill").sanitize(data, rng=1)
    assert not any(isinstance(each, CertainValue) for each in gate(release).notices)
    same = replace(release, buckets=release.buckets.assign(value=np.where(release.buckets.bucket < 10, "flu", "cold")))
    assert any(isinstance(each, CertainValue) for each in gate(same).notices)


def numbers():
    rng = np.random.default_rng(1)
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("pay", Role.QUASI_IDENTIFIER, Numbers(0, 9999)),
        Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu"))),
    )
    table = pd.DataFrame(
        {"age": rng.integers(0, 99, N), "pay": rng.integers(0, 9999, N), "ill": rng.choice(["cold", "flu"], N)}
    )
    schema = Schema("numbers", attributes)
    return Dataset("numbers", table, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})


def test_altered_columns_are_noticed_with_the_linkage_risk_and_its_baseline():
    loud, quiet = (verdict(numbers(), LaplaceNoise(epsilon)) for epsilon in (0.01, 1000))
    for found in (loud, quiet):
        assert found.allowed
        notice = found.notices[-1]
        assert isinstance(notice, FoundInAltered)
        assert (notice.columns, notice.chance) == (("age", "pay"), 1 / N)
        assert notice.low <= notice.share <= notice.high
    assert quiet.notices[-1].share > 0.9 > 0.1 > loud.notices[-1].share
    assert "1 in 400" in str(quiet.notices[-1])
    assert "at most" in str(loud.notices[-1])
    unmeasured = gate(LaplaceNoise(1.0).sanitize(numbers(), rng=1)).notices[0]
    assert unmeasured.share is None
    assert "Nobody measured how often" in str(unmeasured)


def test_averages_are_altered_and_what_their_groups_tell_is_certain():
    found = verdict(numbers(), Microaggregation(5))
    assert found.allowed
    assert [type(each) for each in found.notices] == [CertainValue, FoundInAltered], "what is certain is said first"


def pattern(n=N):
    """People whose illness follows from where they live, a number of which noise and swaps change little."""
    attributes = (
        Attribute("place", Role.QUASI_IDENTIFIER, Numbers(0, 999)),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 9)),
        Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu"))),
    )
    far = np.arange(n) % 2
    table = pd.DataFrame(
        {"place": 900 * far + np.arange(n) % 7, "age": np.arange(n) % 10, "ill": np.where(far, "flu", "cold")}
    )
    schema = Schema("pattern", attributes)
    return Dataset("pattern", table, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})


ALTERED = {
    "noise": LaplaceNoise(100.0),
    "swapping": RankSwapping(5),
    "averages of one column": UnivariateMicroaggregation(5),
    "synthetic rows": MultipleImputation(),
}


@pytest.mark.parametrize("by", ALTERED.values(), ids=[*ALTERED])
def test_what_altered_and_synthetic_rows_make_certain_is_noticed_first(by):
    """As many people as the measure of certainty finds, in the release itself."""
    data = pattern()
    release = by.sanitize(data, rng=1)
    found = gate(release, original=data)
    assert found.allowed
    first = found.notices[0]
    expected = Certainty(data.schema.sensitive[0]).conclusions(Case(data, by, 1, release)).certain
    assert isinstance(first, CertainValue)
    assert (first.people, first.of) == (int(expected.sum()), N)
    assert first.people > N / 2
    assert first.nearest
    assert "the rows nearest to them by place, age have the same value" in str(first)
    assert "distinct-l=2:ill" in str(first)
    capped = gate(release, original=data, rule=PublicationRule("Ours", 2, 0.0))
    assert [type(each) for each in capped.reasons] == [CertainValue]
    assert "The policy allows 0% of people" in capped.refusal


@pytest.mark.parametrize("by", [LaplaceNoise(0.1), MultipleImputation()], ids=["noise", "synthetic rows"])
def test_altered_rows_without_a_pattern_make_nothing_certain(by):
    data = pattern()
    mixed = replace(data, table=data.table.assign(ill=np.random.default_rng(3).permutation(data.table["ill"])))
    assert not any(isinstance(each, CertainValue) for each in verdict(mixed, by).notices)


@pytest.mark.parametrize("by", ALTERED.values(), ids=[*ALTERED])
def test_what_harms_nobody_is_no_certainty_of_altered_rows(by):
    data = pattern()
    age, place, ill = data.schema.attributes
    stated = Schema("pattern", (age, place, replace(ill, harmless={"flu": "so", "cold": "so"})))
    calm = replace(data, table=data.cells, schema=stated)
    assert not any(isinstance(each, CertainValue) for each in verdict(calm, by).notices)


@pytest.mark.parametrize("by", [TopBottomCoding(), Rounding()], ids=["top coding", "rounding"])
def test_cells_that_follow_from_the_value_alone_count_as_generalized_ones(by):
    """An adversary who knows a value knows its cell: the rows that have it are all that the person's row can be."""
    refused = verdict(numbers(), by)
    release = by.sanitize(numbers(), rng=1)
    sizes = release.table.groupby(["age", "pay"])["ill"].transform("size")
    [reason] = refused.reasons
    assert (reason.columns, reason.people) == (("age", "pay"), int((sizes == 1).sum()))
    assert reason.people > N / 10
    ends = {"bottom": {"place": 100, "age": 4}, "top": {"place": 800, "age": 5}}
    found = verdict(pattern(), replace(by, **ends) if isinstance(by, TopBottomCoding) else by)
    assert found.allowed
    assert (found.notices[0].people, found.notices[0].nearest) == (N, False)
    assert "everybody who is indistinguishable from them by place, age has the same value" in str(found.notices[0])


@pytest.mark.parametrize("by", [TopBottomCoding(), Rounding()], ids=["top coding", "rounding"])
def test_a_file_says_that_its_cells_follow_from_the_values(tmp_path, capsys, by):
    path, out = described(tmp_path / "people"), tmp_path / "out.csv"
    table = pd.read_csv(path.with_name("people.csv"))
    table.loc[7, ["age", "town"]] = 45, "Aford"
    table.loc[table.index != 7, "town"] = "Bton"
    table.to_csv(path.with_name("people.csv"), index=False)
    with pytest.raises(Refused, match="One person is unique in age, town"):
        from_files.sanitize(path, by, out)
    made = from_files.sanitize(path, by, out, allow=WHY)
    assert made.provenance["recoded"] == ["age"]
    [reason] = made.verdict.reasons
    read = judge_file(UndescribedTable.of(out), load(path).schema, made.provenance, Memory.of("2GB"))
    assert [each.data() for each in read.reasons] == [reason.data()]


def test_of_many_people_a_sample_is_asked_and_that_is_said(monkeypatch):
    monkeypatch.setattr(gates, "MAX_CONCLUDED", 100)
    first = verdict(pattern(), LaplaceNoise(100.0)).notices[0]
    assert (first.people, first.of, first.drawn) == (100, 100, True)
    assert "of 100 people drawn at random" in str(first)


def test_a_number_that_tells_of_few_others_is_withheld_as_the_measure_withholds_it():
    """Of 24 people who are guessed right, 20 are certain: the mean beside that number would tell of four."""
    every = np.arange(30)
    ill = np.where(every < 20, "flu", np.array(["cold", "none", "flu"])[every % 3])
    data = replace(of(0), table=pd.DataFrame({"group": np.where(every < 20, "old", "young"), "room": 0, "ill": ill}))
    release = Mondrian(KAnonymity(5)).sanitize(data, rng=1)
    [row] = [row for row in Certainty("ill").rows(Case(data, TEN, 1, release)) if row["measure"] == "made_certain"]
    assert np.isnan(row["value"])
    [notice] = [each for each in gate(release, original=data).notices if isinstance(each, CertainValue)]
    assert (notice.people, notice.data()["people"]) == (20, None)
    assert "at least 10 people, whose number is withheld, because it would reveal a small group of other" in str(notice)
    assert "20" not in json.dumps(notice.data())


def test_a_number_that_misses_few_people_is_withheld():
    ill = np.where(np.arange(N) < N - 5, np.where(np.arange(N) < N / 2, "flu", "cold"), "none")
    data = of(np.where(np.arange(N) < N - 5, 0, 1), ill=ill)
    [notice] = [each for each in verdict(data, Mondrian(KAnonymity(5))).notices if isinstance(each, CertainValue)]
    assert notice.people == N
    mixed = replace(data, table=data.table.assign(ill=np.where(np.arange(N) == N - 1, "flu", data.table["ill"])))
    [notice] = [each for each in verdict(mixed, Mondrian(KAnonymity(5))).notices if isinstance(each, CertainValue)]
    assert (notice.people, notice.data()["people"]) == (N - 5, None)
    assert "whose number is withheld" in str(notice)
    assert gates._is_withheld(N - 5, N, N - 5), "the five others may all be guessed wrong"
    assert not gates._is_withheld(N - 10, N, N - 10)


def test_what_parts_of_a_file_make_certain_stands_in_output_provenance_and_check(tmp_path, capsys):
    path, out = described(tmp_path / "people"), tmp_path / "out.csv"
    table = pd.read_csv(path.with_name("people.csv"))
    table["ill"] = np.where(table["age"] < 40, "flu", "cold")
    table["age"] = np.where(table["age"] < 40, 10, 90)
    table.to_csv(path.with_name("people.csv"), index=False)
    made = from_files.sanitize(path, Rounding(), out)
    certain = [each for each in made.verdict.notices if isinstance(each, CertainValue)]
    [people] = [each.people for each in certain]
    assert people > 100
    assert str(certain[0]) in made.sentences
    assert json.loads(out.with_name("out.csv.provenance.json").read_text())["gate"]["notices"][0]["people"] == people
    assert cli.main(["check", str(out), "--description", str(path)]) == 0
    said = capsys.readouterr().out
    assert str(certain[0]) in said, "the file does not say it, and its provenance does"
    assert "was not measured" not in said


@pytest.mark.parametrize("by", [LaplaceNoise(1000.0), MultipleImputation()], ids=["noise", "synthetic rows"])
def test_a_policy_that_caps_certainty_refuses_altered_files_that_break_it(tmp_path, by):
    path, out = described(tmp_path / "people"), tmp_path / "out.csv"
    table = pd.read_csv(path.with_name("people.csv"))
    table["ill"] = np.where(table["age"] < 40, "flu", "cold")
    table["age"] = np.where(table["age"] < 40, 10, 90) + np.arange(N) % 5
    table.to_csv(path.with_name("people.csv"), index=False)
    with pytest.raises(Refused, match="The policy allows 0% of people"):
        from_files.sanitize(path, by, out, rule=PublicationRule("Ours", 2, 0.0))
    assert not [*tmp_path.glob("out.csv*")], "nothing is written"
    found = from_files.sanitize(path, by, out, rule=PublicationRule("Ours", 2, 0.0), rehearsal=True).provenance["gate"]
    assert (found["allowed"], found["reasons"][0]["finding"]) == (False, "certain value")
    assert found["reasons"][0]["people"] > N / 2


def test_a_value_that_nearly_everybody_has_is_not_disclosed_by_altered_rows():
    data, rare = pattern(), np.arange(N) % 25 == 0
    table = data.table.assign(place=np.where(rare, 900, np.arange(N) % 7), ill=np.where(rare, "flu", "cold"))
    first = verdict(replace(data, table=table), LaplaceNoise(1000.0)).notices[0]
    assert (type(first), first.people) == (CertainValue, int(rare.sum()))


def test_exact_columns_beside_noise_count():
    data = of(np.arange(N))
    [reason] = verdict(data, LaplaceNoise(1.0) if data.schema["group"].numeric else Suppress()).reasons
    assert reason.responsible == ("room",)


def test_synthetic_rows_are_noticed_with_how_many_equal_a_persons_own():
    found = verdict(numbers(), MultipleImputation())
    assert found.allowed
    [notice] = found.notices
    assert isinstance(notice, Reproduced)
    assert (notice.columns, notice.of) == (("age", "pay"), N)
    same = MultipleImputation().sanitize(numbers(), rng=1)
    copied = replace(same, table=same.table.head(N).assign(**{n: numbers().table[n] for n in ("age", "pay")}))
    assert gate(copied, original=numbers()).notices[0].people > N / 2


# ---- with a policy


def test_a_policy_s_min_class_size_rules_and_not_the_claims():
    data = of(ROOMS)
    assert verdict(data, TEN, rule=PublicationRule("Ours", 5)).allowed
    [reason] = verdict(data, Mondrian(KAnonymity(5)), rule=PublicationRule("Ours", 6)).reasons
    assert (reason.least, reason.policy) == (6, "Ours")
    assert "the policy 'Ours' asks for 6" in str(reason)


def test_a_policy_s_cap_on_certainty_rules():
    ill = np.where(np.arange(N) < N / 2, "flu", np.where(np.arange(N) % 2, "cold", "flu"))
    data = of(0, ill=ill)
    for at_most, allowed in ((0.0, False), (0.49, False), (0.5, True), (None, True)):
        found = verdict(data, TEN, rule=PublicationRule("Ours", 5, at_most))
        assert found.allowed == allowed
        assert isinstance((found.notices if allowed else found.reasons)[0], CertainValue)


# ---- the override


def test_an_override_is_a_reason_and_is_recorded_only_where_something_is_refused():
    refused = verdict(of(ROOMS), TEN, allow=WHY)
    assert (refused.allowed, refused.may_leave, refused.override) == (False, True, WHY)
    assert any(WHY in sentence for sentence in refused.sentences)
    assert refused.data()["override"] == WHY
    assert verdict(of(np.arange(N) % 4), TEN, allow=WHY).override == ""
    with pytest.raises(ValueError, match="`allow` must be a reason"):
        verdict(of(ROOMS), TEN, allow=" ")
    with pytest.raises(TypeError, match="allow must be a str"):
        verdict(of(ROOMS), TEN, allow=1)


# ---- every door


def described(folder, *columns, reason=""):
    """A described table of 400 people in `folder`, with some neutral columns."""
    every, rng = np.arange(N), np.random.default_rng(2)
    neutral = {
        "visit": [f"v{number % 20}" for number in every],
        "note": [f"note {number}" for number in every],
        "year": ["y0"] * N,
    }
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, N),
            "town": rng.choice(["Aford", "Bton"], N),
            "ill": rng.choice(["cold", "flu", "none"], N),
            **{name: neutral[name] for name in columns},
        }
    )
    known = f'cannot_be_known = "{reason}"\n' * bool(reason)
    folder.mkdir(parents=True)
    table.to_csv(folder / "people.csv", index=False)
    words = {name: json.dumps(sorted({*table[name]})) for name in ("town", "ill", *columns)}
    roles = {"town": "quasi-identifier", "ill": "sensitive"}
    text = [
        '[dataset]\nname = "people"\ntitle = ""\ndescription = ""\nsource = ""\nlicence = ""\ncitation = ""',
        '[[files]]\npath = "people.csv"',
        '[columns.age]\nrole = "quasi-identifier"\ndomain = { low = 0, high = 99 }',
        *(
            f'[columns.{name}]\nrole = "{roles.get(name, "neutral")}"\ndomain = {words[name]}\n'
            + known * (name in columns)
            for name in words
        ),
    ]
    (folder / "people.toml").write_text("\n".join(text), encoding="utf-8")
    return folder / "people.toml"


CASES = {
    "classes alone": ((), "", True),
    "a column that tells nobody apart": (("year",), "", True),
    "a column that leaves few": (("visit",), "", False),
    "it cannot be known": (("visit",), NOBODY, True),
    "a text of one's own": (("note",), "", False),
    "that cannot be known": (("note",), NOBODY, True),
}


def of_files(path, folder):
    try:
        return from_files.sanitize(path, "k=10", folder / "files.csv").verdict
    except Refused as error:
        assert not [*folder.glob("files.csv*")], "nothing is written"
        return error.verdict


def of_parts(path, folder):
    try:
        return from_files.sanitize(path, "k=10", folder / "parts.csv", algorithm="KMember").verdict
    except Refused as error:
        assert not [*folder.glob("parts.csv*")], "nothing is written"
        return error.verdict


def of_frames(path, folder):
    frame = pl.scan_csv(path.with_name("people.csv"), infer_schema=False)
    try:
        return sanitize_table.sanitize(frame, "k=10", dataset=path).verdict
    except Refused as error:
        return error.verdict


def of_explorer(path, folder):
    data, setting = load(path), Setting("Mondrian", k=10)
    found = export_terms(data, setting, make_sanitizer(setting, data).sanitize(apply_roles(data, setting), rng=1))
    if found.refused:
        with pytest.raises(Refused) as error:
            save_release(data, setting, folder / "saved")
        assert found.refused == error.value.verdict.refusal
        assert not [*folder.glob("saved/*")], "nothing is written"
    else:
        assert json.loads(save_release(data, setting, folder / "saved")[1].read_text())["gate"] == found.verdict.data()
    return found.verdict


def of_check(path, folder):
    """Of the file that is written by an override: what is read back from it."""
    out = folder / "read.csv"
    made = from_files.sanitize(path, "k=10", out, allow=WHY)
    return judge_file(UndescribedTable.of(out), load(path).schema, made.provenance, Memory.of("2GB"))


DOORS = [of_files, of_parts, of_frames, of_explorer, of_check]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("case", CASES)
def test_every_door_gives_the_same_verdict(tmp_path, case, door):
    columns, reason, allowed = CASES[case]
    path = described(tmp_path / "people", *columns, reason=reason)
    data = load(path)
    by = Mondrian(KAnonymity(10))
    expected = gate(by.sanitize(data, rng=1), original=data)
    assert expected.allowed is allowed
    found = door(path, tmp_path)
    assert found.allowed is allowed
    if door is not of_parts:  # that clusters otherwise
        assert [each.data() for each in found.reasons] == [each.data() for each in expected.reasons]
        assert [each.data() for each in found.notices] == [each.data() for each in expected.notices]
    assert [each.responsible for each in found.reasons] == ([] if allowed else [columns])


@pytest.mark.parametrize("case", CASES)
def test_a_decision_asks_the_same_gate_by_its_policy_before_and_after_it_writes(tmp_path, case):
    columns, reason, allowed = CASES[case]
    path, out = described(tmp_path / "people", *columns, reason=reason), tmp_path / "out.csv"
    rule = gate_rule(replace(policies.read("k-5"), min_class_size=10))
    made = from_files.sanitize(path, "k=10", out, rule=rule, rehearsal=True)
    read = judge_file(UndescribedTable.of(out), load(path).schema, made.provenance, Memory.of("2GB"), rule=rule)
    for found in (made.verdict, read):
        assert found.allowed is allowed
        assert [(each.responsible, each.least) for each in found.reasons] == ([] if allowed else [(columns, 10)])
    assert made.provenance["gate"]["allowed"] is allowed, "a card of what is refused says so"
    if not allowed:
        for each in tmp_path.glob("out.csv*"):
            each.unlink()
        with pytest.raises(Refused, match="asks for 10"):
            from_files.sanitize(path, "k=10", out, rule=rule)
        assert not [*tmp_path.glob("out.csv*")], "nothing is written"


def test_an_override_stands_in_output_provenance_and_what_check_says(tmp_path, capsys):
    path, out = described(tmp_path / "people", "visit"), tmp_path / "out.csv"
    given = ["sanitize", str(path), "--model", "k=10", "--out", str(out)]
    assert cli.main(given) == 3
    assert "visit singles them out" in capsys.readouterr().err
    assert not [*tmp_path.glob("out.csv*")]
    assert cli.main([*given, "--allow", ""]) == 2
    assert "argument --allow: must not be empty" in capsys.readouterr().err
    assert cli.main([*given, "--allow", WHY]) == 0
    assert f"The owner of the release overrides this refusal: {WHY}" in capsys.readouterr().out
    facts = out.with_name("out.csv.provenance.json")
    stated = json.loads(facts.read_text(encoding="utf-8"))["gate"]
    assert (stated["allowed"], stated["override"]) == (False, WHY)
    assert stated["reasons"][0]["responsible"] == ["visit"]
    check = ["check", str(out), "--description", str(path)]
    assert cli.main(check) == 0
    said = capsys.readouterr().out
    assert "visit singles them out" in said
    assert f"The owner of the release overrides this refusal: {WHY}" in said
    facts.write_text(facts.read_text(encoding="utf-8").replace(WHY, ""), encoding="utf-8")
    assert cli.main(check) == 1, "nobody overrides it"


def test_check_ends_with_status_1_for_what_the_gate_refuses_with_provenance_or_without(tmp_path, capsys):
    path, out = described(tmp_path / "people", "visit", "year"), tmp_path / "out.csv"
    from_files.sanitize(path, "k=10", out, allow=WHY)
    facts = out.with_name("out.csv.provenance.json")
    check = ["check", str(out), "--description", str(path)]
    assert cli.main(check) == 0, "its owner overrides the refusal"
    facts.unlink()
    capsys.readouterr()
    assert cli.main(check) == 1
    assert "The gate refuses this file. One person is unique" in capsys.readouterr().out
    path.write_text(path.read_text(encoding="utf-8").replace('role = "neutral"', 'role = "unused"'), encoding="utf-8")
    pd.read_csv(out).assign(age="20-59").to_csv(out, index=False)
    assert cli.main(check) == 0


@pytest.mark.parametrize(("reason", "known"), [("", ["visit", "year"]), (NOBODY, [])])
def test_a_file_is_counted_again_by_the_neutral_columns_that_may_be_known(tmp_path, reason, known):
    path, out = described(tmp_path / "people", "visit", "year", reason=reason), tmp_path / "out.csv"
    made = from_files.sanitize(path, "k=10", out, allow=WHY)
    assert chosen_release._known(UndescribedTable.of(out), load(path).schema, made.provenance) == known
    altered = {**made.provenance, "columns": {**made.provenance["columns"], "visit": "perturbed"}}
    assert chosen_release._known(UndescribedTable.of(out), load(path).schema, altered) == known[1:]


def test_only_what_does_not_fit_is_not_counted_and_a_broken_file_is_an_error(tmp_path):
    path, out = described(tmp_path / "people", "year"), tmp_path / "out.csv"
    made = from_files.sanitize(path, "k=10", out)
    table = UndescribedTable.of(out)
    out.write_text(out.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="no record"):
        judge_file(table, load(path).schema, made.provenance, Memory.of("2GB"))


def test_an_override_stands_in_frames_and_in_what_the_explorer_saves(tmp_path):
    path = described(tmp_path / "people", "note")
    frame = pl.scan_csv(path.with_name("people.csv"), infer_schema=False)
    made = privnb.sanitize(frame, "k=10", dataset=path, allow=WHY)
    assert made.provenance["gate"]["override"] == WHY
    assert any(WHY in note for note in made.notes)
    _, facts = save_release(load(path), Setting("Mondrian", k=10), tmp_path / "saved", allow=WHY)
    saved = json.loads(facts.read_text(encoding="utf-8"))
    assert saved["gate"]["override"] == WHY
    assert any(WHY in said for said in saved["said"])


def test_adult_s_study_of_a_paper_is_allowed_with_the_paper_s_reasons_and_refused_without(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = from_files.sanitize("adult", "k=10", "out.csv", study="occupation")
    assert made.verdict.allowed
    stated = next(each for each in made.verdict.notices if isinstance(each, StatedUnknowable))
    assert {*stated.reasons} == {
        (name, "as the paper assumes") for name in load("adult", "occupation", records=50).schema.unknowable
    }
    data = load("adult", "occupation")
    bare = replace(
        data,
        table=data.cells,
        schema=Schema("adult", tuple(replace(each, cannot_be_known="") for each in data.schema.attributes)),
    )
    setting = Setting("Mondrian", k=10)
    for which, allowed in ((data, True), (bare, False)):
        found = export_terms(
            which, setting, make_sanitizer(setting, which).sanitize(apply_roles(which, setting), rng=1)
        ).verdict
        assert found.allowed is allowed
    assert found.reasons[0].people > 1257
    assert not Path("refused.csv").exists()


def test_what_does_not_fit_into_the_memory_is_not_counted_and_refused(tmp_path, monkeypatch):
    """400 people have 400 combinations with their notes, and fewer without."""
    monkeypatch.setattr(Memory, "combinations", property(lambda _: 300))
    path = described(tmp_path / "people", "note")
    for door in (of_files, of_frames, of_parts, of_check):
        found = door(path, tmp_path)
        assert isinstance(found.reasons[0], NotCounted)
        assert "note" in found.reasons[0].columns
        assert "do not fit into the memory" in found.refusal
    assert from_files.sanitize(path, "k=10", tmp_path / "out.csv", allow=WHY).verdict.may_leave


def test_a_promise_of_the_population_is_none_of_the_table():
    data = of(np.arange(N) % 2)
    population = pd.concat([data.table[["group"]]] * 10)
    release = Suppress().sanitize(data, rng=1)
    claims = KMap(50, population=population), KAnonymity(3)
    assert find_promised_k(replace(release, provenance=replace(release.provenance, claims=claims))) == 3
    assert find_promised_k(replace(release, provenance=replace(release.provenance, claims=claims[:1]))) == 2


def test_people_of_several_records_are_counted_where_a_sanitizer_takes_up_each_record(tmp_path):
    path, out = described(tmp_path / "people", "note"), tmp_path / "out.csv"
    table = pd.read_csv(path.with_name("people.csv"))
    table.assign(who=[f"person {n}" for n in np.arange(N) // 2]).to_csv(path.with_name("people.csv"), index=False)
    path.write_text(path.read_text(encoding="utf-8") + '\n[columns.who]\nrole = "person"\n', encoding="utf-8")
    with pytest.raises(Refused, match="note"):
        from_files.sanitize(path, Sampling(0.5), out)
    [reason] = from_files.sanitize(path, Sampling(0.5), out, allow=WHY).verdict.reasons
    rows = pd.read_csv(out)
    assert [*rows] == ["age", "town", "ill", "note"], "the key does not leave"
    people = rows["note"].str.removeprefix("note ").astype(int) // 2
    assert reason.of == reason.people == people.nunique() < len(rows)


def test_the_model_that_avoids_certainty_is_written_as_the_command_reads_it():
    certain = CertainValue("City, State", ("age",), 40, 100)
    assert 'distinct-l=2:"City, State" avoids that' in str(certain)


def test_what_a_policy_forbids_of_the_measured_release_refuses_it_and_an_override_is_recorded():
    rule = PublicationRule("Ours", 2, broken=("identity of the worst-off person is 31%, above the cap of 1%",))
    refused = verdict(of(0, reason=NOBODY), TEN, rule=rule)
    assert not refused.may_leave
    assert "It breaks the policy 'Ours': identity of the worst-off person is 31%" in refused.refusal
    allowed = verdict(of(0, reason=NOBODY), TEN, rule=rule, allow=WHY)
    assert (allowed.may_leave, allowed.override) == (True, WHY)
    assert allowed.data()["override"] == WHY


def test_a_public_distribution_is_repeated():
    data = of(0, reason=NOBODY)
    attributes = tuple(
        replace(each, public_distribution={"flu": 0.96}) if each.name == "ill" else each
        for each in data.schema.attributes
    )
    stated = replace(data, table=data.cells, schema=Schema("rooms", attributes))
    assert StatedPublic((("ill", "flu", 0.96),)) in verdict(stated, TEN).notices


def test_a_share_of_few_people_does_not_leave_as_data():
    few = FoundInAltered(("age",), ("age",), 0.0033, 0.0, 0.02, 0.001, 300)
    assert (few.data()["share"], few.data()["low"]) == (None, None)
    many = FoundInAltered(("age",), ("age",), 0.5, 0.4, 0.6, 0.001, 300)
    assert many.data()["share"] == 0.5


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_findings_of_a_value_that_of_the_largest_share_is_told(order):
    """Of 300 people who were asked about 6 are a larger share than 10 of 1,000."""
    few, many = CertainValue("ill", ("age",), 10, 1000), CertainValue("ill", ("age",), 6, 300, nearest=True, drawn=True)
    other = CertainValue("income", ("age",), 1, 1000)
    found = gates._most([few, many, other][::order], None)
    assert sorted(found, key=lambda each: each.sensitive) == [many, other]


@pytest.mark.parametrize(
    ("people", "stated"), [(120, "for 120 people"), (3, "for fewer than 10"), (237, "for all but")]
)
def test_the_number_of_people_who_are_singled_out_follows_the_threshold_rule(people, stated):
    finding = gates.TogetherAlone(("mark", "pay"), people, 240)
    assert stated in str(finding)
    assert finding.data()["people"] == (120 if people == 120 else None)
