"""`--json`: one document on standard output for each command, each refusal and each way to stop, by its schema."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.cli import answer, command
from privnb.cli.answer import Answer
from privnb.publishing import from_files
from privnb.reporting import report
from privnb.runtime.errors import ConditionError, InputError, PrivacyError, PrivnbError, ResourceError, UsageError
from privnb.runtime.notices import Notice

SCHEMA = json.loads(Path(answer.__file__).with_name("answer.schema.json").read_text(encoding="utf-8"))
TABLE = "age,zip,illness\n" + "".join(f"{20 + i % 4},{i % 2},{'flu' if i % 3 else 'cold'}\n" for i in range(120))
TOTALS = "total,covers,value\nall,a;b;c,7\na and b,a;b,2\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table and totals, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "totals.csv").write_text(TOTALS)
    return tmp_path


def checked(text):
    """The one document in a text, as its schema says."""
    found = json.loads(text)
    jsonschema.validate(found, SCHEMA)
    return found


def answered(capsys, *words):
    """The document of a command, whose status is the exit status, and nothing else on standard output."""
    status = cli.main([*words, "--json"])
    found = checked(capsys.readouterr().out)
    assert found["status"] == status
    assert found["command"] == (words[0] if words[0] in command.COMMANDS else None)
    return found


def test_every_value_of_an_answer_is_described():
    """So that no command answers what its schema does not name."""
    described = {name: part for name, part in SCHEMA["$defs"].items() if name in command.COMMANDS}
    assert {*described} == {*command.COMMANDS} - {*command.SILENT}
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_sanitize_and_check(here, capsys):
    found = answered(capsys, "sanitize", "people.csv", "--model", "k=5, t=0.9:illness", "--out", "out.csv")
    assert (found["status"], found["error"]) == (0, None)
    assert found["values"]["records"] == 120
    assert found["values"]["smallest_class"] >= 5
    assert found["values"]["provenance"]["claims"][0] == "KAnonymity(k=5)"
    assert found["warnings"], "what was guessed"
    assert found["versions"]["python"]
    found = answered(capsys, "check", "out.csv")
    assert found["values"]["provenance"]
    assert [(each["model"], each["is_kept"]) for each in found["values"]["models"]] == [
        ("KAnonymity(k=5)", True),
        ("TCloseness(t=0.9, sensitive='illness', distance='equal')", True),
    ]
    assert (found["values"]["sensitive"], found["values"]["k"]) == (["illness"], 30)


def test_check_of_a_model_that_is_not_kept(here, capsys):
    found = answered(capsys, "check", "people.csv", "--model", "k=50")
    assert (found["status"], found["error"]["code"]) == (1, "condition-error")
    assert found["values"]["models"] == [{"model": "KAnonymity(k=50)", "level": 10, "is_kept": False, "why_not": ""}]
    assert "roles-assumed" in [each["code"] for each in found["warnings"]]


def test_describe(here, capsys):
    found = answered(capsys, "describe", "people.csv", "--sensitive", "illness")
    assert found["values"]["is_draft"]
    assert {each["name"]: each["role"] for each in found["values"]["columns"]}["illness"] == "sensitive"
    assert found["values"]["lacks"], "whether a row is a person"
    found = answered(capsys, "describe", "people", "--confirm")
    assert (found["status"], found["values"]["is_draft"], found["values"]["lacks"]) == (0, False, [])


@pytest.mark.parametrize(
    "kind", ["datasets", "sanitizers", "models", "attacks", "measures", "miners", "policies", "frameworks"]
)
def test_list(kind, capsys):
    found = answered(capsys, "list", kind)["values"]
    assert found["kind"] == kind
    assert len({each["name"] for each in found["entries"]}) == len(found["entries"]) > 2
    assert all(each["sentence"].endswith(".") for each in found["entries"])


@pytest.mark.parametrize("kind", ["notebooks", "parameters"])
def test_list_of_notebooks(kind, capsys):
    found = answered(capsys, "list", kind)["values"]
    assert len(found["entries"]) > 10
    if kind == "parameters":
        assert {"name", "sentence", "notebook", "default"} == {*found["entries"][0]}


def test_audit(here, capsys):
    found = answered(capsys, "audit", "totals.csv")
    assert (found["status"], found["error"]["code"]) == (1, "condition-error")
    assert found["values"]["disclosed"] == [{"name": "c", "value": 5, "proof": {"all": 1, "a and b": -1}}]


def test_report(here, capsys, monkeypatch):
    monkeypatch.setattr(report, "build", lambda out, *_, **__: Path(out) / "index.html")
    monkeypatch.setattr(report, "list_left_out", lambda _: ["2 numbers are withheld."])
    found = answered(capsys, "report", "--notebook", "01", "--out", "made")
    assert found["values"]["index"] == str(here / "made" / "index.html")
    assert found["values"]["notebooks"] == ["01_load"]
    assert found["warnings"] == [{"code": "left-out", "message": "2 numbers are withheld."}]


@pytest.mark.slow
def test_decide(here, capsys):
    asked = ["decide", str(CLINIC), "--policy", "k-5", "--records", "100", "--seeds", "1"]
    found = answered(capsys, *asked, "--out", "out.csv")
    assert found["status"] == 0
    assert found["values"]["chosen"].split("(")[0].isidentifier()
    assert found["values"]["card"]["release"]["file"] == "out.csv"
    assert "cannot-be-known" in [each["code"] for each in found["warnings"]], "of the file that was written"
    assert (here / "out.csv").exists()
    found = answered(capsys, "check", "out.csv", "--card", "out.csv.card.json")
    assert found["values"]["card"]["wrong"] == []


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["check", "people.csv", "--model", "k=1"], 2, "usage-error"),
        (["check", "people.csv", "--nonsense"], 2, "usage-error"),
        (["nonsense"], 2, "usage-error"),
        (["sanitize", "people.csv", "--model", "k=5", "--out", "people.csv"], 2, "output-exists-error"),
        (["sanitize", "people.csv", "--model", "k=5", "--out", "out.xlsx"], 2, "usage-error"),
        (["sanitize", "people.csv", "--model", "k=5", "--out", "nowhere/a.csv"], 2, "output-error"),
        (["sanitize", "people.csv", "--model", "k=5", "--out", "people.csv/a.csv"], 2, "output-error"),
        (
            ["sanitize", "people.csv", "--model", "k=5", "--algorithm", "LaplaceNoise", "--out", "a.csv"],
            2,
            "usage-error",
        ),
        (["sanitize", "people.csv", "--model", "k=1000", "--out", "out.csv"], 3, "sanitization-error"),
        (["check", "nobody.csv"], 4, "missing-file-error"),
        (["decide", "people.csv", "--policy", "k-5", "--drop", "age,zip"], 4, "schema-error"),
        (["check", "people.csv", "--memory", "500MB"], 5, "too-many-combinations-error"),
    ],
)
def test_refusals_of_each_status(words, status, code, here, capsys, monkeypatch):
    monkeypatch.setattr("privnb.tables.long_tables.COMBINATION", 100)
    found = answered(capsys, *words)
    assert (found["status"], found["error"]["code"], found["values"]) == (status, code, None), found["error"]
    assert sorted(path.name for path in here.iterdir()) == ["people.csv", "totals.csv"]


@pytest.mark.parametrize("kind", [ConditionError, UsageError, PrivacyError, InputError, ResourceError])
def test_an_error_of_each_class_has_its_status(kind, here, capsys, monkeypatch):
    assert issubclass(kind, PrivnbError)

    def fail(*_, **__):
        raise kind("so it is.")

    monkeypatch.setattr(from_files, "sanitize", fail)
    found = answered(capsys, "sanitize", "people.csv", "--model", "k=5", "--out", "out.csv")
    assert (found["status"], found["error"]) == (kind.status, {"code": kind.code, "message": "so it is."})


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [(errno.EACCES, 2, "output-error"), (errno.EROFS, 2, "output-error"), (errno.ENOSPC, 5, "resource-error")],
)
def test_a_folder_that_cannot_be_written_is_a_wrong_output_and_a_full_disk_is_not(
    number, status, code, here, capsys, monkeypatch
):
    def closed(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("privnb.runtime.temporary.tempfile.mkdtemp", closed)
    found = answered(capsys, "sanitize", "people.csv", "--model", "k=5", "--out", "out.csv")
    assert (found["status"], found["error"]["code"]) == (status, code)
    assert found["error"]["message"].endswith(". Nothing was written. Give another path.")


STOPS = """
import os, signal, sys
from privnb import cli
from privnb.cli import {1} as command
def stop(args):
    print("a library says something")
    os.kill(os.getpid(), signal.{0})
command.run = stop
sys.exit(cli.main([*{2}, "--json"]))
"""
STOPPED = [
    ("SIGTERM", 143, ["audit", "x"]),
    *(
        ("SIGINT", 130, words)
        for words in (
            ["audit", "x"], ["describe", "x"], ["check", "x"], ["decide", "x", "--policy", "k-5"],
            ["sanitize", "x", "--model", "k=5", "--out", "y.csv"], ["report"], ["list", "models"],
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "status", "words"), STOPPED, ids=str)
def test_a_stop_is_a_document(name, status, words):
    code = STOPS.format(name, words[0], words)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    found = checked(ran.stdout)
    assert (ran.returncode, found["status"]) == (status, status)
    assert found["error"] == {"code": "interrupted", "message": "stopped."}
    assert (found["command"], ran.stderr) == (words[0], "a library says something\n")


def test_a_fault_of_the_package_is_a_document_and_a_traceback(tmp_path):
    code = "from privnb import cli; from privnb.cli import audit; audit.run = lambda _: {}['secret']\n"
    code += "import sys; sys.argv = ['privnb', 'audit', 'x', '--json']; sys.exit(cli.run_and_trace())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=os.environ)
    found = checked(ran.stdout)
    assert (ran.returncode, found["status"], found["error"]["code"]) == (70, 70, "fault")
    assert "secret" not in ran.stdout
    assert "KeyError" in ran.stderr


def test_no_number_is_not_one_and_every_value_is_plain():
    found = json.loads(answer.to_json("audit", {"a": float("nan"), "b": Path("x")}, (), None, 0.1234))
    assert found["values"] == {"a": None, "b": "x"}
    assert found["seconds"] == 0.123


def test_an_answer_is_printed_as_it_says(capsys, monkeypatch):
    notes = Notice("four", "alert"), Notice("five", "left-out")
    said = Answer({}, ["one", notes[0]], answer.unmet_condition("two."), ["three", notes[1]])
    monkeypatch.setattr("privnb.cli.audit.run", lambda _: said)
    assert cli.main(["audit", "x"]) == 1
    assert capsys.readouterr() == ("one\nfour\n", "three\nfive\nprivnb: two.\n")
    assert cli.main(["audit", "x", "-q"]) == 1
    assert capsys.readouterr() == ("one\n", "privnb: two.\n")
    assert cli.main(["audit", "x", "--json"]) == 1
    warned = json.loads(capsys.readouterr().out)["warnings"]
    assert warned == [{"code": "alert", "message": "four"}, {"code": "left-out", "message": "five"}]
