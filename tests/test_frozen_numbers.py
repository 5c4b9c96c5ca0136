"""The comparison of the numbers of two commits finds what differs, and nothing else."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import frozen_numbers

HEADER = ["dataset", "measure", "value", "low", "status"]


def test_releases_are_the_same_in_two_runs():
    found = frozen_numbers.releases("twelve", "twelve", 0)
    assert found == frozen_numbers.releases("twelve", "twelve", 0)
    assert found["twelve/twelve Identity()"] != found["twelve/twelve Suppress(what='quasi-identifiers')"]


def test_the_order_of_rows_does_not_change_a_digest():
    rows = [(1, "a", 0.1), (2, "b", 0.30000000000000004)]
    assert frozen_numbers.digest(iter(rows)) == frozen_numbers.digest(iter([(2, "b", 0.3), (1, "a", 0.1)]))
    assert frozen_numbers.digest(iter(rows)) != frozen_numbers.digest(iter([(2, "b", 0.3), (1, "a", 0.1001)]))
    assert frozen_numbers.digest(iter(rows)) != frozen_numbers.digest(iter([*rows, rows[0]]))


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (["adult", "loss", "0.5", "0.1", ""], 0),
        (["adult", "loss", "0.50000000000001", "0.1", ""], 0),
        (["adult", "loss", "0.5000001", "0.1", ""], 1),
        (["adult", "loss", "0.5", "", ""], 1),
        (["adult", "loss", "0.5", "0.1", "withheld"], 1),
        (["adult", "gain", "0.5", "0.1", ""], 6),
    ],
)
def test_each_field_of_results_is_compared(line, number):
    before = frozen_numbers.rows([HEADER, ["adult", "loss", "0.5", "0.1", ""]], "results")
    after = frozen_numbers.rows([HEADER, line], "results")
    assert len(frozen_numbers.differences(before, after, texts=False)) == number


def test_equal_rows_are_counted():
    one = [HEADER, ["adult", "loss", "0.5", "0.1", ""]]
    before, after = frozen_numbers.rows(one, "results"), frozen_numbers.rows([*one, one[1]], "results")
    assert frozen_numbers.differences(before, after, texts=False)


def test_fields_of_cards_are_compared_but_for_the_day_and_sentences():
    card = {"made": "2026-01-01", "risks": [{"share": 0.25, "says": "A fourth of people are found by it."}]}
    other = {"made": "2026-01-02", "risks": [{"share": 0.25, "says": "A quarter of people are found by it."}]}
    before, after = dict(frozen_numbers.fields(card, "card")), dict(frozen_numbers.fields(other, "card"))
    assert frozen_numbers.differences(before, after, texts=False) == []
    assert len(frozen_numbers.differences(before, after, texts=True)) == 1
    assert list(before) == ["card/risks/0/share", "card/risks/0/says"]
