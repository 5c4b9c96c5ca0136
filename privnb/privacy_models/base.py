"""The base class of privacy models, and a function that computes the level of a release from its published labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from privnb.microdata.counts import encode_values, select_person_rows, tabulate_in_parts
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.registry import check_fact
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Validated, validated

# The attribute whose values a model counts, as a parameter of the model.
Sensitive = Annotated[str, lambda name, value: expect.text(name, value, "the attribute whose values are counted")]


class Graded(NamedTuple):
    """A grade that a model gives a release: its name, the data and the unit of the level, and parameters of the model.

    A level does not depend on the bound or on the name of the sensitive column, so the parameters may have any valid
    values.
    """

    name: str
    reads: str  # one of `grading.READS`
    unit: str
    meaning: str  # a sentence about the level of the worst class
    bounds: dict[str, Any]


class PrivacyModel(Validated, ABC):
    """A property that every equivalence class of a release must have.

    Subclasses are frozen dataclasses. The first parameter is the bound, which `holds` compares with the level. A
    subclass defines one method, `level(self, counts, whole)`, which returns the level that each class reaches, as a
    float array (classes,).

    `counts` is an integer array (classes, values) with one column for each value of `sensitive` that occurs in the
    table, in the order of the attribute's domain (see `columns`). If a model has no sensitive attribute, the only
    column contains the sizes of the classes. `whole` contains the counts of all classes together, as an integer array
    (values,).

    If the table has a key of people, people are counted instead of records. A person counts in every class that
    contains a record of this person, because an adversary may know any of the person's records. Within a class, a
    person counts once for each different value, even if several of the person's records have this value. Models of the
    members of a class (`of_members`) are about the number of members, or about the share of members with a value; they
    count each member once, so that such a share is the probability that a guess is right. Models that compare
    distributions count pairs of a person and a value; if people have several values, the level of such a model is not
    the probability that a guess is right. The whole table counts as one class of all people. No model protects against
    an adversary who knows two records of a person.

    A bound that every class of every table satisfies has no effect. When a model is created, the annotation of the
    bound refuses such a bound, and refuses any value that is not a number: `l: Annotated[int, at_least(2, "1 has no
    effect")]`. A model that counts sensitive values has a parameter for their attribute: `sensitive: Sensitive`.

    Attributes
    ----------
    better : str
        The direction that protects better: a class satisfies the bound if its level is at least ("higher") or at most
        ("lower") the bound.
    sensitive : str or None
        The attribute whose values the model counts, which is a parameter of the model; None for a model of sizes.
    of_sizes : bool
        Whether the model bounds only the number of indistinguishable people, whatever values it reads.
    of_commonest : bool
        Whether the most common value of a class explains the level of the class.
    of_members : bool
        Whether each row of counts must add up to the number of people in its class.
    grows : bool
        Whether a class that satisfies the model still satisfies the model after any records are added. For every model,
        the union of two classes that satisfy the model satisfies it too, unless a person has records in both classes.
    most : float or None
        The largest possible level, for a model in which the level of a class is at most the mean level of the parts
        into which the class is divided; None for other models.
    graded : tuple of Graded
        The rows about the model in the output of `privnb check`; empty if the output has no such rows.
    kind : str
        A word that distinguishes the model from other models whose bound has the same letter. In results, the word
        precedes the letter.
    word : str
        The name of the model in requests such as `--model "distinct-l=2"`; by default, the name of the class. The
        number in a request sets the parameter whose name is the last part of the word, such as `l`. If there is no such
        parameter, the number sets the first parameter.
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
        """Return the level of each class, (classes,), from `counts`, (classes, values), and `whole`, (values,)."""

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return, as a boolean array (classes,), whether each class satisfies the bound (the first parameter)."""
        level, bound = self.level(counts, whole), self.bound
        rounding = EXACT * max(bound, 1)
        return level >= bound - rounding if self.better == "higher" else level <= bound + rounding

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        """Return the minimum share of each class that is in parts violating the model, however the class is divided.

        The result is a float array (classes,) with values from 0 to 1; all values are 0 if the model implies no such
        minimum. The minimum has three reasons: the level of a part that satisfies the bound is at most the bound, the
        level of any other part is at most `most`, and the level of the class is at most the mean level of its parts.
        """
        if self.most is None:
            return np.zeros(len(counts))
        return np.clip((self.level(counts, whole) - self.bound) / (self.most - self.bound), 0, 1)

    def exposed(self, counts: Array) -> IntArray | None:
        """Return, as an integer array (classes,), the column of the value that explains each class's level.

        The result is None if no single value explains a level.
        """
        return counts.argmax(axis=1) if self.of_commonest else None

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the value of each column of counts, given the occurring `values` in the order of their domain."""
        return values

    def counted(self, release: Release) -> IntArray:
        """Return the counts in each class of a release's published table, as an integer array (classes, values)."""
        return np.concatenate([*self.parts(release)[0]])

    def parts(self, release: Release) -> tuple[Iterable[IntArray], IntArray]:
        """Return the counts in each class, a few classes at a time to save memory, and the counts of all classes.

        The two results are an iterable of integer arrays (some classes, values), and an integer array (values,). A
        model of sensitive values counts these values by bucket if they are bucketized. A model of people counts
        indistinguishable people: the quasi-identifiers in a bucket are exact, so a bucket does not hide a person among
        the other members of the bucket.
        """
        if self.sensitive is None:
            counts = release.people_per_class[:, None]
            return [counts], counts.sum(axis=0)
        classes, values, people, times = release.counted(self.sensitive)
        if self.of_sizes and release.buckets is None:
            classes = release.equivalence_classes
        columns, width = tally(self, values, release.schema[self.sensitive])
        return Tally(self, columns, width, times, people).by_class(classes)

    def worst(self, levels: Array) -> Any:
        """Return the level that protects least, because one small class is enough to expose its members."""
        return levels.min() if self.better == "higher" else levels.max()

    def __str__(self) -> str:
        """Return the parameters and the sensitive attribute as results show them, such as `t=0.2 occupation`."""
        parameters = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        words = [f"{name}={value!s}" for name, value in parameters.items() if name != "sensitive"]
        return " ".join(word for word in (self.kind, *words, self.sensitive) if word)


class CountedRows(NamedTuple):
    """The counted rows: their `places`, the column and the weight of each row, and the number of columns."""

    places: IntArray | slice
    columns: IntArray
    weights: Array | None
    width: int


@dataclass(frozen=True)
class Tally:
    """The counting rule of one model: row i adds `weights[i]` to column `columns[i]` of the row's class.

    Parameters
    ----------
    model : PrivacyModel
    columns : integer array (n,)
    width : int
        The number of columns.
    weights : array (n,), optional
        The number of people of each row, used only if `persons` is None. If `weights` is None, each row counts as one
        person.
    persons : integer array (n,), optional
        The person of each row if the table has a key of people: each person counts once; see `PrivacyModel`.
    whole : integer array, optional
        The counts of all people as one class. If None, these counts are computed from the rows.
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
        """Return the counted rows among `rows`; each person counts once for each value in each combination of `groups`.

        For a model with `of_members`, each row of counts adds up to the number of people in its class: an additional
        last column subtracts the repeated counts of people with several values.
        """
        columns = self.columns[rows]
        if self.persons is None:
            return CountedRows(slice(None), columns, None if self.weights is None else self.weights[rows], self.width)
        people = self.persons[rows]
        once = select_person_rows(people, *groups, columns)
        if not (self.model.of_members and self.width > 1):
            return CountedRows(once, columns[once], None, self.width)
        alone = select_person_rows(people, *groups)
        last = np.full(len(once) + len(alone), self.width)
        weights = np.concatenate([np.ones(len(once)), -np.ones(len(once)), np.ones(len(alone))])
        places = np.concatenate([once, once, alone])
        return CountedRows(places, np.append(columns[once], last), weights, self.width + 1)

    def by_class(self, classes: IntArray) -> tuple[Iterable[IntArray], IntArray]:
        """Return the counts in each class, a few classes at a time, and the counts of all people as one class.

        `classes` contains the class of each row, as an integer array (n,) from 0.
        """
        place, column, weights, width = self.counted(slice(None), classes)
        return tabulate_in_parts(classes[place], column, (int(classes.max()) + 1, width), weights), self.whole


def worst_levels(models: Sequence[PrivacyModel], parts: Iterable[IntArray], whole: IntArray) -> list[Any]:
    """Return the level of the worst class for each of `models`, which use the same counts."""
    worst = [[model.worst(model.level(counts, whole)) for model in models] for counts in parts]
    return [model.worst(np.array(levels)) for model, levels in zip(models, zip(*worst, strict=True), strict=True)]


@validated
def tally(model: PrivacyModel, column: Any, attribute: Attribute | None = None) -> tuple[IntArray, int]:
    """Return the column of counts to which each entry of a sensitive attribute belongs, and the number of columns.

    Parameters
    ----------
    model : PrivacyModel
    column : Series or array (n,)
    attribute : Attribute, optional
        The description of the sensitive attribute. If None, the columns of `counts` are in sorted order of the values.

    Returns
    -------
    integer array (n,), int

    Raises
    ------
    SchemaError
        If the model is about a value outside the attribute's domain, because every class would satisfy such a model.
    """
    if hasattr(model, "value") and attribute is not None and attribute.domain is not None:
        as_text = attribute.numeric and isinstance(model.value, str)  # "3" differs from 3: the model would always hold
        if as_text or len(attribute.domain.outside(pd.Series([model.value], dtype=object))):
            raise SchemaError(
                f"{model!r}: `value` must be in the domain of '{attribute.name}', {attribute.domain}; got "
                f"{model.value!r}. Name a value of the domain."
            )
    codes, values = encode_values(column) if attribute is None else attribute.coded(column)
    if attribute is None or attribute.domain is None:
        order = np.arange(len(values))
    elif attribute.numeric:
        order = np.argsort(pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(), kind="stable")
    else:
        order = np.argsort(attribute.domain.codes(values), kind="stable")  # a label outside the domain comes first
    occurring = [values[i] for i in order]
    columns = list(model.columns(occurring))
    position = {value: place for place, value in enumerate(columns)}
    places = np.array([position[value] for value in values], dtype=np.int64)
    return places[codes], len(columns)


def why_ungraded(model: PrivacyModel, release: Release) -> str:
    """Return the reason, in words, why a model cannot grade a release; return an empty text if the model can.

    A record that was changed by noise of an unknown distribution does not belong to a class, but may be
    indistinguishable from other records. Only models that count indistinguishable people therefore grade such a
    release. A release of averages that satisfies k-anonymity is graded by the groups that were averaged.
    """
    alike = model.sensitive is None or model.of_sizes or release.groups is not None
    alike = alike and not hasattr(model, "population")
    return "" if alike and not release.treated("noisy", "synthetic") else release.without_classes


@validated
def grade_release(model: PrivacyModel, release: Release) -> Any:
    """Return the level that a release reaches for a model: the level of the worst class, by the published labels.

    Parameters
    ----------
    model : PrivacyModel
    release : Release

    Returns
    -------
    float or int
        The level in the model's unit; `model.better` is the direction that protects better.

    Raises
    ------
    Unreadable
        If the release has no equivalence classes, because noise makes nearly every record unique.

    Examples
    --------
    >>> from privnb.privacy_models import KAnonymity
    >>> from privnb.testing.sanitizers import release_small_table
    >>> from privnb import Mondrian
    >>> int(grade_release(KAnonymity(5), release_small_table(Mondrian(KAnonymity(5))))) >= 5
    True
    """
    if reason := why_ungraded(model, release):
        raise Unreadable(
            f"{model!r} cannot be graded, because {release.provenance.sanitizer} has no equivalence classes: {reason}."
        )
    return worst_levels([model], *model.parts(release))[0]
