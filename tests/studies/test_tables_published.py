"""What published tables of counts of Adult tell."""

import numpy as np

from privnb import studies
from privnb.microdata.count_tables import TableOfCounts
from privnb.microdata.dataset import load
from privnb.reporting import findings


def test_tables_of_adult():
    """The small share is counted again by pandas; salary and workclass lose entries, where few are without pay."""
    dataset = load("adult")
    found = studies.tables_published(dataset, k=10).set_index(["measure", "target"]).value
    names = ["salary", "sex", "race", "workclass"]
    cells = dataset.table.groupby(names, observed=True).size()
    size = np.prod([dataset.cells[name].nunique() for name in names])
    assert found["small_count_share", "4 attributes"] == (cells < 10).sum() / size
    assert 0 < found["cells_told", "4 attributes"] < 1
    two = TableOfCounts.of(dataset.cells, ["salary", "sex"])
    assert two.counts.min() >= 10
    assert found["entries_suppressed", "sex"] == 0 < found["entries_suppressed", "workclass"]


def test_it_is_said():
    said = findings.given_away(studies.tables_published(load("adult"), k=10)).data
    assert "Counts of fewer than 10, of 4 attributes together" in said
    assert "secret and workclass" in said
