"""The people for whom ready-made miners come nearer to the truth than the release, compared with chance.

Source: Sramka et al. 2010, section 4.4, Table 2. Small counts are withheld.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.dataset_summary import group_records
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import (
    Miners,
    WithMiners,
    derive_seed,
    predict_cross_validated,
    predict_ensemble,
    predict_in_sample,
    resolve_miners,
)
from privnb.evaluation.results import SUMMARIES, Row, estimate_share, join_results, mark_withheld, tidy, withhold_counts
from privnb.evaluation.utility.utilities import (
    AntiUtility,
    GuessValues,
    build_anti_utility_rows,
    build_failed_rows,
    describe_unit,
    withhold_baseline,
)
from privnb.measures.base import register_measure
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.miners import weka
from privnb.miners.miner import Failed
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.validation import Seed, Share, validated

PERMUTATIONS = 20  # random permutations of the worst miner's guesses
HELD_OUT_FOLDS = 5  # folds of the cross-validation with held-out people
WORST_BY_PERSON = "worst by person"
GUESS = "the guess"
A, B, C, W = (("A", ""), ("B", ""), ("C", ""), ("W", ""))  # scenario and variant
# For each scenario, the scenarios that include all of its people.
WITHIN = {A: (), ("A", "distinct"): (A,), B: (A,), C: (A,), ("C", "distinct"): (C, A)}


register_measure(
    "nearer_share",
    kind="privacy",
    title="Who is hit",
    sentence="This is the share of a group for whom the worst miner's prediction is nearer to the truth than the "
    "released value.",
    source="after Sramka et al. 2010, section 4.4",
    unit="share of the group",
)


@dataclass(frozen=True)
class NearerPredictions(WithMiners, Question):
    """Question about the people for whom a prediction of `target` is nearer to the truth than the release (Table 2).

    Each miner learns from the release and predicts the released records themselves.

    The rows `anti_utility` of each scenario (see `build_scenarios`) count people with a nearer prediction; the baseline
    is the count for the guess without the release. There are rows for each miner, for two fusions of the miners, and
    for the worst miner of each person. There are also rows for three controls: the miner ZeroR; the worst miner's
    guesses, permuted at random ("permuted"); and the worst miner's guesses for people who were held out of the training
    data ("held-out"). The rows `nearer_share` report the share of people in each `group` for whom the prediction of the
    worst miner in scenario A is nearer.

    Parameters
    ----------
    target : str
    miners : str, estimator, or list of those
        The miners, see `miners.reference_set`. Miners of Weka run one by one. Each has only its own rows, without
        fusions and controls, or one row whose `status` gives the reason for a missing result.
    c, share, weights
        See `build_scenarios`.
    """

    target: str
    miners: Miners = "standard"
    c: float = 0
    share: float = 0.05
    weights: str = ""

    primary_measure = "anti_utility"
    permutes_records = stochastic = True

    def rows(self, case: Case) -> pd.DataFrame:
        """Return the rows of a case."""
        dataset, release, seed, target, min_count = case.dataset, case.release, case.seed, self.target, case.min_count
        feared = build_scenarios(target, dataset.headcount, c=self.c, share=self.share, weights=self.weights, seed=seed)
        if dataset.people is not None:  # equal records may belong to several people
            feared = {named: _weigh_records(idea, dataset) for named, idea in feared.items() if named[1] != "distinct"}
        order = case.stream("publish")
        members = [miner for miner in resolve_miners(self.miners) if not miner.name.startswith("fusion")]
        bare = weka.is_weka(members[0].name)
        found = predict_in_sample(release, target, members, rng=order)
        row = partial(case.row, target=target)
        parts = [tidy(build_failed_rows(row, "anti_utility", found))]
        if not found.guesses:
            return parts[0]
        if not bare:
            fusions = predict_ensemble(release, target, members, found.guesses)
            zero = {"ZeroR": predict_in_sample(release, target, "majority", rng=order).guesses["majority"]}
            by_name = {miner.name: miner for miner in members}
            blind = cache(lambda name: _predict_held_out(release, target, by_name[name], seed))
        for named, idea in feared.items():
            scores, (scenario, variant) = idea.score({target: found}, dataset, release), named
            made = partial(row, scenario=scenario, variant=variant)
            parts.append(
                _withhold_few_of_a_weight(scenario, build_anti_utility_rows(made, scores, min_count), scores, min_count)
            )
            if bare:
                continue
            _, _, worst = mining.average_and_worst(scores.utilities)
            for others, column in ((fusions, "miner"), (zero | {"held-out": blind(worst)}, "control")):
                worths = {name: idea.worth({target: guess}, dataset, release) for name, guess in others.items()}
                if column == "miner":
                    worths[WORST_BY_PERSON] = mining.worst_by_person(scores.by_miner)
                controlled = scores._replace(by_miner=worths)
                rows = _withhold_few_of_a_weight(
                    scenario, build_anti_utility_rows(made, controlled, min_count), controlled, min_count
                )
                parts.append(rows if column == "miner" else rows.assign(control=rows.miner, miner=""))
            rng, guessed = (
                np.random.default_rng(case.stream(f"deal {'_'.join(filter(None, named))}")),
                found.guesses[worst],
            )
            dealt = [idea.worth({target: rng.permutation(guessed)}, dataset, release) for _ in range(PERMUTATIONS)]
            parts.append(_build_permuted_rows(made, scores, worst, dealt, min_count, scenario))
            if named == A and dataset.people is None:  # a person may belong to several groups
                parts.append(_build_group_rows(row, dataset, scores, worst, min_count))
        return _withhold_differences(join_results(*(part for part in parts if len(part))), min_count)


def _predict_held_out(release: Release, target: str, miner: Any, seed: int) -> Array:
    """Return a miner's guesses (n,) for people held out of its training data; raise Failed if the miner fails."""
    found = predict_cross_validated(release, target, [miner], folds=HELD_OUT_FOLDS, seed=seed)
    if miner.name in found.failed:
        raise Failed(found.reasons[miner.name])
    return found.guesses[miner.name]


def _withhold_differences(results: pd.DataFrame, min_count: int) -> pd.DataFrame:
    """Withhold the numbers whose difference from a larger published number would reveal a small count.

    The number of distinct records is compared with the number of all records, the number of scenarios B and C with that
    of scenario A, and the number of each miner with that of the worst miner by person.
    """
    results = results.copy()
    case, who = ["scenario", "variant"], ["miner", "control"]
    counts = results[(results.measure == "anti_utility") & pd.MultiIndex.from_frame(results[case]).isin(WITHIN)]
    guess = counts.drop_duplicates(case).assign(miner=GUESS, control="", value=lambda rows: rows.baseline)
    cells = pd.concat([counts, guess]).dropna(subset="value")
    shown = {(row[:2], row[2:4]): row[4] for row in cells[[*case, *who, "value"]].itertuples(index=False, name=None)}
    margins, together = [], (WORST_BY_PERSON, "")
    for cell in shown:
        feared, (miner, control) = cell
        within = [(each, cell[1]) for each in WITHIN[feared]]
        if not control and miner not in (GUESS, *SUMMARIES):
            within += [(each, together) for each in (feared, *WITHIN[feared])]
        margins += [withholding.Margin(each, (cell,)) for each in within if each in shown]
    order = sorted(shown, key=lambda cell: (cell[1] == together, list(WITHIN).index(cell[0])))
    hidden = withholding.suppress({cell: shown[cell] for cell in order}, margins, min_count)
    of = [(row[:2], row[2:]) for row in results[[*case, *who]].itertuples(index=False, name=None)]
    of_it = results.measure == "anti_utility"
    results.loc[of_it & np.array([cell in hidden for cell in of]), ["value", "low", "high"]] = np.nan
    unguessed = of_it & np.array([(feared, (GUESS, "")) in hidden for feared, _ in of])
    return mark_withheld(results.assign(baseline=results.baseline.mask(unguessed)))


@validated
def build_scenarios(
    target: str, n: int, *, c: float = 0, share: Share = 0.05, weights: str = "", seed: Seed = 1
) -> dict[tuple[str, str], AntiUtility]:
    """Return the anti-utilities of the owner, by scenario and variant (section 4.4).

    Parameters
    ----------
    target : str
        The predicted attribute.
    n : int
        The number of people in the table.
    c : float
        The required reduction of the distance to the truth, in percent from 0 to 100.
    share : float
        The share of people whom scenario C protects, above 0 and at most 1.
    weights : str
        The interest weights of scenario W, as `mining.parse_interest` reads them; if empty, there is no scenario W.
    seed : int
        The seed of the random choice of people in scenario C, which is the same for all sanitizers.

    Returns
    -------
    dict of (scenario, variant) to AntiUtility
        Scenario A counts all people and any prediction that is `c` %-nearer. Scenario B counts all people and exact
        predictions. Scenario C is scenario A for a random share of the people. Scenario W is scenario A with interest
        weights. Variant "distinct" of A and C counts each distinct released record once, for its first person; the
        numbers of the paper suggest this count.
    """
    expect.text("target", target, "the attribute that predictions come nearer to")
    expect.kind("weights", weights, str, instead="Write them as CONDITION: WEIGHT; if empty, all weights are equal.")
    mining.check_c(c)
    nearer = {target: partial(mining.nearer, c=c)}
    chosen = mining.draw_weights(n, share, rng=derive_seed(seed, None, "scenario C"))
    feared = {
        A: AntiUtility(nearer),
        ("A", "distinct"): AntiUtility(nearer, weights=partial(_weigh_distinct, np.ones(n))),
        B: AntiUtility({target: partial(mining.nearer, c=100)}),
        C: AntiUtility(nearer, weights=chosen),
        ("C", "distinct"): AntiUtility(nearer, weights=partial(_weigh_distinct, chosen)),
    }
    return feared | ({W: AntiUtility(nearer, weights=mining.parse_interest(weights))} if weights else {})


def _weigh_records(idea: Any, dataset: Dataset) -> AntiUtility:
    """Return the anti-utility in which each record has the weight of its person."""
    given = idea.weights
    return idea if given is None or callable(given) else replace(idea, weights=given[dataset.people])


def _weigh_distinct(chosen: FloatArray, table: pd.DataFrame, released: pd.DataFrame) -> FloatArray:
    """Return interest weights that count each distinct released record among the `chosen` people once."""
    weights = chosen.copy()
    weights[chosen > 0] = mining.first_occurrences(released[chosen > 0])
    return weights


def _withhold_few_of_a_weight(scenario: str, rows: pd.DataFrame, scores: GuessValues, min_count: int) -> pd.DataFrame:
    """Withhold the numbers of scenario W to which only a small number of people of some weight contribute.

    The difference between the numbers of scenarios W and A would otherwise reveal the count of hits among the people of
    each weight.
    """
    if scenario != "W":
        return rows

    def few(values: FloatArray) -> bool:
        weighed = [values[scores.weights == weight] for weight in np.unique(scores.weights)]
        return any(withholding.reveals_few(np.count_nonzero(each), len(each), min_count) for each in weighed)

    few_hit = rows.value.notna() & rows.miner.isin([name for name, values in scores.by_miner.items() if few(values)])
    bounds = (0, scores.weights.sum()) if scores.counts else (np.nan, np.nan)
    rows.loc[few_hit, ["value", "low", "high"]] = [np.nan, *bounds]
    return rows.assign(baseline=np.nan) if few(scores.baseline) else rows


def _build_permuted_rows(
    row: Callable[..., Row], scores: GuessValues, worst: str, dealt: Sequence[FloatArray], min_count: int, scenario: str
) -> pd.DataFrame:
    """Return the row of the control "permuted": the mean over all permutations, and their central 95%."""
    counted, _ = describe_unit(scores)
    values = [mining.sum_weighted(worth, scores.weights) for worth in dealt]
    low, high = np.quantile(values, [0.025, 0.975])
    shown, *bounds = [float(np.mean(values)), low, high]
    if not scores.counts and withholding.is_few(
        np.mean([np.count_nonzero(w * scores.weights) for w in dealt]), min_count
    ):
        shown, *bounds = [np.nan] * 3
    made = partial(row, "anti_utility", baseline=withhold_baseline(scores, min_count), **counted)
    rows = withhold_counts(tidy([made(shown, miner=worst, interval=bounds)]), min_count, scores.of)
    # A permutation of equal guesses changes nothing: this row must withhold what the worst miner's row withholds.
    return _withhold_few_of_a_weight(scenario, rows, scores, min_count).assign(control="permuted", miner="")


def _build_group_rows(
    row: Callable[..., Row], dataset: Dataset, scores: GuessValues, worst: str, min_count: int
) -> pd.DataFrame:
    """Return the rows `nearer_share`: the share of each group's people for whom the worst miner's prediction is nearer.

    The baseline is the same share for the guess without the release. Groups of fewer than `min_count` people are left
    out. A small count of people who are hit, or who are not hit, is withheld. Because the total is shown, further
    counts of the attribute are also withheld, the smallest first, until no withheld count can be derived.
    """
    rows = []
    for name in choose_group_attributes(dataset):
        of = group_records(dataset, name)
        people = pd.DataFrame({"hit": scores.by_miner[worst], "guess": scores.baseline}).groupby(of.to_numpy()).sum()
        people = people.assign(of=of.value_counts())
        few_hit = {column: _hidden_groups(people[column], people["of"], min_count) for column in ("hit", "guess")}
        for label, hit, guess, number in people[people["of"] >= min_count].itertuples():
            follows = label in few_hit["hit"] and not withholding.reveals_few(hit, int(number), min_count)
            share = np.nan if follows else estimate_share(hit, int(number))
            baseline = np.nan if label in few_hit["guess"] else guess / number
            rows.append(row("nearer_share", share, miner="worst", group=f"{name} {label}", baseline=baseline))
    return tidy(rows)


def _hidden_groups(hits: pd.Series, of: pd.Series, min_count: int) -> set[Any]:
    """Return the labels of the groups whose `hits` are withheld; `of` holds the number of people in each group."""
    rising = hits[hits > 0].sort_values(kind="stable").index
    order = [*hits.index[hits == 0], *rising[::-1]]
    total = ("all", "groups")
    margins = [withholding.Margin(total, tuple(order), rest=False), withholding.Margin(of.sum(), (total,))]
    margins += [withholding.Margin(number, (label,)) for label, number in of.items() if number >= min_count]
    return withholding.suppress({total: hits.sum()} | {label: hits[label] for label in order}, margins, min_count)


@validated
def choose_group_attributes(dataset: Dataset) -> list[str]:
    """Return the attributes whose groups are reported in `nearer_share`.

    These attributes are the first numeric quasi-identifier and the categorical quasi-identifiers with at most 5 values,
    such as sex and race.
    """
    names = dataset.schema.quasi_identifiers
    few = [n for n in names if not dataset.schema[n].numeric and dataset.cells[n].nunique() <= 5]
    return list(dict.fromkeys([*[n for n in names if dataset.schema[n].numeric][:1], *few]))
