"""Altair charts of aggregates and tidy results, and of no other data. The title of each chart states what it shows."""

from privnb.reporting.charts.adversary import hit, spans
from privnb.reporting.charts.bars import bars, contributions, people, population_uniqueness, uniqueness
from privnb.reporting.charts.base import Aggregate, merge_small, setup
from privnb.reporting.charts.caps import caps, card_risks, loss_by_cap, loss_by_people, within_caps
from privnb.reporting.charts.columns import column_changes, column_table, columns
from privnb.reporting.charts.explorer import class_sizes, inside, plane
from privnb.reporting.charts.frontier import frontier, risk_utility
from privnb.reporting.charts.grid import every_number, every_setting
from privnb.reporting.charts.informed import informed_gains, strongest_attacks
from privnb.reporting.charts.lines import by_wishes, counts_known, distributions, lines
from privnb.reporting.charts.looks import COLOURS, V5, WIDTH
from privnb.reporting.charts.owner import choices, declines
from privnb.reporting.charts.ranges import dots, gains, hidden_rules, published_models, recovery
from privnb.reporting.charts.tables import efficient, table, which

__all__ = [
    "COLOURS", "V5", "WIDTH", "Aggregate", "bars", "by_wishes", "caps", "card_risks", "choices", "class_sizes",
    "column_changes", "column_table", "columns", "contributions", "counts_known", "declines", "distributions",
    "dots", "efficient", "every_number", "every_setting", "frontier", "gains", "hidden_rules", "hit",
    "informed_gains", "inside", "lines", "loss_by_cap", "loss_by_people", "merge_small", "people", "plane",
    "population_uniqueness", "published_models", "recovery",
    "risk_utility", "setup", "spans", "strongest_attacks", "table", "uniqueness", "which", "within_caps",
]  # fmt: skip
