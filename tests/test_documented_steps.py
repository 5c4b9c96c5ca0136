"""The README and the pages of the documentation: their examples print what they show, and their commands exist.

The steps of a page run in their order in one folder, which holds the tables of `docs/examples`. A block `python` with
prompts is a session of Python. A block `console` has commands after `$`, and what they print. `...` matches any text.
"""

import contextlib
import doctest
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from privnb import cli
from privnb.cli import old_forms
from privnb.reporting import notebooks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("tutorial", "how-to", "explanation", "pipelines", "project")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_UDIFF
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?privnb ((?:.*\\\n)*.*?)(?: +#.*)?$", re.MULTILINE)


def blocks(path):
    """Yield the language and the text of each block of a page."""
    for match in BLOCK.finditer(path.read_text(encoding="utf-8")):
        yield match[2], re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)


def commands(path):
    """Return the commands of a page, each as a list of words."""
    texts = [text for language, text in blocks(path) if language in ("", "console", "sh")]
    return [shlex.split(words.replace("\\\n", " ")) for text in texts for words in COMMAND.findall(text)]


def run_python(text, names):
    """Compare each statement after a prompt with what the page shows; return the differences."""
    said = io.StringIO()
    test = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    return said.getvalue()


def run_console(text):
    """Compare what each command prints with what the page shows; return the differences."""
    said = []
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, wanted = re.fullmatch(r"((?:.*\\\n)*.*)\n?(.*)", step, re.DOTALL).groups()
        got = io.StringIO()
        with contextlib.redirect_stdout(got), contextlib.redirect_stderr(got):
            cli.main(shlex.split(command.replace("\\\n", " "))[1:])
        example = doctest.Example(command, wanted)
        checker = doctest.OutputChecker()
        if wanted and not checker.check_output(wanted, got.getvalue(), FLAGS):
            said.append(f"{command}\n{checker.output_difference(example, got.getvalue(), FLAGS)}")
    return "".join(said)


def has_steps(path):
    return any(language == "console" or ">>> " in text for language, text in blocks(path))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder: it holds the tables of the documentation, as a checkout and a reader have them."""
    (tmp_path / "docs").mkdir()
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")
    for table in (DOCS / "examples").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in PAGES if has_steps(path)], ids=lambda path: path.stem)
def test_the_steps_of_a_page_print_what_it_shows(path, folder):
    names = {}
    said = []
    for language, text in blocks(path):
        if language == "console":
            said.append(run_console(text))
        elif ">>> " in text:
            said.append(run_python(text, names))
    assert not any(said), "\n".join(said)


def test_a_difference_is_found():
    assert "Expected" in run_python(">>> 1 + 1\n3\n", {}) + run_console("$ privnb --version\nsomething else\n")
    assert run_python(">>> 1 + 1\n2\n", {}) + run_console("$ privnb --version\nprivnb ...\n") == ""


@pytest.mark.parametrize("path", [path for path in PAGES if commands(path)], ids=lambda path: path.stem)
def test_every_command_of_a_page_exists(path):
    for words in commands(path):
        assert old_forms.rewrite(words) == (words, "")
        args = cli.parser().parse_args(words)
        if getattr(args, "notebook", None):
            assert notebooks.choose_notebooks(ROOT / "notebooks", args.notebook, dict(args.parameter))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_block_of_python_compiles(path):
    for language, text in blocks(path):
        if language == "python" and ">>> " not in text:
            compile(text, path.name, "exec")
