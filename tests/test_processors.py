"""Releases are the same, label by label, where the processor has fewer features and kernels run as plain Python."""

import importlib.util
from pathlib import Path

import pytest

from privnb.datasets.dataset import load

SCRIPT = Path(__file__).parent / "benchmarks" / "processors.py"


@pytest.mark.slow
def test_a_small_release_of_every_kind_is_the_same_on_an_older_processor(tmp_path):
    """All of Adult, and results too: `python tests/benchmarks/processors.py`. This samples machines, as that does."""
    spec = importlib.util.spec_from_file_location("processors", SCRIPT)
    processors = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(processors)
    dataset = load("adult", "li-li", records=processors.FEW)
    here = processors.releases(dataset, processors.sanitizers(dataset, thorough=False))
    other = processors.under(processors.settings(tmp_path)["plain"], "--few")
    assert len(here) > 15
    assert sum(len(table) == processors.FEW for table in here.values()) > 15, "else little is compared"
    assert processors.differences(here, other) == {}
    changed = next(iter(here))
    assert processors.differences(here, other | {changed: other[changed].iloc[::-1]}) != {}, "it would be seen"
