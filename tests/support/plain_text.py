"""The text of a page for people who review it as prose: one sentence, one item or one row of a table on each line."""

import re
from html.parser import HTMLParser

LEFT_OUT = {"head", "script", "style", "svg", "nav", "footer"}
VOID = {"br", "col", "img", "input", "link", "meta"}
MARKS = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "dt": "", "dd": "    ", "label": "- ", "tr": ""}
BLOCKS = {
    "blockquote", "details", "div", "dl", "fieldset", "figcaption", "figure", "form", "legend", "main", "p", "pre",
    "section", "summary", "table", "ul", *MARKS,
}  # fmt: skip
TIGHT = {"li", "dt", "dd", "label", "tr"}  # no blank line between two of these
END = "\N{SYMBOL FOR RECORD SEPARATOR}"  # the end of a sentence before another paragraph of the same item
SENTENCE = re.compile(rf"{END} *|(?<!\bet al\.)(?<!\bvs\.)(?<!\b[A-Z]\.)(?<=[.?!]) +")


def text_of(html):
    """Return the text of a page, without its links to other pages.

    >>> print(text_of("<h1>Who?</h1><p>All of <b>them</b>. A few.</p><table><tr><th>a</th><td>1</td></tr></table>"))
    # Who?
    <BLANKLINE>
    All of them.
    A few.
    <BLANKLINE>
    a | 1
    """
    reader = _Reader()
    reader.feed(html)
    reader.end_block()
    return "\n".join(reader.lines).strip()


def sentences(text, mark=""):
    """Return each sentence of a paragraph as a line; `mark` opens the first one, and the others have its width."""
    first, *rest = SENTENCE.split(" ".join(text.split()))
    return [mark + first, *(" " * len(mark) + each for each in rest)]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.lines, self.text, self.block, self.last, self.left_out = [], "", "p", "p", 0

    def handle_starttag(self, tag, attributes):
        if self.left_out or tag in LEFT_OUT or ("class", "tip") in attributes or ("class", "skip") in attributes:
            self.left_out += tag not in VOID
        elif tag in ("td", "th"):
            self.text += " | " if self.text.strip() else ""
        elif tag in BLOCKS and self.block != "tr":
            inner = tag == "p" and self.block in ("li", "dd")
            if inner and self.text.strip():
                self.text += END
            elif not inner:
                self.end_block()
                self.block = tag
        elif tag in ("br", "span") or tag in BLOCKS:
            self.text += " "

    def handle_endtag(self, tag):
        if self.left_out:
            self.left_out -= tag not in VOID
        elif tag == self.block or (tag in BLOCKS and self.block != "tr"):
            self.end_block()

    def handle_data(self, data):
        self.text += "" if self.left_out else data

    def end_block(self):
        """Add the text that was read as lines."""
        if text := " ".join(self.text.split()).rstrip(" |"):
            if self.lines and not (self.block in TIGHT and self.last in TIGHT):
                self.lines.append("")
            self.lines += [text] if self.block == "tr" else sentences(text, MARKS.get(self.block, ""))
            self.last = self.block
        self.text, self.block = "", "p"
