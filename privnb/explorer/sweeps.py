"""All settings of the sliders, counted in advance for a page without a kernel."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.parameters import parse_number, parse_numbers
from privnb.evaluation.profiles import find_profile, run_evaluations
from privnb.evaluation.results import join_results, tidy
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import (
    FALLING,
    STEPS,
    Setting,
    change_setting,
    check_setting,
    list_choices,
    make_sanitizer,
    setting_label,
)
from privnb.measures import measure_facts
from privnb.measures.base import live_measures
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.errors import UsageError
from privnb.runtime.names import suggest
from privnb.runtime.sentences import FullTable
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import kinds, title

LEAST = 2  # the k that goes with an l, t or delta
GROUP = 5  # settings per task
# The measures of each setting, in addition to those that are `live`; lower is better. The losses of users come first.
MEASURES = (
    "utility_loss", "certainty_penalty", "accuracy_gain", "knowledge_gain", "privacy_loss", "identity_vulnerability",
)  # fmt: skip


def list_settings(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letter
    t: str | float = "",
    delta: str | float = "",
    epsilon: str | float = "",
    profile: str = "quick",
) -> list[Setting]:
    """Return the settings that fit a table, as series that vary one bound from loose to strict.

    `k`, `l`, `t`, `delta` and `epsilon` are each one number, or several numbers separated by commas, or empty for the
    steps of the sliders. The quick profile takes every second step, except for k, and leaves out `KMember` and
    `FullDomain`, whose searches take seconds. In series that vary l, t or delta, k is 2.
    """
    everything, given = (
        find_profile(profile).family["all"],
        {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon},
    )
    steps: dict[str, list[float]] = {}
    for letter, text in given.items():
        asked = parse_numbers(letter.upper(), text, int if letter == "k" else parse_number) or STEPS[letter]
        asked = sorted({step for step in asked if step}, reverse=letter in FALLING)
        steps[letter] = asked if text or everything or letter == "k" else asked[::2]
    return [
        check_setting(setting, dataset)
        for kind in list_choices(dataset)["sanitizer"]
        if everything or not kinds()[kind].slow
        for letter in kinds()[kind].letters or ("",)
        for step in steps.get(letter, [0])
        if (setting := _setting_at(kind, letter, step)) is not None
    ]


def _setting_at(kind: str, letter: str, step: float) -> Setting | None:
    """Return the setting of one bound, or None if the sanitizer does not accept the bound."""
    if letter and not kinds()[kind].accepts_value(letter, step):
        return None
    return change_setting(Setting(kind), **({"k": LEAST, letter: step} if letter else {}))


@validated
def count_every_setting(dataset: Dataset, settings: Sequence[Setting], *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Return the counted numbers of all `settings` as tidy results, computed on every usable core.

    A setting that cannot be reached has no row, and numbers of fewer than `min_count` people are withheld. Counting
    takes half a minute. The results are not stored, because the key of a stored result does not cover the code of the
    explorer.
    """
    groups = [settings[place : place + GROUP] for place in range(0, len(settings), GROUP)]
    tasks = [partial(_counted, dataset, group, min_count) for group in groups]
    return run_evaluations({"": tasks}, "", "count every setting")[""]


def _counted(dataset: Dataset, settings: Sequence[Setting], min_count: int = LIMIT) -> pd.DataFrame:
    found = [count_setting(dataset, setting, min_count=min_count) for setting in settings]
    return join_results(tidy([]), *(reading.results for reading in found if not reading.refused))


def list_steps(dataset: Dataset, settings: Sequence[Setting]) -> pd.DataFrame:
    """Return the options of a menu and a slider, one row per setting.

    The columns are `series` (the sanitizer and the bound that varies), `setting` (a readable name), and `sanitizer` and
    `parameters` as in results.
    """
    made = [make_sanitizer(setting, dataset) for setting in settings]
    return pd.DataFrame(
        {
            "series": [_series(setting) for setting in settings],
            "setting": [setting_label(setting) for setting in settings],
            "sanitizer": [type(each).__name__ for each in made],
            "parameters": [each.changed_params() for each in made],
        }
    )


def first_step(steps: pd.DataFrame, start: str = "") -> str:
    """Return the name of the setting that a chart shows first.

    Parameters
    ----------
    steps : DataFrame
        The result of `list_steps`.
    start : str
        A value of the column `setting` in `steps`; if empty, the first setting of the explorer or, if it is not listed,
        the first row.

    Raises
    ------
    ValueError
        For a name that is not listed.
    """
    there = list(steps.setting)
    if start and start not in there:
        raise UsageError(
            f"START must be a setting of the chart, such as {there[0]!r}; got {start!r}.{suggest([start], there)}"
        )
    usual = setting_label(Setting())
    return start or (usual if usual in there else there[0])


def _series(setting: Setting) -> str:
    *_, letter = ("", *setting.bounds)
    least = f" (k = {LEAST})" if letter in ("l", "t", "delta") and "k" in setting.bounds else ""
    return f"{title(setting.sanitizer)}: {letter}{least}".removesuffix(": ")


def list_shown_measures() -> list[str]:
    """Return the names of the measures of each setting; for all these measures, lower is better."""
    return [*MEASURES, *(each.facts.name for each in live_measures() if each.facts.better == "lower")]


def explain_measures() -> FullTable:
    """Return a table with the meaning of each measure of `list_shown_measures`."""
    rows = [(each.label, each.sentence, each.source) for each in map(measure_facts, list_shown_measures())]
    table = pd.DataFrame(rows, columns=["number", "meaning (lower is better)", "source"])
    return FullTable(table, f"{len(table)} numbers")
