"""From file to file at any length. `python files.py NAME` does one work, `python files.py make NAME` makes its table.

The tables are drawn from the nine columns of Adult and lie in `reports/bench`, where they stay for the next run; that
of a billion records does not.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from measure import Failed, child, report, system
from results import START

ROOT = Path(__file__).resolve().parents[2]
FOLDER, ADULT = ROOT / "reports" / "bench", ROOT / "data" / "adult"
SIZES, ASKED = (1_000_000, 10_000_000, 100_000_000), 1_000_000_000
BESIDE_ARX = 4_500_000  # the most that ARX was given
NAMES = "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country", "salary"
# What is drawn by itself, not with the rest of a record of Adult: `few` nothing; `many` the age of each record, and the
# country of one in 25; `joined` as well a number that hardly two records share.
DRAWN = {"age": "(17 + hash(range, 1) % 83)::varchar"}
DRAWN["native-country"] = """
    case when hash(range, 2) % 25 = 0 then getvariable('countries')[(1 + hash(range, 3) % 45222)::bigint]
    else "native-country" end"""
KINDS = {"few": {}, "many": DRAWN, "joined": DRAWN | {"fnlwgt": "(10000 + hash(range, 4) % 1500000000)::varchar"}}
WEIGHED = 'role = "neutral"\ndomain = { low = 10000, high = 1500010000 }\n#'  # how a description has that number


class FileWork(NamedTuple):
    """What is done with a table: it is released at k = 10, or, where `check`, the release of that is graded."""

    records: int
    kind: str
    ending: str = ".parquet"
    check: bool = False
    memory: str = "2GB"

    @property
    def name(self):
        return "-".join(["grade" if self.check else "file", self.kind, self.ending.strip("."), str(self.records)])

    @property
    def asked(self):
        """Whether it is done only when asked for by its name."""
        return self.records == ASKED

    @property
    def table(self):
        return FOLDER / f"{self.kind}-{self.records}{self.ending}"

    @property
    def out(self):
        return FOLDER / f"released-{self.kind}-{self.records}{self.ending}"

    @property
    def dataset(self):
        return (FOLDER / "weighed" if self.kind == "joined" else ADULT) / "adult.toml"

    @property
    def command(self):
        asked = [
            "--description",
            self.dataset,
            "--study",
            "sramka-taxonomy",
            "--model",
            "k=10",
            "--memory",
            self.memory,
        ]
        known = ["--quasi", ",".join(NAMES[:-1]), "--sensitive", NAMES[-1]]
        rest = ["check", self.out, *known] if self.check else ["sanitize", self.table, "--out", self.out, *asked]
        return [sys.executable, "-m", "privnb.cli", *map(str, rest)]


def works():
    for records in SIZES:
        for kind in "few", "many":
            yield FileWork(records, kind)
            yield FileWork(records, kind, check=True)
    yield FileWork(BESIDE_ARX, "few", ".csv")
    yield FileWork(SIZES[-1], "many", ".csv")
    yield FileWork(SIZES[-1], "joined")
    yield FileWork(ASKED, "many", memory="3GB")


def make(work):
    """Write the table of a work, and what describes it."""
    from privnb.datasets.dataset import load
    from privnb.tables import engine

    adult = load("adult", "sramka-taxonomy").table[[*NAMES]].astype(str)
    adult["id"] = range(len(adult))
    countries = engine.quote_name("native-country")
    drawn = dict.fromkeys(NAMES) | KINDS[work.kind]
    columns = ", ".join(
        f"{what or engine.quote_name(name)} as {engine.quote_name(name)}" for name, what in drawn.items()
    )
    form = "format parquet" if work.ending == ".parquet" else "format csv, header"
    made = work.table.with_suffix(".new")
    with engine.connect(memory_limit="2GB", temp_directory=str(FOLDER / "engine")) as connection:
        connection.register("adult", adult)
        connection.execute(f"set variable countries = (select list({countries} order by id) from adult)")
        connection.execute(
            f"copy (select {columns} from range({work.records}) join adult on id = hash(range) % {len(adult)}) "
            f"to {engine.quote_text(str(made))} ({form})"
        )
    os.replace(made, work.table)


def describe():
    """Write Adult's description, with the survey weight as a neutral number."""
    folder = FOLDER / "weighed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ADULT, folder)
    text = (ADULT / "adult.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?<=\[columns\.fnlwgt\]\n)", WEIGHED, text)
    text = re.sub(r"(?<=\[studies\.sramka-taxonomy\]\n)", 'neutral = ["fnlwgt"]\n', text)
    (folder / "adult.toml").write_text(text, encoding="utf-8")


def run(work):
    """One row of results: the whole process, once; `wall` of what stands in the cache of the operating system."""
    if not work.table.exists():
        child(sys.executable, __file__, "make", work.name)
    if work.check and not work.out.exists():
        run(FileWork(work.records, work.kind))
    if not work.check:
        _remove(work.out)
    bytes_read = _read(work.out if work.check else work.table)
    begun = perf_counter()
    with subprocess.Popen(work.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = perf_counter() - begun
    if process.returncode:
        raise Failed(said.strip().splitlines()[-1])
    return {
        "system": system("privnb") + START,
        "parameters": f"memory={work.memory}, bytes read once={bytes_read:.2g} s",
        "seconds": used.ru_utime + used.ru_stime,
        "wall": wall,
        "peak_mb": used.ru_maxrss / 1024,
    }


def _read(path):
    """Seconds that it takes to read a file's bytes once, from memory."""
    for _ in range(2):
        begun = perf_counter()
        with path.open("rb", buffering=0) as file:
            while file.read(2**24):
                pass
    return perf_counter() - begun


def _remove(path):
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def main(name, *rest):
    if name == "make":
        FOLDER.mkdir(parents=True, exist_ok=True)
        describe()
        return make(_named(*rest))
    work = _named(name)
    row = run(work)
    if work.asked:
        _remove(work.table)
        _remove(work.out)
    report(row)


def _named(name):
    return next(work for work in works() if work.name == name)


if __name__ == "__main__":
    main(*sys.argv[1:])
