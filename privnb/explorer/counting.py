"""What counts tell of one release: the rows of the other notebooks' evaluations, and what each privacy model reaches.

No progress is shown, for the board has no place for a bar.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.cases import Case, OfMeasure, Question, answer_rows
from privnb.evaluation.disclosure import leakage
from privnb.evaluation.releases import Costs, Gains
from privnb.evaluation.results import collect
from privnb.evaluation.trade_off import Losses
from privnb.explorer.setting import STEPS, Setting
from privnb.measures.base import live, state
from privnb.measures.disclosure.disclosed import tells_few
from privnb.measures.utility.information_loss import suppressed_cells
from privnb.microdata import withholding
from privnb.microdata.counts import people_in
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import achieved
from privnb.reporting.charts.base import Aggregate, merge_small
from privnb.sanitizers.base import MODELS

Rows = list[dict[str, Any]]

_REACHED = {"kind": "privacy", "baseline": "asked"}
state(
    "l_achieved",
    **_REACHED,
    better="higher",
    bounds=(1, np.inf),
    title="Commonest value where it is commonest (l)",
    sentence="In the worst class one in l has the commonest sensitive value. l = 1: everybody there has it, so that it "
    "is disclosed.",
    source="l-diversity by frequency: Machanavajjhala et al., ICDE 2006; Xiao and Tao, VLDB 2006",
)
state(
    "t_achieved",
    **_REACHED,
    bounds=(0, 1),
    title="Worst class against the whole table (t)",
    sentence="The share of the worst class that would need another sensitive value to be like the whole table.",
    source="Li, Li, Venkatasubramanian, ICDE 2007, equal distances",
)
state(
    "delta_achieved",
    **_REACHED,
    bounds=(0, np.inf),
    title="Most changed value of a class (delta)",
    sentence="In the worst class a value is e to the delta times as common, or as rare, as in the table. Unbounded: "
    "somebody's class has nobody with that value, so that it is ruled out for them.",
    source="Brickell and Shmatikov, KDD 2008, definition 1",
)


def _times(number: str) -> str:
    return "none changed" if number == "1" else f"{number} times"


# The levels as a person reads them who does not know the letters; and their letters.
IN_WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "l_achieved": ("l", lambda level: f"{1 / level:.0%} have it"),
    "t_achieved": ("t", lambda level: f"{level:.0%} differ"),
    "delta_achieved": ("delta", lambda level: "one is absent" if np.isinf(level) else _times(f"{np.exp(level):.3g}")),
}
# Of what a release leaks the board shows how likely a guess is right.
SHOWN = ("identity_vulnerability", "sensitive_vulnerability", "bucket_vulnerability", "attribute_vulnerability")


def rows(case: Case, setting: Setting) -> pd.DataFrame:
    """Return everything that is counted of the release of a setting: tidy results.

    Of `Costs`, `Losses`, `Gains` and `Guesses` what the board shows, and `k_achieved`, `l_achieved`, `t_achieved`,
    `delta_achieved`: what the worst class reaches of each model; baseline: what the setting asks for. Noise leaves no
    classes, and has rows of what it does to cells instead. After them each measure that is `live`.
    """
    return collect([_counted_rows(case, setting), *(answer_rows(OfMeasure(each), case) for each in live())])


def _counted_rows(case: Case, setting: Setting) -> Rows:
    release, sensitive = case.release, setting.sensitive
    # The levels have the k, the costs have the classes.
    found = [row for row in _answer(Costs(), case) if row["measure"] != "k_achieved"]
    found += [row for row in _answer(_losses(sensitive), case) if row["measure"] != "classes"]
    levels = [] if release.groups is None else _levels(case, setting)
    try:
        leaks = [row for row in _guesses(case, sensitive) if row["measure"] in SHOWN]
    except Unreadable:  # the note of a reading says why
        return found + levels
    if release.classes is not None:
        found += Gains(sensitive).rows(case) + levels + [case.row("suppressed_cells", _cells(case))]
        if np.isnan(found[-1]["value"]):  # what a cell loses on average may give the number of suppressed ones back
            found = [row | {"value": np.nan} if row["measure"] == "certainty_penalty" else row for row in found]
    return found + leaks


def _answer(question: Question, case: Case) -> Rows:
    """Its rows; none where it cannot speak of such a release, of which the board shows what there is."""
    try:
        return question.rows(case)
    except Unreadable:
        return []


@lru_cache(maxsize=8)
def _losses(sensitive: str) -> Losses:
    """One question for all settings, since it keeps what their releases have in common."""
    return Losses(sensitive)


def _guesses(case: Case, sensitive: str) -> Rows:
    """How likely a guess is right: `Leakage` of what is noisy or in buckets, and of people with several records.

    Raises Unreadable where nothing is known of how a record's cells and its values hang together.
    """
    release = case.release
    leakage.check_readable(release)
    if release.people is not None:
        return leakage.people_rows(case, release, sensitive)
    leaks = leakage.identity_rows(case, release)
    if release.classes is None or release.buckets is not None:
        leaks += leakage.original_rows(case, sensitive)
    for name in release.treated("noisy"):
        leaks += leakage.attribute_rows(case, release, name)
    return leaks + (leakage.class_rows(case, release, sensitive) if release.classes is not None else [])


def _levels(case: Case, setting: Setting) -> Rows:
    """Rows of the levels that the worst class reaches; baseline: what is asked for."""
    rows, few = [], tells_few(case.release, setting.sensitive, case.fewest)
    for letter, kind in MODELS.items():
        model = kind(STEPS[letter][-1], *[setting.sensitive] * (letter != "k"))  # a level depends on no bound
        level = achieved(model, case.release)
        is_told = few and letter != "k" and level > (1 if model.better == "higher" else 0)
        asked = setting.asked.get(letter, np.nan)
        rows.append(case.row(f"{letter}_achieved", np.nan if is_told else level, better=model.better, baseline=asked))
    return rows


def _cells(case: Case) -> float:
    """How many cells are suppressed, NaN where that would tell of few people."""
    release, fewest = case.release, case.fewest
    cells = suppressed_cells(release)
    others = cells - release.suppressed * len(release.schema.quasi_identifiers)  # of people who keep some of theirs
    is_told = withholding.tells(release.suppressed_people, release.headcount, fewest)
    return np.nan if is_told or withholding.few(cells, fewest) or withholding.few(others, fewest) else cells


def class_sizes(release: Release, fewest: int = withholding.LIMIT) -> Aggregate | None:
    """Return the people by the size of their class or bucket, in steps of 1, 2 and 5: an `Aggregate` with the columns
    `people in a class`, or `people in a bucket`, and `people`, those of fewer than `fewest` merged; None of noise, and
    of fewer people.
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
