"""The steps of the sliders that no release of a table can reach, found from the whole table without a search."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.explorer.controls import slider_steps
from privnb.explorer.setting import Setting, apply_roles, check_setting
from privnb.microdata.counts import count_people_by_group, encode_values
from privnb.runtime.arrays import IntArray
from privnb.sanitizers.base import MODEL_BY_LETTER


def count_reachable(dataset: Dataset, setting: Setting) -> dict[str, int]:
    """Return the number of steps of each slider, from the loosest step, that a release may reach: `{letter: number}`.

    If the classes of a release satisfy a model, all people together satisfy it too. No release reaches a step that the
    whole table as one class does not satisfy. A release may fail to reach a lower step for another reason.

    If people have several records, only the steps of k are examined, because two classes that satisfy another model may
    break it together.
    """
    setting = check_setting(setting, dataset)
    whole = _count_values(dataset, setting)
    found = {}
    for letter in MODEL_BY_LETTER:
        steps = slider_steps(letter, getattr(setting, letter))
        is_open = letter != "k" and dataset.people is not None
        found[letter] = len(steps) if is_open else _count_steps(letter, steps, whole, dataset.headcount)
    return found


def _count_steps(letter: str, steps: Sequence[float], whole: IntArray, headcount: int) -> int:
    counts = np.array([[headcount]]) if letter == "k" else whole[None]
    models = [MODEL_BY_LETTER[letter](step, *["any"] * (letter != "k")) for step in steps if step]
    broken = [not model.holds(counts, counts[0]).all() for model in models]
    return len(steps) - sum(broken)


def _count_values(dataset: Dataset, setting: Setting) -> IntArray:
    return _count_once(apply_roles(dataset, setting), setting.sensitive)


@lru_cache(maxsize=16)
def _count_once(dataset: Dataset, sensitive: str) -> IntArray:
    """Return the number of people with each sensitive value, as an integer array (values,)."""
    return count_people_by_group(encode_values(dataset.cells[sensitive])[0], dataset.people)
