"""A release that says false things costs its users more than one that says nothing, and is not recommended."""

import numpy as np
import pandas as pd
import pytest
from support.falsifying import alike

import privnb as pn


@pytest.fixture(scope="module")
def table():
    """Ages that are equally common, and illnesses that depend on nothing: groups have nothing to lose but chance."""
    draws, n = np.random.default_rng(0), 1000
    columns = {"age": draws.integers(20, 80, n), "sex": draws.choice(["m", "f"], n)}
    return pn.read(pd.DataFrame(columns | {"illness": draws.choice(["flu", "cold", "none"], n)}), sensitive="illness")


@pytest.mark.parametrize("falsifying", [alike(50), pn.LaplaceNoise(epsilon=0.001)], ids=str)
def test_a_falsified_release_is_ruled_out(table, falsifying):
    found = pn.compare(table, [falsifying, pn.Mondrian(k=50)], policy="k-5", seeds=2).choose().found.decision
    assert found.sanitizer == "Mondrian"
    setting = found.releases[found.releases.sanitizer == type(falsifying).__name__].setting.item()
    assert dict(found.ruled_out)[setting][-1].kind == "misleading"


def test_noise_that_leaves_groups_their_sizes_is_open_to_choice(table):
    found = pn.compare(table, [pn.LaplaceNoise(epsilon=10.0)], policy="k-5", seeds=2).choose().found.decision
    setting = found.releases[found.releases.sanitizer == "LaplaceNoise"].setting.item()
    reasons = dict(found.ruled_out)[setting]  # each person is alone in it, whatever its groups are
    assert "misleading" not in {reason.kind for reason in reasons}
