"""What every sanitizer is: parameters that repr shows faithfully, and one verb, `sanitize`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from privnb.release import Provenance, Release
from privnb.schema import Role


class SanitizationError(ValueError):
    """What was asked of a sanitizer cannot be done to this table."""


class Sanitizer(ABC):
    """A sanitization mechanism. Subclasses are frozen dataclasses of their parameters; nothing learned stays on them.

    `order_free`: the same records in another order give the same rows. `randomized`: the seed matters. `get_params`
    and `repr` follow scikit-learn, so that `sklearn.base.clone` works.
    """

    order_free = True
    randomized = False

    def get_params(self, deep=False):
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def changed_params(self):
        """The parameters that differ from their defaults, as `name=value` text: how results name a setting."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return ", ".join(f"{name}={_short(value)}" for name, value in changed)

    def sanitize(self, dataset, *, rng):
        """Make a Release of `dataset`, one row a record; the dataset is not changed.

        `rng`: an int seed or a numpy Generator, or None for noise from OpenDP that no seed can undo. It is recorded in
        the provenance. Raises SanitizationError when the table cannot give what was asked.
        """
        original = dataset.table[dataset.schema.published]
        table, facts = self._sanitize(dataset, original.copy(), rng)
        provenance = Provenance(
            dataset=dataset.name,
            sanitizer=repr(self),
            parameters=self.get_params(),
            untouched=tuple(name for name in original if table[name].equals(original[name])),
            seed=None if isinstance(rng, np.random.Generator) else rng,
            **facts,
        )
        schema = dataset.schema.with_roles(
            {a.name: a.role for a in dataset.schema.attributes if a.role != Role.IDENTIFIER}
        )
        return Release(table, schema, dataset.hierarchies, provenance)

    @abstractmethod
    def _sanitize(self, dataset, table, rng):
        """The released table, made of `table`, a copy of the published columns; and facts for its Provenance."""


def _short(value):
    return " ".join(f"{name}:{number}" for name, number in value.items()) if isinstance(value, Mapping) else value
