"""From file to file: a release of a table of any length, whole or not at all, in the memory that it is given.

Sanitizers that work on combinations need no more of the records than how many have each. So an engine counts them, the
sanitizer is given the counts, its release is checked as every release is, and each row is written as often as it
occurs.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privnb.datasets import description, draft
from privnb.datasets.dataset import Chosen, check_sum, data_files, find, in_role
from privnb.microdata.release import Release
from privnb.microdata.schema import Categories, Role, SchemaError
from privnb.microdata.treatment import KINDS, UNTRUE
from privnb.publishing import in_parts, leaks, of_counts
from privnb.publishing.codebook import Codebook, Facts, codebook
from privnb.publishing.gate import Rule, check_allow, gate
from privnb.publishing.in_words import readings, sensitive_names
from privnb.publishing.job import (
    Job,
    Made,
    Model,
    Opened,
    Outside,
    Study,
    arrow_type,
    copies,
    own_cells,
    taking,
)  # fmt: skip
from privnb.publishing.lineage import MACHINE, MADE, Run, python_call
from privnb.runtime import progress, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import OutputExistsError, UsageError
from privnb.runtime.notices import Notice
from privnb.runtime.validation import Seed, validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import engine, long_tables, reading, spreadsheets, text_files, writing
from privnb.tables.bounds import FACTS, Bounded
from privnb.tables.long_tables import File, Memory

if TYPE_CHECKING:
    import pyarrow as pa

FIGURES = 7  # of a number that is looked for in what stands beside a release


Beside = Callable[[Path, Made, Release], Mapping[str, str]]


# The rows of a release as `writing.write` takes them, last how many there are where they were not counted.
Rows = tuple[writing.Columns, IntArray | None, Iterator[tuple[IntArray, list[Any]]] | None, dict[str, Any], int | None]


@validated
def sanitize(
    source: validation.Path,
    model: Model,
    out: validation.Path,
    *,
    algorithm: str = "Mondrian",
    dataset: str | os.PathLike[str] | None = None,
    study: Study = None,
    memory: str = "2GB",
    beside: Beside | None = None,
    sample: Seed = 0,
    spreadsheet_safe: bool = False,
    roles: Mapping[str, Role] | None = None,
    rule: Rule | None = None,
    allow: str | None = None,
    encoding: str | None = None,
    outside: Outside = "refuse",
    bounds: bool = False,
    force: bool = False,
    rehearsal: bool = False,
    call: str = "",
) -> Made:
    """Make a release of a table of any length, from file to file.

    Parameters
    ----------
    source : str or path-like
        A CSV or Parquet file, a folder of such parts, or the name of a described dataset.
    model : str or Sanitizer
        What its classes keep, `"k=10, t=0.2:salary"`, as `in_words.asked` reads it; or a sanitizer.
    out : str or path-like
        A file that ends in .parquet or .csv, or a folder. Its provenance is written beside it.
    algorithm : str
        The class of the sanitizer that keeps `model`, or its title: "local recoding".
    dataset : str or path-like, optional
        The dataset whose description says what the columns of a file are.
    study : str, optional
        As in `load`.
    memory : str
        What the whole may take at most, such as "800MB" or "2GB".
    beside : function, optional
        `beside(made, written, release)`: what else stands beside the file, texts by their endings, asked when it is
        whole and nobody else sees it: its path, a Made, a Release of it. What it raises leaves nothing at `out`.
    sample : int
        Of how many records the release is, drawn at random, if its sanitizer takes up each of them; 0: of all.
    spreadsheet_safe : bool
        Whether an apostrophe is put before each text in a CSV file that a spreadsheet would run as a formula.
    roles : dict of str to Role, optional
        As in `load`.
    rule : Rule, optional
        What a policy asks of a release that leaves; None: what its models promise.
    allow : str, optional
        The owner's reason for a release that the gate refuses; provenance and output repeat it.
    encoding : str, optional
        Of text files that are not UTF-8 and that no description is of; None: the one that is proposed, if no other one
        fits as well.
    outside : str
        What becomes of values outside of a described domain, as in `load`; provenance and output say so.
    bounds : bool
        Whether labels of numbers are written as two columns of numbers: `age` as `age_low` and `age_high`.
    force : bool
        Whether the release replaces one that is at `out`, with all that stands beside it.
    rehearsal : bool
        Whether the release does not leave, and is made for its card alone: its provenance has the gate's verdict,
        refused or not. `out` is then a place that nobody keeps.
    call : str
        How the release was asked for, without folders, for its provenance; empty: this call in Python.

    Returns
    -------
    Made

    Raises
    ------
    SanitizationError
        As in `Sanitizer.sanitize`, and `gate.Refused` for a release that may not leave.
    SchemaError
        For a table that its description does not fit, or of more combinations than the memory holds.
    OSError
        For a file that cannot be read or written; nothing is left of it.
    """
    run = Run(call or _in_python(locals()), Path(source).name)
    allow = check_allow(allow) or None
    out = writing.output(out, spreadsheet_safe=spreadsheet_safe, force=force)
    given = Memory.of(memory)
    with writing.staged(out) as folder:
        scratch = folder / "engine"
        settings = given.counting(scratch)
        chosen, files, guessed = _described(source, model, dataset, study, roles, encoding, folder, settings)
        renamed = chosen.renamed
        there = [renamed.get(name, name) for name in long_tables.columns(files)] if outside != "refuse" else []
        plain = lambda names: partial(long_tables.opened, files, names, renamed)  # noqa: E731
        chosen, beyond = taking(chosen, outside, there, plain, given, scratch)

        def opened(names: list[str]) -> Opened:
            return partial(long_tables.opened, files, names, renamed, complete=chosen.marks_where("drop"))

        if force:
            _keep_inputs(out, [*(file.path for file in files), Path(source)])
        job = Job.of(chosen, model, algorithm, given, opened, scratch)
        before = [_fingerprint(file.path) for file in files]
        for file in files:
            if "sha256" in file.entry:
                check_sum(file.entry, description.checksum(file.path))
        made = folder / "release" / out.name
        made.parent.mkdir()  # of its own: whatever it is called, it is no file of the work
        with job.counting(held=True, complete=None) as table:
            read = table.record_count()
            table.check()
        long_tables.check_count(files, read)
        doubled = _copies(job, files)
        job.check_gaps(read)
        made_so = _of_counts(job, bounds) if job.sanitizer.by_combinations else _in_parts(job, folder, sample, bounds)
        release, seen, rows, bounded = made_so
        with progress.step("asking the gate"):
            verdict = gate(seen.release, rule=rule, beside=seen.beside, allow=allow)
        if not rehearsal:
            verdict.check()
        with writing.reported(out):
            held = writing.write(made, *rows, spreadsheet_safe=spreadsheet_safe)
        if [_fingerprint(file.path) for file in files] != before:
            raise SchemaError(f"{source} was changed while it was read. Nothing is written: try again.")
        formulas = held.formulas.with_buckets(release.buckets, spreadsheet_safe)
        remarks = (*doubled, *guessed, *readings(model, job.sanitizer), *_bounds_said(bounded))
        more = {} if rows[-1] is None else {"records": rows[-1]}
        written = Made.of(
            job, release, verdict, remarks, formulas, outside=beyond, made=run.facts(made), path=out, **more
        )
        written.provenance["records_read"] = read
        if files[0].layout and files[0].layout.is_proposed:
            written.provenance["encoding"] = f"{files[0].layout.encoding}, proposed"
        if bounded:
            written.provenance[FACTS] = _bounds_facts(bounded, spreadsheet_safe)
        book = _codebook(job, written, seen.release, held, bounded, made, spreadsheet_safe)
        written = written.with_notes(book.notices)
        texts = {writing.FACTS: json.dumps(written.provenance, indent=1) + "\n", **book.texts}
        if written.buckets is not None:
            buckets = spreadsheets.escaped_buckets(written.buckets) if spreadsheet_safe else written.buckets
            texts[writing.BUCKETS] = buckets.to_csv(index=False)
        _refuse_names(job, files, texts[writing.FACTS], book.words(_public(job, held)))
        if beside is not None:
            for ending, content in texts.items():
                made.with_name(made.name + ending).write_text(content, encoding="utf-8")
            texts |= beside(made, written, release)
        sources = [file.path for file in files] + [Path(source)] * Path(source).is_dir()
        writing.finish(made, out, texts, sources, force=force)
    return written


def _in_python(given: Mapping[str, Any]) -> str:
    """Return the call of `sanitize` with these arguments, without folders."""
    paths = {name: Path(given[name]) for name in ("source", "out", "dataset") if given[name] is not None}
    named = {name: value for name, value in given.items() if not callable(value) and not isinstance(value, Rule)}
    return f"privnb.{python_call(sanitize, named | paths)}"


def _keep_inputs(out: Path, inputs: Sequence[Path]) -> None:
    """Raise OutputExistsError if what is replaced at `out` is an input, or holds one."""
    there = [each.resolve() for each in (out, *writing.beside(out))]
    for path in (each.resolve() for each in inputs if each.exists()):
        if path in there or out.resolve() in path.parents:
            raise OutputExistsError(
                f"{out} is what the release is made of, and `force` does not replace it. Give another name."
            )


def _bounds_facts(bounded: Mapping[str, Bounded], spreadsheet_safe: bool) -> dict[str, dict[str, Any]]:
    """Return what a provenance says of columns that are two in the file, by their names in the file."""

    def in_file(name: str) -> str:
        return str(spreadsheets.escaped([name])[0]) if spreadsheet_safe else name

    ends = {name: dict(zip(("low", "high"), map(in_file, own.names), strict=True)) for name, own in bounded.items()}
    return {in_file(name): own.facts | ends[name] for name, own in bounded.items()}


def _bounds_said(bounded: Mapping[str, Bounded]) -> list[Notice]:
    """Return which columns are two in the file, a sentence; none where none are."""
    said = "; ".join(f"{name} as {' and '.join(own.names)}" for name, own in bounded.items())
    return [Notice(f"Labels of numbers are written as two ends, both included: {said}.", "columns-as-bounds")] * bool(
        said
    )


def _codebook(
    job: Job,
    written: Made,
    release: Release,
    held: writing.Written,
    bounded: Mapping[str, Bounded],
    made: Path,
    spreadsheet_safe: bool,
) -> Codebook:
    """Return the codebook of a file that is `made`, of which `held` says what is in it."""
    mark = job.chosen.text.get("format", {}).get("missing", "")
    text, columns = made.suffix == ".csv", written.provenance["columns"]
    facts = Facts(release, columns, held.values, mark, text, spreadsheet_safe, bounded)
    files = [f"{made.name}/{each.name}" for each in sorted(made.iterdir())] if made.is_dir() else [made.name]
    return codebook(made.name, files, facts, written.buckets, made.name + writing.BUCKETS)


def _public(job: Job, held: writing.Written) -> set[str]:
    """Return the texts that everybody knows: what the file holds, and the values of public domains."""
    domains = [each.domain for each in job.chosen.columns.attributes if each.domain and not each.domain.of_records]
    listed = (each.values for each in domains if isinstance(each, Categories))
    return {str(each) for values in held.values.values() for each in values or ()}.union(*listed)


def _refuse_names(job: Job, files: list[File], text: str, words: Collection[str] = ()) -> None:
    """Raise SanitizationError if the provenance `text`, or one of the `words` of the codebook, names somebody of the
    table.

    Not found: a name that is a word of the description or of ours, or short; a number of fewer than `FIGURES` figures.
    """
    chosen, renamed = job.chosen, job.chosen.renamed
    there = {renamed.get(name, name) for name in long_tables.columns(files)}
    naming = sorted(in_role(chosen.text, Role.IDENTIFIER, Role.PERSON) & there)
    said = {**chosen.text, "columns": dict.fromkeys(chosen.columns.names(), "")}
    facts = json.loads(text)
    machine = [str(facts[MADE][name]) for name in MACHINE] + [*facts[MADE], *facts[MADE]["versions"].values()]
    ours = leaks.spans(" ".join([str(said), *facts, *machine, *KINDS, *KINDS.values()]))
    said_here = leaks.spans(text).union(*map(leaks.spans, words)) - ours
    tried = [each for each in said_here if len(each) >= (FIGURES if each.isdigit() else leaks.SHORT)]
    settings = job.memory.counting(job.scratch)
    for name in naming if tried else ():
        with long_tables.asked(files, [name], renamed, **settings) as (connection, queries, _):
            cell = f"lower(trim({engine.name(long_tables.numbered([name])[name])}::varchar))"
            some, rows = ", ".join(map(engine.quoted, tried)), " union all by name ".join(queries)
            if connection.sql(f"select 1 from ({rows}) where {cell} in ({some}) limit 1").fetchall():
                raise SanitizationError(
                    f"nothing is written: what would stand beside the release names somebody of the column '{name}'. "
                    "Leave names out of what the sanitizer says of itself: its parameters and its note."
                )


@progress.step("looking for records that occur more than once")
def _copies(job: Job, files: list[File]) -> list[Notice]:
    """Return a sentence if each record of the files occurs more than once; else none."""
    chosen, renamed = job.chosen, job.chosen.renamed
    there = {renamed.get(name, name) for name in long_tables.columns(files)}
    names = [name for name in chosen.columns.names() if name in there]
    settings = job.memory.counting(job.scratch)
    with long_tables.opened(files, names, renamed, complete=chosen.marks_where("drop"), **settings) as table:
        return copies(chosen, table)


@progress.step("making the release of the combinations")
def _of_counts(job: Job, bounds: bool) -> tuple[Release, of_counts.Seen, Rows, dict[str, Bounded]]:
    """Return a release of counts, what the gate looks at, its rows, and which columns are two of them."""
    made = of_counts.release_of_counts(job)
    columns, times, place = made.release.counted_rows()
    labels = {name: values for name, (_, values) in columns.items()}
    bounded = _bounded(made.release, labels, [*labels, *job.single]) if bounds else {}
    own: dict[str, tuple[IntArray, Any]] = {}
    for name, coded in columns.items():
        own |= bounded[name].counted(*coded) if name in bounded else {name: coded}
    batches = _beside(made, place, times) if job.single else None
    types = {name: arrow_type(job.chosen.schema[name]) for name in job.single}
    return made.release, made.seen, (own, times, batches, types, None), bounded


@progress.step("making the release in parts")
def _in_parts(
    job: Job, folder: Path, sample: int, bounds: bool
) -> tuple[Release, of_counts.Seen, Rows, dict[str, Bounded]]:
    """Return the same of a release in parts."""
    parts = in_parts.release_in_parts(job, folder / "parts.parquet", sample)
    release, seen = in_parts.graded(parts), in_parts.seen(parts)
    batches, types = in_parts.in_order(parts)
    bounded = _bounded(parts.release, in_parts.texts_in(parts), [*types]) if bounds else {}
    if bounded:
        names = [*types]
        batches = ((place, _split(names, cells, bounded)) for place, cells in batches)
        ends = {name: dict.fromkeys(own.names, own.type) for name, own in bounded.items()}
        types = {end: kind for name in names for end, kind in ends.get(name, {name: types[name]}).items()}
    return release, seen, ({}, None, batches, types, parts.records), bounded


def _split(names: Sequence[str], cells: Sequence[pa.Array], bounded: Mapping[str, Bounded]) -> list[pa.Array]:
    """Return columns of some rows, of which those of labels of numbers are two each."""
    pairs = zip(names, cells, strict=True)
    return [each for name, column in pairs for each in (bounded[name].split(column) if name in bounded else [column])]


def _bounded(release: Release, labels: Mapping[str, Iterable[Any]], names: Sequence[str]) -> dict[str, Bounded]:
    """Return which columns of labels of numbers are two in the file.

    `labels`: by column the published ones; `names`: of all columns of the file.
    """
    found = {}
    for name in (name for name in labels if name in release.columns and name not in release.treated(*UNTRUE)):
        own = Bounded.of(release.schema[name], release.hierarchies.get(name), labels[name])
        if own is None:
            continue
        if taken := [each for each in own.names if each in names]:
            raise UsageError(
                f"`bounds` cannot write '{name}' as two columns, because the table has a column '{taken[0]}'. Rename "
                "that one in the description, or leave out `bounds`."
            )
        found[name] = own
    return found


def _beside(made: of_counts.OfCounts, place: IntArray, times: IntArray) -> Iterator[tuple[IntArray, list[pa.Array]]]:
    """Yield the rows of a release record by record, with the columns of many values: which row each is, and these
    cells.

    Sorted by the row, and among its records by a number that nobody can repeat. Raises SanitizationError, at the end,
    unless each row was given as often as `times` says.
    """
    import pyarrow as pa

    job, names = made.job, made.job.single
    row = pa.array(np.append(place, -1)[made.row], pa.int32())
    given = np.zeros_like(times)
    with job.opened(**job.memory.engine(job.scratch)) as table:
        joined = table.replaced(made.pairs).joined(made.found, pa.table({of_counts.ROW: row}), names).to_native()
        own = table.called(names)
        cells = ", ".join(map(engine.name, own))
        order = f"{engine.name(of_counts.ROW)}, hash({engine.quoted(secrets.token_hex(16))}, {cells})"
        for batch in joined.filter(f"{engine.name(of_counts.ROW)} >= 0").order(order).to_arrow_reader(writing.PIECE):
            kept, published = own_cells(job.chosen, batch.select(own).rename_columns(names))
            rows = batch.column(of_counts.ROW).to_numpy()[kept]
            given += np.bincount(rows, minlength=len(given))
            yield rows, published
    if (given != times).any():
        raise SanitizationError(
            f"{given.sum():,} records have the columns {', '.join(names)}, and {times.sum():,} were counted. Nothing "
            "is written, since classes may have lost records: leave these columns out."
        )


@progress.step("finding out what the columns are")
def _described(
    source: str | os.PathLike[str],
    model: str | Sanitizer,
    dataset: str | os.PathLike[str] | None,
    study: str | None,
    roles: Mapping[str, Role] | None,
    encoding: str | None,
    folder: Path,
    settings: Mapping[str, Any],
) -> tuple[Chosen, list[File], Sequence[Notice]]:
    """Return the description of a source, its files, and what was guessed where nobody has described it."""
    if "://" in str(source):
        raise SchemaError(f"'{source}' is an address, and files are read from folders here. Copy it there first.")
    path = Path(source)
    if dataset is None and (path.suffix == ".toml" or not path.exists()):
        chosen = Chosen.of(find(source), study, roles)
        layout, named = chosen.text.get("format", {}), tuple(chosen.text["columns"])
        described = zip(data_files(chosen.path.parent, chosen.text), chosen.text["files"], strict=True)
        files = [File(file, text_files.Layout.of(layout | entry), named, entry) for file, entry in described]
        return chosen, files, ()
    paths = reading.parts(path)
    files = [File(*each) for each in zip(paths, reading.layouts_of(paths, encoding), strict=True)]
    for file in files:
        text_files.check_encoding(file.path, file.layout)
    if dataset is not None:
        return Chosen.of(find(dataset), study, roles), files, ()
    if isinstance(model, Sanitizer):
        raise SchemaError(
            f"nobody has said what the columns of {path.name} are. Name the dataset whose description says it, or ask "
            'for a model in words, such as "k=10, t=0.2:salary".'
        )
    names, given = long_tables.columns(files), dict(roles or {})
    sensitive = [name for name in sensitive_names(model) if name not in given]
    with long_tables.opened(files, names, {}, **settings) as table:
        toml, said = draft.describe_files(
            folder / "description", draft.named(path), files, table, names, sensitive, given
        )
    return Chosen.of(toml, None), files, said


def _fingerprint(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file does."""
    stat = os.stat(path)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
