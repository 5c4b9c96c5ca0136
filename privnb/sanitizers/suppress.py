"""The two trivial sanitizations of Brickell and Shmatikov: what any other has to be better than."""

from dataclasses import dataclass

from privnb.hierarchy import SUPPRESSED
from privnb.sanitizers.base import Sanitizer
from privnb.schema import Role


@dataclass(frozen=True)
class Suppress(Sanitizer):
    """Publish `*` for every quasi-identifier, or for every sensitive attribute.

    Either leaves an adversary who knows quasi-identifiers with no more than the table's overall distribution of the
    sensitive attribute. Source: Brickell and Shmatikov, KDD 2008, sections 1 and 4.1.
    """

    what: str = "quasi-identifiers"

    def __post_init__(self):
        if self.what not in ROLES:
            raise ValueError(f"what must be one of {', '.join(ROLES)}, got {self.what!r}.")

    def _sanitize(self, dataset, table, rng):
        suppressed = dataset.schema.names(ROLES[self.what])
        return table.assign(**{name: SUPPRESSED for name in suppressed}), {}


ROLES = {"quasi-identifiers": Role.QUASI_IDENTIFIER, "sensitive": Role.SENSITIVE}
