"""Every bad input on the command line is one clear message with its status, before anything runs or is written.

The list is generated: each key of a whole description is replaced by values that it may not have, each subcommand is
given each kind of file that it cannot read, and each option what it does not take.
"""

import copy
import json
import shutil

import pytest
from support.naming import naming

from privnb import cli
from privnb.reporting import report

# What is written in TOML for what: so that the valid description below can hold any of them.
BAD = [
    "3",
    '"x"',
    "[]",
    "{}",
    "true",
    "-1",
    "nan",
    "1e400",
    "[1, 2]",
    '[["x"]]',
    '{ low = "0", high = "9" }',
    "1979-05-27",
]
VALID = {
    "draft": "false",
    "dataset": {
        **dict.fromkeys(("name", "title", "description", "source", "licence", "citation"), '"word"'),
        "default_study": '"main"',
    },
    "files": [{"path": '"people.csv"', "skip_lines": "0", "line_end": '"."'}],
    "format": {"separator": '","', "header": "true", "missing": '"?"', "records_with_missing": '"keep"'},
    "renamed": {"Age": '"age"'},
    "columns": {
        "age": {"role": '"quasi-identifier"', "domain": {"low": "0", "high": "99", "step": "1"}, "unit": '"years"'},
        "sex": {"role": '"quasi-identifier"', "domain": '["F", "M"]'},
        "pay": {"role": '"sensitive"', "domain": '["low", "high"]'},
        "code": {"role": '"unused"', "form_of": '"pay"'},
    },
    "studies": {
        "main": {
            "description": '"word"',
            "quasi-identifier": '["age"]',
            "sensitive": '["pay"]',
            "hierarchies": '"default"',
            "sensitivity": {"age": "9"},
            "recoding": {"age": {"widths": "[10, 100]"}},
        }
    },
}
RECORDS = "Age,sex,pay,code\n" + "".join(
    f"{20 + i % 9},{'FM'[i % 2]},{('low', 'high')[i % 2]},{i}\n" for i in range(30)
)
# What may be as it stands there: the rest is refused.
LEGAL = {
    *((f"dataset.{key}", '"x"') for key in ("name", "title", "description", "source", "licence", "citation")),
    *((key, '"x"') for key in ("files.line_end", "format.missing", "columns.age.unit", "columns.code.form_of")),
    *((f"studies.main.{key}", '"x"') for key in ("description", "hierarchies")),  # no column needs these hierarchies
    *((key, "{}") for key in ("dataset", "format", "studies.main")),
    *((f"studies.main.{key}", "{}") for key in ("sensitivity", "recoding")),
    ("dataset", '{ low = "0", high = "9" }'),  # which is free to say more
    ("format.header", "true"), ("columns.age.domain.low", "3"), ("studies.main.sensitive", "[]"),
    ("studies.main.sensitivity.age", "3"),
}  # fmt: skip


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + " }"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else value


def written(description):
    return "".join(f"{key} = {toml(value)}\n" for key, value in description.items())


def places(value, path=()):
    """Every key of the description: `(key, its table's keys before it)`."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in parts:
        yield (*path, key)
        yield from places(each, (*path, key))


def changed(path, value):
    """VALID with `value` at `path`, or without it for None."""
    whole = copy.deepcopy(VALID)
    table = whole
    for key in path[:-1]:
        table = table[key]
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    return whole


def named(path):
    return next(str(key) for key in reversed(path) if key != 0)


PLACES = list(places(VALID))
TABLES = [(), ("format",), ("files", 0), ("columns", "sex"), ("columns", "age", "domain"), ("studies", "main")]
NEEDED = ("dataset", "files", "columns", "path", "role", "low", "high", "widths")
DESCRIPTIONS = {path: [*BAD, None] if path[-1] in NEEDED else BAD for path in PLACES if 0 not in path[-1:]}
DESCRIPTIONS |= {(*path, "misspelt"): ["3"] for path in TABLES}

LONG = "x" * 300
TABLE_FILES = {
    "missing.csv": None, "folder.csv": None, "empty.csv": b"",
    "zero.csv": b"a,b\n\0,1\n", "binary.csv": bytes(range(256)),
    "latin.csv": b"a,b\n\xc3\xa9,1\n\xe9,2\n", "header.csv": b"a,b\n", "one.csv": b"a,b\n1,2\n",
    "numbers.csv": b"1,2\n3,4\n5,6\n",
    "uneven.csv": b"a,b\n1,2\n3\n", "cell.csv": b"a,b\n" + b"x" * 3_000_000 + b",1\ny,2\n", "name.csv": b"x" * 200_000,
    "unreadable.csv": None, f"{LONG}.csv": None, "": None,
}  # fmt: skip
TOML_FILES = {
    "missing.toml": None, "folder.toml": None, "empty.toml": b"", "binary.toml": bytes(range(128, 256)),
    "half.toml": b"[dataset", "deep.toml": b"x = " + b"[" * 5000, "unreadable.toml": None, f"{LONG}.toml": None,
    "nobody": None, LONG: None, "a/b": None, "..": None,
}  # fmt: skip
READING = [
    *(
        (command, name)
        for command in (["check"], ["describe"], ["audit"])
        for name in TABLE_FILES
        if (command, name) != (["check"], "one.csv")
    ),
    *((["check"], name) for name in TOML_FILES if name.endswith(".toml")),
    *((command, name) for command in (["report"], ["explore"]) for name in TOML_FILES),
    *((["check", "good.csv", "--description"], name) for name in TOML_FILES),
]
OPTIONS = [
    *((["report", "--jobs", value], "jobs") for value in ("x", "-1", "0", "1.5", "", "nan")),
    *((["report", "--notebook", name], name) for name in ("09_no", "x", "../01_load", "*", LONG)),
    *((["report", "--notebook"], "--notebook"), (["report", "--out"], "--out")),
    *((["report", "-p", value], "-p") for value in ("K", "=2")),
    *((["report", "--out", f"..{out}"], out) for out in (f"/{LONG}", "/file", "/notebooks", "/store", "/file/x")),
    (["report", "--out", "/"], "/"),
    *(
        ([command, "-p", f"{name}={value}"], name)
        for command in ("report", "explore")
        for name, value in [
            ("NOBODY", "1"), ("k", "2"), ("OUT", "x"), ("STORE", "x"), ("N", "x"), ("N", "1.5"), ("N", ""),
            ("N", "nan"), ("SHARE", "half"), ("SHARE", ""), ("FULL", "maybe"), ("FULL", "2"), ("MIN_COUNT", "0"),
            ("MIN_COUNT", "1"), ("MIN_COUNT", "-1"), ("MIN_COUNT", "nan"), ("WEIGHTS", "age > 55"),
            ("WEIGHTS", "x()==1: 2"), ("WEIGHTS", "age >: 2"), ("WEIGHTS", "age > 5: -1"),
        ]
    ),
    *((["explore", "-p", f"K={value}"], "k") for value in ("x", "1", "-1", "nan", "inf", "9" * 400)),
    *(
        (["explore", "-p", f"{name}=Nobody"], "Nobody")
        for name in ("SANITIZER", "SENSITIVE", "MINER", "SCENARIO", "STUDY")
    ),
    *((["explore", "-p", f"{name}=-1"], "-1") for name in ("SEED", "EPSILON", "RECORDS")),
    *((["check", "good.csv", "--model", f"k={value}"], "k") for value in ("x", "1.5", "", "nan", "0", "-1")),
    *((["check", "good.csv", "--model", value], "model") for value in ("", "z=2", "k", "epsilon=1", "l=2:nobody")),
    *((["check", "good.csv", "--quasi", value], "nobody") for value in ("nobody", "age,nobody")),
    *((["check", "good.csv", "--sensitive", value], value) for value in ("nobody",)),
    (["check", "good.csv", "--quasi", "age", "--sensitive", "age"], "age"),
    *((["check", "good.csv", "--memory", value], "memory") for value in ("x", "2", "-2GB", "1MB", "", "nan")),
    *(
        (["describe", "good.csv", "--name", n], n[:200])
        for n in ("../x", "a/b", "..", ".x", "<x>", "a b", LONG, "there")
    ),
    *(([command], "TABLE") for command in ("check", "describe", "decide", "sanitize")),
    *(
        (words, words[-1])
        for words in (["nothing"], ["report", "--no"], ["check", "good.csv", "x"], ["describe", "a", "b"])
    ),
    (["reprot"], "did you mean 'report'"),
    (["report", "--notebook", "09explore"], "did you mean '09_explore'"), (["report", "--notebook", "0"], "'0'"),
    (["report", "thre"], "did you mean 'there'"), (["report", "-p", "MIN_COUN=2"], "mean 'MIN_COUNT'"),
    (["check", "good.csv", "--sensitive", "pya"], "mean 'pay'"), (["explore", "-p", "STUDY=mian"], "mean 'main'"),
    (["check", "good.csv", "--quasi", "sxe"], "did you mean 'sex'"),
    (["describe", "."], "binary.csv"), (["check", "."], "binary.csv"),
]  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory, write_notebook):
    """Two notebooks with parameters of each kind, a table, and files of all sorts."""
    root = tmp_path_factory.mktemp("project")
    cell = 'N = 3\nSHARE = 0.5\nFULL = False\nMIN_COUNT = 10\nWEIGHTS = ""\nDATASET = "there"\nOUT = ""'
    more = (
        '\nK = "5"\nEPSILON = "1"\nSANITIZER = "Mondrian"\nSEED = 1\nSCENARIO = "A"\nMINER = "naive Bayes"\nRECORDS = 0'
    )
    more += "".join(f'\n{name} = ""' for name in ("STUDY", "L", "T", "DELTA", "QUASI_IDENTIFIERS", "SENSITIVE"))
    write_notebook(root / "notebooks", "01_load", "# Why?", ("parameters", cell))
    write_notebook(root / "notebooks", "09_explore", "# Why?", ("parameters", cell + more))
    for place in (root / "here", root / "data" / "there", root / "store"):
        place.mkdir(parents=True)
    (root / "store" / "thesis").touch()
    (root / "file").touch()
    shutil.copytree(root / "data", root / "here" / "data")
    for name, content in {**TABLE_FILES, **TOML_FILES, "good.csv": RECORDS.lower().encode()}.items():
        if content is not None:
            (root / "here" / name).write_bytes(content)
        elif name.startswith("folder"):
            (root / "here" / name).mkdir()
        elif name.startswith("unreadable"):
            (root / "here" / name).symlink_to("/proc/self/mem")  # which not even root can read from its beginning
    for place in (root / "data" / "there", root / "here"):
        (place / "people.csv").write_text(RECORDS)
        (place / "there.toml").write_text(written(VALID))
    return root


def tried(arguments, project, monkeypatch, capsys):
    """Status and message of a command, in which nothing may run, start or be written."""

    def no(*_, **__):
        raise AssertionError("it has run")

    monkeypatch.chdir(project / "here")
    monkeypatch.setattr(report, "run_notebooks", no)
    monkeypatch.setattr("privnb.app.server.configure_page", no)
    before = {path: path.lstat().st_mtime_ns for path in project.rglob("*")}
    try:
        status = cli.main(arguments)
    except SystemExit as stop:  # argparse's
        status = stop.code
    assert {path: path.lstat().st_mtime_ns for path in project.rglob("*")} == before
    return status, capsys.readouterr().err


def clear(status, said, *words, statuses=(2,)):
    assert status in statuses, (status, said)
    assert any(word.lower() in said.lower() for word in words), said
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith("privnb"), said  # "privnb: ", or argparse's "privnb check: error: "
    assert last.partition(": ")[2], said


def test_the_list_is_long_and_its_beginning_is_right(project, monkeypatch, capsys):
    assert sum(map(len, DESCRIPTIONS.values())) + len(READING) + len(OPTIONS) >= 2 * 154
    (project / "here" / "changed.toml").write_text(written(VALID))
    assert tried(["check", "changed.toml"], project, monkeypatch, capsys) == (0, "")
    assert tried(["check", "good.csv", "--quasi", "sex"], project, monkeypatch, capsys) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(("path", "values"), DESCRIPTIONS.items(), ids=lambda part: str(part)[:60])
def test_a_description_that_cannot_be_is_refused(path, values, project, monkeypatch, capsys):
    place = ".".join(str(key) for key in path if key != 0)
    for value in values:
        (project / "here" / "changed.toml").write_text(written(changed(path, value)))
        with naming(value):
            status, said = tried(["check", "changed.toml"], project, monkeypatch, capsys)
            if (place, value) in LEGAL:
                assert (status, said) == (0, "")
            else:
                clear(status, said, "changed", "people.csv", "x is described", *map(str, path[-2:]), statuses=(4,))


@pytest.mark.parametrize(("command", "name"), READING, ids=lambda part: str(part)[:60])
def test_a_file_that_cannot_be_read_is_refused(command, name, project, monkeypatch, capsys):
    clear(*tried([*command, name], project, monkeypatch, capsys), name, statuses=(4, 5) if name else (2,))


@pytest.mark.parametrize(("arguments", "word"), OPTIONS, ids=lambda part: str(part)[:80])
def test_an_option_that_cannot_be_is_refused(arguments, word, project, monkeypatch, capsys):
    clear(*tried(arguments, project, monkeypatch, capsys), word, statuses=(2, 4, 5))
