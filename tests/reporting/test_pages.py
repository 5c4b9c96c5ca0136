"""What the index and a page show first, on pages of invented cells."""

import json
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from support.explained import explained, nothing_kept, number, risk

from privnb.decision.card import Card
from privnb.evaluation.results import COLUMNS, TEXT_COLUMNS, compute_row_ids
from privnb.papers import ledger
from privnb.papers.ledger_page import Ledger
from privnb.reporting import glossary, pages, release_card, rendering
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import FullTable, say, strip_markup, strong
from privnb.runtime.wording import Worded, line

SVG = '<svg width="200" height="100" viewBox="0 0 200 100"><text>axis</text></svg>'


def cell(shown=None, *tags, source="step()", **data):
    """Return an executed cell that shows an object of ours, or other data."""
    data = data or (shown._repr_mimebundle_() if shown is not None else {})
    outputs = [nbformat.v4.new_output("display_data", data=data)] if data else []
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata={"tags": [*tags]})


def made(*cells, name="01_a", text="Words.", says=lambda _, default: default, results=None):
    """Return the files of a report of one notebook of these cells: {file name: HTML}."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Who?\n\n{text}"), *cells])
    notebook_of = {"values": {}, "parameters": {}, "path": None, "described": None, "says": says}
    chosen = [SimpleNamespace(name=name, **notebook_of)]
    executed = {name: nbformat.writes(notebook)}
    return pages.make(chosen, executed, Ledger(ledger.compare_with_published(pd.DataFrame(columns=COLUMNS))), results)


def words(html):
    """Return the text of a page, less its header."""
    return rendering.strip_tags(html[html.index("<main") :].replace("</td>", " ").replace("</th>", " "))


ANSWER = say(strong("First") + " is bold: 5% of people.", "Then a detail.", ["and one more"])
DECIDED = Worded("decision/decision", explained())


def test_the_index_shows_what_to_publish_and_each_risk_with_its_cap_and_verdict():
    html = made(cell(DECIDED, "answer"))["index.html"]
    text = words(html)
    for part in (
        "Publish Mondrian, k = 10. The release meets every cap of the policy “Our <own>”.",
        "At least 10 people share each published combination of the 2 quasi-identifiers.",
        "52% of people (95% CI 50–54%) on average; 100% for the worst-off person".replace(" of people", ""),
        "2% (95% CI 1–3%), fewer than 10 of 60 people, on average; 10% for the worst-off person",
        "kept",
        "Detail lost",
        "Mondrian, k = 5",
        "Lower utility loss, higher risk",
    ):
        assert part in text, part
    assert "<own>" not in html


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("identity", 0.008, "0.8%, about 24 of 3,000 people, on average"),
        ("identity", 0.003, "0.3%, fewer than 10 of 3,000 people, on average"),
        ("identity", 0.3, "30% on average"),
        ("certainty", 0.01, "1%, about 30 of 3,000 people"),
        ("certainty", 0.0, "nobody"),
        ("membership", 0.04, "4%"),
        ("attribute", -0.01, "−1% on average"),
    ],
)
def test_a_small_share_is_also_a_number_of_people(name, value, shown):
    assert line("decision/risks", "cell", risk(name, number(value), people=3000)) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.006, 0.01, "about 24 of 3,000 people (18 to 30 by its interval), on average"),
        (0.001, 0.01, "about 24 of 3,000 people (at most 30 by its interval), on average"),
        (-0.01, 0.01, "about 24 of 3,000 people (at most 30 by its interval), on average"),
    ],
)
def test_the_interval_of_a_small_share_is_also_in_people(low, high, shown):
    """Fewer than 10 people hid an interval that reached 90."""

    def cell_of(name, value, low, high, people=3000):
        return line("decision/risks", "cell", risk(name, number(value, low, high), people=people))

    assert cell_of("identity", 0.008, low, high).endswith(shown)
    few = cell_of("linkability", 0.0001, 0.0, 0.002, 45222)
    assert "fewer than 10 of 45,222 people (at most 91 by its interval)" in few
    assert "by its interval" not in cell_of("certainty", 0.008, low, high)
    assert "by its interval" not in cell_of("identity", 0.001, 0.0, 0.002)


def test_the_attribute_risk_shows_the_two_shares_of_which_it_is_the_difference():
    found = risk("attribute", number(-0.03), number(0.68, baseline=0.13), others=number(0.33), guessed=0.3)
    assert line("decision/risks", "cell", found, "the release") == (
        "−3% on average (30% with the release, 33% from other people's records); 68% for the worst-off person (13% "
        "without the release)"
    )
    assert line("decision/risks", "without", found) == "33% from other people's records"
    assert "more often than from other people's records" in strip_markup(
        line("decision/risks", "question", "attribute")
    )


def test_where_no_release_keeps_the_policy_the_index_advises_to_publish_none():
    text = words(made(cell(Worded("decision/decision", nothing_kept()), "answer"))["index.html"])
    assert "Publish none of these releases. No release meets every cap" in text
    why = "a combination of its quasi-identifiers is shared by fewer than 5 people"
    assert f"The nearest release is Suppression, but {why}" in text


def test_the_index_states_date_data_and_roles_in_one_line_each(tmp_path):
    path = tmp_path / "town.toml"
    path.write_text(
        f"""
dataset = {{ name = "town", title = "Town", default_study = "a" }}
files = [{{ path = "town.csv", sha256 = "{"0123456789ab" * 5}" }}]
[studies.a]
quasi-identifier = ["age", "sex"]
sensitive = ["illness"]
[studies.b]
quasi-identifier = ["age"]
sensitive = ["sex"]
[columns]
age = {{ role = "quasi-identifier", domain = {{ low = 0, high = 99 }} }}
sex = {{ role = "quasi-identifier", domain = ["f", "m"] }}
illness = {{ role = "sensitive", domain = ["flu", "gout"] }}
""",
        encoding="utf-8",
    )
    says = {"decides": True}
    values = {"values": {"DATASET": "town"}, "parameters": {"DATASET": SimpleNamespace(default="", meaning="")}}
    notebook = SimpleNamespace(name="08_a", path=path, described=path, says=says.get, **values)

    def about(*datasets):
        one = dict.fromkeys(COLUMNS, 1.0) | dict.fromkeys(TEXT_COLUMNS, "") | {"sanitizer": "Suppress", "measure": "x"}
        return {"08_a": pd.DataFrame([one | {"dataset": name} for name in datasets])}

    executed = {"08_a": nbformat.writes(nbformat.v4.new_notebook(cells=[cell(DECIDED, "answer")]))}
    both = pages.make([notebook], executed, None, about("town/a (60 records)", "town/b"))
    assert (
        "The report covers 2 sets of roles: a (2 quasi-identifiers; sensitive: illness) and b "
        "(1 quasi-identifier; sensitive: sex). The decision is for a." in words(both["index.html"])
    )
    assert "on town.csv (SHA-256 0123456789ab…). Make this report again" in words(both["index.html"])
    assert "age and sex illness 08_a" in words(both["about.html"])
    other = SimpleNamespace(name="01_b", path=path, described=path, says=lambda _, default: default, **values)
    two = {"08_a": about("town/a")["08_a"], "01_b": about("town/b")["08_a"]}
    index = words(pages.make([other, notebook], executed | {"01_b": executed["08_a"]}, None, two)["index.html"])
    assert index.count("Roles: ") == index.count("Roles: b (sensitive: sex) Mondrian with k = 10") == 1
    one = pages.make([notebook], executed, None, about("town/b", "coins"))
    assert "Roles: " not in words(one["index.html"])
    assert "The report assumes that others may know age, and that nobody should learn sex." in words(one["index.html"])


def test_the_index_has_no_counts_of_releases_and_no_reversed_number():
    anti = {side: risk("anti-utility", number(0.2)) for side in ("release", "original")} | {"risk": "anti-utility"}
    text = words(made(cell(Worded("decision/decision", explained(risks=[anti])), "answer"))["index.html"])
    assert "Anti-utility" not in text
    assert "of the 4" not in text
    assert "2 releases" not in text


def test_a_page_shows_invisible_characters_as_escapes():
    html = made(cell(say("a\u202eb")), text="Of z\u200bip.")["01_a.html"]
    assert not {"\u202e", "\u200b"} & {*html}
    assert r"<p>a\u202eb</p>" in html


def test_without_a_decision_the_index_is_the_list_of_pages_alone():
    html = made(cell(ANSWER, "answer"))["index.html"]
    assert "<table" not in html
    assert "Publish" not in html
    assert '<a href="01_a.html">Who?</a>' in html


def test_a_page_says_answer_and_chart_first_and_the_details_at_their_place():
    chart = cell(None, "key", **{"image/svg+xml": SVG})
    head = nbformat.v4.new_markdown_cell
    html = made(head("## Step"), chart, head("## Seen"), cell(ANSWER, "answer"), head("## Sources\n- book"))[
        "01_a.html"
    ]
    said = words(html)
    places = [said.index(part) for part in ("Who?", "First is", "How this was found", "Words.", "Seen", "Then a")]
    assert places == sorted(places)
    assert said.count("First is") == said.count("Then a detail.") == html.count("<figure") == 1
    assert html.index("<figure") < html.index("How this was found")


def test_a_heading_under_which_nothing_is_left_goes():
    html = made(nbformat.v4.new_markdown_cell("## What we saw"), cell(say("All."), "answer"), cell())
    assert "What we saw" not in html["01_a.html"]


def test_a_page_without_an_answer_says_what_it_has():
    html = made(cell(say("This page has nothing to say about this table.")))["01_a.html"]
    assert "nothing to say about this table" in html
    assert "How this was found" not in html


def test_a_page_writes_the_answer_of_a_template_first_and_its_details_at_their_place():
    text = words(made(cell(), cell(DECIDED, "answer"))["01_a.html"])
    assert text.count("Publish Mondrian, k = 10.") == 1
    assert text.index("Publish Mondrian") < text.index("How this was found") < text.index("Why not the next releases")


# --- the release card and the rows behind the decision ---

FINDINGS = json.loads((Path(__file__).parent / "snapshots" / "findings.json").read_text(encoding="utf-8"))
(CARD,) = FINDINGS["15_release_card"].values()


def test_the_card_to_sign_is_a_page_to_which_the_index_and_its_own_page_link():
    files = made(cell(Worded(**CARD), "answer"), name="15_a")
    assert files["15_a.html"].count('<a href="card.html">The release card</a>') == 1
    card = words(files["card.html"])
    for part in ("Recipient", "They may know", "Purpose", "Legal basis", "Retention until", "Signature", "SHA-256"):
        assert part in card, part
    assert "This card is a preview" in card
    assert '<a href="15_a.html">' in files["card.html"]


def test_a_card_explains_an_interval_of_a_group_above_the_worst_off_person():
    content = deepcopy(CARD["data"])
    identity = next(each for each in content["risks"] if each["risk"] == "identity")
    group = number(0.01, 0.001, 0.9, measure="identity_risk", group="age: 80-89") | {"people": 40}
    content["worst_groups"]["shown"] = [group]
    said = (
        f"cannot exceed the risk of the worst-off person, which is {write_percent(identity['worst_person']['value'])}."
    )
    assert said in words(release_card.page(Card(content)))
    group["high"] = identity["worst_person"]["value"]
    assert "cannot exceed" not in words(release_card.page(Card(content)))


def test_a_risk_on_the_index_links_to_its_row_if_the_report_has_it():
    one = {"seed": 0.0, "value": 0.02, "low": 0.01, "high": 0.03, "baseline": 0.001, "sanitizer": "Mondrian"}
    one |= {"parameters": "k=10", "parameter": "k", "bound": 10.0, "measure": "identity_risk", "dataset": "town"}
    results = {"08_a": pd.DataFrame([dict.fromkeys(COLUMNS, 0.0) | dict.fromkeys(TEXT_COLUMNS, "") | one])}
    (id,) = compute_row_ids(results["08_a"])
    sides = {
        side: risk("identity", number(0.02) | {"ids": [each]}) for side, each in (("release", id), ("original", "0"))
    }
    decided = Worded("decision/decision", explained(risks=[sides | {"risk": "identity"}]))
    files = made(cell(decided, "answer"), name="08_a", results=results)
    assert files["index.html"].count(f'<a href="08_a.rows.html#row-{id}">2%') == 1
    assert files["index.html"].count("#row-") == 1
    assert f'id="row-{id}"' in files["08_a.rows.html"]


# --- tables that are walls ---


@pytest.mark.parametrize(
    ("rows", "columns", "value", "is_wall"),
    [(12, 8, 1.5, False), (13, 2, 1.5, True), (2, 9, 1.5, True), (13, 2, "words that are read", False)],
)
def test_a_wall_of_numbers_is_folded_behind_what_it_holds(rows, columns, value, is_wall):
    table = pd.DataFrame({f"a{i}": [value] * rows for i in range(columns)})
    html = made(cell(FullTable(table, "numbers")))["01_a.html"]
    assert ('<details class="wall">' in html) == is_wall
    assert html.count("<td") >= rows * columns


def test_a_table_has_headings_with_scope_and_cells_of_words_are_prose():
    table = pd.DataFrame(
        {"what it does": ["Cut the records in two, again and again."], "k": ["1,407 (1,387 to 1,424)"]}
    )
    html = made(cell(FullTable(table, "tables")))["01_a.html"]
    assert html.count('<td class="prose" data-is="what it does">Cut') == 1
    assert '<td data-is="k">1,407' in html
    assert '<th scope="col">what it does</th>' in html


def test_nested_headings_of_a_table_are_written_once():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])
    index = pd.MultiIndex.from_tuples([("k", "1"), ("k", "2")])
    html = made(cell(FullTable(pd.DataFrame([[1, 2, 3], [4, 5, 6]], index, columns), "nested")))["01_a.html"]
    assert html.count('<th scope="col">a</th>') == html.count('<th scope="row">k</th>') == 1
    assert html.count('<th scope="col">x</th>') == 2


def test_the_index_states_how_many_records_were_sampled():
    values = {"values": {"RECORDS": "3000"}, "parameters": {"RECORDS": SimpleNamespace(default="0", meaning="")}}
    chosen = [SimpleNamespace(name="01_a", path=None, says=lambda _, default: default, **values)]
    executed = {"01_a": nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Who?")]))}
    text = words(pages.make(chosen, executed)["index.html"])
    assert "All pages measure a random sample of at most 3,000 records, and not the whole table." in text


# --- the glossary ---


def test_a_term_is_a_button_that_opens_its_meaning():
    text = "Each [group](glossary.html#term-class) and [more](glossary.html#term-k). [A page](01_a.html#x)."
    html = made(text=text)["01_a.html"]
    assert '<button type="button" class="term" popovertarget="tip-1">group</button>' in html
    assert html.count('<span class="tip" popover') == 2
    assert '<a href="01_a.html#x">A page</a>' in html


def test_a_link_to_a_page_that_the_report_lacks_is_text():
    html = made(text="See [another page](02_b.html) and [a site](https://example.org/02_b.html).")["01_a.html"]
    assert "See another page and <a" in html
    assert "https://example.org/02_b.html" in html


def test_a_term_that_is_not_in_the_glossary_is_refused():
    with pytest.raises(StopIteration):
        glossary.Tips().tip("text", "no such term")


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


def test_names_of_a_table_stay_text():
    html = made(cell(say("The class of &<b>class</b>\"'")))["01_a.html"]
    assert "The class of &amp;&lt;b&gt;class&lt;/b&gt;" in html


def test_on_a_phone_the_second_column_of_words_is_in_sight(tmp_path, browser):
    """Else a question fills the screen, and who reads it does not see that an answer stands beside it."""
    words = "the least utility loss with a privacy loss of at most one half"
    table = pd.DataFrame({"question": [words], "which": ["Local recoding"]})
    for name, text in made(cell(FullTable(table, "choices"))).items():
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
    chart = cell(None, "key", **{"image/svg+xml": tall})
    for name, text in made(chart, cell(ANSWER, "answer")).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    height = "() => document.querySelector('figure svg').getBoundingClientRect().height"
    page.goto((tmp_path / "01_a.html").as_uri())
    assert page.evaluate(height) > 600
    page.emulate_media(media="print")
    assert page.evaluate(height) < 620  # 160 mm
    page.close()


def test_a_deciding_page_that_could_decide_nothing_recommends_nothing():
    """Without the verdict a reader would look for the least bad release on the other pages."""
    silent = say(strong("This page has nothing to report.") + " The table has no quasi-identifier.")
    html = made(cell(silent, "answer", source=""), says=lambda key, default: key == "decides" or default)
    text = words(html["index.html"])
    assert "No release is recommended. This page has nothing to report. The table has no quasi-identifier." in text


def test_a_large_loss_comes_directly_after_the_name_of_the_release_and_a_reason_only_where_it_applies():
    rule = {"rule": "least loss", "kept": 2, "releases": 3, "near_least": 1, "bare_used": 0.9, "least": None}
    decided = explained(help={"kind": "much_lost", "loss": 0.15}, misled=0.32, why=rule)
    decided["policy"]["choice"] = "Users hardly notice it"
    text = Worded("decision/decision", decided).data
    assert (
        "Publish Mondrian, k = 10. Its users lose more than half of the utility: the release causes, in the "
        "counts of large groups, 15% of the distortion" in text
    )
    misled = "the release is further from the truth than a release without quasi-identifiers"
    assert f"For 32% of large groups, {misled}. The release meets" in text
    assert text.count("15% of the distortion") == 1
    assert "Users hardly notice it" not in text
    decided["why"]["near_least"] = 2
    assert (
        "The policy gives this reason for its choice: Users hardly notice it."
        in Worded("decision/decision", decided).data
    )


@pytest.mark.parametrize("declared", [True, False])
def test_each_page_of_a_report_names_the_claim_that_records_are_invented(tmp_path, declared):
    path = tmp_path / "town.toml"
    path.write_text(
        f"""
[dataset]
name = "town"
invented = {str(declared).lower()}
[[files]]
path = "town.csv"
[columns]
age = {{ role = "quasi-identifier", domain = {{ low = 0, high = 99 }} }}
""",
        encoding="utf-8",
    )
    values = {"values": {"DATASET": "town"}, "parameters": {"DATASET": SimpleNamespace(default="", meaning="")}}
    notebook = SimpleNamespace(name="01_a", path=path, described=path, says=lambda _, default: default, **values)
    executed = {"01_a": nbformat.writes(nbformat.v4.new_notebook(cells=[cell(ANSWER, "answer")]))}
    files = pages.make([notebook], executed, None, None)
    claim = "The owner of the table declares that its records are invented. Its description contains this claim on 20"
    for name in ("index.html", "about.html", "01_a.html"):
        assert (claim in rendering.strip_tags(files[name])) == declared, name


@pytest.mark.parametrize("done", [{"declared": "invented"}, {}])
def test_a_card_names_the_claim_that_records_are_invented(done):
    content = deepcopy(CARD["data"])
    content["done"] |= done
    page = rendering.strip_tags(release_card.page(Card(content)))
    assert (f"description contains this claim on {content['made']}; privnb cannot check it" in page) == bool(done)
