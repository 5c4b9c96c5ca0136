"""The examples of pipelines say what there is."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from privnb import cli
from privnb.cli import old_forms
from privnb.cli.project import KEYS, Project
from privnb.runtime import errors
from privnb.runtime.errors import PrivnbError

FOLDER = Path(__file__).parents[2] / "docs" / "pipelines"
TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for name in ("README.md", "workflow.yml", "pre-commit.yaml")
    for command in re.findall(r"privnb (?:run|check)[^;`|>\n']*", (FOLDER / name).read_text(encoding="utf-8"))
]


def test_the_project_file_can_be_read():
    project = Project.read(FOLDER / "privnb.toml")
    assert [step.name for step in project.steps] == ["customers", "admissions"]
    for step in project.steps:
        cli.parser().parse_args(step.words)


def test_every_key_is_documented():
    table = TEXT.partition("## Exit statuses")[0]
    assert {*re.findall(r"`([a-z_]+)`", table)} >= {*KEYS} - {"name"}


def test_every_exit_status_is_documented():
    stated = {int(each) for each in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, PrivnbError)]
    assert stated == {0, 130, *(each.status for each in classes if each is not PrivnbError)}


@pytest.mark.parametrize("name", ["workflow.yml", "pre-commit.yaml"])
def test_each_example_is_yaml(name):
    assert yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", sorted({*COMMANDS}))
def test_each_command_is_one_that_there_is(command):
    words = shlex.split(command.replace("||", ""))[1:]
    assert old_forms.rewrite(words) == (words, "")
    cli.parser().parse_args(words)


@pytest.mark.parametrize("path", sorted({*re.findall(r"\]\(([^)]+)\)", TEXT)}))
def test_links_lead_somewhere(path):
    assert (FOLDER / path).exists()
