"""The book's worked examples: the ledger's rows of them, exact but for its errata."""

import pytest

from privnb import papers
from privnb.papers.ledger import compare_with_published


@pytest.fixture(scope="module")
def rows():
    ledger = compare_with_published(papers.compute_worked_examples())
    return ledger[(ledger["source"] == "aggarwal-yu-2008") & ledger["measured"].notna()].set_index("item")


def test_every_number_but_the_errata_is_the_books(rows):
    """Each erratum is computed otherwise, by the densities or the matrix that the book itself prints."""
    errata = {
        "example2.1/h(Z)": 2.360674, "example2.1/I(X;Z)": 1.360674, "example2.1/P(X|Z)": 0.610600,
        "example2.1/Pi(X|Z)": 0.778801, "section10.2.3/hilbert": 476607,
        "table3.2/p/attribute1": 0, "section7.5.1/VoD/mean": 2,
    }  # fmt: skip
    assert set(rows.index[rows.status != "exact"]) == set(errata)
    for item, value in errata.items():
        assert rows.measured[item] == pytest.approx(value, rel=2e-5)
        assert rows.note[item]
    assert (rows.status == "exact").sum() == 23


def test_each_result_is_a_row_of_the_ledger(rows):
    assert len(papers.compute_worked_examples()) == len(rows)
