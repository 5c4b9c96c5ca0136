"""What was published: the table, its equivalence classes, its provenance; `publish()` is all that an attacker gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.counts import combinations
from privnb.hierarchy import SUPPRESSED
from privnb.privacy_models import PrivacyModel
from privnb.schema import Role, Schema


class Promise(NamedTuple):
    """A proven bound that a mechanism claims. It can be claimed and probed by attack, never measured from a release."""

    epsilon: float
    columns: tuple[str, ...]
    statement: str  # neighbours, composition, what is not covered; in plain words


@dataclass(frozen=True)
class Provenance:
    """How a release was made, complete enough to make it again.

    `claims`: privacy models that every class keeps, re-checked by the tests from the labels. `promise`: a bound that
    only the mechanism can give. `noisy`: columns with noise. `simulation`: the noise was seeded, so not for
    publication.
    """

    dataset: str
    sanitizer: str
    parameters: Mapping[str, object]
    claims: tuple[PrivacyModel, ...] = ()
    promise: Promise | None = None
    noisy: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    simulation: bool = False
    seed: object = field(default=None, repr=False)

    def public(self):
        """What may leave with a release, as a dictionary of plain values: all but the seed, which undoes the noise."""
        return {
            "dataset": self.dataset,
            "sanitizer": self.sanitizer,
            "parameters": {name: value for name, value in self.parameters.items()},
            "claims": [repr(model) for model in self.claims],
            "promise": self.promise._asdict() if self.promise else None,
            "published as they are": list(self.untouched),
            "use": "simulation: not for publication" if self.simulation else "release",
        }


class Published(NamedTuple):
    """All that an attacker gets: the released table in random order without record names, and public knowledge."""

    table: pd.DataFrame
    schema: Schema
    hierarchies: Mapping[str, object]
    noisy: tuple[str, ...]

    def __repr__(self):  # never the rows, see Release
        return f"Published({len(self.table)} rows of {', '.join(self.table)})"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A sanitized table: n rows in the dataset's order, one a record, with every column but identifiers.

    A generalized cell is a label of the attribute's hierarchy; a suppressed one is `*` and keeps its place.
    """

    table: pd.DataFrame
    schema: Schema
    hierarchies: Mapping[str, object]
    provenance: Provenance

    def __len__(self):
        return len(self.table)

    def __repr__(self):  # never the rows: a notebook keeps what it shows; see `show`
        return f"Release({len(self)} rows of {self.provenance.dataset} by {self.provenance.sanitizer})"

    @cached_property
    def classes(self):
        """Equivalence class of each record, integer array (n,) from 0, or None for a noisy release.

        Classes are the distinct quasi-identifier tuples *as released*: clusters that are released alike are one class,
        for nobody can tell them apart.
        """
        if self.provenance.noisy:
            return None
        return combinations(self.table[self.schema.quasi_identifiers]).index

    @property
    def suppressed(self):
        """Number of records whose quasi-identifiers are all `*`."""
        names = self.schema.quasi_identifiers
        return int((self.table[names].astype(str) == SUPPRESSED).all(axis=1).sum()) if names else 0

    def publish(self, rng):
        """The attacker's view and, apart from it, the key: for each published row the record that it came from.

        Rows are shuffled with `rng` (an unsorted matching attack would use their order). The key is the evaluator's
        alone.
        """
        key = np.random.default_rng(rng).permutation(len(self))
        table = self.table.iloc[key].reset_index(drop=True)
        return Published(table, self.schema, self.hierarchies, self.provenance.noisy), key

    def show(self, rows=12, *, rng=0):
        """A random dozen of released rows to look at: quasi-identifiers and sensitive attributes.

        Neutral attributes are published as they are and would single out people beside them, so they are left out.
        Raises ValueError where nothing generalizes the quasi-identifiers: each row is then one person's own record.
        """
        if rows > 12:
            raise ValueError(f"a report shows at most 12 released rows, got rows={rows}.")
        names = self.schema.names(Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        hidden = self.schema.quasi_identifiers and self.suppressed == len(self)
        if not self.provenance.claims and not hidden:
            raise ValueError(
                f"rows of {self.provenance.sanitizer} are not shown: nothing generalizes them, so each is one person's "
                "own record. Show counts instead."
            )
        shown = np.random.default_rng(rng).choice(len(self), min(rows, len(self)), replace=False)
        return self.table[names].iloc[shown].reset_index(drop=True)
