"""Linkage of a register to noisy rows, by the likelihood of the noise under the public distribution of the noise."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import CELLS, Distinct, ScoredLinkage
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, FloatArray

OTHER = 1e6  # the log-likelihood that a row loses if it differs in an exact column


@dataclass(frozen=True)
class LikelihoodLinkage(ScoredLinkage):
    """Link each person of a register to the most likely row, according to the public distribution of the noise.

    The score of a row for a person is the log of the likelihood of the noise in the row if the row belongs to the
    person, relative to the sum of these likelihoods over all people of the register. A row that differs in an exact
    column is very unlikely.

    Parameters
    ----------
    known : tuple of str, optional
        The columns of the register. If None, the adversary knows all quasi-identifiers.

    Raises
    ------
    Unreadable
        If the distribution of the noise has no likelihood.

    Source: Aggarwal and Yu 2008, sections 2.6 and 6.5 (the sum of log f_Y(z - w) over the columns, to be maximized; the
    sign is misprinted in the book); Aggarwal, "On randomization, public information and the curse of dimensionality",
    ICDE 2007.
    """

    known: Columns = None
    title = "likeliest row"
    supported_treatments = ("exact", "suppressed", "noisy")

    def _points(self, published: Published, name: str, column: pd.Series) -> FloatArray:
        attribute = published.schema[name]
        if not attribute.numeric:
            return attribute.categories.codes(column).astype(float)
        domain = attribute.numbers
        return (super()._points(published, name, column) - domain.low) / domain.step

    def _against(self, people: Distinct) -> FloatArray:
        """Return, as a float array (rows,), the log of the sum over people of the likelihoods of each distinct row."""
        rows = len(self.learned.rows.values)
        size, total = max(1, CELLS // rows), np.full(rows, -np.inf)
        for start in range(0, len(people.values), size):
            found = self._likelihoods(people.values[start : start + size])
            some = logsumexp(found, axis=0, b=people.times[start : start + size, None])
            total = np.logaddexp(total, some)
        return total

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        """Return the log-probability that each row belongs to each person, as a float array (people, rows)."""
        return self._likelihoods(people) - drawn

    def _likelihoods(self, people: FloatArray) -> FloatArray:
        names, rows = self.learned.names, self.learned.rows.values
        found = np.zeros((len(people), len(rows)))
        places = {name: place for place, name in enumerate(names)}
        laws = {name: self.published.columns[name].law for name in names}
        for name, law in laws.items():
            if law is None:
                found -= OTHER * (people[:, places[name], None] != rows[:, places[name]])
            elif law.together is None:
                true, seen = np.rint(people[:, places[name], None]).astype(np.int64), rows[:, places[name]]
                found -= law.surprise(*np.broadcast_arrays(true, seen))
        for joint in dict.fromkeys(law.together for law in laws.values() if law is not None and law.together):
            columns = [places[name] for name in joint.names]
            own, drawn = (
                joint.positions(list(np.rint(each[:, columns]).astype(np.int64).T)) for each in (people, rows)
            )
            found -= joint.law.surprise(*np.broadcast_arrays(own[:, None], drawn))
        return found
