"""From a dataset, sanitizers, attacks and measures to tidy results: withheld, stored, resumed."""

from privnb.evaluation.cases import Question, evaluate
from privnb.evaluation.releases import (
    adversary_gains,
    costs,
    default_k,
    describe,
    ends,
    example,
    first_number,
    gains_at_the_ends,
    good_utility,
    groups,
    left_out,
    linked,
    people_by,
    reordered,
    sensitive_name,
    settings,
    uniqueness,
)
from privnb.evaluation.results import join

__all__ = [
    "Question",
    "adversary_gains",
    "costs",
    "default_k",
    "describe",
    "ends",
    "evaluate",
    "example",
    "first_number",
    "gains_at_the_ends",
    "good_utility",
    "groups",
    "join",
    "left_out",
    "linked",
    "people_by",
    "reordered",
    "sensitive_name",
    "settings",
    "uniqueness",
]  # fmt: skip
