"""Itemsets and rules, against a count of every itemset by hand."""

from itertools import combinations

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.microdata.schema import NotForThisTable
from privnb.miners.baskets import Baskets, Weighted
from privnb.miners.rules import Rule, itemsets, rules

# Aggarwal and Yu 2008, section 11, and the digest's own figures: six records.
SIX = Baskets.of([*[set("ABC")] * 3, set("AB"), set("A"), set("AC")])


def by_hand(records, support, most):
    items = sorted(set().union(*records))
    sets = [frozenset(each) for size in range(most + 1) for each in combinations(items, size)]
    counts = {each: sum(each <= record for record in records) for each in sets}
    return {each: count for each, count in counts.items() if count >= support * len(records) - 1e-9}


@pytest.mark.parametrize("seed", range(5))
def test_itemsets_are_those_that_a_count_of_all_finds(seed):
    rng = np.random.default_rng(seed)
    records = [{item for item in "ABCDEF" if rng.random() < 0.5} for _ in range(rng.integers(3, 80))]
    baskets = Baskets.of(records)
    weighted = Weighted(baskets.items, None, baskets.has.T.astype(float))
    for support, most in ((0.1, 4), (0.3, 3), (1.0, 2)):
        assert itemsets(baskets, support, most=most) == by_hand(records, support, most)
        assert itemsets(weighted, support, most=most) == by_hand(records, support, most)


def test_rules_of_six_records():
    """Supports A6 B4 C4 AB4 AC4 BC3 ABC3; from .33 and .70 on nine rules, worked out by hand."""
    found = itemsets(SIX, 0.33)
    assert {"".join(sorted(i)): c for i, c in found.items()} == {
        "": 6, "A": 6, "B": 4, "C": 4, "AB": 4, "AC": 4, "BC": 3, "ABC": 3
    }  # fmt: skip
    sure = rules(found, 0.7)
    assert {str(rule): round(strength.confidence, 2) for rule, strength in sure.items()} == {
        "B => A": 1, "C => A": 1, "B, C => A": 1, "B => C": 0.75, "C => B": 0.75, "B => A, C": 0.75, "C => A, B": 0.75,
        "A, B => C": 0.75, "A, C => B": 0.75,
    }  # fmt: skip


def test_what_a_table_has_of_categories_are_items_and_no_two_of_an_attribute_go_together():
    dataset = load(CLINIC)
    baskets = Baskets.of_table(dataset)
    assert (baskets.has.sum(axis=1) == len(set(baskets.kinds))).all()
    for items, count in itemsets(baskets, 0.05).items():
        values = dict(each.split("=") for each in items)
        assert len(values) == len(items)
        assert count == (dataset.table[list(values)] == list(values.values())).all(axis=1).sum()


def test_a_table_without_categories_has_no_rules():
    dataset = load("census")
    with pytest.raises(NotForThisTable, match=r"has no published categorical attribute"):
        Baskets.of_table(dataset)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: itemsets(SIX, 0), "support must be a share above 0"),
        (lambda: itemsets(SIX, 1.5), "support must be a share"),
        (lambda: itemsets([], 0.5), "`baskets` must be Baskets"),
        (lambda: itemsets(SIX, 0.5, most=0), "most must be a whole number of at least 1"),
        (lambda: rules({}, 2), "confidence must be a share"),
        (lambda: rules([], 0.5), "found must be"),
        (lambda: SIX.count(["a"]), "there is no item 'a'. Did you mean 'A'"),
        (lambda: Rule.read("A"), 'a rule must be written as "a, b => c"'),
        (lambda: Rule.read("A => A"), 'a rule must be written as "a, b => c"'),
        (lambda: Rule.read(3), "text must be"),
        (lambda: Baskets(("A",), np.zeros((2, 2), dtype=bool)), "a column for each"),
        (lambda: Baskets(("A", "A"), np.zeros((2, 2), dtype=bool)), "different items"),
        (
            lambda: Baskets(("A",), np.ones((2, 1), dtype=bool), None, np.ones((2, 1), dtype=bool)),
            "`unknown` must have",
        ),
    ],
)
def test_bad_input_is_a_clear_error(call, said):
    with pytest.raises((ValueError, TypeError), match=said.replace("(", r"\(")):
        call()


def test_more_itemsets_than_anybody_reads_are_refused(monkeypatch):
    monkeypatch.setattr("privnb.miners.rules.MAX_ITEMSETS", 50)
    with pytest.raises(
        NotForThisTable, match=r"gives more than 50 itemsets of 2 items. Raise `support`, or lower `most`"
    ):
        itemsets(Baskets(tuple(map(str, range(20))), np.ones((3, 20), dtype=bool)), 0.5)
