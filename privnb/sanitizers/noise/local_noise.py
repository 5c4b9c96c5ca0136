"""What the sanitizers have in common that change each value of each record at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self

from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.provenance import Promise
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema, decimals
from privnb.microdata.treatment import Law
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list
from privnb.runtime.validation import optional
from privnb.sanitizers.base import Facts, FreshEntropy, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_numeric, numeric
from privnb.sanitizers.errors import SanitizationError


def by_attribute(example: str, of_each: Callable[[str, Any], object] = expect.positive) -> Any:
    """Return a check for numbers by attribute; `example`: how to give some; `of_each`: the check of each number."""

    def check(name: str, value: object) -> None:
        stated = expect.kind(name, value, Mapping, instead=f"Give numbers by attribute: {example}.")
        for attribute, number in stated.items():
            of_each(f"{name} of {expect.found(attribute)}", number)

    return optional(check)


Sensitivity = Annotated[Mapping[str, float] | None, by_attribute('{"age": 82}')]


def exact(rng: Generator) -> Generator | None:
    """Return what a mechanism of `mechanisms` draws with: None for noise that is published."""
    return None if isinstance(rng, FreshEntropy) else rng


def whole_steps(attribute: Attribute, codes: IntArray) -> Array:
    """Return the numbers of a domain that lie so many steps above its lowest, whole where all of them are."""
    domain = attribute.numbers
    if float(domain.low).is_integer() and float(domain.step).is_integer():
        return int(domain.low) + int(domain.step) * codes
    return decimals(domain.low + domain.step * codes)


def size_of(attribute: Any) -> int:
    """Return how many values an attribute can have; a missing number is none."""
    return attribute.domain.steps + 1 if attribute.numeric else len(attribute.domain.values)


class CellNoise(Sanitizer):
    """Each value of each record changes by itself, by a law that everybody knows, in every column that it can change.

    A subclass gives the columns, what is drawn for one, and its law. Nothing is promised, unless `_promise` says it.
    """

    treatment = "noisy"
    randomized = True
    coded = True
    in_parts = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        noisy = self._noisy(dataset.schema)
        # One stream for all columns: the same seed must not give two columns the same noise.
        for attribute in noisy:
            table[attribute.name] = self._draw(plain(table[attribute.name]), attribute, rng)
        facts: Facts = {"noisy": {attribute.name: self._law(attribute) for attribute in noisy}}
        if exact(rng) is None and (promise := self._promise(noisy, table)):
            facts["promise"] = promise
        return table, facts

    @abstractmethod
    def _noisy(self, schema: Schema) -> Sequence[Attribute]:
        """The attributes to change, in column order. Raises SanitizationError where there is none."""

    @abstractmethod
    def _draw(self, values: pd.Series, attribute: Any, rng: Generator) -> Array:
        """A column with noise."""

    @abstractmethod
    def _law(self, attribute: Any) -> Law:
        """The `Law` by which the noise of a column is drawn."""

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> Promise | None:
        """What is promised of noise that no seed can draw again; None: nothing."""
        return None


class LocalNoise(CellNoise):
    """A mechanism with a proven epsilon, run on each value by itself, in every column that it can change.

    Epsilon is spent per attribute, locally: a record with two noisy values costs 2 epsilon, between neighbouring
    tables that differ in one record's values. Only `rng=None` (OpenDP) may promise its epsilon.
    """

    letters = requires = ("epsilon",)
    epsilon: Any  # a parameter of each

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> Promise | None:
        names = [attribute.name for attribute in noisy]
        if all(self._proven(attribute) for attribute in noisy):
            rest = [name for name in table if name not in names]
            return Promise.local(dict.fromkeys(names, self.epsilon), rest)
        return None

    def _proven(self, attribute: Any) -> bool:
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
    sensitivity: Any  # a parameter of each

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        number: Any = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls.at({"epsilon": 0.5}), cls(1.0, {number.name: number.numbers.width})]

    def _noisy(self, schema: Schema) -> list[Attribute]:
        noisy = numeric(self, schema)
        check_numeric(self, [*(self.sensitivity or ())], noisy)
        secret = [
            each.name for each in noisy if each.numbers.missing is not None and not each.numbers.missing_is_public
        ]
        if secret:
            raise SanitizationError(
                f"{self!r}: numbers of {name_list(secret)} may be missing, and epsilon does not cover which are. "
                "Declare that everybody may know it, by `missing_is_public = true` in the column's domain, fill the "
                "numbers in before, or give the column the role 'unused'."
            )
        return noisy

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> Promise | None:
        promise = super()._promise(noisy, table)
        public = [each.name for each in noisy if each.numbers.missing is not None]
        if promise is None or not public:
            return promise
        stated = f" Which numbers of {', '.join(public)} are missing is declared public, and not covered."
        return promise._replace(statement=promise.statement + stated)

    def scale(self, attribute: Attribute) -> float:
        """How wide the noise of a numeric attribute is, in its unit: sensitivity / epsilon."""
        return self._sensitivity(attribute) / self.epsilon

    def _sensitivity(self, attribute: Attribute) -> float:
        return (self.sensitivity or {}).get(attribute.name, attribute.sensitivity or attribute.numbers.width)

    def _proven(self, attribute: Attribute) -> bool:
        return self._sensitivity(attribute) >= attribute.numbers.width
