"""Findings: plain sentences that are computed from results.

Each notebook ends with a finding. A sentence states a number, the same number for a guess without the release, and the
better direction. Each function receives tidy results and returns `sentences.Sentences`. A finding leaves out facts that
the results do not show.
"""

from privnb.reporting.findings.adversary import adversary_gains, mined_predictions
from privnb.reporting.findings.disclosed_models import disclosed_models
from privnb.reporting.findings.frontier import publication, search
from privnb.reporting.findings.informed import informed_adversaries
from privnb.reporting.findings.owner import owner_choice, utility_declines
from privnb.reporting.findings.personal_wishes import personal_wishes
from privnb.reporting.findings.perturbation import noise_removal, perturbation
from privnb.reporting.findings.policy_decision import (
    assessed_release,
    compare_with_choice,
    compared_releases,
    policy_decision,
    published_columns,
    release_card,
)
from privnb.reporting.findings.release import every_setting, one_setting, release_costs, steep_hierarchy, uniqueness

__all__ = [
    "adversary_gains",
    "assessed_release",
    "compare_with_choice",
    "compared_releases",
    "disclosed_models",
    "every_setting",
    "informed_adversaries",
    "mined_predictions",
    "noise_removal",
    "one_setting",
    "owner_choice",
    "personal_wishes",
    "perturbation",
    "policy_decision",
    "publication",
    "published_columns",
    "release_card",
    "release_costs",
    "search",
    "steep_hierarchy",
    "uniqueness",
    "utility_declines",
]  # fmt: skip
