"""Answering queries one by one: how many limits on their sets allow, and what a denied one tells.

Source: Dobkin, Jones, Lipton, "Secure Databases: Protection Against User Influence", TODS 4(1), 1979; Kenthapadi,
Mishra, Nissim, "Simulatable Auditing", PODS 2005; Aggarwal and Yu 2008, section 2.5.3 and chapter 17.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from privnb.measures.count_tables.totals import Total, check, disclosed
from privnb.runtime import expect


def most_answers(k, m, known):
    """How many sums may be answered before a value can follow, whatever their sets: (2k - (known + 1)) / m.

    A lower number allows less. It holds of queries of at least k records each, of which two share at most m.

    Parameters
    ----------
    k : int
        From 1.
    m : int
        From 1.
    known : int
        Values that an adversary knows, from 0.

    Returns
    -------
    float
        Not below 0.

    Source: Dobkin, Jones, Lipton, TODS 4(1), 1979; Aggarwal and Yu 2008, section 2.5.3, which prints "size at most k":
    the bound needs at least k.

    >>> most_answers(10, 1, 0), most_answers(50, 5, 3), most_answers(100, 2, 0)
    (19.0, 19.2, 99.5)
    """
    expect.whole("k", k, 1)
    expect.whole("m", m, 1)
    expect.whole("known", known, 0)
    return max(0.0, (2 * k - (known + 1)) / m)


class Denial(NamedTuple):
    """`denied`: whether an auditor that may not look at the answer denies, which tells nothing; `tells`: the values
    that follow where one that looks at the answer denies, a list of `Followed`."""

    denied: bool
    tells: list


def denial(answered, names):
    """What it tells to deny the maximum of some values, after others were answered.

    An auditor that looks at the true answer denies where it would disclose a value. Whoever asks tries each answer that
    agrees with those before, and learns that it is one of those that are denied. One that denies where any such answer
    discloses (a simulatable auditor) decides from what is known already.

    Parameters
    ----------
    answered : list of Total
        Maxima.
    names : frozenset of str
        Whose maximum is asked for.

    Returns
    -------
    Denial

    Source: Kenthapadi, Mishra, Nissim, PODS 2005, section 2.2; Aggarwal and Yu 2008, section 2.5.3.

    >>> nine = Total("max of a, b, c", frozenset("abc"), 9, "max")
    >>> after = denial([nine], frozenset("ab"))
    >>> after.denied, [(each.name, int(each.value)) for each in after.tells]
    (True, [('c', 9)])
    """
    check(answered)
    if other := [total.name for total in answered if total.kind != "max"]:
        raise ValueError(f"answered must be maxima, got '{other[0]}'. Sums and minima are not tried here.")
    if not expect.kind("names", names, frozenset):
        raise ValueError("names must be a frozenset of names, one or more, got none.")
    expect.all_of("names", sorted(names, key=str), str)
    before = {each.name: each for each in disclosed(answered)}
    ends = sorted({Fraction(total.value) for total in answered}) or [Fraction(0)]
    between = [low + (high - low) * part / 3 for low, high in pairwise(ends) for part in (1, 2)]
    after_each = []
    # Answers between two ends disclose the same people, so two of each tell what all do.
    for value in sorted([ends[0] - 2, ends[0] - 1, *ends, *between, ends[-1] + 1, ends[-1] + 2]):
        try:
            after = {each.name: each for each in disclosed([*answered, Total(" asked", names, value, "max")])}
        except ValueError:  # no answer that agrees
            continue
        if after.keys() - before.keys():
            after_each.append(after)
    always = [each for each in after_each[0].values() if each.name not in before] if after_each else []
    tells = [
        each._replace(proof={name: times for name, times in each.proof.items() if name != " asked"})
        for each in always
        if all(each.name in other and other[each.name].value == each.value for other in after_each)
    ]
    return Denial(bool(after_each), tells)
