"""All imported sanitizers, and lists of the sanitizers for a dataset, which follow from the facts of the classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privnb import sanitizers
from privnb.microdata.schema import Attribute
from privnb.runtime.registry import find_classes
from privnb.runtime.validation import validated
from privnb.sanitizers.base import MODEL_BY_LETTER, AnyMicrodata, Sanitizer

Kind = type[Sanitizer]

# The group of a class by its treatment; a class with exact cells publishes fewer records.
GROUP_BY_TREATMENT = {
    "generalized": "generalization",
    "bucketized": "buckets",
    "noisy": "noise",
    "perturbed": "perturbation",
    "synthetic": "synthetic records",
    "suppressed": "suppressed cells",
    "exact": "a sample",
}

# # The treatments that the papers compare: true cells, buckets, and noise with a known distribution.
PAPER_TREATMENTS = ("generalized", "bucketized", "noisy")


# The order of every list of sanitizers; other classes come after these.
ORDER = (
    "Mondrian", "LocalRecoding", "FullDomain", "TopDownSpecialization", "KMember",
    "Bucketize", "Anatomy",
    "LaplaceNoise", "GeometricNoise", "RandomizedResponse",
    "GammaDiagonal", "MASK", "PRAM", "RetentionReplacement", "AdditiveNoise", "DataSwapping",
    "RareCategories", "LocalSuppression", "Sampling",
    "Rotation", "RandomProjection", "GeometricPerturbation", "ResilientPerturbation",
    "Microaggregation", "UnivariateMicroaggregation", "Condensation",
    "MaskingNoise", "LognormalNoise", "RankSwapping", "Resampling", "Rounding", "TopBottomCoding",
    "HybridMasking", "IPSO", "LatinHypercube", "MultipleImputation",
    "Suppress", "Identity",
)  # fmt: skip


def kinds() -> dict[str, Kind]:
    """Return every class of sanitizers by name: those of `ORDER`, then all other classes in alphabetical order.

    If a class of another package has the name of a class of this package, the class of this package is returned.
    """
    found: dict[str, Kind] = {}
    for kind in find_classes(Sanitizer):
        found.setdefault(kind.__name__, kind)
    return dict(sorted(found.items(), key=lambda item: ORDER.index(item[0]) if item[0] in ORDER else len(ORDER)))


def title(name: str) -> str:
    """Return the title that readers see for the class with this name; any other name is returned unchanged.

    >>> title("KMember"), title("somebody's mechanism")
    ('k-member clustering', "somebody's mechanism")
    """
    kind = kinds().get(name)
    return (kind and kind.title) or name


def sanitizer_label(name: str, bounds: Mapping[str, float] | None = None, more: str = "") -> str:
    """Return the name of a setting for readers: the title of the sanitizer and its bounds.

    Parameters
    ----------
    name : str
        The name of the class.
    bounds : dict of str to float
        The bounds by letter.
    more : str
        Other parameters, as in results.

    Returns
    -------
    str

    >>> sanitizer_label("KMember", {"k": 10}), sanitizer_label("Identity")
    ('k-member clustering, k = 10', 'the original')
    """
    parts = [
        f"{letter} = {bound:.10g}" if len(letter) == 1 else f"{letter} {bound:.10g}"
        for letter, bound in (bounds or {}).items()
    ]
    return ", ".join(filter(None, [title(name), *parts, more.replace("=", " = ")]))


def group(name: str) -> str:
    """Return the kind of release that the class with this name makes: "the ends", "generalization", "noise", ..."""
    kind = kinds().get(name, Sanitizer)
    if kind.reads_file:
        return "another tool"
    return "the ends" if kind.reference else GROUP_BY_TREATMENT.get(kind.treatment, f"{kind.treatment} values")


def list_reference_names() -> list[str]:
    """Return the names of the sanitizers that make the two reference releases."""
    return [name for name, kind in kinds().items() if kind.reference]


def groups(names: Iterable[str]) -> list[str]:
    """Return the distinct `group`s of the named classes: references first, then those of `GROUP_BY_TREATMENT`."""
    found, order = dict.fromkeys(map(group, names)), ["the ends", *GROUP_BY_TREATMENT.values()]
    return sorted(found, key=lambda each: order.index(each) if each in order else len(order))


def fits(
    kind: Kind, *, sensitive: Sequence[Attribute], known: Sequence[Attribute] | None = None, keyed: bool = False
) -> bool:
    """Return whether a class of sanitizers makes releases and whether a table has the columns that the class needs.

    Parameters
    ----------
    kind : type
        The class.
    sensitive : list of Attribute
        The sensitive attributes of the table.
    known : list of Attribute, optional
        The quasi-identifiers of the table. With None, the quasi-identifiers are not checked.
    keyed : bool
        Whether the table has a key of people.
    """
    return (
        not kind.reads_file
        and (kind.counts_people or not keyed)
        and _available(sensitive)[kind.needs_sensitive]
        and (known is None or _available(known)[kind.changes])
    )


def _available(attributes: Sequence[Attribute]) -> dict[str, bool]:
    numeric = [attribute.numeric for attribute in attributes]
    numbers = {"numbers": any(numeric), "two numbers": sum(numeric) > 1}
    return {"": True, "any": bool(numeric), "categories": not all(numeric), **numbers}


def reference_sanitizers() -> list[Sanitizer]:
    """Return the two reference sanitizers: one publishes all columns, and the other publishes no quasi-identifier."""
    return [sanitizers.Identity(), sanitizers.Suppress()]


def build_one_per_class(
    dataset: Any,
    *,
    k: float = 10,
    l: float = 2,  # noqa: E741 - the field's letter
    t: float = 0.2,
    delta: float = 1.0,
    epsilon: float = 1.0,
    of: Sequence[str] = tuple(GROUP_BY_TREATMENT),
) -> list[Sanitizer]:
    """Return one sanitizer of each class, at its main bound or first setting; classes that generalize come first.

    The list omits the two references and the classes that do not fit the dataset. Such a class needs a sensitive
    attribute, a number or a category that the dataset lacks, or it counts records although the dataset has a key of
    people. `of`: the treatments to include.
    """
    bounds = {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    found = list[Sanitizer]()
    for kind, sensitive in _fit(dataset):
        if kind.treatment in of:
            main = [kind.from_bounds({letter: bounds[letter]}, sensitive) for letter in kind.letters[:1]]
            found += (kind.default_settings(sensitive) or main)[:1]
    return found


def build_generalizing(dataset: Any, *models: Any) -> list[Sanitizer]:
    """Return every sanitizer that generalizes until all `models` hold; the first model must be k-anonymity."""
    found = [
        kind.from_models(models, sensitive) for kind, sensitive in _fit(dataset) if kind.treatment == "generalized"
    ]
    return [each for each in found if each is not None]


def build_at_bound(dataset: Any, letter: str, value: float, *, sensitive: str | None, least: float) -> list[Sanitizer]:
    """Return a list of every sanitizer that has a bound with this letter, at this value.

    `sensitive`: the attribute of the bound, if the bound has an attribute; `least`: the k of classes that also need a
    k.
    """
    attributes, keyed = [dataset.schema[sensitive]] if sensitive else [], bool(dataset.schema.person)
    if letter in {*MODEL_BY_LETTER} - {"k"} and not attributes:  # these bounds are about its values
        return []
    return [
        kind.from_bounds({each: least for each in kind.requires if each == "k"} | {letter: value}, sensitive)
        for kind in kinds().values()
        if letter in kind.letters
        and kind.accepts_value(letter, value)
        and fits(kind, sensitive=attributes, keyed=keyed)
    ]


def build_without_bounds(dataset: Any) -> list[Sanitizer]:
    """Return, as a list, every sanitizer without letters at the settings of its class, except the references."""
    return [each for kind, sensitive in _fit(dataset) for each in kind.default_settings(sensitive)]


@validated
def _fit(dataset: AnyMicrodata) -> list[tuple[Kind, str | None]]:
    """Return the classes that fit a dataset, in order, except the references, each with a sensitive attribute."""
    schema, sensitive = dataset.schema, dataset.schema.sensitive[:1]
    needs = {
        "sensitive": [schema[name] for name in sensitive],
        "known": [schema[name] for name in schema.quasi_identifiers],
    }
    found = [kind for kind in kinds().values() if not kind.reference and fits(kind, keyed=bool(schema.person), **needs)]
    found.sort(key=lambda kind: (kind.treatment != "generalized", kind.global_recoding))
    return [(kind, next(iter(sensitive), None)) for kind in found]
