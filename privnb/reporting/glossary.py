"""The glossary: the terms on pages, the meaning of each term in a sentence, and the tips that show it.

The sentence of a model, a sanitizer or a measure is in its own module; `glossary.toml` contains the sentences of all
other terms.
"""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from privnb import evaluation, privacy_models, sanitizers  # noqa: F401 -- evaluation states measures of its own
from privnb.measures import list_measures, measure_facts
from privnb.measures.utility.populations import SUPPORT
from privnb.privacy_models import PrivacyModel
from privnb.runtime.registry import first_sentence
from privnb.sanitizers import Sanitizer

PAGE = "glossary.html"


@dataclass(frozen=True)
class Term:
    """A term, and its meaning in a sentence."""

    name: str
    means: str

    @property
    def place(self) -> str:
        """The anchor to which links to the term lead."""
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")


# The privacy models that a letter refers to.
LETTERS: dict[str, tuple[type[PrivacyModel], ...]] = {
    "k": (privacy_models.KAnonymity,),
    "l": (privacy_models.FrequencyDiversity, privacy_models.DistinctDiversity, privacy_models.EntropyDiversity),
    "t": (privacy_models.TCloseness,),
    "delta": (privacy_models.DeltaDisclosure,),
}


@functools.cache
def list_terms() -> list[Term]:
    """Return the terms of `glossary.toml`, and the letters that name bounds of privacy models."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text.replace("{support}", f"{SUPPORT:.0%}"))["word"]
    own = [Term(each["name"], each["means"]) for each in listed]
    return [*own, *(Term(name, " Or: ".join(map(first_sentence, models))) for name, models in LETTERS.items())]


def terms() -> list[Term]:
    """Return all terms that pages explain: `list_terms`, and the measures of privacy and utility."""
    measures = (measure_facts(of.name) for of in list_measures() if of.kind and of.sentence)
    every = [*list_terms(), *(Term(of.title, of.sentence) for of in measures)]
    return [*{term.place: term for term in reversed(every)}.values()][::-1]


def methods() -> dict[str, list[tuple[str, str]]]:
    """Return `{heading: [(name, sentence)]}` for all privacy models and sanitizers of the package."""
    rooms = {"Privacy models": (privacy_models, PrivacyModel), "Sanitizers": (sanitizers, Sanitizer)}
    return {
        heading: [
            (name, first_sentence(each))
            for name, each in ((name, getattr(room, name)) for name in room.__all__)
            if isinstance(each, type) and issubclass(each, kind) and each != kind
        ]
        for heading, (room, kind) in rooms.items()
    }


class Tips:
    """The terms on pages, each of which shows its meaning after a click, a key press or a touch, without a script."""

    def __init__(self) -> None:
        self._terms = {term.name.lower(): term for term in terms()}
        self._tips = 0

    def start_page(self) -> None:
        """Begin the numbers of the tips at 1 again, for the next page."""
        self._tips = 0

    def tip(self, text: str, name: str) -> Markup:
        """Return a term of the glossary as a button that shows the meaning.

        Raises StopIteration for an unknown name.
        """
        term = self._terms.get(name.lower()) or next(each for each in self._terms.values() if each.place == name)
        self._tips += 1
        return Markup(
            '<button type="button" class="term" popovertarget="tip-{0}">{1}</button>'
            '<span class="tip" popover id="tip-{0}">{2} <a href="{3}#{4}">Glossary</a></span>'
        ).format(self._tips, text, term.means, PAGE, term.place)
