"""Twelve invented people, with numbers that are worked out by hand and compared with the results of the package.

The records are invented, so the page withholds no numbers, even if they are counts of one person. No other table can be
shown in this way, because `load_people` loads the shipped file and refuses any other file.
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
from privnb.evaluation.predictions import predict_in_sample
from privnb.evaluation.results import make_row_builder, name_setting, tidy
from privnb.measures.disclosure import gains, linkage, tradeoff
from privnb.measures.utility import information_loss, mining
from privnb.microdata.release import Release
from privnb.privacy_models import DistinctDiversity, KAnonymity, TCloseness, grade_release
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import FullTable
from privnb.runtime.wording import Worded
from privnb.sanitizers import FullDomain, Identity, Mondrian, Suppress
from privnb.sanitizers.base import Sanitizer

SHA256 = "5d0075ee65de3b5d556b1242113dfc289e088c38446fad477d7911a39fb7703d"
SENSITIVE = "illness"
MONDRIAN = Mondrian(KAnonymity(3))
RELEASES = (Identity(), MONDRIAN, Mondrian(KAnonymity(6)), FullDomain(KAnonymity(3)), Suppress())


@dataclass(frozen=True)
class Check:
    """A number that is worked out by hand, the arithmetic in words, and the same number as the package computes it."""

    number: str
    words: str
    hand: Fraction | float
    computed: float
    format: str = "{:,}"

    @property
    def agrees(self) -> bool:
        """Whether both numbers are equal."""
        return bool(np.isclose(float(self.hand), self.computed, rtol=1e-12, atol=1e-12))


SHARE, PLAIN = "{:%}", "{:g}"


def load_people(study: str = "twelve") -> Dataset:
    """Return the twelve people: a Dataset with age, house and illness.

    Parameters
    ----------
    study : str
        The hierarchies: with "twelve", labels are ranges; with "levels", labels are groups of ten, groups of twenty,
        and "*".

    Raises
    ------
    ValueError
        If the file is not the shipped file, because real people must not be shown in this way.
    """
    path = dataset.find_description("twelve").with_name("twelve.csv")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise UsageError(
            f"{path} is not the file that comes with privnb. Restore the file, or load your table as a dataset."
        )
    return dataset.load("twelve", study)


def show_people() -> FullTable:
    """Return a table of the people, one row per person."""
    return FullTable(load_people().table, "Twelve invented people")


def show_release() -> FullTable:
    """Return the release of Mondrian with k = 3, next to the original rows, which a publisher would not publish."""
    release = _release(MONDRIAN)
    rows = release.table.add_suffix(", published")
    rows["class"] = [str(number + 1) for number in release.defined_classes]
    return FullTable(load_people().table[["person", "age", "house"]].join(rows), "The release of Mondrian with k = 3")


def count_unique() -> list[Check]:
    """Return the number of people in the original who are unique by age, by house, and by age and house together."""
    return [
        Check(
            "unique by age", "10 ages occur, of which 30 and 40 twice: 12 - 2 - 2 = 8 people", 8, _count_alone("age")
        ),
        Check(
            "unique by house", "11 houses occur, of which house 5 twice: 12 - 2 = 10 people", 10, _count_alone("house")
        ),
        Check("unique by both", "no two people share age and house: 12 people", 12, _count_alone("age", "house")),
    ]


def count_classes() -> list[Check]:
    """Return the number of classes of the release, and the sizes of the smallest and the median class."""
    release = _release(MONDRIAN)
    sizes = np.bincount(release.defined_classes)
    return [
        Check("classes", "the classes are A, B, C; D, E, F; G, H, I; and J, K, L: 4 classes", 4, len(sizes)),
        Check("k achieved", "the smallest of 3, 3, 3 and 3 is 3", 3, grade_release(KAnonymity(3), release)),
        Check("median class", "half of the classes have at most 3 people", 3, np.median(sizes)),
    ]


def measure_detail() -> list[Check]:
    """Return the certainty penalty of the release of Mondrian, and the penalty of each of its four classes."""
    release, worked = _release(MONDRIAN), []
    boxes = {  # the bounds of age and house
        "A, B, C": ((21, 33), (2, 14)), "D, E, F": ((38, 58), (5, 19)),
        "G, H, I": ((30, 40), (21, 27)), "J, K, L": ((30, 40), (33, 40)),
    }  # fmt: skip
    for place, (who, ends) in enumerate(boxes.items()):
        spans = [last - first for first, last in ends]
        named = zip(("age", "house"), ends, spans, strict=True)
        words = ", ".join(f"{name} {first}-{last} spans {span} of 39" for name, (first, last), span in named)
        widths = [
            load_people().hierarchies[name].width(release.table[name].iloc[3 * place]) for name in ("age", "house")
        ]
        worked.append(Check(f"penalty of {who}", f"{words}: half of {sum(spans)}/39", Fraction(sum(spans), 2 * 39),
                             float(np.mean(widths)), SHARE))  # fmt: skip
    return [
        *worked,
        Check(
            "certainty penalty of the release",
            "3 people times (24 + 34 + 16 + 17)/39 is 7; there are 12 times 2 cells: 7 of 24",
            Fraction(7, 24), information_loss.certainty_penalty(release), SHARE,
        ),
    ]  # fmt: skip


def link_neighbour() -> list[Check]:
    """Return the expected share of people whose row is re-identified by a neighbor who knows age and house."""
    return [
        Check("without a release", "a random row of 12 is right: 1 of 12", Fraction(1, 12), _reidentify(Suppress()),
              SHARE),
        Check("in the original", "each of the 12 people is unique: 12 of 12", Fraction(1), _reidentify(Identity()),
              SHARE),
        Check("in the release", "each person has 3 candidates, and 12 times 1/3 is 4: 4 of 12", Fraction(4, 12),
               _reidentify(MONDRIAN), SHARE),
    ]  # fmt: skip


def grade_models() -> list[Check]:
    """Return l and t of the release; both measure the mix of illnesses in a class."""
    release = _release(MONDRIAN)
    return [
        Check("l (distinct illnesses)", "G, H and I all have flu, so the least mixed class has 1 illness", 1,
               grade_release(DistinctDiversity(2, SENSITIVE), release)),
        Check("t (distance from the whole table)",
               "the whole table has flu 1/2, asthma 1/3, diabetes 1/6; G, H, I have flu 1: half of 1/2 + 1/3 + 1/6",
               Fraction(1, 2), grade_release(TCloseness(0.5, SENSITIVE), release), PLAIN),
    ]  # fmt: skip


def guess_illness() -> list[Check]:
    """Return the gains of an adversary who knows the class of each person and guesses each person's illness."""
    release = _release(MONDRIAN)
    counts = gains.class_counts(release, SENSITIVE)
    before, after = counts.sum(axis=0).max() / 12, counts.max(axis=1).sum() / 12
    divergence = log(4 / 3) / 2 + (log(2 / 3) / 2 + log(2) / 3 + log(2) / 6) / 2
    return [
        Check("correct guesses without the release", "guess flu for everybody: 6 of 12", Fraction(6, 12), before,
               SHARE),
        Check("correct guesses with the release",
               "guess the most common illness of each class, with 2 flu, 2 asthma, 3 flu and 1 of any: 8 of 12",
               Fraction(8, 12), after, SHARE),
        Check("accuracy gain", "8 of 12 minus 6 of 12: 2 of 12", Fraction(2, 12), gains.accuracy_gain(counts), SHARE),
        Check("knowledge gain",
               "the distances of the four classes are 1/6, 1/2, 1/2 and 1/6, and all classes have 3 people: the mean",
               Fraction(1, 3), gains.knowledge_gain(counts), PLAIN),
        Check("privacy loss (nats)",
               "G, H, I lose half of ln(4/3), plus half of 1/2 ln(2/3) + 1/3 ln 2 + 1/6 ln 2; D, E, F lose the same, "
               "and the others less",
               divergence, tradeoff.privacy_loss(release, SENSITIVE), PLAIN),
    ]  # fmt: skip


def predict_age() -> list[Check]:
    """Return the number of people whose age the simplest miner predicts more closely than the release does.

    The miner always predicts the most common label.
    """
    release, twelve = _release(MONDRIAN), load_people()
    said = predict_in_sample(release, "age", "majority", rng=1).guesses["majority"]
    labels, ages, tree = release.table["age"].to_numpy(), twelve.table["age"].to_numpy(), twelve.hierarchies["age"]
    near = [float(mining.anti_utility(mining.nearer(said, labels, ages, c, tree))) for c in (0, 100)]
    return [
        Check("nearer predictions of the age",
               "the most common label is 30-40, for 6 people, and spans 11 years. C is 33 and has the label 21-33, 13"
               " years; D is 38 and has 38-58, 21 years. The prediction is not shorter for anybody else: 2 people", 2,
               near[0]),
        Check("exact predictions", "a label of 11 years is not an exact age: 0 people", 0, near[1]),
    ]  # fmt: skip


def compare_releases() -> list[Check]:
    """Return the accuracy gain and the certainty penalty of each of five releases."""
    hand = [
        (Fraction(6, 12), "12 correct guesses minus 6", Fraction(0), "every cell is exact"),
        (Fraction(2, 12), "8 correct guesses minus 6", Fraction(7, 24), "7 of 24, as computed above"),
        (Fraction(1, 12), "3 and 4 correct guesses minus 6", Fraction(37 + 17 + 10 + 19, 4 * 39),
         "ages span 37 and 10, houses 17 and 19: 83 of 4 times 39"),
        (Fraction(3, 12), "2, 3, 3 and 1 correct guesses minus 6", Fraction(39 + 9, 2 * 39),
         "age is *, which spans all 39; houses in tens span 9 of 39"),
        (Fraction(0), "6 correct guesses minus 6", Fraction(1), "every cell is *"),
    ]  # fmt: skip
    worked, rows = [], list(measure_losses().itertuples())
    for (gain, why, penalty, how), gained, lost in zip(hand, rows[::2], rows[1::2], strict=True):
        name = name_setting(gained)
        worked += [
            Check(f"{name}: accuracy gain", f"{why}: {12 * gain} of 12", gain, gained.value, SHARE),
            Check(f"{name}: certainty penalty", how, penalty, lost.value, SHARE),
        ]
    return worked


@cache
def measure_losses() -> pd.DataFrame:
    """Return tidy results of the five releases: the accuracy gain, its baseline by chance and the certainty penalty."""
    rows = []
    for sanitizer in RELEASES:
        row, release = make_row_builder(load_people(), sanitizer, ""), _release(sanitizer)
        counts = gains.class_counts(release, SENSITIVE)
        (chance,) = gains.permute_gains(release, SENSITIVE, rng=1, of=(gains.accuracy_gain,))
        rows.append(row("accuracy_gain", gains.accuracy_gain(counts), baseline=chance, target=SENSITIVE))
        rows.append(row("certainty_penalty", information_loss.certainty_penalty(release)))
    return tidy(rows)


def locate_releases() -> pd.DataFrame:
    """Return, for `charts.frontier`, the five releases as points of the privacy-utility plane."""
    return decision.compute_points(measure_losses(), privacy="accuracy_gain", utility="certainty_penalty")


def list_lattice() -> pd.DataFrame:
    """Return every choice of one level per attribute, with its k, its penalty, and whether the search chooses it."""
    table, hierarchies = load_people("levels").table, load_people("levels").hierarchies
    best = FullDomain(KAnonymity(3)).search(load_people("levels")).levels
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


def list_boxes() -> pd.DataFrame:
    """Return the bounds of each class of Mondrian with k = 12, 6 and 3, which are the steps of Mondrian's cuts."""
    ages_and_houses = load_people().table[["age", "house"]]
    found = {
        step: ages_and_houses.groupby(_release(Mondrian(KAnonymity(k))).defined_classes).agg(["min", "max"])
        for step, k in enumerate((12, 6, 3))
    }
    boxes = pd.concat(found, names=["step"])
    return boxes.set_axis(boxes.columns.map("_".join), axis=1).reset_index("step").reset_index(drop=True)


def show_worked(*parts: Iterable[Check]) -> FullTable:
    """Return a table with the arithmetic in words, the value by hand and the computed value of each number."""
    rows = []
    for each in itertools.chain(*parts):
        values = [numerals.write_without_unit(each.format, float(value)) for value in (each.hand, each.computed)]
        rows.append((each.number, each.words, *values, "the same" if each.agrees else "NOT THE SAME"))
    table = pd.DataFrame(rows, columns=["number", "arithmetic", "by hand", "computed", ""])
    return FullTable(table, f"{len(rows)} numbers")


def state_answer() -> Worded:
    """Return the conclusions that the example of the twelve people supports."""
    right = gains.class_counts(_release(MONDRIAN), SENSITIVE)
    loss = information_loss.certainty_penalty(_release(MONDRIAN))
    parts = (
        count_unique,
        count_classes,
        measure_detail,
        link_neighbour,
        grade_models,
        guess_illness,
        predict_age,
        compare_releases,
    )
    numbers = [number for part in parts for number in part()]
    data = {
        "people": len(load_people()),
        "reidentified": {"release": float(_reidentify(MONDRIAN)), "table": float(_reidentify(Identity()))},
        "loss": float(loss),
        "numbers": len(numbers),
        "matching": sum(each.agrees for each in numbers),
        "guessed": {"release": int(right.max(axis=1).sum()), "blind": int(right.sum(axis=0).max())},
    }
    return Worded("papers/findings_twelve", data)


@cache
def _release(sanitizer: Sanitizer) -> Release:
    return sanitizer.sanitize(load_people("levels" if isinstance(sanitizer, FullDomain) else "twelve"), rng=1)


def _reidentify(sanitizer: Sanitizer) -> float:
    published, key = _release(sanitizer).publish()
    assert key is not None  # each row is somebody's
    share, *_ = linkage.reidentification_rate(Linkage().fit(published), load_people(), key)
    return share


def _count_alone(*names: str) -> int:
    published, key = _release(Identity()).publish()
    assert key is not None  # each row is somebody's
    return linkage.singled_out(Linkage(names).fit(published), load_people(), key)
