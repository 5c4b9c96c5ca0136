"""Releases from file to file, for tables of any length, with limited memory; a release is written whole or not at all.

Sanitizers that work on combinations need only the count of each combination, which an engine computes. The release is
checked like every other release, and each row is written as often as it occurs.
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
from privnb.datasets.dataset import (
    DatasetDescription,
    check_checksum,
    columns_in_role,
    find_description,
    list_data_files,
)
from privnb.microdata.release import Release
from privnb.microdata.schema import Categories, Role, SchemaError
from privnb.microdata.treatment import MEANINGS, UNTRUE
from privnb.publishing import chunked, from_counts, leaks
from privnb.publishing.codebook import Codebook, CodebookFacts, make_codebook
from privnb.publishing.gate import PublicationRule, check_allow, gate
from privnb.publishing.lineage import MACHINE, MADE, Run, format_call
from privnb.publishing.model_spec import explain_l, find_sensitive_names
from privnb.publishing.release_job import (
    Job,
    Model,
    Opened,
    Outside,
    PublishedTable,
    Study,
    apply_outside,
    arrow_type,
    look_up_sources,
    note_copies,
    publish_cells,
)  # fmt: skip
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

MIN_FIGURES = 7  # numbers with fewer digits are not searched in the files next to a release


MakeCompanions = Callable[[Path, PublishedTable, Release], Mapping[str, str]]


# The arguments of `writing.write` for the rows of a release, and the number of rows if they were not counted.
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
    companions: MakeCompanions | None = None,
    sample: Seed = 0,
    spreadsheet_safe: bool = False,
    roles: Mapping[str, Role] | None = None,
    rule: PublicationRule | None = None,
    allow: str | None = None,
    encoding: str | None = None,
    outside: Outside = "refuse",
    bounds: bool = False,
    force: bool = False,
    rehearsal: bool = False,
    call: str = "",
) -> PublishedTable:
    """Make a release of a table of any length, from file to file.

    Parameters
    ----------
    source : str or path-like
        A CSV or Parquet file, a folder with such files as parts of the table, or the name of a described dataset.
    model : str or Sanitizer
        The privacy models that every class must satisfy, such as `"k=10, t=0.2:salary"` (see
        `model_spec.parse_sanitizer`), or a sanitizer.
    out : str or path-like
        The path of a file that ends in .parquet or .csv, or of a folder. The provenance is written next to this file or
        folder.
    algorithm : str
        The sanitizer that enforces `model`, by the name of its class or by its title, such as "local recoding".
    dataset : str or path-like, optional
        The dataset whose description applies to the columns of a file.
    study : str, optional
        See `load`.
    memory : str
        The memory that the whole process may use, such as "800MB" or "2GB".
    companions : function, optional
        A function of three arguments: the path of the file, the PublishedTable and the Release. It returns the texts of
        further files to write next to the release, by the endings of their names. The function is called when the file
        is complete but still hidden. If it raises an error, nothing is left at `out`.
    sample : int
        The number of random records that a sanitizer that works record by record uses; 0 means all records.
    spreadsheet_safe : bool
        Whether, in a CSV file, an apostrophe is put before each text that a spreadsheet program would run as a formula.
    roles : dict of str to Role, optional
        See `load`.
    rule : Rule, optional
        The requirements of a policy for the release. If it is None, the release must satisfy what its models promise.
    allow : str, optional
        The owner's reason for a release that the gate refuses; the provenance and the output repeat the reason.
    encoding : str, optional
        The encoding of text files that are not in UTF-8 and have no description. If it is None, privnb uses the
        encoding that it proposes; an error is raised if another encoding fits equally well.
    outside : str
        The treatment of values outside a described domain; see `load`. The provenance and the output state the
        treatment.
    bounds : bool
        Whether each range of numbers is written as two columns: `age` as `age_low` and `age_high`.
    force : bool
        Whether the release replaces an older release at `out`, together with the files next to the older release.
    rehearsal : bool
        Whether the release is made only for its card and is not published. If true, `out` is a temporary file, and a
        refusal of the gate is recorded but raises no error.
    call : str
        The command that the provenance states, without folders. If it is empty, the provenance states this call in
        Python.

    Returns
    -------
    PublishedTable

    Raises
    ------
    SanitizationError
        For the reasons that `Sanitizer.sanitize` states. The subclass `gate.Refused` is raised for a release that must
        not be published.
    SchemaError
        For a table that does not conform to its description, or that has more combinations than fit into the memory.
    OSError
        For a file that cannot be read or written. Nothing is left at `out`.
    """
    run = Run(call or _in_python(locals()), Path(source).name)
    allow = check_allow(allow) or None
    out = writing.check_output(out, spreadsheet_safe=spreadsheet_safe, force=force)
    given = Memory.of(memory)
    with writing.stage(out) as folder:
        scratch = folder / "engine"
        settings = given.counting(scratch)
        chosen, files, guessed = _described(source, model, dataset, study, roles, encoding, folder, settings)
        renamed = chosen.renamed
        there = [renamed.get(name, name) for name in long_tables.read_columns(files)]
        chosen.derived.check_names(there, Path(source).name)
        raw = partial(long_tables.open_table, files, renamed=renamed)
        derived = look_up_sources(chosen, lambda names: partial(raw, names=names), given, scratch)

        def plain(names: list[str]) -> Opened:
            return partial(raw, names=names, derived=derived)

        chosen, beyond = apply_outside(chosen, outside, [*there, *derived.rules], plain, given, scratch)

        def opened(names: list[str]) -> Opened:
            return partial(plain(names), complete=chosen.marks_where("drop"))

        if force:
            _keep_inputs(out, [*(file.path for file in files), Path(source)])
        job = Job.of(chosen, model, algorithm, given, opened, scratch)
        before = [_fingerprint(file.path) for file in files]
        for file in files:
            if "sha256" in file.entry:
                check_checksum(file.entry, description.checksum(file.path))
        made = folder / "release" / out.name
        made.parent.mkdir()  # a separate folder, so that no name of a release clashes with a working file
        with job.counting(held=True, complete=None) as table:
            read = table.record_count()
            table.check()
        long_tables.check_record_counts(files, read)
        doubled = _copies(job, files)
        job.check_gaps(read)
        made_so = _of_counts(job, bounds) if job.sanitizer.by_combinations else _in_parts(job, folder, sample, bounds)
        release, seen, rows, bounded = made_so
        with progress.step("asking the gate"):
            verdict = gate(seen.release, rule=rule, findings=seen.findings, allow=allow)
        if not rehearsal:
            verdict.check()
        with writing.convert_write_errors(out):
            held = writing.write(made, *rows, spreadsheet_safe=spreadsheet_safe)
        if [_fingerprint(file.path) for file in files] != before:
            raise SchemaError(f"{source} was changed while it was read. Nothing is written. Try again.")
        formulas = held.formulas.with_buckets(release.buckets, spreadsheet_safe)
        remarks = (*doubled, *guessed, *explain_l(model, job.sanitizer), *_bounds_said(bounded))
        more = {} if rows[-1] is None else {"records": rows[-1]}
        written = PublishedTable.of(
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
            buckets = spreadsheets.escape_buckets(written.buckets) if spreadsheet_safe else written.buckets
            texts[writing.BUCKETS] = buckets.to_csv(index=False)
        _refuse_names(job, files, texts[writing.FACTS], book.words(_public(job, held)))
        if companions is not None:
            for ending, content in texts.items():
                made.with_name(made.name + ending).write_text(content, encoding="utf-8")
            texts |= companions(made, written, release)
        sources = [file.path for file in files] + [Path(source)] * Path(source).is_dir()
        writing.move_files(made, out, texts, sources, force=force)
    return written


def _in_python(given: Mapping[str, Any]) -> str:
    """Return, as Python code, the call of `sanitize` with these arguments, without folders."""
    paths = {name: Path(given[name]) for name in ("source", "out", "dataset") if given[name] is not None}
    named = {
        name: value for name, value in given.items() if not callable(value) and not isinstance(value, PublicationRule)
    }
    return f"privnb.{format_call(sanitize, named | paths)}"


def _keep_inputs(out: Path, inputs: Sequence[Path]) -> None:
    """Raise OutputExistsError if a file to replace at `out` is an input or contains an input."""
    there = [each.resolve() for each in (out, *writing.list_companions(out))]
    for path in (each.resolve() for each in inputs if each.exists()):
        if path in there or out.resolve() in path.parents:
            raise OutputExistsError(
                f"{out} is an input of the release, and `force` never replaces an input. Choose another name."
            )


def _bounds_facts(bounded: Mapping[str, Bounded], spreadsheet_safe: bool) -> dict[str, dict[str, Any]]:
    """Return the facts for a provenance about columns that are written as two columns, by their names in the file."""

    def in_file(name: str) -> str:
        return str(spreadsheets.escape([name])[0]) if spreadsheet_safe else name

    ends = {name: dict(zip(("low", "high"), map(in_file, own.names), strict=True)) for name, own in bounded.items()}
    return {in_file(name): own.facts | ends[name] for name, own in bounded.items()}


def _bounds_said(bounded: Mapping[str, Bounded]) -> list[Notice]:
    """Return a notice about the columns that are written as two columns; empty if there are no such columns."""
    said = "; ".join(f"{name} as {' and '.join(own.names)}" for name, own in bounded.items())
    return [
        Notice(
            f"Ranges of numbers are written as their two ends, and both ends belong to the range: {said}.",
            "columns-as-bounds",
        )
    ] * bool(said)


def _codebook(
    job: Job,
    written: PublishedTable,
    release: Release,
    held: writing.WrittenRows,
    bounded: Mapping[str, Bounded],
    made: Path,
    spreadsheet_safe: bool,
) -> Codebook:
    """Return the codebook of the file `made`; `held` is the content of the file."""
    mark = job.chosen.text.get("format", {}).get("missing", "")
    text, columns = made.suffix == ".csv", written.provenance["columns"]
    facts = CodebookFacts(release, columns, held.values, mark, text, spreadsheet_safe, bounded)
    files = [f"{made.name}/{each.name}" for each in sorted(made.iterdir())] if made.is_dir() else [made.name]
    return make_codebook(made.name, files, facts, written.buckets, made.name + writing.BUCKETS)


def _public(job: Job, held: writing.WrittenRows) -> set[str]:
    """Return the public texts: the values in the file and the values of public domains."""
    domains = [each.domain for each in job.chosen.columns.attributes if each.domain and not each.domain.of_records]
    listed = (each.values for each in domains if isinstance(each, Categories))
    return {str(each) for values in held.values.values() for each in values or ()}.union(*listed)


def _refuse_names(job: Job, files: list[File], text: str, words: Collection[str] = ()) -> None:
    """Raise SanitizationError if the provenance or the codebook contains the name of a person in the table.

    `text` is the provenance, and `words` are the words of the codebook.

    Some names are not found: short names, names that are words of the description or of privnb's own texts, and numbers
    with fewer than `MIN_FIGURES` digits.
    """
    chosen, renamed = job.chosen, job.chosen.renamed
    there = {renamed.get(name, name) for name in long_tables.read_columns(files)}
    naming = sorted(columns_in_role(chosen.text, Role.IDENTIFIER, Role.PERSON) & there)
    said = {**chosen.text, "columns": dict.fromkeys(chosen.columns.names(), "") | chosen.columns.derived}
    facts = json.loads(text)
    machine = [str(facts[MADE][name]) for name in MACHINE] + [*facts[MADE], *facts[MADE]["versions"].values()]
    ours = leaks.list_word_spans(" ".join([str(said), *facts, *machine, *MEANINGS, *MEANINGS.values()]))
    said_here = leaks.list_word_spans(text).union(*map(leaks.list_word_spans, words)) - ours
    tried = [each for each in said_here if len(each) >= (MIN_FIGURES if each.isdigit() else leaks.MIN_LETTERS)]
    settings = job.memory.counting(job.scratch)
    for name in naming if tried else ():
        with long_tables.open_queries(files, [name], renamed, **settings) as (connection, queries, _):
            cell = f"lower(trim({engine.quote_name(long_tables.number_names([name])[name])}::varchar))"
            some, rows = ", ".join(map(engine.quote_text, tried)), " union all by name ".join(queries)
            if connection.sql(f"select 1 from ({rows}) where {cell} in ({some}) limit 1").fetchall():
                raise SanitizationError(
                    f"nothing is written: a file next to the release would name a person of the column '{name}'. "
                    "Remove the names from the parameters and the note of the sanitizer."
                )


@progress.step("looking for records that occur more than once")
def _copies(job: Job, files: list[File]) -> list[Notice]:
    """Return a notice if each record of the files occurs more than once; otherwise, an empty list."""
    chosen, renamed = job.chosen, job.chosen.renamed
    there = {renamed.get(name, name) for name in long_tables.read_columns(files)}
    names = [name for name in chosen.columns.names() if name in there]
    settings = job.memory.counting(job.scratch)
    with long_tables.open_table(files, names, renamed, complete=chosen.marks_where("drop"), **settings) as table:
        return note_copies(chosen, table)


@progress.step("making the release of the combinations")
def _of_counts(job: Job, bounds: bool) -> tuple[Release, from_counts.Seen, Rows, dict[str, Bounded]]:
    """Return a release that is made from counts, the input of the gate, the rows to write, and the bounds.

    The bounds are the columns that are written as two columns.
    """
    made = from_counts.release_from_counts(job)
    columns, times, place = made.release.counted_rows()
    labels = {name: values for name, (_, values) in columns.items()}
    bounded = _bounded(made.release, labels, [*labels, *job.single]) if bounds else {}
    own: dict[str, tuple[IntArray, Any]] = {}
    for name, coded in columns.items():
        own |= bounded[name].counted(*coded) if name in bounded else {name: coded}
    batches = _yield_single_columns(made, place, times) if job.single else None
    types = {name: arrow_type(job.chosen.schema[name]) for name in job.single}
    return made.release, made.seen, (own, times, batches, types, None), bounded


@progress.step("making the release in parts")
def _in_parts(
    job: Job, folder: Path, sample: int, bounds: bool
) -> tuple[Release, from_counts.Seen, Rows, dict[str, Bounded]]:
    """Return a release that is made in parts, the input of the gate, the rows to write, and the bounds.

    The bounds are the columns that are written as two columns.
    """
    parts = chunked.release_in_chunks(job, folder / "parts.parquet", sample)
    release, seen = chunked.check_label_claims(parts), chunked.count_for_gate(parts)
    batches, types = chunked.sort_rows(parts)
    bounded = _bounded(parts.release, chunked.find_labels(parts), [*types]) if bounds else {}
    if bounded:
        names = [*types]
        batches = ((place, _split(names, cells, bounded)) for place, cells in batches)
        ends = {name: dict.fromkeys(own.names, own.type) for name, own in bounded.items()}
        types = {end: kind for name in names for end, kind in ends.get(name, {name: types[name]}).items()}
    return release, seen, ({}, None, batches, types, parts.records), bounded


def _split(names: Sequence[str], cells: Sequence[pa.Array], bounded: Mapping[str, Bounded]) -> list[pa.Array]:
    """Return the columns of some rows, in which each column of ranges in `bounded` is replaced by two columns."""
    pairs = zip(names, cells, strict=True)
    return [each for name, column in pairs for each in (bounded[name].split(column) if name in bounded else [column])]


def _bounded(release: Release, labels: Mapping[str, Iterable[Any]], names: Sequence[str]) -> dict[str, Bounded]:
    """Return the columns of ranges of numbers that are written as two columns.

    `labels` holds the published labels of each column, and `names` lists the names of all columns in the file.
    """
    found = {}
    for name in (name for name in labels if name in release.columns and name not in release.treated(*UNTRUE)):
        own = Bounded.of(release.schema[name], release.hierarchies.get(name), labels[name])
        if own is None:
            continue
        if taken := [each for each in own.names if each in names]:
            raise UsageError(
                f"`bounds` cannot write '{name}' as two columns, because the table has a column '{taken[0]}'. Rename "
                "that column in the description, or leave out `bounds`."
            )
        found[name] = own
    return found


def _yield_single_columns(
    made: from_counts.CountsRelease, place: IntArray, times: IntArray
) -> Iterator[tuple[IntArray, list[pa.Array]]]:
    """Yield the position of the row, and the cells in the columns that are published record by record, of each record.

    The records are sorted by the position of their row and, within a row, by a hash that nobody can repeat. At the end,
    raises SanitizationError if the number of records of a row differs from `times`.
    """
    import pyarrow as pa

    job, names = made.job, made.job.single
    row = pa.array(np.append(place, -1)[made.row], pa.int32())
    given = np.zeros_like(times)
    with job.opened(**job.memory.engine(job.scratch)) as table:
        joined = table.replaced(made.pairs).joined(made.found, pa.table({from_counts.ROW: row}), names).to_native()
        own = table.called(names)
        cells = ", ".join(map(engine.quote_name, own))
        order = f"{engine.quote_name(from_counts.ROW)}, hash({engine.quote_text(secrets.token_hex(16))}, {cells})"
        for batch in (
            joined.filter(f"{engine.quote_name(from_counts.ROW)} >= 0").order(order).to_arrow_reader(writing.PIECE)
        ):
            kept, published = publish_cells(job.chosen, batch.select(own).rename_columns(names))
            rows = batch.column(from_counts.ROW).to_numpy()[kept]
            given += np.bincount(rows, minlength=len(given))
            yield rows, published
    if (given != times).any():
        raise SanitizationError(
            f"nothing is written: {given.sum():,} records were read for the columns {', '.join(names)}, and "
            f"{times.sum():,} were counted, so classes may have lost records. Leave these columns out."
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
) -> tuple[DatasetDescription, list[File], Sequence[Notice]]:
    """Return the description of a source, the files, and notices about an inferred description.

    If the source has no description, a description is inferred.
    """
    if "://" in str(source):
        raise SchemaError(
            f"`source` must be a path on this machine; got the address '{source}'. Copy the file to a folder first."
        )
    path = Path(source)
    if dataset is None and (path.suffix == ".toml" or not path.exists()):
        chosen = DatasetDescription.of(find_description(source), study, roles)
        layout = chosen.text.get("format", {})
        named = tuple(description.list_file_columns(chosen.text["columns"]))
        described = zip(list_data_files(chosen.path.parent, chosen.text), chosen.text["files"], strict=True)
        files = [File(file, text_files.Layout.of(layout | entry), named, entry) for file, entry in described]
        return chosen, files, ()
    paths = reading.list_parts(path)
    files = [File(*each) for each in zip(paths, reading.guess_layouts(paths, encoding), strict=True)]
    for file in files:
        text_files.check_encoding(file.path, file.layout)
    if dataset is not None:
        return DatasetDescription.of(find_description(dataset), study, roles), files, ()
    if isinstance(model, Sanitizer):
        raise SchemaError(
            f"{path.name} has no description, and a sanitizer needs one. Name the described dataset, or give the model "
            'as text, such as "k=10, t=0.2:salary".'
        )
    names, given = long_tables.read_columns(files), dict(roles or {})
    sensitive = [name for name in find_sensitive_names(model) if name not in given]
    with long_tables.open_table(files, names, {}, **settings) as table:
        toml, said = draft.describe_files(
            folder / "description", draft.dataset_name(path), files, table, names, sensitive, given
        )
    return DatasetDescription.of(toml, None), files, said


def _fingerprint(path: Path) -> tuple[int, int, int]:
    """Return facts about a file, at least one of which changes if the content of the file changes."""
    stat = os.stat(path)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
