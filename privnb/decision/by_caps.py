"""Which release to publish: the knee of the frontier, the cheapest under the owner's caps, and what each costs.

One module: what is chosen, what is left out and what is said of either read the same points.
"""

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, IS_ORIGINAL, bounded, comparable
from privnb.evaluation.results import SETTING
from privnb.runtime import expect, numerals
from privnb.runtime.sentences import B
from privnb.runtime.tolerances import ROUNDING, nearly_equal


def knee(releases):
    """Where giving up more of one loss stops buying much of the other: a row of `points`, or None if there is no knee.

    Of the efficient releases, the one that lies farthest below the straight line between the frontier's two ends, both
    losses scaled to 0..1 between the ends. There is none of fewer than three efficient releases, or where none lies
    below the line. It depends on which ends were tried: it is a place to look at, no recommendation. Sources: Das,
    Structural Optimization 18, 1999 (largest distance from the line between the ends); Satopaa et al., "Finding a
    'Kneedle' in a Haystack", ICDCS workshops 2011.
    """
    expect.these(releases=releases)
    rows = releases[(releases.status == "efficient") & np.isfinite(releases[list(AXES)]).all(axis=1)]
    rows = rows.sort_values(list(AXES), kind="stable")
    if len(rows) < 3 or nearly_equal(rows.privacy.iloc[0], rows.privacy.iloc[-1]):
        return None
    x, y = ((rows[axis] - rows[axis].min()) / np.ptp(rows[axis]) for axis in AXES)
    below = 1 - x - y  # proportional to the distance from the line x + y = 1
    return rows.loc[below.idxmax()] if below.max() > ROUNDING else None


def choices(releases, *, privacy_cap=None, utility_cap=None):
    """Which release, why, and what it costs: one row per question that an owner may ask, the recommendation first.

    Of a randomised release the upper bound of its interval counts, of a withheld number its upper bound; a release of
    too few seeds keeps no cap, nor does one whose loss is known from below only, which is no end of the frontier
    either. Equal ones: the smaller other loss, then the first.

    Parameters
    ----------
    releases : DataFrame
        Of `points` with a floor.
    privacy_cap, utility_cap : float, optional
        The most loss that the owner accepts. The least utility loss under the caps is recommended; under a
        `utility_cap` alone the least privacy loss.

    Returns
    -------
    DataFrame
        Beside the recommendation the knee and the ends of the frontier. Columns: `question`, `setting` ("none" if no
        release fits), `sanitizer`, `parameters`, both losses with their bounds as in `points`, `why` and `costs`
        (against the ends).

    Raises
    ------
    ValueError
        For points without a floor: who recommends a release has to know whom it singles out.
    """
    expect.these(releases=releases)
    check_floor(releases)
    rows = [_recommended(releases, _given(privacy=privacy_cap, utility=utility_cap))]
    corner, there = knee(releases), _known(releases)
    if corner is not None:
        why = "of the efficient releases the farthest below the line between the frontier's ends"
        rows.append({**corner, "question": "the knee of the frontier", "why": why})
    for axis, other in (AXES, AXES[::-1]):
        if len(there):
            end = _least(there, axis, other).iloc[0]
            rows.append({**end, "question": f"the least {axis} loss", "why": "an end of the frontier"})
    ends = ("", "_low", "_high", "_baseline", "_of")
    columns = ["question", "setting", *SETTING, *(f"{axis}{end}" for axis in AXES for end in ends), "why"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(costs=[_costs(row, table) for row in table.itertuples()])


def check_floor(releases):
    """Raise ValueError for points without a floor."""
    if releases.refused.isna().any():
        raise ValueError(
            "these points have no floor: nothing is recommended among releases that may single people out. Give "
            "`points(..., floor=5)`, and the results of `evaluation.combinations`."
        )


def _recommended(releases, caps):
    """The release of the least loss that keeps all caps, as a row of `choices`."""
    axis, other = AXES if list(caps) == ["utility"] else AXES[::-1]
    under = " and ".join(f"a {each} loss of at most {_formatted(cap)}" for each, cap in caps.items())
    question = f"the least {axis} loss {f'with {under}' if caps else 'without a cap'}"
    there = _known(releases)
    missing = len(releases) - len(there)
    unknown = int((~(comparable(releases) & bounded(releases)) & (releases.refused == "")).sum())
    left_out = f"; {missing} cannot be chosen whatever the caps" if missing else ""
    of_them = f"{unknown} of them " if unknown < missing else ""
    left_out += f", {of_them}because a loss is not known in full" if unknown else ""
    kept = _keeping(there, caps)
    if kept.empty:
        why = f"no release keeps {'the floor' if there.empty else 'both caps' if len(caps) > 1 else 'the cap'}"
        return {"question": question, "setting": "none", "why": "; ".join([why, *_relaxed(there, caps)]) + left_out}
    order = _least(kept, axis, other)
    first, others = order.iloc[0], order.iloc[1:]
    low, high = (others[f"{axis}_{end}"] for end in ("low", "high"))
    near = others[(low <= first[f"{axis}_high"]) & (high >= first[f"{axis}_low"])]
    keep = "keeps" if len(kept) == 1 else "keep"
    what = "the caps" if len(caps) > 1 else "the cap" if caps else "the floor"
    why = f"{len(kept)} of {len(releases)} releases {keep} {what}, and this one loses least {axis}{left_out}"
    if len(near):
        why += f"; by {axis} loss not distinguishable from {', '.join(near.setting)}"
    return {**first, "question": question, "why": why}


def _relaxed(there, caps):
    """What would have to be accepted of each loss so that a release that keeps the other cap could be chosen."""
    for axis in caps:
        others = {each: cap for each, cap in caps.items() if each != axis}
        for _, row in _keeping(there, others).sort_values(f"{axis}_high", kind="stable").head(1).iterrows():
            yield f"for {row.setting} a {axis} loss of {_formatted(row[f'{axis}_high'])} would have to be accepted"


def _given(**caps):
    """The caps that are there, `{axis: cap}`."""
    return {axis: expect.number(f"{axis}_cap", cap) for axis, cap in caps.items() if cap is not None}


def _first(refused):
    """The original first, then what else is refused, then others."""
    return refused.map(lambda reason: (reason == "") + (reason != IS_ORIGINAL))


def _keeping(releases, caps):
    """The releases that keep all caps."""
    return releases[np.array([not _above(row, caps) for _, row in releases.iterrows()], dtype=bool)]


def _above(row, caps):
    """The caps that a release does not keep: [(axis, cap)]."""
    most = {axis: row[f"{axis}_high"] for axis in caps}
    return [(axis, cap) for axis, cap in caps.items() if not (most[axis] <= cap or nearly_equal(most[axis], cap))]


def left_out(releases, *, privacy_cap=None, utility_cap=None):
    """Why each release that cannot be chosen is left out.

    Parameters
    ----------
    releases : DataFrame
        Of `points` with a floor.
    privacy_cap, utility_cap : float, optional
        As of `choices`.

    Returns
    -------
    dict of str to list of str
        Settings by reason; those that are below the floor first.
    """
    expect.these(releases=releases)
    check_floor(releases)
    caps = _given(privacy=privacy_cap, utility=utility_cap)
    known, found = _known(releases), {}
    for name, row in releases.sort_values("refused", key=_first, kind="stable").iterrows():
        if row.refused:
            reasons = [row.refused]
        elif name not in known.index:
            reasons = [row.why if row.status == "undecided" else "a loss is known from below only, or not surely"]
        else:
            reasons = [f"its {axis} loss is above the cap of {_formatted(cap)}" for axis, cap in _above(row, caps)]
        if reasons:
            found.setdefault(" and ".join(reasons), []).append(row.setting)
    return found


def _known(releases):
    """The releases that can be chosen: above the floor, and both losses are known, and not from below only."""
    return releases[comparable(releases) & bounded(releases) & (releases.refused == "")]


def _least(releases, axis, other):
    """Releases from the least loss of one axis on; a withheld number stands at its upper bound."""
    loss = {each: releases[each].fillna(releases[f"{each}_high"]) for each in (axis, other)}
    return releases.loc[pd.DataFrame(loss).sort_values([axis, other], kind="stable").index]


def _costs(row, table):
    """What a choice costs beyond the ends of the frontier."""
    ends = table[table.question.isin([f"the least {axis} loss" for axis in AXES])]
    more = []
    for axis in AXES:
        end = ends[ends.question == f"the least {axis} loss"]
        beyond = getattr(row, axis) - end[axis].iloc[0] if len(end) else np.nan
        if beyond > 0 and row.setting != end.setting.iloc[0]:
            more.append(f"{_formatted(beyond)} more {axis} loss than {end.setting.iloc[0]}")
    return " and ".join(more) or ("" if row.setting == "none" else "no more than any other here")


def check_choices(name, table):
    """Raise TypeError unless `table` is one, and ValueError unless it has the columns of `choices`."""
    columns = ["question", "setting", "why", "costs", *AXES]
    return expect.table(name, table, columns, "`frontier.choices` gives one.")


def sentences(table, releases):
    """`choices` in plain words, beside what the frontier is made of.

    Parameters
    ----------
    table : DataFrame
        Of `choices`.
    releases : DataFrame
        Of `points`.

    Returns
    -------
    list of str
        A sentence or more each.
    """
    check_choices("table", table)
    expect.these(releases=releases)
    count = releases.status.value_counts().reindex(["efficient", "dominated", "undecided"], fill_value=0)
    verb = count.map(lambda n: "is" if n == 1 else "are")
    of = {axis: releases[f"{axis}_of"].iloc[0] for axis in AXES}
    of = {axis: name if name.startswith(f"{axis} loss") else f"{name} ({axis} loss)" for axis, name in of.items()}
    said = [
        f"Of {len(releases)} releases {count.efficient} {verb.efficient} efficient: no other one here is as good in "
        f"both {of['privacy']} and {of['utility']} and better in one; lower is better for both. "
        f"{count.dominated} {verb.dominated} dominated, {count.undecided} cannot be decided."
    ]
    least = (~bounded(releases)).sum()
    if least:
        said[0] += (
            f" Of {least} a loss is known from below only: such a release may be dominated, but dominates none, keeps "
            "no cap and is no end of the frontier."
        )
    refused = (releases.refused.fillna("") != "").sum()
    if refused:
        said[0] += f" {refused} may not be chosen whatever the losses, and {'is' if refused == 1 else 'are'} left out."
    for row in table.itertuples():
        question = row.question[0].upper() + row.question[1:]
        bold = B if row.Index == table.index[0] else ""  # the others are no recommendation
        if row.setting == "none":
            said.append(f"{question}: {bold}none{bold}; {row.why}.")
            continue
        losses = " and ".join(f"{axis} loss {_interval(row, axis)}" for axis in AXES)
        costs = f" It costs {row.costs}." if row.costs else ""
        said.append(f"{question}: {bold}{row.setting}{bold}, {losses}; {row.why}.{costs}")
    return said


def _interval(row, axis):
    value, low, high = (getattr(row, f"{axis}{end}") for end in ("", "_low", "_high"))
    if pd.isna(value):
        return f"withheld (at most {_formatted(high)})"
    baseline = getattr(row, f"{axis}_baseline")
    said = [f"95% interval {_formatted(low)} to {_formatted(high)}"] if low < high else []
    said += [f"baseline {_formatted(baseline)}"] if pd.notna(baseline) else []
    return _formatted(value) + (f" ({', '.join(said)})" if said else "")


def _formatted(value):
    return numerals.bare("{:g}", value)
