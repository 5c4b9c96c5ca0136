"""Weka's miners, with the methods of `miners.Miner`: an optional extra, which is imported only if it is used.

The extra needs Java (`apt-get install default-jre-headless`), Weka's jar (Debian's package `weka` installs 3.6.14, the
version line of Sramka et al. 2010) and the Python package jpype1. Weka is under the GPL. All miners share one Java
machine with 2 GB of memory, as in the paper. The machine starts when the first miner is used, and ends when Python
ends; it does not survive a fork of the process.

Weka reads a release as in the papers: numbers are numeric, every published text is a nominal value, and the class is
the last attribute. If several answers are equally good, Weka's choice depends on the order of the records and on the
order of the nominal values (which the encoding sorts), so these two orders affect results.
"""

from privnb.miners.weka.java import DataRefused, Unavailable, Unfinished, find_jar, list_missing_requirements, version
from privnb.miners.weka.miners import (
    BASIC,
    CATEGORICAL,
    NUMERICAL,
    SECONDS,
    SETS,
    Header,
    WekaMiner,
    find_miners_by_class,
    find_miners_by_name,
    is_weka,
    list_paper_miners,
    split_version,
    strip_weka,
)

__all__ = [
    "BASIC",
    "CATEGORICAL",
    "NUMERICAL",
    "SECONDS",
    "SETS",
    "DataRefused",
    "Header",
    "Unavailable",
    "Unfinished",
    "WekaMiner",
    "find_jar",
    "find_miners_by_class",
    "find_miners_by_name",
    "is_weka",
    "list_missing_requirements",
    "list_paper_miners",
    "split_version",
    "strip_weka",
    "version",
]  # fmt: skip
