"""Guessing one column of a person's record with a miner trained on the release."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.attacks.base import Attack
from privnb.microdata.hierarchy import flat
from privnb.miners import Miner, reference_set
from privnb.miners.encoding import encode
from privnb.miners.weka import WekaMiner
from privnb.runtime import expect


@dataclass(frozen=True)
class MinerInference(Attack):
    """Someone with a ready-made data miner who wants to know one thing of people more exactly than it was published.

    A reporter or a noisy neighbour downloads the release, knows some of the other columns of some people, as they are
    or as they were released, and no more of anyone. They train the miner on the released table, as they would for any
    honest use, and let it guess the column that interests them. Where that column was released as labels they get a
    label, where it was released as numbers a number, neither rounded nor clipped.

    Parameters
    ----------
    miner : Miner or WekaMiner
        See `miners.reference_set`.
    target : str
        The column that they want.
    known : tuple of str, optional
        The columns that they know of a person and the miner reads; None: all other published ones.

    Source: Sramka et al. 2010, section 2.4, M(S(DB), S(x)).
    """

    miner: Miner
    target: str
    known: tuple[str, ...] | None = None
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed", "synthetic")

    @classmethod
    def examples(cls, schema):
        return [cls(reference_set("decision tree")[0], schema.sensitive[0])]

    def __post_init__(self):
        expect.kind("miner", self.miner, Miner, WekaMiner, instead="reference_set(names) gives some.")
        expect.text("target", self.target, "the column that they want")
        if self.known is not None and not expect.texts("known", self.known, "columns"):
            raise ValueError(f"known must be None or a list of one or more columns, got {self.known!r}.")

    @property
    def called(self):
        """What results call who guesses: a miner says more than that it mines."""
        return self.miner.name

    def _learn(self, published):
        names = list(self.known or (name for name in published.schema.published if name != self.target))
        if self.target in names:
            raise ValueError(f"{self!r} would read the column that it guesses. Leave '{self.target}' out of `known`.")
        if self.target not in published.table:
            raise ValueError(f"{self!r}: the release has no column '{self.target}'; it has {list(published.table)}.")
        encoded = encode(published.table, names, published.schema, published.hierarchies)
        fitted = self.miner.fit(encoded, published.table[self.target])
        return {"_names": names, "_encoded": encoded, "_fitted": fitted}

    def predict(self, known):
        """The guesses, as the target's cells are published.

        Parameters
        ----------
        known : DataFrame
            m people with at least the columns that the miner reads, as exact or as published cells. The target is not
            read, if it is there.

        Returns
        -------
        array (m,)
            Labels or numbers.

        Raises
        ------
        SchemaError
            For a column that is missing.
        Unreadable
            Where the attack's own `known` is None and the release has columns that people have not.
        """
        expect.these(known=known)
        published = self.published
        self._check_known(self._names, known)
        encoded = encode(known, self._names, published.schema, published.hierarchies, like=self._encoded)
        return self._fitted.predict(encoded)

    def baseline(self, known):
        """The guess without the release's other columns, the same for everyone: array (m,).

        Of categories the commonest published value (Brickell and Shmatikov 2008, section 4.1, A_base), the first in
        sorted order of several. Of numbers the middle of the public domain, as the narrowest label that holds it
        where the column is published as labels.
        """
        expect.these(known=known)
        return bare_guess(self.published, self.target, len(known))

    def truth(self, dataset):
        """The original values of the target: array (n,)."""
        return dataset.table[self.target].to_numpy()


def bare_guess(published, target, m):
    """`MinerInference.baseline` for m people, of what was published or of the release that it is of: array (m,)."""
    attribute, column = published.schema[target], pd.Series(np.asarray(published.table[target]))  # no categories
    if not attribute.numeric:
        return np.full(m, column.mode()[0], dtype=object)
    value = attribute.domain.middle
    if is_numeric_dtype(column):
        return np.full(m, float(value))
    hierarchy = published.hierarchies.get(target) or flat(attribute)
    return np.full(m, hierarchy.labels(hierarchy.codes([value]), [0])[0], dtype=object)
