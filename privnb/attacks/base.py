"""The base class of attacks, which learn from a published table and guess from an adversary's knowledge."""

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
from privnb.runtime.names import abbreviate_names
from privnb.runtime.registry import check_fact, find_classes
from privnb.runtime.validation import Validated, validated

Learned = TypeVar("Learned")


def check_known_columns(name: str, value: object) -> None:
    """Raise ValueError unless `value` is None or a list of at least one column without repeated columns."""
    if value is not None and not expect.texts(name, value, "columns"):
        raise UsageError(f"`{name}` must be None or a list of at least one column; got {value!r}.")


Columns = Annotated[tuple[str, ...] | None, check_known_columns]


class Attack(Validated, ABC, Generic[Learned]):
    """An adversary who learns from a release and guesses. Subclasses are frozen dataclasses of their parameters.

    No argument of `fit`, `predict` or `baseline` carries the truth, so the truth cannot leak into a guess. `fit`
    returns a copy of the attack, and only the copy holds what the attack learned, so one attack can be used for many
    releases.

    A subclass defines three methods, `predict(known)`, `baseline(known)` and `truth(dataset)`. Each of these methods
    returns an array with one value for each record. The argument `known` that `evaluate` passes is a DataFrame of the
    records' cells in the published columns, without the sensitive columns and without the attack's `target`, if the
    attack has a target. A subclass that learns something once for all guesses also defines `_learn(self, published)`:
    `published.table` is the released DataFrame, in random order; `schema`, `hierarchies` and `columns` (the treatments)
    are public. The fitted copy has the attributes `self.published` and `self.learned`; `self.learned` is the result of
    `_learn`, with the type that the class states, such as `Attack[dict[str, str]]`. The subclasses `RecordLinkage` and
    `Recovery` have further methods, which the docstrings of these classes describe.

    Attributes
    ----------
    title : str
        The name of the attack for use within sentences; by default, the name of the class.
    supported_treatments : tuple of str
        The treatments of columns from which the attack can learn; see `treatment.KINDS`.
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
        """Return the name of the attack in results."""
        return self.title or type(self).__name__

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """Return example attacks on a table of this schema, for the contract tests."""
        return [cls()]

    @classmethod
    def can_read(cls, release: Release | Published) -> bool:
        """Return whether the attack can read all columns of a release or of its published form."""
        return len(release.treated(*cls.supported_treatments)) == len(release.columns)

    @classmethod
    def check(cls, release: Release | Published) -> None:
        """Raise Unreadable unless `can_read` is true for the release or for its published form."""
        if not cls.can_read(release):
            unread = {n: each.kind for n, each in release.columns.items() if each.kind not in cls.supported_treatments}
            # # Only attacks of the package are named: results contain the sentence, which must not depend on other
            # imports.
            known = [each for each in find_classes(Attack) if each.__module__.startswith("privnb.")]
            able = [each.__name__ for each in known if {*unread.values()} <= {*each.supported_treatments}]
            raise Unreadable(
                f"{cls.__name__} reads columns that are {', '.join(cls.supported_treatments)}; this release has "
                f"{abbreviate_names(unread)}, {' and '.join(dict.fromkeys(unread.values()))}. Choose another sanitizer"
                f"{', or an attack that reads it: ' + ', '.join(able) if able else ''}."
            )

    @validated
    def fit(self, published: Published) -> Self:
        """Return a copy of this attack that has learned from a published release (see `release.Published`).

        Raises Unreadable if a column of the release has a treatment that the attack does not support.
        """
        self.check(published)
        # pandas copies on write: the next attack reads the same release.
        own = published._replace(table=published.table.copy(deep=False), columns=dict(published.columns))
        fitted = copy(self)
        # Subclasses are frozen to protect their parameters, and these two fields are not parameters.
        object.__setattr__(fitted, "_published", own)
        object.__setattr__(fitted, "_learned", self._learn(own))
        return fitted

    @property
    def published(self) -> Published:
        """Return the published release that the attack was fitted to. Raises ValueError before `fit`."""
        if self._published is None:
            raise UsageError(f"{self!r} has not seen a release yet. Predict with the result of `fit(published)`.")
        return self._published

    @property
    def learned(self) -> Learned:
        """Return what the attack has learned from the release. Raises ValueError before `fit`."""
        _ = self.published
        return cast(Learned, self._learned)

    def _check_known(self, names: Iterable[str], known: pd.DataFrame) -> None:
        """Raise an error if the table `known` lacks a column that the attack reads.

        The error is SchemaError if the parameter `known` of the attack lists the column, and Unreadable if the
        parameter is None, because a sanitizer then added the column.
        """
        if absent := [name for name in names if name not in known]:
            error = Unreadable if getattr(self, "known", None) is None else SchemaError
            raise error(
                f"{self!r} reads {abbreviate_names(absent)} of each person, but the table of known people has only "
                f"{abbreviate_names(known)}. Name in `known` the columns that the adversary knows, without columns "
                "that a sanitizer made."
            )

    def _learn(self, published: Published) -> Learned:
        """Return what the attack learns from the release, once for all guesses."""
        return cast(Learned, None)

    @abstractmethod
    def predict(self, known: pd.DataFrame) -> Array:
        """Return a guess for each of the m rows of `known`, as an array whose first axis has length m.

        `known`: DataFrame of the adversary's knowledge about m people, with cells written as in releases. A missing
        guess is None, or NaN if guesses are numbers. `evaluate` refuses an attack whose guesses can never be correct.
        """

    @abstractmethod
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return guesses, in the form of `predict`, that do not use the part of the release that the attack uses."""

    @abstractmethod
    def truth(self, dataset: Dataset) -> Array:
        """Return, for the evaluator only, the correct answer for each of the n records, in the dataset's order."""
