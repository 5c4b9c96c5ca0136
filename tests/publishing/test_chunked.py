"""Sanitizers that work record by record, from file to file: part by part."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.privacy_models import KAnonymity
from privnb.publishing import chunked, from_files, gate
from privnb.runtime import progress
from privnb.sanitizers import GeometricNoise, Microaggregation, Mondrian, SanitizationError, base

# What is written is asked here, and not whether it may leave: see test_gate.py.
sanitize = partial(from_files.sanitize, allow="a test")

VISITS = """
[dataset]
name = "visits"
[[files]]
path = "visits.csv"
[columns.age]
role = "quasi-identifier"
domain = { low = 0, high = 99 }
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M", "X"]
[columns.score]
role = "neutral"
domain = { low = 0, high = 1000000 }
[columns.ill]
role = "sensitive"
domain = ["no", "yes"]
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Parts of 60 records, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chunked, "CHUNK_SIZE", 60)
    monkeypatch.setattr(progress, "_said", set())
    return tmp_path


@pytest.fixture
def visits(small):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.integers(0, 100, 300), "sex": rng.choice(["F", "M"], 300)})
    table["score"] = rng.permutation(300) + 1000
    table["ill"] = np.where(table["sex"] == "F", "yes", "no")
    (small / "visits.toml").write_text(VISITS, encoding="utf-8")
    table.to_csv("visits.csv", index=False)
    return table


def facts(path):
    return json.loads(path.with_name(f"{path.name}.provenance.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_what_needs_all_records_at_once_is_given_them_unless_they_are_too_many(small, monkeypatch):
    clinic, out = load(CLINIC), small / "new.csv"
    sanitize(CLINIC, Microaggregation(5), out)
    written, claim = pd.read_csv(out, dtype=str), facts(out)["claims"]
    assert (len(written), claim) == (len(clinic), ["KAnonymity(k=5)"])
    assert written.groupby(clinic.schema.quasi_identifiers).size().min() >= 5
    monkeypatch.setattr(base, "MAX_RECORDS", 299)
    with pytest.raises(SanitizationError, match="works on all records at once and takes at most 299; got 300"):
        sanitize(CLINIC, Microaggregation(5), small / "other.csv")
    assert [path.name for path in small.iterdir() if "other" in path.name] == []


@pytest.mark.slow
def test_of_a_sample_the_release_is_of_so_many_records_drawn_at_random(small, monkeypatch):
    monkeypatch.setattr(base, "MAX_RECORDS", 40)  # which the table has more of
    rows = []
    for name in ("one.csv", "two.csv"):
        sanitize(CLINIC, Microaggregation(5), small / name, sample=40)
        rows.append(pd.read_csv(small / name))
    assert [len(each) for each in rows] == [40, 40]
    assert rows[0].groupby(load(CLINIC).schema.quasi_identifiers).size().min() >= 5
    assert not rows[0].equals(rows[1])
    sanitize(CLINIC, Mondrian(KAnonymity(5)), small / "all.csv", sample=40)
    assert len(pd.read_csv(small / "all.csv")) == len(load(CLINIC))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet", ""])
def test_clusters_of_parts_keep_k_in_the_whole(small, ending, capsys):
    dataset = load(CLINIC)
    made = sanitize(CLINIC, "k=5", f"out{ending}", algorithm="k-member clustering")
    rows = (pd.read_csv if ending == ".csv" else pd.read_parquet)(f"out{ending}")
    classes = rows.groupby(dataset.schema.quasi_identifiers, dropna=False).size()
    assert (made.records, made.classes, made.smallest) == (300, len(classes), classes.min())
    assert made.smallest >= 5
    assert list(rows) == dataset.schema.published
    for name in (*dataset.schema.sensitive, *dataset.schema.names("neutral")):
        assert sorted(rows[name].astype(str)) == sorted(dataset.table[name].astype(str)), name
    said = facts(small / f"out{ending}")
    assert "5 parts of 60 records" in said["note"]
    assert said["claims"] == [repr(KAnonymity(5))]
    assert "KMember(k=5, start=0) works record by record, here about" in capsys.readouterr().err


def test_rows_are_sorted_by_what_they_hold(visits):
    sanitize("visits.toml", "k=5", "out.csv", algorithm="KMember")
    rows = [(*map(str, row[:2]), *row[2:]) for row in pd.read_csv("out.csv").itertuples(index=False)]
    assert rows == sorted(rows)


def test_a_part_is_the_table_where_that_is_no_longer(small, monkeypatch, capsys):
    monkeypatch.setattr(chunked, "CHUNK_SIZE", 300)
    made = sanitize(CLINIC, "k=5", "out.csv", algorithm="KMember")
    assert "parts" not in " ".join(made.notes)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("alone", [True, False])
def test_a_neutral_column_that_singles_somebody_out_is_named(visits, small, alone):
    text = VISITS.replace("high = 1000000", "high = 9")
    (small / "visits.toml").write_text(text, encoding="utf-8")
    visits.assign(score=np.where(visits.index == 7, 9 if alone else 1, 1)).to_csv("visits.csv", index=False)
    if alone:
        with pytest.raises(gate.Refused, match="score singles them out"):
            from_files.sanitize("visits.toml", "k=5", "out.csv", algorithm="KMember")
        assert not (small / "out.csv").exists()
    made = sanitize("visits.toml", "k=5", "out.csv", algorithm="KMember")
    rows = pd.read_csv("out.csv", dtype=str)
    fewest = [rows.groupby(names).size().min() for names in (["age", "sex"], ["age", "sex", "score"])]
    assert fewest[0] == made.smallest >= 5
    assert alone == (fewest[1] == 1)
    assert facts(small / "out.csv")["gate"]["allowed"] == made.verdict.allowed == (not alone)


@pytest.mark.slow
def test_buckets_of_all_parts_have_numbers_of_their_own(small):
    made = sanitize(CLINIC, "l=2", "out.csv", algorithm="Anatomy")
    rows, held = pd.read_csv("out.csv"), pd.read_csv("out.csv.buckets.csv")
    sizes = rows["bucket"].value_counts().sort_index()
    assert list(sizes.index) == list(range(made.classes))
    assert made.classes > 60 / 2, "those of one part"
    assert (made.records, made.smallest) == (300, sizes.min())
    assert (held.groupby("bucket")["count"].sum() == sizes).all()
    assert (held["count"] * 2 <= held["bucket"].map(sizes)).all(), "l = 2"
    assert made.sentences[0].startswith(
        f"out.csv: 300 records in {made.classes} buckets, the smallest of 2, by Anatomy("
    )


def test_noise_is_of_all_records_and_has_its_promise(visits, small):
    made = sanitize("visits.toml", "epsilon=1", "out.csv", algorithm="GeometricNoise")
    rows, kept = pd.read_csv("out.csv"), ["sex", "score", "ill"]
    assert made.records == 300
    assert made.sentences[0].startswith("out.csv: 300 records by GeometricNoise(")
    assert sorted(map(tuple, rows[kept].to_numpy())) == sorted(map(tuple, visits[kept].to_numpy()))
    assert sorted(rows["age"]) != sorted(visits["age"])
    said = facts(small / "out.csv")
    assert said["promise"]["epsilon"] == 1
    assert said["use"] == "release"


def test_who_stands_alone_by_what_has_no_noise_is_not_written(visits, small):
    visits.loc[7, "sex"] = "X"
    visits.to_csv("visits.csv", index=False)
    with pytest.raises(SanitizationError, match="One person is unique in sex, score as published"):
        from_files.sanitize("visits.toml", "epsilon=1", "out.csv", algorithm="GeometricNoise")
    assert not (small / "out.csv").exists()


def test_what_holds_in_each_part_and_not_in_the_whole_is_refused(visits, monkeypatch):
    """Closeness is to the whole table: classes that are close to a part's may be far from that."""
    parts = chunked._datasets

    def ill_and_well(job, *asked):
        whole = pd.concat([each.cells for each in parts(job, *asked)], ignore_index=True)
        for value in ("yes", "no"):
            names = [*job.counted, *job.single]
            yield job.chosen.made(Dataset, whole[whole["ill"] == value].reset_index(drop=True), names)

    monkeypatch.setattr(chunked, "_datasets", ill_and_well)
    with pytest.raises(SanitizationError, match=r"all parts together: TCloseness\(t=0.1"):
        sanitize("visits.toml", "k=5, t=0.1", "out.csv", algorithm="KMember")


def test_what_would_not_end_is_refused_after_the_first_part(small, monkeypatch):
    monkeypatch.setattr(chunked, "MAX_SECONDS", 0)
    with pytest.raises(SanitizationError, match=r"300 would take 0 hours. Try Mondrian"):
        sanitize(CLINIC, "k=5", "out.csv", algorithm="KMember")
    assert not [*small.iterdir()]


def test_parts_with_and_without_missing_numbers_are_one_file(small):
    """Of a part without one the numbers are whole; the file has one type, and empty cells where a number is missing."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, 300).astype(float)
    age[:2] = np.nan
    table = pd.DataFrame({"age": age, "sex": "F", "score": 7, "ill": rng.choice(["no", "yes"], 300)})
    public = 'domain = { low = 0, high = 99, missing = "NA", missing_is_public = true }'
    text = VISITS.replace("domain = { low = 0, high = 99 }", public)
    (small / "visits.toml").write_text(text, encoding="utf-8")
    table.to_csv("visits.csv", index=False)
    sanitize("visits.csv", GeometricNoise(1.0), small / "out.csv", dataset="visits.toml")
    written = pd.read_csv("out.csv")
    assert len(written) == 300
    assert written["age"].isna().sum() == 2
    assert (
        "which numbers of age are missing: the owner declares that public"
        in facts(small / "out.csv")["promise"]["statement"]
    )
