"""No sanitization: the original table without its identifiers, as the other end of every comparison."""

from dataclasses import dataclass

from privnb.sanitizers.base import Sanitizer


@dataclass(frozen=True)
class Identity(Sanitizer):
    """Publish every record as it is ("Intact" in Brickell and Shmatikov). Protects nobody."""

    order_invariant = True
    title = "the original"
    counts_people = True
    treatment = "exact"
    reference = True
    coded = True

    def _sanitize(self, dataset, table, rng):
        return table, {}
