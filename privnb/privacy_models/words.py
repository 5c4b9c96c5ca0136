"""Privacy models by the words that request them, such as `k`, `t`, `entropy-l`, and `l` for distinct l-diversity."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, cast

from privnb.privacy_models.anonymity import KAnonymity
from privnb.privacy_models.base import PrivacyModel
from privnb.privacy_models.diversity import DistinctDiversity
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.registry import find_classes

SHORT: dict[str, type[PrivacyModel]] = {"l": DistinctDiversity}  # the most common meaning of l


def list_models_by_words() -> dict[str, type[PrivacyModel]]:
    """Return all models by their words: models of privnb, and other models that are imported or installed.

    Raises ValueError if two models have the same word.
    """
    found: dict[str, type[PrivacyModel]] = {}
    for kind in sorted(find_classes(PrivacyModel), key=lambda kind: kind.__name__ != "KAnonymity"):  # k-anonymity first
        name = vars(kind).get("word") or kind.__name__
        if name in {*SHORT, "epsilon", *found}:
            other = found[name].__name__ if name in found else "the command"
            raise UsageError(
                f"`word` of {kind.__name__} must be unique; got {name!r}, which {other} uses. Choose another word."
            )
        found[name] = kind
    return found


def parameters(kind: type[PrivacyModel]) -> tuple[Field[Any], ...]:
    """Return the parameters of a model, in their order."""
    return fields(cast(Any, kind))


def main_parameter(word: str, kind: type[PrivacyModel]) -> str:
    """Return the name of the parameter that the number after a model's word sets.

    >>> from privnb.privacy_models import RecursiveDiversity
    >>> main_parameter("recursive-l", RecursiveDiversity)
    'l'
    """
    own = [each.name for each in parameters(kind) if not each.kw_only]
    return last if (last := word.rpartition("-")[2]) in own else own[0]


def keywords() -> dict[str, type[PrivacyModel]]:
    """Return all models by the keywords that sanitizers accept: the models' words with underscores, and `l`."""
    return {word.replace("-", "_"): kind for word, kind in (SHORT | list_models_by_words()).items()}


def models_of_keywords(bounds: Mapping[str, Any], others: Sequence[object] = ()) -> list[PrivacyModel]:
    """Return the models that keywords request; k-anonymity comes first.

    Parameters
    ----------
    bounds : dict
        For each keyword, a bound, a tuple of a bound and a sensitive attribute, or a list of bounds or of such tuples.
    others : list of PrivacyModel, optional
        Models that are requested in another way and must not be repeated.

    Returns
    -------
    list of PrivacyModel

    Raises
    ------
    ValueError
        If a bound lacks its sensitive attribute, or if a model needs further parameters.

    Examples
    --------
    >>> models_of_keywords({"t": (0.2, "illness"), "k": 10})
    [KAnonymity(k=10), TCloseness(t=0.2, sensitive='illness', distance='equal')]
    >>> models_of_keywords({"entropy_l": [(2, "illness"), (1.5, "ward")]})[1]
    EntropyDiversity(l=1.5, sensitive='ward')
    """
    known, size = keywords(), bounds.get("k")
    found: list[PrivacyModel] = []
    seen = {(type(each), getattr(each, "sensitive", None)) for each in others}
    for keyword in sorted(bounds, key=lambda each: known[each] is not KAnonymity):
        requested = bounds[keyword]
        if requested == []:
            raise UsageError(f"`{keyword}` must be a bound or a list of bounds; got an empty list.")
        for value in requested if isinstance(requested, list) else [requested]:
            model = _model(keyword, known[keyword], value, size)
            if (key := (type(model), model.sensitive)) in seen:
                attribute = f" for '{model.sensitive}'" if model.sensitive else ""
                raise UsageError(
                    f"`{keyword}` must be given once{attribute}; got two values. Leave out one of the bounds."
                )
            seen.add(key)
            found.append(model)
    return found


def _model(keyword: str, kind: type[PrivacyModel], value: Any, size: Any) -> PrivacyModel:
    """Return the model that one value of a keyword requests. `size` is the requested `k`, or None."""
    own = {each.name: each for each in parameters(kind)}
    main = main_parameter(keyword.replace("_", "-"), kind)
    pair = isinstance(value, tuple)
    if "sensitive" in own and not (pair and len(value) == 2 and isinstance(value[1], str)):
        example = expect.describe_value(value) if expect.is_number(value) else "BOUND"
        raise UsageError(
            f"`{keyword}` must be a pair of a bound and its sensitive attribute, or a list of such pairs; got "
            f'{expect.describe_value(value)}. Try {keyword}=({example}, "ATTRIBUTE").'
        )
    if "sensitive" not in own and pair:
        raise UsageError(f"`{keyword}` must be only a bound, because it has no sensitive attribute; got a tuple.")
    given = {main: value[0], "sensitive": value[1]} if pair else {main: value}
    if "k" in own and main != "k" and size is not None:
        given["k"] = size
    if lacking := [*_lacking(own, given)]:
        written = ", ".join(f"{name}={given[name]!r}" if name in given else f"{name}=..." for name in own)
        raise UsageError(
            f"`{keyword}` must be a model, because it also needs {', '.join(lacking)}; got "
            f"{expect.describe_value(value)}. Try "
            f"{kind.__name__}({written})."
        )
    return kind(**given)


def _lacking(own: Mapping[str, Field[Any]], given: Mapping[str, Any]) -> Iterator[str]:
    for name, each in own.items():
        if name not in given and each.default is MISSING and each.default_factory is MISSING:
            yield name
