"""Hierarchies built in a line: what each level groups, worked by hand, and what cannot be built."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.hierarchy import Taxonomy, taxonomies
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError


def numbers(low=0, high=19, step=1):
    return Attribute("age", Role.QUASI_IDENTIFIER, Numbers(low, high, step))


def texts(*values):
    return Attribute("code", Role.QUASI_IDENTIFIER, Categories(values))


def labels(tree, value):
    """All labels of a value, from itself to the root."""
    return next(row for row in tree.rows if row[0] == str(value))


def sizes(tree):
    return tree.levels()["groups"].tolist()


# Widths


def test_widths_are_aligned_at_their_origin():
    assert labels(taxonomies.widths(numbers(17, 99), (5, 10)), 17) == ("17", "15-19", "10-19", "*")
    assert labels(taxonomies.widths(numbers(17, 99), (5, 10), origin=17), 22) == ("22", "22-26", "17-26", "*")
    assert labels(taxonomies.widths(numbers(17, 99), (5, 10), origin=1), 20) == ("20", "16-20", "11-20", "*")
    assert labels(taxonomies.widths(numbers(-7, 9), (5,)), -7) == ("-7", "-10--6", "*")


def test_widths_of_decimals():
    tree = taxonomies.widths(numbers(0, 1, 0.1), (0.2, 0.4))
    assert [labels(tree, value)[1:3] for value in (0, 0.3, 0.7, 1)] == [
        ("0-0.1", "0-0.3"), ("0.2-0.3", "0-0.3"), ("0.6-0.7", "0.4-0.7"), ("1-1.1", "0.8-1.1"),
    ]  # fmt: skip
    assert tree.codes(np.arange(11) / 10).tolist() == list(range(11))


factors = st.lists(st.integers(2, 4), min_size=1, max_size=3)


@given(st.integers(-30, 30), st.integers(5, 90), st.integers(-5, 40), factors)
def test_every_number_lies_in_the_interval_that_its_labels_print(low, steps, origin, factors):
    domain = numbers(low, low + steps)
    widths = np.cumprod(factors).tolist()
    tree = taxonomies.widths(domain, widths, origin)
    for value, *printed in tree.rows:
        for width, label in zip(widths, printed[:-1], strict=True):
            begin = (int(value) - origin) // width * width + origin
            assert label == f"{begin}-{begin + width - 1}"


@pytest.mark.parametrize("widths", [(), (1,), (10, 5), (5, 5), (5, 12), (2.5,), (0,), (-5,)])
def test_widths_that_make_no_tree_are_refused(widths):
    with pytest.raises(SchemaError, match=r"'age': widths must be multiples of the step of 0 to 19.*Remove the widths"):
        taxonomies.widths(numbers(), widths)


def test_an_origin_between_two_values_is_refused():
    with pytest.raises(SchemaError, match=r"the origin 0.5 must be a whole number of steps away from 0 to 19"):
        taxonomies.widths(numbers(), (5,), origin=0.5)


def test_arxs_groups_of_ages_are_built_in_a_line(arx):
    """Its file groups 1 to 100 by 5, 10 and 20 years from 1 on, though it prints 0-4 for 1 to 5."""
    tree = Taxonomy.read(arx / "adult_hierarchy_age.csv", Numbers(1, 100))
    built = taxonomies.widths(numbers(1, 100), (5, 10, 20), origin=1)
    assert tree.leaves == built.leaves
    for one, other in zip(tree.groups, built.groups, strict=True):
        assert (np.diff(one) == 0).tolist() == (np.diff(other) == 0).tolist()


# Cut points


def test_cut_points_begin_an_interval():
    tree = taxonomies.cuts(numbers(), (3, 4, 10), (10,))
    assert sizes(tree) == [20, 4, 2, 1]
    assert [labels(tree, value)[1:3] for value in (2, 3, 4, 9, 10)] == [
        ("0-2", "0-9"), ("3", "0-9"), ("4-9", "0-9"), ("4-9", "0-9"), ("10-19", "10-19"),
    ]  # fmt: skip
    assert labels(taxonomies.cuts(numbers(0, 1, 0.25), (0.5,)), 0.75) == ("0.75", "0.5-1", "*")


@pytest.mark.parametrize("points", [(0,), (20,), (5, 5), (6, 5), (2.5,), (-1, 5)])
def test_points_that_do_not_cut_the_domain_are_refused(points):
    with pytest.raises(SchemaError, match=r"do not divide 0 to 19\. Give increasing numbers of the domain"):
        taxonomies.cuts(numbers(), points)


def test_points_that_are_none_of_the_level_below_are_refused():
    with pytest.raises(SchemaError, match=r"level 2 .* level 1, because '3-9' is a child of both '0-4' and '5-19'"):
        taxonomies.cuts(numbers(), (3, 10), (5,))


# Dates


def test_days_generalize_to_decades():
    tree = taxonomies.dates(texts("2024-02-29", "2020-12-31", "2019-12-31"))
    assert labels(tree, "2024-02-29") == ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020-2029", "*")
    assert labels(tree, "2019-12-31")[4] == "2010-2019"
    assert sizes(tree) == [3, 3, 3, 3, 2, 1]


def test_a_missing_date_stays_apart_if_it_is_named():
    attribute = texts("2024-02-29", "?")
    for apart in ("?", ("?",)):
        assert labels(taxonomies.dates(attribute, apart), "?") == ("?", "?", "?", "?", "?", "*")
    with pytest.raises(SchemaError, match=r"\['\?'\] are not days like 2024-02-29 \(1 in all\)"):
        taxonomies.dates(attribute)
    with pytest.raises(SchemaError, match=r"\['unknown'\] are listed in `apart` but are not in the domain"):
        taxonomies.dates(attribute, "unknown")


@pytest.mark.parametrize("day", ["2023-02-29", "20240229", "29.02.2024", "2024-W09-4", ""])
def test_what_is_no_day(day):
    with pytest.raises(SchemaError, match="are not days like"):
        taxonomies.dates(texts("2024-02-28", day))


# Codes


def test_codes_lose_one_character_a_level():
    tree = taxonomies.prefixes(texts("53711", "53712", "53799", "02139"))
    assert labels(tree, "53711") == ("53711", "5371*", "537**", "53***", "5****", "*")
    assert sizes(tree) == [4, 3, 2, 2, 2, 1]
    assert labels(taxonomies.prefixes(texts("53711", "?"), keep=(3,), apart="?"), "?") == ("?", "?", "*")
    assert taxonomies.prefixes(texts("a", "b")).rows == (("a", "*"), ("b", "*"))


def test_codes_of_different_lengths_are_refused():
    """E11* could mean all below E11, or those of four characters."""
    with pytest.raises(SchemaError, match=r"codes must all have the same length; got \['E11', 'E11\.9'\]"):
        taxonomies.prefixes(texts("E11", "E11.9"))


def test_a_code_that_looks_like_a_group_is_refused():
    with pytest.raises(SchemaError, match=r"the label '5371\*' is used for two different sets"):
        taxonomies.prefixes(texts("53711", "53712", "5371*"))


@pytest.mark.parametrize("keep", [(5,), (0,), (2, 3), (3, 3), (-1,), (4.0, 2), (3.5,)])
def test_keep_must_fall(keep):
    with pytest.raises(SchemaError, match="`keep` must be decreasing whole numbers, below 5 and at least 1"):
        taxonomies.prefixes(texts("53711", "02139"), keep)


# Lists


def test_lists_may_nest_unequally():
    tree = taxonomies.lists(texts(*"abcde"), {"x": {"y": ["a", "b"], "z": {"w": ["c"]}}, "u": ["d", "e"]})
    assert [labels(tree, value) for value in "acd"] == [
        ("a", "y", "y", "x", "*"), ("c", "w", "z", "x", "*"), ("d", "u", "u", "u", "*"),
    ]  # fmt: skip
    assert tree.leaves == tuple("abcde")


def test_numbers_are_listed_as_numbers():
    tree = taxonomies.lists(numbers(), {"child": range(18), "adult": [18, 19.0]})
    assert (labels(tree, 17), labels(tree, 19)) == (("17", "child", "*"), ("19", "adult", "*"))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"x": ["a"]}, r"the groups lack values of the domain: 2, such as \['b', 'c'\]"),
        ({"x": ["a", "b", "c", "d"]}, r"the groups list values that the domain lacks: 1, such as \['d'\]"),
        ({"x": ["a", "b"], "y": ["b", "c"]}, r"holds the leaf \['b'\] more than once"),
        ({}, "the groups lack values of the domain"),
        ({"x": "abc"}, "'abc' is not a group. Write {group"),
        (["a", "b", "c"], "is not a group. Write {group"),
        ({"x": ["a", "b"], "y": {"x": ["c"]}}, "'x' is a child of both 'x' and 'y'. Give the label one parent"),
        ({"x": ["a", "b"], "a": ["c"]}, "the label 'a' is used for two different sets"),
    ],
)
def test_lists_that_do_not_fit_the_domain_are_refused(groups, message):
    with pytest.raises(SchemaError, match=message):
        taxonomies.lists(texts("a", "b", "c"), groups)


# All


BUILT = {
    "widths": taxonomies.widths(numbers(), (5, 10)),
    "cuts": taxonomies.cuts(numbers(), (5, 12), (12,)),
    "dates": taxonomies.dates(texts("2024-02-29", "2020-12-31")),
    "prefixes": taxonomies.prefixes(texts("53711", "02139")),
    "lists": taxonomies.lists(texts("a;b", 'c"', "d"), {"x": ["d", "a;b"], "y": ['c"']}),
}


@pytest.mark.parametrize("tree", BUILT.values(), ids=BUILT)
def test_what_is_built_can_be_kept_in_a_file(tree, tmp_path):
    tree.write(tmp_path / f"{tree.name}.csv")
    assert Taxonomy.read(tmp_path / f"{tree.name}.csv", Categories(tree.leaves)) == tree


@pytest.mark.parametrize(
    ("build", "attribute"),
    [
        (lambda a: taxonomies.widths(a, (5,)), texts("1", "2")),
        (lambda a: taxonomies.cuts(a, (1,)), texts("1", "2")),
        (taxonomies.dates, numbers()),
        (taxonomies.prefixes, numbers()),
        (lambda a: taxonomies.lists(a, {"x": ["a"]}), Attribute("code", Role.IDENTIFIER)),
    ],
)
def test_an_attribute_of_another_kind_is_refused(build, attribute):
    with pytest.raises(SchemaError, match=r"the public domain of '\w+' is .* Generalize numbers by widths"):
        build(attribute)
