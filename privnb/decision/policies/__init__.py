"""What an owner accepts of a release, written down before its numbers are seen: a TOML file, of the owner's or of ours.

A policy says who receives the release and what they may know, how large each risk may be, for whom, and what it must
keep for its users. `ready()` names those of the package, each of which states its source and whether we have read it,
and those of other installed packages: an entry point of the group `privnb.policies` names the path of a TOML file.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from privnb.evaluation.combinations import FLOOR, Floor
from privnb.measures.disclosure.certainty import NEAR
from privnb.runtime import entry_points, expect, numerals, validation
from privnb.runtime.errors import InputError, MissingFileError, UsageError
from privnb.runtime.names import meant
from privnb.runtime.validation import Positive, Probability, Validated, at_least, between, optional, validated

RISKS = ("identity", "attribute", "certainty", "linkability", "membership", "anti-utility")
# What a release discloses of a sensitive attribute to an outsider, counted in the release: see `risks.certainty`.
DISCLOSURES = {"certainty": "made_certain", "near certainty": "nearly_certain"}
CAPPED = (*RISKS, "near certainty")
LEAST_RISK, LEAST_LOSS = ORDERS = ("tightest cap", "loss")
TEXTS = ("title", "source", "recipient", "knows", "convention", "choice")  # what a policy says in words
NEEDED = TEXTS[:4]
CHOICE = (
    "The release of least loss always lies at the edge of a cap. Two points of loss are hardly noticed by users, and a "
    "release that stays well below its caps forgives more errors of measurement."
)


def measure_of(risk: str) -> str:
    """Return the measure of results that a risk is, such as "identity_risk" for "identity"."""
    return DISCLOSURES.get(risk) or f"{risk.replace('-', '_')}_risk"


class PolicyError(InputError):
    """A policy that is none; the message says which file and key, what was found, and what to write."""


@dataclass(frozen=True)
class Cap(Validated):
    """How large a risk may be.

    Parameters
    ----------
    risk : str
        One of `CAPPED`.
    at_most : float
        From 0 to 1; what that means is the measure's: a probability, a share of people, or an advantage over guessing.
    statistic : str
        "mean" over people, or "largest": of the worst-off person.
    group : str
        "everybody", or "worst group": of each group of people that is shown.
    people : int, optional
        The least group that the threshold is taken to mean, where custom and arithmetic differ: 0.09 is by custom a
        group of 11, whose share is 0.0909. A risk of 1 / people keeps the cap then.
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
                f"a cap on {self.risk} must be on everybody; got statistic = {self.statistic!r}, group = "
                f"{self.group!r}, people = {self.people!r}. Give 'at_most' alone, a share of people."
            )

    @property
    def counted(self) -> bool:
        """Whether it caps a number of people who are counted in the release itself, so that no interval counts."""
        return self.risk in DISCLOSURES

    @property
    def measure(self) -> str:
        """The measure of results that it caps."""
        return measure_of(self.risk)

    @property
    def variant(self) -> str:
        """The variant of that measure."""
        return "" if self.statistic == "mean" else self.statistic

    @property
    def most(self) -> float:
        """The largest risk that keeps it: float."""
        return self.at_most if self.people is None else max(self.at_most, 1 / self.people)

    @property
    def subject(self) -> str:
        """What it caps, in words."""
        whose = {"mean": "", "largest": " of the worst-off person"}[self.statistic]
        return f"{self.risk}{whose}{' in each group' if self.group != 'everybody' else ''}"

    def __str__(self) -> str:
        if self.counted and self.at_most == 0:
            return f"{self.subject}: nobody"
        read = f", read as a group of {self.people}" if self.people is not None else ""
        return f"{self.subject}: at most {numerals.bare('{:%}', self.at_most)}{read}"


@dataclass(frozen=True)
class Need(Validated):
    """What a release must keep for its users.

    Parameters
    ----------
    measure : str
        A measure of utility.
    most_lost : float
        The most that may be lost of it, from 0 to 1: a share of what lies between the original and the release without
        quasi-identifiers.
    weight : float
        How much it counts, above 0, where releases that keep all caps are compared.
    """

    measure: Annotated[str, lambda name, value: expect.text(name, value, "a measure of utility")]
    most_lost: validation.Share = 1.0
    weight: Positive = 1.0


@dataclass(frozen=True)
class Policy(Validated):
    """What an owner accepts: caps on risks, needs of users, and the smallest published combination.

    Parameters
    ----------
    name : str
        Of its file, without the ending.
    title, source, recipient, knows, convention : str
        In words: what it is called, where its numbers come from, who receives the release, what they may know, and how
        its thresholds are read.
    verified : bool
        Whether we have read the source itself, not only a digest of it.
    floor : int
        So many people share every combination of quasi-identifiers as it is published, from 2.
    caps : tuple of Cap
        At least one.
    needs : tuple of Need
        At least one.
    near_certainty : float
        From which share on a sensitive value counts as nearly certain, above 0.5 and below 1.
    tolerance : float
        How much more a release may lose than the least loss, a share of what there is to lose, and still be chosen for
        its lower risk.
    order : str
        One of `ORDERS`: by what one of the releases within the tolerance is chosen, the least use of its tightest cap
        or the least loss.
    choice : str
        The reason for tolerance and order, in words.
    sha256 : str
        Of the file's bytes.

    A policy that caps the attribute risk caps certainty too, at nobody unless it states another cap.
    """

    HINT: ClassVar[str] = "decision.policies.read(name) gives one."

    name: str
    title: str
    source: str
    recipient: str
    knows: str
    caps: Annotated[tuple[Cap, ...], validation.several(Cap)]
    needs: Annotated[tuple[Need, ...], validation.several(Need)]
    convention: str = ""
    verified: bool = False
    floor: Floor = FLOOR
    near_certainty: Annotated[float, between(0.5, 1, "1 is certain")] = NEAR
    tolerance: Probability = 0.02
    order: Annotated[str, validation.one_of(ORDERS)] = LEAST_RISK
    choice: str = CHOICE
    sha256: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("caps", "needs"):
            if not getattr(self, name):
                raise UsageError(f"a policy has one of {name} or more: else it accepts everything.")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        risks = {cap.risk for cap in self.caps}
        if "attribute" in risks and "certainty" not in risks:
            object.__setattr__(self, "caps", (*self.caps, Cap("certainty", 0.0)))


def ready() -> list[str]:
    """Return the names of the policies of the package, in the order of the alphabet, then those of other installed
    packages.
    """
    return [*_own(), *_installed()]


def _own() -> list[str]:
    return sorted(path.stem for path in Path(str(files(__package__))).glob("*.toml"))


@cache
def _installed() -> dict[str, Path]:
    """Return the files of the policies that entry points of other packages name."""

    def check(point: Any, found: Any) -> Path:
        if not (isinstance(found, str | os.PathLike) and Path(found).is_file()):
            raise UsageError(f"it must name the path of a TOML file; got {expect.found(found)}")
        if point.name in _own():
            raise UsageError(f"privnb has a policy '{point.name}' itself")
        return Path(found)

    return entry_points.load_methods("privnb.policies", check)


@validated
def read(policy: validation.Path) -> Policy:
    """Return a policy by its name among the ready ones, or by the path of a TOML file.

    Parameters
    ----------
    policy : str or path-like

    Returns
    -------
    Policy

    Raises
    ------
    PolicyError
        For another name, and for a file that is no policy.
    MissingFileError, OSError
        For a file that does not exist or cannot be read.

    >>> read("ontario-2025").floor
    11
    """
    given = os.fspath(policy)
    if given in _own():
        return parsed(files(__package__).joinpath(f"{given}.toml").read_bytes(), given)
    if given in ready():
        return parsed(_installed()[given].read_bytes(), given)
    if not given.endswith(".toml"):
        raise PolicyError(
            f"'{given}' is no policy of the package, which has {', '.join(ready())}.{meant([given], ready())} Name one "
            "of these, or give the path of a file that ends in .toml."
        )
    if not Path(given).is_file():
        known = f"{', '.join(ready())}.{meant([given], ready())}"
        raise MissingFileError(f"there is no file '{given}'. Name a file that exists, or a ready policy: {known}")
    return parsed(Path(given).read_bytes(), Path(given).name.removesuffix(".toml"))


def parsed(content: bytes, name: str) -> Policy:
    """Return a policy by the bytes of its file. Raises PolicyError for what is none."""
    try:
        text = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyError(f"policy '{name}': it is no TOML file: {error}.") from None
    tables: dict[str, type[Cap] | type[Need]] = {"caps": Cap, "needs": Need}
    _check_keys(name, text, [each.name for each in fields(Policy) if each.name not in ("name", "sha256")])
    missing = [key for key in (*NEEDED, *tables) if key not in text]
    if missing:
        raise PolicyError(f"policy '{name}' lacks {', '.join(missing)}. The ready ones show how they are written.")
    for key, kind in tables.items():
        rows = text[key] if isinstance(text[key], list) else [text[key]]
        text[key] = tuple(_row(name, key, kind, number, row) for number, row in enumerate(rows, 1))
    try:
        return Policy(name=name, sha256=hashlib.sha256(content).hexdigest(), **text)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{name}': {error}") from None


def _row(name: str, key: str, kind: type[Cap] | type[Need], number: int, row: Any) -> Cap | Need:
    where = f"{name}, {key} {number}"
    if not isinstance(row, dict):
        raise PolicyError(f"policy '{where}' is no table, got {expect.found(row)}. Write [[{key}]] above its keys.")
    _check_keys(where, row, [each.name for each in fields(kind)])
    try:
        return kind(**row)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy '{where}': {error}") from None


def _check_keys(where: str, given: Iterable[str], known: list[str]) -> None:
    if unknown := [key for key in given if key not in known]:
        raise PolicyError(
            f"policy '{where}' has {', '.join(map(repr, unknown))}, and a policy has {', '.join(known)}."
            f"{meant(unknown, known)}"
        )
