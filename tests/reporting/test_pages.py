"""What the index and a page say first, on pages made of made-up cells."""

import re
from math import nan
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest

from privnb.datasets.dataset import PROJECT
from privnb.evaluation.results import COLUMNS
from privnb.papers import ledger
from privnb.papers.ledger_page import Ledger
from privnb.reporting import glossary, pages, rendering
from privnb.runtime.sentences import B, say

SVG = '<svg width="200" height="100" viewBox="0 0 200 100"><text>axis</text></svg>'


def line(kind, title, *numbers, format="{:%} of people", better="lower"):
    original, release, baseline = numbers or (None, None, None)
    return SimpleNamespace(
        kind=kind, title=title, format=format, better=better, original=original, release=release, baseline=baseline
    )


SUMMARY = SimpleNamespace(
    setting="Mondrian, k = 10",
    reserved=2,
    reason="It loses least of <those> that keep all caps.",
    lines=(
        line("risk", "found by a neighbour", (0.52, 0.5, 0.54), (nan, 0, 0.02), (0.0, nan, nan)),
        line("risk", "membership", format=""),
        line("utility", "detail lost", (0.0, nan, nan), (0.15, nan, nan), (1.0, nan, nan), format="{:%}"),
    ),
)


def cell(output=None, *tags, source="step()", **data):
    data = data or ({"text/html": output} if output else {})
    outputs = [nbformat.v4.new_output("display_data", data=data)] if data else []
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata={"tags": [*tags]})


def made(*cells, summary=None, name="01_a", text="Words."):
    """`{file name: HTML}` of a report of one notebook of these cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Who?\n\n{text}"), *cells])
    chosen = [SimpleNamespace(name=name, values={}, parameters={}, path=None)]
    return pages.make(
        chosen, {name: nbformat.writes(notebook)}, Ledger(ledger.compare(pd.DataFrame(columns=COLUMNS))), summary
    )


def words(html):
    return rendering.plain(re.sub("</t[hd]>", " ", html[html.index("<main") :]))


ANSWER = say("First is **not** bold: 5% of people.", "Then a detail.", ["and one more"])._repr_html_()


def test_the_index_says_the_decision_with_its_numbers_beside_original_and_baseline():
    chart = cell(None, "key", "summary", **{"image/svg+xml": SVG})
    html = made(chart, cell(ANSWER, "answer"), summary=SUMMARY)["index.html"]
    said = words(html)
    for part in (
        "Recommended, with 2 reservations: Mondrian, k = 10. It loses least of <those> that keep all caps. How it",
        "Found by a neighbour share of people 52% 50% to 54% 0% to 2% withheld 0% Membership not measured",
        "Utility Original Release Baseline Detail lost 0% 15% 100%",
    ):
        assert part in said, part
    assert html.count("<figure") == 1
    assert "Withheld: it would tell of few people." in said
    assert "<text>" in html[: html.index("Questions")]
    assert "<text>" not in html[html.index("Questions") :], "a small chart has no words"


def test_a_page_shows_invisible_characters_as_escapes():
    html = made(cell("<p>a\u202eb</p>"), text="Of z\u200bip.")["01_a.html"]
    assert not {"\u202e", "\u200b"} & {*html}
    assert r"<p>a\u202eb</p>" in html


def test_without_a_decision_the_index_is_the_list_of_pages_alone():
    html = made(cell(ANSWER, "answer"))["index.html"]
    assert "<table" not in html
    assert "Recommended" not in html
    assert "5% of people." in html


def test_a_page_that_could_decide_nothing_recommends_nothing():
    """Without the verdict its reader would look for the least bad release in the other pages."""
    silent = say(f"{B}This page has nothing to say.{B} The table has no quasi-identifier. Give one.")._repr_html_()
    html = made(cell(silent, "answer", "summary", source=""), text="")
    said = words(html["index.html"])
    assert "No release is recommended. The table has no quasi-identifier. Give one. How it was decided" in said
    assert "is sanitized" not in said
    assert "How this was found" not in html["01_a.html"], "nothing was"


def test_no_release_recommended_is_said_so():
    none = SimpleNamespace(**{**vars(SUMMARY), "setting": "", "reason": "All are below the floor."})
    assert "No release is recommended. All are below the floor." in words(made(summary=none)["index.html"])


def test_a_page_says_answer_and_chart_first_and_the_details_at_their_place():
    chart = cell(None, "key", **{"image/svg+xml": SVG})
    head = nbformat.v4.new_markdown_cell
    html = made(head("## Step"), chart, head("## Seen"), cell(ANSWER, "answer"), head("## Sources\n- book"))[
        "01_a.html"
    ]
    said = words(html)
    places = [
        said.index(part) for part in ("Who?", "First is", "How this was found", "Words.", "Step", "Seen", "Then a")
    ]
    assert places == sorted(places)
    assert said.count("First is") == said.count("Then a detail.") == html.count("<figure") == 1
    assert html.index("<figure") < html.index("How this was found")


def test_a_heading_under_which_nothing_is_left_goes():
    html = made(nbformat.v4.new_markdown_cell("## What we saw"), cell(say("All.")._repr_html_(), "answer"), cell())
    assert "What we saw" not in html["01_a.html"]


def test_a_page_without_an_answer_says_what_it_has():
    html = made(cell(say("This page has nothing to say about this table.")._repr_html_()))["01_a.html"]
    assert "nothing to say about this table" in html
    assert "How this was found" not in html


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("At most 5.5% of people. More.", "At most 5.5% of people."),
        ("word " * 25, ("word " * 25).strip()),
        ("A 1 (by chance; 2) and b; " + "word " * 25, "A 1 (by chance; 2) and b."),
        ("Loses 5% (" + "word " * 24 + ") of k = 10, more than b.", "Loses 5% of k = 10, more than b."),
        ("A, k = 2, is " + "word " * 24, "A, k = 2."),
        ("word " * 26, "word " * 25 + "..."),
    ],
)
def test_the_index_says_one_sentence_of_at_most_25_words(text, cut):
    assert pages._cut(text) == cut


# --- tables that are walls ---


@pytest.mark.parametrize(
    ("rows", "columns", "value", "wall"),
    [
        (12, 8, 1.5, ""),
        (13, 2, 1.5, "Table of 13 rows and 2 columns: a0, a1"),
        (2, 9, 1.5, "Table of 2 rows and 9 columns: a0, a1, a2, a3, a4, a5, ..."),
        (13, 2, "words that are read", ""),
    ],
)
def test_a_wall_of_numbers_is_folded_behind_what_it_holds(rows, columns, value, wall):
    table = pd.DataFrame({f"a{i}": [value] * rows for i in range(columns)})
    assert rendering.wall(table.to_html()) == wall
    assert rendering.wall(f"<details>{table.to_html()}</details>") == "", "it is folded already"


def test_a_cell_of_words_is_prose_and_one_of_numbers_is_not():
    table = pd.DataFrame(
        {"what it does": ["Cut the records in two, again and again."], "k": ["1,407 (1,387 to 1,424)"]}
    )
    assert rendering._table(table.to_html()).count('<td class="prose">Cut') == 1
    assert "<td>1,407" in rendering._table(table.to_html())


# --- the glossary ---


def test_a_page_explains_a_word_where_it_says_it_first_and_nowhere_else():
    explained = glossary.FirstUses()
    html = explained("<p>k-anonymity of a <code>class</code>; each class. <a href='x'>nats</a></p>")
    assert re.findall(r'class="term" href="([^"]*)"[^>]*>([^<]*)<', html) == [
        ("glossary.html#term-k", "k-anonymity"),
        ("glossary.html#term-class", "class"),
    ]
    assert explained("<p>k-anonymity, k = 3, classes</p>") == "<p>k-anonymity, k = 3, classes</p>"


def test_the_longest_word_is_explained():
    assert ">sensitive attributes</a>" in glossary.FirstUses()("sensitive attributes")


def test_words_of_a_worked_example_are_explained():
    html = glossary.FirstUses()("<p>A label of the release. The lattice has 16 nodes; a policy, with reservations.</p>")
    linked = re.findall(r'href="glossary.html#term-([^"]*)"', html)
    assert linked == ["label", "release", "lattice", "node", "policy", "reservation"]


def test_every_word_has_a_place_and_a_sentence_of_its_own():
    terms = glossary.terms()
    assert len({term.place for term in terms}) == len(terms)
    html = made()["glossary.html"]
    for term in terms:
        assert f'id="{term.place}"' in html
        assert term.means.endswith("."), term
    names = [term.name for term in terms]
    for name in ("nat", "ZeroR", "k", "l", "t", "delta", "epsilon", "baseline", "control", "quasi-identifier"):
        assert name in names, name
    for name in ("policy", "reservation", "study", "worst miner", "lattice", "label", "node", "suppression", "release"):
        assert name in names, name
    assert "Mondrian" in html


def test_names_of_a_table_stay_text_where_words_are_explained():
    said = say("The class of &<b>class</b>\"'")._repr_html_()
    html = glossary.FirstUses()(said)
    assert rendering.plain(html) == rendering.plain(said)
    assert "<b>" not in html


def test_on_a_phone_the_second_column_of_words_is_in_sight(tmp_path, browser):
    """Else a question fills the screen, and who reads it does not see that an answer stands beside it."""
    words = "the least utility loss with a privacy loss of at most one half"
    html = pd.DataFrame({"question": [words], "which": ["Local recoding"]}).to_html(index=False)
    for name, text in made(cell(html)).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "01_a.html").as_uri())
    right = "() => document.querySelector('td:nth-child(2)').getBoundingClientRect().right"
    assert page.evaluate(right) < 390
    page.close()


def test_a_tall_chart_is_whole_on_a_phone_and_on_a_sheet_of_paper(tmp_path, browser):
    """On paper it stands below its answer; a phone does not squeeze a chart into the height that a wide screen has."""
    tall = SVG.replace(
        'width="200" height="100" viewBox="0 0 200 100"', 'width="300" height="900" viewBox="0 0 300 900"'
    )
    chart = cell(None, "key", "summary", **{"image/svg+xml": tall})
    for name, text in made(chart, cell(ANSWER, "answer"), summary=SUMMARY).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    height = "() => document.querySelector('figure svg').getBoundingClientRect().height"
    page.goto((tmp_path / "index.html").as_uri())
    assert page.evaluate(height) > 600
    page.goto((tmp_path / "01_a.html").as_uri())
    page.emulate_media(media="print")
    assert page.evaluate(height) < 620  # 160 mm
    page.close()


def test_the_index_links_to_what_stands_against_a_release():
    """A link into a page leads to one of its headings."""
    template = rendering.template("index.html.j2")
    (place,) = re.findall(r"\.html#([\w-]+)", template)
    card = nbformat.read(PROJECT / "notebooks/15_release_card.ipynb", as_version=4)
    texts = [cell.source for cell in card.cells if cell.cell_type == "markdown"]
    assert sum(f'<h2 id="{place}">' in rendering.markdown(text) for text in texts) == 1
