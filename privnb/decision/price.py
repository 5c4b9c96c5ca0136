"""The price of a policy: the loss that each cap costs, and the number of people that a table needs."""

from typing import Any

import numpy as np
import pandas as pd

from privnb.decision.by_policy import LOSS, Decision
from privnb.decision.points import ORIGINAL
from privnb.decision.reasons import CAP
from privnb.evaluation.results import SETTING_COLUMNS
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated

SIZES = (0.5, 1, 2, 4, 8, 16, 32, 64)  # numbers of people, as multiples of the people in the table


@validated
def loss_by_cap(decision: Decision) -> pd.DataFrame:
    """Return the smallest loss of the users for each value of each cap, while the other caps stay as they are.

    The result holds the steps of one curve per cap: a cap of at least `at_most` can be met at a loss of `loss`.
    Releases below the minimum class size, and releases that break another requirement of the policy, are left out.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    DataFrame
        The columns `axis`, the cap in words; `cap`, its value in the policy; `at_most`, from 0 to 1; `loss`, as a share
        of the loss that the removal of all quasi-identifiers causes; and `setting`, the release. Within an axis, the
        caps increase and the losses decrease. An axis without a release has no rows.
    """
    releases, axes, high, cap = _bounds(decision)
    kept = high <= cap + ROUNDING
    needs = _meets_needs(releases)
    steps = list[dict[str, Any]]()
    for place, axis in enumerate(axes):
        others = np.delete(kept, place, axis=1).all(axis=1) & needs & np.isfinite(high[:, place])
        order = sorted(np.flatnonzero(others), key=lambda row: (high[row, place], releases.loss.iloc[row]))
        least = np.inf
        for row in order:
            loss = float(releases.loss.iloc[row])
            if loss < least - ROUNDING:
                least = loss
                at_most = max(float(high[row, place]), 0.0)
                if steps and steps[-1]["axis"] == axis and steps[-1]["at_most"] == at_most:
                    steps.pop()
                own = {"axis": axis, "cap": float(cap[place]), "at_most": at_most, "loss": loss}
                steps.append(own | {"setting": releases.setting.iloc[row]})
    return pd.DataFrame(steps, columns=["axis", "cap", "at_most", "loss", "setting"])


@validated
def loss_by_people(decision: Decision) -> pd.DataFrame:
    """Project the smallest loss of the users, for the caps of the policy, to tables with other numbers of people.

    The projection keeps each measured risk and scales the distance between the risk and the upper end of its interval
    by the square root of the number of people, as sampling errors do. Exact risks do not change. The result therefore
    states how far the size of the table, and not the release, is the reason why a cap is not met.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    DataFrame
        The columns `people`, the number of people; `loss`, which is NaN if no release meets all caps; and `setting`,
        the release, which is empty if there is none. The frame has no rows if the number of people is unknown.
    """
    releases, _, high, cap = _bounds(decision)
    value = _by_release(decision, releases, "value")
    middle, needs = np.where(np.isfinite(value), value, high), _meets_needs(releases)
    rows = []
    for size in SIZES if decision.people else ():
        upper = middle + (high - middle) / np.sqrt(size)
        able = releases[(upper <= cap + ROUNDING).all(axis=1) & needs]
        best = None if able.empty else able.loc[able.loss.idxmin()]
        loss, setting = (np.nan, "") if best is None else (float(best.loss), best.setting)
        rows.append({"people": round(size * decision.people), "loss": loss, "setting": setting})
    return pd.DataFrame(rows, columns=["people", "loss", "setting"])


def _bounds(decision: Decision) -> tuple[pd.DataFrame, list[str], FloatArray, FloatArray]:
    """Return the releases that may be chosen, the caps in words, the upper bounds (releases, caps), and the caps."""
    able = (decision.releases.status != "refused") & (decision.releases.sanitizer != ORIGINAL)
    releases = decision.releases[able & np.isfinite(decision.releases.loss)].reset_index(drop=True)
    first = decision.vectors[decision.vectors.axis != LOSS].drop_duplicates("axis")
    return releases, [*first.axis], _by_release(decision, releases, "high"), first.cap.to_numpy(dtype=float)


def _by_release(decision: Decision, releases: pd.DataFrame, column: str) -> FloatArray:
    """Return a column of the vectors as an array (releases, caps)."""
    capped = decision.vectors[decision.vectors.axis != LOSS]
    axes = [*capped.axis.drop_duplicates()]
    table = capped.pivot(index=SETTING_COLUMNS, columns="axis", values=column)[axes]
    keys = pd.MultiIndex.from_frame(releases[SETTING_COLUMNS])
    return table.reindex(keys).to_numpy(dtype=float).reshape(len(releases), len(axes))


def _meets_needs(releases: pd.DataFrame) -> BoolArray:
    """Return whether each release breaks no requirement other than a cap."""
    return np.array([all(reason.kind == CAP for reason in own) for own in releases.reasons], dtype=bool)
