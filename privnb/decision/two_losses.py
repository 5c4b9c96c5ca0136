"""Which release two losses alone would choose: caps between the ends, the knee of the frontier, and what each costs."""

from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, BARE, IS_ORIGINAL, ORIGINAL, Releases, bounded, comparable
from privnb.evaluation.combinations import Floor
from privnb.evaluation.results import SETTING
from privnb.runtime import expect, numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.validation import optional, validated

SHARE = 0.2  # of the way to the original's privacy loss, unless the owner accepts another one
LOSSES = [f"{axis}{end}" for axis in AXES for end in ("", "_low", "_high", "_baseline", "_of")]
CHOICES = ["question", "setting", *SETTING, *LOSSES, "why", "costs"]
# The harmless end of each axis.
HARMLESS = {"privacy": (BARE, "the release without quasi-identifiers"), "utility": (ORIGINAL, "the original")}
Caps = dict[str, float | None]
Limit = Annotated[float | None, optional(expect.number)]


def check_share(axis: str, share: Any) -> None:
    """Raise ValueError unless a cap is a share of the way between the ends."""
    if not (expect.is_number(share) and 0 <= share <= 1):
        raise UsageError(
            f"{axis.upper()}_CAP is the most {axis} loss that you accept, a share above 0 and at most 1 of what lies "
            f"between the original and the release without quasi-identifiers, or 0 for no cap; got "
            f"{expect.found(share)}."
        )


AnyShare = Annotated[float, check_share]


def check_choices(name: str, table: object) -> None:
    """Raise TypeError unless `table` is one, and ValueError unless it has the columns of `choices`."""
    expect.table(name, table, ["question", "setting", "why", "costs", *AXES], "`decision.choices` gives one.")


@validated
def check_limits(floor: Floor, *, privacy: AnyShare = SHARE, utility: AnyShare = 0) -> None:
    """Raise ValueError unless `floor` is a number of people and both caps are shares, before anything is measured.

    Parameters
    ----------
    floor : int
        At least this many people share every published combination of quasi-identifiers, from 2.
    privacy, utility : float
        As of `caps`.
    """


@validated
def caps(releases: Releases, *, privacy: AnyShare = SHARE, utility: AnyShare = 0) -> Caps:
    """Return the caps in the units of the losses, as `choices` takes them.

    A cap is a share of the way between the two ends that all releases lie between, so that it means the same whatever
    is measured: 0.2 of a privacy loss is a fifth of the way from the release without quasi-identifiers, which tells
    what anybody may know, to the original. If the other end is withheld or infinite, the cap is the harmless end; if
    the harmless end is, the cap is 0.

    Parameters
    ----------
    releases : DataFrame
        Of `points`, with both reference releases.
    privacy : float
        The most privacy loss accepted: above 0, the loss without quasi-identifiers, to 1, the original's; 0: no cap.
    utility : float
        The most utility loss accepted: above 0, the original's, to 1, the loss without quasi-identifiers; 0: no cap.

    Returns
    -------
    dict of str to float
        `privacy_cap` and `utility_cap`; None: no cap.
    """
    found: Caps = {}
    for axis, share in {"privacy": privacy, "utility": utility}.items():
        name, words = HARMLESS[axis]
        if share and _loss_of(name, axis, releases).empty:
            raise UsageError(
                f"no {axis} cap can be counted: it begins at the {axis} loss of {words}, which is not there. Give both "
                "reference releases among the releases, or no cap."
            )
        low, high = ends(axis, releases)
        way = share * max(high - low, 0) if np.isfinite(high) else 0.0
        found[f"{axis}_cap"] = (low + way if np.isfinite(low) else 0.0) if share else None
    return found


def ends(axis: str, releases: pd.DataFrame) -> tuple[float, float]:
    """Return the losses that a cap on this axis lies between, the harmless one first: NaN if withheld or missing."""
    order = (BARE, ORIGINAL) if axis == "privacy" else (ORIGINAL, BARE)
    near, far = (next(iter(_loss_of(name, axis, releases)), np.nan) for name in order)
    return near, far


def _loss_of(sanitizer: str, axis: str, releases: pd.DataFrame) -> pd.Series:
    """Return the loss of a reference release on an axis: one number, or none."""
    rows = releases[(releases.sanitizer == sanitizer) & (releases.parameters == "")]
    return rows[axis].fillna(rows[f"{axis}_low"])


@validated
def knee(releases: Releases) -> pd.Series | None:
    """Return the release where giving up more of one loss stops buying much of the other, or None without a knee.

    Of the efficient releases, the one that lies farthest below the straight line between the frontier's two ends, both
    losses scaled to 0..1 between the ends. There is none of fewer than three efficient releases, or where none lies
    below the line. It depends on which ends were tried: it is a place to look at, not a recommendation. Sources: Das,
    Structural Optimization 18, 1999 (largest distance from the line between the ends); Satopaa et al., "Finding a
    'Kneedle' in a Haystack", ICDCS workshops 2011.
    """
    rows = releases[(releases.status == "efficient") & np.isfinite(releases[list(AXES)]).all(axis=1)]
    rows = rows.sort_values(list(AXES), kind="stable")
    if len(rows) < 3 or nearly_equal(rows.privacy.iloc[0], rows.privacy.iloc[-1]):
        return None
    x, y = ((rows[axis] - rows[axis].min()) / np.ptp(rows[axis]) for axis in AXES)
    below = 1 - x - y  # proportional to the distance from the line x + y = 1
    return rows.loc[below.idxmax()] if below.max() > ROUNDING else None


@validated
def choices(releases: Releases, *, privacy_cap: Limit = None, utility_cap: Limit = None) -> pd.DataFrame:
    """Return which release two losses alone would choose, the knee and the ends of the frontier, and what each costs.

    The upper bound of an interval counts, and of a withheld number; a release of too few seeds keeps no cap, nor does
    one whose loss is known from below only, which is no end of the frontier either. Of equal releases the one with the
    smaller other loss is taken, then the first.

    Parameters
    ----------
    releases : DataFrame
        Of `points` with a floor.
    privacy_cap, utility_cap : float, optional
        The most loss that the owner accepts. The least utility loss under the caps comes first; under a `utility_cap`
        alone the least privacy loss.

    Returns
    -------
    DataFrame
        One row per question that an owner may ask, the columns `CHOICES`: `setting` ("none" if no release fits), both
        losses as in `points`, `why`, and `costs` (compared with the ends).

    Raises
    ------
    ValueError
        For points without a floor: a choice has to know which releases single people out.
    """
    check_floor(releases)
    rows, there = [_first(releases, _given(privacy=privacy_cap, utility=utility_cap))], _known(releases)
    if (corner := knee(releases)) is not None:
        why = "of the efficient releases the farthest below the line between the frontier's ends"
        rows.append({**corner, "question": "the knee of the frontier", "why": why})
    least = {axis: _least(there, axis, other).iloc[0] for axis, other in (AXES, AXES[::-1]) if len(there)}
    for axis, end in least.items():
        rows.append({**end, "question": f"the least {axis} loss", "why": "an end of the frontier"})
    return pd.DataFrame([{**row, "costs": _costs(row, least)} for row in rows], columns=CHOICES)


def check_floor(releases: pd.DataFrame) -> None:
    """Raise ValueError for points without a floor."""
    if releases.refused.isna().any():
        raise UsageError(
            "these points have no floor: nothing is chosen among releases that may single people out. Give "
            "`points(..., floor=5)`, and the results of `evaluation.combinations`."
        )


def _first(releases: pd.DataFrame, limits: dict[str, float]) -> dict[str, Any]:
    """Return the release of the least loss that keeps all caps, as a row of `choices`."""
    axis, other = AXES if list(limits) == ["utility"] else AXES[::-1]
    under = " and ".join(f"a {each} loss of at most {_number(cap)}" for each, cap in limits.items())
    question = f"the least {axis} loss {f'with {under}' if limits else 'without a cap'}"
    there, low, high = _known(releases), f"{axis}_low", f"{axis}_high"
    missing = len(releases) - len(there)
    unknown = int((releases.refused == "").sum()) - len(there)
    left = f"; {missing} cannot be chosen whatever the caps" if missing else ""
    of_them = f"{unknown} of them " if unknown < missing else ""
    left += f", {of_them}because a loss is not known in full" if unknown else ""
    kept = _keeping(there, limits)
    if kept.empty:
        what = "the floor" if there.empty else "both caps" if len(limits) > 1 else "the cap"
        why = "; ".join([f"no release keeps {what}", *_relaxed(there, limits)]) + left
        return {"question": question, "setting": "none", "why": why}
    order = _least(kept, axis, other)
    first, others = order.iloc[0], order.iloc[1:]
    near = others[(others[low] <= first[high]) & (others[high] >= first[low])]
    what = "the caps" if len(limits) > 1 else "the cap" if limits else "the floor"
    verb = "keeps" if len(kept) == 1 else "keep"
    why = f"{len(kept)} of {len(releases)} releases {verb} {what}, and this one loses least {axis}{left}"
    why += f"; by {axis} loss not distinguishable from {', '.join(near.setting)}" if len(near) else ""
    return {**first, "question": question, "why": why}


def _relaxed(there: pd.DataFrame, limits: dict[str, float]) -> list[str]:
    """Return what would have to be accepted of each loss so that a release that keeps the other cap could be chosen."""
    said = []
    for axis in limits:
        kept = _keeping(there, {each: cap for each, cap in limits.items() if each != axis})
        for row in kept.nsmallest(1, f"{axis}_high").to_dict("records"):
            accepted = _number(row[f"{axis}_high"])
            said.append(f"for {row['setting']} a {axis} loss of {accepted} would have to be accepted")
    return said


@validated
def left_out(releases: Releases, *, privacy_cap: Limit = None, utility_cap: Limit = None) -> dict[str, list[str]]:
    """Return the settings that cannot be chosen, by reason; those that are below the floor first.

    Parameters
    ----------
    releases, privacy_cap, utility_cap
        As of `choices`.

    Returns
    -------
    dict of str to list of str
        The settings by reason.
    """
    check_floor(releases)
    limits = _given(privacy=privacy_cap, utility=utility_cap)
    known = _known(releases)
    found: dict[str, list[str]] = {}
    order = releases.refused.map(lambda reason: (reason == "") + (reason != IS_ORIGINAL))
    for name, row in releases.loc[order.sort_values(kind="stable").index].iterrows():
        if row.refused:
            reasons = [row.refused]
        elif name not in known.index:
            reasons = [row.why if row.status == "undecided" else "a loss is known from below only, or not surely"]
        else:
            reasons = [f"its {axis} loss is above the cap of {_number(cap)}" for axis, cap in _above(row, limits)]
        if reasons:
            found.setdefault(" and ".join(reasons), []).append(row.setting)
    return found


def _given(**limits: float | None) -> dict[str, float]:
    return {axis: cap for axis, cap in limits.items() if cap is not None}


def _known(releases: pd.DataFrame) -> pd.DataFrame:
    """Return the releases that can be chosen: above the floor, and both losses are known, and not from below only."""
    return releases[comparable(releases) & bounded(releases) & (releases.refused == "")]


def _keeping(releases: pd.DataFrame, limits: dict[str, float]) -> pd.DataFrame:
    """Return the releases that keep all caps."""
    return releases[np.array([not _above(row, limits) for _, row in releases.iterrows()], dtype=bool)]


def _above(row: pd.Series, limits: dict[str, float]) -> list[tuple[str, float]]:
    """Return the caps that a release does not keep."""
    most = {axis: row[f"{axis}_high"] for axis in limits}
    return [(axis, cap) for axis, cap in limits.items() if not (most[axis] <= cap or nearly_equal(most[axis], cap))]


def _least(releases: pd.DataFrame, axis: str, other: str) -> pd.DataFrame:
    """Return releases from the least loss of one axis on; a withheld number counts as its upper bound."""
    loss = {each: releases[each].fillna(releases[f"{each}_high"]) for each in (axis, other)}
    return releases.loc[pd.DataFrame(loss).sort_values([axis, other], kind="stable").index]


def _costs(row: dict[str, Any], least: dict[str, pd.Series]) -> str:
    """Return what a choice costs beyond the ends of the frontier."""
    if row["setting"] == "none":
        return ""
    more = [
        f"{_number(row[axis] - end[axis])} more {axis} loss than {end.setting}"
        for axis, end in least.items()
        if row[axis] - end[axis] > 0 and row["setting"] != end.setting
    ]
    return " and ".join(more) or "no more than any other here"


def _number(value: float) -> str:
    return numerals.bare("{:g}", value)
