"""Values outside of a described domain: refused, taken as missing, or let in by a wider domain.

A domain is public, and a value outside of it is an error of the table or of the description. An owner who cannot
correct either chooses what becomes of such values. A widened domain holds what the records hold: its new ends tell of
them, so that no promise of noise holds any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from privnb.microdata import withholding
from privnb.microdata.cuts import grain
from privnb.microdata.schema import Attribute, Categories, Numbers, text
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.notices import Notice

Outside = Literal["refuse", "missing", "widen"]
FACTS = "outside"  # in a provenance


@dataclass(frozen=True)
class Found:
    """The values of one column outside of its domain, and what became of them.

    Parameters
    ----------
    column : str
    records : int
        How many records have one of them.
    texts : tuple of str
        The values as the table has them.
    domain : Numbers or Categories, optional
        The widened domain; None: the values are taken as missing.
    before : Numbers or Categories
        The domain as described.
    has_tree : bool
        Whether the column generalizes by a tree that lists its values, in which `*` alone covers the new ones.
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
        """What a provenance says of it: no value, and no count of few records."""
        few = withholding.few(self.records)
        counted = {"records": None, "fewer_than": withholding.LIMIT} if few else {"records": self.records}
        if self.domain is None:
            return {"taken_as": "missing", **counted}
        return {"taken_as": "part of a widened domain", **counted, "domain": _said(self.domain)}

    @property
    def notice(self) -> Notice:
        """What the owner and the users of the release must know."""
        few = withholding.few(self.records)
        number = f"Fewer than {withholding.LIMIT}" if few else f"{self.records:,}"
        if self.domain is None:
            return Notice(
                f"{number} records have a value of '{self.column}' outside of its domain, which counts as missing.",
                "outside-taken-as-missing",
            )
        return Notice(
            f"{number} records have a value of '{self.column}' outside of its described domain, which was widened to "
            f"{_said(self.domain)}. So a {'bound' if isinstance(self.domain, Numbers) else 'value'} of '{self.column}' "
            "was read from the records and tells of them, and no promise of noise holds."
            + " Its hierarchy lists none of the new values, so that they become '*' wherever they are generalized."
            * self.is_suppressed,
            "domain-widened",
        )


def _said(domain: Numbers | Categories) -> str:
    return str(domain) if isinstance(domain, Numbers) else f"{len(domain.values):,} values"


def found(
    attribute: Attribute,
    texts: Iterable[str],
    cells: pd.Series,
    times: IntArray,
    mark: str,
    outside: Outside,
    *,
    has_tree: bool = False,
) -> Found | None:
    """Return which values of a column are outside of its domain, and what becomes of them; None where there are none.

    A column whose domain has no mark of a missing value cannot take them as missing: they stay, and are refused.

    Parameters
    ----------
    attribute : Attribute
    texts : iterable of str
        The different values of the column as the table has them.
    cells : Series
        The same as the description reads them.
    times : integer array
        How many records have each.
    mark : str
        By which text labels say that a value is missing.
    outside : str
    has_tree : bool
        As of `Found`.
    """
    domain = attribute.public_domain
    outer = domain.outside(cells.reset_index(drop=True)).dropna()
    outer = outer[outer.map(text) != mark] if mark else outer
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
    return Found(attribute.name, int(times[outer.index].sum()), texts_outside, domain, wider, has_tree)


def _read(domain: Numbers | Categories, values: pd.Series) -> Any:
    return domain.rounded(values).to_numpy() if isinstance(domain, Numbers) else values.map(text).to_numpy()


def _widened(domain: Numbers | Categories, outer: pd.Series) -> Numbers | Categories | None:
    """Return a domain that also holds the values `outer`, or those of them that are numbers; None without any."""
    if isinstance(domain, Categories):
        new = sorted({text(each) for each in outer} - {*domain.values})
        return replace(domain, values=(*domain.values, *new), of_records=True, widened=True)
    numbers = pd.to_numeric(outer.astype(object), errors="coerce").astype(float).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return None
    # By whole grains, so that an end is hardly ever one person's own value.
    wide = max(round(float(grain(domain)) / domain.step), 1)
    below = max(domain.low - float(numbers.min()), 0) / domain.step
    above = max(float(numbers.max()) - domain.high, 0) / domain.step
    low = domain.low - int(np.ceil(below / wide)) * wide * domain.step
    high = domain.high + int(np.ceil(above / wide)) * wide * domain.step
    return replace(domain, low=_plain(low), high=_plain(high), widened=True)


def _plain(number: float) -> float:
    number = round(number, 10)
    return int(number) if float(number).is_integer() else number


def facts(all_found: Iterable[Found]) -> dict[str, Mapping[str, Any]]:
    """Return what a provenance says of values outside of domains, by column."""
    return {each.column: each.data for each in all_found}
