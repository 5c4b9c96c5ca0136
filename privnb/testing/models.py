"""The contracts of all privacy models. `check_model` runs all of `CHECKS`."""

from collections.abc import Callable

import numpy as np

from privnb.privacy_models.anonymity import KAnonymity
from privnb.privacy_models.base import PrivacyModel, grade_release
from privnb.runtime.arrays import IntArray
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import validated
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.mondrian import Mondrian
from privnb.testing.sanitizers import SCHEMA, run_checks, toy

CLASSES = 50


@validated
def check_model(model: PrivacyModel) -> None:
    """Run all contracts of privacy models on a model; if the model has a sensitive attribute, it must be `disease`.

    Raises
    ------
    AssertionError
        If a contract is broken; the notes of the error name the contract and the model.
    """
    run_checks(CHECKS, [model])


def counts_of(model: PrivacyModel) -> tuple[IntArray, IntArray]:
    """Return synthetic counts of values in some classes, array (classes, values), and in the whole table, (values,)."""
    values = 1 if model.sensitive is None else len(SCHEMA[model.sensitive].categories.values)
    counts = np.random.default_rng(1).integers(0, 12, (CLASSES, values))
    return counts[counts.sum(axis=1) > 0], counts.sum(axis=0)


def check_level(model: PrivacyModel) -> None:
    """Check that each class has a level, which depends only on the counts of the class and those of the whole table."""
    counts, whole = counts_of(model)
    levels = model.level(counts, whole)
    assert levels.shape == (len(counts),), (
        f"there must be a level for each of {len(counts)} classes; got {levels.shape}"
    )
    assert not np.isnan(levels).any(), "a level must be a number"
    np.testing.assert_allclose(model.level(counts[::-1], whole)[::-1], levels)
    np.testing.assert_allclose(model.level(counts[:1], whole), levels[:1])


def check_bound(model: PrivacyModel) -> None:
    """Check that a class satisfies the model if and only if its level meets the bound.

    If a higher level is better, the level must be at least the bound; otherwise, the level must be at most the bound.
    """
    counts, whole = counts_of(model)
    levels, holds = model.level(counts, whole), model.holds(counts, whole)
    better = levels >= model.bound if model.better == "higher" else levels <= model.bound
    assert (better == holds)[np.abs(levels - model.bound) > EXACT * max(model.bound, 1)].all()


def check_merging(model: PrivacyModel) -> None:
    """Check that the union of two classes that satisfy a bound also satisfies this bound."""
    counts, whole = counts_of(model)
    one, other = np.triu_indices(len(counts), 1)
    levels, merged = model.level(counts, whole), model.level(counts[one] + counts[other], whole)
    if model.better == "higher":
        broken = merged < np.minimum(levels[one], levels[other]) * (1 - EXACT) - EXACT
    else:
        broken = merged > np.maximum(levels[one], levels[other]) * (1 + EXACT) + EXACT
    if broken.any():
        first = int(np.argmax(broken))
        pair, both = [levels[one[first]], levels[other[first]]], merged[first]
        raise AssertionError(
            f"two classes with the levels {pair[0]:g} and {pair[1]:g} have a union with the level {both:g}: the union "
            "must satisfy every bound that both classes satisfy"
        )


def check_enforcement(model: PrivacyModel) -> None:
    """Check that a sanitizer either makes a release that satisfies the model or raises SanitizationError."""
    try:
        release = Mondrian(KAnonymity(2), model).sanitize(toy(), rng=1)
    except SanitizationError:
        return
    level = grade_release(model, release)
    assert level >= model.bound - EXACT if model.better == "higher" else level <= model.bound + EXACT


CHECKS: tuple[Callable[[PrivacyModel], None], ...] = (check_level, check_bound, check_merging, check_enforcement)
