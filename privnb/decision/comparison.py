"""The comparison of two releases of the same people: what changed, and what only the pair reveals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.datasets.foreign_file import ForeignFile
from privnb.decision.by_policy import ENDS, keeps_cap, name_risk, plain_number, read_at_cap
from privnb.decision.card import read_file_provenance
from privnb.decision.policies import Policy
from privnb.evaluation.disclosure.release_pairs import ReleasePair, count_disclosures
from privnb.evaluation.evaluation_loop import Case, answer_case
from privnb.evaluation.results import join_results, select_measured
from privnb.evaluation.risks import build_questions
from privnb.evaluation.risks.together import COUNTED
from privnb.evaluation.versions import Version, join_versions, read_version
from privnb.measures.base import measure_facts
from privnb.measures.disclosure.certainty import NEAR
from privnb.microdata import withholding
from privnb.microdata.schema import Role, to_text
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import validation
from privnb.runtime.errors import MissingFileError
from privnb.runtime.validation import validated
from privnb.sanitizers.made_elsewhere import MadeElsewhere
from privnb.tables.writing import FACTS

Part = dict[str, Any]  # plain values
SIDES = ("old", "new", "pair")
# The columns by which a row of results names a number of a risk.
NUMBER = ["measure", "variant", "target"]


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """The comparison of two releases.

    Parameters
    ----------
    content : dict
        The comparison as plain values, without values of records.
    """

    HINT: ClassVar[str] = "`decision.comparison.compare_releases` returns it."

    content: Part

    @property
    def broken(self) -> list[Part]:
        """The caps of the policy that the pair does not meet, each with the sides that do not meet it either."""
        return [cap for cap in self.content["caps"] if not cap["pair"]["kept"]]


@validated
def read_release(
    path: validation.Path, dataset: Dataset, *, hierarchies: Mapping[str, str] | None = None
) -> tuple[Version, ForeignFile]:
    """Read a release, and match its rows with the records of a dataset.

    The treatments of its columns are those of the provenance next to the file, if there is one.

    Parameters
    ----------
    path : str or path-like
    dataset : Dataset
    hierarchies : dict of str to str, optional
        Files of hierarchies by column, in the format of ARX.

    Returns
    -------
    tuple of Version and ForeignFile

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        For a file that cannot be read as a release of the dataset.
    Unreadable
        For a release of synthetic rows.
    """
    place = Path(path)
    if not place.exists():
        raise MissingFileError(f"there is no file {place}. Give the path of a release.")
    treatments: dict[str, str] = {}
    if place.with_name(place.name + FACTS).is_file():
        done = read_file_provenance(place)
        if done["rows"] == "synthetic":
            raise Unreadable(
                f"the rows of {place.name} are synthetic, so nobody has a class in this release, and the releases "
                "cannot be compared row by row. Compare the cards of the two releases."
            )
        moved = [name for name, how in done["columns"].items() if how.startswith(("noisy", "perturbed"))]
        treatments = dict.fromkeys(moved, "perturbed")
    return read_version(place, dataset, treatments=treatments, hierarchies=hierarchies)


@validated
def compare_releases(
    old: validation.Path,
    new: validation.Path,
    dataset: Dataset,
    policy: Policy | None = None,
    *,
    hierarchies: Mapping[str, str] | None = None,
    min_count: MinCount = LIMIT,
) -> ReleaseComparison:
    """Compare two releases of the same dataset.

    Parameters
    ----------
    old, new : str or path-like
        Two files, whose rows are records of the dataset in any order. A row that covers no record is that of a person
        who was dropped since or, in `new`, of another person.
    dataset : Dataset
    policy : Policy, optional
        A policy whose caps on the identity risk, the attribute risk and certainty are compared with each release and
        with the pair.
    hierarchies : dict of str to str, optional
        Files of hierarchies by column, in the format of ARX.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    ReleaseComparison

    Raises
    ------
    InputError, Unreadable
        As in `read_release`.
    """
    read = [read_release(path, dataset, hierarchies=hierarchies) for path in (old, new)]
    versions, files = [version for version, _ in read], [file for _, file in read]
    near = NEAR if policy is None else policy.near_certainty
    results = _measure(dataset, versions, files, near, min_count)
    names = [version.name for version in versions]
    if names[0] == names[1]:
        names = [f"{name} ({which})" for name, which in zip(names, ("old", "new"), strict=True)]
    return ReleaseComparison(
        {
            "kind": "releases",
            "old": names[0],
            "new": names[1],
            "dataset": dataset.schema.dataset,
            "policy": None if policy is None else policy.name,
            "without_record": dict(zip(SIDES, (version.without_record > 0 for version in versions), strict=False)),
            "columns": [_column(dataset, name, versions, files, min_count) for name in dataset.schema.published],
            "risks": _risks(results),
            "caps": [] if policy is None else _caps(results, policy),
            **count_disclosures(ReleasePair(dataset, versions[0], versions[1]), min_count),
        }
    )


def _measure(
    dataset: Dataset, versions: Sequence[Version], files: Sequence[ForeignFile], near: float, min_count: int
) -> dict[str, pd.DataFrame]:
    """Return the risks of each release and of the pair as tidy results, `{side: results}`."""
    true = {name for file in files for name, each in file.columns.items() if each.treated != "perturbed"}
    neutral = dataset.schema.names(Role.NEUTRAL)
    known = dataset.with_known(tuple(name for name in dataset.schema.knowable if name in true and name in neutral))
    found = {}
    for side, held in zip(SIDES, ([versions[0]], [versions[1]], versions), strict=True):
        release, path = join_versions(known, *held), str(files[-1 if side == "new" else 0].path)
        case = Case(known, MadeElsewhere(path), 1, release, min_count)
        questions = [each for each in build_questions(dataset, near=near) if isinstance(each, COUNTED)]
        asked = [each for each in questions if getattr(each, "sensitive", "") in ("", *release.cells)]
        found[side] = join_results(*(answer_case(each, case) for each in asked))
    return found


def _risks(results: Mapping[str, pd.DataFrame]) -> list[Part]:
    """Return each number of a risk for everybody, for each release and for the pair."""
    found = []
    rows = {side: select_measured(each[each.group == ""]) for side, each in results.items()}
    keys = rows["pair"][NUMBER].drop_duplicates()
    for key in keys[keys.measure != "guessed_without_them"].itertuples(index=False, name=None):
        of = {side: each[(each[NUMBER] == [*key]).all(axis=1)] for side, each in rows.items()}
        numbers = {side: _number(part) for side, part in of.items()}
        facts = measure_facts(key[0])
        measure, variant, target = key
        stated = {"measure": measure, "title": facts.title, "variant": variant, "target": target, "unit": facts.unit}
        found.append({**stated, **numbers, "baseline": plain_number(of["pair"].baseline.iloc[0])})
    return found


def _number(rows: pd.DataFrame) -> Part | None:
    """Return a number of results as plain values; None if it was not measured."""
    return {end: plain_number(rows[end].iloc[0]) for end in ENDS} if len(rows) else None


def _caps(results: Mapping[str, pd.DataFrame], policy: Policy) -> list[Part]:
    """Return the caps on the risks that the pair can raise, and whether each release and the pair meet them."""
    measures = {*results["pair"].measure}
    found = []
    for cap in policy.caps:
        if cap.measure in measures:
            read = {
                side: pd.Series(read_at_cap(each[each.measure == cap.measure], cap)) for side, each in results.items()
            }
            own: Part = {"subject": cap.subject, "statistic": cap.statistic, "cap": float(cap.most)}
            for side, row in read.items():
                own[side] = {end: plain_number(row[end]) for end in ENDS} | {"kept": bool(keeps_cap(row))}
            own["name"] = name_risk(read["pair"])
            own["only_together"] = own["old"]["kept"] and own["new"]["kept"] and not own["pair"]["kept"]
            found.append(own)
    return found


def _column(
    dataset: Dataset, name: str, versions: Sequence[Version], files: Sequence[ForeignFile], min_count: int
) -> Part:
    """Return the treatment of a column in each release, and the share of the shared records whose cell differs."""
    treated = [file.columns[name].treated if name in file.columns else "absent" for file in files]
    cells = [
        version.by_record(pd.Series(file.columns[name].cells, dtype=object).map(to_text).to_numpy(dtype=object), None)
        for version, file in zip(versions, files, strict=True)
        if name in file.columns
    ]
    changed: Part | None = None
    if len(cells) == len(files):
        both = np.logical_and(*(np.array([each is not None for each in column]) for column in cells))
        differ = int((cells[0] != cells[1])[both].sum())
        value, low, high = withholding.withhold_share(differ, max(int(both.sum()), 1), min_count)
        changed = {"value": plain_number(value), "low": plain_number(low), "high": plain_number(high)}
    return {"name": name, "old": treated[0], "new": treated[1], "changed": changed}
