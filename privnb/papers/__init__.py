"""The ledger, and one file or folder per paper with the paper's experiments, printed numbers and errata.

Each evaluation is one task of `store.run_tasks`, which stores the result under a key that the inputs determine. An
interrupted run continues where the run stopped. A number that two notebooks need is computed once.
"""

from privnb.papers.aggarwal_yu_2008.hypertension import measure_hypertension, measure_hypertension_results
from privnb.papers.aggarwal_yu_2008.worked_examples import compute_worked_examples
from privnb.papers.askari_2012.study import (
    list_channels,
    measure_guess_values,
    measure_known_attributes,
    measure_leakage,
    measure_small_tables,
)
from privnb.papers.brickell_shmatikov_2008 import (
    check_comparison,
    compare_others,
    compare_sanitizers,
    compare_with_and_without,
    list_data_sets,
    measure_coins,
)
from privnb.papers.li_li_2009.study import (
    check_queries,
    compare_directly,
    list_partitions,
    measure_queries,
    measure_trade_off,
    pair_losses,
    select_queries,
)

__all__ = [
    "check_comparison",
    "check_queries",
    "compare_directly",
    "compare_others",
    "compare_sanitizers",
    "compare_with_and_without",
    "compute_worked_examples",
    "list_channels",
    "list_data_sets",
    "list_partitions",
    "measure_coins",
    "measure_guess_values",
    "measure_hypertension",
    "measure_hypertension_results",
    "measure_known_attributes",
    "measure_leakage",
    "measure_queries",
    "measure_small_tables",
    "measure_trade_off",
    "pair_losses",
    "select_queries",
]  # fmt: skip
