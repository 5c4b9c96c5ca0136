"""The app in tabs without a browser: the steps from the columns to a signed card, and all that can go wrong."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from privnb import compare, read
from privnb.app import open_table, tasks
from privnb.app.state import AppState
from privnb.datasets.dataset import find_description
from privnb.decision import policies
from privnb.decision.policies import Cap
from privnb.explorer import pins
from privnb.explorer.setting import Setting, find_setting
from privnb.workbench.decision import TableDecision

ROWS = [(f"Zoe Q{i:02}", 20 + i % 30, "FM"[i % 2], "cold" if i % 3 else "flu") for i in range(240)]
TEXT = "name,age,sex,illness\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
STATEMENTS = {"purpose": "research", "legal_basis": "Art. 89", "retention_until": "2030-01-01", "name": "Officer"}


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A described table and a decision about it, made once: `(folder, path, decision)`."""
    folder = tmp_path_factory.mktemp("owner")
    (folder / "people.csv").write_text(TEXT)
    table = read(folder / "people.csv", sensitive="illness")
    path = table.save("people", folder=folder / "data")
    from privnb.workbench.table import Table

    found = compare(Table(path), ["k=5", "k=20"], policy="groups-of-3", seeds=1).choose()
    return folder, path, found


@pytest.fixture
def opened(decided, tmp_path, monkeypatch):
    """The app of a copy of the table, whose slow steps run at once."""
    import shutil

    _, path, found = decided
    monkeypatch.chdir(tmp_path)
    own = Path(shutil.copytree(path.parent, tmp_path / "data" / "people")) / path.name

    def start(self, task, *, done, failed, progress):
        progress(0.5, "half")
        try:
            result = task()
        except ValueError as error:
            failed(str(error))
        else:
            done(result)

    monkeypatch.setattr("privnb.explorer.background.BackgroundWorker.start", start)
    monkeypatch.setattr(tasks, "decide", lambda *_, **__: found)
    return open_table("", str(own), policy="groups-of-3")


def ask(app, tab, name, value=""):
    """Do what a control of a tab asks for, and return the text of the tab."""
    app.show(tab)
    page = app.tabs[tab]
    page._receive(page.parts["body"], {"name": name, "value": value}, None)
    return "".join(part.html for part in page.parts.values())


def test_the_tabs_lead_from_the_table_to_a_signed_card(opened, tmp_path):
    app = opened
    assert [*app.tabs] == ["columns", "policy", "choose", "explore", "card", "release"]
    assert "Publish" in ask(app, "choose", "search")
    assert app.state.choice is not None
    for name, value in STATEMENTS.items():
        text = ask(app, "card", name, value)
    assert "All statements are filled in." in text
    assert "<iframe" in ask(app, "card", "preview")
    assert "Officer" in app.tabs["card"].parts["page"].html
    ask(app, "release", "out", str(tmp_path / "out" / "release.csv"))
    text = ask(app, "release", "write")
    assert "Written: the card states" in text
    printed = text[text.index("What the command line would print") :]
    assert "<li>" in printed, "lists keep their items"
    assert "<p>- " not in printed
    card = json.loads((tmp_path / "out" / "release.csv.card.json").read_text())
    assert card["signed"]["name"] == "Officer"
    assert card["signed"]["retention_until"] == "2030-01-01"
    assert "<dd>Art. 89</dd>" in (tmp_path / "out" / "release.csv.card.html").read_text()


def test_the_card_can_be_taken_from_the_page_under_its_name(opened, tmp_path):
    app = opened
    ask(app, "choose", "search")
    ask(app, "release", "out", str(tmp_path / "out" / "visits.csv"))
    ask(app, "card", "preview")
    assert "visits.csv" in app.tabs["card"].parts["page"].html, "the preview names the file that will be written"
    text = ask(app, "release", "write")
    assert 'download="visits.csv.card.html"' in text
    assert "data:text/html;base64," in text


def test_policies_are_grouped_by_recipient_and_one_that_protects_no_value_says_so(opened):
    app = opened
    text = ask(app, "policy", "policy", "groups-of-3")
    public, restricted = text.index('label="For a release to anybody"'), text.index('label="For recipients under an')
    assert public < text.index('value="ontario-2025"') < restricted < text.index('value="groups-of-3"')
    assert "does not protect sensitive values" in text
    assert "discloses the illness of a person" in text
    assert "does not protect sensitive values" not in ask(app, "policy", "policy", "ontario-2025")


def test_the_choice_states_how_wide_labels_are_and_what_wider_caps_would_bring(opened):
    app = opened
    text = ask(app, "choose", "search")
    assert "How wide the labels are" in text
    widths = {each.column: each for each in app.state.choice.widths}
    assert 0 < widths["age"].typical < widths["age"].domain
    assert f"{widths['age'].typical:g} of {widths['age'].domain:g} values" in text
    assert ("Users learn little" in text) == any(each.typical > each.domain / 2 for each in widths.values())
    place = next(i for i, cap in enumerate(policies.read("groups-of-3").caps) if cap.risk == "identity")
    ask(app, "policy", f"cap {place}", "6")  # groups of 17 people
    strict = tasks.judge_again(app.state.choice, app.tabs["policy"].policy)
    app.state.set("choice", replace(app.state.choice, found=strict))
    text = ask(app, "choose", "profile", "quick")
    assert "Wider cap" in text
    assert "identity of the worst-off person" in text


def test_a_running_step_is_shown_on_every_tab(opened, monkeypatch):
    app = opened
    reports = []
    monkeypatch.setattr(
        "privnb.explorer.background.BackgroundWorker.start",
        lambda self, task, *, progress, **_: reports.append(progress),
    )
    ask(app, "choose", "search")
    reports[0](0.25, "12 of 48 releases")
    assert "12 of 48 releases" in app.tabs["choose"].parts["status"].html
    assert "12 of 48 releases" not in app._bar.html, "the tab says so itself"
    for tab in ("policy", "card", "release"):
        app.show(tab)
        assert f"Searching for a release (since {app.state.since}): 12 of 48 releases" in app._bar.html
        assert "12 of 48 releases" not in app.tabs[tab].parts["status"].html


def test_no_tab_shows_a_record(opened):
    app = opened
    ask(app, "choose", "search")
    ask(app, "card", "preview")
    for tab in app.tabs:
        app.show(tab)
    html = "".join(part.html for tab in app.tabs.values() for part in tab.parts.values())
    assert "Zoe" not in html


def test_changed_caps_lead_to_another_measured_release_at_once(opened):
    app = opened
    ask(app, "choose", "search")
    policy = policies.read("groups-of-3")
    place = next(i for i, cap in enumerate(policy.caps) if cap.risk == "identity")
    text = ask(app, "policy", f"cap {place}", "0.0001")
    assert "none of the measured releases complies" in text
    assert "not saved yet" in text
    assert app.state.policy == "groups-of-3", "only Save changes the policy"
    text = ask(app, "policy", "save")
    own = app.state.path.with_name("policy.toml")
    assert policies.read(own).caps[place].at_most == 0.000001
    assert app.state.policy == str(own)
    assert "Another policy has been selected" in ask(app, "choose", "profile", "quick")
    policies.write_policy(policies.read("k-5"), own)
    assert policies.read(own).caps == policies.read("k-5").caps


def test_our_earlier_policy_is_replaced_only_on_a_second_click_and_is_kept(opened):
    app = opened
    ask(app, "policy", "min_class_size", "4")
    assert "already holds" not in ask(app, "policy", "save")
    own = app.state.path.with_name("policy.toml")
    before = own.read_bytes()
    ask(app, "policy", "min_class_size", "5")
    ask(app, "policy", "cap linkability", "3")
    text = ask(app, "policy", "save")
    assert "The minimum class size is raised from 4 to 5." in text
    assert "A cap of 3% on the linkability risk is added." in text
    assert own.read_bytes() == before, "the first click only asks"
    assert "already holds" not in ask(app, "policy", "cap linkability", "4"), "a change takes the question back"
    ask(app, "policy", "save")
    text = ask(app, "policy", "save")
    assert policies.read(own).min_class_size == 5
    (kept,) = own.parent.glob("policy-*.toml")
    assert kept.read_bytes() == before
    assert f"The earlier policy is kept as {kept.name}" in text
    for size in ("6", "7"):
        ask(app, "policy", "min_class_size", size)
        ask(app, "policy", "save")
        ask(app, "policy", "save")
    assert len([*own.parent.glob("policy-*.toml")]) == 3, "no copy replaces another copy"
    ask(app, "policy", "policy", str(kept))
    assert app.tabs["policy"].policy.min_class_size == 4


@pytest.mark.parametrize("value", ["-1", "101", "much"])
def test_a_cap_that_is_no_percentage_changes_nothing(opened, value):
    text = ask(opened, "policy", "cap 0", value)
    cap = policies.read("groups-of-3").caps[0]
    assert f"the cap on the {cap.subject} must be a number of percent from 0 to 100" in text
    assert f"so {100 * cap.at_most:g} still applies" in text
    assert 'data-control data-key="1"' in text, "the control is drawn again, with the value that applies"
    assert opened.tabs["policy"].policy == policies.read("groups-of-3")


def test_a_value_that_is_typed_back_leaves_no_change(opened):
    app, saved = opened, policies.read("ontario-2025")
    ask(app, "policy", "policy", "ontario-2025")
    for name, value, old in (("cap 0", "3", f"{100 * saved.caps[0].at_most:g}"), ("min_class_size", "12", "11")):
        text = ask(app, "policy", name, value)
        assert "not saved yet" in text
        assert saved.convention not in text
        text = ask(app, "policy", name, old)
        assert "not saved yet" not in text
        assert app.tabs["policy"].policy == saved
    assert "must not be empty" in ask(app, "policy", "title", " ")


def test_our_policy_names_the_source_of_the_caps_that_we_did_not_change(opened):
    app = opened
    for name in ("ontario-2025", "k-5"):
        ask(app, "policy", "policy", name)
        ask(app, "policy", "min_class_size", "7")
        saved, own = policies.read(name), app.tabs["policy"].policy
        assert (
            own.source
            == f"the owner of the data, who changed “{saved.title}”; the unchanged caps come from {saved.source}"
        )
        assert own.verified == saved.verified
    assert {policies.read(name).verified for name in ("ontario-2025", "k-5")} == {True, False}, "else this checks less"


def test_a_minimum_class_size_above_the_number_of_people_is_said(opened):
    assert "The minimum class size is 241, and the table has 240 people." in ask(
        opened, "policy", "min_class_size", "241"
    )
    assert "No release can comply" not in ask(opened, "policy", "min_class_size", "240")


def test_explore_opens_on_the_chosen_release_unless_another_setting_was_set(opened):
    app = opened
    app.show("explore")
    ask(app, "choose", "search")
    app.show("explore")
    board = app.tabs["explore"].board
    chosen = find_setting(app.state.choice.found.sanitizer_of(app.state.choice.found.decision.chosen), board.dataset)
    assert chosen is not None
    assert board.setting == chosen
    assert board.setting.k != Setting().k, "else this checks nothing"
    own = replace(chosen, k=50)
    board.go(own)
    app.state.set("choice", replace(app.state.choice))
    app.show("explore")
    assert board.setting == own
    app.close()


def test_a_file_needs_a_name(opened):
    ask(opened, "choose", "search")
    before = opened.state.out
    assert "Type a file name" in ask(opened, "release", "out", " ")
    assert opened.state.out == before


def test_columns_without_information_are_named_before_the_release_is_written(opened):
    ask(opened, "choose", "search")
    choice = opened.state.choice
    widths = [each._replace(covers_all=1.0 if each.column == "sex" else 0.0) for each in choice.widths]
    opened.state.choice = replace(choice, widths=widths)
    text = ask(opened, "release", "safe", False)
    assert "1 of 2 quasi-identifiers contains no information:</b> sex." in text


def test_a_choice_about_an_earlier_description_is_not_written(opened, tmp_path):
    app = opened
    ask(app, "choose", "search")
    path = app.state.path
    path.write_text(path.read_text() + "\n# edited elsewhere\n")
    assert "has changed since this choice was made" in ask(app, "release", "write")
    assert not (tmp_path / "releases").exists()
    assert "has changed since this choice was made" in ask(app, "card", "preview")


def test_a_data_file_or_a_hierarchy_that_changes_on_disk_is_noticed(opened):
    app = opened
    ask(app, "choose", "search")
    assert not app.state.stale()
    tree = next(app.state.path.parent.glob("hierarchies/default/*.csv"))
    before = tree.read_text()
    tree.write_text(before + "\n")
    assert "has changed since this choice" in app.state.stale()
    tree.write_text(before)
    assert not app.state.stale()
    data = next(each for each in app.state.path.parent.iterdir() if each.suffix in (".csv", ".parquet"))
    data.unlink()
    assert app.state.stale()
    app.show("choose")
    assert "Traceback" not in app.tabs["choose"].parts["body"].html


def test_a_policy_that_vanishes_is_said_on_each_tab(opened):
    app = opened
    ask(app, "choose", "search")
    ask(app, "policy", "min_class_size", "4")
    ask(app, "policy", "save")
    ask(app, "choose", "search")
    Path(app.state.policy).unlink()
    for tab in ("choose", "card", "release"):
        app.show(tab)
        assert "there is no file" in "".join(part.html for part in app.tabs[tab].parts.values()), tab


def test_a_policy_that_no_release_keeps_is_answered_with_the_reason(opened, decided, monkeypatch):
    app, (_, _, found) = opened, decided
    policy = replace(found.found.decision.policy, caps=(Cap("identity", 1e-6),))
    choice = tasks.Choice(found.found, found.explanation, "", "", [])
    strict = TableDecision(found.table, found.dataset, tasks.judge_again(choice, policy))
    monkeypatch.setattr(tasks, "decide", lambda *_, **__: strict)
    text = ask(app, "choose", "search")
    assert "Publish none of these releases" in text
    assert app.state.choice.found.decision.chosen is None
    assert [each.column for each in app.state.choice.widths], "those of the nearest release"
    assert not app.state.running


def test_a_search_that_fails_is_not_begun_again_by_the_page(opened, monkeypatch):
    app = opened
    begun = []

    def fail(self, task, failed, **_):
        begun.append(task)
        failed("the disk is full")

    monkeypatch.setattr("privnb.explorer.background.BackgroundWorker.start", fail)
    text = ask(app, "choose", "search")
    assert "Searching for a release: the disk is full" in text
    ask(app, "choose", "profile", "quick")
    app.show("policy")
    app.show("choose")
    assert len(begun) == 1


def test_a_step_waits_for_a_running_one_and_can_be_stopped(opened, monkeypatch):
    app = opened
    stopped = []
    monkeypatch.setattr("privnb.explorer.background.BackgroundWorker.start", lambda self, task, **_: None)
    monkeypatch.setattr("privnb.explorer.background.BackgroundWorker.stop", lambda self: stopped.append(True))
    ask(app, "choose", "search")
    assert app.state.running == "Searching for a release"
    assert "still runs. Wait until it is done" in ask(app, "choose", "search")
    text = ask(app, "choose", "cancel")
    assert stopped
    assert "was stopped" in text
    assert not app.state.running
    assert not app.state.is_wanted


def test_every_tab_states_that_columns_are_not_saved_and_no_search_runs(opened):
    app = opened
    app.show("columns")
    page = app.tabs["columns"].page

    def answer(name, value):
        page._receive(page._page, {"name": name, "value": value}, None)

    answer("role 1", "unused")
    assert "Save the columns first." in app.tabs["columns"].parts["body"].html
    for tab in ("policy", "choose", "explore", "card", "release"):
        app.show(tab)
        assert "The columns have unsaved changes" in app._bar.html, tab
    text = ask(app, "choose", "search")
    assert text.count("Save the columns first") == 2, "next to the button and as the reason for the refusal"
    assert app.state.choice is None
    answer("save", "")
    app.show("choose")
    assert "unsaved changes" not in app._bar.html
    assert not app.state.has_unsaved_columns


def test_a_draft_opens_at_its_columns_and_no_step_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TEXT)
    app = open_table("people.csv")
    assert app.state.tab == "columns"
    assert "is a draft" in ask(app, "choose", "search")
    app.show("explore")
    assert "is a draft" in app.tabs["explore"].parts["body"].html


def test_a_description_with_studies_offers_them():
    app = open_table("", "adult", study="sramka")
    app.show("columns")
    text = ask(app, "columns", "study", "li-li")
    assert app.state.study == "li-li"
    assert "adult.toml" in text


def test_a_page_that_is_loaded_again_keeps_what_was_stated(tmp_path, monkeypatch):
    monkeypatch.setenv(pins.STATE, str(tmp_path / "board.json"))
    path = find_description("hypertension").resolve()
    from dataclasses import replace

    state = AppState(path)
    state.set("signature", replace(state.signature, purpose="research"))
    state.set("policy", "k-5")
    again = AppState(path)
    assert (again.signature.purpose, again.policy) == ("research", "k-5")
    assert AppState(find_description("twelve").resolve()).policy == "ontario-2025"
    (tmp_path / "app.json").write_text("{")
    assert AppState(path).signature.purpose == ""


def test_a_table_without_a_sensitive_attribute_says_so_where_one_is_needed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plain.csv").write_text("age,sex\n" + "".join(f"{i % 3},{'FM'[i % 2]}\n" for i in range(60)))
    app = open_table("", str(read("plain.csv").save("plain")))
    app.show("explore")
    assert "has no sensitive attribute. Give a column the role sensitive" in app.tabs["explore"].fault
    app.show("choose")
    assert not app.tabs["choose"].fault, "a policy may cap the identity risk alone"


def test_a_table_without_quasi_identifiers_stays_a_draft(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plain.csv").write_text("age,sex\n" + "".join(f"{i % 3},{'FM'[i % 2]}\n" for i in range(60)))
    app = open_table("plain.csv")
    page = app.tabs["columns"].page
    answers = {"role 0": "neutral", "role 1": "neutral", "person": "each", "sensitive": "none", "save": ""}
    for name, value in answers.items():
        page._receive(page._page, {"name": name, "value": value}, None)
    assert "No column is a quasi-identifier yet" in page._page.html
    app.show("choose")
    assert "is a draft" in app.tabs["choose"].parts["body"].html


def test_caps_are_added_and_removed_but_not_all_of_them(opened):
    app = opened
    page = app.tabs["policy"]
    before = policies.read("groups-of-3").caps
    ask(app, "policy", "cap linkability", "3")
    assert page.policy.caps == (*before, policies.Cap("linkability", 0.03))
    ask(app, "policy", f"cap {len(before)}", "")
    assert page.policy.caps == before
    text = ask(app, "policy", "cap attribute of the worst-off person", "40")
    assert page.policy.caps[len(before)] == policies.Cap("attribute", 0.4, "largest")
    assert "This cap is about the person" in text
    assert "near certainty" in text
    for _ in page.policy.caps[1:]:
        text = ask(app, "policy", "cap 0", "")
    text = ask(app, "policy", "cap 0", "")
    assert len(page.policy.caps) == 1
    assert "a policy must cap at least one risk" in text
