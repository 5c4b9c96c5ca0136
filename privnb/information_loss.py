"""What a generalization costs, from published labels alone."""

import numpy as np
import pandas as pd


def certainty_penalty(release):
    """Mean share of its attribute's line of values that a released quasi-identifier cell still spans.

    0: every cell is exact; 1: every cell is suppressed; lower keeps more. Numbers: interval width / domain width;
    taxonomies: (leaves covered - 1) / (leaves - 1). Raises ValueError for a noisy release, whose cells are exact but
    wrong. Source: Xu et al., "Utility-Based Anonymization Using Local Recoding", KDD 2006 (NCP), averaged over cells.
    """
    if release.provenance.noisy:
        raise ValueError(f"{release.provenance.sanitizer} generalizes nothing; see `displacement`.")
    return float(np.mean([_spans(release, name).mean() for name in release.schema.quasi_identifiers]))


def displacement(dataset, release):
    """Mean distance of a noisy number from the truth, as a share of its public domain's width.

    0: nothing moved; above 1: further on average than the domain is wide. Raises ValueError without noisy columns.
    """
    if not release.provenance.noisy:
        raise ValueError(f"{release.provenance.sanitizer} adds no noise; see `certainty_penalty`.")
    moved = [
        np.abs(release.table[name] - dataset.table[name]).mean() / dataset.schema[name].domain.width
        for name in release.provenance.noisy
    ]
    return float(np.mean(moved))


def _spans(release, name):
    """Share of the line that each cell of a column spans, float array (n,)."""
    codes, labels = pd.factorize(release.table[name].astype(str))
    generalization = release.hierarchies[name]
    first, last = np.array([generalization.cover(label) for label in labels]).T
    widest = generalization.cover("*")[1]
    return ((last - first) / max(widest, 1))[codes]
