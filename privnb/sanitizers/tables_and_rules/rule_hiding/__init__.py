"""Change records as little as possible so that sensitive rules are no longer found in them.

What is published here is no table by a schema but baskets, or the rules that are mined of them. So these are functions
from baskets to baskets and no `Sanitizer`: no attack on a person's row and no class of people is about them. All of
them delete items, add some (1.a) or block cells, and what they did to the other rules is said by
`measures.rule_hiding`.

The book's chapter on it is lost in the text at hand; each way is built from its own paper's idea, and says where the
paper is not explicit. To hide rules with least change is NP-hard (Atallah et al. 1999).

Source: Aggarwal and Yu 2008, chapter 11 and section 10.3.
"""

from privnb.sanitizers.tables_and_rules.rule_hiding.exact import hide_exactly
from privnb.sanitizers.tables_and_rules.rule_hiding.heuristics import WAYS, block, hide

__all__ = ["WAYS", "block", "hide", "hide_exactly"]
