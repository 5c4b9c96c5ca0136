"""What nearer predictions add to what a release tells of sensitive values, beside random labels (Sramka et al. 2010,
section 4.4, Table 3).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosure.leakage import check_record_each
from privnb.evaluation.predictions import AsksMiners, Miners, mine
from privnb.evaluation.releases import gain_rows
from privnb.evaluation.results import tidy
from privnb.evaluation.utility.utilities import AntiUtility
from privnb.measures.utility import mining
from privnb.microdata.hierarchy import flat
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, BoolArray

DRAWS = 39  # how often labels are dealt out: a value above all draws has a chance of 1 in 40
FIRST = "with predictions"  # those of the first record of each distinct released row


@dataclass(frozen=True)
class PutIn(AsksMiners, Question):
    """Brickell and Shmatikov's gains before and after the worst miner's nearer predictions of `target` are put into the
    release (Table 3). An increase that the control shows as well is no evidence of an attack.

    Rows of `accuracy_gain` and `knowledge_gain`: of the release; of variant "with predictions", those of the first
    record of each distinct released row, the count that fits the paper; "with all predictions", those of all people;
    and of either the control "random labels": the same labels dealt at random to as many records whose own label is
    longer, right or wrong (the mean of 39 draws, with the smallest and the largest: by chance one in forty lies above).

    Parameters
    ----------
    target, sensitive : str
    miners : str, estimator, or list of those
        See `miners.reference_set`.
    miner_set : str
        The name that rows give the miners; with one, the release's own gains are left out.
    """

    target: str
    sensitive: str
    miners: Miners = "five"
    miner_set: str = ""

    main = "accuracy_gain"
    reorders = varies = True

    def rows(self, case: Case) -> pd.DataFrame:
        dataset, release, target, sensitive = case.dataset, case.release, self.target, self.sensitive
        check_record_each(release)
        row, gains = case.row, partial(gain_rows, sensitive=self.sensitive)
        deal, found = case.stream("deal"), mine(release, target, self.miners, rng=case.stream("publish"))
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
            rows += gains(made, _relabelled(release, target, put, found.guesses[worst]), rng=deal)
            generator, control = np.random.default_rng(case.stream(purpose)), partial(made, control="random labels")
            draws = tidy(
                drawn
                for _ in range(DRAWS)
                for drawn in gains(
                    control,
                    _relabelled(release, target, *_dealt_out(release, target, among, labels, hierarchy, generator)),
                    rng=deal,
                )
            )
            for measure, part in draws.groupby("measure", sort=False):
                bounds, baseline = (part.value.min(), part.value.max()), part.baseline.mean()
                drawn = control(measure, part.value.mean(), target=sensitive, interval=bounds, baseline=baseline)
                rows.append(drawn | {"better": "lower"})
        return tidy(rows)


def _relabelled(release: Release, target: str, where: BoolArray, labels: Array) -> Release:
    """The release with the cells of `target` replaced where the boolean array `where` says so."""
    table = release.table.copy()
    table[target] = np.where(where, labels, table[target])
    made = replace(release, table=table)
    # Of eighty such releases each would read the other columns again.
    made._coded.update({name: release.coded(name) for name in release.schema.quasi_identifiers if name != target})
    return made


def _dealt_out(
    release: Release, target: str, among: BoolArray, labels: Array, hierarchy: Generalization, rng: Any
) -> tuple[BoolArray, Array]:
    """(where, labels): the `labels`, each put at a random record of those in `among` whose cell is longer, in place of
    that cell, right or wrong. Of labels that are longer than all cells left, none.
    """
    numeric = release.schema[target].numeric
    cells = mining.lengths(release.table[target], hierarchy, numeric=numeric)
    sizes = mining.lengths(labels, hierarchy, numeric=numeric)
    where, dealt = np.zeros(len(release), dtype=bool), np.full(len(release), "", dtype=object)
    for size in np.unique(sizes)[::-1]:  # the longest first: fewest cells are longer
        given = rng.permutation(labels[sizes == size])
        free = np.flatnonzero(among & ~where & (cells > size))
        chosen = rng.choice(free, min(len(given), len(free)), replace=False)
        where[chosen], dealt[chosen] = True, given[: len(chosen)]
    return where, dealt
