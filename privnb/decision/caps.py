"""Which release to publish: the knee of the frontier, the cheapest under the owner's caps, and what each costs."""

import numpy as np
import pandas as pd

from privnb.decision.points import AXES, SEEDS, bounded, comparable, same
from privnb.microdata import expect
from privnb.microdata.sentences import B


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
    if len(rows) < 3 or same(rows.privacy.iloc[0], rows.privacy.iloc[-1]):
        return None
    x, y = ((rows[axis] - rows[axis].min()) / np.ptp(rows[axis]) for axis in AXES)
    below = 1 - x - y  # proportional to the distance from the line x + y = 1
    return rows.loc[below.idxmax()] if below.max() > 1e-9 else None


def caps(privacy=0, utility=0):
    """An owner's caps as `choices` takes them: `{"privacy_cap": ..., "utility_cap": ...}`.

    Parameters
    ----------
    privacy, utility : float
        The most loss accepted of each axis; 0: no cap.

    Returns
    -------
    dict of str to float or None

    Raises
    ------
    ValueError
        For what is no finite number of at least 0.

    >>> caps(0.1)
    {'privacy_cap': 0.1, 'utility_cap': None}
    """
    for axis, cap in zip(AXES, (privacy, utility), strict=True):
        if not (expect.is_number(cap) and cap >= 0):
            raise ValueError(
                f"{axis.upper()}_CAP is the most {axis} loss that you accept, a number above 0, or 0 for no cap; got "
                f"{expect.found(cap)}."
            )
    return {"privacy_cap": privacy or None, "utility_cap": utility or None}


def choices(releases, *, privacy_cap=None, utility_cap=None):
    """Which release, why, and what it costs: one row per question that an owner may ask.

    Of a randomised release the upper bound of its interval counts, of a withheld number its upper bound; a release of
    too few seeds keeps no cap, nor does one whose loss is known from below only, which is no end of the frontier
    either. Equal ones: the smaller other loss, then the first.

    Parameters
    ----------
    releases : DataFrame
        Of `points`.
    privacy_cap : float, optional
        The most privacy loss that the owner accepts; the least utility loss under it is looked for.
    utility_cap : float, optional
        The other way round.

    Returns
    -------
    DataFrame
        Beside the caps the knee and the ends of the frontier. Columns: `question`, `setting` ("none" if no release
        fits), both losses with their bounds as in `points`, `why` and `costs` (against the ends).
    """
    expect.these(releases=releases)
    for name, cap in {"privacy_cap": privacy_cap, "utility_cap": utility_cap}.items():
        if cap is not None:
            expect.number(name, cap)
    rows = []
    for axis, cap, other in (("privacy", privacy_cap, "utility"), ("utility", utility_cap, "privacy")):
        if cap is not None:
            rows.append(_under(releases, axis, cap, other))
    corner, there = knee(releases), _known(releases)
    if corner is not None:
        why = "of the efficient releases the farthest below the line between the frontier's ends"
        rows.append({**corner, "question": "the knee of the frontier", "why": why})
    for axis, other in (AXES, AXES[::-1]):
        if len(there):
            end = _least(there, axis, other).iloc[0]
            rows.append({**end, "question": f"the least {axis} loss", "why": "an end of the frontier"})
    if not rows:
        raise ValueError(
            f"none of the {len(releases)} releases can be compared ({releases.why.iloc[0]}). Give randomised ones "
            f"at least {SEEDS} seeds, and both measures."
        )
    ends = ("", "_low", "_high", "_baseline", "_of")
    columns = ["question", "setting", *(f"{axis}{end}" for axis in AXES for end in ends), "why"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(costs=[_costs(row, table) for row in table.itertuples()])


def _under(releases, axis, cap, other):
    """The release of the least `other` loss that keeps the cap on `axis`, as a row of `choices`."""
    question = f"the least {other} loss with a {axis} loss of at most {cap:g}"
    there = _known(releases)
    missing = len(releases) - len(there)
    left_out = f"; {missing} {'were' if missing > 1 else 'was'} left out, see why" if missing else ""
    kept = there[(there[f"{axis}_high"] <= cap) | same(there[f"{axis}_high"], cap)]
    if kept.empty:
        nearest = there.sort_values(f"{axis}_high", kind="stable").head(1)
        least = [
            f"; the least upper bound is {_formatted(row[f'{axis}_high'])} ({row.setting})"
            for _, row in nearest.iterrows()
        ]
        return {"question": question, "setting": "none", "why": f"no release keeps the cap{''.join(least)}{left_out}"}
    order = _least(kept, other, axis)
    first, others = order.iloc[0], order.iloc[1:]
    low, high = (others[f"{other}_{end}"] for end in ("low", "high"))
    near = others[(low <= first[f"{other}_high"]) & (high >= first[f"{other}_low"])]
    why = f"{len(kept)} of {len(releases)} releases keep the cap, and this one loses least {other}{left_out}"
    if len(near):
        why += f"; by {other} loss not distinguishable from {', '.join(near.setting)}"
    return {**first, "question": question, "why": why}


def _known(releases):
    """The releases that can be chosen: both losses are known, and not from below only."""
    return releases[comparable(releases) & bounded(releases)]


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


def check_choices(table):
    """Raise TypeError unless `table` is one, and ValueError unless it has the columns of `choices`."""
    columns = ["question", "setting", "why", "costs", *AXES]
    expect.table("table", table, columns, "`frontier.choices` gives one.")


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
    check_choices(table)
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
    for row in table.itertuples():
        question = row.question[0].upper() + row.question[1:]
        if row.setting == "none":
            said.append(f"{question}: {B}none{B}; {row.why}.")
            continue
        losses = " and ".join(f"{axis} loss {_interval(row, axis)}" for axis in AXES)
        costs = f" It costs {row.costs}." if row.costs else ""
        said.append(f"{question}: {B}{row.setting}{B}, {losses}; {row.why}.{costs}")
    return said


def _interval(row, axis):
    value, low, high = (getattr(row, f"{axis}{end}") for end in ("", "_low", "_high"))
    if pd.isna(value):
        return f"withheld (at most {_formatted(high)})"
    baseline = getattr(row, f"{axis}_baseline")
    said = [f"95 % interval {_formatted(low)} to {_formatted(high)}"] if low < high else []
    said += [f"baseline {_formatted(baseline)}"] if pd.notna(baseline) else []
    return _formatted(value) + (f" ({', '.join(said)})" if said else "")


def _formatted(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
