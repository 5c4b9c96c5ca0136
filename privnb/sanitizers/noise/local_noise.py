"""What the sanitizers have in common that change each value of each record at random."""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from privnb.microdata.columns import plain
from privnb.microdata.provenance import Promise
from privnb.runtime import expect
from privnb.runtime.names import name_list
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.numbered import numeric
from privnb.sanitizers.noise.mechanisms import check_epsilon


class CellNoise(Sanitizer):
    """Each value of each record changes by itself, by a law that everybody knows, in every column that it can change.

    A subclass gives the columns, what is drawn for one, and its law. Nothing is promised, unless `_promise` says it.
    """

    treatment = "noisy"
    randomized = True
    coded = True
    in_parts = True

    def _sanitize(self, dataset, table, rng):
        noisy = self._noisy(dataset.schema)
        # One stream for all columns: the same seed must not give two columns the same noise.
        source = None if rng is None else np.random.default_rng(rng)
        for attribute in noisy:
            table[attribute.name] = self._draw(plain(table[attribute.name]), attribute, source)
        facts = {"noisy": {attribute.name: self._law(attribute) for attribute in noisy}}
        if rng is None and (promise := self._promise(noisy, table)):
            facts["promise"] = promise
        return table, facts

    @abstractmethod
    def _noisy(self, schema):
        """The attributes to change, in column order. Raises SanitizationError where there is none."""

    @abstractmethod
    def _draw(self, values, attribute, rng):
        """A column with noise."""

    @abstractmethod
    def _law(self, attribute):
        """The `Law` by which the noise of a column is drawn."""

    def _promise(self, noisy, table):
        """What is promised of noise that no seed can draw again; None: nothing."""


class LocalNoise(CellNoise):
    """A mechanism with a proven epsilon, run on each value by itself, in every column that it can change.

    Epsilon is spent per attribute, locally: a record with two noisy values costs 2 epsilon, between neighbouring
    tables that differ in one record's values. Only `rng=None` (OpenDP) may promise its epsilon.
    """

    letters = requires = ("epsilon",)

    def __post_init__(self):
        check_epsilon(self.epsilon)

    def _promise(self, noisy, table):
        names = [attribute.name for attribute in noisy]
        if all(self._proven(attribute) for attribute in noisy):
            rest = [name for name in table if name not in names]
            return Promise.local(dict.fromkeys(names, self.epsilon), rest)
        return None

    def _proven(self, attribute):
        """Whether the noise covers the whole public domain, as the promise says."""
        return True


class NumericNoise(LocalNoise):
    """Noise of scale sensitivity / epsilon on each numeric quasi-identifier.

    A promise of epsilon has to cover whether a number is missing, and noise does not hide that. So columns in which
    numbers may be missing are refused, unless the owner declares that it is public which numbers are missing; then a
    missing number stays missing, and the promise says so.
    """

    changes = "numbers"
    missing_numbers = "restored"

    @classmethod
    def examples(cls, schema):
        number = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls(0.5), cls(1.0, {number.name: number.domain.width})]

    def __post_init__(self):
        super().__post_init__()
        if self.sensitivity is not None:
            expect.kind("sensitivity", self.sensitivity, Mapping, instead='Give numbers by attribute: {"age": 82}.')
            for name, number in self.sensitivity.items():
                expect.positive(f"sensitivity of {expect.found(name)}", number)

    def _noisy(self, schema):
        noisy = numeric(self, schema)
        names = [attribute.name for attribute in noisy]
        unknown = sorted(set(self.sensitivity or ()) - set(names))
        if unknown:
            raise SanitizationError(f"{self!r}: {unknown} is no numeric quasi-identifier; those are {names}.")
        secret = [each.name for each in noisy if each.domain.missing is not None and not each.domain.missing_is_public]
        if secret:
            raise SanitizationError(
                f"{self!r}: numbers of {name_list(secret)} may be missing, and epsilon does not cover which are. "
                "Declare that everybody may know it, by `missing_is_public = true` in the column's domain, fill the "
                "numbers in before, or give the column the role 'unused'."
            )
        return noisy

    def _promise(self, noisy, table):
        promise, public = (
            super()._promise(noisy, table),
            [each.name for each in noisy if each.domain.missing is not None],
        )
        if promise is None or not public:
            return promise
        stated = f" Which numbers of {', '.join(public)} are missing is declared public, and not covered."
        return promise._replace(statement=promise.statement + stated)

    def scale(self, attribute):
        """How wide the noise of a numeric attribute is, in its unit: sensitivity / epsilon."""
        return self._sensitivity(attribute) / self.epsilon

    def _sensitivity(self, attribute):
        return (self.sensitivity or {}).get(attribute.name, attribute.sensitivity or attribute.domain.width)

    def _proven(self, attribute):
        return self._sensitivity(attribute) >= attribute.domain.width


def categorical(sanitizer, schema, names=()):
    """The quasi-identifiers of two or more categories, or those of these names, in column order.

    Raises SanitizationError where there is none, and for a name that is no such attribute.
    """
    attributes = [schema[name] for name in schema.quasi_identifiers]
    found = [each for each in attributes if not each.numeric and len(each.domain.values) > 1]
    if not found:
        raise SanitizationError(
            f"{sanitizer!r}: no quasi-identifier of '{schema.dataset}' has two or more categories; they are "
            f"{', '.join(schema.quasi_identifiers)}. Choose a study with categories, or noise for numbers."
        )
    able = [each.name for each in found]
    if unknown := [name for name in names if name not in able]:
        raise SanitizationError(
            f"{sanitizer!r}: {', '.join(map(repr, unknown))} is no quasi-identifier of '{schema.dataset}' with two or "
            f"more categories; those are {', '.join(able)}."
        )
    return [each for each in found if not names or each.name in names]
