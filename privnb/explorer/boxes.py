"""The boxes that a release publishes for two quasi-identifiers: which values of the one go with which of the other.

Only boxes of many people leave this module, and their numbers of people only in steps. A release has a table of boxes
for each pair of attributes; with exact numbers, a small count of one table could follow from another table.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.microdata.counts import count_people_by_group, factorize
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.schema import to_text
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.arrays import IntArray
from privnb.runtime.validation import validated

MAX_BOXES = 250  # drawn for a pair of attributes, from the most common box
MAX_RUNS = 6  # a label with more gaps is drawn from its first to its last value
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # times the minimum count


class Axis(NamedTuple):
    """The values of one quasi-identifier in their order on a line.

    `ends` are the first and the last value. `labels` are published labels, and `runs` holds, for each label, the begin
    and the length of each run of values that it covers, as shares of the line.
    """

    name: str
    ends: tuple[str, str]
    labels: tuple[str, ...]
    runs: tuple[tuple[tuple[float, float], ...], ...]


class Pairs(NamedTuple):
    """The boxes of two attributes that at least the minimum number of people share, from the most common box.

    `first`, `second` and `step` are integer arrays (boxes,): the positions of the two labels of each box, and the
    position of its number of people in `STEPS`. `share` is the share of people in these boxes, in percent.
    """

    first: Any
    second: Any
    step: Any
    share: int


class Boxes(NamedTuple):
    """The boxes of each pair of quasi-identifiers, as `{(name, name): Pairs}`, with the axis of each attribute."""

    axes: dict[str, Axis]
    pairs: dict[tuple[str, str], Pairs]
    min_count: int


@validated
def find_boxes(release: Release, min_count: MinCount = LIMIT) -> Boxes | str:
    """Return the boxes of a release, or a sentence on why it has none.

    Parameters
    ----------
    release : Release
    min_count : int
        Boxes of fewer people are not drawn.
    """
    if release.classes is None or release.buckets is not None or not release.provenance.claims:
        return "This release publishes values instead of labels, so it has no boxes."
    names = [name for name in release.schema.quasi_identifiers if name in release.labelled]
    if len(names) < 2:
        return "Boxes need two quasi-identifiers with labels. Let the adversary know one more attribute."
    axes, places = {}, {}
    for name in names:
        axes[name], places[name] = _read_axis(release, name, min_count)
    pairs = {
        (first, second): _count(release, places[first], places[second], len(axes[second].labels), min_count)
        for first, second in combinations(names, 2)
    }
    return Boxes(axes, pairs, min_count)


def _read_axis(release: Release, name: str, min_count: int) -> tuple[Axis, IntArray]:
    """Return an axis, and the position of the label of each class, as an integer array (classes,).

    No label ends at a value that few people share, even if a study keeps such ends; see `Release.widened`. If nothing
    is withheld, the labels are those of the rows.
    """
    hierarchy, attribute = release.hierarchies[name], release.schema[name]
    of_class, own = release.labels_alike[name]
    wide = attribute.public_domain.marked(pd.Series(own)).array
    if min_count > 1:
        wide = hierarchy.widened(wide, release.shared.get(name, []))
    place, labels = factorize(wide)
    texts = tuple(to_text(label) for label in labels)
    runs = tuple(_list_runs(hierarchy.runs(text), hierarchy.size) for text in texts)
    if attribute.numeric:
        ends = tuple(to_text(end) for end in hierarchy.bounds(SUPPRESSED))
    else:
        ends = hierarchy.leaves[0], hierarchy.leaves[-1]
    return Axis(name, (ends[0], ends[1]), texts, runs), place[of_class]


def _list_runs(runs: IntArray, size: int) -> tuple[tuple[float, float], ...]:
    if len(runs) > MAX_RUNS:
        runs = np.array([[runs[0, 0], runs[-1, 1]]])
    return tuple((float(first / size), float((last - first + 1) / size)) for first, last in runs)


def _count(release: Release, first: IntArray, second: IntArray, width: int, min_count: int) -> Pairs:
    place, codes = pd.factorize(first * width + second)
    if release.people is None:
        people: IntArray = np.bincount(place, release.people_per_class).astype(np.int64)
    else:
        people = count_people_by_group(place[release.equivalence_classes], release.people)
    most = np.argsort(-people, kind="stable")[:MAX_BOXES]
    drawn = most[people[most] >= min_count]
    steps = np.searchsorted(np.array(STEPS) * min_count, people[drawn], side="right") - 1
    one, other = np.divmod(np.asarray(codes[drawn], dtype=np.int32), width)
    return Pairs(one, other, steps.astype(np.int32), round(100 * float(people[drawn].sum() / people.sum())))


def describe_step(step: int, min_count: int) -> str:
    """Return the number of people of a box in words.

    >>> describe_step(0, 10), describe_step(9, 10)
    ('10 to 19 people', 'at least 10,000 people')
    """
    low = STEPS[step] * min_count
    if step + 1 == len(STEPS):
        return f"at least {low:,} people"
    return f"{low:,} to {STEPS[step + 1] * min_count - 1:,} people"


def choose_attributes(boxes: Boxes, chosen: tuple[str, str]) -> tuple[str, str]:
    """Return the two attributes to draw: the chosen ones if they have labels and differ, and else the first others."""
    across, up = chosen
    names = [*boxes.axes]
    across = across if across in names else next(name for name in names if name != up)
    return across, up if up in names and up != across else next(name for name in names if name != across)


def list_rectangles(boxes: Boxes, across: str, up: str) -> list[tuple[float, float, float, float, int]]:
    """Return left, top, width, height (in percent) and the step of each rectangle, the largest first."""
    found = []
    for one, other, step in _rows(boxes, across, up):
        for left, width in boxes.axes[across].runs[one]:
            for low, height in boxes.axes[up].runs[other]:
                found.append((100 * left, max(0.0, 100 * (1 - low - height)), 100 * width, 100 * height, step))
    return sorted(found, key=lambda each: -each[2] * each[3])


def list_common(boxes: Boxes, across: str, up: str, number: int = 12) -> list[tuple[str, str, str]]:
    """Return the two labels and the number of people, in steps, of the most common boxes."""
    return [
        (boxes.axes[across].labels[one], boxes.axes[up].labels[other], describe_step(step, boxes.min_count))
        for one, other, step in _rows(boxes, across, up)[:number]
    ]


def _rows(boxes: Boxes, across: str, up: str) -> list[tuple[Any, Any, Any]]:
    flipped = (across, up) not in boxes.pairs
    first, second, step, _ = boxes.pairs[(up, across) if flipped else (across, up)]
    rows = zip(first.tolist(), second.tolist(), step.tolist(), strict=True)
    return [(other, one, each) if flipped else (one, other, each) for one, other, each in rows]
