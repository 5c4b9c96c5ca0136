"""Parsing of privacy models and sanitizers that users write as text.

For example, `k=10, t=0.2:salary` means two models. Each model states the name that users write (`PrivacyModel.word`),
so users can write every imported model. The name `l` means distinct l-diversity.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

import pandas as pd

from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import Schema
from privnb.privacy_models import DistinctDiversity, FrequencyDiversity, KAnonymity, PrivacyModel
from privnb.privacy_models.words import SHORT, list_models_by_words, main_parameter, parameters
from privnb.runtime.errors import UsageError
from privnb.runtime.names import abbreviate_names, join_names, suggest
from privnb.runtime.notices import Notice
from privnb.runtime.registry import first_sentence
from privnb.runtime.validation import instead, validated
from privnb.sanitizers.base import DEFAULT_BOUNDS, Sanitizer
from privnb.sanitizers.catalogue import kinds
from privnb.tables import reading

Algorithm = Annotated[str, instead(str, 'Give one such as "Mondrian".')]
TABLE_TYPES = (Any, pd.DataFrame)  # the types of a table, for which a person writes a file name
WRITABLE = (int, float, str, object, *TABLE_TYPES, str | Taxonomy)  # the types of parameters that can be written

QUOTED = r'"(?:[^"]|"")*"'
VALUE = rf'(?:{QUOTED}|[^\s,:"]+)'
PARAMETER = re.compile(rf"\s+([\w-]+)\s*=\s*({VALUE})")
PART = re.compile(
    rf"\s*([\w-]+)\s*=\s*({VALUE})((?:\s+[\w-]+\s*=\s*{VALUE})*)\s*(?::\s*({QUOTED}|[^,]*?)\s*)?(,|$)", re.DOTALL
)


class ModelSpec(NamedTuple):
    """A model as a user writes it.

    A spec consists of the name of the model, the text of the bound, the sensitive attribute ("" if the user did not
    state it), and the names and texts of the other parameters.
    """

    name: str
    bound: str
    sensitive: str
    parameters: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        more = "".join(f" {name}={text}" for name, text in self.parameters)
        return f"{self.name}={self.bound}{more}" + f":{join_names([self.sensitive])}" * bool(self.sensitive)


@validated
def parse_sanitizer(
    model: str, algorithm: Algorithm, schema: Schema, renamed: Mapping[str, str] = MappingProxyType({})
) -> Sanitizer:
    """Return the sanitizer that a text describes.

    Parameters
    ----------
    model : str
        Models by their names, separated by commas: `"k=10, t=0.2:salary"`. Further parameters of a model follow its
        bound, as in `"recursive-l=3 c=2:salary"`. If a model needs a parameter k that is not stated, it has the k of
        `k=`. The sensitive attribute may be left out if the table has only one sensitive attribute. Names and values
        that contain separators need quotes: `t=0.2:"City, State"`.
    algorithm : str
        The name of the sanitizer's class, or the title of the sanitizer, such as "local recoding".
    schema : Schema
    renamed : dict of str to str, optional
        The name in the schema for each column name of the file. `model` may contain names of both kinds; if a name is
        of both kinds, its meaning is that of the schema.

    Returns
    -------
    Sanitizer

    Raises
    ------
    UsageError
        For a model that cannot be parsed, for an unknown algorithm, and for an algorithm that cannot enforce the
        models.

    Examples
    --------
    >>> from privnb.datasets.dataset import load_schema
    >>> parse_sanitizer("k=10, t=0.2", "local recoding", load_schema("adult"))
    LocalRecoding(KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal'))
    >>> parse_sanitizer("l=2, k=10", "Mondrian", load_schema("adult"))
    Mondrian(KAnonymity(k=10), DistinctDiversity(l=2, sensitive='salary'))
    """
    kind, names = _kind(algorithm), {**renamed, **{name: name for name in schema.names()}}
    parts = [part._replace(sensitive=names.get(part.sensitive, part.sensitive)) for part in parse_specs(model)]
    size = next((part.bound for part in parts if part.name == KAnonymity.word), None)
    models = {part: _model(part, schema, size) for part in parts if part.name != "epsilon"}
    _check_once(parts, models)
    bounds = {part.name: parse_bound(part) for part in parts if part.name in DEFAULT_BOUNDS and not part.parameters}
    if frequency := next((each for each in models.values() if type(each) is FrequencyDiversity), None):
        bounds |= {"l": frequency.l}
    kept = sorted(models.values(), key=lambda each: type(each) is not KAnonymity) if len(models) == len(parts) else []
    bounds = bounds if len(bounds) == len(parts) else {}
    sensitive = next((each.sensitive for each in models.values() if each.sensitive), next(iter(schema.sensitive), None))

    def keeping(kind: type[Sanitizer]) -> Sanitizer | None:
        """Return a sanitizer of the class `kind` that enforces the models; None if this class cannot enforce them."""
        made = kind.from_models(kept, sensitive) if kept else None
        if made is None and bounds and {*kind.requires} <= {*bounds} <= {*kind.letters}:
            made = kind.from_bounds(bounds, sensitive)
        return made

    made = keeping(kind)
    if made is None:
        able = []
        for name, each in kinds().items():
            with contextlib.suppress(ValueError):
                able += [name] if keeping(each) is not None else []
        cure = f"Try {' or '.join(able)}." if able else "No sanitizer keeps all these models. Ask for fewer."
        raise UsageError(f"{kind.__name__} cannot enforce {model}. {cure}")
    return made


def parse_models(model: str, schema: Schema, renamed: Mapping[str, str] = MappingProxyType({})) -> list[PrivacyModel]:
    """Return the models that a text describes.

    Raises UsageError for epsilon, because epsilon cannot be counted in a file.

    The arguments and the other errors are those of `parse_sanitizer`.

    >>> from privnb.datasets.dataset import load_schema
    >>> parse_models("k=10, t=0.2", load_schema("adult"))
    [KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal')]
    """
    names = {**renamed, **{name: name for name in schema.names()}}
    parts = [part._replace(sensitive=names.get(part.sensitive, part.sensitive)) for part in parse_specs(model)]
    if any(part.name == "epsilon" for part in parts):
        raise UsageError(
            "`model` must be models that can be counted in a file; got epsilon, which is a promise. Leave out epsilon."
        )
    size = next((part.bound for part in parts if part.name == KAnonymity.word), None)
    models = {part: _model(part, schema, size) for part in parts}
    _check_once(parts, models)
    return [*models.values()]


def explain_l(model: str | Sanitizer, sanitizer: Sanitizer) -> tuple[Notice, ...]:
    """Return notices about the meaning of `l`, if a user wrote a model with this name.

    >>> from privnb.sanitizers import Mondrian
    >>> print(*explain_l("l=2:ill", Mondrian(DistinctDiversity(2, "ill"))))
    `l=2:ill` was read as `distinct-l=2`: in each class 'ill' has at least 2 different values, of which one may belong \
to nearly everybody. `frequency-l=2` also bounds that: no value belongs to more than one in 2 people of a class.
    """
    if isinstance(model, Sanitizer):
        return ()
    kept = getattr(sanitizer, "partition", sanitizer)
    distinct = [each for each in getattr(kept, "models", ()) if type(each) is DistinctDiversity]
    group = "class" if kept is sanitizer else "bucket"
    read = (part for part in parse_specs(model) if part.name in SHORT)
    return tuple(Notice(_reading(part, sanitizer, distinct, group), "model-read-as") for part in read)


def _reading(part: ModelSpec, sanitizer: Sanitizer, distinct: Sequence[DistinctDiversity], group: str) -> str:
    l = parse_bound(part)  # noqa: E741 - the field's letter
    if not distinct:
        return (
            f"`{part}` was read as the l of {type(sanitizer).__name__}, which is by frequency: no value belongs to "
            f"more than one in {l} people of a bucket. So each bucket also has at least {l} different values, as "
            f"`distinct-l={l}` asks."
        )
    sensitive = next((each.sensitive for each in distinct if part.sensitive in ("", each.sensitive)), part.sensitive)
    return (
        f"`{part}` was read as `distinct-l={l}`: in each {group} '{sensitive}' has at least {l} different values, of "
        f"which one may belong to nearly everybody. `frequency-l={l}` also bounds that: no value belongs to more than "
        f"one in {l} people of a {group}."
    )


def find_models() -> dict[str, type[PrivacyModel]]:
    """Return the models that users can write, by name: the models of privnb and all other imported models.

    A model with a parameter that cannot be written as text is left out. Raises ValueError if two models have the same
    name.
    """
    return {word: kind for word, kind in list_models_by_words().items() if _is_written(kind)}


def _is_written(kind: type[PrivacyModel]) -> bool:
    """Return whether a user can write every parameter that a model needs."""
    needed = [each for each in parameters(kind) if each.default is MISSING and each.default_factory is MISSING]
    return all(_types(kind).get(each.name) in WRITABLE for each in needed)


def list_forms() -> list[tuple[str, str]]:
    """Return a pair for each model: the form in which users write it, and a sentence about its meaning.

    >>> dict(list_forms())["k=K"]
    'Every record shares its quasi-identifiers with at least k - 1 other records.'
    """
    found = []
    for name, kind in find_models().items():
        main, own = main_parameter(name, kind), [each for each in parameters(kind) if each.default is MISSING]
        more = [f" {each.name}={each.name.upper()}" for each in own if each.name not in (main, "sensitive")]
        about = ":SENSITIVE" if any(each.name == "sensitive" for each in own) else ""
        found.append((f"{name}={main.upper()}{''.join(more)}{about}", first_sentence(kind)))
    return found


def parse_specs(model: str) -> Iterator[ModelSpec]:
    """Yield the models in a text.

    Raises UsageError for a text that is not a list of models.

    >>> [*map(str, parse_specs('k=10, confidence=0.5 value="flu, late":illness'))]
    ['k=10', 'confidence=0.5 value=flu, late:illness']
    """
    place, known = 0, {*find_models(), *SHORT, "epsilon"}
    while True:
        found = PART.match(model, place)
        name = found[1] if found else ""
        if found is None or name not in known:
            part = model[place:].partition(",")[0].strip()
            raise UsageError(
                "`model` must be models with their bounds, separated by commas, such as k=10 or t=0.2:salary; "
                f"got {part!r}.{suggest([name], known) if name else ''} The names of models are l, epsilon, "
                f"{', '.join(find_models())}."
            )
        _, bound, more, sensitive, comma = found.groups()
        parameters = tuple((key, _bare(value)) for key, value in PARAMETER.findall(more))
        yield ModelSpec(name, _bare(bound), _bare(sensitive or ""), parameters)
        if not comma:
            return
        place = found.end()


def find_sensitive_names(model: str) -> list[str]:
    """Return the sensitive attributes that a text of models contains, each attribute once.

    >>> find_sensitive_names('k=10, t=0.2:illness, l=2:"City, State", p=2 k=5:illness')
    ['illness', 'City, State']
    """
    return list(dict.fromkeys(part.sensitive for part in parse_specs(model) if part.sensitive))


def parse_bound(part: ModelSpec) -> float:
    """Return the bound of a model as a number.

    Raises UsageError for a bound that is not a number.
    """
    return _number(f"the bound of {part.name}", part.bound)


def _number(what: str, text: str) -> float:
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise UsageError(f"{what} must be a number; got {text!r}.") from None


def _bare(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _types(kind: type[PrivacyModel]) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except NameError:  # an annotation whose module is not imported
        return {}


def _model(part: ModelSpec, schema: Schema, size: str | None) -> PrivacyModel:
    """Return the model of a spec; `size` is the text after `k=` in the list of models, or None without `k=`."""
    kind = SHORT.get(part.name) or find_models()[part.name]
    main, types, given = main_parameter(part.name, kind), _types(kind), dict[str, Any]()
    own = [each.name for each in parameters(kind)]
    if "sensitive" in own:
        given["sensitive"] = _sensitive(part, schema)
    elif part.sensitive:
        raise UsageError(f"{part.name} must have no sensitive attribute; got {part}. Try {part.name}={part.bound}.")
    others = [name for name in own if name not in (main, "sensitive")]
    if unknown := [name for name, _ in part.parameters if name not in others]:
        raise UsageError(f"{part.name} has no parameter {unknown[0]!r}; it has {', '.join(others) or 'no other one'}.")
    texts = {"k": size} if size is not None and "k" in own else {}
    for name, text in (texts | {main: part.bound} | dict(part.parameters)).items():
        what = f"the bound of {part.name}" if name == main else f"{name} of {part.name}"
        given[name] = _value(what, text, types[name], schema, given.get("sensitive"))
    if lacking := [each.name for each in parameters(kind) if each.default is MISSING and each.name not in given]:
        stated = [f"{name}={text}" for name, text in part.parameters]
        example = " ".join([*stated, *(f"{name}={name.upper()}" for name in lacking)])
        raise UsageError(f"{part.name} needs {', '.join(lacking)}; got {part}. Try {part.name}={part.bound} {example}.")
    try:
        return kind(**given)
    except ValueError as error:
        if part.name not in SHORT or not _may_be_frequency(part, given["sensitive"]):
            raise
        raise UsageError(
            f"{error} `l` counts different values. Try {FrequencyDiversity.word}={part.bound} to bound the share of "
            "the most common value."
        ) from None


def _may_be_frequency(part: ModelSpec, sensitive: str) -> bool:
    """Return whether `frequency-l` accepts the bound of a spec."""
    try:
        FrequencyDiversity(parse_bound(part), sensitive)
    except ValueError:
        return False
    return True


def _value(what: str, text: str, kind: Any, schema: Schema, sensitive: str | None) -> Any:
    """Return the value that the text of a parameter states.

    `kind` is the type of the parameter, and `sensitive` is the sensitive attribute of the model, or None.
    """
    if kind in TABLE_TYPES:
        return reading.read_undescribed(text)[0]
    if kind in (int, float):
        return _number(what, text)
    if kind is object and sensitive is not None and schema[sensitive].numeric:
        with contextlib.suppress(ValueError):  # the label of a band
            return _number(what, text)
    return text


def _check_once(parts: Sequence[ModelSpec], models: Mapping[ModelSpec, PrivacyModel]) -> None:
    """Raise UsageError if a model occurs twice for the same attribute."""
    seen = set[object]()
    for part in parts:
        model = models.get(part)
        key: object = part.name if model is None else (type(model), model.sensitive, getattr(model, "value", None))
        if key in seen:
            raise UsageError(
                f"`model` must have each model of an attribute once; got {part.name} twice. Leave out one of the two."
            )
        seen.add(key)


def _kind(algorithm: str) -> type[Sanitizer]:
    """Return the class of the sanitizer with this name or title."""
    known = {word: kind for kind in kinds().values() for word in (kind.__name__, kind.title)}
    plain = {re.sub(r"[\W_]", "", word).lower(): kind for word, kind in known.items()}
    found = plain.get(re.sub(r"[\W_]", "", algorithm).lower())
    if found is None:
        raise UsageError(
            f"there is no algorithm {algorithm!r}.{suggest([algorithm], known)} The algorithms are "
            f"{', '.join(kinds())}."
        )
    return found


def _sensitive(part: ModelSpec, schema: Schema) -> str:
    """Return the sensitive attribute of a spec."""
    if part.sensitive:
        if part.sensitive not in (known := schema.names()):
            raise UsageError(
                f"{part.name} must name a column of '{schema.dataset}'; got {part}. There is no column "
                f"'{part.sensitive}'.{suggest([part.sensitive], known)} The columns are: {abbreviate_names(known, 20)}."
            )
        return part.sensitive
    if len(schema.sensitive) != 1:
        there = f"has {len(schema.sensitive)}: {', '.join(schema.sensitive)}" if schema.sensitive else "has none"
        raise UsageError(
            f"{part.name} must name its sensitive attribute, because '{schema.dataset}' {there}; got {part}. "
            f"Try {part}:ATTRIBUTE."
        )
    return schema.sensitive[0]


def list_counting_sanitizers() -> list[str]:
    """Return the names of the sanitizers that work on counts."""
    return [name for name, kind in kinds().items() if kind.by_combinations and not kind.reference]
