"""What mined predictions add to the adversary's gains, if they are put into a release."""

import pandas as pd

from privnb.evaluation.results import SETTING, measured
from privnb.measures import facts
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import capitalized, of

CLOSE = 1e-9  # two ways to the same number differ by less
READINGS = {"with predictions": "in the first record of each distinct row", "with all predictions": "for all people"}


@of_results(otherwise="No predictions were put into a release beside a control: there is no increase to speak of.")
def mined_predictions(results):
    """Whether the worst miner's predictions add more to the adversary's gains than as many random labels do."""
    cases = [
        (gain, where, miner_set, _wide(results, gain, variant, miner_set))
        for gain in ("accuracy_gain", "knowledge_gain")
        for variant, where in READINGS.items()
        for miner_set in dict.fromkeys(results.miner_set[(results.measure == gain) & (results.variant == variant)])
    ]
    cases = [case for case in cases if len(case[-1])]
    if cases:
        for where in dict.fromkeys(where for _, where, _, _ in cases):
            yield _verdict(where, pd.concat([wide for _, reading, _, wide in cases if reading == where]))
        yield [_added(*case) for case in cases]
        yield (
            "A new label takes a record out of its class. To split a class can only raise either gain, whatever the "
            "label says; where the record joins another class, that may lower them. An increase that random labels "
            "show as well is no evidence that the miner learned anything."
        )


def _verdict(where, wide):
    """Whether the predictions of one reading do more than random labels: in most comparisons, not in a few.

    Comparisons share releases and miners, so how many of them chance may put above all draws is not known, only that
    one in forty is on average.
    """
    above, below = (wide.mined > wide.high + CLOSE).sum(), (wide.mined < wide.low - CLOSE).sum()
    note = "No more than by chance: the increase is no evidence of an attack."
    if above > len(wide) / 40:
        note = "The comparisons are not independent: too few to conclude that predictions beat random labels."
    if above > len(wide) / 2:
        note = "The predictions do more than random labels."
    return Finding(
        f"{capitalized(where)} predictions raise a gain beyond all draws of random labels",
        above,
        format=f"{{:.0f}} of {len(wide)} comparisons",
        beside={"below all draws": f"{below}", "by chance above": f"{len(wide) / 40:.2g}"},
        note=note,
    )


def _wide(results, gain, variant, miner_set):
    """A line for each release: its gain before, the change by predictions, and the control's with its bounds."""
    keys = [*SETTING, "seed"]
    gains = measured(of(results, gain))
    before = gains[gains.variant == ""].set_index(keys).value.rename("before")
    these = gains[(gains.miner_set == miner_set) & (gains.variant == variant)]
    predicted = these[these.control == ""].set_index(keys).value.rename("mined")
    control = these[these.control != ""].set_index(keys)[["value", "low", "high"]]
    wide = pd.concat([before, predicted, control], axis=1, join="inner").dropna()
    return wide.sub(wide.before, axis=0).assign(before=wide.before)


def _added(gain, where, miner_set, wide):
    by_setting = wide.groupby(level=SETTING, sort=False)[["mined", "value"]].mean().round(6) + 0.0  # no -0
    least, most = by_setting.min(), by_setting.max()
    raised = by_setting[by_setting.mined >= 0.00005]  # what four digits show
    parts = raised.value / raised.mined
    shares = dict.fromkeys(f"{share:.0%}" for share in [parts.min(), parts.max()] if len(raised))
    return Finding(
        f"{facts(gain).title}, predictions of the worst of {miner_set or 'the miners'} {where}",
        most.mined,
        format="{:+.4f}",
        beside={
            "least": least.mined,
            "random labels": f"{least.value:+.4f} to {most.value:+.4f}",
            "their part of the increase": " to ".join(shares) or "none, for there is no increase",
        },
        better=facts(gain).better,
    )
