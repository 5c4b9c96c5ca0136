"""How and when a release was made: names, versions and the digest of the output, and never that of the input."""

import hashlib
import json
import pickle
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC, IDENTIFIER

import privnb
from privnb.datasets.description import file_digest
from privnb.privacy_models import KAnonymity
from privnb.publishing import from_files, gate, lineage
from privnb.runtime.notices import CODES, Notice
from privnb.sanitizers import LaplaceNoise, Mondrian


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def facts(path):
    return json.loads(Path(f"{path}.provenance.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out"])
def test_a_provenance_names_the_run(here, out):
    before = datetime.now(UTC).replace(microsecond=0)
    made = from_files.sanitize(CLINIC, "k=5", here / out, allow="a test")
    stated = facts(out)["made"]
    assert stated == made.provenance["made"]
    assert stated["call"] == f"privnb.sanitize('clinic.toml', 'k=5', '{out}', allow='a test')"
    assert stated["input"], stated["output"] == ("clinic.toml", out)
    assert stated["sha256"] == file_digest(here / out)
    assert {*stated["versions"]} == {"python", "privnb", "duckdb", "numpy", "pandas"}
    assert stated["versions"]["pandas"] == pd.__version__
    assert before <= datetime.fromisoformat(stated["at"]) <= before + timedelta(minutes=5)
    assert 0 <= stated["seconds"] < 300


def test_no_folder_and_no_digest_of_the_input_stand_there(here):
    from_files.sanitize(CLINIC, Mondrian(KAnonymity(5)), here / "out.csv", allow="a test", spreadsheet_safe=True)
    text = Path("out.csv.provenance.json").read_text(encoding="utf-8")
    assert str(here) not in text
    assert str(CLINIC.parent) not in text
    for each in CLINIC.parent.rglob("*"):
        if each.is_file():
            assert hashlib.sha256(each.read_bytes()).hexdigest() not in text
    assert "spreadsheet_safe=True" in text


def test_a_call_in_other_words_is_kept(here):
    from_files.sanitize(CLINIC, "k=5", "out.csv", allow="a test", call="privnb sanitize clinic.toml")
    assert facts("out.csv")["made"]["call"] == "privnb sanitize clinic.toml"


def test_the_run_names_nobody_either(here):
    with pytest.raises(privnb.SanitizationError, match="would name a person of the column 'patient'"):
        from_files.sanitize(CLINIC, "k=5", "out.csv", allow="a test", call=f"for {IDENTIFIER}0042")
    assert not list(here.iterdir())


def test_the_same_input_gives_the_same_bytes(here):
    for out in ("one.csv", "two.csv"):
        from_files.sanitize(CLINIC, "k=5", out, allow="a test")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    one, two = (facts(out) for out in ("one.csv", "two.csv"))
    assert one.pop("made")["sha256"] == two.pop("made")["sha256"]
    assert one == two


def test_a_release_is_plain_values(here):
    made = from_files.sanitize(CLINIC, "l=2", "out.csv", algorithm="Bucketize", allow="a test")
    values = json.loads(json.dumps(made.values(), allow_nan=False))
    assert values["path"] == "out.csv"
    assert (values["records"], values["classes"]) == (300, made.classes)
    assert [each["says"] for each in values["notices"]] == [*map(str, made.notes)]
    assert {"refused", "override", "model-read-as", "cannot-be-known"} & {each["code"] for each in values["notices"]}
    assert values["provenance"] == facts("out.csv")


def test_each_sentence_has_a_code(here):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.integers(20, 60, 200), "in/out": ["=a", "b"] * 100, "day": rng.integers(0, 99, 200)}
    )
    table["ill"] = ["flu", "cold", "no", "x"] * 50
    pd.concat([table, table]).to_csv("people.csv", index=False)
    made = from_files.sanitize("people.csv", "k=5, l=2:ill", "out.csv", allow="a test")
    assert all(isinstance(each, Notice) for each in made.notes)
    codes = {each.code for each in made.notes}
    assert {"records-repeated", "column-renamed", "roles-guessed", "column-read-as", "model-read-as"} <= codes
    assert all(isinstance(each, Notice) for each in made.verdict.sentences)
    noisy = from_files.sanitize(CLINIC, LaplaceNoise(1.0), "noisy.csv", allow="a test")
    assert {"refused", "override", "found-in-altered-columns"} <= {each.code for each in noisy.notes}


def test_codes_are_stable_words():
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in CODES)
    kinds = [each for each in vars(gate).values() if isinstance(each, type) and issubclass(each, gate.Finding)]
    assert {each.kind.replace(" ", "-") for each in kinds if each is not gate.Finding} <= {*CODES}
    notice = pickle.loads(pickle.dumps(Notice("It says so.", "refused")))
    assert (notice, notice.code) == ("It says so.", "refused")
    assert isinstance(notice, Notice)


def test_a_call_has_the_arguments_that_were_given():
    def f(source, model, *, memory="2GB", bounds=False): ...

    call = lineage.format_call(f, {"source": Path("/a/b.csv"), "model": "k=5", "memory": "2GB", "bounds": True})
    assert call == "f('b.csv', 'k=5', bounds=True)"
