"""What the sanitizers have in common whose classes keep privacy models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from privnb.microdata.columns import of_codes
from privnb.microdata.counts import coded, distinct_codes
from privnb.microdata.hierarchy import Intervals, Taxonomy
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role
from privnb.privacy_models import PrivacyModel
from privnb.privacy_models.requirement import Requirement
from privnb.privacy_models.words import keywords, models_of_keywords
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.lazy import pd
from privnb.runtime.names import meant
from privnb.sanitizers.base import MODELS, Sanitizer
from privnb.sanitizers.eligibility import quasi_identifiers
from privnb.sanitizers.errors import SanitizationError


@dataclass(frozen=True, init=False, repr=False)
class ModelBasedSanitizer(Sanitizer):
    """A sanitizer of which every class keeps all of `models`, listed first: `Mondrian(KAnonymity(10), ...)`.

    Models may also be asked for by their words, each a bound, a pair of a bound and a sensitive attribute, or a list of
    such pairs: `Mondrian(k=10, t=(0.2, "illness"))`. `Mondrian(10)` asks for 10-anonymity, and `l` for distinct
    l-diversity. Other parameters are named. Raises ValueError without a model and TypeError for what is none.
    """

    models: tuple[PrivacyModel, ...]
    order_invariant = True
    letters = tuple(MODELS)
    coded = True
    by_combinations = True

    def __init__(self, *models: PrivacyModel | int, **options: Any) -> None:
        known = {field.name: field.default for field in fields(self) if field.name != "models"}
        asked = {name: value for name, value in options.items() if name not in known}
        numbers = [each for each in models if expect.is_whole(each)]
        if len(numbers) + ("k" in asked) > 1:
            raise UsageError(
                f"`k` must be given once; got {len(numbers) + ('k' in asked)} values. Leave the others out."
            )
        if asked and (unknown := sorted({*asked} - {*keywords()})):
            words = f"models are asked for by {', '.join(keywords())}"
            raise UsageTypeError(
                f"{type(self).__name__} has no parameter {unknown}; it has {', '.join(known) or 'none'}, and {words}."
                f"{meant(unknown, [*known, *keywords()])}"
            )
        given: tuple[Any, ...] = tuple(each for each in models if not expect.is_whole(each))
        asked |= dict.fromkeys(["k"], *numbers) if numbers else {}
        given += tuple(models_of_keywords(asked, given)) if asked else ()
        absent = [name for name, default in known.items() if default is MISSING and name not in options]
        if absent:
            raise UsageTypeError(f"{type(self).__name__} needs {', '.join(f'{name}=' for name in absent)}.")
        expect.all_of("models", given, PrivacyModel, instead=PrivacyModel.HINT)
        if not given:
            raise UsageError(f"{type(self).__name__} needs a privacy model to keep, such as KAnonymity(10).")
        object.__setattr__(self, "models", given)
        for name, default in known.items():
            object.__setattr__(self, name, options.get(name, default))
        self.__post_init__()

    @classmethod
    def at(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        return cls.keeping(models_of(bounds, sensitive), sensitive)

    @classmethod
    def keeping(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        return cls(*models)

    def __repr__(self) -> str:
        options = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name != "models" and getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join([*map(repr, self.models), *options])})"


def models_of(bounds: Mapping[str, float], sensitive: str | None) -> list[PrivacyModel]:
    """The privacy models that bounds ask for, `{letter: number}`: a list, k-anonymity first.

    >>> models_of({"t": 0.2, "k": 5}, "salary")
    [KAnonymity(k=5), TCloseness(t=0.2, sensitive='salary', distance='equal')]
    """
    asked: dict[str, Any] = {letter: model for letter, model in MODELS.items() if letter in bounds}
    return [model(bounds[letter], *([] if letter == "k" else [sensitive])) for letter, model in asked.items()]


def recoded(dataset: Microdata, table: pd.DataFrame, requirement: Requirement, classes: IntArray) -> pd.DataFrame:
    """`table` with each class's smallest generalization in its quasi-identifiers.

    `classes`: integer array, the class of each row of `requirement`; numbers from 0.
    """
    if requirement.persons is not None and not all(model.grows for model in requirement.models):
        classes = _kept_as_published(dataset, requirement, classes)
    of_records = classes[requirement.index]
    for a, name in enumerate(dataset.schema.quasi_identifiers):
        labels = dataset.hierarchies[name].labels(requirement.codes[:, a], classes)
        table[name] = of_codes(of_records, labels)
    return table


def _kept_as_published(dataset: Microdata, requirement: Requirement, classes: IntArray) -> IntArray:
    """The classes, those joined with others that would break a model once labels end where many people are.

    Classes with one label then are one class. Of people with records in both there are fewer than of both together, so
    that a value may belong to a larger share of them.
    """
    from privnb.sanitizers.algorithms.recoding import joined  # numba takes most of a second to import

    hierarchies = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]

    def holds(classes: IntArray) -> BoolArray:
        columns = []
        for a, (name, hierarchy) in enumerate(zip(dataset.schema.quasi_identifiers, hierarchies, strict=True)):
            labels = hierarchy.labels(requirement.codes[:, a], classes)
            columns.append(coded(labels if hierarchy.exact else hierarchy.widened(labels, dataset.shared[name])))
        _, alike = distinct_codes([codes for codes, _ in columns], [len(labels) for _, labels in columns])
        return requirement.holds(alike[classes], int(alike.max()) + 1)[alike]

    if holds(classes).all():
        return classes
    return joined(requirement.codes, lines(hierarchies), classes, 1, holds)


def lines(generalizations: Sequence[Any]) -> list[IntArray | int]:
    """What `recoding` has to know of each attribute: the nodes at each level, or how many positions its line has."""
    return [g.groups if isinstance(g, Taxonomy) or type(g) is Intervals else g.steps + 1 for g in generalizations]


def requirement_of(
    sanitizer: Any, dataset: Microdata, extra: Sequence[str] = (), *, alone: bool = False
) -> Requirement:
    """The sanitizer's models bound to `dataset`, see `Requirement`.

    Raises SanitizationError where not even one class of all records keeps them.
    """
    quasi_identifiers(sanitizer, dataset.schema, "generalize")
    for model in sanitizer.models:
        if dataset.schema.person and hasattr(model, "population"):
            raise SanitizationError(
                f"{sanitizer!r}: {model!r} sets records against people of a population, and people of '{dataset.name}' "
                "may have several. Ask for KAnonymity, which asks for more than KMap."
            )
        # An adversary knows quasi-identifiers already, and neither identifiers nor keys are published.
        role = None if model.sensitive is None else dataset.schema[model.sensitive].role
        if role not in (None, Role.SENSITIVE, Role.NEUTRAL):
            raise SanitizationError(
                f"{sanitizer!r}: {model!r} protects '{model.sensitive}', which has the role '{role}' in "
                f"'{dataset.name}'. Give it the role 'sensitive', or name a column that has it."
            )
    requirement = Requirement(sanitizer.models, dataset, extra, alone=alone)
    if reason := requirement.refusal():
        raise SanitizationError(f"{sanitizer!r} cannot be reached: {reason}. Relax that model, or leave it out.")
    return requirement
