"""Altair charts from aggregates and tidy results; they see nothing else. Each is titled with what it shows."""

from privnb.reporting.charts.adversary import hit, spans
from privnb.reporting.charts.base import Aggregate, merge_small, setup
from privnb.reporting.charts.caps import caps, within_caps
from privnb.reporting.charts.card_risks import card_risks
from privnb.reporting.charts.decision import efficient, summary, which
from privnb.reporting.charts.distributions import distributions
from privnb.reporting.charts.explorer import class_sizes, inside, plane
from privnb.reporting.charts.frontier import frontier
from privnb.reporting.charts.given_away import counts_known, hidden_rules, published_models
from privnb.reporting.charts.grid import every_number, every_setting
from privnb.reporting.charts.looks import COLOURS, V5, WIDTH
from privnb.reporting.charts.measures import bars, dots, lines
from privnb.reporting.charts.own_wishes import by_wishes
from privnb.reporting.charts.owner import choices, declines
from privnb.reporting.charts.people import people, uniqueness
from privnb.reporting.charts.predictions import gains
from privnb.reporting.charts.recovery import recovery
from privnb.reporting.charts.risk_utility import risk_utility
from privnb.reporting.charts.tables import table

__all__ = [
    "COLOURS", "V5", "WIDTH", "Aggregate", "bars", "by_wishes", "caps", "card_risks", "choices", "class_sizes",
    "counts_known", "declines", "distributions", "dots", "efficient", "every_number", "every_setting", "frontier",
    "gains", "hidden_rules", "hit", "inside", "lines", "merge_small", "people", "plane", "published_models",
    "recovery", "risk_utility", "setup", "spans", "summary", "table", "uniqueness", "which", "within_caps",
]  # fmt: skip
