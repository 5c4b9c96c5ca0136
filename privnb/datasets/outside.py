"""Values outside a described domain: privnb raises an error, treats them as missing, or widens the domain.

A domain is public, so a value outside the domain is an error in the table or in the description. An owner who can
correct neither the table nor the description chooses how to treat such values. The ends of a widened domain are read
from the records, and disclose something about these records. The promises of sanitizers that add noise therefore do not
hold for a widened domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from privnb.microdata import withholding
from privnb.microdata.cuts import grain
from privnb.microdata.schema import Attribute, Categories, Numbers, to_text
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.notices import Notice

Outside = Literal["refuse", "missing", "widen"]
FACTS = "outside"  # in a provenance


@dataclass(frozen=True)
class OutsideValues:
    """The values of one column that are outside the column's domain, and the treatment of these values.

    Parameters
    ----------
    column : str
    records : int
        The number of records with such a value.
    texts : tuple of str
        The values, written as in the table.
    domain : Numbers or Categories, optional
        The widened domain; None if the values are treated as missing.
    before : Numbers or Categories
        The domain that the description states.
    has_tree : bool
        Whether the hierarchy of the column is a tree from a file. In such a tree, only `*` covers the new values.
    """

    column: str
    records: int
    texts: tuple[str, ...]
    before: Numbers | Categories
    domain: Numbers | Categories | None = None
    has_tree: bool = False

    @property
    def is_suppressed(self) -> bool:
        """Whether the values become `*` wherever they are generalized."""
        return self.has_tree and self.domain is not None

    @property
    def data(self) -> dict[str, Any]:
        """The facts about these values for a provenance, without the values and without counts of few records."""
        few = withholding.is_few(self.records)
        counted = {"records": None, "fewer_than": withholding.LIMIT} if few else {"records": self.records}
        if self.domain is None:
            return {"taken_as": "missing", **counted}
        return {"taken_as": "part of a widened domain", **counted, "domain": _said(self.domain)}

    @property
    def notice(self) -> Notice:
        """The notice about these values for the owner and the users of the release."""
        few = withholding.is_few(self.records)
        number = f"Fewer than {withholding.LIMIT}" if few else f"{self.records:,}"
        if self.domain is None:
            return Notice(
                f"{number} records have a value of '{self.column}' outside its domain; it counts as missing.",
                "outside-taken-as-missing",
            )
        return Notice(
            f"{number} records have a value of '{self.column}' outside its described domain, which was widened to "
            f"{_said(self.domain)}. So a {'bound' if isinstance(self.domain, Numbers) else 'value'} of '{self.column}' "
            "was read from the records and discloses something about them, and promises of noise do not hold."
            + " Its hierarchy does not list the new values, so they become '*' wherever they are generalized."
            * self.is_suppressed,
            "domain-widened",
        )


def _said(domain: Numbers | Categories) -> str:
    return str(domain) if isinstance(domain, Numbers) else f"{len(domain.values):,} values"


def find_outside(
    attribute: Attribute,
    texts: Iterable[str],
    cells: pd.Series,
    times: IntArray,
    mark: str,
    outside: Outside,
    *,
    has_tree: bool = False,
) -> OutsideValues | None:
    """Return the values of a column that are outside the column's domain, and the treatment of these values.

    The result is None if there are no such values. The result is also None if the values should be treated as missing
    but the domain has no mark of a missing value: the values then stay unchanged, and the check of the table raises an
    error.

    Parameters
    ----------
    attribute : Attribute
    texts : iterable of str
        The distinct values of the column, written as in the table.
    cells : Series
        The same values, in the form that the description states.
    times : integer array
        The number of records with each of the values.
    mark : str
        The mark of a missing value that labels contain.
    outside : str
    has_tree : bool
        See `OutsideValues`.
    """
    domain = attribute.public_domain
    outer = domain.outside(cells.reset_index(drop=True)).dropna()
    outer = outer[outer.map(to_text) != mark] if mark else outer
    may_be_missing = domain.missing is not None or mark in getattr(domain, "values", ())
    if not len(outer) or (outside == "missing" and not may_be_missing):
        return None
    wider = _widened(domain, outer) if outside == "widen" else None
    if outside == "widen" and wider is None:
        return None
    if wider is not None:
        outer = outer[wider.has(_read(wider, outer))]
    own = [*texts]
    texts_outside = tuple(own[place] for place in outer.index)
    return OutsideValues(attribute.name, int(times[outer.index].sum()), texts_outside, domain, wider, has_tree)


def _read(domain: Numbers | Categories, values: pd.Series) -> Any:
    return domain.rounded(values).to_numpy() if isinstance(domain, Numbers) else values.map(to_text).to_numpy()


def _widened(domain: Numbers | Categories, outer: pd.Series) -> Numbers | Categories | None:
    """Return a domain that includes the values `outer`.

    A domain of numbers includes only the numbers in `outer`; if there are no numbers, the result is None.
    """
    if isinstance(domain, Categories):
        new = sorted({to_text(each) for each in outer} - {*domain.values})
        return replace(domain, values=(*domain.values, *new), of_records=True, widened=True)
    numbers = pd.to_numeric(outer.astype(object), errors="coerce").astype(float).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return None
    # Widen by whole grains, so that an end is rarely the value of one person.
    wide = max(round(float(grain(domain)) / domain.step), 1)
    below = max(domain.low - float(numbers.min()), 0) / domain.step
    above = max(float(numbers.max()) - domain.high, 0) / domain.step
    low = domain.low - int(np.ceil(below / wide)) * wide * domain.step
    high = domain.high + int(np.ceil(above / wide)) * wide * domain.step
    return replace(domain, low=_plain(low), high=_plain(high), widened=True)


def _plain(number: float) -> float:
    number = round(number, 10)
    return int(number) if float(number).is_integer() else number


def collect_facts(all_found: Iterable[OutsideValues]) -> dict[str, Mapping[str, Any]]:
    """Return the facts about values outside their domains for a provenance, by column."""
    return {each.column: each.data for each in all_found}
