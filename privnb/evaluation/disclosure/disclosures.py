"""What a release tells an adversary of the sensitive attribute (Brickell and Shmatikov, KDD 2008, sections 4, 6 and 7).

The adversary knows a person's quasi-identifiers and wants the sensitive attribute. They are measured against the
trivial sanitizations, which publish either no quasi-identifier or no sensitive attribute. Which neutral attributes they
know is a parameter; other choices than the paper's stand in `knows`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, combinations

import numpy as np
import pandas as pd

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.cases import SEEDS_AT_A_TIME, Case, Question
from privnb.evaluation.predictions import FAILURES, AsksMiners, Miners, explain_refusals, miners_of
from privnb.evaluation.results import Row
from privnb.measures.base import state
from privnb.measures.disclosure import gains
from privnb.measures.disclosure.disclosed import disclosed, right_by_group, surest, tells_few
from privnb.measures.utility.mining import exact_match
from privnb.microdata import counts, withholding
from privnb.microdata.counts import class_value_counts, people_among
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.schema import Role
from privnb.microdata.treatment import Unreadable
from privnb.miners import able
from privnb.miners.encoding import encode
from privnb.miners.miner import Failed
from privnb.privacy_models import DeltaDisclosure, KAnonymity, RecursiveDiversity, TCloseness
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list, names_in, some_of
from privnb.runtime.validation import AttributeName, Seed, validated
from privnb.sanitizers import Identity, Mondrian, Suppress
from privnb.sanitizers.base import Sanitizer

GAINS = (
    gains.accuracy_gain, gains.knowledge_gain, gains.largest_disclosure, gains.largest_quotient,
    gains.information_gain,
)  # fmt: skip


GUESSES = gains.accuracy_gain, gains.knowledge_gain  # withheld where they would tell of few people guessed right
WORST = gains.largest_disclosure, gains.largest_quotient  # of the class that tells most


state(
    "information_share",
    bounds=(0, 1),
    sentence="Share of an attribute's information that a set of other attributes holds.",
    source="Brickell and Shmatikov, KDD 2008, section 7",
)


def trivial() -> list[Sanitizer]:
    """The two trivial sanitizations: no quasi-identifiers; no sensitive attribute. Sections 1 and 4.1."""
    return [Suppress(), Suppress("sensitive")]


@validated
def sanitizations(sensitive: AttributeName, workload: str) -> list[Sanitizer | Sanitizer]:
    """The fifteen of Table 3 and Figures 1 to 4, in the order of the table.

    Of Mondrian's variants the one that an independent study found to come nearest to the table: cuts by information
    gain on `workload`, numbers at the largest threshold below the median. No variant known gives its digits.

    Parameters
    ----------
    sensitive, workload : str
        The data set's two attributes.

    Returns
    -------
    list of Sanitizer
    """
    models = [
        *(KAnonymity(k) for k in (10, 100, 1000)),
        *(RecursiveDiversity(3, l, sensitive) for l in (2, 5, 10, 15)),  # noqa: E741
        *(TCloseness(t, sensitive) for t in (0.4, 0.3, 0.2)),
        *(DeltaDisclosure(delta, sensitive) for delta in (1.2, 1.0, 0.8)),
    ]
    cut = {"split_attribute": "gain", "split_point": "below", "workload": workload}
    return [Identity(), *(Mondrian(model, **cut) for model in models), Suppress()]


@validated
def released(dataset: Dataset, sanitizer: Sanitizer, seed: Seed = 1) -> Release:
    """The release of a sanitizer; where even all records together break one of its models, the trivial release.

    The convention behind Table 3's l = 15, which 14 values cannot have: no split is allowed, so all are one class.

    Parameters
    ----------
    dataset : Dataset
    sanitizer : Sanitizer
    seed : int

    Returns
    -------
    Release
    """
    return stand_in(Case(dataset, sanitizer, seed))


def stand_in(case: Case) -> Release:
    """The release of a case, or the one that stands for it, see `released`."""
    known = case.dataset.schema.quasi_identifiers
    if models := [model for model in getattr(case.sanitizer, "models", ()) if model.sensitive not in known]:
        whole = _bare(case.dataset)
        counted = [model.counted(whole) for model in models]
        if not all(model.holds(found, found.sum(axis=0)).all() for model, found in zip(models, counted, strict=True)):
            return whole
    return case.release


@lru_cache(maxsize=SEEDS_AT_A_TIME)
def _bare(dataset: Dataset) -> Release:
    """The release without quasi-identifiers."""
    return Suppress().sanitize(dataset, rng=0)


@dataclass(frozen=True)
class Disclosure(AsksMiners, Question):
    """What a release tells an adversary of the sensitive attribute (Table 3; the adversary of Figures 1 to 4).

    Rows, baseline: the same classes with the values dealt out at random: `accuracy_gain` (A_acc), also of each miner,
    `knowledge_gain` (A_know), `largest_disclosure` and `largest_quotient` (the class with the largest A_diff, A_quot;
    the latter is infinite unless each class has all values), and `information_gain` (nats), which Lemma 1 keeps below
    every delta of a delta-disclosure-private release, so at most at `largest_quotient`. `posterior_accuracy`: people
    guessed right, as a share; baseline: those guessed without the release. `largest_posterior`: how sure the surest
    guess is; baseline: without the release.

    Parameters
    ----------
    sensitive : str
    known : tuple of str
        Neutral attributes that they know of a person beside the quasi-identifiers. Their gains are then over what the
        release without quasi-identifiers tells them. Empty: the paper's adversary.
    knows : str
        How results name these.
    miners : str, estimator, or list of those
        Who else attacks, beside the exact adversary who guesses the commonest value of a class; empty: nobody. They are
        asked for people as they know them: for their class's cells, or for their own quasi-identifiers where noise
        leaves no classes. A noisy release is refused without miners; a bucketized one they do not read.
    reorders : bool
        As of `Question`.
    """

    sensitive: str
    known: tuple[str, ...] = ()
    knows: str = ""
    miners: Miners = ""
    reorders: bool = True

    main = "accuracy_gain"
    axes = (
        "accuracy_gain", "knowledge_gain", "largest_disclosure", "largest_quotient", "information_gain",
        "posterior_accuracy",
    )  # fmt: skip

    @property
    def varies(self) -> bool:
        return bool(self.miners)

    @classmethod
    def of(cls, dataset: Dataset, *, sensitive: str | None = None, knows: str = "", miners: Miners = "") -> Question:
        """The question to this dataset: `sensitive` defaults to its first sensitive attribute; `knows` names neutral
        attributes separated by commas, or "all".
        """
        sensitive = sensitive_name(dataset, sensitive)
        known, there = neutral_names(dataset, knows, sensitive), neutral_names(dataset, "all", sensitive)
        knows = "all" if known and known == there else ", ".join(known)
        return cls(sensitive, tuple(known), knows, miners)

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, self.main, target=self.sensitive, knows=self.knows)

    def rows(self, case: Case) -> list[Row]:
        row, rows = partial(case.row, target=self.sensitive, knows=self.knows), []
        release, also = stand_in(case), list(self.known)
        if is_withheld(release, self.sensitive):
            # It is in a table of its own, which tells A_base and nothing of anybody.
            release, also = _bare(case.dataset), []
        if release.classes is None and release.groups is not None and not also:
            few = tells_few(release, self.sensitive, case.fewest)
            rows.append(_surest(row, surest(*release.of_people(self.sensitive)), few))
        if release.classes is not None or not (self.miners or rows):
            rows += _of_classes(row, release, self.sensitive, also, case.fewest, rng=case.stream("deal"))
        if self.miners and MinerInference.can_read(release):
            rows += _of_miners(row, case, release, self.sensitive, also, self.miners)
        return rows


@dataclass(frozen=True)
class Shares(Question):
    """Which share of an attribute's information each set of other published attributes holds, for all of them.

    For tables that are a distribution, such as all outcomes of an experiment: of a sample, a large set tells everything
    by chance. Section 7, where data have both privacy and utility.

    Rows `information_share` of `target` "a4" for who `knows` "a1, a3": 0 (they tell nothing of it) to 1 (they tell it
    exactly). Of sensitive and neutral attributes, from every set of others that the release does not suppress.
    """

    main = "information_share"

    def rows(self, case: Case) -> list[Row]:
        release, rows = stand_in(case), []
        shown = [name for name in case.dataset.schema.published if not is_withheld(release, name)]
        for target in (name for name in shown if release.schema[name].role is not Role.QUASI_IDENTIFIER):
            values, others = release.table[target], [name for name in shown if name != target]
            entropy = _information(release.table[[target]], values)
            for given in chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1)):
                share = _information(release.table[list(given)], values) / entropy if entropy else 1.0
                rows.append(case.row("information_share", share, target=target, knows=", ".join(given)))
        return rows


def neutral_names(dataset: Dataset, names: str, target: str) -> list[str]:
    """The neutral attributes that a text names, in column order; the target is not one that helps to guess it."""
    there = [name for name in dataset.schema.names(Role.NEUTRAL) if name != target]
    chosen = there if names == "all" else names_in(names)
    unknown = [name for name in chosen if name not in there]
    if unknown:
        raise UsageError(
            f"{unknown} are no neutral attributes of '{dataset.name}' that help to guess '{target}'. Name some of "
            f"{name_list(there) or 'none, for it has no other'}, or all."
        )
    return [name for name in there if name in chosen]


def is_withheld(release: Release, name: str) -> bool:
    """Whether an attribute is published as `*` alone."""
    return name in release.cells and (release.cells[name] == SUPPRESSED).all()


def _of_classes(
    row: Callable[..., Row], release: Release, sensitive: str, known: Sequence[str], fewest: int, *, rng: Sequence[int]
) -> list[Row]:
    found = disclosed(release, sensitive, rng=rng, knows=known, of=GAINS)
    few, rows, n = tells_few(release, sensitive, fewest), [], release.headcount
    right, before = (withholding.Counted(share * n, n) for share in (found.right, found.before))
    guesses = partial(withholding.Revealing, people=np.array([right.people, before.people]), of=n)
    for gain, *given in zip(GAINS, found.gains, found.by_chance, strict=True):
        if gain in WORST and few and given[0] > 0:
            given = [np.nan, np.nan]
        value, dealt = map(guesses, given) if gain in GUESSES else given
        rows.append(row(gain.__name__, value, baseline=dealt))
    sure = (np.nan, np.nan) if withholding.tells(before.people, n, fewest) else (found.surest, found.sure_before)
    return [*rows, row("posterior_accuracy", right, baseline=before), _surest(row, sure, few)]


def _surest(row: Callable[..., Row], surest: tuple[float, float], few: bool) -> Row:
    """How sure the surest guess is, with the release and without it, unless that could tell of few people."""
    sure, before = (np.nan, np.nan) if few and surest[0] > surest[1] else surest
    return row("largest_posterior", sure, baseline=before)


def _of_miners(
    row: Callable[..., Row], case: Case, release: Release, sensitive: str, known: Sequence[str], miners: Miners
) -> list[Row]:
    dataset = case.dataset
    _check_known(dataset, release)
    published, key = release._published(case.stream("publish"))
    values, groups = published.table[sensitive].to_numpy(), counts.combinations(published.table[list(known)]).index
    people, n = None if release.people is None else release.people[key], release.headcount
    before = right_by_group(groups, values, people)
    dealt = values[gains.permute(groups, np.random.default_rng(case.stream("deal")))]
    # A class is found by the quasi-identifiers of a person (section 4.1); the row that noise made of them is not.
    asked = (dataset if release.classes is None else release).table.iloc[key]
    true, rows = dataset.table[sensitive].to_numpy()[key], []
    read = partial(encode, names=[*release.schema.quasi_identifiers, *known], schema=published.schema)
    learned = read(published.table, hierarchies=published.hierarchies)  # once for all miners
    asked = read(asked, hierarchies=published.hierarchies, like=learned)
    every = miners_of(miners)
    for name, reason in explain_refusals(every, published.table[sensitive]).items():
        rows.append(row("accuracy_gain", np.nan, miner=name, status="refused", reason=reason))
    for miner in able(every, published.table[sensitive])[0]:
        try:  # what MinerInference does with one miner
            right, chance = (
                people_among(exact_match(miner.fit(learned, taught).predict(asked), answer), people) / n
                for taught, answer in ((values, true), (dealt, dealt))
            )
            chance -= before
        except tuple(FAILURES) as error:
            reason = str(error) if isinstance(error, Failed) else ""
            rows.append(row("accuracy_gain", np.nan, miner=miner.name, status=FAILURES[type(error)], reason=reason))
        else:
            gain = partial(withholding.Revealing, people=np.array([right, before]) * n, of=n)
            rows.append(row("accuracy_gain", gain(right - before), miner=miner.name, baseline=gain(chance)))
    return rows


def _check_known(dataset: Dataset, release: Release) -> None:
    """Raise Unreadable where people have not what a miner would find their row by, or have no row."""
    release.originals(dataset)
    if made := [name for name in release.schema.quasi_identifiers if name not in dataset.schema.published]:
        raise Unreadable(
            f"a miner guesses for people by their quasi-identifiers, and {some_of(made)} are columns that "
            f"{release.provenance.sanitizer} made, which nobody has. Attack it by what undoes it."
        )


def _information(given: pd.DataFrame, values: pd.Series) -> float:
    """What the columns of a DataFrame (n, g) tell about values, array (n,), in nats."""
    return gains.information_gain(class_value_counts(counts.combinations(given).index, values))
