"""Search the project's texts for words and sentence openings that readers stumble over."""

import ast
import json
import re
import tomllib
from pathlib import Path

from privnb.runtime.language import ENGLISH, LANGUAGES

ROOT = Path(__file__).parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "notebooks"]
GENERATED = ("classes", "functions", "pages")  # folders of docs/ with pages that `make docs` writes
ENDINGS = {".html", ".ipynb", ".j2", ".md", ".py", ".toml"}

# Each pattern leaves out the senses that the field needs: a secret key, the floor of a number, "there is no class".
WORDS = {
    "next to, compared with": r"beside",
    "indistinguishable, the same": r"alike",
    "again": r"anew",
    "sensitive value, sensitive attribute": r"(?<!kept )(?<!keep )(?<!stays )secrets?"
    r"(?! (?:keys?|matrix|matrices|random|Gaussian|rotation|factors?|seeds?)\b)",
    "a noun": r"who(?:m)?ever|(?:against|but|for|from|than) who(?:se)?",
    "minimum class size": r"(?<!\.)floors?(?!\(| (?:function|division)| of (?:the|its) (?:log|square|quotient))",
    "minimum count": r"fewest(?= (?:of|is|are|that|and|or|in)\b|[.,;:)]|$)",
    "a number": r"so (?:many|few)(?!(?: [\w-]+){0,6} that\b)|as (?:many|few) as there (?:are|is)",
    "a negated verb": r"(?<!there )(?:is|are|was|were) "
    r"(?:(?-i:none)|no(?! (?:longer|more|less|fewer|better|worse|larger|smaller|one)\b))",
    "invented, synthetic": r"made[- ]up(?! of\b)",
    "reports, shows": r"says|said|tells(?! \w+ apart)",
    "disclose, reveal": r"(?:give|gives|gave|given|giving) (?:\w+ ){0,2}away",
    "reference releases": r"the two ends(?! of (?:an?|the|its|each) )",
    "distortion, information loss": r"(?:what (?:it|this|that|they) costs?|costs? (?:least|most|utility|information))",
    "appears, is listed": r"(?:stand|stands|stood)(?! (?:for|out|in for)\b|-)",
    "the noun": r"(?<!all )(?<!most )(?<!half )(?<!part )(?<!parts )(?<!some )(?<!any )(?<!rest )(?<!much )of it",
    "certain, disclosed with certainty": r"(?<!make )(?<!making )(?<!makes )sure",
    "no verdict": r"(?:is|are) (?:safe|secure|anonymous)(?! (?:to|for|from|in|against|under)\b)|safer",
    "no excuse for a length": r"(?:long|one module), since",
}
WORD = re.compile(r"(?<![\w-])(?:" + "|".join(f"({pattern})" for pattern in WORDS.values()) + r")(?!\w)", re.IGNORECASE)
OPENING = re.compile(r"(?:As of|Of(?! course)|Where|What|Who|Whoever|Whose|Which)\b")
SENTENCE = re.compile(r"(?<=[.!?:])[\"')*_]*\s+(?=[\"'(*_]*[A-Z])|\n\s*\n|\n\s*[-*|] ")
CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|<(style|script).*?</\1>|<[^<>]+>", re.DOTALL)


def files(room):
    """Return the files with texts of a room, which is a folder or one file."""
    path = ROOT / room
    found = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix in ENDINGS)
    others = {"__pycache__", ".ipynb_checkpoints", *GENERATED, *(each for each in LANGUAGES if each != ENGLISH)}
    return [each for each in found if not others & {*each.parts}]


def faults(path):
    """Yield (line, words, better) of each word and each opening to be replaced in a file."""
    yield from text_faults(READERS.get(path.suffix, page)(path.read_text(encoding="utf-8")))


def text_faults(texts):
    """Yield (line, words, better) of each word and each opening to be replaced in texts (line, text)."""
    for line, text in texts:
        plain = CODE.sub(lambda match: "X" + "\n" * match.group().count("\n"), text)
        for match in WORD.finditer(plain):
            yield line + plain[: match.start()].count("\n"), match.group(), [*WORDS][match.lastindex - 1]
        start = 0
        for match in [*SENTENCE.finditer(plain), None]:
            sentence = plain[start : match.start() if match else None]
            if (opening := OPENING.match(sentence.lstrip("\"'(*_ \n"))) and is_statement(sentence):
                before = plain[:start] + sentence[: len(sentence) - len(sentence.lstrip())]
                yield line + before.count("\n"), opening.group(), "the subject first"
            start = match.end() if match else start


def is_statement(sentence):
    """Tell a statement from a question, a heading and a name."""
    return sentence.rstrip(" \n\"')*_").endswith((".", ":", ";", "!")) and len(sentence.split()) > 2


def python(text):
    """Yield (line, text) of docstrings, comments and strings of at least two words."""
    lines, strings, inner = text.splitlines(), [], set()
    for node in ast.walk(ast.parse(text)):
        if node in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            inner |= {*node.values}
            found = "".join(each.value if isinstance(each, ast.Constant) else "X" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        else:
            continue
        strings.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
        if re.search(r"[^\W\d_] [^\W\d_]", found):
            yield node.lineno, found
    held = {}
    for first, start, last, end in strings:
        for each in range(first, last + 1):
            held.setdefault(each, []).append((start if each == first else 0, end if each == last else 10**6))
    yield from comments(lines, held)


def comments(lines, held):
    """Yield (line, text) of comments, those of neighbouring lines in one, without a `#` inside of a string."""
    block, since = [], 0
    for number, line in enumerate([*lines, ""], 1):
        at = line.find("#")
        while at >= 0 and any(start <= len(line[:at].encode()) < end for start, end in held.get(number, ())):
            at = line.find("#", at + 1)
        if at >= 0 and not line[:at].strip():
            since = since if block else number
            block.append(line[at + 1 :].strip())
            continue
        if block:
            yield since, "\n".join(block)
            block = []
        if at >= 0:
            yield number, line[at + 1 :].strip()


def toml(text):
    """Yield (line, text) of the strings and comments of a TOML file."""
    pending = [tomllib.loads(text)]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and " " in value:
            yield text[: max(text.find(value[:30]), 0)].count("\n") + 1, value
    yield from comments([line if line.lstrip().startswith("#") else "" for line in text.splitlines()], {})


def notebook(text):
    """Yield (number of the cell, text) of a notebook's markdown and of the strings and comments of its code."""
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield from ((number, each) for _, each in page(source))
        elif cell["cell_type"] == "code" and not source.lstrip().startswith(("%", "!")):
            yield from ((number, each) for _, each in python(source))


def page(text):
    """Yield (line, text) of a page of Markdown or HTML, without its headings."""
    yield 1, re.sub(r"^#.*$", "\n", text, flags=re.MULTILINE)


READERS = {".py": python, ".toml": toml, ".ipynb": notebook}
