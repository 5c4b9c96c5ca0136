"""Re-identification in masked rows by adversaries who know the masking method, compared with the nearest row."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.attacks.base import Columns
from privnb.attacks.linkage.candidate_linkage import CandidateLinkage
from privnb.attacks.linkage.distance_linkage import DistanceLinkage
from privnb.attacks.linkage.group_mean_linkage import GroupMeanLinkage
from privnb.attacks.linkage.likelihood_linkage import LikelihoodLinkage
from privnb.attacks.linkage.rank_window_linkage import RankWindowLinkage
from privnb.attacks.linkage.record_linkage import RecordLinkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import Row, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.disclosure.linkage import random_linkage_rate, reidentification_rate
from privnb.measures.intervals import wilson
from privnb.microdata.release import Release
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Seeds, several, validated
from privnb.sanitizers import PRAM, Microaggregation, RankSwapping, SanitizationError, UnivariateMicroaggregation
from privnb.sanitizers.base import Sanitizer

ROWS, METHOD, EVERYBODY = "the rows alone", "the method", "the method and all people"
IN_RELEASE, OTHERS = "people in the release", "other people"

register_measure(
    "people_linked",
    kind="privacy",
    title="People linked to their masked row",
    sentence="This is the mean probability, over people, that an adversary who knows the values of a person links the "
    "person to their own masked row.",
    source="after the idea of Winkler, PSD 2004, and Nin, Herranz, Torra, DKE 64(1), 2008; the candidate sets are ours",
    unit="share of people",
    format="{:%}",
    baseline="a row at random",
)
register_measure(
    "single_candidate",
    kind="privacy",
    title="People with a single candidate row",
    sentence="This is the share of people for whom an adversary who knows the masking method excludes all rows except "
    "one. Such a person is linked with certainty, if the person is in the release.",
    source="after the idea of Nin, Herranz, Torra, DKE 64(1), 2008; the candidate sets are ours",
    unit="share of people",
    format="{:%}",
    baseline="no row can be excluded without the release",
)


def build_masked_family() -> list[Sanitizer]:
    """Return masking methods whose mechanism can be used against them."""
    return [RankSwapping(p) for p in (5, 15)] + [UnivariateMicroaggregation(25), Microaggregation(10)]


@validated
def compare_linkage(
    dataset: Dataset,
    sanitizers: Annotated[Sequence[Sanitizer], several(Sanitizer)],
    known: Columns = None,
    *,
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Link half of the people to their masked rows, with and without knowledge of the masking method.

    The time grows with the square of the number of rows; 1,000 rows take a second.

    Parameters
    ----------
    dataset : Dataset
        A table with one record per person.
    sanitizers : list of Sanitizer
        Each is a `UnivariateMicroaggregation`, `Microaggregation`, `RankSwapping` or `PRAM`, or any method that
        publishes the law of its noise.
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.
    seeds : int
        The number of random halves.
    min_count : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `people_linked` and `single_candidate` for each sanitizer and seed. The column `knows` states what the
        adversary knows in addition to the person's values:

        - "the rows alone": the nearest row, see `DistanceLinkage`.
        - "the method": the method and its parameters, see `build_informed_attack`.
        - "the method and all people": the values of all people in the release, too, so that an adversary can repeat a
          method that does not draw at random. The adversary does not know the order of the records, on which ties
          depend.

        `people_linked` has the baseline 1/n. `single_candidate` has the `variant` "people in the release" or "other
        people", who are not in the release; each such person is a false certainty of an adversary who does not know
        who is in the release. If a release cannot be made or read, a row states the reason.

    Raises
    ------
    ValueError
        If the table has several records per person, or if no attack knows the method of a sanitizer.
    AssertionError
        If the attack excludes the own row of a person.
    """
    if dataset.people is not None:
        raise UsageError(
            "`dataset` must have one record per person; it has a column that names people. Try a table with one row "
            "of each person."
        )
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        halves = dataset.split(0.5, rng=seed)
        for sanitizer in sanitizers:
            informed = build_informed_attack(sanitizer, dataset.schema, known)
            row = make_row_builder(dataset, sanitizer, seed, min_count)
            try:
                release = sanitizer.sanitize(halves[0], rng=seed)
                rows += _compare(row, sanitizer, release, halves, informed, seed)
            except (SanitizationError, Unreadable) as error:
                rows.append(row("people_linked", np.nan, status="refused", reason=str(error)))
    return tidy(rows)


def build_informed_attack(sanitizer: Sanitizer, schema: Schema, known: Columns = None) -> RecordLinkage[Any]:
    """Return the linkage by an adversary who knows the sanitizer and its parameters.

    Parameters
    ----------
    sanitizer : Sanitizer
    schema : Schema
        The schema of the table.
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.

    Returns
    -------
    RecordLinkage
        `GroupMeanLinkage` for microaggregation, `RankWindowLinkage` for rank swapping, and `LikelihoodLinkage` for
        PRAM and other methods with a published law.

    Raises
    ------
    ValueError
        If no attack knows the method.
    """
    if isinstance(sanitizer, UnivariateMicroaggregation):
        return GroupMeanLinkage(known, sanitizer.k)
    if isinstance(sanitizer, Microaggregation) and isinstance(sanitizer.k, int):
        return GroupMeanLinkage(known, sanitizer.k, sanitizer.blocks or (tuple(schema.quasi_identifiers),))
    if isinstance(sanitizer, RankSwapping):
        return RankWindowLinkage(known, sanitizer.p)
    if isinstance(sanitizer, PRAM) or sanitizer.treatment == "noisy":
        return LikelihoodLinkage(known)
    raise UsageError(
        f"`sanitizers` must be methods that an attack knows; got {sanitizer!r}. Try UnivariateMicroaggregation, "
        "Microaggregation with one k, RankSwapping, PRAM, or a method that publishes the law of its noise."
    )


def _compare(
    row: Any, sanitizer: Sanitizer, release: Release, halves: tuple[Dataset, Dataset], informed: Any, seed: int
) -> list[Row]:
    """Return the rows of one release."""
    inside, outside = halves
    published, key = release.publish()
    assert key is not None  # these sanitizers do not make synthetic rows
    naive = DistanceLinkage(informed.known).fit(published)
    informed = informed.fit(published)
    linked = partial(row, "people_linked", baseline=random_linkage_rate(naive, inside, key), of=len(key))
    shares = [(reidentification_rate(attack, inside, key)[0], knows, attack)
              for knows, attack in ((ROWS, naive), (METHOD, informed))]  # fmt: skip
    if not sanitizer.randomized:
        shares.append((_repeat_method(sanitizer, inside, naive, key, seed), EVERYBODY, naive))
    rows = [linked(_report(share * len(key), len(key)), knows=knows, miner=attack.called)
            for share, knows, attack in shares]  # fmt: skip
    if isinstance(informed, CandidateLinkage):
        if not informed.has_candidate(inside.table.iloc[np.sort(key)], informed.truth(inside, key)).all():
            raise AssertionError(f"the attack '{informed.called}' excluded a person's own row")
        for variant, people in ((IN_RELEASE, inside), (OTHERS, outside)):
            single, n = int((informed.count_candidates(people.table) == 1).sum()), len(people)
            rows.append(row("single_candidate", _report(single, n), variant=variant, knows=METHOD, of=n, baseline=0,
                            miner=informed.called))  # fmt: skip
    return rows


def _report(people: float, of: int) -> ReportedCount:
    return ReportedCount(people, of, wilson(people, of))


def _repeat_method(sanitizer: Sanitizer, dataset: Dataset, attack: DistanceLinkage, key: IntArray, seed: int) -> float:
    """Return the share of people whom the adversary links after masking their values again, in another order."""
    order = np.random.default_rng(seed).permutation(len(dataset))
    masked = sanitizer.sanitize(replace(dataset, table=dataset.cells.iloc[order]), rng=seed + 1).table
    return float(attack.chance(masked, attack.truth(dataset, key)[order]).mean())
