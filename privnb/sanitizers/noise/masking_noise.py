"""Masking noise in proportion to the variance of each column, which preserves means and, on request, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Positive
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masked, NumberMasking, round_drawn_numbers

Form = Literal["uncorrelated", "correlated", "transformed"]


@dataclass(frozen=True)
class MaskingNoise(NumberMasking):
    """Add Gaussian noise to each numeric quasi-identifier, with a variance of alpha times that of the column.

    Published numbers have the means of the records in expectation. Let S be the sample covariance matrix of the
    records. The expected covariance matrix of the published numbers depends on `form`:

    - "uncorrelated": S with each variance times 1 + alpha, so that correlations shrink;
    - "correlated": (1 + alpha) S, so that correlations stay;
    - "transformed": S itself. The numbers of "correlated" are moved towards their means by the factor c = 1 / sqrt(1 +
      alpha), as proposed by Kim; given the records, the expected sample covariance matrix is S without bias.

    The distribution of the noise is not public, because its variances derive from the records: to publish these
    variances would be a further release. `AdditiveNoise`, in contrast, has a stated variance and a public distribution.
    Cells are rounded to a thousandth of a step.

    Parameters
    ----------
    alpha : float
        The factor of the variances, above 0; a larger alpha means more noise. An alpha of 0.1 adds a tenth of each
        variance.
    form : str
        One of the three forms above.

    Source: Aggarwal and Yu 2008, section 3.3.1; Kim, "A Method for Limiting Disclosure in Microdata Based on Random
    Noise and Transformation", ASA Section on Survey Research Methods 1986.
    """

    alpha: Positive = 0.1
    form: Form = "correlated"
    title = "Masking noise"
    randomized = True

    @classmethod
    def default_settings(cls, sensitive: str | None = None) -> list[Self]:
        """Return the sanitizers that lists of releases show."""
        return [cls(), cls(form="transformed")]

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(form=form) for form in get_args(Form)]

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        for attribute, column in zip(attributes, found.T, strict=True):
            if (column == column[0]).all():
                raise SanitizationError(
                    f"{self!r}: all {len(column)} records have the same value of '{attribute.name}', so its "
                    "noise would be 0. Give the column the role 'neutral', or leave it out."
                )
        noise = rng.standard_normal(found.shape) @ _root(self.alpha * self._covariance(found))
        masked = found + noise
        if self.form == "transformed":
            masked = (masked - found.mean(axis=0)) / np.sqrt(1 + self.alpha) + found.mean(axis=0)
        return round_drawn_numbers(attributes, masked), {}

    def _covariance(self, found: IntArray) -> FloatArray:
        """Return the covariance matrix of the noise before it is multiplied by alpha."""
        covariance = np.atleast_2d(np.cov(found, rowvar=False))
        return np.diag(np.diag(covariance)) if self.form == "uncorrelated" else covariance


def _root(covariance: FloatArray) -> FloatArray:
    """Return, as a float array (m, m), the symmetric matrix whose square is `covariance`, which may be singular.

    Unlike `linear.take_root`, the function keeps directions with small eigenvalues, because the release that a seed
    produces depends on these directions.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T
