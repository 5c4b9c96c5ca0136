"""What tests of the papers' studies share."""

import pytest
from support.in_process import in_this_process


@pytest.fixture
def ran(monkeypatch):
    """Tasks run in this process, one by one; the list of them."""
    return in_this_process(monkeypatch)
