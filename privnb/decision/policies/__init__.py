"""Policies: TOML files in which an owner states the conditions for a release before its numbers are known.

A policy states the recipients of the release and the facts that they may know, caps each risk, and states the utility
that the release must keep for its users. `list_policy_names()` lists the policies of the package and of other installed
packages. Each policy of the package states its source, and whether we have read this source. Another package adds a
policy by an entry point of the group `privnb.policies`, whose object is the path of a TOML file.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import tomlkit

from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, MinClassSize
from privnb.measures.disclosure.certainty import NEAR
from privnb.runtime import entry_points, expect, numerals, validation
from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.errors import InputError, MissingFileError, UsageError
from privnb.runtime.names import suggest
from privnb.runtime.temporary import atomic_write
from privnb.runtime.validation import Count, Positive, Probability, Validated, at_least, between, optional, validated

RISKS = ("identity", "attribute", "certainty", "linkability", "membership", "anti-utility")
# The measures of disclosure of a sensitive attribute that are counted in the release itself: see `risks.certainty`.
DISCLOSURES = {"certainty": "made_certain", "near certainty": "nearly_certain"}
CAPPED = (*RISKS, "near certainty")
KNOWS_QUASI_IDENTIFIERS, KNOWS_ALGORITHM = ADVERSARIES = ("knows the quasi-identifiers", "knows the algorithm")
# The measures of the risks that an adversary who knows the algorithm can raise: see `risks.informed`.
INFORMED = {
    "attribute": "informed_attribute_risk",
    "certainty": "informed_certain",
    "near certainty": "informed_nearly_certain",
}
LEAST_RISK, LEAST_LOSS = ORDERS = ("tightest cap", "loss")
TEXTS = ("title", "source", "recipient", "knows", "convention", "choice")  # the texts of a policy
NEEDED = TEXTS[:4]


def measure_of(risk: str) -> str:
    """Return the measure of a risk in results, such as "identity_risk" for "identity"."""
    return DISCLOSURES.get(risk) or f"{risk.replace('-', '_')}_risk"


class PolicyError(InputError):
    """A file that is not a policy; the message states the file, the key, what was found, and what to write instead."""


@dataclass(frozen=True)
class Cap(Validated):
    """The largest risk that a policy accepts.

    Parameters
    ----------
    risk : str
        "identity", "attribute", "certainty", "near certainty", "linkability", "membership" or "anti-utility".
    at_most : float
        The largest accepted risk, from 0 to 1: a probability, a share of people or an advantage over guessing,
        depending on the measure of the risk.
    statistic : str
        "mean" for the mean over people, or "largest" for the risk of the worst-off person.
    group : str
        "everybody", or "worst group" for a cap on each group of people that is shown.
    people : int, optional
        The group size that the threshold denotes by convention, if arithmetic gives another size. For example, 0.09
        denotes groups of 11 people by convention, although 1 / 11 is 0.0909. A risk of 1 / `people` then meets the cap.
    """

    risk: Annotated[str, validation.one_of(CAPPED)]
    at_most: Probability
    statistic: Literal["mean", "largest"] = "mean"
    group: Literal["everybody", "worst group"] = "everybody"
    people: Annotated[int | None, optional(at_least(2, "a group of one is a person"))] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.counted:
            expect.share("at_most", self.at_most)
        if self.counted and (self.statistic, self.group, self.people) != ("mean", "everybody", None):
            raise UsageError(
                f"a cap on {self.risk} must apply to everybody; got statistic = {self.statistic!r}, group = "
                f"{self.group!r}, people = {self.people!r}. Give only 'at_most', a share of people."
            )

    @property
    def counted(self) -> bool:
        """Whether the cap limits a share of people that is counted in the release itself, without an interval."""
        return self.risk in DISCLOSURES

    @property
    def measure(self) -> str:
        """The measure in results that the cap limits."""
        return measure_of(self.risk)

    @property
    def informed_measure(self) -> str:
        """The same measure for an adversary who knows the algorithm; empty if this adversary cannot raise the risk."""
        return INFORMED.get(self.risk, "")

    @property
    def variant(self) -> str:
        """The variant of the measure that the cap limits."""
        return "" if self.statistic == "mean" else self.statistic

    @property
    def most(self) -> float:
        """The largest risk that does not exceed the cap, as a number."""
        return self.at_most if self.people is None else max(self.at_most, 1 / self.people)

    @property
    def subject(self) -> str:
        """The name of the capped risk, in words."""
        whose = {"mean": "", "largest": " of the worst-off person"}[self.statistic]
        return f"{self.risk}{whose}{' in each group' if self.group != 'everybody' else ''}"

    def __str__(self) -> str:
        if self.counted and self.at_most == 0:
            return f"{self.subject}: nobody"
        read = f", read as a group of {self.people}" if self.people is not None else ""
        return f"{self.subject}: at most {numerals.write_without_unit('{:%}', self.at_most)}{read}"


@dataclass(frozen=True)
class Need(Validated):
    """A need of the users that a release must meet.

    Parameters
    ----------
    measure : str
        A measure of utility.
    most_lost : float
        The largest accepted loss, from 0 for the original to 1 for the release without quasi-identifiers.
    weight : float
        The weight of this need, above 0, in the comparison of releases that meet all caps.
    """

    measure: Annotated[str, lambda name, value: expect.text(name, value, "a measure of utility")]
    most_lost: validation.Share = 1.0
    weight: Positive = 1.0


@dataclass(frozen=True)
class Policy(Validated):
    """The conditions of an owner: caps on risks, needs of users, and a minimum class size.

    Parameters
    ----------
    name : str
        The name of the policy's file, without the ending.
    title : str
        The title of the policy.
    source : str
        The document from which the numbers of the policy come.
    recipient : str
        The people who receive the release.
    knows : str
        The facts that these people may know.
    convention : str
        The way in which the thresholds of the source are read.
    verified : bool
        Whether the authors of privnb have read the source itself, and not only a summary. If an owner has changed caps
        of the policy, this is about the source of the other caps.
    min_class_size : int
        The minimum class size, at least 2: the number of people who must share each published combination of
        quasi-identifiers.
    caps : tuple of Cap
        At least one cap on a risk.
    needs : tuple of Need
        At least one need of users.
    near_certainty : float
        The share from which a sensitive value counts as nearly certain, above 0.5 and below 1.
    tolerance : float
        The amount, from 0 to 1, by which the loss of a release may exceed the least loss if the release is chosen for
        its lower risk.
    order : str
        The choice among the releases within the tolerance: "tightest cap" takes the release that uses the smallest
        share of its tightest cap, and "loss" takes the release with the least loss.
    choice : str
        The reason for the tolerance and the order.
    measure_again_after : int
        The number of months after which the risks of a release must be measured again.
    adversary : str
        "knows the quasi-identifiers" or "knows the algorithm". With the latter, a release must meet the caps on the
        attribute risk and on certainty also against an adversary who knows how the release was made. If no attack by
        this adversary on a release is known, the caps apply to the adversary who knows the quasi-identifiers.
    sha256 : str
        The digest of the file.

    A policy that caps the attribute risk also caps certain disclosures: by default, no disclosure may be certain.
    """

    HINT: ClassVar[str] = "decision.policies.read(name) returns one."

    name: str
    title: str
    source: str
    recipient: str
    knows: str
    caps: Annotated[tuple[Cap, ...], validation.several(Cap)]
    needs: Annotated[tuple[Need, ...], validation.several(Need)]
    convention: str = ""
    verified: bool = False
    min_class_size: MinClassSize = MIN_CLASS_SIZE
    near_certainty: Annotated[float, between(0.5, 1, "1 is certain")] = NEAR
    tolerance: Probability = 0.02
    order: Annotated[str, validation.one_of(ORDERS)] = LEAST_RISK
    choice: str = ""
    measure_again_after: Count = 12
    adversary: Annotated[str, validation.one_of(ADVERSARIES)] = KNOWS_QUASI_IDENTIFIERS
    sha256: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("caps", "needs"):
            if not getattr(self, name):
                raise UsageError(
                    f"{name} must have at least one entry; got none. Add a [[{name}]] table to the policy."
                )
            object.__setattr__(self, name, tuple(getattr(self, name)))
        risks = {cap.risk for cap in self.caps}
        if "attribute" in risks and "certainty" not in risks:
            object.__setattr__(self, "caps", (*self.caps, Cap("certainty", 0.0)))

    @property
    def is_informed(self) -> bool:
        """Whether the caps must be met against an adversary who knows the algorithm."""
        return self.adversary == KNOWS_ALGORITHM


def list_policy_names() -> list[str]:
    """Return the names of the package's policies in alphabetical order, then the names from other packages."""
    return [*_own(), *_installed()]


def _own() -> list[str]:
    return sorted(path.stem for path in Path(str(files(__package__))).glob("*.toml"))


@cache
def _installed() -> dict[str, Path]:
    """Return, by name, the files of the policies that other packages add by entry points."""

    def check(point: Any, found: Any) -> Path:
        if not (isinstance(found, str | os.PathLike) and Path(found).is_file()):
            raise UsageError(f"the entry point must name the path of a TOML file; got {expect.describe_value(found)}")
        if point.name in _own():
            raise UsageError(f"privnb already has a policy '{point.name}'")
        return Path(found)

    return entry_points.load_methods("privnb.policies", check)


@validated
def read(policy: validation.Path) -> Policy:
    """Return a policy, by the name of a ready-made policy or by the path of a TOML file.

    Parameters
    ----------
    policy : str or path-like

    Returns
    -------
    Policy

    Raises
    ------
    PolicyError
        If there is no policy of this name, or if the file is not a policy.
    MissingFileError, OSError
        If the file does not exist or cannot be read.

    >>> read("ontario-2025").min_class_size
    11
    """
    given = os.fspath(policy)
    if given in _own():
        return parse_policy(files(__package__).joinpath(f"{given}.toml").read_bytes(), given)
    known = list_policy_names()
    if given in known:
        return parse_policy(_installed()[given].read_bytes(), given)
    if not given.endswith(".toml"):
        raise PolicyError(
            f"'{given}' is not a ready policy; the ready policies are {', '.join(known)}.{suggest([given], known)} "
            "Name one of these policies, or give the path of a file that ends in .toml."
        )
    if not Path(given).is_file():
        names = f"{', '.join(known)}.{suggest([given], known)}"
        raise MissingFileError(f"there is no file '{given}'. Name a file that exists, or a ready policy: {names}")
    return parse_policy(Path(given).read_bytes(), Path(given).name.removesuffix(".toml"))


def parse_policy(content: bytes, name: str) -> Policy:
    """Return a policy from the bytes of its file; raise PolicyError if the bytes are not a policy."""
    try:
        text = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyError(f"policy '{name}' is not a valid TOML file: {error}. Correct the file.") from None
    if "floor" in text and "min_class_size" not in text:  # the name of version 0.1
        warn_renamed("floor", "min_class_size")
        text["min_class_size"] = text.pop("floor")
    tables: dict[str, type[Cap] | type[Need]] = {"caps": Cap, "needs": Need}
    _check_keys(name, text, [each.name for each in fields(Policy) if each.name not in ("name", "sha256")])
    missing = [key for key in (*NEEDED, *tables) if key not in text]
    if missing:
        raise PolicyError(f"policy '{name}' lacks {', '.join(missing)}. Add the keys; the ready policies are examples.")
    for key, kind in tables.items():
        rows = text[key] if isinstance(text[key], list) else [text[key]]
        text[key] = tuple(_row(name, key, kind, number, row) for number, row in enumerate(rows, 1))
    try:
        return Policy(name=name, sha256=hashlib.sha256(content).hexdigest(), **text)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{name}': {error}") from None


def write_policy(policy: Policy, path: validation.Path) -> Path:
    """Write a policy as a TOML file, completely or not at all, and return its path.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    text = tomlkit.document()
    for each in fields(Policy):
        value = getattr(policy, each.name)
        if each.name in ("caps", "needs"):
            rows = tomlkit.aot()
            for row in value:
                rows.append(tomlkit.item({name: own for name, own in asdict(row).items() if own is not None}))
            text[each.name] = rows
        elif each.name not in ("name", "sha256"):
            text[each.name] = value
    atomic_write(Path(path), tomlkit.dumps(text))
    return Path(path)


def _row(name: str, key: str, kind: type[Cap] | type[Need], number: int, row: Any) -> Cap | Need:
    where = f"{name}, {key} {number}"
    if not isinstance(row, dict):
        raise PolicyError(
            f"policy '{where}' must be a table; got {expect.describe_value(row)}. Write [[{key}]] above its keys."
        )
    _check_keys(where, row, [each.name for each in fields(kind)])
    try:
        return kind(**row)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{where}': {error}") from None


def _check_keys(where: str, given: Iterable[str], known: list[str]) -> None:
    if unknown := [key for key in given if key not in known]:
        raise PolicyError(
            f"policy '{where}' has an unknown key, {', '.join(map(repr, unknown))}; the possible keys are "
            f"{', '.join(known)}.{suggest(unknown, known)}"
        )
