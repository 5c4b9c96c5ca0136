"""Values with characters that nobody sees, or that turn or move a text, are shown as escapes to people."""

import io
import json

import altair as alt
import pandas as pd
import pytest
from support.columns_page import open_columns

from privnb import cli
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor
from privnb.decision.card import Card
from privnb.explorer.board import explore
from privnb.reporting.charts.base import Aggregate, style_chart
from privnb.runtime.names import EscapingStream, escape_invisible
from privnb.runtime.sentences import FullTable

TOWNS = "a\u202eb", "z\u200bip", "nor\x1b[31mth"
ILLNESSES = "fl\u2066u", "cold", "ac\x08he"
HIDDEN = {*"\u202e\u200b\u2066\x1b\x08"}


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A described table of 90 people whose values hold such characters."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + row % 30},{TOWNS[row % 3]},{ILLNESSES[row // 3 % 3]}" for row in range(90)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *lines, ""]), encoding="utf-8", newline="")
    assert cli.main(["describe", "people.csv", "--sensitive", "illness", "--confirm"]) == 0
    return tmp_path


def test_the_page_of_roles_and_its_examples(people, capsys):
    page = open_columns(name="people")._page.html
    assert not HIDDEN & {*page}
    assert r"a\u202eb" in page
    table = DescriptionEditor.open("people")
    for column in table.seen(table.roles):
        assert not HIDDEN & {*" ".join([column.examples, column.reason, *column.alerts])}
    capsys.readouterr()
    assert cli.main(["describe", "people"]) == 0
    said = capsys.readouterr().out
    assert not HIDDEN & {*said}
    assert r"nor\x1b[31mth" in said


def test_the_board(people):
    board = explore(load("people"))
    pages = "".join(page.html for page in board._pages.values())
    assert not HIDDEN & {*pages}
    assert r"a\u202eb" in pages


@pytest.mark.parametrize("kind", [object, "category"])
def test_tables_and_charts(kind):
    rows = pd.DataFrame({"town": pd.Series(TOWNS, dtype=kind), "people": [10, 20, 30]})
    table = Aggregate(rows, {"town": "to\u202ewn", "people": "people"})
    chart = style_chart(alt.Chart(table.rows, mark="bar").encode(x="town:N"), f"Of {TOWNS[0]}", f"In {TOWNS[1]}")
    page = FullTable(rows, "towns")
    for text in (*texts(table._repr_mimebundle_()), page._repr_html_(), *texts(chart.to_dict())):
        assert not HIDDEN & {*text}
    assert [*table.rows.town] == [escape_invisible(town) for town in TOWNS]
    assert [*rows.town] == [*TOWNS], "the caller's own rows stay as they are"


def texts(found):
    """Each text in a chart's specification."""
    if isinstance(found, str):
        return [found]
    parts = [*found, *found.values()] if isinstance(found, dict) else found if isinstance(found, list) else []
    return [text for part in parts for text in texts(part)]


def test_a_card_as_data():
    content = {"dictionary": [*TOWNS, *ILLNESSES, "größe"]}
    assert not HIDDEN & {*Card(content).text}
    assert json.loads(Card(content).text) == content


def test_a_terminal_is_moved_by_bars_alone():
    stream = io.StringIO()
    for text in ("\n\x1b[A", "\r", "\x1b[31mred\b"):
        EscapingStream(stream).write(text)
    assert stream.getvalue() == "\n\x1b[A\r\\x1b[31mred\\x08"
