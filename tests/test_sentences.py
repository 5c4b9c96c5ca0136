"""Names and values in sentences: text, whatever they hold; every answer with a table of payloads."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privnb.sentences import MARKS, OPEN, B, say

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
    read = _Read(say(f"{B}Of {name}{B} and {name}.", [name])._repr_html_())
    assert read.text == f"Of {name} and {name}.{name}"
    assert [tag for tag, _ in read.elements] == ["div", "p", "strong", "ul", "li"]
    assert all(not attributes for _, attributes in read.elements[1:])


@pytest.mark.parametrize("mark", MARKS)
def test_a_text_that_has_our_own_marks_is_at_most_stressed(mark):
    html = say(f"{mark}a{mark}b{mark}<i>")._repr_html_()
    assert re.findall("<[^>]*>", html)[2:-2] == [f"<{MARKS[mark][0]}>", f"</{MARKS[mark][0]}>"]
    assert html.startswith(OPEN)
