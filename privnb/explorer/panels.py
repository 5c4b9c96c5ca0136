"""The panels of the release, its utility for the user, and the adversary's gain, with a sentence above each panel."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from privnb.evaluation.results import is_single_miner, select_measured
from privnb.explorer.boxes import Boxes, choose_attributes, list_common, list_rectangles
from privnb.explorer.figures import Figure, make_figure
from privnb.explorer.html import render_template
from privnb.explorer.readings import HasResults, Reading
from privnb.explorer.setting import Setting
from privnb.explorer.worst_class import WorstClass
from privnb.measures import measure_facts

CONTROLS = {
    "permuted": "the score of random guesses",
    "held-out": "the same miner, on people outside its training data",
}
REFERENCES = {"Identity": "original", "Suppress": "trivial release"}
SEVERAL_ROWS = (
    "The people of this table have several rows: an adversary who knows all rows of a person re-identifies the person "
    "with a probability above 1 in k."
)


class MinerState(NamedTuple):
    """The state of a miner: why it does not run, what went wrong, whether it is done, and the sample that it mined."""

    why: str
    trouble: str
    is_done: bool
    sample: str


def render_published(reading: Reading) -> Markup:
    """Render the release: levels reached and requested, information loss, class sizes, and a dozen sanitized rows."""
    parts, sizes = split_numbers(reading), reading.sizes
    return render_template(
        "published",
        reading=reading,
        lead=_lead_published(reading),
        exact=describe_exact_columns(*reading.exact),
        levels=parts["levels"],
        costs=parts["costs"],
        sizes=[] if sizes is None else [*_bars(sizes.rows)],
        group="" if sizes is None else sizes.rows.columns[0].split()[-1],
    )


def render_kept(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> Markup:
    """Render the utility for the user: predictions of a miner, and counts of large groups.

    `mined` holds the results of the miner, or None until the miner is done. `why` states why this release is not mined,
    and `trouble` states what went wrong.
    """
    return render_template(
        "kept",
        reading=reading,
        lead="" if mined is None else _lead_kept(mined, reading.setting.sanitizer),
        miner=_miner(reading, mined, why, trouble),
        **({"learned": [], "figures": []} if mined is None else list_predictions(mined)),
        groups=split_numbers(reading)["utility"],
    )


def render_gained(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> Markup:
    """Render the gain of the adversary, by counts and by a miner, and the groups that are hit most.

    The arguments are those of `render_kept`.
    """
    return render_template(
        "gained",
        reading=reading,
        lead=_lead_gained(reading.results),
        counted=split_numbers(reading)["privacy"],
        miner=_miner(reading, mined, why, trouble),
        **({"gains": [], "figures": [], "groups": []} if mined is None else list_nearer(mined)),
    )


def render_worst(reading: Reading) -> Markup:
    """Render the class that discloses most: a sentence, bars of the class next to the table, and levels of models."""
    worst = reading.worst
    if not isinstance(worst, WorstClass):
        return render_template("worst", worst=None, why=worst or "There is no release.", refused=reading.refused)
    return render_template("worst", worst=worst, refused="")


def render_boxes(reading: Reading, chosen: tuple[str, str]) -> Markup:
    """Render the boxes of a release over the two `chosen` quasi-identifiers, with menus to choose others."""
    boxes = reading.boxes
    if not isinstance(boxes, Boxes):
        return render_template("boxes", boxes=None, why=boxes or "There is no release.", refused=reading.refused)
    across, up = choose_attributes(boxes, chosen)
    pairs = boxes.pairs.get((across, up)) or boxes.pairs[(up, across)]
    return render_template(
        "boxes",
        boxes=boxes,
        refused="",
        across=boxes.axes[across],
        up=boxes.axes[up],
        rectangles=list_rectangles(boxes, across, up),
        number=len(pairs.step),
        share=pairs.share,
        common=list_common(boxes, across, up),
    )


def machine_values(setting: Setting, reading: Reading | None, mined: pd.DataFrame | None) -> dict[str, str]:
    """Return the setting as JSON, and its numbers as texts for machines: `{name: text}`."""
    found = {"setting": json.dumps(asdict(setting))}
    for results in (reading.results if reading else None, mined):
        if results is not None:
            own = results[results.sanitizer == setting.sanitizer]
            for measure, value in zip(own.measure, own.value, strict=True):
                found.setdefault(measure, repr(value))
    return found


def describe_exact_columns(known: tuple[str, ...], others: tuple[str, ...], banded: tuple[str, ...]) -> str:
    """Return a text about unchanged columns: those `known` to an adversary, the `others`, and those in bands.

    The text is empty if there are no such columns.
    """
    sentences = []
    if known:
        sentences.append(
            f"Published as recorded: {', '.join(known)}. Anybody who knows these values can look for a person's row."
        )
    if others:
        sentences.append(f"{'Also published' if known else 'Published'} as recorded: {', '.join(others)}.")
    if banded:
        sentences.append(f"{'Also published' if sentences else 'Published'} in bands of numbers: {', '.join(banded)}.")
    return " ".join(sentences)


def _lead_published(reading: Reading) -> str:
    found = reading.results[reading.results.measure == "k_achieved"].value
    if found.empty:
        return reading.each
    if found.iloc[0] > 1:
        least = f"Every class has at least {found.iloc[0]:,.0f} people, who are indistinguishable."
        return f"{least} {SEVERAL_ROWS}" if reading.has_several_rows else least
    return "At least one person is unique in the quasi-identifiers."


def _lead_kept(mined: pd.DataFrame, sanitizer: str) -> str:
    """Return a sentence that compares, in people, the miner's predictions with the original and the trivial release."""
    right = mined[mined.measure == "good_utility"].drop_duplicates("sanitizer").set_index("sanitizer").value
    if sanitizer not in right:
        return ""
    parts = [
        f"{abs(more):,.0f} {'more' if more > 0 else 'fewer'} people than from the {title}"
        if more
        else f"the same number of people as from the {title}"
        for reference, title in REFERENCES.items()
        if reference != sanitizer and pd.notna(more := right[sanitizer] - right[reference])
    ]
    return f"The miner predicts correctly for {' and for '.join(parts)}." if parts else ""


def _lead_gained(results: pd.DataFrame) -> str:
    gain = results[results.measure == "accuracy_gain"]
    if gain.empty:
        return "There are no classes to guess from. The score of a miner is a lower bound of the gain."
    row, group = gain.iloc[0], "bucket" if "bucket_vulnerability" in set(results.measure) else "class"
    if pd.isna(row.value):
        return "The gains are withheld, because they would describe only a few people."
    more, chance = (
        f"{each:.1%} more people" if round(each, 3) else "no more people" for each in (row.value, row.baseline)
    )
    return (
        f"An adversary who knows each person's {group} guesses {row.target} correctly for {more}; with randomly "
        f"permuted values, for {chance}."
    )


@lru_cache(maxsize=32)  # for the panels of one reading, and for the comparison of several
def split_numbers(reading: HasResults) -> dict[str, list[Figure]]:
    """Return the numbers by part of a panel: levels reached, other numbers of the release, utility, and privacy."""
    parts: dict[str, list[Figure]] = {name: [] for name in ("levels", "costs", "utility", "privacy")}
    for row in reading.results.itertuples():
        of = measure_facts(row.measure)
        # A number without a target is of the release as such.
        part = of.kind if row.target else "levels" if of.baseline == "asked" else "costs"
        parts.get(part, parts["costs"]).append(make_figure(row))
    return parts


def _bars(sizes: pd.DataFrame) -> Iterable[tuple[str, str, Markup]]:
    for name, people in sizes.itertuples(index=False):
        share = 100 * people / sizes["people"].max()
        yield name, f"{people:,}", Markup('<span class="privnb-bar" style="width:{:.1f}%"></span>').format(share)


def _miner(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> MinerState:
    name = "" if mined is None or mined.empty else mined.dataset.iloc[0]
    is_sample = bool(name) and name != reading.results.dataset.iloc[0]  # see `sample_large_table`
    sample = f"The miner runs on a random sample: {name}." if is_sample else ""
    return MinerState(why, trouble, mined is not None, sample)


def list_predictions(mined: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the predictions of the miner from the release, the original and the trivial release."""
    good = select_measured(mined[mined.measure == "good_utility"]).drop_duplicates("sanitizer")
    decline = mined[(mined.measure == "utility_decline") & ~mined.sanitizer.isin(REFERENCES)]
    titles = {name: f"the {title}" for name, title in REFERENCES.items()}
    ordered = sorted(good.itertuples(), key=lambda row: (row.sanitizer == "Suppress", row.sanitizer != "Identity"))
    return {
        "learned": [] if good.empty else [*good.iloc[0][["miner", "target"]]],
        "figures": [
            *(
                make_figure(row, f"Correct predictions from {titles.get(row.sanitizer, 'this release')}")
                for row in ordered
            ),
            *map(make_figure, decline.itertuples()),
        ],
    }


def list_nearer(mined: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the anti-utility of the miner, the controls, and the groups that are hit most."""
    bad = select_measured(mined[(mined.measure == "anti_utility") & (mined.variant != "distinct")])
    groups = mined[(mined.measure == "nearer_share") & mined.value.gt(0)].sort_values("value", ascending=False)
    return {
        # For noise, the gain is the score of a miner.
        "gains": [*map(make_figure, mined[mined.measure == "accuracy_gain"].itertuples())],
        "figures": [
            *(make_figure(row, f"{row.miner} on {row.target}") for row in bad[is_single_miner(bad)].itertuples()),
            *(
                make_figure(row, f"Control: {CONTROLS[row.control]}")
                for row in bad.itertuples()
                if row.control in CONTROLS
            ),
        ],
        "groups": [
            (row.group, f"{row.value:.1%}", f"{row.low:.1%} to {row.high:.1%}", _format_share(row.baseline))
            for row in groups.head(5).itertuples()
        ],
    }


def _format_share(share: float) -> str:
    return "withheld" if pd.isna(share) else f"{share:.1%}"
