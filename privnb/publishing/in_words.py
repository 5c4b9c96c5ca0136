"""A sanitizer as a person asks for it: models by their names, with their parameters, and what the algorithm is called.

`k=10, t=0.2:salary` are two models. A model states its own name (`PrivacyModel.word`), so that every imported model can
be asked for. `l` alone means distinct l-diversity.
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
from privnb.privacy_models.words import SHORT, main_parameter, parameters, words
from privnb.runtime.errors import UsageError
from privnb.runtime.family import sentence
from privnb.runtime.names import meant, name_list
from privnb.runtime.notices import Notice
from privnb.runtime.validation import instead, validated
from privnb.sanitizers.base import USUAL, Sanitizer
from privnb.sanitizers.catalogue import kinds
from privnb.tables import reading

Algorithm = Annotated[str, instead(str, 'Give one such as "Mondrian".')]
TABLES = (Any, pd.DataFrame)  # the types of a table, of which a person writes the file
WRITTEN = (int, float, str, object, *TABLES, str | Taxonomy)  # the types of parameters that can be written

QUOTED = r'"(?:[^"]|"")*"'
VALUE = rf'(?:{QUOTED}|[^\s,:"]+)'
PARAMETER = re.compile(rf"\s+([\w-]+)\s*=\s*({VALUE})")
PART = re.compile(
    rf"\s*([\w-]+)\s*=\s*({VALUE})((?:\s+[\w-]+\s*=\s*{VALUE})*)\s*(?::\s*({QUOTED}|[^,]*?)\s*)?(,|$)", re.DOTALL
)


class Part(NamedTuple):
    """One model as a person writes it: its name, the text after it, its sensitive attribute ("": not named), and the
    names and texts of its other parameters.
    """

    name: str
    bound: str
    sensitive: str
    parameters: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        more = "".join(f" {name}={text}" for name, text in self.parameters)
        return f"{self.name}={self.bound}{more}" + f":{name_list([self.sensitive])}" * bool(self.sensitive)


@validated
def asked(
    model: str, algorithm: Algorithm, schema: Schema, renamed: Mapping[str, str] = MappingProxyType({})
) -> Sanitizer:
    """Return the sanitizer that a person asks for.

    Parameters
    ----------
    model : str
        Models by their names, commas between them: `"k=10, t=0.2:salary"`. Further parameters follow the first one,
        `"recursive-l=3 c=2:salary"`; a k that a model needs is that of `k=`. The sensitive attribute may be left out if
        there is only one. Names and values with separators stand in quotes: `t=0.2:"City, State"`.
    algorithm : str
        The class of the sanitizer, or its title: "local recoding".
    schema : Schema
    renamed : dict of str to str, optional
        Names of the schema by those of the table's file. `model` may use either; a name of the schema comes first.

    Returns
    -------
    Sanitizer

    Raises
    ------
    UsageError
        For a model that cannot be read, an unknown algorithm, and one that cannot keep the model.

    Examples
    --------
    >>> from privnb.datasets.dataset import schema_of
    >>> asked("k=10, t=0.2", "local recoding", schema_of("adult"))
    LocalRecoding(KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal'))
    >>> asked("l=2, k=10", "Mondrian", schema_of("adult"))
    Mondrian(KAnonymity(k=10), DistinctDiversity(l=2, sensitive='salary'))
    """
    kind, names = _kind(algorithm), {**renamed, **{name: name for name in schema.names()}}
    parts = [part._replace(sensitive=names.get(part.sensitive, part.sensitive)) for part in parsed(model)]
    size = next((part.bound for part in parts if part.name == KAnonymity.word), None)
    models = {part: _model(part, schema, size) for part in parts if part.name != "epsilon"}
    _check_once(parts, models)
    bounds = {part.name: number(part) for part in parts if part.name in USUAL and not part.parameters}
    if frequency := next((each for each in models.values() if type(each) is FrequencyDiversity), None):
        bounds |= {"l": frequency.l}
    kept = sorted(models.values(), key=lambda each: type(each) is not KAnonymity) if len(models) == len(parts) else []
    bounds = bounds if len(bounds) == len(parts) else {}
    sensitive = next((each.sensitive for each in models.values() if each.sensitive), next(iter(schema.sensitive), None))

    def keeping(kind: type[Sanitizer]) -> Sanitizer | None:
        """Return the sanitizer of this kind that keeps what is asked for; None if none does."""
        made = kind.keeping(kept, sensitive) if kept else None
        if made is None and bounds and {*kind.requires} <= {*bounds} <= {*kind.letters}:
            made = kind.at(bounds, sensitive)
        return made

    made = keeping(kind)
    if made is None:
        able = []
        for name, each in kinds().items():
            with contextlib.suppress(ValueError):
                able += [name] if keeping(each) is not None else []
        cure = f"Choose one of {', '.join(able)}." if able else "No sanitizer keeps all of it together: ask for less."
        raise UsageError(f"{kind.__name__} cannot keep {model}. {cure}")
    return made


def asked_models(model: str, schema: Schema, renamed: Mapping[str, str] = MappingProxyType({})) -> list[PrivacyModel]:
    """Return the models that a person asks for. Arguments and errors as in `asked`; epsilon is no model of a file.

    >>> from privnb.datasets.dataset import schema_of
    >>> asked_models("k=10, t=0.2", schema_of("adult"))
    [KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal')]
    """
    names = {**renamed, **{name: name for name in schema.names()}}
    parts = [part._replace(sensitive=names.get(part.sensitive, part.sensitive)) for part in parsed(model)]
    if any(part.name == "epsilon" for part in parts):
        raise UsageError("`model` must be models that can be counted in a file; got epsilon, which is a promise.")
    size = next((part.bound for part in parts if part.name == KAnonymity.word), None)
    models = {part: _model(part, schema, size) for part in parts}
    _check_once(parts, models)
    return [*models.values()]


def readings(model: str | Sanitizer, sanitizer: Sanitizer) -> tuple[Notice, ...]:
    """Return what `l` was taken for, where a person asked for it by that name: sentences.

    >>> from privnb.sanitizers import Mondrian
    >>> print(*readings("l=2:ill", Mondrian(DistinctDiversity(2, "ill"))))
    `l=2:ill` was read as `distinct-l=2`: in each class 'ill' has at least 2 different values, of which one may belong \
to nearly everybody. `frequency-l=2` also bounds that: no value belongs to more than one in 2 people of a class.
    """
    if isinstance(model, Sanitizer):
        return ()
    kept = getattr(sanitizer, "partition", sanitizer)
    distinct = [each for each in getattr(kept, "models", ()) if type(each) is DistinctDiversity]
    group = "class" if kept is sanitizer else "bucket"
    read = (part for part in parsed(model) if part.name in SHORT)
    return tuple(Notice(_reading(part, sanitizer, distinct, group), "model-read-as") for part in read)


def _reading(part: Part, sanitizer: Sanitizer, distinct: Sequence[DistinctDiversity], group: str) -> str:
    l = number(part)  # noqa: E741 - the field's letter
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


def models() -> dict[str, type[PrivacyModel]]:
    """Return the models that can be asked for in words, by name: the package's and all others that are imported.

    A model is left out if it has a parameter that cannot be written. Raises ValueError for two models of one name.
    """
    return {word: kind for word, kind in words().items() if _is_written(kind)}


def _is_written(kind: type[PrivacyModel]) -> bool:
    """Return whether a person can write every parameter that a model needs."""
    needed = [each for each in parameters(kind) if each.default is MISSING and each.default_factory is MISSING]
    return all(_types(kind).get(each.name) in WRITTEN for each in needed)


def forms() -> list[tuple[str, str]]:
    """Return how each model is written, and what it asks for: pairs of a form and a sentence.

    >>> dict(forms())["recursive-l=L c=C:SENSITIVE"][:46]
    'In every class the commonest value of sensitiv'
    """
    found = []
    for name, kind in models().items():
        main, own = main_parameter(name, kind), [each for each in parameters(kind) if each.default is MISSING]
        more = [f" {each.name}={each.name.upper()}" for each in own if each.name not in (main, "sensitive")]
        about = ":SENSITIVE" if any(each.name == "sensitive" for each in own) else ""
        found.append((f"{name}={main.upper()}{''.join(more)}{about}", sentence(kind)))
    return found


def parsed(model: str) -> Iterator[Part]:
    """Yield the models that a person asks for, each a `Part`. Raises ValueError for a text that is not a list of them.

    >>> [*map(str, parsed('k=10, confidence=0.5 value="flu, late":illness'))]
    ['k=10', 'confidence=0.5 value=flu, late:illness']
    """
    place, known = 0, {*models(), *SHORT, "epsilon"}
    while True:
        found = PART.match(model, place)
        name = found[1] if found else ""
        if found is None or name not in known:
            part = model[place:].partition(",")[0].strip()
            raise UsageError(
                "`model` must be names of models with their bounds and commas between them, as k=10 or t=0.2:salary; "
                f"got {part!r}.{meant([name], known) if name else ''} Names are l, epsilon, {', '.join(models())}."
            )
        _, bound, more, sensitive, comma = found.groups()
        parameters = tuple((key, _bare(value)) for key, value in PARAMETER.findall(more))
        yield Part(name, _bare(bound), _bare(sensitive or ""), parameters)
        if not comma:
            return
        place = found.end()


def sensitive_names(model: str) -> list[str]:
    """Return the sensitive attributes that a text names, each once.

    >>> sensitive_names('k=10, t=0.2:illness, l=2:"City, State", p=2 k=5:illness')
    ['illness', 'City, State']
    """
    return list(dict.fromkeys(part.sensitive for part in parsed(model) if part.sensitive))


def number(part: Part) -> float:
    """Return the bound of a part as a number, whole where it is written so. Raises ValueError for another text."""
    return _number(f"the bound of {part.name}", part.bound)


def _number(what: str, text: str) -> float:
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise UsageError(f"{what} must be a number, got {text!r}.") from None


def _bare(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _types(kind: type[PrivacyModel]) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except NameError:  # of an annotation that its module does not import
        return {}


def _model(part: Part, schema: Schema, size: str | None) -> PrivacyModel:
    """Return the model that a part asks for. `size`: the text of the k that is asked for, or None."""
    kind = SHORT.get(part.name) or models()[part.name]
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
            f"{error} `l` counts different values. Try {FrequencyDiversity.word}={part.bound}, if it is to bound the "
            "share of the commonest one."
        ) from None


def _may_be_frequency(part: Part, sensitive: str) -> bool:
    """Return whether `frequency-l` takes the bound of a part."""
    try:
        FrequencyDiversity(number(part), sensitive)
    except ValueError:
        return False
    return True


def _value(what: str, text: str, kind: Any, schema: Schema, sensitive: str | None) -> Any:
    """Return a parameter of this type from its text. `sensitive`: the attribute that its model is about, or None."""
    if kind in TABLES:
        return reading.read_unknown(text)[0]
    if kind in (int, float):
        return _number(what, text)
    if kind is object and sensitive is not None and schema[sensitive].numeric:
        with contextlib.suppress(ValueError):  # the label of a band
            return _number(what, text)
    return text


def _check_once(parts: Sequence[Part], models: Mapping[Part, PrivacyModel]) -> None:
    """Raise ValueError where one model of one attribute is asked for twice."""
    seen = set[object]()
    for part in parts:
        model = models.get(part)
        key: object = part.name if model is None else (type(model), model.sensitive, getattr(model, "value", None))
        if key in seen:
            raise UsageError(f"{part.name} is asked for twice. Give each model of an attribute once.")
        seen.add(key)


def _kind(algorithm: str) -> type[Sanitizer]:
    """Return the class of sanitizers that a person calls so."""
    known = {word: kind for kind in kinds().values() for word in (kind.__name__, kind.title)}
    plain = {re.sub(r"[\W_]", "", word).lower(): kind for word, kind in known.items()}
    found = plain.get(re.sub(r"[\W_]", "", algorithm).lower())
    if found is None:
        raise UsageError(
            f"there is no algorithm {algorithm!r}.{meant([algorithm], known)} Known: {', '.join(kinds())}."
        )
    return found


def _sensitive(part: Part, schema: Schema) -> str:
    """Return the sensitive attribute that a part is about."""
    if part.sensitive:
        return schema[part.sensitive].name
    if len(schema.sensitive) != 1:
        there = f"has {len(schema.sensitive)}: {', '.join(schema.sensitive)}" if schema.sensitive else "has none"
        raise UsageError(
            f"{part.name} must name its sensitive attribute, since '{schema.dataset}' {there}; got {part}. "
            f"Try {part}:ATTRIBUTE."
        )
    return schema.sensitive[0]


def able() -> list[str]:
    """Return the algorithms that work on counts: their classes' names."""
    return [name for name, kind in kinds().items() if kind.by_combinations and not kind.reference]
