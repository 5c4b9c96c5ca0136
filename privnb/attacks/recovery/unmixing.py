"""What the attacks have in common that undo a secret matrix, by which the numbers of all records were multiplied."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.base import Recovery, Solution, Solved, hidden
from privnb.attacks.recovery.recovery_knowledge import Pairs, numbers
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import some_of


class Units(NamedTuple):
    """In which units records and released rows are places: records from `middle` in `width`, float arrays (targets,),
    rows from `origin` in `unit`, numbers or float arrays (names,).
    """

    middle: FloatArray
    width: FloatArray
    origin: FloatArray | float
    unit: FloatArray | float


class Places(NamedTuple):
    """Where known people are, float array (p, d), and their rows, (p, k)."""

    known: FloatArray
    theirs: FloatArray


class Unmixing(Recovery[Solution]):
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

    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        targets = tuple(hidden(published)) or names
        if self.square and len(targets) != len(names):
            raise Unreadable(
                f"{type(self).__name__} undoes a rotation, and this release has the perturbed columns "
                f"{some_of(names)} for {some_of(targets)}. Choose an attack on projections."
            )
        domains = [published.schema[name].numbers for name in targets]
        middle: FloatArray = np.array([(domain.low + domain.high) / 2 for domain in domains])
        width: FloatArray = np.array([domain.width for domain in domains], dtype=float)
        origin, unit = (0.0, 1.0) if targets != names else (middle, width)  # columns of its own have their own units
        known: FloatArray = np.empty((0, len(targets)))
        theirs: FloatArray = np.empty((0, len(names)))
        if self.knows is not None:
            known = (self._told(self.knowledge.originals, targets) - middle) / width
            if isinstance(self.knowledge, Pairs):
                theirs = (self._told(self.knowledge.released, names) - origin) / unit
        solution = self._solved((rows - origin) / unit, Places(known, theirs))
        return Solved(names, targets, solution, Units(middle, width, origin, unit))

    def _told(self, table: pd.DataFrame, names: tuple[str, ...]) -> FloatArray:
        if absent := [name for name in names if name not in table]:
            raise SchemaError(f"{self!r} reads {some_of(absent)} of known people, and has {some_of(table)} of them.")
        return numbers("what is known", table, names)

    @abstractmethod
    def _solved(self, seen: FloatArray, people: Places) -> Solution:
        """Return what is learned of all released rows as places, float array (n, k), and of the known people; nobody
        stands there of whom the adversary knows nothing.
        """

    @abstractmethod
    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the guessed places of released rows: float array (n, d)."""

    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        middle, width, origin, unit = self.learned.units
        return middle + width * self._places((rows - origin) / unit, rng)

    def _expected(self) -> FloatArray:
        if self.knows is None:
            middle: FloatArray = self.learned.units.middle
            return middle
        return self._told(self.knowledge.originals, self.targets).mean(axis=0)


class Unmapping(Unmixing[Map]):
    """An `Unmixing` whose solution is one `algorithms.unmixing.Map`."""

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self.learned.solution(seen)
