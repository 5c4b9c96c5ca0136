"""Every setting of the sliders, counted before: what a page shows that has no kernel."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.parameters import number, numbers
from privnb.evaluation.profiles import evaluated, profile_of
from privnb.evaluation.results import join, tidy
from privnb.explorer.numbers import counted
from privnb.explorer.setting import FALLING, STEPS, Setting, changed, checked, choices, label, sanitizer
from privnb.measures import facts
from privnb.measures.base import live
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.errors import UsageError
from privnb.runtime.names import meant
from privnb.runtime.sentences import Page
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import kinds, title

LEAST = 2  # the k beside an l, t or delta
GROUP = 5  # settings per task
# What is shown of each setting beside what is `live`, lower is better: first what users lose.
MEASURES = (
    "utility_loss", "certainty_penalty", "accuracy_gain", "knowledge_gain", "privacy_loss", "identity_vulnerability",
)  # fmt: skip


def grid(
    dataset: Dataset,
    *,
    k: str | float = "",
    l: str | float = "",  # noqa: E741 - the field's letter
    t: str | float = "",
    delta: str | float = "",
    epsilon: str | float = "",
    profile: str = "quick",
) -> list[Setting]:
    """The settings that this table can be asked for, one bound at a time, each series from loose to strict: a list.

    `k`, `l`, `t`, `delta`, `epsilon`: one number each, or several separated by commas; empty for the steps of the
    sliders, of which the quick profile takes every second one but of k. Beside l, t and delta, k is 2. The quick
    profile does without `KMember` and `FullDomain`, which search for seconds.
    """
    everything, given = profile_of(profile).family["all"], {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    steps: dict[str, list[float]] = {}
    for letter, text in given.items():
        asked = numbers(letter.upper(), text, int if letter == "k" else number) or STEPS[letter]
        asked = sorted({step for step in asked if step}, reverse=letter in FALLING)
        steps[letter] = asked if text or everything or letter == "k" else asked[::2]
    return [
        checked(setting, dataset)
        for kind in choices(dataset)["sanitizer"]
        if everything or not kinds()[kind].slow
        for letter in kinds()[kind].letters or ("",)
        for step in steps.get(letter, [0])
        if (setting := _at(kind, letter, step)) is not None
    ]


def _at(kind: str, letter: str, step: float) -> Setting | None:
    """The setting of one bound, or None where this kind has no such bound."""
    if letter and not kinds()[kind].accepts(letter, step):
        return None
    return changed(Setting(kind), **({"k": LEAST, letter: step} if letter else {}))


@validated
def all_counted(dataset: Dataset, settings: Sequence[Setting], *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """The counted numbers of all `settings`, on every usable core: tidy results. What cannot be reached has no row, and
    numbers of fewer than `fewest` people are withheld.

    They take half a minute and are not stored: the explorer's code is no part of what a stored result is known by.
    """
    groups = [settings[place : place + GROUP] for place in range(0, len(settings), GROUP)]
    tasks = [partial(_counted, dataset, group, fewest) for group in groups]
    return evaluated({"": tasks}, "", "count every setting")[""]


def _counted(dataset: Dataset, settings: Sequence[Setting], fewest: int = LIMIT) -> pd.DataFrame:
    found = [counted(dataset, setting, fewest=fewest) for setting in settings]
    return join(tidy([]), *(reading.results for reading in found if not reading.refused))


def steps(dataset: Dataset, settings: Sequence[Setting]) -> pd.DataFrame:
    """What a menu and a slider offer of `settings`: one row each, with `series` (sanitizer and the bound that varies),
    `setting` (what a person calls it), and `sanitizer` and `parameters` as results name it.
    """
    made = [sanitizer(setting, dataset) for setting in settings]
    return pd.DataFrame(
        {
            "series": [_series(setting) for setting in settings],
            "setting": [label(setting) for setting in settings],
            "sanitizer": [type(each).__name__ for each in made],
            "parameters": [each.changed_params() for each in made],
        }
    )


def first(steps: pd.DataFrame, start: str = "") -> str:
    """The name of the setting that a chart shows first.

    Parameters
    ----------
    steps : DataFrame
        Of `steps`.
    start : str
        One of its `setting`; empty: the explorer's own start where it is there, or else the first.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For one that is not there.
    """
    there = list(steps.setting)
    if start and start not in there:
        raise UsageError(
            f"START is a setting of the chart, such as {there[0]!r}; got {start!r}.{meant([start], there)}"
        )
    usual = label(Setting())
    return start or (usual if usual in there else there[0])


def _series(setting: Setting) -> str:
    *_, letter = ("", *setting.asked)
    least = f" (k = {LEAST})" if letter in ("l", "t", "delta") and "k" in setting.asked else ""
    return f"{title(setting.sanitizer)}: {letter}{least}".removesuffix(": ")


def measures() -> list[str]:
    """The names of the measures that are shown of each setting: a list. Lower is better for all of them."""
    return [*MEASURES, *(each.facts.name for each in live() if each.facts.better == "lower")]


def meanings() -> Page:
    """What each of `measures` means: a table."""
    rows = [(each.label, each.sentence, each.source) for each in map(facts, measures())]
    table = pd.DataFrame(rows, columns=["number", "what it means (lower is better)", "source"])
    return Page(table, f"{len(table)} numbers")
