"""The hierarchy of a column is edited: what is read, refused, counted and written."""

import os
import random
import stat
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from privnb.datasets import description
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.draft import draft
from privnb.datasets.hierarchy_editor import Bar, HierarchyEditor, parse_cuts, write_cuts
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime.errors import PrivnbError

JOBS = ["farmer"] * 60 + ["baker"] * 50 + ["nurse"] * 40 + ["doctor"] * 35 + ["teacher"] * 12 + ["diver"] * 3


def rows():
    draw = random.Random(2)
    return [(18 + int(60 * draw.random() ** 2), job, "FM"[i % 2], f"p{i // 2:03}") for i, job in enumerate(JOBS)]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row)) for row in rows()]
    Path("people.csv").write_text("age,job,sex,who\n" + "\n".join(lines) + "\n")
    editor = DescriptionEditor.open(str(draft("people.csv")))
    return editor.save(editor.roles.sensitive("sex").person(""))[0]


def grouped(table):
    """The column `job` in two groups and a value."""
    own = HierarchyEditor.open(table, "job")
    return own.with_tree(own.tree.read("care\n  nurse\n  doctor\n  teacher\nother\n  farmer\n  baker\ndiver"))


def test_a_tree_is_written_and_loaded(table):
    own = grouped(table)
    before = table.path.read_bytes()
    file = table.path.parent / "hierarchies" / "default" / "job.csv"
    os.chmod(table.path, 0o640)
    assert own.save() is table
    assert table.path.read_bytes() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert {*load("people").hierarchies["job"].rows} == {
        ("nurse", "care", "*"), ("doctor", "care", "*"), ("teacher", "care", "*"),
        ("farmer", "other", "*"), ("baker", "other", "*"), ("diver", "diver", "*"),
    }  # fmt: skip
    assert [line.split(";")[0] for line in file.read_text().split()] == [*own.tree.values], "the order of the domain"
    assert [*file.parent.glob(".*")] == []
    again = HierarchyEditor.open(table, "job")
    assert again.tree.text() == own.tree.text()
    assert not again.has_changed(again.with_tree(again.tree.read(again.tree.text())))


def test_cuts_are_written_into_the_domain_alone(table):
    own = HierarchyEditor.open(table, "age")
    assert own.tree is None
    saved = own.with_cuts((18, 30, 65)).save()
    assert saved.text == table.path.read_text()
    before, after = tomllib.loads(table.text), tomllib.loads(saved.text)
    assert after["columns"]["age"]["domain"].pop("cuts") == [18, 30, 65]
    before["columns"]["age"]["domain"].pop("cuts")
    assert after == before
    comments = [[line.partition("#")[2] for line in text.splitlines()] for text in (table.text, saved.text)]
    assert comments[0] == comments[1], "the mark of a proposal stays"
    assert load("people").schema["age"].domain.cuts == (18, 30, 65)
    width = HierarchyEditor.open(saved, "age").with_cuts(20).save()
    assert load("people").schema["age"].domain.cuts == (20, 40, 60)
    assert HierarchyEditor.open(width, "age").cuts == 20


def test_bounds_that_the_owner_states_are_no_proposal(table):
    own = HierarchyEditor.open(table, "age")
    assert own.is_proposed
    assert "age" in description.find_proposals(table.text)
    stated = own.with_cuts((18, 30, 65)).with_bounds(18, 110)
    assert stated.has_changed(own)
    assert not stated.is_proposed
    assert stated.points == (30, 65), "a cut at the lower bound divides nothing"
    assert stated.load(table.roles).schema["age"].domain.high == 110, "what a release would use before it is saved"
    saved = stated.save()
    assert tomllib.loads(saved.text)["columns"]["age"]["domain"] == {
        **tomllib.loads(table.text)["columns"]["age"]["domain"], "low": 18, "high": 110, "cuts": [30, 65],
    }  # fmt: skip
    assert description.find_proposals(saved.text) == [
        each for each in description.find_proposals(table.text) if each != "age"
    ]
    assert (load("people").schema["age"].domain.low, load("people").schema["age"].domain.high) == (18, 110)
    with pytest.raises(SchemaError, match=r"some records of 'age' lie outside of 30 to 110. Give wider bounds."):
        own.with_bounds(30, 110)


def test_what_changed_on_disk_is_not_overwritten(table):
    tree, cuts = grouped(table), HierarchyEditor.open(table, "age").with_cuts(20)
    file = table.path.parent / "hierarchies" / "default" / "job.csv"
    file.write_text(file.read_text() + "\n")
    with pytest.raises(SchemaError, match=r"job.csv was changed elsewhere since it was read here. Nothing is written"):
        tree.save()
    table.path.write_text(table.text + "# mine\n")
    with pytest.raises(SchemaError, match=r"people.toml was changed elsewhere"):
        cuts.save()
    assert table.path.read_text() == table.text + "# mine\n"
    table.path.unlink()
    with pytest.raises(SchemaError, match=r"people.toml was changed elsewhere"):
        cuts.save()


def test_a_file_that_appears_meanwhile_is_not_overwritten(table):
    file = table.path.parent / "hierarchies" / "default" / "job.csv"
    file.unlink()
    own = HierarchyEditor.open(table, "job")
    assert own.file is None
    file.write_text("mine;*\n")
    with pytest.raises(SchemaError, match=r"job.csv was changed elsewhere"):
        grouped_like(own).save()
    assert file.read_text() == "mine;*\n"


def grouped_like(own):
    return own.with_tree(own.tree.add("care", ["nurse", "doctor"]))


def test_a_file_that_cannot_be_written_stays(table, monkeypatch):
    own = grouped(table)
    file = table.path.parent / "hierarchies" / "default" / "job.csv"
    before = file.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(PrivnbError, match=r"job.csv cannot be written: No space left on device. It is unchanged."):
        own.save()
    assert file.read_bytes() == before
    assert [*file.parent.glob(".*")] == []


@pytest.mark.parametrize(
    ("cuts", "said"),
    [
        ((65, 18), "must increase"), ((18, 18), "must increase"), ((18, 200), "lie outside"), ((-5,), "lie outside"),
        ((18.5,), "between two steps"), (0, "must be a number above 0"), (-10, "must be a number above 0"),
    ],
)  # fmt: skip
def test_cuts_that_do_not_divide_the_domain_are_refused(table, cuts, said):
    own = HierarchyEditor.open(table, "age")
    with pytest.raises(SchemaError, match=said):
        own.with_cuts(cuts)


@pytest.mark.parametrize(
    ("text", "said"),
    [("18, x, 65", "cut 2 of 3 must be a number"), ("18,,65", "cut 2 of 3"), ("every", "the width after `every`"),
     ("every ten", "the width"), ("nan", "cut 1 of 1"), ("1e999", "cut 1 of 1")],
)  # fmt: skip
def test_a_text_of_cuts_is_refused_by_its_place(text, said):
    with pytest.raises(SchemaError, match=said):
        parse_cuts(text)


@pytest.mark.parametrize("cuts", [10, 0.5, (18, 65), (0.25, 1000000), ()])
def test_cuts_are_read_as_they_are_written(cuts):
    assert parse_cuts(write_cuts(cuts)) == cuts


def test_an_empty_group_is_not_written(table):
    own = HierarchyEditor.open(table, "job")
    file = table.path.parent / "hierarchies" / "default" / "job.csv"
    before = file.read_bytes()
    with pytest.raises(SchemaError, match="the group 'new' is empty"):
        own.with_tree(own.tree.add("new")).save()
    assert file.read_bytes() == before


def test_columns_that_cannot_be_edited_here_are_refused_with_a_way(table, tmp_path):
    name = "age"
    studied = DescriptionEditor.open("adult", may_have_studies=True)
    with pytest.raises(SchemaError, match=r"adult.toml has studies.*Edit the files"):
        HierarchyEditor.open(studied, name)
    domain = next(line for line in table.text.splitlines() if line.startswith('domain = ["baker"'))
    table.path.write_text(table.text.replace(domain, ""))
    without = DescriptionEditor.open("people")
    with pytest.raises(SchemaError, match=r"'job' has no domain yet. Save the roles first"):
        HierarchyEditor.open(without, "job")


def test_a_count_of_few_people_is_not_shown_and_does_not_follow(table):
    own = HierarchyEditor.open(table, "job")
    counts = own.people(table.roles)
    assert "diver" not in counts
    assert counts == {"farmer": 60, "baker": 50, "nurse": 40, "doctor": 35}, "12 teachers would tell of 3 divers"
    keyed = table.roles.person("who")
    people = own.people(keyed)
    assert "diver" not in people
    assert people["farmer"] == len({row[3] for row in rows() if row[1] == "farmer"})


def test_a_histogram_has_no_bar_of_few_people_and_does_not_follow_the_cuts(table):
    own = HierarchyEditor.open(table, "age")
    bars = own.histogram(table.roles)
    ages = np.array([row[0] for row in rows()])
    assert sum(bar.people for bar in bars) == len(ages)
    for bar in bars:
        assert bar.people == ((bar.low <= ages) & (ages < bar.high)).sum()
        assert bar.people == 0 or bar.people >= 10
    assert all(one.high == other.low for one, other in pairwise(bars))
    assert len(bars) > 5
    assert own.with_cuts((18, 19, 20)).histogram(table.roles) == bars
    keyed = own.histogram(table.roles.person("who"))
    assert all(bar.people == 0 or bar.people >= 10 for bar in keyed)
    assert isinstance(keyed[0], Bar)


def test_a_histogram_of_few_people_is_empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text("age,sex\n" + "".join(f"{20 + 3 * i},{'FM'[i % 2]}\n" for i in range(8)))
    own = DescriptionEditor.open(str(draft("few.csv")))
    assert HierarchyEditor.open(own, "age").histogram(own.roles) == []


def test_a_draft_is_edited_and_measured_before_it_is_confirmed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,job\n" + "".join(f"{row[0]},{row[1]}\n" for row in rows()))
    own = DescriptionEditor.open(str(draft("people.csv")))
    edited = HierarchyEditor.open(own, "age").with_cuts((40,))
    dataset = edited.load(own.roles.having({"job": Role.SENSITIVE}))
    assert dataset.schema["age"].domain.cuts == (40,)
    tree = HierarchyEditor.open(own, "job")
    made = tree.with_tree(tree.tree.read("all\n" + "".join(f"  {each}\n" for each in tree.tree.values)))
    assert made.load(own.roles).hierarchies["job"].height == 2
    assert isinstance(made.load(own.roles).hierarchies["job"], Taxonomy)
    made.save()
    assert own.path.read_text() == own.text, "a draft stays a draft"
