"""From a dataset, sanitizers, attacks and measures to tidy results: withheld, stored, resumed."""

from privnb.evaluation.attributes import first_number, sensitive_name
from privnb.evaluation.cases import Question, evaluate, reordered
from privnb.evaluation.combinations import FLOOR, combinations
from privnb.evaluation.disclosure.recovered import Recovered
from privnb.evaluation.people import describe, groups, people_by, uniqueness
from privnb.evaluation.releases import adversary_gains, costs, gains_at_the_ends, linked
from privnb.evaluation.results import join
from privnb.evaluation.utility.good_utility import good_utility
from privnb.sanitizers.catalogue import reference_sanitizers

ends = reference_sanitizers  # its name in notebooks that people wrote before
__all__ = [
    "FLOOR", "Question", "Recovered", "adversary_gains", "combinations", "costs", "describe", "ends", "evaluate",
    "first_number", "gains_at_the_ends", "good_utility", "groups", "join", "linked", "people_by",
    "reference_sanitizers", "reordered", "sensitive_name", "uniqueness",
]  # fmt: skip
