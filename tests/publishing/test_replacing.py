"""Where a release comes to stand: beside nothing of another one, in the place of one, whole or not at all."""

import errno
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import InputError, OutputExistsError, ResourceError
from privnb.publishing import chosen_release, chunked, from_files
from privnb.sanitizers import KMember
from privnb.tables import writing

sanitize = partial(from_files.sanitize, allow="a test")
BESIDE = ["", ".codebook.csv", ".codebook.json", ".provenance.json"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held(folder):
    """What a folder holds: the content of each file by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out"])
def test_force_replaces_a_release_with_all_that_stands_beside_it(here, out):
    sanitize(CLINIC, "l=2", out, algorithm="Bucketize")
    Path(f"{out}.card.json").write_text("{}", encoding="utf-8")
    Path(f"{out}.notes").write_text("the owner's own", encoding="utf-8")
    with pytest.raises(OutputExistsError, match="exists already and is not changed"):
        sanitize(CLINIC, "k=5", out)
    made = sanitize(CLINIC, "k=5", out, force=True)
    assert made.buckets is None
    assert sorted(each.name for each in here.iterdir()) == sorted(out + ending for ending in [*BESIDE, ".notes"])
    again = held(here)
    sanitize(CLINIC, "k=5", f"new{Path(out).suffix}")
    name = next(
        each for each in again if each.startswith(out) and each.endswith(("csv", "parquet")) and "code" not in each
    )
    assert again[name] == held(here)[name.replace("out", "new", 1)]


def test_what_stands_beside_a_release_is_not_written_over_either(here):
    Path("out.csv.codebook.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExistsError, match=r"out\.csv\.codebook\.csv exists already"):
        sanitize(CLINIC, "k=5", "out.csv")
    assert held(here) == {"out.csv.codebook.csv": b"mine"}


def new_release(out, force):
    """Place a small release at `out`, as `sanitize` does."""
    source = out.parent / "people.csv"
    source.touch()
    with writing.stage(out) as folder:
        made = folder / "release" / out.name
        made.parent.mkdir()
        if out.suffix:
            made.write_text("new rows", encoding="utf-8")
        else:
            made.mkdir()
            (made / "part-00001.parquet").write_text("new rows", encoding="utf-8")
        texts = {writing.FACTS: "new facts", writing.CODEBOOK: "new codebook"}
        writing.move_files(made, out, texts, [source], force=force)


@pytest.mark.parametrize("failing", ["link", "unlink", "replace", "rename", "mkdir", "write_text", "chmod"])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("out", ["out.csv", "out"])
def test_whatever_fails_leaves_what_was_there(here, monkeypatch, failing, force, out):
    """Each call of each function that could fail, one after the other, until none is left."""
    out = here / out
    if force:
        new_release(out, force=False)
        out.with_name(out.name + writing.CARD).write_text("old card", encoding="utf-8")
    (here / "people.csv").touch()
    before, home = held(here), os if hasattr(os, failing) and failing not in ("unlink", "mkdir", "chmod") else Path
    right, number = getattr(home, failing), 0
    while True:
        calls, number = [], number + 1

        def fails(*given, calls=calls, number=number, **more):
            calls.append(given)
            if len(calls) == number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return right(*given, **more)

        with monkeypatch.context() as patch:
            patch.setattr(home, failing, fails)
            try:
                new_release(out, force)
            except OSError as error:
                found = error
            else:
                break
        assert isinstance(found, ResourceError)
        assert "cannot be written: No space left on device. The unfinished file was removed." in str(found)
        assert held(here) == before, f"call {number} of {failing}"
    names = ["part-00001.parquet"] if not out.suffix else []
    own = {f"{out.name}/{each}" for each in names} or {out.name}
    assert {*held(here)} == {"people.csv", *own, f"{out.name}{writing.FACTS}", f"{out.name}{writing.CODEBOOK}"}


@pytest.mark.parametrize("sanitizer", ["k=5", KMember(5)], ids=["counts", "parts"])
def test_a_disk_that_is_full_while_the_work_is_done_is_said(here, monkeypatch, sanitizer):
    def full(*_, **__):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    place = (chunked, "_written") if isinstance(sanitizer, KMember) else (from_files.from_counts, "release_from_counts")
    monkeypatch.setattr(*place, full)
    with pytest.raises(
        ResourceError, match=r"out\.csv cannot be written: Disk quota exceeded. The unfinished file was removed"
    ):
        sanitize(CLINIC, sanitizer, "out.csv")
    assert not list(here.iterdir())


FILLS = """
import resource, sys
from privnb.publishing.from_files import sanitize
sanitize(sys.argv[1], "k=5", "warm.csv", allow="a test")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    sanitize(sys.argv[1], "k=5", "out.csv", allow="a test")
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 3000, 9000])
def test_files_that_may_not_grow_are_a_full_disk(here, size):
    """Of the release, its provenance or its codebook: whichever is the first that has no room."""
    done = subprocess.run(
        [sys.executable, "-c", FILLS, str(CLINIC), str(size)], check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith(
        "ResourceError out.csv cannot be written: File too large. The unfinished file was removed."
    ), done
    assert not [*here.glob("*out*")]


@pytest.mark.parametrize("ending", BESIDE)
@pytest.mark.parametrize("out", ["out.csv", "out"])
def test_an_output_that_appears_meanwhile_is_left_as_it_is(here, monkeypatch, ending, out):
    write = writing.write

    def appears(*given, **more):
        found = write(*given, **more)
        Path(out + ending).mkdir() if out + ending == "out" else Path(out + ending).write_text("another", "utf-8")
        return found

    monkeypatch.setattr(writing, "write", appears)
    with pytest.raises(OutputExistsError, match="was created in the meantime and is not changed"):
        sanitize(CLINIC, "k=5", out)
    assert [each.name for each in here.iterdir()] == [out + ending]
    assert Path("out").is_dir() if out + ending == "out" else Path(out + ending).read_text("utf-8") == "another"


def test_two_outputs_of_one_name_are_one_release(here, monkeypatch):
    """A second process with the same output ends before it or after it, and spoils nothing."""
    write = writing.write

    def other(*given, **more):
        monkeypatch.setattr(writing, "write", write)
        sanitize(CLINIC, "k=10", "out.csv")
        return write(*given, **more)

    monkeypatch.setattr(writing, "write", other)
    with pytest.raises(OutputExistsError, match="was created in the meantime"):
        sanitize(CLINIC, "k=5", "out.csv")
    assert sorted(each.name for each in here.iterdir()) == ["out.csv" + ending for ending in BESIDE]
    assert "KAnonymity(k=10)" in Path("out.csv.provenance.json").read_text(encoding="utf-8")


def test_a_release_takes_the_place_of_no_input(here):
    cells = pd.read_csv(CLINIC.with_suffix(".csv"))
    os.mkdir("parts")
    cells.to_csv("people.csv", index=False)
    cells.to_csv("parts/a.csv", index=False)
    before = held(here)
    for source, out in (("people.csv", "people.csv"), ("parts", "parts"), ("parts", "parts/a.csv")):
        with pytest.raises((OutputExistsError, InputError), match=r"is an input of the release|is never replaced"):
            sanitize(source, "k=5", out, dataset=CLINIC, force=True)
    assert held(here) == before


def test_a_place_for_a_decision_may_be_taken_by_force(here):
    sanitize(CLINIC, "k=5", "out.csv")
    with pytest.raises(OutputExistsError):
        chosen_release.check_place("out.csv")
    chosen_release.check_place("out.csv", force=True)
