"""Noise removal by Bayes' rule: the most likely value of each noisy number, by the distribution of its column."""

from dataclasses import dataclass

from privnb.attacks.recovery.by_distribution import ByColumn, posterior
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class EmpiricalMap(ByColumn):
    """Guess the most likely value of each noisy number, given the known noise and the frequencies of values.

    The attack reconstructs the frequencies of the values of a column from all noisy numbers of the column, and guesses
    the middle of the most likely bin. The attack does not assume a Gaussian distribution of the values, so it recovers
    a column with a small number of common values if the noise is not much wider than the gaps between these values. The
    attack does not read other columns.

    Source: Aggarwal and Yu 2008, section 15.3.5 (maximum a posteriori), with the prior of section 6.2.2 (Agrawal and
    Aggarwal, PODS 2001).
    """

    title = "MAP by each column's distribution"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        # Rounding errors must not decide between equally likely bins.
        return middles[posterior(likelihood, shares).round(12).argmax(axis=1)]
