"""The short sentence of a finding, also for results without rows."""

import pytest

from privnb.evaluation.results import tidy
from privnb.reporting import findings
from privnb.runtime.wording import line

EMPTY = tidy([])
WITHOUT_ROWS = {
    "given_away": lambda: findings.disclosed_models(EMPTY),
    "informed": lambda: findings.informed_adversaries(EMPTY),
    "own_wishes": lambda: findings.personal_wishes(EMPTY, (5, 50)),
    "recovered": lambda: findings.noise_removal(EMPTY),
    "search": lambda: findings.search(None, 0, None),
}


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_a_finding_without_rows_is_one_sentence(name):
    found = WITHOUT_ROWS[name]()
    short = line(found.template, "short", found.given)
    assert short.endswith(".")
    assert found.data.endswith(".")
    assert len(found.parts) == 1
