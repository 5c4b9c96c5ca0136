"""How well the itemsets of a table are found in its release."""

from dataclasses import dataclass

from privnb.evaluation.cases import Case, Question
from privnb.evaluation.results import Row
from privnb.measures.rules.found_rules import identity_errors, support_error
from privnb.measures.rules.released_items import released_items
from privnb.miners.baskets import Baskets
from privnb.miners.rules import ITEMS, itemsets
from privnb.runtime.validation import Count, Share, Validated


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
