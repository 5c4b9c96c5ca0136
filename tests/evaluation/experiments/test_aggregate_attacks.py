"""Attacks on aggregates with their baselines: the phase change of noisy counts, and rankings from margins."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.evaluation.experiments.aggregate_attacks import (
    IN_TABLE,
    LEAST_SQUARES,
    OTHERS,
    PROGRAM,
    attack_margins,
    attack_noisy_counts,
)
from privnb.evaluation.results import KEY_COLUMNS
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema

NAMES = ("a", "b", "c", "d")


def patients(n, alike, values=6, seed=1):
    """People with four attributes, of which the later ones equal the first with probability `alike`."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, values, n)
    columns = [first] + [np.where(rng.random(n) < alike, first, rng.integers(0, values, n)) for _ in NAMES[1:]]
    domain = Categories(tuple(map(str, range(values))))
    attributes = [Attribute(name, Role.NEUTRAL, domain) for name in NAMES[:-1]]
    schema = Schema("patients", (*attributes, Attribute("d", Role.SENSITIVE, domain)))
    table = pd.DataFrame({name: column.astype(str) for name, column in zip(NAMES, columns, strict=True)})
    return Dataset("patients", table, schema, {})


def test_the_share_of_recovered_bits_has_a_phase_change():
    """Dinur and Nissim: above 95% if the noise is small compared with the square root of n, and chance if it is of the
    order of n. The closed form is the share of 0.517 there; 2,000 bits are drawn, and three standard errors are
    0.034."""
    found = attack_noisy_counts(100, [0.1, 1, 10], seeds=20)
    share = found[found.variant == PROGRAM].groupby("bound").value.mean()
    expected = found[found.variant == LEAST_SQUARES].groupby("bound").value.mean()
    assert share[1] > 0.95 < expected[1]
    assert share[100] < share[10] < share[1]
    assert share[100] == pytest.approx(expected[100], abs=3 * sqrt(0.25 / 2000))
    assert (found.baseline == 0.5).all()
    assert not found.duplicated(KEY_COLUMNS).any()


def test_counts_without_noise_disclose_everybody():
    found = attack_noisy_counts(60, [0]).set_index("variant").value
    assert found[PROGRAM] == found[LEAST_SQUARES] == 1


def matches(dataset, sets, top, **more):
    found = attack_margins(dataset, sets, k=2, tops=[top], min_count=2, **more)
    assert not found.duplicated(KEY_COLUMNS).any()
    return found.groupby("variant")[["value", "baseline"]].mean()


def test_the_full_table_discloses_records_that_only_people_in_the_table_have():
    """The ceiling: one table of all attributes. Of 10,000 equally likely records, 500 other people have few."""
    found = matches(patients(1000, 0, values=10), [NAMES], 100)
    assert found.value[IN_TABLE] == 1
    assert found.value[OTHERS] < 0.25


def test_tables_of_single_attributes_are_ranked_by_the_prior():
    """Full suppression of what attributes have to do with each other: both rankings find equally many records. The
    difference of two shares of 5 x 200 records has a standard error of at most sqrt(0.5 / 1000)."""
    found = matches(patients(1000, 0.4), [(name,) for name in NAMES], 200, samples=30, seeds=5)
    assert found.value[IN_TABLE] == pytest.approx(found.baseline[IN_TABLE], abs=3 * sqrt(0.5 / 1000))


def test_margins_of_two_attributes_are_better_than_the_prior_for_everybody():
    """Attributes depend on each other, which margins show. The same records exist among other people, so the gain is
    knowledge about the population."""
    dataset, sets = patients(4000, 0.8), [("a", "b"), ("a", "c"), ("a", "d")]
    found = matches(dataset, sets, 60)
    assert found.value[IN_TABLE] > found.baseline[IN_TABLE] + 3 * sqrt(0.25 / 60)
    assert found.value[OTHERS] == pytest.approx(found.value[IN_TABLE], abs=3 * sqrt(0.5 / 60))
    ranked = attack_margins(dataset, sets, k=2, tops=[50, 150, 450], min_count=2)
    share = ranked[ranked.variant == IN_TABLE].sort_values("bound").value
    assert share.is_monotonic_decreasing, "confident records exist more often"
    assert share.iloc[0] > share.iloc[-1]


def test_exact_margins_need_not_be_decomposable():
    """All pairs of three attributes, of 30 people with 27 possible records. Protected marginals refuse such sets."""
    dataset, pairs = patients(60, 0.5, values=3), [("a", "b"), ("b", "c"), ("a", "c")]
    found = attack_margins(dataset, pairs, k=None, samples=5, tops=[5], min_count=2)
    assert found.parameters.tolist() == ["exact, top=5"] * 2
    assert found.value[0] == 1
    refused = attack_margins(dataset, pairs, k=2, tops=[5])
    assert "would not be decomposable" in refused.reason.item()


def test_margins_that_cannot_be_published_have_a_reason():
    schema = Schema(
        "two",
        (
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(("x", "y"))),
            Attribute("ill", Role.SENSITIVE, Categories(("no", "yes"))),
        ),
    )
    table = pd.DataFrame({"town": ["x", "y"] * 6, "ill": ["no", "yes", "no"] * 4})
    found = attack_margins(Dataset("two", table, schema, {"town": flat(schema["town"])}), k=10)
    assert found.status.tolist() == ["refused"]
    assert "cannot be published" in found.reason.item()
