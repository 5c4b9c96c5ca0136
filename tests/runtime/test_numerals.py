"""Numbers as people read them: two digits for shares, counts in full, never 0% or 100% for what is not that."""

import re

import pytest
from hypothesis import example, given, strategies as st

from privnb.measures.base import list_measures
from privnb.runtime import numerals


@given(st.just(0.0) | st.just(1.0) | st.floats(1e-12, 1 - 1e-12))  # closer is the rounding of sums
def test_a_share_is_0_or_100_per_cent_only_if_it_is_exactly_that(share):
    said = numerals.write_without_unit("{:%}", share)
    assert (said == "0%") == (share == 0)
    assert (said == "100%") == (share == 1)
    assert "e" not in said.removeprefix("below").removeprefix("above")


@given(st.floats(-2, 2), st.floats(0.0001, 1), st.floats(0.0001, 1))
def test_the_ends_of_an_interval_are_distinguished(value, below, above):
    _, low, high = numerals.write_interval("{:+%}", value, value - below, value + above)
    assert low != high


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_lies_between_bounds_lies_between_those_that_are_written(low, more):
    high = low + more * (1 - low)
    texts = [text.removesuffix("%") for text in numerals.write_bounds("{:%}", low, high)]
    if all(text.replace(".", "").isdigit() for text in texts):
        assert float(texts[0]) <= 100 * low + 1e-9
        assert float(texts[1]) >= 100 * high - 1e-9


@example(10000000000.53125, "{:,} people")
@given(st.floats(-1e12, 1e12), st.sampled_from(["{:,} people", "{:g} nats", "{:+g}", "{:,.1f}", "{:.3g}"]))
def test_no_number_has_an_exponent(value, format):
    said = numerals.write_without_unit(format, value)
    assert not re.search(r"\de", said)
    if abs(value) >= 1000:
        half = 0.5 + abs(value) * 1e-11  # results have 12 digits
        assert float(said.replace(",", "").replace(numerals.MINUS, "-")) == pytest.approx(value, abs=half), (
            "a count stands in full"
        )


@pytest.mark.parametrize(
    ("format", "value", "said"),
    [
        ("{:%} of people", 1 / 45222, "1 in 45,000 people"),
        ("{:%} of the domain", 1 / 45222, "1 in 45,000 of the domain"),
        ("{:.0%}", 0.996, "99.6%"),
        ("{:%}", 0.9999999, "above 99.99%"),
        ("{:+%} of people", 0.00001, "+0.001% of people"),
        ("{:%}", 2.789, "279%"),
        ("{:%}", 0.05, "5%"),
        ("{:%}", 0.0502, "5.0%"),
        ("{:,} people", 45222.0, "45,222 people"),
        ("{:,} records", 12.4, "12 records"),
        ("{:,}", 0.04, "0.04"),
        ("{:.0f} of 12 spaces", 7, "7 of 12 spaces"),
        ("probability {:.5f}", 0.25, "probability 0.25"),
    ],
)
def test_numbers_are_written_as_people_read_them(format, value, said):
    assert numerals.write_number(format, value) == said


def test_the_ends_of_an_interval_have_the_digits_of_their_number():
    assert numerals.write_interval("{:%}", 0.547654, 0.543, 0.5522) == ("55%", "54%", "55%")
    assert numerals.write_interval("{:%}", 0.5, 0.00001, 1) == ("50%", "below 0.01%", "100%")
    assert numerals.write_interval("{:g}", 0.4, 0.39, 0.41) == ("0.400", "0.390", "0.410")


def test_every_measure_states_what_its_number_is_of_and_not_its_digits():
    for measure in list_measures():
        assert not re.search(r"\{:[^}]*\d", measure.format), measure.name
