"""The privacy models that sanitizers promise, and the order of releases with equal numbers by their promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING_COLUMNS, describe_setting
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.tolerances import nearly_equal
from privnb.sanitizers.base import Sanitizer

Release = tuple[str, str]  # sanitizer and parameters, as results name them
Promise = Mapping[tuple[Any, ...], float]  # by model and attribute: the bound, of which a larger one is stronger
Promises = Mapping[Release, Promise]
SIZE = (KAnonymity.__name__,)


def check_promises(name: str, value: object) -> None:
    """Raise UsageTypeError for a value that is not the result of `list_promises`."""
    is_valid = isinstance(value, Mapping) and all(
        isinstance(key, tuple) and len(key) == len(SETTING_COLUMNS) and isinstance(own, Mapping)
        for key, own in value.items()
    )
    if not is_valid:
        raise UsageTypeError(
            f"`{name}` must be the promises of sanitizers; got {expect.describe_value(value)}. Try "
            "`decision.promises.list_promises(sanitizers)`."
        )


def list_promises(sanitizers: Iterable[Sanitizer]) -> Promises:
    """Return the promises of sanitizers by the key of their releases in results; reference sanitizers are left out."""
    made = {}
    for each in sanitizers:
        if not each.reference:
            setting = describe_setting(each)
            made[setting["sanitizer"], setting["parameters"]] = _promise(each)
    return made


def _promise(sanitizer: Sanitizer) -> Promise:
    """Return the bounds that a sanitizer promises, by the kind and the attribute of each model.

    A bound of which a smaller number protects better has a minus sign. Each minimum class size counts as k-anonymity.
    """
    found: dict[tuple[Any, ...], float] = {}
    models = getattr(sanitizer, "models", ())
    for each in (sanitizer, *models):
        if isinstance(size := getattr(each, "k", None), int):
            found[SIZE] = max(size, found.get(SIZE, 0))
    for model in models:
        others = [repr(getattr(model, each.name)) for each in fields(model)[1:] if each.name != "k"]
        if not isinstance(model, KAnonymity) and isinstance(model.bound, int | float):
            found[type(model).__name__, *others] = model.bound if model.better == "higher" else -model.bound
    return found


def is_stronger(promise: Promise, other: Promise) -> bool:
    """Return whether a promise includes each model of the other promise with an equal or stronger bound, and more."""
    return promise != other and all(promise.get(model, -np.inf) >= bound for model, bound in other.items())


def prefer_stronger(releases: pd.DataFrame, vectors: pd.DataFrame, promises: Promises) -> pd.DataFrame:
    """Return the releases in the same order, except that of releases with equal numbers stronger promises come first.

    The numbers are the loss and all capped risks with their intervals. Releases that break the policy, and releases
    without a promise in `promises`, keep their places.
    """
    own = {key: rows for key, rows in vectors.groupby(SETTING_COLUMNS, sort=False)}
    keys = [*releases[SETTING_COLUMNS].itertuples(index=False, name=None)]
    able = [place for place, key in enumerate(keys) if releases.kept.iloc[place] and key in promises]
    numbers = {place: own[keys[place]][["value", "low", "high"]].to_numpy(dtype=float) for place in able}
    order, seen = [*range(len(keys))], set[int]()
    for place in able:
        if place not in seen:
            alike = [each for each in able if each not in seen and _are_equal(numbers[place], numbers[each])]
            seen.update(alike)
            for into, each in zip(
                alike, _strongest_first(alike, [promises[keys[each]] for each in alike]), strict=True
            ):
                order[into] = each
    return releases.iloc[order].reset_index(drop=True)


def _are_equal(one: FloatArray, other: FloatArray) -> bool:
    return bool((nearly_equal(one, other) | (np.isnan(one) & np.isnan(other))).all())


def _strongest_first(places: Sequence[int], promises: Sequence[Promise]) -> list[int]:
    """Return places in their order, except that the places with stronger promises than a place come before it."""
    rest, ordered = dict(zip(places, promises, strict=True)), list[int]()
    while rest:
        first: int | None = next(iter(rest))
        while first is not None:  # a release is replaced only by one whose promise includes its own
            strongest = first
            first = next((each for each in rest if is_stronger(rest[each], rest[strongest])), None)
        ordered.append(strongest)
        del rest[strongest]
    return ordered
