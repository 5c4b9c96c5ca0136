"""`privnb compare`: two cards or two releases are compared, and what cannot be compared is refused."""

import json
import shutil
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import cli, read
from privnb.cli import answer
from privnb.datasets.dataset import load
from privnb.decision import card
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.sanitizers import KMember, Mondrian
from privnb.tables.writing import CARD, FACTS

SCHEMA = json.loads(Path(answer.__file__).with_name("answer.schema.json").read_text(encoding="utf-8"))
RELEASES = ("--dataset", str(CLINIC))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two releases of the clinic with other classes, and the first without its last two rows."""
    folder = tmp_path_factory.mktemp("compare")
    people = load(CLINIC)
    for name, sanitizer in (("old.csv", Mondrian(k=20)), ("new.csv", KMember(k=15))):
        sanitizer.sanitize(people, rng=1).publish()[0].table.to_csv(folder / name, index=False)
    pd.read_csv(folder / "old.csv").iloc[:-2].to_csv(folder / "less.csv", index=False)
    return folder


def compared(capsys, *words):
    """The document of the command, checked by its schema."""
    status = cli.main(["compare", *map(str, words), "--json", "-q"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["status"] == status
    return found


def number(value, low=None, high=None, **row):
    return {"value": value, "low": value if low is None else low, "high": value if high is None else high, "row": row}


def content(name, *, identity=0.05, attribute=(0.1, 0.0, 0.2), kept=True, dataset="clinic/clinic", title="ours", k=10):
    """The parts of a card that a comparison reads."""
    caps = [{"subject": "identity", **number(identity), "cap": 0.09, "kept": kept}]
    mean = number(*attribute, target="diagnosis")
    return {
        "card": card.VERSION,
        "release": {"file": name, "rows": 300, "k": k},
        "measured_on": dataset,
        "people": 300,
        "decision": {"release": f"Mondrian, k = {k}"},
        "policy": dict.fromkeys(("name", "title", "sha256"), title)
        | {"caps": [], "min_class_size": 5, "near_certainty": 0.9},
        "done": {"columns": {"age": "generalized"}, "rows": "the records"},
        "risks": [
            {"risk": "identity", "mean": number(identity), "worst_person": None, "caps": caps},
            {"risk": "attribute", "mean": mean, "worst_person": None, "caps": []},
        ],
        "uses": {"lost": number(0.5), "measures": [number(0.4, measure="certainty_penalty")]},
    }  # fmt: skip


@pytest.fixture
def cards(tmp_path):
    """A function that writes two cards, with changes to the second one, and returns their paths."""

    def write(**changes):
        paths = []
        for name, more in (("old.csv", {}), ("new.csv", changes)):
            paths.append(tmp_path / f"{name}{CARD}")
            paths[-1].write_text(json.dumps(content(name, **more)), encoding="utf-8")
        return paths

    return write


def test_two_releases_reveal_more_together(files, capsys, tmp_path):
    out = tmp_path / "both.json"
    found = compared(capsys, files / "old.csv", files / "new.csv", *RELEASES, "--policy", "ema-0070", "--out", out)
    values = found["values"]
    assert min(values["smallest"]["old"], values["smallest"]["new"]) == values["k"] >= 15 > values["smallest"]["pair"]
    assert values["below"]["people"]["value"] > 150
    assert found["status"] == 1
    assert "the pair breaks the policy 'ema-0070': identity of the worst-off person." in found["error"]["message"]
    (cap,) = [cap for cap in values["caps"] if not cap["pair"]["kept"]]
    assert cap["only_together"]
    identity = next(each for each in values["risks"] if (each["measure"], each["variant"]) == ("identity_risk", ""))
    assert identity["pair"]["value"] > max(identity["old"]["value"], identity["new"]["value"]) > identity["baseline"]
    assert json.loads(out.read_text()) == {key: value for key, value in values.items() if key != "out"}
    assert str(files) not in out.read_text()


def test_a_release_and_its_copy_reveal_nothing_more(files, capsys, tmp_path):
    assert cli.main(["compare", str(files / "old.csv"), str(files / "old.csv"), *RELEASES, "-q"]) == 0
    said = capsys.readouterr().out
    assert "The pair reveals nothing more than each release alone" in said
    assert "old.csv (old)" in said


def test_people_who_were_dropped_are_few_and_their_number_is_withheld(files, capsys):
    values = compared(capsys, files / "old.csv", files / "less.csv", *RELEASES)["values"]
    few = {"value": None, "low": 1.0, "high": 9.0}
    assert values["people"]["dropped"] == values["revealed"]["dropped"]["people"] == few
    assert values["people"]["both"]["value"] is None, "with the number of rows, it reveals how many were dropped"


def test_cards_are_compared_by_their_numbers_and_caps(cards, capsys):
    paths = cards(identity=0.12, attribute=(0.15, 0.1, 0.25), kept=False, k=5)
    values = compared(capsys, *paths)["values"]
    identity, attribute = values["risks"]
    assert (identity["difference"], identity["within_chance"]) == (pytest.approx(0.07), False)
    assert (attribute["difference"], attribute["within_chance"]) == (pytest.approx(0.05), True)
    assert [(cap["subject"], cap["change"]) for cap in values["caps"]] == [("identity", "newly broken")]
    assert {each["name"] for each in values["settings"]} == {"the release", "the smallest class (k)"}
    assert [each["difference"] for each in values["uses"]] == [0, 0]
    assert cli.main(["compare", *map(str, paths), "-q"]) == 0
    said = capsys.readouterr().out
    assert "new.csv breaks 1 cap that old.csv meets: identity." in said
    assert "10% of people" not in said
    assert "The difference is within chance, because the intervals overlap." in said


def test_the_people_whom_synthetic_rows_single_out_are_not_compared_with_re_identified_people(cards, capsys):
    paths = cards(identity=0.17)
    synthetic = json.loads(paths[1].read_text())
    synthetic["risks"][0]["mean"]["row"]["scenario"] = "singling out"
    paths[1].write_text(json.dumps(synthetic))
    identity, attribute = compared(capsys, *paths)["values"]["risks"]
    assert (identity["comparable"], identity["difference"], attribute["comparable"]) == (False, None, True)
    assert cli.main(["compare", *map(str, paths), "-q"]) == 0
    said = next(each for each in capsys.readouterr().out.splitlines() if each.startswith("Identity risk:"))
    assert "The two numbers are not comparable" in said
    assert "increase" not in said


def test_cards_of_different_policies_have_no_common_caps(cards, capsys):
    paths = cards(title="Another", kept=False)
    values = compared(capsys, *paths)["values"]
    assert (values["same_policy"], values["caps"]) == (False, [])
    assert cli.main(["compare", *map(str, paths), "-q"]) == 0
    assert "made under different policies, ours and Another, so their caps are not compared" in capsys.readouterr().out


def test_what_cannot_be_compared_is_refused(files, cards, capsys, tmp_path):
    old, new = cards(dataset="adult/li-li")
    other = compared(capsys, old, new)
    assert other["status"] == 4
    assert "the cards must be of one dataset" in other["error"]["message"]
    mixed = compared(capsys, old, files / "new.csv", *RELEASES)
    assert mixed["status"] == 2
    assert "must be two cards or two releases" in mixed["error"]["message"]
    assert compared(capsys, old, old, *RELEASES)["status"] == 2, "a card names its dataset itself"
    assert compared(capsys, files / "old.csv", tmp_path / "absent.csv", *RELEASES)["status"] == 4
    assert compared(capsys, files / "old.csv", files / "new.csv")["status"] == 2, "the dataset is not named"
    assert compared(capsys, files / "old.csv", files / "new.csv", "--dataset", "adult")["status"] == 4
    (tmp_path / "out.json").write_text("{}")
    assert compared(capsys, old, old, "--out", tmp_path / "out.json")["status"] == 2
    assert (tmp_path / "out.json").read_text() == "{}"


def test_a_release_whose_provenance_says_that_its_rows_are_synthetic_has_no_classes(files, capsys, tmp_path):
    shutil.copy(files / "new.csv", tmp_path / "synthetic.csv")
    facts = dict.fromkeys(("sanitizer", "parameters", "claims", "promise", "use"), "")
    provenance = facts | {"columns": {"age": "synthetic"}, "rows": "synthetic"}
    (tmp_path / f"synthetic.csv{FACTS}").write_text(json.dumps(provenance))
    found = compared(capsys, files / "old.csv", tmp_path / "synthetic.csv", *RELEASES)
    assert found["status"] == 2
    assert "nobody has a class in this release" in found["error"]["message"]


def test_an_earlier_release_is_never_compared_with_a_sample(files, tmp_path):
    table = read(CLINIC)
    with pytest.raises(UsageError, match="`records` must be all 300 records"):
        table.decide("k-5", previous=files / "old.csv", records=100)
    with pytest.raises(MissingFileError, match="there is no file"):
        table.decide("k-5", previous=tmp_path / "absent.csv")
