"""The losses of privacy and utility of releases, each on one scale (Li and Li, KDD 2009, sections 4 and 5.2).

The privacy loss is compared with the release without quasi-identifiers, and the utility loss with the original. Large
populations are found once for all sanitizers of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.evaluation_loop import Case, Question, ask, select_possible
from privnb.evaluation.predictions import Miners
from privnb.evaluation.results import Row, make_row_builder, tidy
from privnb.evaluation.utility import workload
from privnb.measures.base import register_measure
from privnb.measures.disclosure.gains import permutation_count
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.measures.disclosure.tradeoff import compute_revealed_losses, permute_losses, privacy_losses, utility_losses
from privnb.measures.utility.populations import SUPPORT, LargePopulations
from privnb.microdata import withholding
from privnb.microdata.counts import encode_values, max_per_person, select_person_rows
from privnb.microdata.hierarchy import Ordered, Ranges, Taxonomy, keep_exact_ends
from privnb.microdata.release import Release
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import AttributeName, Folds, Hierarchies, OneOrMore, Share, as_list, validated
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.base import Sanitizer

PERMUTATIONS = 10  # random permutations of the sensitive values for a baseline


register_measure(
    "mean_privacy_loss",
    kind="privacy",
    bounds=(0, np.inf),
    sentence="This is the mean privacy loss over people.",
    source="after Li and Li, KDD 2009, section 4.1",
    unit="nats",
    baseline="by chance",
    axis=True,
)
register_measure(
    "certain_disclosure_share",
    kind="privacy",
    sentence="This is the share of people whose privacy loss is at least the loss of disclosing the most common value "
    "with certainty.",
    source="after Li and Li, KDD 2009, section 5.1",
    unit="share of people",
    axis=True,
)
register_measure(
    "worse_than_trivial",
    kind="utility",
    title="Misled about",
    sentence="This is the share of large groups about which the release has a larger error than a release without "
    "quasi-identifiers.",
    source="after Li and Li, KDD 2009, section 4.2",
    unit="share of large populations",
    format="{:%} of groups",
    axis=True,
)


@dataclass(frozen=True, eq=False)
class Losses(Question):
    """The privacy loss and the utility loss of a release: the points of Figure 2.

    Parameters
    ----------
    sensitive : str
    distance : str
        The distance, one of `tradeoff.DISTANCES`. The column `variant` contains the distance unless it is the distance
        of the paper.
    support : float
        minSup, the minimum size of a large population, as a share of the records; above 0.
    hierarchies : dict of str to Generalization, optional
        The hierarchies, by attribute, whose nodes define large populations; if None, the hierarchies of the dataset.

    Rows:

    - `classes`: the number of equivalence classes or buckets, withheld if it would disclose a small number of people.
      The status of this row is "not possible" if even all records together break a privacy model; then there is no
      other row.
    - `privacy_loss` of the worst-off person (P_loss), and `mean_privacy_loss`. The baseline of each is the mean of the
      same loss over ten random permutations (fewer in large tables) of the sensitive values, with the same classes. A
      release with noise has neither row.
    - `certain_disclosure_share`: the share of people whose loss is at least the loss from disclosing the most common
      value with certainty.
    - `utility_loss` (U_loss), with the release without quasi-identifiers as baseline, and `worse_than_trivial`, the
      share of large populations for which the error of the release is larger than that of the release without
      quasi-identifiers. A table without large populations has neither row.
    """

    sensitive: str
    distance: str = "Jensen-Shannon"
    support: float = SUPPORT
    hierarchies: Mapping[str, Any] | None = None
    axes = ("privacy_loss", "mean_privacy_loss", "utility_loss", "worse_than_trivial")

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        row = partial(case.row, target=self.sensitive)
        release, rows = case.release, []
        populations, trivial, scale = _find_reference_points(case.dataset, self)
        if release.classes is not None:
            classes = int(release.classes.max()) + 1
            rows.append(
                row(
                    "classes",
                    withholding.ReportedCount(classes, release.headcount, rule=withholding.withhold_group_count),
                )
            )
            losses = partial(row, variant="" if self.distance == "Jensen-Shannon" else self.distance)
            rows += _build_person_rows(
                losses, release, self.sensitive, self.distance, scale, case.min_count, case.stream("deal")
            )
        if populations is not None:
            lost = utility_losses(populations, release)
            rows.append(row("utility_loss", lost.mean(), baseline=trivial.mean()))
            rows.append(row("worse_than_trivial", (lost > trivial + EXACT).mean()))
        return rows


@lru_cache(maxsize=8)
def _find_reference_points(dataset: Dataset, asked: Losses) -> tuple[Any, ...]:
    """Return the large populations, their loss in the trivial release, and the least loss of a disclosed value."""
    populations = find_large_populations(dataset, asked.sensitive, asked.support, asked.hierarchies)
    trivial = None if populations is None else utility_losses(populations, Suppress().sanitize(dataset, rng=0))
    return populations, trivial, compute_revealed_losses(dataset, asked.sensitive, asked.distance).min()


register_measure("sensitive_share", unit="share of people", format="{:g}")
register_measure(
    "revealed_loss",
    kind="privacy",
    bounds=(0, np.inf),
    sentence="This is the privacy loss of a person whose sensitive value is disclosed with certainty.",
    source="Li and Li, KDD 2009, section 5.1",
    unit="nats",
    format="{:g}",  # also of distances that are shares
)
register_measure("large_populations", format="{:,}")


@validated
def measure_scales(
    dataset: Dataset, *, distance: str = "Jensen-Shannon", support: Share = SUPPORT, min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Measure the scales of both losses: the loss of a disclosed value, and the number of large populations.

    Parameters
    ----------
    dataset : Dataset
    distance, support
        See `Losses`, for the first sensitive attribute.
    min_count : int
        Numbers about values that fewer people have are withheld, together with other numbers that would reveal them.

    Returns
    -------
    DataFrame
        Rows about the original: `sensitive_share` (Q of section 5.1) and `revealed_loss` for each sensitive value,
        which is in the column `group`, in ascending order of loss; and `large_populations`, which is 0 if no group is
        large enough, or if the sensitive attribute has too many values.
    """
    sensitive = choose_unknown_sensitive(dataset, None)
    row, revealed = make_row_builder(dataset, Identity(), 1), compute_revealed_losses(dataset, sensitive, distance)
    column, n = dataset.cells[sensitive], dataset.headcount
    people = (
        column.iloc[select_person_rows(dataset.people, encode_values(column)[0])].value_counts().reindex(revealed.index)
    )
    commonest = people.sort_values(kind="stable", ascending=False)
    if dataset.people is None:
        everybody = withholding.Margin(n, tuple(commonest.index), rest=False)
        hidden = withholding.suppress(commonest.to_dict(), [everybody], min_count)
    else:  # a person with several values is in several of these counts, so that none follows from the others
        hidden = commonest.index[withholding.reveals_few(commonest.to_numpy(), n, min_count)]
    rows = []
    for value, loss in revealed.items():
        share, loss = (np.nan, np.nan) if value in hidden else (people[value] / n, loss)
        rows.append(row("sensitive_share", share, target=sensitive, group=str(value)))
        rows.append(row("revealed_loss", loss, target=sensitive, group=str(value), better="lower"))
    populations = find_large_populations(dataset, sensitive, support)
    rows.append(row("large_populations", 0 if populations is None else len(populations), target=sensitive))
    return tidy(rows)


@validated
def compare_gains(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    miners: Miners = "decision tree",
    folds: Folds = 10,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Compare the gain of the adversary with the gain of the researcher on the same releases.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
        Sanitizers that cannot reach their bounds on this table are left out.
    miners : str, estimator, or list of those
        The researcher's miners; see `miners.reference_set`.
    folds : int
        The folds of the cross-validation, at least 2.
    min_count : int
        Numbers about fewer people are withheld.

    Returns
    -------
    DataFrame
        For each generalized release, the adversary's `accuracy_gain` and `knowledge_gain`; see
        `disclosures.Disclosure`. If the sensitive attribute has categories, also `workload_utility` and `workload_gain`
        of a researcher who predicts the attribute without neutral attributes; see `workload.WorkloadGain`.

    References
    ----------
    Li and Li, KDD 2009, section 3.1.
    """
    sensitive = choose_unknown_sensitive(dataset, None)
    adversary, researcher = disclosures.Disclosure(sensitive), list[Question]()
    if not dataset.schema[sensitive].numeric:
        researcher = [workload.WorkloadGain(sensitive, miners, "", folds)]
    questions = {
        each: researcher for each in ([*disclosures.list_trivial_sanitizers(), Identity()] if researcher else [])
    }
    questions |= {each: [adversary, *researcher] for each in select_possible(dataset, as_list(sanitizers))}
    runs = [(sanitizer, 1, asked) for sanitizer, asked in questions.items()]
    found = ask(dataset, runs, min_count=min_count, description="gains")
    kept = ("accuracy_gain", "knowledge_gain", "workload_utility", "workload_gain")
    return found[found.measure.isin(kept)].sort_values(
        "measure", key=lambda names: names.map(kept.index), kind="stable"
    )


@validated
def order_values(dataset: Dataset) -> Dataset:
    """Return the dataset with hierarchies that keep only the order of the values of each quasi-identifier.

    Mondrian then cuts between any two neighboring values: numbers become ranges, and the categories of a taxonomy keep
    the order of its leaves. The hierarchies of the paper's Mondrian are not known. Because labels begin and end at
    values that occur in their classes, as in the paper, such releases are counted but neither shown nor published.
    """
    lines: dict[str, Any] = {}
    for name, own in dataset.hierarchies.items():
        attribute = dataset.schema[name]
        if attribute.numeric:
            lines[name] = Ranges(attribute.numbers, exact=True)
        else:
            lines[name] = Ordered(name, own.leaves, exact=True) if isinstance(own, Taxonomy) else keep_exact_ends(own)
    return Dataset(dataset.name, dataset.cells, dataset.schema, lines)


@validated
def find_large_populations(
    dataset: Dataset, sensitive: AttributeName | None, support: Share = SUPPORT, hierarchies: Hierarchies = None
) -> LargePopulations | None:
    """Return the large populations of a dataset.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str or None
        The sensitive attribute; if None, the populations have sizes but no distributions of sensitive values.
    support, hierarchies
        See `Losses`.

    Returns
    -------
    LargePopulations or None
        The populations; None if no group is large enough, or if the sensitive attribute has too many values.
    """
    if sensitive is not None:
        dataset.schema[sensitive]  # refuses a name that does not exist
    try:
        return LargePopulations.of(dataset, sensitive, support, hierarchies)
    except ValueError:
        return None


def _build_person_rows(
    row: Callable[..., Row],
    release: Release,
    sensitive: str,
    distance: str,
    scale: float,
    min_count: int,
    seed: Sequence[int],
) -> list[Row]:
    lost, n = max_per_person(privacy_losses(release, sensitive, distance), release.people), release.headcount
    draws = islice(
        permute_losses(release, sensitive, distance, rng=seed), permutation_count(len(release), PERMUTATIONS)
    )
    dealt = (max_per_person(each, release.people) for each in draws)
    chance = np.mean([[each.max(), each.mean()] for each in dealt], axis=0)
    reached = int((lost >= scale - EXACT).sum())
    worst = [lost.max(), chance[0]]
    if worst[0] > 0 and reveals_small_count(release, sensitive, min_count):
        worst = [np.nan, np.nan]
    return [
        row("privacy_loss", worst[0], baseline=worst[1], better="lower"),
        row("mean_privacy_loss", lost.mean(), baseline=chance[1], better="lower"),
        row("certain_disclosure_share", withholding.ReportedCount(reached, n), baseline=0, better="lower"),
    ]
