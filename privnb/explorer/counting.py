"""What counts tell of one release: the rows of the other notebooks' evaluations, and what each privacy model reaches.

No progress is shown, for the board has no place for a bar.
"""

import re
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from privnb.evaluation.cases import Case, OfMeasure, answer_rows
from privnb.evaluation.disclosure.leakage import (
    attribute_rows,
    check_readable,
    class_rows,
    identity_rows,
    original_rows,
    people_rows,
)
from privnb.evaluation.releases import Costs, Gains
from privnb.evaluation.results import collect
from privnb.evaluation.trade_off import Losses
from privnb.explorer.setting import MODELS, STEPS
from privnb.measures.base import live, state
from privnb.measures.disclosure.disclosed import tells_few
from privnb.measures.utility.information_loss import suppressed_cells
from privnb.microdata import withholding
from privnb.microdata.counts import people_in
from privnb.microdata.treatment import Unreadable
from privnb.reporting.charts.base import Aggregate, merge_small

state(
    "l_achieved",
    kind="privacy",
    better="higher",
    bounds=(1, np.inf),
    title="Commonest value where it is commonest (l)",
    sentence="In the worst class one in l has the commonest sensitive value. l = 1: everybody there has it, so that it "
    "is disclosed.",
    source="l-diversity by frequency: Machanavajjhala et al., ICDE 2006; Xiao and Tao, VLDB 2006",
    baseline="asked",
)
state(
    "t_achieved",
    kind="privacy",
    bounds=(0, 1),
    title="Worst class against the whole table (t)",
    sentence="The share of the worst class that would need another sensitive value to be like the whole table.",
    source="Li, Li, Venkatasubramanian, ICDE 2007, equal distances",
    baseline="asked",
)
state(
    "delta_achieved",
    kind="privacy",
    bounds=(0, np.inf),
    title="Most changed value of a class (delta)",
    sentence="In the worst class a value is e to the delta times as common, or as rare, as in the table. Unbounded: "
    "somebody's class has nobody with that value, so that it is ruled out for them.",
    source="Brickell and Shmatikov, KDD 2008, definition 1",
    baseline="asked",
)


def _times(number):
    return "none changed" if number == "1" else f"{number} times"


# The levels as a person reads them who does not know the letters; and their letters.
IN_WORDS = {
    "l_achieved": ("l", lambda level: f"{1 / level:.0%} have it"),
    "t_achieved": ("t", lambda level: f"{level:.0%} differ"),
    "delta_achieved": ("delta", lambda level: "one is absent" if np.isinf(level) else _times(f"{np.exp(level):.3g}")),
}
# Of what a release leaks the board shows how likely a guess is right.
SHOWN = ("identity_vulnerability", "sensitive_vulnerability", "bucket_vulnerability", "attribute_vulnerability")


def rows(dataset, setting, made, release, fewest=withholding.LIMIT):
    """Everything counted of the `release` that the sanitizer `made` made of `dataset`: tidy results.

    Of `Costs`, `Losses`, `Gains` and `leakage` what the board shows, and `k_achieved`, `l_achieved`, `t_achieved`,
    `delta_achieved`: what the worst class reaches of each model; baseline: what the setting asks for. Numbers of fewer
    than `fewest` people are withheld. Noise leaves no classes, and has rows of what it does to cells instead.
    After them each measure that is `live`.
    """
    case = Case(dataset, made, setting.seed, release, fewest)
    found = _counted_rows(case, setting, fewest)
    return collect([found, *(answer_rows(OfMeasure(each), case) for each in live())])


def _counted_rows(case, setting, fewest):
    release, sensitive = case.release, setting.sensitive
    # The levels have the k, the costs have the classes.
    found = [row for row in _asked(Costs(), case) if row["measure"] != "k_achieved"]
    found += [row for row in _asked(_losses(sensitive), case) if row["measure"] != "classes"]
    levels = [] if release.groups is None else _levels(case, release, setting, fewest)
    try:
        check_readable(release)
        leaks = _leaks(case, release, sensitive)
    except Unreadable:  # the note of a reading says why
        return found + levels
    if release.classes is not None:
        found += Gains(sensitive).rows(case) + levels + _cells(case, release, fewest)
        if np.isnan(found[-1]["value"]):  # what a cell loses on average may give the number of suppressed ones back
            found = [row | {"value": np.nan} if row["measure"] == "certainty_penalty" else row for row in found]
    return found + [row for row in leaks if row["measure"] in SHOWN]


def _asked(question, case):
    """Its rows; none where it cannot speak of such a release, of which the board shows what there is."""
    try:
        return question.rows(case)
    except Unreadable:
        return []


def _leaks(case, release, sensitive):
    """Rows of what the release leaks."""
    if release.people is not None:
        return people_rows(case, release, sensitive)
    leaks = identity_rows(case, release)
    if release.classes is None or release.buckets is not None:
        leaks += original_rows(case, sensitive)
    for name in release.treated("noisy"):
        leaks += attribute_rows(case, release, name)
    return leaks + (class_rows(case, release, sensitive) if release.classes is not None else [])


@lru_cache(maxsize=8)
def _losses(sensitive):
    """One question for all settings, since it keeps what their releases have in common."""
    return Losses(sensitive)


def _levels(case, release, setting, fewest):
    """Rows of the levels that the worst class reaches; baseline: what is asked for."""
    rows, asked, sensitive = [], setting.asked, setting.sensitive
    # All models of sensitive values count alike, but for people who have several, so they are counted once.
    counts, few = _counted(MODELS["t"](0.5, sensitive), release), tells_few(release, sensitive, fewest)
    for letter, kind in MODELS.items():
        model = kind(STEPS[letter][-1], *[sensitive] * (letter != "k"))  # a level depends on no bound
        of_values = letter != "k" and (release.people is None or not model.of_members)
        levels = model.level(*(counts if of_values else _counted(model, release)))
        level, nothing = (levels.min(), 1) if model.better == "higher" else (levels.max(), 0)
        hidden = few and letter != "k" and level > nothing
        reached = partial(case.row, f"{letter}_achieved", np.nan if hidden else level, better=model.better)
        rows.append(reached(baseline=asked.get(letter, np.nan)))
    return rows


def _counted(model, release):
    """What a model counts in each class, and in all of them as one."""
    parts, whole = model.parts(release)
    return np.concatenate([*parts]), whole


def _cells(case, release, fewest):
    suppressed, cells = release.suppressed, suppressed_cells(release)
    others = cells - suppressed * len(release.schema.quasi_identifiers)  # of people who keep some of theirs
    hidden = (
        withholding.tells(release.suppressed_people, release.headcount, fewest)
        or withholding.few(cells, fewest)
        or withholding.few(others, fewest)
    )
    return [case.row("suppressed_cells", np.nan if hidden else cells)]


def class_sizes(release, fewest=withholding.LIMIT):
    """People by the size of their class or bucket, in steps of 1, 2 and 5: an `Aggregate` with the columns `people in a
    class`, or `people in a bucket`, and `people`, those of fewer than `fewest` merged;
    None of noise, and of fewer people.
    """
    withholding.check(fewest)
    if release.groups is None or release.headcount < fewest:
        return None
    sizes = people_in(release.groups, release.people)
    edges = [digit * 10**power for power in range(len(str(sizes.max()))) for digit in (1, 2, 5)]
    steps = np.searchsorted(edges, sizes, side="right") - 1
    people = people_in(steps[release.groups], release.people)
    ends = [*edges[1:], 10 * edges[-1]]
    labels = [f"{low:,}" if low == end - 1 else f"{low:,}-{end - 1:,}" for low, end in zip(edges, ends, strict=True)]
    first = int(np.flatnonzero(people)[0])
    merged = merge_small(pd.Series(people[first:], index=labels[first : len(people)]), fewest)
    merged.index = [re.sub(r"^([\d,]+)(-[\d,]+)? to ([\d,]+-)?", r"\1-", label) for label in merged.index]
    of = "bucket" if release.buckets is not None else "class"
    table = merged.rename_axis(f"people in a {of}").rename("people").reset_index()
    return Aggregate(table, {name: name for name in table}, fewest)
