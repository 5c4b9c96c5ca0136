"""Weka's own miners behind the two methods of `miners.Miner`: an extra that nothing imports unless asked.

It takes Java (`apt-get install default-jre-headless`), Weka's jar (Debian's package `weka` installs 3.6.14, the line
of Sramka et al. 2010) and the Python package jpype1. Weka itself is under the GPL. All miners share one Java machine,
which starts with the first of them, has 2 GB as in the paper, and ends with Python; it does not survive a fork.

The papers' reading of a release: numbers are numeric, every published text is a nominal value, the class stands last.
The order of the records, and of nominal values (the encoding's, sorted), decides ties, so it is part of the result.
"""

from privnb.miners.weka.java import Refused, Unavailable, Unfinished, find_jar, missing, version
from privnb.miners.weka.miners import (
    CATEGORICAL,
    NUMERICAL,
    SECONDS,
    SETS,
    THREE,
    Header,
    WekaMiner,
    bare,
    is_weka,
    known,
    named,
    reference_set,
    unversioned,
)

__all__ = [
    "CATEGORICAL", "NUMERICAL", "SECONDS", "SETS", "THREE", "Header", "Refused", "Unavailable", "Unfinished",
    "WekaMiner", "bare", "find_jar", "is_weka", "known", "missing", "named", "reference_set", "unversioned", "version",
]  # fmt: skip
