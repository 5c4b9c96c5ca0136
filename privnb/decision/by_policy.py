"""The choice of a release by a policy: the releases that comply with it, their order, and why others are ruled out.

The choice is computed from tidy results. A release is represented by a vector: its risks, and the loss of its users. A
release whose risk is unknown does not meet a cap on that risk.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision import policies
from privnb.decision.points import BARE, ORIGINAL, SEEDS, beats, find_refusals
from privnb.decision.policies import Cap, Need, Policy
from privnb.decision.promises import Promises, Release, check_promises, prefer_stronger
from privnb.decision.reasons import CAP, LOST, MISLEADING, REFUSED, UNKNOWN_LOSS, WORSE, Reason
from privnb.evaluation.results import SETTING_COLUMNS, Results, group_positions, name_settings, select_measured
from privnb.measures.base import measure_facts
from privnb.measures.disclosure.certainty import CERTAINTY
from privnb.measures.intervals import t_interval
from privnb.measures.utility.populations import SUPPORT
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import join_names
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.validation import at_least, optional, validated
from privnb.sanitizers.catalogue import title

LOSS = "loss"  # the axis of the users' loss; each cap has an axis too
SIZES = "size_error"  # the error of a release about the number of people in large groups
LARGE = ["utility_loss"]  # the needs of users who ask about large groups only
NONE = "none"
CERTAIN = ("no", "withheld", "yes")  # whether a sensitive value is disclosed with certainty; the worst is the last
ENDS = ("value", "low", "high")
NAMED = [*SETTING_COLUMNS, "setting", "random"]
# The columns of results that a cap reads: picking the rows of all columns takes twice as long.
READ = ["variant", "target", "group", "randomized", "status", "reason", "value", "low", "high", "baseline"]
Numbers = dict[str, Any]  # the columns of a row of `compute_vectors`, from `value` on


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision under a policy.

    Parameters
    ----------
    policy : Policy
    releases : DataFrame
        One row per release; see `judge_releases`.
    vectors : DataFrame
        One row per release and axis; see `compute_vectors`.
    refused : tuple of (str, str)
        The settings of releases that were chosen before, and why their files were refused; see `without_chosen`.
    people : int
        The number of people in the table; 0 if the number is unknown.
    previous : str
        The name of the earlier release together with which the risks were measured; empty if there is none.
    promises : dict
        The privacy models that each release promises, see `promises.list_promises`.
    first_search : dict, optional
        The caps, the title and the day of the first search of this table, as in `search_record`; None if unknown.
    """

    policy: Policy
    releases: pd.DataFrame
    vectors: pd.DataFrame
    refused: tuple[tuple[str, str], ...] = ()
    people: int = 0
    previous: str = ""
    promises: Promises = field(default_factory=dict)
    first_search: Mapping[str, Any] | None = None

    @cached_property
    def chosen(self) -> Any:
        """The row of `releases` for the chosen release, or None if no release complies with the policy."""
        return self.kept.iloc[0] if len(self.kept) else None

    @property
    def setting(self) -> str:
        """The readable name of the chosen release; empty if no release is chosen."""
        return "" if self.chosen is None else self.chosen.setting

    @property
    def sanitizer(self) -> str:
        """The name of the chosen release's sanitizer in results; "none" if no release is chosen."""
        return NONE if self.chosen is None else self.chosen.sanitizer

    @property
    def parameters(self) -> str:
        """The text of the chosen release's parameters in results; empty if no release is chosen."""
        return "" if self.chosen is None else self.chosen.parameters

    @property
    def choice(self) -> pd.DataFrame:
        """The chosen release in the form of `decision.choose_by_losses`: a table of one row."""
        row = {"setting": self.setting or NONE, "sanitizer": self.sanitizer, "parameters": self.parameters}
        return pd.DataFrame([row])

    @validated
    def without_chosen(self, why: str) -> "Decision":
        """Return the decision after the file of the chosen release was refused; the runner-up is then chosen.

        `why` is the reason of the refusal, as a sentence. Raises ValueError if no release is chosen.
        """
        if self.chosen is None:
            raise UsageError(
                "`without_chosen` needs a chosen release; got a decision in which no release complies with "
                f"'{self.policy.title}'. Give a decision with a chosen release."
            )
        first, others = self.releases.iloc[:1], self.releases.iloc[1:]
        ruled_out = first.assign(kept=False, lenient=False, reasons=[[Reason.of(REFUSED, why=why.rstrip("."))]])
        releases = _in_order(pd.concat([others, ruled_out], ignore_index=True), self.policy)
        releases = prefer_stronger(releases, self.vectors, self.promises)
        return replace(self, releases=releases, refused=(*self.refused, (first.setting.iloc[0], why)))

    @property
    def runner_up(self) -> str:
        """The name of the release that would be chosen next; empty if no other release complies with the policy."""
        return self.kept.setting.iloc[1] if len(self.kept) > 1 else ""

    @property
    def certain_free_alternative(self) -> pd.Series | None:
        """The release of least loss that complies with the policy and discloses no sensitive value with certainty.

        The result is None if there is no such release, or if the chosen release itself discloses no value with
        certainty.
        """
        others = self.kept[self.kept.certain == "no"]
        return None if self.chosen is None or self.chosen.certain != "yes" or others.empty else others.iloc[0]

    @property
    def near(self) -> list[str]:
        """The settings of releases that comply with the policy and whose loss may equal that of the chosen release."""
        first, others = self.kept.iloc[:1], self.kept.iloc[1:]
        overlaps = (others.loss_low <= first.loss_high.max()) & (others.loss_high >= first.loss_low.max())
        return others.setting[overlaps].tolist()

    @property
    def ruled_out(self) -> list[tuple[str, list[Reason]]]:
        """All releases that are ruled out, with the reasons, as a list of (setting, list of reasons)."""
        out = self.releases[~self.releases.kept]
        return list(zip(out.setting, out.reasons, strict=True))

    @cached_property
    def kept(self) -> pd.DataFrame:
        """The releases that comply with the policy; the chosen release is the first."""
        return self.releases[self.releases.kept]

    @cached_property
    def least(self) -> pd.Series | None:
        """The release of least loss that complies with the policy by the same reading of caps as the chosen release."""
        if self.chosen is None:
            return None
        like = self.kept[self.kept.lenient == self.chosen.lenient]
        return like.iloc[like.loss.argmin()]

    @property
    def near_least(self) -> int:
        """The number of releases of the same reading whose loss exceeds that of `least` by at most the tolerance."""
        if self.least is None:
            return 0
        like = self.kept[self.kept.lenient == self.chosen.lenient]
        return int((like.loss <= self.least.loss + self.policy.tolerance + ROUNDING).sum())

    def tightest_cap(self, release: pd.Series) -> pd.Series | None:
        """Return the row of `vectors` for the cap of which a release uses the largest share; None if unknown."""
        capped = self._capped(release)
        if capped.empty or capped.high.isna().any():
            return None
        return capped.iloc[int(np.argmax(_shares_of_caps(capped)))]

    def differs_by_chance(self, release: pd.Series, other: pd.Series) -> bool:
        """Return whether the difference between two releases in the use of the tightest cap is within chance.

        The cap is the tightest cap of the release whose use is larger; the difference is within chance if the intervals
        of the two releases' risks overlap. A counted risk has no interval, so its differences are not due to chance.
        """
        more, less = (other, release) if other.used >= release.used else (release, other)
        tightest = self.tightest_cap(more)
        if tightest is None or not more.used > less.used + ROUNDING:
            return False
        own = self._capped(less)
        row = own[own.axis == tightest.axis].iloc[0]
        has_interval = tightest.high > tightest.low and row.high > row.low
        return bool(has_interval and row.high >= tightest.low and tightest.high >= row.low)

    def _capped(self, release: pd.Series) -> pd.DataFrame:
        """Return the rows of `vectors` for the caps of one release."""
        own = (self.vectors[SETTING_COLUMNS] == [release.sanitizer, release.parameters]).all(axis=1)
        return self.vectors[own & (self.vectors.axis != LOSS)]

    @property
    def bare(self) -> pd.Series | None:
        """The row of `releases` for the release without quasi-identifiers, or None."""
        found = self.releases[(self.releases.sanitizer == BARE) & (self.releases.parameters == "")]
        return None if found.empty else found.iloc[0]

    @property
    def risks(self) -> pd.DataFrame:
        """The rows of `vectors` for the caps of the chosen release, or of the original if no release is chosen."""
        whose = (self.sanitizer, self.parameters) if self.chosen is not None else (ORIGINAL, "")
        found = self.vectors
        return found[(found.sanitizer == whose[0]) & (found.parameters == whose[1]) & (found.axis != LOSS)]

    @property
    def nearest_first(self) -> pd.DataFrame:
        """The rows of `releases` without the original; releases that exceed fewer caps come first.

        If two releases exceed the same number of caps, the release of smaller loss comes first. Releases below the
        minimum class size come last.
        """
        open_to_all = self.releases[~self.releases.sanitizer.isin([ORIGINAL])]
        order = {"below": open_to_all.status == "refused", "many": open_to_all.reasons.map(len)}
        return open_to_all.assign(**order).sort_values([*order, "loss"], kind="stable").drop(columns=[*order])

    @property
    def unattainable(self) -> list[dict[str, Any]]:
        """The caps that no release is shown to meet, as plain values; empty if a release is chosen.

        Each cap comes with the risk without quasi-identifiers, the smallest risk of any release, and the number of
        people that would be needed to show that a release meets the cap.
        """
        if self.chosen is not None:
            return []
        able = self.releases[self.releases.status != "refused"].setting
        capped = self.vectors[(self.vectors.axis != LOSS) & self.vectors.setting.isin(able)]
        found = []
        for _, rows in capped.groupby("axis", sort=False):
            bare = rows[(rows.sanitizer == BARE) & (rows.parameters == "")]
            if not bare.empty and np.isfinite(bare.high.iloc[0]) and not keeps_cap(rows).any():
                found.append(_unattainable(bare.iloc[0], rows.loc[rows.high.idxmin()], self.people))
        return found


def _unattainable(bare: pd.Series, least: pd.Series, people: int) -> dict[str, Any]:
    """Return a cap that no release meets, the risk without quasi-identifiers, and the smallest risk of any release."""
    is_surely_above = bare.low > bare.cap or (nearly_equal(bare.low, bare.high) and not np.isnan(bare.value))
    needed = 0.0
    if people and not is_surely_above and bare.value < bare.cap:
        needed = people * ((bare.high - bare.value) / (bare.cap - bare.value)) ** 2
    return {
        "subject": name_risk(bare),
        "cap": float(bare.cap),
        "bare": {name: plain_number(bare[name]) for name in ENDS},
        "is_surely_above": bool(is_surely_above),
        "people": people,
        "people_needed": float(f"{needed:.2g}"),
        "least": {"setting": least.setting, "high": plain_number(least.high)},
    }


def plain_number(value: float | None) -> float | None:
    """Return a number if it is finite, and None otherwise."""
    return float(value) if value is not None and np.isfinite(value) else None


@validated
def decide(
    results: Results,
    policy: Policy,
    people: Annotated[int, at_least(0)] = 0,
    promises: Annotated[Promises | None, optional(check_promises)] = None,
) -> Decision:
    """Choose one of the releases in `results` by a policy.

    The chosen release meets every cap and need of the policy. The loss of its users is the least loss, or exceeds the
    least loss by no more than the policy's tolerance. If releases have equal numbers, the function prefers the release
    whose promise is stronger, such as a larger k, a larger l, a smaller t or further models. The upper bound of an
    interval must not exceed the cap; a risk that is unknown, or withheld without a bound, does not meet the cap. The
    function never chooses the original, or a release in which fewer people than the minimum class size share a
    combination of quasi-identifiers.

    Parameters
    ----------
    results : DataFrame
        Tidy results of one dataset: the risks that the policy caps (`evaluation.risks`), `smallest_combination`, and
        the measures of the policy's needs. The results include the original and the release without quasi-identifiers.
    policy : Policy
    people : int
        The number of people in the table; 0 if the number is unknown.
    promises : dict, optional
        The privacy models that each release promises, see `promises.list_promises`; None if they are unknown.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        If the results are of several datasets, or if one of the two reference releases is missing.
    """
    if results.dataset.nunique() != 1:
        raise UsageError(
            f"`results` must come from one dataset; got {', '.join(sorted(results.dataset.unique())) or 'no rows'}. "
            "Select the rows of one dataset."
        )
    found = compute_vectors(results, policy)
    held = promises or {}
    releases = prefer_stronger(judge_releases(results, policy, found), found, held)
    return Decision(policy, releases, found, people=people, promises=held)


@validated
def compute_vectors(results: Results, policy: Policy) -> pd.DataFrame:
    """Return the numbers of each release on each axis of a policy; the axes are the caps and the loss of the users.

    Parameters
    ----------
    results : DataFrame
    policy : Policy

    Returns
    -------
    DataFrame
        One row per release and axis. The columns `sanitizer`, `parameters` and `setting` identify the release; `random`
        is whether the release is random. `axis` is a cap in words, or "loss", and `measure` is the measure of the cap.
        If there are several sensitive attributes or groups, `target` and `group` are those with the worst number.
        `value` is a mean over seeds; `low` and `high` are the ends of its 95% interval, which are equal if the number
        is exact and NaN if the number is unknown. `baseline` and `seeds` are the baseline and the number of seeds.
        `adversary` is "knows the algorithm" if the numbers are those of this adversary, and else empty. `cap` is NaN
        for the loss. `reason` is why the number is unknown, and `whys` holds the reasons why the release
        is ruled out by its loss, as a tuple of `Reason`.
    """
    made = results.drop_duplicates(SETTING_COLUMNS).reset_index(drop=True)
    settings = made[SETTING_COLUMNS].itertuples(index=False, name=None)
    names = {
        key: {**dict(zip(SETTING_COLUMNS, key, strict=True)), "setting": name, "random": bool(random)}
        for key, name, random in zip(settings, name_settings(made), made.randomized, strict=True)
    }
    # The results are grouped once for all releases and caps: there are hundreds of groups, with a few rows each.
    of = results.groupby([*SETTING_COLUMNS, "measure"], sort=False).indices
    losses, rows, read = _losses(results, [*names], policy), [], results[READ]
    for key, name in names.items():
        for cap in policy.caps:
            rows.append({**name, **read_at_policy_cap(partial(_pick, read, of, key), cap, policy), "whys": ()})
        of_users = {"axis": LOSS, "measure": "", "target": "", "group": "", "adversary": "", "cap": np.nan}
        rows.append({**name, **of_users, **losses[key]})
    return pd.DataFrame(rows)


def scale_vectors(found: pd.DataFrame) -> dict[Release, FloatArray]:
    """Scale upper bounds so that 0 is the better and 1 the worse of the two reference releases; NaN means unknown.

    Parameters
    ----------
    found : DataFrame
        The result of `compute_vectors`, with the original and the release without quasi-identifiers.

    Returns
    -------
    dict of (str, str) to float array (axes,)
        The scaled upper bounds, by sanitizer and parameters.
    """
    high = {key: axes.high.to_numpy() for key, axes in found.groupby(SETTING_COLUMNS, sort=False)}
    ends = np.array([high[key] for key in ((ORIGINAL, ""), (BARE, ""))])
    best, worst = np.fmin(*ends), np.fmax(*ends)
    width = np.where(worst > best, worst - best, 1.0)
    return {key: (numbers - best) / width for key, numbers in high.items()}


def judge_releases(results: pd.DataFrame, policy: Policy, found: pd.DataFrame) -> pd.DataFrame:
    """Judge each release of `compute_vectors` by the policy, and order the rows as `_in_order` states.

    Returns
    -------
    DataFrame
        The columns `sanitizer`, `parameters`, `setting`, `random`, `loss`, `loss_low` and `loss_high`, and the
        following columns. `kept` is whether the release complies with the policy. `reasons` is a list of the reasons
        why the release is ruled out. `status` is "efficient", "dominated" or "undecided" over all axes, as in
        `decision.points`, or "refused" for a release below the minimum class size. `certain` is whether the release
        discloses a sensitive value with certainty: "yes", "no", "withheld", or empty if unknown. `made_certain` lists
        the attributes whose values the release discloses with certainty, each with the share of people concerned, the
        largest share first; withheld shares are left out. `used` is the share of its tightest cap that the release
        uses. `lenient` is whether the release meets a cap only by the lenient reading.
    """
    certain, people = _certain(results), _made_certain(results)
    below = find_refusals(results, found.drop_duplicates(SETTING_COLUMNS), policy.min_class_size)
    rows = []
    for (made, axes), under in zip(found.groupby(SETTING_COLUMNS, sort=False), below, strict=True):
        loss, capped = axes[axes.axis == LOSS].iloc[0], axes[axes.axis != LOSS]
        # The risks of a release below the minimum class size are not measured, which is not a second reason.
        caps = capped[~(capped.value.isna() & bool(under))]
        reasons = (
            [Reason.of(under, **({"minimum": policy.min_class_size} if "below" in under else {}))] if under else []
        )
        reasons += [why_broken(row) for row in caps.itertuples() if not keeps_cap(row)] + [*loss.whys]
        numbers = {"loss": loss.value, "loss_low": loss.low, "loss_high": loss.high}
        own = {"kept": not reasons, "reasons": reasons, "below": under, "certain": certain.get(made, "")}
        own |= {"used": _used_of_tightest(capped), "lenient": not reasons and _leniently(caps, policy)}
        rows.append({**loss[NAMED], **numbers, **own, "made_certain": people.get(made, [])})
    table = pd.DataFrame(rows)
    table["status"] = np.where(table.below != "", "refused", _dominance(found, table))
    return _in_order(table.drop(columns="below"), policy)


def _leniently(axes: pd.DataFrame, policy: Policy) -> bool:
    """Return whether a release meets a cap only by the lenient reading, and not as the cap is written."""
    written = axes.axis.map({cap.subject: cap.at_most for cap in policy.caps})
    return bool(((axes.high > written) & ~nearly_equal(axes.high, written)).any())


def _used_of_tightest(axes: pd.DataFrame) -> float:
    """Return the largest share of a cap that a release uses: the largest ratio of a risk's upper bound to its cap.

    The share is NaN if a risk is unknown, and infinite for a risk above a cap of 0.
    """
    return float(_shares_of_caps(axes).max(skipna=False)) if len(axes) else 0.0


def _shares_of_caps(axes: pd.DataFrame) -> pd.Series:
    """Return the share of each cap that a release uses: NaN if the risk is unknown, infinite above a cap of 0."""
    of_nothing = (axes.high > 0).map({True: np.inf, False: 0.0})
    used = (axes.high.clip(lower=0) / axes.cap.where(axes.cap > 0)).where(axes.cap > 0, of_nothing)
    return used.where(axes.high.notna())


def _certain(results: pd.DataFrame) -> dict[Release, str]:
    """Return whether each release discloses a sensitive value with certainty, in the words of `judge_releases`."""
    found = results[(results.measure == "made_certain") & (results.control == "")]
    found = found[found.value.notna() | (found.status == "withheld")]
    ranked = found.assign(rank=np.select([found.value > 0, found.value.isna()], [2, 1], 0))
    worst_seeds = ranked.groupby(SETTING_COLUMNS)["rank"].max()
    return {made: CERTAIN[rank] for made, rank in worst_seeds.items()}


def _made_certain(results: pd.DataFrame) -> dict[Release, list[tuple[str, float]]]:
    """Return the attributes that each release discloses with certainty, and the share of people concerned by each.

    Each share is a mean over seeds.
    """
    found = results[(results.measure == "made_certain") & (results.control == "")]
    shares = found.groupby([*SETTING_COLUMNS, "target"], sort=False).value.agg(lambda each: each.mean(skipna=False))
    made: dict[Any, list[tuple[str, float]]] = {}
    for (*release, name), share in shares[shares > 0].sort_values(ascending=False, kind="stable").items():
        made.setdefault(tuple(release), []).append((name, share))
    return made


def _in_order(releases: pd.DataFrame, policy: Policy) -> pd.DataFrame:
    """Return the releases in the order of choice.

    Releases that comply with the policy come first. Among these, releases that meet every cap as it is written come
    before releases that need the lenient reading. In each of these two groups, the releases whose loss exceeds the
    least loss by at most the policy's tolerance come first, ordered by the use of their tightest cap. The other
    releases follow, ordered by their loss.
    """
    loss = releases.loss.where(releases.kept)
    least = loss.groupby(releases.lenient).transform("min")
    within = (loss <= least + policy.tolerance + ROUNDING) & (policy.order == policies.LEAST_RISK)
    keys = {"_beyond": ~within, "_used": releases.used.where(within, 0.0).round(9)}
    ordered = releases.assign(**keys).sort_values(
        ["kept", "lenient", *keys, "loss"], ascending=[False, True, True, True, True], kind="stable", ignore_index=True
    )
    return ordered.drop(columns=[*keys])


def read_at_cap(rows: pd.DataFrame, cap: Cap) -> Numbers:
    """Return the numbers of one release for one cap.

    The numbers are those of the worst of several sensitive attributes and, for a cap on the "worst group", those of the
    shown group with the largest upper bound. If the risk of one of the attributes is unknown, the result is unknown.

    Parameters
    ----------
    rows : DataFrame
        Tidy results of the release for the cap's measure.
    cap : Cap

    Returns
    -------
    dict
        A row of `compute_vectors`, from `axis` on.
    """
    axis: Numbers = {"axis": cap.subject, "measure": cap.measure, "cap": cap.most, "target": "", "group": ""}
    axis["adversary"] = ""
    there = rows[rows.variant == cap.variant]
    if cap.group == "everybody":
        there = there[there.group == ""]
    elif (there.group != "").any():
        there = there[there.group != ""]
    known = select_measured(there)
    lacking = {*rows.target} - {*known.target}
    if known.empty or lacking:
        there, rows = (table[table.target.isin(lacking)] for table in (there, rows))
        whys = [*there.reason, *rows.reason[rows.value.isna()]]  # a refusal has only a row for the mean
        unknown = _unknown(next(filter(None, whys), f"{measure_facts(cap.measure).phrase} was not measured"))
        return {**axis, "target": "" if known.empty else join_names(sorted(lacking)), **unknown}
    columns, random = get_numbers(known), known.randomized.any()
    found: dict[str, dict[str, Numbers]] = {}
    targets, groups = known.target.tolist(), known.group.tolist()
    for places in group_positions(known, ["target", "group"]):
        own = {name: column[places] for name, column in columns.items()}
        numbers = _worst_count(own) if cap.counted else average_numbers(own, random)
        found.setdefault(targets[places[0]], {})[groups[places[0]]] = numbers
    worst = list[Numbers]()
    for target, groups in found.items():
        shown = [group for group in groups if np.isfinite(groups[group]["high"])] or [*groups]
        group = max(shown, key=lambda group: groups[group]["high"])
        worst.append({"target": target if len(found) > 1 else "", "group": group, **groups[group]})
    worst_numbers: Numbers = max(worst, key=_badly)
    return {**axis, **worst_numbers}


def read_at_policy_cap(select: Callable[[str], pd.DataFrame], cap: Cap, policy: Policy) -> Numbers:
    """Return the numbers of one release for one cap, for the strongest adversary whom the policy names.

    If no attack by an informed adversary on the release is known, the numbers are those of the adversary who knows the
    quasi-identifiers. If such an attack was not tried or cannot reason about the algorithm, the risk is unknown.

    Parameters
    ----------
    select : function
        A function that returns the rows of the release for a measure.
    cap : Cap
    policy : Policy

    Returns
    -------
    dict
        The result of `read_at_cap`.
    """
    naive = read_at_cap(select(cap.measure), cap)
    if not (policy.is_informed and cap.informed_measure):
        return naive
    rows = select(cap.informed_measure)
    attacked, adversary = rows[rows.status != "refused"], {"adversary": policies.KNOWS_ALGORITHM}
    if rows.empty:
        return naive | _unknown(f"{measure_facts(cap.informed_measure).phrase} was not measured") | adversary
    if attacked.empty:
        return naive
    return max((naive, read_at_cap(attacked, cap) | adversary), key=_badly)  # the naive numbers if both are equal


def _pick(read: pd.DataFrame, of: Mapping[Any, IntArray], key: Release, measure: str) -> pd.DataFrame:
    return read.iloc[of.get((*key, measure), [])]


def _badly(numbers: Numbers) -> tuple[bool, float]:
    return bool(np.isnan(numbers["high"])), numbers["high"]


def risk_sort_key(value: float, high: float, baseline: float) -> tuple[bool, bool, float, float]:
    """Return a sort key for the risks of several sensitive attributes, which puts the worst risk last.

    A guess that is certain only with the release is the worst risk. The next worst is a withheld number (NaN), and then
    the risk with the largest upper bound. If the bounds are equal, the risk with the smaller baseline is worse.

    >>> risks = [(0.9, 0.95, 0.5), (np.nan, np.nan, np.nan), (1.0, 1.0, 0.2)]
    >>> max(risks, key=lambda risk: risk_sort_key(*risk))[0]
    1.0
    """
    certain = value >= CERTAINTY and not baseline >= CERTAINTY
    return certain, bool(np.isnan(value)), value if np.isnan(high) else high, -np.nan_to_num(baseline)


def average_over_seeds(rows: pd.DataFrame, random: bool) -> Numbers:
    """Return the mean of one number over seeds; the interval covers the variation of people and of seeds.

    Parameters
    ----------
    rows : DataFrame
        Rows of tidy results, one per seed.
    random : bool
        Whether the release is random.

    Returns
    -------
    dict
        `value`, `low`, `high`, `baseline`; `seeds`, the number of seeds; `reason`, why the number is unknown.
    """
    return average_numbers(get_numbers(rows), random)


def get_numbers(rows: pd.DataFrame) -> dict[str, FloatArray]:
    """Return the numbers of tidy results by column, as float arrays."""
    return {name: rows[name].to_numpy(dtype=float) for name in ("value", "low", "high", "baseline")}


def average_numbers(columns: Mapping[str, FloatArray], random: bool) -> Numbers:
    """Return the same as `average_over_seeds`, but from arrays of numbers, which is faster than one frame per group."""
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
    """Return the largest share over all seeds, or its bounds if a share is withheld.

    The share is counted in the release itself, so it has no confidence interval.
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
    """Return, by release, the loss of the users: a weighted mean over the policy's needs; it is 0 for the original."""
    sums: dict[Release, Numbers] = {}
    weights = np.array([need.weight for need in policy.needs]) / sum(need.weight for need in policy.needs)
    parts, misleading = [_lost(results, keys, need) for need in policy.needs], _misleading(results)
    for key in keys:
        own = [part[key] for part in parts]
        whys = [Reason.of(UNKNOWN_LOSS, why=each["reason"].rstrip(".")) for each in own if each["reason"]]
        whys += [
            _too_much(need, each["value"], each["high"])
            for need, each in zip(policy.needs, own, strict=True)
            if each["high"] > need.most_lost + ROUNDING
        ]
        whys += misleading.get(key, [])
        numbers = {end: float(np.dot(weights, [each[end] for each in own])) for end in ("value", "low", "high")}
        sums[key] = {**numbers, "baseline": 1.0, "seeds": own[0]["seeds"], "reason": "", "whys": tuple(whys)}
    return sums


def _misleading(results: pd.DataFrame) -> dict[Release, list[Reason]]:
    """Return, by release, the reasons why a release misleads its users.

    A release misleads its users if its average error about the number of people in a large group is larger than without
    quasi-identifiers, and larger than the smallest large group.
    """
    found = results[results.measure == SIZES].groupby(SETTING_COLUMNS)[["value", "baseline"]].mean()
    wrong = found[found.value > found.baseline.clip(lower=SUPPORT) + ROUNDING]
    return {
        key: [Reason.of(MISLEADING, missed=float(row.value), bare=float(row.baseline))]
        for key, row in zip(wrong.index, wrong.itertuples(), strict=True)
    }


def _too_much(need: Need, lost: float, most: float) -> Reason:
    """Return why a release does not meet a need of the policy; `most` is the upper end of the loss."""
    phrase = measure_facts(need.measure).phrase
    if most > 1 + ROUNDING:
        return Reason.of(WORSE, measure=phrase, is_surely_worse=bool(lost > 1 + ROUNDING))
    return Reason.of(LOST, measure=phrase, most=float(most), accepted=need.most_lost)


def _lost(results: pd.DataFrame, keys: Sequence[Release], need: Need) -> dict[Release, Numbers]:
    """Return, as `{release: numbers}`, the share of the utility for one need that each release loses.

    The loss of a release is infinite if the release without quasi-identifiers loses nothing and is better than the
    release.
    """
    found, plain = {}, (results.control == "") & (results.variant == "") & (results.group == "")
    asked = results[(results.measure == need.measure) & plain]
    of = asked.groupby(SETTING_COLUMNS, sort=False).indices
    for key in keys:
        rows = asked.iloc[of.get(key, [])]
        there = select_measured(rows)
        worst = there[there.miner.isin(["", "worst"])]
        there = worst if len(worst) else there
        why = rows.reason.iloc[0] if len(rows) and there.empty else ""
        found[key] = average_over_seeds(there, there.randomized.any()) if len(there) else _unknown(why)
    near, far = (found.get((name, ""), {}).get("value", np.nan) for name in (ORIGINAL, BARE))
    if np.isnan([near, far]).any():
        raise UsageError(
            f"`results` must have '{need.measure}' for {title(ORIGINAL)} and {title(BARE)}, between which losses are "
            "scaled. Evaluate `reference_sanitizers()` too, or name another measure in the policy."
        )
    worse = -1 if measure_facts(need.measure).better == "higher" else 1

    def share(value: float) -> float:
        if far != near:
            return float((value - near) / (far - near))
        return np.inf if worse * (value - near) > 0 and not nearly_equal(value, near) else 0.0

    lost = {}
    for key, each in found.items():
        middle, *ends = (share(each[end]) for end in ("value", "low", "high"))
        low, high = sorted(ends)
        if np.isnan(each["high"]):
            lost[key] = _unknown(each["reason"] or f"{measure_facts(need.measure).phrase} was not measured")
        else:
            lost[key] = {"value": middle, "low": low, "high": high, "seeds": each["seeds"], "reason": ""}
    return lost


def keeps_cap(row: Any) -> Any:
    """Return whether the upper bound of a row, or of each row of a frame, does not exceed its cap."""
    return (row.high <= row.cap) | nearly_equal(row.high, row.cap)


def why_broken(row: Any) -> Reason:
    """Return why a release does not meet a cap; `row` is the result of `read_at_cap`."""
    surely = row.value > row.cap and not nearly_equal(row.value, row.cap)  # not only the bound exceeds the cap
    named = {"risk": name_risk(row), "cap": float(row.cap), "is_surely_above": bool(surely)}
    named |= {"adversary": row.adversary} if row.adversary else {}
    if np.isnan(row.high):
        return Reason.of(CAP, **named, why=row.reason.rstrip("."))
    value, low, high = (None if np.isnan(each) else float(each) for each in (row.value, row.low, row.high))
    return Reason.of(CAP, **named, value=value, low=low, high=high)


def name_risk(row: Any) -> str:
    """Return the name of the risk of a row of `compute_vectors`, with its attribute and group."""
    of = ", ".join(filter(None, (row.target, row.group)))
    return f"{row.axis} ({of})" if of else str(row.axis)


def _dominance(found: pd.DataFrame, table: pd.DataFrame) -> Array:
    """Return the status of each release, as an array of texts: "dominated", "undecided" or "efficient".

    A release is dominated if another release is as good on every axis and better on at least one axis. A release does
    not dominate any other release if it is below the minimum class size, has an unknown risk, or is random and was made
    with too few seeds.
    """
    low, high = (found[end].to_numpy().reshape(len(table), -1) for end in ("low", "high"))
    known = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    enough = ~table.random | (found.seeds.to_numpy().reshape(len(table), -1).min(axis=1) >= SEEDS)
    able = known & enough.to_numpy() & (table.below == "").to_numpy()
    middle = (low + high) / 2
    surely, likely = (np.logical_and(*beats(*ends)) & able[:, None] & able for ends in ((low, high), (middle, middle)))
    return np.select([surely.any(axis=0), ~able | likely.any(axis=0)], ["dominated", "undecided"], "efficient")
