"""Corrections of the texts of a column, which a description states: one spelling per value, and lost leading zeros.

The corrections apply whenever the records are read; the file of the records stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from privnb.microdata.columns import make_categorical
from privnb.runtime.lazy import pd

KEYS = ("spellings", "digits")  # the keys of a column in a description
CODE = re.compile(r"(\d+)(?:[.,]0+)?")  # programs write whole numbers as 1067.0 if a cell of the column is empty


@dataclass(frozen=True)
class Correction:
    """The correction of the texts of one column.

    Parameters
    ----------
    spellings : dict of str to str
        The text that replaces each other text; no replacement is replaced itself.
    digits : int
        The number of digits of codes; shorter codes get leading zeros. If it is 0, nothing gets zeros.
    marks : collection of str
        The texts that mark a missing value, which stay as they are.
    """

    spellings: Mapping[str, str] = field(default_factory=dict)
    digits: int = 0
    marks: Collection[str] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any], marks: Collection[str] = ()) -> Self:
        """Return the correction that the entry of a column in a description states."""
        return cls(entry.get("spellings", {}), entry.get("digits", 0), marks)

    def __bool__(self) -> bool:
        """Whether a text can change."""
        return bool(self.spellings or self.digits)

    def followed_by(self, other: Self) -> Self:
        """Return this correction and then another one as a single correction.

        >>> Correction({"f": "F"}).followed_by(Correction({"F": "female"})).spellings
        {'f': 'female', 'F': 'female'}
        """
        first = {old: other.spellings.get(new, new) for old, new in self.spellings.items()}
        return replace(self, spellings={**first, **other.spellings}, digits=other.digits or self.digits)

    def texts(self, texts: Iterable[str | None]) -> list[str | None]:
        """Return the corrected texts; None, a missing text, stays None.

        >>> Correction({"f": "F"}, digits=5).texts(["f", "1067", "1067.0", None])
        ['F', '01067', '01067', None]
        """
        return [text if text is None or text in self.marks else self._text(text) for text in texts]

    def _text(self, text: str) -> str:
        text = self.spellings.get(text, text)
        code = CODE.fullmatch(text) if self.digits else None
        return code[1].zfill(self.digits) if code else text

    def column(self, column: pd.Series) -> pd.Series:
        """Return a Categorical of texts with corrected texts."""
        corrected = make_categorical(column.cat.codes, pd.Index(self.texts(column.cat.categories), dtype=object))
        return pd.Series(corrected, column.index, name=column.name)
