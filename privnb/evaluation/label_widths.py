"""The widths of the labels of a release: the part of the domain that a typical label of each column covers."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from privnb.measures.utility.mining import label_lengths
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.schema import Numbers

WHOLE = 1 - 1e-9  # the width of a label that covers the whole domain, but for rounding


class LabelWidth(NamedTuple):
    """The labels of one quasi-identifier.

    `typical` is the median, over rows, of the length of the interval in the `unit` of the column or, for categories, of
    the number of values that a label covers; `domain` is the same for a label that covers the whole domain.
    `covers_all` is the share of rows, from 0 to 1, whose label covers the whole domain.
    """

    column: str
    unit: str
    typical: float
    domain: float
    covers_all: float


def measure_label_widths(release: Release) -> list[LabelWidth]:
    """Return the widths of the labels of each quasi-identifier with labels, in the order of the schema.

    Columns whose cells are not labels, such as noisy columns, are left out.

    Examples
    --------
    >>> from privnb import KMember, load
    >>> release = KMember(3).sanitize(load("twelve"), rng=1)
    >>> width = measure_label_widths(release)[0]
    >>> width.typical, width.domain, width.covers_all
    (15.5, 40.0, 0.0)
    """
    return [*_widths(release)]


def _widths(release: Release) -> Iterator[LabelWidth]:
    for name in release.labelled:
        attribute, hierarchy = release.schema[name], release.hierarchies[name]
        labels = np.asarray(release.table[name], dtype=object)
        distinct, times = np.unique(labels.astype(str), return_counts=True)
        whole = np.array([hierarchy.width(label) >= WHOLE for label in distinct])
        numeric = isinstance(attribute.domain, Numbers)
        lengths = label_lengths(labels, hierarchy, numeric=numeric)
        [domain] = label_lengths([SUPPRESSED], hierarchy, numeric=numeric)
        covers_all = float(times[whole].sum() / len(labels))
        yield LabelWidth(name, attribute.unit if numeric else "", float(np.median(lengths)), float(domain), covers_all)
