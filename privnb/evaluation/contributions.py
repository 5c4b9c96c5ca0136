"""The columns and values that make people unique, by their contributions to the SUDA score."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.column_distributions import group_values
from privnb.evaluation.results import Row, make_row_builder, tidy
from privnb.measures.disclosure.small_classes import sum_by_value
from privnb.measures.disclosure.suda import affordable_size, find_minimal_uniques, suda_contributions, suda_scores
from privnb.microdata.counts import count_people_among, count_people_by_group, encode_values
from privnb.microdata.schema import to_text
from privnb.microdata.withholding import LIMIT, MinCount, Revealing, reveals_few
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import optional, validated
from privnb.sanitizers import Identity

Times = Annotated[Any, optional(lambda name, value: expect.array(name, value, 1))]


class _UniqueRows(NamedTuple):
    """The distinct rows that single out a person: `rows` (u,), `scores` (u,), `contributions` (u, m), `people` (u,)."""

    rows: IntArray
    scores: FloatArray
    contributions: FloatArray
    people: IntArray | None
    max_size: int

    @classmethod
    def of(cls, columns: Sequence[IntArray], people: IntArray | None, times: IntArray | None = None) -> "_UniqueRows":
        """Return the unique rows of a table; the search covers sets of columns up to an affordable size."""
        max_size = affordable_size(len(columns[0]), len(columns))
        found = find_minimal_uniques(columns, times, people, max_size)
        scores = suda_scores(found)
        rows = np.unique(found.index, return_index=True)[1]
        rows = rows[scores[rows] > 0]
        own = None if people is None else people[rows]
        return cls(rows, scores[rows], suda_contributions(found)[rows], own, max_size)

    @property
    def shares(self) -> FloatArray:
        """Return, as a float array (u, m), each row's contribution through each column, as a share of the score."""
        return self.contributions / self.scores.sum()


@validated
def measure_contributions(dataset: Dataset, *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Measure the share of the SUDA score that comes from each quasi-identifier, and from its most exposed values.

    Parameters
    ----------
    dataset : Dataset
    min_count : int
        A share to which fewer people contribute is withheld. Values that fewer people have are merged with other
        values.

    Returns
    -------
    DataFrame
        Rows `suda_share` (0 to 1), with the quasi-identifier in `target`. A row with a `group` is about the group of
        the column's values that contributes most. There are no rows if the number of unique people is withheld.

    Examples
    --------
    >>> from privnb import load
    >>> from privnb.evaluation import measure_contributions
    >>> rows = measure_contributions(load("twelve"), min_count=2)
    >>> rows.target[rows.group == ""].tolist()
    ['age', 'house']
    """
    row, names, rows = (
        make_row_builder(dataset, Identity(), "", min_count),
        dataset.schema.quasi_identifiers,
        list[Row](),
    )
    if not names:
        return tidy(rows)
    unique = _UniqueRows.of([*dataset.codes.values()], dataset.people)
    alone = count_people_among(unique.scores > 0, unique.people)
    if not alone or reveals_few(alone, dataset.headcount, min_count):
        return tidy(rows)
    for name, shares in zip(names, unique.shares.T, strict=True):
        through = count_people_among(shares > 0, unique.people)
        rows.append(row("suda_share", Revealing(shares.sum(), [through], alone), target=name))
        groups = group_values(dataset, name, min_count)
        if groups is not None and not np.isnan(rows[-1]["value"]):  # the values of a withheld column are withheld, too
            codes, values = dataset.schema[name].coded(dataset.cells[name])
            group = groups.of(values)[codes][unique.rows]
            by_group = np.bincount(group, shares, len(groups.labels))
            most = int(by_group.argmax())
            exposed = count_people_among((group == most) & (shares > 0), unique.people)
            share = Revealing(by_group[most], [exposed], groups.people[most])
            rows.append(row("suda_share", share, target=name, group=groups.labels[most]))
    return tidy(rows)


@validated
def rank_contributions(
    table: pd.DataFrame, quasi_identifiers: Sequence[str], person: str | None = None, times: Times = None
) -> pd.DataFrame:
    """Rank the columns of a table by their contributions to the SUDA score, for the owner of the table.

    Parameters
    ----------
    table : DataFrame
        A table of n rows. Cells are compared as written, and missing cells count as equal.
    quasi_identifiers : list of str
        The columns that an adversary may know.
    person : str, optional
        The column that names the person of each record.
    times : integer array (n,), optional
        The number of records that each row represents, at least 1; if None, each row is one record.

    Returns
    -------
    DataFrame
        One row per `column`, the column with the largest share first; no rows if nobody is unique. `share` is the
        column's share of the SUDA score. `value` is the value with the largest share among the values that at least 10
        people have, or None if there is no such value; `value_share` is the share of this value. `max_size` is the
        largest number of columns in a searched set.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["f", "f", "m"], "zip": ["1", "2", "2"]})
    >>> rank_contributions(table, ["sex", "zip"])[["column", "share"]].values.tolist()
    [['sex', 0.6666666666666666], ['zip', 0.6666666666666666]]
    """
    columns = [encode_values(table[name]) for name in quasi_identifiers]
    people = None if person is None else encode_values(table[person])[0]
    unique = _UniqueRows.of([codes for codes, _ in columns], people, times)
    ranked = []
    for name, (codes, values), shares in zip(quasi_identifiers, columns, unique.shares.T, strict=True):
        number = count_people_by_group(codes, people, times=times)
        by_value = sum_by_value(shares[:, None], [codes[unique.rows]])[0]
        by_value = np.where(number[: len(by_value)] >= LIMIT, by_value, 0)
        value, value_share = None, np.nan
        if by_value.any():
            value, value_share = to_text(values[by_value.argmax()]), by_value.max()
        ranked.append((name, shares.sum(), value, value_share, unique.max_size))
    found = pd.DataFrame(ranked, columns=["column", "share", "value", "value_share", "max_size"])
    found = found.sort_values("share", ascending=False, kind="stable", ignore_index=True)
    return found if len(unique.rows) else found.iloc[:0]
