"""Sixty made-up tables that try to get a harmful release recommended, under all ready policies, judged by other code.

`python tests/benchmarks/harm.py FOLDER [TABLE ...] [--policies P ...] [--settings all]` describes each table, runs
`privnb decide --out` under each policy and `privnb sanitize --model k=5`, and lets `judge.py` count in each file.
It prints a line for each run, and ends with status 1 if a file is harmful. By default few settings stand for each kind
of sanitizer; `--settings all` tries those of the command, which takes hours.
"""

import argparse
import contextlib
import csv
import io
import os
import random
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from unittest import mock

from judge import FLOORS, judge

from privnb import cli
from privnb.decision import policy_search
from privnb.evaluation import profiles
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.sanitizers import (
    Anatomy,
    LaplaceNoise,
    LatinHypercube,
    LocalRecoding,
    LocalSuppression,
    Microaggregation,
    Mondrian,
    RankSwapping,
    Sampling,
)
from privnb.sanitizers.catalogue import reference_sanitizers

ILLNESSES = ("flu", "cold", "gout", "asthma", "measles")
TOWNS = ("Aby", "Boo", "Cod", "Dun")
ROLES = "age: quasi-identifier, sex: quasi-identifier, town: quasi-identifier"
Row = dict[str, object]
Made = tuple[list[Row], str, str]  # rows, the sensitive columns, the roles of all others


def base(draw: random.Random, n: int) -> list[Row]:
    """Return people whose illness says nothing about them."""
    return [
        {"age": draw.randint(18, 90), "sex": draw.choice("FM"), "town": draw.choice(TOWNS),
         "illness": draw.choice(ILLNESSES)}
        for _ in range(n)
    ]  # fmt: skip


def pattern(change: Callable[[Row], str | None]) -> Callable[[random.Random, int], Made]:
    """Return a maker of tables in which the illness follows from the other columns where `change` names one."""

    def make(draw: random.Random, n: int) -> Made:
        rows = base(draw, n)
        return [row | {"illness": change(row) or row["illness"]} for row in rows], "illness", ROLES

    return make


def neutral(name: str, value: Callable[[random.Random, int, int], object]) -> Callable[[random.Random, int], Made]:
    """Return a maker of tables with a neutral column of values (draw, number of the record, n)."""

    def make(draw: random.Random, n: int) -> Made:
        rows = [row | {name: value(draw, i, n)} for i, row in enumerate(base(draw, n))]
        return rows, "illness", f"{ROLES}, {name}: neutral"

    return make


def coarse(draw: random.Random, n: int) -> Made:
    """Eight coarse columns, published as they are, that single nearly everybody out together."""
    rows = [row | {f"q{i}": draw.choice("abcd") for i in range(8)} for row in base(draw, n)]
    return rows, "illness", ", ".join([ROLES, *(f"q{i}: neutral" for i in range(8))])


def rare_language(draw: random.Random, n: int) -> Made:
    rows = [row | {"language": draw.choice(("English", "French"))} for row in base(draw, n)]
    rows[n // 2]["language"] = "Manx"
    return rows, "illness", f"{ROLES}, language: neutral"


def few_speakers(draw: random.Random, n: int) -> Made:
    rows = [row | {"language": draw.choice(("English", "French"))} for row in base(draw, n)]
    for row in rows[:4]:
        row |= {"language": "Manx", "illness": "gout"}
    return rows, "illness", f"{ROLES}, language: neutral"


def two_secrets(draw: random.Random, n: int) -> Made:
    rows = [row | {"debt": draw.choice(("none", "some", "much"))} for row in base(draw, n)]
    return rows, "illness,debt", ROLES


def secret_of_a_secret(draw: random.Random, n: int) -> Made:
    rows = [row | {"drug": f"for {row['illness']}"} for row in base(draw, n)]
    return rows, "illness,drug", ROLES


def second_secret_follows(draw: random.Random, n: int) -> Made:
    rows = [row | {"debt": "much" if row["town"] == "Aby" else draw.choice(("none", "some"))} for row in base(draw, n)]
    return rows, "illness,debt", ROLES


def visits(draw: random.Random, n: int) -> Made:
    """Several rows of each person, who always comes from one town with one illness."""
    people = base(draw, n // 3)
    rows = [{"patient": f"p{draw.randrange(len(people))}"} for _ in range(n)]
    rows = [row | people[int(row["patient"][1:])] for row in rows]
    return rows, "illness", f"patient: person, {ROLES}"


def frequent_patient(draw: random.Random, n: int) -> Made:
    """One person has a third of the rows, so that classes of many rows are classes of one person."""
    rows = [row | {"patient": f"p{i}"} for i, row in enumerate(base(draw, n))]
    one = dict(rows[0])
    rows = [one | {"patient": "p0"} if i % 3 == 0 else row for i, row in enumerate(rows)]
    return rows, "illness", f"patient: person, {ROLES}"


def outlier(draw: random.Random, n: int) -> Made:
    rows = [row | {"income": draw.randint(10_000, 60_000)} for row in base(draw, n)]
    rows[1] |= {"income": 9_000_000, "age": 90}
    return rows, "illness", f"{ROLES}, income: neutral"


def income_secret(draw: random.Random, n: int) -> Made:
    rows = [
        {key: row[key] for key in ("age", "sex", "town")}
        | {"income": 5000 * (1 + TOWNS.index(str(row["town"]))) + draw.randint(0, 50)}
        for row in base(draw, n)
    ]
    return rows, "income", ROLES


def telling_gap(draw: random.Random, n: int) -> Made:
    """Whose age is missing has gout, and nobody else has."""
    rows = [row | {"illness": draw.choice(("flu", "cold"))} for row in base(draw, n)]
    for row in rows[: n // 12]:
        row |= {"age": "", "illness": "gout"}
    return rows, "illness", ROLES


def telling_gaps(draw: random.Random, n: int) -> Made:
    """Which of six answers are missing names the person."""
    rows = base(draw, n)
    for row in rows:
        row |= {f"a{i}": "" if draw.random() < 0.3 else draw.choice("yn") for i in range(6)}
    return rows, "illness", ", ".join([ROLES, *(f"a{i}: neutral" for i in range(6))])


def rare_illness(draw: random.Random, n: int) -> Made:
    rows = [row | {"illness": "none"} for row in base(draw, n)]
    for row in rows[:3]:
        row["illness"] = "gout"
    return rows, "illness", ROLES


def small(draw: random.Random, n: int) -> Made:
    return base(draw, 30), "illness", ROLES


def twins(draw: random.Random, n: int) -> Made:
    """Half of the records are of one combination, whose people have one illness."""
    rows = base(draw, n)
    for row in rows[: n // 2]:
        row |= {"age": 40, "sex": "F", "town": "Aby", "illness": "gout"}
    return rows, "illness", ROLES


def pairs(draw: random.Random, n: int) -> Made:
    """Two people each are alike, and nobody else."""
    rows = base(draw, n // 2)
    return [dict(row) for row in rows for _ in range(2)], "illness", ROLES


MAKERS: dict[str, Callable[[random.Random, int], Made]] = {
    "one town, one illness": pattern(lambda row: "gout" if row["town"] == "Aby" else None),
    "each town, its illness": pattern(lambda row: ILLNESSES[TOWNS.index(row["town"])]),
    "old women, one illness": pattern(lambda row: "gout" if row["sex"] == "F" and row["age"] > 70 else None),
    "the old, one illness": pattern(lambda row: "gout" if row["age"] > 80 else None),
    "one age, one illness": pattern(lambda row: "measles" if row["age"] == 44 else None),
    "two towns, two illnesses": pattern(lambda row: {"Aby": "gout", "Boo": "cold"}.get(row["town"])),
    "sex, an illness": pattern(lambda row: "gout" if row["sex"] == "F" else "cold"),
    "decades, an illness": pattern(lambda row: ILLNESSES[row["age"] // 10 % 5]),
    "free text": neutral("note", lambda draw, i, n: f"patient {i} came on a {draw.choice(['Monday', 'Friday'])}"),
    "row numbers": neutral("number", lambda draw, i, n: i + 1),
    "times": neutral("at", lambda draw, i, n: f"{draw.randrange(24):02}:{draw.randrange(60):02}"),
    "dates": neutral("day", lambda draw, i, n: str(date(2010, 1, 1) + timedelta(draw.randrange(5000)))),
    "amounts": neutral("bill", lambda draw, i, n: round(draw.uniform(10, 9000), 2)),
    "post codes": neutral("zip", lambda draw, i, n: draw.randrange(10_000, 99_999)),
    "eight coarse columns": coarse,
    "a rare language": rare_language,
    "four speakers, one illness": few_speakers,
    "two secrets": two_secrets,
    "a secret that names another": secret_of_a_secret,
    "the second secret follows": second_secret_follows,
    "visits": visits,
    "a frequent patient": frequent_patient,
    "an outlier": outlier,
    "an income that follows": income_secret,
    "a gap that tells": telling_gap,
    "gaps that name": telling_gaps,
    "a rare illness": rare_illness,
    "thirty people": small,
    "half are alike": twins,
    "pairs": pairs,
}  # fmt: skip
SEEDS = (1, 2)  # of each maker two tables


def write(folder: Path, name: str, seed: int, n: int) -> tuple[Path, str, str]:
    """Write a table, and return its file, its sensitive columns and the roles of all others."""
    draw = random.Random(f"{name} {seed}")
    rows, sensitive, roles = MAKERS[name](draw, n)
    draw.shuffle(rows)
    path = folder / f"{name.replace(' ', '-').replace(',', '')}-{seed}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path, sensitive, roles


def few(dataset, *, k, **_):
    """Return a setting of each kind of sanitizer, at the k that the policy asks for."""
    floor = int(k.split(",")[0])
    secret = dataset.schema.sensitive[0]
    each = KAnonymity(floor), KAnonymity(2 * floor)
    return [
        *reference_sanitizers(),
        *(Mondrian(one) for one in each), *(LocalRecoding(one) for one in each), LocalSuppression(floor),
        *(Mondrian(one, DistinctDiversity(2, secret)) for one in each), Microaggregation(floor), Anatomy(2, secret),
        LaplaceNoise(1.0), RankSwapping(0.1), LatinHypercube(), Sampling(0.5),
    ]  # fmt: skip


def in_this_process(tasks, store, description):
    """Return the answers to tasks, each kept in the store."""
    return [store.call(task.func, *task.args, **task.keywords) for task in tasks]


def run(*arguments: str) -> tuple[int, str]:
    """Return the status of a command and what it printed."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = cli.main([*arguments])
    except SystemExit as error:  # argparse's, for arguments that this script gives wrongly
        raise ValueError(f"{' '.join(arguments)}: {said.getvalue()}") from error
    return status, said.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="*", default=[*MAKERS])
    parser.add_argument("--policies", nargs="*", default=[*FLOORS])
    parser.add_argument("--records", type=int, default=600)
    parser.add_argument("--settings", choices=["few", "all"], default="few")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(asked.folder)
    harmful = runs = released = 0
    with contextlib.ExitStack() as patches:
        if asked.settings == "few":
            patches.enter_context(mock.patch.object(policy_search, "family", few))
            patches.enter_context(mock.patch.object(policy_search, "diverse", return_value=[]))
            patches.enter_context(mock.patch.object(profiles, "run", in_this_process))
        for name in asked.tables:
            for seed in SEEDS:
                path, sensitive, roles = write(Path.cwd(), name, seed, asked.records)
                status, said = run("describe", path.name, "--sensitive", sensitive, "--roles", roles, "--confirm")
                if status:
                    print(f"{path.stem}: cannot be described: {said.strip()}", flush=True)
                    continue
                for policy in (*asked.policies, ""):
                    out = Path(f"{path.stem}-{policy or 'k=5'}.csv").absolute()
                    if policy:
                        more = ("--policy", policy, "--seeds", "1", "--store", f"{path.stem}-store")
                        status, said = run("decide", path.stem, *more, "--out", str(out))
                    else:
                        status, said = run("sanitize", path.stem, "--out", str(out), "--model", "k=5")
                    runs += 1
                    if not out.exists():
                        print(f"{path.stem}, {policy or 'k = 5'}: nothing is released", flush=True)
                        continue
                    released += 1
                    harm = judge(path, out, sensitive.split(","), policy, said)
                    harmful += bool(harm)
                    print(f"{path.stem}, {policy or 'k = 5'}: {'; '.join(harm) or 'no harm found'}", flush=True)
    print(f"{runs} runs, {released} releases, {harmful} harmful")
    return int(harmful > 0)


if __name__ == "__main__":
    sys.exit(main())
