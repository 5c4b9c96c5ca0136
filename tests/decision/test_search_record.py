"""The caps of the first search of a table are kept, so that a card states caps that changed after results."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from privnb import compare, read
from privnb.datasets.dataset import find_description
from privnb.decision import policies
from privnb.decision.card import SCHEMA
from privnb.decision.card_changes import compare_cards
from privnb.decision.search_record import FILE, record_search
from privnb.reporting import release_card
from privnb.runtime.language import in_language
from privnb.runtime.wording import line
from privnb.workbench.table import Table

TEXT = "age,sex,illness\n" + "".join(f"{20 + i % 30},{'FM'[i % 2]},{'flu' if i % 3 else 'cold'}\n" for i in range(240))
WIDER = "the cap on the identity risk of the worst-off person was widened from 34% to 50%"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A described table and a comparison of two releases of the table: `(path, comparison)`."""
    folder = tmp_path_factory.mktemp("owner")
    (folder / "people.csv").write_text(TEXT)
    path = read(folder / "people.csv", sensitive="illness").save("people", folder=folder / "data")
    return path, compare(Table(path), ["k=5"], policy="groups-of-3", seeds=1)


@pytest.fixture
def comparison(made):
    """The comparison, without a record of earlier searches."""
    path, found = made
    path.with_name(FILE).unlink(missing_ok=True)
    return found


def own_policy(folder, at_most, size=3):
    """Write a policy with another cap on the identity risk of the worst-off person, and return its path."""
    base = policies.read("groups-of-3")
    caps = [replace(cap, at_most=at_most, people=None) if cap.statistic == "largest" else cap for cap in base.caps]
    return policies.write_policy(replace(base, caps=tuple(caps), min_class_size=size), folder / f"own-{at_most}.toml")


def test_a_cap_that_was_widened_after_results_is_stated_on_the_card(comparison, tmp_path):
    narrow, wide = own_policy(tmp_path, 0.34), own_policy(tmp_path, 0.5, size=2)
    assert "caps_changed" not in comparison.choose(narrow).explanation
    decision = comparison.choose(wide)
    assert any(
        WIDER in each and "the minimum class size was lowered from 3 to 2" in each for each in decision.sentences
    )
    card = decision.write(tmp_path / "release.csv").card
    jsonschema.validate(card.content, json.loads(SCHEMA.read_text()))
    assert {"kind": "caps_changed"} in card.content["answer"]["reservations"]
    assert WIDER in str(release_card.provenance(card).data)
    with in_language("de"):
        assert "von 34 % auf 50 % angehoben" in line(
            "decision/policy_changes", "changed", card.content["decision"]["caps_changed"]
        ).replace("\u00a0", " ").replace("\u202f", " ")
    plain = comparison.choose(narrow)
    assert "caps_changed" not in plain.explanation, "the caps are again those of the first search"
    other = plain.write(tmp_path / "other.csv").card
    changes = {each["name"]: each for each in compare_cards(other, card)["settings"]}
    assert changes["the caps"] == {
        "name": "the caps",
        "old": "not changed",
        "new": "changed after results had been seen",
    }


def test_a_cap_that_was_narrowed_is_stated_and_is_no_reservation(comparison, tmp_path):
    comparison.choose(own_policy(tmp_path, 0.5))
    decision = comparison.choose(own_policy(tmp_path, 0.34))
    assert "narrowed from 50% to 34%" in " ".join(decision.sentences)
    card = decision.write(tmp_path / "release.csv").card
    assert {"kind": "caps_changed"} not in card.content["answer"]["reservations"]


def test_the_record_begins_again_with_other_data_and_does_not_exist_for_published_tables(comparison, made, tmp_path):
    path, _ = made
    comparison.choose(own_policy(tmp_path, 0.34))
    decision = comparison.choose(own_policy(tmp_path, 0.5)).found.decision
    record = path.with_name(FILE)
    assert record.stat().st_mode & 0o077 == 0
    assert [each["caps"][0]["written"] for each in json.loads(record.read_text())] == [0.34, 0.5]
    data = next(each for each in path.parent.iterdir() if each.suffix in (".csv", ".parquet"))
    before = data.read_bytes()
    data.write_bytes(before + b"\n")
    assert record_search(path, decision).first_search["caps"][0]["written"] == 0.5
    data.write_bytes(before)
    record.write_text("[{")
    assert record_search(path, decision).first_search["sha256"] == decision.policy.sha256
    shipped = find_description("twelve")
    assert record_search(shipped, replace(decision, first_search=None)).first_search is None
    assert not Path(shipped).with_name(FILE).exists()


def test_only_a_table_with_a_licence_in_the_project_counts_as_published(made, comparison, monkeypatch):
    """A draft states an empty licence."""
    path, _ = made
    assert 'licence = ""' in path.read_text(encoding="utf-8")
    monkeypatch.setattr("privnb.decision.search_record.PROJECT", path.parent.parent.parent)
    record_search(path, comparison.choose("groups-of-3").found.decision)
    assert path.with_name(FILE).is_file()
    path.with_name(FILE).unlink()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('licence = ""', 'licence = "CC BY 4.0"'), encoding="utf-8")
    record_search(path, comparison.choose("groups-of-3").found.decision)
    assert not path.with_name(FILE).exists()
    path.write_text(text, encoding="utf-8")
