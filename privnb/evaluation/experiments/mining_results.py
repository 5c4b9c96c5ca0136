"""Disclosure by published rules and trees of a table, and the information loss of methods that limit this disclosure.

Source: Aggarwal and Yu (eds.) 2008, chapters 5, 8, 10, 11 and 13.
"""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_target, choose_unknown_sensitive
from privnb.evaluation.evaluation_loop import Case, Question, evaluate, select_possible
from privnb.evaluation.parameters import check_numbers, parse_numbers, parse_numbers_within
from privnb.evaluation.results import Row, build_row, estimate_share, tidy
from privnb.evaluation.store import Folder
from privnb.measures.base import register_measure
from privnb.measures.rules.found_rules import identity_errors, support_error
from privnb.measures.rules.inference_channels import block_channels, check_k, find_channels
from privnb.measures.rules.released_items import list_released_items
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners.anonymous_tree import anonymous_tree
from privnb.miners.baskets import Baskets, list_categorical
from privnb.miners.rules import MAX_ITEMS, itemsets
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.validation import Count, Share, Validated, validated
from privnb.sanitizers import MASK, FullDomain, GammaDiagonal, Mondrian, RandomizedResponse, Suppress
from privnb.sanitizers.base import Sanitizer

MAX_ITEMSETS = 2_000  # nobody reads more itemsets, and each method that blocks or hides rules reads all of them

register_measure(
    "tree_accuracy",
    kind="utility",
    better="higher",
    title="Accuracy of the tree",
    sentence="This is the share of people whose class a tree predicts correctly, among people who are not in its "
    "training data.",
    source="Friedman, Wolff, Schuster, VLDB Journal 17(4), 2008",
    unit="share of people",
    baseline="the most common class",
)
register_measure(
    "in_small_leaves",
    kind="privacy",
    title="People in small leaves",
    sentence="This is the share of people in a leaf of fewer than k people, among the people from whom the tree was "
    "learned.",
    source="Aggarwal and Yu 2008, section 5.4.2",
    unit="share of people",
)

register_measure("itemsets", title="Itemsets", sentence="This is the number of published itemsets.", format="{:,}")


@dataclass(frozen=True)
class ItemsetErrors(Validated, Question):
    """Question about `missed_itemsets`, `false_itemsets` and `support_error` of a release.

    Parameters
    ----------
    support : float
        The minimum support of a frequent itemset, as a share of the records.
    most : int
        The largest number of items in an itemset.
    """

    support: Share
    most: Count = MAX_ITEMS
    primary_measure = "missed_itemsets"

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        items = list_released_items(case.dataset, case.release)
        true = itemsets(Baskets.of_table(case.dataset), self.support, most=self.most)
        found = itemsets(items, self.support, most=self.most)
        false, missed = identity_errors(true, found)
        return [
            case.row("missed_itemsets", missed),
            case.row("false_itemsets", false),
            case.row("support_error", support_error(true, found)),
        ]


@validated
def check_table(dataset: Dataset) -> Dataset:
    """Return the dataset if rules, trees and models can be learned from its records.

    Raises
    ------
    NotForThisTable
        If the dataset has no categories, no sensitive attribute or no quasi-identifier, or if people may have several
        records.
    """
    list_categorical(dataset.schema)
    choose_unknown_sensitive(dataset, None)
    if dataset.schema.person:
        raise NotForThisTable(
            f"rules, trees and models count records, but a person in '{dataset.name}' may have several records. Choose "
            "another table."
        )
    choose_target(dataset)  # raises if there is no quasi-identifier
    return dataset


@validated
def parse_supports(text: str | float, dataset: Dataset, k: int) -> list[float]:
    """Return the minimum supports that the text of a parameter lists.

    A support below k people is raised to k people, because an itemset of fewer people discloses these people directly.
    A support that more than `MAX_ITEMSETS` itemsets reach is doubled repeatedly until at most `MAX_ITEMSETS` itemsets
    reach it, because a table with many nearly constant columns has tens of thousands of itemsets, which are too many
    for a page.

    Parameters
    ----------
    text : str or float
        One share above 0 and at most 1, or several such shares separated by commas.
    dataset : Dataset
    k : int
        The smallest number of people that an itemset may describe, at least 2.

    Returns
    -------
    list of float
        The supports in ascending order.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> parse_supports("0.1, 0.5", load("hypertension"), 33)
    [0.5]
    """
    found = parse_numbers_within("SUPPORT", text, float, lambda each: 0 < each <= 1, "share above 0 and at most 1")
    least = check_k(k) / len(dataset)
    baskets = Baskets.of_table(dataset)
    return sorted({_limit_support(baskets, max(each, min(1.0, least))) for each in found})


def _limit_support(baskets: Baskets, support: float) -> float:
    """Return the support, doubled repeatedly until at most `MAX_ITEMSETS` itemsets reach it or until it is 1."""
    while support < 1:
        with contextlib.suppress(NotForThisTable):  # far too many itemsets
            if len(itemsets(baskets, support)) <= MAX_ITEMSETS:
                break
        support = min(1.0, 2 * support)
    return support


def parse_tree_bounds(text: str) -> list[int]:
    """Return the values of k for trees that a text lists: whole numbers of at least 2, in ascending order."""
    return sorted(parse_numbers_within("K_TREE", text, int, lambda each: each >= 2, "whole number of at least 2"))


@validated
def build_rule_sanitizers(dataset: Dataset, k: int = 10, epsilon: str | float = "3, 8") -> list[Sanitizer]:
    """Return sanitizers whose releases can be mined for rules.

    Two of the sanitizers generalize, and three kinds of sanitizers add noise of a published law. Sanitizers that do not
    fit the table are left out.

    Parameters
    ----------
    dataset : Dataset
    k : int
        The k of the sanitizers that generalize, at least 2.
    epsilon : str
        The privacy budgets of the sanitizers that add noise: one number above 0, or several such numbers separated by
        commas. A budget is per record and covers the categorical quasi-identifiers of the record.

    Returns
    -------
    list of Sanitizer
        The last sanitizer is `Suppress`, which represents the knowledge of a reader without a release.
    """
    schema, made = dataset.schema, [Mondrian(KAnonymity(k)), FullDomain(KAnonymity(k))]
    attributes = max(1, sum(not schema[name].numeric for name in schema.quasi_identifiers))
    for each in parse_numbers("EPSILON_RULES", epsilon, float):
        # Randomized response spends its epsilon per attribute, the others theirs per record.
        made += [RandomizedResponse(round(each / attributes, 4)), MASK(each), GammaDiagonal(each)]
    return [*select_possible(dataset, made), Suppress()]


@validated
def mine_releases(
    dataset: Dataset, releases: Sequence[Sanitizer], support: Share, *, store: Folder = ""
) -> pd.DataFrame:
    """Measure how well the frequent itemsets of a table can be recovered from its releases.

    Parameters
    ----------
    dataset : Dataset
    releases : list of Sanitizer
        The sanitizers, such as those of `build_rule_sanitizers`.
    support : float
        The minimum support of a frequent itemset, as a share of the records.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        The rows of `ItemsetErrors`.
    """
    return evaluate(dataset, releases, measures=[ItemsetErrors(support)], store=store)


@validated
def find_inference_channels(dataset: Dataset, support: Sequence[float], *, k: int = 10) -> pd.DataFrame:
    """Count the groups of fewer than k people that published itemsets disclose, and measure the cost of blocking them.

    Parameters
    ----------
    dataset : Dataset
    support : list of float
        The minimum supports of published itemsets, as shares of the records.
    k : int
        The smallest number of people that a derived group may have, at least 2.

    Returns
    -------
    DataFrame
        The rows `inference_channels`, `itemsets` and `support_added` for each support; the support is in the column
        `bound`.
    """
    check_k(k)
    baskets, found = Baskets.of_table(dataset), []
    for each in check_numbers("support", support):
        published = itemsets(baskets, each)
        tag = {
            "dataset": dataset.name, "sanitizer": "frequent itemsets", "parameters": f"support={each:.2g}",
            "parameter": "support", "bound": round(each, 6),
        }  # fmt: skip
        found.append(build_row("itemsets", len(published) - 1, **tag))
        found.append(build_row("inference_channels", len(find_channels(published, k)), **tag))
        raised = block_channels(published, k)
        added = [raised[items] / count - 1 for items, count in published.items()]
        found.append(build_row("support_added", float(np.mean(added)), **tag))
    return tidy(found)


@validated
def compare_trees(dataset: Dataset, ks: Sequence[int], *, few: Count = 10, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Compare k-anonymous decision trees with a decision tree without a bound.

    Each tree is learned from a random half of the people and tested on the other half.

    Parameters
    ----------
    dataset : Dataset
    ks : list of int
        The k of the trees, at least 2. A k that exceeds the number of people in the training half is left out.
    few : int
        A leaf with fewer people counts as small.
    min_count : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `tree_accuracy` and `in_small_leaves` of each tree. The column `bound` holds the k of the tree, or 1
        for the tree without a bound.
    """
    expect.whole("few", few, 1)
    secret, found = choose_unknown_sensitive(dataset, None), []
    learned, others = dataset.split(0.5, rng=1)
    truth = np.asarray(others.cells[secret].astype(str))
    common = Counter(learned.cells[secret].astype(str).tolist()).most_common(1)[0][0]
    before = withholding.ReportedCount(int((truth == common).sum()), len(truth))
    for k in (1, *(each for each in check_numbers("ks", ks) if each <= len(learned))):
        tree = anonymous_tree(learned, secret, k)
        right = int((tree.predict(others) == truth).sum())
        small = sum(leaf.people for leaf in tree.root.leaves if leaf.people < few)
        tag = {
            "dataset": dataset.name, "sanitizer": "tree" if k == 1 else "k-anonymous tree",
            "parameters": "" if k == 1 else f"k={k}", "parameter": "" if k == 1 else "k", "bound": k, "target": secret,
            "min_count": min_count,
        }  # fmt: skip
        found.append(build_row("tree_accuracy", estimate_share(right, len(truth)), baseline=before, **tag))
        found.append(build_row("in_small_leaves", withholding.ReportedCount(small, len(learned)), **tag))
    return tidy(found)


@validated
def limit_examples(dataset: Dataset, examples: int) -> int:
    """Return the number of people whose sensitive value the adversary of an experiment knows.

    Parameters
    ----------
    dataset : Dataset
    examples : int
        The requested number of people, at least 2.

    Returns
    -------
    int
        The requested number or a tenth of the number of records, whichever is smaller, but at least 2.
    """
    expect.whole("EXAMPLES", examples, 2)
    return max(2, min(examples, len(dataset) // 10))
