"""Trees of which no node tells of few people."""

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.microdata.hierarchy import Ranges
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Numbers, Role, Schema
from privnb.miners.anonymous_tree import anonymous_tree


@pytest.fixture(scope="module")
def tuples():
    return load("hypertension")


def counts(nodes):
    return {tuple(node.counts.tolist()) for node in nodes}


def test_the_printed_tree_of_eleven(tuples):
    """Figures 5.19 and 5.20: been married men 29 (24 Y, 5 N), women 11 (2 Y, 9 N), single men 26 (6 Y, 20 N)."""
    printed = {(24, 5), (2, 9), (6, 20)}
    tree = anonymous_tree(tuples, "hypertension", 11, attributes=["marital-status", "sex"])
    assert counts(tree.root.leaves) - {(0, 0)} == printed
    assert [(cells["marital-status"], cells["sex"]) for cells, _ in tree.describe_leaves()] == [
        ("been married", "F"), ("been married", "M"), ("single", "*")
    ]  # fmt: skip
    assert printed <= counts(anonymous_tree(tuples, "hypertension", 11).root.nodes), "with hours 29 is split again"


def test_without_a_bound_two_women_are_told(tuples):
    """Section 5.4.2: a leaf of two women, which a tree of three has not (figure 5.16)."""
    free = anonymous_tree(tuples, "hypertension", 1)
    assert min(node.people for node in free.root.leaves if node.people) == 2
    for k in (2, 3, 5, 11, 20, 66):
        tree = anonymous_tree(tuples, "hypertension", k)
        assert min(node.people for node in tree.root.nodes if node.people) >= k
        assert tree.root.counts.tolist() == [32, 34]
        assert sum(node.people for node in tree.root.leaves) == 66


@pytest.mark.parametrize(("name", "target"), [(CLINIC, "diagnosis"), ("adult", "salary")])
def test_each_leaf_has_k_people_or_nobody_and_guesses_its_commonest_class(name, target):
    dataset = load(name, records=300)
    whole = (dataset.table[target] == dataset.table[target].mode()[0]).mean()
    before = 0
    for k in (100, 10, 1):
        tree = anonymous_tree(dataset, target, k)
        people = np.array([node.people for node in tree.root.leaves])
        assert ((people >= k) | (people == 0)).all()
        right = (tree.predict(dataset) == dataset.table[target].astype(str)).mean()
        assert right >= max(before, whole) - 0.05
        best = sum(node.counts.max() for node in tree.root.leaves if node.people)
        assert right == pytest.approx(best / len(dataset))
        before = right


def test_it_guesses_others(tuples):
    tree = anonymous_tree(tuples, "hypertension", 2)
    assert set(tree.predict(tuples)) == {"Y", "N"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("hypertension", 0), "k must be a whole number of at least 1"),
        (("hypertension", 67), "`k` must be at most the number of records, 66"),
        (("sex", 2), "'sex' is a quasi-identifier"),
        (("illness", 2), "illness"),
        ((3, 2), "target must be"),
    ],
)
def test_bad_input_is_a_clear_error(tuples, given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        anonymous_tree(tuples, *given)
    with pytest.raises(ValueError, match=r"must be quasi-identifiers of .*; got age"):
        anonymous_tree(tuples, "hypertension", 2, attributes=["age"])


def test_a_table_of_people_with_several_records_has_no_tree(tmp_path):
    from support import person_key

    dataset = load(person_key.drafted(tmp_path, 60))
    with pytest.raises(NotForThisTable, match="several records"):
        anonymous_tree(dataset, dataset.schema.sensitive[0], 2)


def test_a_number_of_a_hundred_million_steps_is_cut_like_one_of_few():
    """A label of numbers is a range of positions, of which there may be billions."""
    draw = np.random.default_rng(3)
    number, noise, trees = draw.integers(0, 40, 300), draw.normal(0, 6, 300), []
    for times, high in ((1, 40), (25_000_000, 10**9)):
        domain = Numbers(0, high, 1)
        table = pd.DataFrame({"n": number * times, "ill": np.where(number + noise > 20, "yes", "no")})
        known = Attribute("n", Role.QUASI_IDENTIFIER, domain)
        secret = Attribute("ill", Role.SENSITIVE, Categories(("no", "yes")))
        data = Dataset("wide", table, Schema("wide", (known, secret)), {"n": Ranges(domain)})
        trees.append(anonymous_tree(data, "ill", 10))
        assert np.mean(trees[-1].predict(data) == table.ill) > 0.8
    few, many = ([leaf.counts.tolist() for leaf in tree.root.leaves] for tree in trees)
    assert few == many
    assert len(few) > 2
