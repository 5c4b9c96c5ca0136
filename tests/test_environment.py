"""conda, pip and the lock install the same thing; without conda this is proven of the files, not of its channel."""

import re
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Of the Citation File Format 1.2: what must be there, and what may.
NEEDED = {"cff-version", "message", "title", "authors"}
MAY = {"abstract", "date-released", "doi", "keywords", "license", "references", "repository-code", "type", "version"}


def declared(requirements):
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, requirements)}


EXTRAS = PROJECT["project"]["optional-dependencies"]
WANTED = declared([*PROJECT["project"]["dependencies"], *EXTRAS["notebook"], *EXTRAS["files"]])


def of_conda():
    """`{name: bounds}` of environment.yml, conda's and pip's entries together."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    lines = [line for line in environment["dependencies"] if isinstance(line, str)]
    (by_pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert "-e ." in by_pip
    return {
        canonicalize_name(name): SpecifierSet(bounds.replace(" ", ""))
        for name, bounds in (
            re.fullmatch(r"([\w.-]+)\s*(.*)", line).groups() for line in lines + by_pip if line != "-e ."
        )
    }


def test_conda_has_the_same_names_and_bounds():
    conda = of_conda()
    assert conda.pop("pip") == SpecifierSet()
    assert conda.pop("python") == SpecifierSet(PROJECT["project"]["requires-python"])
    assert conda == WANTED


@pytest.mark.parametrize("name", WANTED)
def test_installed_version_is_within_the_bounds(name):
    assert metadata.version(name) in WANTED[name]


@pytest.mark.parametrize("version", ["2.20.0", "2.23.0", "2.25.0", "2.26.0", "2.27.0"])
def test_versions_of_narwhals_that_fail_are_outside_the_bounds(version):
    assert version not in WANTED["narwhals"], "frames of DuckDB and Polars fail in tests/sanitizers/test_from_frames.py"


def test_python_is_within_the_bounds():
    assert ".".join(map(str, sys.version_info[:3])) in SpecifierSet(PROJECT["project"]["requires-python"])


def test_lock_pins_every_package_with_hashes_and_no_address():
    text = (ROOT / "requirements.lock").read_text()
    pinned = {canonicalize_name(n): v for n, v in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)}
    wanted = WANTED | declared([*EXTRAS["spark"], *EXTRAS["weka"]])
    wanted |= declared(chain.from_iterable(PROJECT["dependency-groups"].values()))
    assert {name for name, bounds in wanted.items() if pinned.get(name, "0") not in bounds} == set()
    assert "://" not in text
    packages = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(packages) > len(wanted)
    assert [package.split()[0] for package in packages if "--hash=sha256:" not in package] == []


def test_what_installs_and_builds_the_project_is_one_version_with_its_hashes():
    build = declared(PROJECT["dependency-groups"]["build"])
    assert [name for name in ("uv", "hatchling") if not re.fullmatch(r"==[\d.]+", str(build[name]))] == []
    assert declared(PROJECT["build-system"]["requires"]) == {"hatchling": build["hatchling"]}
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"pip (?:install|sync).*", makefile)
    installs = [line for line in installs if ".venv-lowest" not in line]
    assert len(installs) == 3
    assert "--require-hashes --requirement .venv/uv.txt" in installs[2], "of uv itself, whose hashes the lock has"
    assert installs[0].endswith("--build-constraints requirements.lock requirements.lock"), "what has no wheel is built"
    assert "--no-build-isolation" in installs[1], "or hatchling would be fetched without a hash"


def test_it_can_be_cited():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert NEEDED <= set(cited) <= NEEDED | MAY
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert (cited["version"], cited["license"]) == (PROJECT["project"]["version"], PROJECT["project"]["license"])
    for author in cited["authors"]:
        assert set(author) == {"name"}, "an entity, as in the licence"
        assert author["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")
