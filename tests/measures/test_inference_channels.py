"""Inference channels of published supports, by the 66 tuples of chapter 5."""

from itertools import combinations

import numpy as np
import pytest

from privnb.datasets.dataset import load
from privnb.measures.rules.inference_channels import block_channels, find_channels
from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets


@pytest.fixture(scope="module")
def tuples():
    """A: been married, B: male, C: 40 hours or more. Figures 5.13 and 5.14."""
    table = load("hypertension").table
    has = [table["marital-status"] != "single", table["sex"] == "M", table["hours"].astype(int) >= 40]
    return Baskets(("A", "B", "C"), np.column_stack(has))


def written(found):
    return {"".join(sorted(items)): count for items, count in found.items()}


def test_the_printed_supports(tuples):
    """Section 5.7.1: 66, 40, 55, 52, 29, 26, 43 and 17."""
    assert written(itemsets(tuples, 1 / 66)) == {
        "": 66, "A": 40, "B": 55, "C": 52, "AB": 29, "AC": 26, "BC": 43, "ABC": 17
    }  # fmt: skip


def test_the_printed_channels_and_what_blocks_them(tuples):
    """Section 5.7.1: with a support of 40 published; C and not B 9, B and not C 12, neither 2. Blocked for k = 10: 62
    and 86, after which 19, 12 and 12 follow."""
    found = itemsets(tuples, 40 / 66)
    assert {*written(found)} == {"", "A", "B", "C", "BC"}
    pairs = {
        (*sorted(e.having), "not", *sorted(e.lacking)): e.count for e in find_channels(found, 99) if len(e.lacking)
    }
    assert (pairs["C", "not", "B"], pairs["B", "not", "C"], pairs["not", "B", "C"]) == (9, 12, 2)
    assert [str(each) for each in find_channels(found, 3)] == ["everybody, not B, not C: 2"]
    assert sorted(each.count for each in find_channels(found, 13)) == [2, 9, 11, 12]
    after = block_channels(found, 10)
    assert (written(after)["C"], written(after)[""]) == (62, 86)
    assert {items: count for items, count in written(after).items() if items not in ("", "C")} == {
        "A": 40, "B": 55, "BC": 43
    }  # fmt: skip
    now = {(*sorted(e.having), "not", *sorted(e.lacking)): e.count for e in find_channels(after, 99)}
    assert (now["C", "not", "B"], now["B", "not", "C"], now["not", "B", "C"]) == (19, 12, 12)
    assert find_channels(after, 10) == []


def test_a_tree_tells_by_its_nodes():
    """Section 5.4.2, figure 5.9: 11 women, of whom 9 of 50 hours: two women are not of 50 hours, although no leaf says
    so; as a leaf it would."""
    women, fifty = frozenset({"F"}), frozenset({"F", "50"})
    assert [str(each) for each in find_channels({women: 11, fifty: 9}, 3)] == ["F, not 50: 2"]
    leaf = frozenset({"F", "35"})
    assert "35, F: 2" in [str(each) for each in find_channels({women: 11, leaf: 2}, 3)]


@pytest.mark.parametrize("seed", range(4))
def test_what_follows_is_what_a_count_finds(seed):
    rng = np.random.default_rng(seed)
    baskets = Baskets(tuple("ABCDE"), rng.random((60, 5)) < 0.6)
    found = itemsets(baskets, 0.1, most=5)
    every = {(each.having, each.lacking): each.count for each in find_channels(found, 99)}
    for whole in found:
        for size in range(len(whole) + 1):
            for having in map(frozenset, combinations(sorted(whole), size)):
                has = baskets.has[:, baskets.places(having)].all(axis=1)
                lacks = ~baskets.has[:, baskets.places(whole - having)].any(axis=1)
                assert every.get((having, whole - having), 0) == (has & lacks).sum()
    assert {(e.having, e.lacking) for e in find_channels(found, 8)} == {each for each, n in every.items() if 0 < n < 8}
    after = block_channels(found, 8)
    assert find_channels(after, 8) == []
    assert all(after[items] >= count for items, count in found.items())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: find_channels({frozenset(): 3}, 1), "k must be a whole number of at least 2"),
        (lambda: find_channels([], 2), "found must be"),
        (lambda: find_channels({"A": 3}, 2), "must be a frozenset"),
        (lambda: find_channels({frozenset(): "3"}, 2), "must be a finite number"),
        (lambda: block_channels({frozenset("AB"): 5, frozenset("ABC"): 3}, 2.5), "k must be a whole number"),
    ],
)
def test_bad_input_is_a_clear_error(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()
