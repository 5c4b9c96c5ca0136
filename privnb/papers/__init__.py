"""The papers' experiments on any dataset: which evaluations, run over a store, joined. One file a paper.

An evaluation is one task of `store.run`: it is kept under the content of its inputs, so that a run that was killed
goes on where it stopped, and two notebooks that ask for the same number compute it once.
"""

from privnb.decision.policy_search import of_the_card, searched, searched_in_roles
from privnb.evaluation.every_sanitizer import along, appraised, axes, family, few_conditions, left_out, settings_along
from privnb.evaluation.parameters import (
    default_k,
    no_noise,
    possible_epsilon,
    predicted,
    sramka_sanitizers,
    too_large_k,
)
from privnb.evaluation.profiles import PROFILES, Profile, check_runs, together, weka_here
from privnb.evaluation.samples import record_by_record, sampled
from privnb.papers.aggarwal_yu_2008.hidden_rules import rules_hidden, sensitive_rules
from privnb.papers.aggarwal_yu_2008.hypertension import hypertension, hypertension_results
from privnb.papers.aggarwal_yu_2008.noise_removal import (
    deviations,
    enough,
    hit,
    known_people,
    made_up_noise,
    masking_noise_removed,
    noise_removed,
    rotation_undone,
)
from privnb.papers.aggarwal_yu_2008.own_wishes import check_breach, check_ks, guards, own_k, wishing, with_wishes
from privnb.papers.aggarwal_yu_2008.perturbation import compared, mapped, masking_scores, perturbing, with_numbers
from privnb.papers.aggarwal_yu_2008.reconstruction import reconstructions
from privnb.papers.aggarwal_yu_2008.results_of_mining import (
    examples_known,
    models_published,
    open_channels,
    releases_mined,
    rule_releases,
    supports,
    tree_bounds,
    trees,
    with_rules,
)
from privnb.papers.aggarwal_yu_2008.tables_of_counts import tables_published
from privnb.papers.aggarwal_yu_2008.worked_examples import worked_examples
from privnb.papers.askari_2012.study import channels, known_attributes, leaked, priced, small_tables
from privnb.papers.brickell_shmatikov_2008 import check_comparison, coins, data_sets, figures, others, with_and_without
from privnb.papers.li_li_2009.study import (
    asked,
    check_queries,
    count_queries,
    direct,
    pairs,
    partitions,
    study,
    trade_off,
)
from privnb.papers.recommended import as_they_are, decided, what_would_help
from privnb.papers.sramka_2010 import absent, adversaries, check_adversaries, gains, guessed, users

__all__ = [
    "PROFILES", "Profile", "absent", "adversaries", "along", "appraised", "as_they_are", "asked", "axes",
    "channels", "check_adversaries", "check_breach", "check_comparison", "check_ks", "check_queries", "check_runs",
    "coins", "compared", "count_queries", "data_sets", "decided", "default_k", "deviations", "direct", "enough",
    "examples_known", "family", "few_conditions", "figures", "gains", "guards", "guessed", "hit", "hypertension",
    "hypertension_results", "known_attributes", "known_people", "leaked", "left_out", "made_up_noise", "mapped",
    "masking_noise_removed", "masking_scores", "models_published", "no_noise", "noise_removed", "of_the_card",
    "open_channels", "others", "own_k", "pairs", "partitions", "perturbing", "possible_epsilon", "predicted",
    "priced", "reconstructions", "record_by_record", "releases_mined", "rotation_undone", "rule_releases",
    "rules_hidden", "sampled", "searched", "searched_in_roles",
    "sensitive_rules", "settings_along", "small_tables", "sramka_sanitizers",
    "study", "supports", "tables_published", "together", "too_large_k", "trade_off", "tree_bounds", "trees", "users",
    "weka_here", "what_would_help", "wishing", "with_and_without", "with_numbers", "with_rules", "with_wishes",
    "worked_examples",
]  # fmt: skip
