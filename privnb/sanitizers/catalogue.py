"""Which sanitizers there are, found by importing them, and lists of them for a dataset, by the facts of a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privnb import sanitizers
from privnb.microdata.schema import Attribute
from privnb.runtime.family import members
from privnb.runtime.validation import validated
from privnb.sanitizers.base import MODELS, AnyMicrodata, Sanitizer

Kind = type[Sanitizer]

# Of kinds, by their treatment; a kind whose cells are exact publishes fewer records.
GROUPS = {
    "generalized": "generalization",
    "bucketized": "buckets",
    "noisy": "noise",
    "perturbed": "perturbation",
    "synthetic": "synthetic records",
    "suppressed": "suppressed cells",
    "exact": "a sample",
}

# What the papers compare: cells that are true, in buckets, or with noise of a known law.
OF_PAPERS = ("generalized", "bucketized", "noisy")


# The order of every list of sanitizers; a kind that is not here comes after them.
ORDER = (
    "Mondrian", "LocalRecoding", "FullDomain", "TopDownSpecialization", "KMember",
    "Bucketize", "Anatomy",
    "LaplaceNoise", "GeometricNoise", "RandomizedResponse",
    "GammaDiagonal", "Mask", "Pram", "RetentionReplacement", "AdditiveNoise", "DataSwapping",
    "RareCategories", "LocalSuppression", "Sampling",
    "Rotation", "RandomProjection", "GeometricPerturbation", "ResilientPerturbation",
    "Microaggregation", "UnivariateMicroaggregation", "Condensation",
    "MaskingNoise", "LognormalNoise", "RankSwapping", "Resampling", "Rounding", "TopBottomCoding",
    "HybridMasking", "Ipso", "LatinHypercube", "MultipleImputation",
    "Suppress", "Identity",
)  # fmt: skip


def kinds() -> dict[str, Kind]:
    """Every kind of sanitizer by name: those of `ORDER`, then others by name. The package's own keep their names."""
    found: dict[str, Kind] = {}
    for kind in members(Sanitizer):
        found.setdefault(kind.__name__, kind)
    return dict(sorted(found.items(), key=lambda item: ORDER.index(item[0]) if item[0] in ORDER else len(ORDER)))


def title(name: str) -> str:
    """What a person calls a sanitizer, by the name of its class; a name that is no class's is its own title.

    >>> title("KMember"), title("somebody's mechanism")
    ('k-member clustering', "somebody's mechanism")
    """
    kind = kinds().get(name)
    return (kind and kind.title) or name


def label(name: str, bounds: Mapping[str, float] | None = None, more: str = "") -> str:
    """What a person calls a setting of a sanitizer: its title and the bounds that it was asked for.

    Parameters
    ----------
    name : str
        Of the class.
    bounds : dict of str to float
        By letter.
    more : str
        Other parameters, as results name them.

    Returns
    -------
    str

    >>> label("KMember", {"k": 10}), label("LaplaceNoise", {"epsilon": 0.5}), label("Identity")
    ('k-member clustering, k = 10', 'Laplace noise, epsilon 0.5', 'the original')
    """
    said = [
        f"{letter} = {bound:.10g}" if len(letter) == 1 else f"{letter} {bound:.10g}"
        for letter, bound in (bounds or {}).items()
    ]
    return ", ".join(filter(None, [title(name), *said, more.replace("=", " = ")]))


def group(name: str) -> str:
    """What kind of release a sanitizer makes, by its name: "the ends", "generalization", "buckets", "noise", ..."""
    kind = kinds().get(name, Sanitizer)
    return "the ends" if kind.reference else GROUPS.get(kind.treatment, f"{kind.treatment} values")


def references() -> list[str]:
    """The names of the sanitizers whose releases all others lie between, "the ends"."""
    return [name for name, kind in kinds().items() if kind.reference]


def groups(names: Iterable[str]) -> list[str]:
    """The `group`s of sanitizers by name, each once: the ends first, then those of `GROUPS`, then others."""
    found, order = dict.fromkeys(map(group, names)), ["the ends", *GROUPS.values()]
    return sorted(found, key=lambda each: order.index(each) if each in order else len(order))


def fits(
    kind: Kind, *, sensitive: Sequence[Attribute], known: Sequence[Attribute] | None = None, keyed: bool = False
) -> bool:
    """Whether a table has what a kind of sanitizer needs. `sensitive`, `known`: the attributes that are sensitive and
    the quasi-identifiers, lists of `Attribute`; without `known` these are not looked at. `keyed`: whether the table has
    a key of people.
    """
    return (
        (kind.counts_people or not keyed)
        and _there(sensitive)[kind.needs_sensitive]
        and (known is None or _there(known)[kind.changes])
    )


def _there(attributes: Sequence[Attribute]) -> dict[str, bool]:
    numeric = [attribute.numeric for attribute in attributes]
    numbers = {"numbers": any(numeric), "two numbers": sum(numeric) > 1}
    return {"": True, "any": bool(numeric), "categories": not all(numeric), **numbers}


def reference_sanitizers() -> list[Sanitizer]:
    """The sanitizers that all others lie between: publish everything, publish no quasi-identifier."""
    return [sanitizers.Identity(), sanitizers.Suppress()]


def family(
    dataset: Any,
    *,
    k: float = 10,
    l: float = 2,  # noqa: E741 - the field's letter
    t: float = 0.2,
    delta: float = 1.0,
    epsilon: float = 1.0,
    of: Sequence[str] = tuple(GROUPS),
) -> list[Sanitizer]:
    """One sanitizer of each kind, at its main bound or the first of its settings; those that generalize stand first.

    Kinds of which the dataset lacks what they need are left out, a sensitive attribute, a number or a category, and
    those that count records where it has a key of people; so are the two ends. `of`: the treatments asked for.
    """
    bounds = {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    found = list[Sanitizer]()
    for kind, secret in _fit(dataset):
        if kind.treatment in of:
            main = [kind.at({letter: bounds[letter]}, secret) for letter in kind.letters[:1]]
            found += (kind.settings(secret) or main)[:1]
    return found


def generalizing(dataset: Any, *models: Any) -> list[Sanitizer]:
    """Every sanitizer that generalizes until all `models` hold, of which the first is k-anonymity."""
    found = [kind.keeping(models, secret) for kind, secret in _fit(dataset) if kind.treatment == "generalized"]
    return [each for each in found if each is not None]


def varied(dataset: Any, letter: str, value: float, *, sensitive: str | None, least: float) -> list[Sanitizer]:
    """Every sanitizer with a bound of this letter, at this value: a list.

    `sensitive`: the attribute that it is about, None where there is none; `least`: the k of one that needs a k as well.
    """
    secret, keyed = [dataset.schema[sensitive]] if sensitive else [], bool(dataset.schema.person)
    if letter in {*MODELS} - {"k"} and not secret:  # they are about its values
        return []
    return [
        kind.at({each: least for each in kind.requires if each == "k"} | {letter: value}, sensitive)
        for kind in kinds().values()
        if letter in kind.letters and kind.accepts(letter, value) and fits(kind, sensitive=secret, keyed=keyed)
    ]


def settled(dataset: Any) -> list[Sanitizer]:
    """Every sanitizer that no letter varies, but the two ends, at the settings that its class states: a list."""
    return [each for kind, secret in _fit(dataset) for each in kind.settings(secret)]


@validated
def _fit(dataset: AnyMicrodata) -> list[tuple[Kind, str | None]]:
    """The kinds that fit a dataset but the two ends, each with the sensitive attribute that it is about, in order."""
    schema, secret = dataset.schema, dataset.schema.sensitive[:1]
    needs = {
        "sensitive": [schema[name] for name in secret],
        "known": [schema[name] for name in schema.quasi_identifiers],
    }
    found = [kind for kind in kinds().values() if not kind.reference and fits(kind, keyed=bool(schema.person), **needs)]
    found.sort(key=lambda kind: (kind.treatment != "generalized", kind.global_recoding))
    return [(kind, next(iter(secret), None)) for kind in found]
