"""The family of sanitizers side by side: one release of each kind, what each publishes for the same people, and loss.

The people are made up: nobody of the table may be shown.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset, Source, find
from privnb.evaluation.parameters import numbers
from privnb.evaluation.releases import shown_penalty
from privnb.evaluation.results import row_builder, tidy
from privnb.microdata.columns import having
from privnb.microdata.counts import combinations
from privnb.microdata.release import Release, by_content
from privnb.microdata.schema import Attribute, Role
from privnb.microdata.treatment import KINDS, Rows
from privnb.microdata.withholding import LIMIT
from privnb.privacy_models import EntropyDiversity, KAnonymity, PrivacyModel, TCloseness
from privnb.publishing.leaks import Original, persons_own, protected
from privnb.reporting.findings import steep_hierarchy
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import InputError, UsageError
from privnb.runtime.family import sentence
from privnb.runtime.progress import track
from privnb.runtime.sentences import Page, Sentences, say
from privnb.runtime.validation import OneOrMore, Randomness, as_list, validated
from privnb.sanitizers import Mondrian, SanitizationError, Sanitizer
from privnb.sanitizers.catalogue import generalizing, title

Asked = tuple[str, float, tuple[PrivacyModel, ...]]  # what varies, its value, and the models to keep


class NobodyLeft(InputError):
    """Every combination of quasi-identifiers, or nearly every one, is somebody's."""


@validated
def described(sanitizers: OneOrMore[Sanitizer]) -> pd.DataFrame:
    """One row per sanitizer: its name, how it is written, and what it does in a sentence."""
    rows = [(title(type(s).__name__), repr(s), sentence(type(s))) for s in as_list(sanitizers)]
    return Page(
        pd.DataFrame(rows, columns=["sanitizer", "written", "what it does"]).set_index("sanitizer").rename_axis(None),
        f"{len(rows)} sanitizers",
    )


@validated
def provenance(release: Release) -> Page:
    """What stands beside a release, a line each: what made it, what is promised, and what was done to each column."""
    said = release.provenance.public()
    rows = [(name, said[name] or "none") for name in ("sanitizer", "claims", "promise", "rows", "use")]
    rows += [(f"column {name}", f"{how}: {KINDS[how.kind]}") for name, how in release.provenance.columns.items()]
    rows = [(name, ", ".join(each) if isinstance(each, list) else str(each)) for name, each in rows]
    return Page(pd.DataFrame(rows, columns=["", "says"]).set_index(""), f"{len(rows)} lines")


MOST = 100  # people who are made up
SHOWN = Role.QUASI_IDENTIFIER, Role.SENSITIVE
SAME = "="  # a cell as the person has it
ROUNDS = 100  # of ten draws; in the first half only of categories that many share


@validated
def made_up(dataset: Dataset, people: int = 3, *, originals: Any = (), rng: Randomness = 0) -> Any:
    """Records of persons who do not exist.

    Each value is drawn by itself from its attribute's, sorted, until nobody has the same quasi-identifiers: the seed
    alone does not say whose a value was. Those whose categories many people share come first. A number that few people
    have is shown as the first of its public interval.

    Parameters
    ----------
    dataset : Dataset
    people : int
        How many, 1 to 100.
    originals : sequence of leaks.Original
        Further records, of which nobody is shown, nor anybody whose values are so once rare ones are hidden.
    rng : int or Generator

    Returns
    -------
    DataFrame
        With the dataset's columns.

    Raises
    ------
    NobodyLeft
        Where too few combinations are nobody's.
    """
    expect.all_of("originals", originals, Original)
    if not (expect.is_whole(people) and 1 <= people <= MOST):
        raise UsageError(f"people must be a number of made-up people, 1 to {MOST}, got {expect.found(people)}.")
    names, shown = dataset.schema.quasi_identifiers, dataset.schema.names(*SHOWN)
    generator, kinds = np.random.default_rng(rng), [name for name in names if not dataset.schema[name].numeric]
    values = {name: _in_public(dataset, name) for name in dataset.table}
    found = dataset.table.iloc[:0]
    for turn in range(ROUNDS):
        drawn = pd.DataFrame({name: held[generator.integers(len(dataset), size=10)] for name, held in values.items()})
        index = combinations(pd.concat([dataset.table[names], drawn[names]])).index
        nobody = ~np.isin(index[len(dataset) :], index[: len(dataset)])
        if kinds and turn < ROUNDS / 2:
            alike = combinations(pd.concat([dataset.table[kinds], drawn[kinds]])).index
            nobody &= np.bincount(alike[: len(dataset)], minlength=alike.max() + 1)[alike[len(dataset) :]] >= LIMIT
        for each in (drawn, _masked(dataset, drawn[shown])):  # what is left of a row may be somebody's as well
            nobody[nobody] = ~persons_own(each[nobody], originals)
        found = pd.concat([found, drawn[nobody]]).drop_duplicates(names)
        if len(found) >= people:
            found = found.head(people).reset_index(drop=True)
            own = {dataset.schema.person: [f"made up {i}" for i in range(people)]} if dataset.schema.person else {}
            return having(found, own)
    raise NobodyLeft(
        f"nearly every combination of the quasi-identifiers of '{dataset.name}' belongs to somebody, so that no "
        f"{people} people can be made up."
    )


def _in_public(dataset: Dataset, name: str) -> Array:
    """The values of an attribute, sorted, array (n,); a number that few have as the first of its public interval, and a
    text that was read from the records and that few have as the commonest one.
    """
    column, attribute = by_content(dataset.table[[name]])[name].to_numpy(), dataset.schema[name]
    if not attribute.numeric:
        texts, index, people = np.unique(column.astype(str), return_inverse=True, return_counts=True)
        rare = (people < LIMIT)[index] & (attribute.domain is not None and attribute.domain.of_records)
        return np.where(rare, texts[people.argmax()], column)
    domain = attribute.numbers
    codes, index, people = np.unique(domain.codes(column), return_inverse=True, return_counts=True)
    shown = np.where(people < LIMIT, domain.interval(codes)[0], codes)
    return np.array([domain.value(code) if code <= domain.steps else np.nan for code in shown])[index]


@validated
def side_by_side(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], *, of: Source = "", people: int = 1, rng: Randomness = 0
) -> Page | Sentences:
    """What each kind of sanitizer publishes for the same made-up people.

    The people are added to the table, so that each stands in a class with real ones. Cells that are as made up say "=".
    What is left of a row may be what few real people have, by chance: it is not shown.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    of : str
        What `load` was given, whose people may be more than the dataset's, and their attributes others: nobody of them
        is shown. Empty: the dataset's own.
    people, rng
        As of `made_up`.

    Returns
    -------
    Page or Sentences
        Per person (if several) one row per kind, one column per attribute. A sanitizer that cannot do what was asked
        says so in its row. Where nobody can be made up: a sentence.
    """
    own = Original(dataset.table[dataset.schema.published], dataset.schema.quasi_identifiers, dataset.people)
    originals = [own, *(protected(find(of))[0] if of else ())]
    try:
        persons = made_up(dataset, people, originals=originals, rng=rng)
    except NobodyLeft as error:
        return say(f"Nobody is shown side by side: {error}")
    together = pd.concat([dataset.table, persons], ignore_index=True)
    anybody = [replace(each, domain=None) if each.role is Role.PERSON else each for each in dataset.schema.attributes]
    schema = replace(dataset.schema, attributes=tuple(anybody))  # whoever is made up has a key that nobody can have
    joined = Dataset(f"{dataset.name} and {people} made-up people", together, schema, dataset.hierarchies)
    names, of_them = dataset.schema.names(*SHOWN), range(len(dataset), len(joined))
    written = {name: _written(dataset.schema[name], persons[name]) for name in names}
    found = {"made up": pd.DataFrame(written).set_axis(of_them)}
    for sanitizer in track(sanitizers, "side by side"):
        called = title(type(sanitizer).__name__)
        try:
            release = sanitizer.sanitize(joined, rng=1)
        except SanitizationError as error:
            why = str(error).removeprefix(repr(sanitizer)).removeprefix(" cannot be reached").lstrip(": ")
            said = {names[0]: f"not possible: {why.split('. ')[0]}"}
            found[called] = pd.DataFrame(said, index=of_them, columns=names)
            continue
        # Who is made up makes no value common.
        known = replace(release, shared=dataset.shared)
        rows = dataset.schema.marked(known.widened(known.labelled).table)
        if release.provenance.rows is Rows.NOBODY:
            cells = pd.DataFrame({names[0]: "its rows are nobody's"}, index=of_them, columns=names)
        else:
            rows = rows.set_axis(range(len(rows)) if release.records is None else release.records)
            rows = rows[rows.index.isin(of_them)]
            cells = pd.DataFrame({
                name: rows[name].map(_cell) if name in rows else "bucket " + rows["bucket"].astype(str)
                for name in names
            }).reindex(of_them)  # fmt: skip
        found[called] = cells.mask(cells == found["made up"], SAME)
    table = _masked(dataset, pd.concat(found).swaplevel().sort_index(level=0, sort_remaining=False))
    lacking, few = table.isna().all(axis=1), persons_own(table.fillna(""), originals)
    table[few] = ""
    table.loc[lacking | few, names[0]] = np.where(few, "not shown: few have this", "not in the sample")[lacking | few]
    table = table.fillna("").rename(lambda i: f"person {i - len(dataset) + 1}", level=0)
    table = table if people > 1 else table.droplevel(0)
    who = f"{people} made-up people" if people > 1 else "A made-up person"
    return Page(table, f"{who} under {len(sanitizers)} sanitizers")


def _masked(dataset: Dataset, table: pd.DataFrame) -> pd.DataFrame:
    """A table of the columns that are `SHOWN`, without values that were read from the records and that few have."""
    table = table.copy()
    for name in (name for name in table if dataset.schema[name].public_domain.of_records):
        having_it = dataset.table[name].value_counts()
        rare = {*dataset.schema[name].categories.values} - {*having_it.index[having_it >= LIMIT]}
        table[name] = table[name].mask(table[name].isin(rare), "of few people")
    return table


@validated
def losses(dataset: Dataset, *, k: str | float = "2", l: str | float = "", t: str | float = "") -> pd.DataFrame:  # noqa: E741 - the field's letter
    """The certainty penalty of every generalizing sanitizer by k, by l (entropy) and by t (equal distance).

    Parameters
    ----------
    dataset : Dataset
    k, l, t : str, int or float
        Numbers separated by commas; l and t are for the first sensitive attribute, together with the smallest k.

    Returns
    -------
    DataFrame
        Tidy results, whose `parameter` is the letter that varies. What cannot be reached has no row.
    """
    bounds = asked(dataset, k=k, l=l, t=t)
    runs = [(letter, value, each) for letter, value, models in bounds for each in generalizing(dataset, *models)]
    rows = []
    for letter, value, sanitizer in track(runs, "loss by k, l and t"):
        with contextlib.suppress(SanitizationError):
            penalty, *ends = shown_penalty(sanitizer.sanitize(dataset, rng=1))
            row = row_builder(dataset, sanitizer, 1)
            varied = {"target": letter, "parameter": letter, "bound": value}
            rows.append(row("certainty_penalty", penalty, interval=ends, **varied))
    return tidy(rows)


@validated
def steep(dataset: Dataset, k: int) -> Sentences | None:
    """Whether a hierarchy is why Mondrian loses much, and which: see `findings.steep_hierarchy`.

    Parameters
    ----------
    dataset : Dataset
    k : int

    Returns
    -------
    Sentences or None
        None where no hierarchy is, and where there is no such release.
    """
    with contextlib.suppress(SanitizationError):
        if found := steep_hierarchy(Mondrian(KAnonymity(k)).sanitize(dataset, rng=1)):
            return say(str(found))
    return None


@validated
def asked(dataset: Dataset, *, k: str | float = "2", l: str | float = "", t: str | float = "") -> list[Asked]:  # noqa: E741
    """What `losses` asks of each sanitizer.

    Parameters
    ----------
    dataset, k, l, t
        As of `losses`.

    Returns
    -------
    list of (str, number, tuple of PrivacyModel)
        The letter that varies, its value, and the models to keep.

    Raises
    ------
    ValueError
        For a text that is no list of numbers, and for a bound that means nothing.
    """
    sizes = numbers("K", k, int)
    least = KAnonymity(min(sizes, default=2))
    sensitive = next(iter(dataset.schema.sensitive), None)
    found: list[Asked] = [("k", size, (KAnonymity(size),)) for size in sizes]
    if sensitive:
        found += [("l", least_l, (least, EntropyDiversity(least_l, sensitive))) for least_l in numbers("L", l, float)]
        found += [("t", most_t, (least, TCloseness(most_t, sensitive))) for most_t in numbers("T", t, float)]
    return found


def _written(attribute: Attribute, column: pd.Series) -> pd.Series:
    domain: Any = attribute.domain
    return domain.written(column) if attribute.numeric else column.astype(str)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
