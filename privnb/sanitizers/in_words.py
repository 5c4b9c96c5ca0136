"""A sanitizer as a person asks for it: letters with their bounds, and what the algorithm is called."""

import re

from privnb.microdata import expect
from privnb.microdata.names import meant
from privnb.sanitizers.base import MODELS, USUAL, SanitizationError
from privnb.sanitizers.catalogue import kinds


def asked(model, algorithm, schema):
    """The sanitizer that a person asks for.

    Parameters
    ----------
    model : str
        Letters with their bounds, `"k=10, t=0.2:salary"`; the attribute after the colon may be left out if one is
        sensitive.
    algorithm : str
        The class of the sanitizer, or its title: "local recoding".
    schema : Schema

    Returns
    -------
    Sanitizer

    Raises
    ------
    ValueError
        For a model that cannot be read, or an algorithm that there is not.
    SanitizationError
        For an algorithm that cannot keep the model.

    >>> from privnb.microdata.dataset import schema_of
    >>> asked("k=10, t=0.2", "local recoding", schema_of("adult"))
    LocalRecoding(KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal'))
    """
    expect.kind("algorithm", algorithm, str, instead='Give one such as "Mondrian".')
    kind, bounds, about = _kind(algorithm), {}, {}
    for letter, bound, sensitive in parsed(model):
        if letter in bounds:
            raise ValueError(f"{letter} is asked for twice. Give each letter once.")
        bounds[letter] = bound
        if letter not in ("k", "epsilon"):
            about[letter] = _sensitive(sensitive, letter, schema)
    made, sensitive = None, next(iter(about.values()), None)
    if {*bounds} <= {*MODELS}:
        asked_for = [letter for letter in MODELS if letter in bounds]
        models = [MODELS[letter](bounds[letter], *filter(None, [about.get(letter)])) for letter in asked_for]
        made = kind.keeping(models, sensitive)
    if made is None and {*kind.requires} <= {*bounds} <= {*kind.letters}:
        made = kind.at(bounds, sensitive)
    if made is None:
        others = [name for name, each in kinds().items() if {*each.requires} <= {*bounds} <= {*each.letters}]
        raise SanitizationError(f"{kind.__name__} cannot keep {model}. Choose one of {', '.join(others)}.")
    return made


def parsed(model):
    """The letters that a person asks for: each with its bound, a number, and its attribute, "" where none is named."""
    for part in model.split(","):
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([^:\s]+)\s*(?::\s*(.*?)\s*)?", part)
        if not found or found[1] not in USUAL:
            raise ValueError(
                f"a model is a letter and its bound, as k=10 or t=0.2:salary; letters are {', '.join(USUAL)}, several "
                f"have commas between them. Got {part.strip()!r}."
            )
        letter, bound, sensitive = found.groups()
        try:
            yield letter, int(bound) if re.fullmatch(r"-?\d+", bound) else float(bound), sensitive or ""
        except ValueError:
            raise ValueError(f"the bound of {letter} must be a number, got {bound!r}.") from None


def _kind(algorithm):
    """The class of sanitizers that a person calls so."""
    known = {word: kind for kind in kinds().values() for word in (kind.__name__, kind.title)}
    plain = {re.sub(r"[\W_]", "", word).lower(): kind for word, kind in known.items()}
    found = plain.get(re.sub(r"[\W_]", "", algorithm).lower())
    if found is None:
        raise ValueError(
            f"there is no algorithm {algorithm!r}.{meant([algorithm], known)} Known: {', '.join(kinds())}."
        )
    return found


def _sensitive(name, letter, schema):
    if name:
        return schema[name].name
    if len(schema.sensitive) != 1:
        raise SanitizationError(
            f"{letter} is about a sensitive attribute, and there are {len(schema.sensitive)}"
            f"{schema.sensitive and ': '}{', '.join(schema.sensitive)}. Name one: {letter}=...:ATTRIBUTE."
        )
    return schema.sensitive[0]


def able():
    """The algorithms that work on counts: their classes' names."""
    return [name for name, kind in kinds().items() if kind.by_combinations and not kind.reference]
