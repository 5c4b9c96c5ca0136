"""The provenance of a release: how the release was made, in enough detail to repeat it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from privnb.microdata.treatment import Rows, Treatment, select_columns
from privnb.runtime import expect
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.wording import line

INVENTED = "invented"  # the value of `declared` if the owner declares that the records are invented
PLAIN = (str, int, float, bool, dict, type(None))  # other parameters, such as models, are exported as their `repr`


class PrivacyGuarantee(NamedTuple):
    """The differential privacy that a mechanism claims, with the privacy budget epsilon.

    The bound epsilon is proven for the mechanism. Attacks can probe the bound, but no measurement of a release can
    prove it.
    """

    epsilon: float  # the total of all columns of one record
    columns: tuple[str, ...]
    neighbours: str  # the pairs of tables to which the bound applies
    statement: str  # budget, composition and exceptions in plain words

    @classmethod
    def local(cls, budget: Mapping[str, float], rest: Sequence[str]) -> Self:
        """Return the guarantee of local differential privacy by independent noise in each column.

        `budget` holds the epsilon of each column; the guarantee's epsilon is the sum of these values (Dwork and Roth
        2014, section 3.5). `rest` lists the columns without noise.

        >>> PrivacyGuarantee.local({"age": 0.5, "sex": 1}, ["ward"]).epsilon
        1.5
        """
        total = math.fsum(budget.values())
        parts = " + ".join(f"{epsilon:g} ({name})" for name, epsilon in budget.items())
        return cls._of(total, f"{parts} = {total:g} a record (sequential composition)", budget, rest)

    @classmethod
    def together(cls, epsilon: float, columns: Sequence[str], rest: Sequence[str]) -> Self:
        """Return the guarantee of local differential privacy for columns whose noise is drawn together.

        Each record spends `epsilon` once for all of these columns. `columns` lists the columns with noise, and `rest`
        lists the columns without noise.
        """
        return cls._of(epsilon, f"{epsilon:g} a record, {', '.join(columns)} together", columns, rest)

    @classmethod
    def _of(cls, epsilon: float, spent: str, columns: Iterable[str], rest: Sequence[str]) -> Self:
        neighbours = f"two tables that differ in one record's {', '.join(columns)} and in nothing else"
        statement = (
            f"Local differential privacy with epsilon {spent}. "
            f"Neighbors are {neighbours}: no release is more than exp({epsilon:g}) times as likely from one as from "
            "the other. Each further noisy release of the same records adds its own epsilon."
        )
        if rest:
            statement += f" Nothing is promised for {', '.join(rest)}, which are published as they are."
        return cls(epsilon, tuple(columns), neighbours, statement)


@dataclass(frozen=True)
class Provenance:
    """The way in which a release was made, in enough detail to repeat it.

    `claims` are the privacy models that every class satisfies; privnb checks the claims again in the published labels.
    `promise` is a guarantee of differential privacy, which only the mechanism can give. `columns` holds the `Treatment`
    of each published column, by name. `rows` is the origin of the rows. `equal_records_alike` states whether records
    with equal quasi-identifiers are published with equal quasi-identifiers. The default is True: an adversary who knows
    the sanitizer can use this fact to exclude rows. `global_recoding` states whether all cells with the same value are
    published in the same way. If it is True, an adversary who knows a value also knows the published cell. `simulation`
    states whether random numbers were drawn with a seed. If so, the release is not for publication, because the seed
    could undo the draws. `invented` states whether the owner declares the records invented. `note` explains the release
    in one or two sentences if the labels do not show how the release was made.
    """

    dataset: str
    sanitizer: str
    parameters: Mapping[str, object]
    claims: tuple[Any, ...] = ()  # privacy models, whose package may not be imported here
    promise: PrivacyGuarantee | None = None
    columns: Mapping[str, Treatment] = field(default_factory=dict)
    rows: Rows = Rows.RECORDS
    equal_records_alike: bool = True
    global_recoding: bool = False
    simulation: bool = False
    invented: bool = False
    note: str = ""
    seed: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expect.kind("claims", self.claims, tuple, list, instead="Give privacy models, such as (KAnonymity(10),).")
        for claim in self.claims:
            if not callable(getattr(claim, "holds", None)):
                raise UsageTypeError(
                    f"`claims` must be privacy models, such as (KAnonymity(10),); got {expect.describe_value(claim)}."
                )
        expect.kind("promise", self.promise, PrivacyGuarantee, type(None))
        expect.kind("columns", self.columns, Mapping, instead="Give the Treatment of each by name.")
        expect.kind("note", self.note, str)

    @property
    def recoded(self) -> list[str]:
        """The names of the altered columns in which all cells with the same value are published in the same way."""
        return [*select_columns(self.columns, "perturbed")] if self.global_recoding else []

    def state_declaration(self, date: str) -> str:
        """Return sentences about the owner's claim that the records are invented; empty without this claim.

        `date` is the day of the output that contains the sentences, such as "2026-11-30".
        """
        return line("microdata/declared", "invented", date) if self.invented else ""

    def public(self) -> dict[str, Any]:
        """Return all facts of the provenance as plain values, except the seed, which could undo the noise."""
        return {
            "dataset": self.dataset,
            "sanitizer": self.sanitizer,
            "parameters": {
                name: value if type(value) in PLAIN else repr(value) for name, value in self.parameters.items()
            },
            "claims": [repr(model) for model in self.claims],
            "promise": self.promise._asdict() if self.promise else None,
            "columns": {name: str(treatment) for name, treatment in self.columns.items()},
            "rows": str(self.rows),
            "use": "simulation: not for publication" if self.simulation else "release",
            "note": self.note,
            **({"recoded": self.recoded} if self.recoded else {}),
            **({"declared": INVENTED} if self.invented else {}),
        }
