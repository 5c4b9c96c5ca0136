import numpy as np
import pytest
from hypertension import TABLES

from privnb.privacy_models import AlphaKAnonymity, KAnonymity, PSensitiveKAnonymity


@pytest.mark.parametrize(
    ("table", "k"),
    [("5.1", 2), ("5.11(a)", 66), ("5.11(b)", 26), ("5.11(c)", 19), ("5.11(d)", 4), ("5.20", 11), ("5.8(d)", 10)],
)
def test_k_of_the_tables_of_chapter_5(table, k):
    """Aggarwal and Yu 2008, section 5.2 (2), figures 5.11 (66, 26, 19, 4), 5.19 and 5.20 (11), 5.8 (10)."""
    counts = TABLES[table]
    assert KAnonymity(2).level(counts).min() == k
    assert KAnonymity(max(k, 2)).holds(counts).all()
    assert not KAnonymity(k + 1).holds(counts).all()


def test_alpha_k_anonymity():
    """Both parts: the class of two divorced men is one-sided, that of married men too small for k = 11."""
    counts = TABLES["5.1"]
    assert AlphaKAnonymity(0.8, 2, "hypertension").level(counts).tolist() == [1, 16 / 17, 1, 0.8, 7 / 9, 20 / 26]
    assert AlphaKAnonymity(0.8, 2, "hypertension").holds(counts).tolist() == [False, False, False, True, True, True]
    assert AlphaKAnonymity(0.8, 10, "hypertension").holds(counts).tolist() == [False] * 3 + [True, False, True]


def test_alpha_at_its_bound():
    """A third is no float, and 1 - 0.9 a little less than a tenth: a class exactly at its bound keeps it."""
    assert AlphaKAnonymity(1 / 3, 2, "s").holds(np.array([[1, 1, 1], [2, 2, 2]])).all()
    assert AlphaKAnonymity(0.3, 2, "s").holds(np.array([[3, 3, 2, 2]])).all()
    assert AlphaKAnonymity(1 - 0.9, 2, "s").holds(np.ones((1, 10), dtype=int)).all()
    assert not AlphaKAnonymity(0.3, 2, "s").holds(np.array([[4, 3, 3, 3]])).any()


def test_p_sensitive_k_anonymity():
    """Two values are not enough in a class of two when k is three, nor three people of one value."""
    counts = np.array([[1, 1, 0], [3, 0, 0], [2, 1, 0], [1, 1, 1]])
    assert PSensitiveKAnonymity(2, 3, "s").level(counts).tolist() == [2, 1, 2, 3]
    assert PSensitiveKAnonymity(2, 3, "s").holds(counts).tolist() == [False, False, True, True]
    assert PSensitiveKAnonymity(3, 3, "s").holds(counts).tolist() == [False, False, False, True]


def test_the_worst_level_is_that_which_protects_least():
    levels = np.array([2.0, 3.0, 5.0])
    assert KAnonymity(2).worst(levels) == 2
    assert AlphaKAnonymity(0.5, 2, "illness").worst(levels) == 5
