"""Which release to publish, from the points of the frontier."""

import numpy as np

from privnb import decision
from privnb.decision import AXES
from privnb.decision.points import check_loss
from privnb.decision.policies import RiskPolicy
from privnb.evaluation.results import check_results, whose
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import capitalized, of
from privnb.runtime import expect
from privnb.runtime.sentences import B, listed
from privnb.runtime.tolerances import EXACT, ROUNDING
from privnb.sanitizers.catalogue import title


@of_results(
    owners=lambda name, value: expect.kind(name, value, RiskPolicy, instead="decision.policies.read gives one.")
)
def floors(floor, owners):
    """How many people must share a published combination on two axes alone, and how many under the owner's policy.

    Parameters
    ----------
    floor : int
        Of the two axes.
    owners : RiskPolicy
    """
    yield (
        f"A release is compared on these two axes only if at least {B}{floor} people{B} share each published "
        f"combination of quasi-identifiers. The policy {owners.title} has its own floor: {B}{owners.floor} people{B}."
    )


@of_results()
def publication(results, releases, policy):
    """What two axes alone say, which is no recommendation: which release loses least, and why others are left out.

    Parameters
    ----------
    results, releases : DataFrame
        Tidy results, and `frontier.points` of these with the policy's floor.
    policy : Policy
        What the owner accepts.
    """
    caps = policy.caps(releases)
    table = decision.choices(releases, **caps)
    first = f"{B}{table.setting.iloc[0]}{B} comes first"
    if table.setting.iloc[0] == "none":
        first = f"{B}None of these releases should be published{B}"
    yield f"{first} ({whose(results)}): {decision.reason(releases, table, policy)}."
    if reasons := decision.left_out(releases, **caps):
        many = sum(map(len, reasons.values()))
        yield f"{many} of {len(releases)} releases {'is' if many == 1 else 'are'} left out:"
        yield [f"{capitalized(why)}: {listed(settings)}." for why, settings in reasons.items()]
    yield from decision.sentences(table, releases)
    yield _mined(of(results, "accuracy_gain"), releases)
    yield (
        "A release is efficient among these releases and by these two measures. That no attack was found does not mean "
        "that there is none."
    )


def _mined(gains, releases):
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


@of_results(
    tuned=lambda name, value: value is None or expect.kind(name, value, decision.Tuned),
    cap=expect.number,
    whole=lambda name, value: value is None or check_results(name, value),
    axes=lambda _, losses: [check_loss(axis, loss) for axis, loss in losses.items()],
)
def search(tuned, cap, whole=None, *, floor=decision.Policy.floor, **axes):
    """What a search under a cap found, how much it tried, and how near it comes to the whole grid's best.

    Parameters
    ----------
    tuned : Tuned or None
        Of `frontier.tune`; None where no search was asked for.
    cap : float
        The most privacy loss accepted.
    whole : DataFrame, optional
        Results of the whole grid.
    floor, **axes : int, and Loss or str
        As of `frontier.points`: `privacy` and `utility`.
    """
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
