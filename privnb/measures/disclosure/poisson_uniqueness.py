"""Uniqueness in a population by a Poisson log-linear model of the cells of the table."""

from collections.abc import Sequence

import numpy as np

from privnb.measures.disclosure.dependence import mutual_informations, strongest_tree
from privnb.microdata.counts import group_codes, tabulate
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray


def cell_shares(columns: Sequence[IntArray], times: IntArray | None = None) -> FloatArray:
    """Return the share of people that a log-linear model expects in each row's cell, as a float array (n,).

    The model preserves the counts of each column, and of each pair of columns in the tree of the strongest dependences.
    The model is decomposable, so the fit has a closed form: the product, over the columns, of the share of the value
    given the value of the parent column.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.

    Source: Bishop, Fienberg and Holland, Discrete Multivariate Analysis, 1975, chapter 3; Chow and Liu, IEEE TIT 14,
    1968.

    Examples
    --------
    >>> cell_shares([np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])]).round(4).tolist()
    [0.25, 0.5, 0.5, 0.25]
    """
    shares = np.ones(len(columns[0]))
    for column, parent in strongest_tree(mutual_informations(columns, times)):
        above = np.zeros_like(columns[column]) if parent is None else columns[parent]
        shape = int(above.max(initial=0)) + 1, int(columns[column].max(initial=0)) + 1
        counts = tabulate(above, columns[column], shape, times)
        shares *= (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[above, columns[column]]
    return shares


def poisson_uniqueness(columns: Sequence[IntArray], fraction: float, times: IntArray | None = None) -> float:
    """Return the share of unique people in a population, estimated by a Poisson log-linear model of a sample.

    The number of people of the population in a cell has a Poisson distribution with the mean lambda = N times the
    cell's share (see `cell_shares`). If exactly one person in a cell is in the sample, the probability that nobody else
    in the population is in the cell is exp(-(1 - f) lambda). The estimate is the sum of these probabilities over the
    unique people in the sample, divided by n.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    fraction : float
        The share f of the population that is in the sample, above 0 and below 1.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.

    Returns
    -------
    float
        The estimated share, from 0 to 1; lower protects more.

    Source: Skinner and Holmes, "Estimating the re-identification risk per record in microdata", Journal of Official
    Statistics 14(4), 1998; Elamir and Skinner, "Record level measures of disclosure risk for survey microdata",
    Journal of Official Statistics 22(3), 2006.

    Examples
    --------
    >>> round(poisson_uniqueness([np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])], 0.5), 4)
    0.1839
    """
    expect.between("fraction", fraction, 0, 1, "a sample is a part of the population")
    first, row = group_codes(columns, [int(codes.max(initial=0)) + 1 for codes in columns])
    sizes = np.bincount(row, times)
    distinct = [codes[first] for codes in columns]
    expected = sizes.sum() / fraction * cell_shares(distinct, sizes.astype(np.int64))
    alone = sizes == 1
    return float(np.exp(-(1 - fraction) * expected[alone]).sum() / sizes.sum())
