"""Compare all numbers of this working tree with those of a commit: `make numbers COMMIT=640a1f1`.

    python tests/benchmarks/frozen_numbers.py COMMIT [--parts releases files decisions reports] [--records N] [--texts]

Both trees are run on this machine, each by its own copy of this script, so that names may change between the two.
Releases and written files are compared by a hash of their sorted rows, numbers to a relative 1e-12, all other fields
exactly. Sentences are compared only with `--texts`. The numbers of a commit are kept in `reports/frozen_numbers/`, and
are collected once for each choice of options.
"""

import argparse
import csv
import hashlib
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CLINIC = "tests/data/clinic/clinic.toml"
TABLES = {  # the studies whose numbers are compared
    "adult": ("sramka", "li-li", "marital", "occupation"),
    "census": ("masking", "employer"),
    "hypertension": ("",),
    "twelve": ("twelve", "levels"),
    CLINIC: ("",),
}
POLICIES = "k-5", "ontario-2025-sensitive"
MODELS = "k=3", "k=5, distinct-l=2:{sensitive}", "k=5, t=0.5:{sensitive}"
TOLERANCE = 1e-12  # relative: sums and logarithms differ in their last digits between processors
DIGITS = 12
SHOWN = 40  # differences that are printed
NOT_COMPARED = "made", "date", "commit", "version", "seconds", "memory"  # fields that differ between two runs

Value = str | float | int | bool | None
Numbers = dict[str, Value]


def rounded(value: object) -> str:
    """Return a cell as text, a float with `DIGITS` digits."""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def digest(rows: Iterator[tuple]) -> str:
    """Return a hash of rows that does not depend on their order."""
    lines = sorted("\x1f".join(map(rounded, row)) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def releases(name: str, study: str, records: int) -> Numbers:
    """Collect a hash of each release of a table, over all kinds of sanitizers."""
    from privnb import load
    from privnb.privacy_models import DistinctDiversity, KAnonymity, TCloseness
    from privnb.sanitizers import catalogue

    dataset = load(name, study or None, records=records if name == "adult" else None)
    chosen = [*catalogue.reference_sanitizers(), *catalogue.build_one_per_class(dataset)]
    chosen += catalogue.build_one_per_class(dataset, k=3, l=3, t=0.4, delta=2.0, epsilon=0.1)
    for sensitive in dataset.schema.sensitive[:1]:
        for model in (DistinctDiversity(2, sensitive), TCloseness(0.3, sensitive)):
            chosen += catalogue.build_generalizing(dataset, KAnonymity(4), model)
    numbers: Numbers = {}
    for sanitizer in chosen:
        key = f"{Path(name).stem}/{study} {sanitizer.key}"
        try:
            release = sanitizer.sanitize(dataset, rng=1)
        except ValueError as error:
            numbers[key] = type(error).__name__
            continue
        numbers[key] = digest(release.table.itertuples(index=False, name=None))
        if release.buckets is not None:
            numbers[f"{key} buckets"] = digest(release.buckets.itertuples(index=False, name=None))
    return numbers


# Old forms, which commits from before the present ones know, too.
RELEASE, DATASET = "--release", "--dataset"


def command(*arguments: str) -> int:
    """Run a command of this tree's privnb in a process of its own, and return its exit code."""
    code = "import sys; from privnb import cli; sys.exit(cli.main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False).returncode


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def fields(value: object, path: str) -> Iterator[tuple[str, Value]]:
    """Yield each field of a JSON document with its path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in items:
            if name not in NOT_COMPARED:
                yield from fields(each, f"{path}/{name}")
    else:
        yield path, value


def written(folder: Path, key: str) -> Numbers:
    """Collect what stands in the files that a command wrote: hashes of tables, fields of JSON documents."""
    numbers: Numbers = {}
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".codebook.json"):
            continue  # says the same as the codebook's table
        if path.suffix == ".csv":
            header, *rows = read_csv(path)
            numbers[f"{key} {path.name}"] = digest(iter([tuple(header), *map(tuple, rows)]))
        elif path.suffix == ".json":
            document = json.loads(path.read_text(encoding="utf-8"))
            document.pop("sha256", None)  # of a card, whose date differs
            numbers |= dict(fields(document, f"{key} {path.name}"))
    return numbers


def files(name: str, study: str, records: int) -> Numbers:
    """Collect the files that `sanitize` writes of a described table."""
    from privnb import load

    sensitive = load(name, study or None).schema.sensitive
    numbers: Numbers = {}
    for model in MODELS if sensitive else MODELS[:1]:
        with tempfile.TemporaryDirectory() as folder:
            key = f"{Path(name).stem}/{study} {model}"
            asked = model.format(sensitive=f'"{sensitive[0]}"' if sensitive else "")
            arguments = ["sanitize", name, "--out", str(Path(folder) / "out.csv"), "--model", asked]
            numbers[f"{key} status"] = command(*arguments, *(["--study", study] if study else []))
            numbers |= written(Path(folder), key)
    return numbers


def decisions(name: str, study: str, records: int) -> Numbers:
    """Collect the release, the card and the provenance of `decide`."""
    numbers: Numbers = {}
    for policy in POLICIES:
        with tempfile.TemporaryDirectory() as folder:
            key = f"{Path(name).stem}/{study} {policy}"
            arguments = ["decide", name, "--policy", policy, "--seeds", "2", RELEASE, str(Path(folder) / "out.csv")]
            arguments += ["--study", study] if study else []
            arguments += ["--records", str(records)] if name == "adult" else []
            numbers[f"{key} status"] = command(*arguments)
            found = written(Path(folder), key)
            chosen = f"{key} out.csv.card.json/decision"
            if found.get(f"{chosen}/drawn"):  # for publication, with fresh entropy: each file is another one
                found = {name: found[name] for name in (f"{chosen}/sanitizer", f"{chosen}/parameters")}
            numbers |= found
    return numbers


def reports(name: str, study: str, records: int) -> Numbers:
    """Collect `results.csv` and `ledger.csv` of a table's report, which chooses its studies itself."""
    if study != TABLES[name][0]:
        return {}
    numbers: Numbers = {}
    with tempfile.TemporaryDirectory() as folder:
        numbers[f"{Path(name).stem} status"] = command("report", DATASET, name, "--out", folder)
        for table in ("results.csv", "ledger.csv"):
            if (path := Path(folder) / table).exists():
                numbers |= rows(read_csv(path), f"{Path(name).stem} {table}")
    return numbers


def rows(table: list[list[str]], key: str) -> Numbers:
    """Collect the numbers of a CSV table; the other fields of a row, and its number among equal ones, name it."""
    header, *lines = table
    measured = {"value", "low", "high", "baseline", "of", "measured", "lowest", "highest", "difference", "status"}
    numbers: Numbers = {}
    for line in lines:
        row = {name: text for name, text in zip(header, line, strict=True) if name not in NOT_COMPARED}
        name = " ".join([key, *(text for column, text in row.items() if column not in measured and text)])
        again = 0
        while f"{name} #{again}" in numbers:
            again += 1
        numbers[f"{name} #{again}"] = "row"
        numbers |= {f"{name} #{again} {column}": row[column] for column in sorted(measured & row.keys()) if row[column]}
    return numbers


PARTS: dict[str, Callable[[str, str, int], Numbers]] = {
    "releases": releases,
    "files": files,
    "decisions": decisions,
    "reports": reports,
}


def collect(parts: list[str], tables: list[str], records: int) -> Numbers:
    """Collect the numbers of this tree."""
    numbers: Numbers = {}
    for part in parts:
        for name in tables:
            for study in TABLES[name]:
                found = PARTS[part](name, study, records)
                numbers |= {f"{part}: {key}": value for key, value in found.items()}
                print(f"{part} {name} {study}: {len(found)}", file=sys.stderr, flush=True)
    return numbers


def collected(tree: Path, arguments: list[str]) -> Numbers:
    """Collect the numbers of a tree by its own copy of this script."""
    script = tree / Path(__file__).relative_to(PROJECT)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "numbers.json"
        environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
        subprocess.run([sys.executable, script, "--collect", out, *arguments], cwd=tree, env=environment, check=True)
        return json.loads(out.read_text(encoding="utf-8"))


def of_commit(commit: str, arguments: list[str]) -> Numbers:
    """Return the numbers of a commit, which are collected once."""
    full = subprocess.check_output(["git", "rev-parse", commit], cwd=PROJECT, text=True).strip()
    options = hashlib.sha256(" ".join(arguments).encode()).hexdigest()[:8]
    kept = PROJECT / "reports" / "frozen_numbers" / f"{full[:12]}-{options}.json"
    if not kept.exists():
        archive = subprocess.check_output(["git", "archive", full], cwd=PROJECT)
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(folder, filter="data")
            numbers = collected(Path(folder).resolve(), arguments)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(numbers, indent=0), encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


def is_sentence(value: Value) -> bool:
    return isinstance(value, str) and value.count(" ") > 3


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal, numbers to a relative `TOLERANCE`."""
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def differences(before: Numbers, after: Numbers, texts: bool) -> list[str]:
    """List what differs between the numbers of two trees, in words."""
    said = []
    for name in {**before, **after}:
        if name not in after or name not in before:
            said.append(f"{name}: only {'before' if name in before else 'after'}")
            continue
        a, b = before[name], after[name]
        if not same(a, b) and (texts or not (is_sentence(a) or is_sentence(b))):
            said.append(f"{name}: {a} before, {b} after")
    return said


def main(arguments: list[str] | None = None) -> int:
    """Collect and compare, and return 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("commit", nargs="?", help="what this tree is compared with")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--records", type=int, default=2000, help="of Adult, but for its report")
    parser.add_argument("--texts", action="store_true", help="compare sentences as well")
    parser.add_argument("--collect", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.collect:
        with redirect_stdout(sys.stderr):
            numbers = collect(options.parts, options.tables, options.records)
        options.collect.write_text(json.dumps(numbers), encoding="utf-8")
        return 0
    if options.commit is None:
        parser.error("name the commit that this tree is compared with")
    passed_on = ["--parts", *options.parts, "--tables", *options.tables, "--records", str(options.records)]
    before, after = of_commit(options.commit, passed_on), collected(PROJECT, passed_on)
    said = differences(before, after, options.texts)
    for line in said[:SHOWN]:
        print(line)
    print(f"{len(after):,} values, {len(said):,} differ from {options.commit}")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
