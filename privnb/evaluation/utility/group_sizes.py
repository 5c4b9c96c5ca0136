"""Errors of releases about the sizes of large groups; the groups are found once for all sanitizers of a call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row
from privnb.evaluation.trade_off import find_large_populations
from privnb.measures.utility.populations import SUPPORT, LargePopulations, size_error
from privnb.runtime.validation import Share
from privnb.sanitizers import Suppress


@dataclass(frozen=True)
class GroupSizes(Question):
    """Question about the error of a release in the numbers of people in large groups.

    Parameters
    ----------
    support : float
        The minimum size of a large group, as a share of the records; above 0.

    The row is `size_error`; its baseline is the error of the release without quasi-identifiers. A table without large
    groups has no row.
    """

    support: Share = SUPPORT
    primary_measure = "size_error"
    axes = ("size_error",)

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        populations, trivial = _find_populations(case.dataset, self.support)
        if populations is None:
            return []
        return [case.row("size_error", size_error(populations, case.release), baseline=trivial)]


@lru_cache(maxsize=8)
def _find_populations(dataset: Dataset, support: float) -> tuple[LargePopulations | None, float]:
    """Return the large populations, and the error of their sizes in the trivial release."""
    populations = find_large_populations(dataset, None, support)
    return populations, 0.0 if populations is None else size_error(populations, Suppress().sanitize(dataset, rng=0))
