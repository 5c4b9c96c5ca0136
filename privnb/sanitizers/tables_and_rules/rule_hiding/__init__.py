"""Functions that change records as little as possible so that sensitive rules are no longer found in these records.

The functions are for the publication of baskets, or of rules that are mined from baskets, and not of a table with a
schema. The functions take and return baskets and are not sanitizers: neither attacks on a person's row nor classes of
people apply to baskets. The functions delete items, add items (method 1.a) or block cells, and `measures.rule_hiding`
reports the effect on all other rules.

Chapter 11 is missing from the text of the book that was available. Each method therefore follows the paper that
proposed the method, and a note states where this paper is not explicit. Hiding rules with the least change is NP-hard
(Atallah et al. 1999).

Source: Aggarwal and Yu 2008, chapter 11 and section 10.3.
"""

from privnb.sanitizers.tables_and_rules.rule_hiding.exact import hide_exactly
from privnb.sanitizers.tables_and_rules.rule_hiding.heuristics import HIDING_METHODS, block, hide

__all__ = ["HIDING_METHODS", "block", "hide", "hide_exactly"]
