"""Why a release is recommended, in one sentence: its number, and what it had to keep."""

import pandas as pd

from privnb.decision.caps import check_choices
from privnb.decision.points import AXES
from privnb.measures.base import facts
from privnb.microdata import expect, numerals


def reason(releases, table, policy):
    """Why the release is recommended, or what would have to be accepted of one.

    Parameters
    ----------
    releases : DataFrame
        Of `points`, with the policy's floor.
    table : DataFrame
        Of `choices` under the policy's caps.
    policy : Policy

    Returns
    -------
    str
        A sentence without its end.
    """
    expect.these(releases=releases, policy=policy)
    check_choices("table", table)
    row, kept = table.iloc[0], _kept(releases, policy)
    if row.setting == "none":
        return f"none has {kept}: {row.why}"
    axis = "privacy" if policy.utility and not policy.privacy else "utility"
    of = facts(releases[f"{axis}_measure"].iloc[0])
    return f"{of.phrase} {_number(of, *row[[axis, f'{axis}_low', f'{axis}_high']])}, the least with {kept}"


def _kept(releases, policy):
    """What a release has to keep."""
    ends = {"privacy": "the original's", "utility": "that without quasi-identifiers"}
    caps, said = policy.caps(releases), []
    for axis in AXES:
        if (cap := caps[f"{axis}_cap"]) is not None:
            of, way = facts(releases[f"{axis}_measure"].iloc[0]), numerals.bare("{:%}", getattr(policy, axis))
            said.append(f"{of.phrase} up to {of.bare(cap)} ({way} of the way to {ends[axis]})")
    return " and ".join([*said, f"at least {policy.floor} people per published combination"])


def _number(of, value, low, high):
    if pd.isna(value):
        return f"at most {of.written(high)} (withheld)"
    if not low < high:
        return f"{of.written(value)} (exact)"
    _, low, high = numerals.interval(of.format, value, low, high)
    return f"{numerals.written(of.format, value)} (95%: {low} to {high})"
