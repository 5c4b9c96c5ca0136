"""Reconstruction of the distributions of noisy columns by a legitimate user, and the remaining information loss.

Source: Aggarwal and Yu (eds.) 2008, section 6.2 (reconstruction) and 6.4, equation 6.8 (information loss).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.results import Row, tidy
from privnb.measures.base import register_measure
from privnb.measures.noise.noise_reconstruction import Way, reconstruct_distribution, true_distribution
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import OneOrMore, as_list, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.base import Sanitizer

BINS = 20  # the number of intervals of a numeric column; most of them hold at least the minimum count of people
SEED = 1  # the seed of the releases
TABLE, LITERAL, UNIFORM = "the table", "taken literally", "all values equally likely"
VARIANT_BY_METHOD: dict[Way, str] = {"em": "reconstructed (EM)", "bayes": "reconstructed (Bayes)"}

register_measure(
    "interval_share",
    sentence="This is the estimated share of people whose value is in an interval or a category.",
    source="this package",
    unit="share of people",
)
register_measure(
    "distribution_loss",
    kind="utility",
    title="Loss of the distribution",
    sentence="This is half the sum of the absolute differences between the estimated and the true shares of an "
    "attribute's values: 0 equal, 1 disjoint.",
    source="Aggarwal and Yu 2008, equation 6.8; the text around it has 0 and 1 the other way round",
    unit="share",
    format="{:%}",
    baseline="all values equally likely",
)


def compute_distribution_loss(found: FloatArray, true: FloatArray) -> float:
    """Return half the sum of the absolute differences between two distributions: 0 if equal, 1 if disjoint.

    Parameters
    ----------
    found, true : float array (k,)

    Examples
    --------
    >>> float(compute_distribution_loss(np.array([0.5, 0.5, 0]), np.array([0.5, 0.25, 0.25])))
    0.25
    """
    return np.abs(found - true).sum() / 2


@validated
def reconstruct_distributions(
    dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Estimate the distribution of each noisy column, from the noisy cells themselves and with the noise law.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    min_count : int
        Intervals and categories of fewer people are merged with other intervals or categories.

    Returns
    -------
    DataFrame
        The rows `distribution_loss` and `interval_share` for each column, whose name is in `target`, and for each
        `variant`, which is "taken literally", "reconstructed (EM)" or "reconstructed (Bayes)". The baseline of
        `distribution_loss` is the loss if all values are equally likely. Each row `interval_share` has an interval or a
        category in `group`; rows of the variant "the table" hold the true shares. A sanitizer without a noisy column
        has no rows.
    """
    rows = []
    for sanitizer in as_list(sanitizers):
        case = Case(dataset, sanitizer, SEED)
        try:
            release = case.release
        except SanitizationError:
            continue
        for name in (each for each in release.treated("noisy") if each in dataset.schema.published):
            rows += _build_column_rows(case.row, release.originals(dataset), release, name, min_count)
    return tidy(rows)


def _build_column_rows(
    row: Callable[..., Row], original: Dataset, release: Release, name: str, min_count: int
) -> list[Row]:
    attribute, law = original.schema[name], release.columns[name].noise_law
    filled = attribute.numbers.filled if attribute.numeric else lambda cells: cells
    cells = np.asarray(filled(release.table[name]))
    true = true_distribution(np.asarray(filled(original.table[name])), attribute, bins=BINS)
    read = {LITERAL: true_distribution(cells, attribute, bins=BINS).shares}
    for way, variant in VARIANT_BY_METHOD.items():
        try:
            read[variant] = reconstruct_distribution(cells, law, attribute, way=way, bins=BINS).shares
        except Unreadable:  # the law does not suffice for this method
            continue
    together = _merge_rare(true.shares * len(original), attribute.numeric, min_count)
    if together.max() == 0:  # nearly all people have the same value
        return []
    alike = np.diff(true.starts) / true.starts[-1]
    shares = {TABLE: true.shares, **read, UNIFORM: alike}
    shares = {variant: np.bincount(together, each) for variant, each in shares.items()}
    labels = _name_groups(attribute, true.starts, together, true.shares * len(original), min_count)
    made = []
    for variant in read:
        loss, least = (compute_distribution_loss(shares[each], shares[TABLE]) for each in (variant, UNIFORM))
        made.append(row("distribution_loss", loss, baseline=least, target=name, variant=variant))
    for variant in (TABLE, *read):
        for label, share in zip(labels, shares[variant], strict=True):
            made.append(row("interval_share", share, target=name, variant=variant, group=label))
    return made


def _merge_rare(people: FloatArray, ordered: bool, min_count: int) -> IntArray:
    """Return the group of each interval or category, numbered from 0; no group reveals a small count.

    Neighboring intervals are merged; among categories, the rarest are merged first.
    """
    order = np.arange(len(people)) if ordered else np.argsort(people, kind="stable")
    group, held, found = 0, 0.0, np.empty(len(people), dtype=np.int64)
    for place in order:
        found[place] = group
        held += people[place]
        if held >= min_count - ROUNDING:
            group, held = group + 1, 0.0
    if held < min_count - ROUNDING and group:
        found[found == group] = group - 1
    groups = np.bincount(found, people)
    if withholding.reveals_few(groups, people.sum(), min_count).any():
        return np.zeros(len(people), dtype=np.int64)
    return np.unique(found, return_inverse=True)[1] if ordered else _number_by_first(found)


def _number_by_first(groups: IntArray) -> IntArray:
    """Return the groups, renumbered in the order in which they first occur."""
    first = {group: number for number, group in enumerate(dict.fromkeys(groups.tolist()))}
    return np.array([first[group] for group in groups.tolist()])


def _name_groups(attribute: Any, starts: IntArray, together: IntArray, people: FloatArray, min_count: int) -> list[str]:
    """Return the name of each group; a group of categories is named after its most common category."""
    labels = []
    for group in range(together.max() + 1):
        places = np.flatnonzero(together == group)
        if attribute.numeric:
            low, high = (attribute.domain.value(each) for each in (starts[places[0]], starts[places[-1] + 1] - 1))
            labels.append(f"{low:g}" if low == high else f"{low:g} to {high:g}")
        else:
            most = places[people[places].argmax()]
            others = f" and {len(places) - 1} others" if len(places) > 1 else ""
            # The name of a rare category may be a person's own words.
            unnamed = attribute.domain.of_records and people[most] < min_count - ROUNDING
            one = f"{len(places)} rare ones" if unnamed else f"{attribute.domain.values[starts[most]]}{others}"
            labels.append(f"{one} ({group + 1})" if unnamed else one)
    return labels
