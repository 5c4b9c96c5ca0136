"""Labels of numbers as two columns of numbers: the same release, which `check` grades alike."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import UsageError, cli
from privnb.datasets.dataset import load
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.decision.card import facts_of_file
from privnb.microdata.bands import Bands
from privnb.microdata.hierarchy import Ranges, Taxonomy
from privnb.microdata.schema import Attribute, Numbers, Role
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.grading import grade
from privnb.publishing import from_files, sanitize_table
from privnb.publishing.gate import judge_file
from privnb.sanitizers import KMember, LaplaceNoise, Mondrian, Suppress
from privnb.tables import spreadsheets
from privnb.tables.bounds import Bounded
from privnb.tables.long_tables import Memory

ROOM = Memory.of("1GB")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows=400, **more):
    rng = np.random.default_rng(4)
    cells = {
        "age": rng.integers(18, 91, rows).astype(str),
        "height": [f"{value:.2f}" for value in rng.integers(150, 200, rows) / 100],
        "sex": rng.choice(["F", "M"], rows),
        "pay": rng.integers(0, 9000, rows).astype(str),
    }
    cells["age"][::30] = "?"
    return pd.DataFrame(cells | more)


def described(cells, **more):
    """Write a table and its description, and return the name of the latter."""
    cells.to_csv("of.csv", index=False)
    columns = {
        "age": ("quasi-identifier", '{ low = 0, high = 99, missing = "?" }'),
        "height": ("quasi-identifier", "{ low = 1.0, high = 2.5, step = 0.01 }"),
        "sex": ("quasi-identifier", '["F", "M"]'),
        "pay": ("sensitive", "{ low = 0, high = 9000 }"),
    } | more
    said = "".join(f'[columns.{name}]\nrole = "{role}"\ndomain = {own}\n' for name, (role, own) in columns.items())
    Path("of.toml").write_text(
        f'[dataset]\nname = "of"\n[[files]]\npath = "of.csv"\n[format]\nmissing = "?"\n{said}', encoding="utf-8"
    )
    return "of.toml"


def graded(out, names, sensitive):
    cells, times = UndescribedTable.of(out).counted([*names, sensitive], ROOM)
    grades = grade(cells, names, sensitive, None, times)
    return dict(zip(grades.measure, grades.value, strict=True))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ""])
@pytest.mark.parametrize("sanitizer", [Mondrian(KAnonymity(5)), KMember(5), Suppress()], ids=lambda own: own.title)
def test_a_file_with_bounds_is_the_same_release(here, sanitizer, ending):
    source = described(table())
    if isinstance(sanitizer, KMember):  # draws the order of its records, so that two releases differ
        made = from_files.sanitize(source, sanitizer, f"out{ending}", bounds=True, allow="a test")
        names = made.provenance["bounds"]
        assert {*names} == {"age", "height", "pay"}
        assert graded(f"out{ending}", ["age", "height", "sex"], "pay")["k achieved"] >= 5
        return
    from_files.sanitize(source, sanitizer, f"plain{ending}", allow="a test")
    made = from_files.sanitize(source, sanitizer, f"out{ending}", bounds=True, allow="a test")
    plain, out = (UndescribedTable.of(f"{each}{ending}") for each in ("plain", "out"))
    assert out.names == plain.names == ["age", "height", "sex", "pay"]
    found = [each.counted(each.names, ROOM) for each in (plain, out)]
    rows = [
        sorted(zip(*(map(str, cells[name]) for name in cells), times.tolist(), strict=True)) for cells, times in found
    ]
    assert rows[0] == rows[1]
    names = ["age", "height", "sex"]
    assert graded(f"out{ending}", names, "pay") == graded(f"plain{ending}", names, "pay")
    assert "columns-as-bounds" in [each.code for each in made.notes]


def test_both_columns_are_numbers_with_the_ends_of_the_labels(here):
    source = described(table())
    from_files.sanitize(source, "k=5", "plain.csv", allow="a test")
    from_files.sanitize(source, "k=5", "out.csv", bounds=True, allow="a test")
    cells = pd.read_csv("out.csv")
    assert [*cells] == ["age_low", "age_high", "height_low", "height_high", "sex", "pay_low", "pay_high"]
    assert all(cells[name].dtype.kind in "if" for name in cells if name != "sex")
    plain, data = pd.read_csv("plain.csv", dtype=str), load(source)
    missing = plain["age"] == "?"
    assert missing.any()
    assert (cells["age_low"].isna() == missing).all()
    assert (cells["age_high"].isna() == missing).all()
    for name in ("age", "height"):
        ends = [data.hierarchies[name].bounds(label) for label in plain[name]]
        assert np.array_equal(cells[[f"{name}_low", f"{name}_high"]].to_numpy(), np.array(ends), equal_nan=True)
    assert (cells["pay_low"].astype(str) + "-" + cells["pay_high"].astype(str) == plain["pay"]).all()
    facts = json.loads(Path("out.csv.provenance.json").read_text(encoding="utf-8"))
    assert facts["columns"]["age"] == "generalized"
    assert facts["bounds"]["age"] == {"low": "age_low", "high": "age_high", "suppressed": [0, 99], "missing": "?"}


def test_check_counts_the_same_k(here, capsys):
    source, said = described(table()), []
    for out, bounds in (("plain.csv", False), ("out.csv", True)):
        from_files.sanitize(source, "k=5", out, bounds=bounds, allow="a test")
        assert cli.main(["check", out, "--quasi", "age,height,sex", "--sensitive", "pay", "--model", "k=5"]) == 0
        said.append([line for line in capsys.readouterr().out.splitlines() if "achieved" in line])
    assert said[0] == said[1] != []
    names = ["age", "height", "sex"]
    done = [json.loads(Path(f"{out}.provenance.json").read_text()) for out in ("plain.csv", "out.csv")]
    plain, bounded = (facts_of_file(Path(each["made"]["output"]), names, each) for each in done)
    assert (plain["k"], plain["rows"]) == (bounded["k"], bounded["rows"])


def test_its_codebook_says_what_the_two_columns_are(here):
    from_files.sanitize(described(table()), Suppress(), "out.csv", bounds=True, allow="a test")
    fields = json.loads(Path("out.csv.codebook.json").read_text(encoding="utf-8"))["schema"]["fields"]
    by_name = {each["name"]: each for each in fields}
    assert by_name["age_low"]["type"] == "integer"
    assert by_name["height_high"]["type"] == "number"
    assert by_name["age_low"]["constraints"] == {"minimum": 0, "maximum": 99}
    assert by_name["age_low"]["title"] == "age"
    assert "the lower end, included" in by_name["age_low"]["description"]
    assert "an empty cell means that the value is missing" in by_name["age_high"]["description"]
    assert "missing" not in by_name["height_low"]


def test_names_that_a_spreadsheet_would_run_are_read_back_too(here):
    cells = table().rename(columns={"age": "=age"})
    cells.to_csv("of.csv", index=False)
    source = described(cells)
    text = Path(source).read_text(encoding="utf-8").replace("[columns.age]", '[columns."=age"]')
    Path(source).write_text(text, encoding="utf-8")
    graded_by = []
    for out, bounds in (("plain.csv", False), ("out.csv", True)):
        made = from_files.sanitize(source, "k=5", out, bounds=bounds, spreadsheet_safe=True, allow="a test")
        there = UndescribedTable.of(out)
        assert there.names == ["'=age", "height", "sex", "pay"]
        verdict = judge_file(there, load(source).schema, made.provenance, ROOM)
        graded_by.append([(each.kind, str(each)) for each in verdict.findings])
        found = spreadsheets.read_unescaped(
            made.provenance, ["=age", "height"], lambda own, there=there: there.counted(own, ROOM)
        )
        graded_by.append(sorted(zip(*(map(str, found[0][name]) for name in found[0]), found[1].tolist(), strict=True)))
    assert graded_by[:2] == graded_by[2:]
    assert {"'=age_low", "'=age_high"} <= {*pd.read_csv("out.csv")}


def test_numbers_that_are_no_labels_stay_one_column(here):
    made = from_files.sanitize(CLINIC, LaplaceNoise(1.0), "out.csv", bounds=True, allow="a test")
    assert "bounds" not in made.provenance
    assert {"age", "weight"} <= {*pd.read_csv("out.csv")}


def test_what_two_numbers_cannot_say_is_refused(here):
    source = described(table(age_low=["1"] * 400), age_low=("neutral", '["1"]'))
    with pytest.raises(UsageError, match="the table has a column 'age_low'"):
        from_files.sanitize(source, "k=5", "out.csv", bounds=True, allow="a test")
    numbers = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 2, missing="?"))
    tree = Taxonomy("age", (("0", "few", "*"), ("1", "few", "*"), ("2", "many", "*"), ("?", "many", "*")))
    assert Bounded.of(numbers, tree, ["few", "*", "?"]).ends == {"few": (0, 1), "*": (0, 2), "?": (None, None)}
    with pytest.raises(UsageError, match="its label 'many' covers"):
        Bounded.of(numbers, tree, ["few", "many"])
    with pytest.raises(TypeError, match="`out`, `bounds` and `force` "):
        sanitize_table.sanitize(pd.DataFrame(), "k=5", bounds=True)
    assert not [*here.glob("*out*")]


def test_labels_with_a_name_are_read_back():
    numbers = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99))
    tree = Taxonomy("age", tuple((str(n), "child" if n < 18 else "adult", "*") for n in range(100)))
    facts = Bounded.of(numbers, tree, ["child", "adult", "7", "*"]).facts
    assert facts["named"] == [["child", 0.0, 17.0], ["adult", 18.0, 99.0]]
    banded = Attribute("pay", Role.SENSITIVE, Bands.of(Numbers(0, 9000, missing="?")))
    own = Bounded.of(banded, None, banded.domain.values)
    assert own.ends["8500-9000"] == (8500, 9000)
    assert own.ends["?"] == (None, None)
    assert "named" not in own.facts
    assert Bounded.of(numbers, Ranges(numbers.numbers), [17, 20]) is None


def test_a_strange_provenance_leaves_the_file_as_it_is(here):
    Path("out.csv").write_text("age_low,age_high\n1,2\n3,4\n", encoding="utf-8")
    for text in ("{", "[]", '{"bounds": {"age": {"low": "age_low"}}}', '{"bounds": [1]}'):
        Path("out.csv.provenance.json").write_text(text, encoding="utf-8")
        assert UndescribedTable.of("out.csv").names == ["age_low", "age_high"]
