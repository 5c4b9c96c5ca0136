"""Base classes of the sanitizers that change each value of each record at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self

from numpy.random import Generator

from privnb.microdata.columns import decode_column
from privnb.microdata.provenance import PrivacyGuarantee
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema, round_binary
from privnb.microdata.treatment import Law
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names
from privnb.runtime.validation import optional
from privnb.sanitizers.base import Facts, FreshEntropy, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_numeric, require_numeric
from privnb.sanitizers.errors import SanitizationError


def check_by_attribute(example: str, of_each: Callable[[str, Any], object] = expect.positive) -> Any:
    """Return a check for numbers by attribute; `example` shows a legal value, and `of_each` checks each number."""

    def check(name: str, value: object) -> None:
        stated = expect.kind(name, value, Mapping, instead=f"Give numbers by attribute: {example}.")
        for attribute, number in stated.items():
            of_each(f"{name} of {expect.describe_value(attribute)}", number)

    return optional(check)


Sensitivity = Annotated[Mapping[str, float] | None, check_by_attribute('{"age": 82}')]


def choose_source(rng: Generator) -> Generator | None:
    """Return the source of draws for a function of `mechanisms`: None if the noise may be published."""
    return None if isinstance(rng, FreshEntropy) else rng


def from_steps(attribute: Attribute, codes: IntArray) -> Array:
    """Return the numbers at these steps above the lowest number of a domain, as integers if all of them are whole."""
    domain = attribute.numbers
    if float(domain.low).is_integer() and float(domain.step).is_integer():
        return int(domain.low) + int(domain.step) * codes
    return round_binary(domain.low + domain.step * codes)


def count_values(attribute: Any) -> int:
    """Return the number of values that an attribute can have, without the missing number."""
    return attribute.domain.steps + 1 if attribute.numeric else len(attribute.domain.values)


class CellNoise(Sanitizer):
    """A mechanism that changes each value of each record separately, by a public distribution, in all suitable columns.

    A subclass defines the columns, the draw of a column, and the law of the noise. The mechanism promises nothing,
    unless the subclass overrides `_promise`.
    """

    treatment = "noisy"
    randomized = True
    coded = True
    in_parts = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        noisy = self._noisy(dataset.schema)
        # # All columns draw from one source, because a seed must not give two columns the same noise.
        for attribute in noisy:
            table[attribute.name] = self._draw(decode_column(table[attribute.name]), attribute, rng)
        facts: Facts = {"noisy": {attribute.name: self._law(attribute) for attribute in noisy}}
        if choose_source(rng) is None and (promise := self._promise(noisy, table)):
            facts["promise"] = promise
        return table, facts

    @abstractmethod
    def _noisy(self, schema: Schema) -> Sequence[Attribute]:
        """Return the attributes to change, in column order. Raises SanitizationError if there are none."""

    @abstractmethod
    def _draw(self, values: pd.Series, attribute: Any, rng: Generator) -> Array:
        """Return the values of a column with noise."""

    @abstractmethod
    def _law(self, attribute: Any) -> Law:
        """Return the `Law` of the noise of a column."""

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> PrivacyGuarantee | None:
        """Return the promise for noise that no seed can draw again, or None if there is no promise."""
        return None


class LocalNoise(CellNoise):
    """A mechanism with a proven epsilon, applied separately to each value in every column that it can change.

    Epsilon is spent locally, per attribute: a record with two noisy values spends 2 epsilon, for neighboring tables
    that differ in the values of one record. Epsilon may be promised only with `rng=None` (OpenDP).
    """

    letters = requires = ("epsilon",)
    epsilon: Any  # a parameter of each subclass

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> PrivacyGuarantee | None:
        names = [attribute.name for attribute in noisy]
        if all(self._proven(attribute) for attribute in noisy):
            rest = [name for name in table if name not in names]
            return PrivacyGuarantee.local(dict.fromkeys(names, self.epsilon), rest)
        return None

    def _proven(self, attribute: Any) -> bool:
        """Return whether the noise covers the whole public domain, as the promise states."""
        return True


class NumericNoise(LocalNoise):
    """Noise of scale sensitivity / epsilon on each numeric quasi-identifier.

    A promise of epsilon has to cover the information whether a number is missing, but noise does not hide this
    information. The mechanism therefore refuses columns in which numbers may be missing, unless the owner declares that
    it is public which numbers are missing. A missing number then stays missing, and the promise states that it does not
    cover which numbers are missing.
    """

    changes = "numbers"
    missing_numbers = "restored"
    sensitivity: Any  # a parameter of each subclass

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        number: Any = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls.from_bounds({"epsilon": 0.5}), cls(1.0, {number.name: number.numbers.width})]

    def _noisy(self, schema: Schema) -> list[Attribute]:
        noisy = require_numeric(self, schema)
        check_numeric(self, [*(self.sensitivity or ())], noisy)
        undeclared = [
            each.name for each in noisy if each.numbers.missing is not None and not each.numbers.missing_is_public
        ]
        if undeclared:
            raise SanitizationError(
                f"{self!r}: numbers of {join_names(undeclared)} may be missing, and epsilon does not protect the "
                "information which numbers are missing. Declare this information public by `missing_is_public = true` "
                "in the domain of the column, fill in the numbers, or give the column the role 'unused'."
            )
        return noisy

    def _promise(self, noisy: Sequence[Any], table: pd.DataFrame) -> PrivacyGuarantee | None:
        promise = super()._promise(noisy, table)
        public = [each.name for each in noisy if each.numbers.missing is not None]
        if promise is None or not public:
            return promise
        stated = f" It does not cover which numbers of {', '.join(public)} are missing: the owner declares that public."
        return promise._replace(statement=promise.statement + stated)

    def scale(self, attribute: Attribute) -> float:
        """Return the scale of the noise of a numeric attribute, in its unit: sensitivity / epsilon."""
        return self._sensitivity(attribute) / self.epsilon

    def _sensitivity(self, attribute: Attribute) -> float:
        return (self.sensitivity or {}).get(attribute.name, attribute.sensitivity or attribute.numbers.width)

    def _proven(self, attribute: Attribute) -> bool:
        return self._sensitivity(attribute) >= attribute.numbers.width
