"""Inference of one column of a person's record, by a miner that was trained on the release."""

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
from privnb.runtime.names import join_names
from privnb.runtime.validation import validated


class Trained(NamedTuple):
    """The columns that a `MinerInference` reads, the encoded released rows in these columns, and the trained miner."""

    names: list[str]
    encoded: Encoded
    miner: Predictor


@dataclass(frozen=True)
class MinerInference(Attack[Trained]):
    """Train a ready-made data miner on the release, and predict a column more precisely than the column was published.

    The adversary, such as a reporter or a neighbor, downloads the release and knows some other columns of some people,
    either exactly or in the released form. The adversary trains the miner on the released table, as an honest analyst
    would, and predicts the target column. If the target was released as labels, the prediction is a label. If the
    target was released as numbers, the prediction is a number that is neither rounded nor clipped.

    Parameters
    ----------
    miner : Miner, WekaMiner, str or estimator
        A miner, the name of a miner, or a scikit-learn classifier or regressor; see `miners.reference_set`.
    target : str
        The column to predict.
    known : tuple of str, optional
        The columns that the adversary knows about a person. If None, the adversary knows all published columns except
        the target.

    Source: Sramka et al. 2010, section 2.4, M(S(DB), S(x)).
    """

    miner: Any
    target: Annotated[str, lambda name, value: expect.text(name, value, "the column to predict")]
    known: Columns = None
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed", "synthetic")

    def __post_init__(self) -> None:
        if not isinstance(self.miner, Miner | Vote | WekaMiner):
            found = reference_set(self.miner)
            if len(found) != 1:
                raise UsageError(f"`miner` must be one miner; got {len(found)}: {join_names(m.name for m in found)}.")
            object.__setattr__(self, "miner", found[0])
        super().__post_init__()

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """Return an example attack on a table of this schema, for the contract tests."""
        return [cls("decision tree", schema.sensitive[0])]

    @property
    def called(self) -> str:
        """Return the name of the miner."""
        return self.miner.name

    def _learn(self, published: Published) -> Trained:
        names = list(self.known or (name for name in published.schema.published if name != self.target))
        if self.target in names:
            raise UsageError(
                f"{self!r}: `known` must not list the predicted column; got '{self.target}'. Leave the column out."
            )
        if self.target not in published.table:
            raise UsageError(
                f"{self!r}: `target` must be one of {list(published.table)}; got '{self.target}'. Try one of these "
                "columns."
            )
        encoded = encode(published.table, names, published.schema, published.hierarchies)
        return Trained(names, encoded, self.miner.fit(encoded, published.table[self.target]))

    @validated
    def predict(self, known: pd.DataFrame) -> Array:
        """Return the guesses as an array (m,) of labels or numbers, in the form in which the target is published.

        Parameters
        ----------
        known : DataFrame
            A table of m people, with exact or published cells in at least the columns that the miner reads. The target
            column is ignored.

        Raises
        ------
        SchemaError
            If the table lacks a column that the attack's `known` lists.
        Unreadable
            If the attack's `known` is None and the release has columns that a sanitizer added.
        """
        (names, encoded, miner), published = self.learned, self.published
        self._check_known(names, known)
        return miner.predict(encode(known, names, published.schema, published.hierarchies, like=encoded))

    @validated
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return a guess that uses no other column of the release and is the same for all people, as an array (m,).

        For categories, the guess is the most common published value (Brickell and Shmatikov 2008, section 4.1, A_base);
        if several values are equally common, the guess is the first one in sorted order. For numbers, the guess is the
        middle of the public domain, or the narrowest label that contains the middle if the column is published as
        labels.
        """
        return bare_guess(self.published, self.target, len(known))

    def truth(self, dataset: Dataset) -> Array:
        """Return the original values of the target: array (n,)."""
        return dataset.table[self.target].to_numpy()


def bare_guess(published: Published | Release, target: str, m: int) -> Array:
    """Return the baseline of `MinerInference` for m people, from a release or its published form, as an array (m,)."""
    attribute, column = published.schema[target], pd.Series(np.asarray(published.table[target]))
    if not attribute.numeric:
        return np.full(m, column.mode()[0], dtype=object)
    value = attribute.numbers.middle
    if is_numeric_dtype(column):
        return np.full(m, float(value))
    hierarchy = published.hierarchies.get(target) or flat(attribute)
    return np.full(m, hierarchy.labels(hierarchy.codes([value]), np.zeros(1, dtype=np.int64))[0], dtype=object)
