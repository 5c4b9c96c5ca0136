"""The release that an owner's policy leads to: what rules each other one out, which lose least, and how sure that is.

From tidy results alone. A release is a vector of risks beside what its users lose. An unknown risk keeps no cap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision import policies
from privnb.decision.points import BARE, IS_ORIGINAL, ORIGINAL, SEEDS, UNSURE, beats, refused
from privnb.decision.policies import Cap, Need, Policy
from privnb.decision.prose import say, subject
from privnb.evaluation.results import SETTING, Results, measured, places_alike, setting_names
from privnb.measures.base import facts
from privnb.measures.disclosure.certainty import SURE
from privnb.measures.intervals import t_interval
from privnb.measures.utility.populations import SUPPORT
from privnb.runtime import numerals
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import listed
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.validation import at_least, validated
from privnb.sanitizers.catalogue import title

LOSS = "loss"  # the axis of what users lose, beside one axis per cap
SIZES = "size_error"  # how wrong a release is about how many people are in large groups
LARGE = ["utility_loss"]  # what users lose if the large groups alone are asked for
NONE = "none"
CERTAIN = ("no", "withheld", "yes")  # whether somebody's sensitive value is, the worst last
NAMED = [*SETTING, "setting", "random"]
# The columns of results that a cap reads: picking the rows of all columns takes twice as long.
READ = ["variant", "target", "group", "randomized", "status", "reason", "value", "low", "high", "baseline"]
Release = tuple[str, str]  # sanitizer and parameters, as results name them
Numbers = dict[str, Any]  # of a row of `vectors`, from `value` on


@dataclass(frozen=True, eq=False)
class Decision:
    """What a policy leads to.

    Parameters
    ----------
    policy : Policy
    releases : DataFrame
        One row per release, see `judged`.
    vectors : DataFrame
        One row per release and axis, see `vectors`.
    refused : tuple of (str, str)
        Releases that were chosen before, by their settings, and why their files were refused: see `without_chosen`.
    people : int
        How many people the table has; 0: nobody said it.
    """

    policy: Policy
    releases: pd.DataFrame
    vectors: pd.DataFrame
    refused: tuple[tuple[str, str], ...] = ()
    people: int = 0

    @property
    def chosen(self) -> Any:
        """The row of `releases` that is chosen, or None where no release keeps the policy."""
        return self.kept.iloc[0] if len(self.kept) else None

    @property
    def setting(self) -> str:
        """What a person calls the chosen release; empty where there is none."""
        return "" if self.chosen is None else self.chosen.setting

    @property
    def sanitizer(self) -> str:
        """The chosen release's sanitizer, as results name it; "none" where there is none."""
        return NONE if self.chosen is None else self.chosen.sanitizer

    @property
    def parameters(self) -> str:
        """The chosen release's parameters, as results name them."""
        return "" if self.chosen is None else self.chosen.parameters

    @property
    def choice(self) -> pd.DataFrame:
        """The chosen release as `decision.choices` gives one: a table of one row."""
        row = {"setting": self.setting or NONE, "sanitizer": self.sanitizer, "parameters": self.parameters}
        return pd.DataFrame([row])

    @validated
    def without_chosen(self, why: str) -> "Decision":
        """Return the same decision without its chosen release, whose file is refused: the runner-up is chosen.

        `why` is a sentence. Raises ValueError if no release is chosen.
        """
        if self.chosen is None:
            raise UsageError(f"no release is chosen under the policy {self.policy.title}: there is none to refuse.")
        first, others = self.releases.iloc[:1], self.releases.iloc[1:]
        ruled_out = first.assign(kept=False, lenient=False, reasons=[[why.rstrip(".")]])
        releases = _in_order(pd.concat([others, ruled_out], ignore_index=True), self.policy)
        return replace(self, releases=releases, refused=(*self.refused, (first.setting.iloc[0], why)))

    @property
    def runner_up(self) -> str:
        """What a person calls the release that would be next; empty where there is none."""
        return self.kept.setting.iloc[1] if len(self.kept) > 1 else ""

    @property
    def safer(self) -> pd.Series | None:
        """Where somebody's sensitive value is certain under the chosen release: of those that keep the policy the row
        of least loss under which nobody's was found to be. None where there is none, or no need of one.
        """
        others = self.kept[self.kept.certain == "no"]
        return None if self.chosen is None or self.chosen.certain != "yes" or others.empty else others.iloc[0]

    @property
    def certainty(self) -> str:
        """Whose sensitive value is certain and what it costs that nobody's is, or that this is withheld: a sentence;
        empty where nobody's is, and where that is unknown.
        """
        certain = [] if self.chosen is None else self.chosen.made_certain
        whose = [f"the {name} of {percent(share)} of people" for name, share in certain]
        return "".join(say("decision", "certainty", self, whose))

    @property
    def near(self) -> list[str]:
        """Releases that keep the policy, and whose loss may be the chosen one's: a list of settings."""
        first, others = self.kept.iloc[:1], self.kept.iloc[1:]
        alike = (others.loss_low <= first.loss_high.max()) & (others.loss_high >= first.loss_low.max())
        return others.setting[alike].tolist()

    @property
    def ruled_out(self) -> list[tuple[str, list[str]]]:
        """Every release that is ruled out, and why: a list of (setting, list of reasons)."""
        out = self.releases[~self.releases.kept]
        return list(zip(out.setting, out.reasons, strict=True))

    @property
    def kept(self) -> pd.DataFrame:
        """The releases that keep the policy, the chosen one first."""
        return self.releases[self.releases.kept]

    @property
    def why(self) -> str:
        """Why the release is chosen, or that there is none: a sentence."""
        if self.chosen is None:
            return say("decision", "why", self)[0]
        like = self.kept[self.kept.lenient == self.chosen.lenient]  # those that keep the policy as the chosen one does
        least = like.iloc[like.loss.argmin()]
        near = int((like.loss <= least.loss + self.policy.tolerance + ROUNDING).sum())
        return say("decision", "why", self, least, bool(nearly_equal(self.chosen.loss, least.loss)), near)[0]

    @property
    def about(self) -> str:
        """What of, or for whom, is lost: words."""
        return lost_about([need.measure for need in self.policy.needs])

    @property
    def risks(self) -> pd.DataFrame:
        """Each cap as the chosen release keeps it, or, if there is none, as the original breaks it: of `vectors`."""
        whose = (self.sanitizer, self.parameters) if self.chosen is not None else (ORIGINAL, "")
        found = self.vectors
        return found[(found.sanitizer == whose[0]) & (found.parameters == whose[1]) & (found.axis != LOSS)]

    @property
    def caps(self) -> str:
        """How much of each cap of the policy the chosen release uses: a sentence; empty where none is chosen."""
        if self.chosen is None or self.risks.empty:
            return ""
        written = {cap.subject: cap.at_most for cap in self.policy.caps}
        return say("decision", "caps", self, [(row, written[row.axis]) for row in self.risks.itertuples()])[0]

    @property
    def sentences(self) -> list[str | list[str]]:
        """The decision for people: a list of sentences, the answer first, and lists of them."""
        said: list[str | list[str]] = [*say("decision", "answer", self), *filter(None, [self.certainty])]
        said += [*self.unattainable, *say("decision", "others", self)]
        risks = self.risks.itertuples()
        said.append([line for row in risks for line in say("decision", "risk", row, facts(row.measure).baseline)])
        if out := self.ruled_out_by:
            said += ["What rules the others out:", out]
        is_drawn = self.chosen is not None and self.chosen.random
        draws = int(self.vectors[self.vectors.setting == self.setting].seeds.max()) if is_drawn else 0
        return [*said, *say("decision", "trust", self, draws)]

    @property
    def ruled_out_by(self) -> list[str]:
        """How many releases each reason rules out: the caps and needs of those that keep the floor, the floor, and what
        else: a list of sentences.
        """
        able = self.releases[self.releases.status != "refused"].setting
        found = self.vectors[self.vectors.setting.isin(able)]
        broken = found[(found.axis != LOSS) & ~keeps(found)].groupby("axis", sort=False).high
        losses = found[(found.axis == LOSS) & (found.reason != "")].high.isna()
        whys = self.releases[self.releases.status == "refused"].reasons.str[0]
        counts = {
            "lost": (~losses).sum(), "unknown": losses.sum(), "small": (~whys.isin([IS_ORIGINAL, UNSURE])).sum(),
            "unsure": (whys == UNSURE).sum(), "original": (whys == IS_ORIGINAL).sum(), "refused": len(self.refused),
        }  # fmt: skip
        axes = [(axis, len(high), high.isna().sum()) for axis, high in broken]
        return say("decision", "ruled_out_by", len(able), axes, counts, self.policy.floor, UNSURE)

    @property
    def nearest_first(self) -> pd.DataFrame:
        """`releases` but for the original: those that break the fewest caps first, and of these the least loss; below
        the floor only after all others.
        """
        open_to_all = self.releases[~self.releases.sanitizer.isin([ORIGINAL])]
        order = {"below": open_to_all.status == "refused", "many": open_to_all.reasons.map(len)}
        return open_to_all.assign(**order).sort_values([*order, "loss"], kind="stable").drop(columns=[*order])

    @property
    def unattainable(self) -> list[str]:
        """Which caps no release is shown to keep, what is attainable, and how many people it would take: sentences;
        empty where a release is chosen. The release without quasi-identifiers is looked at first: it has least risk.
        """
        if self.chosen is not None:
            return []
        able = self.releases[self.releases.status != "refused"].setting
        capped = self.vectors[(self.vectors.axis != LOSS) & self.vectors.setting.isin(able)]
        said = []
        for _, rows in capped.groupby("axis", sort=False):
            bare = rows[(rows.sanitizer == BARE) & (rows.parameters == "")]
            if not bare.empty and np.isfinite(bare.high.iloc[0]) and not keeps(rows).any():
                said += say("decision", "unattainable", self, bare.iloc[0], rows.loc[rows.high.idxmin()])
        return said

    @staticmethod
    def is_surely_above(row: pd.Series) -> bool:
        """Whether a risk is above its cap, and not only its interval."""
        return bool(row.low > row.cap or (nearly_equal(row.low, row.high) and not np.isnan(row.value)))


@validated
def decide(results: Results, policy: Policy, people: Annotated[int, at_least(0)] = 0) -> Decision:
    """What a policy leads to, of the releases in `results`.

    The release that keeps every cap and need of the policy and loses least for its users. A cap counts the upper bound
    of the interval; a risk that is unknown or withheld without a bound keeps none. The original is never chosen, nor a
    release with a combination of fewer people than the floor.

    Parameters
    ----------
    results : DataFrame
        Tidy results of one dataset, of the risks that the policy caps (`evaluation.risks`), of `smallest_combination`,
        and of the measures that it needs; of the original and of the release without quasi-identifiers too.
    policy : Policy
    people : int
        How many people the table has; 0: it is not known.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        For results of several datasets, and where an end is missing that losses are counted between.
    """
    if results.dataset.nunique() != 1:
        raise UsageError(
            f"a decision is about one dataset, got {', '.join(sorted(results.dataset.unique())) or 'no rows'}."
        )
    found = vectors(results, policy)
    return Decision(policy, judged(results, policy, found), found, people=people)


@validated
def vectors(results: Results, policy: Policy) -> pd.DataFrame:
    """Each release on each axis of a policy: its caps, and what its users lose.

    Parameters
    ----------
    results : DataFrame
    policy : Policy

    Returns
    -------
    DataFrame
        Columns `sanitizer`, `parameters`, `setting`, `random`: whether it is drawn; `axis`: a cap in words, or "loss";
        `measure`; `target`, `group`: of several sensitive attributes and groups the worst; `value`, `low`, `high`: a
        mean over seeds and its 95% interval, equal where exact; NaN where unknown; `baseline`; `seeds`; `cap`, NaN
        where there is none; `reason`: why it is unknown.
    """
    made = results.drop_duplicates(SETTING).reset_index(drop=True)
    settings = made[SETTING].itertuples(index=False, name=None)
    names = {
        key: {**dict(zip(SETTING, key, strict=True)), "setting": name, "random": bool(random)}
        for key, name, random in zip(settings, setting_names(made), made.randomized, strict=True)
    }
    # One search of the results for all releases and caps: there are hundreds, of a few rows each.
    of = results.groupby([*SETTING, "measure"], sort=False).indices
    losses, rows, read = _losses(results, [*names], policy), [], results[READ]
    for key, name in names.items():
        for cap in policy.caps:
            rows.append({**name, **at_cap(read.iloc[of.get((*key, cap.measure), [])], cap)})
        rows.append({**name, "axis": LOSS, "measure": "", "target": "", "group": "", "cap": np.nan, **losses[key]})
    return pd.DataFrame(rows)


def scaled(found: pd.DataFrame) -> dict[Release, FloatArray]:
    """Vectors between the two ends: 0 is the better end, 1 the worse one, NaN unknown; upper bounds count.

    Parameters
    ----------
    found : DataFrame
        Of `vectors`, with the original and the release without quasi-identifiers.

    Returns
    -------
    dict of (str, str) to float array (axes,)
        By sanitizer and parameters.
    """
    high = {key: axes.high.to_numpy() for key, axes in found.groupby(SETTING, sort=False)}
    ends = np.array([high[key] for key in ((ORIGINAL, ""), (BARE, ""))])
    best, worst = np.fmin(*ends), np.fmax(*ends)
    width = np.where(worst > best, worst - best, 1.0)
    return {key: (numbers - best) / width for key, numbers in high.items()}


def judged(results: pd.DataFrame, policy: Policy, found: pd.DataFrame) -> pd.DataFrame:
    """Each release of `vectors` under the policy: those that keep it first, the least loss first.

    Returns
    -------
    DataFrame
        Columns `sanitizer`, `parameters`, `setting`, `random`; `loss`, `loss_low`, `loss_high`; `kept`; `reasons`: why
        it is ruled out, a list; `status`: "efficient", "dominated", "undecided" as of `decision.points`, over all axes,
        or "refused" below the floor; `certain`: whether somebody's sensitive value is certain and was not without the
        release, "yes", "no", "withheld", or empty where unknown; `made_certain`: the attributes of which
        values are certain, with the share of people, the largest first: a list, of what is not withheld; `used`: how
        much of its tightest cap it uses; `lenient`: whether it keeps a cap only as the cap is read.
    """
    certain, people = _certain(results), _made_certain(results)
    below = refused(results, found.drop_duplicates(SETTING), policy.floor)
    rows = []
    for (made, axes), under in zip(found.groupby(SETTING, sort=False), below, strict=True):
        loss, capped = axes[axes.axis == LOSS].iloc[0], axes[axes.axis != LOSS]
        # Of what is below the floor no more is measured, which is no second reason.
        caps = capped[~(capped.value.isna() & bool(under))]
        reasons = [under, *(why_broken(row) for row in caps.itertuples() if not keeps(row)), loss.reason]
        reasons = [*filter(None, reasons)]
        numbers = {"loss": loss.value, "loss_low": loss.low, "loss_high": loss.high}
        own = {"kept": not reasons, "reasons": reasons, "below": under, "certain": certain.get(made, "")}
        own |= {"used": _used_of_tightest(capped), "lenient": not reasons and _leniently(caps, policy)}
        rows.append({**loss[NAMED], **numbers, **own, "made_certain": people.get(made, [])})
    table = pd.DataFrame(rows)
    table["status"] = np.where(table.below != "", "refused", _dominance(found, table))
    return _in_order(table.drop(columns="below"), policy)


def _leniently(axes: pd.DataFrame, policy: Policy) -> bool:
    """Whether a release keeps some cap only as the cap is read, and not as it is written."""
    written = axes.axis.map({cap.subject: cap.at_most for cap in policy.caps})
    return bool(((axes.high > written) & ~nearly_equal(axes.high, written)).any())


def _used_of_tightest(axes: pd.DataFrame) -> float:
    """How much of its tightest cap a release uses: its largest upper bound as a share of the cap, from 0; NaN where a
    risk is unknown, infinite above a cap of 0.
    """
    of_nothing = (axes.high > 0).map({True: np.inf, False: 0.0})
    used = (axes.high.clip(lower=0) / axes.cap.where(axes.cap > 0)).where(axes.cap > 0, of_nothing)
    return float(used.where(axes.high.notna()).max(skipna=False)) if len(axes) else 0.0


def _certain(results: pd.DataFrame) -> dict[Release, str]:
    """`{release: whether somebody's sensitive value is certain and was not without it}`, in words as in `judged`."""
    found = results[(results.measure == "made_certain") & (results.control == "")]
    found = found[found.value.notna() | (found.status == "withheld")]
    ranked = found.assign(rank=np.select([found.value > 0, found.value.isna()], [2, 1], 0))
    return {made: CERTAIN[rank] for made, rank in ranked.groupby(SETTING)["rank"].max().items()}  # of seeds the worst


def _made_certain(results: pd.DataFrame) -> dict[Release, list[tuple[str, float]]]:
    """`{release: [(attribute, the share of people whose value it makes certain)]}`, a mean over seeds."""
    found = results[(results.measure == "made_certain") & (results.control == "")]
    shares = found.groupby([*SETTING, "target"], sort=False).value.agg(lambda each: each.mean(skipna=False))
    made: dict[Any, list[tuple[str, float]]] = {}
    for (*release, name), share in shares[shares > 0].sort_values(ascending=False, kind="stable").items():
        made.setdefault(tuple(release), []).append((name, share))
    return made


def _in_order(releases: pd.DataFrame, policy: Policy) -> pd.DataFrame:
    """Those that keep the policy first: outright before those that keep a cap only as it is read; of either first those
    within the policy's tolerance of the least loss, by what they use of their tightest cap; then the least loss first.
    """
    loss = releases.loss.where(releases.kept)
    least = loss.groupby(releases.lenient).transform("min")
    within = (loss <= least + policy.tolerance + ROUNDING) & (policy.order == policies.LEAST_RISK)
    keys = {"_beyond": ~within, "_used": releases.used.where(within, 0.0).round(9)}
    ordered = releases.assign(**keys).sort_values(
        ["kept", "lenient", *keys, "loss"], ascending=[False, True, True, True, True], kind="stable", ignore_index=True
    )
    return ordered.drop(columns=[*keys])


def at_cap(rows: pd.DataFrame, cap: Cap) -> Numbers:
    """One release on one cap: of several sensitive attributes the worst, and of a "worst group" the group of the
    largest upper bound that is shown. Where one of the attributes is unknown, so is the whole.

    Parameters
    ----------
    rows : DataFrame
        Tidy results of the release, of the cap's measure.
    cap : Cap

    Returns
    -------
    dict
        As a row of `vectors`, from `axis` on.
    """
    axis = {"axis": cap.subject, "measure": cap.measure, "cap": cap.most, "target": "", "group": ""}
    there = rows[rows.variant == cap.variant]
    if cap.group == "everybody":
        there = there[there.group == ""]
    elif (there.group != "").any():
        there = there[there.group != ""]
    known = measured(there)
    lacking = {*rows.target} - {*known.target}
    if known.empty or lacking:
        there, rows = (table[table.target.isin(lacking)] for table in (there, rows))
        whys = [*there.reason, *rows.reason[rows.value.isna()]]  # a refusal is a row of the mean alone
        unknown = _unknown(next(filter(None, whys), f"{facts(cap.measure).phrase} was not measured"))
        return {**axis, "target": "" if known.empty else listed(sorted(lacking)), **unknown}
    columns, random = _numbers(known), known.randomized.any()
    found: dict[str, dict[str, Numbers]] = {}
    targets, groups = known.target.tolist(), known.group.tolist()
    for places in places_alike(known, ["target", "group"]):
        own = {name: column[places] for name, column in columns.items()}
        numbers = _worst_count(own) if cap.counted else _averaged(own, random)
        found.setdefault(targets[places[0]], {})[groups[places[0]]] = numbers
    worst = []
    for target, groups in found.items():
        shown = [group for group in groups if np.isfinite(groups[group]["high"])] or [*groups]
        group = max(shown, key=lambda group: groups[group]["high"])
        worst.append({"target": target if len(found) > 1 else "", "group": group, **groups[group]})
    return {**axis, **max(worst, key=lambda each: (np.isnan(each["high"]), each["high"]))}


def how_bad(value: float, high: float, baseline: float) -> tuple[bool, bool, float, float]:
    """How bad a risk of one sensitive attribute is among those of several, as a tuple: a guess that is certain and was
    not without the release is the worst, then what is withheld, NaN, then what has the larger upper bound; of equal
    ones that which was less likely without the release.

    >>> max([(0.9, 0.95, 0.5), (np.nan, np.nan, np.nan), (1.0, 1.0, 0.2)], key=lambda numbers: how_bad(*numbers))[0]
    1.0
    """
    certain = value >= SURE and not baseline >= SURE
    return certain, bool(np.isnan(value)), value if np.isnan(high) else high, -np.nan_to_num(baseline)


def averaged(rows: pd.DataFrame, random: bool) -> Numbers:
    """The mean over seeds of one number, with its interval: what one seed says of people, and what seeds say of it.

    Parameters
    ----------
    rows : DataFrame
        Of tidy results, one per seed.
    random : bool
        Whether its release is drawn.

    Returns
    -------
    dict
        `value`, `low`, `high`, `baseline`; `seeds`, how many; `reason`, why it is unknown.
    """
    return _averaged(_numbers(rows), random)


def _numbers(rows: pd.DataFrame) -> dict[str, FloatArray]:
    """The numbers of tidy results, by column: float arrays."""
    return {name: rows[name].to_numpy(dtype=float) for name in ("value", "low", "high", "baseline")}


def _averaged(columns: Mapping[str, FloatArray], random: bool) -> Numbers:
    """As `averaged`, of the columns of numbers: a frame per group would take longer than all the counting."""
    values, seeds = columns["value"], len(columns["value"])
    low, high = (np.where(np.isnan(columns[end]), values, columns[end]) for end in ("low", "high"))
    if np.isnan(values).any():
        unknown = {"value": np.nan, "low": low.min(), "high": high.max()}
        why = "" if np.isfinite(unknown["high"]) else "it counts too few people, and is withheld"
        return {**unknown, "baseline": np.nan, "seeds": seeds, "reason": why}
    ends = low.mean(), high.mean()
    if random and seeds > 1 and not nearly_equal(values, values[0]).all():
        spread = t_interval(values.tolist())
        ends = np.fmin(ends[0], spread[0]), np.fmax(ends[1], spread[1])
    known = columns["baseline"][~np.isnan(columns["baseline"])]
    numbers = {"value": values.mean(), "low": ends[0], "high": ends[1]}
    return {**numbers, "baseline": known.mean() if len(known) else np.nan, "seeds": seeds, "reason": ""}


def _worst_count(columns: Mapping[str, FloatArray]) -> Numbers:
    """Of shares that are counted in the release itself the largest of all seeds, or where one is withheld its bounds:
    no interval of a sample belongs to it.
    """
    values, seeds = columns["value"], len(columns["value"])
    if np.isnan(values).any():
        ends = {end: np.where(np.isnan(values), columns[end], values) for end in ("low", "high")}
        numbers = {"value": np.nan} | {end: float(np.fmax.reduce(each)) for end, each in ends.items()}
    else:
        numbers = dict.fromkeys(("value", "low", "high"), float(values.max()))
    return {**numbers, "baseline": float(np.nanmax([0.0, *columns["baseline"]])), "seeds": seeds, "reason": ""}


def _unknown(why: str) -> Numbers:
    return {"value": np.nan, "low": np.nan, "high": np.nan, "baseline": np.nan, "seeds": 0, "reason": why}


def _losses(results: pd.DataFrame, keys: Sequence[Release], policy: Policy) -> dict[Release, Numbers]:
    """What the users of each release lose, by release: the weighted mean of its needs, from 0, the original, to 1."""
    sums = {}
    weights = np.array([need.weight for need in policy.needs]) / sum(need.weight for need in policy.needs)
    parts, misleading = [_lost(results, keys, need) for need in policy.needs], _misleading(results)
    for key in keys:
        own = [part[key] for part in parts]
        reasons = [each["reason"] for each in own if each["reason"]]
        reasons += [
            _too_much(need, each["value"], each["high"])
            for need, each in zip(policy.needs, own, strict=True)
            if each["high"] > need.most_lost + ROUNDING
        ]
        reasons += misleading.get(key, [])
        numbers = {end: float(np.dot(weights, [each[end] for each in own])) for end in ("value", "low", "high")}
        sums[key] = {**numbers, "baseline": 1.0, "seeds": own[0]["seeds"], "reason": "; ".join(reasons)}
    return sums


def _misleading(results: pd.DataFrame) -> dict[Release, list[str]]:
    """Return why releases mislead their users, by release: their average error about the number of people in a large
    group is larger than without quasi-identifiers, and larger than the smallest large group.
    """
    found = results[results.measure == SIZES].groupby(SETTING)[["value", "baseline"]].mean()
    wrong = found[found.value > found.baseline.clip(lower=SUPPORT) + ROUNDING]
    return {
        key: [
            f"it misleads about the sizes of large groups, which it misses by {percent(row.value)} of people on "
            f"average ({percent(row.baseline)} without any quasi-identifier)"
        ]
        for key, row in zip(wrong.index, wrong.itertuples(), strict=True)
    }


def _too_much(need: Need, lost: float, most: float) -> str:
    """Return why a release does not keep what a policy needs, in words; `most`: the upper end of what is lost."""
    phrase = facts(need.measure).phrase
    if most > 1 + ROUNDING:
        return f"{phrase} {'is' if lost > 1 + ROUNDING else 'may be'} worse than without any quasi-identifier"
    return f"{phrase}: {percent(most)} of what there is to lose is lost, of at most {percent(need.most_lost)}"


def _lost(results: pd.DataFrame, keys: Sequence[Release], need: Need) -> dict[Release, Numbers]:
    """Return the share of one need that each release loses: {release: numbers}. A release that is worse than one
    without quasi-identifiers loses infinitely much if that one loses nothing.
    """
    found, plain = {}, (results.control == "") & (results.variant == "") & (results.group == "")
    asked = results[(results.measure == need.measure) & plain]
    of = asked.groupby(SETTING, sort=False).indices
    for key in keys:
        rows = asked.iloc[of.get(key, [])]
        there = measured(rows)
        worst = there[there.miner.isin(["", "worst"])]
        there = worst if len(worst) else there
        why = rows.reason.iloc[0] if len(rows) and there.empty else ""
        found[key] = averaged(there, there.randomized.any()) if len(there) else _unknown(why)
    near, far = (found.get((name, ""), {}).get("value", np.nan) for name in (ORIGINAL, BARE))
    if np.isnan([near, far]).any():
        raise UsageError(
            f"what is lost of '{need.measure}' is counted between {title(ORIGINAL)} and {title(BARE)}, and one of them "
            "has none in these results. Evaluate `reference_sanitizers()` too, or name another measure in the policy."
        )
    worse = -1 if facts(need.measure).better == "higher" else 1

    def share(value: float) -> float:
        if far != near:
            return float((value - near) / (far - near))
        return np.inf if worse * (value - near) > 0 and not nearly_equal(value, near) else 0.0

    lost = {}
    for key, each in found.items():
        middle, *ends = (share(each[end]) for end in ("value", "low", "high"))
        low, high = sorted(ends)
        if np.isnan(each["high"]):
            why = each["reason"] or f"{facts(need.measure).phrase} is not known"
            lost[key] = _unknown(f"what users lose is not known: {why}")
        else:
            lost[key] = {"value": middle, "low": low, "high": high, "seeds": each["seeds"], "reason": ""}
    return lost


def keeps(row: Any) -> Any:
    """Return whether a release keeps a cap: its upper bound does. Of a row, or of each row of a frame."""
    return (row.high <= row.cap) | nearly_equal(row.high, row.cap)


def why_broken(row: Any) -> str:
    """Return why a release does not keep a cap, in words. `row`: as `at_cap` gives it."""
    if np.isnan(row.high):
        return f"{subject(row)} is unknown: {row.reason.rstrip('.')}"
    surely = row.value > row.cap and not nearly_equal(row.value, row.cap)  # not only by its upper bound
    said = f"{subject(row)} is {numerals.share(row.value, row.low, row.high)}"
    return f"{said}, {'above' if surely else 'which may be above'} the cap of {percent(row.cap)}"


def lost_about(measures: Sequence[str]) -> str:
    """What is lost, by the measures of it: words.

    >>> lost_about(["utility_loss"]), lost_about(["utility_loss", "workload_utility"])
    ('about large groups', 'for its users')
    """
    return "about large groups" if [*measures] == LARGE else "for its users"


def _dominance(found: pd.DataFrame, table: pd.DataFrame) -> Array:
    """Whether another release is as good on every axis and better on one: "efficient", "dominated", "undecided".

    What is below the floor, has an unknown risk, or is drawn with too few seeds, dominates none.
    """
    low, high = (found[end].to_numpy().reshape(len(table), -1) for end in ("low", "high"))
    known = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    enough = ~table.random | (found.seeds.to_numpy().reshape(len(table), -1).min(axis=1) >= SEEDS)
    able = known & enough.to_numpy() & (table.below == "").to_numpy()
    middle = (low + high) / 2
    surely, likely = (np.logical_and(*beats(*ends)) & able[:, None] & able for ends in ((low, high), (middle, middle)))
    return np.select([surely.any(axis=0), ~able | likely.any(axis=0)], ["dominated", "undecided"], "efficient")
