"""Files that other tools made from a dataset, read as values and labels of the dataset's domains."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy.categories import read_rows
from privnb.microdata.hierarchy.foreign_labels import LabelForm, LabelReader, UnreadLabel, show_form
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Generalization, OfLeaves
from privnb.microdata.schema import Numbers, SchemaError
from privnb.runtime import validation
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import suggest
from privnb.runtime.validation import validated
from privnb.tables import reading

# The treatments that a file can show. Noise with a known law cannot be seen in a file, so it counts as perturbed.
Treated = Literal["plain", "generalized", "suppressed", "perturbed"]
STATED = ("exact", "generalized", "suppressed", "perturbed")
PLAIN = (LabelForm.VALUE,)
HIDDEN = (LabelForm.SUPPRESSED, LabelForm.MISSING)
DECIMAL = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def parse_treatments(text: str, what: str = "`treatments`") -> dict[str, str]:
    """Return the treatments of columns that a text states, as `{column: treatment}`; an error calls the text `what`.

    >>> parse_treatments("age: generalized, zip: suppressed")
    {'age': 'generalized', 'zip': 'suppressed'}
    """
    pairs = [part.rpartition(":") for part in text.split(",") if part.strip()]
    if wrong := [treatment for name, _, treatment in pairs if not name.strip() or not treatment.strip()]:
        raise UsageError(
            f"{what} must list columns with their treatments, such as 'age: generalized'; got '{wrong[0].strip()}'."
        )
    return {name.strip(): treatment.strip() for name, _, treatment in pairs}


class ForeignColumn(NamedTuple):
    """One column of a file of another tool.

    Attributes
    ----------
    cells : Series (rows,)
        The cells of the column: numbers or texts if the column is plain or perturbed, and labels otherwise.
    treated : str
        "plain": all cells are values of the domain. "suppressed": some cells are `*`. "generalized": some cells are
        labels. "perturbed": the column is stated to be perturbed, or some cells are numbers that are not in the domain.
    forms : dict of LabelForm to int
        The number of cells that have each form.
    hierarchy : Generalization or None
        The hierarchy of the labels, if the hierarchy of the dataset does not have all of these labels; None otherwise.
    """

    cells: pd.Series
    treated: Treated
    forms: Mapping[LabelForm, int]
    hierarchy: Generalization | None


@dataclass(frozen=True)
class ForeignFile:
    """A file of another tool, with some or all of the columns that a dataset publishes.

    Parameters
    ----------
    path : Path
    rows : int
    columns : dict of str to ForeignColumn
        The published columns of the dataset that the file has, by name.
    lacking : tuple of str
        The published columns of the dataset that the file does not have.
    """

    path: Path
    rows: int
    columns: Mapping[str, ForeignColumn]
    lacking: tuple[str, ...]


@validated
def read_foreign(
    path: validation.Path,
    dataset: Dataset,
    *,
    treatments: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, str | os.PathLike[str]] | None = None,
) -> ForeignFile:
    """Read a file that another tool made from a dataset.

    Parameters
    ----------
    path : path-like
        A file or a folder of parts, in any format that `load` reads.
    dataset : Dataset
        The original microdata. A column of the file may have the name that it has in the files of the dataset.
    treatments : dict of str to str, optional
        The treatment of some columns, by name: one of `STATED`. A column that is stated to be perturbed may have
        numbers outside its domain.
    hierarchies : dict of str to path-like, optional
        The files of hierarchies, in the format of ARX, whose labels the cells may contain, by column.

    Returns
    -------
    ForeignFile

    Raises
    ------
    SchemaError
        If the file has no published column of the dataset; if the file has a column that the dataset does not have or
        must not publish, such as an identifier; if a cell is neither a value nor a label that can be read; or if the
        cells contradict a stated treatment.
    """
    treatments, hierarchies = dict(treatments or {}), dict(hierarchies or {})
    path = Path(path)
    table, _, _ = reading.read_undescribed(path)
    table = _rename(path, table, dataset)
    published = dataset.schema.published
    if unknown := [name for name in table if name not in dataset.schema.names()]:
        cure = suggest([unknown[0]], published) or " Delete the column from the file."
        raise SchemaError(f"{path.name} must have only columns of '{dataset.name}'; got '{unknown[0]}'.{cure}")
    if exposed := [name for name in table if name not in published]:
        role = dataset.schema[exposed[0]].role
        raise SchemaError(
            f"{path.name} must not publish '{exposed[0]}', whose role is '{role}'. Delete the column before "
            "anybody receives it, and assess the file again."
        )
    named = ("treatment", "treatments", [*treatments]), ("hierarchy", "hierarchies", [*hierarchies])
    for option, argument, given in named:
        if other := [name for name in given if name not in table or name not in published]:
            raise SchemaError(
                f"--{option} (in Python `{argument}`) must name published columns of {path.name}; got '{other[0]}'. "
                f"Name one of {', '.join(name for name in table if name in published)}."
            )
    if wrong := [kind for kind in treatments.values() if kind not in STATED]:
        raise SchemaError(f"a treatment must be one of {', '.join(STATED)}; got '{wrong[0]}'.")
    there = [name for name in published if name in table]
    if not there:
        raise SchemaError(
            f"{path.name} must have at least one of the columns {', '.join(published)}; got {', '.join(table)}."
        )
    columns = {
        name: _read_column(path, table[name], dataset, treatments.get(name), hierarchies.get(name)) for name in there
    }
    return ForeignFile(path, len(table), columns, tuple(name for name in published if name not in table))


def _rename(path: Path, table: pd.DataFrame, dataset: Dataset) -> pd.DataFrame:
    """Return the table of the file, in which columns may have the names that they have in the files of the dataset."""
    renamed = {own: name for own, name in dataset.renamed.items() if own in table}
    if twice := [(own, name) for own, name in renamed.items() if name in table]:
        own, name = twice[0]
        raise SchemaError(
            f"{path.name} must have '{name}' once; got '{name}' and '{own}'. Delete one of these columns."
        )
    return table.rename(columns=renamed)


def _read_column(
    path: Path, cells: pd.Series, dataset: Dataset, stated: str | None, levels: str | os.PathLike[str] | None
) -> ForeignColumn:
    """Return a column of the file; `cells` is the column as a Categorical of texts."""
    name = str(cells.name)
    attribute, own = dataset.schema[name], dataset.hierarchies.get(name)
    texts = [*map(str, cells.cat.categories), ""]
    index = cells.cat.codes.to_numpy() % len(texts)  # the code of an empty cell is -1
    times = np.bincount(index, minlength=len(texts))
    reader = LabelReader(attribute, {**_own_levels(texts, own), **_levels(levels)})
    labels, forms, is_moved = np.full(len(texts), SUPPRESSED, dtype=object), Counter[LabelForm](), False
    for place in np.flatnonzero(times).tolist():
        try:
            labels[place], form = reader.read(texts[place])
        except UnreadLabel as error:
            line, text = int((index == place).argmax()) + 2, texts[place].strip()
            if not (attribute.numeric and DECIMAL.fullmatch(text)):
                raise SchemaError(f"{path.name}, line {line}: {error}") from None
            domain = attribute.public_domain
            assert isinstance(domain, Numbers)
            if stated != "perturbed" and not domain.low <= float(text) <= domain.high:
                raise SchemaError(
                    f"{path.name}, line {line}: the numbers of '{name}' must be in its domain, {domain}; "
                    f"got another number of the form '{show_form(text)}'. If noise was added "
                    f"to the column, state it (--treatment '{name}: perturbed'; in Python `treatments`). If a label "
                    f"was recoded, name the hierarchy (--hierarchy {name}=FILE; in Python `hierarchies`)."
                ) from None
            labels[place] = text
            is_moved = True
        else:
            forms[form] += int(times[place])
    treated = _recognize(forms, is_moved=is_moved)
    _check_stated(path, name, stated, treated)
    treated = "perturbed" if stated == "perturbed" else treated
    if treated in ("plain", "perturbed") and attribute.numeric:
        numbers = pd.Series(pd.to_numeric(pd.Series(labels), errors="coerce").to_numpy()[index], name=name)
        original = dataset.table[name].dtype
        return ForeignColumn(numbers.astype(original) if treated == "plain" else numbers, treated, forms, None)
    known = treated in ("plain", "perturbed") or (own is not None and _has_all(own, {*labels[times > 0]}))
    return ForeignColumn(pd.Series(labels[index], name=name), treated, forms, None if known else reader.hierarchy)


def _own_levels(texts: Sequence[str], own: Generalization | None) -> dict[str, list[str]]:
    """Return, for each text that is a label of the dataset's tree `own`, the values that the label covers."""
    found: dict[str, list[str]] = {}
    if not isinstance(own, OfLeaves):
        return found
    for text in texts:
        with contextlib.suppress(SchemaError):
            found[text] = [own.leaves[place] for place in own.covered(text)]
    return found


def _levels(path: str | os.PathLike[str] | None) -> dict[str, list[str]]:
    """Return the values that each label in the file of a hierarchy covers."""
    levels: dict[str, list[str]] = {}
    for leaf, *labels in read_rows(path) if path else ():
        for label in labels:
            levels.setdefault(label, []).append(leaf)
    return levels


def _has_all(own: Generalization, labels: set[str]) -> bool:
    try:
        return all(own.runs(label) is not None for label in labels)
    except SchemaError:
        return False


def _recognize(forms: Mapping[LabelForm, int], *, is_moved: bool) -> Treated:
    """Return the treatment of a column, which follows from the forms of the cells."""
    others = {*forms} - {*PLAIN, *HIDDEN}
    if is_moved:
        return "perturbed"
    return "generalized" if others else "suppressed" if {*forms} & {*HIDDEN} else "plain"


def _check_stated(path: Path, name: str, stated: str | None, found: Treated) -> None:
    """Raise SchemaError if the cells contradict the stated treatment."""
    if stated == "perturbed" and found in ("plain", "perturbed"):
        return
    shown = {"exact": ("plain",), "suppressed": ("plain", "suppressed")}
    if stated is not None and found not in shown.get(stated, (stated, "suppressed", "plain")):
        raise SchemaError(
            f"{path.name}: the treatment of '{name}' must match its cells, which are {found}; got '{stated}'. Leave "
            "the treatment out, or correct it."
        )
