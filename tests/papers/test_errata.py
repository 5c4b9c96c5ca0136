"""The errata as one table, each number checked against an independent one."""

import math

import numpy as np
import pytest

from privnb.measures.disclosure.channel import bayes_risk
from privnb.papers.askari_2012.enumeration.errata import (
    COLUMNS,
    KINDS,
    appendix_channel,
    compute_printed_error,
    show_errata,
    tabulate_errata,
    uniform_channel,
)


@pytest.fixture(scope="module")
def table():
    return tabulate_errata()


def test_one_table(table):
    assert tuple(table.columns) == COLUMNS
    assert set(table["kind"]) <= set(KINDS)
    assert (table["as printed"] != table["here"]).all(), "an erratum without a counter-example"
    assert not table.duplicated(["place", "erratum"]).any()
    assert np.isfinite(table[["as printed", "here"]].to_numpy()).all()


def test_the_shown_table_has_one_row_per_erratum(table):
    shown = show_errata().table
    assert shown["where"].tolist() == table["place"].tolist()
    assert shown.loc[0, ["printed", "right"]].tolist() == ["0.515568", "0.540441"]


@pytest.mark.parametrize(
    ("place", "nth", "printed", "here"),
    [
        ("eq. 3", 0, 5337531429 / 10352726888, 147 / 272),
        ("eq. 7", 0, 1 - 2**1.680905, 0.688113),
        ("eq. 6", 0, 1 - 2 ** -math.log(4), 3 / 4),
        ("section 4.1.1", 0, 3 / 4, 1 / 4),
        ("abstract", 0, 2 / 5, 7 / 10),
        ("eq. 8-15", 0, 130, 0),
        ("eq. 15", 0, 0.75, 1),
        ("eq. 18", 0, 0, 1 + 0.9 * math.log2(0.9) + 0.1 * math.log2(0.1)),
        ("eq. 19", 0, 0, 0.8 * math.log2(9)),
        ("eq. 25", 0, 3, 4),
        ("eq. 25", 1, 300, 3528),
        ("section 5.5", 0, 15, 40),
        ("section 5.5", 1, 64, 40),
        ("sections 5.3, 5.4", 0, 1 - 120 / 28, 23 / 30),
        ("eq. 21", 0, 0.886393, 0.881313),
        ("figures 4, 5", 0, 4515, 5481),
    ],
)
def test_the_numbers(table, place, nth, printed, here):
    row = table[table["place"] == place].iloc[nth]
    assert (row["as printed"], row["here"]) == pytest.approx((printed, here), abs=5e-6)


def test_the_bound_with_natural_logarithms_is_below_what_it_bounds(table):
    row = table[table["place"] == "eq. 6"].iloc[0]
    assert row["as printed"] < 0.75 <= row["here"] + 1e-12


def test_a_loss_is_largest_for_what_damages_most(table):
    row = table[table["kind"] == "name"].iloc[0]
    assert row["as printed"] > row["here"] > 0


def test_eq_3_is_right_where_all_outputs_are_alike_likely():
    """The slip does not show on every channel."""
    assert compute_printed_error(uniform_channel()) == bayes_risk(uniform_channel())
    assert compute_printed_error(appendix_channel()) < bayes_risk(appendix_channel())
