"""The words of the pages: what each means, in a sentence, and where a page says one for the first time.

A model, a sanitizer or a measure states its own sentence; `glossary.toml` has the sentences of all other words.
"""

import functools
import re
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

from privnb import evaluation, privacy_models, sanitizers  # noqa: F401 -- evaluation states measures of its own
from privnb.measures import facts, stated
from privnb.measures.utility.populations import SUPPORT
from privnb.privacy_models import PrivacyModel
from privnb.runtime.family import sentence
from privnb.sanitizers import Sanitizer

PAGE = "glossary.html"


@dataclass(frozen=True)
class Term:
    """A word, what it means in a sentence, and `said`: how pages say it, a regular expression; by default as it is
    written, also of several; None for a word that pages say without a link, since most readers know it.
    """

    name: str
    means: str
    said: str | None = ""

    @property
    def place(self) -> str:
        """Its name in a link."""
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds it in a text."""
        return re.compile(rf"(?<![\w-])(?:{self.said or re.escape(self.name) + 's?'})(?![\w-])", re.IGNORECASE)


def _stated(each: object) -> str:
    """The sentence that a class states, where `sensitive` is an argument of it."""
    said = re.sub(r"\b(of|attribute) sensitive\b", r"\1 the sensitive attribute", sentence(each))
    return said.replace("attribute the sensitive attribute", "sensitive attribute")


# Privacy models that are called by their letter, and how pages say them.
LETTERS: dict[str, tuple[str, tuple[type[PrivacyModel], ...]]] = {
    "k": (r"k-anonym(?:ity|ous)|k(?= ?= ?\d)", (privacy_models.KAnonymity,)),
    "l": (
        r"l-divers(?:ity|e)|l(?= ?= ?\d)",
        (privacy_models.FrequencyDiversity, privacy_models.DistinctDiversity, privacy_models.EntropyDiversity),
    ),
    "t": (r"t-close(?:ness)?|t(?= ?= ?\d)", (privacy_models.TCloseness,)),
    "delta": (r"delta(?:-disclosure privacy)?", (privacy_models.DeltaDisclosure,)),
}


@functools.cache
def words() -> list[Term]:
    """The words that no class states: those of `glossary.toml`, and the letters of privacy models."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text.replace("{support}", f"{SUPPORT:.0%}"))["word"]
    saying = [each.get("said", "") if each.get("linked", True) else None for each in listed]
    own = [Term(each["name"], each["means"], said) for each, said in zip(listed, saying, strict=True)]
    return [*own, *(Term(name, " Or: ".join(map(_stated, of)), said) for name, (said, of) in LETTERS.items())]


def terms() -> list[Term]:
    """All words that pages explain: those of this module, and what measures of privacy and utility are called."""
    measures = (facts(of.name) for of in stated() if of.kind and of.sentence)
    every = [*words(), *(Term(of.title, of.sentence) for of in measures)]
    return [*{term.place: term for term in reversed(every)}.values()][::-1]


def methods() -> dict[str, list[tuple[str, str]]]:
    """`{heading: [(name, sentence)]}` of all models and sanitizers of the package."""
    rooms = {"Privacy models": (privacy_models, PrivacyModel), "Sanitizers": (sanitizers, Sanitizer)}
    return {
        heading: [
            (name, _stated(each))
            for name, each in ((name, getattr(room, name)) for name in room.__all__)
            if isinstance(each, type) and issubclass(each, kind) and each != kind
        ]
        for heading, (room, kind) in rooms.items()
    }


class FirstUses:
    """Of one page: the first time that it says a word, the word becomes a link to what it means."""

    # What stands in one of these is no prose of ours, or is a link already.
    APART = ("a", "code", "pre", "h1", "h2", "h3", "h4", "summary", "table", "svg", "dfn", "script", "style")
    TAG = re.compile(r"(<[^>]*>)")

    def __init__(self) -> None:
        self._left = {term: term.pattern for term in terms() if term.said is not None}

    def __call__(self, html: str) -> str:
        """`html`, whose text and attributes are escaped, with the links."""
        within: list[str] = []
        parts = []
        for part in self.TAG.split(html):
            if part.startswith("<"):
                name = re.split(r"[^\w-]", part.removeprefix("<").removeprefix("/"), maxsplit=1)[0].lower()
                if name in self.APART and not part.endswith("/>"):
                    within = within[:-1] if part.startswith("</") else [*within, name]
                parts.append(part)
            else:
                parts.append(part if within else self._linked(part))
        return "".join(parts)

    def _linked(self, text: str) -> str:
        # The longest of those that begin at a place: "sensitive attribute" before "attribute".
        found = [(match, term) for term, pattern in self._left.items() if (match := pattern.search(text))]
        if not found:
            return text
        match, term = min(found, key=lambda each: (each[0].start(), -each[0].end()))
        del self._left[term]
        link = f'<a class="term" href="{PAGE}#{term.place}" title="{escape(term.means)}">{match[0]}</a>'
        return text[: match.start()] + link + self._linked(text[match.end() :])
