"""Noise removal by Bayes: the likeliest value of each noisy number, by the distribution that its column had."""

from dataclasses import dataclass

from privnb.attacks.recovery.by_distribution import ByColumn, posterior
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class EmpiricalMap(ByColumn):
    """Somebody who knows the law of the noise takes the likeliest value of each number, weighed by how common it is.

    How common values are in a column is reconstructed from all its noisy numbers; the guess is the middle of the bin
    that is likeliest. It supposes no bell, so that a few common values are found where noise is not far wider than
    they lie apart, and reads no other column.

    Source: Aggarwal and Yu 2008, section 15.3.5 (maximum a posteriori), with the prior of section 6.2.2 (Agrawal and
    Aggarwal, PODS 2001).
    """

    title = "MAP by each column's distribution"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        # Bins of equal chances must not be chosen by rounding.
        return middles[posterior(likelihood, shares).round(12).argmax(axis=1)]
