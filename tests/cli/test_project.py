"""Projects: what is made again, what is up to date, what is refused; nothing is lost on the way."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from privnb import cli
from privnb.cli import answer
from privnb.cli.project import KEYS, Project
from privnb.runtime.errors import InputError

ROWS = "".join(f"n{i},{20 + i % 4},{i % 2},{'flu' if i % 3 else 'cold'}\n" for i in range(120))
SCHEMA = json.loads(Path(answer.__file__).with_name("answer.schema.json").read_text(encoding="utf-8"))
PARTS = ["release.csv.codebook.csv"]
RELEASE = {"table": "people.csv", "sensitive": "illness", "drop": ["name"], "model": "k=5", "out": "release.csv"}


def written(*releases):
    lines = ("".join(f"{key} = {json.dumps(value)}\n" for key, value in each.items()) for each in releases)
    return "".join(f"[[release]]\n{each}" for each in lines)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"name,age,zip,illness\n{ROWS}")
    (tmp_path / "privnb.toml").write_text(written(RELEASE))
    return tmp_path


def answered(capsys, *words):
    status = cli.main(["run", *words, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == status
    return found


def states(found):
    return [each["state"] for each in found["values"]["releases"]]


def test_a_release_is_made_once_and_again_if_its_input_changes(here, capsys):
    assert states(answered(capsys)) == ["made"]
    first = (here / "release.csv").read_bytes()
    assert states(answered(capsys)) == ["up to date"]
    assert (here / "release.csv").read_bytes() == first
    (here / "people.csv").write_text(f"name,age,zip,illness\n{ROWS}n120,20,1,flu\n")
    assert states(answered(capsys)) == ["made"]
    assert len(pd.read_csv(here / "release.csv")) == 121
    (here / "privnb.toml").write_text(written(RELEASE | {"model": "k=10"}))
    assert states(answered(capsys)) == ["made"]
    assert states(answered(capsys, "--force")) == ["made"]


def test_a_project_file_may_begin_with_the_mark_of_its_encoding(here):
    (here / "privnb.toml").write_text(written(RELEASE), encoding="utf-8-sig")
    assert [step.name for step in Project.read().steps] == ["release.csv"]


def test_a_release_that_was_deleted_is_made_again(here, capsys):
    answered(capsys)
    (here / "release.csv").unlink()
    assert states(answered(capsys)) == ["made"]
    assert (here / "release.csv").exists()


def test_what_somebody_else_wrote_is_left_as_it_is(here, capsys):
    (here / "release.csv").write_text("mine")
    assert answered(capsys)["error"]["code"] == "output-exists-error"
    assert (here / "release.csv").read_text() == "mine"
    assert states(answered(capsys, "--force")) == ["made"]


def test_a_release_that_no_run_could_record_is_made_again(here, capsys):
    """A run that is stopped there, or a workspace without its state, needs no hand."""
    answered(capsys)
    (here / ".privnb" / "made.json").unlink()
    assert states(answered(capsys)) == ["made"]
    (here / ".privnb" / "made.json").unlink()
    (here / "release.csv").write_text("mine")
    assert answered(capsys)["error"]["code"] == "output-exists-error", "it is another file than the provenance is of"


def test_the_digest_of_the_input_stays_with_the_owner(here, capsys):
    answered(capsys)
    state = here / ".privnb" / "made.json"
    assert state.stat().st_mode & 0o077 == 0
    assert (here / ".privnb" / ".gitignore").read_text() == "*\n"
    digest = json.loads(state.read_text())["release.csv"]["digest"]
    assert not [path for path in here.glob("release.csv*") if digest in path.read_text()]


def test_a_check_that_is_not_met_has_status_1_and_says_which_release(here, capsys):
    (here / "privnb.toml").write_text(written(RELEASE | {"check": "k=100"}))
    found = answered(capsys)
    assert (found["status"], states(found)) == (1, ["made, check not met"])
    assert found["error"]["message"].startswith("release.csv: ")
    assert answered(capsys)["status"] == 1, "a later run does not hide it"


def test_a_release_that_fails_stops_only_those_that_are_made_of_it(here, capsys):
    releases = (
        RELEASE | {"out": "first.csv", "model": "k=1000"},
        {"name": "second", "table": "first.csv", "model": "k=5", "out": "second.csv"},
        RELEASE | {"name": "third", "table": "nobody.csv", "out": "third.csv"},
        RELEASE,
    )
    (here / "privnb.toml").write_text(written(*releases))
    found = answered(capsys)
    jsonschema.validate(found, SCHEMA)
    assert states(found) == ["not made", "not made", "not made", "made"]
    errors = [each["error"] and each["error"]["code"] for each in found["values"]["releases"]]
    assert errors == ["sanitization-error", "input-failed", "missing-file-error", None]
    assert (found["status"], found["error"]["code"]) == (4, "missing-file-error"), "the worst"
    lines = found["error"]["message"].splitlines()
    assert [line.partition(":")[0] for line in lines] == ["first.csv", "second", "third"]
    assert sorted(path.name for path in here.glob("*.csv")) == ["people.csv", "release.csv", *PARTS]
    assert states(answered(capsys, "release.csv")) == ["up to date"], "what was finished stays"


def test_an_error_and_a_warning_name_the_release_and_its_keys(here, capsys):
    (here / "privnb.toml").write_text(written(RELEASE | {"name": "nightly", "sensitive": "ilness"}))
    assert answered(capsys)["error"]["message"].startswith("nightly: `sensitive = ...`: there is no column 'ilness'.")
    (here / "privnb.toml").write_text(written(RELEASE | {"name": "nightly"}))
    found = answered(capsys)
    assert found["warnings"]
    assert all(each["message"].startswith("nightly: ") for each in found["warnings"])


def test_a_release_in_other_roles_than_the_description_is_checked_in_them(here, capsys):
    """Else the gate would count a column as known that this release treats as sensitive."""
    rows = "".join(f"{20 + i % 4},{i % 5},{'flu' if i % 3 else 'cold'}\n" for i in range(120))
    (here / "costs.csv").write_text(f"age,cost,illness\n{rows}")
    assert cli.main(["describe", "costs.csv", "--sensitive", "illness", "--confirm"]) == 0
    capsys.readouterr()
    section = {"table": "costs", "sensitive": "cost", "model": "k=7", "out": "out.csv"}
    (here / "privnb.toml").write_text(written(section))
    assert states(answered(capsys)) == ["made"]
    assert cli.main(["check", "out.csv", "--json"]) == 1, "by the description 6 people share age and cost"


def test_people_whom_no_file_counts_were_counted_when_it_was_made(here, capsys):
    rows = "".join(f"p{i // 3},{20 + i % 4},{'flu' if i % 2 else 'cold'}\n" for i in range(120))
    (here / "visits.csv").write_text(f"patient,age,illness\n{rows}")
    section = {"table": "visits.csv", "person": "patient", "sensitive": "illness", "model": "k=5", "out": "out.csv"}
    (here / "privnb.toml").write_text(written(section))
    assert answered(capsys)["status"] == 0
    assert cli.main(["check", "out.csv"]) == 1, "whoever has the file alone cannot count them"


@pytest.mark.parametrize(
    ("releases", "said"),
    [
        ([RELEASE | {"modle": "k=5"}], "Did you mean 'model'"),
        ([RELEASE | {"records": 10}], "records needs a policy"),
        ([RELEASE | {"sensitive": 7}], "sensitive must be text or a list of texts"),
        ([RELEASE | {"bounds": "yes"}], "bounds must be true or false"),
        ([RELEASE | {"policy": "k-5"}], "either model"),
        ([{key: value for key, value in RELEASE.items() if key != "model"}], "either model"),
        ([{key: value for key, value in RELEASE.items() if key != "out"}], "must name out"),
        ([RELEASE | {"person": "name", "check": "k=5"}], "either person or check"),
        (
            [RELEASE | {"outside": "wide"}],
            "release 'release.csv' of privnb.toml: argument `outside = ...`: invalid choice: 'wide'",
        ),
        ([RELEASE | {"model": " "}], "argument `model = ...`: must not be empty"),
        ([RELEASE | {"check": " "}], "argument `check = ...`: must not be empty"),
        ([RELEASE, RELEASE | {"name": "other", "out": "./release.csv"}], "two releases have out = 'release.csv'"),
        ([RELEASE | {"name": "a"}, RELEASE | {"name": "a", "out": "b.csv"}], "two releases have name = 'a'"),
    ],
)
def test_a_wrong_project_file_is_refused_before_anything_runs(releases, said, here):
    (here / "privnb.toml").write_text(written(*releases))
    with pytest.raises(InputError, match=said) as refused:
        Project.read()
    assert " --" not in str(refused.value)
    assert cli.main(["run"]) == 4
    assert not (here / ".privnb").exists()


def test_what_is_no_project_is_refused(here, capsys):
    assert answered(capsys, "nightly")["error"]["code"] == "input-error"
    (here / "privnb.toml").write_text("release = []\n")
    assert "must have only [[release]] sections; got none." in answered(capsys)["error"]["message"]
    (here / "privnb.toml").write_text('outside = "widen"\n' + written(RELEASE))
    assert "got outside. Put each key below [[release]]." in answered(capsys)["error"]["message"]
    (here / "privnb.toml").write_text("[[release")
    assert answered(capsys)["error"]["code"] == "input-error"
    (here / "privnb.toml").unlink()
    assert answered(capsys)["error"]["code"] == "missing-file-error"


@pytest.mark.parametrize(
    ("asked", "of_the_other"),
    [
        ("model", {"records", "seeds", "profile", "store"}),
        ("policy", {"algorithm", "memory", "encoding", "description"}),
    ],
)
def test_every_key_is_an_option_of_its_command(asked, of_the_other, here):
    """So that a project file can say what a command line can, and no key is lost on the way."""
    values = dict.fromkeys(KEYS, "x") | dict.fromkeys(("bounds", "spreadsheet_safe"), True)
    values |= {"records": 5, "seeds": 5, "outside": "missing"}
    left_out = of_the_other | {"model", "policy", "check"}  # a check and a key of people exclude each other
    section = {key: value for key, value in values.items() if key not in left_out}
    (here / "privnb.toml").write_text(written(section | {asked: "x"}))
    (step,) = Project.read().steps
    assert {f"--{key.replace('_', '-')}" for key in {*section, asked} - {"table", "name", "check"}} <= {
        word.partition("=")[0] for word in step.words
    }
