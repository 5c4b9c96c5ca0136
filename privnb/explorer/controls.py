"""HTML of the controls: native form elements, each named, its value in words, and with its reason where it is off.

ipywidgets' own sliders have a handle without a name, which a screen reader announces as "slider" and a number.
"""

import json

from markupsafe import Markup

from privnb.explorer.setting import FALLING, LETTERS, SCENARIOS, STEPS
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
FORM = Markup(
    '<form class="privnb-form" onsubmit="return false" aria-label="Setting">'
    '<div class="privnb-choices">{sanitizer}{sensitive}{miner}</div>'
    '<p class="privnb-note"><b>{kind}.</b> {meaning}</p>'
    '<fieldset class="privnb-sliders"><legend>Bounds: the further right, the stricter</legend>{sliders}</fieldset>'
    '<fieldset class="privnb-known"><legend>What an adversary knows</legend>{known}</fieldset>'
    '<details class="privnb-more" data-key="more"><summary>More</summary><div class="privnb-choices">{scenario}{seed}'
    "</div></details></form>{reasons}"
)
ACTIONS = Markup(
    '<div class="privnb-actions" role="group" aria-label="Actions">{pin}{undo}<span class="privnb-sweep">{of}{sweep}'
    "</span></div>"
)
STATE = Markup(
    '<div class="privnb-state" data-busy="{busy}" data-working="{working}">'
    '<span class="privnb-status" role="status" {marks}>{status}</span><span class="privnb-doing">{doing}</span>{again}'
    "{fault}</div>"
)


def form(setting, offered, idle):
    """The controls of a setting. `offered`, `idle`: what `setting.choices` and `setting.idle` say."""
    known = names_in(setting.quasi_identifiers)
    scenarios = {letter: f"{letter}: {meaning}" for letter, meaning in SCENARIOS.items()}
    every = catalogue.kinds()
    kinds = {each: every[each].title for each in offered["sanitizer"]}
    return FORM.format(
        sanitizer=select("sanitizer", "Sanitizer", kinds, setting.sanitizer),
        kind=setting.kind.title,
        meaning=sentence(setting.kind),
        sliders=together(
            slider(letter, getattr(setting, letter), idle.get(letter), setting.kind.spends_per) for letter in LETTERS
        ),
        known=together(
            _box(name, name in known, "it is what nobody should learn" if name == setting.sensitive else "")
            for name in offered["quasi_identifiers"]
        ),
        sensitive=select("sensitive", "What nobody should learn", same(offered["sensitive"]), setting.sensitive),
        miner=select("miner", "Miner", same(offered["miner"]), setting.miner, idle.get("miner")),
        scenario=select("scenario", "Adversary's scenario", scenarios, setting.scenario, idle.get("scenario")),
        seed=_seed(setting.seed),
        reasons=_reasons(idle),
    )


def actions(letters, letter, *, pinned, undo):
    """The buttons: pin, undo, sweep. `letters`: of sliders that can be swept, `letter` the chosen one; `pinned`: the
    setting is; `undo`: what that would take back.
    """
    off = "" if letters else "This sanitizer reads no slider."
    return ACTIONS.format(
        pin=button("pin", "Pin", "This setting is pinned already." if pinned else ""),
        undo=button("undo", "Undo", "" if undo else "Nothing was changed yet.", title=f"Take back {undo}"),
        of=select("letter", "Slider to sweep", same(letters), letter, off),
        sweep=button("sweep", "Sweep", off, title="Count all its steps and draw their curve"),
    )


def state(status, marks, busy, doing, fraction, fault, again):
    """What goes on. `status`: of the numbers; `marks`: the same for machines; `doing`: beside the interface, `fraction`
    of it done, or None; `fault`: what went wrong; `again`: whether something can be started anew.
    """
    done = attribute("value", "" if fraction is None else f"{fraction:.3f}")
    bar = Markup('<progress aria-label="How far it is"{}></progress>').format(done)
    return STATE.format(
        busy=str(bool(busy)).lower(),
        working=str(bool(doing)).lower(),
        marks=marks,
        status=status,
        doing=together([doing, bar, button("cancel", "Cancel")]) if doing else "",
        again=button("again", "Try again") if again else "",
        fault=Markup('<p class="privnb-trouble" role="alert">{}</p>').format(fault) if fault else "",
    )


def steps(letter, value):
    """The steps of a slider from loose to strict, with the value that it has, should a notebook have asked for another
    one.

    >>> steps("k", 7)[:4], steps("t", 0.7)[:4]
    ([2, 3, 5, 7], [0, 0.8, 0.7, 0.6])
    """
    asked = sorted({*STEPS[letter], value} - {0}, reverse=letter in FALLING)
    return [0] * (0 in STEPS[letter]) + asked


def said(letter, value, per="attribute"):
    """A step in words; `per`: what epsilon is spent on.

    >>> said("k", 10), said("t", 0), said("t", 0.2), said("epsilon", 1, "record")
    ('10 people', 'not asked for', '0.2', '1 per record')
    """
    units = {"k": " people", "epsilon": f" per {per}"}
    return f"{value:g}{units.get(letter, '')}" if value else "not asked for"


def slider(letter, value, off=None, per="attribute"):
    """A slider over the steps of a letter, at its value; `off`: why it cannot be moved; `per`: as of `said`."""
    values = steps(letter, value)
    labels = [said(letter, each, per) for each in values]
    return Markup(
        '<div data-control data-key="{letter}" class="privnb-slider"{title}>'
        '<label for="privnb-{letter}">{letter}</label><output>{text}</output>'
        '<input type="range" id="privnb-{letter}" name="{letter}" min="0" max="{most}" step="1" value="{place}"'
        ' aria-valuetext="{text}" data-labels="{labels}" data-values="{values}"{off}>'
        "<small>{meaning}</small></div>"
    ).format(
        letter=letter,
        text=labels[values.index(value)],
        most=len(values) - 1,
        place=values.index(value),
        labels=json.dumps(labels),
        values=json.dumps(values),
        meaning=MEANINGS[letter],
        title=attribute("title", off or MEANINGS[letter]),
        off=_off(off),
    )


def select(name, label, options, value, off=None):
    """A named choice of one; `options`: `{value: text}`; `off`: why there is none."""
    chosen = together(
        Markup('<option value="{}"{}>{}</option>').format(each, Markup(" selected") * (each == value), text)
        for each, text in options.items()
    )
    return Markup(
        '<label class="privnb-select" data-control data-key="{name}"{title}><span>{label}</span>'
        '<select name="{name}"{off}>{options}</select></label>'
    ).format(name=name, label=label, title=attribute("title", off), off=_off(off), options=chosen)


def button(name, text, off="", *, value="", title="", label=""):
    """A button. `off`: why it does nothing now, which leaves it in reach; `label`: its name, where the text is none."""
    return Markup('<button type="button" name="{}" value="{}"{}{}{}>{}</button>').format(
        name,
        value,
        attribute("title", off or title),
        attribute("aria-label", label),
        attribute("aria-disabled", "true" if off else ""),
        text,
    )


def same(names):
    """Options that are called what they are."""
    return {name: name for name in names}


def together(parts):
    return Markup("").join(parts)


def attribute(name, text):
    return Markup(' {}="{}"').format(name, text) if text else Markup("")


def _off(reason):
    return Markup(" disabled") if reason else Markup("")


def _box(name, known, off):
    return Markup(
        '<label class="privnb-box" data-control{}><input type="checkbox" name="quasi_identifiers" value="{}"{}{}>'
        "{}</label>"
    ).format(attribute("title", off), name, Markup(" checked") * known, _off(off), name)


def _seed(seed):
    return Markup(
        '<label class="privnb-select" data-control data-key="seed"><span>Seed</span>'
        '<input type="number" name="seed" min="0" step="1" value="{}"></label>'
    ).format(seed)


def _reasons(idle):
    if not idle:
        return Markup("")
    rows = together(Markup("<li><b>{}</b>: {}</li>").format(*item) for item in idle.items())
    return Markup(
        '<details class="privnb-why" data-key="why"><summary>{} {} off here. Why?</summary><ul>{}</ul></details>'
    ).format(len(idle), "control is" if len(idle) == 1 else "controls are", rows)
