import csv

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.microdata.hierarchy import Intervals, Ordered, RangedIntervals, Ranges, Sets, Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError

COLOURS = (
    ("red", "warm", "*"),
    ("blue", "cold", "*"),
    ("yellow", "warm", "*"),
    ("grey", "grey", "*"),
)


@st.composite
def taxonomies(draw):
    """A random tree over 1 to 12 leaves: each level merges neighbours or not; the rows in any order."""
    height = draw(st.integers(0, 3))
    nodes = [[i] for i in range(draw(st.integers(1, 12)))]
    levels = [nodes]
    for _ in range(height):
        merged = []
        for node in levels[-1]:
            if merged and draw(st.booleans()):
                merged[-1] = merged[-1] + node
            else:
                merged.append(node)
        levels.append(merged)
    label = {tuple(node): f"{node[0]}..{node[-1]}" for level in levels for node in level}
    rows = [(*(label[tuple(n)] for level in levels for n in level if leaf[0] in n), "*") for leaf in nodes]
    return Taxonomy("random", tuple(draw(st.permutations(rows))))


def leaves_under(tree, label):
    """The leaves of a label, from the rows alone."""
    return {row[0] for row in tree.rows if label in row}


# Taxonomies


@given(taxonomies(), st.data())
def test_a_taxonomys_label_covers_its_values_and_nothing_smaller_does(tree, data):
    ends = data.draw(st.lists(st.integers(0, len(tree.leaves) - 1), min_size=2, max_size=2))
    low, high = min(ends), max(ends)
    held = set(tree.leaves[low : high + 1])
    label = tree.label(low, high)
    smallest = min(
        len(leaves_under(tree, other)) for row in tree.rows for other in row if held <= leaves_under(tree, other)
    )
    assert held <= leaves_under(tree, label)
    assert len(leaves_under(tree, label)) == smallest


@given(taxonomies())
def test_every_node_is_a_run_of_neighbouring_leaves(tree):
    for row in tree.rows:
        for label in row:
            positions = tree.covered(label)
            assert (np.diff(positions) == 1).all()
            assert {tree.leaves[position] for position in positions} == leaves_under(tree, label)
            assert tree.width(label) == (len(positions) - 1) / max(len(tree.leaves) - 1, 1)


@given(taxonomies(), st.data())
def test_levels_of_a_taxonomy(tree, data):
    low, high = (data.draw(st.integers(0, len(tree.leaves) - 1)) for _ in range(2))
    level = tree.level(low, high)
    assert tree.rows[low][level] == tree.rows[high][level]
    assert level == 0 or tree.rows[low][level - 1] != tree.rows[high][level - 1]
    denominator, groups = tree.extent()
    assert denominator == tree.height == len(tree.rows[0]) - 1
    assert np.argmax(groups[:, low] == groups[:, high]) == level


def test_values_generalize_level_by_level():
    tree = Taxonomy("colour", COLOURS)
    assert tree.leaves == ("red", "yellow", "blue", "grey")  # depth first, in the order of the file
    values = ["blue", "red", "blue"]
    assert tree.codes(values).tolist() == [2, 0, 2]
    assert [tree.generalize(values, level) for level in range(3)] == [values, ["cold", "warm", "cold"], ["*"] * 3]
    assert tree.label(2, 2) == "blue"
    assert tree.covered("grey").tolist() == [3]


def test_a_tree_over_numbers():
    tree = Taxonomy("age", (("9", "9-10", "*"), ("10", "9-10", "*"), ("11", "11", "*")))
    assert (
        tree.codes([9, 11]).tolist() == tree.codes([9.0, 11.0]).tolist() == tree.codes(["9", "11"]).tolist() == [0, 2]
    )
    assert tree.bounds("9-10") == (9.0, 10.0)
    assert tree.bounds("*") == (9.0, 11.0)


def test_cells_of_an_exact_release_are_covered():
    tree = Taxonomy("age", (("9", "*"), ("10", "*")))
    assert [tree.covered(cell).tolist() for cell in (10, 10.0, np.int64(10))] == [[1]] * 3


def test_values_of_different_types():
    values = np.array([9, "10", "9"], dtype=object)
    assert Taxonomy("age", (("9", "*"), ("10", "*"))).codes(values).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "has no rows.*leaf;level 1"),
        ((("a", "*"), ("b", "x", "*")), r"ragged: leaf 'a' has 2 levels, and other leaves have 3"),
        ((("*",),), r"no level above its leaves. Write 'leaf;\*'"),
        ((("a", "*"), ("b", "*"), ("a", "*")), r"holds the leaf \['a'\] more than once"),
        ((("a", "x"), ("b", "x")), r"leaf 'a' ends in 'x', not in '\*'"),
        (
            (("40", "40-44", "40-49", "*"), ("41", "40-44", "40-59", "*")),
            "level 2 does not coarsen level 1, because '40-44' is a child of both '40-49' and '40-59'",
        ),
        ((("a", "b", "*"), ("b", "c", "*")), "the label 'b' is used for two different sets of leaves"),
        ((("*", "*"), ("b", "*")), r"the label '\*' is used for two different sets of leaves"),
    ],
)
def test_a_tree_that_is_none_is_refused(rows, message):
    with pytest.raises(SchemaError, match=f"hierarchy 'x'.*{message}"):
        Taxonomy("x", rows)


def test_what_a_tree_does_not_hold():
    tree = Taxonomy("colour", COLOURS)
    with pytest.raises(SchemaError, match="'colour' has no label 'green'"):
        tree.covered("green")


def test_a_value_that_a_tree_does_not_hold_is_named_with_its_count():
    with pytest.raises(SchemaError, match=r"'colour' lacks 2 values: 'green' \(2\), 'pink' \(1\)"):
        Taxonomy("colour", COLOURS).codes(["red", "green", "green", "pink"])


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1), min_size=1, max_size=5, unique=True
    )
)
def test_files_keep_every_label(tmp_path_factory, labels):
    labels = [label for label in labels if label != "*"] or ["a;b"]
    tree = Taxonomy("odd", tuple((label, f"[{label}]", "*") for label in labels))
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    tree.write(path)
    assert Taxonomy.read(path, Categories(tuple(labels))) == tree


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_written_as_it_was_read(tmp_path):
    """Its order is kept, though the leaves of one group do not stand together: the tree has an order of its own."""
    path = write(tmp_path / "job.csv", 'nurse;care;*\nclerk;office;*\n"a;b";office;*\nmedic;care;*\n')
    tree = Taxonomy.read(path, Categories(("nurse", "medic", "clerk", "a;b")))
    assert tree.leaves == ("nurse", "medic", "clerk", "a;b")
    tree.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_the_levels_of_a_tree_are_shown():
    levels = Taxonomy("colour", COLOURS).levels()
    assert list(levels) == ["level", "groups", "largest", "examples"]
    assert levels.to_numpy().tolist() == [
        [0, 4, 1, "red, yellow, blue, ..."], [1, 3, 2, "warm, cold, grey"], [2, 1, 4, "*"],
    ]  # fmt: skip


def test_bounds_of_numbers_that_stand_in_no_order():
    tree = Taxonomy("n", (("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*")))
    assert [tree.bounds(label) for label in ("odd", "even", "*")] == [(1, 3), (2, 2), (1, 3)]


def test_a_file_may_hold_more_leaves_than_the_domain(tmp_path):
    path = write(tmp_path / "age.csv", "1;1-2;*\n2;1-2;*\n3;3-4;*\n4;3-4;*\n")
    assert Taxonomy.read(path, Numbers(2, 3)).rows == (("2", "1-2", "*"), ("3", "3-4", "*"))


def test_a_file_without_a_leaf_of_the_domain(tmp_path):
    path = write(tmp_path / "age.csv", "1;*\n2;*\n")
    with pytest.raises(SchemaError, match=r"age\.csv: the leaves \['3', '4', '5'\] are missing \(7 in all\)"):
        Taxonomy.read(path, Numbers(1, 9))


def test_a_file_with_a_byte_order_mark(tmp_path):
    path = write(tmp_path / "sex.csv", "\ufeffF;*\nM;*\n")
    assert Taxonomy.read(path, Categories(("F", "M"))).leaves == ("F", "M")


def test_hierarchies_of_arx_are_read_as_they_are(arx, tmp_path):
    heights = {}
    for attribute in load("adult", "sramka-taxonomy", records=2).schema.attributes:
        file = arx / f"adult_hierarchy_{'salary-class' if attribute.name == 'salary' else attribute.name}.csv"
        tree = Taxonomy.read(file, attribute.domain)
        heights[attribute.name] = tree.height
        assert len(tree.leaves) == len(range(17, 100) if attribute.numeric else attribute.domain.values)
        tree.write(tmp_path / "again.csv")
        assert set((tmp_path / "again.csv").read_text().splitlines()) <= set(file.read_text().splitlines())
    assert heights == {
        "age": 4, "workclass": 2, "education": 3, "marital-status": 2, "occupation": 2, "race": 1, "sex": 1,
        "native-country": 2, "salary": 1,
    }  # fmt: skip


def test_hierarchies_of_arx_are_written_as_they_are(arx, tmp_path):
    files = sorted(arx.glob("*.csv"))
    assert len(files) == 9
    for file in files:
        given = file.read_bytes()
        domain = Categories(tuple(line.partition(";")[0] for line in given.decode().splitlines()))
        Taxonomy.read(file, domain).write(tmp_path / "again.csv")
        # One of the nine does not end its last line.
        assert (tmp_path / "again.csv").read_bytes() == given + b"\n" * (not given.endswith(b"\n")), file.name


# Ordered categories and sets

GRADES = Ordered("education", ("9th", "10th", "11th", "12th"))
RACE = Sets("race", ("White", "Black", "Asian", "Other"))
lines = st.integers(1, 6).map(lambda n: tuple("abcdef"[:n]))


@given(lines, st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_an_ordered_label_is_the_run_of_its_values(values, codes):
    codes = [code % len(values) for code in codes]
    line = Ordered("x", values)
    (label,) = line.labels(codes, [0] * len(codes))
    run = list(range(min(codes), max(codes) + 1))
    assert label == ("*" if len(run) == len(values) > 1 else "|".join(values[position] for position in run))
    assert line.covered(label).tolist() == run
    assert line.width(label) == (len(run) - 1) / max(len(values) - 1, 1)
    assert line.extent() == (len(values) - 1, None)


@given(lines, st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_a_sets_label_is_the_values_that_occur(values, codes):
    codes = [code % len(values) for code in codes]
    kind = Sets("x", values)
    (label,) = kind.labels(codes, [0] * len(codes))
    held = sorted(set(codes))
    assert label == ("*" if len(held) == len(values) > 1 else "|".join(values[position] for position in held))
    assert kind.covered(label).tolist() == held
    assert kind.width(label) == (len(held) - 1) / max(len(values) - 1, 1)


def test_values_of_a_set_are_equal_or_different():
    denominator, groups = RACE.extent()
    assert (denominator, groups.tolist()) == (1, [[0, 1, 2, 3], [0, 0, 0, 0]])


def test_one_value_is_itself_and_all_are_suppressed():
    assert RACE.labels([1, 1, 0, 1, 2, 3, 2], [0, 0, 1, 1, 1, 1, 2]).tolist() == ["Black", "*", "Asian"]
    assert [GRADES.label(1, 1), GRADES.label(0, 3)] == ["10th", "*"]
    assert Sets("x", ("only",)).labels([0], [0]).tolist() == [Ordered("x", ("only",)).label(0, 0)] == ["only"]
    assert [RACE.width(label) for label in ("Black", "White|Other", "*")] == [0, 1 / 3, 1]
    assert Sets("x", ("only",)).width("*") == 0


@pytest.mark.parametrize("label", ["", "green", "White|green", "Black|White", "White|White", "White|"])
def test_a_label_that_no_class_can_have_is_refused(label):
    for kind in (RACE, Ordered("race", RACE.values)):
        with pytest.raises(SchemaError, match="hierarchy 'race' has no label"):
            kind.covered(label)
    with pytest.raises(SchemaError, match=r"hierarchy 'education' has no label '9th\|11th'"):
        GRADES.covered("9th|11th")  # no run


@pytest.mark.parametrize("kind", [Ordered, Sets])
def test_values_that_a_list_would_confuse_are_refused(kind):
    for value in ("a|b", "*"):
        with pytest.raises(SchemaError, match=r"'x': the value .* join values by '\|'.*Rename the value in the domain"):
            kind("x", ("c", value))
    with pytest.raises(SchemaError, match="at least one value, and no value twice"):
        kind("x", ("a", "a"))


def test_sets_of_more_values_than_a_word_has_bits():
    """150 values need three words; classes that differ in the last one alone must not be taken for one."""
    values = tuple(f"v{i}" for i in range(150))
    codes, classes = [0, 149, 0, 148, 64, 63, 0, 149], [0, 0, 1, 1, 2, 2, 3, 3]
    assert Sets("x", values).labels(codes, classes).tolist() == ["v0|v149", "v0|v148", "v63|v64", "v0|v149"]
    assert Sets("x", values).labels([*range(150)], [0] * 150).tolist() == ["*"]


# Labels of classes

KINDS = {
    "taxonomy": Taxonomy("colour", COLOURS),
    "ordered": GRADES,
    "range": Ranges(Numbers(0, 3)),
    "halves": Ranges(Numbers(-1, 0.5, 0.5)),
    "intervals": Intervals(Numbers(10, 13), (2, 4, 100)),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20))
def test_labels_of_classes_are_those_of_their_ends(kind, records):
    codes = np.array([code for code, _ in records])
    classes = np.unique([number for _, number in records], return_inverse=True)[1]
    labels = kind.labels(codes, classes)
    members = [codes[classes == number] for number in range(classes.max() + 1)]
    assert labels.dtype == object
    assert labels.tolist() == [kind.label(some.min(), some.max()) for some in members]
    assert all(set(some) <= set(kind.covered(label)) for some, label in zip(members, labels, strict=True))


@pytest.mark.parametrize("kind", [*KINDS.values(), RACE], ids=[*KINDS, "set"])
def test_a_class_without_a_record_is_refused(kind):
    with pytest.raises(ValueError, match="class 1 of 3 has no record"):
        kind.labels([0, 1], [0, 2])
    assert kind.labels([], []).tolist() == []


@pytest.mark.parametrize(
    "kind", [Taxonomy("colour", COLOURS), Ordered("c", ("red", "blue")), Sets("c", ("red", "blue"))]
)
def test_codes_of_a_categorical_are_those_of_its_values(kind):
    values = pd.Series(["blue", "red", "blue"])
    category = values.astype(pd.CategoricalDtype(["pink", "red", "blue"]))  # pink is listed and does not occur
    expected = [kind.leaves.index(value) for value in values]
    for column in (category, category.array, values, values.to_numpy(dtype=object), values.tolist()):
        codes = kind.codes(column)
        assert (codes.dtype, codes.tolist()) == (np.int64, expected)
    for column in (category.where(values == "red"), values.where(values == "red")):
        with pytest.raises(SchemaError, match=r"lacks 1 values: 'missing' \(2\)"):
            kind.codes(column)


def test_codes_of_numbers_in_any_form():
    ages = Ranges(Numbers(17, 99))
    for column in ([20, 17], ["20", "17"], [20.0, 17.0], pd.Series([20, 17]).astype("category")):
        assert ages.codes(column).tolist() == [3, 0]
    with pytest.raises(SchemaError, match=r"2 numbers lie outside 17 to 99: 'missing' \(1\), 16.5 \(1\)"):
        ages.codes([np.nan, 20, 16.5])


def test_sums_of_decimals_are_found():
    assert Taxonomy("x", (("0.3", "*"), ("1", "*"))).codes([0.1 + 0.2, 1.0]).tolist() == [0, 1]


# Numbers

domains = st.builds(
    lambda low, steps, step: Numbers(low, low + step * steps, step),
    st.integers(-60, 60),
    st.integers(1, 120),
    st.sampled_from([1, 2]),
)
two = st.tuples(st.floats(0, 1), st.floats(0, 1))


def between(domain, two):
    """Two positions in a domain, the lower first."""
    return sorted(round(share * int(domain.codes(domain.high))) for share in two)


@given(domains, two)
def test_ranges_cover_exactly(domain, two):
    low, high = between(domain, two)
    ranges = Ranges(domain)
    label = ranges.label(low, high)
    assert ranges.covered(label).tolist() == list(range(low, high + 1))
    assert ranges.width(label) == pytest.approx((domain.value(high) - domain.value(low)) / domain.width)
    assert ranges.bounds(label) == (domain.value(low), domain.value(high))
    assert ranges.covered("*").tolist() == list(range(domain.codes(domain.high) + 1))
    assert ranges.width("*") == 1
    assert ranges.extent() == (domain.codes(domain.high), None)


@given(st.integers(-5, 5), st.integers(1, 100), st.sampled_from([0.5, 0.1, 0.2, 0.01]), two)
def test_ranges_of_decimals_cover_exactly(low, steps, step, two):
    domain = Numbers(low, low + step * steps, step)
    low, high = between(domain, two)
    assert Ranges(domain).covered(Ranges(domain).label(low, high)).tolist() == list(range(low, high + 1))


widths = st.lists(st.sampled_from([2, 5, 10, 20, 50, 100, 7]), unique=True).map(lambda some: (*sorted(some), 1000))


@given(st.integers(0, 100), st.integers(1, 150), widths, two)
def test_intervals_are_the_smallest_that_hold_all(low, steps, widths, two):
    domain = Numbers(low, low + steps)
    first, last = between(domain, two)
    intervals = Intervals(domain, widths)
    label = intervals.label(first, last)
    start, end = (int(part) for part in label.split("-"))
    width = end - start + 1
    assert width in widths
    assert start % width == 0
    assert start <= low + first <= low + last <= end
    for narrower in widths[: widths.index(width)]:
        assert (low + first) // narrower != (low + last) // narrower
    first, last = max(start - low, 0), min(end - low, steps)
    assert intervals.covered(label).tolist() == list(range(first, last + 1))
    assert intervals.width(label) == (last - first) / steps


def test_sramkas_intervals_do_not_nest():
    """Sramka et al. 2010, section 4.2: 5, 10, 20, 50 and 100 years; 40-59 lies in neither 0-49 nor 50-99."""
    ages = Intervals(Numbers(17, 99), (5, 10, 20, 50, 100))
    label = {
        pair: ages.label(pair[0] - 17, pair[1] - 17) for pair in [(42, 58), (42, 48), (38, 42), (42, 62), (17, 99)]
    }
    assert label == {
        (42, 58): "40-59", (42, 48): "40-49", (38, 42): "0-49", (42, 62): "0-99", (17, 99): "0-99",
    }  # fmt: skip
    covered = [ages.covered(text)[[0, -1]].tolist() for text in ("40-59", "0-49", "50-99")]
    assert covered == [[23, 42], [0, 32], [33, 82]]
    denominator, groups = ages.extent()
    assert (denominator, groups.shape) == (4, (5, 83))
    rows = [(str(a), *(f"{a // w * w}-{a // w * w + w - 1}" for w in (10, 20, 50)), "*") for a in range(17, 100)]
    with pytest.raises(SchemaError, match=r"level 3 .* level 2, because '40-59' is a child of both '0-49' and '50-99'"):
        Taxonomy("age", tuple(rows))


def test_intervals_as_far_apart_as_numbers():
    ages = RangedIntervals(Numbers(17, 99), (5, 100))
    assert ages.label(23, 24) == "40-44"
    assert ages.extent() == (82, None)


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((10, 5), "increasing whole numbers"),
        ((5, 5), "increasing whole numbers"),
        ((0, 100), "increasing whole numbers"),
        ((2.5, 100), "increasing whole numbers"),
        ((5, 50), r"no interval of widths \(5, 50\) holds the whole domain 17 to 99"),
        pytest.param((), "increasing whole numbers"),
    ],
)
def test_intervals_that_cannot_be_are_refused(widths, message):
    with pytest.raises(SchemaError, match=message):
        Intervals(Numbers(17, 99), widths)


def test_intervals_are_for_whole_numbers():
    """9.5 lies in no interval that is printed 5-9."""
    with pytest.raises(SchemaError, match=r"whole numbers.*Use 'range'"):
        Intervals(Numbers(0, 20, 0.5), (5, 100))


def test_what_is_no_interval():
    for label in ("", "young", "1-2-3", "--"):
        with pytest.raises(SchemaError, match="is not an interval of numbers"):
            Ranges(Numbers(0, 9)).covered(label)


def test_a_label_beyond_the_domain_covers_nothing():
    for label in ("150", "0-9", "100-149"):
        with pytest.raises(SchemaError, match="does not cover any value"):
            Intervals(Numbers(17, 99), (5, 100)).covered(label)


def test_a_number_beyond_the_domain_has_no_position():
    with pytest.raises(SchemaError, match=r"outside .*: 16 \(2\)"):
        Ranges(Numbers(17, 99)).codes([16, 16, 17])


def test_without_a_hierarchy():
    assert flat(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99))) == Ranges(Numbers(17, 99))
    tree = flat(Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))))
    assert tree.rows == (("F", "*"), ("M", "*"))


def test_small_numbers_are_written_without_an_exponent():
    fine = Ranges(Numbers(0, 1, 1e-5))
    assert fine.label(1, 2) == "0.00001-0.00002"
    assert fine.covered("0.00001-0.00002").tolist() == [1, 2]


@pytest.mark.parametrize(
    ("label", "ends"), [("9e-05", (9e-05, 9e-05)), ("1e-05-2", (1e-05, 2)), ("-1.5--0.5", (-1.5, -0.5))]
)
def test_the_label_of_a_small_number_is_read_as_it_is_written(label, ends):
    assert Ranges(Numbers(-5, 5, 1e-05)).bounds(label) == ends


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;x;Any\nb;y;Any\n", (("a", "x", "*"), ("b", "y", "*"))),
        ("a;Any;Any\nb;Any;Any\n", (("a", "Any", "*"), ("b", "Any", "*"))),
        ("a;x\nb;x\nc;y\n", (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"))),
    ],
    ids=["one label", "one label twice", "several labels"],
)
def test_a_file_of_arx_may_have_any_label_at_the_top(tmp_path, text, rows):
    path = write(tmp_path / "town.csv", text)
    assert Taxonomy.read(path, Categories(tuple(row[0] for row in rows))).rows == rows


@pytest.mark.parametrize("separator", [",", "\t", "|"])
@pytest.mark.parametrize(
    "text", ["a;x;*\nb;x;*\n", "a;x;all\nb;x;all\n", "a;low\nb;high\n", '"a";"x";"*"\n"b";"x";"*"\n']
)
def test_another_separator_than_semicolons_is_named(tmp_path, separator, text):
    path = write(tmp_path / "town.csv", text.replace(";", separator))
    with pytest.raises(SchemaError, match=r"town\.csv must have semicolons between the levels of a hierarchy"):
        Taxonomy.read(path, Categories(("a", "b")))


@pytest.mark.parametrize(
    "text",
    [
        "value;level1\na;x\nb;y\n",
        "value;Level 1;Level 2\na;x;*\nb;x;*\n",
        "value;level_1;level_2\na;x;all\nb;x;all\n",
        "town;part;country\na;x;*\nb;x;*\n",
        "town;part;country\na;x;all\nb;x;all\n",
    ],
)
def test_a_header_is_named(tmp_path, text):
    path = write(tmp_path / "town.csv", text)
    with pytest.raises(SchemaError, match=rf"town\.csv must have no header.* got '{text.splitlines()[0]}' as"):
        Taxonomy.read(path, Categories(("a", "b")))


def test_a_first_leaf_that_does_not_occur_is_no_header(tmp_path):
    path = write(tmp_path / "town.csv", "z;y;Asia\na;x;Europe\nb;x;Europe\nc;v;Africa\n")
    assert Taxonomy.read(path, Categories(("a", "b", "c"))).leaves == ("a", "b", "c")


@pytest.mark.parametrize("value", ["x\ry", "x\r", "x\ny", "x\r\ny"])
def test_a_value_with_a_line_break_is_read_back(tmp_path, value):
    tree = Taxonomy("town", ((value, "*"), ("b", "*")))
    tree.write(tmp_path / "town.csv")
    assert Taxonomy.read(tmp_path / "town.csv", Categories((value, "b"))) == tree


def test_a_table_with_a_bare_carriage_return_is_drafted_and_loaded(tmp_path):
    table = tmp_path / "people.csv"
    with table.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["town", "sex"], *[["x\ry", "f"], ["z", "m"]] * 20])
    path = draft(table, folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", ""))
    assert sorted(set(load(path).table["town"])) == ["x\ry", "z"]
