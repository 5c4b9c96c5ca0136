"""The risks of an informed adversary, who knows how the release was made: the attribute risk, and certainty.

The adversary knows the algorithm with its parameters, and the quasi-identifiers of all people in the release. If the
algorithm stops at the bound of a privacy model that counts the sensitive attribute, the adversary excludes values as in
the `Minimality` attack; if the release lists values in buckets, the adversary learns from all buckets together as in
the `DeFinetti` attack. The column `miner` of the results names the attack.

If there is no number, the column `status` states why. "refused" means that no attack by this adversary is known, or
that the algorithm never looks at the values: then the adversary who knows the quasi-identifiers is the strongest known
one. "unavailable" means that the algorithm stops at the bound, but the attack cannot reason about it: then the risk is
unknown.

The guesses are compared with those from the records of all other people, as in `attribute`: the other records also show
what an adversary learns about people who are not in the release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks import DeFinetti, Minimality
from privnb.evaluation.disclosure.disclosures import is_withheld
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row, estimate_share_in_classes
from privnb.evaluation.risks.attribute import choose_by_person, guess_without, score_groups
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.scores import Scores, find_class_of_people
from privnb.measures.base import register_measure
from privnb.measures.disclosure.certainty import (
    NEAR,
    are_harmless,
    certain_groups,
    nearly_certain_groups,
    reveals_small_rest,
)
from privnb.measures.disclosure.conclusions import Conclusions, public_shares_of
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.microdata import withholding
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.catalogue import title
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer

PAIRS = 8_000_000_000  # pairs of a record and a class, for each of which the attack needs a bit of memory
ATTRIBUTE, CERTAIN, NEARLY = MEASURES = "informed_attribute_risk", "informed_certain", "informed_nearly_certain"

register_measure(
    ATTRIBUTE,
    kind="privacy",
    bounds=(-1, 1),
    title="Attribute risk for an informed adversary",
    sentence="This is the share of people whose sensitive value an adversary who knows the algorithm guesses correctly "
    "with the release, minus the share guessed correctly from the records of all other people.",
    source="Wong et al., VLDB 2007; Kifer, SIGMOD 2009",
    unit="share of people",
    baseline="a guess from the table without the person",
    readings={"largest": "probability that the most certain guess about one person is right"},
)
register_measure(
    CERTAIN,
    kind="privacy",
    title="Made certain to an informed adversary",
    sentence="This is the share of people whose sensitive value the release discloses with certainty to an adversary "
    "who knows the algorithm and everybody's quasi-identifiers.",
    source="Wong et al., VLDB 2007",
    unit="share of people",
    baseline="from how common each value is",
)
register_measure(
    NEARLY,
    kind="privacy",
    title="Nearly certain to an informed adversary",
    sentence="This is the share of people whose sensitive value has at least the stated probability for an adversary "
    "who knows the algorithm and everybody's quasi-identifiers, but not by the public distribution.",
    source="Wong et al., VLDB 2007",
    unit="share of people",
    baseline="from how common each value is",
)


class Knowledge(NamedTuple):
    """The conclusions of the adversary about m people.

    `right` is the probability that the guess about each person is right, `surest` the certainty of the guess, and
    `prior` the certainty of the same guess without the release: float arrays (m,). `people` holds the indices of the
    people: an integer array (m,). `certain` and `near` state whether a value is certain, and nearly certain: boolean
    arrays (m,).
    """

    right: FloatArray
    surest: FloatArray
    prior: FloatArray
    people: IntArray
    certain: BoolArray
    near: BoolArray


@dataclass(frozen=True)
class InformedAdversary(Question):
    """The attribute risk and certainty for an adversary who knows the algorithm.

    This adversary knows everything that the adversary of `Certainty` knows, so at least the same values are certain.

    Parameters
    ----------
    sensitive : str
        The attribute.
    near : float
        The minimum probability of a value that is nearly certain, between 0.5 and 1.
    """

    sensitive: str
    near: float = NEAR
    primary_measure = ATTRIBUTE

    def __post_init__(self) -> None:
        expect.between("near", self.near, 0.5, 1, "1 is certain")

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case; each measure has a row, even if there is no attack."""
        try:
            attack = choose_attack(case, self.sensitive)
            found = _guess_in_buckets(attack, case) if isinstance(attack, DeFinetti) else self._exclude(attack, case)
            naive = Certainty(self.sensitive, self.near).conclusions(case)
        except (Unreadable, UnknownAlgorithm) as error:
            status = "refused" if isinstance(error, Unreadable) else "unavailable"
            stated = {"target": self.sensitive, "status": status, "reason": str(error)}
            return [case.row(measure, np.nan, **stated) for measure in MEASURES]
        row = partial(case.row, target=self.sensitive, miner=attack.called)
        rows = self._score(case, found).rows(partial(row, ATTRIBUTE), case.dataset, case.min_count)
        pairs = {CERTAIN: (naive.certain, found.certain), NEARLY: (naive.near, found.near)}
        return [
            *rows,
            *(_build_certain_row(partial(row, measure), case, naive, found, *pair) for measure, pair in pairs.items()),
        ]

    def _score(self, case: Case, found: Knowledge) -> Scores:
        dataset, release = case.dataset, case.release
        return Scores(
            found.right,
            guess_without(case.known.dataset, self.sensitive)[0][found.people],
            found.people,
            gain=True,
            counted=True,
            surest=(found.surest, found.prior),
            unsafe=reveals_small_count(release, self.sensitive, case.min_count),
            classes=find_class_of_people(dataset, release, release.groups),
        )

    def _exclude(self, attack: Minimality, case: Case) -> Knowledge:
        """Return what the adversary concludes from the values that the bound excludes.

        Certainty counts only if all assignments were enumerated: an estimate of a probability is not certain.
        """
        dataset, release, name = case.dataset, case.release, self.sensitive
        records = _records(case)
        table, shares = dataset.table.iloc[records], public_shares_of(dataset, name, attack.values)
        posterior, exact = attack.posterior(table), attack.exact_posterior(table)
        own = pd.Index(attack.values).get_indexer(table[name].astype(str))
        most = np.isclose(posterior, posterior.max(axis=1, keepdims=True)) & (posterior > 0)
        right = np.where(_take(most, own), 1 / np.maximum(most.sum(axis=1), 1), 0.0)
        is_sole = (exact > 0).sum(axis=1) == 1
        exact[is_sole] = exact[is_sole] > 0
        if (is_sole & ~_take(exact > 0, own)).any():
            raise UnknownAlgorithm(
                f"the minimality attack excludes true values in the release of {title(type(case.sanitizer).__name__)}, "
                "so the sanitizer does not stop where the attack expects. Report this as an error of privnb."
            )
        ones, attribute = np.ones(len(exact), dtype=np.int64), release.schema[name]
        certain = certain_groups(exact, shares, are_harmless(attribute, attack.values), sizes=ones)
        near = certain | nearly_certain_groups(exact, shares, attribute, attack.values, self.near, ones)
        return Knowledge(right, exact.max(axis=1), shares[exact.argmax(axis=1)], records, certain, near)


class UnknownAlgorithm(UsageError):
    """The algorithm stops at the bound of a privacy model, but the attack cannot reason about how it stops."""


def choose_attack(case: Case, target: str) -> Minimality | DeFinetti:
    """Return the attack of an adversary who knows how a release was made, fitted to the release.

    Raises
    ------
    Unreadable
        If no such attack is known, or if it can reveal nothing.
    UnknownAlgorithm
        If the attack cannot reason about the algorithm, or if the release is too large for it.
    """
    sanitizer, name = case.sanitizer, title(type(case.sanitizer).__name__)
    if not isinstance(sanitizer, ModelBasedSanitizer):
        if sanitizer.treatment == "bucketized" and DeFinetti.can_read(case.release):
            return DeFinetti(target).fit(case.published[0])
        raise Unreadable(f"no informed attack on {name} is known to this package.")
    if all(model.sensitive != target for model in sanitizer.models):
        raise Unreadable(
            f"the privacy models of {name} do not count '{target}', so knowing where the algorithm stops reveals "
            "nothing about its values."
        )
    if is_withheld(case.release, target):
        raise Unreadable(f"the release does not publish '{target}'.")
    if type(sanitizer).list_refinements is ModelBasedSanitizer.list_refinements:
        raise UnknownAlgorithm(f"it is not known which finer partitions {name} rejects.")
    if case.dataset.people is not None:
        raise UnknownAlgorithm(f"the minimality attack on {name} cannot read people with several records.")
    records, classes = _records(case), case.release.classes
    if classes is not None and len(records) * (int(classes.max()) + 1) > PAIRS:
        raise UnknownAlgorithm(
            f"the release has too many classes for the minimality attack on {name}. Attack a sample of the records."
        )
    register = case.dataset.table.iloc[records][case.dataset.schema.quasi_identifiers]
    try:
        return Minimality(target).given(sanitizer, register, rng=case.seed).fit(case.published[0])
    except (UsageError, SchemaError) as error:
        raise UnknownAlgorithm(str(error)) from None


def _guess_in_buckets(attack: DeFinetti, case: Case) -> Knowledge:
    """Return the guesses inside buckets. A guess is never certain beyond what the bucket itself discloses."""
    dataset, records = case.dataset, _records(case)
    table = dataset.table.iloc[records]
    try:
        guess = attack.predict(table) == table[attack.target].astype(str).to_numpy()
    except SchemaError as error:  # the attack needs all quasi-identifiers of a person
        raise UnknownAlgorithm(str(error)) from None
    right, people = choose_by_person(dataset, records, guess.astype(float))
    _, surest, prior, _ = score_groups(dataset, case.release, attack.target)
    nobody = np.zeros(len(people), dtype=bool)
    return Knowledge(right, surest, prior, people, nobody, nobody)


def _records(case: Case) -> IntArray:
    held = case.release.records
    return np.arange(len(case.dataset)) if held is None else np.sort(held)


def _take(cells: BoolArray, own: IntArray) -> BoolArray:
    """Return the cell of each person's own value; false if the release does not contain the value."""
    return np.asarray(np.take_along_axis(cells, np.maximum(own, 0)[:, None], axis=1)[:, 0] & (own >= 0))


def _build_certain_row(
    row: partial[Row], case: Case, naive: Conclusions, found: Knowledge, before: BoolArray, informed: BoolArray
) -> Row:
    """Return the row of the people whose value is certain to the informed adversary, or nearly certain.

    The share is withheld if it concerns few people, or if it differs by few people from that of the naive adversary.
    """
    whom = before | informed
    n, people, others = len(whom), int(whom.sum()), int(before.sum())
    limit, tells = case.min_count, reveals_small_count(case.release, row.keywords["target"], case.min_count)
    right = max(round(found.right.sum()), people)
    is_bare = reveals_small_rest(people, right, tells, limit) or reveals_small_rest(others, round(naive.right), tells)
    if is_bare:
        return row(np.nan, interval=(1 / n, 1.0), baseline=0.0)
    if withholding.is_few(people - others, limit):
        return row(np.nan, interval=((others + 1) / n, min(others + limit - 1, n) / n), baseline=0.0)
    return row(estimate_share_in_classes(whom, naive.classes), baseline=0.0)
