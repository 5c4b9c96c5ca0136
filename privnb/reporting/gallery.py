"""A comparison of sanitizers: their descriptions, their releases of the same people, and their losses.

The people are invented, because people of the table must not be shown.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset, Source, find_description
from privnb.evaluation.parameters import parse_numbers
from privnb.evaluation.release_measures import withhold_penalty
from privnb.evaluation.results import make_row_builder, tidy
from privnb.microdata.columns import assign_columns
from privnb.microdata.counts import count_combinations
from privnb.microdata.release import Release, sort_by_content
from privnb.microdata.schema import Attribute, Role
from privnb.microdata.treatment import KINDS, Rows
from privnb.microdata.withholding import LIMIT
from privnb.privacy_models import EntropyDiversity, KAnonymity, PrivacyModel, TCloseness
from privnb.publishing.leaks import Original, find_personal_rows, read_protected
from privnb.reporting.findings import steep_hierarchy
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import InputError, UsageError
from privnb.runtime.progress import track
from privnb.runtime.registry import first_sentence
from privnb.runtime.sentences import FullTable, Sentences, say
from privnb.runtime.validation import OneOrMore, Randomness, as_list, validated
from privnb.sanitizers import Mondrian, SanitizationError, Sanitizer
from privnb.sanitizers.catalogue import build_generalizing, title

Asked = tuple[str, float, tuple[PrivacyModel, ...]]  # the letter that varies, its value, and the models to keep


class NobodyLeft(InputError):
    """People cannot be invented, because nearly every combination of quasi-identifiers belongs to a person."""


@validated
def describe_sanitizers(sanitizers: OneOrMore[Sanitizer]) -> pd.DataFrame:
    """Return one row per sanitizer: the name, the code, and a sentence that describes the sanitizer."""
    rows = [(title(type(s).__name__), repr(s), first_sentence(type(s))) for s in as_list(sanitizers)]
    return FullTable(
        pd.DataFrame(rows, columns=["sanitizer", "written", "what it does"]).set_index("sanitizer").rename_axis(None),
        f"{len(rows)} sanitizers",
    )


@validated
def describe_provenance(release: Release) -> FullTable:
    """Return the provenance of a release as a table: the sanitizer, the promises, and the treatment of each column."""
    stated = release.provenance.public()
    rows = [(name, stated[name] or "none") for name in ("sanitizer", "claims", "promise", "rows", "use")]
    rows += [(f"column {name}", f"{how}: {KINDS[how.kind]}") for name, how in release.provenance.columns.items()]
    rows = [(name, ", ".join(each) if isinstance(each, list) else str(each)) for name, each in rows]
    return FullTable(pd.DataFrame(rows, columns=["", "value"]).set_index(""), f"{len(rows)} lines")


MOST = 100  # the largest number of invented people
SHOWN = Role.QUASI_IDENTIFIER, Role.SENSITIVE
SAME = "="  # a cell with the person's own value
ROUNDS = 100  # rounds of ten draws; the first half draws only common combinations of categories


@validated
def invent_people(dataset: Dataset, people: int = 3, *, originals: Any = (), rng: Randomness = 0) -> Any:
    """Return invented records of people who do not exist.

    Each value of a record is drawn independently from the sorted values of the attribute. Records are drawn until
    enough of them have quasi-identifiers that nobody in the table has. Because the values are sorted, the seed does not
    reveal to whom a value belonged. At first, only records are kept whose categories many people share. A number that
    few people have is replaced by the first number of its public interval.

    Parameters
    ----------
    dataset : Dataset
    people : int
        The number of people, from 1 to 100.
    originals : sequence of leaks.Original
        Further records that must not be shown, even after rare values have been hidden.
    rng : int or Generator

    Returns
    -------
    DataFrame
        The invented records, with the columns of the dataset.

    Raises
    ------
    NobodyLeft
        If too few combinations of quasi-identifiers belong to nobody.
    """
    expect.all_of("originals", originals, Original)
    if not (expect.is_whole(people) and 1 <= people <= MOST):
        raise UsageError(f"`people` must be a whole number from 1 to {MOST}; got {expect.describe_value(people)}.")
    names, shown = dataset.schema.quasi_identifiers, dataset.schema.names(*SHOWN)
    generator, kinds = np.random.default_rng(rng), [name for name in names if not dataset.schema[name].numeric]
    values = {name: _in_public(dataset, name) for name in dataset.table}
    found = dataset.table.iloc[:0]
    for turn in range(ROUNDS):
        drawn = pd.DataFrame({name: held[generator.integers(len(dataset), size=10)] for name, held in values.items()})
        index = count_combinations(pd.concat([dataset.table[names], drawn[names]])).index
        nobody = ~np.isin(index[len(dataset) :], index[: len(dataset)])
        if kinds and turn < ROUNDS / 2:
            same = count_combinations(pd.concat([dataset.table[kinds], drawn[kinds]])).index
            nobody &= np.bincount(same[: len(dataset)], minlength=same.max() + 1)[same[len(dataset) :]] >= LIMIT
        for each in (drawn, _masked(dataset, drawn[shown])):  # a masked row may belong to somebody as well
            nobody[nobody] = ~find_personal_rows(each[nobody], originals)
        found = pd.concat([found, drawn[nobody]]).drop_duplicates(names)
        if len(found) >= people:
            found = found.head(people).reset_index(drop=True)
            own = {dataset.schema.person: [f"invented {i}" for i in range(people)]} if dataset.schema.person else {}
            return assign_columns(found, own)
    raise NobodyLeft(
        f"nearly every combination of the quasi-identifiers of '{dataset.name}' belongs to somebody, so {people} "
        "people cannot be invented. Lower `people`."
    )


def _in_public(dataset: Dataset, name: str) -> Array:
    """Return the sorted values of an attribute, in which rare values are replaced, as an array (n,).

    A number that few people have is replaced by the first number of its public interval. If the domain was read from
    the records, a text that few people have is replaced by the most common text.
    """
    column, attribute = sort_by_content(dataset.table[[name]])[name].to_numpy(), dataset.schema[name]
    if not attribute.numeric:
        texts, index, people = np.unique(column.astype(str), return_inverse=True, return_counts=True)
        rare = (people < LIMIT)[index] & (attribute.domain is not None and attribute.domain.of_records)
        return np.where(rare, texts[people.argmax()], column)
    domain = attribute.numbers
    codes, index, people = np.unique(domain.codes(column), return_inverse=True, return_counts=True)
    shown = np.where(people < LIMIT, domain.interval(codes)[0], codes)
    return np.array([domain.value(code) if code <= domain.steps else np.nan for code in shown])[index]


@validated
def show_side_by_side(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], *, of: Source = "", people: int = 1, rng: Randomness = 0
) -> FullTable | Sentences:
    """Return a table of the same invented people in the releases of several sanitizers.

    The invented people are added to the table, so that each invented person is in a class with real people. An
    unchanged cell is shown as "=". A row is not shown if, by chance, only few real people have its cells.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    of : str
        The name of a dataset, as for `load`, which may have more people and other attributes than `dataset`. No row
        that could belong to one of these people is shown. If `of` is empty, only `dataset` is used.
    people, rng
        The arguments of `invent_people`.

    Returns
    -------
    FullTable or Sentences
        One row per sanitizer, or per person and sanitizer if there are several people, and one column per attribute. If
        a sanitizer cannot make a release, its row states the reason. If people cannot be invented, the result is a
        sentence.
    """
    own = Original(dataset.table[dataset.schema.published], dataset.schema.quasi_identifiers, dataset.people)
    originals = [own, *(read_protected(find_description(of))[0] if of else ())]
    try:
        persons = invent_people(dataset, people, originals=originals, rng=rng)
    except NobodyLeft as error:
        return say(f"There is no comparison of sanitizers: {error}")
    together = pd.concat([dataset.table, persons], ignore_index=True)
    anybody = [replace(each, domain=None) if each.role is Role.PERSON else each for each in dataset.schema.attributes]
    schema = replace(dataset.schema, attributes=tuple(anybody))  # invented people have keys that nobody has
    joined = Dataset(f"{dataset.name} and {people} invented people", together, schema, dataset.hierarchies)
    names, of_them = dataset.schema.names(*SHOWN), range(len(dataset), len(joined))
    written = {name: _written(dataset.schema[name], persons[name]) for name in names}
    found = {"invented": pd.DataFrame(written).set_axis(of_them)}
    for sanitizer in track(sanitizers, "compare sanitizers"):
        called = title(type(sanitizer).__name__)
        try:
            release = sanitizer.sanitize(joined, rng=1)
        except SanitizationError as error:
            why = str(error).removeprefix(repr(sanitizer)).removeprefix(" cannot be reached").lstrip(": ")
            said = {names[0]: f"not possible: {why.split('. ')[0]}"}
            found[called] = pd.DataFrame(said, index=of_them, columns=names)
            continue
        # The invented people do not make a value common.
        known = replace(release, shared=dataset.shared)
        rows = dataset.schema.marked(known.widened(known.labelled).table)
        if release.provenance.rows is Rows.SYNTHETIC:
            cells = pd.DataFrame({names[0]: "rows do not belong to people"}, index=of_them, columns=names)
        else:
            rows = rows.set_axis(range(len(rows)) if release.records is None else release.records)
            rows = rows[rows.index.isin(of_them)]
            cells = pd.DataFrame({
                name: rows[name].map(_cell) if name in rows else "bucket " + rows["bucket"].astype(str)
                for name in names
            }).reindex(of_them)  # fmt: skip
        found[called] = cells.mask(cells == found["invented"], SAME)
    table = _masked(dataset, pd.concat(found).swaplevel().sort_index(level=0, sort_remaining=False))
    lacking, few = table.isna().all(axis=1), find_personal_rows(table.fillna(""), originals)
    table[few] = ""
    table.loc[lacking | few, names[0]] = np.where(few, "not shown: few have this", "not in the sample")[lacking | few]
    table = table.fillna("").rename(lambda i: f"person {i - len(dataset) + 1}", level=0)
    table = table if people > 1 else table.droplevel(0)
    who = f"{people} invented people" if people > 1 else "An invented person"
    return FullTable(table, f"{who} under {len(sanitizers)} sanitizers")


def _masked(dataset: Dataset, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which rare values of domains that were read from the records are replaced by "rare"."""
    table = table.copy()
    for name in (name for name in table if dataset.schema[name].public_domain.of_records):
        having_it = dataset.table[name].value_counts()
        rare = {*dataset.schema[name].categories.values} - {*having_it.index[having_it >= LIMIT]}
        table[name] = table[name].mask(table[name].isin(rare), "rare")
    return table


@validated
def measure_penalties(
    dataset: Dataset,
    *,
    k: str | float = "2",
    l: str | float = "",  # noqa: E741 - the field's letter
    t: str | float = "",
) -> pd.DataFrame:
    """Measure the certainty penalty of every generalizing sanitizer by k, l (entropy) and t (equal distance).

    Parameters
    ----------
    dataset : Dataset
    k, l, t : str, int or float
        Numbers, separated by commas. The bounds l and t are set for the first sensitive attribute, together with the
        smallest k.

    Returns
    -------
    DataFrame
        Tidy results, in which `parameter` is the letter of the bound that varies. A release that cannot be made has no
        row.
    """
    bounds = list_bounds(dataset, k=k, l=l, t=t)
    runs = [(letter, value, each) for letter, value, models in bounds for each in build_generalizing(dataset, *models)]
    rows = []
    for letter, value, sanitizer in track(runs, "loss by k, l and t"):
        with contextlib.suppress(SanitizationError):
            penalty, *ends = withhold_penalty(sanitizer.sanitize(dataset, rng=1))
            row = make_row_builder(dataset, sanitizer, 1)
            varied = {"target": letter, "parameter": letter, "bound": value}
            rows.append(row("certainty_penalty", penalty, interval=ends, **varied))
    return tidy(rows)


@validated
def find_steep_hierarchy(dataset: Dataset, k: int) -> Sentences | None:
    """Return a sentence about a hierarchy that makes Mondrian lose much detail; see `findings.steep_hierarchy`.

    Parameters
    ----------
    dataset : Dataset
    k : int

    Returns
    -------
    Sentences or None
        The sentence; None if there is no such hierarchy, or if the release cannot be made.
    """
    with contextlib.suppress(SanitizationError):
        return steep_hierarchy(Mondrian(KAnonymity(k)).sanitize(dataset, rng=1))
    return None


@validated
def list_bounds(dataset: Dataset, *, k: str | float = "2", l: str | float = "", t: str | float = "") -> list[Asked]:  # noqa: E741
    """Return the bounds that `measure_penalties` sets for each sanitizer.

    Parameters
    ----------
    dataset, k, l, t
        The arguments of `measure_penalties`.

    Returns
    -------
    list of (str, number, tuple of PrivacyModel)
        The letter of the bound that varies, the value of the bound, and the models that every class must satisfy.

    Raises
    ------
    ValueError
        If a text is not a list of numbers, or if a bound is not valid.
    """
    sizes = parse_numbers("K", k, int)
    least = KAnonymity(min(sizes, default=2))
    sensitive = next(iter(dataset.schema.sensitive), None)
    found: list[Asked] = [("k", size, (KAnonymity(size),)) for size in sizes]
    if sensitive:
        found += [
            ("l", least_l, (least, EntropyDiversity(least_l, sensitive))) for least_l in parse_numbers("L", l, float)
        ]
        found += [("t", most_t, (least, TCloseness(most_t, sensitive))) for most_t in parse_numbers("T", t, float)]
    return found


def _written(attribute: Attribute, column: pd.Series) -> pd.Series:
    domain: Any = attribute.domain
    return domain.written(column) if attribute.numeric else column.astype(str)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
