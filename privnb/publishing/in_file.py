"""How likely a sensitive value is guessed in a file of a release, counted in the file: of the records in another order
some sanitizers make other classes than were measured.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privnb.decision.policies import Policy
from privnb.decision.policy_search import Searched
from privnb.evaluation.results import SETTING, guessed
from privnb.measures.disclosure.certainty import (
    NEAR,
    certain_groups,
    harms_nobody,
    nearly_certain_groups,
    public_shares,
    tells_of_others,
)
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.counts import coded, combinations, tabulated_in_parts
from privnb.microdata.schema import Schema
from privnb.publishing.gate import CertainValue, Verdict
from privnb.runtime.numerals import percent
from privnb.runtime.tolerances import nearly_equal


class Secret(NamedTuple):
    """A sensitive attribute in a file: how sure the surest guess is, how many people are guessed right, how many there
    are, the sum of the squared sizes of classes, and for how many people a value is nearly certain.
    """

    name: str
    surest: float
    right: int
    people: int
    squares: int
    near: int = 0


def secrets(
    cells: pd.DataFrame,
    schema: Schema,
    times: NDArray[np.integer] | None,
    known: Sequence[str] = (),
    near: float = NEAR,
) -> Iterator[Secret]:
    """Yield each sensitive attribute of a file of more than one value.

    Parameters
    ----------
    cells : DataFrame
        The rows of the file, or its distinct combinations.
    schema : Schema
    times : integer array (rows,), optional
        How often each row is there; None: once.
    known : sequence of str
        The neutral columns that an adversary may know, beside the quasi-identifiers.
    near : float
        The least share that is nearly certain.
    """
    classes = combinations(cells[[*schema.quasi_identifiers, *known]]).index
    for name in filter(cells.columns.__contains__, schema.sensitive):
        codes, values = coded(cells[name])
        if len(values) < 2:
            continue
        found, attribute = Secret(name, 0.0, 0, 0, 0), schema[name]
        public, harmless = public_shares(attribute, codes, values, times=times), harms_nobody(attribute, values)
        for part in tabulated_in_parts(classes, codes, (classes.max() + 1, len(values)), times):
            most, all_of_it = part.max(axis=1), part.sum(axis=1)
            likely = certain_groups(part, public, harmless)
            likely |= nearly_certain_groups(part, public, attribute, values, near)
            numbers = most.sum(), all_of_it.sum(), np.square(all_of_it, dtype=np.int64).sum(), all_of_it[likely].sum()
            sums = (before + int(more) for before, more in zip(found[2:], numbers, strict=True))
            found = Secret(name, max(found.surest, (most / all_of_it).max()), *sums)
        yield found


def surer(found: Sequence[Secret], policy: Policy) -> Iterator[str]:
    """Yield why a sensitive value is surer in a file than its policy allows, though it was not in the release that was
    measured: sentences.
    """
    again = "The file is made again, of the records in another order than was measured."
    for each in found:
        for cap in policy.caps:
            above = each.surest > cap.most and not nearly_equal(each.surest, cap.most)
            if cap.measure == "attribute_risk" and cap.variant and above:
                yield (
                    f"In this file somebody's {each.name} can be guessed with a probability of {percent(each.surest)}, "
                    f"above the cap of {percent(cap.most)}. {again}"
                )
            share = each.near / each.people
            if cap.measure == "nearly_certain" and share > cap.most and not nearly_equal(share, cap.most):
                yield (
                    f"In this file the {each.name} of {_people(each)} is nearly certain, above the cap of "
                    f"{percent(cap.most)}. {again}"
                )


def _people(found: Secret) -> str:
    if withholding.tells(found.near, found.people) or tells_of_others(found.near, found.right):
        return f"people, whose number {withholding.CONCERNS_FEW},"
    return f"{percent(found.near / found.people)} of people"


def recounted(decided: Searched, found: Sequence[Secret], verdict: Verdict) -> pd.DataFrame:
    """Return the results of a decision with the number of people whose value is certain in the file itself, as the gate
    counted it, and nearly certain. What was withheld stays so.
    """
    certain = {each.sensitive: each.people for each in verdict.findings if isinstance(each, CertainValue)}
    results = decided.results.copy()
    chosen = (results[SETTING] == [*decided.decision.chosen[SETTING]]).all(axis=1)
    for each in found:
        for measure, people in (("made_certain", certain.get(each.name, 0)), ("nearly_certain", each.near)):
            share, low, high = guessed(people, each.people).shown(withholding.LIMIT)
            if share > 0:  # people of one class are certain together: as many count as one as a class has (Kish)
                alike = each.squares / each.people
                low, high = wilson(people / alike, each.people / alike)
            if tells_of_others(people, each.right):
                share, low, high = np.nan, 1 / each.people, 1.0
            here = chosen & (results.measure == measure) & (results.target == each.name)
            here &= results.value.notna() & ~np.isclose(results.value, share)
            results.loc[here, ["value", "low", "high"]] = share, low, high
    return results
