"""The documentation builds offline without a warning, its links resolve, and it has an entry for everything."""

import html
import re
import subprocess
import sys
from dataclasses import fields
from functools import cache
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import privnb
from privnb.attacks.base import Attack
from privnb.cli import command
from privnb.decision.policies import Cap, Need, Policy
from privnb.evaluation.results import COLUMNS
from privnb.measures.base import list_measures
from privnb.miners.reference import SETS
from privnb.privacy_models import PrivacyModel
from privnb.reporting.notebooks import choose_notebooks
from privnb.runtime.errors import PrivnbError
from privnb.runtime.registry import find_classes
from privnb.sanitizers import Sanitizer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in DOCS.rglob("*.md") if path.parent.name not in ("classes", "functions", "pages")]
TEXTS = [*PAGES, *ROOT.glob("*.md")]


@pytest.fixture(scope="module", params=[pytest.param("html", marks=pytest.mark.slow)])
def site(tmp_path_factory, request):
    """Return the folder of the built site, whose gallery links a report of one page."""
    folder = tmp_path_factory.mktemp("site")
    report = folder / "report"
    report.mkdir()
    (report / "index.html").write_text("<p>The report.</p>")
    for notebook in choose_notebooks(ROOT / "notebooks"):
        (report / f"{notebook.name}.html").write_text("<p>A page.</p>")
    options = ["-W", "--keep-going", "--nitpicky", "--quiet", "-d", folder / "cache", "-D", f"privnb_report={report}"]
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", request.param, *options, DOCS, folder / "html"],
        capture_output=True,
        text=True,
    )
    assert made.stderr == ""
    assert made.returncode == 0
    return folder / "html"


@cache
def text(path):
    return path.read_text(encoding="utf-8")


@cache
def anchors(path):
    return {html.unescape(name) for name in re.findall(r'\bid="([^"]*)"', text(path))}


@cache
def codes(path):
    """Return the texts of a page that are set as code."""
    found = re.findall(r"<code[^>]*>(.*?)</code>", text(path), re.DOTALL)
    return {html.unescape(re.sub(r"<[^>]*>", "", each)) for each in found}


def test_every_link_leads_to_a_page_and_an_anchor(site):
    broken = []
    for page in site.rglob("*.html"):
        for link in re.findall(r'\b(?:href|src)="([^"]*)"', text(page)):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment) if target.suffix == ".html" else ""
            if not target.is_file() or (anchor and anchor not in anchors(target)):
                broken.append((str(page.relative_to(site)), link))
    assert broken == []


def test_no_page_loads_anything_from_the_network(site):
    loads = re.compile(r"<(?:script|img|iframe|source)[^>]*\bsrc=\"(?:https?:)?//|<link[^>]*\bhref=\"(?:https?:)?//")
    styles = re.compile(r"(?:@import\s+|url\()\s*[\"']?(?:https?:)?//")
    assert [page for page in site.rglob("*.html") if loads.search(text(page)) or styles.search(text(page))] == []
    assert [style for style in site.rglob("*.css") if styles.search(text(style))] == []


def test_every_public_name_and_every_method_has_a_page(site):
    kinds = [kind for base in (Sanitizer, PrivacyModel, Attack) for kind in find_classes(base)]
    names = {*privnb.__all__, *(kind.__name__ for kind in kinds if kind.__module__.startswith("privnb."))}
    pages = {page.stem: page for page in site.glob("reference/*/*.html")}
    assert {name for name in names if f"privnb.{name}" not in anchors(pages[name])} == set()
    assert {*pages} == names


def test_the_catalogues_list_every_method(site):
    for base, page in (Sanitizer, "sanitizers"), (PrivacyModel, "privacy-models"), (Attack, "attacks"):
        own = {kind.__name__ for kind in find_classes(base) if kind.__module__.startswith("privnb.")}
        assert own <= codes(site / "reference" / f"{page}.html"), page
    assert {*chain.from_iterable(SETS.values())} <= codes(site / "reference" / "miners.html")


def test_every_measure_has_its_range_its_direction_and_its_source(site):
    page = text(site / "reference" / "measures.html")
    for measure in (each for each in list_measures() if each.sentence):  # other tests register some without
        place = measure.name.replace("_", "[-_]")
        found = re.findall(rf'<section id="(?:measure-)?{place}">.*?</section>', page, re.DOTALL)
        assert len(found) == 1, measure.name
        (entry,) = found
        assert "Range: " in entry, measure.name
        assert f"Better: {measure.better or 'neither'}" in entry, measure.name
        assert ("Source: " in entry) == bool(measure.source)


def test_every_command_and_option_has_an_entry(site):
    parser = command.parser()
    (inner,) = (each for each in parser._actions if hasattr(each.choices, "values"))
    there = anchors(site / "reference" / "command-line.html")
    for each in (parser, *inner.choices.values()):
        command_id = each.prog.replace(" ", "-")
        options = [*chain.from_iterable(action.option_strings for action in each._actions)]
        assert {option for option in options if f"cmdoption-{command_id}-{option.strip('-')}" not in there} == set()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("results", COLUMNS),
        (
            "policy",
            [key.name for kind in (Policy, Cap, Need) for key in fields(kind) if key.name not in ("name", "sha256")],
        ),
        ("exit-statuses", [kind.code for kind in find_classes(PrivnbError) if kind.__module__.startswith("privnb")]),
        ("parameters", [name for notebook in choose_notebooks(ROOT / "notebooks") for name in notebook.values]),
    ],
)
def test_every_name_has_an_entry(site, page, names):
    assert {*names} - codes(site / "reference" / f"{page}.html") == set()


def test_every_field_of_a_card_and_every_key_of_a_description_has_a_meaning(site):
    for page in ("card", "description"):
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text(site / "reference" / f"{page}.html"), re.DOTALL)
        cells = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in rows]
        assert len(cells) > 30
        assert [row[0] for row in cells if row and not re.sub(r"<[^>]*>|\s", "", row[2])] == []


def slugs(path):
    """Return the anchors that GitHub gives to the headings of a Markdown file."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text(path), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_text_lead_somewhere(path):
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text(path), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", prose):
        file, _, anchor = unquote(link).partition("#")
        target = DOCS / file.lstrip("/") if file.startswith("/") else path.parent / file if file else path
        if "{{" in link or target.parent.name in ("classes", "functions", "pages"):
            continue  # of a template, and pages that the build writes
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in slugs(target) or f"({anchor})=" in text(target), link
