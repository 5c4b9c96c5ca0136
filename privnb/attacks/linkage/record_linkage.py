"""What attacks have in common that look for the released row of a person: how likely it is found, and by chance."""

from abc import abstractmethod

import numpy as np

from privnb.attacks.base import Attack
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.names import some_of
from privnb.runtime.tolerances import ROUNDING

CELLS = 2**22  # scores of a person and a row that are held at a time


class RecordLinkage(Attack):
    """Somebody knows some columns of a person, and that the person is in the release, and wants their row.

    Its subclasses have the parameter `known`, a tuple of columns or None for all quasi-identifiers.
    """

    def __post_init__(self):
        if self.known is not None:
            if not expect.texts("known", self.known, "columns"):
                raise ValueError(f"known must be None or a list of one or more columns, got {self.known!r}.")
            object.__setattr__(self, "known", tuple(self.known))

    def _known_names(self, published):
        names = self.known or tuple(published.schema.quasi_identifiers)
        if held := [name for name in names if name in published.treated("bucketized")]:
            raise Unreadable(
                f"{self!r} reads rows, and no row has {some_of(held)}: these are bucketized. Leave them out of "
                "`known`, or choose another sanitizer."
            )
        if absent := [name for name in names if name not in published.table]:
            raise SchemaError(f"{self!r}: the release has no column {absent}; it has {', '.join(published.table)}.")
        return names

    def _check_complete(self, names, known):
        schema = self.published.schema
        gaps = [name for name in names if schema[name].domain.missing is None and known[name].isna().any()]
        if gaps:
            raise SchemaError(f"{self!r}: known has missing values in {gaps}. Leave those people out, or write '*'.")

    @abstractmethod
    def chance(self, known, rows):
        """Probability that `predict` gives `rows` (integer array (m,)), 0 to 1: exact, nothing is drawn."""

    def baseline(self, known, *, rng=0):
        """A row at random among all: what knowing that somebody is in the release is worth by itself."""
        expect.these(known=known, rng=rng)
        return np.random.default_rng(rng).integers(len(self.published.table), size=len(known))

    def truth(self, dataset, key):
        """The published row of each record that was released, in the dataset's order: integer array (rows,).

        `key`: the record of each published row, as `Release.publish` gives it.
        """
        if len(key) != len(self.published.table) or np.max(key) >= len(dataset):
            raise ValueError(
                f"the key has {len(key)} rows, '{dataset.name}' {len(dataset)} records. Take its release's."
            )
        return np.argsort(key)


class ScoredLinkage(RecordLinkage):
    """One that scores every released row for every person, and takes a row of the best score, at random among several.

    It reads numbers and categories. A column that is suppressed, be it in part, tells of nobody and is left out, and so
    is a number that is the same in every row.
    """

    supported_treatments = ("exact", "suppressed", "noisy", "perturbed")

    def _learn(self, published):
        names = [name for name in self._known_names(published) if name not in published.treated("suppressed")]
        columns = {name: self._points(published, name, published.table[name]) for name in names}
        columns = {name: column for name, column in columns.items() if np.ptp(column)}
        rows, numeric = Distinct(columns, len(published.table)), [published.schema[name].numeric for name in columns]
        return {"_names": tuple(columns), "_rows": rows, "_numeric": np.array(numeric, dtype=bool)}

    def _points(self, published, name, column):
        """Cells as the numbers that are compared, float array (n,)."""
        return points(published, name, column)

    def _against(self, people):
        """What is drawn from all the known people, a `Distinct`, before any is scored."""

    @abstractmethod
    def _scores(self, people, drawn):
        """How well each distinct released row fits each of some distinct people: float array (people, rows).

        `people`: float array (people, columns), positions for categories; `drawn`: of `_against`.
        """

    def scores(self, known):
        """How well each released row fits each person, higher is likelier: float array (m, rows).

        For few people: see `OneToOne`, which says how many.
        """
        everyone = self._people(known)
        found = self._scores(everyone.values, self._against(everyone))
        return found[everyone.index][:, self._rows.index]

    def chance(self, known, rows):
        expect.these(known=known)
        chances = np.zeros(len(known))
        for people, group, best, _ in self._best(known):
            true = self._rows.index[rows[people]]
            chances[people] = best[group, true] / (best @ self._rows.times)[group]
        return chances

    def ranks(self, known, rows):
        """At which place the person's own row stands among all, the best fit first: float array (m,), from 1 to rows.

        Rows that fit as well as it share their places: it has the middle one. `rows`: integer array (m,).
        """
        expect.these(known=known)
        found = np.zeros(len(known))
        for people, group, _, scores in self._best(known):
            own = scores[group, self._rows.index[rows[people]]][:, None]
            of_people = scores[group]
            better, alike = of_people > own + ROUNDING, np.abs(of_people - own) <= ROUNDING
            found[people] = better @ self._rows.times + (alike @ self._rows.times + 1) / 2
        return found

    def predict(self, known, *, rng=0):
        """The published row chosen for each known person: integer array (m,), at random among the best.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the adversary knows.
        rng : int, Generator or None

        Returns
        -------
        integer array (m,)
            Positions of rows.
        """
        expect.these(known=known, rng=rng)
        self.published  # noqa: B018 - refuses to guess before `fit`
        generator, chosen = np.random.default_rng(rng), np.full(len(known), -1)
        order, starts = np.argsort(self._rows.index, kind="stable"), np.cumsum(self._rows.times) - self._rows.times
        for people, group, best, _ in self._best(known):
            upto = (best * self._rows.times).cumsum(axis=1)[group]
            nth = generator.integers(upto[:, -1])
            distinct = (upto <= nth[:, None]).sum(axis=1)
            before = upto[np.arange(len(people)), distinct] - self._rows.times[distinct]
            chosen[people] = order[starts[distinct] + nth - before]
        return chosen

    def _people(self, known):
        self._check_known(self._names, known)
        self._check_complete(self.known or self._names, known)
        columns = {name: self._points(self.published, name, known[name]) for name in self._names}
        return Distinct(columns, len(known))

    def _best(self, known):
        """Yield `people` (positions in `known`), the `group` of each, which distinct rows are best of each group, a
        boolean array (groups, rows), and their scores, as `_scores`.
        """
        everyone = self._people(known)
        drawn, size = self._against(everyone), max(1, CELLS // len(self._rows.values))
        order = np.argsort(everyone.index, kind="stable")
        for start in range(0, len(everyone.values), size):
            scores = self._scores(everyone.values[start : start + size], drawn)
            ends = np.searchsorted(everyone.index[order], [start, start + size])
            people = order[ends[0] : ends[1]]
            yield people, everyone.index[people] - start, scores >= scores.max(axis=1, keepdims=True) - ROUNDING, scores


class Distinct:
    """Rows of numbers, each once: `values` (distinct, columns), which of them each row is (`index`), and how often
    (`times`).
    """

    def __init__(self, columns, rows):
        whole = np.column_stack([*columns.values()]) if columns else np.zeros((rows, 0))
        if not columns:
            self.values, self.index, self.times = whole[:1], np.zeros(rows, dtype=np.int64), np.array([rows])
            return
        self.values, index, self.times = np.unique(whole, axis=0, return_inverse=True, return_counts=True)
        self.index = index.ravel()


def points(published, name, column):
    """Cells as numbers, float array (n,): a number itself, a category's position; a missing number lies far off."""
    if published.schema[name].numeric:
        domain = published.schema[name].domain
        return domain.points(domain.read(column).to_numpy(dtype=float))
    return (published.hierarchies.get(name) or flat(published.schema[name])).codes(column).astype(float)
