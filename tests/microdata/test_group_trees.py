"""Edits of a tree of groups, step by step and as text, and the taxonomy that they make."""

import random

import pytest
from hypothesis import given, strategies as st

from privnb.datasets.dataset import load_studies
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.hierarchy.group_trees import ROOT, GroupTree
from privnb.microdata.schema import SchemaError

VALUES = ("9th", "10th", "Bachelors", "Masters", "?")
ROWS = (
    ("9th", "school", "school", "*"),
    ("10th", "school", "school", "*"),
    ("Bachelors", "first", "college", "*"),
    ("Masters", "second", "college", "*"),
    ("?", "?", "?", "*"),
)
TEXT = "school\n  9th\n  10th\ncollege\n  first\n    Bachelors\n  second\n    Masters\n?"


@pytest.fixture
def tree():
    return GroupTree.of(Taxonomy("education", ROWS), VALUES)


def test_a_tree_is_the_taxonomy_that_it_was_made_of(tree):
    assert tree.taxonomy().rows == Taxonomy("education", ROWS).rows
    assert tree.text() == TEXT
    assert tree.read(TEXT) == tree
    assert tree.groups == ["school", "college", "first", "second"]


def test_every_shipped_taxonomy_comes_back_without_repeated_levels():
    seen = 0
    for name in ("adult", "hypertension", "twelve"):
        for dataset in load_studies(name, records=12):
            for own in dataset.hierarchies.values():
                if isinstance(own, Taxonomy):
                    made = GroupTree.of(own, own.leaves)
                    levels = [*dict.fromkeys(zip(*own.rows, strict=True))]
                    assert made.taxonomy().rows == tuple(zip(*levels, strict=True)), (name, own.name)
                    assert made.read(made.text()).taxonomy().rows == made.taxonomy().rows
                    seen += 1
    assert seen > 5


def test_values_and_groups_move_and_groups_come_and_go(tree):
    moved = tree.move(["?", "first"], "school")
    assert (moved.parents["?"], moved.parents["first"], moved.parents["Bachelors"]) == ("school", "school", "first")
    assert {*moved.taxonomy().rows} == {
        ("9th", "9th", "school", "*"),
        ("10th", "10th", "school", "*"),
        ("Bachelors", "first", "school", "*"),
        ("?", "?", "school", "*"),
        ("Masters", "second", "college", "*"),
    }
    grown = tree.add(" middle ", ["first", "second"])
    assert grown.members("college") == ["middle"]
    assert grown.members("middle") == ["first", "second"]
    assert grown.taxonomy().height == tree.taxonomy().height + 1
    assert tree.add("odd", ["9th", "?"]).parents["odd"] == ROOT, "of two groups"
    assert tree.add("all", ["college", "first"]).members("all") == ["college"], "what a chosen group holds stays in it"
    named = tree.rename("first", "undergraduate")
    assert named.text() == TEXT.replace("first", "undergraduate")
    gone = tree.remove("college")
    assert gone.members(ROOT) == ["school", "first", "second", "?"]
    assert {row[1:] for row in gone.taxonomy().rows} == {("school", "*"), ("first", "*"), ("second", "*"), ("?", "*")}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda tree: tree.move(["college"], "first"), "cannot be moved into itself"),
        (lambda tree: tree.move(["college"], "college"), "cannot be moved into itself"),
        (lambda tree: tree.move(["no"], "first"), "no value or group 'no'"),
        (lambda tree: tree.move(["?"], "9th"), "'9th' is not a group"),
        (lambda tree: tree.add("9th"), "'9th' is the name of a value of the domain"),
        (lambda tree: tree.add("first"), "'first' is the name of another group"),
        (lambda tree: tree.add(" "), "must have a name"),
        (lambda tree: tree.add("*"), "must have a name other than"),
        (lambda tree: tree.rename("first", "school"), "another group"),
        (lambda tree: tree.rename("*", "all"), "'\\*' is not a group"),
        (lambda tree: tree.remove("9th"), "'9th' is not a group"),
        (lambda tree: tree.move(["Masters"], "school").taxonomy(), "the group 'second' is empty"),
        (lambda tree: tree.add("new").taxonomy(), "the group 'new' is empty"),
    ],
)
def test_an_edit_that_makes_no_tree_is_refused(tree, edit, said):
    with pytest.raises(SchemaError, match=said):
        edit(tree)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("  10th", "  9th", "line 3: '9th' is repeated, after line 2"),
        ("second", "first", "line 7: 'first' is repeated, after line 5"),
        ("  10th\n", "", "1 value is missing in the text: 10th"),
        ("school\n  9th\n  10th\n", "", "2 values are missing in the text: 9th, 10th"),
        ("school", "?", "line 1: '\\?' is a value of the domain"),
        ("\n?", "\nempty\n?", "line 9: 'empty' is neither a value of the domain nor a group with members"),
        ("  10th", "   10th", "line 2: '9th' is a value of the domain"),
        ("  10th", " 10th", "line 3: '10th' is indented by 1 spaces"),
        ("\n?", "\n*", "line 9: '\\*' is the group of all values"),
        ("\n?", '\n"?', "line 9: a name that begins with a quotation mark"),
    ],
)
def test_a_text_that_is_no_tree_is_refused_by_its_line(tree, before, after, said):
    assert before in TEXT
    with pytest.raises(SchemaError, match=said):
        tree.read(TEXT.replace(before, after, 1))


@pytest.mark.parametrize("odd", [" a", "a\nb", '"a', "\u202e", "", "a "])
def test_names_that_a_line_cannot_hold_are_quoted(odd):
    tree = GroupTree.of(Taxonomy("odd", ((odd, "g", "*"), ("b", "b", "*"))), (odd, "b"))
    assert tree.read(tree.text()) == tree


@given(st.integers(0, 10**6))
def test_random_edits_leave_a_taxonomy_of_all_values(seed):
    draw, tree = random.Random(seed), GroupTree.of(Taxonomy("education", ROWS), VALUES)
    for step in range(12):
        names = draw.sample([*tree.parents], draw.randrange(1, 4))
        try:
            match draw.randrange(3):
                case 0:
                    tree = tree.move(names, draw.choice([ROOT, *tree.groups]))
                case 1:
                    tree = tree.add(f"g{step}", names)
                case _:
                    tree = tree.remove(draw.choice(tree.groups))
        except (SchemaError, IndexError):
            continue
    for group in reversed(tree.groups):
        tree = tree if tree.members(group) else tree.remove(group)
    made = tree.taxonomy()
    assert sorted(made.leaves) == sorted(VALUES)
    assert GroupTree.of(made, VALUES).text() == tree.text()
    for group in tree.groups:
        below = {each for each, _ in tree.walk(group) if tree.is_value(each)}
        first, last = made.ends(group)
        assert {*made.leaves[first : last + 1]} == below
