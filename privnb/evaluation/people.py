"""What is known of a dataset's people before any release: how many, of which values, and who is unique."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number
from privnb.evaluation.results import guessed, row_builder, share_in_classes, tidy
from privnb.measures.base import state
from privnb.microdata import withholding
from privnb.microdata.columns import plain
from privnb.microdata.counts import coded, distinct_codes, most_of_people, once_each, people_among, people_in
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.names import name_list
from privnb.runtime.progress import track
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import AttributeName, Count, validated
from privnb.sanitizers import Identity

state("records", unit="records", format="{:,}")
state("people", sentence="Whose records they are, where people may have several.", unit="people", format="{:,}")
state("domain_size", title="Different values", sentence="Distinct values of an attribute.", format="{:,}")
state(
    "unique",
    kind="privacy",
    title="Unique people",
    sentence="Share of people whom a set of quasi-identifiers singles out in the original.",
    source="Sweeney, IJUFKS 10(5), 2002",
    unit="share of people",
)


@validated
def describe(dataset: Dataset, *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """Records, people where they may have several, distinct values of each attribute, and the best guess of each
    sensitive attribute without a release.

    Parameters
    ----------
    dataset : Dataset
    fewest : int
        Counts below are withheld.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    row, n = row_builder(dataset, Identity(), "", fewest), dataset.headcount
    rows = [row("records", len(dataset)), *([] if dataset.people is None else [row("people", n)])]
    for name in dataset.schema.published:
        size = withholding.Counted(dataset.cells[name].nunique(dropna=False), n, rule=withholding.known)
        rows.append(row("domain_size", size, target=name))
    for name in dataset.schema.sensitive:
        commonest = int(people_in(coded(dataset.cells[name])[0], dataset.people).max())
        rows.append(row("prior_accuracy", guessed(commonest, n), target=name, better="lower"))
    return tidy(rows)


@validated
def people_by(dataset: Dataset, name: AttributeName | None = None) -> pd.Series:
    """How many people have each value of `name`, numbers in some twenty equal steps; one with several counts in each.

    Parameters
    ----------
    dataset : Dataset
    name : str, optional
        None: the first numeric quasi-identifier, or else the first one, or else the first attribute that is published.

    Returns
    -------
    Series
        People by label: numbers in their order, categories from the commonest on.
    """
    if name is None:
        if not dataset.schema.published:
            raise NotForThisTable(f"'{dataset.name}' has no column but identifiers. Give the others roles.")
        name = first_number(dataset) if dataset.schema.quasi_identifiers else dataset.schema.published[0]
    column = groups(dataset, name, 20)
    column = column.iloc[once_each(dataset.people, coded(column)[0])]
    if not dataset.schema[name].numeric:
        counts = column.value_counts().sort_index()  # of equals not the one that a record names first
        return counts.sort_values(ascending=False, kind="stable").rename("people")
    return column.value_counts(sort=False).sort_index().rename(str).rename("people")


@validated
def groups(dataset: Dataset, name: AttributeName, about: Count = 10) -> pd.Series:
    """The group of each record by an attribute.

    Parameters
    ----------
    dataset : Dataset
    name : str
    about : int
        How many equal steps numbers have, roughly.

    Returns
    -------
    Series
        (n,): the category, or of numbers a step such as "20-29", ordered; the mark of a missing one comes last.
    """
    expect.whole("about", about, 1)
    attribute, column = dataset.schema[name], plain(dataset.cells[name])
    if not attribute.numeric:
        return column
    domain = attribute.numbers
    # In steps of the domain, which are whole numbers: 0.3 // 0.1 is 2.
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


def subsets_of(names: Sequence[str]) -> list[Any]:
    """Every set of the names; of more than 10 only those of 1 to 3, and all: the sets double with each name."""
    sizes = range(1, len(names) + 1) if len(names) <= 10 else [1, 2, 3, len(names)]
    return [subset for size in sizes for subset in itertools.combinations(names, size)]


@validated
def uniqueness(dataset: Dataset, *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """Share of people whom a set of quasi-identifiers singles out, for every set: one with several records by any.

    Who stands out by some attributes does so by more: a share has neither value nor bounds where another set's would
    tell too few by it.

    Parameters
    ----------
    dataset : Dataset
    fewest : int
        A share of fewer people, or of all but so few, has no value, only bounds.

    Returns
    -------
    DataFrame
        Rows `unique` (0 to 1), one per set, which stands in `knows`.
    """
    row = row_builder(dataset, Identity(), "", fewest)
    names = dataset.schema.quasi_identifiers
    columns, subsets = {name: coded(dataset.cells[name]) for name in names}, subsets_of(names)
    rows, n, alone, shares = [], dataset.headcount, {}, {}
    for subset in track(subsets, "who is unique"):
        known = [columns[name] for name in subset]
        _, index = distinct_codes([codes for codes, _ in known], [len(values) for _, values in known])
        one = people_in(index, dataset.people)[index] == 1
        alone[subset] = people_among(one, dataset.people)
        who = most_of_people(one, dataset.people) > 0
        classes = index if dataset.people is None else index[np.unique(dataset.people, return_index=True)[1]]
        shares[subset] = share_in_classes(who, classes)
    hidden = withholding.suppress_sets(alone, n, fewest)
    for subset, found in shares.items():
        follows = subset in hidden and not withholding.tells(alone[subset], n, fewest)
        share = np.nan if follows else found
        rows.append(row("unique", share, knows=name_list(subset), baseline=0, better="lower"))
    return tidy(rows)
