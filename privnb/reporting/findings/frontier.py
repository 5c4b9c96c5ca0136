"""Findings about the choice of a release only by two losses, and about the search of one parameter."""

from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb import decision
from privnb.decision import AXES
from privnb.decision.points import Releases, are_bounded, check_loss
from privnb.decision.two_losses import check_share, reference_losses
from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, MinClassSize
from privnb.evaluation.results import Results, check_results, describe_source
from privnb.measures import measure_facts
from privnb.measures.base import Measure
from privnb.reporting.findings.numbers import make_number, to_json_number
from privnb.reporting.findings.rows import select_rows
from privnb.runtime.tolerances import EXACT, ROUNDING
from privnb.runtime.validation import Number, optional, validated
from privnb.runtime.wording import Worded
from privnb.sanitizers.catalogue import title

SEARCH = "reporting/findings_search"


@validated
def publication(
    results: Results,
    releases: Releases,
    min_class_size: MinClassSize,
    *,
    privacy: Annotated[float, check_share],
    utility: Annotated[float, check_share],
) -> Worded:
    """Return the finding about the best release only by two losses, which is not a recommendation.

    The finding also has the releases that are refused.

    Parameters
    ----------
    results, releases : DataFrame
        Tidy results, and the table of `decision.points` for these results and this minimum class size.
    min_class_size : int
        The minimum class size.
    privacy, utility : float
        The caps on the two losses, as for `decision.caps`.
    """
    caps = decision.compute_caps(releases, privacy=privacy, utility=utility)
    first = decision.choose_by_losses(releases, **caps).iloc[0]
    shares = dict(zip(AXES, (privacy, utility), strict=True))
    least = "privacy" if utility and not privacy else "utility"
    left_out = decision.list_excluded(releases, **caps)
    data = {
        "source": describe_source(results),
        "min_class_size": int(min_class_size),
        "caps": [_cap(axis, share, caps, releases) for axis, share in shares.items() if share],
        "chosen": None if first.setting == "none" else _loss(least, first, releases),
        "why": str(first.why),
        "left_out": [{"reasons": [*map(str, reasons)], "settings": settings} for reasons, settings in left_out.items()],
        "counts": _compare(releases),
        "mined": _mined(select_rows(results, "accuracy_gain"), releases),
    }
    return Worded("reporting/findings_publication", data)


def _loss(axis: str, row: Any, releases: pd.DataFrame) -> dict[str, Any]:
    """Return a loss with its interval; a loss in nats becomes a share of the loss of the worse reference release."""
    measure = measure_facts(releases[f"{axis}_measure"].iloc[0])
    far = _far_end(axis, measure, releases)
    value, low, high = (row[f"{axis}{end}"] / (far or 1) for end in ("", "_low", "_high"))
    format = "{:%}" if far else measure.format
    return make_number(
        value, low, high, format, axis=axis, loss=measure.phrase, setting=row.setting, is_share=bool(far)
    )


def _cap(axis: str, share: float, caps: dict[str, float | None], releases: pd.DataFrame) -> dict[str, Any]:
    """Return the cap on one of the two losses, which a release must not exceed."""
    measure = measure_facts(releases[f"{axis}_measure"].iloc[0])
    return {
        "axis": axis,
        "loss": measure.phrase,
        "share": float(share),
        "most": {"value": caps[f"{axis}_cap"], "format": measure.format},
        "is_share": bool(_far_end(axis, measure, releases)),
        "known": [bool(np.isfinite(loss)) for loss in reference_losses(axis, releases)],
    }


def _far_end(axis: str, measure: Measure, releases: pd.DataFrame) -> float:
    """Return the loss of the worse reference release if its unit is nats and the other loss is 0; otherwise, 0."""
    near, far = reference_losses(axis, releases)
    shares = measure.unit == "nats" and np.isfinite([near, far]).all() and abs(near) <= EXACT < far
    return far if shares else 0


def _compare(releases: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers of efficient, dominated, undecided and refused releases, and the names of the losses."""
    counts = releases.status.value_counts()
    named = {axis: str(releases[f"{axis}_of"].iloc[0]) for axis in AXES}
    return {
        "releases": len(releases),
        **{status: int(counts.get(status, 0)) for status in ("efficient", "dominated", "undecided")},
        "not_bounded": int((~are_bounded(releases)).sum()),
        "refused": int((releases.refused.fillna("") != "").sum()),
        "losses": {axis: name if name.startswith(f"{axis} loss") else f"{name} ({axis} loss)"
                   for axis, name in named.items()},
    }  # fmt: skip


def _mined(gains: pd.DataFrame, releases: pd.DataFrame) -> dict[str, Any]:
    """Return the sanitizers whose adversary's gain is the gain of miners, and is therefore only a lower bound."""
    mined = gains[~gains.sanitizer.isin(gains[gains.miner == ""].sanitizer) & (gains.miner != "worst")]
    if "accuracy_gain" not in [releases[f"{axis}_measure"].iloc[0] for axis in AXES] or mined.empty:
        return {}
    return {"sanitizers": [*mined.sanitizer.map(title).unique()], "miners": [*mined.miner.unique()]}


@validated
def search(
    tuned: decision.Tuned | None,
    cap: Number,
    whole: Annotated[pd.DataFrame | None, optional(check_results)] = None,
    *,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    **axes: Any,
) -> Worded:
    """Return the finding about a search under a cap.

    The finding has the result, the number of values that were tried, and the distance from the best setting of the
    grid.

    Parameters
    ----------
    tuned : Tuned or None
        The result of `decision.tune`; None if there was no search.
    cap : float
        The largest accepted privacy loss.
    whole : DataFrame, optional
        The results of the whole grid.
    min_class_size, **axes : int, and Loss or str
        The minimum class size, and the losses `privacy` and `utility`, as for `decision.points`.
    """
    for axis, loss in axes.items():
        check_loss(axis, loss)
    data: dict[str, Any] = {"is_searched": tuned is not None, "cap": float(cap), "is_withheld": False, "found": None}
    if tuned is None:
        return Worded(SEARCH, data)
    releases = tuned.releases
    if tuned.value is None and releases.privacy_high.isna().all():
        return Worded(SEARCH, data | {"is_withheld": True})
    data |= {"tried": tuned.evaluations, "size": tuned.size, "unreachable": len(tuned.unreachable)}
    row = releases.loc[releases.privacy_high.idxmin()] if tuned.value is None else _found(tuned)
    data |= {
        "least": {
            "setting": row.setting,
            "privacy": to_json_number(row.privacy_high),
            "is_lower_bound": bool(np.isposinf(row.privacy_high) and np.isfinite(row.privacy_low)),
        },
        "found": None if tuned.value is None else make_number(row.utility, setting=row.setting),
        "whole": None,
        "more": None,
    }
    if whole is not None:
        best = decision.choose_by_losses(
            decision.compute_points(whole, **axes, min_class_size=min_class_size), privacy_cap=cap
        ).iloc[0]
        is_known = best.setting != "none" and not np.isnan(best.utility)
        data["whole"] = make_number(best.utility, setting=best.setting) if is_known else {}
        if is_known and tuned.value is not None and row.utility > best.utility * (1 + ROUNDING) + EXACT:
            share = to_json_number(row.utility / best.utility - 1) if best.utility > 0 else None
            data["more"] = {"share": share, "value": to_json_number(row.utility)}
    return Worded(SEARCH, data)


def _found(tuned: decision.Tuned) -> pd.Series:
    return tuned.releases[tuned.releases.value == tuned.value].iloc[0]
