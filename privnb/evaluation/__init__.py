"""The evaluation of releases: from a dataset, sanitizers, attacks and measures to tidy results."""

from typing import Any

from privnb.evaluation.attributes import choose_sensitive, choose_target
from privnb.evaluation.column_distributions import (
    ColumnChanges,
    measure_columns,
    measure_distributions,
)
from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, measure_combinations
from privnb.evaluation.contributions import measure_contributions
from privnb.evaluation.dataset_summary import count_people, describe, group_records, measure_uniqueness
from privnb.evaluation.disclosure.noise_recovery import Recovered
from privnb.evaluation.evaluation_loop import Question, evaluate, reorder_records
from privnb.evaluation.population_risk import measure_population_uniqueness
from privnb.evaluation.release_measures import (
    measure_adversary_gains,
    measure_information_loss,
    measure_linkage,
    measure_reference_gains,
)
from privnb.evaluation.results import join_results
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.runtime.deprecation import warn_renamed
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = [
    "MIN_CLASS_SIZE", "ColumnChanges", "Question", "Recovered", "choose_sensitive", "choose_target",
    "count_people", "describe", "evaluate", "group_records", "join_results", "measure_adversary_gains",
    "measure_columns", "measure_combinations", "measure_contributions", "measure_distributions",
    "measure_good_utility", "measure_information_loss", "measure_linkage", "measure_population_uniqueness",
    "measure_reference_gains", "measure_uniqueness", "reference_sanitizers", "reorder_records",
]  # fmt: skip

# The names of version 0.1, which this version still accepts.
RENAMED = {
    "FLOOR": "MIN_CLASS_SIZE", "adversary_gains": "measure_adversary_gains", "combinations": "measure_combinations",
    "costs": "measure_information_loss", "ends": "reference_sanitizers", "first_number": "choose_target",
    "gains_at_the_ends": "measure_reference_gains", "good_utility": "measure_good_utility", "groups": "group_records",
    "join": "join_results", "linked": "measure_linkage", "people_by": "count_people",
    "reordered": "reorder_records", "sensitive_name": "choose_sensitive", "uniqueness": "measure_uniqueness",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_renamed(name, RENAMED[name])
    return globals()[RENAMED[name]]
