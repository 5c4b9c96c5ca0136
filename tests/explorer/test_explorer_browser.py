"""The explorer in real browsers, by keyboard: in JupyterLab on a sample of Adult, and as the page of `privnb explore`
on a made-up table. What the screen says is what Python computes; no network, no errors, no record of a person.
"""

import json
import os
import re
import signal
import socket
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support import browsing
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.evaluation.predictions import derive_seed
from privnb.explorer.readings import count_setting, mine_setting
from privnb.explorer.setting import STEPS, Setting, apply_roles, check_setting, make_sanitizer, setting_label
from privnb.measures.base import measure_facts

pytestmark = pytest.mark.usefixtures("kernel")
NAME = "09_explore"
# What the board's mark says, once all that was asked is counted.
TOLD = """asked => {
    const mark = document.querySelector(".privnb-status"), state = document.querySelector(".privnb-state");
    if (!mark?.dataset.setting || state.dataset.busy !== "false") return null;
    const setting = JSON.parse(mark.dataset.setting);
    const { lmSuppressShortcuts, ...numbers } = mark.dataset;  // added while the status line has the focus
    return Object.entries(asked).every(([name, value]) => setting[name] === value) && numbers;
}"""
IDLE = """() => document.querySelector(".privnb-state")?.dataset.working === "false" """
MOVED = """before => before !==
    document.querySelector(".privnb-chart svg [stroke='#D55E00']")?.getAttribute("transform")"""
LOADING = """() => {
    window.loading = [];
    new MutationObserver(() => {
        const text = document.getElementById("loading_text")?.textContent;
        if (text && text !== window.loading.at(-1)) window.loading.push(text);
    }).observe(document, { subtree: true, childList: true, characterData: true });
}"""
SAVED = """async () => {
    const { commands } = window.jupyterapp;
    await commands.execute("@jupyter-widgets/jupyterlab-manager:saveWidgetState");
    await commands.execute("docmanager:save");
}"""
ROLES = {"button", "slider", "checkbox", "combobox", "spinbutton", "textbox", "link", "radio", "progressbar", "image"}


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=2000)


@pytest.fixture(scope="module")
def in_lab(lab, browser):
    """The board in JupyterLab: `page`, `outside`, `errors`; `cells` as run; `folder` of the notebook; the server."""
    path = browsing.copy(NAME, lab["root_dir"], RECORDS=2000)
    with browsing.without_network(browser) as opened:
        opened.lab, opened.folder = lab, path.parent
        opened.page.goto(f"{lab['url']}lab/tree/{NAME}.ipynb?token={lab['token']}&reset")
        opened.cells = browsing.run(opened.page)
        yield opened


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """`privnb explore` on the clinic: its `url`, `pid`, and the `folder` of its notebook."""
    root = tmp_path_factory.mktemp("app")
    browsing.copy(NAME, root / "notebooks")
    with browsing.app(root, str(CLINIC), "-p", "K=5") as about:
        yield about | {"folder": root / "notebooks"}


def told(page, **asked):
    """The setting and the numbers that the page tells, once they are those of what is `asked`."""
    mark = dict(page.wait_for_function(TOLD, arg=asked).json_value())
    return Setting(**json.loads(mark.pop("setting"))), {name: float(text) for name, text in mark.items()}


def computed(dataset, setting):
    """The same numbers, by Python alone."""
    rows = count_setting(dataset, setting).results
    names = [row.measure for row in rows.itertuples()]
    return dict(reversed([*zip(names, rows.value, strict=True)]))  # of several targets the first


def agrees(page, dataset, **asked):
    """The setting and the numbers that the page tells, after a comparison with Python."""
    setting, numbers = told(page, **asked)
    expected = computed(dataset, setting)
    assert {name: numbers[name] for name in expected} == pytest.approx(expected, abs=0, rel=0, nan_ok=True)
    return setting, numbers


def press(page, control, *keys):
    """Press keys on a control, once it does something: what the page says and its buttons arrive one by one."""
    page.locator(f"[name={control}]:not([aria-disabled=true])").first.focus()
    for key in keys:
        page.keyboard.press(key)


def release(dataset, setting):
    made = make_sanitizer(setting, dataset)
    return made.sanitize(apply_roles(dataset, setting), rng=derive_seed(setting.seed, made, "sanitize"))


def nameless(page):
    """The controls and pictures that a screen reader could not name; those that it can."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    found = {True: [], False: []}
    for node in nodes:
        if not node["ignored"] and node["role"]["value"] in ROLES:
            name = node.get("name", {}).get("value", "").strip()
            found[bool(name)].append((node["role"]["value"], name))
    return found[False], found[True]


# --- in JupyterLab ---


def test_it_runs_without_a_fault(in_lab, adult):
    outputs = [output for cell in in_lab.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output["output_type"] in ("error", "stream")] == []
    setting, numbers = agrees(in_lab.page, adult, k=10)
    assert setting == check_setting(Setting(), adult)
    assert numbers["k_achieved"] >= 10


@pytest.mark.parametrize(
    ("letter", "steps", "changed"),
    [
        ("k", 1, "k_achieved"),
        ("l", 1, "l_achieved"),
        ("t", 4, "t_achieved"),
        ("delta", 4, "delta_achieved"),
        ("epsilon", 3, "mean_absolute_error"),
    ],
)
def test_a_slider_moves_by_keyboard_to_the_number_of_python(letter, steps, changed, in_lab, adult):
    page, kind = in_lab.page, "LaplaceNoise" if letter == "epsilon" else "Mondrian"
    page.locator("select[name=sanitizer]").select_option(kind)
    setting, before = told(page, sanitizer=kind)
    place = STEPS[letter].index(getattr(setting, letter)) + steps
    press(page, letter, *["ArrowRight"] * steps)
    asked, after = agrees(page, adult, **{letter: STEPS[letter][place]})
    assert asked == replace(setting, **{letter: STEPS[letter][place]})
    assert after[changed] != before[changed]
    press(page, letter, *["ArrowLeft"] * steps)
    assert agrees(page, adult, **{letter: getattr(setting, letter)})[0] == setting


def test_that_something_was_asked_for_is_seen_at_once_until_python_answers(in_lab, adult):
    page, before = in_lab.page, told(in_lab.page)[0]
    said = page.evaluate("""() => {
        const slider = document.querySelector("[name=k]"), { dataset } = document.querySelector(".privnb-state");
        slider.value = Number(slider.value) + 1;
        slider.dispatchEvent(new Event("change", { bubbles: true }));
        return "asked" in dataset && dataset.busy;
    }""")
    assert said == "false", "asked, and nothing of it is known yet"
    agrees(page, adult, k=STEPS["k"][STEPS["k"].index(before.k) + 1])
    page.wait_for_function("""() => !("asked" in document.querySelector(".privnb-state").dataset)""")
    press(page, "undo", "Enter")
    agrees(page, adult, k=before.k)


def test_what_an_adversary_knows_is_chosen_by_keyboard(in_lab, adult):
    page = in_lab.page
    page.locator("select[name=sanitizer]").select_option("Mondrian")
    known = told(page, sanitizer="Mondrian")[0].quasi_identifiers
    page.locator("[name=quasi_identifiers][value=race]").focus()
    page.keyboard.press("Space")
    agrees(page, adult, quasi_identifiers=", ".join(name for name in known.split(", ") if name != "race"))
    page.keyboard.press("Space")
    agrees(page, adult, quasi_identifiers=known)


def test_the_miner_tells_beside_the_interface(in_lab, adult):
    page = in_lab.page
    page.wait_for_function("() => document.querySelector('.privnb-status').dataset.good_utility")
    setting, numbers = told(page)
    rows = mine_setting(adult, setting)
    rows = rows[(rows.measure == "good_utility") & (rows.sanitizer == setting.sanitizer)]
    assert numbers["good_utility"] == pytest.approx(rows.value.iloc[0])
    assert page.get_by_text("Correct predictions from this release").count() == 1


def test_a_sweep_draws_the_whole_curve_and_can_be_cancelled(in_lab, adult):
    page = in_lab.page
    page.locator("select[name=letter]").select_option("k")
    press(page, "sweep", "Enter")
    setting, _ = told(page)
    curve = [replace(setting, k=k) for k in STEPS["k"]]
    possible = [each for each in curve if not count_setting(adult, each).refused]
    page.get_by_role("heading", name=f"{len(possible)} releases drawn").wait_for(timeout=120_000)
    page.wait_for_function(IDLE)  # the miner goes on afterwards

    page.locator("select[name=sanitizer]").select_option("KMember")  # takes long enough
    told(page, sanitizer="KMember")
    page.wait_for_function(IDLE)
    press(page, "sweep", "Enter")
    page.locator("button[name=cancel]").press("Enter")
    page.get_by_text("This task was cancelled.").wait_for()
    page.wait_for_function(IDLE)
    page.locator("select[name=sanitizer]").select_option("Mondrian")
    agrees(page, adult, sanitizer="Mondrian")


def test_a_box_lists_the_releases_inside_it_on_axes_of_ones_own(in_lab, adult):
    page = in_lab.page
    page.locator("select[name=privacy]").select_option("identity_vulnerability")
    heading = page.get_by_role("heading", name="drawn")
    heading.wait_for()
    page.get_by_role("columnheader", name=measure_facts("identity_vulnerability").title).first.wait_for()
    setting, numbers = told(page)
    row = page.get_by_role("row", name=f"{setting_label(setting)} ").first
    vulnerability = measure_facts("identity_vulnerability").bare(numbers["identity_vulnerability"])
    assert row.locator("td").nth(1).text_content() == vulnerability
    everything = heading.text_content().replace("drawn", "in the box")

    ring = page.locator(".privnb-chart svg [stroke='#D55E00']").first
    before = ring.get_attribute("transform")
    press(page, "k", "ArrowRight")
    page.wait_for_function(MOVED, arg=before)
    press(page, "k", "ArrowLeft")
    told(page, k=setting.k)
    page.wait_for_function(f"before => !({MOVED})(before)", arg=before)

    plane = page.locator(".privnb-chart svg .background").first
    plane.scroll_into_view_if_needed()
    within = plane.bounding_box()
    page.mouse.move(within["x"] + 2, within["y"] + 2)
    page.mouse.down()
    page.mouse.move(within["x"] + within["width"] - 2, within["y"] + within["height"] - 2, steps=5)
    page.mouse.up()
    page.get_by_role("heading", name=everything).wait_for()
    page.mouse.dblclick(within["x"] + 50, within["y"] + 50)  # which lets go of the box
    heading.wait_for()
    page.locator("select[name=privacy]").select_option("accuracy_gain")


def test_what_cannot_be_reached_is_said_and_the_board_goes_on(in_lab, adult):
    page = in_lab.page
    press(page, "l", "End")
    setting, numbers = told(page, l=STEPS["l"][-1])
    assert numbers == {}
    page.get_by_text(count_setting(adult, setting).refused).first.wait_for()
    press(page, "l", "Home")
    agrees(page, adult, l=0)


def test_a_process_that_dies_is_said_in_its_panel_and_the_board_goes_on(in_lab, adult):
    page = in_lab.page
    page.wait_for_function(IDLE)
    page.locator("select[name=miner]").select_option("tuned forest")  # takes long enough
    told(page, miner="tuned forest")
    page.wait_for_function(f"() => !({IDLE})()")
    for process in browsing.processes(in_lab.lab["pid"], "privnb.explorer.background"):
        os.kill(process, signal.SIGKILL)
    page.get_by_role("alert").filter(has_text="The miner failed").first.wait_for()
    agrees(page, adult, miner="tuned forest")
    page.locator("button[name=again]").press("Enter")
    page.wait_for_function(f"() => !({IDLE})()")
    page.locator("select[name=miner]").select_option("naive Bayes")
    page.wait_for_function("() => document.querySelector('.privnb-status').dataset.good_utility")


def test_saved_files_hold_the_release_and_no_seed(in_lab, adult):
    page = in_lab.page
    setting, _ = told(page)
    press(page, "save", "Enter")
    page.get_by_text("Saved as").wait_for()
    (table,) = [path for path in (in_lab.folder / "releases").rglob("*.csv") if ".codebook" not in path.suffixes]
    (provenance,) = (in_lab.folder / "releases").rglob("*provenance.json")
    assert not [path for path in (in_lab.folder / "releases").rglob("*.json") if "seed" in path.read_text()]
    assert provenance.is_file()
    saved = pd.read_csv(table, dtype=str, keep_default_na=False)
    own = release(adult, setting).table.astype(str)[list(saved)]
    assert len(saved) == len(adult)
    assert sorted(saved.itertuples(index=False, name=None)) == sorted(own.itertuples(index=False, name=None))


def test_nothing_was_asked_of_the_network_and_no_error_was_said(in_lab):
    assert in_lab.outside == []
    assert in_lab.errors == []


def test_pins_outlive_the_kernel_and_undo_takes_one_back(in_lab, adult):
    page, pins = in_lab.page, in_lab.folder / f"{NAME}.pins.json"
    rows = page.locator(".privnb-pins li")
    first, _ = told(page)
    press(page, "pin", "Enter")
    rows.first.wait_for()
    press(page, "k", "ArrowRight")
    told(page, k=20)
    press(page, "pin", "Enter")
    rows.nth(1).wait_for()
    press(page, "undo", "Enter")
    rows.nth(1).wait_for(state="detached")
    assert json.loads(pins.read_text())["settings"] == [vars(first)]
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    browsing.run(page)
    agrees(page, adult, k=10)
    rows.first.wait_for()
    assert rows.count() == 1


def test_a_pinned_setting_is_gone_to_and_let_go(in_lab, adult):
    page, rows = in_lab.page, in_lab.page.locator(".privnb-pins li")
    press(page, "k", "ArrowRight")
    told(page, k=20)
    press(page, "pin", "Enter")
    rows.nth(1).wait_for()
    press(page, "go", "Enter")
    agrees(page, adult, k=10)
    page.get_by_role("heading", name="2 releases drawn").wait_for()
    press(page, "unpin", "Enter")
    rows.nth(1).wait_for(state="detached")
    assert "k = 20" in rows.first.text_content()


def test_the_saved_notebook_and_its_widgets_show_no_record(in_lab, adult):
    page = in_lab.page
    setting, _ = told(page)
    page.evaluate(SAVED)
    path = in_lab.folder / f"{NAME}.ipynb"
    state = json.loads(path.read_text())["metadata"]["widgets"]
    assert "privnb-status" in json.dumps(state), "the state of the widgets was not saved"
    assert scan(path, original=adult.table, released=[release(adult, setting).table]) == []


# --- as a page of its own ---


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def in_app(served, browser):
    """The page in a dark scheme: `page`, `outside`, `errors`; `folder` of the notebook; what its console `said`, and
    what the page said while it `started`.
    """
    with browsing.without_network(browser, color_scheme="dark") as opened:
        opened.pid, opened.folder, opened.said = served["pid"], served["folder"], []
        opened.page.on("console", lambda message: opened.said.append(message.text))
        opened.page.add_init_script(f"({LOADING})()")
        opened.page.goto(served["url"], timeout=300_000, wait_until="domcontentloaded")
        told(opened.page)
        opened.started = opened.page.evaluate("() => window.loading")
        yield opened


def test_the_page_says_what_it_does_while_it_starts(in_app):
    doing = ["Starting Python …", "Loading the explorer …", "Reading the table …"]
    assert in_app.started[: len(doing)] == doing
    assert in_app.started[-1] == "Drawing the board …"
    assert not in_app.page.locator("#loading").is_visible()


def test_the_page_is_the_board_alone_without_a_fault(in_app, served):
    page = in_app.page
    page.wait_for_function(IDLE)
    assert page.locator(".jp-OutputArea-output").count() == 1, "something stands beside the board"
    assert page.get_by_text(re.compile(r"\wError\b|Traceback")).count() == 0
    assert not [text for text in in_app.said if "nsatisf" in text]
    log = (served["folder"].parent / "log.txt").read_text()
    assert "WARNING" not in log
    assert "ERROR" not in log


def test_the_worst_class_moves_with_the_slider_and_dead_steps_are_said(in_app):
    page = in_app.page
    page.wait_for_function(IDLE)
    slider = page.get_by_role("slider", name="k", exact=True)
    press(page, "k", "Home")
    said = []
    for k in STEPS["k"][1:7]:
        press(page, "k", "ArrowRight")
        told(page, k=k)
        said.append(page.locator("section:has(> #privnb-worst)").inner_text())
    assert len(set(said)) > 1
    assert "an adversary knows that a person belongs to this class" in said[-1]
    press(page, "k", "End")
    assert slider.get_attribute("aria-valuetext") == "1000 people: not reachable"
    press(page, "k", "Home", "ArrowRight", "ArrowRight")
    told(page, k=5)
    menu = page.get_by_role("combobox", name="From left to right")
    menu.select_option("region")
    page.wait_for_function("() => document.querySelector('.privnb-boxes svg')?.ariaLabel.includes('region')")
    menu.select_option("age")
    assert in_app.errors == []


def test_the_page_is_named_and_shows_no_code(in_app, clinic):
    page = in_app.page
    title = json.loads((in_app.folder / f"{NAME}.ipynb").read_text())["cells"][0]["source"]
    assert page.title() == "".join(title).splitlines()[0].removeprefix("# ")
    assert page.locator("html").get_attribute("lang") == "en"
    assert "explorer.explore(" not in page.content()
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert max(light[:3]) < 80, "it is not dark where the browser is"


def test_the_page_tells_the_numbers_of_python(in_app, clinic):
    page = in_app.page
    _, before = agrees(page, clinic, k=5)
    press(page, "k", "ArrowRight")
    _, after = agrees(page, clinic, k=10)
    assert before["classes"] > after["classes"]


def test_every_control_has_a_name_and_is_reached_by_tab(in_app):
    page = in_app.page
    page.locator(".privnb-more summary").click()
    page.locator(".privnb-add summary").click()
    without, named = nameless(page)
    assert without == []
    assert {"slider", "button", "combobox", "checkbox", "spinbutton"} <= {role for role, _ in named}
    reached = set()
    page.locator("select[name=sanitizer]").focus()
    for _ in range(150):
        reached.add(page.evaluate("() => document.activeElement.name"))
        page.keyboard.press("Tab")
    enabled = page.locator("main :is(input, select, button):not(:disabled)")
    assert set(enabled.evaluate_all("all => all.map(it => it.name)")) - {""} <= reached


def test_the_page_shows_no_record(in_app, clinic, tmp_path):
    setting, _ = told(in_app.page)
    html = in_app.page.content()
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    shown = [release(clinic, setting).table]
    assert scan(tmp_path, original=clinic.table, released=shown, canaries=canaries) == []
    record = "".join(f"<td>{value}</td>" for value in clinic.table.iloc[57])
    planted = html.replace("</main>", f"<table><tr>{record}</table></main>")
    (tmp_path / "page.html").write_text(planted, encoding="utf-8")
    assert scan(tmp_path, original=clinic.table, released=shown), "it would not see one"


def test_the_board_is_as_it_was_after_a_reload_and_a_closed_page_ends_its_kernel(in_app, clinic):
    page = in_app.page
    press(page, "pin", "Enter")
    page.locator(".privnb-pins li").first.wait_for()
    page.locator("select[name=utility]").select_option("certainty_penalty")
    page.locator("select[name=utility] option[value=certainty_penalty][selected]").wait_for(state="attached")
    setting, _ = told(page)
    assert setting.k != 5, "it is not what `privnb explore` was asked for"
    page.reload(timeout=300_000, wait_until="domcontentloaded")
    assert agrees(page, clinic)[0] == setting
    page.wait_for_function("() => document.querySelector('select[name=utility]').value === 'certainty_penalty'")
    assert page.locator(".privnb-pins li").count() == 1
    beside = {path.name for path in in_app.folder.iterdir()}
    assert beside == {"09_explore.ipynb", "09_explore.pins.json"}, "where the board stands is the server's own file"
    assert len(browsing.kernels(in_app.pid)) == 1, "the page that was left has a kernel"
    assert in_app.outside == []
    assert in_app.errors == []
    page.close(run_before_unload=True)
    until = time.monotonic() + 30
    while time.monotonic() < until and browsing.kernels(in_app.pid):
        time.sleep(0.2)
    assert browsing.kernels(in_app.pid) == []


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("voila/files/09_explore.ipynb", "127.0.0.1", 403),
        ("voila/files/09_explore.pins.json", "127.0.0.1", 403),
        ("api/kernels/00000000-0000-0000-0000-000000000000", "127.0.0.1", 403),
        ("api/kernels/00000000-0000-0000-0000-000000000000/channels", "127.0.0.1", 403),
        ("?token={}", "elsewhere.example", 403),
        ("api/kernels/00000000-0000-0000-0000-000000000000?token={}", "elsewhere.example", 403),
        ("api/kernels/00000000-0000-0000-0000-000000000000?token={}", "127.0.0.1", 404),  # so that is not why
    ],
)
def test_it_answers_to_nobody_else(path, host, status, served):
    url, token = served["url"].split("?token=")
    request = urllib.request.Request(url + path.format(token), headers={"Host": host})
    with pytest.raises(urllib.error.HTTPError, match=str(status)):
        urllib.request.urlopen(request, timeout=30)


def test_it_is_on_this_machine_only_and_without_its_token_there_is_a_login(served):
    url, token = served["url"].split("?token=")
    assert len(token) >= 32
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert "/login" in answer.url
        policy = answer.headers["Content-Security-Policy"].split("; ")
        assert policy[0].startswith("default-src 'self'")
        assert {"base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'", "object-src 'none'"} <= {*policy}
    with pytest.raises(ConnectionRefusedError):  # it would answer if it listened on all addresses
        socket.create_connection(("127.0.0.2", int(url.rstrip("/").rpartition(":")[2])), timeout=30)


def test_a_kernel_ends_with_a_server_that_is_killed(served):
    """It is no child of the server, and the process between them would live as long as it."""
    urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(served["url"], timeout=120).close()
    below = [each for each in browsing.processes(served["pid"], "") if each != served["pid"]]
    assert browsing.kernels(served["pid"])
    os.kill(served["pid"], signal.SIGKILL)
    until = time.monotonic() + 30
    while time.monotonic() < until and any(map(alive, below)):
        time.sleep(0.2)
    assert [each for each in below if alive(each)] == []


def alive(process):
    """Whether it is there, and no mere entry in the table of processes."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False
