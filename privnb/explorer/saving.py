"""The release of a setting as files: notices and refusals before the release is saved, and the provenance."""

import contextlib
import datetime
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.explorer.setting import Setting, apply_roles, check_setting, exact_quasi_identifiers, make_sanitizer
from privnb.microdata.counts import encode_values
from privnb.microdata.release import Release, sort_by_content
from privnb.microdata.schema import Numbers, Role
from privnb.privacy_models import KAnonymity, grade_release
from privnb.publishing.codebook import Codebook, CodebookFacts, make_codebook
from privnb.publishing.gate import CertainValue, Verdict, gate
from privnb.publishing.lineage import MADE, Run
from privnb.publishing.release_job import grade_claims
from privnb.runtime import temporary, validation
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.tables import writing
from privnb.tables.spreadsheets import Formulas, holds_formula
from privnb.tables.writing import FACTS

FORMATS = ("CSV", "Parquet")
Format = Annotated[str, validation.one_of(FORMATS)]


class ExportTerms(NamedTuple):
    """The terms of saving.

    `sentences` are notices; `refused` states why the release cannot be saved, or is empty; `verdict` is the verdict of
    the gate.
    """

    sentences: tuple[str, ...] = ()
    refused: str = ""
    verdict: Verdict | None = None


@validated
def export_terms(dataset: Dataset, setting: Setting, release: Release, allow: str | None = None) -> ExportTerms:
    """Return the terms of saving a release: the verdict of the gate, and further notices for the reader of the release.

    The gate assumes that an adversary also knows the quasi-identifiers that the setting assumes to be unknown.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    release : Release
        The release of the setting.
    allow : str, optional
        The owner's reason for a release that the gate refuses.

    Returns
    -------
    ExportTerms
    """
    verdict = gate(
        release, known=exact_quasi_identifiers(setting, dataset), original=apply_roles(dataset, setting), allow=allow
    )
    schema, untouched = release.schema, release.treated("exact")
    # A label may happen to be the exact value; then its class protects people, as with any other label.
    known = [name for name in schema.quasi_identifiers if name in untouched and not release.generalized]
    neutral = [name for name in schema.names(Role.NEUTRAL) if name in untouched]
    unique = [n for n in (*known, *neutral, *schema.sensitive) if len(_values(release, n)) > len(release) / 2]
    formulas = Formulas(tuple(name for name in schema.published if holds_formula([name, *_texts(release, name)])))
    bucketized, exact = release.buckets is not None, f"The release has exact quasi-identifiers: {', '.join(known)}."
    certain = [each for each in verdict.notices if isinstance(each, CertainValue)]
    claim = release.provenance.state_declaration(datetime.date.today().isoformat())
    notices = [
        (claim, claim),
        *((True, str(notice)) for notice in certain),
        (
            release.provenance.simulation,
            "Saving repeats all random draws and measures the result again, so the numbers in its provenance differ.",
        ),
        (
            bucketized,
            f"{exact} An adversary who knows the values of a person finds the row, its other columns and its bucket.",
        ),
        (known and not bucketized, f"{exact} An adversary who knows the values of a person finds the row."),
        (neutral, f"The release has exact neutral columns: {', '.join(neutral)}. No guarantee covers them."),
        (
            unique,
            f"More than half of the values in {', '.join(unique)} are distinct, so an adversary who knows such a value "
            "can find its person.",
        ),
        *((True, str(notice)) for notice in verdict.notices if notice not in certain),
        (verdict.override, f"{verdict.refusal} The owner overrides this refusal: {verdict.override}"),
        *((True, sentence) for sentence in formulas.sentences),
    ]
    refused = "" if verdict.may_leave else verdict.refusal
    return ExportTerms(tuple(text for holds, text in notices if holds), refused, verdict)


def _values(release: Release, name: str) -> Sequence[Any] | Array:
    """Return the distinct values of an attribute, as released in the rows or by bucket."""
    if name in release.cells:
        return release.coded(name)[1]
    buckets = release.buckets
    return [] if buckets is None else list(buckets.loc[buckets["attribute"] == name, "value"].unique())


def _texts(release: Release, name: str) -> Sequence[Any] | Array:
    """Return the distinct released values that may be text; numbers with noise differ from person to person."""
    is_number = name in release.cells and release.cells[name].dtype.kind in "biuf"
    return [] if is_number else _values(release, name)


@validated
def save_release(
    dataset: Dataset, setting: Setting, folder: validation.Path, format: Format = "CSV", allow: str | None = None
) -> tuple[Path, ...]:
    """Write the release of a setting with its provenance and its codebook into a new folder in `folder`.

    Only the owner can read the folder and its files (modes 700 and 600). The files are written completely or not at
    all. Nothing is overwritten: a second release of a setting gets a number in its name.

    All random draws are made again, from sources that nobody can repeat. These draws are the noise, which comes from
    OpenDP (`rng=None`), the members of each bucket, and the numbers of the buckets. A saved release therefore differs
    from the release on the board and from every other saved release. Publish only one of these releases, because each
    release spends its epsilon. Rows are sorted by content, so that their order reveals nothing about people. The
    provenance (JSON) holds the sanitizer, the roles, the treatment of each column, claims and guarantees, the numbers
    `measured` in the saved tables, the sentences of `export_terms`, and the SHA-256 of each file; it does not hold the
    seed.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    folder : str or Path
        The folder for the new folder; it is created if it does not exist.
    format : str
        "CSV", which `privnb check` reads, or "Parquet", in which the values in the table of buckets are text.
    allow : str, optional
        The owner's reason for a release that the gate refuses; the provenance contains this reason.

    Returns
    -------
    tuple of Path
        `(release, provenance)`; for a bucketized release `(release, provenance, buckets)`.

    Raises
    ------
    gate.Refused
        For a release that the gate refuses, see `privnb.publishing.gate`.
    ValueError
        For another format, or for a folder that is a file.
    ResourceError
        If the files cannot be written, for example because the disk is full.
    """
    setting = check_setting(setting, dataset)
    if file := next((each for each in (Path(folder), *Path(folder).parents) if each.is_file()), None):
        raise UsageError(f"`folder` must be a folder; got '{folder}', but '{file}' is a file. Choose another folder.")
    run = Run(f"saved in the explorer: {make_sanitizer(setting, dataset)!r}", dataset.name)
    release = make_sanitizer(setting, dataset).sanitize(apply_roles(dataset, setting), rng=None)
    found = export_terms(dataset, setting, release, allow)
    assert found.verdict is not None
    found.verdict.check()
    published, _ = release.publish()
    saved = replace(release, table=sort_by_content(published.table), buckets=published.buckets)
    bounds = [f"{letter}{bound}" for letter, bound in setting.bounds.items()]
    name = "-".join([re.sub(r"\W+", "-", dataset.name).strip("-"), setting.sanitizer, *bounds])
    with writing.convert_write_errors(Path(folder) / name, "Nothing is left there."), contextlib.ExitStack() as stack:
        Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        work = stack.enter_context(temporary.temporary_folder(Path(folder), name))
        made = work / name
        made.mkdir(mode=0o700)  # only the owner can read it
        files, values = _write(made, name, format, saved)
        provenance = made / f"{files[0].name}{FACTS}"
        verdict = {"said": found.sentences, "gate": found.verdict.data()}
        text = _provenance(saved, files, run) | {"measured": _measure(saved)} | verdict
        texts = {FACTS: json.dumps(text, indent=1, allow_nan=False) + "\n"}
        texts |= _codebook(saved, text["columns"], values, files).texts
        for ending, content in texts.items():
            (made / f"{files[0].name}{ending}").write_text(content, encoding="utf-8")
        for path in made.iterdir():
            path.chmod(0o600)
        place = _move(made, Path(folder) / name)
    return tuple(place / path.name for path in (files[0], provenance, *files[1:]))


def _codebook(release: Release, treatments: dict[str, str], values: dict[str, Any], files: Sequence[Path]) -> Codebook:
    """Return the codebook of the saved `files`, the first of which holds the `values`."""
    domains = (each.domain for each in release.schema.attributes)
    mark = next((each.missing for each in domains if each is not None and each.missing is not None), "")
    own, *buckets = (path.name for path in files)
    facts = CodebookFacts(release, treatments, values, mark=mark, is_text=own.endswith(".csv"))
    return make_codebook(own, [own], facts, release.buckets, *buckets)


def _write(made: Path, name: str, format: str, release: Release) -> tuple[list[Path], dict[str, Any]]:
    """Write the table of a release and the table of its buckets; return the paths and the values of the first table."""
    tables = {name: release.table}
    for each in release.schema.attributes if format == "CSV" else ():  # Parquet has missing numbers
        cells, domain = release.table.get(each.name), each.domain
        if cells is not None and isinstance(domain, Numbers) and cells.isna().any():
            tables[name] = tables[name].assign(**{each.name: domain.written(cells)})
    if release.buckets is not None:  # numbers and texts of several attributes; a column of Parquet has one type
        tables[f"{name}.buckets"] = release.buckets.astype({"value": str})
    paths, values = [], list[dict[str, Any]]()
    for stem, table in tables.items():
        paths.append(made / f"{stem}.{format.lower()}")
        columns = {each: encode_values(table[each]) for each in table}
        values.append(writing.write(paths[-1], columns, np.ones(len(table), dtype=int)).values)
    return paths, values[0]


def _provenance(release: Release, files: Sequence[Path], run: Run) -> dict[str, Any]:
    derived = {name: rule for name, rule in release.schema.derived.items() if name in release.schema.published}
    return {
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        "quasi-identifiers": release.schema.quasi_identifiers,
        "sensitive": release.schema.sensitive,
        **release.provenance.public(),
        "columns": {name: _describe_treatment(release, name) for name in release.schema.published},
        **({"derived": derived} if derived else {}),
        MADE: run.facts(files[0]),
    }


def _describe_treatment(release: Release, name: str) -> str:
    exact = name in release.labelled and release.columns[name].kind != "exact" and release.hierarchies[name].exact
    return f"{release.columns[name]}" + (", to bounds that may be the exact value of one person" if exact else "")


def _measure(release: Release) -> dict[str, Any]:
    """Return the number of records and people of the saved tables, k, and the level of each claimed model.

    For buckets, k is the k of the exact quasi-identifiers; for noise, k is None.
    """
    classes = release.classes is not None
    return {
        "records": len(release),
        **({} if release.people is None else {"people": release.headcount}),
        "k": int(grade_release(KAnonymity(2), release)) if classes else None,
        "claims": grade_claims(release),
    }


def _move(made: Path, place: Path) -> Path:
    """Rename the folder `made` to `place`, or to the first of place-2, place-3, ... that does not exist."""
    places = chain([place], (place.with_name(f"{place.name}-{number}") for number in count(2)))
    return made.rename(next(each for each in places if not each.exists()))  # which fails if another has just filled it
