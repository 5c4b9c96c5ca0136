"""The papers' experiments on any dataset: which evaluations, run over a store, joined. One file a paper.

An evaluation is one task of `store.run`: it is kept under the content of its inputs, so that a run that was killed
goes on where it stopped, and two notebooks that ask for the same number compute it once.
"""

from privnb.experiments.aggarwal_yu import hypertension
from privnb.experiments.askari import channels, known_attributes, leaked, priced, small_tables
from privnb.experiments.brickell_shmatikov import check_comparison, coins, data_sets, figures, others, with_and_without
from privnb.experiments.family import along, appraised, axes, family, left_out, settings_along
from privnb.experiments.li_li import asked, check_queries, count_queries, direct, pairs, partitions, study, trade_off
from privnb.experiments.profiles import PROFILES, Profile, together, weka_here
from privnb.experiments.sramka import BESIDE, absent, adversaries, gains, users

__all__ = [
    "BESIDE", "PROFILES", "Profile", "absent", "adversaries", "along", "appraised", "asked", "axes", "channels",
    "check_comparison", "check_queries", "coins", "count_queries", "data_sets", "direct", "family", "figures",
    "gains", "hypertension", "known_attributes", "leaked", "left_out", "others", "pairs", "partitions", "priced",
    "settings_along", "small_tables", "study", "together", "trade_off", "users", "weka_here", "with_and_without",
]  # fmt: skip
