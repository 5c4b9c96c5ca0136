"""Rows of results by hand, in short: one word for what results keep in several columns.

"anti_utility_A_distinct" is the measure `anti_utility` in scenario A, of variant "distinct"; "modern worst" the worst
miner of the set "modern"; "control: permuted" that control; "worst less guess" the worst miner beyond the guess.
"""

import re

import numpy as np
import pandas as pd

from privnb import sanitizers
from privnb.evaluation import results

SCENARIO = re.compile(r"(anti_utility|chosen|excess_over_choice)_([ABCW])(?:_(distinct|weighted))?")
PARAMETER = re.compile(r"(?:^|[ =])(k|l|t|delta|epsilon)=([\d.]+)")
SET = re.compile(r"(.+) (" + "|".join(results.SUMMARIES) + ")")


ATTRIBUTES = re.compile(r"(.+) from (.+)")


def made(
    dataset, sanitizer, parameters, seed, measure, miner, target, value, low, high, baseline, better="", **columns
):
    """One row; `columns`: more of its columns."""
    letter, bound = found.groups() if (found := PARAMETER.search(parameters)) else ("", np.nan)
    return results.build_row(
        value=value, dataset=dataset, sanitizer=sanitizer, parameters=parameters, parameter=letter, bound=bound,
        randomized=draws(sanitizer, parameters), seed=seed, interval=(low, high), baseline=baseline, better=better,
        **(by(miner) | measured(measure) | about(measure, target) | columns),
    )  # fmt: skip


def draws(sanitizer, parameters):
    """Whether a sanitizer draws lots, or one that it is made of; one that is not of the package does."""
    named = (getattr(sanitizers, word, None) for word in re.findall(r"\w+", f"{sanitizer} {parameters}"))
    drawn = any(getattr(each, "randomized", False) is True for each in named)
    return drawn or "start=None" in parameters or not hasattr(sanitizers, sanitizer)


def frame(rows, dataset="toy", seed=1, better="lower"):
    """Results of (sanitizer, parameters, measure, miner, target, value, low, high, baseline)."""
    return results.tidy(made(dataset, *row[:2], seed, *row[2:], better) for row in rows)


def measured(name):
    """The columns of a measure."""
    if found := SCENARIO.fullmatch(name):
        return {"measure": found[1], "scenario": found[2], "variant": found[3] or ""}
    if found := re.fullmatch(r"(\w+_gain)_(with_(?:all_)?predictions)(, random labels)?", name):
        control = found[3].removeprefix(", ") if found[3] else ""
        return {"measure": found[1], "variant": found[2].replace("_", " "), "control": control}
    if name.endswith("_at_most"):
        return {"measure": name.removesuffix("_at_most"), "variant": "at most"}
    return {"measure": name}


def about(measure, target):
    """The columns of a target: "job from age, sex" is the job for an adversary who knows these."""
    if measure in ("unique", "tuples", "nearer_share", "above_scale"):
        return {"knows" if measure == "unique" else "group": target}
    if found := ATTRIBUTES.fullmatch(target):
        return {"target": found[1], "knows": found[2]}
    if target.endswith(", literal"):
        return {"target": target.removesuffix(", literal"), "variant": "literal"}
    return {"target": target}


def by(name):
    """The columns of a miner, a control or a criterion."""
    name, _, less = name.partition(" less ")
    if name.startswith("control: "):
        return {"control": name.removeprefix("control: ")}
    if re.fullmatch(r"Weka( [\d.]+)?", name):  # the set's own number, of no miner
        return {"miner_set": name, "miner": ""}
    found = SET.fullmatch(name)
    of = {"miner_set": found[1], "miner": found[2]} if found else {"miner": name}
    if own := re.match(r"(Weka [\d.]+) ", name):  # its miners are of its set
        of["miner_set"] = own[1]
    return of | ({"control": less} if less else {})


def who(rows):
    """Each row's miner, control or criterion in short: Series of text."""
    less = np.where((rows.miner != "") & (rows.control != ""), " less " + rows.control, "")
    if rows.empty:
        return rows.miner
    named = rows.miner.where(rows.miner != "", "control: " + rows.control).where(
        (rows.miner != "") | (rows.control != ""), ""
    )
    named = named + pd.Series(less, rows.index)
    of_set = (rows.miner_set != "") & ~results.is_single_miner(rows)
    return named.where(~of_set, (rows.miner_set + " " + named).str.strip())


def what(rows):
    """Each row's measure in short: Series of text. Predictions that are put into a release read "..._with_predictions",
    and their control "..._with_predictions, random labels".
    """
    named = (rows.scenario != "") | rows.variant.str.startswith("with") | (rows.variant == "at most")
    variant = rows.variant.where(named, "")
    parts = rows.measure.str.cat([rows.scenario, variant.str.replace(" ", "_")], sep="_")
    named = parts.str.replace("__", "_").str.rstrip("_")
    return named.mask(rows.control == "random labels", named + ", random labels")


def short(rows):
    """Results with the columns `measure`, `miner` and `target` in short."""
    if rows.empty:
        return rows
    target = rows.target.mask(rows.group != "", (rows.target + " " + rows.group).str.strip())
    target = target.mask(rows.measure == "nearer_share", rows.group)
    of_whom = target.where(rows.measure.isin(["unique", "identity_vulnerability"]), target + " from " + rows.knows)
    target = target.mask(rows.knows != "", of_whom.mask(of_whom.isin(["", "identity"]), rows.knows))
    target = target.mask(rows.variant == "literal", target + ", literal")
    miner = who(rows[rows.control != "random labels"]).reindex(rows.index, fill_value="")
    return rows.assign(target=target, measure=what(rows), miner=miner)


class Shortened:
    """A module whose functions give results in short."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        found = getattr(self.module, name)
        if not callable(found):
            return found

        def shortened(*given, **options):
            made = found(*given, **options)
            return short(made) if isinstance(made, pd.DataFrame) and list(made) == results.COLUMNS else made

        return shortened


def finding(said, subject):
    """The one finding whose subject holds this text."""
    (found,) = [each for each in said.found if subject in each.subject]
    return found
