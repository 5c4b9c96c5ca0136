"""What mined predictions add to the adversary's gains, if they are put into a release."""

import pandas as pd

from privnb.evaluation.results import SETTING, measured
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import of

CLOSE = 1e-9  # two ways to the same number differ by less
READINGS = {
    "with predictions": "Predictions in the first record of each distinct row",
    "with all predictions": "Predictions for all people",
}


@of_results(otherwise="No predictions were put into a release beside a control: there is no increase to speak of.")
def mined_predictions(results):
    """Whether the worst miner's predictions add more to the adversary's gains than as many random labels do."""
    for variant, subject in READINGS.items():
        parts = [
            _changes(results, gain, variant, miner_set)
            for gain in ("accuracy_gain", "knowledge_gain")
            for miner_set in dict.fromkeys(of(results, gain, variant=variant).miner_set)
        ]
        changes = pd.concat(parts) if parts else pd.DataFrame()
        if len(changes):
            yield _verdict(subject, changes)


def _changes(results, gain, variant, miner_set):
    """A line for each release: by how much predictions change its gain, and the control's value and bounds."""
    keys = [*SETTING, "seed"]
    gains = measured(of(results, gain))
    before = gains[gains.variant == ""].set_index(keys).value
    these = of(gains, gain, variant=variant, miner_set=miner_set)
    predicted = these[these.control == ""].set_index(keys).value.rename("mined")
    control = these[these.control != ""].set_index(keys)[["low", "high"]]
    return pd.concat([predicted, control], axis=1, join="inner").sub(before, axis=0).dropna()


def _verdict(subject, changes):
    """Whether predictions do more than random labels: in most comparisons, not in a few.

    Comparisons share releases and miners, so how many of them chance may put above all draws is not known, only that
    one in forty is on average.
    """
    above, below = (changes.mined > changes.high + CLOSE).sum(), (changes.mined < changes.low - CLOSE).sum()
    note = "No more than by chance: the increase is no evidence of an attack."
    if above > len(changes) / 40:
        note = "The comparisons are not independent: too few to conclude that predictions beat random labels."
    if above > len(changes) / 2:
        note = f"{B}The predictions do more than random labels.{B}"
    return Finding(
        f"{subject} raise a gain beyond all draws of random labels in",
        above,
        format=f"{{:.0f}} of {len(changes)} comparisons",
        beside={"by chance": f"{len(changes) / 40:.2g}", "below all draws": f"{below}"},
        note=note,
    )
