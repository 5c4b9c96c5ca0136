"""The ten exercises, with functions that compute the facts of a table and check an answer."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset
from privnb.decision import policies
from privnb.decision.by_policy import keeps_cap, read_at_cap
from privnb.decision.policies import Policy
from privnb.evaluation.evaluation_loop import Case
from privnb.explorer import risks
from privnb.explorer.readings import Reading, count_setting
from privnb.explorer.setting import (
    STEPS,
    Setting,
    apply_roles,
    change_setting,
    check_setting,
    make_sanitizer,
    setting_label,
)
from privnb.measures.disclosure.gains import accuracy_gain, class_counts
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata.release import Release
from privnb.microdata.schema import to_text
from privnb.microdata.withholding import limit_on_screen
from privnb.privacy_models import KAnonymity, TCloseness, grade_release
from privnb.runtime.arrays import IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.wording import line
from privnb.sanitizers import catalogue

TEXTS = "explorer/exercises"
CLASSES = 3  # the number of classes that a release of the first exercise has at least
SHARE = 0.1  # the largest expected error of a count, as a share of the count
HUNDREDTH = 0.01  # the step of an answer with two decimals, which is rounded up
EXACT = 1e-4  # the error of an answer with more decimals
POLICY = "groups-of-3"
CANDIDATES = ("Mondrian", "KMember", "LocalRecoding")  # the sanitizers among which the last exercises choose
GENERAL = ("counting", "empty", "no_number", "roles", "refused")  # codes that no single exercise explains
NEWCOMERS = 2  # people whom a release does not exclude, in addition to the one whom it excludes

Facts = Mapping[str, Any]  # the facts of the table that an exercise needs, and its answer
Wrong = Mapping[str, Any] | None  # the code and the data of the reason why an answer is wrong; None if it is right


class BoardState(NamedTuple):
    """The board at the moment when somebody checks an answer; `reading` is None until the setting is counted."""

    dataset: Dataset
    setting: Setting
    reading: Reading | None
    pinned: tuple[Setting, ...]
    policy: str
    min_count: int

    @property
    def counts(self) -> IntArray | None:
        """The sensitive values of each class, an integer array (classes, values); None for rows without classes."""
        if self.reading is None or self.reading.refused:
            return None
        release = _sanitize(self.dataset, self.setting)
        if release.without_classes or release.buckets is not None:
            return None
        return class_counts(release, check_setting(self.setting, self.dataset).sensitive)


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Parameters
    ----------
    key : str
    control : str
        The control of the answer: "number", "text" or "choice"; empty if the setting of the board is the answer.
    prepare : function
        A function that returns the facts of a dataset, or None if the table has no such exercise.
    check : function
        A function of the facts, the state of the board and the typed answer, which returns why the answer is wrong.
    needs_board : bool
        Whether the answer depends on the release of the board.
    """

    key: str
    control: str
    prepare: Callable[[Dataset], Facts | None]
    check: Callable[[Facts, BoardState, str], Wrong]
    needs_board: bool = True

    def find_wrong(self, facts: Facts, state: BoardState, typed: str) -> Wrong:
        """Return why an answer is wrong, with a general code if the board or the answer does not fit any exercise."""
        usual = check_setting(Setting(), state.dataset)
        if state.reading is None:
            return {"code": "counting"}
        if self.needs_board and check_setting(state.setting, state.dataset).roles != usual.roles:
            return {"code": "roles", "known": [*state.dataset.schema.quasi_identifiers]}
        if self.needs_board and state.reading.refused:
            return {"code": "refused", "why": state.reading.refused}
        if self.control and not typed:
            return {"code": "empty"}
        if self.control == "number" and read_number(typed) is None:
            return {"code": "no_number"}
        return self.check(facts, state, typed)


@lru_cache(maxsize=256)
def _sanitize(dataset: Dataset, setting: Setting) -> Release:
    setting = check_setting(setting, dataset)
    return Case(apply_roles(dataset, setting), make_sanitizer(setting, dataset), setting.seed).release


def _counts(dataset: Dataset, setting: Setting) -> IntArray:
    """Return the sensitive values of each class: integer array (classes, values)."""
    return class_counts(_sanitize(dataset, setting), check_setting(setting, dataset).sensitive)


def _values(dataset: Dataset, setting: Setting) -> list[str]:
    """Return the sensitive values in the order of the columns of `_counts`."""
    release = _sanitize(dataset, setting)
    return [*map(to_text, release.of_people(check_setting(setting, dataset).sensitive)[1])]


def _possible(dataset: Dataset, sanitizer: str = "Mondrian", /, **bounds: float) -> Release | None:
    """Return a release with some bounds; None if there is no such release."""
    try:
        return _sanitize(dataset, change_setting(Setting(sanitizer, k=2), **bounds))
    except ValueError:
        return None


def _class_number(release: Release) -> int:
    return len(release.people_per_class)


def read_number(text: str) -> float | None:
    """Return a typed number, with a decimal point or comma; None for another text."""
    try:
        number = float(text.replace("%", "").replace(",", ".").strip())
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_plain(state: BoardState, k: int) -> bool:
    """Return whether the board shows Mondrian with this k, without other bounds, for the roles of the table."""
    wanted = check_setting(Setting(k=k), state.dataset)
    setting = check_setting(state.setting, state.dataset)
    return (setting.sanitizer, setting.bounds, setting.roles) == (wanted.sanitizer, wanted.bounds, wanted.roles)


def _largest_k(dataset: Dataset) -> int | None:
    """Return the largest step of k with which Mondrian makes at least `CLASSES` classes."""
    found = [k for k in STEPS["k"] if (release := _possible(dataset, k=k)) and _class_number(release) >= CLASSES]
    return int(max(found)) if found else None


# --- 1: k ---


def _prepare_k(dataset: Dataset) -> Facts | None:
    k = _largest_k(dataset)
    if k is None:
        return None
    steps = {
        int(step): _class_number(release) for step in STEPS["k"] if (release := _possible(dataset, k=step)) is not None
    }
    return {"k": k, "least": CLASSES, "classes": steps[k], "steps": steps}


def _check_k(facts: Facts, state: BoardState, typed: str) -> Wrong:
    if not _is_plain(state, state.setting.k):
        return {"code": "other"}
    classes = _class_number(_sanitize(state.dataset, state.setting))
    if classes < CLASSES:
        return {"code": "few", "classes": classes}
    return None if state.setting.k == facts["k"] else {"code": "more"}


# --- 2: l ---


def _homogeneous(counts: IntArray) -> IntArray:
    """Return the classes whose people all have the same value: positions."""
    return np.flatnonzero((counts > 0).sum(axis=1) == 1)


def _prepare_l(dataset: Dataset) -> Facts | None:
    found = [
        k for k in STEPS["k"] if _possible(dataset, k=k) and len(_homogeneous(_counts(dataset, Setting(k=int(k)))))
    ]
    if not found:
        return None
    setting = Setting(k=int(max(found)))
    counts = _counts(dataset, setting)
    certain = counts[_homogeneous(counts)]
    values = _values(dataset, setting)
    return {
        "k": setting.k,
        "value": values[int(certain[0].argmax())],
        "certain": int(certain.sum()),
        "options": {value: value for value in values},
    }


def _check_l(facts: Facts, state: BoardState, typed: str) -> Wrong:
    counts = state.counts
    if counts is None or counts.sum(axis=1).min() < facts["k"]:
        return {"code": "not_k"}
    if not len(certain := _homogeneous(counts)):
        return {"code": "diverse"}
    disclosed = {_values(state.dataset, state.setting)[int(each)] for each in counts[certain].argmax(axis=1)}
    return None if typed in disclosed else {"code": "value", "value": typed}


# --- 3: unique combinations ---


def _prepare_unique(dataset: Dataset) -> Facts | None:
    names = dataset.schema.quasi_identifiers
    if len(names) < 2 or dataset.people is not None:
        return None
    table = dataset.table[names].astype(object).map(to_text)
    for name in names:
        others = [each for each in names if each != name]
        shared = table[name].value_counts()
        for value in sorted(shared[shared > 1].index):
            own = table[table[name] == value]
            rows = own[~own[others].duplicated(keep=False)][others].sort_values(others)
            if len(rows):
                return {
                    "name": name,
                    "value": value,
                    "sharing": len(own),
                    "others": others,
                    "rows": [", ".join(row) for row in rows.itertuples(index=False)],
                }
    return None


def _check_unique(facts: Facts, state: BoardState, typed: str) -> Wrong:
    if state.setting.sanitizer != "Identity":
        return {"code": "not_original"}
    given = [part for part in typed.replace(",", " ").split() if part]
    right = [row.replace(",", " ").split() for row in facts["rows"]]
    return None if given in right else {"code": "nobody"}


# --- 4: t ---


def _strictest_t(dataset: Dataset) -> float | None:
    """Return the strictest step of t with which Mondrian makes at least two classes."""
    found = [t for t in STEPS["t"] if t and (release := _possible(dataset, t=t)) and _class_number(release) > 1]
    return min(found) if found else None


def _prepare_t(dataset: Dataset) -> Facts | None:
    t = _strictest_t(dataset)
    if t is None:
        return None
    sensitive = check_setting(Setting(), dataset).sensitive
    release = _sanitize(dataset, Setting(k=2, t=t))
    return {
        "t": t,
        "reached": float(grade_release(TCloseness(t, sensitive), release)),
        "classes": _class_number(release),
    }


def _check_t(facts: Facts, state: BoardState, typed: str) -> Wrong:
    counts = state.counts
    if counts is None:
        return {"code": "no_classes"}
    if len(counts) < 2:
        return {"code": "one_class"}
    sensitive = check_setting(state.setting, state.dataset).sensitive
    reached = float(grade_release(TCloseness(facts["t"], sensitive), _sanitize(state.dataset, state.setting)))
    return None if reached <= facts["t"] + ROUNDING else {"code": "far", "t": reached}


# --- 5: l and t compared ---


def _prepare_pins(dataset: Dataset) -> Facts | None:
    gains: dict[str, dict[float, float]] = {"l": {}, "t": {}}
    for letter, own in gains.items():
        for bound in reversed(STEPS[letter]):  # the strictest first
            release = _possible(dataset, **{letter: bound}) if bound else None
            if release and _class_number(release) > 1:
                own[bound] = float(accuracy_gain(_bounded_counts(dataset, letter, bound)))
    pairs = [(l, t) for l in gains["l"] for t in gains["t"]]  # noqa: E741 - the fields' letters
    if not pairs:
        return None
    apart = [(l, t) for l, t in pairs if abs(gains["l"][l] - gains["t"][t]) > ROUNDING]  # noqa: E741
    chosen = dict(zip(("l", "t"), (apart or pairs)[0], strict=True))
    options = {each: str(line(TEXTS, "pins_option", each)) for each in ("l", "t", "equal")}
    return chosen | {"gains": {letter: gains[letter][bound] for letter, bound in chosen.items()}, "options": options}


def _bounded_counts(dataset: Dataset, letter: str, bound: float) -> IntArray:
    return _counts(dataset, change_setting(Setting(k=2), **{letter: bound}))


def _pinned_gains(state: BoardState) -> dict[str, tuple[str, float]]:
    """Return the label and the gain of the last pinned release with only l, and of the last one with only t."""
    found = {}
    for pin in state.pinned:
        letters = {"l", "t"} & {*pin.bounds}
        reading = count_setting(state.dataset, pin, min_count=state.min_count)
        gain = reading.results[reading.results.measure == "accuracy_gain"].value
        if len(letters) == 1 and not reading.refused and len(gain) and pd.notna(gain.iloc[0]):
            found[letters.pop()] = setting_label(pin), float(gain.iloc[0])
    return found


def _check_pins(facts: Facts, state: BoardState, typed: str) -> Wrong:
    found = _pinned_gains(state)
    if lacking := [letter for letter in ("l", "t") if letter not in found]:
        return {"code": "lacking", "letter": lacking[0]}
    by_l, by_t = found["l"][1], found["t"][1]
    right = "equal" if abs(by_l - by_t) <= ROUNDING else "l" if by_l < by_t else "t"
    return None if typed == right else {"code": "other", "pins": dict(found.values())}


# --- 6: noise ---


def _prepare_noise(dataset: Dataset) -> Facts | None:
    counts = _counts(dataset, Setting("Suppress"))[0]
    most = int(counts.max())
    return {
        "value": _values(dataset, Setting("Suppress"))[int(counts.argmax())],
        "count": most,
        "share": SHARE,
        "error": SHARE * most,
        "epsilon": 1 / (SHARE * most),
    }


def _check_noise(facts: Facts, state: BoardState, typed: str) -> Wrong:
    epsilon = read_number(typed)
    assert epsilon is not None
    if epsilon <= 0:
        return {"code": "not_positive"}
    if epsilon < facts["epsilon"] - EXACT:
        return {"code": "small", "error": 1 / epsilon}
    return {"code": "large", "error": 1 / epsilon} if epsilon >= facts["epsilon"] + HUNDREDTH else None


# --- 7: membership ---


def _prepare_membership(dataset: Dataset) -> Facts | None:
    k, names = _largest_k(dataset), dataset.schema.quasi_identifiers
    if k is None or len(names) < 2:
        return None
    release = _sanitize(dataset, Setting(k=k))
    people = dataset.table[names].drop_duplicates().sort_values(names).reset_index(drop=True)
    pairs = people[names[:-1]].merge(people[names[-1:]].drop_duplicates(), how="cross").drop_duplicates()
    there = pairs.merge(people, how="left", indicator=True)["_merge"].eq("both").to_numpy()
    strangers = pairs[~there].reset_index(drop=True)
    if strangers.empty:
        return None
    index, fit = Linkage(tuple(names)).fit(release.publish()[0]).fits(strangers)
    is_covered = fit.any(axis=1)[index]
    out, inside = strangers[~is_covered], strangers[is_covered]
    if out.empty or len(inside) < NEWCOMERS:
        return None
    chosen = pd.concat([out.iloc[[len(out) // 2]], inside.iloc[[0, -1]]])
    texts = [", ".join(f"{name} {to_text(value)}" for name, value in row.items()) for _, row in chosen.iterrows()]
    return {
        "k": k,
        "options": {text: text for text in sorted(texts)},
        "out": texts[0],
        "classes": _class_number(release),
    }


def _check_membership(facts: Facts, state: BoardState, typed: str) -> Wrong:
    if not _is_plain(state, facts["k"]):
        return {"code": "other"}
    return None if typed == facts["out"] else {"code": "covered"}


# --- 8: background knowledge ---


def _prepare_background(dataset: Dataset) -> Facts | None:
    k = _largest_k(dataset)
    if k is None:
        return None
    most = int((_counts(dataset, Setting(k=k)) > 0).sum(axis=1).max())
    return {"k": k, "different": most, "facts": most - 1} if most > 1 else None


def _check_background(facts: Facts, state: BoardState, typed: str) -> Wrong:
    if not _is_plain(state, facts["k"]):
        return {"code": "other"}
    number = read_number(typed)
    if number == facts["facts"]:
        return None
    return {"code": "all" if number == facts["different"] else "number"}


# --- 9: the decision ---


def _keeps(policy: Policy, dataset: Dataset, setting: Setting, min_count: int) -> bool:
    """Return whether a release keeps the minimum class size and the caps of a policy on the risks that are counted."""
    release = _sanitize(dataset, setting)
    if release.without_classes or grade_release(KAnonymity(2), release) < policy.min_class_size:
        return False
    found = risks.measure_slow_risks(dataset, setting, {cap.risk for cap in policy.caps}, "", min_count)[0]
    rows = [(cap, found[cap.risk]) for cap in policy.caps]
    return all(keeps_cap(SimpleNamespace(**read_at_cap(own[own.measure == cap.measure], cap))) for cap, own in rows)


def _prepare_decision(dataset: Dataset) -> Facts | None:
    policy = policies.read(POLICY)
    found: dict[Setting, float] = {}
    for sanitizer in CANDIDATES:
        for k in STEPS["k"]:
            if release := _possible(dataset, sanitizer, k=k):
                found[Setting(sanitizer, k=int(k))] = float(certainty_penalty(release))
    ordered = sorted(found, key=lambda setting: (found[setting], -setting.k))  # the largest k of equal releases
    best = next(
        (each for each in ordered if _keeps(policy, dataset, each, limit_on_screen(dataset.schema.invented))), None
    )
    if best is None:
        return None
    counts = _counts(dataset, best)
    return {
        "policy": policy.title,
        "least": policy.min_class_size,
        "titles": [catalogue.kinds()[name].title for name in CANDIDATES],
        "best": setting_label(best),
        "penalty": found[best],
        "certain": int(counts[_homogeneous(counts)].sum()),
        "capped": sorted({cap.risk for cap in policy.caps}),
    }


def _check_decision(facts: Facts, state: BoardState, typed: str) -> Wrong:
    if state.policy != POLICY:
        return {"code": "policy"}
    setting = state.setting
    is_offered = setting.sanitizer in CANDIDATES and {*setting.bounds} == {"k"}
    if not is_offered or setting.roles != check_setting(Setting(), state.dataset).roles:
        return {"code": "other"}
    if not _keeps(policies.read(POLICY), state.dataset, setting, state.min_count):
        return {"code": "broken"}
    penalty = float(certainty_penalty(_sanitize(state.dataset, setting)))
    return None if penalty <= facts["penalty"] + ROUNDING else {"code": "costly", "penalty": penalty, "k": setting.k}


# --- 10: the limits of all models ---


def _prepare_limits(dataset: Dataset) -> Facts | None:
    noise = _prepare_noise(dataset)
    return noise and {"value": noise["value"], "right": noise["count"]}


def _check_limits(facts: Facts, state: BoardState, typed: str) -> Wrong:
    counts = state.counts
    if counts is None or accuracy_gain(counts) > ROUNDING or len(counts) > 1:
        return {"code": "reveals"}
    number = read_number(typed)
    return None if number == facts["right"] else {"code": "none" if number == 0 else "number"}


EXERCISES = (
    Exercise("k", "", _prepare_k, _check_k),
    Exercise("l", "choice", _prepare_l, _check_l),
    Exercise("unique", "text", _prepare_unique, _check_unique),
    Exercise("t", "", _prepare_t, _check_t),
    Exercise("pins", "choice", _prepare_pins, _check_pins),
    Exercise("noise", "number", _prepare_noise, _check_noise, needs_board=False),
    Exercise("membership", "choice", _prepare_membership, _check_membership),
    Exercise("background", "number", _prepare_background, _check_background),
    Exercise("decision", "", _prepare_decision, _check_decision),
    Exercise("limits", "number", _prepare_limits, _check_limits),
)
