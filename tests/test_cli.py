"""The command line: what it passes on, and how it says no. What a report holds is tested in test_report."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from support import browsing
from support.clinic import CLINIC

from privnb import cli
from privnb.app import server
from privnb.datasets import dataset
from privnb.decision import policies, policy_search
from privnb.evaluation import profiles
from privnb.microdata.schema import Role
from privnb.privacy_models import KAnonymity
from privnb.reporting import report
from privnb.reporting.notebooks import choose_notebooks, find_notebooks, notebooks_folder, reports_folder
from privnb.reporting.report import ReportError
from privnb.runtime import progress
from privnb.runtime.sentences import say
from privnb.sanitizers import Mondrian
from privnb.workbench import decision as workbench_decision


@pytest.fixture
def project(tmp_path, write_notebook, monkeypatch):
    """A project with two notebooks; the current folder is somewhere inside it."""
    for name, more in (("01_load", ""), ("04_attack", "\nK = 10")):
        write_notebook(tmp_path / "notebooks", name, "# Why?", ("parameters", 'DATASET = "adult"\nOUT = ""' + more))
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """What `report.build` is called with."""
    calls = []

    def build(out, notebooks, parameters, *, jobs, compare):
        calls.append((Path(out), notebooks, parameters, jobs))
        return Path(out) / "index.html"

    monkeypatch.setattr(report, "build", build)
    monkeypatch.setattr(report, "list_left_out", lambda index: [f"Of 9 numbers of {index.parent.name} 2 are withheld."])
    return calls


def test_report_of_all_notebooks(project, asked, capsys):
    assert cli.main(["report"]) == 0
    assert asked == [(project / "reports" / "adult", None, {}, None)]
    said = capsys.readouterr()
    assert said.out == f"file://{project}/reports/adult/index.html\n", "a link that a terminal opens"
    assert re.fullmatch(r"Made in \d+ s\.\nOf 9 numbers of adult 2 are withheld\.\n", said.err)


def test_report_of_one_notebook_goes_beside_the_whole_one(project, asked):
    cli.main(["report", "--notebook", "04_attack.ipynb", "-p", "K=25", "-p", "DATASET=mine", "--jobs", "1"])
    assert asked == [(project / "reports" / "mine-04_attack", ["04_attack.ipynb"], {"K": "25", "DATASET": "mine"}, 1)]


def test_report_of_another_profile_goes_beside_the_quick_one(project, asked, write_notebook):
    parameters = 'DATASET = "adult"\nPROFILE = "quick"\nOUT = ""'
    write_notebook(project / "notebooks", "03_utility", "# Why?", ("parameters", parameters))
    for profile, more, folder in [
        ("full", [], "adult-full"),
        ("quick", [], "adult"),
        ("full", ["--notebook", "03_utility"], "adult-full-03_utility"),
    ]:
        cli.main(["report", "-p", f"PROFILE={profile}", *more])
        assert asked.pop()[0] == project / "reports" / folder


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        (["report"], "report"),
        (["report", "PROFILE=full"], "report -p PROFILE=full --jobs 1"),
        (["report", "PROFILE=full", "DATASET=my data.toml"], "report my data.toml -p PROFILE=full --jobs 1"),
        (["explore"], "explore"),
        (["explore", "DATASET=my data.toml"], "explore my data.toml"),
    ],
)
def test_make_passes_its_variables_on(asked, command):
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "PROFILE", "DATASET")}
    make = ["make", "--no-print-directory", "--dry-run", "--assume-old=.venv/.installed", *asked]
    root = Path(cli.__file__).parents[2]
    said = subprocess.run(make, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout
    assert shlex.split(said) == [".venv/bin/privnb", *shlex.split(command.replace("my data.toml", "'my data.toml'"))]


def test_report_of_an_owners_table_to_a_folder_of_choice(project, asked):
    shutil.copytree(CLINIC.parent, project / "clinic")
    cli.main(["report", "../clinic/clinic.toml", "--out", "here"])
    assert asked == [(Path("here"), None, {"DATASET": str(project / "clinic" / "clinic.toml")}, None)]
    cli.main(["report", "../clinic/clinic.toml"])
    assert asked[1][0] == project / "reports" / "clinic"


def test_a_dataset_that_does_not_load_is_refused_before_anything_runs(project, asked, capsys):
    assert cli.main(["report", "nobody"]) == 4
    assert "privnb: there is no dataset 'nobody'" in capsys.readouterr().err
    assert asked == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--notebook", "09_no"], "privnb: there is no notebook '09_no' in {}. There are: 01_load, 04_attack.\n"),
        (["-p", "L=3"], "privnb: there is no parameter 'L' in 01_load, 04_attack. There are: DATASET, K.\n"),
    ],
)
def test_wrong_requests_get_one_message_and_status_2(project, arguments, said, capsys):
    assert cli.main(["report", *arguments]) == 2
    assert capsys.readouterr().err == said.format(project / "notebooks")
    assert not (project / "reports").exists()


def test_stopping_it_by_hand_is_no_fault(project, monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "build", stopped)
    assert cli.main(["report"]) == 130
    assert capsys.readouterr().err == "privnb: stopped.\n"


ENDLESS = """
import os, signal, sys, threading
from privnb import cli
from privnb.cli import audit
from privnb.tables import engine

def count(args):
    with engine.connect() as connection:
        threading.Timer(1, os.kill, (os.getpid(), signal.{})).start()
        connection.sql("select sum(sqrt(a.range * b.range)) from range(10000000) a, range(100000) b").fetchall()

audit.run = count
sys.exit(cli.main(["audit", "x"]))
"""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_stopping_the_engine_is_one_sentence(name, status):
    ran = subprocess.run([sys.executable, "-c", ENDLESS.format(name)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (status, "", "privnb: stopped.\n")


SWALLOWS = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(1000))
except BaseException:
    pass
"""
SWALLOWED = """
import os, signal, sys, time
from privnb import __main__, cli
from privnb.cli import audit

class Callback:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

def swallow(args):
    {}
    time.sleep(30)
    print("the stop was swallowed")

audit.run = swallow
sys.argv[1:] = ["audit", "x"]
sys.exit({}.main())
"""


@pytest.mark.parametrize("entry", ["cli", "__main__"])
@pytest.mark.parametrize("swallow", ["import swallows", "Callback()"])
def test_a_stop_that_an_import_or_a_callback_swallows_still_stops(swallow, entry, tmp_path):
    (tmp_path / "swallows.py").write_text(SWALLOWS)
    ran = subprocess.run(
        [sys.executable, "-c", SWALLOWED.format(swallow, entry)], capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "privnb: stopped.\n")


EARLY = """
import os, signal, sys

class Stop:
    def find_spec(name, path, target=None):
        if name == "privnb.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop)
sys.argv[1:] = {}
from privnb.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("words", [["audit", "x"], ["--version"], ["--help"]])
def test_a_stop_while_the_command_loads_is_one_sentence(words):
    ran = subprocess.run([sys.executable, "-c", EARLY.format(words)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "privnb: stopped.\n")


def test_a_stop_after_the_work_changes_nothing():
    code = "import os, signal; from privnb import __main__; __main__.main(); os.kill(os.getpid(), signal.SIGINT)"
    ran = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def options():
    """Each argument of each command that takes a value: the words before it, and what must be named."""
    (commands,) = cli.parser()._subparsers._group_actions
    for name, command in commands.choices.items():
        needed = [word for each in command._actions if each.required and each.option_strings
                  for word in (each.option_strings[0], "x")]  # fmt: skip
        places = [each for each in command._actions if not each.option_strings and each.nargs != "*"]
        for each in command._actions:
            if each.option_strings and each.nargs != 0 and each.dest != "help":
                yield (
                    [
                        name,
                        *(str(next(iter(place.choices or "x"))) for place in places),
                        *needed,
                        each.option_strings[-1],
                    ],
                    each.option_strings[-1],
                )
        for count, _ in enumerate(places):
            yield [name, *needed, *(["x"] * count)], places[count].metavar


MAY_BE_EMPTY = {("describe", "--sensitive"), ("report", "--help")}
OPTIONS = [(words, named) for words, named in options() if (words[0], named) not in MAY_BE_EMPTY]


@pytest.mark.parametrize("empty", ["", " "])
@pytest.mark.parametrize(("words", "named"), OPTIONS, ids=str)
def test_an_empty_argument_is_an_error(words, named, empty, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main([*words, empty]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert "must not be empty" in said or "invalid int value" in said or "invalid choice" in said
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("words", [["check", "x", "--quasi", ","], ["report", "--notebook", " , "]])
def test_a_list_of_no_names_is_an_error(words, capsys):
    assert cli.main(words) == 2
    assert "must list at least one name" in capsys.readouterr().err


def test_what_nobody_sees_is_shown_as_an_escape(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("in\u202ecome,zip\u200b,größe\n" + "1,2,3\n2,3,4\n" * 20, encoding="utf-8")
    for words in (["check", "people.csv", "--quasi", "nobody"], ["describe", "people.csv"]):
        cli.main(words)
        said = "".join(capsys.readouterr())
        assert "in\\u202ecome" in said
        assert "größe" in said
        assert not {"\u202e", "\u200b"} & {*said}
    assert cli.main(["check", "x", "--\u2066odd\udce9"]) == 2
    assert r"--\u2066odd\udce9" in capsys.readouterr().err
    assert say("a\u202eb", ["c\u2069"])._repr_html_().endswith("<p>a\\u202eb</p><ul><li>c\\u2069</li></ul></div>")


def test_want_of_memory_is_a_sentence(monkeypatch, capsys):
    def fail(error):
        def audit(_):
            raise error

        monkeypatch.setattr("privnb.cli.audit.run", audit)
        return cli.main(["audit", "x"])

    wrapped = ValueError("no table")
    wrapped.__cause__ = MemoryError()
    for error in (
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        ImportError("lib.so: failed to map segment from shared object"),
        duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"),
        wrapped,
    ):
        assert fail(error) == 5
        assert capsys.readouterr().err.startswith("privnb: there is not enough memory")
    with pytest.raises(RuntimeError, match="another"):
        fail(RuntimeError("another fault"))


def sanitize_within(limit, folder):
    """What `sanitize` does of a small table where the system limits its addresses to so many KB."""
    (folder / "people.csv").write_text("age,illness\n" + "31,flu\n" * 40)
    command = [sys.executable, "-m", "privnb", "sanitize", "people.csv", "--model", "k=2", "--out", "out.csv"]
    return subprocess.run(
        ["sh", "-c", f'ulimit -v {limit}; exec "$@"', "sh", *command],
        cwd=folder, capture_output=True, text=True, timeout=60, env=os.environ | {"PYTHONPATH": os.getcwd()},
    )  # fmt: skip


@pytest.mark.parametrize("limit", [400_000, 900_000])
def test_a_limit_of_memory_is_said(limit, tmp_path):
    ran = sanitize_within(limit, tmp_path)
    assert (ran.returncode, ran.stdout) == (5, "")
    assert "not enough memory" in ran.stderr
    assert "a command needs at least 1,000 MB" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("limit", [1_000_000, 1_100_000, 1_200_000, 1_300_000, 1_400_000])
def test_a_command_keeps_within_the_memory_it_needs(limit, tmp_path):
    """Libraries reserved more for threads and pools, and ended the process by a signal or an error of their own."""
    ran = sanitize_within(limit, tmp_path)
    said = [line for line in ran.stderr.splitlines() if not line.startswith("Compiling: ")]
    assert (ran.returncode, said) == (0, [])
    assert (tmp_path / "out.csv").exists()


def test_a_process_without_a_limit_keeps_its_threads():
    code = "import os; from privnb.runtime.processes import fit_to_limit; fit_to_limit(); print(*sorted(os.environ))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"A": "1"}, cwd=os.getcwd())
    assert not {"OMP_NUM_THREADS", "MALLOC_ARENA_MAX"} & {*ran.stdout.split()}
    assert "A" in ran.stdout.split()


def test_a_module_run_by_its_name_refuses_in_one_sentence(tmp_path):
    (tmp_path / "totals.csv").write_text("total,covers,value\na,x;y,10\nb,x;y,12\n")
    ran = subprocess.run(
        [sys.executable, "-m", "privnb.cli", "audit", str(tmp_path / "totals.csv")], capture_output=True, text=True
    )
    assert ran.returncode == 4
    assert "the totals a, b contradict each other" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_number_of_repeats_that_would_never_end_is_refused(capsys):
    assert cli.main(["decide", str(CLINIC), "--policy", "k-5", "--seeds", "99999999999"]) == 2
    assert capsys.readouterr().err == "privnb: seeds must be a whole number from 0 to 1,000; got 99999999999.\n"
    with pytest.raises(ValueError, match=r"SEEDS must be a whole number from 0 to 1,000; got 99999999999\."):
        profiles.list_seeds(99999999999, 1)


def test_a_fault_keeps_its_traceback(project, monkeypatch):
    monkeypatch.setattr(report, "build", lambda *_, **__: json.loads("no JSON"))
    with pytest.raises(json.JSONDecodeError):
        cli.main(["report"])


def test_notebooks_are_found_from_anywhere_in_a_project(project, monkeypatch, tmp_path_factory):
    assert notebooks_folder() == project / "notebooks"
    assert notebooks_folder(project / "notebooks") == project / "notebooks"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr(dataset, "PROJECT", elsewhere)
    with pytest.raises(ReportError, match="no notebook was found; privnb looked for notebooks/NN_name"):
        notebooks_folder(elsewhere)


def test_reports_go_beside_the_notebooks_or_to_the_current_folder(project, monkeypatch, tmp_path_factory):
    assert reports_folder(project / "notebooks") == project / "reports"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert reports_folder(project / "notebooks") == elsewhere / "reports"


def shown(_, command):
    """Stands for the process that a command becomes."""
    print(*command, sep="\n")
    raise SystemExit


def test_lab_opens_copies_that_git_ignores_and_keeps_what_the_user_changed(project, monkeypatch, capsys):
    """A copy that was only run is refreshed; one whose cells were changed is kept."""
    monkeypatch.setattr(os, "execv", shown)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    own, original = project / "my_notebooks", project / "notebooks" / "04_attack.ipynb"
    for said in (f"The notebooks are copied to {own}", ""):
        progress._said.clear()
        with pytest.raises(SystemExit):
            cli.main(["lab"])
        told = capsys.readouterr()
        assert f"--ServerApp.root_dir={own}\n" in told.out
        assert said in told.err
        assert bool(told.err) == bool(said)
    assert {"01_load.ipynb", "04_attack.ipynb"} <= {path.name for path in own.iterdir()}
    status = ["git", "status", "--porcelain", "--", "my_notebooks"]
    assert subprocess.run(status, cwd=project, capture_output=True, text=True, check=True).stdout == ""
    for path, new in ((own / "01_load.ipynb", "# Mine"), (original.with_name("01_load.ipynb"), "# What?")):
        path.write_text(path.read_text().replace("# Why?", new))
    ran = json.loads((own / "04_attack.ipynb").read_text())
    ran["cells"][1] |= {"outputs": [], "execution_count": 7}
    (own / "04_attack.ipynb").write_text(json.dumps(ran))
    original.write_text(original.read_text().replace("K = 10", "K = 11"))
    with pytest.raises(SystemExit):
        cli.main(["lab"])
    assert f"{own / '01_load.ipynb'} has your changes and is kept" in capsys.readouterr().err
    assert "# Mine" in (own / "01_load.ipynb").read_text()
    assert "K = 11" in (own / "04_attack.ipynb").read_text()
    monkeypatch.chdir(own)
    assert notebooks_folder() == own, "a report of the copies"


def test_what_an_installed_package_brings_is_copied_to_the_current_folder(
    project, monkeypatch, tmp_path_factory, capsys
):
    monkeypatch.setattr(dataset, "SHIPPED", project)
    monkeypatch.setattr(dataset, "PROJECT", project)
    own = tmp_path_factory.mktemp("own")
    monkeypatch.chdir(own)
    monkeypatch.setattr(os, "execv", shown)
    (own / "my_notebooks").touch()
    assert cli.main(["lab"]) == 2
    assert "must be a folder for copies of the notebooks" in capsys.readouterr().err
    (own / "my_notebooks").unlink()
    with pytest.raises(SystemExit):
        cli.main(["lab"])
    assert f"--ServerApp.root_dir={own / 'my_notebooks'}\n" in capsys.readouterr().out
    assert find_notebooks() == own / "my_notebooks"


def test_a_notebook_knows_the_description_of_its_table_wherever_that_is(project, monkeypatch):
    """Beside it, in the project or the package, or at a path as seen from it."""
    (notebook,) = choose_notebooks(project / "notebooks", ["01"])
    assert notebook.described == dataset.PROJECT / "data" / "adult" / "adult.toml"
    shutil.copytree(CLINIC.parent, project / "data" / "clinic")
    for name in ("clinic", "../data/clinic/clinic.toml"):
        (notebook,) = choose_notebooks(project / "notebooks", ["01"], {"DATASET": name})
        assert notebook.described == (project / "data" / "clinic" / "clinic.toml").resolve()
    assert choose_notebooks(project / "notebooks", ["01"], {"DATASET": "nobody"})[0].described is None


def test_alone_it_says_what_it_can_do(capsys):
    assert cli.main([]) == 0
    said = capsys.readouterr().out
    commands = (
        "describe",
        "check",
        "explore",
        "decide",
        "sanitize",
        "assess",
        "compare",
        "report",
        "lab",
        "list",
        "audit",
    )
    assert [name for name in commands if f"\n    {name} " not in said] == []
    examples = [line.split() for line in said.splitlines() if line.startswith("  privnb ")]
    assert [words[1] for words in examples] == [*commands[:8]]


def test_help_names_the_commands_without_loading_what_is_slow():
    code = "import sys; from privnb import cli; cli.main(['--help'])"
    heavy = "import atexit; atexit.register(lambda: print(*{'numpy', 'pandas', 'nbformat'} & {*sys.modules}, 'loaded'))"
    done = subprocess.run([sys.executable, "-c", f"import sys; {heavy}; {code}"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "\n    report " in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded"


def test_its_version_is_the_packages(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"privnb {metadata.version('privnb')}\n"


def test_the_parameters_of_notebooks_are_listed(project, capsys):
    write = project / "notebooks" / "04_attack.ipynb"
    write.write_text(write.read_text().replace("K = 10", "K = 10  # people, from 2"))
    assert cli.main(["list", "parameters"]) == 0
    said = capsys.readouterr().out
    assert "notebooks:\n  01_load    Why?\n  04_attack  Why?\n" in said
    assert "  DATASET\n    all:  [adult]\n  K\n    04: people, from 2 [10]\n" in said
    assert "OUT" not in said.partition("parameters, ")[2]
    with pytest.raises(SystemExit) as stop:
        cli.main(["report", "--help", "04"])
    assert stop.value.code == 0
    assert "01_load" not in (told := capsys.readouterr().out)
    assert "  K\n    all: people, from 2 [10]\n" in told
    assert cli.main(["list", "parameters", "--notebook", "04"]) == 0
    assert capsys.readouterr().out == told
    assert cli.main(["report", "--help", "99"]) == 2


@pytest.mark.parametrize("name", ["4", "04", "04_", "04_attack", "04_attack.ipynb"])
def test_a_notebook_is_known_by_a_beginning_that_no_other_has(project, asked, name):
    assert cli.main(["report", "--notebook", name]) == 0
    assert asked[0][0] == project / "reports" / "adult-04_attack"
    assert [notebook.name for notebook in choose_notebooks(project / "notebooks", [name])] == ["04_attack"]


@pytest.mark.parametrize("words", [["1", "4"], ["1,4"], ["1,", "04"], ["01_load, 04_attack"]])
def test_notebooks_are_listed_with_commas_or_without(project, asked, words):
    assert cli.main(["report", "--notebook", *words]) == 0
    assert asked[0][0] == project / "reports" / "adult-01_load-04_attack"


def test_names_of_columns_are_listed_with_spaces_after_commas(project, capsys):
    for names in ("age,ward", "age, ward", " age , ward "):
        assert cli.main(["check", str(CLINIC), "--quasi", names]) == 0
        assert "An adversary may know: age, ward." in capsys.readouterr().out


def test_new_says_that_it_copied_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,sex\n" + "".join(f"{20 + i % 9},{'FM'[i % 2]}\n" for i in range(30)))
    assert cli.main(["describe", "people.csv"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("data/people/people.toml\n")
    assert "run `privnb report people`." in said
    assert "No column is sensitive yet" in said
    assert "data/people also holds a copy of people.csv" in said
    subprocess.run(["git", "init", "-q"], check=True)
    for path in ("data/people/people.csv", "data/people/people.toml"):
        assert subprocess.run(["git", "check-ignore", "-q", path]).returncode == 0


@pytest.mark.slow
def test_roles_are_given_in_words_and_confirmed(tmp_path, monkeypatch, capsys):
    """All that the page can do. A word that means nothing leaves nothing, so that the command can be corrected."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 9},{'FM'[i % 2]},{i % 3},{'xyz'[i % 3]},{i % 5}\n" for i in range(60)]
    (tmp_path / "people.csv").write_text('age,sex,"City, State",ward,pay\n' + "".join(rows))
    new = ["describe", "people.csv", "--sensitive", "pay", "--roles"]
    for roles, said in (
        ("ward: netral", "'netral' is not a role. Did you mean 'neutral'?"),
        ("Ward: neutral", "no column 'Ward'. Did you mean 'ward'?"),
        ("ward", "'ward' must give a column its role"),
        ("ward: neutral, ward: unused", "'ward' has two roles: neutral and unused"),
        ("*a*: neutral, w*: unused", "'ward' has two roles: neutral and unused"),
        ("q*: neutral", "no column 'q*'"),
    ):
        assert cli.main([*new, roles]) == 2
        assert said in capsys.readouterr().err
        assert not list((tmp_path / "data").iterdir())
    assert cli.main([*new, 'ward: neutral, "City, State: unused"', "--confirm"]) == 0
    told = capsys.readouterr().out
    assert "has the same content as" not in told, "of a column that is left out"
    assert "draft" not in told
    schema = dataset.load("people").schema
    assert (schema.sensitive, schema.quasi_identifiers) == (["pay"], ["age", "sex"])
    assert cli.main(["describe", "people", "--roles", "*: neutral, pay: sensitive, age: quasi-identifier"]) == 0
    capsys.readouterr()
    schema = dataset.load("people").schema
    assert (schema.sensitive, schema.quasi_identifiers) == (["pay"], ["age"]), "a name goes before a pattern"
    assert cli.main(["describe", "people", "--roles", "City, State: quasi-identifier"]) == 2, (
        "without quotes: two names"
    )
    assert cli.main(["describe", "people", "--roles", '"City, State: quasi-identifier"', "--sensitive", "ward"]) == 0
    told = capsys.readouterr().out
    assert "ward: has the same content as 'City, State': 100% of records. Give one of them the role unused.\n" in told
    assert "\npay          quasi-identifier  numbers, 5 different, 0 missing; 0 to 4\n" in told
    assert dataset.load("people").schema.sensitive == ["ward"]
    with pytest.raises(SystemExit):
        cli.main(["describe", "--help"])
    told = "".join(capsys.readouterr().out.split())  # which breaks a line at a hyphen
    assert [role for role in Role if role not in told] == []
    assert cli.main(["describe", "people.csv", "--name", "others", "--roles", "sex: neutral", "--confirm"]) == 1
    told = capsys.readouterr()
    assert "No column is sensitive yet" in told.out
    assert told.err == "privnb: others.toml is not confirmed; the missing facts are listed above.\n"
    assert cli.main(["describe", "others", "--confirm"]) == 1
    assert "others.toml is not confirmed" in capsys.readouterr().err
    with pytest.raises(dataset.SchemaError, match="is a draft"):
        dataset.load("others")
    assert cli.main(["describe", "others", "--sensitive", "", "--confirm"]) == 0
    assert "The roles in others.toml are confirmed." in (said := capsys.readouterr().out)
    assert said.endswith("report others`.\n")
    assert dataset.load("others").schema.sensitive == []


def test_what_contradicts_itself_or_the_file_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 9},{'FM'[i % 2]},{'xyz'[i % 3]},{i % 5}\n" for i in range(60)]
    (tmp_path / "people.csv").write_text("age,sex,ward,pay\n" + "".join(rows))
    assert cli.main(["describe", "people.csv", "--sensitive", "pay", "--confirm"]) == 0
    described = (tmp_path / "data/people/people.toml").read_text()
    assert cli.main(["describe", "people", "--sensitive", "ward", "--roles", "ward: neutral"]) == 2
    assert "--roles and another option give different roles to ward. Give each" in capsys.readouterr().err
    assert (tmp_path / "data/people/people.toml").read_text() == described
    assert cli.main(["check", "people.csv", "--description", "people"]) == 0
    assert "not counted" not in capsys.readouterr().out
    (tmp_path / "data/people/people.toml").write_text(described.replace("columns.sex", "columns.gender"))
    assert cli.main(["check", "people.csv", "--description", "people"]) == 0
    told = capsys.readouterr().out
    assert "people.csv lacks gender, which people lists as quasi-identifiers. They are not counted.\n" in told
    assert "people does not describe sex. They are not counted.\n" in told
    (tmp_path / "data/people/people.toml").write_text(f"{described}nothing here\n")
    assert cli.main(["decide", "people", "--policy", "k-5"]) == 4
    assert "people.toml is not valid TOML" in capsys.readouterr().err


def test_the_page_of_a_table_is_opened_for_a_file_or_a_described_table(project, monkeypatch, capsys):
    """Refused before a server starts: what is no table, a name that stands for another one, nonsense in the file."""
    monkeypatch.chdir(project)
    opened, said = [], []

    class Page:
        launch_instance = staticmethod(lambda arguments, config: opened.append(arguments))

    def configured(parameters, *_, **hub):
        opened.append(parameters)
        said.append(hub["opened"].format(url="http://127.0.0.1"))
        return Page, {}

    monkeypatch.setattr(server, "configure_page", configured)
    Path("people.csv").write_text("age,sex\n" + "".join(f"{20 + i % 9},{'FM'[i % 2]}\n" for i in range(30)))
    assert cli.main(["describe", "people.csv", "--form"]) == 2
    assert "lacks your_table.ipynb" in capsys.readouterr().err
    assert not Path("data").exists()
    shutil.copy(browsing.NOTEBOOKS / "your_table.ipynb", "notebooks")
    for table in ("people.csv", "people.csv", "people"):
        assert cli.main(["describe", table, "--form", "--", "--no-browser"]) == 0
        path = project / "data" / "people" / "people.toml"
        assert opened == [
            {"FILE": "", "NAME": str(path)},
            [str(project / "notebooks/your_table.ipynb"), "--no-browser"],
        ]
        opened.clear()
    assert all(each.endswith("\nThe form is open at http://127.0.0.1\nCtrl-C ends it.") for each in said)
    assert said[0].startswith(f"{path.parent} holds a copy of the records")
    Path("other.csv").write_text("age,sex\n1\n")
    Path("picture.csv").write_bytes(b"PAR1 and more")
    path.write_text(path.read_text().replace("\nrole", "\nrule", 1))
    for arguments, status, said in (
        (["other.csv"], 4, "line 2 has fewer than 2 cells"),
        (["picture.csv"], 4, "is a Parquet file, but its name suggests text"),
        (["other.csv", "--name", "people"], 4, "columns.age lacks role"),
        (["people"], 4, "columns.age lacks role"),
        (["nobody"], 4, "there is no dataset 'nobody'"),
        (["people", "--name", "people"], 2, "--name needs the file"),
        (["people", "--sensitive", "age"], 2, "Leave out all options"),
    ):
        assert cli.main(["describe", *arguments, "--form"]) == status, arguments
        assert said in capsys.readouterr().err
    assert opened == []
    assert [each.name for each in Path("data").iterdir()] == ["people"]


def test_lab_serves_this_machine_only_and_asks_for_its_token(project, kernel):
    with browsing.lab(project, cwd=Path.cwd()) as about:
        assert about["url"].startswith("http://127.0.0.1:")
        assert about["root_dir"] == str(project / "my_notebooks")
        assert len(about["token"]) >= 32
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(about["url"] + "api/contents", timeout=10)
        with urllib.request.urlopen(f"{about['url']}lab/api/settings/@jupyterlab/apputils-extension:notification"
                                    f"?token={about['token']}", timeout=10) as answer:  # fmt: skip
            settings = json.load(answer)["schema"]["properties"]
        assert settings["fetchNews"]["default"] == "false"


def test_decide_says_which_release_and_exits_1_where_none_keeps_the_policy(monkeypatch, capsys, tmp_path):
    from privnb.publishing import chosen_release
    from privnb.reporting import release_card

    @dataclass(frozen=True)
    class Found:
        decision: object

    asked, loaded, ended, chosen = [], [], [], None
    decision = SimpleNamespace(chosen=None, policy=policies.read("k-5"), releases=[])

    def end(*given, **more):
        ended.append((given, more))
        return chosen_release.PublicationResult(
            SimpleNamespace(chosen=chosen, decision=decision, roles={}), ["Nothing is chosen."]
        )

    def searched(load_in, dataset, policy, **more):
        asked.append(((dataset, policy), more))
        loaded.append(load_in({}))
        return dataset, Found(decision)

    monkeypatch.setattr(policy_search, "search_policy_in_roles", searched)
    stated = {"names": ["ward"], "why": "it is stored apart"}
    columns = {"stated_unknowable": [stated], "published_unchanged": []}
    data = {"help": {}, "table": {"sensitive": ["diagnosis"]}, "columns": columns}
    monkeypatch.setattr(workbench_decision, "explain_decision", lambda found, dataset: data)
    monkeypatch.setattr(workbench_decision, "record_search", lambda path, decided: decided)
    monkeypatch.setattr(chosen_release, "publish_chosen", end)
    assert cli.main(["decide", str(CLINIC), "--policy", "k-5", "--records", "60", "--seeds", "2"]) == 1
    assert capsys.readouterr().out.startswith("Nothing is chosen.\nward is published unchanged. The owner states ")
    ((dataset, policy), more) = asked[0]
    assert len(loaded[0]) == 60, "the same records in other roles"
    assert (len(dataset), policy.min_class_size, more["seeds"], more["profile"]) == (60, 5, 2, "quick")
    assert more["records"] == 300, "of the table that is released"
    given = {"render": release_card.render_card, "study": "", "spreadsheet_safe": False, "allow": None, "roles": None}
    ((source, *others), options), called = ended[0], "privnb decide clinic.toml --policy k-5 --records 60 --seeds 2"
    assert (str(source), others) == (str(CLINIC), [Found(decision), dataset, None])
    assert options == given | {
        "outside": "refuse",
        "bounds": False,
        "force": False,
        "call": called,
        "signature": None,
        "language": "en",
    }
    assert cli.main(["decide", str(CLINIC), "--policy", "ontario"]) == 4
    assert "'ontario' is not a ready policy" in capsys.readouterr().err
    out = tmp_path / "there.csv"
    out.write_text("mine")
    assert cli.main(["decide", str(CLINIC), "--policy", "k-5", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert len(asked) == 1, "refused before anything runs"
    chosen, new = Mondrian(KAnonymity(5)), str(tmp_path / "new.csv")
    assert cli.main(["decide", str(CLINIC), "--policy", "k-5", "--out", new]) == 0
    assert ended[-1][0][3] == new
