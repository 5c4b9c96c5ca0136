"""Public records against noise: whoever knows the law of the noise weighs how likely each row is each person's."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import CELLS, Distinct, ScoredLinkage
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, FloatArray

OTHER = 1e6  # less likely is a row that differs in an exact column: by so many units of a logarithm


@dataclass(frozen=True)
class LikelihoodLinkage(ScoredLinkage):
    """Somebody has a register of people and their values, knows the law of the noise, and takes the row that is most
    likely the person's.

    A row is a person's with the likelihood of its noise for them, against that for all others in the register. A row
    that differs in an exact column is nobody's but of whom it is alike.

    Parameters
    ----------
    known : tuple of str, optional
        The columns of the register; None: all quasi-identifiers.

    Raises
    ------
    Unreadable
        For noise whose law has no likelihood.

    Source: Aggarwal and Yu 2008, sections 2.6 and 6.5 (the sum of log f_Y(z - w) over the columns, to be maximized; the
    sign is misprinted there); Aggarwal, "On randomization, public information and the curse of dimensionality", ICDE
    2007.
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
        """Return for each distinct row ln of its likelihood for all people together: float array (rows,)."""
        rows = len(self.learned.rows.values)
        size, total = max(1, CELLS // rows), np.full(rows, -np.inf)
        for start in range(0, len(people.values), size):
            found = self._likelihoods(people.values[start : start + size])
            some = logsumexp(found, axis=0, b=people.times[start : start + size, None])
            total = np.logaddexp(total, some)
        return total

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        """Return ln of how likely each row is each person's, of all in the register: float array (people, rows)."""
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
