"""Which release to publish, from the points of the frontier."""

import numpy as np

from privnb import decision
from privnb.decision import AXES
from privnb.decision.caps import check_choices
from privnb.decision.points import check_loss
from privnb.evaluation.results import check_results, whose
from privnb.microdata import expect
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, report
from privnb.reporting.findings.rows import capitalized, listed, of
from privnb.sanitizers.catalogue import title


def publication(results, releases, table, policy):
    """The owner's choice: first which release may be published, then why the others may not.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    releases : DataFrame
        `frontier.points` of these, with the policy's floor.
    table : DataFrame
        `frontier.choices` of those.
    policy : Policy
        What the owner accepts.

    Returns
    -------
    Sentences
    """
    expect.these(results=results, releases=releases)
    check_choices(table)
    expect.kind("policy", policy, decision.Policy, instead="Give decision.Policy().")
    why, setting = decision.reason(releases, table, policy), table.setting.iloc[0]
    first = f"{B}{setting}{B} is recommended ({whose(results)}): {why}."
    if setting == "none":
        first = f"{B}None of these releases should be published{B} ({whose(results)}): {why}."
    return report(
        first,
        *_left_out(releases, policy.caps(releases)),
        *decision.sentences(table, releases),
        _mined(results, releases),
        "A release is efficient among these releases and by these two measures. That no attack was found does not mean "
        "that there is none.",
    )


def _left_out(releases, caps):
    """Why each of the others cannot be chosen, a paragraph and a list; nothing where all can."""
    reasons = decision.left_out(releases, **caps)
    if reasons:
        many = sum(map(len, reasons.values()))
        yield f"{many} of {len(releases)} releases {'is' if many == 1 else 'are'} left out:"
        yield [f"{capitalized(why)}: {listed(settings)}." for why, settings in reasons.items()]


def _mined(results, releases):
    """That a gain reached by miners is a lower bound, where it is an axis."""
    gains = of(results, "accuracy_gain")
    mined = gains[~gains.sanitizer.isin(gains[gains.miner == ""].sanitizer) & (gains.miner != "worst")]
    if "accuracy_gain" not in [releases[f"{axis}_measure"].iloc[0] for axis in AXES] or mined.empty:
        return ""
    noisy, miners = (listed([*column.unique()]) for column in (mined.sanitizer.map(title), mined.miner))
    return (
        "In classes and buckets the accuracy gain is exact for an adversary who knows the class. Without classes "
        f"({noisy}) it is what the best of {miners} reaches, or 0, since anybody can guess the commonest value. A "
        "better attack may reach more, so such a release dominates no other one and keeps no cap."
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
    floor : int
        As of `frontier.points`.
    **axes : Loss or str
        `privacy` and `utility`, as of `frontier.points`.

    Returns
    -------
    Sentences
    """
    if tuned is not None:
        expect.kind("tuned", tuned, decision.Tuned, instead="`frontier.tune` gives it.")
        expect.number("cap", cap)
    expect.these(floor=floor)
    if whole is not None:
        check_results("whole", whole)
    for axis, loss in axes.items():
        check_loss(axis, loss)
    if tuned is None:
        return report("Nothing was searched: that takes a PRIVACY_CAP above 0 and a TUNED parameter.")
    tried = {"values tried": f"{tuned.evaluations} of the grid's {tuned.size}"}
    if tuned.unreachable:
        tried["this table cannot be sanitized at"] = f"{len(tuned.unreachable)} of them"
    if tuned.value is None and tuned.releases.privacy_high.isna().all():
        return report("Nothing was found: at each value tried the privacy loss is of few people, and withheld.")
    if tuned.value is None:
        nearest = tuned.releases.loc[tuned.releases.privacy_high.idxmin()]
        note = f"No value tried keeps a privacy loss of at most {cap:.3g}."
        if np.isposinf(nearest.privacy_high) and np.isfinite(nearest.privacy_low):
            note = (
                f"What they lose is known from below only, so none is sure to keep a privacy loss of at most {cap:.3g}."
            )
        subject, row, value = "Least upper bound of the privacy loss", nearest, nearest.privacy_high
    else:
        row = tuned.releases[tuned.releases.value == tuned.value].iloc[0]
        subject, value, note = f"Least utility loss with a privacy loss of at most {cap:.3g}", row.utility, ""
        tried["its privacy loss"] = row.privacy_high
    found = Finding(subject, value, setting=row.setting, beside=tried, better="lower", note=note)
    return report(found, _beside(tuned, row, cap, whole, floor, axes))


def _beside(tuned, row, cap, whole, floor, axes):
    """The choice beside the whole grid's best, where the grid was evaluated."""
    if whole is None:
        return (
            "The whole grid was not evaluated, so how near this comes to its best is not known here. The full profile "
            "evaluates it."
        )
    best = decision.choices(decision.points(whole, **axes, floor=floor), privacy_cap=cap).iloc[0]
    if best.setting == "none" or np.isnan(best.utility):
        return "Nor does any other value of the whole grid." if tuned.value is None else ""
    if tuned.value is None:
        note = "The search missed it."
    elif row.utility <= best.utility * (1 + 1e-9) + 1e-12:
        note = "The search loses no more."
    else:
        more = f"{row.utility / best.utility - 1:.1%}" if best.utility > 0 else f"{row.utility:.3g}"
        note = f"The search loses {more} more."
    return Finding("Least utility loss of the whole grid under the cap", best.utility, setting=best.setting, note=note)
