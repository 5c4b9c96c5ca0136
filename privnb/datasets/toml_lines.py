"""A description file line by line: what only its comments say, and its roles changed with all else as it was."""

import copy
import json
import re
import tomllib
import unicodedata

from privnb.microdata.schema import SchemaError

ROLE = re.compile(r"""^(\s*role\s*=\s*)("[^"]*"|'[^']*')\s*(?:#\s*(.*?)\s*)?$""")
DAYS = re.compile(r"^\s*days\s*=")
DRAFT = re.compile(r"^\s*draft\s*=\s*true\s*(#.*)?$")
PROPOSAL = re.compile(r"^\s*[^\s#].*#\s*PROPOSAL\b")

GUESS = "a guess"  # in a comment: nobody has checked the line
GUESSED = re.compile(rf"^\s*missing\s*=.*#\s*{GUESS}\b")


def reasons(text):
    """`{column: the comment beside its role}`, where a draft says why it proposes it."""
    found = ((name, ROLE.match(line)) for name, _, line in _of_columns(_lines(text)))
    return {name: match[3] for name, match in found if match and match[3]}


def proposals(text):
    """The columns whose domain still stands beside the word PROPOSAL: a draft read it from the records."""
    return list(dict.fromkeys(name for name, _, line in _of_columns(_lines(text)) if PROPOSAL.match(line)))


def guessed_missing(text):
    """Return the columns of which a draft guessed that texts of another type count as missing."""
    return [name for name, _, line in _of_columns(_lines(text)) if GUESSED.match(line)]


def changed(text, roles, more=(), confirmed=False, days=(), missing=()):
    """The text of a description with these roles; comments, domains and all else stay.

    Parameters
    ----------
    text : str
    roles : dict of str to Role
        By column.
    more : dict of str to str
        A line for a column, without its line end, which goes below the one of its role.
    confirmed : bool
        Whether the line `draft = true` goes.
    days : dict of str to tuple of str
        For a column how its days are written, which has a line below the one of its role, and the comment that this one
        gets.
    missing : collection of str
        The columns whose owner has checked what a draft guessed of their line `missing`.

    Raises
    ------
    SchemaError
        If the text says a role in another way than `role = "..."` below `[columns.<name>]`.
    """
    lines, more, days = _lines(text), dict(more), dict(days)
    for name, place, line in [*_of_columns(lines)]:
        if name in days and DAYS.match(line):
            lines[place] = ""
        if name in missing and GUESSED.match(line):
            head, _, comment = line.rpartition(f"# {GUESS}")
            lines[place] = f"{head}# checked{comment}"
        if (match := ROLE.match(line)) and name in roles:
            lines[place] = match[1] + f'"{roles[name]}"' + line[match.end(2) :]
            if name in more:
                lines[place] = f"{lines[place].rstrip()}\n{more[name]}\n"
            if name in days:
                form, reason = days[name]
                head, *below = _lines(lines[place])
                head = f"{ROLE.match(head)[1]}{quoted(str(roles[name]))} # {reason}\ndays = {quoted(form)}\n"
                lines[place] = "".join([head, *below])
    if confirmed:
        lines = [line for line in lines if not DRAFT.match(line)]
    made = "".join(lines)
    # By another way: what TOML reads of the old text, changed, is what it reads of the new one.
    expected = copy.deepcopy(tomllib.loads(text))
    for name, role in roles.items():
        expected["columns"][name] |= {"role": str(role)} | tomllib.loads(more.get(name, ""))
    for name, (form, _) in days.items():
        expected["columns"][name]["days"] = form
    if confirmed:
        expected.pop("draft", None)
    try:
        same = tomllib.loads(made) == expected
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise SchemaError(
            'a role stands otherwise than in a line role = "..." below [columns.<name>], so it can be changed in an '
            "editor alone. Nothing is written."
        )
    return made


def quoted(text):
    """Text as TOML writes it: JSON's way, with every character written out that cannot be seen."""
    return "".join(
        f"\\U{ord(each):08X}" if unicodedata.category(each) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") else each
        for each in json.dumps(text, ensure_ascii=False)
    )


def _lines(text):
    """With their ends. Not `splitlines`, which also ends one where TOML does not."""
    return re.split(r"(?<=\n)", text)


def _of_columns(lines):
    """Of each line below [columns.<name>]: the name, the line's place, and itself."""
    name = None
    for place, line in enumerate(lines):
        if line.lstrip().startswith("["):
            name = _named(line)
        elif name is not None:
            yield name, place, line


def _named(line):
    """The column that a line [columns.<name>] begins; None for another line."""
    try:
        columns = tomllib.loads(line).get("columns")
    except tomllib.TOMLDecodeError:  # a list that goes on
        return None
    return next(iter(columns), None) if isinstance(columns, dict) else None
