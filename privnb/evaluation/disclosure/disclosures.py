"""Disclosure of the sensitive attribute by a release (Brickell and Shmatikov, KDD 2008, sections 4, 6 and 7).

The adversary knows a person's quasi-identifiers and wants the sensitive attribute. The gain is measured relative to the
trivial sanitizations, which publish either no quasi-identifier or no sensitive attribute. A parameter selects neutral
attributes that the adversary also knows; the column `knows` of the results lists these attributes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, combinations

import numpy as np
import pandas as pd

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive
from privnb.evaluation.evaluation_loop import MAX_CACHED_SEEDS, Case, Question
from privnb.evaluation.predictions import FAILURES, Miners, WithMiners, explain_refusals, resolve_miners
from privnb.evaluation.results import Row
from privnb.measures.base import register_measure
from privnb.measures.disclosure import gains
from privnb.measures.disclosure.summary import (
    accuracy_by_group,
    reveals_small_count,
    summarize_disclosure,
    surest_guess,
)
from privnb.measures.utility.mining import exact_match
from privnb.microdata import counts, withholding
from privnb.microdata.counts import class_value_counts, count_people_among
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.schema import Role
from privnb.microdata.treatment import Unreadable
from privnb.miners import select_able
from privnb.miners.encoding import encode
from privnb.miners.miner import Failed
from privnb.privacy_models import DeltaDisclosure, KAnonymity, RecursiveDiversity, TCloseness
from privnb.runtime.errors import UsageError
from privnb.runtime.names import abbreviate_names, join_names, parse_names
from privnb.runtime.validation import AttributeName, Seed, validated
from privnb.sanitizers import Identity, Mondrian, Suppress
from privnb.sanitizers.base import Sanitizer

GAINS = (
    gains.accuracy_gain, gains.knowledge_gain, gains.largest_disclosure, gains.largest_quotient,
    gains.information_gain,
)  # fmt: skip


GUESSES = gains.accuracy_gain, gains.knowledge_gain  # withheld if they would reveal a small count of right guesses
WORST = gains.largest_disclosure, gains.largest_quotient  # of the class that discloses most


register_measure(
    "information_share",
    bounds=(0, 1),
    sentence="This is the share of an attribute's information that a set of other attributes holds.",
    source="Brickell and Shmatikov, KDD 2008, section 7",
)


def list_trivial_sanitizers() -> list[Sanitizer]:
    """Return the trivial sanitizers of sections 1 and 4.1: without quasi-identifiers, or without sensitive values."""
    return [Suppress(), Suppress("sensitive")]


@validated
def build_paper_sanitizers(sensitive: AttributeName, workload: str) -> list[Sanitizer | Sanitizer]:
    """Return the fifteen sanitizers of Table 3 and Figures 1 to 4, in the order of the table.

    The function uses the variant of Mondrian whose results came closest to the table in an independent study. This
    variant chooses the attribute of a cut by the information gain about `workload`, and cuts numbers at the largest
    threshold below the median. No known variant reproduces the digits of the table.

    Parameters
    ----------
    sensitive, workload : str
        The sensitive attribute and the workload attribute of the dataset.

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
def sanitize_or_replace(dataset: Dataset, sanitizer: Sanitizer, seed: Seed = 1) -> Release:
    """Return the release of a sanitizer, or the trivial release if all records together violate one of its models.

    Table 3 uses this convention for l = 15, which an attribute of 14 values cannot satisfy: no split is allowed, and
    all records form one class.

    Parameters
    ----------
    dataset : Dataset
    sanitizer : Sanitizer
    seed : int

    Returns
    -------
    Release
    """
    return choose_release(Case(dataset, sanitizer, seed))


def choose_release(case: Case) -> Release:
    """Return the release of a case, or the trivial release that replaces it; see `sanitize_or_replace`."""
    known = case.dataset.schema.quasi_identifiers
    if models := [model for model in getattr(case.sanitizer, "models", ()) if model.sensitive not in known]:
        whole = _release_nothing(case.dataset)
        counted = [model.counted(whole) for model in models]
        if not all(model.holds(found, found.sum(axis=0)).all() for model, found in zip(models, counted, strict=True)):
            return whole
    return case.release


@lru_cache(maxsize=MAX_CACHED_SEEDS)
def _release_nothing(dataset: Dataset) -> Release:
    """Return the release without quasi-identifiers."""
    return Suppress().sanitize(dataset, rng=0)


@dataclass(frozen=True)
class Disclosure(WithMiners, Question):
    """Question about the disclosure of the sensitive attribute (Table 3, and the adversary of Figures 1 to 4).

    The baseline of the next five measures is the same measure for the same classes with randomly permuted sensitive
    values. `accuracy_gain` is A_acc, and has a row for each miner, too; `knowledge_gain` is A_know.
    `largest_disclosure` and `largest_quotient` are A_diff and A_quot of the class in which each of the two is largest.
    `largest_quotient` is infinite unless each class has all values. `information_gain` is in nats. If a release has
    delta-disclosure privacy, `information_gain` is below delta (Lemma 1); it is therefore at most `largest_quotient`.
    The row `posterior_accuracy` is the share of people whose value is guessed correctly, and the row
    `largest_posterior` is the probability of the most certain guess; the baseline of these two rows is a guess without
    the release.

    Parameters
    ----------
    sensitive : str
    known : tuple of str
        Neutral attributes of a person that the adversary knows in addition to the quasi-identifiers. Gains are then
        relative to the disclosure by the release without quasi-identifiers. If empty, the adversary is that of the
        paper.
    knows : str
        The name of these attributes in results.
    miners : str, estimator, or list of those
        Miners that attack in addition to the exact adversary, who guesses the most common value of a class; if empty,
        no miner attacks. A miner predicts from the cells of a person's class, or from the person's own
        quasi-identifiers if the release has no classes because of noise. A noisy release needs miners; miners cannot
        read a bucketized release.
    permutes_records : bool
        See `Question`.
    """

    sensitive: str
    known: tuple[str, ...] = ()
    knows: str = ""
    miners: Miners = ""
    permutes_records: bool = True

    primary_measure = "accuracy_gain"
    axes = (
        "accuracy_gain", "knowledge_gain", "largest_disclosure", "largest_quotient", "information_gain",
        "posterior_accuracy",
    )  # fmt: skip

    @property
    def stochastic(self) -> bool:
        """Return whether the answer depends on random numbers."""
        return bool(self.miners)

    @classmethod
    def of(cls, dataset: Dataset, *, sensitive: str | None = None, knows: str = "", miners: Miners = "") -> Question:
        """Return the question for a dataset.

        `sensitive` defaults to the first sensitive attribute; `knows` lists neutral attributes separated by commas, or
        is "all".
        """
        sensitive = choose_sensitive(dataset, sensitive)
        known, there = choose_neutral(dataset, knows, sensitive), choose_neutral(dataset, "all", sensitive)
        knows = "all" if known and known == there else ", ".join(known)
        return cls(sensitive, tuple(known), knows, miners)

    def row(self, case: Case) -> Callable[..., Row]:
        """Return the function that builds a row of a case."""
        return partial(case.row, self.primary_measure, target=self.sensitive, knows=self.knows)

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        row, rows = partial(case.row, target=self.sensitive, knows=self.knows), []
        release, also = choose_release(case), list(self.known)
        if is_withheld(release, self.sensitive):
            # The attribute is in a separate table, which discloses A_base and no value of a person.
            release, also = _release_nothing(case.dataset), []
        if release.classes is None and release.groups is not None and not also:
            few = reveals_small_count(release, self.sensitive, case.min_count)
            rows.append(_build_surest_row(row, surest_guess(*release.of_people(self.sensitive)), few))
        if release.classes is not None or not (self.miners or rows):
            rows += _build_class_rows(row, release, self.sensitive, also, case.min_count, rng=case.stream("deal"))
        if self.miners and MinerInference.can_read(release):
            rows += _build_miner_rows(row, case, release, self.sensitive, also, self.miners)
        return rows


@dataclass(frozen=True)
class InformationShares(Question):
    """Question about the share of an attribute's information that each set of other published attributes holds.

    The question is meant for a table that is a whole distribution, such as the list of all outcomes of an experiment.
    In a sample, a large set of attributes determines every value by chance. Source: section 7, which describes data
    that have both privacy and utility.

    A row `information_share` with `target` "a4" and `knows` "a1, a3" is 0 if a1 and a3 hold no information about a4,
    and 1 if they determine a4. The targets are sensitive and neutral attributes; the sets are formed from all other
    attributes that the release does not suppress.
    """

    primary_measure = "information_share"

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        release, rows = choose_release(case), []
        shown = [name for name in case.dataset.schema.published if not is_withheld(release, name)]
        for target in (name for name in shown if release.schema[name].role is not Role.QUASI_IDENTIFIER):
            values, others = release.table[target], [name for name in shown if name != target]
            entropy = _compute_information(release.table[[target]], values)
            for given in chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1)):
                share = _compute_information(release.table[list(given)], values) / entropy if entropy else 1.0
                rows.append(case.row("information_share", share, target=target, knows=", ".join(given)))
        return rows


def choose_neutral(dataset: Dataset, names: str, target: str) -> list[str]:
    """Return the neutral attributes that the text `names` lists, in column order and without the target."""
    there = [name for name in dataset.schema.names(Role.NEUTRAL) if name != target]
    chosen = there if names == "all" else parse_names(names)
    unknown = [name for name in chosen if name not in there]
    if unknown:
        raise UsageError(
            f"{unknown} are not neutral attributes of '{dataset.name}' that help to guess '{target}'. "
            f"{f'Name some of {join_names(there)}, or all' if there else 'There are no such attributes'}."
        )
    return [name for name in there if name in chosen]


def is_withheld(release: Release, name: str) -> bool:
    """Return whether an attribute is published only as `*`."""
    return name in release.cells and (release.cells[name] == SUPPRESSED).all()


def _build_class_rows(
    row: Callable[..., Row],
    release: Release,
    sensitive: str,
    known: Sequence[str],
    min_count: int,
    *,
    rng: Sequence[int],
) -> list[Row]:
    found = summarize_disclosure(release, sensitive, rng=rng, knows=known, of=GAINS)
    few, rows, n = reveals_small_count(release, sensitive, min_count), [], release.headcount
    right, before = (withholding.ReportedCount(share * n, n) for share in (found.right, found.before))
    guesses = partial(withholding.Revealing, people=np.array([right.people, before.people]), of=n)
    for gain, *given in zip(GAINS, found.gains, found.by_chance, strict=True):
        if gain in WORST and few and given[0] > 0:
            given = [np.nan, np.nan]
        value, dealt = map(guesses, given) if gain in GUESSES else given
        rows.append(row(gain.__name__, value, baseline=dealt))
    sure = (
        (np.nan, np.nan) if withholding.reveals_few(before.people, n, min_count) else (found.surest, found.sure_before)
    )
    return [*rows, row("posterior_accuracy", right, baseline=before), _build_surest_row(row, sure, few)]


def _build_surest_row(row: Callable[..., Row], surest: tuple[float, float], few: bool) -> Row:
    """Return the row of the most certain guess, whose values are withheld if they could reveal a small count."""
    sure, before = (np.nan, np.nan) if few and surest[0] > surest[1] else surest
    return row("largest_posterior", sure, baseline=before)


def _build_miner_rows(
    row: Callable[..., Row], case: Case, release: Release, sensitive: str, known: Sequence[str], miners: Miners
) -> list[Row]:
    dataset = case.dataset
    _check_known(dataset, release)
    published, key = release._published(case.stream("publish"))
    values, groups = (
        published.table[sensitive].to_numpy(),
        counts.count_combinations(published.table[list(known)]).index,
    )
    people, n = None if release.people is None else release.people[key], release.headcount
    before = accuracy_by_group(groups, values, people)
    dealt = values[gains.permute(groups, np.random.default_rng(case.stream("deal")))]
    # The quasi-identifiers of a person determine the class (section 4.1), but not the row with noise.
    asked = (dataset if release.classes is None else release).table.iloc[key]
    true, rows = dataset.table[sensitive].to_numpy()[key], []
    read = partial(encode, names=[*release.schema.quasi_identifiers, *known], schema=published.schema)
    learned = read(published.table, hierarchies=published.hierarchies)  # once for all miners
    asked = read(asked, hierarchies=published.hierarchies, like=learned)
    every = resolve_miners(miners)
    for name, reason in explain_refusals(every, published.table[sensitive]).items():
        rows.append(row("accuracy_gain", np.nan, miner=name, status="refused", reason=reason))
    for miner in select_able(every, published.table[sensitive])[0]:
        try:  # as MinerInference does with one miner
            right, chance = (
                count_people_among(exact_match(miner.fit(learned, taught).predict(asked), answer), people) / n
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
    """Raise Unreadable if rows do not belong to people, or if the sanitizer made published quasi-identifiers."""
    release.originals(dataset)
    if made := [name for name in release.schema.quasi_identifiers if name not in dataset.schema.published]:
        raise Unreadable(
            f"a miner guesses from the quasi-identifiers of people, but {release.provenance.sanitizer} made the "
            f"columns {abbreviate_names(made)}, so no adversary knows the values of these columns. Use an attack that "
            "undoes the sanitizer."
        )


def _compute_information(given: pd.DataFrame, values: pd.Series) -> float:
    """Return the information, in nats, that the columns of a DataFrame (n, g) hold about an array of values (n,)."""
    return gains.information_gain(class_value_counts(counts.count_combinations(given).index, values))
