"""Charts of the experiments and the printed numbers of the papers."""

from privnb.papers.brickell_shmatikov_2008 import check_statements
from privnb.papers.charts.channel import known_attributes, leaks
from privnb.papers.charts.tradeoff import trade_off, two_critiques
from privnb.papers.charts.twelve import cuts, lattice
from privnb.papers.charts.workload import compare_gains, compare_printed

__all__ = [
    "check_statements",
    "compare_gains",
    "compare_printed",
    "cuts",
    "known_attributes",
    "lattice",
    "leaks",
    "trade_off",
    "two_critiques",
]  # fmt: skip
