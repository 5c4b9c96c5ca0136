"""Folders of unfinished work."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from privnb.datasets.undescribed_files import UndescribedTable
from privnb.runtime import temporary
from privnb.tables.long_tables import Memory

DIES = """
import os, signal
from privnb.runtime import temporary
with temporary.temporary_folder() as folder:
    (folder / "spilled").write_text("somebody's record")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_is_its_owners_alone_and_gone_at_the_end(scratch):
    with temporary.temporary_folder() as folder:
        assert [*scratch.iterdir()] == [folder]
        assert folder.stat().st_mode & 0o077 == 0
    assert not [*scratch.iterdir()]


@pytest.mark.parametrize("content", ["town\nBonn\n", "town\nK\xf6ln\n"])  # the second one is read from a copy
def test_what_a_kill_leaves_goes_with_the_next_check(content, scratch, tmp_path_factory):
    done = subprocess.run([sys.executable, "-c", DIES], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = scratch.iterdir()
    assert (left / "spilled").exists()
    table = tmp_path_factory.mktemp("table") / "table.csv"
    table.write_text(content, encoding="cp1252")
    UndescribedTable.of(table).counted(["town"], Memory.of("500MB"))
    assert not [*scratch.iterdir()]


def test_what_runs_or_has_another_name_or_owner_stays(scratch, monkeypatch):
    others = [
        f".privnb.{os.getppid()}-unfinished-x",  # which runs
        ".else.999999999-unfinished-x",
        "privnb.999999999-unfinished-x",
    ]
    for name in others:
        (scratch / name).mkdir()
    ended = scratch / ".privnb.999999999-unfinished-x"
    ended.mkdir()
    with monkeypatch.context() as somebody, temporary.temporary_folder() as folder:
        assert folder.exists()
        assert not ended.exists()
        ended.mkdir()
        somebody.setattr(os, "getuid", lambda: ended.stat().st_uid + 1)
        with temporary.temporary_folder():
            pass
    assert sorted(path.name for path in scratch.iterdir()) == sorted([*others, ended.name])


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "kept.json"
    temporary.atomic_write(path, "older\n", 0o600)
    assert path.stat().st_mode & 0o777 == 0o600

    def refuse(*_):
        raise OSError("no space left")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as full:
            full.setattr(os, name, refuse)
            with pytest.raises(OSError, match="no space left"):
                temporary.atomic_write(path, b"newer")
        assert [each.name for each in tmp_path.iterdir()] == ["kept.json"]
        assert path.read_text() == "older\n"
    temporary.atomic_write(path, b"newer", 0o640)
    assert path.read_bytes() == b"newer"
