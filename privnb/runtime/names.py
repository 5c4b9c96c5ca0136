"""Names of columns, studies, datasets and files: which may be used, how a text lists several and how they are shown."""

import difflib
import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TextIO

OWN = "\ue000"  # begins the names of privnb's own columns: an invisible character, which no name of a table may hold
QUOTED = r'"((?:[^"]|"")*)"'
# A quotation mark within a word opens nothing.
ITEM = re.compile(rf'\s*(?:{QUOTED}|((?:(?<![^\s:|,])"(?:[^"]|"")*"|[^,])*?))\s*(?:,|$)')

CURSOR = re.compile(r"(?:\s|\x1b\[A)*")  # how several bars of progress move the cursor of a terminal
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol that are blank


def refused(name: str) -> str:
    """What a name holds that no name may, for an error; "" if it may be used.

    No control character, none that is invisible or turns the direction of what follows, no angle bracket: a name stands
    in pages, files and terminals, and is to look like what it is.

    >>> refused("age"), refused("age<b>"), refused("age\\u202e")
    ('', "'<'", 'the invisible character U+202E')
    """
    for character in name:
        if character in "<>":
            return repr(character)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            return f"the invisible character U+{ord(character):04X}"
    return ""


def offered(name: str) -> str:
    """A name that may be used instead: a space for each character that is refused, and no others at its ends.

    >>> offered("illness<b>"), offered("<>")
    ('illness b', 'unnamed')
    """
    return " ".join("".join(" " if refused(each) else each for each in name).split()) or "unnamed"


def renamed_in(names: Iterable[str]) -> dict[str, str]:
    """`{column: another name}` for the columns whose own names may not be used or can name no file of a hierarchy."""
    names = [*names]
    unfit = [column for column in names if refused(column) or re.search(r"[/\\]|^\.", column)]
    taken = set(names) - set(unfit)
    renamed: dict[str, str] = {}
    for column in unfit:
        name = offered(re.sub(r"[/\\]|^\W+", " ", column))
        numbered = (f"{name} {number}" for number in itertools.count(2))
        renamed[column] = next(each for each in itertools.chain([name], numbered) if each not in taken)
        taken.add(renamed[column])
    return renamed


def renaming(renamed: Mapping[str, str]) -> list[str]:
    """Return a sentence for each column that its file calls otherwise. `renamed`: names by those of the file.

    >>> print(*renaming({"in/out": "in out", "sex": "gender"}), sep="\\n")
    'in/out' is called 'in out' here: a name must not begin with a dot, nor hold a slash, an angle bracket or an \
invisible character.
    'sex' is called 'gender' here: its description says so under [renamed].
    """
    unfit = "a name must not begin with a dot, nor hold a slash, an angle bracket or an invisible character"
    chosen = "its description says so under [renamed]"
    return [
        f"{own!r} is called '{name}' here: {unfit if renamed_in([own]) else chosen}." for own, name in renamed.items()
    ]


def apart(names: Sequence[str]) -> list[str]:
    """Names of the columns of a file, of which a second and third one of a name have numbers, and one without a name
    that of its place.

    >>> apart(["", "sex", "age", "age"])
    ['column 1', 'sex', 'age', 'age (2)']
    """
    found: list[str] = []
    for place, name in enumerate(names, 1):
        own = name if name.strip() else f"column {place}"
        numbered = (f"{own} ({number})" for number in itertools.count(2))
        again = own in found or (own != name and own in names)
        found.append(next(each for each in numbered if each not in {*found, *names}) if again else own)
    return found


def first_of(name: str) -> str:
    """The name that `apart` gave a number, if it did.

    >>> first_of("age (2)"), first_of("age")
    ('age', '')
    """
    return next(iter(re.findall(r"(.+) \(\d+\)", name)), "")


def has_none(names: Iterable[str]) -> list[str]:
    """Which columns have the name that `apart` gives one without a name.

    >>> has_none(["column 1", "sex", "column 2"])
    ['column 1']
    """
    return [name for place, name in enumerate(names, 1) if name == f"column {place}"]


def some_of(names: Iterable[str], most: int = 3) -> str:
    """Names for a sentence that needs not all of them.

    >>> some_of(["a", "b", "c", "d"]), some_of(["a"])
    ('a, b, c and 1 more', 'a')
    """
    names = [*names]
    more = len(names) - most
    return name_list(names[:most]) + (f" and {more} more" if more > 0 else "")


def name_list(names: Iterable[str]) -> str:
    """Names as one text, commas between them; a name that has a comma itself stands in quotes.

    >>> name_list(["age", "City, State"])
    'age, "City, State"'
    """
    return ", ".join(
        f'"{name.replace(chr(34), 2 * chr(34))}"' if '"' in name or names_in(name) != [name] else name for name in names
    )


def columns_in(text: str, known: Collection[str]) -> list[str]:
    """Return the columns that a text lists; a text that is the name of one column lists that column.

    >>> columns_in("City, State", ["age", "City, State"]), columns_in('age, "City, State"', ["age", "City, State"])
    (['City, State'], ['age', 'City, State'])
    """
    return [text] if text in known else names_in(text)


def unquoted(text: str) -> str:
    """Return a name or value without the quotation marks around it.

    >>> unquoted('"City, State"'), unquoted("age")
    ('City, State', 'age')
    """
    match = re.fullmatch(QUOTED, text.strip())
    return match.group(1).replace('""', '"') if match else text


def names_in(text: str) -> list[str]:
    """The names that a text lists, as `name_list` or a person writes it.

    >>> names_in('age,"City, State", ')
    ['age', 'City, State']
    >>> names_in('age: neutral, "City, State": unused')
    ['age: neutral', '"City, State": unused']
    """
    found = [
        quoted.replace('""', '"') if quoted is not None else bare
        for quoted, bare in (match.groups() for match in ITEM.finditer(text))
    ]
    return [name for name in found if name]


def like(word: str, names: Collection[str]) -> list[str]:
    """Which names a word with * means, in whose place any text may stand. What is a name itself means that one, and a
    word that means none stays.

    >>> like("q*", ["age", "q1", "q2"]), like("age", ["age"]), like("z*", ["age"])
    (['q1', 'q2'], ['age'], ['z*'])
    """
    form = re.compile(".*".join(map(re.escape, word.split("*"))), re.DOTALL)
    return [word] if word in names else [name for name in names if form.fullmatch(name)] or [word]


def meant(words: Iterable[object], known: Iterable[object]) -> str:
    """Which of the `known` words somebody may have meant who wrote `words`, as a question; "" where none is near.

    >>> meant(["ocupation", "Sex"], ["age", "sex", "occupation"])
    " Did you mean 'occupation', 'sex'?"
    >>> meant(["zip"], ["age", "sex"])
    ''
    """
    folded = {str(each).casefold(): str(each) for each in known}
    near = [difflib.get_close_matches(str(word).strip().casefold(), folded, 1) for word in words]
    found = dict.fromkeys(folded[match] for matches in near for match in matches)
    return f" Did you mean {', '.join(map(repr, found))}?" if found else ""


def shown(text: str) -> str:
    """Return a text with escapes in place of invisible characters and of those that turn the direction of others.

    >>> print(shown("in\u202ecome"), shown("zip\u200b"), shown("größe, 年齢"))
    in\\u202ecome zip\\u200b größe, 年齢
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(r"[^ -~\n\r\t]", lambda found: _escaped(found[0]), text)


class Shown:
    """A stream for people, to which texts are written as `shown` gives them."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text; returns its length, as streams do."""
        self.stream.write(text if CURSOR.fullmatch(text) else shown(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def control(sequence: str, stream: TextIO) -> None:
    """Write what moves a terminal's cursor or sets a colour to the stream itself, because `Shown` escapes it."""
    getattr(stream, "stream", stream).write(sequence)


def _escaped(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in FILLERS:
        return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
    return letter
