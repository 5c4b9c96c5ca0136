"""The controls of a setting: native form elements, each with its value in words.

ipywidgets' own sliders have a handle without a name, which a screen reader announces as "slider" and a number.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from privnb.explorer.html import render
from privnb.explorer.setting import FALLING, LETTERS, SCENARIOS, STEPS, Setting
from privnb.runtime.family import sentence
from privnb.runtime.names import names_in
from privnb.sanitizers import catalogue

MEANINGS = {
    "k": "At least so many people look alike.",
    "l": "Of people who look alike at most one in l has the same sensitive value.",
    "t": "How far people who look alike may differ from the whole table. 0: not at all.",
    "delta": "How much commoner or rarer a value may be among people who look alike. 0: no more.",
    "epsilon": "What the noise may tell of a person. The less, the more noise.",
}


class Slider(NamedTuple):
    """The steps of a bound, with their labels in words and the place of its value; `off`: why it cannot be moved."""

    letter: str
    steps: list[float]
    labels: list[str]
    place: int
    meaning: str
    off: str


def form(setting: Setting, offered: Mapping[str, Sequence[str]], idle: Mapping[str, str]) -> Markup:
    """Return the controls of a setting. `offered`, `idle`: what `setting.choices` and `setting.idle` say."""
    kinds = catalogue.kinds()
    return render(
        "form",
        setting=setting,
        offered=offered,
        idle=idle,
        kinds={each: kinds[each].title for each in offered["sanitizer"]},
        known=names_in(setting.quasi_identifiers),
        meaning=sentence(setting.kind),
        scenarios={letter: f"{letter}: {meaning}" for letter, meaning in SCENARIOS.items()},
        sliders=[slider(setting, letter, idle.get(letter, "")) for letter in LETTERS],
    )


def slider(setting: Setting, letter: str, off: str) -> Slider:
    value: float = getattr(setting, letter)
    values = steps(letter, value)
    labels = [said(letter, each, setting.kind.spends_per) for each in values]
    return Slider(letter, values, labels, values.index(value), MEANINGS[letter], off)


def steps(letter: str, value: float) -> list[float]:
    """Return the steps of a slider from loose to strict, with the value that it has, should a notebook have asked for
    another one.

    >>> steps("k", 7)[:4], steps("t", 0.7)[:4]
    ([2, 3, 5, 7], [0, 0.8, 0.7, 0.6])
    """
    asked = sorted({*STEPS[letter], value} - {0}, reverse=letter in FALLING)
    return [0] * (0 in STEPS[letter]) + asked


def said(letter: str, value: float, per: str = "attribute") -> str:
    """Return a step in words; `per`: what epsilon is spent on.

    >>> said("k", 10), said("t", 0), said("t", 0.2), said("epsilon", 1, "record")
    ('10 people', 'not asked for', '0.2', '1 per record')
    """
    units = {"k": " people", "epsilon": f" per {per}"}
    return f"{value:g}{units.get(letter, '')}" if value else "not asked for"
