"""The words of the pages: what each means, in a sentence, and where a page says one for the first time.

A model, a sanitizer or a measure states its own sentence; the sentences of all other words stand here alone.
"""

import re
from dataclasses import dataclass
from html import escape
from types import ModuleType

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
    return re.sub(r"\b(of|attribute) sensitive\b", r"\1 the sensitive attribute", sentence(each)).replace(
        "attribute the sensitive attribute", "sensitive attribute"
    )


def _model(name: str, said: str, *classes: type) -> Term:
    return Term(name, " Or: ".join(map(_stated, classes)), said)


WORDS = (
    Term("record", "One row of the table: what it says of one person.", None),
    Term("attribute", "A column of the table, such as age.", None),
    Term("identifier", "An attribute that names a person, such as a name or a number. It is never published.", None),
    Term(
        "quasi-identifier",
        "An attribute that others may know of a person, such as age or sex. Several together can single the person "
        "out.",
    ),
    Term(
        "sensitive attribute",
        "What nobody should learn of a person from the release, such as an illness or an income.",
        "sensitive (?:attributes?|values?)",
    ),
    Term(
        "class",
        "The people whose published quasi-identifiers are the same: nobody can tell one from another by them.",
        "(?:equivalence )?class(?:es)?",
    ),
    Term("release", "The table as it is published, after a sanitizer has changed it."),
    Term("sanitizer", "A method that changes a table before it is published, so that it tells less of each person."),
    Term("privacy model", "A rule that each class of a release must keep, such as k-anonymity."),
    Term("generalization", "A value gives way to a coarser one: 37 to 30-39.", "generali[sz](?:ations?|ed)"),
    Term("suppression", "A value gives way to *, which stands for all values.", "suppress(?:ion|ed)"),
    Term("label", "What stands in a cell of a release: a value, a range such as 30-39, or * for all."),
    Term("bucket", "A group of people whose sensitive values are mixed; their quasi-identifiers stay exact."),
    Term("domain", "All values that an attribute may have, whoever is in the table."),
    Term("study", "Which columns of a table play which role; of Adult, adult/sramka is one.", None),
    Term("hierarchy", "Which coarser values stand for a value, step by step, up to * for all.", "hierarch(?:y|ies)"),
    Term(
        "lattice",
        "All choices of one level of generalization per attribute, from exact values to * everywhere, and which of "
        "them is coarser than which.",
    ),
    Term(
        "node",
        "One place of a hierarchy, a decision tree or a lattice: a value, a group of people, or one level per "
        "attribute.",
    ),
    Term(
        "study",
        "Which columns are quasi-identifiers and which are sensitive: the description file of a table may have "
        "several.",
        "stud(?:y|ies)",
    ),
    Term(
        "baseline",
        "What the same number is without the release, for instance by always naming the commonest value. A risk "
        "above its baseline comes from the release.",
    ),
    Term(
        "control",
        "The same attack where it can learn nothing, on shuffled values or by a fixed guess: what it reaches there is "
        "chance.",
    ),
    Term("95% interval", "Where the number may lie: 95 of 100 such intervals hold the true one.", "95% intervals?"),
    Term("adversary", "Somebody who tries to learn from the release what they should not.", "adversar(?:y|ies)"),
    Term("linkage", "An adversary who knows a person's quasi-identifiers looks for the row that is theirs."),
    Term("miner", "A program that learns from a table to predict one attribute from the others.", "(?:data )?miners?"),
    Term("worst miner", "Of several miners the one whose guesses come nearer to the truth for most people."),
    Term("naive Bayes", "A miner that takes what each column tells for independent of what the others tell."),
    Term("decision tree", "A miner that asks of one column after the other, and guesses by the answers."),
    Term("random forest", "A miner of several decision trees, each of other records and columns, that vote."),
    Term("cross-validation", "Each record is guessed by a miner that learned from others.", "cross-validat(?:ion|ed)"),
    Term("permuted", "Dealt out at random among the people, so that what a guess still gets is chance."),
    Term("workload", "The attribute that an honest user wants to predict."),
    Term("ZeroR", "The simplest miner: it gives everybody the commonest value, or the mean."),
    Term("prior", "What an adversary expects before the release is seen.", None),
    Term("posterior", "What an adversary expects once the release is seen.", None),
    Term("nearer prediction", "A miner's guess that is nearer to the truth than the value that was published."),
    Term(
        "frontier", "The releases that no other release beats in both privacy and utility.", "(?:efficient )?frontier"
    ),
    Term("dominated", "Another release is as good in both privacy and utility and better in one."),
    Term(
        "nat",
        "A unit of information, as the bit is: 1 nat is about 1.44 bits. 0.7 nats is what a fair coin's toss tells.",
        "nats?",
    ),
    Term("bit", "A unit of information: 1 bit tells one of two equally likely answers.", None),
    Term("channel", "A sanitizer seen as a list of chances: how likely each table leads to each release."),
    Term(
        "epsilon",
        "The promise of noise: one person's data change the chance of any release by a factor of at most e to the "
        "epsilon. Smaller promises more.",
    ),
    Term("differential privacy", "A promise that a release is nearly as likely without any one person's data."),
    Term("singled out", "Nobody else has the same quasi-identifiers: whoever knows them knows whose row it is.", None),
    Term("neighbour", "Somebody who knows a person's quasi-identifiers, as those do who live or work beside them."),
    Term("worst-off person", "The one of whom a release tells most: a mean over all people would not show them."),
    Term("large group", f"People alike in a few broad values, such as age and sex; at least {SUPPORT:.0%} of all."),
    Term("found by a neighbour", "Somebody who knows a person's quasi-identifiers picks the right row.", None),
    Term("known for a member", "An adversary tells rightly that somebody's record is in the table.", None),
    Term("two parts linked", "What two files say of one person is put together by the release.", None),
    Term("detail lost", "How wide published labels are, from 0% for exact values to 100% for *.", None),
    Term("error about large groups", "How far a release is wrong about what is common to many people.", None),
    Term(
        "policy", "What an owner accepts: a cap on each risk, a floor, and how a release is chosen.", "polic(?:y|ies)"
    ),
    Term(
        "reservation",
        "What speaks against a release that keeps its policy, such as a likely risk that has no cap.",
    ),
    Term("cap", "The largest risk that a policy accepts; the upper end of an interval must keep it."),
    Term(
        "certainty",
        "The release discloses a person's sensitive value: all people who are published like them have it, and fewer "
        "than 95% of everybody has.",
    ),
    Term(
        "near certainty",
        "The release makes a person's sensitive value at least 95% likely, and what is public does not.",
    ),
    Term("gate", "The one rule that decides whether a release may leave, and the reasons that it gives."),
    Term("floor", "So many people must share each published combination of quasi-identifiers."),
    Term("knee", "Where the frontier lies farthest below the line between its ends: a place to look at, no choice."),
    Term("MAP", "The guess that is most probable, given what was published and what is known before.", None),
    Term("withheld", "Not shown, because it would tell a number of fewer people than the limit."),
    Term("seed", "The number that makes the same chance draws again. What has one is a simulation.", None),
    _model("k", r"k-anonym(?:ity|ous)|k(?= ?= ?\d)", privacy_models.KAnonymity),
    _model(
        "l",
        r"l-divers(?:ity|e)|l(?= ?= ?\d)",
        privacy_models.FrequencyDiversity,
        privacy_models.DistinctDiversity,
        privacy_models.EntropyDiversity,
    ),
    _model("t", r"t-close(?:ness)?|t(?= ?= ?\d)", privacy_models.TCloseness),
    _model("delta", r"delta(?:-disclosure privacy)?", privacy_models.DeltaDisclosure),
)


def _measure(name: str) -> Term:
    of = facts(name)
    return Term(of.title, of.sentence)


def terms() -> list[Term]:
    """All words that pages explain: those of this file, and what measures of privacy and utility are called."""
    every = [*WORDS, *(_measure(of.name) for of in stated() if of.kind and of.sentence)]
    return [*{term.place: term for term in reversed(every)}.values()][::-1]


def methods() -> dict[str, list[tuple[str, str]]]:
    """`{heading: [(name, sentence)]}` of all models and sanitizers of the package."""
    rooms = {"Privacy models": (privacy_models, PrivacyModel), "Sanitizers": (sanitizers, Sanitizer)}
    return {
        heading: [(each.__name__, _stated(each)) for each in _classes(room) if issubclass(each, kind) and each != kind]
        for heading, (room, kind) in rooms.items()
    }


def _classes(room: ModuleType) -> list[type]:
    return [each for name in room.__all__ if isinstance(each := getattr(room, name), type)]


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
