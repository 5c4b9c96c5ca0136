"""Functions that change records as little as possible so that sensitive rules are no longer found in them.

The functions publish baskets, or rules mined from these, and not a table with a schema. The functions take and return
baskets and are not sanitizers: attacks on a person's row and classes of people do not apply to them. The functions
delete items, add some (1.a) or block cells, and `measures.rule_hiding` reports their effect on the other rules.

The chapter is missing from the text of the book that was available. Each method follows its own paper, and notes where
the paper is not explicit. Hiding rules with the least change is NP-hard (Atallah et al. 1999).

Source: Aggarwal and Yu 2008, chapter 11 and section 10.3.
"""

from privnb.sanitizers.tables_and_rules.rule_hiding.exact import hide_exactly
from privnb.sanitizers.tables_and_rules.rule_hiding.heuristics import HIDING_METHODS, block, hide

__all__ = ["HIDING_METHODS", "block", "hide", "hide_exactly"]
