"""What tables tell of their attributes: plain definitions on listed rows, identities, and the user's knowledge."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.measures.utility.attribute_utility import (
    average_utility,
    conditional_entropy,
    joint_entropy,
    largest_utility,
    utility,
)
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.tables import Tables

DOMAINS = {"age": ("20", "30", "40", "50"), "sex": ("F", "M"), "disease": ("Cold", "Flu")}
PAIRS = Taxonomy("age", (("20", "20-30", "*"), ("30", "20-30", "*"), ("40", "40-50", "*"), ("50", "40-50", "*")))
NAMES = list(DOMAINS)


@pytest.fixture(scope="module")
def tables():
    return Tables.every(DOMAINS, records=3)


def plain_uncertainty(rows, name, given):
    """H(A | B): mean over groups alike in B of the entropy of A inside them."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[NAMES.index(g)] for g in given), []).append(row[NAMES.index(name)])
    return sum(
        -count / len(rows) * math.log2(count / len(values))
        for values in groups.values()
        for count in Counter(values).values()
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [("age", ()), ("age", ("sex",)), ("disease", ("age", "sex")), ("sex", ("disease",))],
)
def test_by_plain_definition(tables, name, given):
    found = conditional_entropy(tables, name, *given)
    assert found.tolist() == pytest.approx(
        [plain_uncertainty(tables[i], name, given) for i in range(len(tables))], abs=1e-12
    )
    np.testing.assert_allclose(utility(tables, name, *given), math.log2(len(DOMAINS[name])) - found)


def test_a_utility_gain_is_mutual_information(tables):
    """Eq. 10 and 12, by the entropies of I(A; B) and I(A; C | B)."""

    def h(*names):
        return joint_entropy(tables, *names)

    np.testing.assert_allclose(
        utility(tables, "age", "sex") - utility(tables, "age"), h("age") + h("sex") - h("age", "sex"), atol=1e-12
    )
    np.testing.assert_allclose(
        utility(tables, "age", "sex", "disease") - utility(tables, "age", "sex"),
        h("age", "sex") + h("sex", "disease") - h("sex") - h(*NAMES),
        atol=1e-12,
    )


def test_more_attributes_never_tell_less(tables):
    alone, with_one, with_all = utility(tables, "age"), utility(tables, "age", "sex"), largest_utility(tables, "age")
    assert (alone <= with_one + 1e-12).all()
    assert (with_one <= with_all + 1e-12).all()
    assert (with_all <= 2 + 1e-12).all()


def test_the_average_is_weighted_by_interest(tables):
    each = {name: largest_utility(tables, name) for name in DOMAINS}
    np.testing.assert_allclose(average_utility(tables), sum(each.values()) / 3)
    np.testing.assert_allclose(
        average_utility(tables, {"age": 0.75, "sex": 0.25}), 0.75 * each["age"] + 0.25 * each["sex"]
    )
    for wrong in ({"age": 0.5}, {"age": 0.5, "zip": 0.5}):
        with pytest.raises(ValueError, match="`weights` must add up to 1 over the attributes"):
            average_utility(tables, wrong)


def test_what_is_suppressed_has_no_utility():
    """H_max is of what a cell can say; with the original domain a suppressed attribute would have the most."""
    table = Tables.of(pd.DataFrame({"age": ["20", "30", "40", "50"]}), {"age": DOMAINS["age"]})
    suppressed = table.generalized((PAIRS,), (2,))
    assert [*average_utility(table), *average_utility(suppressed)] == pytest.approx([0, 0], abs=1e-12)
    assert average_utility(replace(suppressed, domains=table.domains)) == pytest.approx([2])


@pytest.mark.parametrize(
    ("uneven", "original_domain", "gaining"),
    [(False, True, 130), (False, False, 0), (True, False, 10)],
)
def test_how_many_tables_look_more_useful_generalized(uneven, original_domain, gaining):
    """None by the labels' domain, if all groups are of one size."""
    tree = Taxonomy("age", tuple((age, "50" if age == "50" else "20-40", "*") for age in DOMAINS["age"]))
    tables = Tables.every({name: DOMAINS[name] for name in ("age", "disease")}, records=4)
    after = tables.generalized((tree if uneven else PAIRS,), (1,))
    after = replace(after, domains=tables.domains) if original_domain else after
    assert len(tables) == 330
    assert (average_utility(after) > average_utility(tables) + 1e-9).sum() == gaining


def test_a_table_of_many_attributes():
    """So many that a product of their domains is beyond 64 bits."""
    wide = pd.DataFrame({f"a{i}": np.random.default_rng(i).integers(0, 100, 60) for i in range(12)})
    table = Tables.of(wide)
    assert len(table.kinds) == 60
    assert joint_entropy(table, *wide)[0] == pytest.approx(math.log2(60))
    assert conditional_entropy(table, "a3", "a0", "a1", "a2")[0] == pytest.approx(0, abs=0.2)


def test_a_users_knowledge_is_taken_off(tables):
    even = replace(tables, counts=np.ones((1, len(tables.kinds)), dtype=np.int64))
    np.testing.assert_allclose(average_utility(tables, user=even), average_utility(tables), atol=1e-12)
    knows_it_all = replace(tables, counts=tables.counts[[7]])
    assert average_utility(tables, user=knows_it_all)[7] == pytest.approx(0, abs=1e-12)
    shares = replace(even, counts=np.random.default_rng(0).dirichlet(np.ones(16))[None])
    background = sum(math.log2(len(DOMAINS[name])) - conditional_entropy(
        shares, name, *(other for other in NAMES if other != name))[0] for name in NAMES) / 3  # fmt: skip
    np.testing.assert_allclose(average_utility(tables, user=shares), average_utility(tables) - background)
    with pytest.raises(ValueError, match="`user` must be one joint distribution"):
        average_utility(tables, user=tables)
    with pytest.raises(ValueError, match="`user` must be one joint distribution"):
        average_utility(tables, user=even.generalized((PAIRS,), (1,)))
