"""The owner's own fear: a miner that learns from the release comes nearer to the truth than what was released.

The full question, with its scenarios and controls, is `nearer_predictions`; this is scenario A for a few quick miners,
minus the control that needs no release.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosure.nearer_predictions import A, scenarios
from privnb.evaluation.predictions import AsksMiners, Miners, mine, miners_of, name_miners
from privnb.evaluation.results import Row
from privnb.evaluation.risks.scores import Scores, people_of
from privnb.measures.base import state
from privnb.microdata.treatment import Rows, Unreadable
from privnb.miners import able
from privnb.runtime.arrays import FloatArray, IntArray

MINERS = "decision stump, naive Bayes, decision tree"  # of labels all, of numbers two

state(
    "anti_utility_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Anti-utility risk",
    sentence="For how many more people a miner that learns from the release comes nearer to the truth than what was "
    "released than a guess without it does.",
    source="after Sramka et al. 2010, section 4.4, scenario A",
    unit="share of people",
    baseline="the guess without the release",
    axis=True,
)


@dataclass(frozen=True)
class AntiUtilityRisk(AsksMiners, Question):
    """For how many people a prediction of the target is nearer than what was released, beyond the bare guess.

    Nothing is nearer than a cell that was released as it is.

    Parameters
    ----------
    target : str
        Empty: the table has no quasi-identifier, and nothing is measured.
    miners : str, estimator, or list of those
        The one that comes nearer to most people is taken.
    """

    target: str
    miners: Miners = MINERS
    main = "anti_utility_risk"

    def rows(self, case: Case) -> list[Row]:
        if not self.target:
            raise Unreadable(f"'{case.dataset.name}' has no quasi-identifier to predict. Give a column that role.")
        scores, who = self.scores(case)
        return scores.rows(partial(self.row(case), miner=who), case.dataset, case.fewest)

    def scores(self, case: Case) -> tuple[Scores, str]:
        """The `Scores` of people, and the miner."""
        dataset, release, target = case.dataset, case.release, self.target
        kind = release.columns[target].kind if target in release.columns else ""
        if kind == "exact" and release.provenance.rows is not Rows.NOBODY:
            people = people_of(dataset, release)
            return _scores(np.zeros(len(people)), np.zeros(len(people)), people), ""
        if target not in release.cells:
            raise Unreadable(f"the release has no column '{target}' to come nearer to. Name another one.")
        if release.provenance.rows is Rows.RECORDS and not able(miners_of(self.miners), release.table[target])[0]:
            raise Unreadable(
                f"none of {name_miners(self.miners)} predicts '{target}' as it is published. Name another miner."
            )
        found = mine(release, target, self.miners, rng=case.stream("publish"))
        if not found.guesses:
            without = f"none of {name_miners(self.miners)} has a guess."
            raise Unreadable(next(filter(None, found.reasons.values()), without))
        judged = scenarios(target, dataset.headcount)[A].score({target: found}, dataset, release)
        who = max(judged.by_miner, key=lambda name: judged.by_miner[name].sum())
        return _scores(judged.by_miner[who], judged.baseline, np.arange(dataset.headcount)), who


def _scores(nearer: FloatArray, without: FloatArray, people: IntArray) -> Scores:
    return Scores(nearer.astype(float), without.astype(float), people, gain=True, counted=True, worst=False)
