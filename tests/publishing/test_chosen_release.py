"""How a decision ends: what leaves holds nobody, fits together, and is all there or not at all."""

import contextlib
import csv
import html
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan
from support.naming import naming

from privnb import cli
from privnb.datasets.dataset import load
from privnb.decision import answer, card, decide as decide_again, policy_search
from privnb.decision.explanation import explain_decision
from privnb.decision.policies import Cap
from privnb.evaluation import profiles
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.profiles import Profile
from privnb.evaluation.results import build_row, tidy
from privnb.evaluation.risks.certainty import Certainty
from privnb.measures.intervals import wilson
from privnb.microdata.provenance import Provenance
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.publishing import chosen_release, from_files, release_job
from privnb.publishing.gate import CertainValue, Verdict
from privnb.reporting import release_card
from privnb.runtime import temporary
from privnb.sanitizers import LocalRecoding, Microaggregation, Mondrian, base
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.tables import spreadsheets, writing

pytestmark = pytest.mark.slow

CANARIES = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
TRIED = [Mondrian(KAnonymity(5)), LocalRecoding(KAnonymity(20)), Microaggregation(5)]
FAMILY = {"k": "5", "miners": "naive Bayes", "all": False}
SMALL = Profile({}, {"majority": 1}, {}, workloads={"naive Bayes": (1, 3)}, family=FAMILY)
FORMULAS = {"north-east": "@north-east", "day": "=day"}
OURS = """
title = "Ours"
source = "the hospital's board"
recipient = "another hospital"
knows = "age, weight, postcode and region"
min_class_size = 5
[[caps]]
risk = "identity"
statistic = "largest"
at_most = 0.5
[[caps]]
risk = "attribute"
at_most = 0.9
[[needs]]
measure = "certainty_penalty"
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A folder with 120 of the clinic's people, both rare ones among them, and a policy. A label of regions and a
    ward are formulas, and the table is its owner's alone.
    """
    folder = tmp_path_factory.mktemp("clinic")
    shutil.copytree(CLINIC.parent / "hierarchies", folder / "hierarchies")
    lines = CLINIC.with_suffix(".csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "clinic.csv").write_text("".join([*lines[:120], lines[212]]), encoding="utf-8")
    (folder / "clinic.csv").chmod(0o600)
    text = re.sub("sha256 = .*\n", "", CLINIC.read_text(encoding="utf-8"))
    (folder / "clinic.toml").write_text(text, encoding="utf-8")
    for name in ("clinic.csv", "clinic.toml", "hierarchies/clinic/region.csv"):
        text = (folder / name).read_text(encoding="utf-8")
        text = re.sub(r"(?<=[\n;\"])(north-east|day)(?=[;\"])", lambda word: FORMULAS[word[0]], text)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "ours.toml").write_text(OURS, encoding="utf-8")
    return folder


def decide(clinic, out, policy="ours.toml", *more):
    """The exit status of `decide`, and what it printed."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        status = cli.main(
            ["decide", str(clinic / "clinic.toml"), "--policy", str(clinic / policy), "--profile", "small",
             "--seeds", "1", "--out", str(out), *more]
        )  # fmt: skip
    return SimpleNamespace(status=status, said=said.getvalue(), wrong=wrong.getvalue())


@pytest.fixture(scope="module")
def first(clinic, tmp_path_factory):
    """The run that searches; later ones are given what it found."""
    search, found = policy_search.search_policy, []

    def search_policy(*given, **more):
        found.append(search(*given, **more))
        return found[-1]

    out = tmp_path_factory.mktemp("out") / "released.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "run_tasks", lambda tasks, store, description: [task() for task in tasks])
        patch.setitem(profiles.PROFILES, "small", SMALL)
        patch.setattr(policy_search, "build_family", lambda dataset, **_: [*reference_sanitizers(), *TRIED])
        patch.setattr(policy_search, "build_diverse", lambda dataset, **_: [])
        patch.setattr(base, "MAX_RECORDS", 119)
        patch.setattr(policy_search, "search_policy", search_policy)
        ran = decide(clinic, out)
    signed = out.with_name(out.name + writing.CARD).read_text(encoding="utf-8")
    return SimpleNamespace(**vars(ran), out=out, found=found[0], card=signed)


@pytest.fixture
def again(clinic, first, tmp_path, monkeypatch):
    """`again()`: the same run to another file, without the search; and where that is, its folder empty."""
    out = tmp_path / "out" / "released.csv"
    out.parent.mkdir()
    monkeypatch.setattr(policy_search, "search_policy", lambda *_, **__: again.found)

    def again(*given):
        return decide(clinic, out, *given)

    again.out, again.found = out, first.found
    return again


def nothing(out):
    """That nothing is left where a release was to be written."""
    return [*out.parent.iterdir()] == []


def names(out):
    return sorted(each.name.removeprefix(out.name) for each in out.parent.iterdir())


ALL = ["", writing.PAGE, writing.CARD, writing.CODEBOOK, writing.DESCRIPTOR, writing.FACTS]


def leaking(monkeypatch, *which):
    """Cards of these sanitizers, or of all, name a person."""
    make = card.make_card

    def made(*given, **named):
        signed = make(*given, **named)
        leaks_too = not which or signed.content["decision"]["sanitizer"] in which
        return card.Card(signed.content | {"measured_on": "as of CANARY-0058"}) if leaks_too else signed

    monkeypatch.setattr(card, "make_card", made)


def test_nothing_of_a_person_is_printed_or_written(clinic, first, tmp_path):
    assert (first.status, first.wrong) == (0, "")
    assert first.said.startswith("Publish Mondrian, k = 5. ")
    assert "The release meets every cap of the policy “Ours”" in first.said
    assert names(first.out) == ALL
    (tmp_path / "said.txt").write_text(first.said, encoding="utf-8")
    for ending in ALL[1:]:
        shutil.copy(f"{first.out}{ending}", tmp_path)
    known = {"original": load(clinic / "clinic.toml").table, "canaries": CANARIES}
    assert scan(tmp_path, **known) == []
    assert scan(clinic / "clinic.csv", **known), "or nothing is found anywhere"
    for line in first.out.read_text(encoding="utf-8").splitlines():
        assert IDENTIFIER not in line
        for rare in RARE:
            assert not {*rare.values()} <= {*line.split(",")}
    content = json.loads(first.out.with_name(first.out.name + writing.CARD).read_text(encoding="utf-8"))
    assert {risk["risk"] for risk in content["risks"] if risk["mean"]} >= {"identity", "attribute"}


def test_what_has_left_is_verified_by_its_card(first, capsys):
    assert cli.main(["check", str(first.out), "--card", f"{first.out}{writing.CARD}"]) == 0
    assert "the digest is the same, 120 rows" in capsys.readouterr().out


def test_what_leaves_is_its_owners_alone_like_the_table(first):
    assert {each.name: each.stat().st_mode & 0o777 for each in first.out.parent.iterdir()} == {
        first.out.name + ending: 0o600 for ending in ALL
    }


def test_formulas_are_reported_and_can_be_escaped(first, again, capsys):
    reported = "Text in region, ward begins with =, +, -, @ or a tab"
    plain = pd.read_csv(first.out, dtype=str, keep_default_na=False)
    assert plain["ward"].str.startswith("=").any()
    assert plain["region"].str.startswith("@").any()
    assert reported in first.said
    told = [name for name in ALL if name not in ("", ".codebook.csv", ".codebook.json") and "codebook" not in name]
    told = [name for name in told if name != first.out.name and Path(f"{first.out}{name}").is_file()]
    assert len(told) >= 3
    assert all(reported in Path(f"{first.out}{ending}").read_text(encoding="utf-8") for ending in told)
    ran = again("ours.toml", "--spreadsheet-safe")
    assert (ran.status, ran.wrong) == (0, "")
    assert not [
        cell
        for row in csv.reader(again.out.read_text(encoding="utf-8").splitlines())
        for cell in row
        if cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    ]
    safe = pd.read_csv(again.out, dtype=str, keep_default_na=False)
    assert safe.map(spreadsheets.unescape).sort_values([*safe]).to_numpy().tolist() == (
        plain.sort_values([*plain]).to_numpy().tolist()
    )
    escaped = "An apostrophe precedes each text in region, ward"
    assert escaped in ran.said
    assert all(escaped in html.unescape(Path(f"{again.out}{each}").read_text(encoding="utf-8")) for each in told)
    assert cli.main(["check", str(again.out), "--card", f"{again.out}{writing.CARD}"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "out.parquet"], "Give a name that ends in .csv"),
        ([], "Add --out OUT.csv"),
    ],
)
def test_formulas_are_escaped_in_csv_files_only(clinic, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policy_search, "search_policy", lambda *_, **__: pytest.fail("it is refused before the search"))
    status = cli.main(
        ["decide", str(clinic / "clinic.toml"), "--policy", str(clinic / "ours.toml"), "--spreadsheet-safe", *arguments]
    )
    assert status in (2, 4)
    assert [*tmp_path.iterdir()] == []
    assert said in capsys.readouterr().err


def test_what_cannot_be_given_so_many_records_is_not_tried(first):
    tried = {type(each) for _, settings in first.found.steps for each in settings}
    assert tried == {Mondrian, LocalRecoding}
    assert first.found.too_many == 1
    assert "Settings that were not tried, because they process all records at once" in first.said


def test_a_leaking_card_is_refused_and_leaves_nothing(again, monkeypatch):
    leaking(monkeypatch)
    ran = again()
    assert (ran.status, ran.wrong) == (1, "privnb: no release complies with the policy 'ours'.\n")
    assert nothing(again.out)
    assert IDENTIFIER not in ran.said
    for tried in ("Mondrian with k = 5", "Local recoding with k = 20", "Suppression"):
        assert f"{tried} was chosen before, but its file was refused: " in ran.said
    assert ran.said.startswith("Publish none of these releases.")
    assert "nothing was written to released.csv." in ran.said


def test_the_runner_up_of_a_refused_release_is_written_in_the_same_way(again, monkeypatch, capsys):
    leaking(monkeypatch, "Mondrian")
    ran = again()
    assert (ran.status, names(again.out)) == (0, ALL)
    assert ran.said.startswith("Publish Local recoding, k = 20.")
    assert "Mondrian with k = 5 was chosen before, but its file was refused" in ran.said
    content = json.loads(again.out.with_name(again.out.name + writing.CARD).read_text(encoding="utf-8"))
    assert content["decision"]["release"] == content["decision"]["chosen"] == "Local recoding, k = 20"
    assert content["release"]["k"] >= 20
    assert cli.main(["check", str(again.out), "--card", f"{again.out}{writing.CARD}"]) == 0


def test_the_min_class_size_is_counted_again_in_the_file(again):
    """As where the decision is of a sample, in which more people shared each combination."""
    decision = again.found.decision
    again.found = replace(again.found, decision=replace(decision, policy=replace(decision.policy, min_class_size=6)))
    ran = again()
    assert (
        "was refused: The gate refuses Mondrian(KAnonymity(k=5)). Fewer than 6 people are indistinguishable in age"
        in ran.said
    )
    assert "the policy 'Ours' asks for 6" in ran.said
    assert ran.said.startswith("Publish Local recoding, k = 20.")
    assert (ran.status, names(again.out)) == (0, ALL)


def test_an_override_releases_the_nearest_where_none_keeps_the_policy_and_stands_in_the_card(again):
    """Not a release that keeps it: that one needs no override."""
    why = "The board decided so on 3 May."
    ran = again("ours.toml", "--allow", why)
    assert ran.said.startswith("Publish Mondrian, k = 5.")
    assert why not in ran.said
    for path in again.out.parent.iterdir():
        path.unlink()
    decision = again.found.decision
    strict = replace(decision.policy, min_class_size=1000)
    again.found = replace(again.found, decision=decide_again(again.found.results, strict))
    assert again.found.chosen is None
    assert (again().status, nothing(again.out)) == (1, True)
    ran = again("ours.toml", "--allow", why)
    assert (ran.status, names(again.out)) == (1, ALL), "none keeps it, and one is released"
    assert f"The owner of the release overrides this refusal: {why}" in ran.said
    content = json.loads(again.out.with_name(again.out.name + writing.CARD).read_text(encoding="utf-8"))
    assert (content["done"]["gate"]["allowed"], content["done"]["gate"]["override"]) == (False, why)
    assert not content["answer"]["keeps"]
    page = again.out.with_name(again.out.name + release_card.PAGE).read_text(encoding="utf-8")
    assert why in page
    assert "The gate refuses" in page
    assert cli.main(["check", str(again.out), "--card", f"{again.out}{writing.CARD}"]) == 1


def test_an_override_of_a_broken_cap_stands_in_output_provenance_and_card(again):
    """The release keeps the minimum class size, and breaks a cap as it was measured."""
    why = "The board decided so on 3 May."
    policy = again.found.decision.policy
    strict = replace(policy, caps=(Cap("identity", 0.001, "largest"), *policy.caps))
    again.found = replace(again.found, decision=decide_again(again.found.results, strict))
    assert again.found.chosen is None
    assert (again().status, nothing(again.out)) == (1, True)
    ran = again("ours.toml", "--allow", why)
    assert (ran.status, names(again.out)) == (1, ALL)
    assert f"The owner of the release overrides this refusal: {why}" in ran.said
    assert "It breaks the policy 'Ours': its identity risk of the worst-off person is" in ran.said
    content = json.loads(again.out.with_name(again.out.name + writing.CARD).read_text(encoding="utf-8"))
    stated = json.loads(again.out.with_name(again.out.name + writing.FACTS).read_text(encoding="utf-8"))["gate"]
    for gate in (stated, content["done"]["gate"]):
        assert (gate["allowed"], gate["override"]) == (False, why)
        assert "exceeds the cap of 0.1%" in gate["reasons"][0]["says"]
    assert not content["answer"]["keeps"]


def test_allow_is_for_a_release(clinic, capsys):
    given = ["decide", str(clinic / "clinic.toml"), "--policy", str(clinic / "ours.toml"), "--allow", "so"]
    assert cli.main(given) == 2
    assert "--allow is for the file that --out names" in capsys.readouterr().err


def test_a_decision_on_a_sample_states_both_numbers_of_records(clinic, first):
    assert "random sample" not in first.said
    table = explain_decision(replace(first.found, records=300), load(clinic / "clinic.toml"))["table"]
    assert (table["sample"], table["records"]) == (120, 300)


def test_a_page_shows_the_card_that_would_leave_and_else_the_nearest_ones(clinic, first):
    source, dataset = clinic / "clinic.toml", load(clinic / "clinic.toml")
    content, signed = (
        chosen_release.preview_card(source, first.found, dataset, render=release_card.render_card).content,
        json.loads(first.card),
    )
    assert signed["done"]["made"]["call"].startswith("privnb decide clinic.toml --policy ours.toml ")
    for each in (content, signed):  # how it was asked for, when, and the digest of all that
        del each["done"]["made"], each["sha256"]
    assert content == signed
    of_all, sample = replace(first.found, records=300), []
    with pytest.MonkeyPatch.context() as patch:
        made = from_files.sanitize
        patch.setattr(
            from_files, "sanitize", lambda *given, **more: sample.append(more["sample"]) or made(*given, **more)
        )
        chosen_release.preview_card(source, of_all, dataset, render=release_card.render_card)
        chosen_release.preview_card(source, first.found, dataset, render=release_card.render_card)
    assert sample == [len(dataset), 0], "of a sample where the decision is of one"
    policy = first.found.decision.policy
    strict = replace(policy, caps=(replace(policy.caps[0], at_most=1e-6),))
    none = replace(first.found, decision=decide_again(first.found.results, strict))
    assert none.chosen is None
    content = chosen_release.preview_card(source, none, dataset, render=release_card.render_card).content
    assert content["decision"]["release"] == none.decision.nearest_first.iloc[0].setting
    assert (content["decision"]["chosen"], content["answer"]["keeps"]) == ("", False)
    releases = none.decision.releases
    original = replace(none, decision=replace(none.decision, releases=releases[releases.sanitizer == "Identity"]))
    with pytest.raises(NotForThisTable, match="No release other than the original can be made"):
        chosen_release.preview_card(source, original, dataset, render=release_card.render_card)


def test_claims_are_graded_again_in_the_file(again, monkeypatch):
    write, lost = writing.write, []

    def shorter(made, *given, **more):
        """Of the first file a row of a smallest class is lost on the way."""
        formulas = write(made, *given, **more)
        if not lost:
            rows = pd.read_csv(made, dtype=str)
            sizes = rows.groupby(["age", "weight", "postcode", "region"])["ward"].transform("size")
            lost.append(sizes.idxmin())
            rows.drop(lost).to_csv(made, index=False)
        return formulas

    monkeypatch.setattr(writing, "write", shorter)
    ran = again()
    assert "was refused: KAnonymity(k=5) is claimed, but 1 of" in ran.said
    assert ran.said.startswith("Publish Local recoding, k = 20.")
    assert (ran.status, names(again.out)) == (0, ALL)


def test_a_card_that_says_that_its_policy_is_broken_does_not_leave(again, monkeypatch):
    make = card.make_card

    def made(*given, **named):
        content = make(*given, **named).content
        return card.Card(content | {"answer": content["answer"] | {"keeps": False, "status": answer.BREAKS}})

    monkeypatch.setattr(card, "make_card", made)
    last = again.found.decision.without_chosen("It is late.").without_chosen("It is early.")
    again.found = replace(again.found, decision=last)
    ran = again()
    assert (ran.status, nothing(again.out)) == (1, True)
    assert "Suppression was chosen before, but its file was refused: Suppression breaks the policy" in ran.said


def test_words_about_a_file_that_name_a_person_are_not_printed(again, monkeypatch):
    monkeypatch.setattr(release_job.PublishedTable, "sentences", ["Made for CANARY-0058."])
    again.found = replace(
        again.found, decision=again.found.decision.without_chosen("It is late.").without_chosen("Too.")
    )
    ran = again()
    assert (ran.status, nothing(again.out)) == (1, True)
    assert f"would hold data of single people: {chosen_release.PRINTED}: " in ran.said
    assert IDENTIFIER not in ran.said


def test_words_that_name_a_person_are_not_printed(again, first):
    decision = first.found.decision
    named = replace(decision, policy=replace(decision.policy, title="As CANARY-0058 wishes"))
    again.found = replace(first.found, decision=named)
    ran = again()
    assert (ran.status, ran.said, nothing(again.out)) == (3, "", True)
    assert f"{chosen_release.PRINTED}: " in ran.wrong
    assert IDENTIFIER not in ran.wrong


def test_what_is_not_moved_whole_is_not_there(again, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    for module, name in ((writing.os, "rename"), (writing.os, "link"), (writing.shutil, "copy2")):
        monkeypatch.setattr(module, name, full)
    ran = again()
    assert (ran.status, ran.said, nothing(again.out)) == (5, "", True)
    assert "cannot be written: No space left on device. The unfinished file was removed." in ran.wrong


@pytest.mark.parametrize("place", ["there.csv", "no/where.csv", "out.xlsx", "closed.csv"])
def test_a_place_that_cannot_be_written_to_is_refused_before_the_search(place, clinic, monkeypatch, tmp_path):
    def closed(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(policy_search, "search_policy", lambda *_, **__: pytest.fail("it was searched"))
    if place == "closed.csv":
        monkeypatch.setattr(temporary, "temporary_folder", closed)
    with naming(place):
        assert decide(clinic, tmp_path / place).status == 2
    assert [each.name for each in tmp_path.iterdir()] == ["there.csv"]


@pytest.mark.parametrize(("certain", "share"), [(0, 0), (9, None), (15, 15 / 45), (40, 40 / 45)])
def test_of_how_many_a_value_is_certain_is_counted_in_the_file(certain, share):
    """Of 45 people some are in a class of one illness, and the others in one of three; fewer than ten are withheld, and
    so are all where fewer than ten others are guessed right."""
    others = 45 - certain
    ill = ["a"] * certain + [*("abc" * 15)[:others]]
    cells = pd.DataFrame({"age": ["1-5"] * certain + ["6-9"] * others, "ill": ill})
    schema = Schema(
        "t",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(1, 9)),
            Attribute("ill", Role.SENSITIVE, Categories(("a", "b", "c"))),
        ),
    )
    mine = {"sanitizer": "Condensation", "parameters": "k = 11"}
    rows = [build_row("made_certain", 0.5, dataset="t", target="ill", seed=seed, **mine) for seed in (1, 2)]
    rows.append(build_row("made_certain", 0.25, dataset="t", target="ill", seed=1, **(mine | {"parameters": "k = 12"})))
    found = SimpleNamespace(results=tidy(rows), decision=SimpleNamespace(chosen=pd.Series(mine)))
    secrets = [*chosen_release.count_sensitive(cells, schema, None)]
    notices = (CertainValue("ill", ("age",), certain, 45),) if certain else ()
    first, second, other = chosen_release.recount_results(
        found, secrets, Verdict("Condensation", notices=notices)
    ).value
    assert other == 0.25, "of another release"
    withheld = share is None or others == 5
    if share and not withheld:
        alike = (certain**2 + others**2) / 45
        again = chosen_release.recount_results(found, secrets, Verdict("Condensation", notices=notices))
        ends = again[["low", "high"]].to_numpy()[0]
        assert ends == pytest.approx(wilson(certain / alike, 45 / alike)), "people of a class are certain together"
    assert (first, second) == pytest.approx((np.nan, np.nan) if withheld else (share, share), nan_ok=True)


@pytest.mark.parametrize(("cap", "refused"), [(0.5, True), (0.25, False)])
def test_how_many_values_are_nearly_certain_is_counted_again_in_the_file(again, monkeypatch, cap, refused):
    """The cap that an owner sets is held against the file, of what the policy calls nearly certain."""
    policy = again.found.decision.policy
    capped = replace(policy, near_certainty=0.8, caps=(*policy.caps, Cap("near certainty", 0.3)))
    count, asked = chosen_release.count_sensitive, []

    def counted(cells, schema, times, known, near):
        asked.append((known, near))
        return [each._replace(near=round(cap * each.people)) for each in count(cells, schema, times, known, near)]

    monkeypatch.setattr(chosen_release, "count_sensitive", counted)
    again.found = replace(again.found, decision=decide_again(again.found.results, capped))
    ran = again()
    assert asked[0] == ([], 0.8), "the ward cannot be known"
    assert ("is nearly certain, which exceeds the cap of 30%" in ran.said) is refused


def test_as_many_values_are_nearly_certain_in_a_file_as_in_its_release():
    adult = load("adult", "occupation", records=1500)
    release = Mondrian(KAnonymity(3)).sanitize(adult, rng=1)
    for near in (0.95, 0.55):
        question = Certainty("occupation", near)
        expected = question.conclusions(Case(adult, Mondrian(KAnonymity(3)), 1, release)).near
        [found] = chosen_release.count_sensitive(release.table.astype(str), release.schema, None, (), near)
        assert found.near == expected.sum()
    assert found.near > 0


def test_a_neutral_column_that_may_be_known_makes_a_value_surer_in_a_file():
    cells = pd.DataFrame({"age": ["1-9"] * 40, "ward": [*"ab" * 20], "ill": [*"xy" * 20]})
    roles = {"age": Role.QUASI_IDENTIFIER, "ward": Role.NEUTRAL, "ill": Role.SENSITIVE}
    domains = {"age": Numbers(1, 9), "ward": Categories(("a", "b")), "ill": Categories(("x", "y"))}
    schema = Schema("t", tuple(Attribute(name, role, domains[name]) for name, role in roles.items()))
    [without], [known] = (chosen_release.count_sensitive(cells, schema, None, names) for names in ((), ("ward",)))
    assert (without.surest, without.near) == (0.5, 0)
    assert (known.surest, known.near) == (1.0, 40)
    policy = SimpleNamespace(caps=(Cap("attribute", 0.9, "largest"), Cap("near certainty", 0.1)))
    assert [*chosen_release.explain_exceeded([without], policy)] == []
    first, second = chosen_release.explain_exceeded([known], policy)
    assert "with a probability of 100%, which exceeds the cap of 90%" in first
    assert "the ill of 100% of people is nearly certain, which exceeds the cap of 10%" in second


@pytest.mark.parametrize(("cap", "refused"), [(0.6, True), (0.75, False), (0.9, False)])
def test_a_file_in_which_a_secret_is_surer_than_the_policy_allows_is_refused(cap, refused):
    """Nine people in two classes, of whom three in four have one illness in the second: 75%. It is the second secret;
    of the first each value is at most half as likely."""
    cells = pd.DataFrame({"age": ["1-5"] * 5 + ["6-9"] * 4, "owes": [*"abcabcabc"], "ill": [*"abcab", *"aaab"]})
    age = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(1, 9))
    secrets = [Attribute(name, Role.SENSITIVE, Categories(("a", "b", "c"))) for name in ("owes", "ill")]
    schema = Schema("t", (age, *secrets))
    policy = SimpleNamespace(caps=(Cap("attribute", cap, "largest"), Cap("attribute", 0.1)))
    said = [*chosen_release.explain_exceeded(chosen_release.count_sensitive(cells, schema, None), policy)]
    assert bool(said) is refused
    assert (
        not said
        or "the ill of a person can be guessed with a probability of 75%, which exceeds the cap of 60%." in said[0]
    )
    release = SimpleNamespace(schema=schema, hierarchies={}, provenance=Provenance("t", "by hand", {}), people=None)
    found = [*chosen_release.count_sensitive(cells, schema, None)]
    assert [*chosen_release._broken(cells, None, release, found, policy, "")] == said
    assert not [*chosen_release._broken(cells, None, release, found, policy, "The owner's reason")]
