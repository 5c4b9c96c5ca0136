"""Of a large table a random sample is mined and clustered, and whoever reads its numbers reads that."""

import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.evaluation import samples
from privnb.evaluation.samples import sample_large_table
from privnb.explorer import panels
from privnb.explorer.readings import count_setting, mine_setting
from privnb.explorer.setting import Setting, check_setting
from privnb.reporting.run_notes import show_notes


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(samples, "MAX_RECORDS", 70)
    monkeypatch.setattr(samples, "SAMPLE_SIZE", 60)
    return load(CLINIC)


def test_a_sample_is_taken_of_a_large_table_alone(few):
    sample = sample_large_table(few)
    assert len(sample) == 60 < len(few)
    assert sample.table.equals(sample_large_table(few).table), "the same people each time"
    assert f"60 of the {len(few)} records" in show_notes(sample, few).data
    assert sample_large_table(few, 80) is few, "who asks for a number of records has chosen"
    assert sample_large_table(sample) is sample
    assert show_notes(few, few) is None


def test_a_sample_is_taken_where_each_record_may_have_any_of_many_values(monkeypatch):
    clinic = load(CLINIC)
    monkeypatch.setattr(samples, "SAMPLE_SIZE", 60)
    assert sample_large_table(clinic) is clinic
    values = max(len(set(clinic.cells[a])) for a in clinic.schema.sensitive if not clinic.schema[a].numeric)
    monkeypatch.setattr(samples, "MAX_CELLS", len(clinic) * values - 1)
    assert len(sample_large_table(clinic)) == 60
    assert sample_large_table(clinic, len(clinic)) is clinic


@pytest.mark.slow
def test_the_explorer_mines_the_sample_and_says_so(few):
    setting = check_setting(Setting(k=5), few)
    reading, found = count_setting(few, setting), mine_setting(few, setting)
    assert found.dataset.unique().tolist() == [sample_large_table(few).name]
    assert "60 records" in panels.render_kept(reading, found, "", "")
    assert "60 records" in panels.render_gained(reading, found, "", "")
    assert "60 records" not in panels.render_kept(reading, found.assign(dataset=few.name), "", "")
