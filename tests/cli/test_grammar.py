"""One grammar: a table by one name everywhere, its roles for one run, and the old forms for one version."""

import io
import json
import logging
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.cli import colors, command, completion, list as listing, old_forms, tables
from privnb.datasets.dataset import load
from privnb.datasets.description import file_digest
from privnb.microdata.schema import Role
from privnb.microdata.treatment import Rows
from privnb.runtime import progress
from privnb.runtime.errors import InputError
from privnb.runtime.names import EscapingStream

ROWS = "".join(f"n{i},{20 + i % 4},{i % 2},{'flu' if i % 3 else 'cold'},{i % 5}\n" for i in range(120))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table that nobody has described."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"name,age,zip,illness,cost\n{ROWS}")
    return tmp_path


@pytest.fixture
def described(here, capsys):
    """The same, described and confirmed."""
    assert cli.main(["describe", "people.csv", "--sensitive", "illness", "--drop", "name", "--confirm"]) == 0
    capsys.readouterr()
    return here


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("new people.csv --confirm", "describe people.csv --confirm"),
        ("app", "explore"),
        ("app --dataset mine -p K 5 -- --no-browser", "explore mine -p K=5 -- --no-browser"),
        ("app --new people.csv --name p", "describe people.csv --form --name p"),
        ("app --describe people", "describe people --form"),
        ("report --dataset=mine --parameter K 25", "report mine -p K=25"),
        ("report mine -p K_FLOOR 5 -p MADE_UP=9", "report mine -p MIN_CLASS_SIZE=5 -p SYNTHETIC_RECORDS=9"),
        ("check a.csv --dataset mine --at-least-k 5", "check a.csv --description mine --model k=5"),
        ("check a.csv --quasi-identifiers age,zip", "check a.csv --quasi age,zip"),
        ("sanitize a.csv --dataset mine --out b.csv", "sanitize a.csv --description mine --out b.csv"),
        ("decide mine --policy k-5 --release b.csv", "decide mine --policy k-5 --out b.csv"),
    ],
)  # fmt: skip
def test_an_old_form_is_rewritten(old, new):
    assert old_forms.rewrite(old.split()) == (
        new.split(),
        f"this form of the command is deprecated and will be removed in the next version. Write `privnb {new}`.",
    )
    assert old_forms.rewrite(new.split()) == (new.split(), ""), "the new form is no old one"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sanitize t.csv --output o.csv", "`privnb sanitize` has no option --output. Did you mean '--out'?"),
        ("sanitize t.csv --model k=5 --out o.csv --outsid x", "has no option --outsid. Did you mean '--outside'?"),
        ("sanitize t.csv --outt o.csv --modle k", "has no options --outt, --modle. Did you mean '--out', '--model'?"),
        ("sanitize t.csv --k 11 --out o", 'no option --k. Name privacy models in --model, such as --model "k=11".'),
        ("check t.csv --k=11 --t 0.2:a", 'such as --model "k=11, t=0.2:a".'),
        ("sanitize t.csv u.csv --model k=5 --out o.csv", "unrecognized arguments: u.csv."),
        ("describe t.csv -x", "`privnb describe` has no option -x."),
    ],
)  # fmt: skip
def test_an_unknown_option_is_named_before_a_missing_one(line, said, capsys):
    assert cli.main(line.split()) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.endswith(f" See `privnb {line.split()[0]} --help`.\n")
    assert "required" not in told


def test_a_missing_file_is_reported_before_the_options_that_need_a_file(described, capsys):
    for name, status, said in (
        ("nowhere.csv", 4, "there is no file or dataset 'nowhere.csv'"),
        ("nowhere", 4, "there is no dataset 'nowhere'"),
        ("people", 2, "--missing needs the file of the table; got the description people."),
    ):
        assert cli.main(["describe", name, "--missing", "age: 9"]) == status
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("table", ["people", "others.csv"])
def test_a_misspelt_column_of_a_model_is_a_wrong_argument(described, table, capsys):
    (described / "others.csv").write_text((described / "people.csv").read_text() + "x,20,0,flu,1\n")
    assert cli.main(["sanitize", table, "--model", "l=2:ilness", "--out", "o.csv"]) == 2
    assert "Did you mean 'illness'?" in capsys.readouterr().err


def test_options_before_the_command_are_refused_with_their_place(capsys):
    assert cli.main(["-q", "check", "t.csv"]) == 2
    assert "`privnb` has no option -q. Write the options of a command after its name." in capsys.readouterr().err


@pytest.mark.parametrize("value", ["-", "-9", "-0.5", "A: -9, B: -"])
def test_a_value_that_begins_with_a_hyphen_is_not_an_option(value):
    assert cli.parser().parse_args(["describe", "t.csv", "--missing", value, "-qv"]).missing == value


def test_the_description_of_a_described_table_is_its_own(described, capsys):
    """`sanitize NAME --description NAME`, to which the old form `--dataset NAME` is rewritten, reads the dataset."""
    assert cli.main(["sanitize", "people", "--dataset", "people", "--model", "k=5", "--out", "o.csv"]) == 0
    assert cli.main(["check", "people", "--description", "people", "--model", "k=2"]) in (0, 1)
    capsys.readouterr()
    assert cli.main(["sanitize", "people", "--description", "adult", "--model", "k=5", "--out", "p.csv"]) == 2
    assert "--description must name people or be left out" in capsys.readouterr().err


def test_an_old_form_works_with_one_line_of_warning(here, capsys):
    assert cli.main(["check", "people.csv", "--quasi-identifiers", "age", "--at-least-k", "5"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        "privnb: this form of the command is deprecated and will be removed in the next version. Write "
        "`privnb check people.csv --quasi age --model k=5`.\n"
    )
    assert cli.main(["check", "people.csv", "--quasi-identifiers", "age", "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)["warnings"][0]["code"] == "old-form"


def test_a_table_has_one_name_everywhere(described):
    """A file is described by the description that was drafted from it, as long as it is the same file."""
    path = Path("data/people/people.toml")
    for name in ("people", "people.csv", "data/people", "data/people/people.toml"):
        assert tables.find_table(name).description.resolve() == path.resolve(), name
    Path("people.csv").write_text(Path("people.csv").read_text() + "n,20,1,flu,2\n")
    assert tables.find_table("people.csv").description is None


def test_describe_shows_a_table_with_studies_and_changes_none(capsys):
    assert cli.main(["describe", str(CLINIC)]) == 0
    said = capsys.readouterr().out
    assert "The roles of a study take precedence over the roles above. The studies are: clinic" in said
    assert "CANARY" not in said
    before = CLINIC.read_bytes()
    assert cli.main(["describe", str(CLINIC), "--drop", "age"]) == 4
    assert "has studies" in capsys.readouterr().err
    assert CLINIC.read_bytes() == before


def test_a_file_that_nobody_described_is_described_for_one_run(here, monkeypatch):
    asked = []

    def decide(table, policy, **more):
        asked.append((table, more))
        raise InputError("enough")

    monkeypatch.setattr("privnb.workbench.decision.decide", decide)
    assert cli.main(["decide", "people.csv", "--policy", "k-5", "--sensitive", "illness", "--drop", "cost"]) == 4
    table, more = asked[0]
    assert (table.roles["illness"], table.roles["cost"]) == (Role.SENSITIVE, Role.UNUSED)
    assert more == {"profile": "quick", "records": 0, "seeds": 0, "store": "", "previous": None}
    assert table.assumed == ("each-row-a-person",)
    assert [each.name for each in here.iterdir()] == ["people.csv"]


def provenance(out):
    return json.loads(Path(f"{out}.provenance.json").read_text())


def test_roles_of_a_file_that_nobody_described_override_the_guess(here, capsys):
    given = ["sanitize", "people.csv", "--model", "k=5", "--out"]
    assert cli.main([*given, "a.csv"]) == 0
    assert {*pd.read_csv("a.csv")} == {"age", "zip", "illness", "cost"}
    roles = ["--sensitive", "illness", "--keep", "cost", "--drop", "zip,name", "--quasi", "age"]
    assert cli.main([*given, "b.csv", *roles, "--allow", "a test"]) == 0
    assert provenance("b.csv")["columns"] == {"age": "generalized", "illness": "exact", "cost": "exact"}
    for wrong, said in (
        (["--drop", "zipp"], "--drop: there is no column 'zipp'. Did you mean 'zip'?"),
        (["--drop", "zip", "--keep", "zip"], "'zip' must have one role; got neutral and unused."),
        (["--person", "zip,age"], "--person must name one column"),
        (["--sensitive", ","], "must list at least one name"),
    ):
        assert cli.main([*given, "c.csv", *wrong]) == 2
        assert said in capsys.readouterr().err
    assert not Path("c.csv").exists()


def test_roles_of_a_described_table_override_the_description(described, capsys):
    before = Path("data/people/people.toml").read_bytes()
    out = ["--out", "a.csv", "--model", "k=5"]
    assert cli.main(["sanitize", "people", *out, "--drop", "zip", "--sensitive", "cost"]) == 0
    assert {*pd.read_csv("a.csv")} == {"age", "illness", "cost"}
    assert cli.main(["check", "people", "--quasi", "age", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert found["values"]["quasi_identifiers"] == ["age"]
    assert Path("data/people/people.toml").read_bytes() == before


def test_a_copy_of_a_description_has_other_roles(described, tmp_path):
    """For the notebooks of a report and of the explorer; of a description with studies in each of them."""
    from privnb.microdata.schema import Role

    made = tables.copy_in_roles(Path("data/people/people.toml"), {"cost": Role.SENSITIVE}, tmp_path)
    assert load(made).schema.sensitive == ["illness", "cost"]
    (tmp_path / "more").mkdir()
    made = tables.copy_in_roles(CLINIC, {"region": Role.SENSITIVE, "age": Role.NEUTRAL}, tmp_path / "more")
    before = load(CLINIC).schema
    schema = load(made).schema
    assert {*schema.sensitive} == {*before.sensitive, "region"}
    assert schema["age"].role is Role.NEUTRAL


def test_a_report_is_of_the_roles_that_are_asked_for(described, monkeypatch):
    from privnb.reporting import report

    seen = {}

    def build(out, notebooks, parameters, **_):
        seen.update(parameters, sensitive=load(parameters["DATASET"]).schema.sensitive)
        return Path(out) / "index.html"

    monkeypatch.setattr(report, "build", build)
    monkeypatch.setattr(report, "list_left_out", lambda _: [])
    assert cli.main(["report", "people", "--notebook", "01", "--sensitive", "cost", "--out", "made"]) == 0
    assert seen["sensitive"] == ["illness", "cost"]
    assert Path(seen["DATASET"]).stem == "people"
    assert not Path(seen["DATASET"]).exists(), "the copy is gone"


def test_a_release_is_replaced_by_force_and_says_which_command_made_it(here, capsys):
    (here / "folder").mkdir()
    given = ["sanitize", str(here / "people.csv"), "--model", "k=5", f"--out={here / 'folder' / 'a.csv'}"]
    assert cli.main(given) == 0
    assert provenance("folder/a.csv")["made"]["call"] == "privnb sanitize people.csv --model k=5 --out=a.csv"
    assert cli.main(given) == 2
    assert "exists already" in capsys.readouterr().err
    assert cli.main([*given, "--force", "--bounds"]) == 0
    assert {"age_low", "age_high"} <= {*pd.read_csv("folder/a.csv")}
    assert cli.main([*given, "--force", "--outside", "nonsense"]) == 2


class TestCheckOfARelease:
    """`check RELEASE` reads its provenance and verifies what it claims."""

    @pytest.fixture
    def release(self, described, capsys):
        model = "k=6, t=0.3:illness"
        assert cli.main(["sanitize", "people", "--model", model, "--out", "out.csv"]) == 0
        capsys.readouterr()
        return described / "out.csv"

    def checked(self, capsys, *more):
        status = cli.main(["check", "out.csv", *more, "--json"])
        return status, json.loads(capsys.readouterr().out)

    def test_what_holds(self, release, capsys):
        status, found = self.checked(capsys)
        assert status == 0
        assert all(each["is_kept"] for each in found["values"]["models"])
        assert len(found["values"]["models"]) == 2
        assert found["values"]["gate"]["allowed"]
        assert found["values"]["roles_from"] == "people"

    def test_what_does_not(self, release, capsys):
        """A row that somebody added stands alone: claim and gate fail."""
        first = release.read_text().splitlines()[1].split(",")
        release.write_text(release.read_text() + ",".join(["99", *first[1:]]) + "\n")
        status, found = self.checked(capsys)
        assert status == 1
        assert found["values"]["models"][0]["is_kept"] is False
        assert not found["values"]["gate"]["allowed"]
        assert "KAnonymity(k=6) is not kept" in found["error"]["message"]

    def test_a_file_that_was_edited(self, release, capsys):
        facts = provenance("out.csv") | {"made": {"sha256": file_digest(release)}}
        Path("out.csv.provenance.json").write_text(json.dumps(facts))
        assert self.checked(capsys)[1]["values"]["is_as_written"]
        first, *rows = release.read_text().splitlines(keepends=True)
        release.write_text("".join([first, *reversed(rows)]))
        status, found = self.checked(capsys)
        assert (status, found["values"]["is_as_written"]) == (1, False)
        assert "the SHA-256 digests differ" in found["error"]["message"]

    def test_people_who_are_not_in_the_file_are_not_counted_again(self, described, capsys):
        """By rows it would keep a k that it does not keep by people."""
        rows = "".join(f"p{i // 3},{20 + i % 4},{'flu' if i % 2 else 'cold'}\n" for i in range(120))
        Path("visits.csv").write_text(f"patient,age,illness\n{rows}")
        given = ["--sensitive", "illness", "--person", "patient"]
        assert cli.main(["describe", "visits.csv", *given, "--confirm"]) == 0
        assert cli.main(["sanitize", "visits", "--model", "k=5", "--out", "out.csv"]) == 0
        assert provenance("out.csv")["roles"]["patient"] == "person"
        for _ in range(2):  # the second time without its description
            capsys.readouterr()
            status, found = self.checked(capsys)
            assert [each["is_kept"] for each in found["values"]["models"]] == [None]
            assert "counts people by 'patient'" in found["values"]["models"][0]["why_not"]
            assert (status, found["warnings"][0]["code"]) == (1, "claim-not-counted")
            assert "KAnonymity(k=5) cannot be counted in out.csv and is not verified." in found["error"]["message"]
            assert self.checked(capsys, "--accept-uncounted")[0] == 0, "the evidence is another"
            assert cli.main(["check", "out.csv"]) == 1
            first = capsys.readouterr().out.splitlines()[0]
            assert first == "Claims in the provenance, counted again in the file: none. Not counted: KAnonymity(k=5)."
            Path("data/visits/visits.toml").unlink(missing_ok=True)

    def test_a_promise_cannot_be_counted(self, release, capsys):
        facts = provenance("out.csv") | {"claims": [], "promise": {"epsilon": 0.5}}
        Path("out.csv.provenance.json").write_text(json.dumps(facts))
        status, found = self.checked(capsys)
        assert (status, found["values"]["models"][0]["model"]) == (1, "epsilon=0.5")
        Path("out.csv.provenance.json").write_text(json.dumps(facts | {"promise": None}))
        assert self.checked(capsys)[0] == 0, "nothing is claimed"

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("claims", 5, "a list of texts"),
            ("claims", [5], "a list of texts"),
            ("promise", "much", "null, or an object with a number epsilon"),
            ("columns", 3, "an object of texts"),
            ("roles", [1], "an object of texts"),
            ("made", "today", "an object"),
            ("gate", {"reasons": ["none"]}, "an object with lists of findings"),
            ("rows", "mine", "one of the records"),
            ("formulas", 7, "an object"),
        ],
    )
    def test_a_provenance_of_another_form(self, release, capsys, name, value, said):
        """From elsewhere: an input that cannot be used, and no fault of the package."""
        Path("out.csv.provenance.json").write_text(json.dumps(provenance("out.csv") | {name: value}))
        status, found = self.checked(capsys)
        assert (status, found["error"]["code"]) == (4, "schema-error")
        assert f"`{name}` must be {said}" in found["error"]["message"]

    def test_rows_of_nobody_claim_nothing(self, release, capsys):
        facts = provenance("out.csv") | {"rows": str(Rows.SYNTHETIC)}
        Path("out.csv.provenance.json").write_text(json.dumps(facts))
        _, found = self.checked(capsys)
        assert {each["is_kept"] for each in found["values"]["models"]} == {None}

    def test_without_its_dataset(self, release, capsys):
        """The models are counted again, by what the provenance says of the columns; no gate knows the dataset."""
        for path in Path("data/people").iterdir():
            if path.suffix == ".toml":
                path.unlink()
        status, found = self.checked(capsys)
        assert (status, found["values"]["gate"]) == (0, None)
        assert found["values"]["sensitive"] == ["illness"]
        assert all(each["is_kept"] for each in found["values"]["models"])

    def test_without_its_provenance(self, release, capsys):
        Path("out.csv.provenance.json").unlink()
        status, found = self.checked(capsys)
        assert "roles-assumed" in [each["code"] for each in found["warnings"]]
        assert found["values"]["roles_from"] is None
        assert found["values"]["quasi_identifiers"] == [*pd.read_csv("out.csv")]
        assert status == int(found["values"]["k"] < 2)

    def test_a_person_who_stands_alone_where_nobody_said_what_is_known(self, here, capsys):
        assert cli.main(["check", "people.csv"]) == 1
        assert "A person is alone in a class, and nobody named the quasi-identifiers." in capsys.readouterr().err
        assert cli.main(["check", "people.csv", "--quasi", "name"]) == 0, "it was said"


def test_help_fits_on_a_screen():
    (commands,) = cli.parser()._subparsers._group_actions
    assert [*commands.choices] == [*command.COMMANDS]
    for name, each in commands.choices.items():
        text = each.format_help()
        assert len(text.splitlines()) <= 48, name
        assert max(map(len, text.splitlines())) <= 120, name
        if name != "completion":
            assert f"\n  privnb {name}" in text, "an example"


def test_examples_are_commands_that_there_are(here):
    (commands,) = cli.parser()._subparsers._group_actions
    for name, each in commands.choices.items():
        if name == "completion":
            continue
        lines = [line[9:] for line in each.format_help().splitlines() if line.startswith(f"  privnb {name}")]
        for line in lines:
            words = shlex.split(line.partition(" -- ")[0])
            if "--help" not in words:
                assert cli.parser().parse_args(words), line


@pytest.fixture(scope="module")
def scripts():
    """What completes the command in each shell."""
    commands = next(each for each in cli.parser()._actions if each.choices)
    own = completion._bash(commands)
    return {"bash": own, "zsh": completion.ZSH + own, "fish": completion._fish(commands)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_commands_and_options(shell, scripts):
    script = scripts[shell]
    assert all(name in script for name in command.COMMANDS)
    assert ("--quasi" in script) if shell != "fish" else ("-l quasi" in script)
    for kind in ("policies", "sanitizers", "notebooks"):
        assert " ".join(name for name, _ in listing.KINDS[kind]()) in script


COMPLETE = """
complete_it() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _privnb; echo "${COMPREPLY[@]}"; }
"""
SHELLS = {  # how each one is asked to complete a line; zsh as its bashcompinit does
    "bash": (["bash", "-c"], COMPLETE, "complete_it {}"),
    "zsh": (["zsh", "-fc"], "emulate sh\nsetopt kshglob noshglob braceexpand" + COMPLETE, "complete_it {}"),
    "fish": (["fish", "--no-config", "-c"], "", "complete -C '{}' | string split -f1 \\t | string join ' '"),
}


@pytest.mark.parametrize("shell", [*SHELLS])
def test_a_shell_completes_values(shell, scripts, tmp_path):
    """Without Python: a key press only asks the shell."""
    start, before, ask = SHELLS[shell]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "data" / "mine").mkdir(parents=True)
    (tmp_path / "data" / "mine" / "mine.toml").touch()
    (tmp_path / "mind.csv").touch()
    lines = {
        "privnb sa": "sanitize",
        "privnb check --qu": "--quasi --quiet",
        "privnb list mod": "models",
        "privnb sanitize mi": "mind.csv mine",
        "privnb check --description adu": "adult",
        "privnb decide x --policy ema": "ema-0070",
        "privnb sanitize --outside re": "refuse",
        "privnb sanitize --algorithm Mond": "Mondrian",
        "privnb report --notebook 08": "08_decision",
    }
    script = "\n".join([scripts[shell], before, *map(ask.format, lines)])
    if shell == "zsh":
        script = f"autoload -U +X compinit && compinit -D -u\n{script}"
    ran = subprocess.run([*start, script], capture_output=True, text=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
    begun = [line.split()[-1] for line in lines]  # zsh itself leaves out words that begin otherwise
    said = [sorted(words.split()) for words in ran.stdout.splitlines()]
    said = [
        [each for each in own if shell != "zsh" or each.startswith(word)] for word, own in zip(begun, said, strict=True)
    ]
    assert [" ".join(own) for own in said] == [*lines.values()], ran.stderr


def test_steps_are_logged_with_their_seconds_and_no_value(here, capsys):
    assert cli.main(["sanitize", "people.csv", "--model", "k=5", "--out", "a.csv", "-v"]) == 0
    said = capsys.readouterr().err
    lines = said.splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("privnb: ") and line.endswith(" s") for line in lines)
    assert "n17" not in said
    assert cli.main(["sanitize", "people.csv", "--model", "k=5", "--out", "b.csv"]) == 0
    assert capsys.readouterr().err == ""
    assert logging.getLogger("privnb").handlers == []


class Terminal:
    """What a person sees."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_a_step_that_takes_long_is_shown_on_a_terminal_and_goes_away(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", EscapingStream(terminal))
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "SECONDS", 0.05)
    with progress.step("counting"):
        time.sleep(0.3)
    assert "\rcounting, 0 s \x1b[K" in terminal.text
    assert terminal.text.endswith("\r\x1b[K")
    terminal.text = ""
    with progress.set_verbosity(quiet=True), progress.step("counting"):
        time.sleep(0.2)
    assert terminal.text == ""


def test_colour_is_for_terminals_alone_and_stays_a_colour(monkeypatch):
    """What is shown is escaped, and what colors it is not."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def said(terminal):
        colors.print_line("privnb:", "red", "a\u202eb", EscapingStream(terminal))
        return terminal

    assert said(Terminal()).text == "\x1b[31mprivnb:\x1b[0m a\\u202eb\n"
    assert said(io.StringIO()).getvalue() == "privnb: a\\u202eb\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert said(Terminal()).text == "privnb: a\\u202eb\n"
