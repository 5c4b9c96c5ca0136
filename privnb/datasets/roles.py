"""The roles of a description's columns, chosen by their owner without an editor: what is asked, what is still missing,
what a release would hold, and how it is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from privnb.datasets.column_types import DAYS, spelled
from privnb.microdata.schema import Role
from privnb.runtime.errors import UsageError
from privnb.runtime.names import like, meant, names_in, unquoted

NAMED = 8  # columns that a sentence names; of more it names the first ones
HELD = {  # what becomes of the columns of a role, for a sentence
    "as they are": (Role.NEUTRAL,),
    "sensitive, in bands if numbers": (Role.SENSITIVE,),
    "generalized": (Role.QUASI_IDENTIFIER,),
    "dropped": (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT, Role.UNUSED),
}


@dataclass(frozen=True)
class Roles:
    """The role of each column, and what was said beside it.

    Parameters
    ----------
    chosen : dict of str to Role
        By column, in the table's order.
    before : dict of str to Role
        As the description had them: what a column is again once it is no longer chosen.
    none_sensitive : bool
        The owner says that no column is.
    one_each : bool
        The owner says that each row is one person.
    days : dict of str to str
        How the days of a column are written, a form of `column_types.DAYS`, where the owner says it.
    missing : tuple of str
        The columns of which the owner confirms that cells of another type say that no value is there.
    """

    chosen: Mapping[str, Role]
    before: Mapping[str, Role] = field(repr=False)
    none_sensitive: bool = False
    one_each: bool = False
    days: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def names(self, *roles: Role) -> list[str]:
        """The columns in one of `roles`."""
        return [name for name, role in self.chosen.items() if role in roles]

    def having(self, roles: Mapping[str, Role]) -> Self:
        """The same with other roles of some columns, `{name: role}`."""
        made = replace(self, chosen={**self.chosen, **roles})
        return replace(
            made,
            none_sensitive=self.none_sensitive and not made.names(Role.SENSITIVE),
            one_each=self.one_each and not made.names(Role.PERSON),
        )

    def sensitive(self, name: str) -> Self:
        """The same with one column that nobody should learn, or with none for an empty name."""
        return replace(self._alone(name, Role.SENSITIVE, Role.QUASI_IDENTIFIER), none_sensitive=not name)

    def person(self, name: str) -> Self:
        """The same with the column that says whose rows these are; for an empty name each row is one person."""
        return replace(self._alone(name, Role.PERSON, Role.IDENTIFIER), one_each=not name)

    def _alone(self, name: str, role: Role, otherwise: Role) -> Self:
        back = {each: self.before[each] if self.before[each] != role else otherwise for each in self.names(role)}
        return self.having(back | ({name: role} if name else {}))

    @property
    def lacks(self) -> list[str]:
        """What is still missing before the description can be used: list of sentences."""
        keys = self.names(Role.PERSON)
        said = {
            "No column is sensitive yet: choose what nobody should learn, or say that there is no such column.": (
                self.names(Role.SENSITIVE) or self.none_sensitive
            ),
            "Is each row one person? If a person has several, k has to count people: choose the column that names "
            "them, or say that each row is one person.": keys or self.one_each,
            f"Only one column can say whose rows these are, and {_listed(keys)} do. If it takes both to name a person, "
            "join them into one column in the file, such as 12-3, and draft it anew.": len(keys) < 2,
            "No column is a quasi-identifier yet: choose what others may know from elsewhere. It is what a release "
            "generalizes.": self.names(Role.QUASI_IDENTIFIER),
        }
        return [sentence for sentence, there in said.items() if not there]

    @property
    def publishes(self) -> str:
        """What becomes of the columns in a release, a sentence."""
        parts = {what: self.names(*roles) for what, roles in HELD.items()}
        texts = [f"{len(names)} {what}: {_listed(names)}" for what, names in parts.items() if names]
        return f"In a release, of {len(self.chosen)} columns: {'; '.join(texts)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def parsed(text: str, known: Collection[str], renamed: Mapping[str, str] = MappingProxyType({})) -> dict[str, Role]:
    """Roles as a command line gives them.

    Parameters
    ----------
    text : str
        Columns and roles, such as "zip: neutral, name: identifier"; one with a comma in quotes. "q*: unused" is of all
        whose names begin with q, but for those that are named.
    known : collection of str
        The columns that there are.
    renamed : dict of str to str, optional
        Those names by others that may be used, too.

    Returns
    -------
    dict of str to Role

    Raises
    ------
    ValueError
        For an unknown column or role, and a column that stands twice.

    >>> parsed('zip: neutral, "City, State: unused"', ["zip", "City, State"])
    {'zip': <Role.NEUTRAL: 'neutral'>, 'City, State': <Role.UNUSED: 'unused'>}
    >>> parsed('"City, State": unused', ["City, State"])
    {'City, State': <Role.UNUSED: 'unused'>}
    >>> parsed("q*: unused, q2: sensitive", ["age", "q1", "q2"])
    {'q1': <Role.UNUSED: 'unused'>, 'q2': <Role.SENSITIVE: 'sensitive'>}
    """
    return {name: Role(role) for name, role in _pairs(text, known, renamed, "role", [*Role]).items()}


def parsed_days(text: str, known: Collection[str], renamed: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """How days are written, as a command line gives it: `{column: form}`.

    Parameters
    ----------
    text : str
        Columns and how their days are written, such as "visit: dd/mm/yyyy".
    known : collection of str
        The columns that there are.
    renamed : dict of str to str, optional
        Those names by others that may be used, too.

    Raises
    ------
    ValueError
        For an unknown column or form, and a column that stands twice.

    >>> parsed_days("visit: dd/mm/yyyy", ["visit"])
    {'visit': '%d/%m/%Y'}
    """
    forms = {spelled(form): form for form in DAYS}
    return {name: forms[words] for name, words in _pairs(text, known, renamed, "form of days", forms).items()}


def parsed_missing(text: str) -> dict[str, list[str]]:
    """Which texts say that a value is missing, as a command line gives it: `{column: list of texts}`.

    Parameters
    ----------
    text : str
        Columns and their texts, such as "trust: 97|98|99, income: 999999, q*: -9".

    Raises
    ------
    ValueError
        For a column without texts, and one that stands twice.

    >>> parsed_missing("trust: 97|98, income: 999999")
    {'trust': ['97', '98'], 'income': ['999999']}
    """
    found: dict[str, list[str]] = {}
    for pair in names_in(text):
        name, colon, given = (part.strip() for part in pair.rpartition(":"))
        texts = [unquoted(each.strip()) for each in given.split("|")]
        name = unquoted(name)
        if not colon or not all(texts):
            raise UsageError(
                f"{pair!r} names no text that means missing. Write 'column: 97|98', with commas between columns."
            )
        if name in found:
            raise UsageError(f"'{name}' stands twice. Write it once: '{name}: {'|'.join(found[name] + texts)}'.")
        found[name] = texts
    return found


def _pairs(
    text: str, known: Collection[str], renamed: Mapping[str, str], what: str, allowed: Collection[str]
) -> dict[str, str]:
    """`{column: one of those allowed}` of a text with commas between pairs. What is given to a column by its name goes
    before what is given to all that are like a word with *.
    """
    found: dict[str, str] = {}
    alike: dict[str, str] = {}
    first, *of = what.split()
    for pair in names_in(text):
        name, colon, given = (unquoted(part.strip()) for part in pair.rpartition(":"))
        if not colon:
            raise UsageError(
                f"{pair!r} gives a column no {what}. Write 'column: {what}', with commas between several, and a name "
                "that has a comma in quotation marks."
            )
        if given not in [*allowed]:
            raise UsageError(f"'{given}' is no {what}.{meant([given], allowed)} There are: {', '.join(allowed)}.")
        name = renamed.get(name, name)
        into = found if name in known else alike
        for each in like(name, known):
            if checked(each, known) in into:
                several = " ".join([f"{first}s", *of])
                raise UsageError(f"'{each}' has two {several}: {into[each]} and {given}. Give it one.")
            into[each] = given
    return alike | found


def checked(name: str, known: Collection[str]) -> str:
    """The name of a column. Raises ValueError for one that is not `known`."""
    if name not in known:
        raise UsageError(f"there is no column '{name}'.{meant([name], known)} There are: {', '.join(known)}.")
    return name
