"""Of a large table miners learn from a random sample, and whoever reads their numbers reads that."""

import pytest
from made_up import CLINIC

from privnb.explorer import panels
from privnb.explorer.numbers import counted, mined
from privnb.explorer.setting import Setting, checked
from privnb.microdata.dataset import load
from privnb.studies import for_miners, parameters, sampled


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(parameters, "LEARNED", 60)
    return load(CLINIC)


def test_a_sample_is_mined_of_a_large_table_alone(few):
    sample = for_miners(few)
    assert len(sample) == 60 < len(few)
    assert sample.table.equals(for_miners(few).table), "the same people each time"
    assert f"60 of the {len(few)} records" in sampled(sample, len(few)).data
    assert for_miners(few, 80) is few, "who asks for a number of records has chosen"
    assert for_miners(sample) is sample
    assert sampled(few, len(few)) is None


def test_the_explorer_mines_the_sample_and_says_so(few):
    setting = checked(Setting(k=5), few)
    reading, found = counted(few, setting), mined(few, setting)
    assert found.dataset.unique().tolist() == [for_miners(few).name]
    assert "60 records" in panels.kept(reading, found, "", "")
    assert "60 records" in panels.gained(reading, found, "", "")
    assert "60 records" not in panels.kept(reading, found.assign(dataset=few.name), "", "")
