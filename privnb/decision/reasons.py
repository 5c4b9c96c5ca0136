"""Why a release is recommended, in one sentence: its number, and what it had to keep."""

import numpy as np
import pandas as pd

from privnb.decision.by_caps import check_choices
from privnb.decision.points import AXES
from privnb.decision.policy import ends
from privnb.measures.base import facts
from privnb.runtime import expect, numerals
from privnb.runtime.numerals import percent
from privnb.runtime.tolerances import EXACT

UNSAID = "nats"  # a unit that tells people nothing: such losses are said as shares of the largest one
BARE, ORIGINAL = "that without quasi-identifiers", "the original's"
NAMES = {"privacy": (BARE, ORIGINAL), "utility": (ORIGINAL, BARE)}  # the ends of each axis, the harmless one first


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
    of, numbers = facts(releases[f"{axis}_measure"].iloc[0]), row[[axis, f"{axis}_low", f"{axis}_high"]]
    return f"{of.phrase} {_share(of, axis, releases, *numbers) or _number(of, *numbers)}, the least with {kept}"


def _kept(releases, policy):
    """What a release has to keep."""
    caps, said = policy.caps(releases), []
    for axis in AXES:
        if (cap := caps[f"{axis}_cap"]) is not None:
            of, both = facts(releases[f"{axis}_measure"].iloc[0]), NAMES[axis]
            near, far = ends(axis, releases)
            hidden = [name for name, loss in zip(both, (near, far), strict=True) if not np.isfinite(loss)]
            share = percent(getattr(policy, axis))
            if of.unit == UNSAID and not hidden and abs(near) <= EXACT:
                said.append(f"{of.phrase} up to {share} of {both[1]}")
            else:
                why = f"{hidden[0]} is not known" if hidden else f"{share} of the way to {both[1]}"
                said.append(f"{of.phrase} up to {of.bare(cap)} ({why})")
    return " and ".join([*said, f"at least {policy.floor} people per combination"])


def _share(of, axis, releases, value, low, high):
    """Which share of its far end a loss is, if its unit says nothing to people and the other end is 0; else empty."""
    near, far = ends(axis, releases)
    if of.unit != UNSAID or not np.isfinite([near, far, value]).all() or abs(near) > EXACT or not far > EXACT:
        return ""
    exact = "" if low < high else " (exact)"
    number, *bounds = numerals.interval("{:%}", value / far, low / far, high / far)
    return f"{number} of {NAMES[axis][1]}{exact or f' (95%: {bounds[0]} to {bounds[1]})'}"


def _number(of, value, low, high):
    if pd.isna(value):
        return f"at most {of.written(high)} (withheld)"
    if not low < high:
        return f"{of.written(value)} (exact)"
    _, low, high = numerals.interval(of.format, value, low, high)
    return f"{numerals.written(of.format, value)} (95%: {low} to {high})"
