"""How sure somebody is of a secret in a file of a release, counted in it: of the records in another order some
sanitizers make other classes than were measured.
"""

from typing import NamedTuple

import numpy as np

from privnb.decision.points import same
from privnb.evaluation.results import SETTING, guessed
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.counts import coded, combinations, tabulated_in_parts
from privnb.microdata.numerals import percent
from privnb.sanitizers.gate import CertainValue, Verdict


class Secret(NamedTuple):
    """A sensitive attribute in a file: how sure the surest guess is, how many people are guessed right, how many there
    are, and the sum of the squared sizes of classes."""

    name: str
    surest: float
    right: int
    people: int
    squares: int


def secrets(cells, schema, times):
    """Each sensitive attribute of a file: `Secret`. What everybody has is none."""
    classes = combinations(cells[[*schema.quasi_identifiers]]).index
    for name in filter(cells.columns.__contains__, schema.sensitive):
        codes, values = coded(cells[name])
        if len(values) < 2:
            continue
        found = Secret(name, 0.0, 0, 0, 0)
        for part in tabulated_in_parts(classes, codes, (classes.max() + 1, len(values)), times):
            most, all_of_it = part.max(axis=1), part.sum(axis=1)
            numbers = int(most.sum()), int(all_of_it.sum()), int(np.square(all_of_it, dtype=np.int64).sum())
            sums = (before + more for before, more in zip(found[2:], numbers, strict=True))
            found = Secret(name, max(found.surest, (most / all_of_it).max()), *sums)
        yield found


def surer(found, policy):
    """Why a secret is surer in a file than its policy allows, though it was not in the release that was measured:
    sentences."""
    for each in found:
        for cap in policy.caps:
            above = each.surest > cap.most and not same(each.surest, cap.most)
            if cap.measure == "attribute_risk" and cap.variant and above:
                yield (
                    f"In this file somebody's {each.name} can be guessed with a probability of {percent(each.surest)}, "
                    f"above the cap of {percent(cap.most)}. It is made anew, of the records in another order than was "
                    "measured."
                )


def recounted(decided, found, verdict: Verdict):
    """Return the results of a decision with the number of people whose value is certain in the file itself, as the gate
    counted it. What was withheld stays so.
    """
    counted = {each.sensitive: each.people for each in verdict.findings if isinstance(each, CertainValue)}
    results = decided.results.copy()
    of_it = (results.measure == "made_certain") & (results[SETTING] == [*decided.decision.chosen[SETTING]]).all(axis=1)
    for each in found:
        certain = counted.get(each.name, 0)
        share, low, high = guessed(certain, each.people, withholding.LIMIT)
        if share > 0:  # people of one class are certain together: as many count as one as a class has (Kish)
            alike = each.squares / each.people
            low, high = wilson(certain / alike, each.people / alike)
        if certain and withholding.few(each.right - certain, withholding.LIMIT):  # of whom the mean tells beside it
            share, low, high = np.nan, 1 / each.people, 1.0
        here = of_it & (results.target == each.name) & results.value.notna() & ~np.isclose(results.value, share)
        results.loc[here, ["value", "low", "high"]] = share, low, high
    return results
