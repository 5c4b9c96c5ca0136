"""What an owner accepts: how many people share each published combination, and how far the losses may go."""

from dataclasses import dataclass

import numpy as np

from privnb.decision.points import AXES, ORIGINAL, check_points
from privnb.evaluation.combinations import FLOOR
from privnb.runtime import expect
from privnb.sanitizers.catalogue import references

SHARE = 0.2  # of the way to the original's privacy loss, unless the owner accepts another one


@dataclass(frozen=True)
class Policy:
    """What an owner accepts of a release.

    A cap is a share of the way between the two ends that all releases lie between, so that it means the same whatever
    is measured, and of rare values too: 0.2 of a privacy loss is a fifth of the way from the release without
    quasi-identifiers, which tells what anybody may know, to the original.

    Parameters
    ----------
    floor : int
        So many people share every combination of quasi-identifiers as it is published, from 2.
    privacy : float
        The most privacy loss accepted: above 0, the loss without quasi-identifiers, to 1, the original's; 0: no cap.
    utility : float
        The most utility loss accepted: above 0, the original's, to 1, the loss without quasi-identifiers; 0: no cap.

    Raises
    ------
    ValueError
        For any other number.
    """

    floor: int = FLOOR
    privacy: float = SHARE
    utility: float = 0

    def __post_init__(self):
        expect.these(floor=self.floor)
        for axis in AXES:
            share = getattr(self, axis)
            if not (expect.is_number(share) and 0 <= share <= 1):
                raise ValueError(
                    f"{axis.upper()}_CAP is the most {axis} loss that you accept, a share above 0 and at most 1 of "
                    f"what lies between the original and the release without quasi-identifiers, or 0 for no cap; got "
                    f"{expect.found(share)}."
                )

    def caps(self, releases):
        """The caps in the units of the losses, as `choices` takes them: `{"privacy_cap": ..., "utility_cap": ...}`.

        Where the other end is withheld or infinite, the cap is the harmless end; where that is, it is 0. Raises
        ValueError where the end that a cap counts from is not among the `releases`, which are of `points`.
        """
        check_points("releases", releases)
        found = {}
        for axis in AXES:
            share = getattr(self, axis)
            if share and _both(releases)[axis].empty:
                raise ValueError(
                    f"no {axis} cap can be counted: it begins at the {axis} loss of the "
                    f"{'release without quasi-identifiers' if axis == 'privacy' else 'original'}, which is not there. "
                    "Give both ends of `evaluation.ends()` among the releases, or no cap."
                )
            found[f"{axis}_cap"] = _between(*ends(axis, releases), share) if share else None
        return found


expect.word("policy", Policy, instead="Give decision.Policy().")


def ends(axis, releases):
    """The losses that a cap on this axis lies between, the harmless one first: two floats, which are NaN where they are
    withheld or not there, and infinite where they are unbounded.
    """
    both = _both(releases)
    losses = {name: end[axis].fillna(end[f"{axis}_low"]).tolist() for name, end in both.items()}
    near, (far,) = losses.pop(axis), losses.values()
    return near[0] if near else np.nan, far[0] if far else np.nan


def _both(releases):
    """By axis the harmless end: the release without quasi-identifiers, and the original."""
    ends = releases[releases.sanitizer.isin(references()) & (releases.sanitizer != ORIGINAL)]
    return {"privacy": ends[ends.parameters == ""], "utility": releases[releases.sanitizer == ORIGINAL]}


def _between(low, high, share):
    """The loss that lies this share of the way from one end to the other."""
    if not np.isfinite(low):
        return 0.0  # nothing is known to be kept
    return low + share * max(high - low, 0) if np.isfinite(high) else low
