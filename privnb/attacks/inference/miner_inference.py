"""Guessing one column of a person's record with a miner trained on the release."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.attacks.base import Attack, Columns
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Published, Release
from privnb.microdata.schema import Schema
from privnb.miners import Miner, reference_set
from privnb.miners.encoding import Encoded, encode
from privnb.miners.fusion import Vote
from privnb.miners.miner import Predictor
from privnb.miners.weka import WekaMiner
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.validation import validated


class Trained(NamedTuple):
    """The columns that a `MinerInference` reads, the released ones as the miner read them, and the miner itself."""

    names: list[str]
    encoded: Encoded
    miner: Predictor


@dataclass(frozen=True)
class MinerInference(Attack[Trained]):
    """Someone with a ready-made data miner who wants to know one thing of people more exactly than it was published.

    A reporter or a noisy neighbour downloads the release, knows some of the other columns of some people, as they are
    or as they were released, and no more of anyone. They train the miner on the released table, as they would for any
    honest use, and let it guess the column that interests them. Where that column was released as labels they get a
    label, where it was released as numbers a number, neither rounded nor clipped.

    Parameters
    ----------
    miner : Miner, WekaMiner, str or estimator
        A miner, its name, or a classifier or regressor of scikit-learn's kind: see `miners.reference_set`.
    target : str
        The column that they want.
    known : tuple of str, optional
        The columns that they know of a person and the miner reads; None: all other published ones.

    Source: Sramka et al. 2010, section 2.4, M(S(DB), S(x)).
    """

    miner: Any
    target: Annotated[str, lambda name, value: expect.text(name, value, "the column that they want")]
    known: Columns = None
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed", "synthetic")

    def __post_init__(self) -> None:
        if not isinstance(self.miner, Miner | Vote | WekaMiner):
            found = reference_set(self.miner)
            if len(found) != 1:
                raise UsageError(f"miner must be one miner; got {len(found)}: {name_list(m.name for m in found)}.")
            object.__setattr__(self, "miner", found[0])
        super().__post_init__()

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls("decision tree", schema.sensitive[0])]

    @property
    def called(self) -> str:
        return self.miner.name

    def _learn(self, published: Published) -> Trained:
        names = list(self.known or (name for name in published.schema.published if name != self.target))
        if self.target in names:
            raise UsageError(f"{self!r} would read the column that it guesses. Leave '{self.target}' out of `known`.")
        if self.target not in published.table:
            raise UsageError(f"{self!r}: the release has no column '{self.target}'; it has {list(published.table)}.")
        encoded = encode(published.table, names, published.schema, published.hierarchies)
        return Trained(names, encoded, self.miner.fit(encoded, published.table[self.target]))

    @validated
    def predict(self, known: pd.DataFrame) -> Array:
        """Return the guesses, as the target's cells are published: labels or numbers, array (m,).

        Parameters
        ----------
        known : DataFrame
            m people with at least the columns that the miner reads, as exact or as published cells. The target is not
            read, if it is there.

        Raises
        ------
        SchemaError
            For a column that is missing.
        Unreadable
            Where the attack's own `known` is None and the release has columns that people have not.
        """
        (names, encoded, miner), published = self.learned, self.published
        self._check_known(names, known)
        return miner.predict(encode(known, names, published.schema, published.hierarchies, like=encoded))

    @validated
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return the guess without the release's other columns, the same for everyone: array (m,).

        Of categories the commonest published value (Brickell and Shmatikov 2008, section 4.1, A_base), the first in
        sorted order of several. Of numbers the middle of the public domain, as the narrowest label that holds it
        where the column is published as labels.
        """
        return bare_guess(self.published, self.target, len(known))

    def truth(self, dataset: Dataset) -> Array:
        """Return the original values of the target: array (n,)."""
        return dataset.table[self.target].to_numpy()


def bare_guess(published: Published | Release, target: str, m: int) -> Array:
    """Return `MinerInference.baseline` for m people, of what was published or of its release: array (m,)."""
    attribute, column = published.schema[target], pd.Series(np.asarray(published.table[target]))  # no categories
    if not attribute.numeric:
        return np.full(m, column.mode()[0], dtype=object)
    value = attribute.numbers.middle
    if is_numeric_dtype(column):
        return np.full(m, float(value))
    hierarchy = published.hierarchies.get(target) or flat(attribute)
    return np.full(m, hierarchy.labels(hierarchy.codes([value]), np.zeros(1, dtype=np.int64))[0], dtype=object)
