"""A release that another tool made, read from its file so that it can be measured like any other release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator

from privnb.datasets.dataset import Dataset
from privnb.datasets.description import file_digest
from privnb.datasets.foreign_file import ForeignFile, parse_treatments, read_foreign
from privnb.measures.disclosure.holdout_overlap import HoldoutOverlap, measure_overlap
from privnb.microdata.columns import assign_columns
from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy.foreign_labels import LabelForm
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.treatment import Rows
from privnb.privacy_models.star import Star
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names
from privnb.runtime.progress import note_file
from privnb.runtime.validation import Randomness, at_least, instead, optional, validated
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.claims import explain_mismatch, find_untrue_rows
from privnb.sanitizers.correspondence import STATE, match_rows
from privnb.sanitizers.errors import SanitizationError

PERTURBED = "If another tool changed the values of a column, state that the column is perturbed (--treatment '{}: "
PERTURBED += "perturbed'; in Python `treatments`)."
MATCH = (
    "Leave out --rows (in Python `rows`), so that each row is matched with a record, or state --rows synthetic (in "
    "Python rows='synthetic') if no row belongs to a person."
)
CHECK = "Check that the file was made from this dataset."
NEAREST = (
    "Each row was matched with the record that it covers in the other columns and that has the nearest values of {}. "
    "Usually, this overestimates the risks that depend on the records of rows."
)
MAX_INSIDE = 0.5  # the share of a hold-out that may be in the table, at most; of fewer people, the user is warned
Correspondence = Literal["measured", "in order", "synthetic"]


def compare_holdout(dataset: Dataset, others: pd.DataFrame) -> HoldoutOverlap:
    """Return how many people of a hold-out have the values of a record in all columns of the hold-out."""
    whole = pd.concat([dataset.table[[*others]], others], ignore_index=True)
    return measure_overlap(*np.split(count_combinations(whole).index, [len(dataset)]))


def list_perturbed(file: ForeignFile) -> list[str]:
    """Return the columns of a file that are stated to be perturbed, or that have numbers outside their domains."""
    return [name for name, each in file.columns.items() if each.treated == "perturbed"]


@dataclass(frozen=True)
class MadeElsewhere(Sanitizer):
    """Read a release that another tool made from the dataset.

    The rows are matched with the records. If each row covers a different record, the rows are these records, which may
    be a subset of all records. Perturbed columns need not cover the record: among the records that a row covers in the
    other columns, the row is matched with the nearest in the perturbed columns, which usually overestimates risks.
    Otherwise, `rows` must state the origin of the rows, because the risk of a person whose
    row is unknown cannot be measured. The method that made the release is not known to privnb, so risks assume an
    adversary who knows this method.

    Parameters
    ----------
    path : str
        The file, in any format that `load` reads. The file has some or all of the published columns of the dataset; a
        published column that the file lacks counts as suppressed.
    rows : str
        "measured", if the rows are matched with the records; "in order", if row i is record i; or "synthetic", if no
        row belongs to a person.
    treatments : dict of str to str, optional
        The treatment of some columns, see `datasets.foreign_file.read_foreign`.
    hierarchies : dict of str to str, optional
        Files of hierarchies in the format of ARX, by column.
    holdout : str, optional
        A file with records of other people of the same population, in the columns of the dataset. Membership risk is
        measured against these people, and cannot be measured without them.
    star : str
        The meaning of `*` and of missing quasi-identifiers in class sizes, see `privacy_models.star`. If it is not
        "own", an adversary does not exclude any row whose cells cover the values of a person.

    Raises
    ------
    SchemaError
        If the file cannot be read as a release of the dataset.
    UsageError
        If the rows cannot be matched with different records, and could be records in order or synthetic rows.
    SanitizationError
        If rows with labels cannot be matched with different records, or, for rows in order, if the number of rows
        differs from the number of records, or if some rows do not cover their record in the columns that are not
        perturbed.
    """

    path: str
    rows: Correspondence = "measured"
    treatments: Mapping[str, str] = field(default_factory=dict, hash=False)
    hierarchies: Mapping[str, str] = field(default_factory=dict, hash=False)
    holdout: str = ""
    star: Star = "own"
    title = "Release made elsewhere"
    order_invariant = True
    reads_file = True

    @cached_property
    def key(self) -> str:
        """The text from which draws are derived: the content of the file decides, not its name."""
        return f"MadeElsewhere({self.contents[0]})"

    @cached_property
    def contents(self) -> tuple[str, ...]:
        """The digests of the files; a stored result is of these contents and not only of the names of the files."""
        return tuple(file_digest(Path(file)) for file in self.files)

    @property
    def files(self) -> list[str]:
        """The paths of all files, with the release first."""
        return [self.path, *filter(None, [self.holdout]), *self.hierarchies.values()]

    def __repr__(self) -> str:  # the folder of the file is nobody's business
        return f"MadeElsewhere({', '.join(f'{name}={value!r}' for name, value in self._stated.items())})"

    @property
    def _stated(self) -> dict[str, Any]:
        """The parameters that are stated, with the names of files instead of their paths."""
        files = {"path": Path(self.path).name, "holdout": self.holdout and Path(self.holdout).name}
        hierarchies = {name: Path(file).name for name, file in self.hierarchies.items()}
        stated = {"rows": self.rows, "treatments": dict(self.treatments), "hierarchies": hierarchies, **files}
        found = {name: value for name, value in stated.items() if value and value != "measured"}
        return found if self.star == "own" else found | {"star": self.star}

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Return the parameters by name, with the names of files instead of their paths."""
        return self._stated

    def changed_params(self) -> str:
        """Return the name of the release in results: the name of its file."""
        return f"file={Path(self.path).name}" + ("" if self.star == "own" else f", star={self.star}")

    @classmethod
    def contract_examples(cls, schema: Any) -> list[MadeElsewhere]:
        """Return an empty list, because a file belongs to one table."""
        return []

    def read(self, dataset: Dataset) -> ForeignFile:
        """Return the content of the file, read with the domains of the dataset."""
        return read_foreign(self.path, dataset, treatments=self.treatments, hierarchies=self.hierarchies)

    def read_holdout(self, dataset: Dataset) -> Dataset | None:
        """Return a dataset of the hold-out's people, who are not in the release, or None if there is no hold-out."""
        if not self.holdout:
            return None
        file = read_foreign(self.holdout, dataset)
        lacking = [*file.lacking, *(name for name, each in file.columns.items() if each.treated != "plain")]
        if lacking or dataset.schema.person:
            what = (
                f"plain values of {join_names(lacking)}" if lacking else f"the key of people, '{dataset.schema.person}'"
            )
            raise SanitizationError(f"the hold-out must have {what}; {file.path.name} does not. Give another file.")
        own = replace(dataset.schema, attributes=tuple(dataset.schema[name] for name in file.columns))
        table = pd.DataFrame({name: each.cells for name, each in file.columns.items()})
        known = {name: dataset.hierarchies[name] for name in own.quasi_identifiers}
        return Dataset(f"{dataset.name} hold-out", table, own, known)

    def check_holdout(self, dataset: Dataset) -> None:
        """Raise SanitizationError for a hold-out that cannot be read, or of which more than half is in the table."""
        others = self.read_holdout(dataset)
        if others is not None and compare_holdout(dataset, others.table).low > MAX_INSIDE:
            raise SanitizationError(
                f"the hold-out must have records of people who are not in '{dataset.name}'; most people of "
                f"{Path(self.holdout).name} have the values of a record. Give a file of other people."
            )

    def _checked(self, dataset: Any, rng: Randomness) -> Release:
        """Return the release in the file after all checks."""
        if not isinstance(dataset, Dataset):
            raise SanitizationError(
                f"the release {Path(self.path).name} must be compared with records; got counts. Load the dataset."
            )
        file = self.read(dataset)
        dataset = _with_labels(dataset, file)
        released = pd.DataFrame({name: each.cells for name, each in file.columns.items()})
        lacking = dict.fromkeys(file.lacking, np.full(len(released), SUPPRESSED, dtype=object))
        released = assign_columns(released, lacking)[dataset.schema.published]
        order = self._in_order if self.rows == "in order" else self._matched
        released, facts = order(dataset, file, released)
        return self._finished(dataset, released, facts, rng)

    def release_of_sample(self, dataset: Dataset, sample: Dataset) -> Release:
        """Return the release of a sample of the records: the rows of the sampled people in the file.

        Some measures compare each record with each row, so they need a sample. Synthetic rows belong to nobody, so all
        of them are the release of the sample.

        Parameters
        ----------
        dataset : Dataset
            The original from which the file was made.
        sample : Dataset
            The result of `dataset.sample`. Records that are equal in all columns are exchangeable.

        Returns
        -------
        Release
        """
        whole = self.sanitize(dataset)
        if whole.provenance.rows is Rows.SYNTHETIC:
            return self.sanitize(sample)
        place = np.full(len(dataset), -1)
        place[_find_sampled(dataset, sample)] = np.arange(len(sample))
        place = place if whole.records is None else place[whole.records]
        kept = np.flatnonzero(place >= 0)
        kept = kept[np.argsort(place[kept], kind="stable")]
        released, rows = whole.table.iloc[kept].reset_index(drop=True), place[kept]
        file = self.read(dataset)
        facts = self._perturbed_facts(file) | ({} if len(rows) == len(sample) else {"rows": rows})
        return self._finished(_with_labels(sample, file), released, facts, None)

    def _finished(self, dataset: Dataset, released: pd.DataFrame, facts: Facts, rng: Randomness) -> Release:
        """Return the release with these rows after the checks of the rows and of `star`."""
        release = self._released(dataset, released, facts, rng, drawn=False)
        if reason := explain_mismatch(dataset, release):
            raise SanitizationError(f"the release {Path(self.path).name}: {reason}.")
        if self.star == "own":
            return release
        if release.people is not None:
            raise SanitizationError(
                f"`star` must be 'own' if the dataset has a key of people; got '{self.star}', which counts records."
            )
        return replace(release, provenance=replace(release.provenance, equal_records_alike=False))

    def _matched(self, dataset: Dataset, file: ForeignFile, released: pd.DataFrame) -> Sanitized:
        """Return the rows in the order of the records that they match, and facts about the origin of the rows."""
        if self.rows == "synthetic":
            if labelled := [
                name for name, each in file.columns.items() if each.treated in ("generalized", "suppressed")
            ]:
                forms = [*file.columns[labelled[0]].forms.keys() - {LabelForm.VALUE}]
                raise SanitizationError(
                    f"synthetic rows must have values of the domain; '{labelled[0]}' of {file.path.name} has cells of "
                    f"the form {join_names([*map(str, forms)])}. Leave the column out, or leave out --rows "
                    "(in Python `rows`)."
                )
            return released, {"rows": Rows.SYNTHETIC}
        perturbed = list_perturbed(file)
        if len(perturbed) == len(file.columns):
            raise UsageError(
                f"the rows of {file.path.name} cannot be matched with records, because all columns are "
                f"perturbed. {STATE}"
            )
        found = match_rows(dataset, released[[*file.columns]], dataset.hierarchies, perturbed)
        if unmatched := int((found < 0).sum()):
            labelled = [name for name, each in file.columns.items() if each.treated == "generalized"]
            also = f" and {join_names(labelled)} have labels, which no synthetic row has" if labelled else ""
            others = f" in the columns other than {join_names(perturbed)}" if perturbed else ""
            line = int((found < 0).argmax()) + 2
            said = (
                f"{unmatched} of {file.rows} rows of {file.path.name} do not cover a record of '{dataset.name}' of "
                f"their own{others}, such as the row in line {line}{also}."
            )
            name = next(each for each in file.columns if each not in perturbed)
            if labelled:
                raise SanitizationError(f"{said} {CHECK} {PERTURBED.format(name)}")
            raise UsageError(f"{said} {STATE} {PERTURBED.format(name)}")
        order = np.argsort(found, kind="stable")
        released = released.iloc[order].reset_index(drop=True)
        return released, self._perturbed_facts(file) | ({} if len(found) == len(dataset) else {"rows": found[order]})

    def _perturbed_facts(self, file: ForeignFile) -> Facts:
        """Return the columns that were perturbed, and a note if the nearest records were taken for this reason."""
        if not (perturbed := list_perturbed(file)):
            return {}
        note = "" if self.rows == "in order" else NEAREST.format(join_names(perturbed))
        return {"perturbed": perturbed, "note": note}

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        raise NotImplementedError  # the release is read, see `_checked`

    def _in_order(self, dataset: Dataset, file: ForeignFile, released: pd.DataFrame) -> Sanitized:
        """Return the rows and the columns that were perturbed, if each row covers its record in all other columns."""
        name = file.path.name
        if len(released) != len(dataset):
            raise SanitizationError(
                f"rows must be as many as the {len(dataset)} records if they are in order; {name} has "
                f"{len(released)}. {MATCH}"
            )
        facts = self._perturbed_facts(file)
        untrue = find_untrue_rows(dataset, self._released(dataset, released, dict(facts), None, drawn=False))
        if untrue:
            rows = np.any([*untrue.values()], axis=0).sum()
            columns = ", ".join(f"{join_names([each])} ({wrong.sum():,} rows)" for each, wrong in untrue.items())
            raise SanitizationError(
                f"row i of {name} must cover record i if the rows are in order; {rows:,} of {file.rows:,} rows do not "
                f"cover it in these columns: {columns}. {MATCH} "
                f"{PERTURBED.format(next(iter(untrue)))}"
            )
        return released, facts


GivenFile = Annotated[str, instead(str, "Give the path of a file, or an empty text for no file.")]
GivenRelease = Annotated[MadeElsewhere | None, optional(instead(MadeElsewhere, "`check_release` gives it."))]


def _with_labels(dataset: Dataset, file: ForeignFile) -> Dataset:
    """Return the dataset with the hierarchies of the labels in a file."""
    own = {name: each.hierarchy for name, each in file.columns.items() if each.hierarchy is not None}
    return replace(dataset, table=dataset.cells, hierarchies={**dataset.hierarchies, **own})


def _find_sampled(dataset: Dataset, sample: Dataset) -> IntArray:
    """Return the position in the dataset of each record of a sample; equal records are taken in their order."""
    kinds = count_combinations(pd.concat([dataset.cells, sample.cells], ignore_index=True)).index
    own, sampled = (pd.Series(each) for each in np.split(kinds, [len(dataset)]))
    keys = ({"kind": each, "number": each.groupby(each).cumcount()} for each in (own, sampled))
    places, wanted = map(pd.DataFrame, keys)
    found = wanted.merge(places.assign(place=np.arange(len(dataset))), on=["kind", "number"], how="left").place
    return np.asarray(found, dtype=np.int64)


@validated
def check_release(
    file: GivenFile,
    dataset: Dataset,
    *,
    rows: Correspondence = "measured",
    treatments: str = "",
    holdout: GivenFile = "",
    records: Annotated[int, at_least(0)] = 0,
) -> MadeElsewhere | None:
    """Return the release that another tool made, after all checks; None if no file is named.

    Parameters
    ----------
    file : str
        The path of the file; empty for no file.
    dataset : Dataset
        The original, with all its records.
    rows, holdout
        See `MadeElsewhere`.
    treatments : str
        The treatments of columns, as text: "age: perturbed, zip: suppressed".
    records : int
        The number of records in a random sample that the user requests; 0 means all records.

    Returns
    -------
    MadeElsewhere or None

    Raises
    ------
    UsageError
        If only a sample of the records is requested, or if `rows`, `treatments` or `holdout` is stated without a file.
    MissingFileError
        If a file does not exist.
    SchemaError, SanitizationError
        If a file cannot be read as a release of the dataset, or as a hold-out.
    """
    if not file:
        given = {"a hold-out": holdout, "treatments": treatments, "`rows`": rows != "measured"}
        if stated := next((name for name, value in given.items() if value), ""):
            raise UsageError(f"a release must be named if {stated} is given. Name the file.")
        return None
    if records:
        raise UsageError(
            f"the records must not be a sample if a release is given; got {records} records. Use all records, from "
            "which the release was made."
        )
    if absent := [each for each in filter(None, [file, holdout]) if not Path(each).exists()]:
        raise MissingFileError(f"there is no file {absent[0]}. Name a file that exists.")
    found = MadeElsewhere(file, rows, parse_treatments(treatments), holdout=holdout)
    for path, content in zip(found.files, found.contents, strict=True):
        note_file(Path(path).resolve(), content)
    found.sanitize(dataset)
    found.check_holdout(dataset)
    return found
