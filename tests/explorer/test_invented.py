"""Tables that their owners declare invented: the screen shows everything, and files for others show no more."""

import json
import pickle
import shutil
from html import unescape

import pytest

import privnb as pn
from privnb.datasets.dataset import find_description, load
from privnb.datasets.draft import draft_table
from privnb.explorer.board import explore
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import Setting
from privnb.microdata import withholding
from privnb.microdata.schema import SchemaError
from privnb.publishing.gate import Refused

LINE = "This table is declared invented; nothing is withheld on this screen."
CLAIM = "The owner of the table declares that its records are invented."
THREE = Setting(k=3)


@pytest.fixture
def undeclared(tmp_path):
    """The description of the twelve people without the declaration."""
    folder = shutil.copytree(find_description("twelve").parent, tmp_path / "twelve")
    path = folder / "twelve.toml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("invented")))
    return path


def board(dataset, folder, setting=THREE, **options):
    made = explore(dataset, setting, pins=folder / "pins.json", **options)
    made.close()
    return made


def shown(made):
    return " ".join(unescape(page.html) for page in made._pages.values())


def test_shipped_invented_tables_are_declared():
    assert [name for name in ("adult", "census", "coins", "hypertension", "twelve") if load(name).schema.invented] == [
        "coins", "hypertension", "twelve"
    ]  # fmt: skip


def test_board_of_invented_table_shows_rows_and_all_numbers(tmp_path):
    made = board(load("twelve"), tmp_path)
    assert "withheld" not in shown(made).replace(LINE, "")
    assert shown(made).count(LINE) == 1
    assert list(made.reading.rows) == ["age", "house", "illness"]
    assert len(made.reading.rows) == 12
    assert made.reading.results.value.notna().all()
    assert made.place.chart.spec["datasets"]


@pytest.mark.parametrize("sanitizer", ["Identity", "Suppress", "LaplaceNoise", "Anatomy"])
def test_rows_of_every_kind_of_release_are_shown(tmp_path, sanitizer):
    made = board(load("twelve"), tmp_path, Setting(sanitizer, l=2, epsilon=1))
    assert len(made.reading.rows) == 12, made.fault


def test_same_table_without_declaration_is_withheld(tmp_path, undeclared):
    made = board(load(undeclared), tmp_path)
    assert LINE not in shown(made)
    assert "withheld" in shown(made)
    assert isinstance(made.reading.rows, str)


def test_screen_limit_leads_into_no_store_and_no_command(tmp_path):
    made = board(load("twelve"), tmp_path, store=str(tmp_path / "store"), min_count=20)
    assert made.store == ""
    assert "MIN_COUNT=20" in shown(made)


@pytest.mark.parametrize("limit", [1, 0, True])
def test_nobody_can_ask_for_screen_limit(limit):
    with pytest.raises(ValueError, match="at least 2"):
        count_setting(load("twelve"), THREE, min_count=limit)
    with pytest.raises(ValueError, match="at least 2"):
        withholding.limit_on_screen(False, limit)


def test_reports_keep_threshold_rule(tmp_path):
    made = board(load("twelve"), tmp_path)
    reading = count_setting(load("twelve"), THREE, min_count=10)
    assert isinstance(reading.rows, str)
    assert reading.results.value.isna().any()
    assert made.reading.results.value.notna().all()


def test_limit_survives_its_way_to_another_process():
    limit = pickle.loads(pickle.dumps(withholding.limit_on_screen(True)))
    assert len(count_setting(load("twelve"), THREE, min_count=limit).rows) == 12


def test_limit_on_screen():
    assert withholding.limit_on_screen(False, 20) == 20
    assert withholding.check_min_count(withholding.limit_on_screen(True)) == 1


def test_declaration_survives_other_roles_and_samples():
    dataset = load("twelve", roles={"house": "neutral"})
    assert dataset.schema.invented
    assert dataset.sample(8, rng=1).schema.invented
    assert dataset.with_known(["house"]).schema.invented


@pytest.mark.parametrize("value", ['"yes"', "1", "2026-11-30"])
def test_declaration_is_true_or_false(undeclared, value):
    undeclared.write_text(undeclared.read_text().replace("[dataset]", f"[dataset]\ninvented = {value}"))
    with pytest.raises(SchemaError, match="invented must be true or false"):
        load(undeclared)


def test_describe_never_proposes_declaration(tmp_path):
    (tmp_path / "street.csv").write_text(find_description("twelve").with_name("twelve.csv").read_text())
    path, _ = draft_table(tmp_path / "street.csv", folder=tmp_path / "data")
    assert "invented" not in path.read_text()


def test_gate_asks_for_override_and_provenance_holds_claim(tmp_path):
    table = pn.read("twelve")
    with pytest.raises(Refused):
        table.sanitize(pn.Identity()).write(tmp_path / "original.csv")
    made = table.sanitize("k=3").write(tmp_path / "release.csv")
    held = json.loads((tmp_path / "release.csv.provenance.json").read_text())
    assert held["declared"] == "invented"
    assert CLAIM in held["note"]
    assert held["made"]["at"][:10] in next(str(each) for each in made.notes if each.code == "declared-invented")


def test_release_of_undeclared_table_holds_no_claim(tmp_path, undeclared):
    made = pn.read(undeclared).sanitize("k=3").write(tmp_path / "release.csv")
    assert "declared" not in made.provenance
    assert CLAIM not in " ".join(made.notes)


def test_notebook_shows_invented_records(undeclared):
    table, other = pn.read("twelve"), pn.read(undeclared)
    assert LINE in table._repr_html_()
    assert "12 invented records" in table._repr_html_()
    assert LINE not in other._repr_html_()
    assert "invented records" not in other._repr_html_()
    release, hidden = table.sanitize("k=3")._repr_html_(), other.sanitize("k=3")._repr_html_()
    assert LINE in release
    assert "12 rows" in release
    assert "21-33" in release
    assert "21-33" not in hidden
