"""Whole numbers that a file writes as 1.0 are the numbers 1: the same draft, the same records, the same release."""

import tomllib

import pandas as pd
import pytest

from privnb import cli
from privnb.datasets.column_types import recognize
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.microdata.schema import SchemaError
from privnb.tables.notation import Notation, add_decimal_tails

COLUMNS = {
    "region": [1 + n % 3 for n in range(90)],
    "zip": [(1067, 10115, 80331)[n % 3] for n in range(90)],
    "smokes": [n % 2 for n in range(90)],
    "year": [1990 + n % 20 for n in range(90)],
    "children": [n % 5 for n in range(90)],
    "absent": [n % 30 if n % 9 else -8 for n in range(90)],
    "trust": [(1, 2, 3, 97, 98)[n % 5] for n in range(90)],
    "account": [100_001 + n * 7919 % 800_000 for n in range(90)],
    "grade": ["IVX"[n % 3] for n in range(90)],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path, tail, gap="", separator=","):
    """A file of `COLUMNS` with a gap in each column of numbers; `tail`: what stands behind whole numbers."""
    rows = [[*COLUMNS]]
    for n in range(90):
        rows.append([f"{v[n]}{tail}" if isinstance(v[n], int) else v[n] for v in COLUMNS.values()])
    for place in range(len(COLUMNS) - 1):
        rows[3 + place][place] = gap
    path.write_text("".join(f"{separator.join(row)}\n" for row in rows))
    return path


def described(path):
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    return text["columns"]


@pytest.mark.parametrize(("tail", "separator"), [(".0", ","), (".00", ","), (".000000", ","), (",0", ";")])
def test_a_tail_changes_neither_the_draft_nor_the_records(here, capsys, tail, separator):
    options = ["--sensitive", "grade", "--roles", "account: unused", "--confirm"]
    tables = {}
    for name, end in (("plain", ""), ("tailed", tail)):
        assert cli.main(["describe", str(written(here / f"{name}.csv", end, separator=separator)), *options]) == 0
        tables[name] = load(name).table
        tables[f"said of {name}"] = [
            line
            for line in capsys.readouterr().out.splitlines()
            if "data/" not in line and f"{name}.toml" not in line and f"report {name}" not in line
        ]
    assert described(here / "data/tailed/tailed.toml") == described(here / "data/plain/plain.toml")
    pd.testing.assert_frame_equal(tables["tailed"], tables["plain"], check_dtype=False)
    assert set(tables["tailed"]["region"]) == {"1", "2", "3", "?"}
    assert tables["said of tailed"] == tables["said of plain"]
    assert any(line.startswith("trust: 97 and 98 are far from") for line in tables["said of tailed"])
    assert any(line.startswith("absent: -8 is far from all other values") for line in tables["said of tailed"])


def test_a_code_of_no_answer_is_missing_in_both_spellings(here):
    for name, tail, separator in (("plain", "", ","), ("tailed", ".0", ","), ("german", ",0", ";")):
        draft(
            written(here / f"{name}.csv", tail, separator=separator), missing={"trust": ["97", "98"], "absent": ["-8"]}
        )
        path = here / "data" / name / f"{name}.toml"
        path.write_text(path.read_text(encoding="utf-8").replace("\ndraft = true\n", "\n"), encoding="utf-8")
        table = load(name).table
        assert table["trust"].max() == 3
        assert table["trust"].isna().sum() == 90 * 2 / 5
        assert table["absent"].min() == 0
    with pytest.raises(ValueError, match="no cell of 'trust' is '96'"):
        draft(here / "plain.csv", "again", missing={"trust": ["96"]})


def test_a_domain_that_lists_the_tail_is_read_as_it_stands(here):
    """A description that was drafted before, with 1067.0 in its domain, loads as it did."""
    draft(written(here / "tailed.csv", ".0"))
    path = here / "data/tailed/tailed.toml"
    text = path.read_text(encoding="utf-8").replace("\ndraft = true\n", "\n")
    former = text.replace('["10115", "1067", "80331", "?"]', '["10115.0", "1067.0", "80331.0", "?"]')
    assert former != text
    path.write_text(former, encoding="utf-8")
    (here / "data/tailed/hierarchies/default/zip.csv").unlink()
    assert set(load("tailed").table["zip"]) == {"10115.0", "1067.0", "80331.0", "?"}
    path.write_text(text.replace('["10115", "1067", "80331", "?"]', '["10115", "1067", "?"]'), encoding="utf-8")
    with pytest.raises(SchemaError, match="zip"):
        load("tailed")


def test_a_tail_changes_no_release_from_file_to_file(here):
    outs = []
    for name, tail in (("plain", ""), ("tailed", ".0")):
        source, out = written(here / f"{name}.csv", tail), here / f"{name}-out.csv"
        assert cli.main(["sanitize", str(source), "--model", "k=3", "--out", str(out), "--algorithm", "mondrian"]) == 0
        outs.append(sorted(out.read_text().splitlines()))
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["1.0", "2.0", "2"], ["1", "2"]),
        (["1.0", "2.5"], ["1.0", "2.5"]),  # decimals stay decimals
        (["0.0", "-8.0"], ["0", "-8"]),
        (["1.0", "unknown"], ["1", "unknown"]),
        (["01.0", "E11.0"], ["01.0", "E11.0"]),
        (["01.0", "01.1"], ["01.0", "01.1"]),
        (["08.00", "09.00"], ["08.00", "09.00"]),  # of the clock
        (["0001.0", "1067.0", "n/k"], ["0001", "1067", "n/k"]),
        (["0001", "0001.0"], ["0001"]),
    ],
)
def test_only_whole_numbers_lose_their_tails(texts, found):
    values = Values.of(pd.Series(texts).astype("category"), "?").without_tails(Notation())
    assert sorted(values.texts) == sorted(found)
    assert values.counts.sum() == len(texts)


@pytest.mark.parametrize("tail", [".0", ""])
def test_post_codes_that_begin_with_0_lose_their_tails(here, tail):
    codes = [("0001", "0115", "1067")[n % 3] for n in range(90)]
    rows = [f"{code}{tail},{n % 5}" for n, code in enumerate(codes)]
    (here / "people.csv").write_text("\n".join(["zip,children", *rows, ",1", ""]))
    assert cli.main(["describe", "people.csv", "--sensitive", "", "--confirm"]) == 0
    assert load("people").table["zip"].tolist() == [*codes, "?"]
    assert "0*" in (here / "data/people/hierarchies/default/zip.csv").read_text()


def test_thousands_are_no_tail():
    assert [*Notation(",", ".").without_tail(pd.Series(["1.000", "1,0"]))] == ["1.000", "1"]


@pytest.mark.parametrize("texts", [["1e+01", "2e+01", "3e+01"], ["1.000", "2.000", "3.000"]])
def test_no_spelling_of_whole_numbers_ends_in_an_error(texts):
    values = Values.of(pd.Series(texts * 30).astype("category"), "?")
    assert recognize("region", values).domain.values == tuple(texts)


def test_marks_have_both_spellings():
    assert add_decimal_tails(["-8", "007", "n/k"]) == ["-8", "-8.0", "-8,0", "007", "n/k"]
