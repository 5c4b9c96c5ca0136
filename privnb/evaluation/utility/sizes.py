"""How wrong releases are about the sizes of large groups; the groups are found once for all sanitizers of a call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.results import Row
from privnb.evaluation.trade_off import large_populations
from privnb.measures.utility.populations import SUPPORT, LargePopulations, size_error
from privnb.runtime.validation import Share
from privnb.sanitizers import Suppress


@dataclass(frozen=True)
class Sizes(Question):
    """How wrong a release is about how many people are in large groups.

    Parameters
    ----------
    support : float
        How large large groups are: a share of the records above 0.

    Row: `size_error`; baseline: the release without quasi-identifiers. None in a table without large groups.
    """

    support: Share = SUPPORT
    main = "size_error"
    axes = ("size_error",)

    def rows(self, case: Case) -> list[Row]:
        populations, trivial = _populations(case.dataset, self.support)
        if populations is None:
            return []
        return [case.row("size_error", size_error(populations, case.release), baseline=trivial)]


@lru_cache(maxsize=8)
def _populations(dataset: Dataset, support: float) -> tuple[LargePopulations | None, float]:
    """The large populations, and how wrong the trivial release is about their sizes."""
    populations = large_populations(dataset, None, support)
    return populations, 0.0 if populations is None else size_error(populations, Suppress().sanitize(dataset, rng=0))
