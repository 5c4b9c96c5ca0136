"""What every attack is: it learns from what was published, and guesses for what an adversary knows already."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import copy
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.release import Published, Release
from privnb.microdata.schema import Schema, SchemaError
from privnb.microdata.treatment import KINDS, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.family import check_fact, members
from privnb.runtime.names import some_of
from privnb.runtime.validation import Validated, validated

Learned = TypeVar("Learned")


def check_columns(name: str, value: object) -> None:
    """Raise ValueError unless `value` is None or names one column or more, each once."""
    if value is not None and not expect.texts(name, value, "columns"):
        raise UsageError(f"{name} must be None or a list of one or more columns, got {value!r}.")


Columns = Annotated[tuple[str, ...] | None, check_columns]


class Attack(Validated, ABC, Generic[Learned]):
    """An adversary of a release. Subclasses are frozen dataclasses of their parameters.

    Neither `fit` nor `predict` nor `baseline` has an argument that carries the truth: it cannot leak into a guess.
    What an attack learned is left on the fitted copy alone, so that one attack serves many releases.

    Three methods are to be written, `predict(known)`, `baseline(known)` and `truth(dataset)`, each of which gives an
    array with one value per record. `evaluate` gives as `known` a DataFrame of the published columns but for the
    sensitive ones and the attack's `target`, if it has one; cells are the records' own. An attack that learns something
    once for all guesses writes `_learn(self, published)` too: `published.table` is the released DataFrame, in random
    order; `schema`, `hierarchies` and `columns` (how each was treated) are public. What it returns is `self.learned` of
    the copy that guesses: a value of the type that the class states, `Attack[dict[str, str]]`. That copy has
    `self.published`, too. A `RecordLinkage` and a `Recovery` are asked otherwise, as they say.

    Attributes
    ----------
    title : str
        What a person calls it, within a sentence; empty: the name of the class.
    supported_treatments : tuple of str
        The treatments of columns that it can learn from, see `treatment.KINDS`.
    """

    title = ""
    supported_treatments: ClassVar[tuple[str, ...]]
    _published: Published | None = None
    _learned: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_fact(cls, "supported_treatments", KINDS, several=True)

    @property
    def called(self) -> str:
        """What results call who guesses."""
        return self.title or type(self).__name__

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """Return a few attacks on a table of this schema, for the contract tests."""
        return [cls()]

    @classmethod
    def can_read(cls, release: Release | Published) -> bool:
        """Whether this attack reads all columns of `release` (or of what it published)."""
        return len(release.treated(*cls.supported_treatments)) == len(release.columns)

    @classmethod
    def check(cls, release: Release | Published) -> None:
        """Raise Unreadable unless this attack `can_read` the release (or what it published)."""
        if not cls.can_read(release):
            unread = {n: each.kind for n, each in release.columns.items() if each.kind not in cls.supported_treatments}
            # Of the package's alone: the sentence stands in results, and must not change with what else is imported.
            known = [each for each in members(Attack) if each.__module__.startswith("privnb.")]
            able = [each.__name__ for each in known if {*unread.values()} <= {*each.supported_treatments}]
            raise Unreadable(
                f"{cls.__name__} reads columns that are {', '.join(cls.supported_treatments)}; this release has "
                f"{some_of(unread)}, {' and '.join(dict.fromkeys(unread.values()))}. Choose another sanitizer, or an "
                f"attack that reads it: {', '.join(able) or 'there is none yet'}."
            )

    @validated
    def fit(self, published: Published) -> Self:
        """Return a copy of this attack that has learned from `published` (see `release.Published`).

        Raises Unreadable for a treatment of columns that it does not read.
        """
        self.check(published)
        # pandas copies what is written to: the next attack reads the same release.
        own = published._replace(table=published.table.copy(deep=False), columns=dict(published.columns))
        fitted = copy(self)
        # Subclasses are frozen for their parameters' sake; what was learned is no parameter.
        object.__setattr__(fitted, "_published", own)
        object.__setattr__(fitted, "_learned", self._learn(own))
        return fitted

    @property
    def published(self) -> Published:
        """What this attack was fitted to. Raises ValueError before `fit`."""
        if self._published is None:
            raise UsageError(f"{self!r} has not seen a release yet. Predict with what fit(published) returns.")
        return self._published

    @property
    def learned(self) -> Learned:
        """What this attack learned from the release. Raises ValueError before `fit`."""
        _ = self.published
        return cast(Learned, self._learned)

    def _check_known(self, names: Iterable[str], known: pd.DataFrame) -> None:
        """Raise SchemaError where the table `known` lacks columns that the attack's own `known` names, and Unreadable
        where it names none and the release has others than people have.
        """
        if absent := [name for name in names if name not in known]:
            error = Unreadable if getattr(self, "known", None) is None else SchemaError
            raise error(
                f"{self!r} reads {some_of(absent)} of each person, and the table of known people has "
                f"{some_of(known)}. Name in `known` what the adversary knows: columns that a sanitizer made, nobody."
            )

    def _learn(self, published: Published) -> Learned:
        """Return what is drawn from the release once for all guesses."""
        return cast(Learned, None)

    @abstractmethod
    def predict(self, known: pd.DataFrame) -> Array:
        """Return the guesses, one for each of the m rows of `known`: array, its first axis of length m.

        `known`: DataFrame of what the adversary knows of m people, cells written as releases write them. A guess is
        None (NaN of numbers) for whom there is none; `evaluate` refuses an attack none of whose guesses can be right.
        """

    @abstractmethod
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return what the adversary would guess without the part of the release that this attack is about, as
        `predict`.
        """

    @abstractmethod
    def truth(self, dataset: Dataset) -> Array:
        """Return the right answers, one for each of the n records in the dataset's order. For the evaluator alone."""
