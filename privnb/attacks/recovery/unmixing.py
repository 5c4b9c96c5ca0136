"""What the attacks have in common that undo a secret matrix, by which the numbers of all records were multiplied."""

from abc import abstractmethod

import numpy as np

from privnb.attacks.recovery.base import Recovery, hidden
from privnb.attacks.recovery.recovery_knowledge import Pairs, numbers
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime.names import some_of


class Unmixing(Recovery):
    """A `Recovery` from columns each of which is a sum of secret multiples of the numbers of a record.

    The matrix is secret, all else is public: each number counts from the middle of its public domain, in widths of it;
    and those numbers were moved that are `*` everywhere, or, where none is, the changed ones themselves. In these units
    a record is a place, and so is a released row in columns of a sanitizer's own.

    Attributes
    ----------
    square : bool
        Whether it needs as many released columns as there are numbers.
    """

    undoes = "perturbed"
    square = False

    def _learned(self, rows, published, names):
        targets = tuple(hidden(published)) or names
        if self.square and len(targets) != len(names):
            raise Unreadable(
                f"{type(self).__name__} undoes a rotation, and this release has the perturbed columns "
                f"{some_of(names)} for {some_of(targets)}. Choose an attack on projections."
            )
        domains = [published.schema[name].domain for name in targets]
        middle = np.array([(domain.low + domain.high) / 2 for domain in domains])
        width = np.array([domain.width for domain in domains], dtype=float)
        # As if released rows were in units of their own, where they are.
        own = (0.0, 1.0) if targets != names else (middle, width)
        learned = {"targets": targets, "_middle": middle, "_width": width, "_own": own}
        known, theirs = None, None
        if self.knows is not None:
            known = (self._told(self.knowledge.originals, targets) - middle) / width
        if self.knows is Pairs:
            theirs = (self._told(self.knowledge.released, names) - own[0]) / own[1]
        return learned | self._solved((rows - own[0]) / own[1], known, theirs)

    def _told(self, table, names):
        if absent := [name for name in names if name not in table]:
            raise SchemaError(f"{self!r} reads {some_of(absent)} of known people, and has {some_of(table)} of them.")
        return numbers("what is known", table, names)

    @abstractmethod
    def _solved(self, seen, known, theirs):
        """What is learned, by name, of all released rows as places, float array (n, k); of the known people's places,
        (p, d); and of their rows, (p, k). None of what is not known.
        """

    @abstractmethod
    def _places(self, seen, rng):
        """The guessed places of released rows: float array (n, d)."""

    def _recovered(self, rows, rng):
        return self._middle + self._width * self._places((rows - self._own[0]) / self._own[1], rng)

    def _expected(self):
        return self._middle if self.knows is None else self._told(self.knowledge.originals, self.targets).mean(axis=0)


class Unmapping(Unmixing):
    """An `Unmixing` that is one `algorithms.unmixing.Map`, which `_solved` gives as "_map"."""

    def _places(self, seen, rng):
        return self._map(seen)
