"""What a drafted description says: the text of a table's columns, as `column_types` guesses them."""

import re
import shlex
from types import MappingProxyType

from privnb.datasets import description
from privnb.datasets.toml_lines import GUESS, quoted
from privnb.microdata import cuts
from privnb.microdata.schema import Categories, Role
from privnb.runtime.names import offered

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


def text(name, files, layout, notation, records, mark, columns, renamed, checked=True, marked=MappingProxyType({})):
    """What a description says. `files`: the described ones, and which files each is a copy of; `checked`: with the
    checksum of each; `marked`: by column the texts that say, beside the `mark`, that a value is missing.
    """
    read = [each for own in files.values() for each in own]
    head = HEAD.format(
        file=quoted(offered(read[0].name)) + (f" and {len(read) - 1} more" if read[1:] else ""),
        records=records,
        columns=len(columns),
        name=quoted(name),
        stem=shlex.quote(name),
        assumed=ASSUMED[any(column.role is Role.PERSON for column in columns)],
    )
    for file, own in files.items():
        head += f"\n[[files]]\npath = {quoted(offered(file.name))}\n"
        head += _sums(file, own) if checked else ""
        if layout and layout.skip_lines:
            head += f"skip_lines = {layout.skip_lines} # a guess: a title, it seems, above the columns' names\n"
    head += "\n[format]\n"
    if layout:
        head += f"separator = {quoted(layout.separator)}\n"
    if layout and layout.quote != '"':
        head += f"quote = {quoted(layout.quote)}\n"
    if layout and layout.encoding != "utf-8":
        head += f"encoding = {quoted(layout.encoding)} # a guess: see whether letters with accents are right\n"
    if notation.decimal != ".":
        head += f"decimal = {quoted(notation.decimal)}\n"
    if notation.thousands:
        head += f"thousands = {quoted(notation.thousands)} # signs of currency and per cent are left out, too\n"
    if mark:
        head += f'missing = {quoted(mark)}\nrecords_with_missing = "keep" # or "drop" those, or "refuse" the table\n'
    if renamed:
        head += RENAMED + "".join(f"{quoted(own)} = {quoted(name)}\n" for own, name in renamed.items())
    parts = [head]
    for column in columns:
        key = column.name if re.fullmatch(r"[\w-]+", column.name, re.ASCII) else quoted(column.name)
        lines = [f"[columns.{key}]", f'role = "{column.role}" # {column.reason}']
        if also := [*marked.get(column.name, ()), *column.odd]:
            lines.append(missing(also, column.odd))
        if column.domain is not None:
            hidden = "# " if column.role is Role.UNUSED else ""
            lines.append(f"{hidden}{proposal(column)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _sums(file, own):
    """The lines of a file's checksum, and of those that it was made of where it is no copy."""
    whole, parts = description.checksum(file), [description.checksum(each) for each in own]
    made = f"made_of = [{', '.join(map(quoted, parts))}] # checksums\n" if whole not in parts else ""
    return f'sha256 = "{whole}"\n{made}'


def missing(texts, odd=()):
    """The line of a description that names the texts of a column that count as missing, of which some are `odd`."""
    why = (
        f"{GUESS}: what is not of the column's type counts as missing"
        if odd
        else "texts that say that no value is there"
    )
    return f"missing = [{', '.join(map(quoted, texts))}] # {why}"


def proposal(column):
    """The line of a description that proposes the domain of a `Column`. A long one is the leaves of its tree's file."""
    if column.tree and len(column.domain.values) > LISTED:
        place = quoted(f"hierarchies/default/{column.name}.csv")
        return f"domain = {place} # PROPOSAL, the leaves of that file, read from the records: replace"
    return f"domain = {_domain(column.domain)} # PROPOSAL, read from the records: replace"


def _domain(domain):
    if isinstance(domain, Categories):
        return f"[{', '.join(map(quoted, domain.values))}]"
    step = "" if domain.step == 1 else f", step = {domain.step}"
    gap = "" if domain.missing is None else f", missing = {quoted(domain.missing)}"
    parted = cuts.grain(domain) if domain.cuts == cuts.points(domain, None) else [*domain.cuts]
    return f"{{ low = {domain.low}, high = {domain.high}{step}, cuts = {parted}{gap} }}"
