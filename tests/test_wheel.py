"""The installed package: what the wheel brings, and that it works from an empty folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from privnb.reporting import report

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without a network, and without another copy of the build's own libraries."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def in_git(*folders):
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("this is no checkout")
    return listed.stdout.split("\n")


@pytest.mark.slow
def test_it_brings_all_data_and_notebooks_of_the_project_and_nothing_else(wheel):
    """Nobody's own tables, releases and pins, which lie in the same folders."""
    names = zipfile.ZipFile(wheel).namelist()
    brought = {name.removeprefix("privnb/shipped/") for name in names if name.startswith("privnb/shipped/")}
    assert brought == {name for name in in_git("data", "notebooks") if name.startswith("data/") or "ipynb" in name}
    package = {name for name in in_git("privnb") if name}
    assert {name for name in names if not name.startswith(("privnb/shipped/", "privnb-"))} == package


def test_a_report_from_an_empty_folder(wheel, tmp_path, kernel):
    """Over the libraries of this environment, with its own data and notebooks; nothing is written into it."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()
    before = {path for path in (tmp_path / "installed").rglob("*") if "__pycache__" not in path.parts}
    command = [sys.executable, "-m", "privnb.cli", "report", "--notebook", "1", "-p", "RECORDS=500"]
    done = subprocess.run(
        command,
        cwd=tmp_path / "empty",
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    out = tmp_path / "empty" / "reports" / "adult-01_load"
    assert (out / "index.html").as_uri() in done.stdout
    assert set(report.read_results(out / "results.csv").dataset) == {"adult/sramka (500 records)"}
    assert {path for path in (tmp_path / "installed").rglob("*") if "__pycache__" not in path.parts} == before
    assert str(tmp_path / "installed") not in (out / "notebooks" / "01_load.ipynb").read_text(encoding="utf-8")
