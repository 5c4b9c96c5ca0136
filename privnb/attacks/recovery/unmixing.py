"""The base classes of attacks that undo a hidden matrix by which the numbers of all records were multiplied."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.base import Recovery, Solution, Solved, find_hidden_numbers
from privnb.attacks.recovery.recovery_knowledge import Pairs, to_number_array
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import abbreviate_names


class Units(NamedTuple):
    """The units in which records and released rows are expressed as points.

    The point of a record is the difference from `middle` in units of `width`, both float arrays (targets,). The point
    of a released row is the difference from `origin` in units of `unit`, both numbers or float arrays (names,).
    """

    middle: FloatArray
    width: FloatArray
    origin: FloatArray | float
    unit: FloatArray | float


class Places(NamedTuple):
    """The points of the records of known people, float array (p, d), and of the rows of these people, (p, k)."""

    known: FloatArray
    theirs: FloatArray


class Unmixing(Recovery[Solution]):
    """A `Recovery` from columns that are linear combinations of the numbers of a record with hidden coefficients.

    The matrix is hidden, and everything else is public. Each number is measured from the middle of its public domain,
    in units of the width of the domain. The attributes that are combined are those with `*` in every row of the release
    or, if no attribute has only `*`, the perturbed attributes. In these units, a record is a point, and a released row
    is a point in the space of the perturbed columns.

    Attributes
    ----------
    square : bool
        Whether the number of released columns must equal the number of recovered attributes.
    """

    undoes = "perturbed"
    square = False

    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        targets = tuple(find_hidden_numbers(published)) or names
        if self.square and len(targets) != len(names):
            raise Unreadable(
                f"{type(self).__name__} undoes a rotation, but this release has the perturbed columns "
                f"{abbreviate_names(names)} for {abbreviate_names(targets)}. Choose an attack on projections."
            )
        domains = [published.schema[name].numbers for name in targets]
        middle: FloatArray = np.array([(domain.low + domain.high) / 2 for domain in domains])
        width: FloatArray = np.array([domain.width for domain in domains], dtype=float)
        origin, unit = (0.0, 1.0) if targets != names else (middle, width)  # added columns have other units
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
            raise SchemaError(
                f"{self!r} reads {abbreviate_names(absent)} of known people; got a table with only "
                f"{abbreviate_names(table)}. Give a table with all of these columns."
            )
        return to_number_array("the table of known people", table, names)

    @abstractmethod
    def _solved(self, seen: FloatArray, people: Places) -> Solution:
        """Return what the attack learns from the points of released rows, float array (n, k), and of known people."""

    @abstractmethod
    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the guessed points of the originals of released rows, as a float array (n, d)."""

    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        middle, width, origin, unit = self.learned.units
        return middle + width * self._places((rows - origin) / unit, rng)

    def _expected(self) -> FloatArray:
        if self.knows is None:
            middle: FloatArray = self.learned.units.middle
            return middle
        return self._told(self.knowledge.originals, self.targets).mean(axis=0)


class Unmapping(Unmixing[Map]):
    """An `Unmixing` whose solution is an `algorithms.unmixing.Map`."""

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self.learned.solution(seen)
