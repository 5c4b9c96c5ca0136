"""What two losses alone say of releases, and what a search of one parameter found."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast

import numpy as np
import pandas as pd

from privnb import decision
from privnb.decision import AXES
from privnb.decision.points import Releases, bounded, check_loss
from privnb.decision.policies import Policy
from privnb.decision.two_losses import check_share, ends
from privnb.evaluation.combinations import FLOOR, Floor
from privnb.evaluation.results import Results, check_results, whose
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import capitalized, of
from privnb.runtime import numerals
from privnb.runtime.sentences import B, listed
from privnb.runtime.tolerances import EXACT, ROUNDING
from privnb.runtime.validation import Number, instead, optional
from privnb.sanitizers.catalogue import title

# The ends of each axis, the harmless one first.
ENDS = {
    "privacy": ("that without quasi-identifiers", "the original's"),
    "utility": ("the original's", "that without quasi-identifiers"),
}


@of_results()
def floors(
    floor: Floor, owners: Annotated[Policy, instead(Policy, "decision.policies.read gives one.")]
) -> Iterator[Part]:
    """How many people must share a published combination on two axes alone, and how many under the owner's policy.

    Parameters
    ----------
    floor : int
        Of the two axes.
    owners : Policy
    """
    yield (
        f"A release is compared on these two axes only if at least {B}{floor} people{B} share each published "
        f"combination of quasi-identifiers. The policy {owners.title} has its own floor: {B}{owners.floor} people{B}."
    )


@of_results()
def publication(
    results: Results,
    releases: Releases,
    floor: Floor,
    *,
    privacy: Annotated[float, check_share],
    utility: Annotated[float, check_share],
) -> Iterator[Part]:
    """What two losses alone say, which is not a recommendation: which release loses least, and why others are left out.

    Parameters
    ----------
    results, releases : DataFrame
        Tidy results, and `decision.points` of these with this floor.
    floor : int
    privacy, utility : float
        As of `decision.caps`.
    """
    caps = decision.caps(releases, privacy=privacy, utility=utility)
    first = decision.choices(releases, **caps).iloc[0]
    capped = [_cap(axis, share, caps, releases) for axis, share in zip(AXES, (privacy, utility), strict=True) if share]
    kept = " and ".join([*capped, f"at least {floor} people per combination"])
    if first.setting == "none":
        yield f"{B}None of these releases should be published{B} ({whose(results)}): none has {kept}: {first.why}."
    else:
        least = _loss("privacy" if utility and not privacy else "utility", first, releases)
        yield f"{B}{first.setting}{B} comes first ({whose(results)}): {least}, the least with {kept}."
    if reasons := decision.left_out(releases, **caps):
        many = sum(map(len, reasons.values()))
        yield f"{many} of {len(releases)} releases {'is' if many == 1 else 'are'} left out:"
        yield [f"{capitalized(why)}: {listed(settings)}." for why, settings in reasons.items()]
    yield " ".join(_compared(releases))
    yield _mined(of(results, "accuracy_gain"), releases)
    yield (
        "A release is efficient among these releases and by these two measures. That no attack was found does not mean "
        "that there is none."
    )


def _loss(axis: str, row: Any, releases: pd.DataFrame) -> str:
    """A loss with its interval; in a unit that tells people nothing as a share of its far end."""
    measure, numbers = facts(releases[f"{axis}_measure"].iloc[0]), row[[axis, f"{axis}_low", f"{axis}_high"]]
    far, format = _far_end(axis, measure, releases), measure.format
    if far:
        numbers, format = numbers / far, f"{{:%}} of {ENDS[axis][1]}"
    value, low, high = numbers
    return f"{measure.phrase} {Finding('', value, low, high, format).text.replace(B, '')}"


def _cap(axis: str, share: float, caps: Mapping[str, float | None], releases: pd.DataFrame) -> str:
    """What a release has to keep of one axis."""
    measure, losses = facts(releases[f"{axis}_measure"].iloc[0]), ends(axis, releases)
    if _far_end(axis, measure, releases):
        return f"{measure.phrase} up to {numerals.percent(share)} of {ENDS[axis][1]}"
    hidden = [name for name, loss in zip(ENDS[axis], losses, strict=True) if not np.isfinite(loss)]
    why = f"{hidden[0]} is not known" if hidden else f"{numerals.percent(share)} of the way to {ENDS[axis][1]}"
    return f"{measure.phrase} up to {measure.bare(cast(float, caps[f'{axis}_cap']))} ({why})"


def _far_end(axis: str, measure: Measure, releases: pd.DataFrame) -> float:
    """The loss at the far end, if its unit tells people nothing and the other end is 0; else 0."""
    near, far = ends(axis, releases)
    shares = measure.unit == "nats" and np.isfinite([near, far]).all() and abs(near) <= EXACT < far
    return far if shares else 0


def _compared(releases: pd.DataFrame) -> Iterator[str]:
    """How many releases are efficient, dominated, undecided or refused, and by which losses: sentences."""
    count = releases.status.value_counts().reindex(["efficient", "dominated", "undecided"], fill_value=0)
    verb = count.map(lambda n: "is" if n == 1 else "are")
    named = {axis: releases[f"{axis}_of"].iloc[0] for axis in AXES}
    named = {axis: name if name.startswith(f"{axis} loss") else f"{name} ({axis} loss)" for axis, name in named.items()}
    yield (
        f"Of {len(releases)} releases {count.efficient} {verb.efficient} efficient: no other one here is as good in "
        f"both {named['privacy']} and {named['utility']} and better in one; lower is better for both. "
        f"{count.dominated} {verb.dominated} dominated, {count.undecided} cannot be decided."
    )
    if least := (~bounded(releases)).sum():
        yield (
            f"Of {least} a loss is known from below only: such a release may be dominated, but dominates none, keeps "
            "no cap and is no end of the frontier."
        )
    if refused := (releases.refused.fillna("") != "").sum():
        yield f"{refused} may not be chosen whatever the losses, and {'is' if refused == 1 else 'are'} left out."


def _mined(gains: pd.DataFrame, releases: pd.DataFrame) -> str:
    """That a gain reached by miners is a lower bound, where it is an axis."""
    mined = gains[~gains.sanitizer.isin(gains[gains.miner == ""].sanitizer) & (gains.miner != "worst")]
    if "accuracy_gain" not in [releases[f"{axis}_measure"].iloc[0] for axis in AXES] or mined.empty:
        return ""
    noisy, miners = (listed(column.unique()) for column in (mined.sanitizer.map(title), mined.miner))
    return (
        "In classes and buckets the accuracy gain is exact for an adversary who knows the class. Without classes "
        f"({noisy}) it is what the best of {miners} reaches, or 0, since anybody can guess the commonest value. A "
        "better attack may reach more, so such a release dominates no other one, and keeps no cap on this gain."
    )


@of_results()
def search(
    tuned: decision.Tuned | None,
    cap: Number,
    whole: Annotated[pd.DataFrame | None, optional(check_results)] = None,
    *,
    floor: Floor = FLOOR,
    **axes: Any,
) -> Iterator[Part]:
    """What a search under a cap found, how much it tried, and how near it comes to the whole grid's best.

    Parameters
    ----------
    tuned : Tuned or None
        Of `decision.tune`; None where no search was asked for.
    cap : float
        The most privacy loss accepted.
    whole : DataFrame, optional
        Results of the whole grid.
    floor, **axes : int, and Loss or str
        As of `decision.points`: `privacy` and `utility`.
    """
    for axis, loss in axes.items():
        check_loss(axis, loss)
    if tuned is None:
        yield "Nothing was searched: that takes a PRIVACY_CAP above 0, a TUNED parameter and a sensitive attribute."
        return
    releases = tuned.releases
    if tuned.value is None and releases.privacy_high.isna().all():
        yield "Nothing was found: at each value tried the privacy loss is of few people, and withheld."
        return
    tried, under = {"values tried": f"{tuned.evaluations} of the grid's {tuned.size}"}, f"of at most {cap:.3g}"
    if tuned.unreachable:
        tried["this table cannot be sanitized at"] = f"{len(tuned.unreachable)} of them"
    if tuned.value is None:
        row = releases.loc[releases.privacy_high.idxmin()]
        subject, value = "Least upper bound of the privacy loss", row.privacy_high
        note = f"No value tried keeps a privacy loss {under}."
        if np.isposinf(value) and np.isfinite(row.privacy_low):
            note = f"What they lose is known from below only, so none is sure to keep a privacy loss {under}."
    else:
        row = releases[releases.value == tuned.value].iloc[0]
        subject, value, note = f"Least utility loss with a privacy loss {under}", row.utility, ""
        tried["its privacy loss"] = row.privacy_high
    yield Finding(subject, value, setting=row.setting, beside=tried, better="lower", note=note)
    if whole is None:
        yield (
            "The whole grid was not evaluated, so how near this comes to its best is not known here. The full profile "
            "evaluates it."
        )
        return
    best = decision.choices(decision.points(whole, **axes, floor=floor), privacy_cap=cap).iloc[0]
    if best.setting == "none" or np.isnan(best.utility):
        yield "Nor does any other value of the whole grid." if tuned.value is None else ""
        return
    note = "The search loses no more."
    if tuned.value is None:
        note = "The search missed it."
    elif row.utility > best.utility * (1 + ROUNDING) + EXACT:
        more = f"{row.utility / best.utility - 1:.1%}" if best.utility > 0 else f"{row.utility:.3g}"
        note = f"The search loses {more} more."
    yield Finding("Least utility loss of the whole grid under the cap", best.utility, setting=best.setting, note=note)
