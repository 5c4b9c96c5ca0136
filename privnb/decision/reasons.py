"""Why a release is recommended, in one sentence: its number, and what it had to keep."""

import numpy as np
import pandas as pd

from privnb.decision.caps import check_choices
from privnb.decision.points import AXES
from privnb.decision.policy import ends
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
    names = ("that without quasi-identifiers", "the original's")
    caps, said = policy.caps(releases), []
    for axis in AXES:
        if (cap := caps[f"{axis}_cap"]) is not None:
            of, both = facts(releases[f"{axis}_measure"].iloc[0]), names if axis == "privacy" else names[::-1]
            hidden = [name for name, loss in zip(both, ends(axis, releases), strict=True) if not np.isfinite(loss)]
            way = f"{numerals.bare('{:%}', getattr(policy, axis))} of the way to {both[1]}"
            said.append(f"{of.phrase} up to {of.bare(cap)} ({f'{hidden[0]} is not known' if hidden else way})")
    return " and ".join([*said, f"at least {policy.floor} people per published combination"])


def _number(of, value, low, high):
    if pd.isna(value):
        return f"at most {of.written(high)} (withheld)"
    if not low < high:
        return f"{of.written(value)} (exact)"
    _, low, high = numerals.interval(of.format, value, low, high)
    return f"{numerals.written(of.format, value)} (95%: {low} to {high})"
