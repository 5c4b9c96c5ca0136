"""Noise added to every number of every record."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privnb.mechanisms import laplace
from privnb.release import Promise
from privnb.sanitizers.base import SanitizationError, Sanitizer


@dataclass(frozen=True)
class LaplaceNoise(Sanitizer):
    """Add independent Laplace noise of scale sensitivity / epsilon to each numeric quasi-identifier of each record.

    Smaller `epsilon` (positive) means more noise. Values are neither rounded nor clipped. `sensitivity`: how much one
    value can change, by attribute; None takes what the schema states, by default the width of each public domain.
    Epsilon is spent per attribute, locally: a record with two noisy values costs 2 epsilon, between neighbouring
    tables that differ in one record's values.

    With a seed the release is a simulation; only `rng=None` (OpenDP) may promise its epsilon, and then only when no
    sensitivity lies below the width of its domain.

    Source: Sramka et al. 2010, section 4.2. Erratum: the paper prints sensitivity 16 for education in 1-16, whose
    width is 15; 82 for ages 17-99 is right.
    """

    epsilon: float
    sensitivity: Mapping[str, float] | None = None
    order_free = False
    randomized = True

    def __post_init__(self):
        if isinstance(self.epsilon, bool) or not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f"epsilon must be a positive number, got {self.epsilon!r}.")

    def _sanitize(self, dataset, table, rng):
        schema = dataset.schema
        noisy = [name for name in schema.quasi_identifiers if schema[name].numeric]
        if not noisy:
            raise SanitizationError(
                f"{self!r}: no quasi-identifier of '{dataset.name}' is numeric; they are "
                f"{', '.join(schema.quasi_identifiers)}. Choose a study with numbers, or another sanitizer."
            )
        unknown = sorted(set(self.sensitivity or ()) - set(noisy))
        if unknown:
            raise SanitizationError(f"{self!r}: {unknown} is no numeric quasi-identifier; those are {noisy}.")
        widths = {name: schema[name].sensitivity or schema[name].domain.width for name in noisy}
        widths |= self.sensitivity or {}
        # One stream for all columns: the same seed must not give two columns the same noise.
        source = None if rng is None else np.random.default_rng(rng)
        for name in noisy:
            table[name] = laplace(table[name], widths[name] / self.epsilon, rng=source)
        facts = {"noisy": tuple(noisy), "simulation": rng is not None}
        if rng is None and all(widths[name] >= schema[name].domain.width for name in noisy):
            facts["promise"] = self._promise(noisy, [name for name in table if name not in noisy])
        return table, facts

    def _promise(self, noisy, rest):
        return Promise(
            self.epsilon * len(noisy),
            tuple(noisy),
            f"Local differential privacy for {', '.join(noisy)}: epsilon {self.epsilon:g} each, "
            f"{self.epsilon * len(noisy):g} a record, for any two values that one record may have. "
            f"Nothing is promised for {', '.join(rest)}, which are published as they are.",
        )
