"""Comparison of all methods that hide rules about a sensitive attribute, and of their effects on the other rules.

Source: Aggarwal and Yu (eds.) 2008, sections 8.3, 8.4 and 10.3, and chapter 11.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from privnb.attacks.inference.unknown_filling import fill_blocked, filling_accuracy
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.results import build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.rules.rule_hiding import certain_rules, dissimilarity, side_effects
from privnb.miners.baskets import Baskets, name_item
from privnb.miners.rules import Rule, itemsets, rules
from privnb.runtime import expect
from privnb.runtime.validation import Count, Share, validated
from privnb.sanitizers.tables_and_rules.rule_hiding import HIDING_METHODS, block, hide, hide_exactly

CONFIDENCE = 0.5  # the minimum confidence of a rule
EXACT, BLOCKING = "exact program", "blocking"
FILLED = "filled in"

register_measure(
    "cells_changed",
    kind="utility",
    title="Items changed",
    sentence="This is the share of the items of all records that are deleted, added or blocked.",
    source="Aggarwal and Yu 2008, section 10.3",
    unit="share of items",
    format="{:%}",
)
register_measure(
    "cells_filled",
    kind="privacy",
    title="Blocked cells guessed correctly",
    sentence="This is the share of the blocked cells that an adversary guesses correctly from the other items of the "
    "record.",
    source="this package",
    unit="share of blocked cells",
    format="{:%}",
    baseline="the commoner answer",
)
register_measure(
    "optimality_gap",
    better="lower",
    bounds=(0, float("inf")),
    format="{:%}",
    sentence="This is the share by which the smallest possible number of deletions may lie below the number that was "
    "found.",
    source="scipy.optimize.milp",
)


@validated
def find_sensitive_rules(dataset: Dataset, support: Share, *, number: Count = 10) -> list[Rule]:
    """Return the rules that an owner would hide: rules about the uncommon values of the sensitive attribute.

    The consequent of such a rule is one value of the first sensitive attribute, other than its most common value.

    Parameters
    ----------
    dataset : Dataset
    support : float
        The minimum support of a rule, above 0 and at most 1.
    number : int
        The largest number of rules to return; the rules with the largest support come first.

    Returns
    -------
    list of Rule
        The rules. If only the most common value has rules, the list contains these rules; it may also be empty.
    """
    expect.whole("number", number, 1)
    secret = choose_unknown_sensitive(dataset, None)
    baskets = Baskets.of_table(dataset)
    found = rules(itemsets(baskets, support), CONFIDENCE)
    values = Counter(dataset.cells[secret].astype(str).tolist()).most_common()
    common = name_item(secret, values[0][0])
    ends = {name_item(secret, value) for value, _ in values}
    about = [rule for rule in found if len(rule.right) == 1 and rule.right <= ends]
    chosen = [rule for rule in about if common not in rule.right] or about
    return sorted(chosen, key=lambda rule: (-found[rule].count, str(rule)))[:number]


@validated
def compare_rule_hiding(dataset: Dataset, to_hide: Sequence[Rule], support: Share) -> pd.DataFrame:
    """Measure how each method of rule hiding changes the hidden rules and the other rules.

    Parameters
    ----------
    dataset : Dataset
    to_hide : list of Rule
        The rules to hide, such as those of `find_sensitive_rules`.
    support : float
        The minimum support of a rule, above 0 and at most 1.

    Returns
    -------
    DataFrame
        Rows by method, in the column `sanitizer`: `hiding_failure`, `misses_cost`, `artifactual_patterns`,
        `dissimilarity` and `cells_changed`. Blocking also has the row `cells_filled`, and rows of `variant`
        "filled in", which are measured after an adversary guessed the blocked cells. The exact program also has the
        row `optimality_gap`. The table is empty if there are no rules to hide.
    """
    expect.all_of("to_hide", to_hide, Rule, instead="`find_sensitive_rules` gives them.")
    if not to_hide:
        return tidy([])
    baskets = Baskets.of_table(dataset)
    before = certain_rules(baskets, support, CONFIDENCE)
    at: dict[str, Any] = {"support": support, "confidence": CONFIDENCE}
    made = {way: hide(baskets, to_hide, way=way, rng=1, **at) for way in HIDING_METHODS}
    made[BLOCKING] = block(baskets, to_hide, **at)
    exact = hide_exactly(baskets, to_hide, support=support)
    made[EXACT] = exact.baskets
    found = []

    def add(way: str, after: Baskets, variant: str = "") -> None:
        effects = side_effects(before, certain_rules(after, support, CONFIDENCE), to_hide)
        differs = (baskets.has != after.has) if after.unknown is None else after.unknown
        numbers = {name: getattr(effects, name) for name in ("hiding_failure", "misses_cost", "artifactual_patterns")}
        numbers["dissimilarity"] = dissimilarity(baskets, after)
        numbers["cells_changed"] = float(differs.sum() / baskets.has.sum())
        for name, value in numbers.items():
            found.append(build_row(name, value, dataset=dataset.name, sanitizer=way, variant=variant))

    for way, after in made.items():
        add(way, after)
    guessed = fill_blocked(made[BLOCKING], "companions")
    add(BLOCKING, guessed, FILLED)
    right, common = filling_accuracy(baskets, made[BLOCKING], guessed)
    found.append(build_row("cells_filled", right, baseline=common, dataset=dataset.name, sanitizer=BLOCKING))
    found.append(build_row("optimality_gap", exact.gap, dataset=dataset.name, sanitizer=EXACT))
    return tidy(found)
