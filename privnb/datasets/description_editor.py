"""The editor of a description, in which an owner chooses and saves the role of each column of a table."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, cast

import numpy as np
import pandas as pd

from privnb.datasets import alerts, column_types, description, repairs
from privnb.datasets.column_types import ColumnProposal
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import (
    DatasetDescription,
    find_description,
    load_described,
    missing_marks,
    read_cells,
    read_derived,
)
from privnb.datasets.derivation_proposals import ProposedColumn, propose_derivations
from privnb.datasets.draft import Missing, dataset_name, domain_line, draft, draft_table, missing_line
from privnb.datasets.neutral_columns import UniquePeople, find_unique_people
from privnb.datasets.repairs import Repair
from privnb.datasets.roles import Roles
from privnb.datasets.sensitive_categories import ASKABLE, SensitiveCategory, find_sensitive
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, Role, SchemaError
from privnb.runtime import expect, progress, validation
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import OutputExistsError, UsageError, output_error
from privnb.runtime.names import rename_invalid
from privnb.runtime.sentences import join_names
from privnb.runtime.temporary import atomic_write
from privnb.runtime.validation import validated
from privnb.tables.corrections import Correction
from privnb.tables.derivation import UNITS, Derivation
from privnb.tables.notation import Notation
from privnb.tables.reading import list_parts

# The file to describe, or "" if only a name is given.
File = Annotated[
    str | os.PathLike[str],
    lambda name, value: None if isinstance(value, str) and not value else expect.path(name, value),
]
MOST_MERGED = 40  # the maximum number of values of a column of which an owner can merge some
SAMPLE = 20_000  # the number of records for examples and for dependencies between columns


class ColumnProfile(NamedTuple):
    """The facts about a column that its owner sees.

    The facts are the type of the column, the numbers of distinct and missing values, examples that do not belong to a
    single person, the reason for the proposed role, alerts, and the rule of a derived column.
    """

    name: str
    kind: str
    different: int
    missing: int
    examples: str
    reason: str
    alerts: list[str]
    derived: str = ""


@dataclass(frozen=True, eq=False)
class DescriptionEditor:
    """A description file and the records that it describes.

    Parameters
    ----------
    path : Path
    text : str
        The text of the description. It cannot be saved if the file has changed since it was read.
    cells : DataFrame
        The records, with each column as a Categorical of texts.
    """

    path: Path
    text: str
    cells: pd.DataFrame

    @classmethod
    def open(cls, name: validation.Path, table: pd.DataFrame | None = None, *, may_have_studies: bool = False) -> Self:
        """Open a dataset by the name of its folder or the path of its description.

        `table` holds the records if they have already been read. Raises SchemaError for a description that is not valid
        or whose columns are not those of the table; also raises SchemaError for a description with studies, unless
        `may_have_studies` is true. Raises InputFileError for a file that cannot be read.
        """
        path = find_description(name).resolve()
        described = description.read_description(path)
        text = path.read_bytes().decode("utf-8")
        if described.get("studies") and not may_have_studies:
            raise SchemaError(
                f"{path.name} has studies, whose roles take precedence over those of the columns. Change the studies "
                "in a text editor."
            )
        table = read_cells(path.parent, described) if table is None else table
        if strange := set(described["columns"]) ^ set(table):
            raise SchemaError(
                f"{path.name} and its table differ in columns: {', '.join(sorted(strange))}. Correct the description."
            )
        return cls(path, text, table[[*described["columns"]]])

    def __repr__(self) -> str:  # never the records
        return f"DescriptionEditor('{self.path.stem}', {len(self.cells)} records, {len(self.cells.columns)} columns)"

    @cached_property
    def _described(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    @property
    def renamed(self) -> dict[str, str]:
        """The new name of each column whose name in the file differs, as `{name in the file: new name}`."""
        return self._described.get("renamed", {})

    @property
    def files(self) -> list[str]:
        """The files with the original records, in the folder of the description."""
        return [entry["path"] for entry in self._described["files"]]

    @property
    def studies(self) -> list[str]:
        """The studies of the description; the roles in a study take precedence over the columns' own roles."""
        return [*self._described.get("studies", {})]

    def has_domain(self, name: str) -> bool:
        """Return whether the description states the domain of a column."""
        return "domain" in self._described["columns"][name]

    @property
    def is_draft(self) -> bool:
        """Whether the description is a draft."""
        return bool(self._described.get("draft"))

    @cached_property
    def roles(self) -> Roles:
        """The `Roles` that the description states; the roles of a draft contain no statements of the owner."""
        chosen = {name: Role(entry["role"]) for name, entry in self._described["columns"].items()}
        none = {role: not self.is_draft and role not in chosen.values() for role in (Role.SENSITIVE, Role.PERSON)}
        days = {name: entry["days"] for name, entry in self._described["columns"].items() if "days" in entry}
        return Roles(chosen, chosen, none[Role.SENSITIVE], none[Role.PERSON], days)

    @cached_property
    def day_forms(self) -> dict[str, list[str]]:
        """The possible formats of the days of each column with several possible formats: `{column: formats}`."""
        return {name: forms for name, forms in self._forms.items() if len(forms) > 1}

    @cached_property
    def _forms(self) -> dict[str, list[str]]:
        """The possible formats of the days of each column; without formats, a column does not hold days."""
        return {name: column_types.day_forms(each) for name, each in self._values.items()}

    @cached_property
    def derived(self) -> dict[str, Derivation]:
        """The rules of the derived columns, by name."""
        return dict(read_derived(self._described).rules)

    @cached_property
    def _days(self) -> dict[tuple[str, str], FloatArray]:
        """The day numbers of the records, by column and format; `derivations` fills the dict."""
        return {}

    @progress.step("looking for columns to compute")
    def derivations(self, roles: Roles) -> dict[str, list[ProposedColumn]]:
        """Return the derived columns that fit each column of the file, `{column: proposals}`.

        The formats of dates are those that `roles` state. A column of dates with several possible formats has no
        proposals until its owner states the format.
        """
        own = {name: each for name, each in self._values.items() if name not in self.derived}
        forms = {name: form for name in own if (form := self._form(name, roles))}

        def days(name: str) -> FloatArray:
            key = (name, forms[name])
            if key not in self._days:
                marks = missing_marks(self._described)[name]
                codes, _ = Derivation("days", name).encode(self.cells[name].cat.categories, forms[name], marks)
                self._days[key] = np.array([*codes, None], dtype=float)[self.cells[name].cat.codes]
            return self._days[key]

        return propose_derivations(own, forms, days, self.derived, [*self.cells], date.today())

    def _form(self, name: str, roles: Roles) -> str:
        """Return the format of the dates of a column; empty if it is unknown."""
        return roles.days.get(name) or (self._forms[name][0] if len(self._forms[name]) == 1 else "")

    @progress.step("computing columns")
    def derive(self, rules: Mapping[str, Derivation], roles: Roles | None = None) -> tuple[Self, list[str]]:
        """Add derived columns to the description, with a proposed role and domain.

        A source that is a quasi-identifier by the proposal of a draft gets the role unused.

        Parameters
        ----------
        rules : dict of str to Derivation
            The rule of each new column, by name.
        roles : Roles, optional
            The choices of the owner that are not saved yet; by default, the roles of the description. Only the formats
            of days and the roles of sources are used.

        Returns
        -------
        DescriptionEditor
            The saved state.
        list of str
            Sentences about the new columns and the roles of their sources.

        Raises
        ------
        UsageError
            For a name that the table has or cannot have. The description stays unchanged.
        SchemaError
            If the description was changed in the meantime, and for a source that does not exist, is derived itself, or
            does not hold dates in a known format. The description stays unchanged.
        OSError
            If the description cannot be written.
        """
        self._check_unchanged()
        roles, entries = roles or self.roles, self._described["columns"]
        for name in rules:
            if name.casefold() in {each.casefold() for each in entries}:
                raise UsageError(f"the table has a column '{name}' already. Choose another name.")
            if rename_invalid([name]):
                raise UsageError(f"'{name}' cannot be the name of a column. Choose a name of letters and digits.")
        forms = self._source_forms(rules, roles)
        added = replace(read_derived(self._described), rules=rules, forms=forms)
        added.check_names(self.file_columns, self.path.name)
        cells = added.add(self.cells)
        mark = self._described.get("format", {}).get("missing", "")
        values = {name: Values.of(cells[name], mark or "NA") for name in rules}
        columns = [column_types.recognize_published(name, each) for name, each in values.items()]
        lines = {each.name: _entry(each, rules[each.name]) for each in columns}
        sources = [*dict.fromkeys(source for rule in rules.values() for source in rule.sources)]
        unused = [name for name in sources if self.is_draft and roles.chosen[name] is Role.QUASI_IDENTIFIER]
        new = {name: form for name, form in forms.items() if entries[name].get("days") != form}
        marked = "NA" if not mark and any(each.missing for each in values.values()) else ""
        saved = self._saved(description.add_derived(self.text, lines, new, unused, marked), cells, columns)
        kept = [name for name in sources if name not in unused and roles.chosen[name] in PUBLISHED]
        said = [f"'{name}' is computed: {rule.words}." for name, rule in rules.items()]
        if unused:
            has, them = ("has", "it") if len(unused) == 1 else ("have", "them")
            said.append(
                f"{join_names(unused)} now {has} the role unused, because other columns are computed from {them}. "
                f"Choose another role if a release should contain {them} as well."
            )
        said += [f"{name} keeps the role {roles.chosen[name]}, so a release contains it, too." for name in kept]
        return saved, said

    @property
    def file_columns(self) -> list[str]:
        """The columns that are in the files, in contrast to derived columns."""
        return description.list_file_columns(self._described["columns"])

    def _source_forms(self, rules: Mapping[str, Derivation], roles: Roles) -> dict[str, str]:
        """Return the format of the dates of each source of `rules` that must hold dates."""
        found = {}
        for rule in (each for each in rules.values() if each.kind != "prefix"):
            for source in (each for each in rule.sources if each in self.file_columns):
                form = self._form(source, roles)
                if self.day_forms.get(source) and not form:
                    said = " or ".join(map(column_types.spell_form, self.day_forms[source]))
                    raise SchemaError(
                        f"'{rule.words}' needs the format of the dates of '{source}', which can be {said}. State the "
                        f"format: --days '{source}: {column_types.spell_form(self.day_forms[source][0])}'."
                    )
                if not rule.fits(form):
                    raise SchemaError(
                        f"'{rule.words}' needs {UNITS[rule.kind]} in '{source}', which has "
                        f"{column_types.spell_form(form) if form else 'no dates'}. Choose another column."
                    )
                found[source] = form
        return found

    @progress.step("removing a column")
    def remove_derived(self, name: str) -> tuple[Self, list[str]]:
        """Remove a derived column from the description, together with its hierarchy.

        The roles of its sources stay as they are.

        Returns
        -------
        DescriptionEditor
            The saved state.
        list of str
            Sentences about the column and its sources.

        Raises
        ------
        UsageError
            If the column is not a derived column.
        SchemaError
            If the description was changed in the meantime, or if a confirmed description could no longer be loaded. The
            description then stays unchanged.
        OSError
            If the description cannot be written.
        """
        self._check_unchanged()
        if name not in self.derived:
            raise UsageError(
                f"'{name}' is not a derived column, so it cannot be removed. The derived columns are: "
                f"{', '.join(self.derived) or 'none'}."
            )
        saved = self._saved(description.remove_column(self.text, name), self.cells.drop(columns=name))
        (self.path.parent / "hierarchies" / "default" / f"{name}.csv").unlink(missing_ok=True)
        left = [f"{each} has the role {self.roles.chosen[each]}" for each in self.derived[name].sources]
        return saved, [f"'{name}' is removed. {'; '.join(left)}, as before."]

    @cached_property
    def domains(self) -> dict[str, Numbers | Categories]:
        """The domains that the description states, by column; reading a domain that is not valid raises SchemaError."""
        columns = DatasetDescription.of_text(self.path, self._described).columns.attributes
        return {each.name: each.domain for each in columns if each.domain is not None}

    def proposed_domains(self, roles: Roles) -> list[str]:
        """Return the published columns whose domains were read from the records and not replaced."""
        proposed = description.find_proposals(self.text)
        return [name for name in proposed if self.has_domain(name) and roles.chosen[name] in PUBLISHED]

    @progress.step("stating the values of a column")
    def state_values(self, name: str, values: Iterable[str]) -> tuple[Self, list[str]]:
        """State that the domain of a column of texts is this public list of values.

        The mark of a missing value stays in the domain. In the hierarchy, a new value is in no group, and a value that
        is not in the list is deleted.

        Returns
        -------
        DescriptionEditor
            The saved state.
        list of str
            Sentences about the domain.

        Raises
        ------
        SchemaError
            If records have values that are not in the list, if the column is not one of texts, if the description was
            changed in the meantime, or if it could no longer be loaded. The description then stays unchanged.
        OSError
            If the description cannot be written.
        """
        self._check_unchanged()
        described = DatasetDescription.of_text(self.path, self._described)
        domain, own = described.columns[name].domain, self._values[name]
        if not isinstance(domain, Categories):
            raise SchemaError(f"'{name}' must be a column of texts with a domain. State the bounds of numbers instead.")
        marks = [domain.mark] if domain.mark is not None else []
        stated = tuple(dict.fromkeys([*values, *marks]))
        if SUPPRESSED in stated:
            raise SchemaError(f"'{SUPPRESSED}' means a suppressed value in a release. Choose another word.")
        if absent := int((~own.texts.isin(stated)).sum()):
            lacks = "1 value that records have" if absent == 1 else f"{absent:,} values that records have"
            raise SchemaError(f"the list lacks {lacks} in '{name}'. Add what is missing, or repair the column first.")
        new = [each for each in stated if each not in {*domain.values}]
        tree = None
        if described.hierarchy_file(name).is_file() and {*stated} != {*domain.values}:
            before = cast(Taxonomy, described.hierarchy(name))
            tree = Taxonomy(name, tuple(row for row in before.rows if row[0] in stated)).with_leaves(new)
        column = ColumnProposal(name, self.roles.chosen[name], "", Categories(stated), tree)
        line = domain_line(column, is_proposed=False)
        if tree is None and isinstance(self._described["columns"][name]["domain"], str):  # the leaves of the same file
            line = f"domain = {description.quote(self._described['columns'][name]['domain'])}"
        said = f"The values of '{name}' are stated as public in {self.path.name}."
        grouped = f" New values have no group in the hierarchy yet: {len(new):,}." if new and tree else ""
        return self._saved(description.edit_domain(self.text, name, line), self.cells, [column]), [said + grouped]

    @cached_property
    def corrections(self) -> dict[str, Correction]:
        """The corrections of texts that the description states, by column."""
        return description.read_corrections(self._described["columns"])

    @cached_property
    def _repairs(self) -> dict[str, Repair]:
        entries = self._described["columns"]
        texts = [name for name in self.file_columns if not isinstance(entries[name].get("domain"), Mapping)]
        found = {name: repairs.find_repair(name, self._values[name]) for name in texts}
        return {name: repair for name, repair in found.items() if repair}

    def repairs(self, roles: Roles) -> dict[str, Repair]:
        """Return the repairs that published columns may need if the columns have these `roles`, by column."""
        return {name: repair for name, repair in self._repairs.items() if roles.chosen[name] in PUBLISHED}

    def repair(self, names: Collection[str]) -> tuple[Self, list[str]]:
        """State in the description how the texts of columns are corrected, and propose domains and hierarchies again.

        The file of the records stays as it is.

        Returns
        -------
        DescriptionEditor
            The saved state.
        list of str
            Sentences about the repaired columns.

        Raises
        ------
        UsageError
            For a column that needs no repair.
        SchemaError
            If the description was changed in the meantime, or if a confirmed description could no longer be loaded. The
            description then stays unchanged.
        OSError
            If the description cannot be written.
        """
        if absent := [name for name in names if name not in self._repairs]:
            raise UsageError(
                f"'{absent[0]}' needs no repair. The columns that may need one are: "
                f"{', '.join(self._repairs) or 'none'}."
            )
        own, stated = {name: self._repairs[name] for name in names}, self.corrections
        corrections = {
            name: stated[name].followed_by(each.correction) if name in stated else each.correction
            for name, each in own.items()
        }
        said = [
            f"'{name}' is repaired: {'; '.join(each.changes)}. {self.path.name} states this, so that each load repeats "
            "it; the file of the records is unchanged. The domain and the hierarchy are proposed again."
            for name, each in own.items()
        ]
        return self._corrected(corrections), said

    def list_mergeable(self, name: str) -> list[str]:
        """Return the values of a column of texts of which an owner can merge some; empty if they are too many."""
        values, correction = self._values[name], self.corrections.get(name, Correction())
        is_text = not isinstance(self._described["columns"][name].get("domain"), Mapping)
        is_own = is_text and name not in self.derived and not correction.digits
        if not is_own or not 1 < values.different <= MOST_MERGED:
            return []
        if not values.texts.isin(self.cells[name].cat.categories).all():  # numbers that are written in another way
            return []
        return sorted(values.texts, key=lambda text: (text.casefold(), text))

    def merge_values(self, name: str, replaced: Mapping[str, str]) -> tuple[Self, list[str]]:
        """State that some values of a column are read as other values; see `repair` for the results and the errors.

        Parameters
        ----------
        name : str
        replaced : dict of str to str
            The value as which each value is read.
        """
        values = self.list_mergeable(name)
        if absent := {*replaced, *replaced.values()} - {*values}:
            raise UsageError(f"'{name}' lacks {len(absent)} of the values to merge. Choose values of the column.")
        if any(new in replaced for new in replaced.values()):
            raise UsageError(
                f"a value of '{name}' that others are read as must stay; it is read as another value itself. Choose "
                "the value that stays for all of them."
            )
        if not replaced:
            raise UsageError(f"no value of '{name}' is read as another value. Choose a value first.")
        said = (
            f"Values of '{name}' are read as others: {len(replaced)}. The domain and the hierarchy are proposed again."
        )
        correction = self.corrections.get(name, Correction()).followed_by(Correction(replaced))
        return self._corrected({name: correction}), [said]

    def undo_repair(self, name: str) -> tuple[Self, list[str]]:
        """Delete the correction of a column from the description; see `repair` for the results and the errors."""
        if name not in self.corrections:
            raise UsageError(
                f"'{name}' is not repaired. The repaired columns are: {', '.join(self.corrections) or 'none'}."
            )
        said = f"'{name}' has the texts of the file again. The domain and the hierarchy are proposed again."
        return self._corrected({name: Correction()}), [said]

    @progress.step("repairing columns")
    def _corrected(self, corrections: Mapping[str, Correction]) -> Self:
        """Write the corrections of columns and new domains for these columns, and return the saved state."""
        self._check_unchanged()
        entries, notation, text = (
            self._described["columns"],
            Notation.of(self._described.get("format", {})),
            self.text,
        )
        for name, correction in corrections.items():
            text = description.edit_correction(text, name, correction)
        cells = read_cells(self.path.parent, tomllib.loads(text))[[*entries]]
        columns = []
        for name in (each for each in corrections if "domain" in entries[each]):
            mark, *also = missing_marks(self._described)[name]
            values = Values.of(cells[name], mark, also=also).without_tails(notation)
            columns.append(self._propose_texts(name, values, notation))
            text = description.edit_domain(text, name, domain_line(columns[-1]), columns[-1].reason)
        return self._saved(text, cells, columns)

    def _propose_texts(self, name: str, values: Values, notation: Notation) -> ColumnProposal:
        """Return the proposal of a column whose values are texts, with the format of days that the description states.

        A column that the rules of a draft read as numbers is a column of categories here.
        """
        if form := self.roles.days.get(name):
            return column_types.recognize_days(name, values, form)
        found = column_types.recognize_published(name, values, notation)
        if found.tree is None or found.odd:
            found = next(column_types.recognize_categories(name, values))
        return found

    def _saved(self, text: str, cells: pd.DataFrame, columns: Sequence[ColumnProposal] = ()) -> Self:
        """Write the description and the hierarchies of new columns, and return the saved state.

        Raises SchemaError, and restores the description, if a confirmed description can no longer be loaded.
        """
        folder = self.path.parent / "hierarchies" / "default"
        trees = [folder / f"{each.name}.csv" for each in columns]
        before = {tree: tree.read_bytes() for tree in trees if tree.is_file()}
        self._write(text, columns, anew=[each.name for each in columns])
        try:
            description.read_description(self.path)
            if not self.is_draft:
                load_described(self.path, table=cells)
        except (ValueError, OSError) as error:
            self._write(self.text)
            for tree in trees:
                tree.unlink(missing_ok=True)
            for tree, content in before.items():
                tree.write_bytes(content)
                tree.chmod(stat.S_IMODE(self.path.stat().st_mode))
            raise SchemaError(f"{error} {self.path.name} is unchanged.") from error
        return replace(self, text=self.path.read_bytes().decode("utf-8"), cells=cells)

    def _check_unchanged(self) -> None:
        """Raise SchemaError if the file of the description has changed since it was read."""
        if not self.path.is_file() or self.path.read_bytes() != self.text.encode():
            raise SchemaError(
                f"{self.path.name} was changed elsewhere since it was read here. Nothing is written. Open the "
                "description again, and choose the roles again."
            )

    @cached_property
    def guessed_missing(self) -> list[str]:
        """The columns for which a draft guessed that cells of another type are missing values."""
        return description.find_guessed_missing(self.text)

    @cached_property
    def _confidential(self) -> dict[str, SensitiveCategory]:
        return find_sensitive(self._values, dict.fromkeys(self._values, ASKABLE[0]))

    def proposed_sensitive(self, roles: Roles) -> dict[str, SensitiveCategory]:
        """Return the columns that look confidential and are not sensitive with these `roles`, and their kinds.

        In a confirmed description, the owner has already decided that a quasi-identifier is not sensitive, so only
        neutral columns are returned, whose exact values are published.
        """
        asked = ASKABLE if self.is_draft else (Role.NEUTRAL,)
        return {name: kind for name, kind in self._confidential.items() if roles.chosen[name] in asked}

    def unique_people(self, roles: Roles) -> list[UniquePeople]:
        """Return the neutral columns in which somebody is unique if the columns have these `roles`."""
        key = tuple(roles.chosen.items())
        if key not in self._unique:
            self._unique[key] = find_unique_people(self.cells, roles.chosen)
        return self._unique[key]

    @cached_property
    def _unique(self) -> dict[tuple[tuple[str, Role], ...], list[UniquePeople]]:
        """The results of `unique_people`, which a page asks for whenever it is drawn."""
        return {}

    @cached_property
    def copies(self) -> str:
        """A sentence if each record occurs more than once (see `alerts.describe_repetition`); otherwise, ""."""
        return alerts.describe_repetition(
            self.roles.before, self.cells, lambda names: alerts.count_repetition(self.cells[names])
        )

    @cached_property
    def _values(self) -> dict[str, Values]:
        layout, columns, marked = (
            self._described.get("format", {}),
            self._described["columns"],
            missing_marks(self._described),
        )
        notation = Notation.of(layout)
        found = {
            name: Values.of(self.cells[name], mark, also=also).without_tails(notation)
            for name, (mark, *also) in ((name, marked[name]) for name in self.cells)
        }
        numeric = [name for name in found if isinstance(columns[name].get("domain"), Mapping)]
        return found | {name: found[name].written(notation) for name in numeric}

    @cached_property
    def _determined(self) -> list[tuple[str, str, float, float]]:
        return alerts.find_determined(self._some)

    @cached_property
    def _ordered_alike(self) -> list[tuple[str, str, float]]:
        domains = {name: entry.get("domain") for name, entry in self._described["columns"].items()}
        numeric = [name for name, domain in domains.items() if isinstance(domain, Mapping)]
        found = {name: self._read_numbers(self._some[name]) for name in numeric}
        return alerts.find_same_order(pd.DataFrame(found))

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers as a float array (n,), in which a missing number is NaN."""
        return self._read_numbers(self.cells[name])

    def _read_numbers(self, column: pd.Series) -> FloatArray:
        texts = pd.Series(column.cat.categories, dtype=object)
        numbers = pd.to_numeric(Notation.of(self._described.get("format", {})).plain(texts), errors="coerce")
        known = numbers.mask(texts.isin(missing_marks(self._described)[column.name])).to_numpy(dtype=float)
        return np.append(known, np.nan)[column.cat.codes]

    @cached_property
    def _some(self) -> pd.DataFrame:
        """A random sample of the records.

        If ten people in the sample share a value, these people also share the value in the whole table.
        """
        rows = np.random.default_rng(0).permutation(len(self.cells))[:SAMPLE]
        return self.cells.iloc[np.sort(rows)]

    def seen(self, roles: Roles, *, on_page: bool = False) -> list[ColumnProfile]:
        """Return the facts about each column that the owner sees if the columns have these `roles`.

        With `on_page`, the alerts name the controls of the page, and not the options of the command line.
        """
        key = (*roles.chosen.items(), *roles.missing, on_page)
        if key not in self._seen:
            self._seen.clear()
            self._seen[key] = self._look(roles, on_page)
        return self._seen[key]

    @cached_property
    def _seen(self) -> dict[tuple[Any, ...], list[ColumnProfile]]:
        """The last result of `seen`, which a page asks for whenever it is drawn."""
        return {}

    @progress.step("looking at the columns")
    def _look(self, roles: Roles, on_page: bool) -> list[ColumnProfile]:
        entries, why = self._described["columns"], description.read_reasons(self.text)
        kinds = {name: _kind(entries[name].get("domain")) for name in entries}
        numeric = {
            name: entries[name]["domain"].get("step", 1)
            for name, kind in kinds.items()
            if kind in ("numbers", "decimals")
        }
        guessed = [name for name in self.guessed_missing if name not in roles.missing]
        found = alerts.find_alerts(
            self._values,
            roles.chosen,
            numeric,
            self._determined,
            self._ordered_alike,
            guessed,
            self.derived,
            on_page=on_page,
        )
        rules = {name: rule.words for name, rule in self.derived.items()}
        return [
            ColumnProfile(
                name,
                kinds[name],
                each.different,
                each.missing,
                self._examples(name, roles),
                why.get(name, ""),
                own,
                rules.get(name, ""),
            )
            for (name, each), own in zip(self._values.items(), found.values(), strict=True)
        ]

    def _examples(self, name: str, roles: Roles) -> str:
        """Return the ends of the domain if it is a domain of numbers; otherwise, return values or patterns as examples.

        At least ten people share each example.
        """
        domain = self._described["columns"][name].get("domain")
        if isinstance(domain, Mapping):
            return " to ".join(
                f"{end:,}" if abs(end) >= 10_000 else str(end) for end in (domain["low"], domain["high"])
            )
        hidden = {Role.IDENTIFIER, Role.PERSON} & {roles.chosen[name], roles.before[name]}
        keys = [self._some[key].cat.codes.to_numpy() + 1 for key in roles.names(Role.PERSON)]
        return alerts.describe_examples(
            self._some[name], self._values[name], hidden=bool(hidden), people=next(iter(keys), None)
        )

    @progress.step("saving the description")
    def save(self, roles: Roles, *, confirm: bool = True) -> tuple[Self, list[str]]:
        """Write the roles into the description, and confirm the description if it is complete and can be loaded.

        In general, only the lines of roles change. If the description is confirmed, the line `draft = true` is deleted.
        If a column now needs a domain and has none, a proposed domain and its hierarchy are added. If the owner states
        the format of the days in a column, the hierarchy of the column is built again.

        Parameters
        ----------
        roles : Roles
        confirm : bool
            Whether to confirm the description; if False, a draft stays a draft.

        Returns
        -------
        DescriptionEditor
            The saved state.
        list of str
            The reasons why the description is still a draft; empty if it is confirmed.

        Raises
        ------
        SchemaError
            If the file of the description was changed in the meantime, if a confirmed description could no longer be
            loaded, or if the days of a column do not have the stated format. The file then stays unchanged.
        OSError
            If the description cannot be written.
        """
        self._check_unchanged()
        entries = self._described["columns"]
        new = [name for name in roles.names(*PUBLISHED) if "domain" not in entries[name]]
        notation = Notation.of(self._described.get("format", {}))
        columns = [column_types.recognize_published(name, self._values[name], notation) for name in new]
        if again := [column.name for column in columns if column.odd and "missing" in entries[column.name]]:
            raise SchemaError(
                f"'{again[0]}' has cells of another type. Add the texts of these cells to the list `missing` of the "
                "column in "
                f"{self.path.name}, or correct these cells in the data file. Nothing is written."
            )
        lines = {
            column.name: (missing_line(column.odd, column.odd) + "\n") * bool(column.odd) + domain_line(column)
            for column in columns
        }
        said = {name: form for name, form in roles.days.items() if form != self.roles.days.get(name)}
        answered = [column_types.recognize_days(name, self._values[name], form) for name, form in said.items()]
        days = {column.name: (said[column.name], column.reason) for column in answered}
        columns = [column for column in columns if column.name not in days] + answered
        texts = [
            description.edit(self.text, roles.chosen, lines, confirmed, days, roles.missing)
            for confirmed in (False, True)
        ]
        lacks = roles.lacks
        if lacks and not self.is_draft:
            raise SchemaError(f"Nothing is written. {' '.join(lacks)}")
        self._write(texts[confirm and not lacks], columns, anew=[*days])
        cells = self._derived_again(texts[False]) if days else self.cells
        if confirm and not lacks:
            try:
                load_described(self.path, table=cells)
            except (ValueError, OSError) as error:
                self._write(texts[False] if self.is_draft else self.text)
                if not self.is_draft:
                    raise SchemaError(f"{error} {self.path.name} is unchanged.") from error
                lacks = [str(error)]
        return replace(self, text=self.path.read_bytes().decode("utf-8"), cells=cells), lacks

    def _derived_again(self, text: str) -> pd.DataFrame:
        """Return the records with the derived columns that another text of the description states."""
        return read_derived(tomllib.loads(text)).add(self.cells[self.file_columns])[[*self.cells]]

    def _write(self, text: str, columns: Iterable[ColumnProposal] = (), anew: Collection[str] = ()) -> None:
        """Write the description, completely or not at all, and the hierarchies that do not exist or are in `anew`.

        The hierarchies have the same file permissions as the description.
        """
        path = self.path
        folder = path.parent / "hierarchies" / "default"
        trees = {folder / f"{column.name}.csv": column.tree for column in columns if column.tree}
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            for place, tree in trees.items():
                if not place.exists() or place.stem in anew:
                    folder.mkdir(parents=True, exist_ok=True)
                    place.touch(mode)
                    tree.write(place)
            atomic_write(path, text, mode)
            path.chmod(mode)
        except OSError as error:
            said = f"{path} cannot be written: {error.strerror or error}. It is unchanged."
            raise output_error(said, error) from error


@validated
def find_or_draft(file: File, name: str = "", folder: validation.Path = "data") -> Path:
    """Return the path of the description of a table; if there is no description, draft one first.

    Parameters
    ----------
    file : path-like
        The file of the table; see `draft.draft`. It may be empty if the table already has a description.
    name : str
        The name of the dataset's folder, or the path of the description. If `name` is empty, the name of the folder is
        derived from the name of the file.
    folder : path-like

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If neither a file nor a name is given, or if the description belongs to a table other than `file`.
    OSError, SchemaError
        See `draft.draft`.
    """
    if isinstance(file, str) and not file:
        if not name:
            raise UsageError(
                "`file` or `name` must be given. Give a FILE to describe, or the NAME of a described table."
            )
        return find_description(name)
    file = Path(file)
    path = Path(folder) / (name or dataset_name(file)) / f"{name or dataset_name(file)}.toml"
    if not path.is_file():
        return draft(file, name or None, folder)
    sums = {
        sum
        for entry in description.read_description(path)["files"]
        for sum in entry.get("made_of", [entry.get("sha256")])
    }
    if {description.checksum(each) for each in list_parts(file)} != sums:
        raise UsageError(
            f"{path} describes a different table from {file}, or an earlier version of the same table. Give another "
            "name, or "
            "take over the roles: `privnb describe FILE --again`."
        )
    return path


@validated
def describe_again(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    encoding: str | None = None,
) -> tuple[DescriptionEditor, list[str]]:
    """Describe a corrected file with the roles, days and marks of missing values of the former description.

    The new description is confirmed if the former description was confirmed and no column is new. The former folder
    becomes `<name>-before`.

    Parameters
    ----------
    file, name, folder, missing, encoding
        See `draft.draft`. The marks of missing values in the former description need not be listed again.

    Returns
    -------
    table : DescriptionEditor
    messages : list of str
        Messages for the owner.

    Raises
    ------
    OSError, SchemaError, ValueError
        For the reasons that `draft.draft` and `DescriptionEditor.save` state, and if the folder `<name>-before` exists.
        All files then stay unchanged.
    """
    file = Path(file)
    place = Path(folder) / (name or dataset_name(file))
    path, aside = place / f"{place.name}.toml", place.with_name(f"{place.name}-before")
    described = description.read_description(path)
    former = DescriptionEditor(path, path.read_bytes().decode("utf-8"), pd.DataFrame())
    if aside.exists():
        raise OutputExistsError(
            f"{aside} exists already, but the former description must move there. Delete that folder, or move it away. "
            "Nothing "
            "is changed."
        )
    marked = {column: entry.get("missing", ()) for column, entry in described["columns"].items()}
    place.rename(aside)
    try:
        made = DescriptionEditor.open(*draft_table(file, place.name, folder, missing, marked, encoding))
        if own := {name: each for name, each in former.corrections.items() if name in made.file_columns}:
            made = made._corrected(own)
        if former.derived:
            stated = {column: form for column, form in former.roles.days.items() if column in made.cells}
            made, _ = made.derive(former.derived, replace(made.roles, days={**made.roles.days, **stated}))
        chosen = {column: role for column, role in former.roles.chosen.items() if column in made.cells}
        days = {column: form for column, form in former.roles.days.items() if column in made.cells}
        new = [column for column in made.cells if column not in chosen]
        roles = replace(made.roles.having(chosen), days={**made.roles.days, **days})
        roles = replace(roles, none_sensitive=former.roles.none_sensitive, one_each=former.roles.one_each)
        made, lacks = made.save(roles, confirm=not (former.is_draft or new))
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)
        raise
    more = [f"New columns: {', '.join(new)}. Choose their roles."] if new else []
    return made, [
        *more,
        *lacks,
        f"Domains and hierarchies were read again. The former ones with your changes, and the former records, "
        f"are in {aside}. Delete it when you no longer need it.",
    ]


def _entry(column: ColumnProposal, rule: Derivation) -> str:
    """Return the lines of a description about a derived column."""
    reason = column.reason.replace(f"; {column_types.CODES}", "")
    return f'role = "{column.role}" # computed; {reason}\n{description.derived_line(rule)}\n{domain_line(column)}\n'


def _kind(domain: object) -> str:
    """Return the type of a column in one word, according to its described domain."""
    if isinstance(domain, Mapping):
        return "numbers" if domain.get("step", 1) == 1 else "decimals"
    return "text" if domain is None else "categories"
