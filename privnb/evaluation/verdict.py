"""The verdict on a sanitizer in an owner's scenario (Sramka et al. 2010, section 2).

`Scenario(GoodUtility("salary"), AntiUtility("age")).judge(dataset, KMember(10))` is the paper's scenario A.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case
from privnb.evaluation.predictions import miners_of
from privnb.evaluation.results import join, row_builder, summary, tidy
from privnb.evaluation.utility.good_utility import good_rows
from privnb.evaluation.utility.utilities import AntiUtility, GoodUtility, Scores, bad_rows
from privnb.measures.utility import mining
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import OneOrMore, Randomness, as_list, validated
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer


@dataclass(frozen=True)
class Acceptance:
    """Whether a sanitizer is acceptable to the owner (its truth value), and why not.

    `breaks`: the miners that break a threshold, `{"good": name, "bad": name}` with those that are broken alone.
    """

    breaks: Mapping[str, str]
    reason: str

    def __bool__(self) -> bool:
        return not self.breaks


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """A sanitizer's place in a scenario. Section 2: (1 - `delta`, L)-utility-preserving and (`average`, `worst`,
    `worst_miner`)-privacy-losing.

    `original`, `utility`: good utility by miner's name, on the original and on the release; `utility_baseline`: of the
    best single answer. `delta`: the largest utility decline, 0 or more, and `declines_most`, its miner. `anti_utility`
    by miner's name, with `average`, `worst`, the `worst_miner` that attains it, and `worst_by_person`, which takes for
    each person their own worst miner; `baseline`: of the guess without the release. Lower protects more.
    `left_out`: the miners of each set, "good" and "bad", that cannot guess this release's columns: in no number.

    `table`: all of it as tidy `results`, for people: numbers that fewer than `fewest` people make are withheld there.
    The other fields are exact, for the owner alone.
    """

    sanitizer: object
    original: Mapping[str, float]
    utility: Mapping[str, float]
    utility_baseline: float
    delta: float
    declines_most: str
    anti_utility: Mapping[str, float]
    average: float
    worst: float
    worst_miner: str
    worst_by_person: float
    baseline: float
    left_out: Mapping[str, tuple[str, ...]]
    table: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Verdict({self.sanitizer!r}: ({1 - self.delta:.4f}, {{{', '.join(self.utility)}}})-utility-preserving; "
            f"anti-utility {self._shown('average')} on average, {self._shown('worst')} at worst)"
        )

    def acceptable(self, min_good: float, max_bad: int) -> Acceptance:
        """The owner's decision: true if every miner of L keeps enough and no miner of M gets too much. Section 2.1.

        Parameters
        ----------
        min_good : float
            The smallest share of the original's good utility to keep, 1 - delta, 0 to 1.
        max_bad : float
            The largest anti-utility of any one miner, in the scenario's unit (people, where guesses count 0 or 1);
            infinite: no cap.

        Returns
        -------
        Acceptance
        """
        # A cap may be infinite: then none is set.
        numbers = expect.is_number(min_good) and (
            expect.is_number(max_bad) or (isinstance(max_bad, float) and max_bad == np.inf)
        )
        if not (numbers and 0 <= min_good <= 1 and max_bad >= 0):
            raise UsageError(
                f"min_good is a share of the original's good utility, 0..1, and max_bad an anti-utility from 0; got "
                f"{expect.found(min_good)} and {expect.found(max_bad)}."
            )
        breaks, reasons = {}, []
        if 1 - self.delta < min_good - EXACT:  # 1 - 0.9 is a little less than 0.1
            breaks["good"] = self.declines_most
            reasons.append(f"{self.declines_most} keeps {1 - self.delta:.2%} of its good utility, below {min_good:.2%}")
        if self.worst > max_bad:
            breaks["bad"] = self.worst_miner
            reasons.append(f"{self.worst_miner} attains an anti-utility of {self._shown('worst')}, above {max_bad:g}")
        return Acceptance(breaks, "; ".join(reasons) or "acceptable: no miner breaks a threshold")

    def _shown(self, which: str) -> str:
        """An anti-utility as the table shows it."""
        rows = self.table[(self.table.measure == "anti_utility") & (self.table.miner == which)]
        value = rows.value.item()
        return "withheld (few people)" if np.isnan(value) else f"{value:g}"


@dataclass(frozen=True, eq=False)
class Scenario:
    """What an owner wants of a release and fears from it; `judge` says where a sanitizer stands. Section 2.

    Parameters
    ----------
    good : GoodUtility
    bad : AntiUtility
    """

    good: GoodUtility
    bad: AntiUtility

    def __post_init__(self) -> None:
        expect.kind("good", self.good, GoodUtility)
        expect.kind("bad", self.bad, AntiUtility)

    @validated
    def judge(
        self, dataset: Dataset, sanitizer: Sanitizer, *, rng: Randomness = 1, fewest: MinCount = LIMIT
    ) -> Verdict:
        """The `Verdict` on one sanitizer.

        Parameters
        ----------
        dataset : Dataset
        sanitizer : Sanitizer
        rng : int or Generator
            The noise of a seed is that of `evaluation`.
        fewest : int
            Counts below are withheld in the verdict's table.

        Returns
        -------
        Verdict

        Raises
        ------
        ValueError
            Where a miner's good utility on the original is not positive, since no decline is defined then, and for a
            release that miners do not read.
        """
        return self.compare(dataset, [sanitizer], rng=rng, fewest=fewest)[0]

    @validated
    def compare(
        self, dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, rng: Randomness = 1, fewest: MinCount = LIMIT
    ) -> list[Verdict]:
        """The verdicts on several sanitizers; the original is mined once.

        Parameters
        ----------
        dataset : Dataset
        sanitizers : Sanitizer, or list of Sanitizer
        rng, fewest
            As of `judge`.

        Returns
        -------
        list of Verdict
            In the order of the sanitizers.
        """
        seed = int(rng) if isinstance(rng, int | np.integer) else int(np.random.default_rng(rng).integers(2**32))
        original = self.good.scored(Case(dataset, Identity(), seed))
        cases = (Case(dataset, sanitizer, seed, fewest=fewest) for sanitizer in as_list(sanitizers))
        return [self._verdict(case, original) for case in cases]

    def _verdict(self, case: Case, original: Scores) -> Verdict:
        good, bad = self.good.scored(case), self.bad.scored(case)
        delta, declines_most = mining.utility_preserving(original.utilities, good.utilities)
        average, worst, worst_miner = mining.average_and_worst(bad.utilities)
        sets = {"good": (self.good.miners, good), "bad": (self.bad.miners, bad)}
        return Verdict(
            sanitizer=case.sanitizer,
            original=original.utilities,
            utility=good.utilities,
            utility_baseline=mining.weighted_sum(good.baseline, good.weights),
            delta=delta,
            declines_most=declines_most,
            anti_utility=bad.utilities,
            average=average,
            worst=worst,
            worst_miner=worst_miner,
            worst_by_person=mining.weighted_sum(mining.worst_by_person(bad.by_miner), bad.weights),
            baseline=mining.weighted_sum(bad.baseline, bad.weights),
            left_out={
                side: tuple(m.name for m in miners_of(names) if m.name not in scores.by_miner)
                for side, (names, scores) in sets.items()
            },
            table=self._table(case, original, good, bad),
        )

    def _table(self, case: Case, original: Scores, good: Scores, bad: Scores) -> pd.DataFrame:
        as_is, feared = row_builder(case.dataset, Identity(), case.seed), partial(case.row, target=self.bad.label)
        kept = tidy(
            each
            for made, scores in ((as_is, original), (case.row, good))
            for each in good_rows(made, self.good.label, scores, original, case.fewest)
        )
        lost = bad_rows(feared, bad, case.fewest)
        together = bad._replace(by_miner={"worst by person": mining.worst_by_person(bad.by_miner)})
        return join(
            kept,
            summary(kept[kept.measure == "utility_decline"], averages=False),
            lost,
            bad_rows(feared, together, case.fewest),
            summary(lost),
        )
