"""What published tables of counts of Adult tell."""

from itertools import combinations

import numpy as np
import pytest

from privnb.datasets.dataset import load
from privnb.evaluation.experiments import published_tables
from privnb.evaluation.experiments.published_tables import _find_bounds
from privnb.evaluation.results import KEY_COLUMNS
from privnb.measures.count_tables.cell_bounds import cell_bounds
from privnb.microdata.count_tables import TableOfCounts
from privnb.reporting import charts, findings
from privnb.sanitizers.tables_and_rules.cell_suppression import suppress_small_counts


@pytest.fixture(scope="module")
def tables():
    return published_tables.attack_published_tables(load("adult"), k=10)


@pytest.mark.slow
def test_tables_of_adult(tables):
    """The small share is counted again by pandas; salary and workclass lose entries, where few are without pay."""
    dataset = load("adult")
    found = tables[tables.measure != "bounds_within"].set_index(["measure", "target"]).value
    names = ["salary", "sex", "race", "workclass"]
    cells = dataset.table.groupby(names, observed=True).size()
    size = np.prod([dataset.cells[name].nunique() for name in names])
    assert found["small_count_share", "4 attributes"] == (cells < 10).sum() / size
    assert 0 < found["cells_disclosed", "4 attributes"] < 1
    two = TableOfCounts.of(dataset.cells, ["salary", "sex"])
    assert two.counts.min() >= 10
    assert found["entries_suppressed", "sex"] == 0 < found["entries_suppressed", "workclass"]


def test_how_narrowly_small_counts_are_known(tables):
    """Bounds by full tables are those of `cell_bounds`; without small counts and what gives them back fewer are."""
    assert not tables.duplicated(KEY_COLUMNS).any(), "else they could not be saved"
    within = tables[tables.measure == "bounds_within"].pivot_table(index="bound", columns="variant", values="value")
    full, suppressed = within["published in full"], within["small counts suppressed"]
    assert full[9] == tables[tables.measure == "cells_disclosed"].value.item()
    assert full.is_monotonic_increasing
    assert (suppressed <= full).all()
    assert suppressed[9] < full[9] / 2
    title = " ".join(charts.counts_known(tables).to_dict()["title"]["text"])
    assert title.endswith("of small counts are known to within 9 people")
    assert "small count" in repr(charts.counts_known(tables.head(0)))


@pytest.mark.slow
def test_bounds_by_suppressed_tables_hold():
    """The true counts lie between; where nothing is suppressed the bounds are those of the full tables."""
    table = TableOfCounts.of(load("adult").cells, ["salary", "sex", "race"])
    pairs, every = list(combinations(table.names, 2)), np.ones(table.counts.shape, dtype=bool)
    for min_count in (2, 2_000):
        made = {pair: suppress_small_counts(table.margin(pair), min_count) for pair in pairs}
        hidden = sum(np.ma.getmaskarray(each.published).sum() for each in made.values())
        high, low = _find_bounds(table, made, every)
        assert (low <= table.counts.ravel()).all()
        assert (table.counts.ravel() <= high).all()
        full = cell_bounds([table.margin(pair) for pair in pairs])
        same = (low == full.low.ravel()).all() and (high == full.high.ravel()).all()
        assert same == (hidden == 0) == (min_count == 2)


def test_bounds_wider_than_a_small_count_are_no_chart(tables):
    narrow = (tables.measure == "bounds_within") & (tables.bound < tables.bound.max())
    wide = tables[~narrow].assign(bound=tables.bound.where(tables.measure != "cells_disclosed", 1))
    assert "small count" in repr(charts.counts_known(wide))


def test_the_finding_names_disclosed_counts_and_the_most_suppressed_table(tables):
    found = findings.disclosed_models(tables).given["tables"]
    assert (found["disclosed"]["fewer"], found["disclosed"]["target"]) == (10, "4 attributes")
    assert found["suppressed"]["target"] == "workclass"
