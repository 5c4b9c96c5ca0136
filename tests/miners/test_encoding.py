"""Exact and generalized cells in one space: worked by hand, then for tables that nobody chose."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.hierarchy import Intervals, Ordered, Sets, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.miners.encoding import LEAVES, encode

QI = Role.QUASI_IDENTIFIER
JOBS = Taxonomy("job", (("nurse", "care", "*"), ("medic", "care", "*"), ("clerk", "office", "*")))
SCHEMA = Schema(
    "town",
    (
        Attribute("age", QI, Numbers(17, 99)),
        Attribute("job", QI, Categories(("nurse", "medic", "clerk"))),
        Attribute("sex", Role.NEUTRAL, Categories(("Female", "Male"))),
        Attribute("school", QI, Numbers(1, 16)),
        Attribute("diploma", Role.UNUSED, Categories(("none", "one")), form_of="school"),
    ),
)
HIERARCHIES = {"age": Intervals(Numbers(17, 99), (5, 10, 20, 100)), "job": JOBS}
EXACT = pd.DataFrame({"age": [42, 17], "job": ["medic", "clerk"], "sex": ["Male", "Female"]})
RELEASED = pd.DataFrame({"age": ["40-44", "*", "15-19"], "job": ["care", "*", "clerk"], "sex": ["Male", "*", "Female"]})


def encoded(table, like=None):
    return encode(table, ["age", "job", "sex"], SCHEMA, HIERARCHIES, like=like)


def test_features_of_exact_cells_are_ends_and_one_hot():
    expected = [[42, 42, 0, 1, 0, 0, 1], [17, 17, 0, 0, 1, 1, 0]]
    features = encoded(EXACT).features
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, np.float32(expected))


def test_features_of_generalized_cells_are_ends_and_shares():
    third = 1 / 3
    expected = [[40, 44, 0.5, 0.5, 0, 0, 1], [17, 99, third, third, third, 0.5, 0.5], [15, 19, 0, 0, 1, 1, 0]]
    np.testing.assert_array_equal(encoded(RELEASED).features, np.float32(expected))


def test_rare_values_among_many_share_a_column():
    names = [f"p{i:02}" for i in range(60)]
    schema = Schema("ports", (Attribute("port", Role.NEUTRAL, Categories(tuple(names))),))
    learned = pd.DataFrame({"port": [*names, *names[-49:]]})  # the last 49 twice
    features = encode(learned, ["port"], schema, {}).features
    assert features.shape[1] == LEAVES
    assert (features.argmax(axis=1) == [*[49] * 11, *range(49), *range(49)]).all()
    assert (features.max(axis=1) == 1).all()
    assert (features.sum(axis=1) == 1).all()
    asked = pd.DataFrame({"port": ["p59", "p00", "*"]})
    found = encode(asked, ["port"], schema, {}, like=encode(learned, ["port"], schema, {})).features
    assert found.argmax(axis=1).tolist()[:2] == [48, 49], "read as the records that a miner learned from"


def test_labels_are_numbers_or_nominal_values():
    exact, released = encoded(EXACT).labels, encoded(RELEASED).labels
    assert exact["age"].tolist() == [42.0, 17.0]
    assert released["age"].tolist() == ["40-44", "*", "15-19"]
    assert list(released["age"].cat.categories) == ["*", "15-19", "40-44"]


def test_an_exact_cell_is_read_as_the_narrowest_label_that_covers_it():
    labels = encoded(EXACT, like=encoded(RELEASED)).labels
    assert labels["age"].tolist() == ["40-44", "15-19"]
    assert labels["job"].tolist() == ["care", "clerk"]


def test_both_views_read_a_cell_alike():
    """Else a tree that learned from "care" would take an exact nurse for someone outside care."""
    seen = encoded(RELEASED)
    np.testing.assert_array_equal(encoded(EXACT, like=seen).features[0], np.float32([40, 44, 0.5, 0.5, 0, 0, 1]))
    numbers = encoded(RELEASED, like=encoded(EXACT)).features[:, :2]
    np.testing.assert_array_equal(numbers, [[42, 42], [58, 58], [17, 17]])


def test_a_generalized_cell_is_read_as_the_middle_where_training_had_numbers():
    assert encoded(RELEASED, like=encoded(EXACT)).labels["age"].tolist() == [42.0, 58.0, 17.0]


def test_a_generalized_cell_is_read_as_the_commonest_that_it_covers_where_no_label_covers_it():
    seen = encode(pd.DataFrame({"job": ["nurse", "medic", "nurse"]}), ["job"], SCHEMA, HIERARCHIES)
    asked = pd.DataFrame({"job": ["care", "*", "clerk", "medic"]})
    met = encode(asked, ["job"], SCHEMA, HIERARCHIES, like=seen)
    assert met.labels["job"].cat.codes.tolist() == [1, 1, -1, 0]  # nurse, nurse, nothing like it, medic
    np.testing.assert_array_equal(met.features, np.float32([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]))


def test_the_same_label_comes_before_another_of_the_same_cover():
    tree = Taxonomy("job", (("nurse", "care", "*"), ("medic", "care", "*"), ("clerk", "office", "*")))
    seen = encode(pd.DataFrame({"job": ["clerk", "office"]}), ["job"], SCHEMA, {"job": tree})
    again = encode(pd.DataFrame({"job": ["office", "clerk"]}), ["job"], SCHEMA, {"job": tree}, like=seen)
    assert again.labels["job"].tolist() == ["office", "clerk"]


KINDS = {
    "ordered": Ordered("job", ("nurse", "medic", "clerk", "bard")),
    "set": Sets("job", ("nurse", "medic", "clerk", "bard")),
}


def encoded_jobs(kind, jobs, like=None):
    schema = Schema("people", (Attribute("job", QI, Categories(KINDS[kind].values)),))
    return encode(pd.DataFrame({"job": jobs}), ["job"], schema, {"job": KINDS[kind]}, like=like)


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_labels_that_list_values_are_shares(kind):
    features = encoded_jobs(kind, ["nurse|medic", "bard", "*", "medic|clerk|bard"]).features
    third = 1 / 3
    expected = [[0.5, 0.5, 0, 0], [0, 0, 0, 1], [0.25] * 4, [0, third, third, third]]
    np.testing.assert_array_equal(features, np.float32(expected))


def test_a_set_leaves_out_what_stands_between_its_values():
    np.testing.assert_array_equal(encoded_jobs("set", ["nurse|clerk"]).features, np.float32([[0.5, 0, 0.5, 0]]))
    # medic stands between the two and is not covered; the narrowest that covers it is "*".
    seen = encoded_jobs("set", ["nurse|clerk", "*", "nurse|clerk|bard"])
    met = encoded_jobs("set", ["medic", "nurse", "clerk|bard", "nurse|medic"], like=seen)
    assert met.labels["job"].tolist() == ["*", "nurse|clerk", "nurse|clerk|bard", "*"]
    # Where no label covers a set, the most common that lies within it; a run would have held medic.
    seen = encoded_jobs("set", ["medic", "medic", "clerk"])
    met = encoded_jobs("set", ["nurse|clerk", "nurse|bard"], like=seen)
    assert met.labels["job"].cat.codes.tolist() == [0, -1]
    np.testing.assert_array_equal(met.features, np.float32([[0, 0, 1, 0], [0.5, 0, 0, 0.5]]))


def test_records_outside_the_domain_by_noise_meet_the_labels_at_its_ends():
    noisy = pd.DataFrame({"age": [-300.5, 41.7], "job": "clerk", "sex": "Male"})
    assert encoded(noisy, like=encoded(RELEASED)).labels["age"].tolist() == ["15-19", "40-44"]


def test_rows_are_selected_in_both_views():
    whole, some = encoded(RELEASED), encoded(RELEASED)[np.array([False, True, True])]
    assert len(some) == 2
    np.testing.assert_array_equal(some.features, whole.features[1:])
    assert some.labels["job"].tolist() == ["*", "clerk"]


def test_index_labels_and_order_do_not_matter():
    odd = RELEASED.set_index(pd.Index([7, 7, 7]))
    np.testing.assert_array_equal(encoded(odd).features, encoded(RELEASED).features)
    assert encoded(odd).labels["age"].tolist() == RELEASED["age"].tolist()
    np.testing.assert_array_equal(encoded(RELEASED.iloc[::-1]).features, encoded(RELEASED).features[::-1])


def test_equal_records_share_a_row_number():
    assert len(set(encoded(pd.concat([EXACT, EXACT])).row.tolist())) == 2


def test_two_forms_of_one_attribute_are_refused():
    table = pd.DataFrame({"school": [1, 2], "diploma": ["none", "one"]})
    with pytest.raises(SchemaError, match="'diploma' and 'school' are two forms of one attribute"):
        encode(table, ["school", "diploma"], SCHEMA, {})


@pytest.mark.parametrize(
    ("table", "names", "like", "found"),
    [
        (EXACT, [], None, "columns of the table, age, job, sex; got no name"),
        (EXACT, ["age", "school"], None, r"columns of the table, age, job, sex; got \['school'\]"),
        (EXACT, ["zip"], None, "no attribute 'zip'"),
        (EXACT, ["age"], encoded(EXACT), "cannot be encoded like"),
        (EXACT.assign(job="pilot"), ["job"], None, "no label 'pilot'"),
        (RELEASED.assign(age="old"), ["age"], None, "'old' is not an interval"),
    ],
)
def test_bad_columns_and_cells_are_refused(table, names, like, found):
    with pytest.raises(SchemaError, match=found):
        encode(table, names, SCHEMA, HIERARCHIES, like=like)


@given(st.lists(st.tuples(st.integers(17, 99), st.integers(0, 2), st.integers(0, 82), st.integers(0, 2)), min_size=1))
def test_a_generalization_surrounds_what_it_generalizes(records):
    """Low end <= number <= high end; the shares of an attribute add up to 1 and include the exact leaf."""
    exact = pd.DataFrame({"age": [r[0] for r in records], "job": [JOBS.leaves[r[1]] for r in records]})
    ages = HIERARCHIES["age"]
    cells = [
        (ages.label(*sorted((age - 17, other_age))), JOBS.label(*sorted((job, other_job))))
        for age, job, other_age, other_job in records
    ]
    released = pd.DataFrame(cells, columns=["age", "job"])
    before = encode(exact, ["age", "job"], SCHEMA, HIERARCHIES)
    after = encode(released, ["age", "job"], SCHEMA, HIERARCHIES)
    assert (after.features[:, 0] <= before.features[:, 0]).all()
    assert (before.features[:, 1] <= after.features[:, 1]).all()
    np.testing.assert_allclose(after.features[:, 2:].sum(axis=1), 1, rtol=1e-6)
    assert (after.features[:, 2:][before.features[:, 2:] == 1] > 0).all()
    met = encode(exact, ["age", "job"], SCHEMA, HIERARCHIES, like=after)
    assert (met.labels.apply(lambda column: column.cat.codes) >= 0).all(axis=None)
