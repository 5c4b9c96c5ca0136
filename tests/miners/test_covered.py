"""What labels cover, by runs, beside the same by one list of leaves for each label."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.hierarchy import Ordered, Sets, Taxonomy
from privnb.miners.encoding import LEAVES, Covered

LINE = tuple(f"v{leaf:02}" for leaf in range(60))
TREE = Taxonomy("q", tuple((leaf, f"L{n // 7}", f"M{n // 21}", "*") for n, leaf in enumerate(LINE)))


@st.composite
def labelled(draw):
    """A hierarchy of 60 or of 9 leaves, some of its labels, others, and how many have each of those."""
    few = draw(st.booleans())
    values = LINE[:9] if few else LINE
    tree = Taxonomy("q", TREE.rows[:9]) if few else TREE
    hierarchy = draw(st.sampled_from([tree, Ordered("q", values), Sets("q", values)]))

    def labels():
        groups = draw(st.lists(st.lists(st.sampled_from(range(len(values))), min_size=1, max_size=6), min_size=1))
        codes, classes = np.concatenate(groups), np.repeat(np.arange(len(groups)), [*map(len, groups)])
        return list(dict.fromkeys(hierarchy.labels(codes, classes)))

    own, others = labels(), labels()
    times = draw(st.lists(st.integers(0, 5), min_size=len(others), max_size=len(others)))
    return hierarchy, own, others, np.array(times)


@given(labelled())
def test_runs_say_what_lists_of_leaves_say(found):
    hierarchy, own, others, times = found
    leaves = len(hierarchy.leaves)
    lists = {label: set(hierarchy.covered(label).tolist()) for label in (*own, *others)}
    covered = Covered.by(others, hierarchy)
    assert covered.sizes.tolist() == [len(lists[label]) for label in others]
    columns = covered.commonest(times)
    people = np.zeros(leaves)
    for label, count in zip(others, times, strict=True):
        people[list(lists[label])] += count / len(lists[label])
    if leaves <= LEAVES:
        assert columns.tolist() == list(range(leaves))
    else:
        left = np.setdiff1d(np.arange(leaves), columns)
        assert len(columns) == LEAVES - 1
        assert people[columns].min() >= people[left].max() - 1e-6
    expected = [[(leaf in lists[label]) / len(lists[label]) for leaf in columns] for label in own]
    shares = Covered.by(own, hierarchy).shares(columns)
    assert shares[:, : len(columns)] == pytest.approx(np.array(expected))
    assert shares.sum(axis=1) == pytest.approx(1)
    for label, number in zip(own, Covered.by(own, hierarchy).read_as(covered, times), strict=True):
        wider = [n for n, other in enumerate(others) if lists[label] <= lists[other]]
        within = [n for n, other in enumerate(others) if lists[other] <= lists[label]]
        if wider:
            assert number == min(wider, key=lambda n: (len(lists[others[n]]), n))
        else:
            assert number == max(within, key=lambda n: (times[n], -n), default=-1)
