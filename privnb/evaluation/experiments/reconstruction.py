"""What an honest user gets back of noisy columns: how each is distributed, and how near that comes.

Source: Aggarwal and Yu (eds.) 2008, section 6.2 (reconstruction) and 6.4, equation 6.8 (information loss).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case
from privnb.evaluation.results import Row, tidy
from privnb.measures.base import state
from privnb.measures.noise.noise_reconstruction import Way, reconstructed, true_distribution
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import OneOrMore, as_list, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.base import Sanitizer

BINS = 20  # of numbers: few enough that most hold more people than are withheld
SEED = 1  # of the releases
TABLE, LITERAL, ALIKE = "the table", "taken literally", "all values alike"
WAYS: dict[Way, str] = {"em": "reconstructed (EM)", "bayes": "reconstructed (Bayes)"}

state(
    "interval_share",
    sentence="Share of people whose value is in an interval, or a category, as somebody reads it.",
    source="this package",
    unit="share of people",
)
state(
    "distribution_loss",
    kind="utility",
    title="Loss of the distribution",
    sentence="How much of an attribute's distribution is misread: half the sum of the differences of its shares, 0 "
    "none, 1 all.",
    source="Aggarwal and Yu 2008, equation 6.8; the text around it has 0 and 1 the other way round",
    unit="share",
    format="{:%}",
    baseline="all values alike",
)


def distribution_loss(found: FloatArray, true: FloatArray) -> float:
    """Half the sum of the absolute differences of two distributions, float arrays (k,): 0 equal, 1 disjoint.

    >>> float(distribution_loss(np.array([0.5, 0.5, 0]), np.array([0.5, 0.25, 0.25])))
    0.25
    """
    return np.abs(found - true).sum() / 2


@validated
def reconstructions(dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """How each noisy column of each release is distributed: as the cells stand, and reconstructed by the public law.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    fewest : int
        Intervals, or categories, of fewer people are merged with others.

    Returns
    -------
    DataFrame
        By `target` and `variant` ("taken literally", "reconstructed (EM)", "reconstructed (Bayes)"): rows
        `distribution_loss`, baseline: of all values alike; and rows `interval_share` by `group`, an interval or a
        category, beside which variant "the table" has the true ones. A sanitizer without such a column has no rows.
    """
    rows = []
    for sanitizer in as_list(sanitizers):
        case = Case(dataset, sanitizer, SEED)
        try:
            release = case.release
        except SanitizationError:
            continue
        for name in (each for each in release.treated("noisy") if each in dataset.schema.published):
            rows += _of_column(case.row, release.originals(dataset), release, name, fewest)
    return tidy(rows)


def _of_column(row: Callable[..., Row], original: Dataset, release: Release, name: str, fewest: int) -> list[Row]:
    attribute, law = original.schema[name], release.columns[name].noise_law
    filled = attribute.numbers.filled if attribute.numeric else lambda cells: cells
    cells = np.asarray(filled(release.table[name]))
    true = true_distribution(np.asarray(filled(original.table[name])), attribute, bins=BINS)
    read = {LITERAL: true_distribution(cells, attribute, bins=BINS).shares}
    for way, variant in WAYS.items():
        try:
            read[variant] = reconstructed(cells, law, attribute, way=way, bins=BINS).shares
        except Unreadable:  # the law says too little
            continue
    together = _merged(true.shares * len(original), attribute.numeric, fewest)
    if together.max() == 0:  # all but few people are alike
        return []
    alike = np.diff(true.starts) / true.starts[-1]
    shares = {TABLE: true.shares, **read, ALIKE: alike}
    shares = {variant: np.bincount(together, each) for variant, each in shares.items()}
    labels = _labels(attribute, true.starts, together, true.shares * len(original), fewest)
    made = []
    for variant in read:
        loss, least = (distribution_loss(shares[each], shares[TABLE]) for each in (variant, ALIKE))
        made.append(row("distribution_loss", loss, baseline=least, target=name, variant=variant))
    for variant in (TABLE, *read):
        for label, share in zip(labels, shares[variant], strict=True):
            made.append(row("interval_share", share, target=name, variant=variant, group=label))
    return made


def _merged(people: FloatArray, ordered: bool, fewest: int) -> IntArray:
    """Which group each interval or category is in, so that none is of few people: integer array (k,), from 0.

    Neighbouring intervals join; of categories the rarest do.
    """
    order = np.arange(len(people)) if ordered else np.argsort(people, kind="stable")
    group, held, found = 0, 0.0, np.empty(len(people), dtype=np.int64)
    for place in order:
        found[place] = group
        held += people[place]
        if held >= fewest - ROUNDING:
            group, held = group + 1, 0.0
    if held < fewest - ROUNDING and group:
        found[found == group] = group - 1
    groups = np.bincount(found, people)
    if withholding.tells(groups, people.sum(), fewest).any():
        return np.zeros(len(people), dtype=np.int64)
    return np.unique(found, return_inverse=True)[1] if ordered else _as_they_stand(found)


def _as_they_stand(groups: IntArray) -> IntArray:
    """The groups numbered by their first member: integer array (k,)."""
    first = {group: number for number, group in enumerate(dict.fromkeys(groups.tolist()))}
    return np.array([first[group] for group in groups.tolist()])


def _labels(attribute: Any, starts: IntArray, together: IntArray, people: FloatArray, fewest: int) -> list[str]:
    """What each group is called: a list of texts; of categories after that which most people have."""
    labels = []
    for group in range(together.max() + 1):
        places = np.flatnonzero(together == group)
        if attribute.numeric:
            low, high = (attribute.domain.value(each) for each in (starts[places[0]], starts[places[-1] + 1] - 1))
            labels.append(f"{low:g}" if low == high else f"{low:g} to {high:g}")
        else:
            most = places[people[places].argmax()]
            others = f" and {len(places) - 1} others" if len(places) > 1 else ""
            # Which may be a person's own words.
            unnamed = attribute.domain.of_records and people[most] < fewest - ROUNDING
            one = f"{len(places)} rare ones" if unnamed else f"{attribute.domain.values[starts[most]]}{others}"
            labels.append(f"{one} ({group + 1})" if unnamed else one)
    return labels
