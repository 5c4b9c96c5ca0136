"""What rules, trees and published models of a table give away, and what it costs to keep that back.


Source: Aggarwal and Yu (eds.) 2008, chapters 5, 8, 10, 11 and 13.
"""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number, secret_name
from privnb.evaluation.cases import Case, Question, evaluate, possible
from privnb.evaluation.parameters import numbers, numbers_within, some
from privnb.evaluation.results import Row, guessed, row, tidy
from privnb.evaluation.store import Folder
from privnb.measures.base import state
from privnb.measures.rules.found_rules import identity_errors, support_error
from privnb.measures.rules.inference_channels import blocked, channels, check_k
from privnb.measures.rules.released_items import released_items
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners.anonymous_tree import anonymous_tree
from privnb.miners.baskets import Baskets, categories
from privnb.miners.rules import ITEMS, itemsets
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.validation import Count, Share, Validated, validated
from privnb.sanitizers import FullDomain, GammaDiagonal, Mask, Mondrian, RandomizedResponse, Suppress
from privnb.sanitizers.base import Sanitizer

READ = 2_000  # itemsets: of more nobody reads all, and each way to block or hide looks at all

state(
    "tree_accuracy",
    kind="utility",
    better="higher",
    title="Right by the tree",
    sentence="How often a tree guesses the class of people whom it was not learned from.",
    source="Friedman, Wolff, Schuster, VLDB Journal 17(4), 2008",
    unit="share of people",
    baseline="the commonest class",
)
state(
    "in_small_leaves",
    kind="privacy",
    title="People in small leaves",
    sentence="Share of the people whom a tree was learned from who are in a leaf of fewer than k.",
    source="Aggarwal and Yu 2008, section 5.4.2",
    unit="share of people",
)

state("itemsets", title="Itemsets", sentence="How many itemsets are published.", format="{:,}")


@dataclass(frozen=True)
class FoundItemsets(Validated, Question):
    """Rows of `missed_itemsets`, `false_itemsets` and `support_error` of a release.

    Parameters
    ----------
    support : float
        Share of the records from which on an itemset is frequent.
    most : int
        Items of an itemset.
    """

    support: Share
    most: Count = ITEMS
    main = "missed_itemsets"

    def rows(self, case: Case) -> list[Row]:
        items = released_items(case.dataset, case.release)
        true = itemsets(Baskets.of_table(case.dataset), self.support, most=self.most)
        found = itemsets(items, self.support, most=self.most)
        false, missed = identity_errors(true, found)
        return [
            case.row("missed_itemsets", missed),
            case.row("false_itemsets", false),
            case.row("support_error", support_error(true, found)),
        ]


@validated
def with_rules(dataset: Dataset) -> Dataset:
    """The dataset. Raises NotForThisTable without categories, or a secret, and where people have several records."""
    categories(dataset.schema)
    secret_name(dataset, None)
    if dataset.schema.person:
        raise NotForThisTable(
            f"rules, trees and models count records, and people of '{dataset.name}' may have several. Choose another "
            "table."
        )
    first_number(dataset)  # there is nobody to look for without a quasi-identifier
    return dataset


@validated
def supports(text: str | float, dataset: Dataset, k: int) -> list[float]:
    """The supports that a parameter names. Those of fewer than k people are raised to k: nobody publishes an itemset
    that tells of fewer by itself. Those of more than `READ` itemsets are doubled until there are fewer: of tables of
    many columns that are nearly always the same there would be tens of thousands, of which no page ends.

    Parameters
    ----------
    text : str or float
        One share above 0 and at most 1, or several separated by commas.
    dataset : Dataset
    k : int
        From 2.

    Returns
    -------
    list of float
        Ascending.

    >>> from privnb.datasets.dataset import load
    >>> supports("0.1, 0.5", load("hypertension"), 33)
    [0.5]
    """
    found = numbers_within("SUPPORT", text, float, lambda each: 0 < each <= 1, "share above 0 and at most 1")
    least = check_k(k) / len(dataset)
    baskets = Baskets.of_table(dataset)
    return sorted({_readable(baskets, max(each, min(1.0, least))) for each in found})


def _readable(baskets: Baskets, support: float) -> float:
    """The least of a support, its double, and so on, that leaves at most `READ` itemsets: 1 if no other one does."""
    while support < 1:
        with contextlib.suppress(NotForThisTable):  # of far too many
            if len(itemsets(baskets, support)) <= READ:
                break
        support = min(1.0, 2 * support)
    return support


def tree_bounds(text: str) -> list[int]:
    """The k of trees, ascending: a list of whole numbers from 2."""
    return sorted(numbers_within("K_TREE", text, int, lambda each: each >= 2, "whole number from 2"))


@validated
def rule_releases(dataset: Dataset, k: int = 10, epsilon: str | float = "3, 8") -> list[Sanitizer]:
    """Releases to mine: two that generalize, and three kinds with noise by a public law, as far as the table has them.

    Parameters
    ----------
    dataset : Dataset
    k : int
        Of those that generalize, from 2.
    epsilon : str
        Of those with noise, one number above 0 or several separated by commas: per record, as far as its
        quasi-identifiers of categories go.

    Returns
    -------
    list of Sanitizer
        The last is `Suppress`, which stands for what a reader knows without a release.
    """
    schema, made = dataset.schema, [Mondrian(KAnonymity(k)), FullDomain(KAnonymity(k))]
    attributes = max(1, sum(not schema[name].numeric for name in schema.quasi_identifiers))
    for each in numbers("EPSILON_RULES", epsilon, float):
        # Randomized response spends its epsilon per attribute, the others theirs per record.
        made += [RandomizedResponse(round(each / attributes, 4)), Mask(each), GammaDiagonal(each)]
    return [*possible(dataset, made), Suppress()]


@validated
def releases_mined(
    dataset: Dataset, releases: Sequence[Sanitizer], support: Share, *, store: Folder = ""
) -> pd.DataFrame:
    """How well the itemsets of the table are found in releases of it.

    Parameters
    ----------
    dataset : Dataset
    releases : list of Sanitizer
        As of `rule_releases`.
    support : float
        From which share of the records on an itemset is frequent.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `FoundItemsets`.
    """
    return evaluate(dataset, releases, measures=[FoundItemsets(support)], store=store)


@validated
def open_channels(dataset: Dataset, support: Sequence[float], *, k: int = 10) -> pd.DataFrame:
    """How many groups of fewer than k people follow from the frequent itemsets of a table, and what blocking them adds.

    Parameters
    ----------
    dataset : Dataset
    support : list of float
        From which share of the records on an itemset is published.
    k : int
        From 2.

    Returns
    -------
    DataFrame
        Of each support, in `bound`, rows `inference_channels`, `itemsets` and `support_added`.
    """
    check_k(k)
    baskets, found = Baskets.of_table(dataset), []
    for each in some("support", support):
        published = itemsets(baskets, each)
        tag = {
            "dataset": dataset.name, "sanitizer": "frequent itemsets", "parameters": f"support={each:.2g}",
            "parameter": "support", "bound": round(each, 6),
        }  # fmt: skip
        found.append(row("itemsets", len(published) - 1, **tag))
        found.append(row("inference_channels", len(channels(published, k)), **tag))
        raised = blocked(published, k)
        added = [raised[items] / count - 1 for items, count in published.items()]
        found.append(row("support_added", float(np.mean(added)), **tag))
    return tidy(found)


@validated
def trees(dataset: Dataset, ks: Sequence[int], *, few: Count = 10, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """What a tree is worth that tells of no fewer than k people, beside one that may tell of anybody.

    Learned from a random half of the people, and tried on the other.

    Parameters
    ----------
    dataset : Dataset
    ks : list of int
        From 2; those of which the half has enough people.
    few : int
        A leaf of fewer people is small.
    fewest : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        By `bound`, 1 for the tree without one: `tree_accuracy` and `in_small_leaves`.
    """
    expect.whole("few", few, 1)
    secret, found = secret_name(dataset, None), []
    learned, others = dataset.split(0.5, rng=1)
    truth = np.asarray(others.cells[secret].astype(str))
    common = Counter(learned.cells[secret].astype(str).tolist()).most_common(1)[0][0]
    before = withholding.Counted(int((truth == common).sum()), len(truth))
    for k in (1, *(each for each in some("ks", ks) if each <= len(learned))):
        tree = anonymous_tree(learned, secret, k)
        right = int((tree.predict(others) == truth).sum())
        small = sum(leaf.people for leaf in tree.root.leaves if leaf.people < few)
        tag = {
            "dataset": dataset.name, "sanitizer": "tree" if k == 1 else "k-anonymous tree",
            "parameters": "" if k == 1 else f"k={k}", "parameter": "" if k == 1 else "k", "bound": k, "target": secret,
            "fewest": fewest,
        }  # fmt: skip
        found.append(row("tree_accuracy", guessed(right, len(truth)), baseline=before, **tag))
        found.append(row("in_small_leaves", withholding.Counted(small, len(learned)), **tag))
    return tidy(found)


@validated
def examples_known(dataset: Dataset, examples: int) -> int:
    """Of how many people an adversary knows the secret: of so many, or of a tenth of the table, if that is fewer.

    Parameters
    ----------
    dataset : Dataset
    examples : int
        From 2.

    Returns
    -------
    int
    """
    expect.whole("EXAMPLES", examples, 2)
    return max(2, min(examples, len(dataset) // 10))
