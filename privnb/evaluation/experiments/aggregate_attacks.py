"""Reconstruction of records from published aggregates, compared with guesses that do not use the aggregates.

The noisy counts are about invented bits, so chance is one half and nothing else is known. The margins are about the
records of a table. Their attack is compared with a ranking by the shares of the values alone, and each ranking is also
checked on people who are not in the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.attacks.aggregates.linear_reconstruction import (
    MAX_PEOPLE,
    draw_groups,
    expect_right_bits,
    reconstruct_bits,
)
from privnb.attacks.aggregates.ranked_reconstruction import RankedRecords, rank_by_prior, rank_records
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.results import Row, build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import wilson
from privnb.microdata.count_tables import TableOfCounts
from privnb.microdata.hierarchy import flat
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.privacy_models import KAnonymity, check_k
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Folds, Seeds, optional, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.synthetic.marginals import anonymize_marginals

IN_TABLE, OTHERS = "people in the table", "other people"
PROGRAM, LEAST_SQUARES = "linear program", "least squares, expected"

register_measure(
    "bits_recovered",
    kind="privacy",
    title="Bits recovered from noisy counts",
    sentence="This is the share of people whose bit linear programming recovers from noisy counts of random groups.",
    source="Dinur and Nissim, PODS 2003",
    unit="share of people",
    format="{:%}",
    baseline="a guess by tossing a coin",
)
register_measure(
    "reconstruction_matched",
    kind="privacy",
    title="Reconstructed records that exist",
    sentence="This is the share of the highest-ranked reconstructed records that at least one person has.",
    source="Dick et al., PNAS 120(8), 2023",
    unit="share of ranked records",
    format="{:%}",
    baseline="a ranking by the shares of single values",
)


def _check_noises(name: str, value: Any) -> None:
    expect.numbers(name, value)
    if not len(value) or min(value) < 0:
        raise UsageError(f"`{name}` must be at least one number of at least 0; got {expect.describe_value(value)}.")


def _check_people(name: str, value: Any) -> None:
    if expect.whole(name, value, 2) > MAX_PEOPLE:
        raise UsageError(f"`{name}` must be at most {MAX_PEOPLE}; got {value}. Larger programs take minutes.")


@validated
def attack_noisy_counts(
    people: Annotated[int, _check_people] = 100,
    noises: Annotated[Sequence[float], _check_noises] = (0.1, 0.25, 0.5, 1, 10),
    *,
    queries: Folds = 4,
    seeds: Seeds = 1,
) -> pd.DataFrame:
    """Recover the invented bits of people from noisy counts of random groups, for several amounts of noise.

    Parameters
    ----------
    people : int
        The number n of people, from 2 to 400. Their bits are 0 or 1 with probability 1/2.
    noises : list of float
        The standard deviations of the normal noise of an answer, in multiples of the square root of n.
    queries : int
        The number of groups per person, at least 2.
    seeds : int
        The number of random tables for each amount of noise.

    Returns
    -------
    DataFrame
        The rows `bits_recovered` for each noise and each seed, with the standard deviation in people in the column
        `bound`. The `variant` "linear program" is the measured share, with Wilson's interval and the baseline 1/2. The
        `variant` "least squares, expected" is the closed form of `expect_right_bits`.
    """
    rows = []
    for seed in range(1, seeds + 1):
        rng = np.random.default_rng(seed)
        bits, groups = rng.integers(0, 2, people), draw_groups(queries * people, people, rng)
        draws = rng.normal(size=len(groups))  # the same for all amounts of noise
        for multiple in noises:
            noise = float(multiple * np.sqrt(people))
            setting = f"n={people}, queries={len(groups)}, noise={noise:.4g}"
            row = partial(build_row, dataset="random bits", sanitizer="noisy counts", parameters=setting, seed=seed,
                          parameter="noise", bound=noise, baseline=0.5, of=people)  # fmt: skip
            guess = reconstruct_bits(groups, groups @ bits + noise * draws) >= 0.5
            right = int((guess == bits).sum())
            rows.append(row("bits_recovered", right / people, variant=PROGRAM, interval=wilson(right, people)))
            expected = expect_right_bits(people, len(groups), noise)
            rows.append(row("bits_recovered", expected, variant=LEAST_SQUARES))
    return tidy(rows)


def _check_sets(name: str, value: Any) -> None:
    if not expect.kind(name, value, list, tuple, instead="Name the attributes of each table of counts."):
        raise UsageError(f"`{name}` must hold at least one set of attributes; got none.")


@validated
def attack_margins(
    dataset: Dataset,
    sets: Annotated[Sequence[tuple[str, ...]] | None, optional(_check_sets)] = None,
    *,
    k: Annotated[int | None, optional(lambda _, value: check_k(value))] = 10,
    samples: Count = 20,
    tops: Annotated[Sequence[int], lambda name, value: expect.all_of(name, value, int)] = (10, 30, 100, 300, 1000),
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Reconstruct records from the marginals of half of the people, and look for them in both halves.

    Parameters
    ----------
    dataset : Dataset
    sets : list of tuple of str, optional
        The attributes of each published table of counts. By default, there is one table of each quasi-identifier with
        the sensitive attribute. The marginals count an attribute exactly or at one level of its hierarchy, which must
        be the same in all tables.
    k : int, optional
        The minimum number of people in a cell of the quasi-identifiers of a table. None publishes exact counts without
        protection, of any sets; if they are not decomposable, their attributes may have 5,000 cells together.
    samples : int
        The number of tables that the adversary draws.
    tops : list of int
        The numbers of highest-ranked records to look for. Rankings that are shorter have no row.
    seeds : int
        The number of random halves.
    min_count : int
        Shares of fewer records are withheld.

    Returns
    -------
    DataFrame
        The rows `reconstruction_matched` for each number of records (the column `bound`) and each seed, with `variant`
        "people in the table" or "other people". The baseline is the same share for the ranking by the shares of single
        values. If marginals cannot be published, a row states the reason.
    """
    setting = "exact" if k is None else f"k={k}"
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        made = partial(build_row, dataset=dataset.name, sanitizer="marginals", seed=seed,
                       parameter="top", min_count=min_count, miner="confidence-ranked reconstruction")  # fmt: skip
        halves = dataset.split(0.5, rng=seed)
        try:
            margins, hierarchies = _publish_margins(halves[0], sets or _choose_sets(dataset), k)
        except SanitizationError as error:
            rows.append(made("reconstruction_matched", np.nan, parameters=setting, status="refused", reason=str(error)))
            continue
        ranked, prior = rank_records(margins, samples, rng=seed), rank_by_prior(margins, max(tops))
        for variant, half in zip((IN_TABLE, OTHERS), halves, strict=True):
            existing = _find_labels(half, hierarchies, ranked.values)
            for top, found, expected in _count_matches(ranked, prior, existing, tops):
                value = ReportedCount(found, top, wilson(found, top))
                row = partial(made, "reconstruction_matched", value, baseline=ReportedCount(expected, top), of=top)
                rows.append(row(variant=variant, bound=top, parameters=f"{setting}, top={top}"))
    return tidy(rows)


def _choose_sets(dataset: Dataset) -> list[tuple[str, ...]]:
    """Return the sensitive attribute with each quasi-identifier."""
    target = choose_unknown_sensitive(dataset, None)
    return [(name, target) for name in dataset.schema.quasi_identifiers if name != target]


def _publish_margins(
    dataset: Dataset, sets: Sequence[tuple[str, ...]], k: int | None
) -> tuple[list[TableOfCounts], dict[str, Any]]:
    """Return the published tables of counts, and the hierarchies of their labels."""
    names = dict.fromkeys(name for own in sets for name in own)
    hierarchies = {name: dataset.hierarchies.get(name) or flat(dataset.schema[name]) for name in names}
    if k is None:
        table = pd.DataFrame({name: dataset.marked(name) for name in hierarchies}).astype(str)
        return [TableOfCounts.of(table, own) for own in sets], hierarchies
    tables = anonymize_marginals(dataset, sets, KAnonymity(k)).tables
    return [_count_table(table) for table in tables], hierarchies


def _count_table(table: pd.DataFrame) -> TableOfCounts:
    """Return a published table of counts as an array."""
    names = [name for name in table if name != "count"]
    labels = {name: tuple(sorted(table[name].astype(str).unique())) for name in names}
    codes = [pd.Index(labels[name]).get_indexer(table[name].astype(str)) for name in names]
    counts = np.zeros([len(each) for each in labels.values()], dtype=np.int64)
    np.add.at(counts, tuple(codes), table["count"].to_numpy())
    return TableOfCounts(labels, counts)


def _find_labels(
    dataset: Dataset, hierarchies: Mapping[str, Any], values: Mapping[str, Sequence[str]]
) -> set[tuple[int, ...]]:  # fmt: skip
    """Return the combinations of published labels that records have, as positions of labels."""
    codes = []
    for name, labels in values.items():
        hierarchy = hierarchies[name]
        covers = [hierarchy.covered(label) for label in labels]
        place = np.full(max(int(cover.max()) for cover in covers) + 1, -1)
        for number, cover in enumerate(covers):
            place[cover] = number
        own = hierarchy.codes(dataset.marked(name))
        codes.append(np.where(own < len(place), place[np.minimum(own, len(place) - 1)], -1))
    return {*map(tuple, np.unique(np.column_stack(codes), axis=0).tolist())}


def _count_matches(
    ranked: RankedRecords, prior: RankedRecords, existing: set[tuple[int, ...]], tops: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield numbers of records, and how many of the first records of each ranking exist."""
    hits = [np.cumsum([tuple(row) in existing for row in each.codes.tolist()]) for each in (ranked, prior)]
    for top in tops:
        if top <= min(map(len, hits)):
            yield top, int(hits[0][top - 1]), int(hits[1][top - 1])
