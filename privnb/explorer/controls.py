"""The controls of a setting: native form elements, each of which states its value in words.

ipywidgets' own sliders have a handle without a name, which a screen reader announces as "slider" and a number.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from markupsafe import Markup

from privnb.explorer.html import render_template
from privnb.explorer.setting import FALLING, LETTERS, SCENARIOS, STEPS, Setting
from privnb.runtime.names import parse_names
from privnb.runtime.registry import first_sentence
from privnb.runtime.wording import line
from privnb.sanitizers import catalogue

MEANINGS = {
    "k": "At least k people are indistinguishable.",
    "l": "At most one in l indistinguishable people has the same sensitive value.",
    "t": "The largest distance between indistinguishable people and the whole table. 0: no difference.",
    "delta": "How much more or less common a value may be among indistinguishable people. 0: no change.",
    "epsilon": "The privacy budget of the noise. A smaller epsilon means more noise.",
}


class Slider(NamedTuple):
    """The steps of a bound, their labels, and the position of the value; `off` states why the slider cannot move.

    `first_out` is the label of the first step that no release can reach, or empty, and `out` is the share of the track
    with such steps, in percent.
    """

    letter: str
    steps: list[float]
    labels: list[str]
    place: int
    meaning: str
    off: str
    first_out: str = ""
    out: float = 0


def render_controls(
    setting: Setting,
    offered: Mapping[str, Sequence[str]],
    idle: Mapping[str, str],
    reachable: Mapping[str, int] = MappingProxyType({}),
    invented: bool = False,
) -> Markup:
    """Render the controls of a setting, below a permanent line if the records are declared `invented`.

    `offered`, `idle` and `reachable` are the results of `setting.list_choices`, `setting.inactive_controls` and
    `reach.count_reachable`.
    """
    kinds = catalogue.kinds()
    return render_template(
        "form",
        setting=setting,
        offered=offered,
        idle=idle,
        invented=line("microdata/declared", "on_screen") if invented else "",
        kinds={each: kinds[each].title for each in offered["sanitizer"]},
        known=parse_names(setting.quasi_identifiers),
        meaning=first_sentence(setting.kind),
        scenarios={letter: f"{letter}: {meaning}" for letter, meaning in SCENARIOS.items()},
        sliders=[make_slider(setting, letter, idle.get(letter, ""), reachable.get(letter)) for letter in LETTERS],
    )


def make_slider(setting: Setting, letter: str, off: str, reachable: int | None = None) -> Slider:
    """Return the slider of a bound.

    `off` is the reason why the slider cannot move, or is empty. `reachable` is the number of steps, from the loosest
    one, that a release may reach; None means all steps.
    """
    value: float = getattr(setting, letter)
    values = slider_steps(letter, value)
    labels = [describe_step(letter, each, setting.kind.spends_per) for each in values]
    slider = Slider(letter, values, labels, values.index(value), MEANINGS[letter], off)
    if off or reachable is None or reachable == len(values):
        return slider
    named = labels[:reachable] + [f"{label}: not reachable" for label in labels[reachable:]]
    # The track runs from the first to the last step; the first step that is out begins half a step before its mark.
    out = 100 * min(1, (len(values) - reachable - 0.5) / max(len(values) - 1, 1))
    return slider._replace(labels=named, first_out=labels[reachable], out=out)


def slider_steps(letter: str, value: float) -> list[float]:
    """Return the steps of a slider from loose to strict, including the current value, which a notebook may have set.

    >>> slider_steps("k", 7)[:4], slider_steps("t", 0.7)[:4]
    ([2, 3, 5, 7], [0, 0.8, 0.7, 0.6])
    """
    asked = sorted({*STEPS[letter], value} - {0}, reverse=letter in FALLING)
    return [0] * (0 in STEPS[letter]) + asked


def describe_step(letter: str, value: float, per: str = "attribute") -> str:
    """Return a step in words; `per` is the unit on which epsilon is spent.

    >>> describe_step("k", 10), describe_step("t", 0), describe_step("epsilon", 1, "record")
    ('10 people', 'off', '1 per record')
    """
    units = {"k": " people", "epsilon": f" per {per}"}
    return f"{value:g}{units.get(letter, '')}" if value else "off"
