"""The release of a setting as files: what is said before it is saved, what is refused, and its provenance."""

import contextlib
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
from privnb.explorer.setting import Setting, checked, exposed, of_roles, sanitizer
from privnb.microdata.counts import coded
from privnb.microdata.release import Release, by_content
from privnb.microdata.schema import Numbers, Role
from privnb.privacy_models import KAnonymity, achieved
from privnb.publishing.codebook import Codebook, Facts, codebook
from privnb.publishing.gate import CertainValue, Verdict, gate
from privnb.publishing.job import claim_levels
from privnb.publishing.lineage import MADE, Run
from privnb.runtime import unfinished, validation
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.tables import writing
from privnb.tables.spreadsheets import Formulas, holds_formula
from privnb.tables.writing import FACTS

FORMATS = ("CSV", "Parquet")
Format = Annotated[str, validation.one_of(FORMATS)]


class Terms(NamedTuple):
    """On what terms a release is saved: `said`, sentences; `refused`: why it is not, or empty; the gate's `verdict`."""

    said: tuple[str, ...] = ()
    refused: str = ""
    verdict: Verdict | None = None


@validated
def terms(dataset: Dataset, setting: Setting, release: Release, allow: str | None = None) -> Terms:
    """Return on what terms a release is saved: what the gate says of it, and what else its reader should know.

    An adversary knows the quasi-identifiers of the dataset, too, which the setting takes for unknown.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    release : Release
        That of the setting.
    allow : str, optional
        The owner's reason for a release that the gate refuses.

    Returns
    -------
    Terms
    """
    verdict = gate(release, known=exposed(setting, dataset), original=of_roles(dataset, setting), allow=allow)
    schema, untouched = release.schema, release.treated("exact")
    # A label may happen to be the value; then it is the class that hides people, as behind any other label.
    known = [name for name in schema.quasi_identifiers if name in untouched and not release.generalized]
    neutral = [name for name in schema.names(Role.NEUTRAL) if name in untouched]
    unique = [n for n in (*known, *neutral, *schema.sensitive) if len(_values(release, n)) > len(release) / 2]
    formulas = Formulas(tuple(name for name in schema.published if holds_formula([name, *_texts(release, name)])))
    bucketized, exact = release.buckets is not None, f"It has quasi-identifiers as they are: {', '.join(known)}."
    certain = [each for each in verdict.notices if isinstance(each, CertainValue)]
    said = [
        *((True, str(notice)) for notice in certain),
        (
            release.provenance.simulation,
            "What is random is drawn anew for it and measured again: its provenance has its own numbers.",
        ),
        (bucketized, f"{exact} An adversary who knows a person's finds their row, its other columns and its bucket."),
        (known and not bucketized, f"{exact} Nothing hides whose row it is from an adversary who knows them."),
        (neutral, f"It has neutral columns as they are: {', '.join(neutral)}. Nothing is promised of them."),
        (
            unique,
            f"Nearly everybody has a value of their own in {', '.join(unique)}: an adversary who knows it finds them.",
        ),
        *((True, str(notice)) for notice in verdict.notices if notice not in certain),
        (verdict.override, f"{verdict.refusal} Its owner overrides this refusal: {verdict.override}"),
        *((True, sentence) for sentence in formulas.sentences),
    ]
    refused = "" if verdict.may_leave else verdict.refusal
    return Terms(tuple(text for holds, text in said if holds), refused, verdict)


def _values(release: Release, name: str) -> Sequence[Any] | Array:
    """Return the distinct values of an attribute as released, in the rows or by bucket."""
    if name in release.cells:
        return release.coded(name)[1]
    buckets = release.buckets
    return [] if buckets is None else list(buckets.loc[buckets["attribute"] == name, "value"].unique())


def _texts(release: Release, name: str) -> Sequence[Any] | Array:
    """Return the distinct values as released that may be text; numbers with noise differ from person to person."""
    is_number = name in release.cells and release.cells[name].dtype.kind in "biuf"
    return [] if is_number else _values(release, name)


@validated
def save(
    dataset: Dataset, setting: Setting, folder: validation.Path, format: Format = "CSV", allow: str | None = None
) -> tuple[Path, ...]:
    """Publish: write the release of a setting with its provenance and its codebook into a new folder of `folder`.

    Folder and files are the owner's alone (modes 700 and 600), until they are handed on. They are made whole or not at
    all. Nothing is overwritten: a second release of a setting is numbered.

    What is random is drawn anew from sources that nobody can repeat: noise from OpenDP (`rng=None`), who shares a
    bucket, its number. So it differs from the release on the board, and from one saving to the next: publish one of
    them only, for each spends its epsilon. Rows are sorted by what they hold, so their order tells nothing else. The
    provenance (JSON) says how the release was made, in which roles, how it has each column, what is claimed or
    promised, what is not, what is `measured` in the saved tables themselves, what was `said` (see `terms`), and the
    SHA-256 of each file; no seed.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    folder : str or Path
        Made where it is missing.
    format : str
        "CSV", which `privnb check` reads, or "Parquet", in which the values in the table of buckets are text.
    allow : str, optional
        The owner's reason for a release that the gate refuses; its provenance repeats it.

    Returns
    -------
    tuple of Path
        `(release, provenance)`; of a bucketized release `(release, provenance, buckets)`.

    Raises
    ------
    gate.Refused
        For a release that may not leave, see `privnb.publishing.gate`.
    ValueError
        For another format, and for a folder that is a file.
    ResourceError
        Where nothing can be written, such as on a full disk.
    """
    setting = checked(setting, dataset)
    if file := next((each for each in (Path(folder), *Path(folder).parents) if each.is_file()), None):
        raise UsageError(f"folder must be a folder, got '{folder}', and '{file}' is a file. Name another place.")
    run = Run(f"saved in the explorer: {sanitizer(setting, dataset)!r}", dataset.name)
    release = sanitizer(setting, dataset).sanitize(of_roles(dataset, setting), rng=None)
    found = terms(dataset, setting, release, allow)
    assert found.verdict is not None
    found.verdict.check()
    published, _ = release.publish()
    saved = replace(release, table=by_content(published.table), buckets=published.buckets)
    bounds = [f"{letter}{bound}" for letter, bound in setting.asked.items()]
    name = "-".join([re.sub(r"\W+", "-", dataset.name).strip("-"), setting.sanitizer, *bounds])
    with writing.reported(Path(folder) / name), contextlib.ExitStack() as stack:
        Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        work = stack.enter_context(unfinished.folder(Path(folder), name))
        made = work / name
        made.mkdir(mode=0o700)  # until the owner hands it on, it is the owner's alone
        files, values = _write(made, name, format, saved)
        provenance = made / f"{files[0].name}{FACTS}"
        said = {"said": found.said, "gate": found.verdict.data()}
        text = _provenance(saved, files, run) | {"measured": _measured(saved)} | said
        beside = {FACTS: json.dumps(text, indent=1, allow_nan=False) + "\n"}
        beside |= _codebook(saved, text["columns"], values, files).texts
        for ending, content in beside.items():
            (made / f"{files[0].name}{ending}").write_text(content, encoding="utf-8")
        for path in made.iterdir():
            path.chmod(0o600)
        place = _moved(made, Path(folder) / name)
    return tuple(place / path.name for path in (files[0], provenance, *files[1:]))


def _codebook(release: Release, treatments: dict[str, str], values: dict[str, Any], files: Sequence[Path]) -> Codebook:
    """Return the codebook of the saved `files`, of which the first one holds the `values`."""
    domains = (each.domain for each in release.schema.attributes)
    mark = next((each.missing for each in domains if each is not None and each.missing is not None), "")
    own, *buckets = (path.name for path in files)
    facts = Facts(release, treatments, values, mark=mark, is_text=own.endswith(".csv"))
    return codebook(own, [own], facts, release.buckets, *buckets)


def _write(made: Path, name: str, format: str, release: Release) -> tuple[list[Path], dict[str, Any]]:
    """Write the table of a release, and that of its buckets; return their paths, and which values the first has."""
    tables = {name: release.table}
    for each in release.schema.attributes if format == "CSV" else ():  # Parquet has a word for a missing number
        cells, domain = release.table.get(each.name), each.domain
        if cells is not None and isinstance(domain, Numbers) and cells.isna().any():
            tables[name] = tables[name].assign(**{each.name: domain.written(cells)})
    if release.buckets is not None:  # numbers and words of several attributes: Parquet's columns are of one kind
        tables[f"{name}.buckets"] = release.buckets.astype({"value": str})
    paths, values = [], list[dict[str, Any]]()
    for stem, table in tables.items():
        paths.append(made / f"{stem}.{format.lower()}")
        columns = {each: coded(table[each]) for each in table}
        values.append(writing.write(paths[-1], columns, np.ones(len(table), dtype=int)).values)
    return paths, values[0]


def _provenance(release: Release, files: Sequence[Path], run: Run) -> dict[str, Any]:
    return {
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        "quasi-identifiers": release.schema.quasi_identifiers,
        "sensitive": release.schema.sensitive,
        **release.provenance.public(),
        "columns": {name: _treatment(release, name) for name in release.schema.published},
        MADE: run.facts(files[0]),
    }


def _treatment(release: Release, name: str) -> str:
    exact = name in release.labelled and release.columns[name].kind != "exact" and release.hierarchies[name].exact
    return f"{release.columns[name]}" + (", to ends that may be one person's own value" if exact else "")


def _measured(release: Release) -> dict[str, Any]:
    """Return what the saved tables keep: k, that of exact quasi-identifiers next to buckets, none of noise; the level
    of each claimed model.
    """
    classes = release.classes is not None
    return {
        "records": len(release),
        **({} if release.people is None else {"people": release.headcount}),
        "k": int(achieved(KAnonymity(2), release)) if classes else None,
        "claims": claim_levels(release),
    }


def _moved(made: Path, place: Path) -> Path:
    """Rename the folder `made` to `place`, or to the first of place-2, place-3, ... that is free."""
    places = chain([place], (place.with_name(f"{place.name}-{number}") for number in count(2)))
    return made.rename(next(each for each in places if not each.exists()))  # which fails if another has just filled it
