"""Base class and shared functions of the sanitizers whose classes satisfy privacy models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from privnb.microdata.columns import make_categorical
from privnb.microdata.counts import encode_values, group_codes
from privnb.microdata.hierarchy import Intervals, Taxonomy
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role
from privnb.privacy_models import PrivacyModel
from privnb.privacy_models.refinement import Cells, Refinement
from privnb.privacy_models.requirement import Requirement
from privnb.privacy_models.words import keywords, models_of_keywords
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.lazy import pd
from privnb.runtime.names import suggest
from privnb.sanitizers.base import MODEL_BY_LETTER, Sanitizer
from privnb.sanitizers.eligibility import require_quasi_identifiers
from privnb.sanitizers.errors import SanitizationError


@dataclass(frozen=True, init=False, repr=False)
class ModelBasedSanitizer(Sanitizer):
    """A sanitizer whose classes satisfy all `models`, which are its first arguments: `Mondrian(KAnonymity(10), ...)`.

    Models may also be given by keyword, each as a bound, a pair of a bound and a sensitive attribute, or a list of such
    pairs: `Mondrian(k=10, t=(0.2, "illness"))`. `Mondrian(10)` requests 10-anonymity, and the keyword `l` requests
    distinct l-diversity. Other parameters are given by name. Raises ValueError if no model is given, and TypeError if
    an argument is not a model.
    """

    models: tuple[PrivacyModel, ...]
    order_invariant = True
    letters = tuple(MODEL_BY_LETTER)
    coded = True
    by_combinations = True

    def __init__(self, *models: PrivacyModel | int, **options: Any) -> None:
        known = {field.name: field.default for field in fields(self) if field.name != "models"}
        requested = {name: value for name, value in options.items() if name not in known}
        numbers = [each for each in models if expect.is_whole(each)]
        if len(numbers) + ("k" in requested) > 1:
            raise UsageError(
                f"`k` must be given once; got {len(numbers) + ('k' in requested)} values. Leave out all but one."
            )
        if requested and (unknown := sorted({*requested} - {*keywords()})):
            words = f"models are given by {', '.join(keywords())}"
            raise UsageTypeError(
                f"{type(self).__name__} has no parameter {', '.join(unknown)}; it has "
                f"{', '.join(known) or 'models alone'}, and {words}."
                f"{suggest(unknown, [*known, *keywords()])}"
            )
        given: tuple[Any, ...] = tuple(each for each in models if not expect.is_whole(each))
        requested |= dict.fromkeys(["k"], *numbers) if numbers else {}
        given += tuple(models_of_keywords(requested, given)) if requested else ()
        absent = [name for name, default in known.items() if default is MISSING and name not in options]
        if absent:
            raise UsageTypeError(f"{type(self).__name__} needs {', '.join(f'{name}=' for name in absent)}.")
        expect.all_of("models", given, PrivacyModel, instead=PrivacyModel.HINT)
        if not given:
            raise UsageError(f"{type(self).__name__} needs at least one privacy model, such as KAnonymity(10).")
        object.__setattr__(self, "models", given)
        for name, default in known.items():
            object.__setattr__(self, name, options.get(name, default))
        self.__post_init__()

    @classmethod
    def from_bounds(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        """Return a sanitizer with these bounds."""
        return cls.from_models(build_models(bounds, sensitive), sensitive)

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        """Return a sanitizer whose classes satisfy all `models`."""
        return cls(*models)

    def list_refinements(self, cells: Cells) -> list[Refinement]:
        """Return finer partitions of `cells` that this sanitizer rejected, because a part violates one of the `models`.

        The list need not contain all rejected partitions. Raises UsageError if the sanitizer does not stop at the
        bound, or if it is not known which partitions it rejects.
        """
        raise UsageError(
            f"it is not known which finer partitions {self!r} rejects. Choose a release of Mondrian, FullDomain or "
            "TopDownSpecialization."
        )

    def __repr__(self) -> str:
        options = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name != "models" and getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join([*map(repr, self.models), *options])})"


def build_models(bounds: Mapping[str, float], sensitive: str | None) -> list[PrivacyModel]:
    """Return a list of the privacy models with these bounds, `{letter: number}`; k-anonymity comes first.

    >>> build_models({"t": 0.2, "k": 5}, "salary")
    [KAnonymity(k=5), TCloseness(t=0.2, sensitive='salary', distance='equal')]
    """
    requested: dict[str, Any] = {letter: model for letter, model in MODEL_BY_LETTER.items() if letter in bounds}
    return [model(bounds[letter], *([] if letter == "k" else [sensitive])) for letter, model in requested.items()]


def recode_classes(
    dataset: Microdata, table: pd.DataFrame, requirement: Requirement, classes: IntArray
) -> pd.DataFrame:
    """Write the smallest generalization of each class into the quasi-identifiers of `table`; return `table`.

    `classes`: the class of each row of `requirement`, as an integer array of numbers from 0.
    """
    if requirement.persons is not None and not all(model.grows for model in requirement.models):
        classes = _kept_as_published(dataset, requirement, classes)
    of_records = classes[requirement.index]
    for a, name in enumerate(dataset.schema.quasi_identifiers):
        labels = dataset.hierarchies[name].labels(requirement.codes[:, a], classes)
        table[name] = make_categorical(of_records, labels)
    return table


def _kept_as_published(dataset: Microdata, requirement: Requirement, classes: IntArray) -> IntArray:
    """Return the classes; a class has joined another if it would violate a model once labels end at public values.

    Labels that end at public values may turn two classes into one. A person with records in both classes counts once in
    the joint class, so that a larger share of the joint class's people may have a value.
    """
    from privnb.sanitizers.algorithms.recoding import join_classes  # numba takes most of a second to import

    hierarchies = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]

    def holds(classes: IntArray) -> BoolArray:
        columns = []
        for a, (name, hierarchy) in enumerate(zip(dataset.schema.quasi_identifiers, hierarchies, strict=True)):
            labels = hierarchy.labels(requirement.codes[:, a], classes)
            columns.append(
                encode_values(labels if hierarchy.exact else hierarchy.widened(labels, dataset.shared[name]))
            )
        _, alike = group_codes([codes for codes, _ in columns], [len(labels) for _, labels in columns])
        return requirement.holds(alike[classes], int(alike.max()) + 1)[alike]

    if holds(classes).all():
        return classes
    return join_classes(requirement.codes, describe_lines(hierarchies), classes, 1, holds)


def describe_lines(generalizations: Sequence[Any]) -> list[IntArray | int]:
    """Return, for each attribute, the nodes at each level of its tree, or the number of positions of its line."""
    return [g.groups if isinstance(g, Taxonomy) or type(g) is Intervals else g.steps + 1 for g in generalizations]


def bind_models(sanitizer: Any, dataset: Microdata, extra: Sequence[str] = (), *, alone: bool = False) -> Requirement:
    """Return the `Requirement` of the sanitizer's models in `dataset`.

    Raises SanitizationError if a single class of all records violates a model.
    """
    require_quasi_identifiers(sanitizer, dataset.schema, "generalize")
    for model in sanitizer.models:
        if dataset.schema.person and hasattr(model, "population"):
            raise SanitizationError(
                f"{sanitizer!r}: {model!r} compares each record with the people of a population, but a person "
                f"in '{dataset.name}' may have several records. Try KAnonymity, which is stricter than KMap."
            )
        # An adversary already knows quasi-identifiers, and identifiers and keys are not published.
        role = None if model.sensitive is None else dataset.schema[model.sensitive].role
        if role not in (None, Role.SENSITIVE, Role.NEUTRAL):
            raise SanitizationError(
                f"{sanitizer!r}: {model!r} protects '{model.sensitive}', which has the role '{role}' in "
                f"'{dataset.name}'. Give this column the role 'sensitive', or name a column with this role."
            )
    requirement = Requirement(sanitizer.models, dataset, extra, alone=alone)
    if reason := requirement.refusal():
        raise SanitizationError(f"{sanitizer!r} cannot be reached: {reason}")
    return requirement
