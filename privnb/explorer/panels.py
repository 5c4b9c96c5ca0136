"""The panels: what is published, what its user keeps, what an adversary gains, and what is said of them in words."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from privnb.evaluation.results import measured, of_one_miner
from privnb.explorer.figures import Figure, number
from privnb.explorer.html import render
from privnb.explorer.numbers import Reading
from privnb.explorer.setting import Setting
from privnb.measures import facts

CONTROLS = {
    "permuted": "what guesses at random reach",
    "held-out": "the same miner, of people it never saw",
}
REFERENCES = {"Identity": "original", "Suppress": "trivial release"}


class Miner(NamedTuple):
    """What is known of a miner's numbers: why there are none, what went wrong, whether it is done, and of which
    sample.
    """

    why: str
    trouble: str
    is_done: bool
    sample: str


def published(reading: Reading) -> Markup:
    """Return what is published: levels reached beside those asked for, costs, class sizes, a dozen sanitized rows."""
    parts, sizes = _parts(reading), reading.sizes
    return render(
        "published",
        reading=reading,
        lead=_says_published(reading),
        exact=says_exact(*reading.exact),
        levels=parts["levels"],
        costs=parts["costs"],
        sizes=[] if sizes is None else [*_bars(sizes.rows)],
        group="" if sizes is None else sizes.rows.columns[0].split()[-1],
    )


def kept(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> Markup:
    """Return what the user keeps: what a miner learns, and what counts tell of large groups.

    `mined`: results of the miner, or None while there are none; `why`: why this release is not mined; `trouble`: what
    went wrong.
    """
    return render(
        "kept",
        reading=reading,
        lead="" if mined is None else _says_kept(mined, reading.setting.sanitizer),
        miner=_miner(reading, mined, why, trouble),
        **({"learned": [], "figures": []} if mined is None else _learned(mined)),
        groups=_parts(reading)["utility"],
    )


def gained(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> Markup:
    """Return what the adversary gains: by counts, by a miner, and who is hit most; arguments as of `kept`."""
    return render(
        "gained",
        reading=reading,
        lead=_says_gained(reading.results),
        counted=_parts(reading)["privacy"],
        miner=_miner(reading, mined, why, trouble),
        **({"gains": [], "figures": [], "groups": []} if mined is None else _nearer(mined)),
    )


def marks(setting: Setting, reading: Reading | None, mined: pd.DataFrame | None) -> dict[str, str]:
    """Return the setting, in JSON, and its numbers for machines: `{name: text}`."""
    found = {"setting": json.dumps(asdict(setting))}
    for results in (reading.results if reading else None, mined):
        if results is not None:
            own = results[results.sanitizer == setting.sanitizer]
            for measure, value in zip(own.measure, own.value, strict=True):
                found.setdefault(measure, repr(value))
    return found


def says_exact(known: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Return which columns are as recorded, `known` of an adversary and `others`: a sentence or two, empty for none."""
    said = []
    if known:
        said.append(f"Published as recorded: {', '.join(known)}. By these, anybody can look for a person's row.")
    if others:
        said.append(f"{'Also' if known else 'Published'} as recorded: {', '.join(others)}.")
    return " ".join(said)


def _says_published(reading: Reading) -> str:
    found = reading.results[reading.results.measure == "k_achieved"].value
    if found.empty:
        return reading.each
    least = f"In every class at least {found.iloc[0]:,.0f} people are alike."
    return least if found.iloc[0] > 1 else "Somebody's quasi-identifiers single them out."


def _says_kept(mined: pd.DataFrame, sanitizer: str) -> str:
    """What the miner loses against the original and gains over the trivial release, in people."""
    right = mined[mined.measure == "good_utility"].drop_duplicates("sanitizer").set_index("sanitizer").value
    if sanitizer not in right:
        return ""
    parts = [
        f"{abs(more):,.0f} people {'more' if more > 0 else 'fewer'} than from the {said}"
        if more
        else f"as many as from the {said}"
        for reference, said in REFERENCES.items()
        if reference != sanitizer and pd.notna(more := right[sanitizer] - right[reference])
    ]
    return f"The miner is right about {' and '.join(parts)}." if parts else ""


def _says_gained(results: pd.DataFrame) -> str:
    gain = results[results.measure == "accuracy_gain"]
    if gain.empty:
        return "There are no classes to guess from; what a miner reaches is a lower bound."
    row, group = gain.iloc[0], "bucket" if "bucket_vulnerability" in set(results.measure) else "class"
    if pd.isna(row.value):
        return "The gains are withheld: they would tell of few people."
    more, chance = (f"{each:.1%} more" if round(each, 3) else "no more" for each in (row.value, row.baseline))
    return (
        f"Whoever knows people's {group} guesses the {row.target} of {more} of them; were the values permuted at "
        f"random, of {chance}."
    )


@lru_cache(maxsize=1)  # for the panels of one reading
def _parts(reading: Reading) -> dict[str, list[Figure]]:
    """Numbers by where they stand: levels reached, other numbers of the release, its utility, its privacy."""
    parts: dict[str, list[Figure]] = {name: [] for name in ("levels", "costs", "utility", "privacy")}
    for row in reading.results.itertuples():
        of = facts(row.measure)
        # A number without a target is of the release as such.
        part = of.kind if row.target else "levels" if of.baseline == "asked" else "costs"
        parts.get(part, parts["costs"]).append(number(row))
    return parts


def _bars(sizes: pd.DataFrame) -> Iterable[tuple[str, str, Markup]]:
    for name, people in sizes.itertuples(index=False):
        share = 100 * people / sizes["people"].max()
        yield name, f"{people:,}", Markup('<span class="privnb-bar" style="width:{:.1f}%"></span>').format(share)


def _miner(reading: Reading, mined: pd.DataFrame | None, why: str, trouble: str) -> Miner:
    name = "" if mined is None or mined.empty else mined.dataset.iloc[0]
    is_sample = bool(name) and name != reading.results.dataset.iloc[0]  # see `record_by_record`
    sample = f"Of a random sample, which is mined: {name}." if is_sample else ""
    return Miner(why, trouble, mined is not None, sample)


def _learned(mined: pd.DataFrame) -> dict[str, list[Any]]:
    """What the miner learns from the release, between the original and the trivial release."""
    good = measured(mined[mined.measure == "good_utility"]).drop_duplicates("sanitizer")
    decline = mined[(mined.measure == "utility_decline") & ~mined.sanitizer.isin(REFERENCES)]
    titles = {name: f"the {title}" for name, title in REFERENCES.items()}
    ordered = sorted(good.itertuples(), key=lambda row: (row.sanitizer == "Suppress", row.sanitizer != "Identity"))
    return {
        "learned": [] if good.empty else [*good.iloc[0][["miner", "target"]]],
        "figures": [
            *(number(row, f"Guessed right from {titles.get(row.sanitizer, 'this release')}") for row in ordered),
            *map(number, decline.itertuples()),
        ],
    }


def _nearer(mined: pd.DataFrame) -> dict[str, list[Any]]:
    """The anti-utility of the miner, next to its controls, and who is hit most."""
    bad = measured(mined[(mined.measure == "anti_utility") & (mined.variant != "distinct")])
    groups = mined[(mined.measure == "nearer_share") & mined.value.gt(0)].sort_values("value", ascending=False)
    return {
        # Of noise a gain is known by what a miner reaches.
        "gains": [*map(number, mined[mined.measure == "accuracy_gain"].itertuples())],
        "figures": [
            *(number(row, f"{row.miner} on {row.target}") for row in bad[of_one_miner(bad)].itertuples()),
            *(number(row, f"Control: {CONTROLS[row.control]}") for row in bad.itertuples() if row.control in CONTROLS),
        ],
        "groups": [
            (row.group, f"{row.value:.1%}", f"{row.low:.1%} to {row.high:.1%}", _share(row.baseline))
            for row in groups.head(5).itertuples()
        ],
    }


def _share(share: float) -> str:
    return "withheld" if pd.isna(share) else f"{share:.1%}"
