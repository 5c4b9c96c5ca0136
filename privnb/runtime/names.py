"""Names of columns, studies, datasets and files: rules, lists and the form of names in terminals."""

import difflib
import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TextIO

OWN = "\ue000"  # the first character of privnb's own column names; it is invisible and forbidden in all other names
QUOTED = r'"((?:[^"]|"")*)"'
# A quotation mark inside a word does not start a quoted name.
ITEM = re.compile(rf'\s*(?:{QUOTED}|((?:(?<![^\s:|,])"(?:[^"]|"")*"|[^,])*?))\s*(?:,|$)')

CURSOR = re.compile(r"(?:\s|\x1b\[A)*")  # the sequences with which several progress bars move the cursor of a terminal
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol that are blank


def find_forbidden(name: str) -> str:
    r"""Return the first forbidden part of a name in the form for errors; "" if no part is forbidden.

    Names must not contain control characters, invisible characters, characters that change the direction of text, or
    angle brackets. Names appear in pages, files and terminals, and two names that look the same must be the same.

    >>> find_forbidden("age"), find_forbidden("age<b>"), find_forbidden("age\u202e")
    ('', "'<'", 'the invisible character U+202E')
    """
    for character in name:
        if character in "<>":
            return repr(character)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            return f"the invisible character U+{ord(character):04X}"
    return ""


def clean_name(name: str) -> str:
    """Return an allowed name: each forbidden character becomes a space, and surplus spaces are removed.

    >>> clean_name("illness<b>"), clean_name("<>")
    ('illness b', 'unnamed')
    """
    return " ".join("".join(" " if find_forbidden(each) else each for each in name).split()) or "unnamed"


def rename_invalid(names: Iterable[str]) -> dict[str, str]:
    """Return `{column: new name}` for the columns whose names are not allowed.

    A name is also not allowed if a file of a hierarchy cannot have this name.
    """
    names = [*names]
    unfit = [column for column in names if find_forbidden(column) or re.search(r"[/\\]|^\.", column)]
    taken = set(names) - set(unfit)
    renamed: dict[str, str] = {}
    for column in unfit:
        name = clean_name(re.sub(r"[/\\]|^\W+", " ", column))
        numbered = (f"{name} {number}" for number in itertools.count(2))
        renamed[column] = next(each for each in itertools.chain([name], numbered) if each not in taken)
        taken.add(renamed[column])
    return renamed


def describe_renaming(renamed: Mapping[str, str]) -> list[str]:
    """Return a sentence for each renamed column; `renamed` maps the names in the file to the new names.

    >>> describe_renaming({"sex": "gender"})
    ["'sex' is called 'gender' here: its description renames it under [renamed]."]
    """
    unfit = "a name must not begin with a dot, nor hold a slash, an angle bracket or an invisible character"
    chosen = "its description renames it under [renamed]"
    return [
        f"{own!r} is called '{name}' here: {unfit if rename_invalid([own]) else chosen}."
        for own, name in renamed.items()
    ]


def make_unique(names: Sequence[str]) -> list[str]:
    """Return different names for the columns of a file.

    A number is added to a repeated name, and a column without a name is named after its position.

    >>> make_unique(["", "sex", "age", "age"])
    ['column 1', 'sex', 'age', 'age (2)']
    """
    found: list[str] = []
    for place, name in enumerate(names, 1):
        own = name if name.strip() else f"column {place}"
        numbered = (f"{own} ({number})" for number in itertools.count(2))
        again = own in found or (own != name and own in names)
        found.append(next(each for each in numbered if each not in {*found, *names}) if again else own)
    return found


def original_name(name: str) -> str:
    """Return the name to which `make_unique` added a number; empty if `make_unique` added no number.

    >>> original_name("age (2)"), original_name("age")
    ('age', '')
    """
    return next(iter(re.findall(r"(.+) \(\d+\)", name)), "")


def find_unnamed(names: Iterable[str]) -> list[str]:
    """Return the columns whose names `make_unique` chose because the file has no names for them.

    >>> find_unnamed(["column 1", "sex", "column 2"])
    ['column 1']
    """
    return [name for place, name in enumerate(names, 1) if name == f"column {place}"]


def abbreviate_names(names: Iterable[str], most: int = 3, rest: str = "and {} more") -> str:
    """Return the first `most` names and the number of the remaining names, for a sentence.

    `rest` are the words about the remaining names.

    >>> abbreviate_names(["a", "b", "c", "d"]), abbreviate_names(["a"])
    ('a, b, c and 1 more', 'a')
    """
    names = [*names]
    more = len(names) - most
    return join_names(names[:most]) + (f" {rest.format(more)}" if more > 0 else "")


def join_names(names: Iterable[str]) -> str:
    """Return names as one text with commas between them; a name that contains a comma is quoted.

    >>> join_names(["age", "City, State"])
    'age, "City, State"'
    """
    return ", ".join(
        f'"{name.replace(chr(34), 2 * chr(34))}"' if '"' in name or parse_names(name) != [name] else name
        for name in names
    )


def parse_columns(text: str, known: Collection[str]) -> list[str]:
    """Return the columns that a text lists; if the whole text is the name of a column, return only this column.

    >>> parse_columns("City, State", ["age", "City, State"])
    ['City, State']
    >>> parse_columns('age, "City, State"', ["age", "City, State"])
    ['age', 'City, State']
    """
    return [text] if text in known else parse_names(text)


def unquote(text: str) -> str:
    """Return a name or value without the quotation marks around it.

    >>> unquote('"City, State"'), unquote("age")
    ('City, State', 'age')
    """
    match = re.fullmatch(QUOTED, text.strip())
    return match.group(1).replace('""', '"') if match else text


def parse_names(text: str) -> list[str]:
    """Return the names that a text lists; the text is a result of `join_names`, or a person wrote it.

    >>> parse_names('age,"City, State", ')
    ['age', 'City, State']
    >>> parse_names('age: neutral, "City, State": unused')
    ['age: neutral', '"City, State": unused']
    """
    found = [
        quoted.replace('""', '"') if quoted is not None else bare
        for quoted, bare in (match.groups() for match in ITEM.finditer(text))
    ]
    return [name for name in found if name]


def match_names(word: str, names: Collection[str]) -> list[str]:
    """Return the names that match a word, in which `*` matches any text.

    A word that is one of the `names` matches only this name. A word that matches no name is returned unchanged.

    >>> match_names("q*", ["age", "q1", "q2"]), match_names("age", ["age"]), match_names("z*", ["age"])
    (['q1', 'q2'], ['age'], ['z*'])
    """
    form = re.compile(".*".join(map(re.escape, word.split("*"))), re.DOTALL)
    return [word] if word in names else [name for name in names if form.fullmatch(name)] or [word]


def suggest(words: Iterable[object], known: Iterable[object]) -> str:
    """Return a question that suggests, for each of `words`, the most similar word in `known`; "" without similar words.

    >>> suggest(["ocupation", "Sex"], ["age", "sex", "occupation"])
    " Did you mean 'occupation', 'sex'?"
    >>> suggest(["zip"], ["age", "sex"])
    ''
    """
    folded = {str(each).casefold(): str(each) for each in known}
    near = [difflib.get_close_matches(str(word).strip().casefold(), folded, 1) for word in words]
    found = dict.fromkeys(folded[match] for matches in near for match in matches)
    return f" Did you mean {', '.join(map(repr, found))}?" if found else ""


def escape_invisible(text: str) -> str:
    r"""Return a text in which invisible characters, and characters that change the text direction, are escaped.

    >>> print(escape_invisible("in\u202ecome"), escape_invisible("zip\u200b"), escape_invisible("größe, 年齢"))
    in\u202ecome zip\u200b größe, 年齢
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(r"[^ -~\n\r\t]", lambda found: _escaped(found[0]), text)


class EscapingStream:
    """A stream for people, which applies `escape_invisible` to each text before the text is written."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, and return its length as streams do."""
        self.stream.write(text if CURSOR.fullmatch(text) else escape_invisible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def write_control(sequence: str, stream: TextIO) -> None:
    """Write a control sequence of the terminal directly, because `EscapingStream` would escape it."""
    getattr(stream, "stream", stream).write(sequence)


def _escaped(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in FILLERS:
        return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
    return letter
