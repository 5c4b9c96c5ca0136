"""Summary of a dataset before any release: its people, its values, and the people who are unique."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_target
from privnb.evaluation.results import estimate_share, estimate_share_in_classes, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.microdata import withholding
from privnb.microdata.columns import decode_column
from privnb.microdata.counts import (
    count_people_among,
    count_people_by_group,
    encode_values,
    group_codes,
    max_per_person,
    select_person_rows,
)
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.names import join_names
from privnb.runtime.progress import track
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import AttributeName, Count, validated
from privnb.sanitizers import Identity

register_measure("records", unit="records", format="{:,}")
register_measure(
    "people", sentence="This is the number of people, if people may have several records.", unit="people", format="{:,}"
)
register_measure(
    "domain_size",
    title="Different values",
    sentence="This is the number of distinct values of an attribute.",
    format="{:,}",
)
register_measure(
    "unique",
    kind="privacy",
    title="Unique people",
    sentence="This is the share of people who are singled out by a set of quasi-identifiers in the original table.",
    source="Sweeney, IJUFKS 10(5), 2002",
    unit="share of people",
)


@validated
def describe(dataset: Dataset, *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Count the records, people and distinct values of a dataset, and grade the best guess without a release.

    Parameters
    ----------
    dataset : Dataset
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows `records`, `people` (if people may have several records), `domain_size` of each attribute, and
        `prior_accuracy` of each sensitive attribute: the share of people who have the attribute's most common value.

    Examples
    --------
    >>> from privnb import describe, load
    >>> describe(load("twelve")).measure.unique().tolist()
    ['records', 'domain_size', 'prior_accuracy']
    """
    row, n = make_row_builder(dataset, Identity(), "", min_count), dataset.headcount
    rows = [row("records", len(dataset)), *([] if dataset.people is None else [row("people", n)])]
    for name in dataset.schema.published:
        size = withholding.ReportedCount(
            dataset.cells[name].nunique(dropna=False), n, rule=withholding.withhold_group_count
        )
        rows.append(row("domain_size", size, target=name))
    for name in dataset.schema.sensitive:
        commonest = int(count_people_by_group(encode_values(dataset.cells[name])[0], dataset.people).max())
        rows.append(row("prior_accuracy", estimate_share(commonest, n), target=name, better="lower"))
    return tidy(rows)


@validated
def count_people(dataset: Dataset, name: AttributeName | None = None) -> pd.Series:
    """Count the people who have each value of an attribute; numbers are grouped into about twenty equal steps.

    A person with several values counts once for each value.

    Parameters
    ----------
    dataset : Dataset
    name : str, optional
        The attribute; if None, the first numeric quasi-identifier, or else the first quasi-identifier, or else the
        first published attribute.

    Returns
    -------
    Series
        The number of people by label. Numbers are in ascending order; categories are ordered from the most to the least
        common.
    """
    if name is None:
        if not dataset.schema.published:
            raise NotForThisTable(f"'{dataset.name}' has no columns other than identifiers. Give columns other roles.")
        name = choose_target(dataset) if dataset.schema.quasi_identifiers else dataset.schema.published[0]
    column = group_records(dataset, name, 20)
    column = column.iloc[select_person_rows(dataset.people, encode_values(column)[0])]
    if not dataset.schema[name].numeric:
        counts = (
            column.value_counts().sort_index()
        )  # so that the order of the records does not decide between equal counts
        return counts.sort_values(ascending=False, kind="stable").rename("people")
    return column.value_counts(sort=False).sort_index().rename(str).rename("people")


@validated
def group_records(dataset: Dataset, name: AttributeName, about: Count = 10) -> pd.Series:
    """Return the group to which each record belongs by its value of an attribute.

    Parameters
    ----------
    dataset : Dataset
    name : str
    about : int
        The approximate number of equal steps into which numbers are grouped.

    Returns
    -------
    Series
        The groups (n,): the values of a categorical attribute, or ordered ranges of a numeric attribute, such as
        "20-29". In this order, the mark of missing numbers comes last.

    Examples
    --------
    >>> from privnb import group_records, load
    >>> sorted(group_records(load("twelve"), "age").unique())[:2]
    ['20-24', '25-29']
    """
    expect.whole("about", about, 1)
    attribute, column = dataset.schema[name], decode_column(dataset.cells[name])
    if not attribute.numeric:
        return column
    domain = attribute.numbers
    # Computed in steps of the domain, which are whole numbers, because 0.3 // 0.1 is 2.
    least = max(domain.width / domain.step / about, 1)
    power = 10 ** np.floor(np.log10(least))
    wide = int(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * 0.999))
    before = np.floor(domain.low / domain.step + ROUNDING)
    first = (np.rint((column - domain.low) / domain.step) + before) // wide * wide
    rest = domain.low - before * domain.step
    labels = {
        low: "-".join(f"{step * domain.step + rest:.10g}" for step in sorted({low, low + wide - 1}))
        for low in np.unique(first.dropna())
    }
    found = domain.marked(first.map(labels))
    order = [*labels.values(), *([domain.missing] if first.isna().any() else [])]
    return pd.Series(pd.Categorical(found, categories=order, ordered=True), name=name)


def list_subsets(names: Sequence[str]) -> list[Any]:
    """Return every subset of the names that is not empty, each as a tuple.

    For more than 10 names, return only the subsets of 1 to 3 names, the subsets of all names but one, and the set of
    all names.
    """
    sizes = range(1, len(names) + 1) if len(names) <= 10 else [1, 2, 3, len(names) - 1, len(names)]
    return [subset for size in sizes for subset in itertools.combinations(names, size)]


@validated
def measure_uniqueness(dataset: Dataset, *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Measure the share of people whom each set of quasi-identifiers singles out.

    A person with several records is singled out if any of these records is unique. A person whom a set of attributes
    singles out is also singled out by every larger set that contains these attributes. A share is therefore also
    withheld if the difference between the shares of two such sets would reveal a small count.

    Parameters
    ----------
    dataset : Dataset
    min_count : int
        A share of fewer people has bounds instead of a value, and so does a share that leaves out fewer people.

    Returns
    -------
    DataFrame
        One row `unique` (0 to 1) per set of quasi-identifiers; the column `knows` lists the attributes of the set.
    """
    row = make_row_builder(dataset, Identity(), "", min_count)
    names = dataset.schema.quasi_identifiers
    columns, subsets = {name: encode_values(dataset.cells[name]) for name in names}, list_subsets(names)
    rows, n, alone, shares = [], dataset.headcount, {}, {}
    for subset in track(subsets, "count unique people"):
        known = [columns[name] for name in subset]
        _, index = group_codes([codes for codes, _ in known], [len(values) for _, values in known])
        one = count_people_by_group(index, dataset.people)[index] == 1
        alone[subset] = count_people_among(one, dataset.people)
        who = max_per_person(one, dataset.people) > 0
        classes = index if dataset.people is None else index[np.unique(dataset.people, return_index=True)[1]]
        shares[subset] = estimate_share_in_classes(who, classes)
    hidden = withholding.suppress_sets(alone, n, min_count)
    for subset, found in shares.items():
        follows = subset in hidden and not withholding.reveals_few(alone[subset], n, min_count)
        share = np.nan if follows else found
        rows.append(row("unique", share, knows=join_names(subset), baseline=0, better="lower"))
    return tidy(rows)
