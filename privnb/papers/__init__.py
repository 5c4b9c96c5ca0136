"""What each paper ran and printed, its errata, and the ledger. One file or folder a paper.

An evaluation is one task of `store.run`: it is kept under the content of its inputs, so that a run that was killed
goes on where it stopped, and two notebooks that ask for the same number compute it once.
"""

from privnb.papers.aggarwal_yu_2008.hypertension import hypertension, hypertension_results
from privnb.papers.aggarwal_yu_2008.worked_examples import worked_examples
from privnb.papers.askari_2012.study import channels, known_attributes, leaked, priced, small_tables
from privnb.papers.brickell_shmatikov_2008 import check_comparison, coins, data_sets, figures, others, with_and_without
from privnb.papers.li_li_2009.study import asked, check_queries, count_queries, direct, pairs, partitions, trade_off

__all__ = [
    "asked", "channels", "check_comparison", "check_queries", "coins", "count_queries", "data_sets", "direct",
    "figures", "hypertension", "hypertension_results", "known_attributes", "leaked", "others", "pairs",
    "partitions", "priced", "small_tables", "trade_off", "with_and_without", "worked_examples",
]  # fmt: skip
