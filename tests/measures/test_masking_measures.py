"""Measures of masked numbers against the book's masked file and by hand."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.measures.utility import masking
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.microdata.treatment import Rows, Unreadable
from privnb.sanitizers import Identity, Sanitizer

# Aggarwal and Yu 2008, table 3.2: attributes 3 and 4 of ten records, and as rank swapping (p = 10) masks them.
THIRD, FOURTH = (3.7, 3.8, 3, 4.5, 5, 6, 4.5, 6.7, 8, 10), (4.4, 3.4, 4.8, 5, 6, 7.5, 10, 11, 9.5, 3.2)
ORIGINAL = [*zip(THIRD, FOURTH, strict=True)]
THIRD, FOURTH = (3, 4.5, 3.7, 5, 4.5, 6.7, 3.8, 6, 10, 8), (4.8, 3.2, 4.4, 6, 5, 9.5, 11, 10, 7.5, 3.4)
MASKED = [*zip(THIRD, FOURTH, strict=True)]


def table(rows, low=0.0, high=20.0):
    names = [f"x{place}" for place in range(np.shape(rows)[1])]
    schema = Schema("numbers", tuple(Attribute(n, Role.QUASI_IDENTIFIER, Numbers(low, high, 0.1)) for n in names))
    frame = pd.DataFrame(np.array(rows, dtype=float), columns=names)
    return Dataset("numbers", frame, schema, {n: flat(schema[n]) for n in names})


@dataclass(frozen=True)
class _As(Sanitizer):
    """Publishes given numbers."""

    rows: tuple
    whose: object = Rows.RECORDS

    def _sanitize(self, dataset, table, rng):
        made = pd.DataFrame(np.array(self.rows, dtype=float), columns=list(table))
        facts = {} if self.whose is Rows.RECORDS else {"rows": self.whose}
        return made, facts | {"perturbed": tuple(table)}


def made(original, masked, **more):
    data = table(original)
    return data, _As(tuple(map(tuple, masked)), **more).sanitize(data, rng=1)


def test_the_books_masked_file():
    """The book prints the two files; the figures are computed from them by its formulas."""
    case = made(ORIGINAL, MASKED)
    losses = masking.masking_losses(*case)
    expected = {"cells": 0.148744, "means": 0, "covariances": 0.084785, "variances": 0, "correlations": 0.046034}
    assert losses == pytest.approx(expected, abs=5e-7)
    assert masking.masking_loss(*case) == pytest.approx(5.5913, abs=5e-5)
    assert masking.nearest_record_rate(*case) == pytest.approx(0.5)
    assert masking.two_nearest_records_rate(*case) == pytest.approx(0.9)


def test_lost_variation_by_hand():
    """Two groups of two, by their means: 0, 2 and 10, 14 become 1, 1, 12, 12; mean 6.5."""
    case = made([(0,), (2,), (10,), (14,)], [(1,), (1,), (12,), (12,)])
    assert masking.lost_variation(*case) == pytest.approx((1 + 1 + 4 + 4) / (6.5**2 + 4.5**2 + 3.5**2 + 7.5**2))
    mean = made([(0,), (2,), (10,), (14,)], [(6.5,)] * 4)
    assert masking.lost_variation(*mean) == pytest.approx(1)


def test_equally_near_originals_count_alike():
    """All masked alike: each record is as near as chance, one in four, two in four."""
    case = made([(1,), (1,), (1,), (3,)], [(1,), (1,), (1,), (1,)])
    assert masking.nearest_record_rate(*case) == pytest.approx(3 * (1 / 3) / 4)
    assert masking.two_nearest_records_rate(*case) == pytest.approx(3 * (2 / 3) / 4)


def test_intervals_of_ranks():
    """Of 100 numbers moved by r ranks, windows of p per cent hold those with p >= r: (11 - r) of ten windows."""
    values = np.arange(100.0) / 10
    for moved in (1, 4, 10):
        shifted = np.concatenate([values[moved:], values[:moved]])
        rate = masking.rank_interval_rate(*made(values[:, None], shifted[:, None]))
        assert rate == pytest.approx((11 - moved) / 10 * (100 - moved) / 100, abs=0.011)


def test_exact_releases_nobodys_rows_and_constants_are_refused():
    data = table(ORIGINAL)
    with pytest.raises(
        Unreadable,
        match="neither adds noise to numbers of 'numbers' nor perturbs the numbers: x0 is exact, x1 is exact",
    ):
        masking.masking_loss(data, Identity().sanitize(data, rng=1))
    with pytest.raises(Unreadable, match="are synthetic"):
        masking.lost_variation(*made(ORIGINAL, MASKED, whose=Rows.SYNTHETIC))
    with pytest.raises(Unreadable, match="1 of the masked columns have the same value"):
        masking.lost_variation(*made([(1, 2), (1, 3)], [(1, 2), (2, 3)]))


def test_many_records_are_not_compared_with_all(monkeypatch):
    monkeypatch.setattr(masking, "MAX_RECORDS", 9)
    with pytest.raises(Unreadable, match="10 masked records exceed the maximum"):
        masking.nearest_record_rate(*made(ORIGINAL, MASKED))
