"""Sensitive numbers in public bands: as the description's cuts part them, wherever the records lie."""

import pytest

from privnb.datasets.dataset import load
from privnb.evaluation.parameters import band_target
from privnb.microdata.bands import Bands
from privnb.microdata.schema import Numbers
from privnb.reporting.run_notes import show_notes

DESCRIPTION = """\
[dataset]
[[files]]
path = "few.csv"
[columns.age]
role = "quasi-identifier"
domain = { low = 20, high = 60 }
[columns.visits]
role = "sensitive"
domain = { low = 0, high = 77%s }
[columns.hours]
role = "neutral"
domain = { low = 0, high = 99, step = 0.5, cuts = [40] }
"""


@pytest.fixture
def few(tmp_path):
    """A table with a sensitive number and a neutral one: `few(cuts)` loads it."""

    def write(cuts=""):
        (tmp_path / "few.csv").write_text("age,visits,hours\n20,0,39.5\n30,77,40.0\n40,5,99\n41,4,0\n")
        (tmp_path / "few.toml").write_text(DESCRIPTION % cuts)
        return load(tmp_path / "few.toml")

    return write


@pytest.mark.parametrize(
    ("cuts", "labels"),
    [("", ["0-4", "75-77", "5-9", "0-4"]), (", cuts = [1, 5]", ["0", "5-77", "5-77", "1-4"]), (", cuts = 100", None)],
)
def test_a_sensitive_number_is_loaded_in_bands(few, cuts, labels):
    dataset = few(cuts)
    assert dataset.table.visits.tolist() == labels or labels is None
    assert not dataset.schema["visits"].numeric
    assert dataset.schema["age"].numeric, "what others know stays a number"
    assert dataset.schema["hours"].numeric
    assert len(dataset.schema["visits"].domain.values) > 1, "no cut leaves all in one band"


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (Numbers(0, 1), ("0", "1")),
        (Numbers(1, 5), ("1", "2", "3", "4", "5")),
        (Numbers(1, 5, cuts=(3,)), ("1-2", "3-5")),
        (Numbers(-2, 0.5, 0.5), ("-2", "-1.5", "-1", "-0.5", "0", "0.5")),
        (Numbers(0, 20, cuts=(20,)), ("0-19", "20")),
    ],
)
def test_few_values_are_their_own_bands_unless_their_owner_cuts_them(domain, values):
    assert Bands.of(domain).values == values


def test_every_value_of_a_domain_is_in_one_band():
    domain = Numbers(17, 99, cuts=(18, 65))
    labels = Bands.of(domain).labels(range(17, 100))
    assert [labels.count(value) for value in Bands.of(domain).values] == [1, 47, 35]


def test_show_notes_lists_the_numbers_that_are_counted_in_bands(few):
    note = show_notes(few()).data
    bands = "is published, attacked and counted in bands of 0 to 77: 0-4, 5-9"
    assert note.startswith(f"“visits” is a numeric column, which {bands}")
    assert "hours" not in note
    assert show_notes(few().in_bands("hours")).data.count("is a numeric column") == 2


def test_who_predicts_a_number_predicts_its_bands(few):
    assert band_target(few(), "hours").table.hours.tolist() == ["0-39.5", "40-99", "40-99", "0-39.5"]
    assert band_target(few(), "").schema == few().schema
    with pytest.raises(ValueError, match="'age' is a quasi-identifier, which is generalized and has no bands"):
        band_target(few(), "age")


def test_labels_have_no_exponent():
    fine = Numbers(0, 0.0003, 0.00001)
    assert Bands.of(fine).values[1] == "0.00002-0.00003"
    assert fine.written([0.00001, 0.00012]).tolist() == ["0.00001", "0.00012"]
