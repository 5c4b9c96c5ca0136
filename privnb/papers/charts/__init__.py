"""Charts of what the papers ran and printed."""

from privnb.papers.brickell_shmatikov_2008 import statements
from privnb.papers.charts.channel import known_attributes, leaks
from privnb.papers.charts.tradeoff import trade_off, two_critiques
from privnb.papers.charts.twelve import cuts, lattice
from privnb.papers.charts.workload import compared, printed

__all__ = [
    "compared", "cuts", "known_attributes", "lattice", "leaks", "printed", "statements", "trade_off", "two_critiques",
]  # fmt: skip
