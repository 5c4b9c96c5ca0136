"""Noise as wide as the numbers themselves: means stay, and correlations where it is correlated as they are."""

from dataclasses import dataclass

import numpy as np

from privnb.runtime import expect
from privnb.sanitizers.masking.base import NumberMasking, check_varied, drawn

FORMS = ("uncorrelated", "correlated", "transformed")


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

    alpha: float = 0.1
    form: str = "correlated"
    title = "Masking noise"
    randomized = True

    @classmethod
    def settings(cls, sensitive=None):
        return [cls(), cls(form="transformed")]

    @classmethod
    def examples(cls, schema):
        return [cls(form=form) for form in FORMS]

    def __post_init__(self):
        expect.positive("alpha", self.alpha)
        expect.one_of("form", self.form, FORMS)

    def _sanitize(self, dataset, table, rng):
        attributes, found = self._numbers(dataset, table)
        check_varied(self, attributes, found, "noise of a part of its variance would be none")
        noise = np.random.default_rng(rng).standard_normal(found.shape) @ root(self.alpha * self._covariance(found))
        masked = found + noise
        if self.form == "transformed":
            masked = (masked - found.mean(axis=0)) / np.sqrt(1 + self.alpha) + found.mean(axis=0)
        for a, attribute in enumerate(attributes):
            table[attribute.name] = drawn(attribute, masked[:, a])
        return table, {"perturbed": [attribute.name for attribute in attributes]}

    def _covariance(self, found):
        """Of the noise before it is multiplied with alpha."""
        covariance = np.atleast_2d(np.cov(found, rowvar=False))
        return np.diag(np.diag(covariance)) if self.form == "uncorrelated" else covariance


def root(covariance):
    """The symmetric matrix whose square is a covariance matrix, which may be singular: float array (m, m)."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T
