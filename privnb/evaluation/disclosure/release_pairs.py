"""Counts of the people about whom two releases reveal more together than alone, with small counts withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.versions import Version
from privnb.measures.disclosure.certainty import are_harmless, certain_groups, public_shares
from privnb.measures.disclosure.differencing import (
    ABSENT,
    UNKNOWN,
    find_common_values,
    join_classes,
    list_class_values,
    subtract_classes,
)
from privnb.measures.intervals import class_interval
from privnb.microdata import withholding
from privnb.microdata.counts import count_people_by_group
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.schema import to_text
from privnb.microdata.withholding import LIMIT, Margin, MinCount
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.validation import validated

Number = dict[str, float | None]  # plain values: `value`, `low` and `high`


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """Two releases of the same people, for the evaluator alone.

    The entries of all arrays (n,) are the records that any of the releases has, and the rows that cover no record of
    the dataset, each of which counts as another person.

    Parameters
    ----------
    dataset : Dataset
    old, new : Version
    """

    dataset: Dataset
    old: Version
    new: Version

    @cached_property
    def records(self) -> IntArray:
        """The records that any of the releases has, in ascending order: integer array (m,)."""
        return np.union1d(*(each.records[each.records != ABSENT] for each in (self.old, self.new)))

    def spread(self, version: Version, of_rows: Array, absent: object) -> Array:
        """Return an entry of each row of a version, array (rows,), for all n entries, or `absent`."""
        old, new = (np.full(each.without_record, absent, dtype=of_rows.dtype) for each in (self.old, self.new))
        rest = of_rows[version.records == ABSENT]
        old, new = (rest if version is each else part for each, part in ((self.old, old), (self.new, new)))
        return np.concatenate([version.by_record(of_rows, absent)[self.records], old, new])

    @cached_property
    def classes(self) -> tuple[IntArray, IntArray]:
        """The class in each release, two integer arrays (n,)."""
        old, new = (self.spread(each, each.classes, ABSENT) for each in (self.old, self.new))
        return old, new

    @cached_property
    def people(self) -> IntArray:
        """The person of each entry, from 0: integer array (n,)."""
        known = self.records if self.dataset.people is None else self.dataset.people[self.records]
        others = self.old.without_record + self.new.without_record
        return np.unique(np.concatenate([known, self.dataset.headcount + np.arange(others)]), return_inverse=True)[1]

    @cached_property
    def joint(self) -> IntArray:
        """The joint class, integer array (n,)."""
        return join_classes(*self.classes)

    def of_people(self, who: BoolArray) -> BoolArray:
        """Return for which people any entry is true, as a boolean array (people,)."""
        return np.bincount(self.people, who) > 0

    @cached_property
    def smallest(self) -> dict[str, int]:
        """The number of people in the smallest class of each release, and in the smallest joint class."""
        found = {}
        for name, classes in zip(("old", "new", "pair"), (*self.classes, self.joint), strict=True):
            there = classes != ABSENT
            found[name] = int(count_people_by_group(classes[there], self.people[there]).min())
        return found

    @cached_property
    def k(self) -> int:
        """The number of people among whom each of the two releases hides every person."""
        return min(self.smallest["old"], self.smallest["new"])

    @cached_property
    def below(self) -> BoolArray:
        """Whether each entry is in a joint class of fewer than `k` people: boolean array (n,)."""
        return np.asarray((count_people_by_group(self.joint, self.people) < self.k)[self.joint])

    @cached_property
    def groups(self) -> IntArray:
        """The class of each person in the new release or, for a person who was dropped, in the old one: (people,)."""
        old, new = self.classes
        held = np.where(new != ABSENT, new, new.max(initial=ABSENT) + 1 + old)
        return held[np.unique(self.people, return_index=True)[1]]

    def find_values(self, name: str) -> SensitiveValues | None:
        """Return the values of a sensitive attribute; None if no release publishes it in the rows of people."""
        if all(name not in each.cells for each in (self.old, self.new)):
            return None
        attribute = self.dataset.schema[name]
        codes, values = attribute.coded(self.dataset.cells[name])
        cells = [
            self.spread(each, each.cells.get(name, np.full(len(each.records), SUPPRESSED, dtype=object)), SUPPRESSED)
            for each in (self.old, self.new)
        ]
        index = pd.Index([to_text(value) for value in values])
        old, new = (index.get_indexer(pd.Series(each, dtype=object).map(to_text)) for each in cells)
        disclosed = ~are_harmless(attribute, values)
        public = public_shares(attribute, codes, values, self.dataset.people)
        return SensitiveValues(self, old, new, np.where(disclosed, public, 1.0))


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """The published values of a sensitive attribute in two releases.

    Parameters
    ----------
    pair : ReleasePair
    old, new : integer array (n,)
        The value in each release, a position in `public`, or `UNKNOWN` for a label, `*` or an absent record.
    public : float array (values,)
        The probability of each value without the releases; 1 for a value that is harmless to disclose.
    """

    pair: ReleasePair
    old: IntArray
    new: IntArray
    public: Array

    @cached_property
    def codes(self) -> IntArray:
        """The value that any of the releases publishes, integer array (n,)."""
        return np.where(self.new != UNKNOWN, self.new, self.old)

    @cached_property
    def alone(self) -> BoolArray:
        """Whether each entry has a value that a release discloses with certainty alone: boolean array (n,)."""
        found = (
            (classes != ABSENT) & self._certain(self._possible(classes, codes))[classes]
            for classes, codes in zip(self.pair.classes, (self.old, self.new), strict=True)
        )
        return np.logical_or(*found)

    @cached_property
    def common(self) -> BoolArray:
        """Whether each entry has a value that the values in both classes disclose, but no release alone: (n,)."""
        old, new = self.pair.classes
        sides = self._possible(old, self.old), self._possible(new, self.new)
        _, first, index = np.unique(self.pair.joint, return_index=True, return_inverse=True)
        return np.asarray(self._certain(find_common_values(*sides, old[first], new[first]))[index] & ~self.alone)

    @cached_property
    def matched(self) -> BoolArray:
        """Whether each entry has a value that their joint class discloses, but no release alone: boolean array (n,)."""
        joint = self.pair.joint
        return self._certain(self._possible(joint, self.codes))[joint] & ~self.alone

    @cached_property
    def differenced(self) -> BoolArray:
        """Whether each entry was added or dropped, with a value that the difference of two counts discloses: (n,)."""
        old, new = self.pair.classes
        old_codes, new_codes = (np.where(each == UNKNOWN, len(self.public), each) for each in (self.old, self.new))
        found = subtract_classes(old, new, old_codes, new_codes, len(self.public) + 1)
        once = (old == ABSENT) != (new == ABSENT)
        telling = (self.codes != UNKNOWN) & (np.append(self.public, 1.0)[self.codes] < 1)
        return once & telling & found.find_certain(old == ABSENT, self.codes) & ~self.alone

    def _possible(self, classes: IntArray, codes: IntArray) -> BoolArray:
        there = classes != ABSENT
        return list_class_values(classes[there], codes[there], (int(classes.max(initial=ABSENT)) + 1, len(self.public)))

    def _certain(self, possible: BoolArray) -> BoolArray:
        return np.asarray(certain_groups(possible.astype(np.int64), self.public), dtype=bool)


@validated
def count_disclosures(pair: ReleasePair, min_count: MinCount = LIMIT) -> dict[str, object]:
    """Count the people about whom two releases reveal more together than alone.

    Parameters
    ----------
    pair : ReleasePair
    min_count : int
        Counts of fewer people are withheld, and so are counts from which such a count follows.

    Returns
    -------
    dict
        Plain values. `smallest`: the people in the smallest class of `old`, `new` and `pair`; `k`, the smaller of the
        first two. `people`: the numbers of people in `old`, `new`, `both`, and only in one (`added`, `dropped`).
        `below`: the people in joint classes of fewer than `k` people. `revealed`: the people, `added` and `dropped`,
        who are among fewer than `k` people in the difference of two counts. `certain`: for each sensitive attribute,
        the people whose value the pair discloses with certainty and no release alone: by the values in both classes
        (`common`), by their joint class if rows can be matched (`matched`), and by the difference of counts
        (`differenced`). Each number has `people`, a count or its bounds, and `share`, with its interval, of the people
        in any of the releases, or None.
    """
    old, new = pair.classes
    in_old, in_new = pair.of_people(old != ABSENT), pair.of_people(new != ABSENT)
    is_added, is_dropped = in_new & ~in_old, in_old & ~in_new
    names = pair.dataset.schema.sensitive
    values = {name: found for name in names if (found := pair.find_values(name)) is not None}
    revealed = pair.of_people(_find_revealed(pair, [*values.values()]))
    of: dict[str, BoolArray] = {
        "both": in_old & in_new, "added": is_added, "dropped": is_dropped, "all": in_old | in_new,
        "below": pair.of_people(pair.below), "revealed added": revealed & is_added,
        "revealed dropped": revealed & is_dropped,
    }  # fmt: skip
    ways = ("matched", "common", "differenced")
    of |= {f"{way} {name}": pair.of_people(getattr(each, way)) for name, each in values.items() for way in ways}
    cells = {name: int(who.sum()) for name, who in of.items()}
    hidden = withholding.suppress(cells, _margins(cells, int(in_old.sum()), int(in_new.sum())), min_count)
    everybody = None if "all" in hidden else cells["all"]

    def number(name: str) -> dict[str, Number | None]:
        people, few = cells[name], withholding.is_few(cells[name], min_count)
        if name in hidden:
            bounds = (1.0, float(min_count - 1)) if few else (None, None)
            return {"people": {"value": None, "low": bounds[0], "high": bounds[1]}, "share": None}
        low, high = class_interval(of[name], pair.groups)
        share: Number | None = None if everybody is None else {"value": people / everybody, "low": low, "high": high}
        return {"people": {"value": float(people), "low": None, "high": None}, "share": share}

    return {
        "smallest": pair.smallest,
        "k": pair.k,
        "people": {
            "old": int(in_old.sum()), "new": int(in_new.sum()),
            **{name: number(name)["people"] for name in ("both", "added", "dropped")},
        },
        "below": number("below"),
        "revealed": {which: number(f"revealed {which}") for which in ("added", "dropped")},
        "certain": [{"attribute": name, **{way: number(f"{way} {name}") for way in ways}} for name in values],
    }  # fmt: skip


def _find_revealed(pair: ReleasePair, values: Sequence[SensitiveValues]) -> BoolArray:
    """Return which entries the difference of the counts of all sensitive values reveals, as a boolean array (n,)."""
    old, new = pair.classes
    both = [each for each in values if (each.old != UNKNOWN).any() and (each.new != UNKNOWN).any()]
    columns = [np.concatenate([each.old, each.new]) - UNKNOWN for each in both]
    codes = np.unique(np.array(columns), axis=1, return_inverse=True)[1].ravel() if columns else np.zeros(2 * len(old))
    codes = codes.astype(np.int64)
    found = subtract_classes(old, new, codes[: len(old)], codes[len(old) :], int(codes.max(initial=0)) + 1)
    return ((old == ABSENT) != (new == ABSENT)) & found.find_revealed(old == ABSENT, pair.k)


def _margins(cells: Mapping[str, int], old: int, new: int) -> list[Margin]:
    """Return the relations between the counts; the numbers of people in each release follow from the files."""
    nested = [("added", "revealed added"), ("dropped", "revealed dropped")]
    nested += [(name, name.replace("matched", "common", 1)) for name in cells if name.startswith("matched ")]
    parts = [name for name in cells if name == "below" or name.startswith(("matched ", "differenced "))]
    return [
        Margin(old, ("both", "dropped"), rest=False),
        Margin(new, ("both", "added"), rest=False),
        Margin("all", ("both", "added", "dropped"), rest=False),
        *(Margin(whole, (part,)) for whole, part in [*nested, *(("all", part) for part in parts)]),
    ]
