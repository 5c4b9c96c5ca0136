"""k-anonymity as a channel, by listing every small table: exact, and the measure of Askari et al. 2012's formulas."""

from privnb.papers.askari_2012.enumeration.errata import ages, appendix, errata, section_5, uniform
from privnb.papers.askari_2012.enumeration.full_domain import SmallDomains
from privnb.papers.askari_2012.enumeration.tables import (
    Tables,
    number_of_anonymous_tables,
    number_of_originals,
    number_of_tables,
)

__all__ = [
    "SmallDomains", "Tables", "ages", "appendix", "errata", "number_of_anonymous_tables", "number_of_originals",
    "number_of_tables", "section_5", "uniform",
]  # fmt: skip
