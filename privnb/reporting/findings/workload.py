"""What Brickell and Shmatikov ask: whether even modest privacy is paid for with almost all utility."""

import re
from typing import NamedTuple

import pandas as pd

from privnb.evaluation.results import check_results, over_seeds
from privnb.microdata.sentences import B, C, say
from privnb.reporting.findings.adversary import what_predictions_add
from privnb.reporting.findings.base import listed

ENDS = ("Identity", "Suppress")
NOTHING = (
    f"{B}Adversary and researcher cannot be compared here{B}: both are counted in people guessed right, which takes a "
    "sensitive attribute of categories, and no study of this table has one. Give a column of categories that role in "
    f"the description file. {C}06_li_li{C} has losses for numbers too."
)
CLOSE = 1e-9  # shares of information are sums of logarithms


class Statement(NamedTuple):
    """What section 7 says of a release of the coins: which share of an attribute's information others tell."""

    parameters: str | None  # of Suppress; None: nothing is suppressed
    words: str
    target: str
    given: str  # "": all else that is published
    share: float


STATEMENTS = (
    Statement(None, "Q tells half of S", "a3", "a1, a2", 0.5),
    Statement("what=a2", "without a2, Q tells nothing of S", "a3", "a1", 0),
    Statement("what=a2", "a4 is learned exactly from a1 and a3", "a4", "a1, a3", 1),
    Statement("what=a2", "a5 is learned exactly from a1 and a3", "a5", "a1, a3", 1),
    Statement("what=a2", "a3 is learned exactly from a1, a4 and a5", "a3", "a1, a4, a5", 1),
    Statement("", "without Q, half of a3", "a3", "", 0.5),
    Statement("", "without Q, nothing of a4", "a4", "", 0),
    Statement("", "without Q, nothing of a5", "a5", "", 0),
    Statement("what=sensitive", "without S, nothing of a4", "a4", "", 0),
    Statement("what=sensitive", "without S, half of a5", "a5", "", 0.5),
)


def judged(shares):
    """Each statement of section 7 beside what `workload.information_shares` of the coins gives.

    A list of (statement, the set that is meant, its share, the shares that any set gives, whether the statement holds).
    Statements on releases that the results lack are left out.
    """
    found = []
    for statement in STATEMENTS:
        sanitizer = "Identity" if statement.parameters is None else "Suppress"
        here = shares[(shares.sanitizer == sanitizer) & (shares.parameters == (statement.parameters or ""))]
        here = here[here.target == statement.target]
        if len(here):
            given = here.knows
            meant = statement.given or max(given, key=len)
            share = here.value[given == meant].iloc[0]
            found.append(
                (statement, meant, share, sorted(set(here.value.round(9) + 0.0)), abs(share - statement.share) < CLOSE)
            )
    return found


def setting(sanitizer, parameters):
    """How a person names a sanitization beside the others of a figure.

    >>> setting("Identity", ""), setting("Suppress", ""), setting("Mondrian", "c=3 l=2 job, choose=gain, workload=pay")
    ('intact', 'suppressed', 'l=2')
    >>> setting("Mondrian", "k=10"), setting("Bucketize", "partition=Mondrian k=10")
    ('Mondrian k=10', 'Bucketize Mondrian k=10')
    """
    main = re.sub(r"^c=\S+ (?=l=)|^partition=", "", parameters.split(", ")[0])
    if sanitizer in ENDS:
        return {"": "suppressed" if sanitizer == "Suppress" else "intact"}.get(main, f"suppressed: {main[5:]}")
    if "choose=gain" in parameters:  # the paper's, by workload-aware Mondrian
        return main.split(" ")[0]
    return f"{sanitizer} {main}".strip()


def both_sides(results):
    """The gains of adversary and researcher, one row a data set, workload and release, over all seeds.

    Columns `adversary`, `chance` (the same classes with values dealt at random), `gain`, `low`, `high`, `miner`: of the
    researcher's best miner there; NaN for what is not there. The adversary is that of `best_adversary`.
    """
    rows = over_seeds(results[results.measure.isin(["accuracy_gain", "workload_gain"])])
    rows = rows[~((rows.sanitizer == "Suppress") & (rows.parameters != ""))]
    keys = ["dataset", "sanitizer", "parameters"]
    best = rows.sort_values("value", ascending=False, kind="stable")
    adversary = best_adversary(rows)
    adversary = adversary[[*keys, "value", "baseline"]].rename(columns={"value": "adversary", "baseline": "chance"})
    researcher = best[best.measure == "workload_gain"].drop_duplicates([*keys, "target"])
    researcher = researcher[[*keys, "target", "value", "low", "high", "miner"]].rename(columns={"value": "gain"})
    order = rows[keys].drop_duplicates()
    workloads = rows[rows.measure == "workload_gain"][["dataset", "target"]].drop_duplicates()
    wide = order.merge(workloads, on="dataset").merge(adversary, on=keys, how="left")
    wide = wide.merge(researcher, on=[*keys, "target"], how="left")
    names = [setting(*pair) for pair in zip(wide.sanitizer, wide.parameters, strict=True)]
    return wide.assign(setting=names)


def best_adversary(rows):
    """The `accuracy_gain` of each release: the exact one, or else, as under noise, that of the best miner."""
    best = rows[rows.measure == "accuracy_gain"].sort_values("value", ascending=False, kind="stable")
    best = pd.concat([best[best.miner == ""], best[best.miner != ""]])
    return best.drop_duplicates(["dataset", "sanitizer", "parameters"]).sort_index()


def sanitized(sides):
    """The rows of `both_sides` that are no end of the scale and known on both sides, with columns `more` and `less`.

    `more`: the adversary gains more than the researcher, beyond the interval, and is told something: more than 0, and
    than by chance. `less`: the researcher gains more than the adversary, and than 0, beyond the interval.
    """
    rows = sides[~sides.sanitizer.isin(ENDS)].dropna(subset=["gain", "adversary"])
    told = rows.adversary > rows.chance.fillna(0).clip(lower=0)
    less = rows.low > rows.adversary.clip(lower=0)
    return rows.assign(more=told & (rows.adversary > rows.high), less=less)


def what_privacy_costs(compared, others=None, shares=None, predictions=None):
    """How much of the researcher's gain each release keeps beside what the adversary gains, for each workload.

    `compared`: of `experiments.figures`; `others`: of `experiments.others`; `shares`: of the coins; `predictions`: of
    `experiments.gains`. What is None is not spoken of; of nothing `compared` it says what that takes.
    """
    for name, each in {"compared": compared, "others": others, "shares": shares, "predictions": predictions}.items():
        if each is not None or name == "compared":
            check_results(name, each)
    sentences = list(_compared(compared, others)) if len(compared) else [NOTHING]
    if shares is not None and (found := judged(shares)):
        sentences.append(_coins(found))
    if predictions is not None:
        asked = "Does what miners predict add to what the adversary gains (Sramka et al. 2010, Table 3)?"
        sentences += [asked, what_predictions_add(predictions).data]
    return say(*sentences)


def _compared(compared, others):
    parts = [part.set_index("setting") for _, part in both_sides(compared).groupby(["dataset", "target"], sort=False)]
    yield _overall(parts)
    yield from map(_workload, parts)
    yield from _lemma(compared)
    if others is not None:
        yield from (_others(part) for _, part in both_sides(others).groupby(["dataset", "target"], sort=False))
    yield (
        "What the comparison cannot say: a point of accuracy is not worth the same to both sides. The adversary's gain "
        "is a mean over the people in the table, and hides those of whom a class tells much; the researcher's is of "
        "one workload, and others may need what this one does not. A small gain is not proof of privacy."
    )


def _points(share):
    return f"{100 * share:+.2f}"


def _interval(row):
    return f"95 % interval {_points(row.low)} to {_points(row.high)}"


def _whole(part):
    """The original's row of one workload; None where either side of it was not measured."""
    rows = part[part.sanitizer == "Identity"].dropna(subset=["gain", "adversary"])
    return rows.iloc[0] if len(rows) else None


def _held(part):
    """The releases that leave the adversary at most half of what the original gives them."""
    rows = sanitized(part)
    return rows[rows.adversary <= _whole(part).adversary / 2]


def _overall(parts):
    """The answer in one sentence: what is left where the adversary is held to half, of what there is to gain."""
    known = [part for part in parts if _whole(part) is not None]
    if not known:
        return "No workload was mined on the original: there is nothing to compare with what the adversary gains."
    useful = [part for part in known if _whole(part).low > 0 and len(_held(part))]
    gain = sum(_whole(part).low > 0 for part in known)
    said = (
        f"{B}In {gain} of {len(known)} workloads the original gives the researcher more than the better trivial "
        f"sanitization, beyond the 95 % interval.{B}"
    )
    if gain < len(known):
        said += " In the others there is no utility that privacy could cost."
    if not useful:
        return said
    return (
        f"{said} {B}Where releases hold the adversary to half of what the original gives them, the best of them keeps "
        f"of the researcher's gain: {listed([_kept(part) for part in useful])}.{B} 100 % costs nothing, 0 % is the "
        "trivial sanitization's. The 95 % intervals take the original's gain as exact; and the best of several "
        "releases, chosen by the same numbers, looks better than it is."
    )


def _kept(part):
    """Which share of the original's gain the best release keeps that holds the adversary to half."""
    held, whole = _held(part), _whole(part).gain
    best = held.loc[held.gain.idxmax()]
    said = f"{best.gain / whole:.0%} ({best.low / whole:.0%} to {best.high / whole:.0%}"
    said += "" if best.low > 0 else ", not told apart from nothing"
    several = f"the best of {len(held)} releases" if len(held) > 1 else "the only release"
    return f"{said}; {several}; {_named(part)})"


def _named(part):
    return f"{part.dataset.iloc[0]}, predicting {part.target.iloc[0]}"


def _workload(part):
    """One figure: what the original gives, and what is left of it where the adversary is held to half."""
    whole, rows, name = _whole(part), sanitized(part), _named(part)
    if whole is None:
        return f"{name[0].upper()}{name[1:]}: the original was not mined, so nothing can be said of what is lost."
    said = (
        f"{name[0].upper()}{name[1:]}: the original gives the researcher {_points(whole.gain)} points over the better "
        f"trivial sanitization ({_interval(whole)}; {whole.miner}), and the adversary {_points(whole.adversary)} (by "
        f"chance {_points(whole.chance)}). In {rows.more.sum()} of {len(rows)} sanitized releases the adversary gains "
        f"more than the researcher, in {rows.less.sum()} less, beyond the interval."
    )
    small = ((rows.adversary > 0) & (rows.adversary <= rows.chance)).sum()
    if small:
        said += (
            f" In {small} the adversary gains no more than from the same classes with values dealt at random, which "
            "does not count as more: small classes tell of these very people, and nothing of others like them."
        )
    held = _held(part)
    loose = rows.drop(held.index)
    if len(held):
        said += f" Held to half ({listed(list(held.index))}): {_best(held)}."
    else:
        said += " No release holds the adversary to half."
    return said + (f" Not held: {_best(loose)}." if len(loose) else "")


def _best(part):
    """The best of the releases for the researcher, and what it leaves to the adversary."""
    best = part.loc[part.gain.idxmax()]
    return (
        f"the researcher gets most from {best.name}, {_points(best.gain)} points ({_interval(best)}), and the "
        f"adversary {_points(best.adversary)}"
    )


def _lemma(compared):
    """Lemma 1 on each delta-disclosure-private release."""
    rows = compared[(compared.parameter == "delta") & (compared.miner == "")]
    rows = rows.pivot_table(index=["dataset", "parameters", "bound"], columns="measure", values="value", sort=False)
    if rows.empty:
        return
    delta = rows.index.get_level_values("bound")
    told = rows.information_gain.to_numpy()
    holds = (told < delta) & (rows.largest_quotient.to_numpy() < delta)
    yield (
        f"Lemma 1 bounds what a delta-disclosure-private release tells, in nats, by delta. It holds on {holds.sum()} "
        f"of {len(rows)} such releases; the nearest comes to {(told / delta).max():.1%} of its bound."
    )


def _others(part):
    """The other sanitizers: which are worth more to the researcher than trivial ones, and what they tell."""
    rows = part[~part.sanitizer.isin(ENDS)]
    known = rows.dropna(subset=["gain", "adversary"])
    name = f"Other sanitizers, {part.dataset.iloc[0]}, workload {part.target.iloc[0]}"
    if known.empty:
        return f"{name}: none was measured on both sides."
    sure = known[known.low > 0]
    said = f"{name}: {len(sure)} of {len(known)} give the researcher more than the better trivial sanitization"
    if len(sure):
        told = [
            f"{row.setting} ({_points(row.gain)}; the adversary {_points(row.adversary)})" for row in sure.itertuples()
        ]
        said += f", beyond the 95 % interval: {listed(told)}"
    said += "."
    if len(known) < len(rows):
        lacking = rows[rows.gain.isna() | rows.adversary.isna()]
        said += f" Without a researcher who can read it, or an adversary: {listed(list(lacking.setting))}."
    return said


def _coins(found):
    wrong = [
        f'"{statement.words}" (claimed {statement.share:g}; {meant} tell {share:g})'
        for statement, meant, share, _, holds in found
        if not holds
    ]
    said = f"Section 7's coins have both privacy and utility. Of {len(found)} statements {len(found) - len(wrong)} hold"
    return f"{said}; wrong: {listed(wrong)}." if wrong else f"{said}."
