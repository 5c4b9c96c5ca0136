"""Altair charts from aggregates and tidy results; they see nothing else. Each is titled with what it shows."""

from privnb.charts.adversary import gains, hit, spans
from privnb.charts.base import COLOURS, FEWEST, V5, WIDTH, Aggregate, merge_small, setup
from privnb.charts.frontier import frontier
from privnb.charts.measures import bars, dots, lines
from privnb.charts.owner import choices, declines
from privnb.charts.people import people, uniqueness
from privnb.charts.tables import table

__all__ = [
    "COLOURS", "FEWEST", "V5", "WIDTH", "Aggregate", "bars", "choices", "declines", "dots", "frontier", "gains", "hit",
    "lines", "merge_small", "people", "setup", "spans", "table", "uniqueness",
]  # fmt: skip
