"""What was made of a table of any length: in numbers, in sentences, and its provenance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.measures.base import facts
from privnb.measures.utility.information_loss import average_class_size, certainty_penalty, discernibility
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release, by_content
from privnb.privacy_models import achieved
from privnb.publishing.gate import CertainValue, Verdict
from privnb.publishing.job import Job, renamings
from privnb.runtime.arrays import IntArray
from privnb.sanitizers.base import Sanitizer
from privnb.tables import spreadsheets
from privnb.tables.spreadsheets import Formulas

COSTS = {
    "certainty_penalty": certainty_penalty, "average_class_size": average_class_size, "discernibility": discernibility,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was made.

    Attributes
    ----------
    sanitizer : Sanitizer
    records, combinations : int
        How many were published, and how many different ones were counted; 0 where they were not.
    classes, smallest : int
        How many classes there are, and how many people the smallest has. In buckets these are the classes, and their
        records are counted; of noise there are none, and both are 0.
    suppressed : int
        How many records have no quasi-identifier.
    provenance : dict
        How it was made, for who uses it.
    buckets : DataFrame or None
        The second table of a release in buckets.
    notes : tuple of str
        What whoever publishes it should know, sentences.
    verdict : Verdict
        What the gate says of it.
    """

    sanitizer: Sanitizer
    records: int
    combinations: int
    classes: int
    smallest: int
    suppressed: int
    provenance: dict[str, Any]
    buckets: pd.DataFrame | None
    notes: tuple[str, ...]
    verdict: Verdict

    @classmethod
    def of(
        cls,
        job: Job,
        release: Release,
        verdict: Verdict,
        remarks: Sequence[str] = (),
        formulas: Formulas = spreadsheets.NONE,
        **more: Any,
    ) -> Self:
        """Return what was made in a job.

        Parameters
        ----------
        job : Job
        release : Release
            Of counts, or that of a part.
        verdict : Verdict
        remarks : sequence of str
            How a table that nobody described and a model in words were read, sentences.
        formulas : Formulas
            Those of its file.
        **more
            Other attributes.
        """
        notes = (*remarks, *filter(None, [release.provenance.note]), *formulas.sentences)
        stated = release.provenance.public() | {"measured": _measured(release)} | formulas.facts
        stated["gate"] = verdict.data()
        stated["columns"] = stated["columns"] | dict.fromkeys(job.single, "exact")
        if renamed := {own: name for own, name in renamings(job.chosen).items() if name in stated["columns"]}:
            stated["renamed"] = renamed
        counted = {} if release.times is None else {"records": int(release.times.sum()), "combinations": len(release)}
        sizes, certain = _sizes(release), [str(each) for each in verdict.notices if isinstance(each, CertainValue)]
        return cls(
            sanitizer=job.sanitizer,
            classes=len(sizes),
            smallest=int(min(sizes, default=0)),
            suppressed=release.suppressed,
            provenance=stated | {"note": " ".join(notes)},
            buckets=None if release.buckets is None else by_content(release.buckets),
            notes=(*certain, *notes, *(each for each in verdict.sentences if each not in certain)),
            verdict=verdict,
            **{"combinations": 0} | counted | more,
        )

    @property
    def said(self) -> list[str]:
        """The same in sentences."""
        records = "record" if self.records == 1 else "records"
        sets = "classes" if self.buckets is None else "buckets"
        sizes = f" in {self.classes:,} {sets}, the smallest of {self.smallest:,}," * bool(self.classes)
        checked = " What it claims was checked again in the labels." * bool(self.provenance["claims"])
        lines = [f"{self.records:,} {records}{sizes} by {self.sanitizer!r}.{checked}"]
        if self.suppressed:
            lines.append(f"{self.suppressed:,} of the records have {SUPPRESSED} for every quasi-identifier.")
        if (cost := self.provenance["measured"].get("certainty_penalty")) is not None:
            lines.append(f"On average a quasi-identifier's cell stands for {facts('certainty_penalty').written(cost)}.")
        return [*lines, *self.notes]


def _sizes(release: Release) -> IntArray:
    """Return how many people are in each class, or records in each bucket; none where there are neither."""
    if release.buckets is not None:
        held = release.buckets
        held = held[held["attribute"] == held["attribute"].iloc[0]]
        return np.bincount(held["bucket"], held["count"]).astype(int)
    return np.empty(0, dtype=int) if release.without_classes else release.people_alike


def claim_levels(release: Release) -> dict[str, float | str]:
    """Return the level of each claimed model in the labels; text for infinity, which JSON does not have."""
    found = {repr(model): float(achieved(model, release)) for model in release.provenance.claims}
    return {model: level if math.isfinite(level) else str(level) for model, level in found.items()}


def _measured(release: Release) -> dict[str, Any]:
    """Return what the labels of a release of counts keep: by name of a measure, and the level of each claim."""
    if release.times is None or release.buckets is not None:
        return {}
    costs = {name: each(release) for name, each in COSTS.items()} if release.generalized else {}
    return {"records": release.record_count, "claims": claim_levels(release)} | costs
