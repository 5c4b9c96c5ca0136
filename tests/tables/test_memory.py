"""What is said of memory is divided between the engine and the combinations, and a table that needs more is refused."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.clinic import CLINIC

from privnb import ResourceError
from privnb.microdata.schema import SchemaError
from privnb.publishing import from_files
from privnb.runtime import processes
from privnb.tables import long_tables
from privnb.tables.long_tables import TIMES, Memory


def test_sizes_of_memory():
    assert Memory.of("2GB").megabytes == Memory.of("2000 mb").megabytes == 2000
    assert Memory.of("1.5gb").engine("there") == {"memory_limit": "575MB", "temp_directory": "there"}


@pytest.mark.parametrize("said", ["2", "2TB", "-2GB", "499MB", "9" * 30 + "GB", "", None, 2])
def test_what_is_no_size_is_refused(said):
    with pytest.raises(
        ValueError, match="memory must be a size such as 2GB, at least 500MB and at most 1,000,000GB; got "
    ):
        Memory.of(said)


def test_what_does_not_fit_says_which_columns_have_most_values(monkeypatch):
    monkeypatch.setattr(long_tables, "COMBINATION", 50)
    given = Memory.of("500MB")
    found = pa.table({"sex": list("FMFM"), "age": list("1234"), TIMES: [1, 2, 3, 4]})
    assert given.combinations == 3
    given.check(found[:3], "")
    with pytest.raises(SchemaError, match=r"more than 3 .* 2 columns .*500MB.* age \(4\), sex \(2\)\. Say less\.$"):
        given.check(found, "Say less.")


def test_a_size_that_is_named_is_enough(tmp_path, monkeypatch):
    """Of a table that failed: the size in the error holds its combinations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(long_tables, "COMBINATION", 150 / 290)
    with pytest.raises(SchemaError, match=r"weight \(") as error:
        from_files.sanitize(CLINIC, "k=5", "out.csv", memory="500MB", allow="a test")
    size, number = re.search(r"A memory of (\S+) is enough for all ([\d,]+) combinations", str(error.value)).groups()
    enough = Memory.of(size)
    assert enough.combinations > int(number)
    made = from_files.sanitize(CLINIC, "k=5", "out.csv", memory=size, allow="a test")
    assert made.combinations == int(number)


@pytest.mark.parametrize("combinations", [0, 1, 187_500, 2_062_499, 2_062_500, 10**8])
def test_enough_is_enough_for_any_number(combinations):
    enough = Memory.of(Memory.enough_for(combinations))
    assert enough.combinations >= combinations
    assert enough.megabytes == 500 or Memory("", enough.megabytes - 100).combinations <= combinations


def test_a_column_of_too_many_values_names_what_is_enough_for_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(long_tables, "COMBINATION", 10)
    with pytest.raises(SchemaError, match="'weight' has more than 15 different values") as error:
        from_files.sanitize(CLINIC, "k=5", "out.csv", memory="500MB", allow="a test")
    size = re.search(r"A memory of (\S+) is enough", str(error.value))[1]
    assert from_files.sanitize(CLINIC, "k=5", "out.csv", memory=size, allow="a test").records == 300


def test_what_the_machine_has_left_is_taken_but_for_a_reserve(monkeypatch):
    monkeypatch.setattr(long_tables, "available_memory", lambda: 10 * 10**9)
    assert Memory.of("auto") == ("8500MB", 8500)
    monkeypatch.setattr(long_tables, "available_memory", lambda: 550 * 10**6)
    with pytest.raises(ResourceError, match="this machine has less than 500MB of memory left"):
        Memory.of("auto")


def test_the_release_is_the_same_whatever_the_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    cells = {name: rng.integers(0, size, 5000) for name, size in {"age": 80, "zip": 40, "ill": 5}.items()}
    pd.DataFrame(cells).to_csv("people.csv", index=False)
    for number, memory in enumerate(("500MB", "auto", "3GB")):
        from_files.sanitize("people.csv", "k=5, l=2:ill", f"{number}.csv", memory=memory, allow="a test")
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


@pytest.mark.parametrize("version", [1, 2])
def test_the_limits_of_control_groups_are_limits(tmp_path, monkeypatch, version):
    """Of the group of the process, and of each above it, in both versions of control groups."""
    own, base = tmp_path / "cgroup", tmp_path / "groups" / ("memory" if version == 1 else "")
    own.write_text("9:name=systemd:/x\n4:cpu,memory:/a/b\n" if version == 1 else "0::/a/b\n")
    limit, usage, cache = processes.FIRST_GROUPS if version == 1 else processes.SECOND_GROUPS
    for folder, most, used, freed in (
        (base, "max", 900, 0),
        (base / "a", "800", 300, 50),
        (base / "a/b", "700", 100, 0),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{most}\n")
        (folder / usage).write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 7\n{cache} {freed}\nfile 9\n")
    assert sorted(processes.read_group_memory(tmp_path / "groups", own)) == [550, 600]
    assert processes.read_group_memory(tmp_path / "groups", tmp_path / "none") == []
    monkeypatch.setattr(processes, "read_group_memory", lambda: [600, 550])
    assert processes.available_memory() == 550
