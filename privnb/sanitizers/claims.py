"""Checks of a sanitizer's statements about its release against the published tables, before anybody gets these tables.

A claim that does not hold, or a label that does not cover its values, would mislead people. Such a fault would also
make the measured losses and risks too small, because measures and attacks assume that labels are true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from privnb.microdata.columns import decode_column
from privnb.microdata.counts import are_equal, count_people_among, factorize, factorize_objects, tabulate_in_parts
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.hierarchy.generalization import OnALine
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, SchemaError, describe_commonest, to_text
from privnb.microdata.treatment import UNTRUE, Rows
from privnb.privacy_models.base import PrivacyModel, why_ungraded
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd


def explain_mismatch(dataset: Any, release: Release) -> str:
    """Return the reason why a release of `dataset` does not match its provenance, or an empty text if it matches.

    A release must have the rows that its provenance states, and every published column. Exact cells must equal the
    original cells, generalized cells must cover the original values, and other cells must be the original values or
    `*`. Buckets must count the records that are in them, and every claimed model must hold in every class. The models
    are graded from the published tables alone. Epsilon may be promised only for noise that nobody can draw again. A
    table cannot show whether noise can be drawn again, and it cannot show the origin of perturbed or synthetic values.
    """
    # # Each check may rely on the checks before it.
    checks: tuple[Callable[[Any, Release], Iterator[str]], ...]
    checks = (_table, _promise, _untrue, _labels, _values, _buckets)
    if release.provenance.rows is Rows.SYNTHETIC:
        checks = (_columns, _promise, _untrue)
    elif release.records is not None:
        dataset = release.originals(dataset)
    return next((reason for check in (*checks, _claims) for reason in check(dataset, release)), "")


def _table(dataset: Microdata, release: Release) -> Iterator[str]:
    if len(release.cells) != len(dataset):
        yield (
            f"the release has {len(release.cells)} rows, and '{dataset.name}' has {len(dataset)} records. Return one "
            f"row per record, in order; the cells of a suppressed record are {SUPPRESSED}"
        )
    yield from _columns(dataset, release)


def _columns(dataset: Microdata, release: Release) -> Iterator[str]:
    found, buckets = list(release.cells), release.buckets
    expected = [name for name in release.schema.published if buckets is None or name not in dataset.schema.sensitive]
    expected += [] if buckets is None else ["bucket"]
    if lost := [name for name in expected if name not in found]:
        yield f"the release lacks {lost}. Suppress a column with {SUPPRESSED}, or give it another role"
    if len(found) > len(expected):
        added = [name for name in found if name not in expected] or [name for name in found if found.count(name) > 1]
        yield f"the release has {added} in addition to {expected}. Leave out columns that are not published"
    if unknown := [name for name in release.columns if name not in release.schema.published]:
        yield f"{unknown} should be {release.columns[unknown[0]].kind}, but is not a published column"


def _promise(dataset: Microdata, release: Release) -> Iterator[str]:
    facts = release.provenance
    drawn = release.treated("noisy", "synthetic")
    if facts.promise and (exact := [name for name in facts.promise.columns if name not in drawn]):
        yield f"epsilon is promised for {exact}, which have no noise"
    if facts.promise and not (expect.is_number(facts.promise.epsilon) and facts.promise.epsilon > 0):
        yield f"the promised epsilon must be a positive number; got {facts.promise.epsilon}"
    if facts.promise and not facts.promise.columns:
        yield "the promise of epsilon names no columns"
    if facts.promise and facts.simulation:
        yield "epsilon is promised for noise that a seed can undo. Promise it only for `rng=None`"


def _untrue(dataset: Microdata, release: Release) -> Iterator[str]:
    for name in release.treated(*UNTRUE):
        wrong, what = _impossible(release, name)
        if len(wrong):
            wrong = wrong.astype(object).where(wrong.notna(), "missing")
            yield (
                f"'{name}' is {release.columns[name].kind}, and {len(wrong)} of {len(release.cells)} cells are not a "
                f"{what}: {describe_commonest(wrong)}. Publish values of its domain, or labels of its hierarchy "
                "that cover the values of the records"
            )


def _impossible(release: Release, name: str) -> tuple[pd.Series, str]:
    """Return the cells of a column that cannot be values of its attribute, and a noun that describes correct cells."""
    attribute, cells = release.schema[name], decode_column(release.cells[name])
    if not attribute.numeric:
        return attribute.public_domain.outside(cells), "value of its domain"
    if not pd.api.types.is_numeric_dtype(cells):
        return cells, "number"
    found = cells.to_numpy(dtype=float, na_value=np.nan)
    lost = np.isnan(found) & (attribute.public_domain.missing is None)
    return cells[np.isinf(found) | lost], "number"


def find_perturbed(dataset: Microdata, release: Release) -> list[str]:
    """Return the columns with cells that are neither the original values nor labels that cover the original values.

    A sanitizer has perturbed these columns without a statement that it did so. A column is left out if some of its
    cells cannot be values of its attribute; the check of labels then reports the error.
    """
    return [*find_untrue_rows(dataset, release)]


def find_untrue_rows(dataset: Microdata, release: Release) -> dict[str, BoolArray]:
    """Return, for each column of `find_perturbed`, whether each row has such a cell, as boolean arrays (n,)."""
    found = {}
    for name in release.treated("generalized", "suppressed"):
        if name in dataset.schema.quasi_identifiers:
            number, labels = release.coded(name)
            untrue = ~_covered(dataset.hierarchies[name], labels, number, dataset.codes[name])
        else:
            untrue = _altered(dataset, release, name)
        if untrue.any() and not len(_impossible(release, name)[0]):
            found[name] = untrue
    return found


def _labels(dataset: Microdata, release: Release) -> Iterator[str]:
    labelled = release.treated("generalized", "suppressed")
    for name in (each for each in dataset.schema.quasi_identifiers if each in labelled):
        (number, labels), cells = release.coded(name), release.cells[name]
        if cells.dtype == object and _ways(cells.to_numpy(), number) > len(labels):
            yield (
                f"equal numbers of '{name}' are written in several ways, such as 40 and 40.0, which would divide a "
                "class in a file. Publish them as text"
            )
        covered = _covered(dataset.hierarchies[name], labels, number, dataset.codes[name])
        if not covered.all():
            lost = number[~covered]
            label, many = labels[lost[0]], np.sum(lost == lost[0])
            share = f"{len(lost)} of {len(dataset)} records have such a label"
            if _of_label(dataset.hierarchies[name], label, None) is None:
                yield (
                    f"'{name}' is published as '{to_text(label)}' for {many} records, which is not a label of its "
                    f"hierarchy; {share}. Use the labels of `dataset.hierarchies['{name}']`"
                )
                continue
            yield (
                f"'{name}' is published as '{to_text(label)}' for {many} records, but does not cover their values; "
                f"{share}. A label must cover the value of every record that has it; name a column with moved "
                "values in `noisy` or `perturbed`"
            )


def _ways(cells: Array, number: IntArray) -> int:
    """Return the number of different texts in which labels are written; `number` is the number of each cell's label."""
    _, places = factorize_objects(cells)  # equal objects are written in the same way
    return len({*zip(number[places].tolist(), map(str, cells[places]), strict=True)})


def _covered(hierarchy: Any, labels: Array, number: IntArray, codes: IntArray) -> BoolArray:
    """Return, as a boolean array (n,), whether each record's label, `labels[number]`, covers the record's value."""
    if isinstance(hierarchy, OnALine):
        first, last = np.array([_of_label(hierarchy, label, (1, 0)) for label in labels]).T
        return (first[number] <= codes) & (codes <= last[number])
    members = [_of_label(hierarchy, label, ()) for label in labels]
    sizes = [len(each) for each in members]
    pairs = np.repeat(np.arange(len(labels)), sizes) * hierarchy.size + np.concatenate(members).astype(np.int64)
    return np.isin(number * hierarchy.size + codes, pairs)


def _of_label(hierarchy: Any, label: object, nothing: Any) -> Any:
    """Return the values that a label covers, or the first and the last of them; return `nothing` for other texts."""
    try:
        return (hierarchy.ends if isinstance(hierarchy, OnALine) else hierarchy.covered)(to_text(label))
    except SchemaError:
        return nothing


def _values(dataset: Microdata, release: Release) -> Iterator[str]:
    exact = release.treated("exact")
    for name in (each for each in exact if not are_equal(release.cells[each], dataset.cells[each])):
        here, before = (decode_column(each.cells[name]).reset_index(drop=True) for each in (release, dataset))
        changed = (here != before) & ~(here.isna() & before.isna())
        if changed.any():
            yield f"'{name}' should be exact, but {changed.sum()} of {len(dataset)} records have another value"
    others = release.treated("generalized", "suppressed")
    for name in (
        each for each in others if each not in dataset.schema.quasi_identifiers
    ):  # `_labels` checks quasi-identifiers
        changed = _altered(dataset, release, name)
        if changed.any():
            yield (
                f"'{name}' was changed for {changed.sum()} of {len(dataset)} records, but is not a "
                f"quasi-identifier. Publish it unchanged or as {SUPPRESSED}, or name it in `noisy` or `perturbed`"
            )


def _altered(dataset: Microdata, release: Release, name: str) -> BoolArray:
    """Return, as a boolean array (n,), whether each cell of a column is neither the original cell nor `*`."""
    here, before = (np.asarray(each.cells[name], dtype=object) for each in (release, dataset))
    # NaN does not equal itself, and a comparison with the missing value of pandas is neither true nor false.
    nothing: Any = None
    here, before = (np.where(pd.isna(cells), nothing, cells) for cells in (here, before))
    return (here != before) & (here != SUPPRESSED)


def _buckets(dataset: Microdata, release: Release) -> Iterator[str]:
    if release.buckets is None:
        return
    numbers, held = np.asarray(release.cells["bucket"]), release.buckets
    if sorted(map(str, held)) != ["attribute", "bucket", "count", "value"]:
        yield f"the buckets' table must have the columns attribute, bucket, value, count; got {list(held)}"
    if not (_whole(numbers) and numbers.max() < len(numbers) and np.bincount(numbers).all()):
        yield "the buckets must be numbered 0, 1, ... without a gap"
    if unlike := sorted({*held["attribute"].unique()} ^ {*dataset.schema.sensitive}, key=str):
        yield f"the buckets' table and the sensitive attributes of '{dataset.name}' differ in {unlike}"
    if (
        not (_whole(held["bucket"]) and _whole(held["count"]) and held["bucket"].max() <= numbers.max())
        or not (held["count"] > 0).all()
    ):
        yield "the buckets' table must have counts that are whole numbers of at least 1, in buckets that have records"
    for name in dataset.schema.sensitive:
        if release.columns[name].kind == "bucketized":
            wrong = _miscounted(dataset.cells[name], numbers, held[held["attribute"] == name], dataset.times)
            if wrong:
                yield (
                    f"the counts of '{name}' in the buckets' table differ from those of the records in {wrong} of "
                    f"{numbers.max() + 1} buckets. Count every record of a bucket once, as its value or {SUPPRESSED}"
                )


def _whole(numbers: Any) -> bool:
    return np.issubdtype(numbers.dtype, np.integer) and numbers.min() >= 0


def _miscounted(column: pd.Series, numbers: IntArray, held: pd.DataFrame, times: IntArray | None) -> int:
    """Return the number of buckets in which the published values differ from the values of the records.

    A value that is published as `*` may be any value. `column`: the original values, (n,); `numbers`: the bucket of
    each record, as an integer array (n,); `held`: the rows of the buckets' table for this attribute.
    """
    codes, values = factorize(column)
    named, hidden = pd.Index(values).get_indexer(held["value"]), len(values)
    other = named < 0
    named[other] = np.where(
        held["value"][other] == SUPPRESSED, hidden, hidden + 1
    )  # the last one stands for values that no record has
    shape, wrong = (int(numbers.max()) + 1, hidden + 2), 0
    counted = tabulate_in_parts(numbers, codes, shape, times)
    stated = tabulate_in_parts(held["bucket"].to_numpy(), named, shape, held["count"].to_numpy())
    for true, published in zip(counted, stated, strict=True):
        excess = (published > true) & (np.arange(shape[1]) != hidden)
        wrong += (excess.any(axis=1) | (published.sum(axis=1) != true.sum(axis=1))).sum()
    return int(wrong)


def _claims(dataset: Microdata, release: Release) -> Iterator[str]:
    for model in release.provenance.claims:
        yield from _nothing_to_grade(model, dataset, release)
        yield from explain_broken_model(model, release)


def _nothing_to_grade(model: PrivacyModel, dataset: Microdata, release: Release) -> Iterator[str]:
    """Yield the reasons why no release of this kind can satisfy a model, whatever its classes are."""
    name, claimed = model.sensitive, f"{model!r} is claimed"
    if reason := why_ungraded(model, release):
        yield f"{claimed}, and {reason}"
    if name is not None:
        hidden = [a.name for a in release.schema.attributes if a.role in (Role.SENSITIVE, Role.NEUTRAL)]
        if release.buckets is not None:
            hidden = release.schema.sensitive  # the values in the rows are disclosed for everybody
        if name not in hidden:
            yield f"{claimed}, but its classes cannot hide '{name}'; they hide {hidden}"
        if release.buckets is not None and (hasattr(model, "k") or model.of_sizes):
            yield f"{claimed}, but people of one bucket are distinguishable, so the release has no k"
        _, values, _, times = release.counted(name)
        if lost := _suppressed(values, times) - _suppressed(dataset.cells[name], dataset.times):
            yield f"{claimed}, but '{name}' of {lost} records is {SUPPRESSED}, which may stand for any value"


def _suppressed(values: Any, times: IntArray | None) -> int:
    return count_people_among((pd.Series(values) == SUPPRESSED).to_numpy(), times=times)


def explain_broken_claims(release: Release, cells: pd.DataFrame, times: IntArray | None) -> Iterator[str]:
    """Yield sentences that explain why rows, read back from a release's file, do not satisfy the release's claims.

    Some models are not graded: models of a population, models of values in buckets, and, if there is a key of people,
    all models of values. The file contains neither weights, nor the values in buckets, nor the key.

    Parameters
    ----------
    release : Release
    cells : DataFrame
        The quasi-identifiers and sensitive attributes of the release, as in the file.
    times : integer array (rows,), optional
        The number of times that each row occurs. With None, each row occurs once.
    """
    schema = replace(release.schema, attributes=tuple(release.schema[name] for name in cells))
    read = Release(
        table=cells, schema=schema, hierarchies=release.hierarchies, provenance=release.provenance, times=times
    )
    for model in release.provenance.claims:
        of_values = model.sensitive is not None
        lacking = of_values and (model.sensitive not in cells or release.people is not None)
        if not (lacking or hasattr(model, "population")):
            yield from explain_broken_model(model, read)


def explain_broken_model(model: PrivacyModel, release: Release) -> Iterator[str]:
    """Yield sentences that explain why the published labels of a release do not satisfy a claimed model."""
    parts, whole = model.parts(release)
    number, broken, worst = 0, 0, []
    for counts in parts:
        fails = ~model.holds(counts, whole)
        number, broken = number + len(counts), broken + fails.sum()
        worst += [model.worst(model.level(counts[fails], whole))] if fails.any() else []
    if broken:
        if release.people is not None:
            # # Reports repeat this sentence, so it contains no counts of people; classes may join at the public ends of
            # labels.
            yield (
                f"{model!r} is claimed, but classes of the published labels break it, counted in people. Raise k, or "
                "relax that model"
            )
            return
        why = (
            ". The labels cover more of the population than the counted groups: lower the bound, or give the "
            "attributes taxonomies, whose labels do not overlap"
        )
        yield (
            f"{model!r} is claimed, but {broken} of {number} classes of the published labels break it: the worst "
            f"reaches {model.worst(np.array(worst)):.4g}, the smallest class has "
            f"{release.people_per_class.min()} records{why if hasattr(model, 'population') else ''}"
        )
