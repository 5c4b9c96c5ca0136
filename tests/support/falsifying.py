"""A sanitizer that says something false of everybody."""

from dataclasses import dataclass

from privnb.sanitizers.base import Sanitizer


@dataclass(frozen=True)
class _Alike(Sanitizer):
    """Publish one age for everybody."""

    age: int
    treatment = "noisy"

    def _sanitize(self, dataset, table, rng):
        table["age"] = self.age
        return table


def alike(age):
    """The sanitizer; its class is hidden from the lists of all kinds by its name."""
    return _Alike(age)
