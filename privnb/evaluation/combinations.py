"""How many people share a combination of quasi-identifiers as it is published: the rarest one, and who is alone."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question, evaluate
from privnb.evaluation.results import Row
from privnb.measures.base import state
from privnb.microdata import withholding
from privnb.microdata.treatment import Rows, Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.validation import OneOrMore, at_least, validated
from privnb.sanitizers.base import Sanitizer

FLOOR = 5  # people who share every combination that is published, unless the owner asks for more
Floor = Annotated[int, at_least(2, "a combination of one is a person's own")]

state(
    "smallest_combination",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Smallest combination",
    sentence="So many people share the rarest combination of quasi-identifiers, as it is published.",
    source="Samarati and Sweeney, 1998",
    unit="people",
    counts_people=True,
)
state(
    "alone",
    kind="privacy",
    title="Singled out",
    sentence="Share of people whose combination of quasi-identifiers, as it is published, nobody else has.",
    source="Sweeney, IJUFKS 10(5), 2002",
    unit="share of people",
)

state(
    "smallest_population",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Smallest in the population",
    sentence="So many people of the population are expected to share the combination that the fewest share, as it is "
    "published: the sum of their sampling weights. It is more than those in the table, and an estimate.",
    source="Franconi and Polettini, Individual Risk Estimation in mu-Argus, PSD 2004",
    unit="people of the population",
    format="{:,} people of the population",
)


@dataclass(frozen=True)
class Combinations(Question):
    """Who shares a combination of quasi-identifiers as it is published; rows as of `combinations`."""

    floor: int = FLOOR
    main = "smallest_combination"

    def rows(self, case: Case) -> list[Row]:
        release = case.known.release
        if release.provenance.rows is Rows.NOBODY:
            raise Unreadable("its rows are nobody's, so that no combination is anybody's. Attack it with miners.")
        sizes, n = release.people_alike, release.headcount
        smallest, alone = int(sizes.min()), release.people_among(sizes[release.equivalence_classes] == 1)
        rows = [
            case.row("smallest_combination", withholding.Counted(smallest, n, rule=self._size)),
            case.row("alone", withholding.Counted(alone, n), baseline=0),
        ]
        if (population := release.population_alike) is not None:
            # The class that stands for fewest people of the population; of few people its weights would be theirs.
            rarest = int(population.argmin())
            least = withholding.Revealing(round(population[rarest]), sizes[rarest], np.inf)
            rows.append(case.row("smallest_population", least))
        return rows

    def _size(self, people: float, of: float, limit: int) -> withholding.Shown:
        """A size, (value, low, high); of few people the bounds say only on which side of the floor it lies."""
        if not withholding.few(people, limit):
            return people, np.nan, np.nan
        edge = min(self.floor, limit)
        return (np.nan, 1, edge - 1) if people < edge else (np.nan, edge, limit - 1)


@validated
def combinations(
    dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, floor: Floor = FLOOR, fewest: MinCount = LIMIT
) -> pd.DataFrame:
    """How many people share the rarest combination of quasi-identifiers that each sanitizer publishes.

    Every published column counts as it stands: exact ones beside buckets, noisy cells too. Whoever picks a row by its
    quasi-identifiers then picks among so many at least, whatever the treatment.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    floor : int
        From 2: of a combination of fewer people than are shown it is said on which side of this number it lies.
    fewest : int
        Counts below are withheld.

    Returns
    -------
    DataFrame
        Rows `smallest_combination`, in people, and `alone`, the share of people whose combination is theirs alone;
        baseline: nobody. With sampling weights also `smallest_population`, see there; k is of the table all the same,
        for somebody may know who is in it. Rows that are nobody's are refused.
    """
    return evaluate(dataset, sanitizers, measures=[Combinations(floor)], fewest=fewest)
