"""From file to file: the same release as in memory, written whole or not at all."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support import person_key
from support.clinic import CLINIC, IDENTIFIER

from privnb import cli
from privnb.datasets.dataset import DatasetDescription, load
from privnb.microdata.provenance import Provenance
from privnb.microdata.rows import CombinationTable
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity, grade_release
from privnb.publishing import from_files, release_job
from privnb.publishing.model_spec import parse_sanitizer
from privnb.publishing.release_job import COSTS
from privnb.sanitizers import Identity, Mondrian, SanitizationError, Suppress
from privnb.tables import long_tables, writing
from privnb.tables.long_tables import Memory
from privnb.tables.spreadsheets import unescape

# What is written is asked here, and not whether it may leave: see test_gate.py.
sanitize = partial(from_files.sanitize, allow="a test")

HEAD = "age,zip,sex,income"
BESIDE = "", ".codebook.csv", ".codebook.json", ".provenance.json"  # a release and what stands beside it


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(18, 91, rows).astype(str),
        "zip": np.char.add("0", rng.integers(1100, 1140, rows).astype(str)),
        "sex": rng.choice(["F", "M", ""], rows, p=[0.5, 0.45, 0.05]),
        "income": rng.choice(["low", "mid, or so", 'h"igh'], rows),
    }
    return pd.DataFrame(table)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)]


def rows_of(release):
    cells = release.table.astype(object).where(release.table.notna(), "")
    return sorted(tuple(map(str, row)) for row in cells.itertuples(index=False))


# ---- the same release


@pytest.mark.parametrize("ending", [".csv", ".parquet", ""])
@pytest.mark.parametrize(
    ("model", "algorithm"), [("k=5", "Mondrian"), ("k=3, t=0.4", "local recoding"), ("k=4", "FullDomain")]
)
def test_a_dataset_is_released_as_in_memory(here, ending, model, algorithm):
    dataset = load(CLINIC)
    made = sanitize(CLINIC, model, f"out{ending}", algorithm=algorithm)
    whole = parse_sanitizer(model, algorithm, dataset.schema).sanitize(dataset, rng=None)
    if ending == ".csv":
        head, *rows = read("out.csv")
    else:
        table = pd.read_parquet(f"out{ending}")
        head, rows = (
            (*table,),
            [tuple("" if v != v else str(v) for v in row) for row in table.astype(object).to_numpy()],
        )
    assert list(head) == list(whole.table)
    assert sorted(rows) == rows_of(whole)
    assert (made.records, made.smallest) == (len(dataset), whole.people_per_class.min())
    facts = json.loads((here / f"out{ending}.provenance.json").read_text())
    measured, read_of, verdict, _ = (facts.pop(key) for key in ("measured", "records_read", "gate", "made"))
    assert read_of == len(dataset)
    assert facts.pop("roles") == {name: whole.schema[name].role for name in whole.schema.published}
    assert facts == json.loads(json.dumps(whole.provenance.public() | {"note": facts["note"]}))
    assert measured.pop("claims") == {repr(each): grade_release(each, whole) for each in whole.provenance.claims}
    assert measured.pop("records") == len(dataset)
    assert measured == {name: pytest.approx(cost(whole)) for name, cost in COSTS.items()}
    assert verdict == {**verdict, "allowed": True, "reasons": [], "override": ""}
    assert "ward" in verdict["notices"][-1]["says"]
    assert IDENTIFIER not in str(rows)
    assert sorted(each.name for each in here.iterdir()) == [f"out{ending}{each}" for each in BESIDE]


def test_rows_are_in_the_order_of_what_they_hold(here):
    sanitize(CLINIC, "k=5", "out.parquet")
    table = pd.read_parquet("out.parquet").astype(object)
    keys = [tuple(map(str, row)) for row in table.to_numpy()]
    firsts = list(dict.fromkeys(keys))
    assert [key for key in firsts for _ in range(keys.count(key))] == keys, "equal rows stand together"
    codes = [pd.factorize(table[name], sort=True)[0] for name in table]
    assert sorted(zip(*codes, strict=True)) == [*zip(*codes, strict=True)]


def test_a_file_is_read_by_the_description_of_a_dataset(here):
    text = load(CLINIC).table.assign(patient="x")
    text.rename(columns={}).to_csv("others.csv", index=False)
    made = sanitize("others.csv", "k=5", "out.csv", dataset=CLINIC)
    assert made.records == 300
    assert sorted(read("out.csv")[1:]) == rows_of(Mondrian(KAnonymity(5)).sanitize(load(CLINIC), rng=None))


@pytest.mark.slow
def test_parts_of_a_folder_are_one_table(here):
    os.mkdir("parts")
    table = people()
    table[:100].to_csv("parts/a.csv", index=False)
    table[100:].to_csv("parts/b.csv", index=False)
    table.to_csv("whole.csv", index=False)
    for source, out in (("parts", "one.csv"), ("whole.csv", "two.csv")):
        assert sanitize(source, "k=5, frequency-l=1.5:income", out).records == 400
    assert read("one.csv") == read("two.csv")


def test_parts_that_are_laid_out_differently_are_no_table(here):
    os.mkdir("parts")
    people()[:100].to_csv("parts/a.csv", index=False)
    people()[100:].to_csv("parts/b.csv", index=False, sep=";")
    with pytest.raises(SchemaError, match=r"b\.csv .*layout: .*separator=';'"):
        sanitize("parts", "k=5", "out.csv")
    people()[100:].to_parquet("parts/b.csv")
    (here / "parts" / "b.csv").rename(here / "parts" / "b.parquet")
    with pytest.raises(SchemaError, match=r"b\.parquet .*layout: "):
        sanitize("parts", "k=5", "out.csv")
    assert [each.name for each in here.iterdir()] == ["parts"]


def test_a_file_that_is_not_the_one_described_is_refused(here):
    shutil.copytree(CLINIC.parent, "clinic")
    path, file = here / "clinic" / "clinic.toml", here / "clinic" / "clinic.csv"
    records = file.read_text(encoding="utf-8")
    file.write_text(records + records.splitlines()[-1] + "\n", encoding="utf-8")
    for reads in (load, lambda path: sanitize(path, "k=5", "out.csv")):
        with pytest.raises(SchemaError, match=r"^clinic\.csv is not the described file: its SHA-256 is"):
            reads(path)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"^clinic\.csv is described but does not exist"):
        sanitize(path, "k=5", "out.csv")
    assert [each.name for each in here.iterdir()] == ["clinic"]
    file.write_text(records, encoding="utf-8")
    assert sanitize(path, "k=5", "out.csv").records == 300


@pytest.mark.slow
def test_what_a_person_has_several_records_of_counts_people(here):
    path = person_key.drafted(here / "visits", 120)
    dataset = load(path)
    made = sanitize(path, "k=5, frequency-l=1.5:ill", "out.csv")
    whole = parse_sanitizer("k=5, frequency-l=1.5:ill", "mondrian", dataset.schema).sanitize(dataset, rng=None)
    assert sorted(read("out.csv")[1:]) == rows_of(whole)
    assert made.smallest == whole.people_per_class.min() >= 5
    assert made.records == len(dataset)


def test_buckets_have_their_second_table(here):
    made = sanitize(CLINIC, "frequency-l=2", "out.csv", algorithm="Bucketize")
    rows, held = pd.read_csv("out.csv"), pd.read_csv("out.csv.buckets.csv")
    assert held["count"].sum() == len(rows) == 300
    sizes = rows["bucket"].value_counts()
    assert (held.groupby("bucket")["count"].sum() == sizes.sort_index()).all()
    assert (held["count"] * 2 <= held["bucket"].map(sizes)).all(), "l = 2"
    assert any("can find the person's row" in note for note in made.notes)


# ---- who may read it, and what opens it


@pytest.mark.parametrize(("mode", "expected"), [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o400, 0o400)])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out"])
def test_only_who_may_read_the_table_may_read_the_release(here, mode, expected, out):
    before = os.umask(0o022)
    try:
        people().to_csv("people.csv", index=False)
        Path("people.csv").chmod(mode)
        sanitize("people.csv", "k=5", out)
    finally:
        os.umask(before)
    made = [Path(out), Path(f"{out}.provenance.json"), *Path(out).glob("*")]
    assert {each.stat().st_mode & 0o777 for each in made if each.is_file()} == {expected}
    if out == "out":
        assert Path(out).stat().st_mode & 0o077 == (expected & 0o044) | (expected & 0o044) >> 2
        assert pd.read_parquet(out).shape[0] == 400


def test_the_strictest_part_and_the_folder_of_parts_decide(here):
    os.mkdir("parts", 0o755)
    for number, mode in enumerate((0o644, 0o640)):
        people(seed=number).to_csv(f"parts/{number}.csv", index=False)
        Path(f"parts/{number}.csv").chmod(mode)
    sanitize("parts", "k=5", "parts.csv")
    assert Path("parts.csv").stat().st_mode & 0o777 == 0o640
    Path("parts").chmod(0o700)
    sanitize("parts", "k=5", "closed.csv")
    assert Path("closed.csv").stat().st_mode & 0o777 == 0o600


FORMULA = ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\tx", "-8", "plain, text", "'=1+1"]


def of_formulas(name="job"):
    """A table with formulas in each kind of column: a quasi-identifier, a secret, and one record by record."""
    table = people(seed=3)
    table[name] = [FORMULA[i % len(FORMULA)] for i in range(len(table))]
    table["word"] = [f"={i}*2" for i in range(len(table))]
    domains = {each: sorted(set(table[each])) for each in ("zip", "income", "word", name)}
    columns = [
        '[columns.age]\nrole = "quasi-identifier"\ndomain = { low = 0, high = 99 }',
        '[columns.sex]\nrole = "quasi-identifier"\ndomain = ["F", "M", "?"]',
        *(
            f'[columns."{each}"]\nrole = "{role}"\ndomain = {json.dumps(domains[each])}'
            for each, role in {"zip": "quasi-identifier", name: "quasi-identifier", "word": "neutral"}.items()
        ),
        f'[columns.income]\nrole = "sensitive"\ndomain = {json.dumps(domains["income"])}',
    ]
    columns[-2] += '\ncannot_be_known = "Only these tests know it."'
    head = "\n".join(f'{each} = ""' for each in ("title", "description", "source", "licence", "citation"))
    os.makedirs("data/of")
    table.to_csv("data/of/of.csv", index=False)
    Path("data/of/of.toml").write_text(
        f'[dataset]\nname = "of"\n{head}\n[[files]]\npath = "of.csv"\n[format]\nmissing = "?"\n' + "\n".join(columns),
        encoding="utf-8",
    )
    return table


def test_formulas_are_reported_by_command_and_provenance(here, capsys):
    of_formulas("=job")
    assert cli.main(["sanitize", "of", "--model", "k=2", "--out", "out.csv"]) == 0
    said = "Text in =job, word begins with =, +, -, @ or a tab"
    assert said in capsys.readouterr().out
    facts = json.loads(Path("out.csv.provenance.json").read_text(encoding="utf-8"))
    assert said in facts["note"]
    assert facts["formulas"] == {"columns": ["=job", "word"], "escaped": False}
    people().to_csv("plain.csv", index=False)
    assert cli.main(["sanitize", "plain.csv", "--model", "k=2", "--out", "plain_out.csv"]) == 0
    assert "formula" not in capsys.readouterr().out
    assert "formula" not in Path("plain_out.csv.provenance.json").read_text(encoding="utf-8")


def test_escaped_formulas_are_the_same_table(here, capsys):
    of_formulas("=job")
    assert cli.main(["sanitize", "of", "--model", "k=2", "--out", "out.csv"]) == 0
    assert cli.main(["sanitize", "of", "--model", "k=2", "--out", "safe.csv", "--spreadsheet-safe"]) == 0
    assert "An apostrophe precedes each text in =job, word" in capsys.readouterr().out
    plain, safe = read("out.csv"), read("safe.csv")
    assert {cell for row in safe for cell in row if cell[:1] in tuple("=+-@\t\r") and cell} <= {"-8"}
    assert "'=job" in safe[0]
    assert any("''=1+1" in row for row in safe), "different texts stay different"
    assert sorted(tuple(map(unescape, row)) for row in safe) == sorted(plain)


def test_formulas_in_buckets_are_reported_and_escaped(here):
    shutil.copytree(CLINIC.parent, "data/clinic")
    for path in ("data/clinic/clinic.csv", "data/clinic/clinic.toml"):
        text = Path(path).read_text(encoding="utf-8").replace("asthma", "=asthma")
        Path(path).write_text(re.sub("sha256 = .*\n", "", text), encoding="utf-8")
    made = sanitize("clinic", "l=2", "out.csv", algorithm="Bucketize")
    assert any("Text in diagnosis begins with =" in note for note in made.notes)
    assert "=asthma" in {*pd.read_csv("out.csv.buckets.csv")["value"]}
    made = sanitize("clinic", "l=2", "safe.csv", algorithm="Bucketize", spreadsheet_safe=True)
    assert any("An apostrophe precedes each text in diagnosis" in note for note in made.notes)
    values = {*pd.read_csv("safe.csv.buckets.csv")["value"]}
    assert "'=asthma" in values
    assert "=asthma" not in values


# ---- columns of many values


@pytest.fixture
def wide(here):
    """A dataset with a neutral column of many values and gaps, another that needs rounding, and quotes."""
    table = people()
    rng = np.random.default_rng(5)
    table["score"] = rng.integers(0, 10**6, len(table)).astype(str)
    table.loc[::50, "score"] = ""
    table["word"] = [f'say "{i}", {i % 7}' for i in range(len(table))]
    table.to_csv("wide.csv", index=False)
    domain = ", ".join(json.dumps(word) for word in table["word"])
    os.makedirs("data/wide")
    table.to_csv("data/wide/wide.csv", index=False)
    (here / "data/wide/wide.toml").write_text(
        f"""
[dataset]
name = "wide"
title = "wide"
description = ""
source = ""
licence = ""
citation = ""
[[files]]
path = "wide.csv"
[format]
missing = "?"
[columns.age]
role = "quasi-identifier"
domain = {{ low = 0, high = 99 }}
[columns.zip]
role = "quasi-identifier"
domain = {json.dumps(sorted(set(table["zip"])))}
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M", "?"]
[columns.income]
role = "sensitive"
domain = {json.dumps(sorted(set(table["income"])))}
[columns.score]
role = "neutral"
domain = {{ low = 0, high = 1000000, step = 10, missing = "?" }}
[columns.word]
role = "neutral"
domain = [{domain}]
"""
    )
    return load("wide")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_neutral_columns_of_many_values_stay_with_their_records(wide, ending):
    whole = Mondrian(KAnonymity(5)).sanitize(wide, rng=None)
    made = sanitize("wide", "k=5", f"out{ending}")
    table = (
        pd.read_csv("out.csv", dtype=str, keep_default_na=False) if ending == ".csv" else pd.read_parquet("out.parquet")
    )
    assert set(table) == set(whole.table)
    expected = whole.table[list(table)]
    for each in (table, expected):
        each["score"] = [
            f"{float(value):g}" if str(value) not in ("", "nan", "None", "<NA>") else "" for value in each["score"]
        ]
    plain = [sorted(map(tuple, each.astype(str).to_numpy())) for each in (table, expected)]
    assert plain[0] == plain[1]
    assert table["word"].tolist() != wide.table["word"].tolist(), "the table's order is gone"
    assert [reason.responsible for reason in made.verdict.reasons] == [("score", "word")]
    facts = json.loads(Path(f"out{ending}.provenance.json").read_text())
    assert {facts["columns"][name] for name in ("score", "word")} == {"exact"}


@pytest.mark.slow
def test_their_order_is_another_one_each_time(wide):
    for out in ("one.csv", "two.csv"):
        sanitize("wide", "k=5", out)
    assert read("one.csv") != read("two.csv")
    assert sorted(read("one.csv")) == sorted(read("two.csv"))


def test_values_beyond_their_domain_are_refused_there_too(wide, here):
    path = here / "data/wide/wide.toml"
    path.write_text(path.read_text().replace("high = 1000000,", "high = 1000,"))
    with pytest.raises(SchemaError, match="score"):
        sanitize("wide", "k=5", "out.csv")
    assert not list(here.glob("out*")) + list(here.glob(".out*"))


def test_records_that_lack_a_value_are_left_out_before_they_are_counted(wide, here):
    path = here / "data/wide/wide.toml"
    path.write_text(path.read_text().replace("[format]", '[format]\nrecords_with_missing = "drop"'))
    whole = Mondrian(KAnonymity(5)).sanitize(load("wide"), rng=None)
    made = sanitize("wide", "k=5", "out.csv")
    table = pd.read_csv("out.csv", dtype=str)
    assert made.records == len(table) == len(whole.table) < len(wide)
    assert table.groupby(["age", "zip", "sex"]).size().min() == made.smallest == whole.people_per_class.min() >= 5


@pytest.mark.slow
def test_records_that_are_all_alike_are_one_combination(wide, here, monkeypatch):
    monkeypatch.setattr(writing, "PIECE", 1)
    wide.table.astype(str).iloc[[1] * 20].to_csv("alike.csv", index=False)
    made = sanitize("alike.csv", "k=5", "out.csv", dataset="wide")
    assert (made.records, made.combinations) == (20, 1)
    _, *rows = read("out.csv")
    assert rows == [rows[0]] * 20
    made = sanitize("alike.csv", Suppress(), "hidden.csv", dataset="wide")
    assert (made.records, made.suppressed) == (20, 20), "nobody stands alone whose quasi-identifiers all are hidden"


@pytest.mark.slow
def test_names_of_columns_may_hold_what_engines_read_otherwise(here):
    names = {"age": "age.at entry", "zip": 'the "zip"', "sex": "a`b", "income": "in.come"}
    people().rename(columns=names).to_csv("people.csv", index=False)
    sanitize("people.csv", "k=5, frequency-l=1.2:in.come", "out.csv")
    people().to_csv("plain.csv", index=False)
    sanitize("plain.csv", "k=5, frequency-l=1.2:income", "plain_out.csv")
    (head, *rows), (plain, *others) = read("out.csv"), read("plain_out.csv")
    assert [names.get(name) for name in plain] == [*head]
    assert rows == others


# ---- files that nobody has described


@pytest.mark.slow
def test_a_file_that_nobody_has_described_is_guessed_and_it_says_so(here, capsys):
    table = people().assign(name=[f"Person Number{i}" for i in range(400)])
    table.to_csv("people.csv", index=False)
    assert cli.main(["sanitize", "people.csv", "--model", "k=5, frequency-l=1.2:income", "--out", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert "The table has no description, so the roles of its columns were guessed" in said
    assert "The role of age, zip, sex is quasi-identifier: others may know it" in said
    assert "The role of income is sensitive: nobody should learn it" in said
    assert "The role of name is identifier: it may name a person, so it is left out." in said
    head, *rows = read("out.csv")
    assert sorted(head) == ["age", "income", "sex", "zip"]
    assert pd.DataFrame(rows, columns=head).groupby(["age", "zip", "sex"]).size().min() >= 5
    assert "The table has no description" in json.loads((here / "out.csv.provenance.json").read_text())["note"]
    assert sorted(row[head.index("income")] for row in rows) == sorted(table["income"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("k=5, l=2:incom", "no column 'incom'.*Did you mean 'income'"),
        ("k=5, l=2", "l must name its sensitive attribute, because .* has none"),
    ],
)
def test_what_is_sensitive_has_to_be_there(here, model, message):
    people().to_csv("people.csv", index=False)
    with pytest.raises(ValueError, match=message):
        sanitize("people.csv", model, "out.csv")
    assert [each.name for each in here.iterdir()] == ["people.csv"]


def test_a_sanitizer_of_its_own_needs_a_description(here):
    people().to_csv("people.csv", index=False)
    with pytest.raises(SchemaError, match="has no description, and a sanitizer needs one"):
        sanitize("people.csv", Mondrian(KAnonymity(5)), "out.csv")


# ---- what is refused


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("", "must be models with their bounds"),
        ("k", "must be models with their bounds"),
        ("k=", "must be models with their bounds"),
        ("z=3", "The names of models are l, epsilon, k, alpha"),
        ("k=ten", "the bound of k must be a number; got 'ten'"),
        ("k=5, k=6", "each model of an attribute once; got k twice"),
        ("k=1.5", "k must be a whole number"),
        ("k=-1", "k must be a whole number"),
        ("t=0.2:nobody", "nobody"),
        ("k=5, t=0.2:age", "'age', which has the role 'quasi-identifier'"),
        ("k=301", "cannot be reached"),
    ],
)
def test_a_wrong_model_is_a_sentence(here, model, message):
    with pytest.raises(ValueError, match=message):
        sanitize(CLINIC, model, "out.csv")
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"algorithm": "mondrain"}, "Did you mean 'Mondrian'"),
        ({"algorithm": "LaplaceNoise"}, "LaplaceNoise cannot enforce k=5. Try Mondrian"),
        ({"model": "epsilon=1"}, "Mondrian cannot enforce epsilon=1. Try LaplaceNoise"),
        ({"model": "l=2", "algorithm": "KMember"}, "KMember cannot enforce l=2"),
        ({"out": "out.xlsx"}, "ends in .xlsx"),
        ({"out": "nowhere/out.csv"}, "the folder 'nowhere' for the output does not exist"),
        ({"out": "s3://bucket/out.csv"}, "is an address"),
        ({"source": "https://example.org/x.csv"}, "got the address"),
        ({"source": "nothing.csv"}, "there is no file or dataset 'nothing.csv'"),
        ({"memory": "2 TB"}, "memory must be a size such as 2GB"),
        ({"memory": "10MB"}, "at least 500MB"),
        ({"study": "nobody's"}, "has no study"),
        ({"sample": -1}, "sample must be a whole number of at least 0"),
    ],
)
def test_wrong_arguments_are_sentences(here, given, message):
    given = {"source": CLINIC, "model": "k=5", "out": "out.csv"} | given
    with pytest.raises((ValueError, OSError), match=message):
        sanitize(**given)
    assert not list(here.iterdir())


def test_nothing_that_exists_is_written_over(here):
    people().to_csv("people.csv", index=False)
    before = (here / "people.csv").read_bytes()
    os.mkdir("folder")
    for out in ("people.csv", "folder"):
        with pytest.raises(FileExistsError, match="exists already and is not changed"):
            sanitize("people.csv", "k=5", out)
    assert (here / "people.csv").read_bytes() == before


@pytest.mark.slow
def test_the_original_is_not_written(here):
    for wrong in (Suppress("sensitive"), Identity()):
        with pytest.raises(SanitizationError, match="One person is unique in"):
            from_files.sanitize(CLINIC, wrong, "out.csv")
    assert not list(here.iterdir())


def test_a_broken_row_is_named_by_its_line(here):
    lines = [HEAD, *(",".join(row) for row in people()[["age", "zip", "sex"]].assign(income="low").to_numpy())]
    lines.insert(251, "40,01101,F,low,low")
    (here / "people.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(SchemaError, match=r"people.csv: line 252 has more than 4 cells"):
        sanitize("people.csv", "k=5", "out.csv")
    assert [each.name for each in here.iterdir()] == ["people.csv"]


def test_mixed_types_are_values_outside_the_domain(here):
    table = load(CLINIC).table.assign(patient="x").astype(object)
    table.loc[7, "age"] = "old"
    table.to_csv("others.csv", index=False)
    with pytest.raises(SchemaError, match=r"'age'.*'old'"):
        sanitize("others.csv", "k=5", "out.csv", dataset=CLINIC)


@pytest.mark.parametrize(("ending", "content"), [(".parquet", b"PAR1 and nothing else"), (".xlsx", b"PK\3\4xx")])
def test_files_of_other_kinds_are_refused(here, ending, content):
    (here / f"x{ending}").write_bytes(content)
    with pytest.raises(SchemaError, match=r"Save the file again|Save the table in one of these formats"):
        sanitize(f"x{ending}", "k=5", "out.csv")


def test_combinations_that_do_not_fit_are_refused_after_the_count(here, monkeypatch):
    monkeypatch.setattr("privnb.tables.long_tables.COMBINATION", 150 / 290)
    with pytest.raises(SchemaError, match=r"more than 290 different combinations.*do not fit into 500MB.*weight \("):
        sanitize(CLINIC, "k=5", "out.csv", memory="500MB")
    assert not list(here.iterdir())


def test_a_file_that_changes_meanwhile_is_no_release(here, monkeypatch):
    people().to_csv("people.csv", index=False)
    write = writing.write

    def changing(*given, **more):
        with open("people.csv", "a", encoding="utf-8") as file:
            file.write("40,01101,F,low\n")
        return write(*given, **more)

    monkeypatch.setattr(writing, "write", changing)
    with pytest.raises(SchemaError, match="was changed while it was read"):
        sanitize("people.csv", "k=5", "out.csv")
    assert [each.name for each in here.iterdir()] == ["people.csv"]


def test_a_full_disk_leaves_nothing(here, monkeypatch):
    def full(*given, **_):
        given[0].write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "write", full)
    with pytest.raises(
        OSError, match=r"out.csv cannot be written: No space left on device. The unfinished file was removed"
    ):
        sanitize(CLINIC, "k=5", "out.csv")
    assert not list(here.iterdir())


DIES = """
import os, signal, sys
from privnb.tables import writing
from privnb.publishing.from_files import sanitize
from privnb.publishing.release_job import COSTS
write = writing.write
def dies(made, *given, **more):
    write(made, *given, **more)
    os.kill(os.getpid(), signal.SIGKILL)
writing.write = dies
sanitize(sys.argv[1], "k=5", "out.csv", allow="a test")
"""


@pytest.mark.slow
def test_what_a_kill_leaves_is_no_release_and_goes_with_the_next(here):
    done = subprocess.run([sys.executable, "-c", DIES, str(CLINIC)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = here.iterdir()
    assert left.name.startswith(".out.csv.")
    sanitize(CLINIC, "k=5", "out.csv")
    assert sorted(each.name for each in here.iterdir()) == [f"out.csv{each}" for each in BESIDE]


def test_what_another_process_is_writing_stays(here):
    other = here / f".out.csv.{os.getppid()}-unfinished-x"
    other.mkdir()
    sanitize(CLINIC, "k=5", "out.csv")
    assert other.is_dir()


# ---- its parts


@pytest.mark.parametrize("by_number", [True, False])
def test_a_missing_value_is_found_by_the_join(monkeypatch, by_number):
    """As a part of the key: SQL takes no missing value for equal to another one. By one number per combination, and by
    all columns, as where two have the same number, and in other engines.
    """
    import pyarrow as pa

    found, join = [], long_tables.engine.join_combinations

    def watched(*given):
        found.append(join(*given) if by_number else None)
        return found[-1]

    monkeypatch.setattr(long_tables.engine, "join_combinations", watched)

    table = pa.table({"a": ["x", None, None, "y"], "b": [1, 1, None, None], "n": [10, 11, 12, 13]})
    with long_tables.engine.connect() as connection:
        import narwhals as nw

        lent = lambda each: nw.from_native(connection.from_arrow(each))  # noqa: E731
        long = long_tables.LongTable(lent(table), lent)
        counts = long.counted(["a", "b"], 10)
        label = [f"{row['a']}-{row['b']}" for row in counts.to_pylist()]
        joined = long.joined(counts, pa.table({"label": label}), ["n"]).to_native().fetchall()
    assert (found[0] is not None) is by_number
    assert sorted(joined, key=lambda row: row[1]) == [("x-1", 10), ("None-1", 11), ("None-None", 12), ("y-None", 13)]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_rows_are_repeated_in_pieces(monkeypatch, rows):
    monkeypatch.setattr(writing, "PIECE", rows)
    times = np.array([1, 4, 2, 1, 7])
    assert (
        np.concatenate([place for place, _ in writing._repeated(times)]).tolist() == np.repeat(range(5), times).tolist()
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["12", "007", "-0", "99"], ["12", "5.0"], ["12", " 5"], ["1e1"], ["12", "?"], ["12", None], ["100"], ["-1"],
        ["0x1F"], ["12", ""], ["x"], [12, 99], [12, None], [100], [1.0, 2.0], ["1" * 16],
    ],
)  # fmt: skip
def test_what_needs_no_cleaning_is_what_cleaning_makes_of_it(here, monkeypatch, cells):
    Path("one.toml").write_text(
        '[dataset]\nname = "one"\n[format]\nmissing = "?"\n[[files]]\npath = "one.csv"\n[columns.score]\n'
        'role = "neutral"\ndomain = { low = 0, high = 99, missing = "?" }\n[columns.word]\nrole = "neutral"\n'
        'domain = ["a", "b", "?"]\n'
    )
    chosen, as_written = DatasetDescription.of(Path("one.toml"), None), release_job._as_written
    for texts in (["a"] * len(cells), ["b", "?"] * len(cells)):
        batch = pa.record_batch({"score": pa.array(cells), "word": pa.array(texts[: len(cells)])})
        found = []
        for way in (as_written, lambda *_: None):
            monkeypatch.setattr(release_job, "_as_written", way)
            try:
                found.append([each.to_pylist() for each in release_job.publish_cells(chosen, batch)[1]])
            except SchemaError as error:
                found.append(str(error))
        assert found[0] == found[1]


@pytest.fixture
def paid(here):
    """A described table whose sensitive number and whose weight in grams have nearly as many values as records."""
    rng = np.random.default_rng(11)
    table = people(600).drop(columns="income")
    table["age"], table["zip"] = rng.choice(["30", "40"], 600), rng.choice(["01101", "01102"], 600)
    table["grams"] = [f"{value:.3f}".replace(".", ",") for value in rng.integers(40_000, 99_000, 600) + rng.random(600)]
    table["pay"] = [f"{value:.2f}".replace(".", ",") for value in rng.random(600) * 9000]
    table.loc[::40, "pay"], table.loc[1::40, "grams"] = "?", "?"
    table.to_csv("paid.csv", index=False, sep=";")
    zips = json.dumps(sorted(set(table["zip"])))
    Path("paid.toml").write_text(
        f"""
[dataset]
name = "paid"
[[files]]
path = "paid.csv"
[format]
separator = ";"
decimal = ","
missing = "?"
[columns.age]
role = "quasi-identifier"
domain = {{ low = 0, high = 99 }}
[columns.zip]
role = "quasi-identifier"
domain = {zips}
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M", "?"]
[columns.grams]
role = "quasi-identifier"
domain = {{ low = 40000, high = 100000, step = 20000, missing = "?" }}
[columns.pay]
role = "sensitive"
domain = {{ low = 0, high = 9000, step = 0.01, missing = "?" }}
"""
    )
    return load("paid.toml")


@pytest.mark.slow
def test_values_that_are_published_as_one_are_counted_as_one(paid, here, monkeypatch):
    whole = parse_sanitizer("k=5, frequency-l=1.2", "mondrian", paid.schema).sanitize(paid, rng=None)
    distinct = len(CombinationTable.of(paid)[0])
    seen = []
    monkeypatch.setattr(Memory, "combinations", property(lambda _: 620))
    counted = long_tables.LongTable.counted
    monkeypatch.setattr(long_tables.LongTable, "counted", lambda *given: seen.append(counted(*given)) or seen[-1])
    made = sanitize("paid.toml", "k=5, frequency-l=1.2", "out.csv")
    assert sorted(read("out.csv")[1:]) == rows_of(whole)
    assert len(seen) == 3, "the two numbers, then all together"
    assert distinct == len(seen[-1]) == made.combinations < 400


def test_a_number_outside_of_its_domain_is_said_of_all_records(paid, here):
    text = Path("paid.csv").read_text()
    Path("paid.csv").write_text(f"{text}30;01101;F;50000,0;12000,00\n")
    with pytest.raises(SchemaError, match="pay"):
        sanitize("paid.toml", "k=5", "out.csv")


def test_a_number_of_more_values_than_fit_is_refused_by_itself(here, monkeypatch):
    monkeypatch.setattr("privnb.tables.long_tables.COMBINATION", 10)
    with pytest.raises(SchemaError, match=r"'weight' has more than 15 different values.*Round or group .* in the file"):
        sanitize(CLINIC, "k=5", "out.csv", memory="500MB")
    assert not list(here.iterdir())


@pytest.mark.parametrize("named", [f"{IDENTIFIER}0042", f"of ({IDENTIFIER.lower()}0300), as asked", ""])
def test_what_stands_beside_a_release_names_nobody(named, here, monkeypatch):
    public = Provenance.public
    monkeypatch.setattr(Provenance, "public", lambda own: public(own) | {"parameters": {"k": 10, "why": named}})
    if named:
        with pytest.raises(SanitizationError, match="would name a person of the column 'patient'") as error:
            sanitize(CLINIC, "k=10", "released.csv")
        assert IDENTIFIER not in str(error.value)
        assert [*here.iterdir()] == []
    else:
        sanitize(CLINIC, "k=10", "released.csv")


@pytest.mark.parametrize("named", ["Anna Hypothetica", "INS-00420042"])
def test_every_column_of_identifiers_is_looked_through(named, wide, here, monkeypatch):
    path = here / "data/wide/wide.toml"
    roles = [f'[columns.{name}]\nrole = "identifier"' for name in ("name", "insurance")]
    path.write_text("\n".join([path.read_text(), *roles]))
    table = pd.read_csv(here / "data/wide/wide.csv", dtype=str, keep_default_na=False)
    table["name"], table["insurance"] = "Somebody Else", [f"INS-{number:08}" for number in range(len(table))]
    table.loc[7, ["name", "insurance"]] = ["Anna Hypothetica", "INS-00420042"]
    table.to_csv(here / "data/wide/wide.csv", index=False)
    public = Provenance.public
    monkeypatch.setattr(Provenance, "public", lambda own: public(own) | {"parameters": {"why": named}})
    with pytest.raises(SanitizationError, match="would name a person of the column"):
        sanitize("wide", "k=5", "out.csv")
    assert not list(here.glob("*out*"))


@pytest.mark.slow
def test_files_without_a_header_are_read_by_their_description(tmp_path, monkeypatch):
    """Adult's, under its name, from any folder."""
    monkeypatch.chdir(tmp_path)
    sanitize("adult", Mondrian(KAnonymity(100)), "new.csv", study="li-li")
    assert len(pd.read_csv("new.csv")) == 45_222


@pytest.mark.slow
@pytest.mark.parametrize(("pays", "alone"), [(1, False), (240, True)])
def test_who_stands_alone_by_several_sensitive_columns_is_said(here, pays, alone):
    rows = [f"{n % 8},{'fm'[n % 2]},{'xyz'[n % 3]},{1000 + 90 * (n % pays)}" for n in range(240)]
    Path("staff.csv").write_text("\n".join(["age,sex,mark,pay", *rows]))
    assert cli.main(["describe", "staff.csv", "--sensitive", "mark, pay", "--confirm"]) == 0
    made = sanitize("staff", "k=5", "out.csv")
    said = str(json.loads(Path("out.csv.provenance.json").read_text())["gate"]["notices"])
    found = "sensitive values of mark, pay single out a record together, for 240 people of 240: an adversary" in said
    assert found is alone, made
