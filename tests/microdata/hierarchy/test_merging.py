"""Trees of few branches: what is merged with what, and that one rare value no longer forbids every cut."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from privnb.datasets.dataset import Dataset
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata.hierarchy import Taxonomy, flat
from privnb.microdata.hierarchy.merging import merge_siblings
from privnb.microdata.schema import Attribute, Categories, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Mondrian

TOWNS = ("Bonn", "Köln", "Trier", "Ulm", "Worms", "Xanten", "Zell")
RECORDS = dict(zip(TOWNS, (300, 500, 2, 150, 1, 40, 7), strict=True))


def tree_of(*leaves):
    return Taxonomy("town", tuple((leaf, "*") for leaf in leaves))


def test_the_rare_are_merged_first_and_labels_say_who_is_in_them():
    rows = {row[0]: row for row in merge_siblings(tree_of(*TOWNS), RECORDS, most=2).rows}
    assert rows["Worms"] == ("Worms", "Trier|Worms", "Xanten and 3 others", "*")
    assert rows["Köln"] == ("Köln", "Köln", "Bonn|Köln|Ulm", "*")


def test_neighbours_alone_are_merged_in_an_order():
    sizes = [str(size) for size in range(12)]
    tree = merge_siblings(tree_of(*sizes), {size: 2000 // 2 ** int(size) for size in sizes}, most=2, in_order=True)
    assert tree.leaves == tuple(sizes)
    assert {row[0]: row[-2] for row in tree.rows} == {"0": "0"} | dict.fromkeys(sizes[1:], "1 to 11")


def test_levels_of_the_tree_stay_and_those_below_the_lowest_get_none_in_between():
    codes = Taxonomy("code", tuple((f"{n:02}", f"{n // 10}*", "*") for n in range(100)))
    counts = {f"{n:02}": 1 for n in range(100)}
    whole, top = merge_siblings(codes, counts, in_order=True), merge_siblings(codes, counts, in_order=True, lowest=1)
    assert (codes.height, top.height, whole.height) == (2, 4, 6)
    for tree in (whole, top):
        assert {row[0]: row[1] for row in codes.rows}.items() <= {
            row[0]: label for row in tree.rows for label in row if label == f"{row[0][0]}*"
        }.items()


def test_what_two_labels_would_name_is_refused():
    with pytest.raises(SchemaError, match=r"'a\|b'"):
        merge_siblings(tree_of("a", "b", "a|b", "c"), {"a": 1, "b": 2, "a|b": 30, "c": 40}, most=2)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40), st.integers(2, 5), st.booleans())
def test_no_node_has_more_children(counts, most, in_order):
    leaves = [f"v{n}" for n in range(len(counts))]
    tree = merge_siblings(tree_of(*leaves), dict(zip(leaves, counts, strict=True)), most, in_order)
    assert sorted(tree.leaves) == sorted(leaves)
    for lower, upper in pairwise(tree.groups):
        assert np.bincount(np.unique([upper, lower], axis=1)[0]).max() <= max(most, 4 if in_order else most)


def test_one_rare_value_does_not_forbid_every_cut():
    """A step from a value to `*` cannot be cut where two people live in Trier; a merged tree loses little."""
    attribute = Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS))
    table = pd.DataFrame({"town": np.repeat(TOWNS, list(RECORDS.values()))})
    losses = []
    for tree in (flat(attribute), merge_siblings(flat(attribute), RECORDS)):
        data = Dataset("towns", table, Schema("towns", (attribute,)), {"town": tree})
        losses.append(certainty_penalty(Mondrian(KAnonymity(5)).sanitize(data, rng=0)))
    assert losses[0] == 1
    assert losses[1] < 0.05


def test_what_few_people_have_is_not_named():
    said = {"no": 90, "some": 20, "a lot": 12} | {f"I live at {n} Mill Lane": 1 for n in range(20)}
    rows = [row for value in said for row in [(value, "*")]]
    for most in (2, 3, 4):
        tree = merge_siblings(Taxonomy("answer", tuple(rows)), said, most, named=10)
        labels = {label for path in tree.rows for label in path[1:]}
        assert not [label for label in labels if "Mill" in label]
        assert any("rare ones (" in label for label in labels)
        assert any(label.startswith("no") for label in labels)
        assert any(
            "Mill" in label
            for path in merge_siblings(Taxonomy("answer", tuple(rows)), said, most).rows
            for label in path[1:]
        )
