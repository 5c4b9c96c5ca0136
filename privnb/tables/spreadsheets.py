"""Detection, reporting and escaping of text in CSV files that a spreadsheet program would run as a formula.

Source: OWASP, "CSV Injection". A plain number, such as -8 or +1.5, is not a formula.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pa, pc
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    import pandas as pd

FORMULA = "[=+\\-@\t\r\n＝＋－＠]"  # the first characters of formulas
NUMBER = r"^[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
APOSTROPHE = "'"  # precedes an escaped formula
FACTS = "formulas"  # a key of a provenance
OPTION = "--spreadsheet-safe"


class Formulas(NamedTuple):
    """The columns of a CSV file that contain formulas, in a cell or as the name, and whether formulas are escaped."""

    names: tuple[str, ...] = ()
    are_escaped: bool = False

    @property
    def sentences(self) -> list[Notice]:
        """The notices about formulas for the owner and the users of the file."""
        listed = ", ".join(self.names)
        if not self.names:
            return []
        if self.are_escaped:
            says = (
                f"An apostrophe precedes each text in {listed} that a spreadsheet would run as a formula. Remove "
                "the first apostrophe to restore the text."
            )
            return [Notice(says, "formula-escaped")]
        says = (
            f"Text in {listed} begins with =, +, -, @ or a tab and is saved unchanged: a spreadsheet may run it as a "
            f"formula. Import the file as text, or let `privnb sanitize` or `privnb decide` write it with {OPTION}."
        )
        return [Notice(says, "formula-found")]

    def with_buckets(self, buckets: pd.DataFrame | None, are_escaped: bool) -> Formulas:
        """Return these formulas together with the formulas in the table of buckets, if the release has such a table."""
        if buckets is None:
            return self
        return Formulas(tuple(dict.fromkeys([*self.names, *find_in_buckets(buckets)])), are_escaped)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about formulas for a provenance."""
        return {FACTS: {"columns": [*self.names], "escaped": self.are_escaped}} if self.names else {}


NONE = Formulas()


def holds_formula(values: Iterable[object] | pa.Array) -> bool:
    """Return whether a spreadsheet program would run at least one of the values as a formula.

    Parameters
    ----------
    values : iterable, or pyarrow.Array
        The values. Only a text can be a formula.

    >>> holds_formula(["=1+1"]), holds_formula(["-8", "1-2", "it's = 1", -8]), holds_formula(["10", "-10--5"])
    (True, False, True)
    """
    found = _is_formula(_texts(values), f"^{FORMULA}")
    return bool(pc.any(found, min_count=0).as_py())


def escape(values: Iterable[object] | pa.Array) -> pa.Array:
    """Return the values with an apostrophe before each formula.

    An apostrophe is also added to a formula that already begins with an apostrophe, so that different values stay
    different.

    >>> escape(["=1+1", "'=1+1", "-8", "'tis", None]).to_pylist()
    ["'=1+1", "''=1+1", '-8', "'tis", None]
    """
    if isinstance(values, pa.Array) and pa.types.is_primitive(values.type):
        return values
    texts = _texts(values)
    formula = pc.fill_null(_is_formula(texts, f"^{APOSTROPHE}*{FORMULA}"), False)
    before, between = pa.scalar(APOSTROPHE, texts.type), pa.scalar("", texts.type)
    return pc.if_else(formula, pc.binary_join_element_wise(before, texts, between), texts)


def unescape(value: object) -> object:
    """Return the value that `escape` has changed to `value`.

    >>> [unescape(value) for value in ("'=1+1", "''=1+1", "'tis", "-8", -8)]
    ['=1+1', "'=1+1", "'tis", '-8', -8]
    """
    if isinstance(value, str) and re.match(f"{APOSTROPHE}+{FORMULA}", value):
        return value[1:]
    return value


def find_in_buckets(buckets: pd.DataFrame) -> list[str]:
    """Return the attributes in a table of buckets whose name, or one of whose values, is a formula."""
    by_attribute = buckets.groupby("attribute", sort=False)["value"]
    return [name for name, values in by_attribute if holds_formula([name, *values])]


def escape_buckets(buckets: pd.DataFrame) -> pd.DataFrame:
    """Return a table of buckets with escaped formulas; numbers stay numbers."""
    texts = {name: escape(buckets[name]).to_pylist() for name in ("attribute", "value")}
    return buckets.assign(
        **{
            name: [value if text is None else text for value, text in zip(buckets[name], made, strict=True)]
            for name, made in texts.items()
        }
    )


def name_in_file(provenance: Mapping[str, Any], name: str) -> str:
    """Return the name that a column has in the file that was written with this provenance."""
    return str(escape([name])[0]) if _is_escaped(provenance) else name


def read_unescaped(
    provenance: Mapping[str, Any],
    names: list[str],
    counted: Callable[[list[str]], tuple[pd.DataFrame, IntArray | None]],
) -> tuple[pd.DataFrame, IntArray | None]:
    """Return the result of `counted` for a file with this provenance, with all formulas restored.

    Parameters
    ----------
    provenance
        The provenance with which the file was written.
    names
        The names of the columns in the dataset.
    counted : function
        A function that receives the names in the file. It returns a DataFrame of Categoricals, and the number of
        records of each row.
    """
    cells, times = counted([name_in_file(provenance, name) for name in names])
    if _is_escaped(provenance):
        cells = cells.apply(lambda column: column.cat.rename_categories(unescape)).set_axis(names, axis="columns")
    return cells, times


def _is_escaped(provenance: Mapping[str, Any]) -> bool:
    return bool(provenance.get(FACTS, {}).get("escaped", False))


def _texts(values: Iterable[object] | pa.Array) -> pa.Array:
    """Return some values as an Arrow array of texts, with null for each value that is not a text."""
    if isinstance(values, pa.Array):
        numbers = pa.types.is_primitive(values.type)
        return pa.nulls(len(values), pa.large_string()) if numbers else values.cast(pa.large_string())
    return pa.array([value if isinstance(value, str) else None for value in values], pa.large_string())


def _is_formula(texts: pa.Array, pattern: str) -> pa.Array:

    begins = pc.match_substring_regex(texts, pattern)
    return pc.and_(begins, pc.invert(pc.match_substring_regex(texts, NUMBER)))
