"""Rule hiding: the worked example of six records, every way on random ones, and what contradicts itself."""

from itertools import combinations, product

import numpy as np
import pytest

from privnb.attacks.inference.unknown_filling import fill_blocked, filling_accuracy
from privnb.measures.rules.rule_hiding import certain_rules, dissimilarity, side_effects
from privnb.miners.baskets import Baskets
from privnb.miners.rules import Rule, itemsets, rules
from privnb.sanitizers.tables_and_rules.rule_hiding import HIDING_METHODS, block, hide, hide_exactly

SIX = Baskets.of([*[set("ABC")] * 3, set("AB"), set("A"), set("AC")])
RULE = Rule.read("A, B => C")
AT = {"support": 0.33, "confidence": 0.7}


def bounds(baskets, rule):
    """Between which shares support and confidence of a rule lie where cells are blocked."""
    most = Baskets(baskets.items, baskets.has | (False if baskets.unknown is None else baskets.unknown))
    both, left = ((baskets.count(items), most.count(items)) for items in (rule.items, rule.left))
    return tuple(count / len(baskets) for count in both), (both[0] / left[1], min(1.0, both[1] / left[0]))


def effects(after):
    return side_effects(certain_rules(SIX, **AT), certain_rules(after, **AT), [RULE])


def test_delete_from_the_right_side():
    """1.b: one deletion of C; AB => C falls to .50; three rules stay, five of the eight others are lost. By hand."""
    after = hide(SIX, [RULE], way="1.b", **AT)
    assert (SIX.has.sum() - after.has.sum(), SIX.count("C") - after.count("C")) == (1, 1)
    assert bounds(after, RULE)[1] == (0.5, 0.5)
    assert {str(rule) for rule in certain_rules(after, **AT)} == {"B => A", "C => A", "B, C => A"}
    assert effects(after) == (0, 0.625, 0, 5, 0)
    assert dissimilarity(SIX, after) == pytest.approx(1 / 14)


def test_add_to_the_left_side():
    """1.a: B is added to the record A, or C's; AB => C falls to .60, A => B is a ghost at 5/6. By hand."""
    after = hide(SIX, [RULE], way="1.a", **AT)
    assert bounds(after, RULE)[1] == (0.6, 0.6)
    before, now = certain_rules(SIX, **AT), certain_rules(after, **AT)
    assert {str(rule) for rule in {*now} - {*before}} == {"A => B"}
    assert now[Rule.read("A => B")].confidence == pytest.approx(5 / 6)
    assert {str(rule) for rule in {*before} - {*now} - {RULE}} == {"B => C", "B => A, C"}


def test_one_deletion_is_enough_for_the_itemset():
    """2.b, and Menon's program, at a support of .5: 3 - 3 + 1 = 1. By hand."""
    after = hide(SIX, [RULE], way="2.b", support=0.5, confidence=0.7)
    assert SIX.has.sum() - after.has.sum() == 1
    found = hide_exactly(SIX, [RULE], support=0.5)
    assert (found.deleted, found.gap) == (1, 0)
    assert found.baskets.count("ABC") == 2


def test_block_one_cell():
    """Blocking C in one ABC record: the support of ABC is in [1/3, 1/2], the confidence in [.50, .75]. By hand."""
    after = block(SIX, [RULE], support=0.33, confidence=0.7, zeros=0)
    assert after.unknown.sum() == 1
    support, confidence = bounds(after, RULE)
    assert support == pytest.approx((1 / 3, 1 / 2))
    assert confidence == pytest.approx((0.5, 0.75))
    assert RULE not in certain_rules(after, **AT)
    assert dissimilarity(SIX, after) == pytest.approx(0.5 / 14), "at the mean of the least and the greatest"


@pytest.fixture(scope="module")
def random():
    rng = np.random.default_rng(3)
    records = [{i for i in "ABCDEF" if rng.random() < (0.8 if i in "ABC" else 0.3)} | {"F"} for _ in range(300)]
    return Baskets.of(records)


SENSITIVE = [Rule.read("A, B => C"), Rule.read("C => A"), Rule.read("B => C")]


@pytest.mark.parametrize("way", HIDING_METHODS)
def test_each_way_hides(random, way):
    before, has = rules(itemsets(random, 0.2), 0.5), random.has.copy()
    assert {*SENSITIVE} <= {*before}
    after = hide(random, SENSITIVE, way=way, support=0.2, confidence=0.5, rng=1)
    assert (random.has == has).all(), "the original stays"
    found = side_effects(before, rules(itemsets(after, 0.2), 0.5), SENSITIVE)
    added = after.has & ~random.has
    if way == "1.a":  # there are too few records that lack A or B, so that not all can be hidden
        assert added.any()
    else:
        assert found.hiding_failure == 0
        assert not added.any()
    assert 0 < (after.has != random.has).mean() < 0.5


def test_the_exact_program_deletes_fewest(random):
    """Against every choice of deletions on a few records."""
    few = Baskets.of([set("ABC"), set("ABC"), set("AB"), set("BC"), set("ABC"), set("AC")])
    sensitive = [Rule.read("A => B"), Rule.read("B => C")]
    found = hide_exactly(few, sensitive, support=0.5)
    cells = np.argwhere(few.has)
    for number in range(len(cells) + 1):
        if any(_hides(few, cells[list(chosen)]) for chosen in combinations(range(len(cells)), number)):
            break
    assert (found.deleted, found.gap) == (number, 0)
    assert max(found.baskets.count("AB"), found.baskets.count("BC")) < 3
    heuristic = [hide(random, SENSITIVE, way=way, support=0.2, confidence=0.01) for way in ("2.a", "2.b", "lattice")]
    exact = hide_exactly(random, SENSITIVE, support=0.2)
    assert 0 < exact.deleted <= min((random.has & ~each.has).sum() for each in heuristic)


def _hides(few, cells):
    has = few.has.copy()
    has[tuple(cells.T)] = False
    return all(has[:, few.places(items)].all(axis=1).sum() < 3 for items in ("AB", "BC"))


def test_with_nothing_but_present_items_blocked_everything_comes_back(random):
    alone = block(random, SENSITIVE, support=0.2, confidence=0.5, zeros=0)
    assert (fill_blocked(alone).has == random.has).all()
    assert filling_accuracy(random, alone, fill_blocked(alone))[0] == 1
    mixed = block(random, SENSITIVE, support=0.2, confidence=0.5, zeros=1)
    assert mixed.unknown.sum() > alone.unknown.sum()
    assert (fill_blocked(mixed).has >= random.has).all()
    right, baseline = filling_accuracy(random, mixed, fill_blocked(mixed, "companions"))
    assert 0 < baseline < 1
    assert 0.3 < right <= 1
    assert (mixed.has <= random.has).all(), "nothing false is said"
    assert (mixed.has | mixed.unknown >= random.has).all()


def test_of_a_table_the_whole_cell_is_blocked_and_one_value_filled_in():
    """Else the other values of the attribute would say which it is."""
    rng = np.random.default_rng(5)
    sex, ill = rng.integers(0, 2, (2, 200))
    has = np.column_stack([sex == 0, sex == 1, ill == 0, ill == 1])
    table = Baskets(("sex=F", "sex=M", "ill=N", "ill=Y"), has, ("sex", "sex", "ill", "ill"))
    rule = Rule.read("sex=F => ill=Y")
    after = block(table, [rule], support=0.1, confidence=0.3)
    assert rule not in certain_rules(after, 0.1, 0.3)
    assert (after.unknown[:, 2] == after.unknown[:, 3]).all()
    assert not after.has[after.unknown[:, 2], 2:].any()
    guessed = fill_blocked(after, "companions")
    assert (guessed.has[:, 2:].sum(axis=1) == 1).all()
    right, _ = filling_accuracy(table, after, guessed)
    assert 0.2 < right < 0.8, "nothing tells them apart"


def test_metrics_count_rules_that_are_sensitive_lost_and_new():
    a, b, c, d = (Rule.read(text) for text in ("a => b", "b => a", "c => a", "a => c"))
    assert side_effects({a, b, c}, {a, c, d}, [a, b]) == (0.5, 0, 1 / 3, 0, 1)
    assert np.isnan(side_effects(set(), set(), [a]).hiding_failure)


BAD = {
    "an unknown item": (dict(rules=[Rule.read("X => A")]), "there is no item 'X'"),
    "no rules": (dict(rules=[]), "must contain at least one rule"),
    "not a rule": (dict(rules=["A => B"]), "must be a Rule"),
    "a support": (dict(support=0), "support must be a share"),
    "a confidence": (dict(confidence=1.2), "confidence must be a share"),
}


@pytest.mark.parametrize(("name", "way"), list(product(BAD, [hide, block])))
def test_bad_input_is_a_clear_error(name, way):
    given, said = BAD[name]
    given = {"rules": [RULE], **AT} | ({"way": "1.b"} if way is hide else {}) | given
    with pytest.raises((ValueError, TypeError), match=said):
        way(SIX, **given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hide(SIX, [RULE], way="3.c", **AT), "way must be one of"),
        (lambda: hide(SIX, [RULE], way="RA", rng="x", **AT), "rng must be"),
        (lambda: hide_exactly(SIX, [RULE], support=2), "support must be"),
        (lambda: hide_exactly(SIX, [RULE], support=0.5, seconds=0), "seconds must be"),
        (lambda: block(SIX, [RULE], zeros=-1, **AT), "zeros must be"),
        (lambda: block(block(SIX, [RULE], **AT), [RULE], **AT), "must not have blocked cells"),
        (lambda: fill_blocked(SIX), "must have blocked cells; got none"),
        (lambda: fill_blocked(block(SIX, [RULE], **AT), "none"), "how must be one of"),
        (lambda: dissimilarity(SIX, Baskets.of([{"A"}])), "must have the same items"),
        (lambda: side_effects([], set(), [RULE]), "before must be"),
    ],
)
def test_other_bad_input_is_a_clear_error(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()
