"""The contract of all measures, which is that a measure states its facts and that its values are within its bounds."""

import math
from collections.abc import Callable
from inspect import signature
from typing import Any

from privnb.evaluation.evaluation_loop import evaluate
from privnb.measures.base import measure_facts
from privnb.sanitizers.generalization.k_member import KMember
from privnb.sanitizers.generalization.suppress import Suppress
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.noise.laplace_noise import LaplaceNoise
from privnb.sanitizers.noise.randomized_response import RandomizedResponse
from privnb.testing.sanitizers import toy

SANITIZERS = Identity(), KMember(2), KMember(10), Suppress(), LaplaceNoise(1.0), RandomizedResponse(1.0)
GIVEN = {"dataset", "release", "sensitive"}  # the arguments that `evaluate` gives to a measure


def check_measure(measure: Callable[..., Any]) -> None:
    """Check the facts of a function marked with `@measure`, and the values of this measure for six releases.

    The releases of a small table are the unchanged table, two releases of k-member clustering, one release without
    quasi-identifiers, one release with noise, and one release of randomized response. If the measure needs other
    arguments than `release`, `dataset` and `sensitive`, only the facts are checked.

    Raises
    ------
    AssertionError
        If a fact is missing, if a value is outside the bounds, or if the results contain neither a value nor a reason.
    """
    stated = measure_facts(measure.__name__)
    for name in ("kind", "better", "title", "unit", "source"):
        assert getattr(stated, name), f"the fact `{name}` is missing"
    assert stated.sentence.endswith("."), "`sentence` must be a sentence that ends with a full stop"
    assert "nan" not in stated.written(0.5)
    assert stated.written(math.inf) == "unbounded"
    asked = [each.name for each in signature(measure).parameters.values() if each.default is each.empty]
    if not {*asked} <= GIVEN:
        return
    results = evaluate(toy(), [*SANITIZERS], measures=[measure])
    values = results.loc[results.measure == measure.__name__, "value"].dropna()
    low, high = stated.bounds
    assert len(values) or (results.reason != "").all(), "there must be a number or a reason"
    outside = f"numbers from {values.min()} to {values.max()} must be within the bounds ({low}, {high})"
    assert values.between(low, high).all(), outside
