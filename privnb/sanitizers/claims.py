"""What a sanitizer says of its release, checked in the published tables before anybody gets them: no claim is believed.

A claim that does not hold, or a label that does not cover what it stands for, would not only mislead people: measures
and attacks read labels as true, so both losses and risks of such a release would come out too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from privnb.microdata.columns import plain
from privnb.microdata.counts import factorized, objects, people_among, same, tabulated_in_parts
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.hierarchy.generalization import OnALine
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, SchemaError, commonest, text
from privnb.microdata.treatment import UNTRUE, Rows
from privnb.privacy_models.base import PrivacyModel, ungraded
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd


def refusal(dataset: Any, release: Release) -> str:
    """Why a release of `dataset` is not what its provenance says, in words; an empty text where it is.

    One row per record that it says it has, and every published column; what is exact equals its original, what is
    generalized covers it; other values are as they were or `*`; buckets count the records that are in them; every
    claimed model holds in every class. The models are graded from the published tables alone. Epsilon is promised for
    noise that nobody can draw again: that, no table can show, and no more what is behind perturbed or synthetic values.
    """
    # Each may rely on those before.
    checks: tuple[Callable[[Any, Release], Iterator[str]], ...]
    checks = (_table, _promise, _untrue, _labels, _values, _buckets)
    if release.provenance.rows is Rows.NOBODY:
        checks = (_columns, _promise, _untrue)
    elif release.records is not None:
        dataset = release.originals(dataset)
    return next((reason for check in (*checks, _claims) for reason in check(dataset, release)), "")


def _table(dataset: Microdata, release: Release) -> Iterator[str]:
    if len(release.cells) != len(dataset):
        yield (
            f"the release has {len(release.cells)} rows and '{dataset.name}' {len(dataset)} records. Give every record "
            f"its row, in order; one that is suppressed has {SUPPRESSED} there"
        )
    yield from _columns(dataset, release)


def _columns(dataset: Microdata, release: Release) -> Iterator[str]:
    found, buckets = list(release.cells), release.buckets
    expected = [name for name in release.schema.published if buckets is None or name not in dataset.schema.sensitive]
    expected += [] if buckets is None else ["bucket"]
    if lost := [name for name in expected if name not in found]:
        yield f"the release lacks {lost}. Suppress a column by {SUPPRESSED}, or give it another role"
    if len(found) > len(expected):
        added = [name for name in found if name not in expected] or [name for name in found if found.count(name) > 1]
        yield f"the release has {added} besides {expected}. Leave out what is no published column"
    if unknown := [name for name in release.columns if name not in release.schema.published]:
        yield f"{unknown} should be {release.columns[unknown[0]].kind} and is no published column"


def _promise(dataset: Microdata, release: Release) -> Iterator[str]:
    facts = release.provenance
    drawn = release.treated("noisy", "synthetic")
    if facts.promise and (exact := [name for name in facts.promise.columns if name not in drawn]):
        yield f"epsilon is promised for {exact}, which have no noise"
    if facts.promise and not (expect.is_number(facts.promise.epsilon) and facts.promise.epsilon > 0):
        yield f"an epsilon of {facts.promise.epsilon} is promised, which is no positive number"
    if facts.promise and not facts.promise.columns:
        yield "epsilon is promised for no column"
    if facts.promise and facts.simulation:
        yield "epsilon is promised for noise that a seed undoes. Promise it for `rng=None` alone"


def _untrue(dataset: Microdata, release: Release) -> Iterator[str]:
    for name in release.treated(*UNTRUE):
        wrong, what = _impossible(release, name)
        if len(wrong):
            wrong = wrong.astype(object).where(wrong.notna(), "missing")
            yield (
                f"'{name}' is {release.columns[name].kind}, and {len(wrong)} of {len(release.cells)} cells are no "
                f"{what}: {commonest(wrong)}. Nobody could read it. Publish what it may hold, or labels of its "
                "hierarchy that cover the records' values"
            )


def _impossible(release: Release, name: str) -> tuple[pd.Series, str]:
    """The cells of a column that cannot be values of its attribute, and what they are not."""
    attribute, cells = release.schema[name], plain(release.cells[name])
    if not attribute.numeric:
        return attribute.public_domain.outside(cells), "value of its domain"
    if not pd.api.types.is_numeric_dtype(cells):
        return cells, "number"
    found = cells.to_numpy(dtype=float, na_value=np.nan)
    lost = np.isnan(found) & (attribute.public_domain.missing is None)
    return cells[np.isinf(found) | lost], "number"


def find_perturbed(dataset: Microdata, release: Release) -> list[str]:
    """Name the columns of a release that hold possible values, and neither the records' own nor labels that cover them.

    A sanitizer that states nothing of its columns has perturbed these. A column with other cells is left out: what is
    wrong with its labels is then said of it.
    """
    names = []
    for name in release.treated("generalized", "suppressed"):
        if name in dataset.schema.quasi_identifiers:
            number, labels = release.coded(name)
            true = bool(_covered(dataset.hierarchies[name], labels, number, dataset.codes[name]).all())
        else:
            true = not bool(_altered(dataset, release, name).any())
        names += [] if true or len(_impossible(release, name)[0]) else [name]
    return names


def _labels(dataset: Microdata, release: Release) -> Iterator[str]:
    labelled = release.treated("generalized", "suppressed")
    for name in (each for each in dataset.schema.quasi_identifiers if each in labelled):
        (number, labels), cells = release.coded(name), release.cells[name]
        if cells.dtype == object and _ways(cells.to_numpy(), number) > len(labels):
            yield (
                f"equal numbers of '{name}' are written in several ways, as 40 and 40.0 are, which would part a class "
                "in a file. Publish them as text"
            )
        covered = _covered(dataset.hierarchies[name], labels, number, dataset.codes[name])
        if not covered.all():
            lost = number[~covered]
            label, many = labels[lost[0]], np.sum(lost == lost[0])
            such = f"{len(lost)} of {len(dataset)} records have such a label of '{name}'"
            if _of_label(dataset.hierarchies[name], label, None) is None:
                yield (
                    f"'{name}' is published as '{text(label)}' for {many} records, and that is no label of its "
                    f"hierarchy; {such}. The labels are those of `dataset.hierarchies['{name}']`"
                )
                continue
            yield (
                f"'{name}' is published as '{text(label)}' for {many} records whose value that does not cover; {such}. "
                "A label covers every record that has it; a column whose values moved is named in `noisy` or "
                "`perturbed`"
            )


def _ways(cells: Array, number: IntArray) -> int:
    """In how many ways the labels of this `number` are written."""
    _, places = objects(cells)  # equal objects are written alike
    return len({*zip(number[places].tolist(), map(str, cells[places]), strict=True)})


def _covered(hierarchy: Any, labels: Array, number: IntArray, codes: IntArray) -> BoolArray:
    """Whether each record's label covers its value: boolean array (n,). `number`: which of `labels` each one has."""
    if isinstance(hierarchy, OnALine):
        first, last = np.array([_of_label(hierarchy, label, (1, 0)) for label in labels]).T
        return (first[number] <= codes) & (codes <= last[number])
    members = [_of_label(hierarchy, label, ()) for label in labels]
    sizes = [len(each) for each in members]
    pairs = np.repeat(np.arange(len(labels)), sizes) * hierarchy.size + np.concatenate(members).astype(np.int64)
    return np.isin(number * hierarchy.size + codes, pairs)


def _of_label(hierarchy: Any, label: object, nothing: Any) -> Any:
    """Which values a label covers, or the first and the last of them; `nothing` for what is no label."""
    try:
        return (hierarchy.ends if isinstance(hierarchy, OnALine) else hierarchy.covered)(text(label))
    except SchemaError:
        return nothing


def _values(dataset: Microdata, release: Release) -> Iterator[str]:
    exact = release.treated("exact")
    for name in (each for each in exact if not same(release.cells[each], dataset.cells[each])):
        here, before = (plain(each.cells[name]).reset_index(drop=True) for each in (release, dataset))
        changed = (here != before) & ~(here.isna() & before.isna())
        if changed.any():
            yield f"'{name}' should be exact, and {changed.sum()} of {len(dataset)} records have another value"
    others = release.treated("generalized", "suppressed")
    for name in (each for each in others if each not in dataset.schema.quasi_identifiers):  # of these, labels are read
        changed = _altered(dataset, release, name)
        if changed.any():
            yield (
                f"'{name}' was changed for {changed.sum()} of {len(dataset)} records and is no quasi-identifier. "
                f"Publish it as it is or as {SUPPRESSED}, or name it in `noisy` or `perturbed`"
            )


def _altered(dataset: Microdata, release: Release, name: str) -> BoolArray:
    """Which cells of a column are neither the record's own nor `*`: boolean array (n,)."""
    here, before = (np.asarray(each.cells[name], dtype=object) for each in (release, dataset))
    # A missing value is like nothing and unlike nothing, and pandas' mark of one is so without saying it.
    nothing: Any = None
    here, before = (np.where(pd.isna(cells), nothing, cells) for cells in (here, before))
    return (here != before) & (here != SUPPRESSED)


def _buckets(dataset: Microdata, release: Release) -> Iterator[str]:
    if release.buckets is None:
        return
    numbers, held = np.asarray(release.cells["bucket"]), release.buckets
    if sorted(map(str, held)) != ["attribute", "bucket", "count", "value"]:
        yield f"the buckets' table has the columns {list(held)}, not attribute, bucket, value, count"
    if not (_whole(numbers) and numbers.max() < len(numbers) and np.bincount(numbers).all()):
        yield "the buckets are not numbered 0, 1, ... without a gap"
    if unlike := sorted({*held["attribute"].unique()} ^ {*dataset.schema.sensitive}, key=str):
        yield f"the buckets' table and the sensitive attributes of '{dataset.name}' differ in {unlike}"
    if (
        not (_whole(held["bucket"]) and _whole(held["count"]) and held["bucket"].max() <= numbers.max())
        or not (held["count"] > 0).all()
    ):
        yield "the buckets' table has buckets that no record is in, or counts that are no whole numbers from 1"
    for name in dataset.schema.sensitive:
        if release.columns[name].kind == "bucketized":
            wrong = _miscounted(dataset.cells[name], numbers, held[held["attribute"] == name], dataset.times)
            if wrong:
                yield (
                    f"the buckets' table counts '{name}' otherwise than the records do in {wrong} of "
                    f"{numbers.max() + 1} buckets. Count every record of a bucket once, as its value or {SUPPRESSED}"
                )


def _whole(numbers: Any) -> bool:
    return np.issubdtype(numbers.dtype, np.integer) and numbers.min() >= 0


def _miscounted(column: pd.Series, numbers: IntArray, held: pd.DataFrame, times: IntArray | None) -> int:
    """In how many buckets the values published are not the records' own; those published as `*` may be any.

    `column`: the originals, (n,); `numbers`: each record's bucket, integer array (n,); `held`: the attribute's rows of
    the buckets' table.
    """
    codes, values = factorized(column)
    named, hidden = pd.Index(values).get_indexer(held["value"]), len(values)
    other = named < 0
    named[other] = np.where(held["value"][other] == SUPPRESSED, hidden, hidden + 1)  # the last is nobody's value
    shape, wrong = (int(numbers.max()) + 1, hidden + 2), 0
    counted = tabulated_in_parts(numbers, codes, shape, times)
    stated = tabulated_in_parts(held["bucket"].to_numpy(), named, shape, held["count"].to_numpy())
    for here, said in zip(counted, stated, strict=True):
        more = (said > here) & (np.arange(shape[1]) != hidden)
        wrong += (more.any(axis=1) | (said.sum(axis=1) != here.sum(axis=1))).sum()
    return int(wrong)


def _claims(dataset: Microdata, release: Release) -> Iterator[str]:
    for model in release.provenance.claims:
        yield from _nothing_to_grade(model, dataset, release)
        yield from broken(model, release)


def _nothing_to_grade(model: PrivacyModel, dataset: Microdata, release: Release) -> Iterator[str]:
    """Why a model cannot be kept by a release of this kind, whatever its classes are."""
    name, claimed = model.sensitive, f"{model!r} is claimed"
    if reason := ungraded(model, release):
        yield f"{claimed}, and {reason}"
    if name is not None:
        hidden = [a.name for a in release.schema.attributes if a.role in (Role.SENSITIVE, Role.NEUTRAL)]
        if release.buckets is not None:
            hidden = release.schema.sensitive  # what stands in the rows is known of everybody
        if name not in hidden:
            yield f"{claimed}, and '{name}' is no attribute that its classes can hide; those are {hidden}"
        if release.buckets is not None and (hasattr(model, "k") or model.of_sizes):
            yield f"{claimed}, and people of one bucket do not look alike, so that it has no k"
        _, values, _, times = release.counted(name)
        if lost := _suppressed(values, times) - _suppressed(dataset.cells[name], dataset.times):
            yield f"{claimed}, and {lost} records have {SUPPRESSED} as '{name}', which may stand for any value of it"


def _suppressed(values: Any, times: IntArray | None) -> int:
    return people_among((pd.Series(values) == SUPPRESSED).to_numpy(), times=times)


def broken_in_rows(release: Release, cells: pd.DataFrame, times: IntArray | None) -> Iterator[str]:
    """Why rows that were read back from the file of a release do not keep what it claims: sentences.

    Not graded are models of a population, of values in buckets, and, where a key says whose the rows are, of values:
    the file holds neither weights, nor these values, nor the key.

    Parameters
    ----------
    release : Release
    cells : DataFrame
        Its quasi-identifiers and sensitive attributes as the file has them.
    times : integer array (rows,), optional
        How often each row is there; None: once.
    """
    schema = replace(release.schema, attributes=tuple(release.schema[name] for name in cells))
    read = Release(
        table=cells, schema=schema, hierarchies=release.hierarchies, provenance=release.provenance, times=times
    )
    for model in release.provenance.claims:
        of_values = model.sensitive is not None
        lacking = of_values and (model.sensitive not in cells or release.people is not None)
        if not (lacking or hasattr(model, "population")):
            yield from broken(model, read)


def broken(model: PrivacyModel, release: Release) -> Iterator[str]:
    """Why a release does not keep a model that it claims, as its published labels have it: sentences."""
    parts, whole = model.parts(release)
    number, broken, worst = 0, 0, []
    for counts in parts:
        fails = ~model.holds(counts, whole)
        number, broken = number + len(counts), broken + fails.sum()
        worst += [model.worst(model.level(counts[fails], whole))] if fails.any() else []
    if broken:
        if release.people is not None:
            # Full domain's classes may join where labels end publicly, and a report says this: it counts nobody.
            yield (
                f"{model!r} is claimed, and classes of the published labels break it, counted in people. Raise k, or "
                "relax that model"
            )
            return
        why = (
            ". The labels cover more of the population than the groups that were counted: lower its bound, or give the "
            "attributes taxonomies, whose labels do not overlap"
        )
        yield (
            f"{model!r} is claimed, and {broken} of {number} classes of the published labels break it: the worst "
            f"reaches {model.worst(np.array(worst)):.4g}, the smallest class has "
            f"{release.people_alike.min()} records{why if hasattr(model, 'population') else ''}"
        )
