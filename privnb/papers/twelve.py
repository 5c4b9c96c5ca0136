"""Twelve made-up people, on whom every number is worked by hand beside what the package computes.

They are nobody's records, so nothing is withheld of them: counts of one person are what the page is about. No other
table gets that way of looking, since nothing here takes one: `people` loads the shipped file and refuses any other.
"""

import hashlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import log

import numpy as np
import pandas as pd

from privnb import decision
from privnb.attacks import Linkage
from privnb.datasets import dataset
from privnb.datasets.dataset import Dataset
from privnb.evaluation.predictions import mine
from privnb.evaluation.results import row_builder, setting_name, tidy
from privnb.measures.disclosure import gains, linkage, tradeoff
from privnb.measures.utility import information_loss, mining
from privnb.microdata.release import Release
from privnb.privacy_models import DistinctDiversity, KAnonymity, TCloseness, achieved
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import B, Page, Sentences, say
from privnb.sanitizers import FullDomain, Identity, Mondrian, Suppress
from privnb.sanitizers.base import Sanitizer

SHA256 = "5d0075ee65de3b5d556b1242113dfc289e088c38446fad477d7911a39fb7703d"
SECRET = "illness"
MONDRIAN = Mondrian(KAnonymity(3))
RELEASES = (Identity(), MONDRIAN, Mondrian(KAnonymity(6)), FullDomain(KAnonymity(3)), Suppress())


@dataclass(frozen=True)
class Worked:
    """One number twice: `words` and `hand` are worked by hand, `computed` is what the package says."""

    number: str
    words: str
    hand: Fraction | float
    computed: float
    format: str = "{:,}"

    @property
    def agrees(self) -> bool:
        return bool(np.isclose(float(self.hand), self.computed, rtol=1e-12, atol=1e-12))


SHARE, PLAIN = "{:%}", "{:g}"


def people(study: str = "twelve") -> Dataset:
    """The twelve: a Dataset with age, house and illness.

    Parameters
    ----------
    study : str
        "twelve", whose labels are ranges, or "levels", whose labels are tens, twenties and everything.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the file of the twelve is not the shipped one: of other people nothing is shown here.
    """
    path = dataset.find("twelve").with_name("twelve.csv")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise UsageError(
            f"{path} is not the file that comes with privnb. Put it back, or load your table as a dataset."
        )
    return dataset.load("twelve", study)


def table() -> Page:
    """Everybody, one row each."""
    return Page(people().table, "Twelve made-up people")


def published() -> Page:
    """What Mondrian publishes with k = 3, beside whom each row is of, which is not published."""
    release = _release(MONDRIAN)
    rows = release.table.add_suffix(", published")
    rows["class"] = [str(number + 1) for number in release.defined_classes]
    return Page(people().table[["person", "age", "house"]].join(rows), "What Mondrian publishes with k = 3")


def uniqueness() -> list[Worked]:
    """How many are alone with what is known of them, in the original."""
    return [
        Worked("alone with their age", "10 ages occur, 30 and 40 twice: 12 - 2 - 2 = 8 people", 8, _alone("age")),
        Worked("alone with their house", "11 houses occur, house 5 twice: 12 - 2 = 10 people", 10, _alone("house")),
        Worked("alone with both", "no two people share age and house: 12 people", 12, _alone("age", "house")),
    ]


def classes() -> list[Worked]:
    """The classes of the release, and how many people share the smallest."""
    release = _release(MONDRIAN)
    sizes = np.bincount(release.defined_classes)
    return [
        Worked("classes", "A, B, C; D, E, F; G, H, I; J, K, L: 4 classes", 4, len(sizes)),
        Worked("k achieved", "the smallest of 3, 3, 3 and 3 is 3", 3, achieved(KAnonymity(3), release)),
        Worked("median class", "half of the classes have at most 3 people", 3, np.median(sizes)),
    ]


def detail() -> list[Worked]:
    """The certainty penalty, cell by cell."""
    release, worked = _release(MONDRIAN), []
    boxes = {  # the ends of age and house
        "A, B, C": ((21, 33), (2, 14)), "D, E, F": ((38, 58), (5, 19)),
        "G, H, I": ((30, 40), (21, 27)), "J, K, L": ((30, 40), (33, 40)),
    }  # fmt: skip
    for place, (who, ends) in enumerate(boxes.items()):
        spans = [last - first for first, last in ends]
        named = zip(("age", "house"), ends, spans, strict=True)
        words = ", ".join(f"{name} {first}-{last} spans {span} of 39" for name, (first, last), span in named)
        widths = [people().hierarchies[name].width(release.table[name].iloc[3 * place]) for name in ("age", "house")]
        worked.append(Worked(f"penalty of {who}", f"{words}: half of {sum(spans)}/39", Fraction(sum(spans), 2 * 39),
                             float(np.mean(widths)), SHARE))  # fmt: skip
    return [
        *worked,
        Worked(
            "certainty penalty of the release",
            "3 people times (24 + 34 + 16 + 17)/39 is 7; there are 12 times 2 cells: 7 of 24",
            Fraction(7, 24), information_loss.certainty_penalty(release), SHARE,
        ),
    ]  # fmt: skip


def neighbour() -> list[Worked]:
    """How often a neighbour who knows age and house takes the right row."""
    return [
        Worked("without any release", "one row of 12 at random: 1 of 12", Fraction(1, 12), _found(Suppress()), SHARE),
        Worked("in the original", "each of the 12 is alone: 12 of 12", Fraction(1), _found(Identity()), SHARE),
        Worked("in the release", "each has 3 candidates, 12 times 1/3 is 4: 4 of 12", Fraction(4, 12), _found(MONDRIAN),
               SHARE),
    ]  # fmt: skip


def models() -> list[Worked]:
    """How mixed the illnesses of a class are: l and t."""
    release = _release(MONDRIAN)
    return [
        Worked("l (different illnesses)", "G, H and I all have flu: the least mixed class has 1", 1,
               achieved(DistinctDiversity(2, SECRET), release)),
        Worked("t (distance from everybody)",
               "everybody: flu 1/2, asthma 1/3, diabetes 1/6; G, H, I: flu 1. Half of 1/2 + 1/3 + 1/6",
               Fraction(1, 2), achieved(TCloseness(0.5, SECRET), release), PLAIN),
    ]  # fmt: skip


def guesses() -> list[Worked]:
    """What an adversary who knows the class of everybody gains about their illness."""
    release = _release(MONDRIAN)
    counts = gains.class_counts(release, SECRET)
    before, after = counts.sum(axis=0).max() / 12, counts.max(axis=1).sum() / 12
    divergence = log(4 / 3) / 2 + (log(2 / 3) / 2 + log(2) / 3 + log(2) / 6) / 2
    return [
        Worked("right without the release", "guess flu for everybody: 6 of 12", Fraction(6, 12), before, SHARE),
        Worked("right with the release",
               "the commonest illness of each class: flu 2, asthma 2, flu 3, any 1: 8 of 12", Fraction(8, 12), after,
               SHARE),
        Worked("accuracy gain", "8 of 12 less 6 of 12: 2 of 12", Fraction(2, 12), gains.accuracy_gain(counts), SHARE),
        Worked("knowledge gain",
               "the distances of the four classes are 1/6, 1/2, 1/2 and 1/6; all have 3 people: their mean",
               Fraction(1, 3), gains.knowledge_gain(counts), PLAIN),
        Worked("privacy loss (nats)",
               "G, H, I: half of ln(4/3), and half of 1/2 ln(2/3) + 1/3 ln 2 + 1/6 ln 2; D, E, F as much, others less",
               divergence, tradeoff.privacy_loss(release, SECRET), PLAIN),
    ]  # fmt: skip


def miner() -> list[Worked]:
    """For whom the simplest miner, which always says the commonest label, comes nearer than the release."""
    release, twelve = _release(MONDRIAN), people()
    said = mine(release, "age", "majority", rng=1).guesses["majority"]
    labels, ages, tree = release.table["age"].to_numpy(), twelve.table["age"].to_numpy(), twelve.hierarchies["age"]
    near = [float(mining.anti_utility(mining.nearer(said, labels, ages, c, tree))) for c in (0, 100)]
    return [
        Worked("nearer predictions of the age",
               "the commonest label is 30-40, of 6 people, 11 years long. C is 33 and has the label 21-33, 13 years; D"
               " is 38 and has 38-58, 21 years. Nobody else's age lies in a shorter label: 2 people", 2, near[0]),
        Worked("exact predictions", "a label of 11 years is no exact age: 0 people", 0, near[1]),
    ]  # fmt: skip


def releases() -> list[Worked]:
    """Five releases: what each loses in privacy, by the accuracy gain, and in utility, by the certainty penalty."""
    hand = [
        (Fraction(6, 12), "12 right less 6", Fraction(0), "every cell as it is"),
        (Fraction(2, 12), "8 right less 6", Fraction(7, 24), "7 of 24, see above"),
        (Fraction(1, 12), "3 and 4 right, less 6", Fraction(37 + 17 + 10 + 19, 4 * 39),
         "ages span 37 and 10, houses 17 and 19: 83 of 4 times 39"),
        (Fraction(3, 12), "2, 3, 3 and 1 right, less 6", Fraction(39 + 9, 2 * 39),
         "age *, all 39; houses by tens, 9 of 39"),
        (Fraction(0), "6 right less 6", Fraction(1), "every cell is *"),
    ]  # fmt: skip
    worked, rows = [], list(losses().itertuples())
    for (gain, why, penalty, how), gained, lost in zip(hand, rows[::2], rows[1::2], strict=True):
        name = setting_name(gained)
        worked += [
            Worked(f"{name}: accuracy gain", f"{why}: {12 * gain} of 12", gain, gained.value, SHARE),
            Worked(f"{name}: certainty penalty", how, penalty, lost.value, SHARE),
        ]
    return worked


@cache
def losses() -> pd.DataFrame:
    """The five releases as tidy results: accuracy gain, beside what it is by chance, and certainty penalty."""
    rows = []
    for sanitizer in RELEASES:
        row, release = row_builder(people(), sanitizer, ""), _release(sanitizer)
        counts = gains.class_counts(release, SECRET)
        (chance,) = gains.permuted_gains(release, SECRET, rng=1, of=(gains.accuracy_gain,))
        rows.append(row("accuracy_gain", gains.accuracy_gain(counts), baseline=chance, target=SECRET))
        rows.append(row("certainty_penalty", information_loss.certainty_penalty(release)))
    return tidy(rows)


def frontier() -> pd.DataFrame:
    """The five releases as points, for `charts.frontier`: which no other one beats."""
    return decision.points(losses(), privacy="accuracy_gain", utility="certainty_penalty")


def lattice() -> pd.DataFrame:
    """Every choice of one level per attribute: its labels, the k that it achieves, its penalty, and the chosen one."""
    table, hierarchies = people("levels").table, people("levels").hierarchies
    best = FullDomain(KAnonymity(3)).search(people("levels")).levels
    labels = {name: {row[0]: row for row in hierarchies[name].rows} for name in ("age", "house")}
    nodes = []
    for levels in itertools.product(range(4), range(4)):
        cells = pd.DataFrame({
            name: [labels[name][str(value)][level] for value in table[name]]
            for name, level in zip(labels, levels, strict=True)
        })  # fmt: skip
        penalty = np.mean([[hierarchies[name].width(label) for label in cells[name]] for name in labels])
        nodes.append((*levels, int(cells.value_counts().min()), float(penalty), levels == best))
    return pd.DataFrame(nodes, columns=["age", "house", "k", "penalty", "chosen"])


def boxes() -> pd.DataFrame:
    """What Mondrian cuts, step by step: the ends of each class with k = 12, 6 and 3, one row each."""
    ages_and_houses = people().table[["age", "house"]]
    found = {
        step: ages_and_houses.groupby(_release(Mondrian(KAnonymity(k))).defined_classes).agg(["min", "max"])
        for step, k in enumerate((12, 6, 3))
    }
    boxes = pd.concat(found, names=["step"])
    return boxes.set_axis(boxes.columns.map("_".join), axis=1).reset_index("step").reset_index(drop=True)


def worked(*parts: Iterable[Worked]) -> Page:
    """A table to look at: each number, the arithmetic in words, its value by hand and the one that is computed."""
    rows = []
    for each in itertools.chain(*parts):
        values = [numerals.bare(each.format, float(value)) for value in (each.hand, each.computed)]
        rows.append((each.number, each.words, *values, "the same" if each.agrees else "NOT THE SAME"))
    table = pd.DataFrame(rows, columns=["number", "worked by hand", "by hand", "computed", ""])
    return Page(table, f"{len(rows)} numbers")


def answer() -> Sentences:
    """What the twelve show, in sentences."""
    right = gains.class_counts(_release(MONDRIAN), SECRET)
    loss = information_loss.certainty_penalty(_release(MONDRIAN))
    parts = uniqueness, classes, detail, neighbour, models, guesses, miner, releases
    numbers = [number for part in parts for number in part()]
    same = sum(each.agrees for each in numbers)
    return say(
        f"{B}A neighbour finds {_found(MONDRIAN):.0%} of the twelve in a release with k = 3, and "
        f"{_found(Identity()):.0%} in the table{B}; {loss:.0%} of the detail is gone. {same} of {len(numbers)} numbers "
        "worked by hand are what the package computes.",
        f"Illnesses still leak. An adversary guesses {right.max(axis=1).sum()} of 12 right, and "
        f"{right.sum(axis=0).max()} without the release: a class whose three people have the same illness hides who is "
        "who, and not what they have.",
    )


@cache
def _release(sanitizer: Sanitizer) -> Release:
    return sanitizer.sanitize(people("levels" if isinstance(sanitizer, FullDomain) else "twelve"), rng=1)


def _found(sanitizer: Sanitizer) -> float:
    published, key = _release(sanitizer).publish()
    assert key is not None  # each row is somebody's
    share, *_ = linkage.reidentification_rate(Linkage().fit(published), people(), key)
    return share


def _alone(*names: str) -> int:
    published, key = _release(Identity()).publish()
    assert key is not None  # each row is somebody's
    return linkage.singled_out(Linkage(names).fit(published), people(), key)
