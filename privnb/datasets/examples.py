"""Examples of a column that are no person's: values that ten people share, or patterns of letters and digits."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from privnb.datasets.column_values import Values
from privnb.microdata.counts import people_in
from privnb.microdata.withholding import LIMIT
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import shown

SHOWN, LONGEST = 3, 24  # examples of a column, and letters of each


def examples(column: pd.Series, values: Values, *, hidden: bool, people: IntArray | None = None) -> str:
    """The commonest values of a column, or, where ten people share none, their commonest patterns.

    Parameters
    ----------
    column : Series
        A Categorical of texts.
    values : Values
        Of the same column.
    hidden : bool
        Whether only patterns are shown, since these values name people.
    people : integer array (n,), optional
        Whose each record is, from 0; None: each is another person's.

    Returns
    -------
    str
        At most three; empty where ten people share not even a pattern.
    """
    texts = values.texts[np.isin(values.texts.index, column.cat.codes)]  # of a sample, those that occur
    for form in (masked, shortly) if hidden else (str, masked, shortly):
        number, distinct = pd.factorize(texts.map(form))
        place = np.full(len(column.cat.categories) + 1, -1)  # the last is that of a missing value
        place[texts.index] = number
        groups = place[column.cat.codes]
        own = None if people is None else people[groups >= 0]
        found = pd.Series(people_in(groups[groups >= 0], own, len(distinct)), distinct)
        if (shared := found[found >= LIMIT].nlargest(SHOWN)).size:
            return shown(", ".join(text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in shared.index))
    return ""


def masked(text: str) -> str:
    """A pattern of a text.

    >>> masked("Main St. 12b"), shortly("Main St. 12b")
    ('Aaaa Aa. 99a', 'Aa Aa. 9a')
    """
    text = re.sub(r"[^\W\d_]", lambda letter: "A" if letter[0].isupper() else "a", text)
    return re.sub(r"[^\w\s.,:;@/+-]", "?", re.sub(r"\d", "9", text))


def shortly(text: str) -> str:
    """The same, of equal letters in a row one."""
    return re.sub(r"([aA9])\1+", r"\1", masked(text))
