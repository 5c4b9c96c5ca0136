"""A hundred public tables: drafted, confirmed, graded, sanitized, each release read again; one after another.

`python bench_tables.py FOLDER [--out FILE.csv] [--drafts] [--reports] [TABLE ...]` reads
`FOLDER/<package>.<table>.csv`, the tables of R packages as the collection Rdatasets writes them (its first column,
`rownames`, has their row names); the data are not part of this project. `public_tables.csv` says which tables, and what
each column is: one or several kinds that are right, and in the row `*` whose rows these are. It was written before any
draft was seen.

Per table and step there is a row: `ok`, what is wrong, the sentence of a refusal, or an exception. `--drafts` stops
before roles are confirmed. `--reports` makes the quick report of each table, too, of 200 records. Nothing here runs in
the tests, but for `Reader`, which calls nothing of privnb: it knows labels as they are documented, a number, low-high,
*, the mark of a missing value, or a label of a hierarchy's file.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
K, MOST, FIVE = 5, 6, 5  # of a release; quasi-identifiers; releases per table
SAMPLE = 200  # records of a report
TOGETHER = 8  # tables whose reports are made in one process
# What a draft says that a column is: where its reason begins so, or what it has.
SAID = {
    "dates": "date", "times of the day": "time", "years": "year", "a coordinate": "coordinate", "free text": "text",
    "names of people": "identifier", "looks like": "identifier", "every value is missing": "constant",
}  # fmt: skip


class Reader:
    """The records of a described table as its file has them, and whether a published label covers one."""

    def __init__(self, path):
        self.described = tomllib.loads(path.read_text(encoding="utf-8"))
        layout, renamed = self.described.get("format", {}), self.described.get("renamed", {})
        file = path.parent / self.described["files"][0]["path"]
        with file.open(encoding=layout.get("encoding", "utf-8"), newline="") as text:
            head, *rows = [row for row in csv.reader(text, delimiter=layout.get("separator", ",")) if row]
        names = [renamed.get(name, name) for name in head]
        self.mark = layout.get("missing", "")
        texts = [[cell or self.mark for cell in row] for row in rows]
        self.records = pd.DataFrame(texts, columns=names, dtype=object)
        self.trees = {}
        for name, column in self.columns.items():
            place = path.parent / "hierarchies" / "default" / f"{name}.csv"
            if not isinstance(column.get("domain"), dict) and place.exists():
                with place.open(encoding="utf-8", newline="") as text:
                    self.trees[name] = {row[0]: {*row} for row in csv.reader(text, delimiter=";")}

    @property
    def columns(self):
        return self.described["columns"]

    def roles(self, *roles):
        return [name for name, column in self.columns.items() if column["role"] in roles]

    def covers(self, name, label, value):
        """Whether a published label of a column covers the text of a record."""
        if isinstance(label, float):  # a number, not its label
            label = self.mark if label != label else f"{label:.10f}"
        label = str(label)
        if label == "*":
            return True
        if name in self.trees:
            return label in self.trees[name].get(value, {value})
        if self.mark in (label, value):
            return label == value
        low, high = re.fullmatch(r"(-?\d+(?:\.\d+)?)(?:-(-?\d+(?:\.\d+)?))?", label).groups()
        rounding = self.columns[name]["domain"].get("step", 1) * 0.500001
        return float(low) - rounding <= float(value) <= float(high or low) + rounding

    def uncovered(self, table, names):
        """The first pair of a label and a record that it does not cover, in words; empty if all are covered."""
        for name in names:
            for label, value in {*zip(table[name], self.records[name], strict=True)}:
                if not self.covers(name, label, value):
                    return f"the label {label!r} of '{name}' does not cover {value!r}"
        return ""

    def fault(self, table, kinds, buckets=None):
        """What is wrong with a release, whose row i is record i, in words; empty if nothing is.

        `table`, `buckets`: what was published; `kinds`: per column what its publisher says was done to it.
        """
        hidden = {*self.roles("identifier", "person", "unused")} & {*table}
        if hidden or len(table) != len(self.records):
            return f"{len(table)} rows for {len(self.records)} records; it publishes {hidden or 'no key'}"
        known, keys = [name for name in self.roles("quasi-identifier") if name in table], self.roles("person")
        true = [name for name in table if kinds[name] in ("exact", "generalized", "suppressed", "bucketized")]
        if said := self.uncovered(table, [name for name in true if name in self.records]):
            return said
        people = self.records[keys[0]] if keys else pd.Series(range(len(table)))
        if buckets is not None:
            places, own = table["bucket"].to_numpy(), self.records
            if people.groupby(places).nunique().min() < K:
                return f"a bucket of fewer than {K} people"
            for name, rows in buckets.groupby("attribute"):
                if (rows.groupby("bucket")["count"].sum() != pd.Series(places).value_counts().sort_index()).any():
                    return f"a bucket has another number of values of '{name}' than of rows"
                held = rows.groupby("bucket")["value"].agg(list)
                for place, value in {*zip(places, own[name], strict=True)}:
                    if not any(self.covers(name, label, value) for label in held[place]):
                        return f"bucket {place} lacks {value!r} of '{name}'"
        elif all(kinds[name] in ("exact", "generalized", "suppressed") for name in known):
            cells = table[known].astype(object).where(table[known].notna(), self.mark).astype(str)
            least = people.groupby([cells[name].to_numpy() for name in known]).nunique().min()
            return f"k is {least}, not {K}" if least < K else ""
        return ""


def kind(column, seen):
    """What a draft says that a column is: its description and its owner's view of it."""
    reason, domain = seen.reason, column.get("domain")
    if any(alert.startswith("constant") for alert in seen.alerts):
        return "constant"
    if said := next((kind for begins, kind in SAID.items() if reason.startswith(begins)), None):
        return said
    if column["role"] in ("identifier", "person"):
        return "identifier"
    if re.match(r"\d[\d,]* different texts", reason):
        return "text"
    if re.search(r"\d (post )?codes", reason):
        return "code"
    if re.match("true or false|yes or no|y or n|t or f|0 or 1", reason):
        return "boolean"
    return "number" if isinstance(domain, dict) else "category"


def judged(path, truth):
    """How the columns and the key that a draft proposes differ from the truth: list of sentences."""
    from privnb.datasets.description_editor import DescriptionEditor

    table = DescriptionEditor.open(str(path))
    columns, wrong = table._described["columns"], []
    keys = {key for said in truth["*"] for key in said.removeprefix("person:").split("+")}  # a key names people
    own = {new: old for old, new in table._described.get("renamed", {}).items()}
    for seen in table.seen(table.roles):
        right, said = truth[own.get(seen.name, seen.name)], kind(columns[seen.name], seen)
        if said not in right and not (said == "identifier" and seen.name in keys):
            wrong.append(f"type: {seen.name} is {said}, not {'|'.join(right)} ({seen.reason})")
    key = next((name for name, column in columns.items() if column["role"] == "person"), "")
    said = f"person:{key}" if key else "one row each"
    if said not in truth["*"]:
        what = "missed" if not key else "false" if truth["*"] == ["one row each"] else "another"
        wrong.append(f"key {what}: {said}, not {'|'.join(truth['*'])}")
    return wrong


def confirmed(path):
    """Confirm a draft as it is, but for the last category of 2 to 20 values, which is sensitive, and for all but six
    quasi-identifiers, which are neutral: what is sensitive, and the draft's key."""
    from privnb.datasets.description_editor import DescriptionEditor
    from privnb.microdata.schema import Role

    table = DescriptionEditor.open(str(path))
    roles = table.roles
    known = roles.names(Role.QUASI_IDENTIFIER)
    few = {seen.name: seen.kind for seen in table.seen(roles) if 2 <= seen.different <= 20 and seen.name in known}
    named = [name for name, kind in few.items() if kind == "categories"] or [*few]
    sensitive = named[-1] if named and len(known) > 1 else ""
    roles = roles.sensitive(sensitive)
    known = roles.names(Role.QUASI_IDENTIFIER)
    roles = roles.having(dict.fromkeys(known[MOST:], Role.NEUTRAL))
    if not (key := roles.names(Role.PERSON)):
        roles = roles.person("")
    _, lacks = table.save(roles)
    if lacks:
        raise ValueError(" ".join(lacks))
    return f"sensitive: {sensitive or 'nothing'}; key: {', '.join(key) or 'none'}"


def sanitizers():
    """What to sanitize with, the first five that a table can have."""
    from privnb import sanitizers as family
    from privnb.privacy_models import KAnonymity

    k = KAnonymity(K)
    yield family.Mondrian(k)
    yield family.LocalRecoding(k)
    yield family.FullDomain(k)
    yield family.Bucketize(family.Mondrian(k))
    yield family.LaplaceNoise(1.0)
    yield family.KMember(K)
    yield family.Suppress()
    yield family.RandomizedResponse(1.0)


def steps(file, truth, place, asked, requests):
    """The steps of a table: tuples of a step, its status, a note, and the seconds of the processor. Its report is put
    among the `requests`, see `reported`.
    """

    def run(step, work):
        begun = time.process_time()
        try:
            status, note = "ok", work() or ""
        except Wrong as wrong:
            status, note = "wrong", str(wrong)
        except (ValueError, OSError) as error:
            refused = isinstance(error, PrivnbError) or isinstance(error, OSError)
            status, note = ("refused", str(error)) if refused else ("exception", traceback.format_exc(limit=-4))
        except Exception:
            status, note = "exception", traceback.format_exc(limit=-4)
        found.append((step, status, str(note), time.process_time() - begun))
        return status

    from privnb.cli import main
    from privnb.datasets.dataset import load
    from privnb.datasets.draft import draft
    from privnb.runtime.errors import PrivnbError

    found, path = [], place / "data" / "table" / "table.toml"
    if run("new", lambda: draft(file, "table", place / "data") and None) != "ok":
        return found

    def compare():
        if wrong := judged(path, truth):
            raise Wrong("\n".join(wrong))

    run("types", compare)
    if asked.drafts:
        return found
    if run("confirm", lambda: confirmed(path)) != "ok" or run("load", lambda: load(path) and None) != "ok":
        return found
    run("check", lambda: checked(main, path))
    data, reader, made = load(path), Reader(path), 0
    for sanitizer in sanitizers():
        if made == FIVE:
            break
        made += run(repr(sanitizer), lambda: verified(sanitizer, data, reader)) == "ok"  # noqa: B023
    if asked.reports:
        requests[file.stem] = place, path, min(len(data), SAMPLE)
    return found


class Wrong(Exception):
    """A result that is not what it says."""


def verified(sanitizer, data, reader):
    release = sanitizer.sanitize(data, rng=0)
    kinds = {name: treatment.kind for name, treatment in release.columns.items()}
    kinds |= {name: "bucketized" for name in release.table if name not in kinds}
    if said := reader.fault(release.table.reset_index(drop=True), kinds, release.buckets):
        raise Wrong(said)


def checked(main, path):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(["check", str(path)])
    if status or "k achieved" not in out.getvalue():
        raise Wrong(errors.getvalue() or out.getvalue())


def reported(requests):
    """The reports that are asked for, `{table: (folder, description file, records)}`, in one process as long as they
    are made: `{table: (status, note)}`.
    """
    from privnb.runtime.processes import ENVIRONMENT

    found, left = {}, dict(requests)
    # As in the tests: by this environment all is computed there, and no worker is started, which takes as long again.
    environment = os.environ | ENVIRONMENT
    while left:
        pairs = []
        for place, path, records in left.values():
            asked = json.dumps({"parameters": {"DATASET": str(path), "RECORDS": records}})
            pairs += [str(place / "report"), asked]
        command = [sys.executable, str(HERE.parent / "support" / "one_process.py"), "all", *pairs]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        while left and (left[name := next(iter(left))][0] / "report" / "index.html").exists():
            found[name] = "ok", ""
            del left[name]
        if left:  # which ends with what DuckDB leaves behind
            found[name] = "wrong", done.stderr.partition("nanobind: ")[0][-1500:]
            del left[name]
    return found


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--drafts", action="store_true")
    parser.add_argument("--reports", action="store_true")
    asked = parser.parse_intermixed_args(arguments)
    truth = pd.read_csv(HERE / "public_tables.csv", dtype=str)
    own = {name: rows for name, rows in truth.groupby("table", sort=False) if name in (asked.table or [*truth.table])}
    rows = []
    for begin in range(0, len(own), TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            made, requests = [], {}
            for name in [*own][begin : begin + TOGETHER]:
                right = {column: kinds.split("|") for column, kinds in own[name][["column", "kinds"]].to_numpy()}
                place = Path(folder) / name
                place.mkdir()
                made += [(name, *step) for step in steps(asked.folder / f"{name}.csv", right, place, asked, requests)]
            made += [(name, "report", *said, 0.0) for name, said in reported(requests).items()]
        for name, step, status, note, _ in made:
            if status != "ok":
                print(name, step, status, note, sep=" | ", flush=True)
        rows += made
        if asked.out:
            table(rows).to_csv(asked.out, index=False)
    print(summary(table(rows), truth))


def table(rows):
    return pd.DataFrame(rows, columns=["table", "step", "status", "note", "seconds"])


def summary(found, truth):
    """The counts of all steps, in words."""
    drafted = found.table[found.step.eq("types")]
    columns = (truth.table.isin(drafted) & truth["column"].ne("*")).sum()
    notes = found[found.step.eq("types")].note.str.split("\n").explode()
    typed = notes[notes.str.startswith("type:")].str.extract(r" is (\w+), not (\S+)")
    keys = notes.str.extract(r"^key (\w+):")[0].value_counts().to_dict()
    by_step = found.assign(step=found.step.str.partition("(")[0]).groupby(["step", "status"], sort=False).size()
    pairs = typed.value_counts().rename_axis(["drafted", "right"]).to_string() if len(typed) else "none"
    return (
        f"{by_step.unstack(fill_value=0).to_string()}\n\n"
        f"{len(typed)} types of {columns} columns in {len(drafted)} tables are wrong:\n{pairs}\n"
        f"keys: {keys}\nseconds of the processor: {found.seconds.sum():.0f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
