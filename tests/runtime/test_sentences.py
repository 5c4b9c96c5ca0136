"""Names and values in sentences: text, whatever they hold; every answer with a table of payloads."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
from hypothesis import given, strategies as st

from privnb.datasets.dataset import Dataset
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.reporting import charts
from privnb.runtime.names import escape_invisible
from privnb.runtime.sentences import OPEN, say, strip_markup, strong, table_html

PROJECT = Path(__file__).parent.parent.parent
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cn", "Cc"]))


class _Read(HTMLParser):
    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.text = [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


@given(TEXT)
def test_a_name_stands_as_it_is_written_and_makes_no_element(name):
    """What nobody would see of it stands there as an escape."""
    read = _Read(say(strong(f"Of {name}") + f" and {name}.", [name])._repr_html_())
    assert read.text == f"Of {escape_invisible(name)} and {escape_invisible(name)}.{escape_invisible(name)}"
    assert [tag for tag, _ in read.elements] == ["div", "p", "strong", "ul", "li"]
    assert all(not attributes for _, attributes in read.elements[1:])


def test_only_what_is_set_in_bold_is_an_element():
    said = say(strong("a <b>") + " <i>")
    assert re.findall("<[^>]*>", said._repr_html_().removeprefix(OPEN))[1:-2] == ["<strong>", "</strong>"]
    assert said.data == strip_markup(said.parts[0]) == "a <b> <i>"


def test_nobody_else_makes_markdown_or_html_of_a_sentence():
    """What IPython shows as Markdown or HTML is not escaped: `say` is the one way."""
    files = [*(PROJECT / "privnb").rglob("*.py"), *(PROJECT / "notebooks").glob("*.ipynb")]
    assert len(files) > 100
    others = [path.name for path in files if re.search(r"\b(Markdown|HTML|Latex|SVG|Javascript)\(", path.read_text())]
    assert others == []


def test_a_dataset_s_name_is_text_where_a_notebook_shows_it():
    domain = Categories(("<b>x", "y"))
    schema = Schema("any", (Attribute("a&b", Role.SENSITIVE, domain, unit="<i>"),))
    dataset = Dataset("any", pd.DataFrame({"a&b": ["y", "y"]}), schema, {})
    object.__setattr__(dataset, "name", "<u>any")  # past the refusal
    read = _Read(dataset._repr_html_())
    assert {tag for tag, _ in read.elements} == {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<u>any: 2 records, attributes: 1" in read.text
    assert "<b>x" in read.text


def test_what_stands_between_dollars_in_a_table_is_no_formula():
    table, ignored = pd.DataFrame({"$a$": ["$b$"]}), 'class="dataframe tex2jax_ignore mathjax_ignore"'
    assert ignored in table_html(table)
    with pd.option_context("display.html.use_mathjax", True):
        charts.setup()
        assert ignored in table.to_html()


def test_an_import_sets_no_option_of_pandas():
    asked = "import pandas as pd; before = pd.describe_option(_print_desc=False); import privnb.explorer, privnb.cli; "
    asked += "import privnb.reporting.report; assert pd.describe_option(_print_desc=False) == before"
    subprocess.run([sys.executable, "-c", asked], check=True)
