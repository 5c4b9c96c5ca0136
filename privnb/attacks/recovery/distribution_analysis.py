"""Noise removal by exclusion: where noise cannot reach, and where nobody was, the original is not."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.deconvolution import left, posterior
from privnb.attacks.by_column import ByColumn
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share, validated


@dataclass(frozen=True)
class DistributionAnalysis(ByColumn):
    """Somebody who knows how far noise can move a number crosses out what it cannot be.

    An original lies within the noise's reach of the noisy number, and where the reconstructed distribution has anybody.
    What is left are `intervals`; the guess is the mean of what is left. Noise without an end excludes
    nothing, so that it is for uniform noise and its like. People by themselves in a gap of the distribution are found.

    Parameters
    ----------
    empty : float
        A bin that holds less than this share of what it would if all were alike counts as empty: above 0, at most 1.
    noise : NoiseKnowledge
        As of `NoiseRemoval`.

    Source: Aggarwal and Yu 2008, section 15.3.6.
    """

    empty: Share = 0.1
    title = "distribution analysis"

    def _of_column(
        self, likelihood: FloatArray, edges: FloatArray, shares: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        least = self.empty / len(shares)
        ends = left(likelihood, shares, edges, least)
        some = np.where(shares >= least, shares, 0)
        return posterior(likelihood, some / some.sum()) @ ((edges[1:] + edges[:-1]) / 2), *ends

    @validated
    def intervals(self, known: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return between which numbers each original lies.

        Parameters
        ----------
        known : DataFrame
            m released rows.

        Returns
        -------
        low, high : float array (m, targets)
        """
        columns = self._guessed(self._rows(known))
        return np.column_stack([low for _, low, _ in columns]), np.column_stack([high for _, _, high in columns])
