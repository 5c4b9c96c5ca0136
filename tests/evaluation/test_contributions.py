"""Which columns and values make people unique: shares of the SUDA score, and what of them may be shown."""

import numpy as np
import pandas as pd
import pytest
from support import person_key, plain_suda

from privnb.datasets.dataset import load
from privnb.evaluation import measure_contributions
from privnb.evaluation.contributions import rank_contributions
from privnb.reporting import charts


@pytest.fixture(scope="module")
def adult():
    return load("adult", "sramka", records=800, rng=1)


@pytest.fixture(scope="module")
def measured(adult):
    return measure_contributions(adult)


def test_the_shares_are_those_of_the_table_for_its_owner(adult, measured):
    names = adult.schema.quasi_identifiers
    ranked = rank_contributions(adult.table, names).set_index("column")
    whole = measured[measured.group == ""].set_index("target").value
    assert [*whole.index] == names
    shown = whole.dropna()
    assert len(shown) >= 6
    assert shown.to_numpy() == pytest.approx(ranked.share[shown.index].to_numpy())
    assert ranked.share.is_monotonic_decreasing


def test_no_share_concerns_few_people(adult, measured):
    groups = measured[measured.group != ""]
    assert (groups.value.dropna() <= 1).all()
    ranked = rank_contributions(adult.table, adult.schema.quasi_identifiers)
    for row in ranked.dropna(subset=["value"]).itertuples():
        assert (adult.table[row.column].astype(str) == row.value).sum() >= 10
    few = load("adult", "sramka", records=12, rng=1)
    assert measure_contributions(few, min_count=13).empty


def test_people_of_several_records_count_once():
    data = person_key.dataset(person_key.table(60))
    names = data.schema.quasi_identifiers
    records = [
        *zip(data.people.tolist(), data.table[names].astype(str).itertuples(index=False, name=None), strict=True)
    ]
    distinct = [*dict.fromkeys(records)]
    total = sum(plain_suda.scores(distinct))
    through = np.zeros(len(names))
    m = len(names)
    for _, subset in plain_suda.minimal_uniques(distinct):
        through[list(subset)] += float(np.prod([m - i for i in range(len(subset), m)]))
    ranked = rank_contributions(data.table.astype(str), names, data.schema.person).set_index("column")
    assert ranked.share[names].to_numpy() == pytest.approx(through / total)


def test_rows_with_multiplicities_are_those_of_the_records(adult):
    names = adult.schema.quasi_identifiers
    counted = adult.table[names].value_counts().rename("times").reset_index()
    own = rank_contributions(counted[names], names, times=counted.times.to_numpy())
    pd.testing.assert_frame_equal(own, rank_contributions(adult.table, names))


def test_a_table_without_unique_people_has_no_contributions():
    table = pd.DataFrame({"sex": ["f", "f", "m", "m"]})
    assert rank_contributions(table, ["sex"]).empty


def test_the_chart_names_the_column_with_the_largest_share(measured):
    chart = charts.contributions(measured).to_dict()
    (drawn,) = chart["datasets"].values()
    values = [row["value"] for row in drawn]
    assert values == sorted(values, reverse=True)
    title = chart["title"]["text"]
    assert drawn[0]["target"] in (title if isinstance(title, str) else " ".join(title))
    assert "withheld" in str(charts.contributions(measured.iloc[:0]))
