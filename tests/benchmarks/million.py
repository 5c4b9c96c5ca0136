"""What a person waits for at a million records, and how long Adult takes to load again.

    python tests/benchmarks/million.py [FILE]             # default: reports/million.csv
    python tests/benchmarks/million.py [FILE] --report    # and the whole quick report, which takes minutes

The table is a CSV file of 1,000,000 records and twelve columns, drawn from Adult, with the hours per week of another
record each; ten columns are quasi-identifiers, of which 297,271 combinations occur. A work is done three times (the
report once), `new`, `check` and the report in a process of their own, whose start counts; the others in one that has
loaded both tables before. A step of the explorer is a setting that was not asked for before. `seconds`, median and
worst, are what a clock tells, `aim` is in the same unit, `peak_mb` is the largest resident memory of the process.
`loop` is what 20 million steps of a loop in Python take here: 0.26 s on the fastest machine so far.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pandas as pd
from measure import child, peak, report

ADULT = Path(__file__).resolve().parents[2] / "data" / "adult"
RECORDS, SEED, TIMES = 1_000_000, 1, 3
LEFT_OUT, ANOTHERS = ["fnlwgt", "education-num", "capital-loss"], "hours-per-week"
AIMS = {"new": 3, "check": 3, "load": 3, "load adult": 0.15, "mondrian": 1, "noise": 1, "report": 600, "loop": 0.26}
STEPS = {
    "mondrian": [{"sanitizer": "Mondrian", "k": k} for k in (11, 21, 50)],
    "noise": [{"sanitizer": "LaplaceNoise", "epsilon": epsilon} for epsilon in (1, 2, 3)],
}


def main(path, more):
    path.parent.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        # Not here: a process that is begun counts as as large as the one that begins it.
        child(sys.executable, Path(__file__), "write", folder / "million.csv")
        new = "describe", "million.csv", "--confirm", "--sensitive", "salary", "--roles", "capital-gain: neutral"
        found = {"new": [privnb(folder / str(number), *new, file=folder / "million.csv") for number in range(TIMES)]}
        found["check"] = [privnb(folder / "0", "check", "data/million/million.toml") for _ in range(TIMES)]
        rows, _ = child(sys.executable, Path(__file__), "inside", folder / "0")
        found |= {work: list(zip(seconds, [mb] * TIMES, strict=True)) for work, seconds, mb in rows}
        if more:
            found["report"] = [privnb(folder / "0", "report", "million")]
    lines = ["work,seconds,worst,aim,peak_mb"]
    for work, taken in found.items():
        seconds, memory = zip(*taken, strict=True)
        lines.append(f"{work},{median(seconds):.2f},{max(seconds):.2f},{AIMS[work]},{max(memory):.0f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"), end="")


def write(path):
    described = tomllib.loads((ADULT / "adult.toml").read_text(encoding="utf-8"))
    names, rng = list(described["columns"]), np.random.default_rng(SEED)
    records = pd.read_csv(ADULT / "adult.data", names=names, skipinitialspace=True, dtype=str)
    table, others = (records.iloc[rng.integers(len(records), size=RECORDS)] for _ in range(2))
    table = table.drop(columns=LEFT_OUT).assign(**{ANOTHERS: others[ANOTHERS].to_numpy()})
    table.to_csv(path, index=False)


def privnb(folder, *arguments, file=None):
    """What a command takes in a folder of its own: its seconds, and its memory in MB."""
    folder.mkdir(exist_ok=True)
    if file:
        (folder / file.name).symlink_to(file)
    begin = perf_counter()
    command = subprocess.Popen(
        [Path(sys.executable).with_name("privnb"), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said = command.stdout.read()
    _, status, used = os.wait4(command.pid, 0)
    if status:
        sys.exit(said.decode()[-2000:])
    return perf_counter() - begin, used.ru_maxrss / 1024


def inside(folder):
    """The works that a process does again and again."""
    from privnb.datasets.dataset import load
    from privnb.explorer import readings
    from privnb.explorer.setting import Setting

    load("adult")
    rows = [("loop", [seconds(loop) for _ in range(TIMES)], peak())]
    rows.append(("load adult", [seconds(lambda: load("adult")) for _ in range(TIMES)], peak()))
    data = load("million", folder=folder / "data")
    rows.append(("load", [seconds(lambda: load("million", folder=folder / "data")) for _ in range(TIMES)], peak()))
    readings.count_setting(data, Setting(k=1000))
    for work, steps in STEPS.items():
        rows.append((work, [seconds(lambda: readings.count_setting(data, Setting(**each))) for each in steps], peak()))  # noqa: B023
    report(*rows)


def loop():
    for _ in range(20_000_000):
        pass


def seconds(work):
    begin = perf_counter()
    work()
    return perf_counter() - begin


if __name__ == "__main__":
    asked = [each for each in sys.argv[1:] if each != "--report"]
    if asked[:1] == ["inside"]:
        inside(Path(asked[1]))
    elif asked[:1] == ["write"]:
        write(Path(asked[1]))
    else:
        main(Path(asked[0] if asked else "reports/million.csv"), "--report" in sys.argv)
