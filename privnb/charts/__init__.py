"""Altair charts from aggregates and tidy results; they see nothing else. Each is titled with what it shows."""

from privnb.charts.adversary import gains, hit, spans
from privnb.charts.base import COLOURS, V5, WIDTH, Aggregate, merge_small, setup
from privnb.charts.channel import known_attributes, leaks
from privnb.charts.decision import efficient, which
from privnb.charts.explorer import class_sizes, inside, plane
from privnb.charts.frontier import frontier
from privnb.charts.grid import every_number, every_setting
from privnb.charts.measures import bars, dots, lines
from privnb.charts.owner import choices, declines
from privnb.charts.people import people, uniqueness
from privnb.charts.tables import table
from privnb.charts.tradeoff import trade_off, two_critiques
from privnb.charts.workload import compared, printed, statements

__all__ = [
    "COLOURS", "V5", "WIDTH", "Aggregate", "bars", "choices", "class_sizes", "compared", "declines",
    "dots", "efficient", "every_number", "every_setting", "frontier", "gains", "hit", "inside", "known_attributes",
    "leaks", "lines", "merge_small", "people", "plane", "printed", "setup", "spans", "statements", "table",
    "trade_off", "two_critiques", "uniqueness", "which",
]  # fmt: skip
