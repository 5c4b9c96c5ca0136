"""The number of people who share a published combination of quasi-identifiers."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question, evaluate
from privnb.evaluation.results import Row
from privnb.measures.base import register_measure
from privnb.microdata import withholding
from privnb.microdata.treatment import Rows, Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models.star import Labels
from privnb.runtime.validation import OneOrMore, at_least, validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.made_elsewhere import MadeElsewhere

MIN_CLASS_SIZE = 5  # people who share each published combination, unless the owner asks for more
MinClassSize = Annotated[int, at_least(2, "one person shares a combination with nobody")]

register_measure(
    "smallest_combination",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Smallest combination",
    sentence="This is the number of people who share the rarest published combination of quasi-identifiers.",
    source="Samarati and Sweeney, 1998",
    unit="people",
    counts_people=True,
)
register_measure(
    "alone",
    kind="privacy",
    title="Singled out",
    sentence="This is the share of people whose published combination of quasi-identifiers nobody else has.",
    source="Sweeney, IJUFKS 10(5), 2002",
    unit="share of people",
)

register_measure(
    "smallest_population",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Smallest in the population",
    sentence="This is the estimated number of people in the population who share the rarest published combination of "
    "quasi-identifiers: the sum of the sampling weights of the people in the table who share it.",
    source="Franconi and Polettini, Individual Risk Estimation in mu-Argus, PSD 2004",
    unit="people of the population",
    format="{:,} people of the population",
)


@dataclass(frozen=True)
class Combinations(Question):
    """The number of people who share each published combination of quasi-identifiers; see `measure_combinations`."""

    min_class_size: int = MIN_CLASS_SIZE
    primary_measure = "smallest_combination"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        release = case.known.release
        if release.provenance.rows is Rows.SYNTHETIC:
            raise Unreadable(
                "the rows are synthetic, so no combination belongs to a person. Attack the release with miners."
            )
        sizes, n = release.people_per_class, release.headcount
        star = case.sanitizer.star if isinstance(case.sanitizer, MadeElsewhere) else "own"
        classes = Labels.of_release(star, release).confuse(sizes[:, None])
        size_of_row = classes.counts[classes.class_of[release.equivalence_classes, 0], 0]
        smallest, alone = int(size_of_row.min()), release.people_among(size_of_row == 1)
        rows = [
            case.row("smallest_combination", withholding.ReportedCount(smallest, n, rule=self._size)),
            case.row("alone", withholding.ReportedCount(alone, n), baseline=0),
        ]
        if (population := release.population_per_class) is not None:
            # The class with the smallest population. If few people are in it, its weights would identify them.
            rarest = int(population.argmin())
            least = withholding.Revealing(round(population[rarest]), sizes[rarest], np.inf)
            rows.append(case.row("smallest_population", least))
        return rows

    def _size(self, people: float, of: float, limit: int) -> withholding.Shown:
        """Return a class size as (value, low, high).

        A small size has no value; its bounds show only whether the size is below the minimum class size.
        """
        if not withholding.is_few(people, limit):
            return people, np.nan, np.nan
        edge = min(self.min_class_size, limit)
        return (np.nan, 1, edge - 1) if people < edge else (np.nan, edge, limit - 1)


@validated
def measure_combinations(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Count the people who share the rarest combination of quasi-identifiers that each sanitizer publishes.

    Two people share a combination if their published cells are equal. Exact columns next to buckets and noisy cells are
    also part of the combination.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    min_class_size : int
        The minimum class size, at least 2. If the size of a combination is withheld, its bounds show only whether the
        size is below the minimum class size.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows `smallest_combination`, a number of people, and rows `alone`, the share (0 to 1) of people whose
        combination nobody else has, with the baseline 0. If the records have sampling weights, there are also rows
        `smallest_population`. A sanitizer that publishes synthetic rows has a row with the status "refused".

    Examples
    --------
    >>> from privnb import Mondrian, KAnonymity, load
    >>> from privnb.evaluation import measure_combinations
    >>> rows = measure_combinations(load("twelve"), [Mondrian(KAnonymity(3))], min_count=2)
    >>> rows[["measure", "value"]].values.tolist()
    [['smallest_combination', 3.0], ['alone', 0.0]]
    """
    return evaluate(dataset, sanitizers, measures=[Combinations(min_class_size)], min_count=min_count)
