"""Public records against noise: whoever knows the law of the noise weighs how likely each row is each person's."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from privnb.attacks.linkage.record_linkage import CELLS, ScoredLinkage

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

    known: tuple[str, ...] | None = None
    title = "likeliest row"
    supported_treatments = ("exact", "suppressed", "noisy")

    def _points(self, published, name, column):
        domain = published.schema[name].domain
        if not published.schema[name].numeric:
            return domain.codes(column).astype(float)
        return (super()._points(published, name, column) - domain.low) / domain.step

    def _against(self, people):
        """For each distinct row ln of its likelihood for all people together: float array (rows,)."""
        size = max(1, CELLS // len(self._rows.values))
        total = np.full(len(self._rows.values), -np.inf)
        for start in range(0, len(people.values), size):
            found = self._likelihoods(people.values[start : start + size])
            some = logsumexp(found, axis=0, b=people.times[start : start + size, None])
            total = np.logaddexp(total, some)
        return total

    def _scores(self, people, drawn):
        """ln of how likely each row is each person's, of all in the register: float array (people, rows)."""
        return self._likelihoods(people) - drawn

    def _likelihoods(self, people):
        rows, found = self._rows.values, np.zeros((len(people), len(self._rows.values)))
        places = {name: place for place, name in enumerate(self._names)}
        laws = {name: self.published.columns[name].law for name in self._names}
        for name, law in laws.items():
            if law is None:
                found -= OTHER * (people[:, places[name], None] != rows[:, places[name]])
            elif law.together is None:
                true, seen = np.rint(people[:, places[name], None]).astype(np.int64), rows[:, places[name]]
                found -= law.surprise(*np.broadcast_arrays(true, seen))
        for joint in dict.fromkeys(law.together for law in laws.values() if law is not None and law.together):
            columns = [places[name] for name in joint.names]
            true, seen = (
                joint.positions(list(np.rint(each[:, columns]).astype(np.int64).T)) for each in (people, rows)
            )
            found -= joint.law.surprise(*np.broadcast_arrays(true[:, None], seen))
        return found
