"""How a release was made and what is said of it, complete enough to make it again."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from privnb.microdata.treatment import Rows, Treatment, treated
from privnb.runtime import expect
from privnb.runtime.errors import UsageTypeError

PLAIN = (str, int, float, bool, dict, type(None))  # any other parameter, such as a model, leaves as it is written


class Promise(NamedTuple):
    """A proven bound that a mechanism claims. It can be claimed and probed by attack, never measured from a release."""

    epsilon: float  # spent on one record, all columns together
    columns: tuple[str, ...]
    neighbours: str  # the two tables that nobody may tell apart by more than epsilon
    statement: str  # budget, composition, what is not covered; in plain words

    @classmethod
    def local(cls, budget: Mapping[str, float], rest: Sequence[str]) -> Self:
        """Local differential privacy by independent noise in each column.

        `budget`: epsilon by column; they add up (Dwork and Roth 2014, section 3.5). `rest`: columns without noise.

        >>> Promise.local({"age": 0.5, "sex": 1}, ["ward"]).epsilon
        1.5
        """
        total = math.fsum(budget.values())
        parts = " + ".join(f"{epsilon:g} ({name})" for name, epsilon in budget.items())
        return cls._of(total, f"{parts} = {total:g} a record (sequential composition)", budget, rest)

    @classmethod
    def together(cls, epsilon: float, columns: Sequence[str], rest: Sequence[str]) -> Self:
        """Local differential privacy of columns that are drawn together, so that a record spends `epsilon` once.

        `columns`: which; `rest`: those without noise.
        """
        return cls._of(epsilon, f"{epsilon:g} a record, {', '.join(columns)} together", columns, rest)

    @classmethod
    def _of(cls, epsilon: float, spent: str, columns: Iterable[str], rest: Sequence[str]) -> Self:
        neighbours = f"two tables that differ in one record's {', '.join(columns)} and in nothing else"
        statement = (
            f"Local differential privacy with epsilon {spent}. "
            f"Neighbours are {neighbours}: no release is more than exp({epsilon:g}) times as likely from one as from "
            "the other. Each further noisy release of the same records adds its own epsilon."
        )
        if rest:
            statement += f" Nothing is promised for {', '.join(rest)}, which are published as they are."
        return cls(epsilon, tuple(columns), neighbours, statement)


@dataclass(frozen=True)
class Provenance:
    """How a release was made, complete enough to make it again.

    `claims`: privacy models that every class keeps, re-checked by the tests from the labels. `promise`: a bound that
    only the mechanism can give. `columns`: the `Treatment` of each published column, by name. `rows`: whose they are.
    `equal_records_alike`: records with equal quasi-identifiers are published with equal ones, so that an adversary who
    knows the sanitizer can exclude rows; taken to be so where nothing is said. `global_recoding`: each value is
    published alike wherever it stands, so that an adversary who knows a value knows its cell. `simulation`: something
    was drawn with a seed, which can undo it, so not for publication. `note`: why the release came out as it did, in a
    sentence or two, where its labels do not tell.
    """

    dataset: str
    sanitizer: str
    parameters: Mapping[str, object]
    claims: tuple[Any, ...] = ()  # of privacy models, which lie above
    promise: Promise | None = None
    columns: Mapping[str, Treatment] = field(default_factory=dict)
    rows: Rows = Rows.RECORDS
    equal_records_alike: bool = True
    global_recoding: bool = False
    simulation: bool = False
    note: str = ""
    seed: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expect.kind("claims", self.claims, tuple, list, instead="Give some such as (KAnonymity(10),).")
        for claim in self.claims:
            if not callable(getattr(claim, "holds", None)):
                raise UsageTypeError(
                    f"claims are privacy models, such as (KAnonymity(10),); got {expect.found(claim)}."
                )
        expect.kind("promise", self.promise, Promise, type(None))
        expect.kind("columns", self.columns, Mapping, instead="Give the Treatment of each by name.")
        expect.kind("note", self.note, str)

    @property
    def recoded(self) -> list[str]:
        """The names of the altered columns of which each value is published alike wherever it stands."""
        return [*treated(self.columns, "perturbed")] if self.global_recoding else []

    def public(self) -> dict[str, Any]:
        """What may leave with a release, as a dictionary of plain values: all but the seed, which undoes the noise."""
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
        }
