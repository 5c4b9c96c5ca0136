"""The roles of the columns in a description, as data that do not depend on an editor.

The module also states which facts are missing and which columns a release would contain, and parses options of the
command line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from privnb.datasets.column_types import DAYS, spell_form
from privnb.microdata.schema import Role
from privnb.runtime.errors import UsageError
from privnb.runtime.names import match_names, parse_names, suggest, unquote
from privnb.tables.derivation import GRAMMAR, Derivation, parse_derivation

NONE = "none"  # stands for the rule of a derived column to remove
NAMED = 8  # the maximum number of columns that a sentence names
HELD = {  # the treatment of the columns of each role in a release, for a sentence
    "as they are": (Role.NEUTRAL,),
    "sensitive, in bands if numbers": (Role.SENSITIVE,),
    "generalized": (Role.QUASI_IDENTIFIER,),
    "dropped": (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT, Role.UNUSED),
}


@dataclass(frozen=True)
class Roles:
    """The role of each column, and the statements of the owner.

    Parameters
    ----------
    chosen : dict of str to Role
        The role of each column, in the order of the table.
    before : dict of str to Role
        The roles in the description. If the owner withdraws the choice of a column, for example as sensitive, the
        column has its role in the description again.
    none_sensitive : bool
        Whether the owner states that no column is sensitive.
    one_each : bool
        Whether the owner states that each row belongs to a different person.
    days : dict of str to str
        The format of the days of each column for which the owner states a format, from `column_types.DAYS`.
    missing : tuple of str
        The columns for which the owner confirms that cells of another type are missing values.
    """

    chosen: Mapping[str, Role]
    before: Mapping[str, Role] = field(repr=False)
    none_sensitive: bool = False
    one_each: bool = False
    days: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def names(self, *roles: Role) -> list[str]:
        """Return the columns with one of the `roles`."""
        return [name for name, role in self.chosen.items() if role in roles]

    def having(self, roles: Mapping[str, Role]) -> Self:
        """Return a copy in which some columns have the roles `{name: role}`."""
        made = replace(self, chosen={**self.chosen, **roles})
        return replace(
            made,
            none_sensitive=self.none_sensitive and not made.names(Role.SENSITIVE),
            one_each=self.one_each and not made.names(Role.PERSON),
        )

    def changed_as(self, now: Self, before: Self) -> Self:
        """Return a copy with every choice in `now` that differs from `before`, for the columns of this object."""
        own = {name: role for name, role in now.chosen.items() if name in self.chosen and role != before.chosen[name]}
        made = replace(
            self.having(own),
            days={**self.days, **{name: form for name, form in now.days.items() if name in self.chosen}},
            missing=(*dict.fromkeys([*self.missing, *(name for name in now.missing if name in self.chosen)]),),
        )
        return replace(
            made,
            none_sensitive=now.none_sensitive and not made.names(Role.SENSITIVE),
            one_each=now.one_each and not made.names(Role.PERSON),
        )

    def sensitive(self, name: str) -> Self:
        """Return a copy in which `name` is the only sensitive column.

        An empty name states that no column is sensitive.
        """
        return replace(self._alone(name, Role.SENSITIVE, Role.QUASI_IDENTIFIER), none_sensitive=not name)

    def person(self, name: str) -> Self:
        """Return a copy in which `name` is the key of people.

        An empty name states that each row belongs to a different person.
        """
        return replace(self._alone(name, Role.PERSON, Role.IDENTIFIER), one_each=not name)

    def _alone(self, name: str, role: Role, otherwise: Role) -> Self:
        back = {each: self.before[each] if self.before[each] != role else otherwise for each in self.names(role)}
        return self.having(back | ({name: role} if name else {}))

    @property
    def lacks(self) -> list[str]:
        """The sentences about the facts that the owner must state before the description can be used."""
        keys = self.names(Role.PERSON)
        said = {
            "No column is sensitive yet: choose what nobody should learn, or state that there is no such column.": (
                self.names(Role.SENSITIVE) or self.none_sensitive
            ),
            "Is each row one person? If a person has several rows, k must count people: choose the column that "
            "identifies "
            "them, or state that each row is one person.": keys or self.one_each,
            f"Only one column can be the key of people, and {_listed(keys)} have this role. If only both together "
            "identify a "
            "person, join them into one column in the file, such as 12-3, and draft the table again.": len(keys) < 2,
            "No column is a quasi-identifier yet: choose what others may know. A release generalizes these "
            "columns.": self.names(Role.QUASI_IDENTIFIER),
        }
        return [sentence for sentence, there in said.items() if not there]

    @property
    def publishes(self) -> str:
        """A sentence about the treatment of the columns in a release."""
        parts = {what: self.names(*roles) for what, roles in HELD.items()}
        texts = [f"{len(names)} {what}: {_listed(names)}" for what, names in parts.items() if names]
        return f"In a release, of {len(self.chosen)} columns: {'; '.join(texts)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def parse_roles(
    text: str, known: Collection[str], renamed: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Role]:
    """Return the roles that an option of the command line states, as `{column: role}`.

    Parameters
    ----------
    text : str
        The columns and their roles, such as "zip: neutral, name: identifier". A pair with a comma in the name is
        quoted. "q*: unused" applies to all columns whose names begin with q, except the columns whose full names are in
        `text`.
    known : collection of str
        The columns of the table.
    renamed : dict of str to str, optional
        Further names that `text` may contain, and the column that each of these names means.

    Returns
    -------
    dict of str to Role

    Raises
    ------
    ValueError
        For an unknown column or role, and for a repeated column.

    >>> parse_roles('zip: neutral, "City, State: unused"', ["zip", "City, State"])
    {'zip': <Role.NEUTRAL: 'neutral'>, 'City, State': <Role.UNUSED: 'unused'>}
    >>> parse_roles('"City, State": unused', ["City, State"])
    {'City, State': <Role.UNUSED: 'unused'>}
    >>> parse_roles("q*: unused, q2: sensitive", ["age", "q1", "q2"])
    {'q1': <Role.UNUSED: 'unused'>, 'q2': <Role.SENSITIVE: 'sensitive'>}
    """
    return {name: Role(role) for name, role in _pairs(text, known, renamed, "role", [*Role]).items()}


def parse_days(text: str, known: Collection[str], renamed: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the formats of days that an option of the command line states, as `{column: format}`.

    Parameters
    ----------
    text : str
        The columns and the formats of their days, such as "visit: dd/mm/yyyy".
    known : collection of str
        The columns of the table.
    renamed : dict of str to str, optional
        Further names that `text` may contain, and the column that each of these names means.

    Raises
    ------
    ValueError
        For an unknown column or format, and for a repeated column.

    >>> parse_days("visit: dd/mm/yyyy", ["visit"])
    {'visit': '%d/%m/%Y'}
    """
    forms = {spell_form(form): form for form in DAYS}
    return {name: forms[words] for name, words in _pairs(text, known, renamed, "form of days", forms).items()}


def parse_derived(
    text: str, known: Collection[str], renamed: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Derivation | None]:
    """Return the derived columns that an option of the command line states, as `{new column: rule}`.

    The rule is None for a derived column to remove.

    Parameters
    ----------
    text : str
        The new columns and their rules, such as "age: years from birth to admission"; "age: none" removes a column.
    known : collection of str
        The columns of the table.
    renamed : dict of str to str, optional
        Further names of columns that `text` may contain, and the column that each of these names means.

    Raises
    ------
    ValueError
        For a text without a rule, for an unknown column, and for a repeated column.

    >>> parse_derived("region: first 2 characters of zip, age: none", ["zip", "age"])
    {'region': Derivation(kind='prefix', source='zip', to=None, characters=2), 'age': None}
    """
    found: dict[str, Derivation | None] = {}
    for pair in parse_names(text):
        name, colon, words = (part.strip() for part in pair.partition(":"))
        name = unquote(name)
        if not colon or not name:
            raise UsageError(f"{pair!r} must give a new column its rule. Write 'column: {GRAMMAR.split(', ')[0][1:]}.")
        if name in found:
            raise UsageError(f"'{name}' has two rules. Give only one rule.")
        rule = None if words == NONE else parse_derivation(words, [*known, *renamed])
        if rule is not None:
            to = renamed.get(rule.to, rule.to) if isinstance(rule.to, str) else rule.to
            rule = replace(rule, source=renamed.get(rule.source, rule.source), to=to)
        found[name] = rule
    return found


def parse_missing(text: str) -> dict[str, list[str]]:
    """Return the texts that mark missing values according to an option of the command line, as `{column: texts}`.

    Parameters
    ----------
    text : str
        The columns and the texts that mark missing values, such as "trust: 97|98|99, income: 999999, q*: -9".

    Raises
    ------
    ValueError
        For a column without texts, and for a repeated column.

    >>> parse_missing("trust: 97|98, income: 999999")
    {'trust': ['97', '98'], 'income': ['999999']}
    """
    found: dict[str, list[str]] = {}
    for pair in parse_names(text):
        name, colon, given = (part.strip() for part in pair.rpartition(":"))
        texts = [unquote(each.strip()) for each in given.split("|")]
        name = unquote(name)
        if not colon or not all(texts):
            raise UsageError(
                f"{pair!r} must list texts that mark a missing value. Write 'column: 97|98', with commas between "
                "columns."
            )
        if name in found:
            raise UsageError(f"'{name}' is repeated. Write the column once: '{name}: {'|'.join(found[name] + texts)}'.")
        found[name] = texts
    return found


def _pairs(
    text: str, known: Collection[str], renamed: Mapping[str, str], what: str, allowed: Collection[str]
) -> dict[str, str]:
    """Return `{column: value}` for a text that lists pairs of a column and a value, separated by commas.

    Each value must be one of `allowed`.

    A pair with the full name of a column takes precedence over a pair with a pattern that contains *.
    """
    found: dict[str, str] = {}
    alike: dict[str, str] = {}
    first, *of = what.split()
    for pair in parse_names(text):
        name, colon, given = (unquote(part.strip()) for part in pair.rpartition(":"))
        if not colon:
            raise UsageError(
                f"{pair!r} must give a column its {what}. Write 'column: {what}', with commas between columns, and a "
                "name that holds a comma in quotation marks."
            )
        if given not in [*allowed]:
            raise UsageError(
                f"'{given}' is not a {what}.{suggest([given], allowed)} Choose one of: {', '.join(allowed)}."
            )
        name = renamed.get(name, name)
        into = found if name in known else alike
        for each in match_names(name, known):
            if check_column(each, known) in into:
                several = " ".join([f"{first}s", *of])
                raise UsageError(f"'{each}' has two {several}: {into[each]} and {given}. Give only one {first}.")
            into[each] = given
    return alike | found


def check_column(name: str, known: Collection[str]) -> str:
    """Return the name of a column.

    Raises UsageError for a name that is not in `known`.
    """
    if name not in known:
        raise UsageError(f"there is no column '{name}'.{suggest([name], known)} The columns are: {', '.join(known)}.")
    return name
