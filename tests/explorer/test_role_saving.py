"""Roles that are tried on the board are written into the description, and then a release can be saved."""

import re
import shutil
from html import unescape

import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.explorer.board import explore
from privnb.explorer.readings import count_setting
from privnb.explorer.role_saving import find_role_change, save_roles
from privnb.explorer.setting import Setting
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime.errors import UsageError

REGION = Setting(k=5, sensitive="region", quasi_identifiers="age, weight, postcode")


@pytest.fixture
def own(tmp_path):
    """The path of a description of the owner's, without studies."""
    shutil.copytree(CLINIC.parent, tmp_path / "clinic")
    path = tmp_path / "clinic" / CLINIC.name
    text = re.sub(r"\[studies\..*?(?=\[columns)", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r'(\[columns\.ward\]\nrole = )"[^"]*"', r'\1"unused"', text)
    path.write_text(text.replace('default_study = "clinic"\n', ""))
    return path


def test_a_change_names_the_columns_that_are_no_longer_assumed_known(own):
    dataset = load(own)
    assert find_role_change(dataset, Setting(k=5), own) is None
    change = find_role_change(dataset, REGION, own)
    assert change.roles == {"region": Role.SENSITIVE}
    assert change.before == {"region": Role.QUASI_IDENTIFIER}
    assert change.unknown == ["region"]
    assert (change.kind, change.path) == ("", own)


def test_saved_roles_are_those_of_the_description_and_the_release_may_be_saved(own):
    dataset = load(own)
    assert count_setting(dataset, REGION).terms.refused
    saved = save_roles(dataset, REGION, own)
    assert saved.schema["region"].role == load(own).schema["region"].role == Role.SENSITIVE
    assert find_role_change(saved, REGION, own) is None
    assert not count_setting(saved, REGION).terms.refused
    assert len(saved) == len(dataset)


def test_sample_rows_are_shown_while_roles_are_tried_and_hold_no_sensitive_value(own):
    rows = count_setting(load(own), Setting(k=20, sensitive="region", quasi_identifiers="age, postcode")).rows
    assert list(rows) == ["age", "postcode"]


def test_a_description_that_was_changed_meanwhile_is_left_alone(own):
    dataset = load(own)
    text = own.read_text().replace('[columns.weight]\nrole = "quasi-identifier"', '[columns.weight]\nrole = "neutral"')
    assert text != own.read_text()
    own.write_text(text)
    with pytest.raises(SchemaError, match="Nothing is written"):
        save_roles(dataset, REGION, own)
    assert own.read_text() == text


def test_a_study_is_named_with_the_lists_to_write():
    dataset = load("twelve")
    change = find_role_change(dataset, Setting(sensitive="house", quasi_identifiers="age"))
    assert (change.kind, change.study) == ("study", "twelve")
    assert change.lists["sensitive"] == ["house", "illness"]
    with pytest.raises(UsageError, match="text editor"):
        save_roles(dataset, Setting(sensitive="house", quasi_identifiers="age"))


def test_a_read_only_description_is_to_be_copied(own, monkeypatch):
    dataset = load(own)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert find_role_change(dataset, REGION, own).kind == "read-only"


def test_the_board_says_what_saving_means_and_goes_on_with_the_saved_roles(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    board = explore(load(own), Setting(k=5), pins=tmp_path / "pins.json", source=str(own))

    def page(name):
        return unescape(board._pages[name].html)

    def use(name, value=""):
        board._receive(board._pages["form"], {"name": name, "value": value}, [])

    try:
        assert page("roles") == ""
        use("sensitive", "region")
        assert "no longer assumes that an adversary knows region" in page("roles")
        assert "for trying out" in page("roles")
        use("save-roles")
        assert board.fault == ""
        assert "saved in the description" in page("roles")
        assert board.dataset.schema["region"].role == Role.SENSITIVE
        assert board.setting.sensitive == "region"
        assert board.reading
        assert not board.reading.terms.refused
        use("undo")
        assert "for trying out" in page("roles"), "the former roles are now those that are tried"
    finally:
        board.close()
