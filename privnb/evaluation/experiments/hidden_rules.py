"""Rules about a secret hidden by every way there is, and what that does to the other rules.

Source: Aggarwal and Yu (eds.) 2008, sections 8.3, 8.4 and 10.3, and chapter 11.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from privnb.attacks.inference.unknown_filling import filled, rightly_filled
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.results import row, tidy
from privnb.measures.base import state
from privnb.measures.rules.rule_hiding import dissimilarity, side_effects, sure_rules
from privnb.miners.baskets import Baskets, item
from privnb.miners.rules import Rule, itemsets, rules
from privnb.runtime import expect
from privnb.runtime.validation import Count, Share, validated
from privnb.sanitizers.tables_and_rules.rule_hiding import WAYS, block, hide, hide_exactly

CONFIDENCE = 0.5  # of the rules
EXACT, BLOCKING = "exact program", "blocking"
FILLED = "filled in"

state(
    "cells_changed",
    kind="utility",
    title="Items changed",
    sentence="Share of the items in the records that are deleted, added or blocked.",
    source="Aggarwal and Yu 2008, section 10.3",
    unit="share of items",
    format="{:%}",
)
state(
    "cells_filled",
    kind="privacy",
    title="Blocked cells filled in rightly",
    sentence="Share of the blocked cells that an adversary guesses rightly by the other items of the record.",
    source="this package",
    unit="share of blocked cells",
    format="{:%}",
    baseline="the commoner answer",
)
state(
    "optimality_gap",
    better="lower",
    bounds=(0, float("inf")),
    format="{:%}",
    sentence="By which share fewer deletions may do than the exact program found.",
    source="scipy.optimize.milp",
)


@validated
def sensitive_rules(dataset: Dataset, support: Share, *, number: Count = 10) -> list[Rule]:
    """The rules that an owner would hide: those that end in a value of the secret, and not in its commonest one.

    The secret is the first sensitive attribute.

    Parameters
    ----------
    dataset : Dataset
    support : float
        Above 0, at most 1.
    number : int
        So many, of the largest support.

    Returns
    -------
    list of Rule
        Of the commonest value where no other has any; empty where it has none, either.
    """
    expect.whole("number", number, 1)
    secret = secret_name(dataset, None)
    baskets = Baskets.of_table(dataset)
    found = rules(itemsets(baskets, support), CONFIDENCE)
    values = Counter(dataset.cells[secret].astype(str).tolist()).most_common()
    common = item(secret, values[0][0])
    ends = {item(secret, value) for value, _ in values}
    about = [rule for rule in found if len(rule.right) == 1 and rule.right <= ends]
    chosen = [rule for rule in about if common not in rule.right] or about
    return sorted(chosen, key=lambda rule: (-found[rule].count, str(rule)))[:number]


@validated
def rules_hidden(dataset: Dataset, to_hide: Sequence[Rule], support: Share) -> pd.DataFrame:
    """What each way to hide rules does to them and to the others.

    Parameters
    ----------
    dataset : Dataset
    to_hide : list of Rule
        As of `sensitive_rules`.
    support : float
        From which a rule is found.

    Returns
    -------
    DataFrame
        By `sanitizer`, the way: `hiding_failure`, `misses_cost`, `artifactual_patterns`, `dissimilarity` and
        `cells_changed`; of blocking also `cells_filled`, and the rows of `variant` "filled in": after an adversary
        guessed the blocked cells. None where there are no sensitive rules.
    """
    expect.all_of("to_hide", to_hide, Rule, instead="`sensitive_rules` gives them.")
    if not to_hide:
        return tidy([])
    baskets = Baskets.of_table(dataset)
    before = sure_rules(baskets, support, CONFIDENCE)
    at: dict[str, Any] = {"support": support, "confidence": CONFIDENCE}
    made = {way: hide(baskets, to_hide, way=way, rng=1, **at) for way in WAYS}
    made[BLOCKING] = block(baskets, to_hide, **at)
    exact = hide_exactly(baskets, to_hide, support=support)
    made[EXACT] = exact.baskets
    found = []

    def add(way: str, after: Baskets, variant: str = "") -> None:
        effects = side_effects(before, sure_rules(after, support, CONFIDENCE), to_hide)
        differs = (baskets.has != after.has) if after.unknown is None else after.unknown
        numbers = {name: getattr(effects, name) for name in ("hiding_failure", "misses_cost", "artifactual_patterns")}
        numbers["dissimilarity"] = dissimilarity(baskets, after)
        numbers["cells_changed"] = float(differs.sum() / baskets.has.sum())
        for name, value in numbers.items():
            found.append(row(name, value, dataset=dataset.name, sanitizer=way, variant=variant))

    for way, after in made.items():
        add(way, after)
    guessed = filled(made[BLOCKING], "companions")
    add(BLOCKING, guessed, FILLED)
    right, common = rightly_filled(baskets, made[BLOCKING], guessed)
    found.append(row("cells_filled", right, baseline=common, dataset=dataset.name, sanitizer=BLOCKING))
    found.append(row("optimality_gap", exact.gap, dataset=dataset.name, sanitizer=EXACT))
    return tidy(found)
