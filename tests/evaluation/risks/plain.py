"""The risks again by a second path: loops over a small table, cell by cell, and nothing of the package that scores."""

from collections import Counter
from functools import cache
from math import exp

import pandas as pd

from privnb.evaluation.risks.density import MAX_WIDTHS, OTHER_DEGREE, UNSEEN_PEOPLE
from privnb.microdata.hierarchy import flat
from privnb.microdata.treatment import Unreadable


def holds(release, name, cell, value):
    """Whether a released cell is true of a value."""
    hierarchy = release.hierarchies.get(name) or flat(release.schema[name])
    return _meet(
        hierarchy,
        release.schema[name].numeric,
        *(each if isinstance(each, str) else f"{each:g}" for each in (cell, value)),
    )


@cache
def _meet(hierarchy, numeric, cell, value):
    if numeric:
        low, high = hierarchy.bounds(cell)
        return low <= float(value) <= high
    return not {*hierarchy.covered(cell)}.isdisjoint(hierarchy.covered(value))


def fitting(release, known, columns):
    """The positions of the released rows that fit what is known, a Series; of those the nearest in moved columns."""
    table, moved = release.table, release.treated("noisy", "perturbed", "synthetic")
    rows = range(len(table))
    for name in columns:
        if name not in moved:
            cells = table[name].tolist()
            rows = [place for place in rows if holds(release, name, cells[place], known[name])]
    by = {name: table[name].tolist() for name in columns if name in moved}
    if not by or not rows:
        return list(rows)
    far = {place: sum(apart(release, name, by[name][place], known[name]) for name in by) for place in rows}
    least = min(far.values())
    return [place for place in rows if far[place] <= least + 1e-9]


def apart(release, name, cell, value):
    domain = release.schema[name].domain
    if release.schema[name].numeric:
        return abs(float(cell) - float(value)) / (domain.high - domain.low)
    return 0.0 if cell == value else 1.0


def identity(dataset, release):
    """How likely each person is linked, of tables without a key: Series by record. Where equal records are published
    alike, the rows are those with the labels of the person's own row."""
    columns, found = dataset.schema.quasi_identifiers, {}
    records = range(len(dataset)) if release.records is None else release.records
    alike = release.provenance.equal_records_alike and not {*columns} & {*release.treated("noisy", "perturbed")}
    labels = [tuple(row) for row in release.table[columns].astype(str).to_numpy()] if alike else []
    for place, record in enumerate(records):
        if alike:
            rows = [other for other, label in enumerate(labels) if label == labels[place]]
        else:
            rows = fitting(release, dataset.table.iloc[record], columns)
        found[int(record)] = (place in rows) / max(len(rows), 1)
    return pd.Series(found).sort_index()


def singled_out(dataset, release):
    """1 of each person whose combination is theirs alone in the table and stands in a row of nobody's: Series."""
    columns = dataset.schema.quasi_identifiers
    own, rows = (
        [tuple(each if isinstance(each, str) else f"{each:g}" for each in row) for row in table[columns].to_numpy()]
        for table in (dataset.table, release.table)
    )
    return pd.Series([float(own.count(each) == 1 and each in rows) for each in own])


def guessed(dataset, release, name):
    """How likely each person's sensitive value is the most common of their class or bucket: Series by record."""
    columns, found = dataset.schema.quasi_identifiers, {}
    if release.buckets is None:
        cells = [tuple(release.table[c].iloc[i] for c in columns) for i in range(len(release.table))]
        held = {}
        for cell, value in zip(cells, release.table[name], strict=True):
            held.setdefault(cell, []).append(value)
    else:
        cells, held = list(release.table["bucket"]), {}
        for each in release.buckets[release.buckets["attribute"] == name].itertuples():
            held.setdefault(each.bucket, []).extend([each.value] * each.count)
    records = range(len(dataset)) if release.records is None else release.records
    for cell, record in zip(cells, records, strict=True):
        times = pd.Series(held[cell]).value_counts()
        best = list(times.index[times == times.max()])
        found[int(record)] = (dataset.table[name].iloc[record] in best) / len(best)
    return pd.Series(found).sort_index()


def guessed_of_the_nearest(dataset, release, name):
    """How likely each person's sensitive value is the most common of the released rows that fit them best: Series by
    record."""
    columns, found, values = dataset.schema.quasi_identifiers, {}, release.table[name].tolist()
    for record in range(len(dataset)) if release.records is None else release.records:
        known = dataset.table.iloc[record]
        times = pd.Series([values[place] for place in fitting(release, known, columns)]).value_counts()
        best = list(times.index[times == times.max()])
        found[int(record)] = (known[name] in best) / max(len(best), 1)
    return pd.Series(found).sort_index()


def nearer(dataset, release, name, guesses):
    """Whose guess of a number is nearer to the truth than what was released of them: a list of bool."""
    hierarchy, found = release.hierarchies.get(name), []
    step = release.schema[name].domain.step

    def distance(cell, true, wrong):
        if not isinstance(cell, str):
            return abs(float(cell) - true)
        low, high = hierarchy.bounds(cell)
        return high - low + step if low <= true <= high else wrong

    for guess, cell, true in zip(guesses, release.table[name], dataset.table[name], strict=True):
        # Of two labels that are wrong none is nearer; a wrong one is farther than every right one.
        given, reached = distance(cell, float(true), 1e9), distance(guess, float(true), 1e10)
        found.append(reached < given)
    return found


def size(release, name, cell):
    """How many values a released label covers."""
    attribute = release.schema[name]
    hierarchy = release.hierarchies.get(name) or flat(attribute)
    if attribute.numeric:
        low, high = hierarchy.bounds(cell if isinstance(cell, str) else f"{cell:g}")
        return high - low + 1
    return len(hierarchy.covered(cell))


def covers(release, name, row, value):
    """How far a released row covers a value in one column, and how many values it stands for there: two numbers."""
    kind, attribute, law = release.columns[name].kind, release.schema[name], release.columns[name].law
    if kind == "bucketized":
        held = release.buckets[(release.buckets.attribute == name) & (release.buckets.bucket == row["bucket"])]
        return held["count"][held.value == value].sum() / held["count"].sum(), 1
    if kind not in ("noisy", "perturbed", "synthetic"):
        return float(holds(release, name, row[name], value)), size(release, name, row[name])
    if attribute.numeric:
        column = release.table[name].astype(float)
        width = _said(lambda: law.variance**0.5) if law else None
        width = 1.06 * column.std(ddof=0) * len(column) ** -0.2 if width is None else width
        far = abs(float(value) - float(row[name])) / max(width, attribute.domain.step / 2)
        return (exp(-(far**2) / 2) if far <= MAX_WIDTHS else 0.0), 1
    values = list(attribute.domain.values)
    table = _said(lambda: law.transition(len(values))) if law and law.together is None else None
    if table is None:
        degrees = {each: 1.0 if each == row[name] else OTHER_DEGREE for each in values}
    else:
        column = table[:, values.index(row[name])]
        degrees = dict(zip(values, column / column.max(), strict=True))
    return degrees[value], sum(degrees.values())


def _said(closed_form):
    """What a law says, or None where it has no such form."""
    try:
        return closed_form()
    except Unreadable:
        return None


def _kept(release, name):
    return "bucket" if release.columns[name].kind == "bucketized" else name


def how_much_denser(release, records, others):
    """How much more densely a release covers records than other people do who are not in it: a list of numbers.

    Both are DataFrames of the columns that count.
    """
    kept = [*dict.fromkeys(_kept(release, name) for name in records.columns)]
    rows, known = release.table[kept].to_dict("records"), {}

    def covered(row, record):
        found = 1.0
        for name in records.columns:
            asked = name, row[_kept(release, name)], record[name]
            if asked not in known:
                known[asked] = covers(release, name, row, record[name])
            found *= known[asked][0]
        return found

    # Equal rows count others once: how many of them the row covers, and `FEW` that nobody has seen.
    beside = others.to_dict("records")
    times = Counter(tuple(row.items()) for row in rows)
    seen = {own: sum(covered(dict(own), each) for each in beside) + UNSEEN_PEOPLE for own in times}
    found = []
    for record in records.to_dict("records"):
        inside = outside = 0.0
        for own, count in times.items():
            degree = covered(dict(own), record)
            for name in records.columns:
                degree /= known[name, dict(own)[_kept(release, name)], record[name]][1]
            inside, outside = inside + count * degree, outside + seen[own] * degree
        found.append(inside / len(rows) / (outside / len(beside)) if outside else 0.0)
    return found
