"""Increase in disclosure if nearer predictions replace cells of a release, compared with random labels.

Source: Sramka et al. 2010, section 4.4, Table 3.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.disclosure.leakage import require_one_record_each
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import Miners, WithMiners, predict_in_sample
from privnb.evaluation.release_measures import build_gain_rows
from privnb.evaluation.results import tidy
from privnb.evaluation.utility.utilities import AntiUtility
from privnb.measures.utility import mining
from privnb.microdata.hierarchy import flat
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, BoolArray

DRAWS = 39  # random assignments of labels: a value exceeds all of them by chance with a probability of 1 in 40
FIRST = "with predictions"  # predictions for the first record of each distinct released row


@dataclass(frozen=True)
class PredictedGains(WithMiners, Question):
    """Question about the gains of Brickell and Shmatikov before and after predictions are put into the release.

    The predictions are the nearer predictions of `target` by the worst miner (Table 3). An increase that the control
    also shows is not evidence of an attack.

    The rows `accuracy_gain` and `knowledge_gain` describe the release and its two variants. Variant "with predictions"
    uses predictions for the first record of each distinct released row, as the counts of the paper suggest; variant
    "with all predictions" uses predictions for all people. Each variant has the control "random labels": the same
    labels are assigned at random to the same number of records that have longer labels, so that an assigned label may
    be right or wrong. The row of the control reports the mean of 39 draws; its interval extends from the smallest to
    the largest draw. By chance, a value exceeds all draws with a probability of 1 in 40.

    Parameters
    ----------
    target, sensitive : str
    miners : str, estimator, or list of those
        The miners, see `miners.reference_set`.
    miner_set : str
        The name of the miners in rows; if the name is given, the gains of the release itself are left out.
    """

    target: str
    sensitive: str
    miners: Miners = "standard"
    miner_set: str = ""

    primary_measure = "accuracy_gain"
    permutes_records = stochastic = True

    def rows(self, case: Case) -> pd.DataFrame:
        """Return the rows of a case."""
        dataset, release, target, sensitive = case.dataset, case.release, self.target, self.sensitive
        require_one_record_each(release)
        row, gains = case.row, partial(build_gain_rows, sensitive=self.sensitive)
        deal, found = case.stream("deal"), predict_in_sample(release, target, self.miners, rng=case.stream("publish"))
        if not found.guesses:
            made = partial(self.row(case), variant=FIRST, miner_set=self.miner_set)
            return [made(np.nan, **found.columns(name)) for name in found.failed]
        idea, hierarchy = AntiUtility(target), release.hierarchies.get(target) or flat(release.schema[target])
        near = {name: idea.worth({target: guess}, dataset, release) > 0 for name, guess in found.guesses.items()}
        rows = [] if self.miner_set else gains(row, release, rng=deal)
        readings = {
            (FIRST, "random_labels"): mining.first_occurrences(release.table),
            ("with all predictions", "as_many_random_labels"): np.ones(len(dataset), dtype=bool),
        }
        for (variant, purpose), among in readings.items():
            _, _, worst = mining.average_and_worst({name: (hits & among).sum() for name, hits in near.items()})
            put = near[worst] & among
            labels, made = found.guesses[worst][put], partial(row, variant=variant, miner_set=self.miner_set)
            rows += gains(made, _replace_labels(release, target, put, found.guesses[worst]), rng=deal)
            generator, control = np.random.default_rng(case.stream(purpose)), partial(made, control="random labels")
            draws = tidy(
                drawn
                for _ in range(DRAWS)
                for drawn in gains(
                    control,
                    _replace_labels(
                        release, target, *_permute_labels(release, target, among, labels, hierarchy, generator)
                    ),
                    rng=deal,
                )
            )
            for measure, part in draws.groupby("measure", sort=False):
                bounds, baseline = (part.value.min(), part.value.max()), part.baseline.mean()
                drawn = control(measure, part.value.mean(), target=sensitive, interval=bounds, baseline=baseline)
                rows.append(drawn | {"better": "lower"})
        return tidy(rows)


def _replace_labels(release: Release, target: str, where: BoolArray, labels: Array) -> Release:
    """Return the release with the labels in place of the cells of `target` that the boolean array `where` selects."""
    table = release.table.copy()
    table[target] = np.where(where, labels, table[target])
    made = replace(release, table=table)
    # Otherwise each of about eighty such releases would read the other columns again.
    made._coded.update({name: release.coded(name) for name in release.schema.quasi_identifiers if name != target})
    return made


def _permute_labels(
    release: Release, target: str, among: BoolArray, labels: Array, hierarchy: Generalization, rng: Any
) -> tuple[BoolArray, Array]:
    """Assign each label to a random record in `among` whose cell is longer, whether the label is right or wrong.

    A label is left out if no remaining cell is longer.

    Returns
    -------
    where : boolean array (n,)
        The records with a label.
    labels : array (n,)
        The labels of these records.
    """
    numeric = release.schema[target].numeric
    cells = mining.label_lengths(release.table[target], hierarchy, numeric=numeric)
    sizes = mining.label_lengths(labels, hierarchy, numeric=numeric)
    where, dealt = np.zeros(len(release), dtype=bool), np.full(len(release), "", dtype=object)
    for size in np.unique(sizes)[::-1]:  # the longest first: fewest cells are longer
        given = rng.permutation(labels[sizes == size])
        free = np.flatnonzero(among & ~where & (cells > size))
        chosen = rng.choice(free, min(len(given), len(free)), replace=False)
        where[chosen], dealt[chosen] = True, given[: len(chosen)]
    return where, dealt
