"""Infer the description of a table that nobody has described: a guess, which says what it guessed of each column."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from privnb.datasets import description
from privnb.datasets.column_types import Column, published, recognized
from privnb.datasets.column_values import Values
from privnb.datasets.document import GUESS, PROPOSAL, quote
from privnb.datasets.owners import of_people
from privnb.microdata import cuts
from privnb.microdata.schema import Categories, Numbers, Role
from privnb.runtime.names import offered, renamed_in
from privnb.tables.notation import Notation, mark_of, with_tails
from privnb.tables.text_files import Layout

LISTED = 200  # a longer domain stands in its hierarchy's file alone


HEAD = """\
# Drafted by `privnb new` from {file}: {records} records, {columns} columns. A guess, line by line.
#
# 1. Roles. identifier: names a person, dropped from every release. quasi-identifier: others may know it from elsewhere.
#    sensitive: what nobody should learn about a person. neutral: neither. unused: left out.
#    person: the key of the person or household whose record this is, dropped too; k then counts different people.
#    weight: for how many people of a population the record stands, dropped too.
#    One row per person? {assumed}
# 2. Nothing is sensitive until you say so: choose at least one column, or what an adversary learns is not measured.
# 3. A domain is public knowledge: what a value could be, whoever is in the table. Lines marked PROPOSAL were read from
#    the records; replace them. A bound read from the records tells about them and voids every promise of noise.
#    Numbers are rounded to their domain's step (1 where none stands) when they are loaded; choose another as you like.
#    missing is how labels write a number that is not there: a value of its own. Without it such a table is refused. A
#    column's own list of missing names texts that say the same there, such as "97" where nobody answered. Noise with
#    epsilon refuses numbers that may be missing, unless missing_is_public = true beside the mark says that everybody
#    may know whose numbers are missing.
# 4. cuts are where public intervals begin: 10 means every 10 from 0, [18, 65] at 18 and at 65. A published range ends
#    there where fewer than ten people share its end value. Choose them as one who does not know the records.
# 5. hierarchies/default/ holds one file per attribute of categories, leaf;level 1;...;*: put values that are alike
#    under one label. Rare values were grouped first, and how rare they are was read from the records: a PROPOSAL, too.
#    A value added to a domain needs its line there; of more than 200 values the file is the domain. Numbers have no
#    file: they become ranges that end at cuts.
# 6. Then delete the line below that says draft; until then nothing loads this description. `privnb app --describe
#    {stem}` does 1, 2 and 6 by menu.
draft = true

[dataset]
name = {name}
title = {name}
description = ""
source = ""
licence = ""
citation = ""
"""


ASSUMED = {  # whether people have several records each
    True: 'No, it seems: see role = "person" below. Without it a person\'s own records would hide that person.',
    False: 'Assumed. If a person may have several, give their key role = "person": records of one hide nobody.',
}


RENAMED = """
# The file's own names of these columns hold what no name may (slashes, angle brackets, invisible characters). Left: as
# in the file; right: as everywhere else. Another name on the right must stand at its [columns] and hierarchy as well.
[renamed]
"""


@dataclass(frozen=True, eq=False)
class Inferred:
    """What a table's description may say.

    Parameters
    ----------
    columns : list of Column
    values : dict of str to Values
        By column.
    layout : Layout, optional
        Of text files.
    notation : Notation
    mark : str
        How most of the table says that a value is missing; "" if none is.
    missing : dict of str to list of str
        By column the other texts that say so.
    renamed : dict of str to str
        What columns are called here, by their names in the file, where these differ.
    """

    columns: list[Column]
    values: dict[str, Values]
    layout: Layout | None
    notation: Notation
    mark: str
    missing: Mapping[str, Sequence[str]]
    renamed: dict[str, str]

    def write(self, folder: Path) -> None:
        """Write the hierarchies of the columns into the folder of a description."""
        place = folder / "hierarchies" / "default"
        place.mkdir(parents=True)
        for column in self.columns:
            if column.tree:
                column.tree.write(place / f"{column.name}.csv")

    def text(self, name: str, files: Mapping[Path, Sequence[Path]], records: int, checked: bool = True) -> str:
        """Return what the description says.

        Parameters
        ----------
        name
            Of the dataset.
        files
            The described ones, and which files each is a copy of.
        records
            How many there are.
        checked
            Whether the checksum of each file is named.
        """
        read = [each for own in files.values() for each in own]
        said = HEAD.format(
            file=quote(offered(read[0].name)) + (f" and {len(read) - 1} more" if read[1:] else ""),
            records=records,
            columns=len(self.columns),
            name=quote(name),
            stem=shlex.quote(name),
            assumed=ASSUMED[any(column.role is Role.PERSON for column in self.columns)],
        )
        for file, own in files.items():
            said += f"\n[[files]]\npath = {quote(offered(file.name))}\n"
            said += _sums(file, own) if checked else ""
            if self.layout and self.layout.skip_lines:
                said += (
                    f"skip_lines = {self.layout.skip_lines} # a guess: a title, it seems, above the columns' names\n"
                )
        said += "".join(["\n[format]\n", *self._format()])
        if self.renamed:
            said += RENAMED + "".join(f"{quote(own)} = {quote(name)}\n" for own, name in self.renamed.items())
        return "\n".join([said, *map(self._column, self.columns)])

    def _format(self) -> Iterable[str]:
        if layout := self.layout:
            yield f"separator = {quote(layout.separator)}\n"
            if layout.quote != '"':
                yield f"quote = {quote(layout.quote)}\n"
            if layout.encoding != "utf-8":
                yield f"encoding = {quote(layout.encoding)}{_doubt(layout)}\n"
        if self.notation.decimal != ".":
            yield f"decimal = {quote(self.notation.decimal)}\n"
        if self.notation.thousands:
            yield f"thousands = {quote(self.notation.thousands)} # signs of currency and per cent are left out, too\n"
        if self.mark:
            yield f"missing = {quote(self.mark)}\n"
            yield 'records_with_missing = "keep" # or "drop" those, or "refuse" the table\n'

    def _column(self, column: Column) -> str:
        key = column.name if re.fullmatch(r"[\w-]+", column.name, re.ASCII) else quote(column.name)
        lines = [f"[columns.{key}]", f'role = "{column.role}" # {column.reason}']
        if texts := [*self.missing.get(column.name, ()), *column.odd]:
            lines.append(missing_line(texts, column.odd))
        if column.domain is not None:
            lines.append("# " * (column.role is Role.UNUSED) + domain_line(column))
        return "\n".join(lines) + "\n"


def infer_description(
    cells: Mapping[str, pd.Series],
    layout: Layout | None = None,
    *,
    times: Mapping[str, np.ndarray] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    codes: Sequence[np.ndarray] | None = None,
    sensitive: Iterable[str] = (),
) -> Inferred:
    """Infer what the columns of a table are.

    Parameters
    ----------
    cells
        A Categorical of texts for each column, by its name in the file.
    layout
        Of the text files that hold them.
    times
        For how many records each entry of a column stands; None: one.
    missing
        By the name that a column has here, the texts that say that a value is missing.
    codes
        The codes of each column, record by record, in which a key of people is looked for, see `owners.of_people`.
    sensitive
        The columns whose owner says that nobody should learn them.
    """
    renamed, times, missing = renamed_in(cells), times or {}, missing or {}
    names = {own: renamed.get(own, own) for own in cells}
    mark = mark_of([(cells[own], times.get(own)) for own in cells])
    values = {
        name: Values.of(cells[own], mark or "NA", times.get(own), with_tails(missing.get(name, ())))
        for own, name in names.items()
    }
    notation = Notation.found([each.numerals for each in values.values()], layout.separator if layout else None)
    values = {name: each.without_tails(notation) for name, each in values.items()}
    columns = of_people([recognized(name, each, notation) for name, each in values.items()], values, codes)
    secret = {names[own] for own in sensitive}
    columns = [
        published(each.name, values[each.name], notation)._replace(role=Role.SENSITIVE) if each.name in secret else each
        for each in columns
    ]
    mark = mark or "NA" * any([*missing.values(), *(column.odd for column in columns)])
    return Inferred(columns, values, layout, notation, mark, missing, renamed)


def _doubt(layout: Layout) -> str:
    """The comment beside an encoding that nobody has stated."""
    if layout.others:
        fit = f"{' and '.join(layout.others)} {'fits' if len(layout.others) == 1 else 'fit'} as well"
        return f" # {PROPOSAL}: {fit}. If letters are wrong, draft it again with --encoding; else delete this comment"
    return " # a guess: see whether letters with accents are right" * layout.is_proposed


def _sums(file: Path, own: Sequence[Path]) -> str:
    """The lines of a file's checksum, and of those that it was made of where it is no copy."""
    whole, parts = description.checksum(file), [description.checksum(each) for each in own]
    made = f"made_of = {_list(parts)} # checksums\n" if whole not in parts else ""
    return f'sha256 = "{whole}"\n{made}'


def missing_line(texts: Iterable[str], odd: Sequence[str] = ()) -> str:
    """Return the line of a description that names the texts of a column that count as missing, some of them `odd`."""
    why = (
        f"{GUESS}: what is not of the column's type counts as missing"
        if odd
        else "texts that say that no value is there"
    )
    return f"missing = {_list(texts)} # {why}"


def domain_line(column: Column) -> str:
    """Return the line that proposes the domain of a `Column`. A long one is the leaves of its tree's file."""
    if column.tree and isinstance(column.domain, Categories) and len(column.domain.values) > LISTED:
        place = quote(f"hierarchies/default/{column.name}.csv")
        return f"domain = {place} # {PROPOSAL}, the leaves of that file, read from the records: replace"
    return f"domain = {_domain(column.domain)} # {PROPOSAL}, read from the records: replace"


def _domain(domain: Categories | Numbers | None) -> str:
    if not isinstance(domain, Numbers):
        return _list(domain.values if domain else ())
    step = "" if domain.step == 1 else f", step = {domain.step}"
    gap = "" if domain.missing is None else f", missing = {quote(domain.missing)}"
    own = cast(tuple[float, ...], domain.cuts)
    parted = cuts.grain(domain) if own == cuts.points(domain, None) else [*own]
    return f"{{ low = {domain.low}, high = {domain.high}{step}, cuts = {parted}{gap} }}"


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quote, texts))}]"
