"""What every privacy model is, and how a release is graded from its labels: enforcing and grading count the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from privnb.microdata.counts import coded, once_each, tabulated_in_parts
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.family import check_fact
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Validated, validated

# Shares are quotients of whole numbers, rounded; a class exactly at its bound must not fall to the last bit.


# The attribute whose values a model counts, as a parameter of the model.
Sensitive = Annotated[str, lambda name, value: expect.text(name, value, "the attribute whose values are counted")]


class Graded(NamedTuple):
    """How a model is graded: by which name, what it reads, the unit of its level, what that means, and bounds that make
    such a model.

    A level depends on neither the bound nor the name of the sensitive column, so any that a model takes will do.
    """

    name: str
    reads: str  # one of `grading.READS`
    unit: str
    meaning: str  # of the level of the worst class
    bounds: dict[str, Any]


class PrivacyModel(Validated, ABC):
    """A property that every equivalence class of a release must have.

    Subclasses are frozen dataclasses. The first parameter is the bound, which `holds` compares with the level; one
    method is to be written, `level(self, counts, whole)`, the level that each class reaches: float array (classes,).

    Counts are an integer array (classes, values) with one column for each value of `sensitive` that occurs in the
    table, in the order of its domain (see `columns`); without a sensitive attribute, one column of sizes. `whole` are
    those of all classes together, (values,).

    Where the table has a key of people, counts are of people: a person counts once for each value that they have in a
    class, however many records say so, and in every class that has a record of theirs, since any of their records may
    be the one that is known. What speaks of the members of a class, their number or the share of those who have a value
    (`of_members`), takes them for its whole, each once: that share is how often a guess is right. What compares
    distributions takes pairs of a person and a value: where people have several values these say nothing of a guess.
    The whole table is one class of everybody. Nobody promises anything against who knows two records of a person.

    A model that every class of every table keeps promises nothing. The annotation of its bound refuses such a one, and
    one that is no number, where the model is made: `l: Annotated[int, at_least(2, "1 asks for nothing")]`. A model that
    counts sensitive values names their attribute: `sensitive: Sensitive`.

    Attributes
    ----------
    better : str
        Which level protects more, "higher" or "lower": a class holds whose level is at least, or at most, the bound.
    sensitive : str or None
        The attribute whose values are counted: a parameter, or None for a model of sizes.
    of_sizes : bool
        Whether it bounds how many look alike, and nothing of the values that it reads.
    of_commonest : bool
        Whether the commonest value of a class explains its level.
    of_members : bool
        Whether each row of counts must add up to the people of its class.
    grows : bool
        Whether a class that has the property keeps it whatever records join it. Of every model, two classes that have
        it make one that has it, unless somebody has records in both.
    most : float or None
        The largest level, where that of a class is at most the mean of its parts'.
    graded : tuple of Graded
        How `privnb check` grades it: name, what is read, unit, meaning, and bounds that make such a model. Empty: not.
    kind : str
        What tells it from another model with the same letters, in a word: it stands before them in results.
    word : str
        The name by which a person asks for it, as `--model "distinct-l=2"` does; empty: the name of the class. The
        number after it is the parameter that the last part of the name names, or else the first parameter.
    """

    HINT: ClassVar[str] = "Give one such as KAnonymity(10)."

    better: str
    sensitive: Any  # a parameter of most models, and None for the others
    of_sizes: ClassVar[bool] = False
    of_commonest: ClassVar[bool] = False
    of_members: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    most: ClassVar[float | None] = None
    graded: ClassVar[tuple[Graded, ...]] = ()
    kind: ClassVar[str] = ""
    word: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_fact(cls, "better", ("lower", "higher"))

    @property
    def bound(self) -> Any:
        """Return the first parameter, which `holds` compares with the level."""
        return getattr(self, fields(self)[0].name)  # type: ignore[arg-type]

    @abstractmethod
    def level(self, counts: Array, whole: Any) -> Array:
        """The level that each class reaches: counts (classes, values), whole (values,) -> array (classes,)."""

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Whether each class keeps the bound, which is the model's first parameter: boolean array (classes,)."""
        level, bound = self.level(counts, whole), self.bound
        rounding = EXACT * max(bound, 1)
        return level >= bound - rounding if self.better == "higher" else level <= bound + rounding

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        """The least share of each class that stands in parts which break the model, however the class is divided: float
        array (classes,), 0 to 1; 0 where nothing is known of that.

        Parts that keep the bound reach it at most, all others the `most` that there is, and both together their mean.
        """
        if self.most is None:
            return np.zeros(len(counts))
        return np.clip((self.level(counts, whole) - self.bound) / (self.most - self.bound), 0, 1)

    def exposed(self, counts: Array) -> IntArray | None:
        """Return the column of counts whose value, of all in it, is known best: integer array (classes,); None for a
        model whose level no single value explains.
        """
        return counts.argmax(axis=1) if self.of_commonest else None

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values that the columns of counts stand for, given those that occur in the order of their domain."""
        return values

    def counted(self, release: Release) -> IntArray:
        """What the model counts in each class of a release, from what is published: integer array (classes, values)."""
        return np.concatenate([*self.parts(release)[0]])

    def parts(self, release: Release) -> tuple[Iterable[IntArray], IntArray]:
        """What `counted` gives, some classes at a time, for all at once may not fit into memory; and of all classes
        together: an iterable of integer arrays (some classes, values), and an integer array (values,).

        A model of sensitive values counts them by bucket where they are published so. A model of people counts those
        who look alike: a bucket's quasi-identifiers are exact, so it hides nobody among its other members.
        """
        if self.sensitive is None:
            counts = release.people_alike[:, None]
            return [counts], counts.sum(axis=0)
        classes, values, people, times = release.counted(self.sensitive)
        if self.of_sizes and release.buckets is None:
            classes = release.equivalence_classes
        columns, width = tally(self, values, release.schema[self.sensitive])
        return Tally(self, columns, width, times, people).by_class(classes)

    def worst(self, levels: Array) -> Any:
        """The level that protects least: one small class is enough to expose its members."""
        return levels.min() if self.better == "higher" else levels.max()

    def __str__(self) -> str:
        """The bound and what it is for, as results name it: `t=0.2 occupation`."""
        parameters = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        words = [f"{name}={value!s}" for name, value in parameters.items() if name != "sensitive"]
        return " ".join(word for word in (self.kind, *words, self.sensitive) if word)


class CountedRows(NamedTuple):
    """What a model counts: the `places` of rows, the column that each counts in and its weight, None for 1; how many
    columns there are.
    """

    places: IntArray | slice
    columns: IntArray
    weights: Array | None
    width: int


@dataclass(frozen=True)
class Tally:
    """What one model counts: row i adds `weights[i]` to one of `width` columns of its class, `columns[i]`.

    Parameters
    ----------
    model : PrivacyModel
    columns : integer array (n,)
    width : int
    weights : array (n,), optional
        Of how many people each row is where `persons` does not say it; None: of one.
    persons : integer array (n,), optional
        Of a table with a key of people whose each row is: each counts once, see `PrivacyModel`.
    whole : integer array, optional
        The counts of everybody as one class; None: those of these rows.
    """

    model: PrivacyModel
    columns: IntArray
    width: int
    weights: Any = None
    persons: IntArray | None = None
    whole: IntArray = None  # type: ignore[assignment]  # it is counted when the tally is made

    def __post_init__(self) -> None:
        if self.whole is None:
            every = self.counted(slice(None))
            whole = np.bincount(every.columns, every.weights, minlength=every.width).astype(np.int64)
            object.__setattr__(self, "whole", whole)

    def counted(self, rows: slice | IntArray | BoolArray, *groups: IntArray) -> CountedRows:
        """Return what is counted of `rows`, people `once_each` for a value in each of `groups`.

        Rows of counts of a model `of_members` add up to its people: a last column takes away those whom several values
        count.
        """
        columns = self.columns[rows]
        if self.persons is None:
            return CountedRows(slice(None), columns, None if self.weights is None else self.weights[rows], self.width)
        people = self.persons[rows]
        once = once_each(people, *groups, columns)
        if not (self.model.of_members and self.width > 1):
            return CountedRows(once, columns[once], None, self.width)
        alone = once_each(people, *groups)
        last = np.full(len(once) + len(alone), self.width)
        weights = np.concatenate([np.ones(len(once)), -np.ones(len(once)), np.ones(len(alone))])
        places = np.concatenate([once, once, alone])
        return CountedRows(places, np.append(columns[once], last), weights, self.width + 1)

    def by_class(self, classes: IntArray) -> tuple[Iterable[IntArray], IntArray]:
        """Return the counts in each class, some classes at a time, and those of everybody as one class.

        `classes`: the class of each row, integer array (n,) from 0.
        """
        place, column, weights, width = self.counted(slice(None), classes)
        return tabulated_in_parts(classes[place], column, (int(classes.max()) + 1, width), weights), self.whole


def worst_levels(models: Sequence[PrivacyModel], parts: Iterable[IntArray], whole: IntArray) -> list[Any]:
    """Return the level of the worst class for each of some models that count alike."""
    worst = [[model.worst(model.level(counts, whole)) for model in models] for counts in parts]
    return [model.worst(np.array(levels)) for model, levels in zip(models, zip(*worst, strict=True), strict=True)]


@validated
def tally(model: PrivacyModel, column: Any, attribute: Attribute | None = None) -> tuple[IntArray, int]:
    """The column of counts that each entry of a sensitive column falls into, and how many columns there are.

    `column`: Series or array (n,); `attribute`: describes it; without one its values are in sorted order. Returns
    (int array (n,), int). Raises SchemaError for a model about a value that the attribute's domain does not have, for
    it would always hold.
    """
    if hasattr(model, "value") and attribute is not None and attribute.domain is not None:
        as_text = attribute.numeric and isinstance(model.value, str)  # "3" equals no 3: the model would always hold
        if as_text or len(attribute.domain.outside(pd.Series([model.value], dtype=object))):
            raise SchemaError(
                f"{model!r}: '{attribute.name}' cannot be {model.value!r}; it is one of {attribute.domain}. "
                "Name a value of its domain."
            )
    codes, values = coded(column) if attribute is None else attribute.coded(column)
    if attribute is None or attribute.domain is None:
        order = np.arange(len(values))
    elif attribute.numeric:
        order = np.argsort(pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(), kind="stable")
    else:
        order = np.argsort(attribute.domain.codes(values), kind="stable")  # a label outside of it comes first
    occurring = [values[i] for i in order]
    columns = list(model.columns(occurring))
    position = {value: place for place, value in enumerate(columns)}
    places = np.array([position[value] for value in values], dtype=np.int64)
    return places[codes], len(columns)


def ungraded(model: PrivacyModel, release: Release) -> str:
    """Why a model says nothing of a release, in words; empty where it does.

    A record that was changed by an unknown law belongs to no class, but may be indistinguishable from others: a model
    that counts only who is indistinguishable is graded, and averages that keep a k are graded in their groups.
    """
    alike = model.sensitive is None or model.of_sizes or release.groups is not None
    alike = alike and not hasattr(model, "population")
    return "" if alike and not release.treated("noisy", "synthetic") else release.without_classes


@validated
def achieved(model: PrivacyModel, release: Release) -> Any:
    """The level of `model` that `release` reaches: that of its worst class, graded from the published labels alone.

    Parameters
    ----------
    model : PrivacyModel
    release : Release

    Returns
    -------
    float or int
        In the unit of the model's level; its `better` says which direction protects more.

    Raises
    ------
    Unreadable
        For a release without equivalence classes (noise makes nearly every record one of its own).
    """
    if reason := ungraded(model, release):
        raise Unreadable(
            f"{model!r} cannot be graded: {release.provenance.sanitizer} has no equivalence classes: {reason}."
        )
    return worst_levels([model], *model.parts(release))[0]
