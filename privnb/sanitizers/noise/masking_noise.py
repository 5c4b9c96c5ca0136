"""Noise as wide as the numbers themselves: means stay, and correlations where it is correlated as they are."""

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
from privnb.sanitizers.masking.base import Masked, NumberMasking, drawn

Form = Literal["uncorrelated", "correlated", "transformed"]


@dataclass(frozen=True)
class MaskingNoise(NumberMasking):
    """Add Gaussian noise to each numeric quasi-identifier, with alpha times the variance that its column has.

    Published numbers have the means of the records in expectation, and, of the records' sample covariance matrix S,

    - "uncorrelated": S with each variance times 1 + alpha, so that correlations shrink;
    - "correlated": (1 + alpha) S, so that correlations stay;
    - "transformed": S itself. The correlated numbers are drawn towards their means by c = 1 / sqrt(1 + alpha), after
      Kim; given the records, the expected sample covariance matrix is S without bias.

    The noise has no public law, for its variances are read from the records: to publish them would be one more release.
    Noise of a stated variance has one. Cells are rounded to a thousandth of a step.

    Parameters
    ----------
    alpha : float
        Above 0; larger means more noise. 0.1 adds a tenth of each variance.
    form : str
        One of the three.

    Source: Aggarwal and Yu 2008, section 3.3.1; Kim, "A Method for Limiting Disclosure in Microdata Based on Random
    Noise and Transformation", ASA Section on Survey Research Methods 1986.
    """

    alpha: Positive = 0.1
    form: Form = "correlated"
    title = "Masking noise"
    randomized = True

    @classmethod
    def settings(cls, sensitive: str | None = None) -> list[Self]:
        return [cls(), cls(form="transformed")]

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(form=form) for form in get_args(Form)]

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        for attribute, column in zip(attributes, found.T, strict=True):
            if (column == column[0]).all():
                raise SanitizationError(
                    f"{self!r}: all {len(column)} records have one value of '{attribute.name}', and noise of a part of "
                    "its variance would be none. Give it the role 'neutral', or leave it out."
                )
        noise = rng.standard_normal(found.shape) @ _root(self.alpha * self._covariance(found))
        masked = found + noise
        if self.form == "transformed":
            masked = (masked - found.mean(axis=0)) / np.sqrt(1 + self.alpha) + found.mean(axis=0)
        return drawn(attributes, masked), {}

    def _covariance(self, found: IntArray) -> FloatArray:
        """Of the noise before it is multiplied with alpha."""
        covariance = np.atleast_2d(np.cov(found, rowvar=False))
        return np.diag(np.diag(covariance)) if self.form == "uncorrelated" else covariance


def _root(covariance: FloatArray) -> FloatArray:
    """Return the symmetric matrix whose square is a covariance matrix, which may be singular: float array (m, m).

    Unlike `linear.root` it drops no small direction: the releases of a seed rest on that.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T
