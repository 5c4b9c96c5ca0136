"""Totals with noise: sums of values of which each person is in several, under one epsilon for all of them.

Source: Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006; Aggarwal and Yu 2008, theorem
16.10 and lemma 16.7.
"""

from collections import Counter
from fractions import Fraction

from privnb.measures.count_tables.totals import check
from privnb.runtime import expect
from privnb.sanitizers.noise.mechanisms import check_epsilon, laplace


def sensitivity(totals, width):
    """By how much all totals together change, in absolute terms added up, where one person's value does.

    Parameters
    ----------
    totals : list of Total
        Sums, whose sets say who is in them.
    width : float
        By how much one person's value can change, from the public ends of its domain; above 0.

    Returns
    -------
    float
        The width times the number of totals that hold whoever is in most of them.
    """
    check(totals)
    expect.positive("width", width)
    if other := [total.name for total in totals if total.kind != "sum"] or (not totals and ["none"]):
        raise ValueError(f"totals must be sums, one or more, got {other[0]}.")
    return width * max(Counter(name for total in totals for name in total.of).values())


def noisy_totals(totals, epsilon, width, *, rng):
    """Totals with Laplace noise, all of them together under one epsilon.

    The promise is epsilon-differential privacy for tables that differ in one person's value, and in it alone: who is in
    which total is taken as known. Of totals with noise nothing follows exactly, so that `disclosed` refuses most of
    them as contradicting each other.

    Parameters
    ----------
    totals : list of Total
        Sums, each name in them one person.
    epsilon : float
        Above 0; smaller: more noise.
    width : float
        As of `sensitivity`.
    rng : int, Generator or None
        None: OpenDP's samplers, whose noise alone may be published. A seed is for simulations.

    Returns
    -------
    list of Total
    """
    check_epsilon(epsilon)
    expect.these(rng=rng)
    scale = sensitivity(totals, width) / epsilon
    noisy = laplace([float(total.value) for total in totals], scale, rng=rng)
    return [total._replace(value=Fraction(float(value))) for total, value in zip(totals, noisy, strict=True)]
