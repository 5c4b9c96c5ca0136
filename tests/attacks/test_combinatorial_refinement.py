"""Bounds of the cells behind coarse rows: by hand, by enumeration of all tables, and against the truth."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.attacks.inference.combinatorial_refinement import refine_runs
from privnb.datasets.dataset import Dataset
from privnb.evaluation.experiments.recoding_attack import check_bounds, recode_in_runs
from privnb.microdata.hierarchy import Ranges, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import SanitizationError

TREES = {
    "town": Taxonomy("town", (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"))),
    "sex": Taxonomy("sex", (("f", "*"), ("m", "*"))),
}
NAMES = list(TREES)
SCHEMA = Schema(
    "people", tuple(Attribute(name, Role.QUASI_IDENTIFIER, Categories(tree.leaves)) for name, tree in TREES.items())
)


def table(*rows):
    """A table of labels, each written as (town, sex, number of rows)."""
    return pd.DataFrame([row[:2] for row in rows for _ in range(row[2])], columns=NAMES)


def bounds(refined, name):
    """The bounds by the first leaves of the cells."""
    leaves = [[tree.leaves[np.flatnonzero(nodes == node)[0]] for node in range(nodes.max() + 1)]
              for tree, nodes in zip(TREES.values(), refined.levels.values(), strict=True)]  # fmt: skip
    return {"".join(cell): int(each) for cell, each in zip(product(*leaves), getattr(refined, name), strict=True)}


def test_a_suppressed_person_is_not_in_a_published_class_and_few_share_a_combination():
    """Seven suppressed people are in the four combinations without a class, at most two in each for k = 3. Three of
    the combinations hold at most six people, so somebody is in each. Two people of the class of a and f, which has
    three people, cannot be among them, because 7 > 2 + 3 people were left."""
    run = table(("a", "f", 3), ("b", "m", 5), ("c", "f", 4), ("d", "m", 6))
    refined = refine_runs([run, table(("*", "*", 7))], TREES, 3)
    assert bounds(refined, "most") == {"af": 0, "am": 2, "bf": 2, "bm": 0, "cf": 0, "cm": 2, "df": 2, "dm": 0}
    assert bounds(refined, "least") == {"af": 0, "am": 1, "bf": 1, "bm": 0, "cf": 0, "cm": 1, "df": 1, "dm": 0}


def test_a_smallest_class_may_be_suppressed_together_with_few_people():
    """Four people are left, so up to three of them may be of a class that was suppressed together with a person."""
    refined = refine_runs([table(("ab", "f", 3), ("cd", "m", 4)), table(("*", "*", 4))], TREES, 3)
    assert bounds(refined, "most") == {"af": 0, "am": 3, "cf": 3, "cm": 0}
    assert bounds(refined, "least") == {"af": 0, "am": 1, "cf": 1, "cm": 0}


def test_the_bounds_are_those_of_all_tables():
    """Two runs with levels of which neither is finer. After the first run, eleven people are left, more than 4 + 5, so
    each of its other three combinations belongs to at most four of them. The six people of the class c, who are in two
    of the combinations, leave room for two suppressed people there; at least three others live in a or b."""
    runs = [table(("ab", "f", 5)), table(("c", "*", 6)), table(("*", "*", 5))]
    refined = refine_runs(runs, TREES, 5)
    cells = ["am", "bm", "cf", "cm", "df", "dm"]
    possible = [
        (am, bm, cf, cm, df, dm)
        for am, bm, cf, cm, df, dm in product(range(5), repeat=6)
        if cf + cm == 6 and am + bm + df + dm == 5 and am + bm <= 4 and cf + df <= 4 and cm + dm <= 4
    ]
    assert [bounds(refined, "least")[cell] for cell in cells] == np.min(possible, axis=0).tolist() == [0, 0, 2, 2, 0, 0]
    assert [bounds(refined, "most")[cell] for cell in cells] == np.max(possible, axis=0).tolist() == [4, 4, 4, 4, 2, 2]
    assert bounds(refined, "owner") == {"am": 1, "bm": 1, "cf": 0, "cm": 0, "df": 1, "dm": 1, "af": -1, "bf": -1}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("aaabcd"), st.sampled_from("ffm")), min_size=6, max_size=60),
    st.integers(2, 5),
    st.sampled_from([0.1, 0.3, 0.9]),
    st.integers(1, 4),
)
def test_no_bound_is_false(rows, k, suppress, runs):
    data = Dataset("people", pd.DataFrame(rows, columns=NAMES), SCHEMA, TREES)
    try:
        tables, members = recode_in_runs(data, k, suppress, runs)
    except SanitizationError:
        return
    assert sorted(np.concatenate(members)) == [*range(len(rows))]
    refined = refine_runs(tables, TREES, k)
    cells = refined.locate(data.codes)
    run = np.repeat(np.arange(1, len(members)), [len(each) for each in members[1:]])
    check_bounds(refined, cells[np.concatenate(members[1:])], run)


def test_releases_that_the_attack_cannot_read_are_refused():
    run, end = table(("ab", "f", 3)), table(("*", "*", 2))
    with pytest.raises(ValueError, match=r"at least k=4 rows\. Give the k of the release"):
        refine_runs([run, end], TREES, 4)
    with pytest.raises(Unreadable, match="'town' in one run are of several levels"):
        refine_runs([table(("ab", "f", 3), ("c", "f", 3)), end], TREES, 3)
    with pytest.raises(Unreadable, match="'age' has no public levels"):
        refine_runs([run, end], {**TREES, "age": Ranges(Numbers(0, 9))}, 3)
    everything = table(*((town, sex, 3) for town in "abcd" for sex in "fm"))
    with pytest.raises(ValueError, match="no table leads to them"):
        refine_runs([everything, end], TREES, 3)
    with pytest.raises(ValueError, match="at least one run"):
        refine_runs([end], TREES, 3)
