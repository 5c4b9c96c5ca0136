"""Which sanitizer the rule of Sramka et al. chooses, and whom that leaves linkable."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.evaluation.combinations import FLOOR, Floor
from privnb.evaluation.results import Results, over_seeds, setting_name
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import WORST, most_often, named, of, same_release, settings
from privnb.runtime.sentences import listed
from privnb.runtime.tolerances import ROUNDING

NO_CHOICE = (
    "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing to choose. Lower "
    "MIN_GOOD, or try others."
)


@of_results("chosen", otherwise=NO_CHOICE)
def owner_choice(chosen: Results, links: Results, floor: Floor = FLOOR) -> Iterator[Part]:
    """Which sanitizer the paper's rule leads to in each scenario, under which criteria and seeds that stays, how far
    the others lie, and whom the choice leaves linkable.

    Parameters
    ----------
    chosen : DataFrame
        Of `owner_choice.chosen`.
    links : DataFrame
        Rows `reidentification_rate` of `evaluation.linked`, and those of `evaluation.combinations`.
    floor : int
        So many people are to share every published combination of quasi-identifiers.
    """
    chosen, links = named(chosen), over_seeds(links)
    picks: dict[str, Any] = {}
    for feared, part in most_often(of(chosen, "chosen")).groupby("scenario", sort=False):
        first = part.set_index("criterion", drop=False)
        if WORST in first.index:
            picks[feared] = first.loc[WORST]
            yield from _chosen(feared, first, of(chosen, "excess_over_choice", scenario=feared))
        else:
            yield f"Scenario {feared}: by the worst miner too few people are hit to compare."
    rows = {setting_name(row): row for row in picks.values()}
    if len(rows) > 1:
        yield "The choice depends on the scenario: on what the owner fears."
    elif len(picks) > 1:
        yield f"The choice is the same in scenarios {listed([*picks])}."
    for name, row in rows.items():
        yield from _linkable(name, same_release(links, row), of(links, "reidentification_rate"), floor)
    yield (
        "Only the sanitizers that were run and keep enough good utility were compared, and only these miners attacked. "
        "That no attack is found is not safety: other miners, and people who know more, remain."
    )


def _linkable(name: str, here: pd.DataFrame, rates: pd.DataFrame, floor: int) -> Iterator[Finding]:
    """What a choice of the paper's rule leaves linkable: it asks for nearer predictions alone."""
    smallest = of(here, "smallest_combination")
    known = {"original": rates[rates.sanitizer == "Identity"]}
    known |= {"who share the rarest combination of quasi-identifiers": smallest}
    known = {name: Finding.of(rows.iloc[0]).number for name, rows in known.items() if len(rows)}
    note = "The rule does not ask for that, and is no recommendation."
    if not (smallest.value.fillna(smallest.low) >= floor).all():
        note = f"That is below the floor of {floor} people: it is not recommended, whatever the rule says."
    for _, each in of(here, "reidentification_rate").iterrows():
        subject = f"With {name}, the rule's choice, a neighbour finds the row of"
        yield Finding.of(each, subject, guess="a row at random", beside=known, setting="", note=note)


def _chosen(feared: str, first: pd.DataFrame, others: pd.DataFrame) -> Iterator[Finding]:
    """One scenario: the choice by the worst miner, by which other criteria it stays, and how far the others lie.

    `first`: by criterion, what that chooses most often.
    """
    row = first.loc[WORST]
    away: dict[str, list[str]] = {}
    for each in first.drop(WORST).itertuples():
        away.setdefault(setting_name(each), []).append(each.criterion)
    pick = setting_name(row)
    agree = len(away.pop(pick, []))
    known, few = others.dropna(subset="value"), others[others.value.isna()]
    alone = len(known) > 0 and known.low.isna().all()  # a withheld margin has no interval either
    tied = known.low.fillna(known.value) <= ROUNDING  # one seed has no interval
    stands_by = {"other criteria that choose the same": f"{agree} of {len(first) - 1}"} if len(first) > 1 else {}
    stands_by |= {f"{choice} instead": f"by {listed(criteria)}" for choice, criteria in away.items()}
    for said, rows in {"not distinguishable from it": known[tied], "withheld, as few people are hit": few}.items():
        stands_by |= {said: settings(rows)} if len(rows) else {}
    note = "One seed: other noise and order may lead elsewhere." if alone else ""
    yield Finding(
        f"Scenario {feared}: by the worst miner the paper's rule chooses {pick}, in",
        1 if alone else row.value,
        format="one seed" if alone else "{:.0%} of the seeds",
        beside=stands_by,
        note=note if len(others) else "No other sanitizer keeps enough good utility.",
    )
    # It counts people, but in scenario W, where the owner may have weighted them.
    subject, format = "more people for whom the worst miner comes nearer", "{:,.0f} people"
    if feared == "W":
        subject, format = "more by the owner's weights for the worst miner", "{:,.1f}"
    for _, best in known[~tied].nsmallest(1, "value").iterrows():
        yield Finding.of(best, f"Scenario {feared}: {subject}, at least", format=format)
