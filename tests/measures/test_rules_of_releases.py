"""Rules of releases beside the table's: what is undone, and how far off it is."""

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.measures.rules.found_rules import identity_errors, support_error
from privnb.measures.rules.released_items import JointItems, list_released_items
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    MASK,
    PRAM,
    Anatomy,
    GammaDiagonal,
    Identity,
    Mondrian,
    RandomizedResponse,
    Suppress,
)

A, B, C, D = (frozenset(each) for each in "abcd")


def test_support_error_is_over_the_itemsets_found_rightly():
    """The digest's example of sections 10.2.5: true a .5, b .4, c .2; found a .45, b .44, d .21. By hand: 10 %."""
    true, found = {A: 0.5, B: 0.4, C: 0.2}, {A: 0.45, B: 0.44, D: 0.21}
    assert support_error(true, found) == pytest.approx(0.1)
    assert identity_errors(true, found) == pytest.approx((1 / 3, 1 / 3))
    assert np.isnan(support_error(true, {}))
    assert identity_errors(true, {}) == (0, 1)
    assert np.isnan(identity_errors({}, true)).all()
    everybody = {frozenset(): 1.0}
    assert identity_errors(true | everybody, found | everybody) == pytest.approx((1 / 3, 1 / 3))


def table(records, rng):
    """Records of three attributes that go together."""
    one = rng.integers(0, 3, records)
    two = np.where(rng.random(records) < 0.7, one % 2, rng.integers(0, 2, records))
    three = np.where(rng.random(records) < 0.7, two, rng.integers(0, 2, records))
    domains = {"one": ("a", "b", "c"), "two": ("x", "y"), "three": ("p", "q")}
    roles = (Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    attributes = [Attribute(n, r, Categories(v)) for (n, v), r in zip(domains.items(), roles, strict=True)]
    columns = {n: np.array(v)[codes] for (n, v), codes in zip(domains.items(), (one, two, three), strict=True)}
    return Dataset(
        "made-up",
        pd.DataFrame(columns),
        Schema("made-up", tuple(attributes)),
        {a.name: flat(a) for a in attributes[:2]},
    )


@pytest.mark.parametrize(
    "sanitizer",
    [GammaDiagonal(2.0), MASK(6.0), RandomizedResponse(1.5), PRAM(0.6), GammaDiagonal(1.0, attributes="two")],
    ids=repr,
)
def test_noise_of_a_public_law_is_undone(sanitizer):
    """Estimated supports come within their sampling error of the true ones; what is published literally does not."""
    dataset = table(200_000, np.random.default_rng(1))
    release = sanitizer.sanitize(dataset, rng=7)  # not the seed of the table, whose draws would be the noise's
    true = Baskets.of_table(dataset)
    items = list_released_items(dataset, release)
    assert items.items == true.items
    found, literal = itemsets(items, 0.01, most=3), 0.0
    for names, count in itemsets(true, 0.01, most=3).items():
        assert found[names] == pytest.approx(count, abs=0.012 * len(dataset)), names
        if hasattr(items, "seen") and names:
            *prefix, last = true.places(sorted(names))
            literal = max(literal, abs(items.seen.counts(tuple(prefix), np.array([last]))[0] - count))
    if hasattr(items, "seen"):
        assert literal > 0.03 * len(dataset), "the noise is not small"


def test_the_estimate_is_the_inverse_of_the_marginal_of_the_matrix():
    """FRAPP, n = 12, gamma = 19: a three-valued attribute has .733333 on the diagonal and .133333 beside it, a
    six-valued pair .666667 and .066667 (section 10.4.5)."""

    has = np.eye(7, dtype=bool)[[0, 0, 1, 2, 0]][:, :3]
    pair = np.column_stack([has, np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)])
    seen = Baskets(tuple("abcxy"), pair, ("one", "one", "one", "two", "two"))
    items = JointItems(
        seen, 0.6, {"one": 3, "two": 2}
    )  # of twelve combinations, with an attribute that has no item here
    assert items.counts((), np.array([0]))[0] == pytest.approx((3 - 0.133333333 * 5) / (0.733333333 - 0.133333333))
    assert items.counts((0,), np.array([3]))[0] == pytest.approx((2 - 0.066666667 * 5) / (0.666666667 - 0.066666667))


def test_labels_stand_for_each_of_their_values_alike():
    dataset = load(CLINIC)
    true = itemsets(Baskets.of_table(dataset), 0.02)
    assert itemsets(list_released_items(dataset, Identity().sanitize(dataset, rng=1)), 0.02) == true
    items = list_released_items(dataset, Suppress("ward, region").sanitize(dataset, rng=1))
    wards = [place for place, kind in enumerate(items.kinds) if kind == "ward"]
    assert items.counts((), np.array(wards)) == pytest.approx(len(dataset) / len(wards))
    found = itemsets(list_released_items(dataset, Mondrian(KAnonymity(5)).sanitize(dataset, rng=1)), 0.02)
    assert 0 < support_error(true, found) < 1
    assert max(identity_errors(true, found)) > 0


def test_buckets_say_of_nobody_which_value_they_have():
    dataset = load(CLINIC)
    release = Anatomy(2, "diagnosis").sanitize(dataset, rng=1)
    with pytest.raises(Unreadable, match=r"rows of Anatomy.* do not show their 'diagnosis'"):
        list_released_items(dataset, release)


def test_a_law_over_thousands_of_values_is_no_matrix():
    """Two thousand are undone at once; of more, such as days of birth, there would be gigabytes for a minute."""
    for many, fits in ((400, True), (2001, False)):
        values = tuple(f"day {n}" for n in range(many))
        attribute = Attribute("born", Role.QUASI_IDENTIFIER, Categories(values))
        table = pd.DataFrame({"born": np.random.default_rng(3).choice(values, 50)})
        dataset = Dataset("born", table, Schema("born", (attribute,)), {"born": flat(attribute)})
        release = RandomizedResponse(9.0).sanitize(dataset, rng=2)
        if fits:
            weights = list_released_items(dataset, release).weights
            matrix = release.columns["born"].law.transition(many)
            codes = attribute.domain.codes(release.cells["born"])
            assert weights @ np.ones(50) == pytest.approx(np.linalg.solve(matrix.T, np.bincount(codes, minlength=many)))
        else:
            with pytest.raises(Unreadable, match="'born' has 2,001 possible values; at most 2,000"):
                list_released_items(dataset, release)
