"""What every privacy model is, and how a release is graded from its labels.

One module, since enforcing and grading must count the same.
"""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.microdata.counts import coded, once_each, tabulate, tabulated_in_parts
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.family import check_fact
from privnb.runtime.tolerances import EXACT

# Shares are quotients of whole numbers, rounded; a class exactly at its bound must not fall to the last bit.


class PrivacyModel(ABC):
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

    A model that every class of every table keeps promises nothing: such a bound is refused where the model is made, and
    so is one that is no number. What counts sensitive values names their attribute.

    Attributes
    ----------
    better : str
        Which level protects more, "higher" or "lower": a class holds whose level is at least, or at most, the bound.
    sensitive : str or None
        The attribute whose values are counted: a parameter, or None for a model of sizes.
    of_sizes : bool
        Whether it bounds how many look alike, and nothing of the values that it reads.
    of_members : bool
        Whether each row of counts must add up to the people of its class.
    limits : tuple of tuples
        What refuses a bound where the model is made: a function of `expect`, the parameter's name, and what else that
        function takes: `((expect.whole, "l", 2, "1 asks for nothing"),)`.
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

    better: str
    sensitive: str | None
    of_sizes = False
    of_members = False
    limits = ()
    grows = False
    most = None
    graded = ()
    kind = ""
    word = ""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        check_fact(cls, "better", ("lower", "higher"))

    def __post_init__(self):
        """Where a model refuses what it cannot keep: a ValueError for a bound outside its `limits`, or no number."""
        if "sensitive" in (field.name for field in fields(self)):
            expect.text("sensitive", self.sensitive, "the attribute whose values are counted")
        for check, name, *more in self.limits:
            check(name, getattr(self, name), *more)
        bound = fields(self)[0].name
        if type(self).holds is PrivacyModel.holds and bound not in [name for _, name, *_ in self.limits]:
            expect.number(bound, getattr(self, bound))

    @abstractmethod
    def level(self, counts, whole):
        """The level that each class reaches: counts (classes, values), whole (values,) -> array (classes,)."""

    def holds(self, counts, whole=None):
        """Whether each class keeps the bound, which is the model's first parameter: boolean array (classes,)."""
        level, bound = self.level(counts, whole), getattr(self, fields(self)[0].name)
        rounding = EXACT * max(bound, 1)
        return level >= bound - rounding if self.better == "higher" else level <= bound + rounding

    def breaking(self, counts, whole=None):
        """The least share of each class that stands in parts which break the model, however the class is divided: float
        array (classes,), 0 to 1; 0 where nothing is known of that.

        Parts that keep the bound reach it at most, all others the `most` that there is, and both together their mean.
        """
        if self.most is None:
            return np.zeros(len(counts))
        bound = getattr(self, fields(self)[0].name)
        return np.clip((self.level(counts, whole) - bound) / (self.most - bound), 0, 1)

    def exposed(self, counts):
        """Return the column of counts whose value, of all in it, is known best: integer array (classes,); None for a
        model whose level no single value explains.
        """
        return None

    def columns(self, values):
        """The values that the columns of counts stand for, given those that occur in the order of their domain."""
        return values

    def counted(self, release):
        """What the model counts in each class of a release, from what is published: integer array (classes, values).

        A model of sensitive values counts them by bucket where they are published so. A model of people counts those
        who look alike: a bucket's quasi-identifiers are exact, so it hides nobody among its other members.
        """
        if self.sensitive is None:
            return release.people_alike[:, None]
        return tabulate(*self._places(release)[0])

    def parts(self, release):
        """What `counted` gives, some classes at a time, for all at once may not fit into memory; and of all classes
        together: an iterable of integer arrays (some classes, values), and an integer array (values,).
        """
        if self.sensitive is None:
            counts = self.counted(release)
            return [counts], counts.sum(axis=0)
        of_classes, whole = self._places(release)
        return tabulated_in_parts(*of_classes), whole

    def _places(self, release):
        """The class, the column and the weight of all that is counted, arrays (m,), between them the shape of the table
        of counts; and the counts of everybody as one class.
        """
        classes, values, people, times = release.counted(self.sensitive)
        if self.of_sizes and release.buckets is None:
            classes = release.equivalence_classes
        columns, width = tally(self, values, release.schema[self.sensitive])
        place, column, weights, wide = counted_once(self, columns, width, people, classes, times=times)
        everybody = counted_once(self, columns, width, people, times=times)
        return (classes[place], column, (int(classes.max()) + 1, wide), weights), whole_of(everybody)

    def worst(self, levels):
        """The level that protects least: one small class is enough to expose its members."""
        return levels.min() if self.better == "higher" else levels.max()

    def __str__(self):
        """The bound and what it is for, as results name it: `t=0.2 occupation`."""
        words = [f"{field.name}={getattr(self, field.name)!s}" for field in fields(self) if field.name != "sensitive"]
        return " ".join(word for word in (self.kind, *words, self.sensitive) if word)


expect.word("model", PrivacyModel, several="models", instead="Give one such as KAnonymity(10).")


class Counted(NamedTuple):
    """What a model counts: the `places` of rows, the column that each counts in and its weight, None for 1; how many
    columns there are.
    """

    places: np.ndarray
    columns: np.ndarray
    weights: np.ndarray | None
    width: int


def counted_once(model, columns, width, people, *groups, times=None):
    """What `model` counts of rows, people `once_each` for a value in each of `groups`.

    Rows of counts of a model `of_members` add up to its people: a last column takes away those whom several values
    count.

    Parameters
    ----------
    model : PrivacyModel
    columns : integer array (n,)
        In which of `width` columns each row counts.
    people : integer array (n,), or None
    groups : integer arrays (n,)
    times : integer array (n,), optional
        Of how many people each row is where `people` does not say it; None: of one.

    Returns
    -------
    Counted
    """
    once = once_each(people, *groups, columns)
    if people is None:
        return Counted(np.arange(len(columns)), columns, times, width)
    if not (model.of_members and width > 1):
        return Counted(once, columns[once], None, width)
    alone = once_each(people, *groups)
    last = np.full(len(once) + len(alone), width)
    weights = np.concatenate([np.ones(len(once)), -np.ones(len(once)), np.ones(len(alone))])
    return Counted(np.concatenate([once, once, alone]), np.append(columns[once], last), weights, width + 1)


def whole_of(counted):
    """The counts of all that is `Counted` as one class: integer array (width,)."""
    return np.bincount(counted.columns, counted.weights, minlength=counted.width).astype(np.int64)


def tally(model, column, attribute=None):
    """The column of counts that each entry of a sensitive column falls into, and how many columns there are.

    `column`: Series or array (n,); `attribute`: describes it; without one its values are in sorted order. Returns
    (int array (n,), int). Raises SchemaError for a model about a value that the attribute's domain does not have, for
    it would always hold.
    """
    expect.these(model=model)
    if attribute is not None:
        expect.these(attribute=attribute)
    if hasattr(model, "value") and attribute is not None and attribute.domain is not None:
        as_text = attribute.numeric and isinstance(
            model.value, str
        )  # "3" is equal to no 3: the model would always hold
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


def ungraded(model, release):
    """Why a model says nothing of a release, in words; empty where it does.

    Whose values were changed by no known law has no class to be looked up in, and yet may look like others: a model
    that counts only who looks alike is graded, and of averages that keep a k each that counts in their groups.
    """
    alike = model.sensitive is None or model.of_sizes or release.groups is not None
    alike = alike and not hasattr(model, "population")
    return "" if alike and not release.treated("noisy", "synthetic") else release.without_classes


def achieved(model, release):
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
    expect.these(model=model, release=release)
    if reason := ungraded(model, release):
        raise Unreadable(
            f"{model!r} cannot be graded: {release.provenance.sanitizer} has no equivalence classes: {reason}."
        )
    parts, whole = model.parts(release)
    return model.worst(np.array([model.worst(model.level(counts, whole)) for counts in parts]))
