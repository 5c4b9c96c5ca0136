"""Of a large table a random sample is mined and clustered, and whoever reads its numbers reads that."""

import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.evaluation import samples
from privnb.evaluation.samples import record_by_record, sampled
from privnb.explorer import panels
from privnb.explorer.numbers import counted, mined
from privnb.explorer.setting import Setting, checked


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(samples, "LEARNED", 70)
    monkeypatch.setattr(samples, "SAMPLE", 60)
    return load(CLINIC)


def test_a_sample_is_taken_of_a_large_table_alone(few):
    sample = record_by_record(few)
    assert len(sample) == 60 < len(few)
    assert sample.table.equals(record_by_record(few).table), "the same people each time"
    assert f"60 of the {len(few)} records" in sampled(sample, len(few)).data
    assert record_by_record(few, 80) is few, "who asks for a number of records has chosen"
    assert record_by_record(sample) is sample
    assert sampled(few, len(few)) is None


def test_a_sample_is_taken_where_each_record_may_have_any_of_many_values(monkeypatch):
    clinic = load(CLINIC)
    monkeypatch.setattr(samples, "SAMPLE", 60)
    assert record_by_record(clinic) is clinic
    values = max(len(set(clinic.cells[a])) for a in clinic.schema.sensitive if not clinic.schema[a].numeric)
    monkeypatch.setattr(samples, "GUESSED", len(clinic) * values - 1)
    assert len(record_by_record(clinic)) == 60
    assert record_by_record(clinic, len(clinic)) is clinic


@pytest.mark.slow
def test_the_explorer_mines_the_sample_and_says_so(few):
    setting = checked(Setting(k=5), few)
    reading, found = counted(few, setting), mined(few, setting)
    assert found.dataset.unique().tolist() == [record_by_record(few).name]
    assert "60 records" in panels.kept(reading, found, "", "")
    assert "60 records" in panels.gained(reading, found, "", "")
    assert "60 records" not in panels.kept(reading, found.assign(dataset=few.name), "", "")
