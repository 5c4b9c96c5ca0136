"""The choice of a release by two losses alone: caps, the knee of the frontier, and the losses of each choice."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, BARE, ORIGINAL, Releases, are_bounded, are_comparable
from privnb.decision.reasons import IS_ORIGINAL, LossComparison, Reason
from privnb.evaluation.combination_sizes import MinClassSize
from privnb.evaluation.results import SETTING_COLUMNS
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.validation import optional, validated

SHARE = 0.2  # the accepted share of the way to the original's privacy loss, unless the owner states another share
LOSSES = [f"{axis}{end}" for axis in AXES for end in ("", "_low", "_high", "_baseline", "_of")]
CHOICES = ["question", "setting", *SETTING_COLUMNS, *LOSSES, "why", "costs"]
# The harmless reference release of each axis.
HARMLESS = {"privacy": (BARE, "the release without quasi-identifiers"), "utility": (ORIGINAL, "the original")}
Caps = dict[str, float | None]
Limit = Annotated[float | None, optional(expect.number)]


def check_share(axis: str, share: Any) -> None:
    """Raise ValueError unless a cap is a share of the difference between the losses of the two reference releases."""
    if not (expect.is_number(share) and 0 <= share <= 1):
        raise UsageError(
            f"{axis.upper()}_CAP must be the largest {axis} loss that you accept, as a position above 0 and at most 1 "
            f"between the losses of the two reference releases, or 0 for no cap; got {expect.describe_value(share)}."
        )


AnyShare = Annotated[float, check_share]


def check_choices(name: str, table: object) -> None:
    """Raise TypeError unless `table` is a table, and ValueError unless its columns are those of `choose_by_losses`."""
    expect.table(name, table, ["question", "setting", "why", "costs", *AXES], "`decision.choose_by_losses` gives one.")


@validated
def check_caps(min_class_size: MinClassSize, *, privacy: AnyShare = SHARE, utility: AnyShare = 0) -> None:
    """Raise ValueError unless `min_class_size` is a number of people and both caps are shares.

    Parameters
    ----------
    min_class_size : int
        The minimum class size, at least 2: the number of people who must share each published combination of
        quasi-identifiers.
    privacy, utility : float
        See `compute_caps`.
    """


@validated
def compute_caps(releases: Releases, *, privacy: AnyShare = SHARE, utility: AnyShare = 0) -> Caps:
    """Return the caps in the units of the losses, as `choose_by_losses` takes them.

    A cap is given as a position between the losses of the two reference releases: 0 is the smaller loss, and 1 is the
    larger loss. A position therefore means the same for each measure. A privacy cap of 0.2 accepts the loss without
    quasi-identifiers, which any user may learn, plus a fifth of the difference to the loss of the original. The
    harmless reference release of an axis is the reference release with the smaller loss. If the loss of the other
    reference release is withheld or infinite, the cap is the loss of the harmless release. If the loss of the harmless
    release is withheld or infinite, the cap is 0.

    Parameters
    ----------
    releases : DataFrame
        The table that `compute_points` returns, with both reference releases.
    privacy : float
        The largest privacy loss accepted, as a position between the loss without quasi-identifiers (0) and the loss of
        the original (1); if 0, there is no cap.
    utility : float
        The largest utility loss accepted, as a position between the loss of the original (0) and the loss without
        quasi-identifiers (1); if 0, there is no cap.

    Returns
    -------
    dict of str to float
        The caps `privacy_cap` and `utility_cap`; None if there is no cap.
    """
    found: Caps = {}
    for axis, share in {"privacy": privacy, "utility": utility}.items():
        name, words = HARMLESS[axis]
        if share and _loss_of(name, axis, releases).empty:
            raise UsageError(
                f"the {axis} cap cannot be computed, because the {axis} loss of {words} is missing. Add "
                "both reference releases to the releases, or set no cap."
            )
        low, high = reference_losses(axis, releases)
        way = share * max(high - low, 0) if np.isfinite(high) else 0.0
        found[f"{axis}_cap"] = (low + way if np.isfinite(low) else 0.0) if share else None
    return found


def reference_losses(axis: str, releases: pd.DataFrame) -> tuple[float, float]:
    """Return the losses of the harmless and the other reference release on an axis; NaN if withheld or missing.

    Parameters
    ----------
    axis : str
        "privacy" or "utility".
    releases : DataFrame
        The table that `compute_points` returns.

    Returns
    -------
    tuple of float
    """
    order = (BARE, ORIGINAL) if axis == "privacy" else (ORIGINAL, BARE)
    near, far = (next(iter(_loss_of(name, axis, releases)), np.nan) for name in order)
    return near, far


def _loss_of(sanitizer: str, axis: str, releases: pd.DataFrame) -> pd.Series:
    """Return the loss of a reference release on an axis, as a Series with one number or with none."""
    rows = releases[(releases.sanitizer == sanitizer) & (releases.parameters == "")]
    return rows[axis].fillna(rows[f"{axis}_low"])


@validated
def find_knee(releases: Releases) -> pd.Series | None:
    """Return the knee of the frontier, beyond which a larger loss of one kind hardly reduces the other, or None.

    The knee is the efficient release that lies farthest below the straight line between the two ends of the frontier,
    after both losses are scaled so that they range from 0 to 1 between the ends. There is no knee if there are fewer
    than three efficient releases, or if no release lies below the line. The knee depends on the ends that were tried,
    so it is not a recommendation. Sources: Das, Structural Optimization 18, 1999 (largest distance from the line
    between the ends); Satopaa et al., "Finding a 'Kneedle' in a Haystack", ICDCS workshops 2011.
    """
    rows = releases[(releases.status == "efficient") & np.isfinite(releases[list(AXES)]).all(axis=1)]
    rows = rows.sort_values(list(AXES), kind="stable")
    if len(rows) < 3 or nearly_equal(rows.privacy.iloc[0], rows.privacy.iloc[-1]):
        return None
    x, y = ((rows[axis] - rows[axis].min()) / np.ptp(rows[axis]) for axis in AXES)
    below = 1 - x - y  # proportional to the distance from the line x + y = 1
    return rows.loc[below.idxmax()] if below.max() > ROUNDING else None


@validated
def choose_by_losses(releases: Releases, *, privacy_cap: Limit = None, utility_cap: Limit = None) -> pd.DataFrame:
    """Return the release that two losses alone would choose, the knee and the ends of the frontier, and their losses.

    A loss with an interval, or a withheld loss, is compared by its upper bound. A release with too few seeds meets no
    cap. A release whose loss has only a lower bound meets no cap and cannot be an end of the frontier. If releases are
    equal in one loss, the function chooses the release with the smaller other loss; if both losses are equal, it
    chooses the first release.

    Parameters
    ----------
    releases : DataFrame
        The table that `compute_points` returns, with a minimum class size.
    privacy_cap, utility_cap : float, optional
        The largest loss that the owner accepts. The first row has the least utility loss under the caps; if only
        `utility_cap` is given, it has the least privacy loss.

    Returns
    -------
    DataFrame
        One row per question that an owner may ask, with the columns `CHOICES`: `setting` ("none" if no release fits),
        and both losses as in `points`; `question`, `why` and `costs`, which are the additional losses compared with the
        ends, are `LossComparison` objects.

    Raises
    ------
    ValueError
        If the points have no minimum class size: without this size, it is unknown which releases single people out.
    """
    check_min_class_size(releases)
    rows, there = [_first(releases, _given(privacy=privacy_cap, utility=utility_cap))], _known(releases)
    if (corner := find_knee(releases)) is not None:
        rows.append({**corner, "question": LossComparison("knee"), "why": LossComparison("is_knee")})
    least = {axis: _least(there, axis, other).iloc[0] for axis, other in (AXES, AXES[::-1]) if len(there)}
    for axis, end in least.items():
        rows.append({**end, "question": LossComparison.of("least", axis=axis), "why": LossComparison("is_end")})
    return pd.DataFrame([{**row, "costs": _costs(row, least)} for row in rows], columns=CHOICES)


def check_min_class_size(releases: pd.DataFrame) -> None:
    """Raise ValueError if points have no minimum class size."""
    if releases.refused.isna().any():
        raise UsageError(
            "these points have no minimum class size, so no release is chosen, because some releases may single people "
            "out. "
            "Give `compute_points(..., min_class_size=5)`, and the results of `evaluation.measure_combinations`."
        )


def _first(releases: pd.DataFrame, limits: dict[str, float]) -> dict[str, Any]:
    """Return the release of least loss that meets all caps, as a row of `choose_by_losses`."""
    axis, other = AXES if list(limits) == ["utility"] else AXES[::-1]
    question = LossComparison.of("least_under", axis=axis, caps=tuple(limits.items()))
    there, low, high = _known(releases), f"{axis}_low", f"{axis}_high"
    left = {
        "left_out": len(releases) - len(there),
        "unknown": int((releases.refused == "").sum()) - len(there),
        "minimum_alone": not limits,
    }
    kept = _keeping(there, limits)
    if kept.empty:
        left["minimum_alone"] = there.empty
        needed = tuple(_relaxed(there, limits))
        return {
            "question": question,
            "setting": "none",
            "why": LossComparison.of("none_kept", caps=len(limits), needed=needed, **left),
        }
    order = _least(kept, axis, other)
    first, others = order.iloc[0], order.iloc[1:]
    near = others[(others[low] <= first[high]) & (others[high] >= first[low])]
    counts = {"kept": len(kept), "releases": len(releases), "caps": len(limits)}
    why = LossComparison.of("kept_least", axis=axis, near=tuple(near.setting), **counts, **left)
    return {**first, "question": question, "why": why}


def _relaxed(there: pd.DataFrame, limits: dict[str, float]) -> Iterator[tuple[str, str, float]]:
    """Yield, for each cap, the smallest larger cap under which a release that meets the other cap can be chosen."""
    for axis in limits:
        kept = _keeping(there, {each: cap for each, cap in limits.items() if each != axis})
        for row in kept.nsmallest(1, f"{axis}_high").to_dict("records"):
            yield axis, row["setting"], float(row[f"{axis}_high"])


@validated
def list_excluded(
    releases: Releases, *, privacy_cap: Limit = None, utility_cap: Limit = None
) -> dict[tuple[Reason, ...], list[str]]:
    """Return, by reasons, the settings that cannot be chosen; settings below the minimum class size come first.

    Parameters
    ----------
    releases, privacy_cap, utility_cap
        See `choose_by_losses`.

    Returns
    -------
    dict of tuple of Reason to list of str
        The settings by their reasons.
    """
    check_min_class_size(releases)
    limits = _given(privacy=privacy_cap, utility=utility_cap)
    known = _known(releases)
    found: dict[tuple[Reason, ...], list[str]] = {}
    order = releases.refused.map(lambda reason: (reason == "") + (reason != IS_ORIGINAL))
    for name, row in releases.loc[order.sort_values(kind="stable").index].iterrows():
        reasons: list[Reason]
        if row.refused:
            reasons = [Reason(row.refused)]
        elif name not in known.index:
            reasons = [row.why if row.status == "undecided" else LossComparison("not_bounded")]
        else:
            reasons = [LossComparison.of("above_cap", axis=axis, cap=float(cap)) for axis, cap in _above(row, limits)]
        if reasons:
            found.setdefault(tuple(reasons), []).append(row.setting)
    return found


def _given(**limits: float | None) -> dict[str, float]:
    return {axis: cap for axis, cap in limits.items() if cap is not None}


def _known(releases: pd.DataFrame) -> pd.DataFrame:
    """Return the releases that can be chosen: they are not refused, and their losses are comparable and bounded."""
    return releases[are_comparable(releases) & are_bounded(releases) & (releases.refused == "")]


def _keeping(releases: pd.DataFrame, limits: dict[str, float]) -> pd.DataFrame:
    """Return the releases that meet all caps."""
    return releases[np.array([not _above(row, limits) for _, row in releases.iterrows()], dtype=bool)]


def _above(row: pd.Series, limits: dict[str, float]) -> list[tuple[str, float]]:
    """Return the caps that a release does not meet."""
    most = {axis: row[f"{axis}_high"] for axis in limits}
    return [(axis, cap) for axis, cap in limits.items() if not (most[axis] <= cap or nearly_equal(most[axis], cap))]


def _least(releases: pd.DataFrame, axis: str, other: str) -> pd.DataFrame:
    """Return releases in ascending order of the loss on one axis; a withheld number counts as its upper bound."""
    loss = {each: releases[each].fillna(releases[f"{each}_high"]) for each in (axis, other)}
    return releases.loc[pd.DataFrame(loss).sort_values([axis, other], kind="stable").index]


def _costs(row: dict[str, Any], least: dict[str, pd.Series]) -> LossComparison | None:
    """Return the additional losses of a choice compared with the ends of the frontier; None if there is no choice."""
    if row["setting"] == "none":
        return None
    more = [
        (axis, end.setting, float(row[axis] - end[axis]))
        for axis, end in least.items()
        if row[axis] - end[axis] > 0 and row["setting"] != end.setting
    ]
    return LossComparison.of("costs", more=tuple(more))
