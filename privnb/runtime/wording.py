"""Sentences from templates, which are in the folders `templates` of the subpackages that show the sentences.

A template is a file of Jinja macros. Each line that a macro writes is a paragraph; a line that begins with a dash and a
space is an item of a list. The arguments of a macro are data: plain values, and dictionaries of plain values.

A translation of a template has the same name in a folder `templates/<language>`, and the same macros with the same
parameters. `language.in_language` selects the translations; a template without a translation is shown in English.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from privnb.runtime import numerals
from privnb.runtime.language import ENGLISH, current_language, in_language
from privnb.runtime.names import abbreviate_names
from privnb.runtime.sentences import Part, Sentences, join_names

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import jinja2

ITEM = "- "


class Wording:
    """The templates of sentences in the present language, and a function that marks the terms of the glossary in them.

    Parameters
    ----------
    term : function, optional
        A function that receives the text of a term and the name of the term in the glossary, and returns the text to
        show. By default, the text stays unchanged.
    """

    def __init__(self, term: Callable[[str, str], str] | None = None) -> None:
        self.language = current_language()
        self.environments = {language: _environment(language, term) for language in {self.language, ENGLISH}}

    def parts(self, template: str, macro: str, *arguments: object, **named: object) -> list[Part]:
        """Return the paragraphs and lists that a macro writes.

        Parameters
        ----------
        template : str
            The subpackage and the name of the file, such as "decision/decision".
        macro : str
        *arguments, **named
            The arguments of the macro.
        """
        written: Markup = getattr(self._macros(template), macro)(*arguments, **named)
        each = [line.strip() for line in written.split("\n") if line.strip()]
        found: list[Part] = []
        for are_items, some in groupby(each, lambda line: line.startswith(ITEM)):
            own = [*some]
            found += [[line[len(ITEM) :] for line in own]] if are_items else own
        return found

    def line(self, template: str, macro: str, *arguments: object, **named: object) -> str:
        """Return the paragraphs that a macro writes as one line, for a place with space for only one line."""
        parts = self.parts(template, macro, *arguments, **named)
        return Markup(" ").join(part for part in parts if isinstance(part, str))

    def has(self, template: str, macro: str) -> bool:
        """Return whether a template has a macro."""
        return hasattr(self._macros(template), macro)

    def _macros(self, template: str) -> Any:
        language = self.language if _place(template, self.language).is_file() else ENGLISH
        return self.environments[language].get_template(template).module


class Worded(Sentences):
    """Data, and the template of sentences about the data.

    A notebook shows the sentences, and a page makes the sentences again from the data.

    The template has the macro `answer` for the first paragraphs. It may also have `details` for the other paragraphs,
    and `short` for one sentence in a list of pages.

    Parameters
    ----------
    template : str
        The subpackage and the name of the file, such as "decision/decision".
    data : dict
        The data of the sentences, which are plain values.
    """

    def __init__(self, template: str, data: Mapping[str, Any]) -> None:
        self.template, self.given = template, data
        details = write(template, "details", data) if wording().has(template, "details") else []
        super().__init__(*write(template, "answer", data), *details)

    @property
    def content(self) -> dict[str, Any]:
        """The data and the name of the template."""
        return {"template": self.template, "data": self.given}


def wording() -> Wording:
    """Return the templates in the present language, with a function that does not mark terms."""
    return _wording(current_language())


@functools.cache
def _wording(language: str) -> Wording:
    with in_language(language):
        return Wording()


def write(template: str, macro: str, *arguments: object, **named: object) -> list[Part]:
    """Return the paragraphs and lists that a macro writes; see `Wording.parts`."""
    return wording().parts(template, macro, *arguments, **named)


def line(template: str, macro: str, *arguments: object, **named: object) -> str:
    """Return the paragraphs that a macro writes as one line; see `Wording.line`."""
    return wording().line(template, macro, *arguments, **named)


def _environment(language: str, term: Callable[[str, str], str] | None) -> jinja2.Environment:
    """Return the templates of one language."""
    import jinja2

    from privnb.runtime.template_code import share_code

    @jinja2.pass_context
    def mark_term(_: object, text: str, name: str = "") -> str:
        return term(text, name or text) if term else text

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _place(name, language).read_text(encoding="utf-8")),
        autoescape=True,
        finalize=_one_line,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=share_code("sentences", language),
    )
    made.filters |= filters(language) | {"term": mark_term}
    made.globals["MIN_COUNT"] = numerals.MIN_COUNT
    return made


def _place(name: str, language: str) -> Traversable:
    """Return the file of a template in a language."""
    room, _, file = name.partition("/")
    folder = "templates" if language == ENGLISH else f"templates/{language}"
    return resources.files(f"privnb.{room}").joinpath(f"{folder}/{file}.j2")


def _one_line(value: object) -> object:
    """Return the text of an expression without line breaks, because a line break would end the paragraph."""
    return value if isinstance(value, Markup) else " ".join(str(value).splitlines())


def write_with_interval(number: Mapping[str, Any], format: str = "") -> str:
    """Return a number with its unit and its 95% interval; if the number is withheld, return its bounds.

    >>> write_with_interval({"value": 0.043, "low": 0.041, "high": 0.044}, "{:%} of people")
    '4.3% of people (95% CI 4.1–4.4%)'
    >>> write_with_interval({"value": None, "low": None, "high": 0.2})
    'at most 20%'
    >>> write_with_interval({"value": 1234}, "{:,} people")
    '1,234 people'
    >>> write_with_interval({"value": None, "low": 1, "high": 9}, "{:,} people")
    'fewer than 10 people'
    >>> write_with_interval({"value": None, "low": 0.01, "high": 0.09}, "{:%} of people")
    'between 1% and 9% of people'
    >>> write_with_interval({"value": 3e-6, "low": 2e-6, "high": 4e-6}, "{:%} of people")
    'below 0.01% of people'
    """
    format = format or str(number.get("format") or "{:%}")
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if value is None:
        return _withheld(format, low, high)
    if low is None or high is None or not low < high:
        return numerals.write_number(format, value)
    written, ends = numerals.write_number(format, value, low, high), numerals.write_interval(format, value, low, high)
    if len({*ends}) == 1:  # all three are too small to be written
        return written
    return f"{written} ({numerals.write_confidence(format, value, low, high)})"


def write_quantity(number: Mapping[str, Any], format: str = "") -> str:
    """Return a number with its unit but without its interval.

    >>> write_quantity({"value": 0.043, "low": 0.041, "high": 0.044, "format": "{:%} of people"})
    '4.3% of people'
    """
    without = {} if number.get("value") is None else {"low": None}
    return write_with_interval({**number, **without}, format)


def write_value(value: float | None, format: str) -> str:
    """Return a value with its unit, or "withheld" for None.

    >>> write_value(0.043, "{:%} of people"), write_value(None, "{:%}")
    ('4.3% of people', 'withheld')
    """
    return "withheld" if value is None else numerals.write_number(format, value)


def write_bare_number(value: float | None, format: str) -> str:
    """Return a value without its unit, or "withheld" for None.

    >>> write_bare_number(0.043, "{:%} of people"), write_bare_number(1234, "{:,} people")
    ('4.3%', '1,234')
    """
    return "withheld" if value is None else numerals.write_without_unit(format, value)


def _withheld(format: str, low: float | None, high: float | None) -> str:
    """Return the bounds of a withheld number that may be published."""
    if high is None:
        return "withheld"
    _, _, kind, unit = numerals.split_format(format)
    if kind != "%" and unit == " people":
        return (
            f"more than {low - 1:,.0f} people" if low is not None and low > 1 else f"fewer than {high + 1:,.0f} people"
        )
    if low is None or low <= 0:
        return f"at most {numerals.write_number(format, high)}"
    return f"between {' and '.join(numerals.write_bounds(format, low, high))}"


def write_people(share: float, everybody: int | None, limit: int = numerals.MIN_COUNT) -> str:
    """Return a share as a number of people, or as a share of people if `everybody` is None.

    `everybody` is the number of all people. If the number, or the number of all other people, is below `limit`, only
    this fact is stated.

    >>> write_people(0.0061, 45222), write_people(0.0001, 45222), write_people(0.9999, 45222), write_people(0.5, None)
    ('276 people', 'fewer than 10 people', 'all but fewer than 10 people', '50% of people')
    """
    if everybody is None:
        return f"{numerals.write_percent(share)} of people"
    many = round(share * everybody)
    if 0 < share and many < limit:
        return f"fewer than {limit} people"
    if share < 1 and everybody - many < limit:
        return f"all but fewer than {limit} people"
    return "nobody" if many == 0 else "1 person" if many == 1 else f"{many:,} people"


def write_count(number: int, one: str, many: str = "") -> str:
    """Return a number and the noun of the counted objects, in the singular or plural.

    >>> write_count(1, "release"), write_count(1234, "release"), write_count(2, "class", "classes")
    ('1 release', '1,234 releases', '2 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def write_whole(number: float) -> str:
    """Return a number of objects in full, without decimal places.

    >>> write_whole(1234), write_whole(9.0)
    ('1,234', '9')
    """
    return f"{number:,.0f}"


def sentence_case(text: str) -> str:
    """Return the text with its first letter as a capital letter."""
    return text[:1].upper() + text[1:]


PARAMETER = re.compile(r".+ = .+|[\w ]+ [\d.]+")  # of the name of a release


def write_in_prose(setting: str) -> str:
    """Return the name of a release for use in a sentence: the comma before the parameters becomes *with*.

    >>> write_in_prose("Mondrian, k = 10"), write_in_prose("Mondrian, k = 10, t = 0.2"), write_in_prose("FRAPP, gamma")
    ('Mondrian with k = 10', 'Mondrian with k = 10 and t = 0.2', 'FRAPP, gamma')
    >>> write_in_prose("Laplace noise, epsilon 1"), write_in_prose("Suppression")
    ('Laplace noise with epsilon 1', 'Suppression')
    """
    parts = setting.split(", ")
    start = len(parts)
    while start > 1 and PARAMETER.fullmatch(parts[start - 1]):
        start -= 1
    name, parameters = ", ".join(parts[:start]), parts[start:]
    return f"{name} with {join_names(parameters)}" if parameters else name


FILTERS: dict[str, Callable[..., str]] = {
    "percent": numerals.write_percent,
    "number": write_with_interval,
    "quantity": write_quantity,
    "in_format": write_value,
    "bare": write_bare_number,
    "people": write_people,
    "counted": write_count,
    "listed": lambda names: join_names([*names]),
    "abbreviate": abbreviate_names,
    "sentence_case": sentence_case,
    "in_prose": write_in_prose,
    "count": write_whole,
    "date": str,
    "in_english": str,
}
NUMERIC = ("percent", "number", "quantity", "in_format", "bare", "people", "count")  # filters whose texts have no names


def filters(language: str) -> dict[str, Callable[..., str]]:
    """Return the filters of templates in a language."""
    if language == ENGLISH:
        return FILTERS

    def localized(write: Callable[..., str]) -> Callable[..., str]:
        return lambda *given, **named: numerals.localize(write(*given, **named), language)

    def write_localized_count(number: int, one: str, many: str) -> str:
        return f"{numerals.localize(write_whole(number), language)} {one if number == 1 else many}"

    words = numerals.LOCALES[language].words
    return {
        **FILTERS,
        **{name: localized(FILTERS[name]) for name in NUMERIC},
        "counted": write_localized_count,
        "listed": lambda names: join_names([*names], words["and"]),
        "abbreviate": lambda names: abbreviate_names(names, rest=words["and {} more"]),
        "date": lambda day: numerals.localize_date(str(day), language),
        "in_english": lambda name: Markup('<span lang="en">{}</span>').format(name),
    }
