"""Experiments of the pages on any table, over a store."""

from privnb.evaluation.experiments.hidden_rules import rules_hidden, sensitive_rules
from privnb.evaluation.experiments.noise_removal import (
    deviations,
    enough,
    hit,
    known_people,
    made_up_noise,
    masking_noise_removed,
    noise_removed,
    rotation_undone,
)
from privnb.evaluation.experiments.own_wishes import check_breach, check_ks, guards, own_k, wishing, with_wishes
from privnb.evaluation.experiments.perturbation import compared, mapped, masking_scores, perturbing, with_numbers
from privnb.evaluation.experiments.reconstruction import reconstructions
from privnb.evaluation.experiments.results_of_mining import (
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
from privnb.evaluation.experiments.tables_of_counts import tables_published
from privnb.evaluation.experiments.users_and_adversaries import (
    absent,
    adversaries,
    check_adversaries,
    gains,
    guessed,
    users,
)

__all__ = [
    "absent", "adversaries", "check_adversaries", "check_breach", "check_ks", "compared", "deviations", "enough",
    "examples_known", "gains", "guards", "guessed", "hit", "known_people", "made_up_noise", "mapped",
    "masking_noise_removed", "masking_scores", "models_published", "noise_removed", "open_channels", "own_k",
    "perturbing", "reconstructions", "releases_mined", "rotation_undone", "rule_releases", "rules_hidden",
    "sensitive_rules", "supports", "tables_published", "tree_bounds", "trees", "users", "wishing", "with_numbers",
    "with_rules", "with_wishes",
]  # fmt: skip
